/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_type.h - the part of the fixed product that depends on the stored type. Included once for
 * each type, with these defined: STORED (f16, ...), CELL (its C type), BITS (the unsigned integer
 * of its size) and READ (to double). */

#define T(f) CPU_JOIN(f, STORED)

static BITS T(magnitude)(const CELL *x)
{
    BITS bits;
    __builtin_memcpy(&bits, x, sizeof bits);
    return bits & (BITS)(((BITS)-1) >> 1);
}

static void T(largest)(const void *from, int64_t step, int64_t k_step, int64_t count, int64_t k,
                       uint64_t *to)
{
    const CELL *x = from;
    if (step == 1) {
        /* The vectors lie side by side. */
        enum { WIDE = 64 };
        for (int64_t first = 0; first < count; first += WIDE) {
            const int64_t here = count - first < WIDE ? count - first : WIDE;
            BITS best[WIDE] = {0};
            for (int64_t p = 0; p < k; p++) {
                const CELL *line = x + p * k_step + first;
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

static void T(pack)(const cpu_fixed_pack *g)
{
    const CELL *from = g->from;
    for (int64_t p = 0; p < g->k; p++) {
        double *to = g->to + p * g->width;
        for (int64_t i = 0; i < g->count; i++) {
            to[i] =
                __builtin_rint(READ(from[i * g->step + p * g->k_step]) * g->once[i] * g->again[i]);
        }
        for (int64_t i = g->count; i < g->width; i++) {
            to[i] = 0;
        }
        cut(g, to);
    }
}

#undef T
#undef STORED
#undef CELL
#undef BITS
#undef READ
