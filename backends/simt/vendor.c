/* SPDX-License-Identifier: Apache-2.0 */
/* vendor.c - passes operations whose variant is vendor to the driver's libraries. Some libraries
 * cannot compute a product with k = 0 (or alpha 0). They get k = 1 instead, with a column and a row
 * of zeros, which are stored before the library's own scratch memory. A product with a vector is
 * passed as a product with a matrix of one column, which was measured to be as fast. */
#include "backends/simt/blas.h"
#include "common/dtype.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- libraries ------------------------------------------------------------------------------- */

const char *simt_library_label(simt_library *library)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (!atomic_load_explicit(&library->asked, memory_order_acquire)) {
        (void)pthread_mutex_lock(&lock);
        if (!library->asked) {
            (void)library->open(library);
            atomic_store_explicit(&library->asked, true, memory_order_release);
        }
        (void)pthread_mutex_unlock(&lock);
    }
    return library->loader.handle ? library->label : NULL;
}

simt_library *simt_vendor_library(const simt_device *device, int32_t index)
{
    simt_library *const *libraries =
        device->driver->vendor ? device->driver->vendor->libraries : NULL;
    for (int32_t i = 0; libraries && libraries[i]; i++) {
        if (i == index) {
            return libraries[i];
        }
    }
    return NULL;
}

iso_status simt_vendor_property(simt_device *device, int32_t index, iso_property *out)
{
    simt_library *library = simt_vendor_library(device, index);
    if (!library) {
        return ISO_NOT_READY;
    }
    const char *label = simt_library_label(library);
    (void)snprintf(out->name, sizeof out->name, "%s", library->loader.title);
    loader_describe(&library->loader, label ? label + library->version_at : NULL, out->value,
                    sizeof out->value);
    return ISO_OK;
}

iso_status simt_vendor_enter(simt_device *device, simt_scope *scope)
{
    const simt_vendor *vendor = device->driver->vendor;
    *scope = (simt_scope){.previous = -1};
    return vendor->enter ? vendor->enter(device->native, scope) : ISO_OK;
}

void simt_vendor_leave(simt_device *device, simt_scope scope)
{
    if (device->driver->vendor->leave) {
        device->driver->vendor->leave(scope);
    }
}

void simt_vendor_device_close(simt_device *device)
{
    if (device->vendor && device->driver->vendor->blas) {
        simt_blas_device_close(device);
    }
    device->host->free(device->vendor);
    device->vendor = NULL;
}

