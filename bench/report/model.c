/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the documents as flat tables of devices, rows and groups of rows. */
#include "bench/report/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files and devices ----------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(path, "-") == 0 ? "standard input" : slash ? slash + 1 : path;
}

/* The file's name without folders and ".json", plus a number if an earlier file has that name. */
static char *file_name(const char *const *names, int file)
{
    const char *base = base_of(names[file]);
    int length = (int)strlen(base), same = 1;
    if (length > 5 && strcmp(base + length - 5, ".json") == 0) {
        length -= 5;
    }
    for (int i = 0; i < file; i++) {
        same += strcmp(base, base_of(names[i])) == 0;
    }
    return same > 1 ? record_format("%.*s (%d)", length, base, same)
                    : record_format("%.*s", length, base);
}

static int add_device(report_model *model, int file, const char *spec, const json_t *json)
{
    model->devices = record_grow(model->devices, model->device_count, sizeof *model->devices);
    report_device *device = &model->devices[model->device_count];
    *device = (report_device){.json = json,
                              .file = file,
                              .spec = spec,
                              .name = record_text(json, "name"),
                              .backend = record_text(json, "backend"),
                              .colour = model->device_count % REPORT_COLOURS,
                              .tier = &tool_tiers[record_tier(json)]};
    bool several = model->count > 1;
    device->brief =
        record_format("%s%s%s", several ? model->files[file] : "", several ? ": " : "", spec);
    char *name = report_short_name(device->name);
    device->label = record_format("%s%s%s", device->brief, name[0] != '\0' ? " " : "", name);
    free(name);
    return model->device_count++;
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

/* The ratio of the sizes of a shape, such as "1:4:1", and its batch. Shapes with different ratios
 * are not drawn as one line. */
static char *form_of(const json_t *shape)
{
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    double k = record_number(shape, "k"), batch = record_number(shape, "batch");
    double rows = record_number(shape, "rows"), cols = record_number(shape, "cols");
    if (m > 0.0 && n > 0.0 && k > 0.0) {
        double unit = divisor(divisor(m, n), k);
        char many[32] = "";
        if (batch > 1.0) {
            snprintf(many, sizeof many, "%.0f times", batch);
        }
        return m == n && n == k ? record_format("%s", many)
                                : record_format("%.0f:%.0f:%.0f%s%s", m / unit, n / unit, k / unit,
                                                batch > 1.0 ? ", " : "", many);
    }
    if (rows > 1.0 && cols > 0.0 && rows != cols) {
        double unit = divisor(rows, cols);
        return record_format("%.0f:%.0f", rows / unit, cols / unit);
    }
    return record_format("%s", "");
}

static char *title_of(const report_row *row, const char *form)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = record_need(open_memstream(&text, &length));
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
    return record_need(fclose(out) == 0 ? text : NULL);
}

/* The number of a text, given in the order in which texts are first seen. `seen` maps them. */
static int number_of(json_t *seen, const char *text)
{
    const json_t *known = json_object_get(seen, text);
    int number = known ? (int)json_integer_value(known) : (int)json_object_size(seen);
    if (!known && json_object_set_new(seen, text, json_integer(number)) != 0) {
        record_need(NULL);
    }
    return number;
}

/* Whether a result is rated in FLOP/s. Of another program's it is, if that is its only rate. */
static bool computes(const report_row *row)
{
    return record_computes(row->json) ||
           (!(record_number(record_at(row->json, "rates.gbps"), "value") > 0.0) &&
            record_number(record_at(row->json, "rates.gflops"), "value") > 0.0);
}

