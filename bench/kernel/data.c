/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - the arrays of a case in host memory, and one launch with them. */
#include "bench/kernel/run.h"

#include <stdlib.h>
#include <string.h>

/* Bytes on both sides of a buffer. They keep its alignment. */
enum { GUARD = 256, GUARD_BYTE = 0xa5 };

void kernel_data_make(const describe_case *item, bool only_written, kernel_data *out)
{
    out->count = item->parameter_count;
    out->at = tool_alloc((size_t)out->count + 1, sizeof *out->at, "the arrays of a kernel");
    for (int32_t i = 0; i < out->count; i++) {
        const describe_parameter *p = &item->parameters[i];
        if (p->is_buffer && (p->is_written || !only_written)) {
            out->at[i] = tool_alloc(1, (size_t)p->bytes, "the arrays of a kernel");
        }
    }
}

void kernel_data_free(kernel_data *data)
{
    for (int32_t i = 0; i < data->count; i++) {
        free(data->at[i]);
    }
    free(data->at);
    *data = (kernel_data){0};
}

void kernel_data_inputs(const describe_case *item, uint64_t seed, int64_t round, kernel_data *out)
{
    kernel_data_make(item, false, out);
    for (int32_t i = 0; i < out->count; i++) {
        if (out->at[i]) {
            describe_make(&item->parameters[i], seed, round, out->at[i]);
        }
    }
}

iso_argument *kernel_bind(const describe_case *item, const iso_operand *operands)
{
    size_t count = (size_t)item->argument_count;
    iso_argument *arguments = tool_alloc(count + 1, sizeof *arguments, "arguments");
    memcpy(arguments, item->arguments, count * sizeof *arguments);
    for (int32_t i = 0; i < item->parameter_count; i++) {
        if (item->parameters[i].is_buffer) {
            arguments[item->parameters[i].is.argument] = iso_arg_buffer(operands[i]);
        }
    }
    return arguments;
}

/* ---- a launch -------------------------------------------------------------------------------- */

/* The data of the parameter with the same name. */
static unsigned char *named(const describe_case *of, const kernel_data *data, const char *name)
{
    const describe_parameter *found = describe_find(of, name);
    return found ? data->at[found - of->parameters] : NULL;
}

/* Makes the buffers of a case and writes what they begin with. */
static bool upload(iso_device device, iso_stream stream, const describe_case *item,
                   const describe_case *of, const kernel_data *in, iso_operand *operands,
                   bench_result *result)
{
    static const unsigned char guard = GUARD_BYTE;
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        if (!p->is_buffer) {
            continue;
        }
        iso_status status = iso_buffer_create(device, p->bytes + 2 * GUARD, &operands[i].buffer);
        if (status != ISO_OK) {
            operands[i].buffer.id = 0;
            check_call_failed(result, "iso_buffer_create", status);
            result->status = status == ISO_NO_MEMORY ? BENCH_UNSUPPORTED : BENCH_ERROR;
            return false;
        }
        status = iso_fill(stream, operands[i], &guard, 1, p->bytes + 2 * GUARD);
        operands[i].offset = GUARD;
        if (status == ISO_OK) {
            status = iso_write(stream, operands[i], named(of, in, p->is.name), p->bytes);
        }
        if (status != ISO_OK) {
            return check_call_failed(result, "iso_write", status);
        }
    }
    return true;
}

/* Reads the guards and what the kernel wrote. */
static bool download(iso_stream stream, const describe_case *item, const describe_case *of,
                     const iso_operand *operands, kernel_data *out, bench_result *result)
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        unsigned char guards[2][GUARD], *to = p->is_written ? named(of, out, p->is.name) : NULL;
        if (!p->is_buffer) {
            continue;
        }
        const iso_operand before = {operands[i].buffer, 0};
        const iso_operand after = {operands[i].buffer, GUARD + p->bytes};
        iso_status status = iso_read(stream, guards[0], before, GUARD);
        status = status == ISO_OK ? iso_read(stream, guards[1], after, GUARD) : status;
        status = status == ISO_OK && to ? iso_read(stream, to, operands[i], p->bytes) : status;
        status = status == ISO_OK ? iso_stream_sync(stream) : status;
        if (status != ISO_OK) {
            return check_call_failed(result, "reading the results", status);
        }
        for (int32_t at = 0; at < 2 * GUARD; at++) {
            if (guards[at / GUARD][at % GUARD] != GUARD_BYTE) {
                return check_fail(result,
                                  "kernel %s wrote outside of %s, %d bytes %s it: it must test its "
                                  "places, such as `if (at < n)`",
                                  item->kernel->name, p->is.name,
                                  at < GUARD ? GUARD - at : at - GUARD + 1,
                                  at < GUARD ? "before" : "after");
            }
        }
    }
    return true;
}

void kernel_watch(const kernel_suite *suite, iso_device device, const describe_kernel *kernel,
                  bool reference)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    (void)iso_device_get_info(device, &info);
    tool_watch_work("%s%s%s%s on %s", reference ? "the reference " : "",
                    reference ? kernel->name : "", reference ? " of " : "", suite->now, info.spec);
}

bool kernel_compute(kernel_suite *suite, iso_device device, iso_stream stream,
                    const describe_case *item, const describe_case *of, const kernel_data *in,
                    kernel_data *out, bench_result *result)
{
    iso_kernel kernel;
    if (!kernel_ready(suite, device, item->kernel, &kernel, result)) {
        return false;
    }
    iso_operand *operands =
        tool_alloc((size_t)item->parameter_count + 1, sizeof *operands, "operands");
    bool good = upload(device, stream, item, of, in, operands, result);
    if (good) {
        iso_argument *arguments = kernel_bind(item, operands);
        kernel_watch(suite, device, item->kernel, item != of);
        iso_status status =
            iso_launch(stream, kernel, item->groups, arguments, item->argument_count);
        free(arguments);
        status = status == ISO_OK ? iso_stream_sync(stream) : status;
        tool_watch_done();
        good = status == ISO_OK || check_call_failed(result, "iso_launch", status);
    }
    good = good && download(stream, item, of, operands, out, result);
    for (int32_t i = 0; i < item->parameter_count; i++) {
        if (operands[i].buffer.id != 0) {
            iso_buffer_destroy(operands[i].buffer);
        }
    }
    free(operands);
    return good;
}
