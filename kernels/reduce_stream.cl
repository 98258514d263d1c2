/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_stream.cl - the first level over one long array that is aligned to 16 bytes, at the speed
 * of the memory. Unlike in reduce.cl, work-item t of a team has the lanes 4 t ... 4 t + 3. Their
 * elements are adjacent in memory, so it reads vectors. While one batch of rows is used, the next
 * is loaded, even if that is in the next block. The folds are those of reduce.cl, in the same
 * order: lane l is folded with lane l + 64, which is in work-item t + 16, then with lane l + 32, in
 * work-item t + 8, and so on; only the last two folds are within a work-item. There is at least one
 * whole block; the last, shorter one is handled as in reduce_blocks.
 *
 * ISO_STREAM is the number of vectors in a batch. This kernel exists only for lanes of one 32-bit
 * word, on AMD's chips with waves of 32. On NVIDIA's it was measured to be no faster than
 * reduce_blocks: the second batch takes the registers of other groups (docs/performance.md).
 */
#if ISO_SHUFFLE && defined(ISO_STREAM)
typedef ISO_U32X4 piece;
#define WORD_AT(p, i) ((i) == 0 ? (p).x : (i) == 1 ? (p).y : (i) == 2 ? (p).z : (p).w)
#if ISO_DTYPE == ISO_F32
#define PIECE_AT(p, i) iso_as_f32(WORD_AT(p, i))
#else
#define PIECE_AT(p, i) ((elem)WORD_AT(p, i))
#endif

#if ISO_OP == OP_DOT
#define ROWS     (ISO_STREAM / 2) /* rows of a batch */
#define RESIDENT 1                /* groups on a unit: there are too few registers for two */
#else
#define ROWS     ISO_STREAM
#define RESIDENT 2
#endif
#define BATCHES (BLOCK / LANES / ROWS) /* even: every block begins in half 0 */

/* If a whole block is unrolled, AMD's compilers start all its loads at once, run out of registers
 * and spill. */
#if ISO_LEAN
#define UNROLLED 2
#else
#define UNROLLED BATCHES
#endif

/* A team with no block left reads the last block again, and its result is not used. */
#define BLOCK_OF(base) ((base) + team < whole ? (base) + team : whole - 1)

/* Loads a batch of a block. */
ISO_INLINE void stream_load(piece *to, ISO_GLOBAL const elem *array, iso_i64 block, int batch,
                            int t)
{
    ISO_UNROLL
    for (int r = 0; r < ROWS; r++) {
        to[r] =
            *(ISO_GLOBAL const piece *)(array + block * BLOCK + (batch * ROWS + r) * LANES + 4 * t);
    }
}
#if ISO_OP == OP_DOT
#define STREAM_LOAD_Y(to, array, block, batch, t) stream_load(to, array, block, batch, t)
#define Y_PIECE_AT(p, i)                          PIECE_AT(p, i)
#else
#define STREAM_LOAD_Y(to, array, block, batch, t) ((void)(to), (void)(array))
#define Y_PIECE_AT(p, i)                          ((elem)0)
#endif

/* Adds a batch to the lanes; `at` is the index of its first element for this work-item. */
ISO_INLINE void stream_step(lane *v, const piece *px, const piece *py, iso_i64 at)
{
    (void)py;
    ISO_UNROLL
    for (int r = 0; r < ROWS; r++) {
        ISO_UNROLL
        for (int j = 0; j < 4; j++) {
            v[j] = lane_step(v[j], PIECE_AT(px[r], j), Y_PIECE_AT(py[r], j), at + r * LANES + j);
        }
    }
}

ISO_INLINE lane stream_fold(lane *v)
{
    ISO_UNROLL
    for (int d = TEAM / 2; d > 0; d /= 2) {
        ISO_UNROLL
        for (int j = 0; j < 4; j++) {
            v[j] = lane_fold(v[j], lane_down(v[j], d));
        }
    }
    return lane_fold(lane_fold(v[0], v[2]), lane_fold(v[1], v[3]));
}

ISO_KERNEL_OF(ISO_BLOCK_THREADS, RESIDENT)
reduce_stream(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
              ISO_GLOBAL iso_u8 *work, iso_i64 work_at, iso_i64 n)
{
    const int id = ISO_LOCAL_ID(), t = id % TEAM, team = id / TEAM;
    const iso_i64 whole = n / BLOCK, step = ISO_GROUP_COUNT() * TEAMS;
    const int rest = (int)(n - whole * BLOCK);
    ISO_GLOBAL const elem *from = x + x_at, *with = y + y_at;
    ISO_GLOBAL lane *out = (ISO_GLOBAL lane *)(work + work_at);
    iso_i64 base = ISO_GROUP_ID() * TEAMS, b = BLOCK_OF(base), next;
    piece px[2][ROWS], py[2][ROWS];
    lane v[4];
    stream_load(px[0], from, b, 0, t);
    STREAM_LOAD_Y(py[0], with, b, 0, t);
    for (; base < whole; base += step) {
        b = BLOCK_OF(base);
        next = BLOCK_OF(base + step);
        v[0] = v[1] = v[2] = v[3] = lane_neutral();
#if ISO_LEAN
#pragma unroll 1
#endif
        for (int first = 0; first < BATCHES; first += UNROLLED) {
            ISO_UNROLL
            for (int q = 0; q < UNROLLED; q++) {
                const iso_i64 from_block = first + q + 1 < BATCHES ? b : next;
                const int batch = (first + q + 1) % BATCHES;
                stream_load(px[(q + 1) % 2], from, from_block, batch, t);
                STREAM_LOAD_Y(py[(q + 1) % 2], with, from_block, batch, t);
                stream_step(v, px[q % 2], py[q % 2],
                            b * BLOCK + (first + q) * ROWS * LANES + 4 * t);
            }
        }
        v[0] = stream_fold(v);
        if (t == 0 && base + team < whole) {
            out[b] = v[0];
        }
    }
    if (rest > 0 && ISO_GROUP_ID() == 0) {
        v[0] = take_block(from + whole * BLOCK, with + whole * BLOCK, 1, 1, whole * BLOCK,
                          team == 0 ? rest : 0, t, TEAM, 0);
        v[0] = fold_team(v[0], id, t, TEAM, (ISO_SHARED_AT lane *)0);
        if (id == 0) {
            out[whole] = v[0];
        }
    }
}
#endif
