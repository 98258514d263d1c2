/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing.c - a library of a vendor lacks a function: each function of symbols.h in turn, and all
 * optional ones at once. This program has a dlsym of its own that hides functions from libisomer.
 * Each time, a child process uses everything that the vendor's libraries are for.
 *
 *   FAKES=FOLDER missing BACKEND [LIBRARY]   libisomer can open only files in FOLDER
 *
 *   without a required function   what the library is for fails, and the text names the function
 *   without an optional function  everything works, or is UNSUPPORTED with the function's name
 *
 * In both cases all else works, with right results, and no process crashes or hangs.
 */
#include "tests/fakes/missing.h"
#include "backends/cuda/symbols.h"
#include "backends/hip/symbols.h"
#include "backends/opencl/symbols.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MAX = 120, TEXT_MAX = 4096 };

/* ---- hiding ---------------------------------------------------------------------------------- */

typedef struct entry {
    const char *name;
    bool required;
} entry;

typedef struct table {
    const char *backend, *library;
    part part;
    const entry *entries;
    size_t count;
} table;

#define REQUIRED_ENTRY(result, name, parameters) {#name, true},
#define OPTIONAL_ENTRY(result, name, parameters) {#name, false},
#define TABLE(backend, library, part, list)                                                        \
    {(backend), (library), (part), (const entry[]){list(REQUIRED_ENTRY, OPTIONAL_ENTRY)},          \
     sizeof((const entry[]){list(REQUIRED_ENTRY, OPTIONAL_ENTRY)}) / sizeof(entry)}

static const table tables[] = {
    TABLE("cuda", "driver", DRIVER, CUDA_DRIVER_SYMBOLS),
    TABLE("cuda", "NVRTC", COMPILER, CUDA_NVRTC_SYMBOLS),
    TABLE("cuda", "cuBLAS", PRODUCTS, CUDA_CUBLAS_SYMBOLS),
    TABLE("cuda", "cuBLASLt", MORE_PRODUCTS, CUDA_CUBLASLT_SYMBOLS),
    TABLE("cuda", "cuSPARSE", SPARSE_PRODUCTS, CUDA_CUSPARSE_SYMBOLS),
    TABLE("cuda", "NVML", SENSORS, CUDA_NVML_SYMBOLS),
    TABLE("hip", "HIP", DRIVER, HIP_RUNTIME_SYMBOLS),
    TABLE("hip", "hipRTC", COMPILER, HIP_RTC_SYMBOLS),
    TABLE("hip", "rocBLAS", PRODUCTS, HIP_ROCBLAS_SYMBOLS),
    TABLE("hip", "hipBLASLt", MORE_PRODUCTS, HIP_LT_SYMBOLS),
    TABLE("hip", "rocSPARSE", SPARSE_PRODUCTS, HIP_ROCSPARSE_SYMBOLS),
    TABLE("hip", "ROCm SMI", SENSORS, HIP_RSMI_SYMBOLS),
    TABLE("opencl", "loader", DRIVER, OPENCL_SYMBOLS),
    TABLE("opencl", "CLBlast", PRODUCTS, CLBLAST_SYMBOLS),
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const char *missing_backend;
static const entry *hidden;  /* one function, or NULL */
static bool optional_hidden; /* all optional ones of the backend */

/* One of these two must be there: which of them depends on the version. */
static bool one_of_two(const char *name)
{
    return strncmp(name, "hipGetDeviceProperties", strlen("hipGetDeviceProperties")) == 0;
}

static bool is_hidden(const char *name)
{
    for (size_t i = 0; optional_hidden && i < TABLES; i++) {
        for (size_t j = 0; strcmp(tables[i].backend, missing_backend) == 0 && j < tables[i].count;
             j++) {
            const entry *at = &tables[i].entries[j];
            if (!at->required && !one_of_two(name) && strcmp(at->name, name) == 0) {
                return true;
            }
        }
    }
    return hidden && strcmp(hidden->name, name) == 0;
}

/* The C library's own function. */
static void *next_of(const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    void *found = NULL;
    for (size_t i = 0; !found && i < sizeof versions / sizeof versions[0]; i++) {
        found = dlvsym(RTLD_NEXT, name, versions[i]);
    }
    CHECK(found != NULL);
    return found;
}

static bool is_libisomer(const void *caller)
{
    Dl_info about;
    return dladdr(caller, &about) && strstr(about.dli_fname, "libisomer");
}

/* libisomer finds these two before the C library's. The first hides the machine's own libraries. */
__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
    static void *(*real)(const char *, int);
    const char *fakes = getenv("FAKES");
    if (!real) {
        *(void **)(void *)&real = next_of("dlopen");
    }
    if (file && fakes && strncmp(file, fakes, strlen(fakes)) != 0 &&
        is_libisomer(__builtin_return_address(0))) {
        return real("libisomer-hidden.so.0", mode);
    }
    return real(file, mode);
}

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
    static void *(*real)(void *, const char *);
    if (!real) {
        *(void **)(void *)&real = next_of("dlsym");
    }
    if (is_hidden(name) && is_libisomer(__builtin_return_address(0))) {
        return NULL;
    }
    return real(handle, name);
}

