/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planted.c - runs one kernel with a fault on the first OpenCL device: none, race, barrier or
 * bounds. It shows that the tool which watches the suite detects such faults.
 */
#include "backends/opencl/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(result, name, parameters) result(*name) parameters;
static struct {
    OPENCL_SYMBOLS(MEMBER, MEMBER)
} cl;

enum { THREADS = 8, WORDS = 8 };

static const char *text = //
    "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void none(__global int *at)\n"
    "{\n"
    "    __local int shared[8];\n"
    "    int id = (int)get_local_id(0);\n"
    "    shared[id] = id;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    at[id] = shared[7 - id];\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void race(__global int *at)\n"
    "{\n"
    "    __local int shared[8];\n"
    "    int id = (int)get_local_id(0);\n"
    "    shared[id] = id;\n"
    "    at[id] = shared[7 - id];\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void divergent(__global int *at)\n"
    "{\n"
    "    int id = (int)get_local_id(0);\n"
    "    at[id] = id;\n"
    "    if (id < 4) {\n"
    "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    }\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void bounds(__global int *at)\n"
    "{\n"
    "    int id = (int)get_local_id(0);\n"
    "    at[id + 1] = id;\n"
    "}\n";

static void must(ocl_code code, const char *what)
{
    if (code != OCL_DONE) {
        printf("%s gives %d\n", what, code);
        exit(1);
    }
}

static void open_loader(void)
{
    static const struct {
        const char *name;
        void *at;
    } symbols[] = {
#define ENTRY(result, name, parameters) {#name, &cl.name},
        OPENCL_SYMBOLS(ENTRY, ENTRY)};
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        exit(77);
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        memcpy(symbols[i].at, &address, sizeof address);
        must(address ? OCL_DONE : OCL_INVALID_VALUE, symbols[i].name);
    }
}

int main(int count, char **words)
{
    ocl_platform platform = NULL;
    ocl_device_id device = NULL;
    char name[256] = "";
    ocl_code code = OCL_DONE;
    const size_t threads = THREADS;
    if (count != 2) {
        printf("usage: %s none|race|divergent|bounds\n", words[0]);
        return 2;
    }
    open_loader();
    must(cl.clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(cl.clGetPlatformInfo(platform, OCL_PLATFORM_NAME, sizeof name, name, NULL),
         "clGetPlatformInfo");
    printf("platform: %s\n", name);
    must(cl.clGetDeviceIDs(platform, OCL_EVERY_TYPE, 1, &device, NULL), "clGetDeviceIDs");
    ocl_context context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(code, "clCreateContext");
    ocl_queue queue = cl.clCreateCommandQueue(context, device, 0, &code);
    must(code, "clCreateCommandQueue");
    ocl_memory memory =
        cl.clCreateBuffer(context, OCL_READ_WRITE, WORDS * sizeof(int32_t), NULL, &code);
    must(code, "clCreateBuffer");
    ocl_program_id program = cl.clCreateProgramWithSource(context, 1, &text, NULL, &code);
    must(code, "clCreateProgramWithSource");
    must(cl.clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    ocl_kernel_id kernel = cl.clCreateKernel(program, words[1], &code);
    must(code, "clCreateKernel");
    must(cl.clSetKernelArg(kernel, 0, sizeof memory, &memory), "clSetKernelArg");
    must(cl.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, &threads, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
    (void)cl.clFinish(queue);
    (void)cl.clReleaseKernel(kernel);
    (void)cl.clReleaseProgram(program);
    (void)cl.clReleaseMemObject(memory);
    (void)cl.clReleaseCommandQueue(queue);
    (void)cl.clReleaseContext(context);
    return 0;
}
