/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_fold.h - the sums, products, means and exclusive ors of ranks.c for one type. Included once
 * for each type, with these defined: TYPE (its name), ELEMENT (the stored type), KIND and REAL (the
 * type of the computation), LOAD, STORE and, for floating-point types, FLOATING.
 *
 * A mean is defined as a quotient in f64 that is rounded once. It is computed as a quotient in f32,
 * which gives the same: f64 has more than twice the bits of f32, so rounding to f64 before never
 * changes an f32. Rounding to f32 before changes a number of 16 bits only if the quotient rounds to
 * a number m between two of them without being m. But then the total, a multiple of the type's
 * least number, and m * count, of at most 24 bits for up to 4096 ranks, are different f32, and so
 * are their quotients. */

#define NAME(x) CPU_JOIN(x, TYPE)
#define VECTOR  CPU_JOIN(simd, KIND)
#define LANES   ((int)(sizeof(VECTOR) / sizeof(REAL)))
#define SPAN    (FOLD_VECTORS * LANES) /* elements */

SIMD_INLINE VECTOR NAME(apply)(enum fold what, VECTOR a, VECTOR b)
{
    switch (what) {
    case PRODUCT:
        return a * b;
#if !defined(FLOATING)
    case XOR:
        return a ^ b;
#endif
    default:
        return a + b;
    }
}

/* n elements, at most SPAN, of a source; if there are fewer, in a padded copy. */
SIMD_INLINE const ELEMENT *NAME(whole)(const void *source, int64_t at, int n, ELEMENT *copy)
{
    const ELEMENT *x = (const ELEMENT *)source + at;
    if (n < SPAN) {
        memcpy(copy, x, (size_t)n * sizeof *x);
        return copy;
    }
    return x;
}

/* Folds n elements from `at` on, at most SPAN. It reads all of them before it writes. */
SIMD_INLINE void NAME(span)(enum fold what, const void *const *sources, int count, ELEMENT *z,
                            int64_t at, int n)
{
    ELEMENT part[SPAN] = {0};
    VECTOR acc[FOLD_VECTORS];
    const ELEMENT *x = NAME(whole)(sources[0], at, n, part);
    SIMD_UNROLL
    for (int v = 0; v < FOLD_VECTORS; v++) {
        acc[v] = LOAD(x + v * LANES);
    }
    for (int s = 1; s < count; s++) {
        x = NAME(whole)(sources[s], at, n, part);
        SIMD_UNROLL
        for (int v = 0; v < FOLD_VECTORS; v++) {
            acc[v] = NAME(apply)(what, acc[v], LOAD(x + v * LANES));
        }
    }
#if defined(FLOATING)
    if (what == MEAN) {
        const VECTOR ranks = CPU_JOIN(VECTOR, set)((REAL)count);
        SIMD_UNROLL
        for (int v = 0; v < FOLD_VECTORS; v++) {
            acc[v] = acc[v] / ranks;
        }
    }
#endif
    if (n < SPAN) {
        SIMD_UNROLL
        for (int v = 0; v < FOLD_VECTORS; v++) {
            STORE(part + v * LANES, acc[v]);
        }
        memcpy(z + at, part, (size_t)n * sizeof *z);
        return;
    }
    SIMD_UNROLL
    for (int v = 0; v < FOLD_VECTORS; v++) {
        STORE(z + at + v * LANES, acc[v]);
    }
}

SIMD_INLINE void NAME(fold)(enum fold what, const void *const *sources, int count, void *z,
                            int64_t n)
{
    int64_t at = 0;
    for (; at + SPAN <= n; at += SPAN) {
        NAME(span)(what, sources, count, z, at, SPAN);
    }
    if (at < n) {
        NAME(span)(what, sources, count, z, at, (int)(n - at));
    }
}

#define DEFINE_FOLD(name, what)                                                                    \
    static void NAME(name)(const void *const *sources, int count, void *z, int64_t n)              \
    {                                                                                              \
        NAME(fold)(what, sources, count, z, n);                                                    \
    }

DEFINE_FOLD(sum, SUM)
DEFINE_FOLD(product, PRODUCT)
#if defined(FLOATING)
DEFINE_FOLD(mean, MEAN)
#else
DEFINE_FOLD(xor, XOR)
#endif

#undef NAME
#undef VECTOR
#undef LANES
#undef SPAN
#undef DEFINE_FOLD
#undef TYPE
#undef ELEMENT
#undef KIND
#undef REAL
#undef LOAD
#undef STORE
#undef FLOATING
