/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_fixed.c - the fixed product on the CPU: clause 7 of docs/bits.md.
 *
 * The whole numbers of a row and a column are cut into slices so short that the register tile of
 * f64 adds their products exactly: every sum of a run stays below 2^53. After a run its sums are
 * added to a whole number of 192 bits for each element of C, which is rounded once at the end.
 */
#include "backends/openmp/gemm.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    FIXED_ALIGN = 256,
    FIXED_CHUNK = 256,  /* steps of K that are packed at a time */
    FIXED_ROWS = 96,    /* rows of a unit, about */
    FIXED_COLS = 384,   /* its columns, times the slices of B, about */
    FIXED_UNITS = 4,    /* units for each thread, if columns can be shared out */
    FIXED_VECTORS = 64, /* rows or columns whose largest magnitude is found at a time */
    FIXED_LIMBS = 3,
    FIXED_TILES = 6,
    FIXED_FACTORS = 3,    /* for each row and column */
    FIXED_BAD = INT32_MAX /* the exponent of a row or column with an infinity or a NaN */
};

/* How whole numbers of p bits are cut, and the tiles of sums that their slices give: a term of the
 * sum in tile i weighs 2^weights[i]. The sums of `run` steps of k stay exact. */
typedef struct fixed_cut {
    int p, a_slices, a_bits, b_slices, b_bits;
    int64_t run;
    int tiles, weights[FIXED_TILES];
} fixed_cut;

static const fixed_cut cuts[] = {
    [ISO_F16] = {15, 1, 0, 1, 0, 1 << 22, 1, {0}},
    [ISO_BF16] = {15, 1, 0, 1, 0, 1 << 22, 1, {0}},
    [ISO_F32] = {24, 1, 0, 1, 0, 1 << 14, 2, {0, 0}},
    [ISO_F64] = {53, 2, 27, 3, 18, 1 << 10, 6, {0, 18, 36, 27, 45, 63}},
};

/* A whole number in two's complement, the lowest bits first. */
typedef struct fixed_sum {
    uint64_t limb[FIXED_LIMBS];
} fixed_sum;

typedef struct fixed_plan {
    const iso_gemm_op *op;
    const cpu_fixed_type *type;
    const cpu_gemm_type *tile;   /* of f64 */
    const cpu_gemm_type *stored; /* of the operation's type */
    void (*round_line)(const cpu_fixed_line *line, float *out);
    fixed_cut cut;
    void (*multiply)(int height, int64_t k, const void *a, const void *b, void *t, int add);
    int threads;
    int short_sums; /* the sums of one run are all, and two slices are enough to round them */
    int64_t a_row, a_col, b_row, b_col; /* strides */
    int64_t a_members, b_members;
    int64_t unit_rows, unit_cols, units_down, units_across;
    int64_t exponent_bytes; /* of all rows, then all columns */
    /* A thread's scratch memory: packed slices, exact sums of a run, sums of all, factors, a line
     * of C, a strip of A or B */
    int64_t a_bytes, b_bytes, t_bytes, s_bytes, f_bytes, line_bytes, strip_bytes, thread_bytes;
} fixed_plan;

