/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - `isomer kernel check`: finds mistakes in kernels, and names their lines. */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 60, SECONDS_MOST = 86400 };

static const char options[] =
    "  --with FILE          the description; default: FILE.json beside FILE.isk\n"
    "  --define NAME=VALUE  a macro for the text; may be given again\n"
    "  --kernel LIST        only these kernels\n"
    "  --backend LIST       check: only devices of these backends; all: of every one\n"
    "  --cc PATH            check: the C compiler; default: ISOMER_CC, else cc, gcc or clang\n"
    "  --only LIST          check: only these of declarations, compile, chips, judge,\n"
    "                       address, oclgrind, results, launch and try\n"
    "  --require LIST       check: checks and backends that must not be missing\n"
    "  --seconds N          check: the time for each run (default 60)\n"
    "  --json FILE          also writes the report as JSON; - is standard output\n";
const char check_declarations[] = "declarations";

static void run_declarations(check_run *run);

static const check_part parts[] = {
    {check_declarations, "reads the declarations", run_declarations, NULL},
    {check_compile, "compiles the text for each device", check_run_compile, NULL},
    {check_chips, "compiles the text for each chip that compilers know", check_run_chips, NULL},
    {check_judge, "runs kernels in both orders and watches each access", check_run_judge, NULL},
    {check_address, "runs kernels with the address sanitizer", check_run_address, NULL},
    {check_oclgrind, "runs kernels under oclgrind", check_run_oclgrind, NULL},
    {check_results, "compares results of devices with the judge's", check_run_results, check_judge},
    {"try", "compiles for the chips of --backend, if --only names it", check_run_try, NULL},
    {"launch", "runs kernels on devices, if --only names it", check_run_launch, NULL},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* ---- reading --------------------------------------------------------------------------------- */

/* "iso_program_text: first.isk:12: kernel ..." as a finding. */
static void add_message(check_run *run, const char *part, const char *message)
{
    const char *at = strstr(message, run->unit->args.name);
    const size_t length = strlen(run->unit->args.name);
    int line = 0;
    if (at && at[length] == ':') {
        char *end = NULL;
        line = (int)strtol(at + length + 1, &end, 10);
        message = line && *end == ':' ? end + 1 + strspn(end + 1, " ") : message;
    }
    check_finding *made = check_find(run, part, message, line, "");
    if (made) {
        made->what = strdup(message);
    }
}

static void run_declarations(check_run *run)
{
    iso_kernel kernel;
    int32_t count = 0;
    while (iso_kernel_at(run->unit->program, count, &kernel) == ISO_OK) {
        count++;
    }
    check_say(run, check_declarations, check_name(run), CHECK_OK, "%d kernel%s", count,
              count == 1 ? "" : "s");
}

/* Reads the declarations. A text that is wrong becomes a finding; everything else needs them. */
static bool read_declarations(check_run *run)
{
    int64_t bytes = 0;
    if (iso_program_text(&run->unit->args, NULL, 0, &bytes) == ISO_OK) {
        return true;
    }
    add_message(run, check_declarations, tool_reason());
    check_say(run, check_declarations, check_name(run), CHECK_FOUND, "see below");
    return false;
}

/* A name that no kernel has would check nothing. */
static int check_kernels(const check_run *run)
{
    iso_kernel kernel;
    for (int i = 0; i < run->kernels.count; i++) {
        if (iso_kernel_get(run->unit->program, run->kernels.items[i], &kernel)) {
            return tool_error(TOOL_USAGE, "--kernel: %s", tool_reason());
        }
    }
    return TOOL_OK;
}

/* A description is not needed if it was not named. */
static int read_description(check_run *run)
{
    const char *path = run->source.args.name;
    char *beside = check_text("%s", path), *dot = strrchr(beside, '.');
    if (dot && !strchr(dot, '/')) {
        *dot = '\0';
    }
    char *json = check_text("%s.json", beside);
    run->described = run->with || access(json, R_OK) == 0;
    free(json);
    free(beside);
    iso_status status = iso_device_open("openmp", &run->declared);
    if (status) {
        return tool_error(tool_code(status), "%s", tool_reason());
    }
    if (run->described) {
        const int code = describe_load(run->declared, path, run->with, run->source.args.macros,
                                       run->source.args.macro_count, &run->file);
        run->own.args = describe_program(&run->file.text);
        run->own.program = run->file.text.program;
        return code == TOOL_OK ? check_kernels(run) : code;
    }
    iso_program_args declared = run->unit->args;
    declared.declared = 1;
    status = iso_program_create(run->declared, &declared, &run->unit->program);
    return status ? tool_error(tool_code(status), "%s", tool_reason()) : check_kernels(run);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Checks the names of --backend; `all` chooses as no option does. */
static int check_backends(check_run *run)
{
    static const char *const built_in[] = {"all", "cuda", "hip", "opencl", "openmp"};
    tool_names names = {.count = 0};
    bool known = true;
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++) {
        tool_names_add(&names, built_in[i]);
    }
    for (int i = 0; i < run->backends.count; i++) {
        known = known && tool_find(names.items, run->backends.items[i]) >= 0;
    }
    if (!known) { /* a plug-in's, which only enumerating tells */
        int32_t count = 0;
        iso_entry *entries = tool_enumerate(&count);
        for (int32_t i = 0; entries && i < count; i++) {
            tool_names_add(&names, entries[i].backend);
        }
        free(entries);
    }
    const int code = tool_words_check("backend", &run->backends, &names);
    if (code == TOOL_OK && tool_words_have(&run->backends, "all")) {
        run->backend = NULL;
    }
    return code;
}

static int parse(check_run *run, int argc, char **argv)
{
    const tool_option known[] = {{"with", &run->with, NULL},       {"cc", &run->cc, NULL},
                                 {"only", &run->only, NULL},       {"json", &run->json, NULL},
                                 {"require", &run->require, NULL}, {"backend", &run->backend, NULL},
                                 {"seconds", &run->seconds, NULL}, {"kernel", &run->kernel, NULL}};
    tool_names names = {.count = 0};
    tool_words files = {0};
    int code = kernel_defines(&argc, argv, &run->source);
    if (code == TOOL_OK) {
        code = tool_options(argc, argv, known, (int)(sizeof known / sizeof known[0]), &files);
    }
    if (code == TOOL_OK) {
        code = tool_whole("seconds", run->seconds, 1, SECONDS_MOST, &run->limit);
    }
    if (code == TOOL_OK) {
        code = kernel_open(&files, "check", &run->source);
    }
    tool_words_free(&files);
    if (code == TOOL_OK && ((run->only && !tool_split(run->only, &run->parts)) ||
                            (run->require && !tool_split(run->require, &run->required)) ||
                            (run->kernel && !tool_split(run->kernel, &run->kernels)) ||
                            (run->backend && !tool_split(run->backend, &run->backends)))) {
        tool_no_memory("a list");
    }
    for (int i = 0; i < PARTS; i++) {
        tool_names_add(&names, parts[i].name);
    }
    if (code == TOOL_OK && run->only) {
        code = tool_words_check("only", &run->parts, &names);
    }
    if (code == TOOL_OK && run->backend) {
        code = check_backends(run);
    }
    return code;
}

bool check_is_part(const char *name)
{
    for (int i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_chosen(const check_run *run, const check_part *part)
{
    return run->only ? tool_words_have(&run->parts, part->name)
                     : part->run != check_run_launch && part->run != check_run_try;
}

/* Whether a check that was chosen needs this one. */
static bool is_needed(const check_run *run, const check_part *part)
{
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].needs == part->name && is_chosen(run, &parts[i])) {
            return true;
        }
    }
    return false;
}

