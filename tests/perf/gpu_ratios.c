/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_ratios.c - the GPU backends' speed as ratios taken in one run, each pair measured turn by
 * turn on one stream:
 *
 *   tiled transpose f32, f64, N = 10240      against a device-to-device copy     at least 90 %
 *   tiled sum f32, 2^28                      against CUB                         at least 95 %
 *   tiled product f32, N = 4096              against cuBLAS                      at least 80 %
 *   tiled product f32, 64 x 64 x 65536       against cuBLAS                      at most 3 times
 *   vendor product f32, f64, N = 4096, 8192  against cuBLAS called directly      within 2 %
 *   through OpenCL: tiled product f32, N = 4096, against CLBlast                 at least 100 %
 *                   vendor products          against CLBlast called directly     at most 2 % slower
 *
 * Medians of ROUNDS rounds; device events on CUDA, the host's clock around a finished call on
 * OpenCL. Inputs are random, and a few elements of each result are checked first. Exit code 1 if a
 * ratio falls short, 77 if there is nothing to compare with.
 *
 *   perf-gpu [cuda|hip|opencl]
 */
#include "tests/perf/gpu_peers.h"
#include "tests/perf/timing.h"

#include <isomer/isomer.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 21, WARM = 3, CHECKED = 48 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != ISO_OK) {                                                                    \
            fprintf(stderr, "perf-gpu: %s\n", iso_last_error());                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct bench {
    const char *backend;
    int by_events;
    iso_device device;
    iso_stream stream;
    iso_event start, stop;
    gpu_peers peers;
    int short_of; /* ratios that fell short */
    int compared;
} bench;

/* What is timed: an operation of ours, or a peer. */
typedef struct job {
    iso_op_kind kind;
    const void *args; /* NULL: the peer */
    int (*peer)(bench *b, const void *context);
    const void *context;
} job;

static void submit(bench *b, const job *j)
{
    if (j->args) {
        CHECK(iso_execute(b->stream, j->kind, j->args));
    } else if (j->peer(b, j->context)) {
        fprintf(stderr, "perf-gpu: a peer's call failed: %s\n", gpu_peers_problem());
        exit(1);
    }
}

static double timed(bench *b, const job *j)
{
    int64_t ns = 0;
    if (!b->by_events) {
        CHECK(iso_stream_sync(b->stream));
        const double from = now();
        submit(b, j);
        CHECK(iso_stream_sync(b->stream));
        return now() - from;
    }
    CHECK(iso_event_record(b->start, b->stream));
    submit(b, j);
    CHECK(iso_event_record(b->stop, b->stream));
    CHECK(iso_event_sync(b->stop));
    CHECK(iso_event_elapsed(b->start, b->stop, &ns));
    return (double)ns * 1e-9;
}

static void both(bench *b, const job *ours, const job *theirs, double *our_time, double *their_time)
{
    double x[ROUNDS], y[ROUNDS];
    for (int r = -WARM; r < ROUNDS; r++) {
        const double tx = timed(b, ours), ty = timed(b, theirs);
        if (r >= 0) {
            x[r] = tx;
            y[r] = ty;
        }
    }
    *our_time = median(x, ROUNDS);
    *their_time = median(y, ROUNDS);
}

/* `least` is the smallest allowed ratio of their time to ours; `most` the largest, or 0. */
static void judge(bench *b, const char *what, const char *peer, double work, const char *unit,
                  double our_time, double their_time, double least, double most)
{
    const double ratio = their_time / our_time;
    const int good = ratio >= least && (most <= 0 || ratio <= most);
    printf("%-7s %-40s %9.1f %s  %-24s %9.1f  %6.1f %%  (at least %.0f%s)  %s\n", b->backend, what,
           work / our_time, unit, peer, work / their_time, 100 * ratio, 100 * least,
           most > 0 ? ", at most 102" : "", good ? "ok" : "SHORT");
    fflush(stdout);
    b->short_of += !good;
    b->compared++;
}

