/* SPDX-License-Identifier: Apache-2.0 */
/*
 * over.h - HIP's names over NVIDIA's libraries, so that the HIP backend runs on a real NVIDIA GPU:
 * kernels at wave 32, launches, streams, events, and the order of a BLAS's arguments. Test code.
 *
 * NVIDIA's libraries are searched in ISOMER_CUDA_PATH, CUDA_PATH, by the loader, and in
 * /usr/local/cuda*.
 */
#ifndef ISOMER_TESTS_FAKES_OVER_H
#define ISOMER_TESTS_FAKES_OVER_H

#include "backends/cuda/symbols.h"
#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#include <stdbool.h>

#define OVER_API __attribute__((visibility("default")))

/* Prefix of this layer's architecture names; "sm_90" and the like follow. */
#define OVER_ARCHITECTURE "gfx-over-cuda-"

typedef struct over_symbol {
    const char *name;
    void *at;
    bool required;
} over_symbol;

/* The first of `names` (ends with NULL) that opens and has the required functions; reports on
 * stderr why not. */
bool over_open(const char *const *names, const over_symbol *symbols, int count);

/* Makes the primary context of this thread's HIP device current until over_leave; 0 or an error. */
OVER_API unsigned over_enter(void);
OVER_API void over_leave(void);

#endif
