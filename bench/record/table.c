/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - results on the terminal. If the width is too small, a table first leaves out the
 * variants "partials" and "naive" of a device if they are not the fastest in any row. If that is
 * not enough, it shows only the fastest variant of each device, and puts devices below each other.
 * A note under the table says so.
 */
#include "bench/record/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, GAP = 2, GROUP_GAP = 3 };

/* A column as it is shown. It combines the block's columns `first` to `last`, which are of one
 * device: each row shows the fastest of them. */
typedef struct shown {
    int first, last;
    int rate, percent, marks, width;
    char title[24];
} shown;

typedef struct plan {
    const view_block *block;
    int *rows;               /* the shown rows of the block */
    int row_count, measured; /* how many are shown, and how many could be */
    shown *columns;
    int count;
    int kind, type, size, note; /* widths of the labels; 0: not shown */
    int variant;                /* the width of a variant's name */
    bool best;                  /* one column for each device */
} plan;

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct cell {
    const json_t *result; /* NULL: there is none */
    bool ok, top;
    char rate[24], percent[16], marks[4];
} cell;

/* How important a result without a number is. */
static int urgency(const json_t *result)
{
    return view_is(result, BENCH_FAILED) ? 2 : view_is(result, BENCH_ERROR) ? 1 : 0;
}

/* The rank of a result: higher with a number than without, and lower if the number is invalid. */
static int worth(const json_t *result)
{
    return view_counts(result) ? 4 : view_is(result, BENCH_OK) ? 3 : urgency(result);
}

/* Returns the column, between `first` and `last`, that holds the row's fastest result. If no result
 * has a number, it is the column of the most urgent one; if there is no result, -1. */
static int pick(const view_block *block, int row, int first, int last)
{
    int best = -1;
    for (int c = first; c <= last; c++) {
        const json_t *own = view_cell(block, row, c);
        const json_t *other = best < 0 ? NULL : view_cell(block, row, best);
        int by = !own ? -1 : !other ? 1 : worth(own) - worth(other);
        if (by > 0 || (by == 0 && view_rate(block, own) > view_rate(block, other))) {
            best = c;
        }
    }
    return best;
}

static void percent_text(char *text, size_t room, double percent)
{
    text[0] = '\0';
    if (!isfinite(percent)) {
        return;
    }
    if (percent >= 999.5) {
        snprintf(text, room, ">999%%");
    } else if (percent < 0.95) {
        snprintf(text, room, "<1%%");
    } else {
        snprintf(text, room, "%.0f%%", percent);
    }
}

static void fill_cell(table *t, const view_block *block, int row, const shown *column, cell *out)
{
    int from = pick(block, row, column->first, column->last);
    *out = (cell){.result = NULL};
    if (from < 0) {
        return;
    }
    out->result = view_cell(block, row, from);
    double rate = view_rate(block, out->result);
    record_level sign = record_sign(&t->v.signs, out->result);
    out->ok = view_is(out->result, BENCH_OK) && isfinite(rate) && sign != RECORD_INVALID;
    if (!out->ok) {
        int how = urgency(out->result);
        bool ok = view_is(out->result, BENCH_OK);
        snprintf(out->rate, sizeof out->rate, "%s",
                 how == 2   ? "FAILED"
                 : how == 1 ? "error"
                 : ok       ? "invalid"
                            : "-");
        t->missing = t->missing || (how == 0 && !ok);
        t->invalid = t->invalid || ok;
        return;
    }
    record_rate(out->rate, sizeof out->rate, rate);
    percent_text(out->percent, sizeof out->percent, record_percent(out->result));
    out->top = block->column_count > 1 && view_counts(out->result) &&
               from == pick(block, row, 0, block->column_count - 1);
    snprintf(out->marks, sizeof out->marks, "%s%s", out->top && !t->p.colour ? "*" : "",
             sign == RECORD_CAUTION ? "!" : "");
    t->top = t->top || out->top;
    t->caution = t->caution || sign == RECORD_CAUTION;
}

/* ---- which rows ------------------------------------------------------------------------------ */

static bool same_group(const view_row *a, const view_row *b)
{
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->type, b->type) == 0 &&
           strcmp(a->note, b->note) == 0;
}

