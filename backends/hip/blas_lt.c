/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_lt.c - the product by hipBLASLt. Its descriptors and its choice of an algorithm are made
 * once for each shape, and cached by the stream: repeating a product allocates nothing.
 */
#include "backends/hip/blas.h"

#include <string.h>

/* The key of an algorithm. */
typedef struct lt_key {
    int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
    uint32_t dtype, compute, trans_a, trans_b;
    uint32_t used, reserved;
} lt_key;

struct blaslt_plan {
    lt_key key; /* used: 0 for an empty slot */
    hiplt_matmul matmul;
    hiplt_layout one, two, c; /* of the swapped product */
    hiplt_choice choice;
};

/* ---- handles --------------------------------------------------------------------------------- */

/* Before 0.7 the compute types had other numbers. */
enum { LT_VERSION_LEAST = 700 };

static iso_status open_handle(blas_device *own)
{
    hiplt_code code = hip_blaslt.hipblasLtCreate(&own->lt);
    if (code != HIPLT_DONE) {
        own->lt = NULL;
        return hip_host->fail(code == HIPLT_ALLOC_FAILED ? ISO_NO_MEMORY : ISO_BACKEND,
                              "hipblasLtCreate gives status %u", code);
    }
    code = hip_blaslt.hipblasLtGetVersion(own->lt, &own->lt_version);
    if (code != HIPLT_DONE || own->lt_version < LT_VERSION_LEAST) {
        (void)hip_blaslt.hipblasLtDestroy(own->lt);
        return hip_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: hipBLASLt is of version %d, and %d (0.7.0) is "
                              "the first that is used; use library 0",
                              own->lt_version, LT_VERSION_LEAST);
    }
    return ISO_OK;
}

/* The device is current. */
static iso_status device_handle(simt_device *device, hiplt_handle *out)
{
    iso_status status = ISO_OK;
    (void)pthread_mutex_lock(&device->vendor_lock);
    blas_device *own = device->vendor;
    if (!own) {
        own = hip_host->alloc((int64_t)sizeof *own);
        status = ISO_NO_MEMORY;
        if (own) {
            memset(own, 0, sizeof *own);
            status = open_handle(own);
            if (status) {
                hip_host->free(own);
                own = NULL;
            }
        }
        device->vendor = own;
    }
    (void)pthread_mutex_unlock(&device->vendor_lock);
    *out = own ? own->lt : NULL;
    return status;
}

int blaslt_version(simt_device *device)
{
    (void)pthread_mutex_lock(&device->vendor_lock);
    const blas_device *own = device->vendor;
    const int version = own ? own->lt_version : 0;
    (void)pthread_mutex_unlock(&device->vendor_lock);
    return version;
}

void hip_blaslt_device_close(blas_device *own)
{
    (void)hip_blaslt.hipblasLtDestroy(own->lt);
}

static iso_status lt_check(hip_queue *queue, hiplt_code code, const char *call)
{
    if (code == HIPLT_DONE) {
        return ISO_OK;
    }
    const hip_code runtime = hip.hipStreamQuery(queue->stream);
    if (hip_status(runtime) == ISO_DEVICE_LOST) {
        return hip_check(queue->device, runtime, "%s gives status %u, and hipStreamQuery", call,
                         code);
    }
    (void)hip.hipGetLastError();
    return hip_host->fail(code == HIPLT_ALLOC_FAILED ? ISO_NO_MEMORY : ISO_BACKEND,
                          "%s gives status %u", call, code);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static const hiplt_enum lt_types[] = {
    [ISO_F16] = HIPLT_F16,
    [ISO_BF16] = HIPLT_BF16,
    [ISO_F32] = HIPLT_F32,
    [ISO_F64] = HIPLT_F64,
};

static lt_key key_of(const iso_gemm_op *op)
{
    lt_key key;
    memset(&key, 0, sizeof key); /* keys are compared by their bytes */
    key.m = op->m;
    key.n = op->n;
    key.k = op->k;
    key.lda = op->lda;
    key.ldb = op->ldb;
    key.ldc = op->ldc;
    key.batch = op->batch;
    key.stride_a = op->batch > 1 ? op->stride_a : 0;
    key.stride_b = op->batch > 1 ? op->stride_b : 0;
    key.stride_c = op->batch > 1 ? op->stride_c : 0;
    key.dtype = (uint32_t)op->dtype;
    key.compute = op->dtype == ISO_F64                                ? HIPLT_COMPUTE_F64
                  : op->dtype == ISO_F32 && op->math == ISO_MATH_TF32 ? HIPLT_COMPUTE_XF32
                                                                      : HIPLT_COMPUTE_F32;
    key.trans_a = op->trans_a == ISO_TRANS ? HIPLT_TRANS : HIPLT_NO_TRANS;
    key.trans_b = op->trans_b == ISO_TRANS ? HIPLT_TRANS : HIPLT_NO_TRANS;
    key.used = 1;
    return key;
}

static void drop(blaslt_plan *plan)
{
    if (plan->matmul) {
        (void)hip_blaslt.hipblasLtMatmulDescDestroy(plan->matmul);
    }
    hiplt_layout layouts[] = {plan->one, plan->two, plan->c};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i]) {
            (void)hip_blaslt.hipblasLtMatrixLayoutDestroy(layouts[i]);
        }
    }
    memset(plan, 0, sizeof *plan);
}

