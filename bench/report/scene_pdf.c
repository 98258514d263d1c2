/* SPDX-License-Identifier: Apache-2.0 */
/* scene_pdf.c - writes a drawing as PDF with the cairo library, if it is installed. */
#include "bench/report/internal.h"
#include "bench/report/scene.h"

#include "bench/report/cairo.h"

#include <dlfcn.h>
#include <string.h>

#define MEMBER(result, name, parameters) result(*name) parameters;
static struct cairo_functions {
    REPORT_CAIRO_SYMBOLS(MEMBER, MEMBER)
} library;
#undef MEMBER

const char *scene_pdf_missing(void)
{
    static const char file[] = "libcairo.so.2";
    static char why[256];
    static const struct {
        const char *name;
        bool required;
    } functions[] = {
#define REQUIRED(result, name, parameters) {#name, true},
#define OPTIONAL(result, name, parameters) {#name, false},
        REPORT_CAIRO_SYMBOLS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
    };
    if (library.cairo_create) {
        return NULL;
    }
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(why, sizeof why, "%s", text ? text : file);
        return why;
    }
    struct cairo_functions found;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (!address && functions[i].required) {
            snprintf(why, sizeof why, "%s has no function %s", file, functions[i].name);
            dlclose(handle);
            return why;
        }
        memcpy((char *)&found + i * sizeof address, &address, sizeof address);
    }
    library = found;
    return NULL;
}

static cairo_status_t put_bytes(void *closure, const unsigned char *data, unsigned length)
{
    return fwrite(data, 1, length, closure) == length ? REPORT_CAIRO_DONE
                                                      : REPORT_CAIRO_WRITE_ERROR;
}

/* False: nothing is painted. */
static bool set_paint(cairo_t *to, scene_paint paint, const scene_item *item)
{
    const char *colour = scene_colour(paint, item->device);
    double opacity = scene_styles[item->role].opacity;
    unsigned rgb = 0;
    if (!colour) {
        return false;
    }
    for (int i = 1; i <= 6; i++) {
        rgb = rgb * 16 + (unsigned)(strchr("0123456789abcdef", colour[i]) - "0123456789abcdef");
    }
    library.cairo_set_source_rgba(to, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0,
                                  (rgb & 255) / 255.0, opacity > 0.0 ? opacity : 1.0);
    return true;
}

static void put_text(cairo_t *to, const scene *drawing, const scene_item *item)
{
    const scene_style *style = &scene_styles[item->role];
    cairo_text_extents_t extents;
    set_paint(to, style->fill, item);
    library.cairo_select_font_face(to, "sans-serif", REPORT_CAIRO_UPRIGHT,
                                   style->bold ? REPORT_CAIRO_BOLD : REPORT_CAIRO_NORMAL);
    library.cairo_set_font_size(to, style->size * drawing->text);
    library.cairo_text_extents(to, item->text, &extents);
    library.cairo_save(to);
    library.cairo_translate(to, item->points[0].x, item->points[0].y);
    if (item->upward) {
        library.cairo_rotate(to, -1.5707963267948966);
    }
    library.cairo_move_to(to, -extents.x_advance * (double)item->anchor / 2, 0.0);
    library.cairo_show_text(to, item->text);
    library.cairo_restore(to);
}

static void outline_mark(cairo_t *to, const scene *drawing, const scene_item *item, scene_point at)
{
    const scene_point *corners;
    double radius = scene_mark_radius(drawing, item->role);
    int count = scene_mark_outline((scene_mark)item->look, &corners);
    library.cairo_new_sub_path(to);
    if (count == 0) {
        library.cairo_arc(to, at.x, at.y, radius, 0.0, 6.283185307179586);
    }
    for (int i = 0; i < count; i++) {
        library.cairo_line_to(to, at.x + corners[i].x * radius, at.y + corners[i].y * radius);
    }
    library.cairo_close_path(to);
}

static void outline(cairo_t *to, const scene *drawing, const scene_item *item)
{
    for (int i = 0; i < item->count; i++) {
        scene_point at = item->points[i];
        bool second = item->form == SCENE_LINE ? i > 0 : i % 2 > 0;
        if (item->form == SCENE_MARKS) {
            outline_mark(to, drawing, item, at);
        } else if (item->form == SCENE_RECTS && second) {
            scene_point from = item->points[i - 1];
            library.cairo_rectangle(to, from.x, from.y, at.x - from.x, at.y - from.y);
        } else if (item->form != SCENE_RECTS) {
            (second ? library.cairo_line_to : library.cairo_move_to)(to, at.x, at.y);
        }
    }
}

static void put_shape(cairo_t *to, const scene *drawing, const scene_item *item)
{
    const scene_style *style = &scene_styles[item->role];
    double unit = drawing->text / 12.0, dashes[6];
    int count = 0;
    const double *dash = item->form == SCENE_MARKS ? scene_dashes[0] : scene_dashes[item->look];
    for (; dash[count] > 0.0; count++) {
        dashes[count] = dash[count] * unit * scene_styles[SCENE_CURVE].width;
    }
    library.cairo_set_dash(to, dashes, count, 0.0);
    library.cairo_set_line_width(to, style->width * unit);
    library.cairo_set_line_join(to, REPORT_CAIRO_ROUND);
    library.cairo_set_line_cap(to, REPORT_CAIRO_BUTT);
    outline(to, drawing, item);
    if (set_paint(to, style->fill, item)) {
        (style->stroke != PAINT_NONE ? library.cairo_fill_preserve : library.cairo_fill)(to);
    }
    if (set_paint(to, style->stroke, item)) {
        library.cairo_stroke(to);
    }
}

bool scene_pdf(FILE *out, const scene *drawing, const char *title)
{
    cairo_surface_t *surface = library.cairo_pdf_surface_create_for_stream(
        put_bytes, out, drawing->width, drawing->height);
    cairo_t *to = library.cairo_create(surface);
    if (library.cairo_pdf_surface_set_metadata) {
        library.cairo_pdf_surface_set_metadata(surface, REPORT_CAIRO_PDF_TITLE, title);
    }
    for (int i = 0; i < drawing->count; i++) {
        if (drawing->items[i].form == SCENE_TEXT) {
            put_text(to, drawing, &drawing->items[i]);
        } else if (drawing->items[i].count > 0) {
            put_shape(to, drawing, &drawing->items[i]);
        }
    }
    bool good = library.cairo_status(to) == REPORT_CAIRO_DONE;
    library.cairo_destroy(to);
    library.cairo_surface_finish(surface);
    good = good && library.cairo_surface_status(surface) == REPORT_CAIRO_DONE;
    library.cairo_surface_destroy(surface);
    return good;
}
