/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - fills the tables of backends/simt/blas.h with the functions and constants of cuBLAS and
 * cuBLASLt. */
#include "backends/cuda/library.h"
#include "common/dtype.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the libraries --------------------------------------------------------------------------- */

static struct LOADER_TABLE(CUDA_CUBLAS_SYMBOLS) blas;
static struct {
    simt_lt_api api;
    struct LOADER_TABLE(CUDA_CUBLASLT_OWN_SYMBOLS) own;
} lt;
_Static_assert(sizeof(cublaslt_choice) <= sizeof(lt_choice),
               "cublaslt_choice does not fit into lt_choice");

static bool open_blas(simt_library *self)
{
    int part[3] = {0, 0, 0};
    if (!loader_open(&self->loader)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        (void)blas.cublasGetProperty((cublas_enum)(CUBLAS_VERSION_MAJOR + i), &part[i]);
    }
    (void)snprintf(self->label, sizeof self->label, "cuBLAS %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

/* The library returns 130100 for version 13.1.0. Before version 12 the number had one digit less:
 * 11402 for 11.4.2. */
static bool open_lt(simt_library *self)
{
    if (!loader_open(&self->loader)) {
        return false;
    }
    const long long version = (long long)lt.own.cublasLtGetVersion();
    const long long unit = version < 100000 ? 1000 : 10000;
    (void)snprintf(self->label, sizeof self->label, "cuBLASLt %lld.%lld.%lld", version / unit,
                   version % unit / 100, version % 100);
    return true;
}

static simt_library blas_library = {
    .loader = {.title = "cuBLAS",
               .since = CUDA_OLDEST,
               .where = &cuda_where,
               .names = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
               LOADER_FUNCTIONS(blas, CUDA_CUBLAS_SYMBOLS)},
    .open = open_blas,
    .version_at = sizeof "cuBLAS",
    .operations = {[ISO_OP_GEMM] = &simt_blas_gemm,
                   [ISO_OP_TRANSPOSE] = &simt_blas_transpose,
                   [ISO_OP_REDUCE] = &simt_blas_reduce,
                   [ISO_OP_SYRK] = &simt_blas_syrk,
                   [ISO_OP_TRSM] = &simt_blas_trsm},
};

static simt_library lt_library = {
    .loader = {.title = "cuBLASLt",
               .since = CUDA_OLDEST,
               .where = &cuda_where,
               .names = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"},
               LOADER_FUNCTIONS(lt, CUDA_CUBLASLT_SYMBOLS)},
    .open = open_lt,
    .version_at = sizeof "cuBLASLt",
    .needs_terms = true,
    .operations = {[ISO_OP_GEMM] = &simt_lt_gemm},
};

/* ---- statuses and handles -------------------------------------------------------------------- */

static const char *status_name(uint32_t code)
{
    return blas.cublasGetStatusName       ? blas.cublasGetStatusName(code)
           : lt.own.cublasLtGetStatusName ? lt.own.cublasLtGetStatusName(code)
                                          : NULL;
}

static iso_status lost(simt_stream *stream, const char *what)
{
    const cuda_code code = cu.cuStreamQuery(stream->native);
    return cuda_status(code) == ISO_DEVICE_LOST
               ? cuda_check(stream->device->native, code, "%s, and cuStreamQuery", what)
               : ISO_OK;
}

static uint32_t create(void **handle)
{
    return blas.cublasCreate_v2((cublas_handle *)(void *)handle);
}

/* Called only once, when the handle is created, because setting the stream resets the workspace. */
static uint32_t set_up(void *handle, void *stream)
{
    cublas_code code = blas.cublasSetStream_v2(handle, stream);
    if (code == CUBLAS_DONE) {
        code = blas.cublasSetAtomicsMode(handle, CUBLAS_NO_ATOMICS);
    }
    if (code == CUBLAS_DONE && blas.cublasSetEmulationStrategy) {
        code = blas.cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_DEFAULT);
    }
    return code;
}

static uint32_t set(void *handle, bool on_device, void *workspace, int64_t bytes)
{
    cublas_code code = blas.cublasSetPointerMode_v2(handle, on_device ? CUBLAS_POINTERS_DEVICE
                                                                      : CUBLAS_POINTERS_HOST);
    if (code == CUBLAS_DONE) {
        code = blas.cublasSetMathMode(handle, CUBLAS_MATH_DEFAULT | CUBLAS_MATH_FULL_SUMS);
    }
    if (code == CUBLAS_DONE && workspace) {
        code = blas.cublasSetWorkspace_v2(handle, workspace, (size_t)bytes);
    }
    return code;
}

static uint32_t destroy(void *handle)
{
    return blas.cublasDestroy_v2(handle);
}

/* NVIDIA's default workspace: 32 MiB since Hopper, 4 MiB before. */
static int64_t library_bytes(const simt_device *device)
{
    const cuda_device *native = device->native;
    return native->architecture >= 90 ? INT64_C(32) << 20 : INT64_C(4) << 20;
}

static iso_status put_words(simt_stream *stream, void *at, uint32_t word, int64_t count)
{
    return cuda_check(stream->device->native,
                      cu.cuMemsetD32Async(cuda_address_of(at), word, (size_t)count, stream->native),
                      "cuMemsetD32Async");
}

static iso_status enter(void *native, simt_scope *scope)
{
    *scope = cuda_enter(native);
    return cuda_check(native, scope->code, "cuCtxPushCurrent before a vendor call");
}

/* ---- precision ------------------------------------------------------------------------------- */

static bool is_set(const char *variable, const char *harmless)
{
    const char *value = getenv(variable);
    return value && value[0] && strcmp(value, "0") != 0 && strcmp(value, harmless) != 0;
}

/* Returns the name of an environment variable that is set and makes cuBLAS compute with less
 * precision than the program requests. Returns NULL if there is none. */
static const char *overriding(iso_dtype dtype)
{
    const bool wide = dtype == ISO_F64 || dtype == ISO_C128;
    const char *emulate =
        wide ? "CUBLAS_EMULATE_DOUBLE_PRECISION" : "CUBLAS_EMULATE_SINGLE_PRECISION";
    if (dtype != ISO_F32 && dtype != ISO_C64 && !wide) {
        return NULL;
    }
    if (!wide && is_set("NVIDIA_TF32_OVERRIDE", "0")) {
        return "NVIDIA_TF32_OVERRIDE";
    }
    return is_set(emulate, "0")                             ? emulate
           : is_set("CUBLAS_EMULATION_STRATEGY", "default") ? "CUBLAS_EMULATION_STRATEGY"
                                                            : NULL;
}

static iso_status precision(const simt_device *device, const simt_blas_wish *wish)
{
    enum { PASCAL = 53, TURING = 75, AMPERE = 80 };
    static const int oldest[SIMT_TYPES_MAX] = {
        [ISO_F16] = PASCAL, [ISO_BF16] = AMPERE, [ISO_I8] = TURING};
    const int architecture = ((const cuda_device *)device->native)->architecture;
    const bool tf32 = wish->math == ISO_MATH_TF32 && wish->dtype == ISO_F32;
    const int needed = tf32 ? AMPERE : oldest[wish->dtype];
    const char *variable = tf32 ? NULL : overriding(wish->dtype);
    if (variable) {
        return cuda_host->fail(ISO_UNSUPPORTED,
                               "%s: variant vendor: math is strict, but %s=%s lowers the "
                               "precision of cuBLAS: unset it, or use tiled",
                               wish->operation, variable, getenv(variable));
    }
    const char *never = getenv("NVIDIA_TF32_OVERRIDE");
    if (tf32 && never && strcmp(never, "0") == 0) {
        return cuda_host->fail(ISO_UNSUPPORTED,
                               "%s: variant vendor: math is tf32, but NVIDIA_TF32_OVERRIDE=0 "
                               "forbids it",
                               wish->operation);
    }
    if (architecture < needed) {
        return cuda_host->fail(ISO_UNSUPPORTED,
                               "%s: variant vendor: %s needs sm_%d, but the device is sm_%d%s",
                               wish->operation, tf32 ? "math tf32" : iso_dtype_name(wish->dtype),
                               needed, architecture, tf32 ? "" : "; use tiled");
    }
    return ISO_OK;
}

/* ---- products -------------------------------------------------------------------------------- */

#define LACKS(name) (blas.name ? NULL : #name)

static const char *lacks_wide_gemm(bool batched)
{
    return batched ? LACKS(cublasGemmStridedBatchedEx_64) : LACKS(cublasGemmEx_64);
}

static uint32_t gemm(const simt_blas_product *p)
{
    if (p->batch > 1 && p->wide) {
        return blas.cublasGemmStridedBatchedEx_64(
            p->handle, p->trans_1, p->trans_2, p->m, p->n, p->k, p->alpha, p->one, p->type, p->ld_1,
            p->stride_1, p->two, p->type, p->ld_2, p->stride_2, p->beta, p->c, p->type_c, p->ld_c,
            p->stride_c, p->batch, p->compute, CUBLAS_ALGORITHM_DEFAULT);
    }
    if (p->wide) {
        return blas.cublasGemmEx_64(p->handle, p->trans_1, p->trans_2, p->m, p->n, p->k, p->alpha,
                                    p->one, p->type, p->ld_1, p->two, p->type, p->ld_2, p->beta,
                                    p->c, p->type_c, p->ld_c, p->compute, CUBLAS_ALGORITHM_DEFAULT);
    }
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int ld_1 = (int)p->ld_1, ld_2 = (int)p->ld_2, ld_c = (int)p->ld_c;
    if (p->batch > 1) {
        return blas.cublasGemmStridedBatchedEx(
            p->handle, p->trans_1, p->trans_2, m, n, k, p->alpha, p->one, p->type, ld_1,
            p->stride_1, p->two, p->type, ld_2, p->stride_2, p->beta, p->c, p->type_c, ld_c,
            p->stride_c, (int)p->batch, p->compute, CUBLAS_ALGORITHM_DEFAULT);
    }
    return blas.cublasGemmEx(p->handle, p->trans_1, p->trans_2, m, n, k, p->alpha, p->one, p->type,
                             ld_1, p->two, p->type, ld_2, p->beta, p->c, p->type_c, ld_c,
                             p->compute, CUBLAS_ALGORITHM_DEFAULT);
}

/* Partial sums are added in the type of the computation, never in a narrower one. */
static uint32_t prefer(void *preference, const simt_lt_key *key)
{
    const bool narrow = dtype_get((iso_dtype)key->dtype_c)->bytes == 2;
    const uint32_t reductions =
        CUBLASLT_REDUCE_COMPUTED | (narrow ? 0u : (uint32_t)CUBLASLT_REDUCE_IN_PLACE);
    const struct {
        cublas_enum attribute;
        uint32_t value;
    } wishes[] = {
        {CUBLASLT_REDUCTIONS, reductions},    {CUBLASLT_ALIGNMENT_A, key->align_b},
        {CUBLASLT_ALIGNMENT_B, key->align_a}, {CUBLASLT_ALIGNMENT_C, key->align_c},
        {CUBLASLT_ALIGNMENT_D, key->align_c},
    };
    uint32_t code = CUBLAS_DONE;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0] && code == CUBLAS_DONE; i++) {
        code = lt.api.ltMatmulPreferenceSetAttribute(preference, wishes[i].attribute,
                                                     &wishes[i].value, sizeof wishes[i].value);
    }
    return code;
}

