/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_naive.c - the textbook reduction: every thread runs straight through its share and adds it
 * to the shared result under a lock. Only a thread's running sum is kept in two parts, the current
 * 4096 elements and what came before, so that for n elements and t threads the error is at most
 * (4096 + n / 4096 + t) * eps * sum |x|. */
#include "backends/openmp/kernels/half.h"
#include "backends/openmp/reduce.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

typedef union values {
    float f32;
    double f64[CPU_REDUCE_PLANES];
    uint32_t u32;
    uint64_t u64;
    int16_t key16;
    int32_t key32;
    int64_t key64;
} values;

/* ---- sums and products --------------------------------------------------------------------------
 */

#define SAME(x)             (x)
#define WIDEN(x)            ((uint64_t)(int64_t)(x))
#define DOUBLE(x)           ((double)(x))
#define F16(x)              cpu_f16_to_f32(x)
#define BF16(x)             cpu_bf16_to_f32(x)
#define F16D(x)             ((double)cpu_f16_to_f32(x))
#define BF16D(x)            ((double)cpu_bf16_to_f32(x))
#define ABS_U(x, type, top) ((x) >> (top) ? (type)(0 - (x)) : (x))
#define ABS_U32(x)          ABS_U(x, uint32_t, 31)
#define ABS_U64(x)          ABS_U(x, uint64_t, 63)
#define MAC_U(x, y, acc)    ((acc) + (x) * (y))

#define DEFINE_STRAIGHT(name, type, lane, READ, ABS, MAC)                                          \
    static lane name(cpu_step step, const type *x, int64_t step_x, const type *y, int64_t step_y,  \
                     int64_t n)                                                                    \
    {                                                                                              \
        lane acc = step == CPU_STEP_PRODUCT;                                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const lane at = READ(x[i * step_x]);                                                   \
            switch (step) {                                                                        \
            case CPU_STEP_PRODUCT:                                                                 \
                acc *= at;                                                                         \
                break;                                                                             \
            case CPU_STEP_DOT:                                                                     \
                acc = MAC(at, READ(y[i * step_y]), acc);                                           \
                break;                                                                             \
            case CPU_STEP_ASUM:                                                                    \
                acc += ABS(at);                                                                    \
                break;                                                                             \
            case CPU_STEP_SQUARES:                                                                 \
                acc = MAC(at, at, acc);                                                            \
                break;                                                                             \
            default:                                                                               \
                acc += at;                                                                         \
            }                                                                                      \
        }                                                                                          \
        return acc;                                                                                \
    }

DEFINE_STRAIGHT(straight_f16, uint16_t, float, F16, fabsf, fmaf)
DEFINE_STRAIGHT(straight_bf16, uint16_t, float, BF16, fabsf, fmaf)
DEFINE_STRAIGHT(straight_f32, float, float, SAME, fabsf, fmaf)
DEFINE_STRAIGHT(straight_f64, double, double, SAME, fabs, fma)
DEFINE_STRAIGHT(straight_i32, uint32_t, uint32_t, SAME, ABS_U32, MAC_U)
DEFINE_STRAIGHT(straight_i64, uint64_t, uint64_t, SAME, ABS_U64, MAC_U)
DEFINE_STRAIGHT(straight_wide, int32_t, uint64_t, WIDEN, ABS_U64, MAC_U)
DEFINE_STRAIGHT(squares_f16, uint16_t, double, F16D, fabs, fma)
DEFINE_STRAIGHT(squares_bf16, uint16_t, double, BF16D, fabs, fma)
DEFINE_STRAIGHT(squares_f32, float, double, DOUBLE, fabs, fma)

static void squares_f64(const double *x, int64_t step_x, int64_t n, double sums[CPU_REDUCE_PLANES])
{
    for (int64_t i = 0; i < n; i++) {
        const double at = x[i * step_x];
        if (fabs(at) > 0x1p486) {
            sums[1] = fma(at * 0x1p-538, at * 0x1p-538, sums[1]);
        } else if (fabs(at) < 0x1p-511) {
            sums[2] = fma(at * 0x1p537, at * 0x1p537, sums[2]);
        } else {
            sums[0] = fma(at, at, sums[0]);
        }
    }
}

