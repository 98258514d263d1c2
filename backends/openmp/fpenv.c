/* SPDX-License-Identifier: Apache-2.0 */
/* fpenv.c - sets rounding to nearest, subnormals kept, exceptions masked, x87 registers in full
 * precision; and restores the old state. A library linked with -ffast-math turns flush-to-zero on
 * for a whole process, and a thread inherits all settings from its creator, so every thread that
 * computes sets this itself. */
#include "backends/openmp/cpu.h"

#if defined(__x86_64__) || defined(__i386__)

enum { CPU_MXCSR_DEFAULT = 0x1f80, CPU_X87_DEFAULT = 0x037f, CPU_X87_CONTROL = 0x0f3f };

/* Only vendors' libraries use x87 registers. Reading their control word is cheap, setting it is
 * not. */
static void set_x87(void)
{
    const uint16_t control = CPU_X87_DEFAULT;
    /* A pending exception flag that becomes unmasked would trap at the next instruction. */
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

/* Every control bit 0: to nearest, no flushing, no traps, IEEE half precision, NaN payloads kept.
 */
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
