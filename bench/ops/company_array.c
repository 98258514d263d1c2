/* SPDX-License-Identifier: Apache-2.0 */
/* company_array.c - the cases of --invariance: reductions and maps. */
#include "bench/verify/verify.h"
#include "common/dtype.h"

#include <stdio.h>

/* The others' elements may be huge, infinite or NaN. */
static arith_fill fill_of_others(int turn)
{
    static const arith_fill fills[] = {ARITH_UNIFORM, ARITH_NAN, ARITH_HUGE, ARITH_INF,
                                       ARITH_MIXED};
    return fills[turn % COUNT(fills)];
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* The sequences of a base are its rows. The result is a column of one value for each row or, along
 * axis 0, a row of one value for each column. */
void reduce_view(const bench_case *item, int operand, bench_view *out)
{
    const reduce_shape *r = &item->reduce;
    const bench_company *at = &item->company;
    if (operand < 2) {
        *out = (bench_view){.rows = r->rows, .cols = r->cols, .down = r->cols, .across = 1};
        out->first = at->row * r->cols + at->col;
    } else {
        bool down = r->axis == ISO_AXIS_0;
        *out = (bench_view){.rows = down || r->axis == ISO_AXIS_ALL ? 1 : r->rows,
                            .cols = down ? r->cols : 1,
                            .down = down ? r->cols : 1,
                            .across = 1};
        out->first = down ? at->col : at->row;
    }
}

/* Products stay near 1. */
static void set_fill(bench_case *item, int turn)
{
    iso_reduce_op op = item->reduce.op;
    bool sums = op == ISO_SUM || op == ISO_MEAN || op == ISO_DOT;
    bool picks = op == ISO_MIN || op == ISO_MAX || op == ISO_AMAX || op == ISO_ARGMIN ||
                 op == ISO_ARGMAX || op == ISO_ARGAMAX;
    item->fill = op == ISO_PRODUCT && arith_is_float(item->dtype) ? ARITH_NEAR_ONE
                 : picks && turn % 2                              ? ARITH_TIES
                                                                  : ARITH_UNIFORM;
    item->company.cancels = sums && arith_is_float(item->dtype) && turn % 3 != 2;
}

static company_base start_reduce(verify_list *list, iso_reduce_op op, iso_dtype dtype, int64_t rows,
                                 int64_t cols, int turn)
{
    char text[64];
    bench_case model = verify_case(&bench_reduce, dtype, iso_reduce_op_name(op));
    model.reduce = (reduce_shape){.op = op, .axis = ISO_AXIS_1, .rows = rows, .cols = cols};
    set_fill(&model, turn);
    snprintf(text, sizeof text, "%s/r%lldc%lld/%s%s", iso_reduce_op_name(op), (long long)rows,
             (long long)cols, arith_fill_name(model.fill), model.company.cancels ? "/cancels" : "");
    return company_start(list, &model, text);
}

static void add_reduce(verify_list *list, const company_base *base, const bench_case *item)
{
    const reduce_shape *r = &item->reduce;
    char where[80];
    snprintf(where, sizeof where, "%s/r%lldc%lld-at%d,%d/ld+%d/off%d/%s", iso_axis_name(r->axis),
             (long long)r->rows, (long long)r->cols, item->company.row, item->company.col, r->pad,
             r->offset, arith_fill_name(item->fill));
    company_add(list, base, item, where);
}

/* Puts the base's one row among `others` rows, or turns it and puts it among as many columns. */
static void set_company(bench_case *item, company_axis axis, iso_axis along, int64_t others,
                        int64_t at)
{
    reduce_shape *r = &item->reduce;
    int64_t length = r->axis == ISO_AXIS_0 ? r->rows : r->cols;
    bool down = along == ISO_AXIS_0;
    r->axis = along;
    r->rows = down ? length : others;
    r->cols = down ? others : length;
    item->company = (bench_company){.axis = axis, .turned = down};
    *(down ? &item->company.col : &item->company.row) = (int32_t)at;
}

/* One row of each length among others, and along each axis. Cases are small enough to be short. */
static void rows_of(verify_list *list, iso_reduce_op op, iso_dtype dtype, bool full)
{
    enum { ELEMENTS_MOST = 600000 };
    static const int64_t lengths[] = {45, 131, 1000, 4097, 9001};
    static const int others[] = {2, 3, 5, 8, 16, 17, 31, 33, 64, 65, 100, 127, 128, 129, 256, 257};
    for (int b = 0; b < COUNT(lengths); b++) {
        int turn = b + (int)op + (int)dtype;
        company_base base = start_reduce(list, op, dtype, 1, lengths[b], turn);
        bench_case item = base.model;
        for (int i = 0; i < COUNT(others); i++) {
            bool quick = i % COUNT(lengths) == b || (i + 2) % COUNT(lengths) == b;
            if ((!full && !quick) || others[i] * lengths[b] > ELEMENTS_MOST) {
                continue;
            }
            item.fill = op == ISO_PRODUCT ? ARITH_NEAR_ONE : fill_of_others(i + turn);
            set_company(&item, COMPANY_ROWS, ISO_AXIS_1, others[i], others[i] * 2 / 3);
            add_reduce(list, &base, &item);
            set_company(&item, COMPANY_COLUMNS, ISO_AXIS_0, others[i], others[i] / 2);
            add_reduce(list, &base, &item);
        }
        item.fill = base.model.fill;
        set_company(&item, COMPANY_AXIS, ISO_AXIS_ALL, 1, 0);
        add_reduce(list, &base, &item);
        set_company(&item, COMPANY_AXIS, ISO_AXIS_0, 1, 0);
        add_reduce(list, &base, &item);
    }
}

static void places_of(verify_list *list, iso_reduce_op op, iso_dtype dtype)
{
    static const int pads[] = {1, 2, 3, 5, 8, 16};
    static const int offsets[] = {1, 2, 3, 4, 5, 7, 8, 15};
    company_base base = start_reduce(list, op, dtype, 7, 4500, (int)op + (int)dtype);
    bench_case item = base.model;
    item.company = (bench_company){.axis = COMPANY_PADDING};
    for (int i = 0; i < COUNT(pads); i++) {
        item.reduce.pad = pads[i];
        add_reduce(list, &base, &item);
    }
    item.company.axis = COMPANY_OFFSET;
    for (int i = 0; i < COUNT(offsets); i++) {
        item.reduce.pad = i % 3;
        item.reduce.offset = offsets[i];
        add_reduce(list, &base, &item);
    }
}

static void circumstances_of(verify_list *list, iso_reduce_op op, iso_dtype dtype)
{
    static const int64_t bases[][2] = {{1, 130}, {1, 300007}, {33, 5000}};
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base =
            start_reduce(list, op, dtype, bases[b][0], bases[b][1], b + (int)op + (int)dtype);
        company_circumstances(list, &base);
    }
}

