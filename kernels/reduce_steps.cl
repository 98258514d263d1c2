/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_steps.cl - the state of a lane of a reduction, for the operation ISO_OP and the type
 * ISO_DTYPE: how it starts, how it adds an element, how two lanes combine, and the result. The
 * loops are in reduce.cl; docs/bits.md defines both.
 *
 * Elements that are compared become keys: integers in the same order. A NaN is better than every
 * other element, both for a minimum and for a maximum, and -0 is less than +0.
 */
#define OP_SUM     1
#define OP_PRODUCT 2
#define OP_MIN     3
#define OP_MAX     4
#define OP_MEAN    5
#define OP_DOT     6
#define OP_ASUM    7
#define OP_NORM2   8
#define OP_ARGMIN  9
#define OP_ARGMAX  10
#define OP_XOR     11
#define OP_AMAX    12
#define OP_ARGAMAX 13

#define IS_WHOLE   (ISO_DTYPE == ISO_I32 || ISO_DTYPE == ISO_I64)
#define IS_LONG    (ISO_DTYPE == ISO_F64 || ISO_DTYPE == ISO_I64)
#define IS_HALF    (ISO_DTYPE == ISO_F16 || ISO_DTYPE == ISO_BF16)
#define IS_SIZE    (ISO_OP == OP_AMAX || ISO_OP == OP_ARGAMAX) /* magnitudes are compared */
#define IS_MAX     (ISO_OP == OP_MAX || ISO_OP == OP_ARGMAX || IS_SIZE)
#define IS_INDEX   (ISO_OP == OP_ARGMIN || ISO_OP == OP_ARGMAX || ISO_OP == OP_ARGAMAX)
#define IS_ORDERED (IS_INDEX || ISO_OP == OP_MIN || ISO_OP == OP_MAX || ISO_OP == OP_AMAX)
#define IS_SCALED  (ISO_OP == OP_NORM2 && ISO_DTYPE == ISO_F64)

/* Powers of two, given by their bits, because not every compiler accepts hexadecimal floating-point
 * literals. */
#define FROM_BIG    iso_as_f64(0x5e50000000000000ul) /* 2^486 */
#define SCALE_BIG   iso_as_f64(0x1e50000000000000ul) /* 2^-538 */
#define TO_SMALL    iso_as_f64(0x2000000000000000ul) /* 2^-511 */
#define SCALE_SMALL iso_as_f64(0x6180000000000000ul) /* 2^537 */

/* An element, converted to the accumulation type. */
#if ISO_DTYPE == ISO_F16
#define number_of(x) iso_f16_to_f32(x)
#elif ISO_DTYPE == ISO_BF16
#define number_of(x) iso_bf16_to_f32(x)
#else
#define number_of(x) ((acc)(x))
#endif

/* An element of an array that no other work-item reads. */
#if ISO_DTYPE == ISO_F32
#define elem_once(p) iso_as_f32(ISO_LOAD_ONCE_32(p))
#elif ISO_DTYPE == ISO_F64
#define elem_once(p) iso_as_f64(ISO_LOAD_ONCE_64(p))
#elif IS_WHOLE && IS_LONG
#define elem_once(p) ((elem)ISO_LOAD_ONCE_64(p))
#elif IS_WHOLE
#define elem_once(p) ((elem)ISO_LOAD_ONCE_32(p))
#else
#define elem_once(p) (*(p))
#endif

/* ---- order: min, max, amax, argmin, argmax, argamax ------------------------------------------ */
#if IS_ORDERED

#if IS_LONG
typedef iso_i64 key;
#define KEY_LEAST ((iso_i64)((iso_u64)1 << 63))
#define KEY_MOST  ((iso_i64) ~((iso_u64)1 << 63))
#else
typedef iso_i32 key;
#define KEY_LEAST ((iso_i32)0x80000000u)
#define KEY_MOST  0x7fffffff
#endif
#if IS_MAX
#define KEY_WORST    KEY_LEAST
#define KEY_NAN      KEY_MOST
#define better(a, b) ((a) > (b))
#else
#define KEY_WORST    KEY_MOST
#define KEY_NAN      KEY_LEAST
#define better(a, b) ((a) < (b))
#endif

#if IS_SIZE
#define signed_key(bits, rest) ((bits) & (rest))
#else
#define signed_key(bits, rest) ((bits) < 0 ? (bits) ^ (rest) : (bits))
#endif

