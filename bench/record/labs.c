/* SPDX-License-Identifier: Apache-2.0 */
/* labs.c - what the rows of the labs are, and the cells of their tables. */
#include "bench/record/record.h"

#include <math.h>
#include <string.h>

/* The published figures are those of the labs' own programs (Numba, CuPy 14.2) on an H200. */
const record_lab record_labs[RECORD_LABS] = {
    {"A1", "Transpose, one element a work-item", "the rate, beside the tiled kernel's",
     "f64, N = 10240: Numba 2654 GB/s, CuPy 1921 GB/s"},
    {"A2", "Product, one element a work-item", "the kernel's share of the total",
     "Numba, N = 5120 and 10240: f32 0.97 and 0.98 TFLOP/s, f64 0.49 and 0.49"},
    {"A3", "Product through shared memory", "what tiles gain over A2",
     "Numba, N = 5120 and 10240: f32 2.04 and 2.04 TFLOP/s, f64 0.66 and 0.66"},
    {"A4", "Product of the vendor's library", "how far A3 is from it",
     "CuPy, N = 5120 and 10240: f32 46.8 and 49.4 TFLOP/s, f64 62.8 and 58.3; with all copies f32 "
     "59 and 219 ms, f64 90 and 391 ms"},
    {"A5", "Memory of another library", "wrapping takes no longer for more memory", NULL},
    {"B1", "Ten products, strict and in TF32", "time gained and digits lost",
     "CuPy, N = 15000: strict 1306 ms, TF32 194 ms"},
    {"B2", "A device without TF32", "which math ran, and why", NULL},
    {"C1", "Element-wise product", "submit time against device time",
     "Numba, 4096 x 4096 f32: 276 us"},
    {"C2", "What moving costs", "wrapping against both copies", NULL},
    {"C3", "A sum in one work-group of 512", "the error", NULL},
    {"C4", "A sum in one work-group of 192", "the error, at a size that is no power of two", NULL},
    {"C5", "Sums over many work-groups", "which of the four is fastest at which size",
     "2^9, 2^20, 2^24 and 2^28 f32: CuPy 11.0, 16.1, 29.9 and 247.6 us; Numba's reduce 322, 293, "
     "450 and 4259 us"},
    {"C6", "A memory limit, and a device by uuid", "the refusal's figures", NULL},
    {"D1", "Product, then sums of the columns", "the product takes nearly all the time",
     "CuPy, ten times: f32 152.8 ms, f64 123.6 ms; the sums alone 270 and 294 us"},
    {"D2", "The sums without the product", "the same numbers, in a fraction of the time",
     "CuPy's einsum, ten times: f32 5.50 ms, f64 6.47 ms"},
    {"D3", "Product and sums in one kernel", "what is saved by storing nothing", NULL},
    {"D4", "Ridge regression by LSMR", "iterations, and the bend of the L-curve",
     "CuPy, ten coefficients: 4.87 s, 1501 iterations"},
    {"D5", "Diffusion of a field", "the time of a step; the pictures", "Numba: 40.7 us a step"},
    {"E1", "Vector add", "the rate, as a share of the measured peak",
     "200 million f64: 1.121 ms, 4282 GB/s"},
    {"E2", "Submit, device, first and later calls", "what a first call pays", NULL},
    {"E3", "Transfers and allocation", "where the bus is the limit", NULL},
    {"E4", "Matrix-vector products in four forms", "what the layout does to the rate",
     "Numba, a thread a row: row-major 788 GB/s, column-major 335 GB/s"},
    {"E5", "Roofline", "which roof is above each row", NULL},
    {"E6", "A time line", "that it opens in Perfetto", NULL}};

int record_lab_of(const char *id)
{
    for (int i = 0; i < RECORD_LABS; i++) {
        if (strcmp(record_labs[i].id, id) == 0) {
            return i;
        }
    }
    return -1;
}

const char *record_lab_title(char letter)
{
    static const char *const titles[] = {"Matrices", "Tensor cores", "Reductions", "Arrays",
                                         "First kernels"};
    return letter >= 'A' && letter <= 'E' ? titles[letter - 'A'] : "";
}

/* ---- meanings -------------------------------------------------------------------------------- */

const char *record_lab_meaning(const char *id, const char *name)
{
    static const struct {
        const char *rows; /* "": of any */
        const char *name, *words;
    } meanings[] = {
        {"", "what", "the way; \"the student's\" is the kernel in examples/labs"},
        {"", "kernel", "the device's time for a call"},
        {"", "copy-in", "both operands to the device"},
        {"", "copy-out", "the result to memory that the program already has"},
        {"A2 A3 A4", "total", "copy-in, kernel and copy-out in one go, from ordinary memory"},
        {"D1 D2 D3", "total", "ten calls"},
        {"D4", "total", "all ten coefficients, on the host's clock"},
        {"", "total-pinned", "the same from and to pinned memory"},
        {"B1", "time", "ten products"},
        {"A2 A3 A4 B1", "error", "the sum of |x - f64| over that of |f64|"},
        {"C3 C4 C5", "error", "|sum - f64| over the sum of the magnitudes"},
        {"D1 D2 D3", "error", "the greatest |x - f64| over the greatest |f64|"},
        {"", "error-max", "the greatest |x - f64| over the greatest |f64|"},
        {"", "f32-over-f64", "the time in f64, divided by this one"},
        {"", "over-cpu", "the kernel's time on openmp in this run, divided by this one"},
        {"", "over-cpu-total", "the total on openmp in this run, divided by this one"},
        {"", "over-strict", "the time of strict, divided by this one"},
        {"", "speed-up", "the time of strict, divided by this one"},
        {"", "of-peak", "share of the roof that this run measured"},
        {"A5", "ratio", "copy, divided by wrap"},
        {"", "wrap", "taking the memory by DLPack"},
        {"", "submit", "the host's time until the call returns"},
        {"C1", "n", "the side: n x n numbers"},
        {"D1", "product", "one product"},
        {"D1", "sums", "the sums of its columns, once"},
        {"E2", "compile", "making the program"},
        {"E2", "first", "the first call, until its end"},
        {"E2", "later", "a later call, until its end"}};
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const char *rows = meanings[i].rows;
        if (strcmp(meanings[i].name, name) == 0 && (rows[0] == '\0' || strstr(rows, id))) {
            return meanings[i].words;
        }
    }
    return NULL;
}

