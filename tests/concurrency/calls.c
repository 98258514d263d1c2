/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c BACKEND [lost | refused | exit | handler] - calls of the host in the order of a stream
 * (stream_call), through the backend's own entries. `lost`: a fake device is lost while calls wait
 * (FAKE_LOST=1). `refused`: a fake device has no such calls (FAKE_WAIT=0). `exit`: the program ends
 * during a call. `handler`: the program's own handler of exit() lets that call go on. A machine
 * without the backend skips.
 */
#include "tests/concurrency/check.h"

#include <isomer/backend.h>

#include <pthread.h>
#include <stdbool.h>

enum { COUNT = 1000, FLOATS = 5000, BYTES = FLOATS * 4, STREAMS = 4, SKIPPED = 77 };
enum { MILLISECOND = 1000000, DELAY = 30 * MILLISECOND };

extern const iso_host core_host;
const iso_backend *isomer_builtin_openmp_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_builtin_opencl_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_builtin_cuda_query(uint32_t host_abi, const iso_host *host);
const iso_backend *isomer_builtin_hip_query(uint32_t host_abi, const iso_host *host);

static const iso_backend *backend;
static void *device;

static const iso_backend *find(const char *name)
{
    static const struct {
        const char *name;
        iso_backend_query query;
    } known[] = {
        {"openmp", isomer_builtin_openmp_query},
        {"opencl", isomer_builtin_opencl_query},
        {"cuda", isomer_builtin_cuda_query},
        {"hip", isomer_builtin_hip_query},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].query(ISO_ABI_MAJOR << 16 | ISO_ABI_MINOR, &core_host);
        }
    }
    return NULL;
}

static void *stream_of(void)
{
    void *stream = NULL;
    CHECK_OK(backend->stream_create(device, 0, &stream));
    return stream;
}

static void close_stream(void *stream)
{
    CHECK_OK(backend->stream_sync(stream));
    backend->stream_destroy(stream);
}

static void pause_for(int64_t nanoseconds)
{
    const struct timespec time = {.tv_nsec = nanoseconds};
    (void)nanosleep(&time, NULL);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A call that waits until it may go on. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open, reached, skipped;
} gate;

#define GATE {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}

static iso_status wait_at(void *data, int32_t skip)
{
    gate *at = data;
    (void)pthread_mutex_lock(&at->lock);
    at->reached++;
    at->skipped += skip;
    (void)pthread_cond_broadcast(&at->changed);
    while (!at->open) {
        (void)pthread_cond_wait(&at->changed, &at->lock);
    }
    (void)pthread_mutex_unlock(&at->lock);
    return ISO_OK;
}

static void wait_reached(gate *at)
{
    (void)pthread_mutex_lock(&at->lock);
    while (!at->reached) {
        (void)pthread_cond_wait(&at->changed, &at->lock);
    }
    (void)pthread_mutex_unlock(&at->lock);
}

static void open_gate(gate *at)
{
    (void)pthread_mutex_lock(&at->lock);
    at->open = 1;
    (void)pthread_cond_broadcast(&at->changed);
    (void)pthread_mutex_unlock(&at->lock);
}

/* A call that waits until as many have come as are expected. */
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int expected, present;
} meeting;

static iso_status meet(void *data, int32_t skip)
{
    meeting *at = data;
    CHECK(!skip);
    (void)pthread_mutex_lock(&at->lock);
    at->present++;
    (void)pthread_cond_broadcast(&at->changed);
    while (at->present < at->expected) {
        (void)pthread_cond_wait(&at->changed, &at->lock);
    }
    (void)pthread_mutex_unlock(&at->lock);
    return ISO_OK;
}

typedef struct counter {
    int called, skipped;
} counter;

static iso_status count(void *data, int32_t skip)
{
    counter *at = data;
    at->called++;
    at->skipped += skip;
    return ISO_OK;
}

static iso_status fail(void *data, int32_t skip)
{
    const int *number = data;
    CHECK(!skip);
    return core_host.fail(ISO_TIMEOUT, "rank %d did not come", *number);
}

/* ---- order with the stream's other work ------------------------------------------------------ */

typedef struct place {
    iso_ref ref;
    float *host[4];
} place;

static place place_make(void)
{
    place made = {.ref = {NULL, 0}};
    CHECK_OK(backend->memory_alloc(device, BYTES, &made.ref.memory));
    for (int i = 0; i < 4; i++) {
        void *memory = NULL;
        int32_t pinned = 0;
        CHECK_OK(backend->host_alloc(device, BYTES, &memory, &pinned));
        made.host[i] = memory;
        memset(memory, 0, BYTES);
    }
    return made;
}

