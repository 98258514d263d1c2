/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - whether to believe a comparison, and what would decide the undecided cases. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From these on, care is needed: half the width of a typical interval, and the share of cases that
 * are noisy. */
#define WIDE       0.05
#define MANY_NOISY 0.1

static const char *short_percent(char *text, double share)
{
    double percent = 100 * share;
    snprintf(text, 24, percent >= 9.95 ? "%.0f" : "%.2g", percent);
    return record_point(text);
}

static bool belongs(const compare_row *row, const compare_answer *answer)
{
    return compare_counts(row) && compare_same_devices(row, answer->first);
}

static bool either_has(const compare_set *set, const char *flag)
{
    return record_has_flag(json_object_get(set->a, "run"), flag) ||
           (set->b && record_has_flag(json_object_get(set->b, "run"), flag));
}

/* The cases with a flag on either side. */
static int32_t count_flag(const compare_set *set, const compare_answer *answer, const char *flag)
{
    int32_t n = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        n += belongs(row, answer) &&
             (record_has_flag(row->a.result, flag) || record_has_flag(row->b.result, flag));
    }
    return n;
}

static const char *unit_of(const compare_answer *answer)
{
    return answer->first->paired ? "pairs" : "rounds";
}

static bool is_wide(const compare_answer *answer)
{
    return (!answer->first->paired && answer->half[0] > WIDE) || answer->half[1] > WIDE;
}

/* Appends how well a typical time is known. */
static void add_width(char *text, const compare_set *set, const compare_answer *answer)
{
    char name[512], number[24];
    const compare_row *first = answer->first;
    const char *only = is_wide(answer) ? "only " : "";
    compare_add(text, "; a typical %s is %sknown to within ", first->paired ? "ratio" : "time",
                only);
    if (!first->paired) {
        compare_add(text, "%s %% for %s and ", short_percent(number, answer->half[0]),
                    compare_name(set, first, false, name, sizeof name));
    }
    compare_add(text, "%s %%", short_percent(number, answer->half[1]));
    if (!first->paired) {
        compare_add(text, " for %s", compare_name(set, first, true, name, sizeof name));
    }
}

/* Appends what the numbers say against the comparison, each after "; ". */
static void add_doubts(char *text, const compare_set *set, const compare_answer *answer)
{
    char number[24];
    int32_t least = answer->first->paired ? COMPARE_PAIRS_LEAST : STATS_FEW;
    int32_t noisy = count_flag(set, answer, "noisy");
    if (is_wide(answer)) {
        add_width(text, set, answer);
    }
    if (answer->rounds_least < least) {
        compare_add(text, "; %d %s in a case are too few (%d are needed)", answer->rounds_least,
                    unit_of(answer), least);
    }
    if (set->unpaired && answer->drift > WIDE) {
        compare_add(text, "; the machine may differ by %s %% between the two runs",
                    short_percent(number, answer->drift));
    }
    if (noisy > MANY_NOISY * answer->cases) {
        compare_add(text, "; %d of %d cases are noisy", noisy, answer->cases);
    }
}

/* Appends what happened during the runs, each after "; ": with `doubt` what needs care, without it
 * the rest. */
static void add_events(char *text, const compare_set *set, const compare_answer *answer, bool doubt)
{
    static const struct {
        const char *flag, *words;
    } runs[] = {{"interrupted", "a run was interrupted"},
                {"device-lost", "a device was lost"},
                {"foreign", "another program measured"},
                {"noisy-host", "other work used the processors"}};
    static const struct {
        const char *flag, *words;
        bool doubt;
    } rows[] = {{"overheated", "heat held back %d of %d cases", true},
                {"throttled", "power or heat held back %d of %d cases", false},
                {"power-limited", "%d of %d cases ran at the power limit", false},
                {"unsteady-clock", "the clock changed during %d of %d cases", false}};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0] && doubt; i++) {
        if (either_has(set, runs[i].flag)) {
            compare_add(text, "; %s", runs[i].words);
        }
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t n = rows[i].doubt == doubt ? count_flag(set, answer, rows[i].flag) : 0;
        if (n > 0) {
            compare_add(text, "; ");
            compare_add(text, rows[i].words, n, answer->cases);
        }
    }
    if (answer->invalid > 0 && !doubt) {
        compare_add(text, "; %d invalid results are not counted", answer->invalid);
    }
}

