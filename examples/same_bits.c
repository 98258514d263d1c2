/* SPDX-License-Identifier: Apache-2.0 */
/* same_bits.c - multiplies two matrices with the same bits on every device, and prints their
 * checksum, which is 5825514b everywhere. */
#include <isomer/isomer.h>
#include <stdio.h>
#include <string.h>

enum { N = 40, K = 3000 };

int main(void)
{
    static float a[N * K], b[K * N], c[N * N];
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_device device;
    iso_stream stream;
    uint32_t checksum = 0, bits;
    for (int i = 0; i < N * K; i++) {
        a[i] = 1.0f / (float)(i % 97 + 1);
        b[i] = 1.0f / ((float)(i % 89) - 44.5f);
    }
    args.dtype = ISO_F32, args.m = args.n = N, args.k = K;
    args.keep = ISO_KEEP_BITS; /* the variant is auto, the default */
    if (iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, sizeof a, &args.a.buffer) ||
        iso_buffer_create(device, sizeof b, &args.b.buffer) ||
        iso_buffer_create(device, sizeof c, &args.c.buffer) ||
        iso_write(stream, args.a, a, sizeof a) || iso_write(stream, args.b, b, sizeof b) ||
        iso_gemm(stream, &args) || iso_read(stream, c, args.c, sizeof c) ||
        iso_stream_sync(stream)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    for (int i = 0; i < N * N; i++) {
        memcpy(&bits, &c[i], sizeof bits);
        checksum = checksum * 31 + bits;
    }
    printf("%08x\n", (unsigned)checksum);
    return iso_device_close(device) != ISO_OK;
}
