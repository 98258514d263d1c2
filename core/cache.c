/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - the program cache: one file per key, in a folder that only its user can write to. A
 * file is written under a temporary name and renamed. It holds its whole key, and is used only if
 * its key, lengths and checksum match. If the user's folder has no entry, the package's folder
 * (isomer/cache beside the library) is read. That folder must belong to root, and only root may be
 * able to write to it.
 */
#include "common/descriptor.h"
#include "core/error.h"
#include "core/host.h"
#include "core/settings.h"

#include <stdatomic.h>
#include <stdbool.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct header {
    char magic[8];
    int64_t key_bytes;
    int64_t data_bytes;
    uint64_t data_hash;
} header;

static const char magic[8] = "isomer1\n";

enum {
    HASH_DIGITS = 32,
    ENTRY_MOST = 256 << 20, /* bytes; programs are a few MiB */
    STALE_SECONDS = 3600    /* no store takes this long, so an older temporary file was abandoned */
};

static void default_folder(char *path, size_t room)
{
    const char *base = core_path_variable("XDG_CACHE_HOME"), *home = core_path_variable("HOME");

    path[0] = 0;
    if (base && base[0] == '/') {
        snprintf(path, room, "%s/isomer", base);
    } else if (home && home[0] == '/') {
        snprintf(path, room, "%s/.cache/isomer", home);
    }
}

/* Makes one folder that only its user can use. If the umask took the user's own rights away, they
 * are restored. */
static int make_one(const char *path)
{
    struct stat made;

    if (mkdir(path, 0700)) {
        return errno == EEXIST ? 0 : -1;
    }
    if (!lstat(path, &made) && S_ISDIR(made.st_mode) && (made.st_mode & 0700) != 0700) {
        return chmod(path, 0700);
    }
    return 0;
}

/* Makes a folder and its parents. Cuts the path at each slash in turn, then restores the slash. */
static int make_folder(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') {
            continue;
        }
        *at = 0;
        int refused = make_one(path);
        *at = '/';
        if (refused) {
            return -1;
        }
    }
    return make_one(path);
}

