/* SPDX-License-Identifier: Apache-2.0 */
/* roofs.c - the roofs of a device from rows with made-up times, and which roof limits a row. */
#include "bench/measure/internal.h"
#include "tests/workload/common.h"

#include <math.h>
#include <string.h>

/* A row and the rate that its samples show, in GB/s or GFLOP/s. */
typedef struct made {
    bench_case item;
    double rate;
    const char *roof; /* NULL: none */
    double percent;
} made;

static bench_case stream(const char *id, iso_map_op op, int64_t elements, bench_roof roof)
{
    double bytes = 4.0 * (double)elements;
    bench_case item = {.op = &bench_map, .by = &bench_map, .roof = roof};
    snprintf(item.id, sizeof item.id, "%s", id);
    snprintf(item.kind, sizeof item.kind, "%s", iso_map_op_name(op));
    item.how = ISO_VARIANT_TILED;
    item.dtype = ISO_F32;
    item.element = 4;
    item.map.op = op;
    item.map.n = elements;
    item.bytes_read = op == ISO_MAP_TRIAD ? 2 * bytes : bytes;
    item.bytes_written = bytes;
    item.flops = op == ISO_MAP_CHAIN ? 2048.0 * (double)elements : 0;
    return item;
}

static bench_case product(const char *id, int64_t n)
{
    bench_case item = {.op = &bench_gemm, .by = &bench_gemm};
    snprintf(item.id, sizeof item.id, "%s", id);
    item.how = ISO_VARIANT_TILED;
    item.dtype = ISO_F32;
    item.element = 4;
    item.gemm =
        (gemm_shape){.trans_a = ISO_NO_TRANS, .trans_b = ISO_NO_TRANS, .m = n, .n = n, .k = n};
    item.gemm.batch = 1;
    item.bytes_read = 8.0 * (double)n * (double)n;
    item.bytes_written = item.bytes_read / 2;
    item.flops = 2.0 * (double)n * (double)n * (double)n;
    return item;
}

static const json_t *named(const json_t *roofs, const char *name)
{
    size_t i;
    const json_t *roof;
    json_array_foreach(roofs, i, roof)
    {
        if (strcmp(record_text(roof, "name"), name) == 0) {
            return roof;
        }
    }
    return NULL;
}

/* The members `roofs` of a device whose rows these are. Also checks each row's own roof. */
static json_t *find(const made *all, int32_t count)
{
    int code;
    work_list list = {0};
    work_inputs *inputs = work_inputs_plan(1, &list);
    work_target *target = work_target_open("openmp:0", ISO_MATH_STRICT, inputs, &code);
    assert_non_null(target);
    measure_plan plan = {.targets = &target, .target_count = 1};
    measure_sample samples[16];
    measure_row rows[16];
    measure_roof roofs[MEASURE_ROOFS];
    for (int32_t i = 0; i < count; i++) {
        const bench_case *item = &all[i].item;
        bool fma = item->roof == BENCH_ROOF_FMA || item->op == &bench_gemm;
        double work = fma ? item->flops : item->bytes_read + item->bytes_written;
        samples[i] = (measure_sample){.time = work / all[i].rate, .round = 1};
        rows[i] = (measure_row){.item = item, .samples = &samples[i], .count = 1, .rounds = 1};
    }
    measure_state state = {.plan = &plan, .rows = rows, .count = count};
    measure_find_roofs(&state, 0, roofs);
    for (int32_t i = 0; i < count; i++) {
        json_t *roof = measure_roof_json(&state, &rows[i], roofs, samples[i].time);
        if (!all[i].roof) {
            assert_true(json_is_null(roof));
        } else {
            assert_string_equal(record_text(roof, "name"), all[i].roof);
            assert_true(fabs(record_number(roof, "percent") - all[i].percent) < 1e-9);
        }
        json_decref(roof);
    }
    json_t *json = measure_roofs_json(roofs);
    work_target_close(target);
    work_inputs_destroy(inputs);
    return json;
}

static void test_mix(void **state)
{
    (void)state;
    assert_int_equal(measure_mix(8e9, 8), ROOF_READ);
    assert_int_equal(measure_mix(16, 8), ROOF_TRIAD);
    assert_int_equal(measure_mix(8, 8), ROOF_COPY);
    assert_int_equal(measure_mix(1, 64), ROOF_COPY);
    assert_int_equal(measure_mix(84, 16), ROOF_READ);
    assert_int_equal(measure_mix(82, 18), ROOF_TRIAD);
    assert_int_equal(measure_mix(0, 0), MEASURE_ROOFS);
}

