/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c - the product on the CPU.
 *
 * `tiled` divides C into units: blocks, each of which is computed by a single thread. The thread
 * packs a segment of B's columns into strips. It then packs a segment of A's rows in parts that fit
 * its level-2 cache, and runs the register tile over the strips. A segment is 1024 steps of K and
 * is packed whole, so that a sum stays in registers for all steps of a segment. If there are
 * several segments, their totals are kept in scratch memory. A thread that has finished a unit
 * takes the next one.
 *
 * Products that are small or have few rows are not packed: gemm_unpacked.c.
 *
 * If there are too few units for the threads, but several segments, a unit is only one segment of a
 * block. The segments are added in order once all are done.
 *
 * A product that continues a total begins with the totals that are in C. One segment is added to C
 * by a beta of 1.
 *
 * How the work is divided never changes a bit of the result: see docs/bits.md.
 */
#include "backends/openmp/gemm.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    GEMM_ALIGN = 256,
    GEMM_UNIT_MAX = 1024,    /* rows and columns of a unit */
    GEMM_UNIT_MIN = 112,     /* units are not made smaller than this, even if threads stay idle */
    GEMM_UNIT_LEAST = 64,    /* the same if C has fewer than twice GEMM_UNIT_MIN rows and columns */
    GEMM_UNITS_A_THREAD = 4, /* several, so that one slow thread does not delay the others */
    GEMM_SPLIT_BYTES = 64 << 20 /* the most scratch memory for parallel segments' totals */
};

/* ---- The plan: how an operation is divided; depends only on the operation and the device ----- */

typedef struct gemm_plan {
    const cpu_gemm_type *type;
    int64_t cell_bytes; /* size of a stored element */
    int64_t m, n, k;    /* A and B are exchanged if that fills the register tile better */
    int64_t a_row, a_col, b_row, b_col, c_row, c_col; /* strides */
    int64_t batch, a_next, b_next, c_next;
    double alpha, beta;
    const char *a, *b;
    char *c;
    int threads;
    int64_t segments;
    int continues; /* there are several segments, and the totals begin with C */
    int64_t unit_rows, unit_cols, units_down, units_across; /* in one matrix of the batch */
    int64_t part_rows;                                      /* rows of A packed at a time */
    int64_t split; /* segments that run in parallel as units; 0: a unit does all its segments */
    int64_t a_bytes, b_bytes, t_bytes; /* sizes of one thread's scratch memory */
    int64_t slot_bytes; /* if split: size of one segment's totals for the whole of C */
} gemm_plan;

/* How many elements the register tiles compute for a C of m x n, including the padding. */
static double padded(const cpu_gemm_type *type, int64_t m, int64_t n)
{
    const int64_t full = m / type->mr * type->mr;
    const int64_t rows = full + (m > full ? gemm_strip_height(m - full) : 0);
    /* A tile of fewer than four rows is limited by latency, so it takes as long as one of four. */
    const double least_rows = rows < 4 ? 4 : (double)rows;
    return least_rows * (double)gemm_round_up(n, type->nr);
}

static void swap(int64_t *a, int64_t *b)
{
    const int64_t saved = *a;
    *a = *b;
    *b = saved;
}

/* Computes C' = B' A' instead of C = A B. */
static void exchange(gemm_plan *p)
{
    const char *a = p->a;
    p->a = p->b;
    p->b = a;
    swap(&p->m, &p->n);
    swap(&p->a_row, &p->b_col);
    swap(&p->a_col, &p->b_row);
    swap(&p->c_row, &p->c_col);
    swap(&p->a_next, &p->b_next);
}