static int group_end(const view_block *block, int begin)
{
    int end = begin + 1;
    while (end < block->row_count && same_group(&block->rows[begin], &block->rows[end])) {
        end++;
    }
    return end;
}

/* Whether anything was measured in these cells. If not, the text below the tables says why, once
 * for all such cases of a device. */
static bool measured(const view_block *block, int row, int first, int last)
{
    for (int c = first; c <= last; c++) {
        const json_t *result = view_cell(block, row, c);
        if (view_is(result, BENCH_OK) || urgency(result) > 0) {
            return true;
        }
    }
    return false;
}

static int group_rows(const view_block *block, int begin, int end)
{
    int count = 0;
    for (int i = begin; i < end; i++) {
        count += measured(block, i, 0, block->column_count - 1);
    }
    return count;
}

/* The n-th measured row of a group. */
static int group_row(const view_block *block, int begin, int n)
{
    int row = begin;
    while (!measured(block, row, 0, block->column_count - 1) || n-- > 0) {
        row++;
    }
    return row;
}

/* Chooses as many sizes of each kind and type as there is room for: the largest, the smallest, and
 * some in between. */
static void choose_rows(plan *p)
{
    const view_block *block = p->block;
    int groups = 0;
    p->rows = record_need(calloc((size_t)block->row_count, sizeof *p->rows));
    for (int i = 0; i < block->row_count; i = group_end(block, i)) {
        int count = group_rows(block, i, group_end(block, i));
        groups += count > 0;
        p->measured += count;
    }
    int each = p->measured <= ROWS ? p->measured : ROWS / groups < 1 ? 1 : ROWS / groups;
    for (int i = 0, end; i < block->row_count; i = end) {
        end = group_end(block, i);
        int count = group_rows(block, i, end), keep = count < each ? count : each;
        for (int k = 0; k < keep; k++) {
            int n = keep == 1 ? count - 1 : (k * (count - 1) + (keep - 1) / 2) / (keep - 1);
            p->rows[p->row_count++] = group_row(block, i, n);
        }
    }
}

/* ---- which columns --------------------------------------------------------------------------- */

/* Whether a column has this variant and may be left out: it is not the fastest of its device in any
 * row. */
static bool can_go(const view_block *block, int column, const char *variant)
{
    int first = column, last = column;
    const char *device = block->columns[column].device;
    if (strcmp(block->columns[column].variant, variant) != 0) {
        return false;
    }
    while (first > 0 && strcmp(block->columns[first - 1].device, device) == 0) {
        first--;
    }
    while (last + 1 < block->column_count && strcmp(block->columns[last + 1].device, device) == 0) {
        last++;
    }
    for (int r = 0; r < block->row_count; r++) {
        const json_t *own = view_cell(block, r, column);
        if (own && !view_is(own, BENCH_UNSUPPORTED) && !view_is(own, BENCH_SKIPPED) &&
            pick(block, r, first, last) == column) {
            return false;
        }
    }
    return first < last;
}

static int greater(int a, int b)
{
    return a > b ? a : b;
}

/* The width of a rate and its percentage. */
static int numbers_width(const shown *column)
{
    return column->rate + (column->percent > 0 ? 1 : 0) + column->percent;
}

static void measure_column(table *t, const plan *p, shown *column)
{
    column->width = paint_columns(column->title);
    for (int i = 0; i < p->row_count; i++) {
        cell c;
        fill_cell(t, p->block, p->rows[i], column, &c);
        if (c.ok) {
            column->rate = greater(column->rate, paint_columns(c.rate));
            column->percent = greater(column->percent, paint_columns(c.percent));
            column->marks = greater(column->marks, paint_columns(c.marks));
        }
        column->width = greater(column->width, paint_columns(c.rate));
    }
    int numbers = numbers_width(column) + column->marks;
    column->width = greater(column->width, p->best ? numbers + 1 + p->variant : numbers);
}

