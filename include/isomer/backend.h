/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - the interface between the core and a backend, for authors of backends. Programs that
 * use isomer do not need it.
 *
 * A plug-in is a shared object isomer-NAME.so that exports one function, isomer_backend_query. The
 * built-in backends use the same descriptor. When a plug-in is first needed, the core opens it with
 * RTLD_NOW | RTLD_LOCAL and calls this function. If the core refused the plug-in, it tries again
 * the next time. It never closes a plug-in.
 *
 * Versions. A plug-in and the core work together if their ABI major is the same. Either may be the
 * newer one: each uses only the part of a struct that both know, as given by the struct's `size`.
 * Entries are only ever appended, and no required entry is added within a major version. An
 * optional entry may be NULL if the backend does not have it. If a required entry is NULL, the core
 * refuses the plug-in and names the entry.
 *
 * What the core guarantees before a call reaches a backend:
 * - The core has resolved handles, and has checked enumerators, sizes, leading dimensions, bounds,
 *   alignment and overlap.
 * - The variant is never AUTO, the math mode is never DEFAULT, a leading dimension is never 0, and
 *   a batch is at least 1.
 * - A backend never gets empty products (m, n or batch 0; rows 0), empty transposes, empty maps or
 *   reductions over no elements. It gets a product with k set to 0 if alpha rounds to 0.
 * - Every operand belongs to the device, and the memory limit is not exceeded.
 * - Floating point is in its default state (to nearest, subnormals kept, no traps), whatever the
 *   program's thread has set.
 * - If a product may use TF32 and is UNSUPPORTED with TF32, the core asks again for the strict
 *   product.
 * - The variant of a map is never vendor or partials. A backend whose minor is below 2 gets no
 *   maps. One whose minor is below 4 gets no products with a vector, one whose minor is below 5 no
 *   ISO_XOR, one whose minor is below 9 no products of sparse matrices, and one whose minor is
 *   below 10 no steps of sums over ranks and no product that continues a total.
 *
 * An operand that is written shares no element with another one, unless the operation is in place.
 * But the ranges of operands may interleave: the bytes between the rows of one operand, or between
 * the matrices of its batch, may belong to another operand or to another matrix of the same batch
 * (stride_c may be less than the span of C). A backend must not write the bytes between, not even
 * with the value that it read there, because another thread may be writing them.
 *
 * What a backend promises:
 * - `execute` never returns UNSUPPORTED for an operation for which `supports` returned ISO_OK.
 * - `supports` ignores alpha and beta: its answer for a product holds with k = 0 too.
 * - It allocates no device memory of its own for an operation; it requests scratch memory through
 *   `workspace`.
 * - It reports failures through host->fail and allocates through host->alloc.
 * - It leaves the thread's current context, floating-point environment and signal mask as they
 *   were.
 *
 * Threads. Every entry may be called from several threads at once. But the core never calls two
 * entries with the same stream at once, except stream_sync and stream_query: these may be called
 * while another thread submits to the stream or waits for it. The core destroys an object only when
 * no call that uses it is running. It destroys a stream or a buffer only when its work has finished
 * and an event only when its last record is complete. An event may be destroyed although another
 * stream has not yet reached its wait for that event.
 */
#ifndef ISOMER_BACKEND_H
#define ISOMER_BACKEND_H

#include <isomer/device.h>
#include <isomer/embedded.h>
#include <isomer/engine.h>
#include <isomer/interop.h>
#include <isomer/memory.h>
#include <isomer/op.h>
#include <isomer/types.h>

ISO_BEGIN_DECLS

/* The version of this interface. */
#define ISO_ABI_MAJOR 1
#define ISO_ABI_MINOR                                                                              \
    13 /* 1: adopting, importing, DLPack, iso_gemm_op.library; 2: maps, telemetry; 3: stacks,      \
         device_usable; 4: iso_gemv_op; 5: ISO_XOR; 6: ISO_VARIANT_FIXED, prefers_fixed;           \
         7: programs; 8: iso_program_source.embedded; 9: iso_spmv_op; 10: engines, stream_call,    \
         iso_ranks_op, iso_gemm_op.continues; 11: graphs; 12: iso_gemm_op.way,                     \
         way_name, kernels_identity; 13: maps of matrices and more of them, ISO_AMAX,              \
         ISO_ARGAMAX, iso_finish_op, iso_solve_op, vendors' iso_syrk_op, iso_trsm_op and           \
         products of more types */

/* ---- What the core offers to a backend ------------------------------------------------------- */

/* The levels of ISOMER_LOG. */
typedef enum iso_log_level {
    ISO_LOG_ERROR = 1, /* "error" */
    ISO_LOG_WARN = 2,  /* "warn" */
    ISO_LOG_INFO = 3,  /* "info" */
    ISO_LOG_DEBUG = 4  /* "debug" */
} iso_log_level;

