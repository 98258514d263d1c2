/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - makes the results document (docs/results.md) from the rows. */
#include "bench/measure/internal.h"

#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

/* ---- figures of a row ------------------------------------------------------------------------ */

typedef struct figures {
    stats_interval time;
    double host, submit;
    int32_t rounds;
} figures;

int32_t measure_round_medians(const measure_row *row, double *out, bool host)
{
    int32_t rounds = 0;
    double *times = tool_alloc((size_t)row->count, sizeof *times, "the samples");
    for (int32_t i = 0; i < row->count;) {
        int32_t n = 0, round = row->samples[i].round;
        for (; i < row->count && row->samples[i].round == round; i++) {
            times[n++] = host ? row->samples[i].host : row->samples[i].time;
        }
        out[rounds++] = stats_median(times, n);
    }
    free(times);
    return rounds;
}

/* Returns the times of all samples, or with `submit` the times that submitting took. The caller
 * frees them. */
static double *all_samples(const measure_row *row, bool submit)
{
    double *x = tool_alloc((size_t)row->count, sizeof *x, "the samples");
    for (int32_t i = 0; i < row->count; i++) {
        x[i] = submit ? row->samples[i].submit : row->samples[i].time;
    }
    return x;
}

static figures work_out(const measure_row *row)
{
    figures out;
    double *rounds = tool_alloc((size_t)row->rounds, sizeof *rounds, "the rounds");
    double *submit = all_samples(row, true);
    /* The host's time and the device's both come from medians of rounds. Otherwise they would
     * differ wherever rounds differ. */
    out.host = stats_median(rounds, measure_round_medians(row, rounds, true));
    out.rounds = measure_round_medians(row, rounds, false);
    out.time = stats_median_interval(rounds, out.rounds, MEASURE_CONFIDENCE);
    out.submit = stats_median(submit, row->count);
    free(submit);
    free(rounds);
    return out;
}

/* ---- members of a result --------------------------------------------------------------------- */

static json_t *samples_json(const measure_row *row)
{
    json_t *rounds = json_array(), *list = NULL;
    for (int32_t i = 0; i < row->count; i++) {
        if (i == 0 || row->samples[i].round != row->samples[i - 1].round) {
            list = json_array();
            json_array_append_new(rounds, list);
        }
        json_array_append_new(list, tool_json_number(row->samples[i].time));
    }
    return rounds;
}

static const char *stopped(const measure_state *state, const measure_row *row)
{
    if (row->settled) {
        return "interval";
    }
    if (state->interrupted || row->cut) {
        return "interrupted";
    }
    return state->plan->rounds_max > 0 && row->rounds == state->plan->rounds_max ? "rounds"
                                                                                 : "budget";
}

void measure_set_times(json_t *times, const stats_interval *time, const double *x, int32_t n)
{
    bool interval = time->confidence > 0; /* one round has none */
    tool_set_number(times, "median", time->median);
    tool_set_number(times, "low", interval ? time->low : NAN);
    tool_set_number(times, "high", interval ? time->high : NAN);
    tool_set_number(times, "confidence", interval ? time->confidence : NAN);
    tool_set_number(times, "min", stats_min(x, n));
    tool_set_number(times, "max", stats_max(x, n));
    tool_set_number(times, "mean", stats_mean(x, n));
    tool_set_number(times, "deviation", stats_deviation(x, n));
}

void measure_set_rate(json_t *rate, double work, const stats_interval *time)
{
    bool interval = time->confidence > 0;
    if (json_is_object(rate)) {
        tool_set_number(rate, "value", work / time->median);
        tool_set_number(rate, "low", interval ? work / time->high : NAN);
        tool_set_number(rate, "high", interval ? work / time->low : NAN);
    }
}

