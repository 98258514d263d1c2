/* SPDX-License-Identifier: Apache-2.0 */
/*
 * projection.c - computes on the host, in f64, the expected projection of a product x y. It gives
 * each column of y a random sign, adds up the columns of each block, and multiplies x by these
 * sums. gemm.c explains why.
 */
#include "bench/check/projection.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    MR = 6,   /* rows of a register tile */
    NR = 8,   /* columns of a register tile */
    KB = 256, /* depth of a block */
    MB = 48   /* rows of a block */
};

/* ---- the register tile: to (MR x NR) += x (k x MR) * y (k x NR) ------------------------------ */

typedef void (*tile)(const double *x, const double *y, int64_t k, double *to, int64_t step);

static void tile_plain(const double *x, const double *y, int64_t k, double *to, int64_t step)
{
    double sum[MR][NR];
    for (int i = 0; i < MR; i++) {
        memcpy(sum[i], to + i * step, sizeof sum[i]);
    }
    for (int64_t p = 0; p < k; p++) {
        for (int i = 0; i < MR; i++) {
            for (int j = 0; j < NR; j++) {
                sum[i][j] += x[p * MR + i] * y[p * NR + j];
            }
        }
    }
    for (int i = 0; i < MR; i++) {
        memcpy(to + i * step, sum[i], sizeof sum[i]);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void tile_avx2(const double *x, const double *y,
                                                          int64_t k, double *to, int64_t step)
{
    __m256d low[MR], high[MR];
#pragma GCC unroll 6
    for (int i = 0; i < MR; i++) {
        low[i] = _mm256_loadu_pd(to + i * step);
        high[i] = _mm256_loadu_pd(to + i * step + 4);
    }
    for (int64_t p = 0; p < k; p++) {
        __m256d a = _mm256_loadu_pd(y + p * NR), b = _mm256_loadu_pd(y + p * NR + 4);
#pragma GCC unroll 6
        for (int i = 0; i < MR; i++) {
            __m256d factor = _mm256_broadcast_sd(x + p * MR + i);
            low[i] = _mm256_fmadd_pd(factor, a, low[i]);
            high[i] = _mm256_fmadd_pd(factor, b, high[i]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < MR; i++) {
        _mm256_storeu_pd(to + i * step, low[i]);
        _mm256_storeu_pd(to + i * step + 4, high[i]);
    }
}

__attribute__((target("avx512f"))) static void tile_avx512(const double *x, const double *y,
                                                           int64_t k, double *to, int64_t step)
{
    __m512d sum[MR];
#pragma GCC unroll 6
    for (int i = 0; i < MR; i++) {
        sum[i] = _mm512_loadu_pd(to + i * step);
    }
    for (int64_t p = 0; p < k; p++) {
        __m512d b = _mm512_loadu_pd(y + p * NR);
#pragma GCC unroll 6
        for (int i = 0; i < MR; i++) {
            sum[i] = _mm512_fmadd_pd(_mm512_set1_pd(x[p * MR + i]), b, sum[i]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < MR; i++) {
        _mm512_storeu_pd(to + i * step, sum[i]);
    }
}
#endif

static tile choose_tile(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        return tile_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return tile_avx2;
    }
#endif
    return tile_plain;
}

static const void *at(const check_view *view, int64_t row, int64_t col)
{
    return view->data + (row * view->row_step + col * view->col_step) * iso_dtype_size(view->dtype);
}

double check_sign(uint64_t signs, int64_t index)
{
    return arith_mix(signs, (uint64_t)index) & 1 ? 1.0 : -1.0;
}

/* ---- sums of columns ------------------------------------------------------------------------- */

typedef struct making {
    check_projection *out;
    const check_view *x, *y;
    const double *signs;
    double *panels; /* the sums: one panel after the other, each with NR columns side by side */
    int64_t panel_count;
    double *greatest; /* for each part of y's rows and each block: the greatest sum of squares of a
                         row */
    double *total;
    tile run;
} making;

static int64_t panel_place(const making *m, int64_t k, int64_t block)
{
    return (block / NR * m->y->rows + k) * NR + block % NR;
}

static void note_squares(making *m, int64_t part, int64_t block, double squares)
{
    int64_t place = part * m->out->blocks + block;
    m->total[place] += squares;
    if (squares > m->greatest[place]) {
        m->greatest[place] = squares;
    }
}

/* Sums the blocks of a y whose rows are contiguous. */
static void sum_along_rows(making *m, int64_t begin, int64_t end)
{
    enum { WIDE = 1024 };
    const check_view *y = m->y;
    int64_t width = m->out->width;
    double line[WIDE];
    for (int64_t k = begin; k < end; k++) {
        for (int64_t block = 0; block < m->out->blocks; block++) {
            int64_t last = (block + 1) * width < y->cols ? (block + 1) * width : y->cols;
            double sum = 0, squares = 0;
            for (int64_t j = block * width; j < last; j += WIDE) {
                int64_t count = last - j < WIDE ? last - j : WIDE;
                arith_widen(y->dtype, at(y, k, j), y->col_step, count, line);
                for (int64_t i = 0; i < count; i++) {
                    sum += m->signs[j + i] * line[i];
                    squares += line[i] * line[i];
                }
            }
            m->panels[panel_place(m, k, block)] = sum;
            note_squares(m, begin / KB, block, squares);
        }
    }
}

/* Sums the blocks of a y whose columns are contiguous. */
static void sum_along_columns(making *m, int64_t begin, int64_t end)
{
    const check_view *y = m->y;
    int64_t width = m->out->width, count = end - begin;
    double line[KB], sums[KB], squares[KB];
    for (int64_t block = 0; block < m->out->blocks; block++) {
        int64_t last = (block + 1) * width < y->cols ? (block + 1) * width : y->cols;
        memset(sums, 0, sizeof sums);
        memset(squares, 0, sizeof squares);
        for (int64_t j = block * width; j < last; j++) {
            arith_widen(y->dtype, at(y, begin, j), y->row_step, count, line);
            for (int64_t i = 0; i < count; i++) {
                sums[i] += m->signs[j] * line[i];
                squares[i] += line[i] * line[i];
            }
        }
        for (int64_t i = 0; i < count; i++) {
            m->panels[panel_place(m, begin + i, block)] = sums[i];
            note_squares(m, begin / KB, block, squares[i]);
        }
    }
}

/* Sums the blocks of a stripe of y's rows. Notes the greatest and the total of their sums of
 * squares. */
static void sum_stripe(void *context, int64_t begin, int64_t end)
{
    making *m = context;
    if (m->y->col_step == 1) {
        sum_along_rows(m, begin, end);
    } else {
        sum_along_columns(m, begin, end);
    }
}

/* ---- the product ----------------------------------------------------------------------------- */

/* Copies rows of x, MR at a time and column by column, and adds up the squares of each row. */
static void pack(const check_view *x, int64_t row, int64_t rows, int64_t first, int64_t depth,
                 double *to, double *squares)
{
    double line[KB > MB ? KB : MB];
    memset(to, 0, sizeof(double) * MB * (size_t)depth);
    if (x->col_step == 1) {
        for (int64_t i = 0; i < rows; i++) {
            arith_widen(x->dtype, at(x, row + i, first), 1, depth, line);
            double *place = to + i / MR * MR * depth + i % MR, sum = 0;
            for (int64_t p = 0; p < depth; p++) {
                place[p * MR] = line[p];
                sum += line[p] * line[p];
            }
            squares[i] += sum;
        }
        return;
    }
    for (int64_t p = 0; p < depth; p++) {
        arith_widen(x->dtype, at(x, row, first + p), x->row_step, rows, line);
        for (int64_t i = 0; i < rows; i++) {
            to[i / MR * MR * depth + p * MR + i % MR] = line[i];
            squares[i] += line[i] * line[i];
        }
    }
}

static void multiply_block(void *context, int64_t begin, int64_t end)
{
    making *m = context;
    const check_view *x = m->x;
    check_projection *out = m->out;
    int64_t step = m->panel_count * NR;
    double *packed = aligned_alloc(64, sizeof(double) * MB * (KB + (size_t)step));
    if (!packed) { /* a norm of NaN makes the check fail */
        for (int64_t i = begin; i < end; i++) {
            out->norms[i] = NAN;
        }
        return;
    }
    double *sums = packed + MB * KB, squares[MB] = {0};
    memset(sums, 0, sizeof(double) * MB * (size_t)step);
    for (int64_t first = 0; first < x->cols; first += KB) {
        int64_t depth = x->cols - first < KB ? x->cols - first : KB;
        pack(x, begin, end - begin, first, depth, packed, squares);
        for (int64_t panel = 0; panel < m->panel_count; panel++) {
            const double *y = m->panels + (panel * x->cols + first) * NR;
            for (int64_t i = 0; i < end - begin; i += MR) {
                m->run(packed + i * depth, y, depth, sums + i * step + panel * NR, step);
            }
        }
    }
    for (int64_t i = begin; i < end; i++) {
        memcpy(out->sums + i * out->blocks, sums + (i - begin) * step,
               sizeof(double) * (size_t)out->blocks);
        out->norms[i] = sqrt(squares[i - begin]);
    }
    free(packed);
}

/* ---- all ------------------------------------------------------------------------------------- */

int64_t check_projection_bytes(int64_t rows, int64_t cols, int64_t width)
{
    int64_t blocks = (cols + width - 1) / width;
    return (int64_t)sizeof(double) * (rows * blocks + rows + 2 * blocks);
}

void check_projection_place(check_projection *out, void *memory, int64_t rows, int64_t cols,
                            int64_t width)
{
    out->rows = rows;
    out->width = width;
    out->blocks = (cols + width - 1) / width;
    out->sums = memory;
    out->norms = out->sums + rows * out->blocks;
    out->spread = out->norms + rows;
    out->usual = out->spread + out->blocks;
}

bool check_projection_make(check_projection *out, const check_view *x, const check_view *y,
                           uint64_t signs)
{
    int64_t blocks = out->blocks, parts = (y->rows + KB - 1) / KB, panels = (blocks + NR - 1) / NR;
    making m = {.out = out, .x = x, .y = y, .panel_count = panels, .run = choose_tile()};
    double *sign = calloc((size_t)y->cols + 1, sizeof *sign);
    m.panels = calloc((size_t)(panels * y->rows) * NR + 1, sizeof(double));
    m.greatest = calloc((size_t)(parts * blocks) + 1, sizeof(double));
    m.total = calloc((size_t)(parts * blocks) + 1, sizeof(double));
    bool good = sign && m.panels && m.greatest && m.total;
    if (good) {
        for (int64_t j = 0; j < y->cols; j++) {
            sign[j] = check_sign(signs, j);
        }
        m.signs = sign;
        arith_parallel(y->rows, KB, sum_stripe, &m);
        for (int64_t block = 0; block < blocks; block++) {
            double greatest = 0, total = 0;
            for (int64_t part = 0; part < parts; part++) {
                greatest = fmax(greatest, m.greatest[part * blocks + block]);
                total += m.total[part * blocks + block];
            }
            out->spread[block] = fmin(8 * sqrt(greatest), sqrt((double)out->width * total));
            out->usual[block] = sqrt(total / (double)y->rows);
        }
        arith_parallel(x->rows, MB, multiply_block, &m);
    }
    free(sign);
    free(m.panels);
    free(m.greatest);
    free(m.total);
    return good;
}
