/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - messages, column widths and line breaks. */
#include "bench/tool.h"

#include "common/printable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

double tool_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int tool_error(int code, const char *format, ...)
{
    char brief[256], brief_shown[sizeof brief * 4]; /* used if there is no memory */
    va_list list;
    fflush(stdout);
    va_start(list, format);
    int length = vsnprintf(brief, sizeof brief, format, list);
    va_end(list);
    size_t room = (size_t)(length < 0 ? 0 : length) * 4 + 1; /* a byte becomes at most four */
    char *text = NULL, *shown = malloc(room);
    va_start(list, format);
    length = vasprintf(&text, format, list);
    va_end(list);
    if (length >= 0 && shown) {
        printable_copy(shown, room, text);
    } else {
        printable_copy(brief_shown, sizeof brief_shown, brief);
    }
    fprintf(stderr, "isomer: %s\n", length >= 0 && shown ? shown : brief_shown);
    if (length >= 0) {
        free(text);
    }
    free(shown);
    return code;
}

const char *tool_reason(void)
{
    const char *text = iso_last_error(), *colon = strchr(text, ':');
    return strncmp(text, "iso_", 4) == 0 && colon ? colon + 2 : text;
}

int tool_code(iso_status status)
{
    switch (status) {
    case ISO_OK:
        return TOOL_OK;
    case ISO_INVALID:
    case ISO_MISMATCH:
        return TOOL_USAGE;
    case ISO_INTERNAL:
    case ISO_NOT_READY:
    case ISO_NO_MEMORY:
        return TOOL_INTERNAL;
    default:
        return TOOL_UNAVAILABLE;
    }
}

/* How many insertions, deletions and changes turn one word into the other. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    int n = (int)strlen(b), row[LONGEST + 1];
    if (n > LONGEST || strlen(a) > LONGEST) {
        return LONGEST;
    }
    for (int j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (int i = 0; a[i] != '\0'; i++) {
        int corner = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            int change = corner + (a[i] != b[j]);
            corner = row[j + 1];
            int other = (corner < row[j] ? corner : row[j]) + 1;
            row[j + 1] = change < other ? change : other;
        }
    }
    return row[n];
}

const char *tool_nearest(const char *word, const char *const *names, int count)
{
    const char *best = NULL;
    int least = ((int)strlen(word) + 1) / 3 + 1; /* a third of its letters may differ */
    for (int i = 0; i < count; i++) {
        int d = distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

int tool_width(FILE *out)
{
    struct winsize size = {0};
    if (isatty(tool_descriptor(out)) && ioctl(tool_descriptor(out), TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0) {
        return size.ws_col < 40 ? 40 : size.ws_col;
    }
    return 100;
}

bool tool_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(tool_descriptor(out)) && (!no || no[0] == '\0') &&
           (!term || strcmp(term, "dumb") != 0);
}

/* Columns of the first `length` bytes of a UTF-8 text. */
static int columns_of(const char *text, size_t length)
{
    int columns = 0;
    for (size_t i = 0; i < length; i++) {
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return columns;
}

int tool_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

void tool_wrap(FILE *out, int column, int indent, const char *text)
{
    int width = tool_width(out);
    bool fresh = true; /* this line holds no text yet */
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        int columns = columns_of(text, length);
        if (!fresh && column + 1 + columns > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        if (!fresh && length > 0) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += columns;
        fresh = fresh && length == 0;
        text += length;
        if (*text == '\n') {
            if (text[1] != '\0') {
                fprintf(out, "\n%*s", indent, "");
            }
            column = indent;
            fresh = true;
        }
        if (*text != '\0') {
            text++;
        }
    }
    fputc('\n', out);
}

void tool_join(char *text, size_t room, const char *separator, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", used > 0 ? separator : "", more);
}

void tool_digest_text(const uint64_t digest[2], char text[33])
{
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)digest[0],
             (unsigned long long)digest[1]);
}

const char *tool_bytes(char *text, size_t room, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 5) {
        value /= 1024;
        unit++;
    }
    snprintf(text, room, "%.*f %s", unit == 0 || value >= 100 ? 0 : 1, value, units[unit]);
    return text;
}
