/* SPDX-License-Identifier: Apache-2.0 */
/* core_fixed.c - fixed products whose great terms cancel, so that the loss of a single bit of a sum
 * shows, at lengths around every limit of the kernels; and hostile ones, whose bits are those of
 * plain C. With each instruction set. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 33, COLS_MAX = 35 };

static const char *const sets[] = {"generic", "neon",   "sve256",    "sve512",
                                   "avx2",    "avx512", "avx512vnni"};
enum { SETS = sizeof sets / sizeof sets[0] };

/* Opens the device with a set. Returns 0 if this processor or this build does not have it. */
static int open_set(const char *set, iso_device *device, iso_stream *stream)
{
    setenv("ISOMER_CPU_ISA", set, 1);
    const iso_status status = iso_device_open("openmp", device);
    unsetenv("ISOMER_CPU_ISA");
    if (status == ISO_OK) {
        works(iso_stream_create(*device, 0, stream));
    }
    return status == ISO_OK;
}

static void close_set(iso_device device, iso_stream stream)
{
    works(iso_stream_destroy(stream));
    works(iso_device_close(device));
}

/* What a test does with one set; `tried` counts those before it. */
typedef void work(iso_device device, iso_stream stream, const char *set, int tried);

static void each_set(work *run_with)
{
    int tried = 0;
    for (int set = 0; set < SETS; set++) {
        iso_device device;
        iso_stream stream;
        if (open_set(sets[set], &device, &stream)) {
            print_message("%s\n", sets[set]);
            run_with(device, stream, sets[set], tried++);
            close_set(device, stream);
        }
    }
    assert_true(tried > 0);
}

/* A type's bits of 1, and its digits. */
typedef struct format {
    iso_dtype dtype;
    int bytes, digits;
    uint64_t one;
} format;

static const format formats[] = {
    {ISO_F16, 2, 11, 0x3c00},
    {ISO_BF16, 2, 8, 0x3f80},
    {ISO_F32, 4, 24, 0x3f800000},
    {ISO_F64, 8, 53, 0x3ff0000000000000},
};
enum { TYPES = sizeof formats / sizeof formats[0] };

static void put(char *to, const format *f, uint64_t bits, int negative)
{
    bits |= (uint64_t)(negative != 0) << (8 * f->bytes - 1);
    memcpy(to, &bits, (size_t)f->bytes);
}

/* Row i of A is +x or -x in every element, column j of B first has k / 2 times +x or -x and then as
 * many times the opposite, but its last element is smaller by one unit in the last place. x is just
 * below 1. So the sum is x times that unit. */
static void fill(const format *f, int64_t rows, int64_t cols, int64_t k, char *a, char *b)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t p = 0; p < k; p++) {
            put(a + (i * k + p) * f->bytes, f, f->one - 1, (int)(i & 1));
        }
    }
    for (int64_t p = 0; p < k; p++) {
        for (int64_t j = 0; j < cols; j++) {
            put(b + (p * cols + j) * f->bytes, f, f->one - (p == k - 1 ? 2 : 1),
                (p >= k / 2) ^ (j % 3 == 1));
        }
    }
}

/* Runs a product of operands in host memory. */
static void run(iso_device device, iso_stream stream, iso_gemm_args *args, const void *a,
                int64_t a_bytes, const void *b, int64_t b_bytes, void *c, int64_t c_bytes)
{
    args->variant = ISO_VARIANT_FIXED;
    works(iso_buffer_create(device, a_bytes, &args->a.buffer));
    works(iso_buffer_create(device, b_bytes, &args->b.buffer));
    works(iso_buffer_create(device, c_bytes, &args->c.buffer));
    works(iso_write(stream, args->a, a, a_bytes));
    works(iso_write(stream, args->b, b, b_bytes));
    works(iso_write(stream, args->c, c, c_bytes));
    works(iso_gemm(stream, args));
    works(iso_read(stream, c, args->c, c_bytes));
    works(iso_stream_sync(stream));
    works(iso_buffer_destroy(args->a.buffer));
    works(iso_buffer_destroy(args->b.buffer));
    works(iso_buffer_destroy(args->c.buffer));
}

