/* SPDX-License-Identifier: Apache-2.0 */
/* verify_files.c - results as JSON and as JUnit XML. */
#include "bench/record/record.h"
#include "bench/verify.h"
#include "common/printable.h"

#include <stdlib.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

static void set_int(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer(value));
}

static void set_text(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key, tool_json_text(value));
}

static void shape_gemm(const suite_gemm_case *g, json_t *shape, json_t *layout)
{
    set_int(shape, "m", g->m);
    set_int(shape, "n", g->n);
    set_int(shape, "k", g->k);
    set_int(shape, "batch", g->batch);
    set_text(layout, "trans_a", iso_trans_name(g->trans_a));
    set_text(layout, "trans_b", iso_trans_name(g->trans_b));
    set_int(layout, "pad", g->pad);
    set_int(layout, "offset", g->offset);
    json_object_set_new(layout, "alpha", tool_json_number(g->alpha));
    json_object_set_new(layout, "beta", tool_json_number(g->beta));
    json_object_set_new(layout, "same_a", json_boolean(g->same_a));
    json_object_set_new(layout, "same_b", json_boolean(g->same_b));
    if (g->blocks != SUITE_OWN) {
        set_text(layout, "blocks", g->blocks == SUITE_BESIDE ? "beside" : "neighbours");
    }
}

static void shape_transfer(const suite_transfer_case *t, json_t *shape, json_t *layout)
{
    set_int(shape, "width", t->width);
    set_int(shape, "height", t->height);
    set_int(layout, "to_pitch", t->to_pitch);
    set_int(layout, "from_pitch", t->from_pitch);
    set_int(layout, "to_offset", t->to_offset);
    set_int(layout, "from_offset", t->from_offset);
    if (t->move == SUITE_FILLING) {
        set_int(layout, "pattern_bytes", t->pattern_bytes);
    }
    if (t->move == SUITE_COPY) {
        json_object_set_new(layout, "neighbours", json_boolean(t->neighbours));
    }
}

static void shape_map(const suite_map_case *m, json_t *result, json_t *shape, json_t *layout)
{
    set_text(result, "map", iso_map_op_name(m->op));
    set_int(shape, "n", m->n);
    if (m->op == ISO_MAP_CHAIN) {
        set_int(shape, "steps", m->steps);
    }
    set_text(layout, "place", suite_place_name(m->place));
    set_int(layout, "offset_x", m->offset_x);
    set_int(layout, "offset_y", m->offset_y);
    set_int(layout, "offset_z", m->offset_z);
    json_object_set_new(layout, "alpha", tool_json_number(m->alpha));
    json_object_set_new(layout, "beta", tool_json_number(m->beta));
}

static void describe(const suite_case *item, json_t *result)
{
    json_t *shape = json_object(), *layout = json_object();
    switch (item->kind) {
    case SUITE_GEMM:
        shape_gemm(&item->gemm, shape, layout);
        break;
    case SUITE_REDUCE:
        set_text(result, "reduction", iso_reduce_op_name(item->reduce.op));
        set_int(shape, "rows", item->reduce.rows);
        set_int(shape, "cols", item->reduce.cols);
        set_text(layout, "axis", iso_axis_name(item->reduce.axis));
        set_int(layout, "pad", item->reduce.pad);
        set_int(layout, "offset", item->reduce.offset);
        break;
    case SUITE_MAP:
        shape_map(&item->map, result, shape, layout);
        break;
    case SUITE_TRANSPOSE:
        set_int(shape, "rows", item->transpose.rows);
        set_int(shape, "cols", item->transpose.cols);
        set_int(layout, "element_bytes", item->transpose.element);
        set_int(layout, "pad", item->transpose.pad);
        set_int(layout, "offset", item->transpose.offset);
        json_object_set_new(layout, "in_place", json_boolean(item->transpose.in_place));
        json_object_set_new(layout, "neighbours", json_boolean(item->transpose.neighbours));
        break;
    case SUITE_TRANSFER:
        shape_transfer(&item->transfer, shape, layout);
        break;
    default:
        break;
    }
    json_object_set_new(result, "shape", shape);
    json_object_set_new(result, "layout", layout);
}

