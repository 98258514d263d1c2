/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_tiled.c - reduces blocks of 4096 elements with the kernels, and spreads the blocks over
 * the threads. Their results are kept in scratch memory. `tiled` reduces them by the same rule,
 * again and again, until one value is left. `partials` adds them in order. For n elements
 * `partials` has an error of at most (39 + n / 4096) * eps * sum |x|. */
#include "backends/openmp/reduce.h"

#include <string.h>

enum {
    /* If sequences have one block, a thread reduces this many before it stores their results. */
    BATCH = 256,
    /* argmin and argmax process this many elements of a line at a time. */
    BEST_ELEMENTS = CPU_REDUCE_BLOCK * 64,
    /* Strips are not divided below this width. */
    STRIP_LEAST = 64,
    /* The size of a thread's buffer: for each plane, BATCH values or the values of one strip. */
    BUFFER_BYTES = CPU_REDUCE_STRIP * CPU_REDUCE_PLANES * 8
};

_Static_assert(sizeof(cpu_best) * CPU_REDUCE_STRIP <= CPU_TEAM_SCRATCH,
               "a thread's scratch memory is too small");

typedef struct task {
    const cpu_reduction *r;
    cpu_team *team;
    cpu_reduce_line line, fold_line;
    cpu_reduce_cols cols, fold_cols;
    int64_t (*find)(const void *x, int64_t stride, int64_t n, int64_t key);
    int in_order;       /* whether the variant is partials */
    int64_t strip;      /* columns of a strip */
    int64_t strips;     /* strips in the matrix */
    int64_t plane;      /* values of one plane of partials */
    char *partials;     /* one sequence after another; along axis 0, one row after another */
    char *scratch;      /* for all threads */
    int64_t each_bytes; /* scratch of one thread */
} task;

static char *partial(const task *t, int64_t index)
{
    return t->partials + index * t->r->lane->bytes;
}

/* ---- along lines: the whole array, or each row ----------------------------------------------- */

static void line_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t last = cpu_split(r->sequences * r->blocks, threads, thread + 1);
    int64_t u = cpu_split(r->sequences * r->blocks, threads, thread);
    while (u < last) {
        const int64_t s = u / r->blocks, block = u % r->blocks;
        const int64_t blocks = cpu_least(r->blocks - block, last - u);
        const int64_t from = block * CPU_REDUCE_BLOCK;
        t->line(cpu_reduce_x(r, s, from), cpu_reduce_y(r, s, from),
                cpu_least(r->length - from, blocks * CPU_REDUCE_BLOCK), partial(t, u), t->plane);
        u += blocks;
    }
}

/* Reduces sequences of one block, which need no partials. */
static void short_line_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t last = cpu_split(r->sequences, threads, thread + 1);
    char *values = t->scratch + thread * t->each_bytes;
    for (int64_t s = cpu_split(r->sequences, threads, thread); s < last; s += BATCH) {
        const int64_t count = cpu_least(BATCH, last - s);
        for (int64_t i = 0; i < count; i++) {
            t->line(cpu_reduce_x(r, s + i, 0), cpu_reduce_y(r, s + i, 0), r->length,
                    values + i * r->lane->bytes, BATCH);
        }
        cpu_reduce_finish(r, values, BATCH, s, count);
    }
}

static void fold_line_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t last = cpu_split(r->sequences, threads, thread + 1);
    for (int64_t s = cpu_split(r->sequences, threads, thread); s < last; s++) {
        for (int plane = 0; plane < r->planes; plane++) {
            char *values = partial(t, plane * t->plane + s * r->blocks);
            int64_t n = r->blocks;
            if (t->in_order) {
                cpu_reduce_in_order(r, values, n, 1);
                continue;
            }
            /* In place: a block's result never overwrites values that are not read yet. */
            for (; n > 1; n = cpu_pieces(n, CPU_REDUCE_BLOCK)) {
                t->fold_line(values, NULL, n, values, 0);
            }
        }
        cpu_reduce_finish(r, partial(t, s * r->blocks), t->plane, s, 1);
    }
}

/* ---- down columns ---------------------------------------------------------------------------- */

static void cols_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t last = cpu_split(t->strips * r->blocks, threads, thread + 1);
    char *values = t->scratch + thread * t->each_bytes, *lanes = values + BUFFER_BYTES;
    for (int64_t u = cpu_split(t->strips * r->blocks, threads, thread); u < last; u++) {
        const int64_t col = u % t->strips * t->strip, block = u / t->strips;
        const int64_t row = block * CPU_REDUCE_BLOCK;
        const cpu_reduce_strip strip = {
            .x = cpu_reduce_x(r, row, col),
            .y = cpu_reduce_y(r, row, col),
            .ld_x = r->op->ld_x,
            .ld_y = r->op->ld_y,
            .rows = (int)cpu_least(CPU_REDUCE_BLOCK, r->length - row),
            .cols = (int)cpu_least(t->strip, r->sequences - col),
        };
        t->cols(&strip, lanes, values, CPU_REDUCE_STRIP);
        if (r->blocks == 1) {
            cpu_reduce_finish(r, values, CPU_REDUCE_STRIP, col, strip.cols);
            continue;
        }
        for (int plane = 0; plane < r->planes; plane++) {
            memcpy(partial(t, plane * t->plane + block * r->sequences + col),
                   values + plane * CPU_REDUCE_STRIP * r->lane->bytes,
                   (size_t)(strip.cols * r->lane->bytes));
        }
    }
}

