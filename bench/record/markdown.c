/* SPDX-License-Identifier: Apache-2.0 */
/* markdown.c - results as Markdown: a table for each operation, the fastest of a case first. */
#include "bench/record/view.h"

#include "common/printable.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text that stands in a table's cell as it is, whatever is in it. */
static void put(FILE *out, const char *text)
{
    char one[PRINTABLE_MOST];
    size_t length = strlen(text), taken;
    unsigned char before = ' ';
    for (size_t at = 0; at < length; before = (unsigned char)text[at], at += taken) {
        size_t bytes = printable_next(text + at, length - at, PRINTABLE_TEXT, one, &taken);
        unsigned char c = (unsigned char)text[at];
        if (taken == 0) {
            break; /* a document holds whole characters */
        }
        /* Within a word '_' is no mark: sm_90. */
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

static void put_pair(FILE *out, const char *name, const char *text)
{
    if (text[0] == '\0') {
        return;
    }
    fprintf(out, "- %s: ", name);
    put(out, text);
    fputc('\n', out);
}

static void put_machine(FILE *out, const json_t *root)
{
    static const char *const host_members[] = {"name", "cpu", "system", "release", "virtual"};
    const json_t *run = json_object_get(root, "run"), *host = json_object_get(run, "host");
    const json_t *build = json_object_get(run, "build"), *flags = json_object_get(run, "flags");
    char text[64];
    fprintf(out, "# Results of isomer ");
    put(out, record_text(run, "command"));
    fprintf(out, "\n\n");
    put_pair(out, "isomer", record_text(run, "version"));
    put_pair(out, "commit", record_text(build, "commit"));
    put_pair(out, "compiler", record_text(build, "compiler"));
    put_pair(out, "flags of the compiler", record_text(build, "flags"));
    put_pair(out, "time", record_text(run, "time"));
    put_pair(out, "suite", record_text(run, "suite"));
    put_pair(out, "math", record_text(run, "math"));
    if (isfinite(record_number(run, "rounds"))) {
        snprintf(text, sizeof text, "%.0f", record_number(run, "rounds"));
        put_pair(out, "rounds", text);
    }
    for (size_t i = 0; i < sizeof host_members / sizeof host_members[0]; i++) {
        snprintf(text, sizeof text, "host %s", host_members[i]);
        put_pair(out, text, record_text(host, host_members[i]));
    }
    for (size_t i = 0; i < json_array_size(flags); i++) {
        put_pair(out, "flag", json_string_value(json_array_get(flags, i)));
    }
}

static void put_devices(FILE *out, const json_t *root)
{
    const json_t *devices = json_object_get(root, "devices");
    char number[32];
    fprintf(out, "\n## Devices\n\n| device | name | architecture | driver | runtime | roofs |\n"
                 "| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        static const char *const members[] = {"spec", "name", "architecture", "driver", "runtime"};
        const json_t *device = json_array_get(devices, i);
        const json_t *roofs = json_object_get(device, "roofs");
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            fprintf(out, "| ");
            put(out, record_text(device, members[m]));
            if (m == 1 && json_is_true(json_object_get(device, "fake"))) {
                fprintf(out, " **FAKE: a stand-in made for tests**");
            }
            fputc(' ', out);
        }
        fprintf(out, "|");
        for (size_t r = 0; r < json_array_size(roofs); r++) {
            const json_t *roof = json_array_get(roofs, r);
            fprintf(out, "%s", r > 0 ? ", " : " ");
            put(out, record_text(roof, "name"));
            fprintf(out, " %s ", record_rate(number, sizeof number, record_number(roof, "value")));
            put(out, record_text(roof, "unit"));
            fprintf(out, " (");
            put(out, record_text(roof, "source"));
            fprintf(out, ")");
        }
        fprintf(out, " |\n");
    }
}

/* ---- results --------------------------------------------------------------------------------- */

typedef struct ranked {
    const json_t *result;
    double rate; /* -1: none */
    bool fake;
    int place;
} ranked;

static int faster(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->fake != y->fake) {
        return x->fake ? 1 : -1;
    }
    if (x->rate != y->rate) {
        return x->rate > y->rate ? -1 : 1;
    }
    return x->place - y->place;
}

