/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - shared by the files of the report. */
#ifndef ISOMER_REPORT_INTERNAL_H
#define ISOMER_REPORT_INTERNAL_H

#include "bench/ops/ops.h"
#include "bench/record/record.h"
#include "bench/report/report.h"

/* ---- model.c: the documents as flat tables --------------------------------------------------- */

typedef struct report_device {
    const json_t *json; /* NULL: a result names it, but its file does not describe it */
    int file;
    const char *spec, *name, *backend;
    char *brief; /* "cuda:0"; if there are several files, "FILE: cuda:0" */
    char *label; /* `brief` and the device's name */
    int colour;
    const tool_tier_words *tier;
} report_device;

typedef struct report_span {
    double value, low, high;
} report_span;

typedef struct report_row {
    const json_t *json;
    int device, group;
    int problem; /* a number for what is computed, by whatever variant and device */
    int place;   /* in the order of the documents */
    const bench_op *operation;
    const char *op, *kind, *variant, *dtype, *library, *status;
    char *shape; /* "4096 × 4096 × 4096" */
    bool ok, vendor;
    bool counts;       /* it is ok and not invalid: summaries take it */
    record_level sign; /* what no note says of the whole run */
    double size;
    report_span time, rate; /* the rate in the unit of its group */
    double percent;         /* of the roof; NaN: it has none */
} report_row;

/* Results that belong in one figure: an operation with its kind, type, layout and form of shape. */
typedef struct report_group {
    char *title; /* it is what sets the group apart */
    const bench_op *operation;
    const char *op, *kind, *dtype, *unit;
    bool flops;       /* its rate is in GFLOP/s, else GB/s */
    int first, count; /* its rows in the model */
} report_group;

typedef struct report_model {
    json_t *const *roots;
    char **files;        /* the name of each document */
    record_signs *signs; /* the notes on each document */
    int count;
    report_device *devices;
    int device_count;
    report_row *rows; /* by group */
    int row_count;
    report_group *groups;
    int group_count;
    int *best; /* the fastest row of each problem, device and report_who; -1: there is none */
    int ok;
} report_model;

void report_model_make(report_model *out, json_t *const *roots, const char *const *names,
                       int count);
void report_model_free(report_model *model);

/* Returns the first ok row after `row` (NULL: the first of all) that is of this group and device
 * (-1: of any). NULL: there are no more. */
const report_row *report_next(const report_model *model, const report_row *row, int group,
                              int device);

typedef enum report_who { REPORT_ANY, REPORT_OWN, REPORT_VENDOR, REPORT_WHOS } report_who;
bool report_is_by(const report_row *row, report_who who);

/* The fastest row of a device for a problem that counts; NULL: there is none. */
const report_row *report_model_best(const report_model *model, int problem, int device,
                                    report_who who);

/* Chooses the problem by which the devices of a group are compared: the one that most devices
 * solved, and the largest of these. Returns a row of that problem; NULL: no row is ok. */
const report_row *report_model_common(const report_model *model, int group, report_who who);

/* ---- text.c ---------------------------------------------------------------------------------- */

/* fprintf of markup (%s, %d and doubles), with each %s escaped. */
void report_put(FILE *out, const char *format, ...) ISO_PRINTF(2, 3);
/* Writes a text with the characters that control a terminal escaped. HTML is not escaped. */
void report_shown(FILE *out, const char *text, size_t length);

enum { REPORT_TEXT = 64 };
const char *report_time(char *text, double nanoseconds); /* "12.3 µs" in REPORT_TEXT bytes */
const char *report_rate(char *text, double value);
const char *report_bytes(char *text, double bytes);
const char *report_count(char *text, double value); /* "4096", "64 Mi" */
const char *report_type_words(const char *dtype);   /* "4-byte elements" */
/* "NVIDIA H200" without marks and words that say nothing; to be freed. */
char *report_short_name(const char *name);
char *report_shape(const json_t *result); /* to be freed */
char *report_value(const json_t *value);  /* any JSON, for people; to be freed */

enum { REPORT_COLOURS = 8 }; /* of devices: --device-0 to --device-7 */

/* ---- the page -------------------------------------------------------------------------------- */

typedef struct report_page {
    const report_model *model;
    FILE *out;
} report_page;

void report_sentences(report_page *page);
void report_libraries(report_page *page); /* isomer's kernels against vendors' libraries */
void report_machines(report_page *page);
void report_table(report_page *page, const char *op); /* of all rows of an operation */
void report_flag_legend(FILE *out);

/* Writes the start of a table that scrolls. */
void report_table_open(FILE *out, const char *caption);

extern const char report_text_css[], report_text_js[];

#endif
