/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - products of sparse matrices. Threads take parts of the matrix that have as much work
 * each. A part ends between two rows, or between two segments of a long row. The sums of a long
 * row's segments go to scratch memory, and are joined once all are there. */
#include "backends/openmp/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

_Static_assert((int)CPU_SPMV_SEGMENT == (int)ISO_SPARSE_SEGMENT, "one segment for all");

enum {
    ROW_WORK = 8,            /* of a row besides its entries, in entries */
    WORK_A_THREAD = 1 << 14, /* waking another thread pays off from here on, in entries */
    PARTS_A_THREAD = 4
};

typedef struct task {
    const iso_spmv_op *op;
    const cpu_spmv_type *kernels;
    cpu_spmv_run g;
    const int64_t *starts; /* NULL: no row has several segments */
    void *sums;
    int parts;
    atomic_int next;
} task;

/* A place between two rows, or before a segment of a row. */
typedef struct place {
    int64_t row, segment;
} place;

static int64_t offset(const task *t, int64_t row)
{
    if (!t->g.offsets) {
        return 0;
    }
    return t->op->index == ISO_I32 ? ((const int32_t *)t->g.offsets)[row]
                                   : ((const int64_t *)t->g.offsets)[row];
}

/* The work before a row. It cannot overflow: it is less than the bytes of the arrays. */
static int64_t work_before(const task *t, int64_t row)
{
    return offset(t, row) + row * ROW_WORK;
}

/* Where part `index` begins. */
static place place_of(const task *t, int index)
{
    const int64_t work = cpu_split(work_before(t, t->op->rows), t->parts, index);
    int64_t low = 0, high = t->op->rows;
    while (low < high) { /* the first row that begins at or after this work */
        const int64_t middle = low + (high - low) / 2;
        if (work_before(t, middle) < work) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    place at = {.row = low};
    if (t->starts && low > 0 && index < t->parts && t->starts[low] - t->starts[low - 1] > 1) {
        const int64_t segment = (work - work_before(t, low - 1)) / CPU_SPMV_SEGMENT;
        if (segment < t->starts[low] - t->starts[low - 1]) {
            at = (place){.row = low - 1, .segment = segment};
        }
    }
    return at;
}

/* Where the sums of a row's segments are: room for twice as many as further segments. */
static int64_t sums_of(const task *t, int64_t row)
{
    return 2 * (t->starts[row] - row);
}

static void add_segments(const task *t, int64_t row, int64_t first, int64_t end)
{
    const int64_t from = offset(t, row), length = offset(t, row + 1) - from;
    for (int64_t s = first; s < end; s++) {
        t->kernels->segment(&t->g, from + s * CPU_SPMV_SEGMENT,
                            cpu_least(length - s * CPU_SPMV_SEGMENT, CPU_SPMV_SEGMENT), t->sums,
                            sums_of(t, row) + s);
    }
}

/* Runs the rows up to `end`, some of which have several segments. */
static void add_mixed(const task *t, place at, place end)
{
    while (at.row < end.row || at.segment < end.segment) {
        const int64_t segments = t->starts[at.row + 1] - t->starts[at.row];
        if (segments > 1) {
            add_segments(t, at.row, at.segment, at.row < end.row ? segments : end.segment);
        } else {
            t->kernels->rows(&t->g, at.row, at.row + 1);
        }
        if (at.row == end.row) {
            return;
        }
        at.row++;
        at.segment = 0;
    }
}

static void add_parts(void *context, int thread, int threads)
{
    task *t = context;
    (void)thread;
    (void)threads;
    for (;;) {
        const int part = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (part >= t->parts) {
            return;
        }
        const place at = place_of(t, part), end = place_of(t, part + 1);
        if (t->op->variant == ISO_VARIANT_NAIVE) {
            t->kernels->naive(&t->g, at.row, end.row);
        } else if (t->starts) {
            add_mixed(t, at, end);
        } else {
            t->kernels->rows(&t->g, at.row, end.row);
        }
    }
}

static void join_rows(void *context, int thread, int threads)
{
    const task *t = context;
    const int64_t end = cpu_split(t->op->rows, threads, thread + 1);
    for (int64_t row = cpu_split(t->op->rows, threads, thread); row < end; row++) {
        const int64_t segments = t->starts[row + 1] - t->starts[row];
        if (segments > 1) {
            t->kernels->join(&t->g, row, t->sums, sums_of(t, row), segments);
        }
    }
}

static iso_status supports(cpu_device *device, const iso_op *op)
{
    (void)device;
    return op->spmv->variant == ISO_VARIANT_VENDOR
               ? cpu_host->fail(ISO_UNSUPPORTED,
                                "spmv: variant is vendor, but BLAS libraries have no product of "
                                "sparse matrices: use tiled")
               : ISO_OK;
}

static int64_t workspace(cpu_device *device, const iso_op *op)
{
    const iso_spmv_op *g = op->spmv;
    (void)device;
    return g->variant == ISO_VARIANT_TILED ? 2 * (g->segments - g->rows) * iso_dtype_size(g->dtype)
                                           : 0;
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    const iso_spmv_op *g = op->spmv;
    (void)snprintf(out->kernel, sizeof out->kernel, "spmv_%s_%s_%s_%s",
                   iso_variant_name(g->variant), iso_dtype_name(g->dtype),
                   g->narrow ? "u16" : iso_dtype_name(g->index), device->kernels->name);
}

/* Of the numbers, as in cpu_spmv_kernels. */
static int form_of(const iso_spmv_op *op)
{
    return op->index == ISO_I64 ? 1 : op->narrow ? 2 : 0;
}

static iso_status execute(cpu_device *device, const iso_op *op)
{
    const iso_spmv_op *g = op->spmv;
    const bool apart = g->variant == ISO_VARIANT_TILED && g->segments > g->rows;
    task t = {
        .op = g,
        .kernels = &device->kernels->spmv->type[g->dtype == ISO_F64][form_of(g)],
        .g = {.y = cpu_at(g->y), .alpha = g->alpha, .beta = g->beta},
        .starts = apart ? cpu_at(g->starts) : NULL,
        .sums = apart ? cpu_at(op->workspace) : NULL,
    };
    if (g->entries) {
        t.g.offsets = cpu_at(g->offsets);
        t.g.columns = cpu_at(g->narrow ? g->narrow_columns : g->columns);
        t.g.values = cpu_at(g->values);
        t.g.x = cpu_at(g->x);
    }
    const double work = (double)g->entries + (double)g->rows * ROW_WORK;
    const int threads = cpu_team_threads(device->team, 1 + work / WORK_A_THREAD);
    t.parts = threads > 1 ? threads * PARTS_A_THREAD : 1;
    atomic_init(&t.next, 0);
    cpu_team_run(device->team, threads, add_parts, &t);
    if (apart) {
        cpu_team_run(device->team, threads, join_rows, &t);
    }
    return ISO_OK;
}

const cpu_operation cpu_spmv = {
    .supports = supports,
    .workspace = workspace,
    .describe = describe,
    .execute = execute,
};
