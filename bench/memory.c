/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - allocates memory, and ends the process if there is none. */
#include "bench/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Removes unfinished files, prints a message and ends the process. It uses no streams, because they
 * may need memory. */
static _Noreturn void stop(const char *what, const char *text)
{
    const char *const parts[] = {"isomer: ", what, text, "\n"};
    tool_files_sweep();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0) {
            break;
        }
    }
    _exit(TOOL_INTERNAL);
}

void tool_no_memory(const char *what)
{
    stop("no memory for ", what);
}

void tool_need_memory(iso_status status)
{
    if (status == ISO_NO_MEMORY) {
        stop("", iso_last_error());
    }
}

void *tool_alloc(size_t count, size_t size, const char *what)
{
    void *block = calloc(count > 0 ? count : 1, size);
    if (!block) {
        tool_no_memory(what);
    }
    return block;
}

void *tool_resize(void *block, size_t count, size_t size, const char *what)
{
    void *more = reallocarray(block, count, size);
    if (!more) {
        tool_no_memory(what);
    }
    return more;
}

bool tool_property(iso_device device, int32_t index, iso_property *out)
{
    iso_status status = iso_device_get_property(device, index, out);
    tool_need_memory(status);
    return status == ISO_OK;
}

bool tool_setting(int32_t index, iso_setting *out)
{
    iso_status status = iso_get_setting(index, out);
    tool_need_memory(status);
    return status == ISO_OK;
}

static void *document_alloc(size_t bytes)
{
    return tool_alloc(1, bytes, "a document");
}

void tool_documents_whole(void)
{
    json_set_alloc_funcs(document_alloc, free);
}
