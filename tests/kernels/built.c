/* SPDX-License-Identifier: Apache-2.0 */
/* built.c - kernels that the build compiled: the bits are those of the same text compiled at run
 * time, with each instruction set and number of threads. Without ISOMER_CC, the bits are those of
 * the set generic with one thread. Two texts have kernels of the same name. */
#include "built.isk.h"
#include "other.isk.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12800, BYTES = N * 8, GROUPS = N / 64, WIDE = N / 128, THREADS = 4 };

typedef struct results {
    unsigned char mix[N * 4], wide[BYTES], other[N * 4];
} results;

static double inputs[N];

static void launch(iso_stream stream, iso_program program, const char *name, int64_t groups,
                   const iso_argument *args, int count)
{
    iso_kernel kernel;
    works(iso_kernel_get(program, name, &kernel));
    works(iso_launch(stream, kernel, (iso_groups){groups, 1, 1}, args, count));
}

static void run(iso_device device, const iso_program_args *built, const iso_program_args *other,
                results *out)
{
    const struct {
        float scale;
        int32_t count;
    } bias = {0.3f, 9};
    iso_program first, second;
    iso_stream stream;
    iso_buffer from, to;
    works(iso_program_create(device, built, &first));
    works(iso_program_create(device, other, &second));
    works(iso_stream_create(device, 0, &stream));
    works(iso_buffer_create(device, BYTES, &from));
    works(iso_buffer_create(device, BYTES, &to));
    const iso_operand x = {from, 0}, y = {to, 0};
    const iso_argument mix[] = {iso_arg_buffer(x), iso_arg_buffer(y),
                                iso_arg_bytes(&bias, sizeof bias), iso_arg_integer(N)};
    const iso_argument wide[] = {iso_arg_buffer(x), iso_arg_buffer(y), iso_arg_integer(128)};
    const iso_argument plain[] = {iso_arg_buffer(x), iso_arg_buffer(y), iso_arg_integer(N)};
    works(iso_write(stream, x, inputs, BYTES));
    launch(stream, first, "wide", WIDE, wide, 3);
    works(iso_read(stream, out->wide, y, sizeof out->wide));
    launch(stream, first, "mix", GROUPS, mix, 4);
    works(iso_read(stream, out->mix, y, sizeof out->mix));
    launch(stream, second, "mix", GROUPS, plain, 3);
    works(iso_read(stream, out->other, y, sizeof out->other));
    works(iso_stream_sync(stream));
    works(iso_program_destroy(first));
    works(iso_program_destroy(second));
    works(iso_buffer_destroy(from));
    works(iso_buffer_destroy(to));
    works(iso_stream_destroy(stream));
}

static void same(const results *a, const results *b, const char *isa, int threads)
{
    if (memcmp(a, b, sizeof *a) != 0) {
        fail_msg("%s, %d threads: mix %s, wide %s, other %s", isa, threads,
                 memcmp(a->mix, b->mix, sizeof a->mix) ? "differs" : "is equal",
                 memcmp(a->wide, b->wide, sizeof a->wide) ? "differs" : "is equal",
                 memcmp(a->other, b->other, sizeof a->other) ? "differs" : "is equal");
    }
}

/* The texts as they are compiled at run time. */
static iso_program_args text_of(const iso_embedded *table)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.name = table->name;
    args.text = table->text;
    args.macros = table->macros;
    args.macro_count = table->macro_count;
    return args;
}

static void test_bits(void **state)
{
    static const char *const isas[] = {"generic", "avx2",   "avx512", "avx512vnni",
                                       "neon",    "sve256", "sve512"};
    static results expected, got;
    iso_program_args built = ISO_PROGRAM_ARGS_INIT, other = ISO_PROGRAM_ARGS_INIT;
    const char *compiler = getenv("ISOMER_CC");
    int sets = 0;
    (void)state;
    built.embedded = &built_isk;
    other.embedded = &other_isk;
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        for (int threads = 1; threads <= THREADS; threads++) {
            char count[8];
            iso_device device;
            (void)snprintf(count, sizeof count, "%d", threads);
            setenv("ISOMER_CPU_ISA", isas[i], 1);
            setenv("ISOMER_NUM_THREADS", count, 1);
            if (iso_device_open("openmp", &device) != ISO_OK) {
                break;
            }
            sets += threads == 1;
            if (compiler && compiler[0]) {
                const iso_program_args first = text_of(&built_isk), second = text_of(&other_isk);
                run(device, &first, &second, &expected);
            } else if (sets == 1 && threads == 1) {
                run(device, &built, &other, &expected);
            }
            run(device, &built, &other, &got);
            same(&expected, &got, isas[i], threads);
            works(iso_device_close(device));
        }
    }
    unsetenv("ISOMER_CPU_ISA");
    unsetenv("ISOMER_NUM_THREADS");
    print_message("%d instruction sets\n", sets);
    assert_true(sets > 0);
}

/* A model, so that the kernels are known to run at all. */
static void test_model(void **state)
{
    static results got;
    iso_program_args built = ISO_PROGRAM_ARGS_INIT, other = ISO_PROGRAM_ARGS_INIT;
    iso_device device;
    (void)state;
    built.embedded = &built_isk;
    other.embedded = &other_isk;
    works(iso_device_open("openmp", &device));
    run(device, &built, &other, &got);
    for (int i = 0; i < N; i++) {
        float x, y;
        memcpy(&x, (const char *)inputs + (size_t)i * 4, 4);
        memcpy(&y, got.other + (size_t)i * 4, 4);
        assert_true(y == x - 1.0f);
    }
    works(iso_device_close(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_model)};
    for (int i = 0; i < N; i++) { /* also usual values if read as pairs of f32 */
        const float low = (float)(i * 7919 % 1000) / 37.0f - 9.0f, high = (float)i / 3.0e4f + 1.0f;
        memcpy((char *)&inputs[i], &low, 4);
        memcpy((char *)&inputs[i] + 4, &high, 4);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
