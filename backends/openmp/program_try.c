/* SPDX-License-Identifier: Apache-2.0 */
/* program_try.c - compiles the program's own kernels for any instruction set of this build, also
 * for those that this processor lacks, and keeps nothing. */
#include "backends/openmp/program.h"

#include <stdio.h>
#include <string.h>

iso_status cpu_chip_get(int32_t index, char *name, int64_t capacity)
{
    const cpu_kernels *set = cpu_isa_at(index);
    if (set) {
        (void)snprintf(name, (size_t)capacity, "%s", set->name);
    }
    return set ? ISO_OK : ISO_NOT_READY;
}

static const cpu_kernels *find_set(const char *name)
{
    const cpu_kernels *set = cpu_isa_at(0);
    for (int32_t i = 1; set && strcmp(set->name, name) != 0; i++) {
        set = cpu_isa_at(i);
    }
    return set;
}

iso_status cpu_program_try(const char *chip, const iso_program_source *source)
{
    const cpu_kernels *set = find_set(chip);
    cpu_build build;
    void *binary = NULL;
    int64_t bytes = 0;
    if (!set) {
        return cpu_host->fail(ISO_INVALID, "\"%s\" is no instruction set of this build", chip);
    }
    iso_status status = cpu_build_begin(set, source, &build);
    if (status == ISO_OK) {
        status = cpu_build_compile(&build, &binary, &bytes);
    }
    cpu_host->free(binary);
    return status;
}
