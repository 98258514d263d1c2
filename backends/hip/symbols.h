/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - the functions of AMD's libraries that this backend calls, under the names that the
 * libraries export. There is one list for each library. Every version since ROCm 5.2 has the
 * functions in REQUIRED(result, name, parameters); only some versions have those in OPTIONAL. A
 * test compares each entry with the vendor's headers.
 *
 * Each entry is compatible with the vendor's declaration: enumerations are unsigned (int if a value
 * is negative), and objects are pointers to structs with the vendor's own tags.
 */
#ifndef ISOMER_HIP_SYMBOLS_H
#define ISOMER_HIP_SYMBOLS_H

#include "backends/simt/blas_symbols.h"
#include "backends/simt/comm_symbols.h"

#include <stddef.h>
#include <stdint.h>

/* ---- types ----------------------------------------------------------------------------------- */

typedef unsigned hip_code; /* hipError_t */
typedef unsigned hip_enum; /* attributes of devices, functions and pointers; kinds of copies */
typedef struct ihipStream_t *hip_stream;
typedef struct ihipEvent_t *hip_event;
typedef struct ihipModule_t *hip_module;
typedef struct ihipModuleSymbol_t *hip_function;
typedef struct ihipGraph *hip_graph;
typedef struct hipGraphExec *hip_graph_exec;
typedef struct hipGraphNode *hip_graph_node;

typedef unsigned hiprtc_code;
typedef struct _hiprtcProgram *hiprtc_program;
typedef const char **hiprtc_texts; /* `const char *const *` from 7 on */

typedef unsigned rocblas_code;
typedef unsigned rocblas_enum; /* operations, types, modes, algorithms */
typedef struct _rocblas_handle *rocblas_object;

typedef unsigned rocsparse_code;
typedef unsigned rocsparse_enum; /* operations, types, modes, algorithms, stages */
typedef struct _rocsparse_handle *rocsparse_object;
typedef struct _rocsparse_spmat_descr *rocsparse_matrix;
typedef struct _rocsparse_dnvec_descr *rocsparse_vector;
typedef const struct _rocsparse_spmat_descr *rocsparse_matrix_in;
typedef const struct _rocsparse_dnvec_descr *rocsparse_vector_in;

typedef struct ncclComm *rccl_handle;
typedef hip_stream rccl_stream;
typedef struct rccl_id {
    char bytes[SIMT_COMM_ID_BYTES];
} rccl_id;

typedef unsigned rsmi_code;  /* rsmi_status_t */
typedef unsigned rsmi_enum;  /* clocks, sensors, states */
typedef uint64_t rsmi_block; /* rsmi_gpu_block_t, whose values need 64 bits */

typedef unsigned hiplt_code; /* hipblasStatus_t */
typedef unsigned hiplt_enum;
typedef void *hiplt_handle;

/* The vendor's structs have no tags, so these tags are ours. */
typedef struct rocblas_f32_pair {
    float real, imaginary;
} rocblas_f32_pair;
typedef struct rocblas_f64_pair {
    double real, imaginary;
} rocblas_f64_pair;
typedef struct hiplt_matmul_object *hiplt_matmul;
typedef struct hiplt_layout_object *hiplt_layout;
typedef struct hiplt_preference_object *hiplt_preference;
typedef hip_stream hiplt_stream;

typedef struct hiplt_algorithm {
    uint8_t data[16];
    size_t workspace_max;
} hiplt_algorithm;

typedef struct hiplt_choice {
    hiplt_algorithm algorithm;
    size_t workspace;
    hiplt_code state;
    float waves;
    int reserved[4];
} hiplt_choice;

/* The two layouts of rsmi_frequencies_t: up to version 5, and from version 6 on. The first field
 * shows which layout the library filled: in the old one it is a count of two or more, and in the
 * new one it is a bool. */
