/* SPDX-License-Identifier: Apache-2.0 */
/* device.c SPEC FILE - computes the cases of a file of vectors on a device, through the public
 * calls, and compares the results with the file. Sizes and factors are read from the lines, as a
 * second implementation would read them, and operands lie where a line says. */
#include "bench/check/check.h"
#include "bench/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static iso_stream stream;
enum { ROOM = 8 << 20, LINE = 4096 };

static iso_buffer buffers[4];
static unsigned char images[4][ROOM]; /* what was written to them */
static int failures, compared;

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

/* How a problem's elements lie in a buffer: by the line's "place", or without gaps. */
typedef struct lay {
    int buffer;
    int64_t rows, cols, ld, offset, stride, batch, member; /* elements */
} lay;

static int64_t item_at(const json_t *place, const char *key, int index)
{
    return json_integer_value(json_array_get(json_object_get(place, key), (size_t)index));
}

/* `index` is that of the operand in the lists, in which the result is the last. */
static lay lay_of(const json_t *line, int buffer, int index, int64_t rows, int64_t cols)
{
    const json_t *place = json_object_get(line, "place");
    int64_t batch = whole(place, "batch"), ld = cols + item_at(place, "gap", index);
    return (lay){.buffer = buffer,
                 .rows = rows,
                 .cols = cols,
                 .ld = ld,
                 .offset = item_at(place, "offset", index),
                 .stride = rows * ld + whole(place, "apart"),
                 .batch = batch > 0 ? batch : 1,
                 .member = whole(place, "member")};
}

static int64_t size_of(const lay *at)
{
    return at->offset + at->batch * at->stride + 8;
}

static int64_t place_of(const lay *at, int64_t i)
{
    return at->offset + at->member * at->stride + i / at->cols * at->ld + i % at->cols;
}

static void send(const lay *at, int64_t element)
{
    iso_operand whole_buffer = {buffers[at->buffer], 0};
    must(size_of(at) * element <= ROOM, "an operand is too large for this test");
    must(iso_write(stream, whole_buffer, images[at->buffer], size_of(at) * element) == ISO_OK,
         "iso_write");
    must(iso_stream_sync(stream) == ISO_OK, "iso_stream_sync");
}

static iso_operand operand_of(const lay *at, int64_t element)
{
    return (iso_operand){buffers[at->buffer], at->offset * element};
}

/* Writes operand `index` to its buffer, among bytes that are NaN in every type. */
static iso_operand put(const json_t *line, int index, const lay *at)
{
    static unsigned char bytes[ROOM];
    int64_t element, count = at->rows * at->cols;
    iso_dtype dtype = type_of(line, &element);
    uint64_t seed = strtoull(text(line, "seed"), NULL, 10);
    seed += (uint64_t)index;
    must(size_of(at) * element <= ROOM, "an operand is too large for this test");
    if (dtype != 0) {
        arith_generate(dtype, fill_of(text(line, "fill")), seed, count, bytes);
    }
    for (int64_t i = 0; dtype == 0 && i < count * element; i++) {
        int64_t word = element < 8 ? element : 8;
        bytes[i] =
            (unsigned char)(arith_mix(seed, (uint64_t)(i / word)) >> (uint64_t)(i % word * 8));
    }
    memset(images[at->buffer], 0xff, (size_t)(size_of(at) * element));
    for (int64_t i = 0; i < count; i++) {
        memcpy(images[at->buffer] + place_of(at, i) * element, bytes + i * element,
               (size_t)element);
    }
    send(at, element);
    return operand_of(at, element);
}

/* The place of a result: an operand's that is there already, or an empty one. */
static iso_operand put_result(const json_t *line, lay *at, int64_t element)
{
    const json_t *on = json_object_get(json_object_get(line, "place"), "on");
    if (on) {
        at->buffer = (int)json_integer_value(on);
        return operand_of(at, element);
    }
    memset(images[at->buffer], 0xff, (size_t)(size_of(at) * element));
    send(at, element);
    return operand_of(at, element);
}

/* Whether nothing between, before and behind the members of a result has changed. */
static bool rest_is_same(const lay *at, const unsigned char *now, int64_t element)
{
    for (int64_t i = 0; i < size_of(at); i++) {
        int64_t inside = i - at->offset;
        bool result = inside >= 0 && inside < at->batch * at->stride &&
                      inside % at->stride < at->rows * at->ld &&
                      inside % at->stride % at->ld < at->cols;
        if (!result &&
            memcmp(now + i * element, images[at->buffer] + i * element, (size_t)element) != 0) {
            return false;
        }
    }
    return true;
}

