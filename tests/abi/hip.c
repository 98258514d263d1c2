/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hip.c - compiles if every entry of the HIP backend's symbol lists has the type that AMD's headers
 * declare, and its numbers match theirs. With ABI_PLANT one entry is wrong, and it must not
 * compile. ABI_ROCBLAS, ABI_HIPBLASLT, ABI_ROCSPARSE and ABI_RCCL add the libraries whose headers
 * are installed.
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <hip/library_types.h>
#if defined(ABI_ROCBLAS)
#include <rocblas/rocblas.h>
#endif
#if defined(ABI_HIPBLASLT)
#include <hipblaslt/hipblaslt.h>
#endif
#if defined(ABI_ROCSPARSE) /* some of the headers that rocsparse.h includes are no C */
#include <rocsparse/internal/generic/rocsparse_spmv.h>
#include <rocsparse/rocsparse-auxiliary.h>
#endif
#if defined(ABI_RCCL)
#include <rccl/rccl.h>
#endif

#include "backends/hip/symbols.h"

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " is not as large as " #theirs)
#define SAME_PLACE(ours, field, theirs, their_field)                                               \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field) &&                       \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->their_field),           \
                   #theirs "." #their_field " lies elsewhere")

/* ---- the properties, of which only the architecture's name is read --------------------------- */

#if HIP_VERSION_MAJOR >= 6
enum { ARCHITECTURE_AT = HIP_ARCHITECTURE_AT_R0600 };
#else
enum { ARCHITECTURE_AT = HIP_ARCHITECTURE_AT_5 };
#endif
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == ARCHITECTURE_AT, "gcnArchName moved");
_Static_assert(sizeof(((hipDeviceProp_t *)0)->gcnArchName) == HIP_ARCHITECTURE_BYTES,
               "gcnArchName has another size");
_Static_assert(sizeof(hipDeviceProp_t) <= HIP_PROPERTIES_ROOM, "the properties need more room");
SAME_SIZE(hip_uuid, hipUUID);

/* ---- numbers --------------------------------------------------------------------------------- */

#define SAME_NUMBER(ours, value, theirs)                                                           \
    _Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs);
#include "backends/hip/numbers.h"
HIP_RUNTIME_NUMBERS(SAME_NUMBER)
#if defined(ABI_ROCBLAS)
HIP_ROCBLAS_NUMBERS(SAME_NUMBER)
#endif
#if defined(ABI_HIPBLASLT)
HIP_LT_NUMBERS(SAME_NUMBER)
#endif
#if defined(ABI_ROCSPARSE)
HIP_ROCSPARSE_NUMBERS(SAME_NUMBER)
#endif

/* ---- functions ------------------------------------------------------------------------------- */

/* The vendor's structs have no tags: these names keep pointers to them distinct. */
#if defined(ABI_ROCBLAS)
SAME_SIZE(rocblas_f32_pair, rocblas_float_complex);
#define rocblas_f32_pair rocblas_float_complex
SAME_SIZE(rocblas_f64_pair, rocblas_double_complex);
#define rocblas_f64_pair rocblas_double_complex
#endif
#if defined(ABI_HIPBLASLT)
SAME_SIZE(hiplt_algorithm, hipblasLtMatmulAlgo_t);
SAME_SIZE(hiplt_choice, hipblasLtMatmulHeuristicResult_t);
SAME_PLACE(hiplt_choice, algorithm, hipblasLtMatmulHeuristicResult_t, algo);
SAME_PLACE(hiplt_choice, workspace, hipblasLtMatmulHeuristicResult_t, workspaceSize);
SAME_PLACE(hiplt_choice, state, hipblasLtMatmulHeuristicResult_t, state);
SAME_PLACE(hiplt_choice, waves, hipblasLtMatmulHeuristicResult_t, wavesCount);
#define hiplt_matmul     hipblasLtMatmulDesc_t
#define hiplt_layout     hipblasLtMatrixLayout_t
#define hiplt_preference hipblasLtMatmulPreference_t
#define hiplt_choice     hipblasLtMatmulHeuristicResult_t
#define hiplt_algorithm  hipblasLtMatmulAlgo_t
#endif

/* This declaration changed, but not for its callers. */
#if HIP_VERSION_MAJOR >= 7
#define hiprtc_texts const char *const *
#endif

/* Required functions must be declared (taking the size needs that), and every one must match: a
 * second declaration of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
#define NOTHING(result, name, parameters)

HIP_RUNTIME_SYMBOLS(DECLARED, NOTHING)
HIP_RTC_SYMBOLS(DECLARED, NOTHING)
HIP_RUNTIME_SYMBOLS(AGREES, AGREES)
HIP_RTC_SYMBOLS(AGREES, AGREES)
#if defined(ABI_ROCBLAS)
HIP_ROCBLAS_SYMBOLS(DECLARED, NOTHING)
HIP_ROCBLAS_SYMBOLS(AGREES, AGREES)
#endif
#if defined(ABI_HIPBLASLT)
HIP_LT_SYMBOLS(DECLARED, NOTHING)
HIP_LT_SYMBOLS(AGREES, AGREES)
#endif
#if defined(ABI_ROCSPARSE)
HIP_ROCSPARSE_SYMBOLS(DECLARED, NOTHING)
HIP_ROCSPARSE_SYMBOLS(AGREES, AGREES)
#endif

#if defined(ABI_RCCL)
SIMT_COMM_CODES(SAME_NUMBER, nccl)
SIMT_COMM_NUMBERS(SAME_NUMBER, nccl)
#if NCCL_VERSION_CODE >= 21400
SIMT_COMM_CODES_NEWER(SAME_NUMBER, nccl)
#endif
SAME_SIZE(rccl_id, ncclUniqueId);
#define rccl_id ncclUniqueId
HIP_RCCL_SYMBOLS(DECLARED, NOTHING)
HIP_RCCL_SYMBOLS(AGREES, AGREES)
#endif

#if defined(ABI_PLANT)
AGREES(hip_code, hipMalloc, (void **address, unsigned bytes))
#endif
