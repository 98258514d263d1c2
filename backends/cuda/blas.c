/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - opens cuBLAS and cuBLASLt, keeps a handle for each stream, and dispatches operations. */
#include "backends/cuda/blas.h"

#include <stdio.h>
#include <string.h>

/* ---- the libraries --------------------------------------------------------------------------- */

cublas_api cuda_blas;
cublaslt_api cuda_blaslt;

typedef struct opened {
    pthread_once_t once;
    loader_library library;
    char label[ISO_NAME_MAX];
} opened;

static opened the_blas = {
    .once = PTHREAD_ONCE_INIT,
    .library = {.title = "cuBLAS",
                .where = &cuda_where,
                .names = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                LOADER_FUNCTIONS(cuda_blas, CUDA_CUBLAS_SYMBOLS)},
};
static opened the_lt = {
    .once = PTHREAD_ONCE_INIT,
    .library = {.title = "cuBLASLt",
                .where = &cuda_where,
                .names = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"},
                LOADER_FUNCTIONS(cuda_blaslt, CUDA_CUBLASLT_SYMBOLS)},
};

static void open_blas(void)
{
    int part[3] = {0, 0, 0};
    if (loader_open(&the_blas.library)) {
        for (int i = 0; i < 3; i++) {
            (void)cuda_blas.cublasGetProperty((cublas_enum)(CUBLAS_VERSION_MAJOR + i), &part[i]);
        }
        (void)snprintf(the_blas.label, sizeof the_blas.label, "cuBLAS %d.%d.%d", part[0], part[1],
                       part[2]);
    }
}

/* 13.1.0 is 130100; before version 12 it had one digit less. */
static void open_lt(void)
{
    if (loader_open(&the_lt.library)) {
        const long long version = (long long)cuda_blaslt.cublasLtGetVersion();
        const long long unit = version < 100000 ? 1000 : 10000;
        (void)snprintf(the_lt.label, sizeof the_lt.label, "cuBLASLt %lld.%lld.%lld", version / unit,
                       version % unit / 100, version % 100);
    }
}

static const char *label_of(opened *which, void (*open)(void))
{
    (void)pthread_once(&which->once, open);
    return which->library.handle ? which->label : NULL;
}

const char *cuda_blas_label(void)
{
    return label_of(&the_blas, open_blas);
}

const char *cuda_blaslt_label(void)
{
    return label_of(&the_lt, open_lt);
}

static iso_status need(const char *label, const opened *which)
{
    return label ? ISO_OK : loader_fail(&which->library, ISO_UNSUPPORTED, "variant vendor: ");
}

/* ---- helpers of all operations --------------------------------------------------------------- */

const cublas_enum cuda_blas_types[] = {
    [ISO_F16] = CUBLAS_TYPE_F16,
    [ISO_BF16] = CUBLAS_TYPE_BF16,
    [ISO_F32] = CUBLAS_TYPE_F32,
    [ISO_F64] = CUBLAS_TYPE_F64,
};

/* NVIDIA's default: 32 MiB from Hopper on, before that 4 MiB. */
int64_t blas_library_bytes(const cuda_device *device)
{
    return device->architecture >= 90 ? INT64_C(32) << 20 : INT64_C(4) << 20;
}

static const char *code_name(cublas_code code)
{
    if (cuda_blas.cublasGetStatusName) {
        return cuda_blas.cublasGetStatusName(code);
    }
    return cuda_blaslt.cublasLtGetStatusName ? cuda_blaslt.cublasLtGetStatusName(code)
                                             : "an unnamed status";
}

/* The library hides the driver's error: a lost device is detected by querying the stream. */
iso_status cuda_blas_check(cuda_queue *queue, cublas_code code, const char *call)
{
    if (code == CUBLAS_DONE) {
        return ISO_OK;
    }
    const cuda_code driver = cu.cuStreamQuery(queue->stream);
    if (cuda_status(driver) == ISO_DEVICE_LOST) {
        return cuda_check(queue->device, driver, "%s gives %s (%u), and cuStreamQuery", call,
                          code_name(code), code);
    }
    return cuda_host->fail(code == CUBLAS_ALLOC_FAILED ? ISO_NO_MEMORY : ISO_BACKEND,
                           "%s gives %s (%u)", call, code_name(code), code);
}

/* Setting the stream resets the workspace: it is set once, when the handle is made. */
static iso_status make_handle(cuda_queue *queue, blas_stream *own)
{
    cublas_handle handle = NULL;
    iso_status status = cuda_blas_check(queue, cuda_blas.cublasCreate_v2(&handle), "cublasCreate");
    if (status) {
        return status;
    }
    cublas_code code = cuda_blas.cublasSetStream_v2(handle, queue->stream);
    if (code == CUBLAS_DONE) {
        code = cuda_blas.cublasSetAtomicsMode(handle, CUBLAS_NO_ATOMICS);
    }
    if (code == CUBLAS_DONE && cuda_blas.cublasSetEmulationStrategy) {
        code = cuda_blas.cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_DEFAULT);
    }
    status = cuda_blas_check(queue, code, "cublasSetStream");
    if (status) {
        (void)cuda_blas.cublasDestroy_v2(handle);
        return status;
    }
    own->handle = handle;
    return ISO_OK;
}

