/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_naive.c - the textbook reduction: every thread reduces its share in order, and adds the
 * sum to the shared result under a lock. A thread keeps two running sums: one of the current 4096
 * elements and one of everything before. So for n elements and t threads the error is at most (4096
 * + n / 4096 + t) * eps * sum |x|. */
#include "backends/openmp/reduce.h"

#include <pthread.h>
#include <string.h>

typedef union values {
    float f32;
    double f64[CPU_REDUCE_PLANES];
    uint64_t u64;
} values;

/* Adds the second value to the first, or what else the reduction folds with. */
static void add(const cpu_reduction *r, values *pair)
{
    for (int plane = 0; plane < r->planes; plane++) {
        cpu_reduce_in_order(r, &pair->f64[plane], 2, (int64_t)sizeof *pair / r->lane->bytes);
    }
}

/* Stores the best element as the result of min and max, its magnitude as that of amax, or its
 * index. */
static void store_best(const cpu_reduction *r, const char *x, int64_t step, int64_t index,
                       int64_t at)
{
    if (r->index_only) {
        ((int64_t *)(void *)r->result)[at] = index;
    } else {
        char *to = r->result + at * r->bytes;
        memcpy(to, x + index * step * r->bytes, (size_t)r->bytes);
        if (r->order == CPU_ORDER_AMAX) {
            to[r->bytes - 1] &= 0x7f; /* the sign is in the last byte */
        }
    }
}

/* ---- the threads ----------------------------------------------------------------------------- */

typedef struct task {
    const cpu_reduction *r;
    cpu_straight run; /* not for min and max */
    cpu_best (*search)(const void *x, int64_t stride, int64_t n);
    pthread_mutex_t lock; /* guards the following fields, which hold the result of a whole array */
    int begun;
    values sum[2]; /* [0]: the result so far; [1]: one thread's sum, before it is added to [0] */
    cpu_best best;
} task;

/* Computes the sum of one sequence or a part of it. */
static values sum_of(const task *t, const char *x, int64_t sx, const char *y, int64_t sy, int64_t n)
{
    const cpu_reduction *r = t->r;
    values sum[2] = {{.f64 = {0.0}}, {.f64 = {0.0}}};
    t->run(x, sx, y, sy, cpu_least(n, CPU_REDUCE_BLOCK), &sum[0]);
    for (int64_t i = CPU_REDUCE_BLOCK; i < n; i += CPU_REDUCE_BLOCK) {
        t->run(x + i * sx * r->bytes, sx, y ? y + i * sy * r->bytes : NULL, sy,
               cpu_least(n - i, CPU_REDUCE_BLOCK), &sum[1]);
        add(r, sum);
    }
    return sum[0];
}

static void share_body(void *context, int thread, int threads)
{
    task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t first = cpu_split(r->length, threads, thread);
    const int64_t count = cpu_split(r->length, threads, thread + 1) - first;
    const char *x = cpu_reduce_x(r, 0, first);
    if (count == 0) {
        return;
    }
    if (r->order >= 0) {
        cpu_best best = t->search(x, 1, count);
        best.index += first;
        pthread_mutex_lock(&t->lock);
        const int better = r->order ? best.key > t->best.key : best.key < t->best.key;
        if (!t->begun || better || (best.key == t->best.key && best.index < t->best.index)) {
            t->best = best;
        }
    } else {
        const values sum = sum_of(t, x, 1, cpu_reduce_y(r, 0, first), 1, count);
        pthread_mutex_lock(&t->lock);
        t->sum[t->begun] = sum;
        if (t->begun) {
            add(r, t->sum);
        }
    }
    t->begun = 1;
    pthread_mutex_unlock(&t->lock);
}

/* For a reduction along an axis: each thread computes whole results, one after another. */
static void axis_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const iso_reduce_op_args *op = r->op;
    const int down = op->axis == ISO_AXIS_0;
    const int64_t last = cpu_split(r->sequences, threads, thread + 1);
    for (int64_t s = cpu_split(r->sequences, threads, thread); s < last; s++) {
        const int64_t row = down ? 0 : s, col = down ? s : 0;
        const char *x = cpu_reduce_x(r, row, col), *y = cpu_reduce_y(r, row, col);
        if (r->order >= 0) {
            const int64_t step = down ? op->ld_x : 1;
            store_best(r, x, step, t->search(x, step, r->length).index, s);
        } else {
            const values sum = sum_of(t, x, down ? op->ld_x : 1, y, down ? op->ld_y : 1, r->length);
            cpu_reduce_finish(r, &sum, 1, s, 1);
        }
    }
}

static void finish_body(void *context, int thread, int threads)
{
    const task *t = context;
    (void)thread;
    (void)threads;
    if (t->r->order >= 0) {
        store_best(t->r, t->r->x, 1, t->best.index, 0);
    } else {
        cpu_reduce_finish(t->r, &t->sum[0], 1, 0, 1);
    }
}

void cpu_reduce_naive(cpu_device *device, const cpu_reduction *r)
{
    task t = {.r = r, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (r->order >= 0) {
        t.search = device->kernels->order->first[r->order][r->op->dtype];
    } else {
        t.run = device->kernels->straight->run[r->step][r->op->dtype];
    }
    const int threads = cpu_reduce_threads(device, r);
    if (r->op->axis == ISO_AXIS_ALL) {
        cpu_team_run(device->team, threads, share_body, &t);
        cpu_team_run(device->team, 1, finish_body, &t);
    } else {
        cpu_team_run(device->team, threads, axis_body, &t);
    }
}
