/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - `isomer bench`: measures all devices with the same work. */
#include "bench/bench.h"

#include "bench/compare/compare.h"
#include "bench/record/record.h"
#include "bench/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: isomer bench [OPTIONS]\n"
    "\n"
    "  --backend LIST    devices to measure, or `all` (default: ISOMER_BACKEND, or else all)\n"
    "  --require LIST    backends that must be available, besides ISOMER_REQUIRE\n"
    "  --suite NAME      quick (the default), full, stream, gemm, transfer, labs, or a JSON file\n"
    "  --lab LIST        only these rows of the labs, such as C5, or labs, such as A\n"
    "  --lab-sizes SIZES usual (the default), small (for a test) or full (the labs' own)\n"
    "  --beside FILE     also shows another program's figures of the same rows\n"
    "  --comm            measures communicators of several devices (ranks) instead: sums over\n"
    "                    ranks, copies, and products. --op is then all_reduce, reduce_scatter,\n"
    "                    all_gather, broadcast, all_to_all, send_receive, send, copy, barrier or\n"
    "                    gemm; --variant vendor, ordered, fixed (sums), tiled, vendor, fixed\n"
    "                    (products); --size bytes, or N of gemm\n"
    "  --ranks LIST      with --comm, which it means: numbers of ranks in this process\n"
    "  --world           with --comm: one rank in each process that mpirun started\n"
    "  --engine NAME     with --comm: the engine that moves the data\n"
    "  --memory BYTES    with --comm: products keep their matrices in host memory, and use so\n"
    "                    much memory of each device\n"
    "  --op LIST         operations, or single ones such as triad, sum and write:\n"
    "                    %s\n"
    "  --variant LIST    variants: naive, tiled, vendor, ... or auto, what the library chooses\n"
    "  --dtype LIST      types, or tf32, or e1 to e16 (elements that are only moved):\n"
    "                    %s\n"
    "  --size LIST       sizes instead of the suite's, such as 1024,4Ki or 64x64x16384\n"
    "  --axis LIST       only reductions, along 0, 1 or all; with --size 10000x7000\n"
    "  --case PATTERN    only cases whose id contains this text, or matches it with * and ?, of "
    "all\n"
    "                    suites, such as 'gemm/*/f32/1024*'; any id that a run shows works\n"
    "  --math MODE       strict (the default) or tf32\n"
    "  --budget SECONDS  time to measure, without preparation (default 40; full: 440 in all)\n"
    "  --rounds N        at most N rounds; with --against: N pairs\n"
    "  --jobs N          processes that compile kernels in advance (default: the number of\n"
    "                    processors, at most 8); with 1, the run compiles them itself\n"
    "  --no-roofs        leaves out the cases that only measure roofs; percentages are then\n"
    "                    missing, except of the roofs in the table of chips\n"
    "  --energy          also measures the energy of some usual cases, or of every kind of case\n"
    "                    that is chosen with --op, --case, --variant, --dtype, --size or --axis\n"
    "  --energy-seconds N\n"
    "                    how long each case is repeated for that (default 5)\n"
    "  --seed N          changes the inputs and the order of the cases (default 1)\n"
    "  --against PROGRAM runs this program and PROGRAM, another build of isomer, in turn, in\n"
    "                    fresh processes, and shows where PROGRAM is FASTER or SLOWER: start\n"
    "                    the old build and give it the new one\n"
    "  --against-backend SPEC\n"
    "                    alternates the first device with this one in one process, and shows\n"
    "                    where SPEC is FASTER or SLOWER\n"
    "  --self-check      like --against, with this program itself: nothing should differ\n"
    "  --timeout SECONDS kills a process of --against that takes longer (default 3600); with\n"
    "                    --comm: how long a rank waits for the others (default 60)\n"
    "  --fail-on PERCENT with --against: exit code 1 if a case of PROGRAM is slower by more than\n"
    "                    PERCENT, or lacks a result that this program has\n"
    "  --json FILE       also writes results as JSON; - is standard output\n"
    "  --csv FILE        also writes results as CSV\n"
    "  --markdown FILE   also writes results as Markdown\n"
    "  --report FILE     also writes a report as HTML\n"
    "  --export FILE     also writes results in the form of Google Benchmark's JSON\n"
    "  --list            lists the cases instead of measuring them\n"
    "  --help            shows this text\n";

