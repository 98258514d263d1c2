/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_split.cl - the product of gemm_matrix.cl, with the same bits, for units with instructions of
 * 16 terms. The work is split: the last ISO_COPIERS work-items of a group only copy slices, the
 * others only multiply. So multiplying work-items need no registers for addresses, do not wait for
 * each other at every slice, and keep multiplying while others finish a tile.
 *
 * Moving registers between teams and gates need NVIDIA's chips of architecture 9.0 and programs
 * that are compiled for that chip alone (sm_90a, NVRTC 12.0 or newer); elsewhere gemm_matrix.cl is
 * used.
 *
 * Each place for slices has two gates. Copiers wait until a place is empty: each multiplying team
 * arrives once it has loaded all that it needs. Multiplying teams wait until it is full: each
 * copier arrives. The launch adds shared memory for the slices, the gates and, if ISO_KEPT is
 * defined, the totals of earlier segments, in this order.
 */
#define UNIT_K      16 /* terms of an instruction: a slice is one of them long */
#define MULTIPLIERS ITEMS
#define COPY_TEAMS  (ISO_COPIERS / ISO_TEAM)
#define FULL(turn)  (gates + (turn).at * 16)
#define EMPTY(turn) (gates + (turn).at * 16 + 8)
#define LAST_ROW    (UNITS_M - 1) /* odd, so that row 0 of the next slice takes the other fragment */
#define GATES_AT    (ISO_STAGES * SLICE) /* in elements */
#define KEPT_AT     (GATES_AT + 2 * ISO_STAGES)

/* Registers of a work-item after they are moved. The launch gives 168 to each; the sum must not
 * grow.
 */
#define COPIER_REGISTERS     40
#define MULTIPLIER_REGISTERS 232

/* The next place, and the parity to wait for, which changes after the last place. */
typedef struct ring {
    int at;
    int round;
} ring;

ISO_INLINE void next_place(ring *turn)
{
    turn->at++;
    if (turn->at == ISO_STAGES) {
        turn->at = 0;
        turn->round ^= 1;
    }
}

/* ---- copying --------------------------------------------------------------------------------- */

/* An operand of a tile. */
typedef struct tile_operand {
    ISO_GLOBAL const elem *slice; /* where the next slice begins */
    iso_i64 ld;
    int outers; /* rows or columns */
    int wide;   /* whether pairs of a line are aligned to 16 bytes and end inside the operand */
} tile_operand;

/* Begins to copy a whole slice. Of an operand that is contiguous along k, a team copies four rows
 * of 8 elements at once, else a line, in pairs if it is wide. Rows and columns outside the operand
 * are not copied, and their sums are not used. */
ISO_INLINE void copy_along(int size, iso_place slice, const tile_operand *from, int id)
{
    const int k = LANE(id) % 8;
    const int row = id / ISO_TEAM * (size / COPY_TEAMS) + LANE(id) / 8;
    ISO_GLOBAL const elem *at = from->slice + (row * from->ld + k);
    const int first = PLACE(size, k, row) * BYTES;
#pragma unroll 2
    for (int i = 0; i < size / COPY_TEAMS; i += 16) {
        ISO_UNROLL
        for (int j = 0; j < 16; j += 4) {
            const iso_place to = slice + ((first ^ j / 2 * 2 * BYTES) + i * BYTES);
            ISO_UNROLL
            for (int part = 0; part < ISO_BK; part += 8) {
                ISO_COPY_8(to + part * size * BYTES, at + part, row + i + j < from->outers);
            }
            at += 4 * from->ld;
        }
    }
}

ISO_INLINE void copy_across(int size, int pair, iso_place slice, const tile_operand *from, int id)
{
    const int line = id / ISO_TEAM;
    const int outer = LANE(id) * pair;
    ISO_GLOBAL const elem *at = from->slice + (line * from->ld + outer);
    const int first = PLACE(size, line, outer) * BYTES;
    ISO_UNROLL
    for (int k = 0; k < ISO_BK; k += COPY_TEAMS) {
        ISO_UNROLL
        for (int part = 0; part < size; part += pair * ISO_TEAM) {
            const iso_place to =
                slice + ((first ^ SWIZZLE(k) * 2 * BYTES) + (k * size + part) * BYTES);
            if (pair == 2) {
                ISO_COPY_16(to, at + part, outer + part < from->outers);
            } else {
                ISO_COPY_8(to, at + part, outer + part < from->outers);
            }
        }
        at += COPY_TEAMS * from->ld;
    }
}

