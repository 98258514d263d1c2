/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - kernels that the build compiled into the program: y = a x + y, then its sums, on the
 * device that ISOMER_BACKEND names. No compiler is needed on a CPU. Prints y[0], y[N - 1] and the
 * sum of y. */
#include "first.isk.h"

#include <isomer/isomer.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, ITEMS = 256, GROUPS = (N + ITEMS - 1) / ITEMS };

static void check(iso_status status)
{
    if (status != ISO_OK) {
        (void)fprintf(stderr, "%s\n", iso_last_error());
        exit(1);
    }
}

static void launch(iso_stream stream, iso_program program, const char *name,
                   const iso_argument *arguments, int count)
{
    const iso_groups groups = {GROUPS, 1, 1};
    iso_kernel kernel;
    check(iso_kernel_get(program, name, &kernel));
    check(iso_launch(stream, kernel, groups, arguments, count));
}

int main(void)
{
    static float x[N], y[N];
    float sums[GROUPS];
    double sum = 0;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 1000);
        y[i] = 1.0f;
    }
    iso_device device;
    iso_stream stream;
    iso_buffer x_buffer, y_buffer, sums_buffer;
    iso_program program;
    check(iso_device_open("auto", &device));
    check(iso_stream_create(device, 0, &stream));
    check(iso_buffer_create(device, sizeof x, &x_buffer));
    check(iso_buffer_create(device, sizeof y, &y_buffer));
    check(iso_buffer_create(device, sizeof sums, &sums_buffer));
    const iso_operand on_x = {x_buffer, 0}, on_y = {y_buffer, 0}, on_sums = {sums_buffer, 0};

    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.embedded = &first_isk;
    check(iso_program_create(device, &args, &program));

    const iso_argument axpy[] = {iso_arg_float(0.5), iso_arg_buffer(on_x), iso_arg_buffer(on_y),
                                 iso_arg_integer(N)};
    const iso_argument block_sum[] = {iso_arg_buffer(on_y), iso_arg_integer(N),
                                      iso_arg_buffer(on_sums)};
    check(iso_write(stream, on_x, x, sizeof x));
    check(iso_write(stream, on_y, y, sizeof y));
    launch(stream, program, "axpy", axpy, 4);
    launch(stream, program, "block_sum", block_sum, 3);
    check(iso_read(stream, y, on_y, sizeof y));
    check(iso_read(stream, sums, on_sums, sizeof sums));
    check(iso_stream_sync(stream));
    for (int i = 0; i < GROUPS; i++) {
        sum += (double)sums[i];
    }
    (void)printf("%.1f %.1f %.1f\n", (double)y[0], (double)y[N - 1], sum);
    check(iso_device_close(device));
    return 0;
}
