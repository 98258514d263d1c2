/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c - a device with its stream and buffers, and one operation run on it. */
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_device(verify_runner *runner, const char *spec)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    if (iso_device_open(spec, &runner->device) != ISO_OK) {
        runner->device.id = 0;
        return false;
    }
    if (iso_device_get_info(runner->device, &info) == ISO_OK &&
        iso_stream_create(runner->device, runner->flags, &runner->stream) == ISO_OK) {
        runner->info = info;
        return true;
    }
    iso_device_close(runner->device);
    runner->device.id = 0;
    return false;
}

verify_runner *verify_runner_open(const char *spec, uint32_t stream_flags)
{
    verify_runner *runner = calloc(1, sizeof *runner);
    if (!runner) {
        return NULL;
    }
    runner->flags = stream_flags;
    if (!open_device(runner, spec)) {
        free(runner);
        return NULL;
    }
    return runner;
}

static void close_device(verify_runner *runner)
{
    if (runner->device.id != 0) {
        iso_device_close(runner->device); /* also frees everything on it */
    }
    runner->device.id = runner->stream.id = runner->beside.id = 0;
    memset(runner->slots, 0, sizeof runner->slots);
}

bool verify_runner_reopen(verify_runner *runner)
{
    char spec[ISO_NAME_MAX];
    memcpy(spec, runner->info.spec, sizeof spec);
    close_device(runner);
    return open_device(runner, spec);
}

void verify_runner_close(verify_runner *runner)
{
    if (runner) {
        close_device(runner);
        free(runner->back.data);
        free(runner);
    }
}

iso_status verify_slot_room(verify_runner *runner, int slot, int64_t bytes, iso_buffer *out)
{
    iso_buffer *buffer = &runner->slots[slot].buffer;
    if (buffer->id == 0 || runner->slots[slot].bytes < bytes) {
        if (buffer->id != 0) {
            iso_buffer_destroy(*buffer);
        }
        buffer->id = 0;
        int64_t room = bytes < 1 << 24 ? bytes + bytes / 2 + 4096 : bytes;
        iso_status status = iso_buffer_create(runner->device, room, buffer);
        if (status != ISO_OK) {
            return status;
        }
        runner->slots[slot].bytes = room;
    }
    *out = *buffer;
    return ISO_OK;
}

void verify_runner_renew(verify_runner *runner)
{
    if (runner->stream.id != 0) {
        iso_stream_destroy(runner->stream);
    }
    runner->stream.id = 0;
    iso_stream_create(runner->device, runner->flags, &runner->stream);
}

/* ---- the data of a problem ------------------------------------------------------------------- */

/* Fills with random bits, including NaN of every kind. With `finite`, elements of 4 or more bytes
 * are finite numbers instead, because a vendor's library may move them by arithmetic, which can
 * change the bits of a NaN. */
static void generate_moved(const bench_case *item, bool finite, int64_t bytes, unsigned char *out)
{
    if (finite && item->element >= 4) {
        iso_dtype dtype = item->element == 4 ? ISO_F32 : ISO_F64;
        arith_generate(dtype, ARITH_UNIFORM, item->seed, bytes / iso_dtype_size(dtype), out);
        return;
    }
    for (int64_t i = 0; i < bytes; i += 8) {
        uint64_t mix = arith_mix(item->seed, (uint64_t)i / 8);
        if (mix % 5 == 0) { /* a NaN of f64, quiet or signalling */
            mix |= 0x7ff0000000000000u;
        } else if (mix % 5 == 1) { /* two signalling NaN of f32 */
            mix = (mix & 0x803fffff803fffffu) | 0x7f8000017f800001u;
        }
        memcpy(out + i, &mix, (size_t)(bytes - i < 8 ? bytes - i : 8));
    }
}

static bool build(verify_problem *p, const bench_case *item, const bench_needs *needs,
                  bench_result *result)
{
    p->number = -1;
    for (int i = 0; i < 3; i++) {
        p->lies[i] = &p->regions[i];
    }
    if (!item->op->lay(item, p)) {
        return check_no_memory(result);
    }
    for (int i = 0; i < needs->inputs; i++) {
        void *dense = verify_grow(&p->dense[i], needs->bytes[i]);
        if (!dense) {
            return check_no_memory(result);
        }
        if (item->dtype == 0) {
            generate_moved(item, p->finite, needs->bytes[i], dense);
        } else {
            uint64_t which = p->lies[i] == p->lies[0] ? 1 : 2;
            arith_generate(item->dtype, item->fill, item->seed + which,
                           needs->bytes[i] / item->element, dense);
        }
        if (item->op->fit) {
            item->op->fit(item, i, dense);
        }
        verify_region_scatter(p->lies[i], dense);
    }
    p->number = item->problem;
    return true;
}

