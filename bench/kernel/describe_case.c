/* SPDX-License-Identifier: Apache-2.0 */
/* describe_case.c - makes a kernel's cases: one for each object in "sizes" and "bench". */
#include "bench/kernel/describe_read.h"

#include <stdlib.h>
#include <string.h>

static bool is_buffer(const iso_parameter *p)
{
    return p->role == ISO_PARAMETER_IN || p->role == ISO_PARAMETER_OUT ||
           p->role == ISO_PARAMETER_INOUT;
}

/* Whether its elements may be stated: a buffer, or a shared array that the launch sizes. */
static bool is_array(const iso_parameter *p)
{
    return is_buffer(p) || (p->role == ISO_PARAMETER_SHARED && p->count == 0);
}

static bool is_value(const iso_parameter *p)
{
    return p->role == ISO_PARAMETER_VALUE;
}

static bool is_read(const iso_parameter *p)
{
    return p->role == ISO_PARAMETER_IN || p->role == ISO_PARAMETER_INOUT;
}

const describe_parameter *describe_find(const describe_case *item, const char *name)
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        if (strcmp(item->parameters[i].is.name, name) == 0) {
            return &item->parameters[i];
        }
    }
    return NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char value_of[] = "value of kernel %s";

/* `what` has a place for the kernel's name. Checks that each member of an object names a parameter
 * of the right role. */
static int check_names(describe_reader *r, const describe_kernel *kernel, const json_t *object,
                       bool (*fits)(const iso_parameter *), const char *what)
{
    tool_names names = {.count = 0};
    char all[512] = "", is[256];
    const char *name;
    json_t *value;
    for (int32_t i = 0; i < kernel->info.parameters; i++) {
        iso_parameter found = ISO_PARAMETER_INIT;
        if (iso_kernel_get_parameter(kernel->kernel, i, &found) == ISO_OK && fits(&found)) {
            names.items[names.count++] = strdup(found.name);
            tool_join(all, sizeof all, ", ", found.name);
        }
    }
    int code = TOOL_OK;
    snprintf(is, sizeof is, what, kernel->name);
    json_object_foreach((json_t *)object, name, value)
    {
        if (code != TOOL_OK || tool_find(names.items, name) >= 0) {
            continue;
        }
        const char *near = tool_nearest(name, names.items, names.count);
        if (names.count == 0) {
            code = describe_wrong(r, "\"%s\" is no %s, which has none: remove it", name, is);
        } else {
            code = describe_wrong(r, "\"%s\" is no %s%s%s%s: %s", name, is,
                                  near ? ", did you mean \"" : "; ", near ? near : "it has",
                                  near ? "\"? It has" : "", all);
        }
    }
    for (int i = 0; i < names.count; i++) {
        free((char *)names.items[i]);
    }
    return code;
}

