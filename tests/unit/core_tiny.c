/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_tiny.c - tiled products so small that GPUs compute them without a tile, and those just
 * beyond: their bits are those of naive and of the CPU, and iso_describe names the kernel.
 *
 *   core_tiny TYPES DEVICE...   on each device; skips if none of them is there
 */
#include <isomer/isomer.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, RESULTS = 256, TERMS = 32, GAP = 3 };

typedef struct session {
    iso_device device;
    iso_stream stream;
    iso_buffer a, b, c;
} session;

static int failures, compared, tiny;

static void must(iso_status status, const char *what)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
}

/* Bytes whose exponents are those of numbers near 1, and some zeros. */
static void upload(session *s, iso_dtype dtype)
{
    static unsigned char values[BYTES];
    const int64_t cell = iso_dtype_size(dtype);
    uint32_t state = 1;
    const iso_buffer buffers[] = {s->a, s->b};

    for (int which = 0; which < 2; which++) {
        for (int64_t i = 0; i < BYTES; i++) {
            state = state * 1664525u + 1013904223u;
            values[i] = (unsigned char)(state >> 24);
            if (i % cell == cell - 1) {
                values[i] = (unsigned char)((state >> 9 & 0x80) | (dtype == ISO_F16 ? 0x38 : 0x3f));
            }
        }
        memset(values + 8 * cell, 0, (size_t)cell);
        must(iso_write(s->stream, (iso_operand){buffers[which], 0}, values, BYTES), "iso_write");
        must(iso_stream_sync(s->stream), "iso_stream_sync");
    }
}

static bool open_session(session *s, const char *spec)
{
    if (iso_device_open(spec, &s->device)) {
        printf("%s is not here: %s\n", spec, iso_last_error());
        return false;
    }
    must(iso_stream_create(s->device, 0, &s->stream), "iso_stream_create");
    must(iso_buffer_create(s->device, BYTES, &s->a), "iso_buffer_create");
    must(iso_buffer_create(s->device, BYTES, &s->b), "iso_buffer_create");
    must(iso_buffer_create(s->device, BYTES, &s->c), "iso_buffer_create");
    return true;
}

/* C begins with what A has. What lies between its rows has to stay. */
static void run(const session *s, iso_gemm_args args, iso_variant variant, unsigned char *out)
{
    args.variant = variant;
    args.a.buffer = s->a;
    args.b.buffer = s->b;
    args.c.buffer = s->c;
    must(iso_copy(s->stream, args.c, args.a, BYTES), "iso_copy");
    must(iso_gemm(s->stream, &args), "iso_gemm");
    must(iso_read(s->stream, out, args.c, BYTES), "iso_read");
    must(iso_stream_sync(s->stream), "iso_stream_sync");
}

/* On GPUs and their stand-ins the naive kernel computes exactly the tiny ones. */
static void check_kernel(const session *s, iso_gemm_args args, bool gpu)
{
    const bool wanted = gpu && args.m * args.n * args.batch <= RESULTS && args.k <= TERMS;
    iso_op_info info = ISO_OP_INFO_INIT;

    args.variant = ISO_VARIANT_TILED;
    must(iso_describe(s->device, ISO_OP_GEMM, &args, &info), "iso_describe");
    tiny += wanted;
    if (wanted != !strncmp(info.kernel, "gemm_naive_", 11)) {
        failures++;
        fprintf(stderr, "%lld x %lld x %lld, batch %lld: the kernel is %s\n", (long long)args.m,
                (long long)args.n, (long long)args.k, (long long)args.batch, info.kernel);
    }
}

