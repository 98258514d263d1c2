/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - reads command lines and lists of words. */
#include "bench/tool.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int unknown(const char *command, const char *given, const tool_option *options, int count)
{
    const char *names[64];
    for (int i = 0; i < count; i++) {
        names[i] = options[i].name;
    }
    const char *near = tool_nearest(given, names, count);
    if (near) {
        return tool_error(TOOL_USAGE, "unknown option --%s; did you mean --%s?", given, near);
    }
    return tool_error(TOOL_USAGE, "unknown option --%s; see `isomer help %s`", given, command);
}

/* Options that take a list. Given twice, it is unclear whether the second adds to the first. */
static const char *const lists[] = {"op",   "variant", "dtype", "size",
                                    "axis", "level",   "input", NULL};

int tool_options(int argc, char **argv, const tool_option *options, int count, tool_words *files)
{
    if (files) {
        files->items = tool_alloc((size_t)argc, sizeof *files->items, "the command line");
    }
    for (int i = 1; i < argc; i++) {
        char word[64];
        bool option = strncmp(argv[i], "--", 2) == 0;
        if (!option && files) {
            files->items[files->count++] = argv[i];
            continue;
        }
        if (!option) {
            return tool_error(TOOL_USAGE, "unexpected argument \"%s\"; options begin with --",
                              argv[i]);
        }
        const char *equals = strchr(argv[i], '=');
        int length = equals ? (int)(equals - argv[i]) - 2 : (int)strlen(argv[i]) - 2;
        snprintf(word, sizeof word, "%.*s", length, argv[i] + 2);
        int at = 0;
        while (at < count && strcmp(options[at].name, word) != 0) {
            at++;
        }
        if (at == count) {
            return unknown(argv[0], word, options, count);
        }
        if (options[at].flag && equals) {
            return tool_error(TOOL_USAGE, "--%s takes no value", word);
        }
        if (options[at].flag) {
            *options[at].flag = true;
            continue;
        }
        if (!equals && i + 1 == argc) {
            return tool_error(TOOL_USAGE, "--%s needs a value", word);
        }
        if (*options[at].value && tool_find(lists, word) >= 0) {
            return tool_error(TOOL_USAGE, "--%s is given twice; give one list: --%s %s,%s", word,
                              word, *options[at].value, equals ? equals + 1 : argv[i + 1]);
        }
        *options[at].value = equals ? equals + 1 : argv[++i];
        if ((*options[at].value)[0] == '\0') {
            return tool_error(TOOL_USAGE, "the value of --%s is empty", word);
        }
        const char *value = *options[at].value;
        if (tool_find(lists, word) >= 0 && value[strspn(value, ",")] == '\0') {
            return tool_error(TOOL_USAGE, "--%s: the list \"%s\" has no entry", word, value);
        }
    }
    return TOOL_OK;
}

int tool_whole(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;
    if (!text) {
        return TOOL_OK;
    }
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || *out < least ||
        *out > most) {
        return tool_error(TOOL_USAGE, "--%s must be a whole number from %llu to %llu, not \"%s\"",
                          option, (unsigned long long)least, (unsigned long long)most, text);
    }
    return TOOL_OK;
}

bool tool_split(const char *text, tool_words *out)
{
    *out = (tool_words){0};
    if (!text) {
        return true;
    }
    out->text = strdup(text);
    out->items = calloc(strlen(text) + 1, sizeof *out->items);
    if (!out->text || !out->items) {
        tool_words_free(out);
        return false;
    }
    char *rest = out->text, *word;
    while ((word = strsep(&rest, ","))) {
        if (word[0] != '\0') {
            out->items[out->count++] = word;
        }
    }
    return true;
}

void tool_words_free(tool_words *words)
{
    free(words->text);
    free(words->items);
    *words = (tool_words){0};
}

bool tool_words_have(const tool_words *words, const char *word)
{
    for (int i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- names ----------------------------------------------------------------------------------- */

bool tool_matches(const char *pattern, const char *text)
{
    return strpbrk(pattern, "*?[") ? fnmatch(pattern, text, 0) == 0 : strstr(text, pattern) != NULL;
}

int tool_find(const char *const *names, const char *word)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

void tool_say_unknown(char *text, size_t room, const char *word, const char *const *names)
{
    int count = 0;
    while (names[count]) {
        count++;
    }
    const char *near = tool_nearest(word, names, count);
    snprintf(text, room, "\"%.100s%s\" is not known%s%s%s ", word, strlen(word) > 100 ? "..." : "",
             near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : ";");
    tool_join(text, room, "",
              count == 0 ? "no value is valid here"
              : near     ? "It must be one of "
                         : "it must be one of ");
    for (int i = 0; i < count; i++) {
        tool_join(text, room, i > 0 ? ", " : "", names[i]);
    }
}

void tool_names_add(tool_names *names, const char *name)
{
    if (name && name[0] != '\0' && names->count < TOOL_NAMES && tool_find(names->items, name) < 0) {
        names->items[names->count++] = name;
    }
}

int tool_words_check(const char *option, const tool_words *words, const tool_names *names)
{
    for (int i = 0; i < words->count; i++) {
        char text[512];
        if (tool_find(names->items, words->items[i]) < 0) {
            tool_say_unknown(text, sizeof text, words->items[i], names->items);
            return tool_error(TOOL_USAGE, "--%s: %s", option, text);
        }
    }
    return TOOL_OK;
}
