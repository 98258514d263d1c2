/* SPDX-License-Identifier: Apache-2.0 */
/* bench_options.c - the command line of `isomer bench`. */
#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTIONS_MOST = 64 };

/* If `most` is above 0, only whole numbers up to `most` are accepted. */
static int number(const char *option, const char *text, double least, double most, double *out)
{
    char *end;
    if (!text) {
        return TOOL_OK;
    }
    errno = 0;
    *out = strtod(text, &end);
    end += end != text && *end == '%' && strcmp(option, "fail-on") == 0;
    bool good = errno == 0 && *end == '\0' && end != text && isfinite(*out) && *out >= least;
    if (good && (most == 0 || (*out == floor(*out) && *out <= most))) {
        return TOOL_OK;
    }
    if (most > 0) {
        return tool_error(TOOL_USAGE, "--%s must be a whole number from %g to %.0f, not \"%s\"",
                          option, least, most, text);
    }
    return tool_error(TOOL_USAGE, "--%s must be a number of at least %g, not \"%s\"", option, least,
                      text);
}

/* Each kind of output needs its own destination. On standard output they would be mixed up; in one
 * file the last would replace the others. */
static int check_paths(const bench *b)
{
    for (int i = 0; i < OUTPUTS; i++) {
        const char *path = b->paths[i];
        for (int j = 0; j < i && path && strcmp(path, "/dev/null") != 0; j++) {
            if (!b->paths[j] || strcmp(path, b->paths[j]) != 0) {
                continue;
            }
            if (strcmp(path, "-") == 0) {
                return tool_error(TOOL_USAGE, "only one of --json, --csv, --markdown, --report and "
                                              "--export can go to standard output");
            }
            return tool_error(TOOL_USAGE,
                              "%s is given for two kinds of output; each of --json, --csv, "
                              "--markdown, --report and --export needs its own file",
                              path);
        }
    }
    return TOOL_OK;
}

static int parse_values(bench *b)
{
    double rounds = 0, jobs = (double)sysconf(_SC_NPROCESSORS_ONLN);
    bool full = b->request.suite && strcmp(b->request.suite, "full") == 0;
    /* With `full` and no budget, the rounds get what preparing and checking leave of the whole. */
    b->whole = full && !b->budget_text ? 440 : 0;
    b->budget = b->whole > 0 ? b->whole : 40;
    b->fail_on = NAN;
    b->timeout = 3600;
    b->energy_seconds = 5;
    const struct {
        const char *option, *text;
        double least, most;
        double *out;
    } numbers[] = {{"budget", b->budget_text, 0.01, 0, &b->budget},
                   {"rounds", b->rounds_text, 1, 1e6, &rounds},
                   {"jobs", b->jobs_text, 1, CREW_MOST, &jobs},
                   {"fail-on", b->fail_on_text, 0, 0, &b->fail_on},
                   {"timeout", b->timeout_text, 0.1, 0, &b->timeout},
                   {"energy-seconds", b->energy_text, 0.1, 0, &b->energy_seconds}};
    int code = TOOL_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && code == TOOL_OK; i++) {
        code = number(numbers[i].option, numbers[i].text, numbers[i].least, numbers[i].most,
                      numbers[i].out);
    }
    if (code == TOOL_OK) {
        b->request.seed = 1;
        code = tool_whole("seed", b->seed_text, 0, INT64_MAX, &b->request.seed);
    }
    if (code == TOOL_OK && b->math_text &&
        iso_math_parse(b->math_text, &b->request.math) != ISO_OK) {
        code = tool_error(TOOL_USAGE, "--math must be strict or tf32, not \"%s\"", b->math_text);
    }
    /* The names of the cases contain the math mode. An invalid ISOMER_MATH is ignored here, because
     * opening a device reports it. */
    const char *set = getenv("ISOMER_MATH");
    if (!b->math_text && (!set || iso_math_parse(set, &b->request.math) != ISO_OK)) {
        b->request.math = ISO_MATH_STRICT;
    }
    b->rounds = (int32_t)rounds;
    b->jobs = (int32_t)fmin(jobs, CREW_MOST);
    bool against = b->against || b->self_check;
    const struct {
        bool wrong;
        const char *message;
    } rules[] = {{against && (b->paths[CSV] || b->paths[MARKDOWN] || b->paths[REPORT] ||
                              b->paths[EXPORT] || b->list),
                  "--csv, --markdown, --report, --export and --list cannot be combined with "
                  "--against or --self-check; --json can"},
                 {b->against && b->self_check,
                  "--self-check is --against with this program itself: give only one of the two"},
                 {b->energy && (against || b->against_backend),
                  "--energy measures one run on its own; --against and --self-check compare "
                  "times"},
                 {b->energy_text && !b->energy, "--energy-seconds needs --energy"},
                 {b->against_backend && (against || b->list),
                  "--against-backend cannot be combined with --against, --self-check or --list"},
                 {b->timeout_text && !against && !b->comm,
                  "--timeout needs --against, --self-check or --comm"},
                 {b->fail_on_text && !against && !b->against_backend,
                  "--fail-on needs --against; `compare --fail-on` judges two files"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0] && code == TOOL_OK; i++) {
        code = rules[i].wrong ? tool_error(TOOL_USAGE, "%s", rules[i].message) : TOOL_OK;
    }
    return code == TOOL_OK ? check_paths(b) : code;
}

