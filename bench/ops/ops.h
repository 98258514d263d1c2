/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - the operations of the tool, one row each. `verify`, `bench`, `compare` and `report` find
 * here all that depends on the operation; nothing else compares its name.
 */
#ifndef ISOMER_OPS_H
#define ISOMER_OPS_H

#include <isomer/isomer.h>

#include <jansson.h>
#include <stdbool.h>

struct suite_case;
struct suite_list;
struct suite_result;
struct suite_runner;
struct suite_state;
struct work_case;
struct work_inputs;
struct work_needs;
struct work_result;
struct work_shape;
struct work_size;
union work_args;

/* How a case ended. */
typedef enum bench_status {
    BENCH_OK = 0,
    BENCH_FAILED = 1,      /* a result was wrong, or a rule of the API was broken */
    BENCH_UNSUPPORTED = 2, /* the device cannot do it, and says so in time */
    BENCH_ERROR = 3        /* a call failed that should not have, or memory ran out */
} bench_status;

const char *bench_status_name(bench_status status); /* "ok", "failed", "unsupported", "error" */

typedef bool bench_check(const struct work_case *item, struct work_inputs *inputs, const void *data,
                         struct work_result *result);
typedef void bench_cases(struct suite_list *list, int full);
typedef bool bench_run(struct suite_state *state, struct suite_runner *runner,
                       const struct suite_case *item, struct suite_result *result);
/* The members of a result that say what was computed. */
typedef void bench_describe(const struct suite_case *item, json_t *result, json_t *shape,
                            json_t *layout);

typedef struct bench_op {
    const char *name;
    const char *measured; /* in the ids and documents of `bench`; NULL: it is not measured */
    const char *verified; /* in those of `verify` */

    /* what people read */
    const char *title;          /* of a block of results: "Products" */
    const char *size;           /* what a size counts: "N", "elements", "bytes" */
    const char *computes;       /* the kind whose rate is FLOP/s; "": each of them; NULL: none */
    const char *computes_title; /* of a block of that kind, where others have `title` */
    bool moves;                 /* between memories: it is reported apart */

    /* the words of a line in a list of workloads, and what is taken without them; NULL: none */
    const char *const *kinds, *const *variants, *const *types, *const *layouts, *const *maths;
    const char *usual_kinds, *usual_variants, *usual_types, *usual_layout;
    unsigned counts; /* bit c: a size may have c numbers; bit 0: it may be beyond-cache */

    /* a measured case; `arguments` is NULL where it has no kernel */
    bool libraries; /* the device's vendor may have several libraries for it */
    /* False: there is no such case. NULL: it has no kinds. */
    bool (*set_kind)(struct work_case *item, const char *kind);
    void (*set_layout)(struct work_case *item, const char *layout); /* NULL: it has no layouts */
    void (*set_size)(struct work_case *item, const struct work_size *size);
    void (*shape)(const struct work_case *item, struct work_shape *out);
    void (*needs)(const struct work_case *item, struct work_needs *out);
    iso_op_kind (*arguments)(const struct work_case *item, union work_args *args);
    void (*operands)(const struct work_case *item, union work_args *args, const iso_operand *inputs,
                     iso_operand result);
    bool (*has_bits)(const struct work_case *item); /* NULL: always */
    int32_t (*roof)(const struct work_case *item);  /* work_roof of a large case; NULL: none */
    /* How much slower than an ordinary processor's rates; NULL: not. */
    void (*slows)(const struct work_case *item, bool native, double *rate, double *moved);
    bench_check *check;

    /* conformance cases */
    bool same_in_variants; /* naive and tiled are defined to the same bits */
    const char *(*verified_kind)(const struct suite_case *item); /* NULL: it has no kinds */
    bench_cases *cases;
    bench_run *run;
    bench_describe *describe; /* NULL: nothing */
} bench_op;

extern const bench_op bench_map, bench_transpose, bench_reduce, bench_gemm, bench_transfer;

enum { BENCH_OPS = 5 };
extern const bench_op *const bench_ops[BENCH_OPS]; /* in the order of reports */

/* The operation of a word that the user or a document has; NULL: there is none. */
const bench_op *bench_op_find(const char *word);
/* The same, with a row without a name where there is none. */
const bench_op *bench_op_of(const char *word);
int bench_op_rank(const bench_op *op); /* its place in bench_ops; BENCH_OPS: none */

/* Whether its arithmetic counts: its rate is FLOP/s. */
bool bench_op_computes(const bench_op *op, const char *kind);

#endif
