/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - writes results as CSV (RFC 4180), one line for each. */
#include "bench/record/record.h"

#include "common/printable.h"

#include <stdlib.h>
#include <string.h>

static const struct column {
    const char *name;
    const char *path; /* in the result; NULL: in its device, by the name after "device_" */
} columns[] = {{"id", "id"},
               {"op", "op"},
               {"kind", "kind"},
               {"variant", "variant"},
               {"dtype", "dtype"},
               {"size", "size"},
               {"bytes", "shape.bytes"},
               {"elements", "shape.elements"},
               {"steps", "shape.steps"},
               {"rows", "shape.rows"},
               {"cols", "shape.cols"},
               {"m", "shape.m"},
               {"n", "shape.n"},
               {"k", "shape.k"},
               {"batch", "shape.batch"},
               {"layout", "layout"},
               {"math", "math"},
               {"fill", "fill"},
               {"cache", "cache"},
               {"backend", "backend"},
               {"device", "device"},
               {"device_name", NULL},
               {"device_uuid", NULL},
               {"device_fake", NULL},
               {"library", "library"},
               {"kernel", "kernel"},
               {"status", "status"},
               {"reason", "reason"},
               {"method", "verified.method"},
               {"error", "verified.error"},
               {"bound", "verified.bound"},
               {"checks", "verified.checks"},
               {"digest", "verified.digest"},
               {"flops", "work.flops"},
               {"bytes_read", "work.bytes_read"},
               {"bytes_written", "work.bytes_written"},
               {"clock", "times.clock"},
               {"median_ns", "times.median"},
               {"low_ns", "times.low"},
               {"high_ns", "times.high"},
               {"confidence", "times.confidence"},
               {"min_ns", "times.min"},
               {"max_ns", "times.max"},
               {"mean_ns", "times.mean"},
               {"deviation_ns", "times.deviation"},
               {"converged", "times.converged"},
               {"stopped", "times.stopped"},
               {"rounds", "times.samples"}, /* only their number */
               {"calls", "times.calls"},
               {"host_ns", "times.host"},
               {"submit_ns", "times.submit"},
               {"prepare_ns", "times.prepare"},
               {"first_ns", "times.first"},
               {"gbps", "rates.gbps.value"},
               {"gbps_low", "rates.gbps.low"},
               {"gbps_high", "rates.gbps.high"},
               {"gflops", "rates.gflops.value"},
               {"gflops_low", "rates.gflops.low"},
               {"gflops_high", "rates.gflops.high"},
               {"roof", "roof.name"},
               {"roof_unit", "roof.unit"},
               {"roof_value", "roof.value"},
               {"roof_percent", "roof.percent"},
               {"roof_source", "roof.source"},
               {"copy_in_ns", "parts.copy_in"},
               {"kernel_ns", "parts.kernel"},
               {"copy_out_ns", "parts.copy_out"},
               {"total_ns", "parts.total"},
               {"mhz_low", "clocks.mhz_low"},
               {"mhz_high", "clocks.mhz_high"},
               {"power_watts", "clocks.power_watts"},
               {"temperature_celsius", "clocks.temperature_celsius"},
               {"joules", "energy.joules"},
               {"watts", "energy.watts"},
               {"gflop_per_joule", "energy.gflop_per_joule"},
               {"gb_per_joule", "energy.gb_per_joule"},
               {"flags", "flags"},
               {"level", ""},              /* the highest among the flags */
               {"math_used", "math_used"}, /* only if it differs from `math` */
               {"math_reason", "math_reason"},
               {"variant_used", "variant_used"}}; /* only if `variant` is auto */

enum { COLUMNS = sizeof columns / sizeof columns[0] };

void record_csv_text(FILE *out, const char *text)
{
    char one[PRINTABLE_MOST];
    size_t length = strlen(text), taken;
    bool formula = length > 0 && strchr("=+-@", text[0]);
    bool quoted =
        strpbrk(text, ",\"\n") || text[0] == ' ' || (length > 0 && text[length - 1] == ' ');
    fputs(quoted ? "\"" : "", out);
    fputs(formula ? "'" : "", out);
    for (size_t at = 0; at < length; at += taken) {
        size_t bytes = printable_next(text + at, length - at, PRINTABLE_TEXT, one, &taken);
        if (taken == 0) {
            break; /* cannot happen: JSON texts have only whole characters */
        }
        fputs(text[at] == '"' ? "\"" : "", out);
        fwrite(one, 1, bytes, out);
    }
    fputs(quoted ? "\"" : "", out);
}

/* Writes the texts of an array, or an object as "key=value", separated by spaces. */
static void put_list(FILE *out, json_t *value)
{
    char *text = NULL;
    size_t length = 0, index;
    const char *key;
    json_t *item;
    FILE *memory = record_need(open_memstream(&text, &length));
    json_array_foreach(value, index, item)
    {
        fprintf(memory, "%s%s", index > 0 ? " " : "",
                json_is_string(item) ? json_string_value(item) : "");
    }
    json_object_foreach(value, key, item)
    {
        char *one = json_is_string(item)
                        ? record_format("%s", json_string_value(item))
                        : record_need(json_dumps(item, JSON_ENCODE_ANY | JSON_COMPACT |
                                                           JSON_REAL_PRECISION(17)));
        fprintf(memory, "%s%s=%s", ftell(memory) > 0 ? " " : "", key, one);
        free(one);
    }
    record_csv_text(out, record_need(fclose(memory) == 0 ? text : NULL));
    free(text);
}

static void put_value(FILE *out, json_t *value)
{
    char number[64];
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        record_csv_text(out, json_string_value(value));
        break;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
        fputs(record_point(number), out);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        fputs(json_is_true(value) ? "true" : "false", out);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        put_list(out, value);
        break;
    default:
        break;
    }
}

bool record_csv(FILE *out, const json_t *root)
{
    json_t *results = json_object_get(root, "results"), *result;
    size_t index;
    if (json_object_get(root, "comm")) {
        record_comm_csv(out, json_object_get(root, "comm"));
        return fflush(out) == 0 && !ferror(out);
    }
    for (int c = 0; c < COLUMNS; c++) {
        fprintf(out, "%s%s", c > 0 ? "," : "", columns[c].name);
    }
    fputs("\r\n", out);
    json_array_foreach(results, index, result)
    {
        const json_t *device = record_device_of(root, record_text(result, "device"));
        for (int c = 0; c < COLUMNS; c++) {
            json_t *value = columns[c].path ? record_at(result, columns[c].path)
                                            : json_object_get(device, columns[c].name + 7);
            if (c > 0) {
                fputc(',', out);
            }
            if (strcmp(columns[c].name, "level") == 0) {
                fputs(record_level_name(record_level_of(result)), out);
            } else if (strcmp(columns[c].name, "rounds") != 0) {
                put_value(out, value);
            } else if (value) {
                fprintf(out, "%zu", json_array_size(value));
            }
        }
        fputs("\r\n", out);
    }
    return fflush(out) == 0 && !ferror(out);
}
