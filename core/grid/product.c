/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.c - the product over a grid of ranks. C is computed in blocks, of which there is one if
 * everything fits the device. For each block the ranks exchange panels of A and B on the grid's own
 * stream, two panels ahead of the product that uses them.
 */
#include "core/comm/comm.h"
#include "core/graph/graph.h"
#include "core/grid/plan.h"
#include "core/host.h"
#include "core/op.h"

typedef core_grid_plan plan;

/* A block of C, and its panels. */
typedef struct block {
    int64_t row, rows, col, cols; /* in this rank's part */
    iso_operand target;           /* where the product is written */
    int64_t target_ld;
} block;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t panel_width(const plan *p, int64_t panel)
{
    return least(p->args.block_k, p->k - panel * p->args.block_k);
}

static iso_operand start_of(const grid_room *room)
{
    return (iso_operand){room->buffer, 0};
}

/* ---- panels ---------------------------------------------------------------------------------- */

/* Copies `rows` rows of `cols` elements of a part, from an element on, to a panel without gaps. */
static iso_status pack(const plan *p, const grid_room *panel, iso_operand part, const void *host,
                       int64_t first, int64_t ld, int64_t rows, int64_t cols)
{
    const int64_t e = p->element;

    if (!rows || !cols) {
        return ISO_OK;
    }
    if (host) {
        return iso_write_2d(p->grid->mover, start_of(panel), cols * e,
                            (const char *)host + first * e, ld * e, cols * e, rows);
    }
    part.offset += first * e;
    return iso_copy_2d(p->grid->mover, start_of(panel), cols * e, part, ld * e, cols * e, rows);
}

/* Adds the calls that bring a panel from its owner to the ranks of a row or column of the grid:
 * those whose numbers are `first`, first + step, and so on. Returns the number of calls. */
static int32_t spread(plan *p, int32_t count, const grid_room *panel, int64_t elements,
                      int32_t owner, int32_t first, int32_t step, int32_t members)
{
    const core_grid *grid = p->grid;

    for (int32_t i = 0; i < members; i++) {
        const int32_t rank = first + i * step;
        iso_comm_args *args = &p->sends[count];
        const bool sends = grid->rank == owner;

        if (rank == grid->rank || (!sends && rank != owner)) {
            continue;
        }
        *args = (iso_comm_args)ISO_COMM_ARGS_INIT;
        args->op = sends ? ISO_COMM_SEND : ISO_COMM_RECEIVE;
        args->dtype = p->args.dtype;
        args->peer = rank;
        args->count = elements;
        args->from = args->to = start_of(panel);
        p->calls[count] = (iso_comm_call){grid->comm, grid->mover, args};
        count++;
    }
    return count;
}

