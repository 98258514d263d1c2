/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - runs the rows that were asked for, on each device in turn. */
#include "bench/labs/labs.h"

#include "bench/labs/internal.h"
#include "bench/record/record.h"

#include <math.h>
#include <string.h>

/* In the order of record_labs. E5 is made of the others. */
static void (*const row_runs[RECORD_LABS])(lab *l) = {
    lab_a1, lab_a2, lab_a3, lab_a4, lab_a5, lab_b1, lab_b2, lab_c1, lab_c2, lab_c3, lab_c4, lab_c5,
    lab_c6, lab_d1, lab_d2, lab_d3, lab_d4, lab_d5, lab_e1, lab_e2, lab_e3, lab_e4, NULL,   lab_e6};

static const char *const scale_names[] = {"usual", "small", "full", NULL};

static lab_scale scale_of(const char *sizes)
{
    return sizes ? (lab_scale)tool_find(scale_names, sizes) : LAB_USUAL;
}

static bool is_small(const char *sizes)
{
    return scale_of(sizes) == LAB_SMALL;
}

static int check(const char *rows, const char *sizes, const char *beside)
{
    static const char *const letters[] = {"A", "B", "C", "D", "E"};
    char text[512];
    tool_words words = {0};
    tool_names names = {0};
    for (int i = 0; i < 5; i++) {
        tool_names_add(&names, letters[i]);
    }
    for (int i = 0; i < RECORD_LABS; i++) {
        tool_names_add(&names, record_labs[i].id);
    }
    if (sizes && tool_find(scale_names, sizes) < 0) {
        tool_say_unknown(text, sizeof text, sizes, scale_names);
        return tool_error(TOOL_USAGE, "--lab-sizes: %s", text);
    }
    if (rows && !tool_split(rows, &words)) {
        tool_no_memory("--lab");
    }
    int code = rows ? tool_words_check("lab", &words, &names) : TOOL_OK;
    tool_words_free(&words);
    json_t *none = json_array();
    code = code == TOOL_OK && beside ? lab_beside(beside, none) : code;
    json_decref(none);
    return code;
}

/* Says of a row that it did not run. */
static void leave_out(lab *l, int row)
{
    l->row = record_labs[row].id;
    lab_skip(lab_entry(l, "all", 0), "the run was interrupted before this row");
}

static void run_rows(lab *l, const char *rows, const json_t *root, tool_file *file)
{
    for (int i = 0; i < RECORD_LABS; i++) {
        if (!work_row_listed(rows, record_labs[i].id) || !row_runs[i]) {
            continue;
        }
        if (tool_interrupted()) {
            leave_out(l, i);
            continue;
        }
        if (tool_colour(stderr)) {
            tool_progress((double)i / RECORD_LABS, "%s on %s: %s", record_labs[i].id, l->info.spec,
                          record_labs[i].title);
        }
        l->row = record_labs[i].id;
        row_runs[i](l);
        if (file) {
            (void)tool_file_checkpoint(file, root); /* it reports what fails */
        }
    }
    tool_doing(NULL);
}

/* One fails if an entry is wrong. */
static int code_of(const json_t *entries)
{
    size_t at;
    const json_t *entry;
    int code = TOOL_OK;
    json_array_foreach(entries, at, entry)
    {
        const char *status = record_text(entry, "status");
        if (strcmp(status, "failed") == 0 || strcmp(status, "error") == 0) {
            const json_t *of = json_object_get(entry, "case");
            code = tool_error(TOOL_FAILED, "%s, %s on %s: %s", record_text(entry, "row"),
                              record_text(of, "what"), record_text(entry, "device"),
                              record_text(entry, "reason"));
        }
    }
    return code;
}

static int run(const char *rows, const char *sizes, const char *beside, json_t *root,
               tool_file *file)
{
    json_t *entries = json_array();
    const json_t *devices = json_object_get(root, "devices"), *device;
    struct lab_inputs *inputs = lab_inputs_make();
    size_t at;
    int code = TOOL_OK;
    json_object_set_new(root, "labs", entries);
    tool_set_bool(json_object_get(root, "run"), "complete", false);
    tool_stop_watch(true);
    json_array_foreach(devices, at, device)
    {
        lab l;
        if (!lab_open(&l, record_text(device, "spec"), scale_of(sizes), inputs, entries)) {
            code = TOOL_UNAVAILABLE;
            continue;
        }
        run_rows(&l, rows, root, file);
        lab_close(&l);
    }
    bool stopped = tool_stop_asked();
    tool_progress_end();
    tool_stop_watch(false);
    if (beside && code == TOOL_OK) {
        code = lab_beside(beside, entries);
    }
    lab_finish(entries, devices, work_row_listed(rows, "E5"));
    tool_doing(NULL);
    record_end(json_object_get(root, "run"), stopped);
    lab_inputs_free(inputs);
    return stopped ? TOOL_INTERRUPTED : code != TOOL_OK ? code : code_of(entries);
}

const bench_labs labs_command = {.check = check, .small = is_small, .run = run};
