/* SPDX-License-Identifier: Apache-2.0 */
/* labs_table.c - the rows of the labs as tables on the terminal and in Markdown. */
#include "bench/record/record.h"

#include <stdlib.h>

/* ---- the terminal ---------------------------------------------------------------------------- */

/* The width of each column; that of who ran comes first. */
static void find_widths(const json_t *entries, const char *id, const record_lab_columns *columns,
                        int *widths)
{
    char text[RECORD_LAB_TEXT];
    widths[0] = 0;
    for (int i = 0; i < columns->count; i++) {
        widths[i + 1] = tool_columns(columns->names[i]);
    }
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, id));) {
        record_lab_who(entry, text);
        widths[0] = tool_columns(text) > widths[0] ? tool_columns(text) : widths[0];
        for (int i = 0; i < columns->count; i++) {
            record_lab_cell(entry, columns, i, text);
            widths[i + 1] = tool_columns(text) > widths[i + 1] ? tool_columns(text) : widths[i + 1];
        }
    }
}

/* Pads by columns of the terminal, because a text may have letters of several bytes. */
static void put(FILE *out, const char *text, int width, bool right)
{
    int gap = width - tool_columns(text);
    fprintf(out, "  %*s%s%*s", right && gap > 0 ? gap : 0, "", text, !right && gap > 0 ? gap : 0,
            "");
}

static void put_entry(FILE *out, const json_t *entry, const record_lab_columns *columns,
                      const int *widths)
{
    char text[RECORD_LAB_TEXT];
    size_t at;
    const json_t *line;
    record_lab_who(entry, text);
    put(out, text, widths[0], false);
    for (int i = 0; i < columns->count; i++) {
        record_lab_cell(entry, columns, i, text);
        put(out, text, widths[i + 1], i > 0);
    }
    fputc('\n', out);
    if (!record_lab_ok(entry)) {
        int column = fprintf(out, "      %s: ", record_text(entry, "status"));
        tool_wrap(out, column, 8, record_text(entry, "reason"));
    }
    json_array_foreach(json_object_get(entry, "lines"), at, line)
    {
        fprintf(out, "      %s\n", json_string_value(line));
    }
}

/* What the columns mean. */
static void put_meanings(FILE *out, const record_lab *row, const record_lab_columns *columns)
{
    char *text = NULL;
    size_t length = 0;
    FILE *words = record_need(open_memstream(&text, &length));
    for (int i = 0; i < columns->count; i++) {
        const char *meaning = record_lab_meaning(row->id, columns->names[i]);
        if (meaning && i > 0) {
            fprintf(words, "%s%s: %s", ftell(words) > 0 ? "; " : "", columns->names[i], meaning);
        }
    }
    record_need(fclose(words) == 0 ? text : NULL);
    if (text[0] != '\0') {
        fputs("    ", out);
        tool_wrap(out, 4, 4, text);
    }
    free(text);
}

static void put_row(FILE *out, const json_t *entries, const record_lab *row)
{
    record_lab_columns columns;
    int widths[RECORD_LAB_COLUMNS + 1];
    record_lab_find(entries, row->id, &columns);
    find_widths(entries, row->id, &columns, widths);
    fprintf(out, "\n%s  %s. Look at: %s.\n", row->id, row->title, row->look);
    if (row->published) {
        int column = fprintf(out, "    The labs on an H200: ");
        tool_wrap(out, column, 6, row->published);
    }
    put_meanings(out, row, &columns);
    put(out, "", widths[0], false);
    for (int i = 0; i < columns.count; i++) {
        put(out, columns.names[i], widths[i + 1], i > 0);
    }
    fputc('\n', out);
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, row->id));) {
        put_entry(out, entry, &columns, widths);
    }
}

void record_labs_table(FILE *out, const json_t *entries)
{
    char before = '\0';
    if (json_array_size(entries) > 0) {
        fputs("\nThe labs. \"the student's\" is the kernel in examples/labs that a student writes. "
              "! the\n"
              "greatest sample of a time is over twice the least.\n",
              out);
    }
    for (int i = 0; i < RECORD_LABS; i++) {
        const record_lab *row = &record_labs[i];
        if (!record_lab_next(entries, NULL, row->id)) {
            continue;
        }
        if (row->id[0] != before) {
            fprintf(out, "\nLab %c: %s\n", row->id[0], record_lab_title(row->id[0]));
        }
        before = row->id[0];
        put_row(out, entries, row);
    }
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* A bar would end the cell. */
static void put_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    for (; *text != '\0'; text++) {
        fputs(*text == '|' ? "\\" : "", out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc(' ', out);
}

static void put_markdown(FILE *out, const json_t *entries, const record_lab *row)
{
    record_lab_columns columns;
    char text[RECORD_LAB_TEXT];
    record_lab_find(entries, row->id, &columns);
    fprintf(out, "\n### %s: %s\n\n%s%s%s| device ", row->id, row->title,
            row->published ? "The labs on an H200: " : "", row->published ? row->published : "",
            row->published ? "\n\n" : "");
    for (int i = 0; i < columns.count; i++) {
        put_cell(out, columns.names[i]);
    }
    fputs("| checked |\n| --- ", out);
    for (int i = 0; i < columns.count; i++) {
        fputs(i < 1 ? "| --- " : "| ---: ", out);
    }
    fputs("| --- |\n", out);
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, row->id));) {
        record_lab_who(entry, text);
        put_cell(out, text);
        for (int i = 0; i < columns.count; i++) {
            record_lab_cell(entry, &columns, i, text);
            put_cell(out, text);
        }
        bool ok = record_lab_ok(entry);
        put_cell(out, record_text(entry, ok ? "checked" : "reason"));
        fputs("|\n", out);
    }
}

void record_labs_markdown(FILE *out, const json_t *entries)
{
    char before = '\0';
    for (int i = 0; i < RECORD_LABS; i++) {
        const record_lab *row = &record_labs[i];
        if (!record_lab_next(entries, NULL, row->id)) {
            continue;
        }
        if (row->id[0] != before) {
            fprintf(out, "\n## Lab %c: %s\n", row->id[0], record_lab_title(row->id[0]));
        }
        before = row->id[0];
        put_markdown(out, entries, row);
    }
}
