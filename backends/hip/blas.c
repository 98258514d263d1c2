/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - fills the tables of backends/simt/blas.h with the functions and constants of rocBLAS and
 * hipBLASLt. */
#include "backends/hip/library.h"
#include "common/dtype.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the libraries --------------------------------------------------------------------------- */

static struct LOADER_TABLE(HIP_ROCBLAS_SYMBOLS) blas;
static struct {
    simt_lt_api api;
    struct LOADER_TABLE(HIP_LT_OWN_SYMBOLS) own;
} lt;
_Static_assert(sizeof(hiplt_choice) <= sizeof(lt_choice),
               "hiplt_choice does not fit into lt_choice");

/* Removes separators from the end of the version. If rocBLAS was built outside a repository, its
 * version ends with a separator, as in "4.4.1.", because there is no commit. */
static void write_label(simt_library *self, char *version)
{
    size_t length = strlen(version);
    while (length > 0 && strchr(".- ", version[length - 1])) {
        length--;
    }
    version[length] = '\0';
    (void)snprintf(self->label, sizeof self->label, "rocBLAS%s%.63s", length > 0 ? " " : "",
                   version);
}

/* Opens only the rocBLAS that was made for this version of the runtime, because any other rocBLAS
 * would load a second runtime into the process. */
static bool open_blas(simt_library *self)
{
    char version[64] = "";
    const char **names = self->loader.names;
    switch (hip_major()) {
    case 5:
        names[0] = "librocblas.so.3";
        names[1] = "librocblas.so.0";
        break;
    case 6:
        names[0] = "librocblas.so.4";
        break;
    default:
        names[0] = "librocblas.so.5";
    }
    if (!loader_open(&self->loader)) {
        return false;
    }
    if (blas.rocblas_get_version_string(version, sizeof version) != ROCBLAS_DONE) {
        version[0] = '\0';
    }
    write_label(self, version);
    return true;
}

/* The hipBLASLt of HIP 5 is not used, because its constants for types have other values. */
static bool open_lt(simt_library *self)
{
    if (hip_major() < 6) {
        char why[96];
        (void)snprintf(why, sizeof why,
                       "the runtime is HIP %d, but hipBLASLt is used only with HIP 6 or newer",
                       hip_major());
        loader_note(&self->loader, "none", why);
        return false;
    }
    self->loader.names[0] = hip_major() == 6 ? "libhipblaslt.so.0" : "libhipblaslt.so.1";
    (void)snprintf(self->label, sizeof self->label, "hipBLASLt");
    return loader_open(&self->loader);
}

static void describe_lt(simt_device *device, char *text, size_t capacity)
{
    const int version = simt_lt_version(device);
    (void)snprintf(text, capacity, "hipBLASLt %d.%d.%d", version / 100000, version % 100000 / 100,
                   version % 100);
}

static simt_library blas_library = {
    .loader = {.title = "rocBLAS",
               .since = HIP_OLDEST,
               .where = &hip_where,
               LOADER_FUNCTIONS(blas, HIP_ROCBLAS_SYMBOLS)},
    .open = open_blas,
    .operations = {[ISO_OP_GEMM] = &simt_blas_gemm,
                   [ISO_OP_TRANSPOSE] = &simt_blas_transpose,
                   [ISO_OP_REDUCE] = &simt_blas_reduce,
                   [ISO_OP_SYRK] = &simt_blas_syrk,
                   [ISO_OP_TRSM] = &simt_blas_trsm},
};

static simt_library lt_library = {
    .loader = {.title = "hipBLASLt",
               .since = "ROCm 6.0",
               .where = &hip_where,
               LOADER_FUNCTIONS(lt, HIP_LT_SYMBOLS)},
    .open = open_lt,
    .needs_terms = true,
    .operations = {[ISO_OP_GEMM] = &simt_lt_gemm},
    .describe = describe_lt,
};

static simt_library *const libraries[] = {&blas_library, &lt_library, &hip_sparse_library,
                                          &hip_comm_library, NULL};
/* How try.c names them. */
static const char *const trials[] = {"rocblas", "hipblaslt", "rocsparse"};

/* Checks in a separate process whether the library works on this device, because rocBLAS aborts the
 * process if it has no kernels for the chip, and the others may do the same. */
