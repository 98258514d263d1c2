/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - a thread for each rank of this process. */
#include "bench/ranks/pool.h"

#include "bench/arith/arith.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct hand {
    ranks_pool *pool;
    pthread_t thread;
    int32_t number;
} hand;

struct ranks_pool {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t begin, end;
    uint64_t turn; /* how often work was given out */
    int32_t count; /* of seats in this turn */
    int32_t left;  /* of threads that have not ended it */
    bool closes;
    ranks_seat *seats;
    ranks_work *work;
    void *context;
    int32_t threads;
    hand hands[];
};

static void do_work(const ranks_pool *pool, ranks_seat *seat)
{
    seat->reason[0] = '\0';
    iso_clear_error();
    seat->status = pool->work(pool->context, seat);
    if (seat->status != ISO_OK) {
        snprintf(seat->reason, sizeof seat->reason, "%s", iso_last_error());
    }
}

static void *run(void *of)
{
    const hand *self = of;
    ranks_pool *pool = self->pool;
    uint64_t seen = 0;
    arith_fp_reset();
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->turn == seen && !pool->closes) {
            pthread_cond_wait(&pool->begin, &pool->lock);
        }
        if (pool->closes) {
            break;
        }
        seen = pool->turn;
        if (self->number >= pool->count) {
            continue;
        }
        pthread_mutex_unlock(&pool->lock);
        do_work(pool, &pool->seats[self->number]);
        pthread_mutex_lock(&pool->lock);
        if (--pool->left == 0) {
            pthread_cond_signal(&pool->end);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

ranks_pool *ranks_pool_create(int32_t count)
{
    ranks_pool *pool = calloc(1, sizeof *pool + (size_t)count * sizeof pool->hands[0]);
    if (!pool) {
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    for (int32_t i = 0; i < count; i++) {
        hand *one = &pool->hands[i];
        one->pool = pool;
        one->number = i;
        if (pthread_create(&one->thread, NULL, run, one) != 0) {
            ranks_pool_destroy(pool);
            return NULL;
        }
        pool->threads++;
    }
    return pool;
}

void ranks_pool_destroy(ranks_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->closes = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 0; i < pool->threads; i++) {
        pthread_join(pool->hands[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->begin);
    pthread_cond_destroy(&pool->end);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void ranks_pool_run(ranks_pool *pool, ranks_seat *seats, int32_t count, ranks_work *work,
                    void *context)
{
    pthread_mutex_lock(&pool->lock);
    pool->seats = seats;
    pool->count = pool->left = count;
    pool->work = work;
    pool->context = context;
    pool->turn++;
    pthread_cond_broadcast(&pool->begin);
    while (pool->left > 0) {
        pthread_cond_wait(&pool->end, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}
