/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the enumerations that describe operations. In each of them 0 means "not set", which is
 * either a documented default or an error. So a struct that is extended with zeros keeps its
 * meaning.
 *
 * Each enumeration has a name function (static text; NULL for a value outside it) and a parse
 * function that takes the same text.
 */
#ifndef ISOMER_TYPES_H
#define ISOMER_TYPES_H

#include <isomer/status.h>

ISO_BEGIN_DECLS

/* The type of a stored element. */
typedef enum iso_dtype {
    ISO_F16 = 1,  /* IEEE binary16: "f16" */
    ISO_BF16 = 2, /* bfloat16, the upper half of an f32: "bf16" */
    ISO_F32 = 3,  /* "f32" */
    ISO_F64 = 4,  /* "f64" */
    ISO_I32 = 5,  /* "i32" */
    ISO_I64 = 6,  /* "i64" */
    /* The following have products, copies and, i8, conversions; each operation says which types it
     * takes. */
    ISO_I8 = 7,  /* "i8": products add in i32 */
    ISO_C64 = 8, /* "c64": complex, two f32: the real and the imaginary part */
    ISO_C128 = 9 /* "c128": complex, two f64 */
} iso_dtype;

/* How an operation is computed. */
typedef enum iso_variant {
    ISO_VARIANT_AUTO = 0,   /* "auto": vendor if there is one, else tiled, else naive, unless
                             * iso_keep says otherwise; a transpose is tiled */
    ISO_VARIANT_NAIVE = 1,  /* "naive": the textbook kernel, one result per work-item */
    ISO_VARIANT_TILED = 2,  /* "tiled": blocked for caches and registers */
    ISO_VARIANT_VENDOR = 3, /* "vendor": the vendor's library, which iso_describe names */
    /* 4 is reserved: UNSUPPORTED. */
    ISO_VARIANT_PARTIALS =
        5, /* "partials" (reductions): one partial result per group, combined at the end */
    ISO_VARIANT_FIXED = 6 /* "fixed" (products): exact sums of scaled integers, the same bits on
                           * every device, which are not those of tiled. Its error is relative to
                           * the largest magnitudes of A's row and B's column: small elements beside
                           * large ones are lost */
} iso_variant;

/* Whether an operand is read as stored or transposed. */
typedef enum iso_trans {
    ISO_NO_TRANS = 0,  /* "n" */
    ISO_TRANS = 1,     /* "t" */
    ISO_CONJ_TRANS = 2 /* "c": transposed, with the sign of imaginary parts changed; of real types
                        * the same as ISO_TRANS */
} iso_trans;

/* How the matrices of a call are stored. */
typedef enum iso_order {
    ISO_ROW_MAJOR = 0,   /* "row": element (i, j) is i * ld + j elements after the start */
    ISO_COLUMN_MAJOR = 1 /* "column": element (i, j) is j * ld + i elements after the start */
} iso_order;

/* Which part of a square matrix is read or written. */
typedef enum iso_triangle {
    ISO_LOWER = 1, /* "lower": elements (i, j) with j <= i */
    ISO_UPPER = 2  /* "upper": elements (i, j) with j >= i */
} iso_triangle;

/* On which side of the unknown matrix the triangular one is. */
typedef enum iso_side {
    ISO_LEFT = 0, /* "left": op(A) X = alpha B */
    ISO_RIGHT = 1 /* "right": X op(A) = alpha B */
} iso_side;

/* How an operand of a map is spread over the rows and columns of the result. */
typedef enum iso_spread {
    ISO_SPREAD_NONE = 0,   /* "none": it has an element for each of the result's */
    ISO_SPREAD_ROW = 1,    /* "row": it is one row, used for every row of the result */
    ISO_SPREAD_COLUMN = 2, /* "column": it is one column, used for every column of the result */
    ISO_SPREAD_ONE = 3     /* "one": it is one element, used for all */
} iso_spread;

