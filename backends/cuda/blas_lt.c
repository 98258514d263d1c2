/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_lt.c - the product by cuBLASLt. Its descriptors and its choice of an algorithm are made once
 * for each shape and alignment, and cached by the stream: repeating a product allocates nothing.
 */
#include "backends/cuda/blas.h"
#include "common/dtype.h"

#include <string.h>

/* The key of an algorithm. */
typedef struct lt_key {
    int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
    uint32_t dtype, compute, trans_a, trans_b;
    uint32_t align_a, align_b, align_c;
    uint32_t used;
} lt_key;

struct blaslt_plan {
    lt_key key; /* used: 0 for an empty slot */
    cublaslt_matmul matmul;
    cublaslt_layout one, two, c; /* of the swapped product */
    cublaslt_choice choice;
};

/* ---- handles --------------------------------------------------------------------------------- */

static iso_status device_handle(simt_device *device, cublaslt_handle *out)
{
    iso_status status = ISO_OK;
    (void)pthread_mutex_lock(&device->vendor_lock);
    blas_device *own = device->vendor;
    if (!own) {
        own = cuda_host->alloc((int64_t)sizeof *own);
        status = own ? ISO_OK : ISO_NO_MEMORY;
        if (own) {
            memset(own, 0, sizeof *own);
            const cublas_code code = cuda_blaslt.cublasLtCreate(&own->lt);
            if (code != CUBLAS_DONE) {
                cuda_host->free(own);
                own = NULL;
                status = cuda_host->fail(code == CUBLAS_ALLOC_FAILED ? ISO_NO_MEMORY : ISO_BACKEND,
                                         "cublasLtCreate gives %u", code);
            }
        }
        device->vendor = own;
    }
    (void)pthread_mutex_unlock(&device->vendor_lock);
    *out = own ? own->lt : NULL;
    return status;
}

void cuda_blaslt_device_close(blas_device *own)
{
    (void)cuda_blaslt.cublasLtDestroy(own->lt);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The guaranteed alignment of an operand; that of its type if `least`. */
static uint32_t alignment(iso_ref ref, iso_dtype dtype, bool least)
{
    enum { MOST = 256 };
    if (least) {
        return (uint32_t)iso_dtype_size(dtype);
    }
    const cuda_address bits = cuda_place(ref) | MOST;
    return (uint32_t)(bits & (~bits + 1));
}

static lt_key key_of(const iso_gemm_op *op, bool least)
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
    key.compute = blas_compute(op);
    key.trans_a = op->trans_a == ISO_TRANS ? CUBLAS_TRANS : CUBLAS_NO_TRANS;
    key.trans_b = op->trans_b == ISO_TRANS ? CUBLAS_TRANS : CUBLAS_NO_TRANS;
    key.align_a = alignment(op->a, op->dtype, least);
    key.align_b = alignment(op->b, op->dtype, least);
    key.align_c = alignment(op->c, op->dtype, least);
    key.used = 1;
    return key;
}

static void drop(blaslt_plan *plan)
{
    if (plan->matmul) {
        (void)cuda_blaslt.cublasLtMatmulDescDestroy(plan->matmul);
    }
    cublaslt_layout layouts[] = {plan->one, plan->two, plan->c};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i]) {
            (void)cuda_blaslt.cublasLtMatrixLayoutDestroy(layouts[i]);
        }
    }
    memset(plan, 0, sizeof *plan);
}

static cublas_code make_layout(cublaslt_layout *layout, const lt_key *key, int64_t rows,
                               int64_t cols, int64_t ld, int64_t stride)
{
    const int32_t batch = (int32_t)key->batch;
    cublas_code code = cuda_blaslt.cublasLtMatrixLayoutCreate(layout, cuda_blas_types[key->dtype],
                                                              (uint64_t)rows, (uint64_t)cols, ld);
    if (code == CUBLAS_DONE && batch > 1) {
        code = cuda_blaslt.cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_BATCH, &batch,
                                                            sizeof batch);
    }
    if (code == CUBLAS_DONE && batch > 1) {
        code = cuda_blaslt.cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_STRIDE, &stride,
                                                            sizeof stride);
    }
    return code;
}

