/* SPDX-License-Identifier: Apache-2.0 */
/* fpenv.c - sets the floating-point environment that all computations need, and restores the
 * previous one. It rounds to nearest, keeps subnormals, masks exceptions and gives x87 registers
 * their full precision. Every thread that computes sets it itself, because nothing can be assumed:
 * a thread inherits the settings of its creator, and a library linked with -ffast-math turns
 * flush-to-zero on when it is loaded. */
#include "backends/openmp/cpu.h"

#if defined(__x86_64__) || defined(__i386__)

enum {
    CPU_MXCSR_DEFAULT = 0x1f80,
    CPU_MXCSR_FLAGS = 0x3f, /* which exceptions there were */
    CPU_X87_DEFAULT = 0x037f,
    CPU_X87_CONTROL = 0x0f3f
};

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

uint64_t cpu_control_enter(void)
{
    const unsigned saved = __builtin_ia32_stmxcsr();
    if ((saved & ~(unsigned)CPU_MXCSR_FLAGS) != CPU_MXCSR_DEFAULT) { /* setting takes longer */
        __builtin_ia32_ldmxcsr(CPU_MXCSR_DEFAULT);
    }
    return saved;
}

void cpu_control_leave(uint64_t saved)
{
    __builtin_ia32_ldmxcsr((unsigned)saved);
}

cpu_fpenv cpu_fpenv_enter(void)
{
    cpu_fpenv env = {.x87_differs = x87_differs()};
    if (env.x87_differs) {
        __asm__ volatile("fnstenv %0" : "=m"(env.x87));
        set_x87();
    }
    env.saved = cpu_control_enter();
    return env;
}

void cpu_fpenv_leave(cpu_fpenv env)
{
    cpu_control_leave(env.saved);
    if (env.x87_differs) {
        __asm__ volatile("fldenv %0" : : "m"(env.x87));
    } else if (x87_differs()) {
        set_x87();
    }
}

#elif defined(__aarch64__)

/* All control bits are 0: rounding to nearest, no flushing to zero, no traps, IEEE half precision,
 * and NaN payloads kept. */
uint64_t cpu_control_enter(void)
{
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    if (saved != 0) {
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
    }
    return saved;
}

void cpu_control_leave(uint64_t saved)
{
    if (saved != 0) {
        __asm__ volatile("msr fpcr, %0" : : "r"(saved) : "memory");
    }
}

cpu_fpenv cpu_fpenv_enter(void)
{
    return (cpu_fpenv){.saved = cpu_control_enter()};
}

void cpu_fpenv_leave(cpu_fpenv env)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(env.saved) : "memory");
}

#else

#include <fenv.h>

uint64_t cpu_control_enter(void)
{
    const int saved = fegetround();
    (void)fesetround(FE_TONEAREST);
    return (uint64_t)saved;
}

void cpu_control_leave(uint64_t saved)
{
    (void)fesetround((int)saved);
}

cpu_fpenv cpu_fpenv_enter(void)
{
    return (cpu_fpenv){.saved = cpu_control_enter()};
}

void cpu_fpenv_leave(cpu_fpenv env)
{
    cpu_control_leave(env.saved);
}

#endif