/* Reduces one plane of a strip of the partials to its first row. */
static void fold_strip(const task *t, char *top, int64_t cols, char *lanes)
{
    const cpu_reduction *r = t->r;
    if (t->in_order) {
        for (int64_t c = 0; c < cols; c++) {
            cpu_reduce_in_order(r, top + c * r->lane->bytes, r->blocks, r->sequences);
        }
        return;
    }
    const int64_t row_bytes = r->sequences * r->lane->bytes;
    for (int64_t n = r->blocks; n > 1; n = cpu_pieces(n, CPU_REDUCE_BLOCK)) {
        for (int64_t row = 0; row < n; row += CPU_REDUCE_BLOCK) {
            const cpu_reduce_strip strip = {.x = top + row * row_bytes,
                                            .ld_x = r->sequences,
                                            .rows = (int)cpu_least(CPU_REDUCE_BLOCK, n - row),
                                            .cols = (int)cols};
            t->fold_cols(&strip, lanes, top + row / CPU_REDUCE_BLOCK * row_bytes, 0);
        }
    }
}

static void fold_cols_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t last = cpu_split(t->strips, threads, thread + 1);
    char *lanes = t->scratch + thread * t->each_bytes + BUFFER_BYTES;
    for (int64_t u = cpu_split(t->strips, threads, thread); u < last; u++) {
        const int64_t col = u * t->strip, cols = cpu_least(t->strip, r->sequences - col);
        for (int plane = 0; plane < r->planes; plane++) {
            fold_strip(t, partial(t, plane * t->plane + col), cols, lanes);
        }
        cpu_reduce_finish(r, partial(t, col), t->plane, col, cols);
    }
}

/* ---- argmin and argmax ----------------------------------------------------------------------- */

static int is_better(const cpu_reduction *r, int64_t key, int64_t than)
{
    return r->order ? key > than : key < than;
}

/* Looks for the element only in blocks whose best key is better than all before. */
static cpu_best best_of_line(const task *t, const char *x, int64_t n)
{
    const cpu_reduction *r = t->r;
    cpu_best best = {0, -1};
    for (int64_t i = 0; i < n; i += CPU_REDUCE_BLOCK) {
        const int64_t count = cpu_least(CPU_REDUCE_BLOCK, n - i);
        int64_t value;
        t->line(x + i * r->bytes, NULL, count, &value, 0);
        const int64_t key = r->lane->key(&value, 0);
        if (best.index < 0 || is_better(r, key, best.key)) {
            best = (cpu_best){key, i + t->find(x + i * r->bytes, 1, count, key)};
        }
    }
    return best;
}

static void best_line_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t last = cpu_split(r->sequences * r->blocks, threads, thread + 1);
    for (int64_t u = cpu_split(r->sequences * r->blocks, threads, thread); u < last; u++) {
        const int64_t s = u / r->blocks, from = u % r->blocks * BEST_ELEMENTS;
        cpu_best best =
            best_of_line(t, cpu_reduce_x(r, s, from), cpu_least(BEST_ELEMENTS, r->length - from));
        best.index += from;
        if (r->blocks == 1) {
            ((int64_t *)(void *)r->result)[s] = best.index;
        } else {
            ((cpu_best *)(void *)t->partials)[u] = best;
        }
    }
}

static void best_cols_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t ld = r->op->ld_x;
    const int64_t last = cpu_split(t->strips * r->blocks, threads, thread + 1);
    char *values = t->scratch + thread * t->each_bytes;
    cpu_best *best = cpu_team_scratch(t->team, thread);
    for (int64_t u = cpu_split(t->strips * r->blocks, threads, thread); u < last; u++) {
        const int64_t col = u % t->strips * t->strip, block = u / t->strips;
        const int64_t first = block * CPU_REDUCE_BLOCK;
        const int64_t end = cpu_least(r->length, first + CPU_REDUCE_BLOCK);
        const int64_t cols = cpu_least(t->strip, r->sequences - col);
        for (int64_t row = first; row < end; row += CPU_REDUCE_LANES) {
            const char *x = cpu_reduce_x(r, row, col);
            const int64_t rows = cpu_least(CPU_REDUCE_LANES, end - row);
            const cpu_reduce_strip strip = {
                .x = x, .ld_x = ld, .rows = (int)rows, .cols = (int)cols};
            t->cols(&strip, NULL, values, 0);
            for (int64_t c = 0; c < cols; c++) {
                const int64_t key = r->lane->key(values, c);
                if (row == first || is_better(r, key, best[c].key)) {
                    best[c] = (cpu_best){key, row + t->find(x + c * r->bytes, ld, rows, key)};
                }
            }
        }
        for (int64_t c = 0; c < cols; c++) {
            if (r->blocks == 1) {
                ((int64_t *)(void *)r->result)[col + c] = best[c].index;
            } else {
                ((cpu_best *)(void *)t->partials)[block * r->sequences + col + c] = best[c];
            }
        }
    }
}

