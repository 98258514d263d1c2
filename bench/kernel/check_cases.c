/* SPDX-License-Identifier: Apache-2.0 */
/* check_cases.c - the runs that a description asks for, as files for the judge's program, and their
 * results. */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

/* ---- cases ----------------------------------------------------------------------------------- */

static int64_t bytes_of(const describe_parameter *p)
{
    return p->is.role == ISO_PARAMETER_VALUE ? p->is.bytes : p->usable * p->is.bytes;
}

static void encode(const iso_argument *argument, const describe_parameter *p, unsigned char *to)
{
    const float narrow = (float)argument->number;
    const size_t bytes = (size_t)p->is.bytes;
    switch (argument->kind) {
    case ISO_ARGUMENT_INTEGER:
        memcpy(to, &argument->integer, bytes); /* the lower bytes come first */
        break;
    case ISO_ARGUMENT_FLOAT:
        memcpy(to, bytes == sizeof narrow ? (const void *)&narrow : &argument->number, bytes);
        break;
    default:
        memcpy(to, argument->bytes, bytes);
        break;
    }
}

static void fill(check_case *item)
{
    const describe_case *of = item->of;
    item->sets =
        tool_alloc((size_t)of->parameter_count + 1, sizeof *item->sets, "a kernel's results");
    item->counts =
        tool_alloc((size_t)of->parameter_count + 1, sizeof *item->counts, "a kernel's results");
    item->content =
        tool_alloc((size_t)of->parameter_count + 1, sizeof *item->content, "a kernel's inputs");
    for (int32_t i = 0; i < of->parameter_count; i++) {
        const describe_parameter *p = &of->parameters[i];
        const bool value = p->is.role == ISO_PARAMETER_VALUE;
        if (value || p->is_buffer) {
            item->content[i] =
                tool_alloc((size_t)(p->elements * p->is.bytes), 1, "a kernel's inputs");
        }
        if (value) {
            encode(&of->arguments[p->is.argument], p, item->content[i]);
        } else if (p->is_buffer) {
            describe_make(p, 1, 0, item->content[i]);
        }
    }
}

static void make_case(check_case *item, const describe_case *of, const describe_kernel *user)
{
    item->of = of;
    item->user = user;
    item->entry = (int32_t)of->kernel->kernel.index;
    fill(item);
}

void check_cases_make(check_run *run)
{
    size_t room = 1;
    for (int32_t k = 0; k < run->file.kernel_count; k++) {
        room += (size_t)run->file.kernels[k].size_count;
    }
    run->cases = tool_alloc(room, sizeof *run->cases, "the cases");
    run->references = tool_alloc(room, sizeof *run->references, "the cases");
    for (int32_t k = 0; k < run->file.kernel_count; k++) {
        const describe_kernel *kernel = &run->file.kernels[k];
        const bool wanted = !run->kernel || tool_words_have(&run->kernels, kernel->name);
        for (int32_t s = 0; s < kernel->size_count && wanted; s++) {
            make_case(&run->cases[run->case_count], &kernel->sizes[s], NULL);
            if (kernel->reference) {
                make_case(&run->references[run->case_count], kernel->sizes[s].reference, kernel);
            }
            run->case_count++;
        }
    }
}

static void free_case(check_case *item)
{
    for (int32_t i = 0; item->of && i < item->of->parameter_count; i++) {
        free(item->content[i]);
        free(item->results ? item->results[i] : NULL);
        free(item->counts[i]);
        free(item->sets[i]);
    }
    free(item->content);
    free(item->results);
    free(item->counts);
    free(item->sets);
}

void check_cases_free(check_run *run)
{
    for (int32_t c = 0; c < run->case_count; c++) {
        free_case(&run->cases[c]);
        free_case(&run->references[c]);
    }
    free(run->cases);
    free(run->references);
}

const char *check_case_name(const check_case *item, char *text, size_t room)
{
    snprintf(text, room, "%s%s%s", item->of->kernel->name, item->of->size[0] ? " " : "",
             item->of->size);
    return text;
}

enum { SIMULATED_MOST = 32768 };

/* How well a case suits a simulator: the more items the better, up to a limit, and several groups
 * are best. 0: it is too large. */
static double fitness(const check_case *item)
{
    const int32_t *size = item->of->kernel->info.items;
    const iso_groups *is = &item->of->groups;
    const double groups = (double)is->x * (double)is->y * (double)is->z;
    const double items = groups * size[0] * size[1] * size[2];
    return items > SIMULATED_MOST ? 0 : items + (groups > 1 ? SIMULATED_MOST : 0);
}

