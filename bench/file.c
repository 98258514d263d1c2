/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - writes results files. The content goes to a temporary file beside the target, which is
 * renamed to the target at the end. The temporary file is made before the work, so that a target
 * that cannot be written fails at once. Symbolic links are followed once, at the beginning, and are
 * not replaced. After that the target is the temporary file's name without its ending. */
#include "bench/tool.h"

#include "common/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Temporary files that a signal handler has to remove. */
enum { LIVE_FILES = 8 };
static char *volatile live[LIVE_FILES];

static const char ending[] = ".XXXXXX"; /* random characters replace the X */

void tool_files_sweep(void)
{
    for (int i = 0; i < LIVE_FILES; i++) {
        if (live[i]) {
            unlink(live[i]);
        }
    }
}

static void watch(char *temporary)
{
    tool_signals_watch();
    for (int i = 0; i < LIVE_FILES; i++) {
        if (!live[i]) {
            live[i] = temporary;
            return;
        }
    }
}

static void forget(char *temporary)
{
    for (int i = 0; i < LIVE_FILES; i++) {
        if (live[i] && live[i] == temporary) {
            live[i] = NULL;
        }
    }
    free(temporary);
}

static int failed(const tool_file *file, const char *what)
{
    const char *name = strcmp(file->path, "-") == 0 ? "standard output" : file->path;
    int code = errno == ENOMEM ? TOOL_INTERNAL : TOOL_IO;
    return tool_error(code, "cannot %s %s: %s", what, name, strerror(errno));
}

/* Creates a file with a random ending. open applies the umask, so that the target gets the usual
 * mode. mkstemp does not, and reading the umask means changing it for a moment: files that other
 * threads create then would be writable by all. */
static int open_new(char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char drawn[sizeof ending - 2];
    int descriptor = -1;
    for (int tries = 0; tries < 100 && descriptor < 0; tries++) {
        if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn) {
            return -1;
        }
        for (size_t i = 0; i < sizeof drawn; i++) {
            name[strlen(name) - sizeof drawn + i] = letters[drawn[i] % (sizeof letters - 1)];
        }
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) {
            return -1;
        }
    }
    return descriptor;
}

/* Creates a temporary file beside the target. If it cannot, it returns NULL and sets errno. */
static FILE *make_temporary(const char *path, char **name)
{
    FILE *stream = NULL;
    size_t room = strlen(path) + sizeof ending;
    char *temporary = malloc(room);
    if (!temporary) {
        return NULL;
    }
    snprintf(temporary, room, "%s%s", path, ending);
    int descriptor = open_new(temporary);
    if (descriptor < 0) {
        free(temporary);
        return NULL;
    }
    watch(temporary);
    stream = fdopen(descriptor, "w");
    if (!stream) {
        close(descriptor);
        unlink(temporary);
        forget(temporary);
        return NULL;
    }
    *name = temporary;
    return stream;
}

/* Returns the target of a temporary file, which the caller frees; NULL with errno. */
static char *target_of(const char *temporary)
{
    return strndup(temporary, strlen(temporary) - strlen(ending));
}

static int replace_target(const char *temporary)
{
    char *target = target_of(temporary);
    int result = target ? rename(temporary, target) : -1;
    free(target);
    return result;
}

/* Returns where the link at `path` leads, which the caller frees; NULL with errno. If the link is
 * relative, the folder of `path` is put in front. */
static char *read_link(const char *path)
{
    char text[PATH_MAX], *result = NULL;
    ssize_t length = readlink(path, text, sizeof text);
    if (length < 0) {
        return NULL;
    }
    if ((size_t)length == sizeof text) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    const char *slash = text[0] != '/' ? strrchr(path, '/') : NULL;
    int folder = slash ? (int)(slash - path) + 1 : 0;
    if (asprintf(&result, "%.*s%.*s", folder, path, (int)length, text) < 0) {
        return NULL;
    }
    return result;
}

