/* SPDX-License-Identifier: Apache-2.0 */
/* op.h - operations: the core's table of them, and an operation that was read and checked. */
#ifndef ISOMER_CORE_OP_H
#define ISOMER_CORE_OP_H

#include "common/tuned.h"
#include "core/sparse.h"

struct core_steps;

/* ---- layouts of operands --------------------------------------------------------------------- */

/* The layout of an operand's bytes: `batch` matrices that begin `stride` bytes apart. Each has
 * `rows` rows that begin `pitch` bytes apart, and a row has `width` bytes. */
typedef struct core_layout {
    int64_t bytes; /* from the first byte to the last; 0 if the operand is not accessed */
    int64_t width;
    int64_t rows, pitch;   /* pitch: only used with several rows */
    int64_t batch, stride; /* stride: only used with several matrices */
} core_layout;

typedef enum core_overlap {
    CORE_APART = 0,
    CORE_MEET = 1,   /* they share a byte */
    CORE_UNKNOWN = 2 /* three or more different strides, and too many matrices to try: refused */
} core_overlap;

/* Whether two operands in one buffer overlap. `a_at` and `b_at` are their offsets in the buffer;
 * both end below 2^63. */
core_overlap core_layouts_meet(int64_t a_at, const core_layout *a, int64_t b_at,
                               const core_layout *b);
/* Whether two matrices of a batch overlap each other. */
core_overlap core_layout_meets_itself(const core_layout *layout);
/* The layout of contiguous bytes. */
core_layout core_run(int64_t bytes);

/* ---- operations ------------------------------------------------------------------------------ */

typedef struct core_op core_op;
struct core_steps;

/* Variants as bits. */
enum {
    CORE_NAIVE = 1 << ISO_VARIANT_NAIVE,
    CORE_TILED = 1 << ISO_VARIANT_TILED,
    CORE_VENDOR = 1 << ISO_VARIANT_VENDOR,
    CORE_PARTIALS = 1 << ISO_VARIANT_PARTIALS,
    CORE_FIXED = 1 << ISO_VARIANT_FIXED
};

/* Reserved for matrix units; no operation has it. */
#define CORE_VARIANT_RESERVED ((iso_variant)4)

enum { CORE_ORDER_MAX = 3 };

/* An operation of the core. To add one, write a file in ops/ and add its line to ops/table.c. */
typedef struct core_operation {
    const char *name;                  /* "gemm" */
    const char *plural;                /* "products", for messages */
    int variants;                      /* those that any device may have, as bits */
    bool keeps;                        /* its descriptor has the field keep */
    iso_variant order[CORE_ORDER_MAX]; /* auto tries these in turn; a 0 ends a shorter list */
    uint32_t abi_minor;  /* minor version of the backend interface that introduced it */
    uint32_t args_size;  /* bytes of its member of iso_op_args */
    uint32_t variant_at; /* the offset of `variant` in that member */
    uint32_t way_at;     /* the offset of `way` in that member; 0: it has none */
    /* Checks the caller's descriptor, and fills args, uses and the other fields that are not 0. If
     * it fails, what it acquired is released. */
    iso_status (*read)(const char *call, const void *args, core_op *out);
    /* Fills the cost of an operation that was read. */
    void (*cost)(core_op *op);
    /* Turns an empty operation into one of a single element. */
    void (*shrink)(core_op *op);
    void (*trace)(const core_op *op, const char *variant, char *name, size_t room);
    /* Optional: sets the references to memory that is no operand. */
    void (*attach)(core_op *op);
    /* Both or neither: whether the core makes the operation of steps, as its variant is now, and
     * what gives the steps. */
    bool (*composed)(const core_op *op);
    void (*compose)(const core_op *op, struct core_steps *steps);
    /* Optional: what tables of measured choices know the operation by, and the vendor's library
     * that the caller chose. */
    void (*measured)(const core_op *op, tuned_shape *out, int32_t *library);
} core_operation;

/* Both are in ops/table.c. If there is no such kind, the first returns NULL, and the second sets
 * NULL and fails with INVALID. */
const core_operation *core_operation_of(iso_op_kind kind);
iso_status core_operation_find(const char *call, iso_op_kind kind, const core_operation **out);

/* An operand used by an operation. */
typedef struct core_use {
    const char *name; /* "a" */
    iso_operand operand;
    core_layout layout;
    int64_t align;
    bool written;
    iso_ref *ref;
    core_buffer *buffer; /* acquired by bind() */
} core_use;

typedef enum core_empty {
    CORE_NOT_EMPTY = 0,
    CORE_NOTHING = 1, /* nothing is written */
    CORE_NEUTRAL = 2  /* the results are filled with the neutral element */
} core_empty;

enum { CORE_USES_MAX = 6 };

/* Factors that lie on the device. */
typedef struct core_factors {
    iso_dtype dtype;
    bool alpha, beta; /* which of them are there */
    iso_ref alpha_at, beta_at;
} core_factors;

