/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - the check of products finds every planted error, and none in correct results. */
#include "tests/workload/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer is slow and finds nothing more in further repetitions. */
#if defined(__SANITIZE_ADDRESS__)
enum { TIMES = 1, SEEDS = 24 };
#else
enum { TIMES = 4, SEEDS = 200 };
#endif

/* One product computed by the CPU backend. */
typedef struct product {
    work_list list;
    work_inputs *inputs;
    work_target *target;
    const bench_case *item;
    unsigned char *c;
    int64_t bytes;
    double usual; /* root mean square of its elements */
} product;

static double load(const product *p, int64_t at)
{
    return arith_load(p->item->dtype, p->c + at * p->item->element);
}

static void compute(product *p, const char *type, const char *shape, uint64_t seed)
{
    char text[256];
    double nanoseconds, squares = 0;
    bench_result result;
    int code;
    snprintf(text, sizeof text,
             "[{\"op\": \"gemm\", \"variant\": \"tiled\", \"dtype\": \"%s\", \"size\": \"%s\"}]",
             type, shape);
    p->list = list_of(text, seed);
    p->item = p->list.items;
    p->inputs = work_inputs_create(seed, &p->list);
    p->target = work_target_open("openmp", ISO_MATH_STRICT, p->inputs, &code);
    assert_non_null(p->target);
    work_job *job = work_job_create(p->target, p->item, 0, &result);
    if (!work_job_prepare(job, &nanoseconds, &result) || work_job_submit(job) != ISO_OK ||
        !work_job_check(job, &result)) {
        fail_msg("%s, seed %llu: %s", p->item->id, (unsigned long long)seed, result.reason);
    }
    bench_needs needs;
    bench_case_needs(p->item, &needs);
    p->bytes = needs.result;
    p->c = malloc((size_t)p->bytes);
    assert_non_null(p->c);
    memcpy(p->c, work_inputs_scratch(p->inputs, p->bytes), (size_t)p->bytes);
    for (int64_t i = 0; i < needs.results; i++) {
        squares += load(p, i) * load(p, i);
    }
    p->usual = sqrt(squares / (double)needs.results);
    work_job_destroy(job);
}

static void finish(product *p)
{
    work_target_close(p->target);
    work_inputs_destroy(p->inputs);
    work_list_free(&p->list);
    free(p->c);
}

static bool passes_as(const product *p, const bench_case *item, int64_t columns, int64_t rows,
                      bench_result *result)
{
    bench_needs needs;
    int64_t there;
    bench_case_needs(item, &needs);
    const unsigned char *block = work_inputs_block(p->inputs, item->dtype, &there);
    check_cache *cache = check_cache_create(1 << 24);
    check_data data = {.x = block + needs.at[0], .y = block + needs.at[1], .cache = cache};
    *result = (bench_result){.status = BENCH_OK};
    assert_non_null(cache);
    bool good = check_gemm_by(item, &data, p->c, columns, rows, result);
    check_cache_destroy(cache);
    return good;
}

/* Checks it like a vendor library's product, which has no defined bits and the widest bounds. */
static bool passes(const product *p, int64_t columns, int64_t rows, bench_result *result)
{
    bench_case item = *p->item;
    item.how = ISO_VARIANT_VENDOR;
    item.same_bits = false;
    return passes_as(p, &item, columns, rows, result);
}

static void found(const product *p, int64_t columns, int64_t rows, const char *what)
{
    bench_result result;
    if (passes(p, columns, rows, &result)) {
        fail_msg("%s by %lld, %lld: %s passes", p->item->id, (long long)columns, (long long)rows,
                 what);
    }
    assert_int_equal(result.status, BENCH_FAILED);
    assert_string_not_equal(result.reason, "");
}

typedef struct mistake {
    const char *name;
    void (*make)(product *p, uint64_t pick);
} mistake;

static void put(product *p, int64_t at, double value)
{
    arith_store(p->item->dtype, p->c + at * p->item->element, value);
}

/* An element that the mistake changes by more than rounding: by a quarter of a usual element. */
static int64_t choose(const product *p, uint64_t pick, int64_t away, double factor)
{
    int64_t count = p->item->gemm.m * p->item->gemm.n;
    for (uint64_t i = 0;; i++) {
        int64_t at = (int64_t)(arith_mix(pick, i) % (uint64_t)(count - away));
        if (fabs(load(p, at) - factor * load(p, at + away)) > p->usual / 4) {
            return at;
        }
    }
}

