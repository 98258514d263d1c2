/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - the operations of the tool, one row each, and the cases made of them. `verify`, `bench`,
 * `compare` and `report` find everything that depends on the operation here. No other code compares
 * its name.
 *
 * A case says what is computed and on which data. It does not say on which backend and device.
 * `verify` takes its cases from the conformance list, `bench` from the lists of workloads.
 */
#ifndef ISOMER_OPS_H
#define ISOMER_OPS_H

#include "bench/arith/arith.h"

#include <jansson.h>

enum {
    BENCH_ID_MAX = 160,
    BENCH_SAMPLES = 16,
    BENCH_LAYOUTS = 3,    /* members of a layout */
    BENCH_FACTORS = 64,   /* bytes of factors on the device */
    BENCH_ALIGNMENT = 256 /* operands are aligned like a buffer, to this many bytes */
};

typedef struct bench_op bench_op;
struct bench_result;
struct check_data;
struct tool_names;
struct tool_words;
struct verify_list;
struct verify_problem;
struct verify_runner;
struct verify_state;

/* How a case ended. */
typedef enum bench_status {
    BENCH_OK = 0,
    BENCH_FAILED = 1,      /* a result was wrong, or a rule of the API was broken */
    BENCH_UNSUPPORTED = 2, /* the device does not support it, and reported that before the call */
    BENCH_ERROR = 3,       /* a call failed unexpectedly, or memory ran out */
    BENCH_SKIPPED = 4,     /* the budget had no time for it */
    BENCH_STATUSES = 5
} bench_status;

const char *bench_status_name(bench_status status); /* "ok", "failed", ... */

/* ---- cases ----------------------------------------------------------------------------------- */

/* How the operands of a product lie in memory. */
typedef enum gemm_blocks {
    GEMM_OWN = 0,    /* each in its own memory */
    GEMM_NEIGHBOURS, /* A, C and B side by side in one matrix; a batch goes downwards */
    GEMM_BESIDE      /* the members of C side by side in one matrix */
} gemm_blocks;

/* How the members of a batch are computed. */
typedef enum gemm_call {
    GEMM_ONE = 0, /* by one call */
    GEMM_MEMBERS, /* as members in no order */
    GEMM_GROUP    /* as a group of unlike products, each of some rows of a member */
} gemm_call;

typedef struct gemm_shape {
    iso_trans trans_a, trans_b;
    iso_order order;
    int64_t m, n, k, batch;
    double alpha, beta, alpha_imag, beta_imag;
    bool alpha_at, beta_at; /* that factor is on the device */
    iso_dtype factor_dtype; /* its type there */
    gemm_call call;
    int32_t pad;         /* elements by which a leading dimension exceeds the row length */
    int32_t offset;      /* elements */
    bool same_a, same_b; /* stride 0 */
    bool continues;      /* C holds the total of earlier terms */
    gemm_blocks blocks;
} gemm_shape;

/* The product of matrices with one column, which has the same bits. With neighbours, A and y share
 * one matrix. With beside, the elements of the vectors y alternate. */
typedef struct gemv_shape {
    gemm_shape product; /* n is 1 */
    int64_t inc_x, inc_y;
} gemv_shape;

/* The product of A and its transpose. */
typedef struct syrk_shape {
    gemm_shape product; /* n is m; trans_b and the batch of B are those of A */
    iso_triangle triangle;
} syrk_shape;

typedef struct trsm_shape {
    iso_side side;
    iso_triangle triangle; /* of A as it is stored */
    iso_trans trans;
    iso_order order;
    bool unit;
    int64_t m, n, batch;
    double alpha, alpha_imag;
    bool alpha_at;
    iso_dtype factor_dtype;
    int32_t pad, offset;
    bool same_a;
} trsm_shape;

typedef struct spmv_shape {
    iso_trans trans;
    arith_form form;
    int64_t rows, cols, per_row; /* of the stored matrix */
    iso_dtype index;             /* of its numbers, on the device too */
    double alpha, beta;
    int32_t offset; /* elements, of x and y */
} spmv_shape;

