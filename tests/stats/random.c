/* SPDX-License-Identifier: Apache-2.0 */
/* random.c - the noise of simulated measurements. */
#include "tests/stats/tests.h"

#include <math.h>

#define SEED UINT64_C(88172645463325252)

static uint64_t state = SEED;

void random_restart(void)
{
    state = SEED;
}

double random_uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

double random_normal(void)
{
    return sqrt(-2 * log(random_uniform())) * cos(6.283185307179586 * random_uniform());
}

double random_heavy(void)
{
    double x = random_normal(), a = random_normal(), b = random_normal(), c = random_normal();
    return x / sqrt((a * a + b * b + c * c) / 3);
}
