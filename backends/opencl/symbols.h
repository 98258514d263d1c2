/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - the functions of the OpenCL loader and of CLBlast that this backend calls, under the
 * names that the libraries export. OpenCL 1.2 and CLBlast 1.5 have the functions in
 * REQUIRED(result, name, parameters); only some versions have those in OPTIONAL. A test compares
 * each entry with the headers. Objects are pointers to structs with the headers' own tags, so that
 * each entry is compatible with the header's declaration.
 */
#ifndef ISOMER_OPENCL_SYMBOLS_H
#define ISOMER_OPENCL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* ---- types ----------------------------------------------------------------------------------- */

typedef int32_t ocl_code;  /* cl_int as the result of a call */
typedef uint32_t ocl_name; /* names of queried properties */
typedef uint64_t ocl_bits;
typedef struct _cl_platform_id *ocl_platform;
typedef struct _cl_device_id *ocl_device_id;
typedef struct _cl_context *ocl_context;
typedef struct _cl_command_queue *ocl_queue;
typedef struct _cl_mem *ocl_memory;
typedef struct _cl_program *ocl_program_id;
typedef struct _cl_kernel *ocl_kernel_id;
typedef struct _cl_event *ocl_event;

typedef int clblast_code;      /* CLBlastStatusCode: some are negative */
typedef unsigned clblast_enum; /* layouts and transpositions */
/* cl_float2, whose alignment is that of its 8 bytes, and is passed like a pair of floats. */
typedef struct clblast_narrow_pair {
    _Alignas(8) float part[2];
} clblast_narrow_pair;
/* cl_double2: two numbers that are passed like a pair of doubles. */
typedef struct clblast_pair {
    double part[2];
} clblast_pair;

/* clang-format off */

