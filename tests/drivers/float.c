/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float.c - float BACKEND plain|traps|downward|flush: sets the calling thread's floating-point
 * environment, then opens the backend for the first time and runs operations whose results are
 * infinities, NaN and subnormals. Prints a line with a hash of the bits of each result. Fails if a
 * call leaves a changed environment. This file computes only with integers.
 */
#include <isomer/isomer.h>

#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 96, COUNT = SIDE * SIDE, BYTES = COUNT * 4 };

static const char *how;
static int environment;
static iso_device device;
static iso_stream stream;
static iso_buffer memory;
static uint32_t bits[COUNT];

static int get_environment(void)
{
#if defined(__x86_64__)
    return fegetexcept() << 16 | fegetround() | (int)(__builtin_ia32_stmxcsr() & 0xffc0);
#else
    return fegetexcept() << 16 | fegetround();
#endif
}

static void set_environment(void)
{
    if (strcmp(how, "traps") == 0) {
        (void)feenableexcept(FE_ALL_EXCEPT & ~FE_INEXACT);
    } else if (strcmp(how, "downward") == 0) {
        (void)fesetround(FE_DOWNWARD);
    } else if (strcmp(how, "flush") == 0) {
#if defined(__x86_64__)
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
    }
    environment = get_environment();
}

/* 1: done; 0: the device does not have it. */
static int done(iso_status status, const char *what)
{
    if (status == ISO_UNSUPPORTED) {
        return 0;
    }
    if (status != ISO_OK) {
        fprintf(stderr, "%s: %s\n", what, iso_last_error());
        exit(1);
    }
    if (get_environment() != environment) {
        fprintf(stderr, "%s left the environment %x, not %x\n", what, (unsigned)get_environment(),
                (unsigned)environment);
        exit(1);
    }
    return 1;
}

static iso_operand part(int which)
{
    return (iso_operand){memory, (int64_t)which * BYTES};
}

static void show(const char *what, int count)
{
    uint64_t hash = 14695981039346656037u;
    int special[3] = {0, 0, 0}; /* subnormal, infinite, NaN */
    (void)done(iso_read(stream, bits, part(2), (int64_t)count * 4), "iso_read");
    (void)done(iso_stream_sync(stream), what);
    for (int i = 0; i < count; i++) {
        const uint32_t magnitude = bits[i] & 0x7fffffffu;
        const uint32_t value = magnitude > 0x7f800000u ? 0x7fc00000u : bits[i];
        hash = (hash ^ value) * 1099511628211u;
        special[0] += magnitude > 0 && magnitude < 0x00800000u;
        special[1] += magnitude == 0x7f800000u;
        special[2] += magnitude > 0x7f800000u;
    }
    printf("%s %016llx: %d subnormal, %d infinite, %d NaN\n", what, (unsigned long long)hash,
           special[0], special[1], special[2]);
}

/* Large, small and ordinary numbers whose sums and products leave the range at both ends. */
static void fill(void)
{
    static const uint32_t exponents[] = {254, 1, 0, 127, 253, 64, 190, 128};
    static uint32_t values[COUNT];
    uint32_t state = 1;
    for (int which = 0; which < 2; which++) {
        for (int i = 0; i < COUNT; i++) {
            state = state * 1664525u + 1013904223u;
            values[i] = (state & 0x807fffffu) | exponents[(state >> 24) % 8] << 23;
        }
        (void)done(iso_write(stream, part(which), values, BYTES), "iso_write");
        (void)done(iso_stream_sync(stream), "iso_stream_sync");
    }
}

static void products(void)
{
    static const iso_variant variants[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED};
    static const char *const names[] = {"naive product", "tiled product"};
    for (int i = 0; i < 2; i++) {
        iso_gemm_args args = ISO_GEMM_ARGS_INIT;
        args.dtype = ISO_F32;
        args.variant = variants[i];
        args.m = args.n = SIDE;
        args.k = 2;
        args.a = part(0);
        args.b = part(1);
        args.c = part(2);
        if (done(iso_gemm(stream, &args), names[i])) {
            show(names[i], COUNT);
        }
    }
}

static void maps(void)
{
    static const iso_map_op operations[] = {ISO_MAP_ADD, ISO_MAP_MULTIPLY, ISO_MAP_TRIAD};
    static const char *const names[] = {"add", "multiply", "triad"};
    for (int i = 0; i < 3; i++) {
        iso_map_args args = ISO_MAP_ARGS_INIT;
        args.op = operations[i];
        args.dtype = ISO_F32;
        args.variant = ISO_VARIANT_TILED;
        args.n = COUNT;
        args.x = part(0);
        args.y = part(1);
        args.z = part(2);
        if (done(iso_map(stream, &args), names[i])) {
            show(names[i], COUNT);
        }
    }
}

static void reductions(void)
{
    static const iso_reduce_op operations[] = {ISO_SUM, ISO_MIN, ISO_NORM2, ISO_PRODUCT};
    static const char *const names[] = {"sums", "minima", "norms", "products of rows"};
    for (int i = 0; i < 4; i++) {
        iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
        args.op = operations[i];
        args.dtype = ISO_F32;
        args.variant = ISO_VARIANT_TILED;
        args.axis = ISO_AXIS_1;
        args.rows = args.cols = SIDE;
        args.x = part(0);
        args.result = part(2);
        if (done(iso_reduce(stream, &args), names[i])) {
            show(names[i], SIDE);
        }
    }
}

/* A vendor's results may have other bits; it must only not crash. Kernels that a library compiles
 * are left out: they take longer than everything else here. */
static void vendors(void)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    (void)done(iso_device_get_info(device, &info), "iso_device_get_info");
    if (info.features & ISO_FEATURE_COMPILES) {
        return;
    }
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_VENDOR;
    args.m = args.n = SIDE;
    args.k = 2;
    args.a = part(0);
    args.b = part(1);
    args.c = part(2);
    if (done(iso_gemm(stream, &args), "the vendor's product")) {
        (void)done(iso_stream_sync(stream), "the vendor's product");
    }
}

int main(int count, char **words)
{
    if (count != 3) {
        return 2;
    }
    how = words[2];
    set_environment();
    const iso_status status = iso_device_open(words[1], &device);
    if (status == ISO_UNAVAILABLE) {
        printf("%s\n", iso_last_error());
        return 77;
    }
    (void)done(status, "iso_device_open");
    (void)done(iso_stream_create(device, 0, &stream), "iso_stream_create");
    (void)done(iso_buffer_create(device, 3 * (int64_t)BYTES, &memory), "iso_buffer_create");
    fill();
    products();
    maps();
    reductions();
    vendors();
    (void)done(iso_device_close(device), "iso_device_close");
    return 0;
}
