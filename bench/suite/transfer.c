/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - writes, reads, copies and fills, in one dimension and in two. */
#include "bench/suite/internal.h"
#include "bench/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const char *const moves[] = {"write", "read", "copy", "between", "fill"};

/* ---- list ------------------------------------------------------------------------------------ */

static void add(suite_list *list, const suite_transfer_case *t)
{
    suite_case item = {.op = &bench_transfer, .same_bits = 1, .transfer = *t};
    char after[SUITE_ID_MAX - 24];
    snprintf(item.variant, sizeof item.variant, "%s", moves[t->move]);
    if (t->move == SUITE_FILLING) {
        snprintf(item.type, sizeof item.type, "e%d", (int)t->pattern_bytes);
    }
    snprintf(after, sizeof after, "%s/w%lldh%lld/pitch%lld-%lld/off%lld-%lld%s%s",
             t->flat         ? "1d"
             : t->neighbours ? "neighbours"
                             : "2d",
             (long long)t->width, (long long)t->height, (long long)t->to_pitch,
             (long long)t->from_pitch, (long long)t->to_offset, (long long)t->from_offset,
             item.type[0] ? "/" : "", item.type);
    suite_list_add(list, &item, NULL, 0, after);
}

static void list_flat(suite_list *list, suite_move move, int64_t unit, const int64_t *sizes,
                      int count)
{
    static const int64_t offsets[][2] = {{0, 0}, {1, 3}, {256, 0}, {7, 64}, {13, 13}};
    for (int i = 0; i < count; i++) {
        suite_transfer_case t = {.move = move, .flat = 1, .height = 1, .pattern_bytes = unit};
        t.width = sizes[i] * unit;
        t.to_pitch = t.from_pitch = t.width;
        t.to_offset = offsets[i % COUNT(offsets)][0] * unit;
        t.from_offset = offsets[i % COUNT(offsets)][1];
        add(list, &t);
    }
}

static void list_pitched(suite_list *list, suite_move move, int64_t unit)
{
    static const int64_t shapes[][2] = {{0, 5},   {5, 0},     {1, 1},    {1, 100},
                                        {3, 7},   {64, 64},   {63, 9},   {65, 2},
                                        {100, 1}, {1000, 33}, {4096, 3}, {17, 500}};
    static const int64_t gaps[][2] = {{0, 0}, {5, 0}, {0, 3}, {1, 64}, {32, 17}};
    for (int i = 0; i < COUNT(shapes); i++) {
        suite_transfer_case t = {.move = move, .pattern_bytes = unit};
        t.width = shapes[i][0] * unit;
        t.height = shapes[i][1];
        t.to_pitch = t.width + gaps[i % COUNT(gaps)][0] * unit;
        t.from_pitch = t.width + gaps[i % COUNT(gaps)][1];
        t.to_offset = (i % 4) * unit;
        t.from_offset = i % 3;
        add(list, &t);
    }
}

/* Copies between blocks of one matrix: beside each other, around a row's end, with unlike pitches.
 */
static void list_neighbours(suite_list *list)
{
    static const struct {
        int64_t width, height, to_pitch, from_pitch, to_offset, from_offset;
    } rows[] = {
        {17, 9, 34, 34, 17, 0},  {64, 33, 200, 200, 64, 0},  {1000, 7, 2001, 2001, 0, 1001},
        {5, 100, 13, 13, 11, 3}, {16, 64, 256, 256, 0, 128}, {1, 300, 2, 2, 1, 0},
        {8, 3, 32, 64, 8, 0},    {8, 5, 64, 64, 8 * 64, 8},  {4096, 3, 8192, 8192, 4096, 0},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        add(list, &(suite_transfer_case){.move = SUITE_COPY,
                                         .width = rows[i].width,
                                         .height = rows[i].height,
                                         .to_pitch = rows[i].to_pitch,
                                         .from_pitch = rows[i].from_pitch,
                                         .to_offset = rows[i].to_offset,
                                         .from_offset = rows[i].from_offset,
                                         .neighbours = 1});
    }
}

