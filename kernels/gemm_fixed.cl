/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_fixed.cl - the fixed product: clause 7 of docs/bits.md. The rows of op(A) and the columns of
 * op(B) are vectors here. Their largest magnitudes give the scales; the scaled elements are whole
 * numbers, of which only the residues modulo some small numbers are kept, one byte each. Products
 * of such bytes are exact in 32 bits, in any order. From the sums modulo all the small numbers, the
 * last kernel computes the exact sum, and rounds it once.
 *
 * ISO_MODULI   the small numbers that are used: their product must exceed twice the greatest sum
 * ISO_SIDE     rows and columns of a group's tile of sums
 * ISO_TM       rows and columns of a work-item's tile
 * ISO_WIDE     sums have 32 bits, as a vendor's library leaves them; else each is one byte, from 0
 *              up to its modulus
 *
 * planes       [modulus][member][vector][pitch] bytes; zeros fill a vector up to its pitch, and a
 *              block up to its padding
 * sums         [modulus][member][row][column], with the padding
 * exponents    [member][vector] of 32 bits: 0 for zeros alone, EXPONENT_BAD if there is an infinity
 *              or a NaN, else e + EXPONENT_BIAS
 */
#if ISO_DTYPE == ISO_F16
#define FRACTION 10
#define BIAS     15
#define DIGITS   15 /* of the whole numbers */
typedef iso_u16 stored;
typedef iso_u32 word;
typedef iso_i32 whole;
#elif ISO_DTYPE == ISO_BF16
#define FRACTION 7
#define BIAS     127
#define DIGITS   15
typedef iso_u16 stored;
typedef iso_u32 word;
typedef iso_i32 whole;
#elif ISO_DTYPE == ISO_F32
#define FRACTION 23
#define BIAS     127
#define DIGITS   24
typedef iso_u32 stored;
typedef iso_u32 word;
typedef iso_i32 whole;
#else
#define FRACTION 52
#define BIAS     1023
#define DIGITS   53
typedef iso_u64 stored;
typedef iso_u64 word;
typedef iso_i64 whole;
#endif
#if defined(ISO_WIDE)
typedef iso_i32 sum_type;
#else
typedef iso_u8 sum_type;
#endif
#define MAGNITUDE     ((word)((stored)(~(stored)0) >> 1))
#define EXPONENT_BIAS 2048
#define EXPONENT_BAD  0x7fffffffu

#define TILE_VECTORS 32
#define TILE_DEPTH   64
#define WORDS        16 /* of four bytes, along k, that a group multiplies at a time */

/* No two have a common divisor. Folded by the compiler where c is a constant. */
ISO_INLINE iso_i32 modulus(int c)
{
    return c == 0    ? 256
           : c == 1  ? 255
           : c == 2  ? 253
           : c == 3  ? 251
           : c == 4  ? 247
           : c == 5  ? 241
           : c == 6  ? 239
           : c == 7  ? 233
           : c == 8  ? 229
           : c == 9  ? 227
           : c == 10 ? 223
           : c == 11 ? 217
           : c == 12 ? 211
           : c == 13 ? 199
           : c == 14 ? 197
           : c == 15 ? 193
           : c == 16 ? 191
                     : 181;
}

/* The product of moduli 0 to j - 1, modulo modulus c, at c * (c - 1) / 2 + j. */
ISO_CONSTANT iso_u8 place[153] = {
    1,   1,   3,   1,   5,   20,  1,   9,   72,  185, 1,   15,  210, 110, 136, 1,   17,
    33,  223, 47,  137, 1,   23,  40,  101, 187, 55,  207, 1,   27,  15,  131, 134, 122,
    90,  213, 1,   29,  131, 1,   24,  26,  137, 55,  103, 1,   33,  164, 14,  169, 42,
    87,  54,  94,  118, 1,   39,  180, 187, 65,  214, 145, 152, 45,  106, 192, 1,   45,
    81,  26,  196, 93,  47,  50,  45,  177, 89,  13,  1,   57,  8,   34,  176, 90,  198,
    159, 33,  194, 59,  23,  16,  1,   59,  73,  148, 112, 84,  150, 193, 53,  120, 54,
    25,  106, 105, 1,   63,  46,  58,  83,  43,  134, 181, 99,  90,  165, 125, 105, 153,
    146, 1,   65,  149, 70,  189, 79,  130, 128, 28,  109, 104, 81,  5,   100, 36,  25,
    1,   75,  120, 133, 79,  146, 72,  13,  133, 49,  82,  5,   180, 151, 3,   48,  33};