typedef struct outcome {
    iso_status status;
    char text[TEXT_MAX];
} outcome;

static void keep(outcome *to, iso_status status)
{
    to->status = status;
    (void)snprintf(to->text, sizeof to->text, "%s", status ? iso_last_error() : "");
}

static iso_status set_up(bench *at)
{
    at->bytes = (int64_t)SIZE * SIZE * 16;
    TRY(iso_device_open(missing_backend, &at->device));
    TRY(iso_stream_create(at->device, 0, &at->stream));
    TRY(iso_buffer_create(at->device, at->bytes, &at->x.buffer));
    TRY(iso_buffer_create(at->device, at->bytes, &at->y.buffer));
    return iso_buffer_create(at->device, at->bytes, &at->z.buffer);
}

/* What the child does: one outcome for each use, written to the pipe. */
static void use_all(int to)
{
    static outcome outcomes[USES];
    bench at = {.bytes = 0};
    (void)alarm(SECONDS_MAX);
    const iso_status status = set_up(&at);
    for (size_t i = 0; i < USES; i++) {
        keep(&outcomes[i], status ? status : missing_uses[i].run(&at));
    }
    if (!status) {
        CHECK_OK(iso_device_close(at.device));
    }
    const char *next = (const char *)outcomes;
    for (size_t left = sizeof outcomes; left > 0;) {
        const ssize_t written = write(to, next, left);
        CHECK(written > 0);
        next += written;
        left -= (size_t)written;
    }
}

/* Runs a child. False: it crashed, hung or found a wrong result. */
static bool run_child(outcome outcomes[USES])
{
    int ends[2];
    int status = 0;
    CHECK(pipe(ends) == 0);
    (void)fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        use_all(ends[1]);
        _Exit(0);
    }
    (void)close(ends[1]);
    char *next = (char *)outcomes;
    size_t left = sizeof(outcome) * USES;
    for (ssize_t got = 1; got > 0 && left > 0; left -= (size_t)got) {
        got = read(ends[0], next, left);
        CHECK(got >= 0);
        next += got;
    }
    (void)close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    if (status || left > 0) {
        (void)printf("FAIL: the process ended with status 0x%x\n", (unsigned)status);
    }
    return !status && left == 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

static outcome normal[USES], now[USES];

static bool complain(const entry *missing, const use *of, const char *what, const outcome *was)
{
    (void)printf("FAIL: without %s, %s %s: %s: %s\n",
                 missing ? missing->name : "optional functions", of->name, what,
                 iso_status_name(was->status), was->text);
    return false;
}

/* A text names the missing function, or any hidden one. */
static bool names_it(const char *text)
{
    if (hidden) {
        return strstr(text, hidden->name) != NULL;
    }
    for (size_t i = 0; i < TABLES; i++) {
        for (size_t j = 0; j < tables[i].count; j++) {
            if (is_hidden(tables[i].entries[j].name) && strstr(text, tables[i].entries[j].name)) {
                return true;
            }
        }
    }
    return false;
}

