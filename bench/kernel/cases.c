/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c - the tool's cases of described kernels. */
#include "bench/kernel/run.h"

#include <stdlib.h>
#include <string.h>

enum { PRIORITY = 5 };

/* The type of the first array that the kernel writes, or else of the first one. */
static const describe_parameter *main_array(const describe_case *item)
{
    const describe_parameter *found = NULL;
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        if (p->is_buffer && (!found || (p->is_written && !found->is_written))) {
            found = p;
        }
    }
    return found;
}

static int64_t most_elements(const describe_case *item)
{
    int64_t most = 1;
    for (int32_t i = 0; i < item->parameter_count; i++) {
        const describe_parameter *p = &item->parameters[i];
        most = p->is_buffer && p->elements > most ? p->elements : most;
    }
    return most;
}

static int make_case(kernel_suite *suite, kernel_case *owner, bool bench, bench_case *out)
{
    const describe_case *item = owner->item;
    const describe_parameter *array = main_array(item);
    describe_scalar scalar = array ? array->scalar : DESCRIBE_STRUCT;
    *out = (bench_case){.op = &bench_kernel,
                        .by = &bench_kernel,
                        .dtype = scalar == DESCRIBE_F64   ? ISO_F64
                                 : scalar == DESCRIBE_F32 ? ISO_F32
                                                          : (iso_dtype)0,
                        .element = describe_scalar_bytes(scalar),
                        .math = ISO_MATH_STRICT,
                        .seed = suite->seed,
                        .same_bits = item->kernel->bits,
                        .asked = true,
                        .priority = PRIORITY,
                        .size = most_elements(item),
                        .flops = item->flops,
                        .bytes_read = item->reads,
                        .bytes_written = item->writes};
    out->own = owner;
    snprintf(out->kind, sizeof out->kind, "%s", item->kernel->name);
    snprintf(out->type, sizeof out->type, "%s", describe_scalar_name(scalar));
    snprintf(out->variant, sizeof out->variant, "own");
    int length = snprintf(out->id, sizeof out->id, "%s/%s/%s/%s%s", bench_kernel.measured,
                          out->kind, out->type, item->shape, bench ? "/hot" : "");
    if (length < 0 || (size_t)length >= sizeof out->id) {
        return tool_error(TOOL_USAGE,
                          "the name of a case is too long: kernel %s with %s; give fewer values in "
                          "its sizes, and the others in arguments",
                          item->kernel->name, item->size);
    }
    memcpy(owner->id, out->id, sizeof owner->id);
    return TOOL_OK;
}

static int check_names(const kernel_suite *suite, const tool_words *names)
{
    tool_names known = {.count = 0};
    for (int32_t k = 0; k < suite->file->kernel_count; k++) {
        tool_names_add(&known, suite->file->kernels[k].name);
    }
    return tool_words_check("kernel", names, &known);
}

static int add_cases(kernel_suite *suite, const tool_words *words, bool bench, bench_case *cases,
                     kernel_case *owners, int32_t *count)
{
    int code = TOOL_OK;
    for (int32_t k = 0; k < suite->file->kernel_count; k++) {
        const describe_kernel *kernel = &suite->file->kernels[k];
        int32_t sizes = bench ? kernel->bench_count : kernel->size_count;
        if (words->count > 0 && !tool_words_have(words, kernel->name)) {
            continue;
        }
        for (int32_t i = 0; i < sizes && code == TOOL_OK; i++) {
            owners[*count] = (kernel_case){.suite = suite,
                                           .item = bench ? &kernel->bench[i] : &kernel->sizes[i]};
            code = make_case(suite, &owners[*count], bench, &cases[*count]);
            ++*count;
        }
    }
    return code;
}

int kernel_cases(kernel_suite *suite, const char *names, bool bench, bench_case **cases,
                 kernel_case **owners, int32_t *count)
{
    tool_words words = {0};
    int32_t room = 1;
    *count = 0;
    for (int32_t k = 0; k < suite->file->kernel_count; k++) {
        const describe_kernel *kernel = &suite->file->kernels[k];
        room += kernel->bench_count + kernel->size_count;
    }
    *cases = tool_alloc((size_t)room, sizeof **cases, "the cases");
    *owners = tool_alloc((size_t)room, sizeof **owners, "the cases");
    if (!tool_split(names, &words)) {
        return tool_error(TOOL_INTERNAL, "no memory");
    }
    int code = check_names(suite, &words);
    if (code == TOOL_OK) {
        code = add_cases(suite, &words, bench, *cases, *owners, count);
    }
    tool_words_free(&words);
    if (code == TOOL_OK && *count == 0) {
        return tool_error(
            TOOL_NOTHING, "%s: no kernel%s has \"%s\", a list of sizes for this command",
            suite->file->path, names ? " of --kernel" : "", bench ? "bench" : "sizes");
    }
    return code;
}