static hiplt_code make_layout(hiplt_layout *layout, const lt_key *key, int64_t rows, int64_t cols,
                              int64_t ld, int64_t stride)
{
    const int32_t batch = (int32_t)key->batch;
    hiplt_code code = hip_blaslt.hipblasLtMatrixLayoutCreate(layout, lt_types[key->dtype],
                                                             (uint64_t)rows, (uint64_t)cols, ld);
    if (code == HIPLT_DONE && batch > 1) {
        code = hip_blaslt.hipblasLtMatrixLayoutSetAttribute(*layout, HIPLT_BATCH, &batch,
                                                            sizeof batch);
    }
    if (code == HIPLT_DONE && batch > 1) {
        code = hip_blaslt.hipblasLtMatrixLayoutSetAttribute(*layout, HIPLT_STRIDE, &stride,
                                                            sizeof stride);
    }
    return code;
}

/* The product C' = op(B)' op(A)', and its matrices in their column-major layout. */
static hiplt_code describe(blaslt_plan *plan)
{
    const lt_key *key = &plan->key;
    const bool turned_a = key->trans_a == HIPLT_TRANS;
    const bool turned_b = key->trans_b == HIPLT_TRANS;
    const hiplt_enum scale = key->dtype == ISO_F64 ? HIPLT_F64 : HIPLT_F32;
    hiplt_code code = hip_blaslt.hipblasLtMatmulDescCreate(&plan->matmul, key->compute, scale);
    if (code == HIPLT_DONE) {
        code = hip_blaslt.hipblasLtMatmulDescSetAttribute(plan->matmul, HIPLT_TRANS_A,
                                                          &key->trans_b, sizeof key->trans_b);
    }
    if (code == HIPLT_DONE) {
        code = hip_blaslt.hipblasLtMatmulDescSetAttribute(plan->matmul, HIPLT_TRANS_B,
                                                          &key->trans_a, sizeof key->trans_a);
    }
    if (code == HIPLT_DONE) {
        code = make_layout(&plan->one, key, turned_b ? key->k : key->n, turned_b ? key->n : key->k,
                           key->ldb, key->stride_b);
    }
    if (code == HIPLT_DONE) {
        code = make_layout(&plan->two, key, turned_a ? key->m : key->k, turned_a ? key->k : key->m,
                           key->lda, key->stride_a);
    }
    if (code == HIPLT_DONE) {
        code = make_layout(&plan->c, key, key->n, key->m, key->ldc, key->stride_c);
    }
    return code;
}

static hiplt_code choose(hiplt_handle handle, blaslt_plan *plan)
{
    const uint64_t bytes = (uint64_t)BLAS_LIBRARY_BYTES;
    hiplt_preference preference = NULL;
    int given = 0;
    hiplt_code code = hip_blaslt.hipblasLtMatmulPreferenceCreate(&preference);
    if (code != HIPLT_DONE) {
        return code;
    }
    code = hip_blaslt.hipblasLtMatmulPreferenceSetAttribute(preference, HIPLT_WORKSPACE_MAX, &bytes,
                                                            sizeof bytes);
    if (code == HIPLT_DONE) {
        code = hip_blaslt.hipblasLtMatmulAlgoGetHeuristic(handle, plan->matmul, plan->one,
                                                          plan->two, plan->c, plan->c, preference,
                                                          1, &plan->choice, &given);
    }
    (void)hip_blaslt.hipblasLtMatmulPreferenceDestroy(preference);
    if (code == HIPLT_DONE) {
        code = given > 0 ? plan->choice.state : (hiplt_code)HIPLT_NOT_SUPPORTED;
    }
    return code;
}

static hiplt_code make_plan(hiplt_handle handle, const lt_key *key, blaslt_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->key = *key;
    hiplt_code code = describe(plan);
    if (code == HIPLT_DONE) {
        code = choose(handle, plan);
    }
    if (code != HIPLT_DONE) {
        drop(plan);
    }
    return code;
}

