/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_fixed.cl - the fixed product: clause 7 of docs/bits.md. The rows of op(A) and the columns of
 * op(B) are vectors here. Their largest magnitudes give the scales; the scaled elements are whole
 * numbers, of which only the residues modulo some small numbers are kept, one byte each. Products
 * of such bytes are exact in 32 bits, in any order. From the sums modulo all the small numbers,
 * fixed_join.cl computes the exact sum, and rounds it once.
 *
 * ISO_MODULI   the small numbers that are used: their product must exceed twice the greatest sum
 * ISO_SIDE     rows and columns of a group's tile of sums
 * ISO_TM       rows and columns of a work-item's tile
 * ISO_WIDE     sums have 32 bits, as a vendor's library leaves them; else each is one byte, from 0
 *              up to its modulus
 *
 * planes       [modulus][member][vector][pitch] bytes, or in slices:
 *              [modulus][member][k / 64][vector][64]; zeros fill a vector up to its pitch, and a
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
#define ITEMS        (TILE_VECTORS * TILE_DEPTH / 4)
#define WORDS        16 /* of four bytes, along k, that a group multiplies at a time */

/* 2^32 / m, rounded. (x * reciprocal(m)) >> 32 is x / m rounded down, or one less if m divides x,
 * for all x whose magnitude is below 2^25: the error of the product is less than 1 / m. */
ISO_INLINE iso_i32 reciprocal(iso_i32 m)
{
    return (iso_i32)((4294967296 + m / 2) / m);
}

ISO_INLINE iso_i32 high_product(iso_i32 a, iso_i32 b)
{
    return (iso_i32)(((iso_i64)a * b) >> 32);
}

