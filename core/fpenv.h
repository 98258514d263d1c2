/* SPDX-License-Identifier: Apache-2.0 */
/* fpenv.h - the floating-point environment that backends are called in. */
#ifndef ISOMER_CORE_FPENV_H
#define ISOMER_CORE_FPENV_H

#include <stdbool.h>
#include <stdint.h>

#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
#include <fenv.h>
#endif

/* Used around floating-point computation: every call of a backend's entry, and the core's own. */
typedef struct core_fpenv {
#if defined(__x86_64__) || defined(__i386__)
    bool differs;     /* from the default; if false, the other fields are unused */
    uint32_t x87[7];  /* what fnstenv stores */
    uint64_t control; /* MXCSR */
#elif defined(__aarch64__)
    uint64_t control; /* FPCR */
#else
    fenv_t environment;
#endif
} core_fpenv;
void core_fpenv_enter(core_fpenv *callers);
void core_fpenv_leave(const core_fpenv *callers);
/* For an entry of a backend that has no status, or whose status is ignored. */
#define CORE_DO(expression)                                                                        \
    do {                                                                                           \
        core_fpenv callers_;                                                                       \
        core_fpenv_enter(&callers_);                                                               \
        (void)(expression);                                                                        \
        core_fpenv_leave(&callers_);                                                               \
    } while (0)

#endif
