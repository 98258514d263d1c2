/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_naive.cl - the textbook product: one element of C per work-item. Element (i, p) of A is
 * a[a_at + i * a_row + p * a_col]; the next matrix of a batch begins stride_a elements later. B and
 * C are addressed in the same way.
 */
#define SEGMENT 1024

ISO_KERNEL(ISO_THREADS)
gemm_naive(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 a_row, iso_i64 a_col, iso_i64 stride_a,
           ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 b_row, iso_i64 b_col, iso_i64 stride_b,
           ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, iso_i64 m, iso_i64 n,
           iso_i64 k, iso_i64 batch, acc alpha, acc beta)
{
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    const iso_i64 rows = m * batch;
    const iso_i64 down = step / n;
    const iso_i64 across = step % n;
    const iso_i64 first = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID();
    iso_i64 row = first / n;
    iso_i64 col = first % n;
    while (row < rows) {
        const iso_i64 member = row / m;
        const iso_i64 i = row - member * m;
        const iso_i64 at = c_at + member * stride_c + i * ldc + col;
        iso_i64 at_a = a_at + member * stride_a + i * a_row;
        iso_i64 at_b = b_at + member * stride_b + col * b_col;
        iso_i64 from = 0;
        acc total = (acc)0;
        while (from < k) {
            const iso_i64 to = k - from > SEGMENT ? from + SEGMENT : k;
            acc sum = (acc)0;
            for (iso_i64 p = from; p < to; p++) {
                sum = acc_fma(iso_load(a, at_a), iso_load(b, at_b), sum);
                at_a += a_col;
                at_b += b_row;
            }
            total = from == 0 ? sum : total + sum;
            from = to;
        }
        iso_finish(c, at, total, alpha, beta);
        row += down;
        col += across;
        if (col >= n) {
            col -= n;
            row++;
        }
    }
}
