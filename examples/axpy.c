/* SPDX-License-Identifier: Apache-2.0 */
/* axpy.c - a kernel of one's own: y = a x + y on the device that ISOMER_BACKEND names. On a CPU,
 * ISOMER_CC must name a C compiler. Prints y[0], y[1] and y[N - 1]. */
#include <isomer/isomer.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, ITEMS = 256 };

static const char text[] =
    "ISO_KERNEL(axpy, 256, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n), ISO_INOUT(f32) y\n"
    "                            ISO_EXTENT(n), i64 n)\n"
    "{\n"
    "    ISO_REGION(i)\n"
    "    {\n"
    "        const i64 at = iso_x(i);\n"
    "        if (at < n) {\n"
    "            y[at] = iso_fma_f32(a, x[at], y[at]);\n"
    "        }\n"
    "    }\n"
    "}\n";

static void check(iso_status status)
{
    if (status != ISO_OK) {
        (void)fprintf(stderr, "%s\n", iso_last_error());
        exit(1);
    }
}

int main(void)
{
    static float x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    iso_device device;
    iso_stream stream;
    iso_buffer x_buffer, y_buffer;
    iso_program program;
    iso_kernel axpy;
    check(iso_device_open("auto", &device));
    check(iso_stream_create(device, 0, &stream));
    check(iso_buffer_create(device, sizeof x, &x_buffer));
    check(iso_buffer_create(device, sizeof y, &y_buffer));
    const iso_operand on_x = {x_buffer, 0}, on_y = {y_buffer, 0};

    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.name = "axpy.isk";
    args.text = text;
    check(iso_program_create(device, &args, &program));
    check(iso_kernel_get(program, "axpy", &axpy));

    const iso_argument arguments[] = {iso_arg_float(0.5), iso_arg_buffer(on_x),
                                      iso_arg_buffer(on_y), iso_arg_integer(N)};
    const iso_groups groups = {(N + ITEMS - 1) / ITEMS, 1, 1};
    check(iso_write(stream, on_x, x, sizeof x));
    check(iso_write(stream, on_y, y, sizeof y));
    check(iso_launch(stream, axpy, groups, arguments, 4));
    check(iso_read(stream, y, on_y, sizeof y));
    check(iso_stream_sync(stream));
    (void)printf("%.1f %.1f %.1f\n", (double)y[0], (double)y[1], (double)y[N - 1]);
    check(iso_device_close(device));
    return 0;
}
