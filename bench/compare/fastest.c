/* SPDX-License-Identifier: Apache-2.0 */
/* fastest.c - compares the fastest variants of two devices, and says what to use each device for.
 */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A result of one side. Results of the same problem follow each other after sorting. */
typedef struct entry {
    char *key;
    const json_t *result;
    double time;
    bool b;
} entry;

static int by_key(const void *x, const void *y)
{
    return strcmp(((const entry *)x)->key, ((const entry *)y)->key);
}

/* The problem of a result, with the math that it really ran in. */
static char *key_of(const json_t *result)
{
    char *problem = record_case(result);
    const char *used = record_text(result, "math_used");
    size_t room = strlen(problem) + strlen(used) + 2;
    char *key = tool_alloc(room, 1, "the problems");
    snprintf(key, room, "%s %s", problem, used);
    free(problem);
    return key;
}

static int32_t add_entries(const compare_set *set, const json_t *root, const char *device, bool b,
                           entry *out)
{
    const json_t *result;
    size_t at;
    int32_t n = 0;
    json_array_foreach(json_object_get(root, "results"), at, result)
    {
        double time = record_number(result, "times.median");
        if (strcmp(record_text(result, "device"), device) == 0 &&
            strcmp(record_text(result, "status"), "ok") == 0 && time > 0 &&
            compare_wants(set, result) && record_level_of(result) != RECORD_INVALID) {
            out[n++] = (entry){key_of(result), result, time, b};
        }
    }
    return n;
}

int32_t compare_fastest(const compare_set *set, const compare_row *first, compare_problem **out)
{
    const json_t *roots[] = {set->a, set->b};
    size_t room = 0;
    int32_t count = 0, problems = 0;
    for (int side = 0; side < 2; side++) {
        room += json_array_size(json_object_get(roots[side], "results"));
    }
    entry *entries = tool_alloc(room, sizeof *entries, "the results");
    *out = tool_alloc(room, sizeof **out, "the problems");
    if (set->b) {
        count = add_entries(set, set->a, first->a.device, false, entries);
        count += add_entries(set, set->b, first->b.device, true, entries + count);
    }
    qsort(entries, (size_t)count, sizeof *entries, by_key);
    for (int32_t i = 0, end; i < count; i = end) {
        double least[2] = {INFINITY, INFINITY};
        for (end = i; end < count && by_key(&entries[i], &entries[end]) == 0; end++) {
            double *time = &least[entries[end].b];
            *time = fmin(*time, entries[end].time);
        }
        if (isfinite(least[0]) && isfinite(least[1])) {
            (*out)[problems++] = (compare_problem){entries[i].result, least[0] / least[1]};
        }
    }
    for (int32_t i = 0; i < count; i++) {
        free(entries[i].key);
    }
    free(entries);
    return problems;
}

double compare_fastest_mean(const compare_problem *problems, int32_t count)
{
    double logs = 0;
    for (int32_t i = 0; i < count; i++) {
        logs += log(problems[i].times);
    }
    return count > 0 ? exp(logs / count) : (double)NAN;
}

/* ---- what to use each device for ------------------------------------------------------------- */

/* The problems of one operation that differ by more than the least effect, by size. */
typedef struct uses {
    const bench_op *op;
    const compare_problem **list;
    int32_t count, wins[2]; /* of A and of B */
} uses;

static double size_of(const compare_problem *problem)
{
    return record_number(problem->result, "size");
}

static int by_size(const void *x, const void *y)
{
    double p = size_of(*(const compare_problem *const *)x);
    double q = size_of(*(const compare_problem *const *)y);
    return (p > q) - (p < q);
}

/* Finds the size from which on one device is the better one, and below which the other is. Returns
 * how many problems do not fit, with the size in *from and in *large the side of large sizes. */
static int32_t split(const uses *u, double *from, int *large)
{
    int32_t best = u->count, below[2] = {0, 0};
    for (int32_t i = 0; i < u->count; i++) {
        double size = size_of(u->list[i]);
        for (int side = 0; side < 2 && i > 0 && size > size_of(u->list[i - 1]); side++) {
            int32_t wrong = below[side] + u->wins[!side] - below[!side];
            if (wrong < best) {
                best = wrong;
                *from = size;
                *large = side;
            }
        }
        below[u->list[i]->times > 1]++;
    }
    return best;
}

static void add_word(char *text, const char *format, const char *op, const char *size)
{
    compare_add(text, "%s", text[0] != '\0' ? ", " : "");
    compare_add(text, format, op, size);
}

/* Appends the operation to what the devices are for. */
static void divide(char text[2][COMPARE_ROOM], const uses *u)
{
    char size[48], from_text[COMPARE_ROOM] = "";
    double from = NAN;
    int large = 0, more = u->wins[1] >= u->wins[0];
    int32_t few = u->wins[!more], allowed = u->count / 10;
    if (u->count == 0) {
        return;
    }
    if (few == 0) {
        add_word(text[more], "%s%s", u->op->name, "");
        return;
    }
    if (few > allowed / 2 && split(u, &from, &large) <= allowed && isfinite(from)) {
        bool n = strcmp(u->op->size, "N") == 0;
        compare_add(from_text, "%s", n ? "N = " : "");
        compare_add_size(from_text, record_count(size, sizeof size, from));
        if (!n) {
            compare_add(from_text, " %s", u->op->size);
        }
        add_word(text[large], "%s from %s", u->op->name, from_text);
        add_word(text[!large], "%s below %s", u->op->name, from_text);
        return;
    }
    snprintf(from_text, sizeof from_text, "%d of %d", u->wins[more], u->count);
    add_word(text[more], "%s (%s)", u->op->name, from_text);
}

void compare_use(char *text, const compare_set *set, const compare_row *first,
                 const compare_problem *problems, int32_t count)
{
    char names[2][512], words[2][COMPARE_ROOM] = {"", ""};
    uses u = {.list = tool_alloc((size_t)count, sizeof *u.list, "the problems")};
    for (int32_t i = 0; i < set->count; i++) {
        u.op = bench_op_of(set->rows[i].op);
        u.count = u.wins[0] = u.wins[1] = 0;
        for (int32_t k = 0; k < count && compare_first_of_op(set, i); k++) {
            const compare_problem *p = &problems[k];
            bool differs = fabs(log(p->times)) > log1p(set->rules.least_effect);
            if (differs && bench_op_of(record_text(p->result, "op")) == u.op) {
                u.list[u.count++] = p;
                u.wins[p->times > 1]++;
            }
        }
        qsort(u.list, (size_t)u.count, sizeof *u.list, by_size);
        divide(words, &u);
    }
    for (int side = 1; side >= 0; side--) {
        if (words[side][0] != '\0') {
            compare_add(text, "%s%s for %s", text[0] != '\0' ? "; " : "Use ",
                        compare_name(set, first, side == 1, names[side], sizeof names[side]),
                        words[side]);
        }
    }
    compare_add(text, "%s", text[0] != '\0' ? "." : "");
    free(u.list);
}
