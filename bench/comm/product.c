/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.c - measures one product over some of the ranks. Rank 0 makes A and B, spreads them, and
 * gathers C, which it checks as `isomer bench` checks a product, before and behind the samples.
 */
#include "bench/comm/product.h"

#include "bench/arith/arith.h"
#include "bench/record/record.h"
#include "bench/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_LEAST = 3, CALLS_MOST = 50, CHECKED = 16 };

/* ---- the parts of a rank --------------------------------------------------------------------- */

static iso_comm comm_of(const product *p, const ranks_seat *seat)
{
    return p->comms[scale_number(p->run, seat)];
}

static product_part *part_of(product *p, const ranks_seat *seat)
{
    return &p->parts[scale_number(p->run, seat)];
}

static iso_grid_layout layout_of(const product *p, int which)
{
    const int64_t down = (p->n + p->rows - 1) / p->rows, across = (p->n + p->cols - 1) / p->cols;
    iso_grid_layout layout = ISO_GRID_LAYOUT_INIT;
    layout.dtype = p->dtype;
    layout.rows = layout.cols = p->n;
    layout.block_rows = which == 1 ? p->block_k : down;
    layout.block_cols = which == 0 ? p->block_k : across;
    return layout;
}

static iso_status make_part(product *p, const ranks_seat *seat, product_part *part, int which)
{
    const iso_grid_layout layout = layout_of(p, which);
    int64_t rows = 0, cols = 0;
    iso_status status = iso_grid_part(part->grid, &layout, -1, &rows, &cols);
    part->bytes[which] = rows * cols * iso_dtype_size(p->dtype);
    if (status != ISO_OK) {
        return status;
    }
    if (p->run->memory > 0) {
        status = iso_host_alloc(seat->device, part->bytes[which] + 1, &part->host[which], NULL);
    } else {
        status = iso_buffer_create(seat->device, part->bytes[which], &part->buffers[which]);
        part->buffers[which].id = status == ISO_OK ? part->buffers[which].id : 0;
    }
    if (status == ISO_OK && which < 2) {
        status = iso_grid_scatter(part->grid, &layout, 0, which == 0 ? p->a : p->b, 0,
                                  (iso_operand){part->buffers[which], 0}, part->host[which]);
    }
    return status;
}

static iso_status give_up(const product *p, const ranks_seat *seat, iso_status status)
{
    if (status != ISO_OK) {
        (void)iso_comm_abort(comm_of(p, seat));
    }
    return status;
}

static iso_status make(void *context, ranks_seat *seat)
{
    product *p = context;
    product_part *part = part_of(p, seat);
    *part = (product_part){.grid = {0}};
    if (comm_of(p, seat).id == 0) {
        return ISO_OK;
    }
    iso_status status = iso_grid_create(comm_of(p, seat), p->rows, p->cols, &part->grid);
    part->grid.id = status == ISO_OK ? part->grid.id : 0;
    for (int i = 0; i < 3 && status == ISO_OK; i++) {
        status = make_part(p, seat, part, i);
    }
    status = status == ISO_OK ? iso_event_create(seat->device, &part->begin) : status;
    status = status == ISO_OK ? iso_event_create(seat->device, &part->end) : status;
    return give_up(p, seat, status);
}

