/* SPDX-License-Identifier: Apache-2.0 */
/* markdown.c - results as Markdown: a table for each operation, the fastest result of each case
 * first. */
#include "bench/record/view.h"

#include "common/printable.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void escape(FILE *out, const char *text)
{
    char one[PRINTABLE_MOST];
    size_t length = strlen(text), taken;
    unsigned char before = ' ';
    for (size_t at = 0; at < length; before = (unsigned char)text[at], at += taken) {
        size_t bytes = printable_next(text + at, length - at, PRINTABLE_TEXT, one, &taken);
        unsigned char c = (unsigned char)text[at];
        if (taken == 0) {
            break; /* cannot happen: JSON texts have only whole characters */
        }
        /* '_' within a word, as in sm_90, is not markup. */
        bool within = c == '_' && isalnum(before) && isalnum((unsigned char)text[at + 1]);
        if ((strchr("\\`*_[]<>|", c) && !within) || one[0] == '\\') {
            fputc('\\', out);
        }
        if (c == '\n') {
            one[0] = ' ';
        }
        fwrite(one, 1, bytes, out);
    }
}

/* fprintf, with each %s escaped so that it stays within its cell. */
static void put(FILE *out, const char *format, ...) ISO_PRINTF(2, 3);
static void put(FILE *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    record_escaped(out, escape, format, list);
    va_end(list);
}

static void put_machine(FILE *out, const json_t *root)
{
    static const struct {
        const char *label, *path;
    } pairs[] = {{"isomer", "version"},
                 {"commit", "build.commit"},
                 {"compiler", "build.compiler"},
                 {"flags of the compiler", "build.flags"},
                 {"time", "time"},
                 {"suite", "suite"},
                 {"math", "math"},
                 {"rounds", "rounds"},
                 {"host name", "host.name"},
                 {"host cpu", "host.cpu"},
                 {"host system", "host.system"},
                 {"host release", "host.release"},
                 {"host virtual", "host.virtual"}};
    const json_t *run = json_object_get(root, "run");
    put(out, "# Results of isomer %s\n\n", record_text(run, "command"));
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (isfinite(record_number(run, pairs[i].path))) {
            put(out, "- %s: %.0f\n", pairs[i].label, record_number(run, pairs[i].path));
        } else if (record_text(run, pairs[i].path)[0] != '\0') {
            put(out, "- %s: %s\n", pairs[i].label, record_text(run, pairs[i].path));
        }
    }
}

static void put_notes(FILE *out, const record_signs *signs)
{
    json_t *note;
    size_t i;
    fprintf(out, "\n## How far to trust the numbers\n\n");
    json_array_foreach(signs->notes, i, note)
    {
        put(out, "- %s\n", json_string_value(note));
    }
}

static void put_devices(FILE *out, const json_t *root)
{
    static const char *const members[] = {"spec", "name", "architecture", "driver", "runtime"};
    json_t *device, *roof;
    size_t d, r;
    char number[32];
    fprintf(out, "\n## Devices\n\n| device | name | architecture | driver | runtime | roofs |\n"
                 "| --- | --- | --- | --- | --- | --- |\n");
    json_array_foreach(json_object_get(root, "devices"), d, device)
    {
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            put(out, "| %s ", record_text(device, members[m]));
            if (m == 1 && !record_is_timed(device)) {
                const tool_tier_words *tier = &tool_tiers[record_tier(device)];
                fprintf(out, "**%s: %s** ", tier->mark, tier->words);
            }
        }
        fprintf(out, "|");
        json_array_foreach(json_object_get(device, "roofs"), r, roof)
        {
            put(out, "%s %s %s %s (%s)", r > 0 ? "," : "", record_text(roof, "name"),
                record_rate(number, sizeof number, record_number(roof, "value")),
                record_text(roof, "unit"), record_text(roof, "source"));
        }
        fprintf(out, " |\n");
    }
}

/* ---- results --------------------------------------------------------------------------------- */

typedef struct ranked {
    const json_t *result;
    double rate; /* -1: none */
    bool counts;
    int place;
} ranked;

static int faster(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->counts != y->counts) {
        return x->counts ? -1 : 1;
    }
    if (x->rate != y->rate) {
        return x->rate > y->rate ? -1 : 1;
    }
    return x->place - y->place;
}

/* Half the width of the interval, and its level if that is not 95 %. */
static void put_interval(FILE *out, const json_t *result)
{
    double half = record_half_width(result), level = record_number(result, "times.confidence");
    char text[64] = "", note[32] = "";
    if (isfinite(half) && level < 0.945) {
        snprintf(note, sizeof note, " (%.0f%%)", 100 * level);
    }
    if (isfinite(half)) {
        snprintf(text, sizeof text, "%.1f", 100 * half);
        fprintf(out, "| %s%%%s ", record_point(text), note);
    } else {
        fprintf(out, "| ");
    }
}

