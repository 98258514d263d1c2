/* SPDX-License-Identifier: Apache-2.0 */
/* tool.h - what the commands of the tool share. Data goes to stdout, all else to stderr. */
#ifndef ISOMER_TOOL_H
#define ISOMER_TOOL_H

#include <isomer/isomer.h>

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Exit codes. */
enum {
    TOOL_OK = 0,
    TOOL_FAILED = 1,      /* a check failed */
    TOOL_USAGE = 2,       /* the command line or a setting makes no sense */
    TOOL_UNAVAILABLE = 3, /* a named or required backend is not there */
    TOOL_NOTHING = 4,     /* no case ran */
    TOOL_FILES = 5,       /* inputs that cannot be read as results, or not be compared */
    TOOL_IO = 6,
    TOOL_INTERNAL = 70,    /* a fault of isomer's own, or memory ran out */
    TOOL_SKIP = 77,        /* `info --available` alone: not there, and need not be */
    TOOL_INTERRUPTED = 130 /* by a signal; what was measured is kept */
};

extern const char *tool_name; /* as it was called */

int tool_info(int argc, char **argv);
int tool_verify(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_report(int argc, char **argv);

/* ---- text.c ---------------------------------------------------------------------------------- */

/* "isomer: ..." on stderr, further lines indented; gives `code` back. */
int tool_error(int code, const char *format, ...) ISO_PRINTF(2, 3);

double tool_seconds(void); /* of the monotonic clock */

/* The exit code for a status of the library. */
int tool_code(iso_status status);

/* The name nearest to `word`, or NULL where none is near. */
const char *tool_nearest(const char *word, const char *const *names, int count);

int tool_width(FILE *out);   /* columns of the terminal; 100 elsewhere */
bool tool_colour(FILE *out); /* a terminal, and NO_COLOR is not set */

/* Prints `text` wrapped at spaces. The line already holds `column` columns; those after it begin
 * with `indent` spaces. Ends with a new line. */
void tool_wrap(FILE *out, int column, int indent, const char *text);

/* Columns of a UTF-8 text. */
int tool_columns(const char *text);

const char *tool_bytes(char *text, size_t room, int64_t bytes); /* "31.2 GiB" */

/* ---- terminal.c ------------------------------------------------------------------------------ */

/* From now on stdout and stderr escape what a terminal would obey (printable.h), and no file that
 * is opened gets the number of an output that was closed. False: no memory. */
bool tool_terminal_open(void);
/* Writes a colour or a movement of the cursor of our own, as it is. */
void tool_escape(FILE *out, const char *sequence);
/* Standard output for data, whose writers escape by their format's own rules. */
FILE *tool_data(void);
int tool_descriptor(FILE *out); /* of the two streams, too */
/* A bar on stderr, ten times a second at most, with a text behind it; `done` is from 0 to 1. */
void tool_progress(double done, const char *format, ...) ISO_PRINTF(2, 3);
void tool_progress_end(void);
/* Writes what waits. False where an output has failed at any time. */
bool tool_terminal_done(void);

/* ---- options.c ------------------------------------------------------------------------------- */

typedef struct tool_option {
    const char *name;   /* without "--" */
    const char **value; /* takes a value; else */
    bool *flag;
} tool_option;

/* Reads argv[1..]. Gives TOOL_OK or an exit code after saying what was wrong. */
int tool_options(int argc, char **argv, const tool_option *options, int count);

/* A list "a,b,c". */
typedef struct tool_words {
    char *text;
    const char **items;
    int count;
} tool_words;

bool tool_split(const char *text, tool_words *out); /* false: no memory */
void tool_words_free(tool_words *words);
bool tool_words_have(const tool_words *words, const char *word);

/* Names that a word may be; each list ends with NULL. */
enum { TOOL_NAMES = 64 };
typedef struct tool_names {
    const char *items[TOOL_NAMES + 1];
    int count;
} tool_names;

void tool_names_add(tool_names *names, const char *name);  /* once; not NULL, not "" */
int tool_find(const char *const *names, const char *word); /* -1: it is not there */
/* "... is not known, did you mean ...? it may be ..." */
void tool_say_unknown(char *text, size_t room, const char *word, const char *const *names);
/* Whether every word of an option's list is one of the names: TOOL_OK, or TOOL_USAGE, said. */
int tool_words_check(const char *option, const tool_words *words, const tool_names *names);

/* ---- select.c: devices ----------------------------------------------------------------------- */

/* Whether `--backend` (NULL: not given) and ISOMER_BACKEND leave it at every device there is. */
bool tool_takes_all(const char *backend);

/* The entries of a list of specs as the library reads them; `from` is named where it cannot.
 * TOOL_OK or an exit code, said. */
int tool_spec_list(const char *list, const char *from, tool_words *out);
/* The same for what must be there: NULL and "" are nothing, and `auto` is refused. */
int tool_required(const char *list, const char *from, tool_words *out);

/* The specs that a command is to open, in order; an item that is NULL is what ISOMER_BACKEND names.
 * What --require (may be NULL) and ISOMER_REQUIRE name was opened and closed again. TOOL_OK or an
 * exit code, said. */
int tool_specs(const char *backend, const char *require, tool_words *out);

/* ---- available.c: one device for a script ---------------------------------------------------- */

/* `isomer info --available`: TOOL_OK and "required" or "optional" on standard output; or, said,
 * TOOL_SKIP where it is not there and need not be, TOOL_UNAVAILABLE where it must be. */
int tool_available(const char *spec, const char *require);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Says so, takes temporary files away and ends the process with TOOL_INTERNAL. */
_Noreturn void tool_no_memory(const char *what);
/* The same with the library's text, where that is the status of a call: a list that ends there
 * would look as if there were no more. */
void tool_need_memory(iso_status status);
/* iso_device_get_property and iso_get_setting; false: there are no more. */
bool tool_property(iso_device device, int32_t index, iso_property *out);
bool tool_setting(int32_t index, iso_setting *out);
/* From now on a document in memory (Jansson) that cannot be made whole ends the process that way.
 */
void tool_documents_whole(void);

/* ---- file.c: results in files, whole or not at all ------------------------------------------- */

typedef struct tool_file {
    const char *path; /* NULL: not wanted; "-": stdout */
    char *temporary;
    FILE *stream;
    bool failing; /* the last checkpoint could not be written, which was said */
} tool_file;

/* Makes sure that it can be written, before the work. TOOL_OK or TOOL_IO, said. */
int tool_file_open(tool_file *file, const char *path);
/* Puts it in place. TOOL_OK or TOOL_IO, said. */
int tool_file_commit(tool_file *file);
/* Puts `root` in place as the whole content and goes on, so that a run that is killed leaves what
 * it had. Nothing for standard output, pipes and devices. TOOL_OK; or TOOL_IO, where the last whole
 * content stays: said once, until one succeeds. */
int tool_file_checkpoint(tool_file *file, const json_t *root);
/* Forgets what was not committed. */
void tool_file_discard(tool_file *file);
/* Writes `root` as the whole content and commits. */
int tool_file_json(tool_file *file, const json_t *root);
/* Takes away every temporary file; for signal handlers. */
void tool_files_sweep(void);

/* ---- read.c ---------------------------------------------------------------------------------- */

/* A whole file ("-": standard input), to be freed; NULL with errno, EFBIG where it has more. */
char *tool_read(const char *path, int most_mib, size_t *length);
/* What errno means after that. */
const char *tool_read_problem(int most_mib, char *text, size_t room);

/* ---- signals.c ------------------------------------------------------------------------------- */

/* From now on a signal that ends the process also removes temporary files, and a fault's signal
 * reports what was being done. Signals that have a handler already keep it, except SIGABRT. */
void tool_signals_watch(void);
/* Blocks the signals that come from outside, while something is made that their handler has to
 * remove; `before` is for sigprocmask. */
void tool_signals_hold(sigset_t *before);
/* While this is on, SIGINT, SIGTERM and SIGHUP do not end the process: tool_stop_asked says that
 * one came. Ignored signals stay ignored. */
void tool_stop_watch(bool on);
bool tool_stop_asked(void);
/* A child that leads a process group, which ends with this process; 0: no child. */
void tool_signals_child(pid_t child);
/* A temporary folder: it is removed with its files at the process's end or by tool_folder_remove.
 */
void tool_signals_folder(const char *path);
void tool_folder_remove(void);
/* What a fault would be blamed on: "measuring this on that: ..."; NULL: nothing. */
void tool_doing(const char *format, ...) ISO_PRINTF(1, 2);

/* ---- json.c ---------------------------------------------------------------------------------- */

json_t *tool_json_text(const char *text); /* null for "" */
json_t *tool_json_number(double value);   /* null where it is not finite */
void tool_set_int(json_t *object, const char *key, int64_t value);
void tool_set_text(json_t *object, const char *key, const char *value);
void tool_set_number(json_t *object, const char *key, double value);
json_t *tool_json_device(const iso_device_info *info);
bool tool_is_fake(const iso_device_info *info);              /* a stand-in made for tests */
json_t *tool_json_telemetry(const iso_telemetry *telemetry); /* null for NULL */

/* ---- enumerate.c ----------------------------------------------------------------------------- */

/* All rows of iso_enumerate, to be freed; NULL after saying why. */
iso_entry *tool_enumerate(int32_t *count);

/* The vendor's libraries for products on a device, of which the first is the default; how many. */
int32_t tool_libraries(iso_device device, char (*names)[ISO_NAME_MAX], int32_t room);

#endif
