/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - measures the shapes of a batch: each variant once, and tiled by each way, on a handle
 * of the device for each way, all in the same rounds. */
#include "bench/measure/measure.h"
#include "bench/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Larger products are not measured naive, smaller ones not fixed: neither can be the fastest. */
#define NAIVE_MOST  (2.0 * 300 * 300 * 300) /* flops */
#define FIXED_LEAST 512                     /* m, n and k */

typedef struct batch {
    tune_run *run;
    const tuned_shape *shapes;
    int32_t count;
    char ways[TUNE_WAYS][TUNED_WAY];
    int32_t way_count;
    work_list list;
    int32_t *shape_of, *variant_of; /* of each case */
    work_inputs *inputs;
    work_target *targets[TUNE_WAYS + 1]; /* the first without a table */
    int32_t target_count;
    tune_pair *pairs;
    int32_t pair_count;
} batch;

/* ---- cases ----------------------------------------------------------------------------------- */

static bool is_worth(const tuned_shape *shape, tuned_variant variant)
{
    const int64_t *s = shape->sizes;
    const double flops = 2.0 * (double)s[0] * (double)s[1] * (double)s[2] * (double)s[3];
    if (variant == TUNED_NAIVE) {
        return flops <= NAIVE_MOST;
    }
    return variant != TUNED_FIXED || (shape->op == ISO_OP_GEMM && s[0] >= FIXED_LEAST &&
                                      s[1] >= FIXED_LEAST && s[2] >= FIXED_LEAST);
}

static int make_case(const tuned_shape *shape, tuned_variant variant, int32_t priority,
                     uint64_t seed, bench_case *out)
{
    const bool vector = shape->op == ISO_OP_GEMV;
    const bench_op *op = vector ? &bench_gemv : &bench_gemm;
    const bench_size size = {
        .of = {shape->sizes[0], vector ? shape->sizes[2] : shape->sizes[1], shape->sizes[2]},
        .count = vector ? 2 : 3,
        .batch = shape->sizes[3]};
    *out = (bench_case){.op = op,
                        .by = op,
                        .how = tuned_variants[variant],
                        .dtype = shape->dtype,
                        .element = iso_dtype_size(shape->dtype),
                        .math = ISO_MATH_STRICT,
                        .asked = true,
                        .priority = priority,
                        .longest = variant == TUNED_NAIVE ? 0.2 : 10};
    snprintf(out->type, sizeof out->type, "%s", iso_dtype_name(shape->dtype));
    snprintf(out->variant, sizeof out->variant, "%s", iso_variant_name(out->how));
    op->set_layout(out, tuned_layout_name(shape->op, shape->layout));
    op->set_size(out, &size);
    return work_case_finish(out, seed) ? TOOL_OK
                                       : tool_error(TOOL_INTERNAL,
                                                    "the name of a case is too long: "
                                                    "%s",
                                                    out->id);
}

/* Whether a CPU may measure the shape in so many seconds: each of a few cases has its first and its
 * last call besides the rounds. One call of a large product alone could exceed the time. */
static bool has_time(const batch *b, const tuned_shape *shape, double seconds)
{
    enum { CASES = 4, CALLS = MEASURE_ROUNDS + 3 };
    bench_case item;
    return make_case(shape, TUNED_TILED, 0, 0, &item) != TOOL_OK ||
           CASES * CALLS * work_case_seconds(&item, &b->run->device->info) <= seconds;
}

/* The cases of a shape lie side by side, and have a priority of their own: if time is short, whole
 * shapes are left out, the last ones first. */
static int make_cases(batch *b, double seconds)
{
    const size_t most = (size_t)b->count * TUNED_VARIANTS;
    int code = TOOL_OK;
    b->list.items = tool_alloc(most, sizeof *b->list.items, "the cases");
    b->shape_of = tool_alloc(most, sizeof *b->shape_of, "the cases");
    b->variant_of = tool_alloc(most, sizeof *b->variant_of, "the cases");
    for (int32_t i = 0; i < b->count; i++) {
        const bool timely = has_time(b, &b->shapes[i], seconds);
        for (int v = 0; v < TUNED_VARIANTS && code == TOOL_OK && timely; v++) {
            if (is_worth(&b->shapes[i], (tuned_variant)v)) {
                code = make_case(&b->shapes[i], (tuned_variant)v, i + 1, b->run->seed,
                                 &b->list.items[b->list.count]);
                b->shape_of[b->list.count] = i;
                b->variant_of[b->list.count++] = v;
            }
        }
    }
    return code;
}

/* ---- handles --------------------------------------------------------------------------------- */

static int open_targets(batch *b)
{
    int code = TOOL_OK;
    b->way_count =
        b->shapes[0].op == ISO_OP_GEMM ? tune_ways(b->run->device, b->shapes[0].dtype, b->ways) : 0;
    for (int32_t t = 0; t <= b->way_count && code == TOOL_OK; t++) {
        b->targets[t] = tune_open(b->run->device, t > 0 ? b->ways[t - 1] : NULL, b->shapes,
                                  b->count, b->inputs, &code);
        b->target_count += code == TOOL_OK;
    }
    for (int32_t t = 0; t < b->target_count; t++) { /* they share the device's memory */
        work_target_share(b->targets[t], b->target_count);
    }
    return code;
}

