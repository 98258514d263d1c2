/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - measures one case on one device: the first call, samples, and the last call. */
#include "bench/measure/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double SAMPLE_GPU = 300e3, SAMPLE_CPU = 500e3; /* the shortest sample, in ns */
enum { VISIT_SAMPLES = 12, ONLY_SAMPLES = 100, CALLS_MOST = 4096 };

/* ---- failing --------------------------------------------------------------------------------- */

static void fail(measure_state *state, measure_row *row, const char *what)
{
    work_target *target = state->plan->targets[row->target];
    row->result.status = BENCH_ERROR;
    snprintf(row->result.reason, sizeof row->result.reason, "%s: %s: %s", what,
             iso_status_name(iso_last_status()), tool_reason());
    /* The stream keeps a late error, so the next case needs another stream. */
    if (work_target_revive(target)) {
        return;
    }
    state->devices[row->target].dead = true;
    state->lost = true;
}

/* ---- sensors --------------------------------------------------------------------------------- */

static void look(measure_state *state, measure_row *row)
{
    int32_t sensors = state->devices[row->target].sensors;
    iso_telemetry now = ISO_TELEMETRY_INIT;
    if (sensors < 0 || !state->devices[row->target].gpu ||
        iso_device_get_telemetry(work_target_device(state->plan->targets[sensors]), &now) !=
            ISO_OK) {
        return;
    }
    if (now.clock_mhz > 0) {
        row->mhz_low = fmin(row->mhz_low, now.clock_mhz);
        row->mhz_high = fmax(row->mhz_high, now.clock_mhz);
    }
    if (now.power_watts >= 0) {
        row->watts = fmax(row->watts, now.power_watts);
    }
    if (now.temperature_celsius >= 0) {
        row->celsius = fmax(row->celsius, now.temperature_celsius);
    }
    row->throttle |= now.throttle > 0 ? (uint32_t)now.throttle : 0;
}

/* ---- one sample ------------------------------------------------------------------------------ */

static bool run(measure_state *state, measure_row *row, int64_t calls, measure_sample *out)
{
    measure_device *device = &state->devices[row->target];
    work_target *target = state->plan->targets[row->target];
    iso_stream stream = work_target_stream(target);
    /* Makes room before the operands are made ready. Making room may drop the case's inputs, and
     * they must not be moved while the case is timed. */
    if (row->item->cold && work_target_flush_room(target) != ISO_OK) {
        fail(state, row, "making room to overwrite the caches");
        return false;
    }
    if (work_job_ready(row->job) != ISO_OK) {
        fail(state, row, "making room for the operands");
        return false;
    }
    if (row->item->cold &&
        (work_target_flush(target) != ISO_OK || iso_stream_sync(stream) != ISO_OK)) {
        fail(state, row, "overwriting the caches");
        return false;
    }
    if (row->item->op->own &&
        !row->item->op->arguments) { /* a kernel of the user's may never end */
        tool_watch_work("%s on %s", row->item->id, work_target_info(target)->spec);
    }
    iso_status status = iso_event_record(device->start, stream);
    double begin = tool_seconds();
    for (int64_t i = 0; i < calls && status == ISO_OK; i++) {
        status = work_job_submit(row->job);
    }
    double handed = tool_seconds();
    if (status == ISO_OK) {
        status = iso_event_record(device->stop, stream);
    }
    if (status == ISO_OK) {
        status = iso_stream_sync(stream);
    }
    double end = tool_seconds();
    tool_watch_done();
    state->devices[device->chip].worked = end;
    if (status != ISO_OK) {
        fail(state, row, "running the case");
        return false;
    }
    int64_t elapsed = 0;
    *out = (measure_sample){.host = (end - begin) * 1e9 / (double)calls,
                            .submit = (handed - begin) * 1e9 / (double)calls,
                            .round = state->round};
    out->time = out->host;
    status = iso_event_elapsed(device->start, device->stop, &elapsed);
    if (status == ISO_OK && elapsed > 0) {
        out->time = (double)elapsed / (double)calls;
    } else {
        row->host_clock = true;
    }
    return true;
}

static bool keep(measure_row *row, const measure_sample *sample)
{
    if (row->count == row->room) {
        int32_t room = row->room == 0 ? 64 : row->room * 2;
        measure_sample *more = realloc(row->samples, (size_t)room * sizeof *more);
        if (!more) {
            return false;
        }
        row->samples = more;
        row->room = room;
    }
    if (row->count == 0 || row->samples[row->count - 1].round != sample->round) {
        row->rounds++;
    }
    row->samples[row->count++] = *sample;
    return true;
}

/* ---- the first call -------------------------------------------------------------------------- */

