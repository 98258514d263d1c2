/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_core.cl - the blocked product on processors, where a group is one work-item that has a core
 * to itself. It computes tiles of ISO_BM x ISO_BN elements of C. Slices of A and B that are ISO_BK
 * long in k are copied to memory that stays in the core's caches (gemm_blocks.cl). Bits, arguments
 * and flags are those of gemm_tiled.cl; the flags of aligned vectors are not used.
 */
/* Ends a segment that is not the last one. */
ISO_INLINE void add_segment(ISO_SHARED_AT acc *sum, ISO_GLOBAL acc *slot, int is_first)
{
    for (int r = 0; r < CELLS; r++) {
        slot[r] = is_first ? sum[r] : slot[r] + sum[r];
        sum[r] = (acc)0;
    }
}

ISO_KERNEL(ISO_THREADS)
gemm_core(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
          ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 ldb, iso_i64 stride_b, ISO_GLOBAL elem *c,
          iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work, iso_i64 work_at,
          iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch, acc alpha, acc beta, iso_i32 flags)
{
    ISO_SHARED acc slice_a[ISO_BM * ISO_BK];
    ISO_SHARED acc slice_b[ISO_BN * ISO_BK];
    ISO_SHARED acc sum[ISO_BM * ISO_BN];
    const int along_k_a = flags & 8;
    const int along_k_b = flags & 16;
    const int apart = flags & 32;
    const iso_i64 tiles_m = (m + ISO_BM - 1) / ISO_BM;
    const iso_i64 tiles_n = (n + ISO_BN - 1) / ISO_BN;
    const iso_i64 tiles = tiles_m * tiles_n * batch;
    const iso_i64 units = apart ? (k + SEGMENT - 1) / SEGMENT * tiles : tiles;
    for (iso_i64 unit = ISO_GROUP_ID(); unit < units; unit += ISO_GROUP_COUNT()) {
        const iso_i64 segment = unit / tiles;
        const iso_i64 tile = unit - segment * tiles;
        const iso_i64 member = tile / (tiles_m * tiles_n);
        const iso_i64 k_from = segment * SEGMENT;
        const iso_i64 k_to = apart && k - k_from > SEGMENT ? k_from + SEGMENT : k;
        iso_i64 tile_m, tile_n;
        tile_place(tile - member * (tiles_m * tiles_n), tiles_m, tiles_n, &tile_m, &tile_n);
        const iso_i64 row0 = tile_m * ISO_BM;
        const iso_i64 col0 = tile_n * ISO_BN;
        const int rows = (int)(m - row0 < ISO_BM ? m - row0 : ISO_BM);
        const int cols = (int)(n - col0 < ISO_BN ? n - col0 : ISO_BN);
        ISO_GLOBAL acc *slot = work + work_at + (apart ? unit : ISO_GROUP_ID()) * CELLS;
        int first_segment = !CONTINUES;
        for (int r = 0; r < CELLS; r++) {
            sum[r] = (acc)0;
        }
        if (k > SEGMENT) {
            begin_totals(apart, slot, c + (c_at + member * stride_c), ldc, m, n, row0, col0, 0);
        }
        for (iso_i64 k0 = k_from; k0 < k_to; k0 += ISO_BK) {
            const int terms = (int)(k_to - k0 < ISO_BK ? k_to - k0 : ISO_BK);
            if (k0 > k_from && k0 % SEGMENT == 0) {
                add_segment(sum, slot, first_segment);
                first_segment = 0;
            }
            copy_slice(
                slice_a,
                a + (a_at + member * stride_a + (along_k_a ? row0 * lda + k0 : row0 + k0 * lda)),
                lda, along_k_a, rows, terms, DOWN);
            copy_slice(
                slice_b,
                b + (b_at + member * stride_b + (along_k_b ? col0 * ldb + k0 : col0 + k0 * ldb)),
                ldb, along_k_b, cols, terms, ACROSS);
            for (int j = 0; j < cols; j += ACROSS) {
                for (int i = 0; i < rows; i += DOWN) {
                    multiply(sum + i * ISO_BN + j, slice_a + i * ISO_BK, slice_b + j * ISO_BK,
                             terms);
                }
            }
        }
        if (apart) {
            for (int r = 0; r < CELLS; r++) {
                slot[r] = sum[r];
            }
            continue;
        }
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < cols; j++) {
                const int r = i * ISO_BN + j;
                iso_finish(c, c_at + member * stride_c + (row0 + i) * ldc + col0 + j,
                           k > SEGMENT ? slot[r] + sum[r] : sum[r], alpha, beta);
            }
        }
    }
}
