/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.c - the product over a grid of ranks. C is computed in blocks, of which there is one if
 * everything fits the device. For each block the ranks exchange panels of A and B on the grid's own
 * stream, two panels ahead of the product that uses them.
 */
#include "core/comm/comm.h"
#include "core/grid/grid.h"
#include "core/host.h"
#include "core/op.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 1024 /* terms of a segment: docs/bits.md, 4.2 */ };

typedef struct plan {
    const char *call;
    core_grid *grid;
    iso_stream stream;
    iso_gemm_grid_args args;
    int64_t element;
    double alpha, beta; /* rounded */
    int64_t k;          /* 0 if alpha is 0 */
    int64_t panels;
    int64_t rows, cols;             /* of this rank's part of C */
    int64_t a_cols;                 /* of its part of A */
    int64_t most_rows, most_cols;   /* of the largest part of C */
    int64_t block_rows, block_cols; /* of a block of C that is computed at once */
    bool fixed, out_of_core;
    bool direct;          /* one call of iso_gemm computes a block, with alpha and beta */
    bool in_place;        /* totals are kept in C itself */
    iso_comm_call *calls; /* room for one exchange */
    iso_comm_args *sends;
    int64_t step; /* panels so far */
    int slot;     /* of the block's total and C */
} plan;

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

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t pieces(int64_t n, int64_t size)
{
    return size ? n / size + (n % size != 0) : 0;
}

static int64_t panel_width(const plan *p, int64_t panel)
{
    return least(p->args.block_k, p->k - panel * p->args.block_k);
}

static iso_operand start_of(const grid_room *room)
{
    return (iso_operand){room->buffer, 0};
}

/* ---- arguments ------------------------------------------------------------------------------- */

static iso_status check_sizes(const plan *p)
{
    const iso_gemm_grid_args *args = &p->args;
    const struct {
        const char *name;
        int64_t value, least;
    } sizes[] = {{"m", args->m, 0},
                 {"n", args->n, 0},
                 {"k", args->k, 0},
                 {"block_m", args->block_m, 1},
                 {"block_n", args->block_n, 1},
                 {"block_k", args->block_k, 1},
                 {"memory", args->memory, 0}};
    int64_t bytes;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].value < sizes[i].least) {
            return core_fail(ISO_INVALID, "%s: %s is %lld, below %lld", p->call, sizes[i].name,
                             (long long)sizes[i].value, (long long)sizes[i].least);
        }
    }
    if (__builtin_mul_overflow(args->m, args->n, &bytes) ||
        __builtin_mul_overflow(bytes, p->element, &bytes) ||
        __builtin_mul_overflow(args->m, args->k, &bytes) ||
        __builtin_mul_overflow(bytes, p->element, &bytes) ||
        __builtin_mul_overflow(args->k, args->n, &bytes) ||
        __builtin_mul_overflow(bytes, p->element, &bytes)) {
        return core_fail(ISO_INVALID,
                         "%s: m is %lld, n %lld and k %lld: the matrices' bytes do not "
                         "fit 64 bits",
                         p->call, (long long)args->m, (long long)args->n, (long long)args->k);
    }
    return ISO_OK;
}

static iso_status read_args(plan *p, const iso_gemm_grid_args *given)
{
    iso_status status = core_struct_read(p->call, "args", given, CORE_END_OF(iso_gemm_grid_args, c),
                                         &p->args, sizeof p->args);

    if (!status && p->args.dtype != ISO_F32 && p->args.dtype != ISO_F64) {
        const char *name = iso_dtype_name(p->args.dtype);

        status = core_fail(ISO_INVALID, "%s: dtype is %d (%s): use ISO_F32 (3) or ISO_F64 (4)",
                           p->call, (int)p->args.dtype, name ? name : "not a type");
    }
    if (!status) {
        status = core_check_reserved(p->call, "args", p->args.reserved);
    }
    p->element = status ? 0 : iso_dtype_size(p->args.dtype);
    return status ? status : check_sizes(p);
}

static iso_gemm_args product(const plan *p)
{
    iso_gemm_args out = ISO_GEMM_ARGS_INIT;

    out.dtype = p->args.dtype;
    out.variant = p->args.variant;
    out.math = p->args.math;
    out.keep = p->args.keep;
    return out;
}