static void compare(const json_t *line, const char *variant, const lay *at, iso_dtype type,
                    int64_t element)
{
    static unsigned char all[ROOM], bytes[ROOM];
    static bench_result result;
    char digest[33], number[33];
    int64_t count = at->rows * at->cols;
    const json_t *list = json_object_get(line, "result");
    iso_operand whole_buffer = {buffers[at->buffer], 0};
    must(iso_read(stream, all, whole_buffer, size_of(at) * element) == ISO_OK, "iso_read");
    must(iso_stream_sync(stream) == ISO_OK, "iso_stream_sync");
    for (int64_t i = 0; i < count; i++) {
        memcpy(bytes + i * element, all + place_of(at, i) * element, (size_t)element);
    }
    check_digest(&result, type, bytes, count, element);
    tool_digest_text(result.digest, digest);
    bool same = rest_is_same(at, all, element);
    bool good = same && strcmp(digest, text(line, "digest")) == 0 &&
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
        fprintf(stderr, "%s as %s differs: the device has %s, the file %s%s\n", text(line, "case"),
                variant, digest, text(line, "digest"), same ? "" : "; it wrote beside the result");
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static void product(const json_t *line, iso_variant variant)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    int64_t element;
    const char *trans = text(line, "trans");
    bool turn_a = trans[0] == 't', turn_b = trans[1] == 't';
    args.dtype = type_of(line, &element);
    args.variant = variant;
    args.m = whole(line, "m");
    args.n = whole(line, "n");
    args.k = whole(line, "k");
    args.trans_a = turn_a ? ISO_TRANS : ISO_NO_TRANS;
    args.trans_b = turn_b ? ISO_TRANS : ISO_NO_TRANS;
    args.alpha = factor(line, "alpha");
    args.beta = factor(line, "beta");
    const lay a = lay_of(line, 0, 0, turn_a ? args.k : args.m, turn_a ? args.m : args.k);
    const lay b = lay_of(line, 1, 1, turn_b ? args.n : args.k, turn_b ? args.k : args.n);
    const lay c = lay_of(line, 2, 2, args.m, args.n);
    args.a = put(line, 0, &a);
    args.b = put(line, 1, &b);
    args.c = put(line, 2, &c);
    args.lda = a.ld;
    args.ldb = b.ld;
    args.ldc = c.ld;
    args.batch = c.batch;
    args.stride_a = a.stride;
    args.stride_b = b.stride;
    args.stride_c = c.stride;
    must(iso_gemm(stream, &args) == ISO_OK, "iso_gemm");
    compare(line, iso_variant_name(variant), &c, args.dtype, element);
}

static void reduce(const json_t *line, iso_variant variant)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    int64_t element;
    iso_dtype type;
    args.dtype = type_of(line, &element);
    args.variant = variant;
    must(iso_reduce_op_parse(text(line, "name"), &args.op) == ISO_OK, "name");
    must(iso_axis_parse(text(line, "axis"), &args.axis) == ISO_OK, "axis");
    must(iso_reduce_result(args.op, args.dtype, &type) == ISO_OK, "iso_reduce_result");
    args.rows = whole(line, "rows");
    args.cols = whole(line, "cols");
    int64_t count = args.axis == ISO_AXIS_0 ? args.cols : args.axis == ISO_AXIS_1 ? args.rows : 1;
    const lay x = lay_of(line, 0, 0, args.rows, args.cols);
    const lay y = lay_of(line, 1, 1, args.rows, args.cols);
    lay result = lay_of(line, 3, args.op == ISO_DOT ? 2 : 1, 1, count);
    args.x = put(line, 0, &x);
    args.ld_x = x.ld;
    if (args.op == ISO_DOT) {
        args.y = put(line, 1, &y);
        args.ld_y = y.ld;
    }
    args.result = put_result(line, &result, iso_dtype_size(type));
    must(iso_reduce(stream, &args) == ISO_OK, "iso_reduce");
    compare(line, iso_variant_name(variant), &result, type, iso_dtype_size(type));
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
    bool two = arith_map_has_y(args.op);
    const lay x = lay_of(line, 0, 0, 1, args.n), y = lay_of(line, 1, 1, 1, args.n);
    lay z = lay_of(line, 3, two ? 2 : 1, 1, args.n);
    args.x = put(line, 0, &x);
    if (two) {
        args.y = put(line, 1, &y);
    }
    args.z = put_result(line, &z, element);
    must(iso_map(stream, &args) == ISO_OK, "iso_map");
    compare(line, iso_variant_name(variant), &z,
            args.op == ISO_MAP_COPY ? (iso_dtype)0 : args.dtype, element);
}

static void transpose(const json_t *line, iso_variant variant)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    type_of(line, &args.element_bytes);
    args.variant = variant;
    args.rows = whole(line, "rows");
    args.cols = whole(line, "cols");
    const lay from = lay_of(line, 0, 0, args.rows, args.cols);
    lay to = lay_of(line, 3, 1, args.cols, args.rows);
    args.from = put(line, 0, &from);
    args.to = put_result(line, &to, args.element_bytes);
    args.ld_from = from.ld;
    args.ld_to = to.ld;
    must(iso_transpose(stream, &args) == ISO_OK, "iso_transpose");
    compare(line, iso_variant_name(variant), &to, (iso_dtype)0, args.element_bytes);
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
