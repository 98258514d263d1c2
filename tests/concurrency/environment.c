/* SPDX-License-Identifier: Apache-2.0 */
/* environment.c - results do not depend on the program's rounding mode and subnormal handling (set
 * directly, or by a library linked with -ffast-math), and isomer does not change the program's
 * settings. */
#include "tests/concurrency/check.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

enum { SIZE = 160, RESULTS = 4 };

/* Turns subnormals off, as the start-up code of -ffast-math does. */
static uint64_t set_flushing(void)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
    return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control |= UINT64_C(1) << 24;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
    return control;
#else
    return 0;
#endif
}

static uint64_t get_control(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return (uint64_t)fegetround();
#endif
}

typedef struct outcome {
    float naive[SIZE * SIZE], tiled[SIZE * SIZE];
    float sum, norm;
} outcome;

/* Compares bits only, so that the current settings do not matter. */
static void make_inputs(float *a)
{
    for (int i = 0; i < SIZE * SIZE; i++) {
        uint32_t bits = 0x00000400u + (uint32_t)i * 37u; /* subnormal */
        if (i % 3 == 0) {
            bits = 0x3f800001u + (uint32_t)i; /* just over 1: sums must round */
        }
        bits |= i % 7 == 0 ? 0x80000000u : 0u;
        memcpy(&a[i], &bits, sizeof bits);
    }
}

static void product(iso_stream stream, iso_variant variant, iso_operand a, iso_operand c)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = variant;
    args.m = args.n = args.k = SIZE;
    args.a = args.b = a;
    args.trans_b = ISO_TRANS;
    args.c = c;
    CHECK_OK(iso_gemm(stream, &args));
}

static void reduce(iso_stream stream, iso_reduce_op op, iso_operand x, int64_t count,
                   iso_operand result)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = op;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.cols = count;
    args.x = x;
    args.result = result;
    CHECK_OK(iso_reduce(stream, &args));
}

static void compute(uint32_t flags, outcome *out)
{
    const int64_t bytes = SIZE * SIZE * (int64_t)sizeof(float), word = (int64_t)sizeof(float);
    float *host = check_alloc((size_t)bytes);
    make_inputs(host);
    iso_device device = check_device();
    iso_stream stream = check_stream(device, flags);
    iso_operand a = check_buffer(device, bytes), c = check_buffer(device, bytes);
    iso_operand one = check_buffer(device, word);
    CHECK_OK(iso_write(stream, a, host, bytes));
    product(stream, ISO_VARIANT_NAIVE, a, c);
    CHECK_OK(iso_read(stream, out->naive, c, bytes));
    product(stream, ISO_VARIANT_TILED, a, c);
    CHECK_OK(iso_read(stream, out->tiled, c, bytes));
    iso_operand subnormals = {a.buffer, word}; /* elements 1 and 2 are subnormal */
    reduce(stream, ISO_SUM, subnormals, 2, one);
    CHECK_OK(iso_read(stream, &out->sum, one, word));
    reduce(stream, ISO_NORM2, a, SIZE * SIZE, one);
    CHECK_OK(iso_read(stream, &out->norm, one, word));
    CHECK_OK(iso_stream_sync(stream));
    CHECK_OK(iso_device_close(device));
    free(host);
}

static int same(const outcome *a, const outcome *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

int main(void)
{
    outcome *plain = check_alloc(sizeof *plain), *other = check_alloc(sizeof *other);
    memset(plain, 0, sizeof *plain);
    compute(0, plain);
    CHECK(memcmp(plain->naive, plain->tiled, sizeof plain->naive) == 0);
    uint32_t bits, expected = 0x00000400u * 2 + 37u * 3;
    memcpy(&bits, &plain->sum, sizeof bits);
    CHECK(bits == expected);
    static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++) {
        for (uint32_t flags = 0; flags <= ISO_STREAM_INLINE; flags++) {
            CHECK(fesetround(roundings[i]) == 0);
            (void)set_flushing();
            uint64_t before = get_control();
            memset(other, 0, sizeof *other);
            compute(flags, other);
            CHECK(get_control() == before);
            CHECK(fegetround() == roundings[i]);
            CHECK(same(plain, other));
        }
    }
    free(plain);
    free(other);
    return 0;
}
