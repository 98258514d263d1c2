/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.c - the start of a plug-in: its descriptor, and the one function that it exports.
 *
 * A plug-in is a shared object named isomer-NAME.so, whose descriptor has that NAME. The core finds
 * it in a folder of ISOMER_BACKEND_PATH or in the library's own plug-in folder, and opens it when a
 * program names it or lists all backends.
 */
#include "tests/plugins/reference/reference.h"

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(argument) #argument

/* The build gives the name, because the same sources also make the mutants. */
#if !defined(REFERENCE_NAME)
#define REFERENCE_NAME reference
#endif

const iso_host *ref_host;

/*
 * Entries left out are NULL, which means "does not have it". `host_alloc` and `host_register` are
 * not needed, because all memory is equally fast here (the core uses plain memory), nor is
 * `prepare`, because there is nothing to prepare.
 */
static const iso_backend descriptor = {
    .size = (uint32_t)sizeof(iso_backend),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    /* No threads and no driver that would not survive a fork. */
    .flags = ISO_BACKEND_FORK_SAFE,
    .name = TEXT_OF(REFERENCE_NAME),
    .build_info = "reference plug-in " ISO_VERSION_STRING ", compiler " __VERSION__,

    .probe = ref_probe,
    .device_info = ref_device_info,
    .device_open = ref_device_open,
    .device_close = ref_device_close,
    .device_property = ref_device_property,

    .memory_alloc = ref_memory_alloc,
    .memory_free = ref_memory_free,

    .stream_create = ref_stream_create,
    .stream_destroy = ref_stream_destroy,
    .stream_sync = ref_stream_sync,
    .stream_query = ref_stream_query,
    .event_create = ref_event_create,
    .event_destroy = ref_event_destroy,
    .event_record = ref_event_record,
    .stream_wait = ref_stream_wait,
    .event_sync = ref_event_sync,
    .event_query = ref_event_query,
    .event_elapsed = ref_event_elapsed,

    .transfer = ref_transfer,
    .supports = ref_supports,
    .workspace = ref_workspace,
    .execute = ref_execute,
    .describe = ref_describe,
    .copy_peer = ref_copy_peer,

    .way_name = ref_way_name,
};

/* Called once, before anything else. It only returns the descriptor: hardware is not touched before
 * probe. */
const iso_backend *isomer_backend_query(uint32_t host_abi, const iso_host *host)
{
    /* The core checks the major too, by the descriptor. Check it before using `host`. */
    if (host_abi >> 16 != ISO_ABI_MAJOR) {
        return NULL;
    }
    ref_host = host;
    return &descriptor;
}
