/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - operations. The same descriptor is used to run an operation, to query whether a device
 * supports it, to prepare it, and to get its scratch memory and its cost.
 *
 * Matrices are row-major: element (i, j) is `i * ld + j` elements after the start of the operand.
 * Products and solves also take column-major matrices (`order`). A leading dimension of 0 means
 * that rows (columns, if column-major) follow each other without a gap. Offsets are multiples of
 * the element's size. The arithmetic of `naive`, `tiled` and `fixed` products, `tiled` reductions
 * and maps is defined to the bit: see docs/bits.md.
 *
 * Operands may be blocks of one matrix. Two operands overlap if an element of one shares a byte
 * with an element of the other. Bytes between the rows of an operand, or between the matrices of a
 * batch, may belong to another operand. For example, a blocked LU updates A22 in place with the
 * product of A21 and A12, and the matrices C of a batch may be placed side by side (stride_c = n,
 * ldc = batch * n). If an operation forbids overlap, any overlap is INVALID. The check is exact for
 * two single matrices, and for batches that share their leading dimension and stride. For other
 * batches (their leading dimensions and strides have three or more different values), a call with
 * many rows and matrices may be refused although its operands do not overlap; the message says so.
 * Operands in different buffers are assumed not to overlap: the caller must not import the same
 * memory as two buffers.
 *
 * iso_gemm, iso_gemv, iso_transpose, iso_reduce, iso_map, iso_spmv, iso_syrk, iso_trsm and
 * iso_execute return:
 *
 *   INVALID: a wrong handle, struct size or enumerator; a variant and a `keep` that do not agree; a
 *     negative or overflowing size; a leading dimension below the row length; an operand that is
 *     misaligned or reaches outside its buffer; operands that overlap where that is not allowed.
 *   MISMATCH: a buffer or a sparse matrix and the stream belong to different devices.
 *   UNSUPPORTED: if and only if iso_supports says so. COMPILE: a kernel did not build.
 *   NO_MEMORY: no scratch memory. BACKEND, DEVICE_LOST: from the vendor.
 *   A late error of the stream: see stream.h.
 *
 * `auto` chooses a variant by what the field `keep` asks for (iso_keep in types.h). To get the same
 * bits on every device, set it to ISO_KEEP_BITS, in the descriptor or when opening the device. A
 * variant that is named is used as it is. But if the descriptor also sets `keep`, the two must
 * agree: ISO_KEEP_BITS goes with tiled alone, and ISO_KEEP_TERMS not with fixed.
 *
 * An operation that fails writes nothing. The descriptor is read only during the call and may be
 * changed afterwards.
 */
#ifndef ISOMER_OP_H
#define ISOMER_OP_H

#include <isomer/memory.h>
#include <isomer/sparse.h>

ISO_BEGIN_DECLS

/*
 * C = alpha * op(A) * op(B) + beta * C, for `batch` triples of matrices that are a stride apart.
 *
 * op(A) is m x k, op(B) k x n, C m x n. A is stored as m x k (lda >= k), or transposed as k x m
 * (lda >= m); B likewise. alpha and beta are rounded to the accumulation type (f64 for f64, else
 * f32). With beta 0, C is not read; with alpha 0, neither A nor B is. C must not overlap A or B,
 * and the matrices of a batched C must not overlap each other. A and B may overlap, and a stride of
 * 0 uses the same matrix for the whole batch.
 *
 * Types: f16, bf16, f32, f64, c64, c128 and i8. C has A's type, except: it may be f32 where A and B
 * are f16 or bf16, and it is i32 where they are i8. With i8 sums wrap, and alpha and beta must be
 * whole numbers of 32 bits. fixed takes f16, bf16, f32 and f64.
 *
 * `fixed` sums scaled integers exactly: the order of terms does not matter, and small elements
 * beside large ones of the same row of op(A) or column of op(B) are lost (docs/bits.md, 7).
 *
 * Factors on the device. If alpha_at (or beta_at) has a buffer, the factor is the one element there
 * of the type factor_dtype (f16, bf16, f32 or f64; 0: that in which the operation computes; of
 * complex types f32 or f64, two elements: the real and the imaginary part), read when the operation
 * runs, and alpha (or beta) is ignored. It is rounded by the same rule as a factor of the host. But
 * the host does not know whether it is 0. So with alpha_at A and B are always read, with beta_at C
 * is, and what would not matter beside a 0 of the host (a NaN in A, say) may matter. Each factor
 * counts by itself: with alpha_at and a beta of 0, C is not read.
 */
