/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - transposes of elements of 1, 2, 4, 8 and 16 bytes, out of place and in place. */
#include "backends/openmp/blas.h"
#include "backends/openmp/kernels/kernels.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    /* A tile's rows are this many bytes, and it is square. */
    TILE_BYTES = 1024,
    /* In place a tile goes through a buffer. */
    SWAP_BYTES = 16384,
    /* Each thread beyond the first costs a wake-up, which pays from this many bytes on. */
    BYTES_PER_THREAD = 1 << 18
};

_Static_assert(SWAP_BYTES + CPU_TRANSPOSE_SCRATCH <= CPU_TEAM_SCRATCH, "scratch of a thread");

typedef struct element_16 {
    uint64_t part[2];
} element_16;

typedef struct task {
    const iso_transpose_op *op;
    const char *from;
    char *to;
    cpu_transpose_block block;
    cpu_team *team;
    int64_t tile; /* rows and columns of a tile */
    int stream;   /* write past the caches */
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
    const int64_t wanted = op->rows * op->cols / (BYTES_PER_THREAD / op->element_bytes);
    const int64_t size = cpu_team_size(device->team);
    return (int)(wanted < 1 ? 1 : wanted < size ? wanted : size);
}

/* Item `index` of the even split of `count` items over `parts`. */
static int64_t split(int64_t count, int parts, int index)
{
    return count / parts * index + (count % parts < index ? count % parts : index);
}

/* ---- naive ----------------------------------------------------------------------------------- */

#define DEFINE_NAIVE(name, type)                                                                   \
    static void name(const iso_transpose_op *op, const type *from, type *to, int64_t first,        \
                     int64_t last)                                                                 \
    {                                                                                              \
        for (int64_t i = first; i < last; i++) {                                                   \
            for (int64_t j = 0; j < op->cols; j++) {                                               \
                to[j * op->ld_to + i] = from[i * op->ld_from + j];                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name##_swap(const iso_transpose_op *op, type *to, int64_t i)                       \
    {                                                                                              \
        for (int64_t j = i + 1; j < op->cols; j++) {                                               \
            const type kept = to[i * op->ld_to + j];                                               \
            to[i * op->ld_to + j] = to[j * op->ld_to + i];                                         \
            to[j * op->ld_to + i] = kept;                                                          \
        }                                                                                          \
    }

DEFINE_NAIVE(naive_1, uint8_t)
DEFINE_NAIVE(naive_2, uint16_t)
DEFINE_NAIVE(naive_4, uint32_t)
DEFINE_NAIVE(naive_8, uint64_t)
DEFINE_NAIVE(naive_16, element_16)

static void naive_body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_transpose_op *op = t->op;
    const int64_t first = split(op->rows, threads, thread);
    const int64_t last = split(op->rows, threads, thread + 1);
    const void *from = t->from;
    void *to = t->to;
    switch (op->element_bytes) {
    case 1:
        naive_1(op, from, to, first, last);
        break;
    case 2:
        naive_2(op, from, to, first, last);
        break;
    case 4:
        naive_4(op, from, to, first, last);
        break;
    case 8:
        naive_8(op, from, to, first, last);
        break;
    default:
        naive_16(op, from, to, first, last);
    }
}

/* Row i swaps with column i from the diagonal on. Rows are dealt to threads in turn, because they
 * get shorter. */
static void naive_swap_body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_transpose_op *op = t->op;
    void *to = t->to;
    for (int64_t i = thread; i < op->rows; i += threads) {
        switch (op->element_bytes) {
        case 1:
            naive_1_swap(op, to, i);
            break;
        case 2:
            naive_2_swap(op, to, i);
            break;
        case 4:
            naive_4_swap(op, to, i);
            break;
        case 8:
            naive_8_swap(op, to, i);
            break;
        default:
            naive_16_swap(op, to, i);
        }
    }
}

/* ---- tiled ----------------------------------------------------------------------------------- */

/* A result too large for the last-level cache bypasses it. */
static int streams(const cpu_device *device, const iso_transpose_op *op)
{
    const cpu_facts *facts = device->facts;
    const int64_t cache = facts->l3_bytes > 0 ? facts->l3_bytes : facts->l2_bytes;
    return op->rows * op->cols > cache / op->element_bytes;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Tiles are counted down the columns, so that a thread writes whole rows of the result. */
static void tiled_body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_transpose_op *op = t->op;
    const int64_t bytes = op->element_bytes, tile = t->tile;
    const int64_t down = (op->rows + tile - 1) / tile, across = (op->cols + tile - 1) / tile;
    const int64_t last = split(down * across, threads, thread + 1);
    void *scratch = cpu_team_scratch(t->team, thread);
    for (int64_t u = split(down * across, threads, thread); u < last; u++) {
        const int64_t i = u % down * tile, j = u / down * tile;
        t->block(t->from + (i * op->ld_from + j) * bytes, op->ld_from,
                 t->to + (j * op->ld_to + i) * bytes, op->ld_to, least(tile, op->rows - i),
                 least(tile, op->cols - j), t->stream, scratch);
    }
}

/* Swaps the tile at (i, j) with the one at (j, i), through a buffer at the start of the scratch
 * memory. */
static void swap_tiles(const task *t, int64_t i, int64_t j, char *buffer)
{
    const iso_transpose_op *op = t->op;
    const int64_t bytes = op->element_bytes, ld = op->ld_to; /* in place both are the same */
    const int64_t rows = least(t->tile, op->rows - i), cols = least(t->tile, op->cols - j);
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
    const int64_t tiles = (t->op->rows + t->tile - 1) / t->tile;
    char *buffer = cpu_team_scratch(t->team, thread);
    int64_t turn = 0;
    for (int64_t i = 0; i < tiles; i++) {
        for (int64_t j = i; j < tiles; j++) {
            if (turn++ % threads == thread) {
                swap_tiles(t, i * t->tile, j * t->tile, buffer);
            }
        }
    }
}

/* ---- vendor ---------------------------------------------------------------------------------- */

static void vendor_4(const void *from, int64_t ld_from, void *to, int64_t ld_to, int64_t rows,
                     int64_t cols, int stream, void *scratch)
{
    (void)stream;
    (void)scratch;
    cpu_blas_get()->transpose_s((int)rows, (int)cols, from, (int)ld_from, to, (int)ld_to);
}

static void vendor_8(const void *from, int64_t ld_from, void *to, int64_t ld_to, int64_t rows,
                     int64_t cols, int stream, void *scratch)
{
    (void)stream;
    (void)scratch;
    cpu_blas_get()->transpose_d((int)rows, (int)cols, from, (int)ld_from, to, (int)ld_to);
}

static void vendor_16(const void *from, int64_t ld_from, void *to, int64_t ld_to, int64_t rows,
                      int64_t cols, int stream, void *scratch)
{
    (void)stream;
    (void)scratch;
    cpu_blas_get()->transpose_z((int)rows, (int)cols, from, (int)ld_from, to, (int)ld_to);
}

static cpu_transpose_block vendor_block(const iso_transpose_op *op)
{
    return op->element_bytes == 4 ? vendor_4 : op->element_bytes == 8 ? vendor_8 : vendor_16;
}

static iso_status vendor_supports(const iso_transpose_op *op)
{
    if (op->element_bytes < 4) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "transpose: element_bytes is %lld, but BLAS libraries transpose "
                              "elements of 4, 8 and 16 bytes: use tiled",
                              (long long)op->element_bytes);
    }
    const cpu_blas *blas = cpu_blas_get();
    if (!blas) {
        return cpu_host->fail(ISO_UNSUPPORTED, "transpose: vendor needs a BLAS library: %s",
                              cpu_blas_reason());
    }
    const int has = op->element_bytes == 4   ? blas->transpose_s != NULL
                    : op->element_bytes == 8 ? blas->transpose_d != NULL
                                             : blas->transpose_z != NULL;
    if (!has) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "transpose: %s has no omatcopy for elements of %lld bytes: use tiled",
                              blas->name, (long long)op->element_bytes);
    }
    const int64_t most =
        op->ld_from > op->ld_to
            ? (op->ld_from > op->rows ? op->ld_from : op->rows)
            : (op->ld_to > op->rows ? op->ld_to : op->rows); /* cols is at most ld_from */
    if (most > INT_MAX) {
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "transpose: a size or leading dimension is %lld, but %s takes up to "
                              "%d: use tiled",
                              (long long)most, blas->name, INT_MAX);
    }
    return ISO_OK;
}

