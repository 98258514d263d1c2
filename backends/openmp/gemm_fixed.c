/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_fixed.c - the fixed product on the CPU: clause 7 of docs/bits.md.
 *
 * The whole numbers of a row and a column are cut into slices so short that the register tile of
 * f64 adds their products exactly: every sum of a run stays below 2^53. After a run its sums are
 * added to a whole number of 192 bits for each element of C, which is rounded once at the end.
 */
#include "backends/openmp/gemm_fixed.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    FIXED_CHUNK = 256, /* steps of K that are packed at a time */
    FIXED_ROWS = 96,   /* rows of a unit, about */
    FIXED_COLS = 384,  /* its columns, times the slices of B, about */
    FIXED_UNITS = 4,   /* units for each thread, if columns can be shared out */
    FIXED_TILES = 6
};

/* How whole numbers of p bits are cut, and the tiles of sums that their slices give: a term of the
 * sum in tile i weighs 2^weights[i]. The sums of `run` steps of k stay exact. A unit has about
 * `rows` rows. */
typedef struct fixed_cut {
    int p, a_slices, a_bits, b_slices, b_bits;
    int64_t run, rows;
    int tiles, weights[FIXED_TILES];
} fixed_cut;

static const fixed_cut cuts[] = {
    [ISO_F16] = {15, 1, 0, 1, 0, 1 << 22, FIXED_ROWS, 1, {0}},
    [ISO_BF16] = {15, 1, 0, 1, 0, 1 << 22, FIXED_ROWS, 1, {0}},
    [ISO_F32] = {24, 1, 0, 1, 0, 1 << 14, FIXED_ROWS, 2, {0, 0}},
    [ISO_F64] = {53, 2, 27, 3, 18, 1 << 10, FIXED_ROWS, 6, {0, 18, 36, 27, 45, 63}},
};

/* Slices of words: kernels/words.c. */
static const fixed_cut words_cut = {
    15, 1, 0, 2, CPU_WORDS_BITS, 1 << 22, 2 * FIXED_ROWS, 2, {0, CPU_WORDS_BITS}};
_Static_assert((int)FIXED_CHUNK <= (int)CPU_WORDS_RUN, "the words' sums have 32 bits");

typedef struct fixed_plan {
    const iso_gemm_op *op;
    fixed_operands in;
    const cpu_gemm_type *stored; /* of the operation's type */
    void (*round_line)(const cpu_fixed_line *line, float *out);
    fixed_cut cut;
    void (*make_slices)(const cpu_fixed_pack *pack);
    void (*multiply)(int height, int64_t k, const void *a, const void *b, void *t, int add);
    int threads;
    int short_sums; /* the sums of one run are all, and two slices are enough to round them */
    int64_t mr, nr; /* rows and columns of the register tile */
    int64_t unit_rows, unit_cols, units_down, units_across;
    int64_t exponent_bytes; /* of all rows, then all columns */
    /* A thread's scratch memory: packed slices, exact sums of a run, sums of all, factors, a line
     * of C, a strip of A or B */
    int64_t a_bytes, b_bytes, t_bytes, s_bytes, f_bytes, line_bytes, strip_bytes, thread_bytes;
} fixed_plan;

static void choose_kernels(fixed_plan *p, const cpu_kernels *kernels)
{
    const cpu_gemm_type *tile = &kernels->gemm->type[ISO_F64];
    p->cut = cuts[p->op->dtype];
    p->make_slices = p->in.type->cut;
    p->multiply = p->op->dtype == ISO_F32 ? kernels->fixed->tile_split : tile->tile;
    p->mr = tile->mr;
    p->nr = tile->nr;
    if (kernels->words && iso_dtype_size(p->op->dtype) == 2) {
        p->cut = words_cut;
        p->make_slices = kernels->words->cut;
        p->multiply = kernels->words->tile;
        p->nr = kernels->words->nr;
    }
}

