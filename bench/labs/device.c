/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - a device that rows run on. */
#include "bench/labs/internal.h"

#include "a_matrix.isk.h"
#include "c_reductions.isk.h"
#include "d_arrays.isk.h"
#include "e_first.isk.h"

#include "bench/workload/workload.h"

#include <string.h>
#include <unistd.h>

static const iso_embedded *const texts[LAB_TEXTS] = {[LAB_MATRIX] = &a_matrix_isk,
                                                     [LAB_REDUCTIONS] = &c_reductions_isk,
                                                     [LAB_ARRAYS] = &d_arrays_isk,
                                                     [LAB_FIRST] = &e_first_isk};

bool lab_open(lab *l, const char *spec, lab_scale scale, struct lab_inputs *inputs, json_t *entries)
{
    *l = (lab){.scale = scale, .inputs = inputs, .entries = entries};
    l->info = (iso_device_info)ISO_DEVICE_INFO_INIT;
    if (iso_device_open(spec, &l->device) != ISO_OK) {
        tool_error(TOOL_OK, "%s: %s", spec, tool_reason());
        return false;
    }
    if (iso_device_get_info(l->device, &l->info) != ISO_OK ||
        iso_stream_create(l->device, 0, &l->stream) != ISO_OK ||
        iso_event_create(l->device, &l->begin) != ISO_OK ||
        iso_event_create(l->device, &l->end) != ISO_OK) {
        tool_error(TOOL_OK, "%s: %s", spec, tool_reason());
        lab_close(l);
        return false;
    }
    l->on_cpu = l->info.type == ISO_DEVICE_CPU || tool_is_fake(&l->info);
    return true;
}

void lab_close(lab *l)
{
    (void)iso_device_close(l->device); /* late errors were reported with their entries */
}

void lab_revive(lab *l)
{
    iso_stream fresh;
    if (iso_stream_query(l->stream) == ISO_OK ||
        iso_stream_create(l->device, 0, &fresh) != ISO_OK) {
        return;
    }
    (void)iso_stream_destroy(l->stream);
    l->stream = fresh;
}

iso_status lab_kernel(lab *l, lab_text text, const char *name, iso_kernel *out)
{
    iso_status status = ISO_OK;
    if (!l->opened[text]) {
        iso_program_args args = ISO_PROGRAM_ARGS_INIT;
        args.embedded = texts[text];
        status = iso_program_create(l->device, &args, &l->programs[text]);
        l->opened[text] = status == ISO_OK;
    }
    return status == ISO_OK ? iso_kernel_get(l->programs[text], name, out) : status;
}

iso_status lab_buffer(lab *l, int64_t bytes, iso_operand *out)
{
    *out = (iso_operand){0};
    return iso_buffer_create(l->device, bytes, &out->buffer);
}

void lab_free(iso_operand *operands, int count)
{
    for (int i = 0; i < count; i++) {
        if (operands[i].buffer.id) {
            (void)iso_buffer_destroy(operands[i].buffer);
        }
        operands[i].buffer.id = 0;
    }
}

bool lab_fits(lab *l, json_t *entry, int64_t device_bytes, int64_t host_bytes)
{
    enum { SHARE = 10 }; /* a tenth stays free */
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    int64_t host = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int64_t room = work_memory(&l->info);
    char needs[32], has[32];
    if (iso_device_get_memory_use(l->device, &use) == ISO_OK && use.limit >= 0 &&
        use.limit < room) {
        room = use.limit;
    }
    bool shared = l->on_cpu;
    int64_t on_host = host_bytes + (shared ? device_bytes : 0);
    if (device_bytes <= room - room / SHARE && on_host <= host / 2) {
        return true;
    }
    bool on_device = device_bytes > room - room / SHARE;
    lab_skip(entry, "it needs %s of the %s's memory, which has %s",
             tool_bytes(needs, sizeof needs, on_device ? device_bytes : on_host),
             on_device ? "device" : "host", tool_bytes(has, sizeof has, on_device ? room : host));
    return false;
}

double lab_patience(const lab *l)
{
    return l->scale == LAB_FULL ? 1e9 : l->scale == LAB_SMALL ? 5.0 : l->on_cpu ? 10.0 : 20.0;
}
