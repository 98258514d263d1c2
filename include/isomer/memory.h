/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - buffers on a device, host memory that it reaches fast, and transfers.
 *
 * A buffer is a run of bytes on one device. An operand is a buffer and a byte offset into it.
 * Transfers are ordered on a stream of the buffer's device and may return before they have run:
 * host memory that is read or written must stay as it is until the stream has passed them. A
 * transfer of no bytes does nothing and is not an error.
 *
 * Every transfer below: INVALID for a wrong handle, a NULL, a negative size, pitch or offset, a
 * pitch under the width, a range outside the buffer, or source and destination that overlap;
 * MISMATCH for a buffer of another device than the stream's. Each names the argument, its value and
 * the rule.
 */
#ifndef ISOMER_MEMORY_H
#define ISOMER_MEMORY_H

#include <isomer/stream.h>

ISO_BEGIN_DECLS

typedef struct iso_buffer {
    uint64_t id;
} iso_buffer;

/* A place in device memory. */
typedef struct iso_operand {
    iso_buffer buffer;
    int64_t offset; /* bytes */
} iso_operand;

/*
 * Allocates `bytes` (0 or more) of device memory, aligned for every element type, contents
 * undefined. INVALID: not a device, negative, NULL. NO_MEMORY: the memory limit would be passed
 * (the text has asked, used and limit) or the device has no more.
 */
ISO_API iso_status iso_buffer_create(iso_device device, int64_t bytes, iso_buffer *out);

/* Waits for the work that uses the buffer, and frees it. */
ISO_API iso_status iso_buffer_destroy(iso_buffer buffer);

typedef struct iso_buffer_info {
    uint32_t size;
    uint32_t reserved;
    iso_device device;
    int64_t bytes;
} iso_buffer_info;
#define ISO_BUFFER_INFO_INIT ISO_INIT_OF(iso_buffer_info)

ISO_API iso_status iso_buffer_get_info(iso_buffer buffer, iso_buffer_info *out);

/*
 * Allocates host memory that the device copies fast (pinned, where it distinguishes). `*pinned`
 * (may be NULL) says whether it is. Freed with iso_host_free or with the device. Page-aligned.
 */
ISO_API iso_status iso_host_alloc(iso_device device, int64_t bytes, void **out, int32_t *pinned);

/* Waits for all work of the device and frees the block. INVALID: not from iso_host_alloc. */
ISO_API iso_status iso_host_free(iso_device device, void *pointer);

/*
 * Pins the caller's memory until iso_host_unregister, which must come before it is freed. A backend
 * that cannot pin it answers ISO_OK with `*pinned` 0: transfers work all the same.
 * INVALID: NULL, no bytes, or a block that overlaps a registered one.
 */
ISO_API iso_status iso_host_register(iso_device device, void *pointer, int64_t bytes,
                                     int32_t *pinned);
ISO_API iso_status iso_host_unregister(iso_device device, void *pointer);

/* Host to device, device to host, within a device, and a repeated pattern. */
ISO_API iso_status iso_write(iso_stream stream, iso_operand to, const void *from, int64_t bytes);
ISO_API iso_status iso_read(iso_stream stream, void *to, iso_operand from, int64_t bytes);
ISO_API iso_status iso_copy(iso_stream stream, iso_operand to, iso_operand from, int64_t bytes);
/* `pattern` of 1, 2, 4, 8 or 16 bytes is taken at once; `bytes` and the offset are multiples of it.
 */
ISO_API iso_status iso_fill(iso_stream stream, iso_operand to, const void *pattern,
                            int64_t pattern_bytes, int64_t bytes);

/*
 * The same for `height` rows of `width` bytes; a pitch is the distance in bytes from one row to the
 * next. Bytes between rows are not touched and may belong to the other side: a copy between blocks
 * of one matrix is refused only if some byte is in a row of both. A fill's offset, pitch and width
 * are multiples of its pattern.
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

/* How a copy between devices went. */
typedef enum iso_path {
    ISO_PATH_SAME = 1,  /* both on one physical device: an ordinary copy */
    ISO_PATH_PEER = 2,  /* straight from device to device */
    ISO_PATH_STAGED = 3 /* through host memory */
} iso_path;

ISO_API const char *iso_path_name(iso_path path); /* "same", "peer", "staged" */

/*
 * Copies from a buffer of one device, after the work on `from_stream`, to one of another, before
 * later work on `to_stream`. The devices may be of different backends, or the same. `*path` (may be
 * NULL) says which way it went; a staged copy has finished when the call returns, the others are
 * asynchronous.
 */
ISO_API iso_status iso_copy_between(iso_stream to_stream, iso_operand to, iso_stream from_stream,
                                    iso_operand from, int64_t bytes, iso_path *path);

ISO_END_DECLS

#endif
