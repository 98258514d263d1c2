/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - products that are composed: of complex types and i8, with a C of another type than A and
 * B, and with factors on the device. */
#include "common/dtype.h"
#include "core/compose/compose.h"

static bool on_device(const core_op *op)
{
    return op->factors.alpha || op->factors.beta;
}

static bool is_plain(const iso_gemm_op *g)
{
    return dtype_get(g->dtype)->floating && g->dtype_c == g->dtype;
}

bool core_gemm_composed(const core_op *op)
{
    const bool vendor = *op->variant == ISO_VARIANT_VENDOR;

    return on_device(op) || (!vendor && !is_plain(&op->args.gemm));
}

/* The type in which the inner product is computed and its sums are. */
static iso_dtype inner_of(iso_dtype dtype)
{
    return dtype == ISO_I8 || dtype_get(dtype)->computes_in == ISO_F64 ? ISO_F64 : ISO_F32;
}

static core_side side_a(core_steps *steps, const iso_gemm_op *g, iso_dtype inner)
{
    const bool turned = g->trans_a != ISO_NO_TRANS;

    return core_side_of(steps, g->dtype, inner, g->a, turned ? g->k : g->m, turned ? g->m : g->k,
                        g->lda, g->batch, g->stride_a, g->trans_a);
}

static core_side side_b(core_steps *steps, const iso_gemm_op *g, iso_dtype inner)
{
    const bool turned = g->trans_b != ISO_NO_TRANS;

    return core_side_of(steps, g->dtype, inner, g->b, turned ? g->n : g->k, turned ? g->k : g->n,
                        g->ldb, g->batch, g->stride_b, g->trans_b);
}

/* The product of converted operands whose C has the type of the sums. */
static void direct(core_steps *steps, const iso_gemm_op *g, core_side a, core_side b)
{
    iso_gemm_op product = *g;

    product.dtype = product.dtype_c = a.dtype;
    product.a = a.part[0];
    product.b = b.part[0];
    product.lda = a.ld;
    product.ldb = b.ld;
    product.stride_a = a.stride;
    product.stride_b = b.stride;
    core_steps_add(steps, ISO_OP_GEMM, &product, sizeof product);
}

void core_gemm_compose(const core_op *op, core_steps *steps)
{
    const iso_gemm_op *g = &op->args.gemm;
    const iso_dtype inner = inner_of(g->dtype);
    const core_side a = side_a(steps, g, inner), b = side_b(steps, g, inner);
    iso_finish_op finish;

    if (!on_device(op) && g->dtype_c == inner) {
        direct(steps, g, a, b);
        return;
    }
    finish = core_finish_of(core_sums_of(steps, op, a, b, g->m, g->n, g->k, g->batch), g->m, g->n,
                            g->batch);
    finish.dtype = g->dtype_c;
    finish.alpha = g->alpha;
    finish.alpha_imag = g->alpha_imag;
    finish.beta = g->beta;
    finish.beta_imag = g->beta_imag;
    finish.c = g->c;
    finish.c_row = g->ldc;
    finish.c_col = 1;
    finish.stride_c = g->stride_c;
    core_finish_factors(&finish, &op->factors);
    core_steps_finish(steps, &finish);
}

/* ---- a matrix and a vector ------------------------------------------------------------------- */

bool core_gemv_composed(const core_op *op)
{
    return on_device(op);
}

void core_gemv_compose(const core_op *op, core_steps *steps)
{
    const iso_gemv_op *g = &op->args.gemv;
    const iso_dtype inner = inner_of(g->dtype);
    const bool turned = g->trans != ISO_NO_TRANS;
    const core_side a = core_side_of(steps, g->dtype, inner, g->a, turned ? g->k : g->m,
                                     turned ? g->m : g->k, g->lda, g->batch, g->stride_a, g->trans);
    const core_side x = core_side_of(steps, g->dtype, inner, g->x, g->k, 1, g->inc_x, g->batch,
                                     g->stride_x, ISO_NO_TRANS);
    const core_sums sums = {.dtype = inner,
                            .planes = 1,
                            .at = core_steps_room(steps, g->m * g->batch, iso_dtype_size(inner)),
                            .ld = 1,
                            .stride = g->m};
    iso_gemv_op product = *g;
    iso_finish_op finish = core_finish_of(sums, g->m, 1, g->batch);

    product.dtype = inner;
    product.a = a.part[0];
    product.lda = a.ld;
    product.stride_a = a.stride;
    product.x = x.part[0];
    product.inc_x = x.ld;
    product.stride_x = x.stride;
    product.alpha = 1;
    product.beta = 0;
    product.y = sums.at;
    product.inc_y = 1;
    product.stride_y = g->batch > 1 ? g->m : 0;
    core_steps_add(steps, ISO_OP_GEMV, &product, sizeof product);
    finish.dtype = g->dtype;
    finish.alpha = g->alpha;
    finish.beta = g->beta;
    finish.c = g->y;
    finish.c_row = g->inc_y;
    finish.c_col = 1;
    finish.stride_c = g->stride_y;
    core_finish_factors(&finish, &op->factors);
    core_steps_finish(steps, &finish);
}

/* ---- reductions whose results are apart ------------------------------------------------------ */

bool core_reduce_composed(const core_op *op)
{
    return op->apart > 1;
}

void core_reduce_compose(const core_op *op, core_steps *steps)
{
    iso_reduce_op_args reduce = op->args.reduce;
    const int64_t count = reduce.axis == ISO_AXIS_0 ? reduce.cols : reduce.rows;
    const iso_map_op_args map = {
        .op = ISO_MAP_COPY,
        .dtype = reduce.result_dtype,
        .variant = ISO_VARIANT_TILED,
        .n = count,
        .alpha = 1,
        .x = core_steps_room(steps, count, iso_dtype_size(reduce.result_dtype)),
        .z = reduce.result,
        .general = 1,
        .dtype_z = reduce.result_dtype,
        .rows = 1,
        .x_col = 1,
        .z_col = op->apart};

    reduce.result = map.x;
    core_steps_add(steps, ISO_OP_REDUCE, &reduce, sizeof reduce);
    core_steps_add(steps, ISO_OP_MAP, &map, sizeof map);
}
