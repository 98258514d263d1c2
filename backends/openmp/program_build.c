/* SPDX-License-Identifier: Apache-2.0 */
/* program_build.c - compiles the program's own kernels to a shared object, with the C compiler that
 * ISOMER_CC names. */
#include "backends/openmp/program.h"
#include "backends/trial/process.h"
#include "common/descriptor.h"
#include "common/kernel_flags.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BUILD_SECONDS = 60,
    BUILD_SAID_MAX = 32768,
    BUILD_FLAGS_MAX = 512,
    BUILD_FLAGS = 16, /* words */
    BUILD_PROBLEM_MAX = 512,
    IDENTITY_MAX = 4096
};

/* Besides kernel_options. -Bsymbolic: a function of the text is never replaced by one of the
 * program with the same name. -z defs: a missing function is the linker's error, with its name. */
static const char *const options[] = {
    "-w", "-fvisibility=default", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", NULL,
};
static const char *const *const option_lists[] = {kernel_options, options, kernel_gcc_options};
enum { LISTS = sizeof option_lists / sizeof option_lists[0] };

static int lists_of(const cpu_build *build)
{
    return strstr(build->identity, "clang") ? LISTS - 1 : LISTS;
}

/* ---- the compiler ---------------------------------------------------------------------------- */

/* The compilers that were asked for their version. They stay until the process ends: there is
 * rarely more than one. A list without a lock needs no care after a fork. */
typedef struct identity {
    struct identity *next;
    const char *path;
    char text[IDENTITY_MAX];
} identity;
static _Atomic(identity *) identities;

static const identity *recall(const char *path)
{
    const identity *at = atomic_load_explicit(&identities, memory_order_acquire);
    while (at && strcmp(at->path, path) != 0) {
        at = at->next;
    }
    return at;
}

static void remember(identity *made)
{
    made->next = atomic_load_explicit(&identities, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&identities, &made->next, made,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

static bool succeeded(const process_end *end)
{
    return end->in_time && (!end->known || (WIFEXITED(end->status) && !WEXITSTATUS(end->status)));
}

/* Words are not changed by those who get them, but exec's type has no const. */
static void add_word(char **words, int *count, const char *word)
{
    memcpy(&words[(*count)++], &word, sizeof word);
}

static iso_status ask_identity(const char *path, const char *name, const char **text)
{
    const identity *known = recall(path);
    if (known) {
        *text = known->text;
        return ISO_OK;
    }
    identity *made = cpu_host->alloc((int64_t)sizeof *made);
    process_end end;
    char *words[3];
    int count = 0;
    if (!made) {
        return ISO_NO_MEMORY;
    }
    made->path = path;
    add_word(words, &count, path);
    add_word(words, &count, "--version");
    words[count] = NULL;
    const int failed = process_run(words, BUILD_SECONDS, made->text, sizeof made->text, &end);
    if (failed || !succeeded(&end)) {
        (void)cpu_host->fail(ISO_UNSUPPORTED,
                             "%s: ISOMER_CC is \"%s\", which cannot be used: %s: %.256s", name,
                             path, failed ? "it does not start" : "--version fails",
                             failed ? strerror(failed) : made->text);
        cpu_host->free(made);
        return ISO_UNSUPPORTED;
    }
    remember(made);
    *text = made->text;
    return ISO_OK;
}

iso_status cpu_build_begin(const cpu_kernels *set, const iso_program_source *source, cpu_build *out)
{
    char problem[BUILD_PROBLEM_MAX];
    const char *path = cpu_host->path("ISOMER_CC", problem, sizeof problem);
    if (!path && problem[0]) {
        return cpu_host->fail(ISO_UNSUPPORTED, "%s: ISOMER_CC: %s", source->name, problem);
    }
    if (!path) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "%s: a text given at run time needs a C compiler on the CPU: "
                              "set ISOMER_CC to its absolute path",
                              source->name);
    }
    if (!cpu_host->trusted(path, problem, sizeof problem)) {
        return cpu_host->fail(ISO_UNSUPPORTED, "%s: ISOMER_CC: %s", source->name, problem);
    }
    *out = (cpu_build){.source = source, .compiler = path};
    out->flags = kernel_set_flags(set->name);
    return ask_identity(path, source->name, &out->identity);
}

/* The words of all options, and their characters with a blank behind each. */
static int count_options(size_t *characters)
{
    int words = 0;
    *characters = 0;
    for (int i = 0; i < LISTS; i++) {
        for (const char *const *option = option_lists[i]; *option; option++) {
            words++;
            *characters += strlen(*option) + 1;
        }
    }
    return words;
}

/* ---- the key --------------------------------------------------------------------------------- */

char *cpu_build_key(const cpu_build *build)
{
    const iso_program_source *source = build->source;
    size_t room;
    (void)count_options(&room);
    room += strlen(build->compiler) + strlen(build->identity) + strlen(build->flags) +
            strlen(source->text) + 256;
    char *key = cpu_host->alloc((int64_t)room);
    if (!key) {
        return NULL;
    }
    size_t used =
        (size_t)snprintf(key, room, "isomer " ISO_VERSION_STRING " openmp program\n%s\n%s\n",
                         build->compiler, build->identity);
    for (int i = 0; i < lists_of(build); i++) {
        for (const char *const *option = option_lists[i]; *option; option++) {
            used += (size_t)snprintf(key + used, room - used, "%s ", *option);
        }
    }
    (void)snprintf(key + used, room - used, "%.*s\n%s", (int)strcspn(build->flags, ","),
                   build->flags, source->text);
    return key;
}

/* ---- files ----------------------------------------------------------------------------------- */

