/* SPDX-License-Identifier: Apache-2.0 */
/* e.c - the lab of first kernels. */
#include "bench/labs/internal.h"

#include "e_first.isk.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 256 };

/* ---- E1, E2 ---------------------------------------------------------------------------------- */

typedef struct adding {
    iso_map_args args;
    iso_kernel kernel;
    bool own;
} adding;

static iso_status add(lab *l, void *context)
{
    adding *a = context;
    const int64_t n = a->args.n;
    const iso_argument arguments[] = {iso_arg_buffer(a->args.x), iso_arg_buffer(a->args.y),
                                      iso_arg_buffer(a->args.z), iso_arg_integer(n)};
    return a->own ? iso_launch(l->stream, a->kernel, (iso_groups){(n + ITEMS - 1) / ITEMS, 1, 1},
                               arguments, 4)
                  : iso_map(l->stream, &a->args);
}

static bool are_sums(lab *l, const double *got, int64_t n)
{
    const double *x = lab_numbers(l, 1, ISO_F64, n), *y = lab_numbers(l, 2, ISO_F64, n);
    for (int64_t i = 0; i < n; i++) {
        if (got[i] != x[i] + y[i]) {
            return false;
        }
    }
    return true;
}

/* Makes the operands, which the caller frees. */
static iso_status make(lab *l, adding *a, iso_operand *at, int64_t n, bool own)
{
    iso_status status = ISO_OK;
    *a = (adding){.args = ISO_MAP_ARGS_INIT, .own = own};
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = lab_buffer(l, 8 * n, &at[i]);
        status =
            status == ISO_OK && i < 2 ? lab_write(l, at[i], (uint64_t)i + 1, ISO_F64, n) : status;
    }
    a->args.op = ISO_MAP_ADD;
    a->args.dtype = ISO_F64;
    a->args.variant = ISO_VARIANT_TILED;
    a->args.n = n;
    a->args.x = at[0];
    a->args.y = at[1];
    a->args.z = at[2];
    return status == ISO_OK && own ? lab_kernel(l, LAB_FIRST, "add_f64", &a->kernel) : status;
}

static iso_status read_back(lab *l, const adding *a, double *got)
{
    iso_status status = iso_read(l->stream, got, a->args.z, 8 * a->args.n);
    return status == ISO_OK ? iso_stream_sync(l->stream) : status;
}

static void add_way(lab *l, bool own, int64_t n)
{
    json_t *entry = lab_entry(l, own ? "the student's" : "tiled", ISO_F64);
    iso_operand at[3] = {{{0}, 0}};
    adding a;
    lab_times t;
    lab_case(entry, "n", (double)n);
    if (!lab_fits(l, entry, 24 * n, 24 * n)) {
        return;
    }
    double *got = tool_alloc((size_t)n, sizeof *got, "a result");
    iso_status status = make(l, &a, at, n, own);
    status = status == ISO_OK ? lab_time(l, add, &a, &t) : status;
    status = status == ISO_OK ? read_back(l, &a, got) : status;
    if (lab_ok(l, entry, status) &&
        lab_checked(entry, are_sums(l, got, n), "every element is equal")) {
        lab_figure_of(entry, "kernel", "s", &t.kernel);
        lab_figure(entry, "rate", "B/s", 24.0 * (double)n / t.kernel.median);
        lab_figure(entry, "computes", "FLOP/s", (double)n / t.kernel.median);
        lab_work_of(entry, (double)n, 24.0 * (double)n);
    }
    lab_free(at, 3);
    free(got);
}

static int64_t long_vector(const lab *l)
{
    return l->scale == LAB_SMALL ? 10000 : l->on_cpu && l->scale != LAB_FULL ? 20000000 : 200000000;
}

void lab_e1(lab *l)
{
    for (int own = 1; own >= 0; own--) {
        add_way(l, own, 1000);
        add_way(l, own, long_vector(l));
    }
}

