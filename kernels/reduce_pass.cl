/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_pass.cl - reductions along axis 0 in one pass, for lanes of one 32-bit word and one
 * operand whose rows are whole vectors of 16 bytes. reduce_steps.cl precedes it. A group takes all
 * blocks of COLS columns, a cache line of each row, and folds the results of the blocks too:
 * docs/bits.md defines the order. The host uses it where that many groups fill the device.
 *
 *   ISO_THREADS   work-items of a group, a power of two, from ACROSS to ACROSS * LANES
 */
#define LANES  128
#define BLOCK  4096
#define BLOCKS 64 /* of a column, at most */
#define ACROSS 8  /* work-items side by side, with a vector each */
#define COLS   (ACROSS * 4)
#define SLOTS  (ISO_THREADS / ACROSS) /* slot s has the lanes s, s + SLOTS, ... */
#define EACH   (LANES / SLOTS)
#define ROUNDS 4 /* of 128 rows, in flight */

#define WORD_AT(p, i) ((i) == 0 ? (p).x : (i) == 1 ? (p).y : (i) == 2 ? (p).z : (p).w)
#if ISO_DTYPE == ISO_F32
#define PIECE_AT(p, i) iso_as_f32(WORD_AT(p, i))
#else
#define PIECE_AT(p, i) ((elem)WORD_AT(p, i))
#endif

#define LOAD_AT(from, k) ISO_LOAD_ONCE((from) + (k) * SLOTS * ld)

ISO_INLINE void pass_step(lane *v, ISO_U32X4 p)
{
    ISO_UNROLL
    for (int e = 0; e < 4; e++) {
        v[e] = lane_step(v[e], PIECE_AT(p, e), (elem)0, 0);
    }
}

/* Adds `count` rows to the lanes of this work-item. The last ones are loaded at once too. */
ISO_INLINE void pass_block(lane *v, ISO_GLOBAL const elem *from, iso_i64 ld, int s, int count)
{
    ISO_U32X4 r[ROUNDS * EACH];
    int row = 0, k;
    for (; row + ROUNDS * LANES <= count; row += ROUNDS * LANES) {
        ISO_UNROLL
        for (k = 0; k < ROUNDS * EACH; k++) {
            r[k] = LOAD_AT(from, k);
        }
        ISO_UNROLL
        for (k = 0; k < ROUNDS * EACH; k++) {
            pass_step(v + k % EACH * 4, r[k]);
        }
        from += ROUNDS * LANES * ld;
    }
    ISO_UNROLL
    for (k = 0; k < ROUNDS * EACH; k++) {
        r[k] = iso_u32x4(0, 0, 0, 0);
        if (row + s + k * SLOTS < count) {
            r[k] = LOAD_AT(from, k);
        }
    }
    ISO_UNROLL
    for (k = 0; k < ROUNDS * EACH; k++) {
        if (row + s + k * SLOTS < count) {
            pass_step(v + k % EACH * 4, r[k]);
        }
    }
}

/* The next level: the lanes are the results of at most BLOCKS blocks; the others are neutral, and
 * no lane is changed by a fold with one. */
ISO_INLINE lane pass_fold(ISO_SHARED_AT lane *kept, int blocks)
{
    int b, h;
    for (b = 0; b < blocks; b++) {
        kept[b * COLS] = lane_fold(lane_neutral(), kept[b * COLS]);
    }
    for (h = BLOCKS / 2; h > 0; h /= 2) {
        for (b = 0; b < h && b + h < blocks; b++) {
            kept[b * COLS] = lane_fold(kept[b * COLS], kept[(b + h) * COLS]);
        }
    }
    return kept[0];
}

ISO_KERNEL_OF(ISO_THREADS, 2)
reduce_pass(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 ld, ISO_GLOBAL result *to,
            iso_i64 to_at, iso_i64 sequences, iso_i64 n)
{
    ISO_SHARED lane pad[ISO_THREADS * 4];
    ISO_SHARED lane kept[BLOCKS * COLS];
    int id = ISO_LOCAL_ID(), s = id / ACROSS, place = id % ACROSS;
    int blocks = (int)((n + BLOCK - 1) / BLOCK), b, d, e, h, j;
    iso_i64 group;
    for (group = ISO_GROUP_ID(); group * COLS < sequences; group += ISO_GROUP_COUNT()) {
        iso_i64 c = group * COLS + place * 4;
        for (b = 0; b < blocks; b++) {
            iso_i64 first = (iso_i64)b * BLOCK;
            lane v[EACH * 4];
            ISO_UNROLL
            for (j = 0; j < EACH * 4; j++) {
                v[j] = lane_neutral();
            }
            if (c < sequences) {
                pass_block(v, x + (x_at + (first + s) * ld + c), ld, s,
                           n - first < BLOCK ? (int)(n - first) : BLOCK);
            }
            ISO_UNROLL
            for (h = EACH / 2; h > 0; h /= 2) {
                ISO_UNROLL
                for (j = 0; j < EACH * 2; j++) {
                    if (j < h * 4) {
                        v[j] = lane_fold(v[j], v[j + h * 4 < EACH * 4 ? j + h * 4 : 0]);
                    }
                }
            }
            ISO_UNROLL
            for (e = 0; e < 4; e++) {
                pad[e * ISO_THREADS + id] = v[e];
            }
            ISO_BARRIER();
            for (d = SLOTS / 2; d > 0; d /= 2) {
                ISO_UNROLL
                for (e = 0; e < 4; e++) {
                    if (s < d) {
                        int at = e * ISO_THREADS + id;
                        pad[at] = lane_fold(pad[at], pad[at + d * ACROSS]);
                    }
                }
                ISO_BARRIER();
            }
            ISO_UNROLL
            for (e = 0; e < 4; e++) {
                if (s == 0) {
                    kept[b * COLS + place * 4 + e] = pad[e * ISO_THREADS + id];
                }
            }
            ISO_BARRIER();
        }
        c = group * COLS + id;
        if (id < COLS && c < sequences) {
            lane_finish(to + to_at, c, blocks == 1 ? kept[id] : pass_fold(kept + id, blocks), n);
        }
        ISO_BARRIER();
    }
}