/* An operation that was read and checked. Points into itself, so it must not be copied. */
struct core_op {
    const core_operation *row;
    iso_op op;
    iso_op_args args;
    iso_variant *variant;           /* in args */
    iso_keep keep;                  /* as in the caller's descriptor */
    iso_math *math;                 /* in args; NULL if there is none */
    iso_dtype dtype;                /* only set if `math` is */
    char math_reason[ISO_NOTE_MAX]; /* why math is strict although TF32 was requested, or "" */
    int64_t *summed; /* in args: the length of sums (0 if alpha is 0); NULL if there are no sums */
    int64_t summed_given; /* the length of sums in the caller's descriptor */
    core_empty empty;
    uint64_t neutral;      /* bits of the neutral element */
    uint32_t abi_minor;    /* of the backend interface, if it is newer than its row */
    const char *newer;     /* what is newer: "the reduction xor" */
    const char *not_fixed; /* why no device has it as variant fixed; NULL: one may */
    core_sparse *matrix;   /* acquired by read; NULL: the operation has none */
    bool transposed;       /* the matrix's transposed copy is read */
    core_factors factors;
    int32_t library;   /* that the caller chose for the variant vendor; 0: the first */
    bool reads_a;      /* trsm: alpha is not 0 */
    bool unmeasured;   /* tables of measured choices do not know this form of the operation */
    int64_t own_bytes; /* composed: scratch memory of its own, behind which its steps have theirs */
    int64_t apart;     /* reductions: elements from one result to the next */
    bool in_place; /* its result may be the same as an operand, but must not partly overlap it */
    int use_count;
    iso_cost_info cost;
    core_use uses[CORE_USES_MAX]; /* last: not cleared, because core_op_use sets each */
};

/* Reads an operation, binds it to a stream's device and resolves it. If this succeeds, it must be
 * closed. */
iso_status core_op_open(const char *call, core_stream *stream, iso_op_kind kind, const void *args,
                        core_op *out);
void core_op_close(core_op *op);
/* Runs, or records, operations that were opened, in order. All get their scratch memory before the
 * first runs. */
iso_status core_op_run_all(const char *call, core_stream *stream, core_op *ops, int64_t count);
iso_status core_op_execute(const char *call, iso_stream stream, iso_op_kind kind, const void *args);

/* resolve.c: sets the variant and the math mode, and turns an empty operation into one of a single
 * element. UNSUPPORTED: the device cannot run it. */
iso_status core_op_resolve(const char *call, core_op *op, core_device *device);

/* check.c: helpers for reading an operation. */

/* Adds an operand and returns its layout. The operand counts as not accessed until the caller fills
 * the layout. */
core_layout *core_op_use(core_op *op, const char *name, iso_operand operand, iso_ref *ref,
                         int64_t align, bool written);
/* Whether two operands begin at the same place of the same buffer. */
bool core_use_is_same(const core_use *a, const core_use *b);
/* Sets the layout of `batch` matrices; INVALID if their size in bytes does not fit 64 bits. */
iso_status core_matrix_layout(const char *call, const char *name, int64_t rows, int64_t cols,
                              int64_t ld, int64_t batch, int64_t stride, int64_t element,
                              core_layout *out);
/* Sets *ld to the row length if it is 0; INVALID if it is less than the row length. */
iso_status core_check_ld(const char *call, const char *name, const char *matrix, int64_t cols,
                         int64_t *ld);
/* The same, but a column-major matrix has columns. */
iso_status core_check_line(const char *call, const char *name, const char *matrix, iso_order order,
                           int64_t length, int64_t *ld);
iso_status core_check_variant(const char *call, iso_variant variant);
/* Checks `keep`, and that a named variant does not contradict it. */
iso_status core_check_keep(const char *call, iso_keep keep, iso_variant variant);
/* Checks rows, cols and the variant, in this order. */
iso_status core_check_matrix(const char *call, int64_t rows, int64_t cols, iso_variant variant);
iso_status core_check_dtype(const char *call, iso_dtype dtype);
/* The same, and INVALID unless it is f32, f64, c64 or c128. */
iso_status core_check_solvable(const char *call, iso_dtype dtype, const char *what);
/* The same, and INVALID for i8 and complex types. `what` is the message's subject and verb. */
iso_status core_check_plain(const char *call, iso_dtype dtype, const char *what);

/* ---- alpha and beta, rounded without floating-point arithmetic ------------------------------- */

/* Checks the operands of factors on the device of an operation on `dtype`, and adds those that are
 * there. `given` is their type in the descriptor. */
iso_status core_read_factors(const char *call, core_op *op, iso_operand alpha, iso_operand beta,
                             iso_dtype given, iso_dtype dtype);
/* INVALID unless the imaginary part of a real type's factor is 0. */
iso_status core_check_imag(const char *call, const char *name, iso_dtype dtype, double value);
iso_status core_check_order(const char *call, iso_order order);
/* The alignment of an element: its size, or that of a complex one's part. */
int64_t core_unit_of(iso_dtype dtype);
iso_status core_check_library(const char *call, int32_t library);
/* The variant, `keep` and the library, in this order. */
iso_status core_check_how(const char *call, iso_variant variant, iso_keep keep, int32_t library);

/* A factor rounded to the type in which operations on `dtype` compute: to nearest even, with that
 * type's subnormals and overflow; a NaN stays a NaN. */
double core_round_factor(iso_dtype dtype, double factor);
bool core_is_zero(double factor);
bool core_is_one(double factor);

#endif
