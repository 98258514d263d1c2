/* SPDX-License-Identifier: Apache-2.0 */
/* company_fit.c - puts a base's elements among others, and finds its part of a result again. */
#include "bench/verify/internal.h"

#include <string.h>

typedef struct elements {
    unsigned char *at;
    bench_view view;
    int64_t size;
} elements;

static unsigned char *element(const elements *e, int64_t i, int64_t j)
{
    return e->at + (e->view.first + i * e->view.down + j * e->view.across) * e->size;
}

static elements elements_of(const bench_case *item, int operand, void *dense, int64_t size)
{
    elements e = {.at = dense, .size = size};
    item->op->view(item, operand, &e.view);
    return e;
}

/* Of all operations, only products may be batches. */
static bool is_product(const bench_case *item)
{
    return item->op->batches;
}

static void turn(bench_view *view)
{
    *view = (bench_view){.first = view->first,
                         .rows = view->cols,
                         .cols = view->rows,
                         .down = view->across,
                         .across = view->down};
}

static void scale(const bench_case *item, unsigned char *at, double factor)
{
    arith_store(item->dtype, at, arith_load(item->dtype, at) * factor);
}

/* Makes numbers that use all digits of their type: in a sum of uniform ones, which are multiples of
 * 2^-23, few additions round. Reductions have no factor that makes their errors large enough for
 * f16. */
static void spread(const bench_case *item, void *dense, int64_t count)
{
    double factor = item->dtype == ISO_F16 && !is_product(item) ? 0x1p12 : 1;
    for (int64_t i = 0; i < count; i++) {
        unsigned char *at = (unsigned char *)dense + i * item->element;
        double value = arith_load(item->dtype, at);
        scale(item, at, value * value * factor);
    }
}

/* In each line the second half becomes the first half, with the other sign if `negative`. The one
 * or two elements that are left over become small, so that what remains of a sum is a small number
 * and the errors of rounding. */
static void repeat_half(const bench_case *item, const elements *e, bool negative)
{
    int64_t half = (e->view.cols - 1) / 2;
    for (int64_t i = 0; i < e->view.rows; i++) {
        for (int64_t j = 0; j < half; j++) {
            unsigned char *to = element(e, i, half + j);
            memcpy(to, element(e, i, j), (size_t)e->size);
            if (negative) {
                to[e->size - 1] ^= 0x80; /* the sign */
            }
        }
        for (int64_t j = 2 * half; j < e->view.cols; j++) {
            scale(item, element(e, i, j), is_product(item) ? 0x1p-10 : 0x1p-20);
        }
    }
}

void company_cancel(const void *context, const bench_case *item, verify_problem *p)
{
    bench_needs needs;
    (void)context;
    if (!item->company.cancels) {
        return;
    }
    bench_case_needs(item, &needs);
    for (int i = 0; i < needs.inputs; i++) {
        spread(item, p->dense[i].data, needs.bytes[i] / item->element);
        elements e = elements_of(item, i, p->dense[i].data, item->element);
        /* A sum goes along the rows, but down the columns of a product's second input. */
        if (i == 1 && is_product(item)) {
            turn(&e.view);
        }
        repeat_half(item, &e, i == 0);
        verify_region_scatter(p->lies[i], p->dense[i].data);
    }
}

void company_put(const void *context, const bench_case *item, verify_problem *p)
{
    const company_alone *alone = context;
    bench_needs needs;
    bench_case_needs(item, &needs);
    for (int operand = 0; operand < 3; operand++) {
        /* Only products read what the result contained. */
        if (operand == 2 ? !is_product(item) : operand >= needs.inputs) {
            continue;
        }
        int source = item->company.swapped && operand < 2 ? 1 - operand : operand;
        elements from =
            elements_of(alone->base, source, alone->problem->dense[source].data, item->element);
        elements to = elements_of(item, operand, p->dense[operand].data, item->element);
        if (item->company.turned) {
            turn(&from.view);
        }
        for (int64_t i = 0; i < from.view.rows; i++) {
            for (int64_t j = 0; j < from.view.cols; j++) {
                memcpy(element(&to, i, j), element(&from, i, j), (size_t)item->element);
            }
        }
        verify_region_scatter(p->lies[operand], p->dense[operand].data);
    }
}

bool company_compare(const bench_case *item, const bench_case *base, void *alone, void *among,
                     bench_result *result)
{
    bench_needs needs;
    bench_case_needs(item, &needs);
    iso_dtype dtype = needs.result_type;
    int64_t size = dtype != 0 ? iso_dtype_size(dtype) : item->element, wrong = 0, first[2] = {0, 0};
    elements want = elements_of(base, 2, alone, size);
    elements got = elements_of(item, 2, among, size);
    bench_view all = want.view;
    if (item->company.turned) {
        turn(&got.view);
    }
    for (int64_t i = 0; i < all.rows; i++) {
        for (int64_t j = 0; j < all.cols; j++) {
            const unsigned char *a = element(&got, i, j), *b = element(&want, i, j);
            if (dtype != 0 ? check_same_element(dtype, a, b) : memcmp(a, b, (size_t)size) == 0) {
                continue;
            }
            if (wrong++ == 0) {
                first[0] = i;
                first[1] = j;
            }
        }
    }
    result->method = "bits";
    if (wrong == 0) {
        return true;
    }
    char mine[64], theirs[64];
    iso_dtype shown = dtype != 0 ? dtype : item->dtype;
    return check_fail(result,
                      "element [%lld, %lld] is %s in this company, %s alone; %lld of %lld differ",
                      (long long)first[0], (long long)first[1],
                      check_show(mine, sizeof mine, shown, element(&got, first[0], first[1])),
                      check_show(theirs, sizeof theirs, shown, element(&want, first[0], first[1])),
                      (long long)wrong, (long long)(all.rows * all.cols));
}
