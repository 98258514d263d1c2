/* SPDX-License-Identifier: Apache-2.0 */
/* check_address.c - the same runs with the compiler's address sanitizer, as the CPU backend
 * compiles the text: with vector instructions, and without the judge's watching. */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES = 16 };

const char check_address[] = "address";

/* The addresses of the first stack in the sanitizer's report: "    #0 0x401234 ...". */
static int read_frames(const char *said, uint64_t pcs[FRAMES])
{
    int count = 0;
    for (const char *at = strstr(said, "#0 0x"); at && count < FRAMES;) {
        char mark[16];
        snprintf(mark, sizeof mark, "#%d 0x", count);
        if (strncmp(at, mark, strlen(mark)) != 0) {
            break;
        }
        /* All but the first are already those after a call. */
        pcs[count] = strtoull(at + strlen(mark) - 2, NULL, 16) + (count == 0);
        count++;
        at = strchr(at, '\n');
        at = at ? at + 1 + strspn(at + 1, " ") : NULL;
    }
    return count;
}

/* "heap-buffer-overflow on address 0x602... at pc ..." becomes "heap-buffer-overflow". */
static void read_kind(const char *said, char *kind, size_t room)
{
    static const char mark[] = "AddressSanitizer: ";
    const char *at = strstr(said, mark);
    at = at ? at + sizeof mark - 1 : "a crash";
    snprintf(kind, room, "%.*s", (int)strcspn(at, " \n"), at);
}

/* Whether the judge reported an access out of bounds. It names the line better: the optimiser moves
 * code. */
static bool is_said(const check_run *run, const char *kernel)
{
    for (int32_t i = 0; i < run->finding_count; i++) {
        const check_finding *at = &run->findings[i];
        if (check_is_on(run, at, kernel) &&
            (at->kind == JUDGE_BOUNDS || at->kind == JUDGE_INDEX || at->kind == JUDGE_OTHER_OWN)) {
            return true;
        }
    }
    return false;
}

static void add_finding(check_run *run, const check_case *item, const check_program *program,
                        const char *said)
{
    uint64_t pcs[FRAMES] = {0};
    int lines[FRAMES], line = 0;
    char kind[64], name[512];
    const int count = read_frames(said, pcs);
    check_lines(run, program->path, pcs, count, lines);
    for (int i = 0; i < count && !line; i++) {
        line = lines[i];
    }
    read_kind(said, kind, sizeof kind);
    if (is_said(run, item->of->kernel->name)) {
        return;
    }
    char *key = check_text("address %s %d", item->of->kernel->name, line);
    check_finding *made = check_find(run, check_address, key, line, item->of->kernel->name);
    if (made) {
        made->what = check_text("the address sanitizer reports %s", kind);
        made->details = check_text("with %s", check_case_name(item, name, sizeof name));
        made->advice = "test the index before the access";
    }
    free(key);
}

static bool is_known(const check_run *run, const check_case *item)
{
    for (int32_t i = 0; i < run->finding_count; i++) {
        const check_finding *at = &run->findings[i];
        if (check_is_on(run, at, item->of->kernel->name) &&
            (at->kind == JUDGE_HANG || at->kind == JUDGE_DIVISION)) {
            return true;
        }
    }
    return false;
}

/* Returns whether it ran; *bad counts reports. */
static bool run_case(check_run *run, check_case *item, const check_program *program, int *bad)
{
    char *in = check_path(run, "case");
    const char *const words[] = {"env",
                                 "ASAN_OPTIONS=symbolize=0:detect_leaks=0:exitcode=99:color=never",
                                 program->path, in, NULL};
    check_child child = {0};
    const bool written = check_case_write(item, false, (int)run->limit, in);
    const bool good = written && check_spawn(run, words, (double)run->limit, &child);
    const bool reported = !good && child.said && strstr(child.said, "AddressSanitizer");
    if (reported) {
        add_finding(run, item, program, child.said);
    }
    *bad += reported;
    check_child_free(&child);
    free(in);
    return good || reported;
}

static bool build(check_run *run, check_program *out)
{
    static const char *const options[] = {
        "-O3", "-ffp-contract=off", "-fopenmp-simd", "-fno-math-errno", "-fsanitize=address", NULL};
    static const char *const link[] = {"-fsanitize=address", NULL};
    return check_write_text(run) && check_build(run, "plain", options, link, "plain", out);
}

void check_run_address(check_run *run)
{
    check_program program = {0};
    int count = 0, bad = 0, lost = 0;
    char *left = NULL;
    if (!run->described || !run->compiler) {
        check_say(run, check_address, "all", CHECK_MISSING, "%s",
                  run->described ? "no C compiler" : "no description says with what kernels run");
        return;
    }
    if (!build(run, &program)) {
        check_say(run, check_address, "all", CHECK_MISSING,
                  "no program with the address sanitizer can be made: %s",
                  program.why ? program.why : "a temporary file cannot be written");
    }
    for (int32_t i = 0; program.path && i < run->case_count && !tool_stop_asked(); i++) {
        const check_case *item = &run->cases[i];
        if (is_known(run, item)) {
            if (!i || item[-1].of->kernel != item->of->kernel) {
                check_append(&left, item->of->kernel->name);
            }
        } else {
            count++;
            lost += !run_case(run, &run->cases[i], &program, &bad);
        }
    }
    if (program.path && count > lost) {
        check_say(run, check_address, check_name(run), bad ? CHECK_FOUND : CHECK_OK, "%d run%s%s%s",
                  count - lost, count - lost == 1 ? "" : "s",
                  left ? "; left out, as they have a mistake: " : "", left ? left : "");
    } else if (program.path && !lost) {
        check_say(run, check_address, check_name(run), CHECK_MISSING, "%s%s",
                  left ? "all kernels are left out, as they have a mistake: "
                       : "the description has no sizes",
                  left ? left : "");
    }
    free(left);
    if (lost) {
        check_say(run, check_address, "lost", CHECK_MISSING,
                  "%d runs ended without the sanitizer's report", lost);
    }
    free(program.path);
    free(program.why);
}
