/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_join.cl - adds, in order, the sums of segments that a blocked product wrote to `work`. The
 * text before it has CELL_ROW and CELL_COL: row and column, within the tile, of a work-item's sum.
 *
 * Each work-item adds the sums of one element at a time. If scratch memory cannot hold all
 * segments, this kernel runs once per round. A round covers a length of `k`, and totals are kept at
 * total_at between rounds. Bits of flags: 1 if there are totals from earlier rounds; 2 if this is
 * the last round, whose totals are written to C. With ISO_CONTINUES, totals begin with C.
 */
ISO_KERNEL(ISO_THREADS)
gemm_join(ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work,
          iso_i64 work_at, iso_i64 total_at, iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch,
          acc alpha, acc beta, iso_i32 flags)
{
    ISO_AFTER_PREVIOUS();
    const int id = ISO_LOCAL_ID();
    const iso_i64 tiles_m = (m + ISO_BM - 1) / ISO_BM;
    const iso_i64 tiles_n = (n + ISO_BN - 1) / ISO_BN;
    const iso_i64 segments = (k + SEGMENT - 1) / SEGMENT;
    const iso_i64 tiles = tiles_m * tiles_n * batch;
    const iso_i64 last = flags >> 2 ? (iso_i64)(flags >> 2) : tiles;
    const iso_i64 step = last * (ISO_BM * ISO_BN); /* distance between segments */
    for (iso_i64 part = ISO_GROUP_ID(); part < last * CELLS; part += ISO_GROUP_COUNT()) {
        const int r = (int)(part % CELLS);
        const iso_i64 tile = tiles - last + part / CELLS;
        const iso_i64 member = tile / (tiles_m * tiles_n);
        const iso_i64 within = tile - member * (tiles_m * tiles_n);
        iso_i64 tile_m, tile_n;
        tile_place(within, tiles_m, tiles_n, &tile_m, &tile_n);
        const iso_i64 row = tile_m * ISO_BM + CELL_ROW(id, r);
        const iso_i64 col = tile_n * ISO_BN + CELL_COL(id, r);
        if (row < m && col < n && id < ITEMS) {
            ISO_GLOBAL const acc *from =
                work + work_at + part / CELLS * (ISO_BM * ISO_BN) + r * ITEMS + id;
            ISO_GLOBAL acc *kept = work + total_at + part * ITEMS + id;
#if CONTINUES
            iso_i64 s = 0;
            acc total =
                (flags & 1) ? *kept : iso_load(c, c_at + member * stride_c + row * ldc + col);
#else
            iso_i64 s = (flags & 1) ? 0 : 1;
            acc total = (flags & 1) ? *kept : from[0];
#endif
            for (; s + 8 <= segments; s += 8) { /* eight loads in flight */
                acc next[8];
                ISO_UNROLL for (int e = 0; e < 8; e++)
                {
                    next[e] = from[(s + e) * step];
                }
                ISO_UNROLL for (int e = 0; e < 8; e++)
                {
                    total += next[e];
                }
            }
            for (; s < segments; s++) {
                total += from[s * step];
            }
            if (flags & 2) {
                iso_finish(c, c_at + member * stride_c + row * ldc + col, total, alpha, beta);
            } else {
                *kept = total;
            }
        }
    }
}
