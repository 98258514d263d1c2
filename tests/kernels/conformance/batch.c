/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - compiles many kernels as one text, and launches each. */
#include "tests/kernels/conformance/conformance.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 48, WHY = 1024 };

/* PoCL 3.1 has wrong results, or crashes, for many a switch and some loops. This one tells. */
static const char jump_probe[] =
    "ISO_KERNEL(probe_jumps, 16, 1, 1)(ISO_OUT(u64) y ISO_EXTENT(16), ISO_OWN(u64) v)\n"
    "{\n"
    "    ISO_REGION(i) {\n"
    "        iso_mine(v) = 7;\n"
    "        switch (i & 3) {\n"
    "        case 0: { iso_mine(v) = iso_mine(v) * 31 + 1; } break;\n"
    "        case 1:\n"
    "        case 2: { iso_mine(v) = iso_mine(v) * 31 + 5; } break;\n"
    "        case 3: { } break;\n"
    "        }\n"
    "    }\n"
    "    ISO_REGION(i) { y[i] = iso_mine(v); }\n"
    "}\n";

static const char probe[] = "ISO_KERNEL(probe, 1, 1, 1)(ISO_INOUT(u64) x)\n"
                            "{ ISO_REGION(i) { iso_atomic_min_u64(&x[0], (u64)1); } }\n";

static iso_status compile(const conf_run *run, const char *text, iso_program *out)
{
    iso_program_args args = ISO_PROGRAM_ARGS_INIT;
    args.name = "conformance.isk";
    args.text = text;
    args.macros = conf_macros;
    args.macro_count = CONF_MACROS;
    return iso_program_create(run->device, &args, out);
}

/* Whether the probe has the model's results. */
static bool has_results(conf_run *run)
{
    conf_suite suite = {0};
    conf_text text = {0};
    char why[WHY];
    iso_program program;
    conf_add(&text, "%s", jump_probe);
    conf_add_case(&suite, "probe", &text, (const int64_t[]){1, 1, 1}, "");
    bool good = false;
    if (compile(run, suite.at[0].text, &program) == ISO_OK) {
        good = conf_launch(run, &suite.at[0], program, why, sizeof why);
        (void)iso_program_destroy(program);
    }
    conf_free(&suite);
    return good;
}

/* The same in a process of its own, because a compiler may crash for the probe: PoCL 5.0 does. */
static bool takes_jumps(const char *spec)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        conf_run run = {0};
        const bool opened =
            !iso_device_open(spec, &run.device) && !iso_stream_create(run.device, 0, &run.stream);
        _exit(opened && has_results(&run) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

bool conf_open(conf_run *run, const char *spec)
{
    const bool jumps = takes_jumps(spec); /* before this process opens anything */
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_program program;
    if (iso_device_open(spec, &run->device) || iso_stream_create(run->device, 0, &run->stream) ||
        iso_device_get_info(run->device, &info)) {
        return false;
    }
    run->lacks = info.features & ISO_FEATURE_F64 ? 0 : CONF_NEEDS_F64;
    const iso_status status = compile(run, probe, &program);
    if (status == ISO_COMPILE) {
        run->lacks |= CONF_NEEDS_ATOMICS;
    } else if (status) {
        return false;
    } else {
        (void)iso_program_destroy(program);
    }
    run->lacks |= jumps ? 0 : CONF_NEEDS_JUMPS;
    return true;
}

void conf_close(conf_run *run)
{
    (void)iso_stream_destroy(run->stream);
    (void)iso_device_close(run->device);
}

static void differ(conf_run *run, const conf_case *of, const char *why)
{
    run->differ++;
    if (!run->quiet) {
        (void)printf("DIFFERS: %s\n%s\n", why, of->text);
    }
}

static void launch(conf_run *run, const conf_case *of, iso_program program)
{
    char why[WHY];
    if (conf_launch(run, of, program, why, sizeof why)) {
        run->agree++;
    } else {
        differ(run, of, why);
    }
}

/* Compiles the cases that are not left out, in one text. A text that fails as a whole is compiled
 * in halves, so that the kernel that is the cause is named. */
static void run_batch(conf_run *run, const conf_case *const *cases, int count)
{
    conf_text text = {0};
    iso_program program;
    conf_add(&text, "%s", run->before ? run->before : "");
    for (int i = 0; i < count; i++) {
        conf_add(&text, "%s\n", cases[i]->text);
    }
    const iso_status status = compile(run, text.at, &program);
    free(text.at);
    if (status && count > 1) {
        run_batch(run, cases, count / 2);
        run_batch(run, cases + count / 2, count - count / 2);
    } else if (status) {
        differ(run, cases[0], iso_last_error());
    } else {
        for (int i = 0; i < count; i++) {
            launch(run, cases[i], program);
        }
        (void)iso_program_destroy(program);
    }
}

void conf_run_cases(conf_run *run, const conf_suite *suite, int first, int end)
{
    const conf_case *batch[BATCH];
    int count = 0;
    for (int i = first; i < end; i++) {
        if (suite->at[i].needs & run->lacks) {
            run->left_out++;
        } else {
            batch[count++] = &suite->at[i];
        }
        if (count && (count == BATCH || run->alone || i + 1 == end)) {
            run_batch(run, batch, count);
            count = 0;
        }
    }
}
