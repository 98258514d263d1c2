/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_fixed.c - runs the fixed product on a device: clause 7 of docs/bits.md. fixed_plan.c chooses
 * its blocks; kernels/gemm_fixed.cl describes the steps. */
#include "backends/simt/fixed.h"
#include "backends/simt/fixed_matrix.h"

typedef struct fixed_run {
    simt_stream *stream;
    const iso_op *op;
    const iso_gemm_op *g;
    simt_fixed_plan plan;
    const simt_kernel *kernels[FIXED_KERNELS];
} fixed_run;

/* One operand: its vectors are the rows of op(A) or the columns of op(B). */
typedef struct fixed_side {
    const iso_ref *from;
    int64_t step, k_step, stride, vectors;
    int64_t exponents, planes; /* in scratch memory, in bytes */
} fixed_side;

static fixed_side side_a(const fixed_run *run)
{
    const iso_gemm_op *g = run->g;
    const bool t = g->trans_a == ISO_TRANS;
    return (fixed_side){&g->a, t ? 1 : g->lda,    t ? g->lda : 1, g->stride_a, g->m,
                        0,     run->plan.planes_a};
}

static fixed_side side_b(const fixed_run *run)
{
    const iso_gemm_op *g = run->g;
    const bool t = g->trans_b == ISO_TRANS;
    return (fixed_side){&g->b, t ? g->ldb : 1,        t ? 1 : g->ldb,    g->stride_b,
                        g->n,  run->plan.exponents_b, run->plan.planes_b};
}

static int64_t groups_for(int64_t wanted)
{
    enum { GROUPS_MAX = 65536 };
    return wanted < 1 ? 1 : wanted < GROUPS_MAX ? wanted : GROUPS_MAX;
}

/* Several times as many as are resident at once, so that a device stays busy to the end. */
static int64_t enough_groups(const fixed_run *run)
{
    enum { GROUPS_A_UNIT = 32 };
    const int32_t units = run->stream->device->limits.units;
    return (int64_t)(units > 0 ? units : 1) * GROUPS_A_UNIT;
}

/* A place in scratch memory, in elements of `size` bytes. */
static int64_t place(const fixed_run *run, int64_t bytes, int64_t size)
{
    return (run->op->workspace.offset + bytes) / size;
}

static iso_status clear(const fixed_run *run, int64_t count)
{
    const int64_t at = place(run, 0, sizeof(uint32_t));
    const simt_arg args[] = {SIMT_MEMORY(run->op->workspace.memory), SIMT_ARG(at), SIMT_ARG(count)};
    const int32_t threads = run->kernels[FIXED_CLEAR]->threads;
    return SIMT_LAUNCH(run->stream, run->kernels[FIXED_CLEAR],
                       groups_for(simt_pieces(count, threads)), args);
}

/* How the exponents of an operand are found: see the kernel. */
typedef struct fixed_split {
    int64_t part, tasks;
    int32_t across;
} fixed_split;

/* Enough groups for the device, unless they would read few elements. So a vector gets a bounded
 * number of atomic maxima. */
static fixed_split split_for(const fixed_run *run, const fixed_side *side, int64_t members)
{
    enum { LINE = 256 /* bytes */, ITEM = 16 /* the least elements */ };
    const int32_t threads = run->kernels[FIXED_EXPONENTS]->threads;
    const int64_t size = iso_dtype_size(run->g->dtype);
    const int64_t k = run->g->k;
    fixed_split s = {0};
    while (side->k_step != 1 && 1 << s.across < threads && size << s.across < LINE &&
           1 << s.across < side->vectors) {
        s.across++;
    }
    const int64_t least = (int64_t)(threads >> s.across) * ITEM;
    const int64_t strips = simt_pieces(side->vectors, INT64_C(1) << s.across) * members;
    const int64_t parts = simt_pieces(enough_groups(run), strips);
    s.part = simt_pieces(simt_pieces(k, parts), least) * least;
    s.tasks = strips * simt_pieces(k, s.part);
    return s;
}

