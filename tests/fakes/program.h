/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - the form of a binary, shared by compile.c and module.c. */
#ifndef ISOMER_TESTS_FAKES_PROGRAM_H
#define ISOMER_TESTS_FAKES_PROGRAM_H

#include "tests/fakes/engine.h"

#define FAKE_MAGIC "fake-bin"

typedef struct fake_image {
    char magic[8];
    uint64_t bytes; /* of the shared object that follows */
    uint64_t check;
    char target[40];
} fake_image;

static inline uint64_t fake_checksum(const char *data, size_t bytes)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ (unsigned char)data[i]) * 0x100000001b3u;
    }
    return sum;
}

#endif