static void fold_best_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const int down = r->op->axis == ISO_AXIS_0;
    const int64_t last = cpu_split(r->sequences, threads, thread + 1);
    for (int64_t s = cpu_split(r->sequences, threads, thread); s < last; s++) {
        const cpu_best *at = (const cpu_best *)(void *)t->partials + (down ? s : s * r->blocks);
        cpu_best best = at[0];
        for (int64_t b = 1; b < r->blocks; b++) {
            at += down ? r->sequences : 1;
            best = is_better(r, at->key, best.key) ? *at : best;
        }
        ((int64_t *)(void *)r->result)[s] = best.index;
    }
}

/* ---- the whole reduction --------------------------------------------------------------------- */

static int64_t strip_for(const cpu_device *device, const cpu_reduction *r)
{
    const int64_t wanted = 4 * (int64_t)cpu_reduce_threads(device, r);
    int64_t strip = CPU_REDUCE_STRIP;
    while (strip > STRIP_LEAST && cpu_pieces(r->sequences, strip) * r->blocks < wanted) {
        strip /= 2;
    }
    return strip;
}

static void choose_kernels(const cpu_device *device, task *t)
{
    const cpu_reduction *r = t->r;
    const iso_dtype dtype = r->op->dtype;
    if (r->order >= 0) {
        const cpu_order_kernels *k = device->kernels->order;
        t->line = k->line[r->order][dtype];
        t->cols = k->cols[r->order][dtype];
        t->find = k->find[r->order][dtype];
        t->fold_line = k->line[r->order][r->lane_dtype];
        t->fold_cols = k->cols[r->order][r->lane_dtype];
        return;
    }
    const cpu_reduce_kernels *k = device->kernels->reduce;
    const cpu_step fold = cpu_reduce_fold(r->step);
    t->line = k->line[r->step][dtype];
    t->cols = k->cols[r->step][dtype];
    t->fold_line = k->line[fold][r->lane_dtype];
    t->fold_cols = k->cols[fold][r->lane_dtype];
}

/* argmin and argmax divide a line into larger parts. */
static void adjust_blocks(cpu_reduction *r)
{
    if (r->index_only && r->op->axis != ISO_AXIS_0) {
        r->blocks = cpu_pieces(r->length, BEST_ELEMENTS);
    }
}

static int64_t partial_bytes(const cpu_reduction *r)
{
    const int64_t each = r->index_only ? (int64_t)sizeof(cpu_best) : r->lane->bytes * r->planes;
    const int64_t bytes = r->blocks > 1 ? r->sequences * r->blocks * each : 0;
    return (bytes + 63) / 64 * 64;
}

static int64_t scratch_bytes(const cpu_reduction *r)
{
    const int lanes = r->op->axis == ISO_AXIS_0 && r->order < 0;
    return BUFFER_BYTES + (lanes ? CPU_REDUCE_LANES * CPU_REDUCE_STRIP * r->lane->bytes : 0);
}

int64_t cpu_reduce_tiled_workspace(const cpu_device *device, const cpu_reduction *plan)
{
    cpu_reduction r = *plan;
    adjust_blocks(&r);
    return partial_bytes(&r) + scratch_bytes(&r) * cpu_reduce_threads(device, &r);
}

void cpu_reduce_tiled(cpu_device *device, const cpu_reduction *plan, char *workspace)
{
    cpu_reduction r = *plan;
    adjust_blocks(&r);
    const int threads = cpu_reduce_threads(device, &r);
    const int down = r.op->axis == ISO_AXIS_0;
    task t = {
        .r = &r,
        .team = device->team,
        .in_order = r.op->variant == ISO_VARIANT_PARTIALS && r.order < 0,
        .strip = strip_for(device, &r),
        .plane = r.sequences * r.blocks,
        .partials = workspace,
        .scratch = workspace + partial_bytes(&r),
        .each_bytes = scratch_bytes(&r),
    };
    t.strips = cpu_pieces(r.sequences, t.strip);
    choose_kernels(device, &t);
    cpu_body body, fold;
    if (r.index_only) {
        body = down ? best_cols_body : best_line_body;
        fold = fold_best_body;
    } else if (down) {
        body = cols_body;
        fold = fold_cols_body;
    } else {
        body = r.blocks == 1 ? short_line_body : line_body;
        fold = fold_line_body;
    }
    cpu_team_run(device->team, threads, body, &t);
    if (r.blocks > 1) {
        /* There are far fewer partials than elements, so one thread is often enough. */
        const int64_t worth = t.plane * r.planes / (1 << 15);
        cpu_team_run(device->team, (int)(worth < 1 ? 1 : cpu_least(worth, threads)), fold, &t);
    }
}
