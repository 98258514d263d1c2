/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - every public call on threads with little stack. Each group of calls runs on a thread
 * of its own, in one process, so that the first calls that open something are among them.
 *
 *   stacks run SPEC FLAGS KIB       with so much stack above a guard page: no crash; calls work, or
 *                                   return NO_MEMORY
 *   stacks measure SPEC FLAGS       the most that each group used of 4 MiB, in KiB
 *   stacks chain SPEC FLAGS BYTES   as measure, and fails if a group of ours used more
 */
#include "tests/limits/calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAINT = 0xa5, PAGE = 4096, MEASURED = 4 << 20 };

typedef struct job {
    const calls_group *group;
    calls_scene *scene;
} job;

static void *work(void *argument)
{
    const job *mine = argument;
    mine->group->run(mine->scene);
    return NULL;
}

static void *nothing(void *argument)
{
    return argument;
}

/* Bytes of the stack that were touched, including what the C library needs for an empty thread. If
 * no thread can be created, the process ends with 3. */
static int64_t run_on(int64_t bytes, void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned char *block = mmap(NULL, (size_t)bytes + PAGE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED || mprotect(block, PAGE, PROT_NONE) != 0) {
        (void)fprintf(stderr, "no memory for a stack of %lld bytes\n", (long long)bytes);
        exit(3);
    }
    unsigned char *stack = block + PAGE;
    memset(stack, PAINT, (size_t)bytes);
    int failed = pthread_attr_init(&attributes);
    failed = failed ? failed : pthread_attr_setstack(&attributes, stack, (size_t)bytes);
    failed = failed ? failed : pthread_create(&thread, &attributes, body, argument);
    if (failed) {
        (void)fprintf(stderr, "a thread of %lld bytes: %s\n", (long long)bytes, strerror(failed));
        exit(3);
    }
    (void)pthread_join(thread, NULL);
    int64_t untouched = 0;
    while (untouched < bytes && stack[untouched] == PAINT) {
        untouched++;
    }
    (void)munmap(block, (size_t)bytes + PAGE);
    return bytes - untouched;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        (void)fprintf(stderr, "usage: stacks run|measure|chain SPEC FLAGS [KIB or BYTES]\n");
        return 2;
    }
    const int measures = strcmp(argv[1], "run") != 0;
    const int64_t limit = argc > 4 ? strtoll(argv[4], NULL, 10) : INT64_MAX;
    /* An empty thread touches what the C library and thread-local blocks need. */
    const int64_t empty = run_on(MEASURED, nothing, NULL);
    const int64_t bytes = measures ? MEASURED : limit * 1024 + empty;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    calls_scene scene = {.spec = argv[2], .flags = (uint32_t)strtoul(argv[3], NULL, 0)};
    int bad = 0;
    if (measures) {
        (void)printf("an empty thread: %lld bytes\n", (long long)empty);
    }
    for (int i = 0; i < calls_group_count; i++) {
        job mine = {&calls_groups[i], &scene};
        if (!calls_possible(&scene, mine.group)) {
            continue;
        }
        const int done = scene.done, refused = scene.refused;
        /* A crash prints nothing, so the group is named here. */
        (void)fprintf(stderr, "%s %s %s\n", argv[1], argv[2], mine.group->name);
        const int64_t used = run_on(bytes, work, &mine) - empty;
        /* These open or call vendors' libraries on this very stack. */
        const int foreign =
            strcmp(mine.group->name, "vendor") == 0 || strcmp(mine.group->name, "enumerate") == 0;
        const int above = measures && used > limit && !foreign;
        bad += above;
        (void)printf("%-11s %4d done, %4d refused, %7.1f KiB%s\n", mine.group->name,
                     scene.done - done, scene.refused - refused, (double)used / 1024,
                     above ? ": too much" : "");
    }
    if (!measures && !scene.device.id && scene.refused > 0 && scene.done <= 1) {
        (void)printf("skipped: %s is not here\n", scene.spec);
        return 77;
    }
    return bad > 0 || scene.wrong > 0;
}
