/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - transposes a block of any size in strips of rows. Tiles are transposed in
 * registers; the rest at the edges is moved element by element. Elements are moved as integers, so
 * every bit of a NaN is kept. */
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/pieces.h"

enum {
    LINE = 64, /* bytes of a cache line */
    /* Bytes of each row of the result that are written together, with rows that begin at lines and
     * with others. Longer runs suit memory; but the rows that are read compete for the caches. */
    RUN = 256,
    RUN_SKEWED = 512,
    EDGE_ROWS = 256, /* of columns that do not fill a line: a cache keeps their lines meanwhile */
    PITCH = RUN_SKEWED + LINE /* of the rows in scratch memory */
};

_Static_assert(LINE *(PITCH + LINE) <= CPU_TRANSPOSE_SCRATCH, "64 runs, and 64 lines");

/*
 * A block is transposed in strips of rows, each of which becomes a run of every row of the result.
 * If rows of the result do not begin at cache lines, a line at the end of a run would be written in
 * two parts, and the first would be read again. So a strip reads rows of the next one too, and
 * its runs begin and end at lines.
 */
typedef struct strip {
    int64_t first, rows; /* the rows that it reads */
    int opens, closes;   /* the block's first strip, and its last */
} strip;

SIMD_INLINE strip strip_at(int64_t first, int64_t rows, int64_t run, int64_t line, int skewed)
{
    const int64_t left = rows - first;
    const int closes = left <= run + (skewed ? line - 1 : 0);
    return (strip){first, closes ? left : run + (skewed ? line : 0), first == 0, closes};
}

/* Writes one cache line. If `stream`, it is aligned and bypasses the caches, so that the old line
 * is not read first. */
SIMD_INLINE void store_line(void *to, const void *line, int stream)
{
#if defined(__AVX512F__)
    if (stream) {
        _mm512_stream_si512(to, _mm512_loadu_si512(line));
        return;
    }
#elif defined(__AVX2__)
    if (stream) {
        _mm256_stream_si256(to, _mm256_loadu_si256(line));
        _mm256_stream_si256((__m256i *)to + 1, _mm256_loadu_si256((const __m256i *)line + 1));
        return;
    }
#elif defined(__SSE2__)
    for (int i = 0; stream && i < 4; i++) {
        _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)line + i));
    }
    if (stream) {
        return;
    }
#else
    (void)stream;
#endif
    memcpy(to, line, LINE);
}

/* Writes a strip's run to a row of the result. */
SIMD_INLINE void store_run(char *to, const char *from, const strip *s, ptrdiff_t bytes, int stream,
                           int skewed)
{
    const ptrdiff_t head = skewed ? (ptrdiff_t)(-(uintptr_t)to % LINE) : 0;
    const ptrdiff_t end = s->closes || !skewed ? bytes : bytes - LINE + head;
    ptrdiff_t at = head;
    if (head > 0 && s->opens) {
        memcpy(to, from, (size_t)(head < end ? head : end));
    }
    for (; at + LINE <= end; at += LINE) {
        store_line(to + at, from + at, stream);
    }
    if (at < end) {
        memcpy(to + at, from + at, (size_t)(end - at));
    }
}

SIMD_INLINE int is_skewed(const void *to, int64_t row_bytes, int stream)
{
    return stream && ((uintptr_t)to % LINE != 0 || row_bytes % LINE != 0);
}

typedef uint8_t element_1 __attribute__((may_alias));
typedef uint16_t element_2 __attribute__((may_alias));
typedef uint32_t element_4 __attribute__((may_alias));
typedef uint64_t element_8 __attribute__((may_alias));

#define BYTES   1
#define ELEMENT element_1
#include "backends/openmp/kernels/transpose_block.h"

#define BYTES   2
#define ELEMENT element_2
#include "backends/openmp/kernels/transpose_block.h"

#define BYTES   4
#define ELEMENT element_4
#include "backends/openmp/kernels/transpose_block.h"

#define BYTES   8
#define ELEMENT element_8
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
    enum { SIDE = LINE / 16, WIDTH = PITCH / 16 };
    const element_16 *from = from_block;
    element_16 *to = to_block, *out = scratch;
    const int skewed = is_skewed(to, ld_to * 16, stream);
    const int64_t run = (skewed ? RUN_SKEWED : RUN) / 16, whole_cols = cols - cols % SIDE;
    for (int64_t i = 0; i < rows; i += run) {
        const strip s = strip_at(i, rows, run, SIDE, skewed);
        for (int64_t j = 0; j < whole_cols; j += SIDE) {
            for (int64_t r = 0; r < s.rows; r++) {
                SIMD_UNROLL
                for (int c = 0; c < SIDE; c++) {
                    out[c * WIDTH + r] = from[(i + r) * ld_from + j + c];
                }
            }
            for (int c = 0; c < SIDE; c++) {
                store_run((char *)(to + (j + c) * ld_to + i), (const char *)(out + c * WIDTH), &s,
                          s.rows * 16, stream, skewed);
            }
        }
        if (s.closes) {
            break;
        }
    }
    if (stream) {
        simd_stream_end();
    }
    for (int64_t i = 0; i < rows; i += EDGE_ROWS) {
        const int64_t left = rows - i;
        edge_16(from + i * ld_from + whole_cols, ld_from, to + whole_cols * ld_to + i, ld_to,
                left < EDGE_ROWS ? left : EDGE_ROWS, cols - whole_cols);
    }
}

const cpu_transpose_kernels CPU_TABLE(cpu_transpose_kernels) = {
    .block = {block_1, block_2, block_4, block_8, block_16},
};