/* ---- cancellation ---------------------------------------------------------------------------- */

static void check(iso_device device, iso_stream stream, const format *f, int64_t rows, int64_t cols,
                  int64_t k)
{
    char *a = calloc((size_t)(rows * k), (size_t)f->bytes);
    char *b = calloc((size_t)(cols * k), (size_t)f->bytes);
    char c[ROWS_MAX * COLS_MAX * 8] = {0};
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    assert_true(a && b);
    fill(f, rows, cols, k, a, b);
    args.dtype = f->dtype;
    args.m = rows;
    args.n = cols;
    args.k = k;
    run(device, stream, &args, a, rows * k * f->bytes, b, cols * k * f->bytes, c,
        rows * cols * f->bytes);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            char expected[8];
            const char *is = c + (i * cols + j) * f->bytes;
            const uint64_t t = f->one - 1 - ((uint64_t)f->digits << (f->digits - 1));
            put(expected, f, t, (int)(i & 1) ^ (j % 3 == 1));
            if (memcmp(expected, is, (size_t)f->bytes) != 0) {
                uint64_t bits = 0;
                memcpy(&bits, is, (size_t)f->bytes);
                fail_msg("%s, k = %lld: element (%lld, %lld) is 0x%llx", iso_dtype_name(f->dtype),
                         (long long)k, (long long)i, (long long)j, (unsigned long long)bits);
            }
        }
    }
    free(a);
    free(b);
}

static void cancel(iso_device device, iso_stream stream, const char *set, int tried)
{
    static const int64_t depths[] = {2,   30,  32,   34,   62,   64,   66,    128,   258,   512,
                                     514, 700, 1762, 1764, 2050, 8192, 16386, 32770, 65536, 65538};
    (void)tried;
    for (int type = 0; type < TYPES; type++) {
        for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
            check(device, stream, &formats[type], 15, COLS_MAX, depths[i]);
            if (strcmp(set, "generic") != 0) { /* other sets may have another way for more rows */
                check(device, stream, &formats[type], ROWS_MAX, COLS_MAX, depths[i]);
            }
        }
    }
}

static void test_cancellation(void **state)
{
    (void)state;
    each_set(cancel);
}

/* ---- the greatest sums ----------------------------------------------------------------------- */

/* All elements of A are 2^53 - below[0], those of column j of B 2^53 - below[1] or its opposite,
 * both divided by 2^53. */
static void check_greatest(iso_device device, iso_stream stream, const int below[2], int64_t k)
{
    const format *f = &formats[TYPES - 1];
    char *a = malloc((size_t)(ROWS_MAX * k * f->bytes));
    char *b = malloc((size_t)(COLS_MAX * k * f->bytes));
    double c[ROWS_MAX * COLS_MAX] = {0};
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    assert_true(a && b);
    for (int64_t i = 0; i < ROWS_MAX * k; i++) {
        put(a + i * f->bytes, f, f->one - (uint64_t)below[0], 0);
    }
    for (int64_t i = 0; i < COLS_MAX * k; i++) {
        put(b + i * f->bytes, f, f->one - (uint64_t)below[1], i % COLS_MAX % 2 == 1);
    }
    args.dtype = ISO_F64;
    args.m = ROWS_MAX;
    args.n = COLS_MAX;
    args.k = k;
    run(device, stream, &args, a, ROWS_MAX * k * f->bytes, b, COLS_MAX * k * f->bytes, c, sizeof c);
    /* The sum less the product of both small numbers, k / 2^106 times. That cannot decide a tie: k
     * and the sum of the small numbers are odd. */
    const double t = (double)k - (double)((below[0] + below[1]) * k) * 0x1p-53;
    for (int i = 0; i < ROWS_MAX * COLS_MAX; i++) {
        if (c[i] != (i % COLS_MAX % 2 == 1 ? -t : t)) {
            fail_msg("k = %lld: element %d is %a, not %a", (long long)k, i, c[i], t);
        }
    }
    free(a);
    free(b);
}

