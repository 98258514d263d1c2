/* SPDX-License-Identifier: Apache-2.0 */
/* row.c - the operation that a described kernel is for `verify` and `bench`. */
#include "bench/kernel/run.h"
#include "bench/verify/verify.h"

#include <stdlib.h>
#include <string.h>

static const char no_bits[] =
    "nothing can be compared: bits is false, so the kernel needs a reference or a model";

static const kernel_case *case_of(const bench_case *item)
{
    return item->own;
}

/* ---- verify ---------------------------------------------------------------------------------- */

/* Keeps the results of the first device that passes, because the next ones must have the same. */
static void keep_first(kernel_suite *suite, const describe_case *item, const char *spec,
                       kernel_data *rounds)
{
    for (int32_t i = 0; i < suite->first_rounds; i++) {
        kernel_data_free(&suite->first[i]);
    }
    free(suite->first);
    suite->first = rounds;
    suite->first_rounds = suite->rounds;
    suite->first_item = item;
    snprintf(suite->first_spec, sizeof suite->first_spec, "%s", spec);
}

/* Compares a round's results with those of the reference kernel on the same device. */
static bool check_reference(kernel_suite *suite, verify_runner *runner, const describe_case *item,
                            const kernel_data *in, const kernel_data *got, bench_result *result)
{
    kernel_data own;
    kernel_data_make(item, true, &own);
    bool good = kernel_compute(suite, runner->device, runner->stream, item->reference, item, in,
                               &own, result);
    if (good) {
        char there[256];
        snprintf(there, sizeof there, "the reference %s on %s", item->reference->kernel->name,
                 runner->info.spec);
        kernel_canonical(item, &own);
        good =
            kernel_same(item, got, &own, item->kernel->tolerance, runner->info.spec, there, result);
    }
    kernel_data_free(&own);
    return good;
}

static bool check_round(kernel_suite *suite, verify_runner *runner, const describe_case *item,
                        int32_t round, kernel_data *got, bench_result *result)
{
    const char *spec = runner->info.spec;
    const kernel_expected *want =
        kernel_expect(suite, runner->device, runner->stream, item, round, result);
    if (!want) {
        return false;
    }
    if (!want->out.at && (suite->devices < 2 || !item->kernel->bits)) {
        return check_unsupported(result, "%s",
                                 item->kernel->bits
                                     ? "nothing can be compared: give the kernel a reference or a "
                                       "model, or verify two devices; with ISOMER_CC the CPU is one"
                                     : no_bits);
    }
    result->method = want->out.at ? want->method : "devices";
    kernel_data_make(item, true, got);
    if (!kernel_compute(suite, runner->device, runner->stream, item, item, &want->in, got,
                        result)) {
        return false;
    }
    kernel_canonical(item, got);
    if (want->out.at &&
        !kernel_same(item, got, &want->out, item->kernel->tolerance, spec, want->source, result)) {
        return false;
    }
    if (item->reference && !check_reference(suite, runner, item, &want->in, got, result)) {
        return false;
    }
    kernel_digest(item, got, result->digest);
    if (suite->first_item != item || !item->kernel->bits) {
        return true;
    }
    return kernel_same(item, got, &suite->first[round], -1, spec, suite->first_spec, result);
}

static bool run_case(verify_state *state, verify_runner *runner, const bench_case *item,
                     bench_result *result)
{
    const kernel_case *own = case_of(item);
    kernel_suite *suite = own->suite;
    kernel_data *got = tool_alloc((size_t)suite->rounds, sizeof *got, "results");
    bool good = true;
    (void)state;
    suite->now = own->id;
    snprintf(result->library, sizeof result->library, "isomer %s", iso_version());
    for (int32_t round = 0; round < suite->rounds && good; round++) {
        good = check_round(suite, runner, own->item, round, &got[round], result);
        if (!good && result->status == BENCH_FAILED) {
            char text[320];
            snprintf(text, sizeof text, " (%s, round %d)", own->item->size, (int)round + 1);
            tool_join(result->reason, sizeof result->reason, "", text);
        }
    }
    result->has_digest = good && item->same_bits;
    if (good && suite->first_item != own->item) {
        keep_first(suite, own->item, runner->info.spec, got);
        return true;
    }
    for (int32_t round = 0; round < suite->rounds; round++) {
        kernel_data_free(&got[round]);
    }
    free(got);
    return good || result->status == BENCH_UNSUPPORTED;
}

