/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_finish.c - the plan of a reduction and its last step: from values in the lanes' type to
 * results in the stored type, with one rounding. */
#include "backends/openmp/kernels/half.h"
#include "backends/openmp/reduce.h"
#include "common/dtype.h"

#include <math.h>
#include <string.h>

enum {
    /* Each thread beyond the first costs a wake-up, which pays from this many bytes on. */
    BYTES_PER_THREAD = 1 << 18
};

static cpu_step step_of(iso_reduce_op op, iso_dtype dtype)
{
    switch (op) {
    case ISO_PRODUCT:
        return CPU_STEP_PRODUCT;
    case ISO_DOT:
        return CPU_STEP_DOT;
    case ISO_ASUM:
        return CPU_STEP_ASUM;
    case ISO_NORM2:
        return CPU_STEP_SQUARES;
    case ISO_MEAN:
        return dtype == ISO_I32 ? CPU_STEP_SUM_WIDE : CPU_STEP_SUM;
    default:
        return CPU_STEP_SUM;
    }
}

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

void cpu_reduction_init(cpu_reduction *r, const iso_reduce_op_args *op)
{
    const int max = op->op == ISO_MAX || op->op == ISO_ARGMAX;
    *r = (cpu_reduction){.op = op};
    r->index_only = op->op == ISO_ARGMIN || op->op == ISO_ARGMAX;
    r->order = r->index_only || op->op == ISO_MIN || op->op == ISO_MAX ? max : -1;
    r->step = step_of(op->op, op->dtype);
    r->lane = lane_of(r, op->dtype);
    r->lane_bytes = (int)r->lane == 0 ? 2 : (int)iso_dtype_size(r->lane);
    r->planes = op->op == ISO_NORM2 && op->dtype == ISO_F64 ? CPU_REDUCE_PLANES : 1;
    r->length = op->axis == ISO_AXIS_0 ? op->rows : op->cols;
    r->sequences = op->axis == ISO_AXIS_0 ? op->cols : op->axis == ISO_AXIS_1 ? op->rows : 1;
    r->blocks = (r->length + CPU_REDUCE_BLOCK - 1) / CPU_REDUCE_BLOCK;
    if (op->x.memory) {
        r->x = cpu_at(op->x);
        r->y = op->op == ISO_DOT ? cpu_at(op->y) : NULL;
        r->result = cpu_at(op->result);
    }
}

int cpu_reduce_threads(const cpu_device *device, const cpu_reduction *r)
{
    const int64_t elements = BYTES_PER_THREAD / iso_dtype_size(r->op->dtype);
    const int64_t wanted = r->op->rows * r->op->cols / elements;
    const int64_t size = cpu_team_size(device->team);
    return (int)(wanted < 1 ? 1 : wanted < size ? wanted : size);
}

/* ---- partial values, in order ---------------------------------------------------------------- */

#define DEFINE_IN_ORDER(name, type)                                                                \
    static void name(int product, type *values, int64_t n, int64_t stride)                         \
    {                                                                                              \
        type acc = values[0];                                                                      \
        for (int64_t i = 1; i < n; i++) {                                                          \
            acc = product ? acc * values[i * stride] : acc + values[i * stride];                   \
        }                                                                                          \
        values[0] = acc;                                                                           \
    }

DEFINE_IN_ORDER(in_order_f32, float)
DEFINE_IN_ORDER(in_order_f64, double)
DEFINE_IN_ORDER(in_order_u32, uint32_t)
DEFINE_IN_ORDER(in_order_u64, uint64_t)

void cpu_reduce_in_order(const cpu_reduction *r, void *values, int64_t n, int64_t stride)
{
    const int product = r->step == CPU_STEP_PRODUCT;
    switch (r->lane) {
    case ISO_F32:
        in_order_f32(product, values, n, stride);
        break;
    case ISO_F64:
        in_order_f64(product, values, n, stride);
        break;
    case ISO_I32:
        in_order_u32(product, values, n, stride);
        break;
    default:
        in_order_u64(product, values, n, stride);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

static void store_f64(iso_dtype dtype, char *result, int64_t at, double value)
{
    switch (dtype) {
    case ISO_F16:
        ((uint16_t *)(void *)result)[at] = cpu_f64_to_f16(value);
        break;
    case ISO_BF16:
        ((uint16_t *)(void *)result)[at] = cpu_f64_to_bf16(value);
        break;
    case ISO_F32:
        ((float *)(void *)result)[at] = (float)value;
        break;
    default:
        ((double *)(void *)result)[at] = value;
    }
}

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

static double value_f64(const cpu_reduction *r, const void *values, int64_t i)
{
    switch (r->lane) {
    case ISO_F32:
        return (double)((const float *)values)[i];
    case ISO_F64:
        return ((const double *)values)[i];
    default:
        return (double)((const int64_t *)values)[i];
    }
}

static void finish_keys(const cpu_reduction *r, const void *values, int64_t first, int64_t count)
{
    const int real = dtype_get(r->op->dtype)->floating;
    for (int64_t i = 0; i < count; i++) {
        if (r->lane_bytes == 2) {
            const int16_t key = ((const int16_t *)values)[i];
            ((int16_t *)(void *)r->result)[first + i] = (int16_t)(key < 0 ? key ^ INT16_MAX : key);
        } else if (r->lane_bytes == 4) {
            const int32_t key = ((const int32_t *)values)[i];
            ((int32_t *)(void *)r->result)[first + i] = real && key < 0 ? key ^ INT32_MAX : key;
        } else {
            const int64_t key = ((const int64_t *)values)[i];
            ((int64_t *)(void *)r->result)[first + i] = real && key < 0 ? key ^ INT64_MAX : key;
        }
    }
}

void cpu_reduce_finish(const cpu_reduction *r, const void *values, int64_t plane, int64_t first,
                       int64_t count)
{
    const iso_dtype to = r->op->result_dtype;
    if (r->order >= 0) {
        finish_keys(r, values, first, count);
    } else if (r->op->op == ISO_NORM2) {
        const double *med = values;
        for (int64_t i = 0; i < count; i++) {
            store_f64(to, r->result, first + i,
                      r->planes == 1 ? sqrt(med[i])
                                     : norm_f64(med[i], med[plane + i], med[2 * plane + i]));
        }
    } else if (r->op->op == ISO_MEAN) {
        for (int64_t i = 0; i < count; i++) {
            store_f64(to, r->result, first + i, value_f64(r, values, i) / (double)r->length);
        }
    } else if (r->lane == to) {
        memcpy(r->result + first * r->lane_bytes, values, (size_t)(count * r->lane_bytes));
    } else {
        for (int64_t i = 0; i < count; i++) {
            store_f64(to, r->result, first + i, value_f64(r, values, i));
        }
    }
}
