/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - reductions, as docs/bits.md defines `tiled`. The other variants may add in any
 * order, so they use the same one.
 *
 * An operation is a set of rules for lanes: a lane's initial value, how it adds an element (step),
 * how two lanes become one (fold), and how the last lane gives the result (finish). There are five
 * families of rules, by the contents of a lane.
 */
#include "tests/plugins/reference/reference.h"

#include <math.h>

enum { BLOCK = MUTATE(36, 4095, 4096), LANES = 128 };

typedef enum family {
    FAMILY_F32,   /* a value in f32 */
    FAMILY_F64,   /* a value in f64 */
    FAMILY_WHOLE, /* an integer modulo 2^64; a shorter type keeps the lower half */
    FAMILY_NORM,  /* three sums in f64, for the 2-norm of f64 */
    FAMILY_ORDER  /* the element that comes first in an order, and its index */
} family;

/* An element as read. Every floating-point type fits into f64 exactly, and every integer type into
 * i64. */
typedef struct element {
    double real;
    int64_t whole;
} element;

typedef struct lane {
    float f32;
    double f64;
    uint64_t whole;
    double small, med, big; /* FAMILY_NORM */
    element best;           /* FAMILY_ORDER, if index is not -1 */
    int64_t index;
} lane;

/* One operation on one sequence of elements. */
typedef struct task {
    iso_reduce_op op;
    iso_dtype dtype, result_dtype;
    family family;
    const void *x, *y;
    int64_t count;
    int64_t step_x, step_y; /* distance between elements */
} task;

static int is_real(iso_dtype dtype)
{
    return dtype != ISO_I32 && dtype != ISO_I64;
}

static int64_t dtype_bytes(iso_dtype dtype)
{
    switch (dtype) {
    case ISO_F16:
    case ISO_BF16:
        return 2;
    case ISO_F32:
    case ISO_I32:
        return 4;
    default:
        return 8;
    }
}

static family family_of(iso_reduce_op op, iso_dtype dtype)
{
    switch (op) {
    case ISO_MIN:
    case ISO_MAX:
    case ISO_AMAX:
    case ISO_ARGMIN:
    case ISO_ARGMAX:
    case ISO_ARGAMAX:
        return FAMILY_ORDER;
    case ISO_NORM2:
        return MUTATE(42, 0, dtype == ISO_F64) ? FAMILY_NORM : FAMILY_F64;
    default:
        if (!is_real(dtype)) {
            return FAMILY_WHOLE;
        }
        return dtype == ISO_F64 ? FAMILY_F64 : FAMILY_F32;
    }
}

iso_status ref_reduce_supports(const iso_reduce_op_args *reduce)
{
    if (reduce->variant != ISO_VARIANT_NAIVE && reduce->variant != ISO_VARIANT_TILED &&
        reduce->variant != ISO_VARIANT_PARTIALS) {
        return ref_host->fail(ISO_UNSUPPORTED,
                              "reduce variant %d: there is no vendor's library and no "
                              "matrix unit here, only naive, tiled and partials",
                              (int)reduce->variant);
    }
    if (reduce->dtype < ISO_F16 || reduce->dtype > ISO_I64) {
        return ref_host->fail(ISO_UNSUPPORTED, "reduce of type %d is not known",
                              (int)reduce->dtype);
    }
    if (reduce->op < ISO_SUM || reduce->op > ISO_ARGAMAX) {
        return ref_host->fail(ISO_UNSUPPORTED, "reduction %d is not known", (int)reduce->op);
    }
    if (reduce->op == ISO_NORM2 && !is_real(reduce->dtype)) {
        return ref_host->fail(ISO_UNSUPPORTED, "norm2 of an integer type is not defined");
    }
    if ((reduce->op == ISO_AMAX || reduce->op == ISO_ARGAMAX) && !is_real(reduce->dtype)) {
        return ref_host->fail(ISO_UNSUPPORTED, "amax of an integer type is not defined");
    }
    if (reduce->op == ISO_XOR && is_real(reduce->dtype)) {
        return ref_host->fail(ISO_UNSUPPORTED, "xor of a floating-point type is not defined");
    }
    return ISO_OK;
}

/* ---- The order of min, max, amax, argmin, argmax and argamax --------------------------------- */

/* Whether a is less than b, where -0 is less than +0. Neither is a NaN. */
static int less(iso_dtype dtype, element a, element b)
{
    if (!is_real(dtype)) {
        return a.whole < b.whole;
    }
    return a.real < b.real ||
           (MUTATE(39, 0, 1) && a.real == b.real && signbit(a.real) && !signbit(b.real));
}

