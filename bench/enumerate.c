/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate.c - the rows of iso_enumerate. */
#include "tool.h"

#include <stdlib.h>

iso_entry *tool_enumerate(int32_t *count)
{
    int32_t capacity = 0;
    iso_entry *entries = NULL;
    *count = 0;
    iso_status status = iso_enumerate(NULL, 0, count);
    while (status == ISO_OK && *count > capacity) { /* a row may have come in between */
        capacity = *count;
        free(entries);
        entries = calloc((size_t)capacity, sizeof *entries);
        if (entries == NULL) {
            tool_error(TOOL_INTERNAL, "no memory for a list of %d devices", capacity);
            return NULL;
        }
        for (int32_t i = 0; i < capacity; i++)
            entries[i].size = (uint32_t)sizeof entries[i];
        status = iso_enumerate(entries, capacity, count);
    }
    if (status != ISO_OK) {
        tool_error(tool_code(status), "%s", iso_last_error());
        free(entries);
        return NULL;
    }
    return entries;
}
