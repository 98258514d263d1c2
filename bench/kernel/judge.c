/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - compares what a kernel wrote, and makes digests of it. */
#include "bench/kernel/run.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 1 << 16 };

static iso_dtype dtype_of(describe_scalar scalar)
{
    return scalar == DESCRIBE_F64 ? ISO_F64 : ISO_F32;
}

/* ---- NaN ------------------------------------------------------------------------------------- */

typedef struct floats {
    iso_dtype dtype;
    int32_t size;
    unsigned char *at;
} floats;

static void canonical_part(void *context, int64_t begin, int64_t end)
{
    const floats *f = context;
    for (int64_t i = begin; i < end; i++) {
        if (arith_is_nan(f->dtype, f->at + i * f->size)) {
            arith_set_nan(f->dtype, f->at + i * f->size);
        }
    }
}

void kernel_canonical(const describe_case *item, kernel_data *data)
{
    for (int32_t i = 0; i < data->count; i++) {
        const describe_parameter *p = &item->parameters[i];
        if (data->at[i] && describe_is_float(p->scalar)) {
            floats f = {dtype_of(p->scalar), describe_scalar_bytes(p->scalar), data->at[i]};
            arith_parallel(p->elements * p->lanes, GRAIN, canonical_part, &f);
        }
    }
}

/* ---- differences ----------------------------------------------------------------------------- */

/* Two arrays of scalars. */
typedef struct pair {
    describe_scalar scalar;
    int32_t size;
    const unsigned char *got, *want;
    double tolerance;
    _Atomic int64_t first; /* the first difference */
} pair;

static bool is_near(double got, double want, double tolerance)
{
    if (isnan(want) || isinf(want)) {
        return got == want || (isnan(got) && isnan(want));
    }
    return fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

static void compare_part(void *context, int64_t begin, int64_t end)
{
    pair *p = context;
    bool rounds = p->tolerance >= 0 && describe_is_float(p->scalar);
    size_t bytes = (size_t)((end - begin) * p->size);
    if (memcmp(p->got + begin * p->size, p->want + begin * p->size, bytes) == 0) {
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        const unsigned char *got = p->got + i * p->size, *want = p->want + i * p->size;
        if (memcmp(got, want, (size_t)p->size) == 0 ||
            (rounds && is_near(arith_load(dtype_of(p->scalar), got),
                               arith_load(dtype_of(p->scalar), want), p->tolerance))) {
            continue;
        }
        arith_note_first(&p->first, i);
        return;
    }
}

/* The value and its bits. */
static const char *show(describe_scalar scalar, const unsigned char *at, char *text, size_t room)
{
    int32_t bytes = describe_scalar_bytes(scalar);
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)bytes);
    if (describe_is_float(scalar)) {
        snprintf(text, room, "%.*g (0x%0*llx)", scalar == DESCRIBE_F64 ? 17 : 9,
                 arith_load(dtype_of(scalar), at), 2 * (int)bytes, (unsigned long long)bits);
    } else if (describe_scalar_name(scalar)[0] == 'i') {
        int shift = 64 - 8 * bytes;
        snprintf(text, room, "%lld", (long long)((int64_t)(bits << shift) >> shift));
    } else {
        snprintf(text, room, scalar == DESCRIBE_STRUCT ? "0x%02llx" : "%llu",
                 (unsigned long long)bits);
    }
    return text;
}

/* "y[3]", "y[3].z", "byte 5 of y[3]". */
static void place(const describe_parameter *p, int64_t at, char *text, size_t room)
{
    long long element = at / p->lanes;
    int lane = (int)(at % p->lanes);
    if (p->scalar == DESCRIBE_STRUCT) {
        snprintf(text, room, "byte %d of %s[%lld]", lane, p->is.name, element);
    } else if (p->lanes > 1) {
        snprintf(text, room, "%s[%lld].%c", p->is.name, element, "xyzw"[lane]);
    } else {
        snprintf(text, room, "%s[%lld]", p->is.name, element);
    }
}

static void note_error(const describe_parameter *p, const pair *compared, double tolerance,
                       bench_result *result)
{
    result->bound = tolerance;
    for (int64_t i = 0; i < p->elements * p->lanes; i++) {
        double got = arith_load(dtype_of(p->scalar), compared->got + i * compared->size);
        double want = arith_load(dtype_of(p->scalar), compared->want + i * compared->size);
        double error = isfinite(want) ? fabs(got - want) / fmax(1, fabs(want)) : 0;
        result->error = fmax(result->error, error);
    }
}

/* Whether a scalar has the bits that its buffer began with, or may have: NaN is made canonical. */
static bool is_unwritten(const describe_parameter *p, const unsigned char *at)
{
    const int32_t bytes = describe_scalar_bytes(p->scalar);
    bool same = p->fill.how == DESCRIBE_UNWRITTEN;
    if (same && describe_is_float(p->scalar)) {
        return arith_is_nan(dtype_of(p->scalar), at);
    }
    for (int32_t i = 0; i < bytes; i++) {
        same = same && at[i] == 0xff;
    }
    return same;
}

/* "y[3] is ... on here, but ... by there" */
static bool differ(const describe_parameter *p, const pair *compared, const char *here,
                   const char *there, bench_result *result)
{
    const int64_t first = compared->first;
    const unsigned char *got = compared->got + first * compared->size;
    const unsigned char *want = compared->want + first * compared->size;
    const char *whose = is_unwritten(p, want) ? there : is_unwritten(p, got) ? here : NULL;
    char at[256], a[64], b[64], allowed[64] = "", unwritten[768] = "";
    place(p, first, at, sizeof at);
    if (compared->tolerance >= 0 && describe_is_float(p->scalar)) {
        snprintf(allowed, sizeof allowed, ": more than the tolerance of %g", compared->tolerance);
    }
    show(p->scalar, got, a, sizeof a);
    show(p->scalar, want, b, sizeof b);
    if (whose) {
        snprintf(unwritten, sizeof unwritten,
                 "; %s begins with %s everywhere, so this element seems not to be written %s%.255s",
                 p->is.name, whose == there ? b : a, whose == there ? "by " : "on ", whose);
    }
    return check_fail(result, "%s is %s on %s, but %s by %s%s%s", at, a, here, b, there, allowed,
                      unwritten);
}

bool kernel_same(const describe_case *item, const kernel_data *got, const kernel_data *want,
                 double tolerance, const char *here, const char *there, bench_result *result)
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        if (!p->is_written) {
            continue;
        }
        pair compared = {.scalar = p->scalar,
                         .size = describe_scalar_bytes(p->scalar),
                         .got = got->at[i],
                         .want = want->at[i],
                         .tolerance = tolerance,
                         .first = INT64_MAX};
        arith_parallel(p->elements * p->lanes, GRAIN, compare_part, &compared);
        if (compared.first != INT64_MAX) {
            return differ(p, &compared, here, there, result);
        }
        if (tolerance >= 0 && describe_is_float(p->scalar)) {
            note_error(p, &compared, tolerance, result);
        }
    }
    return true;
}

void kernel_digest(const describe_case *item, const kernel_data *data, uint64_t digest[2])
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        if (item->parameters[i].is_written) {
            uint64_t joined[4] = {digest[0], digest[1], 0, 0};
            check_hash(data->at[i], item->parameters[i].bytes, joined + 2);
            check_hash(joined, sizeof joined, digest);
        }
    }
}
