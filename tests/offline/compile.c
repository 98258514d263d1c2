/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile.c - compiles the list that list.c wrote, by the vendor's own compiler at run time and
 * with the backend's own options; no device is needed.
 *
 *   compile hiprtc|nvrtc LIBRARY ARCHITECTURE FOLDER OUTPUT PART PARTS
 *   compile hiprtc|nvrtc LIBRARY         prints its version and, if it says so, the chips it knows
 *
 * LIBRARY is a path, or "-" for the newest that the loader finds. It compiles every PARTS-th line
 * of FOLDER/list, and writes OUTPUT/LINE.bin and, for NVRTC, OUTPUT/LINE.log with the assembler's
 * remarks. Exit codes: 0 good, 1 something did not compile, 2 usage, 77 no compiler.
 */
#include "backends/cuda/options.h"
#include "backends/hip/numbers.h"
#include "backends/hip/options.h"
#include "backends/hip/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64, LINE_MAX_BYTES = 8192 };

/* The functions of both compilers have the same types; only the names differ. */
typedef struct compiler {
    const char *prefix;
    const char *const *names; /* of the library */
    const char *architecture_option;
    const char *const *options;
    hiprtc_code (*create)(hiprtc_program *, const char *, const char *, int, hiprtc_texts,
                          hiprtc_texts);
    hiprtc_code (*compile)(hiprtc_program, int, hiprtc_texts);
    hiprtc_code (*destroy)(hiprtc_program *);
    hiprtc_code (*log_size)(hiprtc_program, size_t *);
    hiprtc_code (*log)(hiprtc_program, char *);
    hiprtc_code (*code_size)(hiprtc_program, size_t *);
    hiprtc_code (*code)(hiprtc_program, char *);
    hiprtc_code (*version)(int *, int *);
    hiprtc_code (*chip_count)(int *); /* these two may be NULL */
    hiprtc_code (*chips)(int *);
} compiler;

static const char *const hip_names[] = {"libhiprtc.so.7",   "libhiprtc.so.6",   "libamdhip64.so.7",
                                        "libamdhip64.so.6", "libamdhip64.so.5", NULL};
static const char *const hip_options[] = {HIP_COMPILE_OPTIONS, NULL};
static const char *const nv_names[] = {"libnvrtc.so.13",
                                       "libnvrtc.so.12",
                                       "libnvrtc.so.11.2",
                                       "/usr/local/cuda/lib64/libnvrtc.so",
                                       "/usr/local/cuda-13.0/lib64/libnvrtc.so.13",
                                       NULL};
/* The remarks do not change the code. */
static const char *const nv_options[] = {CUDA_COMPILE_OPTIONS, "--ptxas-options=-v", NULL};

static compiler hiprtc = {.prefix = "hiprtc",
                          .names = hip_names,
                          .architecture_option = HIP_ARCHITECTURE_OPTION,
                          .options = hip_options};
static compiler nvrtc = {.prefix = "nvrtc",
                         .names = nv_names,
                         .architecture_option = CUDA_ARCHITECTURE_OPTION,
                         .options = nv_options};

