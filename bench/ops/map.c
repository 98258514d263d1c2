/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - the row of maps. `bench` measures the STREAM kernels with them. STREAM also has a dot
 * product, which reduce.c computes. Ids and documents of `bench` call maps "stream", because older
 * recorded results use that name.
 */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <stdio.h>
#include <string.h>

/* ---- cases ----------------------------------------------------------------------------------- */

static int64_t rows_of(const map_shape *m)
{
    return m->rows ? m->rows : 1;
}

/* The elements of an operand. */
static int64_t elements_of(const map_shape *m, iso_spread spread)
{
    return (spread & ISO_SPREAD_COLUMN ? 1 : m->n) * (spread & ISO_SPREAD_ROW ? 1 : rows_of(m));
}

static void needs(const bench_case *item, bench_needs *out)
{
    const map_shape *m = &item->map;
    out->inputs = arith_map_has_y(m->op) ? 2 : 1;
    out->bytes[0] = elements_of(m, m->spread_x) * item->element;
    out->bytes[1] = elements_of(m, m->spread_y) * item->element;
    out->results = m->n * rows_of(m);
    out->result_type = m->op == ISO_MAP_COPY ? (iso_dtype)0 : m->dtype_z ? m->dtype_z : item->dtype;
}

/* The steps of x, y and z: those that are given on another operand are the same as there. */
typedef struct map_steps {
    int64_t ld, inc;
} map_steps;

static map_steps steps_of(const map_shape *m, int operand)
{
    static const int64_t incs[] = {2, 1, 3}, pads[] = {3, 0, 5};
    bool on_x = m->place == MAP_ON_X || m->place == MAP_ALL;
    int i = operand == 2 && on_x                                             ? 0
            : operand == 2 && m->place == MAP_ON_Y                           ? 1
            : operand == 1 && (m->place == MAP_TWICE || m->place == MAP_ALL) ? 0
                                                                             : operand;
    switch (m->form) {
    case MAP_ROWS:
        return (map_steps){m->n + pads[i], 1};
    case MAP_GAPS:
        return (map_steps){m->n * incs[i] + pads[i], incs[i]};
    case MAP_TURNED:
        return (map_steps){1, rows_of(m) + pads[i]};
    default:
        return (map_steps){0, 1};
    }
}

static iso_op_kind arguments(const bench_case *item, bench_args *all)
{
    const map_shape *m = &item->map;
    const map_steps x = steps_of(m, 0), y = steps_of(m, 1), z = steps_of(m, 2);
    iso_map_args *args = &all->map;
    *args = (iso_map_args)ISO_MAP_ARGS_INIT;
    args->op = m->op;
    args->dtype = item->dtype;
    args->dtype_z = m->dtype_z;
    args->variant = item->how;
    args->n = m->n;
    args->rows = m->rows;
    args->steps = m->steps;
    args->alpha = m->alpha;
    args->beta = m->beta;
    args->ld_x = x.ld;
    args->ld_y = y.ld;
    args->ld_z = z.ld;
    args->inc_x = x.inc;
    args->inc_y = y.inc;
    args->inc_z = z.inc;
    args->spread_x = m->spread_x;
    args->spread_y = m->spread_y;
    args->ld_w = m->w_is_y ? y.ld : x.ld;
    args->inc_w = m->w_is_y ? y.inc : x.inc;
    args->spread_w = m->w_is_y ? m->spread_y : m->spread_x;
    if (m->op == ISO_MAP_FMA) { /* w is an operand that is there: iso_cost counts its bytes once */
        args->x.buffer.id = 1;
        args->y.buffer.id = 2;
        args->w.buffer.id = m->w_is_y ? 2 : 1;
    }
    return ISO_OP_MAP;
}

static void operands(const bench_case *item, bench_args *args, const iso_operand *inputs,
                     iso_operand result)
{
    args->map.x = inputs[0];
    if (arith_map_has_y(item->map.op)) {
        args->map.y = inputs[1];
    }
    if (item->map.op == ISO_MAP_FMA) {
        args->map.w = inputs[item->map.w_is_y];
    }
    args->map.z = result;
}

/* ---- measured cases -------------------------------------------------------------------------- */

/* The type to which a measured conversion goes. */
static iso_dtype converted(iso_dtype from)
{
    return from == ISO_F32 ? ISO_F16 : from == ISO_I64 || from == ISO_I8 ? ISO_F64 : ISO_F32;
}