enum { RSMI_FREQUENCIES_5 = 32, RSMI_FREQUENCIES_6 = 33 };
typedef struct rsmi_clocks_5 {
    uint32_t count;
    uint32_t current;
    uint64_t hertz[RSMI_FREQUENCIES_5];
} rsmi_clocks_5;
typedef struct rsmi_clocks_6 {
    uint8_t deep_sleep;
    uint32_t count;
    uint32_t current;
    uint64_t hertz[RSMI_FREQUENCIES_6];
} rsmi_clocks_6;
typedef union rsmi_clocks {
    rsmi_clocks_5 old;
    rsmi_clocks_6 new;
    uint64_t room[64];
} rsmi_clocks;

/* rsmi_gpu_metrics_t of version 7. The struct is shorter in older versions, and may be longer in
 * newer ones. A field without a value has all bits set. All bits are set before the call, so this
 * is also true for fields that an older library does not know. */
typedef struct rsmi_metrics_7 {
    uint16_t bytes;
    uint8_t format, content; /* identify the chip's table */
    uint16_t readings[32];
    uint32_t throttle; /* bits whose meaning differs between chips */
    uint32_t rates[10];
    uint64_t throttle_kinds; /* since content 3: bits with the same meaning on all chips */
    uint64_t links[38];
    uint64_t counted; /* since content 6: all cycles, then those throttled by each cause */
    uint64_t held_by_board, held_by_power, held_by_heat, held_by_regulators, held_by_memory;
} rsmi_metrics_7;
typedef union rsmi_metrics {
    rsmi_metrics_7 now;
    uint64_t room[4096];
} rsmi_metrics;

/* rsmi_version_t. */
typedef struct rsmi_release {
    uint32_t major, minor, patch;
    const char *build;
} rsmi_release;

/* hipUUID. */
typedef struct hip_uuid {
    char bytes[16];
} hip_uuid;

/* The offset of the architecture's name in the struct of device properties. The struct is longer in
 * some versions, so HIP_PROPERTIES_ROOM is larger than any of them. */
enum {
    HIP_PROPERTIES_ROOM = 8192,
    HIP_ARCHITECTURE_AT_5 = 396,      /* hipGetDeviceProperties up to 5.7 */
    HIP_ARCHITECTURE_AT_R0600 = 1160, /* hipGetDevicePropertiesR0600, from 6.0 on */
    HIP_ARCHITECTURE_BYTES = 256
};

struct hipDeviceProp_t;
struct hipDeviceProp_tR0600;
struct hipUUID_t;

/* clang-format off */

/* ---- the runtime: libamdhip64.so ------------------------------------------------------------- */

