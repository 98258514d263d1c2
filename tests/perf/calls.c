/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - what a call of one element takes, beside the driver's own launch of a kernel that does
 * nothing and has as many arguments. In alternation, medians: of CALLS calls that are submitted and
 * not waited for, and of calls that are each followed by a synchronisation.
 *
 *   perf-calls cuda       at most 1.10 of cuLaunchKernel, and of that with cuStreamSynchronize, on
 *                         the stream's own CUstream with its context current
 *   perf-calls opencl     at most 1.3 of clSetKernelArg for each argument and
 *                         clEnqueueNDRangeKernel, and of those with clFinish, on an in-order queue
 *                         of its own that takes no times
 *
 * Exit code 77: there is no such device; 1: a result is wrong or a time missed, on a GPU.
 */
#include "tests/perf/timing.h"

#include <isomer/isomer.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 200, ROUNDS = 41, ROUNDS_LEAST = 5, GROUP = 128, ARGS_MOST = 24 };
static const double seconds_most = 8; /* of a case */

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if (call) {                                                                                \
            (void)fprintf(stderr, "perf-calls: %s: %s\n", #call, iso_last_error());                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static iso_device device;
static iso_stream stream;
static iso_buffer buffer;
static bool is_gpu;

static void *library(const char *first, const char *second)
{
    void *opened = dlopen(first, RTLD_NOW);
    opened = opened ? opened : dlopen(second, RTLD_NOW);
    if (!opened) {
        (void)fprintf(stderr, "perf-calls: %s cannot be opened\n", first);
        exit(1);
    }
    return opened;
}

static void *find(void *in, const char *name)
{
    void *found = dlsym(in, name);
    if (!found) {
        (void)fprintf(stderr, "perf-calls: there is no function %s\n", name);
        exit(1);
    }
    return found;
}

/* The function with that name, as the last part of `to`. */
#define FIND(in, to, name) (*(void **)(void *)&(to).name = find(in, #name))

/* A kernel that does nothing: three arrays, then numbers of 64 bits. */
static void write_kernel(char *text, size_t room, const char *before, const char *array,
                         const char *number, int args)
{
    int used = snprintf(text, room, "%s nothing(", before);
    for (int i = 0; i < args; i++) {
        used += snprintf(text + used, room - (size_t)used, "%s%s a%d", i ? ", " : "",
                         i < 3 ? array : number, i);
    }
    (void)snprintf(text + used, room - (size_t)used, ") {}\n");
}

static void *native(iso_native_kind kind, uint64_t handle)
{
    void *made = NULL;
    MUST(iso_native_get(kind, handle, &made));
    return made;
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* The driver of a backend: makes the kernel for a number of arguments, launches it, waits. */
typedef struct by_hand {
    const char *spec, *launch_name;
    double most;
    void (*open)(void);
    void (*make)(int args);
    void (*launch)(void);
    void (*wait)(void);
    void (*also)(void); /* further figures, without a limit */
} by_hand;

static int arg_count;
static long long numbers[ARGS_MOST];
static void *memory;
static void *args_at[ARGS_MOST];

static void made(int args)
{
    arg_count = args;
    for (int i = 0; i < args; i++) {
        args_at[i] = i < 3 ? (void *)&memory : (void *)&numbers[i];
    }
}

static struct {
    int (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuStreamSynchronize)(void *);
    int (*cuDeviceGetAttribute)(int *, int, int);
    int (*nvrtcCreateProgram)(void **, const char *, const char *, int, const char *const *,
                              const char *const *);
    int (*nvrtcCompileProgram)(void *, int, const char *const *);
    int (*nvrtcGetCUBINSize)(void *, size_t *);
    int (*nvrtcGetCUBIN)(void *, char *);
    void *stream, *function;
} cu;

static void cuda_open(void)
{
    void *cuda = library("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1");
    void *nvrtc = library("libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13");
    FIND(cuda, cu, cuCtxSetCurrent);
    FIND(cuda, cu, cuModuleLoadData);
    FIND(cuda, cu, cuModuleGetFunction);
    FIND(cuda, cu, cuLaunchKernel);
    FIND(cuda, cu, cuStreamSynchronize);
    FIND(cuda, cu, cuDeviceGetAttribute);
    FIND(nvrtc, cu, nvrtcCreateProgram);
    FIND(nvrtc, cu, nvrtcCompileProgram);
    FIND(nvrtc, cu, nvrtcGetCUBINSize);
    FIND(nvrtc, cu, nvrtcGetCUBIN);
    MUST(cu.cuCtxSetCurrent(native(ISO_NATIVE_CONTEXT, device.id)));
    cu.stream = native(ISO_NATIVE_STREAM, stream.id);
    memory = native(ISO_NATIVE_MEMORY, buffer.id);
}

static void cuda_make(int args)
{
    enum { MAJOR = 75, MINOR = 76 };
    char text[2048], option[64];
    const char *options[] = {option};
    void *program = NULL, *module = NULL;
    size_t bytes = 0;
    int major = 0, minor = 0;
    MUST(cu.cuDeviceGetAttribute(&major, MAJOR, 0));
    MUST(cu.cuDeviceGetAttribute(&minor, MINOR, 0));
    (void)snprintf(option, sizeof option, "--gpu-architecture=sm_%d%d", major, minor);
    write_kernel(text, sizeof text, "extern \"C\" __global__ void", "float *", "long long", args);
    MUST(cu.nvrtcCreateProgram(&program, text, "nothing.cu", 0, NULL, NULL));
    MUST(cu.nvrtcCompileProgram(program, 1, options));
    MUST(cu.nvrtcGetCUBINSize(program, &bytes));
    char *binary = malloc(bytes);
    MUST(!binary || cu.nvrtcGetCUBIN(program, binary));
    MUST(cu.cuModuleLoadData(&module, binary));
    MUST(cu.cuModuleGetFunction(&cu.function, module, "nothing"));
    free(binary);
    made(args);
}

static void cuda_launch(void)
{
    MUST(cu.cuLaunchKernel(cu.function, 1, 1, 1, GROUP, 1, 1, 0, cu.stream, args_at, NULL));
}

static void cuda_wait(void)
{
    MUST(cu.cuStreamSynchronize(cu.stream));
}

static struct {
    void *(*clCreateCommandQueue)(void *, void *, uint64_t, int32_t *);
    void *(*clCreateProgramWithSource)(void *, uint32_t, const char **, const size_t *, int32_t *);
    int32_t (*clBuildProgram)(void *, uint32_t, void *const *, const char *, void *, void *);
    void *(*clCreateKernel)(void *, const char *, int32_t *);
    int32_t (*clSetKernelArg)(void *, uint32_t, size_t, const void *);
    int32_t (*clEnqueueNDRangeKernel)(void *, void *, uint32_t, const size_t *, const size_t *,
                                      const size_t *, uint32_t, const void *, void *);
    int32_t (*clReleaseEvent)(void *);
    int32_t (*clFlush)(void *);
    int32_t (*clFinish)(void *);
    void *context, *id, *own, *stream, *queue, *kernel;
    bool flush, event;
} cl;

static void opencl_open(void)
{
    void *loader = library("libOpenCL.so.1", "/usr/local/cuda/lib64/libOpenCL.so.1");
    int32_t code = 0;
    FIND(loader, cl, clCreateCommandQueue);
    FIND(loader, cl, clCreateProgramWithSource);
    FIND(loader, cl, clBuildProgram);
    FIND(loader, cl, clCreateKernel);
    FIND(loader, cl, clSetKernelArg);
    FIND(loader, cl, clEnqueueNDRangeKernel);
    FIND(loader, cl, clReleaseEvent);
    FIND(loader, cl, clFlush);
    FIND(loader, cl, clFinish);
    cl.context = native(ISO_NATIVE_CONTEXT, device.id);
    cl.id = native(ISO_NATIVE_DEVICE, device.id);
    cl.stream = native(ISO_NATIVE_STREAM, stream.id);
    memory = native(ISO_NATIVE_MEMORY, buffer.id);
    cl.own = cl.clCreateCommandQueue(cl.context, cl.id, 0, &code);
    MUST(code);
    cl.queue = cl.own;
}

static void opencl_make(int args)
{
    char text[2048];
    const char *texts[] = {text};
    int32_t code = 0;
    write_kernel(text, sizeof text, "__kernel void", "__global float *", "long", args);
    void *program = cl.clCreateProgramWithSource(cl.context, 1, texts, NULL, &code);
    MUST(code);
    MUST(cl.clBuildProgram(program, 1, &cl.id, "", NULL, NULL));
    cl.kernel = cl.clCreateKernel(program, "nothing", &code);
    MUST(code);
    made(args);
}

static void opencl_launch(void)
{
    const size_t group = GROUP;
    void *event = NULL;
    for (int i = 0; i < arg_count; i++) {
        MUST(cl.clSetKernelArg(cl.kernel, (uint32_t)i, 8, args_at[i]));
    }
    MUST(cl.clEnqueueNDRangeKernel(cl.queue, cl.kernel, 1, NULL, &group, &group, 0, NULL,
                                   cl.event ? &event : NULL));
    if (cl.event) {
        MUST(cl.clReleaseEvent(event));
    }
    if (cl.flush) {
        MUST(cl.clFlush(cl.queue));
    }
}

static void opencl_wait(void)
{
    MUST(cl.clFinish(cl.queue));
}

/* ---- measuring ------------------------------------------------------------------------------- */

static double take(void (*call)(void), void (*wait)(void), bool each)
{
    const double start = now();
    for (int i = 0; i < CALLS; i++) {
        call();
        if (each) {
            wait();
        }
    }
    const double end = now();
    wait();
    return (end - start) * 1e6 / CALLS;
}

/* What the driver's launch takes with each thing that the library's has, in microseconds. */
static void opencl_also(void)
{
    static const struct {
        const char *name;
        bool times, event, flush;
    } ways[] = {{"plain", false, false, false},
                {"with clFlush", false, false, true},
                {"on the stream's queue, which takes times", true, false, false},
                {"there, with clFlush", true, false, true},
                {"there, with clFlush and an event", true, true, true}};
    enum { WAYS = sizeof ways / sizeof *ways, TIMES = 11 };
    double of[2][WAYS][TIMES];
    opencl_make(7);
    for (int i = 0; i < TIMES; i++) {
        for (int w = 0; w < WAYS; w++) {
            cl.queue = ways[w].times ? cl.stream : cl.own;
            cl.event = ways[w].event;
            cl.flush = ways[w].flush;
            of[0][w][i] = take(opencl_launch, opencl_wait, false);
            of[1][w][i] = take(opencl_launch, opencl_wait, true);
        }
    }
    for (int w = 0; w < WAYS; w++) {
        (void)printf("7 arguments, %-42s %8.2f us, with clFinish %8.2f us\n", ways[w].name,
                     median(of[0][w], TIMES), median(of[1][w], TIMES));
    }
}

static const by_hand all[] = {
    {"cuda", "cuLaunchKernel", 1.10, cuda_open, cuda_make, cuda_launch, cuda_wait, NULL},
    {"opencl", "clEnqueueNDRangeKernel", 1.3, opencl_open, opencl_make, opencl_launch, opencl_wait,
     opencl_also},
};

static void submit_map(void)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_ADD;
    args.dtype = ISO_F32;
    args.n = 1;
    args.x = (iso_operand){buffer, 0};
    args.y = (iso_operand){buffer, 256};
    args.z = (iso_operand){buffer, 512};
    MUST(iso_map(stream, &args));
}

static iso_gemm_args product(void)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.m = args.n = args.k = 1;
    args.a = (iso_operand){buffer, 0};
    args.b = (iso_operand){buffer, 256};
    args.c = (iso_operand){buffer, 512};
    return args;
}

static void submit_product(void)
{
    const iso_gemm_args args = product();
    MUST(iso_gemm(stream, &args));
}

static void submit_sum(void)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = ISO_SUM;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.cols = 1;
    args.x = (iso_operand){buffer, 0};
    args.result = (iso_operand){buffer, 512};
    MUST(iso_reduce(stream, &args));
}

