/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - the list of a report's figures, and the files that are made of them. */
#include "bench/report/comm.h"
#include "bench/report/labs.h"

#include <stdlib.h>
#include <string.h>

figure_list report_figures(const report_model *model)
{
    figure_list list = {0};
    figure_overview(&list, model);
    figure_rates(&list, model);
    figure_rooflines(&list, model);
    figure_split(&list, model);
    figure_energy(&list, model);
    figure_errors(&list, model);
    figure_labs(&list, model);
    figure_comm(&list, model);
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
    bool *failed;
} sized;

static void put_svg(FILE *out, const void *what)
{
    const sized *it = what;
    scene *drawing = figure_draw(it->shown, it->width);
    scene_svg(out, drawing, "alone", it->shown->title, it->shown->alt, true);
    scene_free(drawing);
}

static void put_pdf(FILE *out, const void *what)
{
    const sized *it = what;
    scene *drawing = figure_draw(it->shown, it->width);
    *it->failed = !scene_pdf(out, drawing, it->shown->title) || *it->failed;
    scene_free(drawing);
}

static void put_csv(FILE *out, const void *what)
{
    report_figure_csv(out, what);
}

/* Writes a file into a folder, whole or not at all, and frees its name. False: it failed, and said
 * why. */
static bool save(const char *folder, char *name, void (*write)(FILE *out, const void *what),
                 const void *what)
{
    tool_file file = {0};
    char *path = record_format("%s/%s", folder, name);
    bool good = tool_file_open(&file, path) == TOOL_OK;
    if (good) {
        write(file.stream, what); /* an error of the stream makes the commit fail */
        good = tool_file_commit(&file) == TOOL_OK;
    }
    free(path);
    free(name);
    return good;
}

static bool save_figures(const figure_list *list, const char *folder)
{
    static const char *const endings[] = {
        [FIGURE_ONE_COLUMN] = "1col", [FIGURE_TWO_COLUMNS] = "2col"};
    const char *missing = scene_pdf_missing();
    bool saved = true, failed = false;
    for (int i = 0; i < list->count; i++) {
        for (int width = FIGURE_ONE_COLUMN; width <= FIGURE_TWO_COLUMNS; width++) {
            const sized it = {&list->items[i], (figure_width)width, &failed};
            char *stem = record_format("%s-%s", it.shown->name, endings[width]);
            saved = save(folder, record_format("%s.svg", stem), put_svg, &it) && saved;
            saved = (missing || save(folder, record_format("%s.pdf", stem), put_pdf, &it)) && saved;
            free(stem);
        }
    }
    if (missing) {
        tool_error(TOOL_OK,
                   "the figures are SVG files only: PDF needs the cairo library (apt-get install "
                   "libcairo2): %s",
                   missing);
    }
    if (failed) {
        tool_error(TOOL_IO, "the cairo library could not write every PDF file in %s", folder);
    }
    return saved && !failed;
}

static bool save_data(const figure_list *list, const char *folder)
{
    bool saved = true;
    for (int i = 0; i < list->count; i++) {
        const figure *shown = &list->items[i];
        saved = save(folder, record_format("%s.csv", shown->name), put_csv, shown) && saved;
    }
    return saved;
}

int report_figure_files(const figure_list *list, const char *figures, const char *data)
{
    bool saved = !figures || save_figures(list, figures);
    saved = (!data || save_data(list, data)) && saved;
    return saved ? TOOL_OK : TOOL_IO;
}