typedef struct iso_gemm_args {
    uint32_t size;
    iso_dtype dtype;                      /* of A and B */
    iso_variant variant;                  /* how it is computed; 0: auto */
    iso_math math;                        /* whether TF32 may be used */
    iso_trans trans_a;                    /* whether A is stored transposed */
    iso_trans trans_b;                    /* whether B is stored transposed */
    int64_t m, n, k;                      /* rows of C, columns of C, terms of each sum */
    double alpha, beta;                   /* factors of the product and of the old C */
    iso_operand a, b, c;                  /* the matrices */
    int64_t lda, ldb, ldc;                /* elements from row to row; 0: no gaps */
    int64_t batch;                        /* 0 means 1 */
    int64_t stride_a, stride_b, stride_c; /* elements; used if batch is over 1 */
    int32_t library; /* vendor: index among the device's libraries that have the operation, 0 is
                        the first; UNSUPPORTED beyond the last. iso_describe names it */
    iso_keep keep;   /* what auto must keep */
    /* 1: K continues. C holds the total of the terms before these, and the results of the segments
     * are added to it one by one, so a product may be computed in several calls with the bits of
     * one: the first with beta 0, the others with this. Every call but the last needs a k that is a
     * multiple of 1024. alpha and beta must be 1, and the type f32 or f64. With vendor it is the
     * same as beta 1; fixed does not have it. */
    int32_t continues;
    iso_order order; /* of A, B and C: lda, ldb and ldc are distances of columns if column-major */
    iso_dtype dtype_c;             /* of C; 0: that of A and B, but i32 if they are i8 */
    iso_dtype factor_dtype;        /* of alpha_at and beta_at */
    double alpha_imag, beta_imag;  /* complex types only */
    iso_operand alpha_at, beta_at; /* factors on the device */
} iso_gemm_args;
#define ISO_GEMM_ARGS_INIT ISO_INIT_OF_2(iso_gemm_args, alpha, 1.0, batch, 1)

/*
 * y = alpha * op(A) * x + beta * y, for `batch` triples that are a stride apart. With naive, tiled
 * and fixed the result has the same bits as iso_gemm with x and y as matrices of one column. It is
 * always strict: TF32 is not used.
 *
 * op(A) is m x k; x has k elements and y has m. A is stored as m x k (lda >= k), or transposed as
 * k x m (lda >= m), which is a column-major m x k matrix. inc_x and inc_y are the distances, in
 * elements, from one element of a vector to the next. alpha and beta are as in iso_gemm: with beta
 * 0, y is not read; with alpha 0, neither A nor x is. y must not overlap A or x, and the vectors y
 * of a batch must not overlap each other. A and x may overlap, and a stride of 0 uses the same one
 * for the whole batch. Types: f16, bf16, f32, f64.
 */
typedef struct iso_gemv_args {
    uint32_t size;
    iso_dtype dtype;                      /* of A, x and y */
    iso_variant variant;                  /* how it is computed; 0: auto */
    iso_trans trans;                      /* whether A is stored transposed */
    int64_t m, k;                         /* elements of y and of x */
    double alpha, beta;                   /* factors of the product and of the old y */
    iso_operand a, x, y;                  /* the matrix and the vectors */
    int64_t lda;                          /* elements from row to row; 0: no gaps */
    int64_t inc_x, inc_y;                 /* elements; 0 means 1 */
    int64_t batch;                        /* 0 means 1 */
    int64_t stride_a, stride_x, stride_y; /* elements; used if batch is over 1 */
    int32_t library;                      /* as in iso_gemm_args */
    iso_keep keep;                        /* as in iso_gemm_args */
    iso_order order;                      /* of A */
    iso_dtype factor_dtype;               /* of alpha_at and beta_at */
    iso_operand alpha_at, beta_at;        /* as in iso_gemm_args */
} iso_gemv_args;
#define ISO_GEMV_ARGS_INIT ISO_INIT_OF_2(iso_gemv_args, alpha, 1.0, batch, 1)