ISO_INLINE key key_of(elem x)
{
#if IS_WHOLE
    return x;
#elif IS_HALF
    key bits = (key)(short)x;
    if ((bits & 0x7fff) > (ISO_DTYPE == ISO_F16 ? 0x7c00 : 0x7f80)) {
        return KEY_NAN;
    }
    return signed_key(bits, 0x7fff);
#elif IS_LONG
    key bits = (key)iso_as_u64(x);
    if ((bits & KEY_MOST) > ((key)0x7ff00000 << 32)) {
        return KEY_NAN;
    }
    return signed_key(bits, KEY_MOST);
#else
    key bits = (key)iso_as_u32(x);
    if ((bits & KEY_MOST) > 0x7f800000) {
        return KEY_NAN;
    }
    return signed_key(bits, KEY_MOST);
#endif
}

/* Turns a key back into an element. KEY_NAN always becomes the same NaN, because a key does not
 * keep a NaN's bits. */
ISO_INLINE elem elem_of(key k)
{
#if IS_WHOLE
    return k;
#elif IS_HALF
    return (elem)(k == KEY_NAN ? 0x7fff : k < 0 ? k ^ 0x7fff : k);
#elif IS_LONG
    return iso_as_f64(k == KEY_NAN ? KEY_MOST : k < 0 ? k ^ KEY_MOST : k);
#else
    return iso_as_f32(k == KEY_NAN ? KEY_MOST : k < 0 ? k ^ KEY_MOST : k);
#endif
}

#if IS_INDEX
/* before(b, a): whether b is better than a or, if they are equal, has the lower index. passes: the
 * same test, if b is the next element for lane a. Elements come in ascending order of index, so
 * b never has the lower index, and better() suffices. Integers are the exception: a neutral lane
 * has the value of some integer, and an element with that value must replace it. */
#define before(b, a) (better((b).v, (a).v) || ((b).v == (a).v && (b).at < (a).at))
#if IS_WHOLE
#define passes(b, a) before(b, a)
#else
#define passes(b, a) better((b).v, (a).v)
#endif

typedef struct lane {
    iso_i64 at;
    key v;
#if !IS_LONG
    key gap; /* always 0; fills what would be padding: NVIDIA's OpenCL compiler keeps a struct with
                padding in memory */
#endif
} lane;
typedef iso_i64 result;
ISO_INLINE lane lane_neutral(void)
{
    lane l;
    l.at = (iso_i64) ~((iso_u64)1 << 63);
    l.v = KEY_WORST;
#if !IS_LONG
    l.gap = 0;
#endif
    return l;
}
ISO_INLINE lane lane_fold(lane a, lane b)
{
    int take = before(b, a);
    a.v = take ? b.v : a.v;
    a.at = take ? b.at : a.at;
    return a;
}
ISO_INLINE lane lane_step(lane l, elem x, elem y, iso_i64 at)
{
    lane b = lane_neutral();
    int take;
    (void)y;
    b.v = key_of(x);
    b.at = at;
    take = passes(b, l);
    l.v = take ? b.v : l.v;
    l.at = take ? b.at : l.at;
    return l;
}

/* A lane within a block. Its index counts from the block's first element and is as wide as the key,
 * because 64-bit indices would cost more than the comparisons. */
typedef struct spot {
    key at, v;
} spot;
ISO_INLINE spot spot_neutral(void)
{
    spot s;
    s.at = KEY_MOST;
    s.v = KEY_WORST;
    return s;
}
ISO_INLINE spot spot_fold(spot a, spot b)
{
    int take = before(b, a);
    a.v = take ? b.v : a.v;
    a.at = take ? b.at : a.at;
    return a;
}
ISO_INLINE spot spot_step(spot s, elem x, elem y, int at)
{
    spot b;
    int take;
    (void)y;
    b.v = key_of(x);
    b.at = at;
    take = passes(b, s);
    s.v = take ? b.v : s.v;
    s.at = take ? b.at : s.at;
    return s;
}
ISO_INLINE lane lane_of(spot s, iso_i64 first)
{
    lane l = lane_neutral();
    l.v = s.v;
    l.at = s.at == KEY_MOST ? l.at : first + s.at;
    return l;
}
ISO_INLINE void lane_finish(ISO_GLOBAL result *to, iso_i64 i, lane l, iso_i64 n)
{
    (void)n;
    to[i] = l.at;
}
#else
typedef struct lane {
    key v;
} lane;
typedef elem result;
ISO_INLINE lane lane_neutral(void)
{
    lane l;
    l.v = KEY_WORST;
    return l;
}
ISO_INLINE lane lane_fold(lane a, lane b)
{
    a.v = better(b.v, a.v) ? b.v : a.v;
    return a;
}
ISO_INLINE lane lane_step(lane l, elem x, elem y, iso_i64 at)
{
    lane b;
    b.v = key_of(x);
    (void)y;
    (void)at;
    return lane_fold(l, b);
}
ISO_INLINE void lane_finish(ISO_GLOBAL result *to, iso_i64 i, lane l, iso_i64 n)
{
    (void)n;
    to[i] = elem_of(l.v);
}
#define lane_word(l)  ((word)(l).v)
#define word_value(w) ((key)(w))
#endif

