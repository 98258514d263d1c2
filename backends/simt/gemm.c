/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - matrix products on a device: their programs, arguments and launches. */
#include "backends/simt/gemm.h"
#include "backends/simt/fixed_matrix.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- programs -------------------------------------------------------------------------------- */

enum { KERNEL_TILED = 0, KERNEL_JOIN = 1 };

/* What the texts of blocked products have in common. */
#define BLOCKED_DEFINES                                                                            \
    "ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "ISO_GROUPS", "ISO_BM", "ISO_BN", "ISO_BK",        \
        "ISO_TM", "ISO_TN", "ISO_KA", "ISO_KB", "?ISO_CONTINUES"
static const char *const tiled_parts[] = {kernel_text_dialect,     kernel_text_gemm_parts,
                                          kernel_text_gemm_slices, kernel_text_gemm_items,
                                          kernel_text_gemm_totals, kernel_text_gemm_tiled,
                                          kernel_text_gemm_join};
static const simt_text tiled_text = {
    .name = "gemm_tiled",
    .parts = tiled_parts,
    .part_count = 7,
    .defines = {BLOCKED_DEFINES, "?ISO_ROLLED"},
    .kernels = {[KERNEL_TILED] = "gemm_tiled", [KERNEL_JOIN] = "gemm_join"},
};

/* Slices are copied without registers. */
static const char *const ring_parts[] = {kernel_text_dialect,     kernel_text_gemm_parts,
                                         kernel_text_gemm_slices, kernel_text_gemm_items,
                                         kernel_text_gemm_totals, kernel_text_gemm_ring,
                                         kernel_text_gemm_join};
static const simt_text ring_text = {
    .name = "gemm_ring",
    .parts = ring_parts,
    .part_count = 7,
    .defines = {BLOCKED_DEFINES, "ISO_RING", "ISO_WAIT", "?ISO_KEPT"},
    .kernels = {[KERNEL_TILED] = "gemm_ring", [KERNEL_JOIN] = "gemm_join"},
};

/* On processors. */
static const char *const core_parts[] = {kernel_text_dialect,     kernel_text_gemm_parts,
                                         kernel_text_gemm_blocks, kernel_text_gemm_totals,
                                         kernel_text_gemm_core,   kernel_text_gemm_join};
static const simt_text core_text = {
    .name = "gemm_core",
    .parts = core_parts,
    .part_count = 6,
    .defines = {BLOCKED_DEFINES},
    .kernels = {[KERNEL_TILED] = "gemm_core", [KERNEL_JOIN] = "gemm_join"},
};

/* The same kernel as gemm_tiled, on AMD's matrix units. */
static const char *const waves_parts[] = {kernel_text_dialect,    kernel_text_wave,
                                          kernel_text_gemm_parts, kernel_text_gemm_slices,
                                          kernel_text_gemm_waves, kernel_text_gemm_totals,
                                          kernel_text_gemm_tiled, kernel_text_gemm_join};
static const simt_text waves_text = {
    .name = "gemm_waves",
    .parts = waves_parts,
    .part_count = 8,
    .defines = {BLOCKED_DEFINES},
    .kernels = {[KERNEL_TILED] = "gemm_tiled", [KERNEL_JOIN] = "gemm_join"},
};

/* On NVIDIA's matrix units: all work-items copy and multiply, or the work is split. */
#define MATRIX_DEFINES                                                                             \
    "ISO_THREADS", "ISO_DTYPE", "ISO_USE_F64", "ISO_GROUPS", "ISO_BM", "ISO_BN", "ISO_BK",         \
        "ISO_TM", "ISO_TN", "ISO_KA", "ISO_KB", "?ISO_CONTINUES", "ISO_UNIT", "ISO_WAIT",          \
        "?ISO_KEPT", "?ISO_ADDED", "?ISO_COPIERS"
static const char *const matrix_parts[] = {kernel_text_dialect,     kernel_text_gemm_parts,
                                           kernel_text_gemm_units,  kernel_text_gemm_totals,
                                           kernel_text_gemm_matrix, kernel_text_gemm_join};
static const simt_text matrix_text = {
    .name = "gemm_matrix",
    .parts = matrix_parts,
    .part_count = 6,
    .defines = {MATRIX_DEFINES},
    .kernels = {[KERNEL_TILED] = "gemm_matrix", [KERNEL_JOIN] = "gemm_join"},
};

