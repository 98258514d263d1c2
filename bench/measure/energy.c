/* SPDX-License-Identifier: Apache-2.0 */
/* energy.c - measures how much energy a case needs: the device repeats it for some seconds. Also
 * measures the power of each device at rest. */
#include "bench/measure/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Shares of a window: the rest before the power at rest is measured, and the repetitions before a
 * case is measured, so that the power is steady. */
static const double SETTLE = 0.4, WARM = 0.1;

/* ---- which cases ----------------------------------------------------------------------------- */

/* What is measured unless the user chose cases. */
static const struct {
    const char *op, *kind, *type;
} usual[] = {{"map", "copy", "f32"},  {"map", "triad", "f32"}, {"reduce", "sum", "f32"},
             {"transpose", "", "e4"}, {"gemm", "", "f32"},     {"gemm", "", "f64"},
             {"gemm", "", "bf16"}};

static bool is_usual(const bench_case *item)
{
    if (item->how != ISO_VARIANT_TILED && item->how != ISO_VARIANT_VENDOR) {
        return false;
    }
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (strcmp(item->op->name, usual[i].op) == 0 && strcmp(item->kind, usual[i].kind) == 0 &&
            strcmp(item->type, usual[i].type) == 0) {
            return true;
        }
    }
    return false;
}

/* Cold cases overwrite the caches between their calls, which needs energy too. */
static bool is_candidate(const measure_state *state, const measure_row *row)
{
    const bench_case *item = row->item;
    return row->result.status == BENCH_OK && row->count > 0 && !item->cold &&
           (state->plan->energy_every ? item->asked : is_usual(item));
}

/* Whether both measure the same: of such rows only one is chosen. */
static bool alike(const measure_row *a, const measure_row *b)
{
    return a->target == b->target && a->item->op == b->item->op &&
           a->result.math == b->result.math && strcmp(a->item->kind, b->item->kind) == 0 &&
           strcmp(a->item->type, b->item->type) == 0 &&
           strcmp(a->item->variant, b->item->variant) == 0;
}

static double bytes_of(const bench_case *item)
{
    return item->bytes_read + item->bytes_written;
}

/* The larger case is better, then the faster library or layout. */
static bool better(const measure_row *a, const measure_row *b)
{
    if (a->item->flops != b->item->flops) {
        return a->item->flops > b->item->flops;
    }
    if (bytes_of(a->item) != bytes_of(b->item)) {
        return bytes_of(a->item) > bytes_of(b->item);
    }
    return a->estimate < b->estimate;
}

static bool is_best(const measure_state *state, const measure_row *row)
{
    for (int32_t i = 0; i < state->count; i++) {
        const measure_row *other = &state->rows[i];
        if (other != row && alike(row, other) && is_candidate(state, other) &&
            (better(other, row) || (!better(row, other) && other < row))) {
            return false;
        }
    }
    return true;
}

/* ---- the counter ----------------------------------------------------------------------------- */

/* The counter moves in steps, so power is measured from one step to another. */
typedef struct window {
    double next;                    /* when to look again */
    double joules;                  /* at the last look; -1: none yet */
    double from, to, first, latest; /* the first and the latest step: seconds, joules */
    int32_t steps;
} window;

static const window fresh = {.joules = -1};

/* Looks at the counter, but not often: for a CPU, that reads files of every processor. */
static void look(const measure_state *state, int32_t sensors, window *w)
{
    const double pause = state->devices[sensors].gpu ? 0.02 : 0.1;
    iso_telemetry seen = ISO_TELEMETRY_INIT;
    double before = tool_seconds();
    if (before < w->next) {
        return;
    }
    iso_status status =
        iso_device_get_telemetry(work_target_device(state->plan->targets[sensors]), &seen);
    double now = (before + tool_seconds()) / 2;
    w->next = now + pause;
    if (status != ISO_OK || seen.energy_joules < 0) {
        return;
    }
    if (w->joules >= 0 && seen.energy_joules != w->joules) {
        if (w->steps++ == 0) {
            w->from = now;
            w->first = seen.energy_joules;
        }
        w->to = now;
        w->latest = seen.energy_joules;
    }
    w->joules = seen.energy_joules;
}

