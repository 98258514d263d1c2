/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - what a case is: its name, its descriptor, its operands and its cost. */
#include "bench/arith/arith.h"
#include "bench/workload/internal.h"

#include <math.h>
#include <string.h>

const char *work_op_name(work_op op)
{
    static const char *const names[] = {[WORK_TRANSFER] = "transfer",
                                        [WORK_STREAM] = "stream",
                                        [WORK_TRANSPOSE] = "transpose",
                                        [WORK_REDUCE] = "reduce",
                                        [WORK_GEMM] = "gemm"};
    return names[op];
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static void gemm_args(const work_case *item, iso_gemm_args *args)
{
    *args = (iso_gemm_args)ISO_GEMM_ARGS_INIT;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->math = item->math;
    args->trans_a = item->trans_a;
    args->trans_b = item->trans_b;
    args->m = item->m;
    args->n = item->n;
    args->k = item->k;
    args->batch = item->batch;
    args->stride_a = item->m * item->k;
    args->stride_b = item->k * item->n;
    args->stride_c = item->m * item->n;
}

static void reduce_args(const work_case *item, iso_reduce_args *args)
{
    *args = (iso_reduce_args)ISO_REDUCE_ARGS_INIT;
    args->op = item->reduction;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->axis = item->axis;
    args->rows = item->rows;
    args->cols = item->cols;
}

/* A contraction: after thousands of steps the elements still differ, and none has grown. */
static const double chain_alpha = 1 - 0x1p-11, chain_beta = 0x1p-12;

static void map_args(const work_case *item, iso_map_args *args)
{
    *args = (iso_map_args)ISO_MAP_ARGS_INIT;
    args->op = item->map;
    args->dtype = item->dtype;
    args->variant = item->how;
    args->n = item->elements;
    args->steps = item->steps;
    args->alpha = item->map == ISO_MAP_CHAIN ? chain_alpha : 0.4;
    args->beta = item->map == ISO_MAP_CHAIN ? chain_beta : 0;
}

bool work_case_args(const work_case *item, iso_op_kind *kind, work_args *args)
{
    switch (item->op) {
    case WORK_TRANSFER:
        return false;
    case WORK_GEMM:
        *kind = ISO_OP_GEMM;
        gemm_args(item, &args->gemm);
        break;
    case WORK_TRANSPOSE:
        *kind = ISO_OP_TRANSPOSE;
        args->transpose = (iso_transpose_args)ISO_TRANSPOSE_ARGS_INIT;
        args->transpose.variant = item->how;
        args->transpose.element_bytes = item->element;
        args->transpose.rows = item->rows;
        args->transpose.cols = item->cols;
        break;
    case WORK_STREAM:
        *kind = item->map == 0 ? ISO_OP_REDUCE : ISO_OP_MAP;
        if (item->map == 0) {
            reduce_args(item, &args->reduce);
        } else {
            map_args(item, &args->map);
        }
        break;
    case WORK_REDUCE:
        *kind = ISO_OP_REDUCE;
        reduce_args(item, &args->reduce);
        break;
    }
    return true;
}

void work_case_set_operands(work_args *args, iso_op_kind kind, const iso_operand *inputs,
                            iso_operand result)
{
    switch (kind) {
    case ISO_OP_GEMM:
        args->gemm.a = inputs[0];
        args->gemm.b = inputs[1];
        args->gemm.c = result;
        break;
    case ISO_OP_TRANSPOSE:
        args->transpose.from = inputs[0];
        args->transpose.to = result;
        break;
    case ISO_OP_REDUCE:
        args->reduce.x = inputs[0];
        if (args->reduce.op == ISO_DOT) {
            args->reduce.y = inputs[1];
        }
        args->reduce.result = result;
        break;
    case ISO_OP_MAP:
        args->map.x = inputs[0];
        if (arith_map_has_y(args->map.op)) {
            args->map.y = inputs[1];
        }
        args->map.z = result;
        break;
    }
}

bool work_case_has_bits(const work_case *item)
{
    if (item->op == WORK_TRANSFER || item->op == WORK_TRANSPOSE ||
        (item->op == WORK_STREAM && item->map != 0)) {
        return true;
    }
    if (item->op == WORK_GEMM) {
        return item->how == ISO_VARIANT_NAIVE || item->how == ISO_VARIANT_TILED;
    }
    return item->how == ISO_VARIANT_TILED || !arith_is_float(item->dtype) ||
           item->reduction == ISO_MIN || item->reduction == ISO_MAX ||
           item->reduction == ISO_ARGMIN || item->reduction == ISO_ARGMAX;
}

/* ---- operands -------------------------------------------------------------------------------- */

static int64_t aligned(int64_t bytes)
{
    return (bytes + WORK_ALIGNMENT - 1) / WORK_ALIGNMENT * WORK_ALIGNMENT;
}

static void needs_of_gemm(const work_case *item, work_needs *out)
{
    out->inputs = 2;
    out->bytes[0] = item->batch * item->m * item->k * item->element;
    out->bytes[1] = item->batch * item->k * item->n * item->element;
    out->results = item->batch * item->m * item->n;
    out->result_type = item->dtype;
}

static void needs_of_reduce(const work_case *item, work_needs *out)
{
    out->inputs = item->reduction == ISO_DOT ? 2 : 1;
    out->bytes[0] = out->bytes[1] = item->rows * item->cols * item->element;
    out->results = item->axis == ISO_AXIS_ALL ? 1
                   : item->axis == ISO_AXIS_0 ? item->cols
                                              : item->rows;
    iso_reduce_result(item->reduction, item->dtype, &out->result_type);
}

static void needs_of_map(const work_case *item, work_needs *out)
{
    out->inputs = arith_map_has_y(item->map) ? 2 : 1;
    out->bytes[0] = out->bytes[1] = item->elements * item->element;
    out->results = item->elements;
    out->result_type = item->dtype;
}

void work_case_needs(const work_case *item, work_needs *out)
{
    *out = (work_needs){.type = item->dtype, .inputs = 1};
    int64_t element = item->element;
    if (item->vast) {
        out->inputs = 0;
    } else if (item->op == WORK_GEMM) {
        needs_of_gemm(item, out);
        /* As a program with nothing else to do would call it: CLBlast copies an operand that does
         * not begin its buffer before it multiplies. */
        out->apart = item->how == ISO_VARIANT_VENDOR;
    } else if (item->op == WORK_REDUCE || (item->op == WORK_STREAM && item->map == 0)) {
        needs_of_reduce(item, out);
    } else if (item->op == WORK_STREAM) {
        needs_of_map(item, out);
    } else if (item->op == WORK_TRANSPOSE) {
        out->type = element <= 2 ? ISO_F16 : element == 4 ? ISO_F32 : ISO_F64;
        out->results = item->rows * item->cols;
        out->bytes[0] = out->results * element;
    } else {
        out->type = ISO_F32;
        out->bytes[0] = item->bytes;
        out->results = item->move == WORK_READ ? 0 : item->bytes;
    }
    out->result =
        out->results * (out->result_type != 0 ? iso_dtype_size(out->result_type) : element);
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

static void shape_text(const work_case *item, char *text, size_t room)
{
    const char *a = item->trans_a == ISO_TRANS ? "t" : "n";
    const char *b = item->trans_b == ISO_TRANS ? "t" : "n";
    int at;
    switch (item->op) {
    case WORK_TRANSFER:
        snprintf(text, room, "%lld", (long long)item->bytes);
        break;
    case WORK_STREAM:
        at = snprintf(text, room, "%lld", (long long)item->elements);
        if (item->map == ISO_MAP_CHAIN) {
            snprintf(text + at, room - (size_t)at, "x%lld", (long long)item->steps);
        }
        break;
    case WORK_TRANSPOSE:
        snprintf(text, room, "%lldx%lld", (long long)item->rows, (long long)item->cols);
        break;
    case WORK_REDUCE:
        if (item->axis == ISO_AXIS_ALL) {
            snprintf(text, room, "%lld/all", (long long)item->cols);
        } else {
            snprintf(text, room, "%lldx%lld/axis%s", (long long)item->rows, (long long)item->cols,
                     iso_axis_name(item->axis));
        }
        break;
    case WORK_GEMM:
        at = snprintf(text, room, "%lldx%lldx%lld/%s%s", (long long)item->m, (long long)item->n,
                      (long long)item->k, a, b);
        if (item->batch > 1) {
            snprintf(text + at, room - (size_t)at, "/batch%lld", (long long)item->batch);
        }
        break;
    }
}

static void type_text(const work_case *item, char *text, size_t room)
{
    if (item->op == WORK_TRANSFER) {
        text[0] = '\0';
    } else if (item->op == WORK_TRANSPOSE) {
        snprintf(text, room, "e%d", (int)item->element);
    } else {
        snprintf(text, room, "%s", iso_dtype_name(item->dtype));
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

static int64_t plot_size(const work_case *item)
{
    switch (item->op) {
    case WORK_TRANSFER:
        return item->bytes;
    case WORK_STREAM:
        return item->elements;
    case WORK_REDUCE:
        return item->vast ? INT64_C(1) << 60 : item->rows * item->cols;
    case WORK_TRANSPOSE:
        return llround(sqrt((double)item->rows * (double)item->cols));
    case WORK_GEMM:
        return llround(cbrt((double)item->m * (double)item->n * (double)item->k));
    }
    return 0;
}

/* Sizes whose products and costs are far from overflowing. */
static bool is_sane(const work_case *item)
{
    const double most = 0x1p46;
    double rows = (double)item->rows, cols = (double)item->cols, batch = (double)item->batch;
    double m = (double)item->m, n = (double)item->n, k = (double)item->k;
    double size = (double)item->element;
    if (item->op == WORK_GEMM) {
        return (m * k + k * n + m * n) * batch * size <= most;
    }
    if (item->op == WORK_TRANSFER) {
        return (double)item->bytes <= most;
    }
    if (item->op == WORK_STREAM) {
        return (double)item->elements * size <= most;
    }
    return rows * cols * size <= most;
}

static bool make_id(work_case *item, const char *type, const char *shape)
{
    item->id[0] = '\0';
    return append(item->id, sizeof item->id, work_op_name(item->op)) &&
           append(item->id, sizeof item->id, item->kind) &&
           append(item->id, sizeof item->id, item->variant) &&
           append(item->id, sizeof item->id, type) && append(item->id, sizeof item->id, shape) &&
           append(item->id, sizeof item->id,
                  item->op == WORK_GEMM ? iso_math_name(item->math) : "") &&
           append(item->id, sizeof item->id, "uniform") &&
           append(item->id, sizeof item->id, item->cold ? "cold" : "hot");
}

bool work_case_finish(work_case *item, uint64_t seed)
{
    char shape[96], type[16], problem[WORK_ID_MAX] = "";
    shape_text(item, shape, sizeof shape);
    type_text(item, type, sizeof type);
    if (!make_id(item, type, shape)) {
        return false;
    }
    item->vast = !is_sane(item);
    item->size = plot_size(item);
    /* Variants, math modes, and hot and cold compute the same on the same data; so do transfers in
     * every direction. */
    append(problem, sizeof problem, work_op_name(item->op));
    append(problem, sizeof problem, item->op == WORK_TRANSFER ? "" : item->kind);
    append(problem, sizeof problem, type);
    append(problem, sizeof problem, shape);
    item->seed = arith_mix(seed, hash(problem));
    if (item->op == WORK_TRANSFER) {
        item->bytes_read = item->move == WORK_WRITE ? 0 : (double)item->bytes;
        item->bytes_written = item->move == WORK_READ ? 0 : (double)item->bytes;
        return true;
    }
    if (item->vast) {
        return true;
    }
    iso_op_kind kind = ISO_OP_GEMM;
    iso_cost_info cost = ISO_COST_INFO_INIT;
    work_args args;
    work_case_args(item, &kind, &args);
    if (iso_cost(kind, &args, &cost) != ISO_OK) {
        item->vast = true;
        return true;
    }
    item->flops = cost.flops;
    item->bytes_read = cost.bytes_read;
    item->bytes_written = cost.bytes_written;
    return true;
}

static json_t *shape_json(const work_case *item)
{
    switch (item->op) {
    case WORK_TRANSFER:
        return json_pack("{s:I}", "bytes", (json_int_t)item->bytes);
    case WORK_STREAM:
        if (item->map == ISO_MAP_CHAIN) {
            return json_pack("{s:I, s:I}", "elements", (json_int_t)item->elements, "steps",
                             (json_int_t)item->steps);
        }
        return json_pack("{s:I}", "elements", (json_int_t)item->elements);
    case WORK_GEMM:
        return json_pack("{s:I, s:I, s:I, s:I}", "m", (json_int_t)item->m, "n", (json_int_t)item->n,
                         "k", (json_int_t)item->k, "batch", (json_int_t)item->batch);
    case WORK_REDUCE:
        if (item->axis == ISO_AXIS_ALL) {
            return json_pack("{s:I}", "elements", (json_int_t)item->cols);
        }
        break;
    case WORK_TRANSPOSE:
        break;
    }
    return json_pack("{s:I, s:I}", "rows", (json_int_t)item->rows, "cols", (json_int_t)item->cols);
}

static json_t *layout_json(const work_case *item)
{
    if (item->op == WORK_GEMM) {
        return json_pack("{s:s, s:s}", "trans_a", iso_trans_name(item->trans_a), "trans_b",
                         iso_trans_name(item->trans_b));
    }
    if (item->op == WORK_REDUCE) {
        return json_pack("{s:s}", "axis", iso_axis_name(item->axis));
    }
    return json_object();
}

json_t *work_case_json(const work_case *item)
{
    char type[16];
    type_text(item, type, sizeof type);
    return json_pack(
        "{s:s, s:s, s:s?, s:s, s:o, s:o, s:I, s:o, s:s, s:s, s:s, s:{s:f, s:f, s:f}}", "id",
        item->id, "op", work_op_name(item->op), "kind", item->kind[0] ? item->kind : NULL,
        "variant", item->variant, "dtype", tool_json_text(type), "shape", shape_json(item), "size",
        (json_int_t)item->size, "layout", layout_json(item), "math", iso_math_name(item->math),
        "fill", "uniform", "cache", item->cold ? "cold" : "hot", "work", "flops", item->flops,
        "bytes_read", item->bytes_read, "bytes_written", item->bytes_written);
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
    if (item->op == WORK_GEMM && item->how == ISO_VARIANT_NAIVE) {
        rate /= native ? 8 : 40;
    } else if (item->op == WORK_GEMM && !native) {
        rate /= 10;
    }
    double streams = item->op == WORK_TRANSFER ? 1 : fmin(threads, 8);
    double moved = (item->bytes_read + item->bytes_written) / (4e9 * streams);
    if (item->op == WORK_TRANSPOSE) {
        moved *= item->how == ISO_VARIANT_TILED ? 1 : 4;
    }
    double computed = item->flops / (rate * 1e9 * threads);
    return item->op == WORK_GEMM || item->steps > 0 ? computed + moved / 4 : moved;
}
