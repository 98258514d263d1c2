/* SPDX-License-Identifier: Apache-2.0 */
/* gemv.c - products of a matrix and a vector: how kernels/gemv.cl is launched. Other variants
 * run as products of matrices with one column. */
#include "backends/simt/gemm.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>

enum { KERNEL_TILED = 0, KERNEL_JOIN = 1, KERNEL_DIRECT = 2 };

static const char *const gemv_parts[] = {kernel_text_dialect, kernel_text_gemv_parts,
                                         kernel_text_gemv};
static const simt_text gemv_text = {
    .name = "gemv",
    .parts = gemv_parts,
    .part_count = 3,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "ISO_GROUPS", "GEMV_ALONG",
                "GEMV_WORDS", "?GEMV_SIDE"},
    .kernels = {[KERNEL_TILED] = "gemv_tiled",
                [KERNEL_JOIN] = "gemv_join",
                [KERNEL_DIRECT] = "gemv_direct"},
};

/* Slices are copied without registers. */
static const char *const ring_parts[] = {kernel_text_dialect, kernel_text_gemv_parts,
                                         kernel_text_gemv_ring};
static const simt_text ring_text = {
    .name = "gemv_ring",
    .parts = ring_parts,
    .part_count = 3,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "ISO_GROUPS", "GEMV_ALONG", "GEMV_COPY",
                "GEMV_READ", "GEMV_DEEP", "ISO_WAIT", "ISO_RING"},
    .kernels = {[KERNEL_TILED] = "gemv_ring", [KERNEL_JOIN] = "gemv_join"},
};

/* Rings of gemv_ring.cl: four teams copy if copies are short, else two. A work-item reads the
 * elements of a chain READ_ALONG bytes at a time, and those of neighbouring chains READ_ACROSS
 * bytes at a time, or one element. */
enum {
    TEAM = 32,
    COPIERS_OF_SHORT = 4,
    COPIERS_OF_LONG = 2,
    SHORT = 4, /* bytes of a copy */
    LONG = 16,
    LINE_BYTES = 256,
    SLICE_BYTES = 8192,
    READ_ALONG = 16,
    READ_ACROSS = 4,
    RING_STAGES = 4,
    RING_GROUPS = 4
};

static int32_t read_of(bool along, int32_t size)
{
    return along ? READ_ALONG : size > READ_ACROSS ? size : READ_ACROSS;
}

static int32_t copy_of(iso_dtype dtype, bool wide)
{
    const int32_t size = (int32_t)iso_dtype_size(dtype);
    return wide ? LONG : size > SHORT ? size : SHORT;
}

/*
 * groups  groups that should fit one unit at once
 * wanted  groups for each unit that are enough
 * words   words of a tile of A that a work-item copies; 0 if a group runs as a loop
 * along   if a group runs as a loop and A is contiguous along k: chains that a work-item runs side
 *         by side
 * across  the same if A is not contiguous along k
 * height  if A is contiguous along k: the most rows of a tile, which reads the longer parts of them
 */
typedef struct shape {
    int32_t threads, groups, wanted, words, along, across, height;
} shape;

static const shape shapes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = {.threads = 128, .groups = 6, .wanted = 2, .words = 8, .height = 64},
    [SIMT_CLASS_WAVE32] = {.threads = 256, .groups = 2, .wanted = 8, .words = 4},
    [SIMT_CLASS_WAVE64] = {.threads = 256, .groups = 2, .wanted = 8, .words = 4},
    [SIMT_CLASS_CPU] = {.threads = 4, .groups = 1, .along = 16, .across = 64},
    [SIMT_CLASS_SMALL] = {.threads = 4, .groups = 1, .wanted = 8, .words = 4},
};

static const shape *shape_of(const simt_limits *limits)
{
    const shape *usual = &shapes[limits->device_class];
    return usual->threads <= limits->threads_max ? usual : &shapes[SIMT_CLASS_SMALL];
}

/* `copy`: bytes that a copy moves, if slices are copied without registers, else 0. */
static simt_spec spec_for(const simt_limits *limits, iso_dtype dtype, bool along, int32_t copy)
{
    if (copy) {
        const int32_t size = (int32_t)iso_dtype_size(dtype);
        const int32_t read = read_of(along, size);
        const int32_t copiers = copy < LONG ? COPIERS_OF_SHORT : COPIERS_OF_LONG;
        const int32_t line = TEAM * copy < LINE_BYTES ? TEAM * copy : LINE_BYTES;
        const int32_t deep = along ? line / size : SLICE_BYTES / (TEAM * read);
        return (simt_spec){
            .text = &ring_text,
            .values = {(1 + copiers) * TEAM, (int32_t)dtype, dtype == ISO_F64, RING_GROUPS, along,
                       copy, read, deep, RING_STAGES - 2, 1},
        };
    }
    const shape *s = shape_of(limits);
    return (simt_spec){
        .text = &gemv_text,
        .values = {s->threads, (int32_t)dtype, dtype == ISO_F64, s->groups, along, s->words,
                   along ? s->along : s->across},
    };
}

