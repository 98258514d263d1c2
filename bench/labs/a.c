/* SPDX-License-Identifier: Apache-2.0 */
/* a.c - the matrix lab: transposes, products, and memory of another library. */
#include "bench/labs/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const iso_dtype types[] = {ISO_F32, ISO_F64};
enum { TYPES = 2, SIDE = 16 };

static int64_t groups_of(int64_t items)
{
    return (items + SIDE - 1) / SIDE;
}

/* ---- A1 -------------------------------------------------------------------------------------- */

/* A variant of the operation, or the student's kernel. */
typedef struct transposing {
    iso_transpose_args args;
    iso_kernel kernel;
    bool own;
} transposing;

static iso_status transpose(lab *l, void *context)
{
    transposing *t = context;
    const int64_t n = t->args.rows;
    const iso_argument arguments[] = {iso_arg_buffer(t->args.from), iso_arg_buffer(t->args.to),
                                      iso_arg_integer(n), iso_arg_integer(n)};
    return t->own ? iso_launch(l->stream, t->kernel, (iso_groups){groups_of(n), groups_of(n), 1},
                               arguments, 4)
                  : iso_transpose(l->stream, &t->args);
}

static bool is_transposed(iso_dtype dtype, const void *from, const void *to, int64_t n)
{
    const uint32_t *f32 = from, *t32 = to;
    const uint64_t *f64 = from, *t64 = to;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (dtype == ISO_F64 ? f64[i * n + j] != t64[j * n + i]
                                 : f32[i * n + j] != t32[j * n + i]) {
                return false;
            }
        }
    }
    return true;
}

static void transpose_way(lab *l, const char *what, iso_variant variant, iso_dtype dtype, int64_t n)
{
    const int64_t bytes = n * n * iso_dtype_size(dtype);
    json_t *entry = lab_entry(l, what, dtype);
    iso_operand at[2] = {{{0}, 0}};
    transposing t = {.args = ISO_TRANSPOSE_ARGS_INIT, .own = !variant};
    lab_times times;
    char name[32];
    lab_case(entry, "n", (double)n);
    if (!lab_fits(l, entry, 2 * bytes, 3 * bytes)) {
        return;
    }
    snprintf(name, sizeof name, "transpose_item_%s", iso_dtype_name(dtype));
    void *got = tool_alloc((size_t)bytes, 1, "a result");
    iso_status status = lab_buffer(l, bytes, &at[0]);
    status = status == ISO_OK ? lab_buffer(l, bytes, &at[1]) : status;
    status = status == ISO_OK ? lab_write(l, at[0], 1, dtype, n * n) : status;
    status = status == ISO_OK && t.own ? lab_kernel(l, LAB_MATRIX, name, &t.kernel) : status;
    t.args.variant = variant;
    t.args.element_bytes = iso_dtype_size(dtype);
    t.args.rows = t.args.cols = n;
    t.args.from = at[0];
    t.args.to = at[1];
    status = status == ISO_OK ? lab_time(l, transpose, &t, &times) : status;
    status = status == ISO_OK ? iso_read(l->stream, got, at[1], bytes) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    if (lab_ok(l, entry, status) &&
        lab_checked(entry, is_transposed(dtype, lab_numbers(l, 1, dtype, n * n), got, n),
                    "every element is equal")) {
        lab_figure_of(entry, "kernel", "s", &times.kernel);
        lab_figure(entry, "rate", "B/s", 2.0 * (double)bytes / times.kernel.median);
        lab_work_of(entry, 0, 2.0 * (double)bytes);
    }
    lab_free(at, 2);
    free(got);
}

void lab_a1(lab *l)
{
    const int64_t small[] = {2, 100}, usual[] = {2, 1000, 10240};
    const int64_t *sizes = l->scale == LAB_SMALL ? small : usual;
    for (int i = 0; i < (l->scale == LAB_SMALL ? 2 : 3); i++) {
        for (int t = 0; t < TYPES; t++) {
            transpose_way(l, "naive", ISO_VARIANT_NAIVE, types[t], sizes[i]);
            transpose_way(l, "the student's", 0, types[t], sizes[i]);
            transpose_way(l, "tiled", ISO_VARIANT_TILED, types[t], sizes[i]);
        }
    }
}

