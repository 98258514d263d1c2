/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - what `isomer verify` prints. */
#include "bench/verify/comm.h"

#include "common/printable.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FAILURES = 20, MOST_REASONS = 24 };

/* ---- the table ------------------------------------------------------------------------------- */

void verify_cell_add(verify_cell *c, const verify_record *record)
{
    if (!record->ran) {
        return;
    }
    c->passed += record->status == BENCH_OK;
    c->failed += record->status == BENCH_FAILED || record->status == BENCH_ERROR;
    c->unsupported += record->status == BENCH_UNSUPPORTED;
}

/* "212": passed. "209 !3": 209 passed, 3 failed. "(12)": unsupported. */
void verify_cell_print(FILE *out, const verify_cell *c)
{
    char text[64] = "", part[32];
    if (c->passed > 0) {
        snprintf(text, sizeof text, "%d", c->passed);
    }
    if (c->failed > 0) {
        snprintf(part, sizeof part, "%s!%d", text[0] ? " " : "", c->failed);
        strcat(text, part);
    }
    if (c->unsupported > 0) {
        snprintf(part, sizeof part, "%s(%d)", text[0] ? " " : "", c->unsupported);
        strcat(text, part);
    }
    bool colour = text[0] != '\0' && tool_colour(out);
    const char *tint = c->failed ? "\033[31m" : c->passed ? "\033[32m" : "\033[2m";
    fprintf(out, "%*s", VERIFY_CELL - (int)strlen(text), "");
    tool_escape(out, colour ? tint : "");
    fputs(text, out);
    tool_escape(out, colour ? "\033[0m" : "");
}

/* The last cell that is not empty; -1: none. The cells after it are not printed, to avoid trailing
 * spaces. */
static int last_used(const verify_cell *row, int count)
{
    int last = -1;
    for (int i = 0; i < count; i++) {
        if (row[i].passed + row[i].failed + row[i].unsupported > 0) {
            last = i;
        }
    }
    return last;
}

enum { TYPES_MAX = 16 };

static const char *const moved_types[] = {"e1", "e2", "e4", "e8", "e16", NULL};
static const char *const other_types[] = {"i8", "c64", "c128", "f16-f32", "bf16-f32", NULL};
static const char *const no_types[] = {"", NULL};

/* The column of a case's type in a block of types; -1: the block does not have that type. */
static int column_of(const bench_case *item, const char *const *types)
{
    return tool_find(types, item->type);
}

/* Counts the results of all cases with the operation and variant of case `first`. False: an earlier
 * case has the same ones, so that row was already printed. */
static bool make_row(const verify_run *run, const verify_target *target, int first,
                     const char *const *types, verify_cell *row)
{
    const bench_case *item = run->chosen[first];
    for (int i = 0; i < run->chosen_count; i++) {
        const bench_case *other = run->chosen[i];
        int column = column_of(other, types);
        if (column < 0 || other->op != item->op || strcmp(other->variant, item->variant) != 0) {
            continue;
        }
        if (i < first) {
            return false;
        }
        verify_cell_add(&row[column], &target->records[i]);
    }
    return true;
}

/* Prints one block of the table: all operations whose cases have these types. */
static void print_block(FILE *out, const verify_run *run, const verify_target *target,
                        const char *const *types)
{
    int count = 0;
    bool headed = false;
    while (types[count]) {
        count++;
    }
    for (int i = 0; i < run->chosen_count; i++) {
        const bench_case *item = run->chosen[i];
        verify_cell row[TYPES_MAX] = {{0, 0, 0}};
        if (column_of(item, types) < 0 || !target->records[i].ran ||
            !make_row(run, target, i, types, row)) {
            continue;
        }
        if (!headed) {
            fprintf(out, "  %-10s %-9s", "operation", "variant");
            for (int t = 0; t < count; t++) {
                fprintf(out, "%*s", VERIFY_CELL, types[t][0] ? types[t] : "cases");
            }
            fputc('\n', out);
            headed = true;
        }
        fprintf(out, "  %-10s %-9s", item->op->name, item->variant);
        for (int t = 0; t <= last_used(row, count); t++) {
            verify_cell_print(out, &row[t]);
        }
        fputc('\n', out);
    }
}

