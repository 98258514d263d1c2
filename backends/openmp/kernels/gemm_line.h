/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_line.h - products of one row and a matrix whose rows are contiguous: rows are added up, so
 * that memory is read from end to end. Included once for each accumulation type, with REAL (f32 or
 * f64), TYPE, LANES and FMA defined. */

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

static void T(line_segment)(const cpu_gemm_line *g, int64_t from, int64_t k, int64_t first,
                            int64_t count, TYPE *sums)
{
    enum { ROWS = 4 };
    const TYPE *a = (const TYPE *)g->a + from * g->a_step;
    const TYPE *b = (const TYPE *)g->b + from * g->b_row + first;
    int64_t p = 0;
    memset(sums, 0, (size_t)count * sizeof *sums);
    for (; p + ROWS <= k; p += ROWS, a += ROWS * g->a_step, b += ROWS * g->b_row) {
        const TYPE x[ROWS] = {a[0], a[g->a_step], a[2 * g->a_step], a[3 * g->a_step]};
        T(line_rows)(ROWS, x, b, g->b_row, count, sums);
    }
    for (; p < k; p++, a += g->a_step, b += g->b_row) {
        T(line_rows)(1, a, b, g->b_row, count, sums);
    }
}

static void T(line)(const cpu_gemm_line *g, int64_t first, int64_t count, void *scratch)
{
    TYPE *sums = scratch, *totals = sums + CPU_GEMM_LINE_BYTES / sizeof(TYPE);
    TYPE *c = (TYPE *)g->c + first;
    const TYPE alpha = (TYPE)g->alpha, beta = (TYPE)g->beta;
    memset(totals, 0, (size_t)count * sizeof *totals);
    for (int64_t from = 0; from < g->k; from += CPU_GEMM_SEGMENT) {
        const int64_t left = g->k - from;
        T(line_segment)(g, from, left < CPU_GEMM_SEGMENT ? left : CPU_GEMM_SEGMENT, first, count,
                        sums);
        for (int64_t j = 0; j < count; j++) {
            const TYPE before = from > 0 ? totals[j] : g->continues ? c[j] : (TYPE)0;
            totals[j] = from > 0 || g->continues ? before + sums[j] : sums[j];
        }
    }
    for (int64_t j = 0; j < count; j++) {
        c[j] = beta == 0 ? alpha * totals[j] : FMA(alpha, totals[j], beta * c[j]);
    }
}

#undef VEC
#undef V
#undef T
