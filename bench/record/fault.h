/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - the rules by which documents are checked. */
#ifndef ISOMER_RECORD_FAULT_H
#define ISOMER_RECORD_FAULT_H

#include "bench/ops/ops.h"
#include "bench/record/record.h"

/* The types that a value may have: a bit for each Jansson type, and two conditions. */
enum {
    OBJECT = 1 << JSON_OBJECT,
    ARRAY = 1 << JSON_ARRAY,
    STRING = 1 << JSON_STRING,
    NUMBER = 1 << JSON_INTEGER | 1 << JSON_REAL,
    TRUTH = 1 << JSON_TRUE | 1 << JSON_FALSE,
    NIL = 1 << JSON_NULL,
    LACKING = 1 << 8, /* may be missing */
    POSITIVE = 1 << 9 /* a number must be over 0 */
};

typedef struct rule {
    const char *names;          /* the members with this rule, separated by spaces */
    int types;                  /* the types that these members may have */
    const struct rule *members; /* of an object, or of each object in an array; ends with {0} */
    const struct rule *items;   /* of each item, for an array that holds no objects */
    const char *const *words;   /* the values that a text may have; ends with NULL */
} rule;

extern const char *record_statuses[BENCH_STATUSES + 1]; /* set by record_fault */

/* ---- fault_labs.c: the rows of the labs ------------------------------------------------------ */

extern const char *record_lab_ids[RECORD_LABS + 1]; /* set by record_fault */
extern const rule record_lab_members[];

/* ---- fault_comm.c: what communicators take --------------------------------------------------- */

extern const rule record_comm_members[], record_fit_members[];
/* What is wrong with members that depend on each other; NULL: nothing. To be freed. */
char *record_comm_fault(const json_t *entries);

#endif
