/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - the row of maps. `bench` measures the STREAM kernels with them. STREAM also has a dot
 * product, which reduce.c computes. Ids and documents of `bench` call maps "stream", because older
 * recorded results use that name.
 */
#include "bench/tool.h"
#include "bench/verify/verify.h"
#include "common/dtype.h"

#include <stdio.h>
#include <string.h>

/* ---- cases ----------------------------------------------------------------------------------- */

static void needs(const bench_case *item, bench_needs *out)
{
    out->inputs = arith_map_has_y(item->map.op) ? 2 : 1;
    out->bytes[0] = out->bytes[1] = item->map.n * item->element;
    out->results = item->map.n;
    out->result_type = item->map.op == ISO_MAP_COPY ? (iso_dtype)0 : item->dtype;
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    iso_map_args *args = &all->map;
    *args = (iso_map_args)ISO_MAP_ARGS_INIT;
    args->op = item->map.op;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->n = item->map.n;
    args->steps = item->map.steps;
    args->alpha = item->map.alpha;
    args->beta = item->map.beta;
    return ISO_OP_MAP;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    args->map.x = inputs[0];
    if (arith_map_has_y(item->map.op)) {
        args->map.y = inputs[1];
    }
    args->map.z = result;
}

/* ---- measured cases -------------------------------------------------------------------------- */

/* Integers have only three maps: copy, add and multiply. */
static bool set_kind(bench_case *item, const char *kind)
{
    iso_map_op *op = &item->map.op;
    if (strcmp(kind, "dot") == 0) {
        item->by = &bench_reduce;
        return bench_reduce.set_kind(item, kind);
    }
    return iso_map_op_parse(kind, op) == ISO_OK && item->how != ISO_VARIANT_VENDOR &&
           item->how != ISO_VARIANT_PARTIALS &&
           (arith_is_float(item->dtype) || *op == ISO_MAP_COPY || *op == ISO_MAP_ADD ||
            *op == ISO_MAP_MULTIPLY);
}

/* These factors make the chain a slow contraction: elements never grow, and after thousands of
 * steps they still differ from each other. */
static void set_size(bench_case *item, const bench_size *size)
{
    bool chain = item->map.op == ISO_MAP_CHAIN;
    item->map.n = size->of[0];
    item->map.steps = chain ? size->steps : 0;
    item->map.alpha = chain ? 1 - 0x1p-11 : 0.4;
    item->map.beta = chain ? 0x1p-12 : 0;
}

static void shape(const bench_case *item, bench_shape *out)
{
    bool chain = item->by == &bench_map && item->map.op == ISO_MAP_CHAIN;
    int64_t n = item->by == &bench_map ? item->map.n : item->reduce.cols;
    *out = (bench_shape){.names = {"elements", "steps"},
                         .sizes = {n, chain ? item->map.steps : 0},
                         .count = chain ? 2 : 1,
                         .elements = (double)n};
}

/* ---- conformance cases ----------------------------------------------------------------------- */

static bool lay(const bench_case *item, verify_problem *p)
{
    const map_shape *m = &item->map;
    const int32_t offsets[] = {m->offset_x, m->offset_y, m->offset_z};
    bool on_x = m->place == MAP_ON_X || m->place == MAP_ALL, on_y = m->place == MAP_ON_Y;
    const bool ones[] = {!on_x, !on_y, false};
    for (int i = 0; i < 3; i++) {
        verify_region made = {.element = item->element,
                              .rows = 1,
                              .cols = m->n,
                              .batch = 1,
                              .offset = offsets[i],
                              .ones = ones[i]};
        if (!verify_region_lay(&p->regions[i], &made)) {
            return false;
        }
    }
    if (m->place == MAP_TWICE || m->place == MAP_ALL) {
        p->lies[1] = p->lies[0];
    }
    if (on_x || on_y) {
        p->lies[2] = p->lies[on_y];
    }
    return true;
}

static const char *place_name(map_place place)
{
    static const char *const names[] = {"apart", "onx", "ony", "twice", "all"};
    return names[place];
}

static bench_case start(iso_map_op op, iso_dtype dtype)
{
    bench_case item = verify_case(&bench_map, dtype, iso_map_op_name(op));
    item.map.op = op;
    return item;
}

