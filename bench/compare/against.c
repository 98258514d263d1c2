/* SPDX-License-Identifier: Apache-2.0 */
/* against.c - `isomer bench --against`: runs two programs in turn, in fresh processes. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SAVE_SECONDS = 5,  /* between checkpoints of the file */
    PROBE_SECONDS = 60 /* for a program to print its version */
};

typedef struct against {
    const char *program; /* B */
    char self[4096];     /* A */
    char **arguments[2]; /* the command lines of A's and B's processes */
    char budget_text[32];
    double budget, began, longest; /* seconds; `longest` is the time of the slowest pair */
    double limit;                  /* the most seconds that a process may take */
    int32_t wanted, made;          /* pairs */
    json_t *first[2];              /* the first document of each side */
    compare_tally *tally;
    int argc;
    char **argv;
    tool_file file; /* the file of --json */
    double saved;   /* the time of the last checkpoint; 0: none */
    bool self_check, progress;
} against;

static const char *name_of(const against *g, int side)
{
    return side == 0 ? "this program" : g->program;
}

/* ---- the command line of a process ----------------------------------------------------------- */

/* Options that the processes do not get from the command line. All other options select what is
 * measured, and both processes get them. */
static const struct {
    const char *name;
    bool value;
} ours[] = {{"--against", true},  {"--self-check", false}, {"--fail-on", true},
            {"--budget", true},   {"--rounds", true},      {"--json", true},
            {"--csv", true},      {"--markdown", true},    {"--report", true},
            {"--timeout", true},  {"--list", false},       {"--help", false},
            {"--no-roofs", false}};

static int our_option(const char *word)
{
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        size_t length = strlen(ours[i].name);
        if (strncmp(word, ours[i].name, length) == 0 &&
            (word[length] == '\0' || word[length] == '=')) {
            return (int)i;
        }
    }
    return -1;
}

static void make_arguments(against *g, int argc, char **argv)
{
    for (int side = 0; side < 2; side++) {
        char **out = tool_alloc((size_t)argc + 10, sizeof *out, "the command line");
        int count = 0;
        g->arguments[side] = out;
        out[count++] = side == 0 || g->self_check ? g->self : (char *)g->program;
        out[count++] = "bench";
        for (int i = 1; i < argc; i++) {
            int which = our_option(argv[i]);
            if (which < 0) {
                out[count++] = argv[i];
            } else if (ours[which].value && !strchr(argv[i], '=')) {
                i++;
            }
        }
        out[count++] = "--no-roofs"; /* the roofs would take longer than most selections of cases */
        out[count++] = "--budget";
        out[count++] = g->budget_text;
        out[count++] = "--rounds";
        out[count++] = "1";
        out[count++] = "--json";
        out[count++] = "-";
    }
}

/* ---- one process ----------------------------------------------------------------------------- */

static int cannot_start(const compare_child *child, const char *name)
{
    bool theirs = child->error == ENOENT || child->error == EACCES || child->error == ENOEXEC ||
                  child->error == ENOTDIR || child->error == ELOOP;
    return tool_error(theirs ? TOOL_USAGE : TOOL_IO, "cannot start %s: %s", name,
                      strerror(child->error));
}

/* Returns the document that a process wrote. If its output is unusable, it prints an error message,
 * sets *code to the exit code and returns NULL. */
static json_t *document_of(const against *g, int side, const compare_child *child, int *code)
{
    const char *name = name_of(g, side);
    int stranger = side == 0 || g->self_check ? TOOL_INTERNAL : TOOL_FILES;
    int status = WEXITSTATUS(child->status), number = WTERMSIG(child->status);
    bool ended = !child->late && !child->large && !WIFSIGNALED(child->status);
    bool known = (status >= TOOL_USAGE && status <= TOOL_IO) || status == TOOL_INTERNAL;
    json_error_t error;
    json_t *root = ended ? json_loadb(child->out, child->size, 0, &error) : NULL;
    char *wrong = root ? record_fault(root) : NULL;
    if (root && !wrong && (status == TOOL_OK || status == TOOL_FAILED)) {
        return root;
    }
    if (child->late) {
        *code = tool_error(stranger,
                           "%s did not end in %g s and was killed; --timeout gives it more time",
                           name, g->limit);
    } else if (child->large) {
        *code = tool_error(stranger,
                           "%s printed more than %d MiB, the limit for results, and was killed",
                           name, COMPARE_MOST_MIB);
    } else if (!ended) {
        *code =
            tool_error(stranger, "%s was ended by signal %d (%s)", name, number, strsignal(number));
    } else if (known) {
        *code = tool_error(status, "%s ended with exit code %d", name, status);
    } else if (child->size == 0) {
        *code =
            tool_error(stranger, "%s ended with exit code %d and printed no results: is it isomer?",
                       name, status);
    } else if (!root) {
        *code = tool_error(stranger, "the output of %s is not JSON: line %d, column %d: %s", name,
                           error.line, error.column, error.text);
    } else {
        *code = tool_error(stranger, "the output of %s cannot be used: %s", name,
                           wrong ? wrong : "isomer never ends with this exit code");
    }
    if (child->err[0] != '\0') {
        tool_error(TOOL_OK, "the last messages of %s:\n%s", name, child->err);
    }
    free(wrong);
    json_decref(root);
    return NULL;
}

