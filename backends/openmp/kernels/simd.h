/* SPDX-License-Identifier: Apache-2.0 */
/* simd.h - one vector type for f32 and one for f64, as wide as the instruction set that the file is
 * compiled for: AVX-512, AVX2, SVE of a fixed length, NEON, or four and two lanes in plain C. Loads
 * and stores need no alignment. Sums and products of vectors are written with + and *. fma needs a
 * function, because C has no operator for it. */
#ifndef ISOMER_OPENMP_SIMD_H
#define ISOMER_OPENMP_SIMD_H

#include "backends/openmp/kernels/half.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(__AVX512F__)
#define SIMD_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define SIMD_BYTES 32
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
#include <arm_sve.h>
#define SIMD_SVE
#define SIMD_BYTES (__ARM_FEATURE_SVE_BITS / 8)
#else
#if defined(__aarch64__)
#include <arm_neon.h>
#endif
#define SIMD_BYTES 16
#endif

#define SIMD_F32 (SIMD_BYTES / 4) /* lanes */
#define SIMD_F64 (SIMD_BYTES / 8)

typedef float simd_f32 __attribute__((vector_size(SIMD_BYTES)));
typedef double simd_f64 __attribute__((vector_size(SIMD_BYTES)));
typedef uint32_t simd_u32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t simd_u64 __attribute__((vector_size(SIMD_BYTES)));

/* Loops over arrays of vectors must be unrolled. Otherwise the compiler keeps the arrays in memory
 * instead of registers. */
#if defined(__clang__)
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 32")
#endif
#define SIMD_INLINE static inline __attribute__((always_inline, unused))

SIMD_INLINE simd_f32 simd_f32_load(const float *from)
{
    simd_f32 v;
    memcpy(&v, from, sizeof v);
    return v;
}

SIMD_INLINE simd_f64 simd_f64_load(const double *from)
{
    simd_f64 v;
    memcpy(&v, from, sizeof v);
    return v;
}

SIMD_INLINE void simd_f32_store(float *to, simd_f32 v)
{
    memcpy(to, &v, sizeof v);
}

SIMD_INLINE void simd_f64_store(double *to, simd_f64 v)
{
    memcpy(to, &v, sizeof v);
}

SIMD_INLINE simd_f32 simd_f32_set(float x)
{
#if defined(__AVX512F__)
    return _mm512_set1_ps(x);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_set1_ps(x);
#elif defined(SIMD_SVE)
    return svdup_n_f32(x);
#elif defined(__aarch64__)
    return vdupq_n_f32(x);
#else
    simd_f32 v;
    for (int i = 0; i < SIMD_F32; i++) {
        v[i] = x;
    }
    return v;
#endif
}

SIMD_INLINE simd_f64 simd_f64_set(double x)
{
#if defined(__AVX512F__)
    return _mm512_set1_pd(x);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_set1_pd(x);
#elif defined(SIMD_SVE)
    return svdup_n_f64(x);
#elif defined(__aarch64__)
    return vdupq_n_f64(x);
#else
    simd_f64 v;
    for (int i = 0; i < SIMD_F64; i++) {
        v[i] = x;
    }
    return v;
#endif
}

/* a * b + c, with one rounding. */
SIMD_INLINE simd_f32 simd_f32_fma(simd_f32 a, simd_f32 b, simd_f32 c)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#elif defined(SIMD_SVE)
    return svmla_f32_x(svptrue_b32(), c, a, b);
#elif defined(__aarch64__)
    return vfmaq_f32(c, a, b);
#else
    for (int i = 0; i < SIMD_F32; i++) {
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    }
    return c;
#endif
}

SIMD_INLINE simd_f64 simd_f64_fma(simd_f64 a, simd_f64 b, simd_f64 c)
{
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#elif defined(SIMD_SVE)
    return svmla_f64_x(svptrue_b64(), c, a, b);
#elif defined(__aarch64__)
    return vfmaq_f64(c, a, b);
#else
    for (int i = 0; i < SIMD_F64; i++) {
        c[i] = __builtin_fma(a[i], b[i], c[i]);
    }
    return c;
#endif
}

