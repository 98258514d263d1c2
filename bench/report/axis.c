/* SPDX-License-Identifier: Apache-2.0 */
/* axis.c - places the tics of an axis and writes its values. */
#include "bench/report/internal.h"

#include <math.h>

const char *report_axis_value(char *text, report_axis axis, double value, const char *unit)
{
    switch (axis) {
    case AXIS_TIME:
        return report_time(text, value);
    case AXIS_BYTES:
        return report_bytes(text, value);
    case AXIS_COUNT:
        return report_count(text, value);
    case AXIS_SHARE:
        snprintf(text, REPORT_TEXT, "%.0f %%", value);
        return text;
    default:
        report_rate(text, value);
        if (unit[0] != '\0' && isfinite(value)) {
            char number[REPORT_TEXT];
            snprintf(number, sizeof number, "%s", text);
            snprintf(text, REPORT_TEXT, "%.30s %.30s", number, unit);
        }
        return text;
    }
}

/* Writes one tic. Its text is short, because tics need few digits. */
static void tic(FILE *out, report_axis axis, double value, bool *first)
{
    char text[REPORT_TEXT];
    if (axis == AXIS_TIME) {
        static const char *const units[] = {"ns", "µs", "ms", "s"};
        int at = value >= 0.999e9 ? 3 : value >= 0.999e6 ? 2 : value >= 999.0 ? 1 : 0;
        snprintf(text, sizeof text, "%.4g %s", value / pow(1000.0, at), units[at]);
    } else if (axis == AXIS_BYTES || axis == AXIS_COUNT) {
        report_axis_value(text, axis, value, "");
    } else if (value >= 1e6) {
        snprintf(text, sizeof text, "%.4g M", value / 1e6);
    } else if (value >= 1e4) {
        snprintf(text, sizeof text, "%.4g k", value / 1e3);
    } else {
        snprintf(text, sizeof text, "%.4g", value);
    }
    fprintf(out, "%s'%s' %.9g", *first ? "" : ", ", text, value);
    *first = false;
}

static void binary_tics(FILE *out, report_axis axis, double low, double high, bool *first)
{
    enum { MOST = 7 };
    int from = (int)ceil(log2(low) - 1e-9), to = (int)floor(log2(high) + 1e-9), step = 1;
    while ((to - from) / step + 1 > MOST) {
        step++;
    }
    for (int power = from; power <= to; power += step) {
        tic(out, axis, exp2(power), first);
    }
}

static void decimal_tics(FILE *out, report_axis axis, double low, double high, bool *first)
{
    enum { MOST = 6 };
    static const double fine[] = {1.0, 2.0, 5.0}, finer[] = {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0};
    static const double finest[] = {1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.2,
                                    2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0};
    int from = (int)floor(log10(low)), to = (int)ceil(log10(high)), step = 1;
    double decades = log10(high / low);
    const double *at = decades < 0.35 ? finest : decades < 0.8 ? finer : fine;
    int parts = decades < 0.35 ? 20 : decades < 0.8 ? 7 : decades < 2.2 ? 3 : 1;
    while (parts == 1 && (int)(decades / step) > MOST) {
        step++;
    }
    for (int power = from; power <= to; power += step) {
        for (int part = 0; part < parts; part++) {
            double value = at[part] * pow(10.0, power);
            if (value >= low * 0.999 && value <= high * 1.001) {
                tic(out, axis, value, first);
            }
        }
    }
}

void report_axis_tics(FILE *out, report_axis axis, double low, double high)
{
    bool first = true;
    fputc('(', out);
    if (axis == AXIS_SHARE) { /* "%%": gnuplot reads the text of a tic as a format */
        fputs("'0 %%' 0, '25 %%' 25, '50 %%' 50, '75 %%' 75, '100 %%' 100", out);
    } else if (axis == AXIS_BYTES || axis == AXIS_COUNT) {
        binary_tics(out, axis, low, high, &first);
    } else {
        decimal_tics(out, axis, low, high, &first);
    }
    fputc(')', out);
}
