/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - the peers' options, clock, arrays and results document. */
#include "bench/peers/peer.h"

#include <dlfcn.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 1000 };

static struct {
    const char *program, *device, *library;
    json_t *root, *results;
} document;

void peer_die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

/* ---- options --------------------------------------------------------------------------------- */

static void parse_sizes(const char *text, peer_options *out)
{
    out->size_count = 0;
    while (*text != '\0' && out->size_count < PEER_SIZES) {
        char *end;
        errno = 0;
        long long size = strtoll(text, &end, 10);
        const char *unit = end != text && *end != '\0' ? strchr("KMG", *end) : NULL;
        if (unit) {
            bool binary = end[1] == 'i';
            for (const char *power = "KMG"; power <= unit; power++) {
                size *= binary ? 1024 : 1000;
            }
            end += binary ? 2 : 1;
        }
        if (errno != 0 || end == text || size < 1 || (*end != ',' && *end != '\0')) {
            peer_die("--size must be a list of whole numbers such as 1024,4Ki, not \"%s\"", text);
        }
        out->sizes[out->size_count++] = size;
        text = *end == ',' ? end + 1 : end;
    }
}

void peer_parse(int argc, char **argv, const int64_t *defaults, peer_options *out)
{
    *out = (peer_options){.f32 = true, .f64 = true};
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("isomer peer"); /* --against asks for the version first */
        exit(0);
    }
    for (; defaults[out->size_count] != 0; out->size_count++) {
        out->sizes[out->size_count] = defaults[out->size_count];
    }
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        const char *equals = strchr(argv[i], '=');
        if (equals) {
            value = equals + 1;
        }
        if (strncmp(argv[i], "--size", 6) == 0) {
            parse_sizes(value, out);
        }
        if (strncmp(argv[i], "--dtype", 7) == 0) {
            out->f32 = strstr(value, "f32") != NULL;
            out->f64 = strstr(value, "f64") != NULL;
        }
    }
}

/* ---- libraries, clock, inputs ---------------------------------------------------------------- */

