/* SPDX-License-Identifier: Apache-2.0 */
/* syrk_vendor.c - the symmetric product by the BLAS library. The core composes the other variants
 * from products. */
#include "backends/openmp/blas.h"

#include <stddef.h>

typedef struct product {
    const iso_syrk_op *op;
    cpu_blas_factor alpha, beta;
    const void *a; /* of this member of the batch */
    void *c;
} product;

#define CALL_SYRK(type, routine, p, alpha, beta)                                                   \
    (*(type *const *)(routine))(CPU_BLAS_ROW_MAJOR, cpu_blas_triangle((p)->op->triangle),          \
                                cpu_blas_trans((p)->op->trans), (int)(p)->op->n, (int)(p)->op->k,  \
                                alpha, (p)->a, (int)(p)->op->lda, beta, (p)->c, (int)(p)->op->ldc)

static void multiply_narrow(const void *routine, const product *p)
{
    CALL_SYRK(cpu_syrk_narrow, routine, p, p->alpha.narrow, p->beta.narrow);
}

static void multiply_wide(const void *routine, const product *p)
{
    CALL_SYRK(cpu_syrk_wide, routine, p, p->alpha.wide, p->beta.wide);
}

static void multiply_pair(const void *routine, const product *p)
{
    CALL_SYRK(cpu_syrk_pair, routine, p, cpu_blas_pair(&p->alpha, p->op->dtype),
              cpu_blas_pair(&p->beta, p->op->dtype));
}

static const struct {
    size_t at; /* in cpu_blas */
    void (*multiply)(const void *routine, const product *p);
    const char *name;
} rows[ISO_C128 + 1] = {
    [ISO_F32] = {offsetof(cpu_blas, ssyrk), multiply_narrow, "cblas_ssyrk"},
    [ISO_F64] = {offsetof(cpu_blas, dsyrk), multiply_wide, "cblas_dsyrk"},
    [ISO_C64] = {offsetof(cpu_blas, csyrk), multiply_pair, "cblas_csyrk"},
    [ISO_C128] = {offsetof(cpu_blas, zsyrk), multiply_pair, "cblas_zsyrk"},
};

static const void *routine_of(iso_dtype dtype)
{
    return (const char *)cpu_blas_get() + rows[dtype].at;
}

static iso_status supports(cpu_device *device, const iso_op *of)
{
    const iso_syrk_op *op = of->syrk;
    const cpu_blas_size sizes[] = {{"n", op->n}, {"k", op->k}, {"lda", op->lda}, {"ldc", op->ldc}};
    (void)device;
    if (op->variant != ISO_VARIANT_VENDOR) {
        return cpu_host->fail(ISO_UNSUPPORTED, "syrk: this backend has only the variant vendor");
    }
    if (!cpu_blas_need("syrk")) {
        return ISO_UNSUPPORTED;
    }
    const void *routine = rows[op->dtype].name ? *(const void *const *)routine_of(op->dtype) : NULL;
    return cpu_blas_allows("syrk", op->library, routine, iso_dtype_name(op->dtype), sizes,
                           sizeof sizes / sizeof sizes[0]);
}

static void multiply_all(void *context)
{
    const iso_syrk_op *op = *(const iso_syrk_op *const *)context;
    const int64_t cell = iso_dtype_size(op->dtype);
    /* If k is 0 A is not read, but some libraries still require an address. */
    const char *a = op->k > 0 ? cpu_at(op->a) : cpu_at(op->c);
    const int64_t a_next = op->k > 0 ? op->stride_a * cell : 0;
    product p = {.op = op,
                 .alpha = cpu_blas_factor_of(op->alpha, op->alpha_imag),
                 .beta = cpu_blas_factor_of(op->beta, op->beta_imag)};
    for (int64_t i = 0; i < op->batch; i++) {
        p.a = a + i * a_next;
        p.c = (char *)cpu_at(op->c) + i * op->stride_c * cell;
        rows[op->dtype].multiply(routine_of(op->dtype), &p);
    }
}

static iso_status execute(cpu_device *device, const iso_op *op)
{
    return cpu_blas_call(device, multiply_all, (void *)&op->syrk);
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    (void)device;
    cpu_blas_describe(out, rows[op->syrk->dtype].name);
}

const cpu_operation cpu_syrk = {.supports = supports, .describe = describe, .execute = execute};
