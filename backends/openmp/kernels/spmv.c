/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - sparse products: a row's entries in order, or in lanes (docs/bits.md, 12). */
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

#include <math.h>
#include <stddef.h>

/* One vector of the elements of x in the given columns. On an EPYC with AVX2, single loads were a
 * fifth faster than its gathers. */
#define GATHER_EACH(vector, width, x, columns)                                                     \
    vector v;                                                                                      \
    SIMD_UNROLL                                                                                    \
    for (int i = 0; i < (width); i++) {                                                            \
        v[i] = (x)[(columns)[i]];                                                                  \
    }                                                                                              \
    return v

#define GATHER_SINGLY(type, element, width, suffix, column)                                        \
    SIMD_INLINE simd_##type gather_##type##_##suffix(const element *x, const column *columns)      \
    {                                                                                              \
        GATHER_EACH(simd_##type, width, x, columns);                                               \
    }

GATHER_SINGLY(f32, float, SIMD_F32, i64, int64_t)
GATHER_SINGLY(f64, double, SIMD_F64, i64, int64_t)
#if defined(__AVX512F__)
SIMD_INLINE simd_f32 gather_f32_i32(const float *x, const int32_t *columns)
{
    return _mm512_i32gather_ps(_mm512_loadu_si512(columns), x, 4);
}

SIMD_INLINE simd_f64 gather_f64_i32(const double *x, const int32_t *columns)
{
    return _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)(const void *)columns), x, 8);
}

SIMD_INLINE simd_f32 gather_f32_u16(const float *x, const uint16_t *columns)
{
    const __m256i narrow = _mm256_loadu_si256((const __m256i *)(const void *)columns);
    return _mm512_i32gather_ps(_mm512_cvtepu16_epi32(narrow), x, 4);
}

SIMD_INLINE simd_f64 gather_f64_u16(const double *x, const uint16_t *columns)
{
    const __m128i narrow = _mm_loadu_si128((const __m128i *)(const void *)columns);
    return _mm512_i32gather_pd(_mm256_cvtepu16_epi32(narrow), x, 8);
}
#else
GATHER_SINGLY(f32, float, SIMD_F32, i32, int32_t)
GATHER_SINGLY(f64, double, SIMD_F64, i32, int32_t)
GATHER_SINGLY(f32, float, SIMD_F32, u16, uint16_t)
GATHER_SINGLY(f64, double, SIMD_F64, u16, uint16_t)
#endif

enum { FEW = 8 };

#define TYPE   float
#define VECTOR simd_f32
#define WIDTH  SIMD_F32
#define LOAD   simd_f32_load
#define STORE  simd_f32_store
#define SET    simd_f32_set
#define FMA    simd_f32_fma
#define FMA1   fmaf

#define NAME(function) function##_f32_i32
#define NUMBER         int32_t
#define COLUMN         int32_t
#define GATHER         gather_f32_i32
#include "backends/openmp/kernels/spmv_type.h"

#define NAME(function) function##_f32_i64
#define NUMBER         int64_t
#define COLUMN         int64_t
#define GATHER         gather_f32_i64
#include "backends/openmp/kernels/spmv_type.h"

#define NAME(function) function##_f32_u16
#define NUMBER         int32_t
#define COLUMN         uint16_t
#define GATHER         gather_f32_u16
#include "backends/openmp/kernels/spmv_type.h"

#undef TYPE
#undef VECTOR
#undef WIDTH
#undef LOAD
#undef STORE
#undef SET
#undef FMA
#undef FMA1

#define TYPE   double
#define VECTOR simd_f64
#define WIDTH  SIMD_F64
#define LOAD   simd_f64_load
#define STORE  simd_f64_store
#define SET    simd_f64_set
#define FMA    simd_f64_fma
#define FMA1   fma

#define NAME(function) function##_f64_i32
#define NUMBER         int32_t
#define COLUMN         int32_t
#define GATHER         gather_f64_i32
#include "backends/openmp/kernels/spmv_type.h"

#define NAME(function) function##_f64_i64
#define NUMBER         int64_t
#define COLUMN         int64_t
#define GATHER         gather_f64_i64
#include "backends/openmp/kernels/spmv_type.h"

#define NAME(function) function##_f64_u16
#define NUMBER         int32_t
#define COLUMN         uint16_t
#define GATHER         gather_f64_u16
#include "backends/openmp/kernels/spmv_type.h"

#define ALL(suffix) {naive_##suffix, rows_##suffix, segment_##suffix, join_##suffix}

const cpu_spmv_kernels CPU_TABLE(cpu_spmv_kernels) = {
    .type = {{ALL(f32_i32), ALL(f32_i64), ALL(f32_u16)},
             {ALL(f64_i32), ALL(f64_i64), ALL(f64_u16)}},
};
