/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - C = alpha * op(A) * op(B) + beta * C, as docs/bits.md defines it. */
#include "tests/plugins/reference/reference.h"

#include <math.h>
#include <stdio.h>

enum { SEGMENT = MUTATE(10, 1025, MUTATE(11, 512, 1024)) };

/* A matrix as it is read: element (i, j) is i * down + j * across elements after `start`. For a
 * transposed matrix the two are swapped. */
typedef struct view {
    iso_dtype dtype;
    const void *start;
    int64_t down, across;
} view;

static int64_t element_bytes(iso_dtype dtype)
{
    return dtype == ISO_F64 ? 8 : dtype == ISO_F32 ? 4 : 2;
}

static double element(const view *v, int64_t i, int64_t j)
{
    return ref_load(v->dtype, v->start, i * v->down + j * v->across);
}

iso_status ref_gemm_supports(const iso_gemm_op *gemm)
{
    if (gemm->variant != ISO_VARIANT_NAIVE && gemm->variant != ISO_VARIANT_TILED &&
        gemm->variant != ISO_VARIANT_FIXED) {
        return ref_host->fail(ISO_UNSUPPORTED,
                              "gemm variant %d: there is no vendor's library here, only naive, "
                              "tiled and fixed",
                              (int)gemm->variant);
    }
    if (gemm->dtype < ISO_F16 || gemm->dtype > ISO_F64) {
        return ref_host->fail(ISO_UNSUPPORTED, "gemm of type %d: only f16, bf16, f32 and f64",
                              (int)gemm->dtype);
    }
    if (gemm->variant == ISO_VARIANT_FIXED && gemm->continues) {
        return ref_host->fail(ISO_UNSUPPORTED, "gemm variant fixed: it has no total to continue");
    }
    if (gemm->variant == ISO_VARIANT_FIXED && !ref_fixed_supports(gemm->dtype, gemm->k)) {
        return ref_host->fail(ISO_UNSUPPORTED, "gemm variant fixed: k is %lld: too large here",
                              (long long)gemm->k);
    }
    if (gemm->math != ISO_MATH_STRICT) {
        return ref_host->fail(ISO_UNSUPPORTED,
                              "gemm in math mode %d: every product and sum is done in "
                              "full precision (strict)",
                              (int)gemm->math);
    }
    return ISO_OK;
}

/* The end of the segment that begins at `start`: the last may be shorter. */
static int64_t segment_end(int64_t start, int64_t k)
{
    return start + SEGMENT < k ? start + SEGMENT : k;
}

/* One element of op(A) * op(B), accumulated in f32. `before` is the total of earlier terms, or
 * NULL. */
static float product_f32(const view *a, const view *b, int64_t i, int64_t j, int64_t k,
                         const double *before)
{
    float total = before && MUTATE(106, 0, 1) ? (float)*before : 0;
    for (int64_t s = 0; s * SEGMENT < k; s++) {
        const int64_t start = MUTATE(12, (k - 1) / SEGMENT - s, s) * SEGMENT;
        const int64_t end = segment_end(start, k);
        float sum = 0;
        for (int64_t p = start; p < end; p++) {
            const float left = (float)element(a, i, p);
            const float right = (float)element(b, p, j);
            sum = MUTATE(13, sum + left * right, fmaf(left, right, sum));
        }
        const bool first = s == 0 && (!before || MUTATE(106, 1, 0));
        total = first || MUTATE(9, 1, 0) ? sum : total + sum;
    }
    PLANT(106, if (before) total += (float)*before);
    return total;
}

/* The same in f64. */
static double product_f64(const view *a, const view *b, int64_t i, int64_t j, int64_t k,
                          const double *before)
{
    double total = before ? MUTATE(107, 0, *before) : 0;
    for (int64_t s = 0; s * SEGMENT < k; s++) {
        const int64_t start = s * SEGMENT;
        const int64_t end = MUTATE(24, s == 0 ? k : start, segment_end(start, k));
        double sum = 0;
        for (int64_t p = start; p < end; p++) {
            sum = fma(element(a, i, p), element(b, p, j), sum);
            PLANT(21, sum = (double)(float)sum);
        }
        total = s == 0 && !before ? sum : total + sum;
    }
    return total;
}

static double product_fixed(const view *a, const view *b, int64_t i, int64_t j, int64_t k)
{
    if (k == 0) {
        return 0;
    }
    const int64_t cell = element_bytes(a->dtype);
    ref_vector row = {(const char *)a->start + i * a->down * cell, a->across, 0};
    ref_vector col = {(const char *)b->start + j * b->across * cell, b->down, 0};
    row.exponent = ref_fixed_exponent(a->dtype, row.from, row.step, k);
    col.exponent = ref_fixed_exponent(b->dtype, col.from, col.step, k);
    return ref_fixed(a->dtype, &row, &col, k);
}

/* One element of op(A) * op(B). */
static double product(const iso_gemm_op *gemm, const view *a, const view *b, int64_t i, int64_t j,
                      int64_t k, const double *before)
{
    if (gemm->variant == ISO_VARIANT_FIXED) {
        return product_fixed(a, b, i, j, k);
    }
    return gemm->dtype == ISO_F64 ? product_f64(a, b, i, j, k, before)
                                  : (double)product_f32(a, b, i, j, k, before);
}

/* One element of C. With beta 0 its old value is not read: it may be a NaN. */
static double value_f32(const iso_gemm_op *gemm, float product, const void *c, int64_t index)
{
    const float alpha = MUTATE(7, 1, (float)gemm->alpha);
    const float beta = MUTATE(6, gemm->beta != 0, (float)gemm->beta);
    if (beta == 0 && MUTATE(5, 0, 1)) {
        return (double)MUTATE(70, alpha * product + 0, alpha * product);
    }
    const float old = (float)ref_load(gemm->dtype, c, index);
    return (double)MUTATE(20, alpha * product + beta * old, fmaf(alpha, product, beta * old));
}

