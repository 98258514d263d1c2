/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_tiles.c - chooses the tiles of a reduction for a device, and plans it. */
#include "backends/simt/reduce.h"

enum { VECTOR = 16 }; /* bytes */

/* NVIDIA's, measured on an H200 (docs/performance.md). A batch of 8 rows needs BLOCKS_AT_ONCE of
 * reduce.cl. */
static const simt_reduce_tile warp = {.threads = 256,
                                      .block_threads = 128,
                                      .columns = 32,
                                      .columns_wide = 16,
                                      .batch = 8,
                                      .groups = 8,
                                      .groups_max = 1 << 20};
static const simt_reduce_tile gpu = {.threads = 256,
                                     .block_threads = 256,
                                     .columns = 32,
                                     .columns_wide = 16,
                                     .batch = 4,
                                     .groups = 8,
                                     .groups_max = 1 << 20};
static const simt_reduce_tile cpu = {.threads = 64,
                                     .block_threads = 64,
                                     .looped = 1,
                                     .columns = 16,
                                     .columns_wide = 16,
                                     .batch = 1,
                                     .groups = 4,
                                     .groups_max = 256};
static const simt_reduce_tile small = {.threads = 32,
                                       .block_threads = 32,
                                       .columns = 4,
                                       .columns_wide = 4,
                                       .batch = 1,
                                       .groups = 2,
                                       .groups_max = 64};

static const simt_reduce_tile *const tiles[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = &warp, [SIMT_CLASS_WAVE32] = &gpu,  [SIMT_CLASS_WAVE64] = &gpu,
    [SIMT_CLASS_CPU] = &cpu,     [SIMT_CLASS_SMALL] = &small,
};

/* The tile if a lane is one 32-bit word. Groups are larger, and whole arrays use reduce_stream,
 * which reads at the speed of the memory. `streams` is how many vectors it reads ahead; classes for
 * which it is 0 do not use that kernel. */
static const simt_reduce_tile word = {.threads = 512,
                                      .block_threads = 512,
                                      .columns = 64,
                                      .columns_wide = 64,
                                      .batch = 8,
                                      .groups = 8,
                                      .groups_max = 1 << 20};
static const int32_t streams[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WAVE32] = 4,
};

/* Vectors of 16 bytes that a work-item of reduce_read has in flight. */
static const int32_t reads[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = 4, [SIMT_CLASS_WAVE32] = 4, [SIMT_CLASS_WAVE64] = 4,
    [SIMT_CLASS_CPU] = 16,   [SIMT_CLASS_SMALL] = 2,
};

static bool is_index(iso_reduce_op op)
{
    return op == ISO_ARGMIN || op == ISO_ARGMAX || op == ISO_ARGAMAX;
}

static int64_t lane_bytes_of(iso_reduce_op op, iso_dtype dtype)
{
    if (is_index(op)) {
        return 16;
    }
    if (op == ISO_NORM2 && dtype == ISO_F64) {
        return 24;
    }
    return simt_reduce_is_long(op, dtype) ? 8 : 4;
}

/* Work-items of a group of reduce_vectors, which has registers for lanes as wide as an element of
 * one operand. */
static int32_t vectors_of(const simt_limits *limits, iso_reduce_op op, iso_dtype dtype)
{
    enum { THREADS = 1024, LOCAL_BYTES = THREADS * VECTOR };
    const bool fits = limits->threads_max >= THREADS && limits->local_bytes >= LOCAL_BYTES;
    return limits->device_class == SIMT_CLASS_WARP32 && fits && op != ISO_DOT &&
                   lane_bytes_of(op, dtype) == iso_dtype_size(dtype)
               ? THREADS
               : 0;
}

simt_reduce_tile simt_reduce_tile_of(const simt_limits *limits, iso_reduce_op op, iso_dtype dtype)
{
    enum { LANE_MAX = 24 };
    const simt_reduce_tile *tile = tiles[limits->device_class];
    const int32_t stream = streams[limits->device_class];
    const int32_t read = op == ISO_XOR ? reads[limits->device_class] : 0;
    if (stream > 0 && limits->shuffle && word.threads <= limits->threads_max &&
        (dtype == ISO_F32 || dtype == ISO_I32) && !simt_reduce_is_wide(op, dtype) &&
        !simt_reduce_is_long(op, dtype)) {
        simt_reduce_tile streamed = word;
        streamed.stream = stream;
        streamed.read = read;
        return streamed;
    }
    const int64_t local = (int64_t)tile->threads * LANE_MAX;
    if (tile->threads > limits->threads_max || local > limits->local_bytes) {
        tile = &small;
    }
    simt_reduce_tile chosen = *tile;
    chosen.read = read;
    chosen.vectors = vectors_of(limits, op, dtype);
    return chosen;
}

bool simt_reduce_uses_f64(iso_reduce_op op, iso_dtype dtype)
{
    return dtype == ISO_F64 || op == ISO_MEAN || op == ISO_NORM2;
}

