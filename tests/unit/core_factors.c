/* SPDX-License-Identifier: Apache-2.0 */
/* core_factors.c - alpha, beta and everything that the calling thread computes do not depend on the
 * thread's floating-point settings, and those settings are kept. */
#include "tests/fpstate.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unit_session s;
static iso_stream streams[2]; /* one inline, one not */

static int setup(void **state)
{
    (void)state;
    setenv("ISOMER_MEMORY_LIMIT", "33%", 1);
    unit_open(&s, "openmp");
    works(iso_stream_create(s.device, ISO_STREAM_INLINE, &streams[0]));
    streams[1] = s.stream;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unit_close(&s);
    return 0;
}

/* ---- the rounding itself --------------------------------------------------------------------- */

/* alpha as a product of f32 sees it: 1 * alpha. */
static uint32_t as_f32(double alpha)
{
    static const float one = 1.0f;
    iso_map_args args = ISO_MAP_ARGS_INIT;
    uint32_t bits;

    args.op = ISO_MAP_SCALE;
    args.dtype = ISO_F32;
    args.n = 1;
    args.alpha = alpha;
    args.x = (iso_operand){s.buffer, 0};
    args.z = (iso_operand){s.buffer, 4};
    works(iso_write(streams[0], args.x, &one, sizeof one));
    works(iso_map(streams[0], &args));
    works(iso_read(streams[0], &bits, args.z, sizeof bits));
    return bits;
}

static void check_rounding(uint64_t bits)
{
    volatile float expected;
    uint32_t is, should;
    double alpha;

    memcpy(&alpha, &bits, sizeof alpha);
    expected = (float)alpha;
    memcpy(&should, (const void *)&expected, sizeof should);
    is = as_f32(alpha);
    if (isnan(alpha) ? (is & 0x7fffffffU) <= 0x7f800000U : is != should) {
        fail_msg("%a (0x%016llx) becomes 0x%08x, not 0x%08x", alpha, (unsigned long long)bits, is,
                 should);
    }
}

/* Around every boundary of f32, and at random: the same result as the processor's rounding in its
 * default state. */
static void test_rounding(void **state)
{
    static const double places[] = {0,           0x1p-1074,   0x1p-151,       0x1p-150,
                                    0x1.8p-150,  0x1p-149,    0x1.8p-149,     0x1p-148,
                                    0x1p-127,    0x1p-126,    0x1.8p-126,     1,
                                    1 + 0x1p-24, 1 + 0x3p-24, 0x1.fffffep127, 0x1.ffffffp127,
                                    0x1p128,     0x1p1000,    INFINITY};
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        uint64_t bits;

        memcpy(&bits, &places[i], sizeof bits);
        for (uint64_t near = bits < 2 ? 0 : bits - 2; near <= bits + 2; near++) {
            check_rounding(near);
            check_rounding(near | UINT64_C(1) << 63);
        }
    }
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        check_rounding(i % 2 ? random ^ random >> 29
                             : (random >> 12 & ~UINT64_C(0) >> 12) | (870 + random % 290) << 52);
        if (i % 4 == 0) { /* a tie, or nearly one */
            check_rounding((random >> 12 & ~UINT64_C(0x3fffffff) & ~UINT64_C(0) >> 12) |
                           UINT64_C(1) << 28 | (890 + random % 260) << 52 | (i % 8 == 0));
        }
    }
}

/* ---- in every state -------------------------------------------------------------------------- */

static const double factors[] = {0.1,    -0.3,     1e-310, -1e-310, 1e-40, 1e-46,       1e300,
                                 -1e300, INFINITY, NAN,    0.0,     -0.0,  1 + 0x1p-24, 1.0 / 3};
enum { FACTORS = (int)(sizeof factors / sizeof factors[0]), SIDE = 3, CELLS = SIDE * SIDE };

typedef struct outcome {
    double scaled[2][FACTORS];
    float scaled_f32[2][FACTORS], chained[2][FACTORS];
    double product[2][3][FACTORS][CELLS];
    float product_f32[2][3][FACTORS][CELLS];
    double reduced[2][4];
    double costs[6];
    int64_t limit;
    int elapsed; /* whether a time is available */
} outcome;

static void map(iso_stream stream, iso_map_op op, iso_dtype dtype, double factor, void *out)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;

    args.op = op;
    args.dtype = dtype;
    args.n = 1;
    args.steps = 3;
    args.alpha = args.beta = factor;
    args.x = (iso_operand){s.buffer, dtype == ISO_F64 ? 0 : 1024};
    args.z = (iso_operand){s.buffer, 2048};
    works(iso_map(stream, &args));
    works(iso_read(stream, out, args.z, iso_dtype_size(dtype)));
}

static void multiply(iso_stream stream, iso_variant variant, iso_dtype dtype, const double *alpha,
                     const double *beta, void *out)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    const int64_t at = dtype == ISO_F64 ? 0 : 1024, bytes = CELLS * iso_dtype_size(dtype);

    args.variant = variant;
    args.dtype = dtype;
    args.m = args.n = args.k = SIDE;
    memcpy(&args.alpha, alpha, sizeof *alpha);
    memcpy(&args.beta, beta, sizeof *beta);
    args.a = args.b = (iso_operand){s.buffer, at};
    args.c = (iso_operand){s.buffer, 2048};
    works(iso_copy(stream, args.c, args.a, bytes));
    works(iso_supports(s.device, ISO_OP_GEMM, &args));
    works(iso_gemm(stream, &args));
    works(iso_read(stream, out, args.c, bytes));
}