void reduce_companies(verify_list *list, bool full)
{
    for (iso_dtype dtype = ISO_F16; dtype_get(dtype); dtype++) {
        for (iso_reduce_op op = ISO_SUM; op <= ISO_ARGAMAX; op++) {
            iso_dtype result;
            if (iso_reduce_result(op, dtype, &result) == ISO_OK) {
                rows_of(list, op, dtype, full);
                places_of(list, op, dtype);
                circumstances_of(list, op, dtype);
            }
        }
    }
}

/* ---- maps ------------------------------------------------------------------------------------ */

void map_view(const bench_case *item, int operand, bench_view *out)
{
    (void)operand;
    *out = (bench_view){.first = item->company.col,
                        .rows = 1,
                        .cols = item->map.n,
                        .down = item->map.n,
                        .across = 1};
}

static company_base start_map(verify_list *list, iso_map_op op, iso_dtype dtype, int64_t n,
                              int turn)
{
    char text[64];
    bool chain = op == ISO_MAP_CHAIN;
    bench_case model = verify_case(&bench_map, dtype, iso_map_op_name(op));
    model.map = (map_shape){.op = op,
                            .n = n,
                            .steps = chain ? 1 + turn % 5 : 0,
                            .alpha = chain ? 0.999 : 0.7,
                            .beta = chain ? 0.1 : 0};
    model.fill = op == ISO_MAP_COPY                       ? ARITH_BITS
                 : arith_is_float(dtype) && turn % 3 == 1 ? ARITH_MIXED
                                                          : ARITH_UNIFORM;
    snprintf(text, sizeof text, "%s/n%lld/%s", iso_map_op_name(op), (long long)n,
             arith_fill_name(model.fill));
    return company_start(list, &model, text);
}

static void add_map(verify_list *list, const company_base *base, const bench_case *item)
{
    const map_shape *m = &item->map;
    char where[80];
    snprintf(where, sizeof where, "n%lld-at%d/off%d.%d.%d/%s", (long long)m->n, item->company.col,
             m->offset_x, m->offset_y, m->offset_z, arith_fill_name(item->fill));
    company_add(list, base, item, where);
}

/* Elements alone, in arrays of other lengths, and at other addresses. */
static void arrays_of(verify_list *list, iso_map_op op, iso_dtype dtype, bool full)
{
    static const int64_t bases[] = {1, 37, 250};
    static const int64_t lengths[] = {65,  66,  257, 127, 128, 513,  255,  256,   777,
                                      511, 129, 999, 63,  71,  1025, 4097, 33333, 262147};
    static const int32_t offsets[][3] = {{1, 1, 1}, {3, 0, 0}, {0, 1, 0},  {0, 0, 5},
                                         {4, 4, 4}, {2, 2, 2}, {16, 8, 1}, {7, 5, 3}};
    for (int b = 0; b < COUNT(bases); b++) {
        company_base base = start_map(list, op, dtype, bases[b], b + (int)op + (int)dtype);
        bench_case item = base.model;
        bool bits = op == ISO_MAP_COPY;
        for (int i = 0; i < COUNT(lengths); i++) {
            if (lengths[i] <= bases[b] || (!full && i % COUNT(bases) != b)) {
                continue;
            }
            item.map.n = lengths[i];
            item.fill = bits ? ARITH_BITS : fill_of_others(i);
            item.company = (bench_company){.axis = COMPANY_LENGTH};
            for (int end = 0; end < 3; end++) {
                item.company.col = (int32_t)((lengths[i] - bases[b]) * end / 2);
                add_map(list, &base, &item);
            }
        }
        item = base.model;
        item.company = (bench_company){.axis = COMPANY_OFFSET};
        for (int i = 0; i < COUNT(offsets); i++) {
            item.map.offset_x = offsets[i][0];
            item.map.offset_y = offsets[i][1];
            item.map.offset_z = offsets[i][2];
            add_map(list, &base, &item);
        }
    }
}

void map_companies(verify_list *list, bool full)
{
    static const int64_t sizes[] = {33, 100003};
    for (iso_dtype dtype = bench_next(bench_all_types, 0); dtype;
         dtype = bench_next(bench_all_types, dtype)) {
        for (iso_map_op op = ISO_MAP_COPY; op <= ISO_MAP_CHAIN; op++) {
            bool real = arith_map_has_alpha(op);
            if (real && !arith_is_float(dtype)) {
                continue;
            }
            arrays_of(list, op, dtype, full);
            for (int b = 0; b < COUNT(sizes); b++) {
                company_base base = start_map(list, op, dtype, sizes[b], b);
                company_circumstances(list, &base);
            }
        }
    }
}