/* With 14, 15 and 16 moduli, and with more steps than residues are used for: bytes whose products
 * are the greatest modulo 256 (-128 and 255) and modulo 255 (127 and 254, in both orders), where a
 * sum that left 32 bits would be wrong. */
static void greatest(iso_device device, iso_stream stream, const char *set, int tried)
{
    static const int below[][2] = {{128, 1}, {160, 33}, {33, 160}};
    static const int64_t depths[] = {3, 7, 9, 257, 1761, 1763, 1765, 65535, 66999};
    (void)tried;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        for (size_t j = 0; j < sizeof below / sizeof below[0]; j++) {
            if (depths[i] < 65535 || strcmp(set, "generic") != 0) { /* that one is slow */
                check_greatest(device, stream, below[j], depths[i]);
            }
        }
    }
}

static void test_greatest(void **state)
{
    (void)state;
    each_set(greatest);
}

/* ---- halves ---------------------------------------------------------------------------------- */

/* Sums of 2^112, a half of their last place, and 1 more or less, which alone decides the rounding;
 * in columns with `odd` the number below is odd. */
static void halves(iso_device device, iso_stream stream, const char *set, int tried)
{
    enum { TERMS = 256, DEPTH = TERMS + 3 };
    static double a[ROWS_MAX][DEPTH], b[DEPTH][COLS_MAX], c[ROWS_MAX][COLS_MAX];
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    (void)tried;
    for (int p = 0; p < DEPTH; p++) {
        const double x[] = {0x1p-24, 0x1p-24, 0x1p-53};
        const double y[] = {0x1p-23, 0x1p-22, 0x1p-53};
        for (int i = 0; i < ROWS_MAX; i++) {
            a[i][p] = p < TERMS ? 0.5 : x[p - TERMS];
        }
        for (int j = 0; j < COLS_MAX; j++) {
            const int odd = j % 4 >= 2;
            b[p][j] = p < TERMS ? 0.5 : p == TERMS + 1 ? odd * y[1] : y[p - TERMS];
            b[p][j] *= p == DEPTH - 1 && j % 2 ? -1 : 1;
            b[p][j] *= j % 3 ? 1 : -1;
        }
    }
    args.dtype = ISO_F64;
    args.m = ROWS_MAX;
    args.n = COLS_MAX;
    args.k = DEPTH;
    run(device, stream, &args, a, sizeof a, b, sizeof b, c, sizeof c);
    for (int j = 0; j < COLS_MAX; j++) {
        const int units = (j % 4 >= 2) + (j % 2 == 0);
        const double t = (j % 3 ? 1 : -1) * (64 + units * 0x1p-46);
        if (c[ROWS_MAX - 1][j] != t) {
            fail_msg("%s, column %d: %a, not %a", set, j, c[ROWS_MAX - 1][j], t);
        }
    }
}

static void test_halves(void **state)
{
    (void)state;
    each_set(halves);
}

/* ---- hostile products ------------------------------------------------------------------------ */

static uint64_t seed;

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return seed ^ seed >> 29;
}

/* Exponent fields from `low` on, as many as `span`; with `odd`, some infinities and NaN. */
static void fill_wild(const format *f, char *to, int64_t count, uint64_t low, uint64_t span,
                      int odd)
{
    const int fraction = f->digits - 1;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = draw() & ((UINT64_C(1) << fraction) - 1);
        const uint64_t field = low + draw() % span;
        const int strange = odd && draw() % 499 == 0;
        const uint64_t top = (f->one >> fraction) * 2 + 1;
        put(to + i * f->bytes, f,
            strange ? top << fraction | (bits & (draw() & 1)) : field << fraction | bits,
            (int)(draw() >> 40 & 1));
    }
}

