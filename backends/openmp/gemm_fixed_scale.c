/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_fixed_scale.c - the exponents of rows and columns of fixed products on the CPU: clause 7.2
 * of docs/bits.md. */
#include "backends/openmp/gemm_fixed.h"

#include <math.h>
#include <stdatomic.h>

enum { FIXED_VECTORS = 64 /* rows or columns whose largest magnitude is found at a time */ };

void fixed_operands_make(fixed_operands *x, const cpu_device *device, const iso_gemm_op *op)
{
    *x = (fixed_operands){
        .op = op,
        .type = &device->kernels->fixed->type[op->dtype],
        .a_row = op->trans_a == ISO_TRANS ? 1 : op->lda,
        .a_col = op->trans_a == ISO_TRANS ? op->lda : 1,
        .b_row = op->trans_b == ISO_TRANS ? 1 : op->ldb,
        .b_col = op->trans_b == ISO_TRANS ? op->ldb : 1,
        .a_members = op->stride_a ? op->batch : 1,
        .b_members = op->stride_b ? op->batch : 1,
    };
}

/* The e with 2^(e-1) <= x < 2^e, for the bits of a magnitude. */
static int32_t exponent_of(iso_dtype dtype, uint64_t bits)
{
    static const struct {
        int fraction, bias;
    } formats[] = {
        [ISO_F16] = {10, 15}, [ISO_BF16] = {7, 127}, [ISO_F32] = {23, 127}, [ISO_F64] = {52, 1023}};
    const int fraction = formats[dtype].fraction;
    const int bias = formats[dtype].bias;
    const int field = (int)(bits >> fraction);
    if (bits == 0) {
        return 0;
    }
    if (field == 2 * bias + 1) {
        return FIXED_BAD;
    }
    return field > 0 ? field - bias + 1 : 64 - __builtin_clzll(bits) + 1 - bias - fraction;
}

/* Finds the exponents of up to FIXED_VECTORS rows or columns. */
static void find_exponents(const fixed_operands *x, const char *from, int64_t step, int64_t k_step,
                           int64_t count, int32_t *to)
{
    uint64_t largest[FIXED_VECTORS];
    x->type->largest(from, step, k_step, count, x->op->k, largest);
    for (int64_t i = 0; i < count; i++) {
        to[i] = exponent_of(x->op->dtype, largest[i]);
    }
}

typedef struct exponents_run {
    const fixed_operands *operands;
    int32_t *to;
    atomic_llong next;
} exponents_run;

static void run_exponents(void *context, int thread, int threads)
{
    exponents_run *run = context;
    const fixed_operands *x = run->operands;
    const iso_gemm_op *g = x->op;
    const int64_t cell = iso_dtype_size(g->dtype);
    const int64_t rows = cpu_pieces(g->m, FIXED_VECTORS);
    const int64_t cols = cpu_pieces(g->n, FIXED_VECTORS);
    const int64_t of_a = rows * x->a_members;
    (void)thread;
    (void)threads;
    for (;;) {
        int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken < of_a) {
            const int64_t first = taken % rows * FIXED_VECTORS;
            const int64_t at = taken / rows * g->stride_a + first * x->a_row;
            find_exponents(x, (const char *)cpu_at(g->a) + at * cell, x->a_row, x->a_col,
                           cpu_least(FIXED_VECTORS, g->m - first),
                           run->to + taken / rows * g->m + first);
            continue;
        }
        taken -= of_a;
        if (taken >= cols * x->b_members) {
            return;
        }
        const int64_t first = taken % cols * FIXED_VECTORS;
        const int64_t at = taken / cols * g->stride_b + first * x->b_col;
        find_exponents(x, (const char *)cpu_at(g->b) + at * cell, x->b_col, x->b_row,
                       cpu_least(FIXED_VECTORS, g->n - first),
                       run->to + x->a_members * g->m + taken / cols * g->n + first);
    }
}

void fixed_exponents(const cpu_device *device, const fixed_operands *x, int threads, int32_t *to)
{
    exponents_run run = {.operands = x, .to = to};
    atomic_init(&run.next, 0);
    cpu_team_run(device->team, threads, run_exponents, &run);
}

void fixed_factors(int p, const int32_t *e, int64_t count, int64_t room, double *factors)
{
    for (int64_t i = 0; i < room; i++) {
        const int bad = i < count && e[i] == FIXED_BAD;
        const int shift = i < count && !bad ? p - e[i] : 0;
        factors[i] = i < count ? ldexp(1, shift / 2) : 0;
        factors[room + i] = i < count ? ldexp(1, shift - shift / 2) : 0;
        factors[2 * room + i] = bad ? NAN : ldexp(1, -shift);
    }
}
