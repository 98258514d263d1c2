/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - the functions that the core offers to backends: memory and the log. */
#ifndef ISOMER_CORE_HOST_H
#define ISOMER_CORE_HOST_H

#include <isomer/backend.h>

#include <stdbool.h>

extern const iso_host core_host;
void *core_alloc(int64_t bytes);
void core_free(void *pointer);

bool core_log_on(iso_log_level level);
void core_log(iso_log_level level, const char *format, ...) ISO_PRINTF(2, 3);
/* Parses a level; 0: not a level. */
int core_log_parse(const char *text);

#endif