/* ---- data ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t i)
{
    i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
    i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
    return i ^ (i >> 31);
}

static void *random_data(iso_dtype dtype, int64_t count, uint64_t seed)
{
    void *data = malloc((size_t)(count * iso_dtype_size(dtype)));
    if (!data) {
        fprintf(stderr, "perf-gpu: no memory for %lld elements\n", (long long)count);
        exit(1);
    }
    for (int64_t i = 0; i < count; i++) {
        const double x = (double)((int64_t)(mix(seed + (uint64_t)i) >> 40) - (1 << 23)) / (1 << 23);
        if (dtype == ISO_F32) {
            ((float *)data)[i] = (float)x;
        } else {
            ((double *)data)[i] = x;
        }
    }
    return data;
}

static iso_buffer upload(bench *b, const void *data, int64_t bytes)
{
    iso_buffer buffer;
    CHECK(iso_buffer_create(b->device, bytes, &buffer));
    CHECK(iso_write(b->stream, (iso_operand){buffer, 0}, data, bytes));
    CHECK(iso_stream_sync(b->stream));
    return buffer;
}

static iso_buffer room(bench *b, int64_t bytes)
{
    static const uint32_t poison = 0x7fc12345u;
    iso_buffer buffer;
    CHECK(iso_buffer_create(b->device, bytes, &buffer));
    CHECK(iso_fill(b->stream, (iso_operand){buffer, 0}, &poison, 4, bytes));
    return buffer;
}

static double element(const void *data, iso_dtype dtype, int64_t i)
{
    return dtype == ISO_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct product {
    iso_gemm_args args;
    const void *x, *y;
} product;

static void product_check(bench *b, const product *p, const char *what)
{
    const iso_gemm_args *g = &p->args;
    const int64_t size = iso_dtype_size(g->dtype);
    const double eps = g->dtype == ISO_F32 ? 0x1p-24 : 0x1p-53;
    for (int s = 0; s < CHECKED; s++) {
        const int64_t i = (int64_t)s * 997 % g->m, j = ((int64_t)s * 1499 + 7) % g->n;
        double exact = 0, scale = 0, got;
        char bytes[8];
        for (int64_t k = 0; k < g->k; k++) {
            const double t =
                element(p->x, g->dtype, i * g->k + k) * element(p->y, g->dtype, k * g->n + j);
            exact += t;
            scale += fabs(t);
        }
        CHECK(iso_read(b->stream, bytes, (iso_operand){g->c.buffer, (i * g->n + j) * size}, size));
        CHECK(iso_stream_sync(b->stream));
        got = element(bytes, g->dtype, 0);
        if (!(fabs(got - exact) <= 2.0 * (double)g->k * eps * scale)) {
            fprintf(stderr, "perf-gpu: %s: element %lld, %lld is %.17g, not %.17g\n", what,
                    (long long)i, (long long)j, got, exact);
            exit(1);
        }
    }
}

static int peer_product(bench *b, const void *context)
{
    const product *p = context;
    return gpu_peers_gemm(&b->peers, &p->args);
}

static product product_make(bench *b, iso_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    product p = {.args = ISO_GEMM_ARGS_INIT};
    const int64_t size = iso_dtype_size(dtype);
    void *x = random_data(dtype, m * k, 1), *y = random_data(dtype, k * n, 1u << 31);
    p.x = x;
    p.y = y;
    p.args.dtype = dtype;
    p.args.m = m;
    p.args.n = n;
    p.args.k = k;
    p.args.math = ISO_MATH_STRICT;
    p.args.a.buffer = upload(b, x, m * k * size);
    p.args.b.buffer = upload(b, y, k * n * size);
    p.args.c.buffer = room(b, m * n * size);
    return p;
}

static void product_free(product *p)
{
    CHECK(iso_buffer_destroy(p->args.a.buffer));
    CHECK(iso_buffer_destroy(p->args.b.buffer));
    CHECK(iso_buffer_destroy(p->args.c.buffer));
    free((void *)(uintptr_t)p->x);
    free((void *)(uintptr_t)p->y);
}

static void product_compare(bench *b, product *p, iso_variant variant, double least, double most)
{
    char what[128];
    const iso_gemm_args *g = &p->args;
    double ours, theirs;
    p->args.variant = variant;
    snprintf(what, sizeof what, "%s product %s %lldx%lldx%lld", iso_variant_name(variant),
             iso_dtype_name(g->dtype), (long long)g->m, (long long)g->n, (long long)g->k);
    if (iso_supports(b->device, ISO_OP_GEMM, g) != ISO_OK) {
        printf("%-7s %s: %s\n", b->backend, what, iso_last_error());
        return;
    }
    const job our = {.kind = ISO_OP_GEMM, .args = g}, their = {.peer = peer_product, .context = p};
    submit(b, &our);
    product_check(b, p, what);
    submit(b, &their);
    product_check(b, p, "the peer's product");
    both(b, &our, &their, &ours, &theirs);
    judge(b, what, gpu_peers_name(&b->peers), 2e-12 * (double)g->m * (double)g->n * (double)g->k,
          "TFLOP/s", ours, theirs, least, most);
}

static void products(bench *b)
{
    static const struct {
        iso_dtype dtype;
        int64_t m, n, k;
        double tiled; /* 0: only for information */
        int vendor;
    } list[] = {{ISO_F32, 1024, 1024, 1024, 0, 0},    {ISO_F32, 2048, 2048, 2048, 0, 0},
                {ISO_F32, 4096, 4096, 4096, 0.80, 1}, {ISO_F32, 8192, 8192, 8192, 0, 1},
                {ISO_F64, 4096, 4096, 4096, 0, 1},    {ISO_F64, 8192, 8192, 8192, 0, 1},
                {ISO_F32, 64, 64, 65536, 1.0 / 3, 0}};
    const int opencl = !strcmp(b->backend, "opencl");
    if (!gpu_peers_open_gemm(&b->peers)) {
        printf("%-7s products: nothing to compare with: %s\n", b->backend, gpu_peers_problem());
        return;
    }
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        double tiled = list[i].tiled;
        product p = product_make(b, list[i].dtype, list[i].m, list[i].n, list[i].k);
        if (opencl && tiled > 0) {
            tiled = list[i].k == 4096 ? 1.0 : 0;
        }
        product_compare(b, &p, ISO_VARIANT_TILED, tiled, 0);
        if (list[i].vendor) {
            product_compare(b, &p, ISO_VARIANT_VENDOR, 0.98, opencl ? 0 : 1.0 / 0.98);
        }
        product_free(&p);
    }
}

