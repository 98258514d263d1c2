/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - compiles if every entry of the CUDA backend's symbol lists has the type that NVIDIA's
 * headers declare. With ABI_PLANT one entry is wrong, and it must not compile. ABI_CUSPARSE and
 * ABI_NCCL add cuSPARSE and NCCL, whose headers are packages of their own. */
#define __CUDA_API_VERSION_INTERNAL /* declares what newer headers hide behind macros */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <nvrtc.h>
#if defined(ABI_CUSPARSE)
#include <cusparse.h>
#endif
#if defined(ABI_NCCL)
#include <nccl.h>
#endif

#include "backends/cuda/symbols.h"

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " is not as large as " #theirs)
#define SAME_PLACE(ours, field, theirs, their_field)                                               \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field) &&                       \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->their_field),           \
                   #theirs "." #their_field " lies elsewhere")

SAME_SIZE(cuda_uuid, CUuuid);
SAME_SIZE(cuda_copy_2d, CUDA_MEMCPY2D);
SAME_PLACE(cuda_copy_2d, from_x, CUDA_MEMCPY2D, srcXInBytes);
SAME_PLACE(cuda_copy_2d, from_y, CUDA_MEMCPY2D, srcY);
SAME_PLACE(cuda_copy_2d, from_type, CUDA_MEMCPY2D, srcMemoryType);
SAME_PLACE(cuda_copy_2d, from_host, CUDA_MEMCPY2D, srcHost);
SAME_PLACE(cuda_copy_2d, from_device, CUDA_MEMCPY2D, srcDevice);
SAME_PLACE(cuda_copy_2d, from_array, CUDA_MEMCPY2D, srcArray);
SAME_PLACE(cuda_copy_2d, from_pitch, CUDA_MEMCPY2D, srcPitch);
SAME_PLACE(cuda_copy_2d, to_x, CUDA_MEMCPY2D, dstXInBytes);
SAME_PLACE(cuda_copy_2d, to_y, CUDA_MEMCPY2D, dstY);
SAME_PLACE(cuda_copy_2d, to_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_PLACE(cuda_copy_2d, to_host, CUDA_MEMCPY2D, dstHost);
SAME_PLACE(cuda_copy_2d, to_device, CUDA_MEMCPY2D, dstDevice);
SAME_PLACE(cuda_copy_2d, to_array, CUDA_MEMCPY2D, dstArray);
SAME_PLACE(cuda_copy_2d, to_pitch, CUDA_MEMCPY2D, dstPitch);
SAME_PLACE(cuda_copy_2d, width, CUDA_MEMCPY2D, WidthInBytes);
SAME_PLACE(cuda_copy_2d, height, CUDA_MEMCPY2D, Height);
SAME_SIZE(cublaslt_algorithm, cublasLtMatmulAlgo_t);
SAME_SIZE(cublaslt_choice, cublasLtMatmulHeuristicResult_t);
SAME_PLACE(cublaslt_choice, algorithm, cublasLtMatmulHeuristicResult_t, algo);
SAME_PLACE(cublaslt_choice, workspace, cublasLtMatmulHeuristicResult_t, workspaceSize);
SAME_PLACE(cublaslt_choice, state, cublasLtMatmulHeuristicResult_t, state);
SAME_PLACE(cublaslt_choice, waves, cublasLtMatmulHeuristicResult_t, wavesCount);

#define SAME_VALUE(ours, number, theirs)                                                           \
    _Static_assert((int)(theirs) == (number), #ours " is not " #theirs);
CUDA_VALUES(SAME_VALUE)
#if CUDA_VERSION >= 13000
CUDA_VALUES_NEWER(SAME_VALUE)
#endif

#if defined(ABI_CUSPARSE)
#if CUSPARSE_VERSION < 12000 /* older names, and objects that are not const */
#define CUSPARSE_SPMV_CSR_ALG2 CUSPARSE_CSRMV_ALG2
#define cusparse_matrix_in     cusparseSpMatDescr_t
#define cusparse_vector_in     cusparseDnVecDescr_t
#endif
CUDA_CUSPARSE_VALUES(SAME_VALUE)
#endif

/* The vendor's structs have no tags: these names keep pointers to them distinct. */
#define cublaslt_matmul     cublasLtMatmulDesc_t
#define cublaslt_layout     cublasLtMatrixLayout_t
#define cublaslt_preference cublasLtMatmulPreference_t
#define cublaslt_choice     cublasLtMatmulHeuristicResult_t
#define cublaslt_algorithm  cublasLtMatmulAlgo_t

/* Required functions must be declared, and every declared function must match: a second declaration
 * of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = (int)sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
#define NOTHING(result, name, parameters)

CUDA_DRIVER_SYMBOLS(DECLARED, NOTHING)
CUDA_NVRTC_SYMBOLS(DECLARED, NOTHING)
CUDA_CUBLAS_SYMBOLS(DECLARED, NOTHING)
CUDA_CUBLASLT_SYMBOLS(DECLARED, NOTHING)

CUDA_DRIVER_SYMBOLS(AGREES, AGREES)
CUDA_NVRTC_SYMBOLS(AGREES, AGREES)
CUDA_CUBLAS_SYMBOLS(AGREES, AGREES)
CUDA_CUBLASLT_SYMBOLS(AGREES, AGREES)

#if defined(ABI_CUSPARSE)
CUDA_CUSPARSE_SYMBOLS(DECLARED, NOTHING)
CUDA_CUSPARSE_SYMBOLS(AGREES, AGREES)
#endif

#if defined(ABI_NCCL)
SIMT_COMM_CODES(SAME_VALUE, nccl)
SIMT_COMM_NUMBERS(SAME_VALUE, nccl)
#if NCCL_VERSION_CODE >= 21400
SIMT_COMM_CODES_NEWER(SAME_VALUE, nccl)
#endif
SAME_SIZE(nccl_id, ncclUniqueId);
#define nccl_id ncclUniqueId
CUDA_NCCL_SYMBOLS(DECLARED, NOTHING)
CUDA_NCCL_SYMBOLS(AGREES, AGREES)
#endif

#if defined(ABI_PLANT)
AGREES(cuda_code, cuMemAlloc_v2, (cuda_address * address, unsigned bytes))
#endif
