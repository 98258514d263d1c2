/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - places in a compiler's log. NVIDIA's compiler ignores the names and numbers of #line: it
 * writes "<kernel>:339:17" for line 339 of the whole source. */
#include "backends/opencl/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a line of the source is, by the last #line before it. */
typedef struct place {
    const char *name; /* NULL: no #line is before it */
    int name_length;
    long line;
} place;

static place place_of(const char *source, long line)
{
    place found = {0};
    const char *at = source;
    for (long number = 1; at && number <= line; number++) {
        char *end = NULL;
        if (found.name) {
            found.line++;
        }
        if (strncmp(at, "#line ", 6) == 0 && number < line) {
            const long next = strtol(at + 6, &end, 10);
            const char *name = strncmp(end, " \"", 2) == 0 ? end + 2 : NULL;
            found = (place){.name = name,
                            .name_length = name ? (int)strcspn(name, "\"\n") : 0,
                            .line = next - 1};
        }
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return found;
}

size_t ocl_log_places(const char *log, const char *source, char *to, size_t room)
{
    static const char mark[] = "<kernel>:";
    size_t used = 0;
    if (room > 0) {
        to[0] = '\0';
    }
    while (*log) {
        const char *next = strstr(log, mark);
        const int length = next ? (int)(next - log) : (int)strlen(log);
        used += (size_t)snprintf(used < room ? to + used : NULL, used < room ? room - used : 0,
                                 "%.*s", length, log);
        log += length;
        if (next) {
            char *end = NULL;
            const long line = strtol(log + strlen(mark), &end, 10);
            const place found = place_of(source, line);
            const char *name = found.name ? found.name : mark;
            used +=
                (size_t)snprintf(used < room ? to + used : NULL, used < room ? room - used : 0,
                                 "%.*s:%ld", found.name ? found.name_length : (int)strlen(mark) - 1,
                                 name, found.name ? found.line : line);
            log = end;
        }
    }
    return used;
}
