/* SPDX-License-Identifier: Apache-2.0 */
/* database.c - the database: opens SQLite and the file, makes the tables, runs statements. */
#include "bench/history/history.h"
#include "bench/history/sqlite.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WAIT_MS = 30000, VERSION = 1, COLUMNS = 20 };
#define VALUE(ours, number, theirs) ours = (number),
enum { HISTORY_SQLITE_VALUES(VALUE) };

/* ---- the library ----------------------------------------------------------------------------- */

#define ENTRY(result, name, parameters) result(*name) parameters;
static struct {
    HISTORY_SQLITE(ENTRY)
} lib;

static int open_library(void)
{
    static const char file[] = "libsqlite3.so.0";
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return tool_error(TOOL_UNAVAILABLE,
                          "a history needs %s, which cannot be opened: %s\n"
                          "install libsqlite3-0 (Debian, Ubuntu: apt-get install libsqlite3-0)",
                          file, dlerror());
    }
#define FIND(result, name, parameters) {#name, &lib.name},
    const struct {
        const char *name;
        void *place;
    } entries[] = {HISTORY_SQLITE(FIND)};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *function = dlsym(library, entries[i].name);
        if (!function) {
            return tool_error(TOOL_UNAVAILABLE, "%s has no function %s: install a newer one", file,
                              entries[i].name);
        }
        memcpy(entries[i].place, &function, sizeof function);
    }
    return TOOL_OK;
}

/* ---- statements ------------------------------------------------------------------------------ */

struct history_db {
    char *path;
    sqlite3 *handle;
};

static int fail(const history_db *db, int status)
{
    bool broken = status == DB_CORRUPT || status == DB_NOT_A_DATABASE;
    return tool_error(broken ? TOOL_FILES : TOOL_IO, "the history %s cannot be used: %s", db->path,
                      lib.sqlite3_errmsg(db->handle));
}

/* Reads a row. All numbers become doubles: no integer here needs more digits. */
static void read_row(sqlite3_stmt *statement, int count, history_value *columns)
{
    for (int i = 0; i < count; i++) {
        /* The type is asked first: reading a text can change it. */
        bool null = lib.sqlite3_column_type(statement, i) == DB_NULL;
        double number = lib.sqlite3_column_double(statement, i);
        const unsigned char *text = null ? NULL : lib.sqlite3_column_text(statement, i);
        columns[i] = (history_value){text ? (const char *)text : "", null ? (double)NAN : number};
    }
}

int history_run(history_db *db, const char *sql, const history_value *values, int count,
                history_row *row, void *data)
{
    history_value columns[COLUMNS];
    sqlite3_stmt *statement = NULL;
    int status = lib.sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    for (int i = 0; i < count && status == DB_OK; i++) {
        if (values[i].text) {
            status = lib.sqlite3_bind_text(statement, i + 1, values[i].text, -1, NULL);
        } else if (isfinite(values[i].number)) {
            status = lib.sqlite3_bind_double(statement, i + 1, values[i].number);
        }
    }
    while (status == DB_OK || status == DB_ROW) {
        status = lib.sqlite3_step(statement);
        if (status == DB_ROW && row) {
            read_row(statement, lib.sqlite3_column_count(statement), columns);
            row(data, columns);
        }
    }
    int code = status == DB_DONE ? TOOL_OK : fail(db, status);
    lib.sqlite3_finalize(statement);
    return code;
}

int history_changes(const history_db *db)
{
    return lib.sqlite3_changes(db->handle);
}

int64_t history_last_row(const history_db *db)
{
    return lib.sqlite3_last_insert_rowid(db->handle);
}

