/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dot_tile.h - the tile that words.c and bytes.c share: sums of products of whole numbers that lie
 * in groups of four bytes along k. One instruction multiplies the groups of LANES columns by one of
 * a row, and adds their products to 32-bit sums.
 */
#ifndef ISOMER_OPENMP_DOT_TILE_H
#define ISOMER_OPENMP_DOT_TILE_H

#include "backends/openmp/kernels/gemm_shape.h"

enum { LANES = 16, NR = NV * LANES };

/* What a group has: two signed words; or bytes, unsigned of B and signed of A. */
enum { DOT_WORDS, DOT_BYTES };

/* Writes height x NR sums, or adds to them. They go through memory, and are no __m512i: if they
 * became f64 at once, or were declared so, gcc 12 would not keep them in registers. */
SIMD_INLINE void dot_tile(const int height, const int group, int64_t groups, const char *a,
                          const char *b, int32_t *to, int add)
{
    simd_u32 acc[MR][NV];
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            acc[i][v] = (simd_u32){0};
            if (add) {
                memcpy(&acc[i][v], to + i * NR + v * LANES, sizeof acc[i][v]);
            }
        }
    }
    for (; groups > 0; groups--) {
        __m512i row[NV];
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            row[v] = _mm512_loadu_si512(b + v * SIMD_BYTES);
        }
        SIMD_UNROLL
        for (int i = 0; i < height; i++) {
            int32_t four;
            memcpy(&four, a + i * 4, sizeof four);
            const __m512i x = _mm512_set1_epi32(four);
            SIMD_UNROLL
            for (int v = 0; v < NV; v++) {
                const __m512i sum = (__m512i)acc[i][v];
                acc[i][v] = (simd_u32)(group == DOT_BYTES ? _mm512_dpbusd_epi32(sum, row[v], x)
                                                          : _mm512_dpwssd_epi32(sum, row[v], x));
            }
        }
        a += height * 4;
        b += NR * 4;
    }
    SIMD_UNROLL
    for (int i = 0; i < height; i++) {
        SIMD_UNROLL
        for (int v = 0; v < NV; v++) {
            memcpy(to + i * NR + v * LANES, &acc[i][v], sizeof acc[i][v]);
        }
    }
}

#endif