/* The core, as a backend sees it. */
typedef struct iso_host {
    uint32_t size;
    uint32_t abi_major; /* ISO_ABI_MAJOR of the core */
    uint32_t abi_minor; /* ISO_ABI_MINOR of the core */
    uint32_t reserved;
    const char *version; /* of the library */

    /* Allocates host memory, aligned to 64 bytes, with undefined contents. If there is none, calls
     * fail() with NO_MEMORY and returns NULL. free(NULL) does nothing. Do not call these two on the
     * hot path. */
    void *(*alloc)(int64_t bytes);
    void (*free)(void *pointer);

    /* Sets this thread's error text and returns `status`: `return host->fail(ISO_BACKEND, "...")`.
     * The text names what failed, its value and what to do; the core prefixes the name of the call.
     */
    iso_status (*fail)(iso_status status, const char *format, ...) ISO_PRINTF(2, 3);

    /* Writes a line to ISOMER_LOG. */
    void (*log)(iso_log_level level, const char *format, ...) ISO_PRINTF(2, 3);

    /* The value in effect of an ISOMER_ setting; NULL if it is unset and has no default. The core
     * owns the text, which is valid until the process ends. */
    const char *(*setting)(const char *name);

    /* The program cache: a file of up to 256 MiB for a key of any length. `load` returns a block
     * from alloc() and its size. It returns NULL with size 0 if there is no usable entry, and NULL
     * with size -1 if the entry exists but host memory for it ran out (fail() has then been called
     * with NO_MEMORY). `store` returns 0 if the entry was kept. If the cache cannot be used, `load`
     * finds no entry. */
    void *(*cache_load)(const void *key, int64_t key_bytes, int64_t *bytes);
    int32_t (*cache_store)(const void *key, int64_t key_bytes, const void *data, int64_t bytes);

    /* -- minor 3 -- */
    /* Bytes left on this thread's stack; INT64_MAX if unknown. */
    int64_t (*stack_left)(void);

    /* The value of an environment variable (of any name) that names a folder or file from which
     * libraries are loaded. NULL if it is unset, is not an absolute path, or is ignored because the
     * program has more rights than its caller. `problem` (capacity bytes, not NULL) is set to the
     * reason, or to "" if the variable is unset or good. Valid until the process ends. */
    const char *(*path)(const char *name, char *problem, int64_t capacity);

    /* Whether an absolute path is safe from other users: every part of it belongs to root, to this
     * process's user, or to an owner of the library's own folders, and only they can write there.
     * Returns 0 if it is not safe, and sets `problem` to the reason. A backend may start a program
     * only if its path passes this check. */
    int32_t (*trusted)(const char *path, char *problem, int64_t capacity);

    /* -- minor 10 -- */
    /* Opens a library that is a part of the plug-in, by its absolute path, which must be trusted,
     * and leaves the program's handlers of faults as they were. So a plug-in need not be linked
     * with a library that does much as soon as it is loaded: listing plug-ins loads all of them.
     * NULL, with the reason in `problem`, if it cannot be opened. The result is for dlsym. */
    void *(*open_part)(const char *path, char *problem, int64_t capacity);
} iso_host;

/* ---- Operations, resolved and checked -------------------------------------------------------- */

/* A place in device memory: a pointer from memory_alloc, and a byte offset. `memory` is NULL if the
 * operand is not used (y, or A and B if k is 0), and in calls that run nothing (supports,
 * workspace, prepare, describe). */
typedef struct iso_ref {
    void *memory;   /* from memory_alloc or memory_import */
    int64_t offset; /* bytes */
} iso_ref;

/* iso_gemm. */
typedef struct iso_gemm_op {
    /* As in iso_gemm_args. */
    iso_dtype dtype;
    iso_variant variant;
    iso_math math;
    iso_trans trans_a, trans_b;
    int32_t library; /* vendor: index of the device's library; 0 is the first */
    int64_t m, n, k;
    double alpha, beta; /* already rounded to the accumulation type */
    iso_ref a, b, c;
    int64_t lda, ldb, ldc;
    int64_t batch, stride_a, stride_b, stride_c;
    int32_t continues; /* 1: C holds the total of earlier terms, and the segments' results are added
                          to it one by one. Then alpha and beta are 1 */
    int32_t way; /* tiled, if way_name is there: 0: the backend chooses how; else 1 + the index
                    of the way that a table of measured choices names. If the way does not suit
                    the product, the backend chooses. The bits are the same. (minor 12) */
    /* -- minor 13 -- */
    iso_dtype
        dtype_c; /* of C: dtype; or vendor only: f32 if dtype is f16 or bf16, i32 if it is i8 */
    uint32_t reserved;
    double alpha_imag, beta_imag; /* vendor only, of complex types */
} iso_gemm_op;

/* iso_transpose. */
typedef struct iso_transpose_op {
    /* As in iso_transpose_args. */
    iso_variant variant;
    uint32_t reserved;
    int64_t element_bytes;
    int64_t rows, cols;
    iso_ref from, to; /* equal for an in-place transpose */
    int64_t ld_from, ld_to;
} iso_transpose_op;

