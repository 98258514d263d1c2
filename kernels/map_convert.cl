/* SPDX-License-Identifier: Apache-2.0 */
/* map_convert.cl - the kernels of maps of rows (map_rows.cl) that convert from ISO_DTYPE to another
 * type: docs/bits.md, 6. The kernel whose type is ISO_DTYPE is not called. */
#define WHOLE_SOURCE (ISO_DTYPE > ISO_F64)

#if ISO_DTYPE == ISO_I8
typedef signed char source;
typedef iso_i32 value;
#elif ISO_DTYPE == ISO_I32
typedef iso_i32 source;
typedef iso_i32 value;
#elif ISO_DTYPE == ISO_I64
typedef iso_i64 source;
typedef iso_i64 value;
#elif ISO_DTYPE == ISO_F64
typedef double source;
typedef double value;
#elif ISO_DTYPE == ISO_F32
typedef float source;
typedef float value;
#else
typedef iso_u16 source;
typedef float value;
#endif

#if ISO_DTYPE == ISO_F16
#define TAKE(bits) iso_f16_to_f32(bits)
#elif ISO_DTYPE == ISO_BF16
#define TAKE(bits) iso_bf16_to_f32(bits)
#else
#define TAKE(x) ((value)(x))
#endif

#if WHOLE_SOURCE
#define TO_F16(v)  iso_f32_to_f16((float)(v))
#define TO_BF16(v) iso_f32_to_bf16((float)(v))
#define TO_I32(v)  ((iso_i32)(v))
#define TO_I64(v)  ((iso_i64)(v))
#define TO_I8(v)   ((signed char)(v))
#else

/* Powers of two as numbers of the source's type. */
#if ISO_DTYPE == ISO_F64
#define TWO_31 iso_as_f64((iso_u64)(1023 + 31) << 52)
#define TWO_63 iso_as_f64((iso_u64)(1023 + 63) << 52)
#else
#define TWO_31 iso_as_f32((iso_u32)(127 + 31) << 23)
#define TWO_63 iso_as_f32((iso_u32)(127 + 63) << 23)
#endif

/* Toward zero; what is too large becomes the largest, and a NaN 0. */
ISO_INLINE iso_i32 to_i32(value v)
{
    const iso_i32 most = 0x7fffffff;
    return v >= TWO_31 ? most : v <= -TWO_31 ? -most - 1 : v == v ? (iso_i32)v : 0;
}
ISO_INLINE iso_i64 to_i64(value v)
{
    const iso_i64 most = (iso_i64)(~(iso_u64)0 >> 1);
    return v >= TWO_63 ? most : v <= -TWO_63 ? -most - 1 : v == v ? (iso_i64)v : 0;
}
ISO_INLINE signed char to_i8(value v)
{
    const iso_i32 i = to_i32(v);
    return (signed char)(i > 127 ? 127 : i < -128 ? -128 : i);
}
#define TO_I32(v) to_i32(v)
#define TO_I64(v) to_i64(v)
#define TO_I8(v)  to_i8(v)

#if ISO_DTYPE == ISO_F64
/* Rounds once, to a format with so many bits of exponent and fraction. */
ISO_INLINE iso_u16 shorten(double v, int exponent_bits, int fraction_bits)
{
    const iso_u64 bits = iso_as_u64(v), hidden = (iso_u64)1 << 52;
    const iso_u32 sign = (iso_u32)(bits >> 48) & 0x8000u;
    const iso_u32 infinity = ((1u << exponent_bits) - 1u) << fraction_bits;
    const int from = (int)(bits >> 52 & 2047);
    const int exponent = from - 1023 + (1 << (exponent_bits - 1)) - 1;
    const int drop = 52 - fraction_bits + (exponent <= 0 ? 1 - exponent : 0);
    iso_u64 kept = (bits & (hidden - 1)) | hidden, rest, middle;
    if (from == 2047) {
        const iso_u32 nan = bits & (hidden - 1) ? 1u << (fraction_bits - 1) : 0u;
        return (iso_u16)(sign | infinity | nan);
    }
    if (exponent >= (1 << exponent_bits) - 1) {
        return (iso_u16)(sign | infinity);
    }
    if (drop > 53) {
        return (iso_u16)sign;
    }
    middle = (iso_u64)1 << (drop - 1);
    rest = kept & (middle * 2 - 1);
    kept >>= drop;
    kept += rest > middle || (rest == middle && (kept & 1)) ? 1 : 0;
    return (iso_u16)(sign | ((iso_u32)kept +
                             (exponent > 0 ? (iso_u32)(exponent - 1) << fraction_bits : 0u)));
}
#define TO_F16(v)  shorten((v), 5, 10)
#define TO_BF16(v) shorten((v), 8, 7)
#else
#define TO_F16(v)  iso_f32_to_f16(v)
#define TO_BF16(v) iso_f32_to_bf16(v)
#endif

#endif

#define CONVERT(name, type, to)                                                                    \
    ISO_KERNEL(ISO_THREADS) name(OPERAND(const source, x), OPERAND(type, z), EXTENT)               \
    {                                                                                              \
        ROWS_BEGIN                                                                                 \
        type v[MAP_RUN];                                                                           \
        ISO_UNROLL                                                                                 \
        for (r = 0; r < MAP_RUN; r++) {                                                            \
            if (col + r * apart < n) {                                                             \
                const value from = TAKE(x[PLACE(x, row, col + r * apart)]);                        \
                v[r] = to(from);                                                                   \
            }                                                                                      \
        }                                                                                          \
        ISO_UNROLL                                                                                 \
        for (r = 0; r < MAP_RUN; r++) {                                                            \
            if (col + r * apart < n) {                                                             \
                z[PLACE(z, row, col + r * apart)] = v[r];                                          \
            }                                                                                      \
        }                                                                                          \
        ROWS_END                                                                                   \
    }

#define TO_F32(v) ((float)(v))
#define TO_F64(v) ((double)(v))

CONVERT(convert_to_f16, iso_u16, TO_F16)
CONVERT(convert_to_bf16, iso_u16, TO_BF16)
CONVERT(convert_to_f32, float, TO_F32)
#if defined(ISO_USE_F64)
CONVERT(convert_to_f64, double, TO_F64)
#endif
CONVERT(convert_to_i32, iso_i32, TO_I32)
CONVERT(convert_to_i64, iso_i64, TO_I64)
CONVERT(convert_to_i8, signed char, TO_I8)
