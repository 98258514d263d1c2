/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_matrix.cl - the blocked product of f64 on matrix units, with the bits of gemm_tiled.cl. One
 * instruction of a unit multiplies a part of A by a part of B and adds each product to its sum in
 * ascending order of k, with one rounding for each: so a chain of instructions is the chain of fma
 * of bits.md. Not every unit need do that; unit_f64.cl is the test that a device must pass first.
 *
 * A group computes tiles of ISO_BM x ISO_BN elements of C. A team is the ISO_TEAM work-items that
 * execute an instruction together. It computes TEAM_M x TEAM_N of the elements, whose sums stay in
 * registers for a whole segment. Slices of A and B that are ISO_BK long in k are copied to
 * ISO_STAGES places in shared memory, ahead of their use and without passing through registers.
 * Except for the first ISO_WAIT + 1, a slice is copied while ISO_WAIT others are under way.
 *
 * ISO_KA and ISO_KB are 1 if k is the contiguous index of A or B, 0 if the outer index is.
 */
#define ISO_STAGES (ISO_WAIT + 2)

#define TEAM_M  (ISO_TM * 8)
#define TEAM_N  (ISO_TN * 4)
#define TEAMS_N (ISO_BN / TEAM_N)
#define UNITS_M (TEAM_M / 16) /* parts of 16 x 8 elements, which are one instruction's */
#define UNITS_N (TEAM_N / 8)
#define QUADS   (ISO_UNIT_K / 4) /* an instruction takes ISO_UNIT_K terms, in fours */

/* What work-item `lane` of a team has of a part's operands: in each four of k the one at K_OF. Its
 * sums are in two rows and two columns. Rows are assigned in pairs, so that one load of 16 bytes
 * has both rows of A that a work-item needs. */
#define LANE(id)     ((id) % ISO_TEAM)
#define K_OF(lane)   ((lane) % 4)
#define PAIR(lane)   ((lane) / 4)
#define TEAM_ROW(id) ((id) / ISO_TEAM / TEAMS_N * TEAM_M)
#define TEAM_COL(id) ((id) / ISO_TEAM % TEAMS_N * TEAM_N)
/* Sum r is number r % 4 of part r / 4: row by row of 2 x 2. */
#define CELL_ROW(id, r) (TEAM_ROW(id) + (r) / (4 * UNITS_N) * 16 + PAIR(LANE(id)) * 2 + (r) / 2 % 2)
#define CELL_COL(id, r) (TEAM_COL(id) + (r) / 4 % UNITS_N * 8 + K_OF(LANE(id)) * 2 + (r) % 2)

/*
 * Line k of a slice has the elements in order, except that their pairs are permuted: pair p is at p
 * ^ SWIZZLE(k). The loads of a team then use each bank of shared memory equally often: eight
 * work-items that load 16 bytes of A at once differ in k by 0 to 3 and in the pair by 0 or 1,
 * sixteen that load 8 bytes of B in k by 0 to 3 and in the column by 0 to 3. So do the copies along
 * k: sixteen work-items differ in k by 0 to 7 and in the row by 0 or 1.
 */
#define SWIZZLE(k)            (((k) & 3) << 1 | ((k) >> 2 & 1))
#define PLACE(size, k, outer) ((k) * (size) + (((outer) / 2 ^ SWIZZLE(k)) * 2 | (outer) % 2))

#define SLICE_A (ISO_BM * ISO_BK)
#define SLICE   (SLICE_A + ISO_BN * ISO_BK)

/* Where element (k, outer) of an operand is in memory. */
#define AT(along_k, ld, outer, k) ((along_k) ? (outer) * (ld) + (k) : (outer) + (k) * (ld))

/*
 * Begin to copy a slice of `size` rows or columns. copy_lines is for operands that are contiguous
 * along k, copy_pairs for those whose pairs of rows or columns are aligned to 16 bytes and end
 * inside the operand; both copy whole slices. copy_any copies every slice, slowly. Rows and columns
 * from `outers` on are outside the operand. They are not copied, and their sums are not used. Terms
 * beyond the last, `left`, are (+0) (-0): they change no sum, not even -0.
 */