/* Checks first whether B can be started and is isomer. */
static int probe(const against *g)
{
    char *arguments[] = {(char *)g->program, "--version", NULL};
    compare_child child;
    int code = TOOL_OK;
    if (g->self_check) {
        return TOOL_OK;
    }
    if (!compare_run(arguments, fmin(g->limit, PROBE_SECONDS), &child)) {
        code = cannot_start(&child, g->program);
    } else if (tool_stop_asked()) {
        code = TOOL_OK;
    } else if (child.late || child.large) {
        code =
            tool_error(TOOL_FILES, "%s is not isomer: `%s --version` %s and was killed", g->program,
                       g->program, child.late ? "did not end" : "did not stop printing");
    } else if (WIFSIGNALED(child.status)) {
        code = tool_error(TOOL_FILES, "%s --version was ended by signal %d (%s)", g->program,
                          WTERMSIG(child.status), strsignal(WTERMSIG(child.status)));
    } else if (child.size < 7 || strncmp(child.out, "isomer ", 7) != 0) {
        code = tool_error(TOOL_FILES,
                          "%s is not isomer: `%s --version` ends with exit code %d and does not "
                          "print a version of isomer",
                          g->program, g->program, WEXITSTATUS(child.status));
    }
    compare_child_free(&child);
    return code;
}

