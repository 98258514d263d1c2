/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - reads a whole file or standard input, up to a limit, because some streams never end. */
#include "bench/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reads the rest of the stream. NULL with errno: EFBIG if there are more than `most` bytes. */
static char *read_rest(FILE *in, size_t most, size_t *length)
{
    size_t used = 0, room = 0;
    char *text = NULL;
    for (;;) {
        if (used == room) {
            room = room == 0 ? 65536 : 2 * room < most ? 2 * room : most + 1;
            char *grown = used <= most ? realloc(text, room) : NULL;
            if (!grown) {
                free(text);
                errno = used <= most ? ENOMEM : EFBIG;
                return NULL;
            }
            text = grown;
        }
        size_t got = fread(text + used, 1, room - used, in);
        used += got;
        if (got == 0 && ferror(in)) {
            free(text);
            return NULL;
        }
        if (got == 0) {
            *length = used;
            return text;
        }
    }
}

static char *read_stream(FILE *in, size_t most, size_t *length)
{
    struct stat found;
    bool known = fstat(fileno(in), &found) == 0;
    if (known && S_ISDIR(found.st_mode)) {
        errno = EISDIR;
        return NULL;
    }
    if (known && S_ISREG(found.st_mode) && found.st_size > (off_t)most) {
        errno = EFBIG;
        return NULL;
    }
    return read_rest(in, most, length);
}

char *tool_read(const char *path, int most_mib, size_t *length)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rbe");
    char *text = in ? read_stream(in, (size_t)most_mib << 20, length) : NULL;
    if (in && !standard) {
        int error = errno;
        fclose(in);
        errno = error;
    }
    return text;
}

const char *tool_read_problem(int most_mib, char *text, size_t room)
{
    if (errno == EFBIG) {
        snprintf(text, room, "it is larger than %d MiB, the limit for such files", most_mib);
    } else {
        snprintf(text, room, "%s", strerror(errno));
    }
    return text;
}
