/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c - suites, filters, files, and the messages about invalid ones. */
#include "tests/workload/common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static work_request request_of(const char *suite)
{
    return (work_request){.suite = suite,
                          .math = ISO_MATH_STRICT,
                          .seed = 9,
                          .cache_bytes = 32 << 20,
                          .memory_bytes = INT64_C(64) << 30};
}

static int make(void *context)
{
    work_list list;
    int code = work_list_make(context, &list);
    work_list_free(&list);
    return code;
}

static void refused(const work_request *request, int code, const char *const *words)
{
    char text[4096];
    work_request copy = *request;
    int is = said(make, &copy, text, sizeof text);
    for (; *words; words++) {
        if (!strstr(text, *words)) {
            fail_msg("\"%s\" is not in: %s", *words, text);
        }
    }
    if (is != code) {
        fail_msg("exit code %d, expected %d: %s", is, code, text);
    }
}
#define refuses(request, code, ...) refused(request, code, (const char *const[]){__VA_ARGS__, NULL})

static const bench_case *find(const work_list *list, const char *id)
{
    for (int32_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].id, id) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

/* ---- built-in suites ------------------------------------------------------------------------- */

static void check_case(const bench_case *item)
{
    bench_needs needs;
    bench_case_needs(item, &needs);
    for (int i = 0; i < needs.inputs; i++) {
        assert_true(needs.at[i] % BENCH_ALIGNMENT == 0 && needs.bytes[i] > 0);
    }
    assert_true(needs.inputs < 2 || needs.at[1] >= needs.at[0] + needs.bytes[0]);
    assert_true(item->bytes_read + item->bytes_written > 0 && item->size > 0);
    json_t *json = work_case_json(item);
    assert_non_null(json);
    static const char *const members[] = {"id",   "op",     "kind", "variant", "dtype", "shape",
                                          "size", "layout", "math", "fill",    "cache", "work"};
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
        if (!json_object_get(json, members[m])) {
            fail_msg("%s has no %s", item->id, members[m]);
        }
    }
    json_decref(json);
}

static void check_suite(const char *name, bool all_cpu)
{
    work_request request = request_of(name);
    work_list list, again;
    int roofs = 0;
    request.all_cpu = all_cpu;
    assert_int_equal(work_list_make(&request, &list), TOOL_OK);
    assert_int_equal(work_list_make(&request, &again), TOOL_OK);
    assert_int_equal(list.count, again.count);
    for (int32_t i = 0; i < list.count; i++) {
        if (find(&list, list.items[i].id) != &list.items[i]) {
            fail_msg("%s is there twice", list.items[i].id);
        }
        assert_string_equal(list.items[i].id, again.items[i].id);
        assert_true(list.items[i].seed == again.items[i].seed);
        roofs += list.items[i].roof != BENCH_NO_ROOF;
        check_case(&list.items[i]);
    }
    assert_true(roofs >= 8);
    work_list_free(&list);
    work_list_free(&again);
}

static void test_suites(void **state)
{
    (void)state;
    for (int32_t i = 0; i < work_suite_count; i++) {
        check_suite(work_suites[i].name, false);
        check_suite(work_suites[i].name, true);
    }
}

static void test_quick(void **state)
{
    work_request request = request_of(NULL);
    work_list list;
    (void)state;
    request.all_cpu = true;
    assert_int_equal(work_list_make(&request, &list), TOOL_OK);
    assert_non_null(find(&list, "gemm/tiled/f32/1024x1024x1024/nn/strict/uniform/hot"));
    assert_true(find(&list, "gemm/tiled/f32/1024x1024x1024/nn/strict/uniform/hot")->parts);
    /* Four times the cache. It is marked as a roof, although it is also a case of the suite. */
    assert_int_equal(find(&list, "stream/copy/tiled/f64/16777216/uniform/hot")->roof,
                     BENCH_ROOF_MEMORY);
    assert_null(find(&list, "gemm/naive/f32/1024x1024x1024/nn/strict/uniform/hot"));
    for (int32_t i = 0; i < list.count; i++) { /* no case that CPUs cannot run */
        assert_true(list.items[i].element != 2 && list.items[i].math == ISO_MATH_STRICT);
    }
    work_list_free(&list);
    request.memory_bytes = INT64_C(512) << 20; /* a sixteenth of it: 32 MiB */
    assert_int_equal(work_list_make(&request, &list), TOOL_OK);
    assert_non_null(find(&list, "stream/copy/tiled/f64/4194304/uniform/hot"));
    work_list_free(&list);
}

