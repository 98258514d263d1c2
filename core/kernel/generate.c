/* SPDX-License-Identifier: Apache-2.0 */
/* generate.c - writes what compilers get for a text of the kernel language. */
#include "core/kernel/generate.h"
#include "kernel_texts.h"

#include <string.h>

static int64_t items_of(const kernel_decl *kernel)
{
    return (int64_t)kernel->size[0] * kernel->size[1] * kernel->size[2];
}

static bool is_scratch(const kernel_param *param)
{
    return param->role == KERNEL_SHARED || param->role == KERNEL_OWN;
}

static int64_t scratch_of(const kernel_decl *kernel, const kernel_param *param)
{
    const int64_t count = param->role == KERNEL_SHARED ? param->count : items_of(kernel);
    return is_scratch(param) ? kernel_sized(param, count) : 0;
}

int64_t kernel_sized(const kernel_param *param, int64_t count)
{
    return (count * param->type.bytes + KERNEL_ALIGN - 1) / KERNEL_ALIGN * KERNEL_ALIGN;
}

int64_t kernel_scratch(const kernel_decl *kernel)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < kernel->param_count; i++) {
        bytes += scratch_of(kernel, &kernel->params[i]);
    }
    return bytes;
}

int32_t kernel_arg_count(const kernel_decl *kernel)
{
    int32_t count = KERNEL_ARGS_BEFORE;
    for (int32_t i = 0; i < kernel->param_count; i++) {
        const kernel_param *param = &kernel->params[i];
        count += kernel_is_buffer(param) ? 2 : kernel_is_given(param);
    }
    return count;
}

int64_t kernel_arg_bytes(const kernel_decl *kernel)
{
    int64_t bytes = KERNEL_ARGS_BEFORE * (int64_t)sizeof(int64_t);
    for (int32_t i = 0; i < kernel->param_count; i++) {
        const kernel_param *param = &kernel->params[i];
        const int64_t one = kernel_is_buffer(param)       ? 2 * (int64_t)sizeof(int64_t)
                            : kernel_is_sized(param)      ? (int64_t)sizeof(int64_t)
                            : param->role == KERNEL_VALUE ? param->type.bytes
                                                          : 0;
        bytes += (one + 7) / 8 * 8;
    }
    return bytes;
}

/* ---- the program's text ---------------------------------------------------------------------- */

/* Adds part of the text. A line that includes the language's header becomes an empty one: the
 * header has been written already, and compilers at run time have no folders to search. */
static void add_part(core_text *out, const char *text, int64_t length)
{
    const char *end = text + length;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        const char *next = line_end ? line_end + 1 : end;
        const char *at = text;
        while (at < next && (*at == ' ' || *at == '\t')) {
            at++;
        }
        const char include[] = "#include <isomer/kernel.h>";
        if (next - at >= (int64_t)sizeof include - 1 && !memcmp(at, include, sizeof include - 1)) {
            core_text_add(out, "%s", line_end ? "\n" : "");
        } else {
            core_text_add(out, "%.*s", (int)(next - text), text);
        }
        text = next;
    }
}

static void add_text(core_text *out, const kernel_file *file, const char *text)
{
    int64_t done = 0;
    for (int32_t i = 0; i < file->count; i++) {
        const kernel_decl *kernel = &file->kernels[i];
        add_part(out, text + done, kernel->params_at - done);
        core_text_add(out, "const iso_here_ iso_at_%s", kernel->param_count ? ", " : "");
        add_part(out, text + kernel->params_at, kernel->body_at - kernel->params_at);
        core_text_add(out,
                      " enum { iso_size_x_ = %d, iso_size_y_ = %d, iso_size_z_ = %d, "
                      "iso_items_ = %lld }; const i64 iso_at_x_ = iso_at_.x; (void)iso_at_x_;",
                      kernel->size[0], kernel->size[1], kernel->size[2],
                      (long long)items_of(kernel));
        done = kernel->body_at;
        if (kernel->last_region_at > 0) { /* nothing waits for the items after it */
            add_part(out, text + done, kernel->last_region_at - done);
            core_text_add(out, kernel->one_region ? "ISO_ONLY_" : "ISO_LAST_");
            done = kernel->last_region_at;
        }
    }
    add_part(out, text + done, (int64_t)strlen(text + done));
}

/* ---- entries --------------------------------------------------------------------------------- */

