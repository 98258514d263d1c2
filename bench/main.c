/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the isomer tool. */
#include "bench/bench.h"
#include "bench/labs/labs.h"
#include "bench/record/record.h"
#include "bench/tool.h"

#include <signal.h>
#include <string.h>

const char *tool_name = "isomer";

static const char help[] =
    "Usage: isomer COMMAND [OPTIONS]\n"
    "\n"
    "  info      lists backends, devices, their properties and the settings\n"
    "  verify    checks that devices compute what they should\n"
    "  bench     measures devices on the same work\n"
    "  compare   says what differs between two results files\n"
    "  report    makes one HTML page of results\n"
    "  reveal    finds the order in which routines add\n"
    "  errors    measures how far products are from the exact result\n"
    "  history   keeps the results of many runs, and finds what changed\n"
    "  tune      measures which choices are the fastest, and keeps them for the library\n"
    "  vectors   writes test vectors for other implementations of the arithmetic\n"
    "  kernel    works with a text of the program's own kernels\n"
    "  help      shows this text; `help COMMAND` the options of a command\n"
    "\n"
    "`isomer COMMAND -h` lists a command's options; isomer(1) explains them. -V shows the "
    "version.\n"
    "\n"
    "Exit codes: 0 done, 1 a check failed or a regression, 2 usage, 3 a named or required backend\n"
    "is not available, 4 nothing ran, 5 files that cannot be compared, 6 input or output failed,\n"
    "70 a fault in isomer or no memory, 130 interrupted.\n";

static int run_command(int argc, char **argv);

static int show_help(int argc, char **argv)
{
    if (argc > 2) {
        return tool_error(TOOL_USAGE, "help takes one command");
    }
    if (argc == 2 && argv[1][0] != '-' && strcmp(argv[1], "help") != 0) {
        char option[] = "--help";
        return run_command(2, (char *[]){argv[1], option, NULL});
    }
    fputs(help, stdout);
    return TOOL_OK;
}

static int show_version(int argc, char **argv)
{
    if (argc > 1) {
        return tool_error(TOOL_USAGE, "%s takes no arguments", argv[0]);
    }
    printf("isomer %s\n", iso_version());
    if (record_commit()[0] != '\0') {
        printf("commit %s\n", record_commit());
    }
    return TOOL_OK;
}

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {{"info", tool_info},       {"verify", tool_verify},   {"bench", tool_bench},
                {"report", tool_report},   {"history", tool_history}, {"compare", tool_compare},
                {"vectors", tool_vectors}, {"reveal", tool_reveal},   {"errors", tool_errors},
                {"kernel", tool_kernel},   {"tune", tool_tune},       {"help", show_help},
                {"--help", show_help},     {"-h", show_help},         {"--version", show_version},
                {"-V", show_version}};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Every command takes -h for --help, and -V or --version alone. */
static int run_command(int argc, char **argv)
{
    static char long_help[] = "--help";
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[0], names[i]) != 0) {
            continue;
        }
        if (argc == 2 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)) {
            return show_version(1, argv + 1);
        }
        for (int k = 1; k < argc; k++) {
            argv[k] = strcmp(argv[k], "-h") == 0 ? long_help : argv[k];
        }
        return commands[i].run(argc, argv);
    }
    const char *near = tool_nearest(argv[0], names, COMMANDS);
    if (near) {
        return tool_error(TOOL_USAGE, "unknown command \"%s\"; did you mean \"%s\"?", argv[0],
                          near);
    }
    return tool_error(TOOL_USAGE,
                      "unknown command \"%s\"; the commands are info, verify, bench, compare, "
                      "report, reveal, errors, history, tune, vectors, kernel and help",
                      argv[0]);
}

int main(int argc, char **argv)
{
    if (argc > 0) {
        tool_name = argv[0];
    }
    /* Ignores SIGXFSZ, so that reaching the file size limit is a write error and does not end the
     * process. */
    signal(SIGXFSZ, SIG_IGN);
    bench_with_labs = &labs_command;
    tool_documents_whole();
    if (!tool_terminal_open()) {
        tool_no_memory("printing");
    }
    if (argc < 2) {
        fputs(help, stderr);
        return TOOL_USAGE;
    }
    int code = run_command(argc - 1, argv + 1);
    if (!tool_terminal_done() && code == TOOL_OK) {
        code = tool_error(TOOL_IO, "cannot write to standard output");
    }
    return code;
}
