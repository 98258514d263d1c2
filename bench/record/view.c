/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - results sorted into blocks, rows and columns. */
#include "bench/record/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels of rows -------------------------------------------------------------------------- */

const char *record_count(char *text, size_t room, double count)
{
    static const char *const names[] = {"", "Ki", "Mi", "Gi", "Ti"};
    int unit = 0;
    while (unit < 4 && count >= 1024 && fmod(count, 1024) == 0) {
        count /= 1024;
        unit++;
    }
    snprintf(text, room, "%.0f%s", count, names[unit]);
    return text;
}

/* All numbers of a shape: the program's own kernels have parameters of any name. */
static void join_sizes(char *text, size_t room, const json_t *shape)
{
    const char *name;
    json_t *value;
    text[0] = '\0';
    json_object_foreach((json_t *)shape, name, value)
    {
        char one[24];
        if (json_is_number(value)) {
            size_t used = strlen(text);
            record_count(one, sizeof one, json_number_value(value));
            snprintf(text + used, room - used, "%s%s", used > 0 ? "x" : "", one);
        }
    }
}

void record_size(char *text, size_t room, const json_t *shape)
{
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    double k = record_number(shape, "k"), batch = record_number(shape, "batch");
    double rows = record_number(shape, "rows"), cols = record_number(shape, "cols");
    double bytes = record_number(shape, "bytes"), elements = record_number(shape, "elements");
    size_t members = json_object_size(shape), more = isfinite(batch) ? 1 : 0;
    /* of a symmetric product, n and k; of a solve, m and n */
    double first = isfinite(m) ? m : n, second = isfinite(m) ? n : k;
    bool pair = isfinite(first) && isfinite(second) && members == 2 + more;
    bool matrix = isfinite(rows) && isfinite(cols) && members == 2 + more;
    char one[24], other[24];
    text[0] = '\0';
    if (isfinite(bytes) && members == 1) {
        snprintf(text, room, "%sB", record_count(one, sizeof one, bytes));
    } else if (isfinite(elements) && members <= 2) {
        record_count(text, room, elements);
    } else if (matrix && rows == 1) {
        record_count(text, room, cols);
    } else if (matrix) {
        snprintf(text, room, "%sx%s", record_count(one, sizeof one, rows),
                 record_count(other, sizeof other, cols));
    } else if (pair && first == second) {
        snprintf(text, room, "%.0f", first);
    } else if (pair) {
        snprintf(text, room, "%.0fx%.0f", first, second);
    } else if (members != 3 + more || !isfinite(m) || !isfinite(n) || !isfinite(k)) {
        join_sizes(text, room, shape);
        return;
    } else if (m == n && n == k) {
        snprintf(text, room, "%.0f", m);
    } else {
        snprintf(text, room, "%.0fx%.0fx%.0f", m, n, k);
    }
    if (isfinite(batch) && batch > 1) {
        size_t used = strlen(text);
        snprintf(text + used, room - used, " *%.0f", batch);
    }
}

static void append(char *text, size_t room, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", used > 0 ? " " : "", word);
}

void record_note(char *text, size_t room, const json_t *result)
{
    const json_t *layout = json_object_get(result, "layout");
    const char *a = record_text(layout, "trans_a"), *b = record_text(layout, "trans_b");
    const char *axis = record_text(layout, "axis"), *fill = record_text(result, "fill");
    const char *side = record_text(layout, "side"), *triangle = record_text(layout, "triangle");
    const char *values = record_text(layout, "values"); /* of the program's own kernels */
    char word[24];
    text[0] = '\0';
    if (values[0] != '\0') {
        append(text, room, values);
    }
    if (strcmp(side, "right") == 0) {
        append(text, room, side);
    }
    if (strcmp(triangle, "upper") == 0) {
        append(text, room, triangle);
    }
    if (strchr(a, 't') || strchr(b, 't')) {
        snprintf(word, sizeof word, "%s%s", a, b);
        append(text, room, word);
    }
    if (axis[0] != '\0' && strcmp(axis, "all") != 0) {
        snprintf(word, sizeof word, "axis %.8s", axis);
        append(text, room, word);
    }
    if (fill[0] != '\0' && strcmp(fill, "uniform") != 0 && strcmp(fill, "ints") != 0 &&
        strcmp(fill, "described") != 0) {
        append(text, room, fill);
    }
    if (strcmp(record_text(result, "cache"), "cold") == 0) {
        append(text, room, "cold");
    }
}