/* ---- one operation --------------------------------------------------------------------------- */

/* An operation and its images on the device: those of the inputs, then that of the result, one in
 * each slot. */
typedef struct operation {
    iso_op_kind kind;
    bench_args args;
    bench_args twin; /* the same with another result */
    const verify_region *images[3];
    int inputs;
    const verify_region *out; /* the region of the result; it may lie in another region's image */
    uint64_t object;          /* what its arguments name, if anything */
} operation;

static iso_status upload(verify_runner *runner, int slot, const verify_region *region)
{
    iso_buffer buffer;
    iso_status status = verify_slot_room(runner, slot, region->bytes, &buffer);
    if (status != ISO_OK) {
        return status;
    }
    return iso_write(runner->stream, (iso_operand){buffer, 0}, region->image.data, region->bytes);
}

static const unsigned char *download(verify_runner *runner, int slot, const verify_region *region,
                                     iso_status *status)
{
    *status = ISO_NO_MEMORY;
    if (!verify_grow(&runner->back, region->bytes)) {
        return NULL;
    }
    *status = iso_read(runner->stream, runner->back.data,
                       (iso_operand){runner->slots[slot].buffer, 0}, region->bytes);
    if (*status == ISO_OK) {
        *status = iso_stream_sync(runner->stream);
    }
    return *status == ISO_OK ? runner->back.data : NULL;
}

/* Called if the device does not support the operation. Checks only that iso_supports gave a reason
 * and that iso_execute returns UNSUPPORTED too. */
static bool check_refusal(verify_runner *runner, const operation *o, bench_result *result)
{
    snprintf(result->reason, sizeof result->reason, "%s", tool_reason());
    if (result->reason[0] == '\0') {
        return check_fail(result, "iso_supports returned UNSUPPORTED without a reason");
    }
    iso_status status = iso_execute(runner->stream, o->kind, &o->args);
    if (status != ISO_UNSUPPORTED) {
        return check_fail(result,
                          "iso_supports returned UNSUPPORTED (%.512s), but iso_execute returned %s",
                          result->reason, iso_status_name(status));
    }
    result->status = BENCH_UNSUPPORTED;
    return true;
}

static bool check_inputs(verify_runner *runner, const operation *o, bench_result *result)
{
    for (int i = 0; i < o->inputs; i++) {
        iso_status status;
        const unsigned char *image = download(runner, i, o->images[i], &status);
        if (!image) {
            return check_call_failed(result, "iso_read", status);
        }
        if (memcmp(image, o->images[i]->image.data, (size_t)o->images[i]->bytes) != 0) {
            return check_fail(result, "the operation changed input %d", i + 1);
        }
    }
    return true;
}

static bool execute(verify_runner *runner, const bench_case *item, const operation *o,
                    bench_result *result)
{
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_status status = iso_describe(runner->device, o->kind, &o->args, &info);
    if (status != ISO_OK) {
        return check_call_failed(result, "iso_describe", status);
    }
    memcpy(result->library, info.library, sizeof result->library);
    if (runner->beside.id != 0) {
        status = iso_stream_sync(runner->stream); /* the operands are there for both */
        if (status == ISO_OK) {
            status = runner->load ? iso_gemm(runner->beside, runner->load)
                                  : iso_execute(runner->beside, o->kind, &o->twin);
        }
        if (status != ISO_OK) {
            return check_call_failed(result, "iso_execute on the other stream", status);
        }
    }
    status = item->op->call ? item->op->call(item, runner->stream, &o->args)
                            : iso_execute(runner->stream, o->kind, &o->args);
    if (status == ISO_UNSUPPORTED) {
        return check_fail(result,
                          "iso_supports returned OK, but iso_execute returned UNSUPPORTED: %s",
                          tool_reason());
    }
    if (status != ISO_OK) {
        return check_call_failed(result, "iso_execute", status);
    }
    status = iso_stream_sync(runner->stream);
    if (status == ISO_OK && runner->beside.id != 0) {
        status = iso_stream_sync(runner->beside);
    }
    return status == ISO_OK || check_call_failed(result, "iso_stream_sync", status);
}

