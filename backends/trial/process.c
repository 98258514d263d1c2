/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - starts isomer-try with posix_spawn. The caller is never forked, because it may have
 * threads and an open device. */
#include "backends/trial/process.h"
#include "common/descriptor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- finding the program --------------------------------------------------------------------- */

static char library[PATH_MAX]; /* static: needs no allocation, which could fail */

/* Runs when the library is loaded. The dynamic linker's path may be relative to the working
 * directory, and the program may change that directory later. */
__attribute__((constructor)) static void find_library(void)
{
    Dl_info here;
    if (!dladdr((void *)&library, &here) || !here.dli_fname || !realpath(here.dli_fname, library)) {
        library[0] = '\0';
    }
}

const char *process_library(void)
{
    return library;
}

bool process_find(char *path, size_t capacity)
{
    static const char *const places[] = {"isomer-try", ISO_TRY_BESIDE "/isomer-try"};
    const char *own = process_library();
    const char *end = strrchr(own, '/');
    path[0] = '\0';
    for (size_t i = 0; end && i < sizeof places / sizeof places[0]; i++) {
        (void)snprintf(path, capacity, "%.*s/%s", (int)(end - own), own, places[i]);
        if (access(path, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- running the program --------------------------------------------------------------------- */

static int64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Plans the program's descriptors: no input, stdout and stderr both into the pipe, and no other
 * descriptor. */
static int plan_files(posix_spawn_file_actions_t *files, int output)
{
    int failed = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(files, output, 1);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(files, output, 2);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    failed = failed ? failed : posix_spawn_file_actions_addclosefrom_np(files, 3);
#endif
#endif
    return failed;
}

/* Starts the program. All its signals have default handlers and are unblocked, even if the caller
 * has blocked some. It leads a process group: a terminal's interrupt, which the caller may survive,
 * would end it and look like a fault of what it tries. */
static int start(char *const *words, int output, pid_t *child)
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
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
    failed = plan_files(&files, output);
    failed = failed ? failed : posix_spawn(child, words[0], &files, &attributes, words, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Reads until the other end is closed. Returns false if the deadline passes before that. */
static bool listen_to(int input, int64_t deadline, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
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
            return true;
        }
        used += (size_t)got;
        text[used] = '\0';
    }
}

/* Waits for the program, and kills it at the deadline. The status stays unknown if the program was
 * already reaped: by the kernel, if the caller ignores SIGCHLD, or by a thread that waits for every
 * child. */
static void wait_for(pid_t child, int64_t deadline, process_end *end)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    pid_t got = 0;
    while (end->in_time && got == 0) {
        got = waitpid(child, &end->status, WNOHANG);
        if (got == 0) {
            end->in_time = milliseconds() < deadline;
            (void)nanosleep(&pause, NULL);
        }
    }
    if (got == 0) {
        (void)kill(-child, SIGKILL); /* with what it started, such as a compiler's passes */
        do {
            got = waitpid(child, &end->status, 0);
        } while (got < 0 && errno == EINTR);
    }
    end->known = got == child;
}

int process_run(char *const *words, int seconds, char *said, size_t capacity, process_end *end)
{
    const int64_t deadline = milliseconds() + (int64_t)seconds * 1000;
    int ends[2];
    pid_t child = -1;
    said[0] = '\0';
    *end = (process_end){.in_time = true};
    if (descriptor_pipe(ends) != 0) {
        return errno;
    }
    const int failed = start(words, ends[1], &child);
    (void)close(ends[1]);
    if (!failed) {
        end->in_time = listen_to(ends[0], deadline, said, capacity);
        wait_for(child, deadline, end);
    }
    (void)close(ends[0]);
    return failed;
}
