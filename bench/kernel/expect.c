/* SPDX-License-Identifier: Apache-2.0 */
/* expect.c - what the results of a case must be: by a model, by a reference kernel, or by the CPU.
 */
#include "bench/kernel/run.h"

#include <string.h>

const kernel_data *kernel_round(kernel_suite *suite, const describe_case *item, int64_t round)
{
    kernel_expected *last = &suite->last;
    if (last->item != item || last->round != round) {
        kernel_data_free(&last->in);
        kernel_data_free(&last->out);
        *last = (kernel_expected){.item = item, .round = round, .method = ""};
        kernel_data_inputs(item, suite->seed, round, &last->in);
    }
    return &last->in;
}

/* Runs a kernel on the CPU or, if that has no compiler, on the device. Without a reference the CPU
 * must be another device than the one whose results are judged. */
static bool by_kernel(kernel_suite *suite, iso_device device, iso_stream stream,
                      kernel_expected *last, bench_result *result)
{
    const describe_case *item = last->item;
    const describe_case *run = item->reference ? item->reference : item;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    bench_result other = {.status = BENCH_OK};
    if (!item->reference && !item->kernel->bits) {
        return true; /* the CPU's bits may be others */
    }
    if (!item->reference && kernel_cpu(suite) && iso_device_get_info(device, &info) == ISO_OK &&
        strcmp(info.spec, suite->cpu_spec) == 0) {
        return true; /* it would be compared with itself */
    }
    kernel_data_make(item, true, &last->out);
    last->method = item->reference ? "reference" : "cpu";
    if (kernel_cpu(suite) && kernel_compute(suite, suite->cpu, suite->cpu_stream, run, item,
                                            &last->in, &last->out, &other)) {
        snprintf(last->source, sizeof last->source, "%s%s on %s",
                 item->reference ? "the reference " : "", run->kernel->name, suite->cpu_spec);
        return true;
    }
    if (kernel_cpu(suite) && other.status != BENCH_UNSUPPORTED) {
        kernel_data_free(&last->out);
        result->status = other.status;
        snprintf(result->reason, sizeof result->reason, "%.127s on the CPU: %.1800s",
                 run->kernel->name, other.reason);
        return false;
    }
    if (item->reference &&
        kernel_compute(suite, device, stream, run, item, &last->in, &last->out, result)) {
        snprintf(last->source, sizeof last->source, "the reference %s on the same device",
                 run->kernel->name);
        return true;
    }
    kernel_data_free(&last->out);
    return !item->reference;
}

const kernel_expected *kernel_expect(kernel_suite *suite, iso_device device, iso_stream stream,
                                     const describe_case *item, int64_t round, bench_result *result)
{
    kernel_expected *last = &suite->last;
    kernel_round(suite, item, round);
    if (last->out.at) {
        return last;
    }
    bool good;
    if (item->kernel->model) {
        kernel_data_make(item, true, &last->out);
        last->method = "model";
        snprintf(last->source, sizeof last->source, "the model %s",
                 kernel_model_name(item->kernel));
        good = kernel_model(suite, item, round, &last->in, &last->out, result);
    } else {
        good = by_kernel(suite, device, stream, last, result);
    }
    if (!good) {
        kernel_data_free(&last->out);
        return NULL;
    }
    if (last->out.at) {
        kernel_canonical(item, &last->out);
    }
    return last;
}
