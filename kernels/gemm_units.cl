/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_units.cl - what the blocked products of f64 on matrix units have in common: which work-item
 * has which elements, where slices of A and B are in shared memory, and how tiles are stored. It is
 * compiled before gemm_matrix.cl or gemm_split.cl.
 *
 * A group computes tiles of ISO_BM x ISO_BN elements of C. A team is the ISO_TEAM work-items that
 * execute an instruction together. It computes TEAM_M x TEAM_N of the elements, whose sums stay in
 * registers for a whole segment. Slices of A and B that are ISO_BK long in k are in ISO_STAGES
 * places in shared memory. Copies bypass registers.
 *
 * ISO_KA and ISO_KB are 1 if k is the contiguous index of A or B, 0 if the outer index is.
 */
#define ISO_STAGES (ISO_WAIT + 2)

#define TEAM_M  (ISO_TM * 8)
#define TEAM_N  (ISO_TN * 4)
#define TEAMS_N (ISO_BN / TEAM_N)
#define UNITS_M (TEAM_M / 16) /* parts of 16 x 8 elements, which are one instruction's */
#define UNITS_N (TEAM_N / 8)

/* What work-item `lane` of a team has of a part's operands: the element at k = K_OF. Its sums are
 * in two rows and two columns. */
#define LANE(id)     ((id) % ISO_TEAM)
#define K_OF(lane)   ((lane) % 4)
#define PAIR(lane)   ((lane) / 4)
#define TEAM_ROW(id) ((id) / ISO_TEAM / TEAMS_N * TEAM_M)
#define TEAM_COL(id) ((id) / ISO_TEAM % TEAMS_N * TEAM_N)

/* Sum r is number r % 4 of part r / 4: row by row of 2 x 2. Rows are assigned to parts in pairs, so
 * that one load of 16 bytes has both rows of A that a work-item needs in a part. So are columns,
 * for B's in two parts, if an instruction takes one step of k; if it takes more, its columns are
 * loaded one by one into adjacent registers, and are in order. NEIGHBOUR is the distance of the sum
 * in the next column. */
#define CELL_ROW(id, r) (TEAM_ROW(id) + (r) / (4 * UNITS_N) * 16 + PAIR(LANE(id)) * 2 + (r) / 2 % 2)
#if ISO_COPIERS
#define CELL_COL(id, r) (TEAM_COL(id) + (r) / 4 % UNITS_N * 8 + K_OF(LANE(id)) * 2 + (r) % 2)
#define CELL_OF_PAIR(i) ((i) * 2)
#define NEIGHBOUR       1
#else
#define CELL_COL(id, r)                                                                            \
    (TEAM_COL(id) + (r) / 8 % (UNITS_N / 2) * 16 + (K_OF(LANE(id)) * 2 + (r) % 2) * 2 + (r) / 4 % 2)
#define CELL_OF_PAIR(i) ((i) / 4 * 8 + (i) % 4)
#define NEIGHBOUR       4
#endif

/*
 * Line k of a slice has the elements in order, except that their pairs are permuted: pair p is at p
 * ^ SWIZZLE(k). The loads of a team then use each bank of shared memory equally often: eight
 * work-items that load 16 bytes at once differ in k by 0 to 3 and in the pair by 0 or 1. So do the
 * copies along k: sixteen work-items differ in k by 0 to 7 and in the row by 0 or 1.
 */
#define SWIZZLE(k)            (((k) & 3) << 1 | ((k) >> 2 & 1))
#define PLACE(size, k, outer) ((k) * (size) + (((outer) / 2 ^ SWIZZLE(k)) * 2 | (outer) % 2))

#define SLICE_A (ISO_BM * ISO_BK)
#define SLICE   (SLICE_A + ISO_BN * ISO_BK)
#define BYTES   8 /* of an element */

/* Where element (k, outer) of an operand is in memory. */
#define AT(along_k, ld, outer, k) ((along_k) ? (outer) * (ld) + (k) : (outer) + (k) * (ld))

/* Stores a tile of which no element is outside C, in aligned pairs. */
ISO_INLINE void store_whole(ISO_GLOBAL elem *c, iso_i64 ldc, const acc *sum, acc alpha, acc beta,
                            int id)
{
    ISO_GLOBAL elem *const first = c + (CELL_ROW(id, 0) * ldc + CELL_COL(id, 0));
    if (beta == (acc)0) {
        ISO_UNROLL
        for (int i = 0; i < CELLS / 2; i++) {
            const int r = CELL_OF_PAIR(i);
            ISO_GLOBAL elem *const at = first + (CELL_ROW(0, r) * ldc + CELL_COL(0, r));
            *(ISO_GLOBAL ISO_F64X2 *)at = iso_f64x2(alpha * sum[r], alpha * sum[r + NEIGHBOUR]);
        }
        return;
    }
    ISO_UNROLL
    for (int i = 0; i < CELLS / 2; i++) {
        const int r = CELL_OF_PAIR(i);
        ISO_GLOBAL elem *const at = first + (CELL_ROW(0, r) * ldc + CELL_COL(0, r));
        const ISO_F64X2 old = *(ISO_GLOBAL const ISO_F64X2 *)at;
        const acc x = beta * old.x;
        const acc y = beta * old.y;
        *(ISO_GLOBAL ISO_F64X2 *)at =
            iso_f64x2(acc_fma(alpha, sum[r], x), acc_fma(alpha, sum[r + NEIGHBOUR], y));
    }
}

ISO_INLINE void store_tile(ISO_GLOBAL elem *c, iso_i64 c_tile, iso_i64 ldc, int rows, int cols,
                           int wide_c, const acc *sum, acc alpha, acc beta, int id)
{
    if (wide_c && rows == ISO_BM && cols == ISO_BN) {
        store_whole(c + c_tile, ldc, sum, alpha, beta, id);
        return;
    }
    ISO_UNROLL
    for (int r = 0; r < CELLS; r++) {
        const int row = CELL_ROW(id, r);
        const int col = CELL_COL(id, r);
        if (row < rows && col < cols) {
            iso_finish(c, c_tile + row * ldc + col, sum[r], alpha, beta);
        }
    }
}
