/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - what all processes of a run have to know. */
#include "bench/comm/scale.h"

#include "bench/check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int32_t scale_here(const scale_run *run)
{
    return ranks_here(run->team);
}

int32_t scale_number(const scale_run *run, const ranks_seat *seat)
{
    return (int32_t)(seat - ranks_at(run->team, 0));
}

void scale_lose(scale_run *run)
{
    run->over = true;
    snprintf(run->lost, sizeof run->lost, "%s", tool_reason());
}

double scale_most(scale_run *run, const double *mine)
{
    double most = mine[0];
    double *all = tool_alloc((size_t)run->ranks, sizeof *all, "a number of all ranks");
    if (!run->over && !ranks_gather(run->team, mine, (int64_t)sizeof *mine, all)) {
        scale_lose(run);
    }
    for (int32_t i = 0; i < run->ranks; i++) {
        most = fmax(most, all[i]);
    }
    free(all);
    return run->over ? NAN : most;
}

double scale_now(scale_run *run)
{
    double mine[RANKS_MOST] = {0};
    const bool stopped = tool_interrupted();
    for (int32_t i = 0; i < scale_here(run); i++) {
        mine[i] = stopped ? INFINITY : tool_seconds() - run->began;
    }
    const double now = scale_most(run, mine);
    run->stopped = run->stopped || now == INFINITY;
    run->over = run->over || run->stopped;
    return now;
}

void scale_note(scale_run *run, const char *what, scale_outcome *mine)
{
    for (int32_t i = 0; i < scale_here(run); i++) {
        const ranks_seat *seat = ranks_at(run->team, i);
        if (seat->status == ISO_OK || mine[i].status != BENCH_OK) {
            continue;
        }
        mine[i].status = seat->status == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED
                         : seat->status == ISO_NO_MEMORY ? BENCH_SKIPPED
                                                         : BENCH_ERROR;
        snprintf(mine[i].reason, sizeof mine[i].reason, "rank %d: %s: %.400s", seat->rank, what,
                 seat->reason[0] ? seat->reason : iso_status_name(seat->status));
    }
}

bool scale_agree(scale_run *run, scale_outcome *mine)
{
    static const int severity[BENCH_STATUSES] = {[BENCH_OK] = 0,
                                                 [BENCH_SKIPPED] = 1,
                                                 [BENCH_UNSUPPORTED] = 2,
                                                 [BENCH_FAILED] = 4,
                                                 [BENCH_ERROR] = 3};
    scale_outcome *all = tool_alloc((size_t)run->ranks, sizeof *all, "the ranks' outcomes");
    int worst = 0;
    for (int32_t i = 0; i < scale_here(run); i++) {
        worst = mine[i].status > mine[worst].status ? i : worst;
    }
    if (!run->over && !ranks_gather(run->team, mine, (int64_t)sizeof *mine, all)) {
        scale_lose(run);
    }
    if (run->over) {
        mine[0] = mine[worst];
        if (mine[0].status == BENCH_OK) {
            mine[0].status = BENCH_ERROR;
            snprintf(mine[0].reason, sizeof mine[0].reason, "the ranks' outcomes: %.480s",
                     run->lost);
        }
        free(all);
        return false;
    }
    uint64_t digests[4] = {0};
    mine[0] = all[0];
    for (int32_t i = 0; i < run->ranks; i++) {
        memcpy(digests + 2, all[i].digest, sizeof all[i].digest);
        check_hash(digests, (int64_t)sizeof digests, digests);
        if (severity[all[i].status] > severity[mine[0].status]) {
            mine[0] = all[i];
        }
    }
    memcpy(mine[0].digest, digests, sizeof mine[0].digest);
    free(all);
    return mine[0].status == BENCH_OK;
}