/*
 * C = alpha * op(A) * op(A)^T + beta * C, where only one triangle of C (n x n) is read and written.
 * op(A) is n x k, stored as A (lda >= k) or transposed as k x n (lda >= n); ISO_CONJ_TRANS is
 * INVALID, because C is symmetric, also for complex types. Factors, batches and overlap are as in
 * iso_gemm, and each element has the bits that it has there. Types: f32, f64, c64, c128.
 */
typedef struct iso_syrk_args {
    uint32_t size;
    iso_dtype dtype;            /* of A and C */
    iso_variant variant;        /* naive, tiled, vendor or auto */
    iso_triangle triangle;      /* of C */
    iso_trans trans;            /* of A */
    iso_order order;            /* of A and C */
    int64_t n, k;               /* sizes; C is n x n */
    double alpha, beta;         /* factors of the product and of C */
    iso_operand a, c;           /* A is read, C is written */
    int64_t lda, ldc;           /* elements from row to row; 0: no gaps */
    int64_t batch;              /* 0 means 1 */
    int64_t stride_a, stride_c; /* elements; used if batch is over 1 */
    int32_t library;            /* as in iso_gemm_args */
    iso_keep keep;              /* as in iso_gemm_args */
    iso_dtype factor_dtype;     /* of alpha_at and beta_at */
    uint32_t reserved;
    double alpha_imag, beta_imag;  /* imaginary parts; complex types only */
    iso_operand alpha_at, beta_at; /* factors on the device, as in iso_gemm_args */
} iso_syrk_args;
#define ISO_SYRK_ARGS_INIT ISO_INIT_OF_2(iso_syrk_args, alpha, 1.0, batch, 1)

/*
 * Solves op(A) X = alpha B (ISO_LEFT) or X op(A) = alpha B (ISO_RIGHT) for X, which replaces B (m x
 * n). A is triangular: m x m (left) or n x n (right), and only its triangle is read; with
 * unit_diagonal its diagonal counts as ones and is not read. With alpha 0, A is not read, and X is
 * 0. A zero on the diagonal gives infinities and NaNs, as the division does. B must not overlap A,
 * and the matrices B of a batch must not overlap each other. A stride_a of 0 uses one A for all.
 * The bits are defined (docs/bits.md, 15). Types: f32, f64, c64, c128.
 */
typedef struct iso_trsm_args {
    uint32_t size;
    iso_dtype dtype;            /* of A and B */
    iso_variant variant;        /* naive, tiled, vendor or auto */
    iso_side side;              /* of A */
    iso_triangle triangle;      /* of A as it is stored */
    iso_trans trans;            /* of A */
    int32_t unit_diagonal;      /* 0 or 1 */
    iso_order order;            /* of A and B */
    int64_t m, n;               /* B's rows and columns */
    double alpha, alpha_imag;   /* factor of B; alpha_imag: complex types only */
    iso_operand a, b;           /* A is read; B is read, and X takes its place */
    int64_t lda, ldb;           /* elements from row to row; 0: no gaps */
    int64_t batch;              /* 0 means 1 */
    int64_t stride_a, stride_b; /* elements; used if batch is over 1 */
    int32_t library;            /* as in iso_gemm_args */
    iso_keep keep;              /* as in iso_gemm_args */
    iso_dtype factor_dtype;     /* of alpha_at */
    uint32_t reserved;
    iso_operand alpha_at; /* as in iso_gemm_args */
} iso_trsm_args;
#define ISO_TRSM_ARGS_INIT ISO_INIT_OF_2(iso_trsm_args, alpha, 1.0, batch, 1)

