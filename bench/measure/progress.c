/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - shows how far a run is, and notes what it is doing, so that a fault can be blamed on
 * it. */
#include "bench/measure/internal.h"

#include <math.h>

void measure_progress(const measure_state *state, const char *phase, double done, double left,
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
    }
}

void measure_progress_end(const measure_state *state)
{
    if (state->plan->progress) {
        tool_progress_end();
    }
}
