/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_plan.c - plans a fixed product: how many moduli, how their bytes are multiplied, and which
 * blocks of C fit the scratch memory that is allowed. None of that changes a bit, because the sums
 * are exact. */
#include "backends/simt/fixed.h"
#include "backends/simt/fixed_matrix.h"
#include "backends/simt/fixed_moduli.h"
#include "common/dtype.h"
#include "kernel_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_THREADS, VALUE_DTYPE, VALUE_F64, VALUE_MODULI, VALUE_SIDE, VALUE_TM, VALUE_WIDE };

static const char *const parts[] = {kernel_text_dialect, kernel_text_fixed_moduli,
                                    kernel_text_gemm_fixed, kernel_text_fixed_weights,
                                    kernel_text_fixed_join};
static const simt_text text = {
    .name = "gemm_fixed",
    .parts = parts,
    .part_count = 5,
    .defines = {"ISO_THREADS", "ISO_DTYPE", "?ISO_USE_F64", "ISO_MODULI", "ISO_SIDE", "ISO_TM",
                "?ISO_WIDE"},
    .kernels = {[FIXED_CLEAR] = "fixed_clear",
                [FIXED_EXPONENTS] = "fixed_exponents",
                [FIXED_RESIDUES] = "fixed_residues",
                [FIXED_MULTIPLY] = "fixed_multiply",
                [FIXED_REDUCE] = "fixed_reduce",
                [FIXED_JOIN] = "fixed_join"},
};

/* ---- how many moduli ------------------------------------------------------------------------- */

