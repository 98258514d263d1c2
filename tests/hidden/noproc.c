/* SPDX-License-Identifier: Apache-2.0 */
/* noproc.c - preloaded, simulates a machine without /proc: nothing below it can be opened or
 * inspected. The file that ISOMER_TEST_HIDDEN_LOG names gets a line for each refusal. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int hidden(const char *path)
{
    static int (*open_it)(const char *, int, ...);
    if (!path || strncmp(path, "/proc", 5) != 0 || (path[5] != '\0' && path[5] != '/')) {
        return 0;
    }
    *(void **)&open_it = real("open");
    const char *log = getenv("ISOMER_TEST_HIDDEN_LOG");
    const int file = log ? open_it(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        dprintf(file, "%s\n", path);
        close(file);
    }
    errno = ENOENT;
    return 1;
}

static mode_t mode_of(int flags, va_list list)
{
    return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(list, int) : 0;
}

#define OPEN(name)                                                                                 \
    SHOWN int name(const char *path, int flags, ...)                                               \
    {                                                                                              \
        int (*next)(const char *, int, ...);                                                       \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        const mode_t mode = mode_of(flags, list);                                                  \
        va_end(list);                                                                              \
        *(void **)&next = real(#name);                                                             \
        return hidden(path) ? -1 : next(path, flags, mode);                                        \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                                              \
    SHOWN int name(int folder, const char *path, int flags, ...)                                   \
    {                                                                                              \
        int (*next)(int, const char *, int, ...);                                                  \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        const mode_t mode = mode_of(flags, list);                                                  \
        va_end(list);                                                                              \
        *(void **)&next = real(#name);                                                             \
        return hidden(path) ? -1 : next(folder, path, flags, mode);                                \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

#define FOPEN(name)                                                                                \
    SHOWN FILE *name(const char *path, const char *mode)                                           \
    {                                                                                              \
        FILE *(*next)(const char *, const char *);                                                 \
        *(void **)&next = real(#name);                                                             \
        return hidden(path) ? NULL : next(path, mode);                                             \
    }
FOPEN(fopen)
FOPEN(fopen64)

SHOWN DIR *opendir(const char *path)
{
    DIR *(*next)(const char *);
    *(void **)&next = real("opendir");
    return hidden(path) ? NULL : next(path);
}

SHOWN int access(const char *path, int how)
{
    int (*next)(const char *, int);
    *(void **)&next = real("access");
    return hidden(path) ? -1 : next(path, how);
}

SHOWN ssize_t readlink(const char *path, char *to, size_t room)
{
    ssize_t (*next)(const char *, char *, size_t);
    *(void **)&next = real("readlink");
    return hidden(path) ? -1 : next(path, to, room);
}

#define STAT(name, type)                                                                           \
    SHOWN int name(const char *path, type *out)                                                    \
    {                                                                                              \
        int (*next)(const char *, type *);                                                         \
        *(void **)&next = real(#name);                                                             \
        return hidden(path) ? -1 : next(path, out);                                                \
    }
STAT(stat, struct stat)
STAT(lstat, struct stat)