extern const simt_operation simt_gemm;

/* ---- planning -------------------------------------------------------------------------------- */

typedef struct plan {
    bool along;       /* rows of the stored A are rows of op(A) */
    bool direct;      /* without tiles */
    int32_t shift;    /* a row of a tile has 2^shift words */
    int64_t height;   /* rows of op(A) that a group computes */
    int64_t segments; /* if there are several, gemv_join adds them */
    int64_t groups;
    int64_t work_bytes;
    int64_t items; /* of a direct plan */
    int32_t copy;  /* bytes that a copy of a ring moves; 0 if there is no ring */
} plan;

static int64_t pieces(int64_t n, int64_t size)
{
    return n > 0 ? (n - 1) / size + 1 : 1;
}

/* How much of their last round the groups of a height fill, if they take more than one. */
static double filled(const plan *p, const simt_limits *limits, const iso_gemv_op *op,
                     const shape *s, int64_t height)
{
    const double rounds = (double)pieces(op->m, height) * (double)p->segments * (double)op->batch /
                          ((double)limits->units * s->groups);
    const double whole = rounds < INT32_MAX ? (double)(int64_t)rounds : rounds;
    return rounds <= 1 ? 1 : rounds / (whole + (rounds > whole));
}

/* Halves the number of chains in a tile as long as half of them would still cover op(A), or there
 * are too few groups. The tile then covers a longer part of each chain, at most a whole segment.
 * Fewer chains in a tile give more groups, and more loads in flight for each chain, but leave more
 * work-items without one. The number is halved once more if the last round would be much less full
 * otherwise. */
static void plan_tile(plan *p, const simt_limits *limits, const iso_gemv_op *op, const shape *s)
{
    enum { WORD_BYTES = 16 };
    const int64_t word = WORD_BYTES / iso_dtype_size(op->dtype);
    const int64_t elements = word * s->threads * s->words; /* of a tile */
    const int64_t least = p->along ? 1 : word;             /* chains of a tile */
    const int64_t wanted = (int64_t)limits->units * s->wanted;
    int64_t across;
    p->height = s->threads * (!p->along && word == 8 ? 2 : 1);
    if (p->along && s->height && elements / s->height <= SIMT_GEMM_SEGMENT) {
        p->height = s->height;
    }
    while (
        p->height > least && elements / p->height < SIMT_GEMM_SEGMENT &&
        (p->height / 2 >= op->m || pieces(op->m, p->height) * p->segments * op->batch < wanted)) {
        p->height /= 2;
    }
    if (p->height > least && elements / p->height < SIMT_GEMM_SEGMENT &&
        filled(p, limits, op, s, p->height) * 1.2 < filled(p, limits, op, s, p->height / 2)) {
        p->height /= 2;
    }
    across = (p->along ? elements / p->height : p->height) / word;
    for (p->shift = 0; across >> p->shift > 1; p->shift++) {
    }
}

/* With enough work-items that each runs the chains of a word, their loads fill the memory's pipe
 * without tiles. */
static void plan_direct(plan *p, const simt_limits *limits, const iso_gemv_op *op, const shape *s)
{
    enum { WORD_BYTES = 16, ITEMS_A_UNIT = 512 };
    const int64_t word = WORD_BYTES / iso_dtype_size(op->dtype);
    const double items = (double)pieces(op->m, word) * (double)p->segments * (double)op->batch;
    const bool uneven = op->m % word != 0 && op->m < 64 * word;
    p->direct = !p->along && !uneven && s->threads > 4 && items < 0x1p62 &&
                items >= (double)limits->units * ITEMS_A_UNIT;
    p->items = p->direct ? (int64_t)items : 0;
}

/* Whether every row of the stored A is aligned to words of 16 bytes. */
static bool is_wide(const simt_device *device, const iso_gemv_op *op)
{
    const int64_t bytes = 16;
    const int64_t size = iso_dtype_size(op->dtype);
    return simt_alignment(device, op->a) >= bytes && op->lda * size % bytes == 0 &&
           op->stride_a * size % bytes == 0;
}