/* Constants of the interface: VALUE(our name, number, the header's name). */
#define OPENCL_VALUES(VALUE)                                                                       \
    VALUE(OCL_DONE, 0, CL_SUCCESS)                                                                 \
    VALUE(OCL_NO_DEVICE, -1, CL_DEVICE_NOT_FOUND)                                                  \
    VALUE(OCL_DEVICE_GONE, -2, CL_DEVICE_NOT_AVAILABLE)                                            \
    VALUE(OCL_ALLOCATION_FAILED, -4, CL_MEM_OBJECT_ALLOCATION_FAILURE)                             \
    VALUE(OCL_NO_RESOURCES, -5, CL_OUT_OF_RESOURCES)                                               \
    VALUE(OCL_NO_HOST_MEMORY, -6, CL_OUT_OF_HOST_MEMORY)                                           \
    VALUE(OCL_NO_PROFILE, -7, CL_PROFILING_INFO_NOT_AVAILABLE)                                     \
    VALUE(OCL_INVALID_VALUE, -30, CL_INVALID_VALUE)                                                \
    VALUE(OCL_INVALID_BYTES, -61, CL_INVALID_BUFFER_SIZE)                                          \
    VALUE(OCL_COMPLETE, 0, CL_COMPLETE)                                                            \
    VALUE(OCL_PLATFORM_VERSION, 0x0901, CL_PLATFORM_VERSION)                                       \
    VALUE(OCL_PLATFORM_NAME, 0x0902, CL_PLATFORM_NAME)                                             \
    VALUE(OCL_TYPE_CPU, 2, CL_DEVICE_TYPE_CPU)                                                     \
    VALUE(OCL_TYPE_GPU, 4, CL_DEVICE_TYPE_GPU)                                                     \
    VALUE(OCL_DEVICE_TYPE, 0x1000, CL_DEVICE_TYPE)                                                 \
    VALUE(OCL_DEVICE_UNITS, 0x1002, CL_DEVICE_MAX_COMPUTE_UNITS)                                   \
    VALUE(OCL_DEVICE_GROUP, 0x1004, CL_DEVICE_MAX_WORK_GROUP_SIZE)                                 \
    VALUE(OCL_DEVICE_CLOCK, 0x100c, CL_DEVICE_MAX_CLOCK_FREQUENCY)                                 \
    VALUE(OCL_DEVICE_ALLOC, 0x1010, CL_DEVICE_MAX_MEM_ALLOC_SIZE)                                  \
    VALUE(OCL_DEVICE_SINGLE, 0x101b, CL_DEVICE_SINGLE_FP_CONFIG)                                   \
    VALUE(OCL_DEVICE_CACHE, 0x101e, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE)                               \
    VALUE(OCL_DEVICE_MEMORY, 0x101f, CL_DEVICE_GLOBAL_MEM_SIZE)                                    \
    VALUE(OCL_DEVICE_LOCAL, 0x1023, CL_DEVICE_LOCAL_MEM_SIZE)                                      \
    VALUE(OCL_DEVICE_LITTLE, 0x1026, CL_DEVICE_ENDIAN_LITTLE)                                      \
    VALUE(OCL_DEVICE_AVAILABLE, 0x1027, CL_DEVICE_AVAILABLE)                                       \
    VALUE(OCL_DEVICE_COMPILER, 0x1028, CL_DEVICE_COMPILER_AVAILABLE)                               \
    VALUE(OCL_DEVICE_NAME, 0x102b, CL_DEVICE_NAME)                                                 \
    VALUE(OCL_DEVICE_VENDOR, 0x102c, CL_DEVICE_VENDOR)                                             \
    VALUE(OCL_DRIVER_VERSION, 0x102d, CL_DRIVER_VERSION)                                           \
    VALUE(OCL_DEVICE_VERSION, 0x102f, CL_DEVICE_VERSION)                                           \
    VALUE(OCL_DEVICE_EXTENSIONS, 0x1030, CL_DEVICE_EXTENSIONS)                                     \
    VALUE(OCL_DEVICE_DOUBLE, 0x1032, CL_DEVICE_DOUBLE_FP_CONFIG)                                   \
    VALUE(OCL_DEVICE_UNIFIED, 0x1035, CL_DEVICE_HOST_UNIFIED_MEMORY)                               \
    VALUE(OCL_DEVICE_LANGUAGE, 0x103d, CL_DEVICE_OPENCL_C_VERSION)                                 \
    VALUE(OCL_DEVICE_MULTIPLE, 0x1067, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)               \
    VALUE(OCL_DEVICE_UUID, 0x106a, CL_DEVICE_UUID_KHR)                                             \
    VALUE(OCL_DEVICE_WARP, 0x4003, CL_DEVICE_WARP_SIZE_NV)                                         \
    VALUE(OCL_DEVICE_MAJOR, 0x4000, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV)                         \
    VALUE(OCL_DEVICE_MINOR, 0x4001, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV)                         \
    VALUE(OCL_DEVICE_WAVE, 0x4043, CL_DEVICE_WAVEFRONT_WIDTH_AMD)                                  \
    VALUE(OCL_DENORMALS, 1, CL_FP_DENORM)                                                          \
    VALUE(OCL_INFINITIES, 2, CL_FP_INF_NAN)                                                        \
    VALUE(OCL_TO_NEAREST, 4, CL_FP_ROUND_TO_NEAREST)                                               \
    VALUE(OCL_FMA, 32, CL_FP_FMA)                                                                  \
    VALUE(OCL_SOFTWARE, 64, CL_FP_SOFT_FLOAT)                                                      \
    VALUE(OCL_ROUNDS, 128, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)                                    \
    VALUE(OCL_CONTEXT_DEVICES, 0x1081, CL_CONTEXT_DEVICES)                                         \
    VALUE(OCL_CONTEXT_PLATFORM, 0x1084, CL_CONTEXT_PLATFORM)                                       \
    VALUE(OCL_QUEUE_CONTEXT, 0x1090, CL_QUEUE_CONTEXT)                                             \
    VALUE(OCL_QUEUE_DEVICE, 0x1091, CL_QUEUE_DEVICE)                                               \
    VALUE(OCL_QUEUE_PROPERTIES, 0x1093, CL_QUEUE_PROPERTIES)                                       \
    VALUE(OCL_QUEUE_UNORDERED, 1, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)                          \
    VALUE(OCL_QUEUE_PROFILING, 2, CL_QUEUE_PROFILING_ENABLE)                                       \
    VALUE(OCL_READ_WRITE, 1, CL_MEM_READ_WRITE)                                                    \
    VALUE(OCL_READ_ONLY, 4, CL_MEM_READ_ONLY)                                                      \
    VALUE(OCL_HOST_MEMORY, 16, CL_MEM_ALLOC_HOST_PTR)                                              \
    VALUE(OCL_MEMORY_TYPE, 0x1100, CL_MEM_TYPE)                                                    \
    VALUE(OCL_MEMORY_FLAGS, 0x1101, CL_MEM_FLAGS)                                                  \
    VALUE(OCL_MEMORY_BYTES, 0x1102, CL_MEM_SIZE)                                                   \
    VALUE(OCL_MEMORY_CONTEXT, 0x1106, CL_MEM_CONTEXT)                                              \
    VALUE(OCL_BUFFER, 0x10f0, CL_MEM_OBJECT_BUFFER)                                                \
    VALUE(OCL_MAP_READ, 1, CL_MAP_READ)                                                            \
    VALUE(OCL_MAP_WRITE, 2, CL_MAP_WRITE)                                                          \
    VALUE(OCL_CONTENT_UNDEFINED, 2, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)                       \
    VALUE(OCL_PROGRAM_DEVICE_COUNT, 0x1162, CL_PROGRAM_NUM_DEVICES)                                \
    VALUE(OCL_PROGRAM_DEVICES, 0x1163, CL_PROGRAM_DEVICES)                                         \
    VALUE(OCL_PROGRAM_BINARY_SIZES, 0x1165, CL_PROGRAM_BINARY_SIZES)                               \
    VALUE(OCL_PROGRAM_BINARIES, 0x1166, CL_PROGRAM_BINARIES)                                       \
    VALUE(OCL_BUILD_LOG, 0x1183, CL_PROGRAM_BUILD_LOG)                                             \
    VALUE(OCL_KERNEL_GROUP, 0x11b0, CL_KERNEL_WORK_GROUP_SIZE)                                     \
    VALUE(OCL_KERNEL_COMPILED, 0x11b1, CL_KERNEL_COMPILE_WORK_GROUP_SIZE)                          \
    VALUE(OCL_KERNEL_LOCAL, 0x11b2, CL_KERNEL_LOCAL_MEM_SIZE)                                      \
    VALUE(OCL_KERNEL_PRIVATE, 0x11b4, CL_KERNEL_PRIVATE_MEM_SIZE)                                  \
    VALUE(OCL_EVENT_STATUS, 0x11d3, CL_EVENT_COMMAND_EXECUTION_STATUS)                             \
    VALUE(OCL_TIME_START, 0x1282, CL_PROFILING_COMMAND_START)                                      \
    VALUE(OCL_TIME_END, 0x1283, CL_PROFILING_COMMAND_END)                                          \
    VALUE(OCL_NO_PLATFORM, -1001, CL_PLATFORM_NOT_FOUND_KHR)

