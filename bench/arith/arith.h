/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arith.h - the arithmetic of docs/bits.md: stored numbers, inputs, and a plain model of each
 * operation. It is written from that page alone and shares no code with the kernels that it checks.
 */
#ifndef ISOMER_ARITH_H
#define ISOMER_ARITH_H

#include <isomer/isomer.h>

#include <stdbool.h>
#include <stdint.h>

/* Without these instructions fma is a function call, which is slow. So the loops are compiled
 * twice, with and without them. */
#if defined(__x86_64__)
#define ARITH_FAST        __attribute__((target("avx2,fma")))
#define ARITH_HAVE_FAST() (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define ARITH_FAST
#define ARITH_HAVE_FAST() 0
#endif

/* ---- number.c: stored numbers ---------------------------------------------------------------- */

float arith_f16_to_f32(uint16_t bits);
float arith_bf16_to_f32(uint16_t bits);
uint16_t arith_f32_to_f16(float value);
uint16_t arith_f32_to_bf16(float value);
uint16_t arith_f64_to_f16(double value); /* one rounding */
uint16_t arith_f64_to_bf16(double value);

bool arith_is_float(iso_dtype dtype); /* not complex */
bool arith_is_complex(iso_dtype dtype);
iso_dtype arith_part(iso_dtype dtype); /* of a complex type's parts; otherwise the type itself */
iso_dtype arith_wide(iso_dtype dtype); /* f64 for f64 and c128, else f32 */
/* Of a complex element: whether a part is a NaN; both parts become NaN; the real part is loaded and
 * stored. */
bool arith_is_nan(iso_dtype dtype, const void *element);
void arith_set_nan(iso_dtype dtype, void *element);             /* the NaN that digests use */
double arith_load(iso_dtype dtype, const void *element);        /* exact, except i64 beyond 2^53 */
void arith_store(iso_dtype dtype, void *element, double value); /* one rounding */
/* Converts `count` elements, which are `step` elements apart, to double. */
void arith_widen(iso_dtype dtype, const void *from, int64_t step, int64_t count, double *out);

/* Unit roundoff and half the smallest subnormal of a floating-point type. */
double arith_roundoff(iso_dtype dtype);
double arith_half_smallest(iso_dtype dtype);

void arith_fp_reset(void); /* this thread rounds to nearest and keeps subnormals */

/* ---- number.c: inputs ------------------------------------------------------------------------ */

typedef enum arith_fill {
    ARITH_UNIFORM = 0, /* [-1, 1); integers: all bits are random */
    ARITH_INTS,        /* small whole numbers: sums and products are exact in every order */
    ARITH_SPARSE,      /* -1, 0 and 1, three quarters are 0: exact for larger sizes too */
    ARITH_NAN,         /* uniform with NaN in a few places */
    ARITH_INF,         /* uniform with infinities in a few places */
    ARITH_SUBNORMAL,   /* subnormal numbers */
    ARITH_ZEROS,       /* +0 and -0 */
    ARITH_TIES,        /* only a few different values, so many elements are equal */
    ARITH_HUGE,        /* near the greatest finite number: squares overflow */
    ARITH_MIXED,       /* huge, tiny and ordinary numbers together */
    ARITH_POWERS,      /* +-1, and a few +-2 and +-1/2: products are exact in every order */
    ARITH_NEAR_ONE,    /* around 1, so that long products stay in range */
    ARITH_TOP,         /* the largest number below 1, of one sign: the greatest sums of fixed */
    ARITH_ODD,         /* odd numbers so short that sums of products often end in a half */
    ARITH_EXTREMES,    /* integers: the lowest, the highest and those around 0 */
    ARITH_BITS         /* all bits are random; includes NaN of every kind */
} arith_fill;

const char *arith_fill_name(arith_fill fill); /* "uniform", ... */

uint64_t arith_mix(uint64_t seed, uint64_t index);
/* Fills `count` elements with the sequence that `seed` defines. */
void arith_generate(iso_dtype dtype, arith_fill fill, uint64_t seed, int64_t count, void *elements);

/* ---- parallel.c ------------------------------------------------------------------------------ */

typedef void (*arith_body)(void *context, int64_t begin, int64_t end);
/* Calls `body` on parts of [0, count), in several threads. A part has at most `grain` elements. The
 * threads end before this returns. Sets each thread to round to nearest and to keep subnormals. */
void arith_parallel(int64_t count, int64_t grain, arith_body body, void *context);

/* Lowers `first` to `at` if `at` is less. Several threads may call it at once. */
void arith_note_first(_Atomic int64_t *first, int64_t at);

/* ---- model.c, fixed.c, map.c: operations ----------------------------------------------------- */

/* One product. Its dense operands are already in the accumulation type, transposed where op(A) and
 * op(B) ask for it: a is m x k, b is k x n, c and `out` are m x n. With `continues`, C holds the
 * total of earlier terms (clause 4.8), and alpha and beta are 1. acc and total are scratch memory
 * of n elements each. */
void arith_gemm_f32(int64_t m, int64_t n, int64_t k, float alpha, const float *a, const float *b,
                    float beta, const float *c, bool continues, float *out, float *acc,
                    float *total);
void arith_gemm_f64(int64_t m, int64_t n, int64_t k, double alpha, const double *a, const double *b,
                    double beta, const double *c, bool continues, double *out, double *acc,
                    double *total);

/* t of clause 7 of docs/bits.md, for a row of op(A) and a column of op(B), whose elements are
 * `step` apart. For a type other than f64 it still has to be converted to f32, which may overflow
 * but rounds nothing. */
double arith_fixed(iso_dtype dtype, int64_t k, const double *a, const double *b, int64_t step);

/* C's element, before it is stored: clause 4.4, for t of clause 7. */
double arith_fixed_value(iso_dtype dtype, double t, double alpha, double beta, double c);

