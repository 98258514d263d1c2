/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.cl - reductions. reduce_steps.cl precedes it and defines what a lane holds;
 * docs/bits.md defines lanes and folds.
 *
 *   ISO_THREADS        work-items of a group, a power of two, at least 32
 *   ISO_BLOCK_THREADS  the same, of kernels that read one long array by blocks
 *   ISO_COLS           columns that a group handles side by side along axis 0, a power of two
 *   ISO_LOOPED         defined if a group runs as a loop over its work-items
 *   ISO_BATCH          rows of 128 elements that are read before the first is used
 *
 * Without a number of groups that should fit a unit, NVIDIA's assembler keeps to so few registers
 * that it moves the loads of a batch apart.
 *
 * A team of 32 work-items handles a block of 4096 elements. Work-item t has the lanes t, t + 32, t
 * + 64 and t + 96, so that a team reads neighbouring elements and the first two folds stay within
 * the work-item. Sequences of up to 64 elements have smaller teams of `width` work-items, with
 * lanes t + width * j.
 *
 * A sequence s begins at element s * next and continues in steps of `step` elements. Results of
 * blocks are kept in the workspace; those of one sequence are adjacent.
 */
#define LANES 128
#define BLOCK 4096
#define TEAM  32
#define TEAMS (ISO_BLOCK_THREADS / TEAM)
#define SLOTS (ISO_THREADS / ISO_COLS)
#define EACH  (LANES / SLOTS) /* lanes of a work-item in reduce_columns */

/* Groups of reduce_blocks that should fit a unit: more do not leave registers for a batch. */
#define BLOCKS_AT_ONCE (IS_SCALED ? 4 : 5)

/* Folds the lanes of `count` work-items, which are `apart` work-items apart; `s` is this
 * work-item's number among them. Number 0 gets the result. If a group runs as a loop, number 0 does
 * all folds, because every barrier splits the loop in two. */
ISO_INLINE lane fold_shared(lane v, int id, int s, int count, int apart, ISO_SHARED_AT lane *pad)
{
    int d, i;
    pad[id] = v;
    ISO_BARRIER();
#if defined(ISO_LOOPED)
    if (s == 0) {
        for (d = count / 2; d > 0; d /= 2) {
            for (i = 0; i < d; i++) {
                pad[id + i * apart] = lane_fold(pad[id + i * apart], pad[id + (i + d) * apart]);
            }
        }
    }
#else
    for (d = count / 2; d > 0; d /= 2) {
        i = id + d * apart;
        if (s < d) {
            pad[id] = lane_fold(pad[id], pad[i]);
        }
        ISO_BARRIER();
    }
#endif
    v = pad[id];
    ISO_BARRIER();
    return v;
}

#if ISO_SHUFFLE
#define PAD(threads) 1
ISO_INLINE lane fold_team(lane v, int id, int t, int width, ISO_SHARED_AT lane *pad)
{
    int d;
    (void)id;
    (void)t;
    (void)pad;
    for (d = width / 2; d > 0; d /= 2) {
        v = lane_fold(v, lane_down(v, d));
    }
    return v;
}
#else
#define PAD(threads)                    (threads)
#define fold_team(v, id, t, width, pad) fold_shared(v, id, t, width, 1, pad)
#endif

/* Folds the four lanes of a work-item. A smaller team has fewer than 128 lanes, and the missing
 * ones are neutral: each lane is first folded with a neutral one. That may turn -0 into +0, so it
 * must not be omitted. */
ISO_INLINE lane fold_four(lane a, lane b, lane c, lane d, int width)
{
    if (width < TEAM) {
        a = lane_fold(a, lane_neutral());
        b = lane_fold(b, lane_neutral());
        c = lane_fold(c, lane_neutral());
        d = lane_fold(d, lane_neutral());
    }
    return lane_fold(lane_fold(a, c), lane_fold(b, d));
}

/* An element of the second operand; only a dot product has one. */
#if ISO_OP == OP_DOT
#define Y_OF(array, i)   ((array)[i])
#define Y_ONCE(array, i) elem_once((array) + (i))
#else
#define Y_OF(array, i)   ((void)(array), (elem)0)
#define Y_ONCE(array, i) Y_OF(array, i)
#endif

/* Adds element i to v, if there is one: the last row may have fewer than 128 elements. */
#define TAKE_IF(v, i, limit)                                                                       \
    if ((i) < (limit)) {                                                                           \
        v = spot_step(v, x[(i) * step_x], Y_OF(y, (i) * step_y), (int)(i));                        \
    }