static void title_column(const view_column *from, shown *to)
{
    /* The first word is enough: "cuBLAS" of "cuBLAS 13.1". */
    const char *text = from->named ? from->library : from->variant;
    size_t length = strcspn(text, " ");
    snprintf(to->title, sizeof to->title, "%.*s",
             (int)(length < sizeof to->title ? length : sizeof to->title - 1), text);
}

static const char *device_of(const plan *p, int column)
{
    return p->block->columns[p->columns[column].first].device;
}

/* The column after the last one of the same device. */
static int device_end(const plan *p, int column)
{
    int end = column + 1;
    while (end < p->count && strcmp(device_of(p, end), device_of(p, column)) == 0) {
        end++;
    }
    return end;
}

static int device_width(const plan *p, int begin)
{
    int end = device_end(p, begin), width = (end - begin - 1) * GAP;
    for (int i = begin; i < end; i++) {
        width += p->columns[i].width;
    }
    return width;
}

/* Makes room for a device's name over its columns. */
static void widen(plan *p)
{
    for (int i = 0; i < p->count; i = device_end(p, i)) {
        int lacking = paint_columns(device_of(p, i)) - device_width(p, i);
        if (lacking > 0) {
            p->columns[device_end(p, i) - 1].width += lacking;
        }
    }
}

/* Chooses which of the block's columns are shown, and how wide they are. Columns of the variants in
 * `left_out` are not shown if can_go allows it. */
static void choose_columns(table *t, plan *p, const char *const *left_out, int left_count)
{
    const view_block *block = p->block;
    p->count = 0;
    for (int i = 0; i < block->column_count; i++) {
        bool drop = true;
        for (int r = 0; r < block->row_count && drop; r++) {
            drop = !measured(block, r, i, i);
        }
        for (int k = 0; k < left_count; k++) {
            drop = drop || can_go(block, i, left_out[k]);
        }
        if (drop) {
            continue;
        }
        shown *column = &p->columns[p->count];
        if (p->best && p->count > 0 &&
            strcmp(block->columns[column[-1].first].device, block->columns[i].device) == 0) {
            column[-1].last = i;
            continue;
        }
        *column = (shown){.first = i, .last = i};
        if (!p->best) {
            title_column(&block->columns[i], column);
        }
        p->count++;
    }
    for (int i = 0; i < p->count; i++) {
        measure_column(t, p, &p->columns[i]);
    }
    widen(p);
}

static void measure_labels(plan *p)
{
    for (int i = 0; i < p->block->column_count; i++) {
        p->variant = greater(p->variant, paint_columns(p->block->columns[i].variant));
    }
    for (int i = 0; i < p->row_count; i++) {
        const view_row *row = &p->block->rows[p->rows[i]];
        p->kind = greater(p->kind, paint_columns(row->kind));
        p->type = greater(p->type, paint_columns(row->type));
        p->size = greater(p->size, paint_columns(row->size));
        p->note = greater(p->note, paint_columns(row->note));
    }
    p->size = greater(p->size, paint_columns(view_size_title(p->block)));
    p->type = p->type > 0 ? greater(p->type, 4) : 0;
}

static int labels_width(const plan *p)
{
    return 1 + (p->kind > 0 ? p->kind + 1 : 0) + (p->type > 0 ? p->type + 1 : 0) + p->size +
           (p->note > 0 ? p->note + 1 : 0);
}

/* The column after the last device that still fits beside the one at `begin`. */
static int fitting(const table *t, const plan *p, int begin)
{
    int end = begin, width = labels_width(p);
    while (end < p->count) {
        width += GROUP_GAP + device_width(p, end);
        if (end > begin && width > t->p.width) {
            break;
        }
        end = device_end(p, end);
        if (width > t->p.width) {
            break;
        }
    }
    return end;
}

