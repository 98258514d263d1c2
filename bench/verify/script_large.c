/* SPDX-License-Identifier: Apache-2.0 */
/* script_large.c - operations on sizes that do not fit 32 bits. */
#include "bench/verify/script.h"

#include <stdio.h>

/* Isomer's own variants of these operations. */
static const iso_variant own[] = {ISO_VARIANT_TILED, ISO_VARIANT_NAIVE};

/* Whether the device has this much memory. If not, sets the case to unsupported, with the
 * reason. */
static bool has_room(stage *s, int64_t bytes)
{
    int64_t have = s->runner->info.memory_free >= 0 ? s->runner->info.memory_free
                                                    : s->runner->info.memory_total;
    if (have >= bytes + bytes / 4) {
        return true;
    }
    if (have < 0) {
        snprintf(s->result->reason, sizeof s->result->reason,
                 "needs %lld bytes of device memory; the device does not report how much it has",
                 (long long)bytes);
    } else {
        snprintf(s->result->reason, sizeof s->result->reason,
                 "needs %lld bytes of device memory plus a quarter as reserve; the device has %lld",
                 (long long)bytes, (long long)have);
    }
    s->result->status = BENCH_UNSUPPORTED;
    return false;
}

/* Reduces more than 2^31 elements of f16. All are 0 except three. Checks the sum and the index of
 * the greatest element. */
bool script_large_reduce(stage *s)
{
    static const uint16_t zero = 0, one = 0x3c00, two = 0x4000;
    const int64_t count = (INT64_C(1) << 31) + 4099, places[] = {0, INT64_C(1) << 31, count - 1};
    iso_stream stream = s->streams[0];
    iso_buffer x;
    uint16_t sum = 0;
    int64_t index = -1;
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.dtype = ISO_F16;
    args.cols = count;
    for (int i = 0; i < 2; i++) {
        args.op = i == 0 ? ISO_ARGMAX : ISO_SUM;
        if (!script_choose(s, ISO_OP_REDUCE, &args, &args.variant, own, 2)) {
            return s->result->status == BENCH_UNSUPPORTED;
        }
    }
    if (!has_room(s, count * 2)) {
        return true;
    }
    TRY(iso_buffer_create(s->device, count * 2, &x));
    TRY(iso_fill(stream, at(x, 0), &zero, 2, count * 2));
    for (int i = 0; i < 3; i++) {
        TRY(iso_write(stream, at(x, places[i] * 2), i == 1 ? &two : &one, 2));
    }
    args.x = at(x, 0);
    args.result = at(s->b, 0);
    TRY(iso_reduce(stream, &args));
    TRY(iso_read(stream, &sum, at(s->b, 0), sizeof sum));
    args.op = ISO_ARGMAX;
    args.result = at(s->b, 256);
    TRY(iso_reduce(stream, &args));
    TRY(iso_read(stream, &index, at(s->b, 256), sizeof index));
    TRY(iso_stream_sync(stream));
    if (sum != 0x4400 || index != places[1]) {
        return check_fail(s->result,
                          "the sum is 0x%04x, expected 0x4400 (4); argmax is %lld, "
                          "expected %lld",
                          sum, (long long)index, (long long)places[1]);
    }
    return true;
}

/* Doubles more than 2^31 elements of f16 in place. All are 1 except four, which are 2. One more
 * element follows the last one and must stay 1. */
bool script_large_map(stage *s)
{
    static const uint16_t one = 0x3c00, two = 0x4000, four = 0x4400;
    const int64_t count = (INT64_C(1) << 31) + 4099;
    const int64_t places[] = {0, INT64_C(1) << 30, INT64_C(1) << 31, count - 1};
    iso_stream stream = s->streams[0];
    iso_buffer x;
    iso_map_args args = ISO_MAP_ARGS_INIT;
    args.op = ISO_MAP_SCALE;
    args.dtype = ISO_F16;
    args.n = count;
    args.alpha = 2;
    if (!script_choose(s, ISO_OP_MAP, &args, &args.variant, own, 2)) {
        return s->result->status == BENCH_UNSUPPORTED;
    }
    if (!has_room(s, (count + 1) * 2)) {
        return true;
    }
    TRY(iso_buffer_create(s->device, (count + 1) * 2, &x));
    TRY(iso_fill(stream, at(x, 0), &one, 2, (count + 1) * 2));
    for (int i = 0; i < 4; i++) {
        TRY(iso_write(stream, at(x, places[i] * 2), &two, 2));
    }
    args.x = args.z = at(x, 0);
    TRY(iso_map(stream, &args));
    for (int i = 0; i < 4; i++) {
        uint16_t got[2], next = places[i] == count - 1 ? one : two;
        TRY(iso_read(stream, got, at(x, places[i] * 2), sizeof got));
        TRY(iso_stream_sync(stream));
        if (got[0] != four || got[1] != next) {
            return check_fail(s->result,
                              "element %lld and the next are 0x%04x and 0x%04x, expected 0x%04x "
                              "and 0x%04x",
                              (long long)places[i], got[0], got[1], four, next);
        }
    }
    return true;
}

/* Transposes more than 2^31 bytes. All are 0 except a few marks, each of which must arrive at its
 * place. */
bool script_large_transpose(stage *s)
{
    enum { MARKS = 64 };
    const int64_t rows = 46349, cols = 46351, bytes = rows * cols;
    iso_stream stream = s->streams[0];
    iso_buffer from, to;
    unsigned char zero = 0, got[MARKS], marks[MARKS];
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.element_bytes = 1;
    args.rows = rows;
    args.cols = cols;
    if (!script_choose(s, ISO_OP_TRANSPOSE, &args, &args.variant, own, 2)) {
        return s->result->status == BENCH_UNSUPPORTED;
    }
    if (!has_room(s, 2 * bytes)) {
        return true;
    }
    TRY(iso_buffer_create(s->device, bytes, &from));
    TRY(iso_buffer_create(s->device, bytes, &to));
    TRY(iso_fill(stream, at(from, 0), &zero, 1, bytes));
    TRY(iso_fill(stream, at(to, 0), &zero, 1, bytes));
    for (int i = 0; i < MARKS; i++) {
        int64_t place = i == MARKS - 1 ? bytes - 1 : bytes / MARKS * i + i;
        marks[i] = (unsigned char)(i + 1);
        TRY(iso_write(stream, at(from, place), &marks[i], 1));
    }
    args.from = at(from, 0);
    args.to = at(to, 0);
    TRY(iso_transpose(stream, &args));
    for (int i = 0; i < MARKS; i++) {
        int64_t place = i == MARKS - 1 ? bytes - 1 : bytes / MARKS * i + i;
        TRY(iso_read(stream, &got[i], at(to, place % cols * rows + place / cols), 1));
    }
    TRY(iso_stream_sync(stream));
    for (int i = 0; i < MARKS; i++) {
        if (got[i] != marks[i]) {
            return check_fail(s->result,
                              "mark %d of %d did not arrive: the byte at its place is 0x%02x", i,
                              MARKS, got[i]);
        }
    }
    return true;
}
