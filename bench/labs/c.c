/* SPDX-License-Identifier: Apache-2.0 */
/* c.c - the reductions lab. */
#include "bench/labs/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 256 };

static int64_t side_of(const lab *l)
{
    return l->scale == LAB_SMALL ? 64 : 4096;
}

/* ---- C1 -------------------------------------------------------------------------------------- */

typedef struct multiplying {
    iso_map_args args;
    iso_kernel kernel;
    bool own;
    int64_t groups;
} multiplying;

static iso_status multiply(lab *l, void *context)
{
    multiplying *m = context;
    const iso_argument arguments[] = {iso_arg_buffer(m->args.x), iso_arg_buffer(m->args.y),
                                      iso_arg_buffer(m->args.z), iso_arg_integer(m->args.n)};
    return m->own ? iso_launch(l->stream, m->kernel, (iso_groups){m->groups, 1, 1}, arguments, 4)
                  : iso_map(l->stream, &m->args);
}

static bool are_products(lab *l, const float *got, int64_t n)
{
    const float *x = lab_numbers(l, 1, ISO_F32, n), *y = lab_numbers(l, 2, ISO_F32, n);
    for (int64_t i = 0; i < n; i++) {
        if (got[i] != x[i] * y[i]) {
            return false;
        }
    }
    return true;
}

static void multiply_way(lab *l, bool own)
{
    const int64_t n = side_of(l) * side_of(l), bytes = 4 * n;
    json_t *entry = lab_entry(l, own ? "the student's" : "tiled", ISO_F32);
    multiplying m = {.args = ISO_MAP_ARGS_INIT, .own = own};
    iso_operand at[3] = {{{0}, 0}};
    lab_times t;
    lab_case(entry, "n", (double)side_of(l)); /* squared */
    float *got = tool_alloc((size_t)n, sizeof *got, "a result");
    iso_status status = ISO_OK;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = lab_buffer(l, bytes, &at[i]);
        status =
            status == ISO_OK && i < 2 ? lab_write(l, at[i], (uint64_t)i + 1, ISO_F32, n) : status;
    }
    if (status == ISO_OK && own) {
        status = lab_kernel(l, LAB_REDUCTIONS, "multiply_stride_f32", &m.kernel);
    }
    m.args.op = ISO_MAP_MULTIPLY;
    m.args.dtype = ISO_F32;
    m.args.variant = ISO_VARIANT_TILED;
    m.args.n = n;
    m.args.x = at[0];
    m.args.y = at[1];
    m.args.z = at[2];
    /* On a CPU long steps would leave a page with each. */
    m.groups =
        l->on_cpu ? (n + ITEMS - 1) / ITEMS : 16 * (int64_t)(l->info.units > 0 ? l->info.units : 1);
    status = status == ISO_OK ? lab_time(l, multiply, &m, &t) : status;
    status = status == ISO_OK ? iso_read(l->stream, got, at[2], bytes) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    if (lab_ok(l, entry, status) &&
        lab_checked(entry, are_products(l, got, n), "every element is equal")) {
        lab_figure_of(entry, "submit", "s", &t.submit);
        lab_figure_of(entry, "kernel", "s", &t.kernel);
        lab_figure(entry, "mean", "s", t.kernel.mean);
        lab_figure(entry, "deviation", "s", t.kernel.deviation);
        lab_figure(entry, "rate", "B/s", 3.0 * (double)bytes / t.kernel.median);
        lab_work_of(entry, (double)n, 3.0 * (double)bytes);
    }
    lab_free(at, 3);
    free(got);
}

void lab_c1(lab *l)
{
    multiply_way(l, true);
    multiply_way(l, false);
}

/* ---- C2 -------------------------------------------------------------------------------------- */

typedef struct moving {
    iso_operand at;
    void *host;
    int64_t bytes;
} moving;

static iso_status move_in(lab *l, void *context)
{
    moving *m = context;
    return iso_write(l->stream, m->at, lab_numbers(l, 1, ISO_F32, m->bytes / 4), m->bytes);
}

static iso_status move_out(lab *l, void *context)
{
    moving *m = context;
    return iso_read(l->stream, m->host, m->at, m->bytes);
}

/* Takes the memory as another library's would be taken. */
static iso_status wrap(lab *l, const moving *m, lab_spread *out)
{
    enum { TIMES = 25 };
    double seconds[TIMES] = {0};
    iso_status status = ISO_OK;
    for (int i = 0; i < TIMES && status == ISO_OK; i++) {
        iso_tensor from = ISO_TENSOR_INIT, to = ISO_TENSOR_INIT;
        void *managed;
        from.dtype = ISO_F32;
        from.buffer = m->at.buffer;
        from.ndim = 1;
        from.shape[0] = m->bytes / 4;
        status = iso_dlpack_export(l->stream, (iso_stream){0}, &from, &managed);
        double began = tool_seconds();
        status = status == ISO_OK ? iso_dlpack_import(l->stream, managed, ISO_DLPACK_VERSIONED, &to)
                                  : status;
        seconds[i] = tool_seconds() - began;
        status = status == ISO_OK ? iso_buffer_destroy(to.buffer) : status;
    }
    *out = lab_spread_of(seconds, TIMES);
    return status;
}

