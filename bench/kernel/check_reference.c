/* SPDX-License-Identifier: Apache-2.0 */
/* check_reference.c - judges the reference kernels that a description names, which may be in
 * another text, and compares which elements they write. */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

void check_unit_free(check_unit *unit)
{
    for (int i = 0; i < 2; i++) {
        free(unit->judges[i].path);
        free(unit->judges[i].why);
    }
    free(unit->warnings);
}

static bool is_same(const iso_program_args *a, const iso_program_args *b)
{
    bool same = strcmp(a->name, b->name) == 0 && strcmp(a->text, b->text) == 0 &&
                a->macro_count == b->macro_count;
    for (int32_t i = 0; i < a->macro_count && same; i++) {
        same = strcmp(a->macros[i].name, b->macros[i].name) == 0 &&
               strcmp(a->macros[i].value, b->macros[i].value) == 0;
    }
    return same;
}

/* The text with the judge's programs, which are made for the first of its kernels. */
static check_unit *unit_of(check_run *run, const describe_text *text)
{
    const iso_program_args args = describe_program(text);
    if (is_same(&args, &run->own.args)) {
        return &run->own;
    }
    for (int32_t i = 0; i < run->other_count; i++) {
        if (is_same(&args, &run->others[i]->args)) {
            return run->others[i];
        }
    }
    run->others =
        tool_resize(run->others, (size_t)run->other_count + 1, sizeof *run->others, "texts");
    check_unit *made = tool_alloc(1, sizeof *made, "a text");
    run->others[run->other_count++] = made;
    *made = (check_unit){.args = args, .program = text->program, .index = run->other_count};
    run->unit = made;
    if (check_build_judges(run)) {
        check_unset_begin(run);
    }
    return made;
}

/* ---- what they write ------------------------------------------------------------------------- */

/* Scalars of a buffer that the kernel writes and the reference does not. */
static int64_t count_left(const check_case *item, int32_t mine, const check_case *reference,
                          int32_t other, int64_t *first)
{
    const describe_parameter *p = &item->of->parameters[mine];
    const int32_t scalar = describe_scalar_bytes(p->scalar);
    int64_t count = 0;
    for (int64_t i = 0; i < p->usable * p->is.bytes / scalar; i++) {
        if (item->sets[mine][i] && !reference->sets[other][i] &&
            item->counts[mine][i * scalar % p->is.bytes]) {
            *first = count ? *first : i * scalar / p->is.bytes;
            count++;
        }
    }
    return count;
}

static void compare_sets(check_run *run, const check_case *item, int32_t mine,
                         const check_case *reference, int32_t other)
{
    const describe_kernel *kernel = item->of->kernel, *of = reference->of->kernel;
    const char *name = item->of->parameters[mine].is.name;
    int64_t first = 0;
    if (!count_left(item, mine, reference, other, &first)) {
        return;
    }
    char *key = check_text("left %s %s %s", kernel->name, of->name, name);
    check_finding *made = check_find(run, check_judge, key, of->info.line, of->name);
    if (made) {
        made->what =
            check_text("the reference %s never writes %s[%lld]", of->name, name, (long long)first);
        made->details = check_text("kernel %s, which it is compared with, does%s%s", kernel->name,
                                   item->of->size[0] ? "\nwith " : "", item->of->size);
        made->advice = "look at the reference's groups or items in the description, and at its "
                       "tests of an index";
    }
    free(key);
}

/* Only buffers that begin unwritten: what another one begins with may be its right value. */
static void compare(check_run *run, const check_case *item, const check_case *reference)
{
    for (int32_t i = 0; i < item->of->parameter_count; i++) {
        for (int32_t j = 0; j < reference->of->parameter_count; j++) {
            const describe_parameter *p = &item->of->parameters[i];
            const describe_parameter *same = &reference->of->parameters[j];
            if (p->is.role == ISO_PARAMETER_OUT && same->is_written &&
                strcmp(p->is.name, same->is.name) == 0) {
                compare_sets(run, item, i, reference, j);
            }
        }
    }
}

void check_judge_references(check_run *run)
{
    for (int32_t i = 0; i < run->case_count && !tool_stop_asked(); i++) {
        check_case *item = &run->cases[i], *reference = &run->references[i];
        if (reference->of) {
            run->unit = unit_of(run, reference->of->kernel->text);
            if (run->unit->judges[0].path) {
                check_judge_case(run, reference);
            }
            if (item->results && reference->results) {
                compare(run, item, reference);
            }
        }
    }
    run->unit = &run->own;
}
