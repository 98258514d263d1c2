/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer history`: the results of many runs, and how each case changed over time. */
#include "bench/history/history.h"
#include "bench/ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: isomer history add RESULTS.json... [--dir DIR] [--force]\n"
    "       isomer history show [OPTIONS]\n"
    "       isomer history list [--dir DIR]\n"
    "       isomer history remove RUN... [--dir DIR]\n"
    "\n"
    "Keeps the results of many runs in one database, by machine, device, driver and commit. "
    "`show`\n"
    "lists each case over time, plots it if there are at most three, and says with which run it\n"
    "changed. Ten runs are the fewest in which a change is searched.\n"
    "\n"
    "  --dir DIR          the folder of the database (default: isomer in XDG_DATA_HOME, or in\n"
    "                     ~/.local/share)\n"
    "  --force            add: also takes results of stand-ins made for tests\n"
    "  --op LIST          show: only these operations:\n"
    "                     %s\n"
    "  --case PATTERN     show: only cases whose id contains this text, or matches it with * and "
    "?\n"
    "  --device SPEC      show: only this device: cuda:0, or cuda for all of that backend\n"
    "  --machine NAME     show: only this machine\n"
    "  --dtype TYPE       show: only this type\n"
    "  --last N           show: only the newest N runs of each case\n"
    "  --fail-on PERCENT  show: exit code 1 if a case became slower by more than PERCENT with one\n"
    "                     of the newest runs, and still is; 4 if no case has ten runs\n"
    "  --within N         show: how many of the newest runs --fail-on looks at (default 7)\n"
    "  --json FILE        show: also writes JSON; - is standard output\n"
    "  --csv FILE         show: also writes CSV\n"
    "  --help             shows this text\n";

typedef struct request {
    tool_words words; /* the action and its arguments */
    const char *dir, *op, *last, *fail_on, *within, *json, *csv;
    bool force, help;
    tool_words ops;
    history_filter filter;
} request;

/* ---- options --------------------------------------------------------------------------------- */

static int number(const char *option, const char *text, double least, double *out)
{
    char *end;
    if (!text) {
        return TOOL_OK;
    }
    *out = strtod(text, &end);
    end += *end == '%';
    if (end == text || *end != '\0' || !(*out >= least) || *out > 1e6) {
        return tool_error(TOOL_USAGE, "--%s must be a number of at least %g, not \"%s\"", option,
                          least, text);
    }
    return TOOL_OK;
}

/* Replaces the words of --op by those of files. */
static int read_ops(request *r)
{
    const char *known[BENCH_OPS + 2] = {NULL};
    for (int i = 0; i < BENCH_OPS; i++) {
        known[i] = bench_ops[i]->name;
    }
    known[BENCH_OPS] = bench_kernel.name;
    if (!tool_split(r->op, &r->ops)) {
        tool_no_memory("the command line");
    }
    for (int i = 0; i < r->ops.count; i++) {
        char text[512];
        const bench_op *op = bench_op_recorded(r->ops.items[i]);
        if (!op) {
            tool_say_unknown(text, sizeof text, r->ops.items[i], known);
            return tool_error(TOOL_USAGE, "--op: %s", text);
        }
        r->ops.items[i] = op->measured;
    }
    return TOOL_OK;
}

static int read_request(int argc, char **argv, request *r)
{
    history_filter *f = &r->filter;
    const tool_option options[] = {
        {"dir", &r->dir, NULL},       {"op", &r->op, NULL},           {"case", &f->pattern, NULL},
        {"device", &f->device, NULL}, {"machine", &f->machine, NULL}, {"dtype", &f->dtype, NULL},
        {"last", &r->last, NULL},     {"fail-on", &r->fail_on, NULL}, {"within", &r->within, NULL},
        {"json", &r->json, NULL},     {"csv", &r->csv, NULL},         {"force", NULL, &r->force},
        {"help", NULL, &r->help}};
    double last = 0, within = 7, fail_on = NAN;
    int code =
        tool_options(argc, argv, options, (int)(sizeof options / sizeof options[0]), &r->words);
    if (code != TOOL_OK || r->help) {
        return code;
    }
    code = read_ops(r);
    code = code == TOOL_OK ? number("last", r->last, 1, &last) : code;
    code = code == TOOL_OK ? number("within", r->within, 1, &within) : code;
    code = code == TOOL_OK ? number("fail-on", r->fail_on, 0, &fail_on) : code;
    if (code == TOOL_OK && r->json && r->csv && strcmp(r->json, r->csv) == 0) {
        code = tool_error(TOOL_USAGE, "--json and --csv need different files");
    }
    f->ops = &r->ops;
    f->last = (int)last;
    f->within = (int)within;
    f->fail_on = fail_on / 100;
    return code;
}

/* ---- actions --------------------------------------------------------------------------------- */

static int write_files(const request *r, const history_set *set, tool_file *json, tool_file *csv)
{
    int code = TOOL_OK;
    if (r->json) {
        json_t *root = history_json(set);
        code = tool_file_json(json, root);
        json_decref(root);
    }
    if (r->csv && code == TOOL_OK) {
        code = history_csv(csv->stream, set) ? tool_file_commit(csv)
                                             : tool_error(TOOL_IO, "cannot write %s", r->csv);
    }
    return code;
}

static int show(history_db *db, const request *r)
{
    tool_file json = {0}, csv = {0};
    history_set set = {0};
    int code = tool_file_open(&json, r->json);
    code = code == TOOL_OK ? tool_file_open(&csv, r->csv) : code;
    code = code == TOOL_OK ? history_read(db, &r->filter, &set) : code;
    if (code == TOOL_OK && set.count == 0) {
        code = tool_error(TOOL_NOTHING, "no case of %s is what was asked for", history_path(db));
    }
    if (code == TOOL_OK) {
        bool taken = json.stream == tool_data() || csv.stream == tool_data();
        history_show(taken ? stderr : stdout, &set, &r->filter);
        code = write_files(r, &set, &json, &csv);
    }
    if (code == TOOL_OK && set.fails > 0) {
        code = TOOL_FAILED;
    } else if (code == TOOL_OK && isfinite(r->filter.fail_on) && set.judged == 0) {
        int32_t most = 0;
        for (int32_t i = 0; i < set.count; i++) {
            most = set.series[i].count > most ? set.series[i].count : most;
        }
        code = tool_error(TOOL_NOTHING, "nothing was judged: ten runs are needed, there %s %d",
                          most == 1 ? "is" : "are", most);
    }
    tool_file_discard(&json);
    tool_file_discard(&csv);
    history_free(&set);
    return code;
}

static int add(history_db *db, const request *r)
{
    int first = TOOL_OK;
    for (int i = 1; i < r->words.count; i++) {
        int code = history_add(db, r->words.items[i], r->force);
        first = first == TOOL_OK ? code : first;
    }
    return first;
}

static int list(history_db *db, const request *r)
{
    (void)r;
    return history_list(db, stdout);
}

static int erase(history_db *db, const request *r)
{
    int first = TOOL_OK;
    for (int i = 1; i < r->words.count; i++) {
        int code = history_remove(db, r->words.items[i]);
        first = first == TOOL_OK ? code : first;
    }
    return first;
}

static const struct action {
    const char *name, *needs;
    int (*run)(history_db *db, const request *r);
    int least, most; /* arguments */
} actions[] = {
    {"add", "at least one results file", add, 1, 1 << 20},
    {"show", "no argument", show, 0, 0},
    {"list", "no argument", list, 0, 0},
    {"remove", "the numbers of runs, which `isomer history list` shows", erase, 1, 1 << 20}};

static int act(const request *r)
{
    enum { ACTIONS = sizeof actions / sizeof actions[0] };
    const char *names[ACTIONS + 1] = {NULL};
    const char *word = r->words.count > 0 ? r->words.items[0] : "";
    int code, given = r->words.count - 1;
    char text[256];
    for (int i = 0; i < ACTIONS; i++) {
        names[i] = actions[i].name;
    }
    int at = tool_find(names, word);
    if (word[0] == '\0') {
        return tool_error(
            TOOL_USAGE, "history needs one of: add, show, list, remove; see `isomer help history`");
    }
    if (at < 0) {
        tool_say_unknown(text, sizeof text, word, names);
        return tool_error(TOOL_USAGE, "history: %s", text);
    }
    if (given < actions[at].least || given > actions[at].most) {
        return tool_error(TOOL_USAGE, "history %s takes %s", word, actions[at].needs);
    }
    history_db *db = history_open(r->dir, at == 0, &code);
    if (db) {
        code = actions[at].run(db, r);
    }
    history_close(db);
    return code;
}

int tool_history(int argc, char **argv)
{
    request r = {0};
    int code = read_request(argc, argv, &r);
    if (code == TOOL_OK && r.help) {
        printf(help, bench_op_words());
    } else if (code == TOOL_OK) {
        code = act(&r);
    }
    tool_words_free(&r.words);
    tool_words_free(&r.ops);
    return code;
}