typedef struct transpose_shape {
    int64_t rows, cols;
    int32_t pad, offset;
    bool in_place;
    bool neighbours; /* input and result lie side by side in one matrix */
} transpose_shape;

typedef struct reduce_shape {
    iso_reduce_op op;
    iso_axis axis;
    int64_t rows, cols;
    int32_t pad, offset;
} reduce_shape;

typedef enum map_place {
    MAP_APART, /* three arrays */
    MAP_ON_X,  /* z is x */
    MAP_ON_Y,  /* z is y */
    MAP_TWICE, /* y is x */
    MAP_ALL    /* z and y are x */
} map_place;

/* How a map's rows lie. */
typedef enum map_form {
    MAP_FLAT,  /* one row, or rows without gaps */
    MAP_ROWS,  /* leading dimensions above the row length */
    MAP_GAPS,  /* gaps between elements too */
    MAP_TURNED /* by columns */
} map_form;

typedef struct map_shape {
    iso_map_op op;
    map_place place;
    map_form form;
    iso_spread spread_x, spread_y;
    bool w_is_y;       /* w is y; otherwise x */
    iso_dtype dtype_z; /* 0: as x */
    int64_t n, steps;
    int64_t rows; /* 0: 1 */
    double alpha, beta;
    int32_t offset_x, offset_y, offset_z; /* elements */
} map_shape;

typedef enum transfer_move {
    TRANSFER_WRITE,
    TRANSFER_READ,
    TRANSFER_COPY,
    TRANSFER_BETWEEN,
    TRANSFER_FILL
} transfer_move;

/* `bench` moves one row of `width` bytes. */
typedef struct transfer_shape {
    transfer_move move;
    bool flat;             /* the 1-D call */
    int64_t width, height; /* bytes, rows */
    int64_t to_pitch, from_pitch;
    int64_t to_offset, from_offset;
    int64_t pattern_bytes; /* fills */
    bool neighbours;       /* copies: both offsets are in one buffer */
} transfer_shape;

/* How a case of `verify --comm` makes its calls. */
typedef enum comm_way {
    COMM_ONCE,    /* one call */
    COMM_AGAIN,   /* several on one stream, which rewrites the buffers between them */
    COMM_STREAMS, /* on three streams, of which some have other work first */
    COMM_TWO,     /* on two communicators of the same devices, each on its own stream */
    COMM_GROUP,   /* several as one group */
    COMM_THREAD,  /* those of all ranks as one group, from one thread */
    COMM_AFTER,   /* a barrier: what follows it comes after what precedes it on every rank */
    COMM_WAYS
} comm_way;

typedef struct comm_shape {
    iso_comm_op
        op; /* ISO_COMM_SEND is also received; without `pair`, each rank sends to the next */
    iso_comm_sum sum;
    iso_reduce_op reduce;
    comm_way way;
    int32_t ranks;
    int32_t peer, sender; /* a broadcast's root; a pair: the sender sends to the peer */
    int32_t offset;       /* elements */
    int64_t count;
    bool in_place, pair, special;
    bool automatic; /* the call's sum is auto, and it keeps bits */
} comm_shape;

/* Which limit of the device (a roof) a case is there to measure. */
typedef enum bench_roof {
    BENCH_NO_ROOF,
    BENCH_ROOF_MEMORY, /* at the case's mix of reads and writes */
    BENCH_ROOF_FMA
} bench_roof;

