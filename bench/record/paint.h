/* SPDX-License-Identifier: Apache-2.0 */
/* paint.h - writes lines that never exceed the terminal's width. */
#ifndef ISOMER_RECORD_PAINT_H
#define ISOMER_RECORD_PAINT_H

#include <stdbool.h>
#include <stdio.h>

typedef enum paint_style { PAINT_PLAIN, PAINT_BOLD, PAINT_DIM, PAINT_GOOD, PAINT_BAD } paint_style;

typedef struct paint {
    FILE *out;
    int width;
    bool colour, utf8; /* utf8: the terminal shows more than ASCII */
    int column;
} paint;

/* The columns that a UTF-8 text takes: wide characters take two, combining marks none. */
int paint_columns(const char *text);

/* These write '?' for characters that move the cursor, and nothing beyond the width. */
void paint_put(paint *p, paint_style style, const char *text);
void paint_left(paint *p, paint_style style, const char *text, int columns); /* padded */
void paint_right(paint *p, paint_style style, const char *text, int columns);
void paint_fit(paint *p, paint_style style, const char *text, int columns); /* marked if cut */
void paint_pad(paint *p, int columns);
void paint_rule(paint *p, int columns);
void paint_end(paint *p);

/* Wraps a text at spaces; further lines begin with `indent` spaces. Does not end the last line. */
void paint_wrap(paint *p, paint_style style, int indent, const char *text);

#endif
