/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - what communicators take, as tables on the terminal and as CSV. */
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 11, SUM = 9 };

static bool is(const json_t *entry, const char *member, const char *text)
{
    return strcmp(record_text(entry, member), text) == 0;
}

static bool is_ours(const json_t *entry)
{
    return is(entry, "by", "isomer");
}

bool record_comm_ok(const json_t *entry)
{
    return is(entry, "status", "ok");
}

bool record_comm_same(const json_t *a, const json_t *b, const char *const *members)
{
    for (int i = 0; members[i]; i++) {
        const json_t *x = json_object_get(a, members[i]), *y = json_object_get(b, members[i]);
        if (!json_equal(x, y) && (x || y)) {
            return false;
        }
    }
    return true;
}

bool record_comm_is_product(const json_t *entry)
{
    return json_object_get(entry, "n") != NULL;
}

bool record_comm_is_of(const json_t *head, const json_t *entry)
{
    static const char *const members[] = {"op", "dtype", "ranks", NULL};
    return record_comm_same(head, entry, members);
}

const json_t *record_comm_next(const json_t *entries, const json_t *entry)
{
    size_t count = json_array_size(entries);
    bool behind = !entry;
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(entries, i);
        bool first = behind && is_ours(one);
        for (size_t j = 0; j < i && first; j++) {
            const json_t *before = json_array_get(entries, j);
            first = !is_ours(before) || !record_comm_is_of(before, one);
        }
        if (first) {
            return one;
        }
        behind = behind || one == entry;
    }
    return NULL;
}

