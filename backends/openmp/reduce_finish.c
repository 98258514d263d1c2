/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_finish.c - makes the plan of a reduction, and performs its last step: it converts values
 * in the lanes' type to results in the stored type, with one rounding. */
#include "backends/openmp/kernels/half.h"
#include "backends/openmp/reduce.h"
#include "common/dtype.h"

#include <math.h>
#include <string.h>

enum {
    /* Waking another thread pays off if it has at least this many bytes to reduce. */
    BYTES_PER_THREAD = 1 << 18
};

static const cpu_step steps[ISO_ARGAMAX + 1] = {
    [ISO_SUM] = CPU_STEP_SUM, [ISO_MEAN] = CPU_STEP_SUM,  [ISO_PRODUCT] = CPU_STEP_PRODUCT,
    [ISO_DOT] = CPU_STEP_DOT, [ISO_ASUM] = CPU_STEP_ASUM, [ISO_NORM2] = CPU_STEP_SQUARES,
    [ISO_XOR] = CPU_STEP_XOR,
};

static iso_dtype lane_of(const cpu_reduction *r, iso_dtype dtype)
{
    if (r->order >= 0) {
        const int64_t bytes = iso_dtype_size(dtype);
        return bytes == 2 ? (iso_dtype)0 : bytes == 4 ? ISO_I32 : ISO_I64;
    }
    if (r->step == CPU_STEP_SQUARES) {
        return ISO_F64;
    }
    return r->step == CPU_STEP_SUM_WIDE ? ISO_I64 : dtype_get(dtype)->computes_in;
}

/* ---- types of lanes -------------------------------------------------------------------------- */

/* Integers are computed as unsigned ones, which wrap around. FOLD is applied to acc and x. */
#define DEFINE_SUMS(name, type, as, FOLD)                                                          \
    static void in_order_##name(cpu_step step, void *at, int64_t n, int64_t stride)                \
    {                                                                                              \
        type *values = at, acc = values[0];                                                        \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const type x = values[i * stride];                                                     \
            acc = FOLD;                                                                            \
        }                                                                                          \
        values[0] = acc;                                                                           \
    }                                                                                              \
    static void widen_##name(const void *at, int64_t n, double *to)                                \
    {                                                                                              \
        const as *values = at;                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            to[i] = (double)values[i];                                                             \
        }                                                                                          \
    }

#define DEFINE_KEYS(name, type, highest)                                                           \
    static int64_t key_##name(const void *keys, int64_t i)                                         \
    {                                                                                              \
        return ((const type *)keys)[i];                                                            \
    }                                                                                              \
    static void unkey_##name(int real, const void *keys, int64_t n, void *to)                      \
    {                                                                                              \
        const type *from = keys;                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            ((type *)to)[i] = (type)(real && from[i] < 0 ? from[i] ^ (highest) : from[i]);         \
        }                                                                                          \
    }

#define FOLD_REAL  step == CPU_STEP_PRODUCT ? acc *x : acc + x
#define FOLD_WHOLE step == CPU_STEP_XOR ? acc ^ x : FOLD_REAL
DEFINE_SUMS(f32, float, float, FOLD_REAL)
DEFINE_SUMS(f64, double, double, FOLD_REAL)
DEFINE_SUMS(i32, uint32_t, int32_t, FOLD_WHOLE)
DEFINE_SUMS(i64, uint64_t, int64_t, FOLD_WHOLE)
DEFINE_KEYS(16, int16_t, INT16_MAX)
DEFINE_KEYS(32, int32_t, INT32_MAX)
DEFINE_KEYS(64, int64_t, INT64_MAX)

static const cpu_lane lanes[CPU_ELEMENTS] = {
    [0] = {2, NULL, NULL, key_16, unkey_16},
    [ISO_F32] = {4, in_order_f32, widen_f32, NULL, NULL},
    [ISO_F64] = {8, in_order_f64, widen_f64, NULL, NULL},
    [ISO_I32] = {4, in_order_i32, widen_i32, key_32, unkey_32},
    [ISO_I64] = {8, in_order_i64, widen_i64, key_64, unkey_64},
};

/* ---- the plan -------------------------------------------------------------------------------- */

