/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - the row of transfers, which have no kernel. */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- measured cases -------------------------------------------------------------------------- */

/* In the order of transfer_move. */
static const char *const kinds[] = {"write", "read", "copy", NULL};
static const char *const variants[] = {"pageable", "pinned", "device", NULL};

static bool set_kind(bench_case *item, const char *kind)
{
    int move = TRANSFER_WRITE;
    while (strcmp(kinds[move], kind) != 0) {
        move++;
    }
    item->transfer.move = (transfer_move)move;
    return (item->transfer.move == TRANSFER_COPY) == (strcmp(item->variant, "device") == 0);
}

static void set_size(bench_case *item, const bench_size *size)
{
    item->transfer.width = size->of[0];
    item->transfer.height = 1;
}

static void shape(const bench_case *item, bench_shape *out)
{
    *out = (bench_shape){.names = {"bytes"},
                         .sizes = {item->transfer.width},
                         .count = 1,
                         .elements = (double)item->transfer.width};
}

static void needs(const bench_case *item, bench_needs *out)
{
    out->type = ISO_F32;
    out->bytes[0] = item->transfer.width;
    out->results = item->transfer.move == TRANSFER_READ ? 0 : item->transfer.width;
}

/* ---- the conformance list -------------------------------------------------------------------- */

static const char *const moves[] = {"write", "read", "copy", "between", "fill"};

static void add(verify_list *list, const transfer_shape *t)
{
    bench_case item = verify_case(&bench_transfer, (iso_dtype)0, "");
    item.same_bits = true;
    item.transfer = *t;
    char after[BENCH_ID_MAX - 24];
    snprintf(item.variant, sizeof item.variant, "%s", moves[t->move]);
    if (t->move == TRANSFER_FILL) {
        snprintf(item.type, sizeof item.type, "e%d", (int)t->pattern_bytes);
    }
    snprintf(after, sizeof after, "%s/w%lldh%lld/pitch%lld-%lld/off%lld-%lld%s%s",
             t->flat         ? "1d"
             : t->neighbours ? "neighbours"
                             : "2d",
             (long long)t->width, (long long)t->height, (long long)t->to_pitch,
             (long long)t->from_pitch, (long long)t->to_offset, (long long)t->from_offset,
             item.type[0] ? "/" : "", item.type);
    verify_list_add(list, &item, NULL, 0, after);
}

static void list_flat(verify_list *list, transfer_move move, int64_t unit, const int64_t *sizes,
                      int count)
{
    static const int64_t offsets[][2] = {{0, 0}, {1, 3}, {256, 0}, {7, 64}, {13, 13}};
    for (int i = 0; i < count; i++) {
        transfer_shape t = {.move = move, .flat = true, .height = 1, .pattern_bytes = unit};
        t.width = sizes[i] * unit;
        t.to_pitch = t.from_pitch = t.width;
        t.to_offset = offsets[i % COUNT(offsets)][0] * unit;
        t.from_offset = offsets[i % COUNT(offsets)][1];
        add(list, &t);
    }
}

static void list_pitched(verify_list *list, transfer_move move, int64_t unit)
{
    static const int64_t shapes[][2] = {{0, 5},   {5, 0},     {1, 1},    {1, 100},
                                        {3, 7},   {64, 64},   {63, 9},   {65, 2},
                                        {100, 1}, {1000, 33}, {4096, 3}, {17, 500}};
    static const int64_t gaps[][2] = {{0, 0}, {5, 0}, {0, 3}, {1, 64}, {32, 17}};
    for (int i = 0; i < COUNT(shapes); i++) {
        transfer_shape t = {.move = move, .pattern_bytes = unit};
        t.width = shapes[i][0] * unit;
        t.height = shapes[i][1];
        t.to_pitch = t.width + gaps[i % COUNT(gaps)][0] * unit;
        t.from_pitch = t.width + gaps[i % COUNT(gaps)][1];
        t.to_offset = (i % 4) * unit;
        t.from_offset = i % 3;
        add(list, &t);
    }
}

/* Copies between blocks of one matrix: side by side, across the end of a row, with different
 * pitches. */
