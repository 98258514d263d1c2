/* SPDX-License-Identifier: Apache-2.0 */
/* document.c - what was found, as a line and as a result of a document. */
#include "bench/record/record.h"
#include "bench/reveal/reveal.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { TREE_KEPT = 2000 }; /* bytes of a tree in a document */

static char *size_text(const reveal_case *item)
{
    if (item->op->least == 3) {
        return record_format("%lldx%lldx%lld", (long long)item->m, (long long)item->n,
                             (long long)item->k);
    }
    if (item->op->least == 2 || item->m > 1) {
        return record_format("%lldx%lld", (long long)item->m, (long long)item->k);
    }
    return record_format("%lld", (long long)item->k);
}

static char *id_text(const reveal_case *item)
{
    char *size = size_text(item);
    char *id = record_format("%s/%s/%s/%s/%s", item->op->name, iso_variant_name(item->variant),
                             iso_dtype_name(item->dtype), size, iso_math_name(item->math));
    free(size);
    return id;
}

char *reveal_result_words(const reveal_result *r)
{
    char *text = record_format("%s", "");
    for (int32_t i = 0; i < r->order_count; i++) {
        const reveal_order *o = &r->orders[i];
        char *before = text;
        text = record_format("%s%s%s%s%s", before, i > 0 ? "; " : "", o->where,
                             o->where[0] != '\0' ? ": " : "", o->words);
        free(before);
    }
    if (r->classes > r->order_count) {
        char *before = text;
        text = record_format("%s; and %lld more orders", before,
                             (long long)(r->classes - r->order_count));
        free(before);
    }
    return text;
}

/* Of one order its own, of several that of their digests and places. */
void reveal_result_digest(const reveal_result *r, char text[33])
{
    if (r->classes == 1) {
        memcpy(text, r->orders[0].digest, 33);
        return;
    }
    XXH3_state_t *state = record_need(XXH3_createState());
    XXH3_128bits_reset(state);
    for (int32_t i = 0; i < r->order_count; i++) {
        XXH3_128bits_update(state, r->orders[i].digest, 32);
        XXH3_128bits_update(state, r->orders[i].where, strlen(r->orders[i].where));
    }
    XXH128_hash_t digest = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    tool_digest_text((const uint64_t[]){digest.high64, digest.low64}, text);
}

static bool ran_strict(const reveal_result *r)
{
    return r->item.math == ISO_MATH_TF32 && r->info.math == ISO_MATH_STRICT;
}

/* "", ", tf32", or ", strict (no TF32 on this device)" */
static char *math_text(const reveal_result *r)
{
    if (ran_strict(r)) {
        return record_format(", strict (%s)", r->info.math_reason);
    }
    return record_format("%s", r->item.math == ISO_MATH_TF32 ? ", tf32" : "");
}

char *reveal_line(const reveal_result *r)
{
    static const char *const starts[BENCH_STATUSES] = {[BENCH_FAILED] = "not a tree of additions: ",
                                                       [BENCH_UNSUPPORTED] = "unsupported: ",
                                                       [BENCH_ERROR] = "error: ",
                                                       [BENCH_SKIPPED] = "not finished: "};
    const reveal_case *item = &r->item;
    char *size = size_text(item), *words = reveal_result_words(r), *math = math_text(r);
    bool good = r->status == BENCH_OK;
    char *line = record_format("%s %s %s %s%s%s%s: %s%s", iso_dtype_name(item->dtype),
                               item->op->name, size, iso_variant_name(item->variant),
                               r->info.library[0] != '\0' ? ", " : "", r->info.library, math,
                               good ? "" : starts[r->status], good ? words : r->reason);
    free(math);
    free(size);
    free(words);
    return line;
}

static json_t *one_order(const reveal_order *o, const char *digest, const char *words)
{
    json_t *order = json_object();
    int32_t widest = reveal_tree_widest(&o->tree);
    char *tree = reveal_tree_brackets(&o->tree, TREE_KEPT);
    tool_set_text(order, "digest", digest);
    tool_set_text(order, "text", words);
    tool_set_bool(order, "named", o->known);
    tool_set_text(order, "arithmetic", o->arithmetic);
    tool_set_int(order, "terms", o->tree.terms);
    tool_set_int(order, "depth", reveal_tree_depth(&o->tree));
    tool_set_int(order, "fused", widest > 2 ? widest : 0);
    json_object_set_new(order, "rounded", o->rounded < 0 ? json_null() : json_integer(o->rounded));
    tool_set_int(order, "pairs", o->pairs);
    tool_set_int(order, "values", o->values);
    tool_set_text(order, "tree", tree);
    free(tree);
    return order;
}

static json_t *order_json(const reveal_result *r)
{
    char digest[33], *words = reveal_result_words(r);
    reveal_result_digest(r, digest);
    json_t *order = one_order(&r->orders[0], digest, words);
    json_t *classes = json_array();
    free(words);
    for (int32_t i = 0; i < r->order_count && r->classes > 1; i++) {
        const reveal_order *o = &r->orders[i];
        json_t *one = one_order(o, o->digest, o->words);
        tool_set_text(one, "where", o->where);
        json_array_append_new(classes, one);
    }
    json_object_set_new(order, "classes", classes);
    return order;
}

json_t *reveal_result_json(const reveal_result *r)
{
    const reveal_case *item = &r->item;
    json_t *object = json_object(), *shape = json_object();
    char *id = id_text(item);
    tool_set_text(object, "id", id);
    tool_set_text(object, "op", item->op->name);
    tool_set_text(object, "variant", iso_variant_name(item->variant));
    tool_set_text(object, "dtype", iso_dtype_name(item->dtype));
    tool_set_int(shape, "m", item->m);
    tool_set_int(shape, "n", item->n);
    tool_set_int(shape, "k", item->k);
    json_object_set_new(object, "shape", shape);
    tool_set_text(object, "math", iso_math_name(item->math));
    if (ran_strict(r)) {
        tool_set_text(object, "math_used", iso_math_name(r->info.math));
        tool_set_text(object, "math_reason", r->info.math_reason);
    }
    tool_set_text(object, "backend", r->device->backend);
    tool_set_text(object, "device", r->device->spec);
    tool_set_text(object, "library", r->info.library);
    tool_set_text(object, "kernel", r->info.kernel);
    tool_set_text(object, "status", bench_status_name(r->status));
    tool_set_text(object, "reason", r->status == BENCH_OK ? "" : r->reason);
    json_object_set_new(object, "order", r->status == BENCH_OK ? order_json(r) : json_null());
    tool_set_int(object, "questions", r->questions);
    tool_set_int(object, "calls", r->calls);
    tool_set_number(object, "seconds", r->seconds);
    free(id);
    return object;
}
