/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.c - opens and writes the library's own files without disturbing the program. */
#include "common/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int descriptor_raise(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO) {
        return descriptor;
    }
    int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    (void)close(descriptor);
    errno = error;
    return raised;
}

int descriptor_open(const char *path, int flags, mode_t mode)
{
    return descriptor_raise(open(path, flags | O_CLOEXEC, mode));
}

FILE *descriptor_read(const char *path)
{
    int descriptor = descriptor_open(path, O_RDONLY, 0);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (!stream && descriptor >= 0) {
        (void)close(descriptor);
    }
    return stream;
}

DIR *descriptor_folder(const char *path)
{
    int descriptor = descriptor_open(path, O_RDONLY | O_DIRECTORY, 0);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (!folder && descriptor >= 0) {
        (void)close(descriptor);
    }
    return folder;
}

int descriptor_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    ends[0] = descriptor_raise(ends[0]);
    ends[1] = descriptor_raise(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0) {
        return 0;
    }
    int error = errno;
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            (void)close(ends[i]);
        }
    }
    errno = error;
    return -1;
}

/* SIGXFSZ is delivered to the thread that writes. So this thread blocks it during the write, and
 * afterwards removes the signal that the write caused. A signal that was already pending is left
 * for the program. */
bool descriptor_write(int descriptor, const void *data, size_t bytes)
{
    const char *at = data;
    const struct timespec at_once = {0, 0};
    sigset_t limit, before, waiting;
    int error = 0;

    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    (void)sigemptyset(&waiting);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    (void)sigpending(&waiting);
    while (bytes > 0 && error == 0) {
        ssize_t put = write(descriptor, at, bytes);
        if (put > 0) {
            at += put;
            bytes -= (size_t)put;
        } else if (put == 0) {
            error = EIO;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (error == EFBIG && sigismember(&waiting, SIGXFSZ) == 0) {
        (void)sigtimedwait(&limit, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}
