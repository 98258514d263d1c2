/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - reductions on a device: their programs, and the launches of each variant. */
#include "backends/simt/reduce.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- programs -------------------------------------------------------------------------------- */

enum {
    KERNEL_SHORT,
    KERNEL_BLOCKS,
    KERNEL_COLUMNS,
    KERNEL_LEVEL,
    KERNEL_LAST,
    KERNEL_NAIVE,
    KERNEL_PARTIALS,
    KERNEL_FINISH,
    KERNEL_BEGIN,
    KERNEL_ATOMIC,
    KERNEL_STREAM,
    KERNEL_READ,
    KERNEL_VECTORS
};
enum { DEFINE_BLOCK_THREADS = 10, DEFINE_VECTORS }; /* their places among the defines */

static const char *const reduce_parts[] = {kernel_text_dialect,     kernel_text_reduce_steps,
                                           kernel_text_reduce,      kernel_text_reduce_stream,
                                           kernel_text_reduce_read, kernel_text_reduce_vectors};
static const simt_text reduce_text = {
    .name = "reduce",
    .parts = reduce_parts,
    .part_count = 6,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "ISO_OP", "?ISO_USE_F64", "?ISO_ATOMIC64", "ISO_COLS",
                "ISO_BATCH", "?ISO_LOOPED", "?ISO_STREAM", "?ISO_READ", "ISO_BLOCK_THREADS",
                "?ISO_VECTORS"},
    .kernels =
        {
            [KERNEL_SHORT] = "reduce_short",
            [KERNEL_BLOCKS] = "reduce_blocks",
            [KERNEL_COLUMNS] = "reduce_columns",
            [KERNEL_LEVEL] = "reduce_level",
            [KERNEL_LAST] = "reduce_last",
            [KERNEL_NAIVE] = "reduce_naive",
            [KERNEL_PARTIALS] = "reduce_partials",
            [KERNEL_FINISH] = "reduce_finish",
            [KERNEL_BEGIN] = "reduce_begin",
            [KERNEL_ATOMIC] = "reduce_atomic",
            [KERNEL_STREAM] = "reduce_stream",
            [KERNEL_READ] = "reduce_read",
            [KERNEL_VECTORS] = "reduce_vectors",
        },
    .threads = {[KERNEL_BLOCKS] = DEFINE_BLOCK_THREADS,
                [KERNEL_LEVEL] = DEFINE_BLOCK_THREADS,
                [KERNEL_STREAM] = DEFINE_BLOCK_THREADS,
                [KERNEL_VECTORS] = DEFINE_VECTORS},
};

static simt_spec spec_of(const simt_limits *limits, iso_reduce_op op, iso_dtype dtype)
{
    const simt_reduce_tile tile = simt_reduce_tile_of(limits, op, dtype);
    const bool wide = simt_reduce_is_wide(op, dtype);
    return (simt_spec){
        .text = &reduce_text,
        .values = {tile.threads, (int32_t)dtype, (int32_t)op, simt_reduce_uses_f64(op, dtype),
                   limits->atomic64 && !wide && simt_reduce_is_long(op, dtype),
                   wide ? tile.columns_wide : tile.columns, tile.batch, tile.looped, tile.stream,
                   tile.read, tile.block_threads, tile.vectors},
    };
}

static int needs_of(iso_reduce_op op, iso_dtype dtype)
{
    const bool f64 = simt_reduce_uses_f64(op, dtype);
    const bool f32 = dtype_get(dtype)->computes_in == ISO_F32;
    return (f64 ? SIMT_NEEDS_F64 : 0) | (f32 ? SIMT_NEEDS_F32 : 0);
}

static void reduce_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    const int lacks = (limits->f64 ? 0 : SIMT_NEEDS_F64) | (limits->f32_exact ? 0 : SIMT_NEEDS_F32);
    for (iso_dtype dtype = ISO_F16; dtype_get(dtype); dtype++) {
        for (iso_reduce_op op = ISO_SUM; iso_reduce_op_name(op); op++) {
            iso_dtype result;
            if (iso_reduce_result(op, dtype, &result) != ISO_OK || needs_of(op, dtype) & lacks) {
                continue;
            }
            const simt_spec spec = spec_of(limits, op, dtype);
            visit(&spec, context);
        }
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

/* A mean divides in f64, and a 2-norm adds in f64, whatever the type of the elements. */
static int reduce_needs(const iso_op *op)
{
    return needs_of(op->reduce->op, op->reduce->dtype);
}

static int64_t reduce_workspace(simt_device *device, const iso_op *op)
{
    simt_reduce_plan plan;
    simt_reduce_plan_make(&plan, &device->limits, op->reduce);
    return plan.work_bytes;
}

static void reduce_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    (void)device;
    const iso_reduce_op_args *r = op->reduce;
    (void)snprintf(out->kernel, sizeof out->kernel, "%s_%s_%s", iso_reduce_op_name(r->op),
                   iso_variant_name(r->variant), iso_dtype_name(r->dtype));
}

