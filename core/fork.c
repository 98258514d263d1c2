/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c - keeps the core's state usable across fork(). */
#include "core/fork.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void each(int stage)
{
    core_registry_fork(stage);
    core_physical_fork(stage);
    core_handle_fork(stage);
    core_settings_fork(stage);
    core_trace_fork(stage);
    core_trust_fork(stage);
    core_watch_fork(stage);
}

static void before(void)
{
    each(CORE_FORK_BEFORE);
}

static void parent(void)
{
    each(CORE_FORK_PARENT);
}

static void child(void)
{
    each(CORE_FORK_CHILD);
}

static void install(void)
{
    pthread_atfork(before, parent, child);
}

void core_fork_guard(void)
{
    pthread_once(&once, install);
}

void core_fork_lock(pthread_mutex_t *lock, int stage)
{
    if (stage == CORE_FORK_BEFORE) {
        pthread_mutex_lock(lock);
    } else if (stage == CORE_FORK_PARENT) {
        pthread_mutex_unlock(lock);
    } else {
        pthread_mutex_init(lock, NULL);
    }
}