const bench_labs *bench_with_labs;

/* ---- devices and cases ----------------------------------------------------------------------- */

static void drop_spec(bench *b, int i)
{
    b->specs.count--;
    for (int k = i; k < b->specs.count; k++) {
        b->specs.items[k] = b->specs.items[k + 1];
    }
    b->opened[i] = (iso_device){0};
}

/* A device that the user named must open. With `all`, a device that does not open is left out with
 * a message, and the others are measured. */
static int fail_open(bench *b, int i)
{
    const char *name = b->specs.items[i] ? b->specs.items[i] : "ISOMER_BACKEND's device";
    const char *text = tool_reason();
    if (!tool_takes_all(b->backend) || b->specs.count == 1) {
        bool named = strstr(text, name) != NULL;
        return tool_error(tool_code(iso_last_status()), "%s%s%s", named ? "" : name,
                          named ? "" : ": ", text);
    }
    json_array_append_new(b->left_out, json_pack("{s:o, s:o}", "device", tool_json_text(name),
                                                 "reason", tool_json_text(text)));
    tool_error(TOOL_OK, "left out: %s: %s", name, text);
    drop_spec(b, i);
    return TOOL_OK;
}

/* A device with two names, such as openmp and openmp:0, is measured once. */
static bool seen_before(bench *b, int i, const char *spec)
{
    for (int j = 0; j < i; j++) {
        iso_device_info info = ISO_DEVICE_INFO_INIT;
        if (iso_device_get_info(b->opened[j], &info) != ISO_OK || strcmp(info.spec, spec) != 0) {
            continue;
        }
        iso_device_close(b->opened[i]);
        drop_spec(b, i);
        return true;
    }
    return false;
}

/* The memory that a run may use: ISOMER_MEMORY_LIMIT if it is set and smaller than the device's
 * memory, otherwise the device's. */
static int64_t memory_of(iso_device device, const iso_device_info *info)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    if (iso_device_get_memory_use(device, &use) == ISO_OK && use.limit >= 0 &&
        (use.limit < info->memory_total || info->memory_total < 0)) {
        return use.limit;
    }
    return work_memory(info);
}

/* Opens the devices and finds the memory, the caches and the types of device, on which the sizes of
 * the cases depend. */
/* Finds the devices to measure. With --against-backend these are the first one that --backend
 * selects, and the named one. */
static int find_specs(bench *b)
{
    char both[2 * ISO_NAME_MAX + 2] = "";
    tool_words named = {0};
    int code = tool_specs(b->backend, b->require, &b->specs);
    if (code == TOOL_OK && b->against_backend) {
        code = tool_specs(b->against_backend, NULL, &named);
    }
    for (int i = 0; i < b->specs.count && named.count == 1 && both[0] == '\0'; i++) {
        const char *first = b->specs.items[i], *second = named.items[0];
        size_t length = strlen(second);
        bool same = strncmp(first, second, length) == 0;
        if (!same || (first[length] != '\0' && first[length] != ':')) {
            snprintf(both, sizeof both, "%s,%s", first, second);
        }
    }
    if (code == TOOL_OK && b->against_backend && both[0] == '\0') {
        code = tool_error(TOOL_USAGE,
                          "--against-backend %s must name one device, and --backend "
                          "another one to compare it with",
                          b->against_backend);
    } else if (code == TOOL_OK && b->against_backend) {
        tool_words_free(&b->specs);
        code = tool_specs(both, NULL, &b->specs);
    }
    tool_words_free(&named);
    return code;
}