static const char *const split_parts[] = {kernel_text_dialect,    kernel_text_gemm_parts,
                                          kernel_text_gemm_units, kernel_text_gemm_totals,
                                          kernel_text_gemm_split, kernel_text_gemm_join};
static const simt_text split_text = {
    .name = "gemm_split",
    .parts = split_parts,
    .part_count = 6,
    .defines = {MATRIX_DEFINES},
    .kernels = {[KERNEL_TILED] = "gemm_split", [KERNEL_JOIN] = "gemm_join"},
};

static const char *const naive_parts[] = {kernel_text_dialect, kernel_text_gemm_naive};
static const simt_text naive_text = {
    .name = "gemm_naive",
    .parts = naive_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "NAIVE_ACROSS", "?NAIVE_LOOPS",
                "?ISO_CONTINUES"},
    .kernels = {"gemm_naive"},
};

/* Whether totals begin with C and replace it, so beta is 0 then. One segment is added to C by beta,
 * which is 1. */
static bool begins_with_c(const iso_gemm_op *g)
{
    return g->continues && g->k > SIMT_GEMM_SEGMENT;
}

static int can_continue(iso_dtype dtype)
{
    return iso_dtype_size(dtype) >= 4;
}

static const simt_text *text_of(const simt_tile *tile)
{
    return tile->core                ? &core_text
           : simt_tile_is_ring(tile) ? &ring_text
           : !tile->unit             ? &tiled_text
           : tile->copiers           ? &split_text
           : tile->stages            ? &matrix_text
                                     : &waves_text;
}

/* How an operand lies in memory, as ISO_KA and ISO_KB say it. */
enum { OUTER = 0, ALONG_K = 1, AT_RUN_TIME = 2, OUTER_WIDE = 3 };

/* The layout that a tile's program has for an operand. Only rings differ by alignment. */
static int32_t layout_of(const simt_tile *tile, bool along_k, bool wide)
{
    return !tile->apart_layouts              ? AT_RUN_TIME
           : along_k                         ? ALONG_K
           : wide && simt_tile_is_ring(tile) ? OUTER_WIDE
                                             : OUTER;
}

/* The program of a tile. `continues`: totals begin with C. */
static simt_spec tile_spec(const simt_tile *tile, const simt_limits *limits, iso_dtype dtype,
                           int32_t layout_a, int32_t layout_b, bool continues)
{
    simt_spec spec = {
        .text = text_of(tile),
        .values = {simt_tile_threads(tile), (int32_t)dtype, dtype == ISO_F64, tile->groups,
                   tile->bm, tile->bn, tile->bk, tile->tm, tile->tn, layout_a, layout_b, continues,
                   tile->rolled},
    };
    if (simt_tile_is_ring(tile)) {
        spec.values[12] = 1;
        spec.values[13] = tile->stages - 2;
        spec.values[14] = simt_tile_keeps(tile, limits);
    } else if (tile->stages) {
        spec.values[12] = limits->f64_unit;
        spec.values[13] = tile->stages - 2;
        spec.values[14] = simt_tile_keeps(tile, limits);
        spec.values[15] = simt_tile_added(tile, limits);
        spec.values[16] = tile->copiers;
    }
    return spec;
}

static simt_spec naive_spec(const simt_limits *limits, iso_dtype dtype, bool continues)
{
    enum { ACROSS = 16 };
    const bool loops = limits->device_class == SIMT_CLASS_CPU;
    const int32_t threads = simt_gemm_naive_threads(limits);
    return (simt_spec){
        .text = &naive_text,
        .values = {threads, (int32_t)dtype, dtype == ISO_F64, loops ? threads : ACROSS, loops,
                   continues},
    };
}

static void visit_tile(const simt_tile *tile, const simt_limits *limits, iso_dtype dtype,
                       simt_visit *visit, void *context)
{
    const int kinds = simt_tile_is_ring(tile) ? 3 : tile->apart_layouts ? 2 : 1;
    for (int i = 0; i < kinds * kinds * (1 + can_continue(dtype)); i++) {
        const int a = i % kinds;
        const int b = i / kinds % kinds;
        const simt_spec spec = tile_spec(tile, limits, dtype, layout_of(tile, a == 1, a == 2),
                                         layout_of(tile, b == 1, b == 2), i >= kinds * kinds);
        visit(&spec, context);
    }
}

