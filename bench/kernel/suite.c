/* SPDX-License-Identifier: Apache-2.0 */
/* suite.c - compiled texts, and the CPU's device. */
#include "bench/kernel/run.h"

#include <stdlib.h>
#include <string.h>

enum { MODEL_SECONDS = 300 };

void kernel_suite_open(kernel_suite *suite, const describe_file *file, uint64_t seed)
{
    *suite = (kernel_suite){
        .file = file, .seed = seed, .model_seconds = MODEL_SECONDS, .rounds = 2, .devices = 1};
}

static void free_rounds(kernel_suite *suite)
{
    for (int32_t i = 0; i < suite->first_rounds; i++) {
        kernel_data_free(&suite->first[i]);
    }
    free(suite->first);
}

void kernel_suite_close(kernel_suite *suite)
{
    for (int32_t i = 0; i < suite->program_count; i++) {
        if (suite->programs[i].program.id != 0) {
            iso_program_destroy(suite->programs[i].program);
        }
        free(suite->programs[i].reason);
    }
    free(suite->programs);
    free_rounds(suite);
    kernel_data_free(&suite->last.in);
    kernel_data_free(&suite->last.out);
    if (suite->cpu.id != 0) {
        iso_device_close(suite->cpu);
    }
    *suite = (kernel_suite){0};
}

static kernel_program *compile(kernel_suite *suite, iso_device device, const describe_text *text)
{
    suite->programs = tool_resize(suite->programs, (size_t)suite->program_count + 1,
                                  sizeof *suite->programs, "the programs");
    kernel_program *made = &suite->programs[suite->program_count++];
    *made = (kernel_program){.device = device, .text = text};
    iso_program_args args = describe_program(text);
    made->status = iso_program_create(device, &args, &made->program);
    if (made->status != ISO_OK) {
        made->program.id = 0;
        made->reason = strdup(tool_reason());
    }
    return made;
}

bool kernel_ready(kernel_suite *suite, iso_device device, const describe_kernel *kernel,
                  iso_kernel *out, bench_result *result)
{
    kernel_program *found = NULL;
    for (int32_t i = 0; i < suite->program_count && !found; i++) {
        kernel_program *p = &suite->programs[i];
        found = p->device.id == device.id && p->text == kernel->text ? p : NULL;
    }
    found = found ? found : compile(suite, device, kernel->text);
    if (found->status == ISO_OK) {
        iso_status status = iso_kernel_get(found->program, kernel->name, out);
        return status == ISO_OK || check_call_failed(result, "iso_kernel_get", status);
    }
    result->status = found->status == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_ERROR;
    snprintf(result->reason, sizeof result->reason, "%s", found->reason ? found->reason : "?");
    return false;
}

bool kernel_cpu(kernel_suite *suite)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    if (!suite->cpu_tried) {
        suite->cpu_tried = true;
        if (iso_device_open("openmp", &suite->cpu) != ISO_OK) {
            suite->cpu.id = 0;
        } else if (iso_device_get_info(suite->cpu, &info) != ISO_OK ||
                   iso_stream_create(suite->cpu, 0, &suite->cpu_stream) != ISO_OK) {
            iso_device_close(suite->cpu);
            suite->cpu.id = 0;
        }
        memcpy(suite->cpu_spec, info.spec, sizeof suite->cpu_spec);
    }
    return suite->cpu.id != 0;
}
