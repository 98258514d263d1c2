/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_type.h - the part of the product that depends on the stored type. Included once for each
 * type, with these defined: STORED (f16, bf16, f32, f64), CELL (its C type), REAL (f32 or f64),
 * TYPE, LANES, NR, FMA, READ and WRITE for single elements, and LOAD and STORE for vectors. */

#define VEC  CPU_JOIN(simd, REAL)
#define V(f) CPU_JOIN(VEC, f)
#define T(f) CPU_JOIN(f, STORED)

/* Packs an operand whose rows are already in the order of the strip's rows. */
static void T(pack_rows)(TYPE *to, int64_t width, const CELL *from, int64_t k_step, int64_t count,
                         int64_t k)
{
    if (count == NR && width == NR) {
        for (int64_t p = 0; p < k; p++, to += NR, from += k_step) {
            SIMD_UNROLL
            for (int v = 0; v < NR; v += LANES) {
                V(store)(to + v, LOAD(from + v));
            }
        }
        return;
    }
    if (count == MR && width == MR) {
        for (int64_t p = 0; p < k; p++, to += MR, from += k_step) {
            SIMD_UNROLL
            for (int i = 0; i < MR; i++) {
                to[i] = READ(from[i]);
            }
        }
        return;
    }
    for (int64_t p = 0; p < k; p++, to += width, from += k_step) {
        for (int64_t i = 0; i < count; i++) {
            to[i] = READ(from[i]);
        }
        for (int64_t i = count; i < width; i++) {
            to[i] = 0;
        }
    }
}

/* Packs LANES or fewer columns of a strip. In `from` the elements of a column are contiguous along
 * k. */
static void T(pack_across)(TYPE *to, int64_t width, int64_t filled, const CELL *from, int64_t step,
                           int64_t count, int64_t k)
{
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES) {
        VEC square[LANES];
        SIMD_UNROLL
        for (int i = 0; i < LANES; i++) {
            square[i] = i < count ? LOAD(from + i * step + p) : V(set)(0);
        }
        V(transpose)(square);
        TYPE *row = to + p * width;
        if (filled == LANES) {
            SIMD_UNROLL
            for (int i = 0; i < LANES; i++, row += width) {
                V(store)(row, square[i]);
            }
        } else {
            SIMD_UNROLL
            for (int i = 0; i < LANES; i++, row += width) {
                V(store_part)(row, square[i], (int)filled);
            }
        }
    }
    for (; p < k; p++) {
        for (int64_t i = 0; i < filled; i++) {
            to[p * width + i] = i < count ? READ(from[i * step + p]) : (TYPE)0;
        }
    }
}

static void T(pack)(void *to, int64_t width, const void *from, int64_t step, int64_t k_step,
                    int64_t count, int64_t k)
{
    if (step == 1) {
        T(pack_rows)(to, width, from, k_step, count, k);
        return;
    }
    for (int64_t i = 0; i < width; i += LANES) {
        const int64_t filled = width - i < LANES ? width - i : LANES;
        const int64_t there = count - i < 0 ? 0 : count - i < LANES ? count - i : LANES;
        /* If this part is only padding, no address is computed, because it would lie outside the
         * operand. */
        const CELL *first = there > 0 ? (const CELL *)from + i * step : from;
        T(pack_across)((TYPE *)to + i, width, filled, first, step, there, k);
    }
}

/* Computes C from a tile of totals, whose rows are NR elements apart. */
static void T(finish)(const void *tile, int64_t rows, int64_t cols, double alpha_in, double beta_in,
                      void *c_in, int64_t row_step, int64_t col_step)
{
    const TYPE *t = tile;
    const TYPE alpha = (TYPE)alpha_in;
    const TYPE beta = (TYPE)beta_in;
    for (int64_t i = 0; i < rows; i++, t += NR) {
        CELL *c = (CELL *)c_in + i * row_step;
        int64_t j = 0;
        if (col_step == 1) {
            const VEC alphas = V(set)(alpha);
            const VEC betas = V(set)(beta);
            for (; j + LANES <= cols; j += LANES) {
                const VEC x = V(load)(t + j);
                STORE(c + j, beta == 0 ? alphas * x : V(fma)(alphas, x, betas * LOAD(c + j)));
            }
        }
        for (; j < cols; j++) {
            CELL *to = c + j * col_step;
            *to = WRITE(beta == 0 ? alpha * t[j] : FMA(alpha, t[j], beta * READ(*to)));
        }
    }
}

/* ---- naive ----------------------------------------------------------------------------------- */

/* Computes `count` elements of one row. Their chains run in parallel, each in the order of k. */
SIMD_INLINE void T(naive_run)(const cpu_gemm_naive *g, const CELL *a, const CELL *b,
                              const int64_t b_col, int64_t count, TYPE *total)
{
    for (int64_t first = 0; first < g->k; first += CPU_GEMM_SEGMENT) {
        const int64_t end = g->k - first < CPU_GEMM_SEGMENT ? g->k : first + CPU_GEMM_SEGMENT;
        TYPE acc[CPU_GEMM_NAIVE_RUN] = {0};
        for (int64_t p = first; p < end; p++) {
            const TYPE x = READ(a[p * g->a_col]);
            const CELL *row = b + p * g->b_row;
            for (int64_t l = 0; l < count; l++) {
                acc[l] = FMA(x, READ(row[l * b_col]), acc[l]);
            }
        }
        for (int64_t l = 0; l < count; l++) {
            total[l] = first == 0 && !g->continues ? acc[l] : total[l] + acc[l];
        }
    }
}

static void T(naive)(const cpu_gemm_naive *g, int64_t row_first, int64_t row_end)
{
    const TYPE alpha = (TYPE)g->alpha;
    const TYPE beta = g->continues ? (TYPE)0 : (TYPE)g->beta;
    for (int64_t i = row_first; i < row_end; i++) {
        CELL *c = (CELL *)g->c + i * g->ldc;
        const CELL *a = g->k > 0 ? (const CELL *)g->a + i * g->a_row : NULL;
        for (int64_t j = 0; j < g->n; j += CPU_GEMM_NAIVE_RUN) {
            const int64_t left = g->n - j;
            const int64_t count = left < CPU_GEMM_NAIVE_RUN ? left : CPU_GEMM_NAIVE_RUN;
            const CELL *b = g->k > 0 ? (const CELL *)g->b + j * g->b_col : NULL;
            TYPE total[CPU_GEMM_NAIVE_RUN] = {0};
            for (int64_t l = 0; g->continues && l < count; l++) {
                total[l] = READ(c[j + l]);
            }
            if (g->b_col == 1 && count == CPU_GEMM_NAIVE_RUN) {
                T(naive_run)(g, a, b, 1, CPU_GEMM_NAIVE_RUN, total);
            } else {
                T(naive_run)(g, a, b, g->b_col, count, total);
            }
            for (int64_t l = 0; l < count; l++) {
                CELL *to = c + j + l;
                *to = WRITE(beta == 0 ? alpha * total[l] : FMA(alpha, total[l], beta * READ(*to)));
            }
        }
    }
}

#undef VEC
#undef V
#undef T
#undef STORED
#undef CELL
#undef READ
#undef WRITE
#undef LOAD
#undef STORE