ISO_INLINE void copy_whole(int size, int along_k, iso_place slice, const tile_operand *from, int id)
{
    if (along_k) {
        copy_along(size, slice, from, id);
    } else if (from->wide) {
        copy_across(size, 2, slice, from, id);
    } else {
        copy_across(size, 1, slice, from, id);
    }
}

/* Copies the last slice, if it is not whole. Terms beyond the last, `left`, are (+0) (-0): they
 * change no sum, not even -0. */
ISO_INLINE void copy_rest(int size, int along_k, ISO_SHARED_AT acc *to, const tile_operand *from,
                          iso_i64 left, acc pad, int id)
{
#pragma unroll 1
    for (int v = id; v < size * ISO_BK; v += ISO_COPIERS) {
        const int outer = along_k ? v / ISO_BK : v % size;
        const int k = along_k ? v % ISO_BK : v / size;
        ISO_SHARED_AT acc *const at = to + PLACE(size, k, outer);
        if (k >= left) {
            *at = pad;
        } else {
            ISO_COPY_8(ISO_PLACE(at),
                       from->slice + AT(along_k, from->ld, (iso_i64)outer, (iso_i64)k),
                       outer < from->outers);
        }
    }
}

ISO_INLINE void copy_tile(ISO_SHARED_AT acc *slices, iso_place gates, ring *turn, tile_operand a,
                          tile_operand b, iso_i64 left, int id)
{
    const iso_place places = ISO_PLACE(slices);
#pragma unroll 1
    do {
        ISO_SHARED_AT acc *const to = slices + turn->at * SLICE;
        const iso_place place = places + turn->at * SLICE * BYTES;
        ISO_GATE_WAIT(EMPTY(*turn), turn->round);
        if (left >= ISO_BK) {
            copy_whole(ISO_BM, ISO_KA, place, &a, id);
            copy_whole(ISO_BN, ISO_KB, place + SLICE_A * BYTES, &b, id);
            ISO_GATE_COPIED(FULL(*turn));
        } else {
            copy_rest(ISO_BM, ISO_KA, to, &a, left, (acc)0, id);
            copy_rest(ISO_BN, ISO_KB, to + SLICE_A, &b, left, -(acc)0, id);
            ISO_COPY_END();
            ISO_GATE_ARRIVE(FULL(*turn));
        }
        next_place(turn);
        a.slice += ISO_KA ? (iso_i64)ISO_BK : ISO_BK * a.ld;
        b.slice += ISO_KB ? (iso_i64)ISO_BK : ISO_BK * b.ld;
        left -= ISO_BK;
    } while (left > 0);
}

/* ---- multiplying ----------------------------------------------------------------------------- */

/* What the instructions of a team take: two rows of parts of A, all columns of parts of B. */
typedef struct fragments {
    acc a[2][UNIT_K / 2];
    acc b[UNITS_N][UNIT_K / 4];
} fragments;

/* Load the terms of a row of parts, of a column of parts. The places of a work-item's elements
 * differ from line to line only by constants and by bits of the permutation. */
ISO_INLINE void take_a(fragments *to, iso_place slice, int row, int id)
{
    const int line = K_OF(LANE(id));
    const int first = PLACE(ISO_BM, line, TEAM_ROW(id) + PAIR(LANE(id)) * 2) * BYTES;
    acc *const at = to->a[row % 2];
    ISO_UNROLL
    for (int k = 0; k < UNIT_K; k += 4) {
        ISO_TAKE_2(at[k / 2], at[k / 2 + 1],
                   slice + (first ^ SWIZZLE(k) * 2 * BYTES) + (k * ISO_BM + row * 16) * BYTES);
    }
}