/* 0: k is too large for all of them. */
static int32_t moduli_for(iso_dtype dtype, int64_t k)
{
    const fixed_moduli *row = &fixed_moduli_of[dtype];
    for (int32_t i = 0; i < FIXED_REACHES; i++) {
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
 *            tile does not need more; 0: a share of the device's memory
 * depth      the most steps of k in one part. A sum of residues stays below 2^31 up to 2^17 steps
 */
typedef struct fixed_shape {
    int32_t side, tm;
    int64_t room, depth;
} fixed_shape;

static const fixed_shape shapes[SIMT_CLASS_COUNT] = {
    [SIMT_CLASS_WARP32] = {64, 4, 0, 65536},
    [SIMT_CLASS_WAVE32] = {64, 4, 0, 65536},
    [SIMT_CLASS_WAVE64] = {64, 4, 0, 65536},
    [SIMT_CLASS_CPU] = {32, 4, INT64_C(1) << 26, 65536},
    [SIMT_CLASS_SMALL] = {4, 2, INT64_C(1) << 14, 192},
};

/* What each way wants. Vendors' products of bytes want sizes and lines that are multiples of 16. */
static const struct {
    int64_t pad;
    int32_t sum_bytes;
} ways[] = {
    [SIMT_FIXED_PLAIN] = {1, 1},
    [SIMT_FIXED_LIBRARY] = {16, 4},
    [SIMT_FIXED_MATRIX] = {SIMT_FIXED_MATRIX_PAD, 1},
};

enum {
    ALIGN = 256,
    WIDE = 2048,     /* rows or columns that give a library enough work */
    MATRICES = 65535 /* the most in one call of a library */
};

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

static simt_spec spec_for(const simt_limits *limits, iso_dtype dtype, int32_t count,
                          simt_fixed_way way)
{
    const fixed_shape s = shape_for(limits);
    return (simt_spec){.text = &text,
                       .values = {[VALUE_THREADS] = s.side / s.tm * (s.side / s.tm),
                                  [VALUE_DTYPE] = (int32_t)dtype,
                                  [VALUE_F64] = dtype == ISO_F64,
                                  [VALUE_MODULI] = count,
                                  [VALUE_SIDE] = s.side,
                                  [VALUE_TM] = s.tm,
                                  [VALUE_WIDE] = ways[way].sum_bytes == 4}};
}

/* A call of a library costs more than a small product does, and matrix units have large tiles. */
static simt_fixed_way way_for(simt_device *device, const iso_gemm_op *g)
{
    enum { LEAST = 64 * 64 * 64 };
    if ((double)g->m * (double)g->n * (double)g->k < LEAST) {
        return SIMT_FIXED_PLAIN;
    }
    return simt_bytes_usable(device)                   ? SIMT_FIXED_LIBRARY
           : simt_unit_usable(device, SIMT_UNIT_BYTES) ? SIMT_FIXED_MATRIX
                                                       : SIMT_FIXED_PLAIN;
}

static int64_t block_bytes(const simt_fixed_plan *p)
{
    const int64_t rows = round_up(p->rows, p->pad);
    const int64_t cols = round_up(p->cols, p->pad);
    return p->count * p->members * ((rows + cols) * p->pitch + rows * cols * p->sum_bytes);
}

static void set_depth(simt_fixed_plan *p, int64_t depth)
{
    p->depth = depth;
    p->pitch = round_up(depth, FIXED_TILE_DEPTH);
}

/* A share of the device's memory (of its largest buffer, if that is smaller) that leaves most of it
 * to the program. More than 8 GiB makes no product of bytes faster, and the kernels count sums and
 * tiles in 32 bits. */
static int64_t room_for(const fixed_shape *s, const simt_limits *limits)
{
    enum { SHARE = 16 };
    const int64_t most = INT64_C(8) << 30;
    const int64_t usual = INT64_C(1) << 30;
    return s->room                 ? s->room
           : limits->alloc_max > 0 ? simt_least(limits->alloc_max / SHARE, most)
                                   : usual;
}

/* Whether columns are divided before rows. A's residues are made once for all columns of a block of
 * rows, and B's are made again for each such block, so rows are divided only if A's planes are too
 * large. */
static bool divides_columns(const simt_fixed_plan *p, int64_t room)
{
    const int64_t planes_a = p->count * round_up(p->rows, p->pad) * p->pitch;
    return p->cols > WIDE && (planes_a <= room / 2 || p->rows <= WIDE);
}

/* Makes the block smaller until it fits. */
static void choose_block(simt_fixed_plan *p, const fixed_shape *s, int64_t room,
                         const iso_gemm_op *g)
{
    p->members =
        p->way == SIMT_FIXED_LIBRARY ? simt_least(g->batch, MATRICES / p->count) : g->batch;
    p->rows = g->m;
    p->cols = g->n;
    set_depth(p, simt_least(g->k, s->depth));
    while (block_bytes(p) > room) {
        if (p->members > 1) {
            p->members = simt_pieces(p->members, 2);
        } else if (divides_columns(p, room)) {
            p->cols = round_up(simt_pieces(p->cols, 2), s->side);
        } else if (p->rows > WIDE || (p->rows >= p->cols && p->rows > s->side)) {
            p->rows = round_up(simt_pieces(p->rows, 2), s->side);
        } else if (p->cols > s->side) {
            p->cols = round_up(simt_pieces(p->cols, 2), s->side);
        } else if (p->depth > FIXED_TILE_DEPTH) {
            set_depth(p, round_up(simt_pieces(p->depth, 2), FIXED_TILE_DEPTH));
        } else {
            return;
        }
    }
}

void simt_fixed_plan_make(simt_fixed_plan *p, simt_device *device, const iso_gemm_op *g)
{
    const fixed_shape s = shape_for(&device->limits);
    *p = (simt_fixed_plan){.count = moduli_for(g->dtype, g->k), .way = way_for(device, g)};
    p->spec = spec_for(&device->limits, g->dtype, p->count, p->way);
    p->side = s.side;
    p->pad = ways[p->way].pad;
    p->sum_bytes = ways[p->way].sum_bytes;
    p->a_members = g->stride_a ? g->batch : 1;
    p->b_members = g->stride_b ? g->batch : 1;
    choose_block(p, &s, room_for(&s, &device->limits), g);
    const int64_t key = (int64_t)sizeof(uint32_t);
    const int64_t matrices = p->count * p->members;
    const int64_t rows = round_up(p->rows, p->pad);
    const int64_t cols = round_up(p->cols, p->pad);
    p->exponents_b = round_up(p->a_members * g->m * key, ALIGN);
    p->planes_a = p->exponents_b + round_up(p->b_members * g->n * key, ALIGN);
    p->planes_b = p->planes_a + round_up(matrices * rows * p->pitch, ALIGN);
    p->sums = p->planes_b + round_up(matrices * cols * p->pitch, ALIGN);
    p->library = p->sums + round_up(matrices * rows * cols * p->sum_bytes, ALIGN);
    p->bytes = p->library + (p->way == SIMT_FIXED_LIBRARY ? simt_bytes_workspace(device) : 0);
}

bool simt_fixed_is_faster(simt_device *device, const iso_gemm_op *g)
{
    const simt_limits *limits = &device->limits;
    const int32_t from = g->dtype == ISO_F32   ? limits->fixed_from_f32
                         : g->dtype == ISO_F64 ? limits->fixed_from_f64
                                               : 0;
    return from > 0 && g->m >= from && g->n >= from && g->k >= from && simt_bytes_usable(device);
}

iso_status simt_fixed_supports(const simt_device *device, const iso_gemm_op *g)
{
    if (moduli_for(g->dtype, g->k) == 0) {
        return device->host->fail(ISO_UNSUPPORTED,
                                  "gemm: variant fixed: k is %" PRId64
                                  ", and this backend's sums of %s reach only %" PRId64 " terms",
                                  g->k, iso_dtype_name(g->dtype),
                                  fixed_moduli_of[g->dtype].reach[FIXED_REACHES - 1]);
    }
    return ISO_OK;
}

int64_t simt_fixed_workspace(simt_device *device, const iso_gemm_op *g)
{
    simt_fixed_plan plan;
    simt_fixed_plan_make(&plan, device, g);
    return plan.bytes;
}

void simt_fixed_describe(simt_device *device, const iso_gemm_op *g, iso_op_info *out)
{
    simt_fixed_plan plan;
    simt_fixed_plan_make(&plan, device, g);
    (void)snprintf(out->kernel, sizeof out->kernel, "gemm_fixed_%s %" PRId32 " moduli",
                   iso_dtype_name(g->dtype), plan.count);
    if (plan.way != SIMT_FIXED_PLAIN) {
        const size_t used = strlen(out->kernel);
        (void)snprintf(out->kernel + used, sizeof out->kernel - used, ", %s",
                       plan.way == SIMT_FIXED_LIBRARY ? simt_bytes_name(device)
                                                      : "int8 matrix units");
    }
}

void simt_fixed_each(const simt_limits *limits, iso_dtype dtype, simt_visit *visit, void *context)
{
    for (int32_t i = 0; i < FIXED_REACHES; i++) {
        const int32_t count = fixed_moduli_of[dtype].least + i;
        const simt_spec narrow = spec_for(limits, dtype, count, SIMT_FIXED_PLAIN);
        const simt_spec wide = spec_for(limits, dtype, count, SIMT_FIXED_LIBRARY);
        visit(&narrow, context);
        if (limits->bytes) {
            visit(&wide, context);
        }
    }
}
