/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - the tests that matrix units must pass before their first use. */
#ifndef ISOMER_SIMT_UNIT_H
#define ISOMER_SIMT_UNIT_H

#include "backends/simt/simt.h"

/* One test: inputs that a kernel gets, and what its results must be. */
typedef struct simt_unit_test {
    const char *name;      /* of the property: "f64 matrix units" */
    const char *first_use; /* what tries them first */
    /* Whether the device has the unit; if not, *problem may say why one that exists is not used. */
    bool (*has)(const simt_limits *limits, const char **problem);
    int64_t in, out; /* bytes of the inputs and of the results */
    /* A program of the test: the verdict's key has its text. */
    simt_spec (*spec)(const simt_limits *limits);
    void (*make)(void *inputs);
    /* `memory` has the inputs, and the results go behind them. */
    iso_status (*launch)(simt_stream *stream, void *memory);
    /* Writes what differs, if anything does. */
    simt_verdict (*compare)(const void *inputs, const void *results, char *reason, size_t room);
} simt_unit_test;

extern const simt_unit_test simt_unit_test_f64, simt_unit_test_bytes;
extern const simt_unit_test simt_unit_test_wave_f64, simt_unit_test_wave_f32;

/* unit_chain.c: tests whose cases are products of ROWS x TERMS and TERMS x cols elements that are
 * added to ROWS x cols others. The program computes each case in several ways, the first by fma. */
enum { SIMT_CHAIN_ROWS = 16, SIMT_CHAIN_TERMS = 128, SIMT_CHAIN_CASES = 50, SIMT_CHAIN_WAYS = 4 };
typedef struct simt_unit_chain {
    iso_dtype dtype; /* ISO_F64 or ISO_F32 */
    int cols, ways;
    int terms[SIMT_CHAIN_WAYS]; /* of an instruction in each way */
} simt_unit_chain;
/* Elements of the inputs, and of the results. */
#define SIMT_CHAIN_IN(cols)                                                                        \
    ((int64_t)SIMT_CHAIN_CASES *                                                                   \
     (SIMT_CHAIN_ROWS * SIMT_CHAIN_TERMS + (SIMT_CHAIN_TERMS + SIMT_CHAIN_ROWS) * (cols)))
#define SIMT_CHAIN_OUT(cols, ways) ((int64_t)SIMT_CHAIN_CASES * (ways) * SIMT_CHAIN_ROWS * (cols))
void simt_unit_chain_make(const simt_unit_chain *of, void *inputs);
iso_status simt_unit_chain_launch(simt_stream *stream, const simt_spec *spec,
                                  const simt_unit_chain *of, void *memory);
simt_verdict simt_unit_chain_compare(const simt_unit_chain *of, const void *inputs,
                                     const void *results, char *reason, size_t room);

#endif