/* The seconds that a sample keeps the host, with what is done before it. */
static double seconds_of(double began, const measure_sample *sample, int64_t calls)
{
    /* The first sample's time by the host's clock may contain the loading of a kernel. */
    double besides = tool_seconds() - began - 1e-9 * sample->host * (double)calls;
    return fmax(besides, 0) + 1e-9 * sample->time * (double)calls;
}

/* Short samples are preceded by one that warms up the caches. */
static bool warms_up(const measure_row *row)
{
    return row->estimate * (double)row->calls < 2e6 && !row->item->cold;
}

/* Chooses the number of calls so that a sample is long enough for the clocks, and estimates how
 * long a visit takes. `first` is the first call and `took` what it took: it stands for a second one
 * if the crew compiled the kernels and it is long. */
static bool choose_calls(measure_state *state, measure_row *row, const measure_sample *first,
                         double took)
{
    double least = state->devices[row->target].gpu ? SAMPLE_GPU : SAMPLE_CPU;
    /* The first call of a process also loads the kernel, which takes up to some milliseconds. */
    bool enough = row->ahead && first->time >= 50e6;
    int64_t calls = 1;
    measure_sample sample;
    row->estimate = first->time;
    while (!enough) {
        double began = tool_seconds();
        if (!run(state, row, calls, &sample)) {
            return false;
        }
        took = seconds_of(began, &sample, calls);
        row->estimate = sample.time;
        if (row->item->cold || calls >= CALLS_MOST || sample.time * (double)calls >= least) {
            break;
        }
        double wanted = ceil(1.2 * least / fmax(sample.time, 1));
        calls = (int64_t)fmin(fmax(wanted, 2 * (double)calls), CALLS_MOST);
    }
    row->calls = calls;
    row->visit = (warms_up(row) ? 2 : 1) * took;
    return true;
}

typedef iso_status (*part_step)(work_job *job);

/* Moves the operands in, computes, and moves the result out: each part alone, then all together.
 * The first time, the result is checked; later moves repeat the same copies. */
static void take_parts(measure_state *state, measure_row *row)
{
    iso_stream stream = work_target_stream(state->plan->targets[row->target]);
    static const part_step steps[] = {work_job_copy_in, work_job_submit, work_job_copy_out};
    double parts[MEASURE_PARTS], began = tool_seconds();
    bool first = row->part_count == 0;
    if (row->part_count == MEASURE_PART_VISITS) {
        return;
    }
    iso_status status = work_job_ready(row->job);
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        double begin = tool_seconds();
        status = steps[i](row->job);
        if (status == ISO_OK) {
            status = iso_stream_sync(stream);
        }
        parts[i] = (tool_seconds() - begin) * 1e9;
    }
    if (status == ISO_OK && first) {
        status = work_job_spoil_parts(row->job);
    }
    double begin = tool_seconds();
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = steps[i](row->job);
    }
    if (status == ISO_OK) {
        status = iso_stream_sync(stream);
    }
    parts[3] = (tool_seconds() - begin) * 1e9;
    row->moving = tool_seconds() - began;
    if (status != ISO_OK) {
        fail(state, row, "moving its operands and its result");
    } else if (!first || work_job_check_parts(row->job, &row->result)) {
        memcpy(row->parts[row->part_count++], parts, sizeof parts);
    }
}

