/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - runs loops on the host in several threads. The threads end with the loop, so that
 * none of them runs while something is measured. */
#include "bench/arith/arith.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MOST = 64 };

typedef struct loop {
    arith_body body;
    void *context;
    int64_t count, grain;
    _Atomic int64_t next;
} loop;

static int32_t threads(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count > MOST ? MOST : count;
}

/* Whether this thread runs a loop. A loop inside another one starts no threads. */
static _Thread_local bool inside;

static void *run(void *argument)
{
    loop *l = argument;
    bool outermost = !inside;
    arith_fp_reset();
    inside = true;
    for (;;) {
        int64_t begin = atomic_fetch_add(&l->next, l->grain);
        if (begin >= l->count) {
            break;
        }
        l->body(l->context, begin, begin + l->grain < l->count ? begin + l->grain : l->count);
    }
    inside = !outermost;
    return NULL;
}

void arith_parallel(int64_t count, int64_t grain, arith_body body, void *context)
{
    loop l = {.body = body, .context = context, .count = count, .grain = grain};
    pthread_t started[MOST];
    int64_t parts = (count + grain - 1) / grain;
    if (parts == 1) { /* `inside` stays false, so loops in the body may start threads */
        arith_fp_reset();
        body(context, 0, count);
        return;
    }
    int32_t wanted = inside ? 1 : threads(), others = 0;
    while (others < wanted - 1 && others < parts - 1 &&
           pthread_create(&started[others], NULL, run, &l) == 0) {
        others++;
    }
    run(&l);
    for (int32_t i = 0; i < others; i++) {
        pthread_join(started[i], NULL);
    }
}

void arith_note_first(_Atomic int64_t *first, int64_t at)
{
    int64_t seen = atomic_load(first);
    while (at < seen && !atomic_compare_exchange_weak(first, &seen, at))
        ;
}
