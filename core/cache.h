/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the program cache. */
#ifndef ISOMER_CORE_CACHE_H
#define ISOMER_CORE_CACHE_H

#include <isomer/isomer.h>

void *core_cache_load(const void *key, int64_t key_bytes, int64_t *bytes);
int32_t core_cache_store(const void *key, int64_t key_bytes, const void *data, int64_t bytes);
/* The directory in use ("" if none), and why it is not used ("" if it is). */
void core_cache_where(char *path, size_t path_room, char *problem, size_t problem_room);

#endif
