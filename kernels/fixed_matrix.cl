/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed_matrix.cl - the products of bytes of gemm_fixed.cl, on int8 matrix units. They are exact in
 * 32 bits, so no order of additions is defined. Of each sum only the residue is stored.
 *
 * A group computes tiles of ISO_BM x ISO_BN sums. A team is the ISO_TEAM work-items that execute an
 * instruction together; it computes 64 x 64 sums, which stay in registers. Slices of both planes
 * that are 64 bytes long in k are copied to ISO_STAGES places in shared memory, ahead of their use.
 * While a slice is waited for, ISO_WAIT others are under way. fixed_units.cl, which is compiled
 * before, has what differs between vendors.
 *
 * ISO_ADDED is defined if the launch adds the shared memory for the slices.
 */
#define ISO_STAGES (ISO_WAIT + 2)
#define TEAMS_N    (ISO_BN / TEAM)

ISO_INLINE void next_slice(tile_planes *from)
{
    from->a += from->next_a;
    from->b += from->next_b;
}

/* Begins the copies of a tile's first slices. Returns how many slices are not yet copied. */
ISO_INLINE int begin_tile(slice_place slices, tile_planes *from, int slices_of)
{
    staged kept;
    int left = slices_of;
#pragma unroll 1
    for (int i = 0; i < ISO_STAGES - 1; i++) {
        if (left > 0) {
            fetch(&kept, slices + i * SLICE, from);
            put(&kept, slices + i * SLICE, from);
            next_slice(from);
            left--;
        }
        ISO_COPY_COMMIT();
    }
    return left;
}

/* Adds the products of `rest` slices, of which `left` are not yet copied. While a step is
 * multiplied, the next one's operands are loaded. So the barrier between two slices is before the
 * last step of the first. The copies of a later slice go to the place of the slice before. */
ISO_INLINE void sum_tile(team_sums *sums, slice_place slices, tile_planes *from, int rest, int left,
                         int at_a, int at_b)
{
    fragments next[2];
    staged kept;
    int to = ISO_STAGES - 1;
    int at = 0;
    ISO_COPY_WAIT();
    ISO_BARRIER();
    take(&next[0], slices, 0, at_a, at_b);
    for (; rest > 0; rest--) {
        const slice_place slice = slices + at * SLICE;
        at = at + 1 < ISO_STAGES ? at + 1 : 0;
        if (left > 0) {
            fetch(&kept, slices + to * SLICE, from);
            next_slice(from);
        }
        ISO_COPY_COMMIT();
        take(&next[1], slice, 1, at_a, at_b);
        multiply(sums, &next[0]);
        if (left > 0) {
            put(&kept, slices + to * SLICE, from);
            to = to + 1 < ISO_STAGES ? to + 1 : 0;
            left--;
        }
        ISO_COPY_WAIT();
        ISO_BARRIER(); /* the last one is before the next tile's copies */
        if (rest > 1) {
            take(&next[0], slices + at * SLICE, 0, at_a, at_b);
        }
        multiply(sums, &next[1]);
    }
}

/* A tile: its modulus and member, its first row and column, and how many there are from them on. */
typedef struct tile {
    int matrix;
    iso_i64 row, col;
    int rows, cols;
} tile;

/* Neighbouring tiles run at the same time: rows of tiles are processed RASTER at a time, so that
 * running groups read few different parts of the planes. */
#define RASTER 8

ISO_INLINE tile find_tile(int task, iso_i64 rows, iso_i64 cols)
{
    const int tiles_m = (int)((rows + ISO_BM - 1) / ISO_BM);
    const int tiles_n = (int)((cols + ISO_BN - 1) / ISO_BN);
    const int matrix = task / (tiles_m * tiles_n);
    const int place = task - matrix * (tiles_m * tiles_n);
    const int band = place / (RASTER * tiles_n);
    const int within = place - band * (RASTER * tiles_n);
    const int high = tiles_m - band * RASTER < RASTER ? tiles_m - band * RASTER : RASTER;
    const int column = within / high;
    tile found;
    found.matrix = matrix;
    found.row = (iso_i64)(band * RASTER + within - column * high) * ISO_BM;
    found.col = (iso_i64)column * ISO_BN;
    found.rows = (int)(rows - found.row < ISO_BM ? rows - found.row : ISO_BM);
    found.cols = (int)(cols - found.col < ISO_BN ? cols - found.col : ISO_BN);
    return found;
}

/* Where this work-item begins to copy. */
ISO_INLINE tile_planes planes_of(const tile *t, ISO_GLOBAL const iso_u8 *a,
                                 ISO_GLOBAL const iso_u8 *b, iso_i64 rows, iso_i64 cols,
                                 iso_i64 pitch, int id)
{
    const int vector = id / 4;
    tile_planes from;
    from.next_a = rows * DEPTH;
    from.next_b = cols * DEPTH;
    from.a = a + t->matrix * rows * pitch + (t->row + vector) * DEPTH + id % 4 * 16;
    from.b = b + t->matrix * cols * pitch + (t->col + vector) * DEPTH + id % 4 * 16;
    from.rows = t->rows - vector;
    from.cols = t->cols - vector;
    from.to_a = vector * DEPTH;
    from.to_b = SLICE_A + vector * DEPTH;
    from.part_a = id % 4 ^ SWIZZLE_A(vector);
    from.part_b = id % 4 ^ SWIZZLE_B(vector);
    return from;
}