/* The options of every run, those of suites, and those of another command with cases of its own. */
static int add_options(bench *b, tool_option *options)
{
    const tool_option all[] = {{"backend", &b->backend, NULL},
                               {"require", &b->require, NULL},
                               {"case", &b->request.case_id, NULL},
                               {"budget", &b->budget_text, NULL},
                               {"rounds", &b->rounds_text, NULL},
                               {"seed", &b->seed_text, NULL},
                               {"against-backend", &b->against_backend, NULL},
                               {"fail-on", &b->fail_on_text, NULL},
                               {"json", &b->paths[JSON], NULL},
                               {"csv", &b->paths[CSV], NULL},
                               {"markdown", &b->paths[MARKDOWN], NULL},
                               {"report", &b->paths[REPORT], NULL},
                               {"export", &b->paths[EXPORT], NULL},
                               {"energy-seconds", &b->energy_text, NULL},
                               {"energy", NULL, &b->energy},
                               {"list", NULL, &b->list},
                               {"no-roofs", NULL, &b->request.no_roofs}};
    const tool_option suites[] = {{"suite", &b->request.suite, NULL},
                                  {"op", &b->request.op, NULL},
                                  {"variant", &b->request.variant, NULL},
                                  {"dtype", &b->request.dtype, NULL},
                                  {"size", &b->request.size, NULL},
                                  {"axis", &b->request.axis, NULL},
                                  {"math", &b->math_text, NULL},
                                  {"jobs", &b->jobs_text, NULL},
                                  {"lab", &b->request.rows, NULL},
                                  {"lab-sizes", &b->lab_sizes, NULL},
                                  {"beside", &b->beside, NULL},
                                  {"against", &b->against, NULL},
                                  {"timeout", &b->timeout_text, NULL},
                                  {"self-check", NULL, &b->self_check},
                                  {"comm", NULL, &b->comm},
                                  {"ranks", &b->scale.ranks.ranks, NULL},
                                  {"world", NULL, &b->scale.ranks.world},
                                  {"engine", &b->scale.ranks.engine, NULL},
                                  {"memory", &b->scale.memory, NULL},
                                  {"help", NULL, &b->help}};
    enum { ALL = sizeof all / sizeof all[0], SUITES = sizeof suites / sizeof suites[0] };
    int more = b->given ? b->given->option_count : SUITES;
    memcpy(options, all, sizeof all);
    memcpy(options + ALL, b->given ? b->given->options : suites, (size_t)more * sizeof *options);
    return ALL + more;
}

/* The options of the suite `labs`. --lab alone means that suite. */
static int check_labs(bench *b)
{
    work_request *r = &b->request;
    bool given = r->rows || b->lab_sizes || b->beside;
    r->suite = r->rows && !r->suite ? "labs" : r->suite;
    b->labs = r->suite && strcmp(r->suite, "labs") == 0;
    if (given && !b->labs) {
        return tool_error(TOOL_USAGE, "--lab, --lab-sizes and --beside are for --suite labs; "
                                      "--comm has --beside too");
    }
    if (!b->labs) {
        return TOOL_OK;
    }
    if (b->against || b->self_check || b->against_backend) {
        return tool_error(TOOL_USAGE, "--against, --self-check and --against-backend compare the "
                                      "cases of suites, and not the rows of labs");
    }
    int code = bench_with_labs->check(r->rows, b->lab_sizes, b->beside);
    r->no_lines = code == TOOL_OK && bench_with_labs->small(b->lab_sizes);
    return code;
}

/* The options of --comm, which has no cases. */
static int check_comm(bench *b)
{
    const work_request *r = &b->request;
    const struct {
        const char *option;
        bool given;
    } others[] = {{"against", b->against},
                  {"self-check", b->self_check},
                  {"against-backend", b->against_backend},
                  {"energy", b->energy},
                  {"list", b->list},
                  {"suite", r->suite},
                  {"case", r->case_id},
                  {"axis", r->axis},
                  {"lab", r->rows},
                  {"lab-sizes", b->lab_sizes},
                  {"math", b->math_text},
                  {"jobs", b->jobs_text},
                  {"export", b->paths[EXPORT]},
                  {"no-roofs", r->no_roofs},
                  {"markdown", b->paths[MARKDOWN]}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i].given) {
            return tool_error(TOOL_USAGE,
                              "--%s is of the cases of suites: leave it out with --comm",
                              others[i].option);
        }
    }
    scale_options *s = &b->scale;
    s->op = r->op;
    s->variant = r->variant;
    s->dtype = r->dtype;
    s->size = r->size;
    s->beside = b->beside;
    s->ranks.backend = b->backend;
    s->ranks.require = b->require;
    s->ranks.timeout = b->timeout_text;
    s->budget = b->budget;
    s->rounds = b->rounds;
    s->seed = r->seed;
    return TOOL_OK;
}

int bench_parse(bench *b, int argc, char **argv)
{
    tool_option options[OPTIONS_MOST];
    int count = add_options(b, options);
    int code = tool_options(argc, argv, options, count, b->given ? b->given->files : NULL);
    const ranks_options *ranks = &b->scale.ranks;
    b->comm = b->comm || ranks->ranks;
    if (code == TOOL_OK && !b->comm && (ranks->world || ranks->engine || b->scale.memory)) {
        code = tool_error(TOOL_USAGE, "--%s is an option of --comm: give --comm too",
                          ranks->world    ? "world"
                          : ranks->engine ? "engine"
                                          : "memory");
    }
    code = code != TOOL_OK || b->help ? code : parse_values(b);
    if (b->comm) {
        return code != TOOL_OK || b->help ? code : check_comm(b);
    }
    return code != TOOL_OK || b->help || b->given ? code : check_labs(b);
}
