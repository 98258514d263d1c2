/* SPDX-License-Identifier: Apache-2.0 */
/* use.c - runs the kernels of two texts on a device, as a program, or as a library of which
 * USE_NAME is the function. C and C++ compile it. */
#include "first.isk.h"
#include "more_first/first.isk.h"
#include "second.isk.h"

#include <isomer/isomer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

static void check(iso_status status)
{
    if (status != ISO_OK) {
        (void)fprintf(stderr, "%s\n", iso_last_error());
        exit(1);
    }
}

/* A digest of what the table's kernel makes of some numbers. */
static unsigned long long digest_of(iso_device device, const iso_embedded *table, int items)
{
    static float x[N], y[N];
    iso_stream stream;
    iso_buffer from, to;
    iso_program program;
    iso_kernel kernel;
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    unsigned long long digest = 14695981039346656037ULL;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i * 37 % 101) / 7.0f;
    }
    args.embedded = table;
    check(iso_stream_create(device, 0, &stream));
    check(iso_buffer_create(device, sizeof x, &from));
    check(iso_buffer_create(device, sizeof y, &to));
    check(iso_program_create(device, &args, &program));
    check(iso_kernel_get(program, "step", &kernel));
    const iso_operand on_x = {from, 0}, on_y = {to, 0};
    const iso_argument given[] = {iso_arg_buffer(on_x), iso_arg_buffer(on_y), iso_arg_integer(N)};
    const iso_groups groups = {(N + items - 1) / items, 1, 1};
    check(iso_write(stream, on_x, x, sizeof x));
    check(iso_launch(stream, kernel, groups, given, 3));
    check(iso_read(stream, y, on_y, sizeof y));
    check(iso_stream_sync(stream));
    for (int i = 0; i < N; i++) {
        unsigned bits;
        memcpy(&bits, &y[i], sizeof bits);
        digest = (digest ^ bits) * 1099511628211ULL;
    }
    return digest;
}

#if defined(USE_NAME)
void USE_NAME(void);
void USE_NAME(void)
#else
int main(void)
#endif
{
    iso_device device;
    check(iso_device_open("auto", &device));
    const unsigned long long first = digest_of(device, &first_isk, 64);
    const unsigned long long more = digest_of(device, &more_first, 64);
    if (first == more) {
        (void)fprintf(stderr, "the same text with other macros gives the same results\n");
        exit(1);
    }
    (void)printf("%016llx %016llx %016llx\n", first, more, digest_of(device, &second_isk, 32));
    check(iso_device_close(device));
#if !defined(USE_NAME)
    return 0;
#endif
}