static json_t *run_one(const against *g, int side, int *code)
{
    compare_child child;
    json_t *root = NULL;
    bool started = compare_run(g->arguments[side], g->limit, &child);
    if (!started) {
        *code = cannot_start(&child, name_of(g, side));
    } else if (!tool_stop_asked()) {
        root = document_of(g, side, &child, code);
    }
    compare_child_free(&child);
    return root;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static int make_pair(against *g, bool b_first)
{
    json_t *documents[2] = {NULL, NULL};
    int code = TOOL_OK;
    for (int turn = 0; turn < 2 && code == TOOL_OK && !tool_stop_asked(); turn++) {
        int side = b_first ? 1 - turn : turn;
        documents[side] = run_one(g, side, &code);
    }
    if (documents[0] && documents[1] && !tool_stop_asked()) {
        code = compare_tally_add(g->tally, documents[0], documents[1], name_of(g, 1));
        g->made += code == TOOL_OK;
        for (int side = 0; side < 2 && code == TOOL_OK && g->made == 1; side++) {
            g->first[side] = json_incref(documents[side]);
        }
    }
    json_decref(documents[0]);
    json_decref(documents[1]);
    return code;
}

static void show_progress(const against *g, bool end)
{
    if (!g->progress) {
        return;
    }
    tool_escape(stderr, "\r\033[K");
    if (!end && g->wanted > 0) {
        fprintf(stderr, "pair %d of %d", g->made + 1, g->wanted);
    } else if (!end) {
        fprintf(stderr, "pair %d, %.0f s left", g->made + 1,
                fmax(0, g->budget - (tool_seconds() - g->began)));
    }
    fflush(stderr);
}

static void save(against *g);

/* A program may be slower only because it runs second. So pairs are made two at a time: the first
 * of the two has a random order (B runs first in the very first pair), and the second has the
 * opposite order. */
static int make_pairs(against *g)
{
    unsigned char drawn = 0;
    int code = TOOL_OK;
    g->began = tool_seconds();
    for (int32_t i = 0; code == TOOL_OK && !tool_stop_asked(); i++) {
        double now = tool_seconds();
        bool fits = i == 0 || now - g->began + g->longest <= g->budget;
        if ((g->wanted > 0 && i >= g->wanted) || (g->wanted == 0 && !fits)) {
            break;
        }
        if (i == 0) {
            drawn = 1;
        } else if (i % 2 == 0 && getrandom(&drawn, 1, 0) != 1) {
            drawn = (unsigned char)((unsigned long)time(NULL) ^ (unsigned long)getpid());
        }
        show_progress(g, false);
        code = make_pair(g, (drawn & 1) != (i & 1));
        g->longest = fmax(g->longest, tool_seconds() - now);
        if (code == TOOL_OK) {
            save(g);
        }
    }
    show_progress(g, true);
    return code;
}

/* ---- the result ------------------------------------------------------------------------------ */

static const char *what_ran(char *text, size_t room, const char *path, const json_t *document)
{
    const char *commit = record_text(document, "run.build.commit");
    snprintf(text, room, "%s: isomer %s%s%s", path, record_text(document, "run.version"),
             commit[0] ? " at " : "", commit);
    return text;
}

static json_t *run_json(const against *g, json_t *run, bool finished)
{
    static const char *const kept[] = {"suite", "seed", "math"};
    char text[8192];
    const json_t *theirs = json_object_get(g->first[0], "run");
    json_t *flags = json_array(), *sides = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        json_t *value = json_object_get(theirs, kept[i]);
        json_object_set(run, kept[i], value ? value : json_null());
    }
    tool_set_text(sides, "this", what_ran(text, sizeof text, g->self, g->first[0]));
    tool_set_text(sides, "program", what_ran(text, sizeof text, name_of(g, 1), g->first[1]));
    json_object_set_new(run, "against", sides);
    json_object_set_new(run, "finished", record_now());
    tool_set_bool(run, "complete", finished && g->made >= COMPARE_PAIRS_LEAST);
    tool_set_number(run, "budget", g->budget);
    tool_set_int(run, "rounds", g->made);
    tool_set_number(run, "seconds", tool_seconds() - g->began);
    if (tool_stop_asked()) {
        json_array_append_new(flags, json_string("interrupted"));
    }
    if (finished && g->made < COMPARE_PAIRS_LEAST) {
        json_array_append_new(flags, json_string("budget"));
    }
    for (int side = 0; side < 2; side++) {
        const json_t *one = json_object_get(g->first[side], "run");
        for (int i = 0; i < 2; i++) {
            static const char *const untimed[] = {"fake", "simulated"};
            if (record_has_flag(one, untimed[i])) {
                json_array_append_new(flags, json_string(untimed[i]));
            }
        }
    }
    json_object_set_new(run, "flags", flags);
    return run;
}

static json_t *make_document(const against *g, bool finished)
{
    json_t *run = record_run("against", g->argc, g->argv), *root = json_object();
    tool_set_text(root, "schema", RECORD_SCHEMA);
    json_object_set_new(root, "run", run_json(g, run, finished));
    json_object_set(root, "devices", json_object_get(g->first[0], "devices"));
    compare_tally_write(g->tally, root);
    return root;
}

/* Called after each pair, so that the file has the pairs made so far even if the process is
 * killed. */
static void save(against *g)
{
    double now = tool_seconds();
    if (!g->file.path || g->made == 0 || (g->saved > 0 && now - g->saved < SAVE_SECONDS)) {
        return;
    }
    json_t *root = make_document(g, false);
    tool_file_checkpoint(&g->file, root);
    json_decref(root);
    g->saved = now;
}

static void say_few(const against *g)
{
    if (g->made >= COMPARE_PAIRS_LEAST || tool_stop_asked()) {
        return;
    }
    if (g->wanted > 0) {
        tool_error(TOOL_OK,
                   "%d pairs cannot show a difference: %d are needed; give --rounds %d or "
                   "more",
                   g->made, COMPARE_PAIRS_LEAST, COMPARE_PAIRS_LEAST);
    } else {
        tool_error(TOOL_OK,
                   "only %d fit into %g s, but %d pairs are needed to show a difference; "
                   "give --budget %.0f or more, or choose fewer cases",
                   g->made, g->budget, COMPARE_PAIRS_LEAST,
                   ceil(g->longest * (COMPARE_PAIRS_LEAST + 2)));
    }
}

int compare_show_pairs(FILE *out, const json_t *root, double fail_on)
{
    compare_set set = {.a = root,
                       .path_a = "this run",
                       .rules = {.least_effect = STATS_LEAST_EFFECT,
                                 .alpha = STATS_ALPHA,
                                 .fail_on = fail_on / 100}};
    if (set.rules.fail_on < set.rules.least_effect) {
        set.rules.least_effect = set.rules.fail_on;
    }
    compare_pairs_read(&set);
    compare_show(out, &set, tool_width(out), tool_colour(out));
    int code = compare_code(&set);
    compare_free(&set);
    return code;
}