/* In which respect the company of a problem differs, for `verify --invariance`. */
typedef enum company_axis {
    COMPANY_BATCH,    /* among the members of a batch */
    COMPANY_ROWS,     /* among other rows */
    COMPANY_COLUMNS,  /* among other columns */
    COMPANY_SHAPE,    /* among other rows and columns, at sizes near those of tiles */
    COMPANY_LENGTH,   /* maps: in a longer array */
    COMPANY_PADDING,  /* with leading dimensions and distances */
    COMPANY_OFFSET,   /* at other addresses */
    COMPANY_TRANS,    /* A or B stored transposed */
    COMPANY_EXCHANGE, /* C' = B' A' */
    COMPANY_VECTOR,   /* gemv: as a column of a product of matrices */
    COMPANY_AXIS,     /* reductions: along another axis */
    COMPANY_THREADS,  /* on another number of threads */
    COMPANY_ISA,      /* with another instruction set */
    COMPANY_TILES,    /* with other tiles */
    COMPANY_INLINE,   /* on an inline stream */
    COMPANY_STREAMS,  /* while another stream does the same */
    COMPANY_BUSY,     /* while another stream has much to do */
    COMPANY_REPEAT,   /* 20 times */
    COMPANY_AXES
} company_axis;

/* A case of `verify --invariance` has a problem, its base, in some company: that part of the result
 * must have the bits that the base has alone. */
typedef struct bench_company {
    int32_t base;     /* 1 + the index of the base in the list of bases; 0: not such a case */
    int32_t row, col; /* where the base lies */
    int32_t member;   /* of the batch */
    int32_t setting;  /* an index of company_settings; 0: none */
    company_axis axis;
    bool turned;  /* the base's matrices are transposed there */
    bool swapped; /* its inputs are exchanged there */
    bool second;  /* two streams: this case's is the second one */
    bool cancels; /* a base: the terms of each sum cancel, so that only rounding errors are left */
} bench_company;

typedef struct bench_case {
    char id[BENCH_ID_MAX]; /* "gemm/tiled/f32/1024x1024x1024/nn/strict/uniform/hot" */
    const bench_op *op;    /* the row that it is listed under */
    const bench_op *by;    /* the row that computes it: for the map `dot`, the reductions */
    char kind[64];         /* "write", "triad", "sum", or a kernel's name; "" */
    char type[12];         /* "f32"; "f16-f32": of A and of C; "e4" for elements that are moved, not
                              computed with; "" */
    char variant[16];      /* "tiled"; for operations without variants "pageable", "event", ... */
    arith_fill fill;
    iso_variant how;
    iso_dtype dtype;   /* 0: bytes or elements are moved, not computed with */
    iso_dtype dtype_c; /* of a product's result, if the call names it; 0: as usual */
    int64_t element;   /* bytes of an element; 1 for transfers */
    iso_math math;     /* STRICT or TF32 */
    int32_t library;   /* which of the vendor's libraries */
    uint64_t seed;     /* the seed of its data, which all variants of a problem share */
    bool same_bits;    /* the bits of its result are defined, so it has a digest */
    /* 0: every element is compared with the model. Above 0: the case is large and has random
     * inputs, so it is checked by samples, by projections and by bounds that rely on random signs.
     * For a product, this is the number of elements that are compared with the model's bits. */
    int32_t samples;
    union {
        gemm_shape gemm;
        gemv_shape gemv;
        syrk_shape syrk;
        trsm_shape trsm;
        spmv_shape spmv;
        transpose_shape transpose;
        reduce_shape reduce;
        map_shape map;
        transfer_shape transfer;
        comm_shape comm;
        int32_t script; /* for verify_order and verify_limits: the number of the script */
        const struct kernel_case *own; /* for bench_kernel */
    };

    int32_t problem;       /* `verify`: cases with the same number have the same data */
    bench_company company; /* `verify --invariance` */

    /* `bench` */
    bool cold;  /* caches are overwritten before each sample */
    bool parts; /* also measured with the transfers of its operands and its result */
    bool asked; /* the user's request includes it; false: it only measures a roof */
    bool vast;  /* needs more memory than any device has */
    bench_roof roof;
    int32_t priority; /* if time is short: 0 (a roof) is kept longest, the highest dropped first */
    int64_t size;     /* its position on the size axis of a plot */
    double flops, bytes_read, bytes_written; /* of one call */
    double longest; /* in seconds; the case is skipped if one call would take a CPU longer */
} bench_case;

