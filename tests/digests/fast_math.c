/* SPDX-License-Identifier: Apache-2.0 */
/* fast_math.c - a library that turns subnormal numbers off for the process that loads it, as one
 * linked with -ffast-math does. Newer linkers omit that start-up code from shared libraries, so it
 * is written out here. */
#include <stdint.h>

__attribute__((constructor)) static void turn_subnormals_off(void)
{
#if defined(__x86_64__)
    const unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | flush_to_zero | denormals_are_zero);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | UINT64_C(1) << 24));
#endif
}
