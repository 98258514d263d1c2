/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.c - a part of isomer-try that makes those calls of AMD's libraries which may end the process.
 * The backend runs it before it makes the same calls in the caller's process:
 *
 *   hip hiprtc LIBRARY ARCHITECTURE         compiles a kernel for the architecture
 *   hip rocblas RUNTIME LIBRARY DEVICE      multiplies 1 x 1 matrices on the device
 *   hip hipblaslt RUNTIME LIBRARY DEVICE    makes a handle on the device
 *   hip rocsparse RUNTIME LIBRARY DEVICE    multiplies a 1 x 1 matrix and a vector on the device
 */
#include "backends/hip/numbers.h"
#include "backends/hip/options.h"
#include "backends/hip/symbols.h"

#include "backends/trial/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS(result, name, parameters) static result(*name) parameters;
#define NEEDED(result, name, parameters)  {#name, (void *)&name},
#define NO_ADDRESS(result, name, parameters)

/* ---- the compiler ---------------------------------------------------------------------------- */

HIP_RTC_SYMBOLS(ADDRESS, NO_ADDRESS)

static int try_compiler(const char *path, const char *architecture)
{
    static const child_symbol functions[] = {HIP_RTC_SYMBOLS(NEEDED, NO_ADDRESS)};
    static const char text[] =
        "extern \"C\" __global__ void __launch_bounds__(64) tried(float *x)\n"
        "{\n"
        "    x[threadIdx.x] = fmaf(x[threadIdx.x], 2.0f, 1.0f);\n"
        "}\n";
    if (!child_open(path, functions, sizeof functions / sizeof functions[0])) {
        return 0;
    }
    char target[HIP_ARCHITECTURE_OPTION_MAX];
    (void)snprintf(target, sizeof target, HIP_ARCHITECTURE_OPTION "%s", architecture);
    const char *options[] = {target, HIP_COMPILE_OPTIONS};
    hiprtc_program program = NULL;
    hiprtc_code code = hiprtcCreateProgram(&program, text, "tried", 0, NULL, NULL);
    if (code == HIPRTC_DONE) {
        code = hiprtcCompileProgram(program, (int)(sizeof options / sizeof options[0]), options);
    }
    if (code != HIPRTC_DONE) {
        child_say("compiling for %s gives %s", architecture, hiprtcGetErrorString(code));
        return 0;
    }
    size_t bytes = 0;
    code = hiprtcGetCodeSize(program, &bytes);
    (void)hiprtcDestroyProgram(&program);
    if (code != HIPRTC_DONE || bytes == 0) {
        child_say("compiling for %s produces no code", architecture);
        return 0;
    }
    return 1;
}

/* ---- rocBLAS, hipBLASLt and rocSPARSE -------------------------------------------------------- */

static hip_code (*set_device)(int device);
static hip_code (*allocate)(void **address, size_t bytes);
static hip_code (*copy)(void *to, const void *from, size_t bytes, hip_enum kind);
static hip_code (*synchronize)(void);

static int use_device(const char *runtime, const char *device)
{
    static const child_symbol functions[] = {{"hipSetDevice", (void *)&set_device},
                                             {"hipMalloc", (void *)&allocate},
                                             {"hipMemcpy", (void *)&copy},
                                             {"hipDeviceSynchronize", (void *)&synchronize}};
    if (!child_open(runtime, functions, sizeof functions / sizeof functions[0])) {
        return 0;
    }
    hip_code code = set_device((int)strtol(device, NULL, 10));
    if (code != HIP_DONE) {
        child_say("hipSetDevice(%s) gives %u", device, code);
    }
    return code == HIP_DONE;
}

static rocblas_code (*create)(rocblas_object *handle);
static rocblas_code (*destroy)(rocblas_object handle);
static rocblas_code (*multiply)(rocblas_object handle, rocblas_enum trans_a, rocblas_enum trans_b,
                                int32_t m, int32_t n, int32_t k, const float *alpha, const float *a,
                                int32_t lda, const float *b, int32_t ldb, const float *beta,
                                float *c, int32_t ldc);

static int try_rocblas(const char *runtime, const char *path, const char *device)
{
    static const child_symbol functions[] = {{"rocblas_create_handle", (void *)&create},
                                             {"rocblas_destroy_handle", (void *)&destroy},
                                             {"rocblas_sgemm", (void *)&multiply}};
    if (!use_device(runtime, device) ||
        !child_open(path, functions, sizeof functions / sizeof functions[0])) {
        return 0;
    }
    rocblas_object handle = NULL;
    rocblas_code code = create(&handle);
    if (code != ROCBLAS_DONE) {
        child_say("rocblas_create_handle gives %u", code);
        return 0;
    }
    float host[3] = {3.0f, 5.0f, 0.0f};
    const float one = 1.0f;
    const float zero = 0.0f;
    void *memory = NULL;
    hip_code failed = allocate(&memory, sizeof host);
    if (failed == HIP_DONE) {
        failed = copy(memory, host, sizeof host, HIP_TO_DEVICE);
    }
    float *at = memory;
    if (failed == HIP_DONE) {
        code = multiply(handle, ROCBLAS_NO_TRANS, ROCBLAS_NO_TRANS, 1, 1, 1, &one, at, 1, at + 1, 1,
                        &zero, at + 2, 1);
        failed = synchronize();
    }
    if (failed == HIP_DONE) {
        failed = copy(host, memory, sizeof host, HIP_TO_HOST);
    }
    if (failed != HIP_DONE || code != ROCBLAS_DONE || host[2] != 15.0f) {
        child_say("rocblas_sgemm of 1 x 1 gives %u, the runtime gives %u, and 3 * 5 is %g", code,
                  failed, (double)host[2]);
        return 0;
    }
    (void)destroy(handle);
    return 1;
}