/* ---- symmetric products and triangular solves ------------------------------------------------ */

static const char *lacks_square(iso_dtype dtype, bool wide)
{
    switch (dtype) {
    case ISO_F32:
        return wide ? LACKS(cublasSsyrk_v2_64) : LACKS(cublasSsyrk_v2);
    case ISO_F64:
        return wide ? LACKS(cublasDsyrk_v2_64) : LACKS(cublasDsyrk_v2);
    case ISO_C64:
        return wide ? LACKS(cublasCsyrk_v2_64) : LACKS(cublasCsyrk_v2);
    default:
        return wide ? LACKS(cublasZsyrk_v2_64) : LACKS(cublasZsyrk_v2);
    }
}

static const char *lacks_solve(iso_dtype dtype, bool wide)
{
    switch (dtype) {
    case ISO_F32:
        return wide ? LACKS(cublasStrsm_v2_64) : LACKS(cublasStrsm_v2);
    case ISO_F64:
        return wide ? LACKS(cublasDtrsm_v2_64) : LACKS(cublasDtrsm_v2);
    case ISO_C64:
        return wide ? LACKS(cublasCtrsm_v2_64) : LACKS(cublasCtrsm_v2);
    default:
        return wide ? LACKS(cublasZtrsm_v2_64) : LACKS(cublasZtrsm_v2);
    }
}

