/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - the ISOMER_ variables. Each is read when it is needed, so that a program may set it
 * before it opens a device. An empty variable counts as unset, except ISOMER_BACKEND. */
#include "core/settings.h"
#include "core/fork.h"
#include "core/host.h"
#include "core/registry.h"
#include "core/stream.h"
#include "core/tuned.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct setting {
    const char *name;
    const char *otherwise; /* its default */
    const char *meaning;
    /* One of the following three says which values are valid. */
    const char *words; /* the value is one of these words ("strict, tf32") */
    int most;          /* the value is a whole number from 1 to this */
    const char *units; /* what that number counts ("of seconds "), for the message */
    /* Fills `problem` if the value cannot be used. */
    void (*check)(const char *value, char *problem, size_t room);
    bool fatal; /* an invalid value makes opening a device fail */
} setting;

/* A list of the values that were returned, without duplicates. They stay until the process ends. */
typedef struct kept {
    struct kept *next;
    char text[];
} kept;
static kept *kept_first;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

void core_settings_fork(int stage)
{
    core_fork_lock(&kept_lock, stage);
}

const char *core_keep(const char *text)
{
    const char *answer = NULL;
    kept *at;

    pthread_mutex_lock(&kept_lock);
    for (at = kept_first; at && !answer; at = at->next) {
        if (!strcmp(at->text, text)) {
            answer = at->text;
        }
    }
    if (!answer && (at = malloc(sizeof *at + strlen(text) + 1))) {
        strcpy(at->text, text);
        at->next = kept_first;
        kept_first = at;
        answer = at->text;
    }
    pthread_mutex_unlock(&kept_lock);
    return answer ? answer : text;
}

int64_t core_parse_limit(const char *text, int64_t total)
{
    static const char suffixes[] = "KMGT";
    const char *suffix;
    char *end;
    long long value;

    if (!isdigit((unsigned char)text[0])) {
        return -1;
    }
    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno || value < 1) {
        return -1;
    }
    if (!*end) {
        return value;
    }
    if (end[1]) {
        return -1;
    }
    if (*end == '%') {
        return value > 100 ? -1 : total / 100 * value + total % 100 * value / 100;
    }
    suffix = strchr(suffixes, toupper((unsigned char)*end));
    if (!suffix) {
        return -1;
    }
    for (long i = 0; i <= suffix - suffixes; i++) {
        if (__builtin_mul_overflow(value, 1024, &value)) {
            return -1;
        }
    }
    return value;
}

static void check_limit(const char *value, char *problem, size_t room)
{
    if (core_parse_limit(value, 0) < 0) {
        snprintf(problem, room,
                 "\"%s\" is not a limit: use bytes (\"1000000\"), a number with K, M, G or T "
                 "(\"8G\"), or a share of the device's memory from 1%% to 100%%",
                 value);
    }
}

/* Returns 0 if a missing file could be created, otherwise the error number. */
static int judge_new_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder;
    int error = 0;

    if (slash && !slash[1]) {
        return EISDIR;
    }
    folder = !slash          ? strdup(".")
             : slash == path ? strdup("/")
                             : strndup(path, (size_t)(slash - path));
    if (!folder) {
        return ENOMEM;
    }
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS)) {
        error = errno;
    }
    free(folder);
    return error;
}

/* Checks that the file could be written. Must neither create nor empty it. */
static void check_trace(const char *value, char *problem, size_t room)
{
    struct stat found;
    int error = 0;

    if (atomic_load(&core_trace_on)) {
        core_trace_open(value, problem, room); /* already open: this only compares the names */
        return;
    }
    if (!stat(value, &found)) {
        if (S_ISDIR(found.st_mode)) {
            error = EISDIR;
        } else if (!S_ISREG(found.st_mode) && !S_ISCHR(found.st_mode)) {
            snprintf(problem, room,
                     "\"%s\" is neither a file nor a character device: name a file to write to",
                     value);
        } else if (faccessat(AT_FDCWD, value, W_OK, AT_EACCESS)) {
            error = errno;
        }
    } else if (errno != ENOENT) {
        error = errno;
    } else if (lstat(value, &found)) { /* a link's target is checked when it is opened */
        error = judge_new_file(value);
    }
    if (error) {
        snprintf(problem, room, "\"%s\" cannot be written: %s", value, strerror(error));
    }
}

static void check_cache(const char *value, char *problem, size_t room)
{
    char *path = malloc(ISO_REASON_MAX);

    if (path) {
        core_cache_where(path, ISO_REASON_MAX, problem, room);
    } else {
        snprintf(problem, room, "\"%s\": no host memory to check it", value);
    }
    free(path);
}

/* If a variable names a folder by a relative path, the variable is ignored, and the message says
 * so. ISOMER_BLAS is not ignored: the user asked for this library, so the backend fails. */
