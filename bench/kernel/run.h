/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - runs the cases of a description, and knows what their results must be. `verify` and
 * `bench` share it.
 */
#ifndef ISOMER_KERNEL_RUN_H
#define ISOMER_KERNEL_RUN_H

#include "bench/check/check.h"
#include "bench/kernel/describe.h"
#include "bench/kernel/kernel.h"

/* Host memory for each parameter of a case, in order; NULL: it is no buffer, or not needed. */
typedef struct kernel_data {
    unsigned char **at;
    int32_t count;
} kernel_data;

/* What a case's results must be in a round, and its inputs. */
typedef struct kernel_expected {
    const describe_case *item; /* NULL: empty */
    int64_t round;
    kernel_data in, out; /* out: NULL until they are asked for, or if nothing is known */
    const char *method;  /* "reference", "model", "cpu" */
    char source[256];    /* "axpy_plain on openmp:0" */
} kernel_expected;

typedef struct kernel_program {
    iso_device device;
    const describe_text *text;
    iso_program program;
    iso_status status;
    char *reason;
} kernel_program;

/* A description, and what its cases share. */
typedef struct kernel_suite {
    const describe_file *file;
    uint64_t seed;
    double model_seconds; /* a model that takes longer is stopped */
    kernel_program *programs;
    int32_t program_count;
    iso_device cpu; /* the CPU backend's, for expected results; 0: not opened */
    iso_stream cpu_stream;
    char cpu_spec[ISO_NAME_MAX];
    bool cpu_tried;
    kernel_expected last; /* the latest one, because devices follow each other */
    /* `verify`: the results of the first device that passed the case, of each round. */
    const describe_case *first_item;
    char first_spec[ISO_NAME_MAX];
    kernel_data *first;
    int32_t first_rounds;
    int32_t rounds; /* of verify */
    int32_t devices;
    const char *now; /* the id of the case that runs, for messages */
} kernel_suite;

/* A case of the tool: what bench_case.own points to. */
typedef struct kernel_case {
    kernel_suite *suite;
    const describe_case *item;
    char id[BENCH_ID_MAX];
} kernel_case;

/* ---- suite.c --------------------------------------------------------------------------------- */

void kernel_suite_open(kernel_suite *suite, const describe_file *file, uint64_t seed);
void kernel_suite_close(kernel_suite *suite);

/* Compiles the text of a kernel for a device, or finds the program. False: the result says why. */
bool kernel_ready(kernel_suite *suite, iso_device device, const describe_kernel *kernel,
                  iso_kernel *out, bench_result *result);
/* The CPU backend's device. False: it cannot be opened. */
bool kernel_cpu(kernel_suite *suite);

/* ---- data.c ---------------------------------------------------------------------------------- */

/* Memory for the buffers that `fits` accepts (NULL: all), not initialised. */
void kernel_data_make(const describe_case *item, bool only_written, kernel_data *out);
void kernel_data_free(kernel_data *data);
void kernel_data_inputs(const describe_case *item, uint64_t seed, int64_t round, kernel_data *out);

/* A copy of the case's arguments, with these operands for its buffers. The operands have the index
 * of the parameter. The caller frees it. */
iso_argument *kernel_bind(const describe_case *item, const iso_operand *operands);

/* Says which launch runs from now on, in case it does not end; tool_watch_done is its end. */
void kernel_watch(const kernel_suite *suite, iso_device device, const describe_kernel *kernel,
                  bool reference);

/* Runs the case once on buffers of its own, and reads what it wrote to `out`. The buffers are
 * surrounded by bytes that must not change. `in` may be of another case that has the same names.
 * False: the result says why. */
bool kernel_compute(kernel_suite *suite, iso_device device, iso_stream stream,
                    const describe_case *item, const describe_case *of, const kernel_data *in,
                    kernel_data *out, bench_result *result);

/* ---- judge.c --------------------------------------------------------------------------------- */

/* Gives every NaN the same bits, because the bits of NaN are not defined. */
void kernel_canonical(const describe_case *item, kernel_data *data);
/* Compares everything that the case wrote. `here` and `there` name where the results are from.
 * False: the result has the first difference. */
bool kernel_same(const describe_case *item, const kernel_data *got, const kernel_data *want,
                 double tolerance, const char *here, const char *there, bench_result *result);
/* The digest of what the case wrote. */
void kernel_digest(const describe_case *item, const kernel_data *data, uint64_t digest[2]);

/* ---- expect.c, model.c ----------------------------------------------------------------------- */

/* The inputs of a round; valid until the next call for another case or round. */
const kernel_data *kernel_round(kernel_suite *suite, const describe_case *item, int64_t round);
/* What the results must be, or an object whose `out` is empty if only devices can be compared.
 * NULL: it could not be found out, and the result says why. */
const kernel_expected *kernel_expect(kernel_suite *suite, iso_device device, iso_stream stream,
                                     const describe_case *item, int64_t round,
                                     bench_result *result);
/* How messages call the model: "model.py" of "python3 model.py". */
const char *kernel_model_name(const describe_kernel *kernel);
/* Runs the model's command. */
bool kernel_model(const kernel_suite *suite, const describe_case *item, int64_t round,
                  const kernel_data *in, kernel_data *out, bench_result *result);

/* ---- described.c ----------------------------------------------------------------------------- */

/* The description of the one file that a command got. */
typedef struct kernel_described {
    kernel_source source; /* of kernel_defines; only its macros */
    iso_device device;    /* of the CPU backend, which the declarations belong to */
    describe_file file;
} kernel_described;

/* Returns TOOL_OK, or prints a message and returns an exit code. Either way the caller closes it.
 */
int kernel_describe(const tool_words *files, const char *command, const char *with,
                    kernel_described *out);
void kernel_described_close(kernel_described *described);
/* The whole command line, for documents: argc + 1 words, which the caller frees as one block. */
char **kernel_arguments(const char *command, int argc, char **argv);

/* ---- cases.c --------------------------------------------------------------------------------- */

/* Makes the cases of all kernels, or of those that `names` lists, from "bench" or from "sizes". The
 * caller frees both arrays. Returns TOOL_OK, or an exit code after a message. */
int kernel_cases(kernel_suite *suite, const char *names, bool bench, bench_case **cases,
                 kernel_case **owners, int32_t *count);

#endif