void measure_prepare(measure_state *state, measure_row *row)
{
    measure_sample sample;
    double prepare;
    if (!row->job || row->result.status != BENCH_OK) {
        return;
    }
    if (state->devices[row->target].dead) {
        row->result.status = BENCH_ERROR;
        snprintf(row->result.reason, sizeof row->result.reason,
                 "the device was lost before this case");
        return;
    }
    if (!work_job_prepare(row->job, &prepare, &row->result)) {
        return;
    }
    double spoiling = tool_seconds();
    if (!work_job_spoil(row->job, &row->result)) {
        return;
    }
    double spoiled = tool_seconds();
    if (!run(state, row, 1, &sample)) {
        return;
    }
    if (!row->ahead) {
        row->prepare = prepare;
        row->first = sample.host;
    }
    double judging = tool_seconds(), took = seconds_of(spoiled, &sample, 1);
    bool right = work_job_check(row->job, &row->result);
    double judged = tool_seconds();
    if (right && choose_calls(state, row, &sample, took)) {
        row->checking =
            spoiled - spoiling + judged - judging + 1e-9 * row->estimate * (double)row->calls;
    }
    /* The parts are measured here too, so that the plan knows what they take. */
    if (row->calls > 0 && row->item->parts && state->plan->rounds_max != 1) {
        take_parts(state, row);
    }
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* The seconds that all threads of this process have worked. */
static double worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Threads spin for some 30 ms after their work before they sleep, and those of another library
 * would take the processors from this row's. Waits until they sleep. */
static void wait_for_others(measure_state *state, const measure_row *row)
{
    const double most = 0.1, idle = 0.3; /* seconds; of one processor's time */
    const struct timespec pause = {0, 1000000};
    int32_t pool = measure_pool(state, row);
    double begin = tool_seconds(), end = begin, before = worked(), took = INFINITY;
    if (pool == state->pool) {
        return;
    }
    while (took > idle && end - begin < most) {
        double last = end;
        nanosleep(&pause, NULL);
        double now = worked();
        end = tool_seconds();
        took = (now - before) / (end - last);
        before = now;
    }
    state->pool = pool;
}

/* A GPU's clock may have dropped while other devices were measured. So the GPU runs the case for a
 * while before it is timed. */
static bool wake(measure_state *state, measure_row *row)
{
    const double idle = 0.05, work = 0.005;
    measure_device *device = &state->devices[row->target];
    measure_sample sample;
    double begin = tool_seconds();
    if (!device->gpu || begin - state->devices[device->chip].worked < idle) {
        return true;
    }
    do {
        if (!run(state, row, row->calls, &sample)) {
            return false;
        }
    } while (tool_seconds() - begin < work);
    return true;
}

void measure_visit(measure_state *state, measure_row *row, double seconds)
{
    bool only = state->plan->rounds_max == 1;
    measure_sample sample;
    double begin = tool_seconds(), more = begin;
    if (work_job_renew(row->job) != ISO_OK) {
        fail(state, row, "writing new inputs");
        return;
    }
    wait_for_others(state, row);
    if (!wake(state, row)) {
        return;
    }
    double warm = tool_seconds(), end = warm + seconds;
    if (warms_up(row) && !run(state, row, row->calls, &sample)) {
        return;
    }
    /* In a new process, threads and clocks must warm up first. */
    while (only && tool_seconds() - warm < 0.2 * seconds) {
        if (!run(state, row, row->calls, &sample)) {
            return;
        }
    }
    for (int i = 0; i < (only ? ONLY_SAMPLES : VISIT_SAMPLES); i++) {
        double left = end - tool_seconds();
        if (i > 0 && (left * 1e9 < row->estimate * (double)row->calls || tool_stop_asked())) {
            break;
        }
        if (!run(state, row, row->calls, &sample) || !keep(row, &sample)) {
            return;
        }
        more = i == 0 ? tool_seconds() : more;
    }
    double sampled = tool_seconds();
    look(state, row);
    measure_pace(state, row, more - begin + tool_seconds() - sampled);
    if (row->item->parts) {
        take_parts(state, row);
    }
}

void measure_close(measure_state *state, measure_row *row)
{
    measure_sample sample;
    if (!work_job_spoil(row->job, &row->result) || !run(state, row, row->calls, &sample)) {
        return;
    }
    row->closing = sample.time;
    work_job_check(row->job, &row->result);
}

/* ---- warming up ------------------------------------------------------------------------------ */

/* Finds the row of a target that does the most arithmetic in a call, among calls under 50 ms. */
static measure_row *heaviest(measure_state *state, int32_t target)
{
    measure_row *best = NULL;
    for (int32_t i = 0; i < state->count; i++) {
        measure_row *row = &state->rows[i];
        if (row->target == target && row->result.status == BENCH_OK && row->calls > 0 &&
            row->estimate < 50e6 && (!best || row->item->flops > best->item->flops)) {
            best = row;
        }
    }
    return best;
}

void measure_warm(measure_state *state, int32_t target)
{
    enum { STEADY = 3 };
    const double least = 0.3, most = 2;
    measure_device *device = &state->devices[target];
    measure_row *row = device->gpu && !device->dead ? heaviest(state, target) : NULL;
    double begin = tool_seconds(), before = 0;
    int steady = 0;
    while (row && row->result.status == BENCH_OK && !tool_stop_asked()) {
        measure_sample sample;
        iso_telemetry now = ISO_TELEMETRY_INIT;
        double passed = tool_seconds() - begin;
        if (passed > most || (passed > least && (device->sensors < 0 || steady >= STEADY))) {
            return;
        }
        int64_t calls = (int64_t)ceil(20e6 / fmax(row->estimate, 1e3));
        if (!run(state, row, calls, &sample)) {
            return;
        }
        if (device->sensors < 0 ||
            iso_device_get_telemetry(work_target_device(state->plan->targets[device->sensors]),
                                     &now) != ISO_OK) {
            continue;
        }
        steady = before > 0 && fabs(now.clock_mhz - before) < 0.02 * before ? steady + 1 : 0;
        before = now.clock_mhz;
    }
}