static iso_status drop(void *context, ranks_seat *seat)
{
    product *p = context;
    product_part *part = part_of(p, seat);
    if (part->grid.id != 0) {
        iso_grid_destroy(part->grid);
    }
    for (int i = 0; i < 3; i++) {
        if (part->buffers[i].id != 0) {
            iso_buffer_destroy(part->buffers[i]);
        }
        if (part->host[i]) {
            iso_host_free(seat->device, part->host[i]);
        }
    }
    if (part->begin.id != 0) {
        iso_event_destroy(part->begin);
    }
    if (part->end.id != 0) {
        iso_event_destroy(part->end);
    }
    *part = (product_part){.grid = {0}};
    return ISO_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static iso_status call(product *p, const ranks_seat *seat)
{
    const product_part *part = part_of(p, seat);
    const iso_grid_layout c = layout_of(p, 2);
    iso_gemm_grid_args args = ISO_GEMM_GRID_ARGS_INIT;
    args.dtype = p->dtype;
    args.variant = p->how;
    args.math = ISO_MATH_STRICT;
    args.m = args.n = args.k = p->n;
    args.block_m = c.block_rows;
    args.block_n = c.block_cols;
    args.block_k = p->block_k;
    args.a = (iso_operand){part->buffers[0], 0};
    args.b = (iso_operand){part->buffers[1], 0};
    args.c = (iso_operand){part->buffers[2], 0};
    args.a_host = part->host[0];
    args.b_host = part->host[1];
    args.c_host = part->host[2];
    args.memory = p->run->memory;
    return iso_gemm_grid(part->grid, seat->stream, &args);
}

static iso_status spoil(product *p, const ranks_seat *seat)
{
    const product_part *part = part_of(p, seat);
    const uint64_t nan = 0x7ff8dead7fc0deadu;
    if (part->host[2]) {
        memset(part->host[2], 0xff, (size_t)part->bytes[2]);
        return ISO_OK;
    }
    return iso_fill(seat->stream, (iso_operand){part->buffers[2], 0}, &nan, 4, part->bytes[2]);
}

static iso_status once(void *context, ranks_seat *seat)
{
    product *p = context;
    const int32_t number = scale_number(p->run, seat);
    if (comm_of(p, seat).id == 0) {
        return ISO_OK;
    }
    iso_status status = spoil(p, seat);
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    const double began = tool_seconds();
    status = status == ISO_OK ? call(p, seat) : status;
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    p->host[number][0] = 1e9 * (tool_seconds() - began);
    return give_up(p, seat, status);
}

static iso_status take(product *p, const ranks_seat *seat, double *device, double *host)
{
    const product_part *part = part_of(p, seat);
    int64_t nanoseconds = 0;
    iso_comm_args barrier = ISO_COMM_ARGS_INIT;
    barrier.op = ISO_COMM_BARRIER;
    iso_status status = iso_comm_run(comm_of(p, seat), seat->stream, &barrier);
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    const double began = tool_seconds();
    status = status == ISO_OK ? iso_event_record(part->begin, seat->stream) : status;
    for (int32_t i = 0; i < p->times.calls && status == ISO_OK; i++) {
        status = call(p, seat);
    }
    status = status == ISO_OK ? iso_event_record(part->end, seat->stream) : status;
    status = status == ISO_OK ? iso_stream_sync(seat->stream) : status;
    *host = 1e9 * (tool_seconds() - began) / p->times.calls;
    status = status == ISO_OK ? iso_event_elapsed(part->begin, part->end, &nanoseconds) : status;
    *device = (double)nanoseconds / p->times.calls;
    return status;
}

static iso_status take_all(void *context, ranks_seat *seat)
{
    product *p = context;
    const int32_t number = scale_number(p->run, seat);
    if (comm_of(p, seat).id == 0) {
        return ISO_OK;
    }
    iso_status status = spoil(p, seat);
    for (int32_t i = 0; i < p->times.count && status == ISO_OK; i++) {
        status = take(p, seat, &p->device[number][i], &p->host[number][i]);
    }
    return give_up(p, seat, status);
}

static iso_status gather(void *context, ranks_seat *seat)
{
    product *p = context;
    const product_part *part = part_of(p, seat);
    const iso_grid_layout layout = layout_of(p, 2);
    return comm_of(p, seat).id == 0
               ? ISO_OK
               : give_up(p, seat,
                         iso_grid_gather(part->grid, &layout, 0, p->c, 0,
                                         (iso_operand){part->buffers[2], 0}, part->host[2]));
}

/* ---- the check ------------------------------------------------------------------------------- */

static bool run_work(product *p, ranks_work *work, const char *what)
{
    memset(p->outcomes, 0, (size_t)scale_here(p->run) * sizeof *p->outcomes);
    ranks_run(p->run->team, work, p);
    scale_note(p->run, what, p->outcomes);
    return scale_agree(p->run, p->outcomes);
}

static void judge(product *p, scale_outcome *out)
{
    bench_result *result = tool_alloc(1, sizeof *result, "a result");
    /* Each product has its own: the cache finds what it keeps by the seed. */
    const uint64_t seed = p->run->options->seed + 64 * (uint64_t)p->dtype;
    bench_case item = {.op = bench_op_of("gemm"),
                       .how = p->how,
                       .dtype = p->dtype,
                       .element = iso_dtype_size(p->dtype),
                       .math = ISO_MATH_STRICT,
                       .seed = arith_mix(seed, (uint64_t)p->n),
                       .same_bits = p->how != ISO_VARIANT_VENDOR,
                       .samples = CHECKED,
                       .gemm = {.m = p->n, .n = p->n, .k = p->n, .batch = 1, .alpha = 1}};
    const check_data data = {p->a, p->b, p->c, p->cache};
    (void)check_gemm(&item, &data, p->c, result);
    out->status = result->status;
    snprintf(out->reason, sizeof out->reason, "%.*s", SCALE_REASON - 1, result->reason);
    free(result);
}

/* Rank 0 checks; all know what it found. `again`: C should have the digest that it had, except that
 * a vendor's library promises no bits. */
static bool is_right(product *p, bool again, uint64_t digest[2])
{
    if (!run_work(p, gather, "iso_grid_gather")) {
        return false;
    }
    memset(p->outcomes, 0, (size_t)scale_here(p->run) * sizeof *p->outcomes);
    scale_outcome *mine = &p->outcomes[0];
    uint64_t found[2] = {0};
    if (ranks_speaks(p->run->team)) {
        check_hash(p->c, p->n * p->n * iso_dtype_size(p->dtype), found);
        const bool same = again && memcmp(found, digest, sizeof found) == 0;
        if (again && !same && p->how != ISO_VARIANT_VENDOR) {
            mine->status = BENCH_FAILED;
            snprintf(mine->reason, sizeof mine->reason,
                     "the product has other bits behind the measurement than before it");
        } else if (!same) {
            judge(p, mine);
        }
    }
    const bool good = scale_agree(p->run, p->outcomes);
    memcpy(digest, found, sizeof found);
    return good;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The greatest of a number of each rank. */
static double slowest_call(product *p)
{
    double mine[RANKS_MOST];
    for (int32_t i = 0; i < scale_here(p->run); i++) {
        mine[i] = p->comms[i].id ? p->host[i][0] * 1e-9 : 0;
    }
    return scale_most(p->run, mine);
}

json_t *product_entry(const product *p)
{
    char grid[32];
    json_t *entry = scale_entry(p->run, "gemm", iso_variant_name(p->how), p->dtype,
                                3 * p->n * p->n * iso_dtype_size(p->dtype), p->ranks);
    snprintf(grid, sizeof grid, "%dx%d", p->rows, p->cols);
    tool_set_int(entry, "n", p->n);
    tool_set_text(entry, "grid", grid);
    tool_set_int(entry, "block_k", p->block_k);
    tool_set_text(entry, "scaling", p->scaling);
    json_object_set_new(entry, "memory",
                        p->run->memory > 0 ? json_integer(p->run->memory) : json_null());
    tool_set_number(entry, "gflops", NAN);
    tool_set_number(entry, "efficiency", NAN);
    return entry;
}

bool product_begin(product *p)
{
    const size_t here = (size_t)scale_here(p->run);
    p->outcomes = tool_alloc(here, sizeof *p->outcomes, "the outcomes");
    p->device = tool_alloc(here, sizeof *p->device, "the samples");
    p->host = tool_alloc(here, sizeof *p->host, "the samples");
    return run_work(p, make, "spreading A and B");
}

void product_end(product *p)
{
    ranks_run(p->run->team, drop, p);
    free(p->outcomes);
    free(p->device);
    free(p->host);
}

/* The first call also prepares what it needs; the time is that of the second. */
static bool run_twice(product *p)
{
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        good = run_work(p, once, "iso_gemm_grid");
    }
    return good;
}

double product_probe(product *p)
{
    return run_twice(p) ? slowest_call(p) : -1;
}

json_t *product_measure(product *p)
{
    uint64_t digest[2] = {0};
    json_t *entry = product_entry(p);
    bool good = run_twice(p) && is_right(p, false, digest);
    if (good) {
        scale_plan(p->run, slowest_call(p), p->slice, CALLS_MOST, SAMPLES_LEAST, &p->times);
        p->times.alone = NAN;
        good = run_work(p, take_all, "iso_gemm_grid") &&
               /* With parts in host memory the product occupies the host. */
               scale_collect(p->run, p->run->memory > 0 ? NULL : p->device, p->host, &p->times,
                             &p->outcomes[0]) &&
               is_right(p, true, digest);
    }
    memcpy(p->outcomes[0].digest, digest, sizeof digest);
    scale_set_outcome(entry, &p->outcomes[0],
                      p->how == ISO_VARIANT_VENDOR ? "projection" : "projection, bits of a sample");
    if (good) {
        scale_set_times(entry, &p->times);
        const double n = (double)p->n;
        tool_set_number(entry, "gflops", 2 * n * n * n / record_number(entry, "times.median"));
    }
    return entry;
}
