/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - the program cache: one file for a key, in a folder that only its user can write to. A
 * file is written under a temporary name and renamed, holds its whole key, and is believed only if
 * every part of it is as it was written. Where the user's folder has nothing, the package's is read
 * (isomer/cache beside the library): root's, and nobody else can write there.
 */
#include "core/core.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct header {
    char magic[8];
    int64_t key_bytes;
    int64_t data_bytes;
    uint64_t data_hash;
} header;

static const char magic[8] = "isomer1\n";

static void default_folder(char *path, size_t room)
{
    const char *base = core_path_variable("XDG_CACHE_HOME"), *home = core_path_variable("HOME");

    path[0] = 0;
    if (base && base[0] == '/')
        snprintf(path, room, "%s/isomer", base);
    else if (home && home[0] == '/')
        snprintf(path, room, "%s/.cache/isomer", home);
}

/* Makes a folder and those above it. The path is cut meanwhile. */
static int make_folder(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        int refused = mkdir(path, 0700) && errno != EEXIST;
        *at = '/';
        if (refused)
            return -1;
    }
    return mkdir(path, 0700) && errno != EEXIST ? -1 : 0;
}

static void judge_folder(char *path, char *problem, size_t room)
{
    struct stat found;

    if (make_folder(path)) {
        snprintf(problem, room, "%s cannot be made: %s: the cache is not used", path,
                 strerror(errno));
    } else if (lstat(path, &found)) {
        snprintf(problem, room, "%s cannot be looked at: %s: the cache is not used", path,
                 strerror(errno));
    } else if (!S_ISDIR(found.st_mode)) {
        snprintf(problem, room, "%s is not a folder (mode %06o): the cache is not used", path,
                 (unsigned)found.st_mode);
    } else if (found.st_uid != geteuid()) {
        snprintf(problem, room,
                 "%s belongs to user %u (mode %04o), not to user %u: the cache is not used", path,
                 (unsigned)found.st_uid, (unsigned)(found.st_mode & 07777), (unsigned)geteuid());
    } else if (found.st_mode & 022) {
        snprintf(problem, room,
                 "%s (user %u, mode %04o) can be written to by others: the cache is not used: "
                 "chmod 700 it",
                 path, (unsigned)found.st_uid, (unsigned)(found.st_mode & 07777));
    } else if ((found.st_mode & 0300) != 0300 ||
               faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS)) {
        snprintf(problem, room,
                 "%s (user %u, mode %04o) cannot be written to: the cache is not used", path,
                 (unsigned)found.st_uid, (unsigned)(found.st_mode & 07777));
    }
}

void core_cache_where(char *path, size_t path_room, char *problem, size_t problem_room)
{
    const char *asked = core_setting("ISOMER_CACHE_DIR");

    problem[0] = 0;
    path[0] = 0;
    if (asked && !strcmp(asked, "off"))
        return;
    if (asked && asked[0])
        snprintf(path, path_room, "%s", asked);
    else
        default_folder(path, path_room);
    if (!path[0] && (core_variable("XDG_CACHE_HOME") || core_variable("HOME")) &&
        !core_path_variable("XDG_CACHE_HOME") && !core_path_variable("HOME"))
        snprintf(problem, problem_room,
                 "neither XDG_CACHE_HOME nor HOME counts in a program with more rights than its "
                 "caller: the cache is not used");
    else if (!path[0])
        snprintf(problem, problem_room,
                 "neither XDG_CACHE_HOME nor HOME is an absolute path: the cache is not used");
    else if (path[0] != '/')
        snprintf(problem, problem_room, "%s is not an absolute path: the cache is not used", path);
    else
        judge_folder(path, problem, problem_room);
}

static bool file_in(const char *folder, const void *key, int64_t key_bytes, char *path, size_t room)
{
    XXH128_hash_t hash = XXH3_128bits(key, (size_t)key_bytes);

    return (size_t)snprintf(path, room, "%s/%016llx%016llx", folder,
                            (unsigned long long)hash.high64, (unsigned long long)hash.low64) < room;
}

/* The paths of one call: too much for a thread's stack. */
typedef struct places {
    char folder[ISO_REASON_MAX], problem[ISO_REASON_MAX];
    char path[ISO_REASON_MAX + 64], temporary[ISO_REASON_MAX + 96];
} places;

/* The file of a key in the user's folder; false: that is not in use. */
static bool file_of(const void *key, int64_t key_bytes, places *in)
{
    core_cache_where(in->folder, sizeof in->folder, in->problem, sizeof in->problem);
    if (in->problem[0])
        core_log(ISO_LOG_WARN, "%s", in->problem);
    return in->folder[0] && !in->problem[0] &&
           file_in(in->folder, key, key_bytes, in->path, sizeof in->path);
}