/* Returns where the links at `path` lead, even if there is no such file; the caller frees it. NULL
 * with errno. Sets `*opened` if a link stands for a process's open file, as /dev/stdout and
 * /dev/fd/3 do. Such a file must not be replaced, because its owner would go on writing to the old
 * one. */
static char *follow(const char *path, bool *opened)
{
    enum { MOST_LINKS = 40 }; /* the kernel's limit */
    struct stat found, processes;
    bool known = stat("/proc/self/", &processes) == 0;
    char *at = strdup(path);
    for (int i = 0; at && lstat(at, &found) == 0 && S_ISLNK(found.st_mode); i++) {
        *opened = *opened || (known && found.st_dev == processes.st_dev);
        char *next = i < MOST_LINKS ? read_link(at) : NULL;
        if (i == MOST_LINKS) {
            errno = ELOOP;
        }
        int error = errno;
        free(at);
        errno = error;
        at = next;
    }
    return at;
}

/* Opens a pipe, a device or an open file for writing, because these must not be replaced. If the
 * file is this process's own output, the content is appended to it. */
static FILE *open_in_place(const char *path, const struct stat *found)
{
    struct stat output;
    if (!S_ISREG(found->st_mode) || fstat(STDOUT_FILENO, &output) != 0 ||
        output.st_dev != found->st_dev || output.st_ino != found->st_ino) {
        return fopen(path, "w");
    }
    int descriptor = dup(STDOUT_FILENO);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!stream && descriptor >= 0) {
        close(descriptor);
    }
    return stream;
}

int tool_file_open(tool_file *file, const char *path)
{
    *file = (tool_file){.path = path};
    if (!path) {
        return TOOL_OK;
    }
    if (strcmp(path, "-") == 0) {
        file->stream = tool_data();
        return TOOL_OK;
    }
    struct stat found;
    bool there = stat(path, &found) == 0, opened = false;
    if (there && S_ISDIR(found.st_mode)) {
        errno = EISDIR;
        return failed(file, "write");
    }
    char *target = follow(path, &opened);
    if (!target) {
        return failed(file, "write");
    }
    if (there && (opened || !S_ISREG(found.st_mode))) {
        file->stream = open_in_place(path, &found);
    } else if (access(target, F_OK) != 0 || access(target, W_OK) == 0) {
        file->stream = make_temporary(target, &file->temporary);
    }
    int code = file->stream ? TOOL_OK : failed(file, "write");
    free(target);
    return code;
}

int tool_file_commit(tool_file *file)
{
    int code = TOOL_OK;
    if (!file->stream) {
        return TOOL_OK;
    }
    bool bad = fflush(file->stream) != 0 || ferror(file->stream);
    if (file->stream != tool_data()) {
        bad = fclose(file->stream) != 0 || bad;
    }
    file->stream = NULL;
    if (bad) {
        code = failed(file, "write");
    } else if (file->temporary && replace_target(file->temporary) != 0) {
        code = failed(file, "rename the finished file to");
    }
    if (code == TOOL_OK) {
        forget(file->temporary);
        file->temporary = NULL;
    }
    tool_file_discard(file);
    return code;
}

void tool_file_discard(tool_file *file)
{
    if (file->stream && file->stream != tool_data()) {
        fclose(file->stream);
    }
    if (file->temporary) {
        unlink(file->temporary);
    }
    forget(file->temporary);
    *file = (tool_file){0};
}

/* Writes a part of a document. Control characters, which occur only inside strings, are escaped as
 * in JSON. Jansson never splits a character between two calls. */
static int put_json(const char *text, size_t length, void *stream)
{
    char one[PRINTABLE_MOST];
    size_t taken;
    for (size_t at = 0; at < length; at += taken) {
        size_t bytes = printable_next(text + at, length - at, PRINTABLE_JSON, one, &taken);
        if (taken == 0 || fwrite(one, 1, bytes, stream) != bytes) {
            return -1;
        }
    }
    return 0;
}

/* The arrays of a document that have a line for each item, so that files can be compared and
 * searched by line. */