/* The product C' = op(B)' op(A)', and its matrices in their column-major layout. */
static cublas_code describe(blaslt_plan *plan)
{
    const lt_key *key = &plan->key;
    const uint32_t scale = key->dtype == ISO_F64 ? CUBLAS_TYPE_F64 : CUBLAS_TYPE_F32;
    const bool turned_a = key->trans_a == CUBLAS_TRANS;
    const bool turned_b = key->trans_b == CUBLAS_TRANS;
    cublas_code code = cuda_blaslt.cublasLtMatmulDescCreate(&plan->matmul, key->compute, scale);
    if (code == CUBLAS_DONE) {
        code = cuda_blaslt.cublasLtMatmulDescSetAttribute(plan->matmul, CUBLASLT_TRANS_A,
                                                          &key->trans_b, sizeof key->trans_b);
    }
    if (code == CUBLAS_DONE) {
        code = cuda_blaslt.cublasLtMatmulDescSetAttribute(plan->matmul, CUBLASLT_TRANS_B,
                                                          &key->trans_a, sizeof key->trans_a);
    }
    if (code == CUBLAS_DONE) {
        code = make_layout(&plan->one, key, turned_b ? key->k : key->n, turned_b ? key->n : key->k,
                           key->ldb, key->stride_b);
    }
    if (code == CUBLAS_DONE) {
        code = make_layout(&plan->two, key, turned_a ? key->m : key->k, turned_a ? key->k : key->m,
                           key->lda, key->stride_a);
    }
    if (code == CUBLAS_DONE) {
        code = make_layout(&plan->c, key, key->n, key->m, key->ldc, key->stride_c);
    }
    return code;
}

/* Partial sums are added in the type of the computation, never in a narrower one. */
static cublas_code prefer(cublaslt_preference preference, const lt_key *key, int64_t workspace)
{
    const uint64_t bytes = (uint64_t)workspace;
    const bool narrow = dtype_get((iso_dtype)key->dtype)->bytes == 2;
    const uint32_t reductions =
        CUBLASLT_REDUCE_COMPUTED | (narrow ? 0u : (uint32_t)CUBLASLT_REDUCE_IN_PLACE);
    const struct {
        cublas_enum attribute;
        const void *value;
        size_t bytes;
    } wishes[] = {
        {CUBLASLT_WORKSPACE_MAX, &bytes, sizeof bytes},
        {CUBLASLT_REDUCTIONS, &reductions, sizeof reductions},
        {CUBLASLT_ALIGNMENT_A, &key->align_b, sizeof key->align_b},
        {CUBLASLT_ALIGNMENT_B, &key->align_a, sizeof key->align_a},
        {CUBLASLT_ALIGNMENT_C, &key->align_c, sizeof key->align_c},
        {CUBLASLT_ALIGNMENT_D, &key->align_c, sizeof key->align_c},
    };
    cublas_code code = CUBLAS_DONE;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0] && code == CUBLAS_DONE; i++) {
        code = cuda_blaslt.cublasLtMatmulPreferenceSetAttribute(preference, wishes[i].attribute,
                                                                wishes[i].value, wishes[i].bytes);
    }
    return code;
}

static cublas_code choose(cublaslt_handle handle, blaslt_plan *plan, int64_t workspace)
{
    cublaslt_preference preference = NULL;
    int given = 0;
    cublas_code code = cuda_blaslt.cublasLtMatmulPreferenceCreate(&preference);
    if (code != CUBLAS_DONE) {
        return code;
    }
    code = prefer(preference, &plan->key, workspace);
    if (code == CUBLAS_DONE) {
        code = cuda_blaslt.cublasLtMatmulAlgoGetHeuristic(handle, plan->matmul, plan->one,
                                                          plan->two, plan->c, plan->c, preference,
                                                          1, &plan->choice, &given);
    }
    (void)cuda_blaslt.cublasLtMatmulPreferenceDestroy(preference);
    if (code == CUBLAS_DONE) {
        code = given > 0 ? plan->choice.state : (cublas_code)CUBLAS_NOT_SUPPORTED;
    }
    return code;
}

static cublas_code make_plan(simt_device *device, cublaslt_handle handle, const lt_key *key,
                             blaslt_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->key = *key;
    cublas_code code = describe(plan);
    if (code == CUBLAS_DONE) {
        code = choose(handle, plan, blas_library_bytes(blas_device_of(device)));
    }
    if (code != CUBLAS_DONE) {
        drop(plan);
    }
    return code;
}

/* The stream's plan for this product. If the library has no algorithm for the operands' alignment,
 * it is queried with the alignment of the type, which cuda_blaslt_supports has checked. */