static int open_compiler(compiler *at, const char *path)
{
    const struct {
        const char *name;
        void *function;
    } needed[] = {{"CreateProgram", &at->create},
                  {"CompileProgram", &at->compile},
                  {"DestroyProgram", &at->destroy},
                  {"GetProgramLogSize", &at->log_size},
                  {"GetProgramLog", &at->log},
                  {at == &nvrtc ? "GetCUBINSize" : "GetCodeSize", &at->code_size},
                  {at == &nvrtc ? "GetCUBIN" : "GetCode", &at->code},
                  {"Version", &at->version},
                  {"GetNumSupportedArchs", &at->chip_count},
                  {"GetSupportedArchs", &at->chips}};
    const size_t always = sizeof needed / sizeof needed[0] - 2;
    void *library = NULL;
    if (strcmp(path, "-") != 0) {
        library = dlopen(path, RTLD_NOW);
    }
    for (size_t i = 0; !library && strcmp(path, "-") == 0 && at->names[i]; i++) {
        library = dlopen(at->names[i], RTLD_NOW);
    }
    if (!library) {
        (void)printf("no %s: %s\n", at->prefix, dlerror());
        return 0;
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s", at->prefix, needed[i].name);
        void *address = dlsym(library, name);
        if (!address && i < always) {
            (void)printf("no function %s\n", name);
            return 0;
        }
        memcpy(needed[i].function, &address, sizeof address);
    }
    return 1;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long bytes = ftell(file);
        rewind(file);
        text = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
        if (text) {
            text[fread(text, 1, (size_t)bytes, file)] = '\0';
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return text;
}

static int write_code(const compiler *at, hiprtc_program program, const char *path)
{
    size_t bytes = 0;
    char *code = NULL;
    int good = at->code_size(program, &bytes) == 0 && bytes > 0 && (code = malloc(bytes)) &&
               at->code(program, code) == 0;
    FILE *file = good ? fopen(path, "wb") : NULL;
    good = file && fwrite(code, 1, bytes, file) == bytes;
    if (file) {
        good = fclose(file) == 0 && good;
    }
    free(code);
    return good;
}

static void print_log(const compiler *at, hiprtc_program program, FILE *to)
{
    size_t bytes = 0;
    if (at->log_size(program, &bytes) == 0 && bytes > 1) {
        char *log = calloc(1, bytes + 1);
        if (log && at->log(program, log) == 0) {
            (void)fprintf(to, "%s\n", log);
        }
        free(log);
    }
}

/* Keeps the assembler's remarks beside the code. */
static int write_log(const compiler *at, hiprtc_program program, const char *path)
{
    char name[4096 + 8];
    (void)snprintf(name, sizeof name, "%.*s.log", (int)(strlen(path) - strlen(".bin")), path);
    FILE *file = fopen(name, "w");
    if (!file) {
        return 0;
    }
    print_log(at, program, file);
    return fclose(file) == 0;
}

static int compile_one(const compiler *at, const char *architecture, const char *text,
                       const char *name, char *own, const char *path)
{
    char target[HIP_ARCHITECTURE_OPTION_MAX];
    const char *options[OPTIONS_MAX] = {target};
    int count = 1;
    (void)snprintf(target, sizeof target, "%s%s", at->architecture_option, architecture);
    for (size_t i = 0; at->options[i]; i++) {
        options[count++] = at->options[i];
    }
    char *rest = NULL;
    for (char *one = strtok_r(own, " ", &rest); one && count < OPTIONS_MAX;
         one = strtok_r(NULL, " ", &rest)) {
        options[count++] = one;
    }
    hiprtc_program program = NULL;
    if (at->create(&program, text, name, 0, NULL, NULL) != 0) {
        return 0;
    }
    const hiprtc_code code = at->compile(program, count, options);
    if (code != 0) {
        (void)printf("%s for %s: status %u\n", name, architecture, code);
        print_log(at, program, stdout);
    }
    const int good = code == 0 && write_code(at, program, path) &&
                     (at != &nvrtc || write_log(at, program, path));
    (void)at->destroy(&program);
    return good;
}

/* One line of the list: name, options, kernels. */
static int compile_line(const compiler *at, const char *architecture, const char *folder,
                        const char *output, long number, char *line)
{
    char path[4096];
    char *rest = NULL;
    const char *name = strtok_r(line, "\t", &rest);
    char *own = strtok_r(NULL, "\t", &rest);
    if (!name || !own) {
        return 0;
    }
    (void)snprintf(path, sizeof path, "%s/%s.text", folder, name);
    char *text = read_file(path);
    char shown[LINE_MAX_BYTES];
    (void)snprintf(shown, sizeof shown, "%s", own);
    (void)snprintf(path, sizeof path, "%s/%ld.bin", output, number);
    const int good = text && compile_one(at, architecture, text, name, own, path);
    if (!good) {
        (void)printf("FAIL: %s (%s) does not compile for %s\n", name, shown, architecture);
    }
    free(text);
    return good;
}

/* "13.0 sm_75 sm_80": the version, and the chips if the compiler says which it knows. */
static int describe(const compiler *at)
{
    enum { CHIPS_MAX = 256 };
    int chips[CHIPS_MAX];
    int major = 0;
    int minor = 0;
    int count = 0;
    if (at->version(&major, &minor) != 0) {
        return 1;
    }
    (void)printf("%d.%d", major, minor);
    if (at->chip_count && at->chips && at->chip_count(&count) == 0 && count <= CHIPS_MAX &&
        at->chips(chips) == 0) {
        for (int i = 0; i < count; i++) {
            (void)printf(" sm_%d", chips[i]);
        }
    }
    (void)printf("\n");
    return 0;
}

int main(int count, char **arguments)
{
    if (count != 8 && count != 3) {
        (void)fprintf(stderr, "usage: compile hiprtc|nvrtc LIBRARY [ARCHITECTURE FOLDER OUTPUT "
                              "PART PARTS]\n");
        return 2;
    }
    compiler *at = strcmp(arguments[1], "nvrtc") == 0 ? &nvrtc : &hiprtc;
    if (!open_compiler(at, arguments[2])) {
        return 77;
    }
    if (count == 3) {
        return describe(at);
    }
    char path[4096];
    char line[LINE_MAX_BYTES];
    const long part = strtol(arguments[6], NULL, 10);
    const long parts = strtol(arguments[7], NULL, 10);
    (void)snprintf(path, sizeof path, "%s/list", arguments[4]);
    FILE *list = fopen(path, "r");
    if (!list || parts < 1) {
        perror(path);
        return 2;
    }
    int good = 1;
    for (long number = 0; fgets(line, sizeof line, list); number++) {
        line[strcspn(line, "\n")] = '\0';
        if (number % parts == part) {
            good &= compile_line(at, arguments[3], arguments[4], arguments[5], number, line);
        }
    }
    (void)fclose(list);
    return good ? 0 : 1;
}
