/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.cl - solves a triangle for many systems in place: see iso_solve_op in backend.h. ISO_DTYPE
 * is the elements' type, or that of a part if SOLVE_COMPLEX is defined.
 *
 * A group takes ISO_THREADS systems, one for each work-item. It copies their unknowns to shared
 * memory, along whichever step is 1, and solves for ROWS of them at a time: their sums over the
 * unknowns before are in registers. A[k * ROWS + r] is the element of row r and column k of these
 * rows; below the diagonal it has the other sign.
 */
#define MOST  64
#define PITCH (ISO_THREADS + 1)
#if defined(SOLVE_COMPLEX)
#define PARTS 2
#define ROWS  4
#else
#define PARTS 1
#define ROWS  8
#endif
#define IMAG_X (MOST * PITCH) /* where imaginary parts begin */
#define IMAG_A (MOST * ROWS)

typedef struct job {
    ISO_GLOBAL const elem *a;
    ISO_GLOBAL elem *x;
    iso_i64 a_row, a_col, x_row, x_col;
    iso_i32 n, here, unit, conj; /* here: systems of this group */
} job;

/* ---- division -------------------------------------------------------------------------------- */

#if ISO_DTYPE == ISO_F32 && (defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__))

/* OpenCL's own division of f32 may be wrong in the last bits. This one is exact: of two numbers
 * from 2^23 on, q gets the first 26 bits of the quotient, which is from 1 to below 2. */
ISO_INLINE iso_u32 scaled_of(iso_u32 magnitude, int *exponent)
{
    if (magnitude < 0x800000u) {
        const int shift = (int)iso_clz32(magnitude) - 8;
        *exponent = 1 - shift;
        return magnitude << shift;
    }
    *exponent = (int)(magnitude >> 23);
    return (magnitude & 0x7fffffu) | 0x800000u;
}

ISO_INLINE iso_u32 rounded_of(iso_u32 q, int more, int exponent)
{
    const int shift = exponent > 0 ? 2 : exponent < -24 ? 27 : 3 - exponent;
    const iso_u32 rest = q & ((1u << shift) - 1u), half_way = 1u << (shift - 1);
    iso_u32 kept = q >> shift;
    kept += rest > half_way || (rest == half_way && (more || (kept & 1u))) ? 1u : 0u;
    return exponent > 0 ? kept + ((iso_u32)(exponent - 1) << 23) : kept;
}

ISO_INLINE float divide(float x, float y)
{
    const iso_u32 sign = (iso_as_u32(x) ^ iso_as_u32(y)) & 0x80000000u;
    const iso_u32 x_bits = iso_as_u32(x) & 0x7fffffffu, y_bits = iso_as_u32(y) & 0x7fffffffu;
    const iso_u32 infinity = 0x7f800000u;
    int x_exponent, y_exponent, exponent;
    iso_u32 top, below, q;
    iso_i32 rest;
    if (x_bits > infinity || y_bits > infinity || (x_bits == infinity && y_bits == infinity) ||
        (x_bits == 0u && y_bits == 0u)) {
        return iso_as_f32(0x7fc00000u);
    }
    if (x_bits == infinity || y_bits == 0u) {
        return iso_as_f32(sign | infinity);
    }
    if (x_bits == 0u || y_bits == infinity) {
        return iso_as_f32(sign);
    }
    top = scaled_of(x_bits, &x_exponent);
    below = scaled_of(y_bits, &y_exponent);
    exponent = x_exponent - y_exponent + 127;
    if (top < below) {
        top <<= 1;
        exponent--;
    }
    if (exponent >= 255) {
        return iso_as_f32(sign | infinity);
    }
    /* The first estimate is off by some bits, the second by at most 1. */
    q = (iso_u32)((float)top / (float)below * 33554432.0f);
    rest = (iso_i32)(((iso_u64)top << 25) - (iso_u64)q * below);
    {
        const iso_i32 more = (iso_i32)((float)rest / (float)below);
        q += (iso_u32)more;
        rest -= more * (iso_i32)below;
    }
    if (rest < 0) {
        q--;
        rest += (iso_i32)below;
    } else if (rest >= (iso_i32)below) {
        q++;
        rest -= (iso_i32)below;
    }
    return iso_as_f32(sign | rounded_of(q, rest != 0, exponent));
}

