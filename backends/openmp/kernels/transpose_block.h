/* SPDX-License-Identifier: Apache-2.0 */
/* transpose_block.h - the code of transpose.c for one size of element. Included once for each size,
 * with BYTES (the size), ELEMENT (an integer of that size) and LANES (elements of one vector)
 * defined. */

#define NAME(x)            NAME_WITH(x, BYTES)
#define NAME_WITH(x, size) CPU_JOIN(x, size)

typedef ELEMENT NAME(vector) __attribute__((vector_size(LANES * BYTES)));

/* Transposes LANES x LANES elements by interleaving row i with row i + LANES/2, log2(LANES) times.
 */
SIMD_INLINE void NAME(tile)(const ELEMENT *from, int64_t ld_from, ELEMENT *to, int64_t ld_to)
{
    NAME(vector) v[LANES], next[LANES];
    SIMD_UNROLL
    for (int i = 0; i < LANES; i++) {
        memcpy(&v[i], from + i * ld_from, sizeof v[i]);
    }
    SIMD_UNROLL
    for (int stage = 1; stage < LANES; stage *= 2) {
        SIMD_UNROLL
        for (int i = 0; i < LANES / 2; i++) {
            next[2 * i] = INTERLEAVE(LOW, v[i], v[i + LANES / 2], LANES);
            next[2 * i + 1] = INTERLEAVE(HIGH, v[i], v[i + LANES / 2], LANES);
        }
        SIMD_UNROLL
        for (int i = 0; i < LANES; i++) {
            v[i] = next[i];
        }
    }
    SIMD_UNROLL
    for (int i = 0; i < LANES; i++) {
        memcpy(to + i * ld_to, &v[i], sizeof v[i]);
    }
}

#define SIDE (64 / BYTES)

/* Transposes a square that has one cache line per row. It accesses every line of either matrix only
 * once: if a leading dimension is a power of two, the lines compete for a few sets of the caches,
 * and would not stay there for a second access. The lines of the next square below are prefetched.
 */
SIMD_INLINE void NAME(square)(const ELEMENT *from, int64_t ld_from, ELEMENT *to, int64_t ld_to,
                              int stream, void *scratch)
{
    ELEMENT *restrict in = __builtin_assume_aligned(scratch, 64);
    ELEMENT *restrict out = in + SIDE * SIDE;
    for (int i = 0; i < SIDE; i++) {
        memcpy(in + i * SIDE, from + i * ld_from, 64);
        __builtin_prefetch(from + (i + SIDE) * ld_from, 0, 3);
    }
    for (int j = 0; j < SIDE; j += LANES) {
        for (int i = 0; i < SIDE; i += LANES) {
            NAME(tile)(in + i * SIDE + j, SIDE, out + j * SIDE + i, SIDE);
        }
    }
    for (int j = 0; j < SIDE; j++) {
        store_line(to + j * ld_to, out + j * SIDE, stream);
    }
}

/* Transposes the part outside the squares. The rows of `to` are written in order. */
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
    const int64_t whole_rows = rows - rows % SIDE, whole_cols = cols - cols % SIDE;
    for (int64_t j = 0; j < whole_cols; j += SIDE) {
        for (int64_t i = 0; i < whole_rows; i += SIDE) {
            NAME(square)
            (from + i * ld_from + j, ld_from, to + j * ld_to + i, ld_to, stream, scratch);
        }
    }
    if (stream) {
        simd_stream_end();
    }
    NAME(edge)
    (from + whole_rows * ld_from, ld_from, to + whole_rows, ld_to, rows - whole_rows, whole_cols);
    NAME(edge)(from + whole_cols, ld_from, to + whole_cols * ld_to, ld_to, rows, cols - whole_cols);
}

#undef NAME
#undef NAME_WITH
#undef BYTES
#undef ELEMENT
#undef LANES
#undef SIDE
