/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - reads suites from files (docs/schema/isomer-suite-1.json). Each case becomes a
 * work_line, like those of the built-in suites. */
#include "bench/workload/line.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "isomer-suite/1";

enum { MOST_TEXT = 4096, MOST_MIB = 4 };

/* The form of a member's value. The first three may also be lists of such values. */
typedef enum form { WORD, NUMBER, SIZE, FLAG, RANK } form;

static const struct {
    const char *name;
    form form;
} members[] = {
    {"op", WORD},   {"kind", WORD},     {"variant", WORD}, {"dtype", WORD},    {"size", SIZE},
    {"m", NUMBER},  {"n", NUMBER},      {"k", NUMBER},     {"rows", NUMBER},   {"cols", NUMBER},
    {"axis", WORD}, {"trans_a", WORD},  {"trans_b", WORD}, {"batch", NUMBER},  {"steps", NUMBER},
    {"math", WORD}, {"cache", WORD},    {"parts", FLAG},   {"priority", RANK}, {"per_row", NUMBER},
    {"side", WORD}, {"triangle", WORD},
};
enum { MEMBERS = sizeof members / sizeof members[0] };

/* The place in the file, for messages. */
typedef struct reader {
    const char *path;
    work_file *file;
    int index; /* of the case, from 0 */
} reader;

static int wrong(const reader *r, const char *member, const char *format, ...) ISO_PRINTF(3, 4);
static int wrong(const reader *r, const char *member, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return tool_error(TOOL_USAGE, "%s: cases[%d].%s: %s", r->path, r->index, member, text);
}