/* "bias" is an addition whose y is one row. */
static bool set_kind(bench_case *item, const char *kind)
{
    map_shape *m = &item->map;
    if (strcmp(kind, "dot") == 0) {
        item->by = &bench_reduce;
        return bench_reduce.set_kind(item, kind);
    }
    if (strcmp(kind, "bias") == 0) {
        m->op = ISO_MAP_ADD;
        m->spread_y = ISO_SPREAD_ROW;
    } else if (iso_map_op_parse(kind, &m->op) != ISO_OK) {
        return false;
    }
    if (m->op == ISO_MAP_CONVERT) {
        m->dtype_z = converted(item->dtype);
    }
    return item->how != ISO_VARIANT_VENDOR && item->how != ISO_VARIANT_PARTIALS &&
           arith_map_has(m->op, item->dtype);
}

/* These factors make the chain a slow contraction: elements never grow, and after thousands of
 * steps they still differ from each other. */
static void set_size(bench_case *item, const bench_size *size)
{
    bool chain = item->map.op == ISO_MAP_CHAIN;
    item->map.n = size->of[0];
    if (item->map.spread_y == ISO_SPREAD_ROW) {
        item->map.rows = bench_square(size->of[0]);
        item->map.n = size->of[0] / item->map.rows;
    }
    item->map.steps = chain ? size->steps : 0;
    item->map.alpha = chain ? 1 - 0x1p-11 : 0.4;
    item->map.beta = chain ? 0x1p-12 : item->map.op == ISO_MAP_AXPBY ? -1.25 : 0;
}

static void shape(const bench_case *item, bench_shape *out)
{
    bool chain = item->by == &bench_map && item->map.op == ISO_MAP_CHAIN;
    int64_t n = item->by == &bench_map ? item->map.n * rows_of(&item->map) : item->reduce.cols;
    *out = (bench_shape){.names = {"elements", "steps"},
                         .sizes = {n, chain ? item->map.steps : 0},
                         .count = chain ? 2 : 1,
                         .elements = (double)n};
}

/* ---- conformance cases ----------------------------------------------------------------------- */

/* An operand's rows are the matrices of a batch, so that their elements may have gaps. By columns,
 * its columns are; the elements of all operands are then in the order of columns. */
static verify_region region_of(const map_shape *m, int operand)
{
    const iso_spread spread = operand == 0   ? m->spread_x
                              : operand == 1 ? m->spread_y
                                             : ISO_SPREAD_NONE;
    const map_steps steps = steps_of(m, operand);
    const int64_t cols = spread & ISO_SPREAD_COLUMN ? 1 : m->n;
    const int64_t rows = spread & ISO_SPREAD_ROW ? 1 : rows_of(m);
    if (m->form == MAP_FLAT) {
        return (verify_region){.rows = 1, .cols = rows * cols, .batch = 1};
    }
    if (m->form == MAP_TURNED) {
        return (verify_region){.rows = 1, .cols = rows, .batch = cols, .stride = steps.inc};
    }
    if (cols == 1) { /* the elements of a column are `inc` apart, but those of a result `ld` */
        return (verify_region){
            .rows = rows,
            .cols = 1,
            .ld = spread == ISO_SPREAD_NONE ? steps.ld : steps.inc,
            .batch = 1,
        };
    }
    return (verify_region){
        .rows = cols, .cols = 1, .ld = steps.inc, .batch = rows, .stride = steps.ld};
}

