/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_fixed_bytes.c - the fixed product of f64 on CPUs that multiply bytes: kernels/bytes.c. The
 * residues of A and B are made first, in one block of C after another if all would take too much
 * memory. Then each unit of C multiplies them modulo one number after another, and joins its sums.
 */
#include "backends/openmp/gemm_fixed.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    BYTES_STRIPS = 7,    /* of A in a unit of C, whose columns are one strip of B */
    BYTES_STEPS = 64,    /* steps of k whose residues are made at a time */
    BYTES_CHUNK = 256,   /* groups of 4 steps: so much of a strip of B fits into an L1 cache */
    BYTES_DEPTH = 65536, /* the most steps of k: a sum of residues stays below 2^31 */
    BYTES_LEAST = 32,    /* rows and columns; with fewer, residues cost more than they save */
    BYTES_P = 53,
    BYTES_MILD = 400 /* greatest exponent of rows and columns whose scales an f64 can multiply by */
};

#define BYTES_ROOM (INT64_C(1) << 28) /* memory for residues, if one unit does not need more */

/* Coprime numbers, the greatest first. */
static const int moduli[CPU_MODULI] = {256, 255, 253, 251, 247, 241, 239, 233,
                                       229, 227, 223, 217, 211, 199, 197, 193};

/* How many moduli determine a sum: their product exceeds twice the greatest one, and a little more,
 * so that its share of the product is well below a half. */
int fixed_bytes_moduli(const iso_gemm_op *op)
{
    const unsigned __int128 twice = (unsigned __int128)op->k << (2 * BYTES_P + 1);
    unsigned __int128 product = 1;
    int count = 0;
    while (product - (product >> 20) <= twice) {
        product *= (unsigned)moduli[count++];
    }
    return count;
}

static int balanced(int x, int m)
{
    x %= m;
    return x >= (m + 1) / 2 ? x - m : x;
}

/* The x with a * x = 1 modulo m. */
static int inverse_of(int a, int m)
{
    int x = 1;
    for (int product = a; product != 1; x++) {
        product = product + a < m ? product + a : product + a - m;
    }
    return x;
}

/* Digits of base 2^40; the last takes what is left. */
static void set_digits(unsigned __int128 number, double *to, int64_t step)
{
    to[0] = (double)((uint64_t)number & ((UINT64_C(1) << 40) - 1));
    to[step] = (double)((uint64_t)(number >> 40) & ((UINT64_C(1) << 40) - 1));
    to[2 * step] = (double)(uint64_t)(number >> 80);
}

