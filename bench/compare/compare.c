/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - `isomer compare`: shows the differences between two results files. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: isomer compare A.json B.json [OPTIONS]\n"
    "       isomer compare RUN.json [--device-a SPEC] [--device-b SPEC] [OPTIONS]\n"
    "       isomer compare PAIRS.json [OPTIONS]\n"
    "\n"
    "Compares the times of B with those of A, case by case, and says in a few sentences which is\n"
    "faster. A and B are two runs, two devices of one run (all of them if none is named), or the\n"
    "two sides of an `isomer bench --against`. Of two files of `isomer reveal` it says which\n"
    "orders changed.\n"
    "\n"
    "  --fail-on PERCENT       exit code 1 if a case is slower by more than PERCENT, or lost. A "
    "case\n"
    "                          is lost if only A has a result, though B measured the operation\n"
    "                          on that device\n"
    "  --least-effect PERCENT  smaller differences do not matter (default 3)\n"
    "  --device-a SPEC         the device of A: cuda:0, or just cuda if A has only one\n"
    "  --device-b SPEC         the device of B\n"
    "  --op LIST               only these operations, or single ones such as triad and sum:\n"
    "                          %s\n"
    "  --force                 compare runs with different settings too, and mark them\n"
    "  --all                   also show cases that are the same, and complete lists\n"
    "  --json FILE             write the comparison as JSON; - is standard output\n"
    "  --csv FILE              write it as CSV\n"
    "  --help                  show this text\n";

typedef struct request {
    tool_words files;
    const char *fail_on, *least_effect, *op, *json, *csv;
    bool help;
} request;

/* Reads "5" or "5%" as 0.05. */
static int percent(const char *option, const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (*end == '%') {
        end++;
    }
    if (end == text || *end != '\0' || !(value >= 0) || value > 1000) {
        return tool_error(TOOL_USAGE, "--%s %s: this must be a percentage from 0 to 1000", option,
                          text);
    }
    *out = value / 100;
    return TOOL_OK;
}

static int read_options(int argc, char **argv, request *r, compare_rules *rules)
{
    const tool_option options[] = {{"fail-on", &r->fail_on, NULL},
                                   {"least-effect", &r->least_effect, NULL},
                                   {"device-a", &rules->device_a, NULL},
                                   {"device-b", &rules->device_b, NULL},
                                   {"op", &r->op, NULL},
                                   {"json", &r->json, NULL},
                                   {"csv", &r->csv, NULL},
                                   {"force", NULL, &rules->force},
                                   {"all", NULL, &rules->all},
                                   {"help", NULL, &r->help}};
    int code =
        tool_options(argc, argv, options, (int)(sizeof options / sizeof options[0]), &r->files);
    if (code == TOOL_OK && r->files.count > 2) {
        code = tool_error(TOOL_USAGE, "\"%s\" is one file too many: compare takes at most two",
                          r->files.items[2]);
    }
    return code;
}

static int check_request(const request *r, compare_rules *rules)
{
    int code = TOOL_OK;
    if (r->files.count == 0) {
        return tool_error(TOOL_USAGE, "compare needs files: isomer compare A.json B.json");
    }
    if (r->json && r->csv && strcmp(r->json, "-") == 0 && strcmp(r->csv, "-") == 0) {
        return tool_error(TOOL_USAGE, "--json - and --csv - cannot both go to standard output");
    }
    if (r->files.count == 2 && strcmp(r->files.items[0], "-") == 0 &&
        strcmp(r->files.items[1], "-") == 0) {
        return tool_error(TOOL_USAGE, "A and B cannot both be read from standard input");
    }
    if (r->least_effect) {
        code = percent("least-effect", r->least_effect, &rules->least_effect);
    }
    if (code == TOOL_OK && r->fail_on) {
        code = percent("fail-on", r->fail_on, &rules->fail_on);
    }
    /* Differences below the least effect never fail the gate. So a lower gate lowers the least
     * effect too. */
    if (code == TOOL_OK && !r->least_effect && rules->fail_on < rules->least_effect) {
        rules->least_effect = rules->fail_on;
    }
    if (code == TOOL_OK && rules->fail_on < rules->least_effect) {
        code = tool_error(TOOL_USAGE,
                          "--fail-on %s is below --least-effect %s: differences below the least "
                          "effect never fail; lower --least-effect",
                          r->fail_on, r->least_effect);
    }
    return code;
}

static int check_ops(const compare_set *set)
{
    tool_names known = {0};
    bench_op_names(&known);
    for (int i = 0; i < set->rules.ops->count; i++) {
        char text[512];
        const char *word = set->rules.ops->items[i];
        if (!bench_op_recorded(word) && tool_find(known.items, word) < 0) {
            tool_say_unknown(text, sizeof text, word, known.items);
            return tool_error(TOOL_USAGE, "--op: %s", text);
        }
    }
    return TOOL_OK;
}

