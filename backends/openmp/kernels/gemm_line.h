/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_line.h - products of a few rows and a matrix whose rows are contiguous: these are added up,
 * so that memory is read once, from end to end. And products of one row and a matrix whose columns
 * are contiguous: a vector holds neighbouring columns, which are turned in registers. Included once
 * for each accumulation type, with REAL (f32 or f64), TYPE, LANES and FMA defined. */

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

#if PIECES * 16 == SIMD_BYTES
/* Adds terms `from` to `end` to the sums of `count` columns, without vectors. */
SIMD_INLINE void T(add_terms)(const TYPE *a, int64_t a_step, const TYPE *b, int64_t b_col,
                              int64_t from, int64_t end, int64_t count, TYPE *sums)
{
    for (int64_t j = 0; j < count; j++) {
        for (int64_t p = from; p < end; p++) {
            sums[j] = FMA(a[p * a_step], b[j * b_col + p], sums[j]);
        }
    }
}

enum { T(turn_step) = 16 / sizeof(TYPE), T(turn_line) = 64 / sizeof(TYPE) };

/* Adds terms `from` to `end`, a multiple of turn_step of them, to the sums of each group. */
SIMD_INLINE void T(turned_terms)(const int groups, const TYPE *a, int64_t a_step, const TYPE *b,
                                 int64_t b_col, int64_t from, int64_t end, VEC *sum)
{
    SIMD_UNROLL
    for (int g = 0; g < groups; g++) {
        const TYPE *columns = b + g * LANES * b_col;
        for (int64_t p = from; p < end; p += T(turn_step)) {
            piece turned[T(turn_step)];
            turn_pieces(sizeof(TYPE), (const char *)(columns + p), b_col * (int64_t)sizeof(TYPE),
                        turned);
            SIMD_UNROLL
            for (int i = 0; i < T(turn_step); i++) {
                sum[g] = V(fma)(V(set)(a[(p + i) * a_step]), (VEC)turned[i], sum[g]);
            }
        }
    }
}

/* One segment of so many groups, which are a vector of columns each. A line of memory is used up
 * before the next column's, because the columns compete for a few sets of the caches if b_col is a
 * power of two. */
SIMD_INLINE void T(turned_columns)(const int groups, const TYPE *a, int64_t a_step, const TYPE *b,
                                   int64_t b_col, int64_t k, TYPE *sums)
{
    VEC sum[4] = {{0}};
    int64_t p = 0;
    for (; p + T(turn_line) <= k; p += T(turn_line)) {
        T(turned_terms)(groups, a, a_step, b, b_col, p, p + T(turn_line), sum);
    }
    const int64_t whole = k - k % T(turn_step);
    T(turned_terms)(groups, a, a_step, b, b_col, p, whole, sum);
    for (int g = 0; g < groups; g++) {
        V(store)(sums + g * LANES, sum[g]);
    }
    T(add_terms)(a, a_step, b, b_col, whole, k, groups * LANES, sums);
}

static void T(turned_segment)(const cpu_gemm_line *g, int64_t from, int64_t k, int64_t first,
                              int64_t count, TYPE *sums)
{
    enum { GROUPS = 4 };
    const TYPE *a = (const TYPE *)g->a + from * g->a_step;
    const TYPE *b = (const TYPE *)g->b + from + first * g->b_col;
    int64_t j = 0;
    for (; j + GROUPS * LANES <= count; j += GROUPS * LANES) {
        T(turned_columns)(GROUPS, a, g->a_step, b + j * g->b_col, g->b_col, k, sums + j);
    }
    for (; j + LANES <= count; j += LANES) {
        T(turned_columns)(1, a, g->a_step, b + j * g->b_col, g->b_col, k, sums + j);
    }
    memset(sums + j, 0, (size_t)(count - j) * sizeof *sums);
    T(add_terms)(a, g->a_step, b + j * g->b_col, g->b_col, 0, k, count - j, sums + j);
}
#endif

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
        const int64_t k = left < CPU_GEMM_SEGMENT ? left : CPU_GEMM_SEGMENT;
#if PIECES * 16 == SIMD_BYTES
        if (g->b_col != 1) {
            T(turned_segment)(g, from, k, first, count, sums);
        } else
#endif
        {
            T(line_segment)(g, from, k, first, count, sums);
        }
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