char *record_comm_title(const json_t *entry)
{
    const char *dtype = record_text(entry, "dtype");
    const double ranks = record_number(entry, "ranks");
    return record_format("%s%s%s over %.0f rank%s by %s", record_text(entry, "op"),
                         dtype[0] ? " of " : "", dtype, ranks, ranks > 1 ? "s" : "",
                         record_text(entry, "engine"));
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static void put_time(FILE *out, double nanoseconds)
{
    char text[32] = "-";
    if (nanoseconds > 0) {
        record_time(text, sizeof text, nanoseconds);
    }
    fprintf(out, "%*s", CELL, text);
}

static void put_rate(FILE *out, double value)
{
    char text[32] = "-";
    if (isfinite(value)) {
        record_rate(text, sizeof text, value);
    }
    fprintf(out, "%*s", CELL, text);
}

/* The entry of the same call in place, or of another program. */
static const json_t *beside(const json_t *entries, const json_t *entry, bool in_place, bool ours)
{
    static const char *const members[] = {"op", "dtype", "ranks", "bytes", NULL};
    size_t at;
    const json_t *other;
    json_array_foreach(entries, at, other)
    {
        if (record_comm_same(entry, other, members) && is_ours(other) == ours &&
            record_comm_ok(other) && json_is_true(json_object_get(other, "in_place")) == in_place &&
            (!ours || is(other, "variant", record_text(entry, "variant")))) {
            return other;
        }
    }
    return NULL;
}

static void put_reason(FILE *out, const json_t *entry)
{
    if (!record_comm_ok(entry)) {
        int column = fprintf(out, "      %s%s: ", record_text(entry, "status"),
                             json_is_true(json_object_get(entry, "in_place")) ? " in place" : "");
        tool_wrap(out, column, 8, record_text(entry, "reason"));
    }
}

static void put_call(FILE *out, const json_t *entries, const json_t *entry, bool others)
{
    char size[32];
    record_count(size, sizeof size, record_number(entry, "bytes"));
    const json_t *inside = beside(entries, entry, true, true);
    const json_t *other = beside(entries, entry, false, false);
    fprintf(out, "  %8s %-*s", size, SUM, record_text(entry, "variant"));
    put_time(out, record_number(entry, "times.median"));
    put_time(out, record_number(entry, "times.alone"));
    put_rate(out, record_number(entry, "algbw"));
    put_rate(out, record_number(entry, "busbw"));
    put_time(out, record_number(inside, "times.median"));
    put_rate(out, record_number(inside, "busbw"));
    if (others) {
        put_time(out, record_number(other, "times.median"));
        put_rate(out, record_number(other, "busbw"));
    }
    fputc('\n', out);
}

static void put_calls(FILE *out, const json_t *entries, const json_t *head)
{
    size_t at;
    const json_t *entry;
    bool others = false;
    json_array_foreach(entries, at, entry)
    {
        others = others || (record_comm_is_of(head, entry) && !is_ours(entry));
    }
    fprintf(out, "  %8s %-*s%*s%*s%*s%*s%*s%*s%s\n", "bytes", SUM, "", CELL, "time", CELL, "alone",
            CELL, "algbw", CELL, "busbw", CELL, "in place", CELL, "busbw",
            others ? "     beside      busbw" : "");
    json_array_foreach(entries, at, entry)
    {
        const double from = record_number(entry, "from"), to = record_number(entry, "to");
        if (!record_comm_is_of(head, entry) || !is_ours(entry) ||
            (from >= 0 && (from > 0 || to > 1))) {
            continue;
        }
        if (!json_is_true(json_object_get(entry, "in_place"))) {
            put_call(out, entries, entry, others);
        }
        put_reason(out, entry);
    }
}

/* Rates of the largest size from each rank (rows) to each other (columns). */
static void put_matrix(FILE *out, const json_t *entries, const json_t *head)
{
    const int ranks = (int)record_number(head, "ranks");
    size_t at;
    const json_t *entry;
    double bytes = 0;
    json_array_foreach(entries, at, entry)
    {
        if (record_comm_is_of(head, entry) && record_comm_ok(entry) &&
            record_number(entry, "from") == ranks - 1) {
            bytes = fmax(bytes, record_number(entry, "bytes"));
        }
    }
    if (bytes == 0) {
        return;
    }
    char size[32];
    record_count(size, sizeof size, bytes);
    fprintf(out, "  GB/s of %s bytes from a rank (rows) to another (columns)\n  %8s", size, "");
    for (int to = 0; to < ranks; to++) {
        fprintf(out, "%*d", CELL, to);
    }
    for (int from = 0; from < ranks; from++) {
        fprintf(out, "\n  %8d", from);
        for (int to = 0; to < ranks; to++) {
            double rate = NAN;
            json_array_foreach(entries, at, entry)
            {
                if (record_comm_is_of(head, entry) && record_number(entry, "bytes") == bytes &&
                    record_number(entry, "from") == from && record_number(entry, "to") == to) {
                    rate = record_number(entry, "algbw");
                }
            }
            put_rate(out, rate);
        }
    }
    fputc('\n', out);
}

static void put_products(FILE *out, const json_t *entries)
{
    size_t at;
    const json_t *entry;
    bool begun = false;
    json_array_foreach(entries, at, entry)
    {
        if (!record_comm_is_product(entry)) {
            continue;
        }
        if (!begun) {
            fprintf(out,
                    "\nProducts over ranks: GFLOP/s, and of those of one rank times the ranks\n"
                    "  %-5s %-7s %7s %6s %6s %-7s%*s%*s%*s\n",
                    "type", "variant", "N", "ranks", "grid", "scaling", CELL, "time", CELL,
                    "GFLOP/s", CELL, "efficiency");
            begun = true;
        }
        fprintf(out, "  %-5s %-7s %7.0f %6.0f %6s %-7s", record_text(entry, "dtype"),
                record_text(entry, "variant"), record_number(entry, "n"),
                record_number(entry, "ranks"), record_text(entry, "grid"),
                record_text(entry, "scaling"));
        put_time(out, record_number(entry, "times.median"));
        put_rate(out, record_number(entry, "gflops"));
        const double share = record_number(entry, "efficiency");
        if (isfinite(share)) {
            fprintf(out, "%*.1f %%", CELL - 2, 100 * share);
        } else {
            fprintf(out, "%*s", CELL, "-");
        }
        fputc('\n', out);
        put_reason(out, entry);
    }
}

static void put_fits(FILE *out, const json_t *fits)
{
    size_t at;
    const json_t *fit;
    if (json_array_size(fits) == 0) {
        return;
    }
    fprintf(out,
            "\nTime = latency + bytes / algbw, the line with the least squares of relative errors\n"
            "  %-14s %-8s %-5s %6s%*s%*s%*s%*s\n",
            "operation", "sum", "type", "ranks", CELL, "latency", CELL, "algbw", CELL, "busbw",
            CELL, "error");
    json_array_foreach(fits, at, fit)
    {
        fprintf(out, "  %-14s %-8s %-5s %6.0f", record_text(fit, "op"), record_text(fit, "variant"),
                record_text(fit, "dtype"), record_number(fit, "ranks"));
        put_time(out, record_number(fit, "latency"));
        put_rate(out, record_number(fit, "algbw"));
        put_rate(out, record_number(fit, "busbw"));
        fprintf(out, "%*.0f %%%s%s\n", CELL - 2, 100 * record_number(fit, "error"),
                json_is_true(json_object_get(fit, "in_place")) ? "  in place" : "",
                is_ours(fit) ? "" : "  beside");
    }
}

void record_comm_table(FILE *out, const json_t *root)
{
    const json_t *entries = json_object_get(root, "comm");
    const json_t *entry = json_array_get(entries, 0);
    if (!entry) {
        return;
    }
    fprintf(out,
            "Communicators (%s). Times are of the slowest rank; alone: one call and the wait "
            "for it.\nRates are GB/s as nccl-tests define them. Every result was checked.\n",
            record_text(entry, "library"));
    for (entry = NULL; (entry = record_comm_next(entries, entry));) {
        if (record_comm_is_product(entry)) {
            continue;
        }
        char *title = record_comm_title(entry);
        fprintf(out, "\n%s\n", title);
        free(title);
        put_calls(out, entries, entry);
        if (record_number(entry, "from") >= 0) {
            put_matrix(out, entries, entry);
        }
    }
    put_products(out, entries);
    put_fits(out, json_object_get(root, "comm_fits"));
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void record_comm_csv(FILE *out, const json_t *entries)
{
    static const char *const texts[] = {"op",     "variant", "dtype",   "by",   "engine", "library",
                                        "status", "reason",  "scaling", "grid", "path",   NULL};
    static const char *const numbers[] = {"bytes",      "ranks",       "from",         "to",
                                          "n",          "memory",      "times.median", "times.low",
                                          "times.high", "times.alone", "times.host",   "algbw",
                                          "busbw",      "gflops",      "efficiency",   NULL};
    size_t at;
    const json_t *entry;
    for (int i = 0; texts[i]; i++) {
        fprintf(out, "%s%s", i > 0 ? "," : "", texts[i]);
    }
    fputs(",in_place", out);
    for (int i = 0; numbers[i]; i++) {
        const char *dot = strchr(numbers[i], '.');
        fprintf(out, ",%s", dot ? dot + 1 : numbers[i]);
    }
    fputs("\r\n", out);
    json_array_foreach(entries, at, entry)
    {
        for (int i = 0; texts[i]; i++) {
            fputs(i > 0 ? "," : "", out);
            record_csv_text(out, record_text(entry, texts[i]));
        }
        fputs(json_is_true(json_object_get(entry, "in_place")) ? ",true" : ",false", out);
        for (int i = 0; numbers[i]; i++) {
            char text[64];
            const double value = record_number(entry, numbers[i]);
            snprintf(text, sizeof text, "%.17g", value);
            fprintf(out, ",%s", isfinite(value) ? record_point(text) : "");
        }
        fputs("\r\n", out);
    }
}