ISO_INLINE void copy_lines(int size, ISO_SHARED_AT acc *to, ISO_GLOBAL const elem *from, iso_i64 ld,
                           int outers, int id)
{
    const int k = id % 8;
    const int outer = id / 8;
    const int step = ISO_THREADS / 8;
    ISO_SHARED_AT acc *at = to + PLACE(size, k, outer);
    ISO_UNROLL
    for (int i = 0; i < size / step; i++) {
        ISO_UNROLL
        for (int j = 0; j < ISO_BK; j += 8) {
            ISO_COPY_8(at + j * size + i * step, from + (outer * ld + k) + (i * (step * ld) + j),
                       outer + i * step < outers);
        }
    }
}

ISO_INLINE void copy_pairs(int size, ISO_SHARED_AT acc *to, ISO_GLOBAL const elem *from, iso_i64 ld,
                           int outers, int id)
{
    const int outer = id % (size / 2) * 2;
    const int k = id / (size / 2);
    const int step = ISO_THREADS / (size / 2);
    ISO_UNROLL
    for (int i = 0; i < ISO_BK / step; i++) {
        const int line = i * step;
        ISO_COPY_16(to + ((PLACE(size, k, outer) ^ SWIZZLE(line) * 2) + line * size),
                    from + (k * ld + outer) + line * ld, outer < outers);
    }
}

ISO_INLINE void copy_any(int size, ISO_SHARED_AT acc *to, ISO_GLOBAL const elem *from, iso_i64 ld,
                         int along_k, int outers, int left, acc pad, int id)
{
#pragma unroll 1
    for (int v = id; v < size * ISO_BK; v += ISO_THREADS) {
        const int outer = along_k ? v / 8 % size : v % size;
        const int k = along_k ? v / 8 / size * 8 + v % 8 : v / size;
        ISO_SHARED_AT acc *at = to + PLACE(size, k, outer);
        if (k >= left) {
            *at = pad;
        } else {
            ISO_COPY_8(at, from + AT(along_k, ld, (iso_i64)outer, (iso_i64)k), outer < outers);
        }
    }
}

#define COPY_SLICE(size, to, from, ld, along_k, outers, left, pairs, pad)                          \
    if ((left) < ISO_BK || !((along_k) || (pairs))) {                                              \
        copy_any(size, to, from, ld, along_k, outers, (int)((left) < ISO_BK ? (left) : ISO_BK),    \
                 pad, id);                                                                         \
    } else if (along_k) {                                                                          \
        copy_lines(size, to, from, ld, outers, id);                                                \
    } else {                                                                                       \
        copy_pairs(size, to, from, ld, outers, id);                                                \
    }

/* What an instruction of each part takes from A and from B. */
typedef struct fragments {
    acc a[UNITS_M][2 * QUADS];
    acc b[UNITS_N][QUADS];
} fragments;

/* Loads the terms from `k` of a slice on. The places of a work-item's elements differ from line to
 * line only by constants and by the lowest bit of the permutation, and those of its columns also by
 * the third. */
ISO_INLINE void take(fragments *to, ISO_SHARED_AT const acc *slice, int k, int id)
{
    const int first = K_OF(LANE(id));
    const int pair = PAIR(LANE(id));
    const int permuted = SWIZZLE(first);
    const int line_a = first * ISO_BM + TEAM_ROW(id);
    const int line_b = first * ISO_BN + TEAM_COL(id) + SLICE_A;
    ISO_UNROLL
    for (int q = 0; q < QUADS; q++) {
        const int line = k + 4 * q;
        const int odd = line / 4 % 2;
        ISO_UNROLL
        for (int u = 0; u < UNITS_M; u++) {
            const int at = line_a + line * ISO_BM + u * 16 + (pair ^ permuted ^ odd) * 2;
            const ISO_F64X2 two = *(ISO_SHARED_AT const ISO_F64X2 *)(slice + at);
            to->a[u][2 * q] = two.x;
            to->a[u][2 * q + 1] = two.y;
        }
        ISO_UNROLL
        for (int u = 0; u < UNITS_N; u++) {
            const int at = line_b + line * ISO_BN + u / 2 * 16 +
                           (pair / 2 ^ permuted ^ (odd | u % 2 * 4)) * 2 + pair % 2;
            to->b[u][q] = slice[at];
        }
    }
}