void lab_e2(lab *l)
{
    const int64_t n = long_vector(l);
    json_t *entry = lab_entry(l, "the student's", ISO_F64);
    iso_operand at[3] = {{{0}, 0}};
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    iso_program program = {0};
    adding a;
    lab_times t;
    lab_case(entry, "n", (double)n);
    if (!lab_fits(l, entry, 24 * n, 24 * n)) {
        return;
    }
    double *got = tool_alloc((size_t)n, sizeof *got, "a result");
    iso_status status = make(l, &a, at, n, false);
    a.own = true;
    args.embedded = &e_first_isk;
    double began = tool_seconds();
    status = status == ISO_OK ? iso_program_create(l->device, &args, &program) : status;
    double compiled = tool_seconds() - began;
    status = status == ISO_OK ? iso_kernel_get(program, "add_f64", &a.kernel) : status;
    status = status == ISO_OK ? lab_time(l, add, &a, &t) : status;
    status = status == ISO_OK ? read_back(l, &a, got) : status;
    if (lab_ok(l, entry, status) &&
        lab_checked(entry, are_sums(l, got, n), "every element is equal")) {
        lab_figure(entry, "compile", "s", compiled);
        lab_figure(entry, "first", "s", t.first);
        lab_figure_of(entry, "later", "s", &t.wall);
        lab_figure_of(entry, "submit", "s", &t.submit);
        lab_figure_of(entry, "kernel", "s", &t.kernel);
    }
    if (program.id) {
        (void)iso_program_destroy(program);
    }
    lab_free(at, 3);
    free(got);
}

/* ---- E3 -------------------------------------------------------------------------------------- */

typedef struct moving {
    iso_operand at;
    void *host;
    int64_t bytes;
} moving;

static iso_status move_in(lab *l, void *context)
{
    moving *m = context;
    return iso_write(l->stream, m->at, m->host, m->bytes);
}

static iso_status move_out(lab *l, void *context)
{
    moving *m = context;
    return iso_read(l->stream, m->host, m->at, m->bytes);
}

static void move_way(lab *l, moving *m, const char *what, lab_work *work, const void *want)
{
    json_t *entry = lab_entry(l, what, 0);
    lab_times t;
    lab_case(entry, "bytes", (double)m->bytes);
    if (lab_ok(l, entry, lab_time(l, work, m, &t)) &&
        lab_checked(entry, memcmp(m->host, want, (size_t)m->bytes) == 0, "every byte")) {
        lab_figure_of(entry, "time", "s", &t.wall);
        lab_figure(entry, "rate", "B/s", (double)m->bytes / t.wall.median);
    }
}

static void allocate(lab *l, int64_t bytes)
{
    enum { TIMES = 5 };
    json_t *entry = lab_entry(l, "allocate", 0);
    double seconds[TIMES];
    iso_status status = ISO_OK;
    lab_case(entry, "bytes", (double)bytes);
    for (int i = 0; i < TIMES && status == ISO_OK; i++) {
        iso_buffer made;
        double began = tool_seconds();
        status = iso_buffer_create(l->device, bytes, &made);
        seconds[i] = tool_seconds() - began;
        status = status == ISO_OK ? iso_buffer_destroy(made) : status;
    }
    if (lab_ok(l, entry, status)) {
        lab_spread spread = lab_spread_of(seconds, TIMES);
        lab_figure_of(entry, "time", "s", &spread);
        (void)lab_checked(entry, true, "the device gave it");
    }
}

static void move(lab *l, int64_t bytes)
{
    moving m = {.bytes = bytes};
    int32_t is_pinned = 0;
    void *pinned = NULL;
    json_t *entry;
    allocate(l, bytes);
    const void *want = lab_numbers(l, 1, ISO_F32, bytes / 4);
    if (lab_buffer(l, bytes, &m.at) != ISO_OK) {
        entry = lab_entry(l, "pageable write", 0);
        lab_case(entry, "bytes", (double)bytes);
        (void)lab_ok(l, entry, ISO_NO_MEMORY);
        return;
    }
    void *pageable = tool_alloc((size_t)bytes, 1, "a result");
    memcpy(pageable, want, (size_t)bytes);
    m.host = pageable;
    move_way(l, &m, "pageable write", move_in, want);
    move_way(l, &m, "pageable read", move_out, want);
    iso_status status = iso_host_alloc(l->device, bytes, &pinned, &is_pinned);
    if (status == ISO_OK && is_pinned) {
        memcpy(pinned, want, (size_t)bytes);
        m.host = pinned;
        move_way(l, &m, "pinned write", move_in, want);
        move_way(l, &m, "pinned read", move_out, want);
    }
    if (pinned) {
        (void)iso_host_free(l->device, pinned);
    }
    lab_free(&m.at, 1);
    free(pageable);
}

