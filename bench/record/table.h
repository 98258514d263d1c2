/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - shared by the files that write the table on the terminal. */
#ifndef ISOMER_RECORD_TABLE_H
#define ISOMER_RECORD_TABLE_H

#include "bench/record/paint.h"
#include "bench/record/view.h"

enum { TABLE_FLAGS = 26 };

typedef struct table {
    const json_t *root;
    paint p;
    const char *flags[TABLE_FLAGS]; /* their letters are a, b, c, ... */
    bool common[TABLE_FLAGS];       /* every result has the flag: one note says so */
    int flag_count;
    bool all_wide;
    bool top, wide, missing, folded; /* which signs were used */
} table;

bool table_utf8(void); /* whether the environment's locale uses UTF-8 */

char table_letter(const table *t, int flag); /* `flag` must not be common */

/* Finds the flags that every result has, so that they are not repeated at each number. Call it
 * first. */
void table_find_common(table *t);
void table_head(table *t); /* describes the run */
void table_foot(table *t); /* signs, results without a number, devices with their roofs */

#endif