static bool set_watts(measure_energy *out, const window *w)
{
    if (w->steps < 2 || w->latest <= w->first) {
        snprintf(out->reason, sizeof out->reason, "not measured: the counter did not move on");
        return false;
    }
    out->watts = (w->latest - w->first) / (w->to - w->from);
    return true;
}

/* Sets where a device's energy is read, or why it cannot be read. */
static measure_energy *describe(const measure_state *state, int32_t target)
{
    measure_energy *out = tool_alloc(1, sizeof *out, "the energy");
    int32_t sensors = state->devices[target].sensors;
    iso_telemetry seen = ISO_TELEMETRY_INIT;
    iso_status status = iso_device_get_telemetry(
        work_target_device(state->plan->targets[sensors >= 0 ? sensors : target]), &seen);
    *out = (measure_energy){.joules = NAN, .watts = NAN, .seconds = NAN};
    if (status != ISO_OK) {
        snprintf(out->reason, sizeof out->reason, "not measured: %s", tool_reason());
    } else if (seen.energy_joules < 0) {
        snprintf(out->reason, sizeof out->reason, "not measured: %s", seen.energy_reason);
    } else {
        out->counted = true;
        snprintf(out->source, sizeof out->source, "%s: %s", seen.source, seen.energy_scope);
    }
    return out;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void nap(double seconds)
{
    const struct timespec time = {0, (long)(seconds * 1e9)};
    (void)nanosleep(&time, NULL);
}

/* Measures all devices at rest at the same time. Devices that share sensors share the figure. */
static void measure_rest(measure_state *state)
{
    int32_t n = state->plan->target_count;
    double seconds = state->plan->energy, began = tool_seconds() + SETTLE * seconds;
    window *windows = tool_alloc((size_t)n, sizeof *windows, "the energy");
    for (int32_t t = 0; t < n; t++) {
        windows[t] = fresh;
    }
    while (tool_seconds() < began + seconds && !tool_stop_asked()) {
        nap(0.01);
        for (int32_t t = 0; t < n && tool_seconds() >= began; t++) {
            if (state->devices[t].sensors == t) {
                look(state, t, &windows[t]);
            }
        }
    }
    for (int32_t t = 0; t < n; t++) {
        measure_energy *idle = state->devices[t].idle;
        if (idle->counted && tool_stop_asked()) {
            snprintf(idle->reason, sizeof idle->reason, "not measured: the run was interrupted");
        } else if (idle->counted && set_watts(idle, &windows[state->devices[t].sensors])) {
            idle->seconds = tool_seconds() - began;
        }
    }
    free(windows);
}

/* Waits for an event, and looks at the counter meanwhile. */
static iso_status wait_for(const measure_state *state, int32_t sensors, iso_event event, window *w)
{
    iso_status status;
    while ((status = iso_event_query(event)) == ISO_NOT_READY) {
        look(state, sensors, w);
        nap(0.001);
    }
    look(state, sensors, w);
    return status;
}

/* Keeps two batches of calls in the stream, so that the device never waits, and the queue stays
 * short. The window begins and ends when a batch is done. */
static iso_status repeat(measure_state *state, measure_row *row, window *w)
{
    enum { CALLS_MOST = 4096 };
    const double batch = 20e6, seconds = state->plan->energy;
    measure_device *device = &state->devices[row->target];
    iso_stream stream = work_target_stream(state->plan->targets[row->target]);
    const iso_event events[2] = {device->start, device->stop};
    int64_t calls = (int64_t)fmin(fmax(ceil(batch / fmax(row->estimate, 1)), 1), CALLS_MOST);
    int64_t done = 0;
    double began = tool_seconds(), from = 0;
    iso_status status = work_job_ready(row->job);
    for (int64_t i = 0; status == ISO_OK && !tool_stop_asked(); i++) {
        if (i >= 2) {
            status = wait_for(state, device->sensors, events[i % 2], w);
            double now = tool_seconds();
            done += from > 0 ? calls : 0;
            if (from == 0 && now - began >= WARM * seconds) {
                from = now;
                *w = fresh;
            } else if (from > 0 && now - from >= seconds) {
                row->energy->seconds = now - from;
                row->energy->calls = done;
                break;
            }
        }
        for (int64_t k = 0; k < calls && status == ISO_OK; k++) {
            status = work_job_submit(row->job);
        }
        if (status == ISO_OK) {
            status = iso_event_record(events[i % 2], stream);
        }
    }
    iso_status rest = iso_stream_sync(stream);
    state->devices[device->chip].worked = tool_seconds();
    return status != ISO_OK ? status : rest;
}

static void measure_case(measure_state *state, measure_row *row)
{
    measure_energy *out = row->energy;
    window w = fresh;
    iso_status status = repeat(state, row, &w);
    if (status != ISO_OK) {
        snprintf(out->reason, sizeof out->reason, "not measured: %s: %s", iso_status_name(status),
                 tool_reason());
        if (!work_target_revive(state->plan->targets[row->target])) {
            state->devices[row->target].dead = true;
            state->lost = true;
        }
    } else if (out->calls == 0) {
        snprintf(out->reason, sizeof out->reason, "not measured: the run was interrupted");
    } else if (set_watts(out, &w)) {
        out->joules = out->watts * out->seconds / (double)out->calls;
    }
}

/* Chooses the rows, and returns how many of them can be measured. */
static int32_t choose(measure_state *state)
{
    int32_t count = 0;
    for (int32_t t = 0; t < state->plan->target_count; t++) {
        state->devices[t].idle = describe(state, t);
    }
    for (int32_t i = 0; i < state->count; i++) {
        measure_row *row = &state->rows[i];
        if (is_candidate(state, row) && is_best(state, row)) {
            row->energy = describe(state, row->target);
            count += row->energy->counted;
        }
    }
    return count;
}

void measure_energies(measure_state *state)
{
    double began = tool_seconds(), seconds = state->plan->energy;
    int32_t count = choose(state), done = 0;
    double each = (1 + WARM) * seconds;
    measure_progress_end(state);
    if (count == 0) {
        tool_error(TOOL_OK, "energy: %s",
                   state->devices[0].idle->counted
                       ? "no case of the usual or chosen kinds has a result"
                       : state->devices[0].idle->reason);
        return;
    }
    tool_error(TOOL_OK, "energy: %d cases of %g s, after %g s at rest: about %.0f s", (int)count,
               seconds, (1 + SETTLE) * seconds, ceil(count * each + (1 + SETTLE) * seconds));
    measure_rest(state);
    for (int32_t i = 0; i < state->count; i++) {
        measure_row *row = &state->rows[i];
        if (!row->energy || !row->energy->counted) {
            continue;
        }
        if (tool_stop_asked() || state->devices[row->target].dead) {
            snprintf(row->energy->reason, sizeof row->energy->reason, "not measured: %s",
                     tool_stop_asked() ? "the run was interrupted" : "the device was lost");
            continue;
        }
        measure_progress(state, "energy", (double)done / count, (count - done) * each, row);
        measure_case(state, row);
        done++;
    }
    state->energy_seconds = tool_seconds() - began;
}

/* ---- in the document ------------------------------------------------------------------------- */

json_t *measure_energy_json(const measure_energy *energy, const bench_case *item)
{
    if (!energy) {
        return json_null();
    }
    json_t *object = json_object();
    if (item) {
        tool_set_number(object, "joules", energy->joules);
    }
    tool_set_number(object, "watts", energy->watts);
    tool_set_number(object, "seconds", energy->seconds);
    if (item) {
        double flops = item->flops > 0 ? item->flops : NAN;
        double bytes = bytes_of(item) > 0 ? bytes_of(item) : NAN;
        json_object_set_new(object, "calls",
                            energy->calls > 0 ? json_integer(energy->calls) : json_null());
        tool_set_number(object, "gflop_per_joule", 1e-9 * flops / energy->joules);
        tool_set_number(object, "gb_per_joule", 1e-9 * bytes / energy->joules);
    }
    tool_set_text(object, "source", energy->source);
    tool_set_text(object, "reason", energy->reason);
    return object;
}
