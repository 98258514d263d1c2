/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_map.c - maps: every element by the arithmetic of docs/arithmetic.md.
 *
 * A chain of thousands of steps is too dear to repeat for every element. A sample is repeated to
 * the bit; all others are held to the closed form. With r' = fma(r, alpha, beta), alpha and beta in
 * (0, 1) and q = beta / (1 - alpha), the exact r after `steps` is q + alpha^steps (x - q). Each
 * step rounds once, by at most u max(|x|, q), and later steps shrink what an earlier one left: in
 * all at most min(steps, 1 / (1 - alpha)) u max(|x|, q), and then one rounding to the stored type.
 */
#include "bench/suite/internal.h"
#include "bench/workload/internal.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { CHUNK = 4096, SAMPLE = 4096 };

#if defined(__x86_64__)
#define FAST        __attribute__((target("avx2,fma")))
#define HAVE_FAST() (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define FAST
#define HAVE_FAST() 0
#endif

typedef struct mapping {
    const work_case *item;
    iso_map_args args;
    const unsigned char *x, *y, *got;
    int64_t stride;        /* chains: between two elements of the sample */
    _Atomic int64_t wrong; /* the first wrong element */
} mapping;

/* fma is a call into the C library where it is no instruction, so the text is compiled twice. */
#define MAP_BODY(T, FMA)                                                                           \
    static inline __attribute__((always_inline)) void map_body_##T(                                \
        iso_map_op op, T alpha, T beta, int64_t steps, const T *restrict x, const T *restrict y,   \
        T *restrict z, int64_t count)                                                              \
    {                                                                                              \
        switch (op) {                                                                              \
        case ISO_MAP_COPY:                                                                         \
            memcpy(z, x, (size_t)count * sizeof *z);                                               \
            break;                                                                                 \
        case ISO_MAP_SCALE:                                                                        \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = alpha * x[i];                                                               \
            break;                                                                                 \
        case ISO_MAP_ADD:                                                                          \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = x[i] + y[i];                                                                \
            break;                                                                                 \
        case ISO_MAP_MULTIPLY:                                                                     \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = x[i] * y[i];                                                                \
            break;                                                                                 \
        case ISO_MAP_TRIAD:                                                                        \
            for (int64_t i = 0; i < count; i++)                                                    \
                z[i] = FMA(alpha, y[i], x[i]);                                                     \
            break;                                                                                 \
        case ISO_MAP_CHAIN:                                                                        \
            memcpy(z, x, (size_t)count * sizeof *z);                                               \
            for (int64_t s = 0; s < steps; s++)                                                    \
                for (int64_t i = 0; i < count; i++)                                                \
                    z[i] = FMA(z[i], alpha, beta);                                                 \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void map_plain_##T(iso_map_op op, T alpha, T beta, int64_t steps, const T *x,           \
                              const T *y, T *z, int64_t count)                                     \
    {                                                                                              \
        map_body_##T(op, alpha, beta, steps, x, y, z, count);                                      \
    }                                                                                              \
    FAST static void map_fast_##T(iso_map_op op, T alpha, T beta, int64_t steps, const T *x,       \
                                  const T *y, T *z, int64_t count)                                 \
    {                                                                                              \
        map_body_##T(op, alpha, beta, steps, x, y, z, count);                                      \
    }

MAP_BODY(float, __builtin_fmaf)
MAP_BODY(double, __builtin_fma)

static void narrow(iso_dtype dtype, const void *element, float *out, int64_t count)
{
    const unsigned char *at = element;
    int64_t size = iso_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)suite_load(dtype, at + i * size);
    }
}

static void expect_short(const mapping *m, const void *x, const void *y, void *z, int64_t count)
{
    const iso_map_args *a = &m->args;
    float in[CHUNK], other[CHUNK], out[CHUNK];
    int64_t size = m->item->element;
    narrow(a->dtype, x, in, count);
    narrow(a->dtype, y, other, count);
    (HAVE_FAST() ? map_fast_float : map_plain_float)(a->op, (float)a->alpha, (float)a->beta,
                                                     a->steps, in, other, out, count);
    for (int64_t i = 0; i < count; i++) {
        suite_store(a->dtype, (unsigned char *)z + i * size, (double)out[i]);
    }
}

#define WHOLE_BODY(T)                                                                              \
    static void whole_##T(iso_map_op op, const T *x, const T *y, T *z, int64_t count)              \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            z[i] = op == ISO_MAP_ADD ? x[i] + y[i] : op == ISO_MAP_MULTIPLY ? x[i] * y[i] : x[i];  \
    }
WHOLE_BODY(uint32_t)
WHOLE_BODY(uint64_t)

/* What the map makes of up to CHUNK elements. */
static void expect(const mapping *m, const void *x, const void *y, void *z, int64_t count)
{
    const iso_map_args *a = &m->args;
    switch (a->dtype) {
    case ISO_F16:
    case ISO_BF16:
        if (a->op == ISO_MAP_COPY) {
            memcpy(z, x, (size_t)(count * m->item->element));
        } else {
            expect_short(m, x, y, z, count);
        }
        break;
    case ISO_F32:
        (HAVE_FAST() ? map_fast_float : map_plain_float)(a->op, (float)a->alpha, (float)a->beta,
                                                         a->steps, x, y, z, count);
        break;
    case ISO_F64:
        (HAVE_FAST() ? map_fast_double : map_plain_double)(a->op, a->alpha, a->beta, a->steps, x, y,
                                                           z, count);
        break;
    case ISO_I32:
        whole_uint32_t(a->op, x, y, z, count);
        break;
    case ISO_I64:
        whole_uint64_t(a->op, x, y, z, count);
        break;
    }
}