static int find_group(report_model *model, json_t *seen, const report_row *row)
{
    char *form = form_of(json_object_get(row->json, "shape")), *title = title_of(row, form);
    int group = number_of(seen, title);
    free(form);
    if (group < model->group_count) {
        free(title);
        return group;
    }
    bool flops = computes(row);
    model->groups = record_grow(model->groups, group, sizeof *model->groups);
    model->groups[group] = (report_group){.title = title,
                                          .operation = row->operation,
                                          .op = row->op,
                                          .kind = row->kind,
                                          .dtype = row->dtype,
                                          .unit = flops ? "GFLOP/s" : "GB/s",
                                          .flops = flops};
    model->group_count++;
    return group;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static report_span span_of(const json_t *object, const char *middle)
{
    return (report_span){record_number(object, middle), record_number(object, "low"),
                         record_number(object, "high")};
}

static void add_row(report_model *model, json_t *problems, int file, const json_t *json)
{
    char *problem = record_case(json);
    report_row *row = &model->rows[model->row_count++];
    *row = (report_row){.json = json,
                        .operation = bench_op_of(record_text(json, "op")),
                        .op = record_text(json, "op"),
                        .kind = record_text(json, "kind"),
                        .variant = record_text(json, "variant"),
                        .dtype = record_text(json, "dtype"),
                        .library = record_text(json, "library"),
                        .status = record_text(json, "status"),
                        .problem = number_of(problems, problem),
                        .shape = report_shape(json),
                        .size = record_number(json, "size"),
                        .time = span_of(json_object_get(json, "times"), "median"),
                        .percent = record_percent(json)};
    free(problem);
    row->rate = span_of(record_at(json, computes(row) ? "rates.gflops" : "rates.gbps"), "value");
    row->vendor = strcmp(row->variant, "vendor") == 0;
    row->device = find_device(model, file, record_text(json, "device"));
    row->ok = strcmp(row->status, bench_status_name(BENCH_OK)) == 0 && row->time.value > 0.0;
    row->counts = row->ok && record_level_of(json) < RECORD_INVALID;
    row->sign = record_sign(&model->signs[file], json);
    model->ok += row->ok;
}

/* Orders rows by group; those of one group keep the order of the results. */
static int compare_rows(const void *a, const void *b)
{
    const report_row *x = a, *y = b;
    return x->group != y->group ? x->group - y->group : x->place - y->place;
}

/* Groups follow the order of operations; those of one operation, that of the results. */
static void sort_rows(report_model *model)
{
    json_t *seen = record_need(json_object());
    for (int rank = 0; rank <= BENCH_OPS; rank++) {
        for (int i = 0; i < model->row_count; i++) {
            if (bench_op_rank(model->rows[i].operation) == rank) {
                model->rows[i].place = i;
                model->rows[i].group = find_group(model, seen, &model->rows[i]);
            }
        }
    }
    json_decref(seen);
    qsort(model->rows, (size_t)model->row_count, sizeof *model->rows, compare_rows);
    for (int i = 0; i < model->row_count; i++) {
        report_group *group = &model->groups[model->rows[i].group];
        group->first = group->count == 0 ? i : group->first;
        group->count++;
    }
}

/* The place in `best` for a problem on a device. */
static int *best_of(const report_model *model, int problem, int device, report_who who)
{
    return &model->best[(problem * model->device_count + device) * REPORT_WHOS + (int)who];
}

/* Notes the fastest row of each problem and device. */
static void find_best(report_model *model, int problems)
{
    size_t places = (size_t)problems * (size_t)model->device_count * REPORT_WHOS;
    model->best = record_need(malloc((places + 1) * sizeof *model->best));
    for (size_t i = 0; i < places; i++) {
        model->best[i] = -1;
    }
    for (const report_row *row = NULL; (row = report_next(model, row, -1, -1));) {
        for (int who = 0; who < REPORT_WHOS; who++) {
            int *best = best_of(model, row->problem, row->device, (report_who)who);
            if (row->counts && report_is_by(row, (report_who)who) &&
                (*best < 0 || row->time.value < model->rows[*best].time.value)) {
                *best = (int)(row - model->rows);
            }
        }
    }
}

void report_model_make(report_model *out, json_t *const *roots, const char *const *names, int count)
{
    *out = (report_model){.roots = roots, .count = count};
    size_t rows = 0, at;
    json_t *value, *problems = record_need(json_object());
    out->files = record_need(calloc((size_t)count, sizeof *out->files));
    out->signs = record_need(calloc((size_t)count, sizeof *out->signs));
    for (int i = 0; i < count; i++) {
        out->files[i] = file_name(names, i);
        record_signs_make(roots[i], &out->signs[i]);
        rows += json_array_size(json_object_get(roots[i], "results"));
        json_array_foreach(json_object_get(roots[i], "devices"), at, value)
        {
            add_device(out, i, record_text(value, "spec"), value);
        }
    }
    out->rows = record_need(calloc(rows + 1, sizeof *out->rows));
    for (int i = 0; i < count; i++) {
        json_array_foreach(json_object_get(roots[i], "results"), at, value)
        {
            add_row(out, problems, i, value);
        }
    }
    sort_rows(out);
    find_best(out, (int)json_object_size(problems));
    json_decref(problems);
}

void report_model_free(report_model *model)
{
    for (int i = 0; i < model->count; i++) {
        free(model->files[i]);
        record_signs_free(&model->signs[i]);
    }
    for (int i = 0; i < model->device_count; i++) {
        free(model->devices[i].brief);
        free(model->devices[i].label);
    }
    for (int i = 0; i < model->row_count; i++) {
        free(model->rows[i].shape);
    }
    for (int i = 0; i < model->group_count; i++) {
        free(model->groups[i].title);
    }
    free(model->files);
    free(model->signs);
    free(model->devices);
    free(model->rows);
    free(model->groups);
    free(model->best);
    *model = (report_model){0};
}

/* ---- choosing -------------------------------------------------------------------------------- */

const report_row *report_next(const report_model *model, const report_row *row, int group,
                              int device)
{
    const report_row *first = model->rows, *end = model->rows + model->row_count;
    if (group >= 0) {
        first += model->groups[group].first;
        end = first + model->groups[group].count;
    }
    for (row = row ? row + 1 : first; row < end; row++) {
        if (row->ok && (device < 0 || row->device == device)) {
            return row;
        }
    }
    return NULL;
}

bool report_is_by(const report_row *row, report_who who)
{
    return who == REPORT_ANY || (who == REPORT_VENDOR) == row->vendor;
}

const report_row *report_model_best(const report_model *model, int problem, int device,
                                    report_who who)
{
    int best = *best_of(model, problem, device, who);
    return best < 0 ? NULL : &model->rows[best];
}

const report_row *report_model_common(const report_model *model, int group, report_who who)
{
    const report_row *chosen = NULL;
    int most = 0;
    for (const report_row *row = NULL; (row = report_next(model, row, group, -1));) {
        int solved = 0;
        if (!report_is_by(row, who)) {
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