/* Reduces a block of `count` elements at x (and y), which begins at element `first` of its
 * sequence. If `past`, the loads of a batch pass the first cache. */
ISO_INLINE lane take_block(ISO_GLOBAL const elem *x, ISO_GLOBAL const elem *y, iso_i64 step_x,
                           iso_i64 step_y, iso_i64 first, int count, int t, int width, int past)
{
    spot v[4];
    elem ex[ISO_BATCH * 4], ey[ISO_BATCH * 4];
    int row = 0, k;
    iso_i64 i;
    v[0] = v[1] = v[2] = v[3] = spot_neutral();
    if (step_x == 1 && step_y == 1) {
        for (; row + ISO_BATCH * LANES <= count; row += ISO_BATCH * LANES) {
            ISO_GLOBAL const elem *from = x + (row + t);
            ISO_GLOBAL const elem *with = y + (row + t);
            if (past) {
                ISO_UNROLL
                for (k = 0; k < ISO_BATCH * 4; k++) {
                    ex[k] = elem_once(from + k * TEAM);
                    ey[k] = Y_ONCE(with, k * TEAM);
                }
            } else {
                ISO_UNROLL
                for (k = 0; k < ISO_BATCH * 4; k++) {
                    ex[k] = from[k * TEAM];
                    ey[k] = Y_OF(with, k * TEAM);
                }
            }
            ISO_UNROLL
            for (k = 0; k < ISO_BATCH * 4; k++) {
                v[k & 3] = spot_step(v[k & 3], ex[k], ey[k], row + t + k * TEAM);
            }
        }
    }
    for (; row < count; row += LANES) {
        i = row + t;
        TAKE_IF(v[0], i, count)
        i += width;
        TAKE_IF(v[1], i, count)
        i += width;
        TAKE_IF(v[2], i, count)
        i += width;
        TAKE_IF(v[3], i, count)
    }
    return fold_four(lane_of(v[0], first), lane_of(v[1], first), lane_of(v[2], first),
                     lane_of(v[3], first), width);
}

/* The same at the last level, where the elements are at most LANES results of blocks. */
ISO_INLINE lane take_results(ISO_GLOBAL const lane *x, int count, int t, int width)
{
    lane v[4];
    int j;
    ISO_UNROLL
    for (j = 0; j < 4; j++) {
        v[j] = lane_neutral();
        if (t + j * width < count) {
            v[j] = lane_fold(v[j], x[t + j * width]);
        }
    }
    return fold_four(v[0], v[1], v[2], v[3], width);
}

ISO_INLINE int least_count(iso_i64 a, int most)
{
    return a < most ? (int)a : most;
}

/* ---- tiled ----------------------------------------------------------------------------------- */

/* Sequences of at most one block: a team of `width` work-items for each. */
ISO_KERNEL(ISO_THREADS)
reduce_short(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 next_x, iso_i64 step_x,
             ISO_GLOBAL const elem *y, iso_i64 y_at, iso_i64 next_y, iso_i64 step_y,
             ISO_GLOBAL result *to, iso_i64 to_at, iso_i64 sequences, iso_i64 n, iso_i32 width)
{
    ISO_SHARED lane pad[PAD(ISO_THREADS)];
    int id = ISO_LOCAL_ID(), t = id & (width - 1), team = id / width;
    iso_i64 at_once = ISO_THREADS / width, base;
    for (base = ISO_GROUP_ID() * at_once; base < sequences; base += ISO_GROUP_COUNT() * at_once) {
        iso_i64 s = base + team;
        lane v = lane_neutral();
        if (s < sequences) {
            v = take_block(x + (x_at + s * next_x), y + (y_at + s * next_y), step_x, step_y, 0,
                           (int)n, t, width, 0);
        }
        v = fold_team(v, id, t, width, pad);
        if (t == 0 && s < sequences) {
            lane_finish(to + to_at, s, v, n);
        }
    }
}

