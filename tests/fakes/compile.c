/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile.c - the compiler of kernels: the host's C++ compiler makes a shared object of prelude.h,
 * the program's source and a table of its kernels. A "binary" here is a header and that shared
 * object. Objects are kept in the folder FAKE_CACHE (default: one of the build; empty: none) under
 * the digest of all that they are made from, because many tests compile the same kernels.
 */
#include "tests/fakes/program.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <ctype.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARGUMENTS_MAX = 96, KERNELS_MAX = 256, KEPT_MAX = 600 };

/* ---- files and processes --------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *bytes)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    if (file >= 0 && fstat(file, &about) == 0 && (text = malloc((size_t)about.st_size + 1))) {
        size_t done = 0;
        ssize_t got = 1;
        while (done < (size_t)about.st_size && got > 0) {
            got = read(file, text + done, (size_t)about.st_size - done);
            done += got > 0 ? (size_t)got : 0;
        }
        text[done] = '\0';
        *bytes = done;
    }
    if (file >= 0) {
        (void)close(file);
    }
    return text;
}

static bool write_file(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "we");
    const bool written = file && fwrite(text, 1, bytes, file) == bytes;
    return (!file || fclose(file) == 0) && written;
}

static bool run(char *const *arguments, const char *log)
{
    pid_t child = 0;
    int state = -1;
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)posix_spawn_file_actions_adddup2(&actions, 2, 1);
    const int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error) {
        const char *what = strerror(error);
        (void)write_file(log, what, strlen(what));
        return false;
    }
    while (waitpid(child, &state, 0) < 0) {
    }
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/* ---- finding the kernels --------------------------------------------------------------------- */

typedef struct found_kernel {
    char name[128];
    char bounds[256];
} found_kernel;

static const char *after_balanced(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) {
            return at + 1;
        }
    }
    return at;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* After "fake_kernel" come attributes and types, then the name, which is the word before the
 * parameters. */
static bool read_kernel(const char *at, found_kernel *out)
{
    const char *word = NULL;
    size_t length = 0;
    out->bounds[0] = '\0';
    while (*at && *at != ';' && *at != '{') {
        if (word_char(*at)) {
            word = at;
            while (word_char(*at)) {
                at++;
            }
            length = (size_t)(at - word);
        } else if (*at == '(' && word) {
            if (strncmp(word, "__attribute__", length) != 0) {
                (void)snprintf(out->name, sizeof out->name, "%.*s", (int)length, word);
                return true;
            }
            const char *end = after_balanced(at);
            const char *bounds = strstr(at, "fake_bounds(");
            if (bounds && bounds < end) {
                bounds += strlen("fake_bounds");
                const char *last = after_balanced(bounds);
                (void)snprintf(out->bounds, sizeof out->bounds, "%.*s", (int)(last - bounds),
                               bounds);
            }
            at = end;
            word = NULL;
        } else {
            at++;
        }
    }
    return false;
}

static int find_kernels(const char *text, found_kernel *kernels)
{
    int count = 0;
    const char *mark = "fake_kernel))";
    for (const char *at = strstr(text, mark); at && count < KERNELS_MAX; at = strstr(at, mark)) {
        at += strlen(mark);
        found_kernel *kernel = &kernels[count];
        bool known = !read_kernel(at, kernel);
        for (int i = 0; i < count && !known; i++) {
            known = strcmp(kernels[i].name, kernel->name) == 0;
        }
        count += !known;
    }
    return count;
}

/* ---- compiling ------------------------------------------------------------------------------- */

typedef struct paths {
    char folder[512], source[544], plain[544], object[544], log[544];
} paths;

static bool make_paths(paths *at)
{
    const char *parent = getenv("TMPDIR");
    (void)snprintf(at->folder, sizeof at->folder, "%s/isomer-fake.XXXXXX",
                   parent && parent[0] ? parent : "/tmp");
    if (!mkdtemp(at->folder)) {
        return false;
    }
    (void)snprintf(at->source, sizeof at->source, "%s/a.cc", at->folder);
    (void)snprintf(at->plain, sizeof at->plain, "%s/a.ii", at->folder);
    (void)snprintf(at->object, sizeof at->object, "%s/a.so", at->folder);
    (void)snprintf(at->log, sizeof at->log, "%s/log", at->folder);
    return true;
}

static void drop_paths(const paths *at)
{
    (void)unlink(at->source);
    (void)unlink(at->plain);
    (void)unlink(at->object);
    (void)unlink(at->log);
    (void)rmdir(at->folder);
}