static void plan_operands(gemm_plan *p, const iso_gemm_op *g)
{
    p->m = g->m;
    p->n = g->n;
    p->k = g->k;
    p->alpha = g->alpha;
    p->beta = g->beta;
    p->batch = g->batch;
    p->a_row = g->trans_a == ISO_TRANS ? 1 : g->lda;
    p->a_col = g->trans_a == ISO_TRANS ? g->lda : 1;
    p->b_row = g->trans_b == ISO_TRANS ? 1 : g->ldb;
    p->b_col = g->trans_b == ISO_TRANS ? g->ldb : 1;
    p->c_row = g->ldc;
    p->c_col = 1;
    p->a_next = g->stride_a;
    p->b_next = g->stride_b;
    p->c_next = g->stride_c;
    if (g->c.memory) {
        p->c = cpu_at(g->c);
        p->a = g->k > 0 ? cpu_at(g->a) : NULL;
        p->b = g->k > 0 ? cpu_at(g->b) : NULL;
    }
}

static int plan_threads(const gemm_plan *p, const cpu_device *device)
{
    const double work =
        (double)p->m * (double)p->n * (double)(p->k > 0 ? p->k : 1) * (double)p->batch;
    return cpu_team_threads(device->team, 1 + work / GEMM_WORK_A_THREAD);
}

static int64_t count_units(gemm_plan *p)
{
    p->units_down = cpu_pieces(p->m, p->unit_rows);
    p->units_across = cpu_pieces(p->n, p->unit_cols);
    return p->units_down * p->units_across;
}

/* Starts with the largest useful units, then makes them smaller until there are enough for all
 * threads. */
static void plan_units(gemm_plan *p, int64_t l2_bytes)
{
    const int64_t mr = p->type->mr;
    const int64_t nr = p->type->nr;
    const int64_t line = cpu_least(p->k > 0 ? p->k : 1, CPU_GEMM_SEGMENT) * p->type->real_bytes;
    const int64_t in_l2 = (l2_bytes > 0 ? l2_bytes : 256 << 10) / 2 / line;
    p->part_rows = in_l2 < mr ? mr : cpu_least(in_l2, GEMM_UNIT_MAX) / mr * mr;
    p->unit_rows = cpu_least(gemm_round_up(p->m, mr), GEMM_UNIT_MAX / mr * mr);
    p->unit_cols = cpu_least(gemm_round_up(p->n, nr), GEMM_UNIT_MAX / nr * nr);
    if (p->unit_rows <= 2 * mr) {
        /* The packed part of B is read only once or twice. It is kept small, so that it does not
         * push other data out of the cache. */
        const int64_t cols = in_l2 / nr * nr;
        p->unit_cols = cpu_least(p->unit_cols, cols < 4 * nr ? 4 * nr : cols);
    }
    const int64_t least =
        p->m < 2 * GEMM_UNIT_MIN && p->n < 2 * GEMM_UNIT_MIN ? GEMM_UNIT_LEAST : GEMM_UNIT_MIN;
    const int64_t wanted = p->threads > 1 ? (int64_t)p->threads * GEMM_UNITS_A_THREAD : 1;
    while (count_units(p) < cpu_pieces(wanted, p->batch)) {
        if (p->unit_cols >= p->unit_rows && p->unit_cols >= 2 * least) {
            p->unit_cols = gemm_round_up(p->unit_cols / 2, nr);
        } else if (p->unit_rows >= 2 * least) {
            p->unit_rows = gemm_round_up(p->unit_rows / 2, mr);
        } else {
            break;
        }
    }
    p->part_rows = cpu_least(p->part_rows, p->unit_rows);
}

static void plan_split(gemm_plan *p)
{
    const int64_t units = p->units_down * p->units_across;
    if (p->threads == 1 || p->segments < 2 || p->batch > 1 || units >= p->threads) {
        return;
    }
    const int64_t rows = p->units_down * p->unit_rows;
    const int64_t cols = p->units_across * p->unit_cols;
    const int64_t slot = rows * cols * p->type->real_bytes;
    const int64_t fit = GEMM_SPLIT_BYTES / slot;
    if (fit >= 2) {
        p->split = cpu_least(fit, p->segments);
        p->slot_bytes = slot;
    }
}

