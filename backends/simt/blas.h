/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - operations by a vendor's BLAS library, and by its second library for products ("Lt").
 * Two vendors' libraries have the same structure: the backend of each fills a simt_blas with its
 * functions and numbers. A new operation is a simt_vendor_operation in blas.c and a function
 * pointer in simt_blas.
 *
 * BLAS is column-major: a row-major matrix is the transpose of a column-major one with the same
 * leading dimension, so A and B are swapped and no data is moved.
 *
 * Handles belong to streams and are made at a stream's first vendor operation. The workspace of an
 * operation begins with a constant, followed by the library's part. In these backends memory is an
 * address, and a stream's `native` is the vendor's stream. Status 0 of a library means success.
 */
#ifndef ISOMER_SIMT_BLAS_H
#define ISOMER_SIMT_BLAS_H

#include "backends/simt/blas_symbols.h"
#include "backends/simt/simt.h"

enum { BLAS_CONSTANT_BYTES = 256 }; /* at the start of the workspace, for a constant 1 */

enum { SIMT_TYPES_MAX = 32 }; /* every iso_dtype is less than this */

/* The values of one library's enumerators. */
typedef struct simt_blas_numbers {
    uint32_t types[SIMT_TYPES_MAX]; /* [iso_dtype]: its number + 1; 0: the library lacks the type */
    uint32_t no_trans, trans, conj_trans;
    uint32_t lower, upper, left, right, unit, non_unit;
    /* The types that products compute in; in_i32 is 0 if the library has no products of bytes. */
    uint32_t in_f32, in_tf32, in_f64, in_c64, in_c128, in_i32;
    uint32_t alloc_failed;
    uint32_t refused[2]; /* the statuses of a call that the library or the chip does not support */
    const char *(*status_name)(uint32_t status); /* optional; may return NULL */
} simt_blas_numbers;

/* A product in the library's layout: C' = op(B)' op(A)', where ' is the transpose. */
typedef struct simt_blas_product {
    void *handle;
    bool wide; /* a size needs 64 bits */
    bool tf32;
    uint32_t trans_1, trans_2, type, type_c, compute;
    int64_t m, n, k, ld_1, ld_2, ld_c, batch, stride_1, stride_2, stride_c;
    const void *alpha, *beta; /* in the type that it computes in */
    const void *one, *two;
    void *c;
} simt_blas_product;

/* A symmetric product in the library's layout, for each of a batch. */
typedef struct simt_blas_square {
    void *handle;
    bool wide; /* a size needs 64 bits */
    iso_dtype dtype;
    uint32_t triangle, trans;
    int64_t n, k, lda, ldc, batch, stride_a, stride_c;
    const void *alpha, *beta, *a;
    void *c;
} simt_blas_square;

/* A triangular solve in the library's layout, for each of a batch. */
typedef struct simt_blas_solve {
    void *handle;
    bool wide; /* a size needs 64 bits */
    iso_dtype dtype;
    uint32_t side, triangle, trans, diagonal;
    int64_t m, n, lda, ldb, batch, stride_a, stride_b;
    const void *alpha, *a;
    void *b;
} simt_blas_solve;

/* What an operation asks of the precision of a library. */
typedef struct simt_blas_wish {
    const char *operation;
    iso_dtype dtype;
    iso_math math;
    int32_t library;
} simt_blas_wish;

/* `to` (cols x rows) = the transpose of `from` (rows x cols). The two do not overlap. */
typedef struct simt_blas_turn {
    void *handle;
    bool wide;
    uint32_t trans, no_trans;
    int64_t element_bytes; /* 4, 8 or 16 */
    int64_t rows, cols, ld_from, ld_to;
    const void *from;
    void *to;
} simt_blas_turn;

/* For each row, a dot product or the sum of magnitudes. */
typedef struct simt_blas_fold {
    void *handle;
    bool wide;
    iso_dtype dtype;
    uint32_t type;
    int64_t n, rows, ld_x, ld_y;
    int32_t step_y; /* 0: y is a single 1 */
    const void *x, *y;
    void *result;
} simt_blas_fold;

/* A vendor's BLAS library. Functions return the library's status; the caller has made the device
 * current. */