#define HIP_RUNTIME_SYMBOLS(REQUIRED, OPTIONAL)                                                    \
    REQUIRED(hip_code, hipInit, (unsigned flags))                                                  \
    REQUIRED(hip_code, hipRuntimeGetVersion, (int *version))                                       \
    REQUIRED(const char *, hipGetErrorName, (hip_code code))                                       \
    REQUIRED(const char *, hipGetErrorString, (hip_code code))                                     \
    REQUIRED(hip_code, hipGetLastError, (void))                                                    \
    REQUIRED(hip_code, hipGetDeviceCount, (int *count))                                            \
    REQUIRED(hip_code, hipGetDevice, (int *device))                                                \
    REQUIRED(hip_code, hipSetDevice, (int device))                                                 \
    OPTIONAL(hip_code, hipDeviceReset, (void))                                                     \
    REQUIRED(hip_code, hipDeviceGetName, (char *name, int length, int device))                     \
    REQUIRED(hip_code, hipDeviceGetAttribute, (int *value, hip_enum attribute, int device))        \
    REQUIRED(hip_code, hipDeviceTotalMem, (size_t *bytes, int device))                             \
    OPTIONAL(hip_code, hipDeviceGetUuid, (struct hipUUID_t *uuid, int device))                     \
    OPTIONAL(hip_code, hipGetDeviceProperties, (struct hipDeviceProp_t *properties, int device))   \
    OPTIONAL(hip_code, hipGetDevicePropertiesR0600,                                                \
             (struct hipDeviceProp_tR0600 *properties, int device))                                \
    REQUIRED(hip_code, hipDeviceCanAccessPeer, (int *can, int device, int peer))                   \
    REQUIRED(hip_code, hipDeviceEnablePeerAccess, (int peer, unsigned flags))                      \
    REQUIRED(hip_code, hipMemGetInfo, (size_t *free, size_t *total))                               \
    REQUIRED(hip_code, hipMalloc, (void **address, size_t bytes))                                  \
    OPTIONAL(hip_code, hipExtMallocWithFlags, (void **address, size_t bytes, unsigned flags))      \
    REQUIRED(hip_code, hipFree, (void *address))                                                   \
    REQUIRED(hip_code, hipMemGetAddressRange, (void **base, size_t *bytes, void *address))         \
    OPTIONAL(hip_code, hipPointerGetAttribute, (void *value, hip_enum attribute, void *address))   \
    REQUIRED(hip_code, hipHostMalloc, (void **pointer, size_t bytes, unsigned flags))              \
    REQUIRED(hip_code, hipHostFree, (void *pointer))                                               \
    REQUIRED(hip_code, hipHostRegister, (void *pointer, size_t bytes, unsigned flags))             \
    REQUIRED(hip_code, hipHostUnregister, (void *pointer))                                         \
    REQUIRED(hip_code, hipMemcpyAsync,                                                             \
             (void *to, const void *from, size_t bytes, hip_enum kind, hip_stream stream))         \
    REQUIRED(hip_code, hipMemcpy2DAsync,                                                           \
             (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,        \
              size_t height, hip_enum kind, hip_stream stream))                                    \
    REQUIRED(hip_code, hipMemcpyPeerAsync,                                                         \
             (void *to, int to_device, const void *from, int from_device, size_t bytes,            \
              hip_stream stream))                                                                  \
    REQUIRED(hip_code, hipMemsetD32Async,                                                          \
             (void *to, int value, size_t count, hip_stream stream))                               \
    REQUIRED(hip_code, hipStreamCreateWithFlags, (hip_stream *stream, unsigned flags))             \
    REQUIRED(hip_code, hipStreamDestroy, (hip_stream stream))                                      \
    REQUIRED(hip_code, hipStreamSynchronize, (hip_stream stream))                                  \
    REQUIRED(hip_code, hipStreamQuery, (hip_stream stream))                                        \
    REQUIRED(hip_code, hipStreamWaitEvent, (hip_stream stream, hip_event event, unsigned flags))   \
    OPTIONAL(hip_code, hipStreamWaitValue32,                                                       \
             (hip_stream stream, void *address, uint32_t value, unsigned flags, uint32_t mask))    \
    OPTIONAL(hip_code, hipStreamBeginCapture, (hip_stream stream, hip_enum mode))                  \
    OPTIONAL(hip_code, hipStreamIsCapturing, (hip_stream stream, hip_enum *state))                 \
    OPTIONAL(hip_code, hipStreamEndCapture, (hip_stream stream, hip_graph *graph))                 \
    OPTIONAL(hip_code, hipGraphInstantiate,                                                        \
             (hip_graph_exec *exec, hip_graph graph, hip_graph_node *node, char *log,              \
              size_t log_bytes))                                                                   \
    OPTIONAL(hip_code, hipGraphLaunch, (hip_graph_exec exec, hip_stream stream))                   \
    OPTIONAL(hip_code, hipGraphExecDestroy, (hip_graph_exec exec))                                 \
    OPTIONAL(hip_code, hipGraphDestroy, (hip_graph graph))                                         \
    REQUIRED(hip_code, hipEventCreateWithFlags, (hip_event *event, unsigned flags))                \
    REQUIRED(hip_code, hipEventDestroy, (hip_event event))                                         \
    REQUIRED(hip_code, hipEventRecord, (hip_event event, hip_stream stream))                       \
    REQUIRED(hip_code, hipEventSynchronize, (hip_event event))                                     \
    REQUIRED(hip_code, hipEventQuery, (hip_event event))                                           \
    REQUIRED(hip_code, hipEventElapsedTime, (float *ms, hip_event start, hip_event stop))          \
    REQUIRED(hip_code, hipModuleLoadData, (hip_module *module, const void *image))                 \
    REQUIRED(hip_code, hipModuleUnload, (hip_module module))                                       \
    REQUIRED(hip_code, hipModuleGetFunction,                                                       \
             (hip_function *function, hip_module module, const char *name))                        \
    REQUIRED(hip_code, hipModuleLaunchKernel,                                                      \
             (hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,            \
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,         \
              hip_stream stream, void **arguments, void **extra))                                  \
    REQUIRED(hip_code, hipFuncGetAttribute,                                                        \
             (int *value, hip_enum attribute, hip_function function))                              \
    REQUIRED(hip_code, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,                         \
             (int *blocks, hip_function function, int block, size_t shared_bytes))

