/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pageable.c BACKEND HOW - large transfers of pageable memory, over the fakes. HOW is
 *
 *   sizes     bytes, offsets and pitches around the sizes of blocks
 *   late      the same, with copies that run late
 *   kept      memory and threads, and when they exist
 *   paths     which transfers go through pinned memory of the library
 *   order     among other work of a stream, and of two streams
 *   threads   threads with a stream each, both directions
 *   stalled   a stream's earlier work waits for what another thread does after a transfer
 *   recorded  graphs, and a stream that the program records
 *   memory    there is no pinned memory
 *   refused   the driver refuses a copy in the middle
 *   event     ... or an event
 *   lost      the device is lost in the middle
 *   leave     the program ends with the device open
 */
#include "tests/concurrency/check.h"
#include "tests/fakes/engine.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#define MIB  ((int64_t)1 << 20)
#define EDGE ((int64_t)64) /* bytes around what is transferred */

static const char *backend;

/* Bytes that repeat at no distance of this test. */
static unsigned char pattern(int64_t at, uint32_t seed)
{
    const uint64_t mixed = ((uint64_t)at + ((uint64_t)seed << 40)) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned char)(mixed >> 56);
}

static unsigned char *made(int64_t bytes, uint32_t seed)
{
    unsigned char *block = check_alloc((size_t)bytes);
    for (int64_t i = 0; i < bytes; i++) {
        block[i] = pattern(i, seed);
    }
    return block;
}

static iso_device open_device(void)
{
    iso_device device = {0};
    CHECK_OK(iso_device_open(backend, &device));
    return device;
}

/* ---- what is in the engine ------------------------------------------------------------------- */

static void *engine(const char *name)
{
    void *library = dlopen("libfake_engine.so", RTLD_NOW | RTLD_NOLOAD);
    void *found = library ? dlsym(library, name) : NULL;
    CHECK(found != NULL);
    return found;
}

