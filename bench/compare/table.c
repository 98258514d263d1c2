/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - prints the tables of a comparison: a row for each case. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"
#include "common/printable.h"

#include <math.h>
#include <string.h>

static const char *const colours[] = {[STATS_SAME] = "",
                                      [STATS_FASTER] = "\033[32m",
                                      [STATS_SLOWER] = "\033[31m",
                                      [STATS_AMBIGUOUS] = "\033[33m"};

enum { NOTES = 1024 };

/* The columns that fit. */
typedef struct columns {
    int label;
    bool interval, p;
    size_t tail;         /* bytes at the end of the id that all rows share */
    char libraries[256]; /* which the rows of libraries share; "": they differ */
    char flags[256];     /* which all rows share */
} columns;

static bool shown(const compare_set *set, const compare_row *row)
{
    return row->judged && (set->rules.all || row->worse || row->c.verdict != STATS_SAME);
}

static bool same_group(const compare_row *x, const compare_row *y)
{
    return strcmp(x->op, y->op) == 0 && strcmp(x->a.device, y->a.device) == 0 &&
           strcmp(x->b.device, y->b.device) == 0;
}

/* The length of "gemm/" in "gemm/tiled/...": the heading already shows that part. */
static size_t head_of(const compare_row *row)
{
    size_t n = strlen(row->op);
    return strncmp(row->id, row->op, n) == 0 && row->id[n] == '/' ? n + 1 : 0;
}

/* The length of the words at the end that two ids share, such as "/strict/uniform/hot": at most
 * three words, and never a whole id. The heading shows them instead of the rows. */
static size_t tail_of(const compare_row *x, const compare_row *y, size_t most)
{
    size_t n = strlen(x->id) - head_of(x), m = strlen(y->id) - head_of(y), tail = 0;
    const char *p = x->id + strlen(x->id), *q = y->id + strlen(y->id);
    int words = 0;
    for (size_t k = 1; k < n && k < m && k <= most && words < 3 && *(p - k) == *(q - k); k++) {
        if (*(p - k) == '/') {
            tail = k;
            words++;
        }
    }
    return tail;
}

/* Appends the flags of both sides that need care, except for those that `known` has. */
static void add_cautions(char *text, size_t room, const compare_row *row, const char *known)
{
    for (int side = 0; side < 2; side++) {
        const json_t *result = side ? row->b.result : row->a.result;
        bool any = record_level_of(result) >= RECORD_CAUTION;
        for (const record_flag *flag = record_flags; flag->name && any; flag++) {
            char word[64];
            snprintf(word, sizeof word, "%c %s", "AB"[side], flag -> name);
            if (flag->level >= RECORD_CAUTION && record_has_flag(result, flag->name) &&
                !strstr(known, word)) {
                tool_join(text, room, ", ", word);
            }
        }
    }
}

/* Writes the libraries if they differ. Isomer's own versions are already shown at the top. */
static void libraries_of(const compare_row *row, char *text, size_t room)
{
    const char *a = row->a.library, *b = row->b.library;
    bool ours = strncmp(a, "isomer ", 7) == 0 && strncmp(b, "isomer ", 7) == 0;
    text[0] = '\0';
    if (!ours && strcmp(a, b) != 0) {
        snprintf(text, room, "A by %s, B by %s", a, b);
    }
}

/* Collects the notes on a row: what would decide it, and what the table's heading does not say: the
 * flags of both sides, a different size, math mode and libraries. */
static void notes_of(const compare_set *set, const compare_row *row, const columns *c, char *text)
{
    char word[512];
    compare_advice(set, row, text, NOTES);
    add_cautions(text, NOTES, row, c->flags);
    if (row->other) {
        snprintf(word, sizeof word, "B is %s", row->other);
        tool_join(text, NOTES, ", ", word);
    }
    if (!compare_same_math(row)) {
        snprintf(word, sizeof word, "not counted: %s has no %s",
                 record_text(row->a.result, "math_used")[0] != '\0' ? "A" : "B",
                 record_text(row->a.result, "math"));
        tool_join(text, NOTES, ", ", word);
    }
    const char *a = record_text(row->a.result, "variant_used");
    const char *b = record_text(row->b.result, "variant_used");
    if (a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0) {
        snprintf(word, sizeof word, "auto is %s in A, %s in B", a, b);
        tool_join(text, NOTES, ", ", word);
    }
    libraries_of(row, word, sizeof word);
    if (word[0] != '\0' && strcmp(word, c->libraries) != 0) {
        tool_join(text, NOTES, ", ", word);
    }
}

/* Keeps the flags of the list that the row has too. */
static void keep_shared(char *flags, size_t room, const compare_row *row)
{
    char all[NOTES] = "", kept[256] = "", *rest = flags, *word;
    add_cautions(all, sizeof all, row, "");
    while ((word = strtok_r(rest, ",", &rest))) {
        word += *word == ' ';
        if (strstr(all, word)) {
            tool_join(kept, sizeof kept, ", ", word);
        }
    }
    snprintf(flags, room, "%s", kept);
}

/* Finds what the rows of a table share, so that its heading can say it once. */
static void find_shared(const compare_set *set, const compare_row *first, columns *c)
{
    char own[256];
    bool alike = true;
    add_cautions(c->flags, sizeof c->flags, first, "");
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        if (!shown(set, row) || !same_group(row, first)) {
            continue;
        }
        c->tail = tail_of(row, first, c->tail);
        keep_shared(c->flags, sizeof c->flags, row);
        libraries_of(row, own, sizeof own);
        alike =
            alike && (own[0] == '\0' || c->libraries[0] == '\0' || strcmp(own, c->libraries) == 0);
        if (own[0] != '\0') {
            snprintf(c->libraries, sizeof c->libraries, "%s", own);
        }
    }
    if (!alike) {
        c->libraries[0] = '\0';
    }
}

