/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - plans a product over a grid: checks its arguments, and chooses its blocks and memory. */
#include "core/grid/plan.h"
#include "core/op.h"

#include <stdlib.h>

enum { SEGMENT = 1024 /* terms of a segment: docs/bits.md, 4.2 */ };

typedef core_grid_plan plan;

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

iso_status core_grid_plan_read(plan *p, const iso_gemm_grid_args *given)
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

iso_gemm_args core_grid_plan_gemm(const plan *p)
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
    iso_gemm_args whole = core_grid_plan_gemm(p);
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

typedef struct want {
    grid_room *room;
    int64_t bytes;
} want;

/* Lists all of the grid's buffers, with the sizes that blocks of this size need. */
static void list_wants(const plan *p, want out[GRID_ROOMS])
{
    core_grid *grid = p->grid;
    const int64_t width = least(p->args.block_k, p->k), e = p->element;
    const int64_t rows = p->block_rows, cols = p->block_cols;
    const bool many = rows < p->most_rows || cols < p->most_cols;
    const bool totals = !p->direct && !p->in_place;
    const bool copies = p->out_of_core && (p->direct || !core_is_zero(p->beta));
    int at = 0;

    for (int i = 0; i < GRID_SLOTS; i++) {
        const int64_t block = i && !many ? 0 : rows * cols * e;

        out[at++] = (want){&grid->a[i], rows * width * e};
        out[at++] = (want){&grid->b[i], width * cols * e};
        out[at++] = (want){&grid->total[i], totals ? block : 0};
        out[at++] = (want){&grid->c[i], copies ? block : 0};
    }
    out[at++] = (want){&grid->whole_a, p->fixed ? rows * p->k * e : 0};
    out[at] = (want){&grid->whole_b, p->fixed ? p->k * cols * e : 0};
}

/* The grid's buffers, and the scratch memory of the largest call of iso_gemm. */
static iso_status find_needed(const plan *p, double *bytes)
{
    iso_gemm_args args = core_grid_plan_gemm(p);
    want wants[GRID_ROOMS];
    int64_t scratch = 0;
    iso_status status;

    args.m = p->block_rows;
    args.n = p->block_cols;
    args.k = p->fixed ? p->k : least(p->args.block_k, p->k);
    status = iso_workspace(p->grid->device, ISO_OP_GEMM, &args, &scratch);
    *bytes = (double)scratch;
    list_wants(p, wants);
    for (int i = 0; i < GRID_ROOMS; i++) {
        *bytes += (double)wants[i].bytes;
    }
    return status;
}

/* What the device has left for the product, with what its buffers and scratch memory take already.
 */
static iso_status find_left(const plan *p, int64_t *left)
{
    iso_memory_use use = ISO_MEMORY_USE_INIT;
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    want wants[GRID_ROOMS];
    iso_status status = iso_device_get_memory_use(p->grid->device, &use);

    if (!status) {
        status = iso_device_get_info(p->grid->device, &info);
    }
    *left = use.limit >= 0          ? use.limit - use.used
            : info.memory_free >= 0 ? info.memory_free / 10 * 9
                                    : info.memory_total / 2;
    *left += p->scratch;
    list_wants(p, wants);
    for (int i = 0; i < GRID_ROOMS; i++) {
        *left += wants[i].room->bytes;
    }
    return status;
}

/* The least that any rank has left. */
static iso_status find_budget(const plan *p, int64_t *bytes)
{
    core_grid *grid = p->grid;
    iso_comm_args args = ISO_COMM_ARGS_INIT;
    iso_status status = core_grid_room(grid, &grid->c[0], (int64_t)sizeof *bytes), synced;

    if (!status) {
        status = find_left(p, bytes);
    }
    args.op = ISO_COMM_ALL_REDUCE;
    args.dtype = ISO_I64;
    args.reduce = ISO_MIN;
    args.sum = ISO_COMM_SUM_VENDOR;
    args.count = 1;
    args.from.buffer = args.to.buffer = grid->c[0].buffer;
    if (!status) {
        status = iso_write(grid->mover, args.to, bytes, (int64_t)sizeof *bytes);
    }
    if (!status) {
        status = iso_comm_run(grid->comm, grid->mover, &args);
    }
    if (!status) {
        status = iso_read(grid->mover, bytes, args.to, (int64_t)sizeof *bytes);
    }
    if (status) {
        status = core_grid_fail(p->call, grid, status);
        core_grid_settle(grid->mover); /* the write reads `bytes` */
        return status;
    }
    synced = iso_stream_sync(grid->mover);
    return synced ? core_grid_fail(p->call, grid, synced) : ISO_OK;
}

/* Chooses the blocks of C: all of it, or as large ones as the memory allows. */
static iso_status choose_blocks(plan *p)
{
    int64_t memory = p->args.memory;
    iso_status status = ISO_OK;
    double bytes = 0;

    p->block_rows = most(p->most_rows, 1);
    p->block_cols = most(p->most_cols, 1);
    if (!p->out_of_core) {
        return ISO_OK;
    }
    if (!memory) {
        status = find_budget(p, &memory);
    }
    if (!status) {
        status = find_needed(p, &bytes);
    }
    while (!status && bytes > (double)memory) {
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
        status = find_needed(p, &bytes);
    }
    return status;
}

/* The buffers of an earlier product may be larger than they must be, or not needed. If memory is
 * short, those are freed first. */
iso_status core_grid_plan_room(const plan *p)
{
    want wants[GRID_ROOMS];
    iso_status status = ISO_OK;

    list_wants(p, wants);
    for (int i = 0; i < GRID_ROOMS && p->out_of_core; i++) {
        if (wants[i].room->bytes > wants[i].bytes) {
            core_grid_drop(wants[i].room, false);
        }
    }
    for (int i = 0; i < GRID_ROOMS && !status; i++) {
        status = core_grid_room(p->grid, wants[i].room, wants[i].bytes);
    }
    return status;
}

iso_status core_grid_plan_make(plan *p)
{
    const iso_gemm_grid_args *args = &p->args;
    core_grid *grid = p->grid;
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
        status = core_grid_fail(p->call, grid, status);
    }
    return status;
}

void core_grid_plan_free(plan *p)
{
    free(p->calls);
    free(p->sends);
}
