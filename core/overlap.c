/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.c - whether two operands share a byte.
 *
 * An operand is a set of runs of `width` bytes. Each run begins at the operand's offset plus a
 * multiple of the pitch plus a multiple of the stride. Two runs share a byte if one begins within
 * the other. So the question is whether some sum of multiples of up to four steps (two pitches and
 * two strides) lies within an interval. For one step, a division answers it. For two steps, a form
 * of Euclid's algorithm answers it fast at any size. For three or four, each combination of
 * multiples of the additional steps is tried, if there are few.
 */
#include "core/op.h"

#include <stdbool.h>

/* 64 bits are too few for sums of two 63-bit spans and for products of counts. */
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

enum { STEPS_MAX = 4, TRIED_MAX = 64 };

/* The multiples 0, step, 2 * step, ... last * step. Both numbers are more than 0. */
typedef struct multiples {
    int64_t step, last;
} multiples;

/* Take one multiple of each step and add them up: can the sum lie between `low` and `high`? */
typedef struct question {
    wide low, high;
    multiples of[STEPS_MAX]; /* ascending steps */
    int count;
} question;

/* Adds a step. `backward` means that its multiples are subtracted. They can be added instead if the
 * interval moves up by the last multiple. */
static void add(question *q, int64_t step, int64_t last, bool backward)
{
    int at = q->count;

    if (step <= 0 || last <= 0) {
        return;
    }
    if (backward) {
        q->low += (wide)step * last;
        q->high += (wide)step * last;
    }
    for (; at > 0 && q->of[at - 1].step > step; at--) {
        q->of[at] = q->of[at - 1];
    }
    q->of[at] = (multiples){step, last};
    q->count++;
}

/* Removes the steps that are no longer than the interval. Their multiples leave no gaps, so the
 * interval is extended by their span instead. */
static void absorb(question *q)
{
    while (q->count && q->of[0].step <= q->high - q->low + 1) {
        q->low -= (wide)q->of[0].step * q->of[0].last;
        q->count--;
        for (int i = 0; i < q->count; i++) {
            q->of[i] = q->of[i + 1];
        }
    }
}

/* Joins two steps into one if one divides the other. For example, a multiple of 24 plus a multiple
 * of 8 is a multiple of 8. Every multiple of 8 in the range occurs if those of 8 go up to 16 or
 * more, because they then fill the gaps between the multiples of 24. */
static void join(question *q)
{
    int kept = 0;

    for (int i = 1; i < q->count; i++) {
        multiples *small = &q->of[kept], large = q->of[i];
        int64_t ratio = large.step / small->step;

        if (large.step % small->step == 0 && ratio - 1 <= small->last) {
            small->last += ratio * large.last;
        } else {
            q->of[++kept] = large;
        }
    }
    q->count = q->count ? kept + 1 : 0;
}

/* `low` is at most `high`, and `high` fits 63 bits. */
static bool meets_one(int64_t step, int64_t last, wide low, wide high)
{
    int64_t first = low <= 0 ? 0 : ((int64_t)low - 1) / step + 1;

    return first <= last && (wide)first * step <= high;
}

/* The sum of (step * i + start) / divisor, rounded down, for i = 0 .. count - 1. */
static uwide sum_of_quotients(uwide count, uwide divisor, uwide step, uwide start)
{
    uwide sum = 0;

    while (count) {
        uwide end;

        sum += start / divisor * count + count * (count - 1) / 2 * (step / divisor);
        start %= divisor;
        step %= divisor;
        /* The rest of the sum is the number of integer points under a line. Exchanging the axes
         * gives a smaller problem of the same kind. */
        end = step * count + start;
        count = end / divisor;
        start = end % divisor;
        end = divisor;
        divisor = step;
        step = end;
    }
    return sum;
}

/* The number of pairs, one multiple of `a` and one of `b`, that add up to `most` or less. */
static uwide pairs_up_to(const multiples *a, const multiples *b, wide most)
{
    wide left = most - (wide)a->step * a->last, last, full;

    if (most < 0) {
        return 0;
    }
    /* Multiples of b after number `last` are too large for any pair. Each of the first `full`
     * multiples of b makes a pair with every multiple of a. */
    last = most / b->step < b->last ? most / b->step : b->last;
    full = left < 0 ? 0 : left / b->step + 1;
    if (full > last) {
        return (uwide)(last + 1) * (uwide)(a->last + (wide)1);
    }
    return (uwide)full * (uwide)(a->last + (wide)1) + (uwide)(last + 1 - full) +
           sum_of_quotients((uwide)(last + 1 - full), (uwide)a->step, (uwide)b->step,
                            (uwide)(most - last * b->step));
}

