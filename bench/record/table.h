/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - shared by the files that write the table on the terminal. */
#ifndef ISOMER_RECORD_TABLE_H
#define ISOMER_RECORD_TABLE_H

#include "bench/record/paint.h"
#include "bench/record/view.h"

typedef struct table {
    const json_t *root;
    view v;
    paint p;
    const record_table_how *how;
    bool top, caution, invalid, missing, folded; /* which signs were used */
} table;

bool table_utf8(void); /* whether the environment's locale uses UTF-8 */

void table_head(table *t);   /* describes the run, and what holds for all of it */
void table_energy(table *t); /* nothing if it was not asked for */
void table_foot(table *t);   /* signs, results without a number, devices with their roofs */

#endif
