/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - descriptions of kernels: what a right one means, every fault with its place, and the
 * inputs. */
#include "bench/kernel/describe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "#ifndef SIDE\n#define SIDE 16\n#endif\n"
    "ISO_STRUCT(params) { f32 scale; i32 count; };\n"
    "ISO_KERNEL(plus, 64, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y, i64 n)\n"
    "{ ISO_REGION(i) { if (iso_x(i) < n) { y[iso_x(i)] = a + x[iso_x(i)]; } } }\n"
    "ISO_KERNEL(plain, 1, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y, i64 n)\n"
    "{ ISO_REGION(i) { y[iso_x(i)] = a + x[iso_x(i)]; } }\n"
    "ISO_KERNEL(idle, 1, 1, 1)(ISO_IN(f32) y, i64 n)\n"
    "{ ISO_REGION(i) { if (n < 0) { continue; } } }\n"
    "ISO_KERNEL(other, 1, 1, 1)(f64 a, ISO_IN(f32) x, ISO_OUT(f32) y, i64 n)\n"
    "{ ISO_REGION(i) { y[0] = (f32)a + x[n]; } }\n"
    "ISO_KERNEL(mixed, SIDE, 4, 1)(params p, u8 tag, f32x2 v, ISO_IN(i32) at ISO_EXTENT(n),\n"
    "    ISO_INOUT(params) all ISO_EXTENT(n), ISO_IN(f64x4) far ISO_EXTENT(n), i32 n,\n"
    "    ISO_SHARED(f32, ISO_AT_LAUNCH) part)\n"
    "{ ISO_REGION_2(i, j) { if (n < 0) { continue; } } }\n";

static char folder[] = "/tmp/isomer-describe-XXXXXX";
static char text_path[64], json_path[64];