/* These load and store a vector of f32 whose elements are f16 or bf16 in memory. */
SIMD_INLINE simd_f32 simd_f32_load_f16(const uint16_t *from)
{
#if defined(__AVX512F__)
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
#elif defined(__AVX2__) && defined(__F16C__)
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
#elif defined(SIMD_SVE)
    const svuint32_t wide = svld1uh_u32(svptrue_b32(), from);
    return svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32(wide));
#elif defined(__aarch64__)
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
#else
    simd_f32 v;
    for (int i = 0; i < SIMD_F32; i++) {
        v[i] = cpu_f16_to_f32(from[i]);
    }
    return v;
#endif
}

SIMD_INLINE void simd_f32_store_f16(uint16_t *to, simd_f32 v)
{
#if defined(__AVX512F__)
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__AVX2__) && defined(__F16C__)
    _mm_storeu_si128((__m128i *)(void *)to,
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(SIMD_SVE)
    const svfloat16_t half = svcvt_f16_f32_x(svptrue_b32(), v);
    svst1h_u32(svptrue_b32(), to, svreinterpret_u32_f16(half));
#elif defined(__aarch64__)
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(v)));
#else
    for (int i = 0; i < SIMD_F32; i++) {
        to[i] = cpu_f32_to_f16(v[i]);
    }
#endif
}

typedef uint16_t simd_u16 __attribute__((vector_size(SIMD_BYTES / 2)));

SIMD_INLINE simd_f32 simd_f32_load_bf16(const uint16_t *from)
{
#if defined(__AVX512F__) /* without intrinsics, gcc 12 widens the vector in two halves */
    const __m512i wide =
        _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)from));
    return (simd_f32)_mm512_slli_epi32(wide, 16);
#elif defined(__AVX2__)
    const __m256i wide =
        _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
    return (simd_f32)_mm256_slli_epi32(wide, 16);
#elif defined(SIMD_SVE)
    return svreinterpret_f32_u32(
        svlsl_n_u32_x(svptrue_b32(), svld1uh_u32(svptrue_b32(), from), 16));
#else
    simd_u16 half;
    memcpy(&half, from, sizeof half);
    return (simd_f32)(__builtin_convertvector(half, simd_u32) << 16);
#endif
}

SIMD_INLINE void simd_f32_store_bf16(uint16_t *to, simd_f32 v)
{
    const simd_u32 bits = (simd_u32)v;
    const simd_u32 rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const simd_u32 quiet = bits >> 16 | 0x40u;
    const simd_u32 nan = (simd_u32)((bits & 0x7fffffffu) > 0x7f800000u);
    const simd_u16 half = __builtin_convertvector((quiet & nan) | (rounded & ~nan), simd_u16);
    memcpy(to, &half, sizeof half);
}

/* Stores the first n lanes. */
SIMD_INLINE void simd_f32_store_part(float *to, simd_f32 v, int n)
{
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << n) - 1u), v);
#else
    memcpy(to, &v, (size_t)n * sizeof(float));
#endif
}

SIMD_INLINE void simd_f64_store_part(double *to, simd_f64 v, int n)
{
#if defined(__AVX512F__)
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << n) - 1u), v);
#else
    memcpy(to, &v, (size_t)n * sizeof(double));
#endif
}

/* Writes past the caches, for lines that are not read again soon. That is faster, because the old
 * lines are not read first. `to` is aligned to `bytes`. Writes of less than 16 bytes go through the
 * caches. */
SIMD_INLINE void simd_stream(void *to, const void *from, size_t bytes)
{
#if defined(__AVX512F__)
    if (bytes == 64) {
        _mm512_stream_si512(to, _mm512_loadu_si512(from));
        return;
    }
#endif
#if defined(__AVX2__)
    if (bytes == 32) {
        _mm256_stream_si256(to, _mm256_loadu_si256(from));
        return;
    }
#endif
#if defined(__SSE2__)
    if (bytes == 16) {
        _mm_stream_si128(to, _mm_loadu_si128(from));
        return;
    }
#endif
    memcpy(to, from, bytes);
}

