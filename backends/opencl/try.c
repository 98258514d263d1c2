/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.c - lists OpenCL devices, or runs a few operations on one, as a part of isomer-try. It uses
 * this project's own library, so that a driver sees the same calls and kernels as in the caller's
 * process:
 *
 *   opencl list ISOMER LOADER          LOADER is unused; it ties the verdict to that file
 *   opencl device ISOMER INDEX NAME    tries the device INDEX, which must have this name
 *
 * Every result is a whole number that its type represents exactly, or modulo 2^32, so only one bit
 * pattern is right.
 */
#include "backends/trial/child.h"
#include "backends/trial/room.h"

#include <isomer/isomer.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRY_CELLS = 160 * 1100, TRY_BYTES = TRY_CELLS * 4, TRY_PASSES = 2 };

#define TRY_CALLS(CALL)                                                                            \
    CALL(iso_device_open)                                                                          \
    CALL(iso_device_close)                                                                         \
    CALL(iso_device_get_info)                                                                      \
    CALL(iso_stream_create)                                                                        \
    CALL(iso_stream_sync)                                                                          \
    CALL(iso_buffer_create)                                                                        \
    CALL(iso_write)                                                                                \
    CALL(iso_read)                                                                                 \
    CALL(iso_transpose)                                                                            \
    CALL(iso_reduce)                                                                               \
    CALL(iso_gemm)                                                                                 \
    CALL(iso_map)                                                                                  \
    CALL(iso_last_error)

#define TRY_MEMBER(name) __typeof__(name) *name;
#define TRY_ROW(name)    {#name, (void *)&isomer.name},

static struct {
    TRY_CALLS(TRY_MEMBER)
} isomer;

static iso_device device;
static iso_stream stream;
static iso_buffer memory;
static float inputs[2][TRY_CELLS];
static float result[TRY_CELLS];

static iso_operand part(int which)
{
    return (iso_operand){memory, (int64_t)which * TRY_BYTES};
}

/* Returns true if the status shows that the driver is bad. An unsupported operation or a lack of
 * memory does not show that: the driver reports them, and would also report them in the caller's
 * process. */