/* Prints a row for each kind of the cases that another command gave. */
static void print_given(FILE *out, const verify_run *run, const verify_target *target)
{
    int width = 10;
    for (int i = 0; i < run->chosen_count; i++) {
        int length = (int)strlen(run->chosen[i]->kind);
        width = length > width ? length : width;
    }
    fprintf(out, "  %-*s %*s%s\n", width, run->chosen[0]->op->name, VERIFY_CELL, "cases",
            run->bitwise ? "  digest" : "");
    for (int i = 0; i < run->chosen_count; i++) {
        verify_cell row = {0, 0, 0};
        if (i > 0 && strcmp(run->chosen[i]->kind, run->chosen[i - 1]->kind) == 0) {
            continue;
        }
        for (int j = i; j < run->chosen_count; j++) {
            if (strcmp(run->chosen[j]->kind, run->chosen[i]->kind) == 0) {
                verify_cell_add(&row, &target->records[j]);
            }
        }
        fprintf(out, "  %-*s ", width, run->chosen[i]->kind);
        if (row.passed + row.failed + row.unsupported > 0) {
            verify_cell_print(out, &row);
        } else {
            fprintf(out, "%*s", VERIFY_CELL, "not run");
        }
        uint64_t digest[2];
        if (run->bitwise && verify_digest_of(run, target, run->chosen[i]->kind, digest) > 0) {
            char text[33];
            tool_digest_text(digest, text);
            fprintf(out, "  %s", text);
        }
        fputc('\n', out);
    }
}

/* ---- unsupported ----------------------------------------------------------------------------- */

