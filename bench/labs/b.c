/* SPDX-License-Identifier: Apache-2.0 */
/* b.c - the tensor-core lab: f32 products, strict and in TF32. */
#include "bench/labs/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEN = 10 };

static iso_status ten_products(lab *l, void *context)
{
    iso_status status = ISO_OK;
    for (int i = 0; i < TEN && status == ISO_OK; i++) {
        status = iso_gemm(l->stream, context);
    }
    return status;
}

/* The vendor's library, or else isomer's own product. */
static iso_variant variant_of(lab *l, iso_gemm_args *args)
{
    args->variant = ISO_VARIANT_VENDOR;
    return iso_supports(l->device, ISO_OP_GEMM, args) == ISO_OK ? ISO_VARIANT_VENDOR
                                                                : ISO_VARIANT_TILED;
}

static void multiply(lab *l, json_t *entry, iso_gemm_args *args)
{
    const int64_t n = args->n, bytes = n * n * 4;
    const double flops = 2.0 * TEN * (double)n * (double)n * (double)n;
    const double allowed = args->math == ISO_MATH_TF32 ? 1e-2 : 1e-4;
    lab_times times;
    double sums, greatest;
    float *got = tool_alloc((size_t)bytes, 1, "a result");
    iso_status status = lab_time(l, ten_products, args, &times);
    status = status == ISO_OK ? iso_read(l->stream, got, args->c, bytes) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    if (lab_ok(l, entry, status)) {
        const lab_product *want = lab_product_rows(l, n, n, n);
        lab_product_error(want, ISO_F32, got, &sums, &greatest);
        if (lab_checked(entry, sums <= allowed, "relative error %.2g of %d rows, at most %g", sums,
                        (int)want->rows, allowed)) {
            lab_figure_of(entry, "time", "s", &times.kernel);
            lab_figure(entry, "rate", "FLOP/s", flops / times.kernel.median);
            lab_figure(entry, "error", "", sums);
            lab_figure(entry, "error-max", "", greatest);
            lab_work_of(entry, flops, 3.0 * TEN * (double)bytes);
        }
    }
    free(got);
}

/* ---- the 3 x 3 example ----------------------------------------------------------------------- */

/* Needs more than the 11 bits of a TF32 number. */
static const float example_a[9] = {1.0001f, 2.0002f, 3.0003f,  -1.0005f, 0.3333f,
                                   1.7771f, 100.01f, -200.02f, 300.03f};
static const float example_b[9] = {1.0003f, 0.1001f, 7.0007f, 0.5005f, -3.0003f,
                                   1.1111f, 2.0009f, 0.7777f, -1.0001f};

static void show_matrix(json_t *entry, const char *name, const double *x)
{
    for (int i = 0; i < 3; i++) {
        lab_line(entry, "%-8s %14.7f %14.7f %14.7f", i == 0 ? name : "", x[3 * i], x[3 * i + 1],
                 x[3 * i + 2]);
    }
}

static iso_status run_example(lab *l, iso_gemm_args args, double *out)
{
    iso_operand at[3] = {{{0}, 0}};
    float c[9] = {0};
    iso_status status = ISO_OK;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = lab_buffer(l, sizeof c, &at[i]);
    }
    args.m = args.n = args.k = 3;
    args.a = at[0];
    args.b = at[1];
    args.c = at[2];
    status = status == ISO_OK ? iso_write(l->stream, at[0], example_a, sizeof c) : status;
    status = status == ISO_OK ? iso_write(l->stream, at[1], example_b, sizeof c) : status;
    status = status == ISO_OK ? iso_gemm(l->stream, &args) : status;
    status = status == ISO_OK ? iso_read(l->stream, c, at[2], sizeof c) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    for (int i = 0; i < 9; i++) {
        out[i] = (double)c[i];
    }
    lab_free(at, 3);
    return status;
}

static void example(lab *l, const iso_gemm_args *args)
{
    json_t *entry =
        lab_entry(l, args->math == ISO_MATH_TF32 ? "3x3 in TF32" : "3x3 strict", ISO_F32);
    double got[9], want[9] = {0}, off[9], off_sum = 0, all = 0;
    const double allowed = args->math == ISO_MATH_TF32 ? 2e-3 : 1e-6;
    if (!lab_ok(l, entry, run_example(l, *args, got))) {
        return;
    }
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < 3; k++) {
            want[i] += (double)example_a[i / 3 * 3 + k] * (double)example_b[3 * k + i % 3];
        }
        off[i] = got[i] - want[i];
        off_sum += fabs(off[i]);
        all += fabs(want[i]);
    }
    show_matrix(entry, "result", got);
    show_matrix(entry, "in f64", want);
    show_matrix(entry, "error", off);
    if (lab_checked(entry, off_sum <= allowed * all, "relative error %.2g, at most %g",
                    off_sum / all, allowed)) {
        lab_figure(entry, "error", "", off_sum / all);
    }
}

/* ---- B1, B2 ---------------------------------------------------------------------------------- */

static iso_status describe(lab *l, iso_gemm_args *args, iso_math math, iso_op_info *info)
{
    args->dtype = ISO_F32;
    args->math = math;
    args->variant = variant_of(l, args);
    *info = (iso_op_info)ISO_OP_INFO_INIT;
    return iso_describe(l->device, ISO_OP_GEMM, args, info);
}

void lab_b1(lab *l)
{
    const int64_t n = l->scale == LAB_SMALL ? 65 : l->on_cpu && l->scale != LAB_FULL ? 1024 : 15000;
    const int64_t bytes = n * n * 4;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_operand at[3] = {{{0}, 0}};
    args.m = args.n = args.k = n;
    for (int tf32 = 0; tf32 < 2; tf32++) {
        json_t *entry = lab_entry(l, tf32 ? "TF32" : "strict", ISO_F32);
        iso_op_info info;
        iso_status status = ISO_OK;
        lab_case(entry, "n", (double)n);
        if (!lab_fits(l, entry, 3 * bytes, 4 * bytes) ||
            !lab_ok(l, entry, describe(l, &args, tf32 ? ISO_MATH_TF32 : ISO_MATH_STRICT, &info))) {
            continue;
        }
        if (tf32 && info.math != ISO_MATH_TF32) {
            tool_set_text(entry, "status", "unsupported");
            tool_set_text(entry, "reason", info.math_reason);
            continue;
        }
        for (int i = 0; i < 3 && status == ISO_OK && !at[i].buffer.id; i++) {
            status = lab_buffer(l, bytes, &at[i]);
            status = status == ISO_OK && i < 2
                         ? lab_write(l, at[i], (uint64_t)i + 1, ISO_F32, n * n)
                         : status;
        }
        args.a = at[0];
        args.b = at[1];
        args.c = at[2];
        if (lab_ok(l, entry, status)) {
            multiply(l, entry, &args);
            example(l, &args);
        }
    }
    lab_free(at, 3);
}

/* What a device does that is asked for TF32. */
void lab_b2(lab *l)
{
    json_t *entry = lab_entry(l, "asked for TF32", ISO_F32);
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_op_info info;
    args.m = args.n = args.k = 64;
    if (!lab_ok(l, entry, describe(l, &args, ISO_MATH_TF32, &info))) {
        return;
    }
    bool same = info.math == ISO_MATH_TF32;
    lab_line(entry, "%s ran%s%s", iso_math_name(info.math), same ? "" : ": ",
             same ? "" : info.math_reason);
    (void)lab_checked(entry, same || info.math_reason[0] != '\0',
                      "the device says which math runs, and why");
}