/* The first level of longer sequences: a team for each block. */
ISO_KERNEL_OF(ISO_BLOCK_THREADS, BLOCKS_AT_ONCE)
reduce_blocks(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 next_x, iso_i64 step_x,
              ISO_GLOBAL const elem *y, iso_i64 y_at, iso_i64 next_y, iso_i64 step_y,
              ISO_GLOBAL iso_u8 *work, iso_i64 work_at, iso_i64 sequences, iso_i64 n, iso_i32 past)
{
    ISO_SHARED lane pad[PAD(ISO_BLOCK_THREADS)];
    int id = ISO_LOCAL_ID(), t = id % TEAM, team = id / TEAM;
    iso_i64 blocks = (n + BLOCK - 1) / BLOCK, total = sequences * blocks, base;
    ISO_GLOBAL lane *out = (ISO_GLOBAL lane *)(work + work_at);
    ISO_NEXT_MAY_BEGIN();
#if defined(ISO_LOOPED)
    past = 0; /* one copy of the loads is enough */
#endif
    for (base = ISO_GROUP_ID() * TEAMS; base < total; base += ISO_GROUP_COUNT() * TEAMS) {
        iso_i64 b = base + team;
        lane v = lane_neutral();
        if (b < total) {
            iso_i64 s = sequences == 1 ? 0 : b / blocks;
            iso_i64 first = (b - s * blocks) * BLOCK;
            v = take_block(x + (x_at + s * next_x + first * step_x),
                           y + (y_at + s * next_y + first * step_y), step_x, step_y, first,
                           least_count(n - first, BLOCK), t, TEAM, past);
        }
        v = fold_team(v, id, t, TEAM, pad);
        if (t == 0 && b < total) {
            out[b] = v;
        }
    }
}

/* Along axis 0: a group for each block of ISO_COLS neighbouring columns. For each column it has
 * SLOTS work-items (slots); slot s has the lanes s, s + SLOTS, s + 2 * SLOTS, ... */
ISO_KERNEL_OF(ISO_THREADS, 2)
reduce_columns(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 ld_x, ISO_GLOBAL const elem *y,
               iso_i64 y_at, iso_i64 ld_y, ISO_GLOBAL iso_u8 *work, iso_i64 work_at,
               ISO_GLOBAL result *to, iso_i64 to_at, iso_i64 sequences, iso_i64 n)
{
    ISO_SHARED lane pad[ISO_THREADS];
    int id = ISO_LOCAL_ID(), s = id / ISO_COLS;
    iso_i64 across = (sequences + ISO_COLS - 1) / ISO_COLS, blocks = (n + BLOCK - 1) / BLOCK, u;
    ISO_NEXT_MAY_BEGIN();
    for (u = ISO_GROUP_ID(); u < across * blocks; u += ISO_GROUP_COUNT()) {
        iso_i64 b = u / across, c = (u - b * across) * ISO_COLS + id % ISO_COLS, first = b * BLOCK;
        spot v[EACH];
        lane w;
        int j, h;
        ISO_UNROLL
        for (j = 0; j < EACH; j++) {
            v[j] = spot_neutral();
        }
        if (c < sequences) {
            int count = least_count(n - first, BLOCK), row;
            ISO_GLOBAL const elem *from = x + (x_at + (first + s) * ld_x + c);
            ISO_GLOBAL const elem *with = y + (y_at + (first + s) * ld_y + c);
            for (row = 0; row + LANES <= count; row += LANES) {
                elem ex[EACH], ey[EACH];
                ISO_UNROLL
                for (j = 0; j < EACH; j++) {
                    ex[j] = elem_once(from + (row + j * SLOTS) * ld_x);
                    ey[j] = Y_ONCE(with, (row + j * SLOTS) * ld_y);
                }
                ISO_UNROLL
                for (j = 0; j < EACH; j++) {
                    v[j] = spot_step(v[j], ex[j], ey[j], row + s + j * SLOTS);
                }
            }
            ISO_UNROLL
            for (j = 0; j < EACH; j++) {
                if (row + s + j * SLOTS < count) {
                    v[j] = spot_step(v[j], from[(row + j * SLOTS) * ld_x],
                                     Y_OF(with, (row + j * SLOTS) * ld_y), row + s + j * SLOTS);
                }
            }
        }
        ISO_UNROLL
        for (h = EACH / 2; h > 0; h /= 2) {
            ISO_UNROLL
            for (j = 0; j < EACH / 2; j++) {
                if (j < h) {
                    v[j] = spot_fold(v[j], v[j + h < EACH ? j + h : 0]);
                }
            }
        }
        w = fold_shared(lane_of(v[0], first), id, s, SLOTS, ISO_COLS, pad);
        if (s == 0 && c < sequences) {
            if (blocks == 1) {
                lane_finish(to + to_at, c, w, n);
            } else {
                ((ISO_GLOBAL lane *)(work + work_at))[c * blocks + b] = w;
            }
        }
    }
}

