/* SPDX-License-Identifier: Apache-2.0 */
/* trsm.c - triangular solves. The unknowns are cut into panels of 1024 and blocks of 64. A block is
 * solved by a step of its own. Before that, what the panel's earlier blocks contribute is taken
 * from it by a product; and when a panel is done, one product takes what it contributes from all
 * that come after. Both are sums of at most a segment, so this is clause 15 of docs/bits.md. */
#include "common/dtype.h"
#include "core/compose/compose.h"

enum { PANEL = 1024, BLOCK = ISO_SOLVE_MOST };

bool core_trsm_composed(const core_op *op)
{
    return *op->variant != ISO_VARIANT_VENDOR || op->factors.alpha;
}

typedef struct trsm_work {
    core_steps *steps;
    const core_op *op;
    const iso_trsm_op *s;
    core_side a;      /* op(A) */
    core_side solved; /* complex: the panel's unknowns as planes, otherwise B itself */
    int64_t unknowns, systems;
    bool forward, left;
} trsm_work;

/* B's place of an unknown of the first system. */
static iso_ref place_of(const trsm_work *w, int64_t unknown)
{
    return core_ref_at(w->s->b, unknown * (w->left ? w->s->ldb : 1), iso_dtype_size(w->s->dtype));
}

/* ---- products -------------------------------------------------------------------------------- */

/* The operands of the product that takes unknowns [from, from + k) from [to, to + count). `first`:
 * the unknown with which w->solved begins. */
static void sides(const trsm_work *w, int64_t to, int64_t from, int64_t first, core_side *a,
                  core_side *b)
{
    if (w->left) {
        *a = core_side_from(w->a, to, from);
        *b = core_side_from(w->solved, from - first, 0);
    } else {
        *a = core_side_from(w->solved, 0, from - first);
        *b = core_side_from(w->a, from, to);
    }
}

