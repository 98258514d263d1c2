/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - the models of products of more types and of solves have the bits of plain loops, which
 * are written from clauses 14 and 15 of docs/bits.md, and their checks find one wrong element. */
#include "bench/ops/trsm.h"
#include "bench/verify/verify.h"
#include "tests/workload/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1200 };

static uint64_t counter;

static double next(void)
{
    return ((double)(int64_t)(arith_mix(0x6d6f64, counter++) >> 40) - 0x1p23) / 0x1p23;
}

/* The same operations in f32 or f64. */
static bool wide;

static double one(double x)
{
    volatile float narrow = (float)x;
    return wide ? x : (double)narrow;
}

static double madd(double a, double b, double c)
{
    return wide ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
}

/* ---- products -------------------------------------------------------------------------------- */

/* A sum of `count` terms by clauses 4.2 and 4.3. */
static double sum_of(const double *a, int64_t a_step, const double *b, int64_t b_step,
                     int64_t count)
{
    double total = 0;
    for (int64_t first = 0; first < count; first += 1024) {
        double acc = 0;
        for (int64_t k = first; k < count && k < first + 1024; k++) {
            acc = madd(a[k * a_step], b[k * b_step], acc);
        }
        total = first == 0 ? acc : one(total + acc);
    }
    return total;
}

static void test_complex(void **state)
{
    static const double factors[][4] = {
        {1, 0, 0, 0}, {0.5, -0.25, 0, 0}, {-1, 0, 0.75, 0}, {0.3, 1.5, -0.5, 2}, {1, 2, 3, 0}};
    enum { K = 2050 };
    double *x = malloc(sizeof(double[4][K]));
    (void)state;
    for (int turn = 0; turn < 80; turn++) {
        const double *f = factors[turn % 5];
        const int64_t k = turn % 3 == 0 ? K : turn % 7;
        const bool ca = turn & 1, cb = turn & 2;
        wide = turn & 4;
        for (int64_t i = 0; i < 4 * K; i++) {
            x[i] = one(next());
        }
        const double *ar = x, *ai = x + K, *br = x + 2 * K, *bi = x + 3 * K;
        const arith_pair c = {one(next()), one(next())};
        const arith_sums sums = {sum_of(ar, 1, br, 1, k), sum_of(ai, 1, bi, 1, k),
                                 sum_of(ar, 1, bi, 1, k), sum_of(ai, 1, br, 1, k)};
        const double re = ca == cb ? one(sums.rr - sums.ii) : one(sums.rr + sums.ii);
        const double im = one((cb ? -sums.ri : sums.ri) + (ca ? -sums.ir : sums.ir));
        const double al = one(f[0]), be = one(f[1]), ga = one(f[2]), de = one(f[3]);
        double want_re, want_im;
        if (ga == 0 && de == 0) {
            want_re = be == 0 ? one(al * re) : madd(al, re, -one(be * im));
            want_im = be == 0 ? one(al * im) : madd(al, im, one(be * re));
        } else {
            double v_re = de == 0 ? one(ga * c.re) : madd(ga, c.re, -one(de * c.im));
            double v_im = de == 0 ? one(ga * c.im) : madd(ga, c.im, one(de * c.re));
            want_re = madd(al, re, be == 0 ? v_re : madd(-be, im, v_re));
            want_im = madd(al, im, be == 0 ? v_im : madd(be, re, v_im));
        }
        const iso_dtype part = wide ? ISO_F64 : ISO_F32;
        const arith_factors given = {.alpha = al, .alpha_imag = be, .beta = ga, .beta_imag = de};
        const arith_pair got =
            arith_complex_value(part, arith_total(part, &sums, (arith_conj){ca, cb}), &given, c);
        assert_memory_equal(&got.re, &want_re, sizeof want_re);
        assert_memory_equal(&got.im, &want_im, sizeof want_im);
    }
    free(x);
}

