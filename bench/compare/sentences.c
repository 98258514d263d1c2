/* SPDX-License-Identifier: Apache-2.0 */
/* sentences.c - a comparison in a few sentences. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void compare_add(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, COMPARE_ROOM - used, format, list);
    va_end(list);
}

void compare_add_size(char *text, const char *size)
{
    for (const char *p = size; *p != '\0'; p++) {
        bool unit = strchr("KMGT", *p) && p[1] == 'i';
        compare_add(text, unit ? " %c" : *p == 'x' ? " %c " : "%c", *p);
    }
}

/* Two or three digits of a ratio. */
static const char *short_number(char *text, double x)
{
    snprintf(text, 24, x >= 9.95 ? "%.0f" : x >= 1.995 ? "%.1f" : x >= 0.1 ? "%.2f" : "%.2g", x);
    return record_point(text);
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *compare_name(const compare_set *set, const compare_row *row, bool b, char *text,
                         size_t room)
{
    const char *device = b ? row->b.device : row->a.device;
    const char *files[] = {file_of(set->path_a), set->path_b ? file_of(set->path_b) : ""};
    bool alike = strcmp(files[0], files[1]) == 0;
    bool same_device = strcmp(row->a.device, row->b.device) == 0;
    const char *file = !set->b ? b ? "the other program" : "this program"
                       : alike ? b ? "B" : "A"
                               : files[b];
    if (set->b ? set->a == set->b || json_equal(set->a, set->b) : !same_device) {
        snprintf(text, room, "%s", device);
    } else {
        snprintf(text, room, "%s%s%s", same_device ? "" : device, same_device ? "" : " of ", file);
    }
    return text;
}

/* What a case is, for people: "gemm tiled f32 N = 1024 nt". */
static void label(char *text, const compare_row *row)
{
    static const char *const members[] = {"kind", "variant", "dtype"};
    const json_t *result = row->a.result, *shape = json_object_get(result, "shape");
    char size[48], note[64];
    record_size(size, sizeof size, shape);
    record_note(note, sizeof note, result);
    if (size[0] == '\0') {
        compare_add(text, "%s", row->id);
        return;
    }
    compare_add(text, "%s", bench_op_of(row->op)->name);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const char *word = record_text(result, members[i]);
        compare_add(text, "%s%s", word[0] != '\0' ? " " : "", word);
    }
    bool square = json_object_get(shape, "k") && size[strspn(size, "0123456789")] == '\0';
    compare_add(text, "%s", square ? " N = " : " ");
    compare_add_size(text, size);
    compare_add(text, "%s%s", note[0] != '\0' ? " " : "", note);
}

/* "9.1 times as fast", or "takes 2.1 times as long". */
static void add_times(char *text, double times)
{
    char number[24];
    bool fast = times > 0.995; /* "1.00" is the same either way */
    short_number(number, fast ? times : 1 / times);
    compare_add(text, fast ? "%s times as fast" : "takes %s times as long", number);
}

/* The winner is the subject of the sentences: how many times as fast it is, from what B is. */
static double for_winner(const compare_answer *answer, double times)
{
    return answer->times < 1 ? 1 / times : times;
}

/* ---- what is compared ------------------------------------------------------------------------ */

/* The library of a side if all counted rows of an operation have the same one; otherwise "". */
static const char *library_of(const compare_set *set, const compare_row *first, bool b)
{
    const char *library = NULL;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        const char *own = b ? row->b.library : row->a.library;
        if (!compare_counts(row) || !compare_same_devices(row, first) ||
            strncmp(own, "isomer ", 7) == 0) {
            continue;
        }
        if (library && strcmp(library, own) != 0) {
            return "several libraries";
        }
        library = own;
    }
    return library ? library : "";
}

void compare_add_side(char *text, const compare_set *set, const compare_row *row, bool b)
{
    char name[512];
    const json_t *root = b && set->b ? set->b : set->a;
    const char *device = b ? row->b.device : row->a.device;
    const char *model = record_text(record_device_of(root, device), "name");
    const char *library = library_of(set, row, b);
    compare_add(text, "%s (", compare_name(set, row, b, name, sizeof name));
    if (strcmp(row->a.device, row->b.device) == 0) {
        compare_add(text, "%s, ", device);
    }
    compare_add(text, "%s%s%s)", model, library[0] ? "; the vendor's variant is " : "", library);
}