/* False: none of the tiles fits the device. */
static bool visit_fitting(simt_tiles tiles, const simt_limits *limits, iso_dtype dtype,
                          simt_visit *visit, void *context)
{
    bool any = false;
    for (int32_t i = 0; i < tiles.count; i++) {
        if (simt_tile_fits(&tiles.rows[i], limits, dtype)) {
            visit_tile(&tiles.rows[i], limits, dtype, visit, context);
            any = true;
        }
    }
    return any;
}

static void gemm_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    for (iso_dtype dtype = ISO_F16; dtype_get(dtype); dtype++) {
        if (!dtype_get(dtype)->floating || !(dtype == ISO_F64 ? limits->f64 : limits->f32_exact)) {
            continue;
        }
        for (int continues = 0; continues <= can_continue(dtype); continues++) {
            const simt_spec naive = naive_spec(limits, dtype, continues);
            visit(&naive, context);
        }
        simt_fixed_each(limits, dtype, visit, context);
        if (!visit_fitting(simt_gemm_tiles(limits->device_class, dtype), limits, dtype, visit,
                           context)) {
            visit_tile(simt_gemm_tiles(SIMT_CLASS_SMALL, dtype).rows, limits, dtype, visit,
                       context);
        }
        visit_fitting(simt_gemm_unit_tiles(simt_gemm_unit(limits, dtype)), limits, dtype, visit,
                      context);
    }
    simt_fixed_matrix_each(limits, visit, context);
}

/* ---- queries --------------------------------------------------------------------------------- */

static int gemm_needs(const iso_op *op)
{
    return op->gemm->dtype == ISO_F64 ? SIMT_NEEDS_F64 : SIMT_NEEDS_F32;
}

static iso_status gemm_supports(simt_device *device, const iso_op *op)
{
    const iso_gemm_op *g = op->gemm;
    if (g->math == ISO_MATH_TF32) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "gemm: math tf32: naive and tiled always compute in the full "
                                  "accumulation type; use strict, or variant vendor");
    }
    return g->variant == ISO_VARIANT_FIXED ? simt_fixed_supports(device, g) : ISO_OK;
}

/* Whether the naive kernel computes the product, which is not fixed. */
static bool is_naive(const simt_device *device, const iso_gemm_op *op)
{
    return op->variant != ISO_VARIANT_TILED || simt_gemm_is_tiny(&device->limits, op);
}

/* The plan of a product. If it would use the matrix unit, the unit is tested first. The verdict
 * stays as it is, so that every plan of a product is the same. */
static void make_plan(simt_gemm_plan *plan, simt_device *device, const iso_gemm_op *op)
{
    simt_gemm_plan_make(plan, &device->limits, op, true);
    if (plan->tile.unit && !simt_unit_usable(device, simt_gemm_unit(&device->limits, op->dtype))) {
        simt_gemm_plan_make(plan, &device->limits, op, false);
    }
}

static int64_t gemm_workspace(simt_device *device, const iso_op *op)
{
    simt_gemm_plan plan;
    if (op->gemm->variant == ISO_VARIANT_FIXED) {
        return simt_fixed_workspace(device, op->gemm);
    }
    if (is_naive(device, op->gemm)) {
        return 0;
    }
    make_plan(&plan, device, op->gemm);
    return plan.work_bytes;
}

static void gemm_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    const char *dtype = iso_dtype_name(op->gemm->dtype);
    if (op->gemm->variant == ISO_VARIANT_FIXED) {
        simt_fixed_describe(device, op->gemm, out);
        return;
    }
    if (is_naive(device, op->gemm)) {
        (void)snprintf(out->kernel, sizeof out->kernel, "gemm_naive_%s", dtype);
        return;
    }
    simt_gemm_plan plan;
    make_plan(&plan, device, op->gemm);
    (void)snprintf(out->kernel, sizeof out->kernel,
                   "gemm_%s_%s %" PRId32 "x%" PRId32 "x%" PRId32 "%s",
                   plan.tile.core      ? "core"
                   : plan.tile.copiers ? "split"
                   : plan.tile.unit    ? "matrix"
                   : plan.tile.stages  ? "ring"
                                       : "tiled",
                   dtype, plan.tile.bm, plan.tile.bn, plan.tile.bk,
                   plan.apart        ? " segments apart"
                   : plan.last_apart ? " last tiles apart"
                                     : "");
}

