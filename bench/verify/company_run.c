/* SPDX-License-Identifier: Apache-2.0 */
/* company_run.c - runs the cases of --invariance: each base alone, then in company. */
#include "bench/verify/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A base's result, computed with the settings of the user. */
typedef struct base_record {
    bool made;
    bench_status status;
    char *reason, *dense;
} base_record;

typedef struct companies {
    verify_run *run;
    verify_state *alone, *among;
    bench_result *result;
    verify_target *target; /* in turn */
    base_record *bases;    /* of the target's device, for each of its libraries in turn */
    company_load load;
    char closed[320]; /* why the device is not open; "": it is */
    int done;
} companies;

enum { REPEATS = 20 };

/* ---- bases ----------------------------------------------------------------------------------- */

static const bench_case *base_of(const companies *c, const bench_case *item)
{
    return &c->run->cases->bases->cases[item->company.base - 1];
}

static base_record *record_of(const companies *c, const bench_case *item)
{
    int32_t count = c->run->cases->bases->count;
    return &c->bases[c->target->library * count + item->company.base - 1];
}

/* Computes the base of a case, unless that was done before. False: it failed. */
static bool need_base(companies *c, const bench_case *item)
{
    base_record *record = record_of(c, item);
    if (record->made) {
        return record->status == BENCH_OK;
    }
    bench_needs needs;
    bench_case with = *base_of(c, item);
    with.library = c->target->library;
    bench_case_needs(&with, &needs);
    memset(c->result, 0, sizeof *c->result);
    const void *dense =
        verify_compute(c->alone, c->target->runner, &with, company_cancel, NULL, c->result);
    record->made = true;
    if (dense) {
        record->dense = malloc((size_t)needs.result + 1);
        if (record->dense) {
            memcpy(record->dense, dense, (size_t)needs.result);
        } else {
            check_no_memory(c->result);
        }
    }
    record->status = c->result->status;
    if (record->status != BENCH_OK) {
        record->reason = strdup(c->result->reason);
    }
    if (record->status == BENCH_ERROR || record->status == BENCH_FAILED) {
        verify_runner_renew(c->target->runner);
    }
    return record->status == BENCH_OK;
}

