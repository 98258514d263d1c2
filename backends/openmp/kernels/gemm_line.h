/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_line.h - products of a few rows and a matrix whose rows are contiguous: these are added up,
 * so that memory is read once, from end to end. Included once for each accumulation type, with REAL
 * (f32 or f64), TYPE, LANES and FMA defined. */

#define VEC  CPU_JOIN(simd, REAL)
#define V(f) CPU_JOIN(VEC, f)
#define T(f) CPU_JOIN(f, REAL)

/* Adds `rows` rows to the sums, one after another. */
SIMD_INLINE void T(line_rows)(const int rows, const TYPE *x, const TYPE *b, int64_t b_row,
                              int64_t count, TYPE *sums)
{
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        VEC sum = V(load)(sums + j);
        SIMD_UNROLL
        for (int r = 0; r < rows; r++) {
            sum = V(fma)(V(set)(x[r]), V(load)(b + r * b_row + j), sum);
        }
        V(store)(sums + j, sum);
    }
    for (; j < count; j++) {
        for (int r = 0; r < rows; r++) {
            sums[j] = FMA(x[r], b[r * b_row + j], sums[j]);
        }
    }
}

/* Adds up one segment for every row of A. */
static void T(line_segment)(const cpu_gemm_line *g, int64_t from, int64_t k, int64_t first,
                            int64_t count, TYPE *sums)
{
    enum { ROWS = 4 };
    const TYPE *a = (const TYPE *)g->a + from * g->a_step;
    const TYPE *b = (const TYPE *)g->b + from * g->b_row + first;
    const int64_t step = g->a_step;
    int64_t p = 0;
    memset(sums, 0, (size_t)(g->m * count) * sizeof *sums);
    for (; p + ROWS <= k; p += ROWS, a += ROWS * step, b += ROWS * g->b_row) {
        for (int64_t i = 0; i < g->m; i++) {
            const TYPE *row = a + i * g->a_row;
            const TYPE x[ROWS] = {row[0], row[step], row[2 * step], row[3 * step]};
            T(line_rows)(ROWS, x, b, g->b_row, count, sums + i * count);
        }
    }
    for (; p < k; p++, a += step, b += g->b_row) {
        for (int64_t i = 0; i < g->m; i++) {
            T(line_rows)(1, a + i * g->a_row, b, g->b_row, count, sums + i * count);
        }
    }
}

/* Adds a segment to the totals, which begin with C if `continues`. */
static void T(line_add)(const cpu_gemm_line *g, int64_t row, int begins, const TYPE *sums,
                        TYPE *totals, int64_t count)
{
    for (int64_t j = 0; j < count && begins && g->continues; j++) {
        totals[j] = ((const TYPE *)g->c)[row + j];
    }
    for (int64_t j = 0; j < count; j++) {
        totals[j] = begins && !g->continues ? sums[j] : totals[j] + sums[j];
    }
}

static void T(line)(const cpu_gemm_line *g, int64_t first, int64_t count, void *scratch)
{
    TYPE *sums = scratch, *totals = sums + g->m * count;
    const TYPE alpha = (TYPE)g->alpha, beta = (TYPE)g->beta;
    memset(totals, 0, (size_t)(g->m * count) * sizeof *totals);
    for (int64_t from = 0; from < g->k; from += CPU_GEMM_SEGMENT) {
        const int64_t left = g->k - from;
        T(line_segment)(g, from, left < CPU_GEMM_SEGMENT ? left : CPU_GEMM_SEGMENT, first, count,
                        sums);
        for (int64_t i = 0; i < g->m; i++) {
            T(line_add)(g, i * g->c_row + first, from == 0, sums + i * count, totals + i * count,
                        count);
        }
    }
    for (int64_t i = 0; i < g->m; i++) {
        TYPE *c = (TYPE *)g->c + i * g->c_row + first;
        const TYPE *t = totals + i * count;
        for (int64_t j = 0; j < count; j++) {
            c[j] = beta == 0 ? alpha * t[j] : FMA(alpha, t[j], beta * c[j]);
        }
    }
}

#undef VEC
#undef V
#undef T