/* A value as JSON text, cut to a readable length. */
static const char *shown(const json_t *value, char *text, size_t room)
{
    char *whole = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(text, room, "%.60s%s", whole ? whole : "?", whole && strlen(whole) > 60 ? "..." : "");
    free(whole);
    return text;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool is_form(const json_t *value, form expected)
{
    if (expected == FLAG) {
        return json_is_boolean(value);
    }
    bool number = json_is_integer(value) && json_integer_value(value) > 0;
    if (expected == RANK) {
        return number && json_integer_value(value) <= 9;
    }
    bool word = json_is_string(value) && json_string_value(value)[0] != '\0' &&
                !strchr(json_string_value(value), ',');
    return expected == NUMBER ? number : expected == WORD ? word : number || word;
}

static const char *rule_of(form expected)
{
    static const char sizes[] =
        "a number over 0, a text such as \"4Ki\" or \"64x64x16384\", or a list of them";
    static const char *const rules[] = {[WORD] = "a word, or a list of words",
                                        [NUMBER] = "a whole number over 0, or a list of them",
                                        [SIZE] = sizes,
                                        [FLAG] = "true or false",
                                        [RANK] = "a whole number from 1 (kept longest) to 9"};
    return rules[expected];
}

static int check_member(const reader *r, const char *name, const json_t *value)
{
    const char *names[MEMBERS + 1] = {NULL};
    char text[80], unknown[512];
    for (int i = 0; i < MEMBERS; i++) {
        names[i] = members[i].name;
    }
    int at = tool_find(names, name);
    if (at < 0) {
        tool_say_unknown(unknown, sizeof unknown, name, names);
        return wrong(r, name, "the member %s", unknown);
    }
    form expected = members[at].form;
    bool good = is_form(value, expected);
    if (json_is_array(value) && expected < FLAG) {
        good = json_array_size(value) > 0;
        for (size_t i = 0; i < json_array_size(value); i++) {
            good = good && is_form(json_array_get(value, i), expected);
        }
    }
    return good ? TOOL_OK
                : wrong(r, name, "it is %s but must be %s", shown(value, text, sizeof text),
                        rule_of(expected));
}

/* The i-th item of a list, or the only value. NULL: there is no such item. */
static const json_t *item_of(const json_t *value, size_t i)
{
    if (json_is_array(value)) {
        return json_array_get(value, i);
    }
    return i == 0 ? value : NULL;
}

static void put(char *text, size_t room, const json_t *value)
{
    size_t length = strlen(text);
    if (json_is_integer(value)) {
        snprintf(text + length, room - length, "%lld", (long long)json_integer_value(value));
    } else {
        snprintf(text + length, room - length, "%s", json_string_value(value));
    }
}

/* Combines the items of several members in every way, with `mark` between them, and writes the
 * results as a list such as "1x2,1x4". */
static int combine(const reader *r, const json_t *const *parts, int count, const char *mark,
                   const char *member, char *text)
{
    size_t at[3] = {0, 0, 0}; /* sizes and layouts have at most three members */
    text[0] = '\0';
    for (;;) {
        for (int i = 0; i < count; i++) {
            snprintf(text + strlen(text), MOST_TEXT - strlen(text), "%s",
                     i > 0     ? mark
                     : text[0] ? ","
                               : "");
            put(text, MOST_TEXT, item_of(parts[i], at[i]));
        }
        if (strlen(text) > MOST_TEXT - 64) {
            return wrong(r, member, "the list is too long; split it into several cases");
        }
        int last = count - 1;
        while (last >= 0 && !item_of(parts[last], ++at[last])) {
            at[last--] = 0;
        }
        if (last < 0) {
            return TOOL_OK;
        }
    }
}

/* Copies a text. The copy lives as long as the lines. */
static const char *keep(work_file *file, const char *text)
{
    char **more = realloc(file->texts, (size_t)(file->text_count + 1) * sizeof *more);
    char *copy = strdup(text);
    if (more) {
        file->texts = more;
    }
    if (!more || !copy) {
        free(copy);
        return NULL;
    }
    file->texts[file->text_count++] = copy;
    return copy;
}

/* ---- sizes, layouts and operations ----------------------------------------------------------- */

static const char *const none[] = {NULL}, *const axis[] = {"axis", NULL};

static const char *const *size_members(const bench_op *op)
{
    return op->size_members ? op->size_members : none;
}

static const char *const *layout_members(const bench_op *op)
{
    return op->layout_members ? op->layout_members : axis;
}

/* Appends the names as "m, n and k". */
static void join(const char *const *names, char *text, size_t room)
{
    for (int i = 0; names[i]; i++) {
        size_t at = strlen(text);
        snprintf(text + at, room - at, "%s%s",
                 i == 0         ? ""
                 : names[i + 1] ? ", "
                                : " and ",
                 names[i]);
    }
}

/* The ways to give a size: "size, or m, n and k". */
static const char *ways(const char *const *names, char *text, size_t room)
{
    snprintf(text, room, "size%s", names[0] ? ", or " : "");
    join(names, text, room);
    return text;
}

static int keep_combined(const reader *r, const json_t *const *parts, int count, const char *mark,
                         const char *member, const char **out)
{
    char text[MOST_TEXT];
    int code = combine(r, parts, count, mark, member, text);
    if (code == TOOL_OK && !(*out = keep(r->file, text))) {
        code = tool_error(TOOL_INTERNAL, "no memory for %s", r->path);
    }
    return code;
}

static int take(const reader *r, const json_t *object, const char *member, const char **out)
{
    const json_t *value = json_object_get(object, member);
    return value ? keep_combined(r, &value, 1, "", member, out) : TOOL_OK;
}

/* Refuses members that give a size or a layout, but only for other operations. */
static int check_members(const reader *r, const json_t *object, const work_line *line)
{
    const bench_op *op = bench_op_of(line->op);
    char text[64];
    for (int i = 0; i < BENCH_OPS && bench_op_find(line->op); i++) {
        for (const char *const *m = size_members(bench_ops[i]); *m; m++) {
            if (json_object_get(object, *m) && tool_find(size_members(op), *m) < 0) {
                return wrong(r, *m, "a %s has no such member; it has %s", line->op,
                             ways(size_members(op), text, sizeof text));
            }
        }
        for (const char *const *m = layout_members(bench_ops[i]); *m; m++) {
            if (json_object_get(object, *m) && tool_find(layout_members(op), *m) < 0) {
                return wrong(r, *m, "a %s has no such member", line->op);
            }
        }
    }
    return TOOL_OK;
}

/* Reads "size", or the members that give a size together. */
static int take_size(const reader *r, const json_t *object, const work_line *line, const char **out)
{
    const char *const *names = size_members(bench_op_of(line->op));
    const json_t *parts[3];
    int count = 0, found = 0;
    char text[64];
    ways(names, text, sizeof text);
    for (; names[count]; count++) {
        parts[count] = json_object_get(object, names[count]);
        found += parts[count] != NULL;
    }
    if (!json_object_get(object, "size") && found == 0) {
        return wrong(r, "size", "there is no size: give %s", text);
    }
    if (found == 0) {
        return take(r, object, "size", out);
    }
    if (json_object_get(object, "size")) {
        return wrong(r, "size", "the size is given twice: give %s", text);
    }
    for (int i = 0; i < count; i++) {
        if (!parts[i]) {
            return wrong(r, names[i], "it is missing: give %s", text);
        }
    }
    return keep_combined(r, parts, count, "x", names[0], out);
}

/* The words of each member that gives a layout; the first one is usual. */
static const struct {
    const char *member, *words[3];
} layout_words[] = {{"side", {"left", "right"}},
                    {"triangle", {"lower", "upper"}},
                    {"trans_a", {"n", "t"}},
                    {"trans_b", {"n", "t"}}};

static const char *const *words_of(const char *member)
{
    int i = 0;
    while (strcmp(layout_words[i].member, member) != 0) {
        i++;
    }
    return layout_words[i].words;
}

static int check_words(const reader *r, const char *member, const json_t *value)
{
    const json_t *item;
    const char *const *words = words_of(member);
    for (size_t i = 0; (item = item_of(value, i)); i++) {
        const char *word = json_string_value(item);
        if (tool_find(words, word) < 0) {
            return wrong(r, member, "\"%s\" is not known; it must be %s or %s", word, words[0],
                         words[1]);
        }
    }
    return TOOL_OK;
}

static int take_layout(const reader *r, const json_t *object, work_line *line)
{
    const bench_op *op = bench_op_of(line->op);
    const char *const *names = op->layout_members;
    if (!names) {
        return take(r, object, "axis", &line->layout);
    }
    json_t *usual[BENCH_LAYOUTS] = {NULL};
    const json_t *parts[BENCH_LAYOUTS] = {NULL};
    int code = TOOL_OK, count = 0;
    for (; names[count] && code == TOOL_OK; count++) {
        usual[count] = json_string(words_of(names[count])[0]);
        parts[count] = json_object_get(object, names[count]);
        parts[count] = parts[count] ? parts[count] : usual[count];
        code = check_words(r, names[count], parts[count]);
    }
    if (code == TOOL_OK) {
        code = keep_combined(r, parts, count, op->layout_mark ? op->layout_mark : "", names[0],
                             &line->layout);
    }
    for (int i = 0; i < BENCH_LAYOUTS; i++) {
        json_decref(usual[i]);
    }
    return code;
}

/* Reads "op", which is an operation, or a kind that only one operation has. */
static int take_op(const reader *r, const json_t *object, work_line *line)
{
    const json_t *value = json_object_get(object, "op");
    const char *word = json_string_value(value);
    int found = 0;
    if (!value) {
        const char *names[BENCH_OPS + 1] = {NULL};
        char text[128] = "";
        for (int i = 0; i < BENCH_OPS; i++) {
            names[i] = bench_ops[i]->name;
        }
        join(names, text, sizeof text);
        return wrong(r, "op", "it is missing; the operations are %s", text);
    }
    if (!word) {
        return wrong(r, "op", "it must be one word");
    }
    line->op = word;
    if (bench_op_find(word)) {
        return take(r, object, "kind", &line->kind);
    }
    for (int i = 0; i < BENCH_OPS; i++) {
        if (bench_ops[i]->kinds && tool_find(bench_ops[i]->kinds, word) >= 0) {
            line->op = bench_ops[i]->measured;
            found++;
        }
    }
    if (found > 1) {
        return wrong(r, "op", "\"%s\" is a kind of several operations; give op and kind", word);
    }
    if (found == 1 && json_object_get(object, "kind")) {
        return wrong(r, "kind", "op already gives the kind \"%s\"", word);
    }
    line->kind = found == 1 ? word : NULL;
    return TOOL_OK;
}

/* Refuses members that would have no effect, because the author of the file expects an effect. */
static int check_applies(const reader *r, const json_t *object, const work_line *line)
{
    const bench_op *op = bench_op_of(line->op);
    bool chain = op->kinds && op->computes && (!line->kind || strstr(line->kind, op->computes));
    if (json_object_get(object, "batch") && !op->batches) {
        return wrong(r, "batch", "a %s has no such member", line->op);
    }
    if (json_object_get(object, "steps") && !chain) {
        return wrong(r, "steps", "only the map chain has steps");
    }
    if (json_is_true(json_object_get(object, "parts")) && op->moves) {
        return wrong(r, "parts", "a transfer cannot be measured in parts");
    }
    return TOOL_OK;
}

static int read_case(const reader *r, json_t *object, work_line *line)
{
    char text[512], value[80];
    const char *member, *name;
    json_t *content;
    work_parsed parsed;
    int code = TOOL_OK;
    if (!json_is_object(object)) {
        return tool_error(TOOL_USAGE, "%s: cases[%d] is %s but must be an object", r->path,
                          r->index, shown(object, value, sizeof value));
    }
    json_object_foreach(object, name, content)
    {
        if (code == TOOL_OK) {
            code = check_member(r, name, content);
        }
    }
    if (code != TOOL_OK || (code = take_op(r, object, line)) != TOOL_OK ||
        (code = take(r, object, "variant", &line->variant)) != TOOL_OK ||
        (code = take(r, object, "dtype", &line->dtype)) != TOOL_OK ||
        (code = take(r, object, "batch", &line->batch)) != TOOL_OK ||
        (code = take(r, object, "steps", &line->steps)) != TOOL_OK ||
        (code = take(r, object, "math", &line->math)) != TOOL_OK ||
        (code = take(r, object, "cache", &line->cache)) != TOOL_OK ||
        (code = check_members(r, object, line)) != TOOL_OK ||
        (code = take_layout(r, object, line)) != TOOL_OK ||
        (code = check_applies(r, object, line)) != TOOL_OK) {
        return code;
    }
    line->parts = json_is_true(json_object_get(object, "parts"));
    line->priority = (int32_t)json_integer_value(json_object_get(object, "priority"));
    line->size = "1"; /* any valid size, because this first parse only checks the other members */
    if (!work_line_parse(line, &parsed, &member, text, sizeof text)) {
        return wrong(r, strcmp(member, "layout") == 0 ? "axis" : member, "%s", text);
    }
    if ((code = take_size(r, object, line, &line->size)) != TOOL_OK) {
        return code;
    }
    if (!work_line_parse(line, &parsed, &member, text, sizeof text)) {
        return wrong(r, member, "%s", text);
    }
    return TOOL_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int check_frame(const char *path, json_t *root, const json_t **cases)
{
    static const char *const known[] = {"schema", "cases", NULL};
    const char *name, *is = json_string_value(json_object_get(root, "schema"));
    json_t *content;
    char text[512];
    if (!json_is_object(root)) {
        return tool_error(TOOL_USAGE,
                          "%s is not a suite: it must be an object with schema and cases", path);
    }
    if (!is) {
        return tool_error(TOOL_USAGE, "%s is not a suite: it has no \"schema\": \"%s\"", path,
                          schema);
    }
    if (strcmp(is, schema) != 0) {
        return tool_error(TOOL_USAGE, "%s: schema is \"%s\"; this program reads \"%s\"", path, is,
                          schema);
    }
    json_object_foreach(root, name, content)
    {
        if (tool_find(known, name) < 0) {
            tool_say_unknown(text, sizeof text, name, known);
            return tool_error(TOOL_USAGE, "%s: the member %s", path, text);
        }
    }
    *cases = json_object_get(root, "cases");
    if (!json_is_array(*cases) || json_array_size(*cases) == 0) {
        return tool_error(TOOL_USAGE, "%s: cases must be a list of at least one case", path);
    }
    return TOOL_OK;
}

int work_file_load(const char *path, work_file *out)
{
    *out = (work_file){0};
    json_error_t error;
    const json_t *cases = NULL;
    char problem[160];
    size_t length = 0;
    char *text = tool_read(path, MOST_MIB, &length);
    if (!text) {
        return tool_error(TOOL_IO, "--suite: %s cannot be read: %s", path,
                          tool_read_problem(MOST_MIB, problem, sizeof problem));
    }
    out->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!out->root) {
        return tool_error(TOOL_USAGE, "%s is not JSON: line %d, column %d: %s", path, error.line,
                          error.column, error.text);
    }
    int code = check_frame(path, out->root, &cases);
    size_t count = json_array_size(cases);
    if (code != TOOL_OK) {
        return code;
    }
    out->lines = calloc(count, sizeof *out->lines);
    if (!out->lines) {
        return tool_error(TOOL_INTERNAL, "no memory for %s", path);
    }
    reader r = {.path = path, .file = out};
    for (; (size_t)r.index < count && code == TOOL_OK; r.index++) {
        code = read_case(&r, json_array_get(cases, (size_t)r.index), &out->lines[r.index]);
    }
    out->count = (int32_t)count;
    return code;
}

void work_file_free(work_file *file)
{
    for (int32_t i = 0; i < file->text_count; i++) {
        free(file->texts[i]);
    }
    free(file->texts);
    free(file->lines);
    json_decref(file->root);
    *file = (work_file){0};
}
