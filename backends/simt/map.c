/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - plans maps of arrays: which kernel of kernels/map.cl or map_more.cl, with which word
 * size. */
#include "backends/simt/map.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    WORD_BYTES = 16,
    GROUPS_MOST = 1 << 22 /* beyond this a group handles several blocks */
};

static const char *const map_parts[] = {kernel_text_dialect, kernel_text_map_value,
                                        kernel_text_map_words, kernel_text_map};
static const char *const more_parts[] = {kernel_text_dialect, kernel_text_map_value,
                                         kernel_text_map_words, kernel_text_map_more};

#define DEFINES                                                                                    \
    {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "MAP_WORD",  "MAP_RUN",                           \
     "MAP_CHAIN",   "MAP_STEPS", "?MAP_LOOPED",  "?MAP_NAIVE"}

/* Kernel `op - 1` is the tiled one, and `op - 1 + OPS` the naive one. */
enum { OPS = ISO_MAP_CHAIN, MORE = ISO_MAP_TANH - ISO_MAP_CHAIN };

static const simt_text map_text = {
    .name = "map",
    .parts = map_parts,
    .part_count = 4,
    .defines = DEFINES,
    .kernels = {"map_copy", "map_scale", "map_add", "map_multiply", "map_triad", "map_chain",
                "map_naive_copy", "map_naive_scale", "map_naive_add", "map_naive_multiply",
                "map_naive_triad", "map_naive_chain"},
};

/* The same from `op - ISO_MAP_SUBTRACT` on. */
static const simt_text more_text = {
    .name = "map_more",
    .parts = more_parts,
    .part_count = 4,
    .rounds = true,
    .defines = DEFINES,
    .kernels = {"map_subtract",     "map_divide",      "map_min",       "map_max",
                "map_abs",          "map_negate",      "map_axpby",     "map_fma",
                "map_relu",         "map_exp",         "map_tanh",      "map_naive_subtract",
                "map_naive_divide", "map_naive_min",   "map_naive_max", "map_naive_abs",
                "map_naive_negate", "map_naive_axpby", "map_naive_fma", "map_naive_relu",
                "map_naive_exp",    "map_naive_tanh"},
};

/* The index of each value in a spec of this source. */
enum {
    VALUE_THREADS,
    VALUE_DTYPE,
    VALUE_F64,
    VALUE_WORD,
    VALUE_RUN,
    VALUE_CHAIN,
    VALUE_STEPS,
    VALUE_LOOPED,
    VALUE_NAIVE
};

/* ---- tiles ----------------------------------------------------------------------------------- */

/*
 * run          16-byte words that a work-item reads from each array before it writes
 * plain_run    the same in elements, for operands that are not aligned to words
 * chain        chains that a work-item runs in parallel, for elements of 2, 4 and 8 bytes
 * looped       neighbouring elements that a work-item handles in a loop, if a group runs as a loop
 */
typedef struct shape {
    int32_t threads, run, plain_run, chain[3], steps, looped;
} shape;

static const shape shapes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] =
        {.threads = 128, .run = 1, .plain_run = 4, .chain = {8, 8, 4}, .steps = 8},
    [SIMT_CLASS_WAVE32] =
        {.threads = 256, .run = 1, .plain_run = 4, .chain = {8, 8, 4}, .steps = 8},
    [SIMT_CLASS_WAVE64] =
        {.threads = 256, .run = 1, .plain_run = 4, .chain = {8, 8, 4}, .steps = 8},
    [SIMT_CLASS_CPU] =
        {.threads = 64, .plain_run = 1, .chain = {32, 128, 64}, .steps = 1, .looped = 512},
    [SIMT_CLASS_SMALL] = {.threads = 4, .run = 2, .plain_run = 3, .chain = {8, 8, 4}, .steps = 3},
};

static simt_spec spec_for(const simt_limits *limits, iso_map_op op, iso_dtype dtype, bool wide)
{
    const simt_class device_class = shapes[limits->device_class].threads <= limits->threads_max
                                        ? limits->device_class
                                        : SIMT_CLASS_SMALL;
    const shape *s = &shapes[device_class];
    /* A copy only moves bits, so a device without f64 copies f64 as i64; and complex numbers are
     * one or two of i64. */
    if (op == ISO_MAP_COPY && (dtype > ISO_I8 || (dtype == ISO_F64 && !limits->f64))) {
        dtype = ISO_I64;
    }
    wide = wide && !s->looped;
    const int32_t size = (int32_t)iso_dtype_size(dtype);
    const int32_t word = wide ? WORD_BYTES / size : 1;
    const int32_t chain = s->chain[size / 4]; /* index 0, 1 or 2 */
    return (simt_spec){.text = op > ISO_MAP_CHAIN ? &more_text : &map_text,
                       .values = {[VALUE_THREADS] = s->threads,
                                  [VALUE_DTYPE] = (int32_t)dtype,
                                  [VALUE_F64] = dtype == ISO_F64,
                                  [VALUE_WORD] = word,
                                  [VALUE_RUN] = wide ? s->run : s->plain_run,
                                  [VALUE_CHAIN] = chain / word,
                                  [VALUE_STEPS] = s->steps,
                                  [VALUE_LOOPED] = s->looped,
                                  [VALUE_NAIVE] = wide || s->looped}};
}

