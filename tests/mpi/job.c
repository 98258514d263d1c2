/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - PLUGIN MODE FOLDER: one process of a test of an engine for several processes. */
#include "tests/mpi/job.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- a host ---------------------------------------------------------------------------------- */

static _Thread_local char error[2048];
static _Thread_local iso_status error_status;

static void *host_alloc(int64_t bytes)
{
    return aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
}

static iso_status host_fail(iso_status status, const char *format, ...) ISO_PRINTF(2, 3);
static iso_status host_fail(iso_status status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(error, sizeof error, format, list);
    va_end(list);
    error_status = status;
    return status;
}

static void host_log(iso_log_level level, const char *format, ...) ISO_PRINTF(2, 3);
static void host_log(iso_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

static const char *host_setting(const char *name)
{
    (void)name;
    return NULL;
}

static void *host_open_part(const char *path, char *problem, int64_t capacity)
{
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!file) {
        snprintf(problem, (size_t)capacity, "%s", dlerror());
    }
    return file;
}

static const iso_host host = {
    .size = (uint32_t)sizeof(iso_host),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .version = "test",
    .alloc = host_alloc,
    .free = free,
    .fail = host_fail,
    .log = host_log,
    .setting = host_setting,
    .open_part = host_open_part,
};

void job_open(job *out, const char *plugin, const char *folder)
{
    void *file = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    iso_backend_query query = NULL;
    iso_probe probe = {.size = (uint32_t)sizeof probe};
    char label[ISO_NAME_MAX] = "";

    if (!file) {
        printf("FAIL: %s\n", dlerror());
        exit(1);
    }
    *(void **)&query = dlsym(file, ISO_BACKEND_QUERY_NAME);
    JOB_CHECK(query);
    JOB_CHECK(!query((uint32_t)ISO_ABI_MAJOR << 16 | 9, &host)); /* such a core has no engines */
    out->backend = query((uint32_t)ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR, &host);
    JOB_CHECK(out->backend && out->backend->engine);
    JOB_CHECK(out->backend->flags & ISO_BACKEND_ENGINE_ONLY);
    out->engine = out->backend->engine;
    out->folder = folder;
    JOB_CHECK(out->engine->flags == (ISO_ENGINE_HOST | ISO_ENGINE_PROCESSES | ISO_ENGINE_KEEPS));
    JOB_WORKS(out->backend->probe(&probe));
    JOB_CHECK(probe.state == ISO_STATE_NO_DEVICE && strstr(probe.reason, "no devices"));
    if (!out->engine->open(label, sizeof label)) {
        JOB_CHECK(strlen(label) > 6);
    }
}

/* ---- helpers --------------------------------------------------------------------------------- */

const char *job_error(void)
{
    return error;
}

void job_check(bool good, const char *what, const char *file, int line)
{
    if (!good) {
        printf("FAIL: %s:%d: %s (last error: %s)\n", file, line, what, error);
        fflush(stdout);
        _exit(1);
    }
}

void job_status(iso_status is, iso_status wanted, const char *word, const char *what,
                const char *file, int line)
{
    if (is != wanted || (is && (error_status != is || !strstr(error, word)))) {
        printf("FAIL: %s:%d: %s: status %d, wanted %d with \"%s\": %s\n", file, line, what, is,
               wanted, word, error);
        fflush(stdout);
        _exit(1);
    }
}

int64_t job_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * JOB_SECOND + time.tv_nsec;
}

void job_await(const job *at, const char *name)
{
    const int64_t end = job_now() + JOB_LONG;
    char path[512];

    snprintf(path, sizeof path, "%s/%s", at->folder, name);
    while (access(path, R_OK)) {
        JOB_CHECK(job_now() < end);
        usleep(500);
    }
}