static void make_check(check_run *run, const check_part *part)
{
    const bool chosen = is_chosen(run, part);
    run->implied = !chosen && is_needed(run, part);
    if (chosen && check_is_broken(run)) {
        check_say(run, part->name, "all", CHECK_MISSING, "the text does not compile");
    } else if ((chosen || run->implied) && !check_is_broken(run)) {
        const int32_t before = run->row_count;
        part->run(run);
        if (chosen && run->only && run->row_count == before) {
            check_say(run, part->name, "all", CHECK_MISSING,
                      "--backend or --kernel leaves nothing to check");
        }
    }
    run->implied = false;
}

static int work(check_run *run)
{
    run->unit = &run->own;
    run->own.args = run->source.args;
    (void)setenv("LC_ALL", "C", 1); /* the messages of compilers are read */
    if (read_declarations(run)) {
        const int code = read_description(run);
        if (code != TOOL_OK) {
            return code;
        }
        if (!check_folder_make(run)) {
            return tool_error(TOOL_IO, "no folder for temporary files can be made: set TMPDIR");
        }
        check_find_compiler(run);
        if (run->compiler) { /* for the CPU backend */
            (void)setenv("ISOMER_CC", run->compiler, 0);
        }
        fprintf(run->out, "C compiler: %s%s%s\n", run->compiler ? run->compiler : "none",
                run->compiler ? ": " : "", run->compiler ? run->compiler_version : "");
        check_cases_make(run);
        for (int i = 0; i < PARTS && !tool_stop_asked(); i++) {
            make_check(run, &parts[i]);
        }
    }
    return tool_stop_asked() ? TOOL_INTERRUPTED : check_report(run);
}

static void release(check_run *run)
{
    check_close_devices(run);
    check_cases_free(run);
    check_folder_delete(run);
    check_report_free(run);
    check_unit_free(&run->own);
    for (int32_t i = 0; i < run->other_count; i++) {
        check_unit_free(run->others[i]);
        free(run->others[i]);
    }
    free(run->others);
    free(run->compiler);
    free(run->compiler_version);
    free(run->symbolizer);
    if (run->described) {
        describe_free(&run->file);
    }
    kernel_source_free(&run->source);
    tool_words_free(&run->parts);
    tool_words_free(&run->backends);
    tool_words_free(&run->kernels);
    tool_words_free(&run->required);
}

static int run_check(int argc, char **argv)
{
    check_run run = {.out = stdout, .limit = SECONDS};
    int code = parse(&run, argc, argv);
    if (code == TOOL_OK) {
        code = tool_file_open(&run.json_file, run.json);
    }
    if (code == TOOL_OK) {
        run.out = run.json_file.stream == tool_data() ? stderr : stdout;
        tool_stop_watch(true);
        code = work(&run);
        tool_stop_watch(false);
        json_t *document = check_document(&run);
        const int written = run.json ? tool_file_json(&run.json_file, document) : TOOL_OK;
        code = code == TOOL_OK ? written : code;
        json_decref(document);
    }
    release(&run);
    return code;
}

const kernel_command kernel_check = {
    .name = "check",
    .about = "finds mistakes in kernels, and names their lines",
    .usage = "check FILE [--with FILE] [--define NAME=VALUE]... [OPTIONS]",
    .options = options,
    .run = run_check,
};
