/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - the program's own kernels: from a text to what a backend compiled. */
#include "core/call.h"
#include "core/kernel/embedded.h"
#include "core/kernel/kernel.h"
#include "core/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading the arguments ------------------------------------------------------------------- */

static iso_status check_macros(const char *call, const iso_program_args *args)
{
    if (args->macro_count < 0 || (args->macro_count > 0 && !args->macros)) {
        return core_fail(ISO_INVALID,
                         "%s: args->macro_count is %d and args->macros is %s: give as many macros "
                         "as you count",
                         call, args->macro_count, args->macros ? "not NULL" : "NULL");
    }
    for (int32_t i = 0; i < args->macro_count; i++) {
        if (!args->macros[i].name || !args->macros[i].value) {
            return core_fail(ISO_INVALID,
                             "%s: args->macros[%d].%s is NULL: a macro has a name and a value",
                             call, i, args->macros[i].name ? "value" : "name");
        }
    }
    return ISO_OK;
}

/* With an embedded table, what the caller gives for its text. */
static iso_status take_embedded(const char *call, iso_program_args *args, iso_embedded *table)
{
    if (args->text || args->macro_count) {
        return core_fail(ISO_INVALID,
                         "%s: args->%s: kernels of args->embedded have the text and the macros of "
                         "their build: leave it out, or leave out args->embedded",
                         call, args->text ? "text is not NULL" : "macro_count is not 0");
    }
    iso_status status = kernel_embedded_read(call, args->embedded, table);
    if (!status) {
        args->embedded = table;
        args->text = table->text;
        args->macros = table->macros;
        args->macro_count = table->macro_count;
        args->name = args->name ? args->name : table->name;
    }
    return status;
}

/* `table` gets the embedded table, to which the arguments then point. */
static iso_status read_args(const char *call, const iso_program_args *given, iso_program_args *args,
                            iso_embedded *table)
{
    iso_status status = core_struct_read(call, "args", given, CORE_END_OF(iso_program_args, text),
                                         args, sizeof *args);
    if (!status && args->embedded) {
        status = take_embedded(call, args, table);
    }
    if (!status && !args->text) {
        status =
            core_fail(ISO_INVALID, "%s: args->text is NULL: give the text of the kernels", call);
    }
    if (!args->name) {
        args->name = "program";
    }
    return status ? status : check_macros(call, args);
}

static char *copy(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *made = malloc(bytes);
    return made ? memcpy(made, text, bytes) : NULL;
}

/* Keeps the macros: one block, with the texts behind the array. */
static bool keep_macros(core_program *program, const iso_program_args *args)
{
    size_t bytes = (size_t)args->macro_count * sizeof *program->macros + 1;
    for (int32_t i = 0; i < args->macro_count; i++) {
        bytes += strlen(args->macros[i].name) + strlen(args->macros[i].value) + 2;
    }
    program->macros = malloc(bytes);
    if (!program->macros) {
        return false;
    }
    char *to = (char *)(program->macros + args->macro_count);
    for (int32_t i = 0; i < args->macro_count; i++) {
        const size_t name = strlen(args->macros[i].name) + 1;
        const size_t value = strlen(args->macros[i].value) + 1;
        program->macros[i].name = memcpy(to, args->macros[i].name, name);
        program->macros[i].value = memcpy(to + name, args->macros[i].value, value);
        to += name + value;
    }
    program->macro_count = args->macro_count;
    return true;
}

/* ---- building -------------------------------------------------------------------------------- */

static iso_status build(const char *call, core_device *device, core_program *program,
                        const char *text, const iso_embedded *embedded)
{
    const int32_t count = program->file.count;
    if (embedded && embedded->entry_count != count) {
        return core_fail(ISO_INVALID,
                         "%s: args->embedded: %s has %d functions in each set, and its text has %d "
                         "kernels: build it again with `isomer kernel embed`",
                         call, program->name, embedded->entry_count, count);
    }
    iso_program_entry *entries = calloc((size_t)count, sizeof *entries);
    char(*names)[KERNEL_NAME_MAX + 16] = calloc((size_t)count, sizeof *names);
    iso_status status = ISO_OK;
    if (!entries || !names) {
        status = core_fail_no_memory(call, (int64_t)sizeof *entries * count);
    }
    for (int32_t i = 0; i < count && !status; i++) {
        const kernel_decl *kernel = &program->file.kernels[i];
        (void)snprintf(names[i], sizeof names[i], "iso_kernel_%s", kernel->name);
        entries[i] =
            (iso_program_entry){.name = names[i],
                                .items = kernel->size[0] * kernel->size[1] * kernel->size[2],
                                .scratch_bytes = kernel_scratch(kernel)};
    }
    if (!status) {
        const iso_program_source source = {.size = (uint32_t)sizeof source,
                                           .entry_count = count,
                                           .name = program->name,
                                           .text = text,
                                           .entries = entries,
                                           .embedded = embedded};
        status = CORE_CALL(
            call, device->table,
            device->table->program_build(device->physical->device, &source, &program->handle));
    }
    free(names);
    free(entries);
    return status;
}

