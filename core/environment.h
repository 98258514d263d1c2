/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - variables of the environment, and the folder of the library. */
#ifndef ISOMER_CORE_ENVIRONMENT_H
#define ISOMER_CORE_ENVIRONMENT_H

#include <isomer/isomer.h>

/* The folder "isomer" beside the library, with what its package brings; "" where it is not known.
 */
const char *core_place(void);

/* The value of a variable that names no path, wherever it came from; NULL where it is unset. */
const char *core_variable(const char *name);
/* The value of one that names a path; NULL also where the program has more rights than its caller,
 * and then core_path_ignored says why. */
const char *core_path_variable(const char *name);
extern const char core_path_ignored[];
/* Fills `problem` where a value is not an absolute path, and leaves it alone elsewhere. */
void core_absolute_problem(const char *value, char *problem, size_t room);
/* iso_host.path. */
const char *core_host_path(const char *name, char *problem, int64_t capacity);

/* Fills `problem` where others than those that are trusted with it (trust.c) could put something
 * else at this absolute path; it is "" elsewhere, and where nothing is there. */
void core_path_problem(const char *path, char *problem, size_t room);

#endif
