/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the tables of CPU kernels. Every file in this folder is compiled once for each
 * instruction set, with CPU_KERNELS set to its name (generic, neon, sve256, sve512, avx2, avx512),
 * and with CPU_KERNELS_GENERIC, _NEON, ... defined. */
#ifndef ISOMER_OPENMP_KERNELS_H
#define ISOMER_OPENMP_KERNELS_H

#if defined(__FAST_MATH__)
#error "isomer's arithmetic is defined to the bit: do not compile it with -ffast-math"
#endif

#include <stdint.h>

#define CPU_JOIN2(a, b) a##_##b
#define CPU_JOIN(a, b)  CPU_JOIN2(a, b)
/* CPU_TABLE(cpu_kernels) names this instruction set's table, for example cpu_kernels_avx2. */
#define CPU_TABLE(name) CPU_JOIN(name, CPU_KERNELS)

/* One more than the highest iso_dtype. Index 0 is for the 16-bit keys of order.c. */
enum { CPU_ELEMENTS = 7 };

/* ---- transpose.c ----------------------------------------------------------------------------- */

enum { CPU_TRANSPOSE_SCRATCH = 40960 };

/* Writes the transpose of `from` (rows x cols) to `to` (cols x rows), which does not overlap it. If
 * `stream`, the writes bypass the caches. `scratch` is CPU_TRANSPOSE_SCRATCH bytes, aligned to 64,
 * with any content. */
typedef void (*cpu_transpose_block)(const void *from, int64_t ld_from, void *to, int64_t ld_to,
                                    int64_t rows, int64_t cols, int stream, void *scratch);

typedef struct cpu_transpose_kernels {
    cpu_transpose_block block[5]; /* for elements of 1, 2, 4, 8 and 16 bytes */
} cpu_transpose_kernels;

/* ---- gemm.c ---------------------------------------------------------------------------------- */

enum {
    CPU_GEMM_SEGMENT = 1024,    /* docs/bits.md: the length of one chain along K */
    CPU_GEMM_TILE_BYTES = 2048, /* the size of the largest register tile */
    CPU_GEMM_NAIVE_RUN = 32     /* elements of a row that the naive kernel computes in parallel */
};

/* Strides are in elements. A and B each have a row stride and a column stride, and one of the two
 * is 1. */
typedef struct cpu_gemm_naive {
    int64_t n, k;
    double alpha, beta;
    const void *a, *b; /* unused if k is 0 */
    void *c;
    int64_t a_row, a_col, b_row, b_col, ldc;
    int continues; /* the totals begin with C, and replace it */
} cpu_gemm_naive;

/* A small product. The rows of B and C are contiguous. */
enum { CPU_GEMM_DIRECT_K = 128, CPU_GEMM_DIRECT_SCRATCH = CPU_GEMM_DIRECT_K * 192 };
typedef struct cpu_gemm_direct {
    int64_t m, n, k; /* k: at most CPU_GEMM_DIRECT_K */
    double alpha, beta;
    const void *a, *b; /* unused if k is 0 */
    void *c;
    int64_t a_row, a_col, b_row, c_row;
    void *scratch; /* CPU_GEMM_DIRECT_SCRATCH bytes, aligned */
} cpu_gemm_direct;

/* A product of a few rows and a matrix. C's rows are contiguous, and so are B's (b_col is 1), or
 * B's columns are (b_row is 1, and m is 1; only if cpu_gemm_kernels.turns). */
typedef struct cpu_gemm_line {
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b; /* unused if k is 0 */
    void *c;
    int64_t a_row, a_step, b_row, b_col, c_row;
    int continues; /* the totals begin with C, and replace it */
} cpu_gemm_line;

/* The kernels for one stored type. A strip is a part of an operand that is packed and converted to
 * the accumulation type. For each step along K it holds `width` elements: those of mr or fewer rows
 * of A, or of nr columns of B. */