/* The size of a case in a list of workloads. */
typedef struct bench_size {
    int64_t of[3];
    int32_t count;     /* "1024": 1, "64x32": 2, "64x32x16": 3 */
    bool beyond_cache; /* "beyond-cache": arrays that no cache holds */
    int64_t batch, steps;
} bench_size;

/* The size of a case as ids and documents of `bench` show it. An id shows the first `count`
 * numbers; documents show `more` further ones. */
typedef struct bench_shape {
    const char *names[4];
    int64_t sizes[4];
    int32_t count, more;
    double elements; /* of all its arrays, approximately */
    char form[48];   /* follows the sizes in the id: "/nn" */
    struct {
        const char *name, *value;
    } layout[BENCH_LAYOUTS];
} bench_shape;

/* What a case reads and writes, as dense arrays. */
typedef struct bench_needs {
    iso_dtype type; /* of the inputs; if elements are only moved, any type of their size */
    int32_t inputs; /* 0, 1, 2 */
    int64_t bytes[2];
    iso_dtype result_type; /* 0: elements are moved, not computed with */
    int64_t results;       /* elements */
    bool apart;            /* each operand is at the beginning of its own buffer */
    /* In bytes: the size of the result; where `bench` puts the inputs in its block of memory, and
     * where the last one ends. */
    int64_t result, at[2], end;
} bench_needs;

/* A matrix inside a dense operand: element (i, j) is number first + i * down + j * across. */
typedef struct bench_view {
    int64_t first, rows, cols, down, across;
} bench_view;

typedef union bench_args {
    iso_gemm_args gemm;
    iso_gemv_args gemv;
    iso_syrk_args syrk;
    iso_trsm_args trsm;
    iso_spmv_args spmv;
    iso_transpose_args transpose;
    iso_reduce_args reduce;
    iso_map_args map;
} bench_args;

void bench_case_needs(const bench_case *item, bench_needs *out);

/* The side of a square of about this many elements. */
int64_t bench_square(int64_t elements);

/* ---- rows ------------------------------------------------------------------------------------ */

/* Checks a result, which is dense and in host memory. */
typedef bool bench_check(const bench_case *item, const struct check_data *data, const void *got,
                         struct bench_result *result);
typedef void bench_cases(struct verify_list *list, bool full);
/* Where the base of a case lies in an operand: 0 and 1 are the inputs, 2 is the result. `rows` and
 * `cols` are the case's own sizes, which are those of the base if the case is one. */
typedef void bench_view_of(const bench_case *item, int operand, bench_view *out);
typedef bool bench_run(struct verify_state *state, struct verify_runner *runner,
                       const bench_case *item, struct bench_result *result);

/* How `bench` runs a case with arrays and calls of its own: one that is no operation of the
 * library, or one that changes its inputs. */
enum { BENCH_ARRAYS = 32 };
typedef struct bench_own {
    /* Writes the bytes of each array on the device, 0 for none, and returns their number. */
    int32_t (*arrays)(const bench_case *item, int64_t *bytes);
    void *(*create)(const bench_case *item, iso_device device);
    void (*destroy)(void *self);
    /* Compiles. NULL if it is an operation, which the library prepares. */
    bool (*prepare)(void *self, struct bench_result *result);
    /* Writes a round's inputs, and what results begin with, to the arrays. Each round has others.
     * Without `whole`, large arrays keep most of what is in them. */
    iso_status (*load)(void *self, iso_stream stream, const iso_operand *arrays, int64_t round,
                       bool whole);
    iso_status (*submit)(void *self, iso_stream stream);
    bool (*check)(void *self, iso_stream stream, const iso_operand *arrays,
                  struct bench_result *result);
} bench_own;

/* An object of the device that a case's arguments name, such as a sparse matrix. Cases with the
 * same seed have the same object. */
