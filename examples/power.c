/* SPDX-License-Identifier: Apache-2.0 */
/* power.c - computes the greatest eigenvalue of a symmetric matrix by multiplying a vector with the
 * matrix many times. */
#include <isomer/isomer.h>
#include <math.h>
#include <stdio.h>

enum { N = 64, ROUNDS = 200 };

int main(void)
{
    static double a[N][N], x[N];
    iso_device device;
    iso_stream stream;
    iso_gemv_args args = ISO_GEMV_ARGS_INIT;
    double length = 0;
    for (int i = 0; i < N; i++) { /* a ring of springs: 2 on the diagonal, -1 beside it */
        a[i][i] = 2;
        a[i][(i + 1) % N] = a[(i + 1) % N][i] = -1;
        x[i] = i % 2 ? 1 : -0.5;
    }
    args.dtype = ISO_F64, args.m = args.k = N;
    if (iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, sizeof a, &args.a.buffer) ||
        iso_buffer_create(device, sizeof x, &args.x.buffer) ||
        iso_buffer_create(device, sizeof x, &args.y.buffer) ||
        iso_write(stream, args.a, a, sizeof a)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (iso_write(stream, args.x, x, sizeof x) || iso_gemv(stream, &args) ||
            iso_read(stream, x, args.y, sizeof x) || iso_stream_sync(stream)) {
            return fprintf(stderr, "%s\n", iso_last_error()), 1;
        }
        length = 0;
        for (int i = 0; i < N; i++) {
            length += x[i] * x[i];
        }
        length = sqrt(length);
        for (int i = 0; i < N; i++) {
            x[i] /= length;
        }
    }
    printf("%.6f\n", length);
    return iso_device_close(device) != ISO_OK;
}