static void judge_folder(char *path, char *problem, size_t room)
{
    struct stat found;

    if (make_folder(path)) {
        snprintf(problem, room, "%s cannot be made: %s: the cache is not used", path,
                 strerror(errno));
    } else if (lstat(path, &found)) {
        snprintf(problem, room, "%s cannot be inspected: %s: the cache is not used", path,
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

/* Whether the cache is on; the path is "" if no folder is known. */
static bool find_folder(char *path, size_t room)
{
    const char *asked = core_setting("ISOMER_CACHE_DIR");

    path[0] = 0;
    if (asked && !strcmp(asked, "off")) {
        return false;
    }
    if (asked && asked[0]) {
        snprintf(path, room, "%s", asked);
    } else {
        default_folder(path, room);
    }
    return true;
}

void core_cache_path(char *path, size_t room)
{
    (void)find_folder(path, room);
    if (path[0] != '/') {
        path[0] = 0;
    }
}

void core_cache_where(char *path, size_t path_room, char *problem, size_t problem_room)
{
    problem[0] = 0;
    if (!find_folder(path, path_room)) {
        return;
    }
    if (!path[0] && (core_variable("XDG_CACHE_HOME") || core_variable("HOME")) &&
        !core_path_variable("XDG_CACHE_HOME") && !core_path_variable("HOME")) {
        snprintf(problem, problem_room,
                 "XDG_CACHE_HOME and HOME are ignored in a program with more rights than its "
                 "caller: the cache is not used");
    } else if (!path[0]) {
        snprintf(problem, problem_room,
                 "neither XDG_CACHE_HOME nor HOME is an absolute path: the cache is not used");
    } else if (path[0] != '/') {
        snprintf(problem, problem_room, "%s is not an absolute path: the cache is not used", path);
    } else {
        judge_folder(path, problem, problem_room);
    }
}

static bool file_in(const char *folder, const void *key, int64_t key_bytes, char *path, size_t room)
{
    XXH128_hash_t hash = XXH3_128bits(key, (size_t)key_bytes);

    return (size_t)snprintf(path, room, "%s/%016llx%016llx", folder,
                            (unsigned long long)hash.high64, (unsigned long long)hash.low64) < room;
}

/* The paths of one call. Allocated, because they are too large for a small stack. */
typedef struct places {
    char folder[ISO_REASON_MAX], problem[ISO_REASON_MAX];
    char path[ISO_REASON_MAX + 64], temporary[ISO_REASON_MAX + 96];
} places;

/* Finds the path of a key's file in the user's folder; false if that folder is not used. */
static bool file_of(const void *key, int64_t key_bytes, places *in)
{
    core_cache_where(in->folder, sizeof in->folder, in->problem, sizeof in->problem);
    if (in->problem[0]) {
        core_log(ISO_LOG_WARN, "%s", in->problem);
    }
    return in->folder[0] && !in->problem[0] &&
           file_in(in->folder, key, key_bytes, in->path, sizeof in->path);
}

/* Finds the path of a key's file in the package's folder; false if that folder is missing or cannot
 * be trusted. */
static bool file_of_package(const void *key, int64_t key_bytes, places *in)
{
    const char *asked = core_setting("ISOMER_CACHE_DIR");
    char *folder = in->folder;
    struct stat found;

    if (!core_place()[0] || (asked && !strcmp(asked, "off"))) {
        return false;
    }
    snprintf(folder, sizeof in->folder, "%s/cache", core_place());
    if (lstat(folder, &found) || !S_ISDIR(found.st_mode)) {
        return false;
    }
    if (found.st_uid != 0 || (found.st_mode & 022)) {
        core_log(
            ISO_LOG_WARN,
            "%s (user %u, mode %04o) can be written to by users other than root: it is not used",
            folder, (unsigned)found.st_uid, (unsigned)(found.st_mode & 07777));
        return false;
    }
    return file_in(folder, key, key_bytes, in->path, sizeof in->path);
}

static bool read_all(int file, void *to, int64_t bytes)
{
    char *at = to;

    while (bytes > 0) {
        ssize_t got = read(file, at, (size_t)bytes);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        bytes -= got;
    }
    return true;
}

/* ---- temporary files ----
 * Named "HASH.RANDOM", so that a file that another process left behind does not block a store. Old
 * ones are removed. */

static bool is_temporary(const char *name)
{
    return strspn(name, "0123456789abcdef") == HASH_DIGITS && name[HASH_DIGITS] == '.';
}

static void sweep(const char *folder)
{
    struct timespec now;
    struct dirent *entry;
    DIR *open = descriptor_folder(folder);

    clock_gettime(CLOCK_REALTIME, &now);
    while (open && (entry = readdir(open))) {
        struct stat found;

        if (is_temporary(entry->d_name) &&
            !fstatat(dirfd(open), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) &&
            now.tv_sec - found.st_mtim.tv_sec > STALE_SECONDS) {
            unlinkat(dirfd(open), entry->d_name, 0);
        }
    }
    if (open) {
        closedir(open);
    }
}

/* Sweeps once per process, which is enough: other processes sweep too. */
static void sweep_once(const char *folder)
{
    static atomic_flag swept = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&swept)) {
        sweep(folder);
    }
}

static uint64_t draw(void)
{
    static atomic_uint serial;
    uint64_t drawn = 0;
    struct timespec now;

    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) == (ssize_t)sizeof drawn) {
        return drawn;
    }
    clock_gettime(CLOCK_MONOTONIC, &now); /* need not be random: O_EXCL rejects a name in use */
    return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() << 16 ^ atomic_fetch_add(&serial, 1);
}

/* Makes a file that only its user can read and write, whatever the umask. */
static int make_temporary(const char *path, char *temporary, size_t room)
{
    int file = -1;

    for (int tries = 0; tries < 16 && file < 0; tries++) {
        snprintf(temporary, room, "%s.%016llx", path, (unsigned long long)draw());
        file = descriptor_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (file < 0 && errno != EEXIST) {
            break;
        }
    }
    if (file >= 0) {
        fchmod(file, 0600);
    }
    return file;
}

