/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - prints series as a list or as plots, and writes them as JSON and CSV. */
#include "bench/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PLOTTED = 3, /* the most series that are plotted, not listed */
    HEIGHT = 8
};

/* ---- marks ----------------------------------------------------------------------------------- */

/* Block characters where the terminal shows UTF-8. */
static bool has_blocks(FILE *out)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && (!value || value[0] == '\0'); i++) {
        value = getenv(names[i]);
    }
    return value && (strcasestr(value, "UTF-8") || strcasestr(value, "UTF8")) &&
           isatty(tool_descriptor(out));
}

static void range_of(const history_series *s, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int32_t i = 0; i < s->count; i++) {
        *low = fmin(*low, s->points[i].median);
        *high = fmax(*high, s->points[i].median);
    }
}

/* The height of a time in a range, 0 to `most`. A range of under 2 % is drawn as one of 2 %, so
 * that noise looks like noise. */
static int height_of(double value, double low, double high, int most)
{
    double middle = (low + high) / 2, half = fmax((high - low) / 2, 0.01 * middle);
    int height = (int)floor((value - middle + half) / (2 * half) * (most + 1));
    return height < 0 ? 0 : height > most ? most : height;
}

/* The newest runs as one character each; a "|" precedes a run at which the level changed. */
static void put_line(FILE *out, const history_series *s, bool blocks)
{
    static const char *const high_marks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char plain[] = "_.-=+*#@";
    double low, high;
    int32_t from = s->count > 30 ? s->count - 30 : 0, step = 0;
    range_of(s, &low, &high);
    for (int32_t i = from; i < s->count; i++) {
        int height = height_of(s->points[i].median, low, high, 7);
        while (step < s->step_count && s->steps[step].at < i) {
            step++;
        }
        fputs(step < s->step_count && s->steps[step].at == i ? "|" : "", out);
        blocks ? fputs(high_marks[height], out) : fputc(plain[height], out);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_title(FILE *out, const history_series *s)
{
    fprintf(out, "%s\n  on %s%s%s%s of %s, %d run%s", s->name, s->device,
            s->device_name[0] ? " (" : "", s->device_name, s->device_name[0] ? ")" : "", s->machine,
            s->count, s->count == 1 ? "" : "s");
    if (s->count < STATS_CHANGE_LEAST) {
        fprintf(out, "; %d more are needed to find a change", STATS_CHANGE_LEAST - s->count);
    }
    fputc('\n', out);
}

/* Whether a run begins a new level. */
static bool steps_at(const history_series *s, int32_t at)
{
    for (int32_t i = 0; i < s->step_count; i++) {
        if (s->steps[i].at == at) {
            return true;
        }
    }
    return false;
}

/* A column for each of the newest runs that fit. The times of the axis are those of the range. */
static void put_plot(FILE *out, const history_series *s, bool blocks)
{
    enum { AXIS = 12, COLUMN = 3 };
    int32_t room = (tool_width(out) - AXIS - 2) / COLUMN;
    int32_t from = s->count > room ? s->count - room : 0;
    double low, high;
    char text[32];
    range_of(s, &low, &high);
    for (int row = HEIGHT - 1; row >= 0; row--) {
        double at = row == HEIGHT - 1 ? high : row == 0 ? low : (double)NAN;
        fprintf(out, "%*s %s", AXIS - 2, isnan(at) ? "" : record_time(text, sizeof text, at),
                blocks ? "│" : "|");
        for (int32_t i = from; i < s->count; i++) {
            bool here = height_of(s->points[i].median, low, high, HEIGHT - 1) == row;
            fprintf(out, "%c%s ", steps_at(s, i) ? ':' : ' ', !here ? " " : blocks ? "●" : "o");
        }
        fputc('\n', out);
    }
    fprintf(out, "%*s %s", AXIS - 2, "", blocks ? "└" : "+");
    for (int32_t i = from; i < s->count; i++) {
        fputs(blocks ? "───" : "---", out);
    }
    fprintf(out, "\n%*s", AXIS, "");
    for (int32_t i = from; i < s->count; i++) {
        fputs(steps_at(s, i) ? " ^ " : "   ", out);
    }
    const history_point *first = &s->points[from], *last = &s->points[s->count - 1];
    bool day = strncmp(first->time, last->time, 10) == 0;
    char begin[32], end[32];
    fprintf(out, "\n%*s %.*s to %.*s\n", AXIS, "", day ? 16 : 10,
            history_time(begin, sizeof begin, first), day ? 16 : 10,
            history_time(end, sizeof end, last));
}

/* Prints the steps that fail the gate, or the others. Returns how many. */
static int32_t put_steps(FILE *out, const history_set *set, const history_series *s, bool fails,
                         const char *title)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->step_count; i++) {
        if (s->steps[i].fails != fails) {
            continue;
        }
        fputs(count++ == 0 ? title : "", out);
        char *text = history_sentence(set, s, &s->steps[i]);
        fputs("  ", out);
        tool_wrap(out, 2, 4, text);
        free(text);
    }
    return count;
}

static void put_list(FILE *out, const history_set *set)
{
    bool blocks = has_blocks(out);
    char text[32];
    int widest = 0;
    for (int32_t i = 0; i < set->count; i++) {
        int columns = tool_columns(set->series[i].name);
        widest = columns > widest ? columns : widest;
    }
    fprintf(out, "%-*s  %-12s  %4s  %8s  %s\n", widest, "case", "device", "runs", "newest",
            "over time");
    for (int32_t i = 0; i < set->count; i++) {
        const history_series *s = &set->series[i];
        fprintf(out, "%-*s  %-12s  %4d  %8s  ", widest, s->name, s->device, s->count,
                record_time(text, sizeof text, s->points[s->count - 1].median));
        put_line(out, s, blocks);
        fputc('\n', out);
    }
}

