/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - the operations of the tool, one row each, and the cases made of them. `verify`, `bench`,
 * `compare` and `report` find here all that depends on the operation; nothing else compares its
 * name.
 *
 * A case says what is computed on which data. Backend and device are no part of it. `verify` takes
 * its cases from the conformance list, `bench` from the lists of workloads.
 */
#ifndef ISOMER_OPS_H
#define ISOMER_OPS_H

#include "bench/arith/arith.h"

#include <jansson.h>

enum {
    BENCH_ID_MAX = 160,
    BENCH_SAMPLES = 16,
    BENCH_ALIGNMENT = 256 /* of operands: what a buffer has */
};

typedef struct bench_op bench_op;
struct bench_result;
struct check_data;
struct verify_list;
struct verify_problem;
struct verify_runner;
struct verify_state;

/* How a case ended. */
typedef enum bench_status {
    BENCH_OK = 0,
    BENCH_FAILED = 1,      /* a result was wrong, or a rule of the API was broken */
    BENCH_UNSUPPORTED = 2, /* the device cannot do it, and reports that beforehand */
    BENCH_ERROR = 3        /* a call failed that should not have, or memory ran out */
} bench_status;

const char *bench_status_name(bench_status status); /* "ok", "failed", "unsupported", "error" */

/* ---- cases ----------------------------------------------------------------------------------- */

/* How the operands of a product lie. */
typedef enum gemm_blocks {
    GEMM_OWN = 0,    /* each in memory of its own */
    GEMM_NEIGHBOURS, /* A, C and B side by side in one matrix; a batch one below the other */
    GEMM_BESIDE      /* the members of C side by side in one matrix */
} gemm_blocks;

typedef struct gemm_shape {
    iso_trans trans_a, trans_b;
    int64_t m, n, k, batch;
    double alpha, beta;
    int32_t pad;         /* elements by which a leading dimension exceeds the row length */
    int32_t offset;      /* elements */
    bool same_a, same_b; /* stride 0 */
    gemm_blocks blocks;
} gemm_shape;

/* The product with one column that has its bits. */
typedef struct gemv_shape {
    gemm_shape product; /* n is 1; blocks: A and y in one matrix, or the vectors y taking turns */
    int64_t inc_x, inc_y;
} gemv_shape;

typedef struct transpose_shape {
    int64_t rows, cols;
    int32_t pad, offset;
    bool in_place;
    bool neighbours; /* `from` and `to` side by side in one matrix */
} transpose_shape;

typedef struct reduce_shape {
    iso_reduce_op op;
    iso_axis axis;
    int64_t rows, cols;
    int32_t pad, offset;
} reduce_shape;

typedef enum map_place {
    MAP_APART, /* x, y and z apart */
    MAP_ON_X,  /* z is x */
    MAP_ON_Y,  /* z is y */
    MAP_TWICE, /* y is x */
    MAP_ALL    /* all are one */
} map_place;