static iso_status find_exponents(const fixed_run *run, const fixed_side *side, int64_t members)
{
    const iso_gemm_op *g = run->g;
    const fixed_split split = split_for(run, side, members);
    const int64_t x_at = side->from->offset / iso_dtype_size(g->dtype);
    const int64_t at = place(run, side->exponents, sizeof(uint32_t));
    const simt_arg args[] = {
        SIMT_MEMORY(side->from->memory),
        SIMT_ARG(x_at),
        SIMT_ARG(side->step),
        SIMT_ARG(side->k_step),
        SIMT_ARG(side->stride),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(at),
        SIMT_ARG(side->vectors),
        SIMT_ARG(members),
        SIMT_ARG(g->k),
        SIMT_ARG(split.part),
        SIMT_ARG(split.across),
        SIMT_ARG(split.tasks),
    };
    return SIMT_LAUNCH(run->stream, run->kernels[FIXED_EXPONENTS], groups_for(split.tasks), args);
}

/* A block of C. */
typedef struct fixed_block {
    int64_t member, members, row, rows, col, cols;
    int64_t rows_held, cols_held; /* with padding */
} fixed_block;

/* The residues of `count` vectors of each member of the block, from `first` on, and zeros up to
 * `held` vectors. */
static iso_status make_residues(const fixed_run *run, const fixed_side *side, const fixed_block *b,
                                int64_t first, int64_t count, int64_t held, int64_t from,
                                int64_t depth)
{
    const iso_gemm_op *g = run->g;
    const int64_t x_at = side->from->offset / iso_dtype_size(g->dtype) + b->member * side->stride;
    const int64_t at = place(run, side->exponents, sizeof(uint32_t)) +
                       (side->stride ? b->member * side->vectors : 0);
    const int64_t next = side->stride ? side->vectors : 0;
    const int64_t planes_at = place(run, side->planes, sizeof(uint32_t));
    const int32_t slices = run->plan.way == SIMT_FIXED_MATRIX;
    const simt_arg args[] = {
        SIMT_MEMORY(side->from->memory),
        SIMT_ARG(x_at),
        SIMT_ARG(side->step),
        SIMT_ARG(side->k_step),
        SIMT_ARG(side->stride),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(at),
        SIMT_ARG(next),
        SIMT_ARG(b->members),
        SIMT_ARG(first),
        SIMT_ARG(count),
        SIMT_ARG(held),
        SIMT_ARG(from),
        SIMT_ARG(depth),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(planes_at),
        SIMT_ARG(run->plan.pitch),
        SIMT_ARG(slices),
    };
    const int64_t tiles =
        simt_pieces(held, FIXED_TILE_VECTORS) * (run->plan.pitch / FIXED_TILE_DEPTH);
    return SIMT_LAUNCH(run->stream, run->kernels[FIXED_RESIDUES], groups_for(tiles * b->members),
                       args);
}

/* ---- products of bytes ----------------------------------------------------------------------- */

static iso_status multiply_plain(const fixed_run *run, const fixed_block *b, bool later)
{
    const simt_fixed_plan *p = &run->plan;
    const int64_t a_at = place(run, p->planes_a, sizeof(uint32_t));
    const int64_t b_at = place(run, p->planes_b, sizeof(uint32_t));
    const int64_t sums_at = place(run, p->sums, p->sum_bytes);
    const int32_t add = later;
    const simt_arg args[] = {
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(a_at),
        SIMT_ARG(b_at),
        SIMT_ARG(b->rows_held),
        SIMT_ARG(b->cols_held),
        SIMT_ARG(b->members),
        SIMT_ARG(p->pitch),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(sums_at),
        SIMT_ARG(add),
    };
    const int64_t tiles = simt_pieces(b->rows_held, p->side) * simt_pieces(b->cols_held, p->side);
    return SIMT_LAUNCH(run->stream, run->kernels[FIXED_MULTIPLY],
                       groups_for(tiles * p->count * b->members), args);
}

/* Sums of 32 bits modulo their moduli, in place. */
static iso_status reduce(const fixed_run *run, const fixed_block *b)
{
    const simt_kernel *kernel = run->kernels[FIXED_REDUCE];
    const int64_t sums_at = place(run, run->plan.sums, sizeof(int32_t));
    const int64_t plane = b->members * b->rows_held * b->cols_held;
    const simt_arg args[] = {SIMT_MEMORY(run->op->workspace.memory), SIMT_ARG(sums_at),
                             SIMT_ARG(plane)};
    return SIMT_LAUNCH(run->stream, kernel,
                       groups_for(simt_pieces(plane * run->plan.count, kernel->threads)), args);
}