/* Takes a function of the engine, which libisomer has opened. */
#define ENGINE(result, name, ...)                                                                  \
    result (*name)(__VA_ARGS__) = NULL;                                                            \
    *(void **)(void *)&name = engine("fake_" #name)

static int64_t copied(bool pinned)
{
    ENGINE(int64_t, copies, bool);
    return copies(pinned);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

typedef struct shape {
    int64_t width, height, host_pitch, pitch, offset;
} shape;

/* Writes rows into a buffer whose bytes are known, and reads all of it. */
static void write_rows(iso_device device, iso_stream stream, const shape *at)
{
    const int64_t whole = at->offset + (at->height - 1) * at->pitch + at->width + EDGE;
    unsigned char *from = made((at->height - 1) * at->host_pitch + at->width, 1);
    unsigned char *all = made(whole, 2);
    iso_operand to = check_buffer(device, whole);
    CHECK_OK(iso_write(stream, to, all, whole));
    CHECK_OK(iso_stream_sync(stream));
    to.offset = at->offset;
    CHECK_OK(iso_write_2d(stream, to, at->pitch, from, at->host_pitch, at->width, at->height));
    to.offset = 0;
    CHECK_OK(iso_read(stream, all, to, whole));
    CHECK_OK(iso_stream_sync(stream));
    for (int64_t i = 0; i < whole; i++) {
        const int64_t along = i - at->offset;
        const int64_t row = along < 0 ? at->height : along / at->pitch;
        const int64_t column = along < 0 ? 0 : along % at->pitch;
        const bool inside = row < at->height && column < at->width;
        CHECK(all[i] == (inside ? from[row * at->host_pitch + column] : pattern(i, 2)));
    }
    CHECK_OK(iso_buffer_destroy(to.buffer));
    free(from);
    free(all);
}

static void read_rows(iso_device device, iso_stream stream, const shape *at)
{
    const int64_t whole = at->offset + (at->height - 1) * at->pitch + at->width + EDGE;
    const int64_t host = EDGE + (at->height - 1) * at->host_pitch + at->width + EDGE;
    unsigned char *all = made(whole, 3);
    unsigned char *to = made(host, 4);
    iso_operand from = check_buffer(device, whole);
    CHECK_OK(iso_write(stream, from, all, whole));
    from.offset = at->offset;
    CHECK_OK(
        iso_read_2d(stream, to + EDGE, at->host_pitch, from, at->pitch, at->width, at->height));
    CHECK_OK(iso_stream_sync(stream));
    for (int64_t i = 0; i < host; i++) {
        const int64_t row = i < EDGE ? at->height : (i - EDGE) / at->host_pitch;
        const int64_t column = i < EDGE ? 0 : (i - EDGE) % at->host_pitch;
        const bool inside = row < at->height && column < at->width;
        CHECK(to[i] == (inside ? all[at->offset + row * at->pitch + column] : pattern(i, 4)));
    }
    CHECK_OK(iso_buffer_destroy(from.buffer));
    free(to);
    free(all);
}

static void each_shape(const shape *shapes, size_t count)
{
    iso_device device = open_device();
    iso_stream stream = check_stream(device, 0);
    for (size_t i = 0; i < count; i++) {
        write_rows(device, stream, &shapes[i]);
        read_rows(device, stream, &shapes[i]);
    }
    CHECK_OK(iso_device_close(device));
}

static void sizes(void)
{
    const shape shapes[] = {
        {8 * MIB - 1, 1, 8 * MIB, 8 * MIB, 0},
        {8 * MIB, 1, 8 * MIB, 8 * MIB, 1},
        {8 * MIB + 1, 1, 8 * MIB + 1, 8 * MIB + 1, 4099},
        {10 * MIB + 4097, 1, 99 * MIB, 98 * MIB, 3},
        {67 * MIB + 13, 1, 67 * MIB + 13, 67 * MIB + 13, 8},
        /* rows that are one run */
        {1000, 20 * 1024, 1000, 1000, 5},
        /* many rows in a block, with a pitch at one end or both */
        {1000, 20 * 1024, 1000, 1024, 0},
        {1000, 20 * 1024, 1111, 1000, 7},
        {4096, 5000, 4100, 4500, 16},
        {3, 3 * MIB, 5, 4, 1},
        /* a row is about a block */
        {2 * MIB - 1, 9, 2 * MIB, 2 * MIB + 5, 2},
        {2 * MIB, 9, 2 * MIB + 1, 2 * MIB, 0},
        {2 * MIB + 1, 9, 2 * MIB + 3, 2 * MIB + 2, 0},
        /* a row is several blocks */
        {7 * MIB + 77, 5, 7 * MIB + 78, 8 * MIB, 0},
    };
    each_shape(shapes, sizeof shapes / sizeof shapes[0]);
}

static void late(void)
{
    const shape shapes[] = {
        {67 * MIB + 13, 1, 67 * MIB + 13, 67 * MIB + 13, 8},
        {4096, 12000, 4100, 4500, 16},
    };
    CHECK(setenv("FAKE_DELAY", "3000", 1) == 0);
    each_shape(shapes, sizeof shapes / sizeof shapes[0]);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* The threads of this process that help with copies. */
static int helpers(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int found = 0;
    CHECK(tasks != NULL);
    for (const struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        char path[300], name[32] = "";
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        found += file && fgets(name, sizeof name, file) && strcmp(name, "isomer-copies\n") == 0;
        if (file) {
            (void)fclose(file);
        }
    }
    (void)closedir(tasks);
    return found;
}

/* Memory and threads exist from the first transfer that needs them until the device is closed. */
static void kept(void)
{
    enum { HELPERS_MOST = 7, MINUTES = 10 };
    const int64_t bytes = 12 * MIB, most = 48 * MIB;
    const struct timespec moment = {.tv_nsec = 10000000};
    iso_device device = open_device();
    iso_stream stream = check_stream(device, 0);
    iso_operand operand = check_buffer(device, bytes);
    unsigned char *host = made(bytes, 9);
    ENGINE(int64_t, memory_pinned, void);
    CHECK_OK(iso_write(stream, operand, host, 8 * MIB - 1));
    CHECK_OK(iso_stream_sync(stream));
    CHECK(memory_pinned() == 0 && helpers() == 0);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(iso_write(stream, operand, host, bytes));
    }
    CHECK_OK(iso_stream_sync(stream));
    CHECK(memory_pinned() > 0 && memory_pinned() <= most && helpers() <= HELPERS_MOST);
    CHECK(helpers() <= sysconf(_SC_NPROCESSORS_ONLN) / 2);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(iso_read(stream, host, operand, bytes));
    }
    CHECK_OK(iso_stream_sync(stream));
    CHECK(memory_pinned() <= 2 * most && helpers() <= 2 * HELPERS_MOST);
    CHECK_OK(iso_device_close(device));
    CHECK(memory_pinned() == 0);
    (void)alarm(MINUTES * 60);
    while (helpers() > 0) { /* the system shows a thread for a moment after it has ended */
        (void)nanosleep(&moment, NULL);
    }
    free(host);
}

/* ---- paths ----------------------------------------------------------------------------------- */

enum { WRITES = 1, READS = 2 };

/* Transfers host memory and counts the copies; -1: any number above 1. */
static void count(iso_stream stream, iso_operand operand, void *host, int64_t bytes, int direction,
                  int64_t pageable, int64_t pinned)
{
    const int64_t before[] = {copied(false), copied(true)};
    CHECK_OK(direction == WRITES ? iso_write(stream, operand, host, bytes)
                                 : iso_read(stream, host, operand, bytes));
    CHECK_OK(iso_stream_sync(stream));
    CHECK(copied(false) - before[0] == pageable);
    CHECK(pinned < 0 ? copied(true) - before[1] > 1 : copied(true) - before[1] == pinned);
}

static void paths(void)
{
    const int64_t bytes = 12 * MIB;
    iso_device device = open_device();
    iso_stream stream = check_stream(device, 0);
    iso_operand operand = check_buffer(device, bytes);
    void *pinned = NULL;
    char *pageable = check_alloc((size_t)bytes);
    int32_t is_pinned = 0;
    memset(pageable, 1, (size_t)bytes);
    CHECK_OK(iso_host_alloc(device, bytes, &pinned, &is_pinned));
    memset(pinned, 1, (size_t)bytes);
    for (int direction = WRITES; direction <= READS; direction++) {
        count(stream, operand, pageable, 8 * MIB - 1, direction, 1, 0);
        count(stream, operand, pageable, 8 * MIB, direction, 0, -1);
        count(stream, operand, pinned, bytes, direction, 0, 1);
        CHECK_OK(iso_host_register(device, pageable, bytes, &is_pinned));
        CHECK(is_pinned);
        count(stream, operand, pageable, bytes, direction, 0, 1);
        CHECK_OK(iso_host_unregister(device, pageable));
        /* One half of it is pinned. */
        CHECK_OK(iso_host_register(device, pageable, bytes / 2, &is_pinned));
        count(stream, operand, pageable, bytes, direction, 0, -1);
        CHECK_OK(iso_host_unregister(device, pageable));
        CHECK_OK(iso_host_register(device, pageable + bytes / 2, bytes / 2, &is_pinned));
        count(stream, operand, pageable, bytes, direction, 0, -1);
        CHECK_OK(iso_host_unregister(device, pageable + bytes / 2));
    }
    CHECK_OK(iso_host_free(device, pinned));
    CHECK_OK(iso_device_close(device));
    CHECK(setenv("FAKE_HOST_PAGES", "1", 1) == 0);
    device = open_device();
    stream = check_stream(device, 0);
    operand = check_buffer(device, bytes);
    count(stream, operand, pageable, bytes, WRITES, 1, 0);
    count(stream, operand, pageable, bytes, READS, 1, 0);
    CHECK_OK(iso_device_close(device));
    free(pageable);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Each transfer follows the work before it, and blocks are not used again before their copies. */
static void order(void)
{
    enum { ROUNDS = 4 };
    const int64_t bytes = 21 * MIB + 1;
    CHECK(setenv("FAKE_DELAY", "2000", 1) == 0);
    iso_device device = open_device();
    iso_stream streams[2] = {check_stream(device, 0), check_stream(device, 0)};
    iso_operand first[2], second[2];
    unsigned char *from[2], *to[2];
    for (int i = 0; i < 2; i++) {
        first[i] = check_buffer(device, bytes);
        second[i] = check_buffer(device, bytes);
        from[i] = made(bytes, 10 + (uint32_t)i);
        to[i] = check_alloc((size_t)bytes);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            from[i][round * MIB] = (unsigned char)(100 + round);
            CHECK_OK(iso_write(streams[i], first[i], from[i], bytes));
            CHECK_OK(iso_copy(streams[i], second[i], first[i], bytes));
        }
        for (int i = 0; i < 2; i++) {
            memset(to[i], 0, (size_t)bytes);
            CHECK_OK(iso_read(streams[i], to[i], second[i], bytes));
            CHECK_OK(iso_stream_sync(streams[i]));
            CHECK(memcmp(to[i], from[i], (size_t)bytes) == 0);
        }
    }
    CHECK_OK(iso_device_close(device));
    for (int i = 0; i < 2; i++) {
        free(from[i]);
        free(to[i]);
    }
}

typedef struct task {
    iso_device device;
    uint32_t seed;
} task;

static void *go(void *argument)
{
    enum { ROUNDS = 6 };
    const task *what = argument;
    iso_stream stream = check_stream(what->device, 0);
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t bytes = 8 * MIB + (round * 3 + (int64_t)what->seed % 20) * (MIB + 17);
        unsigned char *from = made(bytes, what->seed + (uint32_t)round);
        unsigned char *to = check_alloc((size_t)bytes);
        iso_operand operand = check_buffer(what->device, bytes);
        CHECK_OK(iso_write(stream, operand, from, bytes));
        CHECK_OK(iso_read(stream, to, operand, bytes));
        CHECK_OK(iso_stream_sync(stream));
        CHECK(memcmp(from, to, (size_t)bytes) == 0);
        CHECK_OK(iso_buffer_destroy(operand.buffer));
        free(from);
        free(to);
    }
    CHECK_OK(iso_stream_destroy(stream));
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 3 };
    CHECK(setenv("FAKE_DELAY", "500", 1) == 0);
    iso_device device = open_device();
    pthread_t thread[THREADS];
    task tasks[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        tasks[i] = (task){device, 20 + i};
        CHECK(pthread_create(&thread[i], NULL, go, &tasks[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    CHECK_OK(iso_device_close(device));
}

typedef struct stalled_write {
    iso_stream stream;
    iso_operand to;
    void *from;
    int64_t bytes;
} stalled_write;

static void *write_stalled(void *argument)
{
    const stalled_write *what = argument;
    CHECK_OK(iso_write(what->stream, what->to, what->from, what->bytes));
    CHECK_OK(iso_stream_sync(what->stream));
    return NULL;
}

static void stalled(void)
{
    enum { MINUTES = 10 };
    const struct timespec moment = {.tv_nsec = 300000000};
    const int64_t bytes = 40 * MIB;
    iso_device device = open_device();
    ENGINE(int, stream_wait_word, fake_stream *, const uint32_t *, uint32_t);
    iso_stream streams[2] = {check_stream(device, 0), check_stream(device, 0)};
    unsigned char *from = made(bytes, 33), *to = check_alloc((size_t)bytes);
    stalled_write first = {streams[0], check_buffer(device, bytes), from, bytes};
    iso_operand second = check_buffer(device, bytes);
    uint32_t word = 0;
    void *native = NULL;
    pthread_t thread;
    (void)alarm(MINUTES * 60);
    CHECK_OK(iso_native_get(ISO_NATIVE_STREAM, streams[0].id, &native));
    CHECK(stream_wait_word(native, &word, 1) == FAKE_OK);
    CHECK(pthread_create(&thread, NULL, write_stalled, &first) == 0);
    (void)nanosleep(&moment, NULL);
    CHECK_OK(iso_write(streams[1], second, from, bytes));
    CHECK_OK(iso_stream_sync(streams[1]));
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(iso_read(streams[i], to, i ? second : first.to, bytes));
        CHECK_OK(iso_stream_sync(streams[i]));
        CHECK(memcmp(from, to, (size_t)bytes) == 0);
    }
    CHECK_OK(iso_device_close(device));
    free(from);
    free(to);
}

/* ---- recording ------------------------------------------------------------------------------- */

/* The transfers of a graph read and write the memory of each launch. */
static void launch_twice(iso_device device, iso_stream stream, int64_t bytes)
{
    iso_operand operand = check_buffer(device, bytes);
    unsigned char *from = made(bytes, 30), *to = check_alloc((size_t)bytes);
    iso_graph graph = {0};
    CHECK_OK(iso_graph_begin(stream));
    CHECK_OK(iso_write(stream, operand, from, bytes));
    CHECK_OK(iso_read(stream, to, operand, bytes));
    CHECK_OK(iso_graph_end(stream, &graph));
    for (int i = 0; i < 2; i++) {
        from[5 * MIB] = (unsigned char)i;
        memset(to, 0, (size_t)bytes);
        CHECK_OK(iso_graph_launch(graph, stream));
        CHECK_OK(iso_stream_sync(stream));
        CHECK(memcmp(from, to, (size_t)bytes) == 0);
    }
    CHECK_OK(iso_graph_destroy(graph));
    CHECK_OK(iso_buffer_destroy(operand.buffer));
    free(from);
    free(to);
}

/* The program itself records the native stream: nothing runs before its launch. */
static void record_native(iso_device device, iso_stream stream, int64_t bytes)
{
    ENGINE(int, stream_record, fake_stream *, int);
    ENGINE(int, stream_recorded, fake_stream *, fake_graph **);
    ENGINE(int, graph_instantiate, const fake_graph *, fake_graph **);
    ENGINE(int, graph_launch, fake_graph *, fake_stream *);
    ENGINE(int, graph_destroy, fake_graph *);
    iso_operand operand = check_buffer(device, bytes);
    unsigned char *from = made(bytes, 31), *to = check_alloc((size_t)bytes);
    void *native = NULL;
    fake_graph *graph = NULL, *instance = NULL;
    CHECK_OK(iso_native_get(ISO_NATIVE_STREAM, stream.id, &native));
    memset(to, 0, (size_t)bytes);
    CHECK(stream_record(native, FAKE_RELAXED) == FAKE_OK);
    CHECK_OK(iso_write(stream, operand, from, bytes));
    CHECK_OK(iso_read(stream, to, operand, bytes));
    CHECK(stream_recorded(native, &graph) == FAKE_OK);
    CHECK(to[MIB] == 0 && to[bytes - 1] == 0);
    CHECK(graph_instantiate(graph, &instance) == FAKE_OK);
    CHECK(graph_launch(instance, native) == FAKE_OK);
    CHECK_OK(iso_stream_sync(stream));
    CHECK(memcmp(from, to, (size_t)bytes) == 0);
    CHECK(graph_destroy(instance) == FAKE_OK && graph_destroy(graph) == FAKE_OK);
    CHECK_OK(iso_buffer_destroy(operand.buffer));
    free(from);
    free(to);
}

static void recorded(void)
{
    iso_device device = open_device();
    iso_stream stream = check_stream(device, 0);
    launch_twice(device, stream, 17 * MIB);
    record_native(device, stream, 17 * MIB);
    CHECK_OK(iso_device_close(device));
}

/* ---- failures -------------------------------------------------------------------------------- */

static void memory(void)
{
    const int64_t bytes = 12 * MIB;
    CHECK(setenv("FAKE_PINNED", "1048576", 1) == 0);
    iso_device device = open_device();
    iso_stream stream = check_stream(device, 0);
    iso_operand operand = check_buffer(device, bytes);
    unsigned char *from = made(bytes, 40), *to = check_alloc((size_t)bytes);
    iso_clear_error();
    count(stream, operand, from, bytes, WRITES, 1, 0);
    count(stream, operand, to, bytes, READS, 1, 0);
    CHECK(memcmp(from, to, (size_t)bytes) == 0);
    CHECK(iso_last_error()[0] == '\0');
    CHECK(unsetenv("FAKE_PINNED") == 0);
    count(stream, operand, from, bytes, WRITES, 0, -1);
    CHECK_OK(iso_device_close(device));
    free(from);
    free(to);
}

/* One failure, and then all is as before. What is still on the stream that failed does not disturb
 * transfers of another stream. */
static void fails_once(const char *setting, const char *call)
{
    const int64_t bytes = 40 * MIB;
    for (int direction = WRITES; direction <= READS; direction++) {
        CHECK(setenv("FAKE_DELAY", "5000", 1) == 0);
        iso_device device = open_device();
        iso_stream stream = check_stream(device, 0);
        iso_operand operand = check_buffer(device, bytes), spare = check_buffer(device, bytes);
        unsigned char *from = made(bytes, 50), *to = check_alloc((size_t)bytes);
        CHECK(setenv("FAKE_DELAY", "0", 1) == 0);
        iso_stream other = check_stream(device, 0);
        memset(to, 0, (size_t)bytes);
        CHECK_OK(iso_write(other, spare, from, bytes));
        CHECK_OK(iso_stream_sync(other));
        CHECK_OK(iso_write(stream, operand, to, bytes));
        CHECK_OK(iso_stream_sync(stream));
        CHECK(setenv(setting, "8", 1) == 0);
        iso_status status = ISO_OK;
        for (int i = 0; i < 2 && !status; i++) {
            status = direction == WRITES ? iso_write(stream, operand, from, bytes)
                                         : iso_read(stream, to, operand, bytes);
        }
        printf("%s\n", iso_last_error());
        CHECK(status == ISO_BACKEND || status == ISO_NO_MEMORY);
        CHECK(strstr(iso_last_error(), "LAUNCH_OUT_OF_RESOURCES") != NULL);
        CHECK(strstr(iso_last_error(), call) != NULL);
        CHECK(strstr(iso_last_error(), direction == WRITES ? "iso_write" : "iso_read") != NULL);
        CHECK(unsetenv(setting) == 0);
        /* Nothing of the transfer goes on, so that the program may use its memory. */
        CHECK_OK(iso_stream_query(stream));
        count(other, spare, to, bytes, READS, 0, -1);
        CHECK(memcmp(from, to, (size_t)bytes) == 0);
        from[bytes / 2] = (unsigned char)~from[bytes / 2];
        count(stream, operand, from, bytes, WRITES, 0, -1);
        count(stream, operand, to, bytes, READS, 0, -1);
        CHECK(memcmp(from, to, (size_t)bytes) == 0);
        CHECK_OK(iso_device_close(device));
        free(from);
        free(to);
    }
}

static void refused(void)
{
    fails_once("FAKE_COPY", "Memcpy");
}

static void event(void)
{
    fails_once("FAKE_EVENT", "EventRecord");
}

/* The transfer or the next wait reports it; then the device can be closed and opened again. */
static void lost(void)
{
    const int64_t bytes = 40 * MIB;
    for (int direction = WRITES; direction <= READS; direction++) {
        iso_device device = open_device();
        iso_stream stream = check_stream(device, 0);
        iso_operand operand = check_buffer(device, bytes);
        unsigned char *host = made(bytes, 60);
        CHECK(setenv("FAKE_COPY_LOST", "8", 1) == 0);
        iso_status status = ISO_OK;
        for (int i = 0; i < 2 && !status; i++) {
            status = direction == WRITES ? iso_write(stream, operand, host, bytes)
                                         : iso_read(stream, host, operand, bytes);
        }
        status = status ? status : iso_stream_sync(stream);
        printf("%s\n", iso_last_error());
        CHECK(status == ISO_DEVICE_LOST);
        CHECK(strstr(iso_last_error(), "ILLEGAL_ADDRESS") != NULL);
        CHECK_STATUS(iso_write(stream, operand, host, bytes), ISO_DEVICE_LOST);
        CHECK_STATUS(iso_read(stream, host, operand, bytes), ISO_DEVICE_LOST);
        CHECK(unsetenv("FAKE_COPY_LOST") == 0);
        (void)iso_device_close(device);
        free(host);
        device = open_device();
        task again = {device, 61};
        (void)go(&again);
        CHECK_OK(iso_device_close(device));
    }
}

static void leave(void)
{
    task what = {open_device(), 70};
    (void)go(&what);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *how;
        void (*run)(void);
    } ways[] = {{"kept", kept},       {"stalled", stalled},   {"sizes", sizes},
                {"late", late},       {"paths", paths},       {"order", order},
                {"threads", threads}, {"recorded", recorded}, {"memory", memory},
                {"refused", refused}, {"event", event},       {"lost", lost},
                {"leave", leave}};
    CHECK(argc == 3);
    backend = argv[1];
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].how, argv[2]) == 0) {
            ways[i].run();
            return 0;
        }
    }
    return 2;
}
