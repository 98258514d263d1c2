/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - runs a kernel source through the fakes for CUDA and prints the outcome.
 *
 *   run FOLDER DIALECT TEXT GROUPS THREADS COUNT [no-wait] [option...]
 *
 * FOLDER holds libcuda.so.1 and libnvrtc.so.13, DIALECT is kernels/dialect.h. The kernel `planted`
 * gets (const float *from, float *to, long long count) where from[i] = i + 1 and to has COUNT
 * elements. On stdout: "result N" with a checksum of `to`, or "error CALL CODE".
 */
#include "backends/cuda/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(result, name, parameters) static result(*name) parameters;
CUDA_DRIVER_SYMBOLS(MEMBER, MEMBER)
CUDA_NVRTC_SYMBOLS(MEMBER, MEMBER)

static void *library(const char *folder, const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return handle;
}

static void find(void *handle, const char *name, void *at)
{
    void *found = dlsym(handle, name);
    if (!found) {
        fprintf(stderr, "there is no %s\n", name);
        exit(2);
    }
    memcpy(at, &found, sizeof found);
}

static void check(const char *call, unsigned code)
{
    if (code) {
        printf("error %s %u\n", call, code);
        exit(1);
    }
}

static char *read_texts(const char *first, const char *second)
{
    const char *const paths[] = {first, second};
    char *text = calloc(1, 1 << 20);
    size_t used = 0;
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "r");
        if (!file || !text) {
            fprintf(stderr, "%s cannot be read\n", paths[i]);
            exit(2);
        }
        used += fread(text + used, 1, (1 << 19) - 1, file);
        (void)fclose(file);
    }
    return text;
}

static cuda_module build(char *text, int option_count, const char *const *options)
{
    nvrtc_program program = NULL;
    size_t bytes = 0;
    cuda_module module = NULL;
    check("nvrtcCreateProgram", nvrtcCreateProgram(&program, text, "planted.cl", 0, NULL, NULL));
    const nvrtc_code code = nvrtcCompileProgram(program, option_count, options);
    check("nvrtcGetProgramLogSize", nvrtcGetProgramLogSize(program, &bytes));
    char *log = malloc(bytes);
    check("nvrtcGetProgramLog", nvrtcGetProgramLog(program, log));
    fprintf(stderr, "%s", log);
    free(log);
    check("nvrtcCompileProgram", code);
    check("nvrtcGetCUBINSize", nvrtcGetCUBINSize(program, &bytes));
    char *binary = malloc(bytes);
    check("nvrtcGetCUBIN", nvrtcGetCUBIN(program, binary));
    check("nvrtcDestroyProgram", nvrtcDestroyProgram(&program));
    check("cuModuleLoadData", cuModuleLoadData(&module, binary));
    free(binary);
    return module;
}

int main(int count, char **words)
{
    const char *options[32] = {"--gpu-architecture=sm_90", "--fmad=false"};
    int option_count = 2;
    cuda_context context = NULL;
    cuda_stream stream = NULL;
    cuda_function kernel = NULL;
    cuda_address from = 0;
    cuda_address to = 0;
    if (count < 7) {
        return 2;
    }
    void *driver = library(words[1], "libcuda.so.1");
    void *compiler = library(words[1], "libnvrtc.so.13");
#define FIND_DRIVER(result, name, parameters)   find(driver, #name, &name);
#define FIND_COMPILER(result, name, parameters) find(compiler, #name, &name);
    CUDA_DRIVER_SYMBOLS(FIND_DRIVER, FIND_DRIVER)
    CUDA_NVRTC_SYMBOLS(FIND_COMPILER, FIND_COMPILER)
    int next = 7;
    const int wait = !(count > next && strcmp(words[next], "no-wait") == 0);
    for (next += !wait; next < count && option_count < 32; next++) {
        options[option_count++] = words[next];
    }
    const unsigned groups = (unsigned)atoi(words[4]);
    const unsigned threads = (unsigned)atoi(words[5]);
    long long elements = atoll(words[6]);
    check("cuInit", cuInit(0));
    check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    check("cuCtxPushCurrent", cuCtxPushCurrent_v2(context));
    check("cuStreamCreate", cuStreamCreate(&stream, 1));
    cuda_module module = build(read_texts(words[2], words[3]), option_count, options);
    check("cuModuleGetFunction", cuModuleGetFunction(&kernel, module, "planted"));

    const size_t bytes = (size_t)elements * sizeof(float);
    float *host = malloc(bytes);
    float *back = calloc(1, bytes);
    for (long long i = 0; i < elements; i++) {
        host[i] = (float)(i + 1);
    }
    check("cuMemAlloc", cuMemAlloc_v2(&from, bytes));
    check("cuMemAlloc", cuMemAlloc_v2(&to, bytes));
    void *arguments[] = {&from, &to, &elements};
    check("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2(from, host, bytes, stream));
    check("cuLaunchKernel",
          cuLaunchKernel(kernel, groups, 1, 1, threads, 1, 1, 0, stream, arguments, NULL));
    check("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2(back, to, bytes, stream));
    if (wait) {
        check("cuStreamSynchronize", cuStreamSynchronize(stream));
    }
    double sum = 0;
    for (long long i = 0; i < elements; i++) {
        sum += (double)back[i] * (double)(i % 7 + 1);
    }
    printf("result %.17g\n", sum);
    check("cuStreamSynchronize", cuStreamSynchronize(stream));
    check("cuMemFree", cuMemFree_v2(from));
    check("cuMemFree", cuMemFree_v2(to));
    return 0;
}