static void place_free(place *gone)
{
    for (int i = 0; i < 4; i++) {
        backend->host_free(device, gone->host[i]);
    }
    backend->memory_free(device, gone->ref.memory);
}

static iso_status transfer(void *stream, iso_transfer_kind kind, iso_ref ref, void *host)
{
    const bool to_host = kind == ISO_TRANSFER_READ;
    const iso_transfer what = {.size = (uint32_t)sizeof what,
                               .kind = kind,
                               .to = to_host ? (iso_ref){NULL, 0} : ref,
                               .from = to_host ? ref : (iso_ref){NULL, 0},
                               .host_from = to_host ? NULL : host,
                               .host_to = to_host ? host : NULL,
                               .to_pitch = BYTES,
                               .from_pitch = BYTES,
                               .width = BYTES,
                               .height = 1};
    return backend->transfer(stream, &what);
}

/* x = 2 * x, by a kernel. */
static iso_status twice(void *stream, iso_ref ref)
{
    const iso_map_op_args args = {.op = ISO_MAP_SCALE,
                                  .dtype = ISO_F32,
                                  .variant = ISO_VARIANT_TILED,
                                  .n = FLOATS,
                                  .alpha = 2,
                                  .x = ref,
                                  .z = ref};
    const iso_op op = {.size = (uint32_t)sizeof op,
                       .kind = ISO_OP_MAP,
                       .map = &args,
                       .args_size = (uint32_t)sizeof args};
    return backend->execute(stream, &op);
}

/* Checks what the stream has read before, and changes what it will write. */
static iso_status add_one(void *data, int32_t skip)
{
    const place *at = data;
    CHECK(!skip);
    for (int i = 0; i < FLOATS; i++) {
        CHECK(at->host[1][i] == 2 * at->host[0][i]);
        at->host[2][i] = at->host[1][i] + 1;
    }
    return ISO_OK;
}

static void check_order(void *stream)
{
    place at = place_make();
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < FLOATS; i++) {
            at.host[0][i] = (float)(i + round);
        }
        CHECK_OK(transfer(stream, ISO_TRANSFER_WRITE, at.ref, at.host[0]));
        CHECK_OK(twice(stream, at.ref));
        CHECK_OK(transfer(stream, ISO_TRANSFER_READ, at.ref, at.host[1]));
        CHECK_OK(backend->stream_call(stream, add_one, &at));
        CHECK_OK(transfer(stream, ISO_TRANSFER_WRITE, at.ref, at.host[2]));
        CHECK_OK(twice(stream, at.ref));
        CHECK_OK(transfer(stream, ISO_TRANSFER_READ, at.ref, at.host[3]));
        CHECK_OK(backend->stream_sync(stream));
        for (int i = 0; i < FLOATS; i++) {
            CHECK(at.host[3][i] == 2 * (2 * (float)(i + round) + 1));
        }
    }
    place_free(&at);
}

static void test_order(void)
{
    void *stream = stream_of();
    check_order(stream);
    close_stream(stream);
}

/* A stream that belongs to the program. */
static void test_adopted(void)
{
    void *own = stream_of();
    void *native = NULL;
    void *adopted = NULL;
    if (!backend->native_get || backend->native_get(device, ISO_NATIVE_STREAM, own, &native) ||
        backend->stream_adopt(device, native, &adopted)) {
        (void)printf("no stream can be adopted: %s\n", iso_last_error());
        backend->stream_destroy(own);
        return;
    }
    gate at = GATE;
    check_order(adopted);
    CHECK_OK(backend->stream_call(adopted, wait_at, &at));
    CHECK_STATUS(backend->stream_query(adopted), ISO_NOT_READY);
    CHECK_STATUS(backend->stream_query(adopted), ISO_NOT_READY);
    open_gate(&at);
    CHECK_OK(backend->stream_sync(adopted));
    CHECK_OK(backend->stream_query(adopted));
    backend->stream_destroy(adopted);
    close_stream(own);
}

/* ---- several streams ------------------------------------------------------------------------- */

static void test_meeting(void)
{
    void *streams[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = stream_of();
    }
    for (int round = 0; round < 20; round++) {
        meeting at = {.lock = PTHREAD_MUTEX_INITIALIZER,
                      .changed = PTHREAD_COND_INITIALIZER,
                      .expected = round < 10 ? 2 : STREAMS};
        for (int i = 0; i < at.expected; i++) { /* in both orders */
            const int which = round % 2 ? i : at.expected - 1 - i;
            CHECK_OK(backend->stream_call(streams[which], meet, &at));
        }
        for (int i = 0; i < at.expected; i++) {
            CHECK_OK(backend->stream_sync(streams[i]));
        }
        CHECK(at.present == at.expected);
    }
    /* Several meetings are queued before any can take place. */
    meeting all[10];
    for (int i = 0; i < 10; i++) {
        all[i] = (meeting){.lock = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER,
                           .expected = STREAMS};
    }
    for (int i = 0; i < STREAMS; i++) {
        for (int j = 0; j < 10; j++) {
            CHECK_OK(backend->stream_call(streams[i], meet, &all[j]));
        }
    }
    for (int i = 0; i < STREAMS; i++) {
        close_stream(streams[i]);
    }
}