/* Writes factors that the case has on the device, and points the arguments at them. */
static bool put_factors(verify_runner *runner, const bench_case *item, operation *o,
                        bench_result *result)
{
    unsigned char bytes[BENCH_FACTORS];
    iso_buffer buffer;
    if (!item->op->factors) {
        return true;
    }
    iso_status status = verify_slot_room(runner, VERIFY_FACTORS, BENCH_FACTORS, &buffer);
    if (status == ISO_OK && item->op->factors(item, bytes, &o->args, buffer)) {
        status = iso_write(runner->stream, (iso_operand){buffer, 0}, bytes, BENCH_FACTORS);
        if (status == ISO_OK) {
            status = iso_stream_sync(runner->stream);
        }
    }
    return status == ISO_OK || check_call_failed(result, "writing the factors", status);
}

/* Assigns a slot to each image, and points the operands at their places in the slots. */
static bool place(verify_runner *runner, const bench_case *item, const verify_problem *p,
                  int inputs, operation *o, bench_result *result)
{
    iso_operand operands[3] = {{{0}, 0}};
    const verify_region *last = verify_region_owner(p->lies[2]);
    o->out = p->lies[2];
    for (int i = 0; i < inputs; i++) {
        const verify_region *owner = verify_region_owner(p->lies[i]);
        if (owner != last && (o->inputs == 0 || owner != o->images[0])) {
            o->images[o->inputs++] = owner;
        }
    }
    o->images[o->inputs] = last;
    for (int i = 0; i < 3; i++) {
        if (i >= inputs && i < 2) {
            continue;
        }
        const verify_region *owner = verify_region_owner(p->lies[i]);
        int slot = 0;
        while (o->images[slot] != owner) {
            slot++;
        }
        iso_status status = verify_slot_room(runner, slot, owner->bytes, &operands[i].buffer);
        if (status != ISO_OK) {
            return check_call_failed(result, "iso_buffer_create", status);
        }
        operands[i].offset = p->lies[i]->start;
    }
    item->op->operands(item, &o->args, operands, operands[2]);
    if (!put_factors(runner, item, o, result)) {
        return false;
    }
    if (runner->beside.id != 0 && !runner->load) {
        iso_status status = verify_slot_room(runner, VERIFY_TWIN, last->bytes, &operands[2].buffer);
        if (status != ISO_OK) {
            return check_call_failed(result, "iso_buffer_create", status);
        }
        o->twin = o->args;
        item->op->operands(item, &o->twin, operands, operands[2]);
    }
    return true;
}

/* Makes the object that the arguments name. */
static bool make_object(const verify_runner *runner, const bench_case *item, operation *o,
                        bench_result *result)
{
    if (!item->op->object) {
        return true;
    }
    iso_status status = item->op->object->make(item, runner->device, &o->object);
    if (status != ISO_OK) {
        return check_call_failed(result, "making the operation's object", status);
    }
    item->op->object->set(&o->args, o->object);
    return true;
}

/* Checks that support does not depend on alpha and beta. */
static bool same_support(const verify_runner *runner, const bench_op *op, const operation *o,
                         bench_result *result)
{
    bench_args other = o->args;
    iso_status first = iso_supports(runner->device, o->kind, &o->args);
    for (int i = 0; op->other_factors && op->other_factors(&other, i); i++) {
        iso_status status = iso_supports(runner->device, o->kind, &other);
        if (status != first) {
            return check_fail(result,
                              "iso_supports returns %s, but %s with another alpha and beta: %.512s",
                              iso_status_name(first), iso_status_name(status), tool_reason());
        }
    }
    return true;
}

/* Queries support, describes, uploads, executes and reads back. Checks that the inputs and all
 * bytes outside the result are unchanged. `*back` is the image of the output afterwards; it is NULL
 * if the operation is UNSUPPORTED, which the result reports. False: the case failed, and the result
 * says why. */
