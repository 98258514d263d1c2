/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - environment variables, and the library's own folder. */
#ifndef ISOMER_CORE_ENVIRONMENT_H
#define ISOMER_CORE_ENVIRONMENT_H

#include <isomer/isomer.h>

/* The folder "isomer" beside the library, with files of its package; "" if unknown. */
const char *core_place(void);

/* The value of a variable that names no path; NULL if it is unset. Also used in programs with more
 * rights than their caller. */
const char *core_variable(const char *name);
/* The value of a variable that names a path; NULL if it is unset or the program has more rights
 * than its caller (core_path_ignored then says why). */
const char *core_path_variable(const char *name);
extern const char core_path_ignored[];
/* Fills `problem` if a value is not an absolute path; otherwise leaves it unchanged. */
void core_absolute_problem(const char *value, char *problem, size_t room);
/* iso_host.path. */
const char *core_host_path(const char *name, char *problem, int64_t capacity);

/* Fills `problem` if anyone but the owners that trust.c allows could replace what is at this
 * absolute path. It is set to "" if not, and if nothing is there. */
void core_path_problem(const char *path, char *problem, size_t room);

#endif