/* iso_reduce. */
typedef struct iso_reduce_op_args {
    /* As in iso_reduce_args. */
    iso_reduce_op op;
    iso_dtype dtype;
    iso_dtype result_dtype; /* of the results */
    iso_variant variant;
    iso_axis axis;
    uint32_t reserved;
    int64_t rows, cols; /* for ISO_AXIS_ALL, rows is 1 and cols is the number of elements */
    iso_ref x, y;
    int64_t ld_x, ld_y;
    iso_ref result;
} iso_reduce_op_args;

/* iso_map. */
typedef struct iso_map_op_args {
    /* As in iso_map_args. */
    iso_map_op op;
    iso_dtype dtype;
    iso_variant variant;
    uint32_t reserved;
    int64_t n, steps;   /* steps is 0 unless the operation is chain */
    double alpha, beta; /* already rounded to the type of the computation */
    iso_ref x, y, z;    /* z may equal x, y or w */
    /* -- minor 13 -- */
    int32_t general; /* 0: one row, every step of an element is 1, z has the type of x, and the
                      * factors are above: what follows need not be read. 1: what follows counts */
    iso_dtype dtype_z;
    int64_t rows; /* of n elements; at least 1 */
    iso_ref w;    /* fma only */
    /* Elements from one row to the next, and from one element of a row to the next. Both may be 0,
     * but not of z, which has no two elements in one place. Row steps are 0 if rows is 1. */
    int64_t x_row, x_col, y_row, y_col, w_row, w_col, z_row, z_col;
    iso_ref alpha_at, beta_at; /* no memory: alpha and beta above. Otherwise one element of the type
                                * factor_dtype, to be rounded to the type of the computation */
    iso_dtype factor_dtype;    /* f16, bf16, f32 or f64; 0: no factor is on the device */
    uint32_t factors; /* bits: 1: alpha is on the device, 2: beta is; also set where nothing
                       * runs and the references are NULL */
} iso_map_op_args;

/* iso_gemv. */
typedef struct iso_gemv_op {
    /* As in iso_gemv_args. */
    iso_dtype dtype;
    iso_variant variant;
    iso_trans trans;
    int32_t library; /* as in iso_gemm_op */
    int64_t m, k;
    double alpha, beta; /* already rounded to the accumulation type */
    iso_ref a, x, y;
    int64_t lda, inc_x, inc_y;
    int64_t batch, stride_a, stride_x, stride_y;
} iso_gemv_op;

/* A product of a sparse matrix and a vector. A transposed product comes with the arrays of the
 * transposed copy and is not marked. The struct has what a plan needs even where no memory is
 * given. */
typedef struct iso_spmv_op {
    iso_dtype dtype, index;  /* index: of offsets and columns, i32 or i64 */
    iso_variant variant;     /* how it is computed */
    int32_t library;         /* as in iso_gemm_op */
    int64_t rows, cols;      /* of the product: y has `rows` elements, x has `cols` */
    int64_t entries;         /* 0 if alpha rounds to 0: then no row has entries, and of the
                              * operands only y has memory */
    int64_t longest;         /* entries of the longest row */
    int64_t segments;        /* of all rows: a row with up to ISO_SPARSE_SEGMENT entries, even an
                              * empty one, counts as 1, a longer one as many as it needs */
    double alpha, beta;      /* already rounded to the type */
    iso_ref offsets;         /* rows + 1, of type index */
    iso_ref columns, values; /* entries; no memory if there are none */
    iso_ref starts;          /* rows + 1, i64: the segments before each row. No memory if segments
                              * is rows */
    iso_ref x, y;            /* the vectors */
    int32_t narrow;         /* 1: the matrix has its columns as u16 too, with fewer bytes to read */
    iso_ref narrow_columns; /* these; no memory if narrow is 0 or `columns` has none */
} iso_spmv_op;

/* The entries of a segment. */
enum { ISO_SPARSE_SEGMENT = 4096 };

/* A step of a sum over ranks, which only the core's communicators use (docs/bits.md, 13): an
 * iso_op_kind of its own. n is at least 1, and so is count. */
enum { ISO_OP_RANKS = 7 };

/* What such a step does. */
typedef enum iso_ranks_step {
    /* z[i] = the reduction of source 0 .. count-1 in this order. Source s begins s * stride
     * elements after x; but if s is `own`, it is y, and x has a hole there. The first source is
     * where the reduction begins. In the accumulation type, and rounded once. z may be y. Mean is
     * of floating-point types, xor of integers. UNSUPPORTED for more sources than the backend can
     * take, which is at least 1024. */
    ISO_RANKS_FOLD = 1,
    /* exponents[i] = the largest code among element i of the `count` terms. Term t begins
     * t * stride elements after x. The code of 0 is ISO_RANKS_ZERO, of a finite number its
     * exponent, of an infinity ISO_RANKS_INFINITY, of a NaN ISO_RANKS_NAN. */
    ISO_RANKS_EXPONENTS = 2,
    /* Limbs of the sum of the terms, as integers scaled by exponents[i], which is at least the
     * largest code among these terms. f64 has two limbs, `limb_stride` elements from one limb's
     * array to the next; every other type has one. Of a scaled term V the first of two limbs is V &
     * (2^40 - 1) and the second V >> 40; the limbs of a sum are the sums of the limbs, and nothing
     * is carried. If the code is an infinity, limb 0 is the number of positive ones plus 2^31 times
     * that of negative ones; with a NaN limbs are 0. */
    ISO_RANKS_LIMBS = 3,
    /* z[i] = the number that exponents and sums of limbs stand for, rounded once. */
    ISO_RANKS_JOIN = 4
} iso_ranks_step;

