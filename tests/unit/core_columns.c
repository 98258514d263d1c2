/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_columns.c - reductions on a device have the CPU's bits. Along axis 0 the number of columns
 * decides how groups share them: many and few, whole vectors and not, one block and several, the
 * last one short. Along rows the number of bytes decides how they are read.
 *
 *   isomer_unit_columns DEVICE
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = (1 << 25) + (1 << 18), RESULTS = 1 << 14, OFFSET = 64 }; /* bytes */

static const char *name;

typedef struct side {
    iso_device device;
    iso_stream stream;
    iso_buffer x, y, result;
} side;

static void open_side(side *s, const char *spec, const void *x, const void *y)
{
    works(iso_device_open(spec, &s->device));
    works(iso_stream_create(s->device, 0, &s->stream));
    works(iso_buffer_create(s->device, ROOM, &s->x));
    works(iso_buffer_create(s->device, ROOM, &s->y));
    works(iso_buffer_create(s->device, RESULTS, &s->result));
    works(iso_write(s->stream, (iso_operand){s->x, 0}, x, ROOM));
    works(iso_write(s->stream, (iso_operand){s->y, 0}, y, ROOM));
    works(iso_stream_sync(s->stream));
}

static void close_side(side *s)
{
    works(iso_buffer_destroy(s->x));
    works(iso_buffer_destroy(s->y));
    works(iso_buffer_destroy(s->result));
    works(iso_stream_destroy(s->stream));
    works(iso_device_close(s->device));
}

static void run(const side *s, iso_reduce_args args, void *got)
{
    const unsigned char guard = 0xa5;
    args.x.buffer = s->x;
    args.y.buffer = args.op == ISO_DOT ? s->y : args.y.buffer;
    args.result.buffer = s->result;
    works(iso_fill(s->stream, (iso_operand){s->result, 0}, &guard, 1, RESULTS));
    works(iso_reduce(s->stream, &args));
    works(iso_read(s->stream, got, (iso_operand){s->result, 0}, RESULTS));
    works(iso_stream_sync(s->stream));
}

/* Numbers of both signs with sums that round, zeros of both signs and, as integers, any bits. */
static void fill(uint32_t *to, uint32_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < ROOM / sizeof *to; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t z = (uint32_t)(state >> 32);
        to[i] =
            z % 61 == 0 ? z & 0x80000000U : (z & 0x807fffffU) | (0x3b800000U + (z & 0x03000000U));
    }
}

/* Every operation on every type that has one; fails if the two devices have other bits. */
static void compare(const side *gpu, const side *cpu, iso_reduce_args shape, int64_t offset)
{
    static unsigned char got[RESULTS], want[RESULTS];
    for (iso_dtype dtype = ISO_F32; dtype <= ISO_I64; dtype++) {
        for (iso_reduce_op op = ISO_SUM; op <= ISO_ARGAMAX; op++) {
            iso_reduce_args args = shape;
            iso_dtype result;

            args.variant = ISO_VARIANT_TILED;
            args.op = op;
            args.dtype = dtype;
            args.ld_y = op == ISO_DOT ? args.ld_x : 0;
            args.x.offset = offset * iso_dtype_size(dtype);
            args.result.offset = OFFSET;
            if (iso_reduce_result(op, dtype, &result) != ISO_OK ||
                args.x.offset + args.rows * args.ld_x * iso_dtype_size(dtype) > ROOM) {
                continue;
            }
            run(gpu, args, got);
            run(cpu, args, want);
            if (memcmp(got, want, sizeof got) != 0) {
                fail_msg("%s of %s, axis %d, %lld x %lld, ld %lld, offset %d",
                         iso_reduce_op_name(op), iso_dtype_name(dtype), (int)args.axis,
                         (long long)args.rows, (long long)args.cols, (long long)args.ld_x,
                         (int)offset);
            }
        }
    }
}

static side gpu, cpu;

static void columns(void **state)
{
    static const struct {
        int64_t rows, cols, more, offset; /* more: elements between rows */
    } shapes[] = {
        {9, 128, 0, 0},     {127, 132, 4, 0},  {128, 228, 0, 0},  {700, 128, 0, 0},
        {4095, 128, 8, 0},  {4096, 252, 0, 0}, {4097, 132, 0, 0}, {12289, 128, 0, 0},
        {8200, 256, 0, 0},  {5000, 128, 0, 1}, {5000, 130, 2, 0}, {5000, 128, 1, 0},
        {5000, 64, 0, 0},   {13000, 8, 0, 0},  {600000, 9, 0, 0}, {262200, 12, 0, 0},
        {20000, 196, 4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        iso_reduce_args args = ISO_REDUCE_ARGS_INIT;

        args.axis = ISO_AXIS_0;
        args.rows = shapes[i].rows;
        args.cols = shapes[i].cols;
        args.ld_x = args.cols + shapes[i].more;
        compare(&gpu, &cpu, args, shapes[i].offset);
    }
}

/* Of 4 and of 8 bytes; the longest of each have more than 32 MiB. */
static void rows(void **state)
{
    static const struct {
        int64_t rows, cols;
    } shapes[] = {{1, 300001}, {1, 4194500}, {1, 8388700}, {3, 5000}, {830, 5077}, {1660, 5077}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        iso_reduce_args args = ISO_REDUCE_ARGS_INIT;

        args.axis = shapes[i].rows == 1 ? ISO_AXIS_ALL : ISO_AXIS_1;
        args.rows = shapes[i].rows;
        args.cols = args.ld_x = shapes[i].cols;
        compare(&gpu, &cpu, args, 1);
    }
}

static int open_sides(void **state)
{
    uint32_t *x = malloc(ROOM), *y = malloc(ROOM);

    (void)state;
    assert_non_null(x);
    assert_non_null(y);
    fill(x, 1);
    fill(y, 2);
    open_side(&gpu, name, x, y);
    open_side(&cpu, "openmp", x, y);
    free(x);
    free(y);
    return 0;
}

static int close_sides(void **state)
{
    (void)state;
    close_side(&gpu);
    close_side(&cpu);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns), cmocka_unit_test(rows)};

    if (argc != 2) {
        return 1;
    }
    name = argv[1];
    return cmocka_run_group_tests(tests, open_sides, close_sides);
}
