/* SPDX-License-Identifier: Apache-2.0 */
/* check_devices.c - compiles the text for each device of the machine, runs its kernels there, and
 * compares their results with the judge's, bit by bit. */
#include "bench/kernel/check.h"

#include <stdlib.h>
#include <string.h>

const char check_compile[] = "compile", check_results[] = "results";
const char check_c_compiler[] = "the C compiler";

/* ---- opening --------------------------------------------------------------------------------- */

/* The backend before a spec's colon is one of --backend's. */
bool check_is_wanted(const check_run *run, const char *backend)
{
    return !run->backend || tool_words_have(&run->backends, backend);
}

static void add_device(check_run *run, const iso_entry *entry)
{
    run->devices =
        tool_resize(run->devices, (size_t)run->device_count + 1, sizeof *run->devices, "devices");
    check_device *made = &run->devices[run->device_count++];
    *made = (check_device){.info = entry->device};
    made->status = iso_device_open(made->info.spec, &made->device);
    if (made->status) {
        made->why = strdup(tool_reason());
        return;
    }
    made->status = iso_program_create(made->device, &run->unit->args, &made->program);
    if (made->status) {
        made->why = strdup(tool_reason());
    }
}

void check_open_devices(check_run *run, const char *part)
{
    int32_t count = 0;
    iso_entry *entries = run->device_count ? NULL : tool_enumerate(&count);
    for (int32_t i = 0; entries && i < count && !tool_stop_asked(); i++) {
        if (entries[i].state == ISO_STATE_OK && check_is_wanted(run, entries[i].backend)) {
            add_device(run, &entries[i]);
        } else if (check_is_wanted(run, entries[i].backend)) {
            const char *why = entries[i].reason;
            check_say(run, part, entries[i].backend, CHECK_MISSING, "%s: %.*s",
                      iso_state_name(entries[i].state), (int)strcspn(why, ";"), why);
        }
    }
    free(entries);
}

void check_close_devices(check_run *run)
{
    for (int32_t i = 0; i < run->device_count; i++) {
        if (run->devices[i].device.id) {
            (void)iso_device_close(run->devices[i].device);
        }
        free(run->devices[i].why);
    }
    free(run->devices);
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The name in "... iso_div_f32_needs_cl_khr_fp64 ...": what isomer/kernel.h makes of a word that
 * the device lacks. False: the log has none. */
static bool lacks_word(const char *log, char *word, size_t room, char *needs, size_t more)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    static const char mark[] = "_needs_cl_";
    const char *at = strstr(log, mark), *begin = at;
    if (!at) {
        return false;
    }
    while (begin > log && strchr(letters, begin[-1])) {
        begin--;
    }
    snprintf(word, room, "%.*s", (int)(at - begin), begin);
    at += strlen("_needs_");
    snprintf(needs, more, "%.*s", (int)strspn(at, letters), at);
    return true;
}

int check_line_in(const check_run *run, const char *log)
{
    const char *name = check_name(run);
    for (const char *at = strstr(log, name); at; at = strstr(at + 1, name)) {
        const char *end = at + strlen(name);
        if ((*end == ':' || *end == '(') && strtol(end + 1, NULL, 10) > 0) {
            return (int)strtol(end + 1, NULL, 10);
        }
    }
    return 0;
}

static const char refused[] = "it does not compile for ";

/* Whether its messages are those of a compiler of C, which are the easiest to read. */
static bool is_plain(const char *subject)
{
    return strncmp(subject, "openmp:", strlen("openmp:")) == 0 ||
           strcmp(subject, check_c_compiler) == 0;
}

void check_mistake(check_run *run, const char *subject, int line, const char *log)
{
    char *key = check_text("compile %d", line);
    check_finding *known = check_known(run, key);
    check_finding *at = known ? known : check_find(run, check_compile, key, line, "");
    const char *first = known ? known->what + strlen(refused) : "";
    if (known && (is_plain(first) || !is_plain(subject))) {
        check_append(&known->also, subject);
    } else {
        if (known) {
            check_append(&known->also, first);
        }
        free(at->what);
        free(at->details);
        at->what = check_text("%s%s", refused, subject);
        at->details = strdup(log);
    }
    free(key);
}