/* ---- running --------------------------------------------------------------------------------- */

/* A reduction that is being submitted or, if `dry` is set, only prepared. */
typedef struct run {
    simt_stream *stream;
    const iso_op *op;
    bool dry;
    bool aligned; /* the operands are aligned to 16 bytes */
    simt_spec spec;
    simt_reduce_plan plan;
    void *x, *y, *work, *to;
    int64_t x_at, y_at, to_at; /* in elements */
    int64_t work_at;           /* in bytes */
} run;

/* The first arguments of all kernels that read elements one sequence at a time. */
#define INPUT(r)                                                                                   \
    SIMT_MEMORY((r)->x), SIMT_ARG((r)->x_at), SIMT_ARG((r)->plan.next_x),                          \
        SIMT_ARG((r)->plan.step_x), SIMT_MEMORY((r)->y), SIMT_ARG((r)->y_at),                      \
        SIMT_ARG((r)->plan.next_y), SIMT_ARG((r)->plan.step_y)

static iso_status submit(const run *r, int32_t number, int64_t groups, const simt_arg *args,
                         int32_t arg_count)
{
    const simt_kernel *kernel = NULL;
    const int64_t most = r->plan.tile.groups_max;
    const iso_status status = simt_kernel_get(r->stream->device, &r->spec, number, &kernel);
    if (status != ISO_OK || r->dry) {
        return status;
    }
    const bool follows = number == KERNEL_LEVEL || number == KERNEL_LAST;
    return (follows ? simt_launch_next : simt_launch)(
        r->stream, kernel, groups < most ? groups : most, args, arg_count);
}

#define SUBMIT(r, number, groups, args)                                                            \
    submit((r), (number), (groups), (args), (int32_t)(sizeof(args) / sizeof *(args)))

static iso_status run_short(const run *r)
{
    const int32_t width = simt_reduce_width(r->plan.n);
    const simt_arg args[] = {
        INPUT(r),
        SIMT_MEMORY(r->to),
        SIMT_ARG(r->to_at),
        SIMT_ARG(r->plan.sequences),
        SIMT_ARG(r->plan.n),
        SIMT_ARG(width),
    };
    return SUBMIT(r, KERNEL_SHORT, simt_pieces(r->plan.sequences, r->plan.tile.threads / width),
                  args);
}

static iso_status run_blocks(const run *r, int64_t blocks)
{
    const simt_arg args[] = {
        INPUT(r),
        SIMT_MEMORY(r->work),
        SIMT_ARG(r->work_at),
        SIMT_ARG(r->plan.sequences),
        SIMT_ARG(r->plan.n),
        SIMT_ARG(r->plan.past),
    };
    return SUBMIT(r, KERNEL_BLOCKS,
                  simt_pieces(r->plan.sequences * blocks, r->plan.tile.block_threads / 32), args);
}

/* Finds how many groups of a kernel are resident at once. Each loops over its share of the array.
 */
static iso_status resident(const run *r, int32_t number, int64_t *groups)
{
    const simt_kernel *kernel = NULL;
    const simt_limits *limits = &r->stream->device->limits;
    const iso_status status = simt_kernel_get(r->stream->device, &r->spec, number, &kernel);
    if (status == ISO_OK) {
        const int64_t each =
            kernel->info.groups_at_once > 0 ? kernel->info.groups_at_once : r->plan.tile.groups;
        *groups = (limits->units > 0 ? limits->units : 1) * each;
    }
    return status;
}

static iso_status run_stream(const run *r, int64_t blocks)
{
    int64_t most = 0;
    const iso_status status = resident(r, KERNEL_STREAM, &most);
    if (status != ISO_OK) {
        return status;
    }
    const int64_t groups = simt_pieces(blocks, r->plan.tile.block_threads / 32);
    const simt_arg args[] = {
        SIMT_MEMORY(r->x),    SIMT_ARG(r->x_at),    SIMT_MEMORY(r->y),   SIMT_ARG(r->y_at),
        SIMT_MEMORY(r->work), SIMT_ARG(r->work_at), SIMT_ARG(r->plan.n),
    };
    return SUBMIT(r, KERNEL_STREAM, groups < most ? groups : most, args);
}

