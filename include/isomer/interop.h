/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.h - sharing contexts, streams and memory with a program that uses the vendor's interface
 * itself, and exchanging tensors through DLPack. Nothing here copies.
 *
 * Ownership: the program still owns what isomer adopts or imports. It must keep each object until
 * the handle that was made from it is destroyed; for memory, a callback reports when that happens.
 * Ordering: isomer orders only its own streams. Work that the program submits to a native stream is
 * ordered with isomer's only if both use the same stream: give the program's stream to isomer
 * (iso_stream_adopt), or use isomer's (iso_native_get). Threads: every call here may be made from
 * any thread, and so may the deleter of an exported tensor. Callbacks run in the thread that
 * destroys the buffer or closes its device. A callback may call isomer, but must not close that
 * device or wait for a thread that does.
 */
#ifndef ISOMER_INTEROP_H
#define ISOMER_INTEROP_H

#include <isomer/memory.h>

ISO_BEGIN_DECLS

/* Kinds of the vendor's native objects. Each is passed as a pointer. */
typedef enum iso_native_kind {
    ISO_NATIVE_CONTEXT = 1, /* cuda: CUcontext; hip: none (NULL); opencl: cl_context */
    ISO_NATIVE_DEVICE = 2,  /* cuda, hip: the ordinal, as an integer; opencl: cl_device_id */
    ISO_NATIVE_STREAM = 3,  /* cuda: CUstream; hip: hipStream_t; opencl: cl_command_queue */
    ISO_NATIVE_EVENT = 4, /* cuda: CUevent; hip: hipEvent_t; opencl: cl_event of its last record */
    ISO_NATIVE_MEMORY = 5 /* cuda, hip, openmp: the address; opencl: cl_mem */
} iso_native_kind;

/* A device that the program itself has opened. */
typedef struct iso_native_device {
    uint32_t size;
    uint32_t reserved;
    void *context; /* as ISO_NATIVE_CONTEXT; cuda: NULL means the device's primary context */
    void *device;  /* as ISO_NATIVE_DEVICE */
} iso_native_device;
#define ISO_NATIVE_DEVICE_INIT ISO_INIT_OF(iso_native_device)

/*
 * Opens a device in a context that the program made, through the backend of that name. The context
 * must live until the device is closed; closing leaves it as it is. If the same context is adopted
 * twice, there are two handles to one physical device (with one count of memory). If the backend
 * itself has the context open, or it is cuda's primary context (context NULL), the handle refers to
 * the ordinary device. Any other context counts as another physical device: a copy between it and
 * the ordinary one is a copy between two devices. `options` may be NULL. openmp has no contexts:
 * context and device are NULL.
 * INVALID: an unknown name or none, a wrong struct size, options as in iso_device_open_with, a
 *  context or device that the backend refuses.
 * UNAVAILABLE: the backend is not usable here; the text has every path that was tried.
 * UNSUPPORTED: the backend does not adopt. NO_MEMORY, BACKEND.
 */
ISO_API iso_status iso_device_adopt(const char *backend, const iso_native_device *native,
                                    const iso_device_options *options, iso_device *out);

/*
 * Adopts a stream that the program made (as ISO_NATIVE_STREAM; cuda, hip: NULL is the default
 * stream). The stream must live until the handle is destroyed. Destroying the handle waits for the
 * stream's work and leaves the stream as it is. Work that the program itself submits to the stream
 * is ordered with isomer's.
 * INVALID: not a device, NULL out, a stream of another device if the backend can tell.
 * UNSUPPORTED: openmp, or a plug-in without this entry; an out-of-order OpenCL queue.
 * NO_MEMORY, BACKEND.
 */
ISO_API iso_status iso_stream_adopt(iso_device device, void *native, iso_stream *out);

/*
 * The native object behind a handle's id: of a device (CONTEXT, DEVICE), a stream, an event or a
 * buffer. isomer owns it, and it is valid as long as the handle. A buffer of no bytes gives NULL.
 * INVALID: an unknown kind, an id that is not a handle of that kind of object, NULL out.
 * UNSUPPORTED: there is no such object (openmp: streams and events).
 * NOT_READY: an event that was never recorded.
 */
