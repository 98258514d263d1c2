/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - a line for each result, as RFC 4180 has it. */
#include "bench/record/record.h"

#include "common/printable.h"

#include <stdlib.h>
#include <string.h>

/* Columns: what they are called, and where in a result it is found. */
static const struct column {
    const char *name, *outer, *inner; /* inner NULL: a member of the result itself */
} columns[] = {{"id", "id", NULL},
               {"op", "op", NULL},
               {"kind", "kind", NULL},
               {"variant", "variant", NULL},
               {"dtype", "dtype", NULL},
               {"size", "size", NULL},
               {"bytes", "shape", "bytes"},
               {"elements", "shape", "elements"},
               {"steps", "shape", "steps"},
               {"rows", "shape", "rows"},
               {"cols", "shape", "cols"},
               {"m", "shape", "m"},
               {"n", "shape", "n"},
               {"k", "shape", "k"},
               {"batch", "shape", "batch"},
               {"layout", "layout", NULL},
               {"math", "math", NULL},
               {"fill", "fill", NULL},
               {"cache", "cache", NULL},
               {"backend", "backend", NULL},
               {"device", "device", NULL},
               {"device_name", NULL, "name"}, /* of the device */
               {"device_uuid", NULL, "uuid"},
               {"device_fake", NULL, "fake"},
               {"library", "library", NULL},
               {"kernel", "kernel", NULL},
               {"status", "status", NULL},
               {"reason", "reason", NULL},
               {"method", "verified", "method"},
               {"error", "verified", "error"},
               {"bound", "verified", "bound"},
               {"checks", "verified", "checks"},
               {"digest", "verified", "digest"},
               {"flops", "work", "flops"},
               {"bytes_read", "work", "bytes_read"},
               {"bytes_written", "work", "bytes_written"},
               {"clock", "times", "clock"},
               {"median_ns", "times", "median"},
               {"low_ns", "times", "low"},
               {"high_ns", "times", "high"},
               {"confidence", "times", "confidence"},
               {"min_ns", "times", "min"},
               {"max_ns", "times", "max"},
               {"mean_ns", "times", "mean"},
               {"deviation_ns", "times", "deviation"},
               {"converged", "times", "converged"},
               {"stopped", "times", "stopped"},
               {"rounds", "times", "samples"}, /* how many */
               {"calls", "times", "calls"},
               {"host_ns", "times", "host"},
               {"submit_ns", "times", "submit"},
               {"prepare_ns", "times", "prepare"},
               {"first_ns", "times", "first"},
               {"gbps", "gbps", "value"},
               {"gbps_low", "gbps", "low"},
               {"gbps_high", "gbps", "high"},
               {"gflops", "gflops", "value"},
               {"gflops_low", "gflops", "low"},
               {"gflops_high", "gflops", "high"},
               {"roof", "roof", "name"},
               {"roof_unit", "roof", "unit"},
               {"roof_value", "roof", "value"},
               {"roof_percent", "roof", "percent"},
               {"roof_source", "roof", "source"},
               {"copy_in_ns", "parts", "copy_in"},
               {"kernel_ns", "parts", "kernel"},
               {"copy_out_ns", "parts", "copy_out"},
               {"total_ns", "parts", "total"},
               {"mhz_low", "clocks", "mhz_low"},
               {"mhz_high", "clocks", "mhz_high"},
               {"power_watts", "clocks", "power_watts"},
               {"temperature_celsius", "clocks", "temperature_celsius"},
               {"flags", "flags", NULL},
               {"math_used", "math_used", NULL}, /* where it is not `math` */
               {"math_reason", "math_reason", NULL}};

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
            break; /* a document holds whole characters */
        }
        fputs(text[at] == '"' ? "\"" : "", out);
        fwrite(one, 1, bytes, out);
    }
    fputs(quoted ? "\"" : "", out);
}

/* Words, or "key=value" of an object, with spaces between. */
static void put_list(FILE *out, json_t *value)
{
    char *text = NULL;
    size_t length = 0, index;
    const char *key;
    json_t *item;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) {
        return;
    }
    json_array_foreach(value, index, item) fprintf(
        memory, "%s%s", index > 0 ? " " : "", json_is_string(item) ? json_string_value(item) : "");
    json_object_foreach(value, key, item)
    {
        char *one =
            json_is_string(item)
                ? NULL
                : json_dumps(item, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
        fprintf(memory, "%s%s=%s", ftell(memory) > 0 ? " " : "", key,
                one ? one : record_text(value, key));
        free(one);
    }
    if (fclose(memory) == 0) {
        record_csv_text(out, text);
    }
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

static json_t *device_of(const json_t *root, const json_t *result)
{
    json_t *devices = json_object_get(root, "devices"), *device;
    size_t index;
    json_array_foreach(devices, index, device)
    {
        if (strcmp(record_text(device, "spec"), record_text(result, "device")) == 0) {
            return device;
        }
    }
    return NULL;
}

static json_t *find(const json_t *root, const json_t *result, const struct column *column)
{
    if (!column->outer) {
        return json_object_get(device_of(root, result), column->inner);
    }
    const json_t *inside = result;
    if (strcmp(column->outer, "gbps") == 0 || strcmp(column->outer, "gflops") == 0) {
        inside = json_object_get(result, "rates");
    }
    json_t *value = json_object_get(inside, column->outer);
    return column->inner ? json_object_get(value, column->inner) : value;
}

bool record_csv(FILE *out, const json_t *root)
{
    json_t *results = json_object_get(root, "results"), *result;
    size_t index;
    for (int c = 0; c < COLUMNS; c++) {
        fprintf(out, "%s%s", c > 0 ? "," : "", columns[c].name);
    }
    fputs("\r\n", out);
    json_array_foreach(results, index, result)
    {
        for (int c = 0; c < COLUMNS; c++) {
            json_t *value = find(root, result, &columns[c]);
            if (c > 0) {
                fputc(',', out);
            }
            if (strcmp(columns[c].name, "rounds") != 0) {
                put_value(out, value);
            } else if (value) {
                fprintf(out, "%zu", json_array_size(value));
            }
        }
        fputs("\r\n", out);
    }
    return fflush(out) == 0 && !ferror(out);
}
