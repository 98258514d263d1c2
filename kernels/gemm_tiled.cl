/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_tiled.cl - the blocked product. A group computes tiles of ISO_BM x ISO_BN elements of C,
 * each work-item ISO_TM x ISO_TN of them in registers. Slices of A and B that are ISO_BK long in k
 * are kept in shared memory, as [k][row] and [k][column]. While one slice is multiplied, the next
 * is loaded from global memory into registers. The tiling never changes a bit of the result: every
 * element is a chain of fma over ascending k. A new chain starts at every 1024th k (a segment), and
 * the segments' sums are added in order.
 *
 * A and B are treated alike, as operands with an outer index (a row of A, a column of B) and k. One
 * of the two is contiguous in memory: ISO_KA and ISO_KB are 1 if k is, 0 if the outer index is, and
 * 2 if kernel arguments say which.
 *
 * Texts that are compiled before this one: gemm_slices.cl moves the slices. gemm_items.cl or
 * gemm_waves.cl says what a work-item reads of a slice, multiplies LINES lines at once, and stores
 * the sums. gemm_totals.cl begins with the totals of earlier terms.
 *
 * If the loop over a slice's lines is unrolled, AMD's compilers start the loads of all lines at
 * once, run out of registers and spill. For them the loop is not unrolled, unless it has few steps.
 * AMD's devices keep values that all work-items share in scalar registers, of which there are about
 * a hundred. That is too few if layouts are only known at run time. SET_ASIDE then keeps values
 * that are needed only at the end of a tile in vector registers.
 */
#if ISO_LEAN && LINES == 1 && !defined(ISO_ROLLED)
#define ISO_ROLLED 1
#endif
#define STEPS (ISO_BK / LINES)
#if defined(__AMDGCN__) && ISO_KA == 2
#define SET_ASIDE(value) ISO_HIDE(value)
#else
#define SET_ASIDE(value) ((void)0)
#endif

