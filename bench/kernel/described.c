/* SPDX-License-Identifier: Apache-2.0 */
/* described.c - the description of the text that a command is given. */
#include "bench/kernel/run.h"

#include <string.h>

int kernel_describe(const tool_words *files, const char *command, const char *with,
                    kernel_described *out)
{
    if (files->count != 1) {
        return tool_error(TOOL_USAGE,
                          "kernel %s takes one file, and %d were given; see `isomer kernel %s "
                          "--help`",
                          command, files->count, command);
    }
    if (iso_device_open("openmp", &out->device) != ISO_OK) {
        out->device.id = 0;
        return tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    return describe_load(out->device, files->items[0], with, out->source.macros,
                         out->source.args.macro_count, &out->file);
}

void kernel_described_close(kernel_described *described)
{
    describe_free(&described->file);
    kernel_source_free(&described->source);
    if (described->device.id != 0) {
        iso_device_close(described->device);
    }
}

char **kernel_arguments(const char *command, int argc, char **argv)
{
    const char **words = tool_alloc((size_t)argc + 2, sizeof *words, "the command line");
    words[0] = argv[0];
    words[1] = command;
    memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof *words);
    return (char **)words;
}
