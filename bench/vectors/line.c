/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - the lines of a file of vectors, as docs/bits.md describes them. */
#include "bench/tool.h"
#include "bench/vectors/vectors.h"

#include <math.h>

enum { SHOWN = 64 }; /* results of at most so many bytes are written in full */

const char *vectors_level_name(vectors_level level)
{
    static const char *const names[] = {"maps", "sums", "products", "fixed"};
    return names[level];
}

static void set_seed(json_t *line, uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    tool_set_text(line, "seed", text);
}

json_t *vectors_first_line(uint64_t seed, int64_t count)
{
    json_t *line = json_object();
    tool_set_text(line, "format", "isomer-vectors/1");
    tool_set_text(line, "bits", "1.0");
    set_seed(line, seed);
    tool_set_int(line, "count", count);
    tool_set_text(line, "isomer", iso_version());
    tool_set_text(line, "license", "CC0-1.0");
    return line;
}

static void set_factor(json_t *line, const char *key, double factor)
{
    char text[40];
    snprintf(text, sizeof text, "%a", factor);
    tool_set_text(line, key, isnan(factor) ? "nan" : text);
}

static void set_shape(json_t *line, const bench_case *item)
{
    if (item->op == &bench_gemm) {
        const gemm_shape *g = &item->gemm;
        bool a = g->trans_a == ISO_TRANS, b = g->trans_b == ISO_TRANS;
        tool_set_int(line, "m", g->m);
        tool_set_int(line, "n", g->n);
        tool_set_int(line, "k", g->k);
        tool_set_text(line, "trans", a ? (b ? "tt" : "tn") : b ? "nt" : "nn");
        set_factor(line, "alpha", g->alpha);
        set_factor(line, "beta", g->beta);
    } else if (item->op == &bench_reduce) {
        tool_set_text(line, "axis", iso_axis_name(item->reduce.axis));
        tool_set_int(line, "rows", item->reduce.rows);
        tool_set_int(line, "cols", item->reduce.cols);
    } else if (item->op == &bench_transpose) {
        tool_set_int(line, "rows", item->transpose.rows);
        tool_set_int(line, "cols", item->transpose.cols);
    } else {
        const map_shape *m = &item->map;
        tool_set_int(line, "n", m->n);
        if (arith_map_has_alpha(m->op)) {
            set_factor(line, "alpha", m->alpha);
        }
        if (m->op == ISO_MAP_CHAIN) {
            set_factor(line, "beta", m->beta);
            tool_set_int(line, "steps", m->steps);
        }
    }
}

static json_t *elements_of(const vectors_result *result)
{
    char text[2 * 16 + 1];
    json_t *list = json_array();
    for (int64_t i = 0; i < result->count; i++) {
        const unsigned char *at = result->elements + i * result->element;
        for (int64_t b = 0; b < result->element; b++) {
            snprintf(text + 2 * b, 3, "%02x", at[result->element - 1 - b]);
        }
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static json_t *numbers(const int64_t *from, int32_t count)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        json_array_append_new(list, json_integer(from[i]));
    }
    return list;
}

static void set_place(json_t *line, const bench_case *item)
{
    vectors_place place;
    vectors_place_of(item, &place);
    if (place.count == 0) {
        return;
    }
    json_t *object = json_object();
    json_object_set_new(object, "offset", numbers(place.offset, place.count));
    if (place.rows) {
        json_object_set_new(object, "gap", numbers(place.gap, place.count));
    }
    if (place.batch > 1) {
        tool_set_int(object, "batch", place.batch);
        tool_set_int(object, "member", place.member);
        tool_set_int(object, "apart", place.apart);
    }
    if (place.on >= 0) {
        tool_set_int(object, "on", place.on);
    }
    json_object_set_new(line, "place", object);
}

json_t *vectors_line(vectors_level level, int64_t number, const bench_case *item,
                     const vectors_result *result)
{
    char text[48];
    json_t *line = json_object();
    snprintf(text, sizeof text, "%s/%lld", vectors_level_name(level), (long long)number);
    tool_set_text(line, "case", text);
    tool_set_text(line, "level", vectors_level_name(level));
    tool_set_text(line, "op", level == VECTORS_FIXED ? "fixed" : item->op->name);
    if (item->op == &bench_reduce) {
        tool_set_text(line, "name", iso_reduce_op_name(item->reduce.op));
    } else if (item->op == &bench_map) {
        tool_set_text(line, "name", iso_map_op_name(item->map.op));
    }
    snprintf(text, sizeof text, "b%lld", (long long)item->element);
    tool_set_text(line, "dtype", item->dtype != 0 ? iso_dtype_name(item->dtype) : text);
    tool_set_text(line, "fill", arith_fill_name(item->fill));
    set_seed(line, item->seed);
    set_shape(line, item);
    tool_digest_text(result->digest, text);
    tool_set_text(line, "digest", text);
    if (result->count * result->element <= SHOWN) {
        json_object_set_new(line, "result", elements_of(result));
    }
    set_place(line, item);
    return line;
}