static void print_reasons(FILE *out, const verify_run *run, const verify_target *target)
{
    int shown = 0, hidden = 0;
    for (int i = 0; i < run->chosen_count; i++) {
        const verify_record *record = &target->records[i];
        if (!record->ran || record->status != BENCH_UNSUPPORTED || !record->reason) {
            continue;
        }
        int times = 0;
        bool seen = false;
        for (int j = 0; j < run->chosen_count && !seen; j++) {
            const verify_record *other = &target->records[j];
            if (!other->ran || other->status != BENCH_UNSUPPORTED || !other->reason ||
                strcmp(other->reason, record->reason) != 0) {
                continue;
            }
            seen = j < i;
            times++;
        }
        if (seen) {
            continue;
        }
        if (shown == MOST_REASONS) {
            hidden++;
            continue;
        }
        if (shown++ == 0) {
            fprintf(out, "  unsupported\n");
        }
        int at = fprintf(out, "  %6d  ", times);
        /* Leaves out the name of the call, which is always the same. */
        const char *reason = record->reason;
        tool_wrap(out, at, at, strncmp(reason, "iso_supports: ", 14) == 0 ? reason + 14 : reason);
    }
    if (hidden > 0) {
        fprintf(out, "          and %d more reasons\n", hidden);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

static void quote(char *text, size_t room, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=:,./@%";
    size_t used = strlen(text);
    if (word[0] != '\0' && word[strspn(word, safe)] == '\0') {
        snprintf(text + used, room - used, "%s", word);
        return;
    }
    if (used + 1 < room) {
        text[used++] = '\'';
    }
    for (; *word != '\0' && used + 6 < room; word++) {
        if (*word == '\'') {
            memcpy(text + used, "'\\''", 4);
            used += 4;
        } else {
            text[used++] = *word;
        }
    }
    if (used + 1 < room) {
        text[used++] = '\'';
    }
    text[used] = '\0';
}

static void add_text(char *text, size_t room, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s", more);
}

/* The options of --comm. */
static void command_comm(const verify_run *run, const bench_case *item, char *text, size_t room)
{
    const ranks_options *options = &run->comm_options;
    char ranks[32];
    snprintf(ranks, sizeof ranks, " --ranks %d", item->comm.ranks);
    add_text(text, room, " --comm");
    add_text(text, room, ranks_in_world(run->team) ? " --world" : ranks);
    if (options->engine) {
        add_text(text, room, " --engine ");
        quote(text, room, options->engine);
    }
    if (options->timeout) {
        add_text(text, room, " --timeout ");
        quote(text, room, options->timeout);
    }
}

void verify_command(const verify_run *run, const verify_target *target, const bench_case *item,
                    char *text, size_t room)
{
    text[0] = '\0';
    for (char **e = environ; *e; e++) {
        const char *equals = strchr(*e, '=');
        if (strncmp(*e, "ISOMER_", 7) != 0 || strncmp(*e, "ISOMER_BACKEND=", 15) == 0 ||
            strncmp(*e, "ISOMER_REQUIRE=", 15) == 0 || strncmp(*e, "ISOMER_TEST_", 12) == 0 ||
            !equals) {
            continue;
        }
        char name[128];
        snprintf(name, sizeof name, "%.*s=", (int)(equals - *e), *e);
        add_text(text, room, name);
        quote(text, room, equals + 1);
        add_text(text, room, " ");
    }
    static const char *const verify[] = {"verify", NULL};
    if (run->comm && ranks_in_world(run->team)) {
        char start[48];
        snprintf(start, sizeof start, "mpirun -n %d ", item->comm.ranks);
        add_text(text, room, start);
    }
    quote(text, room, tool_name);
    for (const char *const *word = run->given ? run->given->words : verify; *word; word++) {
        add_text(text, room, " ");
        quote(text, room, *word);
    }
    add_text(text, room, " --backend ");
    quote(text, room, run->comm && run->backend ? run->backend : target->info->spec);
    if (run->comm) {
        command_comm(run, item, text, room);
    }
    add_text(text, room, " --case ");
    quote(text, room, item->id);
    if (run->invariance) {
        add_text(text, room, " --invariance");
    }
    if (run->inline_streams) {
        add_text(text, room, " --inline");
    }
    if (run->bitwise) {
        add_text(text, room, " --bitwise");
    }
    if (run->seed) {
        add_text(text, room, " --seed ");
        quote(text, room, run->seed);
    }
}

static void print_failures(const verify_run *run)
{
    FILE *out = run->out;
    int shown = 0, hidden = 0;
    bool colour = tool_colour(out);
    for (int i = 0; i < run->chosen_count; i++) {
        for (int t = 0; t < run->target_count; t++) {
            const verify_target *target = &run->targets[t];
            const verify_record *record = &target->records[i];
            if (!record->ran || (record->status != BENCH_FAILED && record->status != BENCH_ERROR)) {
                continue;
            }
            if (shown == MOST_FAILURES) {
                hidden++;
                continue;
            }
            char command[4096];
            shown++;
            fputc('\n', out);
            tool_escape(out, colour ? "\033[31m" : "");
            fputs(record->status == BENCH_FAILED ? "FAILED" : "ERROR", out);
            tool_escape(out, colour ? "\033[0m" : "");
            fprintf(out, " %s on %s\n", run->chosen[i]->id, target->title);
            fprintf(out, "  ");
            tool_wrap(out, 2, 2, record->reason ? record->reason : "no reason was given");
            verify_command(run, target, run->chosen[i], command, sizeof command);
            fprintf(out, "  repeat with: %s\n", command); /* one line, for copying */
        }
    }
    if (hidden > 0) {
        fprintf(out, "\nand %d more failures; --json lists them all\n", hidden);
    }
}

void verify_report(verify_run *run)
{
    FILE *out = run->out;
    for (int t = 0; t < run->target_count; t++) {
        const verify_target *target = &run->targets[t];
        char text[8 * ISO_NAME_MAX], shown[4 * sizeof text];
        snprintf(text, sizeof text, "%s  %s%s%s", target->title,
                 run->comm ? ranks_engine(run->team) : target->info->name,
                 run->comm || target->info->architecture[0] ? ", " : "",
                 run->comm ? ranks_library(run->team) : target->info->architecture);
        printable_line(shown, sizeof shown, text);
        fprintf(out, "%s%s\n", t ? "\n" : "", shown);
        if (run->invariance) {
            verify_report_companies(run, target);
        } else if (run->comm) {
            comm_report(run, target);
        } else if (run->given) {
            print_given(out, run, target);
        } else {
            print_block(out, run, target, bench_all_types);
            print_block(out, run, target, other_types);
            print_block(out, run, target, moved_types);
            print_block(out, run, target, no_types);
        }
        print_reasons(out, run, target);
        if (run->bitwise && target->digests > 0) {
            char digest[33];
            tool_digest_text(target->digest, digest);
            fprintf(out, "  digest %s of %d cases\n", digest, target->digests);
            comm_report_fixed(run);
        }
    }
    print_failures(run);
    fprintf(out, "\n%d passed, %d failed%s", run->passed, run->failed,
            run->failed > 0 ? " (!)" : "");
    if (run->errors > 0) {
        fprintf(out, ", %d could not run (!)", run->errors);
    }
    if (run->unsupported > 0) {
        fprintf(out, ", %d unsupported (in brackets)", run->unsupported);
    }
    fprintf(out, ", in %.1f s\n", run->seconds);
    if (run->interrupted) {
        fputs("The run was interrupted: the other cases were not run.\n", out);
    }
}