static void reduce(iso_stream stream, iso_reduce_op op, iso_variant variant, double *out)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;

    args.op = op;
    args.variant = variant;
    args.dtype = ISO_F64;
    args.cols = CELLS;
    args.x = (iso_operand){s.buffer, 0};
    args.result = (iso_operand){s.buffer, 2048};
    works(iso_reduce(stream, &args));
    works(iso_read(stream, out, args.result, sizeof *out));
}

static void observe_cost(outcome *out)
{
    iso_cost_info cost = ISO_COST_INFO_INIT;
    iso_map_args chain = ISO_MAP_ARGS_INIT;
    iso_gemm_args gemm = ISO_GEMM_ARGS_INIT;

    chain.op = ISO_MAP_CHAIN;
    chain.dtype = ISO_F32;
    chain.n = (INT64_C(1) << 60) - 1;
    chain.steps = (INT64_C(1) << 62) - 1;
    works(iso_cost(ISO_OP_MAP, &chain, &cost));
    memcpy(out->costs, &cost.flops, 3 * sizeof(double));
    gemm.dtype = ISO_F64;
    gemm.m = gemm.n = gemm.k = 1000003;
    memcpy(&gemm.beta, &factors[2], sizeof(double));
    works(iso_cost(ISO_OP_GEMM, &gemm, &cost));
    memcpy(out->costs + 3, &cost.flops, 3 * sizeof(double));
}

static void observe_device(outcome *out)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    iso_telemetry telemetry = ISO_TELEMETRY_INIT;
    iso_event start, stop;
    iso_device device;
    int64_t elapsed = -1;

    works(iso_device_open("openmp", &device));
    works(iso_device_get_memory_use(device, &use));
    out->limit = use.limit;
    (void)iso_device_get_telemetry(device, &telemetry);
    works(iso_device_close(device));
    works(iso_event_create(s.device, &start));
    works(iso_event_create(s.device, &stop));
    works(iso_event_record(start, s.stream));
    works(iso_event_record(stop, s.stream));
    works(iso_event_sync(stop));
    works(iso_event_elapsed(start, stop, &elapsed));
    out->elapsed = elapsed >= 0;
    works(iso_event_destroy(start));
    works(iso_event_destroy(stop));
}

/* Moves numbers only; the library does all arithmetic. */
static void observe(outcome *out)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED,
                                           ISO_VARIANT_VENDOR};

    for (int i = 0; i < 2; i++) {
        for (int f = 0; f < FACTORS; f++) {
            map(streams[i], ISO_MAP_SCALE, ISO_F64, factors[f], &out->scaled[i][f]);
            map(streams[i], ISO_MAP_SCALE, ISO_F32, factors[f], &out->scaled_f32[i][f]);
            map(streams[i], ISO_MAP_CHAIN, ISO_F32, factors[f], &out->chained[i][f]);
            for (int v = 0; v < 3; v++) {
                multiply(streams[i], variants[v], ISO_F64, &factors[f], &factors[(f + 3) % FACTORS],
                         out->product[i][v][f]);
                multiply(streams[i], variants[v], ISO_F32, &factors[f], &factors[(f + 3) % FACTORS],
                         out->product_f32[i][v][f]);
            }
        }
        reduce(streams[i], ISO_SUM, ISO_VARIANT_TILED, &out->reduced[i][0]);
        reduce(streams[i], ISO_NORM2, ISO_VARIANT_TILED, &out->reduced[i][1]);
        reduce(streams[i], ISO_ASUM, ISO_VARIANT_VENDOR, &out->reduced[i][2]);
        reduce(streams[i], ISO_MEAN, ISO_VARIANT_PARTIALS, &out->reduced[i][3]);
        works(iso_stream_sync(streams[i]));
    }
    observe_cost(out);
    observe_device(out);
}

static void fill(void)
{
    double wide[CELLS];
    float narrow[CELLS];

    for (int i = 0; i < CELLS; i++) {
        wide[i] = 1.0 / (i + 1);
        narrow[i] = 1.0f / (float)(i + 1);
    }
    works(iso_write(s.stream, (iso_operand){s.buffer, 0}, wide, sizeof wide));
    works(iso_write(s.stream, (iso_operand){s.buffer, 1024}, narrow, sizeof narrow));
    works(iso_stream_sync(s.stream));
}

static void test_states(void **state)
{
    outcome *plain = calloc(1, sizeof *plain), *other = calloc(1, sizeof *other);

    (void)state;
    assert_true(plain && other);
    fill();
    observe(plain);
    assert_true(plain->scaled[0][2] == 1e-310);
    assert_true(isinf(plain->scaled_f32[0][6]));
    assert_true(plain->limit > 0);
    for (int i = 0; i < FPSTATES; i++) {
        uint64_t before, after;

        memset(other, 0, sizeof *other);
        fpstate_set(&fpstates[i]);
        before = fpstate_control();
        observe(other);
        after = fpstate_control();
        fpstate_clear();
        if (before != after) {
            fail_msg("%s: the thread's settings were 0x%llx and are 0x%llx", fpstates[i].name,
                     (unsigned long long)before, (unsigned long long)after);
        }
        if (memcmp(plain, other, sizeof *plain) != 0) {
            const unsigned char *a = (const void *)plain, *b = (const void *)other;
            size_t at = 0;

            while (a[at] == b[at]) {
                at++;
            }
            fail_msg("%s: byte %zu of the outcome differs (f64 maps from %zu, f32 maps from %zu, "
                     "products from %zu, of f32 from %zu, reductions from %zu, costs from %zu)",
                     fpstates[i].name, at, offsetof(outcome, scaled), offsetof(outcome, scaled_f32),
                     offsetof(outcome, product), offsetof(outcome, product_f32),
                     offsetof(outcome, reduced), offsetof(outcome, costs));
        }
    }
    free(plain);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_states),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
