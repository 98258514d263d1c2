/* SPDX-License-Identifier: Apache-2.0 */
/* comm_data.c - the inputs of a case of `isomer verify --comm`, and what the results must be. */
#include "bench/verify/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 12, PAD = 3 /* elements between terms */, THEMES = 9 };

static bool sums(const comm_shape *c)
{
    return c->op == ISO_COMM_ALL_REDUCE || c->op == ISO_COMM_REDUCE_SCATTER;
}

static bool is_fixed(const comm_problem *p)
{
    return p->item->comm.sum == ISO_COMM_SUM_FIXED;
}

static iso_dtype type_of(const comm_problem *p)
{
    return p->item->dtype ? p->item->dtype : ISO_I32;
}

static unsigned char *row_at(const comm_problem *p, int call, int32_t row)
{
    return (unsigned char *)p->inputs.data +
           ((int64_t)call * p->rows + row) * p->row * iso_dtype_size(type_of(p));
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static double largest(iso_dtype dtype)
{
    return dtype == ISO_F16    ? 65504
           : dtype == ISO_BF16 ? 0x1.fep127
           : dtype == ISO_F32  ? 0x1.fffffep127
                               : 0x1.fffffffffffffp1023;
}

/* Values of a theme: those that meet in one element are of the same one, so that a NaN does not
 * hide all the others. */
static double special(iso_dtype dtype, int64_t theme, uint64_t mix)
{
    const double sign = mix & 1 ? -1 : 1, uniform = (double)(mix >> 40) * 0x1p-24 * sign;
    const double smallest = arith_half_smallest(dtype) * (dtype == ISO_F64 ? 1 : 2);
    const bool rare = (mix >> 8 & 3) == 0;
    const int range = dtype == ISO_F16 ? 12 : dtype == ISO_F64 ? 900 : 110;
    switch (theme) {
    case 0: /* sums overflow */
        return sign * largest(dtype);
    case 1:
        return rare ? (double)INFINITY : uniform;
    case 2:
        return rare ? -(double)INFINITY : uniform;
    case 3: /* both signs */
        return rare ? sign * (double)INFINITY : uniform;
    case 4:
        return rare ? (double)NAN : uniform;
    case 5:
        return sign * 0.0;
    case 6:
        return sign * smallest * (double)(mix >> 16 & 15);
    case 7:
        return -0.0;
    default: /* of every size */
        return ldexp(1 + fabs(uniform), (int)(mix >> 16 & 0xffff) % (2 * range) - range) * sign;
    }
}

static void fill_special(iso_dtype dtype, uint64_t seed, int64_t count, unsigned char *out)
{
    if (!arith_is_float(dtype)) {
        arith_generate(dtype, ARITH_EXTREMES, seed, count, out);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        arith_store(dtype, out + i * iso_dtype_size(dtype),
                    special(dtype, i % THEMES, arith_mix(seed, (uint64_t)i)));
    }
}

/* Uniform numbers have their last bits in the same place, so that sums of a few are exact. */
static void spread(iso_dtype dtype, uint64_t seed, int64_t count, unsigned char *out)
{
    const int64_t bytes = iso_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++, out += bytes) {
        const int by = (int)(arith_mix(~seed, (uint64_t)i) >> 33) % (bytes == 2 ? 16 : 8);
        arith_store(dtype, out, ldexp(arith_load(dtype, out), -by));
    }
}

