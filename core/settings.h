/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the ISOMER_ variables, the environment, and the check whether a path can be trusted.
 */
#ifndef ISOMER_CORE_SETTINGS_H
#define ISOMER_CORE_SETTINGS_H

#include <isomer/isomer.h>

/* The value in effect, valid until the process ends; NULL if it is unset and has no default. */
const char *core_setting(const char *name);
/* A copy of the text that lives as long as the process; the text itself if there is no memory. */
const char *core_keep(const char *text);
/* INVALID if a setting has an invalid value for which opening a device must fail. */
iso_status core_settings_check(const char *call);
/* The bytes of a limit ("8G", or "50%" of total); -1 if the text is not a limit. */
int64_t core_parse_limit(const char *text, int64_t total);

/* ---- the environment ------------------------------------------------------------------------- */

/* The folder "isomer" beside the library, with files of its package; "" if unknown. */
const char *core_place(void);

/* The value of a variable that names no path; NULL if it is unset. It is used even in a program
 * with more rights than its caller. */
const char *core_variable(const char *name);
/* The value of a variable that names a path; NULL if it is unset or the program has more rights
 * than its caller (core_path_ignored then says why). */
const char *core_path_variable(const char *name);
extern const char core_path_ignored[];
/* Fills `problem` if a value is not an absolute path; otherwise leaves it unchanged. */
void core_absolute_problem(const char *value, char *problem, size_t room);
/* Implements iso_host.path. */
const char *core_host_path(const char *name, char *problem, int64_t capacity);

/* Sets `problem` to a text that says which user could replace the file or folder at this absolute
 * path. Sets it to "" if only the owners that trust.c allows could, or if nothing is there. */
void core_path_problem(const char *path, char *problem, size_t room);

#endif