/* The inverse of the product of moduli 0 to c - 1, modulo modulus c. */
ISO_CONSTANT iso_u8 inverse[18] = {1,  1,   211, 182, 246, 184, 41,  115, 161,
                                   54, 163, 149, 46,  142, 91,  116, 149, 164};

/* The residue in [-m/2, m/2). */
ISO_INLINE iso_i32 balanced(iso_i32 x, iso_i32 m)
{
    x %= m;
    if (x >= (m + 1) / 2) {
        x -= m;
    }
    if (x < -(m / 2)) {
        x += m;
    }
    return x;
}

/* ---- exponents ------------------------------------------------------------------------------- */

ISO_KERNEL(ISO_THREADS)
fixed_clear(ISO_GLOBAL iso_u32 *exponents, iso_i64 at, iso_i64 count)
{
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    for (iso_i64 i = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); i < count; i += step) {
        exponents[at + i] = 0u;
    }
}

ISO_INLINE iso_u32 key_of(word size)
{
    const iso_i32 field = (iso_i32)(size >> FRACTION);
    iso_i32 e = 1 - BIAS - FRACTION;
    if (size == 0) {
        return 0u;
    }
    if (field == 2 * BIAS + 1) {
        return EXPONENT_BAD;
    }
    if (field > 0) {
        return (iso_u32)(field - BIAS + 1 + EXPONENT_BIAS);
    }
    for (; size; size >>= 1) {
        e++;
    }
    return (iso_u32)(e + EXPONENT_BIAS);
}

ISO_INLINE void raise_key(ISO_GLOBAL iso_u32 *key, iso_u32 value)
{
    iso_u32 seen = *key;
    while (seen < value) {
        const iso_u32 old = iso_cas32(key, seen, value);
        if (old == seen) {
            return;
        }
        seen = old;
    }
}

/* Element p of vector v of a member is x[x_at + member * stride + v * step + p * k_step]. Each
 * group takes `part` elements of one vector if they lie one after another (k_step 1), else of
 * ISO_THREADS vectors. */
ISO_KERNEL(ISO_THREADS)
fixed_exponents(ISO_GLOBAL const stored *x, iso_i64 x_at, iso_i64 step, iso_i64 k_step,
                iso_i64 stride, ISO_GLOBAL iso_u32 *exponents, iso_i64 at, iso_i64 vectors,
                iso_i64 members, iso_i64 k, iso_i64 part)
{
    ISO_SHARED word best[ISO_THREADS];
    const int id = ISO_LOCAL_ID();
    const iso_i64 parts = (k + part - 1) / part;
    const iso_i64 strips = k_step == 1 ? vectors : (vectors + ISO_THREADS - 1) / ISO_THREADS;
    for (iso_i64 task = ISO_GROUP_ID(); task < strips * parts * members;
         task += ISO_GROUP_COUNT()) {
        const iso_i64 member = task / (strips * parts);
        const iso_i64 strip = task / parts % strips;
        const iso_i64 from = task % parts * part;
        const iso_i64 to = from + part < k ? from + part : k;
        const iso_i64 v = k_step == 1 ? strip : strip * ISO_THREADS + id;
        word size = 0;
        if (v < vectors) {
            const iso_i64 base = x_at + member * stride + v * step;
            for (iso_i64 p = k_step == 1 ? from + id : from; p < to;
                 p += k_step == 1 ? ISO_THREADS : 1) {
                const word s = (word)x[base + p * k_step] & MAGNITUDE;
                size = s > size ? s : size;
            }
        }
        if (k_step != 1) {
            if (v < vectors) {
                raise_key(&exponents[at + member * vectors + v], key_of(size));
            }
            continue;
        }
        best[id] = size;
        ISO_BARRIER();
        for (int apart = ISO_THREADS / 2; apart > 0; apart /= 2) {
            if (id < apart && best[id + apart] > best[id]) {
                best[id] = best[id + apart];
            }
            ISO_BARRIER();
        }
        if (id == 0) {
            raise_key(&exponents[at + member * vectors + v], key_of(best[0]));
        }
        ISO_BARRIER();
    }
}

