/* SPDX-License-Identifier: Apache-2.0 */
/* check_judge.c - runs each kernel in the judge's own program, in both orders of its items and
 * groups, where each access is watched. */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

enum { SPARE_SECONDS = 10 };

const char check_judge[] = "judge";

/* ---- the programs ---------------------------------------------------------------------------- */

/* Private variables begin with 0 in the first program, with a pattern in the second. If one is read
 * before it is set, their results differ. */
static bool build(check_run *run, const char *name, const char *fill, check_program *out)
{
    static const char old[] = "-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-"
                              "clang";
    static const char undefined[] = "-fsanitize=signed-integer-overflow,shift,integer-divide-by-"
                                    "zero,bounds,float-cast-overflow";
    const char *options[10] = {"-O0", "-DISO_JUDGE_", "-ffp-contract=off", "-fsanitize=thread",
                               undefined};
    int count = 5;
    if (run->is_clang) { /* it has a second kind of bounds, which ends the program */
        options[count++] = "-fno-sanitize=local-bounds";
        options[count++] = old;
    }
    options[count] = fill;
    const char *const link[] = {run->is_clang ? "-Wl,--wrap=memcpy" : NULL, NULL};
    return check_build(run, name, options, link, "judge", out);
}

/* Programs of several texts stand side by side. */
static bool build_one(check_run *run, int which, const char *fill)
{
    char name[32];
    snprintf(name, sizeof name, "judge%d.%d", which + 1, (int)run->unit->index);
    return build(run, name, fill, &run->unit->judges[which]);
}

bool check_build_judges(check_run *run)
{
    check_unit *unit = run->unit;
    if (!run->compiler) {
        check_say(run, check_judge, "all", CHECK_MISSING,
                  "no C compiler: give --cc, set ISOMER_CC, or install one as cc, gcc or clang");
        return false;
    }
    const bool written = check_write_text(run);
    unit->fills = written && build_one(run, 0, "-ftrivial-auto-var-init=zero") &&
                  build_one(run, 1, "-ftrivial-auto-var-init=pattern");
    if (written && !unit->fills) { /* an older compiler lacks the option */
        free(unit->judges[0].path);
        (void)build_one(run, 0, NULL);
    }
    if (!unit->judges[0].path) {
        (void)check_compiled(run, check_judge, check_c_compiler, ISO_COMPILE,
                             unit->judges[0].why ? unit->judges[0].why
                                                 : "a temporary file cannot be written");
        return false;
    }
    if (!unit->fills) {
        unit->judges[1].path = strdup(unit->judges[0].path);
        check_say(run, check_judge, "private variables", CHECK_MISSING,
                  "%s lacks -ftrivial-auto-var-init: those that are not set are found by its "
                  "warnings alone",
                  run->compiler);
    }
    if (!run->symbolizer) {
        check_say(run, check_judge, "lines", CHECK_MISSING,
                  "neither addr2line nor llvm-addr2line is on PATH: findings have no lines");
    }
    return true;
}

/* ---- running --------------------------------------------------------------------------------- */

/* clang 14 does not tell where structs have padding, whose bytes may have any value. */
static void say_uncompared(const check_scene *s, const describe_parameter *p,
                           const unsigned char *counts)
{
    char *subject = check_text("%s %s", s->item->of->kernel->name, p->is.name);
    if (!counts[0]) {
        check_say(s->run, check_judge, subject, CHECK_MISSING,
                  "the compiler does not tell where %s has padding, so these results are not "
                  "compared: --cc gcc does",
                  p->is.type);
    }
    free(subject);
}

/* Takes the contents of written buffers. */
static unsigned char **take_results(const check_scene *s, const unsigned char *rest)
{
    check_case *item = s->item;
    const describe_case *of = item->of;
    unsigned char **made =
        tool_alloc((size_t)of->parameter_count + 1, sizeof *made, "a kernel's results");
    for (int32_t i = 0; i < of->parameter_count; i++) {
        const describe_parameter *p = &of->parameters[i];
        if (p->is_written) {
            const size_t bytes = (size_t)(p->usable * p->is.bytes);
            const size_t element = (size_t)p->is.bytes;
            if (!item->counts[i]) {
                item->counts[i] = memcpy(tool_alloc(element, 1, "an element"), rest, element);
                say_uncompared(s, p, item->counts[i]);
            }
            rest += element;
            made[i] = memcpy(tool_alloc(bytes, 1, "a kernel's results"), rest, bytes);
            rest += bytes;
            const size_t scalars = bytes / (size_t)describe_scalar_bytes(p->scalar);
            if (!item->sets[i]) {
                item->sets[i] = memcpy(tool_alloc(scalars, 1, "a kernel's results"), rest, scalars);
            }
            rest += scalars;
        }
    }
    return made;
}

static void free_results(const check_case *item, unsigned char **results)
{
    for (int32_t i = 0; results && i < item->of->parameter_count; i++) {
        free(results[i]);
    }
    free(results);
}

/* How a run ended. */
typedef struct ending {
    bool ran, hung;
    int findings;
    int64_t accesses;
    unsigned char **results; /* NULL: it was ended early */
} ending;

