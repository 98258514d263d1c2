/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - the functions of NVIDIA's libraries that this backend calls, under the names that the
 * libraries export. There is one list for each library. Every version since CUDA 11 has the
 * functions in REQUIRED(result, name, parameters); only some versions have those in OPTIONAL. A
 * test compares each entry with the vendor's headers.
 *
 * Each entry is compatible with the vendor's declaration: enumerations are unsigned (int if a value
 * is negative), and objects are pointers to structs with the vendor's own tags.
 */
#ifndef ISOMER_CUDA_SYMBOLS_H
#define ISOMER_CUDA_SYMBOLS_H

#include "backends/simt/blas_symbols.h"
#include "backends/simt/comm_symbols.h"

#include <stddef.h>
#include <stdint.h>

/* ---- types ----------------------------------------------------------------------------------- */

typedef unsigned cuda_code;              /* CUresult */
typedef unsigned cuda_attribute;         /* of a device, a function or a pointer */
typedef int cuda_ordinal;                /* CUdevice */
typedef unsigned long long cuda_address; /* CUdeviceptr */
typedef struct CUctx_st *cuda_context;
typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphExec_st *cuda_graph_exec;
struct CUlaunchConfig_st;

typedef unsigned nvrtc_code;
typedef struct _nvrtcProgram *nvrtc_program;

typedef unsigned cublas_code;
typedef unsigned cublas_enum; /* operations, types, computations, modes, properties */
typedef int cublas_algorithm; /* one value is -1 */
typedef struct cublasContext *cublas_handle;

typedef unsigned cusparse_code;
typedef unsigned cusparse_enum; /* types, operations, algorithms, modes, properties */
typedef struct cusparseContext *cusparse_handle;
typedef struct cusparseSpMatDescr *cusparse_matrix;
typedef struct cusparseDnVecDescr *cusparse_vector;
/* The same objects as operands; without `const` before version 12. */
typedef const struct cusparseSpMatDescr *cusparse_matrix_in;
typedef const struct cusparseDnVecDescr *cusparse_vector_in;

typedef struct ncclComm *nccl_handle;
typedef cuda_stream nccl_stream;
typedef struct nccl_id {
    char bytes[SIMT_COMM_ID_BYTES];
} nccl_id;

typedef unsigned nvml_code;
typedef struct nvmlDevice_st *nvml_device;

typedef struct cublasLtContext *cublaslt_handle;
/* The vendor's structs have no tags, so these tags are ours. */
typedef struct cublaslt_matmul_object *cublaslt_matmul;
typedef struct cublaslt_layout_object *cublaslt_layout;
typedef struct cublaslt_preference_object *cublaslt_preference;
typedef cuda_stream cublaslt_stream;

typedef struct cublaslt_algorithm {
    uint64_t data[8];
} cublaslt_algorithm;

typedef struct cublaslt_choice {
    cublaslt_algorithm algorithm;
    size_t workspace;
    cublas_code state;
    float waves;
    int reserved[4];
} cublaslt_choice;

/* CUDA_MEMCPY2D. */
typedef struct cuda_copy_2d {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    cuda_address from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    cuda_address to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} cuda_copy_2d;

/* nvmlUtilization_t. */
typedef struct nvml_utilization {
    unsigned busy;   /* percent of time in which a kernel ran */
    unsigned memory; /* percent of time in which memory was read or written */
} nvml_utilization;

/* CUuuid. */
typedef struct cuda_uuid {
    char bytes[16];
} cuda_uuid;

struct CUDA_MEMCPY2D_st;
struct nvmlUtilization_st;
struct CUuuid_st;
struct float2;
struct double2;

/* clang-format off */