/* Codes of exponents, and sizes. */
enum {
    ISO_RANKS_ZERO = -1000000,     /* the code of 0 */
    ISO_RANKS_INFINITY = 1000000,  /* of an infinity */
    ISO_RANKS_NAN = 2000000,       /* of a NaN */
    ISO_RANKS_BITS = 40,           /* a scaled term is at most 2^40 */
    ISO_RANKS_WIDE_BITS = 80,      /* of f64 */
    ISO_RANKS_TERMS_MOST = 1 << 22 /* of all ranks together */
};

/* A step, resolved and checked. */
typedef struct iso_ranks_op {
    iso_ranks_step step;      /* which one */
    iso_dtype dtype;          /* of the terms */
    iso_reduce_op reduce;     /* FOLD: sum, product, min, max, mean, xor; otherwise sum */
    iso_variant variant;      /* always TILED */
    int32_t count;            /* sources of FOLD, terms of EXPONENTS and LIMBS */
    int32_t own;              /* FOLD: the source that is y; -1: none */
    int64_t n;                /* elements */
    int64_t stride;           /* elements, from one source or term to the next */
    int64_t limb_stride;      /* i64 elements */
    iso_ref x, y, z;          /* of dtype */
    iso_ref exponents, limbs; /* i32 and i64 */
} iso_ranks_op;

/* ---- Steps and vendors' operations of minor 13 -----------------------------------------------
 *
 * The core composes products of complex types and of i8, products whose C has another type than A,
 * products with factors on the device, symmetric products and triangular solves from plain
 * products, maps and the two steps below. So a backend that has these has all of them, with the
 * same bits. Of such operations it only gets those whose variant is vendor, and says UNSUPPORTED if
 * its vendor's library has no such routine. */

/* C = alpha * T + beta * C, where T is in the accumulation type. Variant TILED always. No program
 * can call it. */
enum { ISO_OP_FINISH = 10 };

/* Results made of sums: its operation is ISO_OP_FINISH. */
typedef struct iso_finish_op {
    iso_dtype dtype;     /* of C: f16, bf16, f32, f64, i32, c64, c128 */
    iso_variant variant; /* TILED */
    /* How many planes T has. 0: there is no T, and C = beta * C, or +0 if beta is 0 (C is then not
     * read). 1: T is real: f32; f64 if C is f64; and if C is i32, T is f64 that hold whole numbers,
     * alpha and beta are whole numbers, and all wraps. 4: C is complex, and the planes are the sums
     * of re*re, im*im, re*im and im*re, f32 or f64: T = (rr - sign_ii * ii, sign_ri * ri + sign_ir
     * * ir). */
    int32_t planes;
    int32_t sign_ii, sign_ri, sign_ir; /* 1 or -1 */
    iso_triangle triangle;  /* 0: all of C; otherwise only this triangle is read and written */
    iso_dtype factor_dtype; /* as in iso_map_op_args; complex C: two elements, f32 or f64 */
    uint32_t factors;
    uint32_t reserved;
    int64_t m, n, batch;
    iso_ref t;
    int64_t plane, ldt, stride_t; /* elements of T: from plane to plane, row to row, batch */
    double alpha, alpha_imag, beta, beta_imag; /* already rounded */
    iso_ref alpha_at, beta_at;
    iso_ref c;
    int64_t c_row, c_col, stride_c; /* elements; a complex one counts as one */
} iso_finish_op;

/* Solves for up to ISO_SOLVE_MOST unknowns of each of `count` systems that share a triangle, in
 * place, for a batch of triangles: for i = 0 .. n-1: t = x(i); for k = 0 .. i-1: t = fma(-a(i,k),
 * x(k), t); x(i) = t, or t / a(i,i) if unit is 0. Element a(i,k) is i * a_row + k * a_col elements
 * after a, x(i) of system s is i * x_row + s * x_col after x; steps may be negative. Complex:
 * clause 15 of docs/bits.md. Variant TILED always. */
enum { ISO_OP_SOLVE = 11, ISO_SOLVE_MOST = 64 };

