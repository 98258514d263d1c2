/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - makes the list of cases that a request asks for. */
#include "bench/workload/line.h"

#include <stdlib.h>
#include <string.h>

/* Makes a list in one pass over the suite's lines and another one over the lines that measure
 * roofs. */
typedef struct maker {
    const work_request *request;
    work_list *list;
    int32_t capacity;
    tool_words ops, variants, types, axes;
    work_sizes sizes;  /* of --size */
    bool *sizes_used;  /* whether some case has that size; one for each of `sizes` */
    bool filtered;     /* the request's filters apply; false while cases for roofs are added */
    bool chosen;       /* the user chose cases; the others only measure roofs for them */
    double longest;    /* the limit for one call on a CPU, in seconds */
    int64_t big_bytes; /* the size of an array that is larger than every cache */
    int32_t matched;
    int code;
} maker;

/* ---- cases ----------------------------------------------------------------------------------- */

/* TF32 is a type of its own here: `--dtype f32` does not mean it, unless --math asks for it. */
static bool type_matches(const maker *m, const bench_case *item)
{
    bool tf32 = item->math == ISO_MATH_TF32;
    return m->types.count == 0 || (tf32 && tool_words_have(&m->types, "tf32")) ||
           ((!tf32 || m->request->math == ISO_MATH_TF32) && tool_words_have(&m->types, item->type));
}

static bool matches(const maker *m, const bench_case *item)
{
    return (m->ops.count == 0 || bench_op_listed(&m->ops, item->op, item->kind)) &&
           (m->variants.count == 0 || tool_words_have(&m->variants, item->variant)) &&
           type_matches(m, item);
}

static void add(maker *m, bench_case *item)
{
    work_list *list = m->list;
    if (m->code != TOOL_OK || (m->filtered && !matches(m, item))) {
        return;
    }
    item->longest = m->longest;
    if (!work_case_finish(item, m->request->seed)) {
        m->code = tool_error(TOOL_INTERNAL, "the name of a case is too long: %s", item->id);
        return;
    }
    if (m->filtered && m->request->case_id && !tool_matches(m->request->case_id, item->id)) {
        return;
    }
    m->matched += m->filtered;
    for (int32_t i = 0; i < list->count; i++) {
        bench_case *seen = &list->items[i];
        if (strcmp(seen->id, item->id) != 0) {
            continue;
        }
        seen->parts = seen->parts || item->parts;
        seen->roof = seen->roof != BENCH_NO_ROOF ? seen->roof : item->roof;
        seen->priority = item->priority < seen->priority ? item->priority : seen->priority;
        return;
    }
    if (list->count == m->capacity) {
        int32_t room = m->capacity * 2 + 64;
        bench_case *more = realloc(list->items, (size_t)room * sizeof *more);
        if (!more) {
            m->code = tool_error(TOOL_INTERNAL, "no memory for the list of cases");
            return;
        }
        list->items = more;
        m->capacity = room;
    }
    list->items[list->count++] = *item;
}

/* ---- combinations ---------------------------------------------------------------------------- */

static int64_t power_of_two_up(int64_t value)
{
    int64_t power = 1;
    while (power < value) {
        power *= 2;
    }
    return power;
}

/* Four times the last-level cache, or less if memory is short. The host and each device hold
 * results and, for each of up to four types, two inputs of this size. */
static int64_t big_bytes(const work_request *request)
{
    int64_t least = 64 << 20, bytes = power_of_two_up(4 * request->cache_bytes);
    int64_t most = request->memory_bytes > 0 ? request->memory_bytes / 16 : INT64_MAX;
    if (bytes < least) {
        bytes = least;
    }
    while (bytes > most && bytes > 1 << 20) {
        bytes /= 2;
    }
    return bytes;
}

/* Sets the type: "f32", "f16-f32" for a product whose result has another type, or "e4" for elements
 * that are moved, not computed with. */
