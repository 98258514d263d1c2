/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c - graphs and threads: one graph on several streams at once, recordings at the same
 * time, and a graph, a buffer or a stream that goes while another thread launches. */
#include "tests/concurrency/check.h"

#include <pthread.h>
#include <stdatomic.h>

#if defined(__SANITIZE_ADDRESS__) || defined(TEST_THREAD_SANITIZER)
enum { LAUNCHES = 300, RACES = 30, REPLACED = 300 };
#else
enum { LAUNCHES = 1000, RACES = 60, REPLACED = 1500 };
#endif
enum { THREADS = 4, STEPS = 8, BYTES = 4096 };

typedef struct scene {
    iso_device device;
    iso_graph graph;
    iso_buffer buffer;
    iso_stream stream;
    _Atomic int launches;
    _Atomic int next; /* number of the next thread */
    _Atomic int over;
    _Atomic uint64_t any; /* a stream that is replaced */
} scene;

/* The number at the buffer's start grows by that after it, STEPS times, each time through a copy:
 * if two launches run at once, one loses what the other adds. */
static void submit(iso_stream stream, iso_buffer buffer)
{
    iso_map_args add = ISO_MAP_ARGS_INIT;
    add.op = ISO_MAP_ADD;
    add.dtype = ISO_I64;
    add.n = 1;
    add.x = (iso_operand){buffer, 64};
    add.y = (iso_operand){buffer, 8};
    add.z = (iso_operand){buffer, 0};
    for (int i = 0; i < STEPS; i++) {
        CHECK_OK(iso_copy(stream, add.x, add.z, 8));
        CHECK_OK(iso_map(stream, &add));
    }
}

static void set(iso_stream stream, iso_buffer buffer)
{
    static const int64_t numbers[] = {0, 1};
    CHECK_OK(iso_write(stream, (iso_operand){buffer, 0}, numbers, sizeof numbers));
    CHECK_OK(iso_stream_sync(stream));
}

static int64_t get(iso_stream stream, iso_buffer buffer)
{
    int64_t number = -1;
    CHECK_OK(iso_read(stream, &number, (iso_operand){buffer, 0}, sizeof number));
    CHECK_OK(iso_stream_sync(stream));
    return number;
}

static iso_graph record(iso_stream stream, iso_buffer buffer)
{
    iso_graph graph = {0};
    CHECK_OK(iso_graph_begin(stream));
    submit(stream, buffer);
    CHECK_OK(iso_graph_end(stream, &graph));
    return graph;
}

/* Every second stream is inline, and some are replaced between launches. */
static void *launch(void *argument)
{
    scene *at = argument;
    const int number = atomic_fetch_add(&at->next, 1);
    iso_stream stream = check_stream(at->device, number % 2 ? ISO_STREAM_INLINE : 0);
    for (int i = 0; i < LAUNCHES; i++) {
        CHECK_OK(iso_graph_launch(at->graph, stream));
        if (i % 10 == number) {
            CHECK_OK(iso_stream_destroy(stream));
            stream = check_stream(at->device, i % 20 == number ? ISO_STREAM_INLINE : 0);
        }
    }
    CHECK_OK(iso_stream_destroy(stream));
    return NULL;
}

static void *record_own(void *argument)
{
    const scene *at = argument;
    iso_stream stream = check_stream(at->device, 0);
    iso_operand own = check_buffer(at->device, BYTES);
    set(stream, own.buffer);
    for (int i = 0; i < 10; i++) {
        const iso_graph graph = record(stream, own.buffer);
        CHECK_OK(iso_graph_launch(graph, stream));
        CHECK_OK(iso_graph_destroy(graph));
    }
    CHECK(get(stream, own.buffer) == 10 * STEPS);
    CHECK_OK(iso_buffer_destroy(own.buffer));
    CHECK_OK(iso_stream_destroy(stream));
    return NULL;
}