const char *history_path(const history_db *db)
{
    return db->path;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const char *const tables[] = {
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, time TEXT NOT NULL, machine TEXT NOT NULL,"
    " commit_id TEXT NOT NULL, command TEXT NOT NULL, version TEXT NOT NULL, system TEXT NOT NULL,"
    " added TEXT NOT NULL, UNIQUE(time, machine, commit_id, command))",
    "CREATE TABLE devices(id INTEGER PRIMARY KEY,"
    " run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, spec TEXT NOT NULL,"
    " name TEXT NOT NULL, driver TEXT NOT NULL, runtime TEXT NOT NULL, properties TEXT NOT NULL,"
    " UNIQUE(run, spec))",
    "CREATE TABLE cases(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, op TEXT NOT NULL,"
    " dtype TEXT NOT NULL)",
    /* Nanoseconds; `rounds` has the medians of the rounds as a JSON array. */
    "CREATE TABLE times(device INTEGER NOT NULL REFERENCES devices(id) ON DELETE CASCADE,"
    " case_id INTEGER NOT NULL REFERENCES cases(id), library TEXT NOT NULL, median REAL NOT NULL,"
    " low REAL, high REAL, confidence REAL, rounds TEXT NOT NULL,"
    " PRIMARY KEY(device, case_id, library)) WITHOUT ROWID",
    "CREATE INDEX times_by_case ON times(case_id, device)", "PRAGMA user_version = 1"};

static void keep_number(void *data, const history_value *columns)
{
    *(double *)data = columns[0].number;
}

/* Makes the tables in a new file, and checks the version of an old one. */
static int prepare(history_db *db)
{
    double version = 0, content = 0;
    int code = history_run(db, "PRAGMA user_version", NULL, 0, keep_number, &version);
    if (code == TOOL_OK) {
        code =
            history_run(db, "SELECT count(*) FROM sqlite_master", NULL, 0, keep_number, &content);
    }
    if (code == TOOL_OK && version > VERSION) {
        code = tool_error(TOOL_FILES,
                          "the history %s has version %.0f, and isomer %s knows version %d: use a "
                          "newer isomer",
                          db->path, version, iso_version(), VERSION);
    }
    if (code == TOOL_OK && version < VERSION && content > 0) {
        code = tool_error(TOOL_FILES, "%s is a database of another program", db->path);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && version < VERSION; i++) {
        code = code == TOOL_OK ? history_run(db, tables[i], NULL, 0, NULL, NULL) : code;
    }
    return code;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The user's folder by the XDG rules, which ignore relative paths; to be freed. */
static char *usual_folder(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && data[0] == '/') {
        return record_format("%s/isomer", data);
    }
    return home && home[0] == '/' ? record_format("%s/.local/share/isomer", home) : NULL;
}

/* Makes a folder and those above it. */
static bool make_folders(char *path)
{
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
            *at = '/';
            if (!made) {
                return false;
            }
        }
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static int open_file(history_db *db, const char *given, bool create)
{
    char *folder = given ? record_format("%s", given) : usual_folder();
    struct stat about;
    int code = TOOL_OK;
    if (!folder) {
        return tool_error(TOOL_USAGE, "neither HOME nor XDG_DATA_HOME names a folder: give --dir");
    }
    db->path = record_format("%s/history.db", folder);
    if (stat(folder, &about) == 0 && !S_ISDIR(about.st_mode)) {
        code = tool_error(TOOL_IO, "%s is a file, not a folder", folder);
    } else if (create && !make_folders(folder)) {
        code = tool_error(TOOL_IO, "cannot create the folder %s: %s", folder, strerror(errno));
    } else if (!create && stat(db->path, &about) != 0) {
        code = tool_error(errno == ENOENT ? TOOL_NOTHING : TOOL_IO,
                          "there is no history in %s (%s); `isomer history add FILE` begins one",
                          folder, strerror(errno));
    }
    free(folder);
    if (code != TOOL_OK) {
        return code;
    }
    int status =
        lib.sqlite3_open_v2(db->path, &db->handle, DB_READWRITE | (create ? DB_CREATE : 0), NULL);
    if (status != DB_OK) {
        return fail(db, status);
    }
    lib.sqlite3_busy_timeout(db->handle, WAIT_MS);
    return history_run(db, "PRAGMA foreign_keys = ON", NULL, 0, NULL, NULL);
}

history_db *history_open(const char *folder, bool create, int *code)
{
    history_db *db = tool_alloc(1, sizeof *db, "the history");
    *code = open_library();
    if (*code == TOOL_OK) {
        *code = open_file(db, folder, create);
    }
    /* Another process may begin the same file. */
    if (*code == TOOL_OK) {
        *code = history_run(db, "BEGIN IMMEDIATE", NULL, 0, NULL, NULL);
    }
    if (*code == TOOL_OK) {
        *code = prepare(db);
        int end = history_run(db, *code == TOOL_OK ? "COMMIT" : "ROLLBACK", NULL, 0, NULL, NULL);
        *code = *code == TOOL_OK ? end : *code;
    }
    if (*code != TOOL_OK) {
        history_close(db);
        db = NULL;
    }
    return db;
}

void history_close(history_db *db)
{
    if (db && db->handle) {
        lib.sqlite3_close(db->handle);
    }
    if (db) {
        free(db->path);
    }
    free(db);
}