static iso_ref scratch(const fixed_run *run, int64_t bytes)
{
    iso_ref at = run->op->workspace;
    at.offset += bytes;
    return at;
}

/* *refused: the library did not take the product, and nothing was done. */
static iso_status multiply_by_library(const fixed_run *run, const fixed_block *b, bool later,
                                      bool *refused)
{
    const simt_fixed_plan *p = &run->plan;
    const simt_bytes product = {
        .rows = b->rows_held,
        .cols = b->cols_held,
        .depth = p->pitch,
        .batch = p->count * b->members,
        .a = scratch(run, p->planes_a),
        .b = scratch(run, p->planes_b),
        .sums = scratch(run, p->sums),
        .add = later,
        .workspace = scratch(run, p->library),
        .workspace_bytes = p->bytes - p->library,
    };
    return simt_bytes_multiply(run->stream, &product, refused);
}

static simt_fixed_matrix matrix_product(const simt_fixed_plan *p, iso_ref workspace,
                                        const fixed_block *b, bool later)
{
    return (simt_fixed_matrix){.memory = workspace.memory,
                               .planes_a = workspace.offset + p->planes_a,
                               .planes_b = workspace.offset + p->planes_b,
                               .residues = workspace.offset + p->sums,
                               .rows = b->rows_held,
                               .cols = b->cols_held,
                               .members = b->members,
                               .pitch = p->pitch,
                               .moduli = p->count,
                               .later = later};
}

/* Adds the products of one part of k to the sums, or replaces them if there are none yet. `held` is
 * the number of steps of k that wide sums have. */
