/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - one kernel on a device and in the model, with the same arguments. */
#include "tests/kernels/conformance/conformance.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE_MOST = 4, AFTER = 2, WHY = 1024 };

typedef struct place {
    const model_symbol *param;
    iso_buffer buffer;
    int64_t before, count;      /* elements in front of those that the kernel gets, and these */
    unsigned char *begin, *got; /* all elements: the model's, and the device's */
    unsigned char *original;
} place;

typedef struct launch {
    conf_run *run;
    const conf_case *of;
    model_program *program;
    const model_kernel *kernel;
    model_launch model;
    conf_random random;
    place places[MODEL_PARAMS];
    iso_argument arguments[MODEL_PARAMS];
    int argument_count;
    bool changes; /* the kernel writes something */
    char *why;
    size_t room;
} launch;

static bool say(launch *l, const char *format, const char *a, const char *b)
{
    (void)snprintf(l->why, l->room, format, a, b);
    return false;
}

#define TRY(l, call) ((call) == ISO_OK || say((l), "%s: %s", #call, iso_last_error()))

/* ---- values ---------------------------------------------------------------------------------- */

static double special_float(conf_random *random)
{
    static const double list[] = {0.0,
                                  -0.0,
                                  1.0,
                                  -1.0,
                                  0.5,
                                  -1.5,
                                  3.0,
                                  0x1p-149,
                                  -0x1p-149,
                                  0x1p-126,
                                  0x1.fffffcp-127,
                                  -0x1p-126,
                                  0x1.fffffep127,
                                  -0x1.fffffep127,
                                  88.72284,
                                  -87.33655,
                                  88.8,
                                  -103.9,
                                  -104.0,
                                  709.78,
                                  -745.1,
                                  -746.0,
                                  0x1p-1074,
                                  0x1p-1022,
                                  0x1.fffffffffffffp1023,
                                  1e10,
                                  -1e-10,
                                  16777217.0,
                                  0.1,
                                  0x1p-140};
    const int count = (int)(sizeof list / sizeof *list);
    const int which = conf_below(random, count + 3);
    return which < count        ? list[which]
           : which == count     ? (double)NAN
           : which == count + 1 ? (double)INFINITY
                                : -(double)INFINITY;
}

static model_value draw_float(conf_random *random, model_scalar scalar)
{
    const int how = conf_below(random, 4);
    const uint64_t bits = conf_draw(random);
    if (how == 0) { /* any bits */
        return model_load(scalar, (const unsigned char *)&bits);
    }
    const double value =
        how == 1 ? special_float(random) : (double)((int64_t)(bits % 2000001u) - 1000000) / 997.0;
    return scalar == MODEL_F32 ? (model_value){.f = (float)value} : (model_value){.d = value};
}

static model_value draw_integer(conf_random *random, model_scalar scalar)
{
    const int width = 8 * model_scalars[scalar].bytes;
    const uint64_t top = (uint64_t)1 << (width - 1);
    const uint64_t special[] = {0, 1, UINT64_MAX, 2, 7, top, top - 1, top + 1};
    const int how = conf_below(random, 4);
    uint64_t bits = conf_draw(random);
    if (how == 0) {
        bits = special[bits % (sizeof special / sizeof *special)];
    } else if (how == 1) {
        bits = bits % 201u - 100u;
    }
    return model_load(scalar, (const unsigned char *)&bits);
}

static void draw_value(conf_random *random, const model_type *type, unsigned char *to)
{
    for (int i = 0; i < (type->member_count ? type->member_count : 1); i++) {
        const model_member *member = &type->members[i];
        const model_scalar scalar = type->member_count ? member->scalar : type->scalar;
        const int offset = type->member_count ? member->offset : 0;
        for (int k = 0; k < (member->count ? member->count : 1); k++) {
            model_store(scalar, to + offset + k * model_scalars[scalar].bytes,
                        model_scalars[scalar].is_float ? draw_float(random, scalar)
                                                       : draw_integer(random, scalar));
        }
    }
}