static bool fits(const table *t, const plan *p)
{
    int width = labels_width(p);
    for (int i = 0; i < p->count; i = device_end(p, i)) {
        width += GROUP_GAP + device_width(p, i);
    }
    return width <= t->p.width;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_headings(table *t, const plan *p, int begin, int end)
{
    paint *out = &t->p;
    paint_pad(out, labels_width(p));
    for (int i = begin; i < end; i = device_end(p, i)) {
        int left = device_width(p, i) - paint_columns(device_of(p, i));
        const char *name = record_text(record_device_of(t->root, device_of(p, i)), "name");
        paint_pad(out, GROUP_GAP);
        paint_put(out, PAINT_BOLD, device_of(p, i));
        if (name[0] != '\0' && left > paint_columns(name) + 3) {
            paint_pad(out, 1);
            paint_put(out, PAINT_PLAIN, name);
            left -= 1 + paint_columns(name);
        }
        if (left > 1) {
            paint_pad(out, 1);
            paint_rule(out, left - 1);
        }
    }
    paint_end(out);
    paint_pad(out, 1);
    if (p->kind > 0) {
        paint_pad(out, p->kind + 1);
    }
    if (p->type > 0) {
        paint_left(out, PAINT_DIM, "type", p->type + 1);
    }
    paint_right(out, PAINT_DIM, view_size_title(p->block), p->size);
    if (p->note > 0) {
        paint_pad(out, p->note + 1);
    }
    for (int i = begin; i < end; i++) {
        bool first = i == begin || strcmp(device_of(p, i), device_of(p, i - 1)) != 0;
        const shown *c = &p->columns[i];
        paint_pad(out, first ? GROUP_GAP : GAP);
        paint_pad(out, c->width - c->marks - paint_columns(c->title));
        paint_left(out, PAINT_DIM, p->best ? "" : c->title,
                   c->width < c->marks + paint_columns(c->title) ? 0 : c->marks);
    }
    paint_end(out);
}

static void print_cell(table *t, const plan *p, int row, const shown *column)
{
    paint *out = &t->p;
    cell c;
    fill_cell(t, p->block, row, column, &c);
    int extra = p->best ? 1 + p->variant : 0;
    if (!c.ok) {
        int room = column->width - column->marks - extra, lacking = paint_columns(c.rate) - room;
        paint_right(out, urgency(c.result) > 0 ? PAINT_BAD : PAINT_DIM, c.rate,
                    lacking > 0 ? room + lacking : room);
        paint_pad(out, column->marks + extra - (lacking > 0 ? lacking : 0));
        return;
    }
    paint_pad(out, column->width - numbers_width(column) - column->marks - extra);
    paint_right(out, c.top ? PAINT_GOOD : PAINT_PLAIN, c.rate, column->rate);
    if (column->percent > 0) {
        paint_pad(out, 1);
        paint_right(out, c.top ? PAINT_BOLD : PAINT_DIM, c.percent, column->percent);
    }
    paint_left(out, PAINT_DIM, c.marks, column->marks);
    if (p->best) {
        paint_pad(out, 1);
        int before = out->column;
        paint_fit(out, PAINT_DIM, record_text(c.result, "variant"), p->variant);
        paint_pad(out, p->variant - (out->column - before));
    }
}

static void print_row(table *t, const plan *p, int index, int begin, int end)
{
    paint *out = &t->p;
    const view_row *row = &p->block->rows[p->rows[index]];
    const view_row *before = index > 0 ? &p->block->rows[p->rows[index - 1]] : NULL;
    bool new_kind = !before || strcmp(row->kind, before->kind) != 0;
    bool new_type = new_kind || strcmp(row->type, before->type) != 0;
    paint_pad(out, 1);
    if (p->kind > 0) {
        paint_left(out, PAINT_BOLD, new_kind ? row->kind : "", p->kind + 1);
    }
    if (p->type > 0) {
        paint_left(out, PAINT_PLAIN, new_type ? row->type : "", p->type + 1);
    }
    paint_right(out, PAINT_PLAIN, row->size, p->size);
    if (p->note > 0) {
        paint_pad(out, 1);
        paint_left(out, PAINT_DIM, row->note, p->note);
    }
    for (int i = begin; i < end; i++) {
        bool first = i == begin || strcmp(device_of(p, i), device_of(p, i - 1)) != 0;
        paint_pad(out, first ? GROUP_GAP : GAP);
        print_cell(t, p, p->rows[index], &p->columns[i]);
    }
    paint_end(out);
}

static void print_title(table *t, const plan *p)
{
    paint *out = &t->p;
    char unit[64];
    bool percents = false;
    for (int i = 0; i < p->count; i++) {
        percents = percents || p->columns[i].percent > 0;
    }
    snprintf(unit, sizeof unit, "%s%s", view_unit(p->block),
             percents ? " and percent of roof" : "");
    paint_end(out);
    paint_put(out, PAINT_BOLD, view_title(p->block));
    paint_put(out, PAINT_PLAIN, "  ");
    paint_put(out, PAINT_DIM, unit);
    paint_end(out);
}

static void say_folds(table *t, const plan *p, const char *const *left_out, int left_count)
{
    enum { NAME_MOST = 32, JOINED_MOST = NAME_MOST + 5 };
    char text[256] = "", names[3 * JOINED_MOST + 1] = "";
    size_t used = 0;
    for (int k = 0; k < left_count; k++) {
        bool had = false;
        for (int i = 0; i < p->block->column_count; i++) {
            had = had || can_go(p->block, i, left_out[k]);
        }
        if (had && used + JOINED_MOST < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
                                     used > 0 ? " and " : "", NAME_MOST, left_out[k]);
        }
    }
    used = 0;
    if (p->row_count < p->measured) {
        used += (size_t)snprintf(text, sizeof text, "%d of %d rows. ", p->row_count, p->measured);
    }
    if (names[0] != '\0') {
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "Left out to save width: %s, never the fastest of a device. ", names);
    }
    if (p->best) {
        snprintf(text + used, sizeof text - used,
                 "Only the fastest variant of each device: the width is too small for all.");
    }
    if (text[0] == '\0') {
        return;
    }
    paint_pad(&t->p, 1);
    paint_wrap(&t->p, PAINT_DIM, 1, text);
    paint_end(&t->p);
    t->folded = true;
}

