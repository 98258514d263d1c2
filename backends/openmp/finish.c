/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c - C = alpha * T + beta * C. Threads take lines of C in turn. If C's columns are
 * contiguous, parts of T are turned first, so that both are read along whole lines of the caches.
 */
#include "backends/openmp/cpu.h"
#include "backends/openmp/kernels/half.h"
#include "backends/openmp/kernels/kernels.h"
#include "common/steps.h"

#include <stdio.h>

enum {
    ROWS = 8,    /* that a thread takes at once, */
    COLS = 4096, /* and columns */
    SIDE = 16,   /* of a part of T that is turned; */
    HIGH = 1024, /* a thread takes as many rows of one column of them */
    PLANES = 4,
    BYTES_PER_THREAD = 1 << 17
};

_Static_assert(PLANES *SIDE *SIDE * sizeof(double) <= CPU_TEAM_SCRATCH,
               "a turned part fits in the scratch memory");

typedef struct task {
    cpu_team *team;
    const iso_finish_op *op;
    const steps_type *type;
    void (*run)(const cpu_finish_line *g);
    cpu_finish_line line; /* what all lines share */
    int turned;
    int64_t high, wide, down, across; /* the size of a block, and how many there are */
} task;

/* ---- factors --------------------------------------------------------------------------------- */

/* Whole numbers modulo 2^32. What no int64_t holds counts as 0. */
static double whole_of(double x)
{
    const double end = 9223372036854775808.0; /* 2^63 */

    return x > -end && x < end ? (double)(uint32_t)(int64_t)x : 0;
}

static double factor_of(const steps_type *type, iso_dtype dtype, const void *at, int part)
{
    double x = 0;
    switch (dtype) {
    case ISO_F16:
        x = (double)cpu_f16_to_f32(((const uint16_t *)at)[part]);
        break;
    case ISO_BF16:
        x = (double)cpu_bf16_to_f32(((const uint16_t *)at)[part]);
        break;
    case ISO_F32:
        x = (double)((const float *)at)[part];
        break;
    default:
        x = ((const double *)at)[part];
        break;
    }
    return type->wide ? x : (double)(float)x;
}

static void take_factors(const iso_finish_op *op, const steps_type *type, cpu_finish_line *line)
{
    line->alpha = op->alpha, line->alpha_imag = op->alpha_imag;
    line->beta = op->beta, line->beta_imag = op->beta_imag;
    if (op->factors & 1) {
        line->alpha = factor_of(type, op->factor_dtype, cpu_at(op->alpha_at), 0);
        line->alpha_imag =
            type->parts == 2 ? factor_of(type, op->factor_dtype, cpu_at(op->alpha_at), 1) : 0;
    }
    if (op->factors & 2) {
        line->beta = factor_of(type, op->factor_dtype, cpu_at(op->beta_at), 0);
        line->beta_imag =
            type->parts == 2 ? factor_of(type, op->factor_dtype, cpu_at(op->beta_at), 1) : 0;
    }
    if (op->dtype == ISO_I32) {
        line->alpha = whole_of(line->alpha), line->beta = whole_of(line->beta);
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct block {
    int64_t matrix, row, col, row_end, col_end;
} block;

/* The part of a row or column `at` that is in C's triangle: of a row if `row`. */
static void clip(const iso_finish_op *op, int row, int64_t at, int64_t *first, int64_t *end)
{
    if (op->triangle == (row ? ISO_LOWER : ISO_UPPER)) {
        *end = cpu_least(*end, at + 1);
    } else if (op->triangle == (row ? ISO_UPPER : ISO_LOWER)) {
        *first = *first > at ? *first : at;
    }
}

static const char *t_at(const task *t, const block *b, int64_t row, int64_t col, int plane)
{
    const iso_finish_op *op = t->op;
    return (const char *)cpu_at(op->t) +
           (b->matrix * op->stride_t + plane * op->plane + row * op->ldt + col) * t->type->t_bytes;
}

static void *c_at(const task *t, const block *b, int64_t row, int64_t col)
{
    const iso_finish_op *op = t->op;
    const int64_t bytes = (int64_t)t->type->part_bytes * t->type->parts;
    return (char *)cpu_at(op->c) +
           (b->matrix * op->stride_c + row * op->c_row + col * op->c_col) * bytes;
}

static void by_rows(const task *t, const block *b)
{
    cpu_finish_line line = t->line;
    line.step = t->op->c_col;
    for (int64_t row = b->row; row < b->row_end; row++) {
        int64_t first = b->col, end = b->col_end;
        clip(t->op, 1, row, &first, &end);
        if (first < end) {
            for (int p = 0; p < t->op->planes; p++) {
                line.t[p] = t_at(t, b, row, first, p);
            }
            line.c = c_at(t, b, row, first);
            line.n = end - first;
            t->run(&line);
        }
    }
}

static void turn(const void *from, int64_t ld, int64_t rows, int64_t cols, int64_t bytes, void *to)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            if (bytes == 4) {
                ((uint32_t *)to)[j * SIDE + i] = ((const uint32_t *)from)[i * ld + j];
            } else {
                ((uint64_t *)to)[j * SIDE + i] = ((const uint64_t *)from)[i * ld + j];
            }
        }
    }
}

