/* SPDX-License-Identifier: Apache-2.0 */
/* check_oclgrind.c - runs the kernels under oclgrind, a simulator of OpenCL devices that reports
 * races, values that were never set and bad accesses: this tool again, in a child with that driver.
 */
#include "bench/kernel/check.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char check_oclgrind[] = "oclgrind";

/* ---- the child ------------------------------------------------------------------------------- */

/* Its driver, from malloc; NULL: it is not there. */
static char *find_driver(void)
{
    static const char *const patterns[] = {"/usr/lib/oclgrind/liboclgrind-rt-icd.so",
                                           "/usr/lib/*/oclgrind/liboclgrind-rt-icd.so",
                                           "/usr/lib64/oclgrind/liboclgrind-rt-icd.so",
                                           "/usr/local/lib*/oclgrind/liboclgrind-rt-icd.so"};
    char *found = NULL;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0] && !found; i++) {
        glob_t list;
        if (glob(patterns[i], 0, NULL, &list) == 0) {
            found = strdup(list.gl_pathv[0]);
            globfree(&list);
        }
    }
    return found;
}

static bool has_small(const check_run *run, const describe_kernel *kernel)
{
    for (int32_t c = 0; c < run->case_count; c++) {
        if (run->cases[c].of->kernel == kernel && check_case_is_small(run, &run->cases[c])) {
            return true;
        }
    }
    return false;
}

/* Kernels without a mistake so far, with commas, and those with one; from malloc. */
static char *kernels_of(check_run *run, int *count, char **left)
{
    char *made = check_text("%s", "");
    for (int32_t k = 0; k < run->file.kernel_count; k++) {
        const char *name = run->file.kernels[k].name;
        if (run->kernel && !tool_words_have(&run->kernels, name)) {
            continue;
        }
        if (check_has(run, name)) {
            check_append(left, name);
            continue;
        }
        if (!has_small(run, &run->file.kernels[k])) {
            check_say(run, check_oclgrind, name, CHECK_MISSING,
                      "all of its sizes are too large for a simulator: add one of a few groups");
            continue;
        }
        char *more = check_text("%s%s%s", made, made[0] ? "," : "", name);
        free(made);
        made = more;
        (*count)++;
    }
    return made;
}

enum { SETTINGS = 6 };

/* What follows "OCLGRIND FATAL ERROR (file:line)"; NULL: it said no such thing. */
static const char *fatal_in(const char *said)
{
    const char *at = said ? strstr(said, "OCLGRIND FATAL ERROR") : NULL;
    const char *end = at ? strchr(at, '\n') : NULL;
    return end && end[1] ? end + 1 : NULL;
}

/* The child's reason, in one line. A compiler's log is read as those of other devices. */
static void say_failed(check_run *run, const check_child *child, const char *report)
{
    json_t *root = json_load_file(report, 0, NULL);
    const json_t *rows = json_object_get(root, "checks");
    const char *why = fatal_in(child->said);
    for (size_t i = 0; i < json_array_size(rows) && !why; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *verdict = json_string_value(json_object_get(row, "verdict"));
        const bool missing = verdict && check_verdict_of(verdict) == CHECK_MISSING;
        why = missing ? json_string_value(json_object_get(row, "text")) : NULL;
    }
    char *problem = why ? NULL : check_child_problem(child, "the run under oclgrind");
    const char *text = why ? why : problem, *error = strstr(text, "error: ");
    const int line = check_line_in(run, text);
    const char *shown = error ? error + strlen("error: ") : text;
    char *place = line ? check_text("line %d: ", line) : strdup("");
    check_say(run, check_oclgrind, check_name(run), CHECK_MISSING, "%s%s%.*s",
              error ? "its compiler refuses the text: " : "", error ? place : "",
              (int)strcspn(shown, "\n"), shown);
    free(place);
    free(problem);
    json_decref(root);
}

static bool run_child(check_run *run, const char *kernels, const char *log, const char *report,
                      check_child *child)
{
    char *settings[SETTINGS + 1] = {
        check_text("OCL_ICD_VENDORS=%s/oclgrind.icd", run->folder),
        check_text("OCLGRIND_LOG=%s", log), check_text("ISOMER_CACHE_DIR=%s/cache", run->folder),
        strdup("OCLGRIND_DATA_RACES=1"), strdup("OCLGRIND_UNINITIALIZED=1"),
        /* Its interpreter does not support some of the code that its compiler's optimiser makes. */
        strdup("OCLGRIND_BUILD_OPTIONS=-cl-opt-disable")};
    const char *const words[] = {"--only", "launch", "--backend", "opencl", "--kernel",
                                 kernels,  "--json", report,      NULL};
    const bool good = check_again(run, settings, words, (double)run->limit, child);
    for (int i = 0; i < SETTINGS; i++) {
        free(settings[i]);
    }
    return good;
}

