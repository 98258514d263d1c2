/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - transposes a block that fits the caches. Square tiles with one vector per row are
 * transposed in registers; the rest at the edges is moved element by element. Elements are moved as
 * integers, so every bit of a NaN is kept. */
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

/* The indices for interleaving two vectors: LOW gives the first half of the result, HIGH the
 * second. */
#define LOW_2                  0, 2
#define HIGH_2                 1, 3
#define LOW_4                  0, 4, 1, 5
#define HIGH_4                 2, 6, 3, 7
#define LOW_8                  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8                 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_16                 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16                8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define INTERLEAVE(h, a, b, n) __builtin_shufflevector(a, b, CPU_JOIN(h, n))

/* Elements of 4 and 8 bytes use the longest vectors. Elements of 1 and 2 bytes always use vectors
 * of 16 bytes, which every instruction set interleaves in one instruction. */
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

/* Writes one cache line. If `stream`, it bypasses the caches, for lines that are not read again
 * soon. That is faster, because the old line is not read first. */
SIMD_INLINE void store_line(void *to, const void *line, int stream)
{
#if defined(__SSE2__)
    if (stream && (uintptr_t)to % 64 == 0) {
#if defined(__AVX512F__)
        _mm512_stream_si512(to, _mm512_load_si512(line));
#elif defined(__AVX2__)
        _mm256_stream_si256(to, _mm256_load_si256(line));
        _mm256_stream_si256((__m256i *)to + 1, _mm256_load_si256((const __m256i *)line + 1));
#else
        for (int i = 0; i < 4; i++) {
            _mm_stream_si128((__m128i *)to + i, _mm_load_si128((const __m128i *)line + i));
        }
#endif
        return;
    }
#else
    (void)stream;
#endif
    memcpy(to, line, 64);
}

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

/* Elements of 16 bytes need no shuffling in registers, so a tile is copied element by element. */
typedef struct element_16 {
    element_8 part[2];
} element_16;

static void edge_16(const element_16 *from, int64_t ld_from, element_16 *to, int64_t ld_to,
                    int64_t rows, int64_t cols)
{
    for (int64_t j = 0; j < cols; j++) {
        for (int64_t i = 0; i < rows; i++) {
            to[j * ld_to + i] = from[i * ld_from + j];
        }
    }
}

static void block_16(const void *from_block, int64_t ld_from, void *to_block, int64_t ld_to,
                     int64_t rows, int64_t cols, int stream, void *scratch)
{
    (void)scratch;
    const element_16 *from = from_block;
    element_16 *to = to_block;
    const int64_t whole_rows = rows - rows % 4, whole_cols = cols - cols % 4;
    for (int64_t j = 0; j < whole_cols; j += 4) {
        for (int64_t i = 0; i < whole_rows; i += 4) {
            _Alignas(64) element_16 out[4][4];
            SIMD_UNROLL
            for (int r = 0; r < 4; r++) {
                SIMD_UNROLL
                for (int c = 0; c < 4; c++) {
                    out[c][r] = from[(i + r) * ld_from + j + c];
                }
                __builtin_prefetch(from + (i + r + 4) * ld_from + j, 0, 3);
            }
            SIMD_UNROLL
            for (int c = 0; c < 4; c++) {
                store_line(to + (j + c) * ld_to + i, out[c], stream);
            }
        }
    }
    if (stream) {
        simd_stream_end();
    }
    edge_16(from + whole_rows * ld_from, ld_from, to + whole_rows, ld_to, rows - whole_rows,
            whole_cols);
    edge_16(from + whole_cols, ld_from, to + whole_cols * ld_to, ld_to, rows, cols - whole_cols);
}

const cpu_transpose_kernels CPU_TABLE(cpu_transpose_kernels) = {
    .block = {block_1, block_2, block_4, block_8, block_16},
};