typedef struct cpu_gemm_type {
    int32_t mr, nr;     /* rows and columns of the register tile */
    int32_t real_bytes; /* size of an element of the accumulation type */
    /* Multiplies a strip of A and a strip of B, over k steps. If `add`, the sums are added to t
     * (height x nr); otherwise they replace it. The height is 1 or even. */
    void (*tile)(int height, int64_t k, const void *a, const void *b, void *t, int add);
    /* Packs a strip: to[p * width + i] = from[i * step + p * k_step], or 0 if i >= count. */
    void (*pack)(void *to, int64_t width, const void *from, int64_t step, int64_t k_step,
                 int64_t count, int64_t k);
    /* c = alpha * t + beta * c, rounded to the stored type. */
    void (*finish)(const void *t, int64_t rows, int64_t cols, double alpha, double beta, void *c,
                   int64_t row_step, int64_t col_step);
    void (*naive)(const cpu_gemm_naive *g, int64_t row_first, int64_t row_end);
    void (*direct)(const cpu_gemm_direct *g); /* NULL: there is none */
    /* Columns from `first` on; scratch has room for 2 m rows of `count` elements. NULL: there is
     * none. */
    void (*line)(const cpu_gemm_line *g, int64_t first, int64_t count, void *scratch);
} cpu_gemm_type;

typedef struct cpu_gemm_kernels {
    int turns; /* cpu_gemm_type.line takes a B whose columns are contiguous */
    cpu_gemm_type type[CPU_ELEMENTS]; /* [iso_dtype]; empty for integers */
} cpu_gemm_kernels;

/* ---- fixed.c --------------------------------------------------------------------------------- */

/* A strip, packed by cpu_gemm_type.pack, whose elements become whole numbers: x times once[i] times
 * again[i], rounded, for row or column i. A number is the sum over s of slice s, which is at
 * to[s * next + p * width + i], times 2^(s * bits). */
typedef struct cpu_fixed_pack {
    double *to;
    int64_t width, next, k;
    const void *strip;
    const double *once, *again;
    int slices, bits;
} cpu_fixed_pack;

/* A line of exact sums: sums[i], plus sums[next + i] * weight if there are two tiles, times
 * row * cols[i], which are powers of two or NaN. */
typedef struct cpu_fixed_line {
    const double *sums;
    int64_t next, count;
    int tiles;
    double weight, row;
    const double *cols;
} cpu_fixed_line;

typedef struct cpu_fixed_type {
    /* The largest magnitude among k elements of each of `count` vectors: its bits without the sign.
     */
    void (*largest)(const void *from, int64_t step, int64_t k_step, int64_t count, int64_t k,
                    uint64_t *to);
    void (*cut)(const cpu_fixed_pack *g);
} cpu_fixed_type;

typedef struct cpu_fixed_kernels {
    cpu_fixed_type type[CPU_ELEMENTS]; /* [iso_dtype]; empty for integers */
    /* As cpu_gemm_type.tile of f64, for whole numbers below 2^24. t has two tiles (mr x nr): a sum
     * is what the first has plus what the second has, which is a multiple of 2^26. */
    void (*tile_split)(int height, int64_t k, const void *a, const void *b, void *t, int add);
    void (*round_line)(const cpu_fixed_line *g, float *out); /* one rounding to f32 */
} cpu_fixed_kernels;

/* ---- words.c: fixed products of f16 and bf16 ------------------------------------------------- */

enum { CPU_WORDS_RUN = 511, CPU_WORDS_BITS = 8 };

/* As cpu_fixed_type.cut, into one slice or two of CPU_WORDS_BITS, and cpu_gemm_type.tile of f64
 * with another nr, for at most CPU_WORDS_RUN steps. Slices are words of 16 bits, those of two steps
 * side by side. */
typedef struct cpu_words_kernels {
    int32_t nr;
    void (*cut)(const cpu_fixed_pack *g);
    void (*tile)(int height, int64_t k, const void *a, const void *b, void *t, int add);
} cpu_words_kernels;