/* Constants of the vendor's interfaces: VALUE(our name, number, the vendor's name). */
#define CUDA_VALUES(VALUE)                                                                         \
    VALUE(CUDA_DONE, 0, CUDA_SUCCESS)                                                              \
    VALUE(CUDA_INVALID_VALUE, 1, CUDA_ERROR_INVALID_VALUE)                                         \
    VALUE(CUDA_OUT_OF_MEMORY, 2, CUDA_ERROR_OUT_OF_MEMORY)                                         \
    VALUE(CUDA_DEINITIALIZED, 4, CUDA_ERROR_DEINITIALIZED)                                         \
    VALUE(CUDA_DEVICE_UNAVAILABLE, 46, CUDA_ERROR_DEVICE_UNAVAILABLE)                              \
    VALUE(CUDA_NO_DEVICE, 100, CUDA_ERROR_NO_DEVICE)                                               \
    VALUE(CUDA_NO_BINARY_FOR_GPU, 209, CUDA_ERROR_NO_BINARY_FOR_GPU)                               \
    VALUE(CUDA_ECC_UNCORRECTABLE, 214, CUDA_ERROR_ECC_UNCORRECTABLE)                               \
    VALUE(CUDA_INVALID_PTX, 218, CUDA_ERROR_INVALID_PTX)                                           \
    VALUE(CUDA_NVLINK_UNCORRECTABLE, 220, CUDA_ERROR_NVLINK_UNCORRECTABLE)                         \
    VALUE(CUDA_UNSUPPORTED_PTX_VERSION, 222, CUDA_ERROR_UNSUPPORTED_PTX_VERSION)                   \
    VALUE(CUDA_NOT_READY, 600, CUDA_ERROR_NOT_READY)                                               \
    VALUE(CUDA_ILLEGAL_ADDRESS, 700, CUDA_ERROR_ILLEGAL_ADDRESS)                                   \
    VALUE(CUDA_LAUNCH_TIMEOUT, 702, CUDA_ERROR_LAUNCH_TIMEOUT)                                     \
    VALUE(CUDA_PEER_ALREADY_ENABLED, 704, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)                  \
    VALUE(CUDA_CONTEXT_DESTROYED, 709, CUDA_ERROR_CONTEXT_IS_DESTROYED)                            \
    VALUE(CUDA_ASSERT, 710, CUDA_ERROR_ASSERT)                                                     \
    VALUE(CUDA_HARDWARE_STACK, 714, CUDA_ERROR_HARDWARE_STACK_ERROR)                               \
    VALUE(CUDA_ILLEGAL_INSTRUCTION, 715, CUDA_ERROR_ILLEGAL_INSTRUCTION)                           \
    VALUE(CUDA_MISALIGNED_ADDRESS, 716, CUDA_ERROR_MISALIGNED_ADDRESS)                             \
    VALUE(CUDA_INVALID_ADDRESS_SPACE, 717, CUDA_ERROR_INVALID_ADDRESS_SPACE)                       \
    VALUE(CUDA_INVALID_PC, 718, CUDA_ERROR_INVALID_PC)                                             \
    VALUE(CUDA_LAUNCH_FAILED, 719, CUDA_ERROR_LAUNCH_FAILED)                                       \
    VALUE(CUDA_MPS_RPC_FAILURE, 806, CUDA_ERROR_MPS_RPC_FAILURE)                                   \
    VALUE(CUDA_NOT_SUPPORTED, 801, CUDA_ERROR_NOT_SUPPORTED)                                       \
    VALUE(CUDA_CAPTURE_RELAXED, 2, CU_STREAM_CAPTURE_MODE_RELAXED)                                 \
    VALUE(CUDA_CAPTURE_NONE, 0, CU_STREAM_CAPTURE_STATUS_NONE)                                     \
    VALUE(CUDA_EXTERNAL_DEVICE, 911, CUDA_ERROR_EXTERNAL_DEVICE)                                   \
    VALUE(CUDA_UNKNOWN, 999, CUDA_ERROR_UNKNOWN)                                                   \
    VALUE(CUDA_THREADS_OF_BLOCK, 1, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                     \
    VALUE(CUDA_SHARED_OF_BLOCK, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)                \
    VALUE(CUDA_WARP_SIZE, 10, CU_DEVICE_ATTRIBUTE_WARP_SIZE)                                       \
    VALUE(CUDA_SHARED_OF_UNIT, 81, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)       \
    VALUE(CUDA_SHARED_MOST, 97, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)             \
    VALUE(CUDA_PITCH_MAX, 11, CU_DEVICE_ATTRIBUTE_MAX_PITCH)                                       \
    VALUE(CUDA_HOST_PAGES, 100, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)  \
    VALUE(CUDA_CLOCK_KHZ, 13, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)                                      \
    VALUE(CUDA_MULTIPROCESSORS, 16, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)                      \
    VALUE(CUDA_CACHE_BYTES, 38, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)                                 \
    VALUE(CUDA_COMPUTE_MAJOR, 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)                    \
    VALUE(CUDA_COMPUTE_MINOR, 76, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)                    \
    VALUE(CUDA_KERNEL_THREADS, 0, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                         \
    VALUE(CUDA_KERNEL_SHARED, 1, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)                              \
    VALUE(CUDA_KERNEL_LOCAL, 3, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)                                \
    VALUE(CUDA_KERNEL_REGISTERS, 4, CU_FUNC_ATTRIBUTE_NUM_REGS)                                    \
    VALUE(CUDA_KERNEL_MORE_SHARED, 8, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)             \
    VALUE(CUDA_POINTER_TYPE, 2, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)                                  \
    VALUE(CUDA_POINTER_ORDINAL, 9, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)                            \
    VALUE(CUDA_MEMORY_HOST, 1, CU_MEMORYTYPE_HOST)                                                 \
    VALUE(CUDA_MEMORY_DEVICE, 2, CU_MEMORYTYPE_DEVICE)                                             \
    VALUE(CUDA_STREAM_NON_BLOCKING, 1, CU_STREAM_NON_BLOCKING)                                     \
    VALUE(CUDA_EVENT_BLOCKING, 1, CU_EVENT_BLOCKING_SYNC)                                          \
    VALUE(CUDA_EVENT_NO_TIMING, 2, CU_EVENT_DISABLE_TIMING)                                        \
    VALUE(CUDA_WAIT_EQUAL, 1, CU_STREAM_WAIT_VALUE_EQ)                                             \
    VALUE(CUDA_HOST_PORTABLE, 1, CU_MEMHOSTALLOC_PORTABLE)                                         \
    VALUE(CUDA_HOST_MAPPED, 2, CU_MEMHOSTALLOC_DEVICEMAP)                                          \
    VALUE(CUDA_REGISTER_PORTABLE, 1, CU_MEMHOSTREGISTER_PORTABLE)                                  \
    VALUE(CUBLAS_DONE, 0, CUBLAS_STATUS_SUCCESS)                                                   \
    VALUE(CUBLAS_ALLOC_FAILED, 3, CUBLAS_STATUS_ALLOC_FAILED)                                      \
    VALUE(CUBLAS_OTHER_CHIP, 8, CUBLAS_STATUS_ARCH_MISMATCH)                                       \
    VALUE(CUBLAS_NOT_SUPPORTED, 15, CUBLAS_STATUS_NOT_SUPPORTED)                                   \
    VALUE(CUBLAS_NO_TRANS, 0, CUBLAS_OP_N)                                                         \
    VALUE(CUBLAS_TRANS, 1, CUBLAS_OP_T)                                                            \
    VALUE(CUBLAS_CONJ_TRANS, 2, CUBLAS_OP_C)                                                       \
    VALUE(CUBLAS_LOWER, 0, CUBLAS_FILL_MODE_LOWER)                                                 \
    VALUE(CUBLAS_UPPER, 1, CUBLAS_FILL_MODE_UPPER)                                                 \
    VALUE(CUBLAS_LEFT, 0, CUBLAS_SIDE_LEFT)                                                        \
    VALUE(CUBLAS_RIGHT, 1, CUBLAS_SIDE_RIGHT)                                                      \
    VALUE(CUBLAS_NON_UNIT, 0, CUBLAS_DIAG_NON_UNIT)                                                \
    VALUE(CUBLAS_UNIT, 1, CUBLAS_DIAG_UNIT)                                                        \
    VALUE(CUBLAS_TYPE_F32, 0, CUDA_R_32F)                                                          \
    VALUE(CUBLAS_TYPE_F64, 1, CUDA_R_64F)                                                          \
    VALUE(CUBLAS_TYPE_F16, 2, CUDA_R_16F)                                                          \
    VALUE(CUBLAS_TYPE_BF16, 14, CUDA_R_16BF)                                                       \
    VALUE(CUBLAS_TYPE_I8, 3, CUDA_R_8I)                                                            \
    VALUE(CUBLAS_TYPE_I32, 10, CUDA_R_32I)                                                         \
    VALUE(CUBLAS_TYPE_C64, 4, CUDA_C_32F)                                                          \
    VALUE(CUBLAS_TYPE_C128, 5, CUDA_C_64F)                                                         \
    VALUE(CUBLAS_IN_F32, 68, CUBLAS_COMPUTE_32F)                                                   \
    VALUE(CUBLAS_IN_TF32, 77, CUBLAS_COMPUTE_32F_FAST_TF32)                                        \
    VALUE(CUBLAS_IN_F64, 70, CUBLAS_COMPUTE_64F)                                                   \
    VALUE(CUBLAS_IN_I32, 72, CUBLAS_COMPUTE_32I)                                                   \
    VALUE(CUBLAS_POINTERS_HOST, 0, CUBLAS_POINTER_MODE_HOST)                                       \
    VALUE(CUBLAS_POINTERS_DEVICE, 1, CUBLAS_POINTER_MODE_DEVICE)                                   \
    VALUE(CUBLAS_NO_ATOMICS, 0, CUBLAS_ATOMICS_NOT_ALLOWED)                                        \
    VALUE(CUBLAS_MATH_DEFAULT, 0, CUBLAS_DEFAULT_MATH)                                             \
    VALUE(CUBLAS_MATH_FULL_SUMS, 16, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)             \
    VALUE(CUBLAS_ALGORITHM_DEFAULT, -1, CUBLAS_GEMM_DEFAULT)                                       \
    VALUE(CUBLAS_VERSION_MAJOR, 0, MAJOR_VERSION)                                                  \
    VALUE(CUBLAS_VERSION_MINOR, 1, MINOR_VERSION)                                                  \
    VALUE(CUBLAS_VERSION_PATCH, 2, PATCH_LEVEL)                                                    \
    VALUE(CUBLASLT_TRANS_A, 3, CUBLASLT_MATMUL_DESC_TRANSA)                                        \
    VALUE(CUBLASLT_TRANS_B, 4, CUBLASLT_MATMUL_DESC_TRANSB)                                        \
    VALUE(CUBLASLT_BATCH, 5, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)                                   \
    VALUE(CUBLASLT_STRIDE, 6, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)                         \
    VALUE(CUBLASLT_WORKSPACE_MAX, 1, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)                     \
    VALUE(CUBLASLT_REDUCTIONS, 3, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)                      \
    VALUE(CUBLASLT_ALIGNMENT_A, 5, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)                     \
    VALUE(CUBLASLT_ALIGNMENT_B, 6, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES)                     \
    VALUE(CUBLASLT_ALIGNMENT_C, 7, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES)                     \
    VALUE(CUBLASLT_ALIGNMENT_D, 8, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)                     \
    VALUE(CUBLASLT_REDUCE_IN_PLACE, 1, CUBLASLT_REDUCTION_SCHEME_INPLACE)                          \
    VALUE(CUBLASLT_REDUCE_COMPUTED, 2, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)

/* Constants that only some versions of the headers have. */
#define CUDA_VALUES_NEWER(VALUE)                                                                   \
    VALUE(CUDA_CONTAINED, 226, CUDA_ERROR_CONTAINED)                                               \
    VALUE(CUDA_TENSOR_MEMORY_LEAK, 721, CUDA_ERROR_TENSOR_MEMORY_LEAK)                             \
    VALUE(CUDA_MPS_CLIENT_TERMINATED, 810, CUDA_ERROR_MPS_CLIENT_TERMINATED)                       \
    VALUE(CUBLAS_EMULATION_DEFAULT, 0, CUBLAS_EMULATION_STRATEGY_DEFAULT)

/* Constants of libcusparse. The algorithm gives the same bits in every run. */
#define CUDA_CUSPARSE_VALUES(VALUE)                                                                \
    VALUE(CUSPARSE_DONE, 0, CUSPARSE_STATUS_SUCCESS)                                               \
    VALUE(CUSPARSE_ALLOC_FAILED, 2, CUSPARSE_STATUS_ALLOC_FAILED)                                  \
    VALUE(CUSPARSE_POINTERS_HOST, 0, CUSPARSE_POINTER_MODE_HOST)                                   \
    VALUE(CUSPARSE_NO_TRANS, 0, CUSPARSE_OPERATION_NON_TRANSPOSE)                                  \
    VALUE(CUSPARSE_FROM_ZERO, 0, CUSPARSE_INDEX_BASE_ZERO)                                         \
    VALUE(CUSPARSE_I32, 2, CUSPARSE_INDEX_32I)                                                     \
    VALUE(CUSPARSE_I64, 3, CUSPARSE_INDEX_64I)                                                     \
    VALUE(CUSPARSE_ALGORITHM, 3, CUSPARSE_SPMV_CSR_ALG2)

#define CUDA_ENUMERATOR(ours, number, theirs) ours = (number),
enum {
    CUDA_VALUES(CUDA_ENUMERATOR)
    CUDA_VALUES_NEWER(CUDA_ENUMERATOR)
    CUDA_CUSPARSE_VALUES(CUDA_ENUMERATOR)
};

/* ---- the driver: libcuda.so.1 ---------------------------------------------------------------- */

#define CUDA_DRIVER_SYMBOLS(REQUIRED, OPTIONAL)                                                    \
    REQUIRED(cuda_code, cuInit, (unsigned flags))                                                  \
    REQUIRED(cuda_code, cuDriverGetVersion, (int *version))                                        \
    REQUIRED(cuda_code, cuGetErrorName, (cuda_code code, const char **name))                       \
    REQUIRED(cuda_code, cuGetErrorString, (cuda_code code, const char **text))                     \
    REQUIRED(cuda_code, cuDeviceGetCount, (int *count))                                            \
    REQUIRED(cuda_code, cuDeviceGet, (cuda_ordinal *device, int ordinal))                          \
    REQUIRED(cuda_code, cuDeviceGetPCIBusId, (char *id, int length, cuda_ordinal device))          \
    REQUIRED(cuda_code, cuDeviceGetName, (char *name, int length, cuda_ordinal device))            \
    REQUIRED(cuda_code, cuDeviceGetUuid, (struct CUuuid_st *uuid, cuda_ordinal device))            \
    OPTIONAL(cuda_code, cuDeviceGetUuid_v2, (struct CUuuid_st *uuid, cuda_ordinal device))         \
    REQUIRED(cuda_code, cuDeviceGetAttribute,                                                      \
             (int *value, cuda_attribute attribute, cuda_ordinal device))                          \
    REQUIRED(cuda_code, cuDeviceTotalMem_v2, (size_t *bytes, cuda_ordinal device))                 \
    REQUIRED(cuda_code, cuDevicePrimaryCtxRetain, (cuda_context *context, cuda_ordinal device))    \
    REQUIRED(cuda_code, cuDevicePrimaryCtxRelease_v2, (cuda_ordinal device))                       \
    REQUIRED(cuda_code, cuDevicePrimaryCtxReset_v2, (cuda_ordinal device))                         \
    REQUIRED(cuda_code, cuDevicePrimaryCtxGetState,                                                \
             (cuda_ordinal device, unsigned *flags, int *active))                                  \
    REQUIRED(cuda_code, cuCtxGetCurrent, (cuda_context *context))                                  \
    REQUIRED(cuda_code, cuCtxPushCurrent_v2, (cuda_context context))                               \
    REQUIRED(cuda_code, cuCtxPopCurrent_v2, (cuda_context *context))                               \
    REQUIRED(cuda_code, cuCtxGetDevice, (cuda_ordinal *device))                                    \
    REQUIRED(cuda_code, cuDeviceCanAccessPeer,                                                     \
             (int *can, cuda_ordinal device, cuda_ordinal peer))                                   \
    REQUIRED(cuda_code, cuCtxEnablePeerAccess, (cuda_context peer, unsigned flags))                \
    REQUIRED(cuda_code, cuMemGetInfo_v2, (size_t *free, size_t *total))                            \
    REQUIRED(cuda_code, cuMemAlloc_v2, (cuda_address *address, size_t bytes))                      \
    REQUIRED(cuda_code, cuMemFree_v2, (cuda_address address))                                      \
    REQUIRED(cuda_code, cuMemGetAddressRange_v2,                                                   \
             (cuda_address *base, size_t *bytes, cuda_address address))                            \
    REQUIRED(cuda_code, cuPointerGetAttribute,                                                     \
             (void *value, cuda_attribute attribute, cuda_address address))                        \
    REQUIRED(cuda_code, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))            \
    REQUIRED(cuda_code, cuMemFreeHost, (void *pointer))                                            \
    REQUIRED(cuda_code, cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags))       \
    REQUIRED(cuda_code, cuMemHostUnregister, (void *pointer))                                      \
    REQUIRED(cuda_code, cuMemcpyHtoDAsync_v2,                                                      \
             (cuda_address to, const void *from, size_t bytes, cuda_stream stream))                \
    REQUIRED(cuda_code, cuMemcpyDtoHAsync_v2,                                                      \
             (void *to, cuda_address from, size_t bytes, cuda_stream stream))                      \
    REQUIRED(cuda_code, cuMemcpyDtoDAsync_v2,                                                      \
             (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))               \
    REQUIRED(cuda_code, cuMemcpy2DAsync_v2,                                                        \
             (const struct CUDA_MEMCPY2D_st *copy, cuda_stream stream))                            \
    REQUIRED(cuda_code, cuMemcpyPeerAsync,                                                         \
             (cuda_address to, cuda_context to_context, cuda_address from,                         \
              cuda_context from_context, size_t bytes, cuda_stream stream))                        \
    REQUIRED(cuda_code, cuMemsetD32Async,                                                          \
             (cuda_address to, unsigned value, size_t count, cuda_stream stream))                  \
    REQUIRED(cuda_code, cuStreamCreate, (cuda_stream *stream, unsigned flags))                     \
    REQUIRED(cuda_code, cuStreamDestroy_v2, (cuda_stream stream))                                  \
    REQUIRED(cuda_code, cuStreamSynchronize, (cuda_stream stream))                                 \
    REQUIRED(cuda_code, cuStreamQuery, (cuda_stream stream))                                       \
    REQUIRED(cuda_code, cuStreamWaitEvent,                                                         \
             (cuda_stream stream, cuda_event event, unsigned flags))                               \
    OPTIONAL(cuda_code, cuStreamWaitValue32_v2,                                                    \
             (cuda_stream stream, cuda_address address, uint32_t value, unsigned flags))           \
    REQUIRED(cuda_code, cuStreamBeginCapture_v2, (cuda_stream stream, unsigned mode))              \
    REQUIRED(cuda_code, cuStreamIsCapturing, (cuda_stream stream, unsigned *state))                \
    REQUIRED(cuda_code, cuStreamEndCapture, (cuda_stream stream, cuda_graph *graph))               \
    OPTIONAL(cuda_code, cuGraphInstantiateWithFlags,                                               \
             (cuda_graph_exec *exec, cuda_graph graph, unsigned long long flags))                  \
    REQUIRED(cuda_code, cuGraphLaunch, (cuda_graph_exec exec, cuda_stream stream))                 \
    REQUIRED(cuda_code, cuGraphExecDestroy, (cuda_graph_exec exec))                                \
    REQUIRED(cuda_code, cuGraphDestroy, (cuda_graph graph))                                        \
    REQUIRED(cuda_code, cuStreamGetCtx, (cuda_stream stream, cuda_context *context))               \
    REQUIRED(cuda_code, cuEventCreate, (cuda_event *event, unsigned flags))                        \
    REQUIRED(cuda_code, cuEventDestroy_v2, (cuda_event event))                                     \
    REQUIRED(cuda_code, cuEventRecord, (cuda_event event, cuda_stream stream))                     \
    REQUIRED(cuda_code, cuEventSynchronize, (cuda_event event))                                    \
    REQUIRED(cuda_code, cuEventQuery, (cuda_event event))                                          \
    REQUIRED(cuda_code, cuEventElapsedTime,                                                        \
             (float *milliseconds, cuda_event start, cuda_event stop))                             \
    REQUIRED(cuda_code, cuModuleLoadData, (cuda_module *module, const void *image))                \
    REQUIRED(cuda_code, cuModuleUnload, (cuda_module module))                                      \
    REQUIRED(cuda_code, cuModuleGetFunction,                                                       \
             (cuda_function *function, cuda_module module, const char *name))                      \
    REQUIRED(cuda_code, cuFuncGetAttribute,                                                        \
             (int *value, cuda_attribute attribute, cuda_function function))                       \
    REQUIRED(cuda_code, cuFuncSetAttribute,                                                        \
             (cuda_function function, cuda_attribute attribute, int value))                        \
    REQUIRED(cuda_code, cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
             (int *groups, cuda_function function, int threads, size_t shared_bytes))              \
    REQUIRED(cuda_code, cuLaunchKernel,                                                            \
             (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,           \
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,         \
              cuda_stream stream, void **arguments, void **extra))                                 \
    OPTIONAL(cuda_code, cuLaunchKernelEx,                                                          \
             (const struct CUlaunchConfig_st *config, cuda_function function, void **arguments,    \
              void **extra))

