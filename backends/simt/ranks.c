/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - steps of sums over ranks: folds, with kernels/ranks.cl, and the steps of exact sums,
 * with kernels/ranks_fixed.cl. */
#include "backends/simt/simt.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

enum {
    WORD_BYTES = 16,
    GROUPS_MOST = 1 << 22 /* beyond this a group handles several blocks */
};

static const char *const fold_parts[] = {kernel_text_dialect, kernel_text_reduce_steps,
                                         kernel_text_ranks};
static const simt_text fold_text = {
    .name = "ranks",
    .parts = fold_parts,
    .part_count = 3,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "ISO_OP", "?ISO_USE_F64", "RANKS_WORD", "RANKS_RUN",
                "RANKS_AHEAD"},
    .kernels = {"ranks_fold"},
};
/* The index of each value in a spec of this source. */
enum { VALUE_THREADS, VALUE_DTYPE, VALUE_OP, VALUE_F64, VALUE_WORD, VALUE_RUN, VALUE_AHEAD };

enum { KERNEL_EXPONENTS, KERNEL_LIMBS, KERNEL_JOIN };
static const char *const fixed_parts[] = {kernel_text_dialect, kernel_text_ranks_fixed};
static const simt_text fixed_text = {
    .name = "ranks_fixed",
    .parts = fixed_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "RANKS_OF"},
    .kernels = {[KERNEL_EXPONENTS] = "ranks_exponents",
                [KERNEL_LIMBS] = "ranks_limbs",
                [KERNEL_JOIN] = "ranks_join"},
};

/* ---- tiles ----------------------------------------------------------------------------------- */

/* What a work-item has in flight: words of each source, and sources, for operands that are aligned
 * to words and, in elements, for others. */
typedef struct shape {
    int32_t threads, run, ahead, plain_run, plain_ahead;
} shape;

static const shape shapes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = {.threads = 256, .run = 1, .ahead = 4, .plain_run = 4, .plain_ahead = 2},
    [SIMT_CLASS_WAVE32] = {.threads = 256, .run = 1, .ahead = 4, .plain_run = 4, .plain_ahead = 2},
    [SIMT_CLASS_WAVE64] = {.threads = 256, .run = 1, .ahead = 4, .plain_run = 4, .plain_ahead = 2},
    [SIMT_CLASS_CPU] = {.threads = 64, .run = 1, .ahead = 2, .plain_run = 2, .plain_ahead = 1},
    [SIMT_CLASS_SMALL] = {.threads = 4, .run = 2, .ahead = 3, .plain_run = 3, .plain_ahead = 2},
};

static const shape *shape_of(const simt_limits *limits)
{
    const shape *best = &shapes[limits->device_class];
    return best->threads <= limits->threads_max ? best : &shapes[SIMT_CLASS_SMALL];
}

static simt_spec fold_spec(const simt_limits *limits, iso_reduce_op op, iso_dtype dtype, bool wide)
{
    const shape *s = shape_of(limits);
    return (simt_spec){
        .text = &fold_text,
        .values = {[VALUE_THREADS] = s->threads,
                   [VALUE_DTYPE] = (int32_t)dtype,
                   [VALUE_OP] = (int32_t)op,
                   [VALUE_F64] = op == ISO_MEAN || dtype == ISO_F64,
                   [VALUE_WORD] = wide ? WORD_BYTES / (int32_t)iso_dtype_size(dtype) : 1,
                   [VALUE_RUN] = wide ? s->run : s->plain_run,
                   [VALUE_AHEAD] = wide ? s->ahead : s->plain_ahead}};
}

/* Elements are integers there, but there is no type of integers of 16 bits. */
static simt_spec fixed_spec(const simt_limits *limits, iso_dtype dtype)
{
    const iso_dtype bits = dtype == ISO_F32 ? ISO_I32 : dtype == ISO_F64 ? ISO_I64 : dtype;
    return (simt_spec){.text = &fixed_text,
                       .values = {shape_of(limits)->threads, (int32_t)bits, (int32_t)dtype}};
}

static bool is_fold_known(iso_reduce_op op, iso_dtype dtype)
{
    const bool floating = dtype_get(dtype)->floating;
    return op == ISO_SUM || op == ISO_PRODUCT || op == ISO_MIN || op == ISO_MAX ||
           (op == ISO_MEAN && floating) || (op == ISO_XOR && !floating);
}

