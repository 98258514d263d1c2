/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_ratios.c - the CPU backend's speed as ratios taken in one run, each pair measured turn by
 * turn:
 *
 *   vendor product (f32, N = 2048)   against the processor's FMA peak       at least 80 %
 *   tiled product  (f32, N = 2048)   against the vendor's                   at least 60 %
 *   tiled sum      (f32, 2^27)       against a plain vectorised read        at least 85 %
 *
 * Medians of ROUNDS rounds of device times. Results are checked first. Exit code 1 if one falls
 * short, 77 if there is no vendor library to compare with.
 */
#include "tests/perf/peers.h"

#include <isomer/isomer.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The peers' OpenMP threads spin for a while after a parallel region: they must be asleep before
 * the next sample. */
enum { ROUNDS = 15, N = 2048, REST_US = 20000 };
static const int64_t COUNT = (int64_t)1 << 27;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != ISO_OK) {                                                                    \
            fprintf(stderr, "perf-cpu: %s\n", iso_last_error());                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct bench {
    iso_device device;
    iso_stream stream;
    iso_event start, stop;
} bench;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples)
{
    qsort(samples, ROUNDS, sizeof *samples, by_value);
    return samples[ROUNDS / 2];
}

/* Small pseudo-random values, never zero: some processors are faster on zeros. */
static void fill(float *p, int64_t n)
{
    uint32_t state = 12345;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (float)(int32_t)(state >> 8) / 16777216.0f - 0.5f;
    }
}

static double timed(bench *b, iso_op_kind kind, const void *args)
{
    int64_t ns = 0;
    CHECK(iso_event_record(b->start, b->stream));
    CHECK(iso_execute(b->stream, kind, args));
    CHECK(iso_event_record(b->stop, b->stream));
    CHECK(iso_event_sync(b->stop));
    CHECK(iso_event_elapsed(b->start, b->stop, &ns));
    return (double)ns * 1e-9;
}

static iso_buffer upload(bench *b, const void *data, int64_t bytes)
{
    iso_buffer buffer;
    CHECK(iso_buffer_create(b->device, bytes, &buffer));
    CHECK(iso_write(b->stream, (iso_operand){buffer, 0}, data, bytes));
    CHECK(iso_stream_sync(b->stream));
    return buffer;
}

/* A handful of elements against f64: a fast wrong product must not count. */
static int product_is_right(bench *b, const iso_gemm_args *args, const float *x, const float *y)
{
    float *c = malloc((size_t)N * N * sizeof *c);
    CHECK(iso_execute(b->stream, ISO_OP_GEMM, args));
    CHECK(iso_read(b->stream, c, args->c, (int64_t)N * N * 4));
    CHECK(iso_stream_sync(b->stream));
    int right = 1;
    for (int s = 0; s < 64; s++) {
        const int i = s * 997 % N, j = s * 1499 % N;
        double exact = 0, size = 0;
        for (int k = 0; k < N; k++) {
            exact += (double)x[i * N + k] * y[k * N + j];
            size += fabs((double)x[i * N + k] * y[k * N + j]);
        }
        right &= fabs(exact - (double)c[i * N + j]) <= 2.0 * N * 0x1p-24 * size;
    }
    free(c);
    return right;
}