typedef struct simt_blas {
    const simt_blas_numbers *numbers;

    uint32_t (*create)(void **handle);
    uint32_t (*set_up)(void *handle, void *stream); /* once, after create */
    /* Called before every operation. Sets where results and factors are (device or host memory) and
     * the workspace (NULL: not changed). */
    uint32_t (*set)(void *handle, bool on_device, void *workspace, int64_t bytes);
    uint32_t (*destroy)(void *handle);
    const char *create_name, *set_up_name, *set_name;
    int64_t (*library_bytes)(const simt_device *device); /* size of its workspace for a product */
    /* Called after a failure on a stream: fails with DEVICE_LOST if a lost device was the cause,
     * else ISO_OK. */
    iso_status (*lost)(simt_stream *stream, const char *what);
    void (*forget_error)(void); /* optional: clears the driver's last error */

    /* UNSUPPORTED if the device lacks the requested precision, or an environment variable changes
     * it. */
    iso_status (*precision)(const simt_device *device, const simt_blas_wish *wish);
    uint32_t (*gemm)(const simt_blas_product *product);
    /* The function for sizes of 64 bits that this version of the library lacks, or NULL. */
    const char *(*lacks_wide_gemm)(bool batched);
    const char *gemm_names[2]; /* of one product, of a batch */

    /* Only one of a batch, or all of it in one call. */
    uint32_t (*square)(const simt_blas_square *square);
    uint32_t (*solve)(const simt_blas_solve *solve);
    bool batches;
    /* Optional: bytes of scratch memory for each solve of a batch. */
    int64_t (*solve_bytes)(const iso_trsm_op *op);
    /* The function of this name, for f32, f64, c64 and c128, that this version of the library
     * lacks, or NULL. */
    const char *(*lacks_square)(iso_dtype dtype, bool wide);
    const char *(*lacks_solve)(iso_dtype dtype, bool wide);
    const char *square_names[4], *solve_names[4];

    uint32_t (*turn)(const simt_blas_turn *turn);
    /* As lacks_wide_gemm; NULL if no version of the library has such functions. */
    const char *(*lacks_wide_turn)(int64_t element_bytes);
    const char *turn_names[3]; /* for 4, 8 and 16 bytes */

    simt_reductions reductions;
    uint32_t (*dot)(const simt_blas_fold *fold);
    uint32_t (*asum)(const simt_blas_fold *fold);
    const char *(*lacks_wide_fold)(iso_reduce_op op, iso_dtype dtype);
    /* By type: 2 bytes, f32, f64. A sum is a dot product with a single 1, read with stride 0. */
    const char *sum_names[3], *dot_names[3], *asum_names[3];
    /* Optional: bytes of scratch memory for each row; without it, each call reduces one row. */
    int64_t (*row_bytes)(const iso_reduce_op_args *op);
    /* Enqueues the write of `count` equal 32-bit words on the stream; an error names the driver's
     * call. */
    iso_status (*put_words)(simt_stream *stream, void *at, uint32_t word, int64_t count);

    const struct simt_lt *lt;
    const struct simt_sparse *sparse; /* sparse.h */
} simt_blas;

extern const simt_vendor_operation simt_blas_gemm, simt_blas_transpose, simt_blas_reduce,
    simt_blas_syrk, simt_blas_trsm;

static inline const simt_blas *simt_blas_of(const simt_device *device)
{
    return device->driver->vendor->blas;
}

static inline char *simt_place(iso_ref ref)
{
    return (char *)ref.memory + ref.offset;
}

/* ISO_OK, or the failure of a call; a lost device is reported as such. */
iso_status simt_blas_check(simt_stream *stream, const simt_blas_numbers *numbers, uint32_t status,
                           const char *call);
/* The stream's handle, with its settings made again; `on_device`: where results and factors are.
 * The device must be current. */
iso_status simt_blas_handle(simt_stream *stream, iso_ref workspace, int64_t bytes, bool on_device,
                            void **out);
/* The library's number for the type that the product computes in. */
uint32_t simt_blas_compute(const simt_blas_numbers *numbers, const iso_gemm_op *op);
/* alpha or beta, in the type that an operation on elements of `dtype` computes in. */
typedef union simt_blas_scalar {
    float f32;
    double f64;
    int32_t i32;
    float c64[2];
    _Alignas(16) double c128[2];
} simt_blas_scalar;
simt_blas_scalar simt_blas_scalar_of(iso_dtype dtype, double value, double imaginary);
uint32_t simt_blas_trans(const simt_blas_numbers *numbers, iso_trans trans);
/* ISO_OK if products of this type with a C of this type exist and the library has both types. */
iso_status simt_blas_types(const simt_device *device, const simt_blas_numbers *numbers,
                           const iso_gemm_op *op, const char *library);
