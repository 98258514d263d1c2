/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - results as JSON and as JUnit XML. */
#include "bench/record/record.h"
#include "bench/verify/comm.h"
#include "common/printable.h"

#include <stdlib.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *result_json(const verify_run *run, const verify_target *target, int index)
{
    const bench_case *item = run->chosen[index];
    const verify_record *record = &target->records[index];
    json_t *r = json_object(), *verified = json_null();
    tool_set_text(r, "id", item->id);
    tool_set_text(r, "op", item->op->verified);
    tool_set_text(r, "variant", item->variant);
    tool_set_text(r, "dtype", item->type);
    if (item->op->kind_member) {
        tool_set_text(r, item->op->kind_member, item->kind);
    }
    json_t *shape = json_object(), *layout = json_object();
    if (item->op->describe) {
        item->op->describe(item, shape, layout);
    }
    json_object_set_new(r, "shape", shape);
    json_object_set_new(r, "layout", layout);
    tool_set_text(r, "backend", target->info->backend);
    tool_set_text(r, "device", target->info->spec);
    tool_set_text(r, "library", record->library);
    tool_set_text(r, "status", bench_status_name(record->status));
    tool_set_text(r, "reason", record->reason);
    if (record->status == BENCH_OK || record->status == BENCH_FAILED) {
        verified = json_object();
        tool_set_text(verified, "method", record->method);
        tool_set_number(verified, "error", record->error);
        tool_set_number(verified, "bound", record->bound);
    }
    json_object_set_new(r, "verified", verified);
    char text[33] = "";
    if (record->has_digest) {
        tool_digest_text(record->digest, text);
    }
    tool_set_text(r, "digest", text);
    tool_set_number(r, "seconds", record->seconds);
    return r;
}

static json_t *run_json(const verify_run *run)
{
    json_t *r = record_run("verify", run->argc, run->argv);
    static const char *const flags[TOOL_TIERS] = {
        [TOOL_STAND_IN] = "fake", [TOOL_SIMULATOR] = "simulated"};
    bool has[TOOL_TIERS] = {false};
    for (int t = 0; t < run->target_count; t++) {
        has[tool_tier_of(run->targets[t].info)] = true;
    }
    for (int i = 0; i < TOOL_TIERS; i++) {
        if (has[i] && flags[i]) {
            json_array_append_new(json_object_get(r, "flags"), json_string(flags[i]));
        }
    }
    record_end(r, run->interrupted);
    tool_set_text(r, "suite", run->given ? "kernels" : run->full ? "full" : "quick");
    tool_set_int(r, "seed", (int64_t)run->seed_value);
    json_object_set_new(r, "bitwise", json_boolean(run->bitwise));
    if (run->invariance) {
        json_object_set_new(r, "invariance", json_true());
    }
    if (run->comm) {
        json_object_set_new(r, "comm", comm_json(run));
    }
    json_object_set_new(r, "brief", json_boolean(run->brief));
    json_object_set_new(r, "inline", json_boolean(run->inline_streams));
    tool_set_number(r, "seconds", run->seconds);
    tool_set_int(r, "passed", run->passed);
    tool_set_int(r, "failed", run->failed);
    tool_set_int(r, "errors", run->errors);
    tool_set_int(r, "unsupported", run->unsupported);
    return r;
}

static bool is_written(const verify_run *run, const verify_record *record)
{
    bool failed = record->status == BENCH_FAILED || record->status == BENCH_ERROR;
    return record->ran && (failed || !run->brief);
}

