/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icd.c - a faulty OpenCL driver: wraps the driver at FAULT_DRIVER (PoCL, or Intel's) under another
 * name. FAULT selects the fault:
 *
 *   (none)        nothing
 *   start         ends the process when the loader queries platforms
 *   start-hang    never answers that query
 *   list          ends the process when devices are queried
 *   launch        ends the process at the third kernel
 *   launch-hang   never returns from the third kernel
 *   bits          does not run the third kernel and reports that it did
 *   end           ends the process during exit
 *   rounding      compiles every fma of a program as a product and a sum, which rounds twice
 *   late          the event of the next kernel says that it failed, and nothing else does
 *   lost          after the next kernel nothing can be finished any more
 *
 * FAULT_PLATFORM and FAULT_VERSION are the name and the version that it reports. FAULT_COUNT is a
 * file that gets a line for each process that queried its platforms. `fault_counts` has how often
 * each function of COUNTED and after it was called.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* The start of every object of a driver. */
typedef struct object {
    cl_icd_dispatch *table;
} object;

static cl_icd_dispatch original;
static int launches;
static cl_event failed; /* of the kernel that failed late */
static int lost;

/* Functions that are counted and do nothing else: NAME(name, parameters, arguments). */
#define COUNTED(NAME)                                                                              \
    NAME(clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d), (a, b, c, d))          \
    NAME(clEnqueueMarkerWithWaitList,                                                              \
         (cl_command_queue a, cl_uint b, const cl_event *c, cl_event *d), (a, b, c, d))            \
    NAME(clRetainEvent, (cl_event a), (a))                                                         \
    NAME(clReleaseEvent, (cl_event a), (a))                                                        \
    NAME(clFlush, (cl_command_queue a), (a))
#define NUMBER(name, parameters, arguments) COUNT_##name,
enum { COUNTED(NUMBER) COUNT_LAUNCH, COUNT_INFO, COUNT_FINISH, COUNTS };
EXPORTED _Atomic int fault_counts[COUNTS];
#define WRAP(name, parameters, arguments)                                                          \
    static cl_int CL_API_CALL count_##name parameters                                              \
    {                                                                                              \
        fault_counts[COUNT_##name]++;                                                              \
        return original.name arguments;                                                            \
    }
COUNTED(WRAP)

static int faulty(const char *fault)
{
    const char *set = getenv("FAULT");
    return set && strcmp(set, fault) == 0;
}

static void crash(void)
{
    fprintf(stderr, "the faulty driver crashes\033[31m now\n");
    (void)signal(SIGSEGV, SIG_DFL);
    (void)raise(SIGSEGV);
}

static void hang(void)
{
    for (;;) {
        (void)pause();
    }
}

static cl_int answer(const char *text, size_t room, void *value, size_t *bytes)
{
    const size_t length = strlen(text) + 1;
    if (value && room < length) {
        return CL_INVALID_VALUE;
    }
    if (value) {
        memcpy(value, text, length);
    }
    if (bytes) {
        *bytes = length;
    }
    return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room,
                                        void *value, size_t *bytes)
{
    const char *name = getenv("FAULT_PLATFORM");
    return what == CL_PLATFORM_NAME
               ? answer(name ? name : "Faulty Platform", room, value, bytes)
               : original.clGetPlatformInfo(platform, what, room, value, bytes);
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room,
                                      void *value, size_t *bytes)
{
    const char *version = getenv("FAULT_VERSION");
    if (what == CL_DEVICE_NAME) {
        return answer("Faulty Device", room, value, bytes);
    }
    return what == CL_DRIVER_VERSION ? answer(version ? version : "1", room, value, bytes)
                                     : original.clGetDeviceInfo(device, what, room, value, bytes);
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room,
                                     cl_device_id *devices, cl_uint *count)
{
    if (faulty("list")) {
        crash();
    }
    return original.clGetDeviceIDs(platform, type, room, devices, count);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint count, const cl_event *list, cl_event *event)
{
    if (++launches == 3) {
        if (faulty("launch")) {
            crash();
        } else if (faulty("launch-hang")) {
            hang();
        } else if (faulty("bits")) {
            return original.clEnqueueMarkerWithWaitList(queue, count, list, event);
        }
    }
    fault_counts[COUNT_LAUNCH]++;
    const cl_int code = original.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                        local, count, list, event);
    if (faulty("late") && !failed && event) {
        failed = *event;
    }
    lost |= faulty("lost");
    return code;
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t room, void *value,
                                     size_t *bytes)
{
    fault_counts[COUNT_INFO]++;
    const cl_int code = original.clGetEventInfo(event, what, room, value, bytes);
    if (code == CL_SUCCESS && event == failed && what == CL_EVENT_COMMAND_EXECUTION_STATUS &&
        *(cl_int *)value == CL_COMPLETE) {
        *(cl_int *)value = CL_OUT_OF_RESOURCES;
    }
    return code;
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    fault_counts[COUNT_FINISH]++;
    const cl_int code = original.clFinish(queue);
    return lost ? CL_OUT_OF_RESOURCES : code;
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **texts,
                                             const size_t *lengths, cl_int *code)
{
    static const char planted[] = "#define fma(a, b, c) ((a) * (b) + (c))\n";
    enum { TEXTS = 8 };
    const char *all[TEXTS + 1] = {planted};
    size_t sizes[TEXTS + 1] = {0};
    if (!faulty("rounding") || count > TEXTS) {
        return original.clCreateProgramWithSource(context, count, texts, lengths, code);
    }
    for (cl_uint i = 0; i < count; i++) {
        all[i + 1] = texts[i];
        sizes[i + 1] = lengths ? lengths[i] : 0;
    }
    return original.clCreateProgramWithSource(context, count + 1, all, sizes, code);
}