static void free_bases(companies *c)
{
    int32_t count = c->run->cases->bases->count * VERIFY_LIBRARIES;
    for (int32_t i = 0; c->bases && i < count; i++) {
        free(c->bases[i].reason);
        free(c->bases[i].dense);
    }
    free(c->bases);
    c->bases = NULL;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static bool compute(companies *c, const bench_case *item)
{
    const bench_case *base = base_of(c, item);
    company_alone alone = {base, &c->alone->problem};
    if (!verify_build(c->alone, base, company_cancel, NULL, c->result)) {
        return false;
    }
    void *among = verify_compute(c->among, c->target->runner, item, company_put, &alone, c->result);
    return among && company_compare(item, base, record_of(c, item)->dense, among, c->result);
}

/* Computes the case on streams of its own: on one of another kind, or on one of two. */
static bool compute_on_streams(companies *c, const bench_case *item)
{
    verify_runner *runner = c->target->runner;
    company_axis axis = item->company.axis;
    iso_stream usual = runner->stream, own = {0}, other = {0};
    uint32_t flags = axis == COMPANY_INLINE ? runner->flags ^ ISO_STREAM_INLINE : runner->flags;
    bool ok = false;
    if (axis == COMPANY_BUSY && !company_load_make(&c->load, runner, c->result)) {
        return false;
    }
    iso_status status = iso_stream_create(runner->device, flags, &own);
    if (status == ISO_OK && axis != COMPANY_INLINE) {
        status = iso_stream_create(runner->device, 0, &other);
    }
    if (status == ISO_OK) {
        runner->stream = item->company.second ? other : own;
        runner->beside = item->company.second ? own : other;
        runner->load = axis == COMPANY_BUSY ? &c->load.args : NULL;
        ok = compute(c, item);
    } else {
        check_call_failed(c->result, "iso_stream_create", status);
    }
    runner->stream = usual;
    runner->beside.id = 0;
    iso_stream_destroy(own);
    if (other.id != 0) {
        iso_stream_destroy(other);
    }
    return ok;
}

static bool run_in_company(companies *c, const bench_case *item)
{
    const base_record *record = record_of(c, item);
    if (!need_base(c, item)) {
        snprintf(c->result->reason, sizeof c->result->reason, "%s%s",
                 record->status == BENCH_UNSUPPORTED ? "" : "alone: ",
                 record->reason ? record->reason : "no memory");
        c->result->status = record->status;
        return false;
    }
    memset(c->result, 0, sizeof *c->result);
    if (c->closed[0] != '\0') {
        snprintf(c->result->reason, sizeof c->result->reason, "%s", c->closed);
        c->result->status = BENCH_ERROR;
        return false;
    }
    switch (item->company.axis) {
    case COMPANY_INLINE:
    case COMPANY_STREAMS:
    case COMPANY_BUSY:
        return compute_on_streams(c, item);
    case COMPANY_REPEAT:
        for (int i = 1; i < REPEATS; i++) {
            if (!compute(c, item)) {
                return false;
            }
        }
        return compute(c, item);
    default:
        return compute(c, item);
    }
}

/* Bits that are not promised may change: then the case is right, and its record says so. */
static void run_case(companies *c, int index)
{
    verify_run *run = c->run;
    bench_case with = *run->chosen[index];
    bool promised = with.how != ISO_VARIANT_VENDOR;
    with.library = c->target->library;
    c->result->method = "";
    arith_fp_reset();
    double begin = tool_seconds();
    bool same = run_in_company(c, &with);
    bench_status status = c->result->status;
    if (!same && status == BENCH_ERROR && c->closed[0] == '\0') {
        verify_runner_renew(c->target->runner);
    }
    c->result->seconds = tool_seconds() - begin;
    c->target->records[index].changed = status == BENCH_FAILED;
    if (status == BENCH_FAILED && !promised && c->result->method[0] != '\0') {
        c->result->status = BENCH_OK;
    }
    verify_keep(run, c->target, index, c->result);
}

/* ---- a device -------------------------------------------------------------------------------- */

static bool property_has(iso_device device, const char *name, const char *word)
{
    iso_property property = ISO_PROPERTY_INIT;
    for (int32_t i = 0; tool_property(device, i, &property); i++) {
        if (strcmp(property.name, name) == 0 && strstr(property.value, word)) {
            return true;
        }
    }
    return false;
}

/* Whether the device has this setting. */
static bool applies(const verify_runner *runner, const company_setting *setting)
{
    switch (setting->axis) {
    case COMPANY_THREADS:
        return property_has(runner->device, "threads", "");
    case COMPANY_ISA:
        return property_has(runner->device, "instruction set", setting->value);
    case COMPANY_TILES:
        return (runner->info.features & ISO_FEATURE_COMPILES) != 0;
    default:
        return true;
    }
}

static bool has_inline(const verify_runner *runner)
{
    iso_stream stream;
    if (iso_stream_create(runner->device, ISO_STREAM_INLINE, &stream) != ISO_OK) {
        return false;
    }
    iso_stream_destroy(stream);
    return true;
}

/* Runs the chosen cases of one setting on all targets of the device. */
static void run_setting(companies *c, int first, int32_t setting, bool inlines)
{
    verify_run *run = c->run;
    bool shown = isatty(STDERR_FILENO) != 0;
    for (int i = 0; i < run->chosen_count && !run->over; i++) {
        const bench_case *item = run->chosen[i];
        if (item->company.setting != setting ||
            (item->company.axis == COMPANY_INLINE && !inlines)) {
            continue;
        }
        for (int t = first; t < run->target_count && !run->over; t++) {
            c->target = &run->targets[t];
            if (c->target->runner != run->targets[first].runner ||
                (c->target->library > 0 && item->how != ISO_VARIANT_VENDOR)) {
                continue;
            }
            if (shown) {
                double all = (double)run->chosen_count * run->target_count;
                tool_progress(c->done / all, " %d/%.0f %s %s", c->done, all, c->target->info->spec,
                              item->id);
            }
            c->done++;
            run_case(c, i);
        }
    }
}

/* Every base is computed before any setting changes. */
static void compute_bases(companies *c, int first)
{
    verify_run *run = c->run;
    for (int i = 0; i < run->chosen_count && !run->over; i++) {
        for (int t = first; t < run->target_count; t++) {
            c->target = &run->targets[t];
            if (run->chosen[i]->company.setting != 0 &&
                c->target->runner == run->targets[first].runner &&
                (c->target->library == 0 || run->chosen[i]->how == ISO_VARIANT_VENDOR)) {
                need_base(c, run->chosen[i]);
            }
        }
        run->over = run->interrupted = tool_interrupted();
    }
}

static bool is_chosen(const verify_run *run, int32_t setting)
{
    for (int i = 0; i < run->chosen_count; i++) {
        if (run->chosen[i]->company.setting == setting) {
            return true;
        }
    }
    return false;
}

/* Opens the device again. If it does not open, its next cases are errors. */
static void reopen(companies *c, verify_runner *runner, const char *how)
{
    c->load.made = false;
    c->closed[0] = '\0';
    if (!verify_runner_reopen(runner)) {
        snprintf(c->closed, sizeof c->closed, "the device does not open with %s: %s", how,
                 tool_reason());
    }
}

/* The device is opened with the setting, used, and opened again without it. */
static void with_setting(companies *c, int first, int32_t index, bool inlines)
{
    const company_setting *setting = &company_settings[index];
    verify_runner *runner = c->run->targets[first].runner;
    const char *now = getenv(setting->variable);
    char *before = now ? strdup(now) : NULL, how[64];
    if (now && !before) {
        tool_no_memory("a setting");
    }
    setenv(setting->variable, setting->value, 1);
    snprintf(how, sizeof how, "%s=%s", setting->variable, setting->value);
    reopen(c, runner, how);
    if (c->closed[0] == '\0' && setting->axis == COMPANY_THREADS &&
        runner->info.threads != strtol(setting->value, NULL, 10)) {
        tool_error(TOOL_OK, "%s with %s threads is left out: the device opened with %d",
                   runner->info.spec, setting->value, (int)runner->info.threads);
    } else {
        run_setting(c, first, index, inlines);
    }
    if (before) {
        setenv(setting->variable, before, 1);
    } else {
        unsetenv(setting->variable);
    }
    free(before);
    reopen(c, runner, "its first settings");
}

static int run_device(companies *c, int first)
{
    const verify_runner *runner = c->run->targets[first].runner;
    bool inlines = has_inline(runner), takes[COMPANY_SETTINGS];
    c->load = (company_load){.made = false};
    c->closed[0] = '\0';
    c->bases = calloc((size_t)c->run->cases->bases->count * VERIFY_LIBRARIES, sizeof *c->bases);
    if (!c->bases) {
        return tool_error(TOOL_INTERNAL, "no memory for the results");
    }
    for (int32_t s = 1; s < COMPANY_SETTINGS; s++) {
        takes[s] = is_chosen(c->run, s) && applies(runner, &company_settings[s]);
    }
    run_setting(c, first, 0, inlines);
    compute_bases(c, first);
    for (int32_t s = 1; s < COMPANY_SETTINGS && !c->run->over; s++) {
        if (takes[s]) {
            with_setting(c, first, s, inlines);
        }
    }
    free_bases(c);
    return TOOL_OK;
}

int verify_run_companies(verify_run *run)
{
    companies c = {.run = run,
                   .alone = verify_state_create(),
                   .among = verify_state_create(),
                   .result = calloc(1, sizeof *c.result)};
    int code = TOOL_OK;
    if (!c.alone || !c.among || !c.result) {
        code = tool_error(TOOL_INTERNAL, "no memory for the cases");
    }
    double begin = tool_seconds();
    for (int t = 0; t < run->target_count && code == TOOL_OK && !run->over; t++) {
        if (run->targets[t].library == 0) {
            code = run_device(&c, t);
        }
    }
    run->seconds = tool_seconds() - begin;
    if (isatty(STDERR_FILENO)) {
        tool_progress_end();
    }
    verify_state_destroy(c.alone);
    verify_state_destroy(c.among);
    free(c.result);
    return code;
}
