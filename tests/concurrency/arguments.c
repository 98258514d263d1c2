/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.c DEVICE - one kernel with other arguments in each launch: in turn on two streams, and
 * from several threads at once, also while buffers come and go. A backend that leaves an argument
 * as an earlier launch set it gives wrong numbers.
 */
#include "tests/concurrency/check.h"

#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__) || defined(TEST_THREAD_SANITIZER)
enum { ROUNDS = 60 };
#else
enum { ROUNDS = 300 };
#endif
enum { THREADS = 3, PLACES = 8, STEP = 16, BYTES = PLACES * STEP };

typedef struct worker {
    iso_device device;
    int number;
} worker;

/* The number at place `to` becomes the sum of those at `x` and `y`, which may be in other buffers.
 */
static void add(iso_stream stream, const iso_buffer from[2], int x, int y, iso_buffer in, int to)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_ADD;
    args.dtype = ISO_I64;
    args.n = 1;
    args.x = (iso_operand){from[0], x * STEP};
    args.y = (iso_operand){from[1], y * STEP};
    args.z = (iso_operand){in, to * STEP};
    CHECK_OK(iso_map(stream, &args));
}

static void set(iso_stream stream, iso_buffer buffer, int64_t first)
{
    int64_t numbers[BYTES / 8] = {0};
    for (int i = 0; i < PLACES; i++) {
        numbers[i * STEP / 8] = first + i;
    }
    CHECK_OK(iso_write(stream, (iso_operand){buffer, 0}, numbers, BYTES));
    CHECK_OK(iso_stream_sync(stream));
}

static void check(iso_stream stream, iso_buffer buffer, int place, int64_t wanted)
{
    int64_t number = -1;
    CHECK_OK(iso_read(stream, &number, (iso_operand){buffer, place * STEP}, 8));
    CHECK_OK(iso_stream_sync(stream));
    CHECK(number == wanted);
}

/* Each launch differs from the last one of either stream in one argument, in several, or in none.
 */
static void take_turns(iso_device device)
{
    const iso_stream streams[] = {check_stream(device, 0), check_stream(device, 0)};
    iso_buffer buffers[2];
    for (int i = 0; i < 2; i++) {
        buffers[i] = check_buffer(device, BYTES).buffer;
        set(streams[i], buffers[i], 100 * i);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            const iso_buffer own[] = {buffers[i], buffers[i]};
            add(streams[i], own, round % 3, round / 2 % 4, buffers[i], 7);
            add(streams[i], own, round % 3, 1, buffers[i], 6);
            add(streams[i], own, round % 3, 1, buffers[i], 6);
        }
        for (int i = 0; i < 2; i++) {
            check(streams[i], buffers[i], 7, 200 * i + round % 3 + round / 2 % 4);
            check(streams[i], buffers[i], 6, 200 * i + round % 3 + 1);
        }
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(iso_stream_destroy(streams[i]));
        CHECK_OK(iso_buffer_destroy(buffers[i]));
    }
}

/* A buffer that is new in each round may get the handle of the one before. */
static void *work(void *argument)
{
    const worker *own = argument;
    const iso_stream stream = check_stream(own->device, 0);
    const iso_buffer kept = check_buffer(own->device, BYTES).buffer;
    set(stream, kept, 1000 * own->number);
    for (int round = 0; round < ROUNDS; round++) {
        const iso_buffer other = check_buffer(own->device, BYTES * (1 + round % 2)).buffer;
        const iso_buffer from[] = {kept, other};
        set(stream, other, round);
        add(stream, from, round % 5, own->number % 3, kept, 7);
        add(stream, from, 2, 3, other, 6);
        check(stream, kept, 7, 1000 * own->number + round % 5 + round + own->number % 3);
        check(stream, other, 6, 1000 * own->number + 2 + round + 3);
        CHECK_OK(iso_buffer_destroy(other));
    }
    CHECK_OK(iso_buffer_destroy(kept));
    CHECK_OK(iso_stream_destroy(stream));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    iso_device device = {0};
    if (iso_device_open(argc > 1 ? argv[1] : "openmp", &device)) {
        (void)printf("%s\n", iso_last_error());
        return 77;
    }
    take_turns(device);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){device, i + 1};
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_OK(iso_device_close(device));
    return 0;
}
