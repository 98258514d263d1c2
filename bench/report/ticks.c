/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.c - places the ticks of an axis and writes its values. */
#include "bench/report/chart.h"

#include <math.h>

double chart_place(const chart_axis *axis, double value)
{
    return axis->unit == CHART_SHARE ? (value - axis->low) / (axis->high - axis->low)
                                     : log(value / axis->low) / log(axis->high / axis->low);
}

/* Writes a power of 1000 as a prefix: "10 G". */
static const char *prefixed(char *text, size_t room, double value, const char *form,
                            const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    int at = 0;
    for (; at < 5 && value >= 999.5; at++) {
        value /= 1000.0;
    }
    char number[32];
    snprintf(number, sizeof number, form, value >= 100.0 ? 0 : value >= 10.0 ? 1 : 2, value);
    bool gap = at > 0 || unit[0] != '\0';
    snprintf(text, room, "%s%s%s%s", record_point(number), gap ? " " : "", prefixes[at], unit);
    return text;
}

const char *chart_value(char *text, chart_unit unit, double value)
{
    static const char *const units[] = {[CHART_FLOPS] = "FLOP/s",
                                        [CHART_MOVED] = "B/s",
                                        [CHART_PER_JOULE] = "FLOP/J",
                                        [CHART_ERROR] = ""};
    if (!isfinite(value)) {
        snprintf(text, REPORT_TEXT, "–");
        return text;
    }
    return prefixed(text, REPORT_TEXT, value, "%.*f", units[unit]);
}

static void put_tick(const chart_axis *axis, double value, chart_tick *tick)
{
    char *text = tick->text;
    tick->value = value;
    if (axis->unit == CHART_SHARE) {
        snprintf(text, CHART_TICK_TEXT, "%.0f %%", value);
    } else if (axis->unit == CHART_RATIO) {
        if (value > 1.001) {
            snprintf(text, CHART_TICK_TEXT, "%.0f times", value);
        } else if (value > 0.999) {
            snprintf(text, CHART_TICK_TEXT, "best");
        } else {
            snprintf(text, CHART_TICK_TEXT, "1/%.0f", 1.0 / value);
        }
    } else if (axis->unit == CHART_BYTES || axis->unit == CHART_COUNT) {
        static const char *const prefixes[] = {"", " Ki", " Mi", " Gi", " Ti"};
        int at = 0;
        for (; at < 4 && value >= 1024.0; at++) {
            value /= 1024.0;
        }
        snprintf(text, CHART_TICK_TEXT, "%.4g%s", value, prefixes[at]);
    } else if (value < 1.0) {
        snprintf(text, CHART_TICK_TEXT, "%.4g", value);
        record_point(text);
    } else {
        char made[REPORT_TEXT];
        double power = pow(1000.0, fmin(floor(log10(value * 1.0001) / 3.0), 5.0));
        static const char *const prefixes[] = {"", " k", " M", " G", " T", " P"};
        snprintf(made, sizeof made, "%.4g%s", value / power,
                 prefixes[(int)lround(log10(power) / 3.0)]);
        snprintf(text, CHART_TICK_TEXT, "%.15s", record_point(made));
    }
}

int chart_ticks(const chart_axis *axis, int most, chart_tick ticks[CHART_TICKS])
{
    int count = 0;
    most = most < 2 ? 2 : most > CHART_TICKS ? CHART_TICKS : most;
    if (axis->unit == CHART_SHARE) {
        for (int i = 0; i <= 4; i++) {
            put_tick(axis, axis->low + (axis->high - axis->low) * i / 4.0, &ticks[count++]);
        }
        return count;
    }
    bool binary = axis->unit == CHART_BYTES || axis->unit == CHART_COUNT;
    double base = binary ? log(2.0) : log(10.0);
    int from = (int)ceil(log(axis->low) / base - 1e-9);
    int to = (int)floor(log(axis->high) / base + 1e-9), step = 1;
    while ((to - from) / step + 1 > most) {
        step++;
    }
    if (!binary && to - from < 2) {
        static const double parts[] = {1.0, 2.0, 5.0};
        for (int power = from - 1; power <= to; power++) {
            for (int i = 0; i < 3 && count < most; i++) {
                double value = parts[i] * pow(10.0, power);
                if (value >= axis->low && value <= axis->high) {
                    put_tick(axis, value, &ticks[count++]);
                }
            }
        }
        return count;
    }
    for (int power = from; power <= to && count < most; power++) {
        if (power % step == 0) {
            put_tick(axis, exp(power * base), &ticks[count++]);
        }
    }
    return count;
}
