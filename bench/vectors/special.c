/* SPDX-License-Identifier: Apache-2.0 */
/* special.c - cases that draws do not hit, after those that every file of 100,000 cases has had. */
#include "bench/vectors/draw.h"
#include "bench/vectors/vectors.h"

#define COUNT(list) ((int64_t)(sizeof(list) / sizeof(list)[0]))

/* The numbers of the first ones. */
enum { FIRST_SUM = 25001, FIRST_FIXED = 20001, BLOCK = 4096 };

typedef struct long_sum {
    iso_reduce_op op;
    iso_dtype dtype;
    iso_axis axis;
    int64_t length;
    uint64_t seed; /* 0: the drawn one */
} long_sum;

static const long_sum sums[] = {
    /* The f64 value lies so near to the middle of two results that a rounding to f32 in between
     * moves it there. */
    {ISO_NORM2, ISO_F16, ISO_AXIS_ALL, 12, 9231},
    {ISO_NORM2, ISO_F16, ISO_AXIS_0, 18, 45661},
    {ISO_NORM2, ISO_F16, ISO_AXIS_1, 26, 66810},
    {ISO_NORM2, ISO_BF16, ISO_AXIS_ALL, 19, 82028},
    {ISO_NORM2, ISO_BF16, ISO_AXIS_0, 28, 595772},
    {ISO_NORM2, ISO_BF16, ISO_AXIS_1, 14, 858237},
    {ISO_MEAN, ISO_F16, ISO_AXIS_ALL, 3 * BLOCK + 5, 19794},
    /* More than 128 blocks: a lane of the second level takes a second one. */
    {ISO_SUM, ISO_F32, ISO_AXIS_ALL, 129 * BLOCK, 0},
    {ISO_SUM, ISO_F64, ISO_AXIS_0, 128 * BLOCK + 1, 0},
    {ISO_SUM, ISO_F16, ISO_AXIS_1, 131 * BLOCK - 7, 0},
    {ISO_ARGMIN, ISO_F32, ISO_AXIS_ALL, 130 * BLOCK + 77, 0},
    {ISO_DOT, ISO_F32, ISO_AXIS_0, 140 * BLOCK + 1, 0},
    {ISO_NORM2, ISO_F32, ISO_AXIS_1, 129 * BLOCK + 1, 0},
    {ISO_MEAN, ISO_BF16, ISO_AXIS_ALL, 129 * BLOCK + 4095, 0},
    /* Five blocks and more. */
    {ISO_SUM, ISO_F16, ISO_AXIS_ALL, 4 * BLOCK + 1, 0},
    {ISO_SUM, ISO_BF16, ISO_AXIS_0, 5 * BLOCK, 0},
    {ISO_SUM, ISO_F32, ISO_AXIS_1, 5 * BLOCK - 1, 0},
    {ISO_SUM, ISO_F64, ISO_AXIS_ALL, 9 * BLOCK + 77, 0},
    {ISO_PRODUCT, ISO_I32, ISO_AXIS_0, 4 * BLOCK + 1, 0},
    {ISO_MIN, ISO_F32, ISO_AXIS_1, 6 * BLOCK + 5, 0},
    {ISO_MAX, ISO_I64, ISO_AXIS_ALL, 5 * BLOCK + 1, 0},
    {ISO_MEAN, ISO_F32, ISO_AXIS_0, 7 * BLOCK + 3, 0},
    {ISO_MEAN, ISO_I32, ISO_AXIS_1, 4 * BLOCK + 2, 0},
    {ISO_DOT, ISO_F16, ISO_AXIS_ALL, 8 * BLOCK + 1, 0},
    {ISO_DOT, ISO_F32, ISO_AXIS_1, 5 * BLOCK + 100, 0},
    {ISO_DOT, ISO_F64, ISO_AXIS_0, 4 * BLOCK + 129, 0},
    {ISO_ASUM, ISO_BF16, ISO_AXIS_ALL, 6 * BLOCK, 0},
    {ISO_ASUM, ISO_F64, ISO_AXIS_1, 5 * BLOCK + 1, 0},
    {ISO_NORM2, ISO_F32, ISO_AXIS_0, 4 * BLOCK + 4, 0},
    {ISO_NORM2, ISO_F64, ISO_AXIS_ALL, 5 * BLOCK + 64, 0},
    {ISO_ARGMIN, ISO_F16, ISO_AXIS_1, 4 * BLOCK + 9, 0},
    {ISO_ARGMAX, ISO_F64, ISO_AXIS_0, 5 * BLOCK + 2, 0},
    {ISO_XOR, ISO_I64, ISO_AXIS_ALL, 6 * BLOCK + 1, 0},
    {ISO_AMAX, ISO_F32, ISO_AXIS_ALL, 130 * BLOCK + 3, 0},
    {ISO_ARGAMAX, ISO_BF16, ISO_AXIS_1, 5 * BLOCK + 2, 0},
    /* A second rounding of a mean shows only where n has more digits than f32 has beyond bf16. */
    {ISO_MEAN, ISO_BF16, ISO_AXIS_1, 69537, 153833},
};

/* Their sums have more than 53 digits, and lie so near to the middle of two f32 that a rounding to
 * f64 in between moves them there. */
static const struct {
    int64_t m, n, k;
    uint64_t seed;
} products[] = {{5, 1, 512, 120121}, {6, 32, 140, 1374143}};

static void set_sum(bench_case *item, const long_sum *from)
{
    reduce_shape *r = &item->reduce;
    item->dtype = from->dtype;
    item->element = iso_dtype_size(from->dtype);
    item->fill = ARITH_UNIFORM;
    item->seed = from->seed != 0 ? from->seed : item->seed;
    *r = (reduce_shape){.op = from->op, .axis = from->axis, .rows = 1, .cols = 1};
    *(from->axis == ISO_AXIS_0 ? &r->rows : &r->cols) = from->length;
}

void vectors_special(vectors_level level, int64_t number, bench_case *item)
{
    int64_t at = number - (level == VECTORS_SUMS ? FIRST_SUM : FIRST_FIXED);
    if (level == VECTORS_SUMS && at >= 0 && at < COUNT(sums)) {
        set_sum(item, &sums[at]);
    }
    if (level == VECTORS_FIXED && at >= 0 && at < COUNT(products)) {
        item->dtype = ISO_F32;
        item->element = iso_dtype_size(ISO_F32);
        item->fill = ARITH_NEAR_ONE;
        item->seed = products[at].seed;
        item->gemm = (gemm_shape){.trans_b = ISO_TRANS,
                                  .m = products[at].m,
                                  .n = products[at].n,
                                  .k = products[at].k,
                                  .batch = 1,
                                  .alpha = 1};
    }
}