void lab_e3(lab *l)
{
    const int64_t most = l->scale == LAB_SMALL  ? 64 << 10
                         : l->scale == LAB_FULL ? INT64_C(4) << 30
                         : l->on_cpu            ? 256 << 20
                                                : INT64_C(1) << 30;
    for (int64_t bytes = 1024; bytes <= most; bytes *= 16) {
        move(l, bytes);
    }
    move(l, most);
}

/* ---- E4 -------------------------------------------------------------------------------------- */

typedef struct applying {
    iso_gemv_args args;
    iso_kernel kernel;
    bool own;
} applying;

static const double alpha = 1.5, beta = 0.5;

static iso_status apply(lab *l, void *context)
{
    applying *a = context;
    const int64_t n = a->args.m;
    const iso_argument arguments[] = {iso_arg_float(alpha),      iso_arg_buffer(a->args.a),
                                      iso_arg_buffer(a->args.x), iso_arg_float(beta),
                                      iso_arg_buffer(a->args.y), iso_arg_integer(n),
                                      iso_arg_integer(n)};
    return a->own ? iso_launch(l->stream, a->kernel, (iso_groups){(n + ITEMS - 1) / ITEMS, 1, 1},
                               arguments, 7)
                  : iso_gemv(l->stream, &a->args);
}

/* The error of some elements of y after one call. */
static double error_of(lab *l, const double *got, int64_t n, bool columns)
{
    enum { SOME = 64 };
    const double *a = lab_numbers(l, 1, ISO_F64, n * n), *x = lab_numbers(l, 2, ISO_F64, n);
    double off = 0, all = 0;
    for (int64_t s = 0; s < SOME; s++) {
        int64_t row = s * (n - 1) / (SOME - 1);
        double sum = 0, magnitudes = 0;
        for (int64_t k = 0; k < n; k++) {
            double term = a[columns ? k * n + row : row * n + k] * x[k];
            sum += term;
            magnitudes += fabs(term);
        }
        off += fabs(got[row] - (alpha * sum + beta * x[row]));
        all += alpha * magnitudes;
    }
    return off / all;
}

/* y begins as x, in each call that is checked. */
static iso_status apply_once(lab *l, applying *a, double *got)
{
    const int64_t bytes = 8 * a->args.m;
    iso_status status = iso_copy(l->stream, a->args.y, a->args.x, bytes);
    status = status == ISO_OK ? apply(l, a) : status;
    status = status == ISO_OK ? iso_read(l->stream, got, a->args.y, bytes) : status;
    return status == ISO_OK ? iso_stream_sync(l->stream) : status;
}

static const struct form {
    const char *what, *kernel;
    iso_variant variant;
    iso_trans trans;
} forms[] = {{"rows", "gemv_rows_f64", 0, ISO_NO_TRANS},
             {"columns", "gemv_columns_f64", 0, ISO_TRANS},
             {"shared", "gemv_shared_f64", 0, ISO_TRANS},
             {"tiled, by rows", NULL, ISO_VARIANT_TILED, ISO_NO_TRANS},
             {"tiled, by columns", NULL, ISO_VARIANT_TILED, ISO_TRANS},
             {"vendor, by rows", NULL, ISO_VARIANT_VENDOR, ISO_NO_TRANS},
             {"vendor, by columns", NULL, ISO_VARIANT_VENDOR, ISO_TRANS}};
enum { FORMS = sizeof forms / sizeof forms[0] };

