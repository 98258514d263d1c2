/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c - which device is fastest at what, in a few sentences. */
#include "bench/record/view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS = 5, DEVICES = 16 };

/* The rows of a block with the same kind, type and note, without those that only measure roofs. */
typedef struct topic {
    const view_block *block;
    const view_row *row; /* the first of them */
    int rank, place;
} topic;

/* The fastest result of a device among a topic's rows. */
typedef struct best {
    const char *device;
    const json_t *result;
    double rate;
} best;

/* What most users ask about comes first. Of rows that differ only in their notes, those of the
 * first note, which is none if some row has none, come before all others. */
static int rank_of(const view_block *block, const view_row *row, bool first)
{
    enum { LAST = 1 << 20 };
    static const struct {
        const char *op, *kind, *type;
    } order[] = {{"gemm", "", "f32"},      {"gemm", "", "f64"},       {"stream", "triad", "f32"},
                 {"reduce", "sum", "f32"}, {"gemv", "", "f32"},       {"transpose", "", "e4"},
                 {"gemm", "", "f16"},      {"transfer", "write", ""}, {"transfer", "read", ""}};
    enum { KNOWN = sizeof order / sizeof order[0] };
    int i = 0;
    while (i < KNOWN &&
           (strcmp(order[i].op, block->op) != 0 || strcmp(order[i].kind, row->kind) != 0 ||
            strcmp(order[i].type, row->type) != 0)) {
        i++;
    }
    return (i < KNOWN ? i : KNOWN + row->group) + (first ? 0 : LAST);
}

static int by_rank(const void *a, const void *b)
{
    const topic *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : x->place - y->place;
}

/* "f32 products", "4-byte transposes cold", "f32 sum reductions" */
static void topic_name(const topic *t, char *text, size_t room)
{
    char title[64], type[32];
    snprintf(title, sizeof title, "%s", view_title(t->block));
    title[0] = (char)tolower((unsigned char)title[0]);
    bool bytes = t->row->type[0] == 'e';
    snprintf(type, sizeof type, "%s%s", t->row->type + bytes, bytes ? "-byte" : "");
    const char *words[] = {type, t->row->kind, title, t->row->note};
    text[0] = '\0';
    for (int i = 0; i < 4; i++) {
        if (words[i][0] != '\0') {
            tool_join(text, room, " ", words[i]);
        }
    }
}

static bool in_topic(const topic *t, const view_row *row)
{
    return !row->roof && row->group == t->row->group && strcmp(row->note, t->row->note) == 0;
}

/* The fastest result of a device in a row. */
static best best_of(const view_block *block, int row, const char *device)
{
    best out = {device, NULL, -1};
    for (int c = 0; c < block->column_count; c++) {
        const json_t *result = view_cell(block, row, c);
        double rate = view_rate(block, result);
        if (strcmp(block->columns[c].device, device) == 0 && view_counts(result) &&
            rate > out.rate) {
            out = (best){device, result, rate};
        }
    }
    return out;
}

static int devices_of(const view_block *block, const char **out)
{
    int count = 0;
    for (int c = 0; c < block->column_count; c++) {
        bool known = false;
        for (int d = 0; d < count; d++) {
            known = known || strcmp(out[d], block->columns[c].device) == 0;
        }
        if (!known && count < DEVICES) {
            out[count++] = block->columns[c].device;
        }
    }
    return count;
}

static const char *rate_text(const view_block *block, char *text, size_t room, double rate)
{
    char number[32];
    bool tera = rate >= 9999.5;
    snprintf(text, room, "%s %s", record_rate(number, sizeof number, tera ? rate / 1000 : rate),
             block->flops ? (tera ? "TFLOP/s" : "GFLOP/s") : (tera ? "TB/s" : "GB/s"));
    return text;
}

/* Adds "9.1 times openmp:0 (at 2048)", by the largest size of the same form that both devices
 * have. */
static void add_other(const topic *t, const best *top, int top_row, const char *other, char *text,
                      size_t room)
{
    const view_block *block = t->block;
    for (int r = block->row_count - 1; r >= 0; r--) {
        bool form = !strchr(block->rows[r].size, 'x') == !strchr(block->rows[top_row].size, 'x');
        if (!in_topic(t, &block->rows[r]) || !form) {
            continue;
        }
        best mine = best_of(block, r, top->device), its = best_of(block, r, other);
        char one[160], number[32], at[64] = "";
        if (!mine.result || !its.result) {
            continue;
        }
        if (r != top_row) {
            snprintf(at, sizeof at, " (at %s)", block->rows[r].size);
        }
        double ratio = mine.rate / its.rate;
        record_rate(number, sizeof number, ratio);
        bool level = fabs(ratio - 1) < 0.03;
        snprintf(one, sizeof one, "%s%s %.64s%s", level ? "about as fast as" : number,
                 level ? "" : " times", other, at);
        tool_join(text, room, ", ", one);
        return;
    }
}