static void plan_make(gemm_plan *p, const cpu_device *device, const iso_gemm_op *g)
{
    p->split = p->slot_bytes = p->t_bytes = 0;
    p->continues = 0;
    p->a = p->b = NULL;
    p->c = NULL;
    p->type = &device->kernels->gemm->type[g->dtype];
    p->cell_bytes = iso_dtype_size(g->dtype);
    plan_operands(p, g);
    p->threads = plan_threads(p, device);
    p->segments = p->k > 0 ? cpu_pieces(p->k, CPU_GEMM_SEGMENT) : 1;
    if (g->continues && p->segments > 1) {
        p->continues = 1;
        p->beta = 0;
    }
    if (padded(p->type, p->n, p->m) * 1.1 < padded(p->type, p->m, p->n)) {
        exchange(p);
    }
    plan_units(p, device->facts->l2_bytes);
    plan_split(p);
    if (p->split == 0) { /* do not waste time on waking threads that have no unit */
        p->threads = (int)cpu_least(p->threads, p->units_down * p->units_across * p->batch);
    }
    const int64_t line = cpu_least(p->k, CPU_GEMM_SEGMENT) * p->type->real_bytes;
    p->a_bytes = gemm_round_up(p->part_rows * line, GEMM_ALIGN);
    p->b_bytes = gemm_round_up(p->unit_cols * line, GEMM_ALIGN);
    if (p->segments > 1 && p->split == 0) {
        p->t_bytes = gemm_round_up(p->unit_rows * p->unit_cols * p->type->real_bytes, GEMM_ALIGN);
    }
}

static int64_t plan_bytes(const gemm_plan *p)
{
    return p->threads * (p->a_bytes + p->b_bytes + p->t_bytes) + p->split * p->slot_bytes;
}

/* ---- A unit ---------------------------------------------------------------------------------- */

typedef struct gemm_run {
    const gemm_plan *plan;
    char *scratch;
    int64_t split_first; /* if split: the first of the parallel segments */
    int64_t split_count;
    atomic_llong next; /* the next free unit */
} gemm_run;

typedef struct gemm_unit {
    const gemm_plan *plan;
    const char *a, *b; /* the unit's first row of A and column of B; NULL if k is 0 */
    char *c;
    int64_t rows, cols;
    char *packed_a, *packed_b;
    char *totals; /* tiles of mr x nr, ordered by B's strip, then by A's; NULL if none are kept */
} gemm_unit;

/* If the rows of B are contiguous, only 64 of them are packed at a time, for all columns, so that
 * each row is read from start to end. */
static void pack_b(const gemm_unit *u, const char *b, int64_t k)
{
    enum { ROWS = 64 };
    const gemm_plan *p = u->plan;
    const int64_t nr = p->type->nr;
    const int64_t step = p->b_col == 1 ? ROWS : k;
    for (int64_t first = 0; first < k; first += step) {
        const int64_t count = cpu_least(step, k - first);
        for (int64_t j = 0; j < u->cols; j += nr) {
            char *to = u->packed_b + (j * k + first * nr) * p->type->real_bytes;
            p->type->pack(to, nr, b + (first * p->b_row + j * p->b_col) * p->cell_bytes, p->b_col,
                          p->b_row, cpu_least(nr, u->cols - j), count);
        }
    }
}

static void pack_a(const gemm_unit *u, const char *a, int64_t row, int64_t rows, int64_t k)
{
    const gemm_plan *p = u->plan;
    const int64_t mr = p->type->mr;
    for (int64_t i = 0; i < rows; i += mr) {
        const int64_t count = cpu_least(mr, rows - i);
        p->type->pack(u->packed_a + i * k * p->type->real_bytes, gemm_strip_height(count),
                      a + (row + i) * p->a_row * p->cell_bytes, p->a_row, p->a_col, count, k);
    }
}