void cpu_reduction_init(cpu_reduction *r, const iso_reduce_op_args *op)
{
    static const struct {
        int order, index_only;
    } orders[] = {
        [ISO_MIN] = {1, 0},    [ISO_MAX] = {2, 0},    [ISO_AMAX] = {3, 0},
        [ISO_ARGMIN] = {1, 1}, [ISO_ARGMAX] = {2, 1}, [ISO_ARGAMAX] = {3, 1},
    };
    *r = (cpu_reduction){.op = op, .bytes = iso_dtype_size(op->dtype)};
    r->index_only = orders[op->op].index_only;
    r->order = orders[op->op].order - 1;
    r->step = op->op == ISO_MEAN && op->dtype == ISO_I32 ? CPU_STEP_SUM_WIDE : steps[op->op];
    r->lane_dtype = lane_of(r, op->dtype);
    r->lane = &lanes[r->lane_dtype];
    r->planes = op->op == ISO_NORM2 && op->dtype == ISO_F64 ? CPU_REDUCE_PLANES : 1;
    r->length = op->axis == ISO_AXIS_0 ? op->rows : op->cols;
    r->sequences = op->axis == ISO_AXIS_0 ? op->cols : op->axis == ISO_AXIS_1 ? op->rows : 1;
    r->blocks = cpu_pieces(r->length, CPU_REDUCE_BLOCK);
    if (op->x.memory) {
        r->x = cpu_at(op->x);
        r->y = op->op == ISO_DOT ? cpu_at(op->y) : NULL;
        r->result = cpu_at(op->result);
    }
}

int cpu_reduce_threads(const cpu_device *device, const cpu_reduction *r)
{
    const double bytes = (double)r->op->rows * (double)r->op->cols;
    return cpu_team_threads(device->team,
                            bytes * (double)iso_dtype_size(r->op->dtype) / BYTES_PER_THREAD);
}

void cpu_reduce_in_order(const cpu_reduction *r, void *values, int64_t n, int64_t stride)
{
    r->lane->in_order(r->step, values, n, stride);
}

/* ---- results --------------------------------------------------------------------------------- */

#define SAME(x) (x)
#define DEFINE_STORE(name, type, convert)                                                          \
    static void store_##name(const double *values, int64_t n, void *to)                            \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            ((type *)to)[i] = (type)convert(values[i]);                                            \
        }                                                                                          \
    }

DEFINE_STORE(f16, uint16_t, cpu_f64_to_f16)
DEFINE_STORE(bf16, uint16_t, cpu_f64_to_bf16)
DEFINE_STORE(f32, float, SAME)
DEFINE_STORE(f64, double, SAME)

static void (*const stores[ISO_F64 + 1])(const double *values, int64_t n, void *to) = {
    [ISO_F16] = store_f16,
    [ISO_BF16] = store_bf16,
    [ISO_F32] = store_f32,
    [ISO_F64] = store_f64,
};

static double norm_f64(double med, double big, double small)
{
    const double ssml = 0x1p537, sbig = 0x1p-538;
    const int has_med = med > 0.0 || isnan(med);
    if (big > 0.0) {
        return sqrt(has_med ? fma(med * sbig, sbig, big) : big) / sbig;
    }
    if (small > 0.0) {
        const double q = sqrt(small) / ssml;
        if (!has_med) {
            return q;
        }
        const double p = sqrt(med);
        const double hi = q > p ? q : p, lo = q > p ? p : q;
        const double ratio = lo / hi;
        return sqrt((hi * hi) * fma(ratio, ratio, 1.0));
    }
    return sqrt(med);
}

/* Converts results that are computed in f64, or rounded from it. */
static void finish_f64(const cpu_reduction *r, const char *values, int64_t plane, char *to,
                       int64_t count)
{
    enum { PART = 64 };
    const int64_t to_bytes = iso_dtype_size(r->op->result_dtype);
    double out[PART];
    for (int64_t first = 0; first < count; first += PART) {
        const char *from = values + first * r->lane->bytes;
        const int64_t n = cpu_least(PART, count - first);
        r->lane->widen(from, n, out);
        for (int64_t i = 0; i < n && r->op->op == ISO_MEAN; i++) {
            out[i] /= (double)r->length;
        }
        for (int64_t i = 0; i < n && r->op->op == ISO_NORM2; i++) {
            const double *med = (const double *)(const void *)from + i;
            out[i] = r->planes == 1 ? sqrt(*med) : norm_f64(*med, med[plane], med[2 * plane]);
        }
        stores[r->op->result_dtype](out, n, to + first * to_bytes);
    }
}

void cpu_reduce_finish(const cpu_reduction *r, const void *values, int64_t plane, int64_t first,
                       int64_t count)
{
    const iso_dtype type = r->op->result_dtype;
    char *to = r->result + first * iso_dtype_size(type);
    if (r->order >= 0) {
        r->lane->unkey(dtype_get(type)->floating, values, count, to);
    } else if (r->lane_dtype == type && r->op->op != ISO_NORM2 && r->op->op != ISO_MEAN) {
        memcpy(to, values, (size_t)(count * r->lane->bytes));
    } else {
        finish_f64(r, values, plane, to, count);
    }
}
