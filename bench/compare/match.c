/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - matches the results of two files. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices --------------------------------------------------------------------------------- */

static const json_t *result_at(const json_t *root, size_t at)
{
    return json_array_get(json_object_get(root, "results"), at);
}

static size_t results_of(const json_t *root)
{
    return json_array_size(json_object_get(root, "results"));
}

/* One side's file, the devices of its results, and the device that is compared. */
typedef struct source {
    const json_t *root;
    const char *path, *option, *wanted;
    tool_names devices;
    const char *chosen; /* NULL: devices of the same spec are compared */
} source;

static void read_source(const compare_set *set, source *s)
{
    for (size_t at = 0; at < results_of(s->root); at++) {
        const json_t *result = result_at(s->root, at);
        if (compare_wants(set, result)) {
            tool_names_add(&s->devices, record_text(result, "device"));
        }
    }
}

static const char *list_devices(const source *s, char *text, size_t room)
{
    text[0] = '\0';
    for (int i = 0; i < s->devices.count; i++) {
        tool_join(text, room, ", ", s->devices.items[i]);
    }
    return text[0] != '\0' ? text : "none";
}

/* Finds a device by its spec, or by its backend if the file has only one device of it. */
static int find_device(source *s)
{
    char there[512];
    size_t length = s->wanted ? strlen(s->wanted) : 0;
    for (int i = 0; s->wanted && i < s->devices.count; i++) {
        const char *device = s->devices.items[i];
        bool backend = strncmp(device, s->wanted, length) == 0 && device[length] == ':';
        if (strcmp(device, s->wanted) != 0 && !backend) {
            continue;
        }
        if (s->chosen) {
            return tool_error(TOOL_USAGE,
                              "--%s %s: %s has several such devices, %s and %s; name one",
                              s->option, s->wanted, s->path, s->chosen, device);
        }
        s->chosen = device;
    }
    if (s->chosen || !s->wanted) {
        return TOOL_OK;
    }
    return tool_error(TOOL_USAGE, "--%s %s: %s has no results of that device; it has %s", s->option,
                      s->wanted, s->path, list_devices(s, there, sizeof there));
}

static int choose_devices(source *a, source *b)
{
    char in_a[512], in_b[512];
    bool common = false;
    int code = find_device(a);
    if (code == TOOL_OK) {
        code = find_device(b);
    }
    if (code != TOOL_OK || (a->chosen && b->chosen)) {
        return code;
    }
    if (a->devices.count == 0 || b->devices.count == 0) {
        return TOOL_OK; /* nothing will match, which is reported later */
    }
    if ((a->chosen || a->devices.count == 1) && (b->chosen || b->devices.count == 1)) {
        a->chosen = a->chosen ? a->chosen : a->devices.items[0];
        b->chosen = b->chosen ? b->chosen : b->devices.items[0];
        return TOOL_OK;
    }
    const char *named = a->chosen ? a->chosen : b->chosen;
    if (named) {
        common = tool_find((a->chosen ? b : a)->devices.items, named) >= 0;
        a->chosen = b->chosen = common ? named : NULL;
    }
    for (int i = 0; i < a->devices.count && !named && !common; i++) {
        common = tool_find(b->devices.items, a->devices.items[i]) >= 0;
    }
    if (common) {
        return TOOL_OK;
    }
    return tool_error(TOOL_FILES,
                      "it is not clear which devices to compare: %s has %s, %s has %s; choose with "
                      "--device-a and --device-b",
                      a->path, list_devices(a, in_a, sizeof in_a), b->path,
                      list_devices(b, in_b, sizeof in_b));
}

/* ---- results --------------------------------------------------------------------------------- */

bool compare_same_case(const json_t *a, const json_t *b, bool loose)
{
    const char *x = record_text(a, "id"), *y = record_text(b, "id");
    if (strcmp(x, y) == 0 || !loose) {
        return strcmp(x, y) == 0;
    }
    static const char *const may_differ[] = {"math", "fill"};
    while (*x != '\0' && *y != '\0') {
        size_t n = strcspn(x, "/"), m = strcspn(y, "/");
        bool same = n == m && strncmp(x, y, n) == 0;
        for (int i = 0; i < 2 && !same; i++) {
            const char *p = record_text(a, may_differ[i]), *q = record_text(b, may_differ[i]);
            same =
                strlen(p) == n && strlen(q) == m && strncmp(x, p, n) == 0 && strncmp(y, q, m) == 0;
        }
        if (!same) {
            return false;
        }
        x += n + (x[n] == '/');
        y += m + (y[m] == '/');
    }
    return *x == *y;
}