ISO_API iso_status iso_native_get(iso_native_kind kind, uint64_t id, void **out);

/* Flags of iso_buffer_import. */
enum {
    ISO_IMPORT_READ_ONLY = 1 /* an operation or transfer that would write to it is INVALID */
};

/*
 * Imports memory that the program owns (as ISO_NATIVE_MEMORY), `bytes` long, as a buffer. It does
 * not count against the memory limit. Destroying the buffer, or closing the device, waits for
 * isomer's work that uses it, forgets the memory, and then calls release(context) once. release may
 * be NULL. If the import fails, release is never called. An operation on an element whose address
 * is misaligned is INVALID. Different buffers are assumed not to overlap: whether imported memory
 * overlaps that of another buffer is not checked.
 * INVALID: not a device, unknown flags, negative bytes, NULL memory although `bytes` is not 0, NULL
 *  out; memory that belongs to another device or is shorter than `bytes`, if the driver can tell;
 *  an OpenCL buffer that kernels may only read, if ISO_IMPORT_READ_ONLY is not set.
 * UNSUPPORTED: the backend does not import. NO_MEMORY, BACKEND.
 */
ISO_API iso_status iso_buffer_import(iso_device device, void *native, int64_t bytes, uint32_t flags,
                                     void (*release)(void *context), void *context,
                                     iso_buffer *out);

/* ---- DLPack -------------------------------------------------------------------------------------
 *
 * The structs of DLPack's own header (dlpack.h), renamed: pointers to them can be cast to those of
 * that header and back. Python passes them in a PyCapsule named "dltensor" (managed) or
 * "dltensor_versioned".
 */
typedef struct iso_dlpack_tensor {
    void *data;           /* as ISO_NATIVE_MEMORY */
    int32_t device_type;  /* 1 CPU, 2 CUDA, 4 OpenCL, 10 ROCm, ... */
    int32_t device_id;    /* among the devices of its type */
    int32_t ndim;         /* how many dimensions */
    uint8_t code;         /* 0 integer, 1 unsigned, 2 float, 4 bfloat, ... */
    uint8_t bits;         /* of an element */
    uint16_t lanes;       /* 1 */
    int64_t *shape;       /* elements along each dimension */
    int64_t *strides;     /* elements; NULL: row-major without gaps */
    uint64_t byte_offset; /* of element (0, 0, ...) from data */
} iso_dlpack_tensor;

/* A tensor with its owner, as before DLPack 1.0. */
typedef struct iso_dlpack_managed {
    iso_dlpack_tensor tensor;                         /* the data */
    void *context;                                    /* its owner's */
    void (*deleter)(struct iso_dlpack_managed *self); /* gives the data back to its owner */
} iso_dlpack_managed;

/* A tensor with its owner, since DLPack 1.0. */
typedef struct iso_dlpack_managed_versioned {
    uint32_t major, minor;                                      /* of DLPack */
    void *context;                                              /* its owner's */
    void (*deleter)(struct iso_dlpack_managed_versioned *self); /* gives the data back */
    uint64_t flags;           /* bit 0: read-only; bit 1: a copy */
    iso_dlpack_tensor tensor; /* the data */
} iso_dlpack_managed_versioned;

/* The most dimensions of an iso_tensor. */
enum { ISO_TENSOR_DIMS_MAX = 8 };

/* Flags of iso_tensor. */
enum {
    ISO_TENSOR_READ_ONLY = 1, /* import: isomer will not write to it; export: consumers must not */
    ISO_TENSOR_COPIED = 2     /* the producer says that it is a copy */
};

/* A tensor in a buffer. Element (i, j, ...) is `offset` bytes plus (i * strides[0] + j * strides[1]
 * + ...) elements into the buffer. */
