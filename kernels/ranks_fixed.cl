/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks_fixed.cl - the steps of exact sums over ranks (docs/bits.md, 13.3 and 13.4), for the type
 * RANKS_OF: exponents of the largest terms, limbs of whole numbers, and the numbers that they stand
 * for. Elements are integers with the bits of the numbers, so a device needs no arithmetic in their
 * type; for f64, ISO_DTYPE is i64.
 */
#define CODE_ZERO     (-1000000)
#define CODE_INFINITY 1000000
#define CODE_NAN      2000000
#define LIMB_BITS     40
#define LIMB_MASK     (((iso_u64)1 << LIMB_BITS) - 1)

/* FRACTION: bits of the fraction. LOWEST: the exponent of the least number. P: see bits.md. */
#if RANKS_OF == ISO_F16
typedef iso_u16 cell;
#define FRACTION  10
#define LOWEST    (-24)
#define ENDLESS   ((iso_u64)0x7c00)
#define SIGN_BIT  15
#define TWO_LIMBS 0
#elif RANKS_OF == ISO_BF16
typedef iso_u16 cell;
#define FRACTION  7
#define LOWEST    (-133)
#define ENDLESS   ((iso_u64)0x7f80)
#define SIGN_BIT  15
#define TWO_LIMBS 0
#elif RANKS_OF == ISO_F32
typedef iso_u32 cell;
#define FRACTION  23
#define LOWEST    (-149)
#define ENDLESS   ((iso_u64)0x7f800000)
#define SIGN_BIT  31
#define TWO_LIMBS 0
#else
typedef iso_u64 cell;
#define FRACTION  52
#define LOWEST    (-1074)
#define ENDLESS   ((iso_u64)0x7ff00000 << 32)
#define SIGN_BIT  63
#define TWO_LIMBS 1
#endif
#define P        (TWO_LIMBS ? 2 * LIMB_BITS : LIMB_BITS)
#define LEADING  ((iso_u64)1 << FRACTION) /* the fraction's bit that is not stored */
#define SIGN     ((iso_u64)1 << SIGN_BIT)
#define NOT_SIGN (SIGN - 1)

#define FOR_ELEMENTS(i, n)                                                                         \
    for (i = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); i < n;                                 \
         i += ISO_GROUP_COUNT() * ISO_THREADS)

/* The bits of u from the highest one that is set; u is not 0. */
ISO_INLINE int length_of(iso_u64 u)
{
    const iso_u32 high = (iso_u32)(u >> 32), low = (iso_u32)u;
    return high ? 64 - (int)iso_clz32(high) : 32 - (int)iso_clz32(low);
}

/* ---- exponents ------------------------------------------------------------------------------- */

ISO_INLINE iso_i32 code_of(iso_u64 bits)
{
    const iso_u64 size = bits & NOT_SIGN;
    const int field = (int)(size >> FRACTION);
    if (size >= ENDLESS) {
        return size == ENDLESS ? CODE_INFINITY : CODE_NAN;
    }
    return field ? field + FRACTION + LOWEST : size ? length_of(size) + LOWEST : CODE_ZERO;
}

ISO_KERNEL(ISO_THREADS)
ranks_exponents(ISO_GLOBAL const cell *x, iso_i64 x_at, ISO_GLOBAL iso_i32 *exponents,
                iso_i64 exponents_at, iso_i64 n, iso_i64 stride, iso_i32 count)
{
    iso_i64 i;
    iso_i32 t;
    FOR_ELEMENTS(i, n)
    {
        iso_i32 most = CODE_ZERO;
        for (t = 0; t < count; t++) {
            const iso_i32 code = code_of(x[x_at + t * stride + i]);
            most = code > most ? code : most;
        }
        exponents[exponents_at + i] = most;
    }
}

/* ---- limbs ----------------------------------------------------------------------------------- */

/* m / 2^shift, rounded to nearest even; m < 2^62. */
ISO_INLINE iso_u64 shift_right(iso_u64 m, int shift)
{
    const iso_u64 middle = (iso_u64)1 << ((shift - 1) & 63), rest = m & (2 * middle - 1);
    const iso_u64 kept = m >> (shift & 63);
    if (shift > 63) {
        return 0;
    }
    return kept + (rest > middle || (rest == middle && (kept & 1)) ? 1 : 0);
}