/* Multiplies one part of A's rows by all of the unit's columns. */
static void multiply_part(const gemm_unit *u, int64_t row, int64_t rows, int64_t k, int first,
                          int last)
{
    _Alignas(64) char own[CPU_GEMM_TILE_BYTES];
    const gemm_plan *p = u->plan;
    const int64_t mr = p->type->mr;
    const int64_t nr = p->type->nr;
    const int64_t real = p->type->real_bytes;
    const int64_t strips = cpu_pieces(u->rows, mr);
    for (int64_t j = 0; j < u->cols; j += nr) {
        for (int64_t i = 0; i < rows; i += mr) {
            const int64_t count = cpu_least(mr, rows - i);
            char *t = own;
            if (u->totals) {
                t = u->totals + (j / nr * strips + (row + i) / mr) * mr * nr * real;
            }
            p->type->tile((int)gemm_strip_height(count), k, u->packed_a + i * k * real,
                          u->packed_b + j * k * real, t, !first);
            if (last) {
                char *c = u->c + ((row + i) * p->c_row + j * p->c_col) * p->cell_bytes;
                p->type->finish(t, count, cpu_least(nr, u->cols - j), p->alpha, p->beta, c,
                                p->c_row, p->c_col);
            }
        }
    }
}

static void load_row(char *to, const char *from, int64_t step, int64_t count, int64_t real_bytes)
{
    if (real_bytes == (int64_t)sizeof(double)) {
        double *t = (double *)(void *)to;
        const double *c = (const double *)(const void *)from;
        for (int64_t i = 0; i < count; i++) {
            t[i] = c[i * step];
        }
    } else {
        float *t = (float *)(void *)to;
        const float *c = (const float *)(const void *)from;
        for (int64_t i = 0; i < count; i++) {
            t[i] = c[i * step];
        }
    }
}

/* Sets the totals to C, and what is padding to 0. C's type is the accumulation type. */
static void load_totals(const gemm_unit *u)
{
    const gemm_plan *p = u->plan;
    const int64_t mr = p->type->mr;
    const int64_t nr = p->type->nr;
    const int64_t real = p->type->real_bytes;
    char *t = u->totals;
    for (int64_t j = 0; j < u->cols; j += nr) {
        for (int64_t i = 0; i < u->rows; i += mr, t += mr * nr * real) {
            const int64_t count = cpu_least(mr, u->rows - i);
            memset(t, 0, (size_t)(mr * nr * real));
            for (int64_t r = 0; r < count; r++) {
                load_row(t + r * nr * real,
                         u->c + ((i + r) * p->c_row + j * p->c_col) * p->cell_bytes, p->c_col,
                         cpu_least(nr, u->cols - j), real);
            }
        }
    }
}

/* If `first`, the sums replace the totals; otherwise they are added to them. If `last`, C is then
 * computed from the totals. */
static void multiply_segment(const gemm_unit *u, int64_t segment, int first, int last)
{
    const gemm_plan *p = u->plan;
    const int64_t from = segment * CPU_GEMM_SEGMENT;
    const int64_t k = cpu_least(CPU_GEMM_SEGMENT, p->k - from);
    if (k > 0) {
        pack_b(u, u->b + from * p->b_row * p->cell_bytes, k);
    }
    for (int64_t row = 0; row < u->rows; row += p->part_rows) {
        const int64_t rows = cpu_least(p->part_rows, u->rows - row);
        if (k > 0) {
            pack_a(u, u->a + from * p->a_col * p->cell_bytes, row, rows, k);
        }
        multiply_part(u, row, rows, k, first, last);
    }
}

static gemm_unit unit_of(const gemm_run *run, int64_t member, int64_t block, int thread)
{
    const gemm_plan *p = run->plan;
    const int64_t row = block / p->units_across * p->unit_rows;
    const int64_t col = block % p->units_across * p->unit_cols;
    char *own = run->scratch + thread * (p->a_bytes + p->b_bytes + p->t_bytes);
    gemm_unit u = {.plan = p};
    if (p->k > 0) {
        u.a = p->a + (member * p->a_next + row * p->a_row) * p->cell_bytes;
        u.b = p->b + (member * p->b_next + col * p->b_col) * p->cell_bytes;
    }
    u.c = p->c + (member * p->c_next + row * p->c_row + col * p->c_col) * p->cell_bytes;
    u.rows = cpu_least(p->unit_rows, p->m - row);
    u.cols = cpu_least(p->unit_cols, p->n - col);
    u.packed_a = own;
    u.packed_b = own + p->a_bytes;
    u.totals = p->t_bytes > 0 ? own + p->a_bytes + p->b_bytes : NULL;
    return u;
}

