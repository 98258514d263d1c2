/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.cl - C = alpha * T + beta * C, where T is in the accumulation type. See iso_finish_op in
 * backend.h. ISO_DTYPE is C's type, or that of a part if FINISH_COMPLEX is defined.
 *
 *   FINISH_RUN   elements of a work-item in a block
 *   FINISH_SIDE  rows and columns of a tile: a power of two, at most ISO_THREADS
 *
 * finish_rows takes blocks of FINISH_RUN << across columns and ISO_THREADS >> across rows. It is
 * for a C whose rows are contiguous. finish_tiles takes tiles, which pass through shared memory, so
 * that T is read along its rows and C along its columns.
 */
#define HAS_ALPHA 1 /* bits of `flags`: alpha is on the device, */
#define HAS_BETA  2
#define READS     4 /* C is read, */
#define HAS_T     8
#define LOWER     16 /* only this triangle is handled, */
#define UPPER     32
#define MINUS_II  64 /* and these signs are -1 */
#define MINUS_RI  128
#define MINUS_IR  256
#define TYPE_AT   9 /* the type of factors on the device is above this bit */

/* An element of T, and one of the numbers that it is multiplied with. */
#if ISO_DTYPE == ISO_F64
typedef double real;
typedef double factor;
#elif ISO_DTYPE == ISO_I32
typedef double real;
typedef iso_u32 factor;
#else
typedef float real;
typedef float factor;
#endif

#if defined(FINISH_COMPLEX)
#define PARTS 2
#else
#define PARTS 1
#endif

typedef struct job {
    ISO_GLOBAL const real *t;
    ISO_GLOBAL elem *c;
    iso_i64 plane, ldt, c_row, c_col, m, n;
    factor alpha, beta;
#if defined(FINISH_COMPLEX)
    factor alpha_imag, beta_imag;
#endif
    iso_i32 flags;
} job;

/* T's element, whose imaginary part only complex types have. */
typedef struct sum {
    real re, im;
} sum;

/* ---- factors --------------------------------------------------------------------------------- */

#if !defined(ISO_USE_F64)
/* An f64 rounded to f32, with integer operations only. */
ISO_INLINE float narrow_f64(iso_u64 bits)
{
    const iso_u32 sign = (iso_u32)(bits >> 63) << 31;
    const int exponent = (int)(bits >> 52 & 0x7ffu) - 1023 + 127;
    const iso_u64 one = 1, fraction = bits & ((one << 52) - one), whole = fraction | one << 52;
    const int shift = exponent > 0 ? 29 : 30 - exponent;
    iso_u64 rest, half_way;
    iso_u32 kept;
    if (exponent == 0x7ff - 1023 + 127 && fraction) {
        return iso_as_f32(0x7fc00000u);
    }
    if (exponent >= 255) {
        return iso_as_f32(sign | 0x7f800000u);
    }
    if (shift > 54) {
        return iso_as_f32(sign);
    }
    rest = whole & ((one << shift) - one);
    half_way = one << (shift - 1);
    kept = (iso_u32)(whole >> shift);
    kept += rest > half_way || (rest == half_way && (kept & 1u)) ? 1u : 0u;
    if (exponent > 0) {
        kept += (iso_u32)(exponent - 1) << 23;
    }
    return iso_as_f32(sign | kept);
}
#define FACTOR_F64(from, i) narrow_f64(((ISO_GLOBAL const iso_u64 *)(from))[i])
#else
#define FACTOR_F64(from, i) (((ISO_GLOBAL const double *)(from))[i])
#endif

ISO_INLINE real number_at(ISO_GLOBAL const iso_u8 *from, int type, int i)
{
    if (type == ISO_F16) {
        return iso_load_f16((ISO_GLOBAL const iso_u16 *)from, i);
    }
    if (type == ISO_BF16) {
        return iso_load_bf16((ISO_GLOBAL const iso_u16 *)from, i);
    }
    if (type == ISO_F32) {
        return ((ISO_GLOBAL const float *)from)[i];
    }
    return FACTOR_F64(from, i);
}

#if ISO_DTYPE == ISO_I32
/* A whole number modulo 2^32; what has no 64 bits counts as 0. */
ISO_INLINE iso_u32 whole_of(double x)
{
    return x > -9223372036854775808.0 && x < 9223372036854775808.0 ? (iso_u32)(iso_i64)x : 0u;
}
#define FACTOR(from, type, i) whole_of(number_at((from), (type), (i)))
#else
#define FACTOR(from, type, i) number_at((from), (type), (i))
#endif