/* Adds the limbs of a finite term. */
ISO_INLINE void add_term(iso_u64 *low, iso_u64 *rest, iso_u64 bits, iso_i32 code)
{
    const iso_u64 size = bits & NOT_SIGN;
    const int field = (int)(size >> FRACTION);
    const iso_u64 m = field ? (size & (LEADING - 1)) | LEADING : size;
    const int shift = (field ? field - 1 : 0) + LOWEST + P - code;
    iso_u64 digits, more = 0;
    if (m == 0) {
        return;
    }
    digits = shift < 0 ? shift_right(m, -shift) : m << (shift & 63);
#if TWO_LIMBS
    if (shift >= LIMB_BITS) {
        digits = 0;
        more = m << (shift - LIMB_BITS);
    } else {
        more = shift > 0 ? m >> (LIMB_BITS - shift) : digits >> LIMB_BITS;
        digits = digits & LIMB_MASK;
    }
    if (bits & SIGN) {
        more = 0 - more - (digits ? 1 : 0);
        digits = (0 - digits) & LIMB_MASK;
    }
#else
    digits = bits & SIGN ? 0 - digits : digits;
#endif
    *low += digits;
    *rest += more;
}

ISO_KERNEL(ISO_THREADS)
ranks_limbs(ISO_GLOBAL const cell *x, iso_i64 x_at, ISO_GLOBAL const iso_i32 *exponents,
            iso_i64 exponents_at, ISO_GLOBAL iso_u64 *limbs, iso_i64 limbs_at, iso_i64 n,
            iso_i64 stride, iso_i64 limb_stride, iso_i32 count)
{
    iso_i64 i;
    iso_i32 t;
    FOR_ELEMENTS(i, n)
    {
        const iso_i32 code = exponents[exponents_at + i];
        iso_u64 low = 0, rest = 0;
        for (t = 0; t < count && code < CODE_NAN; t++) {
            const iso_u64 bits = x[x_at + t * stride + i];
            if (code < CODE_INFINITY) {
                add_term(&low, &rest, bits, code);
            } else if ((bits & NOT_SIGN) == ENDLESS) {
                low += bits & SIGN ? (iso_u64)1 << 31 : 1;
            }
        }
        limbs[limbs_at + i] = low;
#if TWO_LIMBS
        limbs[limbs_at + limb_stride + i] = rest;
#endif
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The bits of m * 2^scale, rounded to nearest even. m is not 0. */
ISO_INLINE iso_u64 round_bits(iso_u64 m, int scale)
{
    const int wanted = length_of(m) - 1 - FRACTION + scale;
    const int unit = wanted > LOWEST ? wanted : LOWEST, shift = unit - scale;
    iso_u64 kept = 0, bits;
    if (shift <= 0) {
        kept = m << -shift;
    } else if (shift <= 64) {
        const iso_u64 middle = (iso_u64)1 << (shift - 1), rest = m & (2 * middle - 1);
        kept = shift < 64 ? m >> (shift & 63) : 0;
        kept += rest > middle || (rest == middle && (kept & 1)) ? 1 : 0;
    }
    /* The fraction's leading bit, which is not stored, adds 1 to the exponent. */
    bits = ((iso_u64)(unit - LOWEST) << FRACTION) + kept;
    return bits < ENDLESS ? bits : ENDLESS;
}

ISO_INLINE iso_u64 join_bits(iso_i32 code, iso_u64 low, iso_u64 rest)
{
    iso_u64 digits, high, m, sign = 0;
    int dropped = 0;
    if (code >= CODE_INFINITY) {
        const iso_u64 up = low & 0x7fffffffu, down = low >> 31;
        if (code >= CODE_NAN || (up && down)) {
            return ENDLESS | LEADING >> 1;
        }
        return down ? ENDLESS | SIGN : ENDLESS;
    }
    high = rest + (iso_u64)((iso_i64)low >> LIMB_BITS);
    digits = low & LIMB_MASK;
    if (high >> 63) {
        sign = SIGN;
        high = 0 - high - (digits ? 1 : 0);
        digits = (0 - digits) & LIMB_MASK;
    }
    if ((high | digits) == 0) {
        return 0;
    }
    /* The upper 64 bits; the last one also records whether lower ones are set. */
    m = high << LIMB_BITS | digits;
    if (high >> (64 - LIMB_BITS)) {
        dropped = LIMB_BITS - (64 - length_of(high));
        m = high << (LIMB_BITS - dropped) | digits >> dropped;
        m |= digits & (((iso_u64)1 << dropped) - 1) ? 1 : 0;
    }
    return round_bits(m, code - P + dropped) | sign;
}

ISO_KERNEL(ISO_THREADS)
ranks_join(ISO_GLOBAL const iso_i32 *exponents, iso_i64 exponents_at,
           ISO_GLOBAL const iso_u64 *limbs, iso_i64 limbs_at, ISO_GLOBAL cell *z, iso_i64 z_at,
           iso_i64 n, iso_i64 limb_stride)
{
    iso_i64 i;
    FOR_ELEMENTS(i, n)
    {
        const iso_u64 low = limbs[limbs_at + i];
        const iso_u64 rest = TWO_LIMBS ? limbs[limbs_at + limb_stride + i] : 0;
        z[z_at + i] = (cell)join_bits(exponents[exponents_at + i], low, rest);
    }
}
