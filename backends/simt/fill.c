/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - fills memory with a repeated pattern. A kernel does it, so that fills work in the same
 * way on every device. */
#include "backends/simt/simt.h"
#include "kernel_texts.h"

#include <string.h>

enum {
    SLOT_BYTES = 16,
    SLOTS_A_RUN = 4, /* FILL_RUN of the kernel */
    GROUPS_A_UNIT = 32
};

static const char *const fill_parts[] = {kernel_text_dialect, kernel_text_fill};

static const simt_text fill_text = {
    .name = "fill",
    .parts = fill_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "?ISO_DTYPE"},
    .kernels = {"fill"},
};

/* Work-items of a group: powers of two. */
static const int32_t threads_of[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = 256, [SIMT_CLASS_WAVE32] = 256, [SIMT_CLASS_WAVE64] = 256,
    [SIMT_CLASS_CPU] = 16,     [SIMT_CLASS_SMALL] = 4,
};

static simt_spec spec_for(const simt_limits *limits)
{
    return (simt_spec){.text = &fill_text, .values = {threads_of[limits->device_class]}};
}

void simt_fill_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    simt_spec spec = spec_for(limits);
    visit(&spec, context);
}

/* Makes the bytes of an aligned slot: the pattern, rotated so that it starts where each row starts.
 */
static void make_slot(const iso_transfer *transfer, int64_t start, uint32_t slot[4])
{
    uint8_t bytes[SLOT_BYTES];
    for (int64_t i = 0; i < SLOT_BYTES; i++) {
        bytes[(start + i) % SLOT_BYTES] = transfer->pattern[i % transfer->pattern_bytes];
    }
    memcpy(slot, bytes, sizeof bytes);
}

iso_status simt_fill_prepare(simt_device *device)
{
    const simt_spec spec = spec_for(&device->limits);
    const simt_kernel *kernel = NULL;
    return simt_kernel_get(device, &spec, 0, &kernel);
}

iso_status simt_fill(simt_stream *stream, const iso_transfer *transfer)
{
    const simt_limits *limits = &stream->device->limits;
    const simt_kernel *kernel = NULL;
    simt_spec spec = spec_for(limits);
    void *memory = transfer->to.memory;
    int64_t offset = transfer->to.offset, pitch = transfer->to_pitch;
    int64_t width = transfer->width, height = transfer->height;
    int64_t phase =
        limits->memory_is_address ? (int64_t)((uintptr_t)memory % (uintptr_t)SLOT_BYTES) : 0;
    uint32_t slot[4];
    iso_status status = simt_kernel_get(stream->device, &spec, 0, &kernel);
    if (status != ISO_OK) {
        return status;
    }
    if (height > 1 && pitch == width) {
        width *= height;
        height = 1;
    }
    make_slot(transfer, (phase + offset) % SLOT_BYTES, slot);

    int64_t slots = width / SLOT_BYTES + 2; /* the most that a row can touch */
    int32_t across = 0;
    while ((INT64_C(1) << across) < slots && (INT32_C(1) << across) < kernel->threads) {
        across++;
    }
    int64_t rows = kernel->threads >> across, columns = (int64_t)SLOTS_A_RUN << across;
    int64_t blocks_across = simt_pieces(slots, columns);
    int64_t blocks = simt_pieces(height, rows) * blocks_across;
    int64_t most = (int64_t)(limits->units > 0 ? limits->units : 1) * GROUPS_A_UNIT;
    const simt_arg args[] = {
        SIMT_MEMORY(memory), SIMT_ARG(offset),  SIMT_ARG(width),   SIMT_ARG(height),
        SIMT_ARG(pitch),     SIMT_ARG(phase),   SIMT_ARG(slot[0]), SIMT_ARG(slot[1]),
        SIMT_ARG(slot[2]),   SIMT_ARG(slot[3]), SIMT_ARG(across),  SIMT_ARG(blocks_across),
        SIMT_ARG(blocks),
    };
    return SIMT_LAUNCH(stream, kernel, simt_least(blocks, most), args);
}
