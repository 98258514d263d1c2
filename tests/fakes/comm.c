/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.c BACKEND CASE - the engine of a GPU backend, over the stand-ins of the vendors' libraries.
 * The program is linked with the library's objects, because a backend's table is not public.
 * comm.sh runs each case, some with faults of the stand-ins.
 */
#include "tests/fakes/comm.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern const iso_host core_host;
const iso_backend *isomer_builtin_cuda_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_builtin_hip_query(uint32_t host_abi, const iso_host *host);

const iso_backend *comm_backend;
const iso_engine *comm_engine;
side comm_sides[RANKS_MOST];

static _Thread_local char text[4096];

const char *comm_text(void)
{
    return text;
}

__attribute__((format(printf, 2, 3))) static iso_status fail(iso_status status, const char *format,
                                                             ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return status;
}

/* ---- devices --------------------------------------------------------------------------------- */

static void open_side(side *at, int index)
{
    CHECK(!comm_backend->device_open(index, &at->device));
    CHECK(!comm_backend->stream_create(at->device, 0, &at->stream));
    CHECK(!comm_backend->memory_alloc(at->device, ARRAY_BYTES, &at->from));
    CHECK(!comm_backend->memory_alloc(at->device, ARRAY_BYTES, &at->to));
}

static void close_side(side *at)
{
    comm_backend->memory_free(at->device, at->from);
    comm_backend->memory_free(at->device, at->to);
    comm_backend->stream_destroy(at->stream);
    comm_backend->device_close(at->device);
}

static void probe(const char *name)
{
    static iso_host host;
    static iso_probe found;
    const uint32_t abi = (uint32_t)ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR;
    host = core_host;
    host.fail = fail;
    comm_backend = strcmp(name, "cuda") == 0 ? isomer_builtin_cuda_query(abi, &host)
                                             : isomer_builtin_hip_query(abi, &host);
    comm_engine = comm_backend->engine;
    found.size = (uint32_t)sizeof found;
    CHECK(comm_engine && !comm_backend->probe(&found));
    if (found.state != ISO_STATE_OK) {
        printf("SKIP: %s\n", found.reason);
        exit(77);
    }
}

iso_status comm_join(int ranks, int64_t timeout)
{
    iso_engine_seat seats[RANKS_MOST] = {{.rank = 0}};
    void *joined[RANKS_MOST] = {NULL};
    for (int r = 0; r < ranks; r++) {
        seats[r].device = comm_sides[r].device;
        seats[r].rank = r;
    }
    const iso_status status = comm_engine->join(seats, ranks, NULL, ranks, timeout, joined);
    for (int r = 0; r < ranks; r++) {
        comm_sides[r].rank = joined[r];
    }
    return status;
}

void comm_leave_all(int ranks)
{
    for (int r = 0; r < ranks; r++) {
        comm_engine->leave(comm_sides[r].rank);
    }
}

static void transfer(side *at, iso_transfer *what, int64_t bytes)
{
    what->size = (uint32_t)sizeof *what;
    what->width = what->to_pitch = what->from_pitch = bytes;
    what->height = 1;
    CHECK(!comm_backend->transfer(at->stream, what));
    CHECK(!comm_backend->stream_sync(at->stream));
}

void comm_write(side *at, void *memory, const void *data, int64_t bytes)
{
    transfer(
        at,
        &(iso_transfer){.kind = ISO_TRANSFER_WRITE, .to = {.memory = memory}, .host_from = data},
        bytes);
}

void comm_read(side *at, void *memory, void *data, int64_t bytes)
{
    transfer(
        at, &(iso_transfer){.kind = ISO_TRANSFER_READ, .from = {.memory = memory}, .host_to = data},
        bytes);
}

void comm_sync(int ranks)
{
    for (int r = 0; r < ranks; r++) {
        CHECK(!comm_backend->stream_sync(comm_sides[r].stream));
        CHECK(!comm_engine->query(comm_sides[r].rank));
    }
}

