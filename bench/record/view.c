/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - results sorted into blocks, rows and columns. */
#include "bench/record/view.h"
#include "bench/ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a result is called ----------------------------------------------------------------- */

/* 67108864 as "64Mi". */
static const char *count_text(char *text, size_t room, double count)
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

static void size_text(char *text, size_t room, const json_t *shape)
{
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    double k = record_number(shape, "k"), batch = record_number(shape, "batch");
    double rows = record_number(shape, "rows"), cols = record_number(shape, "cols");
    double bytes = record_number(shape, "bytes"), elements = record_number(shape, "elements");
    char one[24], other[24];
    text[0] = '\0';
    if (isfinite(bytes)) {
        snprintf(text, room, "%sB", count_text(one, sizeof one, bytes));
    } else if (isfinite(elements)) {
        count_text(text, room, elements);
    } else if (isfinite(rows) && isfinite(cols) && rows == 1) {
        count_text(text, room, cols);
    } else if (isfinite(rows) && isfinite(cols)) {
        snprintf(text, room, "%sx%s", count_text(one, sizeof one, rows),
                 count_text(other, sizeof other, cols));
    } else if (isfinite(m) && m == n && n == k) {
        snprintf(text, room, "%.0f", m);
    } else if (isfinite(m)) {
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

/* What is out of the ordinary: "nt", "cols", "cold". */
static void note_text(char *text, size_t room, const json_t *result)
{
    const json_t *layout = json_object_get(result, "layout");
    const char *a = record_text(layout, "trans_a"), *b = record_text(layout, "trans_b");
    const char *axis = record_text(layout, "axis"), *fill = record_text(result, "fill");
    char word[24];
    text[0] = '\0';
    if (strcmp(a, "n") != 0 || strcmp(b, "n") != 0) {
        snprintf(word, sizeof word, "%s%s", a, b);
        if (word[0] != '\0') {
            append(text, room, word);
        }
    }
    if (axis[0] != '\0' && strcmp(axis, "all") != 0) {
        snprintf(word, sizeof word, "axis %.8s", axis);
        append(text, room, word);
    }
    if (fill[0] != '\0' && strcmp(fill, "uniform") != 0) {
        append(text, room, fill);
    }
    if (strcmp(record_text(result, "cache"), "cold") == 0) {
        append(text, room, "cold");
    }
}

/* The case without its variant: what the columns are compared by. */
static char *row_key(const json_t *result)
{
    static const char *const members[] = {"kind", "dtype", "shape", "layout",
                                          "math", "fill",  "cache"};
    json_t *key = json_array();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *value = json_object_get(result, members[i]);
        json_array_append(key, value ? value : json_null());
    }
    char *text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(key);
    return text;
}

/* ---- sorting in ------------------------------------------------------------------------------ */

static void *grown(void *items, int count, size_t size)
{
    if ((count & (count - 1)) != 0 && count > 0) {
        return items; /* room doubles at powers of two */
    }
    return realloc(items, (size_t)(count == 0 ? 1 : 2 * count) * size);
}

static view_block *block_of(view *v, const json_t *result)
{
    const char *op = record_text(result, "op");
    bool flops = bench_op_computes(bench_op_of(op), record_text(result, "kind"));
    for (int i = 0; i < v->count; i++) {
        if (strcmp(v->blocks[i].op, op) == 0 && v->blocks[i].flops == flops) {
            return &v->blocks[i];
        }
    }
    view_block *more = grown(v->blocks, v->count, sizeof *more);
    if (!more) {
        return NULL;
    }
    v->blocks = more;
    v->blocks[v->count] = (view_block){.op = op, .flops = flops};
    return &v->blocks[v->count++];
}

static bool add_row(view_block *block, const json_t *result)
{
    char *key = row_key(result);
    if (!key) {
        return false;
    }
    for (int i = block->row_count - 1; i >= 0; i--) {
        if (strcmp(block->rows[i].key, key) == 0) {
            free(key);
            return true;
        }
    }
    view_row *more = grown(block->rows, block->row_count, sizeof *more);
    if (!more) {
        free(key);
        return false;
    }
    block->rows = more;
    view_row *row = &more[block->row_count];
    *row = (view_row){.key = key,
                      .kind = record_text(result, "kind"),
                      .order = record_number(result, "size"),
                      .place = block->row_count};
    bool strict = strcmp(record_text(result, "math"), "tf32") != 0;
    snprintf(row->type, sizeof row->type, "%s", strict ? record_text(result, "dtype") : "tf32");
    size_text(row->size, sizeof row->size, json_object_get(result, "shape"));
    note_text(row->note, sizeof row->note, result);
    block->row_count++;
    return true;
}

/* A result without a library (it is unsupported, or needs none) goes to any column of its variant.
 */
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

static bool add_column(view_block *block, const json_t *result)
{
    if (column_of(block, result) >= 0) {
        return true;
    }
    view_column *more = grown(block->columns, block->column_count, sizeof *more);
    if (!more) {
        return false;
    }
    block->columns = more;
    more[block->column_count++] = (view_column){.device = record_text(result, "device"),
                                                .variant = record_text(result, "variant"),
                                                .library = record_text(result, "library")};
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const view_row *x = a, *y = b;
    int by_note = strcmp(x->note, y->note);
    if (by_note != 0) {
        return by_note;
    }
    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return x->place - y->place;
}

/* Rows of a kind and type side by side, in the order in which the first of each came; then by size.
 */
static void sort_rows(view_block *block)
{
    int done = 0;
    while (done < block->row_count) {
        int end = done + 1;
        for (int i = end; i < block->row_count; i++) {
            view_row row = block->rows[i];
            if (strcmp(row.kind, block->rows[done].kind) == 0 &&
                strcmp(row.type, block->rows[done].type) == 0) {
                memmove(&block->rows[end + 1], &block->rows[end], (size_t)(i - end) * sizeof row);
                block->rows[end++] = row;
            }
        }
        qsort(&block->rows[done], (size_t)(end - done), sizeof *block->rows, compare_rows);
        done = end;
    }
}

static int variant_rank(const char *variant)
{
    static const char *const order[] = {"naive",    "tiled",  "partials", "vendor",
                                        "pageable", "pinned", "device"};
    int count = (int)(sizeof order / sizeof order[0]);
    for (int i = 0; i < count; i++) {
        if (strcmp(variant, order[i]) == 0) {
            return i;
        }
    }
    return count;
}

static int device_rank(const json_t *root, const char *spec)
{
    const json_t *devices = json_object_get(root, "devices");
    size_t i = 0;
    while (i < json_array_size(devices) &&
           strcmp(record_text(json_array_get(devices, i), "spec"), spec) != 0) {
        i++;
    }
    return (int)i;
}

static void sort_columns(const json_t *root, view_block *block)
{
    for (int i = 0; i < block->column_count; i++) {
        block->columns[i].fake =
            json_is_true(json_object_get(view_device(root, block->columns[i].device), "fake"));
    }
    for (int i = 1; i < block->column_count; i++) { /* few: by insertion, which keeps ties */
        view_column c = block->columns[i];
        int rank = 100 * device_rank(root, c.device) + variant_rank(c.variant), j = i;
        for (; j > 0; j--) {
            const view_column *before = &block->columns[j - 1];
            if (100 * device_rank(root, before->device) + variant_rank(before->variant) <= rank) {
                break;
            }
            block->columns[j] = *before;
        }
        block->columns[j] = c;
    }
    for (int i = 1; i < block->column_count; i++) {
        view_column *a = &block->columns[i - 1], *b = &block->columns[i];
        if (strcmp(a->device, b->device) == 0 && strcmp(a->variant, b->variant) == 0) {
            a->named = b->named = true;
        }
    }
}

static bool fill_cells(view *v)
{
    const json_t *results = json_object_get(v->root, "results");
    for (int i = 0; i < v->count; i++) {
        view_block *block = &v->blocks[i];
        sort_rows(block);
        sort_columns(v->root, block);
        block->cells =
            calloc((size_t)block->row_count * (size_t)block->column_count, sizeof *block->cells);
        if (!block->cells) {
            return false;
        }
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        view_block *block = block_of(v, result);
        char *key = row_key(result);
        if (!key) {
            return false;
        }
        for (int r = 0; r < block->row_count; r++) {
            if (strcmp(block->rows[r].key, key) != 0) {
                continue;
            }
            const json_t **cell = &block->cells[r * block->column_count + column_of(block, result)];
            if (!*cell || !view_is(*cell, "ok")) {
                *cell = result;
            }
            break;
        }
        free(key);
    }
    return true;
}

bool view_make(const json_t *root, view *out)
{
    const json_t *results = json_object_get(root, "results");
    *out = (view){.root = root};
    /* Named libraries first: what names none joins them. */
    for (int named = 1; named >= 0; named--) {
        for (size_t i = 0; i < json_array_size(results); i++) {
            const json_t *result = json_array_get(results, i);
            view_block *block = block_of(out, result);
            if (!block || (named && !add_row(block, result))) {
                goto failed;
            }
            if ((record_text(result, "library")[0] != '\0') == (named == 1) &&
                !add_column(block, result)) {
                goto failed;
            }
        }
    }
    if (fill_cells(out)) {
        return true;
    }
failed:
    view_free(out);
    return false;
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
    *v = (view){0};
}

/* ---- what there is to say -------------------------------------------------------------------- */

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

double view_rate(const view_block *block, const json_t *result)
{
    const json_t *rates = json_object_get(result, "rates");
    return record_number(json_object_get(rates, block->flops ? "gflops" : "gbps"), "value");
}

double view_percent(const json_t *result)
{
    return record_number(json_object_get(result, "roof"), "percent");
}

bool view_is(const json_t *result, const char *status)
{
    return strcmp(record_text(result, "status"), status) == 0;
}

const json_t *view_device(const json_t *root, const char *spec)
{
    return json_array_get(json_object_get(root, "devices"), (size_t)device_rank(root, spec));
}
