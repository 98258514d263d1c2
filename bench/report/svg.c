/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - turns gnuplot's SVG into one for the page: only known elements and attributes are kept,
 * gnuplot's colours become those of the page (light or dark), and each point gets its tip. */
#include "bench/report/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, VALUE = 64 };

typedef struct svg_state {
    FILE *out;
    const report_figure *figure;
    char *open[DEPTH]; /* tags of groups: written before their first content */
    bool written[DEPTH];
    int depth;
    int series, point; /* of the next point; series -1: none */
    bool in_text;
} svg_state;

/* ---- attributes ------------------------------------------------------------------------------ */

/* Reads the attribute at *at and moves *at past it. False at the end of the tag. */
static bool next_attribute(const char **at, const char *end, char *name, const char **value,
                           size_t *length)
{
    const char *from = *at;
    size_t to = 0;
    while (from < end && (isspace((unsigned char)*from) || *from == '/')) {
        from++;
    }
    while (from < end && *from != '=' && !isspace((unsigned char)*from) && to < VALUE - 1) {
        name[to++] = *from++;
    }
    name[to] = '\0';
    while (from < end && (isspace((unsigned char)*from) || *from == '=')) {
        from++;
    }
    if (to == 0 || from >= end || (*from != '"' && *from != '\'')) {
        return false;
    }
    const char *close = memchr(from + 1, *from, (size_t)(end - from - 1));
    if (!close) {
        return false;
    }
    *value = from + 1;
    *length = (size_t)(close - from - 1);
    *at = close + 1;
    return true;
}

static bool attribute(const char *tag, const char *end, const char *wanted, char *out)
{
    char name[VALUE];
    const char *value;
    size_t length;
    while (next_attribute(&tag, end, name, &value, &length)) {
        if (strcmp(name, wanted) == 0) {
            snprintf(out, VALUE, "%.*s", (int)(length < VALUE ? length : VALUE - 1), value);
            return true;
        }
    }
    return false;
}

/* The page's colour that replaces one of gnuplot's; NULL: keep gnuplot's. */
static const char *colour_of(const char *value, char *room)
{
    unsigned red, green, blue;
    if (strcmp(value, "black") == 0 || strcmp(value, "gray") == 0) {
        return "currentColor";
    }
    if (strcmp(value, "white") == 0) {
        return "var(--paper)";
    }
    if (sscanf(value, "rgb( %u , %u , %u )", &red, &green, &blue) != 3) {
        return NULL;
    }
    unsigned rgb = red << 16 | green << 8 | blue;
    if (rgb == 0x808080u) {
        return "var(--grid)";
    }
    for (int i = 0; i < REPORT_COLOURS; i++) {
        if (strtoul(report_colours[i] + 1, NULL, 16) == rgb) {
            snprintf(room, VALUE, "var(--c%d)", i);
            return room;
        }
    }
    return NULL;
}

/* Whether a value holds only characters that paths, numbers, colours and transformations need:
 * any other could end the attribute or control a terminal. */
static bool harmless(const char *value, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)value[i];
        bool space = c == '\n' || c == '\t' || c == '\r';
        if (strchr("<>\"'&", c) || ((c < 0x20 || c > 0x7e) && !space)) {
            return false;
        }
    }
    return true;
}

