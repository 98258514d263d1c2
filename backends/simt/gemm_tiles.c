/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_tiles.c - chooses the tile of a product. For each tile, two times are estimated from the
 * number of groups and the device's units: with the segments in sequence, and with the segments in
 * parallel. The shortest time wins. A table of measured choices may name the tile instead. Of
 * very small products no tile is chosen. The choice never changes a bit of the result.
 */
#include "backends/simt/gemm.h"
#include "common/dtype.h"

enum {
    APART_BYTES = 256 << 20, /* approximate limit of scratch memory for segments in parallel */
    GROUPS_MAX = 8192,       /* of a launch; with more tiles, a group computes several */
    START_STEPS = 400,       /* time of filling and emptying a unit, in steps of k */
    START_STAYS = 100,       /* the same for groups that begin their next tile at once */
    COPY_COST = 6,
    JOIN_COST = 750000 /* cost of a second launch, in the measure of cost_of */
};

/* clang-format off */
/* full and alone: measured on an H200 (peak: f32 67 TFLOP/s, f64 33.5), estimated for other
 * devices. */
static const simt_tile warp32_f32[] = {
    {.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8, .groups = 2, .full = 68, .alone = 60, .apart_layouts = true},
    {.bm = 128, .bn = 64, .bk = 16, .tm = 8, .tn = 8, .groups = 2, .full = 66, .alone = 54, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4, .groups = 4, .full = 59, .alone = 24},
    {.bm = 32, .bn = 32, .bk = 32, .tm = 4, .tn = 4, .groups = 6, .full = 42, .alone = 12},
    {.bm = 128, .bn = 256, .bk = 8, .tm = 8, .tn = 16, .stages = 3, .groups = 1, .full = 77, .alone = 77, .apart_layouts = true},
    {.bm = 64, .bn = 128, .bk = 8, .tm = 8, .tn = 16, .stages = 3, .groups = 4, .full = 71, .alone = 22, .apart_layouts = true},
    {.bm = 64, .bn = 128, .bk = 16, .tm = 4, .tn = 8, .stages = 3, .groups = 2, .full = 67, .alone = 61, .apart_layouts = true},
    {.bm = 32, .bn = 64, .bk = 32, .tm = 4, .tn = 4, .stages = 3, .groups = 4, .full = 53, .alone = 37, .apart_layouts = true},
    {.bm = 16, .bn = 64, .bk = 32, .tm = 4, .tn = 4, .stages = 3, .groups = 6, .full = 48, .alone = 17, .apart_layouts = true},
    {.bm = 16, .bn = 16, .bk = 64, .tm = 4, .tn = 1, .stages = 4, .groups = 6, .full = 16, .alone = 9, .apart_layouts = true},
    {.bm = 4, .bn = 32, .bk = 32, .tm = 4, .tn = 1, .stages = 6, .groups = 6, .full = 16, .alone = 3, .apart_layouts = true},
};
static const simt_tile warp32_half[] = {
    {.bm = 128, .bn = 128, .bk = 16, .tm = 8, .tn = 8, .groups = 2, .full = 66, .alone = 58, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4, .groups = 4, .full = 56, .alone = 24},
    {.bm = 32, .bn = 32, .bk = 32, .tm = 4, .tn = 4, .groups = 6, .full = 42, .alone = 12},
};
static const simt_tile warp32_f64[] = {
    {.bm = 128, .bn = 64, .bk = 8, .tm = 8, .tn = 8, .groups = 2, .full = 66, .alone = 57, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4, .groups = 2, .full = 60, .alone = 32},
    {.bm = 32, .bn = 32, .bk = 16, .tm = 4, .tn = 4, .groups = 4, .full = 51, .alone = 16},
};
/* On NVIDIA's matrix units, in percent of the peak without them. OpenCL cannot add shared memory to
 * what a kernel declares, so the first four do not fit there. */
