/* SPDX-License-Identifier: Apache-2.0 */
/* comm_figures.c - curves of communicators: bandwidth against size, products against ranks. */
#include "bench/report/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const json_t *entry, const char *member, const char *text)
{
    return strcmp(record_text(entry, member), text) == 0;
}

static bool in_place(const json_t *entry)
{
    return json_is_true(json_object_get(entry, "in_place"));
}

char *report_comm_name(const report_model *model, int file, const json_t *head)
{
    const bool product = record_comm_is_product(head);
    char *name = product ? record_format("comm-gemm")
                         : record_format("comm-%s-%s-%.0f", record_text(head, "op"),
                                         record_text(head, "dtype"), record_number(head, "ranks"));
    if (model->count > 1) {
        char *with = record_format("%s-%d", name, file + 1);
        free(name);
        name = with;
    }
    return name;
}

/* The first device of a file, whose colour the curves have; -1: there is none. */
static int device_of(const report_model *model, int file)
{
    for (int i = 0; i < model->device_count; i++) {
        if (model->devices[i].file == file) {
            return i;
        }
    }
    return -1;
}

static chart_look look_of(const json_t *entry)
{
    return !is(entry, "by", "isomer")       ? LOOK_DIAMOND
           : is(entry, "variant", "vendor") ? LOOK_VENDOR
           : is(entry, "variant", "fixed")  ? LOOK_OTHER
                                            : LOOK_OWN;
}

static chart_series *series_of(chart_panel *panel, const report_model *model, int file,
                               const json_t *entry)
{
    const char *variant = record_text(entry, "variant"), *by = record_text(entry, "by");
    const bool ours = strcmp(by, "isomer") == 0;
    const char *name = !ours ? by : variant[0] ? variant : record_text(entry, "op");
    return chart_series_of(panel, device_of(model, file), look_of(entry), name);
}

static chart_panel *panel_of(chart *data, const char *dtype, const char *more)
{
    char *title = record_format("%s, %s", dtype, more);
    for (int i = 0; i < data->count; i++) {
        if (strcmp(data->panels[i].title, title) == 0) {
            free(title);
            return &data->panels[i];
        }
    }
    return chart_panel_add(data, CHART_CURVES, title);
}

/* ---- bandwidth ------------------------------------------------------------------------------- */

/* Whether an entry belongs to the curves of `head`: not another pair of ranks. */
static bool is_of(const json_t *head, const json_t *entry)
{
    const double from = record_number(entry, "from"), to = record_number(entry, "to");
    return is(entry, "op", record_text(head, "op")) &&
           is(entry, "dtype", record_text(head, "dtype")) &&
           record_number(entry, "ranks") == record_number(head, "ranks") &&
           !(from > 0 || (from == 0 && to > 1)) && record_comm_ok(entry) &&
           record_number(entry, "busbw") > 0;
}

static void add_rates(figure_list *list, const report_model *model, int file, const json_t *entries,
                      const json_t *head)
{
    enum { FEWEST = 3 };
    size_t at;
    const json_t *entry;
    int points = 0;
    json_array_foreach(entries, at, entry)
    {
        points += is_of(head, entry) && is(entry, "by", "isomer") && !in_place(entry);
    }
    if (points < FEWEST) {
        return;
    }
    char *title = record_comm_title(head);
    figure *shown = chart_figure(list, model, report_comm_name(model, file, head), NULL,
                                 record_format("%s: bus bandwidth against size", title));
    shown->data->x = (chart_axis){.unit = CHART_BYTES, .label = "bytes"};
    shown->data->y = (chart_axis){.unit = CHART_MOVED, .label = "bus bandwidth"};
    shown->caption =
        record_format("Both axes are logarithmic. Bus bandwidth is what one rank must send in the "
                      "time of a call, as nccl-tests define it.");
    shown->alt = record_format("Curves of bus bandwidth against size for %s.", title);
    json_array_foreach(entries, at, entry)
    {
        if (is_of(head, entry)) {
            const char *how = in_place(entry) ? "in place" : "from one array to another";
            chart_panel *panel = panel_of(shown->data, record_text(head, "dtype"), how);
            chart_point_add(series_of(panel, model, file, entry),
                            (chart_point){record_number(entry, "bytes"),
                                          1e9 * record_number(entry, "busbw"), NAN, NAN});
        }
    }
    free(title);
}

/* ---- products -------------------------------------------------------------------------------- */

static const char *scaling_of(const json_t *entry)
{
    return is(entry, "scaling", "weak") ? "weak scaling" : "strong scaling";
}

static void add_point(chart_panel *panel, const report_model *model, int file, const json_t *entry)
{
    chart_point_add(series_of(panel, model, file, entry),
                    (chart_point){record_number(entry, "ranks"),
                                  1e9 * record_number(entry, "gflops"), NAN, NAN});
}

/* A product on one rank begins the curves of strong and of weak scaling. */
static void add_products(figure_list *list, const report_model *model, int file,
                         const json_t *entries)
{
    figure *shown = NULL;
    size_t at;
    const json_t *entry;
    bool weak = false;
    json_array_foreach(entries, at, entry)
    {
        weak = weak || (is(entry, "scaling", "weak") && record_comm_ok(entry));
    }
    json_array_foreach(entries, at, entry)
    {
        if (!record_comm_is_product(entry) || !(record_number(entry, "gflops") > 0)) {
            continue;
        }
        if (!shown) {
            shown = chart_figure(list, model, report_comm_name(model, file, entry), NULL,
                                 record_format("Products over ranks: FLOP/s of all ranks"));
            shown->data->x = (chart_axis){.unit = CHART_COUNT, .label = "ranks"};
            shown->data->y = (chart_axis){.unit = CHART_FLOPS, .label = "FLOP/s"};
            shown->caption = record_format(
                "Both axes are logarithmic. Strong scaling: one size on more and more ranks. Weak "
                "scaling: as many elements for each rank.");
            shown->alt = record_format("Curves of FLOP/s against the number of ranks.");
        }
        const char *dtype = record_text(entry, "dtype");
        add_point(panel_of(shown->data, dtype, scaling_of(entry)), model, file, entry);
        if (weak && record_number(entry, "ranks") == 1) {
            add_point(panel_of(shown->data, dtype, "weak scaling"), model, file, entry);
        }
    }
}

void figure_comm(figure_list *list, const report_model *model)
{
    for (int file = 0; file < model->count; file++) {
        const json_t *entries = json_object_get(model->roots[file], "comm");
        for (const json_t *head = NULL; (head = record_comm_next(entries, head));) {
            if (!record_comm_is_product(head) && !is(head, "op", "barrier") &&
                !is(head, "op", "copy")) {
                add_rates(list, model, file, entries, head);
            }
        }
        add_products(list, model, file, entries);
    }
}
