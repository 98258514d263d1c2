/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - prints a comparison. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"
#include "common/printable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 10 }; /* the most lines of a list without --all */

/* ---- summary --------------------------------------------------------------------------------- */

compare_sum compare_summary(const compare_set *set, const char *op)
{
    compare_sum sum = {.mean = NAN};
    double logs = 0;
    int32_t judged = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        if (op && strcmp(row->op, op) != 0) {
            continue;
        }
        sum.cases++;
        sum.worse += row->worse;
        if (!compare_counts(row)) {
            sum.unjudged++;
            continue;
        }
        sum.verdicts[row->c.verdict]++;
        logs += log(row->c.ratio);
        judged++;
    }
    if (judged > 0) {
        sum.mean = exp(logs / judged);
    }
    return sum;
}

bool compare_first_of_op(const compare_set *set, int32_t i)
{
    for (int32_t k = 0; k < i; k++) {
        if (strcmp(set->rows[k].op, set->rows[i].op) == 0) {
            return false;
        }
    }
    return true;
}

void compare_heading(FILE *out, bool colour, const char *text)
{
    fputc('\n', out);
    tool_escape(out, colour ? "\033[1m" : "");
    tool_wrap(out, 0, 2, text);
    tool_escape(out, colour ? "\033[0m" : "");
}

static void show_sum(FILE *out, const char *op, const compare_sum *s, int width)
{
    char mean[32] = "-", name[128];
    printable_line(name, sizeof name, op);
    if (isfinite(s->mean)) {
        snprintf(mean, sizeof mean, "%.3f", s->mean);
    }
    if (width >= 80) {
        fprintf(out, "  %-10s %6d %8d %8d %8d %10d %13d %8s\n", name, s->cases,
                s->verdicts[STATS_FASTER], s->verdicts[STATS_SLOWER], s->verdicts[STATS_SAME],
                s->verdicts[STATS_AMBIGUOUS], s->unjudged, mean);
    } else {
        fprintf(out, "  %-9s %5d %4d %4d %5d %4d\n", name, s->cases, s->verdicts[STATS_FASTER],
                s->verdicts[STATS_SLOWER], s->verdicts[STATS_SAME], s->verdicts[STATS_AMBIGUOUS]);
    }
}

static void show_summary(FILE *out, const compare_set *set, int width, bool colour)
{
    compare_heading(out, colour, "Summary");
    if (width >= 80) {
        fprintf(out, "  %-10s %6s %8s %8s %8s %10s %13s %8s\n", "operation", "cases", "FASTER",
                "SLOWER", "SAME", "AMBIGUOUS", "not compared", "mean B/A");
    } else {
        fprintf(out, "  %-9s %5s %4s %4s %5s %4s\n", "operation", "cases", "FAST", "SLOW", "SAME",
                "AMB.");
    }
    int32_t kinds = 0;
    for (int32_t i = 0; i < set->count; i++) {
        if (!compare_first_of_op(set, i)) {
            continue;
        }
        compare_sum s = compare_summary(set, set->rows[i].op);
        show_sum(out, bench_op_of(set->rows[i].op)->name, &s, width);
        kinds++;
    }
    compare_sum all = compare_summary(set, NULL);
    if (kinds > 1) {
        show_sum(out, "all", &all, width);
    }
    if (!isfinite(set->rules.fail_on)) {
        return;
    }
    const char *tint = all.worse > 0 ? "\033[31m" : "\033[32m";
    fputs("  ", out);
    tool_escape(out, colour ? tint : "");
    fprintf(out, "Gate of %g %%: %d of %d cases fail", 100 * set->rules.fail_on, all.worse,
            all.cases);
    tool_escape(out, colour ? "\033[0m" : "");
    fputc('\n', out);
}

/* ---- what is compared ------------------------------------------------------------------------ */

static void show_side(FILE *out, const char *name, const char *path, const json_t *root)
{
    char text[1024];
    const char *commit = record_text(root, "run.build.commit");
    const char *host = record_text(root, "run.host.name");
    const char *program = record_text(root, "run.program");
    snprintf(text, sizeof text, "%s: %s%s%s%s, %s%s%s", path, program[0] ? program : "isomer ",
             record_text(root, "run.version"), commit[0] ? " at " : "", commit,
             record_text(root, "run.time"), host[0] ? ", on " : "", host);
    tool_wrap(out, fprintf(out, "%s%s", name, name[0] ? "  " : ""), 3, text);
}

