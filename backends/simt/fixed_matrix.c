/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_matrix.c - launches kernels/fixed_matrix.cl. */
#include "backends/simt/fixed_matrix.h"
#include "kernel_texts.h"

enum {
    VALUE_THREADS,
    VALUE_DTYPE,
    VALUE_BYTES,
    VALUE_GROUPS,
    VALUE_BM,
    VALUE_BN,
    VALUE_WAIT,
    VALUE_ADDED
};

static const char *const parts[] = {kernel_text_dialect, kernel_text_fixed_moduli,
                                    kernel_text_fixed_units, kernel_text_fixed_matrix};
static const simt_text text = {
    .name = "fixed_matrix",
    .parts = parts,
    .part_count = 4,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "ISO_BYTES", "ISO_GROUPS", "ISO_BM", "ISO_BN",
                "ISO_WAIT", "?ISO_ADDED"},
    .kernels = {"fixed_matrix"},
};

/* Work-items of a team, rows and columns of a group's tile, slices in shared memory, and groups
 * that fit one unit. */
typedef struct matrix_tile {
    int32_t team, bm, bn, stages, groups;
} matrix_tile;

/* A device uses those of its teams that fit its shared memory: the first if it gives every unit a
 * tile, else the last. */
static const matrix_tile tiles[] = {
    {.team = 32, .bm = 128, .bn = 256, .stages = 4, .groups = 1},
    {.team = 32, .bm = 128, .bn = 128, .stages = 3, .groups = 2},
    {.team = 64, .bm = 128, .bn = 128, .stages = 2, .groups = 2},
};
enum { TILES = (int)(sizeof tiles / sizeof *tiles), DEPTH = 64, TEAM = 64 };

static int64_t shared_bytes(const matrix_tile *tile)
{
    return (int64_t)tile->stages * (tile->bm + tile->bn) * DEPTH;
}

static int32_t threads_of(const matrix_tile *tile)
{
    return tile->bm / TEAM * (tile->bn / TEAM) * tile->team;
}

static bool added(const simt_limits *limits, const matrix_tile *tile)
{
    return shared_bytes(tile) > limits->local_bytes;
}

static bool fits(const simt_limits *limits, const matrix_tile *tile)
{
    return tile->team == limits->byte_unit &&
           (!added(limits, tile) || shared_bytes(tile) <= limits->shared_most);
}

int32_t simt_fixed_matrix_tiles(const simt_limits *limits)
{
    int32_t count = 0;
    for (int32_t i = 0; i < TILES; i++) {
        count += fits(limits, &tiles[i]);
    }
    return count;
}

/* Number `index` of those that fit. */
static const matrix_tile *tile_at(const simt_limits *limits, int32_t index)
{
    int32_t at = 0;
    for (;; at++) {
        if (fits(limits, &tiles[at]) && index-- == 0) {
            return &tiles[at];
        }
    }
}

static simt_spec spec_of(const simt_limits *limits, const matrix_tile *tile)
{
    return (simt_spec){.text = &text,
                       .values = {[VALUE_THREADS] = threads_of(tile),
                                  [VALUE_DTYPE] = ISO_I32,
                                  [VALUE_BYTES] = 1,
                                  [VALUE_GROUPS] = tile->groups,
                                  [VALUE_BM] = tile->bm,
                                  [VALUE_BN] = tile->bn,
                                  [VALUE_WAIT] = tile->stages - 2,
                                  [VALUE_ADDED] = added(limits, tile)}};
}

simt_spec simt_fixed_matrix_spec(const simt_limits *limits, int32_t tile)
{
    return spec_of(limits, tile_at(limits, tile));
}

void simt_fixed_matrix_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    for (int32_t i = 0; i < simt_fixed_matrix_tiles(limits); i++) {
        const simt_spec spec = simt_fixed_matrix_spec(limits, i);
        visit(&spec, context);
    }
}

static int64_t count_tiles(const matrix_tile *tile, const simt_fixed_matrix *product)
{
    return simt_pieces(product->rows, tile->bm) * simt_pieces(product->cols, tile->bn) *
           product->moduli * product->members;
}

static int32_t tile_for(const simt_limits *limits, const simt_fixed_matrix *product)
{
    const bool enough = count_tiles(tile_at(limits, 0), product) >= limits->units;
    return enough ? 0 : simt_fixed_matrix_tiles(limits) - 1;
}

iso_status simt_fixed_matrix_by(simt_stream *stream, const simt_fixed_matrix *product, int32_t tile)
{
    enum { UNITS_UNKNOWN = 128 };
    const simt_limits *limits = &stream->device->limits;
    const matrix_tile *shape = tile_at(limits, tile);
    const simt_spec spec = spec_of(limits, shape);
    const simt_kernel *kernel = NULL;
    const int64_t at_once = (limits->units > 0 ? limits->units : UNITS_UNKNOWN) * shape->groups;
    const int32_t tasks = (int32_t)count_tiles(shape, product); /* scratch memory limits them */
    const int32_t later = product->later;
    const simt_arg args[] = {
        SIMT_MEMORY(product->memory),
        SIMT_ARG(product->planes_a),
        SIMT_ARG(product->planes_b),
        SIMT_ARG(product->rows),
        SIMT_ARG(product->cols),
        SIMT_ARG(product->members),
        SIMT_ARG(product->pitch),
        SIMT_MEMORY(product->memory),
        SIMT_ARG(product->residues),
        SIMT_ARG(later),
        SIMT_ARG(tasks),
        {.bytes = (int32_t)shared_bytes(shape)},
    };
    const int32_t count = (int32_t)(sizeof args / sizeof *args) - !added(limits, shape);
    const iso_status status = simt_kernel_get(stream->device, &spec, 0, &kernel);
    return status ? status : simt_launch(stream, kernel, simt_least(tasks, at_once), args, count);
}

iso_status simt_fixed_matrix_multiply(simt_stream *stream, const simt_fixed_matrix *product)
{
    return simt_fixed_matrix_by(stream, product, tile_for(&stream->device->limits, product));
}

iso_status simt_fixed_matrix_prepare(simt_device *device)
{
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < simt_fixed_matrix_tiles(&device->limits) && status == ISO_OK; i++) {
        const simt_spec spec = simt_fixed_matrix_spec(&device->limits, i);
        const simt_kernel *kernel = NULL;
        status = simt_kernel_get(device, &spec, 0, &kernel);
    }
    return status;
}