void suite_list_transfer(suite_list *list, int full)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 255, 4095, 4096, 100003};
    static const int64_t large[] = {1 << 20, 67108869};
    static const int64_t units[] = {1, 2, 4, 8, 16};
    static const suite_move both[] = {SUITE_WRITE, SUITE_READ, SUITE_COPY};
    for (int m = 0; m < COUNT(both); m++) {
        list_flat(list, both[m], 1, sizes, COUNT(sizes));
        list_pitched(list, both[m], 1);
        if (full) {
            list_flat(list, both[m], 1, large, COUNT(large));
        }
    }
    list_flat(list, SUITE_COPY_BETWEEN, 1, sizes, COUNT(sizes));
    list_neighbours(list);
    for (int u = 0; u < COUNT(units); u++) {
        list_flat(list, SUITE_FILLING, units[u], sizes, COUNT(sizes));
        list_pitched(list, SUITE_FILLING, units[u]);
    }
}

/* ---- run ------------------------------------------------------------------------------------- */

typedef struct move_data {
    suite_region to, from;
    unsigned char pattern[16];
    unsigned char *moved; /* dense: what is to arrive */
    unsigned char *host;  /* the target of a read */
} move_data;

static void free_move(move_data *d)
{
    suite_region_free(&d->to);
    suite_region_free(&d->from);
    free(d->moved);
    free(d->host);
}

static bool make_regions(move_data *d, const suite_transfer_case *t)
{
    int64_t ends[] = {t->to_offset + t->height * t->to_pitch,
                      t->from_offset + t->height * t->from_pitch};
    suite_region to = {
        .element = 1, .rows = t->height, .cols = t->width, .ld = t->to_pitch, .batch = 1};
    suite_region from = to;
    from.ld = t->from_pitch;
    if (t->neighbours) {
        suite_region_within(&d->from, &from, t->from_offset);
        return suite_region_lay(&d->to, &to, t->to_offset, ends[ends[0] < ends[1]], false);
    }
    return suite_region_lay(&d->to, &to, t->to_offset, 0, false) &&
           suite_region_lay(&d->from, &from, t->from_offset, 0, true);
}

static bool make(move_data *d, const suite_case *item)
{
    const suite_transfer_case *t = &item->transfer;
    int64_t bytes = t->width * t->height;
    if (!make_regions(d, t)) {
        return false;
    }
    d->moved = malloc((size_t)bytes + 8);
    d->host = malloc((size_t)d->to.bytes);
    if (!d->moved || !d->host) {
        return false;
    }
    for (int64_t i = 0; i < bytes; i += 8) {
        uint64_t mix = arith_mix(item->seed, (uint64_t)i / 8);
        memcpy(d->moved + i, &mix, 8);
    }
    suite_region_scatter_into(t->neighbours ? &d->to : &d->from, &d->from, d->moved);
    if (t->move == SUITE_FILLING) {
        uint64_t mix[2] = {arith_mix(item->seed, 1u << 30), arith_mix(item->seed, 2u << 30)};
        memcpy(d->pattern, mix, sizeof mix);
        for (int64_t i = 0; i < bytes; i++) {
            d->moved[i] = d->pattern[i % t->pattern_bytes];
        }
    }
    memcpy(d->host, d->to.image, (size_t)d->to.bytes);
    return true;
}

static iso_status submit(suite_runner *runner, const suite_transfer_case *t, const move_data *d,
                         iso_operand to, iso_operand from)
{
    iso_stream s = runner->stream;
    const unsigned char *source = d->from.image + d->from.start;
    unsigned char *target = d->host + d->to.start;
    int64_t w = t->width, h = t->height;
    switch (t->move) {
    case SUITE_WRITE:
        return t->flat ? iso_write(s, to, source, w)
                       : iso_write_2d(s, to, t->to_pitch, source, t->from_pitch, w, h);
    case SUITE_READ:
        return t->flat ? iso_read(s, target, from, w)
                       : iso_read_2d(s, target, t->to_pitch, from, t->from_pitch, w, h);
    case SUITE_FILLING:
        return t->flat ? iso_fill(s, to, d->pattern, t->pattern_bytes, w)
                       : iso_fill_2d(s, to, t->to_pitch, d->pattern, t->pattern_bytes, w, h);
    default:
        return t->flat ? iso_copy(s, to, from, w)
                       : iso_copy_2d(s, to, t->to_pitch, from, t->from_pitch, w, h);
    }
}

