/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer reveal`: the order in which routines add. */
#include "bench/record/record.h"
#include "bench/reveal/reveal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: isomer reveal [OPTIONS]\n"
    "\n"
    "Finds the order in which a routine adds the terms of a result, by running it on numbers that\n"
    "cancel, and checks it on random numbers. `isomer compare` says whether an order changed.\n"
    "\n"
    "  --backend LIST   devices, or `all`; default: ISOMER_BACKEND, else all\n"
    "  --op LIST        gemm (the default), gemv, sum, dot, or reduce for the last two\n"
    "  --variant LIST   variants: vendor (the default), naive, tiled, partials\n"
    "  --dtype LIST     types: f16, bf16, f32, f64; default: all of them\n"
    "  --size LIST      of gemm MxNxK (default 64x64x4096), of gemv MxK (64x4096), of reductions\n"
    "                   K or MxK (10000): M sequences of K terms\n"
    "  --library TEXT   only vendors' libraries whose name contains this text\n"
    "  --math MODE      strict (the default) or tf32\n"
    "  --budget SECONDS stops a case after this time (default 60)\n"
    "  --tree           also prints each order as a tree\n"
    "  --json FILE      also writes JSON; - is standard output\n"
    "  --help           shows this text\n";

enum { LIBRARIES = 4, TERMS_MOST = 1 << 22, TREE_SHOWN = 16384 };

typedef struct request {
    const char *backend, *op, *variant, *dtype, *size, *library, *math, *budget, *json;
    bool tree, help;
    double seconds;
    iso_math mode;
    tool_words ops, variants, types, sizes;
} request;

typedef struct session {
    const request *asked;
    record_targets targets;
    FILE *out;
    tool_file file;
    json_t *root, *results;
    int32_t counts[BENCH_STATUSES];
    int32_t passed_over; /* routines of other libraries than --library wants */
} session;

/* ---- options --------------------------------------------------------------------------------- */

static int read_lists(request *r)
{
    static const char *const variants[] = {"naive", "tiled", "vendor", "partials"};
    tool_names ops = {0}, names = {0}, types = {0};
    for (int i = 0; i < REVEAL_OPS; i++) {
        tool_names_add(&ops, reveal_ops[i].name);
    }
    tool_names_add(&ops, "reduce");
    for (int i = 0; i < 4; i++) {
        tool_names_add(&names, variants[i]);
        tool_names_add(&types, bench_float_types[i]);
    }
    if (!tool_split(r->op ? r->op : "gemm", &r->ops) ||
        !tool_split(r->variant ? r->variant : "vendor", &r->variants) ||
        !tool_split(r->dtype ? r->dtype : "f16,bf16,f32,f64", &r->types) ||
        !tool_split(r->size, &r->sizes)) {
        tool_no_memory("the command line");
    }
    int code = tool_words_check("op", &r->ops, &ops);
    code = code == TOOL_OK ? tool_words_check("variant", &r->variants, &names) : code;
    return code == TOOL_OK ? tool_words_check("dtype", &r->types, &types) : code;
}

/* Reads "64x64x4096". Returns how many numbers there are; 0: it is no size. */
static int32_t read_size(const char *text, int64_t of[3])
{
    int32_t count = 0;
    for (const char *at = text; count < 3;) {
        char *end;
        of[count] = strtoll(at, &end, 10);
        if (*at < '0' || *at > '9' || of[count] < 1 || of[count] > TERMS_MOST) {
            return 0;
        }
        count++;
        if (*end == '\0') {
            return count;
        }
        if (*end != 'x') {
            return 0;
        }
        at = end + 1;
    }
    return 0;
}

/* Whether --op asks for an operation. */
static bool wants(const request *r, const reveal_op *op)
{
    return tool_words_have(&r->ops, op->name) ||
           (op->row == &bench_reduce && tool_words_have(&r->ops, "reduce"));
}

static int check_math(const request *r)
{
    bool fits = !r->math;
    for (int o = 0; o < REVEAL_OPS; o++) {
        fits = fits || (wants(r, &reveal_ops[o]) && reveal_ops[o].row->maths);
    }
    return fits ? TOOL_OK
                : tool_error(TOOL_USAGE, "--math %s: of the operations, only gemm has math modes",
                             r->math);
}

static int check_sizes(const request *r)
{
    for (int i = 0; i < r->sizes.count; i++) {
        int64_t of[3];
        int32_t count = read_size(r->sizes.items[i], of);
        bool fits = false;
        for (int o = 0; o < REVEAL_OPS; o++) {
            const reveal_op *op = &reveal_ops[o];
            fits = fits || (wants(r, op) && count >= op->least && count <= op->most);
        }
        if (count == 0) {
            return tool_error(
                TOOL_USAGE,
                "--size: \"%s\" is not a size: it must be MxNxK, MxK or K, with whole "
                "numbers from 1 to %d",
                r->sizes.items[i], TERMS_MOST);
        }
        if (!fits) {
            return tool_error(TOOL_USAGE,
                              "--size: no operation that was asked for has %d number%s, as in "
                              "\"%s\"; see `isomer help reveal`",
                              count, count == 1 ? "" : "s", r->sizes.items[i]);
        }
    }
    return TOOL_OK;
}

static int read_request(int argc, char **argv, request *r)
{
    const tool_option options[] = {{"backend", &r->backend, NULL}, {"op", &r->op, NULL},
                                   {"variant", &r->variant, NULL}, {"dtype", &r->dtype, NULL},
                                   {"size", &r->size, NULL},       {"library", &r->library, NULL},
                                   {"math", &r->math, NULL},       {"budget", &r->budget, NULL},
                                   {"json", &r->json, NULL},       {"tree", NULL, &r->tree},
                                   {"help", NULL, &r->help}};
    int code = tool_options(argc, argv, options, (int)(sizeof options / sizeof options[0]), NULL);
    if (code != TOOL_OK || r->help) {
        return code;
    }
    r->seconds = 60;
    r->mode = ISO_MATH_STRICT;
    if (r->budget) {
        char *end;
        r->seconds = strtod(r->budget, &end);
        if (end == r->budget || *end != '\0' || !(r->seconds > 0) || r->seconds > 1e6) {
            return tool_error(TOOL_USAGE,
                              "--budget must be seconds above 0 and at most 1000000, not \"%s\"",
                              r->budget);
        }
    }
    if (r->math && iso_math_parse(r->math, &r->mode) != ISO_OK) {
        return tool_error(TOOL_USAGE, "--math: %s", tool_reason());
    }
    code = read_lists(r);
    code = code == TOOL_OK ? check_math(r) : code;
    return code == TOOL_OK ? check_sizes(r) : code;
}

/* ---- one routine ----------------------------------------------------------------------------- */

/* Finds the order of a class of results. */
static bool find_order(reveal_routine *r, reveal_result *result)
{
    reveal_order *order = &result->orders[result->order_count];
    reveal_search search;
    reveal_outcome outcome =
        reveal_find((int32_t)result->item.k, reveal_ask_routine, r, &order->tree, &search);
    result->questions += search.questions;
    if (outcome == REVEAL_STOPPED && r->status == BENCH_SKIPPED) {
        char why[sizeof r->problem];
        memcpy(why, r->problem, sizeof why);
        return reveal_fail(r, BENCH_SKIPPED, "%.100s; the places of %d of %lld terms are known",
                           why, search.placed, (long long)result->item.k);
    }
    if (outcome == REVEAL_CONTRADICTION) {
        return reveal_fail(r, BENCH_FAILED, "%s", search.problem);
    }
    return outcome == REVEAL_FOUND && reveal_check(r, order);
}

static void find_orders(reveal_result *result, iso_device device, double seconds)
{
    reveal_routine r = {0};
    reveal_class classes[REVEAL_CLASSES] = {{0}};
    reveal_case item = result->item;
    double begin = tool_seconds();
    item.math = result->info.math; /* strict if there is no TF32 */
    bool good = reveal_open(&r, device, &item, seconds) && reveal_calibrate(&r);
    if (good) {
        result->classes = reveal_classify(&r, classes);
        good = result->classes > 0;
    }
    while (good && result->order_count < REVEAL_CLASSES && result->order_count < result->classes) {
        reveal_order *order = &result->orders[result->order_count];
        r.in = &classes[result->order_count];
        memcpy(order->where, r.in->where, sizeof order->where);
        good = find_order(&r, result);
        result->order_count += good;
    }
    result->status = good ? BENCH_OK : r.status;
    if (!good && r.in && r.in->where[0] != '\0') {
        snprintf(result->reason, sizeof result->reason, "%s: %s", r.in->where, r.problem);
    } else if (!good) {
        snprintf(result->reason, sizeof result->reason, "%s", r.problem);
    }
    result->calls = r.calls;
    result->seconds = tool_seconds() - begin;
    reveal_classes_free(classes);
    reveal_close(&r);
}

static void wrapped(FILE *out, int indent, char *text)
{
    fprintf(out, "%*s", indent, "");
    tool_wrap(out, indent, 4, text);
    free(text);
}

static void show(const session *run, const reveal_result *r)
{
    wrapped(run->out, 2, reveal_line(r));
    for (int32_t i = 0; i < r->order_count && r->status == BENCH_OK; i++) {
        const reveal_order *o = &r->orders[i];
        wrapped(
            run->out, 4,
            record_format("%s%s%s; depth %d; digest %.16s; as predicted: %d further answers, %d "
                          "results of random numbers",
                          o->where, o->where[0] != '\0' ? ": " : "", o->arithmetic,
                          reveal_tree_depth(&o->tree), o->digest, o->pairs, o->values));
        if (run->asked->tree) {
            char *tree = reveal_tree_brackets(&o->tree, TREE_SHOWN);
            fprintf(run->out, "    %s\n", tree);
            free(tree);
        }
    }
}

static void add_result(session *run, const reveal_result *r)
{
    show(run, r);
    json_array_append_new(run->results, reveal_result_json(r));
    tool_file_checkpoint(&run->file, run->root); /* a vendor's code may end the process */
    run->counts[r->status]++;
}

/* One case on each of the vendor's libraries, or on the only one. */
static void run_case(session *run, const record_target *on, const reveal_case *item)
{
    const char *wanted = run->asked->library;
    for (int32_t library = 0; library < LIBRARIES; library++) {
        reveal_result result = {.item = *item, .device = &on->info};
        result.item.library = library;
        iso_status status = reveal_describe(on->device, &result.item, &result.info);
        tool_need_memory(status);
        if (status != ISO_OK && library > 0) {
            break;
        }
        if (status == ISO_OK && wanted && !strstr(result.info.library, wanted)) {
            run->passed_over++;
            continue;
        }
        if (tool_interrupted()) {
            break;
        }
        if (status == ISO_OK) {
            tool_doing("revealing %s on %s", item->op->name, on->info.spec);
            find_orders(&result, on->device, run->asked->seconds);
            tool_doing(NULL);
        } else {
            result.status = status == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_ERROR;
            snprintf(result.reason, sizeof result.reason, "%s", tool_reason());
            result.info = (iso_op_info)ISO_OP_INFO_INIT;
        }
        add_result(run, &result);
        for (int32_t i = 0; i < REVEAL_CLASSES; i++) {
            reveal_tree_free(&result.orders[i].tree);
            free(result.orders[i].words);
        }
        if (item->variant != ISO_VARIANT_VENDOR || !item->op->row->libraries) {
            break;
        }
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

/* False: the operation takes no size of this form. */
static bool run_size(session *run, const record_target *on, const reveal_op *op, const char *size)
{
    const request *asked = run->asked;
    int64_t of[3];
    int32_t count = read_size(size, of);
    if (count < op->least || count > op->most) {
        return false;
    }
    for (int v = 0; v < asked->variants.count; v++) {
        for (int t = 0; t < asked->types.count; t++) {
            reveal_case item = {.op = op,
                                .m = count > 1 ? of[0] : 1,
                                .n = count > 2 ? of[1] : 1,
                                .k = of[count - 1],
                                .math = op->row->maths ? asked->mode : ISO_MATH_STRICT};
            iso_variant_parse(asked->variants.items[v], &item.variant);
            iso_dtype_parse(asked->types.items[t], &item.dtype);
            run_case(run, on, &item);
        }
    }
    return true;
}

static void run_device(session *run, const record_target *on)
{
    static const char *const usual[] = {"10000", "64x4096", "64x64x4096"};
    char *title = record_format("%s %s", on->info.spec, on->info.name);
    fprintf(run->out, "%s\n", title);
    free(title);
    for (int o = 0; o < REVEAL_OPS; o++) {
        const reveal_op *op = &reveal_ops[o];
        if (!wants(run->asked, op)) {
            continue;
        }
        bool sized = false;
        for (int s = 0; s < run->asked->sizes.count; s++) {
            sized |= run_size(run, on, op, run->asked->sizes.items[s]);
        }
        if (!sized) {
            run_size(run, on, op, usual[op->least - 1]);
        }
    }
}

static void run_devices(session *run)
{
    json_t *about = json_object_get(run->root, "run");
    double begin = tool_seconds();
    tool_set_number(about, "seconds", 0);
    tool_set_bool(about, "complete", false);
    tool_stop_watch(true);
    for (int i = 0; i < run->targets.count && !tool_interrupted(); i++) {
        run_device(run, &run->targets.items[i]);
    }
    tool_stop_watch(false);
    tool_set_number(about, "seconds", tool_seconds() - begin);
    record_end(about, tool_interrupted());
}

/* The exit code of a run whose file was written. */
static int outcome(const session *run)
{
    if (tool_interrupted()) {
        return TOOL_INTERRUPTED;
    }
    if (run->counts[BENCH_FAILED] + run->counts[BENCH_ERROR] > 0) {
        return TOOL_FAILED;
    }
    if (run->counts[BENCH_OK] > 0) {
        return TOOL_OK;
    }
    if (run->counts[BENCH_SKIPPED] > 0) {
        return tool_error(TOOL_NOTHING, "nothing was revealed: no case was finished in its time; "
                                        "--budget gives each more");
    }
    if (run->passed_over > 0) {
        return tool_error(TOOL_NOTHING, "nothing was revealed: no library has \"%s\" in its name",
                          run->asked->library);
    }
    return tool_error(TOOL_NOTHING, "nothing was revealed: no routine is supported");
}

static int execute(session *run, int argc, char **argv)
{
    tool_words specs = {0};
    run->root = json_object();
    run->results = json_array();
    json_object_set_new(run->root, "schema", json_string(RECORD_SCHEMA));
    json_object_set_new(run->root, "run", record_run("reveal", argc, argv));
    json_object_set_new(run->root, "devices", json_array());
    json_object_set_new(run->root, "results", run->results);
    int code = tool_specs(run->asked->backend, NULL, &specs);
    code = code == TOOL_OK ? record_targets_open(run->root, &specs, &run->targets) : code;
    code = code == TOOL_OK ? tool_file_open(&run->file, run->asked->json) : code;
    if (code == TOOL_OK) {
        run->out = run->file.stream == tool_data() ? stderr : stdout;
        run_devices(run);
        code = tool_file_json(&run->file, run->root);
    }
    record_targets_close(&run->targets);
    tool_file_discard(&run->file);
    tool_words_free(&specs);
    json_decref(run->root);
    return code == TOOL_OK ? outcome(run) : code;
}

int tool_reveal(int argc, char **argv)
{
    request asked = {0};
    session run = {.asked = &asked};
    int code = read_request(argc, argv, &asked);
    if (code == TOOL_OK && asked.help) {
        fputs(help, stdout);
    } else if (code == TOOL_OK) {
        code = execute(&run, argc, argv);
    }
    tool_words_free(&asked.ops);
    tool_words_free(&asked.variants);
    tool_words_free(&asked.types);
    tool_words_free(&asked.sizes);
    return code;
}