static void leave_file(const job *at, const char *name, const void *bytes, size_t size)
{
    char path[512], part[600];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", at->folder, name);
    snprintf(part, sizeof part, "%s.part.%d", path, (int)getpid());
    file = fopen(part, "w");
    JOB_CHECK(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
    JOB_CHECK(!rename(part, path));
}

void job_announce(const job *at, const char *name)
{
    leave_file(at, name, "", 0);
}

iso_status job_try_join(const job *at, const char *name, int32_t maker, int32_t rank, int32_t ranks,
                        int64_t timeout, void **out)
{
    const iso_engine_seat seat = {.rank = rank};
    iso_comm_id id = {0};

    if (maker == at->rank) {
        JOB_WORKS(at->engine->id_create(&id));
        leave_file(at, name, &id, sizeof id);
    } else {
        char path[512];
        FILE *file;

        job_await(at, name);
        snprintf(path, sizeof path, "%s/%s", at->folder, name);
        file = fopen(path, "r");
        JOB_CHECK(file && fread(&id, sizeof id, 1, file) == 1 && !fclose(file));
    }
    return at->engine->join(&seat, 1, &id, ranks, timeout, out);
}

void *job_join(const job *at, const char *name, int32_t maker, int32_t rank, int32_t ranks)
{
    void *made = NULL;

    JOB_WORKS(job_try_join(at, name, maker, rank, ranks, JOB_LONG, &made));
    JOB_CHECK(made);
    return made;
}

iso_status job_run(const job *at, void *rank, iso_comm_op op, iso_dtype dtype, iso_reduce_op reduce,
                   int32_t peer, int64_t count, void *from, void *to)
{
    const iso_engine_call call = {.rank = rank,
                                  .op = op,
                                  .dtype = dtype,
                                  .reduce = reduce,
                                  .peer = peer,
                                  .count = count,
                                  .from = from,
                                  .to = to};
    return at->engine->submit(&call, 1);
}

/* ---- processes that no launcher of this MPI started ------------------------------------------ */

/* `word` is what the reason must have. */
static void test_not_started(const job *at, const char *word)
{
    const iso_engine_seat seat = {.rank = 0};
    int32_t rank = 0, ranks = 0;
    iso_comm_id id = {{'i'}};
    void *made = NULL;
    double value = 3;

    JOB_FAILS(at->engine->world(&rank, &ranks), ISO_UNAVAILABLE, word);
    JOB_FAILS(at->engine->id_create(&id), ISO_UNAVAILABLE, word);
    JOB_FAILS(at->engine->join(&seat, 1, &id, 2, JOB_LONG, &made), ISO_UNAVAILABLE, word);
    JOB_FAILS(at->engine->join(&seat, 1, NULL, 2, JOB_LONG, &made), ISO_UNSUPPORTED, "threads");
    JOB_CHECK(!made);
    JOB_WORKS(at->engine->join(&seat, 1, NULL, 1, JOB_LONG, &made));
    JOB_WORKS(job_run(at, made, ISO_COMM_ALL_REDUCE, ISO_F64, ISO_SUM, 0, 1, &value, &value));
    JOB_WORKS(job_run(at, made, ISO_COMM_BARRIER, ISO_F64, ISO_SUM, 0, 0, NULL, NULL));
    JOB_CHECK(value == 3);
    JOB_FAILS(at->engine->world(&rank, &ranks), ISO_UNAVAILABLE, word);
    at->engine->leave(made);
    JOB_WORKS(at->engine->join(&seat, 1, NULL, 1, JOB_SECOND, &made));
    JOB_FAILS(job_run(at, made, ISO_COMM_RECEIVE, ISO_F64, ISO_SUM, 0, 1, NULL, &value),
              ISO_TIMEOUT, "receive on rank 0 of 1");
    at->engine->leave(made);
}

typedef struct mode {
    const char *name;
    void (*run)(const job *at);
} mode;

static const mode modes[] = {
    {"operations", test_operations}, {"short", test_short},
    {"groups", test_groups},         {"threads", test_threads},
    {"subgroups", test_subgroups},   {"timeout", test_timeout},
    {"absent", test_absent},         {"interrupted", test_interrupted},
    {"killed", test_killed},         {"mistakes", test_mistakes},
    {"counts", test_counts},
};

int main(int argc, char **argv)
{
    job at = {0};

    if (argc != 4) {
        printf("usage: %s PLUGIN MODE FOLDER\n", argv[0]);
        return 2;
    }
    job_open(&at, argv[1], argv[3]);
    if (!strncmp(argv[2], "not-started:", 12)) {
        test_not_started(&at, argv[2] + 12);
        printf("passed\n");
        return 0;
    }
    JOB_WORKS(at.engine->world(&at.rank, &at.ranks));
    /* A list of modes, separated by commas, runs in one job. */
    for (char *rest = argv[2], *name; (name = strsep(&rest, ","));) {
        bool found = false;

        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            if (!strcmp(modes[i].name, name)) {
                modes[i].run(&at);
                found = true;
            }
        }
        JOB_CHECK(found);
    }
    printf("passed\n");
    return 0;
}