/* ---- the compiler: libhiprtc.so, or the runtime's own library up to 6.x ---------------------- */

#define HIP_RTC_SYMBOLS(REQUIRED, OPTIONAL)                                                        \
    REQUIRED(hiprtc_code, hiprtcVersion, (int *major, int *minor))                                 \
    REQUIRED(const char *, hiprtcGetErrorString, (hiprtc_code code))                               \
    REQUIRED(hiprtc_code, hiprtcCreateProgram,                                                     \
             (hiprtc_program *program, const char *text, const char *name, int header_count,       \
              hiprtc_texts headers, hiprtc_texts header_names))                                        \
    REQUIRED(hiprtc_code, hiprtcCompileProgram,                                                    \
             (hiprtc_program program, int option_count, hiprtc_texts options))                      \
    REQUIRED(hiprtc_code, hiprtcDestroyProgram, (hiprtc_program *program))                         \
    REQUIRED(hiprtc_code, hiprtcGetProgramLogSize, (hiprtc_program program, size_t *bytes))        \
    REQUIRED(hiprtc_code, hiprtcGetProgramLog, (hiprtc_program program, char *log))                \
    REQUIRED(hiprtc_code, hiprtcGetCodeSize, (hiprtc_program program, size_t *bytes))              \
    REQUIRED(hiprtc_code, hiprtcGetCode, (hiprtc_program program, char *code))

/* ---- rocBLAS: librocblas.so ------------------------------------------------------------------ */

#define HIP_ROCBLAS_GEAM(KIND, name, type, size)                                                   \
    KIND(rocblas_code, name,                                                                       \
         (rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b, size m, size n,       \
          const type *alpha, const type *a, size lda, const type *beta, const type *b, size ldb,   \
          type *c, size ldc))

#define HIP_ROCBLAS_DOT(KIND, name, type, size)                                                    \
    KIND(rocblas_code, name,                                                                       \
         (rocblas_object handle, size n, const type *x, size step_x, int64_t stride_x,             \
          const type *y, size step_y, int64_t stride_y, size batch, type *results))

#define HIP_ROCBLAS_NORM(KIND, name, type, size)                                                   \
    KIND(rocblas_code, name,                                                                       \
         (rocblas_object handle, size n, const type *x, size step_x, int64_t stride_x, size batch, \
          type *results))

#define HIP_ROCBLAS_GEMM(KIND, name, size)                                                         \
    KIND(rocblas_code, name,                                                                       \
         (rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b, size m, size n,       \
          size k, const void *alpha, const void *a, rocblas_enum a_type, size lda, const void *b,  \
          rocblas_enum b_type, size ldb, const void *beta, const void *c, rocblas_enum c_type,     \
          size ldc, void *d, rocblas_enum d_type, size ldd, rocblas_enum compute_type,             \
          rocblas_enum algorithm, int32_t solution, uint32_t flags))