bool check_compiled(check_run *run, const char *part, const char *subject, iso_status status,
                    const char *why)
{
    char word[64], needs[64];
    if (status == ISO_OK) {
        check_say(run, part, subject, CHECK_OK, "%s", why);
    } else if (lacks_word(why, word, sizeof word, needs, sizeof needs)) {
        check_say(run, part, subject, CHECK_UNSUPPORTED,
                  "line %d uses %s, which needs %s; this device lacks that",
                  check_line_in(run, why), word, needs);
    } else if (status == ISO_COMPILE && check_line_in(run, why)) {
        check_mistake(run, subject, check_line_in(run, why), why);
        check_say(run, part, subject, CHECK_FOUND, "see below");
    } else {
        check_say(run, part, subject, status == ISO_UNSUPPORTED ? CHECK_UNSUPPORTED : CHECK_MISSING,
                  "%s", why);
    }
    return status == ISO_OK;
}

void check_run_compile(check_run *run)
{
    check_open_devices(run, check_compile);
    for (int32_t i = 0; i < run->device_count; i++) {
        const check_device *at = &run->devices[i];
        (void)check_compiled(run, check_compile, at->info.spec, at->status,
                             at->status ? at->why : at->info.name);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct launch {
    iso_device device;
    iso_stream stream;
    iso_buffer *buffers;
    iso_argument *arguments;
    unsigned char **contents;
} launch;

static iso_status make_buffers(launch *l, const check_case *item)
{
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < item->of->parameter_count && !status; i++) {
        const describe_parameter *p = &item->of->parameters[i];
        if (!p->is_buffer) {
            continue;
        }
        const int64_t bytes = p->elements * p->is.bytes;
        status = iso_buffer_create(l->device, bytes, &l->buffers[i]);
        const iso_operand all = {l->buffers[i], 0};
        status = status ? status : iso_write(l->stream, all, item->content[i], bytes);
        l->arguments[p->is.argument].buffer = all;
    }
    return status;
}

static iso_status read_buffers(launch *l, const check_case *item)
{
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < item->of->parameter_count && !status; i++) {
        const describe_parameter *p = &item->of->parameters[i];
        if (p->is_written) {
            const int64_t bytes = p->elements * p->is.bytes;
            l->contents[i] = tool_alloc((size_t)bytes, 1, "a kernel's results");
            status = iso_read(l->stream, l->contents[i], (iso_operand){l->buffers[i], 0}, bytes);
        }
    }
    return status;
}

static iso_status run_launch(launch *l, const check_device *device, const check_case *item)
{
    iso_kernel kernel;
    iso_status status = iso_kernel_get(device->program, item->of->kernel->name, &kernel);
    status = status ? status : iso_stream_create(l->device, 0, &l->stream);
    status = status ? status : make_buffers(l, item);
    status = status ? status
                    : iso_launch(l->stream, kernel, item->of->groups, l->arguments,
                                 item->of->argument_count);
    status = status ? status : read_buffers(l, item);
    return status ? status : iso_stream_sync(l->stream);
}

/* What a device did with all cases. */
typedef struct tally {
    int same, differ, failed;
    int wrong, varied, unjudged; /* left out: kernels with a mistake, bits that may differ, and
                                    cases without the judge's results */
    char *why;                   /* the first failure */
} tally;

static void run_case(check_run *run, const check_device *device, const check_case *item, tally *all)
{
    /* Without the judge's results nothing is compared. */
    const size_t count = (size_t)item->of->parameter_count + 1;
    char name[512];
    launch l = {.device = device->device,
                .buffers = tool_alloc(count, sizeof *l.buffers, "buffers"),
                .arguments = tool_alloc(count, sizeof *l.arguments, "arguments"),
                .contents = tool_alloc(count, sizeof *l.contents, "results")};
    memcpy(l.arguments, item->of->arguments,
           (size_t)item->of->argument_count * sizeof *l.arguments);
    if (run_launch(&l, device, item)) {
        all->failed++;
        all->why = all->why ? all->why
                            : check_text("%s: %s", check_case_name(item, name, sizeof name),
                                         tool_reason());
    } else if (check_case_compare(run, check_results, device->info.spec, item, l.contents)) {
        all->same++;
    } else {
        all->differ++;
    }
    for (size_t i = 0; i < count; i++) {
        if (l.buffers[i].id) {
            (void)iso_buffer_destroy(l.buffers[i]);
        }
        free(l.contents[i]);
    }
    if (l.stream.id) {
        (void)iso_stream_destroy(l.stream);
    }
    free(l.buffers);
    free(l.arguments);
    free(l.contents);
}