/* Greater units pack less. They become smaller until every thread has some. */
static void choose_unit(fixed_plan *p)
{
    const iso_gemm_op *op = p->op;
    const int64_t least = (int64_t)p->threads * FIXED_UNITS;
    const int64_t cols = gemm_round_up(FIXED_COLS / p->cut.b_slices, p->nr);
    int64_t rows = gemm_round_up(p->cut.rows, p->mr);
    p->unit_cols = cpu_least(gemm_round_up(op->n, p->nr), cols);
    p->units_across = cpu_pieces(op->n, p->unit_cols);
    if (cpu_pieces(op->m, rows) * p->units_across * op->batch < least) {
        rows = gemm_round_up(FIXED_ROWS, p->mr);
    }
    p->unit_rows = cpu_least(gemm_round_up(op->m, p->mr), rows);
    p->units_down = cpu_pieces(op->m, p->unit_rows);
    while (p->unit_cols > FIXED_ROWS && p->threads > 1 &&
           p->units_down * p->units_across * op->batch < least) {
        p->unit_cols = gemm_round_up(p->unit_cols / 2, p->nr);
        p->units_across = cpu_pieces(op->n, p->unit_cols);
    }
}

static void plan_make(fixed_plan *p, const cpu_device *device, const iso_gemm_op *op)
{
    memset(p, 0, sizeof *p);
    p->op = op;
    fixed_operands_make(&p->in, device, op);
    p->stored = &device->kernels->gemm->type[op->dtype];
    choose_kernels(p, device->kernels);
    const int64_t mr = p->mr;
    const int64_t nr = p->nr;
    const double work = (double)op->m * (double)op->n * (double)(op->k > 0 ? op->k : 1) *
                        (double)op->batch * (double)p->cut.tiles;
    p->threads = cpu_team_threads(device->team, 1 + work / GEMM_WORK_A_THREAD);
    choose_unit(p);
    p->short_sums = op->k > 0 && op->k <= p->cut.run && op->dtype != ISO_F64;
    p->round_line = device->kernels->fixed->round_line;
    const int64_t exponents = p->in.a_members * op->m + p->in.b_members * op->n;
    const int64_t chunk = cpu_least(op->k, FIXED_CHUNK) * (int64_t)sizeof(double);
    const int64_t cells = p->unit_rows * p->unit_cols;
    p->exponent_bytes = gemm_round_up(exponents * (int64_t)sizeof(int32_t), FIXED_ALIGN);
    p->a_bytes = gemm_round_up(p->cut.a_slices * p->unit_rows * chunk, FIXED_ALIGN);
    p->b_bytes = gemm_round_up(p->cut.b_slices * p->unit_cols * chunk, FIXED_ALIGN);
    p->t_bytes = gemm_round_up(p->cut.tiles * cells * (int64_t)sizeof(double), FIXED_ALIGN);
    p->s_bytes = p->short_sums ? 0 : gemm_round_up(cells * (int64_t)sizeof(fixed_sum), FIXED_ALIGN);
    p->f_bytes = gemm_round_up(
        FIXED_FACTORS * (p->unit_rows + p->unit_cols) * (int64_t)sizeof(double), FIXED_ALIGN);
    p->line_bytes = gemm_round_up((int64_t)p->stored->nr * p->stored->real_bytes, FIXED_ALIGN);
    p->strip_bytes = gemm_round_up((mr > nr ? mr : nr) * chunk, FIXED_ALIGN);
    p->thread_bytes = p->a_bytes + p->b_bytes + p->t_bytes + p->s_bytes + p->f_bytes +
                      p->line_bytes + p->strip_bytes;
}

int64_t gemm_fixed_workspace(const cpu_device *device, const iso_gemm_op *op)
{
    if (fixed_bytes_suits(device, op)) {
        return fixed_bytes_workspace(device, op);
    }
    fixed_plan p;
    plan_make(&p, device, op);
    return p.exponent_bytes + p.threads * p.thread_bytes;
}

