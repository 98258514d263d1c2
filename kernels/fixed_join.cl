/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed_join.cl - the exact sums of a fixed product, from their residues: the last step of
 * gemm_fixed.cl.
 *
 * With M the product of the moduli, m a modulus and r the sum S modulo m, let y be r times the
 * inverse of M / m, modulo m. Then the total of y * M / m over all moduli is S plus a multiple of
 * M. That multiple is the total divided by M, rounded to nearest, because the magnitude of S is
 * less than M / 2. It is found from the total's highest words, in units in which M has 24 bits:
 *
 * - what lies below a unit is cut off, and carries from lower words are not yet added. Together
 *   they are less than two units, so the quotient is too small by less than 2^-22;
 * - SHARE is rounded, which changes the quotient by less than 18 * 2^-32.
 *
 * So it is enough that S is less than M (1/2 - 2^-21) in magnitude: fixed_moduli.h sees to that.
 * Any y of the right residue would do, because the terms are exact.
 */

#if ISO_DTYPE == ISO_F64
#define T_FRACTION 52
#define T_FIELDS   2047
#define T_LEAST    (-1074)
#else
#define T_FRACTION 23
#define T_FIELDS   255
#define T_LEAST    (-149)
#endif

/* Loads an element's sum modulo each modulus. */
ISO_INLINE void load_sums(iso_i32 *residue, ISO_GLOBAL const sum_type *sums, iso_i64 at,
                          iso_i64 plane, iso_u32 place)
{
    ISO_UNROLL
    for (int c = 0; c < ISO_MODULI; c++) {
        residue[c] = sums[at + c * plane + place];
    }
}

/* The sum that has these residues: a whole number in two's complement. */
ISO_INLINE void exact_sum(iso_u32 *limb, const iso_i32 *residue)
{
    iso_u64 total[LIMBS]; /* words with carries that are not yet added: below 2^45 */
    iso_u64 carry = 0;
    ISO_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        total[i] = 0;
    }
    ISO_UNROLL
    for (int c = 0; c < ISO_MODULI; c++) {
        const iso_i32 m = modulus(c);
        iso_i32 y = residue[c];
        if (m == 256) {
            y = y * inverse[c] & 255;
        } else {
#if defined(ISO_WIDE)
            y -= m * high_product(y, reciprocal(m)); /* from -64 to m + 64 */
#endif
            y = modulo(y * inverse[c], m);
        }
        ISO_UNROLL
        for (int i = 0; i < LIMBS; i++) {
            total[i] += (iso_u64)(iso_u32)y * weight[c * LIMBS + i];
        }
    }
    const iso_u64 high = total[LIMBS - 1] + (total[LIMBS - 2] >> 32);
#if UP > 0
    const iso_u32 units = (iso_u32)(high << UP) | (iso_u32)total[LIMBS - 2] >> (32 - UP);
#else
    const iso_u32 units = (iso_u32)(high >> -(UP));
#endif
    const iso_u32 times = (iso_u32)(((iso_u64)units * SHARE + ((iso_u64)1 << 54)) >> 55);
    ISO_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        carry += total[i] + (iso_u64)times * less[i];
        limb[i] = (iso_u32)carry;
        carry >>= 32;
    }
}

/* The number times 2^e, rounded to nearest even to the accumulation type: the bits of the result.
 * Clause 7.5. */
ISO_INLINE iso_u64 round_sum(iso_u32 *limb, iso_i32 e)
{
    const iso_u32 negative = limb[LIMBS - 1] >> 31;
    iso_u32 carry = negative;
    iso_u32 lost = 0u;
    ISO_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        limb[i] = (negative ? ~limb[i] : limb[i]) + carry;
        carry = carry && limb[i] == 0u ? 1u : 0u;
    }
    /* The highest limb that is not 0 comes to the top. Most sums have it there already. */
    e += 32 * LIMBS - 64;
    for (int n = 1; n < LIMBS && limb[LIMBS - 1] == 0u; n++) {
        ISO_UNROLL
        for (int i = LIMBS - 1; i > 0; i--) {
            limb[i] = limb[i - 1];
        }
        limb[0] = 0u;
        e -= 32;
    }
    if (limb[LIMBS - 1] == 0u) {
        return 0;
    }
    /* The highest 64 bits; the number is top * 2^e, and a little more if `lost` is not 0. */
    const iso_i32 zeros = (iso_i32)iso_clz32(limb[LIMBS - 1]);
    const iso_u32 third = LIMBS > 2 ? limb[(LIMBS + LIMBS - 3) % LIMBS] : 0u;
    iso_u64 top = (((iso_u64)limb[LIMBS - 1] << 32) | limb[LIMBS - 2]) << zeros;
    top |= zeros ? third >> (32 - zeros) : 0;
    lost = third << zeros;
    ISO_UNROLL
    for (int i = 0; i < LIMBS - 3; i++) {
        lost |= limb[i];
    }
    e -= zeros;
    const iso_i32 cut = 63 - T_FRACTION > T_LEAST - e ? 63 - T_FRACTION : T_LEAST - e;
    iso_u64 kept = 0;
    if (cut <= 64) {
        const iso_u64 next_bit = top >> (cut - 1) & 1;
        const iso_u64 below = top << (65 - cut) | (lost ? 1 : 0);
        kept = cut < 64 ? top >> cut : 0;
        kept += next_bit && (below || (kept & 1)) ? 1 : 0;
    }
    /* The leading bit of a number that is not subnormal adds the 1 that its field lacks. */
    kept += (iso_u64)(e + cut - T_LEAST) << T_FRACTION;
    if (e + cut - T_LEAST >= T_FIELDS || kept >> T_FRACTION >= T_FIELDS) {
        kept = (iso_u64)T_FIELDS << T_FRACTION;
    }
    return kept | (iso_u64)negative << (ISO_DTYPE == ISO_F64 ? 63 : 31);
}