/* ---- A2, A3, A4 ------------------------------------------------------------------------------ */

typedef struct product {
    iso_gemm_args args;
    iso_kernel kernel;
    const char *own; /* the student's kernel, or NULL */
    const void *a, *b;
    void *c;
    int64_t bytes;
} product;

static iso_status multiply(lab *l, void *context)
{
    product *p = context;
    const int64_t n = p->args.n;
    const iso_argument arguments[] = {iso_arg_buffer(p->args.a), iso_arg_buffer(p->args.b),
                                      iso_arg_buffer(p->args.c), iso_arg_integer(n),
                                      iso_arg_integer(n),        iso_arg_integer(n)};
    return p->own ? iso_launch(l->stream, p->kernel, (iso_groups){groups_of(n), groups_of(n), 1},
                               arguments, 6)
                  : iso_gemm(l->stream, &p->args);
}

static iso_status copy_in(lab *l, void *context)
{
    product *p = context;
    iso_status status = iso_write(l->stream, p->args.a, p->a, p->bytes);
    return status == ISO_OK ? iso_write(l->stream, p->args.b, p->b, p->bytes) : status;
}

static iso_status copy_out(lab *l, void *context)
{
    product *p = context;
    return iso_read(l->stream, p->c, p->args.c, p->bytes);
}

static iso_status all(lab *l, void *context)
{
    iso_status status = copy_in(l, context);
    status = status == ISO_OK ? multiply(l, context) : status;
    return status == ISO_OK ? copy_out(l, context) : status;
}

/* Three times, and the median; once if that takes long. */
static iso_status thrice(lab *l, lab_work *work, product *p, lab_spread *out)
{
    const double is_long = 0.5;
    double seconds[3] = {0};
    int32_t count = 0;
    iso_status status = ISO_OK;
    while (count < 3 && status == ISO_OK && (count == 0 || seconds[0] < is_long)) {
        status = lab_once(l, work, p, &seconds[count++]);
    }
    *out = lab_spread_of(seconds, count);
    return status;
}

/* From memory that the device copies fast. */
static iso_status pinned(lab *l, const product *p, lab_spread *out, bool *is_pinned)
{
    void *at[3] = {NULL};
    int32_t fast[3] = {0};
    product q = *p;
    iso_status status = ISO_OK;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = iso_host_alloc(l->device, p->bytes, &at[i], &fast[i]);
    }
    *is_pinned = status == ISO_OK && fast[0] && fast[1] && fast[2];
    if (*is_pinned) {
        memcpy(at[0], p->a, (size_t)p->bytes);
        memcpy(at[1], p->b, (size_t)p->bytes);
        q.a = at[0];
        q.b = at[1];
        q.c = at[2];
        status = thrice(l, all, &q, out);
    }
    for (int i = 0; i < 3 && at[i]; i++) {
        (void)iso_host_free(l->device, at[i]);
    }
    return status;
}

/* Whether a product of this size would take too long, by the time of a smaller one. */
static bool too_long(lab *l, json_t *entry, product *p, int64_t n)
{
    const int64_t less = n / 8;
    double seconds = 0;
    product q = *p;
    if (less < 256) {
        return false;
    }
    q.args.m = q.args.n = q.args.k = less;
    iso_status status = lab_once(l, multiply, &q, &seconds); /* compiles */
    status = status == ISO_OK ? lab_once(l, multiply, &q, &seconds) : status;
    if (status != ISO_OK) {
        return !lab_ok(l, entry, status);
    }
    double expected = 512.0 * seconds;
    if (expected <= lab_patience(l)) {
        return false;
    }
    lab_skip(entry,
             "a product of n = %lld took %.2g s, so this one would take some %.0f s; "
             "--lab-sizes full runs it",
             (long long)less, seconds, expected);
    return true;
}