void peer_load(const char *const *libraries, const peer_symbol *symbols)
{
    char tried[2048] = "";
    void *library = NULL;
    for (; *libraries && !library; libraries++) {
        library = dlopen(*libraries, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            snprintf(tried + strlen(tried), sizeof tried - strlen(tried), "\n  %s", dlerror());
        }
    }
    if (!library) {
        peer_die("none of these libraries can be opened:%s", tried);
    }
    for (; symbols->name; symbols++) {
        void *function = dlsym(library, symbols->name);
        if (!function) {
            peer_die("the library has no function %s", symbols->name);
        }
        memcpy(symbols->function, &function, sizeof function);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *peer_memory(size_t bytes)
{
    enum { HUGE_PAGE = 2 << 20 };
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *block = aligned_alloc(HUGE_PAGE, whole);
    if (!block) {
        peer_die("no memory for arrays of %zu bytes", bytes);
    }
    madvise(block, whole, MADV_HUGEPAGE);
    return block;
}

static double next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

double peer_at(const void *x, int64_t i, bool f64)
{
    return f64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

/* Fills an array with numbers in [-1, 1) that are the same every time. */
static void fill(void *x, int64_t n, bool f64)
{
    uint64_t state = f64 ? 2 : 1;
    for (int64_t i = 0; i < n; i++) {
        double value = next_number(&state);
        if (f64) {
            ((double *)x)[i] = value;
        } else {
            ((float *)x)[i] = (float)value;
        }
    }
}

/* ---- the document ---------------------------------------------------------------------------- */

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *text(const char *value)
{
    return value && value[0] != '\0' ? json_string(value) : json_null();
}

static json_t *make_run(void)
{
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    struct utsname system;
    uname(&system);
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_t *host =
        json_pack("{s:s, s:s, s:s, s:s, s:n, s:i, s:n, s:n, s:n, s:n}", "name", system.nodename,
                  "system", system.sysname, "release", system.release, "architecture",
                  system.machine, "cpu", "processors", (int)sysconf(_SC_NPROCESSORS_ONLN),
                  "memory_bytes", "load", "governor", "virtual");
    json_t *build =
        json_pack("{s:s, s:n, s:n, s:n}", "compiler", __VERSION__, "flags", "commit", "type");
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:[s], s:s, s:i, s:n, s:s, s:i, s:n, s:o, "
                     "s:o, s:[], s:{}, s:[]}",
                     "command", "bench", "version", document.program, "library_version",
                     document.library, "time", when, "finished", when, "complete", 1, "arguments",
                     document.program, "suite", "peer", "seed", 1, "budget", "math", "strict",
                     "rounds", 1, "seconds", "host", host, "build", build, "settings",
                     "environment", "flags");
}

static json_t *make_device(const char *name)
{
    const char *colon = strchr(document.device, ':');
    int length = colon ? (int)(colon - document.device) : (int)strlen(document.device);
    return json_pack("{s:s, s:s#, s:i, s:s, s:n, s:n, s:n, s:n, s:n, s:[], s:{}, s:b, s:n, s:[]}",
                     "spec", document.device, "backend", document.device, length, "index",
                     colon ? atoi(colon + 1) : 0, "name", name, "vendor", "uuid", "architecture",
                     "driver", "runtime", "features", "properties", "fake", 0, "telemetry",
                     "roofs");
}

void peer_begin(const char *program, const char *device, const char *name, const char *library)
{
    document.program = program;
    document.device = device;
    document.library = library;
    document.results = json_array();
    document.root =
        json_pack("{s:s, s:o, s:[o], s:o}", "schema", "isomer-results/1", "run", make_run(),
                  "devices", make_device(name), "results", document.results);
    if (!document.root) {
        peer_die("no memory for the results");
    }
}

static void describe(const peer_case *item, json_t *r)
{
    char id[160];
    long long n = (long long)item->n;
    bool product = !item->kind;
    const char *type = !item->typed ? NULL : item->f64 ? "f64" : "f32";
    if (product) {
        snprintf(id, sizeof id, "gemm/%s/%s/%lldx%lldx%lld/nn/strict/uniform/hot", item->variant,
                 type, n, n, n);
    } else {
        snprintf(id, sizeof id, "%s/%s/%s%s%s/%lld/uniform/hot", item->op, item->kind,
                 item->variant, type ? "/" : "", type ? type : "", n);
    }
    set(r, "id", json_string(id));
    set(r, "op", json_string(item->op));
    set(r, "kind", text(item->kind));
    set(r, "variant", json_string(item->variant));
    set(r, "dtype", text(type));
    set(r, "shape",
        product ? json_pack("{s:I, s:I, s:I, s:i}", "m", n, "n", n, "k", n, "batch", 1)
                : json_pack("{s:I}", type ? "elements" : "bytes", n));
    set(r, "size", json_integer(n));
    set(r, "layout",
        product ? json_pack("{s:s, s:s}", "trans_a", "n", "trans_b", "n") : json_object());
    set(r, "math", json_string("strict"));
    set(r, "fill", json_string("uniform"));
    set(r, "cache", json_string("hot"));
    set(r, "work",
        json_pack("{s:f, s:f, s:f}", "flops", item->flops, "bytes_read", item->bytes_read,
                  "bytes_written", item->bytes_written));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static json_t *rate(double work, double median)
{
    return work > 0 ? json_pack("{s:f, s:f, s:f}", "value", work / median, "low", work / median,
                                "high", work / median)
                    : json_null();
}

static void add(const peer_case *item, const peer_check *check, const double *nanoseconds,
                int count, int64_t calls)
{
    double sorted[SAMPLES] = {0}, sum = 0;
    json_t *r = json_object(), *samples = json_array();
    for (int i = 0; i < count; i++) {
        sorted[i] = nanoseconds[i];
        sum += nanoseconds[i];
        json_array_append_new(samples, json_real(nanoseconds[i]));
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    double median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    describe(item, r);
    const char *colon = strchr(document.device, ':');
    set(r, "backend", json_stringn(document.device, (size_t)(colon - document.device)));
    set(r, "device", json_string(document.device));
    set(r, "library", json_string(document.library));
    set(r, "kernel", json_null());
    set(r, "status", json_string("ok"));
    set(r, "reason", json_null());
    set(r, "verified",
        json_pack("{s:s, s:f, s:f, s:i, s:n}", "method", check->method, "error", check->error,
                  "bound", check->bound, "checks", 1, "digest"));
    set(r, "times",
        json_pack("{s:s, s:f, s:f, s:f, s:n, s:f, s:f, s:f, s:n, s:b, s:f, s:s, s:[o], s:I, s:f, "
                  "s:n, s:n, s:n}",
                  "clock", "host", "median", median, "low", sorted[0], "high", sorted[count - 1],
                  "confidence", "min", sorted[0], "max", sorted[count - 1], "mean", sum / count,
                  "deviation", "converged", 0, "target", 0.02, "stopped", "rounds", "samples",
                  samples, "calls", (json_int_t)calls, "host", median, "submit", "prepare",
                  "first"));
    set(r, "rates",
        json_pack("{s:o, s:o}", "gbps", rate(item->bytes_read + item->bytes_written, median),
                  "gflops", rate(item->flops, median)));
    set(r, "roof", json_null());
    set(r, "parts", json_null());
    set(r, "clocks", json_null());
    set(r, "flags", json_pack("[s]", "few-rounds"));
    json_array_append_new(document.results, r);
}

int peer_end(void)
{
    int wrong = json_dumpf(document.root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(document.root);
    return wrong != 0 || fflush(stdout) != 0 ? 1 : 0;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static double run(const peer_work *work, int64_t calls)
{
    double begin = seconds();
    for (int64_t i = 0; i < calls; i++) {
        if (work->call(work->context) != 0) {
            peer_die("the library's call failed");
        }
    }
    if (work->wait && work->wait(work->context) != 0) {
        peer_die("waiting for the device failed");
    }
    return (seconds() - begin) * 1e9 / (double)calls;
}

void peer_measure(const peer_case *item, const peer_work *work)
{
    const double least = 500e3, visit = 250e6; /* `visit` is as long as isomer's with --against */
    double nanoseconds[SAMPLES];
    int64_t calls = 1;
    int count = 0;
    run(work, 1);
    double once = run(work, 1);
    while (once * (double)calls < least && calls < 4096) {
        calls = (int64_t)ceil(fmax(1.2 * least / once, 2.0 * (double)calls));
        once = run(work, calls);
    }
    double begin = seconds();
    do {
        nanoseconds[count++] = run(work, calls);
    } while (count < SAMPLES && (seconds() - begin) * 1e9 + once * (double)calls < visit);
    peer_check check = work->check(work->context);
    if (!(check.error <= check.bound)) {
        peer_die("a result of %s %s is off by %g; at most %g is allowed", item->op, item->variant,
                 check.error, check.bound);
    }
    add(item, &check, nanoseconds, count, calls);
}

void peer_each(const peer_options *options, void (*measure)(int64_t n, bool f64))
{
    for (int i = 0; i < options->size_count; i++) {
        for (int f64 = 0; f64 < 2; f64++) {
            if (f64 ? options->f64 : options->f32) {
                measure(options->sizes[i], f64);
            }
        }
    }
}

/* ---- arrays ---------------------------------------------------------------------------------- */

typedef struct job {
    peer_arrays arrays; /* must be first: the calls get its address */
    const peer_device *device;
} job;

/* Checks some elements. Returns the error and the bound of the one whose error is largest relative
 * to its bound. */
static peer_check check_product(const peer_arrays *p, const void *c)
{
    enum { ELEMENTS = 64 };
    peer_check worst = {"bound", 0, 1};
    uint64_t state = 3;
    int64_t n = p->n;
    for (int e = 0; e < ELEMENTS; e++) {
        int64_t i = (int64_t)((next_number(&state) + 1) / 2 * (double)n);
        int64_t j = (int64_t)((next_number(&state) + 1) / 2 * (double)n);
        long double sum = 0, size = 0;
        for (int64_t k = 0; k < n; k++) {
            long double x = peer_at(p->host, i * n + k, p->f64);
            long double y = peer_at(p->host, k * n + j, p->f64);
            sum += x * y;
            size += fabsl(x * y);
        }
        double bound = (double)(n + 1) * (p->f64 ? 0x1p-53 : 0x1p-24) * (double)size;
        double error = fabs(peer_at(c, i * n + j, p->f64) - (double)sum);
        if (!(error / bound <= worst.error / worst.bound)) {
            worst = (peer_check){"bound", error, bound};
        }
    }
    return worst;
}

static peer_check check(void *context)
{
    const job *j = context;
    const peer_arrays *p = &j->arrays;
    peer_check result = {"exact", 0, 0};
    void *c = peer_memory(p->bytes);
    j->device->read(c, p->c, p->bytes);
    if (p->n > 0) {
        result = check_product(p, c);
    } else {
        result.error = memcmp(c, p->host, p->bytes) == 0 ? 0 : 1;
    }
    free(c);
    return result;
}

void peer_measure_arrays(const peer_case *item, const peer_device *device,
                         int (*call)(void *context))
{
    size_t bytes = (size_t)item->bytes_written;
    job j = {{.n = item->kind ? 0 : item->n, .f64 = item->f64, .bytes = bytes}, device};
    peer_arrays *p = &j.arrays;
    p->host = peer_memory(bytes);
    fill(p->host, (int64_t)(bytes / (p->f64 ? 8 : 4)), p->f64);
    p->a = device->make(p->host, bytes);
    p->b = device->make(p->host, bytes);
    p->c = device->make(p->host, bytes);
    peer_measure(item, &(peer_work){call, device->wait, check, &j});
    device->drop(p->a);
    device->drop(p->b);
    device->drop(p->c);
    free(p->host);
}

void peer_measure_product(int64_t n, bool f64, const peer_device *device,
                          int (*call)(void *context))
{
    double cubes = (double)n * (double)n * (double)n;
    double bytes = (double)n * (double)n * (f64 ? 8 : 4);
    peer_measure_arrays(
        &(peer_case){"gemm", NULL, "vendor", true, f64, n, 2 * cubes, 2 * bytes, bytes}, device,
        call);
}