/* A level above the first. A group takes a block of a sequence's `count` results, and a work-item
 * LANES_EACH lanes of it: there are few blocks, so each needs many loads in flight. Their number is
 * limited by the registers that a lane takes. A sequence's only block is its result. */
#define TAKERS     (ISO_BLOCK_THREADS < LANES ? ISO_BLOCK_THREADS : LANES)
#define LANES_EACH (LANES / TAKERS)
#define AHEAD      ((IS_INDEX ? 16 : IS_SCALED ? 8 : 32) / LANES_EACH) /* rows in flight */
ISO_KERNEL_OF(ISO_BLOCK_THREADS, 1)
reduce_level(ISO_GLOBAL iso_u8 *work, iso_i64 from_at, iso_i64 next_at, ISO_GLOBAL result *to,
             iso_i64 to_at, iso_i64 sequences, iso_i64 count, iso_i64 n)
{
    ISO_SHARED lane pad[ISO_BLOCK_THREADS];
    int id = ISO_LOCAL_ID(), k, h;
    iso_i64 blocks = (count + BLOCK - 1) / BLOCK, b;
    ISO_GLOBAL const lane *in = (ISO_GLOBAL const lane *)(work + from_at);
    ISO_NEXT_MAY_BEGIN();
    ISO_AFTER_PREVIOUS();
    for (b = ISO_GROUP_ID(); b < sequences * blocks; b += ISO_GROUP_COUNT()) {
        iso_i64 s = b / blocks, first = (b - s * blocks) * BLOCK;
        int here = least_count(count - first, BLOCK), row;
        ISO_GLOBAL const lane *from = in + (s * count + first);
        lane v[LANES_EACH], r[AHEAD * LANES_EACH];
        ISO_UNROLL
        for (k = 0; k < LANES_EACH; k++) {
            v[k] = lane_neutral();
        }
        for (row = 0; id < TAKERS && row < here; row += AHEAD * LANES) {
            ISO_UNROLL
            for (k = 0; k < AHEAD * LANES_EACH; k++) { /* beyond the end the first stands in */
                int i = row + id + k * TAKERS;
                r[k] = from[i < here ? i : 0];
            }
            ISO_UNROLL
            for (k = 0; k < AHEAD * LANES_EACH; k++) {
                if (row + id + k * TAKERS < here) {
                    v[k % LANES_EACH] = lane_fold(v[k % LANES_EACH], r[k]);
                }
            }
        }
        ISO_UNROLL
        for (h = LANES_EACH / 2; h > 0; h /= 2) {
            ISO_UNROLL
            for (k = 0; k < LANES_EACH / 2; k++) {
                if (k < h) {
                    v[k] = lane_fold(v[k], v[k + h < LANES_EACH ? k + h : 0]);
                }
            }
        }
        v[0] = fold_shared(v[0], id, id, TAKERS, 1, pad);
        if (id == 0 && blocks == 1) {
            lane_finish(to + to_at, s, v[0], n);
        } else if (id == 0) {
            ((ISO_GLOBAL lane *)(work + next_at))[b] = v[0];
        }
    }
}

/* The last level of sequences with at most LANES results each: a team of `width` for each. */
ISO_KERNEL(ISO_THREADS)
reduce_last(ISO_GLOBAL iso_u8 *work, iso_i64 from_at, ISO_GLOBAL result *to, iso_i64 to_at,
            iso_i64 sequences, iso_i64 count, iso_i64 n, iso_i32 width)
{
    ISO_SHARED lane pad[PAD(ISO_THREADS)];
    int id = ISO_LOCAL_ID(), t = id & (width - 1), team = id / width;
    iso_i64 at_once = ISO_THREADS / width, base;
    ISO_GLOBAL const lane *in = (ISO_GLOBAL const lane *)(work + from_at);
    ISO_AFTER_PREVIOUS();
    for (base = ISO_GROUP_ID() * at_once; base < sequences; base += ISO_GROUP_COUNT() * at_once) {
        iso_i64 s = base + team;
        lane v = lane_neutral();
        if (s < sequences) {
            v = take_results(in + s * count, (int)count, t, width);
        }
        v = fold_team(v, id, t, width, pad);
        if (t == 0 && s < sequences) {
            lane_finish(to + to_at, s, v, n);
        }
    }
}

/* ---- naive and partials ---------------------------------------------------------------------- */