/* The kernel of a case on a handle; false: it does not run there. */
static bool kernel_of(const bench_case *item, work_target *target, iso_op_info *out)
{
    bench_args args;
    const iso_op_kind kind = item->by->arguments(item, &args);
    *out = (iso_op_info)ISO_OP_INFO_INIT;
    return iso_describe(work_target_device(target), kind, &args, out) == ISO_OK;
}

/* Whether a way differs for this case from what the backend chooses and from the ways before it. If
 * it does not suit the shape, it does not. */
static bool differs(const batch *b, const bench_case *item, int32_t target)
{
    iso_op_info own, other;
    bool different = kernel_of(item, b->targets[target], &own);
    for (int32_t t = 0; t < target && different; t++) {
        different =
            !kernel_of(item, b->targets[t], &other) || strcmp(own.kernel, other.kernel) != 0;
    }
    return different;
}

/* Whether the case is measured on the handle: each variant on the first, tiled on the others. */
static bool is_measured(const batch *b, const bench_case *item, int32_t target)
{
    return target == 0 ||
           (b->variant_of[item - b->list.items] == TUNED_TILED && differs(b, item, target));
}

/* The same, and notes the pairs in the order of the results. */
static bool takes(void *context, const bench_case *item, int32_t target)
{
    batch *b = context;
    const int32_t at = (int32_t)(item - b->list.items);
    if (!is_measured(b, item, target)) {
        return false;
    }
    b->pairs[b->pair_count++] =
        (tune_pair){.shape = b->shape_of[at], .variant = b->variant_of[at], .way = target - 1};
    return true;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Builds the kernels in advance. A GPU's compiler may take longer than a batch's share of the time,
 * and without this a first run would have no time for any shape. What fails here fails again where
 * it is reported. */
static void compile(const batch *b, double end)
{
    const bool shown = isatty(STDERR_FILENO) != 0;
    for (int32_t i = 0; i < b->list.count; i++) {
        for (int32_t t = 0; t < b->target_count; t++) {
            const bench_case *item = &b->list.items[i];
            bench_args args;
            if (tool_stop_asked() || tool_seconds() > end || !is_measured(b, item, t)) {
                continue;
            }
            if (shown) {
                tool_progress((double)i / b->list.count, " compiling: %s", item->id);
            }
            const iso_op_kind kind = item->by->arguments(item, &args);
            (void)iso_prepare(work_target_stream(b->targets[t]), kind, &args);
        }
    }
    if (shown) {
        tool_progress_end();
    }
}

static int measure(batch *b, double seconds)
{
    json_t *root = NULL, *run = json_object(), *devices = json_array();
    for (int32_t t = 0; t < b->target_count; t++) {
        json_array_append_new(devices, json_object());
    }
    b->pairs = tool_alloc((size_t)(b->list.count * b->target_count), sizeof *b->pairs, "the cases");
    const measure_plan plan = {.list = &b->list,
                               .targets = b->targets,
                               .target_count = b->target_count,
                               .budget = seconds,
                               .whole = seconds,
                               .target = 0.02,
                               .rounds_min = MEASURE_ROUNDS,
                               .rounds_max = 2 * MEASURE_ROUNDS,
                               .seed = b->run->seed,
                               .run = run,
                               .devices = devices,
                               .one_device = true,
                               .takes = takes,
                               .context = b,
                               .progress = isatty(STDERR_FILENO) != 0};
    int code = measure_run(&plan, &root);
    if (root) {
        tune_judge(b->run, b->shapes, b->count, b->pairs, b->ways,
                   json_object_get(root, "results"));
    }
    json_decref(root);
    json_decref(run);
    json_decref(devices);
    /* A wrong result is counted by the judge, and a batch may have nothing that runs. */
    return code == TOOL_FAILED || code == TOOL_NOTHING ? TOOL_OK : code;
}

int tune_batch_run(tune_run *run, const tuned_shape *shapes, int32_t count, double end,
                   int32_t batches)
{
    batch *b = tool_alloc(1, sizeof *b, "the shapes");
    b->run = run;
    b->shapes = shapes;
    b->count = count;
    int code = make_cases(b, end - tool_seconds());
    const bool any = b->list.count > 0;
    if (code == TOOL_OK && any) {
        b->inputs = work_inputs_create(run->seed, &b->list);
        code = b->inputs ? open_targets(b) : TOOL_INTERNAL;
    }
    if (code == TOOL_OK && any) {
        compile(b, end);
        /* Three times a batch's share, because the first ones matter most and seldom need it. */
        const double left = end - tool_seconds();
        code = left >= TUNE_LEAST ? measure(b, left * 3 / (batches + 2)) : TOOL_OK;
    }
    for (int32_t t = 0; t < b->target_count; t++) {
        work_target_close(b->targets[t]);
    }
    if (b->inputs) {
        work_inputs_destroy(b->inputs);
    }
    work_list_free(&b->list);
    free(b->shape_of);
    free(b->variant_of);
    free(b->pairs);
    free(b);
    return code;
}
