/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c - checks large products: it compares sums (projections) that cover every element. whole.c
 * checks small products.
 *
 * The columns of C are cut into blocks of w. With random signs s(j) = +1 or -1, the sum of s(j)
 * c(i,j) over a block must equal that of A (B s), which costs w times less than the product.
 * For w = 1 this is the product itself. The rows are cut in the same way, and C is compared with
 * (s A) B. This finds two elements of a row's block that were swapped. The sum of that block may
 * stay the same, but the sums of the two columns change.
 *
 * The bound. c(i,j) is the result of K additions, in an order that the library chooses. Let d(j) be
 * its error. The p-th addition has the result s_p(j) and the rounding error e_p s_p(j), with
 * |e_p| <= u. Then |d(j)| <= u sum_p |s_p(j)|. We assume nothing else about the roundings. They may
 * all go in the same direction.
 *
 * The inputs are random: the signs of the terms a(i,k) b(k,j) are independent of their sizes and of
 * each other. By Hoeffding's inequality, the probability that a partial sum exceeds t times the
 * root of the sum of its squared terms is at most 2 exp(-t^2/2). The signs s do not depend on the
 * errors d. So the sum of s(j) d(j) exceeds t sqrt(sum d(j)^2) with at most the same probability.
 * Take t = 8: 2 exp(-32) = 3e-14 is small enough for the 10^8 sums that a run has at most. Let Q be
 * the sum over k and over the block's j of (a(i,k) b(k,j))^2. These two limits together give:
 *
 *     |error of the block's sum| <= 8 (K + 8) u sqrt(Q)
 *
 * For w = 1 this follows from the limit of the partial sums alone. For larger w each of the two
 * limits would add a factor of 8. We use only one of these factors, because the errors of all
 * columns cannot come close to both limits at once. K + 8 allows for 8 more roundings: of products
 * that are not fused, of alpha, and of the store.
 *
 * Q is at most |a(i,.)|^2 max_k sum_j b(k,j)^2. Whatever the signs are, the error is at most
 * (K + 8) u sum_j |a(i,.)| |b(.,j)| <= (K + 8) u |a(i,.)| sqrt(w) |B of the block|. The smaller of
 * the two bounds applies. Here u is 2^-24 for f16, bf16 and f32, and 2^-53 for f64. For a vendor's
 * library it is twice that, because its matrix units may truncate instead of rounding. The host's
 * own sums are in f64 and add K + 2w roundings. TF32 also cuts each factor to 11 bits, a relative
 * error of at most 2^-10. Each term then changes by little more than 2^-9 of itself, and the bound
 * grows by that times 8 sqrt(Q).
 *
 * Storing f16 or bf16 rounds each element by at most half a unit in its last place, or by a whole
 * unit in a vendor's library. This adds to the bound 8 times the root of the sum of the squares of
 * these roundings, or their sum if that is less.
 *
 * For f32 and f64, but not TF32, all sums together must meet a tighter limit. Each error is divided
 * by its sqrt(Q). The root of the mean square of these must be at most u (8 sqrt(K) + K / 16).
 * Unbiased roundings give about 0.3 u sqrt(K). The second term allows for some bias. A library that
 * computes f32 products in TF32 without being asked exceeds the limit at every K.
 *
 * So the check finds an element whose error is greater than the bound of its block. width_of()
 * chooses w so that this bound is a fraction of an ordinary element of C even for K = 16384. With
 * some fills, additions are exact in every order. Then the projection is exact too, and the bound
 * is 0.
 */
#include "bench/check/projection.h"
#include "bench/check/whole.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The greatest number of multiplications that the host does for one half (the rows or the columns).
 * They take a fraction of a second. */
static const double affordable = 4e9;
/* The greatest number of sums that the host keeps for one half. */
static const double room = 0x1p22;

typedef struct judging {
    const bench_case *item;
    check_projection want;
    check_view c; /* its rows are projected */
    double steps; /* relative error of a sum, without the rounding of stored elements */
    double usual; /* limit of the errors' root mean square, relative to ordinary sums; 0: none */
    double mean;  /* the sum of the squares of those relative errors */
    double share; /* storing an element may add this many units in the last place; 0: none */
    const double *signs;
    const char *name;
    /* The projection of C. For each sum, also the sum of the roundings of its stored elements and
     * the sum of their squares. */
    double *sums, *units, *squares;
    pthread_mutex_t lock;
    /* Of the first wrong sum. If all are right: of the sum that is nearest to its bound. */
    double error, bound;
    int64_t row, block; /* of the first wrong sum; row -1: none is wrong */
    double is, should;
} judging;

