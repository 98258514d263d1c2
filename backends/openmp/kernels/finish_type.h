/* SPDX-License-Identifier: Apache-2.0 */
/* finish_type.h - the code of finish.c for one real type. Included once for each type, with these
 * defined: TYPE (its name), ELEMENT (the stored type), KIND and REAL (the type of the computation),
 * LOAD, STORE, READ, WRITE and FMA. */

#define NAME(x) CPU_JOIN(x, TYPE)
#define VECTOR  CPU_JOIN(simd, KIND)
#define LANES   ((int)(sizeof(VECTOR) / sizeof(REAL)))

/* Whole vectors, of contiguous elements. Returns how many elements they are. */
SIMD_INLINE int64_t NAME(vectors)(const REAL *t, ELEMENT *c, int64_t n, REAL alpha, REAL beta,
                                  int reads)
{
    const VECTOR by = CPU_JOIN(VECTOR, set)(alpha), old = CPU_JOIN(VECTOR, set)(beta);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        VECTOR v = {0};
        if (t && reads) {
            v = CPU_JOIN(VECTOR, fma)(by, CPU_JOIN(VECTOR, load)(t + i), old * LOAD(c + i));
        } else if (t) {
            v = by * CPU_JOIN(VECTOR, load)(t + i);
        } else if (reads) {
            v = old * LOAD(c + i);
        }
        STORE(c + i, v);
    }
    return i;
}

static void NAME(line)(const cpu_finish_line *g)
{
    const REAL *t = g->t[0];
    ELEMENT *c = g->c;
    const REAL alpha = (REAL)g->alpha, beta = (REAL)g->beta;
    const int64_t n = g->n, step = g->step;
    const int reads = g->reads;
    int64_t i = 0;
    if (step == 1) {
        i = !t      ? NAME(vectors)(NULL, c, n, alpha, beta, reads)
            : reads ? NAME(vectors)(t, c, n, alpha, beta, 1)
                    : NAME(vectors)(t, c, n, alpha, beta, 0);
    }
    for (; i < n; i++) {
        REAL v = 0;
        if (reads) {
            const REAL old = beta * READ(c[i * step]);
            v = t ? FMA(alpha, t[i], old) : old;
        } else if (t) {
            v = alpha * t[i];
        }
        c[i * step] = WRITE(v);
    }
}

#undef NAME
#undef VECTOR
#undef LANES
#undef TYPE
#undef ELEMENT
#undef KIND
#undef REAL
#undef LOAD
#undef STORE
#undef READ
#undef WRITE
#undef FMA
