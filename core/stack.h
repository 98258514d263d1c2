/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - how much stack a thread has left. */
#ifndef ISOMER_CORE_STACK_H
#define ISOMER_CORE_STACK_H

#include <isomer/backend.h>

/* Bytes of this thread's stack below the caller; INT64_MAX where that is not known. */
int64_t core_stack_left(void);
/* NO_MEMORY where this thread has less than the backend says that its libraries need. */
iso_status core_stack_check(const char *call, const iso_backend *table);
/* Runs body, which may open any library: in a thread of its own where this one has little stack.
 * Its failure becomes this thread's. NO_MEMORY: no such thread could be made. */
iso_status core_stack_run(const char *call, iso_status (*body)(void *context), void *context);

#endif
