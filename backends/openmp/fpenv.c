/* SPDX-License-Identifier: Apache-2.0 */
/* fpenv.c - rounding to nearest, subnormals kept, exceptions masked; and the way back. A library
 * linked with -ffast-math turns flush-to-zero on for a whole process, so every thread that computes
 * sets this for itself. */
#include <backends/openmp/cpu.h>

#if defined(__x86_64__) || defined(__i386__)

enum { CPU_MXCSR_DEFAULT = 0x1f80 };

cpu_fpenv cpu_fpenv_enter(void)
{
    cpu_fpenv env = {.saved = __builtin_ia32_stmxcsr()};
    __builtin_ia32_ldmxcsr(CPU_MXCSR_DEFAULT);
    return env;
}

void cpu_fpenv_leave(cpu_fpenv env)
{
    __builtin_ia32_ldmxcsr((unsigned)env.saved);
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
