/* SPDX-License-Identifier: Apache-2.0 */
/* compiler.c - runs the C compiler of a build. */
#include "bench/compare/compare.h"
#include "bench/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { SECONDS = 3600, NOT_STARTED = 127 };

static void add(kernel_line *line, const char *word, size_t length)
{
    if (line->count + 2 > line->room) {
        line->room = 2 * line->room + 16;
        line->words =
            tool_resize(line->words, (size_t)line->room, sizeof *line->words, "a command line");
    }
    char *copy = tool_alloc(length + 1, 1, "a command line");
    line->words[line->count++] = memcpy(copy, word, length);
    line->words[line->count] = NULL;
}

void kernel_line_add(kernel_line *line, const char *word)
{
    add(line, word, strlen(word));
}

void kernel_line_split(kernel_line *line, const char *words, size_t length)
{
    static const char blanks[] = " \t\n";
    size_t at = strspn(words, blanks);
    while (at < length) {
        size_t word = strcspn(words + at, blanks);
        word = word < length - at ? word : length - at;
        add(line, words + at, word);
        at += word;
        at += strspn(words + at, blanks);
    }
}

void kernel_line_free(kernel_line *line)
{
    for (int i = 0; i < line->count; i++) {
        free(line->words[i]);
    }
    free(line->words);
    *line = (kernel_line){0};
}

int kernel_line_run(const kernel_line *line, const char *input, char **said)
{
    compare_child child;
    kernel_line all = {0};
    /* A shell joins both outputs, so that messages keep their order. */
    kernel_line_add(&all, "/bin/sh");
    kernel_line_add(&all, "-c");
    kernel_line_add(&all, "exec \"$@\" <\"$0\" 2>&1");
    kernel_line_add(&all, input);
    for (int i = 0; i < line->count; i++) {
        kernel_line_add(&all, line->words[i]);
    }
    const bool ran = compare_run(all.words, SECONDS, &child);
    const int status = child.status;
    kernel_line_free(&all);
    *said = child.out;
    child.out = NULL;
    int code = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? TOOL_OK : TOOL_FAILED;
    if (tool_stop_asked()) {
        code = tool_error(TOOL_INTERRUPTED, "interrupted: nothing was written");
    } else if (!ran) {
        code = tool_error(TOOL_UNAVAILABLE, "%s does not start: %s", line->words[0],
                          strerror(child.error));
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED) {
        code = tool_error(TOOL_UNAVAILABLE, "%s does not start: %s", line->words[0],
                          *said ? *said : "no such program");
    }
    compare_child_free(&child);
    return code;
}