iso_status cuda_blas_handle(simt_stream *stream, const iso_op *op, cublas_enum pointers,
                            cublas_handle *out)
{
    cuda_queue *queue = blas_queue(stream);
    blas_stream *own = simt_stream_vendor(stream, (int64_t)sizeof *own);
    if (!own) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = own->handle ? ISO_OK : make_handle(queue, own);
    if (status) {
        return status;
    }
    cublas_code code = cuda_blas.cublasSetPointerMode_v2(own->handle, pointers);
    if (code == CUBLAS_DONE) {
        code =
            cuda_blas.cublasSetMathMode(own->handle, CUBLAS_MATH_DEFAULT | CUBLAS_MATH_FULL_SUMS);
    }
    if (code == CUBLAS_DONE && op->workspace.memory) {
        code = cuda_blas.cublasSetWorkspace_v2(own->handle, blas_workspace(op),
                                               (size_t)(op->workspace_bytes - BLAS_CONSTANT_BYTES));
    }
    *out = own->handle;
    return cuda_blas_check(queue, code, "cublasSetWorkspace");
}

/* ---- the table ------------------------------------------------------------------------------- */

/* cuBLASLt has no product with k = 0. */
static bool needs_k(const iso_gemm_op *op)
{
    return op->library == 1;
}

static bool is_lt(const iso_op *op)
{
    return op->kind == ISO_OP_GEMM && op->gemm->library == 1;
}

static const simt_vendor_operation *const operations[] = {
    [ISO_OP_GEMM] = &cuda_blas_gemm,
    [ISO_OP_TRANSPOSE] = &cuda_blas_transpose,
    [ISO_OP_REDUCE] = &cuda_blas_reduce,
};

static const simt_vendor_operation *row_of(const iso_op *op)
{
    if (is_lt(op)) {
        return &cuda_blaslt_gemm;
    }
    return (size_t)op->kind < sizeof operations / sizeof operations[0] ? operations[op->kind]
                                                                       : NULL;
}

static iso_status supports(simt_device *device, const iso_op *op)
{
    const simt_vendor_operation *row = row_of(op);
    if (!row) {
        return cuda_host->fail(ISO_UNSUPPORTED, "cuBLAS has no operation of kind %d",
                               (int)op->kind);
    }
    if (op->kind == ISO_OP_GEMM && op->gemm->library > 1) {
        return cuda_host->fail(ISO_UNSUPPORTED,
                               "gemm: variant vendor: library is %d, and there is no further "
                               "library than cuBLAS (0) and cuBLASLt (1)",
                               op->gemm->library);
    }
    const iso_status status =
        is_lt(op) ? need(cuda_blaslt_label(), &the_lt) : need(cuda_blas_label(), &the_blas);
    return status ? status : row->supports(device, op);
}

static iso_status workspace(simt_device *device, const iso_op *op, int64_t *bytes)
{
    const simt_vendor_operation *row = row_of(op);
    *bytes = row->workspace ? row->workspace(op)
                            : BLAS_CONSTANT_BYTES + blas_library_bytes(blas_device_of(device));
    return ISO_OK;
}

static iso_status execute(simt_stream *stream, const iso_op *op)
{
    cuda_scope scope = cuda_enter(blas_queue(stream)->device);
    iso_status status =
        cuda_check(blas_queue(stream)->device, scope.code, "cuCtxPushCurrent before a vendor call");
    if (!status) {
        status = row_of(op)->execute(stream, op);
    }
    cuda_leave(scope);
    return status;
}

static iso_status prepare(simt_stream *stream, const iso_op *op)
{
    cublas_handle handle = NULL;
    cuda_scope scope = cuda_enter(blas_queue(stream)->device);
    iso_status status =
        cuda_check(blas_queue(stream)->device, scope.code, "cuCtxPushCurrent before a vendor call");
    if (!status) {
        const simt_vendor_operation *row = row_of(op);
        status = row->prepare ? row->prepare(stream, op)
                              : cuda_blas_handle(stream, op, CUBLAS_POINTERS_HOST, &handle);
    }
    cuda_leave(scope);
    return status;
}

static void describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    (void)device;
    const char *label = is_lt(op) ? cuda_blaslt_label() : cuda_blas_label();
    (void)snprintf(out->library, sizeof out->library, "%s", label ? label : "");
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", row_of(op)->name(op));
}

static void stream_close(simt_stream *stream)
{
    blas_stream *own = stream->vendor;
    cuda_scope scope = cuda_enter(blas_queue(stream)->device);
    if (own->handle && scope.code == CUDA_DONE) {
        (void)cuda_blas.cublasDestroy_v2(own->handle);
    }
    cuda_leave(scope);
    cuda_blaslt_stream_close(own);
    cuda_host->free(own);
    stream->vendor = NULL;
}

static void device_close(simt_device *device)
{
    blas_device *own = device->vendor;
    cuda_scope scope = cuda_enter(blas_device_of(device));
    if (scope.code == CUDA_DONE) {
        cuda_blaslt_device_close(own);
    }
    cuda_leave(scope);
    cuda_host->free(own);
    device->vendor = NULL;
}

static iso_status property(simt_device *device, int32_t index, iso_property *out)
{
    (void)device;
    if (index > 1) {
        return ISO_NOT_READY;
    }
    const char *label = index == 0 ? cuda_blas_label() : cuda_blaslt_label();
    const loader_library *library = index == 0 ? &the_blas.library : &the_lt.library;
    (void)snprintf(out->name, sizeof out->name, "%s", library->title);
    loader_describe(library, label ? strchr(label, ' ') + 1 : NULL, out->value, sizeof out->value);
    return ISO_OK;
}

const simt_vendor cuda_vendor = {
    .needs_k = needs_k,
    .supports = supports,
    .workspace = workspace,
    .execute = execute,
    .prepare = prepare,
    .describe = describe,
    .device_close = device_close,
    .stream_close = stream_close,
    .property = property,
};