/* ---- blocks, rows and columns ---------------------------------------------------------------- */

bool record_computes(const json_t *result)
{
    /* Devices do some 8 operations in the time in which they move a byte. */
    enum { BALANCE = 8 };
    const bench_op *op = bench_op_of(record_text(result, "op"));
    double bytes =
        record_number(result, "work.bytes_read") + record_number(result, "work.bytes_written");
    return bench_op_computes(op, record_text(result, "kind")) ||
           (op->own && record_number(result, "work.flops") > BALANCE * bytes);
}

static view_block *block_of(view *v, const json_t *result)
{
    const char *op = record_text(result, "op");
    bool flops = record_computes(result);
    for (int i = 0; i < v->count; i++) {
        if (strcmp(v->blocks[i].op, op) == 0 && v->blocks[i].flops == flops) {
            return &v->blocks[i];
        }
    }
    v->blocks = record_grow(v->blocks, v->count, sizeof *v->blocks);
    v->blocks[v->count] = (view_block){.op = op, .flops = flops};
    return &v->blocks[v->count++];
}

/* The row with this key; -1: there is none yet. It searches from the end, because the results of a
 * case follow each other. */
static int row_of(const view_block *block, const char *key)
{
    int row = block->row_count - 1;
    while (row >= 0 && strcmp(block->rows[row].key, key) != 0) {
        row--;
    }
    return row;
}

static void add_row(view_block *block, const json_t *result)
{
    char *key = record_case(result);
    if (row_of(block, key) >= 0) {
        free(key);
        return;
    }
    block->rows = record_grow(block->rows, block->row_count, sizeof *block->rows);
    view_row *row = &block->rows[block->row_count];
    *row = (view_row){.key = key,
                      .kind = record_text(result, "kind"),
                      .order = record_number(result, "size"),
                      .roof = strcmp(record_text(result, "for"), "roof") == 0,
                      .place = block->row_count++};
    bool strict = strcmp(record_text(result, "math"), "tf32") != 0;
    snprintf(row->type, sizeof row->type, "%s", strict ? record_text(result, "dtype") : "tf32");
    record_size(row->size, sizeof row->size, json_object_get(result, "shape"));
    record_note(row->note, sizeof row->note, result);
    const view_row *first = block->rows;
    while (strcmp(first->kind, row->kind) != 0 || strcmp(first->type, row->type) != 0) {
        first++;
    }
    row->group = first->place;
}

/* The column of a result; -1: there is none yet. A result without a library (unsupported, or it
 * needs none) goes to any column of its device and variant. */
static int column_of(const view_block *block, const json_t *result)
{
    const char *device = record_text(result, "device"), *variant = record_text(result, "variant");
    const char *library = record_text(result, "library");
    for (int i = 0; i < block->column_count; i++) {
        const view_column *c = &block->columns[i];
        if (strcmp(c->device, device) == 0 && strcmp(c->variant, variant) == 0 &&
            (library[0] == '\0' || strcmp(c->library, library) == 0)) {
            return i;
        }
    }
    return -1;
}

static int column_rank(const json_t *root, const view_column *column)
{
    static const char *const order[] = {"naive",    "tiled",  "fixed",  "partials", "vendor",
                                        "pageable", "pinned", "device", NULL};
    enum { OTHERS = sizeof order / sizeof order[0] };
    int variant = tool_find(order, column->variant), device = 0;
    const json_t *devices = json_object_get(root, "devices");
    while (json_array_get(devices, (size_t)device) != record_device_of(root, column->device)) {
        device++;
    }
    return device * (OTHERS + 1) + (variant < 0 ? OTHERS : variant);
}