static void subtract(const trsm_work *w, int64_t to, int64_t count, int64_t from, int64_t k,
                     int64_t first)
{
    const iso_trsm_op *s = w->s;
    const int64_t m = w->left ? count : w->systems, n = w->left ? w->systems : count;
    const int64_t before = w->steps->used;
    core_side a, b;

    if (!count || !k) {
        return;
    }
    sides(w, to, from, first, &a, &b);
    if (a.complex) {
        const core_sums sums = core_sums_of(w->steps, w->op, a, b, m, n, k, s->batch);
        iso_finish_op finish = core_finish_of(sums, m, n, s->batch);

        finish.dtype = s->dtype;
        finish.alpha = -1;
        finish.beta = 1;
        finish.c = place_of(w, to);
        finish.c_row = s->ldb;
        finish.c_col = 1;
        finish.stride_c = s->stride_b;
        core_steps_finish(w->steps, &finish);
    } else {
        const iso_gemm_op product = {.dtype = s->dtype,
                                     .variant = *w->op->variant,
                                     .math = ISO_MATH_STRICT,
                                     .library = s->library,
                                     .trans_a = a.trans,
                                     .trans_b = b.trans,
                                     .m = m,
                                     .n = n,
                                     .k = k,
                                     .alpha = -1,
                                     .beta = 1,
                                     .a = a.part[0],
                                     .b = b.part[0],
                                     .c = place_of(w, to),
                                     .lda = a.ld,
                                     .ldb = b.ld,
                                     .ldc = s->ldb,
                                     .batch = s->batch,
                                     .stride_a = a.stride,
                                     .stride_b = b.stride,
                                     .stride_c = s->stride_b,
                                     .dtype_c = s->dtype};

        core_steps_add(w->steps, ISO_OP_GEMM, &product, sizeof product);
    }
    core_steps_free(w->steps, before);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void solve(const trsm_work *w, int64_t first, int64_t count)
{
    const iso_trsm_op *s = w->s;
    const int64_t bytes = iso_dtype_size(s->dtype), sign = w->forward ? 1 : -1;
    const int64_t begin = w->forward ? first : first + count - 1;
    /* Of the unknown that is solved: along A's rows as stored, or along its columns. */
    const bool rows = w->left == (s->trans == ISO_NO_TRANS);
    const iso_solve_op step = {.dtype = s->dtype,
                               .variant = ISO_VARIANT_TILED,
                               .unit = s->unit,
                               .conj = s->trans == ISO_CONJ_TRANS,
                               .n = count,
                               .count = w->systems,
                               .batch = s->batch,
                               .a = core_ref_at(s->a, begin * (s->lda + 1), bytes),
                               .x = place_of(w, begin),
                               .a_row = sign * (rows ? s->lda : 1),
                               .a_col = sign * (rows ? 1 : s->lda),
                               .stride_a = s->stride_a,
                               .x_row = sign * (w->left ? s->ldb : 1),
                               .x_col = w->left ? 1 : s->ldb,
                               .stride_x = s->stride_b};

    core_steps_add(w->steps, ISO_OP_SOLVE, &step, sizeof step);
}

/* Splits the unknowns of a solved block into planes: they begin `at` after the panel's first. */
static void keep_solved(const trsm_work *w, int64_t first, int64_t count, int64_t at)
{
    const core_side to = core_side_from(w->solved, w->left ? at : 0, w->left ? 0 : at);
    const iso_dtype part = w->solved.dtype;
    const int64_t rows = w->left ? count : w->systems, cols = w->left ? w->systems : count;

    for (int64_t member = 0; member < w->s->batch; member++) {
        for (int i = 0; i < 2; i++) {
            const iso_map_op_args map = {
                .op = ISO_MAP_COPY,
                .dtype = part,
                .variant = ISO_VARIANT_TILED,
                .n = cols,
                .alpha = 1,
                .x = core_ref_at(place_of(w, first), 2 * member * w->s->stride_b + i,
                                 iso_dtype_size(part)),
                .z = core_ref_at(to.part[i], member * to.stride, iso_dtype_size(part)),
                .general = 1,
                .dtype_z = part,
                .rows = rows,
                .x_row = rows > 1 ? 2 * w->s->ldb : 0,
                .x_col = 2,
                .z_row = rows > 1 ? to.ld : 0,
                .z_col = 1};

            core_steps_add(w->steps, ISO_OP_MAP, &map, sizeof map);
        }
    }
}

/* The i-th of `count` pieces of `size` in the order in which they are solved. */
static int64_t piece(bool forward, int64_t i, int64_t count, int64_t size)
{
    return (forward ? i : count - 1 - i) * size;
}

static void solve_panel(const trsm_work *w, int64_t first, int64_t count)
{
    const int64_t blocks = (count + BLOCK - 1) / BLOCK;

    for (int64_t i = 0; i < blocks; i++) {
        const int64_t at = piece(w->forward, i, blocks, BLOCK);
        const int64_t size = count - at < BLOCK ? count - at : BLOCK;
        const int64_t from = w->forward ? 0 : at + size;

        subtract(w, first + at, size, first + from, w->forward ? at : count - from, first);
        solve(w, first + at, size);
        if (w->solved.complex) {
            keep_solved(w, first + at, size, at);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* B = alpha * B. */
static void scale(core_steps *steps, const core_op *op)
{
    const iso_trsm_op *s = &op->args.trsm;
    iso_finish_op finish = {.dtype = s->dtype,
                            .variant = ISO_VARIANT_TILED,
                            .sign_ii = 1,
                            .sign_ri = 1,
                            .sign_ir = 1,
                            .m = s->m,
                            .n = s->n,
                            .batch = s->batch,
                            .alpha = 1,
                            .beta = s->alpha,
                            .beta_imag = s->alpha_imag,
                            .c = s->b,
                            .c_row = s->ldb,
                            .c_col = 1,
                            .stride_c = s->stride_b};

    if (op->factors.alpha) {
        finish.factors = 2;
        finish.factor_dtype = op->factors.dtype;
        finish.beta_at = op->factors.alpha_at;
    } else if (!steps->asks && core_is_one(s->alpha) && core_is_zero(s->alpha_imag)) {
        return;
    }
    core_steps_finish(steps, &finish);
}

/* Where the panel's unknowns are read: in B, or as planes. */
static void set_solved(trsm_work *w, int64_t first, int64_t count)
{
    const iso_trsm_op *s = w->s;
    const int64_t size = count * w->systems;

    w->solved = (core_side){.dtype = w->a.dtype,
                            .complex = w->a.complex,
                            .ld = s->ldb,
                            .stride = s->stride_b,
                            .part = {place_of(w, first)}};
    if (w->a.complex) {
        w->solved.ld = w->left ? w->systems : count;
        w->solved.stride = s->batch > 1 ? size : 0;
        for (int i = 0; i < 2; i++) {
            w->solved.part[i] =
                core_steps_room(w->steps, size * s->batch, iso_dtype_size(w->a.dtype));
        }
    }
}

void core_trsm_compose(const core_op *op, core_steps *steps)
{
    const iso_trsm_op *s = &op->args.trsm;
    const bool left = s->side == ISO_LEFT, turned = s->trans != ISO_NO_TRANS;
    const bool lower = (s->triangle == ISO_LOWER) != turned; /* op(A) */
    const int64_t unknowns = left ? s->m : s->n, panels = (unknowns + PANEL - 1) / PANEL;
    trsm_work w = {.steps = steps,
                   .op = op,
                   .s = s,
                   .unknowns = unknowns,
                   .systems = left ? s->n : s->m,
                   .forward = lower == left,
                   .left = left};

    scale(steps, op);
    if (!steps->asks && !op->factors.alpha && core_is_zero(s->alpha) &&
        core_is_zero(s->alpha_imag)) {
        return;
    }
    /* One block takes no products, so A is not split for it. */
    w.a = core_side_of(steps, s->dtype,
                       unknowns > BLOCK ? dtype_get(s->dtype)->computes_in : s->dtype, s->a,
                       unknowns, unknowns, s->lda, s->batch, s->stride_a, s->trans);
    w.a.complex = w.a.complex && unknowns > BLOCK;
    for (int64_t i = 0; i < panels; i++) {
        const int64_t first = piece(w.forward, i, panels, PANEL), before = steps->used;
        const int64_t count = unknowns - first < PANEL ? unknowns - first : PANEL;
        const int64_t after = w.forward ? first + count : 0;

        set_solved(&w, first, count);
        solve_panel(&w, first, count);
        subtract(&w, after, w.forward ? unknowns - after : first, first, count, first);
        core_steps_free(steps, before);
    }
}
