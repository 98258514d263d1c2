/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the functions that the core offers to backends. */
#include "core/host.h"
#include "core/cache.h"
#include "core/environment.h"
#include "core/error.h"
#include "core/settings.h"
#include "core/stack.h"

#include <stdlib.h>

void *core_alloc(int64_t bytes)
{
    void *pointer = NULL;

    if (bytes < 0 || posix_memalign(&pointer, 64, bytes ? (size_t)bytes : 1)) {
        core_fail(ISO_NO_MEMORY, "no host memory for %lld bytes", (long long)bytes);
        return NULL;
    }
    return pointer;
}

void core_free(void *pointer)
{
    free(pointer);
}

static int32_t trusted(const char *path, char *problem, int64_t capacity)
{
    core_path_problem(path, problem, (size_t)capacity);
    return !problem[0];
}

const iso_host core_host = {
    .size = (uint32_t)sizeof(iso_host),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .version = ISO_VERSION_STRING,
    .alloc = core_alloc,
    .free = core_free,
    .fail = core_fail,
    .log = core_log,
    .setting = core_setting,
    .cache_load = core_cache_load,
    .cache_store = core_cache_store,
    .stack_left = core_stack_left,
    .path = core_host_path,
    .trusted = trusted,
};
