/* SPDX-License-Identifier: Apache-2.0 */
/* script_graph.c - a graph of fills, copies, a map and a read: nothing runs while it is recorded,
 * and each launch does what the calls would have done, on whatever stream. */
#include "bench/verify/script.h"

enum { FILLS = 64, LAUNCHES = 3, BYTES = 4096 };

/* Each copy must read what the fill before it wrote. Then a number grows by another one. */
static bool record(stage *s, uint32_t *got)
{
    static const iso_variant own[] = {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE};
    iso_map_args add = ISO_MAP_ARGS_INIT;
    add.op = ISO_MAP_ADD;
    add.dtype = ISO_I32;
    add.n = 1;
    add.x = add.z = at(s->b, BYTES);
    add.y = at(s->b, 4);
    if (!script_choose(s, ISO_OP_MAP, &add, &add.variant, own, 2)) {
        return false;
    }
    TRY(iso_graph_begin(s->streams[0]));
    REFUSED(iso_stream_sync(s->streams[0]), ISO_INVALID);
    for (uint32_t i = 0; i < FILLS; i++) {
        TRY(iso_fill(s->streams[0], at(s->a, 0), &i, 4, BYTES));
        TRY(iso_copy(s->streams[0], at(s->b, i * 4), at(s->a, BYTES - 4 - i * 4), 4));
    }
    TRY(iso_map(s->streams[0], &add));
    TRY(iso_read(s->streams[0], got, at(s->b, 0), FILLS * 4));
    return true;
}

bool script_graph(stage *s)
{
    const uint32_t zero = 0;
    uint32_t got[FILLS] = {0}, sum = 1;
    iso_graph graph = {0};
    TRY(iso_fill(s->streams[0], at(s->b, 0), &zero, 4, 2 * BYTES));
    if (!record(s, got)) {
        return false;
    }
    TRY(iso_graph_end(s->streams[0], &graph));
    TRY(iso_read(s->streams[0], &sum, at(s->b, BYTES), 4));
    TRY(iso_stream_sync(s->streams[0]));
    if (sum != 0 || got[FILLS - 1] != 0) {
        return check_fail(s->result, "work ran while the stream recorded it");
    }
    for (int i = 0; i < LAUNCHES; i++) {
        TRY(iso_graph_launch(graph, s->streams[i]));
    }
    TRY(iso_stream_sync(s->streams[LAUNCHES - 1]));
    for (uint32_t i = 0; i < FILLS; i++) {
        if (got[i] != i) {
            return check_fail(s->result, "step %u of a graph saw %u, expected %u", i, got[i], i);
        }
    }
    TRY(iso_read(s->streams[LAUNCHES - 1], &sum, at(s->b, BYTES), 4));
    TRY(iso_stream_sync(s->streams[LAUNCHES - 1]));
    TRY(iso_graph_destroy(graph));
    REFUSED(iso_graph_launch(graph, s->streams[0]), ISO_INVALID);
    return sum == LAUNCHES ||
           check_fail(s->result, "%d launches of a graph that adds 1 gave %u", (int)LAUNCHES, sum);
}
