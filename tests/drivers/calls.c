/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - what a call of the library asks of an OpenCL driver, counted by tests/drivers/icd.c,
 * and kernels that fail late.
 *
 *   calls FAULTY events     each launch has an event
 *   calls FAULTY none       a launch has an event only if one of the program's was recorded before
 *
 * FAULTY is the counting driver, which has to be the only one. Prints the counts.
 */
#include <isomer/isomer.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10, BYTES = 4096 };
/* In the order of fault_counts. */
enum { SET, MARKER, RETAIN, RELEASE, FLUSH, LAUNCH, INFO, FINISH, COUNTS };
static const char *const names[COUNTS] = {"set",   "marker", "retain", "release",
                                          "flush", "launch", "info",   "finish"};

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: not so: %s: %s\n", __FILE__, __LINE__, #condition,       \
                          iso_last_error());                                                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static _Atomic int *counts;
static int before[COUNTS];
static iso_device device;
static iso_stream stream;
static iso_buffer buffer;

static void begin(void)
{
    for (int i = 0; i < COUNTS; i++) {
        before[i] = counts[i];
    }
}

static int of(int which)
{
    return counts[which] - before[which];
}

static void show(const char *what)
{
    (void)printf("%-40s", what);
    for (int i = 0; i < COUNTS; i++) {
        (void)printf(" %s %.1f", names[i], (double)of(i) / ROUNDS);
    }
    (void)printf("\n");
}

/* z = x + x, of numbers at these places. */
static void add(iso_buffer in, int64_t x, int64_t z)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_ADD;
    args.dtype = ISO_I64;
    args.n = 1;
    args.x = args.y = (iso_operand){in, x * 16};
    args.z = (iso_operand){in, z * 16};
    CHECK(iso_map(stream, &args) == ISO_OK);
}

static void put(iso_buffer in, int64_t place, int64_t number)
{
    CHECK(iso_write(stream, (iso_operand){in, place * 16}, &number, 8) == ISO_OK);
    CHECK(iso_stream_sync(stream) == ISO_OK);
}

static int64_t get(iso_buffer in, int64_t place)
{
    int64_t number = -1;
    CHECK(iso_read(stream, &number, (iso_operand){in, place * 16}, 8) == ISO_OK);
    CHECK(iso_stream_sync(stream) == ISO_OK);
    return number;
}

static void count_same(bool events)
{
    add(buffer, 0, 1);
    CHECK(iso_stream_sync(stream) == ISO_OK);
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        add(buffer, 0, 1);
    }
    show("the same map");
    CHECK(of(SET) == 0 && of(LAUNCH) == ROUNDS && of(MARKER) == 0);
    CHECK(events || (of(RETAIN) == 0 && of(RELEASE) == 0 && of(INFO) == 0));
    begin();
    CHECK(iso_stream_sync(stream) == ISO_OK);
    CHECK(of(FINISH) == 1 && of(MARKER) == 0);
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        add(buffer, 0, 1);
        CHECK(iso_stream_sync(stream) == ISO_OK);
    }
    show("the same map and a synchronisation");
    CHECK(of(SET) == 0 && of(LAUNCH) == ROUNDS && of(MARKER) == 0 && of(FINISH) == ROUNDS);
    CHECK(events || of(INFO) == 0);
}

/* Only the place of the result changes. */
static void count_other(void)
{
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        add(buffer, 0, 1 + i % 2);
    }
    show("two maps in turn");
    CHECK(of(SET) <= ROUNDS && of(SET) >= ROUNDS - 1);
    CHECK(iso_stream_sync(stream) == ISO_OK);
}

/* A new buffer may have the handle of the one before it. */
static void count_buffers(void)
{
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        iso_buffer other;
        CHECK(iso_buffer_create(device, BYTES, &other) == ISO_OK);
        put(other, 0, i + 1);
        add(other, 0, 1);
        CHECK(get(other, 1) == 2 * (i + 1));
        CHECK(iso_buffer_destroy(other) == ISO_OK);
    }
    show("a map of a new buffer");
    CHECK(of(SET) >= 3 * ROUNDS); /* x, y and z */
}