ISO_INLINE void take_b(fragments *to, iso_place slice, int col, int id)
{
    const int line = K_OF(LANE(id));
    const int first = (SLICE_A + PLACE(ISO_BN, line, TEAM_COL(id) + PAIR(LANE(id)))) * BYTES;
    ISO_UNROLL
    for (int k = 0; k < UNIT_K; k += 4) {
        ISO_TAKE_1(to->b[col][k / 4], slice + (first ^ (SWIZZLE(k) ^ col % 2 * 4) * 2 * BYTES) +
                                          (k * ISO_BN + col / 2 * 16) * BYTES);
    }
}

ISO_INLINE void multiply(acc *sum, const fragments *from, int row, int col)
{
    ISO_MATRIX_F64(16, sum + (row * UNITS_N + col) * 4, from->a[row % 2], from->b[col]);
}

/* Ends a segment, as end_segment does, for a row of parts. */
ISO_INLINE void end_row(acc *sum, ISO_GLOBAL acc *totals, int row, int is_first, int id)
{
    ISO_UNROLL
    for (int r = row * UNITS_N * 4; r < (row + 1) * UNITS_N * 4; r++) {
        if (!is_first) {
            sum[r] = totals[r * ITEMS + id] + sum[r];
        }
        totals[r * ITEMS + id] = sum[r];
        sum[r] = (acc)0;
    }
}

/* Multiplies all rows of parts but the last, while the row after each is loaded. If a segment has
 * just ended, the sums of the row after each are stored before their next use. */
ISO_INLINE void upper_rows(acc *sum, fragments *f, iso_place slice, ISO_GLOBAL acc *totals,
                           int ended, int is_first, int id)
{
    ISO_UNROLL
    for (int row = 0; row < LAST_ROW; row++) {
        ISO_UNROLL
        for (int col = 0; col < UNITS_N; col++) {
            multiply(sum, f, row, col);
            if (col == 0) {
                take_a(f, slice, row + 1, id);
            }
        }
        if (ended) {
            end_row(sum, totals, row + 1, is_first, id);
        }
    }
}

/* Says that this team has loaded all that it needs of a slice. */
ISO_INLINE void leave_slice(iso_place gates, ring *turn, int id)
{
    ISO_TEAM_SYNC();
    if (LANE(id) == 0) {
        ISO_GATE_ARRIVE(EMPTY(*turn));
    }
    next_place(turn);
}

ISO_INLINE iso_place next_slice(iso_place places, iso_place gates, ring *turn, int id)
{
    leave_slice(gates, turn, id);
    ISO_GATE_WAIT(FULL(*turn), turn->round);
    return places + turn->at * SLICE * BYTES;
}

/*
 * Adds up `left` terms. At the end of each segment but the last, the sums are added to those in
 * `totals`.
 *
 * A round of the loop begins with the last row of parts of the slice before, so that the units have
 * work while operands of the next slice are loaded.
 */