/* Why cases were not run, in words that begin with "; ". */
static char *left_out(const tally *all)
{
    const struct {
        int count;
        const char *why;
    } reasons[] = {{all->wrong, "a mistake in the kernel"},
                   {all->varied, "bits may differ, as the description says"},
                   {all->unjudged, "the judge has no results"}};
    char *made = strdup("");
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].count) {
            char *more = check_text("%s; %d left out: %s", made, reasons[i].count, reasons[i].why);
            free(made);
            made = more;
        }
    }
    return made;
}

static void run_device(check_run *run, const check_device *device)
{
    tally all = {0};
    for (int32_t c = 0; c < run->case_count && !tool_stop_asked(); c++) {
        const check_case *item = &run->cases[c];
        /* A kernel with a mistake might damage the device's memory, or never end. */
        if (check_has(run, item->of->kernel->name)) {
            all.wrong++;
        } else if (!item->of->kernel->bits) {
            all.varied++;
        } else if (!item->results) {
            all.unjudged++;
        } else {
            run_case(run, device, item, &all);
        }
    }
    char *skipped = left_out(&all);
    if (all.failed) {
        check_say(run, check_results, device->info.spec, CHECK_MISSING, "%d runs failed: %s",
                  all.failed, all.why);
    }
    if (all.same + all.differ) {
        check_say(run, check_results, device->info.spec, all.differ ? CHECK_FOUND : CHECK_OK,
                  "%d of %d runs have the judge's bits%s", all.same, all.same + all.differ,
                  skipped);
    }
    if (!all.failed && !all.same && !all.differ) {
        check_say(run, check_results, device->info.spec, CHECK_MISSING, "nothing was compared%s",
                  skipped);
    }
    free(skipped);
    free(all.why);
}

/* A device for which the text was not compiled: nothing was compared, unless it lacks a word. */
static void say_unopened(check_run *run, const check_device *device)
{
    (void)check_compiled(run, check_results, device->info.spec,
                         device->status == ISO_UNSUPPORTED ? ISO_UNAVAILABLE : device->status,
                         device->why);
}

void check_run_results(check_run *run)
{
    if (!run->described) {
        check_say(run, check_results, "all", CHECK_MISSING,
                  "no description says with what kernels run: write one, or give --with");
        return;
    }
    const int32_t before = run->row_count;
    check_open_devices(run, check_results);
    for (int32_t d = 0; d < run->device_count; d++) {
        const check_device *device = &run->devices[d];
        if (device->status) {
            say_unopened(run, device);
        } else {
            run_device(run, device);
        }
    }
    if (run->row_count == before) {
        check_say(run, check_results, "all", CHECK_MISSING, "there is no device to run kernels on");
    }
}

/* Runs each kernel with a size that suits a simulator, for a tool that watches the device. */
void check_run_launch(check_run *run)
{
    check_open_devices(run, "launch");
    for (int32_t d = 0; d < run->device_count; d++) {
        tally all = {0};
        if (run->devices[d].status) {
            check_say(run, "launch", run->devices[d].info.spec, CHECK_MISSING, "%s",
                      run->devices[d].why);
            continue;
        }
        for (int32_t c = 0; c < run->case_count; c++) {
            if (check_case_is_small(run, &run->cases[c])) {
                run_case(run, &run->devices[d], &run->cases[c], &all);
            }
        }
        check_say(run, "launch", run->devices[d].info.spec, all.failed ? CHECK_MISSING : CHECK_OK,
                  "%d runs%s%s", all.same, all.why ? ", the others failed: " : "",
                  all.why ? all.why : "");
        free(all.why);
    }
}
