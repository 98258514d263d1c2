/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_tile.h - the register tile of the product. Included once for each accumulation type, with
 * REAL (f32 or f64), TYPE, LANES, MR and NV defined. */

#define VEC  CPU_JOIN(simd, REAL)
#define V(f) CPU_JOIN(VEC, f)
#define T(f) CPU_JOIN(f, REAL)
#define NR   (NV * LANES)

/* Computes a tile of `height` x NR, with one chain of k fma for each element. `a` holds columns of
 * `height` elements, and `b` holds rows of NR. If `add`, the result is added to `t`; otherwise it
 * replaces `t`. */
SIMD_INLINE void T(tile_body)(const int height, int64_t k, const TYPE *a, const TYPE *b, TYPE *t,
                              int add)
{
    VEC acc[MR][NV];
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            acc[i][v] = V(set)(0);
        }
    }
    for (int64_t p = 0; p < k; p++) {
        VEC row[NV];
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            row[v] = V(load)(b + v * LANES);
        }
        SIMD_UNROLL
        for (int i = 0; i < height; i++) {
            const VEC x = V(set)(a[i]);
            SIMD_UNROLL
            for (int v = 0; v < NV; v++) {
                acc[i][v] = V(fma)(x, row[v], acc[i][v]);
            }
        }
        a += height;
        b += NR;
    }
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            TYPE *to = t + i * NR + v * LANES;
            V(store)(to, add ? V(load)(to) + acc[i][v] : acc[i][v]);
        }
    }
}

static void T(tile)(int height, int64_t k, const void *a, const void *b, void *t, int add)
{
    TILE_HEIGHTS(height, T(tile_body), k, a, b, t, add);
}

#undef VEC
#undef V
#undef T
#undef NR