static const char here_gpu[] =
    "    const iso_here_ iso_at_ = {ISO_GROUP_X_() + (u32)iso_in_.first_x,\n"
    "        ISO_GROUP_Y_() + (u32)iso_in_.first_yz,\n"
    "        ISO_GROUP_Z_() + (u32)(iso_in_.first_yz >> 32), iso_in_.groups_x, iso_in_.groups_y,\n"
    "        iso_in_.groups_z, 0};\n";

/* Of the groups that follow along x, those that one call runs. */
static const char here_cpu[] =
    "    for (i64 iso_group_ = iso_first_, iso_next_; iso_group_ < iso_end_;\n"
    "         iso_group_ = iso_next_) {\n"
    "        const i64 iso_row_ = iso_group_ / iso_groups_x_;\n"
    "        const i64 iso_x_ = iso_group_ % iso_groups_x_;\n"
    "        const i64 iso_more_ = iso_groups_x_ - iso_x_, iso_left_ = iso_end_ - iso_group_;\n"
    "        const i64 iso_run_ = iso_several_ ? ISO_RUN_(iso_more_ < iso_left_ ? iso_more_ : "
    "iso_left_) : 1;\n"
    "        const iso_here_ iso_at_ = {iso_x_, iso_row_ % iso_groups_y_,\n"
    "            iso_row_ / iso_groups_y_, iso_groups_x_, iso_groups_y_, iso_groups_z_,\n"
    "            iso_x_ + iso_run_};\n"
    "        iso_next_ = iso_group_ + iso_run_;\n";

static void add_gpu_parameter(core_text *out, const kernel_param *param)
{
    const char *type = param->type.name;
    if (param->role == KERNEL_VALUE) {
        core_text_add(out, ", %s %s", type, param->name);
    } else if (kernel_is_sized(param)) {
        core_text_add(out, ", i64 %s_count_", param->name);
    } else if (kernel_is_buffer(param)) {
        core_text_add(out, ", %s(%s, %s)", param->role == KERNEL_IN ? "ISO_INPUT_" : "ISO_BUFFER_",
                      type, param->name);
    }
}

static void add_gpu_variable(core_text *out, const kernel_param *param)
{
    if (kernel_is_sized(param)) {
        core_text_add(
            out,
            "    ISO_LOCAL_AT_ %s *%s = (ISO_LOCAL_AT_ %s *)(iso_sized_ + iso_sized_at_);\n"
            "    iso_sized_at_ += (%s_count_ * %d + %d) / %d * %d;\n",
            param->type.name, param->name, param->type.name, param->name, param->type.bytes,
            KERNEL_ALIGN - 1, KERNEL_ALIGN, KERNEL_ALIGN);
    } else if (param->role == KERNEL_SHARED) {
        core_text_add(out, "    ISO_LOCAL_ %s %s[%lld];\n", param->type.name, param->name,
                      (long long)param->count);
    } else if (param->role == KERNEL_OWN) {
        core_text_add(out, "    %s %s;\n", param->type.name, param->name);
    }
}

static void add_gpu_entry(core_text *out, const kernel_decl *kernel)
{
    core_text_add(out, "ISO_ENTRY_(%lld) iso_kernel_%s(const iso_place_ iso_in_",
                  (long long)items_of(kernel), kernel->name);
    for (int32_t i = 0; i < kernel->param_count; i++) {
        add_gpu_parameter(out, &kernel->params[i]);
    }
    bool sized = false;
    for (int32_t i = 0; i < kernel->param_count; i++) {
        sized = sized || kernel_is_sized(&kernel->params[i]);
    }
    core_text_add(out, "%s)\n{\n%s", sized ? " ISO_SIZED_PARAM_" : "",
                  sized ? "    ISO_SIZED_HERE_\n    i64 iso_sized_at_ = 0;\n" : "");
    for (int32_t i = 0; i < kernel->param_count; i++) {
        add_gpu_variable(out, &kernel->params[i]);
    }
    core_text_add(out, "%s", here_gpu);
    core_text_add(out, "    %s(iso_at_", kernel->name);
    for (int32_t i = 0; i < kernel->param_count; i++) {
        const kernel_param *param = &kernel->params[i];
        if (kernel_is_buffer(param)) {
            core_text_add(out, ", ISO_PLACE_(%s)", param->name);
        } else {
            core_text_add(out, ", %s%s", param->role == KERNEL_OWN ? "&" : "", param->name);
        }
    }
    core_text_add(out, ");\n}\n");
}

