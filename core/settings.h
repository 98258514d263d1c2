/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the values of the ISOMER_ variables. */
#ifndef ISOMER_CORE_SETTINGS_H
#define ISOMER_CORE_SETTINGS_H

#include <isomer/isomer.h>

/* The effective value, valid until the process ends; NULL if unset without a default. */
const char *core_setting(const char *name);
/* A copy of the text that lives as long as the process; NULL: no memory. */
const char *core_keep(const char *text);
/* INVALID if some setting has an invalid value. */
iso_status core_settings_check(const char *call);
/* Bytes of a limit ("8G", "50%" of total); -1: not a limit. */
int64_t core_parse_limit(const char *text, int64_t total);

#endif
