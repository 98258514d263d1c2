/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - isomer-try, a program that the library starts to run vendors' code that may end or hang
 * the process. The program prints "isomer-try: ok" on success, and otherwise the reason. The parent
 * reads these lines, because it cannot always get the program's exit status. The library starts it
 * as:
 *
 *   isomer-try VERSION ADDRESS_SPACE DATA PART WORDS...
 *
 * ADDRESS_SPACE and DATA limit the bytes of address space and of data that the program may still
 * use; -1 leaves a limit unchanged (room.h).
 */
#include "backends/trial/child.h"
#include "backends/trial/room.h"

#include <isomer/base.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* The parent normally ends the program at the deadline. If the parent is stopped (SIGSTOP), this
 * longer limit ends the program instead. */
enum { LONGEST_SECONDS = 3700 };

static void say(const char *kind, const char *format, va_list list)
{
    char text[1024];
    (void)vsnprintf(text, sizeof text, format, list);
    for (char *at = text; *at; at++) {
        if (*at == '\n') {
            *at = ' ';
        }
    }
    printf("isomer-try: %s %s\n", kind, text);
    (void)fflush(stdout);
}

void child_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("no:", format, list);
    va_end(list);
}

void child_at(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("at:", format, list);
    va_end(list);
}

void *child_open(const char *path, const child_symbol *symbols, size_t count)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        child_say("%s", dlerror());
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address) {
            child_say("%s has no function %s", path, symbols[i].name);
            return NULL;
        }
        memcpy(symbols[i].at, &address, sizeof address);
    }
    return library;
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        child_part part;
    } parts[] = {{"hip", hip_try}, {"openmp", openmp_try}, {"opencl", opencl_try}};
    /* An abort is expected here, so no core file is needed. */
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)alarm(LONGEST_SECONDS);
    child_answer answer = CHILD_CANNOT;
    if (count >= 5 && strcmp(words[1], ISO_VERSION_STRING) == 0) {
        const int64_t left[ROOM_KINDS] = {strtoll(words[2], NULL, 10), strtoll(words[3], NULL, 10)};
        room_leave(left);
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            if (strcmp(words[4], parts[i].name) == 0) {
                answer = parts[i].part(count - 5, words + 5);
            }
        }
    }
    if (answer == CHILD_CANNOT) {
        printf("isomer-try: cannot: isomer-try " ISO_VERSION_STRING " was started with "
               "words that it does not know; only the library should start it\n");
    } else if (answer == CHILD_GOOD) {
        printf("isomer-try: ok\n");
    }
    (void)fflush(stdout);
    return answer == CHILD_GOOD ? 0 : answer == CHILD_BAD ? 1 : 2;
}