/* ---- its log --------------------------------------------------------------------------------- */

/* Whether this is the text's name, or the end of it: the compiler may cut the folder that it shares
 * with the one in which it runs. */
static bool is_text(const check_run *run, const char *name, size_t length)
{
    const char *whole = run->unit->args.name;
    const size_t all = strlen(whole);
    return length > 0 && length <= all && !memcmp(whole + all - length, name, length) &&
           (length == all || whole[all - length - 1] == '/');
}

/* The line after the first "At line N (column M) of NAME:" in the text, up to `end`. */
static int line_in(const check_run *run, const char *at, const char *end)
{
    static const char mark[] = "At line ";
    for (at = strstr(at, mark); at && at < end; at = strstr(at + 1, mark)) {
        const char *name = strstr(at, " of "), *stop = at + strcspn(at, "\n");
        if (name && name < stop && is_text(run, name + 4, strcspn(name + 4, ":\n"))) {
            return (int)strtol(at + sizeof mark - 1, NULL, 10);
        }
    }
    return 0;
}

static void add_message(check_run *run, const char *at, const char *end)
{
    static const char mark[] = "Kernel: iso_kernel_";
    const char *kernel = strstr(at, mark);
    char name[ISO_NAME_MAX] = "";
    const int line = line_in(run, at, end);
    if (!kernel || kernel > end) {
        return;
    }
    kernel += sizeof mark - 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(kernel, "\n"), kernel);
    const int length = (int)strcspn(at, "\n");
    const char *address = strstr(at, " address");
    const int kept = address && address < at + length ? (int)(address - at) : length;
    char *key = check_text("oclgrind %s %d %.*s", name, line, kept, at);
    check_finding *made = check_find(run, check_oclgrind, key, line, name);
    if (made) {
        made->what = check_text("oclgrind reports: %.*s", kept, at);
        made->details = check_text("on a simulated OpenCL device");
    }
    free(key);
}

/* A message begins in the first column; the lines that belong to it are indented. */
static int read_log(check_run *run, const char *log)
{
    int count = 0;
    for (const char *at = log; *at;) {
        const char *end = at + strcspn(at, "\n");
        if (*at != ' ' && *at != '\t' && *at != '\n') {
            const char *next = end;
            while (*next == '\n' && strchr("\n\t ", next[1])) {
                next += 1 + strcspn(next + 1, "\n");
                if (!next[0]) {
                    break;
                }
            }
            add_message(run, at, next);
            count++;
            end = next;
        }
        at = *end ? end + 1 : end;
    }
    return count;
}

static int read_messages(check_run *run, const char *log)
{
    size_t length = 0;
    char *said = tool_read(log, 64, &length);
    if (!said) {
        return 0;
    }
    said = tool_resize(said, length + 1, 1, "a log");
    said[length] = '\0';
    const int messages = read_log(run, said);
    free(said);
    return messages;
}

static void run_kernels(check_run *run, const char *driver, const char *kernels, int count,
                        const char *left)
{
    char *icd = check_path(run, "oclgrind.icd"), *log = check_path(run, "oclgrind.log");
    char *cache = check_path(run, "cache"), *report = check_path(run, "oclgrind.json");
    check_child child = {0};
    if (!check_write(icd, driver, strlen(driver)) || mkdir(cache, 0700) != 0) {
        check_say(run, check_oclgrind, check_name(run), CHECK_MISSING,
                  "a temporary file cannot be written");
    } else {
        const bool good = run_child(run, kernels, log, report, &child);
        const int messages = read_messages(run, log);
        if (good || messages) {
            check_say(run, check_oclgrind, check_name(run), messages ? CHECK_FOUND : CHECK_OK,
                      "%d kernel%s%s%s", count, count == 1 ? "" : "s",
                      left ? "; left out, as they have a mistake: " : "", left ? left : "");
        } else {
            say_failed(run, &child, report);
        }
    }
    check_child_free(&child);
    free(icd);
    free(log);
    free(cache);
    free(report);
}

void check_run_oclgrind(check_run *run)
{
    if (!check_is_wanted(run, "opencl")) {
        return; /* it is a device of OpenCL */
    }
    char *driver = find_driver(), *left = NULL, *kernels = NULL;
    int count = 0;
    if (!run->described || !driver) {
        check_say(run, check_oclgrind, "all", CHECK_MISSING, "%s",
                  driver ? "no description says with what kernels run" : "it is not installed");
    } else {
        kernels = kernels_of(run, &count, &left);
        if (count) {
            run_kernels(run, driver, kernels, count, left);
        } else if (left) {
            check_say(run, check_oclgrind, check_name(run), CHECK_MISSING,
                      "all kernels are left out, as they have a mistake: %s", left);
        }
    }
    free(driver);
    free(kernels);
    free(left);
}
