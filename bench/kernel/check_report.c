/* SPDX-License-Identifier: Apache-2.0 */
/* check_report.c - what `isomer kernel check` says. */
#include "bench/kernel/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdicts[CHECK_VERDICTS] = {"ok", "FOUND", "UNSUPPORTED", "NOT CHECKED"};

check_verdict check_verdict_of(const char *name)
{
    int at = 0;
    while (at < CHECK_MISSING && strcmp(verdicts[at], name) != 0) {
        at++;
    }
    return (check_verdict)at;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static char *text_of(const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *made = tool_alloc((size_t)length + 1, 1, "a text");
    vsnprintf(made, (size_t)length + 1, format, list);
    return made;
}

char *check_text(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *made = text_of(format, list);
    va_end(list);
    return made;
}

void check_say(check_run *run, const char *part, const char *subject, check_verdict verdict,
               const char *format, ...)
{
    va_list list;
    if (run->implied && verdict == CHECK_OK) {
        return;
    }
    run->rows = tool_resize(run->rows, (size_t)run->row_count + 1, sizeof *run->rows, "the report");
    check_row *row = &run->rows[run->row_count++];
    va_start(list, format);
    *row = (check_row){part, strdup(subject), text_of(format, list), verdict};
    va_end(list);
    fprintf(run->out, "%-12s  %-24s  %s%s", row->part, row->subject, verdicts[verdict],
            row->text[0] ? "  " : "");
    tool_wrap(run->out, 44, 14, row->text);
}

void check_append(char **list, const char *name)
{
    char *made = check_text("%s%s%s", *list ? *list : "", *list && **list ? ", " : "", name);
    free(*list);
    *list = made;
}

check_finding *check_known(const check_run *run, const char *key)
{
    for (int32_t i = 0; i < run->finding_count; i++) {
        check_finding *at = &run->findings[i];
        if (strcmp(at->key, key) == 0 && strcmp(at->text, run->unit->args.name) == 0) {
            return at;
        }
    }
    return NULL;
}

check_finding *check_find(check_run *run, const char *part, const char *key, int line,
                          const char *kernel)
{
    check_finding *known = check_known(run, key);
    if (known) {
        known->count++;
        return NULL;
    }
    run->findings = tool_resize(run->findings, (size_t)run->finding_count + 1,
                                sizeof *run->findings, "the findings");
    check_finding *made = &run->findings[run->finding_count++];
    *made = (check_finding){.part = part,
                            .text = run->unit->args.name,
                            .key = strdup(key),
                            .kernel = strdup(kernel),
                            .line = line,
                            .kind = -1,
                            .count = 1,
                            .advice = ""};
    return made;
}

static void free_finding(check_finding *gone)
{
    free(gone->kernel);
    free(gone->what);
    free(gone->details);
    free(gone->also);
    free(gone->key);
}

void check_drop(check_run *run, bool (*drops)(const check_run *run, const check_finding *at))
{
    int32_t kept = 0;
    for (int32_t i = 0; i < run->finding_count; i++) {
        run->findings[i].dropped = drops(run, &run->findings[i]);
    }
    for (int32_t i = 0; i < run->finding_count; i++) {
        if (run->findings[i].dropped) {
            free_finding(&run->findings[i]);
        } else {
            run->findings[kept++] = run->findings[i];
        }
    }
    run->finding_count = kept;
}

bool check_is_on(const check_run *run, const check_finding *at, const char *kernel)
{
    return strcmp(at->kernel, kernel) == 0 && strcmp(at->text, run->unit->args.name) == 0;
}

bool check_has(const check_run *run, const char *kernel)
{
    for (int32_t i = 0; i < run->finding_count; i++) {
        if (check_is_on(run, &run->findings[i], kernel)) {
            return true;
        }
    }
    return false;
}

bool check_is_broken(const check_run *run)
{
    bool broken = false;
    for (int32_t i = 0; i < run->finding_count; i++) {
        const check_finding *at = &run->findings[i];
        broken = broken || (at->part == check_compile && strcmp(at->text, run->own.args.name) == 0);
    }
    return broken;
}

void check_report_free(check_run *run)
{
    for (int32_t i = 0; i < run->row_count; i++) {
        free(run->rows[i].subject);
        free(run->rows[i].text);
    }
    for (int32_t i = 0; i < run->finding_count; i++) {
        free_finding(&run->findings[i]);
    }
    free(run->rows);
    free(run->findings);
}

/* ---- the end --------------------------------------------------------------------------------- */

static int by_line(const void *a, const void *b)
{
    const check_finding *left = a, *right = b;
    const int lines = (left->line > right->line) - (left->line < right->line);
    const int texts = strcmp(left->text, right->text);
    if (texts) {
        return texts;
    }
    return lines ? lines : strcmp(left->key, right->key);
}

static void print_indented(FILE *out, const char *text)
{
    while (text && *text) {
        const int length = (int)strcspn(text, "\n");
        int shown = length;
        while (shown > 0 && text[shown - 1] == ' ') {
            shown--;
        }
        fprintf(out, "    %.*s\n", shown, text);
        text += length + (text[length] == '\n');
    }
}

static void print_findings(check_run *run)
{
    if (run->finding_count) {
        qsort(run->findings, (size_t)run->finding_count, sizeof *run->findings, by_line);
    }
    for (int32_t i = 0; i < run->finding_count; i++) {
        const check_finding *at = &run->findings[i];
        fprintf(run->out, "\n%s:", at->text);
        if (at->line) {
            fprintf(run->out, "%d:", at->line);
        }
        if (at->kernel[0]) {
            fprintf(run->out, " kernel %s:", at->kernel);
        }
        fprintf(run->out, " %s\n", at->what);
        print_indented(run->out, at->details);
        if (at->also) {
            fprintf(run->out, "    %s refuse%s the same line\n", at->also,
                    strchr(at->also, ',') ? "" : "s");
        }
        if (at->count > 1) {
            fprintf(run->out, "    %lld times in all\n", (long long)at->count);
        }
        print_indented(run->out, at->advice);
    }
}

static bool fits(const check_row *row, const char *word)
{
    const size_t length = strlen(word);
    return strcmp(row->part, word) == 0 ||
           (strncmp(row->subject, word, length) == 0 &&
            !strchr("abcdefghijklmnopqrstuvwxyz", row->subject[length] | 32));
}

/* Whether each required check was made. */
static bool have_required(const check_run *run)
{
    bool good = true;
    for (int i = 0; i < run->required.count; i++) {
        const char *word = run->required.items[i];
        const char *why = check_is_part(word) ? "--only leaves it out" : "nothing has that name";
        bool made = false;
        for (int32_t r = 0; r < run->row_count; r++) {
            const check_row *row = &run->rows[r];
            const bool is = fits(row, word);
            made = made || (is && row->verdict <= CHECK_FOUND);
            why = is && row->verdict > CHECK_FOUND ? row->text : why;
        }
        if (!made) {
            good = false;
            tool_error(TOOL_UNAVAILABLE, "--require %s: it was not checked: %s", word, why);
        }
    }
    return good;
}

static void print_summary(const check_run *run, const int32_t counts[CHECK_VERDICTS])
{
    fprintf(run->out, "\n%d finding%s; %d check%s ok", run->finding_count,
            run->finding_count == 1 ? "" : "s", counts[CHECK_OK], counts[CHECK_OK] == 1 ? "" : "s");
    if (counts[CHECK_UNSUPPORTED]) {
        fprintf(run->out, ", %d unsupported", counts[CHECK_UNSUPPORTED]);
    }
    if (!counts[CHECK_MISSING]) {
        fprintf(run->out, "\n");
        return;
    }
    fprintf(run->out, ", %d not made, which is no pass:\n", counts[CHECK_MISSING]);
    for (int32_t i = 0; i < run->row_count; i++) {
        if (run->rows[i].verdict == CHECK_MISSING) {
            fprintf(run->out, "    %s %s\n", run->rows[i].part, run->rows[i].subject);
        }
    }
}

int check_report(check_run *run)
{
    int32_t counts[CHECK_VERDICTS] = {0};
    for (int32_t i = 0; i < run->row_count; i++) {
        counts[run->rows[i].verdict]++;
    }
    print_findings(run);
    print_summary(run, counts);
    if (run->finding_count || counts[CHECK_FOUND]) {
        return TOOL_FAILED;
    }
    if (!have_required(run)) {
        return TOOL_UNAVAILABLE;
    }
    return counts[CHECK_OK] ? TOOL_OK : TOOL_NOTHING;
}

json_t *check_document(const check_run *run)
{
    json_t *root = json_object(), *rows = json_array(), *findings = json_array();
    tool_set_text(root, "schema", "isomer-kernel-check/1");
    tool_set_text(root, "text", run->unit->args.name);
    tool_set_text(root, "compiler", run->compiler ? run->compiler : "");
    for (int32_t i = 0; i < run->row_count; i++) {
        const check_row *row = &run->rows[i];
        json_t *made = json_object();
        tool_set_text(made, "check", row->part);
        tool_set_text(made, "of", row->subject);
        tool_set_text(made, "verdict", verdicts[row->verdict]);
        tool_set_text(made, "text", row->text);
        json_array_append_new(rows, made);
    }
    for (int32_t i = 0; i < run->finding_count; i++) {
        const check_finding *at = &run->findings[i];
        json_t *made = json_object();
        tool_set_text(made, "check", at->part);
        tool_set_text(made, "text", at->text);
        tool_set_text(made, "kernel", at->kernel);
        tool_set_int(made, "line", at->line);
        tool_set_text(made, "what", at->what);
        tool_set_text(made, "details", at->details ? at->details : "");
        tool_set_text(made, "also", at->also ? at->also : "");
        tool_set_text(made, "advice", at->advice);
        tool_set_int(made, "count", at->count);
        json_array_append_new(findings, made);
    }
    json_object_set_new(root, "checks", rows);
    json_object_set_new(root, "findings", findings);
    return root;
}
