/* SPDX-License-Identifier: Apache-2.0 */
/* solve_type.h - the code of solve.c for one type of parts. Included once for each, with these
 * defined: KIND (f32 or f64), REAL, FMA, and what gives names of the real and the complex type. */

#define VECTOR    CPU_JOIN(simd, KIND)
#define LOAD      CPU_JOIN(VECTOR, load)
#define STORE     CPU_JOIN(VECTOR, store)
#define SET       CPU_JOIN(VECTOR, set)
#define FMA_V     CPU_JOIN(VECTOR, fma)
#define LANES     ((int)(sizeof(VECTOR) / sizeof(REAL)))
#define PITCH     ((int)(CPU_SOLVE_BYTES / sizeof(REAL)))
#define HALF      (PITCH / 2)
#define MAGNITUDE REAL_NAME(magnitude)

static void REAL_NAME(strip)(const cpu_solve_strip *g)
{
    const REAL *a = g->a;
    for (int i = 0; i < g->n; i++, a += i) {
        for (int first = 0; first < PITCH; first += PASS * LANES) {
            const REAL *from = (const REAL *)g->x + first;
            REAL *to = (REAL *)g->x + first + (int64_t)i * PITCH;
            VECTOR t[PASS];
            SIMD_UNROLL
            for (int v = 0; v < PASS; v++) {
                t[v] = LOAD(to + v * LANES);
            }
            for (int k = 0; k < i; k++) {
                const VECTOR factor = SET(a[k]);
                SIMD_UNROLL
                for (int v = 0; v < PASS; v++) {
                    t[v] = FMA_V(factor, LOAD(from + (int64_t)k * PITCH + v * LANES), t[v]);
                }
            }
            const VECTOR by = SET(g->unit ? 1 : a[i]);
            SIMD_UNROLL
            for (int v = 0; v < PASS; v++) {
                STORE(to + v * LANES, g->unit ? t[v] : t[v] / by);
            }
        }
    }
}

static inline REAL MAGNITUDE(REAL x)
{
    return x < 0 ? -x : x;
}

/* Divides an unknown of all systems by c + i e, by Smith's way. */
SIMD_INLINE void COMPLEX_NAME(divide)(REAL *re, REAL *im, REAL c, REAL e)
{
    const int first = MAGNITUDE(c) >= MAGNITUDE(e);
    const REAL ratio = first ? e / c : c / e;
    const VECTOR r = SET(ratio), q = SET(first ? FMA(e, ratio, c) : FMA(c, ratio, e));
    SIMD_UNROLL
    for (int v = 0; v < HALF; v += LANES) {
        const VECTOR t_re = LOAD(re + v), t_im = LOAD(im + v);
        const VECTOR top = first ? FMA_V(t_im, r, t_re) : FMA_V(t_re, r, t_im);
        const VECTOR below = first ? FMA_V(-t_re, r, t_im) : FMA_V(t_im, r, -t_re);
        STORE(re + v, top / q);
        STORE(im + v, below / q);
    }
}

/* A packed element below the diagonal is -ar, -ai. */
static void COMPLEX_NAME(strip)(const cpu_solve_strip *g)
{
    const REAL *a = g->a;
    for (int i = 0; i < g->n; i++, a += 2 * (int64_t)i) {
        REAL *re = (REAL *)g->x + (int64_t)i * PITCH, *im = re + HALF;
        for (int first = 0; first < HALF; first += PASS_COMPLEX * LANES) {
            const REAL *x = (const REAL *)g->x + first;
            VECTOR t_re[PASS_COMPLEX], t_im[PASS_COMPLEX];
            SIMD_UNROLL
            for (int v = 0; v < PASS_COMPLEX; v++) {
                t_re[v] = LOAD(re + first + v * LANES);
                t_im[v] = LOAD(im + first + v * LANES);
            }
            for (int k = 0; k < i; k++, x += PITCH) {
                const VECTOR ar = SET(a[2 * k]), ai = SET(a[2 * k + 1]), minus = -ai;
                SIMD_UNROLL
                for (int v = 0; v < PASS_COMPLEX; v++) {
                    const VECTOR x_re = LOAD(x + v * LANES), x_im = LOAD(x + HALF + v * LANES);
                    t_re[v] = FMA_V(minus, x_im, FMA_V(ar, x_re, t_re[v]));
                    t_im[v] = FMA_V(ai, x_re, FMA_V(ar, x_im, t_im[v]));
                }
            }
            SIMD_UNROLL
            for (int v = 0; v < PASS_COMPLEX; v++) {
                STORE(re + first + v * LANES, t_re[v]);
                STORE(im + first + v * LANES, t_im[v]);
            }
        }
        if (!g->unit) {
            COMPLEX_NAME(divide)(re, im, a[2 * i], a[2 * i + 1]);
        }
    }
}

#undef VECTOR
#undef LOAD
#undef STORE
#undef SET
#undef FMA_V
#undef LANES
#undef PITCH
#undef HALF
#undef MAGNITUDE
#undef KIND
#undef REAL
#undef FMA
#undef REAL_NAME
#undef COMPLEX_NAME