static void test_integers(void **state)
{
    enum { M = 3, N = 5, K = 70 };
    int8_t a[M * K], b[K * N];
    int32_t c[M * N], got[M * N];
    (void)state;
    arith_generate(ISO_I8, ARITH_UNIFORM, 1, M * K, a);
    arith_generate(ISO_I8, ARITH_EXTREMES, 2, K * N, b);
    arith_generate(ISO_I32, ARITH_UNIFORM, 3, M * N, c);
    arith_gemm_i8(M, N, K, -65537, a, b, INT32_MAX, c, got);
    for (int64_t i = 0; i < M * N; i++) {
        __int128 sum = 0;
        for (int64_t k = 0; k < K; k++) {
            sum += (__int128)a[i / N * K + k] * b[k * N + i % N];
        }
        assert_int_equal((uint32_t)got[i], (uint32_t)(-65537 * sum + (__int128)INT32_MAX * c[i]));
    }
}

/* ---- solves ---------------------------------------------------------------------------------- */

typedef struct pair {
    double re, im;
} pair;

static pair divided(pair r, pair d)
{
    if (fabs(d.re) >= fabs(d.im)) {
        double g = one(d.im / d.re), q = madd(d.im, g, d.re);
        return (pair){one(madd(r.im, g, r.re) / q), one(madd(-r.re, g, r.im) / q)};
    }
    double g = one(d.re / d.im), q = madd(d.re, g, d.im);
    return (pair){one(madd(r.re, g, r.im) / q), one(madd(r.im, g, -r.re) / q)};
}

/* Takes from r what the unknowns first to before last contribute. */
static void take(pair *r, const pair *a, const pair *x, int64_t first, int64_t last, bool complex)
{
    double rr = 0, ii = 0, ri = 0, ir = 0;
    for (int64_t k = first; k < last; k++) {
        rr = madd(a[k].re, x[k].re, rr);
        ii = madd(a[k].im, x[k].im, ii);
        ri = madd(a[k].re, x[k].im, ri);
        ir = madd(a[k].im, x[k].re, ir);
    }
    r->re = madd(-1, complex ? one(rr - ii) : rr, r->re);
    r->im = madd(-1, one(ri + ir), r->im);
}

/* One system, with one value after the other. Row i of `a` has the coefficients of unknown i. */
static void plain(const pair *a, pair *x, int64_t n, bool lower, bool unit, bool complex)
{
    for (int64_t done = 0; done < n; done++) {
        const int64_t i = lower ? done : n - 1 - done, panel = i / 1024, block = i / 64;
        const int64_t block_end = (block + 1) * 64 < n ? (block + 1) * 64 : n;
        const int64_t panel_end = (panel + 1) * 1024 < n ? (panel + 1) * 1024 : n;
        const pair *row = a + i * n;
        pair r = x[i];
        for (int64_t q = 0; lower && q < panel; q++) {
            take(&r, row, x, q * 1024, (q + 1) * 1024, complex);
        }
        for (int64_t q = (n - 1) / 1024; !lower && q > panel; q--) {
            take(&r, row, x, q * 1024, (q + 1) * 1024 < n ? (q + 1) * 1024 : n, complex);
        }
        if (lower && block % 16 != 0) {
            take(&r, row, x, panel * 1024, block * 64, complex);
        } else if (!lower && block_end < panel_end) {
            take(&r, row, x, block_end, panel_end, complex);
        }
        for (int64_t k = lower ? block * 64 : block_end - 1; k != i; k += lower ? 1 : -1) {
            r.re = madd(-row[k].re, x[k].re, r.re);
            if (complex) {
                r.re = madd(row[k].im, x[k].im, r.re);
                r.im = madd(-row[k].re, x[k].im, r.im);
                r.im = madd(-row[k].im, x[k].re, r.im);
            }
        }
        x[i] = unit ? r : complex ? divided(r, row[i]) : (pair){one(r.re / row[i].re), 0};
    }
}

static void put(void *array, int64_t at, double value)
{
    if (wide) {
        ((double *)array)[at] = value;
    } else {
        ((float *)array)[at] = (float)value;
    }
}

