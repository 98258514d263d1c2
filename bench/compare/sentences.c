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

/* What a case is, for people: "gemm tiled f32 1024". */
static void label(char *text, const compare_row *row)
{
    static const char *const members[] = {"kind", "variant", "dtype"};
    const json_t *result = row->a.result;
    char size[48];
    record_size(size, sizeof size, json_object_get(result, "shape"));
    if (size[0] == '\0') {
        compare_add(text, "%s", row->id);
        return;
    }
    compare_add(text, "%s", bench_op_of(row->op)->name);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const char *word = record_text(result, members[i]);
        compare_add(text, "%s%s", word[0] != '\0' ? " " : "", word);
    }
    compare_add(text, " %s", size);
    if (strcmp(record_text(result, "cache"), "cold") == 0) {
        compare_add(text, " cold");
    }
}

/* "9.1 times as fast", or "takes 2.1 times as long". */
static void add_times(char *text, double times)
{
    char number[24];
    bool fast = times > 0.995; /* "1.00" is the same either way */
    short_number(number, fast ? times : 1 / times);
    compare_add(text, fast ? "%s times as fast" : "takes %s times as long", number);
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

static void add_side(char *text, const compare_set *set, const compare_row *row, bool b)
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

/* Lists up to three slower cases, or else how many there are of each operation. */
static void add_slower(char *text, const compare_set *set, const compare_answer *answer)
{
    int32_t slower = answer->verdicts[STATS_SLOWER], listed = 0;
    compare_add(text, "; slower in %d", slower);
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        const char *before = listed == 0 ? ": " : ", ";
        if (slower > 3 && compare_first_of_op(set, i)) {
            compare_answer of = compare_answer_of(set, answer->first, row->op);
            if (of.verdicts[STATS_SLOWER] > 0) {
                compare_add(text, "%s%s %d", before, bench_op_of(row->op)->name,
                            of.verdicts[STATS_SLOWER]);
                listed++;
            }
        } else if (slower <= 3 && compare_counts(row) && compare_same_devices(row, answer->first) &&
                   row->c.verdict == STATS_SLOWER) {
            compare_add(text, "%s", before);
            label(text, row);
            listed++;
        }
    }
}

static void add_faster(char *text, const compare_set *set, const compare_answer *answer)
{
    char a[512], b[512], number[24];
    bool mostly = 2 * answer->verdicts[STATS_FASTER] > answer->cases;
    compare_add(text, "%s is faster than %s in %d of %d comparable cases, ",
                compare_name(set, answer->first, true, b, sizeof b),
                compare_name(set, answer->first, false, a, sizeof a),
                answer->verdicts[STATS_FASTER], answer->cases);
    if (answer->times < 1) {
        compare_add(text, mostly ? "but " : "and ");
    }
    add_times(text, answer->times);
    compare_add(text, " in the geometric mean");
    if (isfinite(answer->low)) {
        bool fast = answer->times >= 1;
        double low = fast ? answer->low : 1 / answer->high;
        double high = fast ? answer->high : 1 / answer->low;
        compare_add(text, " (%s", short_number(number, low));
        compare_add(text, " to %s, 95 %%)", short_number(number, high));
    } else {
        compare_add(text, " (too few rounds for an interval)");
    }
    add_slower(text, set, answer);
    compare_add(text, "; the same in %d; undecided in %d.", answer->verdicts[STATS_SAME],
                answer->verdicts[STATS_AMBIGUOUS]);
}

/* ---- where ----------------------------------------------------------------------------------- */

typedef struct op_mean {
    const char *op;
    double times;
} op_mean;

static int faster_first(const void *a, const void *b)
{
    double x = ((const op_mean *)a)->times, y = ((const op_mean *)b)->times;
    return (x < y) - (x > y);
}

static void add_where(char *text, const compare_set *set, const compare_answer *answer)
{
    op_mean ops[BENCH_OPS] = {0};
    int count = 0;
    for (int32_t i = 0; i < set->count && count < BENCH_OPS; i++) {
        compare_answer of = {.cases = 0};
        if (compare_first_of_op(set, i)) {
            of = compare_answer_of(set, answer->first, set->rows[i].op);
        }
        if (of.cases > 0) {
            ops[count++] = (op_mean){bench_op_of(set->rows[i].op)->name, of.times};
        }
    }
    qsort(ops, (size_t)count, sizeof ops[0], faster_first);
    for (int i = 0; i < count && count > 1; i++) {
        char number[24];
        bool fast = ops[i].times >= 1;
        bool first = i == 0 || (ops[i - 1].times >= 1) != fast;
        bool last = i + 1 == count || (ops[i + 1].times >= 1) != fast;
        compare_add(text, i == 0 ? "By operation: " : first ? "; " : ", ");
        compare_add(text, first && !fast ? "%s takes %s" : "%s %s", ops[i].op,
                    short_number(number, fast ? ops[i].times : 1 / ops[i].times));
        compare_add(text, "%s", !last ? "" : fast ? " times as fast" : " times as long");
    }
    if (answer->cases > 1) {
        compare_add(text, "%sBest case: ", count > 1 ? ". " : "");
        label(text, answer->most);
        compare_add(text, ", ");
        add_times(text, 1 / answer->most->c.ratio);
        compare_add(text, "; worst: ");
        label(text, answer->least);
        compare_add(text, ", ");
        add_times(text, 1 / answer->least->c.ratio);
    } else {
        label(text, answer->first);
    }
    compare_add(text, ".");
}

json_t *compare_sentences(const compare_set *set, const compare_row *first)
{
    compare_answer answer = compare_answer_of(set, first, NULL);
    char lines[5][COMPARE_ROOM] = {""};
    json_t *list = json_array();
    add_side(lines[0], set, first, true);
    compare_add(lines[0], " against ");
    add_side(lines[0], set, first, false);
    if (answer.cases == 0) {
        compare_add(lines[1], "No case counts: %d results are of stand-ins or invalid.",
                    answer.invalid);
    } else {
        add_faster(lines[1], set, &answer);
        add_where(lines[2], set, &answer);
        compare_trust(lines[3], set, &answer);
        compare_needs(lines[4], set, &answer);
    }
    for (int i = 0; i < 5; i++) {
        if (lines[i][0] != '\0') {
            json_array_append_new(list, tool_json_text(lines[i]));
        }
    }
    return list;
}