static columns fit(const compare_set *set, const compare_row *first, int width)
{
    columns c = {.label = 4, .interval = true, .p = first->paired, .tail = SIZE_MAX};
    find_shared(set, first, &c);
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        int label = (int)(strlen(row->id) - head_of(row) - c.tail);
        if (shown(set, row) && same_group(row, first) && label > c.label) {
            c.label = label;
        }
    }
    int rest = 2 + 18 + 9 + 11; /* indent, times, ratio, verdict and the parts */
    rest += (c.p ? 8 : 0) + 17;
    if (c.label + rest > width &&
        c.p) { /* the interval explains the verdict; it is left out last */
        c.p = false;
        rest -= 8;
    }
    if (c.label + rest > width) {
        c.interval = false;
        rest -= 17;
    }
    if (c.label > width - rest) {
        c.label = width - rest;
    }
    return c;
}

/* Three digits, however small the ratio is. */
static const char *ratio_text(char *text, double ratio)
{
    int digits = ratio > 0 && ratio < 0.1 ? 2 - (int)floor(log10(ratio)) : 3;
    snprintf(text, 24, "%.*f", digits < 9 ? digits : 9, ratio);
    return text;
}

static void show_label(FILE *out, const compare_row *row, const columns *c)
{
    char id[1024];
    printable_line(id, sizeof id, row->id);
    const char *label = id + (strlen(id) > head_of(row) ? head_of(row) : 0);
    int length = (int)(strlen(label) > c->tail ? strlen(label) - c->tail : strlen(label));
    if (length <= c->label) {
        fprintf(out, "  %-*.*s", c->label, length, label);
    } else { /* keeps the end, which has the size */
        fprintf(out, "  ..%.*s", c->label - 2, label + length - (c->label - 2));
    }
}

static void show_row(FILE *out, const compare_set *set, const compare_row *row, const columns *c,
                     bool colour)
{
    char a[32], b[32], between[64], notes[NOTES];
    show_label(out, row, c);
    fprintf(out, " %8s %8s", record_time(a, sizeof a, row->a.median),
            record_time(b, sizeof b, row->b.median));
    fprintf(out, " %8s", ratio_text(a, row->c.ratio));
    if (c->interval) {
        snprintf(between, sizeof between, "%s-%s", ratio_text(a, row->c.low),
                 ratio_text(b, row->c.high));
        fprintf(out, " %16s", isfinite(row->c.low) ? between : "-");
    }
    if (c->p) {
        fprintf(out, " %7.4f", row->c.p);
    }
    bool coloured = colour && colours[row->c.verdict][0] != '\0';
    fputs("  ", out);
    tool_escape(out, coloured ? colours[row->c.verdict] : "");
    fputs(stats_verdict_name(row->c.verdict), out);
    tool_escape(out, coloured ? "\033[0m" : "");
    fputc('\n', out);
    notes_of(set, row, c, notes);
    if (notes[0] != '\0') {
        fprintf(out, "    ");
        tool_wrap(out, 4, 4, notes);
    }
}

static void show_group(FILE *out, const compare_set *set, const compare_row *first, int width,
                       bool colour)
{
    char text[1024];
    const char *op = bench_op_of(first->op)->name;
    columns c = fit(set, first, width);
    const json_t *b_root = set->b ? set->b : set->a;
    const json_t *a = record_device_of(set->a, first->a.device);
    const json_t *b = record_device_of(b_root, first->b.device);
    if (strcmp(first->a.device, first->b.device) == 0 &&
        strcmp(record_text(a, "name"), record_text(b, "name")) == 0) {
        snprintf(text, sizeof text, "%s on %s (%s)", op, first->a.device, record_text(a, "name"));
    } else {
        snprintf(text, sizeof text, "%s, A on %s (%s), B on %s (%s)", op, first->a.device,
                 record_text(a, "name"), first->b.device, record_text(b, "name"));
    }
    if (c.tail > 0) {
        tool_join(text, sizeof text, ", ", first->id + strlen(first->id) - c.tail + 1);
    }
    compare_heading(out, colour, text);
    if (c.flags[0] != '\0' || c.libraries[0] != '\0') {
        snprintf(text, sizeof text, "All rows: %s%s%s", c.flags,
                 c.flags[0] != '\0' && c.libraries[0] != '\0' ? "; the vendor's variant: " : "",
                 c.libraries);
        fputs("  ", out);
        tool_wrap(out, 2, 4, text);
    }
    fprintf(out, "  %-*s %8s %8s %8s", c.label, "case", "A", "B", "B/A");
    if (c.interval) {
        fprintf(out, " %16s", "95 % interval");
    }
    if (c.p) {
        fprintf(out, " %7s", "p");
    }
    fprintf(out, "  verdict\n");
    for (int32_t i = 0; i < set->count; i++) {
        if (shown(set, &set->rows[i]) && same_group(&set->rows[i], first)) {
            show_row(out, set, &set->rows[i], &c, colour);
        }
    }
}

void compare_table(FILE *out, const compare_set *set, int width, bool colour)
{
    int32_t hidden = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        bool seen = false;
        hidden += row->judged && !shown(set, row);
        if (!shown(set, row)) {
            continue;
        }
        for (int32_t k = 0; k < i && !seen; k++) {
            seen = shown(set, &set->rows[k]) && same_group(&set->rows[k], row);
        }
        if (!seen) {
            show_group(out, set, row, width, colour);
        }
    }
    if (hidden > 0) {
        fprintf(out, "\n%d %s the same; --all shows %s\n", hidden,
                hidden == 1 ? "case is" : "cases are", hidden == 1 ? "it" : "them");
    }
}