/* Factors as a product uses them: already rounded. Of one on the device, 0 is a factor like any
 * other. */
typedef struct arith_factors {
    double alpha, alpha_imag, beta, beta_imag;
    bool alpha_at, beta_at; /* it is on the device */
} arith_factors;

bool arith_has_product(const arith_factors *f); /* K does not count as 0 */
bool arith_reads_c(const arith_factors *f);

/* C's element from t and c, in the accumulation type `wide` (f32 or f64), before it is stored. */
double arith_value(iso_dtype wide, double t, const arith_factors *f, double c);

/* ---- complex.c: clause 14, products of complex numbers and of i8 ----------------------------- */

typedef struct arith_pair {
    double re, im;
} arith_pair;

/* The signs that conjugated operands give to the sums. */
typedef struct arith_conj {
    bool a, b;
} arith_conj;

/* The sums of one element of a product: re(a) re(b), im(a) im(b), re(a) im(b), im(a) re(b), each
 * by clauses 4.2 and 4.3. */
typedef struct arith_sums {
    double rr, ii, ri, ir;
} arith_sums;

arith_pair arith_total(iso_dtype wide, const arith_sums *sums, arith_conj conj); /* t */
arith_pair arith_scaled(iso_dtype wide, double re, double im, arith_pair c); /* a factor times c */
/* The complex element of C, whose parts are of the type `wide`. */
arith_pair arith_complex_value(iso_dtype wide, arith_pair t, const arith_factors *f, arith_pair c);

/* One product of i8: C = alpha a b + beta c modulo 2^32, where a is m x k and b is k x n. c is not
 * read if beta is 0, and a and b are not if alpha is. */
void arith_gemm_i8(int64_t m, int64_t n, int64_t k, int32_t alpha, const int8_t *a, const int8_t *b,
                   int32_t beta, const int32_t *c, int32_t *out);

/* ---- trsm.c: clause 15 ----------------------------------------------------------------------- */

/* Systems that share a triangle. Row i of the triangle has the coefficients of equation i: those of
 * op(A) if A is on the left, and of its transpose if A is on the right. */
typedef struct arith_triangle {
    iso_dtype wide; /* f32 or f64, of the arrays below */
    bool lower, unit, conj;
    int64_t n, systems;
    const void *re, *im; /* n x n; im: NULL for real numbers; the other triangle is not read */
    arith_factors factors;
} arith_triangle;

/* Solves in place: x, n x systems, has the right-hand sides. x_im: NULL for real numbers. False: no
 * memory. */
bool arith_trsm(const arith_triangle *a, void *x, void *x_im);

/* Reduces one sequence of n elements, `step` elements apart, in several threads. False: no memory.
 */
bool arith_reduce(iso_reduce_op op, iso_dtype dtype, const void *x, const void *y, int64_t n,
                  int64_t step, void *result);

/* ---- ranks.c: clause 13, sums over ranks ----------------------------------------------------- */

/* Reduces the arrays of `ranks` ranks, element by element, in the order of the ranks. */
void arith_ordered(iso_reduce_op op, iso_dtype dtype, const void *const *x, int32_t ranks,
                   int64_t count, void *out);
/* Adds arrays of terms, element by element: `fixed`. */
void arith_fixed_terms(iso_dtype dtype, const void *const *x, int32_t terms, int64_t count,
                       void *out);
/* The exact sum or product of each element, or the mean, in a type that is wider if there is one,
 * and the greatest error that any order of a vendor's may have. Floating-point types only. */
void arith_any_order(iso_reduce_op op, iso_dtype dtype, const void *const *x, int32_t ranks,
                     int64_t at, long double *want, double *bound);

/* ---- spmv.c ---------------------------------------------------------------------------------- */

typedef enum arith_form {
    ARITH_EVEN = 0, /* as many entries in each row, in ascending columns */
    ARITH_RANDOM,   /* 0 to twice as many, in any order; columns may occur twice, and in the rest */
    ARITH_EMPTY,    /* no entries */
    ARITH_HOLES,    /* every third row is empty */
    ARITH_LONG      /* one row has more than three segments */
} arith_form;

const char *arith_form_name(arith_form form); /* "even", ... */

typedef struct arith_sparse_shape {
    int64_t rows, cols, per_row;
    arith_form form;
    uint64_t seed;
} arith_sparse_shape;

/* Compressed rows. */
typedef struct arith_sparse {
    iso_dtype dtype;
    int64_t rows, cols, entries;
    int64_t *offsets, *columns;
    void *values;
} arith_sparse;

int64_t arith_sparse_entries(const arith_sparse_shape *shape);
/* Makes the matrix that the shape and its seed define. False: no memory. */
bool arith_sparse_make(const arith_sparse_shape *shape, iso_dtype dtype, arith_fill fill,
                       arith_sparse *out);
/* The same entries by columns; those of a column stay in their order. False: no memory. */
bool arith_sparse_transpose(const arith_sparse *from, arith_sparse *out);
void arith_sparse_free(arith_sparse *matrix);
/* out = alpha a x + beta y in the matrix's type, by the rules of tiled or naive. alpha and beta are
 * rounded to it; y is not read if beta is 0. */
void arith_spmv(const arith_sparse *a, bool tiled, double alpha, double beta, const void *x,
                const void *y, void *out);

bool arith_map_has_y(iso_map_op op);
bool arith_map_has_alpha(iso_map_op op);
bool arith_map_has(iso_map_op op, iso_dtype dtype);
/* Computes `count` elements with the operation, types and factors of `args`. y and w are not read
 * if the operation has none. */
void arith_map(const iso_map_args *args, const void *x, const void *y, const void *w, void *z,
               int64_t count);

#endif