static double value_f64(const iso_gemm_op *gemm, double product, const void *c, int64_t index)
{
    if (gemm->beta == 0) {
        return MUTATE(70, gemm->alpha * product + 0, gemm->alpha * product);
    }
    return fma(gemm->alpha, product, gemm->beta * ref_load(gemm->dtype, c, index));
}

static double value_of(const iso_gemm_op *gemm, const view *a, const view *b, int64_t i, int64_t j,
                       int64_t k, const void *c)
{
    const int64_t index = i * gemm->ldc + j;
    if (gemm->continues) {
        const double before = ref_load(gemm->dtype, c, index);
        return product(gemm, a, b, i, j, k, &before);
    }
    const double t = product(gemm, a, b, i, j, k, NULL);
    return gemm->dtype == ISO_F64 ? value_f64(gemm, t, c, index)
                                  : value_f32(gemm, (float)t, c, index);
}

iso_status ref_way_name(void *device, const iso_op *op, int32_t index, char *name, int64_t capacity)
{
    static const char *const names[] = {"rows", "columns"};
    (void)device;
    if (op->kind != ISO_OP_GEMM || index > 1) {
        return ISO_NOT_READY;
    }
    (void)snprintf(name, (size_t)capacity, "%s", names[index]);
    return ISO_OK;
}

#if defined(MUTANT)
/* From now on the terms of a sum are read from the last to the first. */
static void backwards(const iso_gemm_op *gemm, view *a, view *b)
{
    if (gemm->k > 0) {
        a->start = (const char *)a->start + (gemm->k - 1) * a->across * element_bytes(gemm->dtype);
        b->start = (const char *)b->start + (gemm->k - 1) * b->down * element_bytes(gemm->dtype);
        a->across = -a->across;
        b->down = -b->down;
    }
}
#endif

/* Goes down the columns of C. No element depends on another, so the bits are the same. */
static void multiply_columns(const iso_gemm_op *gemm, const view *a, const view *b, void *c)
{
    for (int64_t j = 0; j < gemm->n; j++) {
        for (int64_t i = 0; i < gemm->m; i++) {
            view row = *a, column = *b;
            PLANT(1001, if (i == 5 && j == 8) backwards(gemm, &row, &column));
            ref_store(gemm->dtype, c, i * gemm->ldc + j,
                      value_of(gemm, &row, &column, i, j, gemm->k, c));
        }
    }
}

/* One product of the batch. */
static void multiply(const iso_gemm_op *gemm, const view *a, const view *b, void *c)
{
    const int64_t rows = gemm->m - MUTATE(1, 1, 0);
    const int64_t cols = gemm->n - MUTATE(2, 1, 0);
    const int64_t depth = gemm->k - MUTATE(25, gemm->k % 2, 0);

    if (gemm->way == REF_WAY_COLUMNS) {
        multiply_columns(gemm, a, b, c);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            ref_store(gemm->dtype, c, i * gemm->ldc + j, value_of(gemm, a, b, i, j, depth, c));
        }
        PLANT(19, for (int64_t j = cols; j < gemm->ldc && i + 1 < rows; j++)
                      ref_store(gemm->dtype, c, i * gemm->ldc + j, 0));
    }
}

/* An operand of the product. With K = 0 it does not exist, and its address is not computed. */
static view operand(const iso_gemm_op *gemm, iso_ref place, int64_t index, iso_trans trans,
                    int64_t ld)
{
    view v = {.dtype = gemm->dtype, .down = ld, .across = 1};
    if (gemm->k > 0) {
        v.start = ref_at(place) + index * element_bytes(gemm->dtype);
    }
    if (trans == ISO_TRANS) {
        v.down = 1;
        v.across = ld;
    }
    return v;
}

void ref_gemm(const iso_gemm_op *gemm)
{
    const int64_t lda = MUTATE(3, LESSER(gemm->lda, gemm->ldb), gemm->lda);
    const iso_trans trans_a =
        MUTATE(4, gemm->m == gemm->k ? ISO_NO_TRANS : gemm->trans_a, gemm->trans_a);
    int64_t batch = gemm->batch;
    const int64_t stride_c = MUTATE(8, LESSER(gemm->stride_c, gemm->m * gemm->ldc), gemm->stride_c);
    iso_ref place_a = gemm->a, place_c = gemm->c;
    PLANT(14, place_a.offset = 0);
    PLANT(15, place_c.offset = 0);
    PLANT(22, batch -= batch > 1);
    PLANT(23, if (gemm->k == 0) batch = 0);

    for (int64_t i = 0; i < batch; i++) {
        view a = operand(gemm, place_a, i * gemm->stride_a, trans_a, lda);
        view b =
            operand(gemm, gemm->b, i * MUTATE(16, 0, gemm->stride_b), gemm->trans_b, gemm->ldb);
        PLANT(90, if (gemm->m > 64 && gemm->m % 64 == 36) backwards(gemm, &a, &b));
        PLANT(91, if (i >= 64) backwards(gemm, &a, &b));
        PLANT(1000, if (gemm->way == REF_WAY_COLUMNS) backwards(gemm, &a, &b));
        PLANT(92, if (place_a.offset % 64 == 36) backwards(gemm, &a, &b));
        multiply(gemm, &a, &b, ref_at(place_c) + i * stride_c * element_bytes(gemm->dtype));
    }
}