static int look_at_devices(bench *b)
{
    work_request *request = &b->request;
    request->all_cpu = true;
    b->opened = tool_alloc((size_t)b->specs.count, sizeof *b->opened, "the devices");
    b->opening = tool_alloc((size_t)b->specs.count, sizeof *b->opening, "the devices");
    b->left_out = json_array();
    for (int i = 0; i < b->specs.count;) {
        iso_device_info info = ISO_DEVICE_INFO_INIT;
        double began = 1e9 * tool_seconds();
        if (iso_device_open(b->specs.items[i], &b->opened[i]) != ISO_OK ||
            iso_device_get_info(b->opened[i], &info) != ISO_OK) {
            int code = fail_open(b, i);
            if (code != TOOL_OK) {
                return code;
            }
            continue;
        }
        b->opening[i] = 1e9 * tool_seconds() - began;
        if (seen_before(b, i, info.spec)) {
            continue;
        }
        int64_t memory = memory_of(b->opened[i++], &info);
        request->all_cpu &= info.type == ISO_DEVICE_CPU;
        if (work_cache_bytes(&info) > request->cache_bytes) {
            request->cache_bytes = work_cache_bytes(&info);
        }
        if (request->memory_bytes == 0 || memory < request->memory_bytes) {
            request->memory_bytes = memory;
        }
    }
    return TOOL_OK;
}

static void close_looked_at(bench *b)
{
    for (int i = 0; b->opened && i < b->specs.count; i++) {
        if (b->opened[i].id != 0) {
            iso_device_close(b->opened[i]);
        }
    }
    free(b->opened);
    b->opened = NULL;
}

static int open_targets(bench *b)
{
    int code = TOOL_OK;
    b->targets = tool_alloc((size_t)b->specs.count, sizeof *b->targets, "the devices");
    b->devices = json_array();
    for (int i = 0; i < b->specs.count; i++) {
        work_target *target =
            work_target_open(b->specs.items[i], b->request.math, b->inputs, &code);
        if (!target) {
            return code;
        }
        b->targets[b->target_count++] = target;
        json_t *device = record_device(work_target_device(target));
        tool_set_number(device, "open", b->opening[i]);
        json_array_append_new(b->devices, device);
    }
    work_targets_share_caches(b->targets, b->target_count);
    return TOOL_OK;
}

static void close_targets(bench *b)
{
    for (int32_t i = 0; i < b->target_count; i++) {
        work_target_close(b->targets[i]);
    }
    b->target_count = 0;
}