static double get(const void *array, int64_t at)
{
    return wide ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static void solve(int64_t n, bool lower, bool unit, bool complex)
{
    enum { SYSTEMS = 3 };
    pair *a = calloc((size_t)(n * n + n * SYSTEMS), sizeof *a), *x = a + n * n;
    double *flat = calloc((size_t)(2 * n * (n + SYSTEMS)), sizeof *flat);
    void *re = flat, *im = flat + n * n, *x_re = flat + 2 * n * n,
         *x_im = flat + n * (2 * n + SYSTEMS);
    for (int64_t i = 0; i < n * n; i++) {
        const bool diagonal = i / n == i % n;
        const double scale = diagonal ? 1 : 1.0 / (double)n;
        a[i].re = one((diagonal ? 1.5 : 0) + scale * next());
        a[i].im = complex ? one(scale * 3 * next()) : 0;
        put(re, i, a[i].re);
        put(im, i, a[i].im);
    }
    for (int64_t i = 0; i < n * SYSTEMS; i++) { /* system by system */
        x[i] = (pair){one(next()), complex ? one(next()) : 0};
        put(x_re, i % n * SYSTEMS + i / n, x[i].re);
        put(x_im, i % n * SYSTEMS + i / n, x[i].im);
    }
    const arith_triangle t = {.wide = wide ? ISO_F64 : ISO_F32,
                              .lower = lower,
                              .unit = unit,
                              .n = n,
                              .systems = SYSTEMS,
                              .re = re,
                              .im = complex ? im : NULL,
                              .factors = {.alpha = 1}};
    assert_true(arith_trsm(&t, x_re, complex ? x_im : NULL));
    for (int64_t s = 0; s < SYSTEMS; s++) {
        plain(a, x + s * n, n, lower, unit, complex);
        for (int64_t i = 0; i < n; i++) {
            const double got[] = {get(x_re, i * SYSTEMS + s), get(x_im, i * SYSTEMS + s)};
            assert_memory_equal(&got[0], &x[s * n + i].re, sizeof got[0]);
            if (complex) {
                assert_memory_equal(&got[1], &x[s * n + i].im, sizeof got[1]);
            }
        }
    }
    free(flat);
    free(a);
}

static void test_solves(void **state)
{
    static const int64_t sizes[] = {1, 63, 64, 65, 130, 1025, MOST};
    (void)state;
    for (int i = 0; i < COUNT(sizes); i++) {
        for (int how = 0; how < (sizes[i] > 1000 ? 4 : 16); how++) {
            wide = how & 8 || (sizes[i] > 1000 && how & 2);
            solve(sizes[i], how & 1, how & 4, how & 2);
        }
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Computes every third case of an operation on the CPU, and then changes one element of the result.
 */
static void changed(const bench_op *op, const char *type)
{
    verify_list *list = verify_list_create(false, false, 1);
    verify_runner *runner = verify_runner_open("openmp", 0);
    verify_state *made = verify_state_create();
    int found = 0;
    assert_non_null(runner);
    for (int32_t i = 0; i < list->count && found < 25; i++) {
        const bench_case *item = &list->cases[i];
        bench_needs needs;
        bench_result result = {0};
        if (item->op != op || strcmp(item->type, type) != 0 || item->how != ISO_VARIANT_TILED ||
            item->fill != ARITH_UNIFORM) {
            continue;
        }
        bench_case_needs(item, &needs);
        unsigned char *got = verify_compute(made, runner, item, NULL, NULL, &result);
        if (needs.results == 0 || result.status == BENCH_UNSUPPORTED) {
            continue;
        }
        const check_data data = {.x = made->problem.dense[0].data,
                                 .y = made->problem.dense[needs.inputs - 1].data,
                                 .before = made->problem.dense[2].data,
                                 .cache = made->cache};
        if (!got || !op->check(item, &data, got, &result)) {
            fail_msg("%s: %s", item->id, result.reason);
        }
        bench_case vendor = *item; /* checked by a bound alone */
        vendor.how = ISO_VARIANT_VENDOR;
        vendor.same_bits = false;
        if (!op->check(&vendor, &data, got, &result)) {
            fail_msg("%s, as a vendor's: %s", item->id, result.reason);
        }
        const int64_t at = (int64_t)(arith_mix(7, (uint64_t)i) % (uint64_t)needs.result);
        got[at] ^= 1; /* one bit of one element, or of the triangle that must not change */
        if (op->check(item, &data, got, &result)) {
            fail_msg("%s: a bit of byte %lld was changed, and the check found nothing", item->id,
                     (long long)at);
        }
        assert_int_equal(result.status, BENCH_FAILED);
        found++;
    }
    if (found == 0) {
        print_message("no case of %s ran in %s\n", op->name, type);
    }
    assert_true(found > 0);
    verify_state_destroy(made);
    verify_runner_close(runner);
    verify_list_destroy(list);
}

static void test_one_wrong_element(void **state)
{
    static const char *const types[] = {"f32", "f64", "c64", "c128"};
    (void)state;
    for (int i = 0; i < COUNT(types); i++) {
        changed(&bench_syrk, types[i]);
        changed(&bench_trsm, types[i]);
    }
    changed(&bench_gemm, "c64");
    changed(&bench_gemm, "c128");
    changed(&bench_gemm, "i8");
    changed(&bench_gemm, "f16-f32");
}

/* A measured solve is right after each call, and one changed bit of X is found. */
static void measured(const char *type, const char *side)
{
    char text[256];
    snprintf(text, sizeof text,
             "[{\"op\": \"trsm\", \"variant\": \"tiled\", \"dtype\": \"%s\", \"m\": 70, \"n\": 33, "
             "\"side\": \"%s\"}]",
             type, side);
    work_list list = list_of(text, 5);
    verify_runner *runner = verify_runner_open("openmp", 0);
    bench_result result = {0};
    int64_t bytes[BENCH_ARRAYS];
    iso_operand arrays[2] = {0};
    assert_non_null(runner);
    void *self = trsm_own.create(list.items, runner->device);
    assert_int_equal(trsm_own.arrays(list.items, bytes), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(iso_buffer_create(runner->device, bytes[i], &arrays[i].buffer), ISO_OK);
    }
    assert_int_equal(trsm_own.load(self, runner->stream, arrays, 0, true), ISO_OK);
    for (int calls = 0; calls < 4; calls++) {
        if (!trsm_own.check(self, runner->stream, arrays, &result)) {
            fail_msg("%s: %s", list.items->id, result.reason);
        }
        assert_int_equal(trsm_own.submit(self, runner->stream), ISO_OK);
    }
    assert_true(trsm_own.check(self, runner->stream, arrays, &result)); /* after an odd number */
    for (int64_t i = 0; i < 40; i++) {
        unsigned char byte, changed;
        const iso_operand at = {arrays[1].buffer,
                                (int64_t)(arith_mix(3, (uint64_t)i) % (uint64_t)bytes[1])};
        assert_int_equal(iso_read(runner->stream, &byte, at, 1), ISO_OK);
        assert_int_equal(iso_stream_sync(runner->stream), ISO_OK);
        changed = byte ^ 1;
        assert_int_equal(iso_write(runner->stream, at, &changed, 1), ISO_OK);
        assert_false(trsm_own.check(self, runner->stream, arrays, &result));
        assert_int_equal(iso_write(runner->stream, at, &byte, 1), ISO_OK);
    }
    assert_true(trsm_own.check(self, runner->stream, arrays, &result));
    trsm_own.destroy(self);
    verify_runner_close(runner);
    work_list_free(&list);
}

static void test_measured_solves(void **state)
{
    (void)state;
    measured("f32", "left");
    measured("f64", "right");
    measured("c64", "right");
    measured("c128", "left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complex), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_solves), cmocka_unit_test(test_one_wrong_element),
        cmocka_unit_test(test_measured_solves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