static iso_status check_counts(const char *call, const core_program *program)
{
    for (int32_t i = 0; i < program->file.count; i++) {
        const kernel_decl *kernel = &program->file.kernels[i];
        const int32_t count = kernel_arg_count(kernel);
        const int64_t bytes = kernel_arg_bytes(kernel);
        if (bytes > PROGRAM_ARGS_BYTES) {
            return core_fail(ISO_INVALID,
                             "%s: %s:%d: the values of kernel %s take %lld bytes, where a buffer "
                             "takes 16 and the place 40: %d are the most; pass large structs in a "
                             "buffer",
                             call, program->name, kernel->line, kernel->name, (long long)bytes,
                             PROGRAM_ARGS_BYTES);
        }
        if (count > PROGRAM_ARGS_MAX) {
            return core_fail(
                ISO_INVALID,
                "%s: %s:%d: kernel %s takes %d arguments, where a value counts as one, "
                "a buffer as two and the place as five: %d are the most",
                call, program->name, kernel->line, kernel->name, count, PROGRAM_ARGS_MAX);
        }
    }
    return ISO_OK;
}

/* Reads the program's text, and writes what compilers get for it. */
static iso_status generate(const char *call, core_program *program, core_text *out)
{
    iso_status status = kernel_read(call, program->name, program->text, program->macros,
                                    program->macro_count, &program->file);
    if (!status) {
        status = check_counts(call, program);
    }
    if (!status) {
        kernel_generate(&program->file, program->name, program->text, program->macros,
                        program->macro_count, out);
        status = core_text_check(call, out);
    }
    return status;
}

static iso_status compile(const char *call, core_device *device, core_program *program,
                          bool declared, const iso_embedded *embedded)
{
    core_text text = {0};
    iso_status status = generate(call, program, &text);
    if (!status && !declared) {
        status = build(call, device, program, core_text_get(&text), embedded);
    }
    core_text_free(&text);
    return status;
}

static void free_program(core_program *program)
{
    kernel_file_free(&program->file);
    free(program->macros);
    free(program->text);
    free(program->name);
    free(program);
}

static iso_status keep_args(const char *call, const iso_program_args *args, core_program *program)
{
    program->name = copy(args->name);
    program->text = copy(args->text);
    if (!program->name || !program->text || !keep_macros(program, args)) {
        return core_fail_no_memory(call, (int64_t)strlen(args->text) + 1);
    }
    return ISO_OK;
}

/* Frees what the backend compiled, if it did. */
static void release(const core_device *device, core_program *program)
{
    if (program->handle) {
        CORE_DO(device->table->program_release(device->physical->device, program->handle));
    }
}

static iso_status make(const char *call, core_device *device, const iso_program_args *args,
                       core_program *program)
{
    iso_status status = keep_args(call, args, program);
    if (!status) {
        status = compile(call, device, program, args->declared != 0, args->embedded);
    }
    if (!status) {
        status = core_child_add(call, device, &program->child, CORE_PROGRAM);
        if (status) {
            release(device, program);
        }
    }
    return status;
}

iso_status iso_program_create(iso_device handle, const iso_program_args *given, iso_program *out)
{
    const char *call = "iso_program_create";
    CORE_HELD core_device *device = NULL;
    iso_program_args args;
    iso_embedded table;
    iso_status status = core_create_begin(call, handle, out ? &out->id : NULL, &device);
    if (!status) {
        status = read_args(call, given, &args, &table);
    }
    if (!status && !args.declared && !device->table->program_build) {
        status = core_fail(ISO_UNSUPPORTED,
                           "%s: %s has no kernels of the program's own: choose another backend",
                           call, device->table->name);
    }
    if (status) {
        return status;
    }
    core_program *program = calloc(1, sizeof *program);
    if (!program) {
        return core_fail_no_memory(call, (int64_t)sizeof *program);
    }
    status = make(call, device, &args, program);
    if (status) {
        free_program(program);
        return status;
    }
    out->id = program->child.id;
    return ISO_OK;
}