static void plan_make(fixed_plan *p, const cpu_device *device, const iso_gemm_op *op)
{
    memset(p, 0, sizeof *p);
    p->op = op;
    p->type = &device->kernels->fixed->type[op->dtype];
    p->tile = &device->kernels->gemm->type[ISO_F64];
    p->stored = &device->kernels->gemm->type[op->dtype];
    p->cut = cuts[op->dtype];
    p->multiply = op->dtype == ISO_F32 ? device->kernels->fixed->tile_split : p->tile->tile;
    p->a_row = op->trans_a == ISO_TRANS ? 1 : op->lda;
    p->a_col = op->trans_a == ISO_TRANS ? op->lda : 1;
    p->b_row = op->trans_b == ISO_TRANS ? 1 : op->ldb;
    p->b_col = op->trans_b == ISO_TRANS ? op->ldb : 1;
    p->a_members = op->stride_a ? op->batch : 1;
    p->b_members = op->stride_b ? op->batch : 1;
    const int64_t mr = p->tile->mr;
    const int64_t nr = p->tile->nr;
    const double work = (double)op->m * (double)op->n * (double)(op->k > 0 ? op->k : 1) *
                        (double)op->batch * (double)p->cut.tiles;
    p->threads = cpu_team_threads(device->team, 1 + work / GEMM_WORK_A_THREAD);
    p->unit_rows = cpu_least(gemm_round_up(op->m, mr), gemm_round_up(FIXED_ROWS, mr));
    p->unit_cols =
        cpu_least(gemm_round_up(op->n, nr), gemm_round_up(FIXED_COLS / p->cut.b_slices, nr));
    p->units_down = cpu_pieces(op->m, p->unit_rows);
    p->units_across = cpu_pieces(op->n, p->unit_cols);
    while (p->unit_cols > FIXED_ROWS && p->threads > 1 &&
           p->units_down * p->units_across * op->batch < (int64_t)p->threads * FIXED_UNITS) {
        p->unit_cols = gemm_round_up(p->unit_cols / 2, nr);
        p->units_across = cpu_pieces(op->n, p->unit_cols);
    }
    p->short_sums = op->k > 0 && op->k <= p->cut.run && op->dtype != ISO_F64;
    p->round_line = device->kernels->fixed->round_line;
    const int64_t exponents = p->a_members * op->m + p->b_members * op->n;
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

/* ---- exponents ------------------------------------------------------------------------------- */

/* The e with 2^(e-1) <= x < 2^e, for the bits of a magnitude. */
static int32_t exponent_of(iso_dtype dtype, uint64_t bits)
{
    static const struct {
        int fraction, bias;
    } formats[] = {
        [ISO_F16] = {10, 15}, [ISO_BF16] = {7, 127}, [ISO_F32] = {23, 127}, [ISO_F64] = {52, 1023}};
    const int fraction = formats[dtype].fraction;
    const int bias = formats[dtype].bias;
    const int field = (int)(bits >> fraction);
    if (bits == 0) {
        return 0;
    }
    if (field == 2 * bias + 1) {
        return FIXED_BAD;
    }
    return field > 0 ? field - bias + 1 : 64 - __builtin_clzll(bits) + 1 - bias - fraction;
}

/* Finds the exponents of up to FIXED_VECTORS rows or columns. */
static void find_exponents(const fixed_plan *p, const char *from, int64_t step, int64_t k_step,
                           int64_t count, int32_t *to)
{
    uint64_t largest[FIXED_VECTORS];
    p->type->largest(from, step, k_step, count, p->op->k, largest);
    for (int64_t i = 0; i < count; i++) {
        to[i] = exponent_of(p->op->dtype, largest[i]);
    }
}

static void run_exponents(void *context, int thread, int threads)
{
    fixed_run *run = context;
    const fixed_plan *p = run->plan;
    const iso_gemm_op *g = p->op;
    const int64_t cell = iso_dtype_size(g->dtype);
    const int64_t rows = cpu_pieces(g->m, FIXED_VECTORS);
    const int64_t cols = cpu_pieces(g->n, FIXED_VECTORS);
    const int64_t of_a = rows * p->a_members;
    (void)thread;
    (void)threads;
    for (;;) {
        int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken < of_a) {
            const int64_t first = taken % rows * FIXED_VECTORS;
            const int64_t at = taken / rows * g->stride_a + first * p->a_row;
            find_exponents(p, (const char *)cpu_at(g->a) + at * cell, p->a_row, p->a_col,
                           cpu_least(FIXED_VECTORS, g->m - first),
                           run->exponents + taken / rows * g->m + first);
            continue;
        }
        taken -= of_a;
        if (taken >= cols * p->b_members) {
            return;
        }
        const int64_t first = taken % cols * FIXED_VECTORS;
        const int64_t at = taken / cols * g->stride_b + first * p->b_col;
        find_exponents(p, (const char *)cpu_at(g->b) + at * cell, p->b_col, p->b_row,
                       cpu_least(FIXED_VECTORS, g->n - first),
                       run->exponents + p->a_members * g->m + taken / cols * g->n + first);
    }
}

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

/* 2^(p - e) as two factors, because it may be greater or smaller than any f64; and 2^(e - p), which
 * is only used where it fits. Vectors that are not there become zeros. */
