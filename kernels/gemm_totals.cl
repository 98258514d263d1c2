/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_totals.cl - blocked products that continue totals, which are in C. It is compiled after the
 * text that has CELL_ROW and CELL_COL, and before the kernel itself. Such a product has several
 * segments: one segment is added to C by a beta of 1.
 *
 *   ISO_CONTINUES  defined if totals begin with C. It is no argument of kernels, because other
 *                  products would need more registers then
 */
#if defined(ISO_CONTINUES)
#define CONTINUES 1
#else
#define CONTINUES 0
#endif

/* Stores C's elements of a work-item where end_segment and add_kept find its totals. C has m x n
 * elements, and the tile begins at (row0, col0). If segments run `apart`, gemm_join does this. */
ISO_INLINE void begin_totals(int apart, ISO_GLOBAL acc *slot, ISO_GLOBAL const elem *c, iso_i64 ldc,
                             iso_i64 m, iso_i64 n, iso_i64 row0, iso_i64 col0, int id)
{
    if (!CONTINUES || apart) {
        return;
    }
    ISO_HIDE(id);
#pragma unroll 1
    for (int r = 0; r < CELLS; r++) {
        const iso_i64 row = row0 + CELL_ROW(id, r);
        const iso_i64 col = col0 + CELL_COL(id, r);
        acc total = (acc)0;
        if (row < m && col < n) {
            total = iso_load(c, row * ldc + col);
        }
        slot[r * ITEMS + id] = total;
    }
}