static bool operate(verify_runner *runner, const bench_case *item, const operation *o,
                    const unsigned char **back, bench_result *result)
{
    *back = NULL;
    iso_status status = iso_supports(runner->device, o->kind, &o->args);
    if (status == ISO_UNSUPPORTED) {
        return check_refusal(runner, o, result);
    }
    if (status != ISO_OK) {
        return check_call_failed(result, "iso_supports", status);
    }
    for (int i = 0; i <= o->inputs && status == ISO_OK; i++) {
        status = upload(runner, i, o->images[i]);
    }
    if (status != ISO_OK) {
        return check_call_failed(result, "uploading the operands", status);
    }
    if (!execute(runner, item, o, result) || !check_inputs(runner, o, result)) {
        return false;
    }
    const unsigned char *image = download(runner, o->inputs, o->images[o->inputs], &status);
    if (!image) {
        return check_call_failed(result, "iso_read", status);
    }
    int64_t changed = verify_region_changed(o->out, image);
    if (changed >= 0) {
        return check_fail(result,
                          "a byte outside the elements of the output was changed, at offset "
                          "%lld from the first element",
                          (long long)(changed - o->out->start));
    }
    *back = image;
    return true;
}

bool verify_build(verify_state *state, const bench_case *item, verify_fit *fit, const void *context,
                  bench_result *result)
{
    verify_problem *p = &state->problem;
    bool finite = item->dtype == 0 && item->how == ISO_VARIANT_VENDOR;
    if (p->number == item->problem && p->finite == finite) {
        return true;
    }
    bench_needs needs;
    bench_case_needs(item, &needs);
    p->finite = finite;
    if (!build(p, item, &needs, result)) {
        return false;
    }
    if (fit) {
        fit(context, item, p);
    }
    return true;
}

void *verify_compute(verify_state *state, verify_runner *runner, const bench_case *item,
                     verify_fit *fit, const void *context, bench_result *result)
{
    bench_needs needs;
    operation o = {0};
    const unsigned char *image;
    bench_case_needs(item, &needs);
    if (!verify_build(state, item, fit, context, result)) {
        return NULL;
    }
    o.kind = item->op->arguments(item, &o.args);
    if (!make_object(runner, item, &o, result)) {
        return NULL;
    }
    bool good = place(runner, item, &state->problem, needs.inputs, &o, result) &&
                same_support(runner, item->op, &o, result) &&
                operate(runner, item, &o, &image, result) && image;
    if (item->op->object) {
        item->op->object->drop(o.object);
    }
    if (!good) {
        return NULL;
    }
    void *dense = verify_grow(&state->dense, needs.result);
    if (!dense) {
        check_no_memory(result);
        return NULL;
    }
    verify_region_gather(o.out, image, dense);
    return dense;
}

static bool run_operation(verify_state *state, verify_runner *runner, const bench_case *item,
                          bench_result *result)
{
    const verify_problem *p = &state->problem;
    if (!verify_compute(state, runner, item, NULL, NULL, result)) {
        return result->status == BENCH_UNSUPPORTED;
    }
    bench_needs needs;
    bench_case_needs(item, &needs);
    check_data data = {.x = p->dense[0].data,
                       .y = p->dense[needs.inputs - 1].data,
                       .before = p->dense[2].data,
                       .cache = state->cache};
    if (!item->op->check(item, &data, state->dense.data, result)) {
        return false;
    }
    if (item->same_bits) {
        check_digest(result, needs.result_type, state->dense.data, needs.results,
                     p->lies[2]->element);
    }
    return true;
}

void verify_run_case(verify_state *state, verify_runner *runner, const bench_case *item,
                     int32_t library, bench_result *result)
{
    bench_case with = *item;
    with.library = library;
    memset(result, 0, sizeof *result);
    result->method = "";
    arith_fp_reset();
    double begin = tool_seconds();
    if (runner->stream.id == 0) {
        verify_runner_renew(runner);
    }
    if (!(item->op->run ? item->op->run : run_operation)(state, runner, &with, result)) {
        verify_runner_renew(runner);
    }
    result->seconds = tool_seconds() - begin;
}

verify_state *verify_state_create(void)
{
    enum { KEPT = 64 << 20 };
    verify_state *state = calloc(1, sizeof *state);
    if (state) {
        state->problem.number = -1;
        state->cache = check_cache_create(KEPT);
    }
    if (state && !state->cache) {
        free(state);
        return NULL;
    }
    return state;
}

void verify_state_destroy(verify_state *state)
{
    for (int i = 0; state && i < 3; i++) {
        free(state->problem.regions[i].image.data);
        free(state->problem.dense[i].data);
    }
    if (state) {
        free(state->dense.data);
        check_cache_destroy(state->cache);
    }
    free(state);
}
