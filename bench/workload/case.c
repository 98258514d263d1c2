/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - the name, the operands and the cost of a case. */
#include "bench/workload/internal.h"

#include <math.h>
#include <string.h>

/* ---- operands -------------------------------------------------------------------------------- */

int64_t work_case_array(const bench_case *item)
{
    bench_needs needs;
    int64_t most = 0, least = INT64_MAX, sizes[BENCH_ARRAYS];
    int32_t count = 3;
    bench_case_needs(item, &needs);
    sizes[0] = needs.inputs > 0 ? needs.bytes[0] : 0;
    sizes[1] = needs.inputs > 1 ? needs.bytes[1] : 0;
    sizes[2] = needs.result;
    if (item->op->own) {
        count = item->op->own->arrays(item, sizes);
    } else if (item->op->object && !item->vast) {
        sizes[count++] = item->op->object->bytes(item);
    }
    for (int i = 0; i < count; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    for (int i = 0; i < count; i++) { /* ignores a result of only a few elements */
        if (sizes[i] > most / 16 && sizes[i] < least) {
            least = sizes[i];
        }
    }
    return most > 0 ? least : 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* "1024x64x64/nn" */
static void shape_text(const bench_shape *shape, char *text, size_t room)
{
    size_t at = 0;
    for (int i = 0; i < shape->count; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s%lld", i > 0 ? "x" : "",
                               (long long)shape->sizes[i]);
    }
    snprintf(text + at, room - at, "%s", shape->form);
}

/* Joins the words that are not empty with "/". False: there is no room. */
static bool join(char *text, size_t room, const char *const *words, int count)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < count && length < room; i++) {
        if (words[i][0] != '\0') {
            length += (size_t)snprintf(text + length, room - length, "%s%s", length > 0 ? "/" : "",
                                       words[i]);
        }
    }
    return length < room;
}

static uint64_t hash(const char *text)
{
    uint64_t value = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++) {
        value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return value;
}

/* The position on a plot's axis. If the operation's sizes are called N, this is the N of a square
 * problem with as much work. Otherwise it is the number of elements or bytes. */
static int64_t plot_size(const bench_case *item, const bench_shape *shape)
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

/* A case that changes its inputs has whole numbers, so that all its results are exact. */
static const char *fill_of(const bench_case *item)
{
    return !item->op->own ? "uniform" : item->op->arguments ? "ints" : "described";
}

bool work_case_finish(bench_case *item, uint64_t seed)
{
    char text[128], problem[BENCH_ID_MAX];
    bench_shape shape;
    item->op->shape(item, &shape);
    shape_text(&shape, text, sizeof text);
    const char *words[] = {item->op->measured,
                           item->kind,
                           item->variant,
                           item->type,
                           text,
                           item->op->maths ? iso_math_name(item->math) : "",
                           fill_of(item),
                           item->cold ? "cold" : "hot"};
    if (!join(item->id, sizeof item->id, words, 8)) {
        return false;
    }
    item->samples = BENCH_SAMPLES;
    item->same_bits = !item->by->has_bits || item->by->has_bits(item);
    /* Below this limit, no product of sizes overflows, and neither does the cost. */
    item->vast = shape.elements * (double)item->element > 0x1p46;
    item->size = plot_size(item, &shape);
    /* These words name the problem. All its variants, math modes and cache states get the same
     * data, and so do transfers in every direction. */
    const char *shared[] = {item->op->measured, item->op->arguments ? item->kind : "", item->type,
                            text};
    join(problem, sizeof problem, shared, 4);
    item->seed = arith_mix(seed, hash(problem));
    if (!item->op->arguments) {
        const transfer_shape *t = &item->transfer;
        item->bytes_read = t->move == TRANSFER_WRITE ? 0 : (double)t->width;
        item->bytes_written = t->move == TRANSFER_READ ? 0 : (double)t->width;
        return true;
    }
    if (item->vast) {
        return true;
    }
    iso_cost_info cost = ISO_COST_INFO_INIT;
    bench_args args;
    iso_op_kind kind = item->by->arguments(item, &args);
    if (item->by->object) {
        item->by->object->cost(item, &cost);
    } else if (iso_cost(kind, &args, &cost) != ISO_OK) {
        item->vast = true;
        return true;
    }
    item->flops = cost.flops;
    item->bytes_read = cost.bytes_read;
    item->bytes_written = cost.bytes_written;
    return true;
}

json_t *work_case_json(const bench_case *item)
{
    bench_shape shape;
    json_t *sizes = json_object(), *layout = json_object();
    item->op->shape(item, &shape);
    for (int i = 0; i < shape.count + shape.more; i++) {
        tool_set_int(sizes, shape.names[i], shape.sizes[i]);
    }
    for (int i = 0; i < BENCH_LAYOUTS && shape.layout[i].name; i++) {
        tool_set_text(layout, shape.layout[i].name, shape.layout[i].value);
    }
    return json_pack("{s:s, s:s, s:s?, s:s, s:o, s:o, s:I, s:o, s:s, s:s, s:s, s:{s:f, s:f, s:f}}",
                     "id", item->id, "op", item->op->measured, "kind",
                     item->kind[0] ? item->kind : NULL, "variant", item->variant, "dtype",
                     tool_json_text(item->type), "shape", sizes, "size", (json_int_t)item->size,
                     "layout", layout, "math", iso_math_name(item->math), "fill", fill_of(item),
                     "cache", item->cold ? "cold" : "hot", "work", "flops", item->flops,
                     "bytes_read", item->bytes_read, "bytes_written", item->bytes_written);
}

/* ---- how long -------------------------------------------------------------------------------- */

/* Assumes low rates, which one thread of any ordinary CPU reaches. Kernels that are compiled at run
 * time are slower. Memory gets no faster with more than eight threads, and a transfer uses one
 * thread. */
double work_case_seconds(const bench_case *item, const iso_device_info *info)
{
    if (info->type == ISO_DEVICE_GPU) {
        return 0;
    }
    double threads = info->threads > 0 ? info->threads : info->units > 0 ? info->units : 1;
    bool native = strcmp(info->backend, "openmp") == 0;
    double rate = item->element == 4 ? 40 : item->element == 8 ? 20 : 10;
    double streams = item->op->moves ? 1 : fmin(threads, 8);
    double moved = (item->bytes_read + item->bytes_written) / (4e9 * streams);
    if (item->by->slows) {
        item->by->slows(item, native, &rate, &moved);
    }
    double computed = item->flops / (rate * 1e9 * threads);
    return bench_op_computes(item->op, item->kind) ? computed + moved / 4 : moved;
}