static void by_columns(const task *t, const block *b, char *scratch)
{
    const iso_finish_op *op = t->op;
    const int64_t bytes = t->type->t_bytes, plane = SIDE * SIDE * bytes;
    cpu_finish_line line = t->line;
    line.step = op->c_row;
    for (int64_t row = b->row; row < b->row_end; row += SIDE) {
        const int64_t row_end = cpu_least(row + SIDE, b->row_end);
        if ((op->triangle == ISO_LOWER && row_end <= b->col) ||
            (op->triangle == ISO_UPPER && row >= b->col_end)) {
            continue;
        }
        for (int p = 0; p < op->planes; p++) {
            turn(t_at(t, b, row, b->col, p), op->ldt, row_end - row, b->col_end - b->col, bytes,
                 scratch + p * plane);
        }
        for (int64_t col = b->col; col < b->col_end; col++) {
            int64_t first = row, end = row_end;
            clip(op, 0, col, &first, &end);
            if (first < end) {
                for (int p = 0; p < op->planes; p++) {
                    line.t[p] = scratch + p * plane + ((col - b->col) * SIDE + first - row) * bytes;
                }
                line.c = c_at(t, b, first, col);
                line.n = end - first;
                t->run(&line);
            }
        }
    }
}

static void body(void *context, int thread, int threads)
{
    const task *t = context;
    const iso_finish_op *op = t->op;
    const int64_t blocks = t->down * t->across * op->batch;
    for (int64_t i = thread; i < blocks; i += threads) {
        const int64_t within = i % (t->down * t->across);
        const int64_t row = within / t->across * t->high, col = within % t->across * t->wide;
        const block b = {.matrix = i / (t->down * t->across),
                         .row = row,
                         .col = col,
                         .row_end = cpu_least(row + t->high, op->m),
                         .col_end = cpu_least(col + t->wide, op->n)};
        if (t->turned) {
            by_columns(t, &b, cpu_team_scratch(t->team, thread));
        } else {
            by_rows(t, &b);
        }
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

static iso_status supports(cpu_device *device, const iso_op *op)
{
    (void)device;
    return steps_finish_supports(cpu_host, op->finish);
}

static void describe(cpu_device *device, const iso_op *op, iso_op_info *out)
{
    (void)snprintf(out->kernel, sizeof out->kernel, "finish_%s_%s",
                   steps_type_of(op->finish->dtype)->name, device->kernels->name);
}

static iso_status execute(cpu_device *device, const iso_op *of)
{
    const iso_finish_op *op = of->finish;
    const steps_type *type = steps_type_of(op->dtype);
    task t = {.team = device->team,
              .op = op,
              .type = type,
              .run = device->kernels->finish->line[op->dtype],
              .line = {.reads = steps_finish_reads(op),
                       .sign_ii = op->sign_ii,
                       .sign_ri = op->sign_ri,
                       .sign_ir = op->sign_ir},
              .turned = op->c_row == 1 && (op->c_col != 1 || op->n == 1)};
    take_factors(op, type, &t.line);
    t.high = t.turned ? HIGH : ROWS;
    t.wide = t.turned ? SIDE : COLS;
    t.down = cpu_pieces(op->m, t.high);
    t.across = cpu_pieces(op->n, t.wide);
    const double bytes =
        op->planes * type->t_bytes + (1 + t.line.reads) * type->part_bytes * type->parts;
    const double elements = (double)op->m * (double)op->n * (double)op->batch;
    cpu_team_run(device->team, cpu_team_threads(device->team, elements * bytes / BYTES_PER_THREAD),
                 body, &t);
    return ISO_OK;
}

const cpu_operation cpu_finish = {
    .supports = supports,
    .describe = describe,
    .execute = execute,
};
