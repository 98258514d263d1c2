/* SPDX-License-Identifier: Apache-2.0 */
/* finish_complex.h - the code of finish.c for one complex type. Included once for each, with these
 * defined: TYPE (its name), REAL (the type of a part), FMA. */

#define NAME(x) CPU_JOIN(x, TYPE)

/* A factor whose imaginary part is 0 has no products with it. The arguments `t`, `reads` and the
 * last two are constants where this is called. */
SIMD_INLINE void NAME(run)(const cpu_finish_line *g, const REAL *rr, int reads, int turns_t,
                           int turns_c)
{
    const REAL *ii = g->t[1], *ri = g->t[2], *ir = g->t[3];
    REAL *c = g->c;
    const REAL ar = (REAL)g->alpha, ai = (REAL)g->alpha_imag;
    const REAL br = (REAL)g->beta, bi = (REAL)g->beta_imag;
    const REAL sign_ii = (REAL)g->sign_ii, sign_ri = (REAL)g->sign_ri, sign_ir = (REAL)g->sign_ir;
    const int64_t n = g->n, step = 2 * g->step;
    for (int64_t i = 0; i < n; i++) {
        REAL re = 0, im = 0;
        if (reads) {
            const REAL c_re = c[i * step], c_im = c[i * step + 1];
            re = turns_c ? FMA(br, c_re, -(bi * c_im)) : br * c_re;
            im = turns_c ? FMA(br, c_im, bi * c_re) : br * c_im;
        }
        if (rr) {
            const REAL t_re = rr[i] - sign_ii * ii[i];
            const REAL t_im = sign_ri * ri[i] + sign_ir * ir[i];
            if (reads) {
                re = FMA(ar, t_re, turns_t ? FMA(-ai, t_im, re) : re);
                im = FMA(ar, t_im, turns_t ? FMA(ai, t_re, im) : im);
            } else {
                re = turns_t ? FMA(ar, t_re, -(ai * t_im)) : ar * t_re;
                im = turns_t ? FMA(ar, t_im, ai * t_re) : ar * t_im;
            }
        }
        c[i * step] = re;
        c[i * step + 1] = im;
    }
}

/* Elements that are not contiguous, and combinations that are rare, share one loop. */
static __attribute__((noinline)) void NAME(other)(const cpu_finish_line *g)
{
    NAME(run)(g, g->t[0], g->reads, g->alpha_imag != 0, g->beta_imag != 0);
}

static void NAME(line)(const cpu_finish_line *g)
{
    const int turns_t = g->alpha_imag != 0, turns_c = g->reads && g->beta_imag != 0;
    if (!g->t[0] || g->step != 1 || (turns_t && !turns_c && g->reads) || (turns_c && !turns_t)) {
        NAME(other)(g);
        return;
    }
    cpu_finish_line near = *g;
    near.step = 1;
    if (!g->reads && !turns_t) {
        NAME(run)(&near, g->t[0], 0, 0, 0);
    } else if (!g->reads) {
        NAME(run)(&near, g->t[0], 0, 1, 0);
    } else if (!turns_t) {
        NAME(run)(&near, g->t[0], 1, 0, 0);
    } else {
        NAME(run)(&near, g->t[0], 1, 1, 1);
    }
}

#undef NAME
#undef TYPE
#undef REAL
#undef FMA
