/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - results documents (docs/results.md): makes their frame and provenance, reads and
 * checks them, and writes them in other forms: CSV, Markdown, the table on the terminal.
 */
#ifndef ISOMER_RECORD_H
#define ISOMER_RECORD_H

#include "bench/tool.h"

#include <stdarg.h>

#define RECORD_SCHEMA "isomer-results/1"

/* ---- provenance.c ---------------------------------------------------------------------------- */

/* The members of "run" that do not depend on the cases: command, version, library_version, time,
 * arguments, host, build, settings, environment, and empty flags. `argv[0]` is the name of the
 * command. */
json_t *record_run(const char *command, int argc, char **argv);
/* Sets "complete", and the flag of an interruption. */
void record_end(json_t *run, bool interrupted);

/* The commit of this build, with "-dirty" if files were changed; "": not known. */
const char *record_commit(void);

/* The current time in the form of "time" and "finished". */
json_t *record_now(void);

/* Makes a member of "devices" for an open device: that of tool_json_device, plus its properties,
 * `fake`, its current `telemetry`, and empty roofs. NULL: not a device. */
json_t *record_device(iso_device device);

/* Measures whether other work took processor time. Call record_noise_now before and after.
 * record_noise_share then returns the part of the machine's processor time, 0 to 1, that other
 * processes used or the hypervisor took (steal). NaN: not known. */
typedef struct record_noise {
    /* In seconds. `own` is the time of this process and its ended children; the others are times of
     * the machine since it booted. */
    double total, own, idle, steal;
} record_noise;
void record_noise_now(record_noise *out);
double record_noise_share(const record_noise *before, const record_noise *after);

/* ---- targets.c ------------------------------------------------------------------------------- */

typedef struct record_target {
    iso_device device;
    iso_device_info info;
} record_target;

typedef struct record_targets {
    record_target *items;
    int32_t count;
} record_targets;

/* Opens every device, and adds it to the "devices" of a run. Returns an exit code; what was opened
 * is to be closed in any case. */
int record_targets_open(json_t *root, const tool_words *specs, record_targets *out);
void record_targets_close(record_targets *targets);

/* ---- load.c, fault.c ------------------------------------------------------------------------- */

/* Reads and checks a results file, ours or Google Benchmark's ("-" is standard input). If that
 * fails, it reports why, returns NULL and sets `*code`. TOOL_IO: the file cannot be read.
 * TOOL_FILES: it is empty, truncated or not JSON (the message has the line and column); it is
 * another program's JSON (no "schema"); its schema is newer (the message says which, and what to
 * do); or a member is missing or has a wrong type (the message has its path). */
json_t *record_load(const char *path, int *code);
/* Larger files are refused, so that an endless stream does not use up the memory. */
enum { RECORD_MOST_MIB = 512 };

/* Checks a document in memory in the same way. Returns NULL, or a text that says what is wrong, to
 * be freed. */
char *record_fault(const json_t *root);

/* ---- csv.c, markdown.c, table.c -------------------------------------------------------------- */

/* Writes a header and a line for each result (RFC 4180), with decimal points in every locale and
 * empty fields for null. False: it could not be written. */
bool record_csv(FILE *out, const json_t *root);
/* Writes a text as a field: quoted if needed, with characters that control a terminal escaped, and
 * with a ' in front if a spreadsheet would read it as a formula. */
void record_csv_text(FILE *out, const char *text);

/* Writes the machine, a table for each operation with the fastest first, and the flags. */
bool record_markdown(FILE *out, const json_t *root);

typedef struct record_table_how {
    bool no_roofs;       /* without the tables of cases that only measure roofs */
    const json_t *notes; /* texts after the tables of the other cases; NULL: in the usual order */
} record_table_how;

/* Writes a table for each operation, with a row for each case and a column for each device and
 * variant. If `width` columns are too few, a note says what was left out. Results that are not ok
 * have a mark instead of a number. `how` NULL: every table, in the usual order. */
void record_table(FILE *out, const json_t *root, int width, bool colour,
                  const record_table_how *how);

/* ---- google_read.c, google_write.c ----------------------------------------------------------- */

