/* SPDX-License-Identifier: Apache-2.0 */
/* device.c SPEC FILE - computes the cases of a file of vectors on a device, through the public
 * calls, and compares the results with the file. Sizes and factors are read from the lines, as a
 * second implementation would read them. */
#include "bench/check/check.h"
#include "bench/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static iso_stream stream;
static iso_buffer buffers[4];
static int failures, compared;

enum { ROOM = 8 << 20, LINE = 4096 };

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
}

/* ---- members of a line ----------------------------------------------------------------------- */

static const char *text(const json_t *line, const char *key)
{
    const char *found = json_string_value(json_object_get(line, key));
    return found ? found : "";
}

static int64_t whole(const json_t *line, const char *key)
{
    return json_integer_value(json_object_get(line, key));
}

static double factor(const json_t *line, const char *key)
{
    return strtod(text(line, key), NULL);
}

/* A transpose moves elements, and has no type. */
static iso_dtype type_of(const json_t *line, int64_t *element)
{
    const char *name = text(line, "dtype");
    iso_dtype dtype = (iso_dtype)0;
    *element = strtol(name + 1, NULL, 10);
    if (name[0] != 'b' || name[1] == 'f') {
        must(iso_dtype_parse(name, &dtype) == ISO_OK, name);
        *element = iso_dtype_size(dtype);
    }
    return dtype;
}

/* ---- inputs and results ---------------------------------------------------------------------- */

static arith_fill fill_of(const char *name)
{
    arith_fill fill = ARITH_UNIFORM;
    while (fill < ARITH_BITS && strcmp(arith_fill_name(fill), name) != 0) {
        fill++;
    }
    return fill;
}

/* Writes operand `index` of `count` elements to its buffer. */
static iso_operand put(const json_t *line, int index, int64_t count)
{
    static unsigned char bytes[ROOM];
    int64_t element;
    iso_dtype dtype = type_of(line, &element);
    uint64_t seed = strtoull(text(line, "seed"), NULL, 10);
    seed += (uint64_t)index;
    must(count * element <= ROOM, "an operand is too large for this test");
    if (dtype != 0) {
        arith_generate(dtype, fill_of(text(line, "fill")), seed, count, bytes);
    }
    for (int64_t i = 0; dtype == 0 && i < count * element; i++) {
        int64_t word = element < 8 ? element : 8;
        bytes[i] =
            (unsigned char)(arith_mix(seed, (uint64_t)(i / word)) >> (uint64_t)(i % word * 8));
    }
    iso_operand at = {buffers[index], 0};
    must(iso_write(stream, at, bytes, count * element) == ISO_OK, "iso_write");
    must(iso_stream_sync(stream) == ISO_OK, "iso_stream_sync");
    return at;
}

static void compare(const json_t *line, const char *variant, iso_operand at, iso_dtype type,
                    int64_t count, int64_t element)
{
    static unsigned char bytes[ROOM];
    static bench_result result;
    char digest[33], number[33];
    const json_t *list = json_object_get(line, "result");
    must(iso_read(stream, bytes, at, count * element) == ISO_OK, "iso_read");
    must(iso_stream_sync(stream) == ISO_OK, "iso_stream_sync");
    check_digest(&result, type, bytes, count, element);
    tool_digest_text(result.digest, digest);
    bool good = strcmp(digest, text(line, "digest")) == 0 &&
                (list ? (int64_t)json_array_size(list) == count : count * element > 64);
    for (int64_t i = 0; list && i < count; i++) {
        for (int64_t b = 0; b < element; b++) {
            snprintf(number + 2 * b, 3, "%02x", bytes[(i + 1) * element - 1 - b]);
        }
        const char *want = json_string_value(json_array_get(list, (size_t)i));
        good = good && want && strcmp(want, number) == 0;
    }
    compared++;
    failures += !good;
    if (!good && failures <= 10) {
        fprintf(stderr, "%s as %s differs: the device has %s, the file %s\n", text(line, "case"),
                variant, digest, text(line, "digest"));
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static void product(const json_t *line, iso_variant variant)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    int64_t element;
    const char *trans = text(line, "trans");
    args.dtype = type_of(line, &element);
    args.variant = variant;
    args.m = whole(line, "m");
    args.n = whole(line, "n");
    args.k = whole(line, "k");
    args.trans_a = trans[0] == 't' ? ISO_TRANS : ISO_NO_TRANS;
    args.trans_b = trans[1] == 't' ? ISO_TRANS : ISO_NO_TRANS;
    args.alpha = factor(line, "alpha");
    args.beta = factor(line, "beta");
    args.a = put(line, 0, args.m * args.k);
    args.b = put(line, 1, args.k * args.n);
    args.c = put(line, 2, args.m * args.n);
    must(iso_gemm(stream, &args) == ISO_OK, "iso_gemm");
    compare(line, iso_variant_name(variant), args.c, args.dtype, args.m * args.n, element);
}

static void reduce(const json_t *line, iso_variant variant)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    int64_t element;
    iso_dtype result;
    args.dtype = type_of(line, &element);
    args.variant = variant;
    must(iso_reduce_op_parse(text(line, "name"), &args.op) == ISO_OK, "name");
    must(iso_axis_parse(text(line, "axis"), &args.axis) == ISO_OK, "axis");
    must(iso_reduce_result(args.op, args.dtype, &result) == ISO_OK, "iso_reduce_result");
    args.rows = whole(line, "rows");
    args.cols = whole(line, "cols");
    args.x = put(line, 0, args.rows * args.cols);
    if (args.op == ISO_DOT) {
        args.y = put(line, 1, args.rows * args.cols);
    }
    args.result = (iso_operand){buffers[3], 0};
    must(iso_reduce(stream, &args) == ISO_OK, "iso_reduce");
    compare(line, iso_variant_name(variant), args.result, result,
            args.axis == ISO_AXIS_ALL ? 1
            : args.axis == ISO_AXIS_0 ? args.cols
                                      : args.rows,
            iso_dtype_size(result));
}

