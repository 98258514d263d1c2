/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - device memory, which is host memory here, and transfers.
 *
 * The core checks every range, pitch and overlap before it calls, so nothing is left to refuse.
 */
#include "tests/plugins/reference/reference.h"

#include <string.h>

enum { ALIGNMENT = 256 }; /* what the ABI requires; host->alloc guarantees 64 */

/* The object that the core knows as `memory`. */
typedef struct ref_memory {
    void *block;          /* as allocated */
    unsigned char *bytes; /* the aligned part of it */
} ref_memory;

iso_status ref_memory_alloc(void *device, int64_t bytes, void **memory)
{
    (void)device;
    if (bytes > INT64_MAX - ALIGNMENT) {
        return ref_host->fail(ISO_NO_MEMORY, "%lld bytes are more than there can be",
                              (long long)bytes);
    }
    ref_memory *made = ref_host->alloc((int64_t)sizeof(*made));
    if (!made) {
        return ISO_NO_MEMORY;
    }
    made->block = ref_host->alloc(bytes + ALIGNMENT);
    if (!made->block) {
        ref_host->free(made);
        return ISO_NO_MEMORY;
    }
    const uintptr_t address = (uintptr_t)made->block;
    made->bytes = (unsigned char *)made->block + (ALIGNMENT - address % ALIGNMENT) % ALIGNMENT;
    *memory = made;
    return ISO_OK;
}

void ref_memory_free(void *device, void *memory)
{
    (void)device;
    ref_memory *old = memory;
    ref_host->free(old->block);
    ref_host->free(old);
}

unsigned char *ref_at(iso_ref place)
{
    return ((const ref_memory *)place.memory)->bytes + place.offset;
}

/* Copies rows of bytes. */
static void move_rows(unsigned char *to, int64_t to_pitch, const unsigned char *from,
                      int64_t from_pitch, int64_t width, int64_t height)
{
    for (int64_t row = 0; row < height; row++) {
        memcpy(to + row * to_pitch, from + row * from_pitch, (size_t)width);
    }
}

/* Each row begins with the pattern's first byte. */
static void fill_rows(unsigned char *to, const iso_transfer *fill)
{
    const int64_t period = MUTATE(57, LESSER(fill->pattern_bytes, 8), fill->pattern_bytes);
    for (int64_t row = 0; row < fill->height; row++) {
        const int64_t width =
            MUTATE(61, row + 1 < fill->height ? fill->to_pitch : fill->width, fill->width);
        for (int64_t i = 0; i < width; i++) {
            to[row * fill->to_pitch + i] = fill->pattern[i % period];
        }
    }
}

iso_status ref_transfer(void *stream, const iso_transfer *transfer)
{
    (void)stream;
    const iso_transfer *t = transfer;
    switch (t->kind) {
    case ISO_TRANSFER_WRITE:
        move_rows(ref_at(t->to), MUTATE(56, t->width, t->to_pitch), t->host_from, t->from_pitch,
                  t->width, t->height);
        return ISO_OK;
    case ISO_TRANSFER_READ:
        move_rows(t->host_to, t->to_pitch, ref_at(t->from), MUTATE(59, t->width, t->from_pitch),
                  t->width, t->height);
        return ISO_OK;
    case ISO_TRANSFER_COPY:
        move_rows(ref_at(t->to), t->to_pitch, ref_at(t->from) - MUTATE(60, t->from.offset, 0),
                  t->from_pitch, t->width - MUTATE(58, 1, 0), t->height);
        return ISO_OK;
    case ISO_TRANSFER_FILL:
        fill_rows(ref_at(t->to), t);
        return ISO_OK;
    }
    return ref_host->fail(ISO_UNSUPPORTED, "transfer kind %d is not known", (int)t->kind);
}

/* The devices share one memory, and both streams have already finished all work submitted to them.
 */
iso_status ref_copy_peer(void *to_stream, iso_ref to, void *from_stream, iso_ref from,
                         int64_t bytes)
{
    (void)to_stream;
    (void)from_stream;
    memmove(ref_at(to), ref_at(from), (size_t)bytes);
    return ISO_OK;
}
