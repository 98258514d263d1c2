/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - the constants of AMD's interfaces that this backend uses: one list for each library,
 * NUMBER(our name, value, AMD's name). A test compares each row with the vendor's headers.
 * Constants whose values differ between versions are not used.
 */
#ifndef ISOMER_HIP_NUMBERS_H
#define ISOMER_HIP_NUMBERS_H

/* clang-format off */
#define HIP_RUNTIME_NUMBERS(NUMBER)                                                                \
    NUMBER(HIP_DONE, 0, hipSuccess)                                                                \
    NUMBER(HIP_INVALID_VALUE, 1, hipErrorInvalidValue)                                             \
    NUMBER(HIP_OUT_OF_MEMORY, 2, hipErrorOutOfMemory)                                              \
    NUMBER(HIP_DEINITIALIZED, 4, hipErrorDeinitialized)                                            \
    NUMBER(HIP_CONTEXT_DESTROYED, 709, hipErrorContextIsDestroyed)                                 \
    NUMBER(HIP_NO_DEVICE, 100, hipErrorNoDevice)                                                   \
    NUMBER(HIP_INVALID_DEVICE, 101, hipErrorInvalidDevice)                                         \
    NUMBER(HIP_ECC_ERROR, 214, hipErrorECCNotCorrectable)                                          \
    NUMBER(HIP_NOT_READY, 600, hipErrorNotReady)                                                   \
    NUMBER(HIP_ILLEGAL_ADDRESS, 700, hipErrorIllegalAddress)                                       \
    NUMBER(HIP_LAUNCH_TIMEOUT, 702, hipErrorLaunchTimeOut)                                         \
    NUMBER(HIP_PEER_ACCESS_ALREADY, 704, hipErrorPeerAccessAlreadyEnabled)                         \
    NUMBER(HIP_ASSERT, 710, hipErrorAssert)                                                        \
    NUMBER(HIP_LAUNCH_FAILURE, 719, hipErrorLaunchFailure)                                         \
    NUMBER(HIP_NOT_SUPPORTED, 801, hipErrorNotSupported)                                           \
    NUMBER(HIP_CLOCK_KHZ, 5, hipDeviceAttributeClockRate)                                          \
    NUMBER(HIP_INTEGRATED, 16, hipDeviceAttributeIntegrated)                                       \
    NUMBER(HIP_L2_BYTES, 19, hipDeviceAttributeL2CacheSize)                                        \
    NUMBER(HIP_MAX_THREADS, 56, hipDeviceAttributeMaxThreadsPerBlock)                              \
    NUMBER(HIP_UNITS, 63, hipDeviceAttributeMultiprocessorCount)                                   \
    NUMBER(HIP_PCI_BUS, 67, hipDeviceAttributePciBusId)                                            \
    NUMBER(HIP_PCI_DEVICE, 68, hipDeviceAttributePciDeviceId)                                      \
    NUMBER(HIP_PCI_DOMAIN, 69, hipDeviceAttributePciDomainID)                                      \
    NUMBER(HIP_SHARED_BYTES, 74, hipDeviceAttributeMaxSharedMemoryPerBlock)                        \
    NUMBER(HIP_HOST_PAGES, 66, hipDeviceAttributePageableMemoryAccessUsesHostPageTables)           \
    NUMBER(HIP_WAVE, 87, hipDeviceAttributeWarpSize)                                               \
    NUMBER(HIP_TO_DEVICE, 1, hipMemcpyHostToDevice)                                                \
    NUMBER(HIP_TO_HOST, 2, hipMemcpyDeviceToHost)                                                  \
    NUMBER(HIP_ON_DEVICE, 3, hipMemcpyDeviceToDevice)                                              \
    NUMBER(HIP_STREAM_NON_BLOCKING, 1, hipStreamNonBlocking)                                       \
    NUMBER(HIP_EVENT_TIMING, 0, hipEventDefault)                                                   \
    NUMBER(HIP_EVENT_BLOCKING, 1, hipEventBlockingSync)                                            \
    NUMBER(HIP_EVENT_NO_TIMING, 2, hipEventDisableTiming)                                          \
    NUMBER(HIP_CAN_WAIT_VALUE, 10013, hipDeviceAttributeCanUseStreamWaitValue)                     \
    NUMBER(HIP_SIGNAL_MEMORY, 2, hipMallocSignalMemory)                                            \
    NUMBER(HIP_WAIT_EQUAL, 1, hipStreamWaitValueEq)                                                \
    NUMBER(HIP_CAPTURE_RELAXED, 2, hipStreamCaptureModeRelaxed)                                    \
    NUMBER(HIP_CAPTURE_NONE, 0, hipStreamCaptureStatusNone)                                        \
    NUMBER(HIP_HOST_PORTABLE, 1, hipHostMallocPortable)                                            \
    NUMBER(HIP_REGISTER_PORTABLE, 1, hipHostRegisterPortable)                                      \
    NUMBER(HIP_KERNEL_THREADS, 0, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                        \
    NUMBER(HIP_KERNEL_SHARED_BYTES, 1, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)                       \
    NUMBER(HIP_KERNEL_PRIVATE_BYTES, 3, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)                       \
    NUMBER(HIP_KERNEL_REGISTERS, 4, HIP_FUNC_ATTRIBUTE_NUM_REGS)                                   \
    NUMBER(HIP_POINTER_DEVICE, 9, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL)                            \
    NUMBER(HIPRTC_DONE, 0, HIPRTC_SUCCESS)

#define HIP_ROCBLAS_NUMBERS(NUMBER)                                                                \
    NUMBER(ROCBLAS_DONE, 0, rocblas_status_success)                                                \
    NUMBER(ROCBLAS_NOT_IMPLEMENTED, 2, rocblas_status_not_implemented)                             \
    NUMBER(ROCBLAS_MEMORY_ERROR, 5, rocblas_status_memory_error)                                   \
    NUMBER(ROCBLAS_PERF_DEGRADED, 7, rocblas_status_perf_degraded)                                 \
    NUMBER(ROCBLAS_OTHER_CHIP, 15, rocblas_status_arch_mismatch)                                   \
    NUMBER(ROCBLAS_NO_TRANS, 111, rocblas_operation_none)                                          \
    NUMBER(ROCBLAS_TRANS, 112, rocblas_operation_transpose)                                        \
    NUMBER(ROCBLAS_CONJ_TRANS, 113, rocblas_operation_conjugate_transpose)                         \
    NUMBER(ROCBLAS_UPPER, 121, rocblas_fill_upper)                                                 \
    NUMBER(ROCBLAS_LOWER, 122, rocblas_fill_lower)                                                 \
    NUMBER(ROCBLAS_NON_UNIT, 131, rocblas_diagonal_non_unit)                                       \
    NUMBER(ROCBLAS_UNIT, 132, rocblas_diagonal_unit)                                               \
    NUMBER(ROCBLAS_LEFT, 141, rocblas_side_left)                                                   \
    NUMBER(ROCBLAS_RIGHT, 142, rocblas_side_right)                                                 \
    NUMBER(ROCBLAS_F16, 150, rocblas_datatype_f16_r)                                               \
    NUMBER(ROCBLAS_F32, 151, rocblas_datatype_f32_r)                                               \
    NUMBER(ROCBLAS_F64, 152, rocblas_datatype_f64_r)                                               \
    NUMBER(ROCBLAS_C64, 154, rocblas_datatype_f32_c)                                               \
    NUMBER(ROCBLAS_C128, 155, rocblas_datatype_f64_c)                                              \
    NUMBER(ROCBLAS_I8, 160, rocblas_datatype_i8_r)                                                 \
    NUMBER(ROCBLAS_I32, 162, rocblas_datatype_i32_r)                                               \
    NUMBER(ROCBLAS_BF16, 168, rocblas_datatype_bf16_r)                                             \
    NUMBER(ROCBLAS_POINTERS_HOST, 0, rocblas_pointer_mode_host)                                    \
    NUMBER(ROCBLAS_POINTERS_DEVICE, 1, rocblas_pointer_mode_device)                                \
    NUMBER(ROCBLAS_NO_ATOMICS, 0, rocblas_atomics_not_allowed)                                     \
    NUMBER(ROCBLAS_ALGORITHM_STANDARD, 0, rocblas_gemm_algo_standard)

#define HIP_LT_NUMBERS(NUMBER)                                                                     \
    NUMBER(HIPLT_DONE, 0, HIPBLAS_STATUS_SUCCESS)                                                  \
    NUMBER(HIPLT_ALLOC_FAILED, 2, HIPBLAS_STATUS_ALLOC_FAILED)                                     \
    NUMBER(HIPLT_NOT_SUPPORTED, 7, HIPBLAS_STATUS_NOT_SUPPORTED)                                   \
    NUMBER(HIPLT_NO_TRANS, 111, HIPBLAS_OP_N)                                                      \
    NUMBER(HIPLT_TRANS, 112, HIPBLAS_OP_T)                                                         \
    NUMBER(HIPLT_COMPUTE_F32, 2, HIPBLAS_COMPUTE_32F)                                              \
    NUMBER(HIPLT_COMPUTE_XF32, 6, HIPBLAS_COMPUTE_32F_FAST_TF32)                                   \
    NUMBER(HIPLT_COMPUTE_F64, 7, HIPBLAS_COMPUTE_64F)                                              \
    NUMBER(HIPLT_F32, 0, HIP_R_32F)                                                                \
    NUMBER(HIPLT_F64, 1, HIP_R_64F)                                                                \
    NUMBER(HIPLT_F16, 2, HIP_R_16F)                                                                \
    NUMBER(HIPLT_BF16, 14, HIP_R_16BF)                                                             \
    NUMBER(HIPLT_TRANS_A, 0, HIPBLASLT_MATMUL_DESC_TRANSA)                                         \
    NUMBER(HIPLT_TRANS_B, 1, HIPBLASLT_MATMUL_DESC_TRANSB)                                         \
    NUMBER(HIPLT_BATCH, 0, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT)                                    \
    NUMBER(HIPLT_STRIDE, 1, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)                          \
    NUMBER(HIPLT_WORKSPACE_MAX, 1, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)

/* The algorithm needs no analysis of the matrix, and gives the same bits in every run. */
#define HIP_ROCSPARSE_NUMBERS(NUMBER)                                                              \
    NUMBER(ROCSPARSE_DONE, 0, rocsparse_status_success)                                            \
    NUMBER(ROCSPARSE_MEMORY_ERROR, 5, rocsparse_status_memory_error)                               \
    NUMBER(ROCSPARSE_POINTERS_HOST, 0, rocsparse_pointer_mode_host)                                \
    NUMBER(ROCSPARSE_NO_TRANS, 111, rocsparse_operation_none)                                      \
    NUMBER(ROCSPARSE_FROM_ZERO, 0, rocsparse_index_base_zero)                                      \
    NUMBER(ROCSPARSE_I32, 2, rocsparse_indextype_i32)                                              \
    NUMBER(ROCSPARSE_I64, 3, rocsparse_indextype_i64)                                              \
    NUMBER(ROCSPARSE_F32, 151, rocsparse_datatype_f32_r)                                           \
    NUMBER(ROCSPARSE_F64, 152, rocsparse_datatype_f64_r)                                           \
    NUMBER(ROCSPARSE_ALGORITHM, 3, rocsparse_spmv_alg_csr_stream)                                  \
    NUMBER(ROCSPARSE_SIZE, 1, rocsparse_spmv_stage_buffer_size)                                    \
    NUMBER(ROCSPARSE_COMPUTE, 3, rocsparse_spmv_stage_compute)

#define HIP_RSMI_NUMBERS(NUMBER)                                                                   \
    NUMBER(RSMI_DONE, 0, RSMI_STATUS_SUCCESS)                                                      \
    NUMBER(RSMI_CLOCK_COMPUTE, 0, RSMI_CLK_TYPE_SYS)                                               \
    NUMBER(RSMI_CLOCK_MEMORY, 4, RSMI_CLK_TYPE_MEM)                                                \
    NUMBER(RSMI_SENSOR_EDGE, 0, RSMI_TEMP_TYPE_EDGE)                                               \
    NUMBER(RSMI_SENSOR_JUNCTION, 1, RSMI_TEMP_TYPE_JUNCTION)                                       \
    NUMBER(RSMI_TEMPERATURE_NOW, 0, RSMI_TEMP_CURRENT)                                             \
    NUMBER(RSMI_BLOCK_MEMORY, 1, RSMI_GPU_BLOCK_UMC)                                               \
    NUMBER(RSMI_ECC_NONE, 0, RSMI_RAS_ERR_STATE_NONE)                                              \
    NUMBER(RSMI_ECC_DISABLED, 1, RSMI_RAS_ERR_STATE_DISABLED)                                      \
    NUMBER(RSMI_ECC_ENABLED, 6, RSMI_RAS_ERR_STATE_ENABLED)

/* From rocBLAS 4.0 on: rocblas_default_math and rocblas_xf32_xdl_math_op. */
enum { ROCBLAS_MATH_DEFAULT = 0, ROCBLAS_MATH_XF32 = 1 };

#define HIP_ENUMERATOR(ours, value, theirs) ours = (value),
enum {
    HIP_RUNTIME_NUMBERS(HIP_ENUMERATOR)
    HIP_ROCBLAS_NUMBERS(HIP_ENUMERATOR)
    HIP_LT_NUMBERS(HIP_ENUMERATOR)
    HIP_ROCSPARSE_NUMBERS(HIP_ENUMERATOR)
    HIP_RSMI_NUMBERS(HIP_ENUMERATOR)
};

/* Errors of ROCm SMI, under AMD's own names. A file that needs them makes enumerators from this
 * list. */
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
