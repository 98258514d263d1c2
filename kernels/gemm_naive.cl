/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_naive.cl - the textbook product: one element of C per work-item. Element (i, p) of A is
 * a[a_at + i * a_row + p * a_col]; the next matrix of a batch begins stride_a elements later. B and
 * C are addressed in the same way.
 *
 * A group computes a block of `down` x `across` elements, so that its work-items read the same rows
 * of A and columns of B. A long row alone would share nothing of B. With `wide`, rows of A begin at
 * multiples of 16 bytes, and are read in words of that size.
 *
 *   NAIVE_ACROSS   the most columns of a block
 *   NAIVE_LOOPS    defined if a group runs as a loop, which is fastest along a row of B
 *   ISO_CONTINUES  defined if totals begin with C
 */
#define SEGMENT 1024
#define AHEAD   4 /* words of A that are read, with their elements of B, before the first is used */

#if defined(NAIVE_LOOPS)
/* no words */
#elif ISO_DTYPE == ISO_F32
typedef ISO_F32X4 word;
#define WORD 4
#define SPLIT(w, to)                                                                               \
    (to)[0] = (w).x;                                                                               \
    (to)[1] = (w).y;                                                                               \
    (to)[2] = (w).z;                                                                               \
    (to)[3] = (w).w
#elif ISO_DTYPE == ISO_F64
typedef ISO_F64X2 word;
#define WORD 2
#define SPLIT(w, to)                                                                               \
    (to)[0] = (w).x;                                                                               \
    (to)[1] = (w).y
#endif

#if defined(WORD)
#define STEPS (AHEAD * WORD)

/* Continues a chain over STEPS terms. */
ISO_INLINE acc add_words(ISO_GLOBAL const elem *a, iso_i64 at_a, ISO_GLOBAL const elem *b,
                         iso_i64 at_b, iso_i64 b_row, acc sum)
{
    elem left[STEPS], right[STEPS];
    ISO_UNROLL
    for (int i = 0; i < AHEAD; i++) {
        const word w = *(ISO_GLOBAL const word *)(a + at_a + i * WORD);
        SPLIT(w, left + i * WORD);
    }
    ISO_UNROLL
    for (int i = 0; i < STEPS; i++) {
        right[i] = b[at_b + i * b_row];
    }
    ISO_UNROLL
    for (int i = 0; i < STEPS; i++) {
        sum = acc_fma(left[i], right[i], sum);
    }
    return sum;
}
#endif

ISO_KERNEL(ISO_THREADS)
gemm_naive(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 a_row, iso_i64 a_col, iso_i64 stride_a,
           ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 b_row, iso_i64 b_col, iso_i64 stride_b,
           ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, iso_i64 m, iso_i64 n,
           iso_i64 k, iso_i64 batch, acc alpha, acc beta, iso_i32 wide)
{
    /* A group has 2^shift columns. Divisions take long beside a small product: they are left out
     * where they can be. */
    const int item = ISO_LOCAL_ID();
    int shift = 0, across = 1;
    while (across < NAIVE_ACROSS && across < ISO_THREADS && across < n) {
        across *= 2;
        shift++;
    }
    const int down = ISO_THREADS >> shift;
    const iso_i64 rows = m * batch;
    const iso_i64 blocks = (n + across - 1) >> shift;
    iso_i64 band = blocks > 1 ? ISO_GROUP_ID() / blocks : ISO_GROUP_ID();
    iso_i64 block = ISO_GROUP_ID() - band * blocks;
    while (band * down < rows) {
        const iso_i64 row = band * down + (item >> shift);
        const iso_i64 col = block * across + (item & (across - 1));
        if (row < rows && col < n) {
            const iso_i64 member = batch > 1 ? row / m : 0;
            const iso_i64 i = row - member * m;
            iso_i64 at_a = a_at + member * stride_a + i * a_row;
            iso_i64 at_b = b_at + member * stride_b + col * b_col;
            iso_i64 from = 0;
            acc total = (acc)0;
            while (from < k) {
                const iso_i64 to = k - from > SEGMENT ? from + SEGMENT : k;
                iso_i64 p = from;
                acc sum = (acc)0;
#if defined(WORD)
                for (; wide && p + STEPS <= to; p += STEPS) {
                    sum = add_words(a, at_a, b, at_b, b_row, sum);
                    at_a += STEPS;
                    at_b += STEPS * b_row;
                }
#endif
                for (; p < to; p++) {
                    sum = acc_fma(iso_load(a, at_a), iso_load(b, at_b), sum);
                    at_a += a_col;
                    at_b += b_row;
                }
#if defined(ISO_CONTINUES)
                if (from == 0) {
                    total = iso_load(c, c_at + member * stride_c + i * ldc + col);
                }
                total += sum;
#else
                total = from == 0 ? sum : total + sum;
#endif
                from = to;
            }
            iso_finish(c, c_at + member * stride_c + i * ldc + col, total, alpha, beta);
        }
        if (blocks > 1) {
            block += ISO_GROUP_COUNT();
            band += block / blocks;
            block %= blocks;
        } else {
            band += ISO_GROUP_COUNT();
        }
    }
}