/* Whether an operation may use less precision to run faster. */
typedef enum iso_math {
    ISO_MATH_DEFAULT = 0, /* the mode set when opening the device, else ISOMER_MATH, else strict */
    ISO_MATH_STRICT = 1,  /* "strict": every product and sum in the full accumulation type */
    ISO_MATH_TF32 = 2     /* "tf32": matrix units may cut f32 operands to tf32. Allowed, not
                             required: an operation without TF32 runs strict, and iso_describe says
                             so */
} iso_math;

/*
 * What ISO_VARIANT_AUTO must keep when it chooses the variant of a product or a reduction. A
 * variant that is named runs, whatever the default is. Transposes and maps have no such choice: for
 * them auto has the same bits on every device anyway. docs/variants.md has examples, errors as
 * formulas, and the devices and sizes for which auto is fixed.
 */
typedef enum iso_keep {
    ISO_KEEP_DEFAULT = 0, /* what was set when opening the device, else ISOMER_KEEP, else terms */
    ISO_KEEP_BITS = 1,    /* "bits": those of tiled, which docs/bits.md defines and every device
                           * has. auto is tiled, and UNSUPPORTED where a device has none */
    ISO_KEEP_TERMS = 2,   /* "terms": an error relative to the sum of the magnitudes of the terms,
                           * as a usual product or sum has. auto is vendor, else tiled, else naive;
                           * of a reduction tiled, else vendor, else naive */
    ISO_KEEP_SCALE = 3    /* "scale": of products, an error relative to K times the largest
                           * magnitude of A's row times that of B's column is enough. auto may be
                           * fixed where that is expected to be faster; otherwise as terms */
} iso_keep;

/* What a reduction computes. */
typedef enum iso_reduce_op {
    ISO_SUM = 1,     /* "sum" */
    ISO_PRODUCT = 2, /* "product" */
    ISO_MIN = 3,     /* "min" */
    ISO_MAX = 4,     /* "max" */
    ISO_MEAN = 5,    /* "mean" */
    ISO_DOT = 6,     /* "dot": sum of x[i] * y[i] */
    ISO_ASUM = 7,    /* "asum": sum of magnitudes */
    ISO_NORM2 = 8,   /* "norm2": square root of the sum of squares */
    ISO_ARGMIN = 9,  /* "argmin": the index of the least element */
    ISO_ARGMAX = 10, /* "argmax": the index of the greatest element */
    ISO_XOR = 11,    /* "xor": exclusive or of the bits of integers: a checksum */
    ISO_AMAX = 12,   /* "amax": largest magnitude; floating point */
    ISO_ARGAMAX = 13 /* "argamax": the index of the largest magnitude, as BLAS's iamax but counted
                      * from 0; floating point */
} iso_reduce_op;

/* Which elements of a row-major matrix are reduced to one result (like `axis` in NumPy). */
typedef enum iso_axis {
    ISO_AXIS_ALL = 0, /* "all": one result for the whole array */
    ISO_AXIS_0 = 1,   /* "0": down the rows, one result for each column */
    ISO_AXIS_1 = 2    /* "1": along the columns, one result for each row */
} iso_axis;

/* What a map computes for each element. alpha and beta are rounded to the type of the computation
 * (f64 for f64, else f32), and the result is rounded once to the stored type. */
