/* SPDX-License-Identifier: Apache-2.0 */
/* fpenv.c - the CPU backend sets floating point before it computes or calls a vendor's library, and
 * restores the thread's settings. */
#include "backends/openmp/cpu.h"
#include "tests/fpstate.h"

#include <math.h>
#include <stdio.h>

int main(void)
{
    int failures = 0;
    const uint64_t plain = fpstate_control();
    for (int i = 0; i < FPSTATES; i++) {
        volatile long double one = 1, least = 0x1p-40L, sum;
        volatile double huge = 1e300, product;
        fpstate_set(&fpstates[i]);
        const uint64_t before = fpstate_control();
        const cpu_fpenv env = cpu_fpenv_enter();
        const uint64_t inside = fpstate_control();
        product = huge * huge; /* ends the program if traps are enabled */
        sum = one + least;
        cpu_fpenv_leave(env);
        const uint64_t after = fpstate_control();
        fpstate_clear();
        if (inside != plain || after != before || sum == 1 || product != (double)INFINITY) {
            (void)fprintf(stderr, "FAILED: %s: 0x%llx, inside 0x%llx, then 0x%llx; 1 + 2^-40 %s\n",
                          fpstates[i].name, (unsigned long long)before, (unsigned long long)inside,
                          (unsigned long long)after, sum == 1 ? "is 1" : "is not 1");
            failures++;
        }
    }
    return failures ? 1 : 0;
}