static const simt_tile unit_f64[] = {
    {.bm = 128, .bn = 128, .bk = 16, .tm = 8, .tn = 8, .unit = true, .stages = 3, .copiers = 128, .groups = 1, .full = 177, .alone = 177, .apart_layouts = true},
    {.bm = 128, .bn = 64, .bk = 16, .tm = 4, .tn = 8, .unit = true, .stages = 4, .copiers = 128, .groups = 1, .full = 150, .alone = 150, .apart_layouts = true},
    {.bm = 128, .bn = 128, .bk = 16, .tm = 8, .tn = 8, .unit = true, .stages = 3, .groups = 1, .full = 160, .alone = 160, .apart_layouts = true},
    {.bm = 64, .bn = 128, .bk = 16, .tm = 8, .tn = 8, .unit = true, .stages = 3, .groups = 2, .full = 155, .alone = 130, .apart_layouts = true},
    {.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8, .unit = true, .stages = 3, .groups = 1, .full = 146, .alone = 146, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 8, .unit = true, .stages = 3, .groups = 3, .full = 136, .alone = 75, .apart_layouts = true},
    {.bm = 32, .bn = 32, .bk = 16, .tm = 2, .tn = 4, .unit = true, .stages = 4, .groups = 4, .full = 80, .alone = 25, .apart_layouts = true},
};
static const simt_tile wave32_f32[] = {
    {.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8, .groups = 2, .full = 68, .alone = 60, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4, .groups = 4, .full = 59, .alone = 24},
    {.bm = 32, .bn = 32, .bk = 32, .tm = 4, .tn = 4, .groups = 6, .full = 42, .alone = 12},
};
static const simt_tile wave32_f64[] = {
    {.bm = 64, .bn = 64, .bk = 16, .tm = 8, .tn = 4, .groups = 2, .full = 60, .alone = 32},
    {.bm = 32, .bn = 32, .bk = 16, .tm = 4, .tn = 4, .groups = 4, .full = 51, .alone = 16},
};
static const simt_tile wave64_f32[] = {
    {.bm = 128, .bn = 128, .bk = 8, .tm = 8, .tn = 8, .groups = 2, .full = 68, .alone = 55, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4, .groups = 2, .full = 55, .alone = 30},
    {.bm = 32, .bn = 32, .bk = 16, .tm = 4, .tn = 4, .groups = 4, .full = 40, .alone = 12},
};
static const simt_tile wave64_f64[] = {
    {.bm = 64, .bn = 64, .bk = 8, .tm = 4, .tn = 4, .groups = 2, .full = 66, .alone = 45, .apart_layouts = true},
    {.bm = 32, .bn = 32, .bk = 8, .tm = 4, .tn = 4, .groups = 4, .full = 50, .alone = 16},
};
/* On AMD's matrix units, likewise. */
static const simt_tile wave_unit_f64[] = {
    {.bm = 128, .bn = 64, .bk = 8, .tm = 8, .tn = 4, .unit = true, .groups = 2, .full = 160, .alone = 100, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 8, .tm = 4, .tn = 4, .unit = true, .groups = 4, .full = 140, .alone = 60, .apart_layouts = true},
    {.bm = 32, .bn = 32, .bk = 16, .tm = 2, .tn = 2, .unit = true, .groups = 4, .full = 80, .alone = 25, .apart_layouts = true},
};
static const simt_tile wave_unit_f32[] = {
    {.bm = 128, .bn = 128, .bk = 16, .tm = 8, .tn = 8, .unit = true, .groups = 2, .full = 90, .alone = 60, .apart_layouts = true},
    {.bm = 64, .bn = 64, .bk = 16, .tm = 4, .tn = 4, .unit = true, .groups = 4, .full = 75, .alone = 32, .apart_layouts = true},
    {.bm = 32, .bn = 32, .bk = 16, .tm = 2, .tn = 2, .unit = true, .groups = 4, .full = 45, .alone = 14, .apart_layouts = true},
};
static const simt_tile cpu_all[] = {
    {.bm = 96, .bn = 128, .bk = 256, .tm = 96, .tn = 128, .core = true, .groups = 1, .full = 60, .alone = 60},
    {.bm = 48, .bn = 64, .bk = 256, .tm = 48, .tn = 64, .core = true, .groups = 1, .full = 50, .alone = 50},
    {.bm = 24, .bn = 32, .bk = 64, .tm = 24, .tn = 32, .core = true, .groups = 1, .full = 35, .alone = 35},
    {.bm = 12, .bn = 16, .bk = 64, .tm = 12, .tn = 16, .core = true, .groups = 1, .full = 20, .alone = 20},
};
static const simt_tile small_all[] = {
    {.bm = 8, .bn = 8, .bk = 8, .tm = 4, .tn = 2, .groups = 1, .full = 10, .alone = 10, .rolled = true},
};
/* clang-format on */

