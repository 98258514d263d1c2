/* SPDX-License-Identifier: Apache-2.0 */
/* solve.c - solves small triangles. A thread packs a triangle, and then solves strips of systems,
 * which it copies to its scratch memory and back. */
#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/kernels.h"
#include "common/steps.h"

#include <stdio.h>
#include <string.h>

enum {
    TRIANGLE_BYTES = ISO_SOLVE_MOST * (ISO_SOLVE_MOST + 1) / 2 * 16,
    STRIP_BYTES = ISO_SOLVE_MOST * CPU_SOLVE_BYTES,
    STEPS_PER_THREAD = 1 << 17 /* waking another thread pays off if it has so many fmas */
};

_Static_assert(TRIANGLE_BYTES + STRIP_BYTES <= CPU_TEAM_SCRATCH, "the scratch memory holds both");
_Static_assert(TRIANGLE_BYTES % 64 == 0, "a strip is aligned");

typedef struct task {
    cpu_team *team;
    const iso_solve_op *op;
    const steps_type *type;
    void (*run)(const cpu_solve_strip *g);
    int64_t strip, strips; /* systems of a strip; strips of a triangle */
} task;

/* Elements below the diagonal get the other sign. */
#define DEFINE_PACK(name, real)                                                                    \
    static void pack_##name(const iso_solve_op *op, const real *a, int parts, real *to)            \
    {                                                                                              \
        for (int64_t i = 0; i < op->n; i++) {                                                      \
            for (int64_t k = 0; k <= i; k++) {                                                     \
                const real *from = a + (i * op->a_row + k * op->a_col) * parts;                    \
                if (k == i && op->unit) {                                                          \
                    to[0] = 1, to[parts - 1] = 1;                                                  \
                } else {                                                                           \
                    to[0] = k < i ? -from[0] : from[0];                                            \
                    if (parts == 2) {                                                              \
                        to[1] = (k < i) != (op->conj != 0) ? -from[1] : from[1];                   \
                    }                                                                              \
                }                                                                                  \
                to += parts;                                                                       \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_PACK(f32, float)
DEFINE_PACK(f64, double)

/* Copies a strip, if `back` from the scratch memory. The loop over what is contiguous is the inner
 * one. */
#define DEFINE_MOVE(name, real)                                                                    \
    static void move_##name(const iso_solve_op *op, real *x, int64_t count, int parts, real *s,    \
                            int back)                                                              \
    {                                                                                              \
        const int64_t pitch = CPU_SOLVE_BYTES / sizeof(real), half = pitch / 2;                    \
        const int64_t row = op->x_row * parts, col = op->x_col * parts;                            \
        const int columns = op->x_row == 1 || op->x_row == -1;                                     \
        const int64_t outer = columns ? count : op->n, inner = columns ? op->n : count;            \
        for (int64_t o = 0; o < outer; o++) {                                                      \
            real *const near = s + (columns ? o : o * pitch);                                      \
            real *const far = x + o * (columns ? col : row);                                       \
            const int64_t near_step = columns ? pitch : 1, far_step = columns ? row : col;         \
            for (int p = 0; p < parts; p++) {                                                      \
                for (int64_t i = 0; i < inner; i++) {                                              \
                    if (back) {                                                                    \
                        far[i * far_step + p] = near[i * near_step + p * half];                    \
                    } else {                                                                       \
                        near[i * near_step + p * half] = far[i * far_step + p];                    \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_MOVE(f32, float)
DEFINE_MOVE(f64, double)

static void run_strip(const task *t, const cpu_solve_strip *strip, int64_t matrix, int64_t first)
{
    const iso_solve_op *op = t->op;
    const int parts = t->type->parts;
    const int64_t count = cpu_least(t->strip, op->count - first);
    const int64_t at = (matrix * op->stride_x + first * op->x_col) * parts;
    if (t->type->part_bytes == 4) {
        float *x = (float *)cpu_at(op->x) + at;
        move_f32(op, x, count, parts, strip->x, 0);
        t->run(strip);
        move_f32(op, x, count, parts, strip->x, 1);
    } else {
        double *x = (double *)cpu_at(op->x) + at;
        move_f64(op, x, count, parts, strip->x, 0);
        t->run(strip);
        move_f64(op, x, count, parts, strip->x, 1);
    }
}

static void body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_solve_op *op = t->op;
    char *scratch = cpu_team_scratch(t->team, thread);
    const cpu_solve_strip strip = {
        .n = (int)op->n, .unit = op->unit != 0, .a = scratch, .x = scratch + TRIANGLE_BYTES};
    const int64_t all = op->batch * t->strips;
    const int64_t first = cpu_split(all, threads, thread),
                  end = cpu_split(all, threads, thread + 1);
    int64_t packed = -1;
    memset(strip.x, 0, STRIP_BYTES); /* systems that a strip lacks */
    for (int64_t i = first; i < end; i++) {
        const int64_t matrix = i / t->strips;
        if (packed < 0 || (packed != matrix && op->stride_a != 0)) {
            const int64_t at = matrix * op->stride_a * t->type->parts;
            if (t->type->part_bytes == 4) {
                pack_f32(op, (const float *)cpu_at(op->a) + at, t->type->parts, (float *)scratch);
            } else {
                pack_f64(op, (const double *)cpu_at(op->a) + at, t->type->parts, (double *)scratch);
            }
            packed = matrix;
        }
        run_strip(t, &strip, matrix, i % t->strips * t->strip);
    }
}

static iso_status supports(cpu_device *device, const iso_op *op)
{
    (void)device;
    return steps_solve_supports(cpu_host, op->solve);
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    (void)snprintf(out->kernel, sizeof out->kernel, "solve_%s_%s",
                   steps_type_of(op->solve->dtype)->name, device->kernels->name);
}

static iso_status execute(cpu_device *device, const iso_op *of)
{
    const iso_solve_op *op = of->solve;
    const steps_type *type = steps_type_of(op->dtype);
    task t = {.team = device->team,
              .op = op,
              .type = type,
              .run = device->kernels->solve->strip[op->dtype],
              .strip = CPU_SOLVE_BYTES / (type->part_bytes * type->parts)};
    t.strips = cpu_pieces(op->count, t.strip);
    const double steps = (double)op->n * (double)op->n / 2 * (double)op->count * (double)op->batch *
                         type->parts * type->parts;
    cpu_team_run(device->team, cpu_team_threads(device->team, steps / STEPS_PER_THREAD), body, &t);
    return ISO_OK;
}

const cpu_operation cpu_solve = {
    .supports = supports,
    .describe = describe,
    .execute = execute,
};
