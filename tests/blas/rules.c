/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - tests the table of cores for each processor. */
#include "backends/openmp/blas.h"

#include <stdio.h>
#include <string.h>

typedef struct rule {
    cpu_blas_kind kind;
    const char *vendor;
    int family;
    int avx2, avx512;
    const char *chosen;
    const char *better; /* NULL: no change */
} rule;

static const rule rules[] = {
    /* Sapphire Rapids with OpenBLAS 0.3.21, which does not recognise it. */
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 1, "Prescott", "SkylakeX"},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 1, "Sandybridge", "SkylakeX"},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 1, "Haswell", "SkylakeX"},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 1, "SkylakeX", NULL},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 1, "Cooperlake", NULL},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 1, "sapphirerapids", NULL},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 0, "Nehalem", "Haswell"},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 0, "Haswell", NULL},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 0, 0, "Nehalem", NULL},
    {CPU_BLAS_OPENBLAS, "GenuineIntel", 6, 1, 1, "a core of the future", NULL},
    {CPU_BLAS_OPENBLAS, "AuthenticAMD", 23, 1, 0, "Barcelona", "Haswell"},
    {CPU_BLAS_OPENBLAS, "AuthenticAMD", 23, 1, 0, "Zen", NULL},
    {CPU_BLAS_OPENBLAS, "AuthenticAMD", 25, 1, 1, "Zen", NULL},
    {CPU_BLAS_OPENBLAS, "AuthenticAMD", 25, 1, 1, "Prescott", "SkylakeX"},
    {CPU_BLAS_OPENBLAS, "AuthenticAMD", 26, 1, 1, "Zen", "SkylakeX"},
    {CPU_BLAS_BLIS, "GenuineIntel", 6, 1, 1, "haswell", "skx"},
    {CPU_BLAS_BLIS, "GenuineIntel", 6, 1, 1, "generic", "skx"},
    {CPU_BLAS_BLIS, "GenuineIntel", 6, 1, 1, "skx", NULL},
    {CPU_BLAS_BLIS, "GenuineIntel", 6, 1, 0, "generic", "haswell"},
    {CPU_BLAS_BLIS, "AuthenticAMD", 25, 1, 1, "zen3", NULL},
    {CPU_BLAS_MKL, "GenuineIntel", 6, 1, 1, "", NULL},
};

int main(void)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const rule *r = &rules[i];
        cpu_facts facts = {.family = r->family, .has_avx2 = r->avx2, .has_fma = r->avx2};
        facts.has_avx512 = r->avx512;
        (void)snprintf(facts.vendor, sizeof facts.vendor, "%s", r->vendor);
        const char *better = cpu_blas_better_core(r->kind, &facts, r->chosen);
        if ((better != NULL) != (r->better != NULL) || (better && strcmp(better, r->better) != 0)) {
            (void)fprintf(stderr, "FAILED: rule %zu: %s on %s %d: %s, not %s\n", i, r->chosen,
                          r->vendor, r->family, better ? better : "leave it",
                          r->better ? r->better : "leave it");
            failures++;
        }
    }
    return failures ? 1 : 0;
}
