/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - the list of a report's figures, and the files that are made of them. */
#include "bench/report/chart.h"

#include <stdlib.h>
#include <string.h>

figure_list report_figures(const report_model *model)
{
    figure_list list = {0};
    figure_overview(&list, model);
    figure_rates(&list, model);
    for (int i = 0; i < list.count; i++) {
        chart_settle(&list.items[i]);
    }
    return list;
}

const figure *report_figure_of(const figure_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct sized {
    const figure *shown;
    figure_width width;
} sized;

static void put_svg(FILE *out, const void *what)
{
    const sized *it = what;
    scene *drawing = figure_draw(it->shown, it->width);
    scene_svg(out, drawing, "alone", it->shown->title, it->shown->alt, true);
    scene_free(drawing);
}

static void put_csv(FILE *out, const void *what)
{
    report_figure_csv(out, what);
}

/* Saves under NAME plus an ending, which is freed. */
static bool save(const char *folder, char *name, void (*write)(FILE *out, const void *what),
                 const void *what)
{
    bool saved = report_save(folder, name, write, what);
    free(name);
    return saved;
}

bool report_figures_save(const figure_list *list, const char *folder)
{
    static const char *const endings[] = {
        [FIGURE_ONE_COLUMN] = "1col", [FIGURE_TWO_COLUMNS] = "2col"};
    bool saved = true;
    for (int i = 0; i < list->count; i++) {
        for (int width = FIGURE_ONE_COLUMN; width <= FIGURE_TWO_COLUMNS; width++) {
            const sized it = {&list->items[i], (figure_width)width};
            saved = save(folder, record_format("%s-%s.svg", it.shown->name, endings[width]),
                         put_svg, &it) &&
                    saved;
        }
    }
    return saved;
}

bool report_figures_data(const figure_list *list, const char *folder)
{
    bool saved = true;
    for (int i = 0; i < list->count; i++) {
        const figure *shown = &list->items[i];
        saved = save(folder, record_format("%s.csv", shown->name), put_csv, shown) && saved;
    }
    return saved;
}