iso_engine_call comm_call(int rank, iso_comm_op op, iso_dtype dtype, int64_t count)
{
    const side *at = &comm_sides[rank];
    return (iso_engine_call){.rank = at->rank,
                             .stream = at->stream,
                             .op = op,
                             .dtype = dtype,
                             .count = count,
                             .from = at->from,
                             .to = at->to};
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct submission {
    const iso_engine_call *calls;
    int count;
    iso_status status;
    char text[sizeof text];
} submission;

static void *submit_thread(void *data)
{
    submission *self = data;
    self->status = comm_engine->submit(self->calls, self->count);
    memcpy(self->text, text, sizeof text);
    return NULL;
}

iso_status comm_submit(const iso_engine_call *calls, int ranks, comm_way way)
{
    static submission each[RANKS_MOST];
    pthread_t threads[RANKS_MOST];
    if (way == AS_GROUP) {
        return comm_engine->submit(calls, ranks);
    }
    iso_status status = ISO_OK;
    for (int r = 0; r < ranks; r++) {
        each[r] = (submission){.calls = &calls[r], .count = 1};
        CHECK(pthread_create(&threads[r], NULL, submit_thread, &each[r]) == 0);
    }
    for (int r = 0; r < ranks; r++) {
        CHECK(pthread_join(threads[r], NULL) == 0);
        if (each[r].status) {
            status = each[r].status;
            memcpy(text, each[r].text, sizeof text);
        }
    }
    return status;
}

static double seconds(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_for(double time)
{
    const struct timespec wait = {.tv_sec = (time_t)time,
                                  .tv_nsec = (long)((time - (double)(time_t)time) * 1e9)};
    (void)nanosleep(&wait, NULL);
}

/* ---- what the engine has --------------------------------------------------------------------- */

/* The status and the text of a failure, for the script. */
static void tell(iso_status status)
{
    printf("%s: %s\n", iso_status_name(status), status ? text : "");
}

static void test_supports(void)
{
    char label[ISO_NAME_MAX];
    CHECK(!comm_engine->open(label, (int64_t)sizeof label));
    printf("label: %s\n", label);
    CHECK(!comm_join(2, SECONDS(120)));
    iso_engine_call call = comm_call(0, ISO_COMM_ALL_REDUCE, ISO_I32, 1);
    call.reduce = ISO_XOR;
    tell(comm_engine->supports(&call));
    call.reduce = ISO_MEAN;
    tell(comm_engine->supports(&call));
    call.reduce = ISO_NORM2;
    tell(comm_engine->supports(&call));
    call.reduce = ISO_XOR; /* does not matter */
    call.op = ISO_COMM_ALL_GATHER;
    CHECK(!comm_engine->supports(&call));
    call.op = (iso_comm_op)99;
    tell(comm_engine->supports(&call));
    call.op = ISO_COMM_SEND;
    call.dtype = (iso_dtype)77;
    tell(comm_engine->supports(&call));
    comm_leave_all(2);
}

/* No version, or too old a one. */
static void test_open(void)
{
    char label[ISO_NAME_MAX];
    tell(comm_engine->open(label, (int64_t)sizeof label));
    tell(comm_join(2, SECONDS(1)));
    iso_comm_id id;
    tell(comm_engine->id_create(&id));
}

/* ---- joining --------------------------------------------------------------------------------- */

/* A rank does not come: the others return in time, and the device is still usable. */
static void test_late(int most)
{
    iso_comm_id id;
    void *joined[2] = {NULL, NULL};
    for (int count = 1; count <= most; count++) {
        const iso_engine_seat seats[] = {{.device = comm_sides[0].device, .rank = 2},
                                         {.device = comm_sides[1].device, .rank = 0}};
        CHECK(!comm_engine->id_create(&id));
        const double begun = seconds();
        tell(comm_engine->join(seats, count, &id, 3, SECONDS(0.3), joined));
        CHECK(seconds() - begun >= 0.3); /* comm.sh ends a call that does not return */
    }
    CHECK(!comm_join(2, SECONDS(120)));
    comm_leave_all(2);
}

/* The library never notices the abort: the call returns nevertheless, and what is left is cleared
 * up when the library returns, though the devices were closed. */
static void test_stuck(void)
{
    const char *file = getenv("FAKE_COMM_STUCK"); /* the library returns once it is there */
    CHECK(file);
    test_late(1);
    for (int r = 0; r < RANKS_MOST; r++) {
        close_side(&comm_sides[r]);
    }
    FILE *end = fopen(file, "w");
    CHECK(end && !fclose(end));
    while (access(file, F_OK) == 0) {
        sleep_for(0.01);
    }
    sleep_for(0.5);
    for (int r = 0; r < RANKS_MOST; r++) {
        open_side(&comm_sides[r], r);
    }
}

/* Two ranks on one device. */
static void test_same(void)
{
    const iso_engine_seat seats[] = {{.device = comm_sides[0].device, .rank = 0},
                                     {.device = comm_sides[0].device, .rank = 1}};
    void *joined[2];
    tell(comm_engine->join(seats, 2, NULL, 2, SECONDS(120), joined));
}

/* The ranks of two processes, which have the id from a pipe. */
static void test_processes(const char *backend)
{
    enum { COUNT = 30000 };
    static int32_t data[ARRAY_BYTES / 4];
    iso_comm_id id;
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    const pid_t child = fork();
    const int rank = child == 0 ? 1 : 0;
    probe(backend);
    open_side(&comm_sides[0], rank);
    if (rank == 0) {
        CHECK(!comm_engine->id_create(&id));
        CHECK(write(pipes[1], &id, sizeof id) == (ssize_t)sizeof id);
    } else {
        CHECK(read(pipes[0], &id, sizeof id) == (ssize_t)sizeof id);
    }
    const iso_engine_seat seat = {.device = comm_sides[0].device, .rank = rank};
    CHECK(!comm_engine->join(&seat, 1, &id, 2, SECONDS(120), &comm_sides[0].rank));
    for (int i = 0; i < COUNT; i++) {
        data[i] = i * (rank + 1);
    }
    comm_write(&comm_sides[0], comm_sides[0].from, data, sizeof data);
    iso_engine_call call = comm_call(0, ISO_COMM_ALL_REDUCE, ISO_I32, COUNT);
    CHECK(!comm_engine->submit(&call, 1));
    comm_read(&comm_sides[0], comm_sides[0].to, data, sizeof data);
    for (int i = 0; i < COUNT; i++) {
        CHECK(data[i] == 3 * i);
    }
    comm_engine->leave(comm_sides[0].rank);
    close_side(&comm_sides[0]);
    if (rank == 1) {
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* The script has set a fault: the call, or a query afterwards, reports it. */
static void test_fault(void)
{
    iso_engine_call calls[2];
    CHECK(!comm_join(2, SECONDS(120)));
    for (int r = 0; r < 2; r++) {
        calls[r] = comm_call(r, ISO_COMM_ALL_REDUCE, ISO_F32, 10);
    }
    tell(comm_engine->submit(calls, 2));
    tell(comm_engine->query(comm_sides[0].rank));
    comm_leave_all(2);
    CHECK(!comm_join(1, SECONDS(120)) || getenv("FAKE_COMM_LOST"));
    if (comm_sides[0].rank) {
        calls[0] = comm_call(0, ISO_COMM_ALL_GATHER, ISO_F32, 10);
        tell(comm_engine->submit(calls, 1));
        comm_leave_all(1);
    }
}

static void *abort_thread(void *rank)
{
    sleep_for(0.2);
    comm_engine->abort(rank);
    comm_engine->abort(rank);
    return NULL;
}

/* A rank does not arrive: an abort from another thread ends what waits, and later calls. */
static void test_abort(void)
{
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        CHECK(!comm_join(3, SECONDS(120)));
        iso_engine_call calls[2] = {comm_call(0, ISO_COMM_ALL_REDUCE, ISO_F32, 100),
                                    comm_call(2, ISO_COMM_ALL_REDUCE, ISO_F32, 100)};
        /* With FAKE_COMM_CONNECT the call itself waits; without, its work does. */
        const bool waits = getenv("FAKE_COMM_CONNECT") != NULL;
        CHECK(!waits || !pthread_create(&thread, NULL, abort_thread, comm_sides[round].rank));
        CHECK(comm_engine->submit(calls, 2) == (waits ? ISO_UNAVAILABLE : ISO_OK));
        CHECK(waits || !pthread_create(&thread, NULL, abort_thread, comm_sides[round].rank));
        CHECK(!comm_backend->stream_sync(comm_sides[0].stream));
        CHECK(!comm_backend->stream_sync(comm_sides[2].stream));
        CHECK(pthread_join(thread, NULL) == 0);
        for (int r = 0; r < 3; r++) {
            CHECK(comm_engine->query(comm_sides[r].rank) == ISO_UNAVAILABLE);
            calls[0] = comm_call(r, ISO_COMM_BARRIER, 0, 0);
            CHECK(comm_engine->submit(calls, 1) == ISO_UNAVAILABLE);
        }
        tell(comm_engine->submit(calls, 1));
        for (int i = 0; i < 3; i++) {
            comm_engine->leave(comm_sides[orders[round][i]].rank);
        }
    }
}

/* Ranks leave in any order, and one by one while the others work on. */
static void test_leave(void)
{
    static const int orders[][RANKS_MOST] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        iso_engine_call calls[RANKS_MOST];
        CHECK(!comm_join(RANKS_MOST, SECONDS(120)));
        for (int r = 0; r < RANKS_MOST; r++) {
            calls[r] = comm_call(r, ISO_COMM_BARRIER, 0, 0);
        }
        CHECK(!comm_submit(calls, RANKS_MOST, i % 2 ? AS_THREADS : AS_GROUP));
        comm_sync(RANKS_MOST);
        for (int r = 0; r < RANKS_MOST; r++) {
            comm_engine->leave(comm_sides[orders[i][r]].rank);
            if (r == 0) { /* afterwards an abort leaves the first alone */
                comm_engine->abort(comm_sides[orders[i][1]].rank);
            }
        }
    }
}

/* ---- main ------------------------------------------------------------------------------------ */

static bool run(const char *name)
{
    if (strcmp(name, "calls") == 0) {
        comm_test_collectives(AS_GROUP);
        comm_test_messages();
        comm_test_order();
    } else if (strcmp(name, "threads") == 0) {
        comm_test_collectives(AS_THREADS);
    } else if (strcmp(name, "supports") == 0) {
        test_supports();
    } else if (strcmp(name, "open") == 0) {
        test_open();
    } else if (strcmp(name, "late") == 0) {
        test_late(2);
    } else if (strcmp(name, "stuck") == 0) {
        test_stuck();
    } else if (strcmp(name, "same") == 0) {
        test_same();
    } else if (strcmp(name, "fault") == 0) {
        test_fault();
    } else if (strcmp(name, "abort") == 0) {
        test_abort();
    } else if (strcmp(name, "leave") == 0) {
        test_leave();
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    if (strcmp(argv[2], "processes") == 0) {
        test_processes(argv[1]);
        return 0;
    }
    probe(argv[1]);
    for (int r = 0; r < RANKS_MOST; r++) {
        open_side(&comm_sides[r], r);
    }
    const bool known = run(argv[2]);
    for (int r = 0; r < RANKS_MOST; r++) {
        close_side(&comm_sides[r]);
    }
    return known ? 0 : 2;
}
