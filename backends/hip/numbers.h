/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - the constants of AMD's interfaces that this backend uses: one list for each library,
 * NUMBER(ours, theirs). The enumerations below take their values from here; a test compares each
 * row with the vendor's headers. Values that differ between versions are not used.
 */
#ifndef ISOMER_HIP_NUMBERS_H
#define ISOMER_HIP_NUMBERS_H

enum {
    HIP_DONE = 0,
    HIP_INVALID_VALUE = 1,
    HIP_OUT_OF_MEMORY = 2,
    HIP_DEINITIALIZED = 4,
    HIP_NO_DEVICE = 100,
    HIP_INVALID_DEVICE = 101,
    HIP_ECC_ERROR = 214,
    HIP_NOT_READY = 600,
    HIP_ILLEGAL_ADDRESS = 700,
    HIP_LAUNCH_TIMEOUT = 702,
    HIP_PEER_ACCESS_ALREADY = 704,
    HIP_CONTEXT_DESTROYED = 709,
    HIP_ASSERT = 710,
    HIP_ALREADY_REGISTERED = 712,
    HIP_LAUNCH_FAILURE = 719,
    HIP_NOT_SUPPORTED = 801,

    HIP_CLOCK_KHZ = 5,
    HIP_INTEGRATED = 16,
    HIP_L2_BYTES = 19,
    HIP_MAX_THREADS = 56,
    HIP_UNITS = 63,
    HIP_PCI_BUS = 67,
    HIP_PCI_DEVICE = 68,
    HIP_PCI_DOMAIN = 69,
    HIP_SHARED_BYTES = 74,
    HIP_WAVE = 87,

    HIP_TO_DEVICE = 1,
    HIP_TO_HOST = 2,
    HIP_ON_DEVICE = 3,

    HIP_STREAM_NON_BLOCKING = 1,
    HIP_EVENT_TIMING = 0,
    HIP_EVENT_NO_TIMING = 2,
    HIP_HOST_PORTABLE = 1,
    HIP_REGISTER_PORTABLE = 1,

    HIP_KERNEL_THREADS = 0,
    HIP_KERNEL_SHARED_BYTES = 1,
    HIP_KERNEL_PRIVATE_BYTES = 3,
    HIP_KERNEL_REGISTERS = 4,

    HIP_POINTER_DEVICE = 9,

    HIPRTC_DONE = 0,

    ROCBLAS_DONE = 0,
    ROCBLAS_MEMORY_ERROR = 5,
    ROCBLAS_NO_TRANS = 111,
    ROCBLAS_TRANS = 112,
    ROCBLAS_F16 = 150,
    ROCBLAS_F32 = 151,
    ROCBLAS_F64 = 152,
    ROCBLAS_BF16 = 168,
    ROCBLAS_POINTERS_HOST = 0,
    ROCBLAS_POINTERS_DEVICE = 1,
    ROCBLAS_NO_ATOMICS = 0,
    ROCBLAS_MATH_DEFAULT = 0,
    ROCBLAS_MATH_XF32 = 1, /* rocblas_xf32_xdl_math_op, from 4.0 on */
    ROCBLAS_ALGORITHM_STANDARD = 0,

    HIPLT_DONE = 0,
    HIPLT_ALLOC_FAILED = 2,
    HIPLT_NOT_SUPPORTED = 7,
    HIPLT_NO_TRANS = 111,
    HIPLT_TRANS = 112,
    HIPLT_COMPUTE_F32 = 2,
    HIPLT_COMPUTE_XF32 = 6,
    HIPLT_COMPUTE_F64 = 7,
    HIPLT_F32 = 0,
    HIPLT_F64 = 1,
    HIPLT_F16 = 2,
    HIPLT_BF16 = 14,
    HIPLT_TRANS_A = 0,
    HIPLT_TRANS_B = 1,
    HIPLT_BATCH = 0,
    HIPLT_STRIDE = 1,
    HIPLT_WORKSPACE_MAX = 1,

    RSMI_DONE = 0,
    RSMI_CLOCK_COMPUTE = 0,
    RSMI_CLOCK_MEMORY = 4,
    RSMI_SENSOR_EDGE = 0,
    RSMI_SENSOR_JUNCTION = 1,
    RSMI_TEMPERATURE_NOW = 0,
    RSMI_BLOCK_MEMORY = 1,
    RSMI_ECC_NONE = 0,
    RSMI_ECC_DISABLED = 1,
    RSMI_ECC_ENABLED = 6
};