/* Values at x and y, `sx` and `sy` apart, reduced straight through; n is at most 4096. */
static values straight(const cpu_reduction *r, const void *x, int64_t sx, const void *y, int64_t sy,
                       int64_t n)
{
    values v = {.f64 = {0.0, 0.0, 0.0}};
    const cpu_step step = r->step;
    const int squares = step == CPU_STEP_SQUARES;
    switch (r->op->dtype) {
    case ISO_F16:
        if (squares) {
            v.f64[0] = squares_f16(step, x, sx, NULL, 0, n);
        } else {
            v.f32 = straight_f16(step, x, sx, y, sy, n);
        }
        break;
    case ISO_BF16:
        if (squares) {
            v.f64[0] = squares_bf16(step, x, sx, NULL, 0, n);
        } else {
            v.f32 = straight_bf16(step, x, sx, y, sy, n);
        }
        break;
    case ISO_F32:
        if (squares) {
            v.f64[0] = squares_f32(step, x, sx, NULL, 0, n);
        } else {
            v.f32 = straight_f32(step, x, sx, y, sy, n);
        }
        break;
    case ISO_F64:
        if (squares) {
            squares_f64(x, sx, n, v.f64);
        } else {
            v.f64[0] = straight_f64(step, x, sx, y, sy, n);
        }
        break;
    case ISO_I32:
        if (step == CPU_STEP_SUM_WIDE) {
            v.u64 = straight_wide(step, x, sx, NULL, 0, n);
        } else {
            v.u32 = straight_i32(step, x, sx, y, sy, n);
        }
        break;
    default:
        v.u64 = straight_i64(step, x, sx, y, sy, n);
    }
    return v;
}

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

/* ---- order --------------------------------------------------------------------------------------
 */

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

/* ---- the threads --------------------------------------------------------------------------------
 */

typedef struct task {
    const cpu_reduction *r;
    pthread_mutex_t lock; /* of what follows, the shared result of a whole array */
    int begun;
    values sum;
    cpu_best best;
} task;

/* The sum over one sequence or a part of it. */
static values sum_of(const cpu_reduction *r, const char *x, int64_t sx, const char *y, int64_t sy,
                     int64_t n)
{
    const int64_t bytes = cpu_reduce_element_bytes(r->op->dtype);
    values sum = straight(r, x, sx, y, sy, n < CPU_REDUCE_BLOCK ? n : CPU_REDUCE_BLOCK);
    for (int64_t i = CPU_REDUCE_BLOCK; i < n; i += CPU_REDUCE_BLOCK) {
        const int64_t count = n - i < CPU_REDUCE_BLOCK ? n - i : CPU_REDUCE_BLOCK;
        const values v =
            straight(r, x + i * sx * bytes, sx, y ? y + i * sy * bytes : NULL, sy, count);
        add(r, &sum, &v);
    }
    return sum;
}

static void share_body(void *context, int thread, int threads)
{
    task *t = context;
    const cpu_reduction *r = t->r;
    const int64_t bytes = cpu_reduce_element_bytes(r->op->dtype);
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
        const values sum = sum_of(r, x, 1, r->y ? r->y + first * bytes : NULL, 1, count);
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
    const cpu_reduction *r = ((task *)context)->r;
    const iso_reduce_op_args *op = r->op;
    const int64_t bytes = cpu_reduce_element_bytes(op->dtype);
    const int down = op->axis == ISO_AXIS_0;
    const int64_t last = cpu_reduce_split(r->sequences, threads, thread + 1);
    for (int64_t s = cpu_reduce_split(r->sequences, threads, thread); s < last; s++) {
        const char *x = r->x + (down ? s : s * op->ld_x) * bytes;
        const char *y = r->y ? r->y + (down ? s : s * op->ld_y) * bytes : NULL;
        if (r->order >= 0) {
            store_best(r, best_of(r, x, down ? op->ld_x : 1, r->length), s);
        } else {
            const values sum = sum_of(r, x, down ? op->ld_x : 1, y, down ? op->ld_y : 1, r->length);
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
    task t = {.r = r, .lock = PTHREAD_MUTEX_INITIALIZER};
    const int threads = cpu_reduce_threads(device, r);
    if (r->op->axis == ISO_AXIS_ALL) {
        cpu_team_run(device->team, threads, share_body, &t);
        cpu_team_run(device->team, 1, finish_body, &t);
    } else {
        cpu_team_run(device->team, threads, axis_body, &t);
    }
}
