/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - writes a comparison as JSON and as CSV. */
#include "bench/compare/compare.h"
#include "bench/record/record.h"

#include <math.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *source_json(const char *path, const json_t *root)
{
    json_t *source = json_object();
    tool_set_text(source, "path", path);
    tool_set_text(source, "version", record_text(root, "run.version"));
    tool_set_text(source, "commit", record_text(root, "run.build.commit"));
    tool_set_text(source, "time", record_text(root, "run.time"));
    tool_set_text(source, "host", record_text(root, "run.host.name"));
    tool_set_text(source, "math", record_text(root, "run.math"));
    json_t *seed = record_at(root, "run.seed");
    json_object_set(source, "seed", json_is_integer(seed) ? seed : json_null());
    return source;
}

static json_t *side_json(const compare_side *side)
{
    if (strcmp(side->status, "missing") == 0) {
        return json_null();
    }
    json_t *object = json_object(), *flags = json_object_get(side->result, "flags");
    tool_set_text(object, "device", side->device);
    tool_set_text(object, "library", side->library);
    tool_set_text(object, "status", side->status);
    tool_set_text(object, "reason", side->reason);
    tool_set_number(object, "median", side->median);
    json_object_set_new(object, "flags", flags ? json_deep_copy(flags) : json_array());
    return object;
}

static json_t *row_json(const compare_set *set, const compare_row *row)
{
    char advice[256];
    json_t *object = json_object();
    tool_set_text(object, "id", row->id);
    tool_set_text(object, "op", row->op);
    tool_set_text(object, "id_b", row->other);
    json_object_set_new(object, "a", side_json(&row->a));
    json_object_set_new(object, "b", side_json(&row->b));
    tool_set_bool(object, "paired", row->paired);
    tool_set_int(object, "count", row->pairs);
    tool_set_number(object, "ratio", row->c.ratio);
    tool_set_number(object, "low", row->c.low);
    tool_set_number(object, "high", row->c.high);
    tool_set_number(object, "p", row->c.p);
    tool_set_number(object, "drift", row->judged ? row->drift : (double)NAN);
    tool_set_text(object, "verdict", row->judged ? stats_verdict_name(row->c.verdict) : "");
    tool_set_text(object, "advice", compare_advice(set, row, advice, sizeof advice));
    tool_set_bool(object, "lost", row->lost);
    tool_set_bool(object, "regression", row->worse);
    return object;
}

/* How many cases there are, and how many of them have each verdict. */
static void set_verdicts(json_t *object, int32_t cases, const int32_t *verdicts)
{
    tool_set_int(object, "cases", cases);
    tool_set_int(object, "faster", verdicts[STATS_FASTER]);
    tool_set_int(object, "slower", verdicts[STATS_SLOWER]);
    tool_set_int(object, "same", verdicts[STATS_SAME]);
    tool_set_int(object, "ambiguous", verdicts[STATS_AMBIGUOUS]);
}

/* The totals of an operation's rows; `op` NULL: of all rows. */
static json_t *sum_json(const compare_set *set, const char *op)
{
    compare_sum sum = compare_summary(set, op);
    json_t *object = json_object();
    tool_set_text(object, "op", op);
    set_verdicts(object, sum.cases, sum.verdicts);
    tool_set_int(object, "not_compared", sum.unjudged);
    tool_set_int(object, "regressions", sum.worse);
    tool_set_number(object, "geometric_mean", sum.mean);
    return object;
}

static json_t *sums_json(const compare_set *set)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < set->count; i++) {
        if (compare_first_of_op(set, i)) {
            json_array_append_new(list, sum_json(set, set->rows[i].op));
        }
    }
    json_array_append_new(list, sum_json(set, NULL));
    return list;
}