/* ---- residues -------------------------------------------------------------------------------- */

/* The element's whole number, for a vector with this key: clause 7.3. */
ISO_INLINE whole whole_of(word bits, iso_u32 key)
{
    const word size = bits & MAGNITUDE;
    const iso_i32 field = (iso_i32)(size >> FRACTION);
    const iso_i32 least = field > 0 ? field : 1;
    const iso_i32 e = (iso_i32)key - EXPONENT_BIAS;
    const iso_i32 shift = e - (least - BIAS + 1) - (DIGITS - FRACTION - 1);
    word kept = size & (((word)1 << FRACTION) - 1);
    if (key == 0u || key == EXPONENT_BAD || shift > DIGITS + 1) {
        return 0;
    }
    if (field > 0) {
        kept |= (word)1 << FRACTION;
    }
    if (shift <= 0) {
        kept <<= -shift;
    } else {
        const word rest = kept & (((word)1 << shift) - 1);
        const word middle = (word)1 << (shift - 1);
        kept >>= shift;
        if (rest > middle || (rest == middle && (kept & 1))) {
            kept++;
        }
    }
    return bits == size ? (whole)kept : -(whole)kept;
}

ISO_INLINE iso_i32 residue_of(whole q, iso_i32 m)
{
#if ISO_DTYPE == ISO_F64
    /* In two halves: 32-bit divisions are many times faster than those of 64 bits. */
    const iso_i32 high = (iso_i32)(q >> 27);
    const iso_i32 low = (iso_i32)(q & 0x7ffffff);
    return balanced(high % m * ((1 << 27) % m) + low % m, m);
#else
    return balanced(q, m);
#endif
}

/* Writes the planes of `count` vectors from vector `first` on, of their elements `from` to
 * `from + depth`, and zeros up to `held` vectors. A group takes tiles of TILE_VECTORS x TILE_DEPTH
 * elements. */
