/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_lt.c - products by a vendor's second library. Its descriptors and its choice of an algorithm
 * are made once for each shape and alignment and cached in the stream, so that repeating a product
 * allocates nothing.
 */
#include "backends/simt/blas.h"

#include <string.h>

enum { PLANS = 16 }; /* cached products of a stream */

struct simt_lt_plan {
    simt_lt_key key; /* key.used is 0 in an empty slot */
    lt_matmul matmul;
    lt_layout one, two, c; /* of the swapped product */
    lt_choice choice;
};

static const simt_lt *lt_of(const simt_device *device)
{
    return simt_blas_of(device)->lt;
}

/* ---- handles --------------------------------------------------------------------------------- */

static iso_status open_handle(simt_device *device, simt_blas_device *own)
{
    const simt_lt *lt = lt_of(device);
    lt_handle handle = NULL;
    int version = 0;
    const uint32_t code = lt->api->ltCreate(&handle);
    if (code != 0) {
        return device->host->fail(code == lt->numbers->alloc_failed ? ISO_NO_MEMORY : ISO_BACKEND,
                                  "%s gives status %u", lt->create_name, code);
    }
    const iso_status status = lt->version ? lt->version(handle, &version) : ISO_OK;
    if (status) {
        (void)lt->api->ltDestroy(handle);
        return status;
    }
    own->lt = handle;
    own->lt_version = version;
    return ISO_OK;
}

/* The device's handle, which the first call creates. The device must be current. */
static iso_status device_handle(simt_device *device, lt_handle *out)
{
    iso_status status = ISO_OK;
    (void)pthread_mutex_lock(&device->vendor_lock);
    simt_blas_device *own = simt_blas_device_of(device);
    if (!own) {
        status = ISO_NO_MEMORY;
    } else if (!own->lt) {
        status = open_handle(device, own);
    }
    (void)pthread_mutex_unlock(&device->vendor_lock);
    *out = own ? own->lt : NULL;
    return status;
}

int simt_lt_version(simt_device *device)
{
    (void)pthread_mutex_lock(&device->vendor_lock);
    const simt_blas_device *own = device->vendor;
    const int version = own ? own->lt_version : 0;
    (void)pthread_mutex_unlock(&device->vendor_lock);
    return version;
}

void simt_lt_device_close(simt_device *device)
{
    const simt_blas_device *own = device->vendor;
    if (own->lt) {
        (void)lt_of(device)->api->ltDestroy(own->lt);
    }
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The guaranteed alignment of an operand or, if `least`, only that of its type. */
static uint32_t alignment(const simt_device *device, iso_ref ref, iso_dtype dtype, bool least)
{
    return (uint32_t)(least ? iso_dtype_size(dtype) : simt_alignment(device, ref));
}

static simt_lt_key key_of(const simt_device *device, const iso_gemm_op *op, bool least)
{
    const simt_lt *lt = lt_of(device);
    simt_lt_key key;
    memset(&key, 0, sizeof key); /* keys are compared with memcmp, padding included */
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
    key.dtype_c = (uint32_t)simt_gemm_dtype_c(op);
    key.compute = simt_blas_compute(lt->numbers, op);
    key.trans_a = simt_blas_trans(lt->numbers, op->trans_a);
    key.trans_b = simt_blas_trans(lt->numbers, op->trans_b);
    if (lt->prefer) {
        key.align_a = alignment(device, op->a, op->dtype, least);
        key.align_b = alignment(device, op->b, op->dtype, least);
        key.align_c = alignment(device, op->c, simt_gemm_dtype_c(op), least);
    }
    key.used = 1;
    return key;
}

static void drop(const simt_lt *lt, simt_lt_plan *plan)
{
    if (plan->matmul) {
        (void)lt->api->ltMatmulDescDestroy(plan->matmul);
    }
    const lt_layout layouts[] = {plan->one, plan->two, plan->c};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i]) {
            (void)lt->api->ltMatrixLayoutDestroy(layouts[i]);
        }
    }
    memset(plan, 0, sizeof *plan);
}

static uint32_t make_layout(const simt_lt *lt, const simt_lt_key *key, lt_layout *layout,
                            uint32_t dtype, int64_t rows, int64_t cols, int64_t ld, int64_t stride)
{
    const int32_t batch = (int32_t)key->batch;
    uint32_t code = lt->api->ltMatrixLayoutCreate(layout, lt->numbers->types[dtype] - 1,
                                                  (uint64_t)rows, (uint64_t)cols, ld);
    if (code == 0 && batch > 1) {
        code = lt->api->ltMatrixLayoutSetAttribute(*layout, lt->batch, &batch, sizeof batch);
    }
    if (code == 0 && batch > 1) {
        code = lt->api->ltMatrixLayoutSetAttribute(*layout, lt->stride, &stride, sizeof stride);
    }
    return code;
}

