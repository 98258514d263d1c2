/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - the processor's own limits. On a processor without the vector sets below the plain
 * loops are used. */
#include "tests/perf/peers.h"

#include <omp.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static volatile float sink;

double peer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each body does STEPS x CHAINS vector operations. 12 independent chains hide the latency of two
 * units. */
enum { STEPS = 5000000, CHAINS = 12 };

#if defined(__x86_64__)
/* The chains start from different values; otherwise a compiler may merge them. */
#define CHAIN_BODY(vector, set1, fmadd)                                                            \
    vector x = set1(0.9999f), y = set1(0.0001f);                                                   \
    vector a0 = set1(0.1f), a1 = set1(0.2f), a2 = set1(0.3f), a3 = set1(0.4f);                     \
    vector a4 = set1(0.5f), a5 = set1(0.6f), a6 = set1(0.7f), a7 = set1(0.8f);                     \
    vector a8 = set1(1.1f), a9 = set1(1.2f), aa = set1(1.3f), ab = set1(1.4f);                     \
    for (int i = 0; i < STEPS; i++) {                                                              \
        a0 = fmadd(a0, x, y);                                                                      \
        a1 = fmadd(a1, x, y);                                                                      \
        a2 = fmadd(a2, x, y);                                                                      \
        a3 = fmadd(a3, x, y);                                                                      \
        a4 = fmadd(a4, x, y);                                                                      \
        a5 = fmadd(a5, x, y);                                                                      \
        a6 = fmadd(a6, x, y);                                                                      \
        a7 = fmadd(a7, x, y);                                                                      \
        a8 = fmadd(a8, x, y);                                                                      \
        a9 = fmadd(a9, x, y);                                                                      \
        aa = fmadd(aa, x, y);                                                                      \
        ab = fmadd(ab, x, y);                                                                      \
    }

__attribute__((target("avx512f"))) static float chain_avx512(void)
{
    CHAIN_BODY(__m512, _mm512_set1_ps, _mm512_fmadd_ps)
    __m512 s = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + aa + ab;
    return _mm512_reduce_add_ps(s);
}

__attribute__((target("avx2,fma"))) static float chain_avx2(void)
{
    CHAIN_BODY(__m256, _mm256_set1_ps, _mm256_fmadd_ps)
    __m256 s = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + aa + ab;
    return s[0] + s[1];
}

__attribute__((target("avx512f"))) static float read_avx512(const float *p, int64_t n)
{
    __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        a = _mm512_add_ps(a, _mm512_loadu_ps(p + i));
        b = _mm512_add_ps(b, _mm512_loadu_ps(p + i + 16));
        c = _mm512_add_ps(c, _mm512_loadu_ps(p + i + 32));
        d = _mm512_add_ps(d, _mm512_loadu_ps(p + i + 48));
    }
    return _mm512_reduce_add_ps(a + b + c + d);
}

__attribute__((target("avx2"))) static float read_avx2(const float *p, int64_t n)
{
    __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a = _mm256_add_ps(a, _mm256_loadu_ps(p + i));
        b = _mm256_add_ps(b, _mm256_loadu_ps(p + i + 8));
        c = _mm256_add_ps(c, _mm256_loadu_ps(p + i + 16));
        d = _mm256_add_ps(d, _mm256_loadu_ps(p + i + 24));
    }
    __m256 s = a + b + c + d;
    return s[0] + s[7];
}
#endif

static float read_plain(const float *p, int64_t n)
{
    float lanes[32] = {0};
    for (int64_t i = 0; i + 32 <= n; i += 32) {
        for (int j = 0; j < 32; j++) {
            lanes[j] += p[i + j];
        }
    }
    return lanes[0] + lanes[31];
}

static float chain_plain(void)
{
    float lanes[16];
    for (int j = 0; j < 16; j++) {
        lanes[j] = (float)j;
    }
    for (int i = 0; i < STEPS; i++) {
        for (int j = 0; j < 16; j++) {
            lanes[j] = __builtin_fmaf(lanes[j], 0.9999f, 0.0001f);
        }
    }
    return lanes[0] + lanes[15];
}

static int width(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        return 16;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return 8;
    }
#endif
    return 1;
}

const char *peer_isa(void)
{
    return width() == 16 ? "avx512" : width() == 8 ? "avx2" : "plain C";
}

static float chain(int w)
{
#if defined(__x86_64__)
    if (w == 16) {
        return chain_avx512();
    }
    if (w == 8) {
        return chain_avx2();
    }
#endif
    (void)w;
    return chain_plain();
}

static float read_part(const float *p, int64_t n, int w)
{
#if defined(__x86_64__)
    if (w == 16) {
        return read_avx512(p, n);
    }
    if (w == 8) {
        return read_avx2(p, n);
    }
#endif
    (void)w;
    return read_plain(p, n);
}

double peer_fma_peak(int threads)
{
    const int w = width();
    float total = 0;
    const double start = peer_now();
#pragma omp parallel num_threads(threads) reduction(+ : total)
    total += chain(w);
    const double seconds = peer_now() - start;
    sink = total;
    const double per_thread = w == 1 ? 2.0 * 16 * STEPS : 2.0 * w * STEPS * CHAINS;
    return per_thread * threads / seconds / 1e9;
}

double peer_read(const float *data, int64_t count, int threads)
{
    const int w = width();
    float total = 0;
    const double start = peer_now();
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        const int64_t n = omp_get_num_threads(), t = omp_get_thread_num();
        const int64_t from = count / n * t, to = t == n - 1 ? count : count / n * (t + 1);
        total += read_part(data + from, to - from, w);
    }
    const double seconds = peer_now() - start;
    sink = total;
    return seconds;
}