iso_status cpu_folder_make(char *folder, size_t capacity)
{
    char problem[BUILD_PROBLEM_MAX];
    const char *above = cpu_host->path("TMPDIR", problem, sizeof problem);
    const int length = snprintf(folder, capacity, "%s/isomer-XXXXXX", above ? above : "/tmp");
    if (length < 0 || (size_t)length >= capacity || !mkdtemp(folder)) {
        return cpu_host->fail(ISO_BACKEND,
                              "no folder can be made in %s: %s: set TMPDIR to one where "
                              "files can be written",
                              above ? above : "/tmp",
                              strerror((size_t)length >= capacity ? ENAMETOOLONG : errno));
    }
    if (!cpu_host->trusted(folder, problem, sizeof problem)) {
        (void)rmdir(folder);
        return cpu_host->fail(ISO_BACKEND, "a folder for temporary files: %s", problem);
    }
    return ISO_OK;
}

void cpu_folder_delete(const char *folder)
{
    DIR *list = descriptor_folder(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        (void)unlinkat(dirfd(list), entry->d_name, 0); /* "." and ".." are refused */
    }
    if (list) {
        (void)closedir(list);
    }
    (void)rmdir(folder);
}

int cpu_file_write(const char *path, const void *data, size_t bytes)
{
    const int file = descriptor_open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
    if (file < 0) {
        return errno;
    }
    const int error = descriptor_write(file, data, bytes) ? 0 : errno;
    return close(file) != 0 && !error ? errno : error;
}

static iso_status read_file(const char *path, void **data, int64_t *bytes)
{
    struct stat about = {0};
    FILE *file = descriptor_read(path);
    iso_status status = ISO_OK;
    char *made = NULL;
    if (!file || fstat(fileno(file), &about) != 0 || about.st_size <= 0) {
        status = cpu_host->fail(ISO_COMPILE, "the compiler wrote no output");
    }
    if (status == ISO_OK) {
        made = cpu_host->alloc((int64_t)about.st_size);
        status = made ? ISO_OK : ISO_NO_MEMORY;
    }
    if (status == ISO_OK && fread(made, 1, (size_t)about.st_size, file) != (size_t)about.st_size) {
        status = cpu_host->fail(ISO_BACKEND, "the compiler's output cannot be read");
    }
    if (file) {
        (void)fclose(file);
    }
    if (status != ISO_OK) {
        cpu_host->free(made);
        return status;
    }
    *data = made;
    *bytes = (int64_t)about.st_size;
    return ISO_OK;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* Too large for a small stack. */
typedef struct job {
    char folder[CPU_FOLDER_MAX], in[CPU_FOLDER_MAX + 16], out[CPU_FOLDER_MAX + 16];
    char flags[BUILD_FLAGS_MAX];
    char said[BUILD_SAID_MAX];
    char *words[];
} job;

static void add_words(const cpu_build *build, job *work)
{
    char *rest = NULL;
    int count = 0;
    add_word(work->words, &count, build->compiler);
    for (int i = 0; i < lists_of(build); i++) {
        for (const char *const *option = option_lists[i]; *option; option++) {
            add_word(work->words, &count, *option);
        }
    }
    (void)snprintf(work->flags, sizeof work->flags, "%.*s", (int)strcspn(build->flags, ","),
                   build->flags);
    char *flag = strtok_r(work->flags, " ", &rest);
    for (int i = 0; flag && i < BUILD_FLAGS; i++) {
        work->words[count++] = flag;
        flag = strtok_r(NULL, " ", &rest);
    }
    add_word(work->words, &count, "-o");
    add_word(work->words, &count, work->out);
    add_word(work->words, &count, work->in);
    add_word(work->words, &count, "-lm"); /* fma, where the instruction set has none */
    work->words[count] = NULL;
}

static iso_status run_compiler(const cpu_build *build, job *work)
{
    const char *name = build->source->name;
    process_end end;
    const int failed = process_run(work->words, BUILD_SECONDS, work->said, sizeof work->said, &end);
    if (failed) {
        return cpu_host->fail(ISO_UNSUPPORTED, "%s: ISOMER_CC: %s does not start: %s", name,
                              build->compiler, strerror(failed));
    }
    if (!end.in_time) {
        return cpu_host->fail(ISO_COMPILE, "%s: %s did not end within %d s", name, build->compiler,
                              (int)BUILD_SECONDS);
    }
    if (!succeeded(&end) || access(work->out, R_OK) != 0) {
        return cpu_host->fail(ISO_COMPILE, "%s: %s: %.3500s", name, build->compiler,
                              work->said[0] ? work->said : "it fails without a message");
    }
    return ISO_OK;
}

iso_status cpu_build_compile(const cpu_build *build, void **binary, int64_t *bytes)
{
    const iso_program_source *source = build->source;
    size_t characters;
    const size_t words = (size_t)count_options(&characters) + BUILD_FLAGS + 8;
    job *work = cpu_host->alloc((int64_t)(sizeof *work + words * sizeof work->words[0]));
    if (!work) {
        return ISO_NO_MEMORY;
    }
    iso_status status = cpu_folder_make(work->folder, sizeof work->folder);
    if (status != ISO_OK) {
        cpu_host->free(work);
        return status;
    }
    (void)snprintf(work->in, sizeof work->in, "%s/in.c", work->folder);
    (void)snprintf(work->out, sizeof work->out, "%s/out.so", work->folder);
    const int error = cpu_file_write(work->in, source->text, strlen(source->text));
    if (error) {
        status = cpu_host->fail(ISO_BACKEND, "%s cannot be written: %s", work->in, strerror(error));
    }
    if (status == ISO_OK) {
        add_words(build, work);
        status = run_compiler(build, work);
    }
    if (status == ISO_OK) {
        status = read_file(work->out, binary, bytes);
    }
    cpu_folder_delete(work->folder);
    cpu_host->free(work);
    return status;
}
