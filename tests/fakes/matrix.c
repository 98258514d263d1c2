/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.c - products on the matrix units of a stand-in, bit for bit equal to the CPU's: each tile,
 * in every layout, with sizes that are not multiples of anything, tails in k, several segments, a
 * batch and factors. Prints the kernel of each. The variant fixed has its own sizes, for int8
 * units.
 */
#include "tests/concurrency/check.h"

#include <math.h>
#include <stdbool.h>

typedef struct shape {
    const char *units; /* multiprocessors that the stand-in has: they decide the tile */
    int64_t m, n, k;
    int64_t gap; /* of the lines in memory; odd ones are not aligned */
    double alpha, beta;
    int64_t batch;
} shape;

static const shape shapes[] = {
    {"8", 37, 21, 45, 1, 1.0, 0.0, 1},      {"8", 64, 40, 33, 0, -0.5, 2.0, 3},
    {"64", 50, 70, 2500, 0, 1.0, 1.0, 1},   {"1", 192, 250, 90, 0, 3.0, 0.0, 1},
    {"1", 250, 191, 75, 1, 1.0, -1.0, 1},   {"1", 256, 254, 350, 0, 1.0, 0.0, 1},
    {"1", 249, 250, 1027, 0, 0.25, 0.5, 1}, {"1", 130, 129, 8, 0, 1.0, 0.0, 1},
    {"1", 256, 256, 2053, 0, 1.0, 0.0, 1},  {"1", 192, 190, 2049, 0, 1.0, -2.0, 1},
};

static const shape fixed_shapes[] = {
    {"64", 70, 45, 130, 1, 1.0, 0.0, 1},
    {"1", 129, 140, 65, 0, -0.5, 2.0, 1},
    {"1", 40, 300, 200, 1, 1.0, 1.0, 2},
    {"64", 129, 130, 320, 0, 3.0, 0.0, 2},
};
/* The backend and the type: f64, f32 or f16. */
static const char *gpu;
static iso_dtype dtype;

typedef struct operand {
    void *host;
    int64_t elements;
} operand;

static size_t bytes_of(int64_t elements)
{
    return (size_t)(elements * iso_dtype_size(dtype));
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Which numbers an operand has: most are ordinary, few are much smaller. */
static int exponent_of(uint64_t m, int tiny, int low, int lowest)
{
    return tiny ? low - 20 : m % 64 == 0 ? lowest : m % 16 == 1 ? low : 0;
}

/* One number, of which `m` has random bits. */
static void put(void *to, int64_t at, uint64_t m, int tiny)
{
    const double fraction = ((double)(m >> 11) - 0x1p52) / 0x1p52;
    if (dtype == ISO_F64) {
        ((double *)to)[at] = ldexp(fraction, exponent_of(m, tiny, -530, -1100));
    } else if (dtype == ISO_F32) {
        ((float *)to)[at] = (float)ldexp(fraction, exponent_of(m, tiny, -70, -152));
    } else { /* its exponent is 5 bits, and 0 means a subnormal number */
        const unsigned exponent = tiny ? 1 : m % 64 == 0 ? 0 : m % 16 == 1 ? 4 : 13;
        ((uint16_t *)to)[at] = (uint16_t)((m >> 48 & 0x83ff) | exponent << 10);
    }
}

/* Numbers whose products are subnormal, underflow or are ordinary, and some zeros. If they are
 * `tiny`, all products underflow to zeros (of f16: when they are stored). */
static operand make(int64_t elements, int tiny, uint64_t seed)
{
    operand made = {check_alloc(bytes_of(elements)), elements};
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t i = 0; i < elements; i++) {
        put(made.host, i, next(&state), tiny);
    }
    return made;
}

static iso_buffer upload(iso_device device, iso_stream stream, const operand *from)
{
    iso_buffer buffer = {0};
    const int64_t bytes = (int64_t)bytes_of(from->elements);
    CHECK_OK(iso_buffer_create(device, bytes, &buffer));
    CHECK_OK(iso_write(stream, (iso_operand){.buffer = buffer}, from->host, bytes));
    CHECK_OK(iso_stream_sync(stream));
    return buffer;
}