/* ---- bytes.c: fixed products of f64 by residues ---------------------------------------------- */

enum {
    CPU_MODULI = 16,
    CPU_DIGITS = 3, /* of base 2^40, of a sum */
    CPU_PIECES = 4, /* of 14 bits, of an element's whole number */
    CPU_SHIFT = 128 /* A's residues are kept from -128 on, B's from 0 on */
};

/* Some coprime numbers up to 256, and what a residue needs of each: to reduce the pieces of a whole
 * number, and to join the sums. A sum modulo moduli[c] times weight[c] is a number modulo
 * moduli[c]; these numbers, times M / moduli[c], add up to the sum modulo M, the product of all. */
typedef struct cpu_moduli {
    int count;
    float modulus[CPU_MODULI], inverse[CPU_MODULI];
    float piece[CPU_PIECES][CPU_MODULI]; /* 2^(14 i), balanced; piece 0 is not read */
    float a_offset[CPU_MODULI];          /* so that rounding down gives A's residues */
    double weight[CPU_MODULI], part[CPU_MODULI];
    double share[CPU_DIGITS][CPU_MODULI], whole[CPU_DIGITS]; /* of M / moduli[c], and of M */
} cpu_moduli;

/* A strip of `k` steps (a multiple of 4), packed by cpu_gemm_type.pack, that becomes residues: of
 * modulus c, step p and column i at to[c * next + (p / 4 * pitch + i) * 4 + p % 4]. */
typedef struct cpu_bytes_pack {
    const cpu_moduli *moduli;
    uint8_t *to;
    int64_t width, next, pitch, k;
    const double *strip;
    const double *once, *again; /* as in cpu_fixed_pack */
    int a;                      /* A's residues, not B's */
} cpu_bytes_pack;

typedef struct cpu_bytes_kernels {
    int32_t mr, nr;
    void (*residues)(const cpu_bytes_pack *g);
    /* As cpu_gemm_type.tile: `groups` of 4 steps, and sums of 32 bits. */
    void (*tile)(int height, int64_t groups, const uint8_t *a, const uint8_t *b, int32_t *t,
                 int add);
    /* Joins a line of nr sums; those of modulus c are at sums + c * next. The exact sum is
     * to[i] + to[nr + i] + to[2 * nr + i]: numbers of at most 2^39, multiples of 2^40 up to 2^79,
     * and multiples of 2^80. */
    void (*join)(const cpu_moduli *moduli, const int32_t *sums, int64_t next, double *to);
    /* Rounds such a line to f64, and scales it: a multiple of 8 elements. */
    void (*round_line)(const cpu_fixed_line *g, double *out);
} cpu_bytes_kernels;

/* ---- reduce.c and order.c: docs/bits.md ------------------------------------------------ */

enum {
    CPU_REDUCE_LANES = 128,
    CPU_REDUCE_BLOCK = 4096,
    CPU_REDUCE_STRIP = 256, /* columns that are reduced together along axis 0 */
    CPU_REDUCE_PLANES = 3   /* squares of f64 are kept as three sums: med, big, small */
};

typedef enum cpu_step {
    CPU_STEP_SUM = 0,
    CPU_STEP_PRODUCT = 1,
    CPU_STEP_DOT = 2,
    CPU_STEP_ASUM = 3,
    CPU_STEP_SQUARES = 4,
    CPU_STEP_SUM_WIDE = 5, /* i32 in lanes of i64 */
    CPU_STEP_XOR = 6,
    CPU_STEP_COUNT = 7
} cpu_step;

/* A strip: columns of a matrix, in at most 4096 of its rows. */
typedef struct cpu_reduce_strip {
    const void *x, *y; /* y: dot only */
    int64_t ld_x, ld_y;
    int rows, cols; /* cols is at most CPU_REDUCE_STRIP */
} cpu_reduce_strip;

