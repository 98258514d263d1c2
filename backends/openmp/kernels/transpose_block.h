/* SPDX-License-Identifier: Apache-2.0 */
/* transpose_block.h - the code of transpose.c for one size of element. Included once for each size,
 * with BYTES (the size) and ELEMENT (an integer of that size) defined. */

#define NAME(x)            NAME_WITH(x, BYTES)
#define NAME_WITH(x, size) CPU_JOIN(x, size)

#define ACROSS (16 / BYTES)      /* columns of a tile */
#define DOWN   (PIECES * ACROSS) /* its rows */
#define SIDE   (64 / BYTES)      /* elements of a cache line */
#define WIDTH  (PITCH / BYTES)

SIMD_INLINE void NAME(tile)(const ELEMENT *from, int64_t ld_from, ELEMENT *to, int64_t ld_to)
{
    piece columns[ACROSS];
    turn_pieces(BYTES, (const char *)from, ld_from * BYTES, columns);
    SIMD_UNROLL
    for (int i = 0; i < ACROSS; i++) {
        memcpy(to + i * ld_to, &columns[i], sizeof columns[i]);
    }
}

/* Transposes a column of a strip, which is one cache line wide, into scratch memory. It accesses
 * every line only once, or soon again: if a leading dimension is a power of two, the lines compete
 * for a few sets of the caches. For the same reason many rows are copied first. */
SIMD_INLINE ELEMENT *NAME(column)(const ELEMENT *from, int64_t ld_from, int64_t rows, void *scratch)
{
    ELEMENT *out = scratch, *in = out + SIDE * WIDTH;
    for (int64_t row = 0; row < rows; row += DOWN) {
        const ELEMENT *at = from + row * ld_from;
        if (DOWN > 8) {
            for (int i = 0; i < DOWN; i++) {
                memcpy(in + i * SIDE, at + i * ld_from, LINE);
            }
        }
        for (int j = 0; j < SIDE; j += ACROSS) {
            NAME(tile)
            (DOWN > 8 ? in + j : at + j, DOWN > 8 ? SIDE : ld_from, out + j * WIDTH + row, WIDTH);
        }
    }
    return out;
}

/* Transposes what does not fill tiles, element by element. The rows of `to` are written in order.
 */
static void NAME(edge)(const ELEMENT *from, int64_t ld_from, ELEMENT *to, int64_t ld_to,
                       int64_t rows, int64_t cols)
{
    for (int64_t j = 0; j < cols; j++) {
        for (int64_t i = 0; i < rows; i++) {
            to[j * ld_to + i] = from[i * ld_from + j];
        }
    }
}

static void NAME(block)(const void *from_block, int64_t ld_from, void *to_block, int64_t ld_to,
                        int64_t rows, int64_t cols, int stream, void *scratch)
{
    const ELEMENT *from = from_block;
    ELEMENT *to = to_block;
    const int64_t whole_rows = rows - rows % DOWN, whole_cols = cols - cols % SIDE;
    const int skewed = is_skewed(to, ld_to * BYTES, stream);
    const int64_t run = (skewed ? RUN_SKEWED : RUN) / BYTES;
    for (int64_t i = 0; i < whole_rows; i += run) {
        const strip s = strip_at(i, whole_rows, run, SIDE, skewed);
        for (int64_t j = 0; j < whole_cols; j += SIDE) {
            const ELEMENT *out = NAME(column)(from + i * ld_from + j, ld_from, s.rows, scratch);
            for (int c = 0; c < SIDE; c++) {
                store_run((char *)(to + (j + c) * ld_to + i), (const char *)(out + c * WIDTH), &s,
                          s.rows * BYTES, stream, skewed);
            }
        }
        if (s.closes) {
            break;
        }
    }
    if (stream) {
        simd_stream_end();
    }
    NAME(edge)
    (from + whole_rows * ld_from, ld_from, to + whole_rows, ld_to, rows - whole_rows, whole_cols);
    for (int64_t i = 0; i < rows; i += EDGE_ROWS) {
        const int64_t left = rows - i;
        NAME(edge)
        (from + i * ld_from + whole_cols, ld_from, to + whole_cols * ld_to + i, ld_to,
         left < EDGE_ROWS ? left : EDGE_ROWS, cols - whole_cols);
    }
}

#undef NAME
#undef NAME_WITH
#undef BYTES
#undef ELEMENT
#undef ACROSS
#undef DOWN
#undef SIDE
#undef WIDTH