/* Makes the descriptors of the product C' = op(B)' op(A)', and of its matrices in the library's
 * column-major layout. */
static uint32_t describe(const simt_lt *lt, simt_lt_plan *plan)
{
    const simt_lt_key *key = &plan->key;
    const uint32_t scale = lt->numbers->types[key->dtype == ISO_F64 ? ISO_F64 : ISO_F32] - 1;
    const bool turned_a = key->trans_a != lt->numbers->no_trans;
    const bool turned_b = key->trans_b != lt->numbers->no_trans;
    uint32_t code = lt->api->ltMatmulDescCreate(&plan->matmul, key->compute, scale);
    if (code == 0) {
        code = lt->api->ltMatmulDescSetAttribute(plan->matmul, lt->trans_a, &key->trans_b,
                                                 sizeof key->trans_b);
    }
    if (code == 0) {
        code = lt->api->ltMatmulDescSetAttribute(plan->matmul, lt->trans_b, &key->trans_a,
                                                 sizeof key->trans_a);
    }
    if (code == 0) {
        code = make_layout(lt, key, &plan->one, key->dtype, turned_b ? key->k : key->n,
                           turned_b ? key->n : key->k, key->ldb, key->stride_b);
    }
    if (code == 0) {
        code = make_layout(lt, key, &plan->two, key->dtype, turned_a ? key->m : key->k,
                           turned_a ? key->k : key->m, key->lda, key->stride_a);
    }
    return code ? code
                : make_layout(lt, key, &plan->c, key->dtype_c, key->n, key->m, key->ldc,
                              key->stride_c);
}

static uint32_t choose(const simt_device *device, lt_handle handle, simt_lt_plan *plan)
{
    const simt_lt *lt = lt_of(device);
    const uint64_t bytes = (uint64_t)simt_blas_of(device)->library_bytes(device);
    lt_preference preference = NULL;
    int given = 0;
    uint32_t code = lt->api->ltMatmulPreferenceCreate(&preference);
    if (code != 0) {
        return code;
    }
    code = lt->api->ltMatmulPreferenceSetAttribute(preference, lt->workspace_max, &bytes,
                                                   sizeof bytes);
    if (code == 0 && lt->prefer) {
        code = lt->prefer(preference, &plan->key);
    }
    if (code == 0) {
        code =
            lt->api->ltMatmulAlgoGetHeuristic(handle, plan->matmul, plan->one, plan->two, plan->c,
                                              plan->c, preference, 1, &plan->choice, &given);
    }
    (void)lt->api->ltMatmulPreferenceDestroy(preference);
    if (code == 0 && given < 1) {
        code = lt->not_supported;
    } else if (code == 0) {
        memcpy(&code, (const char *)&plan->choice + lt->state_at, sizeof code);
    }
    return code;
}

static uint32_t make_plan(const simt_device *device, lt_handle handle, const simt_lt_key *key,
                          simt_lt_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->key = *key;
    uint32_t code = describe(lt_of(device), plan);
    if (code == 0) {
        code = choose(device, handle, plan);
    }
    if (code != 0) {
        drop(lt_of(device), plan);
    }
    return code;
}

/* The stream's plan for this product. If the library has no algorithm for the operands' alignment,
 * it is asked again with only the type's alignment, for which `supports` has found an algorithm. */
static iso_status plan_of(simt_stream *stream, const iso_gemm_op *op, lt_handle *handle,
                          simt_lt_plan **out)
{
    simt_device *device = stream->device;
    const simt_lt *lt = lt_of(device);
    simt_blas_stream *own = simt_blas_stream_of(stream);
    iso_status status = own ? device_handle(device, handle) : ISO_NO_MEMORY;
    if (!status && !own->plans) {
        own->plans = device->host->alloc((int64_t)sizeof *own->plans * PLANS);
        if (!own->plans) {
            return ISO_NO_MEMORY;
        }
        memset(own->plans, 0, sizeof *own->plans * PLANS);
    }
    if (status) {
        return status;
    }
    const simt_lt_key key = key_of(device, op, false);
    for (int i = 0; i < PLANS; i++) {
        if (memcmp(&own->plans[i].key, &key, sizeof key) == 0) {
            *out = &own->plans[i];
            return ISO_OK;
        }
    }
    simt_lt_plan *plan = &own->plans[own->next_plan];
    drop(lt, plan);
    uint32_t code = make_plan(device, *handle, &key, plan);
    if (code == lt->not_supported && lt->prefer) {
        const simt_lt_key least = key_of(device, op, true);
        code = make_plan(device, *handle, &least, plan);
    }
    status = simt_blas_check(stream, lt->numbers, code, lt->choose_name);
    if (!status) {
        plan->key = key;
        own->next_plan = (own->next_plan + 1) % PLANS;
        *out = plan;
    }
    return status;
}