static iso_status run_columns(const run *r, int64_t blocks)
{
    const bool wide = simt_reduce_is_wide(r->op->reduce->op, r->op->reduce->dtype);
    const int64_t columns = wide ? r->plan.tile.columns_wide : r->plan.tile.columns;
    const simt_arg args[] = {
        SIMT_MEMORY(r->x),    SIMT_ARG(r->x_at),           SIMT_ARG(r->plan.step_x),
        SIMT_MEMORY(r->y),    SIMT_ARG(r->y_at),           SIMT_ARG(r->plan.step_y),
        SIMT_MEMORY(r->work), SIMT_ARG(r->work_at),        SIMT_MEMORY(r->to),
        SIMT_ARG(r->to_at),   SIMT_ARG(r->plan.sequences), SIMT_ARG(r->plan.n),
    };
    return SUBMIT(r, KERNEL_COLUMNS, simt_pieces(r->plan.sequences, columns) * blocks, args);
}

static iso_status run_vectors(const run *r, int64_t blocks)
{
    const simt_arg args[] = {
        SIMT_MEMORY(r->x),    SIMT_ARG(r->x_at),           SIMT_ARG(r->plan.step_x),
        SIMT_MEMORY(r->work), SIMT_ARG(r->work_at),        SIMT_MEMORY(r->to),
        SIMT_ARG(r->to_at),   SIMT_ARG(r->plan.sequences), SIMT_ARG(r->plan.n),
    };
    return SUBMIT(r, KERNEL_VECTORS, r->plan.vectors * blocks, args);
}

/* A level above the first, by a group for each block. It stores the results if it is the last. */
static iso_status run_level(const run *r, int64_t from_at, int64_t next_at, int64_t count)
{
    const simt_arg args[] = {
        SIMT_MEMORY(r->work), SIMT_ARG(from_at),           SIMT_ARG(next_at), SIMT_MEMORY(r->to),
        SIMT_ARG(r->to_at),   SIMT_ARG(r->plan.sequences), SIMT_ARG(count),   SIMT_ARG(r->plan.n),
    };
    return SUBMIT(r, KERNEL_LEVEL, r->plan.sequences * simt_pieces(count, SIMT_REDUCE_BLOCK), args);
}

/* The levels above the first, on `count` results of each sequence. */
static iso_status run_levels(const run *r, int64_t count)
{
    int64_t at = r->work_at;
    iso_status status = ISO_OK;
    while (status == ISO_OK && count > SIMT_REDUCE_LANES) {
        const int64_t next = at + r->plan.sequences * count * r->plan.lane_bytes;
        status = run_level(r, at, next, count);
        if (count <= SIMT_REDUCE_BLOCK) {
            return status;
        }
        at = next;
        count = simt_pieces(count, SIMT_REDUCE_BLOCK);
    }
    if (status != ISO_OK) {
        return status;
    }
    const int32_t width = simt_reduce_width(count);
    const simt_arg args[] = {
        SIMT_MEMORY(r->work),        SIMT_ARG(at),    SIMT_MEMORY(r->to),  SIMT_ARG(r->to_at),
        SIMT_ARG(r->plan.sequences), SIMT_ARG(count), SIMT_ARG(r->plan.n), SIMT_ARG(width),
    };
    return SUBMIT(r, KERNEL_LAST, simt_pieces(r->plan.sequences, r->plan.tile.threads / width),
                  args);
}

/* The first level leaves one result for each group that is launched: never more than there are
 * blocks. */
static iso_status run_read(const run *r, int64_t blocks)
{
    int64_t groups = 0;
    iso_status status = resident(r, KERNEL_READ, &groups);
    groups = simt_least(simt_least(groups, r->plan.tile.groups_max),
                        simt_least(blocks, SIMT_REDUCE_BLOCK));
    const simt_arg args[] = {
        SIMT_MEMORY(r->x),    SIMT_ARG(r->x_at),   SIMT_MEMORY(r->work),
        SIMT_ARG(r->work_at), SIMT_ARG(r->plan.n),
    };
    if (status == ISO_OK) {
        status = SUBMIT(r, KERNEL_READ, groups, args);
    }
    return status == ISO_OK ? run_levels(r, groups) : status;
}