/* Makes streamed lines visible to the other threads. */
SIMD_INLINE void simd_stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* Transposes a square, of as many vectors as a vector has lanes, in steps s = 1, 2, 4, ... In step
 * s, each row i in which bit s is 0 swaps its off-diagonal blocks of s lanes with row i + s. */
#define SIMD_LOW(i, s, lanes)  ((i) & (s) ? (lanes) + (i) - (s) : (i))
#define SIMD_HIGH(i, s, lanes) ((i) & (s) ? (lanes) + (i) : (i) + (s))
#define SIMD_MASK2(f, s, n)    f(0, s, n), f(1, s, n)
#define SIMD_MASK4(f, s, n)    SIMD_MASK2(f, s, n), f(2, s, n), f(3, s, n)
#define SIMD_MASK8(f, s, n)    SIMD_MASK4(f, s, n), f(4, s, n), f(5, s, n), f(6, s, n), f(7, s, n)
#define SIMD_MASK16(f, s, n)                                                                       \
    SIMD_MASK8(f, s, n), f(8, s, n), f(9, s, n), f(10, s, n), f(11, s, n), f(12, s, n),            \
        f(13, s, n), f(14, s, n), f(15, s, n)
#define SIMD_TRANSPOSE_STEP(v, s, lanes, mask)                                                     \
    SIMD_UNROLL                                                                                    \
    for (int i = 0; i < (lanes); i++) {                                                            \
        if (!(i & (s))) {                                                                          \
            const __typeof__((v)[0]) a = (v)[i];                                                   \
            const __typeof__((v)[0]) b = (v)[i + (s)];                                             \
            (v)[i] = __builtin_shufflevector(a, b, mask(SIMD_LOW, s, lanes));                      \
            (v)[i + (s)] = __builtin_shufflevector(a, b, mask(SIMD_HIGH, s, lanes));               \
        }                                                                                          \
    }

SIMD_INLINE void simd_f32_transpose(simd_f32 *v)
{
#if SIMD_F32 == 16
    SIMD_TRANSPOSE_STEP(v, 8, 16, SIMD_MASK16)
    SIMD_TRANSPOSE_STEP(v, 4, 16, SIMD_MASK16)
    SIMD_TRANSPOSE_STEP(v, 2, 16, SIMD_MASK16)
    SIMD_TRANSPOSE_STEP(v, 1, 16, SIMD_MASK16)
#elif SIMD_F32 == 8
    SIMD_TRANSPOSE_STEP(v, 4, 8, SIMD_MASK8)
    SIMD_TRANSPOSE_STEP(v, 2, 8, SIMD_MASK8)
    SIMD_TRANSPOSE_STEP(v, 1, 8, SIMD_MASK8)
#else
    SIMD_TRANSPOSE_STEP(v, 2, 4, SIMD_MASK4)
    SIMD_TRANSPOSE_STEP(v, 1, 4, SIMD_MASK4)
#endif
}

SIMD_INLINE void simd_f64_transpose(simd_f64 *v)
{
#if SIMD_F64 == 8
    SIMD_TRANSPOSE_STEP(v, 4, 8, SIMD_MASK8)
    SIMD_TRANSPOSE_STEP(v, 2, 8, SIMD_MASK8)
    SIMD_TRANSPOSE_STEP(v, 1, 8, SIMD_MASK8)
#elif SIMD_F64 == 4
    SIMD_TRANSPOSE_STEP(v, 2, 4, SIMD_MASK4)
    SIMD_TRANSPOSE_STEP(v, 1, 4, SIMD_MASK4)
#else
    SIMD_TRANSPOSE_STEP(v, 1, 2, SIMD_MASK2)
#endif
}

#endif
