/* SPDX-License-Identifier: Apache-2.0 */
/* multiply.c - multiplies two matrices on the backend that ISOMER_BACKEND names. */
#include <isomer/isomer.h>
#include <stdio.h>

int main(void)
{
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
    float c[4];
    iso_device device;
    iso_stream stream;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32, args.m = 2, args.n = 2, args.k = 3;
    if (iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, sizeof a, &args.a.buffer) ||
        iso_buffer_create(device, sizeof b, &args.b.buffer) ||
        iso_buffer_create(device, sizeof c, &args.c.buffer) ||
        iso_write(stream, args.a, a, sizeof a) || iso_write(stream, args.b, b, sizeof b) ||
        iso_gemm(stream, &args) || iso_read(stream, c, args.c, sizeof c) ||
        iso_stream_sync(stream)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);
    return iso_device_close(device) != ISO_OK;
}
