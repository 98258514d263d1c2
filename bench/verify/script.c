/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - short programs over the API. They check the order of work on streams, events,
 * lifetimes, refusals and limits. */
#include "bench/verify/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 64, MEGABYTE = 1 << 20 };

static bool set_up(stage *s)
{
    TRY(iso_device_open(s->runner->info.spec, &s->device));
    for (int i = 0; i < 4; i++) {
        TRY(iso_stream_create(s->device, s->runner->flags, &s->streams[i]));
    }
    for (int i = 0; i < 2; i++) {
        TRY(iso_event_create(s->device, &s->events[i]));
    }
    TRY(iso_buffer_create(s->device, MEGABYTE, &s->a));
    TRY(iso_buffer_create(s->device, MEGABYTE, &s->b));
    return true;
}

bool script_choose(stage *s, iso_op_kind kind, const void *args, iso_variant *variant,
                   const iso_variant *variants, int count)
{
    for (int i = 0; i < count; i++) {
        *variant = variants[i];
        iso_clear_error();
        iso_status status = iso_supports(s->device, kind, args);
        if (status == ISO_OK) {
            s->result->reason[0] = '\0';
            return true;
        }
        if (status != ISO_UNSUPPORTED) {
            return check_call_failed(s->result, "iso_supports", status);
        }
        if (i == 0) {
            snprintf(s->result->reason, sizeof s->result->reason, "%s", iso_last_error());
        }
    }
    s->result->status = BENCH_UNSUPPORTED;
    return false;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Each copy must read what the fill before it wrote, and not what the fill after it writes. */
static bool submit_chain(stage *s, iso_stream stream, int64_t base, uint32_t salt)
{
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t value = salt + i;
        TRY(iso_fill(stream, at(s->a, base), &value, 4, 4096));
        TRY(iso_copy(stream, at(s->b, base + i * 4), at(s->a, base + 4092 - i * 4), 4));
    }
    return true;
}

static bool check_chain(stage *s, const uint32_t *got, uint32_t salt)
{
    for (uint32_t i = 0; i < STEPS; i++) {
        if (got[i] != salt + i) {
            return check_fail(s->result, "step %u of the stream saw 0x%x, expected 0x%x", i, got[i],
                              salt + i);
        }
    }
    return true;
}

static bool order_one(stage *s)
{
    uint32_t got[STEPS];
    if (!submit_chain(s, s->streams[0], 0, 0x1000)) {
        return false;
    }
    TRY(iso_read(s->streams[0], got, at(s->b, 0), sizeof got));
    TRY(iso_stream_sync(s->streams[0]));
    return check_chain(s, got, 0x1000);
}

