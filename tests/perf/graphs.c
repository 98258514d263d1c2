/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphs.c - a graph of 100 maps of one element against a graph that the program makes of the same
 * calls with the driver, by recording the stream itself. Both give the same results, and the time
 * of a launch may be at most 1.5 times that of cuGraphLaunch; with an argument no time is taken.
 * Exit code 77: there is no CUDA device.
 */
#include "tests/perf/timing.h"

#include <isomer/isomer.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPS = 100, ROUNDS = 21, LAUNCHES = 50 };
static const double most = 1.5;

/* Of the driver; contexts, streams and graphs are pointers. */
static struct {
    int (*cuCtxPushCurrent_v2)(void *context);
    int (*cuCtxPopCurrent_v2)(void **context);
    int (*cuStreamBeginCapture_v2)(void *stream, int mode);
    int (*cuStreamEndCapture)(void *stream, void **graph);
    int (*cuGraphInstantiateWithFlags)(void **exec, void *graph, unsigned long long flags);
    int (*cuGraphLaunch)(void *exec, void *stream);
    int (*cuGraphExecDestroy)(void *exec);
    int (*cuGraphDestroy)(void *graph);
} cu;
enum { CUDA_DONE = 0, CUDA_CAPTURE_RELAXED = 2 };
static iso_device device;
static iso_stream stream;
static iso_buffer buffer;

static void check(bool good, const char *what)
{
    if (!good) {
        (void)fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
}
#define CHECK(condition) check(condition, #condition)

#define FIND(name)                                                                                 \
    do {                                                                                           \
        *(void **)(void *)&cu.name = dlsym(library, #name);                                        \
        CHECK(cu.name != NULL);                                                                    \
    } while (0)

static void find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); /* the one that is in use */
    CHECK(library != NULL);
    FIND(cuCtxPushCurrent_v2);
    FIND(cuCtxPopCurrent_v2);
    FIND(cuStreamBeginCapture_v2);
    FIND(cuStreamEndCapture);
    FIND(cuGraphInstantiateWithFlags);
    FIND(cuGraphLaunch);
    FIND(cuGraphExecDestroy);
    FIND(cuGraphDestroy);
}

/* Adds 1 to the number, a hundred times. */
static void submit(void)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_ADD;
    args.dtype = ISO_F32;
    args.n = 1;
    args.x = args.z = (iso_operand){buffer, 0};
    args.y = (iso_operand){buffer, 256};
    for (int i = 0; i < MAPS; i++) {
        CHECK(iso_map(stream, &args) == ISO_OK);
    }
}

static void set(float number)
{
    const float one = 1;
    CHECK(iso_write(stream, (iso_operand){buffer, 0}, &number, 4) == ISO_OK);
    CHECK(iso_write(stream, (iso_operand){buffer, 256}, &one, 4) == ISO_OK);
    CHECK(iso_stream_sync(stream) == ISO_OK);
}

static float get(void)
{
    float number = -1;
    CHECK(iso_read(stream, &number, (iso_operand){buffer, 0}, 4) == ISO_OK);
    CHECK(iso_stream_sync(stream) == ISO_OK);
    return number;
}

static void *record_with_driver(void *native)
{
    void *graph = NULL, *exec = NULL;
    CHECK(cu.cuStreamBeginCapture_v2(native, CUDA_CAPTURE_RELAXED) == CUDA_DONE);
    submit();
    CHECK(cu.cuStreamEndCapture(native, &graph) == CUDA_DONE);
    CHECK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_DONE);
    CHECK(cu.cuGraphDestroy(graph) == CUDA_DONE);
    return exec;
}

static iso_graph record(void)
{
    iso_graph graph;
    iso_graph_info info = ISO_GRAPH_INFO_INIT;
    CHECK(iso_graph_begin(stream) == ISO_OK);
    submit();
    CHECK(iso_graph_end(stream, &graph) == ISO_OK);
    CHECK(iso_graph_get_info(graph, &info) == ISO_OK);
    CHECK(info.whole && info.works == MAPS);
    return graph;
}

/* Microseconds of a launch, with the work and without. */
static void measure(iso_graph ours, void *theirs, void *native)
{
    double submitted[2][ROUNDS], done[2][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int which = 0; which < 2; which++) {
            const double began = now() * 1e6;
            for (int i = 0; i < LAUNCHES; i++) {
                CHECK(which ? cu.cuGraphLaunch(theirs, native) == CUDA_DONE
                            : iso_graph_launch(ours, stream) == ISO_OK);
            }
            submitted[which][round] = (now() * 1e6 - began) / LAUNCHES;
            CHECK(iso_stream_sync(stream) == ISO_OK);
            done[which][round] = (now() * 1e6 - began) / LAUNCHES;
        }
    }
    for (int which = 0; which < 2; which++) {
        qsort(submitted[which], ROUNDS, sizeof(double), by_value);
        qsort(done[which], ROUNDS, sizeof(double), by_value);
        (void)printf("%-17s %8.2f us a launch, %8.2f us until it has run\n",
                     which ? "cuGraphLaunch" : "iso_graph_launch", submitted[which][ROUNDS / 2],
                     done[which][ROUNDS / 2]);
    }
    CHECK(submitted[0][ROUNDS / 2] <= most * submitted[1][ROUNDS / 2]);
    CHECK(done[0][ROUNDS / 2] <= most * done[1][ROUNDS / 2]);
}

int main(int argc, char **argv)
{
    void *native = NULL, *context = NULL, *popped = NULL;
    if (iso_device_open("cuda", &device)) {
        (void)printf("skipped: %s\n", iso_last_error());
        return 77;
    }
    find_driver();
    CHECK(iso_stream_create(device, 0, &stream) == ISO_OK);
    CHECK(iso_buffer_create(device, 512, &buffer) == ISO_OK);
    CHECK(iso_native_get(ISO_NATIVE_CONTEXT, device.id, &context) == ISO_OK);
    CHECK(iso_native_get(ISO_NATIVE_STREAM, stream.id, &native) == ISO_OK);
    CHECK(cu.cuCtxPushCurrent_v2(context) == CUDA_DONE);
    set(0);
    submit();
    CHECK(get() == MAPS);
    void *theirs = record_with_driver(native);
    const iso_graph ours = record();
    CHECK(get() == MAPS);
    CHECK(cu.cuGraphLaunch(theirs, native) == CUDA_DONE);
    CHECK(get() == 2 * MAPS);
    CHECK(iso_graph_launch(ours, stream) == ISO_OK);
    CHECK(get() == 3 * MAPS);
    (void)argv;
    if (argc < 2) {
        measure(ours, theirs, native);
    }
    CHECK(cu.cuGraphExecDestroy(theirs) == CUDA_DONE);
    CHECK(cu.cuCtxPopCurrent_v2(&popped) == CUDA_DONE);
    return iso_device_close(device) != ISO_OK;
}
