/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - `isomer kernel text`: what compilers get for a text of kernels. */
#include "bench/kernel/kernel.h"

#include <stdlib.h>

static const char options[] =
    "  --define NAME=VALUE  a macro for the text; may be given again\n"
    "  --out FILE           text: the file; - is standard output, the default\n";

static int write_text(const kernel_source *source, const char *path)
{
    tool_file file;
    int code = TOOL_OK;
    char *text = kernel_complete(source, &code);
    if (text) {
        code = tool_file_open(&file, path);
    }
    if (text && code == TOOL_OK) {
        fputs(text, file.stream);
        code = tool_file_commit(&file);
    }
    free(text);
    return code;
}

static int run(int argc, char **argv)
{
    const char *out = "-", *define = NULL;
    const tool_option known[] = {{"define", &define, NULL}, {"out", &out, NULL}};
    tool_words files = {0};
    kernel_source source;
    int code = kernel_defines(&argc, argv, &source);
    if (code == TOOL_OK) {
        code = tool_options(argc, argv, known, (int)(sizeof known / sizeof known[0]), &files);
    }
    if (code == TOOL_OK) {
        code = kernel_open(&files, "text", &source);
    }
    if (code == TOOL_OK) {
        code = write_text(&source, out);
    }
    tool_words_free(&files);
    kernel_source_free(&source);
    return code;
}

const kernel_command kernel_text = {
    .name = "text",
    .about = "writes what compilers get for a text",
    .usage = "text FILE [--define NAME=VALUE]... [--out FILE]",
    .options = options,
    .run = run,
};