/* ---- entries --------------------------------------------------------------------------------- */

bool record_lab_ok(const json_t *entry)
{
    return strcmp(record_text(entry, "status"), "ok") == 0;
}

const json_t *record_lab_next(const json_t *entries, const json_t *entry, const char *id)
{
    bool after = !entry;
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *next = json_array_get(entries, i);
        if (after && strcmp(record_text(next, "row"), id) == 0) {
            return next;
        }
        after = after || next == entry;
    }
    return NULL;
}

double record_lab_figure(const json_t *entry, const char *name)
{
    size_t at;
    const json_t *figure;
    json_array_foreach(json_object_get(entry, "figures"), at, figure)
    {
        if (strcmp(record_text(figure, "name"), name) == 0) {
            return record_number(figure, "value");
        }
    }
    return NAN;
}

/* ---- columns --------------------------------------------------------------------------------- */

static void add(record_lab_columns *columns, const char *name)
{
    for (int i = 0; i < columns->count; i++) {
        if (strcmp(columns->names[i], name) == 0) {
            return;
        }
    }
    if (columns->count < RECORD_LAB_COLUMNS) {
        columns->names[columns->count++] = name;
    }
}

void record_lab_find(const json_t *entries, const char *id, record_lab_columns *out)
{
    *out = (record_lab_columns){.count = 0};
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, id));) {
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(entry, "case"), name, value)
        {
            add(out, name);
        }
    }
    out->sizes = out->count;
    for (const json_t *entry = NULL; (entry = record_lab_next(entries, entry, id));) {
        size_t at;
        const json_t *figure;
        json_array_foreach(json_object_get(entry, "figures"), at, figure)
        {
            add(out, record_text(figure, "name"));
        }
    }
}

void record_lab_value(char text[RECORD_LAB_TEXT], const char *unit, double value)
{
    static const struct {
        const char *unit;
        double scale[4];
        const char *words[4];
    } units[] = {
        {"s", {1, 1e3, 1e6, 1e9}, {"s", "ms", "us", "ns"}},
        {"B/s", {1e-12, 1e-9, 1e-6, 1e-3}, {"TB/s", "GB/s", "MB/s", "kB/s"}},
        {"FLOP/s", {1e-12, 1e-9, 1e-6, 1e-3}, {"TFLOP/s", "GFLOP/s", "MFLOP/s", "kFLOP/s"}}};
    if (!isfinite(value)) {
        snprintf(text, RECORD_LAB_TEXT, "-");
        return;
    }
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        for (int i = 0; i < 4 && strcmp(units[u].unit, unit) == 0; i++) {
            double scaled = value * units[u].scale[i];
            if (fabs(scaled) >= 1.0 || i == 3) {
                char number[32];
                snprintf(text, RECORD_LAB_TEXT, "%s %s", record_rate(number, sizeof number, scaled),
                         units[u].words[i]);
                return;
            }
        }
    }
    bool whole = value == floor(value) && fabs(value) < 1e9;
    const char *gap = unit[0] != '\0' ? " " : "";
    if (whole) {
        snprintf(text, RECORD_LAB_TEXT, "%.0f%s%s", value, gap, unit);
    } else {
        snprintf(text, RECORD_LAB_TEXT, "%.3g%s%s", value, gap, unit);
    }
    (void)record_point(text);
}

/* Whether the greatest sample is over twice the least. */
static bool spreads(const json_t *figure)
{
    return record_number(figure, "high") > 2.0 * record_number(figure, "low");
}

void record_lab_cell(const json_t *entry, const record_lab_columns *columns, int column,
                     char text[RECORD_LAB_TEXT])
{
    size_t at;
    const char *name = columns->names[column];
    const json_t *figure, *value = json_object_get(json_object_get(entry, "case"), name);
    text[0] = '\0';
    if (column < columns->sizes && json_is_string(value)) {
        snprintf(text, RECORD_LAB_TEXT, "%s", json_string_value(value));
    } else if (column < columns->sizes && json_is_number(value)) {
        record_lab_value(text, "", json_number_value(value));
    }
    json_array_foreach(json_object_get(entry, "figures"), at, figure)
    {
        if (column >= columns->sizes && strcmp(record_text(figure, "name"), name) == 0) {
            record_lab_value(text, record_text(figure, "unit"), record_number(figure, "value"));
            if (spreads(figure)) {
                snprintf(text + strlen(text), RECORD_LAB_TEXT - strlen(text), " !");
            }
        }
    }
}

void record_lab_who(const json_t *entry, char text[RECORD_LAB_TEXT])
{
    const char *by = record_text(entry, "by");
    bool ours = strcmp(by, "isomer") == 0;
    snprintf(text, RECORD_LAB_TEXT, "%.24s%s%.32s", ours ? "" : by, ours ? "" : ", ",
             record_text(entry, "device"));
}
