/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_naive.c - the textbook reduction: every thread runs through its share in order and adds it
 * to the shared result under a lock. A thread's running sum has two parts, the current 4096
 * elements and everything before, so that for n elements and t threads the error is at most (4096 +
 * n / 4096 + t) * eps * sum |x|. */
#include "backends/openmp/reduce.h"

#include <pthread.h>

typedef union values {
    float f32;
    double f64[CPU_REDUCE_PLANES];
    uint32_t u32;
    uint64_t u64;
    int16_t key16;
    int32_t key32;
    int64_t key64;
} values;

/* ---- sums and products ----------------------------------------------------------------------- */

static void add(const cpu_reduction *r, values *to, const values *v)
{
    const int product = r->step == CPU_STEP_PRODUCT;
    switch (r->lane) {
    case ISO_F32:
        to->f32 = product ? to->f32 * v->f32 : to->f32 + v->f32;
        break;
    case ISO_F64:
        to->f64[0] = product ? to->f64[0] * v->f64[0] : to->f64[0] + v->f64[0];
        to->f64[1] += v->f64[1];
        to->f64[2] += v->f64[2];
        break;
    case ISO_I32:
        to->u32 = product ? to->u32 * v->u32 : to->u32 + v->u32;
        break;
    default:
        to->u64 = product ? to->u64 * v->u64 : to->u64 + v->u64;
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static int64_t key_at(const cpu_reduction *r, const void *x, int64_t i)
{
    const int max = r->order;
    int64_t bits, infinity;
    switch (r->op->dtype) {
    case ISO_I32:
        return ((const int32_t *)x)[i];
    case ISO_I64:
        return ((const int64_t *)x)[i];
    case ISO_F16:
    case ISO_BF16:
        infinity = r->op->dtype == ISO_F16 ? 0x7c00 : 0x7f80;
        bits = ((const int16_t *)x)[i];
        if ((bits & INT16_MAX) > infinity) {
            return max ? INT16_MAX : INT16_MIN;
        }
        return bits < 0 ? bits ^ INT16_MAX : bits;
    case ISO_F32:
        bits = ((const int32_t *)x)[i];
        if ((bits & INT32_MAX) > 0x7f800000) {
            return max ? INT32_MAX : INT32_MIN;
        }
        return bits < 0 ? bits ^ INT32_MAX : bits;
    default:
        bits = ((const int64_t *)x)[i];
        if ((bits & INT64_MAX) > 0x7ff0000000000000) {
            return max ? INT64_MAX : INT64_MIN;
        }
        return bits < 0 ? bits ^ INT64_MAX : bits;
    }
}

static cpu_best best_of(const cpu_reduction *r, const void *x, int64_t sx, int64_t n)
{
    cpu_best best = {key_at(r, x, 0), 0};
    for (int64_t i = 1; i < n; i++) {
        const int64_t key = key_at(r, x, i * sx);
        if (r->order ? key > best.key : key < best.key) {
            best = (cpu_best){key, i};
        }
    }
    return best;
}

static void store_best(const cpu_reduction *r, cpu_best best, int64_t at)
{
    values v;
    if (r->index_only) {
        ((int64_t *)(void *)r->result)[at] = best.index;
        return;
    }
    if (r->lane_bytes == 2) {
        v.key16 = (int16_t)best.key;
    } else if (r->lane_bytes == 4) {
        v.key32 = (int32_t)best.key;
    } else {
        v.key64 = best.key;
    }
    cpu_reduce_finish(r, &v, 1, at, 1);
}

/* ---- the threads ----------------------------------------------------------------------------- */

typedef struct task {
    const cpu_reduction *r;
    cpu_straight run;     /* except for min and max */
    pthread_mutex_t lock; /* guards the following: the shared result of a whole array */
    int begun;
    values sum;
    cpu_best best;
} task;

/* The sum over one sequence or a part of it. */
static values sum_of(const task *t, const char *x, int64_t sx, const char *y, int64_t sy, int64_t n)
{
    const cpu_reduction *r = t->r;
    const int64_t bytes = iso_dtype_size(r->op->dtype);
    values sum = {.f64 = {0.0, 0.0, 0.0}}, v = sum;
    t->run(x, sx, y, sy, n < CPU_REDUCE_BLOCK ? n : CPU_REDUCE_BLOCK, &sum);
    for (int64_t i = CPU_REDUCE_BLOCK; i < n; i += CPU_REDUCE_BLOCK) {
        const int64_t count = n - i < CPU_REDUCE_BLOCK ? n - i : CPU_REDUCE_BLOCK;
        t->run(x + i * sx * bytes, sx, y ? y + i * sy * bytes : NULL, sy, count, &v);
        add(r, &sum, &v);
    }
    return sum;
}

static void share_body(void *context, int thread, int threads)
{
    task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t bytes = iso_dtype_size(r->op->dtype);
    const int64_t first = cpu_reduce_split(r->length, threads, thread);
    const int64_t count = cpu_reduce_split(r->length, threads, thread + 1) - first;
    const char *x = r->x + first * bytes;
    if (count == 0) {
        return;
    }
    if (r->order >= 0) {
        cpu_best best = best_of(r, x, 1, count);
        best.index += first;
        pthread_mutex_lock(&t->lock);
        const int better = r->order ? best.key > t->best.key : best.key < t->best.key;
        if (!t->begun || better || (best.key == t->best.key && best.index < t->best.index)) {
            t->best = best;
        }
    } else {
        const values sum = sum_of(t, x, 1, r->y ? r->y + first * bytes : NULL, 1, count);
        pthread_mutex_lock(&t->lock);
        if (t->begun) {
            add(r, &t->sum, &sum);
        } else {
            t->sum = sum;
        }
    }
    t->begun = 1;
    pthread_mutex_unlock(&t->lock);
}

/* Along an axis a thread computes whole results, one after another. */
static void axis_body(void *context, int thread, int threads)
{
    const task *t = context;
    const cpu_reduction *r = t->r;
    const iso_reduce_op_args *op = r->op;
    const int64_t bytes = iso_dtype_size(op->dtype);
    const int down = op->axis == ISO_AXIS_0;
    const int64_t last = cpu_reduce_split(r->sequences, threads, thread + 1);
    for (int64_t s = cpu_reduce_split(r->sequences, threads, thread); s < last; s++) {
        const char *x = r->x + (down ? s : s * op->ld_x) * bytes;
        const char *y = r->y ? r->y + (down ? s : s * op->ld_y) * bytes : NULL;
        if (r->order >= 0) {
            store_best(r, best_of(r, x, down ? op->ld_x : 1, r->length), s);
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
        store_best(t->r, t->best, 0);
    } else {
        cpu_reduce_finish(t->r, &t->sum, 1, 0, 1);
    }
}

void cpu_reduce_naive(cpu_device *device, const cpu_reduction *r)
{
    task t = {.r = r,
              .run = device->kernels->straight->run[r->step][r->op->dtype],
              .lock = PTHREAD_MUTEX_INITIALIZER};
    const int threads = cpu_reduce_threads(device, r);
    if (r->op->axis == ISO_AXIS_ALL) {
        cpu_team_run(device->team, threads, share_body, &t);
        cpu_team_run(device->team, 1, finish_body, &t);
    } else {
        cpu_team_run(device->team, threads, axis_body, &t);
    }
}