bool simt_reduce_is_wide(iso_reduce_op op, iso_dtype dtype)
{
    return is_index(op) || (op == ISO_NORM2 && dtype == ISO_F64);
}

bool simt_reduce_is_long(iso_reduce_op op, iso_dtype dtype)
{
    return dtype == ISO_F64 || dtype == ISO_I64 || op == ISO_NORM2 ||
           (op == ISO_MEAN && dtype == ISO_I32);
}

int32_t simt_reduce_width(int64_t n)
{
    int32_t width = 1;
    while (width < 32 && (int64_t)width * 4 < n) {
        width *= 2;
    }
    return width;
}

/* a * b, or INT64_MAX on overflow: no device has so much memory, so allocating it fails. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Bytes of the results of all levels, which are stored one after another. */
static int64_t levels_bytes(const simt_reduce_plan *plan)
{
    int64_t count = simt_pieces(plan->n, SIMT_REDUCE_BLOCK), all = count;
    if (count == 1) {
        return 0;
    }
    while (count > SIMT_REDUCE_BLOCK) {
        count = simt_pieces(count, SIMT_REDUCE_BLOCK);
        all += count;
    }
    return times(times(all, plan->sequences), plan->lane_bytes);
}

static int64_t parts_of(const simt_reduce_plan *plan, const simt_limits *limits)
{
    enum { ROUNDS = 4 }; /* least elements per work-item */
    const int64_t units = limits->units > 0 ? limits->units : 1;
    const int64_t useful = simt_pieces(plan->n, (int64_t)plan->tile.threads * ROUNDS);
    const int64_t wanted = simt_pieces(units * plan->tile.groups, plan->sequences);
    return simt_least(simt_least(useful, wanted), plan->tile.groups_max);
}

/* Groups of reduce_vectors side by side, or 0: rows must be whole vectors, and there must be work
 * for four of five units. Else reduce_columns, whose groups are smaller, leaves fewer units idle.
 */
static int64_t vector_groups(const simt_limits *limits, const iso_reduce_op_args *op)
{
    enum { ACROSS = 32, PARTS = 5 };
    const int64_t span = VECTOR / iso_dtype_size(op->dtype), wide = ACROSS * span;
    const int64_t full = op->cols / wide * simt_pieces(op->rows, SIMT_REDUCE_BLOCK);
    const int64_t units = limits->units > 0 ? limits->units : 1;
    return op->cols % span == 0 && op->ld_x % span == 0 && full * PARTS >= units * (PARTS - 1)
               ? simt_pieces(op->cols, wide)
               : 0;
}

void simt_reduce_plan_make(simt_reduce_plan *plan, const simt_limits *limits,
                           const iso_reduce_op_args *op)
{
    enum { COLUMNS_FROM = 8, ROWS_FROM = 9 }; /* with fewer, each column is a strided sequence */
    enum { PAST_FROM = 32 << 20 }; /* bytes; smaller arrays took longer (docs/performance.md) */
    const bool down = op->axis == ISO_AXIS_0;
    *plan = (simt_reduce_plan){
        .n = down ? op->rows : op->cols,
        .sequences = down                     ? op->cols
                     : op->axis == ISO_AXIS_1 ? op->rows
                                              : 1,
        .next_x = down ? 1 : op->ld_x,
        .step_x = down ? op->ld_x : 1,
        .next_y = down ? 1 : op->ld_y,
        .step_y = down ? op->ld_y : 1,
        .lane_bytes = lane_bytes_of(op->op, op->dtype),
        .columns = down && op->cols >= COLUMNS_FROM && op->rows >= ROWS_FROM,
        .tile = simt_reduce_tile_of(limits, op->op, op->dtype),
    };
    if (op->op != ISO_DOT) {
        plan->next_y = 0;
        plan->step_y = 1;
    }
    plan->stream = plan->tile.stream > 0 && plan->sequences == 1 && plan->step_x == 1 &&
                   plan->step_y == 1 && plan->n > SIMT_REDUCE_BLOCK && op->op != ISO_XOR;
    plan->read = op->op == ISO_XOR && plan->sequences == 1 && plan->step_x == 1 &&
                 plan->n > SIMT_REDUCE_BLOCK;
    plan->vectors = plan->columns && plan->tile.vectors > 0 ? vector_groups(limits, op) : 0;
    plan->past = times(times(plan->n, plan->sequences), iso_dtype_size(op->dtype)) > PAST_FROM;
    if (op->variant == ISO_VARIANT_TILED) {
        plan->work_bytes = levels_bytes(plan);
    } else if (op->variant == ISO_VARIANT_PARTIALS || op->axis == ISO_AXIS_ALL) {
        plan->parts = parts_of(plan, limits);
        plan->atomic = op->variant == ISO_VARIANT_NAIVE &&
                       !simt_reduce_is_wide(op->op, op->dtype) &&
                       (limits->atomic64 || !simt_reduce_is_long(op->op, op->dtype));
        plan->work_bytes =
            times(plan->atomic ? 1 : times(plan->parts, plan->sequences), plan->lane_bytes);
    }
}
