/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_list.c - which reductions are tried: every operation, type and axis with sizes around the
 * lanes and blocks of the defined order, and with the fills that matter to the operation. */
#include "bench/suite/internal.h"

#include <stdio.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_PARTIALS, ISO_VARIANT_TILED,
                                       ISO_VARIANT_VENDOR};

/* That each variant has every operation, and that it has every type. What all their pairs would add
 * is a compilation each, which takes longer than the rest: the full suite has them. */
static bool in_quick(const suite_case *item, iso_variant variant)
{
    return variant == ISO_VARIANT_TILED || variant == ISO_VARIANT_VENDOR ||
           item->dtype == ISO_F32 || item->reduce.op == ISO_SUM || item->reduce.op == ISO_ARGMIN;
}

static void add(suite_list *list, suite_case *item, int variant_count, int full)
{
    const suite_reduce_case *r = &item->reduce;
    char after[SUITE_ID_MAX - 16];
    snprintf(item->type, sizeof item->type, "%s", iso_dtype_name(item->dtype));
    snprintf(after, sizeof after, "%s/%s/%s/r%lldc%lld/ld+%d/off%d/%s", iso_dtype_name(item->dtype),
             iso_reduce_op_name(r->op), iso_axis_name(r->axis), (long long)r->rows,
             (long long)r->cols, r->pad, r->offset, arith_fill_name(item->fill));
    iso_variant kept[COUNT(variants)];
    int count = 0;
    for (int v = 0; v < variant_count; v++) {
        if (full || in_quick(item, variants[v])) {
            kept[count++] = variants[v];
        }
    }
    suite_list_add(list, item, kept, count, after);
}

/* Fills that try an operation of a type, the plain ones first. */
static int fills_of(iso_reduce_op op, bool is_float, arith_fill out[12])
{
    static const arith_fill ints[] = {ARITH_UNIFORM, ARITH_EXTREMES, ARITH_INTS};
    static const arith_fill picks[] = {ARITH_UNIFORM, ARITH_TIES,      ARITH_NAN,  ARITH_ZEROS,
                                       ARITH_INF,     ARITH_SUBNORMAL, ARITH_MIXED};
    static const arith_fill int_picks[] = {ARITH_TIES, ARITH_EXTREMES, ARITH_UNIFORM};
    static const arith_fill products[] = {ARITH_POWERS,   ARITH_NEAR_ONE, ARITH_UNIFORM,
                                          ARITH_POWERS,   ARITH_NAN,      ARITH_ZEROS,
                                          ARITH_NEAR_ONE, ARITH_SUBNORMAL};
    static const arith_fill norms[] = {ARITH_UNIFORM, ARITH_INTS, ARITH_HUGE,      ARITH_MIXED,
                                       ARITH_NAN,     ARITH_INF,  ARITH_SUBNORMAL, ARITH_ZEROS};
    static const arith_fill sums[] = {ARITH_INTS, ARITH_UNIFORM,   ARITH_SPARSE, ARITH_NAN,
                                      ARITH_INF,  ARITH_SUBNORMAL, ARITH_ZEROS,  ARITH_UNIFORM};
    const arith_fill *from = sums;
    int count = COUNT(sums);
    bool pick = op == ISO_MIN || op == ISO_MAX || op == ISO_ARGMIN || op == ISO_ARGMAX;
    if (!is_float) {
        from = pick ? int_picks : ints;
        count = 3;
    } else if (pick) {
        from = picks;
        count = COUNT(picks);
    } else if (op == ISO_PRODUCT) {
        from = products;
        count = COUNT(products);
    } else if (op == ISO_NORM2) {
        from = norms;
        count = COUNT(norms);
    }
    for (int i = 0; i < count; i++) {
        out[i] = from[i];
    }
    return count;
}

static bool allows_empty(iso_reduce_op op)
{
    return op == ISO_SUM || op == ISO_PRODUCT || op == ISO_DOT || op == ISO_ASUM || op == ISO_NORM2;
}

/* The kinds of reduction that BLAS libraries have. That the others have no `vendor` is asked in the
 * corners alone. */
static bool vendor_may(const suite_case *item)
{
    iso_reduce_op op = item->reduce.op;
    return arith_is_float(item->dtype) &&
           (op == ISO_SUM || op == ISO_DOT || op == ISO_ASUM || op == ISO_NORM2);
}

