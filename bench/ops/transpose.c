/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - the row of transposes. */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <stdio.h>

static void set_size(bench_case *item, const bench_size *size)
{
    item->transpose.rows = size->beyond_cache ? bench_square(size->of[0]) : size->of[0];
    item->transpose.cols = size->count > 1 ? size->of[1] : item->transpose.rows;
}

static void shape(const bench_case *item, bench_shape *out)
{
    *out = (bench_shape){.names = {"rows", "cols"},
                         .sizes = {item->transpose.rows, item->transpose.cols},
                         .count = 2,
                         .elements = (double)item->transpose.rows * (double)item->transpose.cols};
}

static void needs(const bench_case *item, bench_needs *out)
{
    int64_t element = item->element;
    out->type = element <= 2 ? ISO_F16 : element == 4 ? ISO_F32 : ISO_F64;
    out->results = item->transpose.rows * item->transpose.cols;
    out->bytes[0] = out->results * element;
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    const transpose_shape *t = &item->transpose;
    iso_transpose_args *args = &all->transpose;
    *args = (iso_transpose_args)ISO_TRANSPOSE_ARGS_INIT;
    args->variant = item->how;
    args->element_bytes = item->element;
    args->rows = t->rows;
    args->cols = t->cols;
    args->ld_from = t->pad ? t->cols + t->pad : 0;
    args->ld_to = t->pad ? t->rows + t->pad + 2 : 0;
    if (t->in_place) {
        args->ld_to = args->ld_from;
    } else if (t->neighbours) {
        args->ld_from = args->ld_to = t->cols + t->rows + t->pad;
    }
    return ISO_OP_TRANSPOSE;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    (void)item;
    args->transpose.from = inputs[0];
    args->transpose.to = result;
}

static void slows(const bench_case *item, bool native, double *rate, double *moved)
{
    (void)native;
    (void)rate;
    *moved *= item->how == ISO_VARIANT_TILED ? 1 : 4;
}

/* ---- conformance cases ----------------------------------------------------------------------- */

static bool lay(const bench_case *item, verify_problem *p)
{
    const transpose_shape *t = &item->transpose;
    bench_args args;
    arguments(item, &args);
    verify_region from = {.element = item->element,
                          .rows = t->rows,
                          .cols = t->cols,
                          .batch = 1,
                          .offset = t->offset};
    verify_region to = from;
    from.ld = args.transpose.ld_from;
    to.rows = t->cols;
    to.cols = t->rows;
    to.ld = args.transpose.ld_to;
    to.offset = t->offset / 2;
    if (t->neighbours) {
        to.offset = t->offset + t->cols;
        to.least = t->offset + (t->rows > t->cols ? t->rows : t->cols) * to.ld;
        verify_region_within(&p->regions[0], &from, &p->regions[2]);
        return verify_region_lay(&p->regions[2], &to);
    }
    if (t->in_place) {
        p->lies[2] = p->lies[0];
    }
    return verify_region_lay(&p->regions[0], &from) && verify_region_lay(&p->regions[2], &to);
}

static void add_with(verify_list *list, int64_t element, int64_t rows, int64_t cols, int turn,
                     bool in_place, bool neighbours)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                           ISO_VARIANT_VENDOR};
    static const int pads[] = {0, 3, 1, 0, 8};
    static const int offsets[] = {0, 1, 0, 3, 2, 5};
    bench_case item = verify_case(&bench_transpose, (iso_dtype)0, "");
    item.element = element;
    item.transpose = (transpose_shape){
        .rows = rows,
        .cols = cols,
        .pad = pads[turn % COUNT(pads)],
        .offset = offsets[turn % COUNT(offsets)],
        .in_place = in_place,
        .neighbours = neighbours,
    };
    char after[BENCH_ID_MAX - 16];
    snprintf(item.type, sizeof item.type, "e%d", (int)element);
    snprintf(after, sizeof after, "e%d/r%lldc%lld/ld+%d/off%d/%s", (int)element, (long long)rows,
             (long long)cols, item.transpose.pad, item.transpose.offset,
             in_place     ? "inplace"
             : neighbours ? "neighbours"
                          : "out");
    /* Vendors' libraries cannot transpose elements of 1 or 2 bytes. A few cases check that this is
     * reported as unsupported. */
    bool vendor = element >= 4 || rows < 2;
    verify_list_add(list, &item, variants, vendor ? COUNT(variants) : COUNT(variants) - 1, after);
}

static void add(verify_list *list, int64_t element, int64_t rows, int64_t cols, int turn,
                bool in_place)
{
    add_with(list, element, rows, cols, turn, in_place, false);
}

static void cases(verify_list *list, bool full)
{
    static const int64_t beside[][2] = {{5, 9}, {64, 64}, {33, 130}, {257, 3}};
    static const int64_t elements[] = {1, 2, 4, 8, 16};
    static const int64_t sizes[] = {1,  7,  8,  9,  15, 16,  17,  31,  32, 33,
                                    63, 64, 65, 67, 97, 127, 128, 129, 251};
    static const int64_t corners[][2] = {{0, 0},    {0, 7},    {7, 0},    {1, 1},    {1, 1000},
                                         {1000, 1}, {2, 4099}, {4099, 3}, {257, 263}};
    static const int64_t more[][2] = {
        {1024, 1024}, {1031, 2053}, {1, 1000003}, {1000003, 2}, {2048, 511}};
    for (int e = 0; e < COUNT(elements); e++) {
        for (int i = 0; i < COUNT(corners); i++) {
            add(list, elements[e], corners[i][0], corners[i][1], i + e, false);
        }
        for (int i = 0; i < COUNT(sizes); i++) {
            int64_t other = sizes[(i * 7 + e * 3 + 5) % COUNT(sizes)];
            add(list, elements[e], sizes[i], other, i + e, false);
            add(list, elements[e], sizes[i], sizes[i], i + e + 1, true);
            if (i % 3 == 0) {
                add(list, elements[e], sizes[i], sizes[i], i + e + 2, false);
            }
        }
        for (int i = 0; i < COUNT(beside); i++) {
            add_with(list, elements[e], beside[i][0], beside[i][1], 3 * i + e, false, true);
        }
        for (int i = 0; full && i < COUNT(more); i++) {
            add(list, elements[e], more[i][0], more[i][1], i + e, false);
        }
        if (full) {
            add(list, elements[e], 1537, 1537, e, true);
        }
    }
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const transpose_shape *t = &item->transpose;
    tool_set_int(sizes, "rows", t->rows);
    tool_set_int(sizes, "cols", t->cols);
    tool_set_int(layout, "element_bytes", item->element);
    tool_set_int(layout, "pad", t->pad);
    tool_set_int(layout, "offset", t->offset);
    json_object_set_new(layout, "in_place", json_boolean(t->in_place));
    json_object_set_new(layout, "neighbours", json_boolean(t->neighbours));
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const types[] = {"e1", "e2", "e4", "e8", "e16", NULL};

const bench_op bench_transpose = {
    .name = "transpose",
    .measured = "transpose",
    .verified = "transpose",
    .title = "Transposes",
    .size = "N",
    .variants = bench_plain_variants,
    .types = types,
    .usual_variants = "naive,tiled,vendor",
    .usual_types = "e4,e8",
    .counts = 1 << 0 | 1 << 1 | 1 << 2,
    .size_members = bench_matrix_members,
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .check = check_transpose,
    .set_size = set_size,
    .shape = shape,
    .slows = slows,
    .same_in_variants = true,
    .cases = cases,
    .lay = lay,
    .describe = describe,
};
