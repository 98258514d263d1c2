/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_try.c - runs isomer-try, which does in a process of its own what may end a process.
 *
 * The program is started by posix_spawn: the caller, who may have threads and a device open, is
 * never forked. A yes is kept in the program cache, so that it costs once; any answer is kept for
 * this process.
 */
#include "backends/hip/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRY_ARGUMENTS = 6, TRY_KEY_MAX = 4096, TRY_SECONDS = 120 };

static const char good_line[] = "isomer-try: ok";

/* ---- finding it ---------------------------------------------------------------------------------
 */

/* Beside the library, as the build leaves it; where the installation puts it, seen from the
 * library, which may have been moved; or where it was meant to be. */
static bool find_program(char *path, size_t capacity)
{
    Dl_info here;
    char folder[HIP_PATH_MAX] = "";
    if (dladdr((const void *)good_line, &here) && here.dli_fname) {
        const char *end = strrchr(here.dli_fname, '/');
        if (end) {
            (void)snprintf(folder, sizeof folder, "%.*s", (int)(end - here.dli_fname),
                           here.dli_fname);
        }
    }
    if (folder[0]) {
        (void)snprintf(path, capacity, "%s/isomer-try", folder);
        if (access(path, X_OK) == 0) {
            return true;
        }
        (void)snprintf(path, capacity, "%s/" ISO_TRY_BESIDE "/isomer-try", folder);
        if (access(path, X_OK) == 0) {
            return true;
        }
    }
    (void)snprintf(path, capacity, "%s", ISO_TRY_FOLDER "/isomer-try");
    return access(path, X_OK) == 0;
}

/* ---- running it ---------------------------------------------------------------------------------
 */

static int64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Its signals are those of a new program, whatever the caller has blocked; it has no input, and
 * both its outputs go into the pipe. */
static int start(const char *path, char *const *arguments, int output, pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int failed = posix_spawn_file_actions_init(&files);
    if (failed) {
        return failed;
    }
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        (void)posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&files, output, 1);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&files, output, 2);
    failed = failed ? failed : posix_spawn(child, path, &files, &attributes, arguments, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* What it says, up to its end; of a long text the last part. False: it took too long. */
static bool listen_to(int input, char *text, size_t capacity)
{
    const int64_t deadline = milliseconds() + TRY_SECONDS * 1000;
    size_t used = 0;
    for (;;) {
        struct pollfd ready = {.fd = input, .events = POLLIN};
        const int64_t left = deadline - milliseconds();
        if (left <= 0) {
            return false;
        }
        if (poll(&ready, 1, (int)left) <= 0) {
            continue;
        }
        if (used + 1 == capacity) {
            memmove(text, text + capacity / 2, used - capacity / 2);
            used -= capacity / 2;
        }
        const ssize_t got = read(input, text + used, capacity - 1 - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            text[used] = '\0';
            return true;
        }
        used += (size_t)got;
    }
}

/* The caller may have said that it waits for no child, or wait for every one: then there is no
 * status, and what the program said has to do. */
static void describe_end(pid_t child, const char *said, char *why, size_t capacity)
{
    int status = 0;
    pid_t got;
    do {
        got = waitpid(child, &status, 0);
    } while (got < 0 && errno == EINTR);
    const size_t length = strcspn(said, "\n");
    if (got == child && WIFSIGNALED(status)) {
        (void)snprintf(why, capacity, "it was ended by signal %d (%s)%s%.*s", WTERMSIG(status),
                       strsignal(WTERMSIG(status)), length ? ": " : "", (int)length, said);
    } else {
        (void)snprintf(why, capacity, "it failed: %.*s", (int)length, said);
    }
}

static bool run_program(const char *const *arguments, char *why, size_t capacity)
{
    char path[HIP_PATH_MAX + 64];
    char *list[TRY_ARGUMENTS + 2];
    char said[ISO_REASON_MAX / 4] = "";
    int ends[2];
    pid_t child = -1;
    size_t count = 0;
    if (!find_program(path, sizeof path)) {
        (void)snprintf(why, capacity,
                       "the program isomer-try, which would try it, is neither beside the library "
                       "nor in %s: install isomer completely",
                       ISO_TRY_FOLDER);
        return false;
    }
    list[count++] = path;
    for (; arguments[count - 1] && count <= TRY_ARGUMENTS; count++) {
        memcpy(&list[count], &arguments[count - 1], sizeof list[count]);
    }
    list[count] = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)snprintf(why, capacity, "no pipe to %s: %s", path, strerror(errno));
        return false;
    }
    const int failed = start(path, list, ends[1], &child);
    (void)close(ends[1]);
    if (failed) {
        (void)close(ends[0]);
        (void)snprintf(why, capacity, "%s did not start: %s", path, strerror(failed));
        return false;
    }
    const bool ended = listen_to(ends[0], said, sizeof said);
    (void)close(ends[0]);
    if (!ended) {
        (void)kill(child, SIGKILL);
    }
    describe_end(child, said, why, capacity);
    if (!ended) {
        (void)snprintf(why, capacity, "it did not end within %d seconds", TRY_SECONDS);
    }
    return ended && strstr(said, good_line) != NULL;
}