static void set_shape(suite_case *item, iso_axis axis, int64_t length, int64_t others, int turn)
{
    static const int pads[] = {0, 3, 0, 5};
    static const int offsets[] = {0, 1, 3, 0, 6};
    suite_reduce_case *r = &item->reduce;
    r->axis = axis;
    r->rows = axis == ISO_AXIS_ALL ? 1 : axis == ISO_AXIS_0 ? length : others;
    r->cols = axis == ISO_AXIS_ALL ? length : axis == ISO_AXIS_0 ? others : length;
    r->pad = axis == ISO_AXIS_ALL ? 0 : pads[turn % COUNT(pads)];
    r->offset = offsets[turn % COUNT(offsets)];
}

static void one(suite_list *list, iso_reduce_op op, iso_dtype dtype, iso_axis axis, int more,
                int full)
{
    static const int64_t lengths[] = {1,    4096, 127,  4097,   128,    100003, 129, 4095,
                                      8191, 2,    8193, 532487, 100003, 64,     3,   12289};
    static const int64_t widths[] = {1, 3, 17, 64, 2, 33, 5, 130};
    arith_fill fills[12];
    int fill_count = fills_of(op, arith_is_float(dtype), fills);
    int turn = (int)op * 3 + (int)dtype * 5 + (int)axis * 7;
    int rounds = arith_is_float(dtype) ? 6 : 4;
    if (more) {
        rounds = 32;
    }
    for (int i = 0; i < rounds; i++) {
        suite_case item = {.op = &bench_reduce, .dtype = dtype};
        int t = turn + i + more * 6;
        int64_t length = lengths[(t * 7 + t / 16) % COUNT(lengths)];
        int64_t others = widths[(t * 5 + t / 8) % COUNT(widths)];
        item.reduce.op = op;
        item.fill = fills[(i + more * 5 + t / 16) % fill_count];
        while (axis != ISO_AXIS_ALL && others > 1 && length * others > (more ? 2000000 : 150000)) {
            others /= 2;
        }
        set_shape(&item, axis, length, others, t);
        add(list, &item, vendor_may(&item) ? COUNT(variants) : COUNT(variants) - 1, full);
    }
}

static void corners(suite_list *list, iso_reduce_op op, iso_dtype dtype, iso_axis axis, int full)
{
    suite_case item = {.op = &bench_reduce, .dtype = dtype};
    item.reduce.op = op;
    if (allows_empty(op)) {
        set_shape(&item, axis, 0, axis == ISO_AXIS_ALL ? 1 : 5, 0);
        add(list, &item, COUNT(variants), full);
    }
    if (axis != ISO_AXIS_ALL && (op == ISO_SUM || op == ISO_MIN)) { /* no results at all */
        set_shape(&item, axis, 7, 0, 0);
        add(list, &item, 3, full);
    }
    if (op == ISO_DOT && arith_is_float(dtype)) { /* products that vanish leave -0 in a lane */
        item.fill = ARITH_SUBNORMAL;
        for (int64_t length = 1; length <= 129; length += 64) {
            set_shape(&item, axis, length, axis == ISO_AXIS_ALL ? 1 : 5, (int)length);
            add(list, &item, 3, full);
        }
    }
    item.fill = ARITH_INTS; /* wide: many results of few elements */
    set_shape(&item, axis, axis == ISO_AXIS_ALL ? 1000 : 5, 1021, 1);
    if (axis == ISO_AXIS_ALL) { /* a matrix of several rows without gaps is one array */
        item.reduce.rows = 7;
    }
    add(list, &item, COUNT(variants), full);
}

void suite_list_reduce(suite_list *list, int full)
{
    static const iso_axis axes[] = {ISO_AXIS_ALL, ISO_AXIS_0, ISO_AXIS_1};
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_I64; dtype++) {
        for (iso_reduce_op op = ISO_SUM; op <= ISO_ARGMAX; op++) {
            if (op == ISO_NORM2 && !arith_is_float(dtype)) {
                continue;
            }
            for (int a = 0; a < COUNT(axes); a++) {
                corners(list, op, dtype, axes[a], full);
                one(list, op, dtype, axes[a], 0, full);
                if (full) {
                    one(list, op, dtype, axes[a], 1, full);
                }
            }
            if (full) {
                suite_case item = {.op = &bench_reduce, .dtype = dtype};
                item.reduce.op = op;
                item.fill = op == ISO_PRODUCT ? ARITH_POWERS : ARITH_SPARSE;
                set_shape(&item, ISO_AXIS_ALL, (1 << 24) + 5, 1, 1);
                add(list, &item, COUNT(variants), full);
            }
        }
    }
}
