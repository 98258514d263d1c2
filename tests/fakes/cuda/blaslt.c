/* SPDX-License-Identifier: Apache-2.0 */
/* blaslt.c - a fake of libcublasLt.so. */
#include "tests/fakes/lt.h"

#include "backends/cuda/symbols.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
CUDA_CUBLASLT_SYMBOLS(DECLARE, DECLARE)
FAKE_API cuda_code cuCtxGetCurrent(cuda_context *context);

enum {
    OK = 0,
    NOT_INITIALIZED = 1,
    ALLOC_FAILED = 3,
    INVALID = 7,
    EXECUTION = 13,
    NOT_SUPPORTED = 15
};

struct cublasLtContext {
    fake_context *context;
};

typedef struct preference {
    uint64_t workspace_max;
} preference;

static fake_lt_layout *layout_of(cublaslt_layout layout)
{
    return (fake_lt_layout *)(void *)layout;
}
static fake_lt_matmul *matmul_of(cublaslt_matmul matmul)
{
    return (fake_lt_matmul *)(void *)matmul;
}

cublas_code cublasLtCreate(cublaslt_handle *handle)
{
    cuda_context current = NULL;
    if (cuCtxGetCurrent(&current) != 0 || !current) {
        return NOT_INITIALIZED;
    }
    *handle = calloc(1, sizeof **handle);
    if (!*handle) {
        return ALLOC_FAILED;
    }
    (*handle)->context = (fake_context *)(void *)current;
    return OK;
}

cublas_code cublasLtDestroy(cublaslt_handle handle)
{
    free(handle);
    return handle ? OK : NOT_INITIALIZED;
}

size_t cublasLtGetVersion(void)
{
    return 130000;
}

const char *cublasLtGetStatusName(cublas_code code)
{
    return code == OK ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS of the test's fake cuBLASLt";
}

cublas_code cublasLtMatmulDescCreate(cublaslt_matmul *matmul, cublas_enum compute,
                                     cublas_enum scale_type)
{
    const bool wide = compute == CUBLAS_IN_F64;
    if ((!wide && compute != CUBLAS_IN_F32 && compute != CUBLAS_IN_TF32) ||
        scale_type != (cublas_enum)(wide ? CUBLAS_TYPE_F64 : CUBLAS_TYPE_F32)) {
        return INVALID;
    }
    fake_lt_matmul *made = calloc(1, sizeof *made);
    if (made) {
        made->wide = wide;
    }
    *matmul = (cublaslt_matmul)(void *)made;
    return made ? OK : ALLOC_FAILED;
}

cublas_code cublasLtMatmulDescDestroy(cublaslt_matmul matmul)
{
    free(matmul);
    return OK;
}

cublas_code cublasLtMatmulDescSetAttribute(cublaslt_matmul matmul, cublas_enum attribute,
                                           const void *value, size_t bytes)
{
    uint32_t trans = 0;
    if (bytes != sizeof trans) {
        return INVALID;
    }
    memcpy(&trans, value, sizeof trans);
    if (trans > 1 || (attribute != CUBLASLT_TRANS_A && attribute != CUBLASLT_TRANS_B)) {
        return INVALID;
    }
    *(attribute == CUBLASLT_TRANS_A ? &matmul_of(matmul)->trans_a : &matmul_of(matmul)->trans_b) =
        trans == CUBLAS_TRANS;
    return OK;
}

cublas_code cublasLtMatrixLayoutCreate(cublaslt_layout *layout, cublas_enum type, uint64_t rows,
                                       uint64_t cols, int64_t ld)
{
    const fake_type known = type == CUBLAS_TYPE_F16    ? FAKE_F16
                            : type == CUBLAS_TYPE_BF16 ? FAKE_BF16
                            : type == CUBLAS_TYPE_F32  ? FAKE_F32
                                                       : FAKE_F64;
    if ((known == FAKE_F64 && type != CUBLAS_TYPE_F64) || ld < (int64_t)rows) {
        return INVALID;
    }
    fake_lt_layout *made = calloc(1, sizeof *made);
    if (made) {
        *made = (fake_lt_layout){.type = known, .rows = rows, .cols = cols, .ld = ld, .batch = 1};
    }
    *layout = (cublaslt_layout)(void *)made;
    return made ? OK : ALLOC_FAILED;
}

