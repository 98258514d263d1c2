/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate.c - lists the rows of iso_enumerate, and the libraries of a device. */
#include "bench/tool.h"

#include <stdlib.h>
#include <string.h>

iso_entry *tool_enumerate(int32_t *count)
{
    int32_t capacity = 0;
    iso_entry *entries = NULL;
    *count = 0;
    iso_status status = iso_enumerate(NULL, 0, count);
    while (status == ISO_OK && *count > capacity) { /* a device may have appeared meanwhile */
        capacity = *count;
        free(entries);
        entries = tool_alloc((size_t)capacity, sizeof *entries, "the list of devices");
        for (int32_t i = 0; i < capacity; i++) {
            entries[i].size = (uint32_t)sizeof entries[i];
        }
        status = iso_enumerate(entries, capacity, count);
    }
    if (status != ISO_OK) {
        tool_error(tool_code(status), "%s", tool_reason());
        free(entries);
        return NULL;
    }
    return entries;
}

int32_t tool_libraries(iso_device device, char (*names)[ISO_NAME_MAX], int32_t room)
{
    int32_t count = 0;
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_VENDOR;
    args.math = ISO_MATH_STRICT;
    args.m = args.n = args.k = 64;
    for (; count < room; count++) {
        iso_op_info info = ISO_OP_INFO_INIT;
        args.library = count;
        iso_status status = iso_describe(device, ISO_OP_GEMM, &args, &info);
        tool_need_memory(status);
        if (status != ISO_OK) {
            break;
        }
        memcpy(names[count], info.library, sizeof names[count]);
    }
    return count;
}
