/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - products of sparse matrices: how kernels/spmv.cl is launched. */
#include "backends/simt/simt.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <stdio.h>

enum { KERNEL_NAIVE = 0, KERNEL_TILED = 1, KERNEL_JOIN = 2 };

static const char *const spmv_parts[] = {kernel_text_dialect, kernel_text_spmv};
static const simt_text spmv_text = {
    .name = "spmv",
    .parts = spmv_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "?SPMV_WIDE", "?SPMV_NARROW",
                "SPMV_TEAM"},
    .kernels =
        {[KERNEL_NAIVE] = "spmv_naive", [KERNEL_TILED] = "spmv_tiled", [KERNEL_JOIN] = "spmv_join"},
};

/* Work-items that add a segment: the first team for rows of so many entries on average. */
typedef struct team {
    int32_t items;
    int64_t entries; /* fewer than this */
} team;

enum { TEAMS = 3 };

static const struct shape {
    int32_t threads;
    team teams[TEAMS];
} shapes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = {256, {{4, 8}, {8, 64}, {32, INT64_MAX}}},
    [SIMT_CLASS_WAVE32] = {256, {{4, 8}, {8, 64}, {32, INT64_MAX}}},
    [SIMT_CLASS_WAVE64] = {256, {{4, 8}, {8, 64}, {32, INT64_MAX}}},
    [SIMT_CLASS_CPU] = {4, {{1, INT64_MAX}}},
    [SIMT_CLASS_SMALL] = {4, {{2, 8}, {4, INT64_MAX}}},
};

static const struct shape *shape_of(const simt_limits *limits)
{
    const struct shape *usual = &shapes[limits->device_class];
    return usual->threads <= limits->threads_max ? usual : &shapes[SIMT_CLASS_SMALL];
}

static simt_spec spec_for(const simt_limits *limits, iso_dtype dtype, iso_dtype index, bool narrow,
                          int32_t items)
{
    return (simt_spec){
        .text = &spmv_text,
        .values = {shape_of(limits)->threads, (int32_t)dtype, dtype == ISO_F64, index == ISO_I64,
                   narrow, items},
    };
}

/* The team depends on the matrix alone, and changes no bit. `naive` uses none, and the program of
 * the smallest. */
static int32_t team_of(const simt_limits *limits, const iso_spmv_op *op)
{
    const team *teams = shape_of(limits)->teams;
    const int64_t entries = op->variant == ISO_VARIANT_NAIVE ? 0 : op->entries / op->rows;
    int i = 0;
    while (entries >= teams[i].entries) {
        i++;
    }
    return teams[i].items;
}

static simt_spec spec_of(const simt_limits *limits, const iso_spmv_op *op)
{
    return spec_for(limits, op->dtype, op->index, op->narrow != 0, team_of(limits, op));
}

/* The columns that the program reads, and their bytes each. */
static iso_ref columns_of(const iso_spmv_op *op, int64_t *bytes)
{
    *bytes = op->narrow ? (int64_t)sizeof(uint16_t) : iso_dtype_size(op->index);
    return op->narrow ? op->narrow_columns : op->columns;
}

static int spmv_needs(const iso_op *op)
{
    return op->spmv->dtype == ISO_F64 ? SIMT_NEEDS_F64 : SIMT_NEEDS_F32;
}

static int64_t spmv_workspace(simt_device *device, const iso_op *op)
{
    const iso_spmv_op *g = op->spmv;
    (void)device;
    return g->variant == ISO_VARIANT_TILED ? 2 * (g->segments - g->rows) * iso_dtype_size(g->dtype)
                                           : 0;
}

static void spmv_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    const iso_spmv_op *g = op->spmv;
    const int32_t items = team_of(&device->limits, g);
    const int used =
        snprintf(out->kernel, sizeof out->kernel, "spmv_%s_%s_%s", iso_variant_name(g->variant),
                 iso_dtype_name(g->dtype), g->narrow ? "u16" : iso_dtype_name(g->index));
    if (g->variant == ISO_VARIANT_TILED) {
        (void)snprintf(out->kernel + used, sizeof out->kernel - (size_t)used, ", teams of %d%s",
                       items, g->segments > g->rows ? ", segments apart" : "");
    }
}

static int64_t groups_for(int64_t items, int64_t of_a_group)
{
    enum { GROUPS_MOST = 1 << 22 /* beyond this a group handles several rounds */ };
    return simt_least(simt_pieces(items, of_a_group), GROUPS_MOST);
}

static iso_status run_naive(simt_stream *stream, const iso_spmv_op *op, const simt_kernel *kernel)
{
    const int64_t size = iso_dtype_size(op->dtype), number = iso_dtype_size(op->index);
    const int64_t offsets_at = op->offsets.offset / number;
    int64_t column;
    const iso_ref columns = columns_of(op, &column);
    const int64_t columns_at = columns.offset / column;
    const int64_t values_at = op->values.offset / size;
    const int64_t x_at = op->x.offset / size, y_at = op->y.offset / size;
    const float alpha = (float)op->alpha, beta = (float)op->beta;
    const simt_arg args[] = {
        SIMT_MEMORY(op->offsets.memory),
        SIMT_ARG(offsets_at),
        SIMT_MEMORY(columns.memory),
        SIMT_ARG(columns_at),
        SIMT_MEMORY(op->values.memory),
        SIMT_ARG(values_at),
        SIMT_MEMORY(op->x.memory),
        SIMT_ARG(x_at),
        SIMT_MEMORY(op->y.memory),
        SIMT_ARG(y_at),
        SIMT_ARG(op->rows),
        SIMT_ARG(op->entries),
        simt_factor(op->dtype, &op->alpha, &alpha),
        simt_factor(op->dtype, &op->beta, &beta),
    };
    return SIMT_LAUNCH(stream, kernel, groups_for(op->rows, kernel->threads), args);
}

