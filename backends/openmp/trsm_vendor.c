/* SPDX-License-Identifier: Apache-2.0 */
/* trsm_vendor.c - the triangular solve by the BLAS library. The core composes the other variants
 * from products and solves of small blocks. */
#include "backends/openmp/blas.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct solve {
    const iso_trsm_op *op;
    cpu_blas_factor alpha;
    const void *a; /* of this member of the batch */
    void *b;
} solve;

#define CALL_TRSM(type, routine, s, alpha)                                                         \
    (*(type *const *)(routine))(                                                                   \
        CPU_BLAS_ROW_MAJOR, (s)->op->side == ISO_RIGHT ? CPU_BLAS_RIGHT : CPU_BLAS_LEFT,           \
        cpu_blas_triangle((s)->op->triangle), cpu_blas_trans((s)->op->trans),                      \
        (s)->op->unit ? CPU_BLAS_UNIT : CPU_BLAS_NON_UNIT, (int)(s)->op->m, (int)(s)->op->n,       \
        alpha, (s)->a, (int)(s)->op->lda, (s)->b, (int)(s)->op->ldb)

static void solve_narrow(const void *routine, const solve *s)
{
    CALL_TRSM(cpu_trsm_narrow, routine, s, s->alpha.narrow);
}

static void solve_wide(const void *routine, const solve *s)
{
    CALL_TRSM(cpu_trsm_wide, routine, s, s->alpha.wide);
}

static void solve_pair(const void *routine, const solve *s)
{
    CALL_TRSM(cpu_trsm_pair, routine, s, cpu_blas_pair(&s->alpha, s->op->dtype));
}

static const struct {
    size_t at; /* in cpu_blas */
    void (*run)(const void *routine, const solve *s);
    const char *name;
} rows[ISO_C128 + 1] = {
    [ISO_F32] = {offsetof(cpu_blas, strsm), solve_narrow, "cblas_strsm"},
    [ISO_F64] = {offsetof(cpu_blas, dtrsm), solve_wide, "cblas_dtrsm"},
    [ISO_C64] = {offsetof(cpu_blas, ctrsm), solve_pair, "cblas_ctrsm"},
    [ISO_C128] = {offsetof(cpu_blas, ztrsm), solve_pair, "cblas_ztrsm"},
};

static const void *routine_of(iso_dtype dtype)
{
    return (const char *)cpu_blas_get() + rows[dtype].at;
}

static iso_status supports(cpu_device *device, const iso_op *of)
{
    const iso_trsm_op *op = of->trsm;
    const cpu_blas_size sizes[] = {{"m", op->m}, {"n", op->n}, {"lda", op->lda}, {"ldb", op->ldb}};
    (void)device;
    if (op->variant != ISO_VARIANT_VENDOR) {
        return cpu_host->fail(ISO_UNSUPPORTED, "trsm: this backend has only the variant vendor");
    }
    if (!cpu_blas_need("trsm")) {
        return ISO_UNSUPPORTED;
    }
    const void *routine = rows[op->dtype].name ? *(const void *const *)routine_of(op->dtype) : NULL;
    return cpu_blas_allows("trsm", op->library, routine, iso_dtype_name(op->dtype), sizes,
                           sizeof sizes / sizeof sizes[0]);
}

static void solve_all(void *context)
{
    const iso_trsm_op *op = *(const iso_trsm_op *const *)context;
    const int64_t cell = iso_dtype_size(op->dtype);
    solve s = {.op = op, .alpha = cpu_blas_factor_of(op->alpha, op->alpha_imag)};
    /* With alpha 0 A is not read and may have no memory. */
    const bool reads_a = op->a.memory != NULL;
    const char *a = reads_a ? cpu_at(op->a) : cpu_at(op->b);
    for (int64_t i = 0; i < op->batch; i++) {
        s.a = a + (reads_a ? i * op->stride_a * cell : 0);
        s.b = (char *)cpu_at(op->b) + i * op->stride_b * cell;
        rows[op->dtype].run(routine_of(op->dtype), &s);
    }
}

static iso_status execute(cpu_device *device, const iso_op *op)
{
    return cpu_blas_call(device, solve_all, (void *)&op->trsm);
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    (void)device;
    cpu_blas_describe(out, rows[op->trsm->dtype].name);
}

const cpu_operation cpu_trsm = {.supports = supports, .describe = describe, .execute = execute};