#define ROWS(table) {.rows = (table), .count = (int32_t)(sizeof(table) / sizeof *(table))}
#define TYPES(half, f32, f64)                                                                      \
    {[ISO_F16] = half, [ISO_BF16] = half, [ISO_F32] = f32, [ISO_F64] = f64}

simt_tiles simt_gemm_tiles(simt_class device_class, iso_dtype dtype)
{
    static const simt_tiles tables[SIMT_CLASS_COUNT][ISO_F64 + 1] = {
        [SIMT_CLASS_WARP32] = TYPES(ROWS(warp32_half), ROWS(warp32_f32), ROWS(warp32_f64)),
        [SIMT_CLASS_WAVE32] = TYPES(ROWS(warp32_half), ROWS(wave32_f32), ROWS(wave32_f64)),
        [SIMT_CLASS_WAVE64] = TYPES(ROWS(wave64_f32), ROWS(wave64_f32), ROWS(wave64_f64)),
        [SIMT_CLASS_CPU] = TYPES(ROWS(cpu_all), ROWS(cpu_all), ROWS(cpu_all)),
        [SIMT_CLASS_SMALL] = TYPES(ROWS(small_all), ROWS(small_all), ROWS(small_all)),
    };
    return tables[device_class][dtype];
}

/* The units for f32 also compute products of halves, which are widened in shared memory. */
simt_unit simt_gemm_unit(const simt_limits *limits, iso_dtype dtype)
{
    if (dtype == ISO_F64) {
        return limits->f64_unit   ? SIMT_UNIT_F64
               : limits->wave_f64 ? SIMT_UNIT_WAVE_F64
                                  : SIMT_UNITS;
    }
    return limits->wave_f32 ? SIMT_UNIT_WAVE_F32 : SIMT_UNITS;
}

simt_tiles simt_gemm_unit_tiles(simt_unit unit)
{
    static const simt_tiles tables[SIMT_UNITS + 1] = {
        [SIMT_UNIT_F64] = ROWS(unit_f64),
        [SIMT_UNIT_WAVE_F64] = ROWS(wave_unit_f64),
        [SIMT_UNIT_WAVE_F32] = ROWS(wave_unit_f32),
    };
    return tables[unit];
}

int32_t simt_tile_threads(const simt_tile *tile)
{
    return tile->bm / tile->tm * (tile->bn / tile->tn) + tile->copiers;
}

int64_t simt_gemm_acc_bytes(iso_dtype dtype)
{
    return iso_dtype_size(dtype_get(dtype)->computes_in);
}

/* On a matrix unit, stages have another text. */
bool simt_tile_is_ring(const simt_tile *tile)
{
    return tile->stages && !tile->unit;
}

/* Bytes of an element in the shared memory of a tile with stages. */
static int64_t staged_bytes(const simt_tile *tile)
{
    return simt_tile_is_ring(tile) ? 4 : 8;
}

static int64_t tile_sums(const simt_tile *tile)
{
    return (int64_t)tile->bm * tile->bn * staged_bytes(tile);
}

/* The gates of a tile with copiers, and the sums of a core, are with its slices. */
static int64_t tile_slices(const simt_tile *tile, int64_t acc_bytes)
{
    const int32_t padding = simt_tile_is_ring(tile) ? 8 : 0; /* of a line of A and one of B */
    const int64_t slice = (int64_t)(tile->bm + tile->bn + padding) * tile->bk * acc_bytes;
    if (tile->core) {
        return slice + (int64_t)tile->bm * tile->bn * acc_bytes;
    }
    return (tile->stages ? tile->stages : 2) * (slice + (tile->copiers ? 16 : 0));
}

/* Whether all groups that should fit one unit do so with their totals in shared memory. A unit
 * reserves 1 KiB for each. */
bool simt_tile_keeps(const simt_tile *tile, const simt_limits *limits)
{
    const int64_t group = tile_slices(tile, staged_bytes(tile)) + tile_sums(tile);
    return tile->stages && group <= limits->shared_most &&
           tile->groups * (group + 1024) <= limits->shared_of_unit;
}

