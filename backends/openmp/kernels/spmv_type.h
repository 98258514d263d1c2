/* SPDX-License-Identifier: Apache-2.0 */
/* spmv_type.h - the kernels of sparse products for one type of values and one of numbers. Included
 * once for each pair, with these, of which it removes those of the numbers:
 *
 *   NAME(function)      the function's name for this pair
 *   TYPE, NUMBER        float or double; int32_t or int64_t
 *   COLUMN              NUMBER, or uint16_t
 *   VECTOR, WIDTH       the vector of that type, and its lanes
 *   LOAD, STORE, SET, FMA, FMA1, GATHER
 */

#define VECTORS (CPU_SPMV_LANES / WIDTH)

SIMD_INLINE void NAME(finish)(const cpu_spmv_run *g, int64_t row, TYPE sum)
{
    TYPE *y = g->y;
    const TYPE alpha = (TYPE)g->alpha, beta = (TYPE)g->beta;
    y[row] = beta == 0 ? alpha * sum : FMA1(alpha, sum, beta * y[row]);
}

SIMD_INLINE int64_t NAME(offset)(const cpu_spmv_run *g, int64_t row)
{
    return g->offsets ? ((const NUMBER *)g->offsets)[row] : 0;
}

static void NAME(naive)(const cpu_spmv_run *g, int64_t first, int64_t end)
{
    const COLUMN *columns = g->columns;
    const TYPE *values = g->values, *x = g->x;
    for (int64_t row = first; row < end; row++) {
        const int64_t last = NAME(offset)(g, row + 1);
        TYPE sum = 0;
        for (int64_t i = NAME(offset)(g, row); i < last; i++) {
            sum = FMA1(values[i], x[columns[i]], sum);
        }
        NAME(finish)(g, row, sum);
    }
}

/* The lanes are vectors while there are entries for all of them. The others are added one by one,
 * because a lane that has no entry must not change: -0 plus a product of zeros is +0. */
SIMD_INLINE TYPE NAME(add)(const cpu_spmv_run *g, int64_t from, int64_t count)
{
    const COLUMN *columns = (const COLUMN *)g->columns + from;
    const TYPE *values = (const TYPE *)g->values + from, *x = g->x;
    TYPE lanes[CPU_SPMV_LANES];
    VECTOR sum[VECTORS];
    int64_t i = 0;
    SIMD_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        sum[v] = SET(0);
    }
    for (; i + CPU_SPMV_LANES <= count; i += CPU_SPMV_LANES) {
        SIMD_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            sum[v] = FMA(LOAD(values + i + (ptrdiff_t)v * WIDTH),
                         GATHER(x, columns + i + (ptrdiff_t)v * WIDTH), sum[v]);
        }
    }
    SIMD_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        STORE(lanes + (ptrdiff_t)v * WIDTH, sum[v]);
    }
    for (int lane = 0; i < count; i++, lane++) {
        lanes[lane] = FMA1(values[i], x[columns[i]], lanes[lane]);
    }
    for (int half = CPU_SPMV_LANES / 2; half > 0; half /= 2) {
        for (int lane = 0; lane < half; lane++) {
            lanes[lane] += lanes[lane + half];
        }
    }
    return lanes[0];
}

/* A few entries, up to one for each of the first FEW lanes. All other lanes are +0. Adding them
 * changes a -0 to +0 at most, so that adding one +0 does for all. */
SIMD_INLINE TYPE NAME(add_few)(const cpu_spmv_run *g, int64_t from, int64_t count)
{
    const COLUMN *columns = (const COLUMN *)g->columns + from;
    const TYPE *values = (const TYPE *)g->values + from, *x = g->x;
    TYPE lanes[FEW] = {0};
    for (int64_t i = 0; i < count; i++) {
        lanes[i] = FMA1(values[i], x[columns[i]], 0);
    }
    SIMD_UNROLL
    for (int lane = 0; lane < FEW; lane++) {
        lanes[lane] += 0;
    }
    SIMD_UNROLL
    for (int half = FEW / 2; half > 0; half /= 2) {
        SIMD_UNROLL
        for (int lane = 0; lane < half; lane++) {
            lanes[lane] += lanes[lane + half];
        }
    }
    return lanes[0];
}

static void NAME(rows)(const cpu_spmv_run *g, int64_t first, int64_t end)
{
    for (int64_t row = first; row < end; row++) {
        const int64_t from = NAME(offset)(g, row), count = NAME(offset)(g, row + 1) - from;
        NAME(finish)(g, row,
                     count <= FEW ? NAME(add_few)(g, from, count) : NAME(add)(g, from, count));
    }
}

static void NAME(segment)(const cpu_spmv_run *g, int64_t from, int64_t count, void *sums,
                          int64_t at)
{
    ((TYPE *)sums)[at] = NAME(add)(g, from, count);
}

static void NAME(join)(const cpu_spmv_run *g, int64_t row, const void *sums, int64_t at,
                       int64_t count)
{
    const TYPE *of = (const TYPE *)sums + at;
    TYPE sum = of[0];
    for (int64_t i = 1; i < count; i++) {
        sum += of[i];
    }
    NAME(finish)(g, row, sum);
}

#undef VECTORS
#undef NAME
#undef NUMBER
#undef COLUMN
#undef GATHER
