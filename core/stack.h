/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - the stack that a thread has left. */
#ifndef ISOMER_CORE_STACK_H
#define ISOMER_CORE_STACK_H

#include <isomer/backend.h>

/* Bytes of this thread's stack below the caller; INT64_MAX if unknown. */
int64_t core_stack_left(void);
/* NO_MEMORY if this thread has less stack left than the backend's libraries need. */
iso_status core_stack_check(const char *call, const iso_backend *table);
/* Runs body, which may open any library; if this thread has little stack, in a new thread. Its
 * failure becomes this thread's. NO_MEMORY: no such thread could be made. */
iso_status core_stack_run(const char *call, iso_status (*body)(void *context), void *context);

#endif
