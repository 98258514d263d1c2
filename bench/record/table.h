/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - what the parts of the terminal's table share. */
#ifndef ISOMER_RECORD_TABLE_H
#define ISOMER_RECORD_TABLE_H

#include "bench/record/paint.h"
#include "bench/record/view.h"

enum { TABLE_FLAGS = 26 };

typedef struct table {
    const json_t *root;
    paint p;
    const char *flags[TABLE_FLAGS]; /* by the letters that stand for them */
    bool common[TABLE_FLAGS];       /* every result has it: it is said once */
    int flag_count;
    bool all_wide;
    bool top, wide, missing, folded; /* which signs were used */
} table;

bool table_utf8(void); /* whether the environment says that more than ASCII is shown */

char table_letter(const table *t, int flag); /* of one that is not common */

/* What every result has, so that it need not be at every number. Before anything is printed. */
void table_find_common(table *t);
void table_head(table *t); /* the run */
void table_foot(table *t); /* signs, what has no number and why, devices with their roofs */

#endif
