/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - transposes. They move bits: the whole image of the output is known. */
#include "bench/suite/internal.h"
#include "bench/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* ---- list ------------------------------------------------------------------------------------ */

static void add_with(suite_list *list, int64_t element, int64_t rows, int64_t cols, int turn,
                     int in_place, int neighbours)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                           ISO_VARIANT_VENDOR};
    static const int pads[] = {0, 3, 1, 0, 8};
    static const int offsets[] = {0, 1, 0, 3, 2, 5};
    suite_case item = {.op = &bench_transpose};
    item.transpose = (suite_transpose_case){
        .element = element,
        .rows = rows,
        .cols = cols,
        .pad = pads[turn % COUNT(pads)],
        .offset = offsets[turn % COUNT(offsets)],
        .in_place = in_place,
        .neighbours = neighbours,
    };
    char after[SUITE_ID_MAX - 16];
    snprintf(item.type, sizeof item.type, "e%d", (int)element);
    snprintf(after, sizeof after, "e%d/r%lldc%lld/ld+%d/off%d/%s", (int)element, (long long)rows,
             (long long)cols, item.transpose.pad, item.transpose.offset,
             in_place     ? "inplace"
             : neighbours ? "neighbours"
                          : "out");
    /* No vendor's library moves elements of 1 or 2 bytes; that it says so is asked a few times. */
    bool vendor = element >= 4 || rows < 2;
    suite_list_add(list, &item, variants, vendor ? COUNT(variants) : COUNT(variants) - 1, after);
}

static void add(suite_list *list, int64_t element, int64_t rows, int64_t cols, int turn,
                int in_place)
{
    add_with(list, element, rows, cols, turn, in_place, 0);
}

void suite_list_transpose(suite_list *list, int full)
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
            add(list, elements[e], corners[i][0], corners[i][1], i + e, 0);
        }
        for (int i = 0; i < COUNT(sizes); i++) {
            int64_t other = sizes[(i * 7 + e * 3 + 5) % COUNT(sizes)];
            add(list, elements[e], sizes[i], other, i + e, 0);
            add(list, elements[e], sizes[i], sizes[i], i + e + 1, 1);
            if (i % 3 == 0) {
                add(list, elements[e], sizes[i], sizes[i], i + e + 2, 0);
            }
        }
        for (int i = 0; i < COUNT(beside); i++) {
            add_with(list, elements[e], beside[i][0], beside[i][1], 3 * i + e, 0, 1);
        }
        for (int i = 0; full && i < COUNT(more); i++) {
            add(list, elements[e], more[i][0], more[i][1], i + e, 0);
        }
        if (full) {
            add(list, elements[e], 1537, 1537, e, 1);
        }
    }
}

/* ---- run ------------------------------------------------------------------------------------- */

enum { DENSE, TURNED };

/* Random bits, NaN of every kind among them; for `vendor` finite numbers of the type that it reads.
 */
static void generate(const suite_case *item, bool finite, int64_t bytes, unsigned char *out)
{
    if (finite && item->transpose.element >= 4) {
        iso_dtype dtype = item->transpose.element == 4 ? ISO_F32 : ISO_F64;
        arith_generate(dtype, ARITH_UNIFORM, item->seed, bytes / iso_dtype_size(dtype), out);
        return;
    }
    for (int64_t i = 0; i < bytes; i += 8) {
        uint64_t mix = arith_mix(item->seed, (uint64_t)i / 8);
        if (mix % 5 == 0) { /* NaN of f64, quiet and signalling */
            mix |= 0x7ff0000000000000u;
        } else if (mix % 5 == 1) { /* two signalling NaN of f32 */
            mix = (mix & 0x803fffff803fffffu) | 0x7f8000017f800001u;
        }
        memcpy(out + i, &mix, (size_t)(bytes - i < 8 ? bytes - i : 8));
    }
}

static bool make_regions(suite_data *d, const suite_transpose_case *t)
{
    int64_t e = t->element, rows = t->rows > t->cols ? t->rows : t->cols;
    suite_region from = {.element = e, .rows = t->rows, .cols = t->cols, .batch = 1}, to = from;
    if (!t->neighbours) {
        return suite_region_init(&d->in[0], e, t->rows, t->cols, t->pad, t->offset, 1, 0, false) &&
               suite_region_init(&d->out, e, t->cols, t->rows, t->pad ? t->pad + 2 : 0,
                                 t->offset / 2, 1, 0, false);
    }
    to.rows = t->cols;
    to.cols = t->rows;
    from.ld = to.ld = t->cols + t->rows + t->pad;
    suite_region_within(&d->in[0], &from, t->offset);
    return suite_region_lay(&d->out, &to, t->offset + t->cols, t->offset + rows * to.ld, false);
}