typedef struct bench_object {
    int64_t (*bytes)(const bench_case *item); /* of device memory */
    iso_status (*make)(const bench_case *item, iso_device device, uint64_t *id);
    void (*set)(bench_args *args, uint64_t id);
    void (*drop)(uint64_t id);
    void (*cost)(const bench_case *item, iso_cost_info *out); /* needs no object */
} bench_object;

struct bench_op {
    const char *name;
    const char *measured; /* its name in ids and documents of `bench`; NULL: not measured */
    const char *verified; /* its name in ids and documents of `verify` */

    /* words in reports */
    const char *title;          /* of a block of results: "Products" */
    const char *size;           /* the unit of a size: "N", "elements", "bytes" */
    const char *computes;       /* the kind that is rated in FLOP/s; "": all kinds; NULL: none */
    const char *computes_title; /* replaces `title` for a block of that kind */
    const char *kind_member;    /* the member for the kind in documents of `verify`; NULL: none */
    bool moves;                 /* it moves data between memories; reports show it separately */

    /* the words that are allowed in a line of a suite, and the defaults; NULL: none */
    const char *const *kinds, *const *variants, *const *types, *const *layouts, *const *maths;
    const char *usual_kinds, *usual_variants, *usual_types, *usual_layout;
    unsigned counts; /* bit c: a size may have c numbers; bit 0: it may be beyond-cache */
    /* The members that give the size of a case in a suite file; or NULL. */
    const char *const *size_members;
    /* The members that give its layout, whose words are joined with `layout_mark` (NULL: nothing).
     * NULL: the member "axis" does. */
    const char *const *layout_members;
    const char *layout_mark;
    bool batches; /* a case may be a batch */

    /* a case */
    bool libraries; /* the vendor may offer several libraries for it */
    void (*needs)(const bench_case *item, bench_needs *out);
    /* NULL: it has no kernel. */
    iso_op_kind (*arguments)(const bench_case *item, bench_args *args);
    void (*operands)(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result);
    /* Calls it. NULL: iso_execute does. */
    iso_status (*call)(const bench_case *item, iso_stream stream, const bench_args *args);
    /* If factors are on the device: writes them, and makes the arguments name them in the buffer.
     * NULL: they never are. */
    bool (*factors)(const bench_case *item, unsigned char bytes[BENCH_FACTORS], bench_args *args,
                    iso_buffer buffer);
    /* Changes a dense input that was just made. NULL: none needs it. */
    void (*fit)(const bench_case *item, int input, void *dense);
    const bench_object *object; /* NULL: its arguments need none */
    bench_check *check;
    /* Sets alpha and beta to the i-th of some other pairs of values. Support must be the same with
     * all of them. False: there are no more. NULL: it has no factors. */
    bool (*other_factors)(bench_args *args, int i);

    /* a measured case */
    /* False: the case does not exist. NULL: it has no kinds. */
    bool (*set_kind)(bench_case *item, const char *kind);
    void (*set_layout)(bench_case *item, const char *layout); /* NULL: it has no layouts */
    void (*set_size)(bench_case *item, const bench_size *size);
    void (*shape)(const bench_case *item, bench_shape *out);
    bool (*has_bits)(const bench_case *item); /* NULL: always */
    const bench_own *own;                     /* NULL: the library's call runs it */
    /* Lowers the assumed rates of an ordinary CPU if this operation is slower. NULL: it is not. */
    void (*slows)(const bench_case *item, bool native, double *rate, double *moved);

    /* a conformance case */
    bool same_in_variants; /* naive and tiled must give the same bits */
    bench_cases *cases;
    /* Lays the operands out in memory. False: no memory. */
    bool (*lay)(const bench_case *item, struct verify_problem *problem);
    bench_run *run;         /* runs a case without a kernel */
    bench_cases *companies; /* the cases of --invariance. NULL: there are none */
    bench_view_of *view;
    /* Sets the members of a result that describe what was computed. NULL: there are none. */
    void (*describe)(const bench_case *item, json_t *shape, json_t *layout);
};

