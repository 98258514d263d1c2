/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - measures a copy from one device of this process to another. */
#include "bench/comm/scale.h"

#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MOST = 100, SAMPLES_LEAST = 5 };

/* The two ranks of a copy. */
typedef struct lane {
    const ranks_seat *from, *to;
    scale_memory *source, *target;
    int64_t bytes;
    iso_path path;
} lane;

/* A sample ends when the device that gets the data has it. */
static iso_status take(lane *l, int32_t calls, double *device, double *host)
{
    int64_t nanoseconds = 0;
    iso_status status = iso_stream_sync(l->from->stream);
    status = status == ISO_OK ? iso_stream_sync(l->to->stream) : status;
    const double began = tool_seconds();
    status = status == ISO_OK ? iso_event_record(l->target->begin, l->to->stream) : status;
    for (int32_t i = 0; i < calls && status == ISO_OK; i++) {
        status = iso_copy_between(l->to->stream, (iso_operand){l->target->to, 0}, l->from->stream,
                                  (iso_operand){l->source->from, 0}, l->bytes, &l->path);
    }
    status = status == ISO_OK ? iso_event_record(l->target->end, l->to->stream) : status;
    status = status == ISO_OK ? iso_stream_sync(l->to->stream) : status;
    *host = 1e9 * (tool_seconds() - began) / calls;
    status = status == ISO_OK ? iso_event_elapsed(l->target->begin, l->target->end, &nanoseconds)
                              : status;
    *device = (double)nanoseconds / calls;
    return status;
}

/* Overwrites the result, so that an earlier one cannot be mistaken for it. */
static iso_status spoil(const lane *l)
{
    const uint64_t noise = 0x9e3779b97f4a7c15u;
    return iso_fill(l->to->stream, (iso_operand){l->target->to, 0}, &noise, (int64_t)sizeof noise,
                    (l->bytes + 7) / 8 * 8);
}

static bool is_right(const scale_case *of, const lane *l, scale_outcome *outcome)
{
    const scale_part all = {of->run->data.base, scale_row(l->from->rank), of->count};
    memset(outcome, 0, sizeof *outcome);
    return scale_compare(&of->run->data, l->to, l->target, 0, &all, outcome);
}

/* The rate is the host's if copies go through host memory: they have ended when the call returns.
 */
static iso_status time_it(const scale_case *of, lane *l, scale_times *times)
{
    double device[SCALE_SAMPLES], host[SCALE_SAMPLES], alone[SCALE_ALONE], ignored;
    iso_status status = take(l, 1, &ignored, &alone[0]);
    scale_plan(of->run, 1e-9 * alone[0], of->slice, CALLS_MOST, SAMPLES_LEAST, times);
    const int32_t single = times->count < SCALE_ALONE ? times->count : SCALE_ALONE;
    for (int32_t i = 0; i < single && status == ISO_OK; i++) {
        status = take(l, 1, &ignored, &alone[i]);
    }
    for (int32_t i = 0; i < times->count && status == ISO_OK; i++) {
        status = take(l, times->calls, &device[i], &host[i]);
    }
    if (status != ISO_OK) {
        return status;
    }
    const bool by_host = l->path == ISO_PATH_STAGED || !(stats_min(device, times->count) > 0);
    times->clock = by_host ? "host" : "device";
    memcpy(times->samples, by_host ? host : device, sizeof device);
    times->host = stats_median(host, times->count);
    times->alone = stats_median(alone, single);
    return ISO_OK;
}

void scale_copy(scale_case *of)
{
    scale_run *run = of->run;
    scale_outcome outcomes[RANKS_MOST];
    scale_times times = {.count = 0};
    double ignored, first;
    json_t *entry = scale_entry(run, "copy", NULL, run->data.dtype, of->bytes, run->ranks);
    tool_set_int(entry, "from", of->from);
    tool_set_int(entry, "to", of->to);
    if (!scale_need(run, (of->bytes + 255) / 256 * 256, outcomes)) {
        scale_set_outcome(entry, &outcomes[0], NULL);
        return;
    }
    lane l = {.from = ranks_at(run->team, of->from),
              .to = ranks_at(run->team, of->to),
              .source = &run->memories[of->from],
              .target = &run->memories[of->to],
              .bytes = of->bytes};
    scale_outcome *outcome = &outcomes[0];
    memset(outcome, 0, sizeof *outcome);
    /* The first of its copies arrives, and so does the last one. */
    iso_status status = spoil(&l);
    status = status == ISO_OK ? take(&l, 1, &ignored, &first) : status;
    bool good = status == ISO_OK && is_right(of, &l, outcome);
    status = good ? spoil(&l) : status;
    status = good && status == ISO_OK ? time_it(of, &l, &times) : status;
    good = good && status == ISO_OK && is_right(of, &l, outcome);
    if (status != ISO_OK) {
        outcome->status = status == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED : BENCH_ERROR;
        snprintf(outcome->reason, sizeof outcome->reason, "%s", iso_last_error());
    }
    scale_set_outcome(entry, outcome, "every element");
    if (good) {
        tool_set_text(entry, "path", iso_path_name(l.path));
        scale_set_times(entry, &times);
    }
}
