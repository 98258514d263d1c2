/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - the entries of rows. */
#include "bench/labs/internal.h"

#include "bench/ops/ops.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *lab_entry(lab *l, const char *what, iso_dtype dtype)
{
    json_t *entry = json_object(), *of = json_object();
    tool_set_text(entry, "row", l->row);
    tool_set_text(entry, "device", l->info.spec);
    tool_set_text(entry, "by", "isomer");
    tool_set_text(of, "what", what);
    if (dtype) {
        tool_set_text(of, "dtype", iso_dtype_name(dtype));
    }
    json_object_set_new(entry, "case", of);
    tool_set_text(entry, "status", bench_status_name(BENCH_OK));
    json_object_set_new(entry, "figures", json_array());
    json_array_append_new(l->entries, entry);
    tool_doing("lab row %s, %s on %s", l->row, what, l->info.spec);
    return entry;
}

void lab_case(json_t *entry, const char *name, double value)
{
    json_t *of = json_object_get(entry, "case");
    if (value == floor(value) && fabs(value) < 0x1p53) {
        json_object_set_new(of, name, json_integer((json_int_t)value));
    } else {
        tool_set_number(of, name, value);
    }
}

void lab_line(json_t *entry, const char *format, ...)
{
    va_list list;
    json_t *lines = json_object_get(entry, "lines");
    if (!lines) {
        lines = json_array();
        json_object_set_new(entry, "lines", lines);
    }
    va_start(list, format);
    char *text = record_vformat(format, list);
    va_end(list);
    json_array_append_new(lines, tool_json_text(text));
    free(text);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

lab_spread lab_spread_of(double *values, int32_t count)
{
    lab_spread s = {.low = NAN};
    qsort(values, (size_t)count, sizeof *values, compare);
    if (count == 0) {
        return s;
    }
    for (int32_t i = 0; i < count; i++) {
        s.mean += values[i] / count;
    }
    for (int32_t i = 0; i < count; i++) {
        s.deviation += (values[i] - s.mean) * (values[i] - s.mean);
    }
    s.deviation = count > 1 ? sqrt(s.deviation / (count - 1)) : 0.0;
    s.median = 0.5 * (values[count / 2] + values[(count - 1) / 2]);
    s.low = values[0];
    s.high = values[count - 1];
    return s;
}

static json_t *figure_of(const json_t *entry, const char *name)
{
    size_t at;
    json_t *figure;
    json_array_foreach(json_object_get(entry, "figures"), at, figure)
    {
        if (strcmp(record_text(figure, "name"), name) == 0) {
            return figure;
        }
    }
    return NULL;
}

void lab_figure(json_t *entry, const char *name, const char *unit, double value)
{
    json_t *figure = json_object();
    tool_set_text(figure, "name", name);
    json_object_set_new(figure, "unit", json_string(unit));
    tool_set_number(figure, "value", value);
    json_array_append_new(json_object_get(entry, "figures"), figure);
}

void lab_figure_of(json_t *entry, const char *name, const char *unit, const lab_spread *spread)
{
    lab_figure(entry, name, unit, spread->median);
    json_t *figure = figure_of(entry, name);
    tool_set_number(figure, "low", spread->low);
    tool_set_number(figure, "high", spread->high);
}

void lab_work_of(json_t *entry, double flops, double bytes)
{
    tool_set_number(entry, "flops", flops);
    tool_set_number(entry, "bytes", bytes);
}

/* ---- curves and pictures --------------------------------------------------------------------- */

static json_t *member(json_t *entry, const char *list, const char *name)
{
    size_t at;
    json_t *items = json_object_get(entry, list), *item;
    if (!items) {
        items = json_array();
        json_object_set_new(entry, list, items);
    }
    json_array_foreach(items, at, item)
    {
        if (strcmp(record_text(item, "name"), name) == 0) {
            return item;
        }
    }
    item = json_object();
    tool_set_text(item, "name", name);
    json_array_append_new(items, item);
    return item;
}

void lab_curve_point(json_t *entry, const char *curve, const char *x_name, const char *y_name,
                     double x, double y, const char *label)
{
    json_t *of = member(entry, "curves", curve), *points = json_object_get(of, "points");
    if (!points) {
        tool_set_text(of, "x", x_name);
        tool_set_text(of, "y", y_name);
        points = json_array();
        json_object_set_new(of, "points", points);
    }
    json_array_append_new(points,
                          json_pack("[o, o, s]", tool_json_number(x), tool_json_number(y), label));
}

void lab_picture(json_t *entry, const char *name, const float *field, int64_t rows, int64_t cols)
{
    enum { MOST = 64 };
    int64_t down = rows < MOST ? rows : MOST, across = cols < MOST ? cols : MOST;
    json_t *picture = member(entry, "pictures", name), *values = json_array();
    for (int64_t i = 0; i < down; i++) {
        for (int64_t j = 0; j < across; j++) {
            double sum = 0;
            int64_t count = 0;
            for (int64_t r = i * rows / down; r < (i + 1) * rows / down; r++) {
                for (int64_t c = j * cols / across; c < (j + 1) * cols / across; c++, count++) {
                    sum += (double)field[r * cols + c];
                }
            }
            json_array_append_new(values, tool_json_number((double)(float)(sum / (double)count)));
        }
    }
    tool_set_int(picture, "rows", down);
    tool_set_int(picture, "cols", across);
    json_object_set_new(picture, "values", values);
}

/* ---- how it ended ---------------------------------------------------------------------------- */

static void end(json_t *entry, bench_status status, const char *reason)
{
    tool_set_text(entry, "status", bench_status_name(status));
    tool_set_text(entry, "reason", reason);
    json_array_clear(json_object_get(entry, "figures"));
    json_object_del(entry, "curves");
    json_object_del(entry, "pictures");
}

bool lab_checked(json_t *entry, bool good, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = record_vformat(format, list);
    va_end(list);
    if (good) {
        tool_set_text(entry, "checked", text);
    } else {
        end(entry, BENCH_FAILED, text);
    }
    free(text);
    return good;
}

bool lab_ok(lab *l, json_t *entry, iso_status status)
{
    if (status == ISO_OK) {
        return true;
    }
    bench_status ended = status == ISO_UNSUPPORTED ? BENCH_UNSUPPORTED
                         : status == ISO_NO_MEMORY ? BENCH_SKIPPED
                                                   : BENCH_ERROR;
    end(entry, ended, iso_last_error());
    if (ended == BENCH_ERROR) {
        lab_revive(l);
    }
    return false;
}

void lab_skip(json_t *entry, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = record_vformat(format, list);
    va_end(list);
    end(entry, BENCH_SKIPPED, text);
    free(text);
}
