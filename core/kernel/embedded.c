/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.c - tables of kernels that a build compiled into the program. */
#include "core/kernel/embedded.h"
#include "core/call.h"
#include "kernel_texts.h"

#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

static iso_status fail_missing(const char *call, const char *what)
{
    return core_fail(ISO_INVALID,
                     "%s: args->embedded->%s: pass the table that `isomer kernel embed` made as it "
                     "is",
                     call, what);
}

static iso_status check_lists(const char *call, const iso_embedded *table)
{
    if (!table->name || !table->text) {
        return fail_missing(call, table->name ? "text is NULL" : "name is NULL");
    }
    if (table->macro_count > 0 && !table->macros) {
        return fail_missing(call, "macros is NULL");
    }
    if (table->set_count < 1 || !table->sets) {
        return fail_missing(call, table->sets ? "set_count is less than 1" : "sets is NULL");
    }
    for (int32_t i = 0; i < table->set_count; i++) {
        if (!table->sets[i].name || !table->sets[i].entries) {
            return fail_missing(call, "sets has a set without a name or entries");
        }
    }
    return ISO_OK;
}

iso_status kernel_embedded_read(const char *call, const iso_embedded *given, iso_embedded *out)
{
    iso_status status =
        core_struct_check(call, "args->embedded", given, CORE_END_OF(iso_embedded, layout));
    if (!status && given->layout != ISO_EMBEDDED_LAYOUT) {
        return core_fail(ISO_INVALID,
                         "%s: args->embedded has kernels of layout %u, and this library (version "
                         "%s) has layout %d: build them again with this library's `isomer kernel "
                         "embed`",
                         call, given->layout, ISO_VERSION_STRING, ISO_EMBEDDED_LAYOUT);
    }
    if (!status) {
        status = core_struct_read(call, "args->embedded", given,
                                  CORE_END_OF(iso_embedded, entry_count), out, sizeof *out);
    }
    return status ? status : check_lists(call, out);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_identifier(const char *text)
{
    static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    return text && text[0] && (text[0] < '0' || text[0] > '9') && !text[strspn(text, letters)];
}

iso_status kernel_embedded_check(const char *call, const char *symbol, const char *const *sets,
                                 int32_t set_count)
{
    if (!is_identifier(symbol)) {
        return core_fail(ISO_INVALID,
                         "%s: symbol is %s%s%s, which is no C identifier: use letters, digits and "
                         "_, and no digit first",
                         call, symbol ? "\"" : "", symbol ? symbol : "NULL", symbol ? "\"" : "");
    }
    if (set_count < 1 || !sets) {
        return core_fail(ISO_INVALID,
                         "%s: set_count is %d and sets is %s: give an instruction set or more",
                         call, set_count, sets ? "not NULL" : "NULL");
    }
    for (int32_t i = 0; i < set_count; i++) {
        if (!is_identifier(sets[i])) {
            return core_fail(ISO_INVALID,
                             "%s: sets[%d] is %s%s%s, which names no instruction set: use a name "
                             "such as avx2",
                             call, i, sets[i] ? "\"" : "", sets[i] ? sets[i] : "NULL",
                             sets[i] ? "\"" : "");
        }
    }
    return ISO_OK;
}

/* Adds a literal of C, with a line for each line of the text. */
static void add_literal(core_text *out, const char *text)
{
    core_text_add(out, "\"");
    for (const char *at = text; *at; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte == '\n') {
            core_text_add(out, "\\n%s", at[1] ? "\"\n    \"" : "");
        } else if (byte == '"' || byte == '\\' || byte == '?') { /* "??" begins a trigraph */
            core_text_add(out, "\\%c", byte);
        } else if (byte < ' ' || byte > '~') {
            core_text_add(out, "\\%03o", byte);
        } else {
            core_text_add(out, "%c", byte);
        }
    }
    core_text_add(out, "\"");
}

static void add_macros(core_text *out, const core_program *program)
{
    if (program->macro_count == 0) {
        return;
    }
    core_text_add(out, "static const iso_macro iso_macros_[] = {\n");
    for (int32_t i = 0; i < program->macro_count; i++) {
        core_text_add(out, "    {");
        add_literal(out, program->macros[i].name);
        core_text_add(out, ", ");
        add_literal(out, program->macros[i].value);
        core_text_add(out, "},\n");
    }
    core_text_add(out, "};\n");
}

void kernel_embedded_write(const core_program *program, const char *symbol, const char *const *sets,
                           int32_t set_count, core_text *out)
{
    const int32_t entries = program->file.count;
    core_text_add(out, "%s\n", kernel_text_embedded);
    for (int32_t i = 0; i < set_count; i++) {
        core_text_add(out, "extern const iso_embedded_entry %s_%s[%d];\n", symbol, sets[i],
                      entries);
    }
    core_text_add(out, "static const iso_embedded_set iso_sets_[] = {\n");
    for (int32_t i = 0; i < set_count; i++) {
        core_text_add(out, "    {\"%s\", %s_%s},\n", sets[i], symbol, sets[i]);
    }
    core_text_add(out, "};\n");
    add_macros(out, program);
    core_text_add(out, "static const char iso_text_[] =\n    ");
    add_literal(out, program->text);
    core_text_add(out,
                  ";\nextern const iso_embedded %s;\n"
                  "const iso_embedded %s = {\n    .size = (uint32_t)sizeof(iso_embedded),\n"
                  "    .layout = ISO_EMBEDDED_LAYOUT,\n    .name = ",
                  symbol, symbol);
    add_literal(out, program->name);
    core_text_add(out,
                  ",\n    .text = iso_text_,\n    .macros = %s,\n    .sets = iso_sets_,\n"
                  "    .macro_count = %d,\n    .set_count = %d,\n    .entry_count = %d,\n};\n",
                  program->macro_count ? "iso_macros_" : "0", program->macro_count, set_count,
                  entries);
}
