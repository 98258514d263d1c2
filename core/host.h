/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - functions that the core offers to backends: memory, the log and the program cache. */
#ifndef ISOMER_CORE_HOST_H
#define ISOMER_CORE_HOST_H

#include <isomer/backend.h>

#include <stdbool.h>

extern const iso_host core_host;
void *core_alloc(int64_t bytes); /* freed by free() */

void core_log(iso_log_level level, const char *format, ...) ISO_PRINTF(2, 3);

/* ---- the program cache ----------------------------------------------------------------------- */

void *core_cache_load(const void *key, int64_t key_bytes, int64_t *bytes);
int32_t core_cache_store(const void *key, int64_t key_bytes, const void *data, int64_t bytes);
/* The directory in use ("" if none), and why it is not used ("" if it is). */
void core_cache_where(char *path, size_t path_room, char *problem, size_t problem_room);
/* The directory, not inspected; "" if the cache is off or no directory is known. */
void core_cache_path(char *path, size_t room);

#endif