static iso_status give_text(const char *call, const core_text *text, char *out, int64_t capacity,
                            int64_t *bytes)
{
    *bytes = (int64_t)text->length + 1;
    if (capacity > 0 && capacity < *bytes) {
        return core_fail(ISO_INVALID,
                         "%s: capacity is %lld, and the text has %lld bytes: give as many", call,
                         (long long)capacity, (long long)*bytes);
    }
    if (capacity > 0) {
        memcpy(out, core_text_get(text), (size_t)*bytes);
    }
    return ISO_OK;
}

/* What writes the text of a program whose arguments were read. */
typedef struct writing {
    const char *symbol; /* of a table; NULL: the text that compilers get */
    const char *const *sets;
    int32_t set_count;
} writing;

static iso_status write_text(const char *call, core_program *program, const writing *how,
                             core_text *out)
{
    iso_status status = generate(call, program, out);
    if (!status && how->symbol) {
        core_text_free(out);
        *out = (core_text){0};
        kernel_embedded_write(program, how->symbol, how->sets, how->set_count, out);
        status = core_text_check(call, out);
    }
    return status;
}

static iso_status text_of(const char *call, const iso_program_args *given, const writing *how,
                          char *out, int64_t capacity, int64_t *bytes)
{
    core_text text = {0};
    iso_program_args args;
    iso_embedded table;
    iso_status status = core_check_out(call, "bytes", bytes);
    if (!status) {
        *bytes = 0;
        status = core_check_size(call, "capacity", capacity);
    }
    if (!status && capacity > 0) {
        status = core_check_out(call, "out", out);
    }
    if (!status) {
        status = read_args(call, given, &args, &table);
    }
    if (status) {
        return status;
    }
    core_program *program = calloc(1, sizeof *program);
    if (!program) {
        return core_fail_no_memory(call, (int64_t)sizeof *program);
    }
    status = keep_args(call, &args, program);
    if (!status) {
        status = write_text(call, program, how, &text);
    }
    if (!status) {
        status = give_text(call, &text, out, capacity, bytes);
    }
    core_text_free(&text);
    free_program(program);
    return status;
}

iso_status iso_program_text(const iso_program_args *args, char *out, int64_t capacity,
                            int64_t *bytes)
{
    const writing how = {.symbol = NULL};
    return text_of("iso_program_text", args, &how, out, capacity, bytes);
}

iso_status iso_embedded_text(const iso_program_args *args, const char *symbol,
                             const char *const *sets, int32_t set_count, char *out,
                             int64_t capacity, int64_t *bytes)
{
    const char *call = "iso_embedded_text";
    const writing how = {.symbol = symbol, .sets = sets, .set_count = set_count};
    iso_status status = kernel_embedded_check(call, symbol, sets, set_count);
    return status ? status : text_of(call, args, &how, out, capacity, bytes);
}

/* ---- ending ---------------------------------------------------------------------------------- */

void core_program_finish(core_program *program)
{
    const core_device *device = program->child.device;
    const uint64_t id = program->child.id, users = atomic_load(&program->used_by);
    core_kept_error kept = core_error_keep();
    if (users) {
        core_streams_drain(device->physical, users, NULL);
    }
    release(device, program);
    core_error_restore(&kept);
    core_child_unlink(&program->child);
    free_program(program);
    core_handle_free(id);
}

/* Whether a graph that launches the program may be in submission. */
static bool is_submitted(iso_program handle)
{
    CORE_HELD core_program *program = NULL;
    return core_handle_get(handle.id, CORE_PROGRAM, &program) &&
           core_streams_again(program->child.device->physical, atomic_load(&program->used_by));
}