ISO_KERNEL(ISO_THREADS)
fixed_residues(ISO_GLOBAL const stored *x, iso_i64 x_at, iso_i64 step, iso_i64 k_step,
               iso_i64 stride, ISO_GLOBAL const iso_u32 *exponents, iso_i64 at, iso_i64 vectors,
               iso_i64 members, iso_i64 first, iso_i64 count, iso_i64 held, iso_i64 from,
               iso_i64 depth, ISO_GLOBAL iso_u32 *planes, iso_i64 planes_at, iso_i64 pitch)
{
    ISO_SHARED word tile[TILE_VECTORS * (TILE_DEPTH + 1)];
    const int id = ISO_LOCAL_ID();
    const iso_i64 across = (held + TILE_VECTORS - 1) / TILE_VECTORS;
    const iso_i64 down = pitch / TILE_DEPTH;
    const iso_i64 plane = members * held * (pitch / 4); /* in words */
    for (iso_i64 task = ISO_GROUP_ID(); task < across * down * members; task += ISO_GROUP_COUNT()) {
        const iso_i64 member = task / (across * down);
        const iso_i64 v0 = task / down % across * TILE_VECTORS;
        const iso_i64 p0 = task % down * TILE_DEPTH;
        const iso_i64 base = x_at + member * stride + (first + v0) * step + (from + p0) * k_step;
        for (int i = id; i < TILE_VECTORS * TILE_DEPTH; i += ISO_THREADS) {
            const int v = k_step == 1 ? i / TILE_DEPTH : i % TILE_VECTORS;
            const int p = k_step == 1 ? i % TILE_DEPTH : i / TILE_VECTORS;
            word bits = 0;
            if (v0 + v < count && p0 + p < depth) {
                bits = x[base + v * step + p * k_step];
            }
            tile[v * (TILE_DEPTH + 1) + p] = bits;
        }
        ISO_BARRIER();
        for (int i = id; i < TILE_VECTORS * TILE_DEPTH / 4; i += ISO_THREADS) {
            const int v = i / (TILE_DEPTH / 4);
            const int p = i % (TILE_DEPTH / 4) * 4;
            if (v0 + v < held) {
                const iso_u32 key =
                    v0 + v < count ? exponents[at + member * vectors + first + v0 + v] : 0u;
                const iso_i64 to = planes_at + ((member * held + v0 + v) * pitch + p0 + p) / 4;
                whole q[4];
                ISO_UNROLL
                for (int j = 0; j < 4; j++) {
                    q[j] = whole_of(tile[v * (TILE_DEPTH + 1) + p + j], key);
                }
                ISO_UNROLL
                for (int c = 0; c < ISO_MODULI; c++) {
                    iso_u32 bytes = 0u;
                    ISO_UNROLL
                    for (int j = 0; j < 4; j++) {
                        bytes |= ((iso_u32)residue_of(q[j], modulus(c)) & 0xffu) << (8 * j);
                    }
                    planes[to + c * plane] = bytes;
                }
            }
        }
        ISO_BARRIER();
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* Copies ISO_SIDE vectors' words from `word0` on to shared memory; zeros beyond the last vector. */
ISO_INLINE void load_words(ISO_SHARED_AT iso_u32 *to, ISO_GLOBAL const iso_u32 *planes, iso_i64 at,
                           iso_i64 first, iso_i64 count, iso_i64 words, iso_i64 word0)
{
    for (int i = ISO_LOCAL_ID(); i < ISO_SIDE * WORDS; i += ISO_THREADS) {
        const int v = i / WORDS;
        const int w = i % WORDS;
        iso_u32 value = 0u;
        if (first + v < count) {
            value = planes[at + (first + v) * words + word0 + w];
        }
        to[v * (WORDS + 1) + w] = value;
    }
}

/* A sum as it is kept. */
ISO_INLINE sum_type kept_sum(iso_i32 sum, iso_i32 m)
{
#if defined(ISO_WIDE)
    return sum;
#else
    sum %= m;
    return (sum_type)(sum < 0 ? sum + m : sum);
#endif
}

/* Adds the products of all planes to the sums; `later` says that there are sums from earlier parts
 * of k, otherwise they are replaced. */
ISO_KERNEL(ISO_THREADS)
fixed_multiply(ISO_GLOBAL const iso_u32 *planes, iso_i64 a_at, iso_i64 b_at, iso_i64 rows,
               iso_i64 cols, iso_i64 members, iso_i64 pitch, ISO_GLOBAL sum_type *sums,
               iso_i64 sums_at, iso_i32 later)
{
    ISO_SHARED iso_u32 a[ISO_SIDE * (WORDS + 1)];
    ISO_SHARED iso_u32 b[ISO_SIDE * (WORDS + 1)];
    const int i0 = ISO_LOCAL_ID() / (ISO_SIDE / ISO_TM);
    const int j0 = ISO_LOCAL_ID() % (ISO_SIDE / ISO_TM);
    const iso_i64 down = (rows + ISO_SIDE - 1) / ISO_SIDE;
    const iso_i64 across = (cols + ISO_SIDE - 1) / ISO_SIDE;
    const iso_i64 words = pitch / 4;
    for (iso_i64 task = ISO_GROUP_ID(); task < ISO_MODULI * members * down * across;
         task += ISO_GROUP_COUNT()) {
        const iso_i64 matrix = task / (down * across); /* modulus and member */
        const iso_i64 row = task / across % down * ISO_SIDE;
        const iso_i64 col = task % across * ISO_SIDE;
        const iso_i32 m = modulus((int)(matrix / members));
        iso_i32 sum[ISO_TM][ISO_TM];
        ISO_UNROLL
        for (int i = 0; i < ISO_TM; i++) {
            ISO_UNROLL
            for (int j = 0; j < ISO_TM; j++) {
                sum[i][j] = 0;
            }
        }
        const int busy = row + i0 < rows && col + j0 < cols; /* or all its sums lie outside */
        for (iso_i64 w = 0; w < words; w += WORDS) {
            load_words(a, planes, a_at + matrix * rows * words, row, rows, words, w);
            load_words(b, planes, b_at + matrix * cols * words, col, cols, words, w);
            ISO_BARRIER();
            for (int p = busy ? 0 : WORDS; p < WORDS; p++) {
                iso_u32 x[ISO_TM], y[ISO_TM];
                ISO_UNROLL
                for (int i = 0; i < ISO_TM; i++) {
                    x[i] = a[(i0 + i * (ISO_SIDE / ISO_TM)) * (WORDS + 1) + p];
                    y[i] = b[(j0 + i * (ISO_SIDE / ISO_TM)) * (WORDS + 1) + p];
                }
                ISO_UNROLL
                for (int i = 0; i < ISO_TM; i++) {
                    ISO_UNROLL
                    for (int j = 0; j < ISO_TM; j++) {
                        sum[i][j] = iso_dot4(x[i], y[j], sum[i][j]);
                    }
                }
            }
            ISO_BARRIER();
        }
        ISO_UNROLL
        for (int i = 0; i < ISO_TM; i++) {
            ISO_UNROLL
            for (int j = 0; j < ISO_TM; j++) {
                const iso_i64 r = row + i0 + i * (ISO_SIDE / ISO_TM);
                const iso_i64 c = col + j0 + j * (ISO_SIDE / ISO_TM);
                if (r < rows && c < cols) {
                    const iso_i64 at = sums_at + (matrix * rows + r) * cols + c;
                    sums[at] = kept_sum(later ? sum[i][j] + sums[at] % m : sum[i][j], m);
                }
            }
        }
    }
}

/* Makes room in sums of 32 bits for later parts of k. A plane has the sums of one modulus. */
ISO_KERNEL(ISO_THREADS)
fixed_reduce(ISO_GLOBAL sum_type *sums, iso_i64 sums_at, iso_i64 plane)
{
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    for (iso_i64 i = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); i < ISO_MODULI * plane;
         i += step) {
        sums[sums_at + i] = (sum_type)(sums[sums_at + i] % modulus((int)(i / plane)));
    }
}

/* ---- the exact sum --------------------------------------------------------------------------- */

/* A whole number in two's complement, the lowest bits first. */
#define LIMBS (ISO_MODULI <= 11 ? 3 : 5)

#if ISO_DTYPE == ISO_F64
#define T_FRACTION 52
#define T_FIELDS   2047
#define T_LEAST    (-1074)
#else
#define T_FRACTION 23
#define T_FIELDS   255
#define T_LEAST    (-149)
#endif

/* The number times 2^e, rounded to nearest even to the accumulation type: the bits of the result.
 * Clause 7.5. */
ISO_INLINE iso_u64 round_sum(iso_u32 *limb, iso_i32 e)
{
    const iso_u32 negative = limb[LIMBS - 1] >> 31;
    iso_u32 carry = negative;
    iso_u32 lost = 0u;
    iso_u64 top = 0; /* the highest 64 bits */
    iso_i32 length = 0;
    ISO_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        limb[i] = (negative ? ~limb[i] : limb[i]) + carry;
        carry = carry && limb[i] == 0u ? 1u : 0u;
    }
    /* The highest limb that is not 0 comes to the top. */
    for (int i = LIMBS - 1; i >= 0; i--) {
        if (length == 0 && limb[i]) {
            const iso_i32 zeros = (iso_i32)iso_clz32(limb[i]);
            const iso_u64 next = i > 0 ? limb[i - 1] : 0u;
            const iso_u64 last = i > 1 ? limb[i - 2] : 0u;
            top = (((iso_u64)limb[i] << 32) | next) << zeros;
            top |= zeros ? last >> (32 - zeros) : 0;
            lost = zeros ? (iso_u32)(last << zeros) : (iso_u32)last;
            length = 32 * (i + 1) - zeros;
            for (int j = 0; j < i - 2; j++) {
                lost |= limb[j];
            }
        }
    }
    if (length == 0) {
        return 0;
    }
    e += length - 64; /* the number is top * 2^e, and a little more if `lost` is not 0 */
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

/* Not loops: not every compiler unrolls loops over so many digits, which must stay in registers. */
#define TERM(j) ((j) < c ? digit[(j) % ISO_MODULI] * place[c * (c - 1) / 2 + (j)] : 0)

/* Digit c of a number, in the number system whose places weigh 1, m0, m0 m1, ...; `sum` is the
 * number modulo modulus c. Digits lie in [-m/2, m/2), so the number has the sign of its highest. */
ISO_INLINE iso_i32 next_digit(const iso_i32 *digit, iso_i32 sum, int c)
{
    const iso_i32 m = modulus(c);
    const iso_i32 below = TERM(0) + TERM(1) + TERM(2) + TERM(3) + TERM(4) + TERM(5) + TERM(6) +
                          TERM(7) + TERM(8) + TERM(9) + TERM(10) + TERM(11) + TERM(12) + TERM(13) +
                          TERM(14) + TERM(15) + TERM(16);
    return balanced((sum % m - below % m) * inverse[c], m);
}

/* limb = limb * m + digit */
ISO_INLINE void append(iso_u32 *limb, iso_i32 m, iso_i32 digit)
{
    iso_i64 carry = digit;
    ISO_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        carry += (iso_i64)limb[i] * m;
        limb[i] = (iso_u32)carry;
        carry >>= 32;
    }
}

