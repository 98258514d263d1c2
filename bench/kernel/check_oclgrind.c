/* SPDX-License-Identifier: Apache-2.0 */
/* check_oclgrind.c - runs the kernels under oclgrind, a simulator of OpenCL devices that reports
 * races, values that were never set and bad accesses: this tool again, in a child with that driver.
 */
#include "bench/kernel/check.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Kernels without a mistake so far, with commas; from malloc. */
static char *kernels_of(const check_run *run, int *count)
{
    char *made = check_text("%s", "");
    for (int32_t k = 0; k < run->file.kernel_count; k++) {
        const char *name = run->file.kernels[k].name;
        if ((run->kernel && !tool_words_have(&run->kernels, name)) || check_has(run, name)) {
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

static void make_settings(const check_run *run, const char *log, char *settings[SETTINGS])
{
    settings[0] = check_text("OCL_ICD_VENDORS=%s/oclgrind.icd", run->folder);
    settings[1] = check_text("OCLGRIND_LOG=%s", log);
    settings[2] = check_text("ISOMER_CACHE_DIR=%s/cache", run->folder);
    settings[3] = strdup("OCLGRIND_DATA_RACES=1");
    settings[4] = strdup("OCLGRIND_UNINITIALIZED=1");
    /* Its interpreter does not support some of the code that its compiler's optimiser makes. */
    settings[5] = strdup("OCLGRIND_BUILD_OPTIONS=-cl-opt-disable");
}

static bool run_child(check_run *run, const char *kernels, const char *log, char **why)
{
    char *settings[SETTINGS], *defines[CHECK_WORDS] = {NULL};
    const char *words[CHECK_WORDS + 1] = {"env"};
    const iso_program_args *given = &run->source.args;
    check_child child;
    int count = 1, used = 0;
    make_settings(run, log, settings);
    for (int i = 0; i < SETTINGS; i++) {
        words[count++] = settings[i];
    }
    const char *const fixed[] = {"/proc/self/exe", "kernel",    "check",  given->name, "--only",
                                 "launch",         "--backend", "opencl", "--kernel",  kernels};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        words[count++] = fixed[i];
    }
    char self[4096];
    const ssize_t length = readlink(fixed[0], self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    words[1 + SETTINGS] = self; /* in the child the link would be that of `env` */
    if (run->with) {
        words[count++] = "--with";
        words[count++] = run->with;
    }
    for (int32_t i = 0; i < given->macro_count && count < CHECK_WORDS - 1; i++) {
        defines[used] = check_text("--define=%s=%s", given->macros[i].name, given->macros[i].value);
        words[count++] = defines[used++];
    }
    words[count] = NULL;
    const bool good = check_spawn(run, words, (double)run->limit, &child);
    *why = good ? NULL : check_child_problem(&child, "the run under oclgrind");
    check_child_free(&child);
    for (int i = 0; i < SETTINGS; i++) {
        free(settings[i]);
    }
    for (int i = 0; i < used; i++) {
        free(defines[i]);
    }
    return good;
}

/* ---- its log --------------------------------------------------------------------------------- */

/* The line after the first "At line N (column M) of NAME" in the text, up to `end`. */
static int line_in(const check_run *run, const char *at, const char *end)
{
    static const char mark[] = "At line ";
    for (at = strstr(at, mark); at && at < end; at = strstr(at + 1, mark)) {
        const char *name = strstr(at, " of "), *stop = at + strcspn(at, "\n");
        const size_t length = strlen(run->args.name);
        if (name && name < stop && strncmp(name + 4, run->args.name, length) == 0) {
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

void check_run_oclgrind(check_run *run)
{
    char *driver = find_driver(), *why = NULL;
    int count = 0;
    char *kernels = run->described ? kernels_of(run, &count) : strdup("");
    char *icd = check_path(run, "oclgrind.icd"), *log = check_path(run, "oclgrind.log");
    char *cache = check_path(run, "cache");
    size_t length = 0;
    if (!run->described || !driver) {
        check_say(run, check_oclgrind, "all", CHECK_MISSING, "%s",
                  driver ? "no description says with what kernels run" : "it is not installed");
    } else if (count) {
        const bool good = check_write(icd, driver, strlen(driver)) && mkdir(cache, 0700) == 0 &&
                          run_child(run, kernels, log, &why);
        char *said = tool_read(log, 64, &length);
        if (said) {
            said = tool_resize(said, length + 1, 1, "a log");
            said[length] = '\0';
        }
        const int messages = said ? read_log(run, said) : 0;
        check_say(run, check_oclgrind, check_name(run),
                  messages ? CHECK_FOUND
                  : good   ? CHECK_OK
                           : CHECK_MISSING,
                  "%s",
                  good || messages ? ""
                  : why            ? why
                                   : "a temporary file cannot be written");
        free(said);
    }
    free(driver);
    free(kernels);
    free(icd);
    free(log);
    free(cache);
    free(why);
}
