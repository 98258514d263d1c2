/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.c - printing. Standard output and standard error become streams that escape control
 * characters, so that texts from files, devices and child processes cannot control the terminal.
 * Our own colours and cursor movements go through tool_escape, and data goes through tool_data.
 */
#include "bench/tool.h"

#include "common/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

typedef struct edge {
    FILE *stream; /* NULL: not opened */
    int descriptor;
    bool own;     /* true while we write our own sequence, which is not escaped */
    char part[4]; /* an incomplete character */
    size_t held;
} edge;

static edge edges[2] = {{.descriptor = STDOUT_FILENO}, {.descriptor = STDERR_FILENO}};
static FILE *plain_output; /* the original standard output */

static bool write_all(int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t put = write(descriptor, bytes, length);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

/* Writes a text with its control characters escaped. An incomplete character at the end is kept for
 * the next call. */
static bool write_shown(edge *e, const char *text, size_t length)
{
    char out[4096];
    size_t used = 0, taken;
    for (size_t at = 0; at < length; at += taken) {
        used += printable_next(text + at, length - at, PRINTABLE_TEXT, out + used, &taken);
        if (taken == 0) {
            e->held = length - at;
            memmove(e->part, text + at, e->held);
            break;
        }
        if (used > sizeof out - PRINTABLE_MOST) {
            if (!write_all(e->descriptor, out, used)) {
                return false;
            }
            used = 0;
        }
    }
    return write_all(e->descriptor, out, used);
}

static ssize_t take(void *cookie, const char *text, size_t length)
{
    edge *e = cookie;
    if (e->own) {
        return write_all(e->descriptor, text, length) ? (ssize_t)length : 0;
    }
    size_t done = 0;
    while (e->held > 0 && done < length) { /* at most 3 times: a character has at most 4 bytes */
        char whole[sizeof e->part + 1];
        size_t held = e->held;
        memcpy(whole, e->part, held);
        whole[held] = text[done++];
        e->held = 0;
        if (!write_shown(e, whole, held + 1)) {
            return 0;
        }
    }
    return write_shown(e, text + done, length - done) ? (ssize_t)length : 0;
}

static int finish(void *cookie)
{
    edge *e = cookie;
    for (size_t i = 0; i < e->held; i++) {
        char out[PRINTABLE_MOST];
        int length = snprintf(out, sizeof out, "\\x%02x", (unsigned char)e->part[i]);
        if (!write_all(e->descriptor, out, (size_t)length)) {
            break;
        }
    }
    e->held = 0;
    return 0;
}

/* Opens /dev/null in place of closed standard streams. Otherwise a file opened later could get one
 * of their descriptors, and our messages. Outputs are opened for reading on purpose, so that
 * writing to a closed output still fails; the input is opened for writing. */
static void fill_closed(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int i = 0; i < 3; i++) {
        if (fcntl(i, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[i]) < 0) {
            return; /* there is no /dev/null */
        }
    }
}

static FILE *open_edge(edge *e)
{
    static const cookie_io_functions_t functions = {.write = take, .close = finish};
    e->stream = fopencookie(e, "w", functions);
    if (e->stream) {
        bool lines = e->descriptor == STDERR_FILENO || isatty(e->descriptor);
        setvbuf(e->stream, NULL, lines ? _IOLBF : _IOFBF, BUFSIZ);
    }
    return e->stream;
}

bool tool_terminal_open(void)
{
    fill_closed();
    plain_output = stdout;
    FILE *output = open_edge(&edges[0]), *errors = open_edge(&edges[1]);
    if (!output || !errors) {
        return false;
    }
    stdout = output;
    stderr = errors;
    return true;
}

FILE *tool_data(void)
{
    return plain_output ? plain_output : stdout;
}

int tool_descriptor(FILE *out)
{
    for (int i = 0; i < 2; i++) {
        if (out == edges[i].stream && out) {
            return edges[i].descriptor;
        }
    }
    return fileno(out);
}

void tool_escape(FILE *out, const char *sequence)
{
    edge *e = out == edges[0].stream ? &edges[0] : out == edges[1].stream ? &edges[1] : NULL;
    if (!e || sequence[0] == '\0') {
        fputs(sequence, out);
        return;
    }
    flockfile(out); /* keeps out other threads, whose texts must be escaped */
    fflush(out);
    e->own = true;
    fputs(sequence, out);
    fflush(out);
    e->own = false;
    funlockfile(out);
}

bool tool_terminal_done(void)
{
    bool good = fflush(stdout) == 0 && !ferror(stdout);
    if (plain_output) {
        good = fflush(plain_output) == 0 && !ferror(plain_output) && good;
    }
    return good;
}

void tool_progress(double done, const char *format, ...)
{
    enum { BAR = 20, LINE = 512 };
    static double last;
    char bar[BAR + 1], line[LINE];
    double now = tool_seconds();
    if (now - last < 0.1) {
        return;
    }
    last = now;
    int full = done <= 0 ? 0 : done >= 1 ? BAR : (int)(BAR * done);
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)full);
    bar[BAR] = '\0';
    int at = snprintf(line, sizeof line, "[%s]", bar), width = tool_width(stderr) - 1;
    va_list list;
    va_start(list, format);
    vsnprintf(line + at, sizeof line - (size_t)at, format, list);
    va_end(list);
    if (width < LINE) {
        line[width] = '\0';
    }
    tool_escape(stderr, "\r");
    fputs(line, stderr);
    tool_escape(stderr, "\033[K");
}

void tool_progress_end(void)
{
    tool_escape(stderr, "\r\033[K");
}
