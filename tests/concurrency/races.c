/* SPDX-License-Identifier: Apache-2.0 */
/* races.c - concurrent calls: streams created while other threads drain the device, one block of
 * memory pinned and unpinned by two threads, a buffer destroyed while a call with it is repeated,
 * and an inline stream that is queried while it works. */
#include "tests/concurrency/check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 300, BLOCK = 4096, BUSY = 700, TRIES = 20 };

enum { WAITS, RUNS, DONE };

typedef struct scene {
    iso_device device;
    iso_stream stream;
    void *block;
    check_product product;
    _Atomic int phase; /* WAITS, ...: state of the multiplying thread */
    iso_buffer buffer;
    _Atomic int calls; /* with the buffer, so far */
} scene;

static void *come_and_go(void *argument)
{
    scene *at = argument;
    for (int i = 0; i < ROUNDS; i++) {
        iso_stream stream = check_stream(at->device, i % 2 ? ISO_STREAM_INLINE : 0);
        CHECK_OK(iso_stream_destroy(stream));
    }
    return NULL;
}

static void *drain(void *argument)
{
    scene *at = argument;
    for (int i = 0; i < ROUNDS; i++) {
        void *block = NULL;
        CHECK_OK(iso_host_alloc(at->device, BLOCK, &block, NULL));
        CHECK_OK(iso_host_free(at->device, block));
    }
    return NULL;
}

/* The order of the two calls is open: each returns OK or INVALID, and nothing breaks. */
static void *pin(void *argument)
{
    scene *at = argument;
    for (int i = 0; i < ROUNDS * 10; i++) {
        iso_status status = iso_host_register(at->device, at->block, BLOCK, NULL);
        CHECK(status == ISO_OK || status == ISO_INVALID);
        status = iso_host_unregister(at->device, at->block);
        CHECK(status == ISO_OK || status == ISO_INVALID);
    }
    return NULL;
}

/* Repeats a call until its buffer is gone. */
static void *repeat(void *argument)
{
    scene *at = argument;
    iso_map_args args = ISO_MAP_ARGS_INIT;
    iso_status status = ISO_OK;
    args.op = ISO_MAP_SCALE;
    args.dtype = ISO_F32;
    args.n = BLOCK / 4;
    args.alpha = 0.5;
    args.x.buffer = args.z.buffer = at->buffer;
    while (status == ISO_OK) {
        status = iso_map(at->stream, &args);
        atomic_fetch_add(&at->calls, 1);
    }
    CHECK(status == ISO_INVALID);
    return NULL;
}

static void *destroy(void *argument)
{
    scene *at = argument;
    while (atomic_load(&at->calls) < 5) {
    }
    CHECK_OK(iso_buffer_destroy(at->buffer));
    return NULL;
}

static void together(scene *at, void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    CHECK(pthread_create(&threads[0], NULL, first, at) == 0);
    CHECK(pthread_create(&threads[1], NULL, second, at) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_join(threads[1], NULL) == 0);
}

static void *multiply(void *argument)
{
    scene *at = argument;
    iso_gemm_args args = check_product_args(&at->product, ISO_VARIANT_TILED);
    atomic_store(&at->phase, RUNS);
    CHECK_OK(iso_gemm(at->stream, &args));
    atomic_store(&at->phase, DONE);
    return NULL;
}

/* Whether the stream was seen at work in one attempt: a product may be over before the query. */
static int seen_busy(scene *at)
{
    pthread_t thread;
    int seen = 0;
    atomic_store(&at->phase, WAITS);
    CHECK(pthread_create(&thread, NULL, multiply, at) == 0);
    while (atomic_load(&at->phase) == WAITS) { /* it may be done before this thread looks */
    }
    while (atomic_load(&at->phase) == RUNS) {
        seen |= iso_stream_query(at->stream) == ISO_NOT_READY;
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_OK(iso_stream_query(at->stream));
    return seen;
}

int main(void)
{
    scene at = {.device = check_device()};
    together(&at, come_and_go, drain);
    at.block = check_alloc(BLOCK);
    together(&at, pin, pin);
    free(at.block);
    for (int i = 0; i < ROUNDS; i++) {
        at.stream = check_stream(at.device, i % 2 ? ISO_STREAM_INLINE : 0);
        CHECK_OK(iso_buffer_create(at.device, BLOCK, &at.buffer));
        at.calls = 0;
        together(&at, repeat, destroy);
        CHECK_OK(iso_stream_destroy(at.stream));
    }
    at.stream = check_stream(at.device, ISO_STREAM_INLINE);
    at.product = check_product_make(at.device, BUSY, 1);
    int seen = 0;
    for (int i = 0; i < TRIES && !seen; i++) {
        seen = seen_busy(&at);
    }
    CHECK(seen);
    check_product_free(&at.product);
    CHECK_OK(iso_device_close(at.device));
    return 0;
}
