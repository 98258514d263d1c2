/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - chooses the cases and the devices. */
#include "bench/verify/comm.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- cases ----------------------------------------------------------------------------------- */

static bool op_matches(const tool_words *ops, const bench_case *item)
{
    if (item->op == &verify_comm && item->comm.reduce &&
        tool_words_have(ops, iso_reduce_op_name(item->comm.reduce))) {
        return true;
    }
    return tool_words_have(ops, item->op->name) || tool_words_have(ops, item->op->verified) ||
           tool_words_have(ops, item->kind);
}

typedef struct filter {
    tool_words ops, variants, types;
} filter;

static int make_filter(const verify_run *run, filter *f)
{
    tool_names ops = {0}, variants = {{NULL}, 0}, types = {{NULL}, 0};
    for (int i = 0; i < VERIFY_OPS && !run->comm; i++) {
        tool_names_add(&ops, verify_ops[i]->name);
    }
    for (int32_t i = 0; i < run->cases->count; i++) {
        const bench_case *item = &run->cases->cases[i];
        tool_names_add(&ops, item->kind);
        if (run->comm && item->comm.reduce) {
            tool_names_add(&ops, iso_reduce_op_name(item->comm.reduce));
        }
        tool_names_add(&variants, item->variant);
        tool_names_add(&types, item->type);
    }
    if (!tool_split(run->op, &f->ops) || !tool_split(run->variant, &f->variants) ||
        !tool_split(run->dtype, &f->types)) {
        return tool_error(TOOL_INTERNAL, "no memory");
    }
    tool_names_add(&ops, "none");
    if (tool_words_have(&f->ops, "stream")) { /* the older word for `order`, which is taken */
        tool_names_add(&ops, "stream");
    }
    int code = tool_words_check("op", &f->ops, &ops);
    if (code == TOOL_OK) {
        code = tool_words_check("variant", &f->variants, &variants);
    }
    if (code == TOOL_OK) {
        code = tool_words_check("dtype", &f->types, &types);
    }
    return code;
}

static bool matches(const verify_run *run, const filter *f, const bench_case *item)
{
    if (run->case_id && fnmatch(run->case_id, item->id, FNM_EXTMATCH) != 0) {
        return false;
    }
    return (!run->op || op_matches(&f->ops, item)) &&
           (!run->variant || tool_words_have(&f->variants, item->variant)) &&
           (!run->dtype || tool_words_have(&f->types, item->type));
}

int verify_choose_cases(verify_run *run)
{
    filter f = {0};
    const char *mode = run->invariance ? " --invariance" : run->comm ? " --comm" : "";
    /* An id is looked up in the full list, so that it is found whatever --suite says. A pattern
     * only searches the chosen list. */
    bool one = run->case_id && !strpbrk(run->case_id, "*?[\\");
    run->cases = run->comm ? verify_list_comm(run->full || one, run->counts, run->count_count,
                                              run->seed_value)
                           : verify_list_create(run->full || one, run->invariance, run->seed_value);
    if (!run->cases) {
        return tool_error(TOOL_INTERNAL, "no memory for the list of cases");
    }
    int code = make_filter(run, &f);
    run->chosen = calloc((size_t)run->cases->count + 1, sizeof(const bench_case *));
    if (!run->chosen) {
        code = tool_error(TOOL_INTERNAL, "no memory for the list of cases");
    }
    for (int32_t i = 0; code == TOOL_OK && i < run->cases->count; i++) {
        if (matches(run, &f, &run->cases->cases[i])) {
            run->chosen[run->chosen_count++] = &run->cases->cases[i];
        }
    }
    tool_words_free(&f.ops);
    tool_words_free(&f.variants);
    tool_words_free(&f.types);
    if (code != TOOL_OK || run->chosen_count > 0) {
        return code;
    }
    if (one && !run->op && !run->variant && !run->dtype) {
        return tool_error(TOOL_USAGE,
                          "no case is called \"%s\"; `%s verify%s --list` lists all cases",
                          run->case_id, tool_name, mode);
    }
    return tool_error(TOOL_NOTHING,
                      "no case matches%s%s: nothing was run; `%s verify%s --list` lists all cases",
                      run->case_id ? " " : "", run->case_id ? run->case_id : "", tool_name, mode);
}

