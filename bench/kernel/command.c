/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `isomer kernel`: a text of the program's own kernels, and what to do with it. */
#include "bench/kernel/kernel.h"

#include <string.h>

static const kernel_command *const commands[] = {&kernel_embed, &kernel_text, &kernel_check,
                                                 &kernel_verify, &kernel_bench};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const char help_line[] = "  --help               shows this text\n";

static void show_one(const kernel_command *command)
{
    printf("Usage: isomer kernel %s\n\nThis command %s.\n\n%s%s", command->usage, command->about,
           command->options, help_line);
}

static void show_all(void)
{
    printf("Usage: isomer kernel COMMAND FILE [OPTIONS]\n\n"
           "The program's own kernels: a text of the language of isomer/kernel.h.\n\n");
    for (int i = 0; i < COMMANDS; i++) {
        printf("  %-8s  %s\n", commands[i]->name, commands[i]->about);
    }
    printf("\n`isomer kernel COMMAND --help` shows one of them.\n");
    for (int i = 0; i < COMMANDS; i++) {
        printf("\nisomer kernel %s\n%s", commands[i]->usage, commands[i]->options);
    }
    printf("\n%s", help_line);
}

static bool asks_help(int argc, char **argv)
{
    bool asks = false;
    for (int i = 1; i < argc; i++) {
        asks = asks || strcmp(argv[i], "--help") == 0;
    }
    return asks;
}

int tool_kernel(int argc, char **argv)
{
    const char *names[COMMANDS + 1] = {NULL};
    char text[256] = "";
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->name;
        tool_join(text, sizeof text, ", ", names[i]);
    }
    const bool named = argc > 1 && argv[1][0] != '-';
    if (!named && asks_help(argc, argv)) {
        show_all();
        return TOOL_OK;
    }
    if (!named) {
        return tool_error(TOOL_USAGE, "kernel needs one of: %s; see `isomer help kernel`", text);
    }
    const int at = tool_find(names, argv[1]);
    if (at < 0) {
        tool_say_unknown(text, sizeof text, argv[1], names);
        return tool_error(TOOL_USAGE, "kernel: %s", text);
    }
    if (asks_help(argc, argv)) {
        show_one(commands[at]);
        return TOOL_OK;
    }
    argv[1] = argv[0]; /* messages about options name the command of isomer */
    return commands[at]->run(argc - 1, argv + 1);
}