bool compare_wants(const compare_set *set, const json_t *result)
{
    const tool_words *ops = set->rules.ops;
    return !ops || ops->count == 0 ||
           bench_op_listed(ops, bench_op_of(record_text(result, "op")),
                           record_text(result, "kind"));
}

int compare_code(const compare_set *set)
{
    int32_t judged = 0;
    for (int32_t i = 0; i < set->count; i++) {
        judged += set->rows[i].judged;
    }
    if (compare_summary(set, NULL).worse > 0) {
        return TOOL_FAILED;
    }
    if (judged == 0) {
        return tool_error(TOOL_NOTHING, "no case has times on both sides: nothing was compared");
    }
    return TOOL_OK;
}

/* Fills and judges the rows. */
static int judge(compare_set *set)
{
    bool pairs = json_is_array(json_object_get(set->a, "pairs"));
    if (!set->b && pairs) {
        compare_pairs_read(set);
        return TOOL_OK;
    }
    bool every = !set->b && (!set->rules.device_a || !set->rules.device_b);
    if (!set->b) {
        set->b = set->a;
        set->path_b = set->path_a;
    }
    if (every && isfinite(set->rules.fail_on)) {
        return tool_error(TOOL_USAGE, "--fail-on compares two sides: give a second file, or choose "
                                      "two devices with --device-a and --device-b");
    }
    if (every) {
        return compare_every(set);
    }
    if (pairs && set->a != set->b) {
        fprintf(stderr,
                "isomer: %s contains pairs, but only its rounds are compared here; `isomer compare "
                "%s` shows the pairs\n",
                set->path_a, set->path_a);
    }
    int code = compare_match(set);
    if (code == TOOL_OK) {
        compare_judge(set);
    }
    return code;
}

static int write_all(const compare_set *set, tool_file *json, tool_file *csv)
{
    FILE *out = json->stream == tool_data() || csv->stream == tool_data() ? stderr : stdout;
    int code = TOOL_OK;
    compare_show(out, set, tool_width(out), tool_colour(out));
    if (json->path) {
        json_t *root = compare_json(set);
        code = tool_file_json(json, root);
        json_decref(root);
    }
    if (csv->path && code == TOOL_OK) {
        compare_csv(csv->stream, set);
        code = tool_file_commit(csv);
    }
    return code == TOOL_OK ? compare_code(set) : code;
}

static int load(const request *r, compare_set *set, json_t **documents)
{
    int code = TOOL_OK;
    for (int i = 0; i < r->files.count && code == TOOL_OK; i++) {
        documents[i] = record_load(r->files.items[i], &code);
    }
    set->a = documents[0];
    set->b = documents[1];
    set->path_a = r->files.items[0];
    set->path_b = r->files.items[1];
    return code;
}

int tool_compare(int argc, char **argv)
{
    request r = {.fail_on = NULL};
    tool_words ops = {0};
    tool_file json = {0}, csv = {0};
    json_t *documents[2] = {NULL, NULL};
    compare_set set = {
        .rules = {
            .least_effect = STATS_LEAST_EFFECT, .alpha = STATS_ALPHA, .fail_on = NAN, .ops = &ops}};
    int code = read_options(argc, argv, &r, &set.rules);
    if (code != TOOL_OK || r.help) {
        if (code == TOOL_OK) {
            printf(help, bench_op_words());
        }
        goto end;
    }
    if (!tool_split(r.op, &ops)) {
        code = tool_error(TOOL_INTERNAL, "no memory for the command line");
    }
    if (code != TOOL_OK || (code = check_request(&r, &set.rules)) != TOOL_OK ||
        (code = check_ops(&set)) != TOOL_OK || (code = tool_file_open(&json, r.json)) != TOOL_OK ||
        (code = tool_file_open(&csv, r.csv)) != TOOL_OK ||
        (code = load(&r, &set, documents)) != TOOL_OK) {
        goto end;
    }
    if (compare_has_orders(set.a) || compare_has_orders(set.b)) {
        code = compare_orders(&set, r.json || r.csv);
        goto end;
    }
    if ((code = judge(&set)) != TOOL_OK) {
        goto end;
    }
    code = write_all(&set, &json, &csv);
end:
    tool_file_discard(&json);
    tool_file_discard(&csv);
    compare_free(&set);
    json_decref(documents[0]);
    json_decref(documents[1]);
    tool_words_free(&ops);
    tool_words_free(&r.files);
    return code;
}