iso_status iso_program_destroy(iso_program handle)
{
    const char *call = "iso_program_destroy";
    core_program *program;
    if (core_inside() && is_submitted(handle)) {
        return core_handle_in_use(call, "program");
    }
    iso_status status = core_handle_retire(call, "program", handle.id, CORE_PROGRAM, &program);
    if (!status) {
        core_program_finish(program);
    }
    return status;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static iso_status fail_no_kernel(const char *call, const core_program *program, const char *name)
{
    core_text names = {0};
    for (int32_t i = 0; i < program->file.count; i++) {
        core_text_add(&names, "%s%s", i ? ", " : "", program->file.kernels[i].name);
    }
    const iso_status status = core_fail(ISO_INVALID, "%s: %s has no kernel \"%s\": it has %s", call,
                                        program->name, name, core_text_get(&names));
    core_text_free(&names);
    return status;
}

iso_status iso_kernel_get(iso_program handle, const char *name, iso_kernel *out)
{
    const char *call = "iso_kernel_get";
    CORE_HELD core_program *program = NULL;
    iso_status status = core_check_out(call, "out", out);
    if (!status) {
        *out = (iso_kernel){0};
        status = core_handle_acquire(call, "program", handle.id, CORE_PROGRAM, &program);
    }
    if (!status && !name) {
        status = core_fail(ISO_INVALID, "%s: name is NULL: give the kernel's name", call);
    }
    if (status) {
        return status;
    }
    for (int32_t i = 0; i < program->file.count; i++) {
        if (!strcmp(program->file.kernels[i].name, name)) {
            *out = (iso_kernel){.program = handle, .index = i};
            return ISO_OK;
        }
    }
    return fail_no_kernel(call, program, name);
}

/* ---- chips ----------------------------------------------------------------------------------- */

/* The backend of that name, probed: it may have no device. */
static iso_status find_backend(const char *call, const char *name, core_backend **out)
{
    if (!name) {
        return core_fail(ISO_INVALID, "%s: backend is NULL: give a backend's name", call);
    }
    iso_status status = core_backend_find(call, name, out);
    if (!status && !*out) {
        status = core_fail(ISO_INVALID, "%s: no backend has the name \"%s\"", call, name);
    }
    iso_probe *probe = status ? NULL : malloc(sizeof *probe); /* too large for a small stack */
    if (!status) {
        status = probe ? core_backend_probe(call, *out, probe)
                       : core_fail_no_memory(call, (int64_t)sizeof *probe);
    }
    free(probe);
    if (!status && (!(*out)->table.chip_get || !(*out)->table.program_try)) {
        status = core_fail(ISO_UNSUPPORTED, "%s: %s does not compile without a device", call, name);
    }
    return status;
}

iso_status iso_chip_get(const char *backend, int32_t index, char *name, int64_t capacity)
{
    const char *call = "iso_chip_get";
    core_backend *found = NULL;
    iso_status status = core_check_out(call, "name", name);
    if (!status && (index < 0 || capacity < 1)) {
        status = core_fail(ISO_INVALID, "%s: index is %d and capacity %lld: give at least 0 and 1",
                           call, index, (long long)capacity);
    }
    if (!status) {
        name[0] = '\0';
        status = find_backend(call, backend, &found);
    }
    if (!status) {
        status = core_stack_check(call, &found->table);
    }
    return status ? status
                  : CORE_ASK(call, &found->table, found->table.chip_get(index, name, capacity));
}

static iso_status try_text(const char *call, const iso_backend *table, const char *chip,
                           core_program *program)
{
    core_text text = {0};
    iso_status status = generate(call, program, &text);
    if (!status) {
        const iso_program_source source = {
            .size = (uint32_t)sizeof source, .name = program->name, .text = core_text_get(&text)};
        status = CORE_CALL(call, table, table->program_try(chip, &source));
    }
    core_text_free(&text);
    return status;
}

iso_status iso_program_try(const char *backend, const char *chip, const iso_program_args *given)
{
    const char *call = "iso_program_try";
    core_backend *found = NULL;
    iso_program_args args;
    iso_embedded table;
    iso_status status = read_args(call, given, &args, &table);
    if (!status && !chip) {
        status = core_fail(ISO_INVALID, "%s: chip is NULL: give a name of iso_chip_get", call);
    }
    if (!status) {
        status = find_backend(call, backend, &found);
    }
    if (status) {
        return status;
    }
    core_program *program = calloc(1, sizeof *program);
    if (!program) {
        return core_fail_no_memory(call, (int64_t)sizeof *program);
    }
    status = keep_args(call, &args, program);
    if (!status) {
        status = try_text(call, &found->table, chip, program);
    }
    free_program(program);
    return status;
}