static void print_block(table *t, const view_block *block)
{
    static const char *const least[] = {"partials", "naive"};
    plan p = {.block = block};
    int left_out = 0;
    p.columns = record_need(calloc((size_t)block->column_count, sizeof *p.columns));
    choose_rows(&p);
    if (p.row_count == 0) {
        free(p.columns);
        free(p.rows);
        return;
    }
    measure_labels(&p);
    choose_columns(t, &p, NULL, 0);
    while (!fits(t, &p) && left_out < 2) {
        choose_columns(t, &p, least, ++left_out);
    }
    if (!fits(t, &p)) {
        p.best = true;
        left_out = 0;
        choose_columns(t, &p, NULL, 0);
    }
    print_title(t, &p);
    for (int begin = 0, end; begin < p.count; begin = end) {
        end = fitting(t, &p, begin);
        if (begin > 0) {
            paint_end(&t->p);
        }
        print_headings(t, &p, begin, end);
        for (int i = 0; i < p.row_count; i++) {
            print_row(t, &p, i, begin, end);
        }
    }
    say_folds(t, &p, least, left_out);
    free(p.columns);
    free(p.rows);
}

/* A block has only cases that measure roofs, or none. */
static bool measures_roofs(const view_block *block)
{
    return block->row_count > 0 && block->rows[0].roof;
}

static void print_notes(table *t)
{
    json_t *note;
    size_t i;
    json_array_foreach((json_t *)t->how->notes, i, note)
    {
        paint_pad(&t->p, 1);
        paint_wrap(&t->p, PAINT_DIM, 1, json_string_value(note));
        paint_end(&t->p);
    }
}

void record_table(FILE *out, const json_t *root, int width, bool colour,
                  const record_table_how *how)
{
    static const record_table_how usual = {.no_roofs = false};
    table t = {.root = root, .how = how ? how : &usual};
    t.p = (paint){.out = out, .width = width < 40 ? 40 : width, .colour = colour};
    t.p.utf8 = table_utf8();
    view_make(root, &t.v);
    table_head(&t);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < t.v.count; i++) {
            bool last = t.how->notes && measures_roofs(&t.v.blocks[i]);
            if (last == (pass == 1) && !(last && t.how->no_roofs)) {
                print_block(&t, &t.v.blocks[i]);
            }
        }
        if (pass == 0) {
            print_notes(&t);
        }
    }
    table_energy(&t);
    table_foot(&t);
    view_free(&t.v);
}