static void add(verify_list *list, bench_case *item)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED};
    const map_shape *m = &item->map;
    char after[BENCH_ID_MAX - 16], factors[48] = "";
    if (m->op == ISO_MAP_CHAIN) {
        snprintf(factors, sizeof factors, "s%lld/a%gb%g/", (long long)m->steps, m->alpha, m->beta);
    } else if (m->op == ISO_MAP_SCALE || m->op == ISO_MAP_TRIAD) {
        snprintf(factors, sizeof factors, "a%g/", m->alpha);
    }
    snprintf(after, sizeof after, "%s/%s/n%lld/%soff%d.%d.%d/%s/%s", item->type,
             iso_map_op_name(m->op), (long long)m->n, factors, m->offset_x, m->offset_y,
             m->offset_z, place_name(m->place), arith_fill_name(item->fill));
    verify_list_add(list, item, variants, COUNT(variants), after);
}

/* The fills that test this operation on this type, the plain one first. */
static arith_fill fill_of(iso_map_op op, bool is_float, int turn)
{
    static const arith_fill ints[] = {ARITH_UNIFORM, ARITH_EXTREMES};
    static const arith_fill floats[] = {ARITH_UNIFORM, ARITH_MIXED, ARITH_NAN,  ARITH_SUBNORMAL,
                                        ARITH_HUGE,    ARITH_INF,   ARITH_ZEROS};
    if (op == ISO_MAP_COPY) {
        return ARITH_BITS;
    }
    return is_float ? floats[turn % COUNT(floats)] : ints[turn % COUNT(ints)];
}

/* No type can represent 0.1 or 0.4. A kernel may have a shortcut for 0 and 1. */
static void set_factors(map_shape *m, int turn)
{
    static const double alphas[] = {0.4, -2.5, 1, 0.1, 0};
    static const double growth[] = {0.999, -1.01, 1.5, 0.1}, added[] = {0.001, -0.1, 0, 0.25};
    static const int64_t steps[] = {3, 1, 40, 0, 17, 2, 101};
    bool chain = m->op == ISO_MAP_CHAIN;
    m->alpha = chain ? growth[turn % COUNT(growth)] : alphas[turn % COUNT(alphas)];
    m->beta = chain ? added[turn % COUNT(added)] : 0;
    m->steps = chain ? steps[turn % COUNT(steps)] : 0;
    if (m->n > 10000 && m->steps > 3) {
        m->steps = 3;
    }
}

static void set_place(map_shape *m, int turn)
{
    static const int offsets[][3] = {{0, 0, 0}, {1, 1, 1}, {3, 0, 0}, {0, 1, 0},
                                     {0, 0, 5}, {4, 4, 4}, {2, 2, 2}, {16, 8, 1}};
    static const map_place with_y[] = {MAP_APART, MAP_ON_X,  MAP_APART, MAP_ON_Y,
                                       MAP_TWICE, MAP_APART, MAP_ALL};
    static const map_place without[] = {MAP_APART, MAP_ON_X, MAP_APART};
    const int *offset = offsets[turn % COUNT(offsets)];
    m->place =
        arith_map_has_y(m->op) ? with_y[turn % COUNT(with_y)] : without[turn % COUNT(without)];
    m->offset_x = offset[0];
    m->offset_y = offset[1];
    m->offset_z = offset[2];
    if (m->place == MAP_ON_X || m->place == MAP_ALL) {
        m->offset_z = m->offset_x;
    }
    if (m->place == MAP_ON_Y) {
        m->offset_z = m->offset_y;
    }
    if (m->place == MAP_TWICE || m->place == MAP_ALL || !arith_map_has_y(m->op)) {
        m->offset_y = m->offset_x;
    }
}

static void one(verify_list *list, iso_map_op op, iso_dtype dtype, bool full)
{
    static const int64_t sizes[] = {1,   31,  1021, 256, 7,   64,  2,    129, 33, 1024, 63,  17,
                                    4,   127, 513,  3,   191, 255, 4097, 9,   65, 2048, 193, 15,
                                    257, 8,   511,  5,   192, 128, 4095, 16,  32, 1025};
    static const int64_t large[] = {100003, 65536, 262147, 99991};
    bench_case item = start(op, dtype);
    int turn = (int)op * 5 + (int)dtype * 3, rounds = full ? 2 * COUNT(sizes) : 12;
    for (int i = 0; i < rounds; i++) {
        int t = turn + i + (full ? 13 : 0);
        bool last = i + 1 == rounds;
        item.map.n = last ? large[turn % COUNT(large)] : sizes[t % COUNT(sizes)];
        item.fill = fill_of(op, arith_is_float(dtype), last ? 0 : i + t / COUNT(sizes));
        set_place(&item.map, t + t / COUNT(sizes));
        set_factors(&item.map, last ? 0 : t + i / 7);
        add(list, &item);
    }
    if (full) {
        return;
    }
    item.map.n = 0;
    add(list, &item);
}

