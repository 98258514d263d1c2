/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - `isomer kernel verify`: described kernels on devices, with results that are checked.
 */
#include "bench/verify/verify.h"
#include "bench/kernel/kernel.h"
#include "bench/kernel/run.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_LEAST = 2, ROUNDS_MOST = 1000 };
enum { SECONDS = 120, MODEL_SECONDS = 300, SECONDS_MOST = 86400 };

static const char options[] =
    "  --with FILE          the description; default: FILE.json beside FILE.isk\n"
    "  --define NAME=VALUE  a macro for the text; may be given again\n"
    "  --kernel LIST        only these kernels\n"
    "  --backend LIST       devices, or `all`; default: ISOMER_BACKEND, else all\n"
    "  --require LIST       backends that must be available, besides ISOMER_REQUIRE\n"
    "  --case ID            one case, or all that match a pattern such as 'kernel/axpy/*'\n"
    "  --list               lists the cases instead of running them\n"
    "  --rounds N           runs each case N times, 2 to 1000, each with other inputs\n"
    "                       (default 2)\n"
    "  --seed N             makes different inputs (default 1)\n"
    "  --seconds N          ends if one launch takes longer (default 120)\n"
    "  --model-seconds N    stops a model that takes longer (default 300)\n"
    "  --bitwise            prints digests\n"
    "  --fail-fast          stops at the first failure\n"
    "  --json FILE          also writes results as JSON; - is standard output\n"
    "  --brief              leaves out of the JSON what passed or is unsupported\n"
    "  --junit FILE         also writes results as JUnit XML\n";

typedef struct command {
    const char *with, *kernels, *rounds, *seconds, *model_seconds, *define;
    verify_request request;
    uint64_t round_count, launch_limit, model_limit;
} command;

static int parse(command *c, int argc, char **argv, tool_words *files)
{
    verify_request *r = &c->request;
    const tool_option known[] = {
        {"with", &c->with, NULL},           {"define", &c->define, NULL},
        {"kernel", &c->kernels, NULL},      {"backend", &r->backend, NULL},
        {"require", &r->require, NULL},     {"case", &r->case_id, NULL},
        {"list", NULL, &r->list},           {"rounds", &c->rounds, NULL},
        {"seed", &r->seed, NULL},           {"model-seconds", &c->model_seconds, NULL},
        {"seconds", &c->seconds, NULL},     {"bitwise", NULL, &r->bitwise},
        {"fail-fast", NULL, &r->fail_fast}, {"json", &r->json, NULL},
        {"brief", NULL, &r->brief},         {"junit", &r->junit, NULL}};
    int code = tool_options(argc, argv, known, (int)(sizeof known / sizeof known[0]), files);
    if (code == TOOL_OK) {
        code = tool_whole("rounds", c->rounds, ROUNDS_LEAST, ROUNDS_MOST, &c->round_count);
    }
    if (code == TOOL_OK) {
        code = tool_whole("seconds", c->seconds, 1, SECONDS_MOST, &c->launch_limit);
    }
    if (code == TOOL_OK) {
        code = tool_whole("model-seconds", c->model_seconds, 1, SECONDS_MOST, &c->model_limit);
    }
    return code == TOOL_OK ? tool_whole("seed", r->seed, 0, INT64_MAX, &r->seed_value) : code;
}

static void set_devices(void *context, int32_t devices)
{
    kernel_suite *suite = context;
    suite->devices = devices;
}

static int verify(command *c, const describe_file *file)
{
    kernel_suite suite;
    bench_case *cases = NULL;
    kernel_case *owners = NULL;
    kernel_suite_open(&suite, file, c->request.seed_value);
    suite.rounds = (int32_t)c->round_count;
    suite.model_seconds = (double)c->model_limit;
    int code = kernel_cases(&suite, c->kernels, false, &cases, &owners, &c->request.count);
    if (code == TOOL_OK) {
        c->request.cases = cases;
        c->request.seconds = (double)c->launch_limit;
        c->request.ready = set_devices;
        c->request.context = &suite;
        code = verify_given(&c->request);
    }
    kernel_suite_close(&suite);
    free(cases);
    free(owners);
    return code;
}

/* The words that repeat the command, without those that `verify` adds. */
static const char **repeated(const command *c, const tool_words *files,
                             const kernel_described *described, char *texts[])
{
    const iso_program_args *args = &described->source.args;
    const struct {
        const char *option, *value;
    } given[] = {{"--with", c->with},
                 {"--rounds", c->rounds},
                 {"--seconds", c->seconds},
                 {"--model-seconds", c->model_seconds}};
    enum { GIVEN = sizeof given / sizeof given[0] };
    const char **words =
        tool_alloc((size_t)args->macro_count * 2 + 2 * GIVEN + 4, sizeof *words, "a command");
    int count = 0;
    words[count++] = "kernel";
    words[count++] = "verify";
    words[count++] = files->items[0];
    for (int i = 0; i < GIVEN; i++) {
        if (given[i].value) {
            words[count++] = given[i].option;
            words[count++] = given[i].value;
        }
    }
    for (int32_t i = 0; i < args->macro_count; i++) {
        const iso_macro *macro = &args->macros[i];
        size_t room = strlen(macro->name) + strlen(macro->value) + 2;
        texts[i] = tool_alloc(1, room, "a command");
        snprintf(texts[i], room, "%s=%s", macro->name, macro->value);
        words[count++] = "--define";
        words[count++] = texts[i];
    }
    return words;
}

static int run_described(command *c, const tool_words *files, kernel_described *described)
{
    int code = kernel_describe(files, "verify", c->with, described);
    if (code != TOOL_OK) {
        return code;
    }
    int32_t macros = described->source.args.macro_count;
    char **texts = tool_alloc((size_t)macros + 1, sizeof *texts, "a command");
    const char **words = repeated(c, files, described, texts);
    c->request.words = words;
    code = verify(c, &described->file);
    for (int32_t i = 0; i < macros; i++) {
        free(texts[i]);
    }
    free(texts);
    free(words);
    return code;
}

static int run(int argc, char **argv)
{
    command c = {
        .round_count = ROUNDS_LEAST, .launch_limit = SECONDS, .model_limit = MODEL_SECONDS};
    kernel_described described = {.device = {0}};
    tool_words files = {0};
    c.request.seed_value = 1;
    char **whole = kernel_arguments("verify", argc, argv);
    c.request.argc = argc + 1;
    c.request.argv = whole;
    int code = kernel_defines(&argc, argv, &described.source);
    code = code == TOOL_OK ? parse(&c, argc, argv, &files) : code;
    code = code == TOOL_OK ? run_described(&c, &files, &described) : code;
    kernel_described_close(&described);
    tool_words_free(&files);
    free(whole);
    return code;
}

const kernel_command kernel_verify = {
    .name = "verify",
    .about = "checks a text's kernels on devices, as a description says",
    .usage = "verify FILE [--with FILE] [--backend LIST] [--kernel LIST] [OPTIONS]",
    .options = options,
    .run = run,
};
