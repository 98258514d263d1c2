/* SPDX-License-Identifier: Apache-2.0 */
/* missing.h - what missing.c tries with each function missing, and missing_uses.c does. */
#ifndef ISOMER_TESTS_FAKES_MISSING_H
#define ISOMER_TESTS_FAKES_MISSING_H

#include "tests/concurrency/check.h"

enum { SIZE = 8, USES = 51 };

/* What a library is for. */
typedef enum part { DRIVER, COMPILER, PRODUCTS, MORE_PRODUCTS, SPARSE_PRODUCTS, SENSORS } part;

/* Everything that a use has to do with: operands of SIZE x SIZE elements of up to 16 bytes. */
typedef struct bench {
    iso_device device;
    iso_stream stream;
    iso_operand x, y, z;
    int64_t bytes;
} bench;

typedef struct use {
    const char *name;
    part part; /* of the library that it needs besides the driver */
    iso_status (*run)(const bench *at);
} use;

extern const use missing_uses[USES];
extern const char *missing_backend;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        iso_status status_ = (call);                                                               \
        if (status_) {                                                                             \
            return status_;                                                                        \
        }                                                                                          \
    } while (0)

#endif