bool compare_same_but_size(const json_t *a, const json_t *b)
{
    static const char *const must[] = {"op", "kind", "variant", "dtype", "layout", "cache"};
    for (size_t i = 0; i < sizeof must / sizeof must[0]; i++) {
        if (!json_equal(json_object_get(a, must[i]), json_object_get(b, must[i]))) {
            return false;
        }
    }
    return !json_equal(json_object_get(a, "shape"), json_object_get(b, "shape"));
}

/* Times of different sizes are scaled by this work: flops if arithmetic is the limit, otherwise
 * bytes. */
static double work_of(const json_t *result)
{
    if (record_computes(result)) {
        return record_number(result, "work.flops");
    }
    return record_number(result, "work.bytes_read") + record_number(result, "work.bytes_written");
}

static compare_side side_of(const json_t *result)
{
    compare_side side = {result,
                         record_text(result, "device"),
                         record_text(result, "library"),
                         record_text(result, "status"),
                         record_text(result, "reason"),
                         NAN,
                         strcmp(record_text(result, "status"), "ok") == 0};
    if (side.ok) {
        side.median = record_number(result, "times.median");
    }
    return side;
}

static bool takes_part(const compare_set *set, const json_t *result, const char *device)
{
    return compare_wants(set, result) &&
           (!device || strcmp(record_text(result, "device"), device) == 0);
}

typedef struct matching {
    compare_set *set;
    source a, b;
    bool *taken; /* which of B's results are taken */
} matching;

/* What a result of B must have in common with one of A to match it. SAME_LIBRARY: the case and the
 * library. SAME_CASE: the case. OTHER_SIZE: everything except the size. */
typedef enum likeness { SAME_LIBRARY, SAME_CASE, OTHER_SIZE } likeness;

/* Takes the first result of B that matches `a` and is not taken yet. NULL: there is none. */
static const json_t *partner(matching *m, const json_t *a, likeness like)
{
    const json_t *b_root = m->set->b;
    const char *device = m->b.chosen ? m->b.chosen : record_text(a, "device");
    for (size_t at = 0; at < results_of(b_root); at++) {
        const json_t *b = result_at(b_root, at);
        if (m->taken[at] || !takes_part(m->set, b, device) ||
            !(like == OTHER_SIZE ? compare_same_but_size(a, b)
                                 : compare_same_case(a, b, m->set->rules.force))) {
            continue;
        }
        if (like != SAME_LIBRARY ||
            strcmp(record_text(a, "library"), record_text(b, "library")) == 0) {
            m->taken[at] = true;
            return b;
        }
    }
    return NULL;
}

static compare_row *new_row(compare_set *set, const json_t *any)
{
    compare_row *row = &set->rows[set->count++];
    const compare_side absent = {NULL, "", "", "missing", "", NAN, false};
    *row = (compare_row){.id = record_text(any, "id"),
                         .op = record_text(any, "op"),
                         .share = 1,
                         .a = absent,
                         .b = absent,
                         .c = {NAN, NAN, NAN, NAN, STATS_AMBIGUOUS}};
    return row;
}

/* Whether B lost a case: A is ok and B is not, but B did measure the operation on that device. If
 * B lacks the device, did not measure the operation or had no time for the case, nothing was
 * lost. */
static bool was_lost(const matching *m, const compare_row *row)
{
    const char *device = m->b.chosen ? m->b.chosen : row->a.device;
    if (!row->a.ok || row->b.ok || strcmp(row->b.status, "skipped") == 0) {
        return false;
    }
    if (row->b.result) {
        return true;
    }
    for (size_t at = 0; at < results_of(m->set->b); at++) {
        const json_t *b = result_at(m->set->b, at);
        if (takes_part(m->set, b, device) && strcmp(record_text(b, "op"), row->op) == 0) {
            return true;
        }
    }
    return false;
}

/* Matches the results of A that have no partner yet with the free results of B, in the order of the
 * files. */
static void match_rest(matching *m, likeness like)
{
    for (int32_t i = 0; i < m->set->count; i++) {
        compare_row *row = &m->set->rows[i];
        const json_t *b = !row->b.result ? partner(m, row->a.result, like) : NULL;
        if (!b) {
            continue;
        }
        row->b = side_of(b);
        if (like == OTHER_SIZE) {
            row->other = record_text(b, "id");
            row->share = work_of(row->a.result) / work_of(b);
        }
    }
}

static bool is_time(const compare_side *side)
{
    return isfinite(side->median) && side->median > 0;
}

