/* SPDX-License-Identifier: Apache-2.0 */
/* company_load.c - a large product that keeps a device busy. */
#include "bench/verify/internal.h"

#include <stdlib.h>
#include <string.h>

static iso_status multiply(verify_runner *runner, const iso_gemm_args *args, double *seconds)
{
    double begin = tool_seconds();
    iso_status status = iso_gemm(runner->stream, args);
    if (status == ISO_OK) {
        status = iso_stream_sync(runner->stream);
    }
    *seconds = tool_seconds() - begin;
    return status;
}

/* Zeros, so that no number is infinite, a NaN or subnormal. */
static iso_status make_buffers(company_load *load, verify_runner *runner, int64_t bytes)
{
    iso_status status = ISO_OK;
    for (int i = 0; i < COUNT(load->buffers) && status == ISO_OK; i++) {
        status = iso_buffer_create(runner->device, bytes, &load->buffers[i]);
        if (status == ISO_OK) {
            status = iso_fill(runner->stream, (iso_operand){load->buffers[i], 0}, "\0", 1, bytes);
        }
    }
    return status;
}

/* The product grows until it takes some milliseconds. */
bool company_load_make(company_load *load, verify_runner *runner, bench_result *result)
{
    enum { LEAST = 64, MOST = 4096 };
    iso_status status = ISO_OK;
    double seconds = 0;
    for (int64_t n = LEAST; !load->made && status == ISO_OK; n *= 2) {
        load->args = (iso_gemm_args)ISO_GEMM_ARGS_INIT;
        load->args.dtype = ISO_F32;
        load->args.variant = ISO_VARIANT_TILED;
        load->args.math = ISO_MATH_STRICT;
        load->args.m = load->args.n = load->args.k = n;
        status = make_buffers(load, runner, n * n * 4);
        load->args.a.buffer = load->buffers[0];
        load->args.b.buffer = load->buffers[1];
        load->args.c.buffer = load->buffers[2];
        if (status == ISO_OK) {
            status = iso_prepare(runner->stream, ISO_OP_GEMM, &load->args);
        }
        if (status == ISO_OK) {
            status = multiply(runner, &load->args, &seconds);
        }
        load->made = status == ISO_OK && (seconds >= 5e-3 || n >= MOST);
        for (int i = 0; !load->made && i < COUNT(load->buffers); i++) {
            if (load->buffers[i].id != 0) {
                iso_buffer_destroy(load->buffers[i]);
                load->buffers[i].id = 0;
            }
        }
    }
    if (status == ISO_UNSUPPORTED) {
        return check_unsupported(result, "the device has no product to keep it busy: %s",
                                 tool_reason());
    }
    return status == ISO_OK ||
           check_call_failed(result, "the product that keeps the device busy", status);
}