__attribute__((destructor)) static void at_end(void)
{
    if (faulty("end")) {
        crash();
    }
}

static void count_process(void)
{
    static int counted;
    const char *path = counted++ == 0 ? getenv("FAULT_COUNT") : NULL;
    const int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        (void)!write(file, "1\n", 2);
        (void)close(file);
    }
}

/* One table serves all objects of the driver. */
static void change_table(cl_icd_dispatch *table)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)table & ~(page - 1);
    const uintptr_t to = ((uintptr_t)table + sizeof *table + page - 1) & ~(page - 1);
    original = *table;
    (void)mprotect((void *)from, to - from, PROT_READ | PROT_WRITE);
    table->clGetPlatformInfo = platform_info;
    table->clGetDeviceIDs = device_ids;
    table->clGetDeviceInfo = device_info;
    table->clEnqueueNDRangeKernel = launch;
    table->clCreateProgramWithSource = create_program;
    table->clGetEventInfo = event_info;
    table->clFinish = finish;
#define CHANGE(name, parameters, arguments) table->name = count_##name;
    COUNTED(CHANGE)
}

static cl_int CL_API_CALL platforms(cl_uint room, cl_platform_id *list, cl_uint *count)
{
    static void *(*address)(const char *name);
    static cl_int(CL_API_CALL * ids)(cl_uint, cl_platform_id *, cl_uint *);
    static int changed;
    const char *path = getenv("FAULT_DRIVER");
    count_process();
    if (faulty("start")) {
        crash();
    } else if (faulty("start-hang")) {
        hang();
    }
    void *driver = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return CL_PLATFORM_NOT_FOUND_KHR;
    }
    *(void **)&address = dlsym(driver, "clGetExtensionFunctionAddress");
    *(void **)&ids = address ? address("clIcdGetPlatformIDsKHR") : NULL;
    const cl_int code = ids ? ids(room, list, count) : CL_PLATFORM_NOT_FOUND_KHR;
    if (code == CL_SUCCESS && list && room > 0 && !changed) {
        changed = 1;
        change_table(((object *)list[0])->table);
    }
    return code;
}

EXPORTED void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)platforms
           : strcmp(name, "clGetPlatformInfo") == 0    ? (void *)platform_info
                                                       : NULL;
}

EXPORTED cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *list,
                                                   cl_uint *count)
{
    return platforms(room, list, count);
}
