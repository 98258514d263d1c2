/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer verify`: the conformance list on devices. */
#include "bench/verify/comm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: isomer verify [OPTIONS]\n"
    "\n"
    "  --backend LIST   devices to check, or `all`; default: ISOMER_BACKEND, else all\n"
    "  --require LIST   backends that must be available, besides ISOMER_REQUIRE\n"
    "  --suite NAME     quick (the default) or full\n"
    "  --op LIST        operations, or single reductions and maps such as sum and triad:\n"
    "                   %s\n"
    "  --variant LIST   variants: naive, tiled, vendor, ...\n"
    "  --dtype LIST     types, or e1 to e16 (elements that are only moved):\n"
    "                   %s\n"
    "  --case ID        one case, or all that match a pattern such as 'gemm/*/nt/*'\n"
    "  --list           lists the cases instead of running them\n"
    "  --bitwise        prints digests and compares them between devices, naive and tiled\n"
    "  --invariance     checks instead that bits do not depend on the batch, on other rows\n"
    "                   and columns, on the layout, threads, tiles and other work\n"
    "  --comm           checks instead communicators, on several devices (ranks): what they\n"
    "                   move and sum, and in which order\n"
    "  --ranks LIST     with --comm: numbers of ranks in this process (default 1,2,3,4,7),\n"
    "                   to which the devices of --backend are dealt\n"
    "  --world          with --comm: one rank in each process that mpirun started\n"
    "  --engine NAME    with --comm: the engine that moves the data\n"
    "  --timeout S      with --comm: seconds a rank waits for the others (default 30)\n"
    "  --inline         uses inline streams\n"
    "  --fail-fast      stops at the first failure\n"
    "  --seed N         makes different inputs (default 1)\n"
    "  --json FILE      also writes results as JSON; - is standard output\n"
    "  --brief          leaves out of the JSON what passed or is unsupported; it has\n"
    "                   the counts for each device\n"
    "  --junit FILE     also writes results as JUnit XML\n"
    "  --help           shows this text\n";

/* ---- the run --------------------------------------------------------------------------------- */

/* Returns a copy of a library's name that lives as long as the target. */
static const char *intern(verify_target *target, const char *library)
{
    enum { ROOM = sizeof target->libraries / sizeof target->libraries[0] };
    for (int i = 0; i < ROOM && library[0] != '\0'; i++) {
        if (target->libraries[i][0] == '\0') {
            snprintf(target->libraries[i], ISO_NAME_MAX, "%s", library);
        }
        if (strcmp(target->libraries[i], library) == 0) {
            return target->libraries[i];
        }
    }
    return "";
}

void verify_keep(verify_run *run, verify_target *target, int index, const bench_result *result)
{
    verify_record *record = &target->records[index];
    record->ran = true;
    record->status = result->status;
    record->reason = result->reason[0] != '\0' ? strdup(result->reason) : NULL;
    record->library = intern(target, result->library);
    record->method = result->method;
    record->error = result->error;
    record->bound = result->bound;
    record->seconds = result->seconds;
    record->has_digest = run->bitwise && result->has_digest && result->status == BENCH_OK;
    memcpy(record->digest, result->digest, sizeof record->digest);
    bool bad = result->status == BENCH_FAILED || result->status == BENCH_ERROR;
    run->interrupted = tool_interrupted();
    run->over = run->interrupted || (bad && run->fail_fast);
}

static int run_cases(verify_run *run)
{
    bool shown = isatty(STDERR_FILENO) != 0;
    double all = (double)run->chosen_count * run->target_count;
    verify_state *state = verify_state_create();
    bench_result *result = malloc(sizeof *result);
    if (!state || !result) {
        verify_state_destroy(state);
        free(result);
        return tool_error(TOOL_INTERNAL, "no memory for the cases");
    }
    run->began = tool_seconds();
    for (int i = 0; i < run->chosen_count && !run->over; i++) {
        for (int t = 0; t < run->target_count && !run->over; t++) {
            verify_target *target = &run->targets[t];
            if (target->library > 0 &&
                !(run->chosen[i]->op->libraries && run->chosen[i]->how == ISO_VARIANT_VENDOR)) {
                continue;
            }
            if (shown) {
                tool_progress((i * run->target_count + t) / all, " %d/%.0f %s %s",
                              i * run->target_count + t, all, target->info->spec,
                              run->chosen[i]->id);
            }
            run->now = i;
            run->now_target = t;
            run->now_began = tool_seconds();
            verify_run_case(state, target->runner, run->chosen[i], target->library, result);
            verify_keep(run, target, i, result);
        }
    }
    run->seconds = tool_seconds() - run->began;
    if (shown) {
        tool_progress_end();
    }
    verify_state_destroy(state);
    free(result);
    return TOOL_OK;
}

static void count(verify_run *run)
{
    for (int t = 0; t < run->target_count; t++) {
        for (int i = 0; i < run->chosen_count; i++) {
            const verify_record *record = &run->targets[t].records[i];
            if (!record->ran) {
                continue;
            }
            run->passed += record->status == BENCH_OK;
            run->failed += record->status == BENCH_FAILED;
            run->unsupported += record->status == BENCH_UNSUPPORTED;
            run->errors += record->status == BENCH_ERROR;
        }
    }
}

static int check_outputs(const verify_run *run)
{
    if (run->brief && !run->json) {
        return tool_error(TOOL_USAGE, "--brief changes what --json writes: give --json too");
    }
    if (run->json && run->junit && strcmp(run->json, "-") == 0 && strcmp(run->junit, "-") == 0) {
        return tool_error(TOOL_USAGE, "--json and --junit cannot both go to standard output");
    }
    return TOOL_OK;
}

/* Options that do not go together. */
static int check_modes(const verify_run *run)
{
    const ranks_options *comm = &run->comm_options;
    if (run->bitwise && run->invariance) {
        return tool_error(TOOL_USAGE,
                          "--invariance compares bits within a device: it has no digests "
                          "to print, so leave out --bitwise");
    }
    if (run->comm && (run->invariance || run->inline_streams)) {
        return tool_error(TOOL_USAGE, "--comm and %s cannot be combined: %s",
                          run->invariance ? "--invariance" : "--inline",
                          run->invariance ? "each has cases of its own"
                                          : "communicators do not take inline streams");
    }
    if (!run->comm && (comm->ranks || comm->engine || comm->timeout || comm->world)) {
        return tool_error(TOOL_USAGE, "--%s is an option of --comm: give --comm too",
                          comm->ranks     ? "ranks"
                          : comm->engine  ? "engine"
                          : comm->timeout ? "timeout"
                                          : "world");
    }
    return TOOL_OK;
}

static int parse(verify_run *run, int argc, char **argv)
{
    const tool_option options[] = {{"backend", &run->backend, NULL},
                                   {"require", &run->require, NULL},
                                   {"suite", &run->suite, NULL},
                                   {"op", &run->op, NULL},
                                   {"variant", &run->variant, NULL},
                                   {"dtype", &run->dtype, NULL},
                                   {"case", &run->case_id, NULL},
                                   {"json", &run->json, NULL},
                                   {"junit", &run->junit, NULL},
                                   {"seed", &run->seed, NULL},
                                   {"list", NULL, &run->list},
                                   {"bitwise", NULL, &run->bitwise},
                                   {"invariance", NULL, &run->invariance},
                                   {"comm", NULL, &run->comm},
                                   {"ranks", &run->comm_options.ranks, NULL},
                                   {"world", NULL, &run->comm_options.world},
                                   {"engine", &run->comm_options.engine, NULL},
                                   {"timeout", &run->comm_options.timeout, NULL},
                                   {"inline", NULL, &run->inline_streams},
                                   {"fail-fast", NULL, &run->fail_fast},
                                   {"brief", NULL, &run->brief},
                                   {"help", NULL, &run->help}};
    int code = tool_options(argc, argv, options, (int)(sizeof options / sizeof options[0]), NULL);
    if (code != TOOL_OK || run->help) {
        return code;
    }
    if (run->suite && strcmp(run->suite, "quick") != 0 && strcmp(run->suite, "full") != 0) {
        return tool_error(TOOL_USAGE, "--suite must be quick or full, not \"%s\"", run->suite);
    }
    code = check_modes(run);
    if (code != TOOL_OK) {
        return code;
    }
    run->full = run->suite && strcmp(run->suite, "full") == 0;
    code = check_outputs(run);
    return code != TOOL_OK ? code : tool_whole("seed", run->seed, 0, INT64_MAX, &run->seed_value);
}

/* Reports what ran, and writes the files. */
static int finish(verify_run *run)
{
    if (run->bitwise) {
        verify_compare_digests(run);
        run->fixed_count = run->comm ? comm_compare(run, run->fixed_digest) : 0;
    }
    count(run);
    verify_report(run);
    int code = verify_write_files(run);
    if (code != TOOL_OK) {
        return code;
    }
    if (run->interrupted) {
        return TOOL_INTERRUPTED;
    }
    if (run->failed + run->errors > 0) {
        return TOOL_FAILED;
    }
    if (run->passed == 0) {
        return tool_error(TOOL_NOTHING, "no case ran: none of them is supported");
    }
    return TOOL_OK;
}

/* A launch does not end: keeps the results of the other cases. */
static void end_late(void *context, int code, const char *text)
{
    verify_run *run = context;
    if (code == TOOL_FAILED) {
        bench_result result = {.status = BENCH_FAILED, .method = ""};
        snprintf(result.reason, sizeof result.reason, "%s", text);
        result.seconds = tool_seconds() - run->now_began;
        verify_keep(run, &run->targets[run->now_target], run->now, &result);
    }
    run->interrupted = true;
    run->seconds = tool_seconds() - run->began;
    (void)finish(run);
}

static int run_watched(verify_run *run)
{
    const tool_watch watch = {run->given ? run->given->seconds : 0, end_late, run};
    tool_stop_watch(true);
    if (run->given) {
        tool_watch_begin(&watch);
    }
    int code = run->invariance ? verify_run_companies(run)
               : run->comm     ? comm_run_cases(run)
                               : run_cases(run);
    tool_watch_end();
    tool_stop_watch(false);
    return code;
}

static int execute(verify_run *run)
{
    int code = run->comm ? comm_counts(run) : TOOL_OK;
    if (code == TOOL_OK) {
        code = run->given ? verify_choose_given(run) : verify_choose_cases(run);
    }
    if (code != TOOL_OK) {
        return code;
    }
    const bool speaks = !run->team || ranks_speaks(run->team);
    if (run->list) {
        for (int i = 0; i < run->chosen_count && speaks; i++) {
            puts(run->chosen[i]->id);
        }
        return TOOL_OK;
    }
    code = verify_open_targets(run);
    if (!speaks) { /* rank 0 writes for all processes */
        run->json = run->junit = NULL;
    }
    if (code == TOOL_OK) {
        code = tool_file_open(&run->json_file, run->json);
    }
    if (code == TOOL_OK) {
        code = tool_file_open(&run->junit_file, run->junit);
    }
    run->out = run->json_file.stream == tool_data() || run->junit_file.stream == tool_data()
                   ? stderr
                   : stdout;
    if (!speaks) {
        run->silence = fopen("/dev/null", "w");
        run->out = run->silence ? run->silence : run->out;
    }
    if (code == TOOL_OK && run->given && run->given->ready) {
        run->given->ready(run->given->context, run->target_count);
    }
    code = code == TOOL_OK ? run_watched(run) : code;
    return code == TOOL_OK ? finish(run) : code;
}

int verify_given(const verify_request *request)
{
    verify_run run = {.backend = request->backend,
                      .require = request->require,
                      .case_id = request->case_id,
                      .json = request->json,
                      .junit = request->junit,
                      .seed = request->seed,
                      .seed_value = request->seed_value,
                      .list = request->list,
                      .bitwise = request->bitwise,
                      .fail_fast = request->fail_fast,
                      .brief = request->brief,
                      .argc = request->argc,
                      .argv = request->argv,
                      .given = request,
                      .out = stdout};
    int code = check_outputs(&run);
    code = code == TOOL_OK ? execute(&run) : code;
    verify_free(&run);
    return code;
}

int tool_verify(int argc, char **argv)
{
    verify_run run = {.seed_value = VERIFY_SEED, .argc = argc, .argv = argv, .out = stdout};
    int code = parse(&run, argc, argv);
    if (code == TOOL_OK && run.help) {
        printf(help, verify_op_words(), bench_type_words());
    } else if (code == TOOL_OK) {
        code = execute(&run);
    }
    verify_free(&run);
    return code;
}
