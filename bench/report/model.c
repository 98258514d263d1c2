/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the documents as flat tables of devices, rows and groups of rows. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- files and devices ----------------------------------------------------------------------- */

/* The file's name without folders and ".json"; numbered where two are the same. */
static bool name_files(report_model *model, const char *const *names)
{
    model->files = calloc((size_t)model->count, sizeof *model->files);
    if (!model->files) {
        return false;
    }
    for (int i = 0; i < model->count; i++) {
        const char *slash = strrchr(names[i], '/');
        const char *base = strcmp(names[i], "-") == 0 ? "standard input"
                           : slash                    ? slash + 1
                                                      : names[i];
        size_t length = strlen(base);
        if (length > 5 && strcmp(base + length - 5, ".json") == 0) {
            length -= 5;
        }
        int same = 1;
        for (int j = 0; j < i; j++) {
            const char *other = strrchr(names[j], '/');
            same += strcmp(base, other ? other + 1 : names[j]) == 0;
        }
        model->files[i] = same > 1 ? report_format("%.*s (%d)", (int)length, base, same)
                                   : report_format("%.*s", (int)length, base);
        if (!model->files[i]) {
            return false;
        }
    }
    return true;
}

static int add_device(report_model *model, int file, const char *spec, const json_t *json)
{
    report_device *grown =
        realloc(model->devices, sizeof *grown * (size_t)(model->device_count + 1));
    if (!grown) {
        return -1;
    }
    model->devices = grown;
    report_device *device = &grown[model->device_count];
    const char *type = record_text(json, "type");
    *device = (report_device){.json = json,
                              .file = file,
                              .spec = spec,
                              .name = record_text(json, "name"),
                              .backend = record_text(json, "backend"),
                              .fake = json_is_true(json_object_get(json, "fake")),
                              .cpu = strcasecmp(type, "cpu") == 0};
    device->brief = model->count > 1 ? report_format("%s: %s", model->files[file], spec)
                                     : report_format("%s", spec);
    device->label = !device->brief            ? NULL
                    : device->name[0] == '\0' ? strdup(device->brief)
                                              : report_format("%s %s", device->brief, device->name);
    model->device_count++;
    return device->label ? model->device_count - 1 : -1;
}