#define HIP_ROCBLAS_GEMM_BATCHED(KIND, name, size)                                                 \
    KIND(rocblas_code, name,                                                                       \
         (rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b, size m, size n,       \
          size k, const void *alpha, const void *a, rocblas_enum a_type, size lda,                 \
          int64_t stride_a, const void *b, rocblas_enum b_type, size ldb, int64_t stride_b,        \
          const void *beta, const void *c, rocblas_enum c_type, size ldc, int64_t stride_c,        \
          void *d, rocblas_enum d_type, size ldd, int64_t stride_d, size batch,                    \
          rocblas_enum compute_type, rocblas_enum algorithm, int32_t solution, uint32_t flags))

#define HIP_ROCBLAS_SYRK(KIND, name, type, size)                                                   \
    KIND(rocblas_code, name,                                                                       \
         (rocblas_object handle, rocblas_enum triangle, rocblas_enum trans, size n, size k,        \
          const type *alpha, const type *a, size lda, int64_t stride_a, const type *beta, type *c, \
          size ldc, int64_t stride_c, size batch))
#define HIP_ROCBLAS_TRSM(KIND, name, type, size)                                                   \
    KIND(rocblas_code, name,                                                                       \
         (rocblas_object handle, rocblas_enum side, rocblas_enum triangle, rocblas_enum trans,     \
          rocblas_enum diagonal, size m, size n, const type *alpha, const type *a, size lda,       \
          int64_t stride_a, type *b, size ldb, int64_t stride_b, size batch))