static bool meets_two(const multiples of[2], wide low, wide high)
{
    return pairs_up_to(&of[0], &of[1], high) > pairs_up_to(&of[0], &of[1], low - 1);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* For three or four steps. Keeps the two that have the most multiples, tries every combination of
 * multiples of the others, and each time answers the question for the two that are left. */
static core_overlap try_each(const question *q)
{
    multiples of[STEPS_MAX] = {{0, 0}};
    int64_t divisor = 0;

    for (int i = 0; i < q->count; i++) {
        int at = i;

        for (; at > 0 && of[at - 1].last < q->of[i].last; at--) {
            of[at] = of[at - 1];
        }
        of[at] = q->of[i];
        divisor = common_divisor(divisor, q->of[i].step);
    }
    if (!meets_one(divisor, INT64_MAX, q->low, q->high)) {
        return CORE_APART;
    }
    if ((of[2].last + (wide)1) * (of[3].last + (wide)1) > TRIED_MAX) {
        return CORE_UNKNOWN;
    }
    for (int64_t i = 0; i <= of[2].last; i++) {
        for (int64_t j = 0; j <= of[3].last; j++) {
            wide here = (wide)of[2].step * i + (wide)of[3].step * j;

            if (meets_two(of, q->low - here, q->high - here)) {
                return CORE_MEET;
            }
        }
    }
    return CORE_APART;
}

static core_overlap answer(question *q)
{
    bool meets;

    if (q->high < 0) {
        return CORE_APART;
    }
    absorb(q);
    join(q);
    if (q->count > 2) {
        return try_each(q);
    }
    meets = q->count == 0   ? q->low <= 0
            : q->count == 1 ? meets_one(q->of[0].step, q->of[0].last, q->low, q->high)
                            : meets_two(q->of, q->low, q->high);
    return meets ? CORE_MEET : CORE_APART;
}

/* Not inlined into the functions below. Those run in every submission, and usually can tell without
 * this function that the operands do not overlap. */
static __attribute__((noinline)) core_overlap ask(int64_t a_at, const core_layout *a, int64_t b_at,
                                                  const core_layout *b)
{
    question q = {.low = (wide)a_at - b_at - b->width + 1,
                  .high = (wide)a_at - b_at + a->width - 1};

    add(&q, a->pitch, a->rows - 1, true);
    add(&q, a->stride, a->batch - 1, true);
    add(&q, b->pitch, b->rows - 1, false);
    add(&q, b->stride, b->batch - 1, false);
    return answer(&q);
}

/* Compares the rows of one matrix with the rows of the matrices that follow it in the batch. */
static __attribute__((noinline)) core_overlap ask_itself(const core_layout *layout)
{
    question q = {.low = -(wide)layout->stride - layout->width + 1,
                  .high = -(wide)layout->stride + layout->width - 1};

    add(&q, layout->pitch, layout->rows - 1, true);
    add(&q, layout->pitch, layout->rows - 1, false);
    add(&q, layout->stride, layout->batch - 2, false);
    return answer(&q);
}

core_overlap core_layouts_meet(int64_t a_at, const core_layout *a, int64_t b_at,
                               const core_layout *b)
{
    if (!a->bytes || !b->bytes || a_at - b_at >= b->bytes || b_at - a_at >= a->bytes) {
        return CORE_APART;
    }
    return ask(a_at, a, b_at, b);
}

core_overlap core_layout_meets_itself(const core_layout *layout)
{
    int64_t rows;

    if (!layout->bytes || layout->batch <= 1) {
        return CORE_APART;
    }
    rows = (layout->rows - 1) * layout->pitch;
    return layout->stride >= rows + layout->width ? CORE_APART : ask_itself(layout);
}

core_layout core_run(int64_t bytes)
{
    return (core_layout){.bytes = bytes, .width = bytes, .rows = 1, .batch = 1};
}
