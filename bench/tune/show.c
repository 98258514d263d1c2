/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - prints a table of measured choices for people. */
#include "bench/tune/tune.h"

#include <string.h>

/* The fastest variant that has the usual accuracy. */
static const char *fastest(const tuned_row *row)
{
    int best = -1;
    for (int v = 0; v < TUNED_FIXED; v++) {
        if (row->times[v] > 0 && (best < 0 || row->times[v] < row->times[best])) {
            best = v;
        }
    }
    return best < 0 ? "-" : iso_variant_name(tuned_variants[best]);
}

static void show_row(FILE *out, const tuned_row *row)
{
    char text[160];
    tune_shape_text(&row->shape, text, sizeof text);
    fprintf(out, "%-32s", text);
    for (int v = 0; v < TUNED_VARIANTS; v++) {
        if (row->times[v] > 0) {
            fprintf(out, " %11.2f", (double)row->times[v] / 1e3);
        } else {
            fprintf(out, " %11s", row->times[v] == TUNED_WRONG ? "wrong" : "-");
        }
    }
    fprintf(out, "  %-7s %s\n", fastest(row), row->way[0] != '\0' ? row->way : "-");
}

void tune_show(FILE *out, const tune_device *device, const tuned_table *table, bool packaged)
{
    fprintf(out, "%s: %s\n", device->info.spec, device->info.name);
    fprintf(out, "%s: %d shape%s; vendor's library: %s\n", device->path, (int)table->count,
            table->count == 1 ? "" : "s", table->library[0] != '\0' ? table->library : "none");
    if (packaged) {
        fprintf(out, "It came with the library.");
        if (strcmp(table->versions, device->versions) != 0) {
            fprintf(out,
                    " It was measured with another driver or compiler:\n"
                    "    there: %s\n    here:  %s",
                    table->versions, device->versions);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "The library uses it. Every result that has a time here was checked.\n\n");
    fprintf(out, "%-32s %11s %11s %11s %11s  %-7s %s\n", "microseconds of a call", "vendor",
            "tiled", "naive", "fixed", "fastest", "way of tiled");
    for (int32_t i = 0; i < table->count; i++) {
        show_row(out, &table->rows[i]);
    }
}

void tune_show_cover(FILE *out, const tuned_table *table, const tune_grid *grid)
{
    for (int32_t i = 0; i < grid->count; i++) {
        char shape[160], covers[160];
        const tuned_row *row = tuned_find(table, &grid->shapes[i]);
        tune_shape_text(&grid->shapes[i], shape, sizeof shape);
        if (!row) {
            fprintf(out, "%s: no row covers it\n", shape);
            continue;
        }
        tune_shape_text(&row->shape, covers, sizeof covers);
        fprintf(out, "%s: covered by %s; fastest: %s; way of tiled: %s\n", shape, covers,
                fastest(row), row->way[0] != '\0' ? row->way : "-");
    }
}