/* ---- the compiler of kernels: libnvrtc ------------------------------------------------------- */

#define CUDA_NVRTC_SYMBOLS(REQUIRED, OPTIONAL)                                                     \
    REQUIRED(nvrtc_code, nvrtcVersion, (int *major, int *minor))                                   \
    REQUIRED(const char *, nvrtcGetErrorString, (nvrtc_code code))                                 \
    REQUIRED(nvrtc_code, nvrtcCreateProgram,                                                       \
             (nvrtc_program *program, const char *text, const char *name, int header_count,        \
              const char *const *headers, const char *const *header_names))                        \
    REQUIRED(nvrtc_code, nvrtcDestroyProgram, (nvrtc_program *program))                            \
    REQUIRED(nvrtc_code, nvrtcCompileProgram,                                                      \
             (nvrtc_program program, int option_count, const char *const *options))                \
    REQUIRED(nvrtc_code, nvrtcGetProgramLogSize, (nvrtc_program program, size_t *bytes))           \
    REQUIRED(nvrtc_code, nvrtcGetProgramLog, (nvrtc_program program, char *log))                   \
    REQUIRED(nvrtc_code, nvrtcGetPTXSize, (nvrtc_program program, size_t *bytes))                  \
    REQUIRED(nvrtc_code, nvrtcGetPTX, (nvrtc_program program, char *ptx))                          \
    OPTIONAL(nvrtc_code, nvrtcGetCUBINSize, (nvrtc_program program, size_t *bytes))                \
    OPTIONAL(nvrtc_code, nvrtcGetCUBIN, (nvrtc_program program, char *cubin))                      \
    OPTIONAL(nvrtc_code, nvrtcGetNumSupportedArchs, (int *count))                                  \
    OPTIONAL(nvrtc_code, nvrtcGetSupportedArchs, (int *architectures))