static void check_blas(const char *value, char *problem, size_t room)
{
    if (strchr(value, '/') && value[0] != '/') {
        snprintf(problem, room,
                 "\"%s\" is not an absolute path: nothing is loaded from the working directory: "
                 "give the whole path or the name of a library",
                 value);
    }
}

static void check_tuned(const char *value, char *problem, size_t room)
{
    if (strcmp(value, "off") && value[0] != '/') {
        snprintf(problem, room, "\"%s\" is neither off nor an absolute path: no table is used",
                 value);
    }
}

static void check_engine(const char *value, char *problem, size_t room)
{
    if (!core_name_valid(value)) {
        snprintf(problem, room,
                 "\"%s\" is not the name of an engine: a name has lower-case letters, digits, '-' "
                 "and '_'",
                 value);
    }
}

/* `words` are separated by commas and blanks. */
static bool is_word(const char *text, const char *words)
{
    size_t length = strlen(text);

    for (const char *at = words; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strcspn(at, ",") == length && !strncmp(at, text, length)) {
            return true;
        }
    }
    return false;
}

static bool is_number(const char *text, int most)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    return isdigit((unsigned char)text[0]) && !errno && !*end && number >= 1 && number <= most;
}

static void judge(const setting *at, const char *value, char *problem, size_t room)
{
    if (at->check) {
        at->check(value, problem, room);
    } else if (at->words && !is_word(value, at->words)) {
        snprintf(problem, room, "\"%s\" is not one of: %s", value, at->words);
    } else if (at->most && !is_number(value, at->most)) {
        snprintf(problem, room, "\"%s\" is not a whole number %sfrom 1 to %d", value, at->units,
                 at->most);
    }
}