/* ---- filters --------------------------------------------------------------------------------- */

static int32_t kept(const work_request *request)
{
    work_list list;
    int32_t count = 0;
    assert_int_equal(work_list_make(request, &list), TOOL_OK);
    for (int32_t i = 0; i < list.count; i++) {
        count += list.items[i].roof == BENCH_NO_ROOF;
    }
    work_list_free(&list);
    return count;
}

static void test_filters(void **state)
{
    work_request request = request_of("quick");
    work_list list;
    (void)state;
    request.op = "gemm";
    request.variant = "vendor";
    request.dtype = "f64";
    request.size = "1024,4Ki,64x32x16,1M";
    assert_int_equal(kept(&request), 4);
    assert_int_equal(work_list_make(&request, &list), TOOL_OK);
    assert_non_null(find(&list, "gemm/vendor/f64/64x32x16/nn/strict/uniform/hot"));
    assert_non_null(find(&list, "gemm/vendor/f64/1048576x1048576x1048576/nn/strict/uniform/hot"));
    assert_true(list.items[0].longest > 1);
    work_list_free(&list);
    request = request_of("quick");
    request.op = "sum,triad,transpose";
    request.variant = "tiled";
    request.size = "4096,100x200";
    request.dtype = "f32,e8"; /* sum of 4096 and of 20000; triad of 4096; both transposes */
    assert_int_equal(kept(&request), 5);
    request = request_of("quick");
    request.math = ISO_MATH_TF32;
    assert_int_equal(work_list_make(&request, &list), TOOL_OK);
    assert_non_null(find(&list, "gemm/vendor/f32/256x256x256/nn/tf32/uniform/hot"));
    assert_null(find(&list, "gemm/vendor/f32/256x256x256/nn/strict/uniform/hot"));
    assert_non_null(find(&list, "gemm/tiled/f32/256x256x256/nn/strict/uniform/hot"));
    work_list_free(&list);
}

