/* SPDX-License-Identifier: Apache-2.0 */
/* hipblaslt.c - a fake of libhipblaslt.so. */
#include "tests/fakes/lt.h"

#include "backends/hip/numbers.h"
#include "backends/hip/symbols.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE(result, name, parameters) FAKE_API result name parameters;
HIP_LT_SYMBOLS(DECLARE, DECLARE)
fake_context *fake_hip_context(void);

enum {
    OK = 0,
    NOT_INITIALIZED = 1,
    ALLOC_FAILED = 2,
    INVALID = 3,
    EXECUTION = 5,
    NOT_SUPPORTED = 7
};

typedef struct lt_handle {
    fake_context *context;
} lt_handle;

typedef struct preference {
    uint64_t workspace_max;
} preference;

static fake_lt_layout *layout_of(hiplt_layout layout)
{
    return (fake_lt_layout *)(void *)layout;
}
static fake_lt_matmul *matmul_of(hiplt_matmul matmul)
{
    return (fake_lt_matmul *)(void *)matmul;
}

hiplt_code hipblasLtCreate(hiplt_handle *handle)
{
    fake_context *context = fake_hip_context();
    lt_handle *made = context ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        return context ? ALLOC_FAILED : NOT_INITIALIZED;
    }
    made->context = context;
    *handle = made;
    return OK;
}

hiplt_code hipblasLtDestroy(const hiplt_handle handle)
{
    free(handle);
    return handle ? OK : NOT_INITIALIZED;
}

hiplt_code hipblasLtGetVersion(hiplt_handle handle, int *version)
{
    *version = 1200;
    return handle ? OK : NOT_INITIALIZED;
}

hiplt_code hipblasLtMatmulDescCreate(hiplt_matmul *matmul, hiplt_enum compute,
                                     hiplt_enum scale_type)
{
    const bool wide = compute == HIPLT_COMPUTE_F64;
    if ((!wide && compute != HIPLT_COMPUTE_F32 && compute != HIPLT_COMPUTE_XF32) ||
        scale_type != (hiplt_enum)(wide ? HIPLT_F64 : HIPLT_F32)) {
        return INVALID;
    }
    fake_lt_matmul *made = calloc(1, sizeof *made);
    if (made) {
        made->wide = wide;
    }
    *matmul = (hiplt_matmul)(void *)made;
    return made ? OK : ALLOC_FAILED;
}

hiplt_code hipblasLtMatmulDescDestroy(const hiplt_matmul matmul)
{
    free(matmul);
    return OK;
}

hiplt_code hipblasLtMatmulDescSetAttribute(hiplt_matmul matmul, hiplt_enum attribute,
                                           const void *value, size_t bytes)
{
    int32_t trans = 0;
    if (bytes != sizeof trans) {
        return INVALID;
    }
    memcpy(&trans, value, sizeof trans);
    if ((trans != HIPLT_NO_TRANS && trans != HIPLT_TRANS) ||
        (attribute != HIPLT_TRANS_A && attribute != HIPLT_TRANS_B)) {
        return INVALID;
    }
    *(attribute == HIPLT_TRANS_A ? &matmul_of(matmul)->trans_a : &matmul_of(matmul)->trans_b) =
        trans == HIPLT_TRANS;
    return OK;
}

hiplt_code hipblasLtMatrixLayoutCreate(hiplt_layout *layout, hiplt_enum type, uint64_t rows,
                                       uint64_t cols, int64_t ld)
{
    const fake_type known = type == HIPLT_F16    ? FAKE_F16
                            : type == HIPLT_BF16 ? FAKE_BF16
                            : type == HIPLT_F32  ? FAKE_F32
                                                 : FAKE_F64;
    if ((known == FAKE_F64 && type != HIPLT_F64) || ld < (int64_t)rows) {
        return INVALID;
    }
    fake_lt_layout *made = calloc(1, sizeof *made);
    if (made) {
        *made = (fake_lt_layout){.type = known, .rows = rows, .cols = cols, .ld = ld, .batch = 1};
    }
    *layout = (hiplt_layout)(void *)made;
    return made ? OK : ALLOC_FAILED;
}

hiplt_code hipblasLtMatrixLayoutDestroy(const hiplt_layout layout)
{
    free(layout);
    return OK;
}

hiplt_code hipblasLtMatrixLayoutSetAttribute(hiplt_layout layout, hiplt_enum attribute,
                                             const void *value, size_t bytes)
{
    if (attribute == HIPLT_BATCH && bytes == sizeof(int32_t)) {
        memcpy(&layout_of(layout)->batch, value, bytes);
        return OK;
    }
    if (attribute == HIPLT_STRIDE && bytes == sizeof(int64_t)) {
        memcpy(&layout_of(layout)->stride, value, bytes);
        return OK;
    }
    return INVALID;
}

hiplt_code hipblasLtMatmulPreferenceCreate(hiplt_preference *made)
{
    *made = (hiplt_preference)calloc(1, sizeof(preference));
    return *made ? OK : ALLOC_FAILED;
}

hiplt_code hipblasLtMatmulPreferenceDestroy(const hiplt_preference made)
{
    free(made);
    return OK;
}

hiplt_code hipblasLtMatmulPreferenceSetAttribute(hiplt_preference made, hiplt_enum attribute,
                                                 const void *value, size_t bytes)
{
    if (attribute == HIPLT_WORKSPACE_MAX && bytes == sizeof(uint64_t)) {
        memcpy(&((preference *)(void *)made)->workspace_max, value, bytes);
        return OK;
    }
    return INVALID;
}

static bool product_of(hiplt_matmul matmul, hiplt_layout a, hiplt_layout b, hiplt_layout c,
                       hiplt_layout d, fake_product *out)
{
    const fake_lt_call call = {matmul_of(matmul), layout_of(a), layout_of(b), layout_of(c),
                               layout_of(d)};
    return fake_lt_product(&call, out);
}

hiplt_code hipblasLtMatmulAlgoGetHeuristic(hiplt_handle handle, hiplt_matmul matmul, hiplt_layout a,
                                           hiplt_layout b, hiplt_layout c, hiplt_layout d,
                                           hiplt_preference made, int asked, hiplt_choice choices[],
                                           int *given)
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
    choices[0] = (hiplt_choice){.algorithm = {.data = {0xfa}}, .workspace = 256, .waves = 1.0f};
    return OK;
}

hiplt_code hipblasLtMatmul(hiplt_handle handle, hiplt_matmul matmul, const void *alpha,
                           const void *a, hiplt_layout a_layout, const void *b,
                           hiplt_layout b_layout, const void *beta, const void *c,
                           hiplt_layout c_layout, void *d, hiplt_layout d_layout,
                           const hiplt_algorithm *algorithm, void *workspace,
                           size_t workspace_bytes, hip_stream stream)
{
    fake_product product;
    if (!handle || !product_of(matmul, a_layout, b_layout, c_layout, d_layout, &product) ||
        !algorithm || algorithm->data[0] != 0xfa || workspace_bytes < 256 ||
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
    const int code =
        fake_product_submit(stream ? (fake_stream *)(void *)stream
                                   : fake_stream_default(((lt_handle *)handle)->context),
                            &product);
    return code == FAKE_OK ? OK : code == FAKE_INVALID_VALUE ? INVALID : EXECUTION;
}