#define DIGIT(c)                                                                                   \
    if ((c) < ISO_MODULI) {                                                                        \
        digit[(c) % ISO_MODULI] = next_digit(digit, sums[at + (c) * plane], c);                    \
    }

#define APPEND(c)                                                                                  \
    if ((c) < ISO_MODULI) {                                                                        \
        append(limb, modulus(c), digit[(c) % ISO_MODULI]);                                         \
    }

ISO_INLINE iso_u64 join(ISO_GLOBAL const sum_type *sums, iso_i64 at, iso_i64 plane, iso_i32 e)
{
    iso_i32 digit[ISO_MODULI];
    iso_u32 limb[LIMBS];
    DIGIT(0)
    DIGIT(1)
    DIGIT(2)
    DIGIT(3)
    DIGIT(4)
    DIGIT(5)
    DIGIT(6)
    DIGIT(7)
    DIGIT(8)
    DIGIT(9)
    DIGIT(10)
    DIGIT(11)
    DIGIT(12)
    DIGIT(13)
    DIGIT(14)
    DIGIT(15)
    DIGIT(16)
    DIGIT(17)
    ISO_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        limb[i] = 0u;
    }
    APPEND(17)
    APPEND(16)
    APPEND(15)
    APPEND(14)
    APPEND(13)
    APPEND(12)
    APPEND(11)
    APPEND(10)
    APPEND(9)
    APPEND(8)
    APPEND(7)
    APPEND(6)
    APPEND(5)
    APPEND(4)
    APPEND(3)
    APPEND(2)
    APPEND(1)
    APPEND(0)
    return round_sum(limb, e);
}