static uint32_t square(const simt_blas_square *s)
{
#define SYRK(letter)                                                                               \
    (s->wide                                                                                       \
         ? blas.cublas##letter##syrk_v2_64(s->handle, s->triangle, s->trans, s->n, s->k, s->alpha, \
                                           s->a, s->lda, s->beta, s->c, s->ldc)                    \
         : blas.cublas##letter##syrk_v2(s->handle, s->triangle, s->trans, (int)s->n, (int)s->k,    \
                                        s->alpha, s->a, (int)s->lda, s->beta, s->c, (int)s->ldc))
    return s->dtype == ISO_F32   ? SYRK(S)
           : s->dtype == ISO_F64 ? SYRK(D)
           : s->dtype == ISO_C64 ? SYRK(C)
                                 : SYRK(Z);
#undef SYRK
}

static uint32_t solve(const simt_blas_solve *s)
{
#define TRSM(letter)                                                                               \
    (s->wide                                                                                       \
         ? blas.cublas##letter##trsm_v2_64(s->handle, s->side, s->triangle, s->trans, s->diagonal, \
                                           s->m, s->n, s->alpha, s->a, s->lda, s->b, s->ldb)       \
         : blas.cublas##letter##trsm_v2(s->handle, s->side, s->triangle, s->trans, s->diagonal,    \
                                        (int)s->m, (int)s->n, s->alpha, s->a, (int)s->lda, s->b,   \
                                        (int)s->ldb))
    return s->dtype == ISO_F32   ? TRSM(S)
           : s->dtype == ISO_F64 ? TRSM(D)
           : s->dtype == ISO_C64 ? TRSM(C)
                                 : TRSM(Z);
