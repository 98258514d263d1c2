/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_fixed.c - the fixed product on a device: clause 7 of docs/bits.md. C is computed in blocks,
 * so that residues and sums fit the scratch memory that is allowed; kernels/gemm_fixed.cl describes
 * the steps. How C and k are divided changes no bit, because the sums are exact.
 */
#include "backends/simt/gemm.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>

enum { KERNEL_CLEAR, KERNEL_EXPONENTS, KERNEL_RESIDUES, KERNEL_MULTIPLY, KERNEL_JOIN, KERNELS };
enum { VALUE_THREADS, VALUE_DTYPE, VALUE_F64, VALUE_MODULI, VALUE_SIDE, VALUE_TM };

static const char *const parts[] = {kernel_text_dialect, kernel_text_gemm_fixed};
static const simt_text text = {
    .name = "gemm_fixed",
    .parts = parts,
    .part_count = 2,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "ISO_MODULI", "ISO_SIDE", "ISO_TM"},
    .kernels = {[KERNEL_CLEAR] = "fixed_clear",
                [KERNEL_EXPONENTS] = "fixed_exponents",
                [KERNEL_RESIDUES] = "fixed_residues",
                [KERNEL_MULTIPLY] = "fixed_multiply",
                [KERNEL_JOIN] = "fixed_join"},
};

/* ---- how many moduli ------------------------------------------------------------------------- */

enum { REACHES = 4 };

/* Up to `reach[i]` terms, a sum is determined by `least + i` moduli: their product exceeds twice
 * the number of terms times 2^(2p), with p from clause 7. */
typedef struct fixed_moduli {
    int32_t least;
    int64_t reach[REACHES];
} fixed_moduli;

static const fixed_moduli moduli[] = {
    [ISO_F16] = {6, {114910, 27463533, 6399003395, 1465371777600}},
    [ISO_BF16] = {6, {114910, 27463533, 6399003395, 1465371777600}},
    [ISO_F32] = {8, {24410, 5589949, 1268918584, 282968844428}},
    [ISO_F64] = {15, {1762, 340108, 64960751, 11757896029}},
};

/* 0: k is too large for all of them. */
static int32_t moduli_for(iso_dtype dtype, int64_t k)
{
    const fixed_moduli *row = &moduli[dtype];
    for (int32_t i = 0; i < REACHES; i++) {
        if (k <= row->reach[i]) {
            return row->least + i;
        }
    }
    return 0;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/*
 * side, tm   rows and columns of a group's tile of sums, and of a work-item's; a group has
 *            (side / tm)^2 work-items
 * room       scratch memory for residues and sums that a product may use, in bytes, if a single
 *            tile does not need more
 * depth      the most steps of k in one part. A sum of residues stays below 2^31 up to 2^17 steps
 */
typedef struct fixed_shape {
    int32_t side, tm;
    int64_t room, depth;
} fixed_shape;

static const fixed_shape shapes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = {64, 4, INT64_C(1) << 30, 65536},
    [SIMT_CLASS_WAVE32] = {64, 4, INT64_C(1) << 30, 65536},
    [SIMT_CLASS_WAVE64] = {64, 4, INT64_C(1) << 30, 65536},
    [SIMT_CLASS_CPU] = {32, 4, INT64_C(1) << 26, 65536},
    [SIMT_CLASS_SMALL] = {4, 2, INT64_C(1) << 14, 192},
};

enum { TILE_DEPTH = 64, TILE_VECTORS = 32, ALIGN = 256 }; /* the first two: see the kernels */

typedef struct fixed_plan {
    simt_spec spec;
    int32_t count;                             /* of moduli */
    int64_t members, rows, cols, depth, pitch; /* of a block */
    int64_t a_members, b_members;              /* for exponents: 1 if all share one matrix */
    /* Places in scratch memory, in bytes. */
    int64_t exponents_b, planes_a, planes_b, sums, bytes;
} fixed_plan;

static int64_t round_up(int64_t n, int64_t size)
{
    return simt_pieces(n, size) * size;
}

