/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classes.c - which results of a routine have the same order. Kernels handle the edges of a matrix
 * in another way than its inside, for example. So some masks are given to all rows at once, and
 * results that are the same for all of them are a class.
 */
#include "bench/reveal/reveal.h"

#include <stdlib.h>
#include <string.h>

enum { MASKS = 64 };

reveal_pair reveal_some_pair(int32_t terms, uint64_t seed, int32_t p)
{
    uint64_t n = (uint64_t)terms, far = p % 2 == 0 ? n - 1 : n - 1 < 32 ? n - 1 : 32;
    uint64_t i = arith_mix(seed, 2 * (uint64_t)p) % n;
    uint64_t j = (i + 1 + arith_mix(seed, 2 * (uint64_t)p + 1) % far) % n;
    return (reveal_pair){(int32_t)i, (int32_t)j};
}

/* Makes a number of the results of each element for all masks. */
static bool find_signatures(reveal_routine *r, uint64_t *signatures, int64_t elements)
{
    const int64_t k = r->item->k;
    const size_t bytes = (size_t)k * r->element;
    for (int32_t p = 0; p < MASKS; p++) {
        reveal_pair pair = reveal_some_pair((int32_t)k, 1, p);
        reveal_set_mask(r, 0, 0, k, &pair);
        for (int64_t row = 1; row < r->item->m; row++) { /* stale already */
            memcpy(r->host[0] + (size_t)row * bytes, r->host[0], bytes);
        }
        if (!reveal_call(r, 0)) {
            return false;
        }
        for (int64_t i = 0; i < elements; i++) {
            uint64_t bits = 0;
            memcpy(&bits, r->host[2] + (size_t)i * r->element, r->element);
            signatures[i] = arith_mix(signatures[i], bits);
        }
    }
    return true;
}

/* ---- where they are -------------------------------------------------------------------------- */

/* Appends the ranges of a set of numbers: "0-7, 12". False: there are too many. */
static bool say_ranges(char *text, size_t room, const bool *in, int64_t count)
{
    int32_t ranges = 0;
    for (int64_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && in[end] == in[i]; end++) {
        }
        char range[48];
        snprintf(range, sizeof range, end - i > 1 ? "%lld-%lld" : "%lld", (long long)i,
                 (long long)end - 1);
        if (in[i]) {
            tool_join(text, room, ranges++ > 0 ? ", " : "", range);
        }
    }
    return ranges <= 6;
}

/* Names the results of a class: whole columns, whole rows, or how many there are. */
static void say_where(reveal_class *c, int64_t rows, int64_t columns)
{
    bool *row = tool_alloc((size_t)rows, sizeof *row, "results");
    bool *column = tool_alloc((size_t)columns, sizeof *column, "results");
    int64_t row_count = 0, column_count = 0;
    for (int64_t i = 0; i < c->count; i++) {
        int64_t y = c->elements[i] / columns, x = c->elements[i] % columns;
        row_count += !row[y];
        column_count += !column[x];
        row[y] = column[x] = true;
    }
    bool by_columns = row_count == rows;
    snprintf(c->where, sizeof c->where, "%s ", by_columns ? "columns" : "rows");
    bool whole = row_count * column_count == c->count && (by_columns || column_count == columns);
    if (!whole || !say_ranges(c->where, sizeof c->where, by_columns ? column : row,
                              by_columns ? columns : rows)) {
        snprintf(c->where, sizeof c->where,
                 "%lld of %lld results, the first in row %lld, column %lld", (long long)c->count,
                 (long long)(rows * columns), (long long)(c->elements[0] / columns),
                 (long long)(c->elements[0] % columns));
    }
    free(row);
    free(column);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Chooses the column that has most rows of the class. */
static void choose_column(reveal_class *c, int64_t rows, int64_t columns)
{
    int64_t *in_column = tool_alloc((size_t)columns, sizeof *in_column, "results");
    for (int64_t i = 0; i < c->count; i++) {
        in_column[c->elements[i] % columns]++;
    }
    for (int64_t x = 0; x < columns; x++) {
        c->column = in_column[x] > in_column[c->column] ? x : c->column;
    }
    c->rows = tool_alloc((size_t)rows, sizeof *c->rows, "results");
    for (int64_t i = 0; i < c->count; i++) {
        if (c->elements[i] % columns == c->column) {
            c->rows[c->row_count++] = c->elements[i] / columns;
        }
    }
    free(in_column);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* How many different numbers there are. Sorts them. */
static int64_t count_different(uint64_t *numbers, int64_t count)
{
    int64_t different = count > 0;
    qsort(numbers, (size_t)count, sizeof *numbers, by_value);
    for (int64_t i = 1; i < count; i++) {
        different += numbers[i] != numbers[i - 1];
    }
    return different;
}

int64_t reveal_divide(uint64_t *signatures, int64_t rows, int64_t columns,
                      reveal_class classes[REVEAL_CLASSES])
{
    const int64_t elements = rows * columns;
    int32_t count = 0;
    for (int64_t i = 0; i < elements; i++) {
        int32_t c = 0;
        while (c < count && signatures[classes[c].elements[0]] != signatures[i]) {
            c++;
        }
        if (c == REVEAL_CLASSES) {
            continue;
        }
        if (c == count) {
            classes[c] = (reveal_class){
                .elements = tool_alloc((size_t)elements, sizeof(int64_t), "results")};
            count++;
        }
        classes[c].elements[classes[c].count++] = i;
    }
    for (int32_t c = 0; c < count; c++) {
        choose_column(&classes[c], rows, columns);
        if (count > 1) {
            say_where(&classes[c], rows, columns);
        }
    }
    return count_different(signatures, elements);
}

int64_t reveal_classify(reveal_routine *r, reveal_class classes[REVEAL_CLASSES])
{
    const int64_t elements = r->item->m * r->item->n;
    uint64_t *signatures = tool_alloc((size_t)elements, sizeof *signatures, "results");
    bool same = r->item->k == 1 || elements == 1; /* no mask can tell them apart */
    int64_t count = 0;
    if (same || find_signatures(r, signatures, elements)) {
        count = reveal_divide(signatures, r->item->m, r->item->n, classes);
    }
    free(signatures);
    return count;
}

void reveal_classes_free(reveal_class classes[REVEAL_CLASSES])
{
    for (int32_t i = 0; i < REVEAL_CLASSES; i++) {
        free(classes[i].elements);
        free(classes[i].rows);
    }
}
