/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - the time from the start of a new process to its first result: a product of N = 1024 by
 * isomer with a warm program cache, against the same by the plain driver API with a ready cubin. In
 * alternation, medians of ROUNDS; at most 1.2 times.
 *
 *   perf-start              the comparison
 *   perf-start isomer       one of the two, as the child
 *   perf-start plain CUBIN
 */
#include "tests/perf/timing.h"

#include <isomer/isomer.h>

#include <dlfcn.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 10, N = 1024, BYTES = N * N * 4 };
static const double MOST = 1.2;

extern char **environ;

static float *data(uint32_t state)
{
    float *p = malloc(BYTES);
    for (int i = 0; p && i < N * N; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (float)(int32_t)(state >> 8) / 16777216.0f - 0.5f;
    }
    return p;
}

/* Reports to the parent that the result is there, and whether it is right. */
static int finish(const float *a, const float *b, const float *c)
{
    double exact = 0;
    const int i = 17, j = 1001;
    const char told = 'r';
    if (write(STDOUT_FILENO, &told, 1) != 1) {
        return 1;
    }
    for (int k = 0; k < N; k++) {
        exact += (double)a[i * N + k] * b[k * N + j];
    }
    if (!(fabs(exact - (double)c[i * N + j]) < 1e-3)) {
        fprintf(stderr, "perf-start: the product is %g, not %g\n", (double)c[i * N + j], exact);
        return 1;
    }
    return 0;
}

static int by_isomer(void)
{
    float *a = data(1), *b = data(2), *c = malloc(BYTES);
    iso_device device;
    iso_stream stream;
    iso_gemm_args g = ISO_GEMM_ARGS_INIT;
    g.dtype = ISO_F32;
    g.variant = ISO_VARIANT_TILED;
    g.m = g.n = g.k = N;
    if (iso_device_open("cuda", &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, BYTES, &g.a.buffer) ||
        iso_buffer_create(device, BYTES, &g.b.buffer) ||
        iso_buffer_create(device, BYTES, &g.c.buffer) || iso_write(stream, g.a, a, BYTES) ||
        iso_write(stream, g.b, b, BYTES) || iso_gemm(stream, &g) ||
        iso_read(stream, c, g.c, BYTES) || iso_stream_sync(stream)) {
        fprintf(stderr, "perf-start: %s\n", iso_last_error());
        return 77;
    }
    return finish(a, b, c);
}

/* ---- the plain way --------------------------------------------------------------------------- */

static const char text[] =
    "extern \"C\" __global__ void product(const float *a, const float *b, float *c, int n)\n"
    "{\n"
    "    __shared__ float x[16][16], y[16][17];\n"
    "    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;\n"
    "    float sum = 0;\n"
    "    for (int k = 0; k < n; k += 16) {\n"
    "        x[threadIdx.y][threadIdx.x] = a[i * n + k + threadIdx.x];\n"
    "        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + j];\n"
    "        __syncthreads();\n"
    "        for (int t = 0; t < 16; t++) sum += x[threadIdx.y][t] * y[t][threadIdx.x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    c[i * n + j] = sum;\n"
    "}\n";

static void *library(const char *first, const char *second)
{
    void *opened = dlopen(first, RTLD_NOW);
    return opened ? opened : dlopen(second, RTLD_NOW);
}

#define FIND(library, name) (*(void **)&name = dlsym(library, #name))

static int by_driver(const char *path)
{
    int (*cuInit)(unsigned);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuMemAlloc_v2)(unsigned long long *, size_t);
    int (*cuStreamCreate)(void **, unsigned);
    int (*cuMemcpyHtoDAsync_v2)(unsigned long long, const void *, size_t, void *);
    int (*cuMemcpyDtoHAsync_v2)(void *, unsigned long long, size_t, void *);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuStreamSynchronize)(void *);
    float *a = data(1), *b = data(2), *c = malloc(BYTES);
    void *cuda = library("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1");
    void *context, *module, *function, *stream;
    unsigned long long x, y, z;
    int n = N;
    void *args[] = {&x, &y, &z, &n};
    char *binary = malloc(1 << 20);
    FILE *file = fopen(path, "rb");
    if (!cuda || !file || !fread(binary, 1, 1 << 20, file) || !FIND(cuda, cuInit) ||
        !FIND(cuda, cuDevicePrimaryCtxRetain) || !FIND(cuda, cuCtxSetCurrent) ||
        !FIND(cuda, cuModuleLoadData) || !FIND(cuda, cuModuleGetFunction) ||
        !FIND(cuda, cuMemAlloc_v2) || !FIND(cuda, cuStreamCreate) ||
        !FIND(cuda, cuMemcpyHtoDAsync_v2) || !FIND(cuda, cuMemcpyDtoHAsync_v2) ||
        !FIND(cuda, cuLaunchKernel) || !FIND(cuda, cuStreamSynchronize)) {
        return 77;
    }
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, binary) || cuModuleGetFunction(&function, module, "product") ||
        cuStreamCreate(&stream, 1) || cuMemAlloc_v2(&x, BYTES) || cuMemAlloc_v2(&y, BYTES) ||
        cuMemAlloc_v2(&z, BYTES) || cuMemcpyHtoDAsync_v2(x, a, BYTES, stream) ||
        cuMemcpyHtoDAsync_v2(y, b, BYTES, stream) ||
        cuLaunchKernel(function, N / 16, N / 16, 1, 16, 16, 1, 0, stream, args, NULL) ||
        cuMemcpyDtoHAsync_v2(c, z, BYTES, stream) || cuStreamSynchronize(stream)) {
        fprintf(stderr, "perf-start: a driver call failed\n");
        return 1;
    }
    return finish(a, b, c);
}