/* The file of a key in the package's folder; false: there is none that can be trusted. */
static bool file_of_package(const void *key, int64_t key_bytes, places *in)
{
    const char *asked = core_setting("ISOMER_CACHE_DIR");
    char *folder = in->folder;
    struct stat found;

    if (!core_place()[0] || (asked && !strcmp(asked, "off")))
        return false;
    snprintf(folder, sizeof in->folder, "%s/cache", core_place());
    if (lstat(folder, &found) || !S_ISDIR(found.st_mode))
        return false;
    if (found.st_uid != 0 || (found.st_mode & 022)) {
        core_log(ISO_LOG_WARN,
                 "%s (user %u, mode %04o) is not root's alone to write to: it is not used", folder,
                 (unsigned)found.st_uid, (unsigned)(found.st_mode & 07777));
        return false;
    }
    return file_in(folder, key, key_bytes, in->path, sizeof in->path);
}

static bool read_all(int file, void *to, int64_t bytes)
{
    char *at = to;

    while (bytes > 0) {
        ssize_t got = read(file, at, (size_t)bytes);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= got;
    }
    return true;
}

static bool write_all(int file, const void *from, int64_t bytes)
{
    const char *at = from;

    while (bytes > 0) {
        ssize_t put = write(file, at, (size_t)bytes);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        bytes -= put;
    }
    return true;
}

/* Whether the open file is what a store of this key left, judged before its data is read. */
static bool head_is_right(int file, uid_t owner, const void *key, int64_t key_bytes, header *head)
{
    struct stat found;
    void *stored_key = NULL;
    bool right = false;

    if (fstat(file, &found) || !S_ISREG(found.st_mode) || found.st_uid != owner ||
        (found.st_mode & 022) || !read_all(file, head, sizeof *head) ||
        memcmp(head->magic, magic, sizeof magic) || head->key_bytes != key_bytes ||
        head->data_bytes < 0 ||
        found.st_size - (int64_t)sizeof *head - key_bytes != head->data_bytes)
        return false;
    stored_key = malloc((size_t)key_bytes + 1);
    right = stored_key && read_all(file, stored_key, key_bytes) &&
            !memcmp(stored_key, key, (size_t)key_bytes);
    free(stored_key);
    return right;
}

static void *load(const char *path, uid_t owner, const void *key, int64_t key_bytes, int64_t *bytes)
{
    void *data = NULL;
    header head;
    int file;

    file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return NULL;
    if (head_is_right(file, owner, key, key_bytes, &head))
        data = core_alloc(head.data_bytes);
    if (data && (!read_all(file, data, head.data_bytes) ||
                 XXH3_64bits(data, (size_t)head.data_bytes) != head.data_hash)) {
        core_free(data);
        data = NULL;
    }
    if (data)
        *bytes = head.data_bytes;
    else
        core_log(ISO_LOG_WARN, "%s is not what was stored there: built anew", path);
    close(file);
    return data;
}

void *core_cache_load(const void *key, int64_t key_bytes, int64_t *bytes)
{
    places *in;
    void *data = NULL;

    if (!key || key_bytes < 0 || !bytes)
        return NULL;
    in = malloc(sizeof *in);
    if (in && file_of(key, key_bytes, in))
        data = load(in->path, geteuid(), key, key_bytes, bytes);
    if (in && !data && file_of_package(key, key_bytes, in))
        data = load(in->path, 0, key, key_bytes, bytes);
    free(in);
    return data;
}

static bool store(const void *key, int64_t key_bytes, const void *data, int64_t bytes, places *in)
{
    static atomic_uint serial;
    header head = {.key_bytes = key_bytes, .data_bytes = bytes};
    bool kept = false;
    int file;

    if (!file_of(key, key_bytes, in))
        return false;
    memcpy(head.magic, magic, sizeof magic);
    head.data_hash = XXH3_64bits(data, (size_t)bytes);
    snprintf(in->temporary, sizeof in->temporary, "%s.%ld.%u", in->path, (long)getpid(),
             atomic_fetch_add(&serial, 1));
    file = open(in->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) {
        kept = write_all(file, &head, sizeof head) && write_all(file, key, key_bytes) &&
               write_all(file, data, bytes);
        kept = !close(file) && kept;
        kept = kept && !rename(in->temporary, in->path);
        if (!kept)
            unlink(in->temporary);
    }
    if (!kept)
        core_log(ISO_LOG_WARN, "%s was not kept: %s", in->path, strerror(errno));
    return kept;
}

int32_t core_cache_store(const void *key, int64_t key_bytes, const void *data, int64_t bytes)
{
    places *in;
    bool kept;

    if (!key || !data || key_bytes < 0 || bytes < 0)
        return -1;
    in = malloc(sizeof *in);
    kept = in && store(key, key_bytes, data, bytes, in);
    free(in);
    return kept ? 0 : -1;
}
