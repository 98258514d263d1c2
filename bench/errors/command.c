/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer errors`: how far products are from the exact result. */
#include "bench/errors/errors.h"
#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: isomer errors [OPTIONS]\n"
    "\n"
    "Measures how far the elements of products are from the exact result, on inputs whose "
    "elements\n"
    "have like and unlike sizes. Every result is compared with a sum that is not rounded.\n"
    "\n"
    "  --backend LIST  devices, or `all`; default: ISOMER_BACKEND, else all\n"
    "  --variant LIST  fixed, tiled, vendor, tf32 and model (the default), naive: tf32 is the\n"
    "                  vendor's product in TF32, model one that the tool computes, rounding\n"
    "                  the inputs of a sum in f32 to 11 binary digits\n"
    "  --dtype LIST    types: f16, bf16, f32, f64; default: all of them\n"
    "  --input LIST    how the operands are made; default: all of\n"
    "                  %s\n"
    "  --size LIST     MxNxK; default 32x32x64, and the same with 256, 1024, 4096 and 8192\n"
    "  --seed N        makes different operands (default 1)\n"
    "  --json FILE     also writes JSON; - is standard output\n"
    "  --help          shows this text\n"
    "\n"
    "The tables show the last size; the file has all.\n";

enum { SIZE_MOST = 1 << 16, WORDS_ROOM = 200 };

typedef struct request {
    const char *backend, *variant, *dtype, *input, *size, *seed_text, *json;
    bool help;
    uint64_t seed;
    tool_words variants, types, inputs, sizes;
} request;

typedef struct session {
    const request *asked;
    record_targets targets;
    FILE *out;
    tool_file file;
    json_t *root;
    errors_result *results; /* of the device that is being measured */
    int32_t count, room;
    int32_t measured, errors;
} session;

/* ---- options --------------------------------------------------------------------------------- */

static const char *input_words(char text[WORDS_ROOM])
{
    text[0] = '\0';
    for (int i = 0; i < ERRORS_INPUTS; i++) {
        tool_join(text, WORDS_ROOM, i == 6 ? ",\n                  " : ", ", errors_inputs[i].name);
    }
    return text;
}

static int read_lists(request *r)
{
    static const char sizes[] = "32x32x64,32x32x256,32x32x1024,32x32x4096,32x32x8192";
    tool_names variants = {0}, inputs = {0}, types = {0};
    for (int i = 0; i < ERRORS_ROUTINES; i++) {
        tool_names_add(&variants, errors_routines[i].name);
    }
    for (int i = 0; i < ERRORS_INPUTS; i++) {
        tool_names_add(&inputs, errors_inputs[i].name);
    }
    for (int i = 0; i < 4; i++) {
        tool_names_add(&types, bench_float_types[i]);
    }
    if (!tool_split(r->variant ? r->variant : "fixed,tiled,vendor,tf32,model", &r->variants) ||
        !tool_split(r->dtype ? r->dtype : "f16,bf16,f32,f64", &r->types) ||
        !tool_split(r->input, &r->inputs) || !tool_split(r->size ? r->size : sizes, &r->sizes)) {
        tool_no_memory("the command line");
    }
    int code = tool_words_check("variant", &r->variants, &variants);
    code = code == TOOL_OK ? tool_words_check("dtype", &r->types, &types) : code;
    return code == TOOL_OK ? tool_words_check("input", &r->inputs, &inputs) : code;
}

/* False: it is no size. */
static bool read_size(const char *text, int64_t of[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        of[i] = strtoll(text, &end, 10);
        if (*text < '0' || *text > '9' || of[i] < 1 || of[i] > SIZE_MOST ||
            *end != (i < 2 ? 'x' : '\0')) {
            return false;
        }
        text = end + 1;
    }
    return of[0] * of[1] <= 1 << 24;
}

static int read_request(int argc, char **argv, request *r)
{
    const tool_option options[] = {{"backend", &r->backend, NULL}, {"variant", &r->variant, NULL},
                                   {"dtype", &r->dtype, NULL},     {"input", &r->input, NULL},
                                   {"size", &r->size, NULL},       {"seed", &r->seed_text, NULL},
                                   {"json", &r->json, NULL},       {"help", NULL, &r->help}};
    int code = tool_options(argc, argv, options, (int)(sizeof options / sizeof options[0]), NULL);
    if (code != TOOL_OK || r->help) {
        return code;
    }
    code = read_lists(r);
    for (int i = 0; i < r->sizes.count && code == TOOL_OK; i++) {
        int64_t of[3];
        if (!read_size(r->sizes.items[i], of)) {
            code = tool_error(TOOL_USAGE,
                              "--size: \"%s\" is not a size: it must be MxNxK, with whole numbers "
                              "from 1 to %d, and M times N at most %d",
                              r->sizes.items[i], SIZE_MOST, 1 << 24);
        }
    }
    r->seed = 1;
    return code == TOOL_OK ? tool_whole("seed", r->seed_text, 0, INT64_MAX, &r->seed) : code;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void add_result(session *run, const errors_result *result)
{
    if (run->count == run->room) {
        run->room = run->room * 2 + 64;
        run->results =
            tool_resize(run->results, (size_t)run->room, sizeof *run->results, "results");
    }
    run->results[run->count++] = *result;
    json_array_append_new(json_object_get(run->root, "results"), errors_json(result));
    run->measured += result->status == BENCH_OK;
    run->errors += result->status == BENCH_ERROR;
}

/* Runs a problem by a routine, with each of the vendor's libraries. */
static void run_routine(session *run, iso_device device, const errors_problem *problem,
                        errors_result *result)
{
    const errors_routine *routine = result->routine;
    bool libraries = !routine->model && routine->variant == ISO_VARIANT_VENDOR;
    for (result->library = 0; result->library < (libraries ? ERRORS_LIBRARIES : 1);
         result->library++) {
        tool_doing("measuring the errors of %s on %s", routine->name, result->device->spec);
        errors_run(device, problem, result);
        tool_doing(NULL);
        if (result->library > 0 && result->status == BENCH_UNSUPPORTED) {
            break;
        }
        add_result(run, result);
    }
}

static void run_problem(session *run, iso_device device, const iso_device_info *info,
                        const errors_problem *problem)
{
    for (int i = 0; i < ERRORS_ROUTINES && !tool_interrupted(); i++) {
        const errors_routine *routine = &errors_routines[i];
        errors_result result = {.routine = routine,
                                .dtype = problem->dtype,
                                .size = {problem->m, problem->n, problem->k},
                                .device = info};
        bool fits = routine->math != ISO_MATH_TF32 || problem->dtype == ISO_F32;
        if (fits && tool_words_have(&run->asked->variants, routine->name)) {
            run_routine(run, device, problem, &result);
        }
    }
}

static void run_device(session *run, iso_device device, const iso_device_info *info)
{
    const request *asked = run->asked;
    int64_t size[3] = {0};
    int all = asked->types.count * asked->sizes.count * ERRORS_INPUTS, done = 0;
    run->count = 0;
    for (int t = 0; t < asked->types.count; t++) {
        for (int s = 0; s < asked->sizes.count; s++) {
            for (int i = 0; i < ERRORS_INPUTS && !tool_interrupted(); i++) {
                const errors_input *input = &errors_inputs[i];
                errors_problem problem;
                iso_dtype dtype;
                done++;
                if (asked->inputs.count > 0 && !tool_words_have(&asked->inputs, input->name)) {
                    continue;
                }
                if (isatty(STDERR_FILENO)) {
                    tool_progress((double)done / all, " %s %s %s %s", info->spec,
                                  asked->types.items[t], asked->sizes.items[s], input->name);
                }
                iso_dtype_parse(asked->types.items[t], &dtype);
                read_size(asked->sizes.items[s], size);
                errors_problem_make(&problem, input, dtype, size, asked->seed);
                run_problem(run, device, info, &problem);
                tool_file_checkpoint(&run->file,
                                     run->root); /* a vendor's code may end the process */
                errors_problem_free(&problem);
            }
        }
    }
    if (isatty(STDERR_FILENO)) {
        tool_progress_end();
    }
    fprintf(run->out, "%s %s, %lldx%lldx%lld\n", info->spec, info->name, (long long)size[0],
            (long long)size[1], (long long)size[2]);
    errors_show(run->out, run->results, run->count, size);
}

static void run_devices(session *run)
{
    for (int32_t i = 0; i < run->targets.count && !tool_interrupted(); i++) {
        run_device(run, run->targets.items[i].device, &run->targets.items[i].info);
    }
}

static int execute(session *run, int argc, char **argv)
{
    tool_words specs = {0};
    double begin = tool_seconds();
    int code = tool_specs(run->asked->backend, NULL, &specs);
    code = code == TOOL_OK ? tool_file_open(&run->file, run->asked->json) : code;
    if (code == TOOL_OK) {
        run->out = run->file.stream == tool_data() ? stderr : stdout;
        run->root = json_object();
        json_t *about = record_run("errors", argc, argv);
        json_object_set_new(run->root, "schema", json_string(RECORD_SCHEMA));
        json_object_set_new(run->root, "run", about);
        json_object_set_new(run->root, "devices", json_array());
        json_object_set_new(run->root, "results", json_array());
        tool_set_int(about, "seed", (int64_t)run->asked->seed);
        tool_set_number(about, "seconds", 0);
        tool_set_bool(about, "complete", false);
        code = record_targets_open(run->root, &specs, &run->targets);
    }
    if (code == TOOL_OK) {
        json_t *about = json_object_get(run->root, "run");
        tool_stop_watch(true);
        run_devices(run);
        tool_stop_watch(false);
        tool_set_number(about, "seconds", tool_seconds() - begin);
        record_end(about, tool_interrupted());
        code = tool_file_json(&run->file, run->root);
    }
    record_targets_close(&run->targets);
    tool_file_discard(&run->file);
    tool_words_free(&specs);
    json_decref(run->root);
    free(run->results);
    if (code == TOOL_OK && tool_interrupted()) {
        return TOOL_INTERRUPTED;
    }
    if (code == TOOL_OK && run->errors > 0) {
        return tool_error(TOOL_FAILED, "%d products could not be computed", run->errors);
    }
    if (code == TOOL_OK && run->measured == 0) {
        return tool_error(TOOL_NOTHING, "nothing was measured: no product is supported");
    }
    return code;
}

int tool_errors(int argc, char **argv)
{
    request asked = {0};
    session run = {.asked = &asked, .out = stdout};
    char words[WORDS_ROOM];
    int code = read_request(argc, argv, &asked);
    if (code == TOOL_OK && asked.help) {
        printf(help, input_words(words));
    } else if (code == TOOL_OK) {
        code = execute(&run, argc, argv);
    }
    tool_words_free(&asked.variants);
    tool_words_free(&asked.types);
    tool_words_free(&asked.inputs);
    tool_words_free(&asked.sizes);
    return code;
}