static void measure(lab *l, json_t *entry, product *p, iso_dtype dtype, int64_t n)
{
    const double flops = 2.0 * (double)n * (double)n * (double)n;
    const double allowed = dtype == ISO_F64 ? 1e-12 : 1e-4;
    lab_spread in, out, total, fast = {0};
    lab_times times;
    bool is_pinned = false;
    double sums, greatest;
    iso_status status = lab_time(l, multiply, p, &times);
    status = status == ISO_OK ? thrice(l, copy_in, p, &in) : status;
    status = status == ISO_OK ? thrice(l, copy_out, p, &out) : status;
    status = status == ISO_OK ? thrice(l, all, p, &total) : status;
    if (!lab_ok(l, entry, status)) {
        return;
    }
    const lab_product *want = lab_product_rows(l, n, n, n);
    lab_product_error(want, dtype, p->c, &sums, &greatest);
    if (!lab_checked(entry, sums <= allowed, "relative error %.2g of %d rows, at most %g", sums,
                     (int)want->rows, allowed)) {
        return;
    }
    lab_figure_of(entry, "copy-in", "s", &in);
    lab_figure_of(entry, "kernel", "s", &times.kernel);
    lab_figure_of(entry, "copy-out", "s", &out);
    lab_figure_of(entry, "total", "s", &total);
    if (!l->on_cpu && !p->own && pinned(l, p, &fast, &is_pinned) == ISO_OK && is_pinned) {
        lab_figure_of(entry, "total-pinned", "s", &fast);
    }
    lab_figure(entry, "rate", "FLOP/s", flops / times.kernel.median);
    lab_figure(entry, "error", "", sums);
    lab_work_of(entry, flops, 3.0 * (double)p->bytes);
}

static void product_way(lab *l, const char *what, iso_variant variant, const char *own,
                        iso_dtype dtype, int64_t n)
{
    json_t *entry = lab_entry(l, what, dtype);
    const int64_t bytes = n * n * iso_dtype_size(dtype);
    iso_operand at[3] = {{{0}, 0}};
    product p = {.args = ISO_GEMM_ARGS_INIT, .own = own, .bytes = bytes};
    char name[32];
    lab_case(entry, "n", (double)n);
    if (!lab_fits(l, entry, 3 * bytes, 5 * bytes)) {
        return;
    }
    iso_status status = ISO_OK;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = lab_buffer(l, bytes, &at[i]);
    }
    p.args.dtype = dtype;
    p.args.variant = variant;
    p.args.m = p.args.n = p.args.k = n;
    p.args.a = at[0];
    p.args.b = at[1];
    p.args.c = at[2];
    if (status == ISO_OK && own) {
        snprintf(name, sizeof name, "%s_%s", own, iso_dtype_name(dtype));
        status = lab_kernel(l, LAB_MATRIX, name, &p.kernel);
    }
    p.a = lab_numbers(l, 1, dtype, n * n);
    p.b = lab_numbers(l, 2, dtype, n * n);
    p.c = tool_alloc((size_t)bytes, 1, "a result");
    status = status == ISO_OK ? copy_in(l, &p) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    if (lab_ok(l, entry, status) && !too_long(l, entry, &p, n)) {
        measure(l, entry, &p, dtype, n);
    }
    lab_free(at, 3);
    free(p.c);
}

static void products(lab *l, const char *what, iso_variant variant, const char *own)
{
    static const int64_t small[] = {32, 97}, cpu[] = {32, 1024, 5120}, usual[] = {32, 5120, 10240},
                         full[] = {32, 5120, 10240, 20480};
    const int64_t *sizes = l->scale == LAB_SMALL  ? small
                           : l->scale == LAB_FULL ? full
                           : l->on_cpu            ? cpu
                                                  : usual;
    int count = l->scale == LAB_SMALL ? 2 : l->scale == LAB_FULL ? 4 : 3;
    for (int i = 0; i < count; i++) {
        for (int t = 0; t < TYPES; t++) {
            product_way(l, what, variant, NULL, types[t], sizes[i]);
            if (own) {
                product_way(l, "the student's", 0, own, types[t], sizes[i]);
            }
        }
    }
}

void lab_a2(lab *l)
{
    products(l, "naive", ISO_VARIANT_NAIVE, "product_item");
}

void lab_a3(lab *l)
{
    products(l, "tiled", ISO_VARIANT_TILED, "product_tile");
}