/* Symmetric products and triangular solves of a type. */
#define HIP_ROCBLAS_LEVEL3(KIND, letter, type)                                                     \
    HIP_ROCBLAS_SYRK(KIND, rocblas_##letter##syrk_strided_batched, type, int32_t)                  \
    HIP_ROCBLAS_SYRK(KIND, rocblas_##letter##syrk_strided_batched_64, type, int64_t)               \
    HIP_ROCBLAS_TRSM(KIND, rocblas_##letter##trsm_strided_batched, type, int32_t)                  \
    HIP_ROCBLAS_TRSM(KIND, rocblas_##letter##trsm_strided_batched_64, type, int64_t)

#define HIP_ROCBLAS_SYMBOLS(REQUIRED, OPTIONAL)                                                    \
    REQUIRED(rocblas_code, rocblas_create_handle, (rocblas_object *handle))                        \
    REQUIRED(rocblas_code, rocblas_destroy_handle, (rocblas_object handle))                        \
    REQUIRED(rocblas_code, rocblas_set_stream, (rocblas_object handle, hip_stream stream))         \
    REQUIRED(rocblas_code, rocblas_set_pointer_mode, (rocblas_object handle, rocblas_enum mode))   \
    REQUIRED(rocblas_code, rocblas_set_atomics_mode, (rocblas_object handle, rocblas_enum mode))   \
    OPTIONAL(rocblas_code, rocblas_set_math_mode, (rocblas_object handle, rocblas_enum mode))      \
    OPTIONAL(rocblas_code, rocblas_set_workspace,                                                  \
             (rocblas_object handle, void *address, size_t bytes))                                 \
    REQUIRED(rocblas_code, rocblas_get_version_string, (char *text, size_t capacity))              \
    REQUIRED(const char *, rocblas_status_to_string, (rocblas_code code))                          \
    HIP_ROCBLAS_GEMM(REQUIRED, rocblas_gemm_ex, int32_t)                                           \
    HIP_ROCBLAS_GEMM(OPTIONAL, rocblas_gemm_ex_64, int64_t)                                        \
    HIP_ROCBLAS_GEMM_BATCHED(REQUIRED, rocblas_gemm_strided_batched_ex, int32_t)                   \
    HIP_ROCBLAS_GEMM_BATCHED(OPTIONAL, rocblas_gemm_strided_batched_ex_64, int64_t)                \
    HIP_ROCBLAS_GEAM(REQUIRED, rocblas_sgeam, float, int32_t)                                      \
    HIP_ROCBLAS_GEAM(REQUIRED, rocblas_dgeam, double, int32_t)                                     \
    HIP_ROCBLAS_GEAM(REQUIRED, rocblas_zgeam, rocblas_f64_pair, int32_t)                           \
    HIP_ROCBLAS_GEAM(OPTIONAL, rocblas_sgeam_64, float, int64_t)                                   \
    HIP_ROCBLAS_GEAM(OPTIONAL, rocblas_dgeam_64, double, int64_t)                                  \
    HIP_ROCBLAS_GEAM(OPTIONAL, rocblas_zgeam_64, rocblas_f64_pair, int64_t)                        \
    HIP_ROCBLAS_DOT(REQUIRED, rocblas_sdot_strided_batched, float, int32_t)                        \
    HIP_ROCBLAS_DOT(REQUIRED, rocblas_ddot_strided_batched, double, int32_t)                       \
    HIP_ROCBLAS_DOT(OPTIONAL, rocblas_sdot_strided_batched_64, float, int64_t)                     \
    HIP_ROCBLAS_DOT(OPTIONAL, rocblas_ddot_strided_batched_64, double, int64_t)                    \
    HIP_ROCBLAS_NORM(REQUIRED, rocblas_sasum_strided_batched, float, int32_t)                      \
    HIP_ROCBLAS_NORM(REQUIRED, rocblas_dasum_strided_batched, double, int32_t)                     \
    HIP_ROCBLAS_NORM(OPTIONAL, rocblas_sasum_strided_batched_64, float, int64_t)                   \
    HIP_ROCBLAS_NORM(OPTIONAL, rocblas_dasum_strided_batched_64, double, int64_t)                  \
    HIP_ROCBLAS_LEVEL3(OPTIONAL, s, float)                                                         \
    HIP_ROCBLAS_LEVEL3(OPTIONAL, d, double)                                                        \
    HIP_ROCBLAS_LEVEL3(OPTIONAL, c, rocblas_f32_pair)                                              \
    HIP_ROCBLAS_LEVEL3(OPTIONAL, z, rocblas_f64_pair)

/* ---- hipBLASLt: libhipblaslt.so -------------------------------------------------------------- */

#define HIP_LT_OWN_SYMBOLS(REQUIRED, OPTIONAL)                                                     \
    REQUIRED(hiplt_code, hipblasLtGetVersion, (hiplt_handle handle, int *version))
#define HIP_LT_SYMBOLS(REQUIRED, OPTIONAL)                                                         \
    SIMT_LT_SYMBOLS(REQUIRED, hipblasLt, hiplt)                                                    \
    HIP_LT_OWN_SYMBOLS(REQUIRED, OPTIONAL)

/* ---- rocSPARSE: librocsparse.so -------------------------------------------------------------- */

/* From ROCm 6.0 on. Before, rocsparse_spmv has no stage. */
#define HIP_ROCSPARSE_SYMBOLS(REQUIRED, OPTIONAL)                                                  \
    REQUIRED(rocsparse_code, rocsparse_create_handle, (rocsparse_object *handle))                  \
    REQUIRED(rocsparse_code, rocsparse_destroy_handle, (rocsparse_object handle))                  \
    REQUIRED(rocsparse_code, rocsparse_set_stream, (rocsparse_object handle, hip_stream stream))   \
    REQUIRED(rocsparse_code, rocsparse_set_pointer_mode,                                           \
             (rocsparse_object handle, rocsparse_enum mode))                                       \
    REQUIRED(rocsparse_code, rocsparse_get_version, (rocsparse_object handle, int *version))       \
    OPTIONAL(const char *, rocsparse_get_status_name, (rocsparse_code code))                       \
    REQUIRED(rocsparse_code, rocsparse_create_csr_descr,                                           \
             (rocsparse_matrix *matrix, int64_t rows, int64_t cols, int64_t entries,               \
              void *offsets, void *columns, void *values, rocsparse_enum offsets_type,             \
              rocsparse_enum columns_type, rocsparse_enum base, rocsparse_enum type))              \
    REQUIRED(rocsparse_code, rocsparse_destroy_spmat_descr, (rocsparse_matrix_in matrix))          \
    REQUIRED(rocsparse_code, rocsparse_create_dnvec_descr,                                         \
             (rocsparse_vector *vector, int64_t size, void *values, rocsparse_enum type))          \
    REQUIRED(rocsparse_code, rocsparse_destroy_dnvec_descr, (rocsparse_vector_in vector))          \
    REQUIRED(rocsparse_code, rocsparse_spmv,                                                       \
             (rocsparse_object handle, rocsparse_enum trans, const void *alpha,                    \
              rocsparse_matrix_in a, rocsparse_vector_in x, const void *beta, rocsparse_vector y,  \
              rocsparse_enum compute, rocsparse_enum algorithm, rocsparse_enum stage,              \
              size_t *bytes, void *buffer))

/* ---- RCCL: librccl.so --------------------------------------------------------------------- */

/* Older versions have their own all-to-all alone, whose name has another capital. */
#define HIP_RCCL_OWN_SYMBOLS(REQUIRED, OPTIONAL)                                                   \
    OPTIONAL(uint32_t, ncclAllToAll,                                                               \
             (const void *from, void *to, size_t count, uint32_t type, rccl_handle comm,           \
              rccl_stream stream))
#define HIP_RCCL_SYMBOLS(REQUIRED, OPTIONAL)                                                       \
    SIMT_COMM_SYMBOLS(REQUIRED, OPTIONAL, nccl, rccl)                                              \
    HIP_RCCL_OWN_SYMBOLS(REQUIRED, OPTIONAL)

/* ---- the sensors: librocm_smi64.so ----------------------------------------------------------- */

#define HIP_RSMI_SYMBOLS(REQUIRED, OPTIONAL)                                                       \
    REQUIRED(rsmi_code, rsmi_init, (uint64_t flags))                                               \
    REQUIRED(rsmi_code, rsmi_num_monitor_devices, (uint32_t *count))                               \
    REQUIRED(rsmi_code, rsmi_dev_pci_id_get, (uint32_t device, uint64_t *place))                   \
    OPTIONAL(rsmi_code, rsmi_status_string, (rsmi_code code, const char **text))                   \
    OPTIONAL(rsmi_code, rsmi_version_get, (rsmi_release *version))                                 \
    OPTIONAL(rsmi_code, rsmi_dev_gpu_clk_freq_get,                                                 \
             (uint32_t device, rsmi_enum clock, rsmi_clocks *clocks))                              \
    OPTIONAL(rsmi_code, rsmi_dev_power_get,                                                        \
             (uint32_t device, uint64_t *microwatts, rsmi_enum *kind))                             \
    OPTIONAL(rsmi_code, rsmi_dev_power_ave_get,                                                    \
             (uint32_t device, uint32_t sensor, uint64_t *microwatts))                             \
    OPTIONAL(rsmi_code, rsmi_dev_power_cap_get,                                                    \
             (uint32_t device, uint32_t sensor, uint64_t *microwatts))                             \
    OPTIONAL(rsmi_code, rsmi_dev_energy_count_get,                                                 \
             (uint32_t device, uint64_t *count, float *microjoules, uint64_t *nanoseconds))        \
    OPTIONAL(rsmi_code, rsmi_dev_temp_metric_get,                                                  \
             (uint32_t device, uint32_t sensor, rsmi_enum metric, int64_t *millidegrees))          \
    OPTIONAL(rsmi_code, rsmi_dev_busy_percent_get, (uint32_t device, uint32_t *percent))           \
    OPTIONAL(rsmi_code, rsmi_dev_ecc_status_get,                                                   \
             (uint32_t device, rsmi_block block, rsmi_enum *state))                                \
    OPTIONAL(rsmi_code, rsmi_dev_gpu_metrics_info_get,                                             \
             (uint32_t device, rsmi_metrics *metrics))                                             \
    OPTIONAL(rsmi_code, rsmi_dev_compute_partition_get,                                            \
             (uint32_t device, char *text, uint32_t length))                                       \
    OPTIONAL(rsmi_code, rsmi_dev_memory_partition_get,                                             \
             (uint32_t device, char *text, uint32_t length))

/* clang-format on */

#endif
