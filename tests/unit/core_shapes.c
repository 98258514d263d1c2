/* SPDX-License-Identifier: Apache-2.0 */
/* core_shapes.c - tiled products on the CPU take other ways for small, thin and large shapes: all
 * have the bits of naive, whatever the layout, the batch and the factors. */
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 400, ROOM = 1 << 20 /* elements of an operand */ };

static uint64_t random_state = 3;

static int64_t draw(int64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(random_state >> 33) % below;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Few rows, few columns, neither, or both; sums of one segment or of several. */
static iso_gemm_args random_product(void)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;

    args.dtype = draw(2) ? ISO_F32 : ISO_F64;
    args.m = 1 + draw(draw(2) ? 20 : 140);
    args.n = 1 + draw(draw(2) ? 40 : 300);
    args.k = draw(draw(3) ? 150 : 2500);
    if (draw(4) == 0) {
        args.n = 1;
    }
    args.trans_a = draw(2) ? ISO_TRANS : ISO_NO_TRANS;
    args.trans_b = draw(2) ? ISO_TRANS : ISO_NO_TRANS;
    args.lda = most(1, args.trans_a == ISO_TRANS ? args.m : args.k) + draw(3);
    args.ldb = most(1, args.trans_b == ISO_TRANS ? args.k : args.n) + draw(3);
    args.ldc = args.n + draw(3);
    args.batch = 1 + draw(3);
    args.stride_a = args.lda * most(1, args.trans_a == ISO_TRANS ? args.k : args.m);
    args.stride_b = args.ldb * most(1, args.trans_b == ISO_TRANS ? args.n : args.k);
    args.stride_c = args.ldc * args.m;
    args.alpha = draw(2) ? 1 : -1.5;
    args.beta = draw(2) ? 0 : draw(2) ? 1 : 0.3;
    if (draw(4) == 0) {
        args.alpha = args.beta = 1;
        args.continues = 1;
    }
    return args;
}

static bool fits(const iso_gemm_args *args)
{
    return args->batch * args->stride_a <= ROOM && args->batch * args->stride_b <= ROOM &&
           args->batch * args->stride_c <= ROOM;
}

static void fill(void *values, iso_dtype dtype, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)(draw(1 << 20) - (1 << 19)) / (1 << 18);

        if (dtype == ISO_F32) {
            ((float *)values)[i] = (float)value;
        } else {
            ((double *)values)[i] = value;
        }
    }
}

static void run(iso_stream stream, iso_buffer buffer[3], iso_gemm_args *args, iso_variant variant,
                const void *c, char *out)
{
    const int64_t bytes = args->batch * args->stride_c * iso_dtype_size(args->dtype);

    args->variant = variant;
    args->a.buffer = buffer[0];
    args->b.buffer = buffer[1];
    args->c.buffer = buffer[2];
    works(iso_write(stream, args->c, c, bytes));
    works(iso_gemm(stream, args));
    works(iso_read(stream, out, args->c, bytes));
}

static void same_bits(void **state)
{
    double *values = malloc(ROOM * sizeof *values);
    char *tiled = malloc(ROOM * sizeof(double)), *naive = malloc(ROOM * sizeof(double));
    iso_buffer buffer[3];
    iso_device device;
    iso_stream stream;

    (void)state;
    works(iso_device_open("openmp", &device));
    works(iso_stream_create(device, ISO_STREAM_INLINE, &stream));
    for (int i = 0; i < 3; i++) {
        works(iso_buffer_create(device, ROOM * 8, &buffer[i]));
    }
    for (int i = 0; i < CASES; i++) {
        iso_gemm_args args = random_product();
        const int64_t element = iso_dtype_size(args.dtype);

        if (!fits(&args)) {
            continue;
        }
        fill(values, args.dtype, args.batch * args.stride_a);
        works(iso_write(stream, (iso_operand){buffer[0], 0}, values,
                        args.batch * args.stride_a * element));
        fill(values, args.dtype, args.batch * args.stride_b);
        works(iso_write(stream, (iso_operand){buffer[1], 0}, values,
                        args.batch * args.stride_b * element));
        fill(values, args.dtype, args.batch * args.stride_c);
        run(stream, buffer, &args, ISO_VARIANT_TILED, values, tiled);
        run(stream, buffer, &args, ISO_VARIANT_NAIVE, values, naive);
        if (memcmp(tiled, naive, (size_t)(args.batch * args.stride_c * element)) != 0) {
            fail_msg(
                "case %d: %s m %d n %d k %d trans %d %d batch %d alpha %g beta %g continues %d", i,
                iso_dtype_name(args.dtype), (int)args.m, (int)args.n, (int)args.k,
                (int)args.trans_a, (int)args.trans_b, (int)args.batch, args.alpha, args.beta,
                (int)args.continues);
        }
    }
    works(iso_device_close(device));
    free(values);
    free(tiled);
    free(naive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
