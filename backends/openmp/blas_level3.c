/* SPDX-License-Identifier: Apache-2.0 */
/* blas_level3.c - what calls of products, symmetric products and triangular solves of the BLAS
 * library have in common. */
#include "backends/openmp/blas.h"

#include <limits.h>

iso_status cpu_blas_allows(const char *operation, int32_t library, const void *routine,
                           const char *types, const cpu_blas_size *sizes, size_t count)
{
    const cpu_blas *blas = cpu_blas_get();
    if (library > 0) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "%s: variant vendor: there is no library %d, only %s (0)", operation,
                              library, blas->label);
    }
    if (!routine) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "%s: variant vendor: %s has no product for %s; use tiled", operation,
                              blas->label, types);
    }
    for (size_t i = 0; i < count; i++) {
        if (sizes[i].value > INT_MAX) {
            return cpu_host->fail(
                ISO_UNSUPPORTED,
                "%s: variant vendor: %s is %lld, but %s takes sizes of at most %d; use tiled",
                operation, sizes[i].name, (long long)sizes[i].value, blas->label, INT_MAX);
        }
    }
    return ISO_OK;
}

int cpu_blas_trans(iso_trans trans)
{
    return trans == ISO_CONJ_TRANS ? CPU_BLAS_CONJ_TRANS
           : trans == ISO_TRANS    ? CPU_BLAS_TRANS
                                   : CPU_BLAS_NO_TRANS;
}

int cpu_blas_triangle(iso_triangle triangle)
{
    return triangle == ISO_UPPER ? CPU_BLAS_UPPER : CPU_BLAS_LOWER;
}

cpu_blas_factor cpu_blas_factor_of(double real, double imaginary)
{
    return (cpu_blas_factor){(float)real, real, {(float)real, (float)imaginary}, {real, imaginary}};
}

const void *cpu_blas_pair(const cpu_blas_factor *factor, iso_dtype dtype)
{
    return dtype == ISO_C128 ? (const void *)factor->wide_pair : (const void *)factor->narrow_pair;
}