static iso_status usable(simt_device *device, int32_t which)
{
    const simt_library *library = libraries[which];
    hip_device *native = device->native;
    if (atomic_load(&native->works[which])) {
        return ISO_OK;
    }
    char index[16];
    char key[HIP_ARCHITECTURE_BYTES + ISO_NAME_MAX + 32];
    char why[ISO_REASON_MAX / 2];
    (void)snprintf(index, sizeof index, "%d", native->index);
    (void)snprintf(key, sizeof key, "%s %s HIP %d", library->label, native->architecture,
                   hip_version);
    const char *const arguments[] = {
        "hip", trials[which], hip_runtime_library.path, library->loader.path, index, NULL};
    if (!hip_survives(arguments, key, why, sizeof why)) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "variant vendor: %s (%s) was tried on device %d (%s) in a separate "
                              "process, because it may end the process if it has no kernels for "
                              "the chip: %s; use tiled",
                              library->label, library->loader.path, native->index,
                              native->architecture, why);
    }
    atomic_store(&native->works[which], 1);
    return ISO_OK;
}

/* ---- statuses and handles -------------------------------------------------------------------- */

static const char *status_name(uint32_t code)
{
    return blas.rocblas_status_to_string(code);
}

static iso_status lost(simt_stream *stream, const char *what)
{
    const hip_code code = hip.hipStreamQuery(stream->native);
    return hip_status(code) == ISO_DEVICE_LOST
               ? hip_check(stream->device->native, code, "%s, and hipStreamQuery", what)
               : ISO_OK;
}

static void forget_error(void)
{
    (void)hip.hipGetLastError();
}

static uint32_t create(void **handle)
{
    return blas.rocblas_create_handle((rocblas_object *)(void *)handle);
}

static uint32_t set_up(void *handle, void *stream)
{
    const rocblas_code code = blas.rocblas_set_stream(handle, stream);
    return code == ROCBLAS_DONE ? blas.rocblas_set_atomics_mode(handle, ROCBLAS_NO_ATOMICS) : code;
}

static uint32_t set(void *handle, bool on_device, void *workspace, int64_t bytes)
{
    rocblas_code code = blas.rocblas_set_pointer_mode(handle, on_device ? ROCBLAS_POINTERS_DEVICE
                                                                        : ROCBLAS_POINTERS_HOST);
    if (code == ROCBLAS_DONE && blas.rocblas_set_math_mode) {
        code = blas.rocblas_set_math_mode(handle, ROCBLAS_MATH_DEFAULT);
    }
    if (code == ROCBLAS_DONE && workspace && blas.rocblas_set_workspace) {
        code = blas.rocblas_set_workspace(handle, workspace, (size_t)bytes);
    }
    return code;
}

static uint32_t destroy(void *handle)
{
    return blas.rocblas_destroy_handle(handle);
}

/* AMD's default workspace for a product. */
static int64_t library_bytes(const simt_device *device)
{
    (void)device;
    return INT64_C(32) << 20;
}

static iso_status put_words(simt_stream *stream, void *at, uint32_t word, int64_t count)
{
    return hip_check(stream->device->native,
                     hip.hipMemsetD32Async(at, (int)word, (size_t)count, stream->native),
                     "hipMemsetD32Async");
}

static iso_status enter(void *native, simt_scope *scope)
{
    *scope = hip_enter(native);
    return hip_check(native, scope->code, "hipSetDevice before a vendor call");
}

/* ---- precision ------------------------------------------------------------------------------- */

/* Returns the name of an environment variable that is set and makes AMD's libraries compute with
 * less precision than the program requests. Returns NULL if there is none. */
static const char *overriding(iso_dtype dtype)
{
    static const char *const of_f16[] = {"ROCBLAS_INTERNAL_FP16_ALT_IMPL",
                                         "ROCBLAS_INTERNAL_FP16_ALT_IMPL_RNZ", NULL};
    static const char *const of_f32[] = {"HIPBLASLT_OVERRIDE_COMPUTE_TYPE_XF32", NULL};
    static const char *const of_none[] = {NULL};
    const char *const *names = dtype == ISO_F16 ? of_f16 : dtype == ISO_F32 ? of_f32 : of_none;
    for (; *names; names++) {
        const char *value = getenv(*names);
        if (value && value[0] && strcmp(value, "0") != 0) {
            return *names;
        }
    }
    return NULL;
}