static void fill_row(const comm_problem *p, int call, int32_t row)
{
    const bench_case *item = p->item;
    const uint64_t seed = item->seed + 1000003u * (uint64_t)(call + 1) + (uint64_t)row;
    unsigned char *out = row_at(p, call, row);
    if (is_fixed(p) && row >= TERMS) { /* more ranks than terms: zeros change no sum */
        memset(out, 0, (size_t)(p->row * item->element));
    } else if (item->comm.special) {
        fill_special(item->dtype, seed, p->row, out);
    } else {
        arith_generate(type_of(p), item->fill, seed, p->row, out);
        if (verify_comm_spreads(item)) {
            spread(item->dtype, seed, p->row, out);
        }
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void reckon(const comm_problem *p, int call, const void **rows)
{
    const bench_case *item = p->item;
    const iso_reduce_op op = item->comm.reduce;
    unsigned char *out = (unsigned char *)p->sums.data + call * p->results * item->element;
    check_expected *bounds = (check_expected *)p->bounds.data + call * p->results;
    for (int32_t r = 0; r < p->rows; r++) {
        rows[r] = row_at(p, call, r);
    }
    if (is_fixed(p)) {
        arith_fixed_terms(item->dtype, rows, p->rows, p->results, out);
        return;
    }
    arith_ordered(op, item->dtype, rows, p->rows, p->results, out);
    for (int64_t i = 0; i < p->results && !p->exact; i++) {
        bounds[i] = (check_expected){0};
        arith_any_order(op, item->dtype, rows, p->rows, i, &bounds[i].want, &bounds[i].bound);
    }
}

static bool has_bits(const bench_case *item)
{
    const iso_reduce_op op = item->comm.reduce;
    return item->comm.sum != ISO_COMM_SUM_VENDOR || !sums(&item->comm) ||
           !arith_is_float(item->dtype) || op == ISO_MIN || op == ISO_MAX;
}

bool comm_build(comm_problem *p, const bench_case *item)
{
    const comm_shape *c = &item->comm;
    const bool many = c->op == ISO_COMM_REDUCE_SCATTER || c->op == ISO_COMM_ALL_TO_ALL;
    p->item = item;
    p->calls = c->way == COMM_ONCE || c->way == COMM_THREAD || c->way == COMM_AFTER ? 1
               : c->way == COMM_GROUP                                               ? 3
                                                                                    : COMM_CALLS;
    p->row = c->count * (many ? c->ranks : 1);
    p->rows = is_fixed(p) && c->ranks < TERMS ? TERMS : c->ranks;
    p->results = sums(c) ? p->row : 0;
    p->exact = has_bits(item);
    const int64_t element = iso_dtype_size(type_of(p));
    const void **rows = malloc((size_t)p->rows * sizeof *rows);
    bool ok =
        rows && verify_grow(&p->inputs, p->calls * p->rows * p->row * element + 1) &&
        verify_grow(&p->sums, p->calls * p->results * element + 1) &&
        (p->exact ||
         verify_grow(&p->bounds, p->calls * p->results * (int64_t)sizeof(check_expected) + 1));
    for (int call = 0; ok && call < p->calls; call++) {
        for (int32_t r = 0; r < p->rows; r++) {
            fill_row(p, call, r);
        }
        if (p->results > 0) {
            reckon(p, call, rows);
        }
    }
    free(rows);
    return ok;
}

void comm_free(comm_problem *p)
{
    free(p->inputs.data);
    free(p->sums.data);
    free(p->bounds.data);
}

/* Every rank has a term; later ranks have more. */
int32_t comm_first_term(const comm_problem *p, int32_t rank)
{
    const int32_t ranks = p->item->comm.ranks;
    return is_fixed(p) ? rank + (p->rows - ranks) * rank * (rank + 1) / (ranks * (ranks + 1))
                       : rank;
}

/* ---- layouts --------------------------------------------------------------------------------- */

static bool gives(const comm_shape *c, int32_t rank)
{
    return c->op == ISO_COMM_BROADCAST ? rank == c->peer
           : c->pair                   ? rank == c->sender
                                       : c->op != ISO_COMM_BARRIER;
}

static bool gets(const comm_shape *c, int32_t rank)
{
    return c->pair ? rank == c->peer : c->op != ISO_COMM_BARRIER;
}

void comm_lay(const comm_problem *p, int32_t rank, comm_layout *out)
{
    const comm_shape *c = &p->item->comm;
    const int64_t element = iso_dtype_size(type_of(p)), part = c->count * element;
    const bool many = c->op == ISO_COMM_ALL_GATHER || c->op == ISO_COMM_ALL_TO_ALL;
    int64_t begin = VERIFY_GUARD + c->offset * element;
    *out = (comm_layout){.terms = 1, .ld = p->row, .from_at = begin};
    if (is_fixed(p)) {
        out->terms = comm_first_term(p, rank + 1) - comm_first_term(p, rank);
        out->ld = p->row + (out->terms > 1 ? PAD : 0);
    }
    if (gives(c, rank)) {
        out->from_bytes = ((out->terms - 1) * out->ld + p->row) * element;
    }
    out->to_bytes = gets(c, rank) ? part * (many ? c->ranks : 1) : 0;
    if (!c->in_place) {
        begin += 2 * element * c->offset; /* another alignment */
        out->from_size = out->from_bytes + out->from_at + VERIFY_GUARD;
        out->to_at = begin;
        out->to_size = out->to_bytes + out->to_at + VERIFY_GUARD;
        return;
    }
    out->to_at = begin + (c->op == ISO_COMM_REDUCE_SCATTER ? rank * part : 0);
    out->from_at = begin + (c->op == ISO_COMM_ALL_GATHER ? rank * part : 0);
    out->to_size =
        (out->from_bytes > out->to_bytes ? out->from_bytes : out->to_bytes) + begin + VERIFY_GUARD;
}

/* ---- images ---------------------------------------------------------------------------------- */

static void noise(const comm_problem *p, int32_t rank, int call, int64_t bytes,
                  unsigned char *image)
{
    const uint64_t seed = p->item->seed ^ (uint64_t)(rank * 64 + call + 1) << 32;
    for (int64_t i = 0; i < bytes; i += 8) {
        const uint64_t mix = arith_mix(seed, (uint64_t)i);
        memcpy(image + i, &mix, (size_t)(bytes - i < 8 ? bytes - i : 8));
    }
}

/* Writes a rank's terms. What is between them is NaN, so that a read of it shows. */
static void place_from(const comm_problem *p, const comm_layout *at, int32_t rank, int call,
                       unsigned char *image)
{
    const int64_t element = iso_dtype_size(type_of(p));
    const int32_t first = comm_first_term(p, rank);
    if (at->from_bytes == 0) {
        return;
    }
    if (at->terms > 1) {
        memset(image + at->from_at, 0xff, (size_t)at->from_bytes);
    }
    for (int32_t t = 0; t < at->terms; t++) {
        memcpy(image + at->from_at + t * at->ld * element, row_at(p, call, first + t),
               (size_t)(p->row * element));
    }
}

void comm_image_from(const comm_problem *p, const comm_layout *at, int32_t rank, int call,
                     unsigned char *image)
{
    if (at->from_size > 0) {
        noise(p, rank, call, at->from_size, image);
        place_from(p, at, rank, call, image);
    }
}

void comm_image_to(const comm_problem *p, const comm_layout *at, int32_t rank, int call,
                   unsigned char *image)
{
    noise(p, rank, call + COMM_CALLS, at->to_size, image);
    if (at->from_size == 0) {
        place_from(p, at, rank, call, image);
    }
}

/* Copies part `part` of `count` elements of a rank's input to part `to` of the result. */
static void move(const comm_problem *p, int call, int32_t from_rank, int32_t part, int32_t to,
                 unsigned char *result)
{
    const int64_t bytes = p->item->comm.count * iso_dtype_size(type_of(p));
    memcpy(result + to * bytes, row_at(p, call, from_rank) + part * bytes, (size_t)bytes);
}

void comm_image_want(const comm_problem *p, const comm_layout *at, int32_t rank, int call,
                     unsigned char *image)
{
    const comm_shape *c = &p->item->comm;
    unsigned char *result = image + at->to_at;
    const unsigned char *all = (unsigned char *)p->sums.data;
    comm_image_to(p, at, rank, call, image);
    if (at->to_bytes == 0) {
        return;
    }
    if (p->results > 0) {
        all += call * p->results * p->item->element;
        all += c->op == ISO_COMM_REDUCE_SCATTER ? rank * at->to_bytes : 0;
        memcpy(result, all, (size_t)at->to_bytes);
    } else if (c->op == ISO_COMM_BROADCAST) {
        move(p, call, c->peer, 0, 0, result);
    } else if (c->op == ISO_COMM_SEND) {
        move(p, call, c->pair ? c->sender : (rank + c->ranks - 1) % c->ranks, 0, 0, result);
    }
    for (int32_t r = 0; r < c->ranks; r++) {
        if (c->op == ISO_COMM_ALL_GATHER) {
            move(p, call, r, 0, r, result);
        } else if (c->op == ISO_COMM_ALL_TO_ALL) {
            move(p, call, r, rank, r, result);
        }
    }
}

const check_expected *comm_bounds(const comm_problem *p, int32_t rank, int call)
{
    const comm_shape *c = &p->item->comm;
    const check_expected *all = (const check_expected *)p->bounds.data + call * p->results;
    return all + (c->op == ISO_COMM_REDUCE_SCATTER ? rank * c->count : 0);
}
