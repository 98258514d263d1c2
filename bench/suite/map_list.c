/* SPDX-License-Identifier: Apache-2.0 */
/* map_list.c - which maps are tried: every operation and type, in sizes around the vectors, lines
 * and blocks that kernels work in, apart and in place, on operands that are aligned and that are
 * not, with the fills that matter to the operation. */
#include "bench/suite/internal.h"

#include <stdio.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

const char *suite_place_name(suite_place place)
{
    static const char *const names[] = {"apart", "onx", "ony", "twice", "all"};
    return names[place];
}

static void add(suite_list *list, suite_case *item)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED};
    const suite_map_case *m = &item->map;
    char after[SUITE_ID_MAX - 16], factors[48] = "";
    snprintf(item->type, sizeof item->type, "%s", iso_dtype_name(item->dtype));
    if (m->op == ISO_MAP_CHAIN) {
        snprintf(factors, sizeof factors, "s%lld/a%gb%g/", (long long)m->steps, m->alpha, m->beta);
    } else if (m->op == ISO_MAP_SCALE || m->op == ISO_MAP_TRIAD) {
        snprintf(factors, sizeof factors, "a%g/", m->alpha);
    }
    snprintf(after, sizeof after, "%s/%s/n%lld/%soff%d.%d.%d/%s/%s", item->type,
             iso_map_op_name(m->op), (long long)m->n, factors, m->offset_x, m->offset_y,
             m->offset_z, suite_place_name(m->place), arith_fill_name(item->fill));
    suite_list_add(list, item, variants, COUNT(variants), after);
}

/* Fills that try an operation of a type, the plain one first. */
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

/* 0.1 and 0.4 are no numbers of any of the types, and 0 and 1 are where a kernel may take a short
 * cut. */
static void set_factors(suite_map_case *m, int turn)
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

static void set_place(suite_map_case *m, int turn)
{
    static const int offsets[][3] = {{0, 0, 0}, {1, 1, 1}, {3, 0, 0}, {0, 1, 0},
                                     {0, 0, 5}, {4, 4, 4}, {2, 2, 2}, {16, 8, 1}};
    static const suite_place with_y[] = {SUITE_APART, SUITE_ON_X,  SUITE_APART, SUITE_ON_Y,
                                         SUITE_TWICE, SUITE_APART, SUITE_ALL};
    static const suite_place without[] = {SUITE_APART, SUITE_ON_X, SUITE_APART};
    const int *offset = offsets[turn % COUNT(offsets)];
    m->place =
        arith_map_has_y(m->op) ? with_y[turn % COUNT(with_y)] : without[turn % COUNT(without)];
    m->offset_x = offset[0];
    m->offset_y = offset[1];
    m->offset_z = offset[2];
    if (m->place == SUITE_ON_X || m->place == SUITE_ALL) {
        m->offset_z = m->offset_x;
    }
    if (m->place == SUITE_ON_Y) {
        m->offset_z = m->offset_y;
    }
    if (m->place == SUITE_TWICE || m->place == SUITE_ALL || !arith_map_has_y(m->op)) {
        m->offset_y = m->offset_x;
    }
}

static void one(suite_list *list, iso_map_op op, iso_dtype dtype, int full)
{
    static const int64_t sizes[] = {1,   31,  1021, 256, 7,   64,  2,    129, 33, 1024, 63,  17,
                                    4,   127, 513,  3,   191, 255, 4097, 9,   65, 2048, 193, 15,
                                    257, 8,   511,  5,   192, 128, 4095, 16,  32, 1025};
    static const int64_t large[] = {100003, 65536, 262147, 99991};
    suite_case item = {.op = &bench_map, .dtype = dtype};
    int turn = (int)op * 5 + (int)dtype * 3, rounds = full ? 2 * COUNT(sizes) : 12;
    item.map.op = op;
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

/* Factors that are subnormal, that overflow and that vanish where they are rounded to f32. */
static void factors(suite_list *list, iso_map_op op, iso_dtype dtype)
{
    static const double some[] = {1e-310, 1e-40, 1e300, -1e300};
    suite_case item = {.op = &bench_map, .dtype = dtype};
    item.map.op = op;
    item.map.n = 33;
    for (int i = 0; i < COUNT(some); i++) {
        item.map.alpha = some[i];
        item.map.beta = op == ISO_MAP_CHAIN ? some[COUNT(some) - 1 - i] : 0;
        item.map.steps = op == ISO_MAP_CHAIN ? 2 : 0;
        add(list, &item);
    }
}

/* Zeros of both signs by a negative factor, in whole blocks and beside them: a narrowing that adds
 * 0 on the way makes +0 of -0. */
static void signs(suite_list *list, iso_map_op op, iso_dtype dtype)
{
    static const int64_t sizes[] = {33, 16411};
    suite_case item = {.op = &bench_map, .dtype = dtype, .fill = ARITH_ZEROS};
    item.map.op = op;
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

/* More than the caches hold, so that kernels may write past them. */
static void large(suite_list *list, iso_map_op op, iso_dtype dtype)
{
    suite_case item = {.op = &bench_map, .dtype = dtype};
    item.map.op = op;
    item.map.n = (48 << 20) / iso_dtype_size(dtype) + 5;
    item.fill = fill_of(op, arith_is_float(dtype), 0);
    set_place(&item.map, ((int)op + (int)dtype) % 2 == 0 ? 56 : 47); /* apart, aligned and not */
    set_factors(&item.map, 0);
    add(list, &item);
}

void suite_list_map(suite_list *list, int full)
{
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_I64; dtype++) {
        for (iso_map_op op = ISO_MAP_COPY; op <= ISO_MAP_CHAIN; op++) {
            bool real = op == ISO_MAP_SCALE || op == ISO_MAP_TRIAD || op == ISO_MAP_CHAIN;
            if (real && !arith_is_float(dtype)) {
                continue;
            }
            one(list, op, dtype, 0);
            if (real) {
                factors(list, op, dtype);
            }
            if (arith_is_float(dtype) && op != ISO_MAP_COPY) {
                signs(list, op, dtype);
            }
            if (full) {
                one(list, op, dtype, 1);
                large(list, op, dtype);
            }
        }
    }
}