/*
 * `to` (cols x rows) = the transpose of `from` (rows x cols). Elements are moved unchanged. If both
 * are the same operand with the same leading dimension and the matrix is square, it is transposed
 * in place; no other overlap is allowed. `vendor` computes 1 * x in floating point and is exact
 * only for finite numbers: it may turn a signalling NaN into a quiet one, and change a pair that
 * holds -0, an infinity or a NaN. It reads elements of 4, 8 and 16 bytes as f32, f64 and pairs of
 * f64.
 */
typedef struct iso_transpose_args {
    uint32_t size;
    iso_variant variant;    /* how it is computed; 0: auto */
    int64_t element_bytes;  /* 1, 2, 4, 8 or 16 */
    int64_t rows, cols;     /* of `from` */
    iso_operand from, to;   /* the matrices */
    int64_t ld_from, ld_to; /* elements from row to row; 0: no gaps */
} iso_transpose_args;
#define ISO_TRANSPOSE_ARGS_INIT ISO_INIT_OF(iso_transpose_args)

/*
 * Reduces x (rows x cols) to one result (ISO_AXIS_ALL), to `cols` results (ISO_AXIS_0) or to `rows`
 * results (ISO_AXIS_1), stored one after another at `result`. A one-dimensional array is given as
 * one row of `cols` elements. For ISO_AXIS_ALL there must be no gaps between the rows.
 *
 * The result has the type of x, except: argmin and argmax give i64, the index along the reduced
 * axis; the mean of integers is f64, from a sum that wraps in 64 bits. Dot reads y, which has x's
 * shape and its own leading dimension. 2-norm takes only floating-point types, and xor
 * only integers. Over no elements, sums and norms are +0, xor is 0, a product is 1, and min, max,
 * argmin, argmax, amax, argamax and mean are INVALID. `result` must not overlap x or y. Types: f16,
 * bf16, f32, f64, i32, i64; 2-norm, amax and argamax take only floating-point types.
 */
typedef struct iso_reduce_args {
    uint32_t size;
    iso_reduce_op op;    /* what is computed */
    iso_dtype dtype;     /* of x and y */
    iso_variant variant; /* how; 0: auto */
    iso_axis axis;       /* what is reduced to one result; 0: all */
    iso_keep keep;       /* what auto must keep */
    int64_t rows, cols;  /* of x and y */
    iso_operand x, y;    /* what is reduced; y: dot only */
    int64_t ld_x, ld_y;  /* elements from row to row; 0: no gaps */
    iso_operand result;  /* where the results go */
    int64_t inc_result;  /* elements from one result to the next; 0 means 1 */
} iso_reduce_args;
#define ISO_REDUCE_ARGS_INIT ISO_INIT_OF_1(iso_reduce_args, rows, 1)

/*
 * z(i, j) = `op` applied to x(i, j) and, where the operation has them, y(i, j) and w(i, j), for
 * `rows` rows of `n` elements. The bits are the same in both variants: `naive` handles one element
 * per work-item, `tiled` moves as many bytes at once as is best for the device. There is no vendor
 * variant.
 *
 * Element (i, j) of an operand is i * ld + j * inc elements after its start. A ld of 0 means rows
 * without a gap, an inc of 0 means 1. An operand that is read may be spread instead: one row of n
 * elements (its ld is not used), one column of `rows` elements that are `inc` apart, or one
 * element. So a bias is an addition whose y is spread. z may be the same operand as x, y or w, with
 * the same ld and inc and not spread; no other overlap is allowed, and no two elements of z may be
 * the same.
 *
 * Types: f16, bf16, f32, f64 for all operations; i32 and i64 for copy, add, multiply, subtract,
 * min, max, abs, negate and convert, and they wrap; i8 for copy and convert; c64 and c128 for copy.
 * Only convert has a z of another type. Only chain uses `steps`, which must be 0 or more.
 */
