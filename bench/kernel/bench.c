/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - `isomer kernel bench`: described kernels, measured in the way of `isomer bench`. */
#include "bench/bench.h"

#include "bench/kernel/run.h"

#include <stdlib.h>
#include <string.h>

static const char options[] =
    "  --with FILE            the description; default: FILE.json beside FILE.isk\n"
    "  --define NAME=VALUE    a macro for the text; may be given again\n"
    "  --kernel LIST          only these kernels\n"
    "  --backend LIST         devices, or `all`; default: ISOMER_BACKEND, else all\n"
    "  --require LIST         backends that must be available, besides ISOMER_REQUIRE\n"
    "  --case PATTERN         only cases whose id contains this text, or matches it\n"
    "  --list                 lists the cases instead of measuring them\n"
    "  --budget SECONDS       time to measure, without preparation (default 40)\n"
    "  --rounds N             at most N rounds\n"
    "  --seed N               makes different inputs, and another order (default 1)\n"
    "  --seconds N            ends if one launch takes longer (default 120)\n"
    "  --model-seconds N      stops a model that takes longer (default 300)\n"
    "  --roofs                also shows the tables of the cases that measure roofs\n"
    "  --no-roofs             leaves out these cases; there are no percentages then\n"
    "  --energy               also measures the energy of each case\n"
    "  --energy-seconds N     how long each case is repeated for that (default 5)\n"
    "  --against-backend SPEC alternates the first device with this one\n"
    "  --fail-on PERCENT      with --against-backend: exit code 1 if SPEC is slower by more\n"
    "  --json FILE            also writes results as JSON; - is standard output\n"
    "  --csv FILE             also writes results as CSV\n"
    "  --markdown FILE        also writes results as Markdown\n"
    "  --report FILE          also writes a report as HTML\n"
    "  --export FILE          also writes results in the form of Google Benchmark's JSON\n";

enum { SECONDS = 120, MODEL_SECONDS = 300, SECONDS_MOST = 86400 };

typedef struct command {
    const char *with, *kernels, *seconds, *model_seconds, *define;
    bool roofs;
    kernel_described described;
    kernel_suite suite;
    tool_words files;
    bench_case *cases;
    kernel_case *owners;
} command;

static int make(bench_given *given, uint64_t seed)
{
    command *c = given->context;
    uint64_t launch_limit = SECONDS, model_limit = MODEL_SECONDS;
    int code = tool_whole("seconds", c->seconds, 1, SECONDS_MOST, &launch_limit);
    if (code == TOOL_OK) {
        code = tool_whole("model-seconds", c->model_seconds, 1, SECONDS_MOST, &model_limit);
    }
    if (code == TOOL_OK) {
        code = kernel_describe(&c->files, "bench", c->with, &c->described);
    }
    if (code != TOOL_OK) {
        return code;
    }
    const char *slash = strrchr(c->files.items[0], '/');
    given->suite = slash ? slash + 1 : c->files.items[0];
    kernel_suite_open(&c->suite, &c->described.file, seed);
    c->suite.model_seconds = (double)model_limit;
    given->seconds = (double)launch_limit;
    code = kernel_cases(&c->suite, c->kernels, true, &c->cases, &c->owners, &given->count);
    given->cases = c->cases;
    return code;
}

/* What the kernels were, so that two documents can be told apart. */
static void describe(const bench_given *given, json_t *run)
{
    const command *c = given->context;
    const describe_text *text = &c->described.file.text;
    json_t *kernels = json_object(), *macros = json_object();
    uint64_t digest[2];
    char shown[33];
    check_hash(text->text, (int64_t)strlen(text->text), digest);
    tool_digest_text(digest, shown);
    for (int32_t i = 0; i < text->macro_count; i++) {
        tool_set_text(macros, text->macros[i].name, text->macros[i].value);
    }
    tool_set_text(kernels, "text", text->path);
    tool_set_text(kernels, "digest", shown);
    tool_set_text(kernels, "description", c->described.file.path);
    json_object_set_new(kernels, "macros", macros);
    json_object_set_new(run, "kernels", kernels);
}

static int run(int argc, char **argv)
{
    command c = {.with = NULL};
    const tool_option own[] = {
        {"with", &c.with, NULL},      {"define", &c.define, NULL},
        {"kernel", &c.kernels, NULL}, {"seconds", &c.seconds, NULL},
        {"roofs", NULL, &c.roofs},    {"model-seconds", &c.model_seconds, NULL}};
    bench_given given = {.options = own,
                         .option_count = (int)(sizeof own / sizeof own[0]),
                         .files = &c.files,
                         .roofs = &c.roofs,
                         .make = make,
                         .describe = describe,
                         .context = &c,
                         .argc = argc + 1};
    given.argv = kernel_arguments("bench", argc, argv);
    int code = kernel_defines(&argc, argv, &c.described.source);
    code = code == TOOL_OK ? bench_measure_given(argc, argv, &given) : code;
    kernel_suite_close(&c.suite);
    kernel_described_close(&c.described);
    tool_words_free(&c.files);
    free(given.argv);
    free(c.cases);
    free(c.owners);
    return code;
}

const kernel_command kernel_bench = {
    .name = "bench",
    .about = "measures a text's kernels, as a description says",
    .usage = "bench FILE [--with FILE] [--backend LIST] [--kernel LIST] [OPTIONS]",
    .options = options,
    .run = run,
};
