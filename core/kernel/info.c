/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - what a program declares: its kernels and their parameters. */
#include "core/call.h"
#include "core/kernel/kernel.h"

#include <stdio.h>
#include <string.h>

static iso_status acquire(const char *call, iso_kernel kernel, core_program **program,
                          const kernel_decl **decl)
{
    iso_status status =
        core_handle_acquire(call, "kernel.program", kernel.program.id, CORE_PROGRAM, program);
    if (!status && (kernel.index < 0 || kernel.index >= (*program)->file.count)) {
        return core_fail(ISO_INVALID, "%s: kernel.index is %lld: use what iso_kernel_get gave",
                         call, (long long)kernel.index);
    }
    if (!status) {
        *decl = &(*program)->file.kernels[kernel.index];
    }
    return status;
}

static iso_status check_index(const char *call, int32_t index)
{
    return index >= 0 ? ISO_OK
                      : core_fail(ISO_INVALID, "%s: index is %d: it is at least 0", call, index);
}

iso_status iso_kernel_at(iso_program handle, int32_t index, iso_kernel *out)
{
    const char *call = "iso_kernel_at";
    CORE_HELD core_program *program = NULL;
    iso_status status = core_check_out(call, "out", out);
    if (!status) {
        *out = (iso_kernel){0};
        status = core_handle_acquire(call, "program", handle.id, CORE_PROGRAM, &program);
    }
    if (!status) {
        status = check_index(call, index);
    }
    if (!status && index >= program->file.count) {
        return ISO_NOT_READY;
    }
    if (!status) {
        *out = (iso_kernel){.program = handle, .index = index};
    }
    return status;
}

iso_status iso_kernel_get_info(iso_kernel kernel, iso_kernel_info *out)
{
    const char *call = "iso_kernel_get_info";
    CORE_HELD core_program *program = NULL;
    const kernel_decl *decl = NULL;
    iso_status status = acquire(call, kernel, &program, &decl);
    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_kernel_info, name));
    }
    if (status) {
        return status;
    }
    iso_kernel_info info = {.line = decl->line, .parameters = decl->param_count};
    memcpy(info.items, decl->size, sizeof info.items);
    (void)snprintf(info.name, sizeof info.name, "%s", decl->name);
    core_struct_write(out, &info, sizeof info);
    return ISO_OK;
}

iso_status iso_kernel_get_parameter(iso_kernel kernel, int32_t index, iso_parameter *out)
{
    const char *call = "iso_kernel_get_parameter";
    CORE_HELD core_program *program = NULL;
    const kernel_decl *decl = NULL;
    iso_status status = acquire(call, kernel, &program, &decl);
    if (!status) {
        status = core_struct_check(call, "out", out, CORE_END_OF(iso_parameter, extent));
    }
    if (!status) {
        status = check_index(call, index);
    }
    if (status) {
        return status;
    }
    if (index >= decl->param_count) {
        return ISO_NOT_READY;
    }
    const kernel_param *param = &decl->params[index];
    iso_parameter made = {.role = (iso_parameter_role)param->role,
                          .argument = -1,
                          .bytes = param->type.bytes,
                          .count = param->count};
    if (kernel_is_given(param)) {
        made.argument = 0;
        for (int32_t i = 0; i < index; i++) {
            made.argument += kernel_is_given(&decl->params[i]);
        }
    }
    (void)snprintf(made.name, sizeof made.name, "%s", param->name);
    (void)snprintf(made.type, sizeof made.type, "%s", param->type.name);
    (void)snprintf(made.extent, sizeof made.extent, "%.*s", (int)param->extent_length,
                   program->text + param->extent_at);
    core_struct_write(out, &made, sizeof made);
    return ISO_OK;
}

/* The values of integer parameters among a launch's arguments. */
static iso_status name_values(const char *call, const kernel_decl *decl,
                              const iso_argument *arguments, int32_t count, kernel_value *named,
                              int32_t *values)
{
    int32_t at = 0;
    *values = 0;
    if (count < 0 || (count > 0 && !arguments)) {
        return core_fail(ISO_INVALID,
                         "%s: count is %d and arguments are %s: give as many as you count", call,
                         count, arguments ? "not NULL" : "NULL");
    }
    for (int32_t i = 0; i < decl->param_count; i++) {
        const kernel_param *param = &decl->params[i];
        if (!kernel_is_given(param)) {
            continue;
        }
        int64_t value;
        if (at < count && param->role == KERNEL_VALUE &&
            kernel_read_integer(param, &arguments[at], &value)) {
            named[(*values)++] = (kernel_value){param->name, value};
        }
        at++;
    }
    return ISO_OK;
}

iso_status iso_kernel_get_extent(iso_kernel kernel, int32_t index, const iso_argument *arguments,
                                 int32_t count, int64_t *elements)
{
    const char *call = "iso_kernel_get_extent";
    CORE_HELD core_program *program = NULL;
    const kernel_decl *decl = NULL;
    kernel_value named[KERNEL_PARAMS_MAX];
    int32_t values = 0;
    iso_status status = core_check_out(call, "elements", elements);
    if (!status) {
        *elements = -1;
        status = acquire(call, kernel, &program, &decl);
    }
    if (!status && (index < 0 || index >= decl->param_count)) {
        status = core_fail(ISO_INVALID, "%s: index is %d: kernel %s has %d parameters", call, index,
                           decl->name, decl->param_count);
    }
    if (!status) {
        status = name_values(call, decl, arguments, count, named, &values);
    }
    if (status || !decl->params[index].extent_length) {
        return status;
    }
    return kernel_evaluate(call, program->name, program->text, decl->params[index].extent_at,
                           decl->params[index].extent_length, program->macros, program->macro_count,
                           named, values, elements);
}

iso_status iso_kernel_evaluate(iso_kernel kernel, const char *expression,
                               const iso_argument *arguments, int32_t count, int64_t *value)
{
    const char *call = "iso_kernel_evaluate";
    CORE_HELD core_program *program = NULL;
    const kernel_decl *decl = NULL;
    kernel_value named[KERNEL_PARAMS_MAX];
    int32_t values = 0;
    iso_status status = core_check_out(call, "value", value);
    if (!status) {
        *value = 0;
        status = acquire(call, kernel, &program, &decl);
    }
    if (!status && !expression) {
        status = core_fail(ISO_INVALID, "%s: expression is NULL: give its text", call);
    }
    if (!status) {
        status = name_values(call, decl, arguments, count, named, &values);
    }
    if (status) {
        return status;
    }
    return kernel_evaluate_other(call, program->name, program->text, expression, program->macros,
                                 program->macro_count, named, values, value);
}