typedef struct iso_map_args {
    uint32_t size;
    iso_map_op op;       /* what is computed */
    iso_dtype dtype;     /* of x, y and w, and of z unless dtype_z says otherwise */
    iso_variant variant; /* how; 0: auto */
    int64_t n;           /* elements of a row */
    int64_t steps;       /* chain only */
    double alpha, beta;  /* alpha: scale, triad, chain, axpby; beta: chain, axpby */
    iso_operand x, y, z; /* what is read, and the result; y: add, subtract, multiply, divide, min,
                          * max, triad, axpby and fma only */
    int64_t rows;        /* 0 means 1 */
    iso_operand w;       /* what is added; fma only */
    int64_t ld_x, ld_y, ld_w, ld_z;          /* elements from row to row; 0: no gaps */
    int64_t inc_x, inc_y, inc_w, inc_z;      /* elements from one to the next of a row; 0 means 1 */
    iso_spread spread_x, spread_y, spread_w; /* how operands are spread; 0: not */
    iso_dtype dtype_z;                       /* of z; convert only; 0: as x */
    iso_dtype factor_dtype;                  /* of alpha_at and beta_at */
    uint32_t reserved;
    iso_operand alpha_at, beta_at; /* as in iso_gemm_args */
} iso_map_args;
#define ISO_MAP_ARGS_INIT ISO_INIT_OF_1(iso_map_args, alpha, 1.0)

/*
 * y = alpha * op(A) * x + beta * y, where A is a sparse matrix (sparse.h) and x and y are vectors
 * of its type without gaps. op(A) is A or its transpose. x has as many elements as op(A) has
 * columns, and y as many as op(A) has rows.
 *
 * alpha and beta are rounded to the type. With beta 0, y is not read; with alpha 0, neither A nor x
 * is. y must not overlap x. The bits of naive and tiled are defined and differ, because naive adds
 * the entries of a row one by one (docs/bits.md, 12). Queries need the matrix too.
 */
typedef struct iso_spmv_args {
    uint32_t size;
    iso_variant variant; /* naive, tiled, vendor or auto */
    iso_trans trans;     /* ISO_TRANS: INVALID if the matrix has no transposed copy */
    int32_t library;     /* as in iso_gemm_args */
    iso_keep keep;       /* as in iso_gemm_args */
    uint32_t reserved;
    iso_sparse matrix;  /* A */
    double alpha, beta; /* factors of the product and of the old y */
    iso_operand x, y;   /* the vectors */
} iso_spmv_args;
#define ISO_SPMV_ARGS_INIT ISO_INIT_OF_1(iso_spmv_args, alpha, 1.0)

/* Submits the operation that the descriptor describes. */
ISO_API iso_status iso_gemm(iso_stream stream, const iso_gemm_args *args);
ISO_API iso_status iso_gemv(iso_stream stream, const iso_gemv_args *args);
ISO_API iso_status iso_transpose(iso_stream stream, const iso_transpose_args *args);
ISO_API iso_status iso_reduce(iso_stream stream, const iso_reduce_args *args);
ISO_API iso_status iso_map(iso_stream stream, const iso_map_args *args);
ISO_API iso_status iso_spmv(iso_stream stream, const iso_spmv_args *args);
ISO_API iso_status iso_syrk(iso_stream stream, const iso_syrk_args *args);
ISO_API iso_status iso_trsm(iso_stream stream, const iso_trsm_args *args);

/* The same for any kind; `args` is that kind's descriptor. */
ISO_API iso_status iso_execute(iso_stream stream, iso_op_kind kind, const void *args);

/*
 * Products of unlike sizes. Each is one call of iso_gemm, in order; but all are checked before any
 * runs, and the results of one must not overlap what another reads or writes. Neighbours in the
 * list that differ only in their operands, which are the same distance apart, run as one batch, so
 * the launches are fewer; the bits are the same. Returns the same statuses; the text names the
 * product by its number. At most 65536 products.
 */
ISO_API iso_status iso_gemm_group(iso_stream stream, const iso_gemm_args *products, int64_t count);

/* A batch whose matrices lie anywhere. */
typedef struct iso_gemm_member {
    iso_operand a, b, c; /* A and B are read, C is written */
} iso_gemm_member;

/* The same as iso_gemm_group for `count` products that differ only in their operands: `args` says
 * the rest, and its own operands and batch are ignored. */
ISO_API iso_status iso_gemm_members(iso_stream stream, const iso_gemm_args *args,
                                    const iso_gemm_member *members, int64_t count);

