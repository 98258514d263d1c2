/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - transposes of elements of 1, 2, 4, 8 and 16 bytes, out of place and in place. */
#include "backends/openmp/blas.h"
#include "backends/openmp/kernels/kernels.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    /* Threads take parts of this many bytes of each row, with all rows. */
    PART_BYTES = 8192,
    /* If a thread would get fewer cache lines of each row than this, so that the last part makes
     * the shares unequal, it takes parts of rows, as many. */
    LEAST_LINES = 4,
    /* If the operation is in place, a tile goes through a buffer of this size. */
    SWAP_BYTES = 16384,
    /* Waking another thread pays off if it has at least this many bytes to move. */
    BYTES_PER_THREAD = 1 << 18
};

_Static_assert(SWAP_BYTES + CPU_TRANSPOSE_SCRATCH <= CPU_TEAM_SCRATCH,
               "a thread's scratch memory is too small");

typedef struct element_16 {
    uint64_t part[2];
} element_16;

typedef struct task {
    const iso_transpose_op *op;
    const char *from;
    char *to;
    cpu_transpose_block block;
    cpu_team *team;
    int64_t rows, cols; /* of a part, or of a square tile if it is in place */
    int stream;         /* writes bypass the caches */
} task;

/* 0 for elements of 1 byte, ... 4 for 16 */
static int size_index(const iso_transpose_op *op)
{
    int index = 0;
    while ((INT64_C(1) << index) < op->element_bytes) {
        index++;
    }
    return index;
}

static int threads_for(const cpu_device *device, const iso_transpose_op *op)
{
    const double bytes = (double)op->rows * (double)op->cols * (double)op->element_bytes;
    return cpu_team_threads(device->team, bytes / BYTES_PER_THREAD);
}

/* ---- naive ----------------------------------------------------------------------------------- */

