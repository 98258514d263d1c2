/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_type.h - the part of the fixed product that depends on the stored type. Included once for
 * each type, with these defined: STORED (f16, ...) and BITS (the unsigned integer of its size). */

#define T(f) CPU_JOIN(f, STORED)

static BITS T(magnitude)(const BITS *x)
{
    return *x & (BITS)(((BITS)-1) >> 1);
}

static void T(largest)(const void *from, int64_t step, int64_t k_step, int64_t count, int64_t k,
                       uint64_t *to)
{
    const BITS *x = from;
    if (step == 1) {
        /* The vectors lie side by side. */
        enum { WIDE = 64 };
        for (int64_t first = 0; first < count; first += WIDE) {
            const int64_t here = count - first < WIDE ? count - first : WIDE;
            BITS best[WIDE] = {0};
            for (int64_t p = 0; p < k; p++) {
                const BITS *line = x + p * k_step + first;
                for (int64_t i = 0; i < here; i++) {
                    const BITS size = T(magnitude)(line + i);
                    best[i] = size > best[i] ? size : best[i];
                }
            }
            for (int64_t i = 0; i < here; i++) {
                to[first + i] = best[i];
            }
        }
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        BITS best = 0;
        for (int64_t p = 0; p < k; p++) {
            const BITS size = T(magnitude)(x + i * step + p * k_step);
            best = size > best ? size : best;
        }
        to[i] = best;
    }
}

#undef T
#undef STORED
#undef BITS