static void add_column(const json_t *root, view_block *block, const json_t *result)
{
    if (column_of(block, result) >= 0) {
        return;
    }
    view_column column = {.device = record_text(result, "device"),
                          .variant = record_text(result, "variant"),
                          .library = record_text(result, "library"),
                          .place = block->column_count};
    column.rank = column_rank(root, &column);
    block->columns = record_grow(block->columns, block->column_count, sizeof *block->columns);
    block->columns[block->column_count++] = column;
}

static int compare_rows(const void *a, const void *b)
{
    const view_row *x = a, *y = b;
    int by_note = strcmp(x->note, y->note);
    if (x->group != y->group) {
        return x->group - y->group;
    }
    if (by_note != 0) {
        return by_note;
    }
    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return x->place - y->place;
}

static int compare_columns(const void *a, const void *b)
{
    const view_column *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : x->place - y->place;
}

static void sort_block(view_block *block)
{
    qsort(block->rows, (size_t)block->row_count, sizeof *block->rows, compare_rows);
    qsort(block->columns, (size_t)block->column_count, sizeof *block->columns, compare_columns);
    for (int i = 1; i < block->column_count; i++) {
        view_column *a = &block->columns[i - 1], *b = &block->columns[i];
        if (strcmp(a->device, b->device) == 0 && strcmp(a->variant, b->variant) == 0) {
            a->named = b->named = true;
        }
    }
    block->cells = record_need(
        calloc((size_t)block->row_count * (size_t)block->column_count, sizeof *block->cells));
}

void view_make(const json_t *root, view *out)
{
    const json_t *results = json_object_get(root, "results");
    json_t *result;
    size_t r;
    *out = (view){.root = root};
    record_signs_make(root, &out->signs);
    /* Results with a library come first, so that those without one can join their columns. */
    for (int named = 1; named >= 0; named--) {
        json_array_foreach(results, r, result)
        {
            view_block *block = block_of(out, result);
            if (named) {
                add_row(block, result);
            }
            if ((record_text(result, "library")[0] != '\0') == (named == 1)) {
                add_column(root, block, result);
            }
        }
    }
    for (int i = 0; i < out->count; i++) {
        sort_block(&out->blocks[i]);
    }
    json_array_foreach(results, r, result)
    {
        view_block *block = block_of(out, result);
        char *key = record_case(result);
        const json_t **cell =
            &block->cells[row_of(block, key) * block->column_count + column_of(block, result)];
        if (!*cell || !view_is(*cell, BENCH_OK)) {
            *cell = result;
        }
        free(key);
    }
}

void view_free(view *v)
{
    for (int i = 0; i < v->count; i++) {
        for (int r = 0; r < v->blocks[i].row_count; r++) {
            free(v->blocks[i].rows[r].key);
        }
        free(v->blocks[i].rows);
        free(v->blocks[i].columns);
        free(v->blocks[i].cells);
    }
    free(v->blocks);
    record_signs_free(&v->signs);
    *v = (view){0};
}

/* ---- titles and cells ------------------------------------------------------------------------ */

const char *view_title(const view_block *block)
{
    const bench_op *op = bench_op_of(block->op);
    const char *title = block->flops && op->computes_title ? op->computes_title : op->title;
    return title ? title : block->op;
}

const char *view_size_title(const view_block *block)
{
    return bench_op_of(block->op)->size;
}

const char *view_unit(const view_block *block)
{
    return block->flops ? "GFLOP/s" : "GB/s";
}

const json_t *view_cell(const view_block *block, int row, int column)
{
    return block->cells[row * block->column_count + column];
}

double view_rate(const view_block *block, const json_t *result)
{
    return record_number(result, block->flops ? "rates.gflops.value" : "rates.gbps.value");
}

bool view_is(const json_t *result, bench_status status)
{
    return strcmp(record_text(result, "status"), bench_status_name(status)) == 0;
}

bool view_counts(const json_t *result)
{
    return view_is(result, BENCH_OK) && record_level_of(result) != RECORD_INVALID;
}
