/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - fills the table of backends/simt/sparse.h with the functions and constants of
 * cuSPARSE. Columns and offsets have one type, because cuSPARSE accepts no others. Of its two
 * algorithms the one is used whose results have the same bits in every run. */
#include "backends/cuda/library.h"

#include <stdio.h>

static struct LOADER_TABLE(CUDA_CUSPARSE_SYMBOLS) sparse;

/* The file is named libcusparse.so.12 in CUDA 12 and in CUDA 13, so the version tells them apart:
 * cuSPARSE has been 12.6 or newer since CUDA 13.0. */
static bool is_too_new(const int part[3])
{
    const int toolkit = part[0] == 12 && part[1] >= 6 ? 13 : part[0];
    return toolkit > cuda_newest_toolkit();
}

static bool open_sparse(simt_library *self)
{
    int part[3] = {0, 0, 0};
    if (!loader_open(&self->loader)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        (void)sparse.cusparseGetProperty((cusparse_enum)(CUBLAS_VERSION_MAJOR + i), &part[i]);
    }
    (void)snprintf(self->label, sizeof self->label, "cuSPARSE %d.%d.%d", part[0], part[1], part[2]);
    if (is_too_new(part)) {
        char why[96];
        cuda_too_new(why, sizeof why);
        loader_note(&self->loader, self->loader.path, why);
        self->loader.refused++;
        loader_close(&self->loader);
        return false;
    }
    return true;
}

simt_library cuda_sparse_library = {
    .loader = {.title = "cuSPARSE",
               .since = CUDA_OLDEST,
               .where = &cuda_where,
               .names = {"libcusparse.so.12", "libcusparse.so.11"},
               LOADER_FUNCTIONS(sparse, CUDA_CUSPARSE_SYMBOLS)},
    .open = open_sparse,
    .version_at = sizeof "cuSPARSE",
    .operations = {[ISO_OP_SPMV] = &simt_sparse_spmv},
};

/* ---- handles and objects --------------------------------------------------------------------- */

static const char *status_name(uint32_t code)
{
    return sparse.cusparseGetErrorName ? sparse.cusparseGetErrorName(code) : NULL;
}

static uint32_t create(void **handle)
{
    return sparse.cusparseCreate((cusparse_handle *)(void *)handle);
}

static uint32_t set_up(void *handle, void *stream)
{
    const cusparse_code code = sparse.cusparseSetStream(handle, stream);
    return code == CUSPARSE_DONE ? sparse.cusparseSetPointerMode(handle, CUSPARSE_POINTERS_HOST)
                                 : code;
}

static uint32_t destroy(void *handle)
{
    return sparse.cusparseDestroy(handle);
}

static uint32_t make_matrix(simt_sparse_product *p)
{
    return sparse.cusparseCreateCsr((cusparse_matrix *)(void *)&p->matrix, p->rows, p->cols,
                                    p->entries, p->offsets, p->columns, p->values, p->index,
                                    p->index, CUSPARSE_FROM_ZERO, p->type);
}

static void free_matrix(void *matrix)
{
    (void)sparse.cusparseDestroySpMat(matrix);
}

static uint32_t make_vector(const simt_sparse_product *p, int64_t size, void *values, void **vector)
{
    return sparse.cusparseCreateDnVec((cusparse_vector *)(void *)vector, size, values, p->type);
}

static void free_vector(void *vector)
{
    (void)sparse.cusparseDestroyDnVec(vector);
}

/* ---- products -------------------------------------------------------------------------------- */

static uint32_t size(const simt_sparse_product *p, size_t *bytes)
{
    return sparse.cusparseSpMV_bufferSize(p->handle, CUSPARSE_NO_TRANS, p->alpha, p->matrix,
                                          p->vector_x, p->beta, p->vector_y, p->type,
                                          CUSPARSE_ALGORITHM, bytes);
}

static uint32_t multiply(const simt_sparse_product *p, void *scratch, size_t bytes)
{
    (void)bytes;
    return sparse.cusparseSpMV(p->handle, CUSPARSE_NO_TRANS, p->alpha, p->matrix, p->vector_x,
                               p->beta, p->vector_y, p->type, CUSPARSE_ALGORITHM, scratch);
}

static const simt_blas_numbers numbers = {
    .types = {[ISO_F32] = CUBLAS_TYPE_F32 + 1, [ISO_F64] = CUBLAS_TYPE_F64 + 1},
    .alloc_failed = CUSPARSE_ALLOC_FAILED,
    .status_name = status_name,
};

const simt_sparse cuda_sparse = {
    .numbers = &numbers,
    .name = "cuSPARSE",
    .index_32 = CUSPARSE_I32,
    .index_64 = CUSPARSE_I64,
    .create = create,
    .set_up = set_up,
    .destroy = destroy,
    .make_matrix = make_matrix,
    .make_vector = make_vector,
    .free_matrix = free_matrix,
    .free_vector = free_vector,
    .size = size,
    .multiply = multiply,
    .create_name = "cusparseCreate",
    .set_up_name = "cusparseSetStream",
    .matrix_name = "cusparseCreateCsr",
    .vector_name = "cusparseCreateDnVec",
    .size_name = "cusparseSpMV_bufferSize",
    .multiply_name = "cusparseSpMV",
};