static void put(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Loads a description. What it prints goes to `said`. */
static int load(iso_device device, const char *json, describe_file *out, char said[4096])
{
    FILE *kept = tmpfile();
    assert_non_null(kept);
    put(json_path, json);
    (void)fflush(stderr);
    int before = dup(STDERR_FILENO);
    assert_true(dup2(fileno(kept), STDERR_FILENO) >= 0);
    int code = describe_load(device, text_path, NULL, NULL, 0, out);
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    (void)close(before);
    rewind(kept);
    said[fread(said, 1, 4095, kept)] = '\0';
    (void)fclose(kept);
    return code;
}

/* A whole description around one kernel's members, with ' for ". */
static char *around(const char *members)
{
    static const char frame[] = "{'schema': 'isomer-kernels/1', 'kernels': [{%s}]}";
    size_t room = strlen(members) + sizeof frame;
    char *json = malloc(room);
    assert_non_null(json);
    (void)snprintf(json, room, members[0] == '{' || members[0] == '[' ? "%s" : frame, members);
    for (char *at = json; *at; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    return json;
}

#define PLUS  "'kernel': 'plus', 'elements': {'y': 'n'}, "
#define GOOD  PLUS "'items': ['n'], 'arguments': {'a': 1}, "
#define SIZES "'sizes': [{'n': 5}]"
#define MIXED                                                                                      \
    "'kernel': 'mixed', 'groups': [1], 'arguments': {'p': '0000803f05000000', 'tag': 3, "          \
    "'v': [1, 2]}, "
#define PART "'elements': {'part': 'n * 2'}, "
#define FILL "'inputs': {'at': {'from': 0, 'to': 'n - 1'}, 'all': 'bits'}, "

static const struct fault {
    const char *members, *place, *words;
    int code;
} faults[] = {
    {"[]", "", "is no description of kernels: it must be an object", 2},
    {"{'kernels': []}", "", "it has no \"schema\": \"isomer-kernels/1\"", 2},
    {"{'schema': 'isomer-kernels/2'}", "", "this program reads \"isomer-kernels/1\"", 2},
    {"{'schema': 'isomer-kernels/1', 'kernels': []}", "",
     "kernels is [] but must be a list of objects, at least one", 2},
    {"{'schema': 'isomer-kernels/1', 'kernels': [3]}", "kernels[0]", "it is 3 but must be", 2},
    {"{'schema': 'isomer-kernels/1', 'kernels': [{}], 'txt': 1}", "", "did you mean \"text\"", 2},
    {"{'schema': 'isomer-kernels/1', 'text': 'none.isk', 'kernels': [{}]}", "",
     "none.isk cannot be read", 6},
    {"{'schema': 'isomer-kernels/1', 'macros': {'SIDE': 3}, 'kernels': [{}]}", "macros.SIDE",
     "must be a text, such as \"32\"", 2},
    {"{'schema': 'isomer-kernels/1', 'macros': {'SIDE': 'x'}, 'kernels': [{}]}", "",
     "test.isk:13: ", 1},
    {"{'schema': 'isomer-kernels/1' 'kernels'}", "", "is not JSON: line 1, column", 2},
    {"'items': ['n']", "kernels[0].kernel", "it is missing", 2},
    {"'kernel': 'pluss'", "kernels[0].kernel", "plus, plain, idle", 2},
    {GOOD SIZES ", 'flop': 3", "kernels[0]", "did you mean \"flops\"", 2},
    {PLUS "'arguments': {'a': 1}, " SIZES, "kernels[0]",
     "it has neither items nor groups: give one", 2},
    {GOOD "'groups': [1], " SIZES, "kernels[0]", "it has both items and groups: give one", 2},
    {PLUS "'arguments': {'a': 1}, 'items': 'n', " SIZES, "kernels[0].items", "a list of 1 to 3", 2},
    {PLUS "'arguments': {'a': 1}, 'items': ['m'], " SIZES, "kernels[0].items[0]", "m", 2},
    {PLUS "'arguments': {'a': 1}, 'items': ['n - 6'], " SIZES, "kernels[0].items[0]",
     "it is -1 with n=5", 2},
    {PLUS "'arguments': {'a': 1}, 'items': ['n / 0'], " SIZES, "kernels[0].items[0]", "0", 2},
    {PLUS "'arguments': {'a': 1}, 'groups': [65536, 65536], " SIZES, "kernels[0].groups",
     "fewer than 2^31", 2},
    {"'kernel': 'plus', 'items': ['n'], 'arguments': {'a': 1}, " SIZES, "kernels[0].elements",
     "y is a buffer without ISO_EXTENT: say here how many elements", 2},
    {"'kernel': 'plus', 'items': ['n'], 'arguments': {'a': 1}, 'elements': {'y': 5, 'x': "
     "4}, " SIZES,
     "kernels[0].elements.x", "it is 4 with n=5, but x needs at least 5", 2},
    {"'kernel': 'plus', 'items': ['n'], 'arguments': {'a': 1}, 'elements': {'n': 5}, " SIZES,
     "kernels[0].elements",
     "\"n\" is no buffer or array sized at launch of kernel plus; it has: x, y", 2},
    {"'kernel': 'plus', 'items': ['n'], 'arguments': {'a': 1}, 'elements': {'y': '1 << "
     "62'}, " SIZES,
     "kernels[0].elements", "more than 2^63 bytes", 2},
    {GOOD "'sizes': [{'n': -5}]", "kernels[0]", "ISO_EXTENT", 2},
    {PLUS "'items': ['n'], " SIZES, "kernels[0].sizes[0]",
     "kernel plus needs a value of a (f32): add \"a\" here", 2},
    {GOOD "'sizes': [{'n': 5}, {'m': 5}]", "kernels[0].sizes[1]",
     "\"m\" is no value of kernel plus; it has: a, n", 2},
    {GOOD "'sizes': [{'n': 5}, {'n': 1.5}]", "kernels[0].sizes[1].n", "a whole number", 2},
    {GOOD "'sizes': [{'n': 5}, {'n': 5}]", "kernels[0].sizes[1]", "the same as sizes[0]", 2},
    {GOOD "'sizes': []", "kernels[0]", "a list of objects", 2},
    {GOOD "'sizes': [5]", "kernels[0].sizes[0]", "it is 5 but must be an object", 2},
    {GOOD "'bench': {'n': 5}", "kernels[0]", "bench is {\"n\":5} but must be a list", 2},
    {GOOD "'flops': 1", "kernels[0]", "it has neither sizes nor bench", 2},
    {PLUS "'items': ['n'], 'arguments': {'a': 1e300}, " SIZES, "kernels[0].arguments.a",
     "it is 1e300 but must be a number that an f32 can have", 2},
    {PLUS "'items': ['n'], 'arguments': {'a': '12'}, " SIZES, "kernels[0].arguments.a",
     "its 4 bytes as they are in memory, as 8 hexadecimal digits", 2},
    {PLUS "'items': ['n'], 'arguments': {'x': 1}, " SIZES, "kernels[0].arguments",
     "\"x\" is no value of kernel plus", 2},
    {PLUS "'items': ['n'], 'arguments': 3, " SIZES, "kernels[0].arguments", "must be an object", 2},
    {GOOD SIZES ", 'inputs': {'y': 1}", "kernels[0].inputs",
     "\"y\" is no input (ISO_IN or ISO_INOUT) of kernel plus; it has: x", 2},
    {GOOD SIZES ", 'inputs': {'x': 'unifrom'}", "kernels[0].inputs.x", "did you mean \"uniform\"",
     2},
    {GOOD SIZES ", 'inputs': {'x': {'from': 1}}", "kernels[0].inputs.x", "from and to, or from", 2},
    {GOOD SIZES ", 'inputs': {'x': {'from': 1, 'to': 0}}", "kernels[0].inputs.x",
     "from is 1 and to is 0 with n=5: from must not be", 2},
    {GOOD SIZES ", 'inputs': {'x': {'from': 1, 'to': 'inf'}}", "kernels[0].inputs.x.to",
     "a finite number", 2},
    {GOOD SIZES ", 'inputs': {'x': [1, 'a']}", "kernels[0].inputs.x[1]", "hexadecimal", 2},
    {GOOD SIZES ", 'inputs': {'x': []}", "kernels[0].inputs.x", "must have 1 to", 2},
    {GOOD SIZES ", 'flops': 'n * k'", "kernels[0].flops", "k", 2},
    {GOOD SIZES ", 'reads': 'n - 9'", "kernels[0].reads", "it is -4 with n=5", 2},
    {GOOD SIZES ", 'writes': 1.5", "kernels[0].writes", "a whole number, or an expression", 2},
    {GOOD SIZES ", 'tolerance': 1", "kernels[0]", "no reference and no model", 2},
    {GOOD SIZES ", 'tolerance': -1, 'model': ['m']", "kernels[0]", "a number, 0 or more", 2},
    {GOOD SIZES ", 'bits': 1", "kernels[0]", "must be true or false", 2},
    {GOOD SIZES ", 'model': 'python3'", "kernels[0]", "a command as a list of words", 2},
    {GOOD SIZES ", 'model': ['']", "kernels[0]", "a command as a list of words", 2},
    {GOOD SIZES ", 'reference': 'plain'", "kernels[0].reference", "must be an object", 2},
    {GOOD SIZES ", 'reference': {'kernel': 'plane', 'items': ['n']}", "kernels[0].reference.kernel",
     "plus, plain, idle", 2},
    {GOOD SIZES ", 'reference': {'kernel': 'plain'}", "kernels[0].reference", "neither items", 2},
    {GOOD SIZES ", 'reference': {'kernel': 'plain', 'text': 'no.isk', 'items': ['n']}", "",
     "no.isk cannot be read", 6},
    {GOOD SIZES ", 'reference': {'kernel': 'idle', 'groups': [1]}", "kernels[0].reference",
     "kernel idle does not write y, which kernel plus writes", 2},
    {GOOD SIZES ", 'reference': {'kernel': 'other', 'groups': [1]}", "kernels[0].reference",
     "its parameter a is a value of f64, but that of kernel plus is a value of f32", 2},
    {GOOD SIZES ", 'model': ['m'], 'reference': {'kernel': 'plain', 'groups': [1]}", "kernels[0]",
     "both a reference and a model", 2},
    {GOOD SIZES "}, {" GOOD SIZES, "kernels[1]", "kernels[0] already describes kernel plus", 2},
    {MIXED FILL SIZES, "kernels[0].elements", "part is an array that the launch sizes: say here",
     2},
    {MIXED FILL "'elements': {'part': 0}, " SIZES, "kernels[0].elements.part", "at least 1", 2},
    {MIXED PART SIZES, "kernels[0].inputs",
     "kernel mixed reads at, a buffer of i32: say here what it begins with", 2},
    {MIXED PART "'inputs': {'at': 0, 'all': {'from': 0, 'to': 1}}, " SIZES, "kernels[0].inputs.all",
     "a struct (params) has no range", 2},
    {MIXED PART "'inputs': {'at': 0, 'all': 0}, " SIZES, "kernels[0].inputs.all", "its 8 bytes", 2},
    {MIXED PART "'inputs': {'at': 'nan', 'all': 'bits'}, " SIZES, "kernels[0].inputs.at",
     "uniform, ints", 2},
    {MIXED PART "'inputs': {'at': 3000000000, 'all': 'bits'}, " SIZES, "kernels[0].inputs.at",
     "an i32 has values from -2147483648 to 2147483647", 2},
    {MIXED PART FILL "'sizes': [{'n': 5, 'tag': 256}]", "kernels[0].sizes[0].tag",
     "a u8 has values from 0 to 255", 2},
    {MIXED PART FILL "'sizes': [{'n': 5, 'v': [1, 2, 3]}]", "kernels[0].sizes[0].v", "2 numbers",
     2},
    {MIXED PART FILL "'sizes': [{'n': 5, 'v': {'x': 1, 'z': 3}}]", "kernels[0].sizes[0].v.y",
     "it is missing", 2},
    {MIXED PART FILL "'sizes': [{'n': 5, 'p': {'scale': 1}}]", "kernels[0].sizes[0].p",
     "its 8 bytes as they are in memory, as 16 hexadecimal digits", 2},
    {PLUS "'items': ['n'], 'arguments': {'a': '1 / 2'}, " SIZES, "kernels[0].arguments.a",
     "it is \"1 / 2\" but must be a number without quotes, \"inf\", \"-inf\" or \"nan\", or its 4 "
     "bytes",
     2},
    {GOOD "'sizes': [{'n': 'abc'}]", "kernels[0].sizes[0].n",
     "it is \"abc\" but must be a whole number without quotes, or its 8 bytes as they are in "
     "memory, as 16",
     2},
    {MIXED PART FILL "'sizes': [{'n': 5, 'tag': '1'}]", "kernels[0].sizes[0].tag",
     "or its 1 byte as it is in memory, as 2 hexadecimal digits", 2},
    {MIXED PART FILL "'sizes': [{'n': 5, 'v': '1'}]", "kernels[0].sizes[0].v",
     "must be a list of numbers", 2},
    {GOOD SIZES ", 'flops': '2 * nn'", "kernels[0].flops",
     "\"2 * nn\": nn is not known, did you mean n? An expression may use "
     "numbers",
     2},
    {GOOD SIZES ", 'flops': 'SIDE * width'", "kernels[0].flops",
     "\"SIDE * width\": width is not known; an expression may use numbers, the text's macros and "
     "the "
     "kernel's integers n",
     2},
    {GOOD SIZES ", 'flops': '2 * (n'", "kernels[0].flops",
     "test.json: kernels[0].flops: \"2 * (n\" ends where a ) is missing", 2},
    {GOOD "'sizes': [{'n': 5}, {'n': 5, 'a': 1}, {'a': 1, 'n': 5}]", "kernels[0].sizes[2]",
     "it is the same as sizes[1]: remove one", 2},
    {GOOD SIZES ", 'inputs': {'x': {'from': 0, 'to': 'n'}}", "kernels[0].inputs.x.to",
     "only integers may have expressions", 2},
    {GOOD SIZES ", 'inputs': {'xx': 1}", "kernels[0].inputs",
     "\"xx\" is no input (ISO_IN or ISO_INOUT) of kernel plus, did you mean \"x\"? It has: x", 2},
    {GOOD SIZES ", 'reference': {'kernel': 'mixed', 'groups': [1]}", "kernels[0].reference",
     "it has a parameter p (params), which kernel plus lacks", 2},
    {GOOD SIZES ", 'reference': {'kernel': 'plain', 'groups': [1], 'elements': {'y': 5}}",
     "kernels[0].reference", "the member \"elements\" is not known", 2},
    {"'kernel': 3", "kernels[0].kernel", "it is 3 but must be the name of a kernel", 2},
};

static void test_faults(void **state)
{
    iso_device *device = *state;
    int bad = 0;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const struct fault *f = &faults[i];
        char *json = around(f->members), said[4096], place[128];
        describe_file file;
        int code = load(*device, json, &file, said);
        (void)snprintf(place, sizeof place, "%s: %s", f->place[0] ? "test.json" : "",
                       f->place[0] ? f->place : "");
        describe_free(&file);
        if (code != f->code || !strstr(said, f->words) || (f->place[0] && !strstr(said, place))) {
            print_error("%s\nexits with %d instead of %d and says: %s\ninstead of: %s%s", json,
                        code, f->code, said, place, f->words);
            bad++;
        }
        free(json);
    }
    assert_int_equal(bad, 0);
}

/* A small right description, for the checks below. */
static describe_file loaded(iso_device device, const char *members)
{
    describe_file file;
    char *json = around(members), said[4096];
    if (load(device, json, &file, said) != TOOL_OK) {
        fail_msg("%s", said);
    }
    free(json);
    return file;
}

static void test_case(void **state)
{
    iso_device *device = *state;
    describe_file file =
        loaded(*device, MIXED PART
               "'inputs': {'at': {'from': 7, 'step': '-n'}, 'all': '0000803f05000000', 'far': "
               "[[1, 2, 3, 4], [5, 6, 7, 8]]}, 'sizes': [{'n': 3, 'tag': 9, 'v': {'x': 1, 'y': "
               "-2}}], 'flops': 'SIDE * n'");
    const describe_case *item = &file.kernels[0].sizes[0];
    assert_int_equal(file.kernel_count, 1);
    assert_string_equal(item->shape, "3x9/v=__x_:1,_y_:-2_");
    assert_string_equal(item->size, "n=3 tag=9 v={\"x\":1,\"y\":-2}");
    assert_int_equal(item->parameter_count, 8);
    assert_int_equal(item->argument_count, 8);
    assert_int_equal(item->groups.x, 1);
    assert_int_equal(item->arguments[1].integer, 9);
    assert_memory_equal(item->arguments[2].bytes, ((float[]){1, -2}), 8);
    assert_memory_equal(item->arguments[0].bytes, "\0\0\x80?\5\0\0\0", 8);
    assert_int_equal(item->arguments[7].integer, 6);
    assert_true(item->flops == 48);
    assert_true(item->reads == 3 * (4 + 8 + 32) && item->writes == 3 * 8);
    int32_t at[3];
    double far[12];
    unsigned char all[24];
    describe_make(describe_find(item, "at"), 1, 1, at);
    describe_make(describe_find(item, "far"), 1, 1, far);
    describe_make(describe_find(item, "all"), 1, 1, all);
    assert_memory_equal(at, ((int32_t[]){7, 4, 1}), 12);
    assert_memory_equal(far, ((double[]){1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4}), sizeof far);
    assert_memory_equal(all + 16, "\0\0\x80?\5\0\0\0", 8);
    describe_free(&file);
}

/* No items: a launch of no groups, and each buffer has one element that no item may use. */
static void test_zero(void **state)
{
    iso_device *device = *state;
    describe_file file = loaded(*device, GOOD "'sizes': [{'n': 0}]");
    const describe_case *item = &file.kernels[0].sizes[0];
    assert_int_equal(item->groups.x, 0);
    assert_int_equal(describe_find(item, "x")->elements, 1);
    describe_free(&file);
}

static void test_reference(void **state)
{
    iso_device *device = *state;
    describe_file file = loaded(*device, GOOD "'sizes': [{'n': 65, 'a': 3}], 'reference': "
                                              "{'kernel': 'plain', 'groups': ['n * 2']}");
    const describe_case *item = &file.kernels[0].sizes[0], *other = item->reference;
    assert_int_equal(item->groups.x, 2);
    assert_non_null(other);
    assert_int_equal(other->groups.x, 130);
    assert_true(other->arguments[0].number == 3);
    assert_int_equal(describe_find(other, "y")->bytes, 65 * 4);
    float here[65], there[65];
    describe_make(describe_find(item, "x"), 4, 2, here);
    describe_make(describe_find(other, "x"), 4, 2, there);
    assert_memory_equal(here, there, sizeof here);
    describe_free(&file);
}

/* The same data for the same seed and round, others for others, and a short buffer has the
 * beginning of a long one. */
static void test_inputs(void **state)
{
    enum { LONG = 200000, SHORT = 70000 };
    static const char *const fills[] = {"{'from': 0, 'to': 255}", "'uniform'", "'ints'",
                                        "'extremes'"};
    iso_device *device = *state;
    for (size_t f = 0; f < sizeof fills / sizeof fills[0]; f++) {
        char members[1024];
        (void)snprintf(members, sizeof members,
                       MIXED PART "'inputs': {'at': %s, 'all': 'bits'}, 'sizes': [{'n': 200000}, "
                                  "{'n': 70000}]",
                       fills[f]);
        describe_file file = loaded(*device, members);
        const describe_parameter *whole = describe_find(&file.kernels[0].sizes[0], "at");
        const describe_parameter *part = describe_find(&file.kernels[0].sizes[1], "at");
        int32_t *data[4];
        for (int i = 0; i < 4; i++) {
            data[i] = malloc(LONG * sizeof **data);
            assert_non_null(data[i]);
        }
        describe_make(whole, 1, 1, data[0]);
        describe_make(part, 1, 1, data[1]);
        describe_make(whole, 1, 2, data[2]);
        describe_make(whole, 2, 1, data[3]);
        assert_memory_equal(data[0], data[1], SHORT * 4);
        int64_t bytes, place = describe_make_part(whole, 1, 1, 1 << 18, &bytes, data[1]);
        assert_true(place == 1 << 18 && bytes == 1 << 18); /* the second part: round 1 */
        assert_memory_equal((unsigned char *)data[0] + place, data[1], (size_t)bytes);
        place = describe_make_part(whole, 1, 7, 1 << 18, &bytes, data[1]);
        assert_true(place == 3 << 18 && bytes == LONG * 4 - place); /* the last one is shorter */
        assert_memory_not_equal(data[0], data[2], LONG * 4);
        assert_memory_not_equal(data[0], data[3], LONG * 4);
        int64_t outside = 0, sum = 0;
        for (int i = 0; i < LONG && f == 0; i++) {
            outside += data[0][i] < 0 || data[0][i] > 255;
            sum += data[0][i];
        }
        assert_int_equal(outside, 0);
        assert_true(f > 0 || (sum > LONG * (int64_t)127 && sum < LONG * (int64_t)128));
        for (int i = 0; i < 4; i++) {
            free(data[i]);
        }
        describe_free(&file);
    }
}

static int open_device(void **state)
{
    static iso_device device;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(text_path, sizeof text_path, "%s/test.isk", folder);
    (void)snprintf(json_path, sizeof json_path, "%s/test.json", folder);
    put(text_path, text);
    assert_int_equal(iso_device_open("openmp", &device), ISO_OK);
    *state = &device;
    return 0;
}

static int close_device(void **state)
{
    iso_device *device = *state;
    (void)unlink(text_path);
    (void)unlink(json_path);
    (void)rmdir(folder);
    return iso_device_close(*device) != ISO_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults), cmocka_unit_test(test_case),
        cmocka_unit_test(test_zero),   cmocka_unit_test(test_reference),
        cmocka_unit_test(test_inputs),
    };
    return cmocka_run_group_tests_name("describe", tests, open_device, close_device);
}