static void list_neighbours(verify_list *list)
{
    static const struct {
        int64_t width, height, to_pitch, from_pitch, to_offset, from_offset;
    } rows[] = {
        {17, 9, 34, 34, 17, 0},  {64, 33, 200, 200, 64, 0},  {1000, 7, 2001, 2001, 0, 1001},
        {5, 100, 13, 13, 11, 3}, {16, 64, 256, 256, 0, 128}, {1, 300, 2, 2, 1, 0},
        {8, 3, 32, 64, 8, 0},    {8, 5, 64, 64, 8 * 64, 8},  {4096, 3, 8192, 8192, 4096, 0},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        add(list, &(transfer_shape){.move = TRANSFER_COPY,
                                    .width = rows[i].width,
                                    .height = rows[i].height,
                                    .to_pitch = rows[i].to_pitch,
                                    .from_pitch = rows[i].from_pitch,
                                    .to_offset = rows[i].to_offset,
                                    .from_offset = rows[i].from_offset,
                                    .neighbours = true});
    }
}

static void cases(verify_list *list, bool full)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 255, 4095, 4096, 100003};
    static const int64_t large[] = {1 << 20, 67108869};
    static const int64_t units[] = {1, 2, 4, 8, 16};
    static const transfer_move both[] = {TRANSFER_WRITE, TRANSFER_READ, TRANSFER_COPY};
    for (int m = 0; m < COUNT(both); m++) {
        list_flat(list, both[m], 1, sizes, COUNT(sizes));
        list_pitched(list, both[m], 1);
        if (full) {
            list_flat(list, both[m], 1, large, COUNT(large));
        }
    }
    list_flat(list, TRANSFER_BETWEEN, 1, sizes, COUNT(sizes));
    list_neighbours(list);
    for (int u = 0; u < COUNT(units); u++) {
        list_flat(list, TRANSFER_FILL, units[u], sizes, COUNT(sizes));
        list_pitched(list, TRANSFER_FILL, units[u]);
    }
}

/* ---- run ------------------------------------------------------------------------------------- */

typedef struct move_data {
    verify_region to, from;
    unsigned char pattern[16];
    unsigned char *moved; /* dense: the bytes that should arrive */
    unsigned char *host;  /* the target of a read */
} move_data;

static void free_move(move_data *d)
{
    free(d->to.image.data);
    free(d->from.image.data);
    free(d->moved);
    free(d->host);
}

static bool make_regions(move_data *d, const transfer_shape *t)
{
    int64_t ends[] = {t->to_offset + t->height * t->to_pitch,
                      t->from_offset + t->height * t->from_pitch};
    verify_region to = {.element = 1, .rows = t->height, .cols = t->width, .batch = 1}, from = to;
    to.ld = t->to_pitch;
    to.offset = t->to_offset;
    from.ld = t->from_pitch;
    from.offset = t->from_offset;
    from.ones = true;
    if (t->neighbours) {
        to.least = ends[ends[0] < ends[1]];
        verify_region_within(&d->from, &from, &d->to);
        return verify_region_lay(&d->to, &to);
    }
    return verify_region_lay(&d->to, &to) && verify_region_lay(&d->from, &from);
}

static bool make(move_data *d, const bench_case *item)
{
    const transfer_shape *t = &item->transfer;
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
    verify_region_scatter(&d->from, d->moved);
    if (t->move == TRANSFER_FILL) {
        uint64_t mix[2] = {arith_mix(item->seed, 1u << 30), arith_mix(item->seed, 2u << 30)};
        memcpy(d->pattern, mix, sizeof mix);
        for (int64_t i = 0; i < bytes; i++) {
            d->moved[i] = d->pattern[i % t->pattern_bytes];
        }
    }
    memcpy(d->host, d->to.image.data, (size_t)d->to.bytes);
    return true;
}

static iso_status submit(verify_runner *runner, const transfer_shape *t, const move_data *d,
                         iso_operand to, iso_operand from)
{
    iso_stream s = runner->stream;
    const unsigned char *source = (unsigned char *)d->from.image.data + d->from.start;
    unsigned char *target = d->host + d->to.start;
    int64_t w = t->width, h = t->height;
    switch (t->move) {
    case TRANSFER_WRITE:
        return t->flat ? iso_write(s, to, source, w)
                       : iso_write_2d(s, to, t->to_pitch, source, t->from_pitch, w, h);
    case TRANSFER_READ:
        return t->flat ? iso_read(s, target, from, w)
                       : iso_read_2d(s, target, t->to_pitch, from, t->from_pitch, w, h);
    case TRANSFER_FILL:
        return t->flat ? iso_fill(s, to, d->pattern, t->pattern_bytes, w)
                       : iso_fill_2d(s, to, t->to_pitch, d->pattern, t->pattern_bytes, w, h);
    default:
        return t->flat ? iso_copy(s, to, from, w)
                       : iso_copy_2d(s, to, t->to_pitch, from, t->from_pitch, w, h);
    }
}