/* Computes the elements of C from the sums: `rows` x `cols` of them from (row, col) on, of
 * `rows_held` x `cols_held` sums. The block of A begins at vector `row`, that of B at vector `col`.
 * With k = 0 there are no sums. */
ISO_KERNEL(ISO_THREADS)
fixed_join(ISO_GLOBAL const sum_type *sums, iso_i64 sums_at, ISO_GLOBAL const iso_u32 *exponents,
           iso_i64 a_at, iso_i64 b_at, iso_i64 k, ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc,
           iso_i64 stride_c, iso_i64 row, iso_i64 rows, iso_i64 col, iso_i64 cols,
           iso_i64 rows_held, iso_i64 cols_held, iso_i64 members, iso_i64 next_a, iso_i64 next_b,
           acc alpha, acc beta)
{
    const iso_i64 plane = members * rows_held * cols_held;
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    for (iso_i64 n = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); n < members * rows * cols;
         n += step) {
        const iso_i64 member = n / (rows * cols);
        const iso_i64 in_row = n / cols % rows;
        const iso_i64 in_col = n % cols;
        const iso_i64 i = in_row + row;
        const iso_i64 j = in_col + col;
        const iso_i64 at = (member * rows_held + in_row) * cols_held + in_col;
        const iso_i64 to = c_at + member * stride_c + i * ldc + j;
        acc t = (acc)0;
        if (k > 0) {
            const iso_u32 e = exponents[a_at + member * next_a + i];
            const iso_u32 f = exponents[b_at + member * next_b + j];
            iso_u64 bits = (iso_u64)(2 * T_FIELDS + 1) << (T_FRACTION - 1); /* a NaN */
            if (e != EXPONENT_BAD && f != EXPONENT_BAD) {
                const iso_i32 scale =
                    e == 0u || f == 0u ? 0
                                       : (iso_i32)e + (iso_i32)f - 2 * EXPONENT_BIAS - 2 * DIGITS;
                bits = join(sums, sums_at + at, plane, scale);
            }
#if ISO_DTYPE == ISO_F64
            t = iso_as_f64(bits);
#else
            t = iso_as_f32((iso_u32)bits);
#endif
        }
        if (beta == (acc)0) {
            iso_store(c, to, alpha * t);
        } else {
            const acc old = beta * iso_load(c, to);
            iso_store(c, to, acc_fma(alpha, t, old));
        }
    }
}
