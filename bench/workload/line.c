/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - the words of a suite's line: what they mean, and what is wrong with them. */
#include "bench/workload/line.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES_LOG2 = 46 };

static const char *const transfer_kinds[] = {"write", "read", "copy", NULL};
static const char *const stream_kinds[] = {"dot",      "copy",  "scale", "add",
                                           "multiply", "triad", "chain", NULL};
static const char *const reduce_kinds[] = {"sum",  "product", "min",    "max",    "mean", "dot",
                                           "asum", "norm2",   "argmin", "argmax", NULL};
static const char *const none[] = {NULL};

const char *const *work_kinds(work_op op)
{
    return op == WORK_TRANSFER ? transfer_kinds
           : op == WORK_STREAM ? stream_kinds
           : op == WORK_REDUCE ? reduce_kinds
                               : none;
}

static const char *const transfer_variants[] = {"pageable", "pinned", "device", NULL};
static const char *const stream_variants[] = {"naive", "tiled", "vendor", "partials", NULL};
static const char *const plain_variants[] = {"naive", "tiled", "vendor", NULL};
static const char *const float_types[] = {"f16", "bf16", "f32", "f64", NULL};
static const char *const all_types[] = {"f16", "bf16", "f32", "f64", "i32", "i64", NULL};
static const char *const element_types[] = {"e1", "e2", "e4", "e8", "e16", NULL};
static const char *const gemm_layouts[] = {"nn", "nt", "tn", "tt", NULL};
static const char *const axes[] = {"all", "0", "1", NULL};
static const char *const maths[] = {"strict", "tf32", NULL};
static const char *const caches[] = {"hot", "cold", NULL};

const char *const *work_variants(work_op op)
{
    return op == WORK_TRANSFER                      ? transfer_variants
           : op == WORK_STREAM || op == WORK_REDUCE ? stream_variants
                                                    : plain_variants;
}

const char *const *work_types(work_op op)
{
    return op == WORK_TRANSFER    ? none
           : op == WORK_TRANSPOSE ? element_types
           : op == WORK_GEMM      ? float_types
                                  : all_types;
}

int work_find(const char *const *names, const char *word)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

bool work_op_parse(const char *word, work_op *out)
{
    for (int op = WORK_TRANSFER; op <= WORK_GEMM; op++) {
        if (strcmp(word, work_op_name((work_op)op)) == 0) {
            *out = (work_op)op;
            return true;
        }
    }
    return false;
}

/* Cut where there is no room. */
static void append(char *text, size_t room, const char *before, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", before, more);
}

void work_say_unknown(char *text, size_t room, const char *word, const char *const *names)
{
    int count = 0;
    while (names[count]) {
        count++;
    }
    const char *near = tool_nearest(word, names, count);
    snprintf(text, room, "\"%.100s%s\" is not known%s%s%s; ", word, strlen(word) > 100 ? "..." : "",
             near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    append(text, room, count > 0 ? "it may be " : "it takes none", "");
    for (int i = 0; i < count; i++) {
        append(text, room, i ? ", " : "", names[i]);
    }
}

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

bool work_size_parse(const char *word, work_size *out)
{
    *out = (work_size){.count = 0};
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

bool work_size_fits(const work_size *size, work_op op)
{
    if (size->beyond_cache) {
        return op != WORK_GEMM;
    }
    return op == WORK_GEMM                             ? size->count != 2
           : op == WORK_TRANSPOSE || op == WORK_REDUCE ? size->count <= 2
                                                       : size->count == 1;
}

static const char size_rule[] =
    "a size is a number such as 1024, 4Ki or 2Mi, ROWSxCOLS of a transpose or a reduction, MxNxK "
    "of a product, or beyond-cache";

bool work_sizes_parse(const tool_words *words, work_sizes *out, char *text, size_t room)
{
    out->count = 0;
    for (int i = 0; i < words->count; i++) {
        if (out->count == WORK_WORDS) {
            snprintf(text, room, "there are over %d sizes", WORK_WORDS);
            return false;
        }
        if (!work_size_parse(words->items[i], &out->items[out->count++])) {
            snprintf(text, room, "\"%s\" is no size: %s", words->items[i], size_rule);
            return false;
        }
    }
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Words of a list, each one of `names`; what there is by default where there is no list. */
static bool take(const char *list, const char *by_default, const char *const *names,
                 work_choice *out, char *text, size_t room)
{
    tool_words words;
    bool good = tool_split(list ? list : by_default, &words);
    out->count = 0;
    for (int i = 0; good && i < words.count; i++) {
        int at = work_find(names, words.items[i]);
        good = at >= 0 && out->count < WORK_WORDS;
        if (good) {
            out->items[out->count++] = names[at];
        } else {
            work_say_unknown(text, room, words.items[i], names);
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
            snprintf(text, room, "\"%s\" is no number of one or more", words.items[i]);
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
            snprintf(text, room, "\"%s\" does not say the size of a %s: %s", words.items[i],
                     work_op_name(out->op), size_rule);
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

static const char *kinds_by_default(work_op op)
{
    return op == WORK_TRANSFER ? "write,read,copy"
           : op == WORK_STREAM ? "copy,scale,add,triad,dot"
           : op == WORK_REDUCE ? "sum"
                               : NULL;
}

static const char *variants_by_default(work_op op)
{
    return op == WORK_TRANSFER                      ? "pageable,pinned,device"
           : op == WORK_STREAM || op == WORK_REDUCE ? "tiled"
                                                    : "naive,tiled,vendor";
}

bool work_line_parse(const work_line *line, work_parsed *out, const char **member, char *text,
                     size_t room)
{
    static const char *const ops[] = {"transfer", "stream", "transpose", "reduce", "gemm", NULL};
    *out = (work_parsed){.line = line};
    *member = "op";
    if (!work_op_parse(line->op, &out->op)) {
        work_say_unknown(text, room, line->op, ops);
        return false;
    }
    work_op op = out->op;
    bool gemm = op == WORK_GEMM;
    const char *const *layouts = gemm ? gemm_layouts : op == WORK_REDUCE ? axes : none;
    const char *types = op == WORK_TRANSFER ? NULL : op == WORK_TRANSPOSE ? "e4,e8" : "f32,f64";
    const char *layout = gemm ? "nn" : op == WORK_REDUCE ? "all" : NULL;
    return (*member = "kind",
            take(line->kind, kinds_by_default(op), work_kinds(op), &out->kinds, text, room)) &&
           (*member = "variant", take(line->variant, variants_by_default(op), work_variants(op),
                                      &out->variants, text, room)) &&
           (*member = "dtype", take(line->dtype, types, work_types(op), &out->types, text, room)) &&
           (*member = "layout", take(line->layout, layout, layouts, &out->layouts, text, room)) &&
           (*member = "math",
            take(line->math, NULL, gemm ? maths : none, &out->maths, text, room)) &&
           (*member = "cache", take(line->cache, "hot", caches, &out->caches, text, room)) &&
           (*member = "batch", take_numbers(line->batch, "1", &out->batches, text, room)) &&
           (*member = "steps", take_numbers(line->steps, "1024", &out->steps, text, room)) &&
           (*member = "size", take_sizes(line, out, text, room));
}
