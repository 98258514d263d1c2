/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed.c - fixed products over a stand-in, bit for bit equal to the CPU's: layouts, batches, sizes
 * that are not multiples of anything, and more steps of k than sums of 32 bits hold. Prints the
 * kernel of each.
 *
 *   fixed BACKEND all|few|deep
 */
#include "tests/concurrency/check.h"

typedef struct shape {
    iso_dtype dtype;
    int64_t m, n, k;
    int64_t gap; /* of the lines in memory */
    double alpha, beta;
    int64_t batch;
    int shared_a; /* all products of the batch have the same A */
} shape;

enum { FEW = 2 };
static const shape shapes[] = {
    {ISO_F32, 70, 66, 100, 1, 1.0, 0.0, 1, 0},  {ISO_F32, 65, 130, 64, 0, -0.5, 2.0, 3, 1},
    {ISO_F64, 67, 65, 130, 3, 1.0, 0.0, 1, 0},  {ISO_F64, 1, 80, 4000, 0, 2.0, 1.0, 2, 0},
    {ISO_BF16, 90, 70, 50, 1, 1.0, -1.0, 2, 0}, {ISO_F32, 5, 6, 7, 0, 1.0, 0.0, 2, 0},
    {ISO_F32, 21, 4300, 70, 0, 1.0, 0.0, 1, 0}, {ISO_F32, 4300, 21, 70, 0, 1.0, 0.0, 1, 0},
    {ISO_F32, 300, 310, 60, 0, 1.0, 0.0, 1, 0},
};
static const shape deep = {ISO_F32, 3, 40, 140000, 0, 1.0, 0.0, 1, 0};

typedef struct operand {
    uint8_t *host;
    int64_t bytes;
} operand;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Numbers of any bits whose exponents are near 0. If they are `equal`, each is 0x800080 / 2^24, a
 * residue of -128 modulo 256: their products are the greatest that there are. */
static operand make(iso_dtype dtype, int64_t elements, int equal, uint64_t seed)
{
    const int64_t size = iso_dtype_size(dtype);
    operand made = {check_alloc((size_t)(elements * size)), elements * size};
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t i = 0; i < elements; i++) {
        const uint64_t m = next(&state);
        const double fraction = (double)(m >> 11) / 0x1p53 - 0.5;
        const double d = m % 32 == 0 ? 0 : m % 32 < 4 ? fraction * 0x1p-20 : fraction;
        const float f = equal ? 0x1.0001p-1f : (float)d;
        uint32_t upper;
        memcpy(&upper, &f, sizeof upper);
        upper >>= 16;
        memcpy(made.host + i * size,
               dtype == ISO_F64   ? (const void *)&d
               : dtype == ISO_F32 ? (const void *)&f
                                  : (const void *)&upper,
               (size_t)size);
    }
    return made;
}

static iso_buffer upload(iso_device device, iso_stream stream, const operand *from)
{
    iso_buffer buffer = {0};
    CHECK_OK(iso_buffer_create(device, from->bytes, &buffer));
    CHECK_OK(iso_write(stream, (iso_operand){.buffer = buffer}, from->host, from->bytes));
    CHECK_OK(iso_stream_sync(stream));
    return buffer;
}

static iso_gemm_args args_of(const shape *s, int layout, const operand *of,
                             const iso_buffer *buffers)
{
    const int64_t size = iso_dtype_size(s->dtype) * s->batch;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = s->dtype;
    args.variant = ISO_VARIANT_FIXED;
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
    args.stride_a = s->shared_a ? 0 : of[0].bytes / size;
    args.stride_b = of[1].bytes / size;
    args.stride_c = of[2].bytes / size;
    args.a.buffer = buffers[0];
    args.b.buffer = buffers[1];
    args.c.buffer = buffers[2];
    return args;
}

/* Computes the product on a device, into `to`. */
static void multiply(const char *backend, const shape *s, int layout, const operand *of,
                     uint8_t *to, char *kernel)
{
    iso_device device = {0};
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_buffer buffers[3];
    CHECK_OK(iso_device_open(backend, &device));
    iso_stream stream = check_stream(device, 0);
    for (int i = 0; i < 3; i++) {
        buffers[i] = upload(device, stream, &of[i]);
    }
    const iso_gemm_args args = args_of(s, layout, of, buffers);
    CHECK_OK(iso_describe(device, ISO_OP_GEMM, &args, &info));
    (void)strcpy(kernel, info.kernel);
    CHECK_OK(iso_prepare(stream, ISO_OP_GEMM, &args));
    CHECK_OK(iso_gemm(stream, &args));
    CHECK_OK(iso_read(stream, to, args.c, of[2].bytes));
    CHECK_OK(iso_stream_sync(stream));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(iso_buffer_destroy(buffers[i]));
    }
    CHECK_OK(iso_stream_destroy(stream));
    CHECK_OK(iso_device_close(device));
}

static int run(const char *backend, const shape *s, int layout, int equal)
{
    const int64_t lines_a = layout & 1 ? s->k : s->m, line_a = layout & 1 ? s->m : s->k;
    const int64_t lines_b = layout & 2 ? s->n : s->k, line_b = layout & 2 ? s->k : s->n;
    const operand of[3] = {make(s->dtype, lines_a * (line_a + s->gap) * s->batch, equal, 1),
                           make(s->dtype, lines_b * (line_b + s->gap) * s->batch, equal, 2),
                           make(s->dtype, s->m * (s->n + s->gap) * s->batch, equal, 3)};
    uint8_t *results[2];
    char kernels[2][ISO_NAME_MAX];
    for (int i = 0; i < 2; i++) {
        results[i] = check_alloc((size_t)of[2].bytes);
        multiply(i ? "openmp" : backend, s, layout, of, results[i], kernels[i]);
    }
    const int other = memcmp(results[0], results[1], (size_t)of[2].bytes) != 0;
    (void)printf("%s: %s %lld x %lld x %lld, batch %lld, layout %d: %s\n", kernels[0],
                 iso_dtype_name(s->dtype), (long long)s->m, (long long)s->n, (long long)s->k,
                 (long long)s->batch, layout, other ? "OTHER BITS" : "equal");
    for (int i = 0; i < 2; i++) {
        free(results[i]);
    }
    for (int i = 0; i < 3; i++) {
        free(of[i].host);
    }
    return other;
}

int main(int count, char **words)
{
    const int all = (int)(sizeof shapes / sizeof shapes[0]);
    int other = 0;
    if (count != 3) {
        return 2;
    }
    if (strcmp(words[2], "deep") == 0) {
        return run(words[1], &deep, 2, 1);
    }
    for (int i = 0; i < (strcmp(words[2], "few") == 0 ? FEW : all); i++) {
        for (int layout = i % 2; layout < 4; layout += i < FEW ? 1 : 2) {
            other |= run(words[1], &shapes[i], layout, 0);
        }
    }
    return other;
}
