/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c - lists of cases, their texts and random numbers. */
#include "tests/kernels/conformance/conformance.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const iso_macro conf_macros[CONF_MACROS] = {{"GIVEN_WIDTH", "(8 * 2)"}, {"GIVEN_TYPE", "u32"}};

static void *need(void *made)
{
    if (!made) {
        (void)fputs("no memory\n", stderr);
        exit(70);
    }
    return made;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void reserve(conf_text *text, size_t more)
{
    if (text->length + more + 1 > text->room) {
        text->room = (text->length + more + 1) * 2;
        text->at = need(realloc(text->at, text->room));
    }
}

void conf_add(conf_text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    reserve(text, (size_t)length);
    (void)vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
    va_end(again);
    va_end(list);
}

void conf_fill(conf_text *text, const char *template, const char *const *keys)
{
    reserve(text, 0);
    text->at[text->length] = 0;
    for (const char *at = template; *at; at++) {
        const char *value = NULL;
        for (int i = 0; *at == '$' && keys[i]; i += 2) {
            value = keys[i][0] == at[1] ? keys[i + 1] : value;
        }
        if (value) {
            conf_add(text, "%s", value);
            at++;
        } else {
            conf_add(text, "%c", *at);
        }
    }
}

char *conf_read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    enum { FILE_MOST = 1 << 20 };
    if (!file) {
        (void)fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    char *text = need(calloc(1, FILE_MOST));
    (void)fread(text, 1, FILE_MOST - 1, file);
    (void)fclose(file);
    return text;
}

/* ---- random numbers -------------------------------------------------------------------------- */

conf_random conf_seed(uint64_t seed, const char *name)
{
    uint64_t state = seed ^ 0x9e3779b97f4a7c15u;
    for (; *name; name++) {
        state = (state ^ (unsigned char)*name) * 0x100000001b3u;
    }
    return (conf_random){state};
}

/* SplitMix64. */
uint64_t conf_draw(conf_random *random)
{
    random->state += 0x9e3779b97f4a7c15u;
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int conf_below(conf_random *random, int count)
{
    return (int)(conf_draw(random) % (uint64_t)count);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* A random kernel needs a compiler that takes any loop and switch. */
static unsigned needs_of(const char *text, bool random)
{
    const bool f64 = strstr(text, "f64") || strstr(text, "iso_div_") || strstr(text, "iso_sqrt_");
    bool atomics = false;
    for (const char *at = text; (at = strstr(at, "iso_atomic_")); at++) {
        atomics = atomics || strncmp(at + strlen("iso_atomic_add_") + 1, "64", 2) == 0;
    }
    return (f64 ? CONF_NEEDS_F64 : 0u) | (atomics ? CONF_NEEDS_ATOMICS : 0u) |
           (random && (strstr(text, "switch (") || strstr(text, "for (")) ? CONF_NEEDS_JUMPS : 0u);
}

void conf_add_case(conf_suite *suite, const char *topic, conf_text *text, const int64_t *groups,
                   const char *values)
{
    if (suite->count == suite->room) {
        suite->room = suite->room ? suite->room * 2 : 64;
        suite->at = need(realloc(suite->at, (size_t)suite->room * sizeof *suite->at));
    }
    conf_case *made = &suite->at[suite->count++];
    *made = (conf_case){.topic = topic,
                        .text = text->at,
                        .groups = {groups[0], groups[1], groups[2]},
                        .needs = needs_of(text->at, !strcmp(topic, "random"))};
    const char *name = strstr(text->at, "ISO_KERNEL(") + strlen("ISO_KERNEL(");
    (void)snprintf(made->name, sizeof made->name, "%.*s", (int)strcspn(name, ","), name);
    (void)snprintf(made->values, sizeof made->values, "%s", values);
    *text = (conf_text){0};
}

void conf_free(conf_suite *suite)
{
    for (int i = 0; i < suite->count; i++) {
        free(suite->at[i].text);
    }
    free(suite->at);
    *suite = (conf_suite){0};
}