enum { BIG = 1 << 30, SMALL = 1 << 10 };

static void test_memory(void **state)
{
    const made rows[] = {
        {stream("copy", ISO_MAP_COPY, BIG, BENCH_ROOF_MEMORY), 80, "copy", 80 / 0.9},
        {stream("scale", ISO_MAP_SCALE, BIG, BENCH_NO_ROOF), 90, "copy", 100}, /* raises it */
        {stream("triad", ISO_MAP_TRIAD, BIG, BENCH_ROOF_MEMORY), 100, "triad", 100},
        {stream("cached", ISO_MAP_TRIAD, SMALL, BENCH_NO_ROOF), 500, NULL, 0},
    };
    /* What a cold case writes may stay in the cache. What it reads comes from the memory. */
    made cold[] = {{stream("cold copy", ISO_MAP_COPY, SMALL, BENCH_NO_ROOF), 99, NULL, 0},
                   {stream("cold read", ISO_MAP_COPY, SMALL, BENCH_NO_ROOF), 60, "read", 50},
                   {stream("read", ISO_MAP_COPY, BIG, BENCH_ROOF_MEMORY), 120, "read", 100}};
    made all[7];
    (void)state;
    cold[0].item.cold = cold[1].item.cold = true;
    cold[1].item.bytes_written = cold[2].item.bytes_written = 8;
    memcpy(all, rows, sizeof rows);
    memcpy(all + 4, cold, sizeof cold);
    json_t *roofs = find(all, 7);
    assert_int_equal(json_array_size(roofs), 3);
    assert_string_equal(record_text(named(roofs, "copy"), "by"), "scale");
    assert_string_equal(record_text(named(roofs, "copy"), "unit"), "GB/s");
    assert_string_equal(record_text(named(roofs, "triad"), "by"), "triad");
    json_decref(roofs);
}

/* Where no array exceeds the caches, the cases for roofs still count, but nothing else does. */
static void test_small_memory(void **state)
{
    const made rows[] = {
        {stream("copy", ISO_MAP_COPY, SMALL, BENCH_ROOF_MEMORY), 80, NULL, 0},
        {stream("scale", ISO_MAP_SCALE, SMALL, BENCH_NO_ROOF), 90, NULL, 0},
        {stream("large", ISO_MAP_COPY, BIG, BENCH_NO_ROOF), 40, "copy", 100},
    };
    (void)state;
    json_t *roofs = find(rows, 2);
    assert_string_equal(record_text(named(roofs, "copy"), "by"), "copy");
    json_decref(roofs);
    roofs = find(rows, 3);
    assert_string_equal(record_text(named(roofs, "copy"), "by"), "large");
    json_decref(roofs);
}

static void test_arithmetic(void **state)
{
    const made rows[] = {
        {stream("copy", ISO_MAP_COPY, BIG, BENCH_ROOF_MEMORY), 10, "copy", 100},
        {stream("triad", ISO_MAP_TRIAD, BIG, BENCH_ROOF_MEMORY), 10, "triad", 100},
        {stream("chain", ISO_MAP_CHAIN, SMALL, BENCH_ROOF_FMA), 100, "fma f32", 80},
        {product("fast", 4096), 125, "fma f32", 100}, /* raises it */
        {product("slow", 4096), 25, "fma f32", 20},
        {product("tiny", 16), 25, NULL, 0}, /* limited by memory, but in the cache */
    };
    (void)state;
    json_t *roofs = find(rows, 6);
    assert_string_equal(record_text(named(roofs, "fma f32"), "by"), "fast");
    assert_string_equal(record_text(named(roofs, "fma f32"), "unit"), "GFLOP/s");
    assert_null(named(roofs, "fma f64"));
    json_decref(roofs);
    /* Without a case that measures it, a roof is not known: products would be their own. */
    const made alone = {product("fast", 4096), 125, NULL, 0};
    roofs = find(&alone, 1);
    assert_int_equal(json_array_size(roofs), 0);
    json_decref(roofs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_small_memory),
        cmocka_unit_test(test_arithmetic),
    };
    return cmocka_run_group_tests_name("workload.roofs", tests, NULL, NULL);
}