/* The number after "name=" among the case's values. */
static bool stated_value(const conf_case *of, const char *name, int64_t *value)
{
    const size_t length = strlen(name);
    for (const char *at = of->values; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (!strncmp(at, name, length) && at[length] == '=') {
            *value = strtoll(at + length + 1, NULL, 10);
            return true;
        }
    }
    return false;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static iso_argument value_argument(launch *l, const model_type *type, const unsigned char *at)
{
    const model_value value =
        type->kind == MODEL_SCALAR ? model_load(type->scalar, at) : (model_value){0};
    const bool is_float = model_scalars[type->scalar].is_float;
    const bool fits = is_float || type->scalar != MODEL_U64 || value.u <= INT64_MAX;
    if (type->kind != MODEL_SCALAR || !fits || conf_below(&l->random, 2)) {
        return iso_arg_bytes(at, type->bytes);
    }
    return !is_float                   ? iso_arg_integer(value.i)
           : type->scalar == MODEL_F32 ? iso_arg_float((double)value.f)
                                       : iso_arg_float(value.d);
}

static void set_values(launch *l)
{
    const int *size = l->kernel->size;
    for (int i = 0; i < l->kernel->param_count; i++) {
        const model_symbol *param = l->kernel->params[i];
        int64_t value = 0;
        const bool stated = stated_value(l->of, param->name, &value);
        if (param->role == MODEL_PARAM) {
            l->model.at[i] = calloc(1, (size_t)param->type->bytes + sizeof(int64_t));
            draw_value(&l->random, param->type, l->model.at[i]);
            if (stated) {
                model_store(param->type->scalar, l->model.at[i], (model_value){.i = value});
            }
        } else if (param->role == MODEL_SHARED && !param->count) {
            l->model.count[i] = stated ? value : size[0] * size[1] * size[2];
        }
    }
}

static size_t bytes_of(const place *p)
{
    return (size_t)((p->before + p->count + AFTER) * p->param->type->bytes);
}

/* A whole number, of which sums neither overflow nor round. */
static void set_low(model_scalar scalar, unsigned char *at)
{
    model_value value = model_load(scalar, at);
    uint32_t bits;
    memcpy(&bits, at, sizeof bits); /* atomics have types of 4 bytes and more */
    if (scalar == MODEL_F32) {
        value.f = (float)(bits % 2001u) - 1000.0f;
    } else if (scalar == MODEL_F64) {
        value.d = (double)(bits % 2001u) - 1000.0;
    } else {
        value.i = value.i % 100000;
    }
    model_store(scalar, at, value);
}

static bool make_place(launch *l, int index)
{
    place *p = &l->places[index];
    const int64_t *groups = l->of->groups;
    const int *size = l->kernel->size;
    char why[WHY] = "";
    p->param = l->kernel->params[index];
    const int64_t bytes = p->param->type->bytes;
    const int64_t extent = model_extent(l->program, l->kernel, index, &l->model, why, sizeof why);
    if (why[0]) {
        return say(l, "%s: the model: %s", l->of->name, why);
    }
    p->count =
        extent >= 0 ? extent : groups[0] * groups[1] * groups[2] * size[0] * size[1] * size[2];
    p->before = conf_below(&l->random, BEFORE_MOST);
    const size_t all = bytes_of(p);
    p->begin = calloc(1, all);
    p->got = calloc(1, all);
    p->original = calloc(1, all);
    if (!p->begin || !p->got || !p->original) {
        return say(l, "%s: no memory%s", l->of->name, "");
    }
    for (size_t at = 0; at < all; at += (size_t)bytes) {
        draw_value(&l->random, p->param->type, p->begin + at);
        if (!strncmp(p->param->name, "low_", 4)) {
            set_low(p->param->type->scalar, p->begin + at);
        }
    }
    memcpy(p->original, p->begin, all);
    l->model.at[index] = p->begin + p->before * bytes;
    l->model.count[index] = p->count;
    return TRY(l, iso_buffer_create(l->run->device, (int64_t)all, &p->buffer)) &&
           TRY(l, iso_write(l->run->stream, (iso_operand){p->buffer, 0}, p->begin, (int64_t)all)) &&
           TRY(l, iso_stream_sync(l->run->stream));
}

static bool set_arguments(launch *l)
{
    set_values(l);
    for (int i = 0; i < l->kernel->param_count; i++) {
        const model_symbol *param = l->kernel->params[i];
        iso_argument *argument = &l->arguments[l->argument_count];
        if (param->role == MODEL_PARAM) {
            *argument = value_argument(l, param->type, l->model.at[i]);
        } else if (param->role == MODEL_SHARED && !param->count) {
            *argument = iso_arg_integer(l->model.count[i]);
        } else if (param->role == MODEL_SHARED || param->role == MODEL_OWN) {
            continue;
        } else {
            if (!make_place(l, i)) {
                return false;
            }
            const iso_operand at = {l->places[i].buffer, l->places[i].before * param->type->bytes};
            *argument = iso_arg_buffer(at);
        }
        l->argument_count++;
    }
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The same bytes for the same values: one NaN, and nothing between members. */
static void make_canonical(const model_type *type, unsigned char *at)
{
    unsigned char whole[8192] = {0};
    for (int i = 0; i < (type->member_count ? type->member_count : 1); i++) {
        const model_member *member = &type->members[i];
        const model_scalar scalar = type->member_count ? member->scalar : type->scalar;
        const int size = model_scalars[scalar].bytes;
        int offset = type->member_count ? member->offset : 0;
        for (int k = 0; k < (member->count ? member->count : 1); k++, offset += size) {
            model_value value = model_load(scalar, at + offset);
            if (scalar == MODEL_F32 && isnan(value.f)) {
                value.f = NAN;
            } else if (scalar == MODEL_F64 && isnan(value.d)) {
                value.d = (double)NAN;
            }
            model_store(scalar, whole + offset, value);
        }
    }
    memcpy(at, whole, (size_t)type->bytes);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static void describe(char *to, size_t room, const model_type *type, const unsigned char *at)
{
    size_t used = 0;
    for (int i = type->bytes - 1; i >= 0 && used + 3 < room && i > type->bytes - 33; i--) {
        used += (size_t)snprintf(to + used, room - used, "%02x", at[i]);
    }
    if (type->kind == MODEL_SCALAR) {
        const model_value value = model_load(type->scalar, at);
        const char *format = model_scalars[type->scalar].is_float ? " (%.17g)" : " (%.0f)";
        (void)snprintf(to + used, room - used, format,
                       type->scalar == MODEL_F32               ? (double)value.f
                       : type->scalar == MODEL_F64             ? value.d
                       : model_scalars[type->scalar].is_signed ? (double)value.i
                                                               : (double)value.u);
    }
}

static bool compare(launch *l, place *p)
{
    const model_type *type = p->param->type;
    const int64_t all = p->before + p->count + AFTER, bytes = type->bytes;
    if (!TRY(l, iso_read(l->run->stream, p->got, (iso_operand){p->buffer, 0}, all * bytes)) ||
        !TRY(l, iso_stream_sync(l->run->stream))) {
        return false;
    }
    for (int64_t i = 0; i < all; i++) {
        make_canonical(type, p->begin + i * bytes);
        make_canonical(type, p->got + i * bytes);
    }
    if (!strncmp(p->param->name, "set_", 4)) { /* its order is open */
        int (*order)(const void *, const void *) = bytes == 8 ? compare_u64 : compare_u32;
        qsort(p->begin + p->before * bytes, (size_t)p->count, (size_t)bytes, order);
        qsort(p->got + p->before * bytes, (size_t)p->count, (size_t)bytes, order);
    }
    l->run->digest = XXH64(p->got, (size_t)(all * bytes), l->run->digest);
    for (int64_t i = 0; i < all; i++) {
        if (memcmp(p->begin + i * bytes, p->got + i * bytes, (size_t)bytes) != 0) {
            char expected[128], got[128];
            describe(expected, sizeof expected, type, p->begin + i * bytes);
            describe(got, sizeof got, type, p->got + i * bytes);
            (void)snprintf(l->why, l->room, "%s: %s[%lld] of %lld is %s, and %s in the model",
                           l->of->name, p->param->name, (long long)(i - p->before),
                           (long long)p->count, got, expected);
            return false;
        }
    }
    return true;
}

/* A buffer with one element less must be refused, and nothing may run. */
static bool refuse_short(launch *l, iso_kernel kernel, int index, int argument)
{
    const place *p = &l->places[index];
    const int64_t bytes = p->param->type->bytes;
    iso_argument arguments[MODEL_PARAMS];
    int64_t elements = -1;
    if (!TRY(l, iso_kernel_get_extent(kernel, index, l->arguments, l->argument_count, &elements))) {
        return false;
    }
    if (elements != (l->kernel->extents[index] ? p->count : -1)) {
        return say(l, "%s: iso_kernel_get_extent of %s differs from the model", l->of->name,
                   p->param->name);
    }
    if (elements < 1) {
        return true;
    }
    memcpy(arguments, l->arguments, sizeof arguments);
    arguments[argument].buffer.offset = (p->before + AFTER + 1) * bytes;
    const iso_groups groups = {l->of->groups[0], l->of->groups[1], l->of->groups[2]};
    return iso_launch(l->run->stream, kernel, groups, arguments, l->argument_count) ==
                       ISO_INVALID &&
                   strstr(iso_last_error(), p->param->name)
               ? true
               : say(l, "%s: a launch is not refused that has too few elements in %s", l->of->name,
                     p->param->name);
}

static bool check_extents(launch *l, iso_kernel kernel)
{
    int argument = 0;
    for (int i = 0; i < l->kernel->param_count; i++) {
        const model_symbol *param = l->kernel->params[i];
        if (l->places[i].param && !refuse_short(l, kernel, i, argument)) {
            return false;
        }
        argument += param->role != MODEL_OWN && (param->role != MODEL_SHARED || !param->count);
    }
    return true;
}

static bool run(launch *l, iso_program program)
{
    const iso_groups groups = {l->of->groups[0], l->of->groups[1], l->of->groups[2]};
    iso_kernel kernel;
    char why[WHY];
    if (!set_arguments(l)) {
        return false;
    }
    if (!model_run(l->program, l->kernel, &l->model, why, sizeof why)) {
        return say(l, "%s: the text breaks a rule: %s", l->of->name, why);
    }
    for (int i = 0; i < l->kernel->param_count; i++) {
        const place *p = &l->places[i];
        l->changes = l->changes || (p->param && memcmp(p->begin, p->original, bytes_of(p)) != 0);
    }
    if (!l->changes && l->kernel->param_count && groups.x * groups.y * groups.z > 0) {
        return say(l, "%s: the kernel changes nothing%s", l->of->name, "");
    }
    if (!TRY(l, iso_kernel_get(program, l->of->name, &kernel)) || !check_extents(l, kernel) ||
        !TRY(l, iso_launch(l->run->stream, kernel, groups, l->arguments, l->argument_count))) {
        return false;
    }
    bool good = true;
    for (int i = 0; i < l->kernel->param_count; i++) {
        good = (!l->places[i].param || compare(l, &l->places[i])) && good;
    }
    return good;
}

static void release(launch *l)
{
    for (int i = 0; i < MODEL_PARAMS; i++) {
        place *p = &l->places[i];
        if (p->buffer.id) {
            (void)iso_buffer_destroy(p->buffer);
        }
        if (l->kernel && i < l->kernel->param_count && !p->param) {
            free(l->model.at[i]);
        }
        free(p->begin);
        free(p->got);
        free(p->original);
    }
    model_free(l->program);
}

bool conf_launch(conf_run *of_run, const conf_case *of, iso_program program, char *why, size_t room)
{
    char reason[WHY] = "";
    const model_macro macros[CONF_MACROS] = {{conf_macros[0].name, conf_macros[0].value},
                                             {conf_macros[1].name, conf_macros[1].value}};
    launch l = {
        .run = of_run, .of = of, .why = why, .room = room, .random = conf_seed(1, of->name)};
    l.program = model_read(of->text, macros, CONF_MACROS, reason, sizeof reason);
    l.kernel = l.program ? model_find(l.program, of->name) : NULL;
    memcpy(l.model.groups, of->groups, sizeof l.model.groups);
    const bool good = l.kernel ? run(&l, program)
                               : say(&l, "%s: the model does not read it: %s", of->name, reason);
    release(&l);
    return good;
}
