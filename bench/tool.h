/* SPDX-License-Identifier: Apache-2.0 */
/* tool.h - shared by the tool's commands. Data goes to stdout, everything else to stderr. */
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
    TOOL_USAGE = 2,       /* the command line or a setting is invalid */
    TOOL_UNAVAILABLE = 3, /* a named or required backend is not available */
    TOOL_NOTHING = 4,     /* no case ran */
    TOOL_FILES = 5,       /* a file is not a results file, or cannot be compared */
    TOOL_IO = 6,
    TOOL_INTERNAL = 70,    /* a fault in isomer, or memory ran out */
    TOOL_SKIP = 77,        /* only `info --available`: not available and not required */
    TOOL_INTERRUPTED = 130 /* by a signal; results are kept */
};

extern const char *tool_name; /* the name by which it was started */

int tool_info(int argc, char **argv);
int tool_verify(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_report(int argc, char **argv);
int tool_history(int argc, char **argv);
int tool_vectors(int argc, char **argv);
int tool_reveal(int argc, char **argv);
int tool_errors(int argc, char **argv);
int tool_kernel(int argc, char **argv);
int tool_tune(int argc, char **argv);

/* ---- text.c ---------------------------------------------------------------------------------- */

/* Prints "isomer: ..." on stderr with further lines indented. Returns `code`. */
int tool_error(int code, const char *format, ...) ISO_PRINTF(2, 3);

double tool_seconds(void); /* of the monotonic clock */

/* The library's last error, without the name of the library's function. */
const char *tool_reason(void);

/* The exit code for a status of the library. */
int tool_code(iso_status status);

/* The name most similar to `word`, or NULL if none is similar. */
const char *tool_nearest(const char *word, const char *const *names, int count);

int tool_width(FILE *out);   /* columns of the terminal; 100 if `out` is not a terminal */
bool tool_colour(FILE *out); /* a terminal, and NO_COLOR is not set */

/* Prints `text` wrapped at spaces, and a newline. The first line already has `column` columns; the
 * next ones begin with `indent` spaces. */
void tool_wrap(FILE *out, int column, int indent, const char *text);

int tool_columns(const char *text); /* the columns of a UTF-8 text */

/* Appends `more`, after the separator if there is already a text; cut if there is no room. */
void tool_join(char *text, size_t room, const char *separator, const char *more);

void tool_digest_text(const uint64_t digest[2], char text[33]);
const char *tool_bytes(char *text, size_t room, int64_t bytes); /* "31.2 GiB" */

/* ---- terminal.c ------------------------------------------------------------------------------ */

/* From now on stdout and stderr escape control characters (printable.h), and no file gets the
 * descriptor of a closed output. False: no memory. */
bool tool_terminal_open(void);
/* Writes our own colour or cursor movement unescaped. */
void tool_escape(FILE *out, const char *sequence);
/* Standard output for data; its writers escape by the rules of their format. */
FILE *tool_data(void);
int tool_descriptor(FILE *out); /* like fileno, but also works for stdout and stderr */
/* Shows a progress bar with a text on stderr, at most ten times a second; `done` is 0 to 1. */
void tool_progress(double done, const char *format, ...) ISO_PRINTF(2, 3);
void tool_progress_end(void);
/* Flushes standard output. False if writing to it ever failed. */
bool tool_terminal_done(void);

/* ---- options.c ------------------------------------------------------------------------------- */

typedef struct tool_option {
    const char *name;   /* without "--" */
    const char **value; /* NULL: the option takes no value ... */
    bool *flag;         /* ... and sets this */
} tool_option;

/* A list "a,b,c". */
typedef struct tool_words {
    char *text;
    const char **items;
    int count;
} tool_words;

/* Reads argv[1..]. Arguments that are not options go to `files`, or are errors if that is NULL.
 * Returns TOOL_OK, or prints an error message and returns an exit code. */
int tool_options(int argc, char **argv, const tool_option *options, int count, tool_words *files);

/* Reads the value of an option as a whole number. If the text is NULL, `*out` stays as it is.
 * Returns TOOL_OK, or TOOL_USAGE after an error message. */
int tool_whole(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *out);

bool tool_split(const char *text, tool_words *out); /* false: no memory */
void tool_words_free(tool_words *words);
bool tool_words_have(const tool_words *words, const char *word);

/* The names that are valid for a word. Each list ends with NULL. */
enum { TOOL_NAMES = 64 };
typedef struct tool_names {
    const char *items[TOOL_NAMES + 1];
    int count;
} tool_names;

void tool_names_add(tool_names *names, const char *name); /* skips NULL, "" and duplicates */
/* Whether a text fits a pattern: it contains it, or matches it if the pattern has * ? or [. */
bool tool_matches(const char *pattern, const char *text);
int tool_find(const char *const *names, const char *word); /* its index; -1: none */
/* "... is not known, did you mean ...? It must be one of ..." */
void tool_say_unknown(char *text, size_t room, const char *word, const char *const *names);
/* Returns TOOL_OK if every word of an option's list is one of the names. Otherwise prints a message
 * and returns TOOL_USAGE. */
int tool_words_check(const char *option, const tool_words *words, const tool_names *names);

/* ---- select.c: devices ----------------------------------------------------------------------- */

/* Whether `--backend` (NULL: not given) and ISOMER_BACKEND select all devices. */
bool tool_takes_all(const char *backend);

/* Reads the entries of a list of specs as the library does. Messages name `from`, the option or
 * variable that has the list. This function and the next two return TOOL_OK, or print an error
 * message and return an exit code. */
int tool_spec_list(const char *list, const char *from, tool_words *out);
/* The same for a list of required devices: NULL and "" are empty lists, and `auto` is refused. */
int tool_required(const char *list, const char *from, tool_words *out);

/* Finds the specs that a command opens, in order. NULL stands for the device that ISOMER_BACKEND
 * names. First it opens and closes the devices that --require (may be NULL) and ISOMER_REQUIRE
 * name, because they must be available. */
int tool_specs(const char *backend, const char *require, tool_words *out);

/* ---- available.c: one device for a script ---------------------------------------------------- */

/* `isomer info --available`: prints "required" or "optional" and returns TOOL_OK if the device is
 * available. Otherwise prints a message and returns TOOL_UNAVAILABLE if it is required, else
 * TOOL_SKIP. */
int tool_available(const char *spec, const char *require);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Reports that there is no memory for `what`, removes temporary files and ends the process with
 * TOOL_INTERNAL. */
_Noreturn void tool_no_memory(const char *what);
/* tool_alloc returns zeroed memory; tool_resize does not zero the new part. Neither returns NULL:
 * without memory the process ends as above. */
void *tool_alloc(size_t count, size_t size, const char *what);
void *tool_resize(void *block, size_t count, size_t size, const char *what);
/* Ends the process with the library's message if `status` is ISO_NO_MEMORY, because a list that
 * stopped there would look complete. */
void tool_need_memory(iso_status status);
/* Call iso_device_get_property and iso_get_setting; false after the last one. */
bool tool_property(iso_device device, int32_t index, iso_property *out);
bool tool_setting(int32_t index, iso_setting *out);
/* From now on the process also ends if Jansson has no memory. Otherwise a document could lack a
 * member, and look as if it never had it. */
void tool_documents_whole(void);

/* ---- file.c: complete results files, or none ------------------------------------------------- */

typedef struct tool_file {
    const char *path; /* NULL: none; "-": stdout */
    char *temporary;
    FILE *stream;
    bool failing; /* the last checkpoint failed, which was reported */
} tool_file;

/* Opens the file before the work, so that a file that cannot be written is reported at once. This
 * function and the next ones return TOOL_OK, or print an error message and return an exit code. */
int tool_file_open(tool_file *file, const char *path);
/* Closes the finished file and gives it its name. */
int tool_file_commit(tool_file *file);
/* Writes `root` as the file's content and continues, so that the results so far remain if the run
 * is killed. Does nothing for standard output, pipes and devices. If it fails, the previous content
 * stays. Failures are reported once, until a checkpoint succeeds again. */
int tool_file_checkpoint(tool_file *file, const json_t *root);
/* Closes the file, and removes it if it was not committed. */
void tool_file_discard(tool_file *file);
/* Writes the content with `write`, or as JSON, and commits. */
int tool_file_write(tool_file *file, bool (*write)(FILE *out, const json_t *root),
                    const json_t *root);
int tool_file_json(tool_file *file, const json_t *root);
/* Removes all temporary files; for signal handlers. */
void tool_files_sweep(void);

/* ---- read.c ---------------------------------------------------------------------------------- */

/* Reads a whole file ("-": standard input), which the caller frees. NULL with errno, which is EFBIG
 * if the file is larger than `most_mib`. */
char *tool_read(const char *path, int most_mib, size_t *length);
/* Writes what errno means after tool_read failed. */
const char *tool_read_problem(int most_mib, char *text, size_t room);

/* ---- signals.c ------------------------------------------------------------------------------- */

/* From now on a signal that ends the process also removes temporary files, and a fault's signal
 * reports what was being done. Signals that have a handler already keep it, except SIGABRT. */
void tool_signals_watch(void);
/* Blocks the signals that come from outside. Call this before making something that their
 * handler has to remove, such as a temporary file. `before` gets the old mask, for sigprocmask. */
void tool_signals_hold(sigset_t *before);
/* Removes temporary files and kills the child; for signal handlers. */
void tool_signals_clean(void);
/* While this is on, the first SIGINT, SIGTERM or SIGHUP does not end the process; tool_stop_asked
 * is true after it came. A second one, a second later or more, ends it. Ignored signals stay
 * ignored. Watches may be nested: the outermost one counts. */
void tool_stop_watch(bool on);
bool tool_stop_asked(void);
/* While the second is on, a second signal does not end the process, but makes the first true. */
bool tool_stop_again(void);
void tool_stop_wait(bool on);
/* Like tool_stop_asked, for loops over cases. When it is first true, it says that results are kept,
 * and from then on a second signal ends the process. */
bool tool_interrupted(void);
/* Sets a child that leads a process group. The group is killed if a signal ends this process. 0: no
 * child. */
void tool_signals_child(pid_t child);
/* Notes what is being done, such as "measuring this on that: ...". If a fault ends the process, a
 * message says so. NULL: nothing. */
void tool_doing(const char *format, ...) ISO_PRINTF(1, 2);

/* ---- watch.c --------------------------------------------------------------------------------- */

typedef struct tool_watch {
    double seconds; /* that a piece of work may take */
    /* Is called by the watch's thread, if it is set, before the process ends with this code. It
     * may read and write whatever the thread that works does not use in a piece of work. */
    void (*late)(void *context, int code, const char *text);
    void *context;
} tool_watch;

/* Watches pieces of work until tool_watch_end. If one of them does not end in time, or after a
 * signal, the process says so and ends. */
void tool_watch_begin(const tool_watch *what);
void tool_watch_end(void);
/* A piece of work begins, such as "kernel/axpy/f32/10 on cuda:0", and ends. Nothing is watched
 * without tool_watch_begin. */
void tool_watch_work(const char *format, ...) ISO_PRINTF(1, 2);
void tool_watch_done(void);

/* ---- json.c ---------------------------------------------------------------------------------- */

json_t *tool_json_text(const char *text); /* null for "" */
json_t *tool_json_number(double value);   /* null if it is not finite */
void tool_set_int(json_t *object, const char *key, int64_t value);
void tool_set_text(json_t *object, const char *key, const char *value);
void tool_set_number(json_t *object, const char *key, double value);
void tool_set_bool(json_t *object, const char *key, bool value);
json_t *tool_json_device(const iso_device_info *info);
json_t *tool_json_telemetry(const iso_telemetry *telemetry); /* null for NULL */

/* ---- tier.c: evidence ------------------------------------------------------------------------ */

/* What the results of a device rest on. */
typedef enum tool_tier {
    TOOL_HARDWARE,   /* executed on the hardware */
    TOOL_SIMULATOR,  /* executed on a simulator or emulator of the hardware */
    TOOL_CPU_DRIVER, /* executed by another driver on a CPU */
    TOOL_COMPILED,   /* compiled and disassembled; no device has this tier */
    TOOL_STAND_IN,   /* the host's code ran over a stand-in made for tests */
    TOOL_TIERS
} tool_tier;

typedef struct tool_tier_words {
    const char *name;  /* as in a file */
    const char *words; /* what ran the cases, in a sentence */
    const char *mark;  /* to be shown beside the device; NULL: none */
    bool timed;        /* its times mean something */
} tool_tier_words;

extern const tool_tier_words tool_tiers[TOOL_TIERS];

tool_tier tool_tier_of(const iso_device_info *info);
bool tool_is_fake(const iso_device_info *info); /* a stand-in for tests */

/* ---- enumerate.c ----------------------------------------------------------------------------- */

/* Returns all rows of iso_enumerate, which the caller frees; NULL after an error message. */
iso_entry *tool_enumerate(int32_t *count);

/* Writes the names of the vendor's libraries for products on a device, the default first. Returns
 * their number. */
int32_t tool_libraries(iso_device device, char (*names)[ISO_NAME_MAX], int32_t room);

#endif
