/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trsm_own.c - triangular solves as `bench` measures them.
 *
 * X replaces B, so each call solves for the solution of the last one. That must stay tame however
 * often it is done. So the triangle is its own inverse: its diagonal has 1 and -1 in turn, and of
 * its other elements only those are not 0 whose row has a -1 and whose column a 1. Then every
 * second call restores B. The elements are eighths and those of B whole numbers, so small that all
 * sums are exact in f32, in any order. So every variant, vendors' too, must give the exact
 * solution.
 *
 * The check: the unknowns with a 1 are what they were. Those with a -1 are sums of them, which are
 * compared modulo 2^64 after each system was multiplied by a random odd number. That finds every
 * element that alone is wrong.
 */
#include "bench/check/check.h"
#include "bench/ops/trsm.h"
#include "bench/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EIGHTHS = 8, CHUNK = 4 << 20 };

typedef struct own_case {
    bench_case item;
    iso_operand a, b;
    iso_dtype part;
    int64_t n, systems, parts, size; /* of unknowns; parts of an element, bytes of a part */
    int64_t most;                    /* the greatest magnitude in B */
    int64_t launches;                /* since the last load */
    bool right, lower, flipped; /* flipped: row i of A has the coefficients of unknown i's column */
} own_case;

static int32_t arrays(const bench_case *item, int64_t *bytes)
{
    const trsm_shape *t = &item->trsm;
    const int64_t side = t->side == ISO_LEFT ? t->m : t->n;
    bytes[0] = t->batch * side * side * item->element;
    bytes[1] = t->batch * t->m * t->n * item->element;
    return 2;
}

static void *create(const bench_case *item, iso_device device)
{
    const trsm_shape *t = &item->trsm;
    own_case *self = tool_alloc(1, sizeof *self, "a solve");
    (void)device;
    self->item = *item;
    self->part = arith_part(item->dtype);
    self->size = iso_dtype_size(self->part);
    self->parts = item->element / self->size;
    self->right = t->side == ISO_RIGHT;
    self->n = self->right ? t->n : t->m;
    self->systems = self->right ? t->m : t->n;
    self->flipped = (t->trans != ISO_NO_TRANS) != self->right;
    self->lower = (t->triangle == ISO_LOWER) != self->flipped;
    /* A sum has n / 2 terms of up to 7/8 of this, twice as many if complex, in eighths. */
    self->most = (1 << 24) / (7 * self->n + 16);
    self->most = self->most > 255 ? 255 : self->most < 1 ? 1 : self->most;
    return self;
}

static void destroy(void *context)
{
    free(context);
}

/* ---- the data -------------------------------------------------------------------------------- */

/* A part of the coefficient of unknown k in equation i, in eighths. */
static int64_t coefficient(const own_case *self, int64_t member, int64_t i, int64_t k, int64_t part)
{
    if (i == k) {
        return part ? 0 : i % 2 ? -EIGHTHS : EIGHTHS;
    }
    if (i % 2 == 0 || k % 2 == 1 || (self->lower ? k > i : k < i)) {
        return 0;
    }
    const uint64_t at = (uint64_t)(((member * self->n + i) * self->n + k) * 2 + part);
    return (int64_t)(arith_mix(self->item.seed ^ 0xa, at) % (2 * EIGHTHS - 1)) - (EIGHTHS - 1);
}

/* A part of unknown i's right-hand side in a system. */
static int64_t given(const own_case *self, int64_t member, int64_t i, int64_t system, int64_t part)
{
    const uint64_t at = (uint64_t)(((member * self->n + i) * self->systems + system) * 2 + part);
    return (int64_t)(arith_mix(self->item.seed ^ 0xb, at) % (uint64_t)(2 * self->most + 1)) -
           self->most;
}

typedef double element_of(const own_case *self, int64_t index, int64_t part);

static double element_a(const own_case *self, int64_t index, int64_t part)
{
    const int64_t n = self->n, row = index / n % n, col = index % n;
    const int64_t value = coefficient(self, index / n / n, self->flipped ? col : row,
                                      self->flipped ? row : col, part);
    return (double)value / EIGHTHS;
}

static double element_b(const own_case *self, int64_t index, int64_t part)
{
    const int64_t cols = self->right ? self->n : self->systems, count = self->n * self->systems;
    const int64_t row = index % count / cols, col = index % cols;
    return (double)given(self, index / count, self->right ? col : row, self->right ? row : col,
                         part);
}

typedef struct filling {
    const own_case *self;
    element_of *of;
    int64_t first;
    unsigned char *to;
} filling;

static void fill(void *context, int64_t begin, int64_t end)
{
    const filling *f = context;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t p = 0; p < f->self->parts; p++) {
            arith_store(f->self->part, f->to + (i * f->self->parts + p) * f->self->size,
                        f->of(f->self, f->first + i, p));
        }
    }
}

static iso_status put(const own_case *self, iso_stream stream, iso_operand to, int64_t count,
                      element_of *of)
{
    const int64_t element = self->item.element;
    unsigned char *chunk = tool_alloc(1, (size_t)(CHUNK * element), "inputs");
    iso_status status = ISO_OK;
    for (int64_t first = 0; first < count && status == ISO_OK; first += CHUNK) {
        const int64_t now = count - first < CHUNK ? count - first : CHUNK;
        filling f = {self, of, first, chunk};
        arith_parallel(now, 4096, fill, &f);
        status = iso_write(stream, (iso_operand){to.buffer, to.offset + first * element}, chunk,
                           now * element);
        status = status == ISO_OK ? iso_stream_sync(stream) : status;
    }
    free(chunk);
    return status;
}

