/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.h - the functions and numbers of libsqlite3.so.0 that the history uses. The library is
 * opened at run time; tests/abi compares this list with SQLite's header. */
#ifndef ISOMER_HISTORY_SQLITE_H
#define ISOMER_HISTORY_SQLITE_H

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

/* X(result, name, parameters) */
#define HISTORY_SQLITE(X)                                                                          \
    X(int, sqlite3_open_v2, (const char *path, sqlite3 **db, int flags, const char *vfs))          \
    X(int, sqlite3_close, (sqlite3 * db))                                                          \
    X(int, sqlite3_busy_timeout, (sqlite3 * db, int milliseconds))                                 \
    X(const char *, sqlite3_errmsg, (sqlite3 * db))                                                \
    X(int, sqlite3_changes, (sqlite3 * db))                                                        \
    X(long long, sqlite3_last_insert_rowid, (sqlite3 * db))                                        \
    X(int, sqlite3_prepare_v2,                                                                     \
      (sqlite3 * db, const char *sql, int bytes, sqlite3_stmt **out, const char **rest))           \
    X(int, sqlite3_bind_double, (sqlite3_stmt * statement, int at, double value))                  \
    X(int, sqlite3_bind_text,                                                                      \
      (sqlite3_stmt * statement, int at, const char *text, int bytes, void (*release)(void *)))    \
    X(int, sqlite3_step, (sqlite3_stmt * statement))                                               \
    X(int, sqlite3_finalize, (sqlite3_stmt * statement))                                           \
    X(int, sqlite3_column_count, (sqlite3_stmt * statement))                                       \
    X(int, sqlite3_column_type, (sqlite3_stmt * statement, int at))                                \
    X(double, sqlite3_column_double, (sqlite3_stmt * statement, int at))                           \
    X(const unsigned char *, sqlite3_column_text, (sqlite3_stmt * statement, int at))

/* X(ours, number, theirs) */
#define HISTORY_SQLITE_VALUES(X)                                                                   \
    X(DB_READWRITE, 2, SQLITE_OPEN_READWRITE)                                                      \
    X(DB_CREATE, 4, SQLITE_OPEN_CREATE)                                                            \
    X(DB_OK, 0, SQLITE_OK)                                                                         \
    X(DB_CORRUPT, 11, SQLITE_CORRUPT)                                                              \
    X(DB_NOT_A_DATABASE, 26, SQLITE_NOTADB)                                                        \
    X(DB_ROW, 100, SQLITE_ROW)                                                                     \
    X(DB_DONE, 101, SQLITE_DONE)                                                                   \
    X(DB_NULL, 5, SQLITE_NULL)

#endif
