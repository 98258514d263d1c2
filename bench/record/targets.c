/* SPDX-License-Identifier: Apache-2.0 */
/* targets.c - the devices of a run. All are opened before its first case, so that one that is
 * missing costs no time. */
#include "bench/record/record.h"

#include <stdlib.h>

int record_targets_open(json_t *root, const tool_words *specs, record_targets *out)
{
    json_t *devices = json_object_get(root, "devices");
    out->items = tool_alloc((size_t)specs->count, sizeof *out->items, "the devices");
    for (int i = 0; i < specs->count; i++) {
        record_target *made = &out->items[i];
        made->info = (iso_device_info)ISO_DEVICE_INFO_INIT;
        iso_status status = iso_device_open(specs->items[i], &made->device);
        out->count += status == ISO_OK;
        status = status == ISO_OK ? iso_device_get_info(made->device, &made->info) : status;
        if (status != ISO_OK) {
            return tool_error(tool_code(status), "%s", tool_reason());
        }
        json_array_append_new(devices, record_device(made->device));
        if (tool_tier_of(&made->info) == TOOL_STAND_IN) {
            json_array_append_new(record_at(root, "run.flags"), json_string("fake"));
        }
    }
    return TOOL_OK;
}

void record_targets_close(record_targets *targets)
{
    for (int32_t i = 0; i < targets->count; i++) {
        iso_device_close(targets->items[i].device);
    }
    free(targets->items);
}
