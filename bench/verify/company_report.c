/* SPDX-License-Identifier: Apache-2.0 */
/* company_report.c - the table of --invariance: how many results changed in each kind of company.
 */
#include "bench/verify/internal.h"

#include <string.h>

enum { COLUMNS_MAX = 16, CELL = 10 };

typedef struct counts {
    int changed, ran, errors;
} counts;

/* An operation in a variant. */
typedef struct column {
    const bench_case *like; /* its first case */
    counts axes[COMPANY_AXES], all;
} column;

static column *find_column(column *columns, int *count, const bench_case *item)
{
    for (int i = 0; i < *count; i++) {
        if (columns[i].like->op == item->op && columns[i].like->how == item->how) {
            return &columns[i];
        }
    }
    if (*count == COLUMNS_MAX) {
        return NULL;
    }
    columns[*count] = (column){.like = item};
    return &columns[(*count)++];
}

static void add(counts *c, const verify_record *record)
{
    c->changed += record->changed;
    c->errors += record->status == BENCH_ERROR;
    c->ran += record->status == BENCH_OK || record->status == BENCH_FAILED;
}

static int count_columns(const verify_run *run, const verify_target *target, column *columns)
{
    int count = 0;
    for (int i = 0; i < run->chosen_count; i++) {
        const verify_record *record = &target->records[i];
        const bench_case *item = run->chosen[i];
        if (!record->ran || record->status == BENCH_UNSUPPORTED) {
            continue;
        }
        column *c = find_column(columns, &count, item);
        if (c) {
            add(&c->axes[item->company.axis], record);
            add(&c->all, record);
        }
    }
    return count;
}

/* "0/64": of 64 results, none has changed bits. "0/61!3": 3 calls failed. */
static void print_cell(FILE *out, const column *of, const counts *c)
{
    char text[48] = "-", more[16];
    bool bad = c->errors > 0 || (c->changed > 0 && of->like->how != ISO_VARIANT_VENDOR);
    bool colour = tool_colour(out) && c->ran + c->errors > 0;
    if (c->ran > 0 || c->errors > 0) {
        snprintf(text, sizeof text, "%d/%d", c->changed, c->ran);
    }
    if (c->errors > 0) {
        snprintf(more, sizeof more, "!%d", c->errors);
        strcat(text, more);
    }
    fprintf(out, "%*s", CELL - (int)strlen(text), "");
    tool_escape(out, !colour ? "" : bad ? "\033[31m" : c->changed ? "\033[33m" : "\033[32m");
    fputs(text, out);
    tool_escape(out, colour ? "\033[0m" : "");
}

static void print_table(FILE *out, const column *columns, int count)
{
    fprintf(out, "  bits changed, of so many results\n  %-9s", "");
    int gap = 0;
    for (int i = 0; i < count; i++) {
        gap += CELL;
        if (i == 0 || columns[i].like->op != columns[i - 1].like->op) {
            fprintf(out, "%*s", gap, columns[i].like->op->name);
            gap = 0;
        }
    }
    fprintf(out, "\n  %-9s", "company");
    for (int i = 0; i < count; i++) {
        fprintf(out, "%*s", CELL, columns[i].like->variant);
    }
    fputc('\n', out);
    for (int a = 0; a <= COMPANY_AXES; a++) {
        int used = 0;
        for (int i = 0; i < count; i++) {
            const counts *c = a < COMPANY_AXES ? &columns[i].axes[a] : &columns[i].all;
            used += c->ran + c->errors;
        }
        if (used == 0) {
            continue;
        }
        fprintf(out, "  %-9s", a < COMPANY_AXES ? company_axis_names[a] : "all");
        for (int i = 0; i < count; i++) {
            print_cell(out, &columns[i], a < COMPANY_AXES ? &columns[i].axes[a] : &columns[i].all);
        }
        fputc('\n', out);
    }
}

/* What a vendor's library changed, which is not a failure. */
static void print_vendor(FILE *out, const verify_run *run, const verify_target *target)
{
    counts axes[COMPANY_AXES] = {{0, 0, 0}}, all = {0, 0, 0};
    const char *library = "";
    for (int i = 0; i < run->chosen_count; i++) {
        const verify_record *record = &target->records[i];
        if (record->ran && record->status != BENCH_UNSUPPORTED &&
            run->chosen[i]->how == ISO_VARIANT_VENDOR) {
            add(&axes[run->chosen[i]->company.axis], record);
            add(&all, record);
            library = record->library && record->library[0] ? record->library : library;
        }
    }
    if (all.ran == 0) {
        return;
    }
    char text[1024], part[64];
    snprintf(text, sizeof text, "vendor (%s): bits changed in %d of %d cases", library, all.changed,
             all.ran);
    for (int a = 0, shown = 0; a < COMPANY_AXES; a++) {
        if (axes[a].changed > 0) {
            snprintf(part, sizeof part, "%s%s %d of %d", shown++ ? ", " : " (",
                     company_axis_names[a], axes[a].changed, axes[a].ran);
            tool_join(text, sizeof text, "", part);
        }
    }
    tool_join(text, sizeof text, "", all.changed > 0 ? "). Its bits are not promised" : "");
    tool_wrap(out, fprintf(out, "  "), 4, text);
}

/* Companies that were chosen, and that this device does not have. */
static void print_missing(FILE *out, const verify_run *run, const verify_target *target)
{
    int chosen[COMPANY_AXES] = {0}, ran[COMPANY_AXES] = {0};
    char text[256] = "";
    for (int i = 0; i < run->chosen_count; i++) {
        chosen[run->chosen[i]->company.axis]++;
        ran[run->chosen[i]->company.axis] += target->records[i].ran;
    }
    for (int a = 0; a < COMPANY_AXES && !run->over; a++) {
        if (chosen[a] > 0 && ran[a] == 0 && target->library == 0) {
            tool_join(text, sizeof text, ", ", company_axis_names[a]);
        }
    }
    if (text[0] != '\0') {
        fprintf(out, "  not on this device: %s\n", text);
    }
}

void verify_report_companies(const verify_run *run, const verify_target *target)
{
    column columns[COLUMNS_MAX];
    int count = count_columns(run, target, columns);
    if (count > 0) {
        print_table(run->out, columns, count);
    }
    print_vendor(run->out, run, target);
    print_missing(run->out, run, target);
}
