/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - results as a document (docs/results.md): its frame and provenance, reading and
 * checking it, and its other forms: CSV, Markdown, the table on the terminal.
 */
#ifndef ISOMER_RECORD_H
#define ISOMER_RECORD_H

#include "bench/tool.h"

#include <stdarg.h>

#define RECORD_SCHEMA "isomer-results/1"

/* ---- provenance.c ---------------------------------------------------------------------------- */

/* The members of "run" that do not depend on the cases: command, version, library_version, time,
 * arguments, host, build, settings, environment, and empty flags. argv[0] is the command's name. */
json_t *record_run(const char *command, int argc, char **argv);

/* The commit of this build, with "-dirty" if files were changed; "": not known. */
const char *record_commit(void);

/* The current time in the form of "time" and "finished". */
json_t *record_now(void);

/* A member of "devices": tool_json_device of an open device with its properties, `fake`, current
 * `telemetry`, and empty roofs. NULL: not a device. */
json_t *record_device(iso_device device);

/* Tells whether other work took processor time: call record_noise_now before and after. The share
 * is that of the machine's processor time, 0 to 1, which others used or the hypervisor took
 * (steal). NaN: not known. */
typedef struct record_noise {
    double total, own, idle, steal; /* seconds since boot */
} record_noise;
void record_noise_now(record_noise *out);
double record_noise_share(const record_noise *before, const record_noise *after);

/* ---- load.c, fault.c ------------------------------------------------------------------------- */

/* Reads and checks a results file ("-" is standard input). NULL after reporting what is wrong;
 * `*code` is then TOOL_IO if it cannot be read, else TOOL_FILES: it is empty, truncated or not JSON
 * (line and column), JSON of another program (no "schema"), of a newer schema (its number and what
 * to do), or a member is missing or has a wrong type (its path). */
json_t *record_load(const char *path, int *code);
/* Larger files are refused, so that an endless stream does not fill the memory. */
enum { RECORD_MOST_MIB = 64 };

/* The same check of a document in memory. NULL, or a text that says what is wrong, to be freed. */
char *record_fault(const json_t *root);

/* ---- csv.c, markdown.c, table.c -------------------------------------------------------------- */

/* A header and a line for each result (RFC 4180), with decimal points in every locale and empty
 * fields for null. False: it could not be written. */
bool record_csv(FILE *out, const json_t *root);
/* A text as a field: quoted where needed, escaped where a terminal would obey it, and with a ' in
 * front where a spreadsheet would read a formula. */
void record_csv_text(FILE *out, const char *text);

/* The machine, a table for each operation with the fastest first, and the flags. */
bool record_markdown(FILE *out, const json_t *root);

/* A table for each operation within `width` columns, with a row for each case and a column for each
 * device and variant; a note says what was left out for want of width. Results that are not ok have
 * a mark instead of a number. */
void record_table(FILE *out, const json_t *root, int width, bool colour);

/* ---- figures.c: what all forms need ---------------------------------------------------------- */

const char *record_time(char *text, size_t room, double nanoseconds); /* "12.3 us" */
const char *record_rate(char *text, size_t room, double value); /* three digits: "4.57", "382" */

/* The member at a path of names: "times.median". NULL: missing. */
json_t *record_at(const json_t *object, const char *path);
/* The same as a text or a number; "" and NaN where it is null, missing or of another type. */
const char *record_text(const json_t *object, const char *path);
double record_number(const json_t *object, const char *path);

json_t *record_device_of(const json_t *root, const char *spec); /* NULL: not in "devices" */

/* A key of what a result computes, without its variant; to be freed. */
char *record_case(const json_t *result);

/* Puts a point where printf wrote the locale's decimal mark. Returns `text`. */
const char *record_point(char *text);

/* The flags of results and runs; the last has no name. */
typedef struct record_flag {
    const char *name, *meaning;
} record_flag;
extern const record_flag record_flags[];
const char *record_flag_meaning(const char *flag);
bool record_has_flag(const json_t *object, const char *flag); /* of a result or run */

/* ---- format.c: texts in memory, and with escaped arguments ----------------------------------- */

/* `block`; where it is NULL, the process ends with TOOL_INTERNAL: no memory. */
void *record_need(void *block);
/* `items` with room for one more than `count`. */
void *record_grow(void *items, int count, size_t size);
char *record_format(const char *format, ...) ISO_PRINTF(1, 2); /* to be freed; never NULL */
char *record_vformat(const char *format, va_list list) ISO_PRINTF(1, 0);

typedef void record_escape(FILE *out, const char *text);
/* vfprintf, but each %s goes through `escape`. Of the other conversions it knows %d and those of
 * doubles. */
void record_escaped(FILE *out, record_escape *escape, const char *format, va_list list);

#endif
