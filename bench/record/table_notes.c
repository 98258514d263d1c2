/* SPDX-License-Identifier: Apache-2.0 */
/* table_notes.c - the text above and below the table on the terminal. */
#include "bench/record/table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMN = 12, REASONS = 12, REASON_LENGTH = 240 };

bool table_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (!value || value[0] == '\0') {
            continue;
        }
        for (; *value != '\0'; value++) {
            if (strncasecmp(value, "utf-8", 5) == 0 || strncasecmp(value, "utf8", 4) == 0) {
                return true;
            }
        }
        return false;
    }
    return false;
}

static void heading(table *t, const char *text)
{
    paint_end(&t->p);
    paint_put(&t->p, PAINT_BOLD, text);
    paint_end(&t->p);
}

/* Writes a wrapped text beside a name. If `name` is NULL, the text has the whole width. */
static void entry(table *t, paint_style name_style, const char *name, paint_style style,
                  const char *format, ...) ISO_PRINTF(5, 6);
static void entry(table *t, paint_style name_style, const char *name, paint_style style,
                  const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = record_vformat(format, list);
    va_end(list);
    if (name) {
        paint_pad(&t->p, 1);
        paint_put(&t->p, name_style, name);
        paint_pad(&t->p, t->p.column >= NAME_COLUMN ? 1 : NAME_COLUMN - t->p.column);
    }
    paint_wrap(&t->p, style, name ? NAME_COLUMN : 0, text);
    paint_end(&t->p);
    free(text);
}

/* ---- above ----------------------------------------------------------------------------------- */

void table_head(table *t)
{
    const json_t *run = json_object_get(t->root, "run");
    double rounds = record_number(run, "rounds"), seconds = record_number(run, "seconds");
    double seed = record_number(run, "seed"), processors = record_number(run, "host.processors");
    const char *hypervisor = record_text(run, "host.virtual");
    char part[64] = "";
    json_t *note;
    size_t i;
    if (isfinite(rounds) && isfinite(seconds)) {
        snprintf(part, sizeof part, ", %.0f %s, %.0f s in all", rounds,
                 rounds == 1 ? "round" : "rounds", seconds);
    }
    paint_end(&t->p);
    entry(t, PAINT_PLAIN, NULL, PAINT_BOLD, "isomer %s %s, suite %.40s%s",
          record_text(run, "command"), record_text(run, "version"), record_text(run, "suite"),
          part);
    part[0] = '\0';
    if (isfinite(processors)) {
        snprintf(part, sizeof part, ", %.0f processor%s", processors, processors == 1 ? "" : "s");
    }
    entry(t, PAINT_PLAIN, NULL, PAINT_DIM, "%.64s: %.128s%s%s%.32s; %s, math %.16s, seed %.0f",
          record_text(run, "host.name"), record_text(run, "host.cpu"), part,
          hypervisor[0] != '\0' ? ", under " : "", hypervisor, record_text(run, "time"),
          record_text(run, "math"), isfinite(seed) ? seed : 0);
    json_array_foreach(t->v.signs.notes, i, note)
    {
        entry(t, PAINT_PLAIN, NULL, PAINT_PLAIN, "%s", json_string_value(note));
    }
}

/* ---- below ----------------------------------------------------------------------------------- */

/* " and 3 more"; "" for none. */
static const char *and_more(char *text, size_t room, size_t others)
{
    text[0] = '\0';
    if (others > 0) {
        snprintf(text, room, " and %zu more", others);
    }
    return text;
}

/* Explains `!`: prints how many results have each flag that is a caution, and the first of them. */
static void print_cautions(table *t)
{
    const json_t *results = json_object_get(t->root, "results"), *result;
    size_t i;
    for (const record_flag *flag = record_flags; flag->name; flag++) {
        const json_t *first = NULL;
        char text[32];
        size_t others = 0;
        json_array_foreach((json_t *)results, i, result)
        {
            if (flag->level == RECORD_CAUTION && record_sign_has(&t->v.signs, result, flag->name)) {
                others += first != NULL;
                first = first ? first : result;
            }
        }
        if (first) {
            entry(t, PAINT_BOLD, "!", PAINT_PLAIN, "%s: %s (%.160s on %.64s%s)", flag->name,
                  flag->meaning, record_text(first, "id"), record_text(first, "device"),
                  and_more(text, sizeof text, others));
        }
    }
}

static void print_signs(table *t)
{
    if (!(t->top && !t->p.colour) && !t->caution && !t->invalid && !t->missing) {
        return;
    }
    heading(t, "Signs");
    if (t->top && !t->p.colour) {
        entry(t, PAINT_BOLD, "*", PAINT_PLAIN, "the fastest of its row");
    }
    if (t->caution) {
        print_cautions(t);
    }
    if (t->invalid) {
        entry(t, PAINT_BOLD, "invalid", PAINT_PLAIN, "%s", record_flag_meaning("clock-wrong"));
    }
    if (t->missing) {
        entry(t, PAINT_BOLD, "-", PAINT_PLAIN, "not measured");
    }
}