static int products(bench *b, int threads)
{
    const int64_t bytes = (int64_t)N * N * 4;
    float *x = malloc((size_t)bytes), *y = malloc((size_t)bytes);
    fill(x, (int64_t)N * N);
    fill(y, (int64_t)N * N);
    iso_gemm_args vendor = ISO_GEMM_ARGS_INIT;
    vendor.dtype = ISO_F32;
    vendor.variant = ISO_VARIANT_VENDOR;
    vendor.m = vendor.n = vendor.k = N;
    vendor.a.buffer = upload(b, x, bytes);
    vendor.b.buffer = upload(b, y, bytes);
    CHECK(iso_buffer_create(b->device, bytes, &vendor.c.buffer));
    iso_gemm_args tiled = vendor;
    tiled.variant = ISO_VARIANT_TILED;
    if (iso_supports(b->device, ISO_OP_GEMM, &vendor) != ISO_OK) {
        printf("vendor product: %s\n", iso_last_error());
        exit(77);
    }
    iso_op_info info = ISO_OP_INFO_INIT;
    CHECK(iso_describe(b->device, ISO_OP_GEMM, &vendor, &info));
    if (!product_is_right(b, &vendor, x, y) || !product_is_right(b, &tiled, x, y)) {
        fprintf(stderr, "perf-cpu: a product is wrong\n");
        exit(1);
    }
    double peak[ROUNDS], of_vendor[ROUNDS], of_tiled[ROUNDS];
    const double flops = 2.0 * N * N * N / 1e9;
    for (int r = 0; r < ROUNDS; r++) {
        peak[r] = peer_fma_peak(threads);
        usleep(REST_US);
        of_vendor[r] = flops / timed(b, ISO_OP_GEMM, &vendor);
        of_tiled[r] = flops / timed(b, ISO_OP_GEMM, &tiled);
    }
    const double p = median(peak), v = median(of_vendor), t = median(of_tiled);
    printf("FMA peak f32 (%s, %d threads)  %8.1f GFLOP/s\n", peer_isa(), threads, p);
    printf("vendor N=%d (%s)  %8.1f GFLOP/s  %5.1f %% of the peak (80)\n", N, info.library, v,
           100 * v / p);
    printf("tiled  N=%d  %8.1f GFLOP/s  %5.1f %% of the vendor's (60)\n", N, t, 100 * t / v);
    CHECK(iso_buffer_destroy(vendor.a.buffer));
    CHECK(iso_buffer_destroy(vendor.b.buffer));
    CHECK(iso_buffer_destroy(vendor.c.buffer));
    free(x);
    free(y);
    return v >= 0.80 * p && t >= 0.60 * v;
}

static int sums(bench *b, int threads)
{
    float *x = aligned_alloc(1 << 21, (size_t)COUNT * sizeof *x);
    madvise(x, (size_t)COUNT * sizeof *x, MADV_HUGEPAGE);
    fill(x, COUNT);
    double exact = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        exact += (double)x[i];
    }
    iso_reduce_args sum = ISO_REDUCE_ARGS_INIT;
    sum.op = ISO_SUM;
    sum.dtype = ISO_F32;
    sum.variant = ISO_VARIANT_TILED;
    sum.cols = COUNT;
    sum.x.buffer = upload(b, x, COUNT * 4);
    CHECK(iso_buffer_create(b->device, 4, &sum.result.buffer));
    float got = 0;
    CHECK(iso_reduce(b->stream, &sum));
    CHECK(iso_read(b->stream, &got, sum.result, 4));
    CHECK(iso_stream_sync(b->stream));
    if (!(fabs(exact - (double)got) <= 1e-6 * 0.25 * (double)COUNT)) {
        fprintf(stderr, "perf-cpu: the sum is %.9g, not %.9g\n", (double)got, exact);
        exit(1);
    }
    double read[ROUNDS], reduced[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        read[r] = peer_read(x, COUNT, threads);
        usleep(REST_US);
        reduced[r] = timed(b, ISO_OP_REDUCE, &sum);
    }
    const double bytes = 4e-9 * (double)COUNT, p = median(read), t = median(reduced);
    printf("plain read of 2^27 f32  %8.1f GB/s\n", bytes / p);
    printf("tiled sum of 2^27 f32   %8.1f GB/s  %5.1f %% of the read (85)\n", bytes / t,
           100 * p / t);
    CHECK(iso_buffer_destroy(sum.x.buffer));
    CHECK(iso_buffer_destroy(sum.result.buffer));
    free(x);
    return p >= 0.85 * t;
}

int main(void)
{
    bench b;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    CHECK(iso_device_open("openmp", &b.device));
    CHECK(iso_device_get_info(b.device, &info));
    CHECK(iso_stream_create(b.device, 0, &b.stream));
    CHECK(iso_event_create(b.device, &b.start));
    CHECK(iso_event_create(b.device, &b.stop));
    printf("%s, %d threads\n", info.name, info.threads);
    const int good = products(&b, info.threads) & sums(&b, info.threads);
    CHECK(iso_device_close(b.device));
    return good ? 0 : 1;
}
