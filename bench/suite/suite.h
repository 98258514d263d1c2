/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite.h - the conformance suite: one list of cases over the public API, and what it takes to run
 * one of them on a device and to judge the result. It prints nothing.
 *
 * A case says what is computed on which data; a backend is no part of it. Cases of the same problem
 * (the same data under several variants) stand next to each other in the list, so that what is
 * expected is worked out once for all variants and all devices.
 */
#ifndef ISOMER_SUITE_H
#define ISOMER_SUITE_H

#include "bench/arith/arith.h"
#include "bench/ops/ops.h"

enum { SUITE_ID_MAX = 128, SUITE_TEXT_MAX = 2048 };

/* How the operands of a product lie. */
typedef enum suite_blocks {
    SUITE_OWN = 0,    /* each in memory of its own */
    SUITE_NEIGHBOURS, /* A, C and B side by side in one matrix; a batch one below the other */
    SUITE_BESIDE      /* the members of C side by side in one matrix */
} suite_blocks;

typedef struct suite_gemm_case {
    iso_trans trans_a, trans_b;
    int64_t m, n, k;
    double alpha, beta;
    int32_t pad;    /* elements by which every leading dimension is over the row length */
    int32_t offset; /* elements */
    int32_t batch;
    int32_t same_a, same_b; /* stride 0 */
    int32_t sampled;        /* too large to check whole: a projection and a few rows */
    suite_blocks blocks;
} suite_gemm_case;

typedef struct suite_transpose_case {
    int64_t element, rows, cols;
    int32_t pad, offset, in_place;
    int32_t neighbours; /* `from` and `to` side by side in one matrix */
} suite_transpose_case;

typedef struct suite_reduce_case {
    iso_reduce_op op;
    iso_axis axis;
    int64_t rows, cols;
    int32_t pad, offset;
} suite_reduce_case;

typedef enum suite_place {
    SUITE_APART, /* x, y and z apart */
    SUITE_ON_X,  /* z is x */
    SUITE_ON_Y,  /* z is y */
    SUITE_TWICE, /* y is x */
    SUITE_ALL    /* all are one */
} suite_place;

const char *suite_place_name(suite_place place); /* "apart", ... */

typedef struct suite_map_case {
    iso_map_op op;
    suite_place place;
    int64_t n, steps;
    double alpha, beta;
    int32_t offset_x, offset_y, offset_z; /* elements */
} suite_map_case;

typedef enum suite_move {
    SUITE_WRITE,
    SUITE_READ,
    SUITE_COPY,
    SUITE_COPY_BETWEEN,
    SUITE_FILLING
} suite_move;

typedef struct suite_transfer_case {
    suite_move move;
    int32_t flat;          /* the 1-D call */
    int64_t width, height; /* bytes, rows */
    int64_t to_pitch, from_pitch;
    int64_t to_offset, from_offset;
    int64_t pattern_bytes; /* fills */
    int32_t neighbours;    /* copies: both offsets are in one buffer */
} suite_transfer_case;

typedef struct suite_case {
    char id[SUITE_ID_MAX];
    char type[8];     /* "f32"; "e4" for elements that are only moved; "" */
    char variant[12]; /* "tiled"; "write", "event", ... where there are no variants */
    const bench_op *op;
    arith_fill fill;
    iso_variant how;   /* of transposes, reductions, products and maps */
    iso_dtype dtype;   /* of reductions, products and maps */
    int32_t problem;   /* cases with the same number have the same data */
    int32_t same_bits; /* its result is defined to the bit: it has a digest */
    int32_t script;    /* of orders and limits: which one */
    uint64_t seed;     /* of its data, made from the id without the variant */
    union {
        suite_gemm_case gemm;
        suite_transpose_case transpose;
        suite_reduce_case reduce;
        suite_map_case map;
        suite_transfer_case transfer;
    };
} suite_case;

typedef struct suite_list {
    suite_case *cases;
    int32_t count, capacity;
    int32_t problems;
    uint64_t seed;
    int32_t failed; /* memory ran out on the way */
} suite_list;

/* What cases are of, in the order of the list: the operations, order and limits. The digest of a
 * whole run depends on it. */
enum { SUITE_OPS = BENCH_OPS + 2 };
extern const bench_op *const suite_ops[SUITE_OPS];

/* Makes the list; full adds to what quick has. NULL: no memory. */
suite_list *suite_list_create(int full, uint64_t seed);
void suite_list_destroy(suite_list *list);

typedef struct suite_result {
    bench_status status;
    int32_t has_digest;
    char reason[SUITE_TEXT_MAX];
    char library[ISO_NAME_MAX];
    const char *method; /* how it was checked: "bits", "bound", "exact", ...; static */
    double error;       /* the greatest difference from the reference */
    double bound;       /* the bound of that element */
    uint64_t digest[2]; /* high, low */
    double seconds;
} suite_result;

/* What is worked out once and kept while cases of the same problem are run. */
typedef struct suite_state suite_state;
suite_state *suite_state_create(uint64_t seed);
void suite_state_destroy(suite_state *state);

/* A device with what the cases need there. */
typedef struct suite_runner suite_runner;

/* Opens `spec`, or what the environment names where it is NULL. NULL: it did not open;
 * iso_last_error says why. */
suite_runner *suite_runner_open(const char *spec, uint32_t stream_flags);
/* Closes it; the answer of iso_device_close. */
iso_status suite_runner_close(suite_runner *runner);
iso_device suite_runner_device(const suite_runner *runner);
const iso_device_info *suite_runner_info(const suite_runner *runner);

/* Which of the device's vendor libraries the products of vendor cases use from now on; 0 the first.
 */
void suite_runner_set_library(suite_runner *runner, int32_t library);

/* Runs one case. Whatever happens, the runner can run the next one. Sets rounding to nearest and
 * keeps subnormals for its own arithmetic, whatever a loaded library has set. */
void suite_run(suite_state *state, suite_runner *runner, const suite_case *item,
               suite_result *result);

/* ---- for the rows of operations -------------------------------------------------------------- */

bench_cases suite_list_transfer, suite_list_transpose, suite_list_reduce, suite_list_gemm,
    suite_list_map;
bench_run suite_run_transfer, suite_run_transpose, suite_run_reduce, suite_run_gemm, suite_run_map;
bench_describe suite_describe_transfer, suite_describe_transpose, suite_describe_reduce,
    suite_describe_gemm, suite_describe_map;

#endif
