/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - the order of a round in which two devices are compared in pairs. */
#include "bench/measure/internal.h"

#include <stdlib.h>
#include <string.h>

/* Finds the row of the same case and library number on the other device; -1: there is none that
 * can be measured. The rows of a case lie side by side. */
static int32_t partner(const measure_state *state, int32_t at)
{
    const measure_row *row = &state->rows[at];
    for (int32_t step = -1; step <= 1; step += 2) {
        for (int32_t i = at + step; i >= 0 && i < state->count && state->rows[i].item == row->item;
             i += step) {
            const measure_row *other = &state->rows[i];
            if (other->target != row->target && other->library == row->library) {
                return other->result.status == BENCH_OK && other->calls > 0 ? i : -1;
            }
        }
    }
    return -1;
}

/* Whether the second device is first in this round: it is in the first, then every other round has
 * a random order, and the next one the reverse. */
static bool reversed(const measure_state *state)
{
    int32_t pair = state->round, drawn = pair / 2;
    uint64_t random = (state->plan->seed + (uint64_t)drawn) * 0x9e3779b97f4a7c15ULL;
    bool first = drawn == 0 || (random >> 40 & 1);
    return first != (pair % 2 == 1);
}

int32_t measure_pair_up(measure_state *state, int32_t n)
{
    int32_t *order = tool_alloc((size_t)n, sizeof *order, "the cases"), count = 0;
    bool *listed = tool_alloc((size_t)state->count, sizeof *listed, "the cases");
    for (int32_t i = 0; i < n; i++) {
        listed[state->order[i]] = true; /* it takes part */
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t at = state->order[i], other = partner(state, at);
        bool late = (state->rows[at].target == 0) == reversed(state);
        if (other < 0) {
            order[count++] = at;
        } else if (!listed[other]) {
            continue; /* the other device has no time for it now */
        } else if (state->rows[at].target == 0) {
            order[count++] = late ? other : at;
            order[count++] = late ? at : other;
        }
    }
    memcpy(state->order, order, (size_t)count * sizeof *order);
    free(order);
    free(listed);
    return count;
}

void measure_pair_even(measure_state *state)
{
    for (int32_t i = 0; i < state->count; i++) {
        measure_row *row = &state->rows[i];
        int32_t other = partner(state, i);
        if (other < 0 || row->rounds <= state->rows[other].rounds) {
            continue;
        }
        while (row->count > 0 && row->samples[row->count - 1].round == state->round) {
            row->count--;
        }
        row->rounds = state->rows[other].rounds;
    }
}