#define CLBLAST_VALUES(VALUE)                                                                      \
    VALUE(CLBLAST_DONE, 0, CLBlastSuccess)                                                         \
    VALUE(CLBLAST_ROWS, 101, CLBlastLayoutRowMajor)                                                \
    VALUE(CLBLAST_NO_TRANS, 111, CLBlastTransposeNo)                                               \
    VALUE(CLBLAST_TRANS, 112, CLBlastTransposeYes)                                                 \
    VALUE(CLBLAST_CONJ_TRANS, 113, CLBlastTransposeConjugate)                                      \
    VALUE(CLBLAST_UPPER, 121, CLBlastTriangleUpper)                                                \
    VALUE(CLBLAST_LOWER, 122, CLBlastTriangleLower)                                                \
    VALUE(CLBLAST_NON_UNIT, 131, CLBlastDiagonalNonUnit)                                           \
    VALUE(CLBLAST_UNIT, 132, CLBlastDiagonalUnit)                                                  \
    VALUE(CLBLAST_LEFT, 141, CLBlastSideLeft)                                                      \
    VALUE(CLBLAST_RIGHT, 142, CLBlastSideRight)

#define OCL_ENUMERATOR(ours, number, theirs) ours = (number),
enum { OPENCL_VALUES(OCL_ENUMERATOR) CLBLAST_VALUES(OCL_ENUMERATOR) };

