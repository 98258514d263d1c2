/* SPDX-License-Identifier: Apache-2.0 */
/* map_matrix.cl - the kernels of maps of rows (map_rows.cl) that keep the type. Their factors may
 * be on the device. */
#if ISO_DTYPE == ISO_I8
typedef iso_u8 cell;
#elif ISO_DTYPE == ISO_F16 || ISO_DTYPE == ISO_BF16
typedef iso_u16 cell;
#elif ISO_DTYPE == ISO_F32 || ISO_DTYPE == ISO_I32
typedef iso_u32 cell;
#elif ISO_DTYPE == ISO_F64 || ISO_DTYPE == ISO_I64
typedef iso_u64 cell;
#else
typedef ISO_U32X4 cell;
#endif

ISO_KERNEL(ISO_THREADS)
matrix_copy(OPERAND(const cell, x), OPERAND(cell, z), EXTENT)
{
    ROWS_BEGIN
    cell v[MAP_RUN];
    ISO_UNROLL
    for (r = 0; r < MAP_RUN; r++) {
        if (col + r * apart < n) {
            v[r] = x[PLACE(x, row, col + r * apart)];
        }
    }
    ISO_UNROLL
    for (r = 0; r < MAP_RUN; r++) {
        if (col + r * apart < n) {
            z[PLACE(z, row, col + r * apart)] = v[r];
        }
    }
    ROWS_END
}

#if !COPIES

ISO_INLINE void matrix_map(int op, OPERAND(const elem, x), OPERAND(const elem, y),
                           OPERAND(const elem, w), OPERAND(elem, z), EXTENT, iso_i64 steps,
                           acc alpha, acc beta)
{
    ROWS_BEGIN
    acc v[MAP_RUN];
    ISO_UNROLL
    for (r = 0; r < MAP_RUN; r++) {
        const iso_i64 c = col + r * apart;
        if (c < n) {
            v[r] = iso_load(x, PLACE(x, row, c));
            if (op == CHAIN) {
                iso_i64 left;
                for (left = steps; left > 0; left--) {
                    v[r] = acc_fma(v[r], alpha, beta);
                }
            } else {
                v[r] = value_of(op, v[r], READS_Y(op) ? iso_load(y, PLACE(y, row, c)) : (acc)0,
                                READS_W(op) ? iso_load(w, PLACE(w, row, c)) : (acc)0, alpha, beta);
            }
        }
    }
    ISO_UNROLL
    for (r = 0; r < MAP_RUN; r++) {
        if (col + r * apart < n) {
            iso_store(z, PLACE(z, row, col + r * apart), v[r]);
        }
    }
    ROWS_END
}

#define GIVE(o) o, o##_at, o##_row, o##_col

/* Kernels of maps without factors. */
#define ONE(name, op)                                                                              \
    ISO_KERNEL(ISO_THREADS) name(OPERAND(const elem, x), OPERAND(elem, z), EXTENT)                 \
    {                                                                                              \
        matrix_map(op, GIVE(x), GIVE(x), GIVE(x), GIVE(z), n, rows, shift, 0, (acc)0, (acc)0);     \
    }
#define TWO(name, op)                                                                              \
    ISO_KERNEL(ISO_THREADS)                                                                        \
    name(OPERAND(const elem, x), OPERAND(const elem, y), OPERAND(elem, z), EXTENT)                 \
    {                                                                                              \
        matrix_map(op, GIVE(x), GIVE(y), GIVE(x), GIVE(z), n, rows, shift, 0, (acc)0, (acc)0);     \
    }

TWO(matrix_add, ADD)
TWO(matrix_multiply, MULTIPLY)
TWO(matrix_subtract, SUBTRACT)
TWO(matrix_min, LEAST)
TWO(matrix_max, MOST)
ONE(matrix_abs, MAGNITUDE)
ONE(matrix_negate, OPPOSITE)

#if !INTEGER

TWO(matrix_divide, DIVIDE)
ONE(matrix_relu, RELU)
ONE(matrix_exp, EXP)
ONE(matrix_tanh, TANH)

ISO_KERNEL(ISO_THREADS)
matrix_fma(OPERAND(const elem, x), OPERAND(const elem, y), OPERAND(const elem, w), OPERAND(elem, z),
           EXTENT)
{
    matrix_map(FMA_OF, GIVE(x), GIVE(y), GIVE(w), GIVE(z), n, rows, shift, 0, (acc)0, (acc)0);
}

