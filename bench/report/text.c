/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - texts for the page: escaped, plain, and numbers for people. */
#include "bench/report/internal.h"

#include "common/printable.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

char *report_format(const char *format, ...)
{
    va_list list;
    char *text = NULL;
    va_start(list, format);
    if (vasprintf(&text, format, list) < 0) {
        text = NULL;
    }
    va_end(list);
    return text;
}

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* What would turn or hide the text around it is escaped in a page as on a terminal. */
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

void report_html(FILE *out, const char *text)
{
    const char *at = text ? text : "";
    while (*at != '\0') {
        size_t plain = strcspn(at, "&<>\"'");
        report_shown(out, at, plain);
        at += plain;
        if (*at != '\0') {
            fputs(entity_of(*at++), out);
        }
    }
}

void report_htmlf(FILE *out, const char *format, ...)
{
    va_list list;
    char *text = NULL;
    va_start(list, format);
    if (vasprintf(&text, format, list) >= 0) {
        report_html(out, text);
        free(text);
    }
    va_end(list);
}

char *report_plain(const char *text)
{
    size_t room = strlen(text) * 4 + 1;
    char *plain = malloc(room);
    if (plain) {
        printable_line(plain, room, text);
    }
    for (char *at = plain; at && *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c < 32 || c == 127 || strchr("\"'`<>&\\{}$^~|", *at)) {
            *at = '_';
        }
    }
    return plain;
}

char *report_slug(const char *text)
{
    char *slug = strdup(text);
    size_t to = 0;
    for (size_t from = 0; slug && text[from] != '\0'; from++) {
        bool word = isalnum((unsigned char)text[from]);
        if (word || (to > 0 && slug[to - 1] != '-')) {
            slug[to++] = word ? (char)tolower((unsigned char)text[from]) : '-';
        }
    }
    if (slug) {
        to = to > 60 ? 60 : to;
        while (to > 0 && slug[to - 1] == '-') {
            to--;
        }
        slug[to] = '\0';
    }
    return slug;
}

/* Three digits, without an exponent where people would not write one. */
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

char *report_shape(const report_row *row)
{
    const json_t *shape = json_object_get(row->json, "shape");
    char a[REPORT_TEXT], b[REPORT_TEXT], c[REPORT_TEXT];
    double m = record_number(shape, "m"), rows = record_number(shape, "rows");
    double bytes = record_number(shape, "bytes"), elements = record_number(shape, "elements");
    if (isfinite(m)) {
        double batch = record_number(shape, "batch");
        char *text = report_format("%s × %s × %s", report_count(a, m),
                                   report_count(b, record_number(shape, "n")),
                                   report_count(c, record_number(shape, "k")));
        if (!text || !(batch > 1.0)) {
            return text;
        }
        char *batched = report_format("%s, %s times", text, report_count(a, batch));
        free(text);
        return batched;
    }
    if (isfinite(rows) && rows == 1.0) {
        return strdup(report_count(a, record_number(shape, "cols")));
    }
    if (isfinite(rows)) {
        return report_format("%s × %s", report_count(a, rows),
                             report_count(b, record_number(shape, "cols")));
    }
    if (isfinite(bytes)) {
        return strdup(report_bytes(a, bytes));
    }
    double steps = record_number(shape, "steps");
    if (isfinite(elements) && isfinite(steps)) {
        return report_format("%s, %s steps", report_count(a, elements), report_count(b, steps));
    }
    return strdup(report_count(a, isfinite(elements) ? elements : row->size));
}

char *report_value(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return strdup(json_string_value(value));
    case JSON_TRUE:
        return strdup("yes");
    case JSON_FALSE:
        return strdup("no");
    case JSON_NULL:
        return strdup("–");
    case JSON_INTEGER:
    case JSON_REAL:
        return report_format("%.6g", json_number_value(value));
    default:
        break;
    }
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6));
    return text ? text : strdup("–");
}