static const char *compiler(void)
{
    const char *own = getenv("FAKE_CXX");
    return own && own[0] ? own : "c++";
}

static bool sanitized(void)
{
    return fake_setting("FAKE_ASAN", 0) != 0;
}

static bool preprocess(const fake_compile *what, const paths *at)
{
    char wave[32];
    char unit[32];
    const char *arguments[ARGUMENTS_MAX] = {compiler(), "-std=gnu++17", "-w",         "-E", "-x",
                                            "c++",      "-include",     FAKE_PRELUDE, wave};
    int count = 9;
    (void)snprintf(wave, sizeof wave, "-DFAKE_WAVE=%d", fake_wave(64));
    if (sanitized()) {
        arguments[count++] = "-DFAKE_SANITIZED";
    }
    (void)snprintf(unit, sizeof unit, "-DFAKE_UNIT=%d", (int)fake_setting("FAKE_UNIT", 0));
    arguments[count++] = unit;
    for (int i = 0; i < what->option_count && count < ARGUMENTS_MAX - 4; i++) {
        arguments[count++] = what->options[i];
    }
    arguments[count++] = at->source;
    arguments[count++] = "-o";
    arguments[count++] = at->plain;
    return run((char *const *)(uintptr_t)arguments, at->log);
}

static bool append_table(const paths *at)
{
    size_t bytes = 0;
    char *text = read_file(at->plain, &bytes);
    found_kernel *kernels = malloc(KERNELS_MAX * sizeof *kernels);
    FILE *file = text && kernels ? fopen(at->plain, "ae") : NULL;
    bool done = false;
    if (file) {
        const int count = find_kernels(text, kernels);
        for (int i = 0; i < count; i++) {
            fprintf(file, "\nstatic void fake_call_%s(void **a) { fake_invoke(&%s, a); }",
                    kernels[i].name, kernels[i].name);
        }
        fprintf(file, "\nextern \"C\" __attribute__((visibility(\"default\"))) const fake_entry "
                      "fake_entries[] = {\n");
        for (int i = 0; i < count; i++) {
            const char *name = kernels[i].name;
            fprintf(file,
                    "{\"%s\", fake_call_%s, %s%s, fake_sizes<decltype(%s)>::count, "
                    "fake_sizes<decltype(%s)>::bytes},\n",
                    name, name, kernels[i].bounds[0] ? "fake_first" : "0", kernels[i].bounds, name,
                    name);
        }
        fprintf(file, "{0, 0, 0, 0, 0}};\n");
        done = fclose(file) == 0;
    }
    free(kernels);
    free(text);
    return done;
}

/* What -march=native depends on. */
static void add_processor(XXH3_state_t *state)
{
#if defined(__x86_64__)
    unsigned words[8] = {0};
    unsigned unused = 0;
    (void)__get_cpuid(1, &words[0], &unused, &words[1], &words[2]);
    (void)__get_cpuid_count(7, 0, &words[3], &words[4], &words[5], &words[6]);
    (void)XXH3_128bits_update(state, words, sizeof words);
#else
    (void)state;
#endif
}

/* The text without its folder's name, which is another one each time. */
static void add_text(XXH3_state_t *state, const char *text, const char *folder)
{
    const size_t length = strlen(folder);
    const char *found = NULL;
    for (; (found = strstr(text, folder)); text = found + length) {
        (void)XXH3_128bits_update(state, text, (size_t)(found - text));
    }
    (void)XXH3_128bits_update(state, text, strlen(text));
}

/* The file for the object that these arguments make of the text at->plain; "" if none is kept. */
static void kept_path(const paths *at, const char *const *arguments, int count, char *kept)
{
    const char *folder = getenv("FAKE_CACHE");
    size_t bytes = 0;
    char *text = read_file(at->plain, &bytes);
    XXH3_state_t *state = XXH3_createState();
    kept[0] = '\0';
    folder = folder ? folder : FAKE_CACHE_FOLDER;
    if (text && state && folder[0] && XXH3_128bits_reset(state) == XXH_OK) {
        (void)XXH3_128bits_update(state, __VERSION__, sizeof __VERSION__);
        add_processor(state);
        for (int i = 0; i < count; i++) {
            (void)XXH3_128bits_update(state, arguments[i], strlen(arguments[i]) + 1);
        }
        add_text(state, text, at->folder);
        const XXH128_hash_t digest = XXH3_128bits_digest(state);
        (void)snprintf(kept, KEPT_MAX, "%s/%016llx%016llx", folder,
                       (unsigned long long)digest.high64, (unsigned long long)digest.low64);
    }
    (void)XXH3_freeState(state);
    free(text);
}

