/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - helpers of the programs in this folder: checks that end the process at once, and small
 * products whose results are known exactly. */
#ifndef ISOMER_TESTS_CONCURRENCY_CHECK_H
#define ISOMER_TESTS_CONCURRENCY_CHECK_H

#include <isomer/isomer.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* _Exit, because other threads are still running, and because some of these programs test exit
 * itself. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);          \
            _Exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define CHECK_STATUS(call, wanted)                                                                 \
    do {                                                                                           \
        iso_status status_ = (call);                                                               \
        if (status_ != (wanted)) {                                                                 \
            (void)fprintf(stderr, "%s:%d: %s gives %s, not %s: %s\n", __FILE__, __LINE__, #call,   \
                          iso_status_name(status_), iso_status_name(wanted), iso_last_error());    \
            _Exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call) CHECK_STATUS(call, ISO_OK)

static inline int64_t check_now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline void *check_alloc(size_t bytes)
{
    void *block = malloc(bytes);
    CHECK(block != NULL);
    return block;
}

static inline iso_device check_device(void)
{
    iso_device device = {0};
    CHECK_OK(iso_device_open("openmp", &device));
    return device;
}

static inline iso_stream check_stream(iso_device device, uint32_t flags)
{
    iso_stream stream = {0};
    CHECK_OK(iso_stream_create(device, flags, &stream));
    return stream;
}

static inline iso_operand check_buffer(iso_device device, int64_t bytes)
{
    iso_operand operand = {{0}, 0};
    CHECK_OK(iso_buffer_create(device, bytes, &operand.buffer));
    return operand;
}

/* A product of n x n matrices of small whole numbers, which f32 holds exactly: element (i, j) of A
 * is (i + seed) % 5 + 1, of B j % 3 + 1, so that of C is n times their product. */
typedef struct check_product {
    iso_operand a, b, c;
    float *host;
    int64_t n, bytes;
    int seed;
} check_product;

static inline check_product check_product_make(iso_device device, int64_t n, int seed)
{
    check_product product = {.n = n, .bytes = n * n * (int64_t)sizeof(float), .seed = seed};
    product.a = check_buffer(device, product.bytes);
    product.b = check_buffer(device, product.bytes);
    product.c = check_buffer(device, product.bytes);
    product.host = check_alloc((size_t)product.bytes * 3);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            product.host[i * n + j] = (float)((i + seed) % 5 + 1);
            product.host[n * n + i * n + j] = (float)(j % 3 + 1);
            product.host[2 * n * n + i * n + j] = -1.0F;
        }
    }
    return product;
}

static inline iso_gemm_args check_product_args(const check_product *product, iso_variant variant)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = variant;
    args.m = args.n = args.k = product->n;
    args.a = product->a;
    args.b = product->b;
    args.c = product->c;
    return args;
}

/* Submits everything: writes both matrices, multiplies, reads the result back. */
static inline void check_product_submit(const check_product *product, iso_stream stream,
                                        iso_variant variant)
{
    int64_t elements = product->n * product->n;
    iso_gemm_args args = check_product_args(product, variant);
    CHECK_OK(iso_write(stream, product->a, product->host, product->bytes));
    CHECK_OK(iso_write(stream, product->b, product->host + elements, product->bytes));
    CHECK_OK(iso_gemm(stream, &args));
    CHECK_OK(iso_read(stream, product->host + 2 * elements, product->c, product->bytes));
}

/* After a synchronisation. */
static inline void check_product_result(const check_product *product)
{
    int64_t n = product->n;
    const float *c = product->host + 2 * n * n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            float wanted = (float)(n * ((i + product->seed) % 5 + 1) * (j % 3 + 1));
            if (c[i * n + j] != wanted) {
                (void)fprintf(stderr, "product: (%d, %d) is %g, not %g\n", (int)i, (int)j,
                              (double)c[i * n + j], (double)wanted);
                _Exit(1);
            }
        }
    }
}

static inline void check_product_free(check_product *product)
{
    CHECK_OK(iso_buffer_destroy(product->a.buffer));
    CHECK_OK(iso_buffer_destroy(product->b.buffer));
    CHECK_OK(iso_buffer_destroy(product->c.buffer));
    free(product->host);
}

#endif