#undef TRSM
}

/* ---- transposes and reductions --------------------------------------------------------------- */

static uint32_t turn(const simt_blas_turn *t)
{
    static const float one_4 = 1, zero_4 = 0;
    static const double one_8 = 1, zero_8 = 0;
    static const _Alignas(16) double one_16[2] = {1, 0}, zero_16[2] = {0, 0};
    const int m = (int)t->rows, n = (int)t->cols;
    const int lda = (int)t->ld_from, ldc = (int)t->ld_to;
    switch (t->element_bytes) {
    case 4:
        return blas.cublasSgeam(t->handle, t->trans, t->no_trans, m, n, &one_4, t->from, lda,
                                &zero_4, t->to, ldc, t->to, ldc);
    case 8:
        return blas.cublasDgeam(t->handle, t->trans, t->no_trans, m, n, &one_8, t->from, lda,
                                &zero_8, t->to, ldc, t->to, ldc);
    default:
        return blas.cublasZgeam(t->handle, t->trans, t->no_trans, m, n, (const void *)one_16,
                                t->from, lda, (const void *)zero_16, t->to, ldc, t->to, ldc);
    }
}

static const char *lacks_wide_fold(iso_reduce_op op, iso_dtype dtype)
{
    if (op == ISO_ASUM) {
        return dtype == ISO_F64 ? LACKS(cublasDasum_v2_64) : LACKS(cublasSasum_v2_64);
    }
    return dtype == ISO_F64   ? LACKS(cublasDdot_v2_64)
           : dtype == ISO_F32 ? LACKS(cublasSdot_v2_64)
                              : LACKS(cublasDotEx_64);
}

static uint32_t dot(const simt_blas_fold *f)
{
    const int n = (int)f->n;
    if (f->dtype == ISO_F32) {
        return f->wide ? blas.cublasSdot_v2_64(f->handle, f->n, f->x, 1, f->y, f->step_y, f->result)
                       : blas.cublasSdot_v2(f->handle, n, f->x, 1, f->y, f->step_y, f->result);
    }
    if (f->dtype == ISO_F64) {
        return f->wide ? blas.cublasDdot_v2_64(f->handle, f->n, f->x, 1, f->y, f->step_y, f->result)
                       : blas.cublasDdot_v2(f->handle, n, f->x, 1, f->y, f->step_y, f->result);
    }
    return f->wide ? blas.cublasDotEx_64(f->handle, f->n, f->x, f->type, 1, f->y, f->type,
                                         f->step_y, f->result, f->type, CUBLAS_TYPE_F32)
                   : blas.cublasDotEx(f->handle, n, f->x, f->type, 1, f->y, f->type, f->step_y,
                                      f->result, f->type, CUBLAS_TYPE_F32);
}