/* ---- libcublas ------------------------------------------------------------------------------- */

/* Groups of functions that differ only in a type. `size` is int64_t if the name ends in _64, and
 * otherwise int. */
#define CUDA_CUBLAS_GEMM(KIND, name, size)                                                         \
    KIND(cublas_code, name,                                                                        \
         (cublas_handle handle, cublas_enum trans_a, cublas_enum trans_b, size m, size n, size k,  \
          const void *alpha, const void *a, cublas_enum a_type, size lda, const void *b,           \
          cublas_enum b_type, size ldb, const void *beta, void *c, cublas_enum c_type, size ldc,   \
          cublas_enum compute, cublas_algorithm algorithm))
#define CUDA_CUBLAS_GEMM_BATCHED(KIND, name, size)                                                 \
    KIND(cublas_code, name,                                                                        \
         (cublas_handle handle, cublas_enum trans_a, cublas_enum trans_b, size m, size n, size k,  \
          const void *alpha, const void *a, cublas_enum a_type, size lda, long long stride_a,      \
          const void *b, cublas_enum b_type, size ldb, long long stride_b, const void *beta,       \
          void *c, cublas_enum c_type, size ldc, long long stride_c, size batch,                   \
          cublas_enum compute, cublas_algorithm algorithm))
#define CUDA_CUBLAS_GEAM(KIND, name, type)                                                         \
    KIND(cublas_code, name,                                                                        \
         (cublas_handle handle, cublas_enum trans_a, cublas_enum trans_b, int m, int n,            \
          const type *alpha, const type *a, int lda, const type *beta, const type *b, int ldb,     \
          type *c, int ldc))
