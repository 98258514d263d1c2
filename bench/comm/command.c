/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer bench --comm`: the command line, the ranks and the document. */
#include "bench/comm/scale.h"

#include "bench/record/record.h"
#include "bench/workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_USUAL = 2, GPUS_MOST = 16, SPEC = 96 /* of a rank, in a world */ };

static const char *const usual_timeout = "60";

bool scale_wants(const tool_words *words, const char *word)
{
    return words->count == 0 || tool_words_have(words, word);
}

/* ---- the command line ------------------------------------------------------------------------ */

static int read_words(const char *option, const char *text, const char *const *known,
                      tool_words *out)
{
    tool_names names = {0};
    for (int i = 0; known[i]; i++) {
        tool_names_add(&names, known[i]);
    }
    if (text && !tool_split(text, out)) {
        tool_no_memory(option);
    }
    return text ? tool_words_check(option, out, &names) : TOOL_OK;
}

static int read_size(const char *option, const char *text, int64_t *out)
{
    bench_size size;
    if (!work_size_parse(text, &size) || size.count != 1 || size.beyond_cache) {
        return tool_error(TOOL_USAGE, "--%s: \"%s\" must be a number such as 1024, 4Ki or 2Gi",
                          option, text);
    }
    *out = size.of[0];
    return TOOL_OK;
}

static int compare_sizes(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int read_sizes(scale_run *run)
{
    tool_words words = {0};
    int code = TOOL_OK;
    if (!run->options->size) {
        for (int64_t size = 8; size <= (int64_t)1 << 31; size *= 4) {
            run->sizes[run->size_count++] = size;
        }
        run->sizes[run->size_count++] = (int64_t)1 << 32;
        return TOOL_OK;
    }
    if (!tool_split(run->options->size, &words)) {
        tool_no_memory("--size");
    }
    for (int i = 0; i < words.count && code == TOOL_OK && i < SCALE_LIST; i++) {
        code = read_size("size", words.items[i], &run->sizes[run->size_count++]);
    }
    if (code == TOOL_OK && (words.count == 0 || words.count > SCALE_LIST)) {
        code = tool_error(TOOL_USAGE, "--size must have 1 to %d sizes", SCALE_LIST);
    }
    qsort(run->sizes, (size_t)run->size_count, sizeof run->sizes[0], compare_sizes);
    tool_words_free(&words);
    return code;
}

static int read_types(scale_run *run)
{
    static const char *const known[] = {"f16", "bf16", "f32", "f64", "i32", "i64", NULL};
    tool_words words = {0};
    run->dtypes[run->dtype_count++] = ISO_F32;
    int code = read_words("dtype", run->options->dtype, known, &words);
    for (int i = 0; i < words.count && code == TOOL_OK && i < 6; i++) {
        run->dtype_count = i + 1;
        (void)iso_dtype_parse(words.items[i], &run->dtypes[i]);
    }
    tool_words_free(&words);
    return code;
}

static bool has_products(const scale_run *run)
{
    bool has_type = !run->options->dtype || tool_words_have(&run->ops, "gemm");
    for (int32_t i = 0; i < run->dtype_count; i++) {
        has_type = has_type || scale_multiplies(run->dtypes[i]);
    }
    if (!has_type) {
        return false;
    }
    return run->options->size ? tool_words_have(&run->ops, "gemm") : scale_wants(&run->ops, "gemm");
}

static bool has_moves(const scale_run *run)
{
    return run->ops.count == 0 || !tool_words_have(&run->ops, "gemm") || run->ops.count > 1;
}

static int check_options(scale_run *run)
{
    const scale_options *options = run->options;
    int code = TOOL_OK;
    if (options->size && run->ops.count > 1 && tool_words_have(&run->ops, "gemm")) {
        return tool_error(TOOL_USAGE, "--size is N of gemm and bytes of the other operations: "
                                      "measure gemm in a run of its own");
    }
    for (int32_t i = 0; has_products(run) && options->dtype && i < run->dtype_count; i++) {
        if (!scale_multiplies(run->dtypes[i]) && tool_words_have(&run->ops, "gemm")) {
            return tool_error(TOOL_USAGE, "--dtype %s: products over ranks are of f32 and f64",
                              iso_dtype_name(run->dtypes[i]));
        }
    }
    if (options->memory) {
        code = read_size("memory", options->memory, &run->memory);
    }
    if (code == TOOL_OK && options->beside) {
        json_t *none = json_array();
        code = scale_beside(options->beside, none);
        json_decref(none);
    }
    return code;
}

static int read_options(scale_run *run)
{
    static const char *const ops[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                      "all_to_all", "send_receive",   "send",       "copy",
                                      "barrier",    "gemm",           NULL};
    static const char *const variants[] = {"vendor", "ordered", "fixed", "tiled", NULL};
    const scale_options *options = run->options;
    int code = read_words("op", options->op, ops, &run->ops);
    code =
        code == TOOL_OK ? read_words("variant", options->variant, variants, &run->variants) : code;
    code = code == TOOL_OK ? read_types(run) : code;
    code = code == TOOL_OK ? read_sizes(run) : code;
    return code == TOOL_OK ? check_options(run) : code;
}

/* ---- the ranks ------------------------------------------------------------------------------- */

/* Without --ranks: every GPU of the backend, or two ranks on other devices. */
static int find_counts(scale_run *run, const ranks_options *options)
{
    ranks_options one = *options;
    run->count_count = 1;
    if (ranks_is_world(options)) {
        run->counts[0] = 1;
        return TOOL_OK;
    }
    if (options->ranks) {
        return ranks_counts(options->ranks, run->counts, SCALE_LIST, &run->count_count);
    }
    int code = ranks_open(&one, 1, &run->team);
    if (code == TOOL_OK) {
        const bool once = ranks_is_once(&ranks_at(run->team, 0)->info);
        run->counts[0] = once ? GPUS_MOST : RANKS_USUAL;
        ranks_close(run->team);
        run->team = NULL;
    }
    return code;
}

static int join(scale_run *run, int32_t count)
{
    if (!ranks_in_world(run->team) && !ranks_join(run->team, count)) {
        return tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    run->ranks = ranks_count(run->team);
    return TOOL_OK;
}

static int32_t most_ranks(const scale_run *run)
{
    int32_t most = 1;
    for (int32_t i = 0; i < run->count_count; i++) {
        most = run->counts[i] > most ? run->counts[i] : most;
    }
    return most;
}

int scale_open(const scale_options *options, scale_run **out)
{
    scale_run *run = tool_alloc(1, sizeof *run, "the ranks");
    ranks_options ranks = options->ranks;
    *out = run;
    run->options = options;
    ranks.timeout = ranks.timeout ? ranks.timeout : usual_timeout;
    int code = read_options(run);
    code = code == TOOL_OK ? find_counts(run, &ranks) : code;
    const int32_t most = most_ranks(run);
    code = code == TOOL_OK ? ranks_open(&ranks, most, &run->team) : code;
    if (code != TOOL_OK) {
        return code;
    }
    if (!ranks_in_world(run->team) && ranks_most(run->team) < most) {
        run->counts[0] = ranks_most(run->team);
    }
    return join(run, run->counts[0]);
}

void scale_close(scale_run *run)
{
    if (run->team) {
        scale_release(run);
        ranks_close(run->team);
    }
    scale_data_free(&run->data);
    tool_words_free(&run->ops);
    tool_words_free(&run->variants);
    json_decref(run->devices);
    free(run);
}

bool scale_speaks(const scale_run *run)
{
    return ranks_speaks(run->team);
}

/* What ends with a communicator that failed is not a success, though nothing was wrong until then.
 */
static int lost(const scale_run *run, int code)
{
    return code != TOOL_OK ? code
                           : tool_error(TOOL_FAILED,
                                        "the communicator of %d ranks failed, so the results end "
                                        "before the run does: %s",
                                        run->ranks, run->lost);
}

int scale_settle(scale_run *run, int code)
{
    double mine[RANKS_MOST];
    for (int32_t i = 0; i < scale_here(run); i++) {
        mine[i] = code;
    }
    if (run->over || scale_here(run) == 0) {
        return code;
    }
    const double most = scale_most(run, mine);
    return run->over ? lost(run, code) : (int)most;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The specs of all ranks' devices. */
static void find_devices(scale_run *run)
{
    char(*mine)[SPEC] = tool_alloc((size_t)scale_here(run), SPEC, "the devices");
    char(*all)[SPEC] = tool_alloc((size_t)run->ranks, SPEC, "the devices");
    for (int32_t i = 0; i < scale_here(run); i++) {
        snprintf(mine[i], SPEC, "%.*s", SPEC - 1, ranks_at(run->team, i)->info.spec);
    }
    json_decref(run->devices);
    run->devices = json_array();
    if (ranks_gather(run->team, mine, SPEC, all)) {
        for (int32_t i = 0; i < run->ranks; i++) {
            json_array_append_new(run->devices, tool_json_text(all[i]));
        }
    } else {
        scale_lose(run);
    }
    free(mine);
    free(all);
}

/* Measures the calls on this number of ranks, until these seconds of the run have passed. */
static void run_calls(scale_run *run, double until)
{
    const double began = scale_now(run), for_moves = 0.85 * (until - began);
    find_devices(run);
    for (int32_t t = 0; t < run->dtype_count && !run->over; t++) {
        scale_release(run);
        if (!scale_data_make(&run->data, run->dtypes[t], run->ranks, run->options->seed)) {
            tool_no_memory("the data of ranks");
        }
        scale_moves(run, began + for_moves * (t + 1) / run->dtype_count);
        if (t == 0 && !run->over) {
            scale_links(run, until);
        }
    }
    scale_release(run);
}

/* Measures the calls on each number of ranks, and then products, which take some of the most ranks.
 */
static int run_all(scale_run *run)
{
    const bool products = has_products(run);
    const double for_calls = run->options->budget * (products ? 0.5 : 1);
    int code = TOOL_OK;
    for (int32_t i = 0; i < run->count_count && has_moves(run) && code == TOOL_OK && !run->over;
         i++) {
        code = join(run, run->counts[i]);
        if (code == TOOL_OK) {
            run_calls(run, for_calls * (i + 1) / run->count_count);
        }
    }
    if (products && code == TOOL_OK && !run->over) {
        code = join(run, most_ranks(run));
        if (code == TOOL_OK) {
            find_devices(run);
            scale_products(run, run->options->budget);
        }
    }
    return code;
}

/* Adds the devices of this process to the document. */
static void add_devices(const scale_run *run, json_t *devices)
{
    for (int32_t i = 0; i < ranks_open_here(run->team); i++) {
        const ranks_seat *seat = ranks_at(run->team, i);
        bool seen = false;
        for (int32_t j = 0; j < i && !seen; j++) {
            seen = strcmp(ranks_at(run->team, j)->info.spec, seat->info.spec) == 0;
        }
        if (!seen) {
            json_array_append_new(devices, record_device(seat->device));
        }
    }
}

static int code_of(scale_run *run)
{
    size_t at, ok = 0;
    const json_t *entry;
    int code = TOOL_OK;
    json_array_foreach(run->entries, at, entry)
    {
        const char *status = record_text(entry, "status");
        ok += strcmp(status, "ok") == 0;
        if (strcmp(status, "failed") == 0 || strcmp(status, "error") == 0) {
            const char *variant = record_text(entry, "variant");
            code = TOOL_FAILED;
            if (ranks_speaks(run->team)) {
                tool_error(code, "%s%s%s, %.0f bytes, %.0f ranks: %s", record_text(entry, "op"),
                           variant[0] ? " " : "", variant, record_number(entry, "bytes"),
                           record_number(entry, "ranks"), record_text(entry, "reason"));
            }
        }
    }
    if (run->over) {
        return lost(run, code);
    }
    return code == TOOL_OK && ok == 0
               ? tool_error(TOOL_NOTHING, "no call of a communicator was measured")
               : code;
}

void scale_keep(const scale_run *run)
{
    if (run->file) {
        (void)tool_file_checkpoint(run->file, run->root); /* it reports what fails */
    }
}

int scale_measure(scale_run *run, json_t *root, tool_file *file)
{
    json_t *about = json_object_get(root, "run");
    run->entries = json_array();
    run->fits = json_array();
    json_object_set_new(root, "comm", run->entries);
    json_object_set_new(root, "comm_fits", run->fits);
    add_devices(run, json_object_get(root, "devices"));
    tool_set_bool(about, "complete", false);
    run->root = root;
    run->file = file;
    run->began = tool_seconds();
    tool_stop_watch(true);
    int code = run_all(run);
    const bool stopped = run->stopped || tool_stop_asked();
    tool_stop_watch(false);
    if (tool_colour(stderr)) {
        tool_progress_end();
    }
    scale_fit(run->entries, run->fits);
    if (run->options->beside && code == TOOL_OK) {
        code = scale_beside(run->options->beside, run->entries);
    }
    tool_set_number(about, "seconds", tool_seconds() - run->began);
    json_object_set_new(about, "finished", record_now());
    record_end(about, stopped);
    if (run->over) {
        tool_set_bool(about, "complete", false);
    }
    return stopped ? TOOL_INTERRUPTED : code != TOOL_OK ? code : code_of(run);
}
