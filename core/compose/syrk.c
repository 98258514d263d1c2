/* SPDX-License-Identifier: Apache-2.0 */
/* syrk.c - symmetric products, panel by panel of C's rows: the rectangle beside the diagonal's
 * block is a product into C; the block is made in scratch memory, and its triangle is stored. */
#include "common/dtype.h"
#include "core/compose/compose.h"

/* Rows of a panel. Half of each diagonal block is computed in vain, which is PANEL / n of the work;
 * and each panel takes two or three launches. */
enum { PANEL_LEAST = 128, PANELS_MOST = 16 };

bool core_syrk_composed(const core_op *op)
{
    return *op->variant != ISO_VARIANT_VENDOR || op->factors.alpha || op->factors.beta;
}

static int64_t panel_of(int64_t n)
{
    const int64_t even = (n + PANELS_MOST - 1) / PANELS_MOST;
    const int64_t rows = (even + PANEL_LEAST - 1) / PANEL_LEAST * PANEL_LEAST;

    return rows < PANEL_LEAST ? PANEL_LEAST : rows;
}

typedef struct syrk_work {
    core_steps *steps;
    const core_op *op;
    const iso_syrk_op *s;
    core_side a, b; /* op(A), and its transpose as the second operand */
    bool direct;    /* products can be written to C */
} syrk_work;

/* C's elements from row `row` and column `col` on. */
static iso_finish_op finish_of(const syrk_work *w, core_sums sums, int64_t row, int64_t col,
                               int64_t m, int64_t n)
{
    const iso_syrk_op *s = w->s;
    iso_finish_op finish = core_finish_of(sums, m, n, s->batch);

    finish.dtype = s->dtype;
    finish.alpha = s->alpha;
    finish.alpha_imag = s->alpha_imag;
    finish.beta = s->beta;
    finish.beta_imag = s->beta_imag;
    finish.c = core_ref_at(s->c, row * s->ldc + col, iso_dtype_size(s->dtype));
    finish.c_row = s->ldc;
    finish.c_col = 1;
    finish.stride_c = s->stride_c;
    core_finish_factors(&finish, &w->op->factors);
    return finish;
}

static void rectangle(const syrk_work *w, int64_t row, int64_t col, int64_t m, int64_t n)
{
    const iso_syrk_op *s = w->s;
    const core_side a = core_side_from(w->a, row, 0), b = core_side_from(w->b, 0, col);
    const int64_t before = w->steps->used;

    if (!m || !n) {
        return;
    }
    if (w->direct) {
        const iso_gemm_op product = {
            .dtype = s->dtype,
            .variant = *w->op->variant,
            .math = ISO_MATH_STRICT,
            .library = s->library,
            .trans_a = a.trans,
            .trans_b = b.trans,
            .m = m,
            .n = n,
            .k = s->k,
            .alpha = s->alpha,
            .beta = s->beta,
            .a = s->k ? a.part[0] : (iso_ref){0},
            .b = s->k ? b.part[0] : (iso_ref){0},
            .c = core_ref_at(s->c, row * s->ldc + col, iso_dtype_size(s->dtype)),
            .lda = a.ld,
            .ldb = b.ld,
            .ldc = s->ldc,
            .batch = s->batch,
            .stride_a = a.stride,
            .stride_b = b.stride,
            .stride_c = s->stride_c,
            .dtype_c = s->dtype};

        core_steps_add(w->steps, ISO_OP_GEMM, &product, sizeof product);
    } else {
        const core_sums sums = core_sums_of(w->steps, w->op, a, b, m, n, s->k, s->batch);
        const iso_finish_op finish = finish_of(w, sums, row, col, m, n);

        core_steps_finish(w->steps, &finish);
    }
    core_steps_free(w->steps, before);
}

static void block(const syrk_work *w, int64_t row, int64_t m)
{
    const int64_t before = w->steps->used;
    const core_sums sums = core_sums_of(w->steps, w->op, core_side_from(w->a, row, 0),
                                        core_side_from(w->b, 0, row), m, m, w->s->k, w->s->batch);
    iso_finish_op finish = finish_of(w, sums, row, row, m, m);

    finish.triangle = w->s->triangle;
    core_steps_finish(w->steps, &finish);
    core_steps_free(w->steps, before);
}

void core_syrk_compose(const core_op *op, core_steps *steps)
{
    const iso_syrk_op *s = &op->args.syrk;
    const bool turned = s->trans != ISO_NO_TRANS;
    const int64_t rows = turned ? s->k : s->n, cols = turned ? s->n : s->k;
    const int64_t panel = panel_of(s->n);
    syrk_work w = {.steps = steps, .op = op, .s = s};

    w.direct = !dtype_get(s->dtype)->complex && !op->factors.alpha && !op->factors.beta;
    w.a = core_side_of(steps, s->dtype, dtype_get(s->dtype)->computes_in, s->a, rows, cols, s->lda,
                       s->batch, s->stride_a, s->trans);
    w.b = w.a;
    w.b.trans = turned ? ISO_NO_TRANS : ISO_TRANS;
    for (int64_t row = 0; row < s->n; row += panel) {
        const int64_t m = s->n - row < panel ? s->n - row : panel;

        if (s->triangle == ISO_LOWER) {
            rectangle(&w, row, 0, m, row);
        } else {
            rectangle(&w, row, row + m, m, s->n - row - m);
        }
        block(&w, row, m);
    }
}