#define OCL_EVERY_TYPE ((ocl_bits)0xffffffff) /* CL_DEVICE_TYPE_ALL */

/* ---- the loader: libOpenCL.so.1 -------------------------------------------------------------- */

#define OPENCL_SYMBOLS(REQUIRED, OPTIONAL)                                                         \
    REQUIRED(ocl_code, clGetPlatformIDs,                                                           \
             (uint32_t capacity, ocl_platform *platforms, uint32_t *count))                        \
    REQUIRED(ocl_code, clGetPlatformInfo,                                                          \
             (ocl_platform platform, ocl_name what, size_t bytes, void *value, size_t *needed))    \
    REQUIRED(ocl_code, clGetDeviceIDs,                                                             \
             (ocl_platform platform, ocl_bits type, uint32_t capacity, ocl_device_id *devices,     \
              uint32_t *count))                                                                    \
    REQUIRED(ocl_code, clGetDeviceInfo,                                                            \
             (ocl_device_id device, ocl_name what, size_t bytes, void *value, size_t *needed))     \
    REQUIRED(ocl_context, clCreateContext,                                                         \
             (const intptr_t *properties, uint32_t count, const ocl_device_id *devices,            \
              void (*notify)(const char *, const void *, size_t, void *), void *data,              \
              ocl_code *code))                                                                     \
    REQUIRED(ocl_code, clRetainContext, (ocl_context context))                                     \
    REQUIRED(ocl_code, clReleaseContext, (ocl_context context))                                    \
    REQUIRED(ocl_code, clGetContextInfo,                                                           \
             (ocl_context context, ocl_name what, size_t bytes, void *value, size_t *needed))      \
    REQUIRED(ocl_queue, clCreateCommandQueue,                                                      \
             (ocl_context context, ocl_device_id device, ocl_bits properties, ocl_code *code))     \
    REQUIRED(ocl_code, clRetainCommandQueue, (ocl_queue queue))                                    \
    REQUIRED(ocl_code, clReleaseCommandQueue, (ocl_queue queue))                                   \
    REQUIRED(ocl_code, clGetCommandQueueInfo,                                                      \
             (ocl_queue queue, ocl_name what, size_t bytes, void *value, size_t *needed))          \
    REQUIRED(ocl_memory, clCreateBuffer,                                                           \
             (ocl_context context, ocl_bits flags, size_t bytes, void *host, ocl_code *code))      \
    REQUIRED(ocl_code, clRetainMemObject, (ocl_memory memory))                                     \
    REQUIRED(ocl_code, clReleaseMemObject, (ocl_memory memory))                                    \
    REQUIRED(ocl_code, clGetMemObjectInfo,                                                         \
             (ocl_memory memory, ocl_name what, size_t bytes, void *value, size_t *needed))        \
    REQUIRED(ocl_program_id, clCreateProgramWithSource,                                            \
             (ocl_context context, uint32_t count, const char **texts, const size_t *lengths,      \
              ocl_code *code))                                                                     \
    REQUIRED(ocl_program_id, clCreateProgramWithBinary,                                            \
             (ocl_context context, uint32_t count, const ocl_device_id *devices,                   \
              const size_t *lengths, const unsigned char **binaries, ocl_code *states,             \
              ocl_code *code))                                                                     \
    REQUIRED(ocl_code, clBuildProgram,                                                             \
             (ocl_program_id program, uint32_t count, const ocl_device_id *devices,                \
              const char *options, void (*notify)(ocl_program_id, void *), void *data))            \
    REQUIRED(ocl_code, clReleaseProgram, (ocl_program_id program))                                 \
    REQUIRED(ocl_code, clGetProgramInfo,                                                           \
             (ocl_program_id program, ocl_name what, size_t bytes, void *value, size_t *needed))   \
    REQUIRED(ocl_code, clGetProgramBuildInfo,                                                      \
             (ocl_program_id program, ocl_device_id device, ocl_name what, size_t bytes,           \
              void *value, size_t *needed))                                                        \
    REQUIRED(ocl_kernel_id, clCreateKernel,                                                        \
             (ocl_program_id program, const char *name, ocl_code *code))                           \
    REQUIRED(ocl_code, clReleaseKernel, (ocl_kernel_id kernel))                                    \
    REQUIRED(ocl_code, clSetKernelArg,                                                             \
             (ocl_kernel_id kernel, uint32_t index, size_t bytes, const void *value))              \
    REQUIRED(ocl_code, clGetKernelWorkGroupInfo,                                                   \
             (ocl_kernel_id kernel, ocl_device_id device, ocl_name what, size_t bytes,             \
              void *value, size_t *needed))                                                        \
    REQUIRED(ocl_code, clEnqueueNDRangeKernel,                                                     \
             (ocl_queue queue, ocl_kernel_id kernel, uint32_t dimensions, const size_t *offset,    \
              const size_t *global, const size_t *local, uint32_t count, const ocl_event *wait,    \
              ocl_event *event))                                                                   \
    REQUIRED(ocl_code, clEnqueueWriteBuffer,                                                       \
             (ocl_queue queue, ocl_memory to, uint32_t blocking, size_t offset, size_t bytes,      \
              const void *from, uint32_t count, const ocl_event *wait, ocl_event *event))          \
    REQUIRED(ocl_code, clEnqueueReadBuffer,                                                        \
             (ocl_queue queue, ocl_memory from, uint32_t blocking, size_t offset, size_t bytes,    \
              void *to, uint32_t count, const ocl_event *wait, ocl_event *event))                  \
    REQUIRED(ocl_code, clEnqueueCopyBuffer,                                                        \
             (ocl_queue queue, ocl_memory from, ocl_memory to, size_t from_offset,                 \
              size_t to_offset, size_t bytes, uint32_t count, const ocl_event *wait,               \
              ocl_event *event))                                                                   \
    REQUIRED(ocl_code, clEnqueueWriteBufferRect,                                                   \
             (ocl_queue queue, ocl_memory to, uint32_t blocking, const size_t *buffer_origin,      \
              const size_t *host_origin, const size_t *region, size_t buffer_row,                  \
              size_t buffer_slice, size_t host_row, size_t host_slice, const void *from,           \
              uint32_t count, const ocl_event *wait, ocl_event *event))                            \
    REQUIRED(ocl_code, clEnqueueReadBufferRect,                                                    \
             (ocl_queue queue, ocl_memory from, uint32_t blocking, const size_t *buffer_origin,    \
              const size_t *host_origin, const size_t *region, size_t buffer_row,                  \
              size_t buffer_slice, size_t host_row, size_t host_slice, void *to, uint32_t count,   \
              const ocl_event *wait, ocl_event *event))                                            \
    REQUIRED(ocl_code, clEnqueueCopyBufferRect,                                                    \
             (ocl_queue queue, ocl_memory from, ocl_memory to, const size_t *from_origin,          \
              const size_t *to_origin, const size_t *region, size_t from_row, size_t from_slice,   \
              size_t to_row, size_t to_slice, uint32_t count, const ocl_event *wait,               \
              ocl_event *event))                                                                   \
    REQUIRED(void *, clEnqueueMapBuffer,                                                           \
             (ocl_queue queue, ocl_memory memory, uint32_t blocking, ocl_bits flags,               \
              size_t offset, size_t bytes, uint32_t count, const ocl_event *wait,                  \
              ocl_event *event, ocl_code *code))                                                   \
    REQUIRED(ocl_code, clEnqueueUnmapMemObject,                                                    \
             (ocl_queue queue, ocl_memory memory, void *pointer, uint32_t count,                   \
              const ocl_event *wait, ocl_event *event))                                            \
    REQUIRED(ocl_code, clEnqueueMigrateMemObjects,                                                 \
             (ocl_queue queue, uint32_t memory_count, const ocl_memory *memory, ocl_bits flags,    \
              uint32_t count, const ocl_event *wait, ocl_event *event))                            \
    REQUIRED(ocl_code, clEnqueueMarkerWithWaitList,                                                \
             (ocl_queue queue, uint32_t count, const ocl_event *wait, ocl_event *event))           \
    REQUIRED(ocl_code, clEnqueueBarrierWithWaitList,                                               \
             (ocl_queue queue, uint32_t count, const ocl_event *wait, ocl_event *event))           \
    REQUIRED(ocl_event, clCreateUserEvent, (ocl_context context, ocl_code *code))                  \
    REQUIRED(ocl_code, clSetUserEventStatus, (ocl_event event, ocl_code status))                   \
    REQUIRED(ocl_code, clWaitForEvents, (uint32_t count, const ocl_event *events))                 \
    REQUIRED(ocl_code, clGetEventInfo,                                                             \
             (ocl_event event, ocl_name what, size_t bytes, void *value, size_t *needed))          \
    REQUIRED(ocl_code, clGetEventProfilingInfo,                                                    \
             (ocl_event event, ocl_name what, size_t bytes, void *value, size_t *needed))          \
    REQUIRED(ocl_code, clRetainEvent, (ocl_event event))                                           \
    REQUIRED(ocl_code, clReleaseEvent, (ocl_event event))                                          \
    REQUIRED(ocl_code, clFlush, (ocl_queue queue))                                                 \
    REQUIRED(ocl_code, clFinish, (ocl_queue queue))

