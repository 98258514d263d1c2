/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - the five stream kernels as plain OpenMP loops: what `naive` is. The dot product is a
 * chain of fma in each thread, as isomer's arithmetic says: an addition alone is a cycle faster. */
#include "bench/peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct arrays {
    double *a, *b, *c;
    float *fa, *fb, *fc;
    int64_t n;
    int kind;
    bool f64;
    double sum;
} arrays;

static const char *const kinds[] = {"copy", "scale", "add", "triad", "dot"};
enum { COPY, SCALE, ADD, TRIAD, DOT, KINDS };

/* The same five loops for either type; c = what is made of a and b. */
#define LOOPS(name, type, A, B, C, FMA)                                                            \
    static int name(void *context)                                                                 \
    {                                                                                              \
        arrays *x = context;                                                                       \
        const type *restrict a = x->A;                                                             \
        const type *restrict b = x->B;                                                             \
        type *restrict c = x->C;                                                                   \
        const type factor = (type)0.4;                                                             \
        type sum = 0;                                                                              \
        int64_t n = x->n;                                                                          \
        switch (x->kind) {                                                                         \
        case COPY:                                                                                 \
            _Pragma("omp parallel for simd schedule(static)") for (int64_t i = 0; i < n; i++)      \
                c[i] = a[i];                                                                       \
            break;                                                                                 \
        case SCALE:                                                                                \
            _Pragma("omp parallel for simd schedule(static)") for (int64_t i = 0; i < n; i++)      \
                c[i] = factor * a[i];                                                              \
            break;                                                                                 \
        case ADD:                                                                                  \
            _Pragma("omp parallel for simd schedule(static)") for (int64_t i = 0; i < n; i++)      \
                c[i] = a[i] + b[i];                                                                \
            break;                                                                                 \
        case TRIAD:                                                                                \
            _Pragma("omp parallel for simd schedule(static)") for (int64_t i = 0; i < n; i++)      \
                c[i] = a[i] + factor * b[i];                                                       \
            break;                                                                                 \
        case DOT:                                                                                  \
            _Pragma("omp parallel for schedule(static) reduction(+ : sum)") for (int64_t i = 0;    \
                                                                                 i < n; i++)       \
            {                                                                                      \
                sum = FMA(a[i], b[i], sum);                                                        \
            }                                                                                      \
            x->sum += (double)sum;                                                                 \
            break;                                                                                 \
        }                                                                                          \
        return 0;                                                                                  \
    }
LOOPS(run_f64, double, a, b, c, fma)
LOOPS(run_f32, float, fa, fb, fc, fmaf)

/* Inputs in one block and the result in another, as isomer's are, and no array at the same place of
 * its page as another: with all three in one block the same loop was up to a tenth faster. */
enum { HUGE_PAGE = 2 << 20, STAGGER = 256 };

/* Each page is first touched by the thread that will use it. */
static void touch(arrays *x, bool f64)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < x->n; i++) {
        uint64_t state = (uint64_t)i * 6364136223846793005u + 1442695040888963407u;
        double value = (double)(state >> 11) * 0x1p-52 - 1;
        if (f64) {
            x->a[i] = value, x->b[i] = -value, x->c[i] = 0;
        } else {
            x->fa[i] = (float)value, x->fb[i] = (float)-value, x->fc[i] = 0;
        }
    }
}

/* Every 997th element, and the last: each is one or two roundings off at most; a sum is not checked
 * beyond its sign, which the inputs give it. */
static peer_check check(void *context)
{
    const arrays *x = context;
    peer_check worst = {"bound", 0, 1};
    bool f64 = x->f64;
    if (x->kind == DOT) {
        return (peer_check){"sign", x->sum < 0 ? 0 : 1, 0};
    }
    for (int64_t i = 0; i < x->n; i = i < x->n - 1 && i + 997 >= x->n ? x->n - 1 : i + 997) {
        double a = f64 ? x->a[i] : (double)x->fa[i], b = f64 ? x->b[i] : (double)x->fb[i];
        double got = f64 ? x->c[i] : (double)x->fc[i];
        double factor = f64 ? 0.4 : (double)0.4f;
        double want = x->kind == COPY    ? a
                      : x->kind == SCALE ? factor * a
                      : x->kind == ADD   ? a + b
                                         : a + factor * b;
        double bound = 4 * (f64 ? 0x1p-53 : 0x1p-24) * (fabs(a) + fabs(b));
        if (!(fabs(got - want) / bound <= worst.error / worst.bound)) {
            worst = (peer_check){"bound", fabs(got - want), bound};
        }
    }
    return worst;
}

static void measure(int64_t n, bool f64)
{
    static const double flops[KINDS] = {0, 1, 1, 2, 2}, read[KINDS] = {1, 1, 2, 2, 2};
    size_t size = f64 ? 8 : 4, bytes = (size_t)n * size;
    size_t apart = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + STAGGER;
    char *inputs = peer_memory(2 * apart), *result = peer_memory(bytes);
    void *arrays_at[3] = {inputs + STAGGER, inputs + STAGGER + apart, result};
    arrays x = {.n = n, .f64 = f64};
    x.a = arrays_at[0], x.b = arrays_at[1], x.c = arrays_at[2];
    x.fa = arrays_at[0], x.fb = arrays_at[1], x.fc = arrays_at[2];
    touch(&x, f64);
    for (x.kind = 0; x.kind < KINDS; x.kind++) {
        double written = x.kind == DOT ? (double)size : (double)bytes;
        peer_measure(&(peer_case){"stream", kinds[x.kind], "naive", f64 ? "f64" : "f32", n,
                                  flops[x.kind] * (double)n, read[x.kind] * (double)bytes, written},
                     &(peer_work){f64 ? run_f64 : run_f32, NULL, check, &x});
    }
    free(inputs);
    free(result);
}

int main(int argc, char **argv)
{
    static const int64_t defaults[] = {1 << 24, 0};
    peer_options options;
    peer_parse(argc, argv, defaults, &options);
    peer_begin("peer-stream", "openmp:0", "host", "plain OpenMP loops");
    for (int i = 0; i < options.size_count; i++) {
        if (options.f32) {
            measure(options.sizes[i], false);
        }
        if (options.f64) {
            measure(options.sizes[i], true);
        }
    }
    return peer_end();
}