/* ---- running --------------------------------------------------------------------------------- */

/* Arguments that are computed from the operation, in the types that kernels take. */
typedef struct gemm_values {
    int64_t a_at, b_at, c_at, work_at; /* in elements */
    double beta;
    float alpha32, beta32;
} gemm_values;

static gemm_values values_of(const iso_op *op)
{
    const iso_gemm_op *g = op->gemm;
    const int64_t cell = iso_dtype_size(g->dtype);
    const double beta = begins_with_c(g) ? 0 : g->beta;
    return (gemm_values){
        .a_at = g->a.offset / cell,
        .b_at = g->b.offset / cell,
        .c_at = g->c.offset / cell,
        .work_at = op->workspace.offset / simt_gemm_acc_bytes(g->dtype),
        .beta = beta,
        .alpha32 = (float)g->alpha,
        .beta32 = (float)beta,
    };
}

/* Whether an operand can be accessed in 16-byte vectors: all are aligned and none ends outside it.
 */
static bool is_wide(const simt_device *device, iso_dtype dtype, iso_ref ref, int64_t ld,
                    int64_t stride, int64_t contiguous)
{
    const int64_t cell = iso_dtype_size(dtype);
    return simt_alignment(device, ref) >= 16 && ld * cell % 16 == 0 && stride * cell % 16 == 0 &&
           contiguous * cell % 16 == 0;
}

static iso_status run_naive(simt_stream *stream, const iso_op *op)
{
    enum { GROUPS_MAX = 65536 };
    const iso_gemm_op *g = op->gemm;
    const gemm_values v = values_of(op);
    const int64_t one = 1;
    const int32_t wide = g->trans_a == ISO_NO_TRANS &&
                         is_wide(stream->device, g->dtype, g->a, g->lda, g->stride_a, 0);
    const int64_t *a_row = g->trans_a == ISO_TRANS ? &one : &g->lda;
    const int64_t *a_col = g->trans_a == ISO_TRANS ? &g->lda : &one;
    const int64_t *b_row = g->trans_b == ISO_TRANS ? &one : &g->ldb;
    const int64_t *b_col = g->trans_b == ISO_TRANS ? &g->ldb : &one;
    const simt_spec spec = naive_spec(&stream->device->limits, g->dtype, begins_with_c(g));
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, &spec, 0, &kernel);
    if (status != ISO_OK) {
        return status;
    }
    /* Blocks of 16 columns; those of a narrow or short C are not full. */
    const double threads = (double)kernel->threads;
    const double wanted =
        ((double)g->m * (double)g->batch * 16 / threads + 1) * ((double)g->n / 16 + 1);
    const simt_arg args[] = {
        SIMT_MEMORY(g->a.memory),
        SIMT_ARG(v.a_at),
        SIMT_ARG(*a_row),
        SIMT_ARG(*a_col),
        SIMT_ARG(g->stride_a),
        SIMT_MEMORY(g->b.memory),
        SIMT_ARG(v.b_at),
        SIMT_ARG(*b_row),
        SIMT_ARG(*b_col),
        SIMT_ARG(g->stride_b),
        SIMT_MEMORY(g->c.memory),
        SIMT_ARG(v.c_at),
        SIMT_ARG(g->ldc),
        SIMT_ARG(g->stride_c),
        SIMT_ARG(g->m),
        SIMT_ARG(g->n),
        SIMT_ARG(g->k),
        SIMT_ARG(g->batch),
        simt_factor(g->dtype, &g->alpha, &v.alpha32),
        simt_factor(g->dtype, &v.beta, &v.beta32),
        SIMT_ARG(wide),
    };
    return SIMT_LAUNCH(stream, kernel, wanted < GROUPS_MAX ? (int64_t)wanted : GROUPS_MAX, args);
}

/* The flags of gemm_tiled. If A or B is contiguous along k, any size will do: vectors are used only
 * for whole slices, so none ends outside the operand. If the outer index is contiguous, its size
 * must be a multiple of a vector. */
