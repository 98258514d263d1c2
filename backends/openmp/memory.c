/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - device memory and fast host memory, which are both plain memory here. */
#include "backends/openmp/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MEMORY_ALIGNMENT = 256,
    MEMORY_HUGE_PAGE = 2 * 1024 * 1024,
    /* Huge pages are requested from this size on. */
    MEMORY_HUGE_FROM = 4 * 1024 * 1024,
    /* From this size on, a size is checked against the machine's memory. */
    MEMORY_CHECKED_FROM = 64 * 1024 * 1024
};

/* Refuses more memory than the machine can ever have. A system that overcommits would grant it, and
 * end the process once it uses too much. */
static iso_status check_size(int64_t bytes, const char *what)
{
    cpu_memory memory;
    if (bytes < MEMORY_CHECKED_FROM) {
        return ISO_OK;
    }
    cpu_memory_get(&memory);
    if (memory.ceiling < 0 || bytes <= memory.ceiling) {
        return ISO_OK;
    }
    return cpu_host->fail(ISO_NO_MEMORY,
                          "%" PRId64
                          " bytes of %s were asked for, but this machine has only %" PRId64
                          " (with swap, and within the control group's limit)",
                          bytes, what, memory.ceiling);
}

static iso_status allocate(int64_t bytes, size_t alignment, const char *what, void **out)
{
    void *pointer = NULL;
    iso_status status = check_size(bytes, what);
    if (status != ISO_OK) {
        return status;
    }
    if (bytes >= MEMORY_HUGE_FROM) {
        alignment = MEMORY_HUGE_PAGE;
    }
    if (posix_memalign(&pointer, alignment, (size_t)bytes) != 0) {
        cpu_memory memory;
        char spare[64] = "";
        cpu_memory_get(&memory);
        if (memory.free >= 0) {
            (void)snprintf(spare, sizeof spare, "; %" PRId64 " are free", memory.free);
        }
        return cpu_host->fail(ISO_NO_MEMORY,
                              "%" PRId64
                              " bytes of %s were asked for, but the system refused them%s: free "
                              "buffers, or work in smaller pieces",
                              bytes, what, spare);
    }
    if (bytes >= MEMORY_HUGE_FROM) {
        /* A hint; a kernel without huge pages ignores it. */
        (void)madvise(pointer, (size_t)bytes / MEMORY_HUGE_PAGE * MEMORY_HUGE_PAGE, MADV_HUGEPAGE);
    }
    *out = pointer;
    return ISO_OK;
}

iso_status cpu_memory_alloc(void *device, int64_t bytes, void **memory)
{
    (void)device;
    return allocate(bytes, MEMORY_ALIGNMENT, "device memory", memory);
}

void cpu_memory_free(void *device, void *memory)
{
    (void)device;
    free(memory);
}

iso_status cpu_host_alloc(void *device, int64_t bytes, void **pointer, int32_t *pinned)
{
    (void)device;
    iso_status status = allocate(bytes, (size_t)sysconf(_SC_PAGESIZE), "host memory", pointer);
    if (status == ISO_OK) {
        *pinned = 1; /* the device accesses all host memory equally fast */
    }
    return status;
}

void cpu_host_free(void *device, void *pointer)
{
    (void)device;
    free(pointer);
}

iso_status cpu_host_register(void *device, void *pointer, int64_t bytes, int32_t *pinned)
{
    (void)device;
    (void)pointer;
    (void)bytes;
    *pinned = 1;
    return ISO_OK;
}

void cpu_host_unregister(void *device, void *pointer)
{
    (void)device;
    (void)pointer;
}
