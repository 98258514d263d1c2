/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - one device: the processor that runs the program.
 *
 * The core passes structs with their `size` set. Structs of the ABI's first version hold every
 * field used here; a field that a later minor appends may be written only if `size` covers it.
 */
#include "tests/plugins/reference/reference.h"

#include <stdio.h>
#include <unistd.h>

/* A device handle can be any pointer: the core only passes it back. */
typedef struct ref_device {
    int32_t index;
} ref_device;

/* A GPU's backend would open the driver's library here and count its devices. If that fails it
 * would set a state such as ISO_STATE_NOT_FOUND and write every path that it tried to out->reason.
 */
iso_status ref_probe(iso_probe *out)
{
    out->state = ISO_STATE_OK;
    out->devices = 1;
    return ISO_OK;
}

/* Bytes of memory in this machine; 0 if unknown. */
static int64_t physical_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (int64_t)pages * page_bytes : 0;
}

iso_status ref_device_info(int32_t index, iso_device_info *out)
{
    out->index = index;
    snprintf(out->name, sizeof(out->name), "reference model");
    snprintf(out->vendor, sizeof(out->vendor), "isomer");
    snprintf(out->architecture, sizeof(out->architecture), "plain C");
    snprintf(out->driver, sizeof(out->driver), "none");
    snprintf(out->runtime, sizeof(out->runtime), "none");
    out->type = ISO_DEVICE_CPU;
    /* Not FAST_FMA: the cost of the C library's fma() is not known here. */
    out->features = ISO_FEATURE_F64 | ISO_FEATURE_DENORMALS | ISO_FEATURE_HOST_MEMORY;
    out->memory_total = physical_memory();
    out->memory_free = -1;
    out->units = 1;
    out->threads = 1;
    return ISO_OK;
}

iso_status ref_device_open(int32_t index, void **device)
{
    ref_device *made = ref_host->alloc((int64_t)sizeof(*made));
    if (!made) {
        return ISO_NO_MEMORY; /* alloc() has set the text */
    }
    made->index = index;
    *device = made;
    return ISO_OK;
}

void ref_device_close(void *device)
{
    ref_host->free(device);
}

/* Properties are shown by `isomer info` besides the fixed fields: here one. */
iso_status ref_device_property(void *device, int32_t index, iso_property *out)
{
    (void)device;
    if (index > 0) {
        return ISO_NOT_READY; /* the end of the list */
    }
    snprintf(out->name, sizeof(out->name), "purpose");
    snprintf(out->value, sizeof(out->value),
             "yardstick for other backends and example of a plug-in; not fast");
    return ISO_OK;
}