static void describe(const bench_case *item, json_t *sizes, json_t *layout)
{
    const describe_case *is = case_of(item)->item;
    const char *name;
    json_t *value;
    json_object_foreach(is->values, name, value)
    {
        if (json_is_integer(value)) {
            json_object_set(sizes, name, value);
        }
    }
    if (is->others[0]) {
        tool_set_text(layout, "values", is->others);
    }
}

/* ---- bench ----------------------------------------------------------------------------------- */

typedef struct own_case {
    const kernel_case *of;
    iso_device device;
    iso_kernel kernel;
    iso_argument *arguments; /* of the last load */
    int64_t round, launches; /* of the last load, and since then */
    bool whole;
} own_case;

static int32_t arrays(const bench_case *item, int64_t *bytes)
{
    const describe_case *is = case_of(item)->item;
    for (int32_t i = 0; i < is->parameter_count; i++) {
        bytes[i] = is->parameters[i].is_buffer ? is->parameters[i].bytes : 0;
    }
    return is->parameter_count;
}

static void *create(const bench_case *item, iso_device device)
{
    own_case *self = tool_alloc(1, sizeof *self, "a kernel");
    self->of = case_of(item);
    self->device = device;
    return self;
}

static void destroy(void *context)
{
    own_case *self = context;
    free(self->arguments);
    free(self);
}

static bool prepare(void *context, bench_result *result)
{
    own_case *self = context;
    const describe_kernel *kernel = self->of->item->kernel;
    snprintf(result->library, sizeof result->library, "isomer %s", iso_version());
    snprintf(result->kernel, sizeof result->kernel, "%s", kernel->name);
    return kernel_ready(self->of->suite, self->device, kernel, &self->kernel, result);
}

/* Large inputs take longer to make than the kernel to run. */
enum { PART_BYTES = 16 << 20 };

static iso_status load_part(own_case *self, iso_stream stream, const iso_operand *operands,
                            int64_t round)
{
    const describe_case *item = self->of->item;
    unsigned char *part = tool_alloc(1, PART_BYTES, "inputs");
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < item->parameter_count && status == ISO_OK; i++) {
        const describe_parameter *p = &item->parameters[i];
        iso_operand to = operands[i];
        int64_t bytes;
        if (!p->is_read) {
            continue;
        }
        to.offset += describe_make_part(p, self->of->suite->seed, round, PART_BYTES, &bytes, part);
        status = iso_write(stream, to, part, bytes);
        status = status == ISO_OK ? iso_stream_sync(stream) : status;
    }
    free(part);
    return status;
}

static iso_status load_whole(own_case *self, iso_stream stream, const iso_operand *operands,
                             int64_t round)
{
    const describe_case *item = self->of->item;
    const kernel_data *in = kernel_round(self->of->suite, item, round);
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < item->parameter_count && status == ISO_OK; i++) {
        if (item->parameters[i].is_buffer) {
            status = iso_write(stream, operands[i], in->at[i], item->parameters[i].bytes);
        }
    }
    return status == ISO_OK ? iso_stream_sync(stream) : status;
}

static iso_status load(void *context, iso_stream stream, const iso_operand *operands, int64_t round,
                       bool whole)
{
    own_case *self = context;
    free(self->arguments);
    self->arguments = kernel_bind(self->of->item, operands);
    self->round = round;
    self->whole = whole;
    self->launches = 0;
    return whole ? load_whole(self, stream, operands, round)
                 : load_part(self, stream, operands, round);
}

static iso_status submit(void *context, iso_stream stream)
{
    own_case *self = context;
    const describe_case *item = self->of->item;
    self->launches++;
    return iso_launch(stream, self->kernel, item->groups, self->arguments, item->argument_count);
}

static bool changes_its_inputs(const describe_case *item)
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        if (item->parameters[i].is_written && item->parameters[i].is_read) {
            return true;
        }
    }
    return false;
}

