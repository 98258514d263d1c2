/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - which result of one file belongs to which of the other, and what their rounds say. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices --------------------------------------------------------------------------------- */

/* Which devices are matched: all by their specs, or one with one. */
typedef struct devices {
    const char *a, *b; /* NULL: by spec */
} devices;

static const json_t *result_at(const json_t *root, size_t at)
{
    return json_array_get(json_object_get(root, "results"), at);
}

static size_t results_of(const json_t *root)
{
    return json_array_size(json_object_get(root, "results"));
}

/* The i-th device that results of the file are about; NULL after the last. */
static const char *device_of(const compare_set *set, const json_t *root, int i)
{
    for (size_t at = 0; at < results_of(root); at++) {
        const json_t *result = result_at(root, at);
        const char *device = record_text(result, "device");
        bool seen = false;
        for (size_t k = 0; k < at && !seen; k++) {
            seen = compare_wants_op(set, record_text(result_at(root, k), "op")) &&
                   strcmp(record_text(result_at(root, k), "device"), device) == 0;
        }
        if (compare_wants_op(set, record_text(result, "op")) && !seen && i-- == 0) {
            return device;
        }
    }
    return NULL;
}

static bool has_device(const compare_set *set, const json_t *root, const char *spec)
{
    const char *device;
    for (int i = 0; (device = device_of(set, root, i)); i++) {
        if (strcmp(device, spec) == 0) {
            return true;
        }
    }
    return false;
}

static void list_devices(const compare_set *set, const json_t *root, char *text, size_t room)
{
    const char *device;
    text[0] = '\0';
    for (int i = 0; (device = device_of(set, root, i)); i++) {
        size_t used = strlen(text);
        snprintf(text + used, room - used, "%s%s", i > 0 ? ", " : "", device);
    }
}

/* A device by its spec, or by its backend where that has one there. */
static int find_device(const compare_set *set, const json_t *root, const char *path,
                       const char *option, const char *wanted, const char **out)
{
    char there[512];
    const char *device;
    size_t length = strlen(wanted);
    *out = NULL;
    for (int i = 0; (device = device_of(set, root, i)); i++) {
        bool backend = strncmp(device, wanted, length) == 0 && device[length] == ':';
        if (strcmp(device, wanted) != 0 && !backend) {
            continue;
        }
        if (*out) {
            return tool_error(TOOL_USAGE, "--%s %s: %s has several of it, %s and %s; name one",
                              option, wanted, path, *out, device);
        }
        *out = device;
    }
    if (*out) {
        return TOOL_OK;
    }
    list_devices(set, root, there, sizeof there);
    return tool_error(TOOL_USAGE, "--%s %s: %s has no results of it; it has %s", option, wanted,
                      path, there[0] ? there : "none");
}

