/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - products of signed bytes by a vendor's BLAS library, for gemm_fixed.c. Their sums are
 * whole numbers of 32 bits, so every library gives the same bits, and a product that it refuses can
 * be computed in another way.
 */
#include "backends/simt/blas.h"

static bool find_usable(simt_device *device)
{
    const simt_vendor *vendor = device->driver->vendor;
    return vendor && vendor->blas && vendor->blas->numbers->in_i32 &&
           simt_library_label(simt_vendor_library(device, 0)) &&
           (!vendor->usable || vendor->usable(device, 0) == ISO_OK);
}

bool simt_bytes_usable(simt_device *device)
{
    if (!device->limits.bytes) {
        return false;
    }
    int verdict = atomic_load_explicit(&device->bytes_verdict, memory_order_acquire);
    if (verdict == SIMT_UNIT_UNKNOWN) {
        (void)pthread_mutex_lock(&device->unit_lock);
        verdict = atomic_load(&device->bytes_verdict);
        if (verdict == SIMT_UNIT_UNKNOWN) {
            verdict = find_usable(device) ? SIMT_UNIT_GOOD : SIMT_UNIT_BAD;
            atomic_store_explicit(&device->bytes_verdict, verdict, memory_order_release);
        }
        (void)pthread_mutex_unlock(&device->unit_lock);
    }
    return verdict == SIMT_UNIT_GOOD;
}

int64_t simt_bytes_workspace(simt_device *device)
{
    return BLAS_CONSTANT_BYTES + simt_blas_of(device)->library_bytes(device);
}

const char *simt_bytes_name(simt_device *device)
{
    return simt_library_label(simt_vendor_library(device, 0));
}

/* Says once for each device why its own kernel is used. */
static void report_refusal(simt_device *device, const char *why)
{
    if (!atomic_exchange(&device->bytes_refused, true)) {
        device->host->log(
            ISO_LOG_WARN,
            "%s: %s %s: this backend's own kernel computes products of bytes of fixed "
            "products instead, with the same bits",
            device->driver->name, simt_bytes_name(device), why);
    }
}

/* A library that gives no handle refuses everything. */
static iso_status get_handle(simt_stream *stream, iso_ref workspace, int64_t bytes, void **handle)
{
    const iso_status status = simt_blas_handle(stream, workspace, bytes, false, handle);
    if (status != ISO_BACKEND) {
        return status;
    }
    *handle = NULL;
    report_refusal(stream->device, "gives no handle");
    return ISO_OK;
}

iso_status simt_bytes_prepare(simt_stream *stream)
{
    void *handle = NULL;
    simt_scope scope;
    iso_status status = simt_vendor_enter(stream->device, &scope);
    if (status == ISO_OK) {
        status = get_handle(stream, (iso_ref){.memory = NULL}, 0, &handle);
    }
    simt_vendor_leave(stream->device, scope);
    return status;
}

/* Column-major: the sums are the transpose of b' a, and k is contiguous in both. */
static simt_blas_product product_of(const simt_blas_numbers *numbers, const simt_bytes *p,
                                    void *handle)
{
    static const int32_t factors[] = {0, 1};
    return (simt_blas_product){
        .handle = handle,
        .trans_1 = numbers->trans,
        .trans_2 = numbers->no_trans,
        .type = numbers->types[ISO_I8] - 1,
        .type_c = numbers->types[ISO_I32] - 1,
        .compute = numbers->in_i32,
        .m = p->cols,
        .n = p->rows,
        .k = p->depth,
        .ld_1 = p->depth,
        .ld_2 = p->depth,
        .ld_c = p->cols,
        .batch = p->batch,
        .stride_1 = p->cols * p->depth,
        .stride_2 = p->rows * p->depth,
        .stride_c = p->rows * p->cols,
        .alpha = &factors[1],
        .beta = &factors[p->add],
        .one = simt_place(p->b),
        .two = simt_place(p->a),
        .c = simt_place(p->sums),
    };
}

/* Large products run one by one, which was measured to reach the library's full rate; the others
 * in one call, because one alone does not fill a device. */
static iso_status run(simt_stream *stream, const simt_bytes *p, void *handle, bool *refused)
{
    enum { LARGE = 4096 * 4096 };
    const simt_blas *blas = simt_blas_of(stream->device);
    const simt_blas_numbers *numbers = blas->numbers;
    const bool alone = p->rows * p->cols >= LARGE;
    const int64_t calls = alone ? p->batch : 1;
    simt_blas_product product = product_of(numbers, p, handle);
    product.batch = alone ? 1 : p->batch;
    for (int64_t i = 0; i < calls; i++) {
        const char *name = blas->gemm_names[product.batch > 1];
        const uint32_t code = blas->gemm(&product);
        if (i == 0 && code != 0 && (code == numbers->refused[0] || code == numbers->refused[1])) {
            *refused = true;
            report_refusal(stream->device, "refuses one as not supported");
            return ISO_OK;
        }
        if (code != 0) {
            return simt_blas_check(stream, numbers, code, name);
        }
        product.one = (const char *)product.one + product.stride_1;
        product.two = (const char *)product.two + product.stride_2;
        product.c = (int32_t *)product.c + product.stride_c;
    }
    return ISO_OK;
}

iso_status simt_bytes_multiply(simt_stream *stream, const simt_bytes *product, bool *refused)
{
    void *handle = NULL;
    simt_scope scope;
    *refused = false;
    iso_status status = simt_vendor_enter(stream->device, &scope);
    if (status == ISO_OK) {
        status = get_handle(stream, product->workspace, product->workspace_bytes, &handle);
    }
    if (status == ISO_OK) {
        *refused = !handle;
        status = handle ? run(stream, product, handle, refused) : ISO_OK;
    }
    simt_vendor_leave(stream->device, scope);
    return status;
}