static int32_t flags_of(const simt_device *device, const simt_gemm_plan *plan, const iso_gemm_op *g)
{
    const int64_t next_a = g->batch > 1 ? g->stride_a : 0;
    const int64_t next_b = g->batch > 1 ? g->stride_b : 0;
    const int64_t next_c = g->batch > 1 ? g->stride_c : 0;
    const bool wide_a = is_wide(device, g->dtype, g->a, g->lda, next_a, plan->along_k_a ? 0 : g->m);
    const bool wide_b = is_wide(device, g->dtype, g->b, g->ldb, next_b, plan->along_k_b ? 0 : g->n);
    const bool wide_c = is_wide(device, g->dtype, g->c, g->ldc, next_c, 0);
    return (wide_a ? 1 : 0) | (wide_b ? 2 : 0) | (wide_c ? 4 : 0) | (plan->along_k_a ? 8 : 0) |
           (plan->along_k_b ? 16 : 0) | (plan->apart ? 32 : 0) | plan->last_apart << 8;
}

/* Both kernels of a plan, which the first call builds; *join is NULL if the plan needs none. */
static iso_status get_tiled(simt_device *device, const simt_gemm_plan *plan, const iso_gemm_op *g,
                            const simt_kernel **tiled, const simt_kernel **join)
{
    const int32_t flags = flags_of(device, plan, g);
    const simt_spec spec = tile_spec(
        &plan->tile, &device->limits, g->dtype, layout_of(&plan->tile, plan->along_k_a, flags & 1),
        layout_of(&plan->tile, plan->along_k_b, flags & 2), begins_with_c(g));
    *join = NULL;
    const iso_status status = simt_kernel_get(device, &spec, KERNEL_TILED, tiled);
    if (status != ISO_OK || (!plan->apart && plan->last_apart == 0)) {
        return status;
    }
    return simt_kernel_get(device, &spec, KERNEL_JOIN, join);
}

/* A tiled product that is being submitted: its plan, the plan's kernels and their flags. */
typedef struct tiled_run {
    simt_gemm_plan plan;
    const simt_kernel *tiled, *join;
    int32_t flags;
} tiled_run;

static iso_status launch_tiled(simt_stream *stream, const iso_op *op, const tiled_run *run,
                               const gemm_values *v, int64_t k)
{
    const iso_gemm_op *g = op->gemm;
    const simt_arg args[] = {
        SIMT_MEMORY(g->a.memory),
        SIMT_ARG(v->a_at),
        SIMT_ARG(g->lda),
        SIMT_ARG(g->stride_a),
        SIMT_MEMORY(g->b.memory),
        SIMT_ARG(v->b_at),
        SIMT_ARG(g->ldb),
        SIMT_ARG(g->stride_b),
        SIMT_MEMORY(g->c.memory),
        SIMT_ARG(v->c_at),
        SIMT_ARG(g->ldc),
        SIMT_ARG(g->stride_c),
        SIMT_MEMORY(op->workspace.memory),
        SIMT_ARG(v->work_at),
        SIMT_ARG(g->m),
        SIMT_ARG(g->n),
        SIMT_ARG(k),
        SIMT_ARG(g->batch),
        simt_factor(g->dtype, &g->alpha, &v->alpha32),
        simt_factor(g->dtype, &v->beta, &v->beta32),
        SIMT_ARG(run->flags),
        {.bytes = run->plan.shared_bytes},
    };
    const int32_t count = (int32_t)(sizeof args / sizeof *args) - !run->plan.shared_bytes;
    return simt_launch(stream, run->tiled, run->plan.groups, args, count);
}

static iso_status launch_join(simt_stream *stream, const iso_op *op, const tiled_run *run,
                              const gemm_values *v, int64_t k, int32_t flags)
{
    const iso_gemm_op *g = op->gemm;
    const int64_t total_at = v->work_at + run->plan.total_at;
    const simt_arg args[] = {
        SIMT_MEMORY(g->c.memory),
        SIMT_ARG(v->c_at),
        SIMT_ARG(g->ldc),
        SIMT_ARG(g->stride_c),
        SIMT_MEMORY(op->workspace.memory),
        SIMT_ARG(v->work_at),
        SIMT_ARG(total_at),
        SIMT_ARG(g->m),
        SIMT_ARG(g->n),
        SIMT_ARG(k),
        SIMT_ARG(g->batch),
        simt_factor(g->dtype, &g->alpha, &v->alpha32),
        simt_factor(g->dtype, &v->beta, &v->beta32),
        SIMT_ARG(flags),
    };
    return simt_launch_next(stream, run->join, run->plan.join_groups, args,
                            (int32_t)(sizeof args / sizeof *args));
}