/* Brings one panel of A and of B to all ranks that need them. */
static iso_status exchange(plan *p, const block *of, int64_t panel, int slot)
{
    core_grid *grid = p->grid;
    const iso_gemm_grid_args *args = &p->args;
    const int64_t width = panel_width(p, panel);
    const int32_t a_col = (int32_t)(panel % grid->cols), b_row = (int32_t)(panel % grid->rows);
    iso_status status = iso_stream_wait(grid->mover, grid->unused[slot]);
    int32_t count;

    if (!status && a_col == grid->col) {
        status = pack(p, &grid->a[slot], args->a, args->a_host,
                      of->row * p->a_cols + panel / grid->cols * args->block_k, p->a_cols, of->rows,
                      width);
    }
    if (!status && b_row == grid->row) {
        status =
            pack(p, &grid->b[slot], args->b, args->b_host,
                 panel / grid->rows * args->block_k * p->cols + of->col, p->cols, width, of->cols);
    }
    count = spread(p, 0, &grid->a[slot], of->rows * width, grid->row * grid->cols + a_col,
                   grid->row * grid->cols, 1, grid->cols);
    count = spread(p, count, &grid->b[slot], width * of->cols, b_row * grid->cols + grid->col,
                   grid->col, grid->cols, grid->rows);
    if (!status && count) {
        status = iso_comm_run_group(p->calls, count);
    }
    if (!status) {
        status = iso_event_record(grid->ready[slot], grid->mover);
    }
    return status ? status : iso_stream_wait(p->stream, grid->ready[slot]);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Adds a panel's product to the totals. */
static iso_status add_panel(const plan *p, const block *of, int64_t panel, int slot)
{
    const core_grid *grid = p->grid;
    iso_gemm_args args = core_grid_plan_gemm(p);

    args.m = of->rows;
    args.n = of->cols;
    args.k = panel_width(p, panel);
    args.a = start_of(&grid->a[slot]);
    args.b = start_of(&grid->b[slot]);
    args.c = of->target;
    args.ldc = of->target_ld;
    if (p->direct) {
        args.alpha = p->alpha;
        args.beta = p->beta;
    } else {
        args.beta = panel ? 1 : 0;
        args.continues = panel > 0;
    }
    return iso_gemm(p->stream, &args);
}

/* Keeps a panel for a fixed product, which needs all terms at once. */
static iso_status keep_panel(const plan *p, const block *of, int64_t panel, int slot)
{
    const core_grid *grid = p->grid;
    const int64_t width = panel_width(p, panel), e = p->element, first = panel * p->args.block_k;
    iso_operand a = start_of(&grid->whole_a), b = start_of(&grid->whole_b);
    iso_status status;

    a.offset = first * e;
    b.offset = first * of->cols * e;
    status = iso_copy_2d(p->stream, a, p->k * e, start_of(&grid->a[slot]), width * e, width * e,
                         of->rows);
    return status ? status : iso_copy(p->stream, b, start_of(&grid->b[slot]), width * of->cols * e);
}

static iso_status multiply_kept(const plan *p, const block *of)
{
    iso_gemm_args args = core_grid_plan_gemm(p);

    args.m = of->rows;
    args.n = of->cols;
    args.k = p->k;
    args.alpha = p->alpha;
    args.beta = p->beta;
    if (p->k) {
        args.a = start_of(&p->grid->whole_a);
        args.b = start_of(&p->grid->whole_b);
    }
    args.c = of->target;
    args.ldc = of->target_ld;
    return iso_gemm(p->stream, &args);
}

static iso_status multiply(plan *p, const block *of)
{
    iso_status status = ISO_OK;

    for (int64_t panel = 0; panel < p->panels && !status; panel++) {
        const int slot = (int)(p->step++ % GRID_SLOTS);

        status = exchange(p, of, panel, slot);
        if (!status) {
            status = p->fixed ? keep_panel(p, of, panel, slot) : add_panel(p, of, panel, slot);
        }
        if (!status) {
            status = iso_event_record(p->grid->unused[slot], p->stream);
        }
    }
    if (!status && (p->fixed || !p->panels)) {
        status = multiply_kept(p, of);
    }
    return status;
}

/* ---- C --------------------------------------------------------------------------------------- */

/* Copies a block of C to the device's room for it, or from a place there back. */
static iso_status load(const plan *p, const block *of)
{
    const int64_t e = p->element, at = (of->row * p->cols + of->col) * e;
    iso_operand c = p->args.c;

    if (!of->rows || !of->cols) {
        return ISO_OK;
    }
    if (p->args.c_host) {
        return iso_write_2d(p->stream, start_of(&p->grid->c[p->slot]), of->cols * e,
                            (char *)p->args.c_host + at, p->cols * e, of->cols * e, of->rows);
    }
    c.offset += at;
    return iso_copy_2d(p->stream, start_of(&p->grid->c[p->slot]), of->cols * e, c, p->cols * e,
                       of->cols * e, of->rows);
}

/* Copies a block to its place in C, while the device goes on to the next one. */
static iso_status store(const plan *p, const block *of, const grid_room *from)
{
    const int64_t e = p->element, at = (of->row * p->cols + of->col) * e;
    const iso_stream storer = p->grid->storer;
    iso_operand c = p->args.c;
    iso_status status = iso_event_record(p->grid->computed[p->slot], p->stream);

    if (!status) {
        status = iso_stream_wait(storer, p->grid->computed[p->slot]);
    }
    if (!status && of->rows && of->cols) {
        c.offset += at;
        status = p->args.c_host ? iso_read_2d(storer, (char *)p->args.c_host + at, p->cols * e,
                                              start_of(from), of->cols * e, of->cols * e, of->rows)
                                : iso_copy_2d(storer, c, p->cols * e, start_of(from), of->cols * e,
                                              of->cols * e, of->rows);
    }
    return status ? status : iso_event_record(p->grid->stored[p->slot], storer);
}

static iso_status map(const plan *p, iso_map_op op, double factor, int64_t n, iso_operand x,
                      iso_operand y, iso_operand z)
{
    iso_map_args args = ISO_MAP_ARGS_INIT;

    args.op = op;
    args.dtype = p->args.dtype;
    args.variant = ISO_VARIANT_TILED;
    args.n = n;
    args.alpha = factor;
    args.x = x;
    args.y = y;
    args.z = z;
    return iso_map(p->stream, &args);
}

/* Rounds the totals as docs/bits.md, 4.4, says: `c` is where the result goes, which has C's values
 * if beta is not 0. */
static iso_status finish(const plan *p, const block *of, iso_operand c)
{
    const iso_operand total = start_of(&p->grid->total[p->slot]);
    const int64_t n = of->rows * of->cols;
    iso_status status;

    if (core_is_zero(p->beta)) {
        if (p->alpha == 1 && c.buffer.id == total.buffer.id) {
            return ISO_OK; /* 1 * t is t */
        }
        return map(p, ISO_MAP_SCALE, p->alpha, n, total, total, c);
    }
    status = map(p, ISO_MAP_SCALE, p->beta, n, c, c, c);
    return status ? status : map(p, ISO_MAP_TRIAD, p->alpha, n, c, total, c);
}

/* One block, if C does not fit: it passes through the device. */
static iso_status pass_block(plan *p, block *of)
{
    core_grid *grid = p->grid;
    const bool reads = !core_is_zero(p->beta);
    const grid_room *result = p->direct || reads ? &grid->c[p->slot] : &grid->total[p->slot];
    iso_status status = iso_stream_wait(p->stream, grid->stored[p->slot]);

    of->target = start_of(p->direct ? &grid->c[p->slot] : &grid->total[p->slot]);
    of->target_ld = of->cols;
    if (!status && reads) {
        status = load(p, of);
    }
    if (!status) {
        status = multiply(p, of);
    }
    if (!status && !p->direct) {
        status = finish(p, of, start_of(result));
    }
    return status ? status : store(p, of, result);
}

/* The whole part, if it is on the device. */
static iso_status whole_block(plan *p, block *of)
{
    iso_status status;

    of->target = p->direct || p->in_place ? p->args.c : start_of(&p->grid->total[p->slot]);
    of->target_ld = of->cols;
    status = multiply(p, of);
    if (!status && !p->direct && !p->in_place) {
        status = finish(p, of, p->args.c);
    }
    return status;
}

static iso_status run(plan *p)
{
    core_grid *grid = p->grid;
    iso_status status = iso_stream_wait(p->stream, grid->ended);

    if (!status) {
        status = iso_event_record(grid->begun, p->stream);
    }
    if (!status) {
        status = iso_stream_wait(grid->mover, grid->begun);
    }
    for (int64_t row = 0; row < p->most_rows && !status; row += p->block_rows) {
        for (int64_t col = 0; col < p->most_cols && !status; col += p->block_cols) {
            block of = {.row = least(row, p->rows), .col = least(col, p->cols)};

            of.rows = least(p->block_rows, p->rows - of.row);
            of.cols = least(p->block_cols, p->cols - of.col);
            status = p->out_of_core ? pass_block(p, &of) : whole_block(p, &of);
            p->slot = (p->slot + 1) % GRID_SLOTS;
        }
    }
    if (!status) {
        status = iso_event_record(grid->ended, p->stream);
    }
    if (!status && p->out_of_core) {
        status = iso_stream_sync(p->stream);
    }
    if (!status && p->out_of_core) {
        status = iso_stream_sync(grid->storer);
    }
    return status;
}

/* Follows the communicator: what the streams wait for may fail with it. */
static iso_status follow(const plan *p, core_comm *comm)
{
    iso_status status = core_comm_follow(p->call, comm, p->stream.id);

    return status ? status : core_comm_follow(p->call, comm, p->grid->storer.id);
}

/* After a failure: copies of the caller's host memory must end before the call returns. */
static void settle(const plan *p)
{
    if (p->out_of_core) {
        core_grid_settle(p->grid->mover);
        core_grid_settle(p->stream);
        core_grid_settle(p->grid->storer);
    }
}

iso_status iso_gemm_grid(iso_grid handle, iso_stream stream, const iso_gemm_grid_args *args)
{
    plan p = {.call = "iso_gemm_grid", .stream = stream};
    CORE_HELD core_grid *grid = NULL;
    CORE_HELD core_stream *held = NULL;
    CORE_HELD core_comm *comm = NULL;
    iso_status status = core_handle_acquire(p.call, "grid", handle.id, CORE_GRID, &grid);

    if (!status) {
        status = core_handle_acquire(p.call, "stream", stream.id, CORE_STREAM, &held);
    }
    if (!status) {
        status = core_check_device(p.call, "stream", &held->child, "grid", &grid->child);
    }
    p.grid = grid;
    if (!status) {
        status = core_grid_plan_read(&p, args);
    }
    if (!status) {
        status = core_record_refuse(p.call, held);
    }
    if (status) {
        return status;
    }
    status =
        core_handle_acquire(p.call, "the grid's communicator", grid->comm.id, CORE_COMM, &comm);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&held->lock);
    p.scratch = held->scratch_bytes;
    pthread_mutex_unlock(&held->lock);
    pthread_mutex_lock(&grid->lock);
    status = core_grid_plan_make(&p);
    if (!status) {
        status = follow(&p, comm);
        if (!status) {
            status = core_grid_plan_room(&p);
        }
        if (!status) {
            status = run(&p);
        }
        if (status) {
            status = core_grid_fail(p.call, grid, status);
            settle(&p);
        }
    }
    pthread_mutex_unlock(&grid->lock);
    core_grid_plan_free(&p);
    return status;
}