static void note(FILE *out, const char *mark, const char *text)
{
    int column = fprintf(out, "%s  ", mark);
    tool_wrap(out, column, 3, text);
}

void compare_flags(char *text, size_t room, const json_t *holder)
{
    const json_t *flag;
    size_t at;
    json_array_foreach(json_object_get(holder, "flags"), at, flag)
    {
        const char *name = json_string_value(flag);
        tool_join(text, room, " ", name ? name : "");
    }
}

/* Says what the numbers of the tables are. */
static void explain(FILE *out, const compare_set *set)
{
    char text[256];
    snprintf(text, sizeof text,
             "the time of B divided by the time of A; below 1, B is FASTER. Differences below "
             "%.3g %%, the least effect, do not count. A mean B/A is geometric.",
             100 * set->rules.least_effect);
    if (!set->several || set->rules.all) {
        note(out, "B/A", record_point(text));
    }
}

static void show_head(FILE *out, const compare_set *set)
{
    if (!set->b) {
        note(out, "A", record_text(set->a, "run.against.this"));
        note(out, "B", record_text(set->a, "run.against.program"));
        explain(out, set);
        return;
    }
    show_side(out, set->a == set->b ? "" : "A", set->path_a, set->a);
    if (set->a != set->b) {
        show_side(out, "B", set->path_b, set->b);
    }
    explain(out, set);
    if (set->unpaired) {
        note(out, "UNPAIRED",
             "A and B were measured at different times, so the spread between rounds is added to "
             "each interval. `isomer bench --against` measures them in turn.");
    }
    const json_t *text;
    size_t at;
    json_array_foreach(set->forced, at, text)
    {
        note(out, "FORCED", json_string_value(text));
    }
}

/* ---- rows without a ratio -------------------------------------------------------------------- */

enum { ONLY_A, ONLY_B, LOST, OTHERS, BOTH, LISTS };

static const char *const list_names[LISTS] = {
    [ONLY_A] = "Only in A",
    [ONLY_B] = "Only in B",
    [LOST] = "Measured in A, not in B",
    [OTHERS] = "Measured in B, not in A",
    [BOTH] = "Measured in neither",
};

static int list_of(const compare_row *row)
{
    if (row->lost) {
        return LOST;
    }
    if (row->judged && row->without_a > 0) { /* not ok in some pairs */
        return row->without_a > row->without_b ? OTHERS : BOTH;
    }
    if (row->judged) {
        return LISTS;
    }
    if (strcmp(row->b.status, "missing") == 0) {
        return ONLY_A;
    }
    if (strcmp(row->a.status, "missing") == 0) {
        return ONLY_B;
    }
    if (row->a.ok) {
        return LOST;
    }
    return row->b.ok ? OTHERS : BOTH;
}

/* Appends "B error: ...", and in how many pairs if it was not in all of them. */
static void add_side(char *text, size_t room, const char *who, const compare_row *row,
                     const compare_side *side)
{
    char pairs[80] = "";
    int32_t without = side == &row->a ? row->without_a : row->without_b;
    size_t used = strlen(text);
    if (without > 0 && without < row->made) {
        snprintf(pairs, sizeof pairs, "%sno result in %d of %d pairs", side->ok ? "" : ", ",
                 without, row->made);
    }
    const char *why = side->reason;
    if (strcmp(side->status, "missing") == 0 && why[0] == '\0') {
        why = "it has only other cases of that operation on that device";
    }
    snprintf(text + used, room - used, "\n%s %s%s%s%.900s", who, side->ok ? "" : side->status,
             pairs, why[0] != '\0' ? ": " : "", why);
}

static void show_unjudged(FILE *out, const compare_row *row, int list)
{
    char text[2600];
    bool alike = strcmp(row->a.status, row->b.status) == 0 && row->without_a == row->without_b &&
                 strcmp(row->a.reason, row->b.reason) == 0;
    const compare_side *side = list == ONLY_B ? &row->b : &row->a;
    bool only = (list == ONLY_A || list == ONLY_B) && strncmp(side->library, "isomer ", 7) != 0;
    snprintf(text, sizeof text, "%s on %s%s%s", row->id, side->device,
             only && side->library[0] != '\0' ? " by " : "", only ? side->library : "");
    if (list == LOST || list == BOTH) {
        add_side(text, sizeof text, alike ? "both" : "B", row, &row->b);
    }
    if (list == OTHERS || (list == BOTH && !alike)) {
        add_side(text, sizeof text, "A", row, &row->a);
    }
    fprintf(out, "  ");
    tool_wrap(out, 2, 6, text);
}