/* Appends the rest of the figures. */
static void add_figures(char *text, const compare_set *set, const compare_answer *answer)
{
    char number[24];
    int32_t least = answer->first->paired ? COMPARE_PAIRS_LEAST : STATS_FEW;
    compare_add(text, "%d", answer->rounds_least);
    if (answer->rounds_most > answer->rounds_least) {
        compare_add(text, " to %d", answer->rounds_most);
    }
    compare_add(text, " %s a case%s", unit_of(answer),
                answer->rounds_least < least ? "" : ", enough for an interval of 95 %");
    if (!is_wide(answer)) {
        add_width(text, set, answer);
    }
    if (set->unpaired) {
        compare_add(text, "; the runs were at different times, for which %s %% is added",
                    short_percent(number, answer->drift));
    }
}

void compare_trust(char *text, const compare_set *set, const compare_answer *answer)
{
    char doubts[COMPARE_ROOM] = "", rest[COMPARE_ROOM] = "";
    add_doubts(doubts, set, answer);
    add_events(doubts, set, answer, true);
    add_figures(rest, set, answer);
    add_events(rest, set, answer, false);
    if (doubts[0] != '\0') {
        compare_add(text, "Take it with care: %s. It has %s.", doubts + 2, rest);
    } else {
        compare_add(text, "It can be believed: %s.", rest);
    }
}

/* ---- what would decide the rest -------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Appends how many rounds decide half of the undecided cases, and all that rounds can decide.
 * `rounds` is what each of n cases needs. */
static void add_rounds(char *text, double *rounds, int32_t n, int32_t undecided)
{
    int32_t half = (undecided + 1) / 2, decided = 0;
    qsort(rounds, (size_t)n, sizeof *rounds, ascending);
    double few = rounds[(half < n ? half : n) - 1], all = rounds[n - 1];
    while (decided < n && rounds[decided] <= few) {
        decided++;
    }
    compare_add(text, "about --rounds %.0f would decide %s%d", few,
                decided == undecided ? "all " : "", decided);
    if (all > few) {
        compare_add(text, ", and %.0f rounds %s%d", all, n == undecided ? "all " : "", n);
    }
}

void compare_needs(char *text, const compare_set *set, const compare_answer *answer)
{
    double *rounds = tool_alloc((size_t)set->count, sizeof *rounds, "the cases");
    int32_t undecided = answer->verdicts[STATS_AMBIGUOUS], n = 0, noisy = 0, drift = 0;
    for (int32_t i = 0; i < set->count; i++) {
        compare_need need = {COMPARE_DECIDED, 0};
        if (belongs(&set->rows[i], answer)) {
            need = compare_what_decides(set, &set->rows[i]);
        }
        noisy += need.kind == COMPARE_TOO_NOISY;
        drift += need.kind == COMPARE_DRIFTS;
        if (need.kind == COMPARE_TOO_FEW || need.kind == COMPARE_OVERLAPS) {
            rounds[n++] = need.rounds;
        }
    }
    if (undecided > 0) {
        compare_add(text, "Of the %d undecided, ", undecided);
    }
    if (n > 0) {
        add_rounds(text, rounds, n, undecided);
    }
    if (noisy > 0) {
        compare_add(text, "%smore than --rounds %d would be needed for %d", n > 0 ? "; " : "",
                    COMPARE_MOST_ROUNDS, noisy);
    }
    if (drift > 0) {
        compare_add(text, "%sonly `isomer bench --against` would decide %d",
                    n + noisy > 0 ? "; " : "", drift);
    }
    compare_add(text, "%s", undecided > 0 ? "." : "");
    free(rounds);
}
