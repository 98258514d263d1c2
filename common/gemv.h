/* SPDX-License-Identifier: Apache-2.0 */
/* gemv.h - rewrites y = alpha op(A) x + beta y as a gemm whose result has the same bits: x and y
 * become matrices of one column, whose leading dimensions are inc_x and inc_y. */
#ifndef ISOMER_COMMON_GEMV_H
#define ISOMER_COMMON_GEMV_H

#include <isomer/backend.h>

typedef struct gemv_product {
    iso_op op; /* points to gemm, so the struct must not be copied */
    iso_gemm_op gemm;
} gemv_product;

static inline void gemv_product_of(const iso_op *of, gemv_product *out)
{
    const iso_gemv_op *op = of->gemv;

    out->gemm = (iso_gemm_op){
        .dtype = op->dtype,
        .variant = op->variant,
        .math = ISO_MATH_STRICT,
        .trans_a = op->trans,
        .trans_b = ISO_NO_TRANS,
        .library = op->library,
        .m = op->m,
        .n = 1,
        .k = op->k,
        .alpha = op->alpha,
        .beta = op->beta,
        .a = op->a,
        .b = op->x,
        .c = op->y,
        .lda = op->lda,
        .ldb = op->inc_x,
        .ldc = op->inc_y,
        .batch = op->batch,
        .stride_a = op->stride_a,
        .stride_b = op->stride_x,
        .stride_c = op->stride_y,
        .dtype_c = op->dtype,
    };
    out->op = *of;
    out->op.kind = ISO_OP_GEMM;
    out->op.gemm = &out->gemm;
    out->op.args_size = (uint32_t)sizeof out->gemm;
}

#endif
