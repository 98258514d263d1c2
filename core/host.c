/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the functions that the core offers to backends, and the output of ISOMER_LOG. */
#include "core/host.h"
#include "common/descriptor.h"
#include "common/printable.h"
#include "core/call.h"
#include "core/registry.h"
#include "core/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *core_alloc(int64_t bytes)
{
    void *pointer = NULL;

    if (bytes < 0 || posix_memalign(&pointer, 64, bytes ? (size_t)bytes : 1)) {
        core_fail(ISO_NO_MEMORY, "no host memory for %lld bytes", (long long)bytes);
        return NULL;
    }
    return pointer;
}

static int32_t trusted(const char *path, char *problem, int64_t capacity)
{
    core_path_problem(path, problem, (size_t)capacity);
    return !problem[0];
}

static void *open_part(const char *path, char *problem, int64_t capacity)
{
    return core_plugin_part(path, problem, (size_t)capacity);
}

const iso_host core_host = {
    .size = (uint32_t)sizeof(iso_host),
    .abi_major = ISO_ABI_MAJOR,
    .abi_minor = ISO_ABI_MINOR,
    .version = ISO_VERSION_STRING,
    .alloc = core_alloc,
    .free = free,
    .fail = core_fail,
    .log = core_log,
    .setting = core_setting,
    .cache_load = core_cache_load,
    .cache_store = core_cache_store,
    .stack_left = core_stack_left,
    .path = core_host_path,
    .trusted = trusted,
    .open_part = open_part,
};

/* ---- ISOMER_LOG ------------------------------------------------------------------------------ */

enum {
    PREFIX_MOST = 32, /* room for "isomer: LEVEL: " and the end of the line */
    GROWTH = 4,       /* an unprintable byte is escaped to four */
    SHORT_TEXT = 256, /* longer lines are cut to this if there is no memory */
    SHORT_LINE = SHORT_TEXT * GROWTH + PREFIX_MOST
};

static const char *const level_names[] = {
    [ISO_LOG_ERROR] = "error",
    [ISO_LOG_WARN] = "warn",
    [ISO_LOG_INFO] = "info",
    [ISO_LOG_DEBUG] = "debug",
};

/* 0 if the text is not a level. */
static int parse_level(const char *text)
{
    for (int i = ISO_LOG_ERROR; i <= ISO_LOG_DEBUG; i++) {
        if (!strcmp(text, level_names[i])) {
            return i;
        }
    }
    return 0;
}

static bool is_on(iso_log_level level)
{
    const char *asked = core_variable("ISOMER_LOG");

    return asked && (int)level <= parse_level(asked);
}

void core_log(iso_log_level level, const char *format, ...)
{
    char short_text[SHORT_TEXT], short_line[SHORT_LINE];
    char *text = short_text, *line = short_line, *made = NULL;
    int saved = errno;
    va_list list;
    size_t length, room = sizeof short_text, line_room = sizeof short_line;

    if (level < ISO_LOG_ERROR || level > ISO_LOG_DEBUG || !is_on(level)) {
        return;
    }
    va_start(list, format);
    length = (size_t)vsnprintf(NULL, 0, format, list) + 1;
    va_end(list);
    if (length > room) {
        made = malloc(length * (1 + GROWTH) + PREFIX_MOST);
    }
    if (made) {
        text = made;
        room = length;
        line = made + length;
        line_room = length * GROWTH + PREFIX_MOST;
    }
    va_start(list, format);
    vsnprintf(text, room, format, list);
    va_end(list);
    length = (size_t)snprintf(line, line_room, "isomer: %s: ", level_names[level]);
    printable_copy(line + length, line_room - length - 1, text);
    length = strlen(line);
    line[length++] = '\n';
    descriptor_write(STDERR_FILENO, line, length);
    free(made);
    errno = saved;
}