static int list_cases(const bench *b)
{
    for (int32_t i = 0; i < b->cases.count; i++) {
        puts(b->cases.items[i].id);
    }
    return TOOL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Opens the files before anything is measured, so that a path that cannot be written fails at
 * once. */
static int open_files(bench *b)
{
    int code = TOOL_OK;
    for (int i = 0; i < OUTPUTS && code == TOOL_OK; i++) {
        code = tool_file_open(&b->files[i], b->paths[i]);
    }
    return code;
}

/* A report without any result is not an error here, because the run's exit code already shows that
 * nothing ran. */
static int write_report(bench *b)
{
    const char *name = b->paths[JSON] ? b->paths[JSON] : "this run";
    int code = TOOL_OK;
    if (b->paths[REPORT]) {
        code = report_write(&b->root, &name, 1, NULL, &b->files[REPORT]);
    }
    return code == TOOL_NOTHING ? TOOL_OK : code;
}

static int write_export(bench *b)
{
    json_t *root = b->paths[EXPORT] ? record_google(b->root) : NULL;
    int code = tool_file_json(&b->files[EXPORT], root);
    json_decref(root);
    return code;
}

/* Writes every file, even if one of them fails. Returns the first failure. */
static int write_files(bench *b)
{
    const int codes[OUTPUTS] = {tool_file_json(&b->files[JSON], b->root),
                                tool_file_write(&b->files[CSV], record_csv, b->root),
                                tool_file_write(&b->files[MARKDOWN], record_markdown, b->root),
                                write_report(b), write_export(b)};
    for (int i = 0; i < OUTPUTS; i++) {
        if (codes[i] != TOOL_OK) {
            return codes[i];
        }
    }
    return TOOL_OK;
}

static FILE *text_stream(const bench *b)
{
    for (int i = 0; i < OUTPUTS; i++) {
        if (b->files[i].stream == tool_data()) {
            return stderr;
        }
    }
    return stdout;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Runs the rows of labs, writes the files and shows the results. `code` is what measuring ended
 * with. */
static int finish(bench *b, int code, bool is_paired, FILE *out)
{
    int paired = is_paired ? compare_pair_devices(b->root) : TOOL_OK;
    if (b->labs && (code == TOOL_OK || b->cases.count == 0)) {
        close_targets(b); /* their memory is needed */
        code = bench_with_labs->run(b->request.rows, b->lab_sizes, b->beside, b->root,
                                    b->paths[JSON] ? &b->files[JSON] : NULL);
    }
    /* Writes the files before the table, because the program that reads the table may close the
     * pipe early. */
    int written = write_files(b);
    if (is_paired && paired == TOOL_OK) {
        paired = compare_show_pairs(out, b->root, b->fail_on);
    } else {
        const record_table_how how = {.no_roofs = b->given && !*b->given->roofs,
                                      .notes = b->given ? bench_percents(b) : NULL};
        record_table(out, b->root, tool_width(out), tool_colour(out), &how);
        json_decref((json_t *)how.notes);
    }
    if (b->labs) {
        record_labs_table(out, json_object_get(b->root, "labs"));
    }
    return written != TOOL_OK ? written : code != TOOL_OK ? code : paired;
}

static int measure(bench *b, int argc, char **argv)
{
    int code = open_files(b);
    if (code != TOOL_OK) {
        return code;
    }
    b->inputs = work_inputs_create(b->request.seed, &b->cases);
    if (!b->inputs) {
        return TOOL_INTERNAL;
    }
    code = open_targets(b);
    close_looked_at(b);
    if (code != TOOL_OK) {
        return code;
    }
    b->run = record_run("bench", argc, argv);
    tool_set_text(b->run, "suite",
                  b->given             ? b->given->suite
                  : b->request.suite   ? b->request.suite
                  : b->request.case_id ? "all"
                                       : "quick");
    tool_set_int(b->run, "seed", (int64_t)b->request.seed);
    tool_set_text(b->run, "math", iso_math_name(b->request.math));
    tool_set_number(b->run, "probe", b->probing);
    json_object_set(b->run, "left_out", b->left_out);
    if (b->given) {
        b->given->describe(b->given, b->run);
    }
    if (b->energy) {
        tool_set_bool(b->run, "energy", true);
    }
    const int32_t least = b->against_backend ? COMPARE_PAIRS_LEAST : MEASURE_ROUNDS;
    const measure_plan plan = {.list = &b->cases,
                               .targets = b->targets,
                               .target_count = b->target_count,
                               .budget = b->budget,
                               .whole = b->whole,
                               .target = 0.01,
                               .rounds_min = b->rounds > 0 && b->rounds < least ? b->rounds : least,
                               .rounds_max = b->rounds,
                               .paired = b->against_backend != NULL,
                               .energy = b->energy ? b->energy_seconds : 0,
                               .energy_every = work_request_chooses(&b->request),
                               .seed = b->request.seed,
                               .run = b->run,
                               .devices = b->devices,
                               .crew = &b->crew,
                               .file = b->paths[JSON] ? &b->files[JSON] : NULL,
                               .progress = isatty(STDERR_FILENO) != 0};
    FILE *out = text_stream(b);
    if (b->given) {
        tool_watch_begin(&(tool_watch){.seconds = b->given->seconds});
    }
    code = measure_run(&plan, &b->root);
    tool_watch_end();
    return b->root ? finish(b, code, plan.paired, out) : code;
}

/* The whole work of a process that compiles in advance: it finds the devices and cases as the run
 * does, and compiles the cases that the run sends. */
_Noreturn static void be_member(bench *b)
{
    char task[CREW_LINE];
    bool more = crew_next(&b->crew, task);
    if (!more || find_specs(b) != TOOL_OK || look_at_devices(b) != TOOL_OK ||
        work_list_make(&b->request, &b->cases) != TOOL_OK) {
        crew_leave();
    }
    b->inputs = work_inputs_plan(b->request.seed, &b->cases);
    if (!b->inputs || open_targets(b) != TOOL_OK) {
        crew_leave();
    }
    close_looked_at(b);
    for (int32_t i = 0; i < b->target_count; i++) {
        work_target_share(b->targets[i], 4 * b->jobs); /* leaves memory for the run */
    }
    for (; more; more = crew_next(&b->crew, task)) {
        crew_work(&b->crew, task, &b->cases, b->targets, b->target_count);
    }
    crew_leave();
}

static int execute(bench *b, int argc, char **argv)
{
    if (b->against || b->self_check) {
        return compare_against(b->against, argc, argv, b->budget, b->rounds, b->timeout, b->fail_on,
                               b->paths[JSON]);
    }
    /* With one round, nothing is compiled in advance: --against usually starts such a run, and
     * after the first pair the kernel caches are full. */
    if (!b->list && b->rounds != 1 && b->jobs > 1 && crew_start(&b->crew, b->jobs)) {
        be_member(b);
    }
    double began = 1e9 * tool_seconds();
    int code = find_specs(b);
    b->probing = tool_takes_all(b->backend) ? 1e9 * tool_seconds() - began : NAN;
    if (code == TOOL_OK) {
        code = look_at_devices(b);
    }
    if (code == TOOL_OK && b->against_backend && b->specs.count != 2) {
        code = tool_error(TOOL_USAGE,
                          "--against-backend %s: it is the only device that can be "
                          "measured",
                          b->against_backend);
    }
    if (code == TOOL_OK) {
        code = work_list_make(&b->request, &b->cases);
    }
    if (code != TOOL_OK) {
        return code;
    }
    return b->list ? list_cases(b) : measure(b, argc, argv);
}

/* Measures communicators. Only the process of rank 0 writes files and shows results. */
static int measure_ranks(bench *b, int argc, char **argv)
{
    scale_run *run;
    int code = scale_open(&b->scale, &run);
    const bool speaks = code == TOOL_OK && scale_speaks(run);
    if (code == TOOL_OK) {
        code = scale_settle(run, speaks ? open_files(b) : TOOL_OK);
    }
    if (code == TOOL_OK) {
        b->root = json_pack("{s:s, s:o, s:[], s:[]}", "schema", RECORD_SCHEMA, "run",
                            record_run("bench", argc, argv), "devices", "results");
        b->run = json_incref(json_object_get(b->root, "run"));
        tool_set_text(b->run, "suite", "comm");
        tool_set_int(b->run, "seed", (int64_t)b->request.seed);
        tool_set_number(b->run, "budget", b->budget);
        tool_set_text(b->run, "math", iso_math_name(ISO_MATH_STRICT));
        tool_set_int(b->run, "rounds", b->rounds);
        code = scale_measure(run, b->root, b->files[JSON].stream ? &b->files[JSON] : NULL);
        const int written = speaks ? write_files(b) : TOOL_OK;
        if (speaks) {
            record_comm_table(text_stream(b), b->root);
        }
        code = scale_settle(run, written != TOOL_OK ? written : code);
    }
    scale_close(run);
    return code;
}

static void free_all(bench *b)
{
    crew_end(&b->crew, false);
    close_looked_at(b);
    close_targets(b);
    free(b->targets);
    free(b->opening);
    json_decref(b->left_out);
    work_inputs_destroy(b->inputs);
    work_list_free(&b->cases);
    tool_words_free(&b->specs);
    json_decref(b->run);
    json_decref(b->devices);
    json_decref(b->root);
    for (int i = 0; i < OUTPUTS; i++) {
        tool_file_discard(&b->files[i]);
    }
}

int bench_measure_given(int argc, char **argv, bench_given *given)
{
    bench b = {.given = given};
    int code = bench_parse(&b, argc, argv);
    if (code == TOOL_OK) {
        b.jobs = 1; /* a text is compiled once for each device */
        code = given->make(given, b.request.seed);
    }
    if (code == TOOL_OK) {
        b.request.given = given->cases;
        b.request.given_count = given->count;
        code = execute(&b, given->argc, given->argv);
    }
    free_all(&b);
    return code;
}

int tool_bench(int argc, char **argv)
{
    bench b = {0};
    int code = bench_parse(&b, argc, argv);
    if (code == TOOL_OK && b.help) {
        printf(help, bench_op_words(), bench_type_words());
    } else if (code == TOOL_OK) {
        code = b.comm ? measure_ranks(&b, argc, argv) : execute(&b, argc, argv);
    }
    free_all(&b);
    return code;
}
