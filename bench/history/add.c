/* SPDX-License-Identifier: Apache-2.0 */
/* add.c - adds runs to the history, lists and removes them. */
#include "bench/history/history.h"
#include "bench/ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *host_of(const json_t *run)
{
    const char *name = record_text(run, "host.name");
    return name[0] != '\0' ? name : "unknown";
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Whether the whole run or one of its devices has no times that mean anything. */
static bool is_invalid(const json_t *root)
{
    const json_t *device;
    size_t i;
    json_array_foreach(json_object_get(root, "devices"), i, device)
    {
        if (!record_is_timed(device)) {
            return true;
        }
    }
    return record_level_of(json_object_get(root, "run")) == RECORD_INVALID;
}

static int check(const char *path, const json_t *root, bool force)
{
    if (record_untimed(root)) {
        return tool_error(TOOL_FILES, "%s was written by `isomer %s`, which measures no times",
                          path, record_untimed(root));
    }
    if (is_invalid(root) && !force) {
        return tool_error(TOOL_FILES,
                          "%s has results of a stand-in or a simulator, whose times mean nothing; "
                          "--force adds them anyway",
                          path);
    }
    return TOOL_OK;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int add_run(history_db *db, const json_t *run)
{
    json_t *now = record_now(), *arguments = json_object_get(run, "arguments");
    char *command = arguments ? record_need(json_dumps(arguments, JSON_COMPACT)) : NULL;
    char *system =
        record_format("%s %s", record_text(run, "host.system"), record_text(run, "host.release"));
    const char *program = record_text(run, "program");
    const history_value values[] = {{record_text(run, "time"), 0},
                                    {host_of(run), 0},
                                    {record_text(run, "build.commit"), 0},
                                    {command ? command : "", 0},
                                    {program[0] ? program : record_text(run, "version"), 0},
                                    {system, 0},
                                    {json_string_value(now), 0}};
    int code = history_run(db,
                           "INSERT OR IGNORE INTO runs(time, machine, commit_id, command, version,"
                           " system, added) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                           values, 7, NULL, NULL);
    json_decref(now);
    free(command);
    free(system);
    return code;
}

/* The driver of a device. The source of its sensors may name the version more closely. To be freed.
 */
static char *driver_of(const json_t *device)
{
    const char *driver = record_text(device, "driver");
    const char *source = record_text(device, "telemetry.source");
    bool closer = strpbrk(source, "0123456789") != NULL;
    return record_format("%s%s%s", driver, closer && driver[0] != '\0' ? ", " : "",
                         closer ? source : "");
}

static int add_devices(history_db *db, const json_t *root, double run)
{
    const json_t *device;
    size_t i;
    int code = TOOL_OK;
    json_array_foreach(json_object_get(root, "devices"), i, device)
    {
        const json_t *about = json_object_get(device, "properties");
        char *properties = about ? record_need(json_dumps(about, JSON_COMPACT)) : NULL;
        char *driver = driver_of(device);
        const history_value values[] = {
            {NULL, run}, {record_text(device, "spec"), 0},    {record_text(device, "name"), 0},
            {driver, 0}, {record_text(device, "runtime"), 0}, {properties ? properties : "{}", 0}};
        if (code == TOOL_OK) {
            code = history_run(db,
                               "INSERT OR IGNORE INTO devices(run, spec, name, driver, runtime,"
                               " properties) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                               values, 6, NULL, NULL);
        }
        free(properties);
        free(driver);
    }
    return code;
}

static int add_result(history_db *db, const json_t *result, double run)
{
    int32_t count;
    double *x = record_rounds(result, &count);
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        json_array_append_new(list, json_real(x[i]));
    }
    char *rounds = record_need(json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(9)));
    const history_value about[] = {{record_text(result, "id"), 0},
                                   {record_text(result, "op"), 0},
                                   {record_text(result, "dtype"), 0}};
    const history_value values[] = {{NULL, run},
                                    {record_text(result, "device"), 0},
                                    {record_text(result, "id"), 0},
                                    {record_text(result, "library"), 0},
                                    {NULL, record_number(result, "times.median")},
                                    {NULL, record_number(result, "times.low")},
                                    {NULL, record_number(result, "times.high")},
                                    {NULL, record_number(result, "times.confidence")},
                                    {rounds, 0}};
    int code = history_run(db, "INSERT OR IGNORE INTO cases(name, op, dtype) VALUES(?1, ?2, ?3)",
                           about, 3, NULL, NULL);
    if (code == TOOL_OK) {
        code = history_run(db,
                           "INSERT OR IGNORE INTO times SELECT d.id, c.id, ?4, ?5, ?6, ?7, ?8, ?9"
                           " FROM devices d, cases c"
                           " WHERE d.run = ?1 AND d.spec = ?2 AND c.name = ?3",
                           values, 9, NULL, NULL);
    }
    free(rounds);
    json_decref(list);
    free(x);
    return code;
}

/* Adds everything within a transaction. `added` gets the number of results; -1: the run is there.
 */
static int add_all(history_db *db, const json_t *root, bool force, int *added)
{
    const json_t *result;
    size_t i;
    int code = add_run(db, json_object_get(root, "run"));
    if (code != TOOL_OK || history_changes(db) == 0) {
        *added = -1;
        return code;
    }
    double run = (double)history_last_row(db);
    code = add_devices(db, root, run);
    json_array_foreach(json_object_get(root, "results"), i, result)
    {
        bool ok = strcmp(record_text(result, "status"), bench_status_name(BENCH_OK)) == 0;
        bool valid = force || record_level_of(result) != RECORD_INVALID;
        if (ok && valid && code == TOOL_OK) {
            code = add_result(db, result, run);
            (*added)++;
        }
    }
    return code;
}

/* A step of the history may come from other work on the machine. */
static void warn_noisy(const char *path, const json_t *run)
{
    double noise = 100 * record_number(run, "noise");
    if (record_has_flag(run, "noisy-host")) {
        tool_error(TOOL_OK,
                   "%s: other work used %s%.0f %% of the processors during this run, so its times "
                   "may be too long",
                   path, isfinite(noise) ? "" : "over ", isfinite(noise) ? noise : 5);
    }
}

int history_add(history_db *db, const char *path, bool force)
{
    int code = TOOL_OK, added = 0;
    json_t *root = record_load(path, &code);
    if (root) {
        code = check(path, root, force);
    }
    if (code == TOOL_OK) {
        code = history_run(db, "BEGIN IMMEDIATE", NULL, 0, NULL, NULL);
    }
    if (root && code == TOOL_OK) {
        code = add_all(db, root, force, &added);
        const char *end = code == TOOL_OK && added > 0 ? "COMMIT" : "ROLLBACK";
        int ended = history_run(db, end, NULL, 0, NULL, NULL);
        code = code == TOOL_OK ? ended : code;
    }
    if (root && code == TOOL_OK && added == 0) {
        code = tool_error(TOOL_NOTHING, "%s has no result that is ok and valid: nothing was added",
                          path);
    } else if (root && code == TOOL_OK && added < 0) {
        printf("%s: already in the history, as the run of %s on %s\n", path,
               record_text(root, "run.time"), host_of(json_object_get(root, "run")));
    } else if (root && code == TOOL_OK) {
        printf("%s: added %d result%s to %s\n", path, added, added == 1 ? "" : "s",
               history_path(db));
        warn_noisy(path, json_object_get(root, "run"));
    }
    json_decref(root);
    return code;
}

/* ---- listing and removing -------------------------------------------------------------------- */

const char *history_commit(char *text, size_t room, const char *commit)
{
    const char *dirty = strstr(commit, "-dirty");
    snprintf(text, room, "%.10s%s", commit, dirty && strlen(commit) > 10 ? dirty : "");
    return text;
}

static void list_run(void *data, const history_value *c)
{
    char commit[32];
    history_commit(commit, sizeof commit, c[3].text[0] ? c[3].text : "-");
    fprintf(data, "%5.0f  %-20s  %-16s  %-16s  %6.0f  %s\n", c[0].number, c[1].text, c[2].text,
            commit, c[5].number, c[4].text);
}

int history_list(history_db *db, FILE *out)
{
    fprintf(out, "%5s  %-20s  %-16s  %-16s  %6s  %s\n", "run", "time", "machine", "commit", "cases",
            "devices");
    return history_run(db,
                       "SELECT r.id, r.time, r.machine, r.commit_id,"
                       " (SELECT group_concat(d.spec || ' ' || d.driver, ', ') FROM devices d"
                       "  WHERE d.run = r.id),"
                       " (SELECT count(*) FROM times t JOIN devices d ON t.device = d.id"
                       "  WHERE d.run = r.id)"
                       " FROM runs r ORDER BY r.time, r.id",
                       NULL, 0, list_run, out);
}

int history_remove(history_db *db, const char *run)
{
    char *end;
    const history_value value = {NULL, strtod(run, &end)};
    if (*end != '\0' || end == run) {
        return tool_error(TOOL_USAGE, "\"%s\" is no run: `isomer history list` shows their numbers",
                          run);
    }
    int code = history_run(db, "DELETE FROM runs WHERE id = ?1", &value, 1, NULL, NULL);
    if (code == TOOL_OK && history_changes(db) == 0) {
        code = tool_error(TOOL_USAGE,
                          "there is no run %s in %s: `isomer history list` shows the numbers", run,
                          history_path(db));
    } else if (code == TOOL_OK) {
        printf("removed run %s\n", run);
    }
    return code;
}