typedef enum iso_map_op {
    ISO_MAP_COPY = 1,     /* "copy": z = x, the bits as they are */
    ISO_MAP_SCALE = 2,    /* "scale": z = alpha * x */
    ISO_MAP_ADD = 3,      /* "add": z = x + y */
    ISO_MAP_MULTIPLY = 4, /* "multiply": z = x * y */
    ISO_MAP_TRIAD = 5,    /* "triad": z = fma(alpha, y, x) */
    ISO_MAP_CHAIN = 6,    /* "chain": r = x, then `steps` times r = fma(r, alpha, beta); z = r */
    ISO_MAP_SUBTRACT = 7, /* "subtract": z = x - y */
    ISO_MAP_DIVIDE = 8,   /* "divide": z = x / y */
    ISO_MAP_MIN = 9,      /* "min": the lesser of x and y; -0 is less than +0; a NaN gives a NaN */
    ISO_MAP_MAX = 10,     /* "max": the greater of x and y, by the same rule */
    ISO_MAP_ABS = 11,     /* "abs": z = the magnitude of x */
    ISO_MAP_NEGATE = 12,  /* "negate": z = -x */
    ISO_MAP_AXPBY = 13,   /* "axpby": z = fma(alpha, x, beta * y) */
    ISO_MAP_FMA = 14,     /* "fma": z = fma(x, y, w) */
    ISO_MAP_RELU = 15,    /* "relu": z = x if x > 0, +0 if not; a NaN gives a NaN */
    ISO_MAP_EXP = 16,     /* "exp": the exponential of x; docs/bits.md defines its bits */
    ISO_MAP_TANH = 17,    /* "tanh": the hyperbolic tangent of x; docs/bits.md defines its bits */
    ISO_MAP_CONVERT = 18  /* "convert": z = x in the type dtype_z */
} iso_map_op;

/* The kinds of operation. */
typedef enum iso_op_kind {
    ISO_OP_GEMM = 1,      /* "gemm", described by iso_gemm_args */
    ISO_OP_TRANSPOSE = 2, /* "transpose", described by iso_transpose_args */
    ISO_OP_REDUCE = 3,    /* "reduce", described by iso_reduce_args */
    ISO_OP_MAP = 4,       /* "map", described by iso_map_args */
    ISO_OP_GEMV = 5,      /* "gemv", described by iso_gemv_args */
    ISO_OP_SPMV = 6,      /* "spmv", described by iso_spmv_args */
    /* 7 is reserved. */
    ISO_OP_SYRK = 8, /* "syrk", described by iso_syrk_args */
    ISO_OP_TRSM = 9  /* "trsm", described by iso_trsm_args */
} iso_op_kind;

ISO_API int64_t iso_dtype_size(iso_dtype dtype); /* bytes of one element; 0 if unknown */

/* The name of a value, as quoted with it. Static; NULL for a value outside the enumeration. */
ISO_API const char *iso_dtype_name(iso_dtype dtype);
ISO_API const char *iso_variant_name(iso_variant variant);
ISO_API const char *iso_trans_name(iso_trans trans);
ISO_API const char *iso_order_name(iso_order order);
ISO_API const char *iso_triangle_name(iso_triangle triangle);
ISO_API const char *iso_side_name(iso_side side);
ISO_API const char *iso_spread_name(iso_spread spread);
ISO_API const char *iso_math_name(iso_math math);
ISO_API const char *iso_keep_name(iso_keep keep);
ISO_API const char *iso_reduce_op_name(iso_reduce_op op);
ISO_API const char *iso_axis_name(iso_axis axis);
ISO_API const char *iso_map_op_name(iso_map_op op);
ISO_API const char *iso_op_kind_name(iso_op_kind kind);

/* Each returns ISO_OK and the value, or ISO_INVALID with the list of valid names in the text. */
ISO_API iso_status iso_dtype_parse(const char *text, iso_dtype *out);
ISO_API iso_status iso_variant_parse(const char *text, iso_variant *out);
ISO_API iso_status iso_math_parse(const char *text, iso_math *out);
ISO_API iso_status iso_keep_parse(const char *text, iso_keep *out);
ISO_API iso_status iso_reduce_op_parse(const char *text, iso_reduce_op *out);
ISO_API iso_status iso_axis_parse(const char *text, iso_axis *out);
ISO_API iso_status iso_map_op_parse(const char *text, iso_map_op *out);
ISO_API iso_status iso_op_kind_parse(const char *text, iso_op_kind *out);

ISO_END_DECLS

#endif