/* Reduces each block of 4096 elements of a line to one value in the lanes' type. If a step keeps
 * three sums, they are stored `plane` values apart. */
typedef void (*cpu_reduce_line)(const void *x, const void *y, int64_t n, void *out, int64_t plane);

/* Reduces a strip to one value for each column. `scratch` is room for CPU_REDUCE_LANES *
 * CPU_REDUCE_STRIP values of the lanes' type. */
typedef void (*cpu_reduce_cols)(const cpu_reduce_strip *strip, void *scratch, void *out,
                                int64_t plane);

/* [step][iso_dtype]; NULL if there is no such operation. */
typedef struct cpu_reduce_kernels {
    cpu_reduce_line line[CPU_STEP_COUNT][CPU_ELEMENTS];
    cpu_reduce_cols cols[CPU_STEP_COUNT][CPU_ELEMENTS];
} cpu_reduce_kernels;

/* An element and its key, for argmin, argmax and argamax. */
typedef struct cpu_best {
    int64_t key, index;
} cpu_best;

/* min, max and amax compare keys: signed integers of the element's size, in the order that
 * docs/bits.md defines. A NaN wins: its key is the lowest for min and the highest for max.
 * The result of argmin and argmax is the first element with the best key. */
enum { CPU_ORDER_AMAX = 2, CPU_ORDERS = 3 };
typedef struct cpu_order_kernels {
    /* [0: min, 1: max, 2: amax][iso_dtype]. The functions also accept keys in place of elements:
     * index 0 is for 16-bit keys, index ISO_I32 for 32-bit keys and index ISO_I64 for 64-bit keys.
     */
    cpu_reduce_line line[CPU_ORDERS][CPU_ELEMENTS];
    cpu_reduce_cols cols[CPU_ORDERS][CPU_ELEMENTS];
    /* Returns the index of the first of n elements, which are `stride` elements apart, whose key is
     * `key`; n if there is none. */
    int64_t (*find[CPU_ORDERS][CPU_ELEMENTS])(const void *x, int64_t stride, int64_t n,
                                              int64_t key);
    /* Returns the best of n elements, or the first of several equal ones, by the textbook loop. */
    cpu_best (*first[CPU_ORDERS][CPU_ELEMENTS])(const void *x, int64_t stride, int64_t n);
} cpu_order_kernels;

/* ---- straight.c ------------------------------------------------------------------------------ */

/* Reduces n elements, which are `step_x` elements apart, in order and in the lanes' type. Squares
 * of f64 give CPU_REDUCE_PLANES sums. Only dot uses y. */
typedef void (*cpu_straight)(const void *x, int64_t step_x, const void *y, int64_t step_y,
                             int64_t n, void *out);

/* [step][iso_dtype]; NULL if there is no such operation. */
typedef struct cpu_straight_kernels {
    cpu_straight run[CPU_STEP_COUNT][CPU_ELEMENTS];
} cpu_straight_kernels;

/* ---- map.c: docs/bits.md --------------------------------------------------------------- */

enum {
    CPU_MAPS = 19,     /* one more than the highest iso_map_op */
    CPU_MAP_TYPES = 10 /* one more than the highest iso_dtype */
};

/* A part of the elements of a map. z is the same as x, y or w, or overlaps none of them. */
typedef struct cpu_map_part {
    const void *x, *y, *w;
    void *z;
    int64_t n, steps;
    double alpha, beta;
    int stream; /* writes bypass the caches */
} cpu_map_part;

typedef void (*cpu_map_kernel)(const cpu_map_part *part);

/* [iso_map_op][iso_dtype]; NULL if there is no such operation. */
typedef struct cpu_map_kernels {
    cpu_map_kernel naive[CPU_MAPS][CPU_MAP_TYPES];
    cpu_map_kernel tiled[CPU_MAPS][CPU_MAP_TYPES];
} cpu_map_kernels;