static void together(scene *at, void *(*body)(void *))
{
    pthread_t threads[THREADS];
    atomic_store(&at->next, 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, body, at) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

/* Launches until something is gone. */
static void *launch_on(void *argument)
{
    scene *at = argument;
    iso_status status = ISO_OK;
    while (status == ISO_OK) {
        status = iso_graph_launch(at->graph, at->stream);
        atomic_fetch_add(&at->launches, 1);
    }
    CHECK(status == ISO_INVALID);
    return NULL;
}

/* Each kind of object is destroyed during launches, on both kinds of streams. */
static void race(scene *at, int number)
{
    pthread_t thread;
    const uint32_t flags = number % 2 ? ISO_STREAM_INLINE : 0;
    const iso_stream recorder = check_stream(at->device, flags);
    at->stream = check_stream(at->device, flags);
    at->buffer = check_buffer(at->device, BYTES).buffer;
    set(at->stream, at->buffer);
    at->graph = record(recorder, at->buffer);
    atomic_store(&at->launches, 0);
    CHECK(pthread_create(&thread, NULL, launch_on, at) == 0);
    while (atomic_load(&at->launches) < 3) {
    }
    if (number % 3 == 0) {
        CHECK_OK(iso_buffer_destroy(at->buffer));
    } else if (number % 3 == 1) {
        CHECK_OK(iso_graph_destroy(at->graph));
    } else {
        CHECK_OK(iso_stream_destroy(at->stream));
    }
    CHECK(pthread_join(thread, NULL) == 0);
    if (number % 3 != 0) {
        const int64_t sum = get(recorder, at->buffer);
        CHECK(sum > 0 && sum % STEPS == 0);
        CHECK_OK(iso_buffer_destroy(at->buffer));
    }
    if (number % 3 != 1) {
        CHECK_OK(iso_graph_destroy(at->graph));
    }
    if (number % 3 != 2) {
        CHECK_OK(iso_stream_destroy(at->stream));
    }
    CHECK_OK(iso_stream_destroy(recorder));
}

/* Launches on the stream of the moment, which may be gone. */
static void *launch_on_any(void *argument)
{
    scene *at = argument;
    while (!atomic_load(&at->over)) {
        const iso_status status = iso_graph_launch(at->graph, (iso_stream){atomic_load(&at->any)});
        CHECK(status == ISO_OK || status == ISO_INVALID);
        atomic_fetch_add(&at->launches, 1);
    }
    return NULL;
}

static void *launch_on_one(void *argument)
{
    scene *at = argument;
    while (!atomic_load(&at->over)) {
        CHECK_OK(iso_graph_launch(at->graph, at->stream));
        CHECK_OK(iso_stream_sync(at->stream));
    }
    return NULL;
}

/* Two threads launch one graph on two streams, and one of these is replaced again and again: who
 * waits for the end of a stream must not keep it from ending. */
static void replace_under_two(scene *at)
{
    pthread_t threads[2];
    atomic_store(&at->launches, 0);
    atomic_store(&at->any, check_stream(at->device, 0).id);
    CHECK(pthread_create(&threads[0], NULL, launch_on_any, at) == 0);
    CHECK(pthread_create(&threads[1], NULL, launch_on_one, at) == 0);
    for (int i = 0; i < REPLACED; i++) {
        const iso_stream gone = {atomic_exchange(&at->any, check_stream(at->device, 0).id)};
        CHECK_OK(iso_stream_destroy(gone));
    }
    while (!atomic_load(&at->launches)) {
    }
    atomic_store(&at->over, 1);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_OK(iso_stream_destroy((iso_stream){atomic_load(&at->any)}));
}

int main(void)
{
    scene at = {.device = check_device()};
    at.stream = check_stream(at.device, 0);
    at.buffer = check_buffer(at.device, BYTES).buffer;
    set(at.stream, at.buffer);
    at.graph = record(at.stream, at.buffer);
    together(&at, launch);
    CHECK_OK(iso_graph_launch(at.graph, at.stream)); /* after all others */
    CHECK(get(at.stream, at.buffer) == (THREADS * LAUNCHES + 1) * STEPS);
    replace_under_two(&at);
    together(&at, record_own);
    for (int i = 0; i < RACES; i++) {
        race(&at, i);
    }
    CHECK_OK(iso_device_close(at.device));
    return 0;
}