/* ---- sums, products and xor ------------------------------------------------------------------ */
#else

#if ISO_OP == OP_NORM2
typedef double value;
#elif ISO_OP == OP_MEAN && IS_WHOLE
typedef iso_u64 value;
#else
typedef acc value;
#endif
#if ISO_OP == OP_MEAN && IS_WHOLE
typedef double result;
#else
typedef elem result;
#endif

#if ISO_OP == OP_NORM2 || (ISO_OP == OP_MEAN && !IS_WHOLE)
#if IS_HALF
/* Rounds an f64 to odd in f32: the last bit then records whether bits were lost, so that a second
 * rounding, to the stored type, is that of the f64. */
ISO_INLINE float odd_of(double x)
{
    float near = (float)x;
    double back = (double)near;
    if (back != x && x == x) {
        double size = x < 0 ? -x : x, got = back < 0 ? -back : back;
        iso_u32 bits = iso_as_u32(near);
        near = iso_as_f32((got > size ? bits - 1u : bits) | 1u | (x < 0 ? 0x80000000u : 0u));
    }
    return near;
}
#endif

/* Rounds an f64 once to the stored type. */
ISO_INLINE void store_f64(ISO_GLOBAL result *to, iso_i64 i, double x)
{
#if IS_HALF
    iso_store(to, i, odd_of(x));
#else
    to[i] = (result)x;
#endif
}
#endif

