/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - threads with one stream each, one stream for several threads, waiting while others
 * submit, and devices opened and closed at the same time. */
#include "tests/concurrency/check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 12, SIZE = 96 };

typedef struct task {
    pthread_t thread;
    int number;
    iso_device device;
    iso_stream stream;
    iso_operand counter;
    _Atomic int *finished;
} task;

static void run_all(task *tasks, int count, void *(*body)(void *))
{
    for (int i = 0; i < count; i++) {
        tasks[i].number = i;
        CHECK(pthread_create(&tasks[i].thread, NULL, body, &tasks[i]) == 0);
    }
    for (int i = 0; i < count; i++) {
        CHECK(pthread_join(tasks[i].thread, NULL) == 0);
    }
}

/* A stream of its own; every other one is inline. */
static void *own_stream(void *argument)
{
    task *mine = argument;
    iso_stream stream = check_stream(mine->device, mine->number % 2 ? ISO_STREAM_INLINE : 0);
    for (int round = 0; round < ROUNDS; round++) {
        check_product product = check_product_make(mine->device, SIZE + round, mine->number);
        check_product_submit(&product, stream, round % 2 ? ISO_VARIANT_NAIVE : ISO_VARIANT_TILED);
        CHECK_OK(iso_stream_sync(stream));
        check_product_result(&product);
        check_product_free(&product);
    }
    CHECK_OK(iso_stream_destroy(stream));
    return NULL;
}

/* Each thread runs a series of commands on its own row of one buffer; a single stream moves the
 * rows. */
static void *shared_stream(void *argument)
{
    task *mine = argument;
    int64_t rows[2] = {0, 0};
    iso_operand row = mine->counter;
    row.offset += mine->number * (int64_t)sizeof rows[0];
    for (int64_t round = 1; round <= 200; round++) {
        rows[0] = round * 10 + mine->number;
        CHECK_OK(iso_write(mine->stream, row, &rows[0], (int64_t)sizeof rows[0]));
        CHECK_OK(iso_read(mine->stream, &rows[1], row, (int64_t)sizeof rows[1]));
        CHECK_OK(iso_stream_sync(mine->stream));
        CHECK(rows[0] == rows[1]);
    }
    atomic_fetch_add(mine->finished, 1);
    return NULL;
}

/* Queries all the time while others submit. */
static void *watch(void *argument)
{
    task *mine = argument;
    while (atomic_load(mine->finished) < THREADS - 1) {
        iso_status status = iso_stream_query(mine->stream);
        CHECK(status == ISO_OK || status == ISO_NOT_READY);
        CHECK_OK(iso_stream_sync(mine->stream));
    }
    return NULL;
}

static void *shared_or_watch(void *argument)
{
    const task *mine = argument;
    return mine->number == THREADS - 1 ? watch(argument) : shared_stream(argument);
}

/* Opens a device of its own, again and again: the team is created and ended in between. */
static void *own_device(void *argument)
{
    task *mine = argument;
    for (int round = 0; round < 6; round++) {
        iso_device device = check_device();
        iso_stream stream = check_stream(device, 0);
        check_product product = check_product_make(device, 64, mine->number + round);
        check_product_submit(&product, stream, ISO_VARIANT_TILED);
        CHECK_OK(iso_stream_sync(stream));
        check_product_result(&product);
        check_product_free(&product);
        CHECK_OK(iso_device_close(device)); /* with its stream */
        CHECK_STATUS(iso_stream_sync(stream), ISO_INVALID);
    }
    return NULL;
}

int main(void)
{
    task tasks[THREADS];
    _Atomic int finished = 0;
    memset(tasks, 0, sizeof tasks);
    run_all(tasks, THREADS, own_device);

    iso_device device = check_device();
    iso_stream stream = check_stream(device, 0);
    iso_operand counter = check_buffer(device, THREADS * (int64_t)sizeof(int64_t));
    for (int i = 0; i < THREADS; i++) {
        tasks[i].device = device;
        tasks[i].stream = stream;
        tasks[i].counter = counter;
        tasks[i].finished = &finished;
    }
    run_all(tasks, THREADS, own_stream);
    run_all(tasks, THREADS, shared_or_watch);
    CHECK_OK(iso_device_close(device));
    return 0;
}
