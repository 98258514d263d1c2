/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - loops of the host over threads that live no longer than the loop, so that none of
 * them is there while something is measured. */
#include "bench/arith/arith.h"
#include "bench/workload/internal.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST = 64 };

typedef struct loop {
    work_body body;
    void *context;
    int64_t count, grain;
    _Atomic int64_t next;
} loop;

int32_t work_threads(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count > MOST ? MOST : count;
}

/* A loop inside a loop stays in its thread. */
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

void work_parallel(int64_t count, int64_t grain, work_body body, void *context)
{
    loop l = {.body = body, .context = context, .count = count, .grain = grain};
    pthread_t threads[MOST];
    int64_t parts = (count + grain - 1) / grain;
    int32_t wanted = inside ? 1 : work_threads(), started = 0;
    while (started < wanted - 1 && started < parts - 1 &&
           pthread_create(&threads[started], NULL, run, &l) == 0) {
        started++;
    }
    run(&l);
    for (int32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
}

void work_note_first(_Atomic int64_t *first, int64_t at)
{
    int64_t seen = atomic_load(first);
    while (at < seen && !atomic_compare_exchange_weak(first, &seen, at))
        ;
}

typedef struct comparison {
    const unsigned char *got, *want;
    _Atomic int64_t first;
} comparison;

static void compare(void *context, int64_t begin, int64_t end)
{
    comparison *c = context;
    if (begin > atomic_load(&c->first) ||
        memcmp(c->got + begin, c->want + begin, (size_t)(end - begin)) == 0) {
        return;
    }
    while (c->got[begin] == c->want[begin]) {
        begin++;
    }
    work_note_first(&c->first, begin);
}

bool work_same(const void *got, const void *want, int64_t bytes, int64_t *first)
{
    comparison c = {.got = got, .want = want, .first = INT64_MAX};
    work_parallel(bytes, 1 << 20, compare, &c);
    *first = atomic_load(&c.first);
    return *first == INT64_MAX;
}
