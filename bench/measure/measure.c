/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - runs the rounds over all cases on all devices. */
#include "bench/measure/internal.h"

#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>

enum { SAVE_SECONDS = 5 };

/* The first signal ends the measuring and keeps the results; a second one ends the process. */
static bool stop(measure_state *state)
{
    state->interrupted = state->interrupted || tool_interrupted();
    return state->interrupted;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool add_row(measure_state *state, const bench_case *item, int32_t target, int32_t library)
{
    measure_row *row = &state->rows[state->count++];
    *row = (measure_row){.item = item,
                         .target = target,
                         .library = library,
                         .mhz_low = INFINITY,
                         .mhz_high = -INFINITY,
                         .watts = NAN,
                         .celsius = NAN,
                         .prepare = NAN,
                         .first = NAN,
                         .closing = NAN};
    row->job = work_job_create(state->plan->targets[target], item, library, &row->result);
    return row->job != NULL;
}

/* Makes the rows case by case, so that the reference of a check is computed once for all
 * devices. */
static bool make_rows(measure_state *state)
{
    const measure_plan *plan = state->plan;
    size_t room = (size_t)plan->list->count * (size_t)plan->target_count * WORK_LIBRARIES;
    char names[WORK_LIBRARIES][ISO_NAME_MAX];
    state->rows = tool_alloc(room, sizeof *state->rows, "the cases");
    state->order = tool_alloc(room, sizeof *state->order, "the cases");
    for (int32_t i = 0; i < plan->list->count; i++) {
        const bench_case *item = &plan->list->items[i];
        for (int32_t t = 0; t < plan->target_count; t++) {
            if (plan->takes && !plan->takes(plan->context, item, t)) {
                continue;
            }
            bool product =
                !plan->one_device && item->op->libraries && item->how == ISO_VARIANT_VENDOR;
            int32_t libraries = product ? tool_libraries(work_target_device(plan->targets[t]),
                                                         names, WORK_LIBRARIES)
                                        : 1;
            for (int32_t l = 0; l < (libraries > 1 ? libraries : 1); l++) {
                if (!add_row(state, item, t, l)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool make_devices(measure_state *state)
{
    const measure_plan *plan = state->plan;
    state->devices = tool_alloc((size_t)plan->target_count, sizeof *state->devices, "the devices");
    for (int32_t t = 0; t < plan->target_count; t++) {
        iso_telemetry seen = ISO_TELEMETRY_INIT;
        iso_device handle = work_target_device(plan->targets[t]);
        measure_device *device = &state->devices[t];
        device->chip = plan->one_device ? 0 : t;
        device->gpu = work_target_info(plan->targets[t])->type == ISO_DEVICE_GPU;
        device->sensors = iso_device_get_telemetry(handle, &seen) == ISO_OK ? t : -1;
        if (iso_event_create(handle, &device->start) != ISO_OK ||
            iso_event_create(handle, &device->stop) != ISO_OK) {
            return false;
        }
    }
    /* If a backend shows no sensors of a device, another backend may show them for the same
     * chip. */
    for (int32_t t = 0; t < plan->target_count; t++) {
        const char *uuid = work_target_info(plan->targets[t])->uuid;
        for (int32_t u = 0; u < plan->target_count; u++) {
            if (!work_same_chip(uuid, work_target_info(plan->targets[u])->uuid)) {
                continue;
            }
            state->devices[t].chip = u < state->devices[t].chip ? u : state->devices[t].chip;
            if (state->devices[t].sensors < 0 && state->devices[u].sensors == u) {
                state->devices[t].sensors = u;
            }
        }
    }
    return true;
}

static void free_state(measure_state *state)
{
    for (int32_t i = 0; i < state->count; i++) {
        work_job_destroy(state->rows[i].job);
        free(state->rows[i].samples);
        free(state->rows[i].energy);
    }
    for (int32_t t = 0; state->devices && t < state->plan->target_count; t++) {
        free(state->devices[t].idle);
        if (state->devices[t].start.id != 0) {
            iso_event_destroy(state->devices[t].start);
        }
        if (state->devices[t].stop.id != 0) {
            iso_event_destroy(state->devices[t].stop);
        }
    }
    free(state->devices);
    free(state->rows);
    free(state->order);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool measured(const measure_row *row)
{
    return row->result.status == BENCH_OK && row->calls > 0;
}

bool measure_active(const measure_state *state, const measure_row *row)
{
    int32_t most = state->plan->rounds_max;
    return measured(row) && !row->settled && !row->held && !state->devices[row->target].dead &&
           (most == 0 || row->rounds < most);
}

/* How long a visit may go on after its first sample, so that the missing rounds still fit. */
static double visit_seconds(const measure_state *state, int32_t rows, double left)
{
    /* If there is only one round, as in a turn of --against, a visit takes more samples. If there
     * are several, the first one leaves more of the spare time, because the plan does not yet know
     * how long visits take. */
    const double most = state->plan->rounds_max == 1 ? 0.25 : 0.008, reserve = 0.9;
    int32_t due = state->plan->rounds_min - state->round + 1;
    double spare = reserve * left - measure_lacking(state);
    double share = state->round == 1 && due > 1 ? 0.4 : 0.8;
    return fmin(fmax(share * spare / (due > 1 ? due : 1) / rows, 0), most);
}

static void save(measure_state *state, double seconds)
{
    double now = tool_seconds();
    if (!state->plan->file || now - state->saved < seconds) {
        return;
    }
    state->saved = now;
    json_t *root = measure_document(state, false);
    state->kept |= tool_file_checkpoint(state->plan->file, root) == TOOL_OK;
    json_decref(root);
}

/* Whether there is time to visit a row. Rows that lack rounds are visited until `last`, the others
 * only in the time before `end` that the first do not need. */
static bool has_time(const measure_state *state, const measure_row *row, double end, double last)
{
    double done = tool_seconds() + row->visit;
    return row->rounds < state->plan->rounds_min ? done <= last : done + state->need <= end;
}

static void visit_all(measure_state *state, int32_t n, double end, double last)
{
    double seconds = visit_seconds(state, n, end - tool_seconds());
    for (int32_t i = 0; i < n && !stop(state); i++) {
        measure_row *row = &state->rows[state->order[i]];
        double now = tool_seconds();
        measure_plan_again(state, last - now);
        if (!measure_active(state, row) || !has_time(state, row, end, last)) {
            continue;
        }
        measure_progress(state, "measuring", 1 - (end - now) / state->budget, fmax(end - now, 0),
                         row);
        measure_visit(state, row, seconds);
        row->cut = state->devices[row->target].dead;
        save(state, SAVE_SECONDS);
    }
}

static void measure_rounds(measure_state *state)
{
    const measure_plan *plan = state->plan;
    uint64_t random = plan->seed * 0x9e3779b97f4a7c15ULL | 1;
    state->rounds_began = tool_seconds();
    if (!stop(state)) {
        measure_plan_make(state);
    }
    double end = tool_seconds() + state->budget;
    /* A case that lacks its last round may take a little more time. */
    double last = plan->rounds_max == 1 ? end : end + fmin(0.05 * state->budget, 5);
    for (int32_t taken = 1; taken > 0;) {
        measure_plan_release(state);
        measure_plan_again(state, last - tool_seconds());
        int32_t n = measure_order(state, &random);
        if (n == 0 || stop(state)) {
            break;
        }
        state->round++;
        taken = 0;
        for (int32_t i = 0; i < state->count; i++) {
            taken -= state->rows[i].count;
        }
        visit_all(state, n, end, last);
        if (plan->paired) {
            measure_pair_even(state);
        }
        for (int32_t i = 0; i < state->count; i++) {
            taken += state->rows[i].count;
        }
        if (!plan->paired) {
            measure_settle(state);
        }
        if (!state->kept) {
            save(state, 0); /* the first round is saved at once */
        }
    }
    if (!state->interrupted) {
        measure_plan_end(state);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Sorts the rows that are kept longest to the front; a case's rows stay together. */
static int by_priority(const void *a, const void *b, void *context)
{
    const measure_state *state = context;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    int32_t x = state->rows[i].item->priority, y = state->rows[j].item->priority;
    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* Prepares the rows, the most important ones first. Skips what is left after half of the time for
 * the whole run. If that is not limited, preparing may take twice the budget, but not less than
 * half a minute. */
static void prepare_all(measure_state *state)
{
    const measure_plan *plan = state->plan;
    double end = plan->whole > 0 ? state->began + plan->whole / 2
                                 : tool_seconds() + fmax(2 * plan->budget, 30);
    for (int32_t i = 0; i < state->count; i++) {
        state->order[i] = i;
    }
    qsort_r(state->order, (size_t)state->count, sizeof *state->order, by_priority, state);
    for (int32_t i = 0; i < state->count && !stop(state); i++) {
        measure_row *row = &state->rows[state->order[i]];
        if (tool_seconds() > end && row->result.status == BENCH_OK && plan->rounds_max != 1) {
            measure_skip(row);
            continue;
        }
        measure_progress(state, "preparing", (double)i / state->count, -1, row);
        measure_prepare(state, row);
    }
    for (int32_t t = 0; t < (plan->one_device ? 1 : plan->target_count) && !stop(state); t++) {
        measure_warm(state, t);
    }
}

static void close_all(measure_state *state)
{
    for (int32_t i = 0; i < state->count && !stop(state); i++) {
        measure_row *row = &state->rows[i];
        if (!measured(row) || row->count == 0 || state->devices[row->target].dead) {
            continue;
        }
        measure_progress(state, "checking", (double)i / state->count, -1, row);
        measure_close(state, row);
    }
}

static int exit_code(const measure_state *state)
{
    int ok = 0, wrong = 0;
    for (int32_t i = 0; i < state->count; i++) {
        const measure_row *row = &state->rows[i];
        ok += measured(row) && row->count > 0 && row->item->asked;
        wrong += row->result.status == BENCH_FAILED || row->result.status == BENCH_ERROR;
    }
    if (state->interrupted) {
        return TOOL_INTERRUPTED;
    }
    if (wrong > 0) {
        return TOOL_FAILED;
    }
    return ok > 0 ? TOOL_OK : TOOL_NOTHING;
}

int measure_run(const measure_plan *plan, json_t **root)
{
    measure_state state = {.plan = plan, .budget = plan->budget};
    int code = TOOL_INTERNAL;
    *root = NULL;
    record_noise_now(&state.noise);
    state.began = tool_seconds();
    state.saved = state.began;
    tool_signals_watch();
    tool_stop_watch(true);
    if (make_devices(&state) && make_rows(&state)) {
        measure_ahead(&state);
        prepare_all(&state);
        measure_rounds(&state);
        state.rounds_ended = tool_seconds();
        if (!state.interrupted) {
            save(&state, 0);
        }
        if (plan->energy > 0 && !stop(&state)) {
            measure_energies(&state);
        }
        close_all(&state);
        tool_doing(NULL);
        measure_progress_end(&state);
        *root = measure_document(&state, true);
        code = exit_code(&state);
    }
    tool_stop_watch(false);
    if (!*root) {
        code =
            tool_error(TOOL_INTERNAL,
                       "cannot measure, because host memory or an event could not be allocated: %s",
                       tool_reason());
    }
    free_state(&state);
    return code;
}
