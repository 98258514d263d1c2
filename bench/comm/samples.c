/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - how many samples a call has time for, and what those of all ranks say. */
#include "bench/comm/scale.h"

#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double sample_seconds = 0.002;

void scale_plan(const scale_run *run, double seconds, double slice, int32_t calls_most,
                int32_t samples_least, scale_times *times)
{
    const int32_t rounds = run->options->rounds;
    const double one = fmax(seconds, 1e-8); /* also if it is not known, which is a NaN */
    const double calls = fmin(fmax(floor(sample_seconds / one), 1), calls_most);
    const double samples =
        fmin(fmax(floor(slice / fmax(one, sample_seconds)), samples_least), SCALE_SAMPLES);
    times->calls = (int32_t)calls;
    times->count = rounds > 0 && rounds < samples ? rounds : (int32_t)samples;
}

bool scale_slowest(scale_run *run, const void *mine, int32_t width, int32_t count, double *out,
                   scale_outcome *outcome)
{
    const size_t bytes = (size_t)width * sizeof *out;
    double *all = tool_alloc((size_t)run->ranks, bytes, "the samples of all ranks");
    const bool good = ranks_gather(run->team, mine, (int64_t)bytes, all);
    for (int32_t s = 0; s < count; s++) {
        out[s] = 0;
        for (int32_t r = 0; r < run->ranks; r++) {
            out[s] = fmax(out[s], all[r * width + s]);
        }
    }
    if (!good) {
        scale_lose(run);
        outcome->status = BENCH_ERROR;
        snprintf(outcome->reason, sizeof outcome->reason, "the samples of all ranks: %.480s",
                 run->lost);
    }
    free(all);
    return good;
}

bool scale_collect(scale_run *run, double (*device)[SCALE_SAMPLES], double (*host)[SCALE_SAMPLES],
                   scale_times *times, scale_outcome *outcome)
{
    double by_host[SCALE_SAMPLES];
    if (!scale_slowest(run, host, SCALE_SAMPLES, times->count, by_host, outcome) ||
        (device &&
         !scale_slowest(run, device, SCALE_SAMPLES, times->count, times->samples, outcome))) {
        return false;
    }
    times->clock = "device";
    times->host = stats_median(by_host, times->count);
    if (!device || !(stats_min(times->samples, times->count) > 0)) {
        times->clock = "host"; /* the device may have no events that tell time */
        memcpy(times->samples, by_host, sizeof by_host);
    }
    return true;
}
