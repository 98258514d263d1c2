/* SPDX-License-Identifier: Apache-2.0 */
/* embedder.c - `isomer kernel` alone, which compiles the kernels of this tree while it is built. */
#include "bench/tool.h"

#include <string.h>

const char *tool_name = "isomer-embedder";

int main(int argc, char **argv)
{
    tool_documents_whole();
    if (!tool_terminal_open()) {
        tool_no_memory("printing");
    }
    if (argc < 2 || strcmp(argv[1], "kernel") != 0) {
        return tool_error(TOOL_USAGE, "%s has the command kernel alone", tool_name);
    }
    return tool_kernel(argc - 1, argv + 1);
}
