/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - draws of the cases of vectors. */
#ifndef ISOMER_VECTORS_DRAW_H
#define ISOMER_VECTORS_DRAW_H

#include "bench/arith/arith.h"

typedef struct vectors_source {
    uint64_t seed, drawn;
} vectors_source;

static inline int64_t vectors_draw(vectors_source *s, int64_t below)
{
    return (int64_t)((arith_mix(s->seed, s->drawn++) >> 33) % (uint64_t)below);
}

/* True once in `times` draws. */
static inline bool vectors_once_in(vectors_source *s, int64_t times)
{
    return vectors_draw(s, times) == 0;
}

#endif