static void set_factors(int p, const int32_t *e, int64_t count, int64_t room, double *factors)
{
    for (int64_t i = 0; i < room; i++) {
        const int bad = i < count && e[i] == FIXED_BAD;
        const int shift = i < count && !bad ? p - e[i] : 0;
        factors[i] = i < count ? ldexp(1, shift / 2) : 0;
        factors[room + i] = i < count ? ldexp(1, shift - shift / 2) : 0;
        factors[2 * room + i] = bad ? NAN : ldexp(1, -shift);
    }
}

/* Packs the strip of B at column j, or of A at row i. */
static void pack_b(const fixed_unit *u, int64_t from, int64_t k, int64_t j)
{
    const fixed_plan *p = u->plan;
    const int64_t nr = p->tile->nr;
    const int64_t at = from * p->b_row + j * p->b_col;
    p->stored->pack(u->strip, nr, u->b + at * iso_dtype_size(p->op->dtype), p->b_col, p->b_row,
                    cpu_least(nr, u->cols - j), k);
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
    p->type->cut(&pack);
}

static void pack_a(const fixed_unit *u, int64_t from, int64_t k, int64_t i)
{
    const fixed_plan *p = u->plan;
    const int64_t count = cpu_least(p->tile->mr, u->rows - i);
    const int64_t at = from * p->a_col + i * p->a_row;
    p->stored->pack(u->strip, gemm_strip_height(count), u->a + at * iso_dtype_size(p->op->dtype),
                    p->a_row, p->a_col, count, k);
    const cpu_fixed_pack pack = {
        .to = u->packed_a + i * p->cut.a_slices * k,
        .width = gemm_strip_height(count),
        .next = k * p->tile->mr,
        .k = k,
        .strip = u->strip,
        .once = u->a_factors + i,
        .again = u->a_factors + p->unit_rows + i,
        .slices = p->cut.a_slices,
        .bits = p->cut.a_bits,
    };
    p->type->cut(&pack);
}

/* The tiles of sums lie one after another. */
static double *totals_of(const fixed_unit *u, int64_t i, int64_t j)
{
    const fixed_plan *p = u->plan;
    const int64_t strips = cpu_pieces(u->rows, p->tile->mr);
    const int64_t tile = j / p->tile->nr * strips + i / p->tile->mr;
    return u->totals + tile * p->cut.tiles * p->tile->mr * p->tile->nr;
}

static void multiply(const fixed_unit *u, int64_t k, int64_t i, int64_t j, int add)
{
    const fixed_plan *p = u->plan;
    const int64_t size = (int64_t)p->tile->mr * p->tile->nr;
    const double *a = u->packed_a + i * p->cut.a_slices * k;
    const double *b = u->packed_b + j * p->cut.b_slices * k;
    double *t = totals_of(u, i, j);
    const int height = (int)gemm_strip_height(cpu_least(p->tile->mr, u->rows - i));
    for (int x = 0; x < p->cut.a_slices; x++) {
        for (int y = 0; y < p->cut.b_slices; y++) {
            p->multiply(height, k, a + x * k * p->tile->mr, b + y * k * p->tile->nr, t, add);
            t += size;
        }
    }
}

/* ---- whole numbers --------------------------------------------------------------------------- */

static void add(fixed_sum *sum, __int128 term)
{
    const uint64_t limbs[FIXED_LIMBS] = {(uint64_t)term, (uint64_t)(term >> 64),
                                         (uint64_t)(term >> 127)};
    unsigned __int128 carried = 0;
    for (int i = 0; i < FIXED_LIMBS; i++) {
        carried += (unsigned __int128)sum->limb[i] + limbs[i];
        sum->limb[i] = (uint64_t)carried;
        carried >>= 64;
    }
}

/* Adds the exact sums of a run, each times the weight of its slices. Sums of rows and columns that
 * hold an infinity or a NaN mean nothing. */
static void end_run(const fixed_unit *u)
{
    const fixed_plan *p = u->plan;
    const int64_t mr = p->tile->mr;
    const int64_t nr = p->tile->nr;
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
            add(&u->sums[i * u->cols + j], term);
        }
    }
}

/* The magnitude of a sum as a number of at most 64 bits, which is to be multiplied by 2^*shift. If
 * bits are lost below, its lowest bit is set: a rounding to 53 bits or fewer comes out the same. */
