/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routine.c - a routine on a device, run on masks. Each row of A (of x, in a reduction) is a mask,
 * so one call answers as many questions as there are rows. B holds ones.
 */
#include "bench/reveal/reveal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const reveal_op reveal_ops[REVEAL_OPS] = {
    {.name = "gemm", .least = 3, .most = 3, .row = &bench_gemm, .matrix = true, .products = true},
    {.name = "gemv", .least = 2, .most = 2, .row = &bench_gemv, .matrix = true, .products = true},
    {.name = "sum", .least = 1, .most = 2, .row = &bench_reduce, .reduce = ISO_SUM},
    {.name = "dot",
     .least = 1,
     .most = 2,
     .row = &bench_reduce,
     .reduce = ISO_DOT,
     .products = true}};

bool reveal_fail(reveal_routine *r, bench_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(r->problem, sizeof r->problem, format, list);
    va_end(list);
    r->status = status;
    return false;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bench_case bench_case_of(const reveal_case *item)
{
    bench_case made = {.op = item->op->row,
                       .by = item->op->row,
                       .dtype = item->dtype,
                       .element = iso_dtype_size(item->dtype),
                       .how = item->variant,
                       .math = item->math,
                       .library = item->library};
    if (item->op->matrix) { /* the product of a gemv_shape is in the same place */
        made.gemm = (gemm_shape){.m = item->m, .n = item->n, .k = item->k, .batch = 1, .alpha = 1};
        made.gemv.inc_x = made.gemv.inc_y = 1;
    } else {
        made.reduce = (reduce_shape){.op = item->op->reduce,
                                     .axis = item->m > 1 ? ISO_AXIS_1 : ISO_AXIS_ALL,
                                     .rows = item->m,
                                     .cols = item->k};
    }
    return made;
}

iso_status reveal_describe(iso_device device, const reveal_case *item, iso_op_info *out)
{
    bench_args args;
    const bench_case made = bench_case_of(item);
    *out = (iso_op_info)ISO_OP_INFO_INIT;
    return iso_describe(device, made.op->arguments(&made, &args), &args, out);
}

/* ---- a routine ------------------------------------------------------------------------------- */

static bool call_failed(reveal_routine *r, iso_status status)
{
    return reveal_fail(r, status == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_ERROR, "%s",
                       tool_reason());
}

bool reveal_open(reveal_routine *r, iso_device device, const reveal_case *item, double seconds)
{
    bench_needs needs;
    *r = (reveal_routine){.item = item,
                          .device = device,
                          .what = bench_case_of(item),
                          .deadline = tool_seconds() + seconds};
    bench_case_needs(&r->what, &needs);
    r->element = (size_t)r->what.element;
    r->bytes[0] = needs.bytes[0];
    r->bytes[1] = needs.inputs > 1 ? needs.bytes[1] : 0;
    r->bytes[2] = needs.result;
    iso_status status = iso_stream_create(device, ISO_STREAM_INLINE, &r->stream);
    if (status != ISO_OK) {
        status = iso_stream_create(device, 0, &r->stream);
    }
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        if (r->bytes[i] > 0) {
            r->host[i] = calloc((size_t)r->bytes[i], 1);
            if (!r->host[i]) {
                return reveal_fail(r, BENCH_ERROR, "no host memory for operands of %lld bytes",
                                   (long long)r->bytes[i]);
            }
            status = iso_buffer_create(device, r->bytes[i], &r->buffers[i]);
        }
    }
    return status == ISO_OK || call_failed(r, status);
}

void reveal_close(reveal_routine *r)
{
    for (int i = 0; i < 3; i++) {
        if (r->buffers[i].id != 0) {
            iso_buffer_destroy(r->buffers[i]);
        }
        free(r->host[i]);
    }
    if (r->stream.id != 0) {
        iso_stream_destroy(r->stream);
    }
    *r = (reveal_routine){0};
}

void reveal_set(reveal_routine *r, int32_t operand, int64_t at, double value)
{
    arith_store(r->item->dtype, r->host[operand] + (size_t)at * r->element, value);
    if (operand < 2) {
        r->stale[operand] = true;
    }
    if (operand == 0) {
        r->units = false;
    }
}

double reveal_get(const reveal_routine *r, int64_t at)
{
    return arith_load(r->item->dtype, r->host[2] + (size_t)at * r->element);
}

void reveal_set_second(reveal_routine *r, double value)
{
    for (int64_t i = 0; i < r->bytes[1] / (int64_t)r->element; i++) {
        reveal_set(r, 1, i, value);
    }
}