void simt_vendor_stream_close(simt_stream *stream)
{
    if (stream->vendor && stream->device->driver->vendor->blas) {
        /* Libraries wait for the device, which spoils what a driver records. */
        (void)pthread_mutex_lock(&stream->device->record_lock);
        simt_blas_stream_close(stream);
        (void)pthread_mutex_unlock(&stream->device->record_lock);
    }
    stream->device->host->free(stream->vendor);
    stream->vendor = NULL;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* The operation that is passed to the library. */
typedef struct vendor_op {
    iso_op op;
    iso_op_args args;      /* a changed copy */
    int64_t zeros;         /* their bytes; 0: the operation is unchanged */
    simt_library *library; /* NULL: there is none with the index that was asked for */
    int32_t number;        /* of the library, among all of the driver */
    const simt_vendor_operation *row;
} vendor_op;

/* An operation counts only the libraries that have it. */
static int32_t library_index(const iso_op *op)
{
    int32_t index = 0;
    const size_t at = simt_operation_of(op->kind)->library_at;
    if (at) {
        memcpy(&index, (const char *)op->args + at, sizeof index);
    }
    return index;
}

static void find_library(vendor_op *self, const simt_device *device, int32_t index)
{
    simt_library *library = simt_vendor_library(device, 0);
    self->library = NULL;
    self->row = NULL;
    for (self->number = 0; library; library = simt_vendor_library(device, ++self->number)) {
        if (library->operations[self->op.kind] && index-- == 0) {
            self->library = library;
            self->row = library->operations[self->op.kind];
            return;
        }
    }
}

/* This function runs three times for each call, so it copies the arguments only if it may change
 * them. */
static void read_op(vendor_op *self, const simt_device *device, const iso_op *op)
{
    enum { ZEROS_ALIGN = 256 };
    const simt_operation *operation = simt_operation_of(op->kind);
    gemv_product product;
    int64_t bytes = 0;
    self->op = *op;
    self->zeros = 0;
    if (operation->as_product) {
        operation->as_product(op, &product);
        operation = simt_operation_of(product.op.kind);
        self->op = product.op;
        self->args.gemm = product.gemm;
        self->op.args = &self->args;
    }
    find_library(self, device, library_index(op));
    if (self->row && self->library->needs_terms && operation->add_term &&
        self->op.args_size <= sizeof self->args) {
        memmove(&self->args, self->op.args, self->op.args_size);
        self->op.args = &self->args;
        bytes = operation->add_term(&self->args, op->workspace);
    }
    if (bytes == 0) {
        return;
    }
    self->zeros = (bytes + ZEROS_ALIGN - 1) / ZEROS_ALIGN * ZEROS_ALIGN;
    if (op->workspace.memory) {
        self->op.workspace.offset += self->zeros;
        self->op.workspace_bytes -= self->zeros;
    }
}

/* Fails; the message lists the libraries of the driver that have the operation. */
static iso_status no_library(const simt_device *device, const iso_op *op, iso_op_kind kind)
{
    char list[2 * ISO_NAME_MAX] = "";
    int32_t count = 0;
    for (int32_t i = 0; simt_vendor_library(device, i); i++) {
        const simt_library *library = simt_vendor_library(device, i);
        const size_t used = strlen(list);
        if (library->operations[kind]) {
            (void)snprintf(list + used, sizeof list - used, "%s%s (%d)", count > 0 ? " and " : "",
                           library->loader.title, count);
            count++;
        }
    }
    if (count == 0) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "%s: variant vendor: no vendor library of %s has it: use tiled",
                                  iso_op_kind_name(op->kind), device->driver->name);
    }
    return device->host->fail(ISO_UNSUPPORTED,
                              "%s: variant vendor: there is no library %d, only %s",
                              iso_op_kind_name(op->kind), library_index(op), list);
}

iso_status simt_vendor_supports(simt_device *device, const iso_op *op)
{
    const simt_vendor *vendor = device->driver->vendor;
    vendor_op self;
    if (!vendor) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "variant is vendor, but %s has no vendor library: use tiled",
                                  device->driver->name);
    }
    read_op(&self, device, op);
    if (!self.library) {
        return no_library(device, op, self.op.kind);
    }
    if (!simt_library_label(self.library)) {
        return loader_fail(&self.library->loader, ISO_UNSUPPORTED, "variant vendor: ");
    }
    const iso_status status = vendor->usable ? vendor->usable(device, self.number) : ISO_OK;
    return status ? status : self.row->supports(device, &self.op);
}

iso_status simt_vendor_workspace(simt_device *device, const iso_op *op, int64_t *bytes)
{
    vendor_op self;
    read_op(&self, device, op);
    *bytes = self.zeros + (self.row->workspace ? self.row->workspace(device, &self.op) : 0);
    return ISO_OK;
}

/* Calls the library with its device current. */
static iso_status call(simt_stream *stream, const iso_op *op,
                       iso_status (*routine)(simt_stream *stream, const iso_op *op))
{
    simt_scope scope;
    iso_status status = simt_vendor_enter(stream->device, &scope);
    if (!status) {
        status = routine(stream, op);
    }
    simt_vendor_leave(stream->device, scope);
    return status;
}

iso_status simt_vendor_execute(simt_stream *stream, const iso_op *op)
{
    vendor_op self;
    iso_status status = ISO_OK;
    read_op(&self, stream->device, op);
    if (self.zeros > 0) {
        const iso_transfer fill = {.size = (uint32_t)sizeof fill,
                                   .kind = ISO_TRANSFER_FILL,
                                   .to = op->workspace,
                                   .to_pitch = self.zeros,
                                   .width = self.zeros,
                                   .height = 1,
                                   .pattern_bytes = 16};
        status = simt_fill(stream, &fill);
    }
    return status ? status : call(stream, &self.op, self.row->execute);
}

iso_status simt_vendor_prepare(simt_stream *stream, const iso_op *op)
{
    vendor_op self;
    read_op(&self, stream->device, op);
    const iso_status status = self.zeros > 0 ? simt_fill_prepare(stream->device) : ISO_OK;
    return status ? status : call(stream, &self.op, self.row->prepare);
}