/* A stream that waits for an event after a call. */
static void test_wait(void)
{
    void *first = stream_of();
    void *second = stream_of();
    void *event = NULL;
    gate at = GATE;
    gate behind = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .open = 1};
    CHECK_OK(backend->event_create(device, &event));
    CHECK_OK(backend->stream_call(first, wait_at, &at));
    CHECK_OK(backend->event_record(event, first));
    CHECK_OK(backend->stream_wait(second, event));
    CHECK_OK(backend->stream_call(second, wait_at, &behind));
    wait_reached(&at);
    pause_for(DELAY);
    (void)pthread_mutex_lock(&behind.lock);
    CHECK(!behind.reached);
    (void)pthread_mutex_unlock(&behind.lock);
    CHECK_STATUS(backend->event_query(event), ISO_NOT_READY);
    open_gate(&at);
    CHECK_OK(backend->stream_sync(second));
    CHECK(behind.reached == 1);
    CHECK_OK(backend->event_query(event));
    backend->event_destroy(event);
    close_stream(first);
    close_stream(second);
}

/* ---- queries and times ----------------------------------------------------------------------- */

static void test_query(void)
{
    void *stream = stream_of();
    void *before = NULL;
    void *after = NULL;
    int64_t elapsed = 0;
    gate at = GATE;
    CHECK_OK(backend->event_create(device, &before));
    CHECK_OK(backend->event_create(device, &after));
    const int64_t begin = check_now();
    CHECK_OK(backend->event_record(before, stream));
    CHECK_OK(backend->stream_call(stream, wait_at, &at));
    CHECK_OK(backend->event_record(after, stream));
    wait_reached(&at);
    CHECK_STATUS(backend->stream_query(stream), ISO_NOT_READY);
    CHECK_STATUS(backend->event_query(after), ISO_NOT_READY);
    CHECK_OK(backend->event_sync(before));
    pause_for(DELAY);
    CHECK_STATUS(backend->stream_query(stream), ISO_NOT_READY);
    CHECK_STATUS(backend->event_query(after), ISO_NOT_READY);
    open_gate(&at);
    CHECK_OK(backend->event_sync(after));
    CHECK_OK(backend->stream_sync(stream));
    const int64_t most = check_now() - begin + 5 * MILLISECOND;
    CHECK_OK(backend->stream_query(stream));
    CHECK_OK(backend->event_elapsed(before, after, &elapsed));
    CHECK(elapsed >= DELAY - MILLISECOND && elapsed <= most);
    backend->event_destroy(before);
    backend->event_destroy(after);
    close_stream(stream);
}

static void test_many(void)
{
    void *stream = stream_of();
    counter at = {0};
    CHECK_OK(backend->stream_call(stream, count, &at));
    CHECK_OK(backend->stream_sync(stream));
    int64_t begin = check_now();
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(backend->stream_call(stream, count, &at));
    }
    CHECK_OK(backend->stream_sync(stream));
    const int64_t together = check_now() - begin;
    CHECK(at.called == COUNT + 1 && !at.skipped);
    begin = check_now();
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(backend->stream_call(stream, count, &at));
        CHECK_OK(backend->stream_sync(stream));
    }
    (void)printf("an empty call: %.1f us; alone, with a wait for it: %.1f us\n",
                 (double)together / COUNT / 1000, (double)(check_now() - begin) / COUNT / 1000);
    close_stream(stream);
    /* The core synchronises a stream before it destroys it, but nothing is lost without that. */
    stream = stream_of();
    at = (counter){0};
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(backend->stream_call(stream, count, &at));
    }
    backend->stream_destroy(stream);
    CHECK(at.called == COUNT);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void failed(iso_status status)
{
    CHECK(status == ISO_TIMEOUT);
    CHECK(strstr(iso_last_error(), "rank 7 did not come") != NULL);
}

