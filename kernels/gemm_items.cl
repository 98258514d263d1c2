/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_items.cl - what a work-item of a blocked product (gemm_tiled.cl) computes by its own fma:
 * ISO_TM x ISO_TN elements of C, one line of a slice in each step.
 */
#define LINES   1      /* of a step */
#define SHARE_A ISO_TM /* elements of A and of B that a work-item takes for a step */
#define SHARE_B ISO_TN

/* The row and the column of a work-item, when a group is arranged as a matrix of work-items. The
 * work-items of a warp form 4 rows of 8, ordered so that neighbours read few different words. */
#define ITEMS_M (ISO_BM / ISO_TM)
#define ITEMS_N (ISO_BN / ISO_TN)
#if ITEMS_M % 4 == 0 && ITEMS_N % 8 == 0
#define ITEM_M(id) ((id) / 32 / (ITEMS_N / 8) * 4 + ((id) & 1) + ((id) >> 3 & 2))
#define ITEM_N(id) ((id) / 32 % (ITEMS_N / 8) * 8 + ((id) >> 1 & 7))
#else
#define ITEM_M(id) ((id) / ITEMS_N)
#define ITEM_N(id) ((id) % ITEMS_N)
#endif

/* ROW and COL map each of a work-item's registers to its place in the tile. RUN_M and RUN_N
 * successive registers are adjacent in the tile too, so that they fill vectors. */
#define RUN_M           (ISO_TM % QUAD == 0 ? QUAD : 1)
#define RUN_N           (ISO_TN % QUAD == 0 ? QUAD : 1)
#define ROW(r, i)       ((i) / RUN_M * (ITEMS_M * RUN_M) + (r) * RUN_M + (i) % RUN_M)
#define COL(c, j)       ((j) / RUN_N * (ITEMS_N * RUN_N) + (c) * RUN_N + (j) % RUN_N)
#define CELL_ROW(id, r) ROW(ITEM_M(id), (r) / ISO_TN)
#define CELL_COL(id, r) COL(ITEM_N(id), (r) % ISO_TN)

#define TAKE_BOTH(to_a, to_b, line)                                                                \
    {                                                                                              \
        TAKE(ISO_BM, ISO_TM, RUN_M, ITEMS_M, to_a, shared_a, at_a, line)                           \
        TAKE(ISO_BN, ISO_TN, RUN_N, ITEMS_N, to_b, shared_b, at_b, line)                           \
    }
#define PAD_BOTH(to_a, to_b, line, lines) /* a line has no terms beyond the last */

ISO_INLINE void multiply(acc *sum, const acc *fa, const acc *fb)
{
    ISO_UNROLL
    for (int i = 0; i < ISO_TM; i++) {
        ISO_UNROLL
        for (int j = 0; j < ISO_TN; j++) {
            sum[i * ISO_TN + j] = acc_fma(fa[i], fb[j], sum[i * ISO_TN + j]);
        }
    }
}

/* Place of a work-item's share of line 0 in half `side` of shared memory. */
#define AT_A(side) (item_m + (side) * (ISO_BM * ISO_BK / (RUN_M > 1 ? QUAD : 1)))
#define AT_B(side) (item_n + (side) * (ISO_BN * ISO_BK / (RUN_N > 1 ? QUAD : 1)))

/* Stores one row of a work-item's part of C, in whole vectors. */
#if WIDE == QUAD
ISO_INLINE void store_wide(ISO_GLOBAL elem *c, iso_i64 line, int item_n, const acc *sum, acc alpha,
                           acc beta)
{
    ISO_UNROLL
    for (int j = 0; j < ISO_TN; j += QUAD) {
        ISO_GLOBAL quad *at = (ISO_GLOBAL quad *)(c + line + COL(item_n, j));
        acc each[QUAD];
        if (beta == (acc)0) {
            ISO_UNROLL
            for (int e = 0; e < QUAD; e++) {
                each[e] = alpha * sum[(j + e) % ISO_TN];
            }
        } else {
            const quad q = *at;
            QUAD_GET(q, each);
            ISO_UNROLL
            for (int e = 0; e < QUAD; e++) {
                const acc old = beta * each[e];
                each[e] = acc_fma(alpha, sum[(j + e) % ISO_TN], old);
            }
        }
        *at = QUAD_OF(each);
    }
}
#endif

/* Stores a work-item's part of a tile. The tile begins at c_tile and has `rows` x `cols` elements.
 */
ISO_INLINE void store_tile(ISO_GLOBAL elem *c, iso_i64 c_tile, iso_i64 ldc, int rows, int cols,
                           int id, int item_m, int item_n, int wide_c, const acc *sum, acc alpha,
                           acc beta)
{
    (void)id;
    (void)wide_c;
    ISO_UNROLL
    for (int i = 0; i < ISO_TM; i++) {
        if (ROW(item_m, i) < rows) {
            const iso_i64 line = c_tile + ROW(item_m, i) * ldc;
#if WIDE == QUAD
            if (wide_c && RUN_N > 1 && cols == ISO_BN) {
                store_wide(c, line, item_n, sum + i * ISO_TN, alpha, beta);
                continue;
            }
#endif
            ISO_UNROLL
            for (int j = 0; j < ISO_TN; j++) {
                if (COL(item_n, j) < cols) {
                    iso_finish(c, line + COL(item_n, j), sum[i * ISO_TN + j], alpha, beta);
                }
            }
        }
    }
}