#else
#define divide(x, y) ((x) / (y))
#endif

/* ---- shared memory --------------------------------------------------------------------------- */

ISO_INLINE void move_one(const job *j, ISO_SHARED_AT elem *x, iso_i32 i, iso_i32 s, int back)
{
    ISO_GLOBAL elem *far = j->x + PARTS * (i * j->x_row + s * j->x_col);
    ISO_SHARED_AT elem *near = x + i * PITCH + s;
    if (back) {
        far[0] = near[0];
#if defined(SOLVE_COMPLEX)
        far[1] = near[IMAG_X];
#endif
    } else {
        near[0] = far[0];
#if defined(SOLVE_COMPLEX)
        near[IMAG_X] = far[1];
#endif
    }
}

/* Copies the unknowns of all systems to shared memory, or `back`. */
ISO_INLINE void move_x(const job *j, ISO_SHARED_AT elem *x, int back)
{
    const iso_i32 columns = j->x_row == 1 || j->x_row == -1;
    const iso_i32 all = columns ? j->n * j->here : j->n * ISO_THREADS;
    const iso_u32 inverse = ((1u << 19) + (iso_u32)j->n - 1u) / (iso_u32)j->n; /* exact here */
    iso_i32 e;
    for (e = ISO_LOCAL_ID(); e < all; e += ISO_THREADS) {
        const iso_i32 down = (iso_i32)((iso_u32)e * inverse >> 19);
        const iso_i32 i = columns ? e - down * j->n : e / ISO_THREADS;
        const iso_i32 s = columns ? down : e % ISO_THREADS;
        if (s < j->here) {
            move_one(j, x, i, s, back);
        }
    }
}

/* Copies the rows from `first` on. What is not there, or not read, is 0, and 1 on the diagonal. */
ISO_INLINE void load_rows(const job *j, ISO_SHARED_AT elem *a, iso_i32 first)
{
    iso_i32 e;
    for (e = ISO_LOCAL_ID(); e < (first + ROWS) * ROWS; e += ISO_THREADS) {
        const iso_i32 row = first + e % ROWS, k = e / ROWS;
        elem re = (elem)(k == row ? 1 : 0);
#if defined(SOLVE_COMPLEX)
        elem im = (elem)0;
#endif
        if (row < j->n && (k < row || (k == row && !j->unit))) {
            ISO_GLOBAL const elem *from = j->a + PARTS * (row * j->a_row + k * j->a_col);
            re = k < row ? -from[0] : from[0];
#if defined(SOLVE_COMPLEX)
            im = (k < row) != (j->conj != 0) ? -from[1] : from[1];
#endif
        }
        a[e] = re;
#if defined(SOLVE_COMPLEX)
        a[IMAG_A + e] = im;
#endif
    }
}

/* ---- one system ------------------------------------------------------------------------------ */

#if defined(SOLVE_COMPLEX)

#define STEP(r, at, x_re, x_im)                                                                    \
    do {                                                                                           \
        const elem f_re = a[at], f_im = a[IMAG_A + (at)];                                          \
        re[r] = acc_fma(f_re, (x_re), re[r]);                                                      \
        re[r] = acc_fma(-f_im, (x_im), re[r]);                                                     \
        im[r] = acc_fma(f_re, (x_im), im[r]);                                                      \
        im[r] = acc_fma(f_im, (x_re), im[r]);                                                      \
    } while (0)

/* Divides by c + i e, by Smith's way. */
ISO_INLINE void divide_complex(elem *re, elem *im, elem c, elem e)
{
    const elem t_re = *re, t_im = *im;
    if ((c < (elem)0 ? -c : c) >= (e < (elem)0 ? -e : e)) {
        const elem r = divide(e, c), q = acc_fma(e, r, c);
        *re = divide(acc_fma(t_im, r, t_re), q);
        *im = divide(acc_fma(-t_re, r, t_im), q);
    } else {
        const elem r = divide(c, e), q = acc_fma(c, r, e);
        *re = divide(acc_fma(t_re, r, t_im), q);
        *im = divide(acc_fma(t_im, r, -t_re), q);
    }
}

