/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - shared by the commands of `isomer kernel`. */
#ifndef ISOMER_KERNEL_COMMANDS_H
#define ISOMER_KERNEL_COMMANDS_H

#include "bench/tool.h"

/* A command of `isomer kernel`. A new one is a row of the table in command.c; help, messages and
 * completions follow, but the manual page needs its options. */
typedef struct kernel_command {
    const char *name;
    const char *about;   /* one line of the help */
    const char *usage;   /* after "isomer kernel " */
    const char *options; /* lines of the help, each with its end */
    /* argv[0] is "kernel"; --help never comes here. Returns an exit code. */
    int (*run)(int argc, char **argv);
} kernel_command;

extern const kernel_command kernel_embed;  /* embed.c */
extern const kernel_command kernel_text;   /* text.c */
extern const kernel_command kernel_check;  /* check.c */
extern const kernel_command kernel_verify; /* verify.c */
extern const kernel_command kernel_bench;  /* bench.c */

/* ---- source.c: a text and its macros --------------------------------------------------------- */

/* The text of a file, and the macros of --define. The name is the path as it was given. */
typedef struct kernel_source {
    char *text;
    char *defined; /* the texts of the macros */
    iso_macro *macros;
    iso_program_args args; /* points to all of the above */
} kernel_source;

/* Takes each --define NAME=VALUE out of the arguments; NAME alone is 1. This function and the next
 * one return TOOL_OK, or print an error message and return an exit code. After kernel_defines the
 * caller frees the source. */
int kernel_defines(int *argc, char **argv, kernel_source *out);
/* Reads the file. It must be the only one. */
int kernel_open(const tool_words *files, const char *command, kernel_source *out);
void kernel_source_free(kernel_source *source);

/* The text that compilers get, which the caller frees; NULL after an error message, with `*code`.
 */
char *kernel_complete(const kernel_source *source, int *code);

/* The exit code for what the library said about a text: a text that is wrong is TOOL_FAILED. */
int kernel_code(iso_status status);

/* ---- compiler.c: the C compiler of a build --------------------------------------------------- */

/* A command line, which the caller frees. */
typedef struct kernel_line {
    char **words;
    int count, room;
} kernel_line;

void kernel_line_add(kernel_line *line, const char *word);
void kernel_line_split(kernel_line *line, const char *words, size_t length); /* at blanks */
void kernel_line_free(kernel_line *line);

/* Runs the command with this file as its input; `*said` gets what it wrote, which the caller frees.
 * Returns TOOL_OK, TOOL_FAILED if the command failed, or another exit code after an error message.
 */
int kernel_line_run(const kernel_line *line, const char *input, char **said);

#endif