static void show_lists(FILE *out, const compare_set *set, bool colour)
{
    for (int list = 0; list < LISTS; list++) {
        int32_t count = 0;
        for (int32_t i = 0; i < set->count; i++) {
            if (list_of(&set->rows[i]) != list) {
                continue;
            }
            if (count++ == 0) {
                compare_heading(out, colour, list_names[list]);
            }
            if (count <= LISTED || set->rules.all || list == LOST) {
                show_unjudged(out, &set->rows[i], list);
            }
        }
        if (count > LISTED && !set->rules.all && list != LOST) {
            fprintf(out, "  and %d more; --all shows them\n", count - LISTED);
        }
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* How many times as fast b is as a, whichever of them was A; NaN: they were not compared. */
static double times_of(const compare_set *set, const char *b, const char *a)
{
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        bool same = strcmp(row->a.device, a) == 0 && strcmp(row->b.device, b) == 0;
        bool other = strcmp(row->a.device, b) == 0 && strcmp(row->b.device, a) == 0;
        if (row->judged && (same || other)) {
            double times = compare_answer_of(set, row, NULL).times;
            return same ? times : 1 / times;
        }
    }
    return NAN;
}

/* Prints a device with its library, from the first rows that have it. */
static void show_device(FILE *out, const compare_set *set, const char *device)
{
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        bool b = strcmp(row->b.device, device) == 0;
        if (row->judged && (b || strcmp(row->a.device, device) == 0)) {
            char text[COMPARE_ROOM] = "";
            compare_add_side(text, set, row, b);
            tool_wrap(out, 0, 3, text);
            return;
        }
    }
}

static void show_matrix(FILE *out, const compare_set *set, bool colour)
{
    tool_names names = {.count = 0};
    for (int32_t i = 0; i < set->count; i++) {
        if (compare_first_of_devices(set, i)) {
            tool_names_add(&names, set->rows[i].b.device);
            tool_names_add(&names, set->rows[i].a.device);
        }
    }
    if (names.count == 0) {
        return;
    }
    fputc('\n', out);
    for (int i = 0; i < names.count; i++) {
        show_device(out, set, names.items[i]);
    }
    compare_heading(
        out, colour,
        "Each number: how many times as fast the device at the left is as the device at the top "
        "(geometric mean)");
    fprintf(out, "  %-10s", "");
    for (int a = 0; a < names.count; a++) {
        fprintf(out, " %10.10s", names.items[a]);
    }
    for (int b = 0; b < names.count; b++) {
        fprintf(out, "\n  %-10.10s", names.items[b]);
        for (int a = 0; a < names.count; a++) {
            char text[24] = "-";
            double times = a == b ? NAN : times_of(set, names.items[b], names.items[a]);
            if (isfinite(times)) {
                snprintf(text, sizeof text, times >= 9.95 ? "%.0f" : "%.3g", times);
            }
            fprintf(out, " %10s", record_point(text));
        }
    }
    fputc('\n', out);
}

static void show_sentences(FILE *out, const compare_set *set, bool colour)
{
    char brief[512];
    for (int32_t i = 0; i < set->count; i++) {
        if (!compare_first_of_devices(set, i)) {
            continue;
        }
        json_t *list = compare_sentences(set, &set->rows[i]), *text;
        size_t at;
        json_array_foreach(list, at, text)
        {
            if (at == 0) { /* with several pairs, the devices are described above */
                const compare_row *row = &set->rows[i];
                snprintf(brief, sizeof brief, "%s against %s", row->b.device, row->a.device);
                compare_heading(out, colour, set->several ? brief : json_string_value(text));
            } else {
                fputs("  ", out);
                tool_wrap(out, 2, 2, json_string_value(text));
            }
        }
        json_decref(list);
    }
}

void compare_show(FILE *out, const compare_set *set, int width, bool colour)
{
    show_head(out, set);
    if (!set->several || set->rules.all) {
        compare_table(out, set, width, colour);
        show_lists(out, set, colour);
    }
    if (set->several) {
        show_matrix(out, set, colour);
    } else {
        show_summary(out, set, width, colour);
    }
    show_sentences(out, set, colour);
}