static hiplt_code (*create_lt)(hiplt_handle *handle);
static hiplt_code (*destroy_lt)(const hiplt_handle handle);

static int try_hipblaslt(const char *runtime, const char *path, const char *device)
{
    static const child_symbol functions[] = {{"hipblasLtCreate", (void *)&create_lt},
                                             {"hipblasLtDestroy", (void *)&destroy_lt}};
    if (!use_device(runtime, device) ||
        !child_open(path, functions, sizeof functions / sizeof functions[0])) {
        return 0;
    }
    hiplt_handle handle = NULL;
    hiplt_code code = create_lt(&handle);
    if (code != HIPLT_DONE) {
        child_say("hipblasLtCreate gives %u", code);
        return 0;
    }
    (void)destroy_lt(handle);
    return 1;
}

HIP_ROCSPARSE_SYMBOLS(ADDRESS, NO_ADDRESS)

/* Every array is aligned, as if it had its own allocation. */
typedef struct sparse_sum {
    _Alignas(16) int32_t offsets[2];
    _Alignas(16) int32_t column;
    _Alignas(16) float value;
    _Alignas(16) float x;
    _Alignas(16) float y;
} sparse_sum;

enum { SCRATCH_AT = 256, SCRATCH_BYTES = 65536 };

/* y = value * x, where all are in `at` on the device, before the scratch memory. */
static rocsparse_code multiply_sparse(rocsparse_object handle, sparse_sum *at)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    size_t bytes = 0;
    rocsparse_matrix matrix = NULL;
    rocsparse_vector x = NULL;
    rocsparse_vector y = NULL;
    rocsparse_code code = rocsparse_create_csr_descr(&matrix, 1, 1, 1, at->offsets, &at->column,
                                                     &at->value, ROCSPARSE_I32, ROCSPARSE_I32,
                                                     ROCSPARSE_FROM_ZERO, ROCSPARSE_F32);
    if (code == ROCSPARSE_DONE) {
        code = rocsparse_create_dnvec_descr(&x, 1, &at->x, ROCSPARSE_F32);
    }
    if (code == ROCSPARSE_DONE) {
        code = rocsparse_create_dnvec_descr(&y, 1, &at->y, ROCSPARSE_F32);
    }
    if (code == ROCSPARSE_DONE) {
        code = rocsparse_spmv(handle, ROCSPARSE_NO_TRANS, &one, matrix, x, &zero, y, ROCSPARSE_F32,
                              ROCSPARSE_ALGORITHM, ROCSPARSE_SIZE, &bytes, NULL);
    }
    if (code == ROCSPARSE_DONE && bytes <= SCRATCH_BYTES) {
        bytes = SCRATCH_BYTES;
        code =
            rocsparse_spmv(handle, ROCSPARSE_NO_TRANS, &one, matrix, x, &zero, y, ROCSPARSE_F32,
                           ROCSPARSE_ALGORITHM, ROCSPARSE_COMPUTE, &bytes, (char *)at + SCRATCH_AT);
    }
    if (y) {
        (void)rocsparse_destroy_dnvec_descr(y);
    }
    if (x) {
        (void)rocsparse_destroy_dnvec_descr(x);
    }
    if (matrix) {
        (void)rocsparse_destroy_spmat_descr(matrix);
    }
    return code;
}

static int try_rocsparse(const char *runtime, const char *path, const char *device)
{
    static const child_symbol functions[] = {HIP_ROCSPARSE_SYMBOLS(NEEDED, NO_ADDRESS)};
    if (!use_device(runtime, device) ||
        !child_open(path, functions, sizeof functions / sizeof functions[0])) {
        return 0;
    }
    rocsparse_object handle = NULL;
    rocsparse_code code = rocsparse_create_handle(&handle);
    if (code != ROCSPARSE_DONE) {
        child_say("rocsparse_create_handle gives %u", code);
        return 0;
    }
    sparse_sum host = {.offsets = {0, 1}, .value = 3.0f, .x = 5.0f};
    void *memory = NULL;
    hip_code failed = allocate(&memory, SCRATCH_AT + SCRATCH_BYTES);
    if (failed == HIP_DONE) {
        failed = copy(memory, &host, sizeof host, HIP_TO_DEVICE);
    }
    if (failed == HIP_DONE) {
        code = multiply_sparse(handle, memory);
        failed = synchronize();
    }
    if (failed == HIP_DONE) {
        failed = copy(&host, memory, sizeof host, HIP_TO_HOST);
    }
    if (failed != HIP_DONE || code != ROCSPARSE_DONE || host.y != 15.0f) {
        child_say("rocsparse_spmv of 1 x 1 gives %u, the runtime gives %u, and 3 * 5 is %g", code,
                  failed, (double)host.y);
        return 0;
    }
    (void)rocsparse_destroy_handle(handle);
    return 1;
}

child_answer hip_try(int count, char **words)
{
    int good = 0;
    if (count == 3 && strcmp(words[0], "hiprtc") == 0) {
        good = try_compiler(words[1], words[2]);
    } else if (count == 4 && strcmp(words[0], "rocblas") == 0) {
        good = try_rocblas(words[1], words[2], words[3]);
    } else if (count == 4 && strcmp(words[0], "hipblaslt") == 0) {
        good = try_hipblaslt(words[1], words[2], words[3]);
    } else if (count == 4 && strcmp(words[0], "rocsparse") == 0) {
        good = try_rocsparse(words[1], words[2], words[3]);
    } else {
        return CHILD_CANNOT;
    }
    return good ? CHILD_GOOD : CHILD_BAD;
}
