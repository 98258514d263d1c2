/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - the check of maps: every element, with the arithmetic of docs/bits.md.
 *
 * Chains that `bench` measures have thousands of steps. Computing them again for every element
 * would take too long. So only a sample of the elements is computed again and compared bit for bit.
 * All elements are compared with the closed form. Let r' = fma(r, alpha, beta), alpha and beta in
 * (0, 1) and q = beta / (1 - alpha). Then the exact r after `steps` is q + alpha^steps (x - q).
 * Each step rounds once, by at most u max(|x|, q), and later steps shrink the errors of earlier
 * ones. So the total error is at most min(steps, 1 / (1 - alpha)) u max(|x|, q), plus one rounding
 * to the stored type.
 */
#include "bench/check/check.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { CHUNK = 2048, SAMPLE = 4096 };

typedef struct mapping {
    const bench_case *item;
    iso_map_args args;
    int64_t size, got_size; /* of an element of x, and of the result */
    int64_t count;          /* of the result's elements */
    iso_dtype type;         /* theirs */
    const unsigned char *x, *y, *got;
    int64_t stride;         /* chains: the distance between two elements of the sample */
    _Atomic int64_t wrong;  /* the first wrong element */
    _Atomic int64_t faults; /* the number of wrong elements */
} mapping;

/* A copy keeps the bits of NaN. */
static bool same(const mapping *m, const unsigned char *got, const unsigned char *want)
{
    return m->args.op == ISO_MAP_COPY ? memcmp(got, want, (size_t)m->got_size) == 0
                                      : check_same_element(m->type, got, want);
}

static void hold(mapping *m, int64_t index, const unsigned char *want)
{
    if (!same(m, m->got + index * m->got_size, want)) {
        arith_note_first(&m->wrong, index);
        atomic_fetch_add(&m->faults, 1);
    }
}

/* Elements first to first + count of an operand as the result has them: its own, or copies in
 * `room` of those that are spread. */
static const unsigned char *spread(const mapping *m, const unsigned char *from, iso_spread how,
                                   int64_t first, int64_t count, unsigned char *room)
{
    if (how == ISO_SPREAD_NONE) {
        return from + first * m->size;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t row = (first + i) / m->args.n, col = (first + i) % m->args.n;
        int64_t at = how == ISO_SPREAD_ROW ? col : how == ISO_SPREAD_COLUMN ? row : 0;
        memcpy(room + i * m->size, from + at * m->size, (size_t)m->size);
    }
    return room;
}

/* The model's elements. */
static void model(const mapping *m, int64_t first, int64_t count, unsigned char *want)
{
    _Alignas(64) unsigned char rooms[2][CHUNK * 8];
    const unsigned char *x = spread(m, m->x, m->args.spread_x, first, count, rooms[0]);
    const unsigned char *y =
        arith_map_has_y(m->args.op) ? spread(m, m->y, m->args.spread_y, first, count, rooms[1]) : x;
    arith_map(&m->args, x, y, m->item->map.w_is_y ? y : x, want, count);
}

static void check_chunks(void *context, int64_t begin, int64_t end)
{
    mapping *m = context;
    _Alignas(64) unsigned char want[CHUNK * 16];
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t first = chunk * CHUNK, left = m->count - first;
        int64_t count = left < CHUNK ? left : CHUNK;
        model(m, first, count, want);
        if (memcmp(m->got + first * m->got_size, want, (size_t)(count * m->got_size)) == 0) {
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            hold(m, first + i, want + i * m->got_size);
        }
    }
}

/* ---- chains ---------------------------------------------------------------------------------- */

static int64_t sample_at(const mapping *m, int64_t i)
{
    int64_t last = m->args.n - 1;
    int64_t jitter = (int64_t)(arith_mix(m->item->seed, (uint64_t)i) % (uint64_t)m->stride);
    int64_t at = i * m->stride + jitter;
    return i == 0 ? 0 : at < last ? at : last;
}

static void check_sample(void *context, int64_t begin, int64_t end)
{
    enum { PART = 256 };
    mapping *m = context;
    int64_t size = m->size;
    _Alignas(64) unsigned char x[PART * 8], want[PART * 8];
    for (int64_t first = begin; first < end; first += PART) {
        int64_t count = end - first < PART ? end - first : PART;
        for (int64_t i = 0; i < count; i++) {
            memcpy(x + i * size, m->x + sample_at(m, first + i) * size, (size_t)size);
        }
        arith_map(&m->args, x, x, x, want, count);
        for (int64_t i = 0; i < count; i++) {
            hold(m, sample_at(m, first + i), want + i * size);
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
    int64_t size = m->size;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t first = chunk * CHUNK, left = m->args.n - first;
        int64_t count = left < CHUNK ? left : CHUNK;
        arith_widen(a->dtype, m->x + first * size, 1, count, x);
        arith_widen(a->dtype, m->got + first * size, 1, count, got);
        for (int64_t i = 0; i < count; i++) {
            double want = settled + shrunk * (x[i] - settled);
            double top = fmax(fabs(x[i]), fabs(settled));
            /* The closed form has errors too: a few roundings of f64 for each step. */
            double bound =
                1.01 * (most * arith_roundoff(wide) * top + ((double)a->steps + 8) * 0x1p-52 * top +
                        arith_roundoff(a->dtype) * fabs(want));
            if (!(fabs(got[i] - want) <= bound)) {
                arith_note_first(&m->wrong, first + i);
                atomic_fetch_add(&m->faults, 1);
            }
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool say_wrong(mapping *m, bench_result *result)
{
    _Alignas(64) unsigned char want[16];
    int64_t at = atomic_load(&m->wrong);
    check_elements all = {m->type, m->got, 1, m->count / m->args.n, m->args.n};
    model(m, at, 1, want);
    return check_say_bits(&all, at, want, atomic_load(&m->faults), result);
}

bool check_map(const bench_case *item, const check_data *data, const void *got,
               bench_result *result)
{
    bench_args args;
    int64_t n = item->map.n * (item->map.rows ? item->map.rows : 1);
    int64_t chunks = (n + CHUNK - 1) / CHUNK;
    item->by->arguments(item, &args);
    mapping m = {.item = item,
                 .args = args.map,
                 .size = item->element,
                 .got_size = item->element,
                 .count = n,
                 .type = item->dtype,
                 .x = data->x,
                 .y = data->y,
                 .got = got,
                 .stride = n > SAMPLE ? n / SAMPLE : 1,
                 .wrong = INT64_MAX};
    if (m.args.dtype_z) {
        m.type = m.args.dtype_z;
        m.got_size = iso_dtype_size(m.type);
    }
    if (item->dtype != ISO_F64) { /* the operation computes in f32 */
        m.args.alpha = (double)(float)m.args.alpha;
        m.args.beta = (double)(float)m.args.beta;
    }
    if (item->samples > 0 && item->map.op == ISO_MAP_CHAIN) {
        result->method = "bits of a sample, bound";
        arith_parallel((n + m.stride - 1) / m.stride, 256, check_sample, &m);
        arith_parallel(chunks, 16, check_closed_form, &m);
    } else {
        result->method = "bits";
        arith_parallel(chunks, 16, check_chunks, &m);
    }
    return atomic_load(&m.wrong) == INT64_MAX || say_wrong(&m, result);
}
