/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c - what is computed. Each combination of an operation, a type, a fill and a form comes in
 * turn. Sizes and factors are drawn. Most cases are small, because a second implementation may be
 * slow; a few cross the ends of segments and of blocks. */
#include "bench/tool.h"
#include "bench/vectors/draw.h"
#include "bench/vectors/vectors.h"

#include <math.h>
#include <stdio.h>

#define COUNT(list)        ((int64_t)(sizeof(list) / sizeof(list)[0]))
#define PICK(source, list) ((list)[vectors_draw(source, COUNT(list))])

/* ---- combinations ---------------------------------------------------------------------------- */

typedef struct combination {
    const bench_op *op;
    int32_t kind; /* of a reduction or map */
    int32_t form; /* a product: bit 0: A is stored transposed, bit 1: B is; a reduction: the axis */
    iso_dtype dtype;
    int64_t element;
    arith_fill fill;
} combination;

typedef struct combinations {
    combination *items;
    int64_t count;
} combinations;

static void append(combinations *all, combination made)
{
    all->items = tool_resize(all->items, (size_t)all->count + 1, sizeof made, "combinations");
    all->items[all->count++] = made;
}

/* Adds a combination for each fill that the type takes. */
static void add(combinations *all, combination made)
{
    made.element = iso_dtype_size(made.dtype);
    for (made.fill = ARITH_UNIFORM; made.fill <= ARITH_BITS; made.fill++) {
        bool special = made.fill == ARITH_NAN || made.fill == ARITH_INF;
        if (!special || arith_is_float(made.dtype)) {
            append(all, made);
        }
    }
}

static void add_maps(combinations *all, iso_dtype dtype)
{
    for (iso_map_op op = ISO_MAP_COPY; op <= ISO_MAP_CHAIN; op++) {
        if (arith_is_float(dtype) || !arith_map_has_alpha(op)) {
            add(all, (combination){.op = &bench_map, .kind = (int32_t)op, .dtype = dtype});
        }
    }
}

/* Transposes have one fill and few forms: each size of elements comes as often as a map. */
static void add_transposes(combinations *all)
{
    for (int i = 0; i < 14; i++) {
        for (int64_t element = 1; element <= 16; element *= 2) {
            append(all,
                   (combination){.op = &bench_transpose, .element = element, .fill = ARITH_BITS});
        }
    }
}

static void add_sums(combinations *all, iso_dtype dtype)
{
    static const iso_axis axes[] = {ISO_AXIS_ALL, ISO_AXIS_0, ISO_AXIS_1};
    iso_dtype result;
    for (iso_reduce_op op = ISO_SUM; op <= ISO_ARGAMAX; op++) {
        for (int i = 0; i < COUNT(axes) && iso_reduce_result(op, dtype, &result) == ISO_OK; i++) {
            add(all, (combination){.op = &bench_reduce,
                                   .kind = (int32_t)op,
                                   .form = (int32_t)axes[i],
                                   .dtype = dtype});
        }
    }
}

static void add_products(combinations *all, iso_dtype dtype)
{
    for (int32_t form = 0; form < 4 && arith_is_float(dtype); form++) {
        add(all, (combination){.op = &bench_gemm, .form = form, .dtype = dtype});
    }
}