static int make_cubin(const char *path)
{
    int (*nvrtcCreateProgram)(void **, const char *, const char *, int, const char *const *,
                              const char *const *);
    int (*nvrtcCompileProgram)(void *, int, const char *const *);
    int (*nvrtcGetCUBINSize)(void *, size_t *);
    int (*nvrtcGetCUBIN)(void *, char *);
    int (*cuInit)(unsigned);
    int (*cuDeviceGetAttribute)(int *, int, int);
    enum { MAJOR = 75, MINOR = 76 };
    void *nvrtc = library("libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"), *program;
    void *cuda = library("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1");
    int major = 0, minor = 0;
    char option[64], *binary;
    const char *options[] = {option};
    size_t bytes = 0;
    FILE *file;
    if (!nvrtc || !cuda || !FIND(nvrtc, nvrtcCreateProgram) || !FIND(nvrtc, nvrtcCompileProgram) ||
        !FIND(nvrtc, nvrtcGetCUBINSize) || !FIND(nvrtc, nvrtcGetCUBIN) || !FIND(cuda, cuInit) ||
        !FIND(cuda, cuDeviceGetAttribute)) {
        printf("SKIP: no NVRTC or no driver: %s\n", dlerror());
        return 77;
    }
    if (cuInit(0) || cuDeviceGetAttribute(&major, MAJOR, 0) ||
        cuDeviceGetAttribute(&minor, MINOR, 0)) {
        printf("SKIP: the driver has no device\n");
        return 77;
    }
    snprintf(option, sizeof option, "--gpu-architecture=sm_%d%d", major, minor);
    if (nvrtcCreateProgram(&program, text, "product.cu", 0, NULL, NULL) ||
        nvrtcCompileProgram(program, 1, options) || nvrtcGetCUBINSize(program, &bytes) ||
        !(binary = malloc(bytes)) || nvrtcGetCUBIN(program, binary) ||
        !(file = fopen(path, "wb")) || fwrite(binary, 1, bytes, file) != bytes || fclose(file)) {
        fprintf(stderr, "perf-start: no cubin could be made\n");
        return 1;
    }
    free(binary);
    return 0;
}

/* Seconds from the start of a child to its first result; 0: it failed with *code. */
static double child(char **arguments, int *code)
{
    int ends[2], status = 0;
    posix_spawn_file_actions_t actions;
    pid_t pid;
    char byte = 0;
    double begin, end;
    if (pipe(ends)) {
        exit(1);
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    begin = now();
    if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ)) {
        exit(1);
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1) {
        byte = 0;
    }
    end = now();
    close(ends[0]);
    waitpid(pid, &status, 0);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return byte && !*code ? end - begin : 0;
}

int main(int argc, char **argv)
{
    char cubin[] = "/tmp/isomer-start.XXXXXX", name[] = "perf-start", isomer[] = "isomer",
         plain[] = "plain";
    char *ours[] = {name, isomer, NULL}, *theirs[] = {name, plain, cubin, NULL};
    double x[ROUNDS], y[ROUNDS], ratio;
    int code = 0, file;
    if (argc > 1) {
        return !strcmp(argv[1], "isomer") ? by_isomer() : by_driver(argc > 2 ? argv[2] : "");
    }
    file = mkstemp(cubin);
    if (file < 0) {
        return 1;
    }
    close(file);
    code = make_cubin(cubin);
    for (int r = -2; r < ROUNDS && !code; r++) { /* the first two warm the caches */
        double ours_now = child(ours, &code), theirs_now = code ? 0 : child(theirs, &code);
        if (r >= 0) {
            x[r] = ours_now;
            y[r] = theirs_now;
        }
    }
    unlink(cubin);
    if (code) {
        return code;
    }
    qsort(x, ROUNDS, sizeof *x, by_value);
    qsort(y, ROUNDS, sizeof *y, by_value);
    ratio = (x[ROUNDS / 2] + x[ROUNDS / 2 - 1]) / (y[ROUNDS / 2] + y[ROUNDS / 2 - 1]);
    printf("start to first result, N = %d: isomer %.1f ms (%.1f to %.1f), plain driver API %.1f ms "
           "(%.1f to %.1f): %.2f times (at most %.1f)\n",
           N, 500 * (x[ROUNDS / 2] + x[ROUNDS / 2 - 1]), 1e3 * x[0], 1e3 * x[ROUNDS - 1],
           500 * (y[ROUNDS / 2] + y[ROUNDS / 2 - 1]), 1e3 * y[0], 1e3 * y[ROUNDS - 1], ratio, MOST);
    return ratio <= MOST ? 0 : 1;
}
