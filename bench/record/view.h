/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - a document's results sorted for people: blocks by operation, rows by case, columns by
 * who did it. Everything points into the document, which has to outlive it. */
#ifndef ISOMER_RECORD_VIEW_H
#define ISOMER_RECORD_VIEW_H

#include "bench/record/record.h"

typedef struct view_row {
    char *key;
    const char *kind;
    char type[24], size[48], note[48];
    double order;
    int place; /* as it came */
} view_row;

typedef struct view_column {
    const char *device, *variant, *library;
    bool fake;  /* by a stand-in: no number of it counts */
    bool named; /* the device has the variant by several libraries */
} view_column;

typedef struct view_block {
    const char *op;
    bool flops; /* GFLOP/s, not GB/s */
    view_row *rows;
    int row_count;
    view_column *columns;
    int column_count;
    const json_t **cells; /* rows by columns; NULL: no such result */
} view_block;

typedef struct view {
    const json_t *root;
    view_block *blocks;
    int count;
} view;

bool view_make(const json_t *root, view *out); /* false: no memory */
void view_free(view *v);

const char *view_title(const view_block *block);      /* "Products" */
const char *view_size_title(const view_block *block); /* "N" */
const char *view_unit(const view_block *block);

/* Of a result, in the block's unit; NaN where it has none. */
double view_rate(const view_block *block, const json_t *result);
double view_percent(const json_t *result);

bool view_is(const json_t *result, const char *status);
const json_t *view_device(const json_t *root, const char *spec);

#endif
