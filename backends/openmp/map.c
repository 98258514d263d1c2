/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps: each thread gets one part of the elements, and the kernel runs straight through it.
 */
#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/runtime.h"

#include <stdio.h>

enum {
    LINE_BYTES = 64,
    /* Waking another thread pays off if it has at least this many bytes of the result to write, or
     * this many steps of chains to compute. */
    BYTES_PER_THREAD = 1 << 17,
    STEPS_PER_THREAD = 1 << 20
};

typedef struct task {
    const iso_map_op_args *op;
    cpu_map_kernel kernel;
    int64_t bytes; /* size of an element */
    int stream;
} task;

static cpu_map_kernel kernel_for(const cpu_device *device, const iso_map_op_args *op)
{
    const cpu_map_kernels *kernels = device->kernels->map;
    return op->variant == ISO_VARIANT_NAIVE ? kernels->naive[op->op][op->dtype]
                                            : kernels->tiled[op->op][op->dtype];
}

cpu_map_kernel cpu_map_copy(const cpu_device *device)
{
    return device->kernels->map->tiled[ISO_MAP_COPY][ISO_F16];
}

static int threads_for(const cpu_device *device, const iso_map_op_args *op)
{
    const double bytes = (double)op->n * (double)iso_dtype_size(op->dtype);
    const double steps = (double)op->n * (double)op->steps;
    const double wanted = bytes / BYTES_PER_THREAD + steps / STEPS_PER_THREAD;
    return cpu_team_threads(device->team, wanted);
}

/* Whether the result bypasses the caches. It does if the last-level cache cannot hold the operands,
 * unless the operation is in place: the result's lines are then in the caches already. */
static int streams(const cpu_device *device, const iso_map_op_args *op)
{
    const int64_t all = device->facts->cache_bytes, most = op->y.memory ? all / 3 : all / 2;
    const int in_place =
        cpu_at(op->z) == cpu_at(op->x) || (op->y.memory && cpu_at(op->z) == cpu_at(op->y));
    return op->variant == ISO_VARIANT_TILED && !in_place &&
           op->n * iso_dtype_size(op->dtype) > most;
}

static void body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_map_op_args *op = t->op;
    int64_t first = 0, last = op->n;
    if (threads > 1) {
        const int64_t line = LINE_BYTES / t->bytes, lines = cpu_pieces(op->n, line);
        first = cpu_split(lines, threads, thread) * line;
        last = cpu_least(op->n, cpu_split(lines, threads, thread + 1) * line);
    }
    const cpu_map_part part = {
        .x = (const char *)cpu_at(op->x) + first * t->bytes,
        .y = op->y.memory ? (const char *)cpu_at(op->y) + first * t->bytes : NULL,
        .z = (char *)cpu_at(op->z) + first * t->bytes,
        .n = last - first,
        .steps = op->steps,
        .alpha = op->alpha,
        .beta = op->beta,
        .stream = t->stream,
    };
    if (part.n > 0) {
        t->kernel(&part);
    }
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    const iso_map_op_args *args = op->map;
    snprintf(out->kernel, sizeof out->kernel, "%s_%s_%s_%s", iso_map_op_name(args->op),
             iso_variant_name(args->variant), iso_dtype_name(args->dtype), device->kernels->name);
}

static iso_status execute(cpu_device *device, const iso_op *op)
{
    const iso_map_op_args *args = op->map;
    task t = {.op = args,
              .kernel = kernel_for(device, args),
              .bytes = iso_dtype_size(args->dtype),
              .stream = streams(device, args)};
    cpu_team_run(device->team, threads_for(device, args), body, &t);
    return ISO_OK;
}

const cpu_operation cpu_map = {
    .describe = describe,
    .execute = execute,
};
