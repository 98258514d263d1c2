/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformance.h - the conformance suite of the kernel language: cases (a text with a kernel, and
 * how it is launched), a systematic and a random source of them, and what runs them on a device and
 * compares the results with the model's (model.h).
 */
#ifndef ISOMER_TESTS_CONFORMANCE_H
#define ISOMER_TESTS_CONFORMANCE_H

#include "tests/kernels/conformance/model.h"

#include <isomer/isomer.h>

#include <stdio.h>

/* ---- texts ----------------------------------------------------------------------------------- */

typedef struct conf_text {
    char *at; /* from malloc */
    size_t length, room;
} conf_text;
void conf_add(conf_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a template: each $K is replaced by the value of key K in a list of "K", "value", ..., NULL.
 */
void conf_fill(conf_text *text, const char *template, const char *const *keys);

/* ---- random numbers -------------------------------------------------------------------------- */

typedef struct conf_random {
    uint64_t state;
} conf_random;
conf_random conf_seed(uint64_t seed, const char *name);
uint64_t conf_draw(conf_random *random);
int conf_below(conf_random *random, int count);

/* ---- cases ----------------------------------------------------------------------------------- */

enum { CONF_NEEDS_F64 = 1, CONF_NEEDS_ATOMICS = 2, CONF_NEEDS_JUMPS = 4 };

typedef struct conf_case {
    char name[MODEL_NAME]; /* its kernel's */
    const char *topic;
    char *text;
    int64_t groups[3];
    /* "n=100 part=64": values of integer parameters, and counts of arrays that the launch sizes.
     * Other values are drawn; other arrays get an element for each item. */
    char values[128];
    unsigned needs;
} conf_case;

typedef struct conf_suite {
    conf_case *at;
    int count, room;
} conf_suite;
/* Adds a case. The kernel's name is the text's only one. */
void conf_add_case(conf_suite *suite, const char *topic, conf_text *text, const int64_t *groups,
                   const char *values);
void conf_free(conf_suite *suite);

/* The macros that every text gets. */
extern const iso_macro conf_macros[];
enum { CONF_MACROS = 2 };

/* systematic.c and its parts */
void conf_add_systematic(conf_suite *suite);
void conf_add_types(conf_suite *suite);
void conf_add_shapes(conf_suite *suite);
void conf_add_arithmetic(conf_suite *suite);
void conf_add_control(conf_suite *suite);
void conf_add_limits(conf_suite *suite);

/* random.c: kernel `index` of a seed. Parts whose number is in `without` are left out; *parts is
 * how many there are. */
void conf_add_random(conf_suite *suite, uint64_t seed, int index, const unsigned char *without,
                     int *parts);

/* shrink.c: prints a smaller kernel that still fails. */
enum { CONF_PARTS = 4096 };
void conf_shrink(const char *spec, uint64_t seed, int index);
void conf_read_parts(const char *digits, unsigned char without[CONF_PARTS]);

/* ---- running --------------------------------------------------------------------------------- */

typedef struct conf_run {
    iso_device device;
    iso_stream stream;
    unsigned lacks;     /* CONF_NEEDS_... that the device does not have */
    const char *before; /* a text in front of the kernels; NULL: none */
    bool quiet;
    bool alone; /* each case is a text of its own */
    int agree, differ, left_out;
    uint64_t digest;
} conf_run;

bool conf_open(conf_run *run, const char *spec);
void conf_close(conf_run *run);
/* Compiles and launches cases first to end - 1, and compares; counts in *run. */
void conf_run_cases(conf_run *run, const conf_suite *suite, int first, int end);

/* launch.c: one launch of a compiled kernel. False: the results differ, and `why` says how. */
bool conf_launch(conf_run *run, const conf_case *of, iso_program program, char *why, size_t room);

/* mutants.c: faults planted in the macros of a header. Returns the process's result. */
int conf_mutants(const char *spec, const char *header);
/* coverage.c: whether the suite uses all words of a header. */
int conf_words(const conf_suite *suite, const char *header, bool table);

char *conf_read_file(const char *path);

#endif
