/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps: their data, what is expected by docs/arithmetic.md, and the judgement, which is of
 * bits in every variant. */
#include "bench/suite/internal.h"
#include "bench/tool.h"

#include <stdlib.h>
#include <string.h>

enum { DENSE_X, DENSE_Y, EXPECTED };

static bool has_y(const suite_case *item)
{
    return arith_map_has_y(item->map.op);
}

static iso_map_args args_of(const suite_case *item)
{
    const suite_map_case *m = &item->map;
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = m->op;
    args.dtype = item->dtype;
    args.variant = item->how;
    args.n = m->n;
    args.steps = m->steps;
    args.alpha = m->alpha;
    args.beta = m->beta;
    return args;
}

static bool build(suite_data *d, const suite_case *item, suite_result *result)
{
    const suite_map_case *m = &item->map;
    int64_t size = iso_dtype_size(item->dtype), bytes = m->n * size;
    bool on_x = m->place == SUITE_ON_X || m->place == SUITE_ALL;
    bool x_twice = m->place == SUITE_TWICE || m->place == SUITE_ALL;
    d->problem = -1;
    if (!suite_region_init(&d->in[0], size, 1, m->n, 0, m->offset_x, 1, 0, !on_x) ||
        !suite_region_init(&d->in[1], size, 1, m->n, 0, m->offset_y, 1, 0,
                           m->place != SUITE_ON_Y) ||
        !suite_region_init(&d->out, size, 1, m->n, 0, m->offset_z, 1, 0, false) ||
        !suite_grow(&d->blocks[DENSE_X], bytes) || !suite_grow(&d->blocks[DENSE_Y], bytes) ||
        !suite_grow(&d->blocks[EXPECTED], bytes)) {
        return suite_no_memory(result);
    }
    arith_generate(item->dtype, item->fill, item->seed + 1, m->n, d->blocks[DENSE_X].data);
    suite_region_scatter(&d->in[0], d->blocks[DENSE_X].data);
    if (has_y(item) && !x_twice) {
        arith_generate(item->dtype, item->fill, item->seed + 2, m->n, d->blocks[DENSE_Y].data);
        suite_region_scatter(&d->in[1], d->blocks[DENSE_Y].data);
    }
    iso_map_args args = args_of(item);
    arith_map(&args, d->blocks[DENSE_X].data,
              x_twice ? d->blocks[DENSE_X].data : d->blocks[DENSE_Y].data, d->blocks[EXPECTED].data,
              m->n);
    d->problem = item->problem;
    return true;
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool judge(suite_state *state, const suite_data *d, const suite_case *item,
                  const suite_region *out, const unsigned char *image, suite_result *result)
{
    int64_t n = item->map.n, size = iso_dtype_size(item->dtype);
    bool copy = item->map.op == ISO_MAP_COPY;
    char *dense = suite_grow(&state->dense, n * size);
    const char *want = d->blocks[EXPECTED].data;
    if (!dense) {
        return suite_no_memory(result);
    }
    suite_region_gather(out, image, dense);
    result->method = "bits";
    if (!copy && !suite_same_bits(result, item->dtype, dense, want, 1, 1, n)) {
        return false;
    }
    for (int64_t i = 0; copy && i < n * size; i++) {
        if (dense[i] != want[i]) {
            return suite_fail(result, "byte %lld of element [%lld] is 0x%02x, expected 0x%02x",
                              (long long)(i % size), (long long)(i / size),
                              (unsigned)(unsigned char)dense[i], (unsigned)(unsigned char)want[i]);
        }
    }
    suite_digest(result, copy ? (iso_dtype)0 : item->dtype, dense, n, size);
    return true;
}

/* Which region each operand lies in; those of `in` come first in the slots, then the output. */
static void arrange(suite_data *d, const suite_case *item, suite_work *work,
                    const suite_region *operands[3])
{
    suite_place place = item->map.place;
    operands[0] = &d->in[0];
    operands[1] = place == SUITE_TWICE || place == SUITE_ALL ? &d->in[0] : &d->in[1];
    operands[2] = place == SUITE_ON_X || place == SUITE_ALL ? &d->in[0]
                  : place == SUITE_ON_Y                     ? &d->in[1]
                                                            : &d->out;
    work->out = operands[2];
    if (operands[0] != work->out) {
        work->in[work->inputs++] = operands[0];
    }
    if (has_y(item) && operands[1] != work->out && operands[1] != operands[0]) {
        work->in[work->inputs++] = operands[1];
    }
}

static bool point(suite_runner *runner, const suite_work *work, const suite_region *region,
                  iso_operand *operand, suite_result *result)
{
    int slot = 0;
    while (slot < work->inputs && work->in[slot] != region) {
        slot++;
    }
    return suite_point(runner, slot, region, 0, operand, result);
}

bool suite_run_map(suite_state *state, suite_runner *runner, const suite_case *item,
                   suite_result *result)
{
    suite_data *d = suite_data_of(state, item);
    if (d->problem != item->problem && !build(d, item, result)) {
        return false;
    }
    iso_map_args args = args_of(item);
    suite_work work = {.kind = ISO_OP_MAP, .args = &args};
    const suite_region *operands[3];
    arrange(d, item, &work, operands);
    if (!point(runner, &work, operands[0], &args.x, result) ||
        (has_y(item) && !point(runner, &work, operands[1], &args.y, result)) ||
        !point(runner, &work, operands[2], &args.z, result)) {
        return false;
    }
    const unsigned char *image;
    if (!suite_operate(runner, &work, &image, result)) {
        return false;
    }
    return !image || judge(state, d, item, work.out, image, result);
}

void suite_describe_map(const suite_case *item, json_t *result, json_t *shape, json_t *layout)
{
    const suite_map_case *m = &item->map;
    tool_set_text(result, "map", iso_map_op_name(m->op));
    tool_set_int(shape, "n", m->n);
    if (m->op == ISO_MAP_CHAIN) {
        tool_set_int(shape, "steps", m->steps);
    }
    tool_set_text(layout, "place", suite_place_name(m->place));
    tool_set_int(layout, "offset_x", m->offset_x);
    tool_set_int(layout, "offset_y", m->offset_y);
    tool_set_int(layout, "offset_z", m->offset_z);
    tool_set_number(layout, "alpha", m->alpha);
    tool_set_number(layout, "beta", m->beta);
}
