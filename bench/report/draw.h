/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - shared by the files that lay out figures. */
#ifndef ISOMER_REPORT_DRAW_H
#define ISOMER_REPORT_DRAW_H

#include "bench/report/chart.h"

typedef struct chart_dress {
    int dash, mark;  /* -1: none */
    scene_role role; /* of the mark */
} chart_dress;

extern const chart_dress chart_looks[LOOKS];

/* Cuts a text to a width, with an ellipsis. */
void draw_fitting(char *text, size_t room, const scene *drawing, scene_role role, const char *full,
                  double width);
void draw_mark(scene *drawing, chart_look look, int device, double x, double y);

/* Draw below `y` and return where they end: all panels of curves in a grid; one panel of rows. */
double draw_curves(scene *drawing, const chart *data, double y);
double draw_rows(scene *drawing, const chart *data, const chart_panel *panel, double y);

#endif
