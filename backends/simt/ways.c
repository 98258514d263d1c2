/* SPDX-License-Identifier: Apache-2.0 */
/* ways.c - the ways of the tiled product, which tables of measured choices name: a tile that fits
 * the device, and how the segments of K run. */
#include "backends/simt/gemm.h"
#include "simt_kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether a tile can run its segments so, for some product. */
static bool has(const simt_tile *tile, const simt_limits *limits, simt_segments segments)
{
    return segments != SIMT_LAST_APART ||
           ((tile->copiers || simt_tile_is_ring(tile)) && simt_tile_keeps(tile, limits));
}

bool simt_gemm_way(const simt_limits *limits, iso_dtype dtype, int32_t index, simt_way *out)
{
    const simt_tiles all[] = {simt_gemm_tiles(limits->device_class, dtype),
                              simt_gemm_unit_tiles(simt_gemm_unit(limits, dtype))};
    for (int t = 0; t < 2; t++) {
        for (int32_t i = 0; i < all[t].count; i++) {
            const simt_tile *tile = &all[t].rows[i];
            for (int s = 0; s < SIMT_SEGMENTS && simt_tile_fits(tile, limits, dtype); s++) {
                if (has(tile, limits, (simt_segments)s) && index-- == 0) {
                    *out = (simt_way){tile, (simt_segments)s};
                    return true;
                }
            }
        }
    }
    return false;
}

iso_status simt_way_name(void *device, const iso_op *op, int32_t index, char *name,
                         int64_t capacity)
{
    static const char *const ends[SIMT_SEGMENTS] = {"", "-apart", "-last"};
    const simt_device *self = device;
    simt_way way;
    if (op->kind != ISO_OP_GEMM || !simt_gemm_way(&self->limits, op->gemm->dtype, index, &way)) {
        return ISO_NOT_READY;
    }
    (void)snprintf(name, (size_t)capacity, "%s%" PRId32 "x%" PRId32 "x%" PRId32 "%s",
                   way.tile->copiers             ? "split-"
                   : simt_tile_is_ring(way.tile) ? "ring-"
                   : way.tile->stages            ? "matrix-"
                   : way.tile->unit              ? "waves-"
                                                 : "",
                   way.tile->bm, way.tile->bn, way.tile->bk, ends[way.segments]);
    return ISO_OK;
}

iso_status simt_kernels_identity(void *device, char *text, int64_t capacity)
{
    const simt_device *self = device;
    const iso_status status = self->driver->compiler_version(self->native, text, capacity);
    if (!status) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, (size_t)capacity - used, ", kernels %s", SIMT_KERNELS);
    }
    return status;
}