ISO_INLINE void solve_rows(const job *j, ISO_SHARED_AT elem *x, ISO_SHARED_AT const elem *a,
                           iso_i32 first)
{
    elem re[ROWS], im[ROWS];
    iso_i32 k;
    int r, q;
    ISO_UNROLL
    for (r = 0; r < ROWS; r++) {
        re[r] = first + r < j->n ? x[(first + r) * PITCH] : (elem)0;
        im[r] = first + r < j->n ? x[IMAG_X + (first + r) * PITCH] : (elem)0;
    }
    for (k = 0; k < first; k++) {
        const elem x_re = x[k * PITCH], x_im = x[IMAG_X + k * PITCH];
        ISO_UNROLL
        for (r = 0; r < ROWS; r++) {
            STEP(r, k * ROWS + r, x_re, x_im);
        }
    }
    ISO_UNROLL
    for (r = 0; r < ROWS; r++) {
        ISO_UNROLL
        for (q = 0; q < r; q++) {
            STEP(r, (first + q) * ROWS + r, re[q], im[q]);
        }
        if (!j->unit) {
            divide_complex(&re[r], &im[r], a[(first + r) * ROWS + r],
                           a[IMAG_A + (first + r) * ROWS + r]);
        }
        if (first + r < j->n) {
            x[(first + r) * PITCH] = re[r];
            x[IMAG_X + (first + r) * PITCH] = im[r];
        }
    }
}

#else

ISO_INLINE void solve_rows(const job *j, ISO_SHARED_AT elem *x, ISO_SHARED_AT const elem *a,
                           iso_i32 first)
{
    elem t[ROWS];
    iso_i32 k;
    int r, q;
    ISO_UNROLL
    for (r = 0; r < ROWS; r++) {
        t[r] = first + r < j->n ? x[(first + r) * PITCH] : (elem)0;
    }
    for (k = 0; k < first; k++) {
        const elem known = x[k * PITCH];
        ISO_UNROLL
        for (r = 0; r < ROWS; r++) {
            t[r] = acc_fma(a[k * ROWS + r], known, t[r]);
        }
    }
    ISO_UNROLL
    for (r = 0; r < ROWS; r++) {
        ISO_UNROLL
        for (q = 0; q < r; q++) {
            t[r] = acc_fma(a[(first + q) * ROWS + r], t[q], t[r]);
        }
        if (!j->unit) {
            t[r] = divide(t[r], a[(first + r) * ROWS + r]);
        }
        if (first + r < j->n) {
            x[(first + r) * PITCH] = t[r];
        }
    }
}

#endif

/* Each triangle has `strips` strips of systems. A group takes one, the first group strip `before`:
 * PoCL 3.1 miscompiled a loop over strips around the loop over rows. */
ISO_KERNEL(ISO_THREADS)
solve(ISO_GLOBAL const elem *a_base, iso_i64 a_at, ISO_GLOBAL elem *x_base, iso_i64 x_at, iso_i32 n,
      iso_i32 unit, iso_i32 conj, iso_i64 count, iso_i64 strips, iso_i64 before, iso_i64 a_row,
      iso_i64 a_col, iso_i64 stride_a, iso_i64 x_row, iso_i64 x_col, iso_i64 stride_x)
{
    ISO_SHARED elem x[PARTS * MOST * PITCH];
    ISO_SHARED elem a[PARTS * MOST * ROWS];
    const iso_i64 task = before + ISO_GROUP_ID(), matrix = task / strips;
    const iso_i64 first = (task - matrix * strips) * ISO_THREADS;
    iso_i32 row;
    job j;
    j.a = a_base + PARTS * (a_at + matrix * stride_a);
    j.x = x_base + PARTS * (x_at + matrix * stride_x + first * x_col);
    j.a_row = a_row;
    j.a_col = a_col;
    j.x_row = x_row;
    j.x_col = x_col;
    j.n = n;
    j.here = count - first < ISO_THREADS ? (iso_i32)(count - first) : ISO_THREADS;
    j.unit = unit;
    j.conj = conj;
    move_x(&j, x, 0);
    for (row = 0; row < n; row += ROWS) {
        load_rows(&j, a, row);
        ISO_BARRIER();
        if (ISO_LOCAL_ID() < j.here) {
            solve_rows(&j, x + ISO_LOCAL_ID(), a, row);
        }
        ISO_BARRIER();
    }
    move_x(&j, x, 1);
}