/* clang-format off */
#define HIP_RUNTIME_NUMBERS(NUMBER)                                                                \
    NUMBER(HIP_DONE, hipSuccess)                                                                   \
    NUMBER(HIP_INVALID_VALUE, hipErrorInvalidValue)                                                \
    NUMBER(HIP_OUT_OF_MEMORY, hipErrorOutOfMemory)                                                 \
    NUMBER(HIP_DEINITIALIZED, hipErrorDeinitialized)                                               \
    NUMBER(HIP_CONTEXT_DESTROYED, hipErrorContextIsDestroyed)                                      \
    NUMBER(HIP_NO_DEVICE, hipErrorNoDevice)                                                        \
    NUMBER(HIP_INVALID_DEVICE, hipErrorInvalidDevice)                                              \
    NUMBER(HIP_ECC_ERROR, hipErrorECCNotCorrectable)                                               \
    NUMBER(HIP_NOT_READY, hipErrorNotReady)                                                        \
    NUMBER(HIP_ILLEGAL_ADDRESS, hipErrorIllegalAddress)                                            \
    NUMBER(HIP_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut)                                              \
    NUMBER(HIP_PEER_ACCESS_ALREADY, hipErrorPeerAccessAlreadyEnabled)                              \
    NUMBER(HIP_ASSERT, hipErrorAssert)                                                             \
    NUMBER(HIP_ALREADY_REGISTERED, hipErrorHostMemoryAlreadyRegistered)                            \
    NUMBER(HIP_LAUNCH_FAILURE, hipErrorLaunchFailure)                                              \
    NUMBER(HIP_NOT_SUPPORTED, hipErrorNotSupported)                                                \
    NUMBER(HIP_CLOCK_KHZ, hipDeviceAttributeClockRate)                                             \
    NUMBER(HIP_INTEGRATED, hipDeviceAttributeIntegrated)                                           \
    NUMBER(HIP_L2_BYTES, hipDeviceAttributeL2CacheSize)                                            \
    NUMBER(HIP_MAX_THREADS, hipDeviceAttributeMaxThreadsPerBlock)                                  \
    NUMBER(HIP_UNITS, hipDeviceAttributeMultiprocessorCount)                                       \
    NUMBER(HIP_PCI_BUS, hipDeviceAttributePciBusId)                                                \
    NUMBER(HIP_PCI_DEVICE, hipDeviceAttributePciDeviceId)                                          \
    NUMBER(HIP_PCI_DOMAIN, hipDeviceAttributePciDomainID)                                          \
    NUMBER(HIP_SHARED_BYTES, hipDeviceAttributeMaxSharedMemoryPerBlock)                            \
    NUMBER(HIP_WAVE, hipDeviceAttributeWarpSize)                                                   \
    NUMBER(HIP_TO_DEVICE, hipMemcpyHostToDevice)                                                   \
    NUMBER(HIP_TO_HOST, hipMemcpyDeviceToHost)                                                     \
    NUMBER(HIP_ON_DEVICE, hipMemcpyDeviceToDevice)                                                 \
    NUMBER(HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking)                                          \
    NUMBER(HIP_EVENT_TIMING, hipEventDefault)                                                      \
    NUMBER(HIP_EVENT_NO_TIMING, hipEventDisableTiming)                                             \
    NUMBER(HIP_HOST_PORTABLE, hipHostMallocPortable)                                               \
    NUMBER(HIP_REGISTER_PORTABLE, hipHostRegisterPortable)                                         \
    NUMBER(HIP_KERNEL_THREADS, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                           \
    NUMBER(HIP_KERNEL_SHARED_BYTES, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)                          \
    NUMBER(HIP_KERNEL_PRIVATE_BYTES, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)                          \
    NUMBER(HIP_KERNEL_REGISTERS, HIP_FUNC_ATTRIBUTE_NUM_REGS)                                      \
    NUMBER(HIP_POINTER_DEVICE, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL)                               \
    NUMBER(HIPRTC_DONE, HIPRTC_SUCCESS)

#define HIP_ROCBLAS_NUMBERS(NUMBER)                                                                \
    NUMBER(ROCBLAS_DONE, rocblas_status_success)                                                   \
    NUMBER(ROCBLAS_MEMORY_ERROR, rocblas_status_memory_error)                                      \
    NUMBER(ROCBLAS_NO_TRANS, rocblas_operation_none)                                               \
    NUMBER(ROCBLAS_TRANS, rocblas_operation_transpose)                                             \
    NUMBER(ROCBLAS_F16, rocblas_datatype_f16_r)                                                    \
    NUMBER(ROCBLAS_F32, rocblas_datatype_f32_r)                                                    \
    NUMBER(ROCBLAS_F64, rocblas_datatype_f64_r)                                                    \
    NUMBER(ROCBLAS_BF16, rocblas_datatype_bf16_r)                                                  \
    NUMBER(ROCBLAS_POINTERS_HOST, rocblas_pointer_mode_host)                                       \
    NUMBER(ROCBLAS_POINTERS_DEVICE, rocblas_pointer_mode_device)                                   \
    NUMBER(ROCBLAS_NO_ATOMICS, rocblas_atomics_not_allowed)                                        \
    NUMBER(ROCBLAS_ALGORITHM_STANDARD, rocblas_gemm_algo_standard)

#define HIP_LT_NUMBERS(NUMBER)                                                                     \
    NUMBER(HIPLT_DONE, HIPBLAS_STATUS_SUCCESS)                                                     \
    NUMBER(HIPLT_ALLOC_FAILED, HIPBLAS_STATUS_ALLOC_FAILED)                                        \
    NUMBER(HIPLT_NOT_SUPPORTED, HIPBLAS_STATUS_NOT_SUPPORTED)                                      \
    NUMBER(HIPLT_NO_TRANS, HIPBLAS_OP_N)                                                           \
    NUMBER(HIPLT_TRANS, HIPBLAS_OP_T)                                                              \
    NUMBER(HIPLT_COMPUTE_F32, HIPBLAS_COMPUTE_32F)                                                 \
    NUMBER(HIPLT_COMPUTE_XF32, HIPBLAS_COMPUTE_32F_FAST_TF32)                                      \
    NUMBER(HIPLT_COMPUTE_F64, HIPBLAS_COMPUTE_64F)                                                 \
    NUMBER(HIPLT_F32, HIP_R_32F)                                                                   \
    NUMBER(HIPLT_F64, HIP_R_64F)                                                                   \
    NUMBER(HIPLT_F16, HIP_R_16F)                                                                   \
    NUMBER(HIPLT_BF16, HIP_R_16BF)                                                                 \
    NUMBER(HIPLT_TRANS_A, HIPBLASLT_MATMUL_DESC_TRANSA)                                            \
    NUMBER(HIPLT_TRANS_B, HIPBLASLT_MATMUL_DESC_TRANSB)                                            \
    NUMBER(HIPLT_BATCH, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT)                                       \
    NUMBER(HIPLT_STRIDE, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)                             \
    NUMBER(HIPLT_WORKSPACE_MAX, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)

#define HIP_RSMI_NUMBERS(NUMBER)                                                                   \
    NUMBER(RSMI_DONE, RSMI_STATUS_SUCCESS)                                                         \
    NUMBER(RSMI_CLOCK_COMPUTE, RSMI_CLK_TYPE_SYS)                                                  \
    NUMBER(RSMI_CLOCK_MEMORY, RSMI_CLK_TYPE_MEM)                                                   \
    NUMBER(RSMI_SENSOR_EDGE, RSMI_TEMP_TYPE_EDGE)                                                  \
    NUMBER(RSMI_SENSOR_JUNCTION, RSMI_TEMP_TYPE_JUNCTION)                                          \
    NUMBER(RSMI_TEMPERATURE_NOW, RSMI_TEMP_CURRENT)                                                \
    NUMBER(RSMI_BLOCK_MEMORY, RSMI_GPU_BLOCK_UMC)                                                  \
    NUMBER(RSMI_ECC_NONE, RSMI_RAS_ERR_STATE_NONE)                                                 \
    NUMBER(RSMI_ECC_DISABLED, RSMI_RAS_ERR_STATE_DISABLED)                                         \
    NUMBER(RSMI_ECC_ENABLED, RSMI_RAS_ERR_STATE_ENABLED)

/* Errors of ROCm SMI, by AMD's own names; files that need them define enumerators from this list.
 */
#define HIP_RSMI_ERRORS(ERROR)                                                                     \
    ERROR(RSMI_STATUS_INVALID_ARGS, 1)                                                             \
    ERROR(RSMI_STATUS_NOT_SUPPORTED, 2)                                                            \
    ERROR(RSMI_STATUS_FILE_ERROR, 3)                                                               \
    ERROR(RSMI_STATUS_PERMISSION, 4)                                                               \
    ERROR(RSMI_STATUS_OUT_OF_RESOURCES, 5)                                                         \
    ERROR(RSMI_STATUS_INTERNAL_EXCEPTION, 6)                                                       \
    ERROR(RSMI_STATUS_INPUT_OUT_OF_BOUNDS, 7)                                                      \
    ERROR(RSMI_STATUS_INIT_ERROR, 8)                                                               \
    ERROR(RSMI_STATUS_NOT_YET_IMPLEMENTED, 9)                                                      \
    ERROR(RSMI_STATUS_NOT_FOUND, 10)                                                               \
    ERROR(RSMI_STATUS_INSUFFICIENT_SIZE, 11)                                                       \
    ERROR(RSMI_STATUS_INTERRUPT, 12)                                                               \
    ERROR(RSMI_STATUS_UNEXPECTED_SIZE, 13)                                                         \
    ERROR(RSMI_STATUS_NO_DATA, 14)                                                                 \
    ERROR(RSMI_STATUS_UNEXPECTED_DATA, 15)                                                         \
    ERROR(RSMI_STATUS_BUSY, 16)                                                                    \
    ERROR(RSMI_STATUS_REFCOUNT_OVERFLOW, 17)
/* clang-format on */

#endif
