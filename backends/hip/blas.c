/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - opens rocBLAS and hipBLASLt, keeps a handle for each stream, and dispatches operations.
 */
#include "backends/hip/blas.h"

#include <stdio.h>
#include <string.h>

/* ---- the libraries --------------------------------------------------------------------------- */

rocblas_api hip_blas;
hiplt_api hip_blaslt;

typedef struct opened {
    pthread_once_t once;
    loader_library library;
    char label[ISO_NAME_MAX];
} opened;

static opened the_blas = {
    .once = PTHREAD_ONCE_INIT,
    .library = {.title = "rocBLAS",
                .where = &hip_where,
                LOADER_FUNCTIONS(hip_blas, HIP_ROCBLAS_SYMBOLS)},
};
static opened the_lt = {
    .once = PTHREAD_ONCE_INIT,
    .library = {.title = "hipBLASLt",
                .where = &hip_where,
                LOADER_FUNCTIONS(hip_blaslt, HIP_LT_SYMBOLS)},
};

/* A build outside a repository leaves the commit empty: "4.4.1.". */
static void write_label(char *version)
{
    size_t length = strlen(version);
    while (length > 0 && strchr(".- ", version[length - 1])) {
        length--;
    }
    version[length] = '\0';
    (void)snprintf(the_blas.label, sizeof the_blas.label, "rocBLAS%s%.63s", length > 0 ? " " : "",
                   version);
}

/* Only the one made for the runtime's version: another would load a second runtime. */
static void open_blas(void)
{
    const char **names = the_blas.library.names;
    switch (hip_major()) {
    case 5:
        names[0] = "librocblas.so.3";
        names[1] = "librocblas.so.0";
        break;
    case 6:
        names[0] = "librocblas.so.4";
        break;
    default:
        names[0] = "librocblas.so.5";
    }
    if (loader_open(&the_blas.library)) {
        char version[64] = "";
        if (hip_blas.rocblas_get_version_string(version, sizeof version) != ROCBLAS_DONE) {
            version[0] = '\0';
        }
        write_label(version);
    }
}

/* Version 5 has other numbers for its types. */
static void open_lt(void)
{
    loader_library *library = &the_lt.library;
    if (hip_major() < 6) {
        char why[96];
        (void)snprintf(why, sizeof why,
                       "the runtime is HIP %d, and 6 is the first whose hipBLASLt is used",
                       hip_major());
        loader_note(library, "none", why);
        return;
    }
    library->names[0] = hip_major() == 6 ? "libhipblaslt.so.0" : "libhipblaslt.so.1";
    if (loader_open(library)) {
        (void)snprintf(the_lt.label, sizeof the_lt.label, "hipBLASLt");
    }
}

static const char *label_of(opened *which, void (*open)(void))
{
    (void)pthread_once(&which->once, open);
    return which->library.handle ? which->label : NULL;
}

const char *hip_blas_label(void)
{
    return label_of(&the_blas, open_blas);
}

const char *hip_blaslt_label(void)
{
    return label_of(&the_lt, open_lt);
}

/* Whether the library exists, and does not end a process that uses it on this device: rocBLAS
 * aborts if it has no kernels for the chip. */
static iso_status need(simt_device *device, bool lt)
{
    const char *label = lt ? hip_blaslt_label() : hip_blas_label();
    const opened *which = lt ? &the_lt : &the_blas;
    hip_device *native = blas_device_of(device);
    if (!label) {
        return loader_fail(&which->library, ISO_UNSUPPORTED, "variant vendor: ");
    }
    if (atomic_load(&native->works[lt])) {
        return ISO_OK;
    }
    char index[16];
    char key[HIP_ARCHITECTURE_BYTES + ISO_NAME_MAX + 32];
    char why[ISO_REASON_MAX / 2];
    (void)snprintf(index, sizeof index, "%d", native->index);
    (void)snprintf(key, sizeof key, "%s %s HIP %d", label, native->architecture, hip_version);
    const char *const arguments[] = {
        "hip", lt ? "hipblaslt" : "rocblas", hip_runtime_library.path, which->library.path, index,
        NULL};
    if (!hip_survives(arguments, key, why, sizeof why)) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "variant vendor: %s (%s) was tried on device %d (%s) in a process of "
                              "its own, since it ends a process over a chip that it has no kernels "
                              "for: %s; use tiled",
                              label, which->library.path, native->index, native->architecture, why);
    }
    atomic_store(&native->works[lt], 1);
    return ISO_OK;
}