#define CUDA_CUBLAS_DOT(KIND, name, type, size)                                                    \
    KIND(cublas_code, name,                                                                        \
         (cublas_handle handle, size n, const type *x, size incx, const type *y, size incy,        \
          type *result))
#define CUDA_CUBLAS_DOT_EX(KIND, name, size)                                                       \
    KIND(cublas_code, name,                                                                        \
         (cublas_handle handle, size n, const void *x, cublas_enum x_type, size incx,              \
          const void *y, cublas_enum y_type, size incy, void *result, cublas_enum result_type,     \
          cublas_enum execution_type))
#define CUDA_CUBLAS_ASUM(KIND, name, type, size)                                                   \
    KIND(cublas_code, name, (cublas_handle handle, size n, const type *x, size incx, type *result))

#define CUDA_CUBLAS_SYRK(KIND, name, type, size)                                                   \
    KIND(cublas_code, name,                                                                        \
         (cublas_handle handle, cublas_enum triangle, cublas_enum trans, size n, size k,           \
          const type *alpha, const type *a, size lda, const type *beta, type *c, size ldc))
#define CUDA_CUBLAS_TRSM(KIND, name, type, size)                                                   \
    KIND(cublas_code, name,                                                                        \
         (cublas_handle handle, cublas_enum side, cublas_enum triangle, cublas_enum trans,         \
          cublas_enum diagonal, size m, size n, const type *alpha, const type *a, size lda,        \
          type *b, size ldb))
