/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.cl - reduces the arrays of ranks, element by element and in the ranks' order. The operation
 * ISO_OP and its lanes are those of reduce_steps.cl; but a lane starts as the first source's
 * element, and not as the neutral one.
 *
 *   RANKS_WORD   elements of one access: 1, or those of 16 aligned bytes
 *   RANKS_RUN    accesses of a work-item to each array that are in flight at once
 *   RANKS_AHEAD  sources whose accesses are in flight at once
 *
 * A group handles blocks of neighbouring words. A work-item reads its part of a block from every
 * source before it writes any of it, and no other work-item reads that part, so z may be a source.
 * The last, shorter block is handled element by element.
 */
#define GROUP_WORDS ((iso_i64)ISO_THREADS * RANKS_WORD)
#define SOURCE(s)   ((s) == own ? y : x + (s) * stride)

ISO_INLINE lane lane_first(elem x)
{
    lane l;
#if IS_ORDERED
    l.v = key_of(x);
#else
    l.v = number_of(x);
#endif
    return l;
}

#if ISO_DTYPE == ISO_F16
#define narrow_of(x) iso_f32_to_f16(x)
#elif ISO_DTYPE == ISO_BF16
#define narrow_of(x) iso_f32_to_bf16(x)
#else
#define narrow_of(x) ((elem)(x))
#endif

/* The stored result of a lane. */
ISO_INLINE elem lane_result(lane l, iso_i32 count)
{
#if IS_ORDERED
    return elem_of(l.v);
#elif ISO_OP == OP_MEAN && IS_HALF
    return narrow_of(odd_of((double)l.v / (double)count));
#elif ISO_OP == OP_MEAN
    return (elem)((double)l.v / (double)count);
#else
    return narrow_of(l.v);
#endif
}

/* ---- words as elements ----------------------------------------------------------------------- */

#if RANKS_WORD == 1

typedef elem whole_word;
#define OPEN_WORD(e, w)      ((e)[0] = (w))
#define STORE_WORD(place, e) (*(place) = (e)[0])

#else

typedef ISO_U32X4 whole_word;
#if IS_HALF
#define ELEMENTS_OF(e, i, u)                                                                       \
    ((e)[2 * (i)] = (elem)((u) & 0xffffu), (e)[2 * (i) + 1] = (elem)((u) >> 16))
#define PART_OF(e, i) ((iso_u32)(e)[2 * (i)] | (iso_u32)(e)[2 * (i) + 1] << 16)
#elif ISO_DTYPE == ISO_F32
#define ELEMENTS_OF(e, i, u) ((e)[i] = iso_as_f32(u))
#define PART_OF(e, i)        iso_as_u32((e)[i])
#elif ISO_DTYPE == ISO_I32
#define ELEMENTS_OF(e, i, u) ((e)[i] = (elem)(u))
#define PART_OF(e, i)        ((iso_u32)(e)[i])
#endif

#if IS_LONG
#if ISO_DTYPE == ISO_F64
#define LONG_OF(bits)  iso_as_f64(bits)
#define LONG_BITS(one) iso_as_u64(one)
#else
#define LONG_OF(bits)  ((elem)(bits))
#define LONG_BITS(one) ((iso_u64)(one))
#endif
#define OPEN_WORD(e, w)                                                                            \
    ((e)[0] = LONG_OF((iso_u64)(w).y << 32 | (w).x), (e)[1] = LONG_OF((iso_u64)(w).w << 32 | (w).z))
#define MAKE_WORD(e)                                                                               \
    iso_u32x4((iso_u32)LONG_BITS((e)[0]), (iso_u32)(LONG_BITS((e)[0]) >> 32),                      \
              (iso_u32)LONG_BITS((e)[1]), (iso_u32)(LONG_BITS((e)[1]) >> 32))
#else
#define OPEN_WORD(e, w)                                                                            \
    (ELEMENTS_OF(e, 0, (w).x), ELEMENTS_OF(e, 1, (w).y), ELEMENTS_OF(e, 2, (w).z),                 \
     ELEMENTS_OF(e, 3, (w).w))
#define MAKE_WORD(e) iso_u32x4(PART_OF(e, 0), PART_OF(e, 1), PART_OF(e, 2), PART_OF(e, 3))
#endif
#define STORE_WORD(place, e) (*(place) = MAKE_WORD(e))