static void zero_element(product *p, uint64_t pick)
{
    put(p, choose(p, pick, 0, 0), 0);
}

static void turn_sign(product *p, uint64_t pick)
{
    int64_t at = choose(p, pick, 0, -1);
    put(p, at, -load(p, at));
}

static void take_right(product *p, uint64_t pick)
{
    int64_t at = choose(p, pick, 1, 1);
    put(p, at, load(p, at + 1));
}

static void take_below(product *p, uint64_t pick)
{
    int64_t at = choose(p, pick, p->item->gemm.n, 1);
    put(p, at, load(p, at + p->item->gemm.n));
}

static void swap_right(product *p, uint64_t pick)
{
    int64_t at = choose(p, pick, 1, 1);
    double value = load(p, at);
    put(p, at, load(p, at + 1));
    put(p, at + 1, value);
}

static void make_nan(product *p, uint64_t pick)
{
    arith_set_nan(p->item->dtype, p->c + choose(p, pick, 0, 0) * p->item->element);
}

static void last_element(product *p, uint64_t pick)
{
    (void)pick;
    put(p, p->item->gemm.m * p->item->gemm.n - 1, load(p, 0) + p->usual);
}

static void clear_row(product *p, uint64_t pick)
{
    int64_t row = (int64_t)(pick % (uint64_t)p->item->gemm.m),
            bytes = p->item->gemm.n * p->item->element;
    memset(p->c + row * bytes, 0, (size_t)bytes);
}

static void swap_rows(product *p, uint64_t pick)
{
    int64_t row = (int64_t)(pick % (uint64_t)(p->item->gemm.m - 1)), n = p->item->gemm.n;
    for (int64_t j = 0; j < n; j++) {
        double value = load(p, row * n + j);
        put(p, row * n + j, load(p, (row + 1) * n + j));
        put(p, (row + 1) * n + j, value);
    }
}

static void swap_columns(product *p, uint64_t pick)
{
    int64_t n = p->item->gemm.n, col = (int64_t)(pick % (uint64_t)(n - 1));
    for (int64_t i = 0; i < p->item->gemm.m; i++) {
        double value = load(p, i * n + col);
        put(p, i * n + col, load(p, i * n + col + 1));
        put(p, i * n + col + 1, value);
    }
}

static void change_tile(product *p, uint64_t pick, bool zero)
{
    enum { TILE = 16 };
    int64_t n = p->item->gemm.n;
    int64_t row = (int64_t)(pick % (uint64_t)(p->item->gemm.m - TILE));
    int64_t col = (int64_t)((pick >> 20) % (uint64_t)(n - 2 * TILE));
    for (int64_t i = row; i < row + TILE; i++) {
        for (int64_t j = col; j < col + TILE; j++) {
            put(p, i * n + j, zero ? 0 : load(p, i * n + j + TILE));
        }
    }
}

static void zero_tile(product *p, uint64_t pick)
{
    change_tile(p, pick, true);
}

static void wrong_tile(product *p, uint64_t pick)
{
    change_tile(p, pick, false);
}

static void turn_all(product *p, uint64_t pick)
{
    (void)pick;
    for (int64_t i = 0; i < p->item->gemm.m * p->item->gemm.n; i++) {
        put(p, i, -load(p, i));
    }
}

static const mistake mistakes[] = {
    {"an element of 0", zero_element},
    {"a turned sign", turn_sign},
    {"its right neighbour's", take_right},
    {"its lower neighbour's", take_below},
    {"two changed places", swap_right},
    {"a NaN", make_nan},
    {"the last element", last_element},
    {"a row of 0", clear_row},
    {"two rows changed places", swap_rows},
    {"two columns changed places", swap_columns},
    {"a tile of 0", zero_tile},
    {"a tile of its neighbour's", wrong_tile},
    {"all signs turned", turn_all},
};

