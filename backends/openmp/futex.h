/* SPDX-License-Identifier: Apache-2.0 */
/* futex.h - sleeping on an atomic word. Memory is ordered only by acquire and release operations on
 * the words, which the sanitizers understand, and never by the system call. */
#ifndef ISOMER_OPENMP_FUTEX_H
#define ISOMER_OPENMP_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `value`; may return early. */
static inline void cpu_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, (void *)word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* The same, but also returns after this many nanoseconds (below one second). */
static inline void cpu_futex_wait_for(_Atomic uint32_t *word, uint32_t value, long nanoseconds)
{
    const struct timespec most = {.tv_nsec = nanoseconds};
    (void)syscall(SYS_futex, (void *)word, FUTEX_WAIT_PRIVATE, value, &most, NULL, 0);
}

static inline void cpu_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)syscall(SYS_futex, (void *)word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static inline void cpu_futex_wake_all(_Atomic uint32_t *word)
{
    cpu_futex_wake(word, INT_MAX);
}

#endif