/* Writes what has changed to the device. */
static iso_status write_operands(reveal_routine *r, bool result)
{
    iso_status status = ISO_OK;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        if (r->bytes[i] > 0 && (i < 2 ? r->stale[i] : result)) {
            status = iso_write(r->stream, (iso_operand){r->buffers[i], 0}, r->host[i], r->bytes[i]);
        }
    }
    r->stale[0] = r->stale[1] = false;
    return status;
}

static iso_status submit(reveal_routine *r, double factor)
{
    const iso_operand inputs[] = {{r->buffers[0], 0}, {r->buffers[1], 0}};
    const iso_operand result = {r->buffers[2], 0};
    bench_args args;
    bench_case now = r->what;
    if (factor != 0) {
        now.gemm.beta = factor;
    }
    iso_op_kind kind = now.op->arguments(&now, &args);
    now.op->operands(&now, &args, inputs, result);
    iso_status status = write_operands(r, factor != 0);
    if (status == ISO_OK) {
        status = iso_execute(r->stream, kind, &args);
    }
    if (status == ISO_OK) {
        status = iso_read(r->stream, r->host[2], result, r->bytes[2]);
    }
    iso_status end = iso_stream_sync(r->stream);
    return status == ISO_OK ? end : status;
}

bool reveal_call(reveal_routine *r, double factor)
{
    if (tool_stop_asked()) {
        return reveal_fail(r, BENCH_SKIPPED, "interrupted");
    }
    if (tool_seconds() > r->deadline) {
        return reveal_fail(r, BENCH_SKIPPED, "no time");
    }
    r->calls++;
    iso_status status = submit(r, factor);
    return status == ISO_OK || call_failed(r, status);
}

/* ---- counting -------------------------------------------------------------------------------- */

void reveal_set_mask(reveal_routine *r, int64_t row, int64_t begin, int64_t end,
                     const reveal_pair *pair)
{
    int64_t k = r->item->k;
    unsigned char *to = r->host[0] + (size_t)(row * k) * r->element;
    unsigned char *units = to + (size_t)begin * r->element;
    size_t bytes = (size_t)(end - begin) * r->element;
    memset(to, 0, (size_t)k * r->element);
    reveal_set(r, 0, row * k + begin, r->coding.unit);
    for (size_t made = r->element; made < bytes; made *= 2) { /* copies what is there */
        memcpy(units + made, units, made < bytes - made ? made : bytes - made);
    }
    if (pair) {
        reveal_set(r, 0, row * k + pair->i, r->coding.large);
        reveal_set(r, 0, row * k + pair->j, -r->coding.large);
    }
}

/* The row of A that the i-th mask of a call has. */
static int64_t row_of(const reveal_routine *r, int64_t i)
{
    return r->in ? r->in->rows[i] : i;
}

/* The i-th result that is looked at: one of each row that the class has. */
static double units_of(const reveal_routine *r, int64_t i)
{
    int64_t column = r->in ? r->in->column : 0;
    return reveal_get(r, row_of(r, i) * r->item->n + column) / r->coding.unit;
}

/* Runs the masks, and reads how many units each row is. */
static bool count_units(reveal_routine *r, int64_t rows, double *units)
{
    int64_t all = r->item->m * r->item->n;
    if (!reveal_call(r, 0)) {
        return false;
    }
    for (int64_t i = 0; i < rows; i++) {
        units[i] = units_of(r, i);
    }
    if (!r->coding.twice) {
        return true;
    }
    for (int64_t i = 0; i < all; i++) {
        reveal_set(r, 2, i, -reveal_get(r, i));
    }
    if (!reveal_call(r, 1)) {
        return false;
    }
    for (int64_t i = 0; i < rows; i++) {
        units[i] += units_of(r, i);
    }
    return true;
}

static int32_t groups_of(const reveal_routine *r)
{
    return (int32_t)((r->item->k + r->coding.most - 1) / r->coding.most);
}

/* Rows beyond this size are not written again for each mask: only the two large numbers are. */
enum { LONG_ROW = 1 << 14 };

/* Sets the terms of the pairs in A on the device: to large numbers, or back to units. */
static bool fill_pairs(reveal_routine *r, const reveal_pair *pairs, int64_t count, bool large)
{
    unsigned char patterns[2][8];
    iso_status status = write_operands(r, false);
    for (int side = 0; side < 2; side++) {
        arith_store(r->item->dtype, patterns[side],
                    !large      ? r->coding.unit
                    : side == 0 ? r->coding.large
                                : -r->coding.large);
    }
    for (int64_t i = 0; i < 2 * count && status == ISO_OK; i++) {
        int64_t term = i % 2 == 0 ? pairs[i / 2].i : pairs[i / 2].j;
        int64_t at = (row_of(r, i / 2) * r->item->k + term) * (int64_t)r->element;
        status = iso_fill(r->stream, (iso_operand){r->buffers[0], at}, patterns[i % 2],
                          (int64_t)r->element, (int64_t)r->element);
    }
    return status == ISO_OK || call_failed(r, status);
}

