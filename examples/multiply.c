/* SPDX-License-Identifier: Apache-2.0 */
/* multiply.c - multiplies two matrices on the backend that ISOMER_BACKEND names. */
#include <isomer/isomer.h>
#include <stdio.h>

int main(void)
{
    const float a[2][3] = {{1, 2, 3}, {4, 5, 6}}, b[3][2] = {{7, 8}, {9, 10}, {11, 12}};
    float c[2][2];
    iso_device device;
    iso_stream stream;
    iso_buffer memory;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    if (iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, sizeof a + sizeof b + sizeof c, &memory)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    args.dtype = ISO_F32, args.m = 2, args.n = 2, args.k = 3;
    args.a = (iso_operand){memory, 0};
    args.b = (iso_operand){memory, sizeof a};
    args.c = (iso_operand){memory, sizeof a + sizeof b};
    if (iso_write(stream, args.a, a, sizeof a) || iso_write(stream, args.b, b, sizeof b) ||
        iso_gemm(stream, &args) || iso_read(stream, c, args.c, sizeof c) ||
        iso_stream_sync(stream)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    printf("%g %g\n%g %g\n", c[0][0], c[0][1], c[1][0], c[1][1]);
    return iso_device_close(device) != ISO_OK;
}
