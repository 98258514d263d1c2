/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - random work on many streams, ordered by events where needed, compared with the same
 * work done in order. Argument: the first seed. */
#include "tests/concurrency/check.h"

enum {
    STREAMS = 6, /* the last one is inline */
    BUFFERS = 7,
    SIDE = 380, /* side of a square of 8-byte elements: too large to be moved without the team */
    COMMANDS = 150,
    SEEDS = 3
};
#define ELEMENTS ((int64_t)SIDE * SIDE)
#define BYTES    (ELEMENTS * (int64_t)sizeof(uint64_t))

static uint64_t state;

static int below(int count)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)count);
}

/* The last users of a buffer: for each stream an event after its last use, and which use wrote. */
typedef struct place {
    iso_operand operand;
    uint64_t *expected;
    iso_event used[STREAMS];
    int was_used[STREAMS], was_written[STREAMS];
} place;

static iso_device device;
static iso_stream streams[STREAMS];
static place places[BUFFERS];

/* Makes the stream wait for every use that this one must follow. */
static void come_after(int stream, const place *used, int writes)
{
    for (int other = 0; other < STREAMS; other++) {
        if (other != stream && used->was_used[other] && (writes || used->was_written[other])) {
            CHECK_OK(iso_stream_wait(streams[stream], used->used[other]));
        }
    }
}

static void note_use(int stream, place *used, int writes)
{
    CHECK_OK(iso_event_record(used->used[stream], streams[stream]));
    used->was_used[stream] = 1;
    /* A write on this stream still counts as one for those who wait for a later read on it. */
    used->was_written[stream] |= writes;
}

static void fill(int stream, place *to)
{
    uint64_t pattern = state | 1;
    CHECK_OK(iso_fill(streams[stream], to->operand, &pattern, (int64_t)sizeof pattern, BYTES));
    for (int64_t i = 0; i < ELEMENTS; i++) {
        to->expected[i] = pattern;
    }
}

static void copy_part(int stream, place *to, const place *from)
{
    int64_t first = below(SIDE), rows = 1 + below(SIDE - (int)first), cols = 1 + below(SIDE);
    int64_t pitch = SIDE * (int64_t)sizeof(uint64_t);
    iso_operand target = to->operand, source = from->operand;
    target.offset += first * pitch;
    CHECK_OK(iso_copy_2d(streams[stream], target, pitch, source, pitch,
                         cols * (int64_t)sizeof(uint64_t), rows));
    for (int64_t i = 0; i < rows; i++) {
        memcpy(to->expected + (first + i) * SIDE, from->expected + i * SIDE,
               (size_t)cols * sizeof(uint64_t));
    }
}

static void transpose(int stream, place *to, const place *from)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.variant = below(2) ? ISO_VARIANT_NAIVE : ISO_VARIANT_TILED;
    args.element_bytes = (int64_t)sizeof(uint64_t);
    args.rows = args.cols = SIDE;
    args.from = from->operand;
    args.to = to->operand;
    CHECK_OK(iso_transpose(streams[stream], &args));
    for (int64_t i = 0; i < SIDE; i++) {
        for (int64_t j = 0; j < SIDE; j++) {
            to->expected[j * SIDE + i] = from->expected[i * SIDE + j];
        }
    }
}

static void command(void)
{
    int stream = below(STREAMS), what = below(5);
    place *to = &places[below(BUFFERS)], *from = &places[below(BUFFERS)];
    int reads = what > 0 && to != from;
    come_after(stream, to, 1);
    if (reads) {
        come_after(stream, from, 0);
    }
    if (!reads) {
        fill(stream, to);
    } else if (what < 3) {
        copy_part(stream, to, from);
    } else {
        transpose(stream, to, from);
    }
    note_use(stream, to, 1);
    if (reads) {
        note_use(stream, from, 0);
    }
}

static void run(uint64_t seed, uint64_t *result)
{
    state = seed;
    for (int i = 0; i < COMMANDS; i++) {
        command();
    }
    for (int i = 0; i < BUFFERS; i++) {
        come_after(0, &places[i], 0);
        CHECK_OK(iso_read(streams[0], result, places[i].operand, BYTES));
        CHECK_OK(iso_stream_sync(streams[0]));
        if (memcmp(result, places[i].expected, (size_t)BYTES) != 0) {
            (void)fprintf(stderr, "seed %d: buffer %d differs\n", (int)seed, i);
            _Exit(1);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    device = check_device();
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = check_stream(device, i == STREAMS - 1 ? ISO_STREAM_INLINE : 0);
    }
    for (int i = 0; i < BUFFERS; i++) {
        places[i].operand = check_buffer(device, BYTES);
        places[i].expected = check_alloc((size_t)BYTES);
        for (int s = 0; s < STREAMS; s++) {
            CHECK_OK(iso_event_create(device, &places[i].used[s]));
        }
        fill(0, &places[i]);
        note_use(0, &places[i], 1);
    }
    uint64_t *result = check_alloc((size_t)BYTES);
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        run(seed, result);
    }
    free(result);
    for (int i = 0; i < BUFFERS; i++) {
        free(places[i].expected);
    }
    CHECK_OK(iso_device_close(device));
    return 0;
}
