/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - transposes a block that fits the caches. Square tiles of one vector a row are
 * turned in registers; what is left at the edges is moved element by element. Elements are moved as
 * integers, so every bit of a NaN is kept. */
#include "backends/openmp/kernels/kernels.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

/* Which elements of two vectors the halves of their interleaving take. */
#define LOW_2                  0, 2
#define HIGH_2                 1, 3
#define LOW_4                  0, 4, 1, 5
#define HIGH_4                 2, 6, 3, 7
#define LOW_8                  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8                 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_16                 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16                8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define INTERLEAVE(h, a, b, n) __builtin_shufflevector(a, b, CPU_JOIN(h, n))

/* Vectors of 1- and 2-byte elements stay at 16 bytes, where every instruction set interleaves in
 * one instruction. */
#if defined(CPU_KERNELS_AVX512)
#define LANES_4 16
#define LANES_8 8
#elif defined(CPU_KERNELS_AVX2)
#define LANES_4 8
#define LANES_8 4
#else
#define LANES_4 4
#define LANES_8 2
#endif

typedef uint8_t element_1 __attribute__((may_alias));
typedef uint16_t element_2 __attribute__((may_alias));
typedef uint32_t element_4 __attribute__((may_alias));
typedef uint64_t element_8 __attribute__((may_alias));

#define BYTES   1
#define ELEMENT element_1
#define LANES   16
#include "backends/openmp/kernels/transpose_block.h"

#define BYTES   2
#define ELEMENT element_2
#define LANES   8
#include "backends/openmp/kernels/transpose_block.h"

#define BYTES   4
#define ELEMENT element_4
#define LANES   LANES_4
#include "backends/openmp/kernels/transpose_block.h"

#define BYTES   8
#define ELEMENT element_8
#define LANES   LANES_8
#include "backends/openmp/kernels/transpose_block.h"

/* An element of 16 bytes is a vector by itself. */
typedef struct element_16 {
    element_8 part[2];
} element_16;

static void block_16(const void *from_block, int64_t ld_from, void *to_block, int64_t ld_to,
                     int64_t rows, int64_t cols)
{
    const element_16 *from = from_block;
    element_16 *to = to_block;
    /* Four columns at a time: whole cache lines are read. */
    int64_t j = 0;
    for (; j + 4 <= cols; j += 4) {
        for (int64_t i = 0; i < rows; i++) {
            UNROLL for (int64_t c = j; c < j + 4; c++)
            {
                to[c * ld_to + i] = from[i * ld_from + c];
            }
        }
    }
    for (; j < cols; j++) {
        for (int64_t i = 0; i < rows; i++) {
            to[j * ld_to + i] = from[i * ld_from + j];
        }
    }
}

const cpu_transpose_kernels CPU_TABLE(cpu_transpose_kernels) = {
    .block = {block_1, block_2, block_4, block_8, block_16},
};