static bool order_many(stage *s)
{
    uint32_t got[4][STEPS];
    for (uint32_t i = 0; i < 4; i++) {
        if (!submit_chain(s, s->streams[i], i * 65536, i << 16)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        TRY(iso_read(s->streams[i], got[i], at(s->b, i * 65536), sizeof got[i]));
    }
    for (uint32_t i = 0; i < 4; i++) {
        TRY(iso_stream_sync(s->streams[i]));
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (!check_chain(s, got[i], i << 16)) {
            return false;
        }
    }
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Passes a value from stream to stream. Each stream waits for an event of the stream before it. */
static bool event_wait(stage *s)
{
    uint32_t got = 0;
    for (uint32_t i = 1; i <= 32; i++) {
        iso_stream from = s->streams[i % 4], to = s->streams[(i + 1) % 4];
        TRY(iso_fill(from, at(s->a, 0), &i, 4, MEGABYTE));
        TRY(iso_copy(from, at(s->b, 0), at(s->a, 0), MEGABYTE));
        TRY(iso_event_record(s->events[0], from));
        TRY(iso_stream_wait(to, s->events[0]));
        TRY(iso_read(to, &got, at(s->b, MEGABYTE - 4), 4));
        TRY(iso_event_record(s->events[1], to));
        TRY(iso_event_sync(s->events[1]));
        if (got != i) {
            return check_fail(
                s->result,
                "a stream waited for round %u of another stream but read the data of round %u", i,
                got);
        }
    }
    return true;
}

static bool event_elapsed(stage *s)
{
    int64_t forward = -1, backward = 1;
    uint32_t value = 7;
    TRY(iso_event_record(s->events[0], s->streams[0]));
    for (int i = 0; i < 8; i++) {
        TRY(iso_fill(s->streams[0], at(s->a, 0), &value, 4, MEGABYTE));
    }
    TRY(iso_event_record(s->events[1], s->streams[0]));
    TRY(iso_event_sync(s->events[1]));
    TRY(iso_event_query(s->events[0]));
    TRY(iso_event_elapsed(s->events[0], s->events[1], &forward));
    TRY(iso_event_elapsed(s->events[1], s->events[0], &backward));
    if (forward < 0 || backward > 0) {
        return check_fail(s->result,
                          "iso_event_elapsed gives %lld ns forwards and %lld ns backwards",
                          (long long)forward, (long long)backward);
    }
    return true;
}

static bool event_unrecorded(stage *s)
{
    int64_t ns = 0;
    REFUSED(iso_event_sync(s->events[0]), ISO_NOT_READY);
    REFUSED(iso_event_query(s->events[0]), ISO_NOT_READY);
    REFUSED(iso_event_elapsed(s->events[0], s->events[1], &ns), ISO_NOT_READY);
    /* The stream does not wait for an event that was never recorded. */
    TRY(iso_stream_wait(s->streams[0], s->events[0]));
    TRY(iso_stream_sync(s->streams[0]));
    return true;
}

static bool stream_query(stage *s)
{
    uint32_t value = 9;
    TRY(iso_fill(s->streams[0], at(s->a, 0), &value, 4, MEGABYTE));
    iso_status status = iso_stream_query(s->streams[0]);
    if (status != ISO_OK && status != ISO_NOT_READY) {
        return check_call_failed(s->result, "iso_stream_query", status);
    }
    status = iso_stream_sync_timeout(s->streams[0], 0);
    if (status != ISO_OK && status != ISO_TIMEOUT) {
        return check_call_failed(s->result, "iso_stream_sync_timeout", status);
    }
    TRY(iso_stream_sync_timeout(s->streams[0], INT64_C(60000000000)));
    TRY(iso_stream_query(s->streams[0]));
    return true;
}

/* ---- lifetimes ------------------------------------------------------------------------------- */

static bool free_pending(stage *s)
{
    uint32_t value = 5, got = 0;
    for (int i = 0; i < 16; i++) {
        iso_buffer buffer;
        TRY(iso_buffer_create(s->device, MEGABYTE, &buffer));
        TRY(iso_fill(s->streams[0], at(buffer, 0), &value, 4, MEGABYTE));
        TRY(iso_copy(s->streams[0], at(s->b, 0), at(buffer, 0), MEGABYTE));
        TRY(iso_buffer_destroy(buffer));
    }
    TRY(iso_stream_destroy(s->streams[0]));
    TRY(iso_read(s->streams[1], &got, at(s->b, MEGABYTE - 4), 4));
    TRY(iso_stream_sync(s->streams[1]));
    return got == value || check_fail(s->result, "work on a freed buffer was lost");
}

static bool stale(stage *s)
{
    iso_buffer buffer = s->a;
    iso_stream stream = s->streams[0];
    iso_event event = s->events[0];
    char byte = 0;
    TRY(iso_buffer_destroy(buffer));
    TRY(iso_stream_destroy(stream));
    TRY(iso_event_destroy(event));
    REFUSED(iso_buffer_destroy(buffer), ISO_INVALID);
    REFUSED(iso_stream_destroy(stream), ISO_INVALID);
    REFUSED(iso_event_destroy(event), ISO_INVALID);
    REFUSED(iso_write(s->streams[1], at(buffer, 0), &byte, 1), ISO_INVALID);
    REFUSED(iso_stream_sync(stream), ISO_INVALID);
    REFUSED(iso_event_record(event, s->streams[1]), ISO_INVALID);
    return true;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static iso_gemm_args small_gemm(stage *s)
{
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_NAIVE;
    args.m = args.n = args.k = 4;
    args.a = at(s->a, 0);
    args.b = at(s->a, 256);
    args.c = at(s->b, 0);
    return args;
}

static bool refuse_gemm(stage *s)
{
    static const iso_variant any[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
    iso_stream stream = s->streams[0];
    iso_gemm_args args = small_gemm(s);
    args.m = -1;
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.lda = 3;
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.m = args.n = args.k = INT64_C(1) << 40;
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.c.offset = MEGABYTE - 32; /* C needs 64 bytes */
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.a.offset = 2;
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.c = at(s->a, 32); /* overlaps A */
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.dtype = ISO_I32;
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.c = at((iso_buffer){0}, 0);
    REFUSED(iso_gemm(stream, &args), ISO_INVALID);
    args = small_gemm(s);
    args.b.buffer = s->runner->slots[0].buffer; /* of another device handle */
    REFUSED(iso_gemm(stream, &args), ISO_MISMATCH);
    args = small_gemm(s);
    if (!script_choose(s, ISO_OP_GEMM, &args, &args.variant, any, 3)) {
        return s->result->status == BENCH_UNSUPPORTED;
    }
    TRY(iso_gemm(stream, &args)); /* the stream must still work */
    TRY(iso_stream_sync(stream));
    return true;
}

static bool refuse_reduce(stage *s)
{
    static const iso_reduce_op ops[] = {ISO_MIN,    ISO_MAX,  ISO_MEAN,   ISO_ARGMIN,
                                        ISO_ARGMAX, ISO_AMAX, ISO_ARGAMAX};
    iso_reduce_args args = ISO_REDUCE_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.x = at(s->a, 0);
    args.result = at(s->b, 0);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        args.op = ops[i];
        args.cols = 0;
        REFUSED(iso_supports(s->device, ISO_OP_REDUCE, &args), ISO_INVALID);
        REFUSED(iso_reduce(s->streams[0], &args), ISO_INVALID);
    }
    args.dtype = ISO_I32;
    args.cols = 4;
    args.op = ISO_ARGAMAX;
    REFUSED(iso_reduce(s->streams[0], &args), ISO_INVALID);
    args.op = ISO_NORM2;
    REFUSED(iso_reduce(s->streams[0], &args), ISO_INVALID);
    args.op = ISO_SUM;
    args.result = at(s->a, 4);
    REFUSED(iso_reduce(s->streams[0], &args), ISO_INVALID);
    return true;
}

static bool refuse_map(stage *s)
{
    iso_stream stream = s->streams[0];
    iso_map_args good = ISO_MAP_ARGS_INIT, args;
    good.op = ISO_MAP_ADD;
    good.dtype = ISO_F32;
    good.variant = ISO_VARIANT_TILED;
    good.n = 64;
    good.x = at(s->a, 0);
    good.y = at(s->a, 256);
    good.z = at(s->b, 0);
    args = good;
    args.n = -1;
    REFUSED(iso_map(stream, &args), ISO_INVALID);
    args = good;
    args.op = ISO_MAP_TRIAD;
    args.dtype = ISO_I32;
    REFUSED(iso_map(stream, &args), ISO_INVALID);
    args = good;
    args.z = at(s->a, 4); /* overlaps x, but is not x itself */
    REFUSED(iso_map(stream, &args), ISO_INVALID);
    args = good;
    args.z = at(s->b, MEGABYTE - 252);
    REFUSED(iso_map(stream, &args), ISO_INVALID);
    args = good;
    args.x.offset = 2;
    REFUSED(iso_map(stream, &args), ISO_INVALID);
    args = good;
    args.y.buffer = s->runner->slots[0].buffer; /* of another device handle */
    REFUSED(iso_map(stream, &args), ISO_MISMATCH);
    args = good;
    args.variant = ISO_VARIANT_VENDOR;
    REFUSED(iso_supports(s->device, ISO_OP_MAP, &args), ISO_UNSUPPORTED);
    REFUSED(iso_map(stream, &args), ISO_UNSUPPORTED);
    return true;
}

static bool refuse_spmv(stage *s)
{
    static const int32_t offsets[] = {0, 1, 2}, columns[] = {0, 1}, beyond[] = {0, 2};
    static const float values[] = {1, 2};
    iso_stream stream = s->streams[0];
    iso_sparse_args matrix = ISO_SPARSE_ARGS_INIT;
    iso_spmv_args good = ISO_SPMV_ARGS_INIT, args;
    iso_sparse other;
    matrix.dtype = ISO_F32;
    matrix.index = ISO_I32;
    matrix.flags = ISO_SPARSE_NO_TRANSPOSE;
    matrix.rows = matrix.cols = matrix.entries = 2;
    matrix.offsets = offsets;
    matrix.columns = beyond;
    matrix.values = values;
    REFUSED(iso_sparse_create(s->device, &matrix, &other), ISO_INVALID);
    matrix.columns = columns;
    TRY(iso_sparse_create(s->device, &matrix, &good.matrix));
    good.variant = ISO_VARIANT_TILED;
    good.x = at(s->a, 0);
    good.y = at(s->b, 0);
    args = good;
    args.trans = ISO_TRANS; /* there is no transposed copy */
    REFUSED(iso_spmv(stream, &args), ISO_INVALID);
    args = good;
    args.y = at(s->a, 4); /* overlaps x */
    REFUSED(iso_spmv(stream, &args), ISO_INVALID);
    args = good;
    args.x = at(s->a, MEGABYTE - 4);
    REFUSED(iso_spmv(stream, &args), ISO_INVALID);
    args = good;
    args.y.buffer = s->runner->slots[0].buffer; /* of another device handle */
    REFUSED(iso_spmv(stream, &args), ISO_MISMATCH);
    REFUSED(iso_sparse_write(stream, good.matrix, values, 4), ISO_INVALID);
    TRY(iso_sparse_destroy(good.matrix));
    REFUSED(iso_spmv(stream, &good), ISO_INVALID);
    REFUSED(iso_sparse_destroy(good.matrix), ISO_INVALID);
    return true;
}

static bool refuse_transpose(stage *s)
{
    iso_transpose_args args = ISO_TRANSPOSE_ARGS_INIT;
    args.variant = ISO_VARIANT_NAIVE;
    args.element_bytes = 3;
    args.rows = 4;
    args.cols = 5;
    args.from = at(s->a, 0);
    args.to = at(s->b, 0);
    REFUSED(iso_transpose(s->streams[0], &args), ISO_INVALID);
    args.element_bytes = 4;
    args.to = args.from; /* in place, but not square */
    REFUSED(iso_transpose(s->streams[0], &args), ISO_INVALID);
    args.to = at(s->b, 0);
    args.ld_to = 3;
    REFUSED(iso_transpose(s->streams[0], &args), ISO_INVALID);
    return true;
}

static bool refuse_transfer(stage *s)
{
    char bytes[64] = {0};
    iso_stream stream = s->streams[0];
    REFUSED(iso_write(stream, at(s->a, 0), bytes, -1), ISO_INVALID);
    REFUSED(iso_write(stream, at(s->a, -1), bytes, 1), ISO_INVALID);
    REFUSED(iso_write(stream, at(s->a, MEGABYTE - 8), bytes, 9), ISO_INVALID);
    REFUSED(iso_write(stream, at(s->a, 0), NULL, 1), ISO_INVALID);
    REFUSED(iso_copy(stream, at(s->a, 0), at(s->a, 8), 9), ISO_INVALID);
    REFUSED(iso_fill(stream, at(s->a, 0), bytes, 3, 9), ISO_INVALID);
    REFUSED(iso_fill(stream, at(s->a, 0), bytes, 4, 9), ISO_INVALID);
    REFUSED(iso_write_2d(stream, at(s->a, 0), 3, bytes, 4, 4, 2), ISO_INVALID);
    REFUSED(iso_write(stream, at(s->runner->slots[0].buffer, 0), bytes, 1), ISO_MISMATCH);
    TRY(iso_write(stream, at(s->a, MEGABYTE), bytes, 0));
    TRY(iso_stream_sync(stream));
    return true;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* iso_describe must replace AUTO with the chosen variant, and a product with AUTO must run. */
static bool ask_auto(stage *s)
{
    static const iso_variant of_auto[] = {ISO_VARIANT_NAIVE, ISO_VARIANT_TILED, ISO_VARIANT_VENDOR};
    iso_gemm_args args = small_gemm(s);
    iso_op_info info = ISO_OP_INFO_INIT;
    int64_t bytes = -1;
    float ones[32], got[16] = {0};
    for (int i = 0; i < 32; i++) {
        ones[i] = 1;
    }
    args.b = at(s->a, 64);
    if (!script_choose(s, ISO_OP_GEMM, &args, &args.variant, of_auto, 3)) {
        return s->result->status == BENCH_UNSUPPORTED;
    }
    args.variant = ISO_VARIANT_AUTO;
    TRY(iso_describe(s->device, ISO_OP_GEMM, &args, &info));
    if (info.variant == ISO_VARIANT_AUTO || info.math == ISO_MATH_DEFAULT || !info.library[0]) {
        return check_fail(s->result, "iso_describe did not set the variant, math mode or library");
    }
    TRY(iso_workspace(s->device, ISO_OP_GEMM, &args, &bytes));
    if (bytes < 0) {
        return check_fail(s->result, "iso_workspace returned %lld bytes", (long long)bytes);
    }
    TRY(iso_prepare(s->streams[0], ISO_OP_GEMM, &args));
    TRY(iso_write(s->streams[0], at(s->a, 0), ones, sizeof ones));
    TRY(iso_gemm(s->streams[0], &args));
    TRY(iso_read(s->streams[0], got, at(s->b, 0), sizeof got));
    TRY(iso_stream_sync(s->streams[0]));
    for (int i = 0; i < 16; i++) {
        if (got[i] != 4) {
            return check_fail(s->result, "element %d is %g, expected 4", i, (double)got[i]);
        }
    }
    return true;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static bool limit_memory(stage *s)
{
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_memory_use use = ISO_MEMORY_USE_INIT, after = ISO_MEMORY_USE_INIT;
    iso_device device;
    iso_buffer small, large;
    TRY(iso_device_get_memory_use(s->device, &use));
    options.memory_limit = use.used + 2 * MEGABYTE;
    TRY(iso_device_open_with(s->runner->info.spec, &options, &device));
    bool ok = true;
    iso_status status = iso_buffer_create(device, MEGABYTE, &small);
    if (status != ISO_OK) {
        ok = check_call_failed(s->result, "iso_buffer_create within the limit", status);
    }
    if (ok) {
        status = iso_buffer_create(device, 2 * MEGABYTE, &large);
        if (status != ISO_NO_MEMORY || !strstr(iso_last_error(), "limit")) {
            ok = check_fail(s->result, "creating a buffer over the limit returned %s: %s",
                            iso_status_name(status), iso_last_error());
        }
    }
    if (ok && iso_device_get_memory_use(device, &after) == ISO_OK &&
        (after.limit != options.memory_limit || after.used < use.used + MEGABYTE ||
         after.used > after.limit || after.peak < after.used)) {
        ok = check_fail(s->result, "used %lld, peak %lld, limit %lld after 1 MiB was added to %lld",
                        (long long)after.used, (long long)after.peak, (long long)after.limit,
                        (long long)use.used);
    }
    TRY(iso_device_close(device));
    if (ok) {
        TRY(iso_device_get_memory_use(s->device, &after));
        if (after.used != use.used) {
            ok = check_fail(s->result, "%lld bytes are in use after closing, %lld before",
                            (long long)after.used, (long long)use.used);
        }
    }
    return ok;
}

static bool limit_absurd(stage *s)
{
    iso_buffer buffer;
    REFUSED(iso_buffer_create(s->device, -1, &buffer), ISO_INVALID);
    iso_status status = iso_buffer_create(s->device, INT64_MAX / 2, &buffer);
    if (status != ISO_NO_MEMORY) {
        return check_fail(s->result, "creating a buffer of 2^62 bytes returned %s",
                          iso_status_name(status));
    }
    TRY(iso_buffer_create(s->device, 0, &buffer));
    TRY(iso_buffer_destroy(buffer));
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct script {
    const bench_op *op;
    const char *variant, *name;
    bool (*run)(stage *s);
    bool full;
} scripts[] = {
    {&verify_order, "order", "one-stream", order_one, false},
    {&verify_order, "order", "four-streams", order_many, false},
    {&verify_order, "event", "wait", event_wait, false},
    {&verify_order, "event", "elapsed", event_elapsed, false},
    {&verify_order, "event", "unrecorded", event_unrecorded, false},
    {&verify_order, "event", "query", stream_query, false},
    {&verify_order, "graph", "launches", script_graph, false},
    {&verify_order, "lifetime", "free-pending", free_pending, false},
    {&verify_order, "lifetime", "stale-handles", stale, false},
    {&verify_order, "refusal", "gemm", refuse_gemm, false},
    {&verify_order, "refusal", "reduce", refuse_reduce, false},
    {&verify_order, "refusal", "transpose", refuse_transpose, false},
    {&verify_order, "refusal", "map", refuse_map, false},
    {&verify_order, "refusal", "spmv", refuse_spmv, false},
    {&verify_order, "refusal", "transfer", refuse_transfer, false},
    {&verify_order, "refusal", "products", script_refuse_products, false},
    {&verify_order, "refusal", "syrk", script_refuse_syrk, false},
    {&verify_order, "refusal", "trsm", script_refuse_trsm, false},
    {&verify_order, "question", "auto", ask_auto, false},
    {&verify_limits, "memory", "limit", limit_memory, false},
    {&verify_limits, "memory", "absurd", limit_absurd, false},
    {&verify_limits, "large", "reduce", script_large_reduce, true},
    {&verify_limits, "large", "transpose", script_large_transpose, true},
    {&verify_limits, "large", "map", script_large_map, true},
};

static void list_scripts(const bench_op *op, verify_list *list, bool full)
{
    for (int32_t i = 0; i < (int32_t)(sizeof scripts / sizeof scripts[0]); i++) {
        if (scripts[i].op != op || (scripts[i].full && !full)) {
            continue;
        }
        bench_case item = verify_case(op, (iso_dtype)0, "");
        item.script = i;
        snprintf(item.variant, sizeof item.variant, "%s", scripts[i].variant);
        verify_list_add(list, &item, NULL, 0, scripts[i].name);
    }
}

static bool run_script(verify_state *state, verify_runner *runner, const bench_case *item,
                       bench_result *result)
{
    (void)state;
    stage s = {.runner = runner, .result = result};
    iso_buffer other; /* belongs to the runner's device handle, so using it must give MISMATCH */
    result->method = "script";
    iso_status status = verify_slot_room(runner, 0, 4096, &other);
    if (status != ISO_OK) {
        return check_call_failed(result, "iso_buffer_create", status);
    }
    bool ok = set_up(&s) && scripts[item->script].run(&s);
    if (s.device.id != 0) {
        status = iso_device_close(s.device);
        if (ok && status != ISO_OK) {
            ok = check_call_failed(result, "iso_device_close", status);
        }
    }
    return ok;
}

static void list_order(verify_list *list, bool full)
{
    list_scripts(&verify_order, list, full);
}

static void list_limits(verify_list *list, bool full)
{
    list_scripts(&verify_limits, list, full);
}

/* Recorded ids and documents call it "stream", so that name stays. */
const bench_op verify_order = {
    .name = "order", .verified = "stream", .cases = list_order, .run = run_script};
const bench_op verify_limits = {
    .name = "limits", .verified = "limits", .cases = list_limits, .run = run_script};