/* Creates the stream's handle. */
iso_status simt_blas_prepare(simt_stream *stream, const iso_op *op);

/* ---- products of i8 (blas_i8.c) -------------------------------------------------------------- */

/* UNSUPPORTED: the library might refuse the product, or give other sums than ones that wrap. */
iso_status simt_i8_supports(const iso_host *host, const iso_gemm_op *op, const char *library);
/* Scratch memory for copies of A and B. */
int64_t simt_i8_bytes(const iso_gemm_op *op);
/* Copies or transposes A and B to `scratch` if the library does not take them as they are, and
 * changes the product. */
iso_status simt_i8_settle(simt_stream *stream, const iso_gemm_op *op, iso_ref scratch,
                          simt_blas_product *product);
iso_status simt_i8_prepare(simt_stream *stream, const iso_gemm_op *op);

/* ---- the second library (blas_lt.c) ---------------------------------------------------------- */

/* The library's objects are pointers to structs. `void *` serves for both vendors, because all such
 * pointers are passed in the same way. */
typedef void *lt_handle, *lt_matmul, *lt_layout, *lt_preference, *lt_stream;
typedef uint64_t lt_algorithm;
typedef struct lt_choice {
    /* Has room for either vendor's struct, which begins with the algorithm. */
    lt_algorithm algorithm[16];
} lt_choice;

typedef struct simt_lt_api {
    SIMT_LT_SYMBOLS(LOADER_MEMBER, lt, lt)
} simt_lt_api;

/* What the choice of an algorithm depends on: the key of a cached plan. */
typedef struct simt_lt_key {
    int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
    uint32_t dtype, dtype_c, compute, trans_a, trans_b;
    uint32_t align_a, align_b, align_c; /* bytes; 0: the choice does not depend on them */
    uint32_t used;
} simt_lt_key;

typedef struct simt_lt {
    const simt_lt_api *api;
    simt_library *library;
    const simt_blas_numbers *numbers;
    uint32_t not_supported;
    uint32_t trans_a, trans_b; /* attributes of a product, as the library numbers them */
    uint32_t batch, stride;    /* attributes of a matrix */
    uint32_t workspace_max;    /* attribute of a preference */
    size_t state_at;           /* offset of the status in the vendor's choice */
    const char *create_name, *choose_name, *run_name;
    /* Optional: gets the library's version from the handle; UNSUPPORTED if it is too old. */
    iso_status (*version)(void *handle, int *version);
    /* Optional: sets further preferences, with the operands' alignment. Without it, the alignment
     * is not part of the key. */
    uint32_t (*prefer)(void *preference, const simt_lt_key *key);
} simt_lt;

extern const simt_vendor_operation simt_lt_gemm;

/* ---- what devices and streams keep ----------------------------------------------------------- */

typedef struct simt_lt_plan simt_lt_plan;

typedef struct simt_blas_stream {
    void *handle;        /* NULL until needed */
    simt_lt_plan *plans; /* NULL until needed */
    int next_plan;
    void *sparse; /* the handle of the library for sparse matrices; NULL until needed */
} simt_blas_stream;

typedef struct simt_blas_device {
    void *lt;       /* NULL until needed */
    int lt_version; /* 0 if the library does not report it */
    void *sparse;   /* NULL until needed */
} simt_blas_device;

/* Bytes of workspace: for the constant and for the library's usual workspace. */
int64_t simt_blas_workspace(simt_device *device, const iso_op *op);
/* The stream's state; the first call creates it, with zeros. NULL: out of memory. */
simt_blas_stream *simt_blas_stream_of(simt_stream *stream);
/* The device's state, likewise. The caller holds vendor_lock. */
simt_blas_device *simt_blas_device_of(simt_device *device);
/* The version of the device's handle of the second library; 0 before it is made. */
int simt_lt_version(simt_device *device);

/* Called by vendor.c, only for a device or stream whose `vendor` is not NULL. */
void simt_blas_device_close(simt_device *device);
void simt_blas_stream_close(simt_stream *stream);
/* Called by blas.c: frees what the second library keeps for a device or a stream. */
void simt_lt_device_close(simt_device *device);
void simt_lt_stream_close(simt_stream *stream);

#endif