static void put_gate(FILE *out, const history_set *set, const history_filter *filter)
{
    if (set->judged == 0) {
        return; /* the caller says so */
    }
    fprintf(out, "\nGate of %g %%: %d of %d cases are slower", 100 * filter->fail_on, set->fails,
            set->judged);
    if (set->judged < set->count) {
        fprintf(out, "; %d more have fewer than %d runs", set->count - set->judged,
                STATS_CHANGE_LEAST);
    }
    fputc('\n', out);
    for (int32_t i = 0; i < set->count; i++) {
        put_steps(out, set, &set->series[i], true, "");
    }
}

void history_show(FILE *out, const history_set *set, const history_filter *filter)
{
    int32_t changed = 0;
    if (set->count <= PLOTTED) {
        for (int32_t i = 0; i < set->count; i++) {
            fputs(i > 0 ? "\n" : "", out);
            put_title(out, &set->series[i]);
            put_plot(out, &set->series[i], has_blocks(out));
            put_steps(out, set, &set->series[i], false, "");
        }
    } else {
        put_list(out, set);
        if (set->judged < set->count) {
            fprintf(out, "\nA change is searched in ten runs or more: %d of %d cases have fewer.\n",
                    set->count - set->judged, set->count);
        }
    }
    for (int32_t i = 0; i < set->count && set->count > PLOTTED; i++) {
        changed += put_steps(out, set, &set->series[i], false, changed == 0 ? "\nChanges\n" : "");
    }
    if (isfinite(filter->fail_on)) {
        put_gate(out, set, filter);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static json_t *points_json(const history_series *s)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < s->count; i++) {
        const history_point *p = &s->points[i];
        json_t *point = json_object();
        tool_set_int(point, "run", p->run);
        tool_set_text(point, "time", p->time);
        tool_set_text(point, "commit", p->commit);
        tool_set_text(point, "version", p->version);
        tool_set_text(point, "driver", p->driver);
        tool_set_text(point, "runtime", p->runtime);
        tool_set_text(point, "library", p->library);
        tool_set_text(point, "system", p->system);
        tool_set_number(point, "median", p->median);
        tool_set_number(point, "low", p->low);
        tool_set_number(point, "high", p->high);
        tool_set_number(point, "confidence", p->confidence);
        json_array_append_new(list, point);
    }
    return list;
}

static json_t *steps_json(const history_set *set, const history_series *s)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < s->step_count; i++) {
        const history_step *step = &s->steps[i];
        json_t *made = json_object();
        char *text = history_sentence(set, s, step);
        tool_set_int(made, "run", s->points[step->at].run);
        tool_set_number(made, "p", step->p);
        tool_set_number(made, "ratio", step->ratio.median);
        tool_set_number(made, "low", step->ratio.low);
        tool_set_number(made, "high", step->ratio.high);
        tool_set_number(made, "confidence", step->ratio.confidence);
        tool_set_bool(made, "fails", step->fails);
        tool_set_text(made, "text", text);
        json_array_append_new(list, made);
        free(text);
    }
    return list;
}

json_t *history_json(const history_set *set)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < set->count; i++) {
        const history_series *s = &set->series[i];
        json_t *series = json_object();
        tool_set_text(series, "machine", s->machine);
        tool_set_text(series, "device", s->device);
        tool_set_text(series, "name", s->device_name);
        tool_set_text(series, "case", s->name);
        json_object_set_new(series, "runs", points_json(s));
        json_object_set_new(series, "changes", steps_json(set, s));
        json_array_append_new(list, series);
    }
    return json_pack("{s:s, s:s, s:f, s:f, s:o}", "schema", "isomer-history/1", "test",
                     "E-divisive", "level", STATS_CHANGE_ALPHA, "least_effect", STATS_LEAST_EFFECT,
                     "series", list);
}

bool history_csv(FILE *out, const history_set *set)
{
    fputs("machine,device,case,run,time,commit,driver,library,median_ns,low_ns,high_ns,confidence,"
          "changed\r\n",
          out);
    for (int32_t i = 0; i < set->count; i++) {
        const history_series *s = &set->series[i];
        for (int32_t k = 0; k < s->count; k++) {
            const history_point *p = &s->points[k];
            const char *texts[] = {s->machine, s->device, s->name,   NULL,
                                   p->time,    p->commit, p->driver, p->library};
            const double numbers[] = {p->median, p->low, p->high, p->confidence};
            for (size_t c = 0; c < sizeof texts / sizeof texts[0]; c++) {
                texts[c] ? record_csv_text(out, texts[c])
                         : (void)fprintf(out, "%lld", (long long)p->run);
                fputc(',', out);
            }
            for (size_t c = 0; c < sizeof numbers / sizeof numbers[0]; c++) {
                char number[64] = "";
                if (isfinite(numbers[c])) {
                    snprintf(number, sizeof number, "%.17g", numbers[c]);
                }
                fprintf(out, "%s,", record_point(number));
            }
            fprintf(out, "%s\r\n", steps_at(s, k) ? "true" : "false");
        }
    }
    return fflush(out) == 0 && !ferror(out);
}