/* Symmetric products and triangular solves of a type. */
#define CUDA_CUBLAS_LEVEL3(KIND, letter, type)                                                     \
    CUDA_CUBLAS_SYRK(KIND, cublas##letter##syrk_v2, type, int)                                     \
    CUDA_CUBLAS_SYRK(KIND, cublas##letter##syrk_v2_64, type, int64_t)                              \
    CUDA_CUBLAS_TRSM(KIND, cublas##letter##trsm_v2, type, int)                                     \
    CUDA_CUBLAS_TRSM(KIND, cublas##letter##trsm_v2_64, type, int64_t)

#define CUDA_CUBLAS_SYMBOLS(REQUIRED, OPTIONAL)                                                    \
    REQUIRED(cublas_code, cublasCreate_v2, (cublas_handle *handle))                                \
    REQUIRED(cublas_code, cublasDestroy_v2, (cublas_handle handle))                                \
    REQUIRED(cublas_code, cublasGetProperty, (cublas_enum property, int *value))                   \
    REQUIRED(cublas_code, cublasSetStream_v2, (cublas_handle handle, cuda_stream stream))          \
    REQUIRED(cublas_code, cublasSetWorkspace_v2,                                                   \
             (cublas_handle handle, void *workspace, size_t bytes))                                \
    REQUIRED(cublas_code, cublasSetPointerMode_v2, (cublas_handle handle, cublas_enum mode))       \
    REQUIRED(cublas_code, cublasSetAtomicsMode, (cublas_handle handle, cublas_enum mode))          \
    REQUIRED(cublas_code, cublasSetMathMode, (cublas_handle handle, cublas_enum mode))             \
    OPTIONAL(const char *, cublasGetStatusName, (cublas_code code))                                \
    OPTIONAL(cublas_code, cublasSetEmulationStrategy,                                              \
             (cublas_handle handle, cublas_enum strategy))                                         \
    CUDA_CUBLAS_GEMM(REQUIRED, cublasGemmEx, int)                                                  \
    CUDA_CUBLAS_GEMM(OPTIONAL, cublasGemmEx_64, int64_t)                                           \
    CUDA_CUBLAS_GEMM_BATCHED(REQUIRED, cublasGemmStridedBatchedEx, int)                            \
    CUDA_CUBLAS_GEMM_BATCHED(OPTIONAL, cublasGemmStridedBatchedEx_64, int64_t)                     \
    CUDA_CUBLAS_GEAM(REQUIRED, cublasSgeam, float)                                                 \
    CUDA_CUBLAS_GEAM(REQUIRED, cublasDgeam, double)                                                \
    CUDA_CUBLAS_GEAM(REQUIRED, cublasZgeam, struct double2)                                        \
    CUDA_CUBLAS_DOT(REQUIRED, cublasSdot_v2, float, int)                                           \
    CUDA_CUBLAS_DOT(REQUIRED, cublasDdot_v2, double, int)                                          \
    CUDA_CUBLAS_DOT_EX(REQUIRED, cublasDotEx, int)                                                 \
    CUDA_CUBLAS_ASUM(REQUIRED, cublasSasum_v2, float, int)                                         \
    CUDA_CUBLAS_ASUM(REQUIRED, cublasDasum_v2, double, int)                                        \
    CUDA_CUBLAS_DOT(OPTIONAL, cublasSdot_v2_64, float, int64_t)                                    \
    CUDA_CUBLAS_DOT(OPTIONAL, cublasDdot_v2_64, double, int64_t)                                   \
    CUDA_CUBLAS_DOT_EX(OPTIONAL, cublasDotEx_64, int64_t)                                          \
    CUDA_CUBLAS_ASUM(OPTIONAL, cublasSasum_v2_64, float, int64_t)                                  \
    CUDA_CUBLAS_ASUM(OPTIONAL, cublasDasum_v2_64, double, int64_t)                                 \
    CUDA_CUBLAS_LEVEL3(OPTIONAL, S, float)                                                         \
    CUDA_CUBLAS_LEVEL3(OPTIONAL, D, double)                                                        \
    CUDA_CUBLAS_LEVEL3(OPTIONAL, C, struct float2)                                                 \
    CUDA_CUBLAS_LEVEL3(OPTIONAL, Z, struct double2)

/* ---- libcublasLt ----------------------------------------------------------------------------- */

#define CUDA_CUBLASLT_OWN_SYMBOLS(REQUIRED, OPTIONAL)                                              \
    REQUIRED(size_t, cublasLtGetVersion, (void))                                                   \
    OPTIONAL(const char *, cublasLtGetStatusName, (cublas_code code))
#define CUDA_CUBLASLT_SYMBOLS(REQUIRED, OPTIONAL)                                                  \
    SIMT_LT_SYMBOLS(REQUIRED, cublasLt, cublaslt)                                                  \
    CUDA_CUBLASLT_OWN_SYMBOLS(REQUIRED, OPTIONAL)

/* ---- libcusparse ----------------------------------------------------------------------------- */

#define CUDA_CUSPARSE_SYMBOLS(REQUIRED, OPTIONAL)                                                  \
    REQUIRED(cusparse_code, cusparseCreate, (cusparse_handle *handle))                             \
    REQUIRED(cusparse_code, cusparseDestroy, (cusparse_handle handle))                             \
    REQUIRED(cusparse_code, cusparseGetProperty, (cusparse_enum property, int *value))             \
    OPTIONAL(const char *, cusparseGetErrorName, (cusparse_code code))                             \
    REQUIRED(cusparse_code, cusparseSetStream, (cusparse_handle handle, cuda_stream stream))       \
    REQUIRED(cusparse_code, cusparseSetPointerMode, (cusparse_handle handle, cusparse_enum mode))  \
    REQUIRED(cusparse_code, cusparseCreateCsr,                                                     \
             (cusparse_matrix *matrix, int64_t rows, int64_t cols, int64_t entries, void *offsets, \
              void *columns, void *values, cusparse_enum offsets_type, cusparse_enum columns_type, \
              cusparse_enum base, cublas_enum type))                                               \
    REQUIRED(cusparse_code, cusparseDestroySpMat, (cusparse_matrix_in matrix))                     \
    REQUIRED(cusparse_code, cusparseCreateDnVec,                                                   \
             (cusparse_vector *vector, int64_t size, void *values, cublas_enum type))              \
    REQUIRED(cusparse_code, cusparseDestroyDnVec, (cusparse_vector_in vector))                     \
    REQUIRED(cusparse_code, cusparseSpMV_bufferSize,                                               \
             (cusparse_handle handle, cusparse_enum trans, const void *alpha,                      \
              cusparse_matrix_in a, cusparse_vector_in x, const void *beta, cusparse_vector y,     \
              cublas_enum compute, cusparse_enum algorithm, size_t *bytes))                        \
    REQUIRED(cusparse_code, cusparseSpMV,                                                          \
             (cusparse_handle handle, cusparse_enum trans, const void *alpha,                      \
              cusparse_matrix_in a, cusparse_vector_in x, const void *beta, cusparse_vector y,     \
              cublas_enum compute, cusparse_enum algorithm, void *buffer))

/* ---- NCCL: libnccl.so -------------------------------------------------------------------- */

#define CUDA_NCCL_SYMBOLS(REQUIRED, OPTIONAL) SIMT_COMM_SYMBOLS(REQUIRED, OPTIONAL, nccl, nccl)

/* ---- the sensors: libnvidia-ml.so.1 ---------------------------------------------------------- */

#define NVML_VALUES(VALUE)                                                                         \
    VALUE(NVML_DONE, 0, NVML_SUCCESS)                                                              \
    VALUE(NVML_SM, 1, NVML_CLOCK_SM)                                                               \
    VALUE(NVML_MEMORY, 2, NVML_CLOCK_MEM)                                                          \
    VALUE(NVML_CHIP, 0, NVML_TEMPERATURE_GPU)                                                      \
    VALUE(NVML_IDLE, 1, nvmlClocksThrottleReasonGpuIdle)                                           \
    VALUE(NVML_SET_CLOCKS, 2, nvmlClocksThrottleReasonApplicationsClocksSetting)                   \
    VALUE(NVML_POWER_CAP, 4, nvmlClocksThrottleReasonSwPowerCap)                                   \
    VALUE(NVML_SLOWDOWN, 8, nvmlClocksThrottleReasonHwSlowdown)                                    \
    VALUE(NVML_SYNC_BOOST, 16, nvmlClocksThrottleReasonSyncBoost)                                  \
    VALUE(NVML_THERMAL_SOFT, 32, nvmlClocksThrottleReasonSwThermalSlowdown)                        \
    VALUE(NVML_THERMAL_HARD, 64, nvmlClocksThrottleReasonHwThermalSlowdown)                        \
    VALUE(NVML_POWER_BRAKE, 128, nvmlClocksThrottleReasonHwPowerBrakeSlowdown)                     \
    VALUE(NVML_DISPLAY_CLOCKS, 256, nvmlClocksThrottleReasonDisplayClockSetting)

/* Errors, under the vendor's own names. A file that needs them makes enumerators from this list. */
#define NVML_ERRORS(ERROR)                                                                         \
    ERROR(NVML_ERROR_UNINITIALIZED, 1)                                                             \
    ERROR(NVML_ERROR_INVALID_ARGUMENT, 2)                                                          \
    ERROR(NVML_ERROR_NOT_SUPPORTED, 3)                                                             \
    ERROR(NVML_ERROR_NO_PERMISSION, 4)                                                             \
    ERROR(NVML_ERROR_ALREADY_INITIALIZED, 5)                                                       \
    ERROR(NVML_ERROR_NOT_FOUND, 6)                                                                 \
    ERROR(NVML_ERROR_INSUFFICIENT_SIZE, 7)                                                         \
    ERROR(NVML_ERROR_INSUFFICIENT_POWER, 8)                                                        \
    ERROR(NVML_ERROR_DRIVER_NOT_LOADED, 9)                                                         \
    ERROR(NVML_ERROR_TIMEOUT, 10)                                                                  \
    ERROR(NVML_ERROR_IRQ_ISSUE, 11)                                                                \
    ERROR(NVML_ERROR_LIBRARY_NOT_FOUND, 12)                                                        \
    ERROR(NVML_ERROR_FUNCTION_NOT_FOUND, 13)                                                       \
    ERROR(NVML_ERROR_CORRUPTED_INFOROM, 14)                                                        \
    ERROR(NVML_ERROR_GPU_IS_LOST, 15)                                                              \
    ERROR(NVML_ERROR_RESET_REQUIRED, 16)                                                           \
    ERROR(NVML_ERROR_OPERATING_SYSTEM, 17)                                                         \
    ERROR(NVML_ERROR_LIB_RM_VERSION_MISMATCH, 18)                                                  \
    ERROR(NVML_ERROR_IN_USE, 19)                                                                   \
    ERROR(NVML_ERROR_MEMORY, 20)                                                                   \
    ERROR(NVML_ERROR_NO_DATA, 21)                                                                  \
    ERROR(NVML_ERROR_UNKNOWN, 999)

#define CUDA_NVML_SYMBOLS(REQUIRED, OPTIONAL)                                                      \
    REQUIRED(nvml_code, nvmlInit_v2, (void))                                                       \
    REQUIRED(const char *, nvmlErrorString, (nvml_code code))                                      \
    REQUIRED(nvml_code, nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvml_device *device))   \
    OPTIONAL(nvml_code, nvmlSystemGetNVMLVersion, (char *text, unsigned length))                   \
    OPTIONAL(nvml_code, nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *device))        \
    OPTIONAL(nvml_code, nvmlDeviceGetName, (nvml_device device, char *name, unsigned length))      \
    OPTIONAL(nvml_code, nvmlDeviceGetMigMode,                                                      \
             (nvml_device device, unsigned *mode, unsigned *pending))                              \
    OPTIONAL(nvml_code, nvmlDeviceGetClockInfo,                                                    \
             (nvml_device device, unsigned type, unsigned *mhz))                                   \
    OPTIONAL(nvml_code, nvmlDeviceGetMaxClockInfo,                                                 \
             (nvml_device device, unsigned type, unsigned *mhz))                                   \
    OPTIONAL(nvml_code, nvmlDeviceGetPowerUsage, (nvml_device device, unsigned *milliwatts))       \
    OPTIONAL(nvml_code, nvmlDeviceGetPowerManagementLimit,                                         \
             (nvml_device device, unsigned *milliwatts))                                           \
    OPTIONAL(nvml_code, nvmlDeviceGetTotalEnergyConsumption,                                       \
             (nvml_device device, unsigned long long *millijoules))                                \
    OPTIONAL(nvml_code, nvmlDeviceGetTemperature,                                                  \
             (nvml_device device, unsigned sensor, unsigned *celsius))                             \
    OPTIONAL(nvml_code, nvmlDeviceGetEccMode,                                                      \
             (nvml_device device, unsigned *mode, unsigned *pending))                              \
    OPTIONAL(nvml_code, nvmlDeviceGetUtilizationRates,                                             \
             (nvml_device device, struct nvmlUtilization_st *rates))                               \
    OPTIONAL(nvml_code, nvmlDeviceGetCurrentClocksEventReasons,                                    \
             (nvml_device device, unsigned long long *reasons))                                    \
    OPTIONAL(nvml_code, nvmlDeviceGetCurrentClocksThrottleReasons,                                 \
             (nvml_device device, unsigned long long *reasons))

enum { NVML_VALUES(CUDA_ENUMERATOR) };

/* clang-format on */

#endif