static fixed_shape shape_for(const simt_limits *limits)
{
    const fixed_shape s = shapes[limits->device_class];
    const int32_t threads = s.side / s.tm * (s.side / s.tm);
    return threads <= limits->threads_max ? s : shapes[SIMT_CLASS_SMALL];
}

static simt_spec spec_for(const simt_limits *limits, iso_dtype dtype, int32_t count)
{
    const fixed_shape s = shape_for(limits);
    return (simt_spec){.text = &text,
                       .values = {[VALUE_THREADS] = s.side / s.tm * (s.side / s.tm),
                                  [VALUE_DTYPE] = (int32_t)dtype,
                                  [VALUE_F64] = dtype == ISO_F64,
                                  [VALUE_MODULI] = count,
                                  [VALUE_SIDE] = s.side,
                                  [VALUE_TM] = s.tm}};
}

static int64_t block_bytes(const fixed_plan *p)
{
    return p->count * p->members *
           ((p->rows + p->cols) * p->pitch + p->rows * p->cols * (int64_t)sizeof(int32_t));
}

static void set_depth(fixed_plan *p, int64_t depth)
{
    p->depth = depth;
    p->pitch = round_up(depth, TILE_DEPTH);
}

/* Makes the block smaller until it fits. */
static void choose_block(fixed_plan *p, const fixed_shape *s, const iso_gemm_op *g)
{
    p->members = g->batch;
    p->rows = g->m;
    p->cols = g->n;
    set_depth(p, simt_least(g->k, s->depth));
    while (block_bytes(p) > s->room) {
        if (p->members > 1) {
            p->members = simt_pieces(p->members, 2);
        } else if (p->rows >= p->cols && p->rows > s->side) {
            p->rows = round_up(simt_pieces(p->rows, 2), s->side);
        } else if (p->cols > s->side) {
            p->cols = round_up(simt_pieces(p->cols, 2), s->side);
        } else if (p->depth > TILE_DEPTH) {
            set_depth(p, round_up(simt_pieces(p->depth, 2), TILE_DEPTH));
        } else {
            return;
        }
    }
}

static void plan_make(fixed_plan *p, const simt_limits *limits, const iso_gemm_op *g)
{
    const fixed_shape s = shape_for(limits);
    *p = (fixed_plan){.count = moduli_for(g->dtype, g->k)};
    p->spec = spec_for(limits, g->dtype, p->count);
    p->a_members = g->stride_a ? g->batch : 1;
    p->b_members = g->stride_b ? g->batch : 1;
    choose_block(p, &s, g);
    const int64_t key = (int64_t)sizeof(uint32_t);
    const int64_t plane = p->count * p->members * p->pitch;
    p->exponents_b = round_up(p->a_members * g->m * key, ALIGN);
    p->planes_a = p->exponents_b + round_up(p->b_members * g->n * key, ALIGN);
    p->planes_b = p->planes_a + round_up(plane * p->rows, ALIGN);
    p->sums = p->planes_b + round_up(plane * p->cols, ALIGN);
    p->bytes = p->sums + p->count * p->members * p->rows * p->cols * (int64_t)sizeof(int32_t);
}

iso_status simt_fixed_supports(const simt_device *device, const iso_gemm_op *g)
{
    if (moduli_for(g->dtype, g->k) == 0) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "gemm: variant fixed: k is %" PRId64
                                  ", and this backend's sums of %s reach only %" PRId64 " terms",
                                  g->k, iso_dtype_name(g->dtype),
                                  moduli[g->dtype].reach[REACHES - 1]);
    }
    return ISO_OK;
}

int64_t simt_fixed_workspace(const simt_device *device, const iso_gemm_op *g)
{
    fixed_plan plan;
    plan_make(&plan, &device->limits, g);
    return plan.bytes;
}

void simt_fixed_describe(const simt_device *device, const iso_gemm_op *g, iso_op_info *out)
{
    fixed_plan plan;
    plan_make(&plan, &device->limits, g);
    (void)snprintf(out->kernel, sizeof out->kernel, "gemm_fixed_%s %" PRId32 " moduli",
                   iso_dtype_name(g->dtype), plan.count);
}