/* All rounds have the same data, because each call leaves what the next one can use. */
static iso_status load(void *context, iso_stream stream, const iso_operand *operands, int64_t round,
                       bool whole)
{
    own_case *self = context;
    const trsm_shape *t = &self->item.trsm;
    (void)round;
    if (!whole) {
        return ISO_OK;
    }
    self->a = operands[0];
    self->b = operands[1];
    self->launches = 0;
    iso_status status = put(self, stream, self->a, t->batch * self->n * self->n, element_a);
    return status == ISO_OK ? put(self, stream, self->b, t->batch * t->m * t->n, element_b)
                            : status;
}

static iso_status submit(void *context, iso_stream stream)
{
    own_case *self = context;
    bench_args args;
    trsm_arguments(&self->item, &args);
    args.trsm.a = self->a;
    args.trsm.b = self->b;
    self->launches++;
    return iso_trsm(stream, &args.trsm);
}

/* ---- the check ------------------------------------------------------------------------------- */

typedef struct checking {
    const own_case *self;
    const unsigned char *got; /* of this member */
    int64_t member;
    uint64_t *sums[2];     /* of each unknown's right-hand sides, times the odd numbers; by parts */
    _Atomic int64_t first; /* the first wrong unknown */
} checking;

static uint64_t odd_of(const own_case *self, int64_t system)
{
    return arith_mix(self->item.seed ^ 0x6f6464, (uint64_t)system) | 1;
}

static void sum_given(void *context, int64_t begin, int64_t end)
{
    const checking *c = context;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t p = 0; p < c->self->parts; p++) {
            c->sums[p][i] = 0;
            for (int64_t s = 0; s < c->self->systems; s++) {
                c->sums[p][i] += (uint64_t)given(c->self, c->member, i, s, p) * odd_of(c->self, s);
            }
        }
    }
}

/* What the unknowns i should add up to, in eighths. */
static uint64_t should_be(const checking *c, int64_t i, int64_t part)
{
    const own_case *self = c->self;
    const uint64_t sign = self->item.trsm.trans == ISO_CONJ_TRANS ? UINT64_MAX : 1;
    uint64_t sum = (i % 2 ? (uint64_t)-EIGHTHS : EIGHTHS) * c->sums[part][i];
    const int64_t first = self->lower ? 0 : i + 1, last = self->lower ? i : self->n;
    for (int64_t k = i % 2 ? first + first % 2 : last; k < last; k += 2) {
        sum += (uint64_t)coefficient(self, c->member, i, k, 0) * c->sums[part][k];
        if (self->parts == 2) { /* re = re re - im im, im = re im + im re */
            const uint64_t im = sign * (uint64_t)coefficient(self, c->member, i, k, 1);
            sum += (part ? im : (uint64_t)0 - im) * c->sums[1 - part][k];
        }
    }
    return sum;
}

static void check_unknowns(void *context, int64_t begin, int64_t end)
{
    checking *c = context;
    const own_case *self = c->self;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t p = 0; p < self->parts; p++) {
            uint64_t is = 0;
            bool good = true;
            for (int64_t s = 0; s < self->systems; s++) {
                const int64_t at = self->right ? s * self->n + i : i * self->systems + s;
                const double x =
                    EIGHTHS * arith_load(self->part, c->got + (at * self->parts + p) * self->size);
                const bool whole = fabs(x) < 0x1p53 && x == rint(x);
                good = good && whole;
                is += whole ? (uint64_t)(int64_t)x * odd_of(self, s) : 0;
                good = good &&
                       (i % 2 || !whole || (int64_t)x == EIGHTHS * given(self, c->member, i, s, p));
            }
            if (!good || is != should_be(c, i, p)) {
                arith_note_first(&c->first, i);
            }
        }
    }
}

static bool check_member(own_case *self, const unsigned char *got, int64_t member,
                         bench_result *result)
{
    const int64_t count = self->n * self->systems;
    uint64_t *sums = calloc((size_t)(2 * self->n) + 1, sizeof *sums);
    checking c = {.self = self,
                  .got = got + member * count * self->item.element,
                  .member = member,
                  .sums = {sums, sums + self->n},
                  .first = INT64_MAX};
    if (!sums) {
        return check_no_memory(result);
    }
    arith_parallel(self->n, 16, sum_given, &c);
    arith_parallel(self->n, 16, check_unknowns, &c);
    free(sums);
    if (c.first == INT64_MAX) {
        return true;
    }
    result->error = 1;
    return check_fail(result,
                      "%s %lld of X of member %lld is not the exact solution: at least one of its "
                      "elements is wrong",
                      self->right ? "column" : "row", (long long)c.first, (long long)member);
}

/* After an even number of calls X is B, which a call that does nothing would also leave. */
static bool check(void *context, iso_stream stream, const iso_operand *operands,
                  bench_result *result)
{
    own_case *self = context;
    const trsm_shape *t = &self->item.trsm;
    const int64_t bytes = t->batch * t->m * t->n * self->item.element;
    unsigned char *got = malloc((size_t)bytes + 1);
    bool good = got || check_no_memory(result);
    if (good) {
        iso_status status = self->launches % 2 ? ISO_OK : submit(self, stream);
        status = status == ISO_OK ? iso_read(stream, got, operands[1], bytes) : status;
        status = status == ISO_OK ? iso_stream_sync(stream) : status;
        good = status == ISO_OK || check_call_failed(result, "reading the result", status);
    }
    for (int64_t b = 0; good && b < t->batch; b++) {
        good = check_member(self, got, b, result);
    }
    result->method = "exact projection";
    free(got);
    return good;
}

const bench_own trsm_own = {.arrays = arrays,
                            .create = create,
                            .destroy = destroy,
                            .load = load,
                            .submit = submit,
                            .check = check};
