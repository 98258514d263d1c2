/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - shows how far a run is, and notes what it is doing, so that a fault can be blamed on
 * it. */
#include "bench/measure/internal.h"

#include <math.h>
#include <string.h>

/* Where stderr is no terminal, a line every ten seconds shows that the run is alive. */
static void beat(measure_state *state, const char *phase, double done, double left,
                 const measure_row *row, const char *spec)
{
    const double pause = 10;
    double now = tool_seconds();
    if (!state->phase || strcmp(state->phase, phase) != 0) {
        state->phase = phase;
        state->phase_began = now;
    }
    if (now - fmax(state->beat, state->began) < pause) {
        return;
    }
    state->beat = now;
    char time[48] = "";
    if (left < 0 && done > 0) {
        left = (now - state->phase_began) * (1 - done) / done;
    }
    if (left >= 0) {
        snprintf(time, sizeof time, " about %.0f s left,", ceil(left));
    }
    tool_error(TOOL_OK, "%s, %.0f %% done,%s %s %s", phase, floor(100 * fmin(fmax(done, 0), 1)),
               time, spec, row->item->id);
}

void measure_progress(measure_state *state, const char *phase, double done, double left,
                      const measure_row *row)
{
    const char *spec = work_target_info(state->plan->targets[row->target])->spec;
    tool_doing("%s %s on %s: a fault in that device's driver or backend. %s Leave the device out "
               "with --backend, or the case with --op, --variant or --size.",
               phase, row->item->id, spec,
               state->kept          ? "The file of --json has the results up to a few seconds ago."
               : !state->plan->file ? "Without --json no results are kept."
                                    : "No results were kept yet.");
    char time[32] = "";
    if (left >= 0) {
        snprintf(time, sizeof time, " %.0f s left", ceil(left));
    }
    if (state->plan->progress) {
        tool_progress(done, "%s %s: %s on %s", time, phase, row->item->id, spec);
    } else {
        beat(state, phase, done, left, row, spec);
    }
}

void measure_progress_end(const measure_state *state)
{
    if (state->plan->progress) {
        tool_progress_end();
    }
}