int describe_check_names(describe_reader *r, const describe_kernel *kernel)
{
    static const struct {
        const char *member, *what;
        bool (*fits)(const iso_parameter *);
    } lists[] = {{"arguments", value_of, is_value},
                 {"inputs", "input (ISO_IN or ISO_INOUT) of kernel %s", is_read},
                 {"elements", "buffer or array sized at launch of kernel %s", is_array}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const json_t *object = json_object_get(kernel->object, lists[i].member);
        size_t before = describe_enter(r, ".%s", lists[i].member);
        char text[80];
        if (object && !json_is_object(object)) {
            return describe_wrong(r, "it is %s but must be an object with names of parameters",
                                  describe_shown(object, text, sizeof text));
        }
        int code = check_names(r, kernel, object, lists[i].fits, lists[i].what);
        if (code != TOOL_OK) {
            return code;
        }
        describe_leave(r, before);
    }
    return TOOL_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void ask_parameters(describe_case *item)
{
    const describe_kernel *kernel = item->kernel;
    item->parameter_count = kernel->info.parameters;
    item->parameters = tool_alloc((size_t)item->parameter_count + 1, sizeof *item->parameters,
                                  "a kernel's parameters");
    item->arguments = tool_alloc((size_t)item->parameter_count + 1, sizeof *item->arguments,
                                 "a kernel's arguments");
    for (int32_t i = 0; i < item->parameter_count; i++) {
        describe_parameter *p = &item->parameters[i];
        iso_operand none = {{0}, 0};
        p->is = (iso_parameter)ISO_PARAMETER_INIT;
        tool_need_memory(iso_kernel_get_parameter(kernel->kernel, i, &p->is));
        describe_type(p);
        p->is_buffer = is_buffer(&p->is);
        p->is_read = is_read(&p->is);
        p->is_written = p->is_buffer && p->is.role != ISO_PARAMETER_IN;
        p->elements = p->is.role == ISO_PARAMETER_SHARED ? p->is.count : 1;
        p->usable = p->elements;
        if (p->is.argument >= 0) {
            item->arguments[p->is.argument] =
                p->is_buffer ? iso_arg_buffer(none) : iso_arg_integer(0);
            item->argument_count++;
        }
    }
}

/* "x1000" for an integer, "/a=-3.25" for another value. */
static void add_shape(describe_case *item, const char *name, const json_t *value, const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=:,.";
    bool whole = json_is_integer(value);
    size_t used = strlen(item->shape);
    snprintf(item->shape + used, sizeof item->shape - used, "%s%s%s%s",
             used == 0 ? ""
             : whole   ? "x"
                       : "/",
             whole ? "" : name, whole ? "" : "=", text);
    for (char *at = item->shape + used; *at; at++) {
        *at = *at == '/' || strchr(safe, *at) ? *at : '_';
    }
}

static void name_size(describe_case *item)
{
    const char *name;
    json_t *value;
    for (int whole = 1; whole >= 0; whole--) {
        json_object_foreach(item->values, name, value)
        {
            char text[64], part[160];
            if (json_is_integer(value) != (whole == 1)) {
                continue;
            }
            describe_shown(value, text, sizeof text);
            snprintf(part, sizeof part, "%s=%s", name, text);
            tool_join(item->size, sizeof item->size, " ", part);
            if (whole == 0) {
                tool_join(item->others, sizeof item->others, " ", part);
            }
            add_shape(item, name, value, text);
        }
    }
}

/* The values of a size come first, because they may replace those of all sizes. */
static int read_values(describe_reader *r, size_t above, describe_case *item)
{
    const json_t *common = json_object_get(item->kernel->object, "arguments");
    for (int32_t i = 0; i < item->parameter_count; i++) {
        describe_parameter *p = &item->parameters[i];
        const json_t *own = json_object_get(item->values, p->is.name);
        const json_t *value = own ? own : json_object_get(common, p->is.name);
        char size_place[sizeof r->place];
        if (!is_value(&p->is)) {
            continue;
        }
        if (!value) {
            return describe_wrong(r,
                                  "kernel %s needs a value of %s (%s): add \"%s\" here, or to "
                                  "arguments for every size",
                                  item->kernel->name, p->is.name, p->is.type, p->is.name);
        }
        memcpy(size_place, r->place, sizeof size_place);
        if (own) {
            describe_enter(r, ".%s", p->is.name);
        } else {
            describe_leave(r, above);
            describe_enter(r, ".arguments.%s", p->is.name);
        }
        int code = describe_argument(r, value, p, &item->arguments[p->is.argument]);
        if (code != TOOL_OK) {
            return code;
        }
        memcpy(r->place, size_place, sizeof r->place);
    }
    return TOOL_OK;
}

/* ---- elements -------------------------------------------------------------------------------- */

static int set_elements(describe_reader *r, describe_case *item, describe_parameter *p,
                        int64_t stated, int64_t extent)
{
    p->elements = stated >= 0 ? stated : extent;
    p->usable = p->elements;
    if (p->elements == 0) { /* the buffer exists, but no item may use it */
        p->elements = 1;
    }
    if (__builtin_mul_overflow(p->elements, (int64_t)p->is.bytes, &p->bytes)) {
        return describe_wrong(r, "%s has %lld elements of %d bytes (with %s): more than 2^63 bytes",
                              p->is.name, (long long)p->elements, (int)p->is.bytes, item->size);
    }
    if (p->is.role == ISO_PARAMETER_SHARED) {
        item->arguments[p->is.argument] = iso_arg_integer(p->elements);
    }
    return TOOL_OK;
}

static int read_elements(describe_reader *r, describe_case *item, describe_parameter *p)
{
    const json_t *value =
        json_object_get(json_object_get(item->kernel->object, "elements"), p->is.name);
    int64_t stated = -1, extent = -1;
    int32_t index = (int32_t)(p - item->parameters);
    if (p->is_buffer && iso_kernel_get_extent(item->kernel->kernel, index, item->arguments,
                                              item->argument_count, &extent) != ISO_OK) {
        return describe_wrong(r, "the extent of %s has no value with %s: %s", p->is.name,
                              item->size, tool_reason());
    }
    if (!value && p->is_buffer && p->is.extent[0] && extent < 0) {
        return describe_wrong(r, "ISO_EXTENT(%s) of %s is %lld with %s; it must be 0 or more",
                              p->is.extent, p->is.name, (long long)extent, item->size);
    }
    size_t before = describe_enter(r, ".elements");
    if (!value && extent < 0) {
        return describe_wrong(r,
                              "%s is %s: say here how many elements it has, by a number or an "
                              "expression, such as \"%s\": \"2 * n\"",
                              p->is.name,
                              p->is_buffer ? "a buffer without ISO_EXTENT"
                                           : "an array that the launch sizes",
                              p->is.name);
    }
    if (value) {
        describe_enter(r, ".%s", p->is.name);
        int code = describe_amount(r, value, item, &stated);
        if (code != TOOL_OK) {
            return code;
        }
        if (stated < 0 || stated < extent || (!p->is_buffer && stated == 0)) {
            const int64_t least = extent > 0 ? extent : p->is_buffer ? 0 : 1;
            return describe_wrong(r, "it is %lld with %s, but %s needs at least %lld element%s",
                                  (long long)stated, item->size, p->is.name, (long long)least,
                                  least == 1 ? "" : "s");
        }
    }
    int code = set_elements(r, item, p, stated, extent);
    if (code == TOOL_OK) {
        describe_leave(r, before);
    }
    return code;
}

static int read_arrays(describe_reader *r, describe_case *item)
{
    int code = TOOL_OK;
    for (int32_t i = 0; i < item->parameter_count && code == TOOL_OK; i++) {
        if (is_array(&item->parameters[i].is)) {
            code = read_elements(r, item, &item->parameters[i]);
        }
    }
    const json_t *inputs = json_object_get(item->kernel->object, "inputs");
    size_t before = describe_enter(r, ".inputs");
    for (int32_t i = 0; i < item->parameter_count && code == TOOL_OK; i++) {
        describe_parameter *p = &item->parameters[i];
        if (p->is_buffer) {
            code = describe_read_fill(r, json_object_get(inputs, p->is.name), item, p);
        }
    }
    if (code == TOOL_OK) {
        describe_leave(r, before);
    }
    return code;
}

/* ---- groups and cost ------------------------------------------------------------------------- */

static int read_groups(describe_reader *r, describe_case *item)
{
    const describe_kernel *kernel = item->kernel;
    const json_t *items = json_object_get(kernel->object, "items");
    const json_t *groups = json_object_get(kernel->object, "groups");
    const json_t *list = items ? items : groups;
    size_t count = json_array_size(list);
    int64_t counts[3] = {1, 1, 1}, all = 1;
    char text[80];
    if (!items == !groups) {
        return describe_wrong(r, "it has %s: give one of them, such as \"items\": [\"n\"]",
                              items ? "both items and groups" : "neither items nor groups");
    }
    size_t before = describe_enter(r, items ? ".items" : ".groups");
    if (!json_is_array(list) || count == 0 || count > 3) {
        return describe_wrong(r,
                              "it is %s but must be a list of 1 to 3 numbers or expressions, "
                              "along x, y and z, such as [\"n\"]",
                              describe_shown(list, text, sizeof text));
    }
    for (size_t i = 0; i < count; i++) {
        size_t whole = describe_enter(r, "[%zu]", i);
        int code = describe_amount(r, json_array_get(list, i), item, &counts[i]);
        if (code != TOOL_OK) {
            return code;
        }
        if (counts[i] < 0) {
            return describe_wrong(r, "it is %lld with %s, but must be 0 or more",
                                  (long long)counts[i], item->size);
        }
        if (items) { /* rounded up, without overflow */
            counts[i] =
                counts[i] / kernel->info.items[i] + (counts[i] % kernel->info.items[i] != 0);
        }
        describe_leave(r, whole);
    }
    if (__builtin_mul_overflow(counts[0], counts[1], &all) ||
        __builtin_mul_overflow(all, counts[2], &all) || all >= (int64_t)1 << 31) {
        return describe_wrong(r,
                              "with %s these are %lld x %lld x %lld groups; a launch has fewer "
                              "than 2^31",
                              item->size, (long long)counts[0], (long long)counts[1],
                              (long long)counts[2]);
    }
    item->groups = (iso_groups){counts[0], counts[1], counts[2]};
    describe_leave(r, before);
    return TOOL_OK;
}

static int read_cost(describe_reader *r, describe_case *item)
{
    const struct {
        const char *member;
        double *to;
    } costs[] = {{"flops", &item->flops}, {"reads", &item->reads}, {"writes", &item->writes}};
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        item->reads += p->is_read ? (double)p->bytes : 0;
        item->writes += p->is_written ? (double)p->bytes : 0;
    }
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        const json_t *value = json_object_get(item->kernel->object, costs[i].member);
        int64_t amount = 0;
        if (!value) {
            continue;
        }
        size_t before = describe_enter(r, ".%s", costs[i].member);
        int code = describe_amount(r, value, item, &amount);
        if (code != TOOL_OK) {
            return code;
        }
        if (amount < 0) {
            return describe_wrong(r, "it is %lld with %s, but must be 0 or more", (long long)amount,
                                  item->size);
        }
        *costs[i].to = (double)amount;
        describe_leave(r, before);
    }
    return TOOL_OK;
}