typedef struct map_shape {
    iso_map_op op;
    map_place place;
    int64_t n, steps;
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

/* Which roof a case measures, besides being a case like any other. */
typedef enum bench_roof {
    BENCH_NO_ROOF,
    BENCH_ROOF_READ,
    BENCH_ROOF_COPY,
    BENCH_ROOF_FMA
} bench_roof;

typedef struct bench_case {
    char id[BENCH_ID_MAX]; /* "gemm/tiled/f32/1024x1024x1024/nn/strict/uniform/hot" */
    const bench_op *op;    /* the row that it is listed under */
    const bench_op *by;    /* the row that computes it: reductions compute the map `dot` */
    char kind[16];         /* "write", "triad", "sum"; "" */
    char type[8];          /* "f32"; "e4" for elements that are only moved; "" */
    char variant[16];      /* "tiled"; "pageable", "event", ... where there are no variants */
    arith_fill fill;
    iso_variant how;
    iso_dtype dtype; /* 0 where bytes or elements are only moved */
    int64_t element; /* bytes of an element; 1 for transfers */
    iso_math math;   /* STRICT or TF32 */
    int32_t library; /* which of the vendor's */
    uint64_t seed;   /* of its data; variants of a problem share it */
    bool same_bits;  /* its result is defined to the bit: it has a digest */
    /* Over 0: large, of random numbers, and checked by samples, projections and bounds that use
     * their random signs; so many elements of a product are held to the model's bits. 0: each
     * element is compared with the model. */
    int32_t samples;
    union {
        gemm_shape gemm;
        gemv_shape gemv;
        transpose_shape transpose;
        reduce_shape reduce;
        map_shape map;
        transfer_shape transfer;
        int32_t script; /* of orders and limits: which one */
    };

    int32_t problem; /* `verify`: cases with the same number have the same data */

    /* `bench` */
    bool cold;  /* caches are overwritten before each sample */
    bool parts; /* also with its operands moved in and its result out */
    bool vast;  /* its bytes are more than any device holds */
    bench_roof roof;
    int64_t size;                            /* the number for a plot's axis */
    double flops, bytes_read, bytes_written; /* of one call */
    double longest; /* seconds: what would take a processor longer for one call is not tried */
} bench_case;

/* What a case of a list of workloads is made from. */
typedef struct bench_size {
    int64_t of[3];
    int32_t count;     /* "1024": 1, "64x32": 2, "64x32x16": 3 */
    bool beyond_cache; /* "beyond-cache": arrays that no cache holds */
    int64_t batch, steps;
} bench_size;

/* What documents and ids of `bench` name as its size: `count` numbers of an id, and `more`. */
typedef struct bench_shape {
    const char *names[4];
    int64_t sizes[4];
    int32_t count, more;
    double elements; /* of its arrays together, about */
    char form[48];   /* in the id after the sizes: "/nn" */
    struct {
        const char *name, *value;
    } layout[2];
} bench_shape;

/* What a case reads and writes, dense. */
typedef struct bench_needs {
    iso_dtype type; /* of the inputs; a type of the same size for elements that are only moved */
    int32_t inputs; /* 0, 1, 2 */
    int64_t bytes[2];
    iso_dtype result_type; /* 0: elements that are only moved */
    int64_t results;       /* elements */
    bool apart;            /* each operand begins a buffer of its own */
    /* Bytes: of the result; and where `bench` has the operands in its block of inputs. */
    int64_t result, at[2], end;
} bench_needs;

typedef union bench_args {
    iso_gemm_args gemm;
    iso_gemv_args gemv;
    iso_transpose_args transpose;
    iso_reduce_args reduce;
    iso_map_args map;
} bench_args;

void bench_case_needs(const bench_case *item, bench_needs *out);

/* The side of a square of about so many elements. */
int64_t bench_square(int64_t elements);

/* ---- rows ------------------------------------------------------------------------------------ */

/* Checks a result, dense in host memory. */
typedef bool bench_check(const bench_case *item, const struct check_data *data, const void *got,
                         struct bench_result *result);
typedef void bench_cases(struct verify_list *list, bool full);
typedef bool bench_run(struct verify_state *state, struct verify_runner *runner,
                       const bench_case *item, struct bench_result *result);

struct bench_op {
    const char *name;
    const char *measured; /* in the ids and documents of `bench`; NULL: it is not measured */
    const char *verified; /* in those of `verify` */

    /* what people read */
    const char *title;          /* of a block of results: "Products" */
    const char *size;           /* what a size counts: "N", "elements", "bytes" */
    const char *computes;       /* the kind whose rate is FLOP/s; "": each of them; NULL: none */
    const char *computes_title; /* of a block of that kind, where others have `title` */
    const char *kind_member;    /* of a document of `verify`: what it calls the kind; NULL: none */
    bool moves;                 /* between memories: it is reported apart */

    /* the words of a line in a list of workloads, and the defaults; NULL: none */
    const char *const *kinds, *const *variants, *const *types, *const *layouts, *const *maths;
    const char *usual_kinds, *usual_variants, *usual_types, *usual_layout;
    unsigned counts; /* bit c: a size may have c numbers; bit 0: it may be beyond-cache */
    const char *const *size_members;   /* of a case in a file that together make a size; or NULL */
    const char *const *layout_members; /* and a layout: "n" or "t" each; NULL: the member axis */
    bool batches;                      /* a case may be a batch */

    /* a case */
    bool libraries; /* the device's vendor may have several libraries for it */
    void (*needs)(const bench_case *item, bench_needs *out);
    /* NULL: it has no kernel. */
    iso_op_kind (*arguments)(const bench_case *item, bench_args *args);
    void (*operands)(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result);
    bench_check *check;
    /* Sets the i-th of other alpha and beta, on which support must not depend; false: there are no
     * more. NULL: it has no factors. */
    bool (*other_factors)(bench_args *args, int i);

    /* a measured case */
    /* False: there is no such case. NULL: it has no kinds. */
    bool (*set_kind)(bench_case *item, const char *kind);
    void (*set_layout)(bench_case *item, const char *layout); /* NULL: it has no layouts */
    void (*set_size)(bench_case *item, const bench_size *size);
    void (*shape)(const bench_case *item, bench_shape *out);
    bool (*has_bits)(const bench_case *item);   /* NULL: always */
    bench_roof (*roof)(const bench_case *item); /* of a large case; NULL: none */
    /* How much slower than an ordinary processor's rates; NULL: not. */
    void (*slows)(const bench_case *item, bool native, double *rate, double *moved);

    /* a conformance case */
    bool same_in_variants; /* naive and tiled are defined to the same bits */
    bench_cases *cases;
    /* Lays the operands out in memory. False: no memory. */
    bool (*lay)(const bench_case *item, struct verify_problem *problem);
    bench_run *run; /* runs it, where it has no kernel */
    /* The members of a result that say what was computed; NULL: nothing. */
    void (*describe)(const bench_case *item, json_t *shape, json_t *layout);
};

/* The operation of a word that the user or a document has; NULL: there is none. */
enum { BENCH_OPS = 6 };
extern const bench_op *const bench_ops[BENCH_OPS]; /* in the order of reports */

/* What `verify` checks, in the order of its list, on which the digest of a run depends: the
 * operations, order and limits. */
enum { VERIFY_OPS = BENCH_OPS + 2 };
extern const bench_op *const verify_ops[VERIFY_OPS];

const bench_op *bench_op_find(const char *word);
/* "map, transpose, ...": the words of --op. */
const char *bench_op_words(void);
const char *verify_op_words(void);
/* The same, with a row without a name where there is none. */
const bench_op *bench_op_of(const char *word);
int bench_op_rank(const bench_op *op); /* its place in bench_ops; BENCH_OPS: none */

/* Whether its arithmetic counts: its rate is FLOP/s. */
bool bench_op_computes(const bench_op *op, const char *kind);

/* The next floating-point type; from 0, the first; after the last, 0. */
iso_dtype bench_float(iso_dtype after);

/* "f16, bf16, ...": the words of --dtype for numbers. */
const char *bench_type_words(void);

/* Variants and types that several rows list. */
extern const char *const bench_plain_variants[];   /* naive, tiled, vendor */
extern const char *const bench_partial_variants[]; /* and partials */
extern const char *const bench_float_types[], *const bench_all_types[];
extern const char *const bench_matrix_members[]; /* rows, cols */

extern const bench_op bench_map, bench_transpose, bench_reduce, bench_gemm, bench_gemv,
    bench_transfer;

#endif
