/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_unset.c - private variables that are read before they are set. The compiler's warnings have
 * the lines. Those that are not certain count only if the results depend on such a variable.
 */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

enum { WARN_SECONDS = 120 };

static const char unset[] = "private variables";

/* The kernel on whose lines this one is. Its name is "": none. */
static iso_kernel_info kernel_of(const check_run *run, int line)
{
    iso_kernel kernel;
    iso_kernel_info found = ISO_KERNEL_INFO_INIT, info = ISO_KERNEL_INFO_INIT;
    for (int32_t i = 0; iso_kernel_at(run->unit->program, i, &kernel) == ISO_OK; i++) {
        tool_need_memory(iso_kernel_get_info(kernel, &info));
        if (info.line <= line && info.line > found.line) {
            found = info;
        }
    }
    return found;
}

static void find(check_run *run, int line, const char *kernel, const char *name, int length)
{
    char *key = check_text("unset %s %d", kernel, line);
    check_finding *made =
        check_known(run, key) ? NULL : check_find(run, check_judge, key, line, kernel);
    if (made) {
        made->what = check_text("%s%.*s is read before it is set",
                                length ? "the variable " : "a variable of a region", length, name);
        made->advice = "give it a value where it is declared";
    }
    free(key);
}

/* Reads "first.isk:12:9: warning: 'sum' is used uninitialized [-Wuninitialized]". */
static void read_warning(check_run *run, const char *at, const char *end)
{
    const char *tag = strstr(at, "uninitialized]"), *quote = strchr(at, '\'');
    const int line = (int)strtol(at + 1, NULL, 10);
    if (!tag || tag > end || line <= 0 || !strstr(at, "warning:")) {
        return;
    }
    run->unit->warnings = tool_resize(run->unit->warnings, (size_t)run->unit->warning_count + 1,
                                      sizeof *run->unit->warnings, "the compiler's warnings");
    check_warning *made = &run->unit->warnings[run->unit->warning_count++];
    *made = (check_warning){.line = line, .certain = strncmp(tag - 3, "[-W", 3) == 0};
    if (quote && quote < end) {
        snprintf(made->name, sizeof made->name, "%.*s", (int)strcspn(quote + 1, "'"), quote + 1);
    }
}

static void read_warnings(check_run *run, const char *said)
{
    const size_t length = strlen(run->unit->args.name);
    while (*said) {
        const char *end = said + strcspn(said, "\n");
        if (strncmp(said, run->unit->args.name, length) == 0 && said[length] == ':') {
            read_warning(run, said + length, end);
        }
        said = end + (*end == '\n');
    }
}

void check_unset_begin(check_run *run)
{
    char *text = check_path(run, "text.c"), *object = check_path(run, "warned.o");
    const char *const words[] = {run->compiler,
                                 "-x",
                                 "c",
                                 "-std=c11",
                                 "-O2",
                                 "-Wuninitialized",
                                 run->is_clang ? "-Wconditional-uninitialized"
                                               : "-Wmaybe-uninitialized",
                                 "-c",
                                 text,
                                 "-o",
                                 object,
                                 NULL};
    check_child child;
    if (check_spawn(run, words, WARN_SECONDS, &child)) {
        read_warnings(run, child.said);
    } else {
        check_say(run, check_judge, unset, CHECK_MISSING, "the compiler gives no warnings");
    }
    for (int32_t i = 0; i < run->unit->warning_count; i++) {
        const check_warning *at = &run->unit->warnings[i];
        if (at->certain) {
            find(run, at->line, kernel_of(run, at->line).name, at->name, (int)strlen(at->name));
        }
    }
    check_child_free(&child);
    free(text);
    free(object);
}

void check_unset_confirm(check_run *run, const describe_kernel *kernel)
{
    bool known = false;
    for (int32_t i = 0; i < run->unit->warning_count; i++) {
        const check_warning *at = &run->unit->warnings[i];
        if (strcmp(kernel_of(run, at->line).name, kernel->name) == 0) {
            known = true;
            find(run, at->line, kernel->name, at->name, (int)strlen(at->name));
        }
    }
    if (!known) {
        find(run, kernel->info.line, kernel->name, "", 0);
    }
}
