/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - `isomer tune`: measures what a device's table of measured choices holds
 * (docs/tuning.md).
 *
 * Every candidate is measured on the path that programs get: a handle of the device that was opened
 * with a table which names that way for each shape. So the tool needs nothing of the library but
 * what any program can do.
 */
#ifndef ISOMER_TUNE_H
#define ISOMER_TUNE_H

#include "bench/tool.h"
#include "bench/workload/workload.h"
#include "common/tuned.h"

enum {
    TUNE_WAYS = 64,     /* of a type */
    TUNE_VARIANTS = 4,  /* as in a row */
    TUNE_PROBLEMS = 512 /* of a run */
};

/* ---- place.c: a device and the place of its table -------------------------------------------- */

typedef struct tune_device {
    iso_device_info info;
    char key[TUNED_LINE], versions[TUNED_LINE];
    char ways[ISO_REASON_MAX]; /* the property of that name */
    char told[ISO_REASON_MAX]; /* the property "tuned table": what the library uses */
    char folder[ISO_REASON_MAX], path[ISO_REASON_MAX + TUNED_NAME];
} tune_device;

/* Finds out what identifies the device that `spec` names (NULL: ISOMER_BACKEND's), and where its
 * table is. This function and the next ones return TOOL_OK, or print an error message and return an
 * exit code. */
int tune_device_find(const char *spec, tune_device *out);
/* The names of the ways of a type; returns how many there are. */
int32_t tune_ways(const tune_device *device, iso_dtype dtype, char names[TUNE_WAYS][TUNED_WAY]);
/* The value of a device's property; "": it has none of that name. */
void tune_property(iso_device device, const char *name, char *text, size_t room);
/* Refuses a place where something else lies than this device's table, valid or not. */
int tune_guard(const tune_device *device);
/* Makes the folder of the table and those above it, for this user alone. */
int tune_make_folder(const tune_device *device);
/* Keeps other runs away from the table, whose folder exists. */
int tune_lock(const tune_device *device, int *descriptor);
void tune_unlock(const tune_device *device, int descriptor);

/* ---- store.c: the table ---------------------------------------------------------------------- */

/* Reads the device's table; *out is NULL if there is none. A table that the library refuses is
 * reported and counts as none. The caller frees it. */
int tune_load(const tune_device *device, tuned_table **out);
/* The same for the table that came with the library, if it uses that one. Then its path becomes the
 * device's. */
int tune_load_packaged(tune_device *device, tuned_table **out);
/* Finds out before anything is measured whether the library would use a table in the folder. */
int tune_probe(const tune_device *device);
/* Writes the table to its place if the library takes it; else what was there stays. */
int tune_store(const tune_device *device, tuned_table *table);
int tune_remove(const tune_device *device);
/* Opens a handle of the device with a table that names this way for each of the shapes; NULL: with
 * none. */
work_target *tune_open(const tune_device *device, const char *way, const tuned_shape *shapes,
                       int32_t count, work_inputs *inputs, int *code);

/* ---- grid.c: what is measured ---------------------------------------------------------------- */

/* Shapes of one operation and type, which are measured together. */
typedef struct tune_batch {
    int32_t first, count; /* in the list of shapes */
} tune_batch;

typedef struct tune_grid {
    tuned_shape shapes[TUNE_PROBLEMS];
    tune_batch batches[TUNE_PROBLEMS + 1]; /* one more, which is being made */
    int32_t count, batch_count;
} tune_grid;

/* Texts are lists of words; NULL: the usual ones. */
typedef struct tune_choice {
    const char *op, *dtype, *size, *layout;
} tune_choice;

/* Makes the shapes, the most important ones first. Returns TOOL_OK, or an exit code after an error
 * message. */
int tune_grid_make(const tune_choice *choice, tune_grid *out);
/* Leaves out the shapes that the table has. Returns how many are left. */
int32_t tune_grid_rest(tune_grid *grid, const tuned_table *table);
/* "f32 nn 1024x1024x1024 batch 8" */
void tune_shape_text(const tuned_shape *shape, char *text, size_t room);

/* ---- batch.c, judge.c: measuring ------------------------------------------------------------- */

/* A pair of a case and a handle, in the order of the results. */
typedef struct tune_pair {
    int32_t shape;   /* its index in the batch */
    int32_t variant; /* a tuned_variant */
    int32_t way;     /* the index of the way; -1: the backend chooses */
} tune_pair;

typedef struct tune_run {
    const tune_device *device;
    uint64_t seed;
    /* What came of it. */
    tuned_table *table;      /* with room for all shapes */
    int32_t measured, wrong; /* rows, and results that were reported */
    int32_t impossible;      /* shapes that do not run on the device */
    int32_t failed;          /* shapes without a row because of a call or a result */
    bool full;               /* a row had no room */
} tune_run;

/* With less time, in seconds, nothing is measured. */
#define TUNE_LEAST 0.2

/* Measures the shapes of a batch, and adds rows to run->table. The run ends at `end`, by
 * tool_seconds; what compiling leaves of that time is shared by so many batches. */
int tune_batch_run(tune_run *run, const tuned_shape *shapes, int32_t count, double end,
                   int32_t batches);
/* Adds the rows that a document of results gives. `pairs` has as many members as the document has
 * results. */
void tune_judge(tune_run *run, const tuned_shape *shapes, int32_t count, const tune_pair *pairs,
                char ways[TUNE_WAYS][TUNED_WAY], const json_t *results);

/* ---- show.c ---------------------------------------------------------------------------------- */

/* A table that the library uses; `packaged`: which came with it. */
void tune_show(FILE *out, const tune_device *device, const tuned_table *table, bool packaged);
/* Which row covers each of the shapes. */
void tune_show_cover(FILE *out, const tuned_table *table, const tune_grid *grid);

#endif
