/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.c - counts the cases that only one of two devices has, by the reason. */
#include "bench/compare/compare.h"

#include <string.h>

enum { TOO_SLOW, NO_TIME, UNSUPPORTED, FAILED, LIBRARY, ABSENT, REASONS };

static const char *const words[REASONS] = {
    [TOO_SLOW] = "is too slow for",          [NO_TIME] = "had no time for",
    [UNSUPPORTED] = "does not support",      [FAILED] = "failed in",
    [LIBRARY] = "has no second library for", [ABSENT] = "did not measure"};

static int reason_of(const compare_side *side)
{
    if (strcmp(side->status, "skipped") == 0) {
        return NO_TIME;
    }
    if (strncmp(side->reason, "too slow", 8) == 0) {
        return TOO_SLOW;
    }
    return strcmp(side->status, "unsupported") == 0 ? UNSUPPORTED : FAILED;
}

/* Why a side has no result of a case at all. If it has one of the same case, which another library
 * of the other side was compared with, that one tells. */
static int reason_missing(const compare_set *set, const compare_row *row, bool b)
{
    for (int32_t i = 0; i < set->count; i++) {
        const compare_side *side = b ? &set->rows[i].b : &set->rows[i].a;
        if (side->result && strcmp(set->rows[i].id, row->id) == 0) {
            return side->ok ? LIBRARY : reason_of(side);
        }
    }
    return ABSENT;
}

/* Appends the cases that only B (`b`) or only A has. */
static void add_gaps(char *text, const compare_set *set, const compare_row *first, bool b)
{
    char name[512], other[512];
    int32_t counts[REASONS] = {0}, all = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        const compare_side *has = b ? &row->b : &row->a, *lacks = b ? &row->a : &row->b;
        const char *devices[] = {b ? first->b.device : first->a.device,
                                 b ? first->a.device : first->b.device};
        if (has->ok && !lacks->ok && strcmp(has->device, devices[0]) == 0 &&
            (!lacks->result || strcmp(lacks->device, devices[1]) == 0)) {
            counts[lacks->result ? reason_of(lacks) : reason_missing(set, row, !b)]++;
            all++;
        }
    }
    if (all == 0) {
        return;
    }
    compare_add(text, "%sOnly %s has %d %s:", text[0] != '\0' ? " " : "",
                compare_name(set, first, b, name, sizeof name), all, all == 1 ? "case" : "cases");
    compare_add(text, " %s", compare_name(set, first, !b, other, sizeof other));
    for (int i = 0, said = 0; i < REASONS; i++) {
        if (counts[i] > 0) {
            compare_add(text, "%s %s %d", said++ > 0 ? "," : "", words[i], counts[i]);
        }
    }
    compare_add(text, ".");
}

void compare_gaps(char *text, const compare_set *set, const compare_row *first)
{
    add_gaps(text, set, first, true);
    add_gaps(text, set, first, false);
}
