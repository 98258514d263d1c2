/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - the row of products. */
#include "bench/ops/ops.h"
#include "bench/suite/suite.h"
#include "bench/workload/workload.h"

#include <stdio.h>

static void set_layout(work_case *item, const char *layout)
{
    item->trans_a = layout[0] == 't' ? ISO_TRANS : ISO_NO_TRANS;
    item->trans_b = layout[1] == 't' ? ISO_TRANS : ISO_NO_TRANS;
}

static void set_size(work_case *item, const work_size *size)
{
    item->m = size->of[0];
    item->n = size->count > 1 ? size->of[1] : size->of[0];
    item->k = size->count > 2 ? size->of[2] : size->of[0];
}

static void shape(const work_case *item, work_shape *out)
{
    double m = (double)item->m, n = (double)item->n, k = (double)item->k;
    const char *a = iso_trans_name(item->trans_a), *b = iso_trans_name(item->trans_b);
    *out = (work_shape){.names = {"m", "n", "k", "batch"},
                        .sizes = {item->m, item->n, item->k, item->batch},
                        .count = 3,
                        .more = 1,
                        .elements = (m * k + k * n + m * n) * (double)item->batch,
                        .layout = {{"trans_a", a}, {"trans_b", b}}};
    int at = snprintf(out->form, sizeof out->form, "/%s%s", a, b);
    if (item->batch > 1) {
        snprintf(out->form + at, sizeof out->form - (size_t)at, "/batch%lld",
                 (long long)item->batch);
    }
}

static void needs(const work_case *item, work_needs *out)
{
    out->inputs = 2;
    out->bytes[0] = item->batch * item->m * item->k * item->element;
    out->bytes[1] = item->batch * item->k * item->n * item->element;
    out->results = item->batch * item->m * item->n;
    out->result_type = item->dtype;
    /* As a program with nothing else to do would call it: CLBlast copies an operand that does not
     * begin its buffer before it multiplies. */
    out->apart = item->how == ISO_VARIANT_VENDOR;
}

static iso_op_kind arguments(const work_case *item, work_args *all)
{
    iso_gemm_args *args = &all->gemm;
    *args = (iso_gemm_args)ISO_GEMM_ARGS_INIT;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->math = item->math;
    args->library = item->how == ISO_VARIANT_VENDOR ? item->library : 0;
    args->trans_a = item->trans_a;
    args->trans_b = item->trans_b;
    args->m = item->m;
    args->n = item->n;
    args->k = item->k;
    args->batch = item->batch;
    args->stride_a = item->m * item->k;
    args->stride_b = item->k * item->n;
    args->stride_c = item->m * item->n;
    return ISO_OP_GEMM;
}

static void operands(const work_case *item, work_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->gemm.a = inputs[0];
    args->gemm.b = inputs[1];
    args->gemm.c = result;
}

static bool has_bits(const work_case *item)
{
    return item->how == ISO_VARIANT_NAIVE || item->how == ISO_VARIANT_TILED;
}

static void slows(const work_case *item, bool native, double *rate, double *moved)
{
    (void)moved;
    if (item->how == ISO_VARIANT_NAIVE) {
        *rate /= native ? 8 : 40;
    } else if (!native) {
        *rate /= 10;
    }
}

static const char *const layouts[] = {"nn", "nt", "tn", "tt", NULL};
static const char *const maths[] = {"strict", "tf32", NULL};

const bench_op bench_gemm = {
    .name = "gemm",
    .measured = "gemm",
    .verified = "gemm",
    .title = "Products",
    .size = "N",
    .computes = "",
    .variants = work_plain_variants,
    .types = work_float_types,
    .layouts = layouts,
    .maths = maths,
    .usual_variants = "naive,tiled,vendor",
    .usual_types = "f32,f64",
    .usual_layout = "nn",
    .counts = 1 << 1 | 1 << 3,
    .libraries = true,
    .set_layout = set_layout,
    .set_size = set_size,
    .shape = shape,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .has_bits = has_bits,
    .slows = slows,
    .check = work_check_gemm,
    .same_in_variants = true,
    .cases = suite_list_gemm,
    .run = suite_run_gemm,
    .describe = suite_describe_gemm,
};