static int find_device(report_model *model, int file, const char *spec)
{
    for (int i = 0; i < model->device_count; i++) {
        if (model->devices[i].file == file && strcmp(model->devices[i].spec, spec) == 0) {
            return i;
        }
    }
    return add_device(model, file, spec, NULL);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static double divisor(double a, double b)
{
    while (b > 0.0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

/* How the sizes of a shape relate: shapes of another form are no points of the same line. */
static char *form_of(const json_t *shape)
{
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    double k = record_number(shape, "k"), batch = record_number(shape, "batch");
    double rows = record_number(shape, "rows"), cols = record_number(shape, "cols");
    char *text = NULL;
    if (m > 0.0 && n > 0.0 && k > 0.0) {
        double unit = divisor(divisor(m, n), k);
        bool many = batch > 1.0;
        if (m == n && n == k) {
            text = many ? report_format("%.0f times", batch) : strdup("");
        } else if (many) {
            text = report_format("%.0f:%.0f:%.0f, %.0f times", m / unit, n / unit, k / unit, batch);
        } else {
            text = report_format("%.0f:%.0f:%.0f", m / unit, n / unit, k / unit);
        }
    } else if (rows > 1.0 && cols > 0.0 && rows != cols) {
        double unit = divisor(rows, cols);
        text = report_format("%.0f:%.0f", rows / unit, cols / unit);
    } else {
        text = strdup("");
    }
    return text;
}

static char *title_of(const report_row *row, const char *form)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) {
        return NULL;
    }
    fputs(row->op, out);
    if (row->kind[0] != '\0') {
        fprintf(out, " %s", row->kind);
    }
    if (row->dtype[0] != '\0') {
        fprintf(out, " %s", row->dtype);
    }
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(row->json, "layout"), key, value)
    {
        static const char *const usual[] = {"n", "N", "all", "none", "", "no"};
        const char *word = json_string_value(value);
        bool known = !word && !json_is_true(value) && !json_is_number(value);
        for (size_t i = 0; word && i < sizeof usual / sizeof usual[0]; i++) {
            known = known || strcmp(word, usual[i]) == 0;
        }
        char *shown = known ? NULL : report_value(value);
        if (shown) {
            fprintf(out, ", %s %s", key, shown);
        }
        free(shown);
    }
    if (form[0] != '\0') {
        fprintf(out, ", shape %s", form);
    }
    static const char *const marks[][2] = {
        {"math", "strict"}, {"cache", "hot"}, {"fill", "uniform"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *word = record_text(row->json, marks[i][0]);
        if (word[0] != '\0' && strcmp(word, marks[i][1]) != 0) {
            fprintf(out, ", %s", word);
        }
    }
    return fclose(out) == 0 ? text : (free(text), NULL);
}

static int add_group(report_model *model, const report_row *row)
{
    char *form = form_of(json_object_get(row->json, "shape"));
    char *key = form ? title_of(row, form) : NULL;
    free(form);
    if (!key) {
        return -1;
    }
    for (int i = 0; i < model->group_count; i++) {
        if (strcmp(model->groups[i].key, key) == 0) {
            free(key);
            return i;
        }
    }
    report_group *grown = realloc(model->groups, sizeof *grown * (size_t)(model->group_count + 1));
    if (!grown) {
        free(key);
        return -1;
    }
    model->groups = grown;
    report_group *group = &grown[model->group_count++];
    *group = (report_group){.key = key,
                            .title = strdup(key),
                            .plain = title_of(row, ""),
                            .slug = report_slug(key),
                            .operation = row->operation,
                            .op = row->op,
                            .kind = row->kind,
                            .dtype = row->dtype,
                            .flops = bench_op_computes(row->operation, row->kind)};
    return group->title && group->plain && group->slug ? model->group_count - 1 : -1;
}

const char *report_model_unit(const report_group *group)
{
    return group->flops ? "GFLOP/s" : "GB/s";
}

/* ---- rows ------------------------------------------------------------------------------------ */

static char *problem_of(const json_t *json)
{
    static const char *const keys[] = {"op",     "kind", "dtype", "shape",
                                       "layout", "math", "fill",  "cache"};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *value = json_object_get(json, keys[i]);
        if (value) {
            json_object_set(object, keys[i], value);
        }
    }
    char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    return text;
}

bool report_row_flag(const report_row *row, const char *flag)
{
    size_t at;
    json_t *value;
    json_array_foreach(json_object_get(row->json, "flags"), at, value)
    {
        if (json_is_string(value) && strcmp(json_string_value(value), flag) == 0) {
            return true;
        }
    }
    return false;
}

static void fill_numbers(report_row *row, const report_group *group)
{
    const json_t *times = json_object_get(row->json, "times");
    const json_t *rates = json_object_get(row->json, "rates");
    const json_t *rate = json_object_get(rates, group->flops ? "gflops" : "gbps");
    row->time = record_number(times, "median");
    row->low = record_number(times, "low");
    row->high = record_number(times, "high");
    row->rate = record_number(rate, "value");
    row->rate_low = record_number(rate, "low");
    row->rate_high = record_number(rate, "high");
    row->percent = record_number(json_object_get(row->json, "roof"), "percent");
    row->ok = strcmp(row->status, "ok") == 0 && row->time > 0.0;
}

static bool add_row(report_model *model, int file, const json_t *json)
{
    report_row *row = &model->rows[model->row_count];
    *row = (report_row){.json = json,
                        .file = file,
                        .operation = bench_op_of(record_text(json, "op")),
                        .op = record_text(json, "op"),
                        .kind = record_text(json, "kind"),
                        .variant = record_text(json, "variant"),
                        .dtype = record_text(json, "dtype"),
                        .library = record_text(json, "library"),
                        .status = record_text(json, "status"),
                        .size = record_number(json, "size")};
    row->vendor = strcmp(row->variant, "vendor") == 0;
    row->problem = problem_of(json);
    row->device = find_device(model, file, record_text(json, "device"));
    row->group = add_group(model, row);
    model->row_count++;
    if (!row->problem || row->device < 0 || row->group < 0) {
        return false;
    }
    row->fake = model->devices[row->device].fake || report_row_flag(row, "fake");
    fill_numbers(row, &model->groups[row->group]);
    model->ok += row->ok;
    return true;
}