static bool is_wide(const simt_device *device, const iso_ranks_op *op)
{
    const bool reads_x = op->count > 1 || op->own != 0;
    return simt_alignment(device, op->z) >= WORD_BYTES &&
           (!reads_x || (simt_alignment(device, op->x) >= WORD_BYTES &&
                         op->stride * iso_dtype_size(op->dtype) % WORD_BYTES == 0)) &&
           (op->own < 0 || simt_alignment(device, op->y) >= WORD_BYTES);
}

/* ---- running --------------------------------------------------------------------------------- */

static iso_status run_fold(simt_stream *stream, const iso_ranks_op *op)
{
    const int64_t size = iso_dtype_size(op->dtype);
    const int64_t x_at = op->x.offset / size, y_at = op->y.offset / size;
    const int64_t z_at = op->z.offset / size;
    const simt_spec spec =
        fold_spec(&stream->device->limits, op->reduce, op->dtype, is_wide(stream->device, op));
    const int32_t *v = spec.values;
    const int64_t each = (int64_t)v[VALUE_THREADS] * v[VALUE_RUN] * v[VALUE_WORD];
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, &spec, 0, &kernel);
    if (status != ISO_OK) {
        return status;
    }
    const simt_arg args[] = {
        SIMT_MEMORY(op->x.memory), SIMT_ARG(x_at),
        SIMT_MEMORY(op->y.memory), SIMT_ARG(y_at),
        SIMT_MEMORY(op->z.memory), SIMT_ARG(z_at),
        SIMT_ARG(op->n),           SIMT_ARG(op->stride),
        SIMT_ARG(op->count),       SIMT_ARG(op->own),
    };
    return SIMT_LAUNCH(stream, kernel, simt_least(simt_pieces(op->n, each), GROUPS_MOST), args);
}

static int32_t kernel_of(iso_ranks_step step)
{
    return step == ISO_RANKS_EXPONENTS ? KERNEL_EXPONENTS
           : step == ISO_RANKS_LIMBS   ? KERNEL_LIMBS
                                       : KERNEL_JOIN;
}

static iso_status run_fixed(simt_stream *stream, const iso_ranks_op *op)
{
    const int64_t size = iso_dtype_size(op->dtype);
    const int64_t x_at = op->x.offset / size, z_at = op->z.offset / size;
    const int64_t exponents_at = op->exponents.offset / (int64_t)sizeof(int32_t);
    const int64_t limbs_at = op->limbs.offset / (int64_t)sizeof(int64_t);
    const simt_spec spec = fixed_spec(&stream->device->limits, op->dtype);
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, &spec, kernel_of(op->step), &kernel);
    if (status != ISO_OK) {
        return status;
    }
    const int64_t groups = simt_least(simt_pieces(op->n, kernel->threads), GROUPS_MOST);
    const simt_arg x[] = {SIMT_MEMORY(op->x.memory), SIMT_ARG(x_at)};
    const simt_arg z[] = {SIMT_MEMORY(op->z.memory), SIMT_ARG(z_at)};
    const simt_arg codes[] = {SIMT_MEMORY(op->exponents.memory), SIMT_ARG(exponents_at)};
    const simt_arg limbs[] = {SIMT_MEMORY(op->limbs.memory), SIMT_ARG(limbs_at)};
    const simt_arg n = SIMT_ARG(op->n), count = SIMT_ARG(op->count), stride = SIMT_ARG(op->stride);
    const simt_arg limb_stride = SIMT_ARG(op->limb_stride);
    if (op->step == ISO_RANKS_EXPONENTS) {
        const simt_arg args[] = {x[0], x[1], codes[0], codes[1], n, stride, count};
        return SIMT_LAUNCH(stream, kernel, groups, args);
    }
    if (op->step == ISO_RANKS_LIMBS) {
        const simt_arg args[] = {x[0],     x[1], codes[0], codes[1],    limbs[0],
                                 limbs[1], n,    stride,   limb_stride, count};
        return SIMT_LAUNCH(stream, kernel, groups, args);
    }
    const simt_arg args[] = {codes[0], codes[1], limbs[0], limbs[1], z[0], z[1], n, limb_stride};
    return SIMT_LAUNCH(stream, kernel, groups, args);
}