static iso_status precision(const simt_device *device, const simt_blas_wish *wish)
{
    const char *architecture = ((const hip_device *)device->native)->architecture;
    const bool tf32 = wish->math == ISO_MATH_TF32 && wish->dtype == ISO_F32;
    const char *variable = tf32 ? NULL : overriding(wish->dtype);
    if (variable) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "%s: variant vendor: math is strict, but %s=%s lowers the precision "
                              "of AMD's libraries: unset it, or use tiled",
                              wish->operation, variable, getenv(variable));
    }
    if (tf32 && strncmp(architecture, "gfx94", 5) != 0) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "%s: variant vendor: math tf32 needs xf32 matrix units (gfx940 to "
                              "gfx942), but the device is %s",
                              wish->operation, architecture);
    }
    if (tf32 && wish->library == 0 && !blas.rocblas_set_math_mode) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "%s: variant vendor: %s has no function rocblas_set_math_mode, which "
                              "math tf32 needs",
                              wish->operation, blas_library.label);
    }
    return ISO_OK;
}

/* ---- products -------------------------------------------------------------------------------- */

#define LACKS(name) (blas.name ? NULL : #name)

static const char *lacks_wide_gemm(bool batched)
{
    return batched ? LACKS(rocblas_gemm_strided_batched_ex_64) : LACKS(rocblas_gemm_ex_64);
}

static uint32_t gemm(const simt_blas_product *p)
{
    const rocblas_code code =
        p->tf32 ? blas.rocblas_set_math_mode(p->handle, ROCBLAS_MATH_XF32) : ROCBLAS_DONE;
    if (code != ROCBLAS_DONE) {
        return code;
    }
    if (p->batch > 1 && p->wide) {
        return blas.rocblas_gemm_strided_batched_ex_64(
            p->handle, p->trans_1, p->trans_2, p->m, p->n, p->k, p->alpha, p->one, p->type, p->ld_1,
            p->stride_1, p->two, p->type, p->ld_2, p->stride_2, p->beta, p->c, p->type_c, p->ld_c,
            p->stride_c, p->c, p->type_c, p->ld_c, p->stride_c, p->batch, p->compute,
            ROCBLAS_ALGORITHM_STANDARD, 0, 0);
    }
    if (p->wide) {
        return blas.rocblas_gemm_ex_64(p->handle, p->trans_1, p->trans_2, p->m, p->n, p->k,
                                       p->alpha, p->one, p->type, p->ld_1, p->two, p->type, p->ld_2,
                                       p->beta, p->c, p->type_c, p->ld_c, p->c, p->type_c, p->ld_c,
                                       p->compute, ROCBLAS_ALGORITHM_STANDARD, 0, 0);
    }
    const int32_t m = (int32_t)p->m, n = (int32_t)p->n, k = (int32_t)p->k;
    const int32_t ld_1 = (int32_t)p->ld_1, ld_2 = (int32_t)p->ld_2, ld_c = (int32_t)p->ld_c;
    if (p->batch > 1) {
        return blas.rocblas_gemm_strided_batched_ex(
            p->handle, p->trans_1, p->trans_2, m, n, k, p->alpha, p->one, p->type, ld_1,
            p->stride_1, p->two, p->type, ld_2, p->stride_2, p->beta, p->c, p->type_c, ld_c,
            p->stride_c, p->c, p->type_c, ld_c, p->stride_c, (int32_t)p->batch, p->compute,
            ROCBLAS_ALGORITHM_STANDARD, 0, 0);
    }
    return blas.rocblas_gemm_ex(p->handle, p->trans_1, p->trans_2, m, n, k, p->alpha, p->one,
                                p->type, ld_1, p->two, p->type, ld_2, p->beta, p->c, p->type_c,
                                ld_c, p->c, p->type_c, ld_c, p->compute, ROCBLAS_ALGORITHM_STANDARD,
                                0, 0);
}

/* Refuses versions before 0.7, in which the constants for compute types have other values. */
static iso_status lt_version(void *handle, int *version)
{
    enum { VERSION_LEAST = 700 };
    const hiplt_code code = lt.own.hipblasLtGetVersion(handle, version);
    return code == HIPLT_DONE && *version >= VERSION_LEAST
               ? ISO_OK
               : hip_host->fail(ISO_UNSUPPORTED,
                                "gemm: variant vendor: hipBLASLt has version %d, but at least %d "
                                "(0.7.0) is needed; use library 0",
                                *version, VERSION_LEAST);
}

/* ---- symmetric products and triangular solves ------------------------------------------------ */