static void write_attributes(FILE *out, const char *tag, const char *end)
{
    static const char kept[] = " d points transform x y width height fill stroke color cx cy r "
                               "font-size text-anchor stroke-width stroke-dasharray fill-opacity ";
    static const char *const colours[] = {"fill", "stroke", "color", NULL};
    char name[VALUE], word[VALUE + 2], text[VALUE], room[VALUE];
    const char *value;
    size_t length;
    while (next_attribute(&tag, end, name, &value, &length)) {
        if (!harmless(value, length)) {
            continue;
        }
        if (strcmp(name, "xlink:href") == 0 && strncmp(value, "#gp", 3) == 0) {
            fprintf(out, " href=\"%.*s\"", (int)length, value);
            continue;
        }
        snprintf(word, sizeof word, " %s ", name);
        snprintf(text, sizeof text, "%.*s", (int)(length < VALUE ? length : VALUE - 1), value);
        const char *colour = tool_find(colours, name) >= 0 ? colour_of(text, room) : NULL;
        bool usual = strcmp(name, "color") == 0 && colour && strcmp(colour, "currentColor") == 0;
        if (!strstr(kept, word) || usual) {
            continue;
        }
        if (colour) {
            fprintf(out, " %s=\"%s\"", name, colour);
        } else {
            fprintf(out, " %s=\"%.*s\"", name, (int)length, value);
        }
    }
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Finds the series that gnuplot's plot number `plot` shows. */
static void find_series(svg_state *state, int plot)
{
    const report_figure *figure = state->figure;
    state->point = 0;
    for (state->series = 0; state->series < figure->count; state->series++) {
        int plots = report_figure_plots(figure, &figure->series[state->series]);
        if (plot < plots) {
            return;
        }
        plot -= plots;
    }
    state->series = -1;
}

static void open_group(svg_state *state, const char *tag, const char *end)
{
    char id[VALUE], *text = NULL;
    size_t size = 0;
    if (state->depth == DEPTH) {
        return;
    }
    FILE *out = record_need(open_memstream(&text, &size));
    fputs("<g", out);
    if (attribute(tag, end, "id", id) && strncmp(id, "gnuplot_plot_", 13) == 0) {
        find_series(state, atoi(id + 13) - 1);
        fprintf(out, " class=\"plot\" data-s=\"%d\"", state->series);
    }
    write_attributes(out, tag, end);
    fputc('>', out);
    state->open[state->depth] = record_need(fclose(out) == 0 ? text : NULL);
    state->written[state->depth++] = false;
}

static void flush_groups(svg_state *state)
{
    for (int i = 0; i < state->depth; i++) {
        if (!state->written[i]) {
            fputs(state->open[i], state->out);
        }
        state->written[i] = true;
    }
}

static void close_group(svg_state *state)
{
    if (state->depth == 0) {
        return;
    }
    state->depth--;
    if (strstr(state->open[state->depth], "\"plot\"")) {
        state->series = -1;
    }
    if (state->written[state->depth]) {
        fputs("</g>\n", state->out);
    }
    free(state->open[state->depth]);
}

static const char *next_tip(svg_state *state)
{
    if (state->series < 0 || state->series >= state->figure->count) {
        return NULL;
    }
    const figure_series *series = &state->figure->series[state->series];
    return state->point < series->count ? series->points[state->point++].tip : NULL;
}

static bool is(const char *tag, const char *end, const char *name)
{
    size_t length = strlen(name);
    return (size_t)(end - tag) >= length && strncmp(tag, name, length) == 0 &&
           !isalnum((unsigned char)tag[length]);
}

/* The points of a series are its `use` elements; in a figure of bars they are its boxes. */
static void write_shape(svg_state *state, const char *tag, const char *end, const char *name)
{
    flush_groups(state);
    bool bars = state->figure->form == FIGURE_BARS;
    bool point = state->series >= 0 &&
                 (strcmp(name, "use") == 0 ||
                  (bars && (strcmp(name, "polygon") == 0 || strcmp(name, "rect") == 0)));
    const char *tip = point ? next_tip(state) : NULL;
    fprintf(state->out, "<%s%s", name, tip ? " class=\"pt\"" : "");
    write_attributes(state->out, tag + strlen(name), end);
    if (tip) {
        report_put(state->out, "><title>%s</title></%s>", tip, name);
    } else {
        fputs("/>", state->out);
    }
}

static void take_tag(svg_state *state, const char *tag, const char *end)
{
    static const char *const shapes[] = {"path", "use", "polygon", "rect", "circle", "line"};
    if (is(tag, end, "g")) {
        open_group(state, tag + 1, end);
    } else if (is(tag, end, "/g")) {
        close_group(state);
    } else if (is(tag, end, "text")) {
        flush_groups(state);
        fputs("<text", state->out);
        write_attributes(state->out, tag + 4, end);
        fputc('>', state->out);
        state->in_text = true;
    } else if (is(tag, end, "/text") && state->in_text) {
        fputs("</text>", state->out);
        state->in_text = false;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (is(tag, end, shapes[i])) {
            write_shape(state, tag, end, shapes[i]);
        }
    }
}

/* Returns the text after the next `close`. */
static const char *skip(const char *at, const char *close)
{
    const char *found = strstr(at, close);
    return found ? found + strlen(close) : at + strlen(at);
}

void report_svg(FILE *out, const char *svg, const report_figure *figure)
{
    svg_state state = {.out = out, .figure = figure, .series = -1};
    char box[VALUE] = "0 0 560 330";
    const char *at = strstr(svg, "<svg"), *end = at ? strchr(at, '>') : NULL;
    if (!end) {
        return;
    }
    attribute(at + 4, end, "viewBox", box);
    report_put(out,
               "<svg class=\"plotted%s\" viewBox=\"%s\" role=\"img\" tabindex=\"0\" "
               "aria-label=\"%s\">\n",
               figure->form == FIGURE_LINES ? " over" : "", box, figure->title);
    at = end + 1;
    while (*at != '\0') {
        if (*at != '<') {
            const char *stop = at + strcspn(at, "<");
            if (state.in_text) { /* gnuplot escaped it for HTML */
                report_shown(out, at, (size_t)(stop - at));
            }
            at = stop;
        } else if (strncmp(at, "<title>", 7) == 0) {
            at = skip(at, "</title>");
        } else if (strncmp(at, "<desc>", 6) == 0) {
            at = skip(at, "</desc>");
        } else if (strncmp(at, "<defs>", 6) == 0) {
            at = skip(at, "</defs>");
        } else {
            end = strchr(at, '>');
            if (!end) {
                break;
            }
            take_tag(&state, at + 1, end);
            at = end + 1;
        }
    }
    while (state.depth > 0) {
        close_group(&state);
    }
    fputs("</svg>\n", out);
}
