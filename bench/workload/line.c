/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - parses the words of a suite's line and says what is wrong with them. */
#include "bench/workload/line.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES_LOG2 = 46 };

static const char *const caches[] = {"hot", "cold", NULL};
static const char *const none[] = {NULL};

/* ---- sizes ----------------------------------------------------------------------------------- */

static bool parse_number(const char *text, const char **end, int64_t *out)
{
    static const struct {
        const char *mark;
        int shift;
    } marks[] = {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"K", 10},
                 {"M", 20},  {"G", 30},  {"T", 40},  {"", 0}};
    char *rest;
    if (*text < '1' || *text > '9') {
        return false;
    }
    unsigned long long value = strtoull(text, &rest, 10);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t length = strlen(marks[i].mark);
        if (strncmp(rest, marks[i].mark, length) != 0) {
            continue;
        }
        if (value > (1ull << MOST_BYTES_LOG2) >> marks[i].shift) {
            return false;
        }
        *out = (int64_t)(value << marks[i].shift);
        *end = rest + length;
        return true;
    }
    return false;
}

bool work_size_parse(const char *word, bench_size *out)
{
    *out = (bench_size){.count = 0};
    if (strcmp(word, "beyond-cache") == 0) {
        out->beyond_cache = true;
        return true;
    }
    while (out->count < 3) {
        if (!parse_number(word, &word, &out->of[out->count])) {
            return false;
        }
        out->count++;
        if (*word == '\0') {
            return true;
        }
        if (*word++ != 'x') {
            return false;
        }
    }
    return false;
}

bool work_size_fits(const bench_size *size, const bench_op *op)
{
    return op->counts >> size->count & 1;
}

const char work_size_rule[] = "a size is a number such as 1024, 4Ki or 2Mi; ROWSxCOLS for a "
                              "transpose or a reduction; MxNxK for a product; or beyond-cache";

bool work_sizes_parse(const tool_words *words, work_sizes *out, char *text, size_t room)
{
    out->count = 0;
    for (int i = 0; i < words->count; i++) {
        if (out->count == WORK_WORDS) {
            snprintf(text, room, "there are more than %d sizes", WORK_WORDS);
            return false;
        }
        if (!work_size_parse(words->items[i], &out->items[out->count++])) {
            snprintf(text, room, "\"%s\" is not a size: %s", words->items[i], work_size_rule);
            return false;
        }
    }
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads the words of a list, or the default if there is no list. Each word must be one of `names`.
 */
static bool take(const char *list, const char *by_default, const char *const *names,
                 work_choice *out, char *text, size_t room)
{
    tool_words words;
    bool good = tool_split(list ? list : by_default, &words);
    out->count = 0;
    for (int i = 0; good && i < words.count; i++) {
        int at = tool_find(names, words.items[i]);
        good = at >= 0 && out->count < WORK_WORDS;
        if (good) {
            out->items[out->count++] = names[at];
        } else {
            tool_say_unknown(text, room, words.items[i], names);
        }
    }
    tool_words_free(&words);
    return good;
}

static bool take_numbers(const char *list, const char *by_default, work_sizes *out, char *text,
                         size_t room)
{
    tool_words words;
    bool good =
        tool_split(list ? list : by_default, &words) && work_sizes_parse(&words, out, text, room);
    for (int i = 0; good && i < out->count; i++) {
        if (out->items[i].count != 1) {
            snprintf(text, room, "\"%s\" is not a whole number of at least 1", words.items[i]);
            good = false;
        }
    }
    tool_words_free(&words);
    return good;
}

static bool take_sizes(const work_line *line, work_parsed *out, char *text, size_t room)
{
    tool_words words;
    bool good = tool_split(line->size, &words) && work_sizes_parse(&words, &out->sizes, text, room);
    for (int i = 0; good && i < out->sizes.count; i++) {
        if (!work_size_fits(&out->sizes.items[i], out->op)) {
            snprintf(text, room, "\"%s\" is not a size of a %s: %s", words.items[i],
                     out->op->measured, work_size_rule);
            good = false;
        }
    }
    if (good && out->sizes.count == 0) {
        snprintf(text, room, "there is no size");
        good = false;
    }
    tool_words_free(&words);
    return good;
}

bool work_line_parse(const work_line *line, work_parsed *out, const char **member, char *text,
                     size_t room)
{
    const bench_op *op = bench_op_find(line->op);
    *out = (work_parsed){.line = line, .op = op};
    *member = "op";
    if (!op) {
        const char *names[BENCH_OPS + 1] = {NULL};
        for (int i = 0; i < BENCH_OPS; i++) {
            names[i] = bench_ops[i]->name;
        }
        tool_say_unknown(text, room, line->op, names);
        return false;
    }
    const struct {
        const char *member, *list, *usual;
        const char *const *names;
        work_choice *out;
    } words[] = {{"kind", line->kind, op->usual_kinds, op->kinds, &out->kinds},
                 {"variant", line->variant, op->usual_variants, op->variants, &out->variants},
                 {"dtype", line->dtype, op->usual_types, op->types, &out->types},
                 {"layout", line->layout, op->usual_layout, op->layouts, &out->layouts},
                 {"math", line->math, NULL, op->maths, &out->maths},
                 {"cache", line->cache, "hot", caches, &out->caches}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        *member = words[i].member;
        if (!take(words[i].list, words[i].usual, words[i].names ? words[i].names : none,
                  words[i].out, text, room)) {
            return false;
        }
    }
    return (*member = "batch", take_numbers(line->batch, "1", &out->batches, text, room)) &&
           (*member = "steps", take_numbers(line->steps, "1024", &out->steps, text, room)) &&
           (*member = "size", take_sizes(line, out, text, room));
}