/* ---- the reference --------------------------------------------------------------------------- */

/* Own values, and shared arrays that the text sizes. */
static bool is_own(const iso_parameter *p)
{
    return p->role == ISO_PARAMETER_OWN || (p->role == ISO_PARAMETER_SHARED && p->count > 0);
}

/* Roles that a kernel and its reference must share have the same text. */
static const char *role_of(const iso_parameter *p)
{
    static const char value[] = "value", buffer[] = "buffer", array[] = "shared array";
    return is_value(p) ? value : is_buffer(p) ? buffer : array;
}

/* The reference gets the values and the elements of the parameters with the same names. */
static int take_parameters(describe_reader *r, const describe_case *from, describe_case *item)
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        describe_parameter *p = &item->parameters[i];
        const describe_parameter *same = describe_find(from, p->is.name);
        if (is_own(&p->is)) {
            continue;
        }
        if (!same || is_own(&same->is)) {
            return describe_wrong(r,
                                  "it has a parameter %s (%s), which kernel %s lacks: a reference "
                                  "gets the values and buffers of the kernel, by their names",
                                  p->is.name, p->is.type, from->kernel->name);
        }
        if (strcmp(same->is.type, p->is.type) != 0 || role_of(&same->is) != role_of(&p->is)) {
            return describe_wrong(r,
                                  "its parameter %s is a %s of %s, but that of kernel %s is a %s "
                                  "of %s: they must agree",
                                  p->is.name, role_of(&p->is), p->is.type, from->kernel->name,
                                  role_of(&same->is), same->is.type);
        }
        p->elements = same->elements;
        p->usable = same->usable;
        p->bytes = same->bytes;
        p->fill = same->fill; /* the kernel's case owns the bytes */
        item->arguments[p->is.argument] = from->arguments[same->is.argument];
    }
    for (int32_t i = 0; i < from->parameter_count; i++) {
        const describe_parameter *p = &from->parameters[i];
        const describe_parameter *same = describe_find(item, p->is.name);
        if (p->is_written && (!same || !same->is_written)) {
            return describe_wrong(r, "kernel %s does not write %s, which kernel %s writes",
                                  item->kernel->name, p->is.name, from->kernel->name);
        }
    }
    return TOOL_OK;
}