bool simt_tile_added(const simt_tile *tile, const simt_limits *limits)
{
    return tile->copiers ||
           (tile->unit && tile->stages && tile_slices(tile, 8) > limits->local_bytes);
}

bool simt_tile_fits(const simt_tile *tile, const simt_limits *limits, iso_dtype dtype)
{
    const int64_t shared = tile_slices(tile, simt_gemm_acc_bytes(dtype));
    return simt_tile_threads(tile) <= limits->threads_max &&
           (tile->copiers == 0 || (limits->f64_split && shared <= limits->shared_most)) &&
           (!simt_tile_is_ring(tile) || limits->ring) &&
           (shared <= limits->local_bytes ||
            (tile->unit && tile->stages && shared <= limits->shared_most));
}

int32_t simt_gemm_naive_threads(const simt_limits *limits)
{
    static const int32_t threads[SIMT_CLASS_COUNT] = {
        [SIMT_CLASS_WARP32] = 256, [SIMT_CLASS_WAVE32] = 256, [SIMT_CLASS_WAVE64] = 256,
        [SIMT_CLASS_CPU] = 64,     [SIMT_CLASS_SMALL] = 16,
    };
    const int32_t wanted = threads[limits->device_class];
    return wanted <= limits->threads_max ? wanted : threads[SIMT_CLASS_SMALL];
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* A tile fills its slices and meets at barriers before it multiplies. That took 3 us on an H200,
 * for one element and one term, while a work-item of the naive kernel has only its chain of terms.
 * So that kernel is taken if the chain is short and the results fit one of its groups, alone or as
 * a batch. It has the same bits for every operation. A named way comes first. Not on processors,
 * where a tile has no such start, nor with ISOMER_TILES=small, which is there to run tiles. */
bool simt_gemm_is_tiny(const simt_limits *limits, const iso_gemm_op *op)
{
    enum { TERMS = 32 };
    const int64_t most = simt_gemm_naive_threads(limits);
    return op->way <= 0 && limits->device_class != SIMT_CLASS_CPU &&
           limits->device_class != SIMT_CLASS_SMALL && op->k <= TERMS && op->m <= most &&
           op->n <= most && op->batch <= most && op->m * op->n * op->batch <= most;
}

/* Number of tiles in all of C, as a double because 64 bits may not hold it. */
static double count_tiles(const simt_tile *tile, const iso_gemm_op *op)
{
    return (double)simt_pieces(op->m, tile->bm) * (double)simt_pieces(op->n, tile->bn) *
           (double)op->batch;
}

/* Copies of a ring's work-item for one step of k: in vectors of an operand whose outer index is
 * contiguous and aligned, else one by one. */
static double copies_of(const simt_tile *tile, bool wide_a, bool wide_b)
{
    return (tile->bm * (wide_a ? 0.25 : 1) + tile->bn * (wide_b ? 0.25 : 1)) /
           simt_tile_threads(tile);
}

/* How much longer a ring takes than with the layout in which `full` and `alone` were measured: A is
 * contiguous along k, and B has vectors. A copy takes as long as COPY_COST multiplications. */
static double copying_of(const simt_tile *tile, const iso_gemm_op *op)
{
    if (!simt_tile_is_ring(tile)) {
        return 1;
    }
    const int64_t vector = 16 / iso_dtype_size(op->dtype);
    const bool wide_a = op->trans_a == ISO_TRANS && op->lda % vector == 0;
    const bool wide_b = op->trans_b != ISO_TRANS && op->ldb % vector == 0;
    const double cells = (double)tile->tm * tile->tn / COPY_COST;
    return (cells + copies_of(tile, wide_a, wide_b)) / (cells + copies_of(tile, false, true));
}

/* Estimated time of `turns` groups with k steps each. The time is given as the number of
 * multiplications that one unit performs in it at its peak. */
static double cost_of(const simt_tile *tile, const simt_limits *limits, const iso_gemm_op *op,
                      double turns, double k)
{
    const double units = limits->units > 0 ? limits->units : 1;
    const double whole = turns / units;
    const double rounds = (double)(int64_t)whole + (whole > (double)(int64_t)whole);
    const double at_once = rounds < tile->groups ? rounds : tile->groups;
    const double reached = at_once * tile->alone < tile->full ? at_once * tile->alone : tile->full;
    const double start = tile->copiers || simt_tile_is_ring(tile) ? START_STAYS : START_STEPS;
    return tile->bm * tile->bn * (rounds * (k + 32) * 100 / reached * copying_of(tile, op) + start);
}

typedef struct choice {
    const simt_tile *tile;
    bool apart;
    int32_t last_apart; /* see simt_gemm_plan */
    double cost;
} choice;

static double join_cost(const simt_limits *limits, double cells, int64_t segments)
{
    return cells * (double)segments * 100 / (limits->units > 0 ? limits->units : 1) + JOIN_COST;
}

static double apart_bytes(const iso_gemm_op *op, double cells)
{
    return cells * (double)simt_gemm_acc_bytes(op->dtype);
}

/* All units are busy until the last round of tiles. Returns how many tiles that round has if their
 * segments can run side by side; otherwise 0. */
static int64_t last_tiles(const simt_tile *tile, const simt_limits *limits, const iso_gemm_op *op)
{
    const int64_t at_once = (int64_t)(limits->units > 0 ? limits->units : 1) * tile->groups;
    const int64_t segments = simt_pieces(op->k, SIMT_GEMM_SEGMENT);
    const double tiles = count_tiles(tile, op);
    if (segments < 2 || tiles > INT32_MAX || !simt_tile_keeps(tile, limits)) {
        return 0;
    }
    const int64_t last = (int64_t)tiles % at_once; /* of all tiles if there is one round only */
    const double cells = (double)last * tile->bm * tile->bn;
    return last < (int64_t)tiles && apart_bytes(op, cells) * (double)segments <= APART_BYTES ? last
                                                                                             : 0;
}

/* The tiles of the last round are computed in segments, if that takes less time. */
static void consider_last(choice *best, const simt_tile *tile, const simt_limits *limits,
                          const iso_gemm_op *op)
{
    const int64_t segments = simt_pieces(op->k, SIMT_GEMM_SEGMENT);
    const int64_t last = last_tiles(tile, limits, op);
    const double cells = (double)last * tile->bm * tile->bn;
    const double cost =
        cost_of(tile, limits, op, count_tiles(tile, op) - (double)last, (double)op->k) +
        cost_of(tile, limits, op, (double)(last * segments), SIMT_GEMM_SEGMENT) +
        join_cost(limits, cells, segments);
    if (last > 0 && cost < best->cost) {
        *best = (choice){.tile = tile, .last_apart = (int32_t)last, .cost = cost};
    }
}

/* Whether all segments can run side by side, and scratch memory holds at least two of them. */
static bool can_be_apart(const simt_tile *tile, const iso_gemm_op *op)
{
    const double cells = count_tiles(tile, op) * tile->bm * tile->bn;
    return simt_pieces(op->k, SIMT_GEMM_SEGMENT) > 1 && 2 * apart_bytes(op, cells) <= APART_BYTES;
}

static void consider(choice *best, const simt_tile *tile, const simt_limits *limits,
                     const iso_gemm_op *op)
{
    const int64_t segments = simt_pieces(op->k, SIMT_GEMM_SEGMENT);
    const double tiles = count_tiles(tile, op);
    const double whole = cost_of(tile, limits, op, tiles, (double)op->k);
    if (!best->tile || whole < best->cost) {
        *best = (choice){.tile = tile, .cost = whole};
    }
    if (can_be_apart(tile, op)) {
        const double apart =
            cost_of(tile, limits, op, tiles * (double)segments, SIMT_GEMM_SEGMENT) +
            join_cost(limits, tiles * tile->bm * tile->bn, segments);
        if (apart < best->cost) {
            *best = (choice){.tile = tile, .apart = true, .cost = apart};
        }
    }
    if (tile->copiers || simt_tile_is_ring(tile)) {
        consider_last(best, tile, limits, op);
    }
}

/* The way that the operation names; no tile if it names none, or one on a unit that is not used. */
static choice choose_named(const simt_limits *limits, const iso_gemm_op *op, bool unit)
{
    simt_way way = {.tile = NULL};
    if (op->way <= 0 || !simt_gemm_way(limits, op->dtype, op->way - 1, &way) ||
        (way.tile->unit && !unit)) {
        return (choice){.tile = NULL};
    }
    return (choice){
        .tile = way.tile,
        .apart = way.segments == SIMT_ALL_APART && can_be_apart(way.tile, op),
        .last_apart =
            way.segments == SIMT_LAST_APART ? (int32_t)last_tiles(way.tile, limits, op) : 0,
    };
}

/* Plans how many segments run at once. If scratch memory cannot hold all of them, they run in
 * rounds, and totals are kept from one round to the next. */
static void plan_rounds(simt_gemm_plan *plan, int64_t tiles, int64_t segments, int64_t acc_bytes)
{
    const int64_t cells = tiles * plan->tile.bm * plan->tile.bn;
    const int64_t fit = APART_BYTES / (cells * acc_bytes);
    const int64_t at_once = simt_least(segments, fit);
    const int64_t parts = tiles * plan->tile.tm * plan->tile.tn;
    plan->round_k = at_once * SIMT_GEMM_SEGMENT;
    plan->total_at = at_once * cells;
    plan->groups = simt_least(tiles * at_once, GROUPS_MAX);
    plan->join_groups = simt_least(parts, GROUPS_MAX);
    plan->work_bytes = (plan->total_at + (at_once < segments ? cells : 0)) * acc_bytes;
}

static void consider_all(choice *best, simt_tiles tiles, const simt_limits *limits,
                         const iso_gemm_op *op)
{
    for (int32_t i = 0; i < tiles.count; i++) {
        if (simt_tile_fits(&tiles.rows[i], limits, op->dtype)) {
            consider(best, &tiles.rows[i], limits, op);
        }
    }
}

void simt_gemm_plan_make(simt_gemm_plan *plan, const simt_limits *limits, const iso_gemm_op *op,
                         bool unit)
{
    const int64_t segments = simt_pieces(op->k, SIMT_GEMM_SEGMENT);
    choice best = choose_named(limits, op, unit);
    const bool named = best.tile != NULL;
    if (!named) {
        consider_all(&best, simt_gemm_tiles(limits->device_class, op->dtype), limits, op);
    }
    if (unit && !named) {
        consider_all(&best, simt_gemm_unit_tiles(simt_gemm_unit(limits, op->dtype)), limits, op);
    }
    if (!best.tile) {
        consider(&best, simt_gemm_tiles(SIMT_CLASS_SMALL, op->dtype).rows, limits, op);
    }
    const simt_tile *tile = best.tile;
    const int64_t cells = (int64_t)tile->bm * tile->bn;
    const double all = count_tiles(tile, op);
    const int64_t total = all < GROUPS_MAX ? (int64_t)all : GROUPS_MAX;
    *plan = (simt_gemm_plan){
        .tile = *tile,
        .along_k_a = op->trans_a != ISO_TRANS,
        .along_k_b = op->trans_b == ISO_TRANS,
        .apart = best.apart,
        .last_apart = best.last_apart,
        .groups = total,
    };
    const int64_t resident = (int64_t)(limits->units > 0 ? limits->units : 1) * tile->groups;
    if (simt_tile_added(tile, limits)) {
        plan->shared_bytes = (int32_t)tile_slices(tile, 8);
    }
    if (best.apart) {
        plan_rounds(plan, (int64_t)all, segments, simt_gemm_acc_bytes(op->dtype));
    } else if (segments > 1 && simt_tile_keeps(tile, limits)) {
        plan->shared_bytes += (int32_t)tile_sums(tile);
        plan->work_bytes = best.last_apart * segments * cells * simt_gemm_acc_bytes(op->dtype);
        plan->join_groups = simt_least((int64_t)best.last_apart * tile->tm * tile->tn, GROUPS_MAX);
    } else if (segments > 1) {
        /* Each group needs scratch memory for its totals, so only as many groups are launched as
         * can run at once. */
        plan->groups = simt_least(total, resident);
        plan->work_bytes = plan->groups * cells * simt_gemm_acc_bytes(op->dtype);
    }
    /* Groups that stay begin their next tile at once; copiers do so beside the end of this one. */
    if (tile->copiers || simt_tile_is_ring(tile)) {
        plan->groups = simt_least(plan->groups, resident);
    }
}