static int choose_devices(const compare_set *set, devices *out)
{
    const compare_rules *rules = &set->rules;
    char in_a[512], in_b[512];
    bool common = false;
    *out = (devices){NULL, NULL};
    int code = TOOL_OK;
    if (rules->device_a) {
        code = find_device(set, set->a, set->path_a, "device-a", rules->device_a, &out->a);
    }
    if (code == TOOL_OK && rules->device_b) {
        code = find_device(set, set->b, set->path_b, "device-b", rules->device_b, &out->b);
    }
    if (code != TOOL_OK || (out->a && out->b)) {
        return code;
    }
    const char *first_a = device_of(set, set->a, 0), *first_b = device_of(set, set->b, 0);
    if (!first_a || !first_b) {
        return TOOL_OK; /* nothing will match, and that is said elsewhere */
    }
    bool one_a = out->a || !device_of(set, set->a, 1);
    bool one_b = out->b || !device_of(set, set->b, 1);
    if (one_a && one_b) {
        out->a = out->a ? out->a : first_a;
        out->b = out->b ? out->b : first_b;
        return TOOL_OK;
    }
    const char *named = out->a ? out->a : out->b, *device;
    if (named) {
        common = has_device(set, out->a ? set->b : set->a, named);
        out->a = out->b = common ? named : NULL;
    } else {
        for (int i = 0; (device = device_of(set, set->a, i)) && !common; i++) {
            common = has_device(set, set->b, device);
        }
    }
    if (common) {
        return TOOL_OK;
    }
    list_devices(set, set->a, in_a, sizeof in_a);
    list_devices(set, set->b, in_b, sizeof in_b);
    return tool_error(TOOL_FILES,
                      "which devices to compare is not clear: %s has %s, %s has %s; choose by "
                      "--device-a and --device-b",
                      set->path_a, in_a, set->path_b, in_b);
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

/* What times of different sizes are compared by: operations of products and chains, which the
 * processors bound, bytes of all else. */
static double work_of(const json_t *result)
{
    const json_t *work = json_object_get(result, "work");
    if (bench_op_computes(bench_op_of(record_text(result, "op")), record_text(result, "kind"))) {
        return record_number(work, "flops");
    }
    return record_number(work, "bytes_read") + record_number(work, "bytes_written");
}

static compare_side side_of(const json_t *result)
{
    const json_t *times = json_object_get(result, "times");
    compare_side side = {result,
                         record_text(result, "device"),
                         record_text(result, "library"),
                         record_text(result, "status"),
                         record_text(result, "reason"),
                         NAN};
    if (strcmp(side.status, "ok") == 0) {
        side.median = record_number(times, "median");
    }
    return side;
}

static bool takes_part(const compare_set *set, const json_t *result, const char *device)
{
    return compare_wants_op(set, record_text(result, "op")) &&
           (!device || strcmp(record_text(result, "device"), device) == 0);
}

typedef struct matching {
    compare_set *set;
    devices chosen;
    bool *taken; /* of B's results */
} matching;

/* How alike a result of B has to be: the case and its library, the case, all but the size. */
typedef enum likeness { SAME_LIBRARY, SAME_CASE, OTHER_SIZE } likeness;

/* The next result of B that belongs to `a`. */
static const json_t *partner(matching *m, const json_t *a, likeness like)
{
    const json_t *b_root = m->set->b;
    const char *device = m->chosen.b ? m->chosen.b : record_text(a, "device");
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
    const compare_side absent = {NULL, "", "", "missing", "", NAN};
    *row = (compare_row){.id = record_text(any, "id"),
                         .op = record_text(any, "op"),
                         .share = 1,
                         .a = absent,
                         .b = absent,
                         .c = {NAN, NAN, NAN, NAN, STATS_AMBIGUOUS}};
    return row;
}

static bool is_ok(const compare_side *side)
{
    return strcmp(side->status, "ok") == 0;
}

/* Whether A's result has no counterpart though B measured what has one: where B does not have the
 * device, or was not asked for the operation, nothing was lost. */
static bool was_lost(const matching *m, const compare_row *row)
{
    const char *device = m->chosen.b ? m->chosen.b : row->a.device;
    if (!is_ok(&row->a) || is_ok(&row->b)) {
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

/* Forced: what is left of A, with what is left of B in other sizes, in the order of the files. */
static void match_sizes(matching *m)
{
    for (int32_t i = 0; i < m->set->count; i++) {
        compare_row *row = &m->set->rows[i];
        const json_t *b = !row->b.result ? partner(m, row->a.result, OTHER_SIZE) : NULL;
        if (!b) {
            continue;
        }
        row->b = side_of(b);
        row->other = record_text(b, "id");
        row->share = work_of(row->a.result) / work_of(b);
    }
}

static int match_results(matching *m)
{
    compare_set *set = m->set;
    int32_t both = 0;
    for (size_t at = 0; at < results_of(set->a); at++) {
        const json_t *a = result_at(set->a, at);
        if (!takes_part(set, a, m->chosen.a)) {
            continue;
        }
        compare_row *row = new_row(set, a);
        row->a = side_of(a);
        const json_t *b = partner(m, a, SAME_LIBRARY);
        if (b) {
            row->b = side_of(b);
        }
    }
    for (int32_t i = 0; i < set->count; i++) {
        compare_row *row = &set->rows[i];
        const json_t *b = !row->b.result ? partner(m, row->a.result, SAME_CASE) : NULL;
        if (b) {
            row->b = side_of(b);
        }
    }
    if (set->rules.force) {
        match_sizes(m);
    }
    for (int32_t i = 0; i < set->count; i++) {
        compare_row *row = &set->rows[i];
        both += row->b.result != NULL;
        row->judged = isfinite(row->a.median) && isfinite(row->b.median) && isfinite(row->share);
        row->lost = was_lost(m, row);
    }
    for (size_t at = 0; at < results_of(set->b); at++) {
        const json_t *b = result_at(set->b, at);
        if (!m->taken[at] && takes_part(set, b, m->chosen.b)) {
            new_row(set, b)->b = side_of(b);
        }
    }
    return both > 0 ? TOOL_OK : compare_nothing(set);
}

int compare_match(compare_set *set)
{
    matching m = {.set = set};
    size_t room = results_of(set->a) + results_of(set->b) + 1;
    set->forced = json_array();
    set->rows = calloc(room, sizeof *set->rows);
    m.taken = calloc(room, sizeof *m.taken);
    int code = TOOL_INTERNAL;
    if (!set->forced || !set->rows || !m.taken) {
        tool_error(TOOL_INTERNAL, "no memory to compare %zu results", room);
        goto done;
    }
    set->unpaired = set->a != set->b &&
                    !json_equal(json_object_get(set->a, "run"), json_object_get(set->b, "run"));
    code = compare_unlike(set) > 0 && !set->rules.force ? TOOL_FILES : TOOL_OK;
    if (code == TOOL_OK) {
        code = choose_devices(set, &m.chosen);
    }
    if (code == TOOL_OK) {
        code = match_results(&m);
    }
    if (code == TOOL_OK) {
        compare_note_sizes(set);
    }
    if (code == TOOL_OK && compare_unlike_devices(set) > 0 && !set->rules.force) {
        code = TOOL_FILES;
    }
done:
    free(m.taken);
    return code;
}

void compare_free(compare_set *set)
{
    json_decref(set->forced);
    free(set->rows);
    set->forced = NULL;
    set->rows = NULL;
    set->count = 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* The medians of the rounds, to be freed; NULL: no memory. */
static double *rounds_of(const json_t *result, int32_t *count)
{
    const json_t *rounds = json_object_get(json_object_get(result, "times"), "samples");
    size_t n = json_array_size(rounds);
    double *medians = calloc(n + 1, sizeof *medians);
    *count = 0;
    for (size_t i = 0; i < n && medians; i++) {
        const json_t *round = json_array_get(rounds, i);
        size_t samples = json_array_size(round);
        double *x = calloc(samples + 1, sizeof *x);
        if (!x) {
            free(medians);
            return NULL;
        }
        for (size_t k = 0; k < samples; k++) {
            x[k] = json_number_value(json_array_get(round, k));
        }
        if (samples > 0) {
            medians[(*count)++] = stats_median(x, (int32_t)samples);
        }
        free(x);
    }
    return medians;
}

static double relative_spread(const double *x, int32_t n)
{
    double spread = stats_spread(x, n) / stats_median(x, n);
    return spread >= 0 ? spread : 0;
}

/* What two runs at different times may differ by: the spread between the rounds of this case, or
 * what is usual among all, since a few rounds can look alike by chance. */
static bool add_drift(compare_set *set)
{
    double *all = calloc((size_t)set->count + 1, sizeof *all);
    int32_t used = 0;
    if (!all) {
        return false;
    }
    for (int32_t i = 0; i < set->count; i++) {
        if (set->rows[i].judged) {
            all[used++] = set->rows[i].drift;
        }
    }
    double usual = stats_median(all, used);
    for (int32_t i = 0; i < set->count; i++) {
        if (set->rows[i].drift < usual) {
            set->rows[i].drift = usual;
        }
    }
    free(all);
    return true;
}

/* Judges with the drift that the row has, or (`measure`) only finds that out. */
static bool judge_row(const compare_set *set, compare_row *row, bool measure)
{
    int32_t na, nb;
    double *a = rounds_of(row->a.result, &na), *b = rounds_of(row->b.result, &nb);
    bool good = a && b;
    for (int32_t i = 0; good && i < nb; i++) {
        b[i] *= row->share;
    }
    if (good && measure) {
        row->drift = fmax(relative_spread(a, na), relative_spread(b, nb));
    } else if (good) {
        row->pairs = na < nb ? na : nb;
        row->c = stats_compare(a, na, b, nb, row->drift, set->rules.least_effect, set->rules.alpha);
    }
    free(a);
    free(b);
    return good;
}

bool compare_judge(compare_set *set)
{
    for (int32_t i = 0; i < set->count && set->unpaired; i++) {
        if (set->rows[i].judged && !judge_row(set, &set->rows[i], true)) {
            return false;
        }
    }
    if (set->unpaired && !add_drift(set)) {
        return false;
    }
    for (int32_t i = 0; i < set->count; i++) {
        if (set->rows[i].judged && !judge_row(set, &set->rows[i], false)) {
            return false;
        }
    }
    compare_gate(set);
    return true;
}

void compare_gate(compare_set *set)
{
    double limit = 1 + set->rules.fail_on;
    for (int32_t i = 0; i < set->count; i++) {
        compare_row *row = &set->rows[i];
        bool slower = row->judged && row->c.verdict == STATS_SLOWER && row->c.ratio > limit;
        row->worse = isfinite(limit) && (row->lost || slower);
    }
}