static int make_reference(describe_reader *r, describe_case *item)
{
    describe_case *made = tool_alloc(1, sizeof *made, "a reference");
    item->reference = made;
    made->kernel = item->kernel->reference;
    memcpy(made->size, item->size, sizeof made->size);
    ask_parameters(made);
    size_t before = describe_enter(r, ".reference");
    int code = take_parameters(r, item, made);
    code = code == TOOL_OK ? read_groups(r, made) : code;
    if (code == TOOL_OK) {
        describe_leave(r, before);
    }
    return code;
}

/* ---- a case ---------------------------------------------------------------------------------- */

int describe_make_case(describe_reader *r, const describe_kernel *kernel, json_t *values,
                       describe_case *out)
{
    char text[80], inside[sizeof r->place];
    size_t above =
        (size_t)(strrchr(r->place, '.') - r->place); /* where the kernel's own place ends */
    if (!json_is_object(values)) {
        return describe_wrong(r, "it is %s but must be an object such as {\"n\": 1000}",
                              describe_shown(values, text, sizeof text));
    }
    *out = (describe_case){.kernel = kernel, .values = values};
    ask_parameters(out);
    name_size(out);
    int code = check_names(r, kernel, values, is_value, value_of);
    code = code == TOOL_OK ? read_values(r, above, out) : code;
    if (code != TOOL_OK) {
        return code;
    }
    memcpy(inside, r->place, sizeof inside);
    describe_leave(r, above);
    if ((code = read_arrays(r, out)) != TOOL_OK || (code = read_groups(r, out)) != TOOL_OK ||
        (code = read_cost(r, out)) != TOOL_OK ||
        (kernel->reference && (code = make_reference(r, out)) != TOOL_OK)) {
        return code;
    }
    memcpy(r->place, inside, sizeof r->place);
    return TOOL_OK;
}

void describe_free_case(describe_case *item)
{
    for (int32_t i = 0; i < item->parameter_count; i++) {
        free(item->parameters[i].value);
        free(item->parameters[i].fill.bytes);
    }
    if (item->reference) {
        for (int32_t i = 0; i < item->reference->parameter_count; i++) {
            item->reference->parameters[i].fill.bytes = NULL;
        }
        describe_free_case(item->reference);
    }
    free(item->reference);
    free(item->parameters);
    free(item->arguments);
}