static iso_status run_tiled(const run *r)
{
    const int64_t count = simt_pieces(r->plan.n, SIMT_REDUCE_BLOCK);
    if (count == 1 && !r->plan.columns) {
        return run_short(r);
    }
    iso_status status = ISO_OK;
    if (r->plan.read && (r->aligned || r->dry)) {
        status = run_read(r, count);
        if (status != ISO_OK || !r->dry) {
            return status;
        }
    }
    const bool vectors = r->plan.stream || r->plan.vectors > 0;
    if (vectors && (r->aligned || r->dry)) {
        status = r->plan.stream ? run_stream(r, count) : run_vectors(r, count);
    }
    if (status == ISO_OK && (!vectors || !r->aligned || r->dry)) {
        status = r->plan.columns ? run_columns(r, count) : run_blocks(r, count);
    }
    return status == ISO_OK && count > 1 ? run_levels(r, count) : status;
}

/* Each work-item computes one result. */
static iso_status run_naive(const run *r)
{
    const simt_arg args[] = {
        INPUT(r),
        SIMT_MEMORY(r->to),
        SIMT_ARG(r->to_at),
        SIMT_ARG(r->plan.sequences),
        SIMT_ARG(r->plan.n),
    };
    return SUBMIT(r, KERNEL_NAIVE, simt_pieces(r->plan.sequences, r->plan.tile.threads), args);
}

/* Groups write partial results, or all update one word atomically. reduce_finish then writes the
 * results. */
static iso_status run_parts(const run *r)
{
    const int64_t parts = r->plan.atomic ? 1 : r->plan.parts;
    const simt_arg begin[] = {SIMT_MEMORY(r->work), SIMT_ARG(r->work_at)};
    const simt_arg args[] = {
        INPUT(r),
        SIMT_MEMORY(r->work),
        SIMT_ARG(r->work_at),
        SIMT_ARG(r->plan.sequences),
        SIMT_ARG(r->plan.n),
        SIMT_ARG(r->plan.parts),
    };
    const simt_arg finish[] = {
        SIMT_MEMORY(r->work),        SIMT_ARG(r->work_at), SIMT_MEMORY(r->to),  SIMT_ARG(r->to_at),
        SIMT_ARG(r->plan.sequences), SIMT_ARG(parts),      SIMT_ARG(r->plan.n),
    };
    iso_status status = r->plan.atomic ? SUBMIT(r, KERNEL_BEGIN, 1, begin) : ISO_OK;
    if (status == ISO_OK) {
        status = SUBMIT(r, r->plan.atomic ? KERNEL_ATOMIC : KERNEL_PARTIALS,
                        r->plan.parts * r->plan.sequences, args);
    }
    if (status == ISO_OK) {
        status =
            SUBMIT(r, KERNEL_FINISH, simt_pieces(r->plan.sequences, r->plan.tile.threads), finish);
    }
    return status;
}

static iso_status run_variant(simt_stream *stream, const iso_op *op, bool dry)
{
    const iso_reduce_op_args *args = op->reduce;
    const bool dot = args->op == ISO_DOT;
    const int64_t cell = iso_dtype_size(args->dtype);
    const int64_t result = iso_dtype_size(args->result_dtype);
    run r = {
        .stream = stream,
        .op = op,
        .dry = dry,
        .aligned = simt_alignment(stream->device, args->x) >= 16 &&
                   (!dot || simt_alignment(stream->device, args->y) >= 16),
        .spec = spec_of(&stream->device->limits, args->op, args->dtype),
        .x = args->x.memory,
        .y = dot ? args->y.memory : args->x.memory,
        .work = op->workspace.memory ? op->workspace.memory : args->x.memory,
        .to = args->result.memory,
        .x_at = args->x.offset / cell,
        .y_at = dot ? args->y.offset / cell : 0,
        .to_at = args->result.offset / result,
        .work_at = op->workspace.offset,
    };
    simt_reduce_plan_make(&r.plan, &stream->device->limits, args);
    if (args->variant == ISO_VARIANT_TILED) {
        return run_tiled(&r);
    }
    return r.plan.parts > 0 ? run_parts(&r) : run_naive(&r);
}

static iso_status reduce_execute(simt_stream *stream, const iso_op *op)
{
    return run_variant(stream, op, false);
}

static iso_status reduce_prepare(simt_stream *stream, const iso_op *op)
{
    return run_variant(stream, op, true);
}

const simt_operation simt_reduce = {
    .variant_at = offsetof(iso_reduce_op_args, variant),
    .needs = reduce_needs,
    .workspace = reduce_workspace,
    .execute = reduce_execute,
    .prepare = reduce_prepare,
    .describe = reduce_describe,
    .each = reduce_each,
};