void simt_vendor_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    vendor_op self;
    read_op(&self, device, op);
    if (self.library->describe) {
        self.library->describe(device, out->library, sizeof out->library);
    } else {
        const char *label = simt_library_label(self.library);
        (void)snprintf(out->library, sizeof out->library, "%s", label ? label : "");
    }
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", self.row->name(device, &self.op));
}

/* ---- what several libraries have in common --------------------------------------------------- */

static simt_size first_large(const simt_size *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sizes[i].value > INT_MAX) {
            return sizes[i];
        }
    }
    return (simt_size){NULL, 0};
}

simt_size simt_gemm_large(const iso_gemm_op *op)
{
    const simt_size sizes[] = {{"m", op->m},        {"n", op->n},     {"k", op->k},
                               {"lda", op->lda},    {"ldb", op->ldb}, {"ldc", op->ldc},
                               {"batch", op->batch}};
    return first_large(sizes, sizeof sizes / sizeof sizes[0]);
}

simt_size simt_syrk_large(const iso_syrk_op *op)
{
    const simt_size sizes[] = {{"n", op->n}, {"k", op->k}, {"lda", op->lda}, {"ldc", op->ldc}};
    return first_large(sizes, sizeof sizes / sizeof sizes[0]);
}

simt_size simt_trsm_large(const iso_trsm_op *op)
{
    const simt_size sizes[] = {{"m", op->m}, {"n", op->n}, {"lda", op->lda}, {"ldb", op->ldb}};
    return first_large(sizes, sizeof sizes / sizeof sizes[0]);
}

iso_status simt_too_large(const iso_host *host, const char *operation, simt_size size,
                          const char *library, const char *lacks)
{
    return host->fail(ISO_UNSUPPORTED,
                      "%s: variant vendor: %s is %lld, and the sizes of %s have 32 bits%s%s%s: at "
                      "most %d; use tiled",
                      operation, size.name, (long long)size.value, library,
                      lacks ? " (it has no " : "", lacks ? lacks : "", lacks ? ")" : "", INT_MAX);
}

iso_status simt_transpose_supports(const iso_host *host, const iso_transpose_op *op,
                                   const char *library, bool wide, const char *lacks)
{
    const simt_size sizes[] = {
        {"rows", op->rows}, {"cols", op->cols}, {"ld_from", op->ld_from}, {"ld_to", op->ld_to}};
    const simt_size large = first_large(sizes, sizeof sizes / sizeof sizes[0]);
    if (op->element_bytes < 4) {
        return host->fail(ISO_UNSUPPORTED,
                          "transpose: element_bytes is %lld, but %s transposes elements of 4, 8 "
                          "and 16 bytes: use tiled",
                          (long long)op->element_bytes, library);
    }
    return large.name && !wide ? simt_too_large(host, "transpose", large, library, lacks) : ISO_OK;
}

iso_status simt_reduce_supports(const iso_host *host, const simt_reductions *has,
                                const iso_reduce_op_args *op)
{
    const char *name = iso_reduce_op_name(op->op);
    const bool dot = op->op == ISO_SUM || op->op == ISO_DOT;
    const dtype_row *type = dtype_get(op->dtype);
    const bool half = type->floating && type->bytes == 2;
    if (op->op == ISO_NORM2) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s's nrm2 %s: use tiled", has->library,
                          has->norm2_problem);
    }
    if (!dot && op->op != ISO_ASUM) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s has sum, dot and asum, but no %s: use tiled",
                          has->library, name);
    }
    if (op->dtype != ISO_F32 && op->dtype != ISO_F64 && !(half && dot && has->half)) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s has no %s of %s: use tiled", has->library,
                          name, iso_dtype_name(op->dtype));
    }
    if (op->axis == ISO_AXIS_0 || (op->axis != ISO_AXIS_ALL && !has->rows)) {
        return host->fail(ISO_UNSUPPORTED, "reduce: %s reduces %s: use tiled", has->library,
                          has->rows ? "arrays and rows, not along axis 0"
                                    : "whole arrays, not along an axis");
    }
    return ISO_OK;
}