/* ---- helpers of all operations --------------------------------------------------------------- */

/* The library hides the runtime's error: a lost device is detected by querying the stream. */
iso_status hip_blas_check(hip_queue *queue, rocblas_code code, const char *call)
{
    if (code == ROCBLAS_DONE) {
        return ISO_OK;
    }
    const char *name = hip_blas.rocblas_status_to_string(code);
    const hip_code runtime = hip.hipStreamQuery(queue->stream);
    if (hip_status(runtime) == ISO_DEVICE_LOST) {
        return hip_check(queue->device, runtime, "%s gives %s (%u), and hipStreamQuery", call,
                         name ? name : "an unnamed status", code);
    }
    (void)hip.hipGetLastError();
    return hip_host->fail(code == ROCBLAS_MEMORY_ERROR ? ISO_NO_MEMORY : ISO_BACKEND,
                          "%s gives %s (%u)", call, name ? name : "an unnamed status", code);
}

static iso_status make_handle(hip_queue *queue, blas_stream *own)
{
    rocblas_object handle = NULL;
    iso_status status =
        hip_blas_check(queue, hip_blas.rocblas_create_handle(&handle), "rocblas_create_handle");
    if (status) {
        return status;
    }
    rocblas_code code = hip_blas.rocblas_set_stream(handle, queue->stream);
    if (code == ROCBLAS_DONE) {
        code = hip_blas.rocblas_set_atomics_mode(handle, ROCBLAS_NO_ATOMICS);
    }
    status = hip_blas_check(queue, code, "rocblas_set_stream");
    if (status) {
        (void)hip_blas.rocblas_destroy_handle(handle);
        return status;
    }
    own->handle = handle;
    return ISO_OK;
}

/* Every setting is made for every operation: that costs a store, and nothing depends on earlier
 * operations. */
iso_status hip_blas_handle(simt_stream *stream, const iso_op *op, rocblas_enum pointers,
                           rocblas_object *out)
{
    hip_queue *queue = blas_queue(stream);
    blas_stream *own = simt_stream_vendor(stream, (int64_t)sizeof *own);
    if (!own) {
        return ISO_NO_MEMORY;
    }
    const iso_status status = own->handle ? ISO_OK : make_handle(queue, own);
    if (status) {
        return status;
    }
    rocblas_code code = hip_blas.rocblas_set_pointer_mode(own->handle, pointers);
    if (code == ROCBLAS_DONE && hip_blas.rocblas_set_math_mode) {
        code = hip_blas.rocblas_set_math_mode(own->handle, ROCBLAS_MATH_DEFAULT);
    }
    if (code == ROCBLAS_DONE && op->workspace.memory && hip_blas.rocblas_set_workspace) {
        code = hip_blas.rocblas_set_workspace(own->handle,
                                              blas_place(op->workspace) + BLAS_CONSTANT_BYTES,
                                              (size_t)(op->workspace_bytes - BLAS_CONSTANT_BYTES));
    }
    *out = own->handle;
    return hip_blas_check(queue, code, "rocblas_set_workspace");
}

/* ---- the table ------------------------------------------------------------------------------- */

/* hipBLASLt has no product with k = 0. */
static bool needs_k(const iso_gemm_op *op)
{
    return op->library == 1;
}

static bool is_lt(const iso_op *op)
{
    return op->kind == ISO_OP_GEMM && op->gemm->library == 1;
}

static const simt_vendor_operation *const operations[] = {
    [ISO_OP_GEMM] = &hip_blas_gemm,
    [ISO_OP_TRANSPOSE] = &hip_blas_transpose,
    [ISO_OP_REDUCE] = &hip_blas_reduce,
};