static bool build(suite_data *d, const suite_case *item, bool finite, suite_result *result)
{
    const suite_transpose_case *t = &item->transpose;
    int64_t e = t->element, bytes = t->rows * t->cols * e;
    d->problem = -1;
    if (!make_regions(d, t) || !suite_grow(&d->blocks[DENSE], bytes) ||
        !suite_grow(&d->blocks[TURNED], bytes)) {
        return suite_no_memory(result);
    }
    const char *dense = d->blocks[DENSE].data;
    char *turned = d->blocks[TURNED].data;
    generate(item, finite, bytes, d->blocks[DENSE].data);
    suite_region_scatter_into(t->neighbours ? &d->out : &d->in[0], &d->in[0], dense);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < t->cols; j++) {
            memcpy(turned + (j * t->rows + i) * e, dense + (i * t->cols + j) * e, (size_t)e);
        }
    }
    d->problem = item->problem;
    d->finite = finite;
    return true;
}

static bool judge(suite_state *state, const suite_data *d, const suite_case *item,
                  const suite_region *out, const unsigned char *image, suite_result *result)
{
    const suite_transpose_case *t = &item->transpose;
    int64_t e = t->element, count = t->rows * t->cols;
    char *dense = suite_grow(&state->dense, count * e);
    if (!dense) {
        return suite_no_memory(result);
    }
    suite_region_gather(out, image, dense);
    result->method = "exact";
    if (item->same_bits) {
        suite_digest(result, 0, dense, count, e);
    }
    const char *want = d->blocks[TURNED].data;
    if (memcmp(dense, want, (size_t)(count * e)) == 0) {
        return true;
    }
    int64_t i = 0;
    while (memcmp(dense + i * e, want + i * e, (size_t)e) == 0) {
        i++;
    }
    unsigned long long got_bits = 0, want_bits = 0;
    memcpy(&got_bits, dense + i * e, (size_t)(e < 8 ? e : 8));
    memcpy(&want_bits, want + i * e, (size_t)(e < 8 ? e : 8));
    return suite_fail(result, "element [%lld, %lld] is 0x%llx, expected 0x%llx",
                      (long long)(i / t->rows), (long long)(i % t->rows), got_bits, want_bits);
}

bool suite_run_transpose(suite_state *state, suite_runner *runner, const suite_case *item,
                         suite_result *result)
{
    const suite_transpose_case *t = &item->transpose;
    bool finite = item->how == ISO_VARIANT_VENDOR;
    suite_data *d = suite_data_of(state, item);
    if ((d->problem != item->problem || d->finite != finite) && !build(d, item, finite, result)) {
        return false;
    }
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.variant = item->how;
    args.element_bytes = t->element;
    args.rows = t->rows;
    args.cols = t->cols;
    args.ld_from = t->pad || t->neighbours ? d->in[0].ld : 0;
    suite_work work = {.kind = ISO_OP_TRANSPOSE, .args = &args, .in = {&d->in[0]}, .out = &d->out};
    if (!suite_point(runner, 0, &d->in[0], t->neighbours ? d->out.bytes : 0, &args.from, result)) {
        return false;
    }
    if (t->in_place) {
        args.to = args.from;
        args.ld_to = args.ld_from;
        work.out = &d->in[0];
    } else if (t->neighbours) { /* `from` comes and stays with what lies around `to` */
        args.to = (iso_operand){args.from.buffer, d->out.start};
        args.ld_to = d->out.ld;
    } else {
        if (!suite_point(runner, 1, &d->out, 0, &args.to, result)) {
            return false;
        }
        args.ld_to = t->pad ? d->out.ld : 0;
        work.inputs = 1;
    }
    const unsigned char *image;
    if (!suite_operate(runner, &work, &image, result)) {
        return false;
    }
    return !image || judge(state, d, item, work.out, image, result);
}

void suite_describe_transpose(const suite_case *item, json_t *result, json_t *shape, json_t *layout)
{
    const suite_transpose_case *t = &item->transpose;
    (void)result;
    tool_set_int(shape, "rows", t->rows);
    tool_set_int(shape, "cols", t->cols);
    tool_set_int(layout, "element_bytes", t->element);
    tool_set_int(layout, "pad", t->pad);
    tool_set_int(layout, "offset", t->offset);
    json_object_set_new(layout, "in_place", json_boolean(t->in_place));
    json_object_set_new(layout, "neighbours", json_boolean(t->neighbours));
}