/* Shows and writes the pairs. */
static int finish(against *g, double fail_on, int code)
{
    FILE *out = g->file.stream == tool_data() ? stderr : stdout;
    json_t *root = make_document(g, code == TOOL_OK && !tool_stop_asked());
    int shown = compare_show_pairs(out, root, fail_on);
    fprintf(out, "  %d %s in %.0f s\n", g->made, g->made == 1 ? "pair" : "pairs",
            tool_seconds() - g->began);
    if ((shown == TOOL_OK || shown == TOOL_NOTHING) && compare_tally_wrong(g->tally)) {
        shown = TOOL_FAILED; /* a wrong result fails, as it does without --against */
    }
    int written = tool_file_json(&g->file, root);
    json_decref(root);
    if (code == TOOL_OK) {
        say_few(g);
    }
    if (written != TOOL_OK) {
        return written;
    }
    if (code != TOOL_OK) {
        return code;
    }
    return tool_stop_asked() ? TOOL_INTERRUPTED : shown;
}

/* ---- two devices of one process -------------------------------------------------------------- */

static void set_side(json_t *sides, const char *key, const json_t *device)
{
    char text[512];
    snprintf(text, sizeof text, "%s: %s", record_text(device, "spec"), record_text(device, "name"));
    tool_set_text(sides, key, text);
}

int compare_pair_devices(json_t *root)
{
    const json_t *devices = json_object_get(root, "devices");
    const json_t *a = json_array_get(devices, 0), *b = json_array_get(devices, 1);
    json_t *run = json_object_get(root, "run"), *sides = json_object();
    compare_set set = {.a = root,
                       .b = root,
                       .path_a = "this run",
                       .path_b = "this run",
                       .rules = {.least_effect = STATS_LEAST_EFFECT,
                                 .fail_on = NAN,
                                 .device_a = record_text(a, "spec"),
                                 .device_b = record_text(b, "spec")}};
    int code = compare_match(&set);
    if (code == TOOL_OK) {
        compare_judge(&set);
        json_object_set_new(root, "pairs", compare_round_pairs(&set));
    }
    set_side(sides, "this", a);
    set_side(sides, "program", b);
    json_object_set_new(run, "against", sides);
    tool_set_text(run, "command", "against");
    compare_free(&set);
    return code;
}

static bool find_self(against *g)
{
    ssize_t length = readlink("/proc/self/exe", g->self, sizeof g->self - 1);
    if (length > 0) {
        g->self[length] = '\0';
    }
    return length > 0;
}

int compare_against(const char *program, int argc, char **argv, double budget, int32_t rounds,
                    double limit, double fail_on, const char *json)
{
    against g = {.program = program,
                 .budget = budget,
                 .limit = limit,
                 .wanted = rounds,
                 .argc = argc,
                 .argv = argv,
                 .self_check = !program,
                 .progress = isatty(STDERR_FILENO) != 0};
    if (!find_self(&g)) {
        return tool_error(TOOL_INTERNAL, "cannot find the file of this program: /proc/self/exe: %s",
                          strerror(errno));
    }
    if (!program) {
        g.program = "this program again";
    }
    snprintf(g.budget_text, sizeof g.budget_text, "%.17g", budget);
    record_point(g.budget_text);
    int code = tool_file_open(&g.file, json);
    g.tally = compare_tally_create();
    make_arguments(&g, argc, argv);
    if (code == TOOL_OK) {
        tool_stop_watch(true);
        code = probe(&g);
        if (code == TOOL_OK) {
            code = make_pairs(&g);
        }
        if (tool_stop_asked()) {
            tool_error(TOOL_OK, "interrupted after %d pairs%s", g.made,
                       g.made > 0 ? ": results are kept" : "");
        }
        if (g.made > 0) {
            code = finish(&g, fail_on, code);
        } else if (code == TOOL_OK) {
            code = TOOL_INTERRUPTED;
        }
        tool_stop_watch(false);
    }
    tool_file_discard(&g.file);
    compare_tally_free(g.tally);
    for (int side = 0; side < 2; side++) {
        json_decref(g.first[side]);
        free(g.arguments[side]);
    }
    return code;
}