static const simt_vendor_operation *row_of(const iso_op *op)
{
    if (is_lt(op)) {
        return &hip_blaslt_gemm;
    }
    return (size_t)op->kind < sizeof operations / sizeof operations[0] ? operations[op->kind]
                                                                       : NULL;
}

static iso_status supports(simt_device *device, const iso_op *op)
{
    const simt_vendor_operation *row = row_of(op);
    if (!row) {
        return hip_host->fail(ISO_UNSUPPORTED, "rocBLAS has no operation of kind %d",
                              (int)op->kind);
    }
    if (op->kind == ISO_OP_GEMM && op->gemm->library > 1) {
        return hip_host->fail(ISO_UNSUPPORTED,
                              "gemm: variant vendor: library is %d, and there is no further "
                              "library than rocBLAS (0) and hipBLASLt (1)",
                              op->gemm->library);
    }
    const iso_status status = need(device, is_lt(op));
    return status ? status : row->supports(device, op);
}

static iso_status workspace(simt_device *device, const iso_op *op, int64_t *bytes)
{
    (void)device;
    const simt_vendor_operation *row = row_of(op);
    *bytes = row->workspace ? row->workspace(op) : BLAS_CONSTANT_BYTES + BLAS_LIBRARY_BYTES;
    return ISO_OK;
}

static iso_status execute(simt_stream *stream, const iso_op *op)
{
    const hip_scope scope = hip_enter(blas_queue(stream)->device);
    iso_status status =
        hip_check(blas_queue(stream)->device, scope.code, "hipSetDevice before a vendor call");
    if (!status) {
        status = row_of(op)->execute(stream, op);
    }
    hip_leave(scope);
    return status;
}

static iso_status prepare(simt_stream *stream, const iso_op *op)
{
    rocblas_object handle = NULL;
    const hip_scope scope = hip_enter(blas_queue(stream)->device);
    iso_status status =
        hip_check(blas_queue(stream)->device, scope.code, "hipSetDevice before a vendor call");
    if (!status) {
        const simt_vendor_operation *row = row_of(op);
        status = row->prepare ? row->prepare(stream, op)
                              : hip_blas_handle(stream, op, ROCBLAS_POINTERS_HOST, &handle);
    }
    hip_leave(scope);
    return status;
}

static void describe_lt(simt_device *device, char *text, size_t capacity)
{
    const int version = blaslt_version(device);
    (void)snprintf(text, capacity, "hipBLASLt %d.%d.%d", version / 100000, version % 100000 / 100,
                   version % 100);
}

static void describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    const char *label = hip_blas_label();
    if (is_lt(op)) {
        describe_lt(device, out->library, sizeof out->library);
    } else {
        (void)snprintf(out->library, sizeof out->library, "%s", label ? label : "");
    }
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", row_of(op)->name(op));
}

static void stream_close(simt_stream *stream)
{
    blas_stream *own = stream->vendor;
    const hip_scope scope = hip_enter(blas_queue(stream)->device);
    if (own->handle && scope.code == HIP_DONE) {
        (void)hip_blas.rocblas_destroy_handle(own->handle);
    }
    hip_blaslt_stream_close(own);
    hip_leave(scope);
    hip_host->free(own);
    stream->vendor = NULL;
}

static void device_close(simt_device *device)
{
    blas_device *own = device->vendor;
    const hip_scope scope = hip_enter(blas_device_of(device));
    hip_blaslt_device_close(own);
    hip_leave(scope);
    hip_host->free(own);
    device->vendor = NULL;
}

static iso_status property(simt_device *device, int32_t index, iso_property *out)
{
    (void)device;
    const bool lt = index == 1;
    if (index > 1) {
        return ISO_NOT_READY;
    }
    const char *label = lt ? hip_blaslt_label() : hip_blas_label();
    const loader_library *library = lt ? &the_lt.library : &the_blas.library;
    (void)snprintf(out->name, sizeof out->name, "%s", library->title);
    loader_describe(library, label, out->value, sizeof out->value);
    return ISO_OK;
}

const simt_vendor hip_vendor = {
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
