/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - fixed products of f64 by residues: the whole numbers of A and B are kept modulo some
 * numbers of at most 256, one byte each. One instruction multiplies 64 such bytes and adds the
 * products exactly. Then the exact sums are found from the sums of residues.
 */
#include "backends/openmp/kernels/kernels.h"

#if defined(CPU_HAS_BYTES)
#include "backends/openmp/kernels/dot_tile.h"

/* ---- residues -------------------------------------------------------------------------------- */

/* The pieces of LANES whole numbers: the number is the sum over i of piece i times 2^(14 i). */
typedef struct pieces {
    __m512 of[CPU_PIECES];
} pieces;

SIMD_INLINE __m512 narrow(__m512d low, __m512d high)
{
    return _mm512_castpd_ps(
        _mm512_insertf64x4(_mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps(low))),
                           _mm256_castps_pd(_mm512_cvtpd_ps(high)), 1));
}

SIMD_INLINE __m512d nearest(__m512d x)
{
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Cuts from the top. */
SIMD_INLINE pieces cut(__m512d low, __m512d high)
{
    pieces p;
    SIMD_UNROLL
    for (int i = CPU_PIECES - 1; i > 0; i--) {
        const __m512d weight = _mm512_set1_pd((double)(1LL << (14 * i)));
        const __m512d inverse = _mm512_set1_pd(1 / (double)(1LL << (14 * i)));
        const __m512d x = nearest(_mm512_mul_pd(low, inverse));
        const __m512d y = nearest(_mm512_mul_pd(high, inverse));
        low = _mm512_fnmadd_pd(x, weight, low);
        high = _mm512_fnmadd_pd(y, weight, high);
        p.of[i] = narrow(x, y);
    }
    p.of[0] = narrow(low, high);
    return p;
}

/* The residues of four steps, as bytes of 32-bit words. A quotient is at most 2^14, and its error
 * below 2^-9.6: less than its distance from the places where its rounding changes, 2^-9. */
SIMD_INLINE __m512i words_of(const cpu_moduli *m, int c, const int a, const pieces *p)
{
    const __m512 modulus = _mm512_set1_ps(m->modulus[c]);
    const __m512 inverse = _mm512_set1_ps(m->inverse[c]);
    const __m512 offset = _mm512_set1_ps(a ? m->a_offset[c] : 0x1p-9f);
    __m512 r[4];
    SIMD_UNROLL
    for (int s = 0; s < 4; s++) {
        r[s] = p[s].of[0];
        SIMD_UNROLL
        for (int i = 1; i < CPU_PIECES; i++) {
            r[s] = _mm512_fmadd_ps(p[s].of[i], _mm512_set1_ps(m->piece[i][c]), r[s]);
        }
        const __m512 quotient = _mm512_roundscale_ps(_mm512_fmadd_ps(r[s], inverse, offset),
                                                     _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        r[s] = _mm512_fnmadd_ps(quotient, modulus, r[s]);
    }
    const __m512 next = _mm512_set1_ps(256);
    const __m512i low = _mm512_cvtps_epi32(_mm512_fmadd_ps(r[1], next, r[0]));
    const __m512i high = _mm512_cvtps_epi32(_mm512_fmadd_ps(r[3], next, r[2]));
    const __m512i words = _mm512_add_epi32(_mm512_slli_epi32(high, 16), low);
    return a ? _mm512_xor_si512(words, _mm512_set1_epi8((char)CPU_SHIFT)) : words;
}

SIMD_INLINE void residues_body(const cpu_bytes_pack *g, const int a)
{
    for (int64_t i = 0; i < g->width; i += LANES) {
        const int64_t left = g->width - i;
        const __mmask16 there = (__mmask16)(left < LANES ? (1U << left) - 1U : 0xffffU);
        const __mmask8 first = (__mmask8)there;
        const __mmask8 second = (__mmask8)(there >> 8);
        const __m512d once[2] = {_mm512_maskz_loadu_pd(first, g->once + i),
                                 _mm512_maskz_loadu_pd(second, g->once + i + 8)};
        const __m512d again[2] = {_mm512_maskz_loadu_pd(first, g->again + i),
                                  _mm512_maskz_loadu_pd(second, g->again + i + 8)};
        for (int64_t group = 0; group < g->k / 4; group++) {
            pieces p[4];
            SIMD_UNROLL
            for (int s = 0; s < 4; s++) {
                const int64_t at = (group * 4 + s) * g->width + i;
                __m512d x[2] = {_mm512_maskz_loadu_pd(first, g->strip + at),
                                _mm512_maskz_loadu_pd(second, g->strip + at + 8)};
                for (int h = 0; h < 2; h++) {
                    x[h] = nearest(_mm512_mul_pd(_mm512_mul_pd(x[h], once[h]), again[h]));
                }
                p[s] = cut(x[0], x[1]);
                if (a) {
                    p[s].of[0] = _mm512_add_ps(p[s].of[0], _mm512_set1_ps(CPU_SHIFT));
                }
            }
            for (int c = 0; c < g->moduli->count; c++) {
                _mm512_mask_storeu_epi32(g->to + c * g->next + (group * g->pitch + i) * 4, there,
                                         words_of(g->moduli, c, a, p));
            }
        }
    }
}

static void residues(const cpu_bytes_pack *g)
{
    if (g->a) {
        residues_body(g, 1);
    } else {
        residues_body(g, 0);
    }
}

/* ---- products -------------------------------------------------------------------------------- */

static void tile(int height, int64_t groups, const uint8_t *a, const uint8_t *b, int32_t *t,
                 int add)
{
    TILE_HEIGHTS(height, dot_tile, DOT_BYTES, groups, (const char *)a, (const char *)b, t, add);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adding and subtracting this rounds an f64 below 2^51 to a whole number. */
#define ROUNDER 0x1.8p52

SIMD_INLINE __m512d whole_of(__m512d x, __m512d factor)
{
    const __m512d rounder = _mm512_set1_pd(ROUNDER);
    return _mm512_sub_pd(_mm512_fmadd_pd(x, factor, rounder), rounder);
}

/* All numbers here are whole and below 2^53, so nothing is rounded but `share`: how often M is in
 * the sum. Its fraction is not near a half, because the moduli are chosen so that M exceeds twice
 * the greatest sum. */
static void join(const cpu_moduli *m, const int32_t *sums, int64_t next, double *to)
{
    for (int i = 0; i < NR; i += SIMD_F64) {
        __m512d share = _mm512_setzero_pd();
        __m512d d[CPU_DIGITS];
        SIMD_UNROLL
        for (int l = 0; l < CPU_DIGITS; l++) {
            d[l] = _mm512_setzero_pd();
        }
        for (int c = 0; c < m->count; c++) {
            const __m256i bits = _mm256_loadu_si256((const void *)(sums + c * next + i));
            const __m512d x = _mm512_mul_pd(_mm512_cvtepi32_pd(bits), _mm512_set1_pd(m->weight[c]));
            const __m512d part = _mm512_set1_pd(m->part[c]);
            const __m512d times = whole_of(x, part);
            const __m512d y = _mm512_fnmadd_pd(times, _mm512_set1_pd((double)m->modulus[c]), x);
            share = _mm512_fmadd_pd(y, part, share);
            SIMD_UNROLL
            for (int l = 0; l < CPU_DIGITS; l++) {
                d[l] = _mm512_fmadd_pd(y, _mm512_set1_pd(m->share[l][c]), d[l]);
            }
        }
        const __m512d times = whole_of(share, _mm512_set1_pd(1));
        SIMD_UNROLL
        for (int l = 0; l < CPU_DIGITS; l++) {
            d[l] = _mm512_fnmadd_pd(times, _mm512_set1_pd(m->whole[l]), d[l]);
        }
        SIMD_UNROLL
        for (int l = 0; l < CPU_DIGITS - 1; l++) {
            const __m512d carry = whole_of(d[l], _mm512_set1_pd(0x1p-40));
            d[l] = _mm512_fnmadd_pd(carry, _mm512_set1_pd(0x1p40), d[l]);
            d[l + 1] = _mm512_add_pd(d[l + 1], carry);
        }
        SIMD_UNROLL
        for (int l = 0; l < CPU_DIGITS; l++) {
            const double unit = l == 0 ? 1 : l == 1 ? 0x1p40 : 0x1p80;
            _mm512_storeu_pd(to + l * NR + i, _mm512_mul_pd(d[l], _mm512_set1_pd(unit)));
        }
    }
}

/* a + b + c, rounded once, where each is at most half a unit of the one before, or 0. b + c is
 * first rounded to odd, so that its last bit says whether anything was lost. */
SIMD_INLINE __m512d add_three(__m512d a, __m512d b, __m512d c)
{
    const __m512d zero = _mm512_setzero_pd();
    const __m512i one = _mm512_set1_epi64(1);
    const __m512d top = _mm512_add_pd(a, b);
    const __m512d rest = _mm512_sub_pd(b, _mm512_sub_pd(top, a));
    const __m512d low = _mm512_add_pd(rest, c);
    const __m512d lost = _mm512_sub_pd(c, _mm512_sub_pd(low, rest));
    const __m512i bits = _mm512_castpd_si512(low);
    const unsigned inexact = _mm512_cmp_pd_mask(lost, zero, _CMP_NEQ_OQ);
    const unsigned move = inexact & _mm512_testn_epi64_mask(bits, one);
    const unsigned apart = _mm512_cmp_pd_mask(lost, zero, _CMP_GT_OQ) ^
                           (unsigned)_mm512_cmp_pd_mask(low, zero, _CMP_GT_OQ);
    const __m512i up = _mm512_mask_add_epi64(bits, (__mmask8)(move & ~apart), bits, one);
    const __m512i odd = _mm512_mask_sub_epi64(up, (__mmask8)(move & apart), bits, one);
    return _mm512_add_pd(top, _mm512_castsi512_pd(odd));
}

static void round_line(const cpu_fixed_line *g, double *out)
{
    const __m512d row = _mm512_set1_pd(g->row);
    for (int64_t i = 0; i < g->count; i += SIMD_F64) {
        const __m512d t =
            add_three(_mm512_loadu_pd(g->sums + 2 * g->next + i),
                      _mm512_loadu_pd(g->sums + g->next + i), _mm512_loadu_pd(g->sums + i));
        _mm512_storeu_pd(out + i,
                         _mm512_mul_pd(_mm512_mul_pd(t, row), _mm512_loadu_pd(g->cols + i)));
    }
}

const cpu_bytes_kernels CPU_TABLE(cpu_bytes_kernels) = {
    .mr = MR,
    .nr = NR,
    .residues = residues,
    .tile = tile,
    .join = join,
    .round_line = round_line,
};
#endif