/* The number of columns of a block. A wide block would hide a wrong element. So blocks are narrow,
 * except for f64 and where a coarse check is enough. f16, bf16 and TF32 are coarse, and so is the
 * bound of f32 for a large K. */
static int64_t width_of(const bench_case *item, int64_t rows, int64_t cols, bool coarse_is_enough)
{
    double size = (double)(rows > item->gemm.k ? rows : item->gemm.k) * (double)cols;
    double product = (double)rows * (double)cols * (double)item->gemm.k;
    int64_t most = item->dtype == ISO_F64 || coarse_is_enough ? 4096 : 16, width = 1;
    while (width < most && width < cols &&
           (product > affordable * (double)width || size > room * (double)width)) {
        width *= 2;
    }
    return width;
}

/* ---- what C projects to ---------------------------------------------------------------------- */

/* Whether storing an element rounds it to f16 or bf16. */
static bool is_short(const check_view *c)
{
    return iso_dtype_size(c->dtype) == 2;
}

/* Returns the unit in the last place of a stored f16 or bf16. It is a power of two, so it is made
 * by setting the exponent of a double. */
static double unit_of(bool f16, uint16_t bits)
{
    uint64_t exponent = f16 ? bits >> 10 & 31 : bits >> 7 & 255;
    uint64_t made = ((exponent ? exponent : 1) + (f16 ? 1023 - 25 : 1023 - 134)) << 52;
    double unit;
    memcpy(&unit, &made, sizeof unit);
    return unit;
}

static void add_units(const judging *j, const void *elements, int64_t step, int64_t count,
                      double *sum, double *squares, int64_t sum_step)
{
    const uint16_t *bits = elements;
    bool f16 = j->c.dtype == ISO_F16;
    for (int64_t i = 0; i < count; i++) {
        double unit = j->share * unit_of(f16, bits[i * step]);
        sum[i * sum_step] += unit;
        squares[i * sum_step] += unit * unit;
    }
}

static const unsigned char *element_at(const judging *j, int64_t row, int64_t col)
{
    return j->c.data + (row * j->c.row_step + col * j->c.col_step) * iso_dtype_size(j->c.dtype);
}

/* For a view whose rows are contiguous: works row by row. */
static void project_along(judging *j, int64_t begin, int64_t end)
{
    enum { WIDE = 1024 };
    const check_projection *p = &j->want;
    bool rounded = is_short(&j->c) && j->share > 0;
    double line[WIDE];
    for (int64_t row = begin; row < end; row++) {
        for (int64_t block = 0; block < p->blocks; block++) {
            int64_t place = row * p->blocks + block;
            int64_t last = (block + 1) * p->width < j->c.cols ? (block + 1) * p->width : j->c.cols;
            double sum = 0;
            for (int64_t col = block * p->width; col < last; col += WIDE) {
                int64_t count = last - col < WIDE ? last - col : WIDE;
                const unsigned char *from = element_at(j, row, col);
                arith_widen(j->c.dtype, from, 1, count, line);
                for (int64_t i = 0; i < count; i++) {
                    sum += j->signs[col + i] * line[i];
                }
                if (rounded) {
                    add_units(j, from, 1, count, &j->units[place], &j->squares[place], 0);
                }
            }
            j->sums[place] = sum;
        }
    }
}