ISO_INLINE void multiply(acc *sum, const fragments *from)
{
    ISO_UNROLL
    for (int m = 0; m < UNITS_M; m++) {
        ISO_UNROLL
        for (int n = 0; n < UNITS_N; n++) {
            ISO_MATRIX_F64(ISO_UNIT_K, sum + (m * UNITS_N + n) * 4, from->a[m], from->b[n]);
        }
    }
}

/* Stores two neighbouring elements at once; both are inside C, and aligned. */
ISO_INLINE void store_pair(ISO_GLOBAL elem *at, const acc *sum, acc alpha, acc beta)
{
    ISO_F64X2 pair;
    if (beta == (acc)0) {
        pair = iso_f64x2(alpha * sum[0], alpha * sum[1]);
    } else {
        const ISO_F64X2 old = *(ISO_GLOBAL const ISO_F64X2 *)at;
        const acc x = beta * old.x;
        const acc y = beta * old.y;
        pair = iso_f64x2(acc_fma(alpha, sum[0], x), acc_fma(alpha, sum[1], y));
    }
    *(ISO_GLOBAL ISO_F64X2 *)at = pair;
}

ISO_INLINE void store_tile(ISO_GLOBAL elem *c, iso_i64 c_tile, iso_i64 ldc, int rows, int cols,
                           int wide_c, const acc *sum, acc alpha, acc beta, int id)
{
    ISO_UNROLL
    for (int r = 0; r < CELLS; r += 2) {
        const int row = CELL_ROW(id, r);
        const int col = CELL_COL(id, r);
        const iso_i64 at = c_tile + row * ldc + col;
        if (row < rows && col < cols) {
            if (wide_c && col + 1 < cols) {
                store_pair(c + at, sum + r, alpha, beta);
            } else {
                finish(c, at, sum[r], alpha, beta);
                if (col + 1 < cols) {
                    finish(c, at + 1, sum[r + 1], alpha, beta);
                }
            }
        }
    }
}

/* Two operands of a tile: where the next slice begins, the distance of their lines, how many rows
 * or columns there are, and whether pairs are aligned. */
typedef struct tile_operands {
    ISO_GLOBAL const elem *a, *b;
    iso_i64 lda, ldb;
    int rows, cols;
    int wide_a, wide_b;
} tile_operands;

ISO_INLINE void copy_both(ISO_SHARED_AT acc *to, tile_operands *from, iso_i64 left, int id)
{
    COPY_SLICE(ISO_BM, to, from->a, from->lda, ISO_KA, from->rows, left, from->wide_a, (acc)0)
    COPY_SLICE(ISO_BN, to + SLICE_A, from->b, from->ldb, ISO_KB, from->cols, left, from->wide_b,
               -(acc)0)
    from->a += ISO_KA ? (iso_i64)ISO_BK : (iso_i64)ISO_BK * from->lda;
    from->b += ISO_KB ? (iso_i64)ISO_BK : (iso_i64)ISO_BK * from->ldb;
}

/*
 * Adds up `left` terms. At the end of each segment but the last, the sums are added to those in
 * `totals`.
 *
 * While a step of ISO_UNIT_K terms is multiplied, the next step's are loaded from shared memory. So
 * the barrier between two slices is before the last step of the first, and the units have work on
 * both sides of it. The copies of a later slice go to the place of the slice before. A slice of one
 * step is not loaded ahead, because it would need too many registers.
 */
#define STEPS (ISO_BK / ISO_UNIT_K)

