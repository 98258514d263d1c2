/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c - a device with its stream and buffers, and one operation run on it. */
#include "bench/suite/internal.h"
#include "bench/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

suite_runner *suite_runner_open(const char *spec, uint32_t stream_flags)
{
    suite_runner *runner = calloc(1, sizeof *runner);
    if (!runner) {
        return NULL;
    }
    runner->flags = stream_flags;
    runner->info = (iso_device_info)ISO_DEVICE_INFO_INIT;
    if (iso_device_open(spec, &runner->device) != ISO_OK) {
        goto fail;
    }
    if (iso_device_get_info(runner->device, &runner->info) != ISO_OK ||
        iso_stream_create(runner->device, stream_flags, &runner->stream) != ISO_OK) {
        goto fail;
    }
    return runner;
fail:
    if (runner->device.id != 0) {
        iso_device_close(runner->device);
    }
    free(runner);
    return NULL;
}

iso_status suite_runner_close(suite_runner *runner)
{
    if (!runner) {
        return ISO_OK;
    }
    for (int i = 0; i < SUITE_SLOTS; i++) {
        if (runner->slots[i].buffer.id != 0) {
            iso_buffer_destroy(runner->slots[i].buffer);
        }
    }
    if (runner->stream.id != 0) {
        iso_stream_destroy(runner->stream);
    }
    iso_status status = iso_device_close(runner->device);
    free(runner->back.data);
    free(runner);
    return status;
}

iso_device suite_runner_device(const suite_runner *runner)
{
    return runner->device;
}

const iso_device_info *suite_runner_info(const suite_runner *runner)
{
    return &runner->info;
}

void suite_runner_set_library(suite_runner *runner, int32_t library)
{
    runner->library = library;
}

iso_status suite_slot_room(suite_runner *runner, int slot, int64_t bytes, iso_buffer *out)
{
    suite_slot *s = &runner->slots[slot];
    if (s->buffer.id == 0 || s->bytes < bytes) {
        if (s->buffer.id != 0) {
            iso_buffer_destroy(s->buffer);
        }
        s->buffer.id = 0;
        s->bytes = 0;
        int64_t room = bytes < 1 << 24 ? bytes + bytes / 2 + 4096 : bytes;
        iso_status status = iso_buffer_create(runner->device, room, &s->buffer);
        if (status != ISO_OK) {
            return status;
        }
        s->bytes = room;
    }
    *out = s->buffer;
    return ISO_OK;
}

bool suite_point(suite_runner *runner, int slot, const suite_region *region, int64_t bytes,
                 iso_operand *operand, suite_result *result)
{
    iso_status status =
        suite_slot_room(runner, slot, bytes ? bytes : region->bytes, &operand->buffer);
    operand->offset = region->start;
    return status == ISO_OK || suite_call_failed(result, "iso_buffer_create", status);
}

/* A stream that has failed runs nothing more: the next case gets a new one. */
static void renew_stream(suite_runner *runner)
{
    if (runner->stream.id != 0) {
        iso_stream_destroy(runner->stream);
    }
    runner->stream.id = 0;
    iso_stream_create(runner->device, runner->flags, &runner->stream);
}

static iso_status upload(suite_runner *runner, int slot, const suite_region *region)
{
    iso_buffer buffer;
    iso_status status = suite_slot_room(runner, slot, region->bytes, &buffer);
    if (status != ISO_OK) {
        return status;
    }
    return iso_write(runner->stream, (iso_operand){buffer, 0}, region->image, region->bytes);
}

static const unsigned char *download(suite_runner *runner, int slot, const suite_region *region,
                                     iso_status *status)
{
    *status = ISO_NO_MEMORY;
    if (!suite_grow(&runner->back, region->bytes)) {
        return NULL;
    }
    *status = iso_read(runner->stream, runner->back.data,
                       (iso_operand){runner->slots[slot].buffer, 0}, region->bytes);
    if (*status == ISO_OK) {
        *status = iso_stream_sync(runner->stream);
    }
    return *status == ISO_OK ? runner->back.data : NULL;
}

