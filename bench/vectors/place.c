/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - where the operands of a case lie. The result does not depend on it: an implementation
 * with buffers finds its own faults there, and others ignore it. */
#include "bench/vectors/draw.h"
#include "bench/vectors/vectors.h"

enum { SOME = 8, DEEP = 10000 };

static void draw_batch(vectors_place *place, vectors_source *s, const gemm_shape *g)
{
    place->batch = g->k > DEEP || vectors_once_in(s, 2) ? 1 : 2 + vectors_draw(s, 3);
    place->member = vectors_once_in(s, 2) ? place->batch - 1 : vectors_draw(s, place->batch);
    place->apart = place->batch > 1 ? vectors_draw(s, 4) : 0;
}

/* Makes the result overwrite an operand of the same size. */
static void draw_on(vectors_place *place, vectors_source *s, int32_t operands)
{
    int last = place->count - 1;
    place->on = vectors_once_in(s, 2) ? (int32_t)vectors_draw(s, operands) : -1;
    if (place->on >= 0) {
        place->offset[last] = place->offset[place->on];
        place->gap[last] = place->gap[place->on];
    }
}

void vectors_place_of(const bench_case *item, vectors_place *out)
{
    vectors_source s = {arith_mix(item->seed, 0x91ace), 0};
    bool is_map = item->op == &bench_map, is_reduction = item->op == &bench_reduce;
    bool two = is_map ? arith_map_has_y(item->map.op)
                      : item->op == &bench_gemm || item->reduce.op == ISO_DOT;
    *out = (vectors_place){.on = -1, .batch = 1};
    if (!vectors_once_in(&s, SOME)) {
        return;
    }
    out->count = item->op != &bench_transpose && two ? 3 : 2;
    out->rows = !is_map && !(is_reduction && item->reduce.axis == ISO_AXIS_ALL);
    for (int i = 0; i < out->count; i++) {
        out->offset[i] = vectors_draw(&s, 5);
        out->gap[i] = out->rows ? vectors_draw(&s, 4) : 0;
    }
    if (is_reduction) {
        out->gap[out->count - 1] = 0; /* results have no rows */
    } else if (item->op == &bench_gemm) {
        draw_batch(out, &s, &item->gemm);
    } else if (is_map || item->transpose.rows == item->transpose.cols) {
        draw_on(out, &s, out->count - 1);
    }
}