/* Whether a file's JSON is Google Benchmark's. */
bool record_is_google(const json_t *root);
/* Says what is wrong with it, like record_fault. */
char *record_google_fault(const json_t *root);
/* Makes a results document of it, which the caller frees. */
json_t *record_from_google(const json_t *root);
/* Puts null where such a file has NaN or Infinity, which JSON does not have. False: nowhere. */
bool record_google_numbers(char *text, size_t length);

/* Returns the results in the form of Google Benchmark's JSON, which the caller frees. */
json_t *record_google(const json_t *root);

/* ---- tier.c ---------------------------------------------------------------------------------- */

/* What the results of a device rest on. */
tool_tier record_tier(const json_t *device);
/* The command that wrote a document without times: "verify", "reveal", "errors"; NULL: it may have
 * times. */
const char *record_untimed(const json_t *root);
/* Whether its times mean something. */
bool record_is_timed(const json_t *device);
/* Whether the times of two devices can be compared. */
bool record_may_compare(const json_t *a, const json_t *b);

/* ---- figures.c: what all forms need ---------------------------------------------------------- */

const char *record_time(char *text, size_t room, double nanoseconds); /* "12.3 us" */
const char *record_rate(char *text, size_t room, double value); /* three digits: "4.57", "382" */

/* The member at a path of names: "times.median". NULL: missing. */
json_t *record_at(const json_t *object, const char *path);
/* The same member as a text or a number. "" or NaN: it is null, missing or of another type. */
const char *record_text(const json_t *object, const char *path);
double record_number(const json_t *object, const char *path);

/* Whether the array of texts `key` has this one. */
bool record_lists(const json_t *object, const char *key, const char *text);

/* The numbers of an array, and the median of each round that has samples; to be freed. */
double *record_numbers(const json_t *list, int32_t *count);
double *record_rounds(const json_t *result, int32_t *count);

json_t *record_device_of(const json_t *root, const char *spec); /* NULL: not in "devices" */

/* Writes the size of a result from its "shape": "64Ki", "1024", "64x64x16384"; "": not known. */
const char *record_count(char *text, size_t room, double count); /* 67108864 as "64Mi" */
void record_size(char *text, size_t room, const json_t *shape);
/* Writes the properties of a result that are not the default: "nt", "axis 0", "cold". */
void record_note(char *text, size_t room, const json_t *result);

/* Whether a result is rated in FLOP/s. */
bool record_computes(const json_t *result);

/* A text that identifies what a result computes, to be freed. Results that differ only in variant,
 * device or library have the same one. */
char *record_case(const json_t *result);

/* Puts a point where printf wrote the locale's decimal mark. Returns `text`. */
const char *record_point(char *text);

/* ---- flags.c --------------------------------------------------------------------------------- */

typedef enum record_level {
    RECORD_NONE,
    RECORD_INFO,    /* how it was measured: shown in details only */
    RECORD_CAUTION, /* trust the number less: shown by one sign */
    RECORD_INVALID  /* the number is in no summary, mean or roof */
} record_level;
const char *record_level_name(record_level level); /* "", "info", "caution", "invalid" */

/* The flags of results and runs; the last has no name. */
enum { RECORD_FLAGS = 20 };
typedef struct record_flag {
    const char *name;
    record_level level;
    const char *meaning;
} record_flag;
extern const record_flag record_flags[RECORD_FLAGS + 1];
const char *record_flag_meaning(const char *flag);
bool record_has_flag(const json_t *object, const char *flag); /* `object`: a result or run */
/* The highest level among the flags of a result. */
record_level record_level_of(const json_t *result);

/* Half the width of a result's interval, divided by its median; NaN: under two rounds. */
double record_half_width(const json_t *result);
/* The percentage of a result's roof; NaN: none. Older files also have one for operands in a cache,
 * about which the memory's roof says nothing. */
double record_percent(const json_t *result);
/* The thresholds of "noisy" and "above-roof". */
bool record_is_noisy(double half_width, bool submit_bound);
bool record_is_above_roof(double percent);

