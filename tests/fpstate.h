/* SPDX-License-Identifier: Apache-2.0 */
/* fpstate.h - floating-point settings that a program may have made in the calling thread: a
 * rounding mode, subnormals off, traps, x87 registers of another precision. */
#ifndef ISOMER_TESTS_FPSTATE_H
#define ISOMER_TESTS_FPSTATE_H

#include <fenv.h>
#include <stdint.h>

typedef struct fpstate {
    const char *name;
    int rounding;
    int flush, traps, single;
} fpstate;

static const fpstate fpstates[] = {
    {"downward", FE_DOWNWARD, 0, 0, 0},
    {"upward", FE_UPWARD, 0, 0, 0},
    {"toward zero", FE_TOWARDZERO, 0, 0, 0},
    {"subnormals off", FE_TONEAREST, 1, 0, 0},
    {"traps", FE_TONEAREST, 0, 1, 0},
    {"x87 in single precision", FE_TONEAREST, 0, 0, 1},
    {"downward, subnormals off, traps, x87 in single precision", FE_DOWNWARD, 1, 1, 1},
};
enum { FPSTATES = (int)(sizeof fpstates / sizeof fpstates[0]) };

/* Every control bit of this thread, without the flags. */
static inline uint64_t fpstate_control(void)
{
#if defined(__x86_64__)
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & 0xffc0U);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return (uint64_t)fegetround();
#endif
}

static inline void fpstate_set(const fpstate *state)
{
    (void)fesetround(state->rounding);
#if defined(__x86_64__)
    if (state->flush) {
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
    }
    if (state->single) {
        uint16_t x87;
        __asm__ volatile("fnstcw %0" : "=m"(x87));
        x87 &= (uint16_t)~0x0300U;
        __asm__ volatile("fldcw %0" : : "m"(x87));
    }
#elif defined(__aarch64__)
    if (state->flush) {
        const uint64_t control = fpstate_control() | UINT64_C(1) << 24;
        __asm__ volatile("msr fpcr, %0" : : "r"(control));
    }
#endif
    if (state->traps) {
        (void)feenableexcept(FE_DIVBYZERO | FE_INEXACT | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
    }
}

static inline void fpstate_clear(void)
{
    (void)fesetenv(FE_DFL_ENV);
}

#endif