/* Adds the residues of the earlier parts of k. */
ISO_INLINE void add_pieces(team_sums *sums, ISO_GLOBAL const iso_u8 *from, iso_i64 pitch, int rows,
                           int cols)
{
    ISO_UNROLL
    for (int r = 0; r < PIECES; r++) {
        if (PIECE_DOWN(r) < rows && PIECE_RIGHT(r) < cols) {
            const ISO_U32X4 old =
                *(ISO_GLOBAL const ISO_U32X4 *)(from + PIECE_DOWN(r) * pitch + PIECE_RIGHT(r));
            const iso_u32 words[4] = {old.x, old.y, old.z, old.w};
            ISO_UNROLL
            for (int j = 0; j < 16; j++) {
                SUM(sums, r, j) += (iso_i32)(words[j / 4] >> (j % 4 * 8) & 0xffu);
            }
        }
    }
}

/* The residue in [0, m); `inverse` is 2^32 / m, rounded down. If the quotient is one too small, the
 * second difference is the residue, else it wraps to a large number. */
ISO_INLINE iso_u32 residue(iso_u32 sum, iso_u32 m, iso_u32 inverse)
{
    const iso_u32 rest = sum - (iso_u32)((iso_u64)sum * inverse >> 32) * m;
    return rest < rest - m ? rest : rest - m;
}

/* Stores the residues of a work-item's sums. */
ISO_INLINE void store_pieces(ISO_GLOBAL iso_u8 *to, iso_i64 pitch, int rows, int cols,
                             const team_sums *sums, iso_u32 m)
{
    const iso_u32 inverse = m == 256u ? 0x1000000u : 0xffffffffu / m;
    ISO_UNROLL
    for (int r = 0; r < PIECES; r++) {
        if (PIECE_DOWN(r) < rows && PIECE_RIGHT(r) < cols) {
            iso_u32 words[4];
            ISO_UNROLL
            for (int i = 0; i < 4; i++) {
                iso_u32 of[4];
                ISO_UNROLL
                for (int j = 0; j < 4; j++) {
                    of[j] = residue((iso_u32)SUM(sums, r, i * 4 + j), m, inverse);
                }
                words[i] = (of[0] + (of[1] << 8)) + ((of[2] + (of[3] << 8)) << 16);
            }
            *(ISO_GLOBAL ISO_U32X4 *)(to + PIECE_DOWN(r) * pitch + PIECE_RIGHT(r)) =
                iso_u32x4(words[0], words[1], words[2], words[3]);
        }
    }
}

/*
 * planes     as in gemm_fixed.cl, in slices
 * residues   [modulus][member][row][column]: bytes; `cols` is a multiple of 16
 * later      1 if there are residues of earlier parts of k, which are added; else they are replaced
 * tasks      tiles of all moduli and members; there are at least as many as groups
 *
 * A group's next tile is copied while the residues of the last one are stored.
 */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
fixed_matrix(ISO_GLOBAL const iso_u8 *planes, iso_i64 a_at, iso_i64 b_at, iso_i64 rows,
             iso_i64 cols, iso_i64 members, iso_i64 pitch, ISO_GLOBAL iso_u8 *residues,
             iso_i64 residues_at, iso_i32 later, iso_i32 tasks)
{
#if defined(ISO_ADDED)
    ISO_SHARED_MORE(ISO_U32X4, shared);
#else
    ISO_SHARED ISO_U32X4 shared[ISO_STAGES * SLICE / 16];
#endif
    const slice_place slices = SLICE_PLACE(shared);
    int id = ISO_LOCAL_ID();
    const int lane = id % ISO_TEAM;
    const int team_row = id / ISO_TEAM / TEAMS_N * TEAM;
    const int team_col = id / ISO_TEAM % TEAMS_N * TEAM;
    /* Where this work-item loads its operands in a slice. */
    const int row = TAKES_A(lane);
    const int col = TAKES_B(lane);
    const int at_a = (team_row + row) * DEPTH + ((HALF_A(lane) ^ SWIZZLE_A(row)) << 4);
    const int at_b = SLICE_A + (team_col + col) * DEPTH + ((HALF_B(lane) ^ SWIZZLE_B(col)) << 4);
    int task = (int)ISO_GROUP_ID();
    tile t = find_tile(task, rows, cols);
    tile_planes from = planes_of(&t, planes + a_at, planes + b_at, rows, cols, pitch, id);
    int left = begin_tile(slices, &from, (int)(pitch / DEPTH));
    while (task < tasks) {
        const iso_u32 m = (iso_u32)modulus(t.matrix / (int)members);
        const int to_row = team_row + PIECE_ROW(lane);
        const int to_col = team_col + PIECE_COL(lane);
        const int to_rows = t.rows - to_row;
        const int to_cols = t.cols - to_col;
        ISO_GLOBAL iso_u8 *const to =
            residues + residues_at + (t.matrix * rows + t.row + to_row) * cols + t.col + to_col;
        team_sums sums;
        ISO_UNROLL
        for (int r = 0; r < PIECES; r++) {
            ISO_UNROLL
            for (int j = 0; j < 16; j++) {
                SUM(&sums, r, j) = (iso_i32)(m << 23); /* so that no sum becomes negative */
            }
        }
        sum_tile(&sums, slices, &from, (int)(pitch / DEPTH), left, at_a, at_b);
        task += (int)ISO_GROUP_COUNT();
        if (task < tasks) {
            t = find_tile(task, rows, cols);
            from = planes_of(&t, planes + a_at, planes + b_at, rows, cols, pitch, id);
            left = begin_tile(slices, &from, (int)(pitch / DEPTH));
        }
        ISO_HIDE(id);
        if (later) {
            add_pieces(&sums, to, cols, to_rows, to_cols);
        }
        store_pieces(to, cols, to_rows, to_cols, &sums, m);
    }
}
