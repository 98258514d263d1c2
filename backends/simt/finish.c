/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c - C = alpha * T + beta * C, with kernels/finish.cl. */
#include "backends/simt/simt.h"
#include "common/steps.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

enum {
    RUN = 4,              /* FINISH_RUN */
    GROUPS_MOST = 1 << 22 /* beyond this a group handles several blocks */
};

enum { KERNEL_ROWS, KERNEL_TILES };
static const char *const finish_parts[] = {kernel_text_dialect, kernel_text_finish};
static const simt_text finish_text = {
    .name = "finish",
    .parts = finish_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "?FINISH_COMPLEX", "FINISH_RUN",
                "FINISH_SIDE"},
    .kernels = {[KERNEL_ROWS] = "finish_rows", [KERNEL_TILES] = "finish_tiles"},
};

/* The bits of `flags`: see the kernel. */
enum {
    HAS_ALPHA = 1,
    HAS_BETA = 2,
    READS = 4,
    HAS_T = 8,
    LOWER = 16,
    UPPER = 32,
    MINUS_II = 64,
    MINUS_RI = 128,
    MINUS_IR = 256,
    TYPE_AT = 9
};

/* Work-items of a group, and the side of a tile. */
typedef struct shape {
    int32_t threads, side;
} shape;

static const shape shapes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = {256, 32}, [SIMT_CLASS_WAVE32] = {256, 32},
    [SIMT_CLASS_WAVE64] = {256, 32}, [SIMT_CLASS_CPU] = {64, 16},
    [SIMT_CLASS_SMALL] = {4, 2},
};

static const shape *shape_of(const simt_limits *limits)
{
    const shape *usual = &shapes[limits->device_class];
    return usual->threads <= limits->threads_max ? usual : &shapes[SIMT_CLASS_SMALL];
}

static simt_spec spec_for(const simt_limits *limits, iso_dtype dtype)
{
    const steps_type *type = steps_type_of(dtype);
    const iso_dtype part = type->parts == 1 ? dtype : type->wide ? ISO_F64 : ISO_F32;
    const shape *s = shape_of(limits);
    return (simt_spec){
        .text = &finish_text,
        .values = {s->threads, (int32_t)part, type->wide, type->parts == 2, RUN, s->side}};
}

static bool is_turned(const iso_finish_op *op)
{
    return op->c_row == 1 && (op->c_col != 1 || op->n == 1);
}

static int32_t flags_of(const iso_finish_op *op)
{
    return (int32_t)(op->factors & (HAS_ALPHA | HAS_BETA)) | (steps_finish_reads(op) ? READS : 0) |
           (op->planes ? HAS_T : 0) | (op->triangle == ISO_LOWER ? LOWER : 0) |
           (op->triangle == ISO_UPPER ? UPPER : 0) | (op->sign_ii < 0 ? MINUS_II : 0) |
           (op->sign_ri < 0 ? MINUS_RI : 0) | (op->sign_ir < 0 ? MINUS_IR : 0) |
           (int32_t)op->factor_dtype << TYPE_AT;
}

/* A factor in the kernel's type: whole numbers are taken modulo 2^32. */
typedef union factor {
    float narrow;
    double wide;
    uint32_t whole;
} factor;

static factor factor_of(iso_dtype dtype, const steps_type *type, double value)
{
    if (dtype == ISO_I32) {
        return (factor){.whole = (uint32_t)(int64_t)value};
    }
    if (type->wide) {
        return (factor){.wide = value};
    }
    return (factor){.narrow = (float)value};
}

static simt_arg factor_arg(iso_dtype dtype, const steps_type *type, const factor *f)
{
    const bool wide = type->wide && dtype != ISO_I32;
    return (simt_arg){.value = f, .bytes = (int32_t)(wide ? sizeof f->wide : sizeof f->narrow)};
}

