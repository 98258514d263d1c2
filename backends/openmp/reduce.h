/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - the plan of a reduction, shared by the files that implement it. */
#ifndef ISOMER_OPENMP_REDUCE_H
#define ISOMER_OPENMP_REDUCE_H

#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/kernels.h"

/* A type of lanes: f32, f64, i32 or i64, or, for min, max and amax, the keys of order.c.
 * reduce_finish.c has the table of all types. */
typedef struct cpu_lane {
    int bytes;
    /* Adds the other n - 1 values to the first, in order, or what else the step folds lanes with.
     * The values are `stride` values apart. */
    void (*in_order)(cpu_step step, void *values, int64_t n, int64_t stride);
    void (*widen)(const void *values, int64_t n, double *to);
    int64_t (*key)(const void *keys, int64_t i);
    /* Turns keys into elements. `real`: the elements have a floating-point type. */
    void (*unkey)(int real, const void *keys, int64_t n, void *to);
} cpu_lane;

/* The plan of one reduction. */
typedef struct cpu_reduction {
    const iso_reduce_op_args *op;
    cpu_step step;        /* used if `order` is -1 */
    int order;            /* 0: min, 1: max, 2: amax, -1: none of these */
    int index_only;       /* argmin, argmax, argamax */
    iso_dtype lane_dtype; /* type of the values; 0 for keys of 16 bits */
    const cpu_lane *lane;
    int planes; /* 3 for the 2-norm of f64: med, big, small; else 1 */

    int64_t length;    /* elements in one sequence */
    int64_t sequences; /* how many there are; each gives one result */
    int64_t blocks;    /* parts of a sequence: of 4096 elements, or larger for argmin and argmax */

    int64_t bytes;     /* size of an element */
    const char *x, *y; /* y: NULL except for dot */
    char *result;
} cpu_reduction;

/* The addresses of the elements of x and y at this row and column. */
static inline const char *cpu_reduce_x(const cpu_reduction *r, int64_t row, int64_t col)
{
    return r->x + (row * r->op->ld_x + col) * r->bytes;
}
static inline const char *cpu_reduce_y(const cpu_reduction *r, int64_t row, int64_t col)
{
    return r->y ? r->y + (row * r->op->ld_y + col) * r->bytes : NULL;
}

/* The step that folds the lanes of this one. */
static inline cpu_step cpu_reduce_fold(cpu_step step)
{
    return step == CPU_STEP_PRODUCT || step == CPU_STEP_XOR ? step : CPU_STEP_SUM;
}

void cpu_reduction_init(cpu_reduction *r, const iso_reduce_op_args *op);

/* Converts `count` values to the results from index `first` on. Planes are `plane` values apart. */
void cpu_reduce_finish(const cpu_reduction *r, const void *values, int64_t plane, int64_t first,
                       int64_t count);

/* Calls lane->in_order for the step of the reduction. */
void cpu_reduce_in_order(const cpu_reduction *r, void *values, int64_t n, int64_t stride);

/* Returns how many threads the work justifies. */
int cpu_reduce_threads(const cpu_device *device, const cpu_reduction *r);

/* reduce_tiled.c: tiled and partials. The workspace is aligned to 64 bytes. */
int64_t cpu_reduce_tiled_workspace(const cpu_device *device, const cpu_reduction *plan);
void cpu_reduce_tiled(cpu_device *device, const cpu_reduction *plan, char *workspace);

/* reduce_naive.c */
void cpu_reduce_naive(cpu_device *device, const cpu_reduction *r);

/* reduce_vendor.c */
iso_status cpu_reduce_vendor_supports(const iso_reduce_op_args *op);
void cpu_reduce_vendor_describe(const iso_reduce_op_args *op, iso_op_info *out);
iso_status cpu_reduce_vendor(cpu_device *device, const iso_reduce_op_args *op);

#endif