static bool lay(const bench_case *item, verify_problem *p)
{
    const map_shape *m = &item->map;
    const int32_t offsets[] = {m->offset_x, m->offset_y, m->offset_z};
    bool on_x = m->place == MAP_ON_X || m->place == MAP_ALL, on_y = m->place == MAP_ON_Y;
    const bool ones[] = {!on_x, !on_y, false};
    for (int i = 0; i < 3; i++) {
        verify_region made = region_of(m, i);
        made.element = i == 2 && m->dtype_z ? iso_dtype_size(m->dtype_z) : item->element;
        made.offset = offsets[i];
        made.ones = ones[i];
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

static void add_in(verify_list *list, bench_case *item, bool naive)
{
    static const iso_variant variants[] = {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE};
    static const char *const forms[] = {"", "/ld", "/gaps", "/turned"};
    const map_shape *m = &item->map;
    char after[BENCH_ID_MAX - 16], factors[48] = "", size[64], to[16] = "", form[64] = "";
    if (m->op == ISO_MAP_CHAIN) {
        snprintf(factors, sizeof factors, "s%lld/a%gb%g/", (long long)m->steps, m->alpha, m->beta);
    } else if (m->op == ISO_MAP_AXPBY) {
        snprintf(factors, sizeof factors, "a%gb%g/", m->alpha, m->beta);
    } else if (m->op == ISO_MAP_SCALE || m->op == ISO_MAP_TRIAD) {
        snprintf(factors, sizeof factors, "a%g/", m->alpha);
    }
    if (m->dtype_z) {
        snprintf(to, sizeof to, "-%s", iso_dtype_name(m->dtype_z));
    }
    if (m->rows) {
        snprintf(size, sizeof size, "r%lldn%lld", (long long)m->rows, (long long)m->n);
    } else {
        snprintf(size, sizeof size, "n%lld", (long long)m->n);
    }
    if (m->rows) {
        snprintf(form, sizeof form, "%s/%s-%s", forms[m->form], iso_spread_name(m->spread_x),
                 iso_spread_name(m->spread_y));
    }
    if (m->op == ISO_MAP_FMA) {
        strcat(form, m->w_is_y ? "/wy" : "/wx");
    }
    snprintf(after, sizeof after, "%s%s/%s/%s/%soff%d.%d.%d/%s%s/%s", item->type, to,
             iso_map_op_name(m->op), size, factors, m->offset_x, m->offset_y, m->offset_z,
             place_name(m->place), form, arith_fill_name(item->fill));
    verify_list_add(list, item, variants, naive ? 2 : 1, after);
}

static void add(verify_list *list, bench_case *item)
{
    add_in(list, item, true);
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

static const iso_dtype all_types[] = {ISO_F16, ISO_BF16, ISO_F32, ISO_F64, ISO_I32,
                                      ISO_I64, ISO_I8,   ISO_C64, ISO_C128};

/* The maps of the first list. */
static void plain_cases(verify_list *list, bool full)
{
    for (int t = 0; t < 6; t++) {
        for (iso_map_op op = ISO_MAP_COPY; op <= ISO_MAP_CHAIN; op++) {
            iso_dtype dtype = all_types[t];
            bool real = arith_map_has_alpha(op);
            if (!arith_map_has(op, dtype)) {
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

/* The other maps of arrays. Compilers of devices take a while for each kernel, so the quick list
 * has a part of what there is: each map on most types, and each pair of neighbours somewhere. */
static void more_cases(verify_list *list, bool full)
{
    static const int64_t sizes[] = {1027, 33, 5000};
    static const arith_fill floats[] = {ARITH_BITS, ARITH_MIXED, ARITH_ZEROS, ARITH_SUBNORMAL,
                                        ARITH_UNIFORM};
    for (int t = 0; t < COUNT(all_types); t++) {
        for (iso_map_op op = ISO_MAP_COPY; op <= ISO_MAP_TANH; op++) {
            bench_case item = start(op, all_types[t]);
            int turn = (int)op * 5 + t * 3, rounds = full ? 12 : 3;
            if (!arith_map_has(op, item.dtype) || (t < 6 && op <= ISO_MAP_CHAIN) ||
                (!full && t < 2 && ((int)op + t) % 2 == 0)) {
                continue;
            }
            for (int i = 0; i < rounds; i++) {
                item.map.n = sizes[(turn + i) % COUNT(sizes)];
                item.fill = op == ISO_MAP_COPY || i == 0  ? ARITH_BITS
                            : !arith_is_float(item.dtype) ? ARITH_EXTREMES
                            : i == 1                      ? ARITH_UNIFORM
                            : i == 2 && all_types[t] == ISO_F32
                                ? ARITH_ZEROS /* signs of zeros */
                                : floats[(turn + i) % COUNT(floats)];
                item.map.w_is_y = i % 2;
                set_place(&item.map, turn + i);
                set_factors(&item.map, turn + i);
                item.map.beta = op == ISO_MAP_AXPBY ? 0.1 * (i - 1) : 0;
                add_in(list, &item, full || ((int)op / 2 + t) % 2 == 0);
            }
        }
    }
}

/* A map of rows: its form, what is spread and where the result lies turn with `turn`. */
static void set_rows(bench_case *item, int turn)
{
    static const struct {
        int64_t rows, n;
        map_form form;
        iso_spread x, y;
        map_place place;
    } some[] = {
        {7, 33, MAP_ROWS, ISO_SPREAD_NONE, ISO_SPREAD_ROW, MAP_ON_X},
        {33, 5, MAP_GAPS, ISO_SPREAD_NONE, ISO_SPREAD_NONE, MAP_ON_Y},
        {3, 130, MAP_ROWS, ISO_SPREAD_COLUMN, ISO_SPREAD_NONE, MAP_APART},
        {9, 40, MAP_TURNED, ISO_SPREAD_NONE, ISO_SPREAD_NONE, MAP_ON_X},
        {17, 64, MAP_FLAT, ISO_SPREAD_NONE, ISO_SPREAD_ROW, MAP_APART},
        {5, 300, MAP_GAPS, ISO_SPREAD_ROW, ISO_SPREAD_COLUMN, MAP_APART},
        {64, 1, MAP_ROWS, ISO_SPREAD_NONE, ISO_SPREAD_ONE, MAP_APART},
        {1, 257, MAP_GAPS, ISO_SPREAD_NONE, ISO_SPREAD_NONE, MAP_APART},
        {300, 70, MAP_ROWS, ISO_SPREAD_ONE, ISO_SPREAD_ROW, MAP_APART},
    };
    map_shape *m = &item->map;
    int at = turn % COUNT(some);
    m->rows = some[at].rows;
    m->n = some[at].n;
    m->form = some[at].form;
    m->spread_x = some[at].x;
    m->spread_y = arith_map_has_y(m->op) ? some[at].y : ISO_SPREAD_NONE;
    m->place = m->dtype_z                                              ? MAP_APART
               : some[at].place == MAP_ON_Y && !arith_map_has_y(m->op) ? MAP_ON_X
                                                                       : some[at].place;
    m->offset_x = m->offset_y = m->offset_z = turn % 3;
    m->w_is_y = turn % 2;
}

static void row_cases(verify_list *list, bool full)
{
    for (int t = 0; t < COUNT(all_types); t++) {
        for (iso_map_op op = ISO_MAP_COPY; op <= ISO_MAP_TANH; op++) {
            bench_case item = start(op, all_types[t]);
            int turn = (int)op * 4 + t * 5;
            int rounds = full ? 9 : op == ISO_MAP_COPY ? 4 : ((int)op + t) % 3 == 0 ? 3 : 0;
            for (int i = 0; i < rounds && arith_map_has(op, item.dtype); i++) {
                set_rows(&item, turn + i);
                item.fill = fill_of(op, arith_is_float(item.dtype), turn + i);
                set_factors(&item.map, turn + i);
                add(list, &item);
            }
        }
    }
}

static void convert_cases(verify_list *list, bool full)
{
    static const arith_fill floats[] = {ARITH_UNIFORM, ARITH_HUGE, ARITH_SUBNORMAL, ARITH_MIXED};
    for (int t = 0; t < COUNT(all_types); t++) {
        for (int to = 0; to < COUNT(all_types); to++) {
            bench_case item = start(ISO_MAP_CONVERT, all_types[t]);
            int turn = t * 5 + to * 3;
            int rounds = full ? 12 : t == 2 || to == 2 || (t + to) % 2 ? 2 : 0;
            if (!arith_map_has(ISO_MAP_CONVERT, item.dtype) ||
                !arith_map_has(ISO_MAP_CONVERT, all_types[to]) || t == to) {
                continue;
            }
            item.map.dtype_z = all_types[to];
            for (int i = 0; i < rounds; i++) {
                item.fill = i == 0                        ? ARITH_BITS
                            : !arith_is_float(item.dtype) ? ARITH_EXTREMES
                            : i == 1                      ? ARITH_INF
                                                          : floats[(turn + i) % COUNT(floats)];
                if (i % 2 == 1) {
                    set_rows(&item, turn + i);
                } else {
                    item.map = (map_shape){.op = ISO_MAP_CONVERT,
                                           .n = 1500 + turn,
                                           .dtype_z = all_types[to],
                                           .offset_x = i % 3};
                }
                add(list, &item);
            }
        }
    }
}

static void cases(verify_list *list, bool full)
{
    plain_cases(list, full);
    more_cases(list, full);
    row_cases(list, full);
    convert_cases(list, full);
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const map_shape *m = &item->map;
    tool_set_int(sizes, "n", m->n);
    if (m->rows) {
        tool_set_int(sizes, "rows", m->rows);
    }
    if (m->op == ISO_MAP_CHAIN) {
        tool_set_int(sizes, "steps", m->steps);
    }
    tool_set_text(layout, "place", place_name(m->place));
    if (m->dtype_z) {
        tool_set_text(layout, "dtype_z", iso_dtype_name(m->dtype_z));
    }
    if (m->rows) {
        const map_steps x = steps_of(m, 0), z = steps_of(m, 2);
        tool_set_int(layout, "ld_x", x.ld);
        tool_set_int(layout, "inc_x", x.inc);
        tool_set_int(layout, "ld_z", z.ld);
        tool_set_int(layout, "inc_z", z.inc);
        tool_set_text(layout, "spread_x", iso_spread_name(m->spread_x));
        tool_set_text(layout, "spread_y", iso_spread_name(m->spread_y));
    }
    tool_set_int(layout, "offset_x", m->offset_x);
    tool_set_int(layout, "offset_y", m->offset_y);
    tool_set_int(layout, "offset_z", m->offset_z);
    tool_set_number(layout, "alpha", m->alpha);
    tool_set_number(layout, "beta", m->beta);
}

/* ---- the row --------------------------------------------------------------------------------- */

static const char *const kinds[] = {"dot",     "copy",     "scale",  "add",  "multiply", "triad",
                                    "chain",   "subtract", "divide", "min",  "max",      "abs",
                                    "negate",  "axpby",    "fma",    "relu", "exp",      "tanh",
                                    "convert", "bias",     NULL};

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