/* The unknowns of a block: its operation is ISO_OP_SOLVE. */
typedef struct iso_solve_op {
    iso_dtype dtype;                /* f32, f64, c64, c128 */
    iso_variant variant;            /* TILED */
    int32_t unit;                   /* 1: nothing is divided by a(i,i) */
    int32_t conj;                   /* 1: a's imaginary parts have the other sign */
    int64_t n, count, batch;        /* unknowns, systems, triangles */
    iso_ref a, x;                   /* where a(0,0) and x(0) of system 0 are */
    int64_t a_row, a_col, stride_a; /* elements */
    int64_t x_row, x_col, stride_x; /* elements */
} iso_solve_op;

/* Vendor only. */
typedef struct iso_syrk_op {
    iso_dtype dtype;       /* f32, f64, c64, c128 */
    iso_variant variant;   /* VENDOR */
    iso_triangle triangle; /* of C */
    iso_trans trans;       /* of A: never CONJ */
    int32_t library;       /* as in iso_gemm_op */
    uint32_t reserved;
    int64_t n, k;                                /* sizes; k is 0 if alpha is */
    double alpha, alpha_imag, beta, beta_imag;   /* already rounded */
    iso_ref a, c;                                /* operands */
    int64_t lda, ldc, batch, stride_a, stride_c; /* elements */
} iso_syrk_op;

/* Vendor only. */
typedef struct iso_trsm_op {
    iso_dtype dtype;       /* f32, f64, c64, c128 */
    iso_variant variant;   /* VENDOR */
    iso_side side;         /* of A */
    iso_triangle triangle; /* of A as it is stored */
    iso_trans trans;       /* of A */
    int32_t unit;          /* 1: the diagonal counts as ones */
    int32_t library;       /* as in iso_gemm_op */
    uint32_t reserved;
    int64_t m, n;                                /* B's rows and columns */
    double alpha, alpha_imag;                    /* already rounded */
    iso_ref a, b;                                /* operands; A has no memory if alpha is 0 */
    int64_t lda, ldb, batch, stride_a, stride_b; /* elements */
} iso_trsm_op;

/* Room for the struct of any operation. */
typedef union iso_op_args {
    /* The struct of that kind. */
    iso_gemm_op gemm;
    iso_transpose_op transpose;
    iso_reduce_op_args reduce;
    iso_map_op_args map;
    iso_gemv_op gemv;
    iso_spmv_op spmv;
    iso_ranks_op ranks;
    iso_finish_op finish;
    iso_solve_op solve;
    iso_syrk_op syrk;
    iso_trsm_op trsm;
} iso_op_args;

/* One operation. The struct is valid only during the call: a backend that runs the operation later
 * must copy it. */
typedef struct iso_op {
    uint32_t size;    /* of this struct */
    iso_op_kind kind; /* or ISO_OP_RANKS */
    union {
        const void *args; /* a kind that the backend does not know is UNSUPPORTED */
        /* The struct of that kind. */
        const iso_gemm_op *gemm;
        const iso_transpose_op *transpose;
        const iso_reduce_op_args *reduce;
        const iso_map_op_args *map;
        const iso_gemv_op *gemv;
        const iso_spmv_op *spmv;
        const iso_ranks_op *ranks;
        const iso_finish_op *finish;
        const iso_solve_op *solve;
        const iso_syrk_op *syrk;
        const iso_trsm_op *trsm;
    };
    uint32_t args_size; /* size of the struct that args points to */
    uint32_t reserved;
    iso_ref workspace; /* scratch memory, at least the size that `workspace` returned; owned by the
                          stream */
    int64_t workspace_bytes; /* its size */
} iso_op;

/* The kinds of transfer. */
typedef enum iso_transfer_kind {
    ISO_TRANSFER_WRITE = 1, /* host_from to `to` */
    ISO_TRANSFER_READ = 2,  /* `from` to host_to */
    ISO_TRANSFER_COPY = 3,  /* `from` to `to`, both on this device */
    ISO_TRANSFER_FILL = 4   /* the pattern to `to` */
} iso_transfer_kind;

/* One transfer: `height` rows of `width` bytes, neither 0. A 1-D transfer has height 1. */
typedef struct iso_transfer {
    uint32_t size;
    iso_transfer_kind kind;       /* which of these is used depends on it */
    iso_ref to, from;             /* memory of the device */
    const void *host_from;        /* host memory that is read */
    void *host_to;                /* host memory that is written */
    int64_t to_pitch, from_pitch; /* bytes from one row to the next, at each end */
    int64_t width, height;        /* bytes, and rows */
    uint8_t pattern[16];          /* of a fill */
    int64_t pattern_bytes;        /* 1, 2, 4, 8 or 16; width is a multiple of it */
} iso_transfer;

/* A kernel of a program: the name of its entry function, the items of a group, and for a CPU the
 * bytes of scratch memory that a group uses, aligned to 64. */
typedef struct iso_program_entry {
    const char *name; /* of the entry function */
    int32_t items;    /* of a group */
    uint32_t reserved;
    int64_t scratch_bytes; /* of a group, on a CPU */
} iso_program_entry;

/* The program's own kernels. `text` is complete: CUDA C++, HIP, OpenCL C and C11 compile it. The
 * struct is valid only during the call. */
