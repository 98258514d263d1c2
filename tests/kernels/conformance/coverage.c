/* SPDX-License-Identifier: Apache-2.0 */
/* coverage.c - the words of isomer/kernel.h, and how many systematic kernels use each. */
#include "tests/kernels/conformance/conformance.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 512 };

typedef struct word {
    char text[MODEL_NAME];
    int kernels;
    bool here; /* in the kernel that is looked at */
} word;

typedef struct words {
    word rows[WORDS];
    int count;
} words;

static word *find(words *list, const char *text)
{
    for (int i = 0; i < list->count; i++) {
        if (!strcmp(list->rows[i].text, text)) {
            return &list->rows[i];
        }
    }
    return NULL;
}

static void add(words *list, const char *text)
{
    if (!find(list, text) && list->count < WORDS) {
        (void)snprintf(list->rows[list->count++].text, MODEL_NAME, "%s", text);
    }
}

/* Macros that make words of a type's name: the words, with % for the name. */
static void add_made(words *list, const char *at)
{
    static const char *const makers[][5] = {
        {"ISO_ATOMIC_SUM_(", "iso_atomic_add_%", "iso_atomic_add_%", "iso_atomic_add_%", NULL},
        {"ISO_VECTORS_(", "iso_%x2", "iso_%x4", "%x2", "%x4"},
        {"ISO_ATOMIC_BESTS_(", "iso_atomic_min_%", "iso_atomic_max_%", "iso_atomic_min_%", NULL}};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        const size_t length = strlen(makers[i][0]);
        /* Not where the macro is defined: its parameter is no type. */
        if (strncmp(at, makers[i][0], length) != 0 || !isdigit((unsigned char)at[length + 1])) {
            continue;
        }
        const int type = (int)strcspn(at + length, ",)");
        for (int k = 1; k < 5 && makers[i][k]; k++) {
            const char *percent = strchr(makers[i][k], '%');
            char made[MODEL_NAME];
            (void)snprintf(made, sizeof made, "%.*s%.*s%s", (int)(percent - makers[i][k]),
                           makers[i][k], type, at + length, percent + 1);
            add(list, made);
        }
    }
}

/* The name that a typedef on one line gives. */
static void add_typedef(words *list, const char *line)
{
    const char *end = line + strcspn(line, ";\n");
    const char *begin = end;
    while (begin > line && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')) {
        begin--;
    }
    if (!strncmp(line, "typedef ", 8) && *end == ';' && end > begin && begin[-1] != '#' &&
        end[-1] != '_') {
        char made[MODEL_NAME];
        (void)snprintf(made, sizeof made, "%.*s", (int)(end - begin), begin);
        add(list, made);
    }
}

/* Words that are not for kernels: structs of the library's calls, what the library puts in front of
 * a region, what builds define, and names that only say which extension a device lacks. */
static bool is_other(const char *text)
{
    static const char *const others[] = {"iso_macro", "iso_program_place", "ISO_LAST_ISO_REGION",
                                         "ISO_ONLY_ISO_REGION", "ISO_EMBEDDED_ENTRIES"};
    if (strstr(text, "_needs_cl_khr_")) {
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!strncmp(text, others[i], strlen(others[i]))) {
            return true;
        }
    }
    return false;
}

/* "iso_fma" in the header's text stands for iso_fma_f32 and iso_fma_f64. */
static void drop_families(words *list)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        char one[MODEL_NAME + 8];
        (void)snprintf(one, sizeof one, "%s_f32", list->rows[i].text);
        if (!find(list, one)) {
            list->rows[kept++] = list->rows[i];
        }
    }
    list->count = kept;
}

/* Words begin with iso_ or ISO_. Those that end with _ are the library's. A part of a word that a
 * macro makes has ## beside it. */
static void read_header(words *list, const char *text)
{
    for (const char *at = text; *at;) {
        const bool starts = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') {
            length++;
        }
        if (at == text || at[-1] == '\n') {
            add_typedef(list, at);
        }
        if (starts && length > 4 && (!strncmp(at, "iso_", 4) || !strncmp(at, "ISO_", 4))) {
            char made[MODEL_NAME];
            (void)snprintf(made, sizeof made, "%.*s", (int)length, at);
            add_made(list, at);
            if (at[length - 1] != '_' && at[length] != '#' && !is_other(made)) {
                add(list, made);
            }
        }
        at += length ? length : 1;
    }
}

static void see(void *context, const char *text)
{
    word *found = find(context, text);
    if (found) {
        found->here = true;
    }
}

static void count(words *list, const conf_case *of)
{
    char why[256];
    const model_macro macros[CONF_MACROS] = {{conf_macros[0].name, conf_macros[0].value},
                                             {conf_macros[1].name, conf_macros[1].value}};
    model_program *program = model_read(of->text, macros, CONF_MACROS, why, sizeof why);
    if (!program) {
        (void)printf("%s: %s\n", of->name, why);
        return;
    }
    model_words(program, see, list);
    for (int i = 0; i < list->count; i++) {
        list->rows[i].kernels += list->rows[i].here;
        list->rows[i].here = false;
    }
    model_free(program);
}

int conf_words(const conf_suite *suite, const char *header, bool table)
{
    words *list = calloc(1, sizeof *list);
    char *text = conf_read_file(header);
    int missing = 0;
    if (!list) {
        exit(70);
    }
    read_header(list, text);
    drop_families(list);
    for (int i = 0; i < suite->count; i++) {
        count(list, &suite->at[i]);
    }
    for (int i = 0; i < list->count; i++) {
        const word *row = &list->rows[i];
        if (table) {
            (void)printf("%-24s %d\n", row->text, row->kernels);
        }
        if (!row->kernels) {
            (void)printf("no systematic kernel uses %s: add one to tests/kernels/conformance\n",
                         row->text);
        }
        missing += !row->kernels;
    }
    (void)printf("%d words of %s, %d kernels, %d words missing\n", list->count, header,
                 suite->count, missing);
    const bool empty = list->count == 0;
    free(text);
    free(list);
    return missing || empty ? 1 : 0;
}