static iso_status run_tiled(simt_stream *stream, const iso_op *of, const simt_kernel *kernel)
{
    const iso_spmv_op *op = of->spmv;
    const int64_t size = iso_dtype_size(op->dtype), number = iso_dtype_size(op->index);
    const int64_t offsets_at = op->offsets.offset / number;
    int64_t column;
    const iso_ref columns = columns_of(op, &column);
    const int64_t columns_at = columns.offset / column;
    const int64_t values_at = op->values.offset / size;
    const int64_t starts_at = op->starts.offset / (int64_t)sizeof(int64_t);
    const int64_t x_at = op->x.offset / size, y_at = op->y.offset / size;
    const int64_t work_at = of->workspace.offset / size;
    const int32_t items = team_of(&stream->device->limits, op);
    const float alpha = (float)op->alpha, beta = (float)op->beta;
    const simt_arg args[] = {
        SIMT_MEMORY(op->offsets.memory),
        SIMT_ARG(offsets_at),
        SIMT_MEMORY(columns.memory),
        SIMT_ARG(columns_at),
        SIMT_MEMORY(op->values.memory),
        SIMT_ARG(values_at),
        SIMT_MEMORY(op->starts.memory),
        SIMT_ARG(starts_at),
        SIMT_MEMORY(op->x.memory),
        SIMT_ARG(x_at),
        SIMT_MEMORY(op->y.memory),
        SIMT_ARG(y_at),
        SIMT_MEMORY(of->workspace.memory),
        SIMT_ARG(work_at),
        SIMT_ARG(op->rows),
        SIMT_ARG(op->entries),
        SIMT_ARG(op->segments),
        simt_factor(op->dtype, &op->alpha, &alpha),
        simt_factor(op->dtype, &op->beta, &beta),
    };
    return SIMT_LAUNCH(stream, kernel, groups_for(op->segments, kernel->threads / items), args);
}

static iso_status run_join(simt_stream *stream, const iso_op *of, const simt_kernel *kernel)
{
    const iso_spmv_op *op = of->spmv;
    const int64_t size = iso_dtype_size(op->dtype);
    const int64_t starts_at = op->starts.offset / (int64_t)sizeof(int64_t);
    const int64_t y_at = op->y.offset / size, work_at = of->workspace.offset / size;
    const float alpha = (float)op->alpha, beta = (float)op->beta;
    const simt_arg args[] = {
        SIMT_MEMORY(op->starts.memory),
        SIMT_ARG(starts_at),
        SIMT_MEMORY(op->y.memory),
        SIMT_ARG(y_at),
        SIMT_MEMORY(of->workspace.memory),
        SIMT_ARG(work_at),
        SIMT_ARG(op->rows),
        SIMT_ARG(op->segments),
        simt_factor(op->dtype, &op->alpha, &alpha),
        simt_factor(op->dtype, &op->beta, &beta),
    };
    return SIMT_LAUNCH(stream, kernel, groups_for(op->segments - op->rows, kernel->threads), args);
}

static iso_status spmv_execute(simt_stream *stream, const iso_op *of)
{
    const iso_spmv_op *op = of->spmv;
    const simt_spec spec = spec_of(&stream->device->limits, op);
    const bool tiled = op->variant == ISO_VARIANT_TILED;
    const simt_kernel *kernel = NULL;
    iso_status status =
        simt_kernel_get(stream->device, &spec, tiled ? KERNEL_TILED : KERNEL_NAIVE, &kernel);
    if (status == ISO_OK) {
        status = tiled ? run_tiled(stream, of, kernel) : run_naive(stream, op, kernel);
    }
    if (status != ISO_OK || !tiled || op->segments == op->rows) {
        return status;
    }
    status = simt_kernel_get(stream->device, &spec, KERNEL_JOIN, &kernel);
    return status == ISO_OK ? run_join(stream, of, kernel) : status;
}

static iso_status spmv_prepare(simt_stream *stream, const iso_op *op)
{
    const simt_spec spec = spec_of(&stream->device->limits, op->spmv);
    const simt_kernel *kernel = NULL;
    return simt_kernel_get(stream->device, &spec, KERNEL_NAIVE, &kernel);
}

static void spmv_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    const team *teams = shape_of(limits)->teams;
    for (iso_dtype dtype = ISO_F32; dtype <= ISO_F64; dtype++) {
        if (!(dtype == ISO_F64 ? limits->f64 : limits->f32_exact)) {
            continue;
        }
        for (int form = 0; form < 3; form++) { /* i32, i64, and i32 with narrow columns */
            for (int i = 0; i < TEAMS && teams[i].items; i++) {
                const simt_spec spec = spec_for(limits, dtype, form == 1 ? ISO_I64 : ISO_I32,
                                                form == 2, teams[i].items);
                visit(&spec, context);
            }
        }
    }
}

const simt_operation simt_spmv = {
    .variant_at = offsetof(iso_spmv_op, variant),
    .library_at = offsetof(iso_spmv_op, library),
    .needs = spmv_needs,
    .workspace = spmv_workspace,
    .execute = spmv_execute,
    .prepare = spmv_prepare,
    .describe = spmv_describe,
    .each = spmv_each,
};