/* ---- planning -------------------------------------------------------------------------------- */

int simt_map_operands(iso_map_op op)
{
    switch (op) {
    case ISO_MAP_FMA:
        return 3;
    case ISO_MAP_ADD:
    case ISO_MAP_MULTIPLY:
    case ISO_MAP_TRIAD:
    case ISO_MAP_SUBTRACT:
    case ISO_MAP_DIVIDE:
    case ISO_MAP_MIN:
    case ISO_MAP_MAX:
    case ISO_MAP_AXPBY:
        return 2;
    default:
        return 1;
    }
}

/* The program for operands with this alignment. The naive kernels accept any alignment. */
static simt_spec spec_of(const simt_device *device, const iso_map_op_args *op)
{
    const int operands = simt_map_operands(op->op);
    const bool wide = op->variant == ISO_VARIANT_NAIVE ||
                      (simt_alignment(device, op->x) >= WORD_BYTES &&
                       simt_alignment(device, op->z) >= WORD_BYTES &&
                       (operands < 2 || simt_alignment(device, op->y) >= WORD_BYTES) &&
                       (operands < 3 || simt_alignment(device, op->w) >= WORD_BYTES));
    return spec_for(&device->limits, op->op, op->dtype, wide);
}

static int32_t kernel_of(const iso_map_op_args *op)
{
    const bool naive = op->variant == ISO_VARIANT_NAIVE;
    return op->op > ISO_MAP_CHAIN ? (int32_t)(op->op - ISO_MAP_SUBTRACT) + (naive ? MORE : 0)
                                  : (int32_t)op->op - 1 + (naive ? OPS : 0);
}

/* Elements as the kernel counts them: a c128 is two. */
static int64_t elements_of(const iso_map_op_args *op)
{
    return op->dtype == ISO_C128 ? 2 * op->n : op->n;
}

static int64_t groups_of(const simt_spec *spec, const iso_map_op_args *op)
{
    const int32_t *v = spec->values;
    int64_t each = 1; /* elements of a work-item */
    if (op->variant != ISO_VARIANT_NAIVE) {
        each = op->op == ISO_MAP_CHAIN ? (int64_t)v[VALUE_CHAIN] * v[VALUE_WORD]
               : v[VALUE_LOOPED]       ? v[VALUE_LOOPED]
                                       : (int64_t)v[VALUE_RUN] * v[VALUE_WORD];
    }
    return simt_least(simt_pieces(elements_of(op), each * v[VALUE_THREADS]), GROUPS_MOST);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* A copy only moves bits, so it needs no arithmetic. */
static int map_needs(const iso_op *op)
{
    const iso_map_op_args *map = op->map;
    int needs = 0;
    for (int i = 0; i < 2 && map->op != ISO_MAP_COPY; i++) {
        const iso_dtype dtype = i && map->op == ISO_MAP_CONVERT ? map->dtype_z : map->dtype;
        const dtype_row *type = dtype_get(dtype);
        if (type->floating) {
            needs |= type->computes_in == ISO_F64 ? SIMT_NEEDS_F64 : SIMT_NEEDS_F32;
        }
    }
    return needs;
}

static iso_status map_execute(simt_stream *stream, const iso_op *of)
{
    enum { ARGS_MOST = 12 };
    const iso_map_op_args *op = of->map;
    if (op->general) {
        return simt_map_rows_execute(stream, op);
    }
    const int64_t size = op->dtype == ISO_C128 ? 8 : iso_dtype_size(op->dtype);
    const int64_t x_at = op->x.offset / size, y_at = op->y.offset / size;
    const int64_t z_at = op->z.offset / size, w_at = op->w.offset / size, n = elements_of(op);
    const float alpha = (float)op->alpha, beta = (float)op->beta;
    const int operands = simt_map_operands(op->op);
    const simt_spec spec = spec_of(stream->device, op);
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, &spec, kernel_of(op), &kernel);
    if (status != ISO_OK) {
        return status;
    }
    simt_arg args[ARGS_MOST] = {SIMT_MEMORY(op->x.memory), SIMT_ARG(x_at)};
    int32_t count = 2;
    if (operands > 1) {
        args[count++] = (simt_arg)SIMT_MEMORY(op->y.memory);
        args[count++] = (simt_arg)SIMT_ARG(y_at);
    }
    if (operands > 2) {
        args[count++] = (simt_arg)SIMT_MEMORY(op->w.memory);
        args[count++] = (simt_arg)SIMT_ARG(w_at);
    }
    args[count++] = (simt_arg)SIMT_MEMORY(op->z.memory);
    args[count++] = (simt_arg)SIMT_ARG(z_at);
    args[count++] = (simt_arg)SIMT_ARG(n);
    if (simt_map_has_factors(op->op)) {
        args[count++] = simt_factor(op->dtype, &op->alpha, &alpha);
    }
    if (op->op == ISO_MAP_CHAIN || op->op == ISO_MAP_AXPBY) {
        args[count++] = simt_factor(op->dtype, &op->beta, &beta);
    }
    if (op->op == ISO_MAP_CHAIN) {
        args[count++] = (simt_arg)SIMT_ARG(op->steps);
    }
    return simt_launch(stream, kernel, groups_of(&spec, op), args, count);
}