void simt_lt_stream_close(simt_stream *stream)
{
    simt_blas_stream *own = stream->vendor;
    for (int i = 0; own->plans && i < PLANS; i++) {
        drop(lt_of(stream->device), &own->plans[i]);
    }
    stream->device->host->free(own->plans);
    own->plans = NULL;
}

/* ---- the operation --------------------------------------------------------------------------- */

/* Fails unless the library has an algorithm for operands with only the type's alignment. */
static iso_status query(simt_device *device, const iso_gemm_op *op)
{
    lt_handle handle = NULL;
    simt_lt_plan plan;
    const iso_status status = device_handle(device, &handle);
    if (status) {
        return status;
    }
    const simt_lt_key key = key_of(device, op, true);
    const uint32_t code = make_plan(device, handle, &key, &plan);
    if (code == 0) {
        drop(lt_of(device), &plan);
        return ISO_OK;
    }
    if (simt_blas_of(device)->forget_error) {
        simt_blas_of(device)->forget_error();
    }
    return device->host->fail(
        ISO_UNSUPPORTED,
        "gemm: variant vendor: %s has no algorithm for a product of %s with m %lld, n %lld and k "
        "%lld, and leading dimensions %lld, %lld and %lld (status %u); use library 0",
        simt_library_label(lt_of(device)->library), iso_dtype_name(op->dtype), (long long)op->m,
        (long long)op->n, (long long)op->k, (long long)op->lda, (long long)op->ldb,
        (long long)op->ldc, code);
}

static iso_status supports(simt_device *device, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    const simt_blas_wish wish = {"gemm", op->dtype, op->math, op->library};
    const char *label = lt_of(device)->library->loader.title;
    simt_scope scope;
    if (op->dtype == ISO_C64 || op->dtype == ISO_C128 || op->dtype == ISO_I8) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "gemm: variant vendor: %s is not used for products of %s; use "
                                  "library 0",
                                  label, iso_dtype_name(op->dtype));
    }
    iso_status status = simt_blas_types(device, lt_of(device)->numbers, op, label);
    status = status ? status : simt_blas_of(device)->precision(device, &wish);
    if (status) {
        return status;
    }
    if (op->batch > INT32_MAX) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "gemm: variant vendor: batch is %lld, but %s takes at most %d; "
                                  "use library 0",
                                  (long long)op->batch, label, INT32_MAX);
    }
    status = simt_vendor_enter(device, &scope);
    if (!status) {
        status = query(device, op);
    }
    simt_vendor_leave(device, scope);
    return status;
}

static iso_status prepare(simt_stream *stream, const iso_op *op)
{
    simt_lt_plan *plan = NULL;
    lt_handle handle = NULL;
    return plan_of(stream, op->gemm, &handle, &plan);
}

static iso_status execute(simt_stream *stream, const iso_op *of)
{
    const iso_gemm_op *op = of->gemm;
    const simt_lt *lt = lt_of(stream->device);
    const simt_blas_scalar alpha = simt_blas_scalar_of(op->dtype, op->alpha, 0);
    const simt_blas_scalar beta = simt_blas_scalar_of(op->dtype, op->beta, 0);
    simt_lt_plan *plan = NULL;
    lt_handle handle = NULL;
    const iso_status status = plan_of(stream, op, &handle, &plan);
    if (status) {
        return status;
    }
    void *c = simt_place(op->c);
    const uint32_t code =
        lt->api->ltMatmul(handle, plan->matmul, &alpha, simt_place(op->b), plan->one,
                          simt_place(op->a), plan->two, &beta, c, plan->c, c, plan->c,
                          plan->choice.algorithm, simt_place(of->workspace) + BLAS_CONSTANT_BYTES,
                          (size_t)(of->workspace_bytes - BLAS_CONSTANT_BYTES), stream->native);
    return simt_blas_check(stream, lt->numbers, code, lt->run_name);
}

static const char *name(const simt_device *device, const iso_op *op)
{
    (void)op;
    return lt_of(device)->run_name;
}

const simt_vendor_operation simt_lt_gemm = {
    .supports = supports,
    .workspace = simt_blas_workspace,
    .execute = execute,
    .prepare = prepare,
    .name = name,
};