/* Counts with masks that have all units, for at most one pair for each row. */
static bool count_long(reveal_routine *r, const reveal_pair *pairs, int64_t count, double *units)
{
    for (int64_t row = 0; row < r->item->m && !r->units; row++) {
        reveal_set_mask(r, row, 0, r->item->k, NULL);
    }
    r->units = true;
    return fill_pairs(r, pairs, count, true) && count_units(r, count, units) &&
           fill_pairs(r, pairs, count, false);
}

/* Counts with masks `first` to first + count - 1: one for each pair and group of terms. */
static bool count_masks(reveal_routine *r, const reveal_pair *pairs, int64_t first, int64_t count,
                        double *units)
{
    int64_t k = r->item->k, groups = groups_of(r);
    if (pairs && groups == 1 && k * (int64_t)r->element > LONG_ROW) {
        return count_long(r, pairs + first, count, units);
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = (first + i) % groups * r->coding.most;
        int64_t end = begin + r->coding.most < k ? begin + r->coding.most : k;
        reveal_set_mask(r, row_of(r, i), begin, end, pairs ? &pairs[(first + i) / groups] : NULL);
    }
    return count_units(r, count, units);
}

/* Sets `sizes` to the number of units that remain, for each pair (NULL: no large numbers). */
static bool count_pairs(reveal_routine *r, const reveal_pair *pairs, int32_t count, int32_t *sizes)
{
    int64_t groups = groups_of(r), masks = count * groups, k = r->item->k;
    int64_t rows = r->in ? r->in->row_count : r->item->m;
    double *units = tool_alloc((size_t)rows, sizeof *units, "masks");
    bool good = true;
    memset(sizes, 0, (size_t)count * sizeof *sizes);
    for (int64_t first = 0; first < masks && good; first += rows) {
        int64_t now = masks - first < rows ? masks - first : rows;
        good = count_masks(r, pairs, first, now, units);
        for (int64_t i = 0; i < now && good; i++) {
            good = (units[i] >= 0 && units[i] <= (double)k && units[i] == floor(units[i])) ||
                   reveal_fail(r, BENCH_FAILED, "a mask of %lld units gave %g units", (long long)k,
                               units[i]);
            sizes[(first + i) / groups] += good ? (int32_t)units[i] : 0;
        }
    }
    free(units);
    return good;
}

bool reveal_ask_routine(void *context, const reveal_pair *pairs, int32_t count, int32_t *sizes)
{
    reveal_routine *r = context;
    if (!count_pairs(r, pairs, count, sizes)) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        sizes[i] = (int32_t)r->item->k - sizes[i];
    }
    return true;
}

/* ---- codings --------------------------------------------------------------------------------- */

/* Those of a type are tried in turn. A unit is exact in the type, and so is the number of units up
 * to `most`, also in sums of f32. Half the last place of `large` is above their sum. In f16 that
 * leaves only subnormal units. */
static const struct {
    iso_dtype dtype;
    reveal_coding coding;
} codings[] = {
    {ISO_F64, {1, 0x1p100, INT32_MAX, false}},   {ISO_F32, {1, 0x1p60, 1 << 24, false}},
    {ISO_BF16, {1, 0x1p60, 1 << 20, true}},      {ISO_BF16, {1, 0x1p60, 256, false}},
    {ISO_F16, {0x1p-24, 0x1p15, 1 << 14, true}}, {ISO_F16, {0x1p-24, 0x1p15, 1 << 10, false}},
    {ISO_F16, {0x1p-14, 0x1p15, 32, false}}};

/* Whether masks without large numbers are counted right. */
static bool counts(reveal_routine *r)
{
    int32_t left;
    return count_pairs(r, NULL, 1, &left) &&
           (left == r->item->k || reveal_fail(r, BENCH_FAILED, "%lld units were counted as %d",
                                              (long long)r->item->k, left));
}

bool reveal_calibrate(reveal_routine *r)
{
    reveal_set_second(r, 1);
    reveal_fail(r, BENCH_UNSUPPORTED, "sums of this type have no order");
    for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
        const reveal_coding *coding = &codings[i].coding;
        if (codings[i].dtype != r->item->dtype || (coding->twice && !r->item->op->matrix)) {
            continue;
        }
        r->coding = *coding;
        if (counts(r)) {
            return true;
        }
        if (r->status != BENCH_FAILED) {
            return false;
        }
    }
    return false;
}
