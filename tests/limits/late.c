/* SPDX-License-Identifier: Apache-2.0 */
/* late.c - the library, opened late, in a process whose threads get only small blocks of memory:
 * late LIBRARY. A large thread-local block would end the process at its first use. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1024, THREADS = 64 };

extern void *__libc_malloc(size_t bytes);

static _Thread_local int scarce;

/* Stands before the C library's, for the loader too. */
__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return scarce && bytes > LARGEST ? NULL : __libc_malloc(bytes);
}

static int (*device_close)(unsigned long long device);
static const char *(*last_error)(void);

/* The first failure of this thread: its text is there all the same. */
static void *fail(void *argument)
{
    scarce = 1;
    int status = device_close(12345);
    const char *text = last_error();
    scarce = 0;
    return status != 0 && strstr(text, "iso_device_close: ") ? NULL : argument;
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        (void)fprintf(stderr, "late: %s\n", argc == 2 ? dlerror() : "usage: late LIBRARY");
        return 2;
    }
    void *found = dlsym(library, "iso_device_close");
    memcpy(&device_close, &found, sizeof device_close);
    found = dlsym(library, "iso_last_error");
    memcpy(&last_error, &found, sizeof last_error);
    if (!device_close || !last_error) {
        return 2;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *wrong = NULL;
        if (pthread_create(&thread, NULL, fail, library) || pthread_join(thread, &wrong) || wrong) {
            (void)fprintf(stderr, "late: thread %d\n", i);
            return 1;
        }
    }
    return 0;
}
