/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c - the program's own kernels beside the same kernels written by hand: in CUDA C++ on an
 * NVIDIA GPU, as loops of OpenMP on the CPU. In alternation, medians of ROUNDS; results are
 * compared bit by bit.
 *
 *   perf-kernels cuda        at most 1.05 of the time, a launch 1.15 of cuLaunchKernel's
 *   perf-kernels openmp      add and stencil at most 1.1, block_sum and transpose 2
 */
#include "tests/perf/kernels_by_hand.h"
#include "tests/perf/timing.h"

#include <isomer/isomer.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 31, LAUNCHES = 10, EMPTY = 500, GROUP = 256, ROOM = 1 << 16 };

typedef struct bench {
    iso_device device;
    iso_stream stream;
    iso_program program;
    iso_operand x, y, z;
    iso_event begin, end;
    bool gpu;
    int64_t n, side;     /* n is side * side */
    float *mine, *other; /* results; on the CPU the operands of the loops are in `host` */
    float *host[3];
} bench;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if (call) {                                                                                \
            fprintf(stderr, "perf-kernels: %s: %s\n", #call, iso_last_error());                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static char *read_text(const char *path)
{
    char *text = calloc(1, ROOM);
    FILE *file = fopen(path, "r");
    if (!text || !file || !fread(text, 1, ROOM - 1, file)) {
        fprintf(stderr, "perf-kernels: %s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

/* ---- by hand, on a GPU ----------------------------------------------------------------------- */

static struct driver {
    int (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuDeviceGetAttribute)(int *, int, int);
    void *module, *stream;
    unsigned long long x, y, z;
} driver;

static void *library(const char *first, const char *second)
{
    void *opened = dlopen(first, RTLD_NOW);
    return opened ? opened : dlopen(second, RTLD_NOW);
}

#define FIND(library, name) (*(void **)&(name) = dlsym(library, strrchr("." #name, '.') + 1))

static char *compile(int major, int minor)
{
    int (*nvrtcCreateProgram)(void **, const char *, const char *, int, const char *const *,
                              const char *const *);
    int (*nvrtcCompileProgram)(void *, int, const char *const *);
    int (*nvrtcGetCUBINSize)(void *, size_t *);
    int (*nvrtcGetCUBIN)(void *, char *);
    void *nvrtc = library("libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"), *program;
    char option[64], *binary = NULL;
    const char *options[] = {option};
    size_t bytes = 0;
    snprintf(option, sizeof option, "--gpu-architecture=sm_%d%d", major, minor);
    if (!nvrtc || !FIND(nvrtc, nvrtcCreateProgram) || !FIND(nvrtc, nvrtcCompileProgram) ||
        !FIND(nvrtc, nvrtcGetCUBINSize) || !FIND(nvrtc, nvrtcGetCUBIN) ||
        nvrtcCreateProgram(&program, read_text(PERF_FOLDER "/kernels_by_hand.cu"), "by_hand.cu", 0,
                           NULL, NULL) ||
        nvrtcCompileProgram(program, 1, options) || nvrtcGetCUBINSize(program, &bytes) ||
        !(binary = malloc(bytes)) || nvrtcGetCUBIN(program, binary)) {
        fprintf(stderr, "perf-kernels: the kernels written by hand do not compile\n");
        exit(1);
    }
    return binary;
}

static unsigned long long address(iso_operand of)
{
    void *at = NULL;
    MUST(iso_native_get(ISO_NATIVE_MEMORY, of.buffer.id, &at));
    return (unsigned long long)(uintptr_t)at;
}

static void open_driver(const bench *b)
{
    enum { MAJOR = 75, MINOR = 76 };
    void *cuda = library("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"), *context;
    int major = 0, minor = 0;
    MUST(iso_native_get(ISO_NATIVE_CONTEXT, b->device.id, &context));
    MUST(iso_native_get(ISO_NATIVE_STREAM, b->stream.id, &driver.stream));
    driver.x = address(b->x);
    driver.y = address(b->y);
    driver.z = address(b->z);
    if (!cuda || !FIND(cuda, driver.cuCtxSetCurrent) || !FIND(cuda, driver.cuModuleLoadData) ||
        !FIND(cuda, driver.cuModuleGetFunction) || !FIND(cuda, driver.cuLaunchKernel) ||
        !FIND(cuda, driver.cuDeviceGetAttribute) || driver.cuCtxSetCurrent(context) ||
        driver.cuDeviceGetAttribute(&major, MAJOR, 0) ||
        driver.cuDeviceGetAttribute(&minor, MINOR, 0) ||
        driver.cuModuleLoadData(&driver.module, compile(major, minor))) {
        fprintf(stderr, "perf-kernels: a call of the driver failed\n");
        exit(1);
    }
}

static void launch_driver(void *function, const int64_t groups[2], int across, int down,
                          void **args)
{
    if (driver.cuLaunchKernel(function, (unsigned)groups[0], (unsigned)groups[1], 1,
                              (unsigned)across, (unsigned)down, 1, 0, driver.stream, args, NULL)) {
        fprintf(stderr, "perf-kernels: cuLaunchKernel failed\n");
        exit(1);
    }
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static int64_t pieces(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

typedef enum shape { LINE, TILES, SUMS } shape;

typedef struct work {
    const char *name;
    shape shape; /* of its arguments */
    int across, down, tile_across, tile_down;
    double most_gpu, most_cpu;
    void (*cpu)(const bench *b);
} work;

static void cpu_add(const bench *b)
{
    by_hand_add(b->host[0], b->host[1], b->host[2], b->n);
}

static void cpu_stencil(const bench *b)
{
    by_hand_stencil(b->host[0], b->host[2], b->side, b->side);
}

static void cpu_stencil_split(const bench *b)
{
    by_hand_stencil_split(b->host[0], b->host[2], b->side, b->side);
}

static void cpu_sum(const bench *b)
{
    by_hand_block_sum(b->host[0], b->n, b->host[2]);
}

static void cpu_transpose(const bench *b)
{
    by_hand_transpose(b->host[0], b->host[2], b->side, b->side);
}

static const work works[] = {
    {"add", LINE, GROUP, 1, GROUP, 1, 1.05, 1.1, cpu_add},
    {"stencil", TILES, 128, 2, 128, 2, 1.05, 1.1, cpu_stencil},
    {"stencil", TILES, 128, 2, 128, 2, 0, 1.6, cpu_stencil_split}, /* no language has such a loop */
    {"block_sum", SUMS, GROUP, 1, GROUP, 1, 1.05, 2, cpu_sum},
    {"transpose", TILES, 32, 8, 32, 32, 1.05, 2, cpu_transpose},
};

static void grid(const bench *b, const work *w, int64_t groups[2])
{
    groups[0] = w->shape == TILES ? pieces(b->side, w->tile_across) : pieces(b->n, w->tile_across);
    groups[1] = w->shape == TILES ? pieces(b->side, w->tile_down) : 1;
}

static void submit(const bench *b, iso_kernel kernel, const work *w)
{
    const iso_argument x = iso_arg_buffer(b->x), y = iso_arg_buffer(b->y), z = iso_arg_buffer(b->z);
    const iso_argument n = iso_arg_integer(b->n), side = iso_arg_integer(b->side);
    const iso_argument line[] = {x, y, z, n}, tiles[] = {x, z, side, side}, sums[] = {x, n, z};
    int64_t groups[2];
    grid(b, w, groups);
    MUST(iso_launch(b->stream, kernel, (iso_groups){groups[0], groups[1], 1},
                    w->shape == LINE    ? line
                    : w->shape == TILES ? tiles
                                        : sums,
                    w->shape == SUMS ? 3 : 4));
}

static void submit_by_hand(const bench *b, void *function, const work *w)
{
    long long n = b->n, side = b->side;
    void *line[] = {&driver.x, &driver.y, &driver.z, &n},
         *tiles[] = {&driver.x, &driver.z, &side, &side}, *sums[] = {&driver.x, &n, &driver.z};
    int64_t groups[2];
    if (!b->gpu) {
        w->cpu(b);
        return;
    }
    grid(b, w, groups);
    launch_driver(function, groups, w->across, w->down,
                  w->shape == LINE    ? line
                  : w->shape == TILES ? tiles
                                      : sums);
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Milliseconds of a launch. */
static double take(const bench *b, iso_kernel kernel, void *function, const work *w, bool by_hand)
{
    const int launches = b->gpu ? LAUNCHES : 1;
    int64_t nanoseconds = 0;
    const double start = now();
    if (b->gpu) {
        MUST(iso_event_record(b->begin, b->stream));
    }
    for (int i = 0; i < launches; i++) {
        if (by_hand) {
            submit_by_hand(b, function, w);
        } else {
            submit(b, kernel, w);
        }
    }
    if (!b->gpu) {
        MUST(iso_stream_sync(b->stream));
        return (now() - start) * 1e3 / launches;
    }
    MUST(iso_event_record(b->end, b->stream));
    MUST(iso_stream_sync(b->stream));
    MUST(iso_event_elapsed(b->begin, b->end, &nanoseconds));
    return (double)nanoseconds * 1e-6 / launches;
}

/* Both results must have the same bits, and differ from what was there before. */
static bool check(const bench *b, iso_kernel kernel, void *function, const work *w)
{
    const int64_t count = w->shape == SUMS ? pieces(b->n, GROUP) : b->n, bytes = count * 4;
    const uint32_t nan = 0xffffffffu;
    MUST(iso_fill(b->stream, b->z, &nan, 4, bytes));
    submit(b, kernel, w);
    MUST(iso_read(b->stream, b->mine, b->z, bytes));
    MUST(iso_fill(b->stream, b->z, &nan, 4, bytes));
    MUST(iso_stream_sync(b->stream));
    submit_by_hand(b, function, w);
    MUST(iso_read(b->stream, b->other, b->z, bytes));
    MUST(iso_stream_sync(b->stream));
    for (int64_t i = 0; i < count; i++) {
        if (b->mine[i] != b->mine[i] || memcmp(&b->mine[i], &b->other[i], 4) != 0) {
            printf("%s: element %lld is %g, by hand %g\n", w->name, (long long)i,
                   (double)b->mine[i], (double)b->other[i]);
            return false;
        }
    }
    return true;
}

static bool compare(const bench *b, const work *w)
{
    const double most = b->gpu ? w->most_gpu : w->most_cpu;
    double mine[ROUNDS], other[ROUNDS];
    void *function = NULL;
    iso_kernel kernel;
    if (most <= 0) {
        return true;
    }
    MUST(iso_kernel_get(b->program, w->name, &kernel));
    if (b->gpu && driver.cuModuleGetFunction(&function, driver.module, w->name)) {
        fprintf(stderr, "perf-kernels: no function %s\n", w->name);
        exit(1);
    }
    if (!check(b, kernel, function, w)) {
        return false;
    }
    for (int i = 0; i < ROUNDS; i++) {
        for (int turn = 0; turn < 2; turn++) {
            const bool by_hand = (turn + i) % 2;
            (void)take(b, kernel, function, w, by_hand);
            (by_hand ? other : mine)[i] = take(b, kernel, function, w, by_hand);
        }
    }
    const double a = median(mine, ROUNDS), c = median(other, ROUNDS);
    printf("%-10s %9.4f ms, by hand%s %9.4f ms: %.3f, at most %.2f%s\n", w->name, a,
           w->cpu == cpu_stencil_split ? " (borders apart)" : "", c, a / c, most,
           a / c <= most ? "" : "  MISSED");
    return a / c <= most;
}

/* What a submission costs: microseconds. */
static double take_empty(const bench *b, iso_kernel kernel, void *function, bool by_hand)
{
    long long n = 1 << 20;
    void *args[] = {&driver.x, &driver.y, &driver.z, &n};
    const iso_argument own[] = {iso_arg_buffer(b->x), iso_arg_buffer(b->y), iso_arg_buffer(b->z),
                                iso_arg_integer(n)};
    const int64_t groups[] = {1, 1};
    const double start = now();
    for (int i = 0; i < EMPTY; i++) {
        if (by_hand) {
            launch_driver(function, groups, 32, 1, args);
        } else {
            MUST(iso_launch(b->stream, kernel, (iso_groups){1, 1, 1}, own, 4));
        }
    }
    const double end = now();
    MUST(iso_stream_sync(b->stream));
    return (end - start) * 1e6 / EMPTY;
}

static bool compare_launches(const bench *b)
{
    enum { MOST = 115 };
    double mine[ROUNDS], other[ROUNDS];
    void *function = NULL;
    iso_kernel kernel;
    MUST(iso_kernel_get(b->program, "nothing", &kernel));
    if (driver.cuModuleGetFunction(&function, driver.module, "nothing")) {
        return false;
    }
    for (int i = 0; i < ROUNDS; i++) {
        for (int turn = 0; turn < 2; turn++) {
            const bool by_hand = (turn + i) % 2;
            (by_hand ? other : mine)[i] = take_empty(b, kernel, function, by_hand);
        }
    }
    const double a = median(mine, ROUNDS), c = median(other, ROUNDS);
    printf("a launch   %9.3f us, cuLaunchKernel %9.3f us: %.3f, at most %.2f%s\n", a, c, a / c,
           MOST / 100.0, a / c <= MOST / 100.0 ? "" : "  MISSED");
    return a / c <= MOST / 100.0;
}

/* ---- the device ------------------------------------------------------------------------------ */

static void fill_random(float *to, int64_t n, uint32_t state)
{
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (float)(int32_t)(state >> 8) / 16777216.0f - 0.5f;
    }
}

static iso_operand operand(bench *b, int index)
{
    iso_operand made = {0};
    void *at = NULL;
    MUST(iso_buffer_create(b->device, b->n * 4, &made.buffer));
    if (!b->gpu) {
        MUST(iso_native_get(ISO_NATIVE_MEMORY, made.buffer.id, &at));
        b->host[index] = at;
    }
    fill_random(b->mine, b->n, (uint32_t)index + 1);
    MUST(iso_write(b->stream, made, b->mine, b->n * 4));
    MUST(iso_stream_sync(b->stream));
    return made;
}

int main(int argc, char **argv)
{
    const char *spec = argc > 1 ? argv[1] : "openmp";
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    bench b = {.gpu = !strcmp(spec, "cuda")};
    bool good = true;
    if (iso_device_open(spec, &b.device)) {
        printf("SKIP: %s\n", iso_last_error());
        return 77;
    }
    b.side = argc > 2 ? atoll(argv[2]) : b.gpu ? 12288 : 4096;
    b.n = b.side * b.side;
    b.mine = malloc((size_t)b.n * 4);
    b.other = malloc((size_t)b.n * 4);
    args.name = "kernels.isk";
    args.text = read_text(PERF_FOLDER "/kernels.isk");
    MUST(iso_device_get_info(b.device, &info));
    MUST(iso_stream_create(b.device, b.gpu ? 0 : ISO_STREAM_INLINE, &b.stream));
    MUST(iso_event_create(b.device, &b.begin));
    MUST(iso_event_create(b.device, &b.end));
    MUST(iso_program_create(b.device, &args, &b.program));
    b.x = operand(&b, 0);
    b.y = operand(&b, 1);
    b.z = operand(&b, 2);
    printf("%s, %lld f32, isomer %s\n", info.name, (long long)b.n, iso_version());
    if (b.gpu) {
        open_driver(&b);
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        good = compare(&b, &works[i]) && good;
    }
    if (b.gpu) {
        good = compare_launches(&b) && good;
    }
    return good ? 0 : 1;
}
