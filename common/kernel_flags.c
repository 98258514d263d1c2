/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_flags.c - how a C compiler is called for the program's own kernels. */
#include "common/kernel_flags.h"

#include <stddef.h>
#include <string.h>

/* None of these changes results. A function that is not declared is an error with the text's line,
 * as it is in C++ and OpenCL C. */
const char *const kernel_options[] = {
    "-x",
    "c",
    "-std=c11",
    "-O3",
    "-ffp-contract=off",
    "-fopenmp-simd",
    "-fno-math-errno",
    "-fPIC",
    "-Werror=implicit-function-declaration",
    NULL,
};

/* Without the first two, gcc (12 was seen) takes `omp simd` for a promise that the accesses of one
 * item do not depend on each other either, and reads an element before the store that precedes.
 * --param: gcc can split a region's loop at the end of an array only if it does not make one
 * condition of `col < cols && row < rows` first. */
const char *const kernel_gcc_options[] = {
    "-fno-tree-loop-distribution",
    "-fno-tree-loop-distribute-patterns",
    "--param=logical-op-non-short-circuit=0",
    NULL,
};

/* KERNEL_SET_FLAGS is "generic:,avx2:-mavx2 -mfma,". */
const char *kernel_set_flags(const char *set)
{
    const size_t length = strlen(set);
    const char *at = KERNEL_SET_FLAGS;
    while (*at && (strncmp(at, set, length) != 0 || at[length] != ':')) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return *at ? at + length + 1 : NULL;
}