static void run_whole(void *context, int thread, int threads)
{
    gemm_run *run = context;
    const gemm_plan *p = run->plan;
    const int64_t blocks = p->units_down * p->units_across;
    (void)threads;
    for (;;) {
        const int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken >= blocks * p->batch) {
            return;
        }
        const gemm_unit u = unit_of(run, taken / blocks, taken % blocks, thread);
        if (p->continues) {
            load_totals(&u);
        }
        for (int64_t s = 0; s < p->segments; s++) {
            multiply_segment(&u, s, s == 0 && !p->continues, s == p->segments - 1);
        }
    }
}

/* ---- Segments in parallel -------------------------------------------------------------------- */

static char *split_slot(const gemm_run *run, int64_t slot, int64_t block)
{
    const gemm_plan *p = run->plan;
    return run->scratch + p->threads * (p->a_bytes + p->b_bytes) + slot * p->slot_bytes +
           block * p->unit_rows * p->unit_cols * p->type->real_bytes;
}

static void run_split(void *context, int thread, int threads)
{
    gemm_run *run = context;
    const gemm_plan *p = run->plan;
    const int64_t blocks = p->units_down * p->units_across;
    (void)threads;
    for (;;) {
        const int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken >= blocks * run->split_count) {
            return;
        }
        gemm_unit u = unit_of(run, 0, taken % blocks, thread);
        /* If there are earlier segments, slot 0 holds their totals, and the slot's segment is added
         * to them. */
        const int64_t slot = taken / blocks;
        const int keep = slot == 0 && (run->split_first > 0 || p->continues);
        u.totals = split_slot(run, slot, taken % blocks);
        if (keep && run->split_first == 0) {
            load_totals(&u);
        }
        multiply_segment(&u, run->split_first + slot, !keep, 0);
    }
}

static void add_tile(char *to, const char *from, int64_t count, int64_t real_bytes)
{
    if (real_bytes == (int64_t)sizeof(double)) {
        double *t = (double *)(void *)to;
        const double *x = (const double *)(const void *)from;
        for (int64_t i = 0; i < count; i++) {
            t[i] += x[i];
        }
    } else {
        float *t = (float *)(void *)to;
        const float *x = (const float *)(const void *)from;
        for (int64_t i = 0; i < count; i++) {
            t[i] += x[i];
        }
    }
}

/* Adds the parallel segments in order. If they include the last segment of all, computes C. */
static void join_unit(const gemm_run *run, int64_t block, int64_t strip)
{
    const gemm_plan *p = run->plan;
    const gemm_unit u = unit_of(run, 0, block, 0);
    const int64_t mr = p->type->mr;
    const int64_t nr = p->type->nr;
    const int64_t strips = cpu_pieces(u.rows, mr);
    const int64_t tile_bytes = mr * nr * p->type->real_bytes;
    const int last = run->split_first + run->split_count == p->segments;
    for (int64_t i = 0; strip * nr < u.cols && i < strips; i++) {
        char *t = split_slot(run, 0, block) + (strip * strips + i) * tile_bytes;
        for (int64_t slot = 1; slot < run->split_count; slot++) {
            const int64_t rows = gemm_strip_height(cpu_least(mr, u.rows - i * mr));
            add_tile(t, t + slot * p->slot_bytes, rows * nr, p->type->real_bytes);
        }
        if (last) {
            char *c = u.c + (i * mr * p->c_row + strip * nr * p->c_col) * p->cell_bytes;
            p->type->finish(t, cpu_least(mr, u.rows - i * mr), cpu_least(nr, u.cols - strip * nr),
                            p->alpha, p->beta, c, p->c_row, p->c_col);
        }
    }
}

