/* SPDX-License-Identifier: Apache-2.0 */
/* fork.h - keeps the core's state usable across fork(). */
#ifndef ISOMER_CORE_FORK_H
#define ISOMER_CORE_FORK_H

#include <pthread.h>

/* Installs the fork handlers on its first call; called before anything is opened. The handlers call
 * the functions below before a fork, and after it in the parent and in the child. */
void core_fork_guard(void);
void core_handle_fork(int stage);
void core_registry_fork(int stage);
void core_physical_fork(int stage);
void core_settings_fork(int stage);
void core_trace_fork(int stage);
void core_trust_fork(int stage);
void core_watch_fork(int stage);
enum { CORE_FORK_BEFORE, CORE_FORK_PARENT, CORE_FORK_CHILD };
void core_fork_lock(pthread_mutex_t *lock, int stage);

#endif