ISO_INLINE void take_factors(job *j, ISO_GLOBAL const iso_u8 *alpha, iso_i64 alpha_at,
                             ISO_GLOBAL const iso_u8 *beta, iso_i64 beta_at)
{
    const int type = j->flags >> TYPE_AT;
    if (j->flags & HAS_ALPHA) {
        alpha += alpha_at;
        j->alpha = FACTOR(alpha, type, 0);
#if defined(FINISH_COMPLEX)
        j->alpha_imag = FACTOR(alpha, type, 1);
#endif
    }
    if (j->flags & HAS_BETA) {
        beta += beta_at;
        j->beta = FACTOR(beta, type, 0);
#if defined(FINISH_COMPLEX)
        j->beta_imag = FACTOR(beta, type, 1);
#endif
    }
}

/* ---- elements -------------------------------------------------------------------------------- */

ISO_INLINE sum load_sum(const job *j, iso_i64 row, iso_i64 col)
{
    ISO_GLOBAL const real *t = j->t + row * j->ldt + col;
    sum s;
    s.re = t[0];
    s.im = (real)0;
#if defined(FINISH_COMPLEX)
    {
        const real ii = t[j->plane], ri = t[2 * j->plane], ir = t[3 * j->plane];
        s.re = s.re - (j->flags & MINUS_II ? -ii : ii);
        s.im = (j->flags & MINUS_RI ? -ri : ri) + (j->flags & MINUS_IR ? -ir : ir);
    }
#endif
    return s;
}

#if defined(FINISH_COMPLEX)

ISO_INLINE void finish_one(const job *j, iso_i64 row, iso_i64 col, sum s)
{
    ISO_GLOBAL elem *c = j->c + 2 * (row * j->c_row + col * j->c_col);
    const real ar = j->alpha, ai = j->alpha_imag, br = j->beta, bi = j->beta_imag;
    real re = (real)0, im = (real)0;
    if (j->flags & READS) {
        const real c_re = c[0], c_im = c[1];
        if (bi == (real)0) {
            re = br * c_re;
            im = br * c_im;
        } else {
            re = acc_fma(br, c_re, -(bi * c_im));
            im = acc_fma(br, c_im, bi * c_re);
        }
        if (j->flags & HAS_T) {
            re = acc_fma(ar, s.re, ai == (real)0 ? re : acc_fma(-ai, s.im, re));
            im = acc_fma(ar, s.im, ai == (real)0 ? im : acc_fma(ai, s.re, im));
        }
    } else if (j->flags & HAS_T) {
        if (ai == (real)0) {
            re = ar * s.re;
            im = ar * s.im;
        } else {
            re = acc_fma(ar, s.re, -(ai * s.im));
            im = acc_fma(ar, s.im, ai * s.re);
        }
    }
    c[0] = re;
    c[1] = im;
}

#else

#if ISO_DTYPE == ISO_I32
#define TERM_OF(x) ((iso_u32)(iso_i64)(x))
#else
#define TERM_OF(x) (x)
#endif

ISO_INLINE void finish_one(const job *j, iso_i64 row, iso_i64 col, sum s)
{
    const iso_i64 at = row * j->c_row + col * j->c_col;
    acc v = (acc)0;
    if (j->flags & READS) {
        v = j->beta * iso_load(j->c, at);
        if (j->flags & HAS_T) {
            v = acc_fma(j->alpha, TERM_OF(s.re), v);
        }
    } else if (j->flags & HAS_T) {
        v = j->alpha * TERM_OF(s.re);
    }
    iso_store(j->c, at, v);
}

#endif