/* Factors whose rounding to f32 is special: they become subnormal, overflow or become 0. */
static void factors(verify_list *list, iso_map_op op, iso_dtype dtype)
{
    static const double some[] = {1e-310, 1e-40, 1e300, -1e300};
    bench_case item = start(op, dtype);
    item.map.n = 33;
    for (int i = 0; i < COUNT(some); i++) {
        item.map.alpha = some[i];
        item.map.beta = op == ISO_MAP_CHAIN ? some[COUNT(some) - 1 - i] : 0;
        item.map.steps = op == ISO_MAP_CHAIN ? 2 : 0;
        add(list, &item);
    }
}

/* Multiplies zeros of both signs by a negative factor, in whole blocks of a kernel and in the rest.
 * Code that adds 0 while it converts to a shorter type turns -0 into +0. */
static void signs(verify_list *list, iso_map_op op, iso_dtype dtype)
{
    static const int64_t sizes[] = {33, 16411};
    bench_case item = start(op, dtype);
    item.fill = ARITH_ZEROS;
    item.map.alpha = -1;
    if (op == ISO_MAP_CHAIN) {
        item.map.beta = -0.0;
        item.map.steps = 1;
    }
    for (int i = 0; i < COUNT(sizes); i++) {
        item.map.n = sizes[i];
        add(list, &item);
    }
}

/* Arrays larger than the caches, because kernels may store them with instructions that bypass the
 * cache. */
static void large(verify_list *list, iso_map_op op, iso_dtype dtype)
{
    bench_case item = start(op, dtype);
    item.map.n = (48 << 20) / iso_dtype_size(dtype) + 5;
    item.fill = fill_of(op, arith_is_float(dtype), 0);
    /* Three arrays, with or without offsets. */
    set_place(&item.map, ((int)op + (int)dtype) % 2 == 0 ? 56 : 47);
    set_factors(&item.map, 0);
    add(list, &item);
}

static void cases(verify_list *list, bool full)
{
    for (iso_dtype dtype = ISO_F16; dtype_get(dtype); dtype++) {
        for (iso_map_op op = ISO_MAP_COPY; op <= ISO_MAP_CHAIN; op++) {
            bool real = arith_map_has_alpha(op);
            if (real && !arith_is_float(dtype)) {
                continue;
            }
            one(list, op, dtype, false);
            if (real) {
                factors(list, op, dtype);
            }
            if (arith_is_float(dtype) && op != ISO_MAP_COPY) {
                signs(list, op, dtype);
            }
            if (full) {
                one(list, op, dtype, true);
                large(list, op, dtype);
            }
        }
    }
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const map_shape *m = &item->map;
    tool_set_int(sizes, "n", m->n);
    if (m->op == ISO_MAP_CHAIN) {
        tool_set_int(sizes, "steps", m->steps);
    }
    tool_set_text(layout, "place", place_name(m->place));
    tool_set_int(layout, "offset_x", m->offset_x);
    tool_set_int(layout, "offset_y", m->offset_y);
    tool_set_int(layout, "offset_z", m->offset_z);
    tool_set_number(layout, "alpha", m->alpha);
    tool_set_number(layout, "beta", m->beta);
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const kinds[] = {"dot",      "copy",  "scale", "add",
                                    "multiply", "triad", "chain", NULL};

const bench_op bench_map = {
    .name = "map",
    .measured = "stream",
    .verified = "map",
    .title = "Reading and writing",
    .size = "elements",
    .computes = "chain",
    .computes_title = "Chained multiply-adds",
    .kinds = kinds,
    .variants = bench_partial_variants,
    .types = bench_all_types,
    .usual_kinds = "copy,scale,add,triad,dot",
    .usual_variants = "tiled",
    .usual_types = "f32,f64",
    .counts = 1 << 0 | 1 << 1,
    .kind_member = "map",
    .needs = needs,
    .arguments = arguments,
    .operands = operands,
    .check = check_map,
    .set_kind = set_kind,
    .set_size = set_size,
    .shape = shape,
    .same_in_variants = true,
    .cases = cases,
    .lay = lay,
    .companies = map_companies,
    .view = map_view,
    .describe = describe,
};
