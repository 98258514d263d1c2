/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - runs a program and reads its output into memory. The program leads its own process
 * group, so that a signal to our group does not reach it. We stop it, with everything that it
 * started, by one signal to its group.
 */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ERR_KEPT = 4096, GRACE_SECONDS = 3 };

/* ---- output ---------------------------------------------------------------------------------- */

/* Reads the output that is available. False at its end, or if it cannot be kept. */
static bool take_out(int descriptor, compare_child *child, size_t *room)
{
    if (*room - child->size < 65536) {
        size_t more = *room == 0 ? 1 << 20 : *room * 2;
        char *grown = realloc(child->out, more);
        if (!grown) {
            child->error = ENOMEM;
            return false;
        }
        child->out = grown;
        *room = more;
    }
    ssize_t got = read(descriptor, child->out + child->size, *room - child->size - 1);
    if (got > 0) {
        child->size += (size_t)got;
    }
    child->large = child->size > (size_t)COMPARE_MOST_MIB << 20;
    child->out[child->size] = '\0';
    return !child->large && (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
}

/* Reads messages and keeps only the last bytes. False at their end. */
static bool take_err(int descriptor, compare_child *child)
{
    char text[2048];
    ssize_t got = read(descriptor, text, sizeof text);
    if (got <= 0) {
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    }
    size_t used = strlen(child->err), length = (size_t)got;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0') {
            text[i] = ' ';
        }
    }
    if (used + length >= ERR_KEPT) {
        size_t drop = used + length - ERR_KEPT + 1;
        drop = drop < used ? drop : used;
        memmove(child->err, child->err + drop, used - drop + 1);
        used -= drop;
    }
    memcpy(child->err + used, text, length);
    child->err[used + length] = '\0';
    return true;
}

/* Reads both streams to their ends, and waits for the process. Signals are unblocked only during
 * ppoll, so that none is lost between the check and the wait. */
static void attend(pid_t pid, const int *descriptors, const sigset_t *open, double limit,
                   compare_child *child)
{
    double began = tool_seconds();
    struct pollfd watched[2] = {{descriptors[0], POLLIN, 0}, {descriptors[1], POLLIN, 0}};
    size_t room = 0;
    double stopped = 0;
    bool ended = false, reaped = false;
    while (!ended || !reaped) {
        if (tool_stop_asked() && stopped == 0) {
            kill(-pid, SIGTERM);
            stopped = tool_seconds();
        }
        if (stopped > 0 && tool_seconds() - stopped > GRACE_SECONDS) {
            kill(-pid, SIGKILL);
        }
        struct timespec pause = {0, 200000000};
        int ready = ended ? 0 : ppoll(watched, 2, &pause, open);
        if (ended) {
            ppoll(NULL, 0, &(struct timespec){0, 5000000}, open);
        }
        if (ready > 0 && watched[0].revents != 0 && !take_out(descriptors[0], child, &room)) {
            watched[0].fd = -1;
        }
        if (ready > 0 && watched[1].revents != 0 && !take_err(descriptors[1], child)) {
            watched[1].fd = -1;
        }
        child->late = child->late || (!reaped && tool_seconds() - began > limit);
        if (child->error != 0 || child->late || child->large) {
            kill(-pid, SIGKILL);
        }
        if (!reaped) {
            reaped = waitpid(pid, &child->status, WNOHANG) == pid;
        }
        /* The program may leave behind processes that keep the pipes open for ever. So reading also
         * ends once the program has ended and no output is waiting. */
        ended = (watched[0].fd < 0 && watched[1].fd < 0) || (reaped && ready == 0);
    }
    kill(-pid, SIGKILL);
}

/* ---- starting -------------------------------------------------------------------------------- */

static int start(char *const *argv, const int *out, const int *err, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    static const int reset[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof reset / sizeof reset[0]; i++) {
        sigaddset(&defaults, reset[i]);
    }
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    /* Its group is not the terminal's foreground group, so reading from the terminal would suspend
     * it. */
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    }
    if (error == 0) {
        error = posix_spawnattr_setsigmask(&attributes, &none);
    }
    if (error == 0) {
        error = posix_spawnattr_setsigdefault(&attributes, &defaults);
    }
    if (error == 0) {
        error = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    if (error == 0) {
        error = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void shut(int *descriptor)
{
    if (*descriptor >= 0) {
        close(*descriptor);
    }
    *descriptor = -1;
}

bool compare_run(char *const *argv, double limit, compare_child *child)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    sigset_t open;
    pid_t pid;
    *child = (compare_child){.err = calloc(1, ERR_KEPT + 2048)};
    tool_signals_hold(&open);
    if (!child->err) {
        child->error = ENOMEM;
    } else if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        child->error = errno;
    } else {
        child->error = start(argv, out, err, &pid);
    }
    shut(&out[1]);
    shut(&err[1]);
    if (child->error == 0) {
        attend(pid, (int[]){out[0], err[0]}, &open, limit, child);
    }
    shut(&out[0]);
    shut(&err[0]);
    sigprocmask(SIG_SETMASK, &open, NULL);
    return child->error == 0;
}

void compare_child_free(compare_child *child)
{
    free(child->out);
    free(child->err);
    *child = (compare_child){0};
}
