/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - a thread for each rank of this process. */
#ifndef ISOMER_RANKS_POOL_H
#define ISOMER_RANKS_POOL_H

#include "bench/ranks/ranks.h"

typedef struct ranks_pool ranks_pool;

ranks_pool *ranks_pool_create(int32_t count); /* NULL: no memory or no threads */
void ranks_pool_destroy(ranks_pool *pool);    /* NULL is allowed */
/* The first `count` threads each do the work for one seat, at the same time. Sets each seat's
 * status and reason, and returns when all have ended. */
void ranks_pool_run(ranks_pool *pool, ranks_seat *seats, int32_t count, ranks_work *work,
                    void *context);

#endif
