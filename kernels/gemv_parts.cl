/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemv_parts.cl - what all texts of products with a vector share: x in shared memory, and the join
 * of the sums of segments. Sums are in `work` ([segment][member][row]).
 */
#define SEGMENT 1024

#if ISO_DTYPE == ISO_F16
#define FROM_BITS(bits) iso_f16_to_f32((iso_u16)(bits))
#else
#define FROM_BITS(bits) iso_bf16_to_f32((iso_u16)(bits))
#endif

#if defined(GEMV_SIDE)
#define X_AHEAD 1 /* elements of x that are read before the first is stored */
#else
#define X_AHEAD 8
#endif

/* Copies a segment of x to shared memory, in the accumulation type. */
ISO_INLINE void stage_x(ISO_SHARED_AT acc *xs, ISO_GLOBAL const elem *x, iso_i64 at, iso_i64 inc_x,
                        int count)
{
    for (int p = ISO_LOCAL_ID(); p < count; p += X_AHEAD * ISO_THREADS) {
        acc next[X_AHEAD];
        ISO_UNROLL
        for (int i = 0; i < X_AHEAD; i++) {
            const int q = p + i * ISO_THREADS;
            next[i] = q < count ? iso_load(x, at + q * inc_x) : (acc)0;
        }
        ISO_UNROLL
        for (int i = 0; i < X_AHEAD; i++) {
            if (p + i * ISO_THREADS < count) {
                xs[p + i * ISO_THREADS] = next[i];
            }
        }
    }
}

#define DEPTH 16 /* sums that are read before the first is used */

/* Adds the segments' sums in order. */
ISO_KERNEL(ISO_THREADS)
gemv_join(ISO_GLOBAL elem *y, iso_i64 y_at, iso_i64 inc_y, iso_i64 stride_y,
          ISO_GLOBAL const acc *work, iso_i64 work_at, iso_i64 m, iso_i64 batch, iso_i64 segments,
          acc alpha, acc beta)
{
    ISO_AFTER_PREVIOUS();
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    for (iso_i64 i = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); i < m * batch; i += step) {
        acc total = work[work_at + i];
        iso_i64 s = 1;
        for (; s + DEPTH <= segments; s += DEPTH) {
            acc next[DEPTH];
            ISO_UNROLL
            for (int j = 0; j < DEPTH; j++) {
                next[j] = work[work_at + (s + j) * m * batch + i];
            }
            ISO_UNROLL
            for (int j = 0; j < DEPTH; j++) {
                total = total + next[j];
            }
        }
        for (; s < segments; s++) {
            total = total + work[work_at + s * m * batch + i];
        }
        iso_finish(y, y_at + i / m * stride_y + i % m * inc_y, total, alpha, beta);
    }
}