/* Whether two texts are equal apart from numbers, as in "one call would take about 1.7 s". */
static bool same_words(const char *a, const char *b)
{
    static const char numbers[] = "0123456789.";
    for (;; a++, b++) {
        a += strspn(a, numbers);
        b += strspn(b, numbers);
        if (*a != *b || *a == '\0') {
            return *a == *b;
        }
    }
}

static bool same_reason(const json_t *a, const json_t *b)
{
    return strcmp(record_text(a, "status"), record_text(b, "status")) == 0 &&
           strcmp(record_text(a, "device"), record_text(b, "device")) == 0 &&
           same_words(record_text(a, "reason"), record_text(b, "reason"));
}

/* Adds a word to a list such as "f32, f64", unless it is there. */
static void add_word(char *text, size_t room, const char *word)
{
    if (word[0] != '\0' && !strstr(text, word)) {
        tool_join(text, room, ", ", word);
    }
}

/* Describes the results with the same reason as results[index]: "f16, bf16 vendor products, 10
 * cases". */
static void describe(char *text, size_t room, const json_t *results, size_t index)
{
    char types[48] = "", variants[64] = "", titles[96] = "", title[64];
    const json_t *result = json_array_get(results, index);
    int count = 0;
    for (size_t i = index; i < json_array_size(results); i++) {
        const json_t *other = json_array_get(results, i);
        if (!same_reason(result, other)) {
            continue;
        }
        snprintf(title, sizeof title, "%s", bench_op_of(record_text(other, "op"))->title);
        title[0] = (char)tolower((unsigned char)title[0]);
        bool tf32 = strcmp(record_text(other, "math"), "tf32") == 0;
        add_word(types, sizeof types, tf32 ? "tf32" : record_text(other, "dtype"));
        add_word(variants, sizeof variants, record_text(other, "variant"));
        add_word(titles, sizeof titles, title);
        count++;
    }
    /* A long list says nothing. */
    const char *type = strlen(types) > 10 ? "" : types;
    const char *variant = strlen(variants) > 16 ? "" : variants;
    snprintf(text, room, "%s%s%s%s%s, %d case%s", type, type[0] != '\0' ? " " : "", variant,
             variant[0] != '\0' ? " " : "", titles, count, count > 1 ? "s" : "");
}

/* A reason without what its line says already: "opencl: gemm: variant vendor: ". */
static const char *plain(const char *reason)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    for (;;) {
        size_t length = strspn(reason, letters);
        if (strncmp(reason, "variant ", 8) == 0 || strncmp(reason, "math ", 5) == 0) {
            length += 1 + strspn(reason + length + 1, letters);
        }
        if (length == 0 || strncmp(reason + length, ": ", 2) != 0) {
            return reason;
        }
        reason += length + 2;
    }
}

/* Prints one line for all cases of a device with the same reason. Returns false and prints nothing
 * if an earlier case has that reason. If `t` is NULL, it only returns whether it would print. */
static bool print_reason(table *t, const json_t *results, size_t index)
{
    const json_t *result = json_array_get(results, index);
    size_t others = 0;
    for (size_t i = 0; i < json_array_size(results); i++) {
        if (i == index || !same_reason(result, json_array_get(results, i))) {
            continue;
        }
        if (i < index) {
            return false;
        }
        others++;
    }
    if (!t) {
        return true;
    }
    const char *reason = plain(record_text(result, "reason")),
               *device = record_text(result, "device");
    const char *cut = strlen(reason) > REASON_LENGTH ? " ..." : "";
    char text[256];
    if (view_is(result, BENCH_UNSUPPORTED)) {
        describe(text, sizeof text, results, index);
        entry(t, PAINT_BOLD, "-", PAINT_PLAIN, "%.64s: %s: %.*s%s", device, text, REASON_LENGTH,
              reason, cut);
    } else {
        entry(t, PAINT_BAD, view_is(result, BENCH_FAILED) ? "FAILED" : "error", PAINT_PLAIN,
              "%.160s on %.64s%s: %.*s%s", record_text(result, "id"), device,
              and_more(text, sizeof text, others), REASON_LENGTH, reason, cut);
    }
    return true;
}

static void print_reasons(table *t)
{
    static const bench_status order[] = {BENCH_FAILED, BENCH_ERROR, BENCH_UNSUPPORTED};
    const json_t *results = json_object_get(t->root, "results");
    int printed = 0, left = 0;
    for (size_t s = 0; s < sizeof order / sizeof order[0]; s++) {
        for (size_t i = 0; i < json_array_size(results); i++) {
            if (!view_is(json_array_get(results, i), order[s])) {
                continue;
            }
            if (printed == 0) {
                heading(t, "Without a number");
            }
            bool room = s == 0 || printed < REASONS;
            if (print_reason(room ? t : NULL, results, i)) {
                printed += room;
                left += !room;
            }
        }
    }
    if (left > 0) {
        entry(t, PAINT_DIM, "", PAINT_DIM, "and %d more reasons, which are in the file", left);
    }
}