bool check_case_is_small(const check_run *run, const check_case *item)
{
    const double mine = fitness(item);
    for (int32_t c = 0; c < run->case_count && mine > 0; c++) {
        const check_case *other = &run->cases[c];
        if (other->of->kernel == item->of->kernel &&
            (fitness(other) > mine || (fitness(other) == mine && other < item))) {
            return false;
        }
    }
    return mine > 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

bool check_case_write(const check_case *item, bool reversed, int seconds, const char *path)
{
    const describe_case *of = item->of;
    const int32_t *size = of->kernel->info.items;
    judge_case what = {.magic = JUDGE_MAGIC,
                       .entry = item->entry,
                       .param_count = of->parameter_count,
                       .reversed = reversed,
                       .seconds = seconds,
                       .groups = {of->groups.x, of->groups.y, of->groups.z}};
    for (int32_t i = 0; i < of->parameter_count; i++) {
        const describe_parameter *p = &of->parameters[i];
        what.params[i] = (judge_param){.role = (int32_t)p->is.role,
                                       .bytes = p->is.bytes,
                                       .grain = describe_scalar_bytes(p->scalar),
                                       .count = p->is.role == ISO_PARAMETER_OWN
                                                    ? (int64_t)size[0] * size[1] * size[2]
                                                    : p->usable};
    }
    FILE *out = fopen(path, "wbe");
    bool good = out && fwrite(&what, sizeof what, 1, out) == 1;
    for (int32_t i = 0; good && i < of->parameter_count; i++) {
        const size_t bytes = item->content[i] ? (size_t)bytes_of(&of->parameters[i]) : 0;
        good =
            fwrite(item->content[i] ? (const void *)item->content[i] : "", 1, bytes, out) == bytes;
    }
    return out && fclose(out) == 0 && good;
}

judge_end *check_end_read(const char *path, judge_finding **findings, unsigned char **rest)
{
    enum { MOST_MIB = 4096 };
    size_t length = 0;
    char *data = tool_read(path, MOST_MIB, &length);
    judge_end *end = (judge_end *)(void *)data;
    const bool good = data && length >= sizeof *end && end->magic == JUDGE_MAGIC &&
                      length >= sizeof *end + (size_t)end->finding_count * sizeof **findings;
    if (!good) {
        free(data);
        return NULL;
    }
    *findings = (judge_finding *)(end + 1);
    *rest = (unsigned char *)(*findings + end->finding_count);
    return end;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The first byte that counts and differs; -1: none. */
static int64_t first_difference(const check_case *item, int32_t index, const unsigned char *got)
{
    const describe_parameter *p = &item->of->parameters[index];
    const unsigned char *wanted = item->results[index], *counts = item->counts[index];
    const int64_t bytes = bytes_of(p);
    for (int64_t i = 0; i < bytes; i++) {
        if (got[i] != wanted[i] && counts[i % p->is.bytes]) {
            return i;
        }
    }
    return -1;
}

/* An element's bits, with its value if it is a number. */
static void show(const describe_parameter *p, const unsigned char *at, char *text, size_t room)
{
    const int32_t scalar = describe_scalar_bytes(p->scalar);
    uint64_t bits = 0;
    float narrow;
    double wide;
    memcpy(&bits, at, (size_t)scalar);
    if (p->scalar == DESCRIBE_F32) {
        memcpy(&narrow, at, sizeof narrow);
        snprintf(text, room, "%.9g (0x%llx)", (double)narrow, (unsigned long long)bits);
    } else if (p->scalar == DESCRIBE_F64) {
        memcpy(&wide, at, sizeof wide);
        snprintf(text, room, "%.17g (0x%llx)", wide, (unsigned long long)bits);
    } else {
        snprintf(text, room, "0x%llx", (unsigned long long)bits);
    }
}

static void report(check_run *run, const char *part, const char *who, const check_case *item,
                   int32_t index, const unsigned char *got, int64_t at)
{
    char name[512], here[80], there[80];
    const describe_parameter *p = &item->of->parameters[index];
    char *key = check_text("differs %s %s", item->of->kernel->name, p->is.name);
    check_finding *made =
        check_find(run, part, key, item->of->kernel->info.line, item->of->kernel->name);
    at -= at % describe_scalar_bytes(p->scalar);
    if (made) {
        show(p, got + at, here, sizeof here);
        show(p, item->results[index] + at, there, sizeof there);
        made->what = check_text("%s[%lld] differs: %s has %s, the judge %s", p->is.name,
                                (long long)(at / p->is.bytes), who, here, there);
        made->details = check_text("first with %s", check_case_name(item, name, sizeof name));
        made->advice = "what decides a result must not depend on the order of items and groups; "
                       "floats are added in one order, and divided by iso_div";
    }
    free(key);
}

bool check_case_same(const check_case *item, unsigned char *const *contents)
{
    bool same = true;
    for (int32_t i = 0; i < item->of->parameter_count; i++) {
        same = same &&
               (!item->of->parameters[i].is_written || first_difference(item, i, contents[i]) < 0);
    }
    return same;
}

bool check_case_compare(check_run *run, const char *part, const char *who, const check_case *item,
                        unsigned char *const *contents)
{
    bool same = true;
    for (int32_t i = 0; item->results && i < item->of->parameter_count; i++) {
        const int64_t at =
            item->of->parameters[i].is_written ? first_difference(item, i, contents[i]) : -1;
        if (at >= 0) {
            same = false;
            report(run, part, who, item, i, contents[i], at);
        }
    }
    return same;
}
