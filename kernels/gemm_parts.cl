/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_parts.cl - what the blocked products have in common: segments, the order of tiles, sums in
 * scratch memory, and the value that is stored. It is compiled before the kernel itself, and
 * gemm_join.cl after it. Of a group's work-items the last ISO_COPIERS, if that is defined, have no
 * elements of C.
 */
#if !defined(ISO_COPIERS)
#define ISO_COPIERS 0
#endif
#define ITEMS   (ISO_THREADS - ISO_COPIERS) /* work-items that have elements of C */
#define SEGMENT 1024
#define CELLS   (ISO_TM * ISO_TN) /* elements of C of a work-item */

/* Neighbouring tiles run at the same time: rows of tiles are processed RASTER at a time, so that
 * running groups read few different parts of A and B. */
#define RASTER 8

ISO_INLINE void tile_place(iso_i64 tile, iso_i64 tiles_m, iso_i64 tiles_n, iso_i64 *tile_m,
                           iso_i64 *tile_n)
{
    const iso_i64 band = tile / (RASTER * tiles_n);
    const iso_i64 within = tile - band * (RASTER * tiles_n);
    const iso_i64 left = tiles_m - band * RASTER;
    const iso_i64 high = left < RASTER ? left : RASTER;
    *tile_n = within / high;
    *tile_m = band * RASTER + within - *tile_n * high;
}

/* keep stores a work-item's sums in scratch memory, and add_kept adds the stored sums to new ones.
 * The sums of a group are adjacent in memory, so that whole cache lines are moved. */
ISO_INLINE void add_kept(acc *sum, ISO_GLOBAL const acc *slot, int id)
{
    ISO_UNROLL
    for (int r = 0; r < CELLS; r++) {
        sum[r] = slot[r * ITEMS + id] + sum[r];
    }
}
ISO_INLINE void keep(ISO_GLOBAL acc *slot, const acc *sum, int id)
{
    ISO_UNROLL
    for (int r = 0; r < CELLS; r++) {
        slot[r * ITEMS + id] = sum[r];
    }
}

/* Ends a segment that is not the last one. Loads and stores share one loop, because AMD's compilers
 * would start all loads of a separate loop at once. */
ISO_INLINE void end_segment(acc *sum, ISO_GLOBAL acc *slot, int id, int is_first)
{
    ISO_HIDE(id);
    ISO_UNROLL
    for (int r = 0; r < CELLS; r++) {
        if (!is_first) {
            sum[r] = slot[r * ITEMS + id] + sum[r];
        }
        slot[r * ITEMS + id] = sum[r];
        sum[r] = (acc)0;
    }
}