/* The stream's plan for this product. */
static iso_status plan_of(simt_stream *stream, const iso_gemm_op *op, hiplt_handle *handle,
                          blaslt_plan **out)
{
    blas_stream *own = simt_stream_vendor(stream, (int64_t)sizeof *own);
    iso_status status = own ? device_handle(stream->device, handle) : ISO_NO_MEMORY;
    if (!status && !own->plans) {
        own->plans = hip_host->alloc((int64_t)sizeof *own->plans * BLAS_PLANS);
        if (!own->plans) {
            return ISO_NO_MEMORY;
        }
        memset(own->plans, 0, sizeof *own->plans * BLAS_PLANS);
    }
    if (status) {
        return status;
    }
    const lt_key key = key_of(op);
    for (int i = 0; i < BLAS_PLANS; i++) {
        if (memcmp(&own->plans[i].key, &key, sizeof key) == 0) {
            *out = &own->plans[i];
            return ISO_OK;
        }
    }
    blaslt_plan *plan = &own->plans[own->next_plan];
    drop(plan);
    const hiplt_code code = make_plan(*handle, &key, plan);
    status = lt_check(blas_queue(stream), code, "hipblasLtMatmulAlgoGetHeuristic");
    if (!status) {
        own->next_plan = (own->next_plan + 1) % BLAS_PLANS;
        *out = plan;
    }
    return status;
}

void hip_blaslt_stream_close(blas_stream *own)
{
    for (int i = 0; own->plans && i < BLAS_PLANS; i++) {
        drop(&own->plans[i]);
    }
    hip_host->free(own->plans);
    own->plans = NULL;
}

/* ---- the operation --------------------------------------------------------------------------- */

static iso_status ask(simt_device *device, const iso_gemm_op *op)
{
    hiplt_handle handle = NULL;
    blaslt_plan plan;
    const iso_status status = device_handle(device, &handle);
    if (status) {
        return status;
    }
    const lt_key key = key_of(op);
    const hiplt_code code = make_plan(handle, &key, &plan);
    if (code == HIPLT_DONE) {
        drop(&plan);
        return ISO_OK;
    }
    (void)hip.hipGetLastError();
    return hip_host->fail(ISO_UNSUPPORTED,
                          "gemm: variant vendor: hipBLASLt has no algorithm for a product of %s "
                          "with m %lld, n %lld and k %lld, and leading dimensions %lld, %lld and "
                          "%lld (status %u); use library 0",
                          iso_dtype_name(op->dtype), (long long)op->m, (long long)op->n,
                          (long long)op->k, (long long)op->lda, (long long)op->ldb,
                          (long long)op->ldc, code);
}

static iso_status supports(simt_device *device, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    hip_device *native = blas_device_of(device);
    iso_status status = hip_blas_precision(native, op);
    if (status) {
        return status;
    }
    if (op->batch > INT32_MAX) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: batch is %lld, and hipBLASLt counts it in 32 "
                              "bits: at most %d; use library 0",
                              (long long)op->batch, INT32_MAX);
    }
    const hip_scope scope = hip_enter(native);
    status = hip_check(native, scope.code, "hipSetDevice before a vendor call");
    if (!status) {
        status = ask(device, op);
    }
    hip_leave(scope);
    return status;
}

static iso_status prepare(simt_stream *stream, const iso_op *op)
{
    blaslt_plan *plan = NULL;
    hiplt_handle handle = NULL;
    return plan_of(stream, op->gemm, &handle, &plan);
}

static iso_status execute(simt_stream *stream, const iso_op *op)
{
    const iso_gemm_op *gemm = op->gemm;
    hip_queue *queue = blas_queue(stream);
    blaslt_plan *plan = NULL;
    hiplt_handle handle = NULL;
    const float alpha_f32 = (float)gemm->alpha;
    const float beta_f32 = (float)gemm->beta;
    const bool f64 = gemm->dtype == ISO_F64;
    const iso_status status = plan_of(stream, gemm, &handle, &plan);
    if (status) {
        return status;
    }
    void *c = blas_place(gemm->c);
    const hiplt_code code = hip_blaslt.hipblasLtMatmul(
        handle, plan->matmul, f64 ? (const void *)&gemm->alpha : &alpha_f32, blas_place(gemm->b),
        plan->one, blas_place(gemm->a), plan->two, f64 ? (const void *)&gemm->beta : &beta_f32, c,
        plan->c, c, plan->c, &plan->choice.algorithm,
        blas_place(op->workspace) + BLAS_CONSTANT_BYTES,
        (size_t)(op->workspace_bytes - BLAS_CONSTANT_BYTES), queue->stream);
    return lt_check(queue, code, "hipblasLtMatmul");
}

static const char *name(const iso_op *op)
{
    (void)op;
    return "hipblasLtMatmul";
}

const simt_vendor_operation hip_blaslt_gemm = {
    .supports = supports,
    .execute = execute,
    .prepare = prepare,
    .name = name,
};
