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

#endif