/* The operands' addresses are not known yet, so both programs are built: for aligned operands and
 * for others. */
static iso_status map_prepare(simt_stream *stream, const iso_op *of)
{
    simt_device *device = stream->device;
    const iso_map_op_args *op = of->map;
    const simt_kernel *kernel = NULL;
    if (op->general) {
        return simt_map_rows_prepare(stream, op);
    }
    const simt_spec wide = spec_for(&device->limits, op->op, op->dtype, true);
    iso_status status = simt_kernel_get(device, &wide, kernel_of(op), &kernel);
    if (status == ISO_OK && op->variant == ISO_VARIANT_TILED) {
        const simt_spec plain = spec_for(&device->limits, op->op, op->dtype, false);
        status = simt_kernel_get(device, &plain, kernel_of(op), &kernel);
    }
    return status;
}

static void map_describe(simt_device *device, const iso_op *of, iso_op_info *out)
{
    const iso_map_op_args *op = of->map;
    if (op->general) {
        simt_map_rows_describe(device, op, out);
        return;
    }
    const simt_spec spec = spec_of(device, op);
    const int32_t *v = spec.values;
    const char *name = spec.text->kernels[kernel_of(op)];
    if (op->variant == ISO_VARIANT_NAIVE) {
        (void)snprintf(out->kernel, sizeof out->kernel, "%s, %" PRId32 " work-items", name,
                       v[VALUE_THREADS]);
    } else if (op->op == ISO_MAP_CHAIN) {
        (void)snprintf(out->kernel, sizeof out->kernel,
                       "%s, %" PRId32 " side by side, %" PRId32 " work-items", name,
                       v[VALUE_CHAIN] * v[VALUE_WORD], v[VALUE_THREADS]);
    } else if (v[VALUE_LOOPED]) {
        (void)snprintf(out->kernel, sizeof out->kernel,
                       "%s, %" PRId32 " elements in a loop, %" PRId32 " work-items", name,
                       v[VALUE_LOOPED], v[VALUE_THREADS]);
    } else {
        (void)snprintf(out->kernel, sizeof out->kernel,
                       "%s, %" PRId32 " x %" PRId32 " bytes at once, %" PRId32 " work-items", name,
                       v[VALUE_RUN], v[VALUE_WORD] * (int32_t)iso_dtype_size(op->dtype),
                       v[VALUE_THREADS]);
    }
}

static void map_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    static const iso_map_op one_of[] = {ISO_MAP_COPY, ISO_MAP_SUBTRACT};
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_I8; dtype++) {
        for (int i = 0; i < (dtype == ISO_I8 ? 1 : 2); i++) {
            if (dtype == ISO_F64 && !limits->f64) {
                continue;
            }
            const simt_spec wide = spec_for(limits, one_of[i], dtype, true);
            const simt_spec plain = spec_for(limits, one_of[i], dtype, false);
            visit(&wide, context);
            if (wide.values[VALUE_WORD] != plain.values[VALUE_WORD]) {
                visit(&plain, context);
            }
        }
    }
    simt_map_rows_each(limits, visit, context);
}

const simt_operation simt_map = {
    .variant_at = offsetof(iso_map_op_args, variant),
    .needs = map_needs,
    .execute = map_execute,
    .prepare = map_prepare,
    .describe = map_describe,
    .each = map_each,
};
