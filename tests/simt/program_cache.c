/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_cache.c BACKEND - programs are cached between processes. The test starts itself
 * repeatedly as `program_cache BACKEND work THREADS`, which runs a fill and a transpose and checks
 * them, and counts in its log what was built and what came from the cache.
 */
#include <isomer/isomer.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDE = 70, CELLS = SIDE * SIDE, SKIPPED = 77, THREADS_MOST = 4 };

extern char **environ;

static const char *backend;
static char folder[256], cache[300];

/* ---- the work -------------------------------------------------------------------------------- */

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, iso_last_error());
    return 1;
}

/* Fills a matrix with its first row's number, overwrites others, and transposes it. */
static int work_on(iso_device device)
{
    const uint32_t pattern = 0xdecade;
    static const uint32_t none;
    uint32_t *from = calloc(CELLS, sizeof none), *to = calloc(CELLS, sizeof none);
    iso_operand a = {.offset = 0}, b = {.offset = CELLS * sizeof none};
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    iso_stream stream;
    iso_buffer buffer;
    int wrong = 0;

    if (!from || !to || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, 2 * CELLS * (int64_t)sizeof none, &buffer)) {
        return failed("creating");
    }
    a.buffer = b.buffer = buffer;
    for (uint32_t i = 0; i < CELLS; i++) {
        from[i] = i < SIDE ? pattern : i * 2654435761u;
    }
    args.variant = ISO_VARIANT_TILED;
    args.element_bytes = sizeof none;
    args.rows = args.cols = SIDE;
    args.from = a;
    args.to = b;
    if (iso_write(stream, a, from, CELLS * (int64_t)sizeof none) ||
        iso_fill(stream, a, &pattern, sizeof pattern, SIDE * (int64_t)sizeof none) ||
        iso_transpose(stream, &args) || iso_read(stream, to, b, CELLS * (int64_t)sizeof none) ||
        iso_stream_sync(stream)) {
        return failed("working");
    }
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            wrong += to[j * SIDE + i] != from[i * SIDE + j];
        }
    }
    iso_buffer_destroy(buffer);
    iso_stream_destroy(stream);
    free(from);
    free(to);
    if (wrong) {
        fprintf(stderr, "%d elements are wrong\n", wrong);
    }
    return wrong != 0;
}

static void *work_thread(void *device)
{
    return (void *)(intptr_t)work_on(*(iso_device *)device);
}

static int work(int threads)
{
    pthread_t thread[THREADS_MOST];
    iso_device device;
    int bad = 0;

    if (iso_device_open(backend, &device)) {
        return iso_last_status() == ISO_UNAVAILABLE ? SKIPPED : failed("opening");
    }
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, work_thread, &device)) {
            return 1;
        }
    }
    for (int i = 0; i < threads; i++) {
        void *answer;

        pthread_join(thread[i], &answer);
        bad |= answer != NULL;
    }
    return iso_device_close(device) ? failed("closing") : bad;
}

/* ---- starting processes ---------------------------------------------------------------------- */

typedef struct run {
    pid_t process;
    char log[320];
} run;