static iso_status multiply(const fixed_run *run, const fixed_block *b, bool later, int64_t *held)
{
    enum { STEPS = (1 << 17) - 1 }; /* of products up to 2^14, and less than 2^8 from a reduction */
    bool refused = run->plan.way != SIMT_FIXED_LIBRARY;
    iso_status status = ISO_OK;
    if (run->plan.way == SIMT_FIXED_MATRIX) {
        const simt_fixed_matrix product = matrix_product(&run->plan, run->op->workspace, b, later);
        return simt_fixed_matrix_multiply(run->stream, &product);
    }
    if (!refused) {
        if (later && *held + run->plan.depth >= STEPS) {
            status = reduce(run, b);
            *held = 0;
        }
        if (status == ISO_OK) {
            status = multiply_by_library(run, b, later, &refused);
        }
    }
    if (status == ISO_OK && refused) {
        status = multiply_plain(run, b, later);
        *held = 0;
    }
    *held += run->plan.depth;
    return status;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static iso_status join(const fixed_run *run, const fixed_block *b)
{
    enum { LEAST = 2, MOST = 4 }; /* 4 to 16 elements for each work-item */
    const iso_gemm_op *g = run->g;
    const simt_kernel *kernel = run->kernels[FIXED_JOIN];
    const int64_t sums_at = place(run, run->plan.sums, run->plan.sum_bytes);
    const int64_t next_a = g->stride_a ? g->m : 0;
    const int64_t next_b = g->stride_b ? g->n : 0;
    const int64_t a_at = place(run, 0, sizeof(uint32_t)) + b->member * next_a;
    const int64_t b_at = place(run, run->plan.exponents_b, sizeof(uint32_t)) + b->member * next_b;
    const int64_t c_at = g->c.offset / iso_dtype_size(g->dtype) + b->member * g->stride_c;
    int32_t across = 0; /* as many columns at a time as a line has, if they are few */
    while (1 << across < kernel->threads && 1 << across < b->cols) {
        across++;
    }
    const int64_t lines = simt_pieces(b->rows, kernel->threads >> across) * b->members;
    int32_t wide = across + MOST;
    while (wide > across + LEAST &&
           lines * simt_pieces(b->cols, INT64_C(1) << wide) < enough_groups(run)) {
        wide--;
    }
    const float alpha = (float)g->alpha;
    const float beta = (float)g->beta;
    const simt_arg args[] = {
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(sums_at),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(a_at),
        SIMT_ARG(b_at),
        SIMT_ARG(g->k),
        SIMT_MEMORY(g->c.memory),
        SIMT_ARG(c_at),
        SIMT_ARG(g->ldc),
        SIMT_ARG(g->stride_c),
        SIMT_ARG(b->row),
        SIMT_ARG(b->rows),
        SIMT_ARG(b->col),
        SIMT_ARG(b->cols),
        SIMT_ARG(b->rows_held),
        SIMT_ARG(b->cols_held),
        SIMT_ARG(b->members),
        SIMT_ARG(next_a),
        SIMT_ARG(next_b),
        SIMT_ARG(across),
        SIMT_ARG(wide),
        simt_factor(g->dtype, &g->alpha, &alpha),
        simt_factor(g->dtype, &g->beta, &beta),
    };
    const int64_t tiles = lines * simt_pieces(b->cols, INT64_C(1) << wide);
    return SIMT_LAUNCH(run->stream, kernel, groups_for(tiles), args);
}

/* A's residues are made again only if they changed since the last block. */
static iso_status run_block(const fixed_run *run, const fixed_block *b)
{
    const fixed_side a = side_a(run);
    const fixed_side bs = side_b(run);
    const int64_t k = run->g->k;
    int64_t held = 0;
    iso_status status = ISO_OK;
    for (int64_t from = 0; from < k && status == ISO_OK; from += run->plan.depth) {
        const int64_t depth = simt_least(run->plan.depth, k - from);
        if (b->col == 0 || run->plan.depth < k) {
            status = make_residues(run, &a, b, b->row, b->rows, b->rows_held, from, depth);
        }
        if (status == ISO_OK) {
            status = make_residues(run, &bs, b, b->col, b->cols, b->cols_held, from, depth);
        }
        if (status == ISO_OK) {
            status = multiply(run, b, from > 0, &held);
        }
    }
    return status == ISO_OK ? join(run, b) : status;
}

static iso_status run_blocks(const fixed_run *run)
{
    const iso_gemm_op *g = run->g;
    const simt_fixed_plan *p = &run->plan;
    iso_status status = ISO_OK;
    for (int64_t member = 0; member < g->batch; member += p->members) {
        for (int64_t row = 0; row < g->m; row += p->rows) {
            for (int64_t col = 0; col < g->n && status == ISO_OK; col += p->cols) {
                fixed_block b = {
                    .member = member,
                    .members = simt_least(p->members, g->batch - member),
                    .row = row,
                    .rows = simt_least(p->rows, g->m - row),
                    .col = col,
                    .cols = simt_least(p->cols, g->n - col),
                };
                b.rows_held = simt_pieces(b.rows, p->pad) * p->pad;
                b.cols_held = simt_pieces(b.cols, p->pad) * p->pad;
                status = run_block(run, &b);
            }
        }
    }
    return status;
}

static iso_status get_kernels(simt_device *device, const simt_fixed_plan *plan,
                              const simt_kernel **kernels)
{
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < FIXED_KERNELS && status == ISO_OK; i++) {
        status = simt_kernel_get(device, &plan->spec, i, &kernels[i]);
    }
    return status;
}

iso_status simt_fixed_prepare(simt_stream *stream, const iso_op *op)
{
    const simt_kernel *kernels[FIXED_KERNELS];
    simt_fixed_plan plan;
    simt_fixed_plan_make(&plan, stream->device, op->gemm);
    const iso_status status = get_kernels(stream->device, &plan, kernels);
    if (status == ISO_OK && plan.way == SIMT_FIXED_LIBRARY) {
        return simt_bytes_prepare(stream);
    }
    if (status == ISO_OK && plan.way == SIMT_FIXED_MATRIX) {
        return simt_fixed_matrix_prepare(stream->device);
    }
    return status;
}

iso_status simt_fixed_execute(simt_stream *stream, const iso_op *op)
{
    fixed_run run = {.stream = stream, .op = op, .g = op->gemm};
    simt_fixed_plan_make(&run.plan, stream->device, run.g);
    iso_status status = get_kernels(stream->device, &run.plan, run.kernels);
    if (status == ISO_OK && run.g->k > 0) {
        const fixed_side a = side_a(&run);
        const fixed_side b = side_b(&run);
        status = clear(&run, run.plan.planes_a / (int64_t)sizeof(uint32_t));
        if (status == ISO_OK) {
            status = find_exponents(&run, &a, run.plan.a_members);
        }
        if (status == ISO_OK) {
            status = find_exponents(&run, &b, run.plan.b_members);
        }
    }
    return status == ISO_OK ? run_blocks(&run) : status;
}