typedef struct fixed_run {
    const fixed_plan *plan;
    int32_t *exponents;
    char *scratch;
    atomic_llong next;
} fixed_run;

/* ---- a unit ---------------------------------------------------------------------------------- */

typedef struct fixed_unit {
    const fixed_plan *plan;
    const char *a, *b; /* the unit's first row of A and column of B */
    char *c;
    int64_t rows, cols;
    const int32_t *e, *f;
    double *packed_a, *packed_b, *totals;
    double *a_factors, *b_factors; /* to scale, in two steps, and to scale back */
    fixed_sum *sums;
    char *line, *strip;
} fixed_unit;

/* Packs the strip of B at column j, or of A at row i. */
static void pack_b(const fixed_unit *u, int64_t from, int64_t k, int64_t j)
{
    const fixed_plan *p = u->plan;
    const int64_t nr = p->nr;
    const int64_t at = from * p->in.b_row + j * p->in.b_col;
    p->stored->pack(u->strip, nr, u->b + at * iso_dtype_size(p->op->dtype), p->in.b_col,
                    p->in.b_row, cpu_least(nr, u->cols - j), k);
    const cpu_fixed_pack pack = {
        .to = u->packed_b + j * p->cut.b_slices * k,
        .width = nr,
        .next = k * nr,
        .k = k,
        .strip = u->strip,
        .once = u->b_factors + j,
        .again = u->b_factors + p->unit_cols + j,
        .slices = p->cut.b_slices,
        .bits = p->cut.b_bits,
    };
    p->make_slices(&pack);
}

static void pack_a(const fixed_unit *u, int64_t from, int64_t k, int64_t i)
{
    const fixed_plan *p = u->plan;
    const int64_t count = cpu_least(p->mr, u->rows - i);
    const int64_t at = from * p->in.a_col + i * p->in.a_row;
    p->stored->pack(u->strip, gemm_strip_height(count), u->a + at * iso_dtype_size(p->op->dtype),
                    p->in.a_row, p->in.a_col, count, k);
    const cpu_fixed_pack pack = {
        .to = u->packed_a + i * p->cut.a_slices * k,
        .width = gemm_strip_height(count),
        .next = k * p->mr,
        .k = k,
        .strip = u->strip,
        .once = u->a_factors + i,
        .again = u->a_factors + p->unit_rows + i,
        .slices = p->cut.a_slices,
        .bits = p->cut.a_bits,
    };
    p->make_slices(&pack);
}

/* The tiles of sums lie one after another. */
static double *totals_of(const fixed_unit *u, int64_t i, int64_t j)
{
    const fixed_plan *p = u->plan;
    const int64_t strips = cpu_pieces(u->rows, p->mr);
    const int64_t tile = j / p->nr * strips + i / p->mr;
    return u->totals + tile * p->cut.tiles * p->mr * p->nr;
}

