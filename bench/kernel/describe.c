/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - reads descriptions of kernels (docs/schema/isomer-kernels-1.json). */
#include "bench/kernel/describe.h"

#include "bench/kernel/describe_read.h"
#include "bench/kernel/kernel.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char schema[] = "isomer-kernels/1";

enum { MOST_MIB = 4 };

/* ---- places and messages --------------------------------------------------------------------- */

size_t describe_enter(describe_reader *r, const char *format, ...)
{
    size_t before = strlen(r->place);
    va_list list;
    format += before == 0 && format[0] == '.'; /* ".macros" at the top is "macros" */
    va_start(list, format);
    vsnprintf(r->place + before, sizeof r->place - before, format, list);
    va_end(list);
    return before;
}

void describe_leave(describe_reader *r, size_t before)
{
    r->place[before] = '\0';
}

int describe_wrong(const describe_reader *r, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return r->place[0] ? tool_error(TOOL_USAGE, "%s: %s: %s", r->path, r->place, text)
                       : tool_error(TOOL_USAGE, "%s: %s", r->path, text);
}

const char *describe_shown(const json_t *value, char *text, size_t room)
{
    char *whole = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    snprintf(text, room, "%.48s%s", whole ? whole : "?", whole && strlen(whole) > 48 ? "..." : "");
    free(whole);
    return text;
}

int describe_members(describe_reader *r, const json_t *object, const char *const *known)
{
    const char *name;
    json_t *value;
    char text[512];
    json_object_foreach((json_t *)object, name, value)
    {
        if (tool_find(known, name) < 0) {
            tool_say_unknown(text, sizeof text, name, known);
            return describe_wrong(r, "the member %s", text);
        }
    }
    return TOOL_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* A name in the folder of the description, or the name itself if that is a whole path. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
    size_t bytes = folder + strlen(name) + 1;
    char *joined = tool_alloc(1, bytes, "a path");
    (void)snprintf(joined, bytes, "%.*s%s", (int)folder, path, name);
    return joined;
}