static bool failed(iso_status status)
{
    if (status == ISO_OK || status == ISO_UNSUPPORTED || status == ISO_NO_MEMORY) {
        return false;
    }
    child_say("%s", isomer.iso_last_error());
    return true;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Overwrites the result of an earlier operation. Otherwise an operation that writes nothing might
 * seem to be right. */
static bool spoil(int64_t count)
{
    memset(result, 0xff, (size_t)count * sizeof result[0]);
    iso_status status =
        isomer.iso_write(stream, part(2), result, count * (int64_t)sizeof result[0]);
    if (status == ISO_OK) {
        status = isomer.iso_stream_sync(stream);
    }
    return !failed(status);
}

static bool read_back(int64_t count)
{
    iso_status status = isomer.iso_read(stream, result, part(2), count * (int64_t)sizeof result[0]);
    if (status == ISO_OK) {
        status = isomer.iso_stream_sync(stream);
    }
    return !failed(status);
}

static bool is_right(iso_dtype dtype, int64_t at, int64_t right)
{
    const float wanted = (float)right;
    uint32_t bits[2] = {(uint32_t)right};
    if (dtype == ISO_F32) {
        memcpy(&bits[0], &wanted, sizeof wanted);
    }
    memcpy(&bits[1], &result[at], sizeof bits[1]);
    if (bits[0] == bits[1]) {
        return true;
    }
    if (dtype == ISO_F32) {
        child_say("element %lld is %.9g instead of %.9g: wrong bits", (long long)at,
                  (double)result[at], (double)wanted);
    } else {
        child_say("element %lld is 0x%08" PRIx32 " instead of 0x%08" PRIx32 ": wrong bits",
                  (long long)at, bits[1], bits[0]);
    }
    return false;
}

static int64_t input(int which, int64_t at)
{
    return (int64_t)inputs[which][at];
}

/* The same memory as an integer. */
static int64_t input_bits(int which, int64_t at)
{
    int32_t bits;
    memcpy(&bits, &inputs[which][at], sizeof bits);
    return bits;
}

static const char *variant_name(iso_variant variant)
{
    return variant == ISO_VARIANT_NAIVE   ? "naive"
           : variant == ISO_VARIANT_TILED ? "tiled"
                                          : "partials";
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool try_transpose(iso_variant variant, int64_t rows, int64_t cols)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.element_bytes = 4;
    args.variant = variant;
    args.rows = rows;
    args.cols = cols;
    args.from = part(0);
    args.to = part(2);
    child_at("a transpose of %lld x %lld, %s", (long long)rows, (long long)cols,
             variant_name(variant));
    bool right = spoil(rows * cols);
    const iso_status status = isomer.iso_transpose(stream, &args);
    if (status != ISO_OK) {
        return !failed(status);
    }
    right = right && read_back(rows * cols);
    for (int64_t i = 0; right && i < rows * cols; i++) {
        right = is_right(ISO_F32, i, input(0, i % rows * cols + i / rows));
    }
    return right;
}

/* In f32, or in i32 if the device has no exact f32. */
static bool try_sum(iso_variant variant, iso_axis axis, int64_t rows, int64_t cols)
{
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.op = ISO_SUM;
    args.dtype = ISO_F32;
    args.variant = variant;
    args.axis = axis;
    args.rows = rows;
    args.cols = cols;
    args.x = part(0);
    args.result = part(2);
    child_at("a sum of %lld x %lld, %s", (long long)rows, (long long)cols, variant_name(variant));
    const int64_t count = axis == ISO_AXIS_ALL ? 1 : axis == ISO_AXIS_0 ? cols : rows;
    bool right = spoil(count);
    iso_status status = isomer.iso_reduce(stream, &args);
    if (status == ISO_UNSUPPORTED) {
        args.dtype = ISO_I32;
        status = isomer.iso_reduce(stream, &args);
    }
    if (status != ISO_OK) {
        return !failed(status);
    }
    right = right && read_back(count);
    for (int64_t i = 0; right && i < count; i++) {
        int64_t sum = 0;
        for (int64_t at = 0; at < rows * cols; at++) {
            const int64_t owner = axis == ISO_AXIS_ALL ? 0
                                  : axis == ISO_AXIS_0 ? at % cols
                                                       : at / cols;
            const int64_t value = args.dtype == ISO_F32 ? input(0, at) : input_bits(0, at);
            sum += owner == i ? value : 0;
        }
        right = is_right(args.dtype, i, sum);
    }
    return right;
}

static bool try_product(iso_variant variant, iso_trans trans_b, int64_t m, int64_t n, int64_t k)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = variant;
    args.trans_b = trans_b;
    args.m = m;
    args.n = n;
    args.k = k;
    args.a = part(0);
    args.b = part(1);
    args.c = part(2);
    child_at("a product of %lld x %lld x %lld, %s", (long long)m, (long long)n, (long long)k,
             variant_name(variant));
    bool right = spoil(m * n);
    const iso_status status = isomer.iso_gemm(stream, &args);
    if (status != ISO_OK) {
        return !failed(status);
    }
    right = right && read_back(m * n);
    for (int64_t i = 0; right && i < m * n; i++) {
        int64_t sum = 0;
        for (int64_t step = 0; step < k; step++) {
            const int64_t b = trans_b == ISO_TRANS ? i % n * k + step : step * n + i % n;
            sum += input(0, i / n * k + step) * input(1, b);
        }
        right = is_right(ISO_F32, i, sum);
    }
    return right;
}

static bool try_triad(iso_variant variant, int64_t count)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_TRIAD;
    args.dtype = ISO_F32;
    args.variant = variant;
    args.n = count;
    args.alpha = 3;
    args.x = part(0);
    args.y = part(1);
    args.z = part(2);
    child_at("a triad of %lld, %s", (long long)count, variant_name(variant));
    bool right = spoil(count);
    const iso_status status = isomer.iso_map(stream, &args);
    if (status != ISO_OK) {
        return !failed(status);
    }
    right = right && read_back(count);
    for (int64_t i = 0; right && i < count; i++) {
        right = is_right(ISO_F32, i, input(0, i) + 3 * input(1, i));
    }
    return right;
}

/* Some sizes are multiples of the tiles and some are not. Some products have more terms than a
 * segment, and some sums have more terms than a block. */