static const setting settings[] = {
    {"ISOMER_BACKEND", "auto",
     "the device that is opened if the program names none: a spec, a list of specs, or auto",
     .check = core_spec_problem},
    {"ISOMER_MEMORY_LIMIT", NULL,
     "the most device memory to use: bytes, a number with K, M, G or T, or a percentage",
     .check = check_limit, .fatal = true},
    {"ISOMER_MATH", "strict", "whether f32 products may use tf32: strict or tf32",
     .words = "strict, tf32", .fatal = true},
    {"ISOMER_KEEP", "terms",
     "what auto keeps: bits (the same on every device), terms (an error relative to the terms) or "
     "scale (relative to the largest elements: fixed is allowed)",
     .words = "bits, terms, scale", .fatal = true},
    {"ISOMER_BLAS", NULL, "the BLAS library of the CPU backend: a name that it knows, or a path",
     .check = check_blas},
    {"ISOMER_CC", NULL,
     "the C compiler with which the CPU backend compiles the program's own kernels: its path",
     .check = core_absolute_problem},
    {"ISOMER_NUM_THREADS", NULL,
     "threads of the CPU backend; by default, all processors that it may use", .most = 1024,
     .units = "", .fatal = true},
    {"ISOMER_CPU_ISA", NULL,
     "the instruction set of CPU kernels: generic, neon, sve256, sve512, avx2, avx512 or "
     "avx512vnni; by default, the best",
     .words = "generic, neon, sve256, sve512, avx2, avx512, avx512vnni", .fatal = true},
    {"ISOMER_TILES", "auto",
     "tiles of GPU kernels: auto, own (vendors' libraries only in vendor), plain (as own, and no "
     "matrix units) or small (for simulators; slow); all with the same bits",
     .words = "auto, own, plain, small", .fatal = true},
    {"ISOMER_REQUIRE", NULL,
     "backends that must be present: without them verification and tests fail",
     .check = core_require_problem},
    {"ISOMER_CACHE_DIR", NULL, "the folder for built kernels, or off", .check = check_cache},
    {"ISOMER_TUNED", NULL,
     "tables of measured choices, which isomer tune makes: a folder, a file, or off; by default, "
     "tuned in the folder for built kernels, then those of the package",
     .check = check_tuned},
    {"ISOMER_BACKEND_PATH", NULL, "folders to search for plug-ins, separated by ':'",
     .check = core_plugin_path_problem},
    {"ISOMER_LOG", NULL, "messages to standard error: error, warn, info or debug",
     .words = "error, warn, info, debug", .fatal = true},
    {"ISOMER_TRACE", NULL, "a file for a trace of every operation and transfer, in Chrome's format",
     .check = check_trace, .fatal = true},
    {"ISOMER_CUDA_PATH", NULL, "the first folder to search for the CUDA libraries",
     .check = core_absolute_problem},
    {"ISOMER_ROCM_PATH", NULL, "the first folder to search for the ROCm libraries",
     .check = core_absolute_problem},
    {"ISOMER_COMM", NULL,
     "the engine of communicators if the program names none: nccl, rccl, threads, openmpi or "
     "mpich; "
     "by default, the one that suits the devices",
     .check = check_engine, .fatal = true},
    {"ISOMER_COMM_TIMEOUT", "600", "how long a rank of a communicator waits for the others",
     .most = 86400, .units = "of seconds ", .fatal = true},
    {"ISOMER_OPENCL_FORCE", "0",
     "1: OpenCL devices are used without a trial of their driver, even if it failed one before",
     .words = "0, 1", .fatal = true},
    {"ISOMER_TRIAL_SECONDS", "120",
     "the time limit of a trial of a driver or a library, which runs in a separate process",
     .most = 3600, .units = "of seconds ", .fatal = true},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* Whether a setting's value names a file or folder. Such a setting is ignored if the program has
 * more rights than its caller. */
static bool names_path(const setting *at, const char *value)
{
    if (at->check == check_blas) {
        return strchr(value, '/') != NULL;
    }
    if (at->check == check_cache || at->check == check_tuned) {
        return strcmp(value, "off") != 0;
    }
    return at->check == core_absolute_problem || at->check == check_trace ||
           at->check == core_plugin_path_problem;
}

/* The value in effect: from the environment, or the default. */
static const char *value_of(const setting *at, bool *from_environment)
{
    const char *value = core_variable(at->name);

    if (value && value[0] && names_path(at, value)) {
        value = core_path_variable(at->name);
    }
    *from_environment = value && (value[0] || at == &settings[0]);
    return *from_environment ? value : at->otherwise;
}

const char *core_setting(const char *name)
{
    bool set;

    for (int i = 0; i < SETTINGS; i++) {
        if (!strcmp(settings[i].name, name)) {
            const char *value = value_of(&settings[i], &set);

            return value ? core_keep(value) : NULL;
        }
    }
    return NULL;
}

iso_status core_settings_check(const char *call)
{
    char *problem = malloc(ISO_REASON_MAX);
    iso_status status = ISO_OK;
    bool set;

    if (!problem) {
        return core_fail_no_memory(call, ISO_REASON_MAX);
    }
    for (int i = 0; i < SETTINGS && !status; i++) {
        const setting *at = &settings[i];
        const char *value = value_of(at, &set);

        if (!set || !at->fatal) {
            continue;
        }
        problem[0] = 0;
        if (at->check == check_trace) {
            core_trace_open(value, problem, ISO_REASON_MAX);
        } else {
            judge(at, value, problem, ISO_REASON_MAX);
        }
        if (problem[0]) {
            status = core_fail(ISO_INVALID, "%s: the environment variable %s: %s", call, at->name,
                               problem);
        }
    }
    free(problem);
    return status;
}

/* Whether the environment sets a value that is ignored. */
static bool is_ignored(const setting *at, bool set)
{
    const char *given = core_variable(at->name);

    return !set && given && given[0];
}

iso_status iso_get_setting(int32_t index, iso_setting *out)
{
    const char *call = "iso_get_setting";
    const setting *at;
    struct {
        iso_setting setting;
        char folder[ISO_REASON_MAX];
    } *answer;
    iso_status status;
    const char *value;
    bool set;

    status = core_struct_check(call, "out", out, CORE_END_OF(iso_setting, name));
    if (!status) {
        status = core_check_size(call, "index", index);
    }
    if (status) {
        return status;
    }
    if (index >= SETTINGS) {
        return ISO_NOT_READY;
    }
    at = &settings[index];
    value = value_of(at, &set);
    answer = calloc(1, sizeof *answer);
    if (!answer) {
        return core_fail_no_memory(call, (int64_t)sizeof *answer);
    }
    iso_setting *now = &answer->setting;
    snprintf(now->name, sizeof now->name, "%s", at->name);
    snprintf(now->value, sizeof now->value, "%s", value ? value : "");
    snprintf(now->source, sizeof now->source, "%s", set ? "environment" : "default");
    snprintf(now->meaning, sizeof now->meaning, "%s", at->meaning);
    if (is_ignored(at, set)) {
        snprintf(now->problem, sizeof now->problem, "%s", core_path_ignored);
    } else if (at->check == check_cache) {
        core_cache_where(answer->folder, sizeof answer->folder, now->problem, sizeof now->problem);
        if (!set) {
            snprintf(now->value, sizeof now->value, "%s", answer->folder);
        }
    } else if (at->check == check_tuned && !set) {
        core_tuned_where(now->value, sizeof now->value);
    } else if (at->check == core_plugin_path_problem) {
        at->check(value ? value : "", now->problem, sizeof now->problem);
    } else if (set) {
        judge(at, value, now->problem, sizeof now->problem);
    }
    core_struct_write(out, now, sizeof *now);
    free(answer);
    return ISO_OK;
}