/* Where the arrays that the launch sizes begin in the scratch memory: behind the others. */
static void add_cpu_places(core_text *out, const kernel_decl *kernel)
{
    int32_t arg = KERNEL_ARGS_BEFORE;
    bool first = true;
    for (int32_t i = 0; i < kernel->param_count; i++) {
        const kernel_param *param = &kernel->params[i];
        if (kernel_is_sized(param)) {
            if (first) {
                core_text_add(out, "    i64 iso_sized_at_ = %lld;\n",
                              (long long)kernel_scratch(kernel));
            }
            first = false;
            core_text_add(
                out,
                "    const i64 %s_at_ = iso_sized_at_;\n    iso_sized_at_ += (*(const i64 "
                "*)iso_args_[%d] * %d + %d) / %d * %d;\n",
                param->name, arg, param->type.bytes, KERNEL_ALIGN - 1, KERNEL_ALIGN, KERNEL_ALIGN);
        }
        arg += kernel_is_buffer(param) ? 2 : kernel_is_given(param);
    }
}

static void add_cpu_entry(core_text *out, const kernel_decl *kernel)
{
    int32_t arg = KERNEL_ARGS_BEFORE;
    int64_t at = 0;
    core_text_add(out,
                  "ISO_CPU_ENTRY_ void iso_kernel_%s(const void *const *iso_args_, i64 iso_first_, "
                  "i64 iso_end_, char *iso_scratch_)\n{\n",
                  kernel->name);
    for (int i = 0; i < KERNEL_AXES; i++) {
        core_text_add(out, "    const i64 iso_groups_%c_ = *(const i64 *)iso_args_[%d];\n",
                      "xyz"[i], i);
    }
    add_cpu_places(out, kernel);
    core_text_add(out, "    enum { iso_several_ = %d };\n%s        %s(iso_at_", kernel->one_region,
                  here_cpu, kernel->name);
    for (int32_t i = 0; i < kernel->param_count; i++) {
        const kernel_param *param = &kernel->params[i];
        const char *type = param->type.name;
        if (kernel_is_sized(param)) {
            core_text_add(out, ", (%s *)(iso_scratch_ + %s_at_)", type, param->name);
            arg++;
        } else if (is_scratch(param)) {
            core_text_add(out, ", (%s *)(iso_scratch_ + %lld)", type, (long long)at);
            at += scratch_of(kernel, param);
        } else if (kernel_is_buffer(param)) {
            core_text_add(out, ", *(%s *const *)iso_args_[%d] + *(const i64 *)iso_args_[%d]", type,
                          arg, arg + 1);
            arg += 2;
        } else {
            core_text_add(out, ", *(const %s *)iso_args_[%d]", type, arg);
            arg++;
        }
    }
    core_text_add(out, ");\n    }\n    (void)iso_scratch_;\n}\n");
}

/* For a build that compiles the text into a program. */
static void add_cpu_table(core_text *out, const kernel_file *file)
{
    core_text_add(out, "#if defined(ISO_EMBEDDED_ENTRIES)\n"
                       "void (*const ISO_EMBEDDED_ENTRIES[])(const void *const *, i64, i64, char "
                       "*) = {\n");
    for (int32_t i = 0; i < file->count; i++) {
        core_text_add(out, "    iso_kernel_%s,\n", file->kernels[i].name);
    }
    core_text_add(out, "};\n#endif\n");
}

void kernel_generate(const kernel_file *file, const char *name, const char *text,
                     const kernel_macro *macros, int32_t macro_count, core_text *out)
{
    core_text_add(out, "#line 1 \"isomer/kernel.h\"\n%s", kernel_text_language);
    for (int32_t i = 0; i < macro_count; i++) {
        core_text_add(out, "#define %s %s\n", macros[i].name, macros[i].value);
    }
    core_text_add(out, "#line 1 \"%s\"\n", name);
    add_text(out, file, text);
    core_text_add(out, "\n#line 1 \"entries of %s\"\n#if ISO_CPU_\n", name);
    for (int32_t i = 0; i < file->count; i++) {
        add_cpu_entry(out, &file->kernels[i]);
    }
    add_cpu_table(out, file);
    core_text_add(out, "#else\n");
    for (int32_t i = 0; i < file->count; i++) {
        add_gpu_entry(out, &file->kernels[i]);
    }
    core_text_add(out, "#endif\n");
}