static const char *const by_lines[] = {"results", "labs", "comm"};
enum { BY_LINES = sizeof by_lines / sizeof by_lines[0] };

static bool put_items(FILE *stream, const json_t *items)
{
    bool good = true;
    for (size_t i = 0; good && i < json_array_size(items); i++) {
        good = fputs(i > 0 ? ",\n  " : "\n  ", stream) != EOF &&
               json_dump_callback(json_array_get(items, i), put_json, stream,
                                  JSON_REAL_PRECISION(17)) == 0;
    }
    return good && fputs("\n ", stream) != EOF;
}

/* The place behind the bracket of the first of these arrays in a text; NULL: there is none. */
static const char *next_array(const char *text, const json_t *root, const json_t **items)
{
    const char *first = NULL;
    for (int i = 0; i < BY_LINES; i++) {
        char empty[32];
        snprintf(empty, sizeof empty, "\n \"%s\": [", by_lines[i]);
        const json_t *array = json_object_get(root, by_lines[i]);
        const char *at = json_array_size(array) > 0 ? strstr(text, empty) : NULL;
        if (at && (!first || at + strlen(empty) < first)) {
            first = at + strlen(empty);
            *items = array;
        }
    }
    return first;
}

/* Writes the document with these arrays empty, and their items between the brackets. */
static bool write_json(FILE *stream, const json_t *root)
{
    json_t *rest = json_copy((json_t *)root); /* shallow */
    const json_t *items = NULL;
    bool good = true;
    for (int i = 0; i < BY_LINES; i++) {
        good = good && (!json_object_get(root, by_lines[i]) ||
                        json_object_set_new(rest, by_lines[i], json_array()) == 0);
    }
    char *text = good ? json_dumps(rest, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    const char *from = text;
    good = text != NULL;
    for (const char *at; good && (at = next_array(from, root, &items)); from = at) {
        good = put_json(from, (size_t)(at - from), stream) == 0 && put_items(stream, items);
    }
    good = good && put_json(from, strlen(from), stream) == 0;
    free(text);
    json_decref(rest);
    return good && fputc('\n', stream) != EOF;
}

/* Empties the temporary file for the next try, which also frees its space on a full disk. */
static int checkpoint_failed(tool_file *file)
{
    int code = file->failing ? TOOL_IO : failed(file, "write");
    file->failing = true;
    __fpurge(file->stream); /* otherwise the text still in the buffer would be written first */
    clearerr(file->stream);
    rewind(file->stream);
    if (ftruncate(fileno(file->stream), 0) != 0) {
        clearerr(file->stream);
    }
    return code;
}

int tool_file_checkpoint(tool_file *file, const json_t *root)
{
    if (!file->stream || !file->temporary) {
        return TOOL_OK;
    }
    if (!write_json(file->stream, root) || fflush(file->stream) != 0) {
        return checkpoint_failed(file);
    }
    /* Makes the next temporary file before this one is renamed, because without a file the run
     * could not save anything more. */
    char *next_name = NULL;
    char *target = target_of(file->temporary);
    FILE *next = target ? make_temporary(target, &next_name) : NULL;
    free(target);
    if (!next) {
        return checkpoint_failed(file);
    }
    bool bad = fclose(file->stream) != 0;
    file->stream = next;
    bad = bad || replace_target(file->temporary) != 0;
    if (bad) {
        if (!file->failing) {
            failed(file, "write");
        }
        unlink(file->temporary);
    }
    forget(file->temporary);
    file->temporary = next_name;
    file->failing = bad;
    return bad ? TOOL_IO : TOOL_OK;
}

int tool_file_write(tool_file *file, bool (*write)(FILE *out, const json_t *root),
                    const json_t *root)
{
    if (!file->path) {
        return TOOL_OK;
    }
    if (!write(file->stream, root)) {
        int code = failed(file, "write");
        tool_file_discard(file);
        return code;
    }
    return tool_file_commit(file);
}

int tool_file_json(tool_file *file, const json_t *root)
{
    return tool_file_write(file, write_json, root);
}