void lab_c2(lab *l)
{
    const int64_t n = side_of(l) * side_of(l);
    json_t *entry = lab_entry(l, "moving", ISO_F32);
    moving m = {.bytes = 4 * n};
    lab_spread wraps = {0};
    lab_times in, out;
    lab_case(entry, "n", (double)side_of(l)); /* squared */
    m.host = tool_alloc((size_t)n, 4, "a result");
    iso_status status = lab_buffer(l, m.bytes, &m.at);
    status = status == ISO_OK ? lab_time(l, move_in, &m, &in) : status;
    status = status == ISO_OK ? wrap(l, &m, &wraps) : status;
    status = status == ISO_OK ? lab_time(l, move_out, &m, &out) : status;
    if (lab_ok(l, entry, status) &&
        lab_checked(entry, memcmp(m.host, lab_numbers(l, 1, ISO_F32, n), (size_t)m.bytes) == 0,
                    "every byte that came back")) {
        lab_figure_of(entry, "wrap", "s", &wraps);
        lab_figure_of(entry, "write", "s", &in.wall);
        lab_figure_of(entry, "read", "s", &out.wall);
    }
    lab_free(&m.at, 1);
    free(m.host);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The sum of the first numbers, and of their magnitudes. */
static double exact_sum(lab *l, int64_t n, double *magnitudes)
{
    const float *x = lab_numbers(l, 1, ISO_F32, n);
    double sum = 0, all = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)x[i];
        all += fabs((double)x[i]);
    }
    *magnitudes = all;
    return sum;
}

/* Checks a sum against f64: its error is a part of the magnitudes' sum. */
static bool check_sum(lab *l, json_t *entry, double got, int64_t n)
{
    double all, want = exact_sum(l, n, &all), error = fabs(got - want) / all;
    if (!lab_checked(entry, error <= 1e-6, "%.9g; f64 has %.9g; the error is %.2g of the terms",
                     got, want, error)) {
        return false;
    }
    lab_figure(entry, "error", "", error);
    return true;
}

/* One group: C3, C4. */
static void one_group(lab *l, const char *name, int64_t n)
{
    json_t *entry = lab_entry(l, "one group", ISO_F32);
    iso_operand at[2] = {{{0}, 0}};
    iso_kernel kernel;
    float sum = 0;
    lab_case(entry, "n", (double)n);
    iso_status status = lab_buffer(l, 4 * n, &at[0]);
    status = status == ISO_OK ? lab_buffer(l, 4, &at[1]) : status;
    status = status == ISO_OK ? lab_write(l, at[0], 1, ISO_F32, n) : status;
    status = status == ISO_OK ? lab_kernel(l, LAB_REDUCTIONS, name, &kernel) : status;
    const iso_argument arguments[] = {iso_arg_buffer(at[0]), iso_arg_buffer(at[1]),
                                      iso_arg_integer(n)};
    status = status == ISO_OK ? iso_launch(l->stream, kernel, (iso_groups){1, 1, 1}, arguments, 3)
                              : status;
    status = status == ISO_OK ? iso_read(l->stream, &sum, at[1], 4) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    if (lab_ok(l, entry, status)) {
        (void)check_sum(l, entry, (double)sum, n);
    }
    lab_free(at, 2);
}

void lab_c3(lab *l)
{
    one_group(l, "sum_512_f32", 512);
}

void lab_c4(lab *l)
{
    one_group(l, "sum_192_f32", 192);
}

/* ---- C5 -------------------------------------------------------------------------------------- */

enum { GROUPS_MOST = 4096 };

typedef struct summing {
    iso_reduce_args args;
    iso_kernel kernel;
    iso_operand x, sums;
    int64_t n, groups;
    float parts[GROUPS_MOST];
    double sum;
} summing;

/* The groups' sums go to the host, which adds them. */
static iso_status sum_partials(lab *l, void *context)
{
    summing *s = context;
    const iso_argument arguments[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->sums),
                                      iso_arg_integer(s->n)};
    iso_status status =
        iso_launch(l->stream, s->kernel, (iso_groups){s->groups, 1, 1}, arguments, 3);
    status = status == ISO_OK ? iso_read(l->stream, s->parts, s->sums, 4 * s->groups) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    s->sum = 0;
    for (int64_t i = 0; i < s->groups; i++) {
        s->sum += (double)s->parts[i];
    }
    return status;
}

static iso_status sum_atomic(lab *l, void *context)
{
    summing *s = context;
    const iso_argument arguments[] = {iso_arg_buffer(s->x), iso_arg_buffer(s->sums),
                                      iso_arg_integer(s->n)};
    const float zero = 0;
    iso_status status = iso_fill(l->stream, s->sums, &zero, 4, 4);
    return status == ISO_OK
               ? iso_launch(l->stream, s->kernel, (iso_groups){s->groups, 1, 1}, arguments, 3)
               : status;
}

static iso_status sum_operation(lab *l, void *context)
{
    summing *s = context;
    return iso_reduce(l->stream, &s->args);
}

