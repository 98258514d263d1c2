/* SPDX-License-Identifier: Apache-2.0 */
/* gemv.c - y = alpha * op(A) * x + beta * y: docs/bits.md defines it as the product whose B
 * and C have one column. An element of a vector is a row of that column, so the distance between
 * elements is the column's leading dimension. */
#include "tests/plugins/reference/reference.h"

static iso_gemm_op product_of(const iso_gemv_op *gemv)
{
    const int64_t inc_y = MUTATE(73, 1, gemv->inc_y);
    return (iso_gemm_op){
        .dtype = gemv->dtype,
        .variant = MUTATE(95, LESSER(gemv->variant, ISO_VARIANT_TILED), gemv->variant),
        .math = ISO_MATH_STRICT,
        .trans_a = MUTATE(74, gemv->m == gemv->k ? ISO_NO_TRANS : gemv->trans, gemv->trans),
        .trans_b = ISO_NO_TRANS,
        .m = gemv->m - MUTATE(75, gemv->m > 1, 0),
        .n = 1,
        .k = gemv->k,
        .alpha = gemv->alpha,
        .beta = gemv->beta,
        .a = gemv->a,
        .b = gemv->x,
        .c = gemv->y,
        .lda = gemv->lda,
        .ldb = MUTATE(76, 1, gemv->inc_x),
        .ldc = inc_y,
        .batch = gemv->batch,
        .stride_a = gemv->stride_a,
        .stride_b = MUTATE(77, 0, gemv->stride_x),
        .stride_c = MUTATE(78, LESSER(gemv->stride_y, gemv->m), gemv->stride_y),
    };
}

iso_status ref_gemv_supports(const iso_gemv_op *gemv)
{
    const iso_gemm_op product = product_of(gemv);
    return ref_gemm_supports(&product);
}

void ref_gemv(const iso_gemv_op *gemv)
{
    const iso_gemm_op product = product_of(gemv);
    ref_gemm(&product);
}