ISO_INLINE void sum_tile(acc *sum, iso_place places, iso_place gates, ring *turn, iso_i64 left,
                         ISO_GLOBAL acc *totals, int id)
{
    fragments f;
    int lines = ISO_BK; /* of the segment */
    int is_first = !CONTINUES;
    iso_place slice = places + turn->at * SLICE * BYTES;
    ISO_GATE_WAIT(FULL(*turn), turn->round);
    take_a(&f, slice, 0, id);
    ISO_UNROLL
    for (int col = 0; col < UNITS_N; col++) {
        take_b(&f, slice, col, id);
    }
    upper_rows(sum, &f, slice, totals, 0, 0, id);
#pragma unroll 1
    for (left -= ISO_BK; left > 0; left -= ISO_BK) {
        const int ended = lines == SEGMENT;
        slice = next_slice(places, gates, turn, id);
        ISO_UNROLL
        for (int col = 0; col < UNITS_N; col++) {
            multiply(sum, &f, LAST_ROW, col);
            if (col == 0) {
                take_a(&f, slice, 0, id);
            } else {
                take_b(&f, slice, col - 1, id);
            }
        }
        take_b(&f, slice, UNITS_N - 1, id);
        if (ended) {
            end_row(sum, totals, 0, is_first, id);
            lines = 0;
        }
        upper_rows(sum, &f, slice, totals, ended, is_first, id);
        is_first &= !ended;
        lines += ISO_BK;
    }
    leave_slice(gates, turn, id);
    ISO_UNROLL
    for (int col = 0; col < UNITS_N; col++) {
        multiply(sum, &f, LAST_ROW, col);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* The arguments, the flags and `work` are those of gemm_tiled. Bits 8 and 16 are not used, and
 * those from 256 on say how many of the last tiles are computed in segments. */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemm_split(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
           ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 ldb, iso_i64 stride_b,
           ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work,
           iso_i64 work_at, iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch, acc alpha, acc beta,
           iso_i32 flags)
{
    ISO_SHARED_MORE(ISO_F64X2, shared);
    ISO_SHARED_AT acc *const slices = (ISO_SHARED_AT acc *)shared;
    const iso_place places = ISO_PLACE(slices);
    const iso_place gates = places + GATES_AT * BYTES;
    ISO_NEXT_MAY_BEGIN();
    const int id = ISO_LOCAL_ID();
    all_work all;
    all.m = m;
    all.n = n;
    all.k = k;
    all.tiles_m = (m + ISO_BM - 1) / ISO_BM;
    all.tiles_n = (n + ISO_BN - 1) / ISO_BN;
    all.tiles = all.tiles_m * all.tiles_n * batch;
    all.whole = flags & 32 ? 0 : all.tiles - (flags >> 8);
    const iso_i64 units = units_of(&all);
    ring turn = {0, id >= MULTIPLIERS}; /* at first, all places are empty */
    if (id == 0) {
        for (int i = 0; i < ISO_STAGES; i++) {
            ISO_GATE_MAKE(gates + i * 16, ISO_COPIERS);
            ISO_GATE_MAKE(gates + i * 16 + 8, MULTIPLIERS / ISO_TEAM);
        }
    }
    ISO_BARRIER();
    if (id >= MULTIPLIERS) {
        ISO_LESS_REGISTERS(COPIER_REGISTERS);
        for (iso_i64 unit = ISO_GROUP_ID(); unit < units; unit += ISO_GROUP_COUNT()) {
            const tile_work w = work_of(unit, &all);
            const tile_operand from_a = {a + a_at + w.member * stride_a +
                                             AT(ISO_KA, lda, w.row0, w.first_k),
                                         lda, w.rows, flags & 1};
            const tile_operand from_b = {b + b_at + w.member * stride_b +
                                             AT(ISO_KB, ldb, w.col0, w.first_k),
                                         ldb, w.cols, flags & 2};
            copy_tile(slices, gates, &turn, from_a, from_b, w.length, id - MULTIPLIERS);
        }
        ISO_COPY_END();
    } else {
        ISO_MORE_REGISTERS(MULTIPLIER_REGISTERS);
        for (iso_i64 unit = ISO_GROUP_ID(); unit < units; unit += ISO_GROUP_COUNT()) {
            const tile_work w = work_of(unit, &all);
            ISO_GLOBAL acc *const slot =
                work + work_at + (w.slot < 0 ? ISO_GROUP_ID() : w.slot) * (ISO_BM * ISO_BN);
#if defined(ISO_KEPT)
            ISO_GLOBAL acc *const totals = slices + KEPT_AT;
#else
            ISO_GLOBAL acc *const totals = slot;
#endif
            acc sum[CELLS];
            ISO_UNROLL
            for (int r = 0; r < CELLS; r++) {
                sum[r] = (acc)0;
            }
            begin_totals(w.slot >= 0, totals, c + (c_at + w.member * stride_c), ldc, m, n, w.row0,
                         w.col0, id);
            sum_tile(sum, places, gates, &turn, w.length, totals, id);
            if (w.slot >= 0) {
                keep(slot, sum, id);
                continue;
            }
            if (w.length > SEGMENT) {
                add_kept(sum, totals, id);
            }
            store_tile(c, c_at + w.member * stride_c + w.row0 * ldc + w.col0, ldc, w.rows, w.cols,
                       flags & 4, sum, alpha, beta, id);
        }
    }
}