enum { JOIN_LATER = 1, JOIN_LAST = 2, JOIN_TILES = 4 }; /* flags of gemm_join */

/* Runs segments in parallel, as many at a time as scratch memory holds. */
static iso_status run_apart(simt_stream *stream, const iso_op *op, const tiled_run *run)
{
    const iso_gemm_op *g = op->gemm;
    gemm_values v = values_of(op);
    iso_status status = ISO_OK;
    for (int64_t from = 0; from < g->k && status == ISO_OK; from += run->plan.round_k) {
        const bool last = g->k - from <= run->plan.round_k;
        const int64_t k = last ? g->k - from : run->plan.round_k;
        status = launch_tiled(stream, op, run, &v, k);
        if (status == ISO_OK) {
            status = launch_join(stream, op, run, &v, k,
                                 (from > 0 ? JOIN_LATER : 0) | (last ? JOIN_LAST : 0));
        }
        if (!last) {
            v.a_at += k * (run->plan.along_k_a ? 1 : g->lda);
            v.b_at += k * (run->plan.along_k_b ? 1 : g->ldb);
        }
    }
    return status;
}

static iso_status run_tiled(simt_stream *stream, const iso_op *op)
{
    const iso_gemm_op *g = op->gemm;
    tiled_run run = {.tiled = NULL};
    make_plan(&run.plan, stream->device, g);
    run.flags = flags_of(stream->device, &run.plan, g);
    iso_status status = get_tiled(stream->device, &run.plan, g, &run.tiled, &run.join);
    if (status != ISO_OK) {
        return status;
    }
    if (run.plan.apart) {
        return run_apart(stream, op, &run);
    }
    const gemm_values v = values_of(op);
    status = launch_tiled(stream, op, &run, &v, g->k);
    if (status != ISO_OK || run.plan.last_apart == 0) {
        return status;
    }
    return launch_join(stream, op, &run, &v, g->k, JOIN_LAST | run.plan.last_apart * JOIN_TILES);
}

static iso_status gemm_execute(simt_stream *stream, const iso_op *op)
{
    if (op->gemm->variant == ISO_VARIANT_FIXED) {
        return simt_fixed_execute(stream, op);
    }
    return is_naive(stream->device, op->gemm) ? run_naive(stream, op) : run_tiled(stream, op);
}

static iso_status gemm_prepare(simt_stream *stream, const iso_op *op)
{
    const simt_kernel *kernel = NULL;
    const simt_kernel *join = NULL;
    if (op->gemm->variant == ISO_VARIANT_FIXED) {
        return simt_fixed_prepare(stream, op);
    }
    if (is_naive(stream->device, op->gemm)) {
        const simt_spec spec =
            naive_spec(&stream->device->limits, op->gemm->dtype, begins_with_c(op->gemm));
        return simt_kernel_get(stream->device, &spec, 0, &kernel);
    }
    simt_gemm_plan plan;
    make_plan(&plan, stream->device, op->gemm);
    return get_tiled(stream->device, &plan, op->gemm, &kernel, &join);
}

/* If k is 0, sets k to 1 and makes A a column and B a row of zeros, so that the product adds only
 * zeros to beta C. */
static int64_t gemm_add_term(void *args, iso_ref zeros)
{
    iso_gemm_op *op = args;
    if (op->k > 0) {
        return 0;
    }
    op->k = 1;
    op->trans_a = op->trans_b = ISO_NO_TRANS;
    op->lda = 1;
    op->ldb = op->n;
    op->stride_a = op->stride_b = 0;
    if (zeros.memory) {
        op->a = op->b = zeros;
    }
    return (op->m > op->n ? op->m : op->n) * iso_dtype_size(op->dtype);
}

/* A product with a vector reads A once: fixed only adds work. */
int32_t simt_prefers_fixed(void *device, const iso_op *op)
{
    return op->kind == ISO_OP_GEMM && simt_fixed_is_faster(device, op->gemm);
}

const simt_operation simt_gemm = {
    .variant_at = offsetof(iso_gemm_op, variant),
    .library_at = offsetof(iso_gemm_op, library),
    .add_term = gemm_add_term,
    .needs = gemm_needs,
    .supports = gemm_supports,
    .workspace = gemm_workspace,
    .execute = gemm_execute,
    .prepare = gemm_prepare,
    .describe = gemm_describe,
    .each = gemm_each,
};
