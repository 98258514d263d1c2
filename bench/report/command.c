/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer report`. */
#include "bench/report/figure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "Usage: isomer report RESULTS.json... -o report.html [OPTIONS]\n"
    "       isomer report RESULTS.json... --figures DIR\n"
    "       isomer report RESULTS.json --export FILE\n"
    "\n"
    "Makes one HTML page of the results that `isomer bench --json` wrote: which\n"
    "device is fastest at what, figures, and every row. The page needs no network. With several\n"
    "files, each device is labelled with the name of its file. \"-\" is standard input.\n"
    "\n"
    "  -o FILE         the file to write; \"-\" is standard output\n"
    "  --figures DIR   writes every figure into DIR for a paper, as SVG and, if the cairo library\n"
    "                  is installed, PDF: NAME-1col is as wide as one column, NAME-2col as two\n"
    "  --data DIR      writes NAME.csv into DIR for every figure: each point that is drawn\n"
    "  --title TEXT    the page's title\n"
    "  --export FILE   writes the results of one file in the form of Google Benchmark's JSON\n"
    "  --help          shows this text\n"
    "\n"
    "-o may be left out if one of the others is given. The folder of --figures is created in one\n"
    "that exists; if a file in it cannot be written, the others still are.\n"
    "\n"
    "If no result is ok, the page is still written, with the reasons, and the exit code is 4.\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 4 no result is ok, 5 a file is not a results file of\n"
    "`isomer bench`, 6 input or output failed, 70 a fault in isomer.\n";

typedef struct request {
    const char **inputs;
    int count;
    const char *output, *figures, *data, *title, *export;
    bool help;
} request;

static int read_options(int argc, char **argv, request *out)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"--output", &out->output}, {"--figures", &out->figures}, {"--data", &out->data},
                   {"--title", &out->title},   {"--export", &out->export},   {"-o", &out->output}};
    enum { OPTIONS = sizeof options / sizeof options[0] };
    static const char *const known[] = {"--output", "--figures", "--data",
                                        "--title",  "--export",  "--help"};
    for (int i = 1; i < argc; i++) {
        size_t length = strcspn(argv[i], "=");
        int at = 0;
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            out->inputs[out->count++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--help") == 0) {
            out->help = true;
            continue;
        }
        while (at < OPTIONS && (strlen(options[at].name) != length ||
                                strncmp(argv[i], options[at].name, length) != 0)) {
            at++;
        }
        if (at == OPTIONS) {
            const char *near = tool_nearest(argv[i], known, sizeof known / sizeof known[0]);
            return near ? tool_error(TOOL_USAGE, "unknown option %s; did you mean %s?", argv[i],
                                     near)
                        : tool_error(TOOL_USAGE, "unknown option %s; see `isomer report --help`",
                                     argv[i]);
        }
        const char *value = argv[i][length] == '=' ? argv[i] + length + 1
                            : i + 1 < argc         ? argv[++i]
                                                   : "";
        if (value[0] == '\0') {
            return tool_error(TOOL_USAGE, "%s needs a value", options[at].name);
        }
        *options[at].value = value;
    }
    return TOOL_OK;
}

static bool same_file(const char *output, const char *input)
{
    struct stat mine, theirs;
    return strcmp(output, "-") != 0 && stat(output, &mine) == 0 && S_ISREG(mine.st_mode) &&
           stat(input, &theirs) == 0 && mine.st_dev == theirs.st_dev &&
           mine.st_ino == theirs.st_ino;
}

static int check_request(const request *wanted)
{
    if (wanted->count == 0) {
        return tool_error(TOOL_USAGE, "no results file is given; `isomer bench --json FILE` "
                                      "writes one");
    }
    if (wanted->export && wanted->count > 1) {
        return tool_error(TOOL_USAGE, "--export takes one results file, not %d", wanted->count);
    }
    if (wanted->title && !wanted->output) {
        return tool_error(TOOL_USAGE, "--title is about the page, and -o is missing");
    }
    if (!wanted->output && !wanted->export && !wanted->figures && !wanted->data) {
        return tool_error(TOOL_USAGE, "-o is missing: it names the file for the page, as in -o "
                                      "report.html");
    }
    for (int i = 0; i < wanted->count; i++) {
        const char *const outputs[][2] = {{"-o", wanted->output}, {"--export", wanted->export}};
        for (int k = 0; k < 2; k++) {
            if (outputs[k][1] && same_file(outputs[k][1], wanted->inputs[i])) {
                return tool_error(TOOL_USAGE,
                                  "%s %s is one of the results files: it would be overwritten",
                                  outputs[k][0], outputs[k][1]);
            }
        }
    }
    if (wanted->export && wanted->output && strcmp(wanted->export, wanted->output) == 0) {
        return tool_error(TOOL_USAGE, "%s is given for the page and for --export", wanted->output);
    }
    return TOOL_OK;
}

static int load(const request *wanted, json_t **roots)
{
    for (int i = 0; i < wanted->count; i++) {
        int code = TOOL_FILES;
        roots[i] = record_load(wanted->inputs[i], &code);
        if (!roots[i]) {
            return code;
        }
        bool errors = strcmp(record_text(roots[i], "run.command"), "errors") == 0;
        if (errors && (wanted->output || wanted->export)) {
            return tool_error(TOOL_FILES,
                              "%s was written by `isomer errors`, which measures no times: there "
                              "are only its figures and their data; give --figures or --data alone",
                              wanted->inputs[i]);
        }
        if (record_untimed(roots[i]) && !errors) {
            return tool_error(TOOL_FILES,
                              "%s was written by `isomer %s`, which measures no times; a report "
                              "needs a file of `isomer bench --json`",
                              wanted->inputs[i], record_untimed(roots[i]));
        }
    }
    return TOOL_OK;
}

/* Creates the folder for an option, and tries to create a file there: a failure is reported before
 * the work begins. */
static int make_folder(const char *option, const char *path)
{
    struct stat about;
    if (!path) {
        return TOOL_OK;
    }
    if ((stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) && mkdir(path, 0777) != 0) {
        return tool_error(TOOL_IO, "cannot create the folder %s for %s: %s", path, option,
                          strerror(errno));
    }
    char *trial = record_format("%s/.isomer.XXXXXX", path);
    int code = TOOL_OK, descriptor = mkstemp(trial);
    if (descriptor < 0) {
        code = tool_error(TOOL_IO,
                          "cannot create files in the folder %s for %s: %s; name a folder that can "
                          "be written",
                          path, option, strerror(errno));
    } else {
        close(descriptor);
        unlink(trial);
    }
    free(trial);
    return code;
}

static int make_figures(const request *wanted, json_t **roots)
{
    report_model model;
    report_model_make(&model, roots, wanted->inputs, wanted->count);
    figure_list list = report_figures(&model);
    int code = report_figure_files(&list, wanted->figures, wanted->data);
    if (code == TOOL_OK && list.count == 0 && !wanted->output) {
        code = tool_error(TOOL_NOTHING, "no result is ok: there are no figures");
    }
    report_figures_free(&list);
    report_model_free(&model);
    return code;
}

/* Makes what was asked for; the caller frees the documents in `roots`. */
static int make(const request *wanted, json_t **roots)
{
    tool_file out = {0}, export = {0};
    int figures = TOOL_OK, code = check_request(wanted);
    code = code == TOOL_OK ? load(wanted, roots) : code;
    code = code == TOOL_OK ? make_folder("--figures", wanted->figures) : code;
    code = code == TOOL_OK ? make_folder("--data", wanted->data) : code;
    code = code == TOOL_OK ? tool_file_open(&export, wanted->export) : code;
    code = code == TOOL_OK ? tool_file_open(&out, wanted->output) : code;
    if (code == TOOL_OK && wanted->export) {
        json_t *root = record_google(roots[0]);
        code = tool_file_json(&export, root);
        json_decref(root);
    }
    if (code == TOOL_OK && (wanted->figures || wanted->data)) {
        figures = make_figures(wanted, roots);
    }
    if (code == TOOL_OK && wanted->output) {
        code = report_write(roots, wanted->inputs, wanted->count, wanted->title, &out);
    }
    tool_file_discard(&export);
    tool_file_discard(&out);
    return figures != TOOL_OK && (code == TOOL_OK || code == TOOL_NOTHING) ? figures : code;
}

int tool_report(int argc, char **argv)
{
    request wanted = {.inputs = record_need(calloc((size_t)argc + 1, sizeof *wanted.inputs))};
    json_t **roots = record_need(calloc((size_t)argc + 1, sizeof *roots));
    int code = read_options(argc, argv, &wanted);
    if (code == TOOL_OK && wanted.help) {
        fputs(help, stdout);
    } else if (code == TOOL_OK) {
        code = make(&wanted, roots);
    }
    for (int i = 0; i < wanted.count; i++) {
        json_decref(roots[i]);
    }
    free(roots);
    free(wanted.inputs);
    return code;
}
