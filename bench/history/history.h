/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - the results of many runs in one database, and how each case changed over time. */
#ifndef ISOMER_HISTORY_H
#define ISOMER_HISTORY_H

#include "bench/record/record.h"
#include "bench/stats/stats.h"

/* ---- database.c: the tables, through SQLite -------------------------------------------------- */

typedef struct history_db history_db;

/* Opens the database in a folder (NULL: the user's). Without `create` it must exist already. NULL
 * after an error message, with an exit code. */
history_db *history_open(const char *folder, bool create, int *code);
void history_close(history_db *db);
const char *history_path(const history_db *db);

/* The values of a statement: its parameters are ?1, ?2, ... */
typedef struct history_value {
    const char *text; /* NULL: a number */
    double number;    /* NaN: null */
} history_value;

typedef void history_row(void *data, const history_value *columns);

/* Runs one statement and calls `row` (may be NULL) for each row. The texts of a row end with the
 * call. Returns TOOL_OK, or an exit code after an error message. */
int history_run(history_db *db, const char *sql, const history_value *values, int count,
                history_row *row, void *data);
/* The number of rows that the last statement changed, and the number of the row that it added. */
int history_changes(const history_db *db);
int64_t history_last_row(const history_db *db);

/* ---- add.c ----------------------------------------------------------------------------------- */

int history_add(history_db *db, const char *path, bool force);
int history_list(history_db *db, FILE *out);
int history_remove(history_db *db, const char *run);
/* The first ten characters of a commit, and "-dirty" if it has that. Returns `text`. */
const char *history_commit(char *text, size_t room, const char *commit);

/* ---- series.c: each case over time ----------------------------------------------------------- */

typedef struct history_filter {
    const tool_words *ops; /* as files say them */
    const char *pattern, *device, *machine, *dtype;
    int last;       /* only the newest runs of each series; 0: all */
    double fail_on; /* NaN: there is no gate */
    int within;     /* a change of this many of the newest runs fails the gate */
} history_filter;

/* A case in one run. */
typedef struct history_point {
    int64_t run;
    const char *time, *commit, *version, *system, *driver, *runtime, *library;
    const char *properties; /* of the device, as JSON */
    double median, low, high, confidence;
} history_point;

/* A step between two neighbouring levels of a series. */
typedef struct history_step {
    int32_t at; /* the first run after it */
    double p;   /* NaN: only the newest run differs */
    /* How much more time the runs after it take: a factor, with its interval. */
    stats_interval ratio;
    bool fails; /* the gate */
} history_step;

/* A case on a device of a machine, by one library whatever its version. */
typedef struct history_series {
    const char *machine, *device, *device_name, *name, *library;
    history_point *points;
    int32_t count;
    history_step *steps;
    int32_t step_count;
} history_series;

typedef struct history_set {
    history_series *series;
    int32_t count;
    json_t *texts;  /* has the texts of all series */
    int32_t judged; /* series with enough runs to find a change */
    int32_t fails;
    bool machines; /* there is more than one */
} history_set;

int history_read(history_db *db, const history_filter *filter, history_set *out);
void history_free(history_set *set);
/* "gemm/... on cuda:0 became 6.1 % slower (5.2 to 7.0, 95 %) with run 7 of ..."; to be freed. */
char *history_sentence(const history_set *set, const history_series *series,
                       const history_step *step);

/* The minute of a run: "2026-11-07 03:00". Returns `text`. */
const char *history_time(char *text, size_t room, const history_point *point);

/* ---- show.c ---------------------------------------------------------------------------------- */

void history_show(FILE *out, const history_set *set, const history_filter *filter);
json_t *history_json(const history_set *set);
bool history_csv(FILE *out, const history_set *set);

#endif
