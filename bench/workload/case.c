/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - what a case is: its name, its operands and its cost. */
#include "bench/workload/internal.h"

#include <math.h>
#include <string.h>

bool work_case_has_bits(const work_case *item)
{
    return !item->op->has_bits || item->op->has_bits(item);
}

/* ---- operands -------------------------------------------------------------------------------- */

static int64_t aligned(int64_t bytes)
{
    return (bytes + WORK_ALIGNMENT - 1) / WORK_ALIGNMENT * WORK_ALIGNMENT;
}

void work_case_needs(const work_case *item, work_needs *out)
{
    *out = (work_needs){.type = item->dtype, .inputs = 1};
    if (item->vast) {
        out->inputs = 0;
    } else {
        item->op->needs(item, out);
    }
    out->result =
        out->results * (out->result_type != 0 ? iso_dtype_size(out->result_type) : item->element);
    /* The places come from the case alone, so that its data are the same in every list. */
    for (int i = 0; i < out->inputs; i++) {
        int64_t gap = (int64_t)(arith_mix(item->seed, (uint64_t)i + 1) % 1024) * WORK_ALIGNMENT;
        out->at[i] = aligned(out->end) + gap;
        out->end = out->at[i] + out->bytes[i];
    }
}

int64_t work_case_array(const work_case *item)
{
    work_needs needs;
    int64_t most = 0, least = INT64_MAX;
    work_case_needs(item, &needs);
    int64_t sizes[] = {needs.inputs > 0 ? needs.bytes[0] : 0, needs.inputs > 1 ? needs.bytes[1] : 0,
                       needs.result};
    for (int i = 0; i < 3; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    for (int i = 0; i < 3; i++) { /* a result of a few elements is none to speak of */
        if (sizes[i] > most / 16 && sizes[i] < least) {
            least = sizes[i];
        }
    }
    return most > 0 ? least : 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* "1024x64x64/nn" */
static void shape_text(const work_shape *shape, char *text, size_t room)
{
    size_t at = 0;
    for (int i = 0; i < shape->count; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s%lld", i > 0 ? "x" : "",
                               (long long)shape->sizes[i]);
    }
    snprintf(text + at, room - at, "%s", shape->form);
}

static void type_text(const work_case *item, char *text, size_t room)
{
    text[0] = '\0';
    if (item->dtype != 0) {
        snprintf(text, room, "%s", iso_dtype_name(item->dtype));
    } else if (item->op->types) {
        snprintf(text, room, "e%d", (int)item->element);
    }
}

/* Adds "/word", or "word" at the beginning; nothing for an empty word. */
static bool append(char *text, size_t room, const char *word)
{
    size_t length = strlen(text);
    if (word[0] == '\0') {
        return true;
    }
    int more = snprintf(text + length, room - length, "%s%s", length > 0 ? "/" : "", word);
    return more > 0 && (size_t)more < room - length;
}

static uint64_t hash(const char *text)
{
    uint64_t value = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++) {
        value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return value;
}

/* N of a square one of as much work; else its elements or bytes. */
static int64_t plot_size(const work_case *item, const work_shape *shape)
{
    double product = 1;
    if (item->op->size[0] != 'N') {
        return shape->elements < 0x1p60 ? (int64_t)shape->elements : INT64_C(1) << 60;
    }
    for (int i = 0; i < shape->count; i++) {
        product *= (double)shape->sizes[i];
    }
    return llround(shape->count == 3 ? cbrt(product) : sqrt(product));
}

int64_t work_square(int64_t elements)
{
    return (int64_t)ceil(sqrt((double)elements) / 1024) * 1024;
}

static bool make_id(work_case *item, const char *type, const char *shape)
{
    item->id[0] = '\0';
    return append(item->id, sizeof item->id, item->op->measured) &&
           append(item->id, sizeof item->id, item->kind) &&
           append(item->id, sizeof item->id, item->variant) &&
           append(item->id, sizeof item->id, type) && append(item->id, sizeof item->id, shape) &&
           append(item->id, sizeof item->id, item->op->maths ? iso_math_name(item->math) : "") &&
           append(item->id, sizeof item->id, "uniform") &&
           append(item->id, sizeof item->id, item->cold ? "cold" : "hot");
}

bool work_case_finish(work_case *item, uint64_t seed)
{
    char text[128], type[16], problem[WORK_ID_MAX] = "";
    work_shape shape;
    item->op->shape(item, &shape);
    shape_text(&shape, text, sizeof text);
    type_text(item, type, sizeof type);
    if (!make_id(item, type, text)) {
        return false;
    }
    /* Sizes whose products and costs are far from overflowing. */
    item->vast = shape.elements * (double)item->element > 0x1p46;
    item->size = plot_size(item, &shape);
    /* Variants, math modes, and hot and cold compute the same on the same data; so do transfers in
     * every direction. */
    append(problem, sizeof problem, item->op->measured);
    append(problem, sizeof problem, item->op->arguments ? item->kind : "");
    append(problem, sizeof problem, type);
    append(problem, sizeof problem, text);
    item->seed = arith_mix(seed, hash(problem));
    if (!item->op->arguments) {
        item->bytes_read = item->move == WORK_WRITE ? 0 : (double)item->bytes;
        item->bytes_written = item->move == WORK_READ ? 0 : (double)item->bytes;
        return true;
    }
    if (item->vast) {
        return true;
    }
    iso_cost_info cost = ISO_COST_INFO_INIT;
    work_args args;
    iso_op_kind kind = item->op->arguments(item, &args);
    if (iso_cost(kind, &args, &cost) != ISO_OK) {
        item->vast = true;
        return true;
    }
    item->flops = cost.flops;
    item->bytes_read = cost.bytes_read;
    item->bytes_written = cost.bytes_written;
    return true;
}

json_t *work_case_json(const work_case *item)
{
    char type[16];
    work_shape shape;
    json_t *sizes = json_object(), *layout = json_object();
    item->op->shape(item, &shape);
    for (int i = 0; i < shape.count + shape.more; i++) {
        tool_set_int(sizes, shape.names[i], shape.sizes[i]);
    }
    for (int i = 0; i < 2 && shape.layout[i].name; i++) {
        tool_set_text(layout, shape.layout[i].name, shape.layout[i].value);
    }
    type_text(item, type, sizeof type);
    return json_pack("{s:s, s:s, s:s?, s:s, s:o, s:o, s:I, s:o, s:s, s:s, s:s, s:{s:f, s:f, s:f}}",
                     "id", item->id, "op", item->op->measured, "kind",
                     item->kind[0] ? item->kind : NULL, "variant", item->variant, "dtype",
                     tool_json_text(type), "shape", sizes, "size", (json_int_t)item->size, "layout",
                     layout, "math", iso_math_name(item->math), "fill", "uniform", "cache",
                     item->cold ? "cold" : "hot", "work", "flops", item->flops, "bytes_read",
                     item->bytes_read, "bytes_written", item->bytes_written);
}

/* ---- how long -------------------------------------------------------------------------------- */

/* GFLOP/s and GB/s that one thread of an ordinary processor reaches at the least; what goes through
 * a kernel compiler is slower. Eight threads fill the memory's channels; a transfer has one. */
double work_case_seconds(const work_case *item, const iso_device_info *info)
{
    if (info->type == ISO_DEVICE_GPU) {
        return 0;
    }
    double threads = info->threads > 0 ? info->threads : info->units > 0 ? info->units : 1;
    bool native = strcmp(info->backend, "openmp") == 0;
    double rate = item->element == 4 ? 40 : item->element == 8 ? 20 : 10;
    double streams = item->op->arguments ? fmin(threads, 8) : 1;
    double moved = (item->bytes_read + item->bytes_written) / (4e9 * streams);
    if (item->op->slows) {
        item->op->slows(item, native, &rate, &moved);
    }
    double computed = item->flops / (rate * 1e9 * threads);
    return bench_op_computes(item->op, item->kind) ? computed + moved / 4 : moved;
}
