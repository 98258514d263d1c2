/* SPDX-License-Identifier: Apache-2.0 */
/* order_keys.h - the code of order.c for one size of key. Included once for each size, with KEY (a
 * signed integer) and KEY_BITS (its width) defined. `infinity` is the bits of the type's positive
 * infinity, or 0 for integers. `infinity` and `max` are constants wherever these functions are
 * inlined: 0 for min, 1 for max, 2 for the largest magnitude. The order of comparisons does not
 * change the result, so vectors take elements in memory order. */

#define NAME(x)            NAME_WITH(x, KEY_BITS)
#define NAME_WITH(x, bits) CPU_JOIN(x, bits)
#define VEC                NAME(v)
#define WIDTH              ((int)(sizeof(VEC) / sizeof(KEY)))
#define LOWEST             ((KEY)((uint64_t)1 << (KEY_BITS - 1)))
#define HIGHEST            ((KEY)~LOWEST)

typedef KEY VEC __attribute__((vector_size(SIMD_BYTES)));

/* Converts elements to keys. The key of -0 is just below that of +0. A NaN has the best key, which
 * is the lowest for min and the highest for max. */
SIMD_INLINE VEC NAME(keys)(KEY infinity, int max, VEC bits)
{
    if (infinity == 0) {
        return bits;
    }
    const VEC size = bits & HIGHEST;
    const VEC nan = (VEC)(size > infinity);
    const VEC key = max == 2 ? size : bits ^ ((bits >> (KEY_BITS - 1)) & HIGHEST);
    return (key & ~nan) | (nan & (KEY)(max ? HIGHEST : LOWEST));
}

SIMD_INLINE KEY NAME(key)(KEY infinity, int max, KEY bits)
{
    if (infinity != 0 && (KEY)(bits & HIGHEST) > infinity) {
        return max ? HIGHEST : LOWEST;
    }
    if (max == 2) {
        return bits & HIGHEST;
    }
    return (KEY)(infinity != 0 && bits < 0 ? bits ^ HIGHEST : bits);
}

SIMD_INLINE VEC NAME(better)(int max, VEC a, VEC b)
{
    const VEC first = (VEC)(max ? a > b : a < b);
    return (a & first) | (b & ~first);
}

SIMD_INLINE KEY NAME(best)(KEY infinity, int max, const char *x, int n)
{
    const KEY worst = max ? LOWEST : HIGHEST;
    KEY best = worst;
    int i = 0;
    if (n >= 4 * WIDTH) {
        VEC acc[4];
        SIMD_UNROLL
        for (int j = 0; j < 4; j++) {
            acc[j] = (VEC){0} + worst;
        }
        for (; i + 4 * WIDTH <= n; i += 4 * WIDTH) {
            SIMD_UNROLL
            for (int j = 0; j < 4; j++) {
                VEC bits;
                memcpy(&bits, x + (ptrdiff_t)(i + j * WIDTH) * (int)sizeof(KEY), sizeof bits);
                acc[j] = NAME(better)(max, acc[j], NAME(keys)(infinity, max, bits));
            }
        }
        acc[0] =
            NAME(better)(max, NAME(better)(max, acc[0], acc[1]), NAME(better)(max, acc[2], acc[3]));
        for (int l = 0; l < WIDTH; l++) {
            const KEY key = acc[0][l];
            best = (max ? key > best : key < best) ? key : best;
        }
    }
    for (; i < n; i++) {
        KEY bits;
        memcpy(&bits, x + (ptrdiff_t)i * (int)sizeof(KEY), sizeof bits);
        const KEY key = NAME(key)(infinity, max, bits);
        best = (max ? key > best : key < best) ? key : best;
    }
    return best;
}

SIMD_INLINE void NAME(line)(KEY infinity, int max, const void *x, int64_t n, KEY *out)
{
    for (int64_t i = 0; i < n; i += CPU_REDUCE_BLOCK) {
        const int64_t left = n - i;
        *out++ = NAME(best)(infinity, max, (const char *)x + i * (int)sizeof(KEY),
                            (int)(left < CPU_REDUCE_BLOCK ? left : CPU_REDUCE_BLOCK));
    }
}

/* `out` may be the strip's first row, because it is written last. */
SIMD_INLINE void NAME(cols)(KEY infinity, int max, const cpu_reduce_strip *s, KEY *out)
{
    KEY best[CPU_REDUCE_STRIP];
    const char *x = s->x;
    const KEY worst = max ? LOWEST : HIGHEST;
    for (int j = 0; j < s->cols; j++) {
        best[j] = worst;
    }
    for (int i = 0; i < s->rows; i++, x += s->ld_x * (int)sizeof(KEY)) {
        int j = 0;
        for (; j + WIDTH <= s->cols; j += WIDTH) {
            VEC bits, acc;
            memcpy(&bits, x + j * (int)sizeof(KEY), sizeof bits);
            memcpy(&acc, best + j, sizeof acc);
            acc = NAME(better)(max, acc, NAME(keys)(infinity, max, bits));
            memcpy(best + j, &acc, sizeof acc);
        }
        for (; j < s->cols; j++) {
            KEY bits;
            memcpy(&bits, x + j * (int)sizeof(KEY), sizeof bits);
            const KEY key = NAME(key)(infinity, max, bits);
            best[j] = (max ? key > best[j] : key < best[j]) ? key : best[j];
        }
    }
    memcpy(out, best, (size_t)s->cols * sizeof(KEY));
}

SIMD_INLINE int64_t NAME(find)(KEY infinity, int max, const void *x, int64_t stride, int64_t n,
                               int64_t wanted)
{
    const char *at = x;
    int64_t i = 0;
    for (; i < n; i++, at += stride * (int)sizeof(KEY)) {
        KEY bits;
        memcpy(&bits, at, sizeof bits);
        if (NAME(key)(infinity, max, bits) == (KEY)wanted) {
            break;
        }
    }
    return i;
}

/* The textbook loop: returns the first of the best elements. */
SIMD_INLINE cpu_best NAME(first)(KEY infinity, int max, const void *x, int64_t stride, int64_t n)
{
    const char *at = x;
    cpu_best best = {0, 0};
    for (int64_t i = 0; i < n; i++, at += stride * (int)sizeof(KEY)) {
        KEY bits;
        memcpy(&bits, at, sizeof bits);
        const KEY key = NAME(key)(infinity, max, bits);
        if (i == 0 || (max ? key > best.key : key < best.key)) {
            best = (cpu_best){key, i};
        }
    }
    return best;
}

#undef NAME
#undef NAME_WITH
#undef VEC
#undef WIDTH
#undef LOWEST
#undef HIGHEST
#undef KEY
#undef KEY_BITS
