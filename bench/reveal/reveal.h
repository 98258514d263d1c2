/* SPDX-License-Identifier: Apache-2.0 */
/* reveal.h - runs a routine on masks, to find the order in which it adds. */
#ifndef ISOMER_REVEAL_H
#define ISOMER_REVEAL_H

#include "bench/ops/ops.h"
#include "bench/reveal/tree.h"
#include "bench/tool.h"

/* What is run: a product of m x n results with k terms each, where n is 1 if one factor is a
 * vector; or a reduction of m sequences of k elements, where n is 1. */
typedef struct reveal_case {
    const struct reveal_op *op;
    iso_variant variant;
    iso_dtype dtype;
    iso_math math;
    int32_t library; /* which of the vendor's */
    int64_t m, n, k;
} reveal_case;

typedef struct reveal_op {
    const char *name;
    int32_t least, most; /* how many numbers a size has */
    const bench_op *row;
    iso_reduce_op reduce;
    bool matrix;   /* all rows of A share B, and beta can add the result to C */
    bool products; /* its terms are products */
} reveal_op;

enum { REVEAL_OPS = 4 };
extern const reveal_op reveal_ops[REVEAL_OPS];

/* ---- routine.c ------------------------------------------------------------------------------- */

/* How terms are written as numbers of a type. */
typedef struct reveal_coding {
    double unit, large; /* `large` absorbs all units that are added to it */
    int32_t most;       /* units in a mask, so that their number can be read from the result */
    bool twice;         /* a second run subtracts what the first one gave, which was rounded */
} reveal_coding;

/* Results of a routine that have the same order, as far as some masks show. */
typedef struct reveal_class {
    int64_t *elements, count; /* of C */
    int64_t *rows, row_count; /* those that have one in `column` */
    int64_t column;
    char where[120]; /* "columns 0-7"; "" if all results are in one class */
} reveal_class;

enum { REVEAL_CLASSES = 4 };

typedef struct reveal_routine {
    const reveal_case *item;
    iso_device device;
    iso_stream stream;
    bench_case what; /* the same case, for the row of its operation */
    iso_buffer buffers[3];
    int64_t bytes[3];
    unsigned char *host[3]; /* A or x, B or y, C or the results */
    bool stale[2];          /* `host` has changed since it was written to the device */
    bool units;             /* A holds units and nothing else */
    size_t element;
    reveal_coding coding;
    const reveal_class *in; /* the results that are looked at */
    double deadline;        /* as tool_seconds */
    int64_t calls;
    bench_status status; /* why a function failed */
    char problem[256];
} reveal_routine;

/* Describes what would run. UNSUPPORTED: it does not exist, and the library's text says why. */
iso_status reveal_describe(iso_device device, const reveal_case *item, iso_op_info *out);
/* These functions return false if they fail; `status` and `problem` then say why. */
bool reveal_open(reveal_routine *r, iso_device device, const reveal_case *item, double seconds);
void reveal_close(reveal_routine *r);
/* Runs the routine on what is in `host`. C then has `factor` times what it had, plus the result;
 * `factor` is 0 unless the operation has a matrix. If `host` was not changed by reveal_set, `stale`
 * has to be set. */
bool reveal_call(reveal_routine *r, double factor);
void reveal_set(reveal_routine *r, int32_t operand, int64_t at, double value);
void reveal_set_random(reveal_routine *r, uint64_t seed); /* both operands */
double reveal_get(const reveal_routine *r, int64_t at);   /* an element of the result */
/* Sets the second operand to one value. */
void reveal_set_second(reveal_routine *r, double value);
/* Makes a row of A a mask: units at the terms begin to end - 1, and the large numbers of a pair. */
void reveal_set_mask(reveal_routine *r, int64_t row, int64_t begin, int64_t end,
                     const reveal_pair *pair);
/* Finds a coding that counts right. */
bool reveal_calibrate(reveal_routine *r);
reveal_ask reveal_ask_routine; /* the context is the routine */
bool reveal_fail(reveal_routine *r, bench_status status, const char *format, ...) ISO_PRINTF(3, 4);

/* ---- classes.c ------------------------------------------------------------------------------- */

/* Divides the results into classes. Returns their number, of which only REVEAL_CLASSES are set; 0:
 * failed. */
int64_t reveal_classify(reveal_routine *r, reveal_class classes[REVEAL_CLASSES]);
/* The same for results with these signatures, which it sorts: results of a class have the same. */
int64_t reveal_divide(uint64_t *signatures, int64_t rows, int64_t columns,
                      reveal_class classes[REVEAL_CLASSES]);
void reveal_classes_free(reveal_class classes[REVEAL_CLASSES]);
/* The p-th of a sequence of pairs of different terms, half of which are close to each other. */
reveal_pair reveal_some_pair(int32_t terms, uint64_t seed, int32_t p);

/* ---- check.c --------------------------------------------------------------------------------- */

/* What was found out about a routine. */
typedef struct reveal_order {
    reveal_tree tree;
    char digest[33];
    char *words;
    bool known;            /* the words name all of it */
    char arithmetic[160];  /* in words */
    int32_t pairs, values; /* how many further answers and results the tree predicted */
    int64_t rounded;       /* products that are rounded before they are added; -1: not known */
    char where[120];       /* the results that have it; "": all */
} reveal_order;

/* Finds which products are rounded, checks that the tree predicts further answers, and which
 * arithmetic predicts results of random numbers. */
bool reveal_check(reveal_routine *r, reveal_order *order);

/* ---- document.c ------------------------------------------------------------------------------ */

typedef struct reveal_result {
    reveal_case item;
    iso_op_info info;
    const iso_device_info *device;
    bench_status status;
    char reason[400];
    reveal_order orders[REVEAL_CLASSES]; /* if the status is BENCH_OK */
    int32_t order_count;
    int64_t classes; /* of results; there may be more than orders */
    int64_t questions, calls;
    double seconds;
} reveal_result;

json_t *reveal_result_json(const reveal_result *result);
/* All orders of a result in words, to be freed, and their digest. */
char *reveal_result_words(const reveal_result *result);
void reveal_result_digest(const reveal_result *result, char text[33]);
/* "f32 64x64x4096 LIBRARY: words", to be freed. */
char *reveal_line(const reveal_result *result);

#endif