static void map(const json_t *line, iso_variant variant)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    int64_t element;
    args.dtype = type_of(line, &element);
    args.variant = variant;
    must(iso_map_op_parse(text(line, "name"), &args.op) == ISO_OK, "name");
    args.n = whole(line, "n");
    args.steps = whole(line, "steps");
    args.alpha = factor(line, "alpha");
    args.beta = factor(line, "beta");
    args.x = put(line, 0, args.n);
    if (arith_map_has_y(args.op)) {
        args.y = put(line, 1, args.n);
    }
    args.z = (iso_operand){buffers[3], 0};
    must(iso_map(stream, &args) == ISO_OK, "iso_map");
    compare(line, iso_variant_name(variant), args.z,
            args.op == ISO_MAP_COPY ? (iso_dtype)0 : args.dtype, args.n, element);
}

static void transpose(const json_t *line, iso_variant variant)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    type_of(line, &args.element_bytes);
    args.variant = variant;
    args.rows = whole(line, "rows");
    args.cols = whole(line, "cols");
    args.from = put(line, 0, args.rows * args.cols);
    args.to = (iso_operand){buffers[3], 0};
    must(iso_transpose(stream, &args) == ISO_OK, "iso_transpose");
    compare(line, iso_variant_name(variant), args.to, (iso_dtype)0, args.rows * args.cols,
            args.element_bytes);
}

static void run(const json_t *line)
{
    static const struct {
        const char *op;
        void (*run)(const json_t *line, iso_variant variant);
        iso_variant variants[2];
    } rows[] = {
        {"gemm", product, {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE}},
        {"fixed", product, {ISO_VARIANT_FIXED}},
        {"reduce", reduce, {ISO_VARIANT_TILED}},
        {"map", map, {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE}},
        {"transpose", transpose, {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE}},
    };
    size_t i = 0;
    while (i < sizeof rows / sizeof rows[0] && strcmp(rows[i].op, text(line, "op")) != 0) {
        i++;
    }
    must(i < sizeof rows / sizeof rows[0], "a line with an unknown op");
    for (int v = 0; v < 2 && rows[i].variants[v] != ISO_VARIANT_AUTO; v++) {
        rows[i].run(line, rows[i].variants[v]);
    }
}

int main(int argc, char **argv)
{
    static char read[LINE];
    iso_device device;
    int64_t lines = 0, count = 0;
    FILE *file = argc > 2 ? fopen(argv[2], "r") : NULL;
    must(file != NULL, "usage: device SPEC FILE");
    must(iso_device_open(argv[1], &device) == ISO_OK, argv[1]);
    /* A GPU has no inline streams. */
    must(iso_stream_create(device, ISO_STREAM_INLINE, &stream) == ISO_OK ||
             iso_stream_create(device, 0, &stream) == ISO_OK,
         "iso_stream_create");
    for (int i = 0; i < 4; i++) {
        must(iso_buffer_create(device, ROOM, &buffers[i]) == ISO_OK, "iso_buffer_create");
    }
    for (; fgets(read, sizeof read, file); lines++) {
        json_t *line = json_loads(read, 0, NULL);
        must(line != NULL, "a line is not JSON");
        if (lines == 0) {
            count = whole(line, "count");
        } else {
            run(line);
        }
        json_decref(line);
    }
    fclose(file);
    iso_device_close(device);
    must(count > 0 && lines == count + 1, "the first line has another count");
    printf("%lld vectors, %d compared, %d differ\n", (long long)count, compared, failures);
    return failures ? 1 : 0;
}
