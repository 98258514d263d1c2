/* SPDX-License-Identifier: Apache-2.0 */
/* fpenv.c - sets the floating-point environment that all computations need, and restores the
 * previous one. It rounds to nearest, keeps subnormals, masks exceptions and gives x87 registers
 * their full precision. Every thread that computes sets it itself, because nothing can be assumed:
 * a thread inherits the settings of its creator, and a library linked with -ffast-math turns
 * flush-to-zero on when it is loaded. */
#include "backends/openmp/cpu.h"

#if defined(__x86_64__) || defined(__i386__)

enum { CPU_MXCSR_DEFAULT = 0x1f80, CPU_X87_DEFAULT = 0x037f, CPU_X87_CONTROL = 0x0f3f };

/* Only vendor libraries use x87 registers. Reading their control word is cheap but setting it is
 * not, so it is set only if it differs. */
static void set_x87(void)
{
    const uint16_t control = CPU_X87_DEFAULT;
    /* Pending exceptions are cleared first: one that is not masked would trap at the next x87
     * instruction. */
    __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(control));
}

static int x87_differs(void)
{
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return (control & CPU_X87_CONTROL) != (CPU_X87_DEFAULT & CPU_X87_CONTROL);
}

cpu_fpenv cpu_fpenv_enter(void)
{
    cpu_fpenv env = {.saved = __builtin_ia32_stmxcsr(), .x87_differs = x87_differs()};
    if (env.x87_differs) {
        __asm__ volatile("fnstenv %0" : "=m"(env.x87));
        set_x87();
    }
    __builtin_ia32_ldmxcsr(CPU_MXCSR_DEFAULT);
    return env;
}

void cpu_fpenv_leave(cpu_fpenv env)
{
    __builtin_ia32_ldmxcsr((unsigned)env.saved);
    if (env.x87_differs) {
        __asm__ volatile("fldenv %0" : : "m"(env.x87));
    } else if (x87_differs()) {
        set_x87();
    }
}

#elif defined(__aarch64__)

/* All control bits are 0: rounding to nearest, no flushing to zero, no traps, IEEE half precision,
 * and NaN payloads kept. */
cpu_fpenv cpu_fpenv_enter(void)
{
    cpu_fpenv env;
    __asm__ volatile("mrs %0, fpcr" : "=r"(env.saved));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
    return env;
}

void cpu_fpenv_leave(cpu_fpenv env)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(env.saved) : "memory");
}

#else

#include <fenv.h>

cpu_fpenv cpu_fpenv_enter(void)
{
    cpu_fpenv env = {.saved = (uint64_t)fegetround()};
    (void)fesetround(FE_TONEAREST);
    return env;
}

void cpu_fpenv_leave(cpu_fpenv env)
{
    (void)fesetround((int)env.saved);
}

#endif