static int match_results(matching *m)
{
    compare_set *set = m->set;
    int32_t both = 0;
    for (size_t at = 0; at < results_of(set->a); at++) {
        const json_t *a = result_at(set->a, at);
        if (!takes_part(set, a, m->a.chosen)) {
            continue;
        }
        new_row(set, a)->a = side_of(a);
    }
    match_rest(m, SAME_LIBRARY);
    match_rest(m, SAME_CASE);
    if (set->rules.force) {
        match_rest(m, OTHER_SIZE);
    }
    for (int32_t i = 0; i < set->count; i++) {
        compare_row *row = &set->rows[i];
        both += row->b.result != NULL;
        row->judged = is_time(&row->a) && is_time(&row->b) && isfinite(row->share);
        row->lost = was_lost(m, row);
    }
    for (size_t at = 0; at < results_of(set->b); at++) {
        const json_t *b = result_at(set->b, at);
        if (!m->taken[at] && takes_part(set, b, m->b.chosen)) {
            new_row(set, b)->b = side_of(b);
        }
    }
    return both > 0 || set->several ? TOOL_OK : compare_nothing(set);
}

int compare_match(compare_set *set)
{
    const compare_rules *rules = &set->rules;
    matching m = {
        .set = set,
        .a = {.root = set->a, .path = set->path_a, .option = "device-a", .wanted = rules->device_a},
        .b = {
            .root = set->b, .path = set->path_b, .option = "device-b", .wanted = rules->device_b}};
    size_t room = results_of(set->a) + results_of(set->b);
    set->forced = json_array();
    set->rows = tool_alloc(room, sizeof *set->rows, "the results");
    m.taken = tool_alloc(room, sizeof *m.taken, "the results");
    set->unpaired = set->a != set->b &&
                    !json_equal(json_object_get(set->a, "run"), json_object_get(set->b, "run"));
    read_source(set, &m.a);
    read_source(set, &m.b);
    int code = compare_unlike(set) > 0 && !rules->force ? TOOL_FILES : TOOL_OK;
    if (code == TOOL_OK) {
        code = choose_devices(&m.a, &m.b);
    }
    if (code == TOOL_OK) {
        code = match_results(&m);
    }
    if (code == TOOL_OK) {
        compare_note_sizes(set);
    }
    if (code == TOOL_OK && compare_unlike_devices(set) > 0 && !rules->force) {
        code = TOOL_FILES;
    }
    free(m.taken);
    return code;
}

/* Adds the rows of two devices that both have results. */
static int add_devices(compare_set *set, const char *a, const char *b)
{
    compare_set part = *set;
    part.rows = NULL;
    part.count = 0;
    part.rules.device_a = a;
    part.rules.device_b = b;
    json_decref(set->forced);
    int code = compare_match(&part);
    if (code == TOOL_OK) {
        compare_judge(&part);
    }
    set->forced = json_incref(part.forced);
    set->rows =
        tool_resize(set->rows, (size_t)(set->count + part.count), sizeof *set->rows, "the results");
    for (int32_t i = 0; i < part.count; i++) {
        if (part.rows[i].a.result && part.rows[i].b.result) {
            set->rows[set->count++] = part.rows[i];
            part.rows[i].rounds[0] = part.rows[i].rounds[1] = NULL;
        }
    }
    compare_free(&part);
    return code;
}

int compare_every(compare_set *set)
{
    bool b_named = set->rules.device_b != NULL;
    source s = {.root = set->a,
                .path = set->path_a,
                .option = b_named ? "device-b" : "device-a",
                .wanted = b_named ? set->rules.device_b : set->rules.device_a};
    set->several = true;
    set->forced = json_array();
    read_source(set, &s);
    int code = find_device(&s);
    if (code == TOOL_OK && s.devices.count < 2) {
        code = tool_error(TOOL_USAGE,
                          "%s has nothing to be compared with: give a second file, or one with "
                          "several devices (--device-a, --device-b)",
                          set->path_a);
    }
    for (int i = 0; i < s.devices.count; i++) {
        for (int k = i + 1; k < s.devices.count && code == TOOL_OK; k++) {
            const char *a = s.devices.items[k], *b = s.devices.items[i];
            bool first = s.chosen && strcmp(b, s.chosen) == 0;
            if ((s.chosen && !first && strcmp(a, s.chosen) != 0) ||
                !record_may_compare(record_device_of(set->a, a), record_device_of(set->a, b))) {
                continue;
            }
            bool swap = s.chosen && first != b_named;
            code = add_devices(set, swap ? b : a, swap ? a : b);
        }
    }
    return code;
}

void compare_free(compare_set *set)
{
    json_decref(set->forced);
    for (int32_t i = 0; i < set->count; i++) {
        free(set->rows[i].rounds[0]);
        free(set->rows[i].rounds[1]);
    }
    free(set->rows);
    set->forced = NULL;
    set->rows = NULL;
    set->count = 0;
}
