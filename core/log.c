/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - the lines that ISOMER_LOG asks for. Each is one write, so that threads do not mix them.
 */
#include "core/core.h"

#include "printable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {
    [ISO_LOG_ERROR] = "error",
    [ISO_LOG_WARN] = "warn",
    [ISO_LOG_INFO] = "info",
    [ISO_LOG_DEBUG] = "debug",
};

int core_log_parse(const char *text)
{
    for (int i = ISO_LOG_ERROR; i <= ISO_LOG_DEBUG; i++)
        if (!strcmp(text, level_names[i]))
            return i;
    return 0;
}

bool core_log_on(iso_log_level level)
{
    const char *asked = getenv("ISOMER_LOG");

    return asked && (int)level <= core_log_parse(asked);
}

void core_log(iso_log_level level, const char *format, ...)
{
    char text[CORE_TEXT_MAX], line[CORE_TEXT_MAX];
    int saved = errno;
    va_list list;
    size_t length;

    if (level < ISO_LOG_ERROR || level > ISO_LOG_DEBUG || !core_log_on(level))
        return;
    length = (size_t)snprintf(line, sizeof line, "isomer: %s: ", level_names[level]);
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    printable_copy(line + length, sizeof line - length - 1, text);
    length = strlen(line);
    line[length++] = '\n';
    while (write(STDERR_FILENO, line, length) < 0 && errno == EINTR)
        ;
    errno = saved;
}