static bool judge(verify_state *state, const move_data *d, const bench_case *item,
                  const unsigned char *image, bench_result *result)
{
    int64_t bytes = item->transfer.width * item->transfer.height;
    unsigned char *dense = verify_grow(&state->dense, bytes + 8);
    if (!dense) {
        return check_no_memory(result);
    }
    verify_region_gather(&d->to, image, dense);
    result->method = "exact";
    check_digest(result, (iso_dtype)0, dense, bytes, 1);
    int64_t changed = verify_region_changed(&d->to, image);
    if (changed >= 0) {
        return check_fail(result,
                          "a byte outside the target was changed, at offset %lld from its start",
                          (long long)(changed - d->to.start));
    }
    return check_transfer(item, &(check_data){.x = d->moved}, dense, result);
}

/* Copies between two handles to the device. The target belongs to the second one. */
static iso_status move_between(verify_runner *runner, const bench_case *item, move_data *d,
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
        status = iso_write(stream, to, d->to.image.data, d->to.bytes);
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
    iso_status closed = iso_device_close(device); /* also closes its stream and its buffer */
    return status == ISO_OK ? closed : status;
}

static bool move(verify_state *state, verify_runner *runner, const bench_case *item, move_data *d,
                 bench_result *result)
{
    transfer_move how = item->transfer.move;
    iso_operand to = {{0}, 0}, from = {{0}, 0};
    iso_status status = verify_slot_room(runner, 1, d->to.bytes, &to.buffer);
    if (item->transfer.neighbours) {
        from = to;
    } else if (status == ISO_OK) {
        status = verify_slot_room(runner, 0, d->from.bytes, &from.buffer);
    }
    if (status == ISO_OK && !item->transfer.neighbours) {
        status = iso_write(runner->stream, from, d->from.image.data, d->from.bytes);
    }
    if (status == ISO_OK) {
        status = iso_write(runner->stream, to, d->to.image.data, d->to.bytes);
    }
    if (status != ISO_OK) {
        return check_call_failed(result, "setting up", status);
    }
    to.offset = d->to.start;
    from.offset = d->from.start;
    status = how == TRANSFER_BETWEEN ? move_between(runner, item, d, from)
                                     : submit(runner, &item->transfer, d, to, from);
    to.offset = 0;
    if (status == ISO_OK && how != TRANSFER_READ && how != TRANSFER_BETWEEN) {
        status = iso_read(runner->stream, d->host, to, d->to.bytes);
    }
    iso_status synced = iso_stream_sync(runner->stream); /* before the host memory is freed */
    if (status != ISO_OK || synced != ISO_OK) {
        return check_call_failed(result, "the transfer", status != ISO_OK ? status : synced);
    }
    return judge(state, d, item, d->host, result);
}

static bool run(verify_state *state, verify_runner *runner, const bench_case *item,
                bench_result *result)
{
    move_data d = {0};
    bool ok = make(&d, item) ? move(state, runner, item, &d, result) : check_no_memory(result);
    free_move(&d);
    return ok;
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const transfer_shape *t = &item->transfer;
    tool_set_int(sizes, "width", t->width);
    tool_set_int(sizes, "height", t->height);
    tool_set_int(layout, "to_pitch", t->to_pitch);
    tool_set_int(layout, "from_pitch", t->from_pitch);
    tool_set_int(layout, "to_offset", t->to_offset);
    tool_set_int(layout, "from_offset", t->from_offset);
    if (t->move == TRANSFER_FILL) {
        tool_set_int(layout, "pattern_bytes", t->pattern_bytes);
    }
    if (t->move == TRANSFER_COPY) {
        json_object_set_new(layout, "neighbours", json_boolean(t->neighbours));
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

const bench_op bench_transfer = {
    .name = "transfer",
    .measured = "transfer",
    .verified = "transfer",
    .title = "Transfers",
    .size = "bytes",
    .moves = true,
    .kinds = kinds,
    .variants = variants,
    .usual_kinds = "write,read,copy",
    .usual_variants = "pageable,pinned,device",
    .counts = 1 << 0 | 1 << 1,
    .needs = needs,
    .check = check_transfer,
    .set_kind = set_kind,
    .set_size = set_size,
    .shape = shape,
    .cases = cases,
    .run = run,
    .describe = describe,
};
