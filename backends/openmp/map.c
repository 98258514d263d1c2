/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps: each thread gets one part of the elements, and the kernel runs straight through it.
 */
#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/half.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/runtime.h"
#include "common/dtype.h"

#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 64,
    /* Waking another thread pays off if it has at least this many bytes of the result to write, or
     * this many steps of chains to compute. */
    BYTES_PER_THREAD = 1 << 17,
    STEPS_PER_THREAD = 1 << 20,
    /* Elements of a row that are handled at once, if they have to be moved beside each other. */
    BLOCK = 96,
    ELEMENT_MOST = 8, /* bytes; copies use no blocks */
    /* Elements of a row that one thread handles at least. */
    PIECE = 4096
};

typedef struct task {
    const iso_map_op_args *op;
    cpu_map_kernel kernel;
    int64_t bytes; /* size of an element */
    int stream;
} task;

static cpu_map_kernel kernel_for(const cpu_device *device, const iso_map_op_args *op)
{
    const cpu_map_kernels *kernels = device->kernels->map;
    if (op->op == ISO_MAP_CONVERT) {
        return device->kernels->convert->convert[op->dtype][op->dtype_z];
    }
    return op->variant == ISO_VARIANT_NAIVE ? kernels->naive[op->op][op->dtype]
                                            : kernels->tiled[op->op][op->dtype];
}

cpu_map_kernel cpu_map_copy(const cpu_device *device)
{
    return device->kernels->map->tiled[ISO_MAP_COPY][ISO_F16];
}

static int threads_for(const cpu_device *device, const iso_map_op_args *op)
{
    enum { STEPS_OF_EXP = 16 }; /* what it takes longer than other maps */
    const double n = (double)op->n * (double)op->rows,
                 bytes = n * (double)iso_dtype_size(op->dtype);
    const double each =
        op->op == ISO_MAP_EXP || op->op == ISO_MAP_TANH ? STEPS_OF_EXP : (double)op->steps;
    const double wanted = bytes / BYTES_PER_THREAD + n * each / STEPS_PER_THREAD;
    return cpu_team_threads(device->team, wanted);
}

/* Whether the result bypasses the caches. It does if the last-level cache cannot hold the operands,
 * unless the operation is in place: the result's lines are then in the caches already. */
static int streams(const cpu_device *device, const iso_map_op_args *op)
{
    const int64_t all = device->facts->cache_bytes;
    const int64_t most = op->w.memory ? all / 4 : op->y.memory ? all / 3 : all / 2;
    const int in_place = cpu_at(op->z) == cpu_at(op->x) ||
                         (op->y.memory && cpu_at(op->z) == cpu_at(op->y)) ||
                         (op->w.memory && cpu_at(op->z) == cpu_at(op->w));
    return op->variant == ISO_VARIANT_TILED && !in_place &&
           op->n * iso_dtype_size(op->dtype) > most;
}

static void body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_map_op_args *op = t->op;
    int64_t first = 0, last = op->n;
    if (threads > 1) {
        const int64_t line = LINE_BYTES / t->bytes, lines = cpu_pieces(op->n, line);
        first = cpu_split(lines, threads, thread) * line;
        last = cpu_least(op->n, cpu_split(lines, threads, thread + 1) * line);
    }
    const cpu_map_part part = {
        .x = (const char *)cpu_at(op->x) + first * t->bytes,
        .y = op->y.memory ? (const char *)cpu_at(op->y) + first * t->bytes : NULL,
        .w = op->w.memory ? (const char *)cpu_at(op->w) + first * t->bytes : NULL,
        .z = (char *)cpu_at(op->z) + first * t->bytes,
        .n = last - first,
        .steps = op->steps,
        .alpha = op->alpha,
        .beta = op->beta,
        .stream = t->stream,
    };
    if (part.n > 0) {
        t->kernel(&part);
    }
}

/* ---- rows, gaps and other types -------------------------------------------------------------- */

/* An operand of a general map. */
typedef struct operand {
    char *at; /* NULL: the map has none */
    int64_t row, col;
    int64_t bytes; /* size of an element */
    cpu_map_move move;
} operand;

enum { X, Y, W, Z, OPERANDS };

typedef struct general {
    const iso_map_op_args *op;
    cpu_map_kernel kernel;
    operand of[OPERANDS];
    double alpha, beta;
    int64_t pieces; /* of a row */
    int stream;
} general;

static char *place(const operand *o, int64_t row, int64_t col)
{
    return o->at + (row * o->row + col * o->col) * o->bytes;
}

/* Copies without a block between. */
static void copy_piece(const general *g, int64_t row, int64_t first, int64_t count)
{
    const operand *x = &g->of[X], *z = &g->of[Z];
    const char *from = place(x, row, first);
    char *to = place(z, row, first);
    if (from != to) {
        x->move(from, x->col, to, z->col, count);
    }
}

/* Handles elements first to first + count of a row. What has gaps is moved through blocks; a block
 * of an operand whose elements are all the same is filled once. */