/* For a view whose columns are contiguous: works column by column, on a strip of rows at a time. */
static void project_across(judging *j, int64_t begin, int64_t end)
{
    enum { WIDE = 1024 };
    const check_projection *p = &j->want;
    bool rounded = is_short(&j->c) && j->share > 0;
    double line[WIDE];
    for (int64_t first = begin; first < end; first += WIDE) {
        int64_t count = end - first < WIDE ? end - first : WIDE;
        for (int64_t col = 0; col < j->c.cols; col++) {
            int64_t place = first * p->blocks + col / p->width;
            const unsigned char *from = element_at(j, first, col);
            arith_widen(j->c.dtype, from, 1, count, line);
            for (int64_t i = 0; i < count; i++) {
                j->sums[place + i * p->blocks] += j->signs[col] * line[i];
            }
            if (rounded) {
                add_units(j, from, 1, count, &j->units[place], &j->squares[place], p->blocks);
            }
        }
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void compare(judging *j, int64_t begin, int64_t end)
{
    const check_projection *p = &j->want;
    bool rounded = is_short(&j->c) && j->share > 0;
    double error = 0, bound = 1, squares = 0;
    for (int64_t row = begin; row < end; row++) {
        for (int64_t block = 0; block < p->blocks; block++) {
            int64_t place = row * p->blocks + block;
            double usual = p->norms[row] * p->usual[block];
            double limit = 1.01 * j->steps * p->norms[row] * p->spread[block];
            if (rounded) {
                limit += 1.01 * fmin(8 * sqrt(j->squares[place]), j->units[place]);
            }
            double off = fabs(j->sums[place] - p->sums[place]);
            if (!(off <= limit)) {
                pthread_mutex_lock(&j->lock);
                if (j->row < 0 || row < j->row) {
                    j->row = row;
                    j->block = block;
                    j->is = j->sums[place];
                    j->should = p->sums[place];
                    j->error = off;
                    j->bound = limit;
                }
                pthread_mutex_unlock(&j->lock);
                return;
            }
            if (off * bound > error * limit) {
                error = off;
                bound = limit;
            }
            if (usual > 0) {
                squares += off / usual * (off / usual);
            }
        }
    }
    pthread_mutex_lock(&j->lock);
    j->mean += squares;
    if (j->row < 0 && error * j->bound > j->error * bound) {
        j->error = error;
        j->bound = bound;
    }
    pthread_mutex_unlock(&j->lock);
}

static void judge_rows(void *context, int64_t begin, int64_t end)
{
    judging *j = context;
    if (j->c.col_step == 1) {
        project_along(j, begin, end);
    } else {
        project_across(j, begin, end);
    }
    compare(j, begin, end);
}

static bool say(const judging *j, int64_t member, bench_result *result)
{
    int64_t first = j->block * j->want.width, last = first + j->want.width - 1;
    bool across = strcmp(j->name, "row") != 0;
    char place[64] = "";
    result->error = j->error;
    result->bound = j->bound;
    if (last >= j->c.cols) {
        last = j->c.cols - 1;
    }
    if (j->item->gemm.batch > 1) {
        snprintf(place, sizeof place, " of member %lld", (long long)member);
    }
    if (first == last) {
        return check_fail(
            result, "element [%lld, %lld]%s is %.17g, expected %.17g within %.3g, off by %.3g",
            (long long)(across ? first : j->row), (long long)(across ? j->row : first), place,
            j->is * j->signs[first], j->should * j->signs[first], j->bound, j->error);
    }
    return check_fail(result,
                      "%s %lld%s: the sum of its elements %lld to %lld with random signs is %.17g, "
                      "expected %.17g within %.3g, off by %.3g: at least one of them is wrong",
                      j->name, (long long)j->row, place, (long long)first, (long long)last, j->is,
                      j->should, j->bound, j->error);
}

/* Checks that the errors are as small as the requested precision makes them. */
static bool is_precise(const judging *j, bench_result *result)
{
    double count = (double)j->want.rows * (double)j->want.blocks;
    double root = sqrt(j->mean / count);
    if (j->usual == 0 || root <= j->usual) {
        return true;
    }
    result->error = root;
    result->bound = j->usual;
    return check_fail(
        result,
        "every element is within its bound, but the root mean square of the errors "
        "is %.3g of an ordinary element, and %s allows %.3g: the product was computed "
        "in another precision",
        root, iso_dtype_name(j->item->dtype), j->usual);
}

/* ---- the two halves -------------------------------------------------------------------------- */

static check_view turned(check_view view)
{
    return (check_view){.dtype = view.dtype,
                        .data = view.data,
                        .rows = view.cols,
                        .cols = view.rows,
                        .row_step = view.col_step,
                        .col_step = view.row_step};
}

typedef struct operands {
    check_view a, b, c; /* op(A), op(B), C of one member */
} operands;

static operands operands_of(const bench_case *item, const check_data *data, const void *got,
                            int64_t member)
{
    const gemm_shape *g = &item->gemm;
    bool ta = g->trans_a != ISO_NO_TRANS, tb = g->trans_b != ISO_NO_TRANS;
    int64_t m = g->m, n = g->n, k = g->k;
    const unsigned char *a = data->x + member * m * k * item->element;
    const unsigned char *b = data->y + member * k * n * item->element;
    const iso_dtype type = bench_result_type(item);
    const unsigned char *c = (const unsigned char *)got + member * m * n * iso_dtype_size(type);
    return (operands){
        .a = {item->dtype, a, m, k, ta ? 1 : k, ta ? m : 1},
        .b = {item->dtype, b, k, n, tb ? 1 : n, tb ? k : 1},
        .c = {type, c, m, n, n, 1},
    };
}

static bool may_cut(const bench_case *item)
{
    return item->how == ISO_VARIANT_VENDOR;
}

static double roundoff_of(const bench_case *item)
{
    double u = arith_roundoff(item->dtype == ISO_F64 ? ISO_F64 : ISO_F32);
    return may_cut(item) ? 2 * u : u;
}

static double relative_error(const bench_case *item, int64_t width)
{
    double k = (double)item->gemm.k;
    double cut = item->math == ISO_MATH_TF32 ? 0x1p-9 + 0x1p-19 : 0;
    if (item->how == ISO_VARIANT_FIXED) {
        /* Clause 9.4 of docs/bits.md: 4 K 2^-p times the largest magnitudes. The norms of rows and
         * columns of uniform inputs are at least sqrt(K / 4) times these. */
        const iso_dtype type = item->dtype_c != 0 ? item->dtype_c : item->dtype;
        cut = type == ISO_F64 ? 0x1p-49 : type == ISO_F32 ? 0x1p-20 : 0x1p-11;
    }
    return (k + 8) * roundoff_of(item) + (k + 2 * (double)width + 8) * 0x1p-53 + cut;
}

static double usual_error(const bench_case *item)
{
    double k = (double)item->gemm.k;
    if (item->element == 2 || item->math == ISO_MATH_TF32) {
        return 0;
    }
    return (8 * sqrt(k) + k / 16 + 8) * roundoff_of(item);
}

/* Compares c with the product x y: their sums over blocks of c's columns. */
static bool judge_half(const bench_case *item, check_cache *cache, check_view x, check_view y,
                       check_view c, int64_t width, const char *name, int64_t member,
                       bench_result *result)
{
    uint64_t half = strcmp(name, "row") == 0 ? 1 : 2;
    uint64_t signs = arith_mix(item->seed ^ 0x7369676e73, half);
    uint64_t key = arith_mix(item->seed + (uint64_t)member * 4 + half, (uint64_t)width);
    bool fresh, good = false;
    judging j = {.item = item, .c = c, .name = name, .row = -1};
    void *memory =
        check_cache_get(cache, key, check_projection_bytes(c.rows, c.cols, width), &fresh);
    if (!memory) {
        return check_no_memory(result);
    }
    check_projection_place(&j.want, memory, c.rows, c.cols, width);
    int64_t count = c.rows * j.want.blocks;
    double *sign = calloc((size_t)c.cols, sizeof *sign);
    j.sums = calloc((size_t)count * (is_short(&c) ? 3 : 1), sizeof *j.sums);
    j.units = j.sums + count;
    j.squares = j.units + count;
    pthread_mutex_init(&j.lock, NULL);
    if (!sign || !j.sums || (fresh && !check_projection_make(&j.want, &x, &y, signs))) {
        check_cache_forget(cache, key);
        check_no_memory(result);
        goto done;
    }
    for (int64_t i = 0; i < c.cols; i++) {
        sign[i] = check_sign(signs, i);
    }
    j.signs = sign;
    if (!check_exact_gemm(item)) {
        j.steps = relative_error(item, width);
        j.usual = usual_error(item);
        j.share = may_cut(item) ? 1 : 0.5;
        j.bound = 1;
    }
    arith_parallel(c.rows, c.col_step == 1 ? 32 : 1024, judge_rows, &j);
    good = j.row < 0 ? is_precise(&j, result) : say(&j, member, result);
    if (good) {
        check_note_error(result, j.error, j.bound);
    }
done:
    pthread_mutex_destroy(&j.lock);
    free(sign);
    free(j.sums);
    return good;
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* Computes some elements exactly as docs/bits.md defines them, and compares the bits. */
static bool check_sample(const bench_case *item, const operands *o, int64_t member,
                         bench_result *result)
{
    const iso_dtype type = bench_result_type(item);
    int64_t k = item->gemm.k, size = item->element;
    double *a = calloc((size_t)k * 4 + 4, sizeof *a);
    bool good = a || check_no_memory(result);
    double *b = a + k;
    float *a32 = (float *)(void *)(b + k), *b32 = a32 + k;
    for (int32_t s = 0; s < item->samples && good; s++) {
        uint64_t pick =
            arith_mix(item->seed ^ 0x73616d706c65, (uint64_t)(member * item->samples + s));
        int64_t i = s == 0   ? 0
                    : s == 1 ? item->gemm.m - 1
                             : (int64_t)((pick >> 32) % (uint64_t)item->gemm.m);
        int64_t j = s == 0   ? 0
                    : s == 1 ? item->gemm.n - 1
                             : (int64_t)(pick % UINT32_MAX % (uint64_t)item->gemm.n);
        const unsigned char *got = o->c.data + (i * item->gemm.n + j) * iso_dtype_size(type);
        unsigned char want[8];
        arith_widen(item->dtype, o->a.data + i * o->a.row_step * size, o->a.col_step, k, a);
        arith_widen(item->dtype, o->b.data + j * o->b.col_step * size, o->b.row_step, k, b);
        if (item->how == ISO_VARIANT_FIXED) {
            /* rounded to f32 first, unless the type is f64 */
            double t = arith_fixed(type, k, a, b, 1);
            arith_store(type, want, type == ISO_F64 ? t : (double)(float)t);
        } else if (item->dtype == ISO_F64) {
            double out, acc, total;
            arith_gemm_f64(1, 1, k, 1, a, b, 0, &out, false, &out, &acc, &total);
            arith_store(type, want, out);
        } else {
            float out, acc, total;
            for (int64_t p = 0; p < k; p++) {
                a32[p] = (float)a[p];
                b32[p] = (float)b[p];
            }
            arith_gemm_f32(1, 1, k, 1, a32, b32, 0, &out, false, &out, &acc, &total);
            arith_store(type, want, (double)out);
        }
        if (memcmp(got, want, (size_t)iso_dtype_size(type)) != 0) {
            good = check_fail(result, "element [%lld, %lld] is %.17g, expected exactly %.17g",
                              (long long)i, (long long)j, arith_load(type, got),
                              arith_load(type, want));
        }
    }
    free(a);
    return good;
}

bool check_gemm_by(const bench_case *item, const check_data *data, const void *got, int64_t columns,
                   int64_t rows, bench_result *result)
{
    bool bits = item->same_bits;
    result->method = columns == 1 ? (bits ? "bound, bits of a sample" : "bound")
                                  : (bits ? "projection, bits of a sample" : "projection");
    for (int64_t member = 0; member < item->gemm.batch; member++) {
        operands o = operands_of(item, data, got, member);
        if (!judge_half(item, data->cache, o.a, o.b, o.c, columns, "row", member, result)) {
            return false;
        }
        if (columns > 1 && !judge_half(item, data->cache, turned(o.b), turned(o.a), turned(o.c),
                                       rows, "column", member, result)) {
            return false;
        }
        if (bits && !check_sample(item, &o, member, result)) {
            return false;
        }
    }
    return true;
}

bool check_gemm(const bench_case *item, const check_data *data, const void *got,
                bench_result *result)
{
    const gemm_shape *g = &item->gemm;
    if (arith_is_complex(item->dtype)) {
        return check_complex_gemm(item, data, got, result);
    }
    if (item->dtype == ISO_I8) {
        return check_integer_gemm(item, data, got, result);
    }
    if (item->samples == 0) {
        return check_whole_gemm(item, data, got, result);
    }
    return check_gemm_by(item, data, got, width_of(item, g->m, g->n, false),
                         width_of(item, g->n, g->m, true), result);
}