/* The answer for the devices of a row. */
static json_t *answer_json(const compare_set *set, const compare_row *first)
{
    compare_answer answer = compare_answer_of(set, first, NULL);
    char a[512], b[512];
    json_t *object = json_object(), *ops = json_array();
    tool_set_text(object, "a", compare_name(set, first, false, a, sizeof a));
    tool_set_text(object, "b", compare_name(set, first, true, b, sizeof b));
    tool_set_text(object, "device_a", first->a.device);
    tool_set_text(object, "device_b", first->b.device);
    set_verdicts(object, answer.cases, answer.verdicts);
    tool_set_int(object, "invalid", answer.invalid);
    tool_set_number(object, "times_as_fast", answer.times);
    tool_set_number(object, "low", answer.low);
    tool_set_number(object, "high", answer.high);
    for (int32_t i = 0; i < set->count; i++) {
        compare_answer of = {.cases = 0};
        if (compare_first_of_op(set, i)) {
            of = compare_answer_of(set, first, set->rows[i].op);
        }
        if (of.cases > 0) {
            json_t *op = json_object();
            tool_set_text(op, "op", set->rows[i].op);
            tool_set_int(op, "cases", of.cases);
            tool_set_number(op, "times_as_fast", of.times);
            json_array_append_new(ops, op);
        }
    }
    json_object_set_new(object, "operations", ops);
    json_object_set_new(object, "sentences", compare_sentences(set, first));
    return object;
}

json_t *compare_json(const compare_set *set)
{
    json_t *root = json_object(), *rows = json_array(), *answers = json_array();
    tool_set_text(root, "schema", "isomer-comparison/1");
    tool_set_text(root, "version", iso_version());
    json_object_set_new(root, "a", source_json(set->path_a, set->a));
    json_object_set_new(root, "b", set->b ? source_json(set->path_b, set->b) : json_null());
    tool_set_bool(root, "unpaired", set->unpaired);
    json_object_set(root, "forced", set->forced);
    tool_set_number(root, "least_effect", set->rules.least_effect);
    tool_set_number(root, "alpha", set->rules.alpha);
    tool_set_number(root, "fail_on", set->rules.fail_on);
    for (int32_t i = 0; i < set->count; i++) {
        json_array_append_new(rows, row_json(set, &set->rows[i]));
        if (compare_first_of_devices(set, i)) {
            json_array_append_new(answers, answer_json(set, &set->rows[i]));
        }
    }
    json_object_set_new(root, "cases", rows);
    json_object_set_new(root, "summary", sums_json(set));
    json_object_set_new(root, "answers", answers);
    return root;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put(FILE *out, const char *text, char end)
{
    record_csv_text(out, text);
    if (end == '\n') {
        fputc('\r', out);
    }
    fputc(end, out);
}

static void put_number(FILE *out, double value)
{
    char text[40] = "";
    if (isfinite(value)) {
        snprintf(text, sizeof text, "%.17g", value);
    }
    fprintf(out, "%s,", record_point(text));
}

static void put_side(FILE *out, const compare_side *side)
{
    char flags[512] = "";
    compare_flags(flags, sizeof flags, side->result);
    put(out, side->device, ',');
    put(out, side->library, ',');
    put(out, side->status, ',');
    put(out, side->reason, ',');
    put_number(out, side->median);
    put(out, flags, ',');
}

bool compare_csv(FILE *out, const compare_set *set)
{
    fputs("id,op,device_a,library_a,status_a,reason_a,median_a,flags_a,device_b,library_b,status_b,"
          "reason_b,median_b,flags_b,ratio,low,high,p,drift,count,comparison,verdict,regression,"
          "id_b,advice\r\n",
          out);
    for (int32_t i = 0; i < set->count; i++) {
        const compare_row *row = &set->rows[i];
        char count[16], advice[256];
        snprintf(count, sizeof count, "%d", row->pairs);
        put(out, row->id, ',');
        put(out, row->op, ',');
        put_side(out, &row->a);
        put_side(out, &row->b);
        put_number(out, row->c.ratio);
        put_number(out, row->c.low);
        put_number(out, row->c.high);
        put_number(out, row->c.p);
        put_number(out, row->judged ? row->drift : (double)NAN);
        put(out, count, ',');
        put(out, row->paired ? "paired" : set->unpaired ? "unpaired" : "same run", ',');
        put(out, row->judged ? stats_verdict_name(row->c.verdict) : "", ',');
        put(out, row->worse ? "true" : "false", ',');
        put(out, row->other ? row->other : "", ',');
        put(out, compare_advice(set, row, advice, sizeof advice), '\n');
    }
    return ferror(out) == 0;
}