static uint64_t magnitude(fixed_sum sum, int *shift)
{
    unsigned carry = sum.limb[FIXED_LIMBS - 1] >> 63 != 0;
    const uint64_t flip = carry ? UINT64_MAX : 0;
    int top = 0;
    for (int i = 0; i < FIXED_LIMBS; i++) {
        sum.limb[i] = (sum.limb[i] ^ flip) + carry;
        carry = carry && sum.limb[i] == 0;
        top = sum.limb[i] ? i : top;
    }
    *shift = 0;
    if (top == 0) {
        return sum.limb[0];
    }
    const int free_bits = __builtin_clzll(sum.limb[top]);
    uint64_t lost = free_bits ? sum.limb[top - 1] << free_bits : sum.limb[top - 1];
    uint64_t kept = sum.limb[top] << free_bits;
    kept |= free_bits ? sum.limb[top - 1] >> (64 - free_bits) : 0;
    for (int i = 0; i < top - 1; i++) {
        lost |= sum.limb[i];
    }
    *shift = 64 * top - free_bits;
    return kept | (lost != 0);
}

/* sum * 2^e, rounded to nearest even: to `digits` digits, the lowest of at least 2^least. */
static double rounded(fixed_sum sum, int e, int digits, int least)
{
    int shift;
    const uint64_t size = magnitude(sum, &shift);
    if (size == 0) {
        return 0;
    }
    e += shift;
    const double sign = sum.limb[FIXED_LIMBS - 1] >> 63 ? -1 : 1;
    const int length = 64 - __builtin_clzll(size);
    const int cut = length - digits > least - e ? length - digits : least - e;
    if (cut <= 0) {
        return ldexp(sign * (double)size, e);
    }
    if (cut > 64) { /* less than half of the smallest number */
        return sign * 0.0;
    }
    const uint64_t half = size >> (cut - 1) & 1;
    const uint64_t below = cut > 1 ? size << (65 - cut) : 0;
    uint64_t kept = cut < 64 ? size >> cut : 0;
    kept += half && (below || (kept & 1));
    return ldexp(sign * (double)kept, e + cut);
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
        if (p->op->dtype == ISO_F64) {
            ((double *)(void *)u->line)[c] = bad ? NAN : rounded(*sum, scale, 53, -1074);
        } else {
            ((float *)(void *)u->line)[c] = bad ? NAN : (float)rounded(*sum, scale, 24, -149);
        }
    }
}

static void round_short(const fixed_unit *u, int64_t i, int64_t j, int64_t count)
{
    const fixed_plan *p = u->plan;
    const int64_t nr = p->tile->nr;
    for (int64_t c = 0; c < count; c += nr) {
        const cpu_fixed_line line = {
            .sums = totals_of(u, i, j + c) + i % p->tile->mr * nr,
            .next = p->tile->mr * nr,
            .count = cpu_least(nr, count - c),
            .tiles = p->cut.tiles,
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
    const int64_t mr = p->tile->mr;
    const int64_t nr = p->tile->nr;
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
        const int64_t of_a = p->a_members > 1 ? member : 0;
        const int64_t of_b = p->b_members > 1 ? member : 0;
        u.a = (const char *)cpu_at(g->a) + (of_a * g->stride_a + row * p->a_row) * cell;
        u.b = (const char *)cpu_at(g->b) + (of_b * g->stride_b + col * p->b_col) * cell;
        u.e = run->exponents + of_a * g->m + row;
        u.f = run->exponents + p->a_members * g->m + of_b * g->n + col;
        set_factors(p->cut.p, u.e, u.rows, p->unit_rows, u.a_factors);
        set_factors(p->cut.p, u.f, u.cols, p->unit_cols, u.b_factors);
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
    fixed_plan plan;
    plan_make(&plan, device, op->gemm);
    char *scratch = cpu_at(op->workspace);
    fixed_run run = {.plan = &plan,
                     .exponents = (int32_t *)(void *)scratch,
                     .scratch = scratch + plan.exponent_bytes};
    if (op->gemm->k > 0) {
        atomic_init(&run.next, 0);
        cpu_team_run(device->team, plan.threads, run_exponents, &run);
    }
    atomic_init(&run.next, 0);
    cpu_team_run(device->team, plan.threads, run_units, &run);
}