/* A ring needs groups that are full of rows, and whole copies. If A is contiguous along rows of
 * op(A), the rows of a group must be whole copies too. */
static void plan_ring(plan *p, const simt_device *device, const iso_gemv_op *op)
{
    const int32_t size = (int32_t)iso_dtype_size(op->dtype);
    const int64_t word = copy_of(op->dtype, true) / size;
    const bool wide = is_wide(device, op) && (p->along || op->m % word == 0);
    const int32_t copy = copy_of(op->dtype, wide);
    const int64_t each = copy / size;
    const int32_t height = p->along ? TEAM : TEAM * read_of(false, size) / size;
    if (!device->limits.ring || op->m < height || simt_alignment(device, op->a) < copy ||
        op->lda % each != 0 || op->stride_a % each != 0 || (!p->along && op->m % each != 0)) {
        return;
    }
    p->copy = copy;
    p->direct = false;
    p->height = height;
}

static void plan_make(plan *p, const simt_device *device, const iso_gemv_op *op)
{
    enum { GROUPS_MOST = 1 << 22 /* beyond this a group handles several tiles */ };
    const simt_limits *limits = &device->limits;
    const shape *s = shape_of(limits);
    *p = (plan){.along = op->trans == ISO_NO_TRANS, .segments = pieces(op->k, SIMT_GEMM_SEGMENT)};
    if (s->words) {
        plan_tile(p, limits, op, s);
        plan_direct(p, limits, op, s);
        plan_ring(p, device, op);
    } else {
        p->height = (int64_t)s->threads * (p->along ? s->along : s->across);
    }
    if (p->segments > 1) {
        p->work_bytes = p->segments * op->batch * op->m * simt_gemm_acc_bytes(op->dtype);
    }
    p->groups = p->direct ? pieces(p->items, s->threads)
                          : pieces(op->m, p->height) * p->segments * op->batch;
    p->groups = p->groups < GROUPS_MOST ? p->groups : GROUPS_MOST;
}

/* ---- entries --------------------------------------------------------------------------------- */

static int gemv_needs(const iso_op *op)
{
    return op->gemv->dtype == ISO_F64 ? SIMT_NEEDS_F64 : SIMT_NEEDS_F32;
}

static iso_status gemv_supports(simt_device *device, const iso_op *op)
{
    gemv_product product;
    gemv_product_of(op, &product);
    return simt_gemm.supports(device, &product.op);
}

static int64_t gemv_workspace(simt_device *device, const iso_op *op)
{
    gemv_product product;
    plan p;
    if (op->gemv->variant == ISO_VARIANT_TILED) {
        plan_make(&p, device, op->gemv);
        return p.work_bytes;
    }
    gemv_product_of(op, &product);
    return simt_gemm.workspace(device, &product.op);
}

static void gemv_describe(simt_device *device, const iso_op *op, iso_op_info *out)
{
    const iso_gemv_op *g = op->gemv;
    gemv_product product;
    plan p;
    gemv_product_of(op, &product);
    simt_gemm.describe(device, &product.op, out);
    if (g->variant == ISO_VARIANT_TILED) {
        plan_make(&p, device, g);
        const char *apart = p.segments > 1 ? ", segments apart" : "";
        if (p.copy) {
            (void)snprintf(out->kernel, sizeof out->kernel, "gemv_ring_%s, words of %d bytes%s",
                           iso_dtype_name(g->dtype), (int)p.copy, apart);
        } else if (p.direct) {
            (void)snprintf(out->kernel, sizeof out->kernel, "gemv_direct_%s%s",
                           iso_dtype_name(g->dtype), apart);
        } else {
            (void)snprintf(out->kernel, sizeof out->kernel,
                           "gemv_tiled_%s, %" PRId64 " rows a group%s", iso_dtype_name(g->dtype),
                           p.height, apart);
        }
    }
}