/* ---- remembering --------------------------------------------------------------------------------
 */

typedef struct known_answer {
    struct known_answer *next;
    bool good;
    char *why;
    char key[]; /* and why behind it */
} known_answer;

static known_answer *known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER; /* one try at a time */

static const known_answer *recall(const char *key)
{
    const known_answer *at = known;
    while (at && strcmp(at->key, key) != 0) {
        at = at->next;
    }
    return at;
}

/* Kept for the process's life: there are as many as libraries and devices. */
static void remember(const char *key, bool good, const char *why)
{
    const size_t key_bytes = strlen(key) + 1;
    const size_t why_bytes = strlen(why) + 1;
    known_answer *made = hip_host->alloc((int64_t)(sizeof *made + key_bytes + why_bytes));
    if (made) {
        made->good = good;
        made->why = made->key + key_bytes;
        memcpy(made->key, key, key_bytes);
        memcpy(made->why, why, why_bytes);
        made->next = known;
        known = made;
    }
}

/* All that the answer depends on, the files' age among it. */
static void make_key(const char *const *arguments, const char *besides, char *key, size_t capacity)
{
    int used = snprintf(key, capacity, "isomer " ISO_VERSION_STRING " try, %s", besides);
    for (size_t i = 0; arguments[i]; i++) {
        struct stat about;
        const bool file = arguments[i][0] == '/' && stat(arguments[i], &about) == 0;
        used += snprintf(key + used, capacity - (size_t)used, "\n%s %lld %lld", arguments[i],
                         file ? (long long)about.st_size : 0,
                         file ? (long long)about.st_mtim.tv_sec : 0);
        if (used < 0 || (size_t)used >= capacity) {
            return;
        }
    }
}

static bool try_anew(const char *const *arguments, const char *key, char *why, size_t capacity)
{
    static const char yes[] = "ok";
    int64_t bytes = 0;
    void *kept = hip_host->cache_load(key, (int64_t)strlen(key), &bytes);
    bool good = kept && bytes == (int64_t)sizeof yes && memcmp(kept, yes, sizeof yes) == 0;
    hip_host->free(kept);
    if (good) {
        return true;
    }
    const int64_t began = milliseconds();
    good = run_program(arguments, why, capacity);
    hip_host->log(good ? ISO_LOG_DEBUG : ISO_LOG_WARN, "hip: isomer-try %s took %lld ms: %s",
                  arguments[0], (long long)(milliseconds() - began), good ? "ok" : why);
    if (good) {
        (void)hip_host->cache_store(key, (int64_t)strlen(key), yes, (int64_t)sizeof yes);
    }
    return good;
}

bool hip_try(const char *const *arguments, const char *besides, char *why, size_t capacity)
{
    char key[TRY_KEY_MAX];
    why[0] = '\0';
    make_key(arguments, besides, key, sizeof key);
    (void)pthread_mutex_lock(&known_lock);
    const known_answer *before = recall(key);
    bool good = before && before->good;
    if (before) {
        (void)snprintf(why, capacity, "%s", before->why);
    } else {
        good = try_anew(arguments, key, why, capacity);
        remember(key, good, good ? "" : why);
    }
    (void)pthread_mutex_unlock(&known_lock);
    return good;
}
