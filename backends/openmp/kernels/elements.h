/* SPDX-License-Identifier: Apache-2.0 */
/* elements.h - vectors of whole numbers and of f16, from and to memory, for kernels that compute
 * each element separately. */
#ifndef ISOMER_OPENMP_KERNELS_ELEMENTS_H
#define ISOMER_OPENMP_KERNELS_ELEMENTS_H

#include "backends/openmp/kernels/simd.h"

#define DEFINE_INTEGER(bits)                                                                       \
    SIMD_INLINE simd_u##bits load_u##bits(const uint##bits##_t *from)                              \
    {                                                                                              \
        simd_u##bits v;                                                                            \
        memcpy(&v, from, sizeof v);                                                                \
        return v;                                                                                  \
    }                                                                                              \
    SIMD_INLINE void store_u##bits(uint##bits##_t *to, simd_u##bits v)                             \
    {                                                                                              \
        memcpy(to, &v, sizeof v);                                                                  \
    }

DEFINE_INTEGER(32)
DEFINE_INTEGER(64)

/* In plain C a conversion is long code, so it is not inlined. */
#if defined(CPU_KERNELS_GENERIC)
#define CONVERSION static __attribute__((noinline))
#else
#define CONVERSION SIMD_INLINE
#endif

CONVERSION simd_f32 load_f16(const uint16_t *from)
{
    return simd_f32_load_f16(from);
}

CONVERSION void store_f16(uint16_t *to, simd_f32 v)
{
    simd_f32_store_f16(to, v);
}

#endif
