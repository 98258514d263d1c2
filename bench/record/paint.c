/* SPDX-License-Identifier: Apache-2.0 */
/* paint.c - writes lines that never exceed the terminal's width. */
#include "bench/record/paint.h"

#include "bench/tool.h"
#include "common/printable.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the first character and sets *length to its number of bytes. A byte that is not UTF-8 is
 * returned as '?' with a length of 1. */
static uint32_t character(const char *text, size_t *length)
{
    const unsigned char *t = (const unsigned char *)text;
    size_t more = t[0] >= 0xf0 ? 3 : t[0] >= 0xe0 ? 2 : t[0] >= 0xc0 ? 1 : 0;
    uint32_t value = more == 3 ? t[0] & 0x07u : more == 2 ? t[0] & 0x0fu : t[0] & 0x1fu;
    *length = 1;
    if (t[0] < 0x80) {
        return t[0];
    }
    if (more == 0) {
        return '?';
    }
    for (size_t i = 1; i <= more; i++) {
        if ((t[i] & 0xc0u) != 0x80) {
            return '?';
        }
        value = value << 6 | (t[i] & 0x3fu);
    }
    *length = more + 1;
    return value;
}

typedef struct range {
    uint32_t first, last;
} range;

static bool within(uint32_t c, const range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* The number of columns that a character takes. -1: it is shown as '?' in one column, because it
 * would move the cursor or change the direction of text. */
static int columns_of(uint32_t c)
{
    static const range none[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
        {0x1ab0, 0x1aff}, {0x200c, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
    static const range wide[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xa960, 0xa97f},
                                 {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                 {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                 {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
    if (printable_acts(c)) {
        return -1;
    }
    if (c < 0x300) {
        return 1;
    }
    if (within(c, none, sizeof none / sizeof none[0])) {
        return 0;
    }
    return within(c, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

int paint_columns(const char *text)
{
    int columns = 0;
    size_t length;
    for (; *text != '\0'; text += length) {
        columns += abs(columns_of(character(text, &length)));
    }
    return columns;
}

/* Writes the first `bytes` bytes of a text, but at most `columns` columns. */
static void put(paint *p, paint_style style, const char *text, size_t bytes, int columns)
{
    static const char *const begin[] = {[PAINT_PLAIN] = "",
                                        [PAINT_BOLD] = "\033[1m",
                                        [PAINT_DIM] = "\033[2m",
                                        [PAINT_GOOD] = "\033[1;32m",
                                        [PAINT_BAD] = "\033[1;31m"};
    bool coloured = p->colour && style != PAINT_PLAIN && bytes > 0;
    if (columns > p->width - p->column) {
        columns = p->width - p->column;
    }
    tool_escape(p->out, coloured ? begin[style] : "");
    for (size_t at = 0, length; at < bytes && text[at] != '\0'; at += length) {
        int more = columns_of(character(text + at, &length));
        if (abs(more) > columns) {
            break;
        }
        if (more < 0 || (length == 1 && (unsigned char)text[at] >= 0x80)) {
            fputc('?', p->out);
        } else {
            fwrite(text + at, 1, length, p->out);
        }
        columns -= abs(more);
        p->column += abs(more);
    }
    tool_escape(p->out, coloured ? "\033[0m" : "");
}

void paint_put(paint *p, paint_style style, const char *text)
{
    put(p, style, text, strlen(text), p->width);
}

void paint_pad(paint *p, int columns)
{
    for (; columns > 0 && p->column < p->width; columns--, p->column++) {
        fputc(' ', p->out);
    }
}

void paint_left(paint *p, paint_style style, const char *text, int columns)
{
    paint_put(p, style, text);
    paint_pad(p, columns - paint_columns(text));
}

void paint_right(paint *p, paint_style style, const char *text, int columns)
{
    paint_pad(p, columns - paint_columns(text));
    paint_put(p, style, text);
}

void paint_fit(paint *p, paint_style style, const char *text, int columns)
{
    if (paint_columns(text) <= columns) {
        paint_put(p, style, text);
    } else if (columns > 0) {
        put(p, style, text, strlen(text), columns - 1);
        paint_put(p, PAINT_DIM, p->utf8 ? "…" : "~");
    }
}

void paint_rule(paint *p, int columns)
{
    tool_escape(p->out, p->colour && columns > 0 ? "\033[2m" : "");
    for (; columns > 0 && p->column < p->width; columns--, p->column++) {
        fputs(p->utf8 ? "─" : "-", p->out);
    }
    tool_escape(p->out, p->colour ? "\033[0m" : "");
}

void paint_end(paint *p)
{
    fputc('\n', p->out);
    p->column = 0;
}

void paint_wrap(paint *p, paint_style style, int indent, const char *text)
{
    bool fresh = true; /* no word of the text is on this line yet */
    if (indent > p->width / 2) {
        indent = p->width / 2;
    }
    while (*(text += strspn(text, " \n\t")) != '\0') {
        size_t length = strcspn(text, " \n\t");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)(length < 255 ? length : 255), text);
        int columns = paint_columns(word);
        if (p->column + (fresh ? 0 : 1) + columns > p->width && p->column > indent) {
            paint_end(p);
            paint_pad(p, indent);
            fresh = true;
        }
        if (!fresh) {
            paint_put(p, PAINT_PLAIN, " ");
        }
        /* A word that is longer than a line continues on the next. */
        for (const char *rest = word; *rest != '\0';) {
            size_t taken = 0, one;
            int used = 0;
            while (rest[taken] != '\0') {
                int more = abs(columns_of(character(rest + taken, &one)));
                if (p->column + used + more > p->width) {
                    break;
                }
                used += more;
                taken += one;
            }
            if (taken == 0 && p->column <= indent) {
                break; /* a character wider than the line */
            }
            put(p, style, rest, taken, used);
            rest += taken;
            if (*rest != '\0') {
                paint_end(p);
                paint_pad(p, indent);
            }
        }
        fresh = false;
        text += strlen(word) < length ? strlen(word) : length;
    }
}
