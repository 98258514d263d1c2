/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roof.c - the roofs of a device: the rates that its memory and its arithmetic can reach.
 *
 * A roof is measured by the cases that are there for it. Any other row that is limited by the same
 * thing and is faster raises the roof, because the device has just shown that it can do more.
 */
#include "bench/measure/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[MEASURE_ROOFS] = {
    [ROOF_READ] = "read",
    [ROOF_TRIAD] = "triad",
    [ROOF_COPY] = "copy",
    [ROOF_FMA_F32] = "fma f32",
    [ROOF_FMA_F64] = "fma f64",
    [ROOF_MATRIX_F16] = "matrix f16",
    [ROOF_MATRIX_BF16] = "matrix bf16",
    [ROOF_MATRIX_TF32] = "matrix tf32",
    [ROOF_MATRIX_F64] = "matrix f64",
};

static bool is_memory(int roof)
{
    return roof <= ROOF_COPY;
}

static const char *unit_of(int roof)
{
    return is_memory(roof) ? "GB/s" : "GFLOP/s";
}

/* What a case does of the thing that this roof limits. */
static double work_of(const bench_case *item, int roof)
{
    return is_memory(roof) ? item->bytes_read + item->bytes_written : item->flops;
}

bool measure_has_times(const measure_row *row)
{
    return row->result.status == BENCH_OK && row->count > 0;
}

/* ---- which roof limits a case ---------------------------------------------------------------- */

int measure_mix(double read, double written)
{
    static const double shares[] = {[ROOF_READ] = 1, [ROOF_TRIAD] = 2.0 / 3, [ROOF_COPY] = 0.5};
    double share = read / (read + written);
    int best = MEASURE_ROOFS;
    for (int i = ROOF_READ; i <= ROOF_COPY && isfinite(share); i++) {
        if (best == MEASURE_ROOFS || fabs(share - shares[i]) < fabs(share - shares[best])) {
            best = i;
        }
    }
    return best;
}

static bool fits_cache(const bench_case *item, const iso_device_info *info)
{
    return work_case_array(item) < 4 * info->cache_bytes;
}

bool measure_in_cache(const bench_case *item, const iso_device_info *info)
{
    return !item->cold && fits_cache(item, info);
}

/* The roof of the memory for a case. Transfers between host and device have none. */
static int memory_roof(const bench_case *item)
{
    bool crosses = item->op->moves && item->transfer.move != TRANSFER_COPY;
    return crosses ? MEASURE_ROOFS : measure_mix(item->bytes_read, item->bytes_written);
}

static int fma_roof(const bench_case *item)
{
    return arith_wide(item->dtype) == ISO_F64 ? ROOF_FMA_F64 : ROOF_FMA_F32;
}

/* The roof of the matrix units, which products by a vendor's library use if the chip has them for
 * the type, and isomer's own of f64. MEASURE_ROOFS: no such product. */
static int matrix_roof(const measure_row *row)
{
    const bench_case *item = row->item;
    const bool f64 = arith_wide(item->dtype) == ISO_F64;
    const bool own = row->result.how == ISO_VARIANT_TILED && f64;
    if (!item->op->libraries || (row->result.how != ISO_VARIANT_VENDOR && !own)) {
        return MEASURE_ROOFS;
    }
    return item->dtype == ISO_F16              ? ROOF_MATRIX_F16
           : item->dtype == ISO_BF16           ? ROOF_MATRIX_BF16
           : f64                               ? ROOF_MATRIX_F64
           : row->result.math == ISO_MATH_TF32 ? ROOF_MATRIX_TF32
                                               : MEASURE_ROOFS;
}

/* The roof of a row's arithmetic; MEASURE_ROOFS: it is not known, as that of sums of integers is
 * not. */
static int compute_roof(const measure_row *row, const measure_roof *roofs,
                        const iso_device_info *info)
{
    int matrix = matrix_roof(row);
    if (row->result.how == ISO_VARIANT_FIXED || row->item->dtype == ISO_I8) {
        return MEASURE_ROOFS;
    }
    if (matrix != MEASURE_ROOFS && isfinite(roofs[matrix].value)) {
        return matrix;
    }
    /* On an unknown GPU, a product of short numbers is far above any chain of multiply-adds. */
    bool unknown =
        matrix != MEASURE_ROOFS && matrix != ROOF_MATRIX_F64 && info->type == ISO_DEVICE_GPU;
    return unknown ? MEASURE_ROOFS : fma_roof(row->item);
}

/* The roof that limits a row: that of its arithmetic or of its memory, whichever takes longer. */
static int binding_roof(const measure_row *row, const measure_roof *roofs,
                        const iso_device_info *info)
{
    const bench_case *item = row->item;
    int memory = memory_roof(item), compute = compute_roof(row, roofs, info);
    if (memory == MEASURE_ROOFS || (item->flops > 0 && compute == MEASURE_ROOFS)) {
        return MEASURE_ROOFS;
    }
    double moving = work_of(item, memory) / roofs[memory].value;
    double computing = item->flops > 0 ? item->flops / roofs[compute].value : 0;
    if (!isfinite(computing)) {
        computing = 0;
    }
    if (item->roof == BENCH_ROOF_FMA || !isfinite(moving) || computing > moving) {
        return computing > 0 ? compute : MEASURE_ROOFS;
    }
    /* The memory's roof says nothing about data in a cache. A cold case reads from the memory, but
     * what it writes may stay in the cache. */
    bool reads_memory = item->cold && memory == ROOF_READ;
    return fits_cache(item, info) && !reads_memory ? MEASURE_ROOFS : memory;
}