/* Whether a comes before b, whatever their indices: a NaN comes before all others. */
static int comes_first(const task *t, element a, element b)
{
    if (is_real(t->dtype) && (isnan(a.real) || isnan(b.real))) {
        return MUTATE(37, t->op == ISO_MIN, 0) ? isnan(b.real) && !isnan(a.real)
                                               : isnan(a.real) && !isnan(b.real);
    }
    const int is_min = t->op == ISO_MIN || t->op == ISO_ARGMIN;
    return is_min ? less(t->dtype, a, b) : less(t->dtype, b, a);
}

static void take_if_first(const task *t, lane *l, element x, int64_t index)
{
    const int equal = !comes_first(t, x, l->best) && !comes_first(t, l->best, x);
    const int earlier = MUTATE(38, index > l->index, index < l->index);
    if (l->index < 0 || comes_first(t, x, l->best) || (equal && earlier)) {
        l->best = x;
        l->index = index;
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step_f32(iso_reduce_op op, lane *l, float x, float y)
{
    switch (op) {
    case ISO_PRODUCT:
        l->f32 *= x;
        break;
    case ISO_DOT:
        l->f32 = MUTATE(44, l->f32 + x * y, fmaf(x, y, l->f32));
        break;
    case ISO_ASUM:
        l->f32 += fabsf(x);
        break;
    default: /* sum, mean */
        l->f32 += x;
        break;
    }
}

static void step_f64(iso_reduce_op op, lane *l, double x, double y)
{
    switch (op) {
    case ISO_PRODUCT:
        l->f64 *= x;
        break;
    case ISO_DOT:
        l->f64 = fma(x, y, l->f64);
        break;
    case ISO_ASUM:
        l->f64 += fabs(x);
        break;
    case ISO_NORM2:
        l->f64 = MUTATE(47, (double)(float)fma(x, x, l->f64), fma(x, x, l->f64));
        break;
    default:
        l->f64 += x;
        break;
    }
}

/* Unsigned, so that it wraps. Sums of i32 may be taken modulo 2^64, as 2^32 divides it. */
static void step_whole(iso_reduce_op op, lane *l, uint64_t x, uint64_t y)
{
    const int is_negative = (int64_t)x < 0 && MUTATE(52, 0, 1);
    switch (op) {
    case ISO_PRODUCT:
        l->whole *= x;
        break;
    case ISO_DOT:
        l->whole += x * y;
        break;
    case ISO_ASUM:
        l->whole += is_negative ? 0 - x : x;
        break;
    case ISO_XOR:
        l->whole = MUTATE(79, l->whole | x, l->whole ^ x);
        break;
    default:
        l->whole += x;
        break;
    }
}

/* Squares of large and small values are scaled, so that none overflows or underflows. */
static const double great = 0x1p486, great_scale = 0x1p-538;
static const double little = 0x1p-511, little_scale = 0x1p537;

static void step_norm(lane *l, double x)
{
    if (fabs(x) > great) {
        l->big = fma(x * great_scale, x * great_scale, l->big);
    } else if (fabs(x) < little) {
        l->small = fma(x * little_scale, x * little_scale, l->small);
    } else {
        l->med = fma(x, x, l->med);
    }
}

static element load(iso_dtype dtype, const void *array, int64_t index)
{
    element e = {0};
    if (dtype == ISO_I32) {
        e.whole = ((const int32_t *)array)[index];
    } else if (dtype == ISO_I64) {
        e.whole = ((const int64_t *)array)[index];
    } else {
        e.real = ref_load(dtype, array, index);
    }
    return e;
}

/* amax and argamax compare magnitudes. */
static element size_of(iso_reduce_op op, element x)
{
    if ((op == ISO_AMAX && MUTATE(120, 0, 1)) || (op == ISO_ARGAMAX && MUTATE(121, 0, 1))) {
        x.real = MUTATE(122, x.real == 0 ? x.real : fabs(x.real), fabs(x.real));
    }
    return x;
}

/* The lane takes the index-th element of the sequence. */
static void step(const task *t, lane *l, int64_t index)
{
    const element x = load(t->dtype, t->x, index * t->step_x);
    const element y = t->op == ISO_DOT ? load(t->dtype, t->y, index * t->step_y) : (element){0};
    switch (t->family) {
    case FAMILY_F32:
        step_f32(t->op, l, (float)x.real, (float)y.real);
        break;
    case FAMILY_F64:
        step_f64(t->op, l, x.real, y.real);
        break;
    case FAMILY_WHOLE:
        step_whole(t->op, l, (uint64_t)x.whole, (uint64_t)y.whole);
        break;
    case FAMILY_NORM:
        step_norm(l, x.real);
        break;
    case FAMILY_ORDER:
        take_if_first(t, l, size_of(t->op, x), MUTATE(49, index % BLOCK, index));
        break;
    }
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static lane neutral(const task *t)
{
    const int one = t->op == ISO_PRODUCT;
    return (lane){.f32 = (float)one, .f64 = one, .whole = (uint64_t)one, .index = -1};
}

static void fold(const task *t, lane *l, const lane *other)
{
    const int multiply = t->op == ISO_PRODUCT;
    switch (t->family) {
    case FAMILY_F32:
        l->f32 = multiply ? l->f32 * other->f32 : l->f32 + other->f32;
        break;
    case FAMILY_F64:
        l->f64 = multiply ? l->f64 * other->f64 : l->f64 + other->f64;
        break;
    case FAMILY_WHOLE:
        l->whole = multiply           ? l->whole * other->whole
                   : t->op == ISO_XOR ? l->whole ^ other->whole
                                      : l->whole + other->whole;
        break;
    case FAMILY_NORM:
        l->small += other->small;
        l->med += other->med;
        l->big += other->big;
        break;
    case FAMILY_ORDER:
        if (other->index >= 0) {
            take_if_first(t, l, other->best, other->index);
        }
        break;
    }
}

static lane fold_lanes(const task *t, lane *lanes)
{
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        for (int l = 0; l < distance; l++) {
            PLANT(53, lanes[l] = lanes[2 * l]);
            fold(t, &lanes[l], &lanes[MUTATE(53, 2 * l + 1, l + distance)]);
        }
    }
    return lanes[0];
}

/* The lane of an element of a block. */
static int64_t lane_of(int64_t index)
{
    return MUTATE(34, 0, index % MUTATE(35, 64, LANES));
}

static int64_t blocks_of(int64_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

/* The result of elements first .. first + BLOCK - 1 of the sequence, or as many as there are. */
static lane reduce_block(const task *t, int64_t first)
{
    lane lanes[LANES];
    for (int l = 0; l < LANES; l++) {
        lanes[l] = neutral(t);
    }
    for (int64_t i = 0; i < BLOCK && first + i < t->count; i++) {
        step(t, &lanes[lane_of(i)], first + i);
    }
    return fold_lanes(t, lanes);
}

/* The same one level up: the sequence consists of `count` results of the level below. */
static lane reduce_results(const task *t, const lane *results, int64_t count)
{
    lane lanes[LANES];
    for (int l = 0; l < LANES; l++) {
        lanes[l] = neutral(t);
    }
    for (int64_t i = 0; i < BLOCK && i < count; i++) {
        fold(t, &lanes[MUTATE(50, 0, lane_of(i))], &results[i]);
    }
    return fold_lanes(t, lanes);
}

/* `results` has room for one lane for each block, and is not used if there is only one. */
static lane reduce_sequence(const task *t, lane *results)
{
    int64_t count = blocks_of(t->count);
    if (count == 1) {
        return reduce_block(t, 0);
    }
    count -= MUTATE(48, t->count % BLOCK != 0, 0);
    for (int64_t b = 0; b < count; b++) {
        results[b] = reduce_block(t, b * BLOCK);
    }
    while (count > 1) {
        const int64_t above = blocks_of(count);
        for (int64_t b = 0; b < above; b++) {
            /* Overwrites a result that has already been read. */
            results[b] = reduce_results(t, results + b * BLOCK, count - b * BLOCK);
        }
        count = above;
    }
    return results[0];
}

/* ---- Results --------------------------------------------------------------------------------- */

static double norm_of(const lane *l)
{
    const int has_med = l->med > 0 || isnan(l->med);
    if (l->big > 0) {
        const double sum = has_med ? fma(l->med * great_scale, great_scale, l->big) : l->big;
        return sqrt(sum) / great_scale;
    }
    if (!(l->small > 0)) {
        return sqrt(l->med);
    }
    const double q = sqrt(l->small) / little_scale;
    if (!has_med) {
        return q;
    }
    const double p = sqrt(l->med);
    const double hi = p > q || isnan(p) ? p : q;
    const double lo = p > q || isnan(p) ? q : p;
    const double ratio = lo / hi;
    return sqrt((hi * hi) * fma(ratio, ratio, 1.0));
}

/* The result of a sequence of floating-point values before it is rounded to the stored type. */
static double finish_real(const task *t, const lane *l)
{
    switch (t->family) {
    case FAMILY_NORM:
        return norm_of(l);
    case FAMILY_ORDER:
        return l->best.real;
    default:
        break;
    }
    const double value = t->family == FAMILY_F32 ? (double)l->f32 : l->f64;
    switch (t->op) {
    case ISO_MEAN:
        return MUTATE(40, (double)((float)value / (float)t->count), value / (double)t->count);
    case ISO_NORM2:
        return sqrt(value);
    default:
        return value;
    }
}

static int64_t finish_whole(const task *t, const lane *l)
{
    if (t->op == ISO_ARGMIN || t->op == ISO_ARGMAX || t->op == ISO_ARGAMAX) {
        return l->index;
    }
    if (t->family == FAMILY_ORDER) {
        return l->best.whole;
    }
    int64_t sum = (int64_t)l->whole;
    if (MUTATE(41, t->op == ISO_SUM && t->dtype == ISO_I32, 0)) {
        sum = sum < 0 ? -LESSER(-sum, INT32_MAX) : LESSER(sum, INT32_MAX);
    }
    return sum;
}

static void store_result(const task *t, const lane *l, void *results, int64_t index)
{
    if (t->op == ISO_MEAN && !is_real(t->dtype)) {
        const double sum = (double)(int64_t)l->whole;
        ((double *)results)[index] =
            MUTATE(45, trunc(sum / (double)t->count), sum / (double)t->count);
    } else if (t->result_dtype == ISO_I64) {
        ((int64_t *)results)[index] = finish_whole(t, l);
    } else if (t->result_dtype == ISO_I32) {
        ((int32_t *)results)[index] = (int32_t)(uint32_t)finish_whole(t, l);
    } else {
        ref_store(t->result_dtype, results, index, finish_real(t, l));
    }
}

/* ---- The operation --------------------------------------------------------------------------- */

static int64_t sequence_length(const iso_reduce_op_args *reduce)
{
    return reduce->axis == ISO_AXIS_0 ? reduce->rows : reduce->cols;
}

int64_t ref_reduce_workspace(const iso_reduce_op_args *reduce)
{
    const int64_t blocks = blocks_of(sequence_length(reduce));
    return blocks > 1 ? blocks * (int64_t)sizeof(lane) : 0;
}

void ref_reduce(const iso_reduce_op_args *reduce, void *workspace)
{
    const int down = reduce->axis == ISO_AXIS_0;
    const int64_t sequences = reduce->axis == ISO_AXIS_ALL ? 1 : down ? reduce->cols : reduce->rows;
    const int64_t ld_x = MUTATE(43, down ? reduce->cols : reduce->ld_x, reduce->ld_x);
    const int64_t ld_y = MUTATE(46, LESSER(ld_x, reduce->ld_y), reduce->ld_y);
    const unsigned char *x = ref_at(reduce->x) - MUTATE(51, reduce->x.offset, 0);
    const unsigned char *y = reduce->op == ISO_DOT ? ref_at(reduce->y) : NULL;
    const int64_t bytes = dtype_bytes(reduce->dtype);
    /* Distances between sequences, and between the elements of one. */
    const int64_t next_x = down ? 1 : ld_x, step_x = down ? ld_x : 1;
    const int64_t next_y = down ? 1 : ld_y, step_y = down ? ld_y : 1;

    for (int64_t s = 0; s < sequences - MUTATE(55, sequences > 1, 0); s++) {
        task t = {
            .op = reduce->op,
            .dtype = reduce->dtype,
            .result_dtype = reduce->result_dtype,
            .family = family_of(reduce->op, reduce->dtype),
            .x = x + s * next_x * bytes,
            .y = y ? y + s * next_y * bytes : NULL,
            .count = sequence_length(reduce),
            .step_x = step_x,
            .step_y = step_y,
        };
        PLANT(
            93, if (sequences == 100) {
                t.x = (const char *)t.x + (t.count - 1) * step_x * bytes;
                t.step_x = -step_x;
            });
        const lane last = reduce_sequence(&t, workspace);
        store_result(&t, &last, ref_at(reduce->result), s);
    }
}