static void set_type(bench_case *item, const char *type)
{
    const char *mark = strchr(type, '-');
    char first[sizeof item->type];
    snprintf(item->type, sizeof item->type, "%s", type);
    snprintf(first, sizeof first, "%.*s", mark ? (int)(mark - type) : (int)strlen(type), type);
    if (mark) {
        iso_dtype_parse(mark + 1, &item->dtype_c);
        type = first;
    }
    if (iso_dtype_parse(type, &item->dtype) == ISO_OK) {
        item->element = iso_dtype_size(item->dtype);
    } else if (type[0] != '\0') {
        item->element = strtoll(type + 1, NULL, 10);
    }
}

/* False: there is no such case. */
static bool set_kind(bench_case *item, const char *kind, const char *variant)
{
    snprintf(item->kind, sizeof item->kind, "%s", kind);
    snprintf(item->variant, sizeof item->variant, "%s", variant);
    if (item->op->arguments) {
        iso_variant_parse(variant, &item->how);
    }
    return !item->op->set_kind || item->op->set_kind(item, kind);
}

static const char *word_of(const work_choice *choice, int32_t i)
{
    return choice->count > 0 ? choice->items[i] : "";
}

static int32_t count_of(const work_choice *choice)
{
    return choice->count > 0 ? choice->count : 1;
}

/* False: the case has no such math mode. Only f32 products of a vendor's library have TF32. */
static bool set_math(const maker *m, bench_case *item, const work_choice *maths, int32_t i)
{
    bool can = item->op->maths && item->dtype == ISO_F32 && item->how == ISO_VARIANT_VENDOR;
    item->math = ISO_MATH_STRICT;
    if (maths->count > 0) {
        iso_math_parse(maths->items[i], &item->math);
    } else if (can && m->request->math == ISO_MATH_TF32) {
        item->math = ISO_MATH_TF32;
    }
    return item->math == ISO_MATH_STRICT || can;
}

/* What all variants, math modes and cache states of a problem share. */
typedef struct problem {
    const char *kind, *type, *layout;
    bench_size size;
} problem;

static void add_ways(maker *m, const work_parsed *p, const problem *of)
{
    /* No suite has the variant `auto`. --variant adds it to each problem that has a kernel. */
    bool chosen = m->filtered && p->op->arguments && tool_words_have(&m->variants, "auto");
    for (int32_t v = 0; v < p->variants.count + chosen; v++) {
        const char *variant = v < p->variants.count ? p->variants.items[v] : "auto";
        for (int32_t a = 0; a < count_of(&p->maths); a++) {
            for (int32_t c = 0; c < p->caches.count; c++) {
                bench_case item = {.op = p->op, .by = p->op, .element = 1};
                item.roof = p->line->roof;
                item.asked = m->filtered || !m->chosen;
                item.parts = p->line->parts;
                item.priority = !item.asked                      ? WORK_PRIORITY_ROOF
                                : p->line->roof != BENCH_NO_ROOF ? 0
                                : p->line->priority > 0          ? p->line->priority
                                                                 : WORK_PRIORITY;
                item.cold = strcmp(p->caches.items[c], "cold") == 0;
                set_type(&item, of->type);
                if (!set_kind(&item, of->kind, variant) || !set_math(m, &item, &p->maths, a)) {
                    continue;
                }
                if (item.op->set_layout) {
                    item.op->set_layout(&item, of->layout);
                }
                bench_size size = of->size;
                if (size.beyond_cache) {
                    size.of[0] = m->big_bytes / item.element;
                }
                item.by->set_size(&item, &size);
                add(m, &item);
            }
        }
    }
}

/* The sizes of suites are numbers of elements for a reduction of all. Along an axis, which --axis
 * asks for, they are those of a square. */
static void make_square(bench_size *size, const char *axis)
{
    int64_t side = 1;
    if (size->count != 1 || size->beyond_cache || strcmp(axis, "all") == 0) {
        return;
    }
    while ((side + 1) * (side + 1) <= size->of[0]) {
        side++;
    }
    size->of[0] = side;
}

/* Whether a layout of this operation is the axis of a reduction. */
static bool has_axis(const bench_op *op)
{
    return op->layouts && !op->layout_members;
}