static void check(const session *s, const session *cpu, const iso_gemm_args *args, bool gpu)
{
    static unsigned char of[3][BYTES];

    run(s, *args, ISO_VARIANT_TILED, of[0]);
    run(s, *args, ISO_VARIANT_NAIVE, of[1]);
    run(cpu, *args, ISO_VARIANT_TILED, of[2]);
    check_kernel(s, *args, gpu);
    compared++;
    if (memcmp(of[0], of[1], BYTES) || memcmp(of[0], of[2], BYTES)) {
        failures++;
        fprintf(stderr, "%s %s%s %lld x %lld x %lld, batch %lld, alpha %g beta %g: other bits\n",
                iso_dtype_name(args->dtype), iso_trans_name(args->trans_a),
                iso_trans_name(args->trans_b), (long long)args->m, (long long)args->n,
                (long long)args->k, (long long)args->batch, args->alpha, args->beta);
    }
}

static void check_type(const session *s, const session *cpu, iso_dtype dtype, bool gpu)
{
    static const int64_t sizes[][4] = {
        {1, 1, 1, 1},    {1, 1, 32, 1},   {1, 1, 33, 1},   {2, 3, 4, 1},   {16, 16, 16, 1},
        {16, 16, 32, 1}, {8, 8, 8, 4},    {8, 8, 8, 5},    {4, 4, 4, 16},  {4, 4, 4, 17},
        {1, 256, 5, 1},  {256, 1, 5, 1},  {257, 1, 5, 1},  {1, 1, 2, 256}, {3, 3, 0, 2},
        {17, 16, 9, 1},  {16, 16, 33, 1}, {15, 17, 31, 1},
    };
    static const double factors[][2] = {{1, 0}, {-1, 0.5}, {0.1, 1}, {0, -2}};

    for (int i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); i++) {
        iso_gemm_args args = ISO_GEMM_ARGS_INIT;
        args.dtype = dtype;
        args.m = sizes[i][0];
        args.n = sizes[i][1];
        args.k = sizes[i][2];
        args.batch = sizes[i][3];
        args.trans_a = i % 2 ? ISO_TRANS : ISO_NO_TRANS;
        args.trans_b = i % 3 == 2 ? ISO_TRANS : ISO_NO_TRANS;
        args.alpha = factors[i % 4][0];
        args.beta = factors[i % 4][1];
        args.continues = i % 4 == 0 && i % 5 == 0 && dtype >= ISO_F32;
        args.beta = args.continues ? 1 : args.beta;
        args.lda = (args.trans_a == ISO_TRANS ? args.m : args.k) + (i % 2 ? GAP : 0);
        args.ldb = (args.trans_b == ISO_TRANS ? args.k : args.n) + (i % 3 ? 0 : GAP);
        args.lda += args.lda == 0;
        args.ldb += args.ldb == 0;
        args.ldc = args.n + (i % 5 ? GAP : 0);
        args.stride_a = args.lda * (args.trans_a == ISO_TRANS ? args.k : args.m);
        args.stride_b = i % 4 == 3 ? 0 : args.ldb * (args.trans_b == ISO_TRANS ? args.n : args.k);
        args.stride_c = args.ldc * args.m;
        check(s, cpu, &args, gpu);
    }
}

int main(int argc, char **argv)
{
    session s, cpu;

    if (argc < 3) {
        fprintf(stderr, "usage: core_tiny TYPES DEVICE...\n");
        return 2;
    }
    if (!open_session(&cpu, "openmp")) {
        return 1;
    }
    for (int d = 2; d < argc; d++) {
        const bool gpu = !strncmp(argv[d], "cuda", 4) || !strncmp(argv[d], "hip", 3);

        if (!open_session(&s, argv[d])) {
            continue;
        }
        for (iso_dtype type = ISO_F16; type <= ISO_F64; type++) {
            if (strstr(argv[1], iso_dtype_name(type))) {
                upload(&s, type);
                upload(&cpu, type);
                check_type(&s, &cpu, type, gpu);
            }
        }
        must(iso_device_close(s.device), "iso_device_close");
    }
    must(iso_device_close(cpu.device), "iso_device_close");
    printf("%d products, %d of them without a tile, %d failed\n", compared, tiny, failures);
    return compared == 0 ? 77 : failures > 0;
}
