/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - fills the table of backends/simt/sparse.h with the functions and constants of
 * rocSPARSE. */
#include "backends/hip/library.h"

#include <stdio.h>
#include <string.h>

static struct LOADER_TABLE(HIP_ROCSPARSE_SYMBOLS) sparse;

/* ---- the library ----------------------------------------------------------------------------- */

/* The file has the same name in ROCm 6 and 7. */
static bool open_sparse(simt_library *self)
{
    static char path[LOADER_PATH_MAX];
    if (hip_major() < 6) {
        char why[96];
        (void)snprintf(why, sizeof why,
                       "the runtime is HIP %d, but rocSPARSE is used only with HIP 6 or newer",
                       hip_major());
        loader_note(&self->loader, "none", why);
        return false;
    }
    (void)snprintf(self->label, sizeof self->label, "rocSPARSE");
    return hip_open_beside(self, "librocsparse.so.1", path);
}

static void describe(simt_device *device, char *text, size_t capacity)
{
    const int version = simt_sparse_version(device);
    if (version > 0) {
        (void)snprintf(text, capacity, "rocSPARSE %d.%d.%d", version / 100000,
                       version % 100000 / 100, version % 100);
    } else {
        (void)snprintf(text, capacity, "rocSPARSE");
    }
}

simt_library hip_sparse_library = {
    .loader = {.title = "rocSPARSE",
               .since = "ROCm 6.0",
               .where = &hip_where,
               LOADER_FUNCTIONS(sparse, HIP_ROCSPARSE_SYMBOLS)},
    .open = open_sparse,
    .operations = {[ISO_OP_SPMV] = &simt_sparse_spmv},
    .describe = describe,
};

/* ---- handles and objects --------------------------------------------------------------------- */

static const char *status_name(uint32_t code)
{
    return sparse.rocsparse_get_status_name ? sparse.rocsparse_get_status_name(code) : NULL;
}

static uint32_t create(void **handle)
{
    return sparse.rocsparse_create_handle((rocsparse_object *)(void *)handle);
}

static uint32_t set_up(void *handle, void *stream)
{
    const rocsparse_code code = sparse.rocsparse_set_stream(handle, stream);
    return code == ROCSPARSE_DONE
               ? sparse.rocsparse_set_pointer_mode(handle, ROCSPARSE_POINTERS_HOST)
               : code;
}

static uint32_t destroy(void *handle)
{
    return sparse.rocsparse_destroy_handle(handle);
}

static uint32_t version(void *handle, int *number)
{
    return sparse.rocsparse_get_version(handle, number);
}

static uint32_t make_matrix(simt_sparse_product *p)
{
    return sparse.rocsparse_create_csr_descr((rocsparse_matrix *)(void *)&p->matrix, p->rows,
                                             p->cols, p->entries, p->offsets, p->columns, p->values,
                                             p->index, p->index, ROCSPARSE_FROM_ZERO, p->type);
}

static void free_matrix(void *matrix)
{
    (void)sparse.rocsparse_destroy_spmat_descr(matrix);
}

static uint32_t make_vector(const simt_sparse_product *p, int64_t size, void *values, void **vector)
{
    return sparse.rocsparse_create_dnvec_descr((rocsparse_vector *)(void *)vector, size, values,
                                               p->type);
}

static void free_vector(void *vector)
{
    (void)sparse.rocsparse_destroy_dnvec_descr(vector);
}

/* ---- products -------------------------------------------------------------------------------- */

static uint32_t run(const simt_sparse_product *p, rocsparse_enum stage, size_t *bytes,
                    void *scratch)
{
    return sparse.rocsparse_spmv(p->handle, ROCSPARSE_NO_TRANS, p->alpha, p->matrix, p->vector_x,
                                 p->beta, p->vector_y, p->type, ROCSPARSE_ALGORITHM, stage, bytes,
                                 scratch);
}

static uint32_t size(const simt_sparse_product *p, size_t *bytes)
{
    return run(p, ROCSPARSE_SIZE, bytes, NULL);
}

static uint32_t multiply(const simt_sparse_product *p, void *scratch, size_t bytes)
{
    return run(p, ROCSPARSE_COMPUTE, &bytes, scratch);
}

static const simt_blas_numbers numbers = {
    .types = {[ISO_F32] = ROCSPARSE_F32 + 1, [ISO_F64] = ROCSPARSE_F64 + 1},
    .alloc_failed = ROCSPARSE_MEMORY_ERROR,
    .status_name = status_name,
};

const simt_sparse hip_sparse = {
    .numbers = &numbers,
    .name = "rocSPARSE",
    .index_32 = ROCSPARSE_I32,
    .index_64 = ROCSPARSE_I64,
    .create = create,
    .set_up = set_up,
    .destroy = destroy,
    .make_matrix = make_matrix,
    .make_vector = make_vector,
    .free_matrix = free_matrix,
    .free_vector = free_vector,
    .size = size,
    .multiply = multiply,
    .create_name = "rocsparse_create_handle",
    .set_up_name = "rocsparse_set_stream",
    .matrix_name = "rocsparse_create_csr_descr",
    .vector_name = "rocsparse_create_dnvec_descr",
    .size_name = "rocsparse_spmv for the size",
    .multiply_name = "rocsparse_spmv",
    .version = version,
};
