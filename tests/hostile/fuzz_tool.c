/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tool.c - the tool's input: results, suites, and lists on the command line. */
#include "tests/hostile/fuzz.h"

#include "bench/tool.h"
#include "bench/workload/line.h"

#include <stdlib.h>
#include <string.h>

static void run(int (*command)(int argc, char **argv), const char *const *words)
{
    char *argv[16];
    int argc = 0;
    for (; words[argc] && argc < 15; argc++) {
        argv[argc] = strdup(words[argc]);
    }
    argv[argc] = NULL;
    int code = command(argc, argv);
    if (code != TOOL_OK && code != TOOL_FAILED && code != TOOL_NOTHING && code != TOOL_FILES &&
        code != TOOL_USAGE) {
        fuzz_fail("%s ends with exit code %d", argv[0], code);
    }
    for (int i = 0; i < argc; i++) {
        free(argv[i]);
    }
}

void fuzz_results(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("results.json", data, size);
    const char *const forms[][8] = {{"compare", path, path, "--all", "--csv", "-", NULL},
                                    {"compare", path, path, "--json", "-", NULL},
                                    {"compare", path, NULL}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        run(tool_compare, forms[i]);
    }
    run(tool_report, (const char *const[]){"report", path, "-o", "-", NULL});
}

void fuzz_pair(const uint8_t *data, size_t size)
{
    const uint8_t *mark = memmem(data, size, "\n---\n", 5);
    size_t first = mark ? (size_t)(mark - data) : size;
    size_t second = mark ? first + 5 : size;
    char a[128];
    snprintf(a, sizeof a, "%s", fuzz_file("a.json", data, first));
    const char *b = fuzz_file("b.json", data + second, size - second);
    run(tool_compare, (const char *const[]){"compare", a, b, "--force", "--all", NULL});
    run(tool_compare, (const char *const[]){"compare", a, b, "--csv", "-", NULL});
    run(tool_report, (const char *const[]){"report", a, b, "-o", "-", NULL});
}

void fuzz_suite(const uint8_t *data, size_t size)
{
    work_file file;
    int code = work_file_load(fuzz_file("suite.json", data, size), &file);
    if (code != TOOL_OK && code != TOOL_USAGE) {
        fuzz_fail("a suite ends with exit code %d", code);
    }
    work_file_free(&file);
}

void fuzz_line(const uint8_t *data, size_t size)
{
    enum { LINES = 10 };
    char *lines[LINES], text[512];
    const char *member = NULL;
    int count;
    char *own = fuzz_lines(data, size, lines, LINES, &count);
    for (int i = count; i < LINES; i++) {
        lines[i] = NULL;
    }
    const work_line line = {.op = lines[0] ? lines[0] : "",
                            .kind = lines[1],
                            .variant = lines[2],
                            .dtype = lines[3],
                            .size = lines[4] ? lines[4] : "1",
                            .layout = lines[5],
                            .batch = lines[6],
                            .steps = lines[7],
                            .math = lines[8],
                            .cache = lines[9]};
    work_parsed parsed;
    if (!work_line_parse(&line, &parsed, &member, text, sizeof text)) {
        tool_error(TOOL_USAGE, "%s: %s", member, text);
    }
    for (int i = 0; i < count; i++) {
        bench_size one;
        work_size_parse(lines[i], &one);
    }
    free(own);
}