/* ---- which is faster ------------------------------------------------------------------------- */

/* Lists up to three cases with this verdict, or else how many there are of each operation. */
static void add_cases(char *text, const compare_set *set, const compare_answer *answer,
                      stats_verdict verdict)
{
    int32_t count = answer->verdicts[verdict], listed = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        const char *before = listed == 0 ? ": " : ", ";
        if (count > 3 && compare_first_of_op(set, i)) {
            compare_answer of = compare_answer_of(set, answer->first, row->op);
            if (of.verdicts[verdict] > 0) {
                compare_add(text, "%s%s %d", before, bench_op_of(row->op)->name,
                            of.verdicts[verdict]);
                listed++;
            }
        } else if (count <= 3 && compare_counts(row) && compare_same_devices(row, answer->first) &&
                   row->c.verdict == verdict) {
            compare_add(text, "%s", before);
            label(text, row);
            listed++;
        }
    }
}

/* Appends two numbers of B in the order that they have for the winner. */
static void add_range(char *text, const compare_answer *answer, double low, double high,
                      const char *between)
{
    char number[24];
    double x = for_winner(answer, low), y = for_winner(answer, high);
    compare_add(text, "%s %s ", short_number(number, fmin(x, y)), between);
    compare_add(text, "%s", short_number(number, fmax(x, y)));
}

static void add_faster(char *text, const compare_set *set, const compare_answer *answer)
{
    char winner[512], loser[512];
    bool b = answer->times >= 1;
    stats_verdict better = b ? STATS_FASTER : STATS_SLOWER, worse = b ? STATS_SLOWER : STATS_FASTER;
    compare_add(text, "%s is faster than %s in %d of %d comparable cases, ",
                compare_name(set, answer->first, b, winner, sizeof winner),
                compare_name(set, answer->first, !b, loser, sizeof loser), answer->verdicts[better],
                answer->cases);
    add_times(text, for_winner(answer, answer->times));
    compare_add(text, " in the geometric mean");
    if (isfinite(answer->low)) {
        compare_add(text, " (");
        add_range(text, answer, answer->low, answer->high, "to");
        compare_add(text, " at 95 %%, of these cases");
    } else {
        compare_add(text, " (too few rounds for an interval");
    }
    if (answer->cases >= 4) {
        compare_add(text, "; half of them lie between ");
        add_range(text, answer, answer->quarter[0], answer->quarter[1], "and");
    }
    compare_add(text, ")");
    if (answer->verdicts[worse] > 0) {
        compare_add(text, "; slower in %d", answer->verdicts[worse]);
        add_cases(text, set, answer, worse);
    }
    if (answer->verdicts[STATS_SAME] > 0) {
        compare_add(text, "; the same in %d", answer->verdicts[STATS_SAME]);
    }
    if (answer->verdicts[STATS_AMBIGUOUS] > 0) {
        compare_add(text, "; undecided in %d", answer->verdicts[STATS_AMBIGUOUS]);
    }
    if (answer->other_math > 0) {
        compare_add(text, "; %d not compared, because the math mode differs", answer->other_math);
    }
    compare_add(text, ".");
}

/* ---- where ----------------------------------------------------------------------------------- */

typedef struct mean {
    const char *name;
    double times; /* for the winner */
} mean;

static int faster_first(const void *a, const void *b)
{
    double x = ((const mean *)a)->times, y = ((const mean *)b)->times;
    return (x < y) - (x > y);
}