/* What is said once for a whole document, and which of its results then get a sign. */
typedef struct record_signs {
    const json_t *root;
    json_t *notes;  /* sentences: what happened and what to do */
    unsigned *said; /* for each device a bit for each flag that a note says of it */
} record_signs;
void record_signs_make(const json_t *root, record_signs *out); /* `root` must outlive it */
void record_signs_free(record_signs *signs);
/* RECORD_NONE, RECORD_CAUTION or RECORD_INVALID: what no note says yet. */
record_level record_sign(const record_signs *signs, const json_t *result);
/* Whether a result has a flag that no note says yet. */
bool record_sign_has(const record_signs *signs, const json_t *result, const char *flag);

/* ---- labs.c, labs_table.c: the rows of the labs in a document -------------------------------- */

typedef struct record_lab {
    const char *id, *title;
    const char *look;      /* what to look at */
    const char *published; /* the labs' own figure; NULL: none */
} record_lab;

enum { RECORD_LABS = 24 };
extern const record_lab record_labs[RECORD_LABS];
int record_lab_of(const char *id);         /* its index; -1: there is no such row */
const char *record_lab_title(char letter); /* 'A': "Matrices" */

/* What is wrong with the member "labs" of a document, or NULL; to be freed. */
char *record_labs_fault(const json_t *root);

bool record_lab_ok(const json_t *entry);
/* The next entry of a row after `entry` (NULL: from the first); NULL: there are no more. */
const json_t *record_lab_next(const json_t *entries, const json_t *entry, const char *id);
/* A figure's value; NaN: none. */
double record_lab_figure(const json_t *entry, const char *name);

/* The columns of a row's table: the members of its cases, then the figures. */
enum { RECORD_LAB_COLUMNS = 24, RECORD_LAB_TEXT = 64 };
typedef struct record_lab_columns {
    const char *names[RECORD_LAB_COLUMNS];
    int count, sizes; /* the first `sizes` are members of cases */
} record_lab_columns;
void record_lab_find(const json_t *entries, const char *id, record_lab_columns *out);
void record_lab_cell(const json_t *entry, const record_lab_columns *columns, int column,
                     char text[RECORD_LAB_TEXT]);
/* "cuda:0", or "Numba 0.62, cuda:0" */
void record_lab_who(const json_t *entry, char text[RECORD_LAB_TEXT]);
/* What a row's column means; NULL: its name says it. */
const char *record_lab_meaning(const char *id, const char *name);
/* "12.3 us", "4.20 TB/s" */
void record_lab_value(char text[RECORD_LAB_TEXT], const char *unit, double value);

void record_labs_table(FILE *out, const json_t *entries);
void record_labs_markdown(FILE *out, const json_t *entries);

/* ---- comm.c: what communicators take, in a document ------------------------------------------ */

/* Whether an entry has figures. */
bool record_comm_ok(const json_t *entry);
bool record_comm_is_product(const json_t *entry);
/* Whether both have the same in each of the members, or lack it. */
bool record_comm_same(const json_t *a, const json_t *b, const char *const *members);
bool record_comm_is_of(const json_t *head, const json_t *entry); /* both are in one table */
/* A series is what differs in size alone, and its entries in place. Returns the next entry that
 * begins one, after `entry` (NULL: from the first); NULL: there are no more. */
const json_t *record_comm_next(const json_t *entries, const json_t *entry);
/* "all_reduce", "of f32 over 4 ranks by threads"; to be freed. */
char *record_comm_title(const json_t *entry);
void record_comm_table(FILE *out, const json_t *root);
/* A header and a line for each entry. */
void record_comm_csv(FILE *out, const json_t *entries);

/* ---- format.c: texts in memory, and with escaped arguments ----------------------------------- */

/* Returns `block`. If it is NULL, reports a lack of memory and ends the process. */
void *record_need(void *block);
/* Reallocates `items` so that there is room for one more than `count`. */
void *record_grow(void *items, int count, size_t size);
char *record_format(const char *format, ...) ISO_PRINTF(1, 2); /* to be freed; never NULL */
char *record_vformat(const char *format, va_list list) ISO_PRINTF(1, 0);

typedef void record_escape(FILE *out, const char *text);
/* vfprintf, but each %s is written by `escape`. The only other conversions that it supports are %d,
 * %% and those of doubles. */
void record_escaped(FILE *out, record_escape *escape, const char *format, va_list list);

#endif
