/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - finds the backend and device that a spec names. */
#ifndef ISOMER_CORE_SELECT_H
#define ISOMER_CORE_SELECT_H

#include "core/error.h"
#include "core/registry.h"

struct core_physical;

typedef struct core_choice {
    core_backend *backend;
    int32_t index;
    struct core_physical *physical; /* opened */
    core_text story;
    core_text passed; /* the backend's devices that were skipped, and why */
} core_choice;

iso_status core_select(const char *call, const char *spec, core_choice *out);
/* Why a spec is malformed ("" if it is not), without loading anything. */
void core_spec_problem(const char *spec, char *problem, size_t room);
/* The same for a list of required backends, which must not contain `auto`. */
void core_require_problem(const char *list, char *problem, size_t room);

#endif