static bool has(const judge_finding *findings, int count, judge_kind kind)
{
    for (int i = 0; i < count; i++) {
        if (findings[i].kind == (int32_t)kind) {
            return true;
        }
    }
    return false;
}

static ending run_order(const check_scene *s)
{
    check_run *run = s->run;
    char *in = check_path(run, "case"), *out = check_path(run, "end"), name[512];
    const char *program = run->unit->judges[s->program].path;
    const char *const words[] = {program, in, out, NULL};
    judge_finding *findings = NULL;
    unsigned char *rest = NULL;
    judge_end *end = NULL;
    check_child child = {0};
    ending made = {0};
    if (check_case_write(s->item, s->reversed, (int)run->limit, in) &&
        check_spawn(run, words, (double)run->limit + SPARE_SECONDS, &child)) {
        end = check_end_read(out, &findings, &rest);
    }
    if (end) {
        made = (ending){.ran = true,
                        .hung = has(findings, end->finding_count, JUDGE_HANG),
                        .findings = end->finding_count,
                        .accesses = end->accesses,
                        .results = end->whole ? take_results(s, rest) : NULL};
        check_add_findings(s, program, end, findings);
    } else {
        char *why = check_child_problem(&child, "the judge's program");
        check_say(run, check_judge, check_case_name(s->item, name, sizeof name), CHECK_MISSING,
                  "%s", why);
        free(why);
    }
    check_child_free(&child);
    free(end);
    free(in);
    free(out);
    return made;
}

/* The results of the two orders. If they differ, the second order runs again without the pattern in
 * private variables, which tells the two causes apart. Returns the number of findings. */
static int compare(check_scene s, unsigned char **results)
{
    if (!s.item->results || !results || check_case_same(s.item, results)) {
        return 0;
    }
    s.program = 0;
    const ending again = run_order(&s);
    const bool same = s.run->unit->fills && again.results && check_case_same(s.item, again.results);
    if (same) {
        check_unset_confirm(s.run, s.item->of->kernel);
    }
    const describe_kernel *user = s.item->user ? s.item->user : s.item->of->kernel;
    const bool differs = !same && again.results && user->bits;
    if (differs) {
        (void)check_case_compare(s.run, check_judge, "the order from last to first", s.item,
                                 again.results);
    }
    free_results(s.item, again.results);
    return same || differs;
}

static bool is_endless(const check_run *run, const char *kernel)
{
    for (int32_t i = 0; i < run->finding_count; i++) {
        if (run->findings[i].kind == JUDGE_HANG && check_is_on(run, &run->findings[i], kernel)) {
            return true;
        }
    }
    return false;
}

void check_judge_case(check_run *run, check_case *item)
{
    char name[512];
    check_scene s = {.run = run, .item = item};
    check_case_name(item, name, sizeof name);
    if (is_endless(run, item->of->kernel->name)) {
        check_say(run, check_judge, name, CHECK_MISSING, "it does not end with another size");
        return;
    }
    const ending first = run_order(&s);
    item->results = first.results;
    if (!first.ran) {
        return;
    }
    s.reversed = true;
    s.program = 1;
    const ending second = first.hung ? first : run_order(&s);
    int count = first.findings + second.findings;
    if (!first.hung && !count) {
        count = compare(s, second.results);
    }
    if (second.ran) {
        check_say(run, check_judge, name, count ? CHECK_FOUND : CHECK_OK, "%s, %lld accesses%s%s",
                  first.hung ? "it was ended" : "both orders",
                  (long long)(first.accesses + (first.hung ? 0 : second.accesses)),
                  item->user ? "; the reference of " : "", item->user ? item->user->name : "");
    }
    if (!first.hung) {
        free_results(item, second.results);
    }
}

/* What a race makes of a value, an access out of bounds of the launch, and all that a kernel does
 * before it is ended, is said already. */
static bool follows(const check_run *run, const check_finding *at)
{
    const int cause = at->kind == JUDGE_UNSET   ? JUDGE_RACE
                      : at->kind == JUDGE_CRASH ? JUDGE_BOUNDS
                                                : -1;
    for (int32_t i = 0; i < run->finding_count && at->kind >= 0; i++) {
        const check_finding *other = &run->findings[i];
        if (strcmp(other->kernel, at->kernel) == 0 && strcmp(other->text, at->text) == 0 &&
            ((other->kind == cause && cause >= 0 && other->line == at->line) ||
             (other->kind == JUDGE_HANG && at->kind != JUDGE_HANG))) {
            return true;
        }
    }
    return false;
}

void check_run_judge(check_run *run)
{
    if (!run->described) {
        check_say(run, check_judge, "all", CHECK_MISSING,
                  "no description says with what kernels run: write one, or give --with");
        return;
    }
    if (!check_build_judges(run)) {
        return;
    }
    check_unset_begin(run);
    for (int32_t i = 0; i < run->case_count && !tool_stop_asked(); i++) {
        check_judge_case(run, &run->cases[i]);
    }
    check_judge_references(run);
    check_drop(run, follows);
}