static json_t *result_json(const verify_run *run, const verify_target *target, int index)
{
    const suite_case *item = run->chosen[index];
    const verify_record *record = &target->records[index];
    json_t *r = json_object(), *verified = json_null();
    set_text(r, "id", item->id);
    set_text(r, "op", suite_kind_name(item->kind));
    set_text(r, "variant", item->variant);
    set_text(r, "dtype", item->type);
    describe(item, r);
    set_text(r, "backend", target->info->backend);
    set_text(r, "device", target->info->spec);
    set_text(r, "library", record->library);
    set_text(r, "status", suite_status_name(record->status));
    set_text(r, "reason", record->reason);
    if (record->status == SUITE_OK || record->status == SUITE_FAILED) {
        verified = json_object();
        set_text(verified, "method", record->method);
        json_object_set_new(verified, "error", tool_json_number(record->error));
        json_object_set_new(verified, "bound", tool_json_number(record->bound));
    }
    json_object_set_new(r, "verified", verified);
    char text[33] = "";
    if (record->has_digest) {
        verify_digest_text(record->digest, text);
    }
    set_text(r, "digest", text);
    json_object_set_new(r, "seconds", tool_json_number(record->seconds));
    return r;
}

static json_t *run_json(const verify_run *run)
{
    json_t *r = record_run("verify", run->argc, run->argv);
    bool fake = false;
    for (int t = 0; t < run->target_count; t++) {
        fake = fake || tool_is_fake(run->targets[t].info);
    }
    if (fake) {
        json_array_append_new(json_object_get(r, "flags"), json_string("fake"));
    }
    set_text(r, "suite", run->full ? "full" : "quick");
    set_int(r, "seed", (int64_t)run->seed_value);
    json_object_set_new(r, "bitwise", json_boolean(run->bitwise));
    json_object_set_new(r, "inline", json_boolean(run->inline_streams));
    json_object_set_new(r, "seconds", tool_json_number(run->seconds));
    set_int(r, "passed", run->passed);
    set_int(r, "failed", run->failed);
    set_int(r, "errors", run->errors);
    set_int(r, "unsupported", run->unsupported);
    return r;
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
            verify_digest_text(target->digest, text);
        }
        set_text(device, "digest_of_all", text);
        json_object_set_new(device, "fake", json_boolean(tool_is_fake(target->info)));
        if (target->library == 0) {
            json_array_append_new(devices, device);
        } else {
            json_decref(device);
        }
        for (int i = 0; i < run->chosen_count; i++) {
            if (target->records[i].ran) {
                json_array_append_new(results, result_json(run, target, i));
            }
        }
    }
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "results", results);
    return root;
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

/* Text in an attribute; what XML cannot hold, or a terminal would obey, is shown as on one. */
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
    const suite_case *item = run->chosen[index];
    const verify_record *record = &target->records[index];
    static const char *const elements[] = {NULL, "failure", "skipped", "error"};
    const char *element = elements[record->status];
    fprintf(out, "  <testcase classname=\"%s.%s%s%s\" name=\"", suite_kind_name(item->kind),
            item->variant, item->type[0] ? "." : "", item->type);
    escape(out, item->id);
    fprintf(out, "\" time=\"%.6f\"", record->seconds);
    if (!element) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n   <%s message=\"", element);
    escape(out, record->reason ? record->reason : "");
    if (record->status == SUITE_UNSUPPORTED) {
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
            total, counts[SUITE_FAILED], counts[SUITE_ERROR], counts[SUITE_UNSUPPORTED], seconds);
        for (int i = 0; i < run->chosen_count; i++) {
            if (target->records[i].ran) {
                junit_case(out, run, target, i);
            }
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