static json_t *times_json(const measure_state *state, const measure_row *row, const figures *f)
{
    json_t *t = json_object();
    double *x = all_samples(row, false);
    tool_set_text(t, "clock", row->host_clock ? "host" : "device");
    measure_set_times(t, &f->time, x, row->count);
    free(x);
    tool_set_bool(t, "converged", row->settled);
    tool_set_number(t, "target", state->plan->target);
    tool_set_text(t, "stopped", stopped(state, row));
    set(t, "samples", samples_json(row));
    tool_set_int(t, "calls", row->calls);
    tool_set_number(t, "host", f->host);
    tool_set_number(t, "submit", f->submit);
    tool_set_number(t, "prepare", row->prepare);
    tool_set_number(t, "first", row->first);
    tool_set_number(t, "closing", row->closing);
    return t;
}

static json_t *rate_json(double work, const figures *f)
{
    if (!(work > 0)) {
        return json_null();
    }
    json_t *rate = json_object();
    measure_set_rate(rate, work, &f->time);
    return rate;
}

static json_t *parts_json(const measure_row *row)
{
    static const char *const names[MEASURE_PARTS] = {"copy_in", "kernel", "copy_out", "total"};
    if (row->part_count == 0) {
        return json_null();
    }
    json_t *parts = json_object();
    for (int p = 0; p < MEASURE_PARTS; p++) {
        double x[MEASURE_PART_VISITS];
        for (int32_t i = 0; i < row->part_count; i++) {
            x[i] = row->parts[i][p];
        }
        tool_set_number(parts, names[p], stats_median(x, row->part_count));
    }
    return parts;
}

static json_t *clocks_json(const measure_row *row)
{
    if (!isfinite(row->mhz_high) && !isfinite(row->watts)) {
        return json_null();
    }
    json_t *clocks = json_object();
    tool_set_number(clocks, "mhz_low", row->mhz_low);
    tool_set_number(clocks, "mhz_high", row->mhz_high);
    tool_set_number(clocks, "power_watts", row->watts);
    tool_set_number(clocks, "temperature_celsius", row->celsius);
    return clocks;
}

static void flag(json_t *flags, bool is, const char *name)
{
    if (is) {
        json_array_append_new(flags, json_string(name));
    }
}

/* The host always needs some time to notice the end of a sample. */
static bool clocks_disagree(const measure_row *row, const figures *f)
{
    double slack = 0.1 * f->time.median + 50e3 / (double)row->calls;
    return !row->host_clock && fabs(f->host - f->time.median) > slack;
}

static bool clocks_contradict(const measure_row *row, const figures *f)
{
    double missing = (f->host - f->time.median) * (double)row->calls;
    return clocks_disagree(row, f) &&
           (missing < 0 || (missing > 20e6 && f->host > 2 * f->time.median));
}

bool measure_clock_wrong(const measure_row *row)
{
    figures f = work_out(row);
    return clocks_contradict(row, &f);
}

/* TF32 was requested, but the device does not have it. */
static bool ran_strict(const measure_row *row)
{
    return row->item->math == ISO_MATH_TF32 && row->result.math == ISO_MATH_STRICT;
}

/* The flags of a row; `f` NULL: it has no times. `percent`: of its roof, or NaN. */
static json_t *flags_json(const measure_state *state, const measure_row *row, const figures *f,
                          double percent)
{
    const iso_device_info *info = work_target_info(state->plan->targets[row->target]);
    json_t *flags = json_array();
    if (f) {
        bool memory = !bench_op_computes(row->item->op, "") && row->item->roof != BENCH_ROOF_FMA;
        bool submit_bound = row->calls > 1 && f->submit > 0.9 * f->time.median;
        bool contradict = clocks_contradict(row, f);
        double half = (f->time.high - f->time.low) / 2 / f->time.median;
        flag(flags, contradict, "clock-wrong");
        flag(flags, !contradict && clocks_disagree(row, f), "clock-disagree");
        flag(flags, submit_bound, "submit-bound");
        flag(flags, record_is_above_roof(percent), "above-roof");
        flag(flags, memory && measure_in_cache(row->item, info), "in-cache");
        flag(flags, row->throttle & ISO_THROTTLE_THERMAL, "overheated");
        flag(flags, row->throttle & ISO_THROTTLE_POWER, "power-limited");
        flag(flags, row->mhz_high > 1.05 * row->mhz_low, "unsteady-clock");
        flag(flags, f->rounds > 1 && record_is_noisy(half, submit_bound), "noisy");
        flag(flags, f->rounds < MEASURE_ROUNDS, "few-rounds");
        flag(flags, row->result.checks < 2, "checked-once");
    }
    flag(flags, ran_strict(row), "ran-strict");
    flag(flags, tool_is_fake(info), "fake");
    flag(flags, tool_tier_of(info) == TOOL_SIMULATOR, "simulated");
    return flags;
}