static iso_status plan_of(simt_stream *stream, const iso_gemm_op *op, blaslt_plan **out)
{
    blas_stream *own = simt_stream_vendor(stream, (int64_t)sizeof *own);
    cublaslt_handle handle = NULL;
    iso_status status = own ? device_handle(stream->device, &handle) : ISO_NO_MEMORY;
    if (!status && !own->plans) {
        own->plans = cuda_host->alloc((int64_t)sizeof *own->plans * BLAS_PLANS);
        if (!own->plans) {
            return ISO_NO_MEMORY;
        }
        memset(own->plans, 0, sizeof *own->plans * BLAS_PLANS);
    }
    if (status) {
        return status;
    }
    const lt_key key = key_of(op, false);
    for (int i = 0; i < BLAS_PLANS; i++) {
        if (memcmp(&own->plans[i].key, &key, sizeof key) == 0) {
            *out = &own->plans[i];
            return ISO_OK;
        }
    }
    blaslt_plan *plan = &own->plans[own->next_plan];
    drop(plan);
    cublas_code code = make_plan(stream->device, handle, &key, plan);
    if (code == CUBLAS_NOT_SUPPORTED) {
        const lt_key least = key_of(op, true);
        code = make_plan(stream->device, handle, &least, plan);
        plan->key = key;
    }
    status = cuda_blas_check(blas_queue(stream), code, "cublasLtMatmulAlgoGetHeuristic");
    if (status) {
        memset(plan, 0, sizeof *plan);
        return status;
    }
    own->next_plan = (own->next_plan + 1) % BLAS_PLANS;
    *out = plan;
    return ISO_OK;
}

void cuda_blaslt_stream_close(blas_stream *own)
{
    for (int i = 0; own->plans && i < BLAS_PLANS; i++) {
        drop(&own->plans[i]);
    }
    cuda_host->free(own->plans);
    own->plans = NULL;
}

/* ---- the operation --------------------------------------------------------------------------- */

/* Queries the library, for operands of the least alignment. */
static iso_status supports(simt_device *device, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    cuda_device *native = blas_device_of(device);
    cublaslt_handle handle = NULL;
    blaslt_plan plan;
    iso_status status = cuda_blas_precision(native, op);
    if (status) {
        return status;
    }
    if (op->batch > INT32_MAX) {
        return cuda_host->fail(
            ISO_UNSUPPORTED,
            "gemm: variant vendor: cuBLASLt counts the batch in 32 bits; use tiled");
    }
    cuda_scope scope = cuda_enter(native);
    status = cuda_check(native, scope.code, "cuCtxPushCurrent before a vendor call");
    if (!status) {
        status = device_handle(device, &handle);
    }
    if (!status) {
        const lt_key key = key_of(op, true);
        const cublas_code code = make_plan(device, handle, &key, &plan);
        if (code == CUBLAS_DONE) {
            drop(&plan);
        } else {
            status = cuda_host->fail(
                ISO_UNSUPPORTED,
                "gemm: variant vendor: %s has no algorithm for a product of %s with m %lld, n %lld "
                "and k %lld, and leading dimensions %lld, %lld and %lld (status %u); use library 0",
                cuda_blaslt_label(), iso_dtype_name(op->dtype), (long long)op->m, (long long)op->n,
                (long long)op->k, (long long)op->lda, (long long)op->ldb, (long long)op->ldc, code);
        }
    }
    cuda_leave(scope);
    return status;
}

static iso_status prepare(simt_stream *stream, const iso_op *op)
{
    blaslt_plan *plan = NULL;
    return plan_of(stream, op->gemm, &plan);
}

static iso_status execute(simt_stream *stream, const iso_op *op)
{
    const iso_gemm_op *gemm = op->gemm;
    cuda_queue *queue = blas_queue(stream);
    blaslt_plan *plan = NULL;
    cublaslt_handle handle = NULL;
    const float alpha_f32 = (float)gemm->alpha;
    const float beta_f32 = (float)gemm->beta;
    const bool wide = gemm->dtype == ISO_F64;
    iso_status status = plan_of(stream, gemm, &plan);
    if (!status) {
        status = device_handle(stream->device, &handle);
    }
    if (status) {
        return status;
    }
    void *c = cuda_pointer(cuda_place(gemm->c));
    const cublas_code code = cuda_blaslt.cublasLtMatmul(
        handle, plan->matmul, wide ? (const void *)&gemm->alpha : &alpha_f32,
        cuda_pointer(cuda_place(gemm->b)), plan->one, cuda_pointer(cuda_place(gemm->a)), plan->two,
        wide ? (const void *)&gemm->beta : &beta_f32, c, plan->c, c, plan->c,
        &plan->choice.algorithm, blas_workspace(op),
        (size_t)(op->workspace_bytes - BLAS_CONSTANT_BYTES), queue->stream);
    return cuda_blas_check(queue, code, "cublasLtMatmul");
}

static const char *name(const iso_op *op)
{
    (void)op;
    return "cublasLtMatmul";
}

const simt_vendor_operation cuda_blaslt_gemm = {
    .supports = supports,
    .execute = execute,
    .prepare = prepare,
    .name = name,
};