static uint32_t asum(const simt_blas_fold *f)
{
    const int n = (int)f->n;
    if (f->dtype == ISO_F32) {
        return f->wide ? blas.cublasSasum_v2_64(f->handle, f->n, f->x, 1, f->result)
                       : blas.cublasSasum_v2(f->handle, n, f->x, 1, f->result);
    }
    return f->wide ? blas.cublasDasum_v2_64(f->handle, f->n, f->x, 1, f->result)
                   : blas.cublasDasum_v2(f->handle, n, f->x, 1, f->result);
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Both libraries use the same values for these constants. */
static const simt_blas_numbers numbers = {
    .types = {[ISO_F16] = CUBLAS_TYPE_F16 + 1,
              [ISO_BF16] = CUBLAS_TYPE_BF16 + 1,
              [ISO_F32] = CUBLAS_TYPE_F32 + 1,
              [ISO_F64] = CUBLAS_TYPE_F64 + 1,
              [ISO_I32] = CUBLAS_TYPE_I32 + 1,
              [ISO_I8] = CUBLAS_TYPE_I8 + 1,
              [ISO_C64] = CUBLAS_TYPE_C64 + 1,
              [ISO_C128] = CUBLAS_TYPE_C128 + 1},
    .no_trans = CUBLAS_NO_TRANS,
    .trans = CUBLAS_TRANS,
    .conj_trans = CUBLAS_CONJ_TRANS,
    .lower = CUBLAS_LOWER,
    .upper = CUBLAS_UPPER,
    .left = CUBLAS_LEFT,
    .right = CUBLAS_RIGHT,
    .unit = CUBLAS_UNIT,
    .non_unit = CUBLAS_NON_UNIT,
    .in_f32 = CUBLAS_IN_F32,
    .in_tf32 = CUBLAS_IN_TF32,
    .in_f64 = CUBLAS_IN_F64,
    .in_c64 = CUBLAS_IN_F32,
    .in_c128 = CUBLAS_IN_F64,
    .in_i32 = CUBLAS_IN_I32,
    .alloc_failed = CUBLAS_ALLOC_FAILED,
    .refused = {CUBLAS_NOT_SUPPORTED, CUBLAS_OTHER_CHIP},
    .status_name = status_name,
};

static const simt_lt lt_table = {
    .api = &lt.api,
    .library = &lt_library,
    .numbers = &numbers,
    .not_supported = CUBLAS_NOT_SUPPORTED,
    .trans_a = CUBLASLT_TRANS_A,
    .trans_b = CUBLASLT_TRANS_B,
    .batch = CUBLASLT_BATCH,
    .stride = CUBLASLT_STRIDE,
    .workspace_max = CUBLASLT_WORKSPACE_MAX,
    .state_at = offsetof(cublaslt_choice, state),
    .create_name = "cublasLtCreate",
    .choose_name = "cublasLtMatmulAlgoGetHeuristic",
    .run_name = "cublasLtMatmul",
    .prefer = prefer,
};

static const simt_blas blas_table = {
    .numbers = &numbers,
    .create = create,
    .set_up = set_up,
    .set = set,
    .destroy = destroy,
    .create_name = "cublasCreate",
    .set_up_name = "cublasSetStream",
    .set_name = "cublasSetWorkspace",
    .library_bytes = library_bytes,
    .lost = lost,
    .precision = precision,
    .gemm = gemm,
    .lacks_wide_gemm = lacks_wide_gemm,
    .gemm_names = {"cublasGemmEx", "cublasGemmStridedBatchedEx"},
    .square = square,
    .solve = solve,
    .lacks_square = lacks_square,
    .lacks_solve = lacks_solve,
    .square_names = {"cublasSsyrk", "cublasDsyrk", "cublasCsyrk", "cublasZsyrk"},
    .solve_names = {"cublasStrsm", "cublasDtrsm", "cublasCtrsm", "cublasZtrsm"},
    .turn = turn,
    .turn_names = {"cublasSgeam", "cublasDgeam", "cublasZgeam"},
    .reductions = {.library = "cuBLAS",
                   .norm2_problem = "loses subnormal elements (seen with 13.1)",
                   .half = true},
    .dot = dot,
    .asum = asum,
    .lacks_wide_fold = lacks_wide_fold,
    .sum_names = {"cublasDotEx with a one of stride 0", "cublasSdot with a one of stride 0",
                  "cublasDdot with a one of stride 0"},
    .dot_names = {"cublasDotEx", "cublasSdot", "cublasDdot"},
    .asum_names = {NULL, "cublasSasum", "cublasDasum"},
    .put_words = put_words,
    .lt = &lt_table,
    .sparse = &cuda_sparse,
};

static simt_library *const libraries[] = {&blas_library, &lt_library, &cuda_sparse_library,
                                          &cuda_comm_library, NULL};

const simt_vendor cuda_vendor = {
    .libraries = libraries,
    .enter = enter,
    .leave = cuda_leave,
    .blas = &blas_table,
};