static const char *lacks_square(iso_dtype dtype, bool wide)
{
    switch (dtype) {
    case ISO_F32:
        return wide ? LACKS(rocblas_ssyrk_strided_batched_64)
                    : LACKS(rocblas_ssyrk_strided_batched);
    case ISO_F64:
        return wide ? LACKS(rocblas_dsyrk_strided_batched_64)
                    : LACKS(rocblas_dsyrk_strided_batched);
    case ISO_C64:
        return wide ? LACKS(rocblas_csyrk_strided_batched_64)
                    : LACKS(rocblas_csyrk_strided_batched);
    default:
        return wide ? LACKS(rocblas_zsyrk_strided_batched_64)
                    : LACKS(rocblas_zsyrk_strided_batched);
    }
}

static const char *lacks_solve(iso_dtype dtype, bool wide)
{
    switch (dtype) {
    case ISO_F32:
        return wide ? LACKS(rocblas_strsm_strided_batched_64)
                    : LACKS(rocblas_strsm_strided_batched);
    case ISO_F64:
        return wide ? LACKS(rocblas_dtrsm_strided_batched_64)
                    : LACKS(rocblas_dtrsm_strided_batched);
    case ISO_C64:
        return wide ? LACKS(rocblas_ctrsm_strided_batched_64)
                    : LACKS(rocblas_ctrsm_strided_batched);
    default:
        return wide ? LACKS(rocblas_ztrsm_strided_batched_64)
                    : LACKS(rocblas_ztrsm_strided_batched);
    }
}

static uint32_t square(const simt_blas_square *s)
{
#define SYRK(letter)                                                                               \
    (s->wide ? blas.rocblas_##letter##syrk_strided_batched_64(                                     \
                   s->handle, s->triangle, s->trans, s->n, s->k, s->alpha, s->a, s->lda,           \
                   s->stride_a, s->beta, s->c, s->ldc, s->stride_c, s->batch)                      \
             : blas.rocblas_##letter##syrk_strided_batched(                                        \
                   s->handle, s->triangle, s->trans, (int32_t)s->n, (int32_t)s->k, s->alpha, s->a, \
                   (int32_t)s->lda, s->stride_a, s->beta, s->c, (int32_t)s->ldc, s->stride_c,      \
                   (int32_t)s->batch))
    return s->dtype == ISO_F32   ? SYRK(s)
           : s->dtype == ISO_F64 ? SYRK(d)
           : s->dtype == ISO_C64 ? SYRK(c)
                                 : SYRK(z);
#undef SYRK
}

/* As rocBLAS counts it: inverted blocks of the diagonal, 128 wide, and a copy of B. */
static int64_t solve_bytes(const iso_trsm_op *op)
{
    enum { BLOCK = 128 };
    const int64_t order = op->side == ISO_LEFT ? op->m : op->n;
    return (BLOCK * order + op->m * op->n) * iso_dtype_size(op->dtype);
}

/* The status for less scratch memory than would be best comes with a right result. */
static uint32_t solve(const simt_blas_solve *s)
{
#define TRSM(letter)                                                                               \
    (s->wide ? blas.rocblas_##letter##trsm_strided_batched_64(                                     \
                   s->handle, s->side, s->triangle, s->trans, s->diagonal, s->m, s->n, s->alpha,   \
                   s->a, s->lda, s->stride_a, s->b, s->ldb, s->stride_b, s->batch)                 \
             : blas.rocblas_##letter##trsm_strided_batched(                                        \
                   s->handle, s->side, s->triangle, s->trans, s->diagonal, (int32_t)s->m,          \
                   (int32_t)s->n, s->alpha, s->a, (int32_t)s->lda, s->stride_a, s->b,              \
                   (int32_t)s->ldb, s->stride_b, (int32_t)s->batch))
    const rocblas_code code = s->dtype == ISO_F32   ? TRSM(s)
                              : s->dtype == ISO_F64 ? TRSM(d)
                              : s->dtype == ISO_C64 ? TRSM(c)
                                                    : TRSM(z);
#undef TRSM
    return code == ROCBLAS_PERF_DEGRADED ? (rocblas_code)ROCBLAS_DONE : code;
}

/* ---- transposes and reductions --------------------------------------------------------------- */

static const char *lacks_wide_turn(int64_t element_bytes)
{
    return element_bytes == 4   ? LACKS(rocblas_sgeam_64)
           : element_bytes == 8 ? LACKS(rocblas_dgeam_64)
                                : LACKS(rocblas_zgeam_64);
}

