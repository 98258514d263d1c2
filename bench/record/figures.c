/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - the members of a document, and how numbers are shown. */
#include "bench/record/record.h"
#include "bench/stats/stats.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *record_at(const json_t *object, const char *path)
{
    char name[64];
    const char *point;
    for (; (point = strchr(path, '.')); path = point + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(point - path), path);
        object = json_object_get(object, name);
    }
    return json_object_get(object, path);
}

const char *record_text(const json_t *object, const char *path)
{
    const char *text = json_string_value(record_at(object, path));
    return text ? text : "";
}

double record_number(const json_t *object, const char *path)
{
    const json_t *value = record_at(object, path);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool record_lists(const json_t *object, const char *key, const char *text)
{
    json_t *value;
    size_t i;
    json_array_foreach(json_object_get(object, key), i, value)
    {
        if (strcmp(json_string_value(value), text) == 0) {
            return true;
        }
    }
    return false;
}

double *record_numbers(const json_t *list, int32_t *count)
{
    size_t n = json_array_size(list);
    double *x = tool_alloc(n, sizeof *x, "the samples");
    for (size_t i = 0; i < n; i++) {
        x[i] = json_number_value(json_array_get(list, i));
    }
    *count = (int32_t)n;
    return x;
}

double *record_rounds(const json_t *result, int32_t *count)
{
    const json_t *round, *rounds = record_at(result, "times.samples");
    double *medians = tool_alloc(json_array_size(rounds), sizeof *medians, "the rounds");
    size_t at;
    *count = 0;
    json_array_foreach(rounds, at, round)
    {
        int32_t n;
        double *x = record_numbers(round, &n);
        if (n > 0) {
            medians[(*count)++] = stats_median(x, n);
        }
        free(x);
    }
    return medians;
}

json_t *record_device_of(const json_t *root, const char *spec)
{
    json_t *device;
    size_t i;
    json_array_foreach(json_object_get(root, "devices"), i, device)
    {
        if (strcmp(record_text(device, "spec"), spec) == 0) {
            return device;
        }
    }
    return NULL;
}

char *record_case(const json_t *result)
{
    static const char *const members[] = {"op",     "kind", "dtype", "shape",
                                          "layout", "math", "fill",  "cache"};
    json_t *key = json_array();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *value = json_object_get(result, members[i]);
        json_array_append(key, value ? value : json_null());
    }
    char *text = record_need(json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS));
    json_decref(key);
    return text;
}

const char *record_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    char *at = point[0] != '\0' && strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
    if (at) {
        at[0] = '.';
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
    }
    return text;
}

/* Three significant digits, but all digits before the point. */
static const char *three(char *text, size_t room, double value)
{
    double size = fabs(value);
    int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.09995 || value == 0 ? 2 : 3;
    if (size < 0.0009995 && value != 0) {
        snprintf(text, room, "%.2g", value);
    } else {
        snprintf(text, room, "%.*f", digits, value);
    }
    return record_point(text);
}

const char *record_rate(char *text, size_t room, double value)
{
    if (!isfinite(value)) {
        snprintf(text, room, "-");
        return text;
    }
    return three(text, room, value);
}

const char *record_time(char *text, size_t room, double nanoseconds)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    char number[32];
    int unit = 0;
    if (!isfinite(nanoseconds)) {
        snprintf(text, room, "-");
        return text;
    }
    /* 999.6 us is shown as 1.00 ms, not as 1000 us. */
    while (unit < 3 && fabs(nanoseconds) < 0.9995 * units[unit].size) {
        unit++;
    }
    three(number, sizeof number, nanoseconds / units[unit].size);
    snprintf(text, room, "%s %s", number, units[unit].name);
    return text;
}