/* Groups in the order of operations, else as they came. */
static bool sort_groups(report_model *model)
{
    report_group *sorted = malloc(sizeof *sorted * (size_t)(model->group_count + 1));
    int *place = malloc(sizeof *place * (size_t)(model->group_count + 1));
    int count = 0;
    for (int op = 0; sorted && place && op <= BENCH_OPS; op++) {
        for (int i = 0; i < model->group_count; i++) {
            if (bench_op_rank(model->groups[i].operation) == op) {
                sorted[count] = model->groups[i];
                place[i] = count++;
            }
        }
    }
    bool good = sorted && place;
    for (int i = 0; i < model->row_count && good; i++) {
        model->rows[i].group = place[model->rows[i].group];
    }
    if (good) {
        free(model->groups);
        model->groups = sorted;
    } else {
        free(sorted);
    }
    free(place);
    return good;
}

bool report_model_make(report_model *out, json_t *const *roots, const char *const *names, int count)
{
    *out = (report_model){.roots = roots, .count = count, .complete = true};
    size_t rows = 0, at;
    json_t *value;
    bool good = name_files(out, names);
    for (int i = 0; i < count && good; i++) {
        rows += json_array_size(json_object_get(roots[i], "results"));
        if (json_is_false(json_object_get(json_object_get(roots[i], "run"), "complete"))) {
            out->complete = false;
        }
        json_array_foreach(json_object_get(roots[i], "devices"), at, value)
        {
            good = good && add_device(out, i, record_text(value, "spec"), value) >= 0;
        }
    }
    out->rows = calloc(rows + 1, sizeof *out->rows);
    good = good && out->rows;
    for (int i = 0; i < count && good; i++) {
        json_array_foreach(json_object_get(roots[i], "results"), at, value)
        {
            good = good && add_row(out, i, value);
        }
    }
    good = good && sort_groups(out);
    if (!good) {
        report_model_free(out);
    }
    return good;
}

void report_model_free(report_model *model)
{
    for (int i = 0; i < model->count && model->files; i++) {
        free(model->files[i]);
    }
    for (int i = 0; i < model->device_count; i++) {
        free(model->devices[i].brief);
        free(model->devices[i].label);
    }
    for (int i = 0; i < model->row_count; i++) {
        free(model->rows[i].problem);
    }
    for (int i = 0; i < model->group_count; i++) {
        free(model->groups[i].key);
        free(model->groups[i].title);
        free(model->groups[i].plain);
        free(model->groups[i].slug);
    }
    free(model->files);
    free(model->devices);
    free(model->rows);
    free(model->groups);
    *model = (report_model){0};
}

/* ---- choosing -------------------------------------------------------------------------------- */

static bool fits(const report_row *row, report_who who)
{
    return row->ok && (who == REPORT_ANY || (who == REPORT_VENDOR) == row->vendor);
}

const report_row *report_model_best(const report_model *model, const char *problem, int device,
                                    report_who who)
{
    const report_row *best = NULL;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        if (row->device == device && fits(row, who) && strcmp(row->problem, problem) == 0 &&
            (!best || row->time < best->time)) {
            best = row;
        }
    }
    return best;
}

const report_row *report_model_common(const report_model *model, int group, report_who who)
{
    const report_row *chosen = NULL;
    int most = 0;
    for (int i = 0; i < model->row_count; i++) {
        const report_row *row = &model->rows[i];
        int solved = 0;
        if (row->group != group || !fits(row, who)) {
            continue;
        }
        for (int device = 0; device < model->device_count; device++) {
            solved += report_model_best(model, row->problem, device, who) != NULL;
        }
        if (!chosen || solved > most || (solved == most && row->size > chosen->size)) {
            chosen = row;
            most = solved;
        }
    }
    return chosen;
}