/* ---- convert.c: docs/bits.md ----------------------------------------------------------- */

/* Moves n elements of one size that are `from_step` apart to where they are `to_step` apart. The
 * two do not overlap. */
typedef void (*cpu_map_move)(const void *from, int64_t from_step, void *to, int64_t to_step,
                             int64_t n);

typedef struct cpu_convert_kernels {
    cpu_map_kernel convert[CPU_MAP_TYPES][CPU_MAP_TYPES]; /* [from][to]; NULL if they are equal */
    cpu_map_move move[5];                                 /* by the logarithm of the bytes */
} cpu_convert_kernels;

/* ---- spmv.c: docs/bits.md -------------------------------------------------------------- */

enum { CPU_SPMV_LANES = 32, CPU_SPMV_SEGMENT = 4096 };

/* A sparse product. Sums of segments are of the values' type. */
typedef struct cpu_spmv_run {
    const void *offsets; /* NULL: no row has entries */
    const void *columns, *values, *x;
    void *y;
    double alpha, beta;
} cpu_spmv_run;

typedef struct cpu_spmv_type {
    /* Whole rows, one entry after another; whole rows of at most one segment, in lanes. */
    void (*naive)(const cpu_spmv_run *g, int64_t first, int64_t end);
    void (*rows)(const cpu_spmv_run *g, int64_t first, int64_t end);
    /* sums[at] = the sum of `count` entries from `from` on. */
    void (*segment)(const cpu_spmv_run *g, int64_t from, int64_t count, void *sums, int64_t at);
    /* A row whose segments' sums are `count` from sums[at] on. */
    void (*join)(const cpu_spmv_run *g, int64_t row, const void *sums, int64_t at, int64_t count);
} cpu_spmv_type;

typedef struct cpu_spmv_kernels {
    cpu_spmv_type type[2][3]; /* [f32, f64][i32, i64, i32 with columns of u16] */
} cpu_spmv_kernels;

/* ---- ranks.c and ranks_fixed.c: docs/bits.md ------------------------------------------- */

enum {
    CPU_FOLDS = 12,       /* one more than the highest iso_reduce_op */
    CPU_RANKS_MOST = 4096 /* a mean needs a bound: see ranks_fold.h */
};

/* z[i] = the reduction of element i of source 0, 1 ... count - 1, in this order; count is from 1 to
 * CPU_RANKS_MOST. z is one of the sources or overlaps none. It needs no team: any thread may call
 * it whose floating-point environment is the default. */
typedef void (*cpu_ranks_fold)(const void *const *sources, int count, void *z, int64_t n);

/* A part of the elements of another step of iso_ranks_op. A step uses what it needs. */
typedef struct cpu_ranks_part {
    const void *x; /* term t begins t * stride elements after it */
    int64_t stride, n;
    int32_t count; /* terms */
    int32_t *exponents;
    int64_t *limbs;
    int64_t limb_stride; /* from an element's first limb to its second */
    void *z;
} cpu_ranks_part;

typedef void (*cpu_ranks_step)(const cpu_ranks_part *part);

/* [iso_reduce_op][iso_dtype]; NULL if there is no such operation. */
typedef struct cpu_ranks_kernels {
    cpu_ranks_fold fold[CPU_FOLDS][CPU_ELEMENTS];
} cpu_ranks_kernels;

/* [iso_dtype]; empty for integers. */
typedef struct cpu_ranks_fixed_kernels {
    cpu_ranks_step exponents[CPU_ELEMENTS], limbs[CPU_ELEMENTS], join[CPU_ELEMENTS];
} cpu_ranks_fixed_kernels;

/* ---- finish.c: iso_finish_op ----------------------------------------------------------- */

