/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - steps of sums over ranks: each thread gets one part of the elements. */
#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/kernels.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LINE = 64, /* elements; parts begin at multiples of it */
    /* Waking another thread pays off if it has at least this many bytes to read and write. */
    BYTES_PER_THREAD = 1 << 17,
    /* A thread keeps the addresses of its parts in its scratch memory. */
    SOURCES_MOST = 3072
};

_Static_assert((int)SOURCES_MOST <= (int)CPU_RANKS_MOST &&
                   SOURCES_MOST * sizeof(void *) <= CPU_TEAM_SCRATCH,
               "the kernels allow so many, and the scratch memory holds them");

typedef struct task {
    cpu_team *team;
    const iso_ranks_op *op;
    cpu_ranks_fold fold; /* or one of the other steps: */
    cpu_ranks_step step;
} task;

static cpu_ranks_fold fold_for(const cpu_device *device, const iso_ranks_op *op)
{
    const size_t reduce = (size_t)op->reduce;
    return reduce < CPU_FOLDS ? device->kernels->ranks->fold[reduce][op->dtype] : NULL;
}

static cpu_ranks_step step_for(const cpu_device *device, const iso_ranks_op *op)
{
    const cpu_ranks_fixed_kernels *kernels = device->kernels->ranks_fixed;
    switch (op->step) {
    case ISO_RANKS_EXPONENTS:
        return kernels->exponents[op->dtype];
    case ISO_RANKS_LIMBS:
        return kernels->limbs[op->dtype];
    case ISO_RANKS_JOIN:
        return kernels->join[op->dtype];
    default:
        return NULL;
    }
}

static iso_status supports(cpu_device *device, const iso_op *of)
{
    const iso_ranks_op *op = of->ranks;
    if (op->step != ISO_RANKS_FOLD) {
        return step_for(device, op)
                   ? ISO_OK
                   : cpu_host->fail(ISO_UNSUPPORTED,
                                    "step %d of a sum over ranks is not known for %s: use a "
                                    "floating-point type",
                                    (int)op->step, iso_dtype_name(op->dtype));
    }
    if (!fold_for(device, op)) {
        return cpu_host->fail(ISO_UNSUPPORTED, "%s of %s over ranks is not defined",
                              iso_reduce_op_name(op->reduce), iso_dtype_name(op->dtype));
    }
    if (op->count > SOURCES_MOST) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "%" PRId32 " arrays are to be reduced in one step, but at most %d "
                              "can be: use fewer ranks",
                              op->count, (int)SOURCES_MOST);
    }
    return ISO_OK;
}

static void run_fold(const task *t, int thread, int64_t first, int64_t n)
{
    const iso_ranks_op *op = t->op;
    const int64_t bytes = iso_dtype_size(op->dtype);
    const void **sources = cpu_team_scratch(t->team, thread);
    for (int32_t s = 0; s < op->count; s++) {
        sources[s] = s == op->own ? (const char *)cpu_at(op->y) + first * bytes
                                  : (const char *)cpu_at(op->x) + (s * op->stride + first) * bytes;
    }
    t->fold(sources, op->count, (char *)cpu_at(op->z) + first * bytes, n);
}

static void run_step(const task *t, int64_t first, int64_t n)
{
    const iso_ranks_op *op = t->op;
    const int64_t bytes = iso_dtype_size(op->dtype);
    cpu_ranks_part part = {.n = n,
                           .count = op->count,
                           .stride = op->stride,
                           .limb_stride = op->limb_stride,
                           .exponents = (int32_t *)cpu_at(op->exponents) + first};
    if (op->step == ISO_RANKS_JOIN) {
        part.z = (char *)cpu_at(op->z) + first * bytes;
    } else {
        part.x = (const char *)cpu_at(op->x) + first * bytes;
    }
    if (op->step != ISO_RANKS_EXPONENTS) {
        part.limbs = (int64_t *)cpu_at(op->limbs) + first;
    }
    t->step(&part);
}

static void body(void *context, int thread, int threads)
{
    const task *t = context;
    const int64_t lines = cpu_pieces(t->op->n, LINE);
    const int64_t first = cpu_split(lines, threads, thread) * LINE;
    const int64_t last = cpu_least(t->op->n, cpu_split(lines, threads, thread + 1) * LINE);
    if (last <= first) {
        return;
    }
    if (t->fold) {
        run_fold(t, thread, first, last - first);
    } else {
        run_step(t, first, last - first);
    }
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    static const char *const names[] = {
        [ISO_RANKS_FOLD] = "fold",
        [ISO_RANKS_EXPONENTS] = "exponents",
        [ISO_RANKS_LIMBS] = "limbs",
        [ISO_RANKS_JOIN] = "join",
    };
    (void)snprintf(out->kernel, sizeof out->kernel, "ranks_%s_%s_%s", names[op->ranks->step],
                   iso_dtype_name(op->ranks->dtype), device->kernels->name);
}

static iso_status execute(cpu_device *device, const iso_op *of)
{
    const iso_ranks_op *op = of->ranks;
    const int fold = op->step == ISO_RANKS_FOLD;
    task t = {.team = device->team,
              .op = op,
              .fold = fold ? fold_for(device, op) : NULL,
              .step = fold ? NULL : step_for(device, op)};
    const double arrays = op->step == ISO_RANKS_JOIN ? 3 : op->count + 1;
    const double bytes = arrays * (double)op->n * (double)iso_dtype_size(op->dtype);
    cpu_team_run(device->team, cpu_team_threads(device->team, bytes / BYTES_PER_THREAD), body, &t);
    return ISO_OK;
}

const cpu_operation cpu_ranks = {
    .supports = supports,
    .describe = describe,
    .execute = execute,
};
