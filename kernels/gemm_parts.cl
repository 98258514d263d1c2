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

/* A group computes whole tiles, then segments of the last tiles: the first segments of all of them,
 * then the second ones, and so on. */
typedef struct tile_work {
    iso_i64 member, row0, col0, first_k, length; /* length: along k */
    iso_i64 slot;                                /* of a segment: where its sums go; else -1 */
    int rows, cols;
} tile_work;

typedef struct all_work {
    iso_i64 m, n, k, tiles_m, tiles_n, tiles;
    iso_i64 whole; /* tiles */
} all_work;

ISO_INLINE iso_i64 units_of(const all_work *all)
{
    return all->whole + (all->tiles - all->whole) * ((all->k + SEGMENT - 1) / SEGMENT);
}

ISO_INLINE tile_work work_of(iso_i64 unit, const all_work *all)
{
    const int is_whole = unit < all->whole;
    const iso_i64 last = is_whole ? 1 : all->tiles - all->whole;
    const iso_i64 slot = is_whole ? -1 : unit - all->whole;
    const iso_i64 segment = is_whole ? 0 : slot / last;
    const iso_i64 tile = is_whole ? unit : all->whole + (slot - segment * last);
    const iso_i64 member = tile / (all->tiles_m * all->tiles_n);
    const iso_i64 left = all->k - segment * SEGMENT;
    iso_i64 tile_m, tile_n;
    tile_place(tile - member * (all->tiles_m * all->tiles_n), all->tiles_m, all->tiles_n, &tile_m,
               &tile_n);
    tile_work work;
    work.member = member;
    work.row0 = tile_m * ISO_BM;
    work.col0 = tile_n * ISO_BN;
    work.first_k = segment * SEGMENT;
    work.length = is_whole || left < SEGMENT ? left : SEGMENT;
    work.slot = slot;
    work.rows = (int)(all->m - work.row0 < ISO_BM ? all->m - work.row0 : ISO_BM);
    work.cols = (int)(all->n - work.col0 < ISO_BN ? all->n - work.col0 : ISO_BN);
    return work;
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
