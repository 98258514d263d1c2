/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer report`. */
#include "bench/report/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "Usage: isomer report RESULTS.json... -o report.html [OPTIONS]\n"
    "\n"
    "Makes one HTML page of the results that `isomer bench --json` wrote: the machine, a\n"
    "summary, plots, every sample and every row. The page needs no network. With several files,\n"
    "each line carries the name of its file. \"-\" is standard input.\n"
    "\n"
    "  -o FILE         the file to write; \"-\" is standard output\n"
    "  --data DIR      also writes the figures' data and gnuplot scripts into DIR, which is\n"
    "                  created if missing: `cd DIR && gnuplot NAME.gp` writes NAME.svg;\n"
    "                  a file there that cannot be written does not stop the others or the page\n"
    "  --title TEXT    the page's title\n"
    "  --help          shows this text\n"
    "\n"
    "gnuplot makes the plots; without it the page has tables instead. If no result is ok, the\n"
    "page is still written, with the reasons, and the exit code is 4.\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 4 no result is ok, 5 a file is not a results file of\n"
    "`isomer bench`, 6 input or output failed, 70 a fault in isomer.\n";

typedef struct request {
    const char **inputs;
    int count;
    const char *output, *data, *title;
    bool help;
} request;

/* The word after argv[*at], or behind its "=". */
static const char *value_of(int argc, char **argv, int *at, const char *option)
{
    size_t length = strlen(option);
    if (strncmp(argv[*at], option, length) == 0 && argv[*at][length] == '=') {
        return argv[*at] + length + 1;
    }
    if (strcmp(argv[*at], option) != 0 || *at + 1 == argc) {
        return NULL;
    }
    return argv[++*at];
}

static int read_options(int argc, char **argv, request *out)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"-o", &out->output},
                   {"--output", &out->output},
                   {"--data", &out->data},
                   {"--title", &out->title}};
    enum { OPTIONS = sizeof options / sizeof options[0] };
    static const char *const known[] = {"--output", "--data", "--title", "--help"};
    for (int i = 1; i < argc; i++) {
        bool taken = strcmp(argv[i], "--help") == 0;
        out->help = out->help || taken;
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            out->inputs[out->count++] = argv[i];
            continue;
        }
        for (int j = 0; j < OPTIONS && !taken; j++) {
            size_t length = strlen(options[j].name);
            if (strncmp(argv[i], options[j].name, length) != 0 ||
                (argv[i][length] != '\0' && argv[i][length] != '=')) {
                continue;
            }
            const char *value = value_of(argc, argv, &i, options[j].name);
            if (!value || value[0] == '\0') {
                return tool_error(TOOL_USAGE, "%s needs a value", options[j].name);
            }
            *options[j].value = value;
            taken = true;
        }
        if (taken) {
            continue;
        }
        const char *near = tool_nearest(argv[i], known, 4);
        return near ? tool_error(TOOL_USAGE, "unknown option %s; did you mean %s?", argv[i], near)
                    : tool_error(TOOL_USAGE, "unknown option %s; see `isomer report --help`",
                                 argv[i]);
    }
    return TOOL_OK;
}

static int check_request(const request *wanted)
{
    if (wanted->count == 0) {
        return tool_error(TOOL_USAGE, "no results file is named; `isomer bench --json FILE` "
                                      "writes one");
    }
    if (!wanted->output) {
        return tool_error(TOOL_USAGE, "-o is missing: where to write the page, as in -o "
                                      "report.html");
    }
    struct stat mine, theirs;
    for (int i = 0; i < wanted->count; i++) {
        if (strcmp(wanted->output, "-") != 0 && stat(wanted->output, &mine) == 0 &&
            S_ISREG(mine.st_mode) && stat(wanted->inputs[i], &theirs) == 0 &&
            mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino) {
            return tool_error(TOOL_USAGE, "-o %s is one of the results files: it would be lost",
                              wanted->output);
        }
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
        const char *command = record_text(json_object_get(roots[i], "run"), "command");
        if (strcmp(command, "verify") == 0) {
            return tool_error(TOOL_FILES,
                              "%s was written by `isomer verify`, which takes no times; a report "
                              "needs a file of `isomer bench --json`",
                              wanted->inputs[i]);
        }
    }
    return TOOL_OK;
}

/* Also tries whether files can be made in it, so that this is known before the work. */
static int make_folder(const char *path)
{
    struct stat about;
    if (!path) {
        return TOOL_OK;
    }
    if ((stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) && mkdir(path, 0777) != 0) {
        return tool_error(TOOL_IO, "cannot make the folder %s for --data: %s", path,
                          strerror(errno));
    }
    char *trial = report_format("%s/.isomer.XXXXXX", path);
    if (!trial) {
        return tool_error(TOOL_INTERNAL, "no memory for the report");
    }
    int code = TOOL_OK, descriptor = mkstemp(trial);
    if (descriptor < 0) {
        code = tool_error(TOOL_IO,
                          "cannot make files in the folder %s for --data: %s; name one that can be "
                          "written",
                          path, strerror(errno));
    } else {
        close(descriptor);
        unlink(trial);
    }
    free(trial);
    return code;
}

int tool_report(int argc, char **argv)
{
    request wanted = {.inputs = calloc((size_t)argc + 1, sizeof *wanted.inputs)};
    json_t **roots = calloc((size_t)argc + 1, sizeof *roots);
    tool_file out = {0};
    int code = wanted.inputs && roots ? TOOL_OK : TOOL_INTERNAL;
    if (code != TOOL_OK) {
        tool_error(code, "no memory for the report");
    }
    if (code == TOOL_OK) {
        code = read_options(argc, argv, &wanted);
    }
    if (code != TOOL_OK) {
        goto end;
    }
    if (wanted.help) {
        fputs(help, stdout);
        goto end;
    }
    if ((code = check_request(&wanted)) != TOOL_OK || (code = load(&wanted, roots)) != TOOL_OK ||
        (code = make_folder(wanted.data)) != TOOL_OK ||
        (code = tool_file_open(&out, wanted.output)) != TOOL_OK) {
        goto end;
    }
    code = report_make(roots, wanted.inputs, wanted.count, wanted.title, wanted.data, &out);
end:
    for (int i = 0; roots && i < wanted.count; i++) {
        json_decref(roots[i]);
    }
    free(roots);
    free(wanted.inputs);
    return code;
}
