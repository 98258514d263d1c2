/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - the five bandwidth kernels as plain OpenMP loops, like isomer's `naive`. The dot
 * product is a chain of fma in each thread, because isomer's arithmetic requires that. A chain of
 * additions would be a cycle faster per step. */
#include "bench/peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct arrays {
    void *a, *b, *c;
    int64_t n;
    int kind;
    bool f64;
    double sum;
} arrays;

static const char *const kinds[] = {"copy", "scale", "add", "triad", "dot"};
enum { COPY, SCALE, ADD, TRIAD, DOT, KINDS };

/* The same five loops for either type. */
#define LOOPS(name, type, FMA)                                                                     \
    static int name(void *context)                                                                 \
    {                                                                                              \
        arrays *x = context;                                                                       \
        const type *restrict a = x->a;                                                             \
        const type *restrict b = x->b;                                                             \
        type *restrict c = x->c;                                                                   \
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
LOOPS(run_f64, double, fma)
LOOPS(run_f32, float, fmaf)

/* As in isomer, the inputs share a block, the result has its own, and each array begins at a
 * different offset in its page. This matters: with all three in one block, the same loop was up to
 * a tenth faster. */
enum { HUGE_PAGE = 2 << 20, STAGGER = 256 };

/* Fills the arrays. Each page is touched first by the thread that will use it. */
static void touch(const arrays *x)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < x->n; i++) {
        uint64_t state = (uint64_t)i * 6364136223846793005u + 1442695040888963407u;
        double value = (double)(state >> 11) * 0x1p-52 - 1;
        if (x->f64) {
            ((double *)x->a)[i] = value, ((double *)x->b)[i] = -value, ((double *)x->c)[i] = 0;
        } else {
            float small = (float)value;
            ((float *)x->a)[i] = small, ((float *)x->b)[i] = -small, ((float *)x->c)[i] = 0;
        }
    }
}

/* Checks every 997th element and the last. Each may be off by one or two roundings. Of a dot
 * product only the sign is checked: these inputs make it negative. */
static peer_check check(void *context)
{
    const arrays *x = context;
    peer_check worst = {"bound", 0, 1};
    bool f64 = x->f64;
    if (x->kind == DOT) {
        return (peer_check){"sign", x->sum < 0 ? 0 : 1, 0};
    }
    for (int64_t i = 0; i < x->n; i = i < x->n - 1 && i + 997 >= x->n ? x->n - 1 : i + 997) {
        double a = peer_at(x->a, i, f64), b = peer_at(x->b, i, f64), got = peer_at(x->c, i, f64);
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
    arrays x = {inputs + STAGGER, inputs + STAGGER + apart, result, .n = n, .f64 = f64};
    touch(&x);
    for (x.kind = 0; x.kind < KINDS; x.kind++) {
        double written = x.kind == DOT ? (double)size : (double)bytes;
        peer_measure(&(peer_case){"stream", kinds[x.kind], "naive", true, f64, n,
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
    peer_each(&options, measure);
    return peer_end();
}