/* ---- transposes against a copy --------------------------------------------------------------- */

static int peer_copy(bench *b, const void *context)
{
    const iso_transpose_args *t = context;
    return gpu_peers_copy(&b->peers, t->to, t->from, t->rows * t->cols * t->element_bytes);
}

static void transpose(bench *b, iso_dtype dtype, int64_t n)
{
    const int64_t size = iso_dtype_size(dtype), bytes = n * n * size;
    void *data = random_data(dtype, n * n, 77);
    char what[128], got[8];
    double ours, theirs;
    iso_transpose_args t = ISO_TRANSPOSE_ARGS_INIT;
    t.variant = ISO_VARIANT_TILED;
    t.element_bytes = size;
    t.rows = t.cols = n;
    t.from.buffer = upload(b, data, bytes);
    t.to.buffer = room(b, bytes);
    CHECK(iso_transpose(b->stream, &t));
    for (int s = 0; s < CHECKED; s++) {
        const int64_t i = (int64_t)s * 7919 % n, j = (int64_t)s * 6007 % n;
        CHECK(iso_read(b->stream, got, (iso_operand){t.to.buffer, (i * n + j) * size}, size));
        CHECK(iso_stream_sync(b->stream));
        if (memcmp(got, (char *)data + (j * n + i) * size, (size_t)size)) {
            fprintf(stderr, "perf-gpu: a transpose is wrong\n");
            exit(1);
        }
    }
    const job our = {.kind = ISO_OP_TRANSPOSE, .args = &t},
              their = {.peer = peer_copy, .context = &t};
    both(b, &our, &their, &ours, &theirs);
    snprintf(what, sizeof what, "tiled transpose %s N = %lld", iso_dtype_name(dtype), (long long)n);
    judge(b, what, "copy", 2e-9 * (double)bytes, "GB/s   ", ours, theirs,
          n == 10240 && b->by_events ? 0.90 : 0, 0);
    CHECK(iso_buffer_destroy(t.from.buffer));
    CHECK(iso_buffer_destroy(t.to.buffer));
    free(data);
}

