/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.c - compiles if every function of the history's list has the type that SQLite's header
 * declares, and its numbers are SQLite's. With ABI_PLANT one entry is wrong, and it must not
 * compile. */
#include <sqlite3.h>

#include "bench/history/sqlite.h"

#define SAME_VALUE(ours, number, theirs)                                                           \
    _Static_assert((number) == (theirs), #ours " is not " #theirs);
HISTORY_SQLITE_VALUES(SAME_VALUE)

/* Each function must be declared, and a second declaration of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = (int)sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
HISTORY_SQLITE(DECLARED)
HISTORY_SQLITE(AGREES)

#if defined(ABI_PLANT)
AGREES(int, sqlite3_step, (sqlite3_stmt * statement, int at))
#endif