/* Computes the product on a device, into `to`. */
static void multiply(const char *backend, iso_variant variant, const shape *s, int layout,
                     const operand *of, void *to, char *kernel)
{
    iso_device device = {0};
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_op_info info = ISO_OP_INFO_INIT;
    CHECK_OK(iso_device_open(backend, &device));
    iso_stream stream = check_stream(device, 0);
    iso_buffer buffers[3];
    for (int i = 0; i < 3; i++) {
        buffers[i] = upload(device, stream, &of[i]);
    }
    args.dtype = dtype;
    args.variant = variant;
    args.trans_a = layout & 1 ? ISO_TRANS : ISO_NO_TRANS;
    args.trans_b = layout & 2 ? ISO_TRANS : ISO_NO_TRANS;
    args.m = s->m;
    args.n = s->n;
    args.k = s->k;
    args.alpha = s->alpha;
    args.beta = s->beta;
    args.lda = (layout & 1 ? s->m : s->k) + s->gap;
    args.ldb = (layout & 2 ? s->k : s->n) + s->gap;
    args.ldc = s->n + s->gap;
    args.batch = s->batch;
    args.stride_a = of[0].elements / s->batch;
    args.stride_b = of[1].elements / s->batch;
    args.stride_c = of[2].elements / s->batch;
    args.a.buffer = buffers[0];
    args.b.buffer = buffers[1];
    args.c.buffer = buffers[2];
    CHECK_OK(iso_describe(device, ISO_OP_GEMM, &args, &info));
    (void)strcpy(kernel, info.kernel);
    CHECK_OK(iso_gemm(stream, &args));
    CHECK_OK(iso_read(stream, to, args.c, (int64_t)bytes_of(of[2].elements)));
    CHECK_OK(iso_stream_sync(stream));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(iso_buffer_destroy(buffers[i]));
    }
    CHECK_OK(iso_stream_destroy(stream));
    CHECK_OK(iso_device_close(device));
}

static int64_t compare(const char *a, const char *b, int64_t elements, int64_t *negative)
{
    static const char none[8];
    const size_t bytes = bytes_of(1);
    int64_t other = 0;
    for (int64_t i = 0; i < elements; i++, a += bytes, b += bytes) {
        const bool signs = b[bytes - 1] == (char)0x80; /* little-endian */
        other += memcmp(a, b, bytes) != 0;
        *negative += signs && memcmp(b, none, bytes - 1) == 0;
    }
    return other;
}

static void run(iso_variant variant, const shape *s, int layout, int tiny)
{
    const int64_t lines_a = layout & 1 ? s->k : s->m, line_a = layout & 1 ? s->m : s->k;
    const int64_t lines_b = layout & 2 ? s->n : s->k, line_b = layout & 2 ? s->k : s->n;
    const operand of[3] = {make(lines_a * (line_a + s->gap) * s->batch, tiny, 1),
                           make(lines_b * (line_b + s->gap) * s->batch, tiny, 2),
                           make(s->m * (s->n + s->gap) * s->batch, 0, 3)};
    void *results[2];
    char kernels[2][ISO_NAME_MAX];
    int64_t negative = 0;
    CHECK(setenv("FAKE_UNITS", s->units, 1) == 0);
    for (int i = 0; i < 2; i++) {
        results[i] = check_alloc(bytes_of(of[2].elements));
        multiply(i ? "openmp" : gpu, variant, s, layout, of, results[i], kernels[i]);
    }
    const int64_t other = compare(results[0], results[1], of[2].elements, &negative);
    (void)printf("%s: %lld x %lld x %lld, layout %d%s: %lld of %lld differ, %lld are -0\n",
                 kernels[0], (long long)s->m, (long long)s->n, (long long)s->k, layout,
                 tiny ? ", tiny" : "", (long long)other, (long long)of[2].elements,
                 (long long)negative);
    CHECK(other == 0);
    CHECK(!tiny || negative > 0);
    for (int i = 0; i < 2; i++) {
        free(results[i]);
    }
    for (int i = 0; i < 3; i++) {
        free(of[i].host);
    }
}

static void run_all(iso_variant variant, const shape *from, int count)
{
    for (int i = 0; i < count; i++) {
        for (int layout = 0; layout < 4; layout++) {
            run(variant, &from[i], layout, 0);
        }
    }
}

/* matrix BACKEND TYPE [quick|fixed|first]: quick has the first shapes, of the smallest tile; first
 * only the first of the variant fixed. */
int main(int count, char **arguments)
{
    const char *what = count > 3 ? arguments[3] : "";
    CHECK(count > 2);
    gpu = arguments[1];
    CHECK_OK(iso_dtype_parse(arguments[2], &dtype));
    if (strcmp(what, "fixed") == 0 || strcmp(what, "first") == 0) {
        const int all = (int)(sizeof fixed_shapes / sizeof fixed_shapes[0]);
        run_all(ISO_VARIANT_FIXED, fixed_shapes, strcmp(what, "first") == 0 ? 1 : all);
        return 0;
    }
    run_all(ISO_VARIANT_TILED, shapes,
            strcmp(what, "quick") == 0 ? 2 : (int)(sizeof shapes / sizeof shapes[0]));
    /* Sums that underflow to -0 stay -0, whatever is beyond the last term. */
    static const shape small = {"8", 33, 34, 5, 0, 1.0, 0.0, 1};
    for (int layout = 0; layout < 4; layout++) {
        run(ISO_VARIANT_TILED, &small, layout, 1);
    }
    return 0;
}
