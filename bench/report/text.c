/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - escapes texts for the page, and writes numbers for people. */
#include "bench/report/internal.h"

#include "common/printable.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void report_shown(FILE *out, const char *text, size_t length)
{
    char one[PRINTABLE_MOST];
    size_t taken;
    for (size_t at = 0; at < length; at += taken) {
        size_t bytes = printable_next(text + at, length - at, PRINTABLE_TEXT, one, &taken);
        if (taken == 0) {
            break;
        }
        fwrite(one, 1, bytes, out);
    }
}

static void put_html(FILE *out, const char *text)
{
    static const char marks[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    while (*text != '\0') {
        size_t plain = strcspn(text, marks);
        report_shown(out, text, plain);
        text += plain;
        if (*text != '\0') {
            fputs(entities[strchr(marks, *text++) - marks], out);
        }
    }
}

void report_put(FILE *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    record_escaped(out, put_html, format, list);
    va_end(list);
}

/* Three digits, with an exponent only for very small and very large values. */
static void three(char *text, size_t room, double value)
{
    double size = fabs(value);
    if (size != 0.0 && (size < 1e-4 || size >= 1e9)) {
        snprintf(text, room, "%.2e", value);
    } else if (size >= 100.0) {
        snprintf(text, room, "%.0f", value);
    } else if (size >= 10.0) {
        snprintf(text, room, "%.1f", value);
    } else if (size >= 1.0) {
        snprintf(text, room, "%.2f", value);
    } else {
        snprintf(text, room, "%.3g", value);
    }
}

const char *report_time(char *text, double nanoseconds)
{
    static const struct {
        double size;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1.0, "ns"}};
    int at = 0;
    if (!isfinite(nanoseconds)) {
        snprintf(text, REPORT_TEXT, "–");
        return text;
    }
    while (at < 3 && fabs(nanoseconds) < units[at].size * 0.9995) {
        at++;
    }
    char number[32];
    three(number, sizeof number, nanoseconds / units[at].size);
    snprintf(text, REPORT_TEXT, "%s %s", number, units[at].unit);
    return text;
}

const char *report_rate(char *text, double value)
{
    if (isfinite(value)) {
        three(text, REPORT_TEXT, value);
    } else {
        snprintf(text, REPORT_TEXT, "–");
    }
    return text;
}

static const char *binary(char *text, double value, const char *unit, bool round_only)
{
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    int at = 0;
    double rest = value;
    while (at < 5 && rest >= 1024.0 && (!round_only || fmod(rest, 1024.0) == 0.0)) {
        rest /= 1024.0;
        at++;
    }
    const char *gap = at > 0 || unit[0] != '\0' ? " " : "";
    snprintf(text, REPORT_TEXT, rest == floor(rest) ? "%.0f%s%s%s" : "%.3g%s%s%s", rest, gap,
             prefixes[at], unit);
    return text;
}

const char *report_bytes(char *text, double bytes)
{
    if (isfinite(bytes)) {
        return binary(text, bytes, "B", false);
    }
    snprintf(text, REPORT_TEXT, "–");
    return text;
}

const char *report_count(char *text, double value)
{
    if (!isfinite(value)) {
        snprintf(text, REPORT_TEXT, "–");
    } else if (value >= 32768.0 && fmod(value, 1024.0) == 0.0) {
        return binary(text, value, "", true);
    } else {
        snprintf(text, REPORT_TEXT, "%.0f", value);
    }
    return text;
}

const char *report_type_words(const char *dtype)
{
    static const char *const bytes[][2] = {{"e1", "1-byte elements"},
                                           {"e2", "2-byte elements"},
                                           {"e4", "4-byte elements"},
                                           {"e8", "8-byte elements"},
                                           {"e16", "16-byte elements"}};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        if (strcmp(bytes[i][0], dtype) == 0) {
            return bytes[i][1];
        }
    }
    return dtype;
}

char *report_shape(const json_t *result)
{
    const json_t *shape = json_object_get(result, "shape");
    char a[REPORT_TEXT], b[REPORT_TEXT], c[REPORT_TEXT], d[REPORT_TEXT];
    double m = record_number(shape, "m"), rows = record_number(shape, "rows");
    double bytes = record_number(shape, "bytes"), elements = record_number(shape, "elements");
    double steps = record_number(shape, "steps"), batch = record_number(shape, "batch");
    report_count(b, record_number(shape, isfinite(m) ? "n" : "cols"));
    if (isfinite(m)) {
        bool many = batch > 1.0;
        if (m == record_number(shape, "n") && m == record_number(shape, "k") && !many) {
            return record_format("N = %s", b);
        }
        return record_format("%s × %s × %s%s%s%s", report_count(a, m), b,
                             report_count(c, record_number(shape, "k")), many ? ", " : "",
                             many ? report_count(d, batch) : "", many ? " times" : "");
    }
    if (isfinite(rows)) {
        return rows == 1.0 ? record_format("%s", b)
                           : record_format("%s × %s", report_count(a, rows), b);
    }
    if (isfinite(bytes)) {
        return record_format("%s", report_bytes(a, bytes));
    }
    double size = isfinite(elements) ? elements : record_number(result, "size");
    report_count(a, size > 0.0 ? size : NAN); /* another program's benchmark may have no size */
    return isfinite(elements) && isfinite(steps)
               ? record_format("%s, %s steps", a, report_count(b, steps))
               : record_format("%s", a);
}

char *report_value(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return record_format("%s", json_string_value(value));
    case JSON_TRUE:
        return record_format("yes");
    case JSON_FALSE:
        return record_format("no");
    case JSON_NULL:
        return record_format("–");
    case JSON_INTEGER:
    case JSON_REAL:
        return record_format("%.6g", json_number_value(value));
    default:
        return record_need(json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6)));
    }
}

char *report_short_name(const char *name)
{
    static const char *const empty[] = {"(R)", "(TM)", "(r)", "(tm)", " Processor", " CPU"};
    char *text = record_format("%s", name);
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        for (char *at; (at = strstr(text, empty[i]));) {
            memmove(at, at + strlen(empty[i]), strlen(at + strlen(empty[i])) + 1);
        }
    }
    return text;
}