ISO_INLINE int is_in(const job *j, iso_i64 row, iso_i64 col)
{
    return row < j->m && col < j->n && !(j->flags & LOWER && col > row) &&
           !(j->flags & UPPER && col < row);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Memory and its place in elements, the factors' in bytes. There are `down` x `over` blocks of each
 * matrix, `blocks` in all. Real types have no imaginary parts of factors. */
#define PARAMETERS                                                                                 \
    ISO_GLOBAL const real *t, iso_i64 t_at, iso_i64 plane, iso_i64 ldt, iso_i64 stride_t,          \
        ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 c_row, iso_i64 c_col, iso_i64 stride_c,          \
        iso_i64 m, iso_i64 n, iso_i64 down, iso_i64 over, iso_i64 blocks, iso_i32 across,          \
        iso_i32 flags, factor alpha, factor alpha_imag, factor beta, factor beta_imag,             \
        ISO_GLOBAL const iso_u8 *alpha_from, iso_i64 alpha_at, ISO_GLOBAL const iso_u8 *beta_from, \
        iso_i64 beta_at

#if defined(FINISH_COMPLEX)
#define TAKE_IMAGINARY()                                                                           \
    j.alpha_imag = alpha_imag;                                                                     \
    j.beta_imag = beta_imag
#else
#define TAKE_IMAGINARY()                                                                           \
    (void)alpha_imag;                                                                              \
    (void)beta_imag
#endif

#define TAKE_PARAMETERS()                                                                          \
    j.plane = plane;                                                                               \
    j.ldt = ldt;                                                                                   \
    j.c_row = c_row;                                                                               \
    j.c_col = c_col;                                                                               \
    j.m = m;                                                                                       \
    j.n = n;                                                                                       \
    j.flags = flags;                                                                               \
    j.alpha = alpha;                                                                               \
    j.beta = beta;                                                                                 \
    TAKE_IMAGINARY();                                                                              \
    take_factors(&j, alpha_from, alpha_at, beta_from, beta_at)

ISO_KERNEL(ISO_THREADS)
finish_rows(PARAMETERS)
{
    const int column = ISO_LOCAL_ID() & ((1 << across) - 1), line = ISO_LOCAL_ID() >> across;
    iso_i64 block;
    job j;
    TAKE_PARAMETERS();
    for (block = ISO_GROUP_ID(); block < blocks; block += ISO_GROUP_COUNT()) {
        const iso_i64 matrix = block / (down * over), within = block - matrix * down * over;
        const iso_i64 band = within / over;
        const iso_i64 row = band * (ISO_THREADS >> across) + line;
        const iso_i64 col = ((within - band * over) * FINISH_RUN << across) + column;
        sum s[FINISH_RUN];
        int r;
        j.t = t + t_at + matrix * stride_t;
        j.c = c + PARTS * (c_at + matrix * stride_c);
        ISO_UNROLL
        for (r = 0; r < FINISH_RUN; r++) {
            s[r].re = (real)0;
            s[r].im = (real)0;
            if (flags & HAS_T && is_in(&j, row, col + ((iso_i64)r << across))) {
                s[r] = load_sum(&j, row, col + ((iso_i64)r << across));
            }
        }
        ISO_UNROLL
        for (r = 0; r < FINISH_RUN; r++) {
            if (is_in(&j, row, col + ((iso_i64)r << across))) {
                finish_one(&j, row, col + ((iso_i64)r << across), s[r]);
            }
        }
    }
}

#define LINES (ISO_THREADS / FINISH_SIDE) /* that a group handles at once */
#define PITCH (FINISH_SIDE + 1)

ISO_KERNEL(ISO_THREADS)
finish_tiles(PARAMETERS)
{
    ISO_SHARED real tile[PARTS * FINISH_SIDE * PITCH];
    const int lane = ISO_LOCAL_ID() % FINISH_SIDE, line = ISO_LOCAL_ID() / FINISH_SIDE;
    iso_i64 block;
    int i;
    job j;
    TAKE_PARAMETERS();
    (void)across;
    for (block = ISO_GROUP_ID(); block < blocks; block += ISO_GROUP_COUNT()) {
        const iso_i64 matrix = block / (down * over), within = block - matrix * down * over;
        const iso_i64 row = within / over * FINISH_SIDE, col = within % over * FINISH_SIDE;
        j.t = t + t_at + matrix * stride_t;
        j.c = c + PARTS * (c_at + matrix * stride_c);
        if (flags & HAS_T) {
            for (i = line; i < FINISH_SIDE; i += LINES) {
                if (is_in(&j, row + i, col + lane)) {
                    const sum s = load_sum(&j, row + i, col + lane);
                    tile[i * PITCH + lane] = s.re;
#if defined(FINISH_COMPLEX)
                    tile[FINISH_SIDE * PITCH + i * PITCH + lane] = s.im;
#endif
                }
            }
        }
        ISO_BARRIER();
        for (i = line; i < FINISH_SIDE; i += LINES) {
            if (is_in(&j, row + lane, col + i)) {
                sum s;
                s.re = (real)0;
                s.im = (real)0;
                if (flags & HAS_T) {
                    s.re = tile[lane * PITCH + i];
#if defined(FINISH_COMPLEX)
                    s.im = tile[FINISH_SIDE * PITCH + lane * PITCH + i];
#endif
                }
                finish_one(&j, row + lane, col + i, s);
            }
        }
        ISO_BARRIER();
    }
}