/* The type of a reduction's results. INVALID: an unknown operation or type. */
ISO_API iso_status iso_reduce_result(iso_reduce_op op, iso_dtype dtype, iso_dtype *result);

/*
 * Whether the device supports this operation. Only types, variant, keep, math, library, layout and
 * sizes matter, never alpha and beta, and the buffers of operands may be zero. May open the
 * vendor's library. UNSUPPORTED: it does not, and the text says why. INVALID as above.
 */
ISO_API iso_status iso_supports(iso_device device, iso_op_kind kind, const void *args);

/* How the device would run an operation. */
typedef struct iso_op_info {
    uint32_t size;
    iso_variant variant; /* never AUTO */
    iso_math math;       /* never DEFAULT */
    uint32_t reserved;
    char library[ISO_NAME_MAX]; /* vendor: its library and version; otherwise "isomer VERSION" */
    char kernel[ISO_NAME_MAX];  /* the kernel or the vendor's function, if known */
    /* Why `math` is STRICT although TF32 was requested: the device has no TF32, or the variant, the
     * type or the operation does not use it. Otherwise "". */
    char math_reason[ISO_NOTE_MAX];
} iso_op_info;
#define ISO_OP_INFO_INIT ISO_INIT_OF(iso_op_info)

/* Describes what iso_execute would run. Returns the same statuses as iso_supports. */
ISO_API iso_status iso_describe(iso_device device, iso_op_kind kind, const void *args,
                                iso_op_info *out);

/*
 * Does the one-time work of an operation before its first run: opens libraries, builds kernels, and
 * allocates scratch memory on this stream. The buffers of operands may be zero. Afterwards the same
 * operation on this stream allocates and builds nothing, until a larger operation has run.
 */
ISO_API iso_status iso_prepare(iso_stream stream, iso_op_kind kind, const void *args);

/* Bytes of scratch memory that the operation uses on its stream. Returns the same statuses as
 * iso_supports. */
ISO_API iso_status iso_workspace(iso_device device, iso_op_kind kind, const void *args,
                                 int64_t *bytes);

/*
 * The work that an operation takes by its definition, the same for every variant. Scaling by alpha
 * and beta is not counted as flops, and neither are steps done once for each result of a reduction.
 *
 *               flops                        bytes read                       bytes written
 * gemm          2 m n k batch                A and B; C where beta is not 0   C
 * gemv          2 m k batch                  A and x; y where beta is not 0   y
 * transpose     0                            the matrix                       the matrix
 * reduce        2 an element for dot and     x; y for dot                     the results
 *               norm2, else 1
 * map           0 an element for copy and    x; y and w where they are used   z
 *               convert, 2 for triad and     (a spread one once)
 *               fma, 3 for axpby, 2 * steps
 *               for chain, else 1
 * spmv          2 an entry                   the values, columns (as u16 if   y
 *                                            the device has them so) and
 *                                            offsets, and x; y where beta is
 *                                            not 0
 * syrk          n (n + 1) k batch            A; C's triangle where beta is    C's triangle
 *                                            not 0
 * trsm          m m n batch (left), m n n    A's triangle and B               B
 *               batch (right)
 *
 * Complex products count four times as many flops, and each of their elements counts as two. A
 * factor on the device counts as one that is not 0.
 *
 * If alpha is 0, k counts as 0, and A is not read. An operand that a batch shares (stride 0) counts
 * once, and so does one that is given twice (the same buffer and offset). An empty operation costs
 * nothing, except that a reduction over no elements writes its results.
 */
typedef struct iso_cost_info {
    uint32_t size;
    uint32_t reserved;
    double flops; /* multiplications and additions (integer ones too); comparisons count as one */
    double bytes_read;    /* as in the table */
    double bytes_written; /* as in the table */
} iso_cost_info;
#define ISO_COST_INFO_INIT ISO_INIT_OF(iso_cost_info)

/* Needs no device. The buffers of operands may be zero. INVALID as above. */
ISO_API iso_status iso_cost(iso_op_kind kind, const void *args, iso_cost_info *out);

ISO_END_DECLS

#endif