/* The device said no: then the operation says so too, in words, and the case is done. */
static bool check_refusal(suite_runner *runner, const suite_work *work, suite_result *result)
{
    snprintf(result->reason, sizeof result->reason, "%s", iso_last_error());
    if (result->reason[0] == '\0') {
        return suite_fail(result, "iso_supports answered UNSUPPORTED without a reason");
    }
    iso_status status = iso_execute(runner->stream, work->kind, work->args);
    if (status != ISO_UNSUPPORTED) {
        return suite_fail(result,
                          "iso_supports answered UNSUPPORTED (%.512s), but iso_execute answered %s",
                          result->reason, iso_status_name(status));
    }
    result->status = BENCH_UNSUPPORTED;
    return true;
}

static bool check_inputs(suite_runner *runner, const suite_work *work, suite_result *result)
{
    for (int i = 0; i < work->inputs; i++) {
        iso_status status;
        const suite_region *region = work->in[i];
        const unsigned char *image = download(runner, i, region, &status);
        if (!image) {
            return suite_call_failed(result, "iso_read", status);
        }
        if (memcmp(image, region->image, (size_t)region->bytes) != 0) {
            return suite_fail(result, "input %d was changed by the operation", i + 1);
        }
    }
    return true;
}

static bool execute(suite_runner *runner, const suite_work *work, suite_result *result)
{
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_status status = iso_describe(runner->device, work->kind, work->args, &info);
    if (status != ISO_OK) {
        return suite_call_failed(result, "iso_describe", status);
    }
    memcpy(result->library, info.library, sizeof result->library);
    status = iso_execute(runner->stream, work->kind, work->args);
    if (status == ISO_UNSUPPORTED) {
        return suite_fail(result, "iso_supports answered OK, but iso_execute UNSUPPORTED: %s",
                          iso_last_error());
    }
    if (status != ISO_OK) {
        return suite_call_failed(result, "iso_execute", status);
    }
    status = iso_stream_sync(runner->stream);
    return status == ISO_OK || suite_call_failed(result, "iso_stream_sync", status);
}

bool suite_operate(suite_runner *runner, const suite_work *work, const unsigned char **back,
                   suite_result *result)
{
    *back = NULL;
    iso_status status = iso_supports(runner->device, work->kind, work->args);
    if (status == ISO_UNSUPPORTED) {
        return check_refusal(runner, work, result);
    }
    if (status != ISO_OK) {
        return suite_call_failed(result, "iso_supports", status);
    }
    for (int i = 0; i < work->inputs && status == ISO_OK; i++) {
        status = upload(runner, i, work->in[i]);
    }
    if (status == ISO_OK) {
        status = upload(runner, work->inputs, work->out);
    }
    if (status != ISO_OK) {
        return suite_call_failed(result, "uploading the operands", status);
    }
    if (!execute(runner, work, result) || !check_inputs(runner, work, result)) {
        return false;
    }
    const unsigned char *image = download(runner, work->inputs, work->out, &status);
    if (!image) {
        return suite_call_failed(result, "iso_read", status);
    }
    int64_t changed = suite_region_changed(work->out, image);
    if (changed >= 0) {
        return suite_fail(result,
                          "byte %lld, counted from the first element of the output, lies outside "
                          "its elements and was changed",
                          (long long)(changed - work->out->start));
    }
    *back = image;
    return true;
}

void suite_run(suite_state *state, suite_runner *runner, const suite_case *item,
               suite_result *result)
{
    memset(result, 0, sizeof *result);
    result->method = "";
    arith_fp_reset();
    double begin = tool_seconds();
    if (runner->stream.id == 0) {
        renew_stream(runner);
    }
    if (!item->op->run(state, runner, item, result)) {
        renew_stream(runner);
    }
    result->seconds = tool_seconds() - begin;
}

suite_state *suite_state_create(uint64_t seed)
{
    suite_state *state = calloc(1, sizeof *state);
    if (state) {
        state->seed = seed;
        for (int i = 0; i < BENCH_OPS; i++) {
            state->data[i].problem = -1;
        }
    }
    return state;
}

suite_data *suite_data_of(suite_state *state, const suite_case *item)
{
    return &state->data[bench_op_rank(item->op)];
}

void suite_state_destroy(suite_state *state)
{
    for (int i = 0; state && i < BENCH_OPS; i++) {
        suite_data *d = &state->data[i];
        suite_region_free(&d->in[0]);
        suite_region_free(&d->in[1]);
        suite_region_free(&d->out);
        for (size_t b = 0; b < sizeof d->blocks / sizeof d->blocks[0]; b++) {
            free(d->blocks[b].data);
        }
    }
    if (state) {
        free(state->dense.data);
    }
    free(state);
}