static void run_join(void *context, int thread, int threads)
{
    const gemm_run *run = context;
    const gemm_plan *p = run->plan;
    const int64_t across = p->unit_cols / p->type->nr;
    const int64_t blocks = p->units_down * p->units_across;
    for (int64_t i = thread; i < blocks * across; i += threads) {
        join_unit(run, i / across, i % across);
    }
}

/* ---- Running --------------------------------------------------------------------------------- */

static void execute_tiled(cpu_device *device, const iso_op *op)
{
    gemm_plan plan;
    const gemm_way way = gemm_way_of(device, op->gemm);
    if (way != GEMM_PACKED) {
        gemm_unpacked(device, op->gemm, way);
        return;
    }
    plan_make(&plan, device, op->gemm);
    gemm_run run = {.plan = &plan};
    if (plan_bytes(&plan) > 0) {
        run.scratch = cpu_at(op->workspace);
    }
    if (plan.split == 0) {
        atomic_init(&run.next, 0);
        cpu_team_run(device->team, plan.threads, run_whole, &run);
        return;
    }
    for (; run.split_first < plan.segments; run.split_first += plan.split) {
        run.split_count = cpu_least(plan.split, plan.segments - run.split_first);
        atomic_init(&run.next, 0);
        cpu_team_run(device->team, plan.threads, run_split, &run);
        cpu_team_run(device->team, plan.threads, run_join, &run);
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static iso_status gemm_supports(cpu_device *device, const iso_op *op)
{
    const iso_gemm_op *g = op->gemm;
    (void)device;
    if (g->math == ISO_MATH_TF32) {
        return cpu_host->fail(ISO_UNSUPPORTED, "gemm: math tf32: this device has no TF32");
    }
    return g->variant == ISO_VARIANT_VENDOR ? gemm_vendor_supports(g) : ISO_OK;
}

static int64_t gemm_workspace(cpu_device *device, const iso_op *op)
{
    if (op->gemm->variant == ISO_VARIANT_FIXED) {
        return gemm_fixed_workspace(device, op->gemm);
    }
    if (op->gemm->variant != ISO_VARIANT_TILED) {
        return 0;
    }
    if (gemm_way_of(device, op->gemm) != GEMM_PACKED) {
        return 0;
    }
    gemm_plan plan;
    plan_make(&plan, device, op->gemm);
    return plan_bytes(&plan);
}

static void gemm_describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    const iso_gemm_op *g = op->gemm;
    const char *dtype = iso_dtype_name(g->dtype);
    if (g->variant == ISO_VARIANT_VENDOR) {
        gemm_vendor_describe(g, out);
        return;
    }
    if (g->variant == ISO_VARIANT_FIXED) {
        gemm_fixed_describe(device, g, out);
        return;
    }
    if (g->variant == ISO_VARIANT_NAIVE) {
        (void)snprintf(out->kernel, sizeof out->kernel, "gemm_naive_%s %s", dtype,
                       device->kernels->name);
        return;
    }
    const gemm_way way = gemm_way_of(device, g);
    if (way != GEMM_PACKED) {
        (void)snprintf(out->kernel, sizeof out->kernel, "gemm_tiled_%s %s %s", dtype,
                       gemm_way_names[way], device->kernels->name);
        return;
    }
    gemm_plan plan;
    plan_make(&plan, device, g);
    (void)snprintf(out->kernel, sizeof out->kernel, "gemm_tiled_%s %dx%d %s", dtype, plan.type->mr,
                   plan.type->nr, device->kernels->name);
}

static iso_status gemm_execute(cpu_device *device, const iso_op *op)
{
    switch (op->gemm->variant) {
    case ISO_VARIANT_NAIVE:
        gemm_naive(device, op->gemm);
        return ISO_OK;
    case ISO_VARIANT_FIXED:
        gemm_fixed(device, op);
        return ISO_OK;
    case ISO_VARIANT_VENDOR:
        return gemm_vendor(device, op->gemm);
    default:
        execute_tiled(device, op);
        return ISO_OK;
    }
}

const cpu_operation cpu_gemm = {
    .supports = gemm_supports,
    .workspace = gemm_workspace,
    .describe = gemm_describe,
    .execute = gemm_execute,
};