static void put_rate(FILE *out, const record_signs *signs, const ranked *r, bool best)
{
    double percent = record_percent(r->result);
    record_level sign = record_sign(signs, r->result);
    char text[48];
    json_t *flag;
    size_t f;
    if (r->rate < 0) {
        fprintf(out, "| %s | | | | ",
                view_is(r->result, BENCH_FAILED) ? "**FAILED**" : record_text(r->result, "status"));
        put(out, "%s", record_text(r->result, "reason"));
        return;
    }
    fprintf(out, "| %s%s%s%s | ", best ? "**" : "",
            sign == RECORD_INVALID ? "invalid" : record_rate(text, sizeof text, r->rate),
            best ? "**" : "", sign == RECORD_CAUTION ? " !" : "");
    if (isfinite(percent) && sign != RECORD_INVALID) {
        snprintf(text, sizeof text, "%.1f", percent);
        put(out, "%s%% of %s ", record_point(text), record_text(r->result, "roof.name"));
    }
    fprintf(out, "| %s ", record_time(text, sizeof text, record_number(r->result, "times.median")));
    put_interval(out, r->result);
    fprintf(out, "| ");
    json_array_foreach(json_object_get(r->result, "flags"), f, flag)
    {
        put(out, "%s%s", f > 0 ? ", " : "", json_string_value(flag));
    }
}

static void put_case(FILE *out, const view *v, const view_block *block, int row, ranked *order)
{
    const view_row *r = &block->rows[row];
    int count = 0;
    for (int c = 0; c < block->column_count; c++) {
        const json_t *result = view_cell(block, row, c);
        double rate = view_rate(block, result);
        if (result && !view_is(result, BENCH_SKIPPED)) {
            order[count++] = (ranked){result, view_is(result, BENCH_OK) && rate >= 0 ? rate : -1,
                                      view_counts(result), c};
        }
    }
    qsort(order, (size_t)count, sizeof *order, faster);
    for (int i = 0; i < count; i++) {
        const json_t *result = order[i].result;
        const char *used = record_text(result, "variant_used"); /* where it is auto */
        put(out, "| %s | %s | %s | %s | %s | %s%s%s%s | %s ", r->kind, r->type, r->size, r->note,
            record_text(result, "device"), record_text(result, "variant"), used[0] ? " (" : "",
            used, used[0] ? ")" : "", record_text(result, "library"));
        put_rate(out, &v->signs, &order[i], i == 0 && count > 1 && order[i].counts);
        fprintf(out, " |\n");
    }
}

static void put_block(FILE *out, const view *v, const view_block *block)
{
    ranked *order = record_need(calloc((size_t)block->column_count, sizeof *order));
    fprintf(out,
            "\n## %s\n\n| kind | type | %s | | device | variant | library | %s | roof | time | +- "
            "(95 %%) | "
            "flags |\n"
            "| --- | --- | ---: | --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
            view_title(block), view_size_title(block), view_unit(block));
    for (int r = 0; r < block->row_count; r++) {
        put_case(out, v, block, r, order);
    }
    free(order);
}

static void put_energy(FILE *out, const view *v)
{
    view_energy energy;
    view_energies(v, &energy);
    if (energy.rest[0] != '\0') {
        put(out, "\n## Energy\n\n%s\n", energy.rest);
    }
    if (energy.count > 0) {
        fprintf(out, "\n| device | case | W | a call | work |\n"
                     "| --- | --- | ---: | ---: | ---: |\n");
    }
    for (int i = 0; i < energy.count; i++) {
        const view_energy_row *row = &energy.rows[i];
        put(out, "| %s | %s | %s | %s | %s |\n", row->device, row->name, row->watts, row->joules,
            row->rate);
    }
    view_energies_free(&energy);
}

/* Writes the meaning of each flag that any result has. */
static void put_flags(FILE *out, const json_t *root)
{
    json_t *seen = json_object(), *result, *flag;
    size_t i, f;
    const char *name;
    json_array_foreach(json_object_get(root, "results"), i, result)
    {
        json_array_foreach(json_object_get(result, "flags"), f, flag)
        {
            json_object_set_new(seen, json_string_value(flag), json_true());
        }
    }
    if (json_object_size(seen) > 0) {
        fprintf(out, "\n## Flags\n\n");
    }
    json_object_foreach(seen, name, flag)
    {
        put(out, "- %s: %s\n", name, record_flag_meaning(name));
    }
    json_decref(seen);
}

bool record_markdown(FILE *out, const json_t *root)
{
    view v;
    view_make(root, &v);
    put_machine(out, root);
    put_notes(out, &v.signs);
    put_devices(out, root);
    for (int i = 0; i < v.count; i++) {
        put_block(out, &v, &v.blocks[i]);
    }
    put_energy(out, &v);
    record_labs_markdown(out, json_object_get(root, "labs"));
    put_flags(out, root);
    view_free(&v);
    return fflush(out) == 0 && !ferror(out);
}