static iso_status ranks_execute(simt_stream *stream, const iso_op *op)
{
    return op->ranks->step == ISO_RANKS_FOLD ? run_fold(stream, op->ranks)
                                             : run_fixed(stream, op->ranks);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Comparisons and the steps of exact sums are done with integers. */
static int ranks_needs(const iso_op *of)
{
    const iso_ranks_op *op = of->ranks;
    const dtype_row *type = dtype_get(op->dtype);
    if (op->step != ISO_RANKS_FOLD || !type->floating) {
        return 0;
    }
    if (op->dtype == ISO_F64) {
        return SIMT_NEEDS_F64;
    }
    const bool compares = op->reduce == ISO_MIN || op->reduce == ISO_MAX;
    return (op->reduce == ISO_MEAN ? SIMT_NEEDS_F64 : 0) | (compares ? 0 : SIMT_NEEDS_F32);
}

static iso_status ranks_supports(simt_device *device, const iso_op *of)
{
    const iso_ranks_op *op = of->ranks;
    if (op->step == ISO_RANKS_FOLD) {
        return is_fold_known(op->reduce, op->dtype)
                   ? ISO_OK
                   : device->host->fail(ISO_UNSUPPORTED, "%s of %s over ranks is not defined",
                                        iso_reduce_op_name(op->reduce), iso_dtype_name(op->dtype));
    }
    const bool known = op->step == ISO_RANKS_EXPONENTS || op->step == ISO_RANKS_LIMBS ||
                       op->step == ISO_RANKS_JOIN;
    return known && dtype_get(op->dtype)->floating
               ? ISO_OK
               : device->host->fail(ISO_UNSUPPORTED,
                                    "step %d of a sum over ranks is not known for %s: use a "
                                    "floating-point type",
                                    (int)op->step, iso_dtype_name(op->dtype));
}

/* The operands' addresses are not known yet, so both folds are built: for aligned operands and for
 * others. */
static iso_status ranks_prepare(simt_stream *stream, const iso_op *of)
{
    const iso_ranks_op *op = of->ranks;
    const simt_limits *limits = &stream->device->limits;
    const simt_kernel *kernel = NULL;
    if (op->step != ISO_RANKS_FOLD) {
        const simt_spec spec = fixed_spec(limits, op->dtype);
        return simt_kernel_get(stream->device, &spec, kernel_of(op->step), &kernel);
    }
    const simt_spec wide = fold_spec(limits, op->reduce, op->dtype, true);
    const simt_spec plain = fold_spec(limits, op->reduce, op->dtype, false);
    const iso_status status = simt_kernel_get(stream->device, &wide, 0, &kernel);
    return status == ISO_OK ? simt_kernel_get(stream->device, &plain, 0, &kernel) : status;
}

static void ranks_describe(simt_device *device, const iso_op *of, iso_op_info *out)
{
    const iso_ranks_op *op = of->ranks;
    const int32_t threads = shape_of(&device->limits)->threads;
    if (op->step == ISO_RANKS_FOLD) {
        (void)snprintf(out->kernel, sizeof out->kernel,
                       "ranks_fold, %s of %s, %" PRId32 " work-items",
                       iso_reduce_op_name(op->reduce), iso_dtype_name(op->dtype), threads);
    } else {
        (void)snprintf(out->kernel, sizeof out->kernel, "%s of %s, %" PRId32 " work-items",
                       fixed_text.kernels[kernel_of(op->step)], iso_dtype_name(op->dtype), threads);
    }
}

static void ranks_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    const int lacks = (limits->f64 ? 0 : SIMT_NEEDS_F64) | (limits->f32_exact ? 0 : SIMT_NEEDS_F32);
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_I64; dtype++) { /* communicators have no others */
        for (iso_reduce_op reduce = ISO_SUM; iso_reduce_op_name(reduce); reduce++) {
            const iso_ranks_op op = {.step = ISO_RANKS_FOLD, .dtype = dtype, .reduce = reduce};
            const iso_op of = {.kind = (iso_op_kind)ISO_OP_RANKS, .ranks = &op};
            if (is_fold_known(reduce, dtype) && !(ranks_needs(&of) & lacks)) {
                const simt_spec wide = fold_spec(limits, reduce, dtype, true);
                const simt_spec plain = fold_spec(limits, reduce, dtype, false);
                visit(&wide, context);
                visit(&plain, context);
            }
        }
        if (dtype_get(dtype)->floating) {
            const simt_spec fixed = fixed_spec(limits, dtype);
            visit(&fixed, context);
        }
    }
}

const simt_operation simt_ranks = {
    .variant_at = offsetof(iso_ranks_op, variant),
    .needs = ranks_needs,
    .supports = ranks_supports,
    .execute = ranks_execute,
    .prepare = ranks_prepare,
    .describe = ranks_describe,
    .each = ranks_each,
};
