/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - a document's results arranged as tables: a block for each operation, a row for each
 * case, a column for each variant and library of a device. A view points into the document, which
 * must outlive it.
 */
#ifndef ISOMER_RECORD_VIEW_H
#define ISOMER_RECORD_VIEW_H

#include "bench/ops/ops.h"
#include "bench/record/record.h"

typedef struct view_row {
    char *key;
    const char *kind;
    char type[24], size[48], note[48];
    double order;
    int group; /* the place of the first row of the same kind and type */
    int place; /* in the order of the document's results */
    bool roof; /* it only measures a roof: the user asked for other cases */
} view_row;

typedef struct view_column {
    const char *device, *variant, *library;
    int rank, place; /* `rank` orders by device and variant, `place` by first result */
    bool named;      /* the device has this variant from several libraries */
} view_column;

typedef struct view_block {
    const char *op;
    bool flops; /* rates are GFLOP/s, not GB/s */
    view_row *rows;
    int row_count;
    view_column *columns;
    int column_count;
    const json_t **cells; /* see view_cell */
} view_block;

typedef struct view {
    const json_t *root;
    record_signs signs;
    view_block *blocks;
    int count;
} view;

void view_make(const json_t *root, view *out);
void view_free(view *v);

const char *view_title(const view_block *block);      /* "Products" */
const char *view_size_title(const view_block *block); /* "N" */
const char *view_unit(const view_block *block);

/* The result in a row and a column; NULL: there is none. */
const json_t *view_cell(const view_block *block, int row, int column);
/* The rate of a result in the block's unit; NaN: it has none. */
double view_rate(const view_block *block, const json_t *result);

bool view_is(const json_t *result, bench_status status);
/* Whether a result has a number that counts: it is ok and not invalid. */
bool view_counts(const json_t *result);

/* ---- energy.c -------------------------------------------------------------------------------- */

/* A case whose energy was measured. */
typedef struct view_energy_row {
    const char *device;
    char *name; /* "copy tiled f32 32Mi" */
    char watts[16], joules[40], rate[48];
} view_energy_row;

typedef struct view_energy {
    view_energy_row *rows;
    int count;
    char *rest; /* each device's power at rest, or why it was not measured; "": not asked for */
} view_energy;

void view_energies(const view *v, view_energy *out);
void view_energies_free(view_energy *energy);

/* ---- answers.c ------------------------------------------------------------------------------- */

/* Up to five sentences: which device is fastest at what, and by how much. */
json_t *record_answers(const view *v);

#endif
