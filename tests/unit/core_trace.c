/* SPDX-License-Identifier: Apache-2.0 */
/* core_trace.c - the file that ISOMER_TRACE names, checked after the process that wrote it has
 * ended. */
#include "tests/unit/unit.h"

#include <jansson.h>

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 20 };

static void *work(void *unused)
{
    iso_stream stream;
    iso_buffer buffer;
    iso_device device;
    iso_gemm_args gemm;
    iso_transpose_args transpose;
    iso_reduce_args reduce;
    iso_map_args map;
    iso_graph graph;
    float got;

    (void)unused;
    if (iso_device_open("openmp", &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, UNIT_BYTES, &buffer)) {
        return NULL;
    }
    gemm = unit_gemm(buffer, 20);
    gemm.variant = ISO_VARIANT_TILED;
    transpose = unit_transpose(buffer, 20);
    reduce = unit_sum(buffer, 100);
    map = unit_add(buffer, 100);
    iso_graph_begin(stream);
    map.op = ISO_MAP_MULTIPLY; /* what is recorded is not in the trace, only launches */
    iso_map(stream, &map);
    iso_map(stream, &map);
    iso_graph_end(stream, &graph);
    for (int i = 0; i < ROUNDS; i++) {
        iso_fill(stream, (iso_operand){buffer, 0}, "1234", 4, UNIT_BYTES);
        iso_graph_launch(graph, stream);
        iso_gemm(stream, &gemm);
        iso_transpose(stream, &transpose);
        iso_reduce(stream, &reduce);
        map.op = ISO_MAP_ADD;
        iso_map(stream, &map);
        map.op = ISO_MAP_CHAIN;
        map.steps = 5;
        iso_map(stream, &map);
        iso_read(stream, &got, reduce.result, 4);
        if (i % 5 == 0) {
            iso_stream_sync(stream);
        }
    }
    iso_device_close(device);
    return NULL;
}