/* ---- sums against CUB ------------------------------------------------------------------------ */

static int peer_sum(bench *b, const void *context)
{
    const iso_reduce_args *r = context;
    return gpu_peers_sum(&b->peers, r->x, r->result, r->cols, r->dtype);
}

static void sum(bench *b, iso_dtype dtype, int64_t count)
{
    const int64_t size = iso_dtype_size(dtype);
    void *data = random_data(dtype, count, 99);
    char what[128], got[8];
    double exact = 0, ours, theirs;
    iso_reduce_args r = ISO_REDUCE_ARGS_INIT;
    r.op = ISO_SUM;
    r.dtype = dtype;
    r.variant = ISO_VARIANT_TILED;
    r.cols = count;
    r.x.buffer = upload(b, data, count * size);
    r.result.buffer = room(b, 16);
    for (int64_t i = 0; i < count; i++) {
        exact += element(data, dtype, i);
    }
    CHECK(iso_reduce(b->stream, &r));
    CHECK(iso_read(b->stream, got, r.result, size));
    CHECK(iso_stream_sync(b->stream));
    if (!(fabs(element(got, dtype, 0) - exact) <= 1e-6 * (double)count)) {
        fprintf(stderr, "perf-gpu: the sum is %.9g, not %.9g\n", element(got, dtype, 0), exact);
        exit(1);
    }
    const job our = {.kind = ISO_OP_REDUCE, .args = &r}, their = {.peer = peer_sum, .context = &r};
    both(b, &our, &their, &ours, &theirs);
    snprintf(what, sizeof what, "tiled sum %s of %lld", iso_dtype_name(dtype), (long long)count);
    judge(b, what, "CUB", 1e-9 * (double)(count * size), "GB/s   ", ours, theirs,
          count == 1 << 28 && dtype == ISO_F32 ? 0.95 : 0, 0);
    CHECK(iso_buffer_destroy(r.x.buffer));
    CHECK(iso_buffer_destroy(r.result.buffer));
    free(data);
}

int main(int argc, char **argv)
{
    bench b = {.backend = argc > 1 ? argv[1] : "cuda"};
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    if (iso_device_open(b.backend, &b.device) != ISO_OK) {
        printf("SKIP: %s\n", iso_last_error());
        return 77;
    }
    CHECK(iso_device_get_info(b.device, &info));
    if (info.type != ISO_DEVICE_GPU) {
        printf("SKIP: %s is %s, not a GPU\n", info.spec, info.name);
        return 77;
    }
    b.by_events = strcmp(b.backend, "opencl") != 0;
    CHECK(iso_stream_create(b.device, 0, &b.stream));
    CHECK(iso_event_create(b.device, &b.start));
    CHECK(iso_event_create(b.device, &b.stop));
    printf("%s: %s, %s, %s\n", info.spec, info.name, info.driver, info.runtime);
    if (!gpu_peers_open(&b.peers, b.backend, b.device, b.stream)) {
        printf("SKIP: nothing to compare with: %s\n", gpu_peers_problem());
        return 77;
    }
    products(&b);
    static const int64_t sizes[] = {1024, 4096, 10240, 16384};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        transpose(&b, ISO_F32, sizes[i]);
        transpose(&b, ISO_F64, sizes[i]);
    }
    if (b.by_events && gpu_peers_open_sum(&b.peers)) {
        for (int bits = 16; bits <= 28; bits += 4) {
            sum(&b, ISO_F32, (int64_t)1 << bits);
            sum(&b, ISO_F64, (int64_t)1 << bits);
        }
    } else {
        printf("%-7s sums: nothing to compare with: %s\n", b.backend, gpu_peers_problem());
    }
    CHECK(iso_device_close(b.device));
    return b.short_of || !b.compared ? 1 : 0;
}
