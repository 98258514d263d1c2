/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - device buffers, host memory that a device copies fast, and transfers.
 *
 * A buffer is a range of bytes on one device. An operand is a buffer and a byte offset into it.
 * Transfers are ordered on a stream of the buffer's device and may return before they have run.
 * Until the transfer has run, the program must not change or free the host memory that it reads or
 * writes. A call may also wait for the stream's earlier work and for its own: on GPUs, transfers of
 * much memory that is not pinned do. A transfer of no bytes does nothing and is not an error.
 *
 * iso_write, iso_read, iso_copy, iso_fill, iso_write_2d, iso_read_2d, iso_copy_2d, iso_fill_2d and
 * iso_copy_between return:
 *
 *   INVALID: a wrong handle, a NULL, a negative size, pitch or offset, a pitch below the width, a
 *     range outside the buffer, or source and destination that overlap. The text names the
 *     argument, its value and the rule.
 *   MISMATCH: the buffer and the stream belong to different devices.
 *   A late error of the stream: see stream.h.
 */
#ifndef ISOMER_MEMORY_H
#define ISOMER_MEMORY_H

#include <isomer/stream.h>

ISO_BEGIN_DECLS

/* A range of bytes on a device. */
typedef struct iso_buffer {
    uint64_t id;
} iso_buffer;

/* A place in device memory. */
typedef struct iso_operand {
    iso_buffer buffer; /* where it is */
    int64_t offset;    /* bytes, from the start of the buffer */
} iso_operand;

/*
 * Allocates `bytes` (0 or more) of device memory, aligned for every element type, with undefined
 * contents. INVALID: not a device, negative, NULL. NO_MEMORY: the request would exceed the memory
 * limit (the text has the bytes requested, the bytes used and the limit), or the device has no
 * more.
 */
ISO_API iso_status iso_buffer_create(iso_device device, int64_t bytes, iso_buffer *out);

/* Waits for the work that uses the buffer, and frees it. */
ISO_API iso_status iso_buffer_destroy(iso_buffer buffer);

/* What is known of a buffer. */
typedef struct iso_buffer_info {
    uint32_t size;
    uint32_t reserved;
    iso_device device; /* to which it belongs */
    int64_t bytes;     /* its length */
} iso_buffer_info;
#define ISO_BUFFER_INFO_INIT ISO_INIT_OF(iso_buffer_info)

/* Fills `*out` (set its size first). INVALID: not a buffer, NULL, wrong size. */
ISO_API iso_status iso_buffer_get_info(iso_buffer buffer, iso_buffer_info *out);

/*
 * Allocates page-aligned host memory that the device copies fast (pinned memory, if the device
 * gains from that). `*pinned` (may be NULL) is set to 1 if it is pinned, otherwise to 0. The memory
 * is freed by iso_host_free, or when the device is closed.
 */
ISO_API iso_status iso_host_alloc(iso_device device, int64_t bytes, void **out, int32_t *pinned);

/* Waits for all work on streams of this handle and frees the block. INVALID: not from
 * iso_host_alloc.
 */
ISO_API iso_status iso_host_free(iso_device device, void *pointer);

/*
 * Pins the caller's memory until iso_host_unregister, which must be called before the memory is
 * freed. If the backend cannot pin it, the call returns ISO_OK with `*pinned` 0, and transfers
 * still work. INVALID: NULL, no bytes, or a block that overlaps a registered one.
 */
ISO_API iso_status iso_host_register(iso_device device, void *pointer, int64_t bytes,
                                     int32_t *pinned);
ISO_API iso_status iso_host_unregister(iso_device device, void *pointer);

/* Copy from host to device, from device to host, and within a device. */
ISO_API iso_status iso_write(iso_stream stream, iso_operand to, const void *from, int64_t bytes);
ISO_API iso_status iso_read(iso_stream stream, void *to, iso_operand from, int64_t bytes);
ISO_API iso_status iso_copy(iso_stream stream, iso_operand to, iso_operand from, int64_t bytes);
/* Repeats `pattern` (1, 2, 4, 8 or 16 bytes), which is read before the call returns. `bytes` and
 * the offset must be multiples of its size. */
ISO_API iso_status iso_fill(iso_stream stream, iso_operand to, const void *pattern,
                            int64_t pattern_bytes, int64_t bytes);

/*
 * The same for `height` rows of `width` bytes. A pitch is the distance in bytes from one row to the
 * next. Bytes between rows are not touched and may belong to the other operand: a copy between
 * blocks of one matrix is refused only if some byte belongs to a row of both. The offset, pitch and
 * width of a fill must be multiples of the pattern's size.
 */
ISO_API iso_status iso_write_2d(iso_stream stream, iso_operand to, int64_t to_pitch,
                                const void *from, int64_t from_pitch, int64_t width,
                                int64_t height);
ISO_API iso_status iso_read_2d(iso_stream stream, void *to, int64_t to_pitch, iso_operand from,
                               int64_t from_pitch, int64_t width, int64_t height);
ISO_API iso_status iso_copy_2d(iso_stream stream, iso_operand to, int64_t to_pitch,
                               iso_operand from, int64_t from_pitch, int64_t width, int64_t height);
ISO_API iso_status iso_fill_2d(iso_stream stream, iso_operand to, int64_t to_pitch,
                               const void *pattern, int64_t pattern_bytes, int64_t width,
                               int64_t height);

/* The path of a copy between devices. */
typedef enum iso_path {
    ISO_PATH_SAME = 1,  /* both on one physical device: an ordinary copy */
    ISO_PATH_PEER = 2,  /* directly from device to device */
    ISO_PATH_STAGED = 3 /* through host memory */
} iso_path;

ISO_API const char *iso_path_name(iso_path path); /* "same", "peer", "staged" */

/*
 * Copies from a buffer of one device to a buffer of another. The copy runs after the work that was
 * submitted to `from_stream`, and later work on `to_stream` runs after the copy. The devices may be
 * the same or belong to different backends. `*path` (may be NULL) is set to the path taken. A
 * staged copy has finished when the call returns; the others are asynchronous.
 */
ISO_API iso_status iso_copy_between(iso_stream to_stream, iso_operand to, iso_stream from_stream,
                                    iso_operand from, int64_t bytes, iso_path *path);

ISO_END_DECLS

#endif