static uint32_t turn(const simt_blas_turn *t)
{
    static const float one_4 = 1, zero_4 = 0;
    static const double one_8 = 1, zero_8 = 0;
    static const rocblas_f64_pair one_16 = {1, 0}, zero_16 = {0, 0};
/* Calls geam with 64-bit sizes if `wide` is set, and otherwise with 32-bit sizes. */
#define GEAM(letter, one, zero)                                                                    \
    (t->wide ? blas.rocblas_##letter##geam_64(t->handle, t->trans, t->no_trans, t->rows, t->cols,  \
                                              &(one), t->from, t->ld_from, &(zero), t->to,         \
                                              t->ld_to, t->to, t->ld_to)                           \
             : blas.rocblas_##letter##geam(t->handle, t->trans, t->no_trans, (int32_t)t->rows,     \
                                           (int32_t)t->cols, &(one), t->from, (int32_t)t->ld_from, \
                                           &(zero), t->to, (int32_t)t->ld_to, t->to,               \
                                           (int32_t)t->ld_to))
    return t->element_bytes == 4   ? GEAM(s, one_4, zero_4)
           : t->element_bytes == 8 ? GEAM(d, one_8, zero_8)
                                   : GEAM(z, one_16, zero_16);
#undef GEAM
}

static const char *lacks_wide_fold(iso_reduce_op op, iso_dtype dtype)
{
    if (op == ISO_ASUM) {
        return dtype == ISO_F64 ? LACKS(rocblas_dasum_strided_batched_64)
                                : LACKS(rocblas_sasum_strided_batched_64);
    }
    return dtype == ISO_F64 ? LACKS(rocblas_ddot_strided_batched_64)
                            : LACKS(rocblas_sdot_strided_batched_64);
}

/* Returns the bytes of workspace for one row. The library keeps one partial result for every 512
 * elements, and two more results. Room for a few more is added, in case a version keeps more. */
static int64_t row_bytes(const iso_reduce_op_args *op)
{
    return (op->cols / 512 + 4) * 16;
}

static uint32_t dot(const simt_blas_fold *f)
{
    const int32_t n = (int32_t)f->n, rows = (int32_t)f->rows;
    if (f->dtype == ISO_F64) {
        return f->wide
                   ? blas.rocblas_ddot_strided_batched_64(f->handle, f->n, f->x, 1, f->ld_x, f->y,
                                                          f->step_y, f->ld_y, f->rows, f->result)
                   : blas.rocblas_ddot_strided_batched(f->handle, n, f->x, 1, f->ld_x, f->y,
                                                       f->step_y, f->ld_y, rows, f->result);
    }
    return f->wide ? blas.rocblas_sdot_strided_batched_64(f->handle, f->n, f->x, 1, f->ld_x, f->y,
                                                          f->step_y, f->ld_y, f->rows, f->result)
                   : blas.rocblas_sdot_strided_batched(f->handle, n, f->x, 1, f->ld_x, f->y,
                                                       f->step_y, f->ld_y, rows, f->result);
}