/* A number that is x modulo m, from 0 to m. */
ISO_INLINE iso_i32 modulo(iso_i32 x, iso_i32 m)
{
    return x - m * high_product(x, reciprocal(m));
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

/* Loads that do not wait for each other. */
#if ISO_DTYPE == ISO_F64
#define LOADS 8
#else
#define LOADS 16
#endif

/* The largest magnitude of a vector's elements i, i + lines, ... below n. */
ISO_INLINE word largest(ISO_GLOBAL const stored *x, iso_i64 at, iso_i64 k_step, iso_i64 i,
                        int lines, iso_i64 n)
{
    const iso_i64 stride = k_step * lines;
    const int most = LOADS * lines;
    word size = 0;
    for (at += i * k_step; i < n; i += most, at += LOADS * stride) {
        const int left = n - i < most ? (int)(n - i) : most;
        word bits[LOADS];
        if (left > most - lines) {
            ISO_UNROLL
            for (int j = 0; j < LOADS; j++) {
                bits[j] = x[at + j * stride];
            }
        } else {
            ISO_UNROLL
            for (int j = 0; j < LOADS; j++) {
                bits[j] = j * lines < left ? x[at + j * stride] : 0;
            }
        }
        ISO_UNROLL
        for (int j = 0; j < LOADS; j++) {
            size = (bits[j] & MAGNITUDE) > size ? bits[j] & MAGNITUDE : size;
        }
    }
    return size;
}

/* Element p of vector v of a member is x[x_at + member * stride + v * step + p * k_step]. For each
 * of the tasks a group takes `part` elements of 2^across vectors: a line of 2^across work-items
 * reads one element of each vector at a time. */
ISO_KERNEL_OF(ISO_THREADS, 4)
fixed_exponents(ISO_GLOBAL const stored *x, iso_i64 x_at, iso_i64 step, iso_i64 k_step,
                iso_i64 stride, ISO_GLOBAL iso_u32 *exponents, iso_i64 at, iso_i64 vectors,
                iso_i64 members, iso_i64 k, iso_i64 part, iso_i32 across, iso_i64 tasks)
{
    ISO_SHARED word best[ISO_THREADS];
    const int id = ISO_LOCAL_ID();
    const int width = 1 << across;
    const iso_i64 strips = (vectors + width - 1) >> across;
    for (iso_i64 task = ISO_GROUP_ID(); task < tasks; task += ISO_GROUP_COUNT()) {
        const iso_i64 piece = task / strips;
        const iso_i64 member = members > 1 ? piece % members : 0;
        const iso_i64 from = (members > 1 ? piece / members : piece) * part;
        const iso_i64 left = k - from < part ? k - from : part;
        const iso_i64 v = ((task - piece * strips) << across) + (id & (width - 1));
        const iso_i64 start = x_at + member * stride + v * step + from * k_step;
        best[id] = 0;
        if (v < vectors) {
            best[id] = largest(x, start, k_step, id >> across, ISO_THREADS >> across, left);
        }
        ISO_BARRIER();
        for (int apart = ISO_THREADS / 2; apart >= width; apart /= 2) {
            if (id < apart && best[id + apart] > best[id]) {
                best[id] = best[id + apart];
            }
            ISO_BARRIER();
        }
        if (id < width && v < vectors) {
            iso_max32(&exponents[at + member * vectors + v], key_of(best[id]));
        }
    }
}

/* ---- residues -------------------------------------------------------------------------------- */

/* The element's whole number, for a vector with this key: clause 7.3. The key of a vector with an
 * infinity or a NaN gives zeros. */
#if ISO_DTYPE == ISO_F64
/* By integers, because many devices are slow in f64. */
ISO_INLINE whole whole_of(word bits, iso_u32 key)
{
    const word size = bits & MAGNITUDE;
    const iso_i32 field = (iso_i32)(size >> FRACTION);
    word kept = size & (((word)1 << FRACTION) - 1);
    /* The places that are cut off: less than 0 only if all elements are subnormal. */
    iso_i32 cut = (iso_i32)(key & 0x3fffffffu) - EXPONENT_BIAS + BIAS + FRACTION - DIGITS;
    cut -= field > 0 ? field : 1;
    if (field > 0) {
        kept |= (word)1 << FRACTION;
    }
    kept <<= cut < 0 ? -cut & 63 : 0;
    cut = cut < 0 ? 0 : cut > FRACTION + 3 ? FRACTION + 3 : cut;
    kept = ((kept << 1) + (((word)1 << cut) - 1) + (kept >> cut & 1)) >> cut >> 1;
    return bits == size ? (whole)kept : -(whole)kept;
}
#else
ISO_INLINE float value_of(word bits)
{
#if ISO_DTYPE == ISO_F16
    return iso_f16_to_f32((iso_u16)bits);
#elif ISO_DTYPE == ISO_BF16
    return iso_bf16_to_f32((iso_u16)bits);
#else
    return iso_as_f32(bits);
#endif
}

ISO_INLINE float power_of_two(iso_i32 n)
{
    return iso_as_f32((iso_u32)(n + 127) << 23);
}

/* The scale has too many exponents for one factor. The first product is exact, or so small that the
 * whole number is 0. */
ISO_INLINE whole whole_of(word bits, iso_u32 key)
{
    const int real = key != 0u && key != EXPONENT_BAD;
    const iso_i32 n = real ? DIGITS + EXPONENT_BIAS - (iso_i32)key : 0;
    const float scaled = value_of(real ? bits : 0) * power_of_two(n >> 1);
    return iso_round_i32(scaled * power_of_two(n - (n >> 1)));
}
#endif

/* Whole numbers of 54 bits are cut into pieces: their weights are 2^37, 2^20 and 1. */
typedef struct pieces {
    iso_i32 high, middle, low;
} pieces;

ISO_INLINE pieces pieces_of(whole q)
{
    pieces p;
#if ISO_DTYPE == ISO_F64
    p.high = (iso_i32)(q >> 37);
    p.middle = (iso_i32)(q >> 20) & 0x1ffff;
    p.low = (iso_i32)q & 0xfffff;
#else
    p.high = p.middle = 0;
    p.low = q;
#endif
    return p;
}

/* The residue of 2^n in [-m/2, m/2). */
ISO_INLINE iso_i32 power(int n, iso_i32 m)
{
    const iso_i32 r = (iso_i32)(((iso_i64)1 << n) % m);
    return r >= (m + 1) / 2 ? r - m : r;
}

/* A residue of the number in the lowest byte, in [-128, 127]; other bits are anything. The number
 * x of the same residue that is used is below 2^25 in magnitude, and x + 128 modulo m lies in
 * [0, m], where m is at most 255. */
ISO_INLINE iso_u32 residue_of(const pieces *p, iso_i32 m)
{
    iso_i32 x = p->low;
    if (m == 256) {
        return (iso_u32)x;
    }
    if (ISO_DTYPE == ISO_F64) {
        x += p->high * power(37, m) + p->middle * power(20, m);
    }
    return (iso_u32)(x - m * high_product(x + 128, reciprocal(m)));
}

/* Loads 4 elements along k of a vector; zeros from element `left` on. */
ISO_INLINE void load_four(word *bits, ISO_GLOBAL const stored *x, iso_i64 at, iso_i64 k_step,
                          iso_i64 left)
{
    const int n = left < 0 ? 0 : left < 4 ? (int)left : 4;
    ISO_UNROLL
    for (int j = 0; j < 4; j++) {
        bits[j] = j < n ? x[at + j * k_step] : 0;
    }
}

/* Writes a byte of 4 elements to each plane. */
ISO_INLINE void write_four(const word *bits, iso_u32 key, ISO_GLOBAL iso_u32 *planes, iso_i64 at,
                           iso_i64 plane)
{
    pieces p[4];
    ISO_UNROLL
    for (int j = 0; j < 4; j++) {
        p[j] = pieces_of(whole_of(bits[j], key));
    }
    ISO_UNROLL
    for (int c = 0; c < ISO_MODULI; c++) {
        const iso_i32 m = modulus(c);
        planes[at + c * plane] = iso_pack4(residue_of(&p[0], m), residue_of(&p[1], m),
                                           residue_of(&p[2], m), residue_of(&p[3], m));
    }
}

/* Writes the planes of `count` vectors from vector `first` on, of their elements `from` to
 * `from + depth`, and zeros up to `held` vectors. A group takes tiles of TILE_VECTORS x TILE_DEPTH
 * elements. Its work-items read along k if the elements lie so, else across it, and always write
 * along k. */
ISO_KERNEL(ISO_THREADS)
fixed_residues(ISO_GLOBAL const stored *x, iso_i64 x_at, iso_i64 step, iso_i64 k_step,
               iso_i64 stride, ISO_GLOBAL const iso_u32 *exponents, iso_i64 at, iso_i64 vectors,
               iso_i64 members, iso_i64 first, iso_i64 count, iso_i64 held, iso_i64 from,
               iso_i64 depth, ISO_GLOBAL iso_u32 *planes, iso_i64 planes_at, iso_i64 pitch,
               iso_i32 slices)
{
    ISO_SHARED word tile[TILE_VECTORS * (TILE_DEPTH + 1)];
    const int id = ISO_LOCAL_ID();
    /* There are fewer tiles than bytes of scratch memory: 32 bits are enough. */
    const iso_u32 across = (iso_u32)((held + TILE_VECTORS - 1) / TILE_VECTORS);
    const iso_u32 down = (iso_u32)(pitch / TILE_DEPTH);
    const iso_u32 tasks = across * down * (iso_u32)members;
    const iso_i64 plane = members * held * (pitch / 4); /* in words */
    const iso_i64 next_vector = slices ? TILE_DEPTH : pitch;
    const iso_i64 next_slice = slices ? held * TILE_DEPTH : TILE_DEPTH;
    for (iso_u32 task = (iso_u32)ISO_GROUP_ID(); task < tasks; task += (iso_u32)ISO_GROUP_COUNT()) {
        const iso_u32 strip = task / down;
        const iso_i64 member = strip / across;
        const iso_i64 v0 = (iso_i64)(strip % across) * TILE_VECTORS;
        const iso_i64 slice = (iso_i64)(task - strip * down);
        const iso_i64 p0 = slice * TILE_DEPTH;
        const iso_i64 to =
            planes_at + (member * held * pitch + v0 * next_vector + slice * next_slice) / 4;
        const iso_i64 base = x_at + member * stride + (first + v0) * step + (from + p0) * k_step;
        for (int i = id; i < ITEMS && k_step != 1; i += ISO_THREADS) {
            const int v = i % TILE_VECTORS;
            const int p = i / TILE_VECTORS * 4;
            word bits[4];
            load_four(bits, x, base + v * step + p * k_step, k_step,
                      v0 + v < count ? depth - p0 - p : 0);
            ISO_UNROLL
            for (int j = 0; j < 4; j++) {
                tile[v * (TILE_DEPTH + 1) + p + j] = bits[j];
            }
        }
        if (k_step != 1) {
            ISO_BARRIER();
        }
        for (int i = id; i < ITEMS; i += ISO_THREADS) {
            const int v = i / (TILE_DEPTH / 4);
            const int p = i % (TILE_DEPTH / 4) * 4;
            const int real = v0 + v < count;
            word bits[4];
            if (v0 + v >= held) {
                break;
            }
            if (k_step == 1) {
                load_four(bits, x, base + v * step + p, 1, real ? depth - p0 - p : 0);
            } else {
                ISO_UNROLL
                for (int j = 0; j < 4; j++) {
                    bits[j] = tile[v * (TILE_DEPTH + 1) + p + j];
                }
            }
            write_four(bits, real ? exponents[at + member * vectors + first + v0 + v] : 0u, planes,
                       to + (v * next_vector + p) / 4, plane);
        }
        if (k_step != 1) {
            ISO_BARRIER();
        }
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