/* All but the count, which is there. */
static void moduli_make(cpu_moduli *m)
{
    unsigned __int128 product = 1;
    for (int c = 0; c < m->count; c++) {
        product *= (unsigned)moduli[c];
    }
    set_digits(product, m->whole, 1);
    for (int c = 0; c < m->count; c++) {
        const int n = moduli[c];
        const unsigned __int128 others = product / (unsigned)n;
        m->modulus[c] = (float)n;
        m->inverse[c] = 1 / (float)n;
        m->a_offset[c] = (float)(0.5 - (double)CPU_SHIFT / n);
        for (int i = 1; i < CPU_PIECES; i++) {
            m->piece[i][c] = (float)balanced((int)((INT64_C(1) << (14 * i)) % n), n);
        }
        m->weight[c] = balanced(inverse_of((int)(others % (unsigned)n), n), n);
        m->part[c] = 1.0 / n;
        set_digits(others, &m->share[0][c], CPU_MODULI);
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

typedef struct bytes_plan {
    const iso_gemm_op *op;
    fixed_operands in;
    const cpu_bytes_kernels *kernels;
    const cpu_gemm_type *stored;
    cpu_moduli moduli;
    int threads;
    int64_t groups;              /* of 4 steps of k */
    int64_t members, rows, cols; /* of a block of C */
    int64_t plane_a, plane_b;    /* bytes of a strip's residues of one modulus */
    int64_t exponent_bytes, a_bytes, b_bytes;
    /* A thread's scratch memory: sums of a unit, or a strip that becomes residues; factors of the
     * unit's rows and columns; a line's digits and its numbers */
    int64_t t_bytes, f_bytes, d_bytes, line_bytes, thread_bytes;
} bytes_plan;

/* Makes the block of C smaller until its residues fit. */
static void choose_block(bytes_plan *p)
{
    const int64_t mr = p->kernels->mr;
    const int64_t nr = p->kernels->nr;
    p->members = p->op->batch;
    p->rows = p->op->m;
    p->cols = p->op->n;
    for (;;) {
        p->a_bytes = p->moduli.count * p->members * cpu_pieces(p->rows, mr) * p->plane_a;
        p->b_bytes = p->moduli.count * p->members * cpu_pieces(p->cols, nr) * p->plane_b;
        if (p->a_bytes + p->b_bytes <= BYTES_ROOM) {
            return;
        }
        if (p->members > 1) {
            p->members = cpu_pieces(p->members, 2);
        } else if (p->rows >= p->cols && p->rows > mr * BYTES_STRIPS) {
            p->rows = gemm_round_up(cpu_pieces(p->rows, 2), mr * BYTES_STRIPS);
        } else if (p->cols > nr) {
            p->cols = gemm_round_up(cpu_pieces(p->cols, 2), nr);
        } else {
            return;
        }
    }
}

static void plan_make(bytes_plan *p, const cpu_device *device, const iso_gemm_op *op)
{
    memset(p, 0, sizeof *p);
    p->op = op;
    fixed_operands_make(&p->in, device, op);
    p->kernels = device->kernels->bytes;
    p->stored = &device->kernels->gemm->type[op->dtype];
    p->moduli.count = fixed_bytes_moduli(op);
    const int64_t mr = p->kernels->mr;
    const int64_t nr = p->kernels->nr;
    const double work =
        (double)op->m * (double)op->n * (double)op->k * (double)op->batch * p->moduli.count / 8;
    p->threads = cpu_team_threads(device->team, 1 + work / GEMM_WORK_A_THREAD);
    p->groups = cpu_pieces(op->k, 4);
    p->plane_a = mr * p->groups * 4;
    p->plane_b = nr * p->groups * 4;
    choose_block(p);
    const int64_t exponents = p->in.a_members * op->m + p->in.b_members * op->n;
    const int64_t sums = p->moduli.count * BYTES_STRIPS * mr * nr * (int64_t)sizeof(int32_t);
    const int64_t strip = BYTES_STEPS * nr * (int64_t)sizeof(double);
    p->exponent_bytes = gemm_round_up(exponents * (int64_t)sizeof(int32_t), FIXED_ALIGN);
    p->a_bytes = gemm_round_up(p->a_bytes, FIXED_ALIGN);
    p->b_bytes = gemm_round_up(p->b_bytes, FIXED_ALIGN);
    p->t_bytes = gemm_round_up(sums > strip ? sums : strip, FIXED_ALIGN);
    p->f_bytes = gemm_round_up(FIXED_FACTORS * (mr * BYTES_STRIPS + nr) * (int64_t)sizeof(double),
                               FIXED_ALIGN);
    p->d_bytes = gemm_round_up(CPU_DIGITS * nr * (int64_t)sizeof(double), FIXED_ALIGN);
    p->line_bytes = gemm_round_up(nr * (int64_t)sizeof(double), FIXED_ALIGN);
    p->thread_bytes = p->t_bytes + p->f_bytes + p->d_bytes + p->line_bytes;
}

int fixed_bytes_suits(const cpu_device *device, const iso_gemm_op *op)
{
    return device->kernels->bytes && op->dtype == ISO_F64 && op->m >= BYTES_LEAST &&
           op->n >= BYTES_LEAST && op->k > 0 && op->k <= BYTES_DEPTH;
}

int64_t fixed_bytes_workspace(const cpu_device *device, const iso_gemm_op *op)
{
    bytes_plan p;
    plan_make(&p, device, op);
    return p.exponent_bytes + p.a_bytes + p.b_bytes + p.threads * p.thread_bytes;
}

/* ---- residues -------------------------------------------------------------------------------- */

/* Rows of op(A) or columns of op(B): those of a block, from `first` on. */
typedef struct bytes_side {
    const char *from;
    const int32_t *exponents;
    uint8_t *planes;
    int64_t step, k_step, stride, members, vectors, first, count, width, plane;
    int a;
} bytes_side;

typedef struct bytes_run {
    const bytes_plan *plan;
    char *scratch;
    bytes_side a, b;
    int64_t member, members; /* of the block */
    int make_a;              /* whether A's residues are made, or are there */
    atomic_llong next;
} bytes_run;

static int64_t strips_of(const bytes_side *s)
{
    return cpu_pieces(s->count, s->width);
}

/* How many vectors a strip has room for. */
static int64_t strip_width(const bytes_side *s, int64_t strip)
{
    return s->a ? gemm_strip_height(cpu_least(s->width, s->count - strip * s->width)) : s->width;
}

/* The residues of a strip for modulus c. */
static uint8_t *plane_of(const bytes_run *run, const bytes_side *s, int64_t member, int64_t strip,
                         int c)
{
    return s->planes + ((member * strips_of(s) + strip) * run->plan->moduli.count + c) * s->plane;
}

static void make_residues(const bytes_run *run, const bytes_side *s, int64_t member, int64_t strip,
                          char *own)
{
    const bytes_plan *p = run->plan;
    double *packed = (double *)(void *)own;
    const int64_t cell = (int64_t)sizeof(double);
    const int64_t first = s->first + strip * s->width;
    const int64_t count = cpu_least(s->width, s->count - strip * s->width);
    const int64_t of = s->members > 1 ? run->member + member : 0;
    const int64_t width = strip_width(s, strip);
    const int64_t part = s->a ? width : p->stored->nr; /* what is packed at a time */
    const char *from = s->from + (of * s->stride + first * s->step) * cell;
    double *factors = (double *)(void *)(own + p->t_bytes);
    fixed_factors(BYTES_P, s->exponents + of * s->vectors + first, count, width, factors);
    for (int64_t k = 0; k < p->op->k; k += BYTES_STEPS) {
        const int64_t here = cpu_least(BYTES_STEPS, p->op->k - k);
        const int64_t padded = gemm_round_up(here, 4);
        for (int64_t i = 0; i < width; i += part) {
            const int64_t there = count > i ? cpu_least(part, count - i) : 0;
            const char *at = there > 0 ? from + (i * s->step + k * s->k_step) * cell : from;
            const cpu_bytes_pack pack = {
                .moduli = &p->moduli,
                .to = plane_of(run, s, member, strip, 0) + (k / 4 * width + i) * 4,
                .width = part,
                .next = s->plane,
                .pitch = width,
                .k = padded,
                .strip = packed,
                .once = factors + i,
                .again = factors + width + i,
                .a = s->a,
            };
            p->stored->pack(packed, part, at, s->step, s->k_step, there, here);
            memset(packed + here * part, 0, (size_t)((padded - here) * part) * sizeof *packed);
            p->kernels->residues(&pack);
        }
    }
}

static void run_residues(void *context, int thread, int threads)
{
    bytes_run *run = context;
    char *own = run->scratch + thread * run->plan->thread_bytes;
    const int64_t of_a = run->make_a ? strips_of(&run->a) * run->members : 0;
    const int64_t of_b = strips_of(&run->b) * run->members;
    (void)threads;
    for (;;) {
        const int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken >= of_a + of_b) {
            return;
        }
        const bytes_side *s = taken < of_a ? &run->a : &run->b;
        const int64_t task = taken < of_a ? taken : taken - of_a;
        make_residues(run, s, task / strips_of(s), task % strips_of(s), own);
    }
}

/* ---- a unit ---------------------------------------------------------------------------------- */

typedef struct bytes_unit {
    const bytes_run *run;
    int64_t member, strip_a, strips, strip_b; /* in the block */
    int64_t rows, cols;
    char *c;
    const int32_t *e, *f;
    int32_t *sums;
    double *a_factors, *b_factors, *digits, *line;
    int mild_cols;
} bytes_unit;

static int32_t *sums_of(const bytes_unit *u, int c, int64_t strip)
{
    const cpu_bytes_kernels *kernels = u->run->plan->kernels;
    return u->sums + (c * u->strips + strip) * kernels->mr * kernels->nr;
}

static void multiply(const bytes_unit *u)
{
    const bytes_run *run = u->run;
    const bytes_plan *p = run->plan;
    for (int c = 0; c < p->moduli.count; c++) {
        const uint8_t *b = plane_of(run, &run->b, u->member, u->strip_b, c);
        for (int64_t g = 0; g < p->groups; g += BYTES_CHUNK) {
            const int64_t here = cpu_least(BYTES_CHUNK, p->groups - g);
            for (int64_t i = 0; i < u->strips; i++) {
                const int64_t height = strip_width(&run->a, u->strip_a + i);
                const uint8_t *a = plane_of(run, &run->a, u->member, u->strip_a + i, c);
                p->kernels->tile((int)height, here, a + g * height * 4, b + g * run->b.width * 4,
                                 sums_of(u, c, i), g > 0);
            }
        }
    }
}

static int is_mild(int32_t e)
{
    return e == FIXED_BAD || (e >= -BYTES_MILD && e <= BYTES_MILD);
}

/* t of a row of f64 whose exponents are too great or too small for factors. */
static void round_wild(const bytes_unit *u, int64_t i)
{
    const bytes_plan *p = u->run->plan;
    for (int64_t j = 0; j < u->cols; j++) {
        const int bad = u->e[i] == FIXED_BAD || u->f[j] == FIXED_BAD;
        fixed_sum sum = {{0}};
        __int128 exact = 0;
        for (int l = 0; l < CPU_DIGITS; l++) {
            exact += (__int128)u->digits[l * p->kernels->nr + j];
        }
        fixed_add(&sum, exact);
        u->line[j] = bad ? NAN : fixed_round(ISO_F64, sum, u->e[i] + u->f[j] - 2 * BYTES_P);
    }
}

/* Joins the sums of a row, and computes its elements of C. */
static void finish_row(const bytes_unit *u, int64_t i)
{
    const bytes_plan *p = u->run->plan;
    const iso_gemm_op *g = p->op;
    const int64_t mr = p->kernels->mr;
    const int64_t nr = p->kernels->nr;
    const int64_t room = gemm_round_up(u->rows, mr);
    const cpu_fixed_line line = {
        .sums = u->digits,
        .next = nr,
        .count = u->cols,
        .row = u->a_factors[2 * room + i],
        .cols = u->b_factors + 2 * nr,
    };
    p->kernels->join(&p->moduli, sums_of(u, 0, i / mr) + i % mr * nr, u->strips * mr * nr,
                     u->digits);
    if (u->mild_cols && is_mild(u->e[i])) {
        p->kernels->round_line(&line, u->line);
    } else {
        round_wild(u, i);
    }
    p->stored->finish(u->line, 1, u->cols, g->alpha, g->beta,
                      u->c + i * g->ldc * (int64_t)sizeof(double), g->ldc, 1);
}

static bytes_unit unit_of(const bytes_run *run, int64_t taken, char *own)
{
    const bytes_plan *p = run->plan;
    const iso_gemm_op *g = p->op;
    const int64_t down = cpu_pieces(strips_of(&run->a), BYTES_STRIPS);
    const int64_t across = strips_of(&run->b);
    const int64_t member = taken / (down * across);
    const int64_t strip_a = taken % down * BYTES_STRIPS;
    const int64_t strip_b = taken / down % across;
    const int64_t row = strip_a * run->a.width;
    const int64_t col = strip_b * run->b.width;
    const int64_t of_a = run->a.members > 1 ? run->member + member : 0;
    const int64_t of_b = run->b.members > 1 ? run->member + member : 0;
    bytes_unit u = {
        .run = run,
        .member = member,
        .strip_a = strip_a,
        .strip_b = strip_b,
        .strips = cpu_least(BYTES_STRIPS, strips_of(&run->a) - strip_a),
        .rows = cpu_least(BYTES_STRIPS * run->a.width, run->a.count - row),
        .cols = cpu_least(run->b.width, run->b.count - col),
        .e = run->a.exponents + of_a * g->m + run->a.first + row,
        .f = run->b.exponents + of_b * g->n + run->b.first + col,
        .sums = (int32_t *)(void *)own,
        .a_factors = (double *)(void *)(own + p->t_bytes),
        .digits = (double *)(void *)(own + p->t_bytes + p->f_bytes),
        .line = (double *)(void *)(own + p->thread_bytes - p->line_bytes),
        .mild_cols = 1,
    };
    const int64_t c_at =
        (run->member + member) * g->stride_c + (run->a.first + row) * g->ldc + run->b.first + col;
    const int64_t room = gemm_round_up(u.rows, p->kernels->mr);
    u.c = (char *)cpu_at(g->c) + c_at * (int64_t)sizeof(double);
    u.b_factors = u.a_factors + FIXED_FACTORS * room;
    fixed_factors(BYTES_P, u.e, u.rows, room, u.a_factors);
    fixed_factors(BYTES_P, u.f, u.cols, p->kernels->nr, u.b_factors);
    for (int64_t j = 0; j < u.cols; j++) {
        u.mild_cols = u.mild_cols && is_mild(u.f[j]);
    }
    return u;
}

static void run_units(void *context, int thread, int threads)
{
    bytes_run *run = context;
    char *own = run->scratch + thread * run->plan->thread_bytes;
    const int64_t down = cpu_pieces(strips_of(&run->a), BYTES_STRIPS);
    const int64_t units = down * strips_of(&run->b) * run->members;
    (void)threads;
    for (;;) {
        const int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken >= units) {
            return;
        }
        const bytes_unit u = unit_of(run, taken, own);
        multiply(&u);
        for (int64_t i = 0; i < u.rows; i++) {
            finish_row(&u, i);
        }
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static void run_block(bytes_run *run, const cpu_device *device)
{
    atomic_init(&run->next, 0);
    cpu_team_run(device->team, run->plan->threads, run_residues, run);
    atomic_init(&run->next, 0);
    cpu_team_run(device->team, run->plan->threads, run_units, run);
    run->make_a = 0;
}

void fixed_bytes(const cpu_device *device, const iso_op *op)
{
    bytes_plan p;
    plan_make(&p, device, op->gemm);
    moduli_make(&p.moduli);
    const iso_gemm_op *g = op->gemm;
    char *scratch = cpu_at(op->workspace);
    int32_t *exponents = (int32_t *)(void *)scratch;
    uint8_t *planes = (uint8_t *)scratch + p.exponent_bytes;
    bytes_run run = {
        .plan = &p,
        .scratch = (char *)planes + p.a_bytes + p.b_bytes,
        .a = {cpu_at(g->a), exponents, planes, p.in.a_row, p.in.a_col, g->stride_a, p.in.a_members,
              g->m, 0, 0, p.kernels->mr, p.plane_a, 1},
        .b = {cpu_at(g->b), exponents + p.in.a_members * g->m, planes + p.a_bytes, p.in.b_col,
              p.in.b_row, g->stride_b, p.in.b_members, g->n, 0, 0, p.kernels->nr, p.plane_b, 0},
    };
    fixed_exponents(device, &p.in, p.threads, exponents);
    for (run.member = 0; run.member < g->batch; run.member += p.members) {
        run.members = cpu_least(p.members, g->batch - run.member);
        for (run.a.first = 0; run.a.first < g->m; run.a.first += p.rows) {
            run.a.count = cpu_least(p.rows, g->m - run.a.first);
            run.make_a = 1;
            for (run.b.first = 0; run.b.first < g->n; run.b.first += p.cols) {
                run.b.count = cpu_least(p.cols, g->n - run.b.first);
                run_block(&run, device);
            }
        }
    }
}