/* Along an axis: one result per work-item. */
ISO_KERNEL(ISO_THREADS)
reduce_naive(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 next_x, iso_i64 step_x,
             ISO_GLOBAL const elem *y, iso_i64 y_at, iso_i64 next_y, iso_i64 step_y,
             ISO_GLOBAL result *to, iso_i64 to_at, iso_i64 sequences, iso_i64 n)
{
    iso_i64 s = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(), i;
    for (; s < sequences; s += ISO_GROUP_COUNT() * ISO_THREADS) {
        lane v = lane_neutral();
        iso_i64 at_x = x_at + s * next_x, at_y = y_at + s * next_y;
        for (i = 0; i < n; i++) {
            v = lane_step(v, x[at_x + i * step_x], Y_OF(y, at_y + i * step_y), i);
        }
        lane_finish(to + to_at, s, v, n);
    }
}

/* Reduces a group's share of a sequence, with folds in shared memory. */
#define SHARE(u)                                                                                   \
    iso_i64 s = (u) / parts, part = (u) - s * parts, i;                                            \
    lane v = lane_neutral();                                                                       \
    for (i = part * ISO_THREADS + id; i < n; i += parts * ISO_THREADS) {                           \
        v = lane_step(v, x[x_at + s * next_x + i * step_x],                                        \
                      Y_OF(y, y_at + s * next_y + i * step_y), i);                                 \
    }                                                                                              \
    v = fold_shared(v, id, id, ISO_THREADS, 1, pad);

/* One partial result per group, `parts` of them for each sequence. */
ISO_KERNEL(ISO_THREADS)
reduce_partials(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 next_x, iso_i64 step_x,
                ISO_GLOBAL const elem *y, iso_i64 y_at, iso_i64 next_y, iso_i64 step_y,
                ISO_GLOBAL iso_u8 *work, iso_i64 work_at, iso_i64 sequences, iso_i64 n,
                iso_i64 parts)
{
    ISO_SHARED lane pad[ISO_THREADS];
    int id = ISO_LOCAL_ID();
    iso_i64 u;
    for (u = ISO_GROUP_ID(); u < sequences * parts; u += ISO_GROUP_COUNT()) {
        SHARE(u)
        if (id == 0) {
            ((ISO_GLOBAL lane *)(work + work_at))[u] = v;
        }
    }
}

/* Combines partial results in order, with one work-item for each sequence. */
ISO_KERNEL(ISO_THREADS)
reduce_finish(ISO_GLOBAL iso_u8 *work, iso_i64 work_at, ISO_GLOBAL result *to, iso_i64 to_at,
              iso_i64 sequences, iso_i64 parts, iso_i64 n)
{
    ISO_GLOBAL const lane *in = (ISO_GLOBAL const lane *)(work + work_at);
    iso_i64 s = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(), p;
    for (; s < sequences; s += ISO_GROUP_COUNT() * ISO_THREADS) {
        lane v = in[s * parts];
        for (p = 1; p < parts; p++) {
            v = lane_fold(v, in[s * parts + p]);
        }
        lane_finish(to + to_at, s, v, n);
    }
}

/* Reduces a whole array into one word by compare and swap. */
#if !IS_INDEX && !IS_SCALED && (!IS_LONG_WORD || defined(ISO_ATOMIC64))
ISO_KERNEL(ISO_THREADS)
reduce_begin(ISO_GLOBAL iso_u8 *work, iso_i64 work_at)
{
    if (ISO_LOCAL_ID() == 0) {
        *(ISO_GLOBAL lane *)(work + work_at) = lane_neutral();
    }
}

ISO_KERNEL(ISO_THREADS)
reduce_atomic(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 next_x, iso_i64 step_x,
              ISO_GLOBAL const elem *y, iso_i64 y_at, iso_i64 next_y, iso_i64 step_y,
              ISO_GLOBAL iso_u8 *work, iso_i64 work_at, iso_i64 sequences, iso_i64 n, iso_i64 parts)
{
    ISO_SHARED lane pad[ISO_THREADS];
    int id = ISO_LOCAL_ID();
    ISO_GLOBAL word *at = (ISO_GLOBAL word *)(work + work_at);
    SHARE(ISO_GROUP_ID())
    (void)sequences;
    if (id == 0) {
        word seen = lane_word(lane_neutral()), old;
        do {
            old = seen;
#if IS_LONG_WORD
            seen = iso_cas64(at, old, lane_word(lane_fold(lane_from(old), v)));
#else
            seen = iso_cas32(at, old, lane_word(lane_fold(lane_from(old), v)));
#endif
        } while (seen != old);
    }
}
#endif