static void await(void)
{
    MUST(iso_stream_sync(stream));
}

/* `args` of the kernel that a GPU runs; `result` of 3 and 5. */
static const struct {
    const char *name;
    void (*submit)(void);
    int args;
    float result;
} cases[] = {
    {"map", submit_map, 7, 8}, {"product", submit_product, 21, 15}, {"sum", submit_sum, 13, 3}};

static bool is_right(int which)
{
    const float before = -1;
    float after = -1;
    MUST(iso_write(stream, (iso_operand){buffer, 512}, &before, 4));
    cases[which].submit();
    MUST(iso_read(stream, &after, (iso_operand){buffer, 512}, 4));
    await();
    if (after != cases[which].result) {
        (void)printf("%s: the result is %g, not %g\n", cases[which].name, (double)after,
                     (double)cases[which].result);
    }
    return after == cases[which].result;
}

static bool compare(const by_hand *other, int which, bool each)
{
    double times[2][ROUNDS];
    const double start = now();
    int rounds = 0;
    for (; rounds < ROUNDS && (rounds < ROUNDS_LEAST || now() - start < seconds_most); rounds++) {
        for (int turn = 0; turn < 2; turn++) {
            const int own = (turn + rounds) % 2;
            times[own][rounds] = own ? take(cases[which].submit, await, each)
                                     : take(other->launch, other->wait, each);
        }
    }
    const double mine = median(times[1], rounds), theirs = median(times[0], rounds);
    const bool good = !is_gpu || mine <= other->most * theirs;
    (void)printf("%-8s %-14s %8.2f us, %s %8.2f us: %.3f, at most %.2f%s\n", cases[which].name,
                 each ? "synchronised" : "submitted", mine, other->launch_name, theirs,
                 mine / theirs, other->most, good ? "" : "  MISSED");
    return good;
}