cublas_code cublasLtMatrixLayoutDestroy(cublaslt_layout layout)
{
    free(layout);
    return OK;
}

cublas_code cublasLtMatrixLayoutSetAttribute(cublaslt_layout layout, cublas_enum attribute,
                                             const void *value, size_t bytes)
{
    if (attribute == CUBLASLT_BATCH && bytes == sizeof(int32_t)) {
        memcpy(&layout_of(layout)->batch, value, bytes);
        return OK;
    }
    if (attribute == CUBLASLT_STRIDE && bytes == sizeof(int64_t)) {
        memcpy(&layout_of(layout)->stride, value, bytes);
        return OK;
    }
    return INVALID;
}

cublas_code cublasLtMatmulPreferenceCreate(cublaslt_preference *made)
{
    *made = (cublaslt_preference)calloc(1, sizeof(preference));
    return *made ? OK : ALLOC_FAILED;
}

cublas_code cublasLtMatmulPreferenceDestroy(cublaslt_preference made)
{
    free(made);
    return OK;
}

cublas_code cublasLtMatmulPreferenceSetAttribute(cublaslt_preference made, cublas_enum attribute,
                                                 const void *value, size_t bytes)
{
    if (attribute == CUBLASLT_WORKSPACE_MAX && bytes == sizeof(uint64_t)) {
        memcpy(&((preference *)(void *)made)->workspace_max, value, bytes);
        return OK;
    }
    return attribute >= CUBLASLT_REDUCTIONS && attribute <= CUBLASLT_ALIGNMENT_D &&
                   bytes == sizeof(uint32_t)
               ? OK
               : INVALID;
}

static bool product_of(cublaslt_matmul matmul, cublaslt_layout a, cublaslt_layout b,
                       cublaslt_layout c, cublaslt_layout d, fake_product *out)
{
    const fake_lt_call call = {matmul_of(matmul), layout_of(a), layout_of(b), layout_of(c),
                               layout_of(d)};
    return fake_lt_product(&call, out);
}

cublas_code cublasLtMatmulAlgoGetHeuristic(cublaslt_handle handle, cublaslt_matmul matmul,
                                           cublaslt_layout a, cublaslt_layout b, cublaslt_layout c,
                                           cublaslt_layout d, cublaslt_preference made, int asked,
                                           cublaslt_choice *choices, int *given)
{
    fake_product product;
    if (!handle || !made || asked < 1) {
        return INVALID;
    }
    *given = 0;
    if (!product_of(matmul, a, b, c, d, &product)) {
        return NOT_SUPPORTED;
    }
    *given = 1;
    *choices = (cublaslt_choice){.algorithm = {{0xfa4e}}, .workspace = 256, .waves = 1.0f};
    return OK;
}

cublas_code cublasLtMatmul(cublaslt_handle handle, cublaslt_matmul matmul, const void *alpha,
                           const void *a, cublaslt_layout a_layout, const void *b,
                           cublaslt_layout b_layout, const void *beta, const void *c,
                           cublaslt_layout c_layout, void *d, cublaslt_layout d_layout,
                           const cublaslt_algorithm *algorithm, void *workspace,
                           size_t workspace_bytes, cuda_stream stream)
{
    fake_product product;
    if (!handle || !product_of(matmul, a_layout, b_layout, c_layout, d_layout, &product) ||
        !algorithm || algorithm->data[0] != 0xfa4e || workspace_bytes < 256 ||
        !fake_is_device(workspace, workspace_bytes) || (uintptr_t)workspace % 256) {
        return INVALID;
    }
    const bool wide = product.type == FAKE_F64;
    product.alpha = wide ? *(const double *)alpha : (double)*(const float *)alpha;
    product.beta = wide ? *(const double *)beta : (double)*(const float *)beta;
    product.a.at = a;
    product.b.at = b;
    product.c.at = c;
    product.d = d;
    const int code = fake_product_submit(
        stream ? (fake_stream *)(void *)stream : fake_stream_default(handle->context), &product);
    return code == FAKE_OK ? OK : code == FAKE_INVALID_VALUE ? INVALID : EXECUTION;
}