/* A line of n elements of C, `step` elements apart, and of T, which are contiguous. */
typedef struct cpu_finish_line {
    const void *t[4]; /* planes; t[0] is NULL: there is no T */
    void *c;
    int64_t n, step;
    double alpha, alpha_imag, beta, beta_imag;
    int reads;                     /* C is read */
    int sign_ii, sign_ri, sign_ir; /* 1 or -1: complex types only */
} cpu_finish_line;

enum { CPU_STEP_TYPES = 10 }; /* one more than the highest iso_dtype */

typedef struct cpu_finish_kernels {
    void (*line[CPU_STEP_TYPES])(const cpu_finish_line *g); /* [iso_dtype] or NULL */
} cpu_finish_kernels;

/* ---- solve.c: iso_solve_op ------------------------------------------------------------- */

enum { CPU_SOLVE_BYTES = 256 }; /* one unknown of all systems of a strip */

/* A strip of systems. The triangle is packed row by row, without gaps: row i has i + 1 elements,
 * and those below the diagonal have the other sign. Unknown i of all systems is i times
 * CPU_SOLVE_BYTES after x; if complex, the real parts of all systems are in the first half. */
typedef struct cpu_solve_strip {
    int n, unit;
    const void *a;
    void *x;
} cpu_solve_strip;

typedef struct cpu_solve_kernels {
    void (*strip[CPU_STEP_TYPES])(const cpu_solve_strip *g); /* [iso_dtype] or NULL */
} cpu_solve_kernels;

/* ---- kernels.c ------------------------------------------------------------------------------- */

/* All kernels of one instruction set. */
typedef struct cpu_kernels {
    const char *name; /* "generic", "neon", "avx2", ... */
    const cpu_gemm_kernels *gemm;
    const cpu_fixed_kernels *fixed;
    const cpu_words_kernels *words; /* NULL if this set has no such products */
    const cpu_bytes_kernels *bytes; /* the same */
    const cpu_transpose_kernels *transpose;
    const cpu_reduce_kernels *reduce;
    const cpu_order_kernels *order;
    const cpu_straight_kernels *straight;
    const cpu_map_kernels *map;
    const cpu_convert_kernels *convert;
    const cpu_spmv_kernels *spmv;
    const cpu_ranks_kernels *ranks;
    const cpu_ranks_fixed_kernels *ranks_fixed;
    const cpu_finish_kernels *finish;
    const cpu_solve_kernels *solve;
} cpu_kernels;

#if defined(CPU_KERNELS)
#if defined(CPU_KERNELS_AVX512VNNI)
#define CPU_HAS_BYTES
#endif
extern const cpu_words_kernels CPU_TABLE(cpu_words_kernels);
extern const cpu_bytes_kernels CPU_TABLE(cpu_bytes_kernels);
extern const cpu_gemm_kernels CPU_TABLE(cpu_gemm_kernels);
extern const cpu_fixed_kernels CPU_TABLE(cpu_fixed_kernels);
extern const cpu_transpose_kernels CPU_TABLE(cpu_transpose_kernels);
extern const cpu_reduce_kernels CPU_TABLE(cpu_reduce_kernels);
extern const cpu_order_kernels CPU_TABLE(cpu_order_kernels);
extern const cpu_straight_kernels CPU_TABLE(cpu_straight_kernels);
extern const cpu_map_kernels CPU_TABLE(cpu_map_kernels);
extern const cpu_convert_kernels CPU_TABLE(cpu_convert_kernels);
extern const cpu_spmv_kernels CPU_TABLE(cpu_spmv_kernels);
extern const cpu_ranks_kernels CPU_TABLE(cpu_ranks_kernels);
extern const cpu_ranks_fixed_kernels CPU_TABLE(cpu_ranks_fixed_kernels);
extern const cpu_finish_kernels CPU_TABLE(cpu_finish_kernels);
extern const cpu_solve_kernels CPU_TABLE(cpu_solve_kernels);
extern const cpu_kernels CPU_TABLE(cpu_kernels);
#endif

#endif