/* The traced process; its child writes nothing to the file. */
static int traced(void)
{
    pthread_t threads[THREADS];
    pid_t child;

    setlocale(LC_ALL, "");
    work(NULL);
    fflush(NULL);
    child = fork();
    if (!child) {
        work(NULL);
        exit(0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

static iso_setting query(void)
{
    iso_setting setting = ISO_SETTING_INIT;

    for (int32_t i = 0; iso_get_setting(i, &setting) == ISO_OK; i++) {
        if (!strcmp(setting.name, "ISOMER_TRACE")) {
            break;
        }
    }
    return setting;
}

/* Only queries settings before it forks. */
static int asked(void)
{
    pid_t child;

    query();
    child = fork();
    if (!child) {
        exit(0);
    }
    waitpid(child, NULL, 0);
    work(NULL);
    return 0;
}

static int count(const json_t *events, const char *category, const char *name)
{
    int found = 0;
    size_t i;
    json_t *event;

    json_array_foreach(events, i, event)
    {
        const char *is = json_string_value(json_object_get(event, "cat"));
        const char *called = json_string_value(json_object_get(event, "name"));

        assert_non_null(called);
        if (!is || strcmp(is, category)) {
            continue;
        }
        assert_true(json_number_value(json_object_get(event, "ts")) >= 0.0);
        assert_true(json_number_value(json_object_get(event, "dur")) >= 0.0);
        assert_true(json_is_integer(json_object_get(json_object_get(event, "args"), "bytes")));
        found += !strncmp(called, name, strlen(name));
    }
    return found;
}

static double earliest(const json_t *events, const char *category)
{
    double first = 1e300;
    size_t i;
    json_t *event;

    json_array_foreach(events, i, event)
    {
        const char *is = json_string_value(json_object_get(event, "cat"));
        double at = json_number_value(json_object_get(event, "ts"));

        if (is && !strcmp(is, category) && at < first) {
            first = at;
        }
    }
    return first;
}

/* Runs this program again, traced to the file. */
static void run(const char *role, const char *path, const char *more)
{
    char command[6000], self[4096] = {0};

    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(command, sizeof command, "ISOMER_TRACE='%s' '%s' %s %s", path, self, role, more);
    assert_int_equal(system(command), 0);
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *file = json_load_file(path, 0, &error);

    if (!file) {
        fail_msg("%s, line %d: %s", path, error.line, error.text);
    }
    return file;
}

static void test_file(void **state)
{
    static const char *const names[] = {
        "gemm tiled f32 nn 20x20x20",  "transpose ", "sum ", "fill ", "read ", "add tiled f32 100",
        "chain tiled f32 100 steps 5", "graph of 2"};
    const int runs = (THREADS + 1) * ROUNDS;
    char folder[512], path[600];
    json_t *file;

    (void)state;
    unit_make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    run("traced", path, "");
    file = load(path);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        json_t *events = json_object_get(file, "traceEvents");

        assert_int_equal(count(events, "submit", names[i]), runs);
        assert_int_equal(count(events, "execute", names[i]), runs);
        assert_true(earliest(events, "submit") <= earliest(events, "execute"));
    }
    assert_int_equal(count(json_object_get(file, "traceEvents"), "submit", "multiply"), 0);
    assert_int_equal(count(json_object_get(file, "traceEvents"), "execute", "multiply"), 0);
    json_decref(file);
    unit_remove_folder(folder);
}

/* Querying the settings does not touch the file, nor does a child forked afterwards. */
static void test_query(void **state)
{
    char folder[512], path[600];
    struct stat found;
    json_t *file;
    FILE *old;

    (void)state;
    unit_make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    setenv("ISOMER_TRACE", path, 1);
    assert_string_equal(query().problem, "");
    assert_int_not_equal(stat(path, &found), 0);
    old = fopen(path, "w");
    assert_non_null(old);
    assert_true(fputs("older", old) >= 0);
    assert_int_equal(fclose(old), 0);
    assert_string_equal(query().problem, "");
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_size, 5);
    unsetenv("ISOMER_TRACE");
    run("asked", path, "");
    file = load(path);
    assert_int_equal(count(json_object_get(file, "traceEvents"), "submit", "fill "), ROUNDS);
    json_decref(file);
    unit_remove_folder(folder);
}

/* A pipe is refused at once, whether or not it has a reader. */
static void test_pipe(void **state)
{
    char folder[512], path[600];
    iso_device device;
    int reader;

    (void)state;
    unit_make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    setenv("ISOMER_TRACE", path, 1);
    alarm(600);
    assert_non_null(strstr(query().problem, "neither a file"));
    fails(iso_device_open("openmp", &device), ISO_INVALID, "ISOMER_TRACE", path, "neither a file");
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    fails(iso_device_open("openmp", &device), ISO_INVALID, "ISOMER_TRACE", path, "neither a file");
    close(reader);
    alarm(0);
    unsetenv("ISOMER_TRACE");
    unit_remove_folder(folder);
}

/* A file that cannot be written is reported once, and the program continues. */
static void test_full(void **state)
{
    char folder[512], log[600], more[700], line[1024];
    int told = 0;
    FILE *file;

    (void)state;
    unit_make_folder(folder, sizeof folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(more, sizeof more, "2>'%s'", log);
    setenv("ISOMER_LOG", "warn", 1);
    run("traced", "/dev/full", more);
    run("asked", "/dev/null", "");
    unsetenv("ISOMER_LOG");
    file = fopen(log, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strstr(line, "warn: ISOMER_TRACE: \"/dev/full\" cannot be written")) {
            told++;
        }
    }
    fclose(file);
    assert_int_equal(told, 1);
    unit_remove_folder(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_file), cmocka_unit_test(test_query),
                                       cmocka_unit_test(test_pipe), cmocka_unit_test(test_full)};

    if (argc == 2 && !strcmp(argv[1], "traced")) {
        return traced();
    }
    if (argc == 2 && !strcmp(argv[1], "asked")) {
        return asked();
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