typedef struct iso_program_source {
    uint32_t size;
    int32_t entry_count;              /* how many kernels */
    const char *name;                 /* for messages */
    const char *text;                 /* complete */
    const iso_program_entry *entries; /* the kernels, in the order of the text */

    /* -- minor 8 -- */
    /* For a CPU: what the text compiles to for several instruction sets, in the order of `entries`.
     * It stays valid as long as the program, but the struct only during the call. NULL: none. */
    const iso_embedded *embedded;
} iso_program_source;

/* One argument of a launch: `bytes` bytes at `value`; or memory from memory_alloc, where `bytes` is
 * the offset of its element `first`. */
typedef struct iso_program_arg {
    void *memory;         /* from memory_alloc */
    const void *value;    /* NULL: memory */
    int64_t bytes, first; /* as above */
} iso_program_arg;

/* Which groups a launch has: their numbers along x, y and z, all together at least 1 and below
 * 2^31; the first group along x; and the first one along y, with that along z in the upper 32 bits.
 * The core begins at 0; a GPU's backend may launch the groups in parts. */
typedef struct iso_program_place {
    int64_t groups[3]; /* along x, y and z */
    int64_t first_x;   /* the first group along x */
    uint64_t first_yz; /* the first along y, and along z in the upper 32 bits */
} iso_program_place;

/* A launch. On a GPU the entry's first argument is the place. Memory is one argument, the address
 * of its element `first`; in OpenCL two, the memory and `first`. On a CPU the entry is
 *
 *   void entry(const void *const *args, int64_t first, int64_t end, char *scratch)
 *
 * where args[0] to args[4] point to the members of the place, and each further one to an argument;
 * memory is two: its address and `first`. It runs the groups from `first` up to `end`, counted
 * along x, then y, then z. The struct is valid only during the call. */
typedef struct iso_program_launch {
    uint32_t size;
    int32_t entry;               /* index of the kernel */
    void *program;               /* from program_build */
    iso_program_place place;     /* the groups */
    const iso_program_arg *args; /* in the order of the parameters */
    int32_t arg_count;           /* how many */
    uint32_t reserved;
    int64_t shared_bytes; /* of the arrays whose size the launch says; a CPU's entry has them behind
                             its scratch memory */
} iso_program_launch;

/* ---- What a backend offers to the core ------------------------------------------------------- */

/* The result of probing. If the state is OK, `devices` is the number of devices. Otherwise `reason`
 * says why the state is not OK, with every path that was tried. */
typedef struct iso_probe {
    uint32_t size;
    iso_state state; /* of the backend */
    int32_t devices; /* how many */
    uint32_t reserved;
    char reason[ISO_REASON_MAX]; /* "" if the state is OK */
} iso_probe;

/* Flags of a backend. */
enum {
    /* The backend can only say why it is not available. Its only required entry is `probe`, which
     * never finds a device. */
    ISO_BACKEND_PROBE_ONLY = 1,
    /* After fork(), a child may forget all objects and open devices again. Without this flag the
     * core returns UNAVAILABLE in the child if probing this backend reached a driver in the parent,
     * that is, if the probe set any state but NOT_FOUND. */
    ISO_BACKEND_FORK_SAFE = 2,
    /* The backend has an engine and no devices. Its only required entries are `probe`, which sets
     * the state NO_DEVICE, and `engine`. */
    ISO_BACKEND_ENGINE_ONLY = 4,
    /* Device memory is host memory: `memory` is its address, and any thread may use it. */
    ISO_BACKEND_HOST_MEMORY = 8
};