static bool copy_file(const char *from, const char *to)
{
    size_t bytes = 0;
    char *text = read_file(from, &bytes);
    const bool done = text && write_file(to, text, bytes);
    free(text);
    return done;
}

static bool fetch(const char *kept, const char *object)
{
    return kept[0] && copy_file(kept, object);
}

/* Other processes may read and write the same file. Where it cannot be written, nothing is kept. */
static void keep(const char *object, const char *kept)
{
    char part[KEPT_MAX + 16];
    const char *end = strrchr(kept, '/');
    if (!end) {
        return;
    }
    (void)snprintf(part, sizeof part, "%.*s", (int)(end - kept), kept);
    (void)mkdir(part, 0700);
    (void)snprintf(part, sizeof part, "%s.XXXXXX", kept);
    const int file = mkstemp(part);
    if (file < 0) {
        return;
    }
    (void)close(file);
    if (!copy_file(object, part) || rename(part, kept) != 0) {
        (void)unlink(part);
    }
}

static bool compile(const fake_compile *what, const paths *at)
{
    const char *arguments[ARGUMENTS_MAX] = {compiler(),
                                            "-std=gnu++17",
                                            "-w",
                                            "-O1",
                                            "-fPIC",
                                            "-shared",
                                            "-fvisibility=hidden",
                                            "-fno-exceptions",
                                            "-fno-rtti",
                                            "-fno-strict-aliasing",
                                            "-fno-math-errno",
                                            "-fno-asynchronous-unwind-tables",
                                            "-fno-threadsafe-statics",
                                            "-fno-stack-protector",
                                            "-fwrapv",
                                            "-x",
                                            "c++-cpp-output"};
    int count = 17;
    char kept[KEPT_MAX];
    arguments[count++] = what->contract ? "-ffp-contract=fast" : "-ffp-contract=off";
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        arguments[count++] = "-march=native";
        arguments[count++] = "-mfma";
        arguments[count++] = "-mprefer-vector-width=256";
    }
#endif
    if (sanitized()) {
        arguments[count++] = "-fsanitize=address";
        arguments[count++] = "-g1";
    } else {
        arguments[count++] = "-nostdlib";
    }
    kept_path(at, arguments, count, kept);
    if (fetch(kept, at->object)) {
        return true;
    }
    arguments[count++] = at->plain;
    arguments[count++] = "-o";
    arguments[count++] = at->object;
    const bool done = run((char *const *)(uintptr_t)arguments, at->log);
    if (done) {
        keep(at->object, kept);
    }
    return done;
}

static bool pack(const fake_compile *what, const paths *at, void **binary, size_t *bytes)
{
    size_t size = 0;
    char *object = read_file(at->object, &size);
    char *image = object ? malloc(sizeof(fake_image) + size) : NULL;
    if (image) {
        fake_image header = {.bytes = size, .check = fake_checksum(object, size)};
        memcpy(header.magic, FAKE_MAGIC, sizeof header.magic);
        (void)snprintf(header.target, sizeof header.target, "%s", what->target);
        memcpy(image, &header, sizeof header);
        memcpy(image + sizeof header, object, size);
        *binary = image;
        *bytes = sizeof header + size;
    }
    free(object);
    return image != NULL;
}

bool fake_compile_program(const fake_compile *what, void **binary, size_t *bytes, char **log)
{
    const char *order = getenv("FAKE_COMPILE");
    paths at;
    size_t size = 0;
    bool done = false;
    *binary = NULL;
    *log = NULL;
    if (order && (strcmp(order, "fail") == 0 || (order[0] && strstr(what->name, order)))) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "%s(1): error: this compiler is a test's and was told to refuse "
                       "(FAKE_COMPILE=%s)",
                       what->name, order);
        *log = strdup(text);
        return false;
    }
    if (make_paths(&at)) {
        done = write_file(at.source, what->text, strlen(what->text)) && preprocess(what, &at) &&
               append_table(&at) && compile(what, &at) && pack(what, &at, binary, bytes);
        *log = read_file(at.log, &size);
        drop_paths(&at);
    }
    if (!*log) {
        *log = strdup("");
    }
    return done;
}
