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
#include "bench/arith/arith.h"
#include "bench/workload/internal.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { CHUNK = 4096, SAMPLE = 4096 };

typedef struct mapping {
    const work_case *item;
    iso_map_args args;
    const unsigned char *x, *y, *got;
    int64_t stride;        /* chains: between two elements of the sample */
    _Atomic int64_t wrong; /* the first wrong element */
} mapping;

static void check_chunks(void *context, int64_t begin, int64_t end)
{
    mapping *m = context;
    int64_t size = m->item->element;
    _Alignas(64) unsigned char want[CHUNK * 8];
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t first = chunk * CHUNK, left = m->item->elements - first;
        int64_t count = left < CHUNK ? left : CHUNK;
        arith_map(&m->args, m->x + first * size, m->y + first * size, want, count);
        const unsigned char *got = m->got + first * size;
        if (memcmp(got, want, (size_t)(count * size)) == 0) {
            continue;
        }
        int64_t byte = 0;
        while (got[byte] == want[byte]) {
            byte++;
        }
        work_note_first(&m->wrong, first + byte / size);
    }
}

/* ---- chains ---------------------------------------------------------------------------------- */

static int64_t sample_at(const mapping *m, int64_t i)
{
    int64_t last = m->item->elements - 1;
    int64_t jitter = (int64_t)(arith_mix(m->item->seed, (uint64_t)i) % (uint64_t)m->stride);
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
        arith_map(&m->args, x, x, want, count);
        for (int64_t i = 0; i < count; i++) {
            if (memcmp(m->got + sample_at(m, first + i) * size, want + i * size, (size_t)size) !=
                0) {
                work_note_first(&m->wrong, sample_at(m, first + i));
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
        arith_widen(a->dtype, m->x + first * size, 1, count, x);
        arith_widen(a->dtype, m->got + first * size, 1, count, got);
        for (int64_t i = 0; i < count; i++) {
            double want = settled + shrunk * (x[i] - settled);
            double top = fmax(fabs(x[i]), fabs(settled));
            /* The closed form itself is right to a few units of f64 more than a step's. */
            double bound =
                1.01 * (most * arith_roundoff(wide) * top + ((double)a->steps + 8) * 0x1p-52 * top +
                        arith_roundoff(a->dtype) * fabs(want));
            if (!(fabs(got[i] - want) <= bound)) {
                work_note_first(&m->wrong, first + i);
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
    arith_map(&m->args, x, y, want, 1);
    double is = arith_load(m->args.dtype, m->got + at * size);
    double should = arith_load(m->args.dtype, want);
    return work_fail(result, "element [%lld] is %.17g, expected exactly %.17g", (long long)at, is,
                     should);
}

bool work_check_map(const work_case *item, work_inputs *inputs, const void *data,
                    work_result *result)
{
    work_needs needs;
    work_args args;
    int64_t there, chunks = (item->elements + CHUNK - 1) / CHUNK;
    work_case_needs(item, &needs);
    item->op->arguments(item, &args);
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
