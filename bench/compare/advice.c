/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c - says what would decide a case that is AMBIGUOUS. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>

/* How far the interval must shrink for a verdict, and its half on that side. All are logarithms. */
static void distance(const compare_set *set, const compare_row *row, double *wanted, double *half)
{
    double much = log1p(set->rules.least_effect), ratio = log(row->c.ratio), size = fabs(ratio);
    double up = log(row->c.high) - ratio, down = ratio - log(row->c.low);
    bool outer = size < much; /* SAME needs the end that is farther from 1, the others the nearer */
    *half = (ratio > 0) == outer ? up : down;
    /* A narrow interval around the least effect is decided too. */
    *wanted = fmax(fabs(size - much), STATS_EDGE * much - fabs(size - much));
    if (row->paired && !outer) {
        *wanted = size / 1.3; /* pairs need p <= 0.01, for which 1.3 times the interval is wide */
    }
}

compare_need compare_what_decides(const compare_set *set, const compare_row *row)
{
    compare_need need = {COMPARE_DECIDED, 0};
    int32_t least = row->paired ? COMPARE_PAIRS_LEAST : STATS_FEW;
    double wanted, half;
    if (!row->judged || row->c.verdict != STATS_AMBIGUOUS) {
        return need;
    }
    distance(set, row, &wanted, &half);
    double fixed = log1p(row->drift); /* more rounds do not reduce it */
    double rounds = row->pairs * pow((half - fixed) / (wanted - fixed), 2);
    if (isfinite(half) && fixed >= wanted) {
        need.kind = COMPARE_DRIFTS;
    } else if (row->pairs < least && !(rounds > least)) {
        need = (compare_need){COMPARE_TOO_FEW, least};
    } else if (!(rounds <= COMPARE_MOST_ROUNDS)) {
        need = (compare_need){COMPARE_TOO_NOISY, COMPARE_MOST_ROUNDS};
    } else {
        need = (compare_need){COMPARE_OVERLAPS, (int32_t)fmax(ceil(rounds), row->pairs + 1)};
    }
    return need;
}

/* What is known of a case although it is AMBIGUOUS. */
static void overlap_text(const compare_set *set, const compare_row *row, char *text, size_t room)
{
    const char *word = row->c.high < 1 ? "faster" : row->c.low > 1 ? "slower" : NULL;
    if (word) {
        snprintf(text, room, "%s, but whether by more than %.3g %% is not known", word,
                 100 * set->rules.least_effect);
        record_point(text);
    } else {
        snprintf(text, room, "the intervals overlap");
    }
}

const char *compare_advice(const compare_set *set, const compare_row *row, char *text, size_t room)
{
    const char *unit = row->paired ? "pairs" : "rounds";
    compare_need need = compare_what_decides(set, row);
    char known[96];
    text[0] = '\0';
    switch (need.kind) {
    case COMPARE_DECIDED:
        break;
    case COMPARE_DRIFTS:
        snprintf(text, room,
                 "two runs may differ by %.0f %% by chance: no number of rounds decides; use "
                 "`isomer bench --against`",
                 100 * row->drift);
        break;
    case COMPARE_TOO_FEW:
        snprintf(text, room, "%d of %d %s: run with --rounds %d", row->pairs, need.rounds, unit,
                 need.rounds);
        break;
    case COMPARE_TOO_NOISY:
        snprintf(text, room, "too noisy: more than %d %s would be needed", need.rounds, unit);
        break;
    case COMPARE_OVERLAPS:
        overlap_text(set, row, known, sizeof known);
        snprintf(text, room, "%s: about %d %s would decide it", known, need.rounds, unit);
        break;
    }
    return text;
}