static void test_failure(void)
{
    void *stream = stream_of();
    void *other = stream_of();
    void *event = NULL;
    place at = place_make();
    int number = 7;
    gate first = GATE;
    counter later = {0};
    CHECK_OK(backend->event_create(device, &event));
    CHECK_OK(backend->stream_call(stream, wait_at, &first));
    CHECK_OK(backend->stream_call(stream, fail, &number));
    for (int i = 0; i < 10; i++) {
        CHECK_OK(backend->stream_call(stream, count, &later));
    }
    CHECK_OK(backend->event_record(event, stream));
    open_gate(&first);
    CHECK_OK(backend->event_sync(event));
    failed(backend->stream_sync(stream));
    failed(backend->stream_query(stream));
    failed(backend->stream_sync(stream));
    CHECK(later.called == 10 && later.skipped == 10);
    failed(backend->stream_call(stream, count, &later));
    failed(transfer(stream, ISO_TRANSFER_WRITE, at.ref, at.host[0]));
    failed(twice(stream, at.ref));
    CHECK(later.called == 10);
    CHECK_OK(backend->stream_call(other, count, &later));
    CHECK_OK(backend->stream_sync(other));
    CHECK(later.called == 11 && later.skipped == 10);
    backend->event_destroy(event);
    backend->stream_destroy(stream);
    close_stream(other);
    place_free(&at);
}

static void test_inline(void)
{
    void *stream = NULL;
    counter at = {0};
    if (backend->stream_create(device, ISO_STREAM_INLINE, &stream)) {
        return;
    }
    CHECK_STATUS(backend->stream_call(stream, count, &at), ISO_UNSUPPORTED);
    CHECK(!at.called);
    close_stream(stream);
}

/* A fake device is lost by the first kernel. */
static void test_lost(void)
{
    void *stream = stream_of();
    place at = place_make();
    gate first = GATE;
    counter later = {0};
    CHECK_OK(backend->stream_call(stream, wait_at, &first));
    CHECK_OK(twice(stream, at.ref));
    for (int i = 0; i < 10; i++) {
        CHECK_OK(backend->stream_call(stream, count, &later));
    }
    open_gate(&first);
    CHECK_STATUS(backend->stream_sync(stream), ISO_DEVICE_LOST);
    CHECK(backend->stream_call(stream, count, &later) == ISO_DEVICE_LOST);
    backend->stream_destroy(stream);
    CHECK(!first.skipped && later.called == 10 && later.skipped == 10);
    place_free(&at);
}

static void test_refused(void)
{
    void *stream = stream_of();
    place at = place_make();
    counter none = {0};
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(backend->stream_call(stream, count, &none), ISO_UNSUPPORTED);
        CHECK(strstr(iso_last_error(), "StreamWaitValue") != NULL);
    }
    CHECK_OK(transfer(stream, ISO_TRANSFER_WRITE, at.ref, at.host[0]));
    close_stream(stream);
    CHECK(!none.called);
    place_free(&at);
}

static gate last_gate = GATE;
static counter last_count;
static void *last_stream;

/* Runs after the library's own handlers, because it was registered before them. */
static void finish_late(void)
{
    pause_for(DELAY);
    CHECK(!last_count.called);
    open_gate(&last_gate);
    CHECK_OK(backend->stream_sync(last_stream));
    CHECK(last_count.called == 1 && !last_count.skipped);
    backend->stream_destroy(last_stream);
    backend->device_close(device);
}

static void test_exit(void)
{
    last_stream = stream_of();
    CHECK_OK(backend->stream_call(last_stream, wait_at, &last_gate));
    CHECK_OK(backend->stream_call(last_stream, count, &last_count));
    wait_reached(&last_gate);
    exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 || argc == 3);
    backend = find(argv[1]);
    CHECK(backend != NULL && backend->stream_call != NULL);
    iso_probe *probe = check_alloc(sizeof *probe);
    memset(probe, 0, sizeof *probe);
    probe->size = (uint32_t)sizeof *probe;
    CHECK_OK(backend->probe(probe));
    if (probe->state != ISO_STATE_OK) {
        (void)printf("SKIP: %s: %s\n", argv[1], probe->reason);
        free(probe);
        return SKIPPED;
    }
    free(probe);
    const char *how = argc == 3 ? argv[2] : "";
    CHECK(strcmp(how, "handler") != 0 || atexit(finish_late) == 0);
    CHECK_OK(backend->device_open(0, &device));
    if (strcmp(how, "exit") == 0 || strcmp(how, "handler") == 0) {
        test_exit();
    }
    if (strcmp(how, "refused") == 0) {
        test_refused();
    } else if (strcmp(how, "lost") == 0) {
        test_lost();
    } else {
        test_order();
        test_adopted();
        test_meeting();
        test_wait();
        test_query();
        test_many();
        test_failure();
        test_inline();
    }
    backend->device_close(device);
    return 0;
}
