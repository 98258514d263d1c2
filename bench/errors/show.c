/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - errors as results of a document, and as tables. */
#include "bench/errors/errors.h"

#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>

static const char *variant_of(const errors_result *r)
{
    return r->routine->model ? r->routine->name : iso_variant_name(r->routine->variant);
}

static json_t *spread_json(const errors_spread *spread)
{
    json_t *object = json_object();
    tool_set_number(object, "median", spread->median);
    tool_set_number(object, "largest", spread->largest);
    return object;
}

static json_t *errors_of(const errors_result *r)
{
    json_t *errors = json_object();
    tool_set_int(errors, "elements", r->size[0] * r->size[1]);
    json_object_set_new(errors, "of_terms", spread_json(&r->terms));
    json_object_set_new(errors, "of_largest", spread_json(&r->largest));
    return errors;
}

json_t *errors_json(const errors_result *r)
{
    static const char *const names[] = {"m", "n", "k"};
    json_t *object = json_object(), *shape = json_object();
    const char *math = iso_math_name(r->routine->math);
    char *id = record_format("gemm/%s/%s/%lldx%lldx%lld/%s/%s", variant_of(r),
                             iso_dtype_name(r->dtype), (long long)r->size[0], (long long)r->size[1],
                             (long long)r->size[2], math, r->input->name);
    for (int i = 0; i < 3; i++) {
        tool_set_int(shape, names[i], r->size[i]);
    }
    tool_set_text(object, "id", id);
    tool_set_text(object, "op", "gemm");
    tool_set_text(object, "variant", variant_of(r));
    tool_set_text(object, "dtype", iso_dtype_name(r->dtype));
    json_object_set_new(object, "shape", shape);
    tool_set_text(object, "math", math);
    tool_set_text(object, "input", r->input->name);
    tool_set_text(object, "backend", r->device->backend);
    tool_set_text(object, "device", r->device->spec);
    tool_set_text(object, "library", r->info.library);
    tool_set_text(object, "status", bench_status_name(r->status));
    tool_set_text(object, "reason", r->status == BENCH_OK ? "" : r->reason);
    json_object_set_new(object, "errors", r->status == BENCH_OK ? errors_of(r) : json_null());
    free(id);
    return object;
}

/* ---- tables ---------------------------------------------------------------------------------- */

enum { CELL = 10, NAME = 10 };

static bool same_size(const errors_result *r, const int64_t size[3])
{
    return memcmp(r->size, size, sizeof r->size) == 0;
}

/* The first result that has the column of another one: its type, routine and library. */
static bool same_column(const errors_result *a, const errors_result *b)
{
    return a->dtype == b->dtype && a->routine == b->routine && a->library == b->library;
}

/* "OpenBLAS" of "OpenBLAS 0.3.21 (Cooperlake)" */
static void put_title(FILE *out, const errors_result *r, bool second)
{
    const char *library = r->info.library;
    bool named = r->routine->variant == ISO_VARIANT_VENDOR && library[0] != '\0';
    const char *name = named ? library : r->routine->name;
    const char *below = r->routine->math == ISO_MATH_TF32 ? "tf32" : "";
    fprintf(out, "%*.*s", CELL, second ? CELL - 1 : (int)strcspn(name, " "), second ? below : name);
}

static void put_row(FILE *out, const errors_result *results, int32_t count,
                    const errors_result *const *columns, int32_t width, bool terms,
                    const errors_input *input)
{
    fprintf(out, "    %-*s", NAME, input->name);
    for (int32_t c = 0; c < width; c++) {
        char text[CELL + 1] = "-";
        for (int32_t i = 0; i < count; i++) {
            const errors_result *r = &results[i];
            if (same_column(r, columns[c]) && same_size(r, columns[c]->size) && r->input == input &&
                r->status == BENCH_OK) {
                snprintf(text, sizeof text, "%.1e", terms ? r->terms.largest : r->largest.largest);
            }
        }
        fprintf(out, "%*s", CELL, record_point(text));
    }
    fputc('\n', out);
}

/* The columns of a type, from results that are ok. */
static int32_t find_columns(const errors_result *results, int32_t count, const int64_t size[3],
                            iso_dtype dtype, const errors_result **columns, int32_t room)
{
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        const errors_result *r = &results[i];
        bool known = r->dtype != dtype || r->status != BENCH_OK || !same_size(r, size);
        for (int32_t c = 0; c < found && !known; c++) {
            known = same_column(columns[c], r);
        }
        if (!known && found < room) {
            columns[found++] = r;
        }
    }
    return found;
}

static void put_table(FILE *out, const errors_result *results, int32_t count,
                      const errors_result *const *columns, int32_t width, bool terms)
{
    fprintf(out, "  %s, largest error of %lld elements, divided by %s\n",
            iso_dtype_name(columns[0]->dtype),
            (long long)(columns[0]->size[0] * columns[0]->size[1]),
            terms ? "the sum of the magnitudes of their terms"
                  : "K times the largest magnitudes of row and column");
    bool second = false;
    for (int32_t c = 0; c < width; c++) {
        second = second || columns[c]->routine->math == ISO_MATH_TF32;
    }
    for (int line = 0; line < 1 + second; line++) {
        fprintf(out, "%*s", NAME + 4, "");
        for (int32_t c = 0; c < width; c++) {
            put_title(out, columns[c], line == 1);
        }
        fputc('\n', out);
    }
    for (int32_t i = 0; i < ERRORS_INPUTS; i++) {
        bool shown = false;
        for (int32_t k = 0; k < count; k++) {
            shown = shown || results[k].input == &errors_inputs[i];
        }
        if (shown) {
            put_row(out, results, count, columns, width, terms, &errors_inputs[i]);
        }
    }
}

/* Each reason once for a type and routine. */
static void put_reasons(FILE *out, const errors_result *results, int32_t count,
                        const int64_t size[3])
{
    for (int32_t i = 0; i < count; i++) {
        const errors_result *r = &results[i];
        bool said = r->status == BENCH_OK || !same_size(r, size);
        for (int32_t k = 0; k < i && !said; k++) {
            said = same_column(&results[k], r) && same_size(&results[k], size) &&
                   strcmp(results[k].reason, r->reason) == 0;
        }
        if (!said) {
            char *text = record_format("%s %s: not measured: %s", iso_dtype_name(r->dtype),
                                       r->routine->name, r->reason);
            fputs("  ", out);
            tool_wrap(out, 2, 4, text);
            free(text);
        }
    }
}

void errors_show(FILE *out, const errors_result *results, int32_t count, const int64_t size[3])
{
    enum { COLUMNS = ERRORS_ROUTINES * ERRORS_LIBRARIES };
    const errors_result *columns[COLUMNS];
    for (iso_dtype dtype = 0; dtype <= ISO_I64; dtype++) {
        int32_t width = find_columns(results, count, size, dtype, columns, COLUMNS);
        for (int terms = 1; terms >= 0 && width > 0; terms--) {
            put_table(out, results, count, columns, width, terms == 1);
        }
    }
    put_reasons(out, results, count, size);
}