static void try_mistakes(const char *type, const char *shape, int64_t columns, int64_t rows,
                         int times)
{
    product p;
    bench_result result;
    compute(&p, type, shape, 11);
    unsigned char *right = malloc((size_t)p.bytes);
    assert_non_null(right);
    memcpy(right, p.c, (size_t)p.bytes);
    if (!passes(&p, columns, rows, &result)) {
        fail_msg("%s by %lld, %lld: what is right fails: %s", p.item->id, (long long)columns,
                 (long long)rows, result.reason);
    }
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        for (int t = 0; t < times; t++) {
            mistakes[i].make(&p, arith_mix(i, (uint64_t)t));
            found(&p, columns, rows, mistakes[i].name);
            memcpy(p.c, right, (size_t)p.bytes);
        }
    }
    assert_true(passes(&p, columns, rows, &result));
    free(right);
    finish(&p);
}

static const char *const types[] = {"f16", "bf16", "f32", "f64"};

static void test_mistakes(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        try_mistakes(types[t], "257x257x257", 1, 1, 2 * TIMES);
        try_mistakes(types[t], "257x257x257", 16, 64, 2 * TIMES);
        try_mistakes(types[t], "130x1024x333", 16, 256, TIMES);
        try_mistakes(types[t], "100x70x5000", 16, 64, TIMES);
    }
    try_mistakes("f64", "257x257x257", 256, 256, 2 * TIMES);
}

/* The largest sizes; they take long. */
static void test_large(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        try_mistakes(types[t], "1024x1024x1024", 1, 1, 4);
        try_mistakes(types[t], "4096x4096x4096", t == 3 ? 64 : 16, 64, 2);
    }
}

static void test_never_rejected(void **state)
{
    double nearest[4] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int t = 0; t < 4; t++) {
            const char *shape = seed % 4 == 0   ? "40x33x1500"
                                : seed % 4 == 1 ? "17x64x3"
                                                : "64x48x130";
            product p;
            bench_result result;
            compute(&p, types[t], shape, seed);
            for (int64_t width = 1; width <= 64; width *= 4) {
                if (!passes(&p, width, width, &result)) {
                    fail_msg("%s, seed %llu, by %lld: %s", p.item->id, (unsigned long long)seed,
                             (long long)width, result.reason);
                }
                nearest[t] = fmax(nearest[t], result.error / result.bound);
            }
            finish(&p);
        }
    }
    for (int t = 0; t < 4; t++) {
        print_message("%s: the nearest to its bound was at %.3g of it\n", types[t], nearest[t]);
    }
}

/* A float with the last 13 bits of its fraction cut off. */
static float cut(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= ~0x1fffu;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static void test_tf32(void **state)
{
    static const char *const shapes[] = {"64x48x1", "64x48x200", "40x64x3000", "16x32x16384"};
    (void)state;
    for (int s = 0; s < 4; s++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            product p;
            bench_needs needs;
            bench_result result;
            int64_t there;
            compute(&p, "f32", shapes[s], seed);
            bench_case_needs(p.item, &needs);
            const unsigned char *block = work_inputs_block(p.inputs, ISO_F32, &there);
            const float *a = (const float *)(const void *)(block + needs.at[0]);
            const float *b = (const float *)(const void *)(block + needs.at[1]);
            for (int64_t i = 0; i < p.item->gemm.m; i++) {
                for (int64_t j = 0; j < p.item->gemm.n; j++) {
                    float sum = 0;
                    for (int64_t k = 0; k < p.item->gemm.k; k++) {
                        sum += cut(a[i * p.item->gemm.k + k]) * cut(b[k * p.item->gemm.n + j]);
                    }
                    put(&p, i * p.item->gemm.n + j, (double)sum);
                }
            }
            bench_case asked = *p.item;
            asked.how = ISO_VARIANT_VENDOR;
            asked.same_bits = false;
            asked.math = ISO_MATH_TF32;
            for (int64_t width = 1; width <= 16; width *= 16) {
                if (!passes_as(&p, &asked, width, width, &result)) {
                    fail_msg("%s: tf32 that was asked for: %s", p.item->id, result.reason);
                }
                found(&p, width, width, "tf32 that nobody asked for");
            }
            finish(&p);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest quick[] = {cmocka_unit_test(test_mistakes),
                                       cmocka_unit_test(test_never_rejected),
                                       cmocka_unit_test(test_tf32)};
    const struct CMUnitTest large[] = {cmocka_unit_test(test_large)};
    if (argc > 1 && strcmp(argv[1], "large") == 0) {
        return cmocka_run_group_tests(large, NULL, NULL);
    }
    return cmocka_run_group_tests(quick, NULL, NULL);
}
