/* SPDX-License-Identifier: Apache-2.0 */
/* fpenv.c - the floating-point environment in which the core and the backends compute, whatever the
 * calling thread's settings: rounding to nearest, full x87 precision, subnormals kept, no traps. */
#include "core/call.h"

#include <stdbool.h>

#if defined(__x86_64__) || defined(__i386__)

enum {
    MXCSR_DEFAULT = 0x1f80,
    MXCSR_CONTROL = 0xffc0, /* all bits but the exception flags */
    X87_DEFAULT = 0x037f,
    X87_CONTROL = 0x0f3f
};

static bool x87_is_default(void)
{
    uint16_t x87;

    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (x87 & X87_CONTROL) == (X87_DEFAULT & X87_CONTROL);
}

static void set_default_x87(void)
{
    const uint16_t x87 = X87_DEFAULT;

    /* Clears the exception flags: a flag that is set would trap once its exception is unmasked. */
    __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(x87));
}

/* Some processors take far longer to store MXCSR than to load it, so it is stored once. */
void core_fpenv_enter(core_fpenv *callers)
{
    callers->control = __builtin_ia32_stmxcsr();
    callers->differs = (callers->control & MXCSR_CONTROL) != MXCSR_DEFAULT || !x87_is_default();
    if (!callers->differs) {
        return;
    }
    __asm__ volatile("fnstenv %0" : "=m"(callers->x87));
    set_default_x87();
    __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
}

/* A library that was opened during the call may have changed the environment. */
void core_fpenv_leave(const core_fpenv *callers)
{
    __builtin_ia32_ldmxcsr((unsigned)callers->control);
    if (callers->differs) {
        __asm__ volatile("fldenv %0" : : "m"(callers->x87));
    } else if (!x87_is_default()) {
        set_default_x87();
    }
}

#elif defined(__aarch64__)

static uint64_t get_control(void)
{
    uint64_t control;

    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static void set_control(uint64_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory");
}

void core_fpenv_enter(core_fpenv *callers)
{
    callers->control = get_control();
    if (callers->control) {
        set_control(0);
    }
}

void core_fpenv_leave(const core_fpenv *callers)
{
    if (get_control() != callers->control) {
        set_control(callers->control);
    }
}

#else

void core_fpenv_enter(core_fpenv *callers)
{
    (void)fegetenv(&callers->environment);
    (void)fesetenv(FE_DFL_ENV);
}

void core_fpenv_leave(const core_fpenv *callers)
{
    (void)fesetenv(&callers->environment);
}

#endif