static void note_wrong(mapping *m, int64_t at)
{
    int64_t seen = atomic_load(&m->wrong);
    while (at < seen && !atomic_compare_exchange_weak(&m->wrong, &seen, at))
        ;
}

static void check_chunks(void *context, int64_t begin, int64_t end)
{
    mapping *m = context;
    int64_t size = m->item->element;
    _Alignas(64) unsigned char want[CHUNK * 8];
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t first = chunk * CHUNK, left = m->item->elements - first;
        int64_t count = left < CHUNK ? left : CHUNK;
        expect(m, m->x + first * size, m->y + first * size, want, count);
        const unsigned char *got = m->got + first * size;
        if (memcmp(got, want, (size_t)(count * size)) == 0) {
            continue;
        }
        int64_t byte = 0;
        while (got[byte] == want[byte]) {
            byte++;
        }
        note_wrong(m, first + byte / size);
    }
}

/* ---- chains ---------------------------------------------------------------------------------- */

static int64_t sample_at(const mapping *m, int64_t i)
{
    int64_t last = m->item->elements - 1;
    int64_t jitter = (int64_t)(suite_mix(m->item->seed, (uint64_t)i) % (uint64_t)m->stride);
    int64_t at = i * m->stride + jitter;
    return i == 0 ? 0 : at < last ? at : last;
}

static void check_sample(void *context, int64_t begin, int64_t end)
{
    enum { PART = 256 };
    mapping *m = context;
    int64_t size = m->item->element;
    _Alignas(64) unsigned char x[PART * 8], want[PART * 8];
    for (int64_t first = begin; first < end; first += PART) {
        int64_t count = end - first < PART ? end - first : PART;
        for (int64_t i = 0; i < count; i++) {
            memcpy(x + i * size, m->x + sample_at(m, first + i) * size, (size_t)size);
        }
        expect(m, x, x, want, count);
        for (int64_t i = 0; i < count; i++) {
            if (memcmp(m->got + sample_at(m, first + i) * size, want + i * size, (size_t)size) !=
                0) {
                note_wrong(m, sample_at(m, first + i));
            }
        }
    }
}

static void check_closed_form(void *context, int64_t begin, int64_t end)
{
    mapping *m = context;
    const iso_map_args *a = &m->args;
    iso_dtype wide = a->dtype == ISO_F64 ? ISO_F64 : ISO_F32;
    double alpha = a->alpha, settled = a->beta / (1 - alpha);
    double shrunk = exp((double)a->steps * log(alpha));
    double most = fmin((double)a->steps, 1 / (1 - alpha));
    double x[CHUNK], got[CHUNK];
    int64_t size = m->item->element;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t first = chunk * CHUNK, left = m->item->elements - first;
        int64_t count = left < CHUNK ? left : CHUNK;
        work_widen(a->dtype, m->x + first * size, 1, count, x);
        work_widen(a->dtype, m->got + first * size, 1, count, got);
        for (int64_t i = 0; i < count; i++) {
            double want = settled + shrunk * (x[i] - settled);
            double top = fmax(fabs(x[i]), fabs(settled));
            /* The closed form itself is right to a few units of f64 more than a step's. */
            double bound =
                1.01 * (most * suite_roundoff(wide) * top + ((double)a->steps + 8) * 0x1p-52 * top +
                        suite_roundoff(a->dtype) * fabs(want));
            if (!(fabs(got[i] - want) <= bound)) {
                note_wrong(m, first + i);
                break;
            }
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool say_wrong(mapping *m, work_result *result)
{
    _Alignas(64) unsigned char want[16], x[16] = {0}, y[16] = {0};
    int64_t at = atomic_load(&m->wrong), size = m->item->element;
    memcpy(x, m->x + at * size, (size_t)size);
    memcpy(y, m->y + at * size, (size_t)size);
    expect(m, x, y, want, 1);
    double is = suite_load(m->args.dtype, m->got + at * size);
    double should = suite_load(m->args.dtype, want);
    return work_fail(result, "element [%lld] is %.17g, expected exactly %.17g", (long long)at, is,
                     should);
}

bool work_check_map(const work_case *item, work_inputs *inputs, const void *data,
                    work_result *result)
{
    work_needs needs;
    work_args args;
    iso_op_kind kind;
    int64_t there, chunks = (item->elements + CHUNK - 1) / CHUNK;
    work_case_needs(item, &needs);
    work_case_args(item, &kind, &args);
    const unsigned char *block = work_inputs_block(inputs, needs.type, &there);
    mapping m = {.item = item,
                 .args = args.map,
                 .x = block + needs.at[0],
                 .y = block + needs.at[needs.inputs - 1],
                 .got = data,
                 .stride = item->elements > SAMPLE ? item->elements / SAMPLE : 1,
                 .wrong = INT64_MAX};
    if (item->dtype != ISO_F64) { /* as the operation does */
        m.args.alpha = (double)(float)m.args.alpha;
        m.args.beta = (double)(float)m.args.beta;
    }
    result->method = item->map == ISO_MAP_CHAIN ? "bits of a sample, bound" : "bits";
    if (item->map != ISO_MAP_CHAIN) {
        work_parallel(chunks, 16, check_chunks, &m);
    } else {
        work_parallel((item->elements + m.stride - 1) / m.stride, 256, check_sample, &m);
        work_parallel(chunks, 16, check_closed_form, &m);
    }
    return atomic_load(&m.wrong) == INT64_MAX || say_wrong(&m, result);
}
