/* SPDX-License-Identifier: Apache-2.0 */
/* solve.c - solves small triangles for many systems, with kernels/solve.cl. */
#include "backends/simt/simt.h"
#include "common/steps.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

enum { GROUPS_MOST = 1 << 22 /* of a launch */ };

static const char *const solve_parts[] = {kernel_text_dialect, kernel_text_solve};
static const simt_text solve_text = {
    .name = "solve",
    .parts = solve_parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "?SOLVE_COMPLEX"},
    .kernels = {"solve"},
};

/* The unknowns of a work-item's system are in shared memory: a group has as many systems as about
 * 33 KiB hold, or half as many. With the triangle's rows that is less than 40 KiB. */
static int32_t threads_for(const simt_limits *limits, const steps_type *type)
{
    enum { SYSTEM_BYTES = 512, SHARED_BYTES = 40960 };
    int32_t threads = SYSTEM_BYTES / (type->part_bytes * type->parts);
    if (limits->device_class == SIMT_CLASS_CPU || limits->local_bytes < SHARED_BYTES) {
        threads /= 2;
    }
    return limits->device_class == SIMT_CLASS_SMALL || threads > limits->threads_max ? 4 : threads;
}

static simt_spec spec_for(const simt_limits *limits, iso_dtype dtype)
{
    const steps_type *type = steps_type_of(dtype);
    return (simt_spec){.text = &solve_text,
                       .values = {threads_for(limits, type), type->wide ? ISO_F64 : ISO_F32,
                                  type->wide, type->parts == 2}};
}

static iso_status solve_execute(simt_stream *stream, const iso_op *of)
{
    const iso_solve_op *op = of->solve;
    const steps_type *type = steps_type_of(op->dtype);
    const simt_spec spec = spec_for(&stream->device->limits, op->dtype);
    const simt_kernel *kernel = NULL;
    const iso_status status = simt_kernel_get(stream->device, &spec, 0, &kernel);
    if (status != ISO_OK) {
        return status;
    }
    const int64_t bytes = (int64_t)type->part_bytes * type->parts;
    const int64_t a_at = op->a.offset / bytes, x_at = op->x.offset / bytes;
    const int64_t strips = simt_pieces(op->count, kernel->threads), tasks = strips * op->batch;
    const int32_t n = (int32_t)op->n;
    int64_t before = 0;
    const simt_arg args[] = {
        SIMT_MEMORY(op->a.memory),
        SIMT_ARG(a_at),
        SIMT_MEMORY(op->x.memory),
        SIMT_ARG(x_at),
        SIMT_ARG(n),
        SIMT_ARG(op->unit),
        SIMT_ARG(op->conj),
        SIMT_ARG(op->count),
        SIMT_ARG(strips),
        SIMT_ARG(before),
        SIMT_ARG(op->a_row),
        SIMT_ARG(op->a_col),
        SIMT_ARG(op->stride_a),
        SIMT_ARG(op->x_row),
        SIMT_ARG(op->x_col),
        SIMT_ARG(op->stride_x),
    };
    iso_status launched = ISO_OK;
    for (; before < tasks && launched == ISO_OK; before += GROUPS_MOST) {
        launched = SIMT_LAUNCH(stream, kernel, simt_least(tasks - before, GROUPS_MOST), args);
    }
    return launched;
}

static int solve_needs(const iso_op *op)
{
    const steps_type *type = steps_type_of(op->solve->dtype);
    if (!type || !type->solve) {
        return 0; /* solve_supports says so */
    }
    return type->wide ? SIMT_NEEDS_F64 : SIMT_NEEDS_F32;
}

static iso_status solve_supports(simt_device *device, const iso_op *op)
{
    return steps_solve_supports(device->host, op->solve);
}

static iso_status solve_prepare(simt_stream *stream, const iso_op *op)
{
    const simt_spec spec = spec_for(&stream->device->limits, op->solve->dtype);
    const simt_kernel *kernel = NULL;
    return simt_kernel_get(stream->device, &spec, 0, &kernel);
}

static void solve_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    const steps_type *type = steps_type_of(op->solve->dtype);
    (void)snprintf(out->kernel, sizeof out->kernel, "solve of %s, %" PRId32 " work-items",
                   type->name, threads_for(&device->limits, type));
}

static void solve_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    for (iso_dtype dtype = ISO_F32; dtype <= ISO_C128; dtype++) {
        const steps_type *type = steps_type_of(dtype);
        if (type && type->solve && (type->wide ? limits->f64 : limits->f32_exact)) {
            const simt_spec spec = spec_for(limits, dtype);
            visit(&spec, context);
        }
    }
}

const simt_operation simt_solve = {
    .variant_at = offsetof(iso_solve_op, variant),
    .needs = solve_needs,
    .supports = solve_supports,
    .execute = solve_execute,
    .prepare = solve_prepare,
    .describe = solve_describe,
    .each = solve_each,
};