static iso_status finish_execute(simt_stream *stream, const iso_op *of)
{
    const iso_finish_op *op = of->finish;
    const steps_type *type = steps_type_of(op->dtype);
    const simt_spec spec = spec_for(&stream->device->limits, op->dtype);
    const bool turned = is_turned(op);
    const shape *s = shape_of(&stream->device->limits);
    const simt_kernel *kernel = NULL;
    const iso_status status =
        simt_kernel_get(stream->device, &spec, turned ? KERNEL_TILES : KERNEL_ROWS, &kernel);
    if (status != ISO_OK) {
        return status;
    }
    int32_t across = 0;
    while (!turned && (INT32_C(1) << across) < s->threads && ((int64_t)RUN << across) < op->n) {
        across++;
    }
    const int64_t down = simt_pieces(op->m, turned ? s->side : s->threads >> across);
    const int64_t over = simt_pieces(op->n, turned ? s->side : (int64_t)RUN << across);
    const int64_t blocks = down * over * op->batch;
    const int64_t t_at = op->t.offset / type->t_bytes;
    const int64_t c_at = op->c.offset / ((int64_t)type->part_bytes * type->parts);
    const int32_t flags = flags_of(op);
    const factor alpha = factor_of(op->dtype, type, op->alpha),
                 alpha_imag = factor_of(op->dtype, type, op->alpha_imag),
                 beta = factor_of(op->dtype, type, op->beta),
                 beta_imag = factor_of(op->dtype, type, op->beta_imag);
    const simt_arg args[] = {
        SIMT_MEMORY(op->t.memory),
        SIMT_ARG(t_at),
        SIMT_ARG(op->plane),
        SIMT_ARG(op->ldt),
        SIMT_ARG(op->stride_t),
        SIMT_MEMORY(op->c.memory),
        SIMT_ARG(c_at),
        SIMT_ARG(op->c_row),
        SIMT_ARG(op->c_col),
        SIMT_ARG(op->stride_c),
        SIMT_ARG(op->m),
        SIMT_ARG(op->n),
        SIMT_ARG(down),
        SIMT_ARG(over),
        SIMT_ARG(blocks),
        SIMT_ARG(across),
        SIMT_ARG(flags),
        factor_arg(op->dtype, type, &alpha),
        factor_arg(op->dtype, type, &alpha_imag),
        factor_arg(op->dtype, type, &beta),
        factor_arg(op->dtype, type, &beta_imag),
        SIMT_MEMORY(op->alpha_at.memory),
        SIMT_ARG(op->alpha_at.offset),
        SIMT_MEMORY(op->beta_at.memory),
        SIMT_ARG(op->beta_at.offset),
    };
    return SIMT_LAUNCH(stream, kernel, simt_least(blocks, GROUPS_MOST), args);
}

/* ---- entries --------------------------------------------------------------------------------- */

static int finish_needs(const iso_op *op)
{
    const steps_type *type = steps_type_of(op->finish->dtype);
    if (!type) {
        return 0; /* finish_supports says so */
    }
    return type->wide ? SIMT_NEEDS_F64 : SIMT_NEEDS_F32;
}

static iso_status finish_supports(simt_device *device, const iso_op *op)
{
    return steps_finish_supports(device->host, op->finish);
}

static iso_status finish_prepare(simt_stream *stream, const iso_op *op)
{
    const simt_spec spec = spec_for(&stream->device->limits, op->finish->dtype);
    const simt_kernel *kernel = NULL;
    return simt_kernel_get(stream->device, &spec,
                           is_turned(op->finish) ? KERNEL_TILES : KERNEL_ROWS, &kernel);
}

static void finish_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    (void)snprintf(out->kernel, sizeof out->kernel, "%s of %s, %" PRId32 " work-items",
                   finish_text.kernels[is_turned(op->finish) ? KERNEL_TILES : KERNEL_ROWS],
                   steps_type_of(op->finish->dtype)->name, shape_of(&device->limits)->threads);
}

static void finish_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    for (iso_dtype dtype = ISO_F16; dtype <= ISO_C128; dtype++) {
        const steps_type *type = steps_type_of(dtype);
        if (type && (type->wide ? limits->f64 : limits->f32_exact)) {
            const simt_spec spec = spec_for(limits, dtype);
            visit(&spec, context);
        }
    }
}

const simt_operation simt_finish = {
    .variant_at = offsetof(iso_finish_op, variant),
    .needs = finish_needs,
    .supports = finish_supports,
    .execute = finish_execute,
    .prepare = finish_prepare,
    .describe = finish_describe,
    .each = finish_each,
};