enum { M = 47, N = 70, K = 133, MEMBERS = 2, PAD = 3, WILD_BYTES = MEMBERS * 140 * 140 * 8 };

/* The digest of a NaN is that of any other. */
static int same(const format *f, const char *x, const char *y)
{
    const uint64_t infinity = ((f->one >> (f->digits - 1)) * 2 + 1) << (f->digits - 1);
    const uint64_t magnitude = (UINT64_C(1) << (8 * f->bytes - 1)) - 1;
    uint64_t a = 0;
    uint64_t b = 0;
    memcpy(&a, x, (size_t)f->bytes);
    memcpy(&b, y, (size_t)f->bytes);
    return a == b || ((a & magnitude) > infinity && (b & magnitude) > infinity);
}

static void make_wild(const format *f, int kind, char *a, char *b, char *c)
{
    const uint64_t fields = (f->one >> (f->digits - 1)) * 2 + 1;
    const uint64_t middle = fields / 2 - 3;
    const uint64_t lows[][2] = {{0, 0},          {0, 0},          {middle, middle},
                                {fields - 3, 0}, {0, fields - 3}, {middle, middle},
                                {0, 0}};
    const uint64_t spans[][2] = {{fields, fields}, {2, 2}, {4, 4},          {3, 2},
                                 {9, 3},           {4, 4}, {fields, fields}};
    const int64_t count = WILD_BYTES / 8;
    seed = (uint64_t)kind;
    fill_wild(f, a, count, lows[kind][0], spans[kind][0], kind >= 5);
    fill_wild(f, b, count, lows[kind][1], spans[kind][1], kind >= 5);
    fill_wild(f, c, count, fields / 2, 1, 0);
}

/* One product of each kind; its C is compared with that of the plain set, or becomes it. */
static void wild(iso_device device, iso_stream stream, const format *f, int kind, char *plain,
                 int first)
{
    static char a[WILD_BYTES], b[WILD_BYTES], c[WILD_BYTES];
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    make_wild(f, kind, a, b, c);
    args.dtype = f->dtype;
    args.m = M;
    args.n = N;
    args.k = K;
    args.trans_a = kind & 1 ? ISO_TRANS : ISO_NO_TRANS;
    args.trans_b = kind & 2 ? ISO_TRANS : ISO_NO_TRANS;
    args.lda = PAD + (kind & 1 ? M : K);
    args.ldb = PAD + (kind & 2 ? K : N);
    args.ldc = PAD + N;
    args.batch = MEMBERS;
    args.stride_a = kind == 2 ? 0 : 140 * 139;
    args.stride_b = kind == 3 ? 0 : 140 * 138;
    args.stride_c = 140 * 137;
    args.alpha = kind % 2 ? -1.5 : 1;
    args.beta = kind % 3 ? 0.75 : 0;
    run(device, stream, &args, a, WILD_BYTES, b, WILD_BYTES, c, WILD_BYTES);
    for (int64_t i = 0; !first && i < WILD_BYTES / 8; i++) {
        if (!same(f, c + i * f->bytes, plain + i * f->bytes)) {
            fail_msg("%s, kind %d: element %lld differs", iso_dtype_name(f->dtype), kind,
                     (long long)i);
        }
    }
    if (first) {
        memcpy(plain, c, sizeof c);
    }
}

static void all_wild(iso_device device, iso_stream stream, const char *set, int tried)
{
    enum { KINDS = 7 };
    static char plain[TYPES][KINDS][WILD_BYTES];
    (void)set;
    for (int type = 0; type < TYPES; type++) {
        for (int kind = 0; kind < KINDS; kind++) {
            wild(device, stream, &formats[type], kind, plain[type][kind], tried == 0);
        }
    }
}

static void test_wild(void **state)
{
    (void)state;
    each_set(all_wild);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cancellation),
                                       cmocka_unit_test(test_greatest),
                                       cmocka_unit_test(test_halves), cmocka_unit_test(test_wild)};
    return cmocka_run_group_tests_name("core_fixed", tests, NULL, NULL);
}
