/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_direct.h - small products, whose operands are read where they are. Packing them would take
 * longer than multiplying. Included once for each accumulation type, with REAL (f32 or f64), TYPE,
 * LANES, MR and NV defined. */

#define VEC  CPU_JOIN(simd, REAL)
#define V(f) CPU_JOIN(VEC, f)
#define T(f) CPU_JOIN(f, REAL)

/* Computes at most `count` elements of C from a vector of totals. */
SIMD_INLINE void T(direct_store)(const cpu_gemm_direct *g, VEC total, TYPE *c, int count)
{
    const VEC alpha = V(set)((TYPE)g->alpha), beta = V(set)((TYPE)g->beta);
    const int adds = (TYPE)g->beta != 0;
    TYPE old[LANES];
    if (count >= LANES) {
        V(store)(c, adds ? V(fma)(alpha, total, beta * V(load)(c)) : alpha * total);
        return;
    }
    for (int j = 0; j < LANES; j++) {
        old[j] = adds && j < count ? c[j] : (TYPE)0;
    }
    V(store_part)(c, adds ? V(fma)(alpha, total, beta * V(load)(old)) : alpha * total, count);
}

/* Computes `height` rows of `vecs` vectors, of which `count` elements belong to C, with one chain
 * of k fma for each element. */
SIMD_INLINE void T(direct_tile)(const int height, const int vecs, const cpu_gemm_direct *g,
                                const TYPE *a, const TYPE *b, int64_t b_row, TYPE *c, int count)
{
    VEC acc[MR][NV];
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < vecs; v++) {
            acc[i][v] = V(set)(0);
        }
    }
    for (int64_t p = 0; p < g->k; p++) {
        VEC row[NV];
        SIMD_UNROLL
        for (int v = 0; v < vecs; v++) {
            row[v] = V(load)(b + v * LANES);
        }
        SIMD_UNROLL
        for (int i = 0; i < height; i++) {
            const VEC x = V(set)(a[i * g->a_row]);
            SIMD_UNROLL
            for (int v = 0; v < vecs; v++) {
                acc[i][v] = V(fma)(x, row[v], acc[i][v]);
            }
        }
        a += g->a_col;
        b += b_row;
    }
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < vecs; v++) {
            T(direct_store)(g, acc[i][v], c + i * g->c_row + v * LANES, count - v * LANES);
        }
    }
}

/* Computes the rows of a strip of `vecs` vectors. */
SIMD_INLINE void T(direct_strip)(const int vecs, const cpu_gemm_direct *g, const TYPE *b,
                                 int64_t b_row, int64_t col, int count)
{
    const TYPE *a = g->a;
    TYPE *c = (TYPE *)g->c + col;
    int64_t left = g->m;
#define ROWS(height)                                                                               \
    do {                                                                                           \
        T(direct_tile)(height, vecs, g, a, b, b_row, c, count);                                    \
        a += (height) * g->a_row;                                                                  \
        c += (height) * g->c_row;                                                                  \
        left -= (height);                                                                          \
    } while (0)
    while (left >= MR) {
        ROWS(MR);
    }
#if MR > 8
    if (left >= 8) {
        ROWS(8);
    }
#endif
#if MR > 4
    if (left >= 4) {
        ROWS(4);
    }
#endif
    if (left >= 2) {
        ROWS(2);
    }
    if (left >= 1) {
        ROWS(1);
    }
#undef ROWS
}

/* The last columns of B, filled up with zeros. */
static void T(direct_rest)(const cpu_gemm_direct *g, int64_t col, int64_t width)
{
    TYPE *rest = g->scratch;
    for (int64_t p = 0; p < g->k; p++, rest += width) {
        const TYPE *row = (const TYPE *)g->b + p * g->b_row;
        for (int64_t j = 0; j < width; j++) {
            rest[j] = col + j < g->n ? row[col + j] : (TYPE)0;
        }
    }
}

static void T(direct)(const cpu_gemm_direct *g)
{
    const int64_t wide = NV * LANES;
    int64_t col = 0;
    for (; g->n - col >= wide; col += wide) {
        T(direct_strip)(NV, g, (const TYPE *)g->b + col, g->b_row, col, NV * LANES);
    }
    const int count = (int)(g->n - col);
    if (count > LANES) {
        T(direct_rest)(g, col, wide);
        T(direct_strip)(NV, g, g->scratch, wide, col, count);
    } else if (count > 0) {
        T(direct_rest)(g, col, LANES);
        T(direct_strip)(1, g, g->scratch, LANES, col, count);
    }
}

#undef VEC
#undef V
#undef T