/* ---- libclblast.so.1 ------------------------------------------------------------------------- */

#define CLBLAST_PRODUCT(ENTRY, name, number)                                                       \
    ENTRY(clblast_code, name,                                                                      \
          (clblast_enum layout, clblast_enum a_trans, clblast_enum b_trans, size_t m, size_t n,    \
           size_t k, number alpha, ocl_memory a, size_t a_offset, size_t a_ld, ocl_memory b,       \
           size_t b_offset, size_t b_ld, number beta, ocl_memory c, size_t c_offset, size_t c_ld,  \
           ocl_queue *queue, ocl_event *event))
#define CLBLAST_PRODUCTS(ENTRY, name, number)                                                      \
    ENTRY(clblast_code, name,                                                                      \
          (clblast_enum layout, clblast_enum a_trans, clblast_enum b_trans, size_t m, size_t n,    \
           size_t k, number alpha, ocl_memory a, size_t a_offset, size_t a_ld, size_t a_stride,    \
           ocl_memory b, size_t b_offset, size_t b_ld, size_t b_stride, number beta,               \
           ocl_memory c, size_t c_offset, size_t c_ld, size_t c_stride, size_t batch,              \
           ocl_queue *queue, ocl_event *event))
#define CLBLAST_TURN(ENTRY, name, number)                                                          \
    ENTRY(clblast_code, name,                                                                      \
          (clblast_enum layout, clblast_enum trans, size_t m, size_t n, number alpha,              \
           ocl_memory a, size_t a_offset, size_t a_ld, ocl_memory b, size_t b_offset,              \
           size_t b_ld, ocl_queue *queue, ocl_event *event))