/* t of clause 7, from the sum whose row and column have these exponents. */
ISO_INLINE acc join(const iso_i32 *residue, iso_u32 e, iso_u32 f)
{
    iso_u64 bits = (iso_u64)(2 * T_FIELDS + 1) << (T_FRACTION - 1); /* a NaN */
    if (e != EXPONENT_BAD && f != EXPONENT_BAD) {
        iso_u32 limb[LIMBS];
        exact_sum(limb, residue);
        bits = round_sum(
            limb, e == 0u || f == 0u ? 0 : (iso_i32)(e + f) - 2 * EXPONENT_BIAS - 2 * DIGITS);
    }
#if ISO_DTYPE == ISO_F64
    return iso_as_f64(bits);
#else
    return iso_as_f32((iso_u32)bits);
#endif
}

/* Computes the elements of C from the sums: `rows` x `cols` of them from (row, col) on, of
 * `rows_held` x `cols_held` sums. The block of A begins at vector `row`, that of B at vector `col`.
 * With k = 0 there are no sums. A group takes tiles of ISO_THREADS / 2^across rows and 2^wide
 * columns, 2^across at a time. A work-item loads the sums of its next element before it joins those
 * of this one. */
ISO_KERNEL(ISO_THREADS)
fixed_join(ISO_GLOBAL const sum_type *sums, iso_i64 sums_at, ISO_GLOBAL const iso_u32 *exponents,
           iso_i64 a_at, iso_i64 b_at, iso_i64 k, ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc,
           iso_i64 stride_c, iso_i64 row, iso_i64 rows, iso_i64 col, iso_i64 cols,
           iso_i64 rows_held, iso_i64 cols_held, iso_i64 members, iso_i64 next_a, iso_i64 next_b,
           iso_i32 across, iso_i32 wide, acc alpha, acc beta)
{
    const iso_i64 plane = members * rows_held * cols_held;
    const int width = 1 << across;
    const int height = ISO_THREADS >> across;
    /* There are fewer sums than bytes of scratch memory: 32 bits are enough. */
    const iso_u32 strips = (iso_u32)((cols + (1 << wide) - 1) >> wide);
    const iso_u32 lines = (iso_u32)((rows + height - 1) / height);
    const iso_u32 tasks = strips * lines * (iso_u32)members;
    for (iso_u32 task = (iso_u32)ISO_GROUP_ID(); task < tasks; task += (iso_u32)ISO_GROUP_COUNT()) {
        const iso_u32 line = task / strips;
        const iso_u32 member = members > 1 ? line / lines : 0u;
        const iso_i64 i = (iso_i64)(line - member * lines) * height + (ISO_LOCAL_ID() >> across);
        const iso_i64 f_at = b_at + member * next_b + col;
        const iso_i64 to = c_at + member * stride_c + (row + i) * ldc + col;
        const iso_u32 held = (iso_u32)((member * rows_held + i) * cols_held);
        const iso_u32 left = (task - line * strips) << wide;
        const int end = left + (1u << wide) < cols ? (int)(left + (1u << wide)) : (int)cols;
        int j = (int)left + (ISO_LOCAL_ID() & (width - 1));
        iso_i32 residue[ISO_MODULI], next[ISO_MODULI];
        iso_u32 e = 0u, f = 0u, next_f = 0u;
        if (i >= rows || j >= end) {
            continue;
        }
        ISO_UNROLL
        for (int n = 0; n < ISO_MODULI; n++) {
            residue[n] = next[n] = 0;
        }
        if (k > 0) {
            e = exponents[a_at + member * next_a + row + i];
            f = exponents[f_at + j];
            load_sums(residue, sums, sums_at, plane, held + j);
        }
        for (; j < end; j += 2 * width) {
            if (k > 0 && j + width < end) {
                next_f = exponents[f_at + j + width];
                load_sums(next, sums, sums_at, plane, held + j + width);
            }
            iso_finish(c, to + j, join(residue, e, f), alpha, beta);
            if (j + width >= end) {
                break;
            }
            if (k > 0 && j + 2 * width < end) {
                f = exponents[f_at + j + 2 * width];
                load_sums(residue, sums, sums_at, plane, held + j + 2 * width);
            }
            iso_finish(c, to + j + width, join(next, e, next_f), alpha, beta);
        }
    }
}