#define DEFINE_NAIVE(name, type)                                                                   \
    static void name(void *context, int thread, int threads)                                       \
    {                                                                                              \
        const task *t = context;                                                                   \
        const iso_transpose_op *op = t->op;                                                        \
        const type *from = (const void *)t->from;                                                  \
        type *to = (void *)t->to;                                                                  \
        const int64_t last = cpu_split(op->rows, threads, thread + 1);                             \
        for (int64_t i = cpu_split(op->rows, threads, thread); i < last; i++) {                    \
            for (int64_t j = 0; j < op->cols; j++) {                                               \
                to[j * op->ld_to + i] = from[i * op->ld_from + j];                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    /* Swaps row i with column i, from the diagonal on. Rows get shorter, so threads take them in  \
     * turn. */                                                                                    \
    static void name##_swap(void *context, int thread, int threads)                                \
    {                                                                                              \
        const task *t = context;                                                                   \
        const iso_transpose_op *op = t->op;                                                        \
        type *to = (void *)t->to;                                                                  \
        for (int64_t i = thread; i < op->rows; i += threads) {                                     \
            for (int64_t j = i + 1; j < op->cols; j++) {                                           \
                const type kept = to[i * op->ld_to + j];                                           \
                to[i * op->ld_to + j] = to[j * op->ld_to + i];                                     \
                to[j * op->ld_to + i] = kept;                                                      \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_NAIVE(naive_1, uint8_t)
DEFINE_NAIVE(naive_2, uint16_t)
DEFINE_NAIVE(naive_4, uint32_t)
DEFINE_NAIVE(naive_8, uint64_t)
DEFINE_NAIVE(naive_16, element_16)

/* For each size: out of place, and in place. */
static const cpu_body naive_bodies[][2] = {{naive_1, naive_1_swap},
                                           {naive_2, naive_2_swap},
                                           {naive_4, naive_4_swap},
                                           {naive_8, naive_8_swap},
                                           {naive_16, naive_16_swap}};

/* ---- tiled ----------------------------------------------------------------------------------- */

/* Long parts, because the kernel reads rows from end to end: memory gives neighbouring lines fast.
 */
static void plan_parts(task *t, int threads)
{
    const iso_transpose_op *op = t->op;
    const int64_t most = PART_BYTES / op->element_bytes, line = 64 / op->element_bytes;
    t->rows = op->rows;
    t->cols = op->cols;
    if (op->cols >= LEAST_LINES * threads * line) {
        const int64_t parts = threads * cpu_pieces(op->cols, threads * most);
        t->cols = cpu_pieces(cpu_pieces(op->cols, parts), line) * line;
    } else {
        t->rows = cpu_pieces(cpu_pieces(op->rows, LEAST_LINES * threads), line) * line;
    }
}

static void tiled_body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_transpose_op *op = t->op;
    const int64_t bytes = op->element_bytes;
    const int64_t down = cpu_pieces(op->rows, t->rows), across = cpu_pieces(op->cols, t->cols);
    const int64_t last = cpu_split(down * across, threads, thread + 1);
    void *scratch = cpu_team_scratch(t->team, thread);
    for (int64_t u = cpu_split(down * across, threads, thread); u < last; u++) {
        const int64_t i = u % down * t->rows, j = u / down * t->cols;
        t->block(t->from + (i * op->ld_from + j) * bytes, op->ld_from,
                 t->to + (j * op->ld_to + i) * bytes, op->ld_to, cpu_least(t->rows, op->rows - i),
                 cpu_least(t->cols, op->cols - j), t->stream, scratch);
    }
}

/* Swaps the tile at (i, j) with the one at (j, i) and transposes both, through a buffer at the
 * start of the scratch memory. */
static void swap_tiles(const task *t, int64_t i, int64_t j, char *buffer)
{
    const iso_transpose_op *op = t->op;
    const int64_t bytes = op->element_bytes, ld = op->ld_to; /* ld_from is equal, in place */
    const int64_t rows = cpu_least(t->rows, op->rows - i), cols = cpu_least(t->cols, op->cols - j);
    char *scratch = buffer + SWAP_BYTES;
    char *upper = t->to + (i * ld + j) * bytes, *lower = t->to + (j * ld + i) * bytes;
    t->block(upper, ld, buffer, rows, rows, cols, 0, scratch);
    if (i != j) {
        t->block(lower, ld, upper, ld, cols, rows, 0, scratch);
    }
    for (int64_t r = 0; r < cols; r++) {
        memcpy(lower + r * ld * bytes, buffer + r * rows * bytes, (size_t)(rows * bytes));
    }
}

static void tiled_swap_body(void *context, int thread, int threads)
{
    const task *t = context;
    const int64_t tiles = cpu_pieces(t->op->rows, t->rows);
    char *buffer = cpu_team_scratch(t->team, thread);
    int64_t turn = 0;
    for (int64_t i = 0; i < tiles; i++) {
        for (int64_t j = i; j < tiles; j++) {
            if (turn++ % threads == thread) {
                swap_tiles(t, i * t->rows, j * t->rows, buffer);
            }
        }
    }
}

/* ---- vendor ---------------------------------------------------------------------------------- */

static iso_status vendor_supports(const iso_transpose_op *op)
{
    if (op->element_bytes < 4) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "transpose: element_bytes is %lld, but BLAS libraries transpose "
                              "elements of 4, 8 and 16 bytes: use tiled",
                              (long long)op->element_bytes);
    }
    const cpu_blas *blas = cpu_blas_need("transpose");
    if (!blas) {
        return ISO_UNSUPPORTED;
    }
    if (!blas->transpose[size_index(op) - 2].block) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "transpose: %s has no omatcopy for elements of %lld bytes: use tiled",
                              blas->name, (long long)op->element_bytes);
    }
    const int64_t ld = op->ld_from > op->ld_to ? op->ld_from : op->ld_to;
    const int64_t most = ld > op->rows ? ld : op->rows; /* cols is at most ld_from */
    if (most > INT_MAX) {
        return cpu_host->fail(
            ISO_UNSUPPORTED,
            "transpose: a size or leading dimension is %lld, but %s takes at most "
            "%d: use tiled",
            (long long)most, blas->name, INT_MAX);
    }
    return ISO_OK;
}

/* A query does not know whether the operation is in place, so both must work. In place, the
 * library's function transposes one tile after another. */
static void vendor_execute(void *context)
{
    task *t = context;
    const iso_transpose_op *op = t->op;
    if (t->from == t->to) {
        tiled_swap_body(t, 0, 1);
    } else {
        t->block(t->from, op->ld_from, t->to, op->ld_to, op->rows, op->cols, 0, NULL);
    }
}

/* ---- the operation --------------------------------------------------------------------------- */

static iso_status supports(cpu_device *device, const iso_op *op)
{
    (void)device;
    return op->transpose->variant == ISO_VARIANT_VENDOR ? vendor_supports(op->transpose) : ISO_OK;
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    const int index = size_index(op->transpose);
    if (op->transpose->variant == ISO_VARIANT_VENDOR) {
        cpu_blas_describe(out, cpu_blas_get()->transpose[index - 2].name);
    } else if (op->transpose->variant == ISO_VARIANT_NAIVE) {
        snprintf(out->kernel, sizeof out->kernel, "transpose_naive_%d", 1 << index);
    } else {
        snprintf(out->kernel, sizeof out->kernel, "transpose_tiled_%d_%s", 1 << index,
                 device->kernels->name);
    }
}

static iso_status execute(cpu_device *device, const iso_op *op)
{
    const iso_transpose_op *args = op->transpose;
    task t = {.op = args, .from = cpu_at(args->from), .to = cpu_at(args->to), .team = device->team};
    const int swap = t.from == t.to, index = size_index(args);
    /* The side of the square that fits the buffer, a power of two. */
    static const int64_t swap_tile[5] = {128, 64, 64, 32, 32};
    t.rows = t.cols = swap_tile[index];
    if (args->variant == ISO_VARIANT_VENDOR) {
        t.block = cpu_blas_get()->transpose[index - 2].block;
        return cpu_blas_call(device, vendor_execute, &t);
    }
    const int threads = threads_for(device, args);
    cpu_body body = naive_bodies[index][swap];
    if (args->variant == ISO_VARIANT_TILED) {
        if (!swap) {
            plan_parts(&t, threads);
        }
        body = swap ? tiled_swap_body : tiled_body;
        t.block = device->kernels->transpose->block[index];
        /* A result too large for the last-level cache bypasses it. */
        t.stream =
            !swap && args->rows * args->cols > device->facts->cache_bytes / args->element_bytes;
    }
    cpu_team_run(device->team, threads, body, &t);
    return ISO_OK;
}

const cpu_operation cpu_transpose = {
    .supports = supports,
    .describe = describe,
    .execute = execute,
};