static void set_measured(const measure_state *state, const measure_row *row,
                         const measure_roof *roofs, json_t *r)
{
    const bench_case *item = row->item;
    json_t *rates = json_object();
    figures f = work_out(row);
    json_t *roof = measure_roof_json(state, row, roofs, f.time.median);
    set(rates, "gbps", rate_json(item->bytes_read + item->bytes_written, &f));
    set(rates, "gflops", rate_json(item->flops, &f));
    set(r, "times", times_json(state, row, &f));
    set(r, "rates", rates);
    set(r, "roof", roof);
    set(r, "parts", parts_json(row));
    set(r, "clocks", clocks_json(row));
    set(r, "flags", flags_json(state, row, &f, record_number(roof, "percent")));
}

static json_t *verified_json(const bench_result *result)
{
    if (!result->method || (result->status != BENCH_OK && result->status != BENCH_FAILED)) {
        return json_null();
    }
    json_t *v = json_object();
    char digest[33] = "";
    if (result->has_digest) {
        tool_digest_text(result->digest, digest);
    }
    tool_set_text(v, "method", result->method);
    /* A failed result has an error only if the error is above the bound. Otherwise the check
     * failed for another reason, such as a single wrong bit, and the error means nothing. */
    bool beyond =
        result->status != BENCH_FAILED || (result->bound > 0 && result->error > result->bound);
    tool_set_number(v, "error", beyond ? result->error : NAN);
    tool_set_number(v, "bound", result->bound);
    tool_set_int(v, "checks", result->checks);
    tool_set_text(v, "digest", digest);
    return v;
}

static json_t *row_json(const measure_state *state, const measure_row *row,
                        const measure_roof *roofs)
{
    const iso_device_info *info = work_target_info(state->plan->targets[row->target]);
    const bench_result *result = &row->result;
    bool pending = result->status == BENCH_OK && row->count == 0;
    json_t *r = work_case_json(row->item);
    if (!row->item->asked) {
        tool_set_text(r, "for", "roof");
    }
    tool_set_text(r, "backend", info->backend);
    tool_set_text(r, "device", info->spec);
    tool_set_text(r, "library", result->library);
    tool_set_text(r, "kernel", result->kernel);
    if (row->item->op->arguments && row->item->how == ISO_VARIANT_AUTO &&
        result->library[0] != '\0') {
        tool_set_text(r, "variant_used", iso_variant_name(result->how));
    }
    if (ran_strict(row)) {
        tool_set_text(r, "math_used", iso_math_name(result->math));
        tool_set_text(r, "math_reason", result->math_reason);
    }
    bool lost = state->interrupted || state->devices[row->target].dead;
    bench_status status = !pending ? result->status : lost ? BENCH_ERROR : BENCH_SKIPPED;
    tool_set_text(r, "status", bench_status_name(status));
    tool_set_text(r, "reason",
                  !pending             ? result->reason
                  : state->interrupted ? "the run was interrupted before its first sample"
                  : lost               ? "the device was lost before its first sample"
                                       : MEASURE_NO_TIME);
    set(r, "verified", verified_json(result));
    for (int i = 0; i < 5; i++) {
        static const char *const none[] = {"times", "rates", "roof", "parts", "clocks"};
        set(r, none[i], json_null());
    }
    if (state->plan->energy > 0) {
        set(r, "energy", measure_energy_json(row->energy, row->item));
    }
    set(r, "flags", flags_json(state, row, NULL, NAN));
    if (measure_has_times(row)) {
        set_measured(state, row, roofs, r);
    }
    return r;
}