static void add_problems(maker *m, const work_parsed *p, problem of)
{
    bool steps = of.kind[0] != '\0' && bench_op_computes(p->op, of.kind);
    bool axes = m->filtered && m->axes.count > 0;
    int32_t layouts = axes ? m->axes.count : count_of(&p->layouts);
    for (int32_t l = 0; l < layouts && (!axes || has_axis(p->op)); l++) {
        for (int32_t b = 0; b < p->batches.count; b++) {
            for (int32_t s = 0; s < (steps ? p->steps.count : 1); s++) {
                problem one = of;
                one.layout = axes ? m->axes.items[l] : word_of(&p->layouts, l);
                if (axes && !m->request->size) {
                    make_square(&one.size, one.layout);
                }
                one.size.batch = p->batches.items[b].of[0];
                one.size.steps = p->steps.items[s].of[0];
                add_ways(m, p, &one);
            }
        }
    }
}

static void add_line(maker *m, const work_parsed *p)
{
    const work_sizes *sizes = m->filtered && m->request->size ? &m->sizes : &p->sizes;
    for (int32_t k = 0; k < count_of(&p->kinds); k++) {
        for (int32_t t = 0; t < count_of(&p->types); t++) {
            for (int32_t s = 0; s < sizes->count; s++) {
                if (!work_size_fits(&sizes->items[s], p->op)) {
                    continue;
                }
                int32_t before = m->matched;
                add_problems(m, p,
                             (problem){.kind = word_of(&p->kinds, k),
                                       .type = word_of(&p->types, t),
                                       .size = sizes->items[s]});
                if (sizes == &m->sizes && m->matched > before) {
                    m->sizes_used[s] = true;
                }
            }
        }
    }
}

/* A row is listed by its id or by its lab: "A2" or "A". */
bool work_row_listed(const char *rows, const char *row)
{
    for (const char *at = rows; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        size_t length = strcspn(at, ",");
        if (length > 0 && strncmp(at, row, length) == 0 && (length == 1 || row[length] == '\0')) {
            return true;
        }
    }
    return !rows;
}

/* Whether a line applies to these devices. If the request selects types, sizes or
 * ids, every line applies. */
static bool is_on(const maker *m, const work_line *line)
{
    const work_request *r = m->request;
    if (line->row && (r->no_lines || !work_row_listed(r->rows, line->row))) {
        return false;
    }
    if (!line->on || (m->filtered && (r->dtype || r->size || r->case_id))) {
        return true;
    }
    return m->request->all_cpu == (strcmp(line->on, "cpu") == 0);
}