typedef struct iso_tensor {
    uint32_t size;
    iso_dtype dtype;                      /* of its elements */
    iso_buffer buffer;                    /* where it is */
    int64_t offset;                       /* bytes, of element (0, 0, ...) */
    int32_t ndim;                         /* 0 (one element) to ISO_TENSOR_DIMS_MAX */
    uint32_t flags;                       /* ISO_TENSOR_... */
    int64_t shape[ISO_TENSOR_DIMS_MAX];   /* elements along each dimension */
    int64_t strides[ISO_TENSOR_DIMS_MAX]; /* elements; on export all 0 means row-major, no gaps */
} iso_tensor;
#define ISO_TENSOR_INIT ISO_INIT_OF(iso_tensor)

/* Flag of iso_dlpack_import: `managed` is the versioned struct, not the older one. */
enum { ISO_DLPACK_VERSIONED = 1 };

/*
 * Imports a tensor that another library owns, without a copy. `managed` is an iso_dlpack_managed,
 * or with ISO_DLPACK_VERSIONED an iso_dlpack_managed_versioned of major version 1. `out` (set its
 * size first) gets a buffer over exactly the bytes that the tensor touches; strides, the read-only
 * flag and the offset are kept. The producer must have made the data ready on `stream`: pass its
 * native stream to __dlpack__(stream=...). On openmp the data must be ready when the call is made.
 * On success isomer owns `managed` until the buffer is destroyed (or its device closed), and then
 * calls its deleter once. On any failure the caller still owns it.
 * INVALID: not a stream, NULL, unknown flags, wrong struct size, a bad rank, shape, type width or
 *  address, a byte offset inside an element, sizes that do not fit.
 * MISMATCH: the tensor is on another device than the stream; the text names both.
 * UNSUPPORTED: an element type without a name in iso_dtype (the text says which), lanes other than
 *  1, another major version, a device that DLPack does not know. Otherwise as iso_buffer_import.
 */
ISO_API iso_status iso_dlpack_import(iso_stream stream, void *managed, uint32_t flags,
                                     iso_tensor *out);

/*
 * Exports the tensor without a copy, as an iso_dlpack_managed_versioned (1.0). Its data is ready on
 * `stream`: a consumer that works on that native stream (iso_native_get) need not wait. If the
 * consumer works on another stream, adopt that stream and pass it as `consumer`: work submitted to
 * it after this call waits for everything submitted to `stream` so far. A `consumer` of {0} means
 * none. On openmp, whose streams other libraries cannot use, the call waits for `stream`. The
 * memory lives until both the buffer is destroyed and the tensor's deleter has been called, in
 * either order. The buffer may be destroyed and the device closed before the deleter is called: the
 * handles are then INVALID, but the physical device stays open underneath and the memory stays
 * counted. The deleter may be called from any thread, once, when the consumer's work is done; in a
 * child of fork() it frees no memory of the device.
 * INVALID: not a stream, wrong struct size, an unknown dtype, a bad rank or shape, unknown flags, a
 *  tensor that reaches outside its buffer or is misaligned, NULL.
 * MISMATCH: the buffer or the consumer belongs to another device handle.
 * UNSUPPORTED: a device that DLPack does not know. NO_MEMORY; a late error of the stream.
 */
ISO_API iso_status iso_dlpack_export(iso_stream stream, iso_stream consumer,
                                     const iso_tensor *tensor, void **managed);

/*
 * A 2-D tensor as an operand of iso_gemm, without moving it. `*rows` and `*cols` are its shape and
 * `*ld` its leading dimension. `*trans` is ISO_TRANS if it is stored column by column (the operand
 * is then stored as cols x rows). INVALID: NULL, wrong struct size, a negative shape. UNSUPPORTED:
 * not two dimensions, or strides that are neither row-major nor column-major; the text has them.
 */
ISO_API iso_status iso_tensor_matrix(const iso_tensor *tensor, iso_operand *out, int64_t *rows,
                                     int64_t *cols, int64_t *ld, iso_trans *trans);

ISO_END_DECLS

#endif
