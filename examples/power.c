/* SPDX-License-Identifier: Apache-2.0 */
/* power.c - computes the greatest eigenvalue of a symmetric matrix by multiplying a vector with the
 * matrix many times. The vector stays on the device, and the host waits only at the end. */
#include <isomer/isomer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) ((call) ? (fprintf(stderr, "%s\n", iso_last_error()), exit(1)) : (void)0)

enum { N = 64, ROUNDS = 50 };

int main(void)
{
    static double a[N][N], x[N];
    double length;
    uint64_t digest = 0, bits;
    iso_device device;
    iso_stream stream;
    iso_gemv_args product = ISO_GEMV_ARGS_INIT;  /* y = A x */
    iso_reduce_args norm = ISO_REDUCE_ARGS_INIT; /* length = |y| */
    iso_map_args divide = ISO_MAP_ARGS_INIT;     /* x = y / length */
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = 1.0 / (i + j + 1); /* Hilbert's matrix */
        }
        x[i] = 1;
    }
    CHECK(iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream));
    CHECK(iso_buffer_create(device, sizeof a, &product.a.buffer));
    CHECK(iso_buffer_create(device, sizeof x, &product.x.buffer));
    CHECK(iso_buffer_create(device, sizeof x, &product.y.buffer));
    CHECK(iso_buffer_create(device, sizeof length, &norm.result.buffer));
    product.dtype = norm.dtype = divide.dtype = ISO_F64;
    product.keep = norm.keep = ISO_KEEP_BITS; /* the same bits on every device */
    product.m = product.k = norm.cols = divide.n = N;
    norm.op = ISO_NORM2, norm.x = product.y;
    divide.op = ISO_MAP_DIVIDE, divide.x = product.y, divide.z = product.x;
    divide.y = norm.result, divide.spread_y = ISO_SPREAD_ONE; /* one divisor for all elements */
    CHECK(iso_write(stream, product.a, a, sizeof a));
    CHECK(iso_write(stream, product.x, x, sizeof x));
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(iso_gemv(stream, &product) || iso_reduce(stream, &norm) || iso_map(stream, &divide));
    }
    CHECK(iso_read(stream, x, product.x, sizeof x));
    CHECK(iso_read(stream, &length, norm.result, sizeof length));
    CHECK(iso_stream_sync(stream));
    for (int i = 0; i < N; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        digest = digest * 31 + bits;
    }
    printf("%.6f, digest %016llx\n", length, (unsigned long long)digest);
    return iso_device_close(device) != ISO_OK;
}