static void test_wrong_words(void **state)
{
    work_request request = request_of("quik");
    (void)state;
    refuses(&request, TOOL_USAGE, "quik", "\"quick\"", "full", "transfer");
    request = request_of("/nowhere/suite.json");
    refuses(&request, TOOL_IO, "/nowhere/suite.json", "No such file");
    request = request_of("quick");
    request.op = "gmm";
    refuses(&request, TOOL_USAGE, "--op", "gmm", "\"gemm\"");
    request = request_of("quick");
    request.variant = "tiled,vendr";
    refuses(&request, TOOL_USAGE, "--variant", "vendr", "\"vendor\"");
    request = request_of("quick");
    request.dtype = "f33";
    refuses(&request, TOOL_USAGE, "--dtype", "f33", "bf16");
    static const char *const sizes[] = {
        "0", "-1", "12q", "1x2x3x4", "x", "8Xi", "99999999999999Ti"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        request = request_of("quick");
        request.size = sizes[i];
        refuses(&request, TOOL_USAGE, "--size", sizes[i]);
    }
    request = request_of("quick");
    request.op = "stream";
    request.size = "64x64x64";
    refuses(&request, TOOL_USAGE, "--size 64x64x64", "number 1", "no size of --op stream");
    request.size = "4096,64x64x64";
    refuses(&request, TOOL_USAGE, "number 2");
    request = request_of("quick");
    /* A case too large for any device is listed like others, and its row says that it does not fit.
     */
    static const char *const vast[][2] = {{"gemm", "64Gi"}, {"sum", "64Ti"}, {"sum", "64Tix64Ti"}};
    for (size_t i = 0; i < sizeof vast / sizeof vast[0]; i++) {
        work_list list;
        request.op = vast[i][0];
        request.size = vast[i][1];
        request.no_roofs = true;
        assert_int_equal(work_list_make(&request, &list), TOOL_OK);
        assert_true(list.count > 0);
        for (int32_t j = 0; j < list.count; j++) {
            assert_true(list.items[j].vast);
        }
        work_list_free(&list);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void file_refused(const char *content, int code, const char *const *words)
{
    char path[PATH_ROOM];
    write_file(path, content, strlen(content));
    work_request request = request_of(path);
    refused(&request, code, words);
    refuses(&request, code, path);
    unlink(path);
}
#define file_refuses(content, ...)                                                                 \
    file_refused(content, TOOL_USAGE, (const char *const[]){__VA_ARGS__, NULL})
#define CASES(TEXT) "{\"schema\": \"isomer-suite/1\", \"cases\": [" TEXT "]}"

static void test_wrong_files(void **state)
{
    (void)state;
    file_refuses("", "not JSON");
    file_refuses("{\"schema\":\n 1,,}", "not JSON", "line 2");
    file_refuses("[]", "not a suite");
    file_refuses("{\"cases\": []}", "no \"schema\"");
    file_refuses("{\"schema\": \"isomer-suite/2\", \"cases\": []}", "isomer-suite/2",
                 "isomer-suite/1");
    file_refuses("{\"schema\": \"isomer-suite/1\", \"case\": []}", "\"case\"", "\"cases\"");
    file_refuses(CASES(""), "at least one");
    file_refuses(CASES("3"), "cases[0]", "3");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8}, {\"op\": \"gmm\", \"size\": 8}"),
                 "cases[1].op", "gmm", "\"gemm\"");
    file_refuses(CASES("{\"size\": 8}"), "cases[0].op", "missing");
    file_refuses(CASES("{\"op\": \"copy\", \"size\": 8}"), "cases[0].op", "several");
    file_refuses(CASES("{\"op\": \"gemm\", \"sise\": 8}"), "cases[0].sise", "\"size\"");
    file_refuses(CASES("{\"op\": \"gemm\"}"), "cases[0].size", "m, n and k");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"steps\": 5}"), "cases[0].steps", "chain");
    file_refuses(CASES("{\"op\": \"triad\", \"size\": 8, \"steps\": 5}"), "cases[0].steps",
                 "chain");
    file_refuses(CASES("{\"op\": \"triad\", \"size\": 8, \"batch\": 4}"), "cases[0].batch",
                 "stream");
    file_refuses(CASES("{\"op\": \"write\", \"size\": 8, \"parts\": true}"), "cases[0].parts",
                 "transfer");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 0}"), "cases[0].size", "0");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": \"8x8\"}"), "cases[0].size", "8x8");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": []}"), "cases[0].size", "[]");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"m\": 8}"), "cases[0].size", "m, n and k");
    file_refuses(CASES("{\"op\": \"gemm\", \"m\": 8, \"n\": 8}"), "cases[0].k", "missing");
    file_refuses(CASES("{\"op\": \"gemm\", \"rows\": 8}"), "cases[0].rows", "gemm");
    file_refuses(CASES("{\"op\": \"sum\", \"size\": 8, \"trans_a\": \"t\"}"), "cases[0].trans_a");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"trans_a\": \"x\"}"), "cases[0].trans_a");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"axis\": \"0\"}"), "cases[0].axis");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"variant\": [\"tiled\", \"tild\"]}"),
                 "cases[0].variant", "tild", "\"tiled\"");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"dtype\": \"i32\"}"), "cases[0].dtype",
                 "i32");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"math\": \"fast\"}"), "cases[0].math",
                 "tf32");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"cache\": 1}"), "cases[0].cache",
                 "a word");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"parts\": \"yes\"}"), "cases[0].parts",
                 "true");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"batch\": 0}"), "cases[0].batch");
    file_refuses(CASES("{\"op\": \"gemm\", \"size\": 8, \"kind\": \"x\"}"), "cases[0].kind");
    file_refuses(CASES("{\"op\": \"triad\", \"kind\": \"add\", \"size\": 8}"), "cases[0].kind");
    file_refuses(CASES("{\"op\": \"transfer\", \"size\": 8, \"dtype\": \"f32\"}"),
                 "cases[0].dtype");
    file_refuses("{\"schema\": \"isomer-suite/1\", \"schema\": 1}", "not JSON");
}

