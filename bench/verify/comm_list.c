/* SPDX-License-Identifier: Apache-2.0 */
/* comm_list.c - the cases of `isomer verify --comm`. An id ends with the number of ranks: sums that
 * do not depend on it have the same id otherwise, and the same data. */
#include "bench/verify/verify.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

const char *const verify_comm_ways[COMM_WAYS] = {
    [COMM_ONCE] = "once",  [COMM_AGAIN] = "again", [COMM_STREAMS] = "streams",
    [COMM_TWO] = "two",    [COMM_GROUP] = "group", [COMM_THREAD] = "thread",
    [COMM_AFTER] = "after"};

static const iso_dtype types[] = {ISO_F32, ISO_F64, ISO_F16, ISO_BF16, ISO_I32, ISO_I64};
enum { TYPES = 6, SMALL = 257, UNEVEN = 1003, LARGE = 100004, THRESHOLD = 65536 /* bytes */ };

static bool sums(const comm_shape *shape)
{
    return shape->op == ISO_COMM_ALL_REDUCE || shape->op == ISO_COMM_REDUCE_SCATTER;
}

static void describe(const bench_case *item, json_t *shape, json_t *layout)
{
    const comm_shape *c = &item->comm;
    json_object_set_new(shape, "ranks", json_integer(c->ranks));
    json_object_set_new(shape, "count", json_integer(c->count));
    if (sums(c)) {
        json_object_set_new(shape, "reduction", json_string(iso_reduce_op_name(c->reduce)));
    }
    json_object_set_new(layout, "offset", json_integer(c->offset));
    json_object_set_new(layout, "in_place", json_boolean(c->in_place));
    json_object_set_new(layout, "way", json_string(verify_comm_ways[c->way]));
}

const bench_op verify_comm = {.name = "comm",
                              .verified = "comm",
                              .title = "Communicators",
                              .size = "elements",
                              .kind_member = "call",
                              .describe = describe};

/* ---- ids ------------------------------------------------------------------------------------- */

bool verify_comm_spreads(const bench_case *item)
{
    return sums(&item->comm) && item->fill == ARITH_UNIFORM && arith_is_float(item->dtype);
}

static void write_id(const bench_case *item, char *text, size_t room)
{
    const comm_shape *c = &item->comm;
    char part[48] = "";
    snprintf(text, room, "%s", item->kind);
    size_t used = strlen(text);
    if (sums(c)) {
        used += (size_t)snprintf(text + used, room - used, "/%s", iso_reduce_op_name(c->reduce));
    }
    if (c->pair) {
        snprintf(part, sizeof part, "/%dto%d", c->sender, c->peer);
    } else if (c->op == ISO_COMM_BROADCAST) {
        snprintf(part, sizeof part, "/from%d", c->peer);
    }
    if (item->type[0] != '\0') {
        used += (size_t)snprintf(text + used, room - used, "/%s/n%lld", item->type,
                                 (long long)c->count);
    }
    snprintf(text + used, room - used, "%s/off%d%s%s/%s/%s", part, c->offset,
             c->in_place ? "/inplace" : "", c->automatic ? "/auto" : "",
             c->special                  ? "special"
             : verify_comm_spreads(item) ? "spread"
                                         : arith_fill_name(item->fill),
             verify_comm_ways[c->way]);
}

/* `fixed` sums for every rank do not depend on the number of ranks. */
static bool is_same_for_all(const comm_shape *c)
{
    return c->sum == ISO_COMM_SUM_FIXED && c->op == ISO_COMM_ALL_REDUCE;
}

static void add(verify_list *list, const bench_case *given)
{
    char id[BENCH_ID_MAX - 32], after[BENCH_ID_MAX - 16];
    bench_case item = *given;
    item.same_bits = sums(&item.comm) && item.comm.sum != ISO_COMM_SUM_VENDOR;
    snprintf(item.variant, sizeof item.variant, "%s",
             sums(&item.comm) ? iso_comm_sum_name(item.comm.sum) : "move");
    write_id(&item, id, sizeof id);
    snprintf(after, sizeof after, "%s/r%d", id, item.comm.ranks);
    int32_t before = list->count;
    verify_list_add(list, &item, NULL, 0, after);
    if (list->count > before) {
        bench_case *made = &list->cases[before];
        if (is_same_for_all(&made->comm)) {
            made->seed = XXH64(id, strlen(id), list->seed);
        }
        made->problem = (int32_t)(XXH64(id, strlen(id), 0) >> 34);
    }
}