/* What the kernel wrote after one launch. */
static iso_status take(own_case *self, iso_stream stream, const iso_operand *operands,
                       kernel_data *got)
{
    const describe_case *item = self->of->item;
    iso_status status = ISO_OK;
    if (!self->whole || (self->launches != 1 && changes_its_inputs(item))) {
        status = load(self, stream, operands, self->round, true);
        status = status == ISO_OK ? submit(self, stream) : status;
    }
    for (int32_t i = 0; i < item->parameter_count && status == ISO_OK; i++) {
        if (item->parameters[i].is_written) {
            status = iso_read(stream, got->at[i], operands[i], item->parameters[i].bytes);
        }
    }
    status = status == ISO_OK ? iso_stream_sync(stream) : status;
    tool_watch_done();
    return status;
}

/* Without anything else to compare with, a second run on buffers of its own must have the same
 * results. */
static bool repeat(own_case *self, iso_stream stream, const kernel_data *in, kernel_data *want,
                   bench_result *result)
{
    const describe_case *item = self->of->item;
    kernel_data_make(item, true, want);
    if (!kernel_compute(self->of->suite, self->device, stream, item, item, in, want, result)) {
        return false;
    }
    kernel_canonical(item, want);
    return true;
}

static bool judge(own_case *self, iso_stream stream, const kernel_data *got, const char *spec,
                  bench_result *result)
{
    const describe_case *item = self->of->item;
    const kernel_expected *want =
        kernel_expect(self->of->suite, self->device, stream, item, self->round, result);
    if (!want) {
        return false;
    }
    result->method = want->out.at ? want->method : "repeat";
    if (want->out.at) {
        return kernel_same(item, got, &want->out, item->kernel->tolerance, spec, want->source,
                           result);
    }
    if (!item->kernel->bits) {
        return check_unsupported(result, "%s", no_bits);
    }
    kernel_data again = {0};
    bool good = repeat(self, stream, &want->in, &again, result) &&
                kernel_same(item, got, &again, item->kernel->tolerance, spec,
                            "a second run on the same device", result);
    kernel_data_free(&again);
    return good;
}

static bool check(void *context, iso_stream stream, const iso_operand *operands,
                  bench_result *result)
{
    own_case *self = context;
    const describe_case *item = self->of->item;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    kernel_data got;
    self->of->suite->now = self->of->id;
    kernel_data_make(item, true, &got);
    kernel_watch(self->of->suite, self->device, item->kernel, false);
    iso_status status = take(self, stream, operands, &got);
    status = status == ISO_OK ? iso_device_get_info(self->device, &info) : status;
    bool good = status == ISO_OK || check_call_failed(result, "reading the results", status);
    if (good) {
        kernel_canonical(item, &got);
        good = judge(self, stream, &got, info.spec, result);
    }
    result->has_digest = false; /* each check has other inputs */
    kernel_data_free(&got);
    return good;
}

static void shape(const bench_case *item, bench_shape *out)
{
    const char *name;
    json_t *value;
    const describe_case *is = case_of(item)->item;
    *out = (bench_shape){.elements = (double)item->size};
    if (is->others[0]) {
        out->layout[0].name = "values";
        out->layout[0].value = is->others;
    }
    json_object_foreach(is->values, name, value)
    {
        if (json_is_integer(value) && out->count < 4) {
            out->names[out->count] = name;
            out->sizes[out->count++] = json_integer_value(value);
        }
    }
}

static void needs(const bench_case *item, bench_needs *out)
{
    (void)item;
    out->inputs = 0;
}

static const bench_own own = {.arrays = arrays,
                              .create = create,
                              .destroy = destroy,
                              .prepare = prepare,
                              .load = load,
                              .submit = submit,
                              .check = check};

const bench_op bench_kernel = {
    .name = "kernel",
    .measured = "kernel",
    .verified = "kernel",
    .title = "Kernels",
    .computes_title = "Kernels that compute",
    .size = "elements",
    .kind_member = "kernel",
    .needs = needs,
    .shape = shape,
    .own = &own,
    .run = run_case,
    .describe = describe,
};