static void test_file(void **state)
{
    work_list list = list_of(
        "[{\"op\": \"gemm\", \"variant\": [\"naive\", \"tiled\"], \"dtype\": \"f32\","
        "  \"m\": [8, 16], \"n\": 4, \"k\": [2, 3], \"trans_a\": [\"n\", \"t\"], \"trans_b\": "
        "\"t\","
        "  \"batch\": 4, \"cache\": [\"hot\", \"cold\"], \"parts\": true},"
        " {\"op\": \"gemm\", \"variant\": \"vendor\", \"dtype\": [\"f32\", \"f64\"], \"size\": 8,"
        "  \"math\": [\"strict\", \"tf32\"]},"
        " {\"op\": \"sum\", \"dtype\": \"f32\", \"axis\": [\"all\", \"1\"], \"size\": \"8x4\"}]",
        1);
    (void)state;
    assert_int_equal(list.count, 2 * 2 * 2 * 2 * 2 + 3 + 2);
    const bench_case *item = find(&list, "gemm/tiled/f32/16x4x3/tt/batch4/strict/uniform/cold");
    assert_true(item && item->parts && item->cold && item->gemm.batch == 4);
    assert_non_null(find(&list, "gemm/vendor/f32/8x8x8/nn/tf32/uniform/hot"));
    assert_null(find(&list, "gemm/vendor/f64/8x8x8/nn/tf32/uniform/hot"));
    assert_non_null(find(&list, "reduce/sum/tiled/f32/32/all/uniform/hot"));
    assert_non_null(find(&list, "reduce/sum/tiled/f32/8x4/axis1/uniform/hot"));
    work_list_free(&list);
}

/* The example in docs/benchmarking.md is a valid suite. */
static void test_example(void **state)
{
    char text[65536], path[PATH_ROOM];
    FILE *stream = fopen(TEST_SOURCE "/docs/benchmarking.md", "r");
    work_list list;
    (void)state;
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    char *begin = strstr(text, "```json\n"), *end = begin ? strstr(begin + 8, "```") : NULL;
    assert_non_null(end);
    write_file(path, begin + 8, (size_t)(end - begin - 8));
    work_request request = request_of(path);
    assert_int_equal(work_list_make(&request, &list), TOOL_OK);
    unlink(path);
    assert_non_null(find(&list, "gemm/tiled/f32/4096x4096x4096/nn/strict/uniform/hot"));
    assert_non_null(find(&list, "reduce/max/tiled/f64/4096x1000/axis1/uniform/hot"));
    work_list_free(&list);
}

/* The data of a case do not depend on what else is in the list. */
static void test_data(void **state)
{
    work_list one = list_of("[{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 1000}]", 5);
    work_list two =
        list_of("[{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": [1000, 3000000]}]", 5);
    work_list other = list_of("[{\"op\": \"sum\", \"dtype\": \"f32\", \"size\": 1000}]", 6);
    const work_list *lists[] = {&one, &two, &other};
    unsigned char data[3][4000];
    (void)state;
    for (int i = 0; i < 3; i++) {
        bench_needs needs;
        int64_t there;
        work_inputs *inputs = work_inputs_create(i == 2 ? 6 : 5, lists[i]);
        bench_case_needs(&lists[i]->items[0], &needs);
        memcpy(data[i], work_inputs_block(inputs, ISO_F32, &there) + needs.at[0], 4000);
        work_inputs_destroy(inputs);
    }
    assert_memory_equal(data[0], data[1], 4000);
    assert_memory_not_equal(data[0], data[2], 4000);
    work_list_free(&one);
    work_list_free(&two);
    work_list_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suites),      cmocka_unit_test(test_quick),
        cmocka_unit_test(test_filters),     cmocka_unit_test(test_wrong_words),
        cmocka_unit_test(test_wrong_files), cmocka_unit_test(test_file),
        cmocka_unit_test(test_example),     cmocka_unit_test(test_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