#define CLBLAST_DOT(ENTRY, name)                                                                   \
    ENTRY(clblast_code, name,                                                                      \
          (size_t n, ocl_memory result, size_t result_offset, ocl_memory x, size_t x_offset,       \
           size_t x_step, ocl_memory y, size_t y_offset, size_t y_step, ocl_queue *queue,          \
           ocl_event *event))
#define CLBLAST_FOLD(ENTRY, name)                                                                  \
    ENTRY(clblast_code, name,                                                                      \
          (size_t n, ocl_memory result, size_t result_offset, ocl_memory x, size_t x_offset,       \
           size_t x_step, ocl_queue *queue, ocl_event *event))

#define CLBLAST_SYRK(ENTRY, name, number)                                                          \
    ENTRY(clblast_code, name,                                                                      \
          (clblast_enum layout, clblast_enum triangle, clblast_enum a_trans, size_t n, size_t k,   \
           number alpha, ocl_memory a, size_t a_offset, size_t a_ld, number beta, ocl_memory c,    \
           size_t c_offset, size_t c_ld, ocl_queue *queue, ocl_event *event))
#define CLBLAST_TRSM(ENTRY, name, number)                                                          \
    ENTRY(clblast_code, name,                                                                      \
          (clblast_enum layout, clblast_enum side, clblast_enum triangle, clblast_enum a_trans,    \
           clblast_enum diagonal, size_t m, size_t n, number alpha, ocl_memory a, size_t a_offset, \
           size_t a_ld, ocl_memory b, size_t b_offset, size_t b_ld, ocl_queue *queue,              \
           ocl_event *event))