void simt_fixed_each(const simt_limits *limits, iso_dtype dtype, simt_visit *visit, void *context)
{
    for (int32_t i = 0; i < REACHES; i++) {
        const simt_spec spec = spec_for(limits, dtype, moduli[dtype].least + i);
        visit(&spec, context);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct fixed_run {
    simt_stream *stream;
    const iso_op *op;
    const iso_gemm_op *g;
    fixed_plan plan;
    const simt_kernel *kernels[KERNELS];
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

/* A place in scratch memory, in elements of `size` bytes. */
static int64_t place(const fixed_run *run, int64_t bytes, int64_t size)
{
    return (run->op->workspace.offset + bytes) / size;
}

static iso_status clear(const fixed_run *run, int64_t count)
{
    const int64_t at = place(run, 0, sizeof(uint32_t));
    const simt_arg args[] = {SIMT_MEMORY(run->op->workspace.memory), SIMT_ARG(at), SIMT_ARG(count)};
    const int32_t threads = run->kernels[KERNEL_CLEAR]->threads;
    return SIMT_LAUNCH(run->stream, run->kernels[KERNEL_CLEAR],
                       groups_for(simt_pieces(count, threads)), args);
}

static iso_status find_exponents(const fixed_run *run, const fixed_side *side, int64_t members)
{
    enum { PART = 1024 };
    const iso_gemm_op *g = run->g;
    const simt_kernel *kernel = run->kernels[KERNEL_EXPONENTS];
    const int64_t x_at = side->from->offset / iso_dtype_size(g->dtype);
    const int64_t at = place(run, side->exponents, sizeof(uint32_t));
    const int64_t part = PART;
    const int64_t strips =
        side->k_step == 1 ? side->vectors : simt_pieces(side->vectors, kernel->threads);
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
        SIMT_ARG(part),
    };
    return SIMT_LAUNCH(run->stream, kernel, groups_for(strips * simt_pieces(g->k, part) * members),
                       args);
}

/* The residues of `count` vectors of each member of the block, from `first` on. */
static iso_status make_residues(const fixed_run *run, const fixed_side *side, int64_t member,
                                int64_t members, int64_t first, int64_t count, int64_t from,
                                int64_t depth)
{
    const iso_gemm_op *g = run->g;
    const int64_t x_at = side->from->offset / iso_dtype_size(g->dtype) + member * side->stride;
    const int64_t at =
        place(run, side->exponents, sizeof(uint32_t)) + (side->stride ? member * side->vectors : 0);
    const int64_t next = side->stride ? side->vectors : 0;
    const int64_t planes_at = place(run, side->planes, sizeof(uint32_t));
    const simt_arg args[] = {
        SIMT_MEMORY(side->from->memory),
        SIMT_ARG(x_at),
        SIMT_ARG(side->step),
        SIMT_ARG(side->k_step),
        SIMT_ARG(side->stride),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(at),
        SIMT_ARG(next),
        SIMT_ARG(members),
        SIMT_ARG(first),
        SIMT_ARG(count),
        SIMT_ARG(from),
        SIMT_ARG(depth),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(planes_at),
        SIMT_ARG(run->plan.pitch),
    };
    const int64_t tiles = simt_pieces(count, TILE_VECTORS) * (run->plan.pitch / TILE_DEPTH);
    return SIMT_LAUNCH(run->stream, run->kernels[KERNEL_RESIDUES], groups_for(tiles * members),
                       args);
}

/* A block of C. */
typedef struct fixed_block {
    int64_t member, members, row, rows, col, cols;
} fixed_block;

static iso_status multiply(const fixed_run *run, const fixed_block *b, bool later)
{
    const int64_t a_at = place(run, run->plan.planes_a, sizeof(uint32_t));
    const int64_t b_at = place(run, run->plan.planes_b, sizeof(uint32_t));
    const int64_t sums_at = place(run, run->plan.sums, sizeof(int32_t));
    const int32_t add = later;
    const int32_t side = run->plan.spec.values[VALUE_SIDE];
    const simt_arg args[] = {
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(a_at),
        SIMT_ARG(b_at),
        SIMT_ARG(b->rows),
        SIMT_ARG(b->cols),
        SIMT_ARG(b->members),
        SIMT_ARG(run->plan.pitch),
        SIMT_MEMORY(run->op->workspace.memory),
        SIMT_ARG(sums_at),
        SIMT_ARG(add),
    };
    const int64_t tiles = simt_pieces(b->rows, side) * simt_pieces(b->cols, side);
    return SIMT_LAUNCH(run->stream, run->kernels[KERNEL_MULTIPLY],
                       groups_for(tiles * run->plan.count * b->members), args);
}

static iso_status join(const fixed_run *run, const fixed_block *b)
{
    const iso_gemm_op *g = run->g;
    const simt_kernel *kernel = run->kernels[KERNEL_JOIN];
    const int64_t sums_at = place(run, run->plan.sums, sizeof(int32_t));
    const int64_t next_a = g->stride_a ? g->m : 0;
    const int64_t next_b = g->stride_b ? g->n : 0;
    const int64_t a_at = place(run, 0, sizeof(uint32_t)) + b->member * next_a;
    const int64_t b_at = place(run, run->plan.exponents_b, sizeof(uint32_t)) + b->member * next_b;
    const int64_t c_at = g->c.offset / iso_dtype_size(g->dtype) + b->member * g->stride_c;
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
        SIMT_ARG(b->members),
        SIMT_ARG(next_a),
        SIMT_ARG(next_b),
        simt_factor(g->dtype, &g->alpha, &alpha),
        simt_factor(g->dtype, &g->beta, &beta),
    };
    return SIMT_LAUNCH(run->stream, kernel,
                       groups_for(simt_pieces(b->rows * b->cols * b->members, kernel->threads)),
                       args);
}

/* A's residues are made again only if they changed since the last block. */
static iso_status run_block(const fixed_run *run, const fixed_block *b)
{
    const fixed_side a = side_a(run);
    const fixed_side bs = side_b(run);
    const int64_t k = run->g->k;
    iso_status status = ISO_OK;
    for (int64_t from = 0; from < k && status == ISO_OK; from += run->plan.depth) {
        const int64_t depth = simt_least(run->plan.depth, k - from);
        if (b->col == 0 || run->plan.depth < k) {
            status = make_residues(run, &a, b->member, b->members, b->row, b->rows, from, depth);
        }
        if (status == ISO_OK) {
            status = make_residues(run, &bs, b->member, b->members, b->col, b->cols, from, depth);
        }
        if (status == ISO_OK) {
            status = multiply(run, b, from > 0);
        }
    }
    return status == ISO_OK ? join(run, b) : status;
}

static iso_status run_blocks(const fixed_run *run)
{
    const iso_gemm_op *g = run->g;
    const fixed_plan *p = &run->plan;
    iso_status status = ISO_OK;
    for (int64_t member = 0; member < g->batch; member += p->members) {
        for (int64_t row = 0; row < g->m; row += p->rows) {
            for (int64_t col = 0; col < g->n && status == ISO_OK; col += p->cols) {
                const fixed_block b = {
                    .member = member,
                    .members = simt_least(p->members, g->batch - member),
                    .row = row,
                    .rows = simt_least(p->rows, g->m - row),
                    .col = col,
                    .cols = simt_least(p->cols, g->n - col),
                };
                status = run_block(run, &b);
            }
        }
    }
    return status;
}

static iso_status get_kernels(simt_device *device, const fixed_plan *plan,
                              const simt_kernel **kernels)
{
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < KERNELS && status == ISO_OK; i++) {
        status = simt_kernel_get(device, &plan->spec, i, &kernels[i]);
    }
    return status;
}

iso_status simt_fixed_prepare(simt_device *device, const iso_gemm_op *g)
{
    const simt_kernel *kernels[KERNELS];
    fixed_plan plan;
    plan_make(&plan, &device->limits, g);
    return get_kernels(device, &plan, kernels);
}

iso_status simt_fixed_execute(simt_stream *stream, const iso_op *op)
{
    fixed_run run = {.stream = stream, .op = op, .g = op->gemm};
    plan_make(&run.plan, &stream->device->limits, run.g);
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