static iso_status run_tiled(simt_stream *stream, const iso_op *of)
{
    const iso_gemv_op *op = of->gemv;
    const int64_t size = iso_dtype_size(op->dtype);
    const int64_t a_at = op->a.offset / size, x_at = op->x.offset / size;
    const int64_t y_at = op->y.offset / size;
    const int64_t work_at = of->workspace.offset / simt_gemm_acc_bytes(op->dtype);
    const float alpha = (float)op->alpha, beta = (float)op->beta;
    const simt_kernel *kernel = NULL;
    plan p;
    plan_make(&p, stream->device, op);
    const simt_spec spec = spec_for(&stream->device->limits, op->dtype, p.along, p.copy);
    const int32_t wide = is_wide(stream->device, op);
    const int32_t which = p.direct ? KERNEL_DIRECT : KERNEL_TILED;
    iso_status status = simt_kernel_get(stream->device, &spec, which, &kernel);
    if (status != ISO_OK) {
        return status;
    }
    const simt_arg args[] = {
        SIMT_MEMORY(op->a.memory),
        SIMT_ARG(a_at),
        SIMT_ARG(op->lda),
        SIMT_ARG(op->stride_a),
        SIMT_MEMORY(op->x.memory),
        SIMT_ARG(x_at),
        SIMT_ARG(op->inc_x),
        SIMT_ARG(op->stride_x),
        SIMT_MEMORY(op->y.memory),
        SIMT_ARG(y_at),
        SIMT_ARG(op->inc_y),
        SIMT_ARG(op->stride_y),
        SIMT_MEMORY(of->workspace.memory),
        SIMT_ARG(work_at),
        SIMT_ARG(op->m),
        SIMT_ARG(op->k),
        SIMT_ARG(op->batch),
        simt_factor(op->dtype, &op->alpha, &alpha),
        simt_factor(op->dtype, &op->beta, &beta),
        SIMT_ARG(p.shift),
        SIMT_ARG(wide),
    };
    status = simt_launch(stream, kernel, p.groups, args, (int32_t)(sizeof args / sizeof *args));
    if (status != ISO_OK || p.segments == 1) {
        return status;
    }
    status = simt_kernel_get(stream->device, &spec, KERNEL_JOIN, &kernel);
    if (status != ISO_OK) {
        return status;
    }
    const simt_arg joined[] = {
        SIMT_MEMORY(op->y.memory),
        SIMT_ARG(y_at),
        SIMT_ARG(op->inc_y),
        SIMT_ARG(op->stride_y),
        SIMT_MEMORY(of->workspace.memory),
        SIMT_ARG(work_at),
        SIMT_ARG(op->m),
        SIMT_ARG(op->batch),
        SIMT_ARG(p.segments),
        simt_factor(op->dtype, &op->alpha, &alpha),
        simt_factor(op->dtype, &op->beta, &beta),
    };
    const int64_t groups = pieces(op->m * op->batch, kernel->threads);
    return simt_launch_next(stream, kernel, groups < INT32_MAX ? groups : INT32_MAX, joined,
                            (int32_t)(sizeof joined / sizeof *joined));
}

static iso_status gemv_execute(simt_stream *stream, const iso_op *op)
{
    gemv_product product;
    if (op->gemv->variant == ISO_VARIANT_TILED) {
        return run_tiled(stream, op);
    }
    gemv_product_of(op, &product);
    return simt_gemm.execute(stream, &product.op);
}

static iso_status gemv_prepare(simt_stream *stream, const iso_op *op)
{
    const simt_limits *limits = &stream->device->limits;
    const simt_kernel *kernel = NULL;
    gemv_product product;
    if (op->gemv->variant == ISO_VARIANT_TILED) {
        plan p;
        plan_make(&p, stream->device, op->gemv);
        const simt_spec spec = spec_for(limits, op->gemv->dtype, p.along, p.copy);
        return simt_kernel_get(stream->device, &spec, p.direct ? KERNEL_DIRECT : KERNEL_TILED,
                               &kernel);
    }
    gemv_product_of(op, &product);
    return simt_gemm.prepare(stream, &product.op);
}

static void gemv_each(const simt_limits *limits, simt_visit *visit, void *context)
{
    for (iso_dtype dtype = ISO_F16; dtype_get(dtype); dtype++) {
        if (!dtype_get(dtype)->floating || !(dtype == ISO_F64 ? limits->f64 : limits->f32_exact)) {
            continue;
        }
        for (int along = 0; along < 2; along++) {
            const simt_spec spec = spec_for(limits, dtype, along, 0);
            visit(&spec, context);
            for (int wide = 0; wide < 2 && limits->ring; wide++) {
                const simt_spec ring = spec_for(limits, dtype, along, copy_of(dtype, wide));
                visit(&ring, context);
            }
        }
    }
}

const simt_operation simt_gemv = {
    .variant_at = offsetof(iso_gemv_op, variant),
    .library_at = offsetof(iso_gemv_op, library),
    .as_product = gemv_product_of,
    .needs = gemv_needs,
    .supports = gemv_supports,
    .workspace = gemv_workspace,
    .execute = gemv_execute,
    .prepare = gemv_prepare,
    .describe = gemv_describe,
    .each = gemv_each,
};
