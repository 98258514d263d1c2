/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - fixed products of f16 and bf16 by words of 16 bits: their whole numbers have 15 bits
 * and a sign. Those of B are cut into two slices of at most 2^7, so that a sum of CPU_WORDS_RUN
 * products stays below 2^31. One instruction multiplies 32 words, and adds the products in pairs.
 */
#include "backends/openmp/kernels/kernels.h"

#if defined(CPU_HAS_BYTES)
#include "backends/openmp/kernels/dot_tile.h"

/* ---- slices ---------------------------------------------------------------------------------- */

/* The whole numbers of LANES elements. Infinities and NaN become any numbers. */
SIMD_INLINE __m512i whole_of(const cpu_fixed_pack *g, int64_t step, int64_t i, __mmask16 there)
{
    const __m512 x = _mm512_maskz_loadu_ps(there, (const float *)g->strip + step * g->width + i);
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    const __mmask8 first = (__mmask8)there;
    const __mmask8 second = (__mmask8)(there >> 8);
    const __m512d a = _mm512_mul_pd(_mm512_mul_pd(low, _mm512_maskz_loadu_pd(first, g->once + i)),
                                    _mm512_maskz_loadu_pd(first, g->again + i));
    const __m512d b =
        _mm512_mul_pd(_mm512_mul_pd(high, _mm512_maskz_loadu_pd(second, g->once + i + 8)),
                      _mm512_maskz_loadu_pd(second, g->again + i + 8));
    return _mm512_inserti32x8(_mm512_castsi256_si512(_mm512_cvtpd_epi32(a)), _mm512_cvtpd_epi32(b),
                              1);
}

/* Two steps' words side by side. */
SIMD_INLINE __m512i pair(__m512i first, __m512i second)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaaU, first, _mm512_slli_epi32(second, 16));
}

/* Slice s of steps p and p + 1 lies at s * next + p * width: pairs of words. */
static void cut(const cpu_fixed_pack *g)
{
    for (int64_t i = 0; i < g->width; i += LANES) {
        const int64_t left = g->width - i;
        const __mmask16 there = (__mmask16)(left < LANES ? (1U << left) - 1U : 0xffffU);
        for (int64_t p = 0; p < g->k; p += 2) {
            char *to = (char *)g->to + (p / 2 * g->width + i) * 4;
            __m512i x = whole_of(g, p, i, there);
            __m512i y = p + 1 < g->k ? whole_of(g, p + 1, i, there) : _mm512_setzero_si512();
            if (g->slices == 2) {
                const __m512i half = _mm512_set1_epi32(128);
                const __m512i x_high = _mm512_srai_epi32(_mm512_add_epi32(x, half), 8);
                const __m512i y_high = _mm512_srai_epi32(_mm512_add_epi32(y, half), 8);
                x = _mm512_sub_epi32(x, _mm512_slli_epi32(x_high, 8));
                y = _mm512_sub_epi32(y, _mm512_slli_epi32(y_high, 8));
                _mm512_mask_storeu_epi32(to + g->next * (int64_t)sizeof *g->to, there,
                                         pair(x_high, y_high));
            }
            _mm512_mask_storeu_epi32(to, there, pair(x, y));
        }
    }
}

/* ---- products -------------------------------------------------------------------------------- */

static void multiply(int height, int64_t k, const char *a, const char *b, int32_t *to)
{
    TILE_HEIGHTS(height, dot_tile, DOT_WORDS, (k + 1) / 2, a, b, to, 0);
}

static void tile(int height, int64_t k, const void *a, const void *b, void *t, int add)
{
    int32_t sums[MR * NR];
    double *to = t;
    multiply(height, k, a, b, sums);
    for (int i = 0; i < height * NR; i++) {
        to[i] = add ? to[i] + sums[i] : sums[i];
    }
}

const cpu_words_kernels CPU_TABLE(cpu_words_kernels) = {.nr = NR, .cut = cut, .tile = tile};
#endif