/* In place the library's function transposes one tile after another. Queries do not show whether an
 * operation is in place, so this must work. */
static void vendor_execute(void *context)
{
    task *t = context;
    const iso_transpose_op *op = t->op;
    t->block = vendor_block(op);
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
    switch (op->transpose->variant) {
    case ISO_VARIANT_NAIVE:
    case ISO_VARIANT_TILED:
        return ISO_OK;
    case ISO_VARIANT_VENDOR:
        return vendor_supports(op->transpose);
    case ISO_VARIANT_PARTIALS:
        return cpu_host->fail(ISO_UNSUPPORTED,
                              "transpose: variant partials is for reductions: use tiled");
    default:
        return cpu_host->fail(ISO_UNSUPPORTED, "transpose: variant %d is not known",
                              (int)op->transpose->variant);
    }
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    const int index = size_index(op->transpose);
    if (op->transpose->variant == ISO_VARIANT_VENDOR) {
        const cpu_blas *blas = cpu_blas_get();
        snprintf(out->library, sizeof out->library, "%s", blas->label);
        snprintf(out->kernel, sizeof out->kernel, "%s", blas->transpose_name[index - 2]);
        return;
    }
    snprintf(out->library, sizeof out->library, "isomer %s", cpu_host->version);
    if (op->transpose->variant == ISO_VARIANT_NAIVE) {
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
    t.tile = swap ? swap_tile[index] : TILE_BYTES >> index;
    switch (args->variant) {
    case ISO_VARIANT_VENDOR:
        return cpu_blas_call(device, vendor_execute, &t);
    case ISO_VARIANT_NAIVE:
        cpu_team_run(device->team, threads_for(device, args), swap ? naive_swap_body : naive_body,
                     &t);
        break;
    default:
        t.block = device->kernels->transpose->block[index];
        t.stream = !swap && streams(device, args);
        cpu_team_run(device->team, threads_for(device, args), swap ? tiled_swap_body : tiled_body,
                     &t);
    }
    return ISO_OK;
}

const cpu_operation cpu_transpose = {
    .supports = supports,
    .describe = describe,
    .execute = execute,
};