#if IS_SCALED
typedef struct lane {
    double med, big, small;
} lane;
ISO_INLINE lane lane_neutral(void)
{
    lane l;
    l.med = 0.0;
    l.big = 0.0;
    l.small = 0.0;
    return l;
}
ISO_INLINE lane lane_fold(lane a, lane b)
{
    a.med += b.med;
    a.big += b.big;
    a.small += b.small;
    return a;
}
ISO_INLINE lane lane_step(lane l, elem x, elem y, iso_i64 at)
{
    double size = iso_as_f64(iso_as_u64(x) & ~((iso_u64)1 << 63));
    (void)y;
    (void)at;
    if (size > FROM_BIG) {
        double scaled = size * SCALE_BIG;
        l.big = iso_fma64(scaled, scaled, l.big);
    } else if (size < TO_SMALL) {
        double scaled = size * SCALE_SMALL;
        l.small = iso_fma64(scaled, scaled, l.small);
    } else {
        l.med = iso_fma64(x, x, l.med);
    }
    return l;
}
ISO_INLINE void lane_finish(ISO_GLOBAL result *to, iso_i64 i, lane l, iso_i64 n)
{
    int has_med = l.med > 0.0 || l.med != l.med;
    double norm;
    (void)n;
    if (l.big > 0.0) {
        double all = has_med ? iso_fma64(l.med * SCALE_BIG, SCALE_BIG, l.big) : l.big;
        norm = iso_sqrt64(all) / SCALE_BIG;
    } else if (l.small > 0.0) {
        double q = iso_sqrt64(l.small) / SCALE_SMALL;
        norm = q;
        if (has_med) {
            double p = iso_sqrt64(l.med);
            double hi = q > p ? q : p, lo = q > p ? p : q, ratio = lo / hi;
            norm = iso_sqrt64((hi * hi) * iso_fma64(ratio, ratio, 1.0));
        }
    } else {
        norm = iso_sqrt64(l.med);
    }
    store_f64(to, i, norm);
}
#else
typedef struct lane {
    value v;
} lane;
ISO_INLINE lane lane_neutral(void)
{
    lane l;
    l.v = (value)(ISO_OP == OP_PRODUCT ? 1 : 0);
    return l;
}
ISO_INLINE lane lane_fold(lane a, lane b)
{
#if ISO_OP == OP_PRODUCT
    a.v = a.v * b.v;
#elif ISO_OP == OP_XOR
    a.v = a.v ^ b.v;
#else
    a.v = a.v + b.v;
#endif
    return a;
}
ISO_INLINE lane lane_step(lane l, elem x, elem y, iso_i64 at)
{
    (void)y;
    (void)at;
#if ISO_OP == OP_PRODUCT
    l.v = l.v * number_of(x);
#elif ISO_OP == OP_XOR
    l.v = l.v ^ number_of(x);
#elif ISO_OP == OP_DOT
    l.v = acc_fma(number_of(x), number_of(y), l.v);
#elif ISO_OP == OP_NORM2
    {
        double wide = (double)number_of(x);
        l.v = iso_fma64(wide, wide, l.v);
    }
#elif ISO_OP == OP_ASUM
    {
        value size = number_of(x);
#if IS_WHOLE
        size = x < 0 ? 0 - size : size;
#elif IS_LONG
        size = iso_as_f64(iso_as_u64(size) & ~((iso_u64)1 << 63));
#else
        size = iso_as_f32(iso_as_u32(size) & 0x7fffffffu);
#endif
        l.v = l.v + size;
    }
#elif ISO_OP == OP_MEAN && IS_WHOLE
    l.v = l.v + (value)(iso_i64)x;
#else
    l.v = l.v + number_of(x);
#endif
    return l;
}
ISO_INLINE void lane_finish(ISO_GLOBAL result *to, iso_i64 i, lane l, iso_i64 n)
{
    (void)n;
#if ISO_OP == OP_MEAN && IS_WHOLE
    to[i] = (double)(iso_i64)l.v / (double)n;
#elif ISO_OP == OP_MEAN
    store_f64(to, i, (double)l.v / (double)n);
#elif ISO_OP == OP_NORM2
    store_f64(to, i, iso_sqrt64(l.v));
#else
    iso_store(to, i, l.v);
#endif
}
#if IS_WHOLE
#define lane_word(l)  ((word)(l).v)
#define word_value(w) ((value)(w))
#elif IS_LONG || ISO_OP == OP_NORM2
#define lane_word(l)  iso_as_u64((l).v)
#define word_value(w) iso_as_f64(w)
#else
#define lane_word(l)  iso_as_u32((l).v)
#define word_value(w) iso_as_f32(w)
#endif
#endif
#endif

/* Without indices, a lane within a block is an ordinary lane. */
#if !IS_INDEX
typedef lane spot;
#define spot_neutral()         lane_neutral()
#define spot_fold(a, b)        lane_fold(a, b)
#define spot_step(s, x, y, at) lane_step(s, x, y, at)
#define lane_of(s, first)      (s)
#endif

/* ---- lanes as words, for shuffles and atomics ------------------------------------------------ */
#if IS_LONG || ISO_OP == OP_NORM2 || (ISO_OP == OP_MEAN && IS_WHOLE)
#define IS_LONG_WORD 1
typedef iso_u64 word;
#else
#define IS_LONG_WORD 0
typedef iso_u32 word;
#endif

#if !IS_INDEX && !IS_SCALED
ISO_INLINE lane lane_from(word w)
{
    lane l;
    l.v = word_value(w);
    return l;
}
#endif

#if ISO_SHUFFLE
ISO_INLINE iso_u32 down32(iso_u32 w, int delta)
{
    return (iso_u32)iso_shuffle_down(w, delta);
}
ISO_INLINE iso_u64 down64(iso_u64 w, int delta)
{
    iso_u32 low = down32((iso_u32)w, delta), high = down32((iso_u32)(w >> 32), delta);
    return (iso_u64)high << 32 | low;
}
ISO_INLINE lane lane_down(lane l, int delta)
{
#if IS_INDEX
    l.at = (iso_i64)down64((iso_u64)l.at, delta);
#if IS_LONG
    l.v = (key)down64((iso_u64)l.v, delta);
#else
    l.v = (key)down32((iso_u32)l.v, delta);
#endif
#elif IS_SCALED
    l.med = iso_as_f64(down64(iso_as_u64(l.med), delta));
    l.big = iso_as_f64(down64(iso_as_u64(l.big), delta));
    l.small = iso_as_f64(down64(iso_as_u64(l.small), delta));
#elif IS_LONG_WORD
    l = lane_from(down64(lane_word(l), delta));
#else
    l = lane_from(down32(lane_word(l), delta));
#endif
    return l;
}
#endif