/* Finds out which variant runs: the same for all ranks, because it is asked about the whole
 * product.
 */
static iso_status resolve(plan *p)
{
    iso_op_info info = ISO_OP_INFO_INIT;
    iso_gemm_args whole = product(p);
    iso_status status;

    whole.m = p->args.m;
    whole.n = p->args.n;
    whole.k = p->k;
    status = iso_describe(p->grid->device, ISO_OP_GEMM, &whole, &info);
    if (status) {
        return core_fail(status, "%s: %s", p->call, core_reason("iso_describe"));
    }
    p->args.variant = info.variant;
    p->args.keep = ISO_KEEP_DEFAULT; /* it has been followed */
    p->fixed = info.variant == ISO_VARIANT_FIXED;
    if (!p->fixed && info.variant != ISO_VARIANT_VENDOR && p->args.block_k % SEGMENT &&
        p->args.block_k < p->k) {
        return core_fail(ISO_INVALID,
                         "%s: block_k is %lld, k %lld and the variant %s: block_k must be a "
                         "multiple of %d or at least k, because sums have segments of %d terms",
                         p->call, (long long)p->args.block_k, (long long)p->k,
                         iso_variant_name(info.variant), SEGMENT, SEGMENT);
    }
    return ISO_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Device memory for blocks of C of that size. */
static double needed(const plan *p, int64_t rows, int64_t cols)
{
    const double e = (double)p->element, r = (double)rows, c = (double)cols;
    const double width = (double)least(p->args.block_k, most(p->k, 1));
    const int blocks =
        p->direct ? p->out_of_core : !p->in_place + (p->out_of_core && !core_is_zero(p->beta));
    const int copies = rows < p->most_rows || cols < p->most_cols ? GRID_SLOTS : 1;
    double bytes = GRID_SLOTS * (r + c) * width * e + copies * blocks * r * c * e;

    if (p->fixed) {
        bytes += (r + c) * (double)p->k * e;
    }
    return bytes;
}

/* The least that any rank has left. */
static iso_status find_budget(const plan *p, int64_t *bytes)
{
    core_grid *grid = p->grid;
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_comm_args args = ISO_COMM_ARGS_INIT;
    int64_t left;
    iso_status status = iso_device_get_memory_use(grid->device, &use);

    if (!status) {
        status = iso_device_get_info(grid->device, &info);
    }
    if (!status) {
        status = core_grid_room(grid, &grid->c[0], (int64_t)sizeof left);
    }
    if (status) {
        return status;
    }
    left = use.limit >= 0          ? use.limit - use.used
           : info.memory_free >= 0 ? info.memory_free / 10 * 9
                                   : info.memory_total / 2;
    args.op = ISO_COMM_ALL_REDUCE;
    args.dtype = ISO_I64;
    args.reduce = ISO_MIN;
    args.sum = ISO_COMM_SUM_VENDOR;
    args.count = 1;
    args.from = args.to = start_of(&grid->c[0]);
    status = iso_write(grid->mover, args.to, &left, (int64_t)sizeof left);
    if (!status) {
        status = iso_comm_run(grid->comm, grid->mover, &args);
    }
    if (!status) {
        status = iso_read(grid->mover, bytes, args.to, (int64_t)sizeof left);
    }
    return status ? status : iso_stream_sync(grid->mover);
}

/* Chooses the blocks of C: all of it, or as large ones as the memory allows. */
static iso_status choose_blocks(plan *p)
{
    int64_t memory = p->args.memory;
    iso_status status = ISO_OK;

    p->block_rows = most(p->most_rows, 1);
    p->block_cols = most(p->most_cols, 1);
    if (!p->out_of_core) {
        return ISO_OK;
    }
    if (!memory) {
        status = find_budget(p, &memory);
    }
    while (!status && needed(p, p->block_rows, p->block_cols) > (double)memory) {
        if (p->block_rows == 1 && p->block_cols == 1) {
            return core_fail(ISO_NO_MEMORY,
                             "%s: panels of block_k = %lld do not fit %lld bytes of device memory: "
                             "use a smaller block_k, or allow more memory",
                             p->call, (long long)p->args.block_k, (long long)memory);
        }
        if (p->block_rows >= p->block_cols) {
            p->block_rows = (p->block_rows + 1) / 2;
        } else {
            p->block_cols = (p->block_cols + 1) / 2;
        }
    }
    return status;
}

static iso_status make_room(const plan *p)
{
    core_grid *grid = p->grid;
    const int64_t width = least(p->args.block_k, p->k), e = p->element;
    const int64_t rows = p->block_rows, cols = p->block_cols;
    iso_status status = ISO_OK;

    for (int i = 0; i < GRID_SLOTS && !status && p->panels; i++) {
        status = core_grid_room(grid, &grid->a[i], rows * width * e);
        if (!status) {
            status = core_grid_room(grid, &grid->b[i], width * cols * e);
        }
    }
    if (!status && p->fixed && p->k) {
        status = core_grid_room(grid, &grid->whole_a, rows * p->k * e);
        if (!status) {
            status = core_grid_room(grid, &grid->whole_b, p->k * cols * e);
        }
    }
    for (int i = 0; i < (rows < p->most_rows || cols < p->most_cols ? GRID_SLOTS : 1); i++) {
        if (!status && !p->direct && !p->in_place) {
            status = core_grid_room(grid, &grid->total[i], rows * cols * e);
        }
        if (!status && p->out_of_core && (p->direct || !core_is_zero(p->beta))) {
            status = core_grid_room(grid, &grid->c[i], rows * cols * e);
        }
    }
    return status;
}

static iso_status make_plan(plan *p)
{
    const iso_gemm_grid_args *args = &p->args;
    const core_grid *grid = p->grid;
    iso_status status;

    p->alpha = core_round_factor(args->dtype, args->alpha);
    p->beta = core_round_factor(args->dtype, args->beta);
    p->k = core_is_zero(p->alpha) ? 0 : args->k;
    p->panels = pieces(p->k, args->block_k);
    p->rows = core_grid_share(args->m, args->block_m, grid->rows, grid->row);
    p->cols = core_grid_share(args->n, args->block_n, grid->cols, grid->col);
    p->a_cols = core_grid_share(args->k, args->block_k, grid->cols, grid->col);
    p->most_rows = core_grid_share(args->m, args->block_m, grid->rows, 0);
    p->most_cols = core_grid_share(args->n, args->block_n, grid->cols, 0);
    p->out_of_core = args->a_host || args->b_host || args->c_host;
    status = resolve(p);
    if (status) {
        return status;
    }
    p->direct = p->fixed || p->panels <= 1;
    p->in_place = !p->direct && !p->out_of_core && p->alpha == 1 && core_is_zero(p->beta);
    status = choose_blocks(p);
    p->calls = calloc((size_t)(grid->rows + grid->cols), sizeof *p->calls);
    p->sends = calloc((size_t)(grid->rows + grid->cols), sizeof *p->sends);
    if (!status && (!p->calls || !p->sends)) {
        status = core_fail_no_memory(p->call, grid->ranks * (int64_t)sizeof *p->sends);
    }
    return status;
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
    iso_gemm_args args = product(p);

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
    iso_gemm_args args = product(p);

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
    iso_status status = make_room(p);

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
    if (!status && p->out_of_core) {
        status = iso_stream_sync(p->stream);
    }
    if (!status && p->out_of_core) {
        status = iso_stream_sync(grid->storer);
    }
    return status;
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
        status = read_args(&p, args);
    }
    if (status) {
        return status;
    }
    status =
        core_handle_acquire(p.call, "the grid's communicator", grid->comm.id, CORE_COMM, &comm);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&grid->lock);
    status = core_comm_follow(p.call, comm, stream.id);
    if (!status) {
        status = core_comm_follow(p.call, comm, grid->storer.id);
    }
    if (!status) {
        status = make_plan(&p);
    }
    if (!status) {
        status = run(&p);
        if (status) {
            status = core_grid_fail(p.call, grid, status);
        }
    }
    pthread_mutex_unlock(&grid->lock);
    free(p.calls);
    free(p.sends);
    return status;
}
