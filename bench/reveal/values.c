/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - what a tree of additions computes. */
#include "bench/arith/arith.h"
#include "bench/reveal/tree.h"

#include <math.h>

static double rounded(reveal_format format, double value)
{
    switch (format) {
    case REVEAL_F16:
        return arith_f16_to_f32(arith_f64_to_f16(value));
    case REVEAL_F32:
        return (float)value;
    default:
        return value;
    }
}

/* x * y + value with one rounding. In f16 and f32 the product is exact in double. */
static double multiply_add(reveal_format format, double x, double y, double value)
{
    if (format == REVEAL_F32) {
        return fmaf((float)x, (float)y, (float)value);
    }
    return format == REVEAL_F64 ? fma(x, y, value) : rounded(format, x * y + value);
}

/* Towards zero, to a float. */
static double cut_to_f32(double value)
{
    float near = (float)value;
    return fabs((double)near) > fabs(value) ? nextafterf(near, 0) : near;
}

/* A step of a matrix unit. Terms are the exact products. */
static double joined(const reveal_tree *t, const reveal_arithmetic *a, int32_t node,
                     const double *values)
{
    double largest = 0, sum = 0;
    int exponent;
    for (int32_t c = t->child[node]; c >= 0; c = t->next[c]) {
        largest = fmax(largest, fabs(values[c]));
    }
    frexp(largest, &exponent);
    for (int32_t c = t->child[node]; c >= 0; c = t->next[c]) {
        sum += a->kept == 0
                   ? values[c]
                   : ldexp(trunc(ldexp(values[c], a->kept - exponent)), exponent - a->kept);
    }
    return a->format == REVEAL_F32 && a->cut ? cut_to_f32(sum) : rounded(a->format, sum);
}

double reveal_value(const reveal_tree *t, const reveal_arithmetic *a, const double *x,
                    const double *y, double *values)
{
    for (int32_t at = 0; at < t->nodes; at++) {
        int32_t node = t->order[at];
        if (node < t->terms) {
            values[node] = y ? x[node] * y[node] : x[node];
            if (node == t->root || t->degree[t->parent[node]] == 2) {
                values[node] = rounded(a->format, values[node]);
            }
            continue;
        }
        int32_t one = t->child[node], other = t->next[one];
        if (t->degree[node] > 2) {
            values[node] = joined(t, a, node, values);
        } else if (y && t->products && (t->fused[one] || t->fused[other])) {
            int32_t term = t->fused[one] ? one : other;
            values[node] =
                multiply_add(a->format, x[term], y[term], values[term == one ? other : one]);
        } else if (a->format == REVEAL_F32) {
            values[node] = (float)values[one] + (float)values[other];
        } else {
            values[node] = rounded(a->format, values[one] + values[other]);
        }
    }
    return values[t->root];
}
