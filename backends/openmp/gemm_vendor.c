/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_vendor.c - the product by the BLAS library. */
#include "backends/openmp/blas.h"
#include "backends/openmp/gemm.h"

#include <stddef.h>
#include <stdio.h>

typedef struct product {
    const iso_gemm_op *op;
    cpu_blas_factor alpha, beta;
    const void *a, *b; /* of this member of the batch */
    void *c;
} product;

typedef void multiply_by(const void *routine, const product *p);

/* Routines by the types of A and of C. A type may have several, of different libraries. */
typedef struct gemm_row {
    iso_dtype dtype, dtype_c;
    size_t at; /* in cpu_blas */
    multiply_by *multiply;
    const char *name;
} gemm_row;

#define CALL_GEMM(type, routine, p, alpha, beta)                                                   \
    (*(type *const *)(routine))(                                                                   \
        CPU_BLAS_ROW_MAJOR, cpu_blas_trans((p)->op->trans_a), cpu_blas_trans((p)->op->trans_b),    \
        (int)(p)->op->m, (int)(p)->op->n, (int)(p)->op->k, alpha, (p)->a, (int)(p)->op->lda,       \
        (p)->b, (int)(p)->op->ldb, beta, (p)->c, (int)(p)->op->ldc)

static void multiply_narrow(const void *routine, const product *p)
{
    CALL_GEMM(cpu_gemm_narrow, routine, p, p->alpha.narrow, p->beta.narrow);
}

static void multiply_wide(const void *routine, const product *p)
{
    CALL_GEMM(cpu_gemm_wide, routine, p, p->alpha.wide, p->beta.wide);
}

static void multiply_pair(const void *routine, const product *p)
{
    CALL_GEMM(cpu_gemm_pair, routine, p, cpu_blas_pair(&p->alpha, p->op->dtype),
              cpu_blas_pair(&p->beta, p->op->dtype));
}

#define ROW(type, type_c, member, multiply, name)                                                  \
    {type, type_c, offsetof(cpu_blas, member), multiply, name}
static const gemm_row rows[] = {
    ROW(ISO_F32, ISO_F32, sgemm, multiply_narrow, "cblas_sgemm"),
    ROW(ISO_F64, ISO_F64, dgemm, multiply_wide, "cblas_dgemm"),
    ROW(ISO_C64, ISO_C64, cgemm, multiply_pair, "cblas_cgemm"),
    ROW(ISO_C128, ISO_C128, zgemm, multiply_pair, "cblas_zgemm"),
    ROW(ISO_BF16, ISO_F32, sbgemm, multiply_narrow, "cblas_sbgemm"),
    ROW(ISO_BF16, ISO_F32, bf16_gemm, multiply_narrow, "cblas_gemm_bf16bf16f32"),
    ROW(ISO_F16, ISO_F32, f16_gemm, multiply_narrow, "cblas_gemm_f16f16f32"),
};

static iso_dtype dtype_c_of(const iso_gemm_op *op)
{
    return op->dtype_c ? op->dtype_c : op->dtype;
}

static const void *routine_of(const gemm_row *row)
{
    return (const char *)cpu_blas_get() + row->at;
}

/* The routine for the product's types; NULL: the library has none. */
static const gemm_row *find(const iso_gemm_op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].dtype == op->dtype && rows[i].dtype_c == dtype_c_of(op) &&
            *(const void *const *)routine_of(&rows[i])) {
            return &rows[i];
        }
    }
    return NULL;
}

iso_status gemm_vendor_supports(const iso_gemm_op *op)
{
    const cpu_blas_size sizes[] = {{"m", op->m},     {"n", op->n},     {"k", op->k},
                                   {"lda", op->lda}, {"ldb", op->ldb}, {"ldc", op->ldc}};
    char types[64];
    if (!cpu_blas_need("gemm")) {
        return ISO_UNSUPPORTED;
    }
    (void)snprintf(types, sizeof types, "matrices of type %s%s%s", iso_dtype_name(op->dtype),
                   dtype_c_of(op) == op->dtype ? "" : " with results of type ",
                   dtype_c_of(op) == op->dtype ? "" : iso_dtype_name(dtype_c_of(op)));
    return cpu_blas_allows("gemm", op->library, find(op), types, sizes,
                           sizeof sizes / sizeof sizes[0]);
}

static void multiply_all(void *context)
{
    const iso_gemm_op *op = *(const iso_gemm_op *const *)context;
    const gemm_row *row = find(op);
    const void *routine = routine_of(row);
    const int64_t cell = iso_dtype_size(op->dtype), cell_c = iso_dtype_size(dtype_c_of(op));
    /* If k is 0 the library reads neither A nor B, but some libraries still require addresses. */
    const char *a = op->k > 0 ? cpu_at(op->a) : cpu_at(op->c);
    const char *b = op->k > 0 ? cpu_at(op->b) : cpu_at(op->c);
    const int64_t a_next = op->k > 0 ? op->stride_a * cell : 0;
    const int64_t b_next = op->k > 0 ? op->stride_b * cell : 0;
    product p = {.op = op,
                 .alpha = cpu_blas_factor_of(op->alpha, op->alpha_imag),
                 .beta = cpu_blas_factor_of(op->beta, op->beta_imag)};
    for (int64_t i = 0; i < op->batch; i++) {
        p.a = a + i * a_next;
        p.b = b + i * b_next;
        p.c = (char *)cpu_at(op->c) + i * op->stride_c * cell_c;
        row->multiply(routine, &p);
    }
}

iso_status gemm_vendor(const cpu_device *device, const iso_gemm_op *op)
{
    return cpu_blas_call(device, multiply_all, &op);
}

void gemm_vendor_describe(const iso_gemm_op *op, iso_op_info *out)
{
    cpu_blas_describe(out, find(op)->name);
}
