/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - makes the operands of a product, and computes it on two devices. */
#include "tests/fakes/product.h"

enum { A, B, C, OPERANDS };

typedef struct operand {
    uint8_t *host;
    int64_t line, elements; /* with the gaps */
    int64_t bytes;
} operand;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static operand make(const product *p, int64_t lines, int64_t columns)
{
    const int64_t line = columns + p->gap, elements = lines * line * p->batch;
    const int64_t bytes = elements * iso_dtype_size(p->dtype);
    return (operand){check_alloc((size_t)bytes), line, elements, bytes};
}

static void fill(const product *p, const operand *to, uint64_t seed, product_put *put, bool special)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t i = 0; i < to->elements; i++) {
        put(p->dtype, to->host, i, next(&state), special);
    }
}

static iso_buffer upload(iso_device device, iso_stream stream, const operand *from)
{
    iso_buffer buffer = {0};
    CHECK_OK(iso_buffer_create(device, from->bytes, &buffer));
    CHECK_OK(iso_write(stream, (iso_operand){.buffer = buffer}, from->host, from->bytes));
    CHECK_OK(iso_stream_sync(stream));
    return buffer;
}

/* All but the buffers. */
static iso_gemm_args args_of(iso_variant variant, const product *p, int layout, const operand *of)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = p->dtype;
    args.variant = variant;
    args.trans_a = layout & 1 ? ISO_TRANS : ISO_NO_TRANS;
    args.trans_b = layout & 2 ? ISO_TRANS : ISO_NO_TRANS;
    args.m = p->m;
    args.n = p->n;
    args.k = p->k;
    args.alpha = p->alpha;
    args.beta = p->beta;
    args.continues = p->continues;
    args.lda = of[A].line;
    args.ldb = of[B].line;
    args.ldc = of[C].line;
    args.batch = p->batch;
    args.stride_a = p->shared_a ? 0 : of[A].elements / p->batch;
    args.stride_b = of[B].elements / p->batch;
    args.stride_c = of[C].elements / p->batch;
    return args;
}

/* `kernel` may be NULL. */
static uint8_t *multiply(const char *backend, iso_gemm_args args, const operand *of, char *kernel)
{
    uint8_t *result = check_alloc((size_t)of[C].bytes);
    iso_device device = {0};
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_buffer buffers[OPERANDS];
    CHECK_OK(iso_device_open(backend, &device));
    iso_stream stream = check_stream(device, 0);
    for (int i = 0; i < OPERANDS; i++) {
        buffers[i] = upload(device, stream, &of[i]);
    }
    args.a.buffer = buffers[A];
    args.b.buffer = buffers[B];
    args.c.buffer = buffers[C];
    CHECK_OK(iso_describe(device, ISO_OP_GEMM, &args, &info));
    if (kernel) {
        (void)strcpy(kernel, info.kernel);
    }
    CHECK_OK(iso_prepare(stream, ISO_OP_GEMM, &args));
    CHECK_OK(iso_gemm(stream, &args));
    CHECK_OK(iso_read(stream, result, args.c, of[C].bytes));
    CHECK_OK(iso_stream_sync(stream));
    for (int i = 0; i < OPERANDS; i++) {
        CHECK_OK(iso_buffer_destroy(buffers[i]));
    }
    CHECK_OK(iso_stream_destroy(stream));
    CHECK_OK(iso_device_close(device));
    return result;
}

product_results product_run(const char *backend, iso_variant variant, const product *p, int layout,
                            product_put *put, bool special)
{
    const bool turn_a = layout & 1, turn_b = layout & 2;
    const operand of[OPERANDS] = {make(p, turn_a ? p->k : p->m, turn_a ? p->m : p->k),
                                  make(p, turn_b ? p->n : p->k, turn_b ? p->k : p->n),
                                  make(p, p->m, p->n)};
    const iso_gemm_args args = args_of(variant, p, layout, of);
    product_results results = {.elements = of[C].elements, .bytes = of[C].bytes};
    for (int i = 0; i < OPERANDS; i++) {
        fill(p, &of[i], (uint64_t)i + 1, put, special && i != C);
    }
    results.own = multiply(backend, args, of, results.kernel);
    results.cpu = multiply("openmp", args, of, NULL);
    for (int i = 0; i < OPERANDS; i++) {
        free(of[i].host);
    }
    return results;
}