/* ---- the roofs of a device ------------------------------------------------------------------- */

static stats_interval time_of(const measure_row *row)
{
    double *rounds = tool_alloc((size_t)row->rounds, sizeof *rounds, "the rounds");
    stats_interval time =
        stats_median_interval(rounds, measure_round_medians(row, rounds, false), 0.95);
    free(rounds);
    return time;
}

/* What the rows show about one roof. */
typedef struct finding {
    measure_roof best;
    bool uncached; /* the best row's arrays fit no cache */
    bool measured; /* some case was there for this roof */
} finding;

static void consider(finding *found, int roof, const measure_row *row, const stats_interval *time,
                     bool uncached)
{
    double work = work_of(row->item, roof), value = work / time->median;
    bool more = !(found->best.value >= value);
    found->measured = found->measured || row->item->roof != BENCH_NO_ROOF;
    if (uncached == found->uncached ? more : uncached) {
        found->best =
            (measure_roof){value, work / time->high, work / time->low, "measured", row->item->id};
        found->uncached = uncached;
    }
}

/* Where memory is too short for arrays that fit no cache, the cases for the memory's roofs use the
 * largest arrays that it allows, which is better than no roof. No other row whose arrays fit a
 * cache counts, and no row that computes more than it moves. */
static void consider_memory(finding *found, const measure_row *row, const stats_interval *time,
                            const iso_device_info *info)
{
    const bench_case *item = row->item;
    int roof = memory_roof(item);
    bool fits = fits_cache(item, info);
    if (roof != MEASURE_ROOFS && item->roof != BENCH_ROOF_FMA &&
        !bench_op_computes(item->op, item->kind) && (!fits || item->roof == BENCH_ROOF_MEMORY)) {
        consider(&found[roof], roof, row, time, !fits);
    }
}

/* A vendor's product on a GPU may use matrix units even for f32 and f64, and isomer's own does for
 * f64. A fixed product is none of multiply-adds. */
static void consider_arithmetic(finding *found, const measure_row *row, const stats_interval *time,
                                const iso_device_info *info)
{
    const bench_case *item = row->item;
    bool units =
        row->result.how == ISO_VARIANT_VENDOR || (item->op->libraries && item->dtype == ISO_F64);
    bool plain = row->result.how != ISO_VARIANT_FIXED && (!units || info->type != ISO_DEVICE_GPU);
    bool floats = item->dtype == ISO_F32 || item->dtype == ISO_F64;
    if (item->flops > 0 && plain && floats && bench_op_computes(item->op, item->kind)) {
        consider(&found[fma_roof(item)], fma_roof(item), row, time, true);
    }
}

void measure_find_roofs(const measure_state *state, int32_t target, measure_roof *roofs)
{
    const iso_device_info *info = work_target_info(state->plan->targets[target]);
    const measure_roof none = {NAN, NAN, NAN, "measured", NULL};
    finding found[MEASURE_ROOFS];
    for (int i = 0; i < MEASURE_ROOFS; i++) {
        found[i] = (finding){none, false, false};
    }
    for (int32_t i = 0; i < state->count; i++) {
        const measure_row *row = &state->rows[i];
        /* The work of the program's own kernels is what their description says. */
        if (row->target == target && measure_has_times(row) && !row->item->op->own &&
            !measure_clock_wrong(row)) {
            stats_interval time = time_of(row);
            consider_memory(found, row, &time, info);
            consider_arithmetic(found, row, &time, info);
        }
    }
    for (int i = 0; i < MEASURE_ROOFS; i++) {
        roofs[i] = found[i].measured ? found[i].best : none;
    }
    for (int i = ROOF_MATRIX_F16; i < MEASURE_ROOFS && info->type == ISO_DEVICE_GPU; i++) {
        const char *line = NULL;
        double peak = measure_chip_peak(info->name, names[i] + strlen("matrix "), &line);
        if (isfinite(peak)) {
            roofs[i] = (measure_roof){peak, peak, peak, "table", line};
        }
    }
}

/* ---- members of the document ----------------------------------------------------------------- */

json_t *measure_roofs_json(const measure_roof *roofs)
{
    json_t *list = json_array();
    for (int i = 0; i < MEASURE_ROOFS; i++) {
        if (!isfinite(roofs[i].value)) {
            continue;
        }
        json_t *item = json_object();
        tool_set_text(item, "name", names[i]);
        tool_set_text(item, "unit", unit_of(i));
        tool_set_number(item, "value", roofs[i].value);
        tool_set_number(item, "low", roofs[i].low);
        tool_set_number(item, "high", roofs[i].high);
        tool_set_text(item, "source", roofs[i].source);
        tool_set_text(item, "by", roofs[i].by);
        json_array_append_new(list, item);
    }
    return list;
}

json_t *measure_roof_json(const measure_state *state, const measure_row *row,
                          const measure_roof *roofs, double median)
{
    int which = binding_roof(row, roofs, work_target_info(state->plan->targets[row->target]));
    if (which == MEASURE_ROOFS) {
        return json_null();
    }
    json_t *json = json_object();
    tool_set_text(json, "name", names[which]);
    tool_set_text(json, "unit", unit_of(which));
    tool_set_number(json, "value", roofs[which].value);
    tool_set_number(json, "percent", 100 * work_of(row->item, which) / median / roofs[which].value);
    tool_set_text(json, "source", roofs[which].source);
    return json;
}