/* ---- the document ---------------------------------------------------------------------------- */

/* Seconds of each phase; the current one ends now. */
static json_t *phases_json(const measure_state *state, double now)
{
    double rounds = state->rounds_began > 0 ? state->rounds_began : now;
    double checks = state->rounds_ended > 0 ? state->rounds_ended : now;
    json_t *phases = json_object();
    tool_set_number(phases, "compiling", state->compiled);
    tool_set_number(phases, "preparing", rounds - state->began - state->compiled);
    tool_set_number(phases, "measuring", checks - rounds);
    if (state->plan->energy > 0) {
        tool_set_number(phases, "energy", state->energy_seconds);
    }
    tool_set_number(phases, "checking", fmax(now - checks - state->energy_seconds, 0));
    return phases;
}

/* Null while no plan is made: with one round, or before the first. */
static json_t *plan_json(const measure_state *state)
{
    if (state->plan->rounds_max == 1 || state->rounds_began == 0) {
        return json_null();
    }
    json_t *plan = json_object();
    tool_set_int(plan, "rounds", state->plan->rounds_min);
    tool_set_int(plan, "kept", measure_kept(state));
    tool_set_int(plan, "skipped", measure_skipped(state));
    tool_set_number(plan, "seconds", state->planned);
    return plan;
}

static json_t *run_json(const measure_state *state, bool finished)
{
    json_t *run = json_deep_copy(state->plan->run);
    json_t *flags = json_array();
    record_noise noise;
    bool fake = false, simulated = false;
    for (int32_t i = 0; i < state->plan->target_count; i++) {
        tool_tier tier = tool_tier_of(work_target_info(state->plan->targets[i]));
        fake = fake || tier == TOOL_STAND_IN;
        simulated = simulated || tier == TOOL_SIMULATOR;
    }
    record_noise_now(&noise);
    double share = record_noise_share(&state->noise, &noise);
    tool_set_number(run, "noise", share);
    set(run, "finished", record_now());
    tool_set_bool(run, "complete", finished && !state->interrupted && !state->lost);
    tool_set_number(run, "budget", state->budget);
    tool_set_int(run, "rounds", state->round);
    tool_set_number(run, "confidence", MEASURE_CONFIDENCE);
    set(run, "plan", plan_json(state));
    tool_set_number(run, "seconds", tool_seconds() - state->began);
    set(run, "phases", phases_json(state, tool_seconds()));
    flag(flags, share > 0.05, "noisy-host");
    flag(flags, state->interrupted, "interrupted");
    flag(flags, measure_skipped(state) > 0, "budget");
    flag(flags, state->lost, "device-lost");
    flag(flags, fake, "fake");
    flag(flags, simulated, "simulated");
    set(run, "flags", flags);
    return run;
}

json_t *measure_document(measure_state *state, bool finished)
{
    const measure_plan *plan = state->plan;
    json_t *root = json_object(), *devices = json_deep_copy(plan->devices);
    json_t *results = json_array();
    measure_roof *roofs =
        tool_alloc((size_t)plan->target_count, sizeof *roofs * MEASURE_ROOFS, "the roofs");
    for (int32_t t = 0; t < plan->target_count; t++) {
        measure_roof *own = roofs + (size_t)t * MEASURE_ROOFS;
        measure_find_roofs(state, t, own);
        json_t *device = json_array_get(devices, (size_t)t);
        set(device, "roofs", measure_roofs_json(own));
        if (plan->energy > 0) {
            set(device, "idle", measure_energy_json(state->devices[t].idle, NULL));
        }
    }
    for (int32_t i = 0; i < state->count; i++) {
        json_array_append_new(results,
                              row_json(state, &state->rows[i],
                                       roofs + (size_t)state->rows[i].target * MEASURE_ROOFS));
    }
    tool_set_text(root, "schema", RECORD_SCHEMA);
    set(root, "run", run_json(state, finished));
    set(root, "devices", devices);
    set(root, "results", results);
    free(roofs);
    return root;
}