static void map_piece(const general *g, int64_t row, int64_t first, int64_t count)
{
    _Alignas(LINE_BYTES) char blocks[OPERANDS][BLOCK * ELEMENT_MOST];
    const operand *z = &g->of[Z];
    int straight = 1;
    for (int i = 0; i < OPERANDS; i++) {
        straight = straight && (!g->of[i].at || g->of[i].col == 1);
    }
    const int64_t step = straight ? count : BLOCK;
    for (int64_t at = first; at < first + count; at += step) {
        const int64_t here = cpu_least(step, first + count - at);
        const void *from[OPERANDS] = {NULL, NULL, NULL, NULL};
        for (int i = X; i < Z; i++) {
            const operand *o = &g->of[i];
            from[i] = !o->at ? NULL : o->col == 1 ? (void *)place(o, row, at) : blocks[i];
            if (o->at && o->col != 1 && (o->col != 0 || at == first)) {
                o->move(place(o, row, at), o->col, blocks[i], 1,
                        o->col ? here : cpu_least(BLOCK, count));
            }
        }
        const cpu_map_part part = {
            .x = from[X],
            .y = from[Y],
            .w = from[W],
            .z = z->col == 1 ? place(z, row, at) : blocks[Z],
            .n = here,
            .steps = g->op->steps,
            .alpha = g->alpha,
            .beta = g->beta,
            .stream = g->stream && z->col == 1,
        };
        g->kernel(&part);
        if (z->col != 1) {
            z->move(blocks[Z], 1, place(z, row, at), z->col, here);
        }
    }
}

static void general_body(void *context, int thread, int threads)
{
    const general *g = context;
    const iso_map_op_args *op = g->op;
    const int64_t all = op->rows * g->pieces, last = cpu_split(all, threads, thread + 1);
    for (int64_t i = cpu_split(all, threads, thread); i < last; i++) {
        const int64_t row = i / g->pieces, first = i % g->pieces * PIECE;
        const int64_t count = cpu_least(op->n - first, PIECE);
        if (op->op == ISO_MAP_COPY) {
            copy_piece(g, row, first, count);
        } else {
            map_piece(g, row, first, count);
        }
    }
}

static operand operand_of(const cpu_device *device, iso_ref ref, iso_dtype dtype, int64_t row,
                          int64_t col)
{
    const int64_t bytes = iso_dtype_size(dtype);
    return (operand){.at = ref.memory ? (char *)cpu_at(ref) : NULL,
                     .row = row,
                     .col = col,
                     .bytes = bytes,
                     .move = device->kernels->convert->move[__builtin_ctzll((uint64_t)bytes)]};
}

/* A factor on the device, rounded to the type of the computation. */
static double factor_of(iso_ref at, iso_dtype from, iso_dtype dtype)
{
    const void *place = cpu_at(at);
    double value = 0;
    float narrow = 0;
    uint16_t half = 0;
    switch (from) {
    case ISO_F16:
        memcpy(&half, place, sizeof half);
        value = (double)cpu_f16_to_f32(half);
        break;
    case ISO_BF16:
        memcpy(&half, place, sizeof half);
        value = (double)cpu_bf16_to_f32(half);
        break;
    case ISO_F32:
        memcpy(&narrow, place, sizeof narrow);
        value = (double)narrow;
        break;
    default:
        memcpy(&value, place, sizeof value);
    }
    return dtype_get(dtype)->computes_in == ISO_F64 ? value : (double)(float)value;
}

/* Where neighbours in a column lie closer than those in a row, columns are handled as rows. */
static iso_map_op_args by_columns(const iso_map_op_args *op)
{
    iso_map_op_args turned = *op;
    turned.n = op->rows;
    turned.rows = op->n;
    turned.x_row = op->x_col;
    turned.x_col = op->x_row;
    turned.y_row = op->y_col;
    turned.y_col = op->y_row;
    turned.w_row = op->w_col;
    turned.w_col = op->w_row;
    turned.z_row = op->z_col;
    turned.z_col = op->z_row;
    return turned;
}

static iso_status execute_general(cpu_device *device, const iso_map_op_args *op)
{
    general g = {
        .op = op,
        .kernel = kernel_for(device, op),
        .of = {[X] = operand_of(device, op->x, op->dtype, op->x_row, op->x_col),
               [Y] = operand_of(device, op->y, op->dtype, op->y_row, op->y_col),
               [W] = operand_of(device, op->w, op->dtype, op->w_row, op->w_col),
               [Z] = operand_of(device, op->z, op->dtype_z, op->z_row, op->z_col)},
        .alpha = op->factors & 1 ? factor_of(op->alpha_at, op->factor_dtype, op->dtype) : op->alpha,
        .beta = op->factors & 2 ? factor_of(op->beta_at, op->factor_dtype, op->dtype) : op->beta,
        .pieces = cpu_pieces(op->n, PIECE),
    };
    cpu_team_run(device->team, threads_for(device, op), general_body, &g);
    return ISO_OK;
}

/* ---- entries --------------------------------------------------------------------------------- */

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    const iso_map_op_args *args = op->map;
    const int other = args->dtype_z && args->dtype_z != args->dtype;
    snprintf(out->kernel, sizeof out->kernel, "%s_%s_%s%s%s_%s%s", iso_map_op_name(args->op),
             iso_variant_name(args->variant), iso_dtype_name(args->dtype), other ? "_" : "",
             other ? iso_dtype_name(args->dtype_z) : "", device->kernels->name,
             args->general && (args->rows > 1 || args->z_col != 1) ? ", rows" : "");
}

static iso_status execute(cpu_device *device, const iso_op *op)
{
    const iso_map_op_args *args = op->map;
    if (args->general) {
        const int turn = args->rows > 1 && args->z_row < args->z_col;
        const iso_map_op_args turned = turn ? by_columns(args) : *args;
        return execute_general(device, &turned);
    }
    task t = {.op = args,
              .kernel = kernel_for(device, args),
              .bytes = iso_dtype_size(args->dtype),
              .stream = streams(device, args)};
    cpu_team_run(device->team, threads_for(device, args), body, &t);
    return ISO_OK;
}

const cpu_operation cpu_map = {
    .describe = describe,
    .execute = execute,
};
