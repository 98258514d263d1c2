/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the text of kernels that a command is given, and its macros. */
#include "bench/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MIB = 16 };

static const char option[] = "--define";

/* Whether argv[i] is a --define with a value, which is then in *value; *words is how many words
 * both are. */
static bool is_define(int argc, char **argv, int i, const char **value, int *words)
{
    const size_t length = sizeof option - 1;
    if (strncmp(argv[i], option, length) != 0) {
        return false;
    }
    if (argv[i][length] == '=') {
        *value = argv[i] + length + 1;
        *words = 1;
        return true;
    }
    *value = i + 1 < argc ? argv[i + 1] : NULL;
    *words = 2;
    return argv[i][length] == '\0' && *value;
}

static bool is_name(const char *text, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return length > 0 && strspn(text, letters) >= length && (text[0] < '0' || text[0] > '9');
}

/* Splits NAME=VALUE in place. */
static int add_macro(char *text, kernel_source *out)
{
    static const char one[] = "1";
    char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : strlen(text);
    if (!is_name(text, length)) {
        return tool_error(TOOL_USAGE,
                          "--define %s: a macro's name has letters, digits and _, and begins with "
                          "no digit: give NAME or NAME=VALUE",
                          text);
    }
    if (strchr(text, '\n')) {
        return tool_error(TOOL_USAGE, "--define %s: the value has a line end: give one line", text);
    }
    if (equals) {
        *equals = '\0';
    }
    out->macros[out->args.macro_count++] = (iso_macro){text, equals ? equals + 1 : one};
    return TOOL_OK;
}

int kernel_defines(int *argc, char **argv, kernel_source *out)
{
    size_t room = 1, used = 0;
    int left = 1, code = TOOL_OK;
    *out = (kernel_source){.args = ISO_PROGRAM_ARGS_INIT};
    for (int i = 1; i < *argc; i++) {
        room += strlen(argv[i]) + 1;
    }
    out->defined = tool_alloc(room, 1, "the command line");
    out->macros = tool_alloc((size_t)*argc, sizeof *out->macros, "the command line");
    for (int i = 1, words; i < *argc && code == TOOL_OK; i += words) {
        const char *value;
        words = 1;
        if (is_define(*argc, argv, i, &value, &words)) {
            const size_t length = strlen(value) + 1;
            code = add_macro(memcpy(out->defined + used, value, length), out);
            used += length;
        } else {
            words = 1;
            argv[left++] = argv[i];
        }
    }
    *argc = left;
    out->args.macros = out->macros;
    return code;
}

int kernel_open(const tool_words *files, const char *command, kernel_source *out)
{
    char problem[256];
    size_t length;
    if (files->count != 1) {
        return tool_error(TOOL_USAGE,
                          "kernel %s takes one file, and %d were given; see `isomer "
                          "kernel %s --help`",
                          command, files->count, command);
    }
    out->args.name = files->items[0];
    char *text = tool_read(out->args.name, TEXT_MIB, &length);
    if (!text) {
        return tool_error(TOOL_IO, "cannot read %s: %s", out->args.name,
                          tool_read_problem(TEXT_MIB, problem, sizeof problem));
    }
    out->text = tool_resize(text, length + 1, 1, "the text");
    out->text[length] = '\0';
    out->args.text = out->text;
    if (strlen(out->text) != length) {
        return tool_error(TOOL_FAILED, "%s has a byte 0 at %zu: a text of kernels has none",
                          out->args.name, strlen(out->text));
    }
    return TOOL_OK;
}

char *kernel_complete(const kernel_source *source, int *code)
{
    char *text = NULL;
    int64_t bytes = 0;
    iso_status status = iso_program_text(&source->args, NULL, 0, &bytes);
    if (!status) {
        text = tool_alloc((size_t)bytes, 1, "the text");
        status = iso_program_text(&source->args, text, bytes, &bytes);
    }
    if (status) {
        free(text);
        *code = tool_error(kernel_code(status), "%s", tool_reason());
        return NULL;
    }
    return text;
}

void kernel_source_free(kernel_source *source)
{
    free(source->text);
    free(source->defined);
    free(source->macros);
}

int kernel_code(iso_status status)
{
    return status == ISO_INVALID || status == ISO_COMPILE ? TOOL_FAILED : tool_code(status);
}