static void apply_form(lab *l, const struct form *form, const iso_operand *at, int64_t n)
{
    json_t *entry = lab_entry(l, form->what, ISO_F64);
    applying a = {.args = ISO_GEMV_ARGS_INIT, .own = form->kernel != NULL};
    lab_times t;
    const double bytes = 8.0 * ((double)n * (double)n + 3.0 * (double)n);
    lab_case(entry, "n", (double)n);
    double *got = tool_alloc((size_t)n, sizeof *got, "a result");
    a.args.dtype = ISO_F64;
    a.args.variant = form->variant;
    a.args.trans = form->trans;
    a.args.m = a.args.k = n;
    a.args.alpha = alpha;
    a.args.beta = beta;
    a.args.a = at[0];
    a.args.x = at[1];
    a.args.y = at[2];
    iso_status status = a.own ? lab_kernel(l, LAB_FIRST, form->kernel, &a.kernel) : ISO_OK;
    status = status == ISO_OK ? apply_once(l, &a, got) : status;
    status = status == ISO_OK ? lab_time(l, apply, &a, &t) : status;
    if (lab_ok(l, entry, status)) {
        double error = error_of(l, got, n, form->trans == ISO_TRANS);
        if (lab_checked(entry, error <= 1e-14, "relative error %.2g of 64 elements, at most 1e-14",
                        error)) {
            lab_figure_of(entry, "kernel", "s", &t.kernel);
            lab_figure(entry, "rate", "B/s", bytes / t.kernel.median);
            lab_figure(entry, "error", "", error);
            lab_work_of(entry, 2.0 * (double)n * (double)n, bytes);
        }
    }
    free(got);
}

void lab_e4(lab *l)
{
    const int64_t n = l->scale == LAB_SMALL               ? 300
                      : l->on_cpu && l->scale != LAB_FULL ? 4096
                                                          : 16384;
    iso_operand at[3] = {{{0}, 0}};
    const int64_t counts[3] = {n * n, n, n};
    iso_status status = ISO_OK;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = lab_buffer(l, 8 * counts[i], &at[i]);
        status = status == ISO_OK && i < 2
                     ? lab_write(l, at[i], (uint64_t)i + 1, ISO_F64, counts[i])
                     : status;
    }
    if (status != ISO_OK) {
        (void)lab_ok(l, lab_entry(l, "all", ISO_F64), status);
    }
    for (int f = 0; f < FORMS && status == ISO_OK; f++) {
        apply_form(l, &forms[f], at, n);
    }
    lab_free(at, 3);
}

/* ---- E6 -------------------------------------------------------------------------------------- */

/* Runs E1 in a process of its own, because a process has one trace from its start to its end. */
static bool run_traced(const lab *l, const char *path)
{
    const char *const words[] = {tool_name,    "bench",     "--suite",     "labs",
                                 "--lab",      "E1",        "--lab-sizes", "small",
                                 "--no-roofs", "--backend", l->info.spec,  NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ended = 0;
    const char *before = getenv("ISOMER_TRACE");
    char *kept = before ? strdup(before) : NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    setenv("ISOMER_TRACE", path, 1);
    bool good =
        posix_spawn(&child, "/proc/self/exe", &actions, NULL, (char *const *)words, environ) == 0 &&
        waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == TOOL_OK;
    if (kept) {
        setenv("ISOMER_TRACE", kept, 1);
    } else {
        unsetenv("ISOMER_TRACE");
    }
    free(kept);
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

void lab_e6(lab *l)
{
    json_t *entry = lab_entry(l, "a time line of E1", 0), *event;
    char path[64];
    size_t at, length = 0;
    int copies = 0, kernels = 0;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.40s/isomer-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) {
        lab_skip(entry, "no temporary file can be made in %.40s", folder ? folder : "/tmp");
        return;
    }
    close(file);
    bool ran = run_traced(l, path);
    char *text = ran ? tool_read(path, 64, &length) : NULL;
    json_t *root = text ? json_loadb(text, length, 0, NULL) : NULL;
    json_array_foreach(json_object_get(root, "traceEvents"), at, event)
    {
        const char *name = json_string_value(json_object_get(event, "name"));
        copies += name && (strncmp(name, "write", 5) == 0 || strncmp(name, "read", 4) == 0);
        kernels += name && strncmp(name, "add", 3) == 0;
    }
    if (lab_checked(entry, copies > 0 && kernels > 0,
                    "the trace is whole, with %d copies and %d kernels", copies, kernels)) {
        lab_figure(entry, "copies", "", copies);
        lab_figure(entry, "kernels", "", kernels);
        lab_line(entry,
                 "ISOMER_TRACE=labs.json isomer bench --suite labs --lab E1 --backend %s; "
                 "ui.perfetto.dev opens labs.json",
                 l->info.backend);
    }
    json_decref(root);
    free(text);
    unlink(path);
}