static bool is_defined(const describe_reader *r, const char *name)
{
    for (int32_t i = 0; i < r->define_count; i++) {
        if (strcmp(r->defines[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static int read_macros(describe_reader *r, const json_t *object, describe_text *text)
{
    const char *name;
    json_t *value;
    char shown[80];
    size_t before = describe_enter(r, ".macros");
    if (object && !json_is_object(object)) {
        return describe_wrong(r, "it is %s but must be an object such as {\"TILE\": \"32\"}",
                              describe_shown(object, shown, sizeof shown));
    }
    size_t most = json_object_size(object) + (size_t)r->define_count;
    text->macros = tool_alloc(most + 1, sizeof *text->macros, "macros");
    json_object_foreach((json_t *)object, name, value)
    {
        if (!json_is_string(value)) {
            describe_enter(r, ".%s", name);
            return describe_wrong(r, "it is %s but must be a text, such as \"32\"",
                                  describe_shown(value, shown, sizeof shown));
        }
        if (!is_defined(r, name)) {
            text->macros[text->macro_count++] = (iso_macro){name, json_string_value(value)};
        }
    }
    for (int32_t i = 0; i < r->define_count; i++) {
        text->macros[text->macro_count++] = r->defines[i];
    }
    describe_leave(r, before);
    return TOOL_OK;
}

iso_program_args describe_program(const describe_text *text)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.name = text->path;
    args.text = text->text;
    args.macros = text->macros;
    args.macro_count = text->macro_count;
    return args;
}

/* Reads the text and its declarations. Takes over `path`. */
static int read_text(const describe_reader *r, char *path, describe_text *text)
{
    char problem[160];
    text->path = path;
    size_t length = 0;
    char *content = tool_read(path, MOST_MIB, &length);
    if (!content) {
        tool_read_problem(MOST_MIB, problem, sizeof problem);
        return tool_error(TOOL_IO, "%s cannot be read: %s", path, problem);
    }
    text->text = tool_resize(content, length + 1, 1, "a text of kernels");
    text->text[length] = '\0';
    if (strlen(text->text) != length) {
        return tool_error(TOOL_FAILED, "%s has a byte 0 at %zu: a text of kernels has none", path,
                          strlen(text->text));
    }
    iso_program_args args = describe_program(text);
    args.declared = 1;
    iso_status status = iso_program_create(r->device, &args, &text->program);
    return status == ISO_OK ? TOOL_OK : tool_error(kernel_code(status), "%s", tool_reason());
}

static void free_text(describe_text *text)
{
    if (text->program.id) {
        iso_program_destroy(text->program);
    }
    free(text->path);
    free(text->text);
    free(text->macros);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int find_kernel(describe_reader *r, const json_t *object, describe_kernel *kernel)
{
    const json_t *name = json_object_get(object, "kernel");
    char shown[80];
    size_t before = describe_enter(r, ".kernel");
    if (!json_is_string(name)) {
        return name ? describe_wrong(r, "it is %s but must be the name of a kernel in %s",
                                     describe_shown(name, shown, sizeof shown), kernel->text->path)
                    : describe_wrong(r, "it is missing: give the name of a kernel in %s",
                                     kernel->text->path);
    }
    kernel->name = json_string_value(name);
    kernel->object = object;
    kernel->info = (iso_kernel_info)ISO_KERNEL_INFO_INIT;
    iso_status status = iso_kernel_get(kernel->text->program, kernel->name, &kernel->kernel);
    if (status == ISO_OK) {
        status = iso_kernel_get_info(kernel->kernel, &kernel->info);
    }
    if (status != ISO_OK) {
        return describe_wrong(r, "%s", tool_reason());
    }
    describe_leave(r, before);
    return TOOL_OK;
}

static int read_reference(describe_reader *r, describe_kernel *kernel)
{
    static const char *const known[] = {"kernel", "text", "macros", "items", "groups", NULL};
    const json_t *object = json_object_get(kernel->object, "reference");
    const json_t *name = json_object_get(object, "text");
    const json_t *macros = json_object_get(object, "macros");
    char shown[80];
    int code;
    if (!object) {
        return TOOL_OK;
    }
    size_t before = describe_enter(r, ".reference");
    if (!json_is_object(object)) {
        return describe_wrong(r, "it is %s but must be an object with kernel, and items or groups",
                              describe_shown(object, shown, sizeof shown));
    }
    if ((code = describe_members(r, object, known)) != TOOL_OK) {
        return code;
    }
    describe_kernel *made = tool_alloc(1, sizeof *made, "a reference");
    kernel->reference = made;
    made->index = kernel->index;
    made->bits = kernel->bits;
    made->text = tool_alloc(1, sizeof *made->text, "a text");
    if (name && !json_is_string(name)) {
        return describe_wrong(r, "text is %s but must be the name of a file",
                              describe_shown(name, shown, sizeof shown));
    }
    code = read_macros(r, macros ? macros : json_object_get(r->file->root, "macros"), made->text);
    if (code == TOOL_OK) {
        code = read_text(
            r, name ? beside(r->path, json_string_value(name)) : strdup(kernel->text->path),
            made->text);
    }
    if (code != TOOL_OK || (code = find_kernel(r, object, made)) != TOOL_OK) {
        return code;
    }
    describe_leave(r, before);
    return TOOL_OK;
}

/* A word of a command that names a file beside the description becomes its whole path, because the
 * command runs in another folder. */
static char *model_word(const char *description, const char *word)
{
    struct stat found;
    char *path = beside(description, word), *whole = NULL;
    if (stat(path, &found) == 0 && S_ISREG(found.st_mode)) {
        whole = realpath(path, NULL);
    }
    free(path);
    return whole ? whole : strdup(word);
}

static int read_model(describe_reader *r, describe_kernel *kernel)
{
    const json_t *list = json_object_get(kernel->object, "model");
    char shown[80];
    size_t count = json_array_size(list);
    if (!list) {
        return TOOL_OK;
    }
    if (kernel->reference) {
        return describe_wrong(r, "it has both a reference and a model: keep one of them");
    }
    bool good = json_is_array(list) && count > 0;
    for (size_t i = 0; i < count; i++) {
        const char *word = json_string_value(json_array_get(list, i));
        good = good && word && (i > 0 || word[0]);
    }
    if (!good) {
        return describe_wrong(r,
                              "model is %s but must be a command as a list of words, such as "
                              "[\"python3\", \"model.py\"]",
                              describe_shown(list, shown, sizeof shown));
    }
    kernel->model = tool_alloc(count + 1, sizeof *kernel->model, "a command");
    for (size_t i = 0; i < count; i++) {
        kernel->model[i] = model_word(r->path, json_string_value(json_array_get(list, i)));
    }
    return TOOL_OK;
}

static int read_tolerance(describe_reader *r, describe_kernel *kernel)
{
    const json_t *tolerance = json_object_get(kernel->object, "tolerance");
    const json_t *bits = json_object_get(kernel->object, "bits");
    double value = json_number_value(tolerance);
    char shown[80];
    kernel->tolerance = tolerance ? value : -1;
    kernel->bits = !bits || json_is_true(bits);
    if (tolerance && (!json_is_number(tolerance) || !(value >= 0) || isinf(value))) {
        return describe_wrong(r, "tolerance is %s but must be a number, 0 or more",
                              describe_shown(tolerance, shown, sizeof shown));
    }
    if (tolerance && !json_object_get(kernel->object, "reference") &&
        !json_object_get(kernel->object, "model")) {
        return describe_wrong(r, "it has a tolerance, but no reference and no model that results "
                                 "could be compared with");
    }
    if (bits && !json_is_boolean(bits)) {
        return describe_wrong(r, "bits is %s but must be true or false",
                              describe_shown(bits, shown, sizeof shown));
    }
    return TOOL_OK;
}

static int read_cases(describe_reader *r, describe_kernel *kernel, const char *member,
                      describe_case **cases, int32_t *count)
{
    const json_t *list = json_object_get(kernel->object, member);
    char shown[80];
    if (!list) {
        return TOOL_OK;
    }
    if (!json_is_array(list) || json_array_size(list) == 0) {
        return describe_wrong(r, "%s is %s but must be a list of objects such as {\"n\": 1000}",
                              member, describe_shown(list, shown, sizeof shown));
    }
    *cases = tool_alloc(json_array_size(list), sizeof **cases, "a kernel's sizes");
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t before = describe_enter(r, ".%s[%zu]", member, i);
        ++*count;
        int code = describe_make_case(r, kernel, json_array_get(list, i), *cases + i);
        if (code != TOOL_OK) {
            return code;
        }
        for (size_t j = 0; j < i; j++) {
            if (json_equal((*cases)[i].values, (*cases)[j].values)) {
                return describe_wrong(r, "it is the same as %s[%zu]: remove one of them", member,
                                      j);
            }
            if (strcmp((*cases)[i].shape, (*cases)[j].shape) == 0) {
                return describe_wrong(r,
                                      "its case gets the name \"%s\", which %s[%zu] has: give both "
                                      "the same members",
                                      (*cases)[i].shape, member, j);
            }
        }
        describe_leave(r, before);
    }
    return TOOL_OK;
}

static int read_kernel(describe_reader *r, const json_t *object, describe_kernel *kernel)
{
    static const char *const known[] = {
        "kernel", "items", "groups", "arguments", "sizes",     "bench", "inputs", "elements",
        "flops",  "reads", "writes", "reference", "tolerance", "model", "bits",   NULL};
    char shown[80];
    int code;
    if (!json_is_object(object)) {
        return describe_wrong(r, "it is %s but must be an object",
                              describe_shown(object, shown, sizeof shown));
    }
    kernel->text = &r->file->text;
    if ((code = describe_members(r, object, known)) != TOOL_OK ||
        (code = find_kernel(r, object, kernel)) != TOOL_OK) {
        return code;
    }
    for (int32_t i = 0; i < kernel->index; i++) {
        if (strcmp(r->file->kernels[i].name, kernel->name) == 0) {
            return describe_wrong(r, "kernels[%d] already describes kernel %s: join them", (int)i,
                                  kernel->name);
        }
    }
    if (!json_object_get(object, "sizes") && !json_object_get(object, "bench")) {
        return describe_wrong(r, "it has neither sizes nor bench: add \"sizes\": [{\"n\": 1000}], "
                                 "a list of values of the kernel's integer parameters");
    }
    if ((code = read_tolerance(r, kernel)) != TOOL_OK ||
        (code = describe_check_names(r, kernel)) != TOOL_OK ||
        (code = read_reference(r, kernel)) != TOOL_OK ||
        (code = read_model(r, kernel)) != TOOL_OK ||
        (code = read_cases(r, kernel, "sizes", &kernel->sizes, &kernel->size_count)) != TOOL_OK) {
        return code;
    }
    return read_cases(r, kernel, "bench", &kernel->bench, &kernel->bench_count);
}

static void free_kernel(describe_kernel *kernel)
{
    for (int32_t i = 0; i < kernel->size_count; i++) {
        describe_free_case(&kernel->sizes[i]);
    }
    for (int32_t i = 0; i < kernel->bench_count; i++) {
        describe_free_case(&kernel->bench[i]);
    }
    for (char **word = kernel->model; word && *word; word++) {
        free(*word);
    }
    free(kernel->model);
    free(kernel->sizes);
    free(kernel->bench);
    if (kernel->reference) {
        free_text(kernel->reference->text);
        free(kernel->reference->text);
        free(kernel->reference);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static int check_frame(describe_reader *r, const json_t *root)
{
    static const char *const known[] = {"schema", "text", "macros", "kernels", NULL};
    const char *is = json_string_value(json_object_get(root, "schema"));
    const json_t *kernels = json_object_get(root, "kernels"), *text = json_object_get(root, "text");
    char shown[80];
    if (!json_is_object(root)) {
        return describe_wrong(r, "it is no description of kernels: it must be an object with "
                                 "schema and kernels");
    }
    if (!is) {
        return describe_wrong(r, "it is no description of kernels: it has no \"schema\": \"%s\"",
                              schema);
    }
    if (strcmp(is, schema) != 0) {
        return describe_wrong(r, "schema is \"%s\"; this program reads \"%s\"", is, schema);
    }
    if (text && !json_is_string(text)) {
        return describe_wrong(r, "text is %s but must be the name of a file",
                              describe_shown(text, shown, sizeof shown));
    }
    if (!json_is_array(kernels) || json_array_size(kernels) == 0) {
        return kernels
                   ? describe_wrong(r, "kernels is %s but must be a list of objects, at least one",
                                    describe_shown(kernels, shown, sizeof shown))
                   : describe_wrong(r, "it has no \"kernels\", a list of objects");
    }
    return describe_members(r, root, known);
}

/* "stencil.isk" becomes "stencil.json". */
static char *default_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t length = dot && dot > (slash ? slash + 1 : path) ? (size_t)(dot - path) : strlen(path);
    char *made = tool_alloc(1, length + sizeof ".json", "a path");
    memcpy(made, path, length);
    memcpy(made + length, ".json", sizeof ".json");
    return made;
}

static int read_root(const char *text_path, const char *path, json_t **root)
{
    json_error_t error;
    char problem[160];
    size_t length = 0;
    char *text = tool_read(path, MOST_MIB, &length);
    if (!text) {
        tool_read_problem(MOST_MIB, problem, sizeof problem);
        return tool_error(TOOL_IO,
                          "%s, which describes the kernels of %s, cannot be read: %s\n"
                          "--with names another description; docs/kernels.md has an example",
                          path, text_path, problem);
    }
    *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    free(text);
    return *root ? TOOL_OK
                 : tool_error(TOOL_USAGE, "%s is not JSON: line %d, column %d: %s", path,
                              error.line, error.column, error.text);
}

int describe_load(iso_device device, const char *path, const char *with, const iso_macro *defines,
                  int32_t define_count, describe_file *out)
{
    *out = (describe_file){.path = with ? strdup(with) : default_path(path)};
    describe_reader r = {.path = out->path,
                         .device = device,
                         .file = out,
                         .defines = defines,
                         .define_count = define_count};
    int code = read_root(path, out->path, &out->root);
    if (code != TOOL_OK || (code = check_frame(&r, out->root)) != TOOL_OK) {
        return code;
    }
    const json_t *kernels = json_object_get(out->root, "kernels");
    const char *name = json_string_value(json_object_get(out->root, "text"));
    code = read_macros(&r, json_object_get(out->root, "macros"), &out->text);
    code = code == TOOL_OK
               ? read_text(&r, name ? beside(out->path, name) : strdup(path), &out->text)
               : code;
    size_t count = json_array_size(kernels);
    out->kernels = tool_alloc(count, sizeof *out->kernels, "kernels");
    for (size_t i = 0; i < count && code == TOOL_OK; i++) {
        describe_kernel *kernel = &out->kernels[out->kernel_count];
        size_t before = describe_enter(&r, "kernels[%zu]", i);
        kernel->index = out->kernel_count++;
        code = read_kernel(&r, json_array_get(kernels, i), kernel);
        if (code == TOOL_OK) {
            describe_leave(&r, before);
        }
    }
    return code;
}

void describe_free(describe_file *file)
{
    for (int32_t i = 0; i < file->kernel_count; i++) {
        free_kernel(&file->kernels[i]);
    }
    free(file->kernels);
    free_text(&file->text);
    free(file->path);
    json_decref(file->root);
    *file = (describe_file){0};
}