static bench_case start(iso_comm_op op, iso_dtype dtype, int32_t ranks, int64_t count)
{
    const bool ring = op == ISO_COMM_SEND;
    bench_case item = verify_case(&verify_comm, dtype, ring ? "ring" : iso_comm_op_name(op));
    item.fill = ARITH_BITS;
    item.comm = (comm_shape){.op = op, .ranks = ranks, .count = count, .sum = ISO_COMM_SUM_VENDOR};
    return item;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool is_defined(iso_reduce_op op, iso_comm_sum sum, iso_dtype dtype)
{
    if (sum == ISO_COMM_SUM_FIXED) {
        return op == ISO_SUM && arith_is_float(dtype);
    }
    return arith_is_float(dtype) ? op != ISO_XOR : op != ISO_MEAN;
}

/* Sums of many sizes: none, one, around the size at which the core changes its algorithm, large. */
static void sizes(verify_list *list, const bench_case *model)
{
    /* reduce_scatter has so many for each rank. A fixed sum has many terms and one algorithm. */
    const bool fixed = model->comm.sum == ISO_COMM_SUM_FIXED;
    const int64_t parts = model->comm.op == ISO_COMM_REDUCE_SCATTER ? model->comm.ranks : 1;
    const int64_t edge = THRESHOLD / model->element / parts;
    const int64_t large = (fixed ? LARGE / 8 : LARGE) / parts;
    const int64_t counts[] = {0, 1, 2, edge, edge + 1, large, 10 * large};
    bench_case item = *model;
    for (int i = 0; i < COUNT(counts) - !list->full; i++) {
        if (fixed && (i == 3 || i == 4)) {
            continue;
        }
        item.comm.count = counts[i];
        item.comm.in_place = i % 2 != 0;
        item.comm.offset = i % 3;
        add(list, &item);
    }
}

static void sum_cases(verify_list *list, iso_comm_op op, iso_comm_sum sum, iso_dtype dtype,
                      int32_t ranks)
{
    static const iso_reduce_op reductions[] = {ISO_SUM, ISO_PRODUCT, ISO_MIN,
                                               ISO_MAX, ISO_MEAN,    ISO_XOR};
    for (int i = 0; i < COUNT(reductions); i++) {
        bench_case item = start(op, dtype, ranks, UNEVEN);
        const bool bits = sum != ISO_COMM_SUM_VENDOR;
        if (!is_defined(reductions[i], sum, dtype)) {
            continue;
        }
        item.fill = ARITH_UNIFORM;
        item.comm.sum = sum;
        item.comm.reduce = reductions[i];
        item.comm.offset = 1;
        add(list, &item);
        if (reductions[i] == ISO_SUM) {
            sizes(list, &item);
        }
        item.comm.count = SMALL;
        item.comm.in_place = true;
        item.comm.offset = 0;
        item.fill = bits && arith_is_float(dtype) ? ARITH_MIXED : ARITH_UNIFORM;
        add(list, &item);
        if (bits) {
            item.comm.in_place = false;
            item.comm.special = true;
            add(list, &item);
        }
    }
}

/* ---- moves ----------------------------------------------------------------------------------- */

static void move_cases(verify_list *list, iso_comm_op op, iso_dtype dtype, int32_t ranks)
{
    const int64_t edge = THRESHOLD / iso_dtype_size(dtype);
    const int64_t counts[] = {UNEVEN, SMALL, 0, 1, edge + 1, LARGE};
    const bool wide = dtype == ISO_F32 || list->full;
    for (int i = 0; i < (wide ? COUNT(counts) : 2); i++) {
        bench_case item = start(op, dtype, ranks, counts[i]);
        item.comm.offset = i % 2 == 0;
        item.comm.in_place = i % 2 != 0 && op != ISO_COMM_ALL_TO_ALL && op != ISO_COMM_SEND;
        item.comm.peer = op == ISO_COMM_BROADCAST ? i % ranks : 0;
        add(list, &item);
    }
}

/* Every root, and every pair of ranks; the types take turns. */
static void peer_cases(verify_list *list, int32_t ranks)
{
    for (int32_t i = 0; i < ranks; i++) {
        bench_case item = start(ISO_COMM_BROADCAST, types[i % TYPES], ranks, SMALL + i);
        item.comm.peer = i;
        add(list, &item);
    }
    for (int32_t i = 0; i < ranks * ranks; i++) {
        const int32_t from = i / ranks, to = i % ranks;
        if (from == to) {
            continue;
        }
        bench_case item = start(ISO_COMM_SEND, types[i % TYPES], ranks, SMALL + i);
        snprintf(item.kind, sizeof item.kind, "send");
        item.comm.pair = true;
        item.comm.sender = from;
        item.comm.peer = to;
        item.comm.offset = i % 2;
        add(list, &item);
    }
}

/* ---- the order of calls ---------------------------------------------------------------------- */

static void way_cases(verify_list *list, const bench_case *model)
{
    bench_case item = *model;
    const bool one = item.comm.sum != ISO_COMM_SUM_VENDOR; /* a group has one of these for a rank */
    for (comm_way way = COMM_AGAIN; way <= COMM_THREAD; way++) {
        if (way == COMM_GROUP && one) {
            continue;
        }
        item.comm.way = way;
        add(list, &item);
    }
}

static void order_cases(verify_list *list, int32_t ranks)
{
    static const struct {
        iso_comm_op op;
        iso_comm_sum sum;
        iso_dtype dtype;
        int64_t count;
    } calls[] = {{ISO_COMM_ALL_REDUCE, ISO_COMM_SUM_VENDOR, ISO_I32, 4099},
                 {ISO_COMM_ALL_REDUCE, ISO_COMM_SUM_ORDERED, ISO_F32, 4099},
                 {ISO_COMM_ALL_REDUCE, ISO_COMM_SUM_ORDERED, ISO_F32, 20011},
                 {ISO_COMM_ALL_REDUCE, ISO_COMM_SUM_FIXED, ISO_F64, 1021},
                 {ISO_COMM_REDUCE_SCATTER, ISO_COMM_SUM_VENDOR, ISO_I64, 509},
                 {ISO_COMM_REDUCE_SCATTER, ISO_COMM_SUM_ORDERED, ISO_F32, 509},
                 {ISO_COMM_ALL_GATHER, ISO_COMM_SUM_VENDOR, ISO_F64, 2003},
                 {ISO_COMM_ALL_TO_ALL, ISO_COMM_SUM_VENDOR, ISO_F32, 1009},
                 {ISO_COMM_BROADCAST, ISO_COMM_SUM_VENDOR, ISO_F32, 8191},
                 {ISO_COMM_SEND, ISO_COMM_SUM_VENDOR, ISO_I64, 4093}};
    for (int i = 0; i < COUNT(calls); i++) {
        bench_case item = start(calls[i].op, calls[i].dtype, ranks, calls[i].count);
        item.comm.sum = calls[i].sum;
        item.comm.peer = calls[i].op == ISO_COMM_BROADCAST ? ranks / 2 : 0;
        if (sums(&item.comm)) {
            item.comm.reduce = ISO_SUM;
            item.fill = ARITH_UNIFORM;
        }
        if (calls[i].op != ISO_COMM_SEND || ranks > 1) {
            way_cases(list, &item);
        }
    }
    bench_case barrier = start(ISO_COMM_BARRIER, 0, ranks, 0);
    for (comm_way way = COMM_ONCE; way < COMM_WAYS; way++) {
        barrier.comm.way = way;
        add(list, &barrier);
    }
}

void verify_comm_cases(verify_list *list, int32_t ranks)
{
    static const iso_comm_op moves[] = {ISO_COMM_BROADCAST, ISO_COMM_ALL_GATHER,
                                        ISO_COMM_ALL_TO_ALL, ISO_COMM_SEND};
    for (iso_comm_op op = ISO_COMM_ALL_REDUCE; op <= ISO_COMM_REDUCE_SCATTER; op++) {
        for (iso_comm_sum sum = ISO_COMM_SUM_VENDOR; sum <= ISO_COMM_SUM_FIXED; sum++) {
            for (int t = 0; t < TYPES; t++) {
                sum_cases(list, op, sum, types[t], ranks);
            }
        }
        bench_case item = start(op, ISO_F32, ranks, UNEVEN);
        item.fill = ARITH_UNIFORM;
        item.comm.sum = ISO_COMM_SUM_ORDERED;
        item.comm.reduce = ISO_SUM;
        item.comm.automatic = true;
        add(list, &item);
    }
    for (int i = 0; i < COUNT(moves); i++) {
        for (int t = 0; t < TYPES && (moves[i] != ISO_COMM_SEND || ranks > 1); t++) {
            move_cases(list, moves[i], types[t], ranks);
        }
    }
    peer_cases(list, ranks);
    order_cases(list, ranks);
}