/* One sentence about a topic; NULL: no number counts. To be freed. */
static char *answer(const topic *t)
{
    const view_block *block = t->block;
    const char *devices[DEVICES];
    int count = devices_of(block, devices), row = -1;
    best top = {NULL, NULL, -1};
    char name[128], rate[48], roof[96] = "", others[512] = "";
    /* Where bytes are counted, the speed of a cache is an answer only if there is no other. */
    bool cached = false;
    for (int pass = 0; pass < 2 && row < 0; pass++) {
        cached = pass > 0;
        for (int r = 0; r < block->row_count; r++) {
            for (int d = 0; d < count && in_topic(t, &block->rows[r]); d++) {
                best one = best_of(block, r, devices[d]);
                bool memory = block->flops || !record_has_flag(one.result, "in-cache");
                if (one.rate > top.rate && (memory || cached)) {
                    top = one;
                    row = r;
                }
            }
        }
    }
    for (int d = 0; d < count && row >= 0; d++) {
        best one = best_of(block, row, devices[d]);
        top = one.rate > top.rate ? one : top;
    }
    if (!top.result) {
        return NULL;
    }
    for (int d = 0; d < count; d++) {
        if (strcmp(devices[d], top.device) != 0) {
            add_other(t, &top, row, devices[d], others, sizeof others);
        }
    }
    double percent = record_percent(top.result);
    if (isfinite(percent)) {
        snprintf(roof, sizeof roof, ", %.0f %% of its roof (%.32s)", percent,
                 record_text(top.result, "roof.name"));
    }
    topic_name(t, name, sizeof name);
    return record_format(
        "%s %s %s: %s at %s%s%s%s%s%s.", top.device, others[0] != '\0' ? "is fastest at" : "does",
        name, rate_text(block, rate, sizeof rate, top.rate),
        strcmp(view_size_title(block), "N") == 0 ? "N = " : "", block->rows[row].size,
        cached ? " in a cache" : "", roof, others[0] != '\0' ? "; " : "", others);
}

static void append(json_t *list, char *text)
{
    if (text) {
        json_array_append_new(list, tool_json_text(text));
    }
    free(text);
}

/* "Of 310 cases that several devices ran, cuda:0 is fastest in 280, openmp:0 in 30." */
static char *count_wins(const view *v)
{
    const json_t *list = json_object_get(v->root, "devices");
    int wins[DEVICES] = {0}, cases = 0, count = (int)json_array_size(list);
    char text[512] = "";
    count = count < DEVICES ? count : DEVICES;
    for (int b = 0; b < v->count; b++) {
        for (int r = 0; r < v->blocks[b].row_count; r++) {
            int ran = 0, winner = 0;
            double top = -1;
            for (int d = 0; d < count; d++) {
                const char *spec = record_text(json_array_get(list, (size_t)d), "spec");
                best one = best_of(&v->blocks[b], r, spec);
                ran += one.result != NULL;
                if (one.rate > top) {
                    top = one.rate;
                    winner = d;
                }
            }
            if (ran > 1 && !v->blocks[b].rows[r].roof) {
                wins[winner]++;
                cases++;
            }
        }
    }
    for (int d = 0; d < count; d++) {
        char one[128];
        if (wins[d] == 0) {
            continue;
        }
        snprintf(one, sizeof one, "%.64s in %d",
                 record_text(json_array_get(list, (size_t)d), "spec"), wins[d]);
        tool_join(text, sizeof text, ", ", one);
    }
    return cases > 1
               ? record_format("Fastest of the %d cases that several devices ran: %s.", cases, text)
               : NULL;
}

json_t *record_answers(const view *v)
{
    json_t *out = json_array();
    topic *topics = NULL;
    int count = 0;
    for (int b = 0; b < v->count; b++) {
        for (int r = 0; r < v->blocks[b].row_count; r++) {
            const view_block *block = &v->blocks[b];
            const view_row *row = &block->rows[r];
            const topic *last =
                count > 0 && topics[count - 1].block == block ? &topics[count - 1] : NULL;
            if (!row->roof && !(last && in_topic(last, row))) {
                bool first = !last || last->row->group != row->group;
                int rank = rank_of(block, row, first);
                topics = record_grow(topics, count, sizeof *topics);
                topics[count] = (topic){block, row, rank, count};
                count++;
            }
        }
    }
    if (topics) {
        qsort(topics, (size_t)count, sizeof *topics, by_rank);
    }
    char *wins = count_wins(v);
    for (int i = 0; i < count && json_array_size(out) < (wins ? ANSWERS - 1 : ANSWERS); i++) {
        append(out, answer(&topics[i]));
    }
    append(out, wins);
    free(topics);
    return out;
}