static run start(const char *threads)
{
    static int number;
    char *const arguments[] = {(char[]){"program_cache"}, (char *)(intptr_t)backend,
                               (char[]){"work"}, (char *)(intptr_t)threads, NULL};
    posix_spawn_file_actions_t actions;
    run made;

    snprintf(made.log, sizeof made.log, "%s/log.%d", folder, number++);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, made.log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(
        posix_spawn(&made.process, "/proc/self/exe", &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return made;
}

static int end(const run *started)
{
    int status;

    assert_int_equal(waitpid(started->process, &status, 0), started->process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int count(const char *text, const char *word)
{
    int found = 0;

    for (const char *at = text; (at = strstr(at, word)); at++) {
        found++;
    }
    return found;
}

/* Waits for a process that must do its work, and counts in its log. */
static void finish(const run *started, int *built, int *loaded)
{
    static char text[1 << 20];
    int code = end(started);
    FILE *file = fopen(started->log, "r");

    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    unlink(started->log);
    if (code) {
        fail_msg("the process ended with %d: %s", code, text);
    }
    *built = count(text, " built in ");
    *loaded = count(text, " from the cache in ");
}

static void once(const char *threads, int *built, int *loaded)
{
    run started = start(threads);

    finish(&started, built, loaded);
}

/* How often in one process. */
static void expect(int built, int loaded)
{
    int was_built, was_loaded;

    once("1", &was_built, &was_loaded);
    if (was_built != built || was_loaded != loaded) {
        fail_msg("%d built and %d loaded, not %d and %d", was_built, was_loaded, built, loaded);
    }
}

/* ---- the files ------------------------------------------------------------------------------- */

typedef void (*change)(const char *path);

/* Applies a change to every file of the cache; returns their number. */
static int each_file(change apply)
{
    DIR *open = opendir(cache);
    struct dirent *entry;
    char path[600];
    int files = 0;

    while (open && (entry = readdir(open))) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
        if (apply) {
            apply(path);
        }
        files++;
    }
    if (open) {
        closedir(open);
    }
    return files;
}

static void take_away(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static void cut(const char *path)
{
    struct stat found;

    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(truncate(path, found.st_size / 2), 0);
}

static void spoil(const char *path)
{
    struct stat found;
    FILE *file = fopen(path, "r+");

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &found), 0);
    for (off_t i = 0; i < found.st_size; i++) {
        fputc((int)(i * 131 & 0xff), file);
    }
    fclose(file);
}

/* A valid cache file with a program that no driver accepts: header, key, data. */
static void replace_program(const char *path)
{
    struct {
        char magic[8];
        int64_t key_bytes, data_bytes;
        uint64_t data_hash;
    } head;
    FILE *file = fopen(path, "r+");
    char *data;

    assert_non_null(file);
    assert_int_equal(fread(&head, sizeof head, 1, file), 1);
    data = malloc((size_t)head.data_bytes);
    assert_non_null(data);
    memset(data, 'x', (size_t)head.data_bytes);
    head.data_hash = XXH3_64bits(data, (size_t)head.data_bytes);
    rewind(file);
    assert_int_equal(fwrite(&head, sizeof head, 1, file), 1);
    assert_int_equal(fseek(file, (long)head.key_bytes, SEEK_CUR), 0);
    assert_int_equal(fwrite(data, 1, (size_t)head.data_bytes, file), head.data_bytes);
    fclose(file);
    free(data);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Fills an empty cache by one process: returns how many programs the work needs. */
static int fill_cache(void)
{
    int built, loaded;

    each_file(take_away);
    once("1", &built, &loaded);
    assert_true(built > 0);
    assert_int_equal(loaded, 0);
    assert_int_equal(each_file(NULL), built);
    return built;
}

static void test_second_start(void **state)
{
    int programs = fill_cache();

    (void)state;
    expect(0, programs);
    expect(0, programs);
}

static void test_damaged(void **state)
{
    static const change changes[] = {cut, spoil, replace_program};
    int programs = fill_cache();

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        assert_int_equal(each_file(changes[i]), programs);
        expect(programs, 0);
        expect(0, programs);
    }
}

/* The first process stores; no process reads half a file. */
static void test_two_processes(void **state)
{
    int programs = fill_cache(), built[2], loaded[2];

    (void)state;
    each_file(take_away);
    run first = start("1"), second = start("1");
    finish(&first, &built[0], &loaded[0]);
    finish(&second, &built[1], &loaded[1]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(built[i] + loaded[i], programs);
    }
    assert_int_equal(each_file(NULL), programs);
    expect(0, programs);
}

/* Threads that need the same program at once build it once. */
static void test_threads(void **state)
{
    int programs = fill_cache(), built, loaded;

    (void)state;
    each_file(take_away);
    once("4", &built, &loaded);
    assert_int_equal(built, programs);
    assert_int_equal(loaded, 0);
}

static void test_off(void **state)
{
    int programs = fill_cache();

    (void)state;
    setenv("ISOMER_CACHE_DIR", "off", 1);
    expect(programs, 0);
    expect(programs, 0);
    setenv("ISOMER_CACHE_DIR", cache, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_start),  cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_two_processes), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_off),
    };
    const char *base = getenv("TMPDIR");
    int result;

    if (argc < 2) {
        return 2;
    }
    backend = argv[1];
    if (argc == 4) {
        return work(atoi(argv[3]));
    }
    snprintf(folder, sizeof folder, "%s/isomer-simt-XXXXXX", base && base[0] ? base : "/tmp");
    if (!mkdtemp(folder)) {
        return 1;
    }
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("ISOMER_CACHE_DIR", cache, 1);
    setenv("ISOMER_LOG", "debug", 1);
    run trial = start("1");
    result = end(&trial);
    unlink(trial.log);
    if (result == SKIPPED) {
        printf("no device of %s on this machine\n", backend);
    } else {
        result = cmocka_run_group_tests(tests, NULL, NULL);
    }
    each_file(take_away);
    rmdir(cache);
    rmdir(folder);
    return result;
}