#define CLBLAST_SYMBOLS(REQUIRED, OPTIONAL)                                                        \
    CLBLAST_PRODUCT(REQUIRED, CLBlastSgemm, float)                                                 \
    CLBLAST_PRODUCT(REQUIRED, CLBlastDgemm, double)                                                \
    CLBLAST_PRODUCTS(OPTIONAL, CLBlastSgemmStridedBatched, float)                                  \
    CLBLAST_PRODUCTS(OPTIONAL, CLBlastDgemmStridedBatched, double)                                 \
    CLBLAST_TURN(REQUIRED, CLBlastSomatcopy, float)                                                \
    CLBLAST_TURN(REQUIRED, CLBlastDomatcopy, double)                                               \
    CLBLAST_TURN(REQUIRED, CLBlastZomatcopy, clblast_pair)                                         \
    CLBLAST_DOT(REQUIRED, CLBlastSdot)                                                             \
    CLBLAST_DOT(REQUIRED, CLBlastDdot)                                                             \
    CLBLAST_FOLD(REQUIRED, CLBlastSsum)                                                            \
    CLBLAST_FOLD(REQUIRED, CLBlastDsum)                                                            \
    CLBLAST_FOLD(REQUIRED, CLBlastSasum)                                                           \
    CLBLAST_FOLD(REQUIRED, CLBlastDasum)                                                           \
    CLBLAST_PRODUCT(OPTIONAL, CLBlastCgemm, clblast_narrow_pair)                                   \
    CLBLAST_PRODUCT(OPTIONAL, CLBlastZgemm, clblast_pair)                                          \
    CLBLAST_PRODUCTS(OPTIONAL, CLBlastCgemmStridedBatched, clblast_narrow_pair)                    \
    CLBLAST_PRODUCTS(OPTIONAL, CLBlastZgemmStridedBatched, clblast_pair)                           \
    CLBLAST_SYRK(OPTIONAL, CLBlastSsyrk, float)                                                    \
    CLBLAST_SYRK(OPTIONAL, CLBlastDsyrk, double)                                                   \
    CLBLAST_SYRK(OPTIONAL, CLBlastCsyrk, clblast_narrow_pair)                                      \
    CLBLAST_SYRK(OPTIONAL, CLBlastZsyrk, clblast_pair)                                             \
    CLBLAST_TRSM(OPTIONAL, CLBlastStrsm, float)                                                    \
    CLBLAST_TRSM(OPTIONAL, CLBlastDtrsm, double)                                                   \
    CLBLAST_TRSM(OPTIONAL, CLBlastCtrsm, clblast_narrow_pair)                                      \
    CLBLAST_TRSM(OPTIONAL, CLBlastZtrsm, clblast_pair)

/* clang-format on */

#endif