/* Whether the next bytes of the file are the expected ones. */
static bool read_same(int file, const void *expected, int64_t bytes)
{
    const char *at = expected;
    char part[512];

    while (bytes > 0) {
        int64_t more = bytes < (int64_t)sizeof part ? bytes : (int64_t)sizeof part;

        if (!read_all(file, part, more) || memcmp(part, at, (size_t)more)) {
            return false;
        }
        at += more;
        bytes -= more;
    }
    return true;
}

/* Whether the open file begins like a stored entry of this key. If not, its data is not read. */
static bool head_is_right(int file, uid_t owner, const void *key, int64_t key_bytes, header *head)
{
    struct stat found;

    if (fstat(file, &found) || !S_ISREG(found.st_mode) || found.st_uid != owner ||
        (found.st_mode & 022) || !read_all(file, head, sizeof *head) ||
        memcmp(head->magic, magic, sizeof magic) || head->key_bytes != key_bytes ||
        head->data_bytes < 0 || head->data_bytes > ENTRY_MOST ||
        found.st_size - (int64_t)sizeof *head - key_bytes != head->data_bytes) {
        return false;
    }
    return read_same(file, key, key_bytes);
}

static void *load(const char *path, uid_t owner, const void *key, int64_t key_bytes, int64_t *bytes)
{
    void *data = NULL;
    bool starved = false;
    header head;
    int file;

    file = descriptor_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (file < 0) {
        return NULL;
    }
    if (head_is_right(file, owner, key, key_bytes, &head)) {
        data = core_alloc(head.data_bytes);
        starved = !data;
    }
    if (data && (!read_all(file, data, head.data_bytes) ||
                 XXH3_64bits(data, (size_t)head.data_bytes) != head.data_hash)) {
        free(data);
        data = NULL;
    }
    if (data) {
        *bytes = head.data_bytes;
    } else if (starved) {
        *bytes = -1;
    } else {
        core_log(ISO_LOG_WARN, "%s is not a valid cache entry: its program is built again", path);
    }
    close(file);
    return data;
}

void *core_cache_load(const void *key, int64_t key_bytes, int64_t *bytes)
{
    places *in;
    void *data = NULL;

    if (!key || key_bytes < 0 || !bytes) {
        return NULL;
    }
    *bytes = 0;
    in = malloc(sizeof *in);
    if (!in) {
        core_fail(ISO_NO_MEMORY, "no host memory for the paths of the program cache");
        *bytes = -1;
        return NULL;
    }
    if (file_of(key, key_bytes, in)) {
        data = load(in->path, geteuid(), key, key_bytes, bytes);
    }
    if (!data && !*bytes && file_of_package(key, key_bytes, in)) {
        data = load(in->path, 0, key, key_bytes, bytes);
    }
    free(in);
    return data;
}

static bool store(const void *key, int64_t key_bytes, const void *data, int64_t bytes, places *in)
{
    header head = {.key_bytes = key_bytes, .data_bytes = bytes};
    bool kept;
    int file, error;

    if (!file_of(key, key_bytes, in)) {
        return false;
    }
    sweep_once(in->folder);
    memcpy(head.magic, magic, sizeof magic);
    head.data_hash = XXH3_64bits(data, (size_t)bytes);
    file = make_temporary(in->path, in->temporary, sizeof in->temporary);
    kept = file >= 0 && descriptor_write(file, &head, sizeof head) &&
           descriptor_write(file, key, (size_t)key_bytes) &&
           descriptor_write(file, data, (size_t)bytes);
    error = errno;
    if (file >= 0 && close(file) && kept) {
        error = errno;
        kept = false;
    }
    if (kept && rename(in->temporary, in->path)) {
        error = errno;
        kept = false;
    }
    if (file >= 0 && !kept) {
        unlink(in->temporary);
    }
    if (!kept) {
        core_log(ISO_LOG_WARN, "%s was not stored: %s", in->path, strerror(error));
    }
    return kept;
}

int32_t core_cache_store(const void *key, int64_t key_bytes, const void *data, int64_t bytes)
{
    places *in;
    bool kept;

    if (!key || !data || key_bytes < 0 || bytes < 0 || bytes > ENTRY_MOST) {
        return -1;
    }
    in = malloc(sizeof *in);
    kept = in && store(key, key_bytes, data, bytes, in);
    free(in);
    return kept ? 0 : -1;
}