static uint32_t asum(const simt_blas_fold *f)
{
    const int32_t n = (int32_t)f->n, rows = (int32_t)f->rows;
    if (f->dtype == ISO_F64) {
        return f->wide ? blas.rocblas_dasum_strided_batched_64(f->handle, f->n, f->x, 1, f->ld_x,
                                                               f->rows, f->result)
                       : blas.rocblas_dasum_strided_batched(f->handle, n, f->x, 1, f->ld_x, rows,
                                                            f->result);
    }
    return f->wide ? blas.rocblas_sasum_strided_batched_64(f->handle, f->n, f->x, 1, f->ld_x,
                                                           f->rows, f->result)
                   : blas.rocblas_sasum_strided_batched(f->handle, n, f->x, 1, f->ld_x, rows,
                                                        f->result);
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const simt_blas_numbers blas_numbers = {
    .types = {[ISO_F16] = ROCBLAS_F16 + 1,
              [ISO_BF16] = ROCBLAS_BF16 + 1,
              [ISO_F32] = ROCBLAS_F32 + 1,
              [ISO_F64] = ROCBLAS_F64 + 1,
              [ISO_I32] = ROCBLAS_I32 + 1,
              [ISO_I8] = ROCBLAS_I8 + 1,
              [ISO_C64] = ROCBLAS_C64 + 1,
              [ISO_C128] = ROCBLAS_C128 + 1},
    .no_trans = ROCBLAS_NO_TRANS,
    .trans = ROCBLAS_TRANS,
    .conj_trans = ROCBLAS_CONJ_TRANS,
    .lower = ROCBLAS_LOWER,
    .upper = ROCBLAS_UPPER,
    .left = ROCBLAS_LEFT,
    .right = ROCBLAS_RIGHT,
    .unit = ROCBLAS_UNIT,
    .non_unit = ROCBLAS_NON_UNIT,
    .in_f32 = ROCBLAS_F32,
    .in_tf32 = ROCBLAS_F32, /* the handle's math mode selects TF32 */
    .in_f64 = ROCBLAS_F64,
    .in_c64 = ROCBLAS_C64,
    .in_c128 = ROCBLAS_C128,
    .in_i32 = ROCBLAS_I32,
    .alloc_failed = ROCBLAS_MEMORY_ERROR,
    .refused = {ROCBLAS_NOT_IMPLEMENTED, ROCBLAS_OTHER_CHIP},
    .status_name = status_name,
};

static const simt_blas_numbers lt_numbers = {
    .types = {[ISO_F16] = HIPLT_F16 + 1,
              [ISO_BF16] = HIPLT_BF16 + 1,
              [ISO_F32] = HIPLT_F32 + 1,
              [ISO_F64] = HIPLT_F64 + 1},
    .no_trans = HIPLT_NO_TRANS,
    .trans = HIPLT_TRANS,
    .in_f32 = HIPLT_COMPUTE_F32,
    .in_tf32 = HIPLT_COMPUTE_XF32,
    .in_f64 = HIPLT_COMPUTE_F64,
    .alloc_failed = HIPLT_ALLOC_FAILED,
};

static const simt_lt lt_table = {
    .api = &lt.api,
    .library = &lt_library,
    .numbers = &lt_numbers,
    .not_supported = HIPLT_NOT_SUPPORTED,
    .trans_a = HIPLT_TRANS_A,
    .trans_b = HIPLT_TRANS_B,
    .batch = HIPLT_BATCH,
    .stride = HIPLT_STRIDE,
    .workspace_max = HIPLT_WORKSPACE_MAX,
    .state_at = offsetof(hiplt_choice, state),
    .create_name = "hipblasLtCreate",
    .choose_name = "hipblasLtMatmulAlgoGetHeuristic",
    .run_name = "hipblasLtMatmul",
    .version = lt_version,
};

static const simt_blas blas_table = {
    .numbers = &blas_numbers,
    .create = create,
    .set_up = set_up,
    .set = set,
    .destroy = destroy,
    .create_name = "rocblas_create_handle",
    .set_up_name = "rocblas_set_stream",
    .set_name = "rocblas_set_workspace",
    .library_bytes = library_bytes,
    .lost = lost,
    .forget_error = forget_error,
    .precision = precision,
    .gemm = gemm,
    .lacks_wide_gemm = lacks_wide_gemm,
    .gemm_names = {"rocblas_gemm_ex", "rocblas_gemm_strided_batched_ex"},
    .square = square,
    .solve = solve,
    .batches = true,
    .solve_bytes = solve_bytes,
    .lacks_square = lacks_square,
    .lacks_solve = lacks_solve,
    .square_names = {"rocblas_ssyrk_strided_batched", "rocblas_dsyrk_strided_batched",
                     "rocblas_csyrk_strided_batched", "rocblas_zsyrk_strided_batched"},
    .solve_names = {"rocblas_strsm_strided_batched", "rocblas_dtrsm_strided_batched",
                    "rocblas_ctrsm_strided_batched", "rocblas_ztrsm_strided_batched"},
    .turn = turn,
    .lacks_wide_turn = lacks_wide_turn,
    .turn_names = {"rocblas_sgeam", "rocblas_dgeam", "rocblas_zgeam"},
    .reductions = {.library = "rocBLAS",
                   .norm2_problem = "is not known to keep subnormal elements",
                   .rows = true},
    .dot = dot,
    .asum = asum,
    .lacks_wide_fold = lacks_wide_fold,
    .sum_names = {NULL, "rocblas_sdot_strided_batched with a one of stride 0",
                  "rocblas_ddot_strided_batched with a one of stride 0"},
    .dot_names = {NULL, "rocblas_sdot_strided_batched", "rocblas_ddot_strided_batched"},
    .asum_names = {NULL, "rocblas_sasum_strided_batched", "rocblas_dasum_strided_batched"},
    .row_bytes = row_bytes,
    .put_words = put_words,
    .lt = &lt_table,
    .sparse = &hip_sparse,
};

const simt_vendor hip_vendor = {
    .libraries = libraries,
    .usable = usable,
    .enter = enter,
    .leave = hip_leave,
    .blas = &blas_table,
};