static json_t *whole_json(const verify_run *run)
{
    json_t *root = json_object(), *devices = json_array(), *results = json_array();
    json_object_set_new(root, "schema", json_string("isomer-results/1"));
    json_object_set_new(root, "run", run_json(run));
    for (int t = 0; t < run->target_count; t++) {
        const verify_target *target = &run->targets[t];
        json_t *device = tool_json_device(target->info);
        char text[33] = "";
        if (run->bitwise) {
            tool_digest_text(target->digest, text);
        }
        tool_set_text(device, "digest_of_all", text);
        json_object_set_new(device, "fake", json_boolean(tool_is_fake(target->info)));
        json_object_set_new(device, "summary", verify_summary(run, target->info));
        if (target->library == 0) {
            json_array_append_new(devices, device);
        } else {
            json_decref(device);
        }
        for (int i = 0; i < run->chosen_count; i++) {
            if (is_written(run, &target->records[i])) {
                json_array_append_new(results, result_json(run, target, i));
            }
        }
    }
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "results", results);
    return root;
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

/* Writes the text of an attribute. Characters that XML cannot contain or that control a terminal
 * are written as their codes. */
static void escape(FILE *out, const char *text)
{
    char one[PRINTABLE_MOST];
    size_t length = strlen(text), taken;
    for (size_t at = 0; at < length; at += taken) {
        size_t bytes = printable_next(text + at, length - at, PRINTABLE_TEXT, one, &taken);
        unsigned char c = (unsigned char)text[at];
        if (taken == 0) {
            break;
        }
        if (c == '<') {
            fputs("&lt;", out);
        } else if (c == '>') {
            fputs("&gt;", out);
        } else if (c == '&') {
            fputs("&amp;", out);
        } else if (c == '"') {
            fputs("&quot;", out);
        } else if (c == '\n' || c == '\t') {
            fprintf(out, "&#%d;", c);
        } else {
            fwrite(one, 1, bytes, out);
        }
    }
}

static void junit_case(FILE *out, const verify_run *run, const verify_target *target, int index)
{
    const bench_case *item = run->chosen[index];
    const verify_record *record = &target->records[index];
    static const char *const elements[] = {NULL, "failure", "skipped", "error"};
    const char *element = elements[record->status];
    fprintf(out, "  <testcase classname=\"%s.%s%s%s\" name=\"", item->op->verified, item->variant,
            item->type[0] ? "." : "", item->type);
    escape(out, item->id);
    fprintf(out, "\" time=\"%.6f\"", record->seconds);
    if (!element) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n   <%s message=\"", element);
    escape(out, record->reason ? record->reason : "");
    if (record->status == BENCH_UNSUPPORTED) {
        fputs("\"/>\n  </testcase>\n", out);
        return;
    }
    char command[4096];
    verify_command(run, target, item, command, sizeof command);
    fputs("\">", out);
    escape(out, command);
    fprintf(out, "</%s>\n  </testcase>\n", element);
}

static void junit(const verify_run *run, FILE *out)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"isomer verify\">\n", out);
    for (int t = 0; t < run->target_count; t++) {
        const verify_target *target = &run->targets[t];
        int counts[4] = {0}, total = 0;
        double seconds = 0;
        for (int i = 0; i < run->chosen_count; i++) {
            if (!target->records[i].ran) {
                continue;
            }
            counts[target->records[i].status]++;
            seconds += target->records[i].seconds;
            total++;
        }
        fputs(" <testsuite name=\"", out);
        escape(out, target->title);
        fprintf(
            out, "\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\">\n",
            total, counts[BENCH_FAILED], counts[BENCH_ERROR], counts[BENCH_UNSUPPORTED], seconds);
        for (int i = 0; i < run->chosen_count; i++) {
            if (target->records[i].ran) {
                junit_case(out, run, target, i);
            }
        }
        if (run->interrupted) {
            fputs("  <system-err>interrupted: the other cases were not run</system-err>\n", out);
        }
        fputs(" </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}

int verify_write_files(verify_run *run)
{
    int code = TOOL_OK;
    if (run->json_file.path) {
        json_t *root = whole_json(run);
        code = tool_file_json(&run->json_file, root);
        json_decref(root);
    }
    if (code == TOOL_OK && run->junit_file.path) {
        junit(run, run->junit_file.stream);
        code = tool_file_commit(&run->junit_file);
    }
    return code;
}