/* All operations of the suites of `bench`, in the order of reports. */
enum { BENCH_OPS = 9 };
extern const bench_op *const bench_ops[BENCH_OPS];

/* What `verify` checks: the operations, order and limits. The digest of a run depends on the order
 * of this list. */
enum { VERIFY_OPS = BENCH_OPS + 2 };
extern const bench_op *const verify_ops[VERIFY_OPS];

/* The operation that the user or a document calls `word`. NULL: there is none. */
const bench_op *bench_op_find(const char *word);
/* "map, transpose, ...": the operations among the words of --op. */
const char *bench_op_words(void);
/* Adds all words of --op: the operations, and then their kinds, such as triad and sum. */
void bench_op_names(struct tool_names *names);
/* Whether a list of such words has a case's operation, by any of its names, or its kind. */
bool bench_op_listed(const struct tool_words *words, const bench_op *op, const char *kind);
const char *verify_op_words(void);
/* The row for an operation of a document, which may also be the program's own kernels, or "other":
 * other programs' benchmarks. */
const bench_op *bench_op_of(const char *word);
const bench_op *bench_op_recorded(const char *word); /* the same, but NULL for "other" */
int bench_op_rank(const bench_op *op); /* its index in bench_ops; BENCH_OPS: it is not there */

/* Whether its rate is in FLOP/s. */
bool bench_op_computes(const bench_op *op, const char *kind);

/* The next of these types that are numbers, in the order of their list; from 0, the first; after
 * the last, 0. */
iso_dtype bench_next(const char *const *types, iso_dtype after);
/* The next floating-point type, in the same way. */
iso_dtype bench_float(iso_dtype after);

/* "f16, bf16, ...": the words of --dtype for numbers. */
const char *bench_type_words(void);

/* Variants and types that several rows list. */
extern const char *const bench_plain_variants[];   /* naive, tiled, vendor */
extern const char *const bench_partial_variants[]; /* and partials */
extern const char *const bench_fixed_variants[];   /* naive, tiled, fixed, vendor */
/* Those of solves and of symmetric products; those of products of matrices; those of maps and
 * reductions; every type of a number. */
extern const char *const bench_float_types[],
    *const bench_wide_types[], *const bench_product_types[], *const bench_all_types[],
                                                                 *const bench_number_types[];
extern const char *const bench_matrix_members[]; /* rows, cols */

/* company_product.c, company_array.c */
bench_cases gemm_companies, gemv_companies, reduce_companies, map_companies;
bench_view_of gemm_view, reduce_view, map_view;

/* gemm.c */
/* The type of a product's result. */
iso_dtype bench_result_type(const bench_case *item);
/* factors.c */
/* Writes the factors of a product that are on the device, and says where they are. */
bool bench_factors(const gemm_shape *g, iso_dtype dtype, unsigned char bytes[BENCH_FACTORS],
                   iso_buffer buffer, iso_operand *alpha, iso_operand *beta);
/* The factors as the product uses them: rounded where they are stored, and then to its type. */
arith_factors bench_factors_of(const gemm_shape *g, iso_dtype dtype);
/* Sets the members of a layout that the usual factors do not have. */
void bench_describe_factors(const gemm_shape *g, iso_dtype dtype, json_t *layout);
/* gemm_options.c: products of other orders and types, with factors on the device, and groups. */
bench_cases gemm_option_cases;
iso_status gemm_call_of(const bench_case *item, iso_stream stream, const bench_args *args);

extern const bench_op bench_kernel; /* bench/kernel */
/* The matrix of a case of bench_spmv. */
arith_sparse_shape bench_sparse_shape(const bench_case *item);

extern const bench_op bench_map, bench_transpose, bench_reduce, bench_gemm, bench_gemv, bench_syrk,
    bench_trsm, bench_spmv, bench_transfer;

#endif
