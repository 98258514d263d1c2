/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - implements files.h. */
#include "backends/loader/files.h"
#include "common/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t read_some(int file, char *to, size_t bytes)
{
    ssize_t got;
    do {
        got = read(file, to, bytes);
    } while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

int files_read(const char *path, char *text, size_t capacity)
{
    size_t length = 0, got;
    const int file = descriptor_open(path, O_RDONLY, 0);
    if (file < 0) {
        return 0;
    }
    while (length + 1 < capacity &&
           (got = read_some(file, text + length, capacity - 1 - length)) > 0) {
        length += got;
    }
    (void)close(file);
    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    text[length] = '\0';
    return 1;
}

void files_lines_open(files_lines *lines, const char *path)
{
    lines->at = lines->end = 0;
    lines->file = descriptor_open(path, O_RDONLY, 0);
}

int files_lines_next(files_lines *lines, char *line, size_t capacity)
{
    size_t length = 0;
    int any = 0;
    while (lines->file >= 0) {
        if (lines->at == lines->end) {
            lines->at = 0;
            lines->end = read_some(lines->file, lines->data, sizeof lines->data);
            if (lines->end == 0) {
                files_lines_close(lines);
                break;
            }
        }
        const char next = lines->data[lines->at++];
        any = 1;
        if (next == '\n') {
            break;
        }
        if (length + 1 < capacity) {
            line[length++] = next;
        }
    }
    line[length] = '\0';
    return any;
}

void files_lines_close(files_lines *lines)
{
    if (lines->file >= 0) {
        (void)close(lines->file);
    }
    lines->file = -1;
}

void files_real_name(const char *path, char *name, size_t capacity)
{
    enum { LINKS_MAX = 8 };
    char at[1024], target[512];
    int length = snprintf(at, sizeof at, "%s", path);
    for (int i = 0; i < LINKS_MAX && length >= 0 && (size_t)length < sizeof at; i++) {
        const ssize_t got = readlink(at, target, sizeof target - 1);
        if (got <= 0 || (size_t)got == sizeof target - 1) {
            break;
        }
        target[got] = '\0';
        /* A relative link starts from the folder that contains the link. */
        char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
        const size_t before = slash ? (size_t)(slash + 1 - at) : 0;
        length = (int)before + snprintf(at + before, sizeof at - before, "%s", target);
    }
    const char *whole = length >= 0 && (size_t)length < sizeof at ? at : path;
    const char *slash = strrchr(whole, '/');
    (void)snprintf(name, capacity, "%s", slash ? slash + 1 : whole);
}
