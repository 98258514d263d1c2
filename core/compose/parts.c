/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - parts of composed operations: operands that are converted or split first, sums of
 * products in scratch memory, and results that are made of them. */
#include "common/dtype.h"
#include "core/compose/compose.h"

/* ---- operands -------------------------------------------------------------------------------- */

/* Moves rows x cols elements, which are `inc` apart, to an array without gaps. */
static void move(core_steps *steps, iso_dtype from, iso_dtype to, iso_ref x, iso_ref z,
                 int64_t rows, int64_t cols, int64_t ld, int64_t inc)
{
    const iso_map_op_args map = {.op = from == to ? ISO_MAP_COPY : ISO_MAP_CONVERT,
                                 .dtype = from,
                                 .variant = ISO_VARIANT_TILED,
                                 .n = cols,
                                 .alpha = 1,
                                 .x = x,
                                 .z = z,
                                 .general = 1,
                                 .dtype_z = to,
                                 .rows = rows,
                                 .x_row = rows > 1 ? ld : 0,
                                 .x_col = inc,
                                 .z_row = rows > 1 ? cols : 0,
                                 .z_col = 1};

    core_steps_add(steps, ISO_OP_MAP, &map, sizeof map);
}

/* The same for a batch, whose matrices follow each other without gaps. */
static void move_batch(core_steps *steps, iso_dtype from, iso_dtype to, iso_ref x, iso_ref z,
                       int64_t rows, int64_t cols, int64_t ld, int64_t inc, int64_t batch,
                       int64_t stride)
{
    const int64_t bytes = iso_dtype_size(from), to_bytes = iso_dtype_size(to);

    if (batch == 1 || stride == rows * ld) {
        move(steps, from, to, x, z, rows * batch, cols, ld, inc);
    } else if (ld == cols * inc) {
        move(steps, from, to, x, z, batch, rows * cols, stride, inc);
    } else {
        for (int64_t i = 0; i < batch; i++) {
            move(steps, from, to, core_ref_at(x, i * stride, bytes),
                 core_ref_at(z, i * rows * cols, to_bytes), rows, cols, ld, inc);
        }
    }
}

core_side core_side_of(core_steps *steps, iso_dtype dtype, iso_dtype to, iso_ref at, int64_t rows,
                       int64_t cols, int64_t ld, int64_t batch, int64_t stride, iso_trans trans)
{
    const bool complex = dtype_get(dtype)->complex;
    const int64_t members = stride ? batch : 1, bytes = iso_dtype_size(to);
    core_side side = {.dtype = to,
                      .complex = complex,
                      .conj = trans == ISO_CONJ_TRANS,
                      .trans = trans == ISO_NO_TRANS ? ISO_NO_TRANS : ISO_TRANS,
                      .ld = ld,
                      .stride = stride};

    if (dtype == to || !rows || !cols) {
        side.part[0] = at;
        return side;
    }
    side.ld = cols;
    side.stride = stride ? rows * cols : 0;
    for (int i = 0; i < (complex ? 2 : 1); i++) {
        side.part[i] = core_steps_room(steps, rows * cols * members, bytes);
        move_batch(steps, complex ? to : dtype, to, core_ref_at(at, i, complex ? bytes : 0),
                   side.part[i], rows, cols, complex ? 2 * ld : ld, complex ? 2 : 1, members,
                   complex ? 2 * stride : stride);
    }
    return side;
}

core_side core_side_from(core_side side, int64_t row, int64_t col)
{
    const int64_t at = side.trans == ISO_TRANS ? col * side.ld + row : row * side.ld + col;

    side.part[0] = core_ref_at(side.part[0], at, iso_dtype_size(side.dtype));
    side.part[1] = core_ref_at(side.part[1], at, iso_dtype_size(side.dtype));
    return side;
}

/* ---- sums ------------------------------------------------------------------------------------ */

core_sums core_sums_of(core_steps *steps, const core_op *op, core_side a, core_side b, int64_t m,
                       int64_t n, int64_t k, int64_t batch)
{
    const int64_t size = m * n * batch, bytes = iso_dtype_size(a.dtype);
    const int sa = a.conj ? -1 : 1, sb = b.conj ? -1 : 1;
    /* rr, ii, ri, ir: which part of a and of b */
    static const int of_a[] = {0, 1, 0, 1}, of_b[] = {0, 1, 1, 0};
    core_sums sums = {.dtype = a.dtype,
                      .planes = a.complex ? 4 : 1,
                      .sign_ii = sa * sb,
                      .sign_ri = sb,
                      .sign_ir = sa,
                      .plane = size,
                      .ld = n,
                      .stride = m * n};

    sums.at = core_steps_room(steps, size * sums.planes, bytes);
    for (int i = 0; i < sums.planes; i++) {
        const iso_gemm_op product = {.dtype = a.dtype,
                                     .variant = *op->variant,
                                     .math = op->math ? *op->math : ISO_MATH_STRICT,
                                     .library = op->library,
                                     .trans_a = a.trans,
                                     .trans_b = b.trans,
                                     .m = m,
                                     .n = n,
                                     .k = k,
                                     .alpha = 1,
                                     .a = k ? a.part[of_a[i]] : (iso_ref){0},
                                     .b = k ? b.part[of_b[i]] : (iso_ref){0},
                                     .c = core_ref_at(sums.at, i * size, bytes),
                                     .lda = a.ld,
                                     .ldb = b.ld,
                                     .ldc = n,
                                     .batch = batch,
                                     .stride_a = a.stride,
                                     .stride_b = b.stride,
                                     .stride_c = batch > 1 ? m * n : 0,
                                     .dtype_c = a.dtype};

        core_steps_add(steps, ISO_OP_GEMM, &product, sizeof product);
    }
    return sums;
}

/* ---- results --------------------------------------------------------------------------------- */

iso_finish_op core_finish_of(core_sums sums, int64_t m, int64_t n, int64_t batch)
{
    return (iso_finish_op){.variant = ISO_VARIANT_TILED,
                           .planes = sums.planes,
                           .sign_ii = sums.sign_ii,
                           .sign_ri = sums.sign_ri,
                           .sign_ir = sums.sign_ir,
                           .m = m,
                           .n = n,
                           .batch = batch,
                           .t = sums.at,
                           .plane = sums.plane,
                           .ldt = sums.ld,
                           .stride_t = batch > 1 ? sums.stride : 0};
}

void core_finish_from(iso_finish_op *finish, int64_t row, int64_t col)
{
    const iso_dtype sums = dtype_get(finish->dtype)->computes_in == ISO_F32 ? ISO_F32 : ISO_F64;

    finish->t = core_ref_at(finish->t, row * finish->ldt + col, iso_dtype_size(sums));
    finish->c = core_ref_at(finish->c, row * finish->c_row + col * finish->c_col,
                            iso_dtype_size(finish->dtype));
}

void core_finish_factors(iso_finish_op *finish, const core_factors *factors)
{
    finish->factors = (factors->alpha ? 1u : 0u) | (factors->beta ? 2u : 0u);
    finish->factor_dtype = finish->factors ? factors->dtype : (iso_dtype)0;
    finish->alpha_at = factors->alpha_at;
    finish->beta_at = factors->beta_at;
}

void core_steps_finish(core_steps *steps, const iso_finish_op *finish)
{
    core_steps_add(steps, ISO_OP_FINISH, finish, sizeof *finish);
}