/* ---- factors --------------------------------------------------------------------------------- */

#if ISO_DTYPE == ISO_F64
#define OF_BITS_64(bits) iso_as_f64(bits)
#else
/* Rounds an f64, given as its bits, to f32: the device may have no f64. */
ISO_INLINE float narrow(iso_u64 bits)
{
    const iso_u32 sign = (iso_u32)(bits >> 32) & 0x80000000u;
    const iso_u64 size = bits << 1 >> 1, hidden = (iso_u64)1 << 52;
    const int exponent = (int)(size >> 52), drop = exponent >= 897 ? 29 : 926 - exponent;
    iso_u64 kept, rest, middle;
    if (size > (iso_u64)2047 << 52) {
        return iso_as_f32(sign | 0x7fc00000u);
    }
    if (size >= (iso_u64)0x47effffff0000000) {
        return iso_as_f32(sign | 0x7f800000u);
    }
    if (drop > 54) {
        return iso_as_f32(sign);
    }
    kept = (size & (hidden - 1)) | hidden;
    middle = (iso_u64)1 << (drop - 1);
    rest = kept & (middle * 2 - 1);
    kept >>= drop;
    kept += rest > middle || (rest == middle && (kept & 1)) ? 1 : 0;
    return iso_as_f32(sign |
                      ((iso_u32)kept + (exponent >= 897 ? (iso_u32)(exponent - 897) << 23 : 0u)));
}
#define OF_BITS_64(bits) narrow(bits)
#endif

/* Element `at` of the type `type`, rounded to the type of the computation. */
ISO_INLINE acc factor_of(ISO_GLOBAL const iso_u8 *from, iso_i64 at, iso_i32 type)
{
    switch (type) {
    case ISO_F16:
        return (acc)iso_f16_to_f32(((ISO_GLOBAL const iso_u16 *)from)[at]);
    case ISO_BF16:
        return (acc)iso_bf16_to_f32(((ISO_GLOBAL const iso_u16 *)from)[at]);
    case ISO_F32:
        return (acc)((ISO_GLOBAL const float *)from)[at];
    default:
        return OF_BITS_64(((ISO_GLOBAL const iso_u64 *)from)[at]);
    }
}

/* Bit 0 of `factors` says that alpha is on the device, bit 1 that beta is. */
#define FACTORS                                                                                    \
    acc alpha_given, acc beta_given, ISO_GLOBAL const iso_u8 *alpha_from, iso_i64 alpha_at,        \
        ISO_GLOBAL const iso_u8 *beta_from, iso_i64 beta_at, iso_i32 type, iso_i32 factors
#define READ_FACTORS                                                                               \
    const acc alpha = factors & 1 ? factor_of(alpha_from, alpha_at, type) : alpha_given;           \
    const acc beta = factors & 2 ? factor_of(beta_from, beta_at, type) : beta_given;

ISO_KERNEL(ISO_THREADS)
matrix_scale(OPERAND(const elem, x), OPERAND(elem, z), EXTENT, FACTORS)
{
    READ_FACTORS
    matrix_map(SCALE, GIVE(x), GIVE(x), GIVE(x), GIVE(z), n, rows, shift, 0, alpha, beta);
}

ISO_KERNEL(ISO_THREADS)
matrix_triad(OPERAND(const elem, x), OPERAND(const elem, y), OPERAND(elem, z), EXTENT, FACTORS)
{
    READ_FACTORS
    matrix_map(TRIAD, GIVE(x), GIVE(y), GIVE(x), GIVE(z), n, rows, shift, 0, alpha, beta);
}

ISO_KERNEL(ISO_THREADS)
matrix_axpby(OPERAND(const elem, x), OPERAND(const elem, y), OPERAND(elem, z), EXTENT, FACTORS)
{
    READ_FACTORS
    matrix_map(AXPBY, GIVE(x), GIVE(y), GIVE(x), GIVE(z), n, rows, shift, 0, alpha, beta);
}

ISO_KERNEL(ISO_THREADS)
matrix_chain(OPERAND(const elem, x), OPERAND(elem, z), EXTENT, FACTORS, iso_i64 steps)
{
    READ_FACTORS
    matrix_map(CHAIN, GIVE(x), GIVE(x), GIVE(x), GIVE(z), n, rows, shift, steps, alpha, beta);
}

#endif

#endif