static bool judge(suite_state *state, const move_data *d, const suite_case *item,
                  const unsigned char *image, suite_result *result)
{
    int64_t bytes = item->transfer.width * item->transfer.height;
    unsigned char *dense = suite_grow(&state->dense, bytes + 8);
    if (!dense) {
        return suite_no_memory(result);
    }
    suite_region_gather(&d->to, image, dense);
    result->method = "exact";
    suite_digest(result, 0, dense, bytes, 1);
    int64_t changed = suite_region_changed(&d->to, image);
    if (changed >= 0) {
        return suite_fail(result, "byte %lld, counted from the first of the target, was changed",
                          (long long)(changed - d->to.start));
    }
    for (int64_t i = 0; i < bytes; i++) {
        if (dense[i] != d->moved[i]) {
            return suite_fail(result, "byte %lld of row %lld is 0x%02x, expected 0x%02x",
                              (long long)(i % item->transfer.width),
                              (long long)(i / item->transfer.width), dense[i], d->moved[i]);
        }
    }
    return true;
}

/* Between two handles to the device: the target belongs to the second one. */
static iso_status move_between(suite_runner *runner, const suite_case *item, move_data *d,
                               iso_operand from)
{
    iso_device device = {0};
    iso_stream stream;
    iso_operand to = {{0}, 0};
    iso_path path = 0;
    iso_status status = iso_device_open(runner->info.spec, &device);
    if (status != ISO_OK) {
        return status;
    }
    status = iso_stream_create(device, runner->flags, &stream);
    if (status == ISO_OK) {
        status = iso_buffer_create(device, d->to.bytes, &to.buffer);
    }
    if (status == ISO_OK) {
        status = iso_write(stream, to, d->to.image, d->to.bytes);
    }
    to.offset = d->to.start;
    if (status == ISO_OK) {
        status = iso_copy_between(stream, to, runner->stream, from, item->transfer.width, &path);
    }
    to.offset = 0;
    if (status == ISO_OK) {
        status = iso_read(stream, d->host, to, d->to.bytes);
    }
    if (status == ISO_OK) {
        status = iso_stream_sync(stream);
    }
    iso_status closed = iso_device_close(device); /* and all that is its own */
    return status == ISO_OK ? closed : status;
}

static bool run(suite_state *state, suite_runner *runner, const suite_case *item, move_data *d,
                suite_result *result)
{
    suite_move move = item->transfer.move;
    iso_operand to = {{0}, 0}, from = {{0}, 0};
    iso_status status = suite_slot_room(runner, 1, d->to.bytes, &to.buffer);
    if (item->transfer.neighbours) {
        from = to;
    } else if (status == ISO_OK) {
        status = suite_slot_room(runner, 0, d->from.bytes, &from.buffer);
    }
    if (status == ISO_OK && !item->transfer.neighbours) {
        status = iso_write(runner->stream, from, d->from.image, d->from.bytes);
    }
    if (status == ISO_OK) {
        status = iso_write(runner->stream, to, d->to.image, d->to.bytes);
    }
    if (status != ISO_OK) {
        return suite_call_failed(result, "setting up", status);
    }
    to.offset = d->to.start;
    from.offset = d->from.start;
    status = move == SUITE_COPY_BETWEEN ? move_between(runner, item, d, from)
                                        : submit(runner, &item->transfer, d, to, from);
    to.offset = 0;
    if (status == ISO_OK && move != SUITE_READ && move != SUITE_COPY_BETWEEN) {
        status = iso_read(runner->stream, d->host, to, d->to.bytes);
    }
    iso_status synced = iso_stream_sync(runner->stream); /* before host memory goes */
    if (status != ISO_OK || synced != ISO_OK) {
        return suite_call_failed(result, "the transfer", status != ISO_OK ? status : synced);
    }
    return judge(state, d, item, d->host, result);
}

bool suite_run_transfer(suite_state *state, suite_runner *runner, const suite_case *item,
                        suite_result *result)
{
    move_data d = {0};
    bool ok = make(&d, item) ? run(state, runner, item, &d, result) : suite_no_memory(result);
    free_move(&d);
    return ok;
}

void suite_describe_transfer(const suite_case *item, json_t *result, json_t *shape, json_t *layout)
{
    const suite_transfer_case *t = &item->transfer;
    (void)result;
    tool_set_int(shape, "width", t->width);
    tool_set_int(shape, "height", t->height);
    tool_set_int(layout, "to_pitch", t->to_pitch);
    tool_set_int(layout, "from_pitch", t->from_pitch);
    tool_set_int(layout, "to_offset", t->to_offset);
    tool_set_int(layout, "from_offset", t->from_offset);
    if (t->move == SUITE_FILLING) {
        tool_set_int(layout, "pattern_bytes", t->pattern_bytes);
    }
    if (t->move == SUITE_COPY) {
        json_object_set_new(layout, "neighbours", json_boolean(t->neighbours));
    }
}
