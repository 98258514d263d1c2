/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the conformance suite of the kernel language, on one device. */
#include "tests/kernels/conformance/conformance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_COUNT = 40 };

static const char usage[] =
    "isomer_kernels_conformance SPEC [options]\n"
    "  --seed S --count N   N random kernels of seed S (1, 40), beside the systematic ones\n"
    "  --only NAME          one kernel by its name\n"
    "  --index I            the random kernel I of the seed alone\n"
    "  --without DIGITS     without its parts whose digit is 1\n"
    "  --shrink             a smaller kernel that fails as it does\n"
    "  --random             no systematic kernels\n"
    "  --systematic         no random kernels\n"
    "  --alone              each kernel in a text of its own\n"
    "  --list               prints each kernel with its topic, and runs none\n"
    "  --texts              prints the texts, and runs none\n"
    "  --words HEADER       whether the systematic kernels use every word of the header\n"
    "  --table HEADER       the same as a table\n"
    "  --mutants HEADER     plants faults in the header's macros, and looks whether they are "
    "found\n";

typedef struct options {
    const char *spec, *only, *words, *table, *mutants, *without, *seed, *count, *index;
    bool random, systematic, list, texts, shrink, alone;
} options;

static bool read_options(int argc, char **argv, options *o)
{
    const struct option {
        const char *name;
        const char **value;
        bool *flag;
    } rows[] = {{"--seed", &o->seed, NULL},       {"--count", &o->count, NULL},
                {"--only", &o->only, NULL},       {"--words", &o->words, NULL},
                {"--table", &o->table, NULL},     {"--mutants", &o->mutants, NULL},
                {"--without", &o->without, NULL}, {"--index", &o->index, NULL},
                {"--random", NULL, &o->random},   {"--systematic", NULL, &o->systematic},
                {"--list", NULL, &o->list},       {"--texts", NULL, &o->texts},
                {"--shrink", NULL, &o->shrink},   {"--alone", NULL, &o->alone}};
    enum { ROWS = sizeof rows / sizeof *rows };
    for (int i = 1; i < argc; i++) {
        int row = 0;
        while (row < ROWS && strcmp(rows[row].name, argv[i]) != 0) {
            row++;
        }
        if (row == ROWS && (argv[i][0] == '-' || o->spec)) {
            return false;
        }
        if (row == ROWS) {
            o->spec = argv[i];
        } else if (rows[row].flag) {
            *rows[row].flag = true;
        } else if (++i < argc) {
            *rows[row].value = argv[i];
        } else {
            return false;
        }
    }
    return !o->shrink || o->index;
}

/* Keeps the case with that name. */
static void keep_only(conf_suite *suite, const char *name)
{
    int kept = 0;
    for (int i = 0; i < suite->count; i++) {
        if (strcmp(suite->at[i].name, name) != 0) {
            free(suite->at[i].text);
        } else {
            suite->at[kept++] = suite->at[i];
        }
    }
    suite->count = kept;
}

static int print(const conf_suite *suite, bool texts)
{
    for (int i = 0; i < suite->count; i++) {
        const conf_case *of = &suite->at[i];
        if (texts) {
            (void)printf("%s\n", of->text);
        } else {
            (void)printf("%-18s %s\n", of->topic, of->name);
        }
    }
    return 0;
}

static int run_suite(conf_run *run, const conf_suite *suite, const char *spec)
{
    conf_run_cases(run, suite, 0, suite->count);
    (void)printf("%s: %d kernels: %d agree with the model, %d differ, %d left out%s%s%s\n"
                 "digest %016" PRIx64 "\n",
                 spec, suite->count, run->agree, run->differ, run->left_out,
                 run->lacks & CONF_NEEDS_F64 ? ", the device has no f64" : "",
                 run->lacks & CONF_NEEDS_ATOMICS ? ", it has no atomics of 64 bits" : "",
                 run->lacks & CONF_NEEDS_JUMPS ? ", its compiler is wrong about jumps" : "",
                 run->digest);
    return run->differ || !run->agree ? 1 : 0;
}

static int run_device(const conf_suite *suite, const options *o)
{
    conf_run run = {.alone = o->alone};
    if (!conf_open(&run, o->spec)) {
        (void)printf("skipped: %s: %s\n", o->spec, iso_last_error());
        return 77;
    }
    const int result = run_suite(&run, suite, o->spec);
    conf_close(&run);
    return result;
}

static void add_random(conf_suite *suite, const options *o, uint64_t seed)
{
    unsigned char without[CONF_PARTS];
    const int count = o->count ? atoi(o->count) : DEFAULT_COUNT;
    conf_read_parts(o->without ? o->without : "", without);
    if (o->index) {
        conf_add_random(suite, seed, atoi(o->index), without, NULL);
        return;
    }
    for (int i = 0; i < count; i++) {
        conf_add_random(suite, seed, i, NULL, NULL);
    }
    (void)printf("%d random kernels of seed %" PRIu64 "\n", count, seed);
}

int main(int argc, char **argv)
{
    options o = {.seed = "1"};
    conf_suite suite = {0};
    if (!read_options(argc, argv, &o)) {
        (void)fputs(usage, stderr);
        return 2;
    }
    const uint64_t seed = strtoull(o.seed, NULL, 10);
    const char *words = o.words ? o.words : o.table;
    o.spec = o.spec ? o.spec : "openmp";
    if (o.shrink) {
        conf_shrink(o.spec, seed, atoi(o.index));
        return 0;
    }
    if (o.mutants) {
        return conf_mutants(o.spec, o.mutants);
    }
    if (!o.random && !o.index) {
        conf_add_systematic(&suite);
    }
    if (!o.systematic && !words) {
        add_random(&suite, &o, seed);
    }
    if (o.only) {
        keep_only(&suite, o.only);
    }
    const int result = words               ? conf_words(&suite, words, o.table != NULL)
                       : o.list || o.texts ? print(&suite, o.texts)
                                           : run_device(&suite, &o);
    conf_free(&suite);
    return result;
}