static const struct way {
    const char *what, *kernel;
    iso_variant variant;
    lab_work *work;
} ways[] = {{"partials", "sum_partials_f32", 0, sum_partials},
            {"atomics", "sum_atomic_f32", 0, sum_atomic},
            {"tree", NULL, ISO_VARIANT_TILED, sum_operation},
            {"vendor", NULL, ISO_VARIANT_VENDOR, sum_operation}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void sum_way(lab *l, const struct way *way, iso_operand x, int64_t n)
{
    json_t *entry = lab_entry(l, way->what, ISO_F32);
    summing s = {.args = ISO_REDUCE_ARGS_INIT, .x = x, .n = n};
    lab_times t;
    float sum = 0;
    const int64_t most = 8 * (int64_t)(l->info.units > 0 ? l->info.units : 1);
    s.groups = (n + ITEMS - 1) / ITEMS;
    s.groups = s.groups > most ? most : s.groups;
    s.groups = s.groups > GROUPS_MOST ? GROUPS_MOST : s.groups;
    lab_case(entry, "n", (double)n);
    iso_status status = lab_buffer(l, 4 * (int64_t)GROUPS_MOST, &s.sums);
    status = status == ISO_OK && way->kernel ? lab_kernel(l, LAB_REDUCTIONS, way->kernel, &s.kernel)
                                             : status;
    s.args.op = ISO_SUM;
    s.args.dtype = ISO_F32;
    s.args.variant = way->variant;
    s.args.cols = n;
    s.args.x = x;
    s.args.result = s.sums;
    status = status == ISO_OK ? lab_time(l, way->work, &s, &t) : status;
    status = status == ISO_OK ? iso_read(l->stream, &sum, s.sums, 4) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    bool on_host = way->work == sum_partials;
    if (lab_ok(l, entry, status) && check_sum(l, entry, on_host ? s.sum : (double)sum, n)) {
        const lab_spread *time = on_host ? &t.wall : &t.kernel;
        lab_figure_of(entry, "kernel", "s", time);
        lab_figure(entry, "rate", "B/s", 4.0 * (double)n / time->median);
        lab_work_of(entry, (double)n, 4.0 * (double)n);
    }
    lab_free(&s.sums, 1);
}

void lab_c5(lab *l)
{
    static const int small[] = {9, 16}, usual[] = {9, 12, 16, 20, 24, 26, 28};
    const int *powers = l->scale == LAB_SMALL ? small : usual;
    int count = l->scale == LAB_SMALL ? 2 : l->on_cpu && l->scale != LAB_FULL ? 6 : 7;
    iso_operand x;
    const int64_t most = INT64_C(1) << powers[count - 1];
    iso_status status = lab_buffer(l, 4 * most, &x);
    status = status == ISO_OK ? lab_write(l, x, 1, ISO_F32, most) : status;
    if (status != ISO_OK) {
        (void)lab_ok(l, lab_entry(l, "all", ISO_F32), status);
    }
    for (int i = 0; i < count && status == ISO_OK; i++) {
        for (int w = 0; w < WAYS; w++) {
            sum_way(l, &ways[w], x, INT64_C(1) << powers[i]);
        }
    }
    lab_free(&x, 1);
}

/* ---- C6 -------------------------------------------------------------------------------------- */

static void limit_memory(lab *l)
{
    const int64_t limit = 64 << 20, asked = 128 << 20;
    json_t *entry = lab_entry(l, "a limit of 64 MiB", 0);
    iso_device_options options = ISO_DEVICE_OPTIONS_INIT;
    iso_device device;
    iso_buffer buffer;
    options.memory_limit = limit;
    if (!lab_ok(l, entry, iso_device_open_with(l->info.spec, &options, &device))) {
        return;
    }
    iso_status status = iso_buffer_create(device, asked, &buffer);
    const char *text = iso_last_error();
    bool names = strstr(text, "134217728") && strstr(text, "67108864");
    if (lab_checked(entry, status == ISO_NO_MEMORY && names,
                    "128 MiB are refused, and the message has both figures")) {
        lab_line(entry, "%s", text);
    }
    (void)iso_device_close(device);
}

static void choose_device(lab *l)
{
    json_t *entry = lab_entry(l, "chosen by uuid", 0);
    char spec[2 * ISO_NAME_MAX + 8];
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_device device;
    if (l->info.uuid[0] == '\0') {
        lab_skip(entry, "the device has no uuid");
        tool_set_text(entry, "status", "unsupported");
        return;
    }
    snprintf(spec, sizeof spec, "%s:uuid=%s", l->info.backend, l->info.uuid);
    iso_status status = iso_device_open(spec, &device);
    status = status == ISO_OK ? iso_device_get_info(device, &info) : status;
    if (lab_ok(l, entry, status)) {
        if (lab_checked(entry, strcmp(info.uuid, l->info.uuid) == 0, "it is the right device")) {
            lab_line(entry, "%s opens %s", spec, info.spec);
        }
        (void)iso_device_close(device);
    }
}

void lab_c6(lab *l)
{
    limit_memory(l);
    choose_device(l);
}
