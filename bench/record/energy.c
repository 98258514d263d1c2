/* SPDX-License-Identifier: Apache-2.0 */
/* energy.c - the energy of cases as texts, and their table on the terminal. */
#include "bench/record/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void show_joules(char *text, size_t room, double value)
{
    static const char *const units[] = {"J", "mJ", "uJ", "nJ"};
    char number[32];
    int unit = 0;
    for (; value < 1 && unit < 3; unit++) {
        value *= 1e3;
    }
    snprintf(text, room, "%s %s", record_rate(number, sizeof number, value), units[unit]);
}

static void add_row(const view_block *block, int row, int column, view_energy *out)
{
    const json_t *result = view_cell(block, row, column);
    const view_row *r = &block->rows[row];
    const view_column *c = &block->columns[column];
    double value = record_number(result, "energy.joules");
    char number[32];
    if (!(value > 0)) {
        return;
    }
    out->rows = record_grow(out->rows, out->count, sizeof *out->rows);
    view_energy_row *to = &out->rows[out->count++];
    to->device = c->device;
    to->name = record_format("%s %s %s %s%s%s", r->kind[0] ? r->kind : bench_op_of(block->op)->name,
                             c->variant, r->type, r->size, r->note[0] ? " " : "", r->note);
    snprintf(to->watts, sizeof to->watts, "%.0f", record_number(result, "energy.watts"));
    show_joules(to->joules, sizeof to->joules, value);
    const char *path = block->flops ? "energy.gflop_per_joule" : "energy.gb_per_joule";
    snprintf(to->rate, sizeof to->rate, "%s %s",
             record_rate(number, sizeof number, record_number(result, path)),
             block->flops ? "GFLOP/J" : "GB/J");
}

void view_energies(const view *v, view_energy *out)
{
    json_t *device;
    size_t i;
    *out = (view_energy){.rest = record_format("%s", "")};
    for (int b = 0; b < v->count; b++) {
        const view_block *block = &v->blocks[b];
        for (int r = 0; r < block->row_count; r++) {
            for (int c = 0; c < block->column_count; c++) {
                add_row(block, r, c, out);
            }
        }
    }
    json_array_foreach(json_object_get(v->root, "devices"), i, device)
    {
        double watts = record_number(device, "idle.watts");
        char *before = out->rest;
        if (json_is_object(json_object_get(device, "idle"))) {
            char number[32] = "";
            snprintf(number, sizeof number, "%.0f W at rest", watts);
            out->rest = record_format(
                "%s%s%s: %s", before, before[0] ? "; " : "", record_text(device, "spec"),
                isfinite(watts) ? number : record_text(device, "idle.reason"));
            free(before);
        }
    }
}

void view_energies_free(view_energy *energy)
{
    for (int i = 0; i < energy->count; i++) {
        free(energy->rows[i].name);
    }
    free(energy->rows);
    free(energy->rest);
}

/* Writes a text that begins where the last column ended, and goes on to the column `end`. */
static void put_until(paint *p, paint_style style, const char *text, int end)
{
    paint_fit(p, style, text, end - p->column - 1);
    paint_pad(p, end - p->column);
}

static void put_row(paint *p, paint_style style, int width, const char *const cells[5])
{
    enum { DEVICE = 13, WATTS = 7, JOULES = 11, RATE = 15 };
    paint_pad(p, 1);
    put_until(p, style, cells[0], DEVICE);
    put_until(p, style, cells[1], DEVICE + width);
    paint_right(p, style, cells[2], WATTS);
    paint_right(p, style, cells[3], JOULES);
    paint_right(p, style, cells[4], RATE);
    paint_end(p);
}

void table_energy(table *t)
{
    enum { CASE_LEAST = 12, OTHERS = 46 };
    paint *p = &t->p;
    view_energy energy;
    int width = CASE_LEAST;
    view_energies(&t->v, &energy);
    if (energy.rest[0] == '\0') {
        view_energies_free(&energy);
        return;
    }
    paint_end(p);
    paint_put(p, PAINT_BOLD, "Energy");
    paint_end(p);
    for (int i = 0; i < energy.count; i++) {
        int columns = paint_columns(energy.rows[i].name) + 1;
        width = columns > width ? columns : width;
    }
    if (width > p->width - OTHERS) {
        width = p->width - OTHERS > CASE_LEAST ? p->width - OTHERS : CASE_LEAST;
    }
    if (energy.count > 0) {
        put_row(p, PAINT_DIM, width,
                (const char *const[]){"device", "case", "W", "a call", "work"});
    }
    for (int i = 0; i < energy.count; i++) {
        const view_energy_row *r = &energy.rows[i];
        put_row(p, PAINT_PLAIN, width,
                (const char *const[]){r->device, r->name, r->watts, r->joules, r->rate});
    }
    paint_pad(p, 1);
    paint_wrap(p, PAINT_DIM, 3, energy.rest);
    paint_end(p);
    view_energies_free(&energy);
}