void lab_a4(lab *l)
{
    products(l, "vendor", ISO_VARIANT_VENDOR, NULL);
}

/* ---- A5 -------------------------------------------------------------------------------------- */

typedef struct wrapping {
    iso_operand owned;
    int64_t n;
    iso_tensor tensor; /* over the same memory */
    iso_operand copy;
} wrapping;

/* The owner exports its memory, as another library would, and we take it. */
static iso_status wrap(lab *l, void *context)
{
    wrapping *w = context;
    iso_tensor from = ISO_TENSOR_INIT;
    void *managed;
    from.dtype = ISO_F32;
    from.buffer = w->owned.buffer;
    from.ndim = 2;
    from.shape[0] = from.shape[1] = w->n;
    if (w->tensor.buffer.id) {
        (void)iso_buffer_destroy(w->tensor.buffer);
    }
    w->tensor = (iso_tensor)ISO_TENSOR_INIT;
    iso_status status = iso_dlpack_export(l->stream, (iso_stream){0}, &from, &managed);
    return status == ISO_OK
               ? iso_dlpack_import(l->stream, managed, ISO_DLPACK_VERSIONED, &w->tensor)
               : status;
}

static iso_status copy(lab *l, void *context)
{
    wrapping *w = context;
    return iso_write(l->stream, w->copy, lab_numbers(l, 1, ISO_F32, w->n * w->n),
                     w->n * w->n * (int64_t)sizeof(float));
}

static iso_status measure_wrapping(lab *l, wrapping *w, lab_spread *wraps, lab_times *copies)
{
    enum { TIMES = 25 };
    double seconds[TIMES];
    iso_status status = copy(l, &(wrapping){.copy = w->owned, .n = w->n});
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    for (int i = 0; i < TIMES && status == ISO_OK; i++) {
        double began = tool_seconds();
        status = wrap(l, w);
        seconds[i] = tool_seconds() - began;
    }
    *wraps = lab_spread_of(seconds, TIMES);
    return status == ISO_OK ? lab_time(l, copy, w, copies) : status;
}

void lab_a5(lab *l)
{
    const int64_t n = l->scale == LAB_SMALL ? 96 : l->on_cpu ? 1024 : 5120, bytes = n * n * 4;
    json_t *entry = lab_entry(l, "DLPack", ISO_F32);
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    wrapping w = {.n = n};
    iso_operand at[3] = {{{0}, 0}};
    lab_spread wraps;
    lab_times copies;
    double sums, greatest;
    lab_case(entry, "n", (double)n);
    float *got = tool_alloc((size_t)bytes, 1, "a result");
    iso_status status = ISO_OK;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = lab_buffer(l, bytes, &at[i]);
    }
    w.owned = at[0];
    w.copy = at[1];
    status = status == ISO_OK ? measure_wrapping(l, &w, &wraps, &copies) : status;
    status = status == ISO_OK ? lab_write(l, at[1], 2, ISO_F32, n * n) : status;
    args.dtype = ISO_F32;
    args.variant = ISO_VARIANT_TILED;
    args.m = args.n = args.k = n;
    args.a = (iso_operand){w.tensor.buffer, w.tensor.offset};
    args.b = at[1];
    args.c = at[2];
    status = status == ISO_OK ? iso_gemm(l->stream, &args) : status;
    status = status == ISO_OK ? iso_read(l->stream, got, at[2], bytes) : status;
    status = status == ISO_OK ? iso_stream_sync(l->stream) : status;
    if (lab_ok(l, entry, status)) {
        lab_product_error(lab_product_rows(l, n, n, n), ISO_F32, got, &sums, &greatest);
        if (lab_checked(entry, sums <= 1e-4, "its product has a relative error of %.2g", sums)) {
            lab_figure_of(entry, "wrap", "s", &wraps);
            lab_figure_of(entry, "copy", "s", &copies.wall);
            lab_figure(entry, "ratio", "", copies.wall.median / wraps.median);
        }
    }
    if (w.tensor.buffer.id) {
        (void)iso_buffer_destroy(w.tensor.buffer);
    }
    lab_free(at, 3);
    free(got);
}