/* Appends "gemm 23, map 6.2 times as fast; transfer takes 2.1 times as long", the best first. */
static void add_means(char *text, mean *means, int count)
{
    qsort(means, (size_t)count, sizeof *means, faster_first);
    for (int i = 0; i < count; i++) {
        char number[24];
        bool fast = means[i].times >= 1;
        bool first = i == 0 || (means[i - 1].times >= 1) != fast;
        bool last = i + 1 == count || (means[i + 1].times >= 1) != fast;
        compare_add(text, i == 0 ? "" : first ? "; " : ", ");
        compare_add(text, first && !fast ? "%s takes %s" : "%s %s", means[i].name,
                    short_number(number, fast ? means[i].times : 1 / means[i].times));
        compare_add(text, "%s", !last ? "" : fast ? " times as fast" : " times as long");
    }
}

/* Appends the means by who wrote the variant, and that of the fastest variants. */
static void add_variants(char *text, const compare_answer *answer, const compare_problem *problems,
                         int32_t count)
{
    mean by[] = {{"isomer's own", for_winner(answer, answer->by[0])},
                 {"the vendor's", for_winner(answer, answer->by[1])}};
    if (isfinite(by[0].times) && isfinite(by[1].times)) {
        compare_add(text, "By variant: ");
        add_means(text, by, 2);
        compare_add(text, ".");
    }
    if (count > 0 && count < answer->cases) {
        compare_add(text, "%sWith the fastest variant of each (%d problems): ",
                    text[0] != '\0' ? " " : "", count);
        add_times(text, for_winner(answer, compare_fastest_mean(problems, count)));
        compare_add(text, ".");
    }
}

static void add_where(char *text, const compare_set *set, const compare_answer *answer)
{
    mean ops[BENCH_OPS] = {0};
    int count = 0;
    const compare_row *best = answer->most, *worst = answer->least;
    for (int32_t i = 0; i < set->count && count < BENCH_OPS; i++) {
        compare_answer of = {.cases = 0};
        if (compare_first_of_op(set, i)) {
            of = compare_answer_of(set, answer->first, set->rows[i].op);
        }
        if (of.cases > 0) {
            ops[count++] = (mean){bench_op_of(set->rows[i].op)->name, for_winner(answer, of.times)};
        }
    }
    if (count > 1) {
        compare_add(text, "By operation: ");
        add_means(text, ops, count);
        compare_add(text, ". ");
    }
    if (answer->times < 1) {
        best = answer->least;
        worst = answer->most;
    }
    if (answer->cases > 1) {
        compare_add(text, "Best case: ");
        label(text, best);
        compare_add(text, ", ");
        add_times(text, for_winner(answer, 1 / best->c.ratio));
        compare_add(text, "; worst: ");
        label(text, worst);
        compare_add(text, ", ");
        add_times(text, for_winner(answer, 1 / worst->c.ratio));
    } else {
        label(text, answer->first);
    }
    compare_add(text, ".");
}

json_t *compare_sentences(const compare_set *set, const compare_row *first)
{
    enum { WHAT, FASTER, VARIANTS, WHERE, GAPS, TRUST, NEEDS, USE, LINES };
    compare_answer answer = compare_answer_of(set, first, NULL);
    char lines[LINES][COMPARE_ROOM] = {""};
    json_t *list = json_array();
    compare_add_side(lines[WHAT], set, first, true);
    compare_add(lines[WHAT], " against ");
    compare_add_side(lines[WHAT], set, first, false);
    if (answer.cases == 0) {
        compare_add(lines[FASTER], "No case counts: %d results are of stand-ins or invalid.",
                    answer.invalid);
    } else {
        compare_problem *problems;
        int32_t count = compare_fastest(set, first, &problems);
        bool devices = strcmp(first->a.device, first->b.device) != 0;
        add_faster(lines[FASTER], set, &answer);
        add_variants(lines[VARIANTS], &answer, problems, count);
        add_where(lines[WHERE], set, &answer);
        compare_gaps(lines[GAPS], set, first);
        compare_trust(lines[TRUST], set, &answer);
        compare_needs(lines[NEEDS], set, &answer);
        compare_use(lines[USE], set, first, problems, devices ? count : 0);
        free(problems);
    }
    for (int i = 0; i < LINES; i++) {
        if (lines[i][0] != '\0') {
            json_array_append_new(list, tool_json_text(lines[i]));
        }
    }
    return list;
}