static void add_lines(maker *m, const work_line *lines, int32_t count)
{
    for (int32_t i = 0; i < count && m->code == TOOL_OK; i++) {
        work_parsed parsed;
        const char *member;
        char text[512] = "";
        if (!is_on(m, &lines[i])) {
            continue;
        }
        if (!work_line_parse(&lines[i], &parsed, &member, text, sizeof text)) {
            m->code = tool_error(TOOL_INTERNAL, "a line of a suite is wrong: %s: %s", member, text);
        } else {
            add_line(m, &parsed);
        }
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

typedef enum word { OP_WORD, VARIANT_WORD, TYPE_WORD, AXIS_WORD } word;

/* Checks that some operation knows every word of an option. `stream`, the older word for maps, is
 * taken and not listed. */
static int check_words(const char *option, const tool_words *words, word what)
{
    tool_names names = {0};
    if (what == OP_WORD) {
        bench_op_names(&names);
    }
    for (int i = 0; i < BENCH_OPS && what != OP_WORD; i++) {
        const bench_op *op = bench_ops[i];
        const char *const *own = what == VARIANT_WORD ? op->variants
                                 : what == TYPE_WORD  ? op->types
                                 : has_axis(op)       ? op->layouts
                                                      : NULL;
        for (; own && *own; own++) {
            tool_names_add(&names, *own);
        }
    }
    if (what == VARIANT_WORD || what == TYPE_WORD) {
        tool_names_add(&names, what == VARIANT_WORD ? "auto" : "tf32");
    }
    for (int i = 0; i < words->count; i++) {
        if (what == OP_WORD && bench_op_find(words->items[i])) {
            tool_names_add(&names, words->items[i]);
        }
    }
    return tool_words_check(option, words, &names);
}

static int read_words(maker *m)
{
    const work_request *r = m->request;
    tool_words sizes = {0};
    char text[512];
    if (!tool_split(r->op, &m->ops) || !tool_split(r->variant, &m->variants) ||
        !tool_split(r->dtype, &m->types) || !tool_split(r->axis, &m->axes) ||
        !tool_split(r->size, &sizes)) {
        m->code = tool_error(TOOL_INTERNAL, "no memory");
    }
    const struct {
        const char *option;
        const tool_words *words;
        word what;
    } options[] = {{"op", &m->ops, OP_WORD},
                   {"variant", &m->variants, VARIANT_WORD},
                   {"dtype", &m->types, TYPE_WORD},
                   {"axis", &m->axes, AXIS_WORD}};
    for (size_t i = 0; i < sizeof options / sizeof options[0] && m->code == TOOL_OK; i++) {
        m->code = check_words(options[i].option, options[i].words, options[i].what);
    }
    if (m->code == TOOL_OK && !work_sizes_parse(&sizes, &m->sizes, text, sizeof text)) {
        m->code = tool_error(TOOL_USAGE, "--size: %s", text);
    }
    m->sizes_used = calloc((size_t)m->sizes.count + 1, sizeof *m->sizes_used);
    if (!m->sizes_used) {
        m->code = tool_error(TOOL_INTERNAL, "no memory");
    }
    tool_words_free(&sizes);
    return m->code;
}

/* The name is not a suite, and it does not look like the name of a file. It is probably mistyped.
 */
static int unknown_suite(const char *name)
{
    const char *names[16] = {NULL};
    char text[512];
    for (int32_t i = 0; i < work_suite_count; i++) {
        names[i] = work_suites[i].name;
    }
    tool_say_unknown(text, sizeof text, name, names);
    return tool_error(TOOL_USAGE, "--suite: %s, or a file whose name ends in .json", text);
}

static bool is_file_name(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

/* Adds the case that an id names, such as one of a run with --size, although no suite has it. Words
 * that are not understood give a case with another id, or none, and so no match. */
static void add_named(maker *m, const char *id)
{
    char *copy = strdup(id), *rest = copy, *part = strsep(&rest, "/");
    const bench_op *op = part ? bench_op_find(part) : NULL;
    work_line line = {.op = part, .cache = "hot,cold"};
    const struct {
        const char **member;
        const char *const *names;
    } members[] = {{&line.kind, op ? op->kinds : NULL},
                   {&line.variant, op ? op->variants : NULL},
                   {&line.dtype, op ? op->types : NULL},
                   {&line.layout, op ? op->layouts : NULL},
                   {&line.math, op ? op->maths : NULL}};
    while (op && (part = strsep(&rest, "/"))) {
        bench_size size;
        part += strncmp(part, "axis", 4) == 0 ? 4 : 0;
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
            bool known = members[i].names && tool_find(members[i].names, part) >= 0;
            *members[i].member = known ? part : *members[i].member;
        }
        line.size = !line.size && work_size_parse(part, &size) ? part : line.size;
        if (strcmp(part, "auto") == 0 && m->variants.count == 0 &&
            !tool_split("auto", &m->variants)) {
            m->code = tool_error(TOOL_INTERNAL, "no memory");
        }
    }
    if (op && line.size) {
        work_parsed parsed;
        const char *member;
        char text[512];
        if (work_line_parse(&line, &parsed, &member, text, sizeof text)) {
            add_line(m, &parsed);
        }
    }
    free(copy);
}

/* Adds a case that is made already, if the request has it. */
static void add_given(maker *m, const bench_case *item)
{
    work_list *list = m->list;
    if (m->request->case_id && !tool_matches(m->request->case_id, item->id)) {
        return;
    }
    list->items[list->count++] = *item;
    m->matched++;
}

static void add_suite(maker *m)
{
    if (m->request->given) {
        m->capacity = m->request->given_count;
        m->list->items = tool_alloc((size_t)m->capacity, sizeof *m->list->items, "the cases");
        for (int32_t i = 0; i < m->capacity; i++) {
            add_given(m, &m->request->given[i]);
        }
        return;
    }
    const char *name = m->request->suite ? m->request->suite : "quick";
    work_file file = {0};
    bool all = m->request->case_id && !m->request->suite, found = all;
    for (int32_t i = 0; i < work_suite_count; i++) {
        if (all || strcmp(work_suites[i].name, name) == 0) {
            add_lines(m, work_suites[i].lines, work_suites[i].count);
            found = true;
        }
    }
    if (all && m->matched == 0 && m->code == TOOL_OK) {
        add_named(m, m->request->case_id);
    }
    if (found) {
        return;
    }
    if (!is_file_name(name)) {
        m->code = unknown_suite(name);
        return;
    }
    m->code = work_file_load(name, &file);
    m->longest = 60;
    if (m->code == TOOL_OK) {
        add_lines(m, file.lines, file.count);
    }
    work_file_free(&file);
}

/* Whether an operation that --op selects has sizes of this form. */
static bool size_possible(const maker *m, const bench_size *size)
{
    for (int i = 0; i < BENCH_OPS; i++) {
        const bench_op *op = bench_ops[i];
        bool chosen = m->ops.count == 0 || bench_op_listed(&m->ops, op, "");
        for (const char *const *kind = op->kinds; !chosen && kind && *kind; kind++) {
            chosen = tool_words_have(&m->ops, *kind);
        }
        if (chosen && work_size_fits(size, op)) {
            return true;
        }
    }
    return false;
}

static int check_matched(const maker *m)
{
    const work_request *r = m->request;
    const char *const options[][2] = {{" --case ", r->case_id},    {" --op ", r->op},
                                      {" --variant ", r->variant}, {" --dtype ", r->dtype},
                                      {" --axis ", r->axis},       {" --size ", r->size}};
    for (int32_t s = 0; s < m->sizes.count; s++) {
        if (!size_possible(m, &m->sizes.items[s])) {
            return tool_error(TOOL_USAGE, "--size %s: number %d is no size of --op %s: %s", r->size,
                              (int)s + 1, r->op ? r->op : "all", work_size_rule);
        }
    }
    bool rows_alone = r->suite && strcmp(r->suite, "labs") == 0 && !work_request_chooses(r);
    if (m->matched == 0 && !rows_alone) {
        char text[512] = "";
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
            if (options[i][1]) {
                tool_join(text, sizeof text, "", options[i][0]);
                tool_join(text, sizeof text, "", options[i][1]);
            }
        }
        return tool_error(TOOL_NOTHING,
                          "no case of %s%s matches%s; nothing was run (--list without these "
                          "options shows all cases)",
                          r->suite || !r->case_id ? "the suite " : "any suite",
                          r->suite     ? r->suite
                          : r->case_id ? ""
                                       : "quick",
                          text);
    }
    for (int32_t s = 0; s < m->sizes.count; s++) {
        if (!m->sizes_used[s]) {
            return tool_error(TOOL_USAGE,
                              "--size %s: none of the chosen operations has size number %d",
                              r->size, (int)s + 1);
        }
    }
    return TOOL_OK;
}

bool work_request_chooses(const work_request *r)
{
    return r->op || r->case_id || r->variant || r->dtype || r->size || r->axis;
}

int work_list_make(const work_request *request, work_list *out)
{
    *out = (work_list){0};
    maker m = {.request = request, .list = out, .filtered = true, .code = TOOL_OK};
    bool full = request->suite && strcmp(request->suite, "full") == 0;
    m.longest = request->size || request->case_id ? 60 : full ? 0.25 : 1;
    m.big_bytes = big_bytes(request);
    m.chosen = request->given || work_request_chooses(request) ||
               (request->suite && is_file_name(request->suite));
    if (read_words(&m) == TOOL_OK) {
        add_suite(&m);
    }
    if (m.code == TOOL_OK) {
        m.code = check_matched(&m);
    }
    m.filtered = false;
    m.longest = 1;
    if (m.code == TOOL_OK && !request->no_roofs) {
        add_lines(&m, work_roofs.lines, work_roofs.count);
    }
    tool_words_free(&m.ops);
    tool_words_free(&m.variants);
    tool_words_free(&m.types);
    tool_words_free(&m.axes);
    free(m.sizes_used);
    if (m.code != TOOL_OK) {
        work_list_free(out);
    }
    return m.code;
}

void work_list_free(work_list *list)
{
    free(list->items);
    *list = (work_list){0};
}