/* Writes the roofs from one source: "read 30.1 GB/s, copy 40.2 GB/s". False: there are none. */
static bool roofs_text(char *text, size_t room, const json_t *device, const char *source)
{
    const json_t *roofs = json_object_get(device, "roofs");
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(roofs); i++) {
        const json_t *roof = json_array_get(roofs, i);
        char number[32];
        if (strcmp(record_text(roof, "source"), source) != 0 || used >= room) {
            continue;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%.32s %s %.16s", used > 0 ? ", " : "",
                                 record_text(roof, "name"),
                                 record_rate(number, sizeof number, record_number(roof, "value")),
                                 record_text(roof, "unit"));
    }
    return used > 0;
}

/* Prints the vendor libraries that the results of a device name. */
static void print_libraries(table *t, const char *spec)
{
    const json_t *results = json_object_get(t->root, "results");
    char text[320] = "vendor: ";
    size_t begin = strlen(text), used = begin;
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        const char *library = record_text(result, "library");
        if (strcmp(record_text(result, "variant"), "vendor") != 0 || library[0] == '\0' ||
            strcmp(record_text(result, "device"), spec) != 0 || strstr(text, library) ||
            used + strlen(library) + 3 > sizeof text) {
            continue;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > begin ? ", " : "",
                                 library);
    }
    if (used > begin) {
        entry(t, PAINT_PLAIN, "", PAINT_PLAIN, "%s", text);
    }
}

/* Prints which variants ran where `auto` was asked for: "vendor for gemm, tiled for reduce max". */
static void print_auto(table *t, const char *spec)
{
    char text[320] = "";
    json_t *result;
    size_t i;
    json_array_foreach(json_object_get(t->root, "results"), i, result)
    {
        char one[96];
        const char *kind = record_text(result, "kind");
        if (record_text(result, "variant_used")[0] == '\0' ||
            strcmp(record_text(result, "device"), spec) != 0) {
            continue;
        }
        snprintf(one, sizeof one, "%.32s for %s%s%.32s", record_text(result, "variant_used"),
                 bench_op_of(record_text(result, "op"))->name, kind[0] != '\0' ? " " : "", kind);
        add_word(text, sizeof text, one);
    }
    if (text[0] != '\0') {
        entry(t, PAINT_PLAIN, "", PAINT_PLAIN, "auto chose %s", text);
    }
}

static void print_left_out(table *t)
{
    json_t *item;
    size_t i;
    json_array_foreach(record_at(t->root, "run.left_out"), i, item)
    {
        entry(t, PAINT_BOLD, record_text(item, "device"), PAINT_BAD, "left out: %.*s",
              REASON_LENGTH, record_text(item, "reason"));
    }
}

static void print_device(table *t, const json_t *device)
{
    static const char *const sources[][2] = {{"measured", "measured in this run"},
                                             {"table", "from the chip's table"}};
    const char *architecture = record_text(device, "architecture");
    const char *driver = record_text(device, "driver");
    char text[480];
    entry(t, PAINT_BOLD, record_text(device, "spec"), PAINT_PLAIN, "%.160s%s%.64s%s%.128s",
          record_text(device, "name"), architecture[0] != '\0' ? ", " : "", architecture,
          driver[0] != '\0' ? ", " : "", driver);
    const tool_tier_words *tier = &tool_tiers[record_tier(device)];
    if (!tier->timed) {
        entry(t, PAINT_PLAIN, "", PAINT_BAD, "%s: %s; its times mean nothing", tier->mark,
              tier->words);
    }
    for (int i = 0; i < 2; i++) {
        if (roofs_text(text, sizeof text, device, sources[i][0])) {
            entry(t, PAINT_PLAIN, "", PAINT_PLAIN, "%s: %s", sources[i][1], text);
        }
    }
    if (isfinite(record_number(device, "open"))) {
        entry(t, PAINT_PLAIN, "", PAINT_PLAIN, "opened in %s",
              record_time(text, sizeof text, record_number(device, "open")));
    }
    print_libraries(t, record_text(device, "spec"));
    print_auto(t, record_text(device, "spec"));
}

static void print_answers(table *t)
{
    json_t *answers = record_answers(&t->v), *answer;
    size_t i;
    if (json_array_size(answers) > 0) {
        heading(t, "In short");
    }
    json_array_foreach(answers, i, answer)
    {
        paint_pad(&t->p, 1);
        paint_wrap(&t->p, PAINT_PLAIN, 3, json_string_value(answer));
        paint_end(&t->p);
    }
    json_decref(answers);
}

void table_foot(table *t)
{
    json_t *device;
    size_t i;
    print_signs(t);
    print_reasons(t);
    heading(t, "Devices and their roofs");
    json_array_foreach(json_object_get(t->root, "devices"), i, device)
    {
        print_device(t, device);
    }
    print_left_out(t);
    if (t->folded) {
        paint_end(&t->p);
        entry(t, PAINT_PLAIN, NULL, PAINT_DIM,
              "Every row and column is in the files of --json and --csv, and in the report.");
    }
    print_answers(t);
}