/*
 * Bits of flags:
 *
 *   1, 2, 4   the vectors of A, B, C are aligned to 16 bytes, and none ends outside the operand
 *   8, 16     A, B is contiguous along k
 *   32        the segments run in parallel and write their sums to `work`, for gemm_join
 *
 * Without bit 32, `work` holds a tile of sums for each group, if k is more than one segment.
 */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemm_tiled(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
           ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 ldb, iso_i64 stride_b,
           ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work,
           iso_i64 work_at, iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch, acc alpha, acc beta,
           iso_i32 flags)
{
    ISO_SHARED quad shared_a[2 * ISO_BM * ISO_BK / QUAD];
    ISO_SHARED quad shared_b[2 * ISO_BN * ISO_BK / QUAD];
    ISO_NEXT_MAY_BEGIN();
    int id = ISO_LOCAL_ID();
    const int item_m = ITEM_M(id);
    const int item_n = ITEM_N(id);
    const int wide_a = flags & 1;
    const int wide_b = flags & 2;
    const int wide_c = flags & 4;
    const int along_k_a = flags & 8;
    const int along_k_b = flags & 16;
    const int apart = flags & 32;
    const iso_i64 tiles_m = (m + ISO_BM - 1) / ISO_BM;
    const iso_i64 tiles_n = (n + ISO_BN - 1) / ISO_BN;
    const iso_i64 tiles = tiles_m * tiles_n * batch;
    const iso_i64 units = apart ? (k + SEGMENT - 1) / SEGMENT * tiles : tiles;
    SET_ASIDE(alpha);
    SET_ASIDE(c_at);
    SET_ASIDE(ldc);
    SET_ASIDE(stride_c);
    (void)along_k_a;
    (void)along_k_b;
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
        ISO_GLOBAL acc *slot = work + work_at + (apart ? unit : ISO_GROUP_ID()) * (ISO_BM * ISO_BN);
        acc sum[ISO_TM * ISO_TN];
        ISO_UNROLL
        for (int r = 0; r < ISO_TM * ISO_TN; r++) {
            sum[r] = (acc)0;
        }
        if (k_from < k_to) {
            ISO_GLOBAL const elem *base_a = a + a_at + member * stride_a;
            ISO_GLOBAL const elem *base_b = b + b_at + member * stride_b;
            ISO_GLOBAL const elem *from_a[MOVES_A];
            ISO_GLOBAL const elem *from_b[MOVES_B];
            wide next_a[MOVES_A];
            wide next_b[MOVES_B];
            acc fa[2][SHARE_A];
            acc fb[2][SHARE_B];
            const int rest = (int)((k_to - k_from) % ISO_BK);
            iso_i64 left = (k_to - k_from) / ISO_BK; /* whole slices not yet multiplied */
            iso_i64 next_k = k_from;
            int turn = 0;
            int lines = 0; /* lines of the segment already multiplied */
            int first_segment = !CONTINUES;
            int at_a = AT_A(0);
            int at_b = AT_B(0);
            begin_totals(apart, slot, c + (c_at + member * stride_c), ldc, m, n, row0, col0, id);
            AIM(ISO_BM, MOVES_A, from_a, base_a, row0, m, lda, ALONG_K_A)
            AIM(ISO_BN, MOVES_B, from_b, base_b, col0, n, ldb, ALONG_K_B)
            FETCH_BOTH(next_k, left > 0)
            PUT_BOTH(0)
            ISO_BARRIER();
#if !defined(ISO_ROLLED)
            TAKE_BOTH(fa[0], fb[0], 0)
#endif
            while (left > 0) {
                const int more = left > 1 || rest > 0;
                next_k += ISO_BK;
                if (more) {
                    FETCH_BOTH(next_k, left > 1)
                }
#if defined(ISO_ROLLED) /* for processors that gain nothing from unrolling: compiles faster */
#if ISO_LEAN
#pragma unroll 1
#endif
                for (int line = 0; line < ISO_BK; line += LINES) {
                    TAKE_BOTH(fa[0], fb[0], line)
                    multiply(sum, fa[0], fb[0]);
                }
#else
                ISO_UNROLL
                for (int step = 0; step < STEPS - 1; step++) {
                    TAKE_BOTH(fa[(step + 1) % 2], fb[(step + 1) % 2], (step + 1) * LINES)
                    multiply(sum, fa[step % 2], fb[step % 2]);
                }
#endif
                turn ^= 1;
                at_a = AT_A(turn);
                at_b = AT_B(turn);
                if (more) {
                    PUT_BOTH(turn)
                }
                ISO_BARRIER();
#if !defined(ISO_ROLLED)
                /* The next slice's first step is loaded while this slice's last is multiplied. */
                TAKE_BOTH(fa[0], fb[0], 0)
                multiply(sum, fa[(STEPS - 1) % 2], fb[(STEPS - 1) % 2]);
#endif
                left--;
                lines += ISO_BK;
                if (lines == SEGMENT && more) { /* never if segments run in parallel */
                    end_segment(sum, slot, id, first_segment);
                    first_segment = 0;
                    lines = 0;
                }
            }
            for (int line = 0; line < rest; line += LINES) {
                TAKE_BOTH(fa[0], fb[0], line)
                PAD_BOTH(fa[0], fb[0], line, rest)
                multiply(sum, fa[0], fb[0]);
            }
            ISO_BARRIER();
        }
        ISO_HIDE(id);
        if (apart) {
            keep(slot, sum, id);
            continue;
        }
        if (k > SEGMENT) {
            add_kept(sum, slot, id);
        }
        store_tile(c, c_at + member * stride_c + row0 * ldc + col0, ldc,
                   (int)(m - row0 < ISO_BM ? m - row0 : ISO_BM),
                   (int)(n - col0 < ISO_BN ? n - col0 : ISO_BN), id, item_m, item_n, wide_c, sum,
                   alpha, beta);
    }
}