static bool compare_all(const by_hand *other)
{
    bool good = true;
    for (int which = 0; which < (int)(sizeof cases / sizeof *cases); which++) {
        good = is_right(which) && good;
        other->make(cases[which].args);
        for (int each = 0; each < 2; each++) {
            (void)take(cases[which].submit, await, each);
            (void)take(other->launch, other->wait, each);
            good = compare(other, which, each) && good;
        }
        good = is_right(which) && good;
    }
    return good;
}

int main(int argc, char **argv)
{
    static const float three = 3, five = 5;
    const by_hand *other = NULL;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_op_info kernel = ISO_OP_INFO_INIT;
    for (int i = 0; argc > 1 && i < (int)(sizeof all / sizeof *all); i++) {
        other = strcmp(argv[1], all[i].spec) ? other : &all[i];
    }
    if (!other) {
        (void)fprintf(stderr, "usage: perf-calls cuda|opencl\n");
        return 2;
    }
    if (iso_device_open(other->spec, &device)) {
        (void)printf("SKIP: %s\n", iso_last_error());
        return 77;
    }
    MUST(iso_device_get_info(device, &info));
    is_gpu = info.type == ISO_DEVICE_GPU;
    MUST(iso_stream_create(device, 0, &stream));
    MUST(iso_buffer_create(device, 1024, &buffer));
    MUST(iso_write(stream, (iso_operand){buffer, 0}, &three, 4));
    MUST(iso_write(stream, (iso_operand){buffer, 256}, &five, 4));
    await();
    const iso_gemm_args args = product();
    MUST(iso_describe(device, ISO_OP_GEMM, &args, &kernel));
    (void)printf("%s, isomer %s, the product by %s\n", info.name, iso_version(), kernel.kernel);
    other->open();
    const bool good = compare_all(other);
    if (other->also) {
        other->also();
    }
    return good ? 0 : 1;
}