#endif

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Adds the elements of a word to as many lanes, or starts them. */
ISO_INLINE void fold_word(lane *v, whole_word w, int starts)
{
    elem e[RANKS_WORD];
    int i;
    OPEN_WORD(e, w);
    ISO_UNROLL
    for (i = 0; i < RANKS_WORD; i++) {
        lane next = lane_first(e[i]);
        v[i] = starts ? next : lane_fold(v[i], next);
    }
}

ISO_INLINE void load_words(whole_word *w, ISO_GLOBAL const elem *from)
{
    int r;
    ISO_UNROLL
    for (r = 0; r < RANKS_RUN; r++) {
        w[r] = *(ISO_GLOBAL const whole_word *)(from + r * GROUP_WORDS);
    }
}

ISO_INLINE void fold_words(lane *v, const whole_word *w, int starts)
{
    int r;
    ISO_UNROLL
    for (r = 0; r < RANKS_RUN; r++) {
        fold_word(v + r * RANKS_WORD, w[r], starts);
    }
}

ISO_INLINE void fold_block(ISO_GLOBAL const elem *x, ISO_GLOBAL const elem *y, ISO_GLOBAL elem *z,
                           iso_i64 first, iso_i64 stride, iso_i32 count, iso_i32 own)
{
    lane v[RANKS_RUN * RANKS_WORD];
    whole_word w[RANKS_AHEAD * RANKS_RUN];
    elem e[RANKS_WORD];
    iso_i32 s;
    int r, i, d;
    load_words(w, SOURCE(0) + first);
    fold_words(v, w, 1);
    for (s = 1; s < count; s += RANKS_AHEAD) {
        ISO_UNROLL
        for (d = 0; d < RANKS_AHEAD; d++) {
            if (s + d < count) {
                load_words(w + d * RANKS_RUN, SOURCE(s + d) + first);
            }
        }
        ISO_UNROLL
        for (d = 0; d < RANKS_AHEAD; d++) {
            if (s + d < count) {
                fold_words(v, w + d * RANKS_RUN, 0);
            }
        }
    }
    ISO_UNROLL
    for (r = 0; r < RANKS_RUN; r++) {
        ISO_UNROLL
        for (i = 0; i < RANKS_WORD; i++) {
            e[i] = lane_result(v[r * RANKS_WORD + i], count);
        }
        STORE_WORD((ISO_GLOBAL whole_word *)(z + first + r * GROUP_WORDS), e);
    }
}

ISO_INLINE void fold_one(ISO_GLOBAL const elem *x, ISO_GLOBAL const elem *y, ISO_GLOBAL elem *z,
                         iso_i64 at, iso_i64 stride, iso_i32 count, iso_i32 own)
{
    lane v = lane_first(SOURCE(0)[at]);
    iso_i32 s;
    for (s = 1; s < count; s++) {
        v = lane_fold(v, lane_first(SOURCE(s)[at]));
    }
    z[at] = lane_result(v, count);
}

/* `own` is the source that is y; -1: none. */
ISO_KERNEL(ISO_THREADS)
ranks_fold(ISO_GLOBAL const elem *x_base, iso_i64 x_at, ISO_GLOBAL const elem *y_base, iso_i64 y_at,
           ISO_GLOBAL elem *z_base, iso_i64 z_at, iso_i64 n, iso_i64 stride, iso_i32 count,
           iso_i32 own)
{
    ISO_GLOBAL const elem *x = x_base + x_at, *y = y_base + y_at;
    ISO_GLOBAL elem *z = z_base + z_at;
    const iso_i64 whole = n / (GROUP_WORDS * RANKS_RUN);
    iso_i64 block, at;
    for (block = ISO_GROUP_ID(); block <= whole; block += ISO_GROUP_COUNT()) {
        const iso_i64 first = block * RANKS_RUN * GROUP_WORDS;
        if (block < whole) {
            fold_block(x, y, z, first + ISO_LOCAL_ID() * RANKS_WORD, stride, count, own);
        } else {
            for (at = first + ISO_LOCAL_ID(); at < n; at += ISO_THREADS) {
                fold_one(x, y, z, at, stride, count, own);
            }
        }
    }
}