static iso_status wanted_status(part of)
{
    return of == DRIVER ? ISO_UNAVAILABLE : of == COMPILER ? ISO_COMPILE : ISO_UNSUPPORTED;
}

static bool judge(const table *in, size_t i, bool required)
{
    const bool concerned = in && (in->part == DRIVER || in->part == missing_uses[i].part);
    if (now[i].status == ISO_OK) {
        return !required || !concerned || normal[i].status ||
               complain(hidden, &missing_uses[i], "works, so the function is not required",
                        &now[i]);
    }
    if (now[i].status == normal[i].status && strcmp(now[i].text, normal[i].text) == 0) {
        return true; /* no library of this vendor can do it */
    }
    if (in && !concerned) {
        return complain(hidden, &missing_uses[i], "fails, and does not need that library", &now[i]);
    }
    if (!names_it(now[i].text)) {
        return complain(hidden, &missing_uses[i], "fails without its name", &now[i]);
    }
    if (required && strcmp(in->library, "CLBlast") != 0 &&
        !strstr(now[i].text, "; the oldest usable version is ")) {
        return complain(hidden, &missing_uses[i], "does not tell the oldest usable version",
                        &now[i]);
    }
    return now[i].status == (in ? wanted_status(in->part) : ISO_UNSUPPORTED) ||
           complain(hidden, &missing_uses[i], "fails with another status", &now[i]);
}

static bool hide_and_judge(const table *in, const entry *function)
{
    hidden = function;
    bool good = run_child(now);
    bool lost = false;
    for (size_t i = 0; good && i < USES; i++) {
        good &= judge(in, i, function && function->required);
        lost |= now[i].status != normal[i].status;
    }
    for (size_t i = 0; good && lost && i < USES && !(function && function->required); i++) {
        if (now[i].status != normal[i].status) {
            (void)printf("without %s: no %s\n", function ? function->name : "optional functions",
                         missing_uses[i].name);
        }
    }
    if (!good) {
        (void)printf("FAIL: without %s of %s\n", function ? function->name : "optional functions",
                     in ? in->library : missing_backend);
    }
    hidden = NULL;
    return good;
}

/* With everything there, all works that this vendor's libraries have. */
static void learn_normal(void)
{
    CHECK(run_child(normal));
    for (size_t i = 0; i < USES; i++) {
        if (normal[i].status == ISO_UNAVAILABLE) {
            (void)printf("SKIP: %s\n", normal[i].text);
            exit(77);
        }
        if (normal[i].status) {
            (void)printf("%s: %s: %s\n", missing_uses[i].name, iso_status_name(normal[i].status),
                         normal[i].text);
        }
        (void)fflush(stdout);
        CHECK(normal[i].status == ISO_OK || normal[i].status == ISO_UNSUPPORTED);
    }
}

int main(int argc, char **argv)
{
    int functions = 0;
    bool good = true;
    CHECK(argc == 2 || argc == 3);
    missing_backend = argv[1];
    learn_normal();
    for (size_t i = 0; i < TABLES; i++) {
        if (strcmp(tables[i].backend, missing_backend) != 0 ||
            (argc == 3 && strcmp(tables[i].library, argv[2]) != 0)) {
            continue;
        }
        /* With a warm cache, the compiler is not opened. */
        const char *cache = getenv("ISOMER_CACHE_DIR");
        char *kept = cache ? strdup(cache) : NULL;
        if (tables[i].part == COMPILER) {
            (void)setenv("ISOMER_CACHE_DIR", "off", 1);
        }
        for (size_t j = 0; j < tables[i].count; j++) {
            good &= hide_and_judge(&tables[i], &tables[i].entries[j]);
            functions++;
        }
        if (kept) {
            (void)setenv("ISOMER_CACHE_DIR", kept, 1);
        }
        free(kept);
    }
    optional_hidden = true;
    good &= hide_and_judge(NULL, NULL);
    (void)printf("%s: %d functions were missing, one at a time\n", missing_backend, functions);
    return good ? 0 : 1;
}