static const combinations *combinations_of(vectors_level level)
{
    static combinations made[VECTORS_LEVELS];
    combinations *all = &made[level];
    if (all->count > 0) {
        return all;
    }
    for (iso_dtype dtype = bench_next(bench_all_types, 0); dtype;
         dtype = bench_next(bench_all_types, dtype)) {
        if (level == VECTORS_MAPS) {
            add_maps(all, dtype);
        } else if (level == VECTORS_SUMS) {
            add_sums(all, dtype);
        } else {
            add_products(all, dtype);
        }
    }
    if (level == VECTORS_MAPS) {
        add_transposes(all);
    }
    return all;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* All combinations come before one is repeated. Neighbours differ in operation and type, so that a
 * short file has some of each. */
static combination combination_at(const combinations *all, int64_t number)
{
    int64_t step = all->count * 5 / 8;
    while (common_divisor(step, all->count) > 1) {
        step++;
    }
    return all->items[number % all->count * step % all->count];
}

/* ---- draws ----------------------------------------------------------------------------------- */

/* Half of the factors are ordinary numbers, most of which f32 has to round. The others are where a
 * shortcut or a rounding to f32 may go wrong. */
static double factor(vectors_source *s)
{
    static const double some[] = {0.5, -2.5, 3, 0.1, -0.4, 0x1p-8, -1024, 0x1.8p+1, 100, -0.75};
    static const double rare[] = {
        0,
        -0.0,
        1,
        -1,
        1e300,
        -1e300, /* infinite in f32 */
        1e-300,
        -1e-300, /* zeros in f32 */
        1e-310,
        0x1p-1074, /* subnormal in f64 */
        1e-40,
        -0x1p-149, /* subnormal in f32 */
        0x1p-150,
        0x1.0000001p-150, /* a tie and a little more: 0 and the smallest f32 */
        0x1p+120,
        0x1p-120, /* products overflow, or vanish */
        0x1p+1000,
        -0x1p-1000, /* the same in f64 */
        0x1.fffffep+127,
        0x1.ffffffp+127,        /* the greatest f32; a tie that becomes infinite */
        0x1.fffffefffffffp+127, /* rounds to the greatest f32 */
        1 + 0x1p-24,
        1 + 0x1.0000001p-24, /* a tie that becomes 1; a little more */
        INFINITY,
        -INFINITY,
        NAN,
    };
    int64_t kind = vectors_draw(s, 16);
    if (kind < 4) {
        return 1;
    }
    if (kind < 8) {
        return ldexp((double)(vectors_draw(s, 1 << 30) - (1 << 29)) + 0.375, -28);
    }
    return kind < 11 ? PICK(s, some) : PICK(s, rare);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Fills in whose sums a wrong order or a lost rounding shows. */
static bool is_telling(arith_fill fill)
{
    return fill == ARITH_UNIFORM || fill == ARITH_NEAR_ONE;
}

/* K where a sum of the greatest numbers needs one modulus more, if residues are used for it. */
static int64_t deep(iso_dtype dtype)
{
    return dtype == ISO_F64 ? 340109 : dtype == ISO_F32 ? 24411 : 115361;
}

/* K of a product; 0: a small one. Each of the long ones comes with each type and transposition. */
static int64_t long_product(const bench_case *item, int64_t round)
{
    static const int64_t plain[] = {2049, 1025, 3000, 1024, 2047, 1023, 2048, 3073};
    static const int64_t fixed[] = {2049, 4097, 1024, 8209, 1023, 1025, 3000, 2047, 2048};
    bool is_fixed = item->how == ISO_VARIANT_FIXED;
    if (is_fixed && item->fill == ARITH_TOP && round == 1 && item->gemm.trans_a == ISO_NO_TRANS &&
        item->gemm.trans_b == ISO_TRANS) {
        return deep(item->dtype);
    }
    if (!is_telling(item->fill) || round % (is_fixed ? 8 : 12) != 0) {
        return 0;
    }
    return is_fixed ? fixed[round / 8 % COUNT(fixed)] : plain[round / 12 % COUNT(plain)];
}

static void set_product(bench_case *item, vectors_source *s, int32_t form, int64_t round)
{
    static const int64_t few[] = {0, 1, 2, 3, 4}, sides[] = {1, 1, 2, 2, 3, 3, 4, 5, 7};
    static const int64_t small[] = {0, 1, 2, 3, 4, 5, 7, 8, 9};
    static const int64_t middle[] = {15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100};
    static const int64_t longer[] = {127, 128, 129, 255, 256, 257, 511, 512, 513};
    static const int64_t wide[] = {8, 9, 16, 17, 33};
    gemm_shape *g = &item->gemm;
    int64_t size = vectors_draw(s, 128);
    bool brief = size < 48;
    g->batch = 1;
    g->trans_a = form & 1 ? ISO_TRANS : ISO_NO_TRANS;
    g->trans_b = form & 2 ? ISO_TRANS : ISO_NO_TRANS;
    g->m = brief ? 1 + vectors_draw(s, 2) : PICK(s, sides);
    g->n = brief ? 1 + vectors_draw(s, 2) : PICK(s, sides);
    g->k = size < 3 ? PICK(s, longer) : brief ? PICK(s, middle) : PICK(s, small);
    if (item->fill == ARITH_BITS && !vectors_once_in(s, 8)) {
        g->k = PICK(s, few); /* in a longer sum a NaN hides everything */
    }
    if (g->k <= 5 && vectors_once_in(s, 8)) {
        *(vectors_once_in(s, 2) ? &g->m : &g->n) = PICK(s, wide);
    }
    g->alpha = factor(s);
    g->beta = vectors_once_in(s, 4) ? 0 : factor(s);
    if (long_product(item, round) > 0) {
        g->k = long_product(item, round);
        g->m = 1;
        g->n = g->k < 10000 ? 1 + vectors_draw(s, 2) : 1;
        g->alpha = g->k > 10000            ? 0x1p-4
                   : vectors_once_in(s, 2) ? 1
                                           : -0.75; /* f16 must not overflow */
        g->beta = vectors_once_in(s, 2) ? 0 : 0.5;
    }
}

static bool needs_elements(iso_reduce_op op)
{
    return op == ISO_MIN || op == ISO_MAX || op == ISO_AMAX || op == ISO_ARGMIN ||
           op == ISO_ARGMAX || op == ISO_ARGAMAX || op == ISO_MEAN;
}

static void set_reduction(bench_case *item, vectors_source *s, combination c, int64_t round)
{
    static const int64_t few[] = {1, 2, 3, 4, 5, 6}, others[] = {1, 1, 1, 2, 3, 5};
    static const int64_t small[] = {0, 1, 2, 3, 5, 8, 17, 31, 64, 65, 100};
    static const int64_t medium[] = {126, 127, 128, 129, 130, 255, 256, 257, 300, 520};
    static const int64_t large[] = {4095, 4096, 4097, 4223, 4225};
    static const int64_t several[] = {8191, 8192, 8193, 8320, 3 * 4096 + 5, 3 * 4096 + 5};
    reduce_shape *r = &item->reduce;
    bool telling = is_telling(item->fill), longest = item->fill == ARITH_UNIFORM && round < 2;
    int64_t length = vectors_once_in(s, telling ? 2 : 12) ? PICK(s, medium) : PICK(s, small);
    int64_t other = longest || length > 100 ? 1 + vectors_once_in(s, 4) : PICK(s, others);
    r->op = (iso_reduce_op)c.kind;
    r->axis = (iso_axis)c.form;
    if (item->fill == ARITH_BITS && vectors_once_in(s, 2)) {
        length = PICK(s, few);
    }
    if (longest) {
        length = round == 0 ? PICK(s, several) : PICK(s, large);
        other = 1;
    }
    if (length == 0 && needs_elements(r->op)) {
        length = 1;
    }
    if (r->axis == ISO_AXIS_ALL && length % other != 0) {
        other = 1;
    }
    r->rows = r->axis == ISO_AXIS_0 ? length : other;
    r->cols = r->axis == ISO_AXIS_0 ? other : r->axis == ISO_AXIS_1 ? length : length / other;
}

static void set_map(bench_case *item, vectors_source *s, int32_t kind)
{
    static const int64_t small[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33};
    static const int64_t large[] = {0, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000};
    map_shape *m = &item->map;
    m->op = (iso_map_op)kind;
    m->n = vectors_once_in(s, 16) ? PICK(s, large) : PICK(s, small);
    if (arith_map_has_alpha(m->op)) {
        m->alpha = factor(s);
    }
    if (m->op == ISO_MAP_CHAIN) {
        m->beta = factor(s);
        m->steps = vectors_once_in(s, 2) ? vectors_draw(s, 5) : vectors_draw(s, 65);
    }
}

static void set_transpose(bench_case *item, vectors_source *s)
{
    static const int64_t sides[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33};
    item->transpose.rows = PICK(s, sides);
    item->transpose.cols = PICK(s, sides);
}

/* ---- a case ---------------------------------------------------------------------------------- */

void vectors_case(vectors_level level, uint64_t seed, int64_t number, bench_case *out)
{
    const combinations *all = combinations_of(level);
    combination c = combination_at(all, number - 1);
    int64_t round = (number - 1) / all->count; /* how often the combination came before */
    vectors_source s = {arith_mix(arith_mix(seed, (uint64_t)level), (uint64_t)number), 0};
    *out = (bench_case){.op = c.op,
                        .by = c.op,
                        .dtype = c.dtype,
                        .element = c.element,
                        .fill = c.fill,
                        .how = level == VECTORS_FIXED ? ISO_VARIANT_FIXED : ISO_VARIANT_TILED,
                        .math = ISO_MATH_STRICT};
    /* The seeds of the second and the third operand may wrap. */
    out->seed = vectors_once_in(&s, 64) ? UINT64_MAX - (uint64_t)vectors_draw(&s, 2)
                                        : arith_mix(s.seed, UINT64_MAX);
    if (c.op == &bench_gemm) {
        set_product(out, &s, c.form, round);
    } else if (c.op == &bench_reduce) {
        set_reduction(out, &s, c, round);
    } else if (c.op == &bench_map) {
        set_map(out, &s, c.kind);
    } else {
        set_transpose(out, &s);
    }
    if (level == VECTORS_SUMS || level == VECTORS_FIXED) {
        vectors_special(level, number, out);
    }
}
