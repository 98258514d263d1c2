/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_waves.cl - what gemm_items.cl is, for products on AMD's matrix units (wave.cl). One
 * instruction adds four products to each of its sums, in ascending order of k and with one rounding
 * for each: so a chain of instructions is the chain of fma of bits.md. Not every unit need do that;
 * unit_wave.cl is the test that a device must pass first.
 *
 * A wave computes WAVE_M x WAVE_N elements of a tile, in parts of 16 x 16. A step of LINES lines is
 * one instruction for each part. A work-item reads its elements of one of the lines, K_OF(id).
 */
#define LINES   4            /* of a step */
#define SHARE_A (ISO_TM / 2) /* elements of A and of B that a work-item takes for a step */
#define SHARE_B (ISO_TN / 2)

#define WAVE_M   (ISO_TM * 8)
#define WAVE_N   (ISO_TN * 8)
#define WAVES_N  (ISO_BN / WAVE_N)
#define LANE(id) ((id) % 64)
#define K_OF(id) (LANE(id) / 16)

/* RUN_M rows and RUN_N columns of a work-item are adjacent, so that one load of 16 bytes has its
 * elements of several parts. ITEM_M and ITEM_N: the place of the first, in vectors or, if a run is
 * 1, in elements. */
#define RUN_M      (SHARE_A % QUAD == 0 ? QUAD : 1)
#define RUN_N      (SHARE_B % QUAD == 0 ? QUAD : 1)
#define ITEM_M(id) ((id) / 64 / WAVES_N * (WAVE_M / RUN_M) + (id) % 16)
#define ITEM_N(id) ((id) / 64 % WAVES_N * (WAVE_N / RUN_N) + (id) % 16)

/* Row and column `i`, of 16, of part `u` of a wave. */
#define PLACE(run, u, i) ((u) / (run) * (16 * (run)) + (i) * (run) + (u) % (run))
#define ROW(id, u, r)    ((id) / 64 / WAVES_N * WAVE_M + PLACE(RUN_M, u, ISO_WAVE_ROW(LANE(id), r)))
#define COL(id, v)       ((id) / 64 % WAVES_N * WAVE_N + PLACE(RUN_N, v, (id) % 16))
/* Sum r is number r % 4 of part r / 4: parts row by row. */
#define CELL_ROW(id, r) ROW(id, (r) / 4 / SHARE_B, (r) % 4)
#define CELL_COL(id, r) COL(id, (r) / 4 % SHARE_B)

/* The place of a work-item's share of line K_OF(id) in half `side` of shared memory. */
#define AT_A(side) (item_m + (side) * (ISO_BM * ISO_BK / RUN_M))
#define AT_B(side) (item_n + (side) * (ISO_BN * ISO_BK / RUN_N))

#define TAKE_BOTH(to_a, to_b, line)                                                                \
    {                                                                                              \
        const int own = (line) + K_OF(id);                                                         \
        TAKE(ISO_BM, SHARE_A, RUN_M, 16, to_a, shared_a, at_a, own)                                \
        TAKE(ISO_BN, SHARE_B, RUN_N, 16, to_b, shared_b, at_b, own)                                \
    }

/* Terms beyond the last are (+0) (-0): they change no sum, not even -0. */
#define PAD_BOTH(to_a, to_b, line, lines)                                                          \
    if ((line) + K_OF(id) >= (lines)) {                                                            \
        ISO_UNROLL for (int u = 0; u < SHARE_A; u++)                                               \
        {                                                                                          \
            (to_a)[u] = (acc)0;                                                                    \
        }                                                                                          \
        ISO_UNROLL for (int v = 0; v < SHARE_B; v++)                                               \
        {                                                                                          \
            (to_b)[v] = -(acc)0;                                                                   \
        }                                                                                          \
    }

ISO_INLINE void multiply(acc *sum, const acc *fa, const acc *fb)
{
    ISO_UNROLL
    for (int u = 0; u < SHARE_A; u++) {
        ISO_UNROLL
        for (int v = 0; v < SHARE_B; v++) {
            ISO_WAVE(sum + (u * SHARE_B + v) * 4, fa[u], fb[v]);
        }
    }
}

#if WIDE == QUAD
/* Stores the QUAD adjacent elements from c[at] on; sum[0], sum[4] and so on are theirs. */
ISO_INLINE void store_quad(ISO_GLOBAL elem *c, iso_i64 at, const acc *sum, acc alpha, acc beta)
{
    acc each[QUAD];
    if (beta == (acc)0) {
        ISO_UNROLL
        for (int e = 0; e < QUAD; e++) {
            each[e] = alpha * sum[4 * e];
        }
    } else {
        const quad q = *(ISO_GLOBAL const quad *)(c + at);
        QUAD_GET(q, each);
        ISO_UNROLL
        for (int e = 0; e < QUAD; e++) {
            const acc old = beta * each[e];
            each[e] = acc_fma(alpha, sum[4 * e], old);
        }
    }
    *(ISO_GLOBAL quad *)(c + at) = QUAD_OF(each);
}
#endif

/* Stores one row of a work-item's part of a tile, which has `cols` columns; sum[4 * v] is that of
 * part v. */
ISO_INLINE void store_row(ISO_GLOBAL elem *c, iso_i64 line, int cols, int id, int wide,
                          const acc *sum, acc alpha, acc beta)
{
    (void)wide;
    ISO_UNROLL
    for (int v = 0; v < SHARE_B; v += RUN_N) {
        const int col = COL(id, v);
#if WIDE == QUAD
        if (RUN_N > 1 && wide) {
            store_quad(c, line + col, sum + 4 * v, alpha, beta);
            continue;
        }
#endif
        ISO_UNROLL
        for (int e = 0; e < RUN_N; e++) {
            if (col + e < cols) {
                iso_finish(c, line + col + e, sum[4 * (v + e)], alpha, beta);
            }
        }
    }
}

/* Stores a work-item's part of a tile. The tile begins at c_tile and has `rows` x `cols` elements.
 */
ISO_INLINE void store_tile(ISO_GLOBAL elem *c, iso_i64 c_tile, iso_i64 ldc, int rows, int cols,
                           int id, int item_m, int item_n, int wide_c, const acc *sum, acc alpha,
                           acc beta)
{
    (void)item_m;
    (void)item_n;
    ISO_UNROLL
    for (int u = 0; u < SHARE_A; u++) {
        ISO_UNROLL
        for (int r = 0; r < 4; r++) {
            const int row = ROW(id, u, r);
            if (row < rows) {
                store_row(c, c_tile + row * ldc, cols, id, wide_c && cols == ISO_BN,
                          sum + u * SHARE_B * 4 + r, alpha, beta);
            }
        }
    }
}
