/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - reads a case, runs its groups and writes the end: judge CASE END. */
#include "bench/kernel/judge/watch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the text: runs a group, given as its place and the number of groups along each axis. */
typedef void (*judge_entry)(const int64_t *here, void *const *places);
extern const judge_entry judge_entries[];
/* Fills an element of structs: 0 where it has padding. 0: these are no structs; 2: the compiler
 * does not tell, and only the first byte is set. */
int judge_padding(int entry, int param, unsigned char *element);

static judge_case what;
static sigjmp_buf stopped;

_Noreturn void watch_stop(void)
{
    siglongjmp(stopped, 1);
}

static void on_signal(int number)
{
    if (!watch.on) {
        _exit(3);
    }
    const judge_kind kind = number == SIGALRM ? JUDGE_HANG : JUDGE_CRASH;
    judge_finding *at = watch_find(kind, -1, watch.last_pc, NULL);
    if (number == SIGFPE) {
        at->kind = JUDGE_DIVISION;
    }
    watch_stop();
}

static void catch_signals(void)
{
    static char stack[1 << 16];
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    const stack_t apart = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    (void)sigaltstack(&apart, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

static bool has_content(const judge_param *param)
{
    return param->role >= JUDGE_VALUE && param->role <= JUDGE_INOUT;
}

static bool read_case(const char *path)
{
    FILE *in = fopen(path, "rb");
    bool good =
        in && fread(&what, sizeof what, 1, in) == 1 && what.magic == JUDGE_MAGIC && watch_open();
    for (int i = 0; good && i < what.param_count; i++) {
        watch_array *array = &watch.arrays[i];
        good = watch_add(i, &what.params[i]) &&
               (!has_content(&what.params[i]) ||
                fread(array->at, 1, (size_t)array->bytes, in) == (size_t)array->bytes);
        unsigned char *element = good ? calloc(1, (size_t)what.params[i].bytes) : NULL;
        if (element && judge_padding(what.entry, i, element)) {
            array->padding = element;
        } else {
            free(element);
        }
    }
    if (in) {
        (void)fclose(in);
    }
    return good;
}

/* False if it was ended early. */
static bool run_groups(void)
{
    void *places[JUDGE_PARAMS];
    const int64_t *groups = what.groups;
    const int64_t all = groups[0] * groups[1] * groups[2];
    for (int i = 0; i < what.param_count; i++) {
        places[i] = watch.arrays[i].at;
    }
    watch.reversed = what.reversed;
    if (sigsetjmp(stopped, 1) != 0) {
        watch.on = false;
        return false;
    }
    (void)alarm((unsigned)what.seconds);
    for (int64_t i = 0; i < all; i++) {
        const int64_t group = what.reversed ? all - 1 - i : i;
        const int64_t here[] = {group % groups[0],
                                group / groups[0] % groups[1],
                                group / groups[0] / groups[1],
                                groups[0],
                                groups[1],
                                groups[2]};
        if (!watch_group(group)) {
            return false;
        }
        watch.on = true;
        judge_entries[what.entry](here, places);
        watch.on = false;
    }
    (void)alarm(0);
    return true;
}

/* Whether the kernel wrote them, for each scalar of a buffer. */
static bool write_sets(const watch_array *array, FILE *out)
{
    bool good = true;
    for (int64_t i = 0; good && i < array->bytes / array->param->grain; i++) {
        good = putc(array->cells[i].set ? 1 : 0, out) != EOF;
    }
    return good;
}

/* Writes the bytes of a buffer's element that count, the buffer, and what of it was set. */
static bool write_buffer(int index, FILE *out)
{
    const watch_array *array = &watch.arrays[index];
    const size_t bytes = (size_t)array->bytes, element = (size_t)array->param->bytes;
    unsigned char *counts = malloc(element);
    if (!counts) {
        return false;
    }
    memset(counts, 255, element);
    if (judge_padding(what.entry, index, counts) == 2) {
        memset(counts, 0, element);
    }
    const bool good = fwrite(counts, 1, element, out) == element &&
                      fwrite(array->at, 1, bytes, out) == bytes && write_sets(array, out);
    free(counts);
    return good;
}

static bool write_end(const char *path)
{
    FILE *out = fopen(path, "wb");
    watch.end.magic = JUDGE_MAGIC;
    watch.end.accesses = watch.accesses;
    bool good = out && fwrite(&watch.end, sizeof watch.end, 1, out) == 1 &&
                fwrite(watch.findings, sizeof watch.findings[0], (size_t)watch.end.finding_count,
                       out) == (size_t)watch.end.finding_count;
    for (int i = 0; good && i < what.param_count; i++) {
        const int32_t role = what.params[i].role;
        good = (role != JUDGE_OUT && role != JUDGE_INOUT) || write_buffer(i, out);
    }
    return out && fclose(out) == 0 && good;
}

int main(int count, char **arguments)
{
    if (count != 3 || !read_case(arguments[1])) {
        (void)fprintf(stderr, "the case cannot be read, or there is no memory for it\n");
        return 2;
    }
    catch_signals();
    watch.end.whole = run_groups();
    if (!write_end(arguments[2])) {
        perror(arguments[2]);
        return 2;
    }
    return 0;
}