static void multiply(const fixed_unit *u, int64_t k, int64_t i, int64_t j, int add)
{
    const fixed_plan *p = u->plan;
    const int64_t size = (int64_t)p->mr * p->nr;
    const double *a = u->packed_a + i * p->cut.a_slices * k;
    const double *b = u->packed_b + j * p->cut.b_slices * k;
    double *t = totals_of(u, i, j);
    const int height = (int)gemm_strip_height(cpu_least(p->mr, u->rows - i));
    for (int x = 0; x < p->cut.a_slices; x++) {
        for (int y = 0; y < p->cut.b_slices; y++) {
            p->multiply(height, k, a + x * k * p->mr, b + y * k * p->nr, t, add);
            t += size;
        }
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adds the exact sums of a run, each times the weight of its slices. Sums of rows and columns that
 * hold an infinity or a NaN mean nothing. */
static void end_run(const fixed_unit *u)
{
    const fixed_plan *p = u->plan;
    const int64_t mr = p->mr;
    const int64_t nr = p->nr;
    for (int64_t i = 0; i < u->rows; i++) {
        for (int64_t j = 0; j < u->cols; j++) {
            const double *t = totals_of(u, i, j) + i % mr * nr + j % nr;
            __int128 term = 0;
            if (u->e[i] == FIXED_BAD || u->f[j] == FIXED_BAD) {
                continue;
            }
            for (int x = 0; x < p->cut.tiles; x++, t += mr * nr) {
                term += (int64_t)*t * ((__int128)1 << p->cut.weights[x]);
            }
            fixed_add(&u->sums[i * u->cols + j], term);
        }
    }
}

/* t of `count` elements of a row, which begin at the start of a tile. */
static void round_long(const fixed_unit *u, int64_t i, int64_t j, int64_t count)
{
    const fixed_plan *p = u->plan;
    for (int64_t c = 0; c < count; c++) {
        const fixed_sum *sum = &u->sums[i * u->cols + j + c];
        const int32_t e = p->op->k > 0 ? u->e[i] : 0;
        const int32_t f = p->op->k > 0 ? u->f[j + c] : 0;
        const int bad = e == FIXED_BAD || f == FIXED_BAD;
        const int scale = bad ? 0 : e + f - 2 * p->cut.p;
        const double t = bad ? NAN : fixed_round(p->op->dtype, *sum, scale);
        if (p->op->dtype == ISO_F64) {
            ((double *)(void *)u->line)[c] = t;
        } else {
            ((float *)(void *)u->line)[c] = (float)t;
        }
    }
}

static void round_short(const fixed_unit *u, int64_t i, int64_t j, int64_t count)
{
    const fixed_plan *p = u->plan;
    const int64_t nr = p->nr;
    for (int64_t c = 0; c < count; c += nr) {
        const cpu_fixed_line line = {
            .sums = totals_of(u, i, j + c) + i % p->mr * nr,
            .next = p->mr * nr,
            .count = cpu_least(nr, count - c),
            .tiles = p->cut.tiles,
            .weight = (double)(1 << p->cut.weights[1]),
            .row = u->a_factors[2 * p->unit_rows + i],
            .cols = u->b_factors + 2 * p->unit_cols + j + c,
        };
        p->round_line(&line, (float *)(void *)u->line + c);
    }
}

/* Rounds the sums of a row, and computes its elements of C. */
static void finish_row(const fixed_unit *u, int64_t i)
{
    const fixed_plan *p = u->plan;
    const iso_gemm_op *g = p->op;
    const int64_t nr = p->stored->nr;
    for (int64_t j = 0; j < u->cols; j += nr) {
        const int64_t count = cpu_least(nr, u->cols - j);
        if (p->short_sums) {
            round_short(u, i, j, count);
        } else {
            round_long(u, i, j, count);
        }
        p->stored->finish(u->line, 1, count, g->alpha, g->beta,
                          u->c + (i * g->ldc + j) * iso_dtype_size(g->dtype), g->ldc, 1);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static void run_unit(const fixed_unit *u)
{
    const fixed_plan *p = u->plan;
    const int64_t mr = p->mr;
    const int64_t nr = p->nr;
    const int64_t k = p->op->k;
    int64_t since = 0;
    if (!p->short_sums) {
        memset(u->sums, 0, (size_t)(u->rows * u->cols) * sizeof *u->sums);
    }
    for (int64_t from = 0; from < k; from += FIXED_CHUNK) {
        const int64_t here = cpu_least(FIXED_CHUNK, k - from);
        for (int64_t j = 0; j < u->cols; j += nr) {
            pack_b(u, from, here, j);
        }
        for (int64_t i = 0; i < u->rows; i += mr) {
            pack_a(u, from, here, i);
            for (int64_t j = 0; j < u->cols; j += nr) {
                multiply(u, here, i, j, since > 0);
            }
        }
        since += here;
        if (!p->short_sums && (from + here == k || since + FIXED_CHUNK > p->cut.run)) {
            end_run(u);
            since = 0;
        }
    }
    for (int64_t i = 0; i < u->rows; i++) {
        finish_row(u, i);
    }
}

static fixed_unit unit_of(const fixed_run *run, int64_t taken, int thread)
{
    const fixed_plan *p = run->plan;
    const iso_gemm_op *g = p->op;
    const int64_t cell = iso_dtype_size(g->dtype);
    const int64_t units = p->units_down * p->units_across;
    const int64_t member = taken / units;
    const int64_t row = taken % units / p->units_across * p->unit_rows;
    const int64_t col = taken % units % p->units_across * p->unit_cols;
    char *own = run->scratch + thread * p->thread_bytes;
    fixed_unit u = {
        .plan = p,
        .rows = cpu_least(p->unit_rows, g->m - row),
        .cols = cpu_least(p->unit_cols, g->n - col),
        .c = (char *)cpu_at(g->c) + (member * g->stride_c + row * g->ldc + col) * cell,
        .packed_a = (double *)(void *)own,
        .packed_b = (double *)(void *)(own + p->a_bytes),
        .totals = (double *)(void *)(own + p->a_bytes + p->b_bytes),
        .sums = (fixed_sum *)(void *)(own + p->a_bytes + p->b_bytes + p->t_bytes),
        .a_factors = (double *)(void *)(own + p->a_bytes + p->b_bytes + p->t_bytes + p->s_bytes),
        .line = own + p->thread_bytes - p->strip_bytes - p->line_bytes,
        .strip = own + p->thread_bytes - p->strip_bytes,
    };
    u.b_factors = u.a_factors + FIXED_FACTORS * p->unit_rows;
    if (g->k > 0) {
        const int64_t of_a = p->in.a_members > 1 ? member : 0;
        const int64_t of_b = p->in.b_members > 1 ? member : 0;
        u.a = (const char *)cpu_at(g->a) + (of_a * g->stride_a + row * p->in.a_row) * cell;
        u.b = (const char *)cpu_at(g->b) + (of_b * g->stride_b + col * p->in.b_col) * cell;
        u.e = run->exponents + of_a * g->m + row;
        u.f = run->exponents + p->in.a_members * g->m + of_b * g->n + col;
        fixed_factors(p->cut.p, u.e, u.rows, p->unit_rows, u.a_factors);
        fixed_factors(p->cut.p, u.f, u.cols, p->unit_cols, u.b_factors);
    }
    return u;
}

static void run_units(void *context, int thread, int threads)
{
    fixed_run *run = context;
    const fixed_plan *p = run->plan;
    const int64_t units = p->units_down * p->units_across * p->op->batch;
    (void)threads;
    for (;;) {
        const int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken >= units) {
            return;
        }
        const fixed_unit u = unit_of(run, taken, thread);
        run_unit(&u);
    }
}

void gemm_fixed(const cpu_device *device, const iso_op *op)
{
    if (fixed_bytes_suits(device, op->gemm)) {
        fixed_bytes(device, op);
        return;
    }
    fixed_plan plan;
    plan_make(&plan, device, op->gemm);
    char *scratch = cpu_at(op->workspace);
    fixed_run run = {.plan = &plan,
                     .exponents = (int32_t *)(void *)scratch,
                     .scratch = scratch + plan.exponent_bytes};
    if (op->gemm->k > 0) {
        fixed_exponents(device, &plan.in, plan.threads, run.exponents);
    }
    atomic_init(&run.next, 0);
    cpu_team_run(device->team, plan.threads, run_units, &run);
}

void gemm_fixed_describe(const cpu_device *device, const iso_gemm_op *op, iso_op_info *out)
{
    const char *dtype = iso_dtype_name(op->dtype);
    if (fixed_bytes_suits(device, op)) {
        (void)snprintf(out->kernel, sizeof out->kernel, "gemm_fixed_%s %d moduli %s", dtype,
                       fixed_bytes_moduli(op), device->kernels->name);
        return;
    }
    (void)snprintf(out->kernel, sizeof out->kernel, "gemm_fixed_%s %s", dtype,
                   device->kernels->name);
}