static void put_rate(FILE *out, const ranked *r, bool best)
{
    const json_t *times = json_object_get(r->result, "times");
    double percent = view_percent(r->result);
    double median = record_number(times, "median");
    double half = (record_number(times, "high") - record_number(times, "low")) / 2 / median;
    char text[48];
    if (r->rate < 0) {
        fprintf(out, "| %s | | | | ",
                view_is(r->result, "failed") ? "**FAILED**" : record_text(r->result, "status"));
        put(out, record_text(r->result, "reason"));
        return;
    }
    fprintf(out, "| %s%s%s ", best ? "**" : "", record_rate(text, sizeof text, r->rate),
            best ? "**" : "");
    if (isfinite(percent)) {
        const json_t *roof = json_object_get(r->result, "roof");
        snprintf(text, sizeof text, "%.1f", percent);
        fprintf(out, "| %s%% of ", record_point(text));
        put(out, record_text(roof, "name"));
        fputc(' ', out);
    } else {
        fprintf(out, "| ");
    }
    fprintf(out, "| %s ", record_time(text, sizeof text, median));
    text[0] = '\0';
    if (isfinite(half)) {
        snprintf(text, sizeof text, "%.1f%%", 100 * half);
    }
    fprintf(out, "| %s | ", record_point(text));
    const json_t *flags = json_object_get(r->result, "flags");
    for (size_t i = 0; i < json_array_size(flags); i++) {
        fprintf(out, "%s", i > 0 ? ", " : "");
        put(out, json_string_value(json_array_get(flags, i)));
    }
}

static void put_case(FILE *out, const view_block *block, int row, ranked *order)
{
    const view_row *r = &block->rows[row];
    const char *const labels[] = {r->kind, r->type, r->size, r->note};
    int count = 0;
    for (int c = 0; c < block->column_count; c++) {
        const json_t *result = block->cells[row * block->column_count + c];
        double rate = view_rate(block, result);
        if (result) {
            order[count++] = (ranked){result, view_is(result, "ok") && rate >= 0 ? rate : -1,
                                      block->columns[c].fake, c};
        }
    }
    qsort(order, (size_t)count, sizeof *order, faster);
    for (int i = 0; i < count; i++) {
        static const char *const members[] = {"device", "variant", "library"};
        for (size_t l = 0; l < sizeof labels / sizeof labels[0]; l++) {
            fprintf(out, "| ");
            put(out, labels[l]);
            fputc(' ', out);
        }
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            fprintf(out, "| ");
            put(out, record_text(order[i].result, members[m]));
            fputc(' ', out);
        }
        put_rate(out, &order[i], i == 0 && count > 1 && !block->columns[order[i].place].fake);
        fprintf(out, " |\n");
    }
}

static bool put_block(FILE *out, const view_block *block)
{
    ranked *order = malloc((size_t)block->column_count * sizeof *order);
    if (!order) {
        return false;
    }
    fprintf(
        out,
        "\n## %s\n\n| kind | type | %s | | device | variant | library | %s | roof | time | +- | "
        "flags |\n"
        "| --- | --- | ---: | --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
        view_title(block), view_size_title(block), view_unit(block));
    for (int r = 0; r < block->row_count; r++) {
        put_case(out, block, r, order);
    }
    free(order);
    return true;
}

/* Each flag that a result has, with what it means. */
static void put_flags(FILE *out, const json_t *root)
{
    json_t *seen = json_object(), *results = json_object_get(root, "results"), *result, *flag;
    size_t i, f;
    const char *name;
    json_array_foreach(results, i, result)
    {
        json_array_foreach(json_object_get(result, "flags"), f, flag)
            json_object_set_new(seen, json_string_value(flag), json_true());
    }
    if (json_object_size(seen) > 0) {
        fprintf(out, "\n## Flags\n\n");
    }
    json_object_foreach(seen, name, flag) put_pair(out, name, record_flag_meaning(name));
    json_decref(seen);
}

bool record_markdown(FILE *out, const json_t *root)
{
    view v;
    if (!view_make(root, &v)) {
        return false;
    }
    put_machine(out, root);
    put_devices(out, root);
    bool ok = true;
    for (int i = 0; i < v.count && ok; i++) {
        ok = put_block(out, &v.blocks[i]);
    }
    put_flags(out, root);
    view_free(&v);
    return ok && fflush(out) == 0 && !ferror(out);
}