/* A backend, as the core sees it. */
typedef struct iso_backend {
    uint32_t size;
    uint32_t abi_major;     /* ISO_ABI_MAJOR */
    uint32_t abi_minor;     /* ISO_ABI_MINOR */
    uint32_t flags;         /* ISO_BACKEND_... */
    const char *name;       /* lower-case letters, digits, '-' and '_' */
    const char *build_info; /* one line: version, compiler, options */

    /* -- devices -- */
    /* Required. Looks for the driver and its devices, and fills *out. Once the state is OK, it is
     * not called again, except in a child of fork(). */
    iso_status (*probe)(iso_probe *out);
    /* Required. Describes a device without opening it (the core fills spec and backend). */
    iso_status (*device_info)(int32_t index, iso_device_info *out);
    /* Required. */
    iso_status (*device_open)(int32_t index, void **device);
    void (*device_close)(void *device);
    /* Optional: the i-th property; NOT_READY after the last. */
    iso_status (*device_property)(void *device, int32_t index, iso_property *out);

    /* -- memory -- */
    /* Required. `bytes` is at least 1. The memory is aligned to 256 bytes. */
    iso_status (*memory_alloc)(void *device, int64_t bytes, void **memory);
    void (*memory_free)(void *device, void *memory);
    /* Optional, both or neither. Allocate and free host memory that the device copies fast. Without
     * them the core uses plain memory. */
    iso_status (*host_alloc)(void *device, int64_t bytes, void **pointer, int32_t *pinned);
    void (*host_free)(void *device, void *pointer);
    /* Optional, both or neither. Pin and unpin the caller's memory. */
    iso_status (*host_register)(void *device, void *pointer, int64_t bytes, int32_t *pinned);
    void (*host_unregister)(void *device, void *pointer);

    /* -- streams and events -- */
    /* Required. UNSUPPORTED for a flag that the backend does not know. */
    iso_status (*stream_create)(void *device, uint32_t flags, void **stream);
    /* Required. The core has already synchronised the stream. */
    void (*stream_destroy)(void *stream);
    /* Required. Waits, and returns the stream's late error. After a late error the stream runs
     * nothing more, but events recorded on it still complete. */
    iso_status (*stream_sync)(void *stream);
    /* Required. ISO_OK, NOT_READY (without calling fail) or the late error. */
    iso_status (*stream_query)(void *stream);
    /* Required. */
    iso_status (*event_create)(void *device, void **event);
    void (*event_destroy)(void *event);
    iso_status (*event_record)(void *event, void *stream);
    /* Required. Work submitted to the stream after this call waits for the event's last record. */
    iso_status (*stream_wait)(void *stream, void *event);
    /* Required. The core calls these only for events that have been recorded. */
    iso_status (*event_sync)(void *event);
    iso_status (*event_query)(void *event);
    iso_status (*event_elapsed)(void *start, void *stop, int64_t *nanoseconds);

    /* -- transfers and operations -- */
    /* Required. The host memory stays usable until the transfer has run on the stream. */
    iso_status (*transfer)(void *stream, const iso_transfer *transfer);
    /* Required. ISO_OK, or UNSUPPORTED with the reason through fail. Operands are NULL. */
    iso_status (*supports)(void *device, const iso_op *op);
    /* Required. The bytes of scratch memory that a supported operation needs; 0 if none. */
    iso_status (*workspace)(void *device, const iso_op *op, int64_t *bytes);
    /* Required. Submits a supported operation. */
    iso_status (*execute)(void *stream, const iso_op *op);
    /* Optional. Opens and builds in advance whatever `execute` would need. */
    iso_status (*prepare)(void *stream, const iso_op *op);
    /* Optional. Fills library and kernel for a supported operation. */
    iso_status (*describe)(void *device, const iso_op *op, iso_op_info *out);
    /* Optional. Copies directly from another device of this backend, ordered on both streams.
     * UNSUPPORTED if there is no direct path: the core then copies through host memory. */
    iso_status (*copy_peer)(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                            int64_t bytes);

    /* -- sharing the program's own objects (minor 1); all optional -- */
    /* Opens a device in a context that the program made, and sets *index to its number among this
     * backend's devices. device_close closes it and leaves the program's objects as they are. */
    iso_status (*device_adopt)(const iso_native_device *native, int32_t *index, void **device);
    /* Wraps a stream that the program made; stream_destroy must not destroy that stream. */
    iso_status (*stream_adopt)(void *device, void *native, void **stream);
    /* Both or neither. Wraps memory that the program owns, so that it works like memory from
     * memory_alloc. INVALID if the driver can tell that it is not memory of this device, or that it
     * is shorter than `bytes`. */
    iso_status (*memory_import)(void *device, void *native, int64_t bytes, void **memory);
    void (*memory_forget)(void *device, void *memory);
    /* The native handle of one of this backend's objects: `object` is the device (CONTEXT, DEVICE),
     * a stream, an event or memory. */
    iso_status (*native_get)(void *device, iso_native_kind kind, void *object, void **native);
    /* The DLPack type and id of this device. */
    iso_status (*dlpack_device)(void *device, int32_t *type, int32_t *id);
    /* Returns 0 unless the driver forbids writes to this imported memory. Without this entry all
     * imported memory can be written. */
    int32_t (*memory_is_read_only)(void *device, void *memory);

    /* -- minor 2 -- */
    /* Optional. Reads the device's sensors. If the sensors do not report a value, the backend
     * leaves that field as the core set it, and may say why in energy_reason. The struct grows with
     * later versions: only the first out->size bytes are the core's. UNSUPPORTED, with every
     * library that was tried, if there are no sensors. */
    iso_status (*telemetry)(void *device, iso_telemetry *out);

    /* -- minor 3 -- */
    /* Bytes of stack that this backend's libraries need; 0 if a few KiB are enough. The core opens
     * devices in a thread with enough stack. If the caller's thread has less left, the core does
     * not call the entries that allocate, submit, build or describe, and returns NO_MEMORY. */
    int64_t stack_bytes;
    /* Optional. Returns UNAVAILABLE, with the reason, for a device that exists but must not be
     * opened (ISO_STATE_BROKEN); otherwise ISO_OK. Called before device_open and when devices are
     * listed. The first call for a device may be slow, so the core asks only about devices that it
     * needs. */
    iso_status (*device_usable)(int32_t index);

    /* -- minor 6 -- */
    /* Optional. Called for a product or a product with a vector whose variant is FIXED. Returns 1
     * if it is expected to be faster on this device than every other variant. Then auto chooses it
     * for a caller that allows it (ISO_KEEP_SCALE), if it is also supported. Without this entry
     * auto never chooses it. */
    int32_t (*prefers_fixed)(void *device, const iso_op *op);

    /* -- minor 7: the program's own kernels; all optional, all or none -- */
    /* Compiles a program, or finds it in the program cache. COMPILE with the compiler's log if it
     * does not compile; UNSUPPORTED, with the reason, if there is no compiler. */
    iso_status (*program_build)(void *device, const iso_program_source *source, void **program);
    /* No launch of it is running. */
    void (*program_release)(void *device, void *program);
    /* Submits a launch. */
    iso_status (*program_launch)(void *stream, const iso_program_launch *launch);
    /* Both or neither, and only after probe, which may have found no device. Writes the name of the
     * index-th chip that the compiler at hand knows. NOT_READY: there are no more. UNSUPPORTED,
     * with the reason: there is no compiler. */
    iso_status (*chip_get)(int32_t index, char *name, int64_t capacity);
    /* Compiles a program for such a chip, and keeps nothing. COMPILE as for program_build. The
     * source has no entries. */
    iso_status (*program_try)(const char *chip, const iso_program_source *source);

    /* -- minor 10 -- */
    /* Optional. Moves data between ranks: a device engine for this backend's own devices, or a host
     * engine for any devices that have stream_call. Static. */
    const iso_engine *engine;
    /* Optional. Calls run(data, skip) once, from a thread of the backend's, after the stream's
     * earlier work; later work of the stream waits until it returns. It may take long and may wait
     * for such calls of other streams. `skip` is 1 if the stream has failed before. A failure,
     * reported through host->fail, becomes the stream's late error. If stream_call fails, it does
     * not call run. UNSUPPORTED for a stream that runs in the calling thread. */
    iso_status (*stream_call)(void *stream, iso_status (*run)(void *data, int32_t skip),
                              void *data);

    /* -- minor 11: graphs; all optional, all or none. Without them the core keeps a list of the
     * work, and submits it in turn -- */
    /* Makes a graph that has no work yet. Up to graph_end it is a stream, too: `prepare` is called
     * with it for each operation that it will get. UNSUPPORTED, with the reason: the core keeps a
     * list. */
    iso_status (*graph_open)(void *device, void **graph);
    /* From here to graph_end, `transfer`, `execute` and `program_launch` with the graph as their
     * stream add to its work, which runs later, in this order, and now nothing runs. The calls come
     * from one thread, and all memory is that of the launches: workspace, too, is the graph's. If
     * one of these calls or graph_end fails with UNSUPPORTED or BACKEND, the core closes the graph
     * and keeps a list. */
    iso_status (*graph_begin)(void *graph);
    iso_status (*graph_end)(void *graph);
    /* Submits the graph's work to a stream of its device, any number of times. The core orders the
     * launches of one graph, also those on different streams: two never run at once. */
    iso_status (*graph_launch)(void *stream, void *graph);
    /* Frees a graph, whatever was called for it before. No launch of it is running. */
    void (*graph_close)(void *graph);
    /* Optional, with or without graphs. Returns with what program_launch would refuse the launch on
     * a device; nothing is launched. The core calls it for a launch that a stream records. */
    iso_status (*program_check)(void *device, const iso_program_launch *launch);

    /* -- minor 12: tables of measured choices (docs/tuning.md) -- */
    /* Optional. Writes the name (at most 31 of a-z, 0-9 and '-') of the index-th way in which this
     * device can compute a product whose variant is TILED; NOT_READY after the last. It depends on
     * the operation's type alone. */
    iso_status (*way_name)(void *device, const iso_op *op, int32_t index, char *name,
                           int64_t capacity);
    /* Optional. Writes one line that changes if the backend's own kernels may have another speed
     * than before: versions of the driver, of the compiler and of the kernels. May open the
     * compiler. Without this entry the line is build_info. A line that ends with ", kernels WORD"
     * lets tables that came with the library be used while the word is the same. */
    iso_status (*kernels_identity)(void *device, char *text, int64_t capacity);
} iso_backend;

/*
 * The only function that a plug-in exports. It must not call a driver. It keeps `host`, which is
 * valid until the process ends. It returns a descriptor that is also valid until the process ends,
 * or NULL if it cannot work with this host. `host_abi` is the core's version (major << 16 | minor).
 */
#define ISO_BACKEND_QUERY_NAME "isomer_backend_query"
/* The type of that function. */
typedef const iso_backend *(*iso_backend_query)(uint32_t host_abi, const iso_host *host);

/* This declaration makes a plug-in export its definition, whatever -fvisibility says. The library
 * itself does not define this function. */
#define ISO_PLUGIN_EXPORT __attribute__((visibility("default")))
/* What a plug-in defines, as said above. */
ISO_PLUGIN_EXPORT const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host);

ISO_END_DECLS

#endif