ISO_INLINE void sum_tile(acc *sum, ISO_SHARED_AT acc *slices, tile_operands *from, iso_i64 left,
                         ISO_GLOBAL acc *totals, int id)
{
    fragments next[2];
    iso_i64 rest = (left + ISO_BK - 1) / ISO_BK; /* slices not yet multiplied */
    int to = ISO_STAGES - 1;
    int at = 0;
    int lines = 0; /* of the segment, already multiplied */
    int first_segment = 1;
#pragma unroll 1
    for (int i = 0; i < ISO_STAGES - 1; i++) {
        if (left > 0) {
            copy_both(slices + i * SLICE, from, left, id);
            left -= ISO_BK;
        }
        ISO_COPY_COMMIT();
    }
    ISO_COPY_WAIT();
    ISO_BARRIER();
    take(&next[0], slices, 0, id);
    for (; rest > 0; rest--) {
        ISO_SHARED_AT const acc *const slice = slices + at * SLICE;
        at = at + 1 < ISO_STAGES ? at + 1 : 0;
        lines += ISO_BK;
        ISO_UNROLL
        for (int step = 0; step < STEPS; step++) {
            if (STEPS == 1) {
                multiply(sum, &next[0]);
            }
            if (step == 0) {
                if (left > 0) {
                    copy_both(slices + to * SLICE, from, left, id);
                    to = to + 1 < ISO_STAGES ? to + 1 : 0;
                    left -= ISO_BK;
                }
                ISO_COPY_COMMIT();
            }
            if (step + 1 < STEPS) {
                take(&next[(step + 1) % 2], slice, (step + 1) * ISO_UNIT_K, id);
            } else {
                ISO_COPY_WAIT();
                ISO_BARRIER(); /* the last one is before the next tile's copies */
                if (rest > 1) {
                    take(&next[0], slices + at * SLICE, 0, id);
                }
            }
            if (STEPS > 1) {
                multiply(sum, &next[step % 2]);
            }
        }
        if (lines == SEGMENT && rest > 1) { /* never if segments run in parallel */
            end_segment(sum, totals, id, first_segment);
            first_segment = 0;
            lines = 0;
        }
    }
}

/* The arguments, the flags and `work` are those of gemm_tiled; bits 8 and 16 are not used. */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemm_matrix(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
            ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 ldb, iso_i64 stride_b,
            ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work,
            iso_i64 work_at, iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch, acc alpha, acc beta,
            iso_i32 flags)
{
    ISO_SHARED ISO_F64X2 slices[ISO_STAGES * SLICE / 2];
#if defined(ISO_KEPT) /* the totals of earlier segments stay in shared memory */
    ISO_SHARED_MORE(acc, kept);
#endif
    int id = ISO_LOCAL_ID();
    const int apart = flags & 32;
    const iso_i64 tiles_m = (m + ISO_BM - 1) / ISO_BM;
    const iso_i64 tiles_n = (n + ISO_BN - 1) / ISO_BN;
    const iso_i64 segments = apart ? (k + SEGMENT - 1) / SEGMENT : 1;
    const iso_i64 units = tiles_m * tiles_n * segments * batch;
    for (iso_i64 unit = ISO_GROUP_ID(); unit < units; unit += ISO_GROUP_COUNT()) {
        const iso_i64 member = unit / (tiles_m * tiles_n * segments);
        const iso_i64 rest = unit - member * (tiles_m * tiles_n * segments);
        const iso_i64 segment = rest / (tiles_m * tiles_n);
        const iso_i64 k_from = segment * SEGMENT;
        const iso_i64 length = apart && k - k_from > SEGMENT ? SEGMENT : k - k_from;
        iso_i64 tile_m, tile_n;
        tile_place(rest - segment * (tiles_m * tiles_n), tiles_m, tiles_n, &tile_m, &tile_n);
        const iso_i64 row0 = tile_m * ISO_BM;
        const iso_i64 col0 = tile_n * ISO_BN;
        const int rows = (int)(m - row0 < ISO_BM ? m - row0 : ISO_BM);
        const int cols = (int)(n - col0 < ISO_BN ? n - col0 : ISO_BN);
        ISO_GLOBAL acc *slot = work + work_at + (apart ? unit : ISO_GROUP_ID()) * (ISO_BM * ISO_BN);
#if defined(ISO_KEPT)
        ISO_GLOBAL acc *const totals = kept;
#else
        ISO_GLOBAL acc *const totals = slot;
#endif
        tile_operands from = {a + a_at + member * stride_a + AT(ISO_KA, lda, row0, k_from),
                              b + b_at + member * stride_b + AT(ISO_KB, ldb, col0, k_from),
                              lda,
                              ldb,
                              rows,
                              cols,
                              flags & 1,
                              flags & 2};
        acc sum[CELLS];
        ISO_UNROLL
        for (int r = 0; r < CELLS; r++) {
            sum[r] = (acc)0;
        }
        sum_tile(sum, (ISO_SHARED_AT acc *)slices, &from, length, totals, id);
        ISO_HIDE(id);
        if (apart) {
            keep(slot, sum, id);
            continue;
        }
        if (k > SEGMENT) {
            add_kept(sum, totals, id);
        }
        store_tile(c, c_at + member * stride_c + row0 * ldc + col0, ldc, rows, cols, flags & 4, sum,
                   alpha, beta, id);
    }
}
