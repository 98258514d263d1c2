/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - a bar on the terminal with the time that is left. */
#include "bench/measure/internal.h"

#include <math.h>
#include <string.h>

void measure_progress(const measure_state *state, const char *phase, double done, double left,
                      const measure_row *row)
{
    enum { BAR = 20, LINE = 512 };
    static double last;
    const char *spec = work_target_info(state->plan->targets[row->target])->spec;
    tool_doing("%s %s on %s: a fault of that device's driver or backend. %s Leave the device out "
               "with --backend, or the case with --op, --variant or --size.",
               phase, row->item->id, spec,
               state->kept
                   ? "The file of --json holds what was measured up to a few seconds before."
               : !state->plan->file ? "Without --json no results are kept."
                                    : "No results were kept yet.");
    char bar[BAR + 1], time[32] = "", line[LINE];
    double now = measure_now();
    if (!state->plan->progress || now - last < 0.1) {
        return;
    }
    last = now;
    int full = (int)(BAR * fmin(fmax(done, 0), 1));
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)full);
    bar[BAR] = '\0';
    if (left >= 0) {
        snprintf(time, sizeof time, " %.0f s left", ceil(left));
    }
    snprintf(line, sizeof line, "[%s]%s %s: %s on %s", bar, time, phase, row->item->id, spec);
    int width = tool_width(stderr) - 1;
    if (width < LINE) {
        line[width] = '\0';
    }
    tool_escape(stderr, "\r");
    fputs(line, stderr);
    tool_escape(stderr, "\033[K");
}

void measure_progress_end(const measure_state *state)
{
    if (state->plan->progress) {
        tool_escape(stderr, "\r\033[K");
    }
}