int verify_choose_given(verify_run *run)
{
    const verify_request *given = run->given;
    run->chosen = tool_alloc((size_t)given->count + 1, sizeof *run->chosen, "the cases");
    for (int32_t i = 0; i < given->count; i++) {
        const bench_case *item = &given->cases[i];
        if (!run->case_id || fnmatch(run->case_id, item->id, FNM_EXTMATCH) == 0) {
            run->chosen[run->chosen_count++] = item;
        }
    }
    return run->chosen_count > 0
               ? TOOL_OK
               : tool_error(TOOL_NOTHING, "no case matches %s: nothing was run; --list lists all",
                            run->case_id);
}

/* ---- devices --------------------------------------------------------------------------------- */

static verify_target *add_target(verify_run *run, verify_runner *runner)
{
    verify_target *more =
        realloc(run->targets, (size_t)(run->target_count + 1) * sizeof *run->targets);
    verify_record *records = calloc((size_t)run->chosen_count, sizeof *records);
    if (more) {
        run->targets = more;
    }
    if (!more || !records) {
        free(records);
        return NULL;
    }
    verify_target *target = &more[run->target_count++];
    *target = (verify_target){.runner = runner, .info = &runner->info, .records = records};
    snprintf(target->title, sizeof target->title, "%s", target->info->spec);
    return target;
}

/* A device's vendor may have several libraries for products. Adds a target for each one after the
 * first. */
static int add_libraries(verify_run *run, verify_runner *runner)
{
    char found[VERIFY_LIBRARIES][ISO_NAME_MAX];
    bool wanted = false;
    for (int i = 0; i < run->chosen_count && !wanted; i++) {
        wanted = run->chosen[i]->op->libraries && run->chosen[i]->how == ISO_VARIANT_VENDOR;
    }
    int32_t count = wanted ? tool_libraries(runner->device, found, VERIFY_LIBRARIES) : 0;
    for (int32_t i = 1; i < count; i++) {
        verify_target *target = add_target(run, runner);
        if (!target) {
            return tool_error(TOOL_INTERNAL, "no memory for results");
        }
        target->library = i;
        snprintf(target->title, sizeof target->title, "%s with %s", target->info->spec, found[i]);
    }
    return TOOL_OK;
}

static int open_target(verify_run *run, const char *spec)
{
    const char *name = spec ? spec : "the device of ISOMER_BACKEND";
    iso_clear_error();
    verify_runner *runner =
        verify_runner_open(spec, run->inline_streams ? (uint32_t)ISO_STREAM_INLINE : 0);
    if (!runner && iso_last_status() == ISO_OK) {
        return tool_error(TOOL_INTERNAL, "no memory to open %s", name);
    }
    if (!runner) {
        return tool_error(tool_code(iso_last_status()), "%s", tool_reason());
    }
    if (!add_target(run, runner)) {
        verify_runner_close(runner);
        return tool_error(TOOL_INTERNAL, "no memory to open %s", name);
    }
    return add_libraries(run, runner);
}

int verify_open_targets(verify_run *run)
{
    if (run->comm) {
        return comm_open(run);
    }
    tool_words specs;
    int code = tool_specs(run->backend, run->require, &specs);
    bool all = tool_takes_all(run->backend);
    for (int i = 0; i < specs.count && code == TOOL_OK; i++) {
        code = open_target(run, specs.items[i]);
        if (code != TOOL_OK && all && run->inline_streams && iso_last_status() == ISO_UNSUPPORTED) {
            code = tool_error(TOOL_OK, "%s is left out: it has no inline streams", specs.items[i]);
        }
    }
    tool_words_free(&specs);
    if (code == TOOL_OK && run->target_count == 0) {
        return tool_error(TOOL_NOTHING, "there is no device to check");
    }
    return code;
}

void verify_free(verify_run *run)
{
    for (int t = 0; t < run->target_count; t++) {
        verify_target *target = &run->targets[t];
        for (int i = 0; target->records && i < run->chosen_count; i++) {
            free(target->records[i].reason);
        }
        free(target->records);
        if (target->library == 0) {
            verify_runner_close(target->runner);
        }
    }
    free(run->targets);
    ranks_close(run->team);
    if (run->silence) {
        fclose(run->silence);
    }
    free(run->chosen);
    verify_list_destroy(run->cases);
    tool_file_discard(&run->json_file);
    tool_file_discard(&run->junit_file);
}