/* What follows a launch without an event still sees its end. */
static void count_ends(bool events)
{
    iso_event start, end;
    int64_t nanoseconds = -1;
    iso_status status = ISO_NOT_READY;
    CHECK(iso_event_create(device, &start) == ISO_OK && iso_event_create(device, &end) == ISO_OK);
    begin();
    CHECK(iso_event_record(start, stream) == ISO_OK);
    CHECK(of(MARKER) == 1);
    add(buffer, 0, 1);
    CHECK(of(MARKER) == 1); /* the map's event tells when it began */
    CHECK(iso_event_record(end, stream) == ISO_OK);
    CHECK(iso_event_sync(end) == ISO_OK);
    CHECK(iso_event_elapsed(start, end, &nanoseconds) == ISO_OK && nanoseconds > 0);
    add(buffer, 0, 1);
    add(buffer, 0, 1);
    begin();
    CHECK(iso_event_record(end, stream) == ISO_OK);
    CHECK(events || of(MARKER) >= 1);
    CHECK(iso_event_sync(end) == ISO_OK);
    CHECK(iso_event_elapsed(start, end, &nanoseconds) == ISO_OK && nanoseconds > 0);
    add(buffer, 0, 1); /* has an event, because one was recorded before */
    add(buffer, 0, 1);
    begin();
    while (status == ISO_NOT_READY) {
        status = iso_stream_query(stream);
    }
    CHECK(status == ISO_OK && of(MARKER) == !events);
    CHECK(iso_event_destroy(start) == ISO_OK && iso_event_destroy(end) == ISO_OK);
}

/* A kernel fails after its submission. */
static void fail(bool events)
{
    iso_stream other;
    CHECK(iso_stream_sync(stream) == ISO_OK);
    CHECK(setenv("FAULT", events ? "late" : "lost", 1) == 0);
    add(buffer, 0, 1);
    CHECK(setenv("FAULT", "", 1) == 0);
    if (events) { /* later commands do not hide it */
        add(buffer, 0, 1);
    }
    const iso_status status = iso_stream_sync(stream);
    (void)printf("%s\n", iso_last_error());
    CHECK(status == (events ? ISO_BACKEND : ISO_DEVICE_LOST));
    CHECK(strstr(iso_last_error(), "CL_OUT_OF_RESOURCES") != NULL);
    CHECK(iso_stream_sync(stream) == status);
    iso_status asked = ISO_NOT_READY; /* until a marker is complete */
    while (asked == ISO_NOT_READY) {
        asked = iso_stream_query(stream);
    }
    CHECK(asked == status);
    if (events) { /* other streams are not concerned */
        CHECK(iso_stream_create(device, 0, &other) == ISO_OK);
        CHECK(iso_stream_sync(other) == ISO_OK);
        CHECK(iso_stream_destroy(other) == ISO_OK);
    }
}

int main(int argc, char **argv)
{
    const bool events = argc > 2 && strcmp(argv[2], "events") == 0;
    if (argc < 3 || iso_device_open("opencl", &device)) {
        (void)fprintf(stderr, "calls FAULTY events|none: %s\n", iso_last_error());
        return 1;
    }
    void *driver = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver != NULL);
    *(void **)(void *)&counts = dlsym(driver, "fault_counts");
    CHECK(counts != NULL);
    CHECK(iso_stream_create(device, 0, &stream) == ISO_OK);
    CHECK(iso_buffer_create(device, BYTES, &buffer) == ISO_OK);
    put(buffer, 0, 21);
    count_same(events);
    CHECK(get(buffer, 1) == 42);
    count_other();
    CHECK(get(buffer, 2) == 42);
    count_buffers();
    count_ends(events);
    fail(events);
    return 0;
}