static bool try_operations(void)
{
    return try_transpose(ISO_VARIANT_TILED, 128, 128) && try_transpose(ISO_VARIANT_TILED, 70, 53) &&
           try_transpose(ISO_VARIANT_NAIVE, 70, 53) &&
           try_sum(ISO_VARIANT_TILED, ISO_AXIS_ALL, 1, 10007) &&
           try_sum(ISO_VARIANT_TILED, ISO_AXIS_0, 70, 53) &&
           try_sum(ISO_VARIANT_TILED, ISO_AXIS_1, 70, 53) &&
           try_sum(ISO_VARIANT_PARTIALS, ISO_AXIS_ALL, 1, 10007) &&
           try_sum(ISO_VARIANT_NAIVE, ISO_AXIS_ALL, 1, 10007) &&
           try_product(ISO_VARIANT_TILED, ISO_NO_TRANS, 128, 128, 64) &&
           try_product(ISO_VARIANT_TILED, ISO_TRANS, 70, 53, 1100) &&
           try_product(ISO_VARIANT_NAIVE, ISO_NO_TRANS, 33, 17, 5) &&
           try_triad(ISO_VARIANT_TILED, 10007) && try_triad(ISO_VARIANT_NAIVE, 1001);
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool open_device(const char *spec, const char *name)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    child_at("opening %s", spec);
    iso_status status = isomer.iso_device_open(spec, &device);
    if (status == ISO_OK) {
        status = isomer.iso_device_get_info(device, &info);
    }
    if (status == ISO_OK && strcmp(info.name, name) != 0) {
        child_say("%s is %s in this process, but should be %s", spec, info.name, name);
        return false;
    }
    if (status == ISO_OK) {
        status = isomer.iso_stream_create(device, 0, &stream);
    }
    if (status == ISO_OK) {
        status = isomer.iso_buffer_create(device, 3 * (int64_t)TRY_BYTES, &memory);
    }
    for (int i = 0; i < 2 && status == ISO_OK; i++) {
        status = isomer.iso_write(stream, part(i), inputs[i], TRY_BYTES);
    }
    if (status != ISO_OK) {
        child_say("%s", isomer.iso_last_error());
    }
    return status == ISO_OK;
}

/* Makes two passes. The second pass loads the kernels that the first compiled, as later processes
 * do. */
static child_answer try_device(const char *index, const char *name)
{
    char spec[64];
    (void)snprintf(spec, sizeof spec, "opencl:%s", index);
    for (int which = 0; which < 2; which++) {
        for (int i = 0; i < TRY_CELLS; i++) {
            inputs[which][i] = (float)((i * 7919 + which * 31) % 15 - 7);
        }
    }
    for (int pass = 0; pass < TRY_PASSES; pass++) {
        if (!open_device(spec, name) || !try_operations()) {
            return CHILD_BAD;
        }
        child_at("closing %s", spec);
        if (failed(isomer.iso_device_close(device))) {
            return CHILD_BAD;
        }
    }
    return CHILD_GOOD;
}

/* No device has this uuid, so every device is queried. ISO_INVALID is the normal result. Any other
 * status is also accepted, unless memory is limited. With a limit, a driver that reports a lack of
 * memory here might crash in the caller's process, where it may have slightly more memory and get
 * further. */
static child_answer try_list(void)
{
    const room now = room_get();
    child_at("listing");
    const iso_status status = isomer.iso_device_open("opencl:uuid=none", &device);
    if (status != ISO_INVALID && (now.limit[ROOM_ADDRESS] >= 0 || now.limit[ROOM_DATA] >= 0)) {
        child_say("%s", isomer.iso_last_error());
        return CHILD_BAD;
    }
    return CHILD_GOOD;
}

/* Clears settings that are meant only for the caller and would change what the trial runs. */
static void prepare_environment(void)
{
    static const char *const unset[] = {"ISOMER_LOG",  "ISOMER_TRACE", "ISOMER_MEMORY_LIMIT",
                                        "ISOMER_MATH", "ISOMER_TILES", "ISOMER_BACKEND_PATH"};
    for (size_t i = 0; i < sizeof unset / sizeof unset[0]; i++) {
        (void)unsetenv(unset[i]);
    }
    (void)setenv("ISOMER_OPENCL_FORCE", "1", 1); /* the trial must not start another trial */
}

child_answer opencl_try(int count, char **words)
{
    static const child_symbol functions[] = {TRY_CALLS(TRY_ROW)};
    const bool lists = count == 3 && strcmp(words[0], "list") == 0;
    if (!lists && (count != 4 || strcmp(words[0], "device") != 0)) {
        return CHILD_CANNOT;
    }
    prepare_environment();
    if (!child_open(words[1], functions, sizeof functions / sizeof functions[0])) {
        return CHILD_BAD;
    }
    return lists ? try_list() : try_device(words[2], words[3]);
}
