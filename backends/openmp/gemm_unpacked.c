/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_unpacked.c - `tiled` products whose operands are read where they are, because packing them
 * would take longer than multiplying: small ones, and those of a few rows and a matrix. Each
 * element has the same chain of fma as in gemm.c, so the bits are the same.
 */
#include "backends/openmp/gemm.h"

enum {
    GEMM_FEW = 16,             /* rows for which B is not packed */
    GEMM_SIDE = 128,           /* rows and columns of a product that is not packed */
    GEMM_WORK_A_SMALL = 400000 /* multiplications of such products that justify waking a thread */
};

/* ---- Small products -------------------------------------------------------------------------- */

_Static_assert((int)CPU_GEMM_DIRECT_SCRATCH <= (int)CPU_TEAM_SCRATCH,
               "the scratch memory is too small");

typedef struct gemm_small {
    cpu_team *team;
    const iso_gemm_op *op;
    const cpu_gemm_type *type;
    int64_t cell_bytes;
    int parts; /* of a matrix's rows, computed one by one */
} gemm_small;

static int can_be_small(const cpu_gemm_type *type, const iso_gemm_op *g)
{
    return type->direct && g->trans_b != ISO_TRANS && g->k <= CPU_GEMM_DIRECT_K;
}

/* Whether packing would take longer than reading the operands where they are. */
static int is_small(const cpu_gemm_type *type, const iso_gemm_op *g)
{
    return can_be_small(type, g) && g->m <= GEMM_SIDE && g->n <= GEMM_SIDE;
}

/* Computes one part of the rows of a matrix of the batch. */
static void run_part(const gemm_small *small, int64_t member, int part, void *scratch)
{
    const iso_gemm_op *op = small->op;
    const int64_t mr = small->type->mr, strips = cpu_pieces(op->m, mr), bytes = small->cell_bytes;
    const int64_t first = cpu_split(strips, small->parts, part) * mr;
    const int64_t end = cpu_least(op->m, cpu_split(strips, small->parts, part + 1) * mr);
    cpu_gemm_direct g = {.m = end - first,
                         .n = op->n,
                         .k = op->k,
                         .alpha = op->alpha,
                         .beta = op->beta,
                         .a_row = op->trans_a == ISO_TRANS ? 1 : op->lda,
                         .a_col = op->trans_a == ISO_TRANS ? op->lda : 1,
                         .b_row = op->ldb,
                         .c_row = op->ldc,
                         .scratch = scratch};
    if (g.m <= 0) {
        return;
    }
    if (op->k > 0) {
        g.a = (const char *)cpu_at(op->a) + (member * op->stride_a + first * g.a_row) * bytes;
        g.b = (const char *)cpu_at(op->b) + member * op->stride_b * bytes;
    }
    g.c = (char *)cpu_at(op->c) + (member * op->stride_c + first * g.c_row) * bytes;
    small->type->direct(&g);
}

static void run_small(void *context, int thread, int threads)
{
    const gemm_small *small = context;
    const int64_t count = small->op->batch * small->parts;
    const int64_t end = cpu_split(count, threads, thread + 1);
    void *scratch = cpu_team_scratch(small->team, thread);
    for (int64_t i = cpu_split(count, threads, thread); i < end; i++) {
        run_part(small, i / small->parts, (int)(i % small->parts), scratch);
    }
}

static void execute_small(const cpu_device *device, const iso_gemm_op *g, const cpu_gemm_type *type)
{
    const double work = (double)(g->m * g->n * g->k) * (double)g->batch;
    const int threads = cpu_team_threads(device->team, 1 + work / GEMM_WORK_A_SMALL);
    gemm_small small = {.team = device->team,
                        .op = g,
                        .type = type,
                        .cell_bytes = type->real_bytes,
                        .parts = g->batch < threads ? threads : 1};
    cpu_team_run(device->team, threads, run_small, &small);
}

/* ---- Few rows -------------------------------------------------------------------------------- */

typedef struct gemm_line_run {
    cpu_team *team;
    const iso_gemm_op *op;
    const cpu_gemm_type *type;
    cpu_gemm_line line;
    int exchanged; /* C' = B' A' is computed */
} gemm_line_run;

enum { LINE_LEAST = 16 }; /* fewer columns leave vectors empty */

/* Whether C' = B' A' is computed instead: one row and a matrix. */
static int is_exchanged(const iso_gemm_op *g)
{
    return g->n == 1 && g->ldc == 1 && g->m >= LINE_LEAST;
}

/* Whether the product, or the exchanged one, is one of at most `rows` rows and a matrix. Only for
 * one row may the matrix be stored as its transpose. */
static int can_be_line(const cpu_gemm_kernels *kernels, const iso_gemm_op *g, int64_t rows)
{
    if (!kernels->type[g->dtype].line) {
        return 0;
    }
    if (is_exchanged(g)) {
        return g->trans_a == ISO_TRANS || kernels->turns;
    }
    return g->n >= LINE_LEAST &&
           (g->trans_b == ISO_TRANS ? g->m == 1 && kernels->turns : g->m <= rows);
}

/* The most rows of which a thread's scratch memory holds LINE_LEAST columns. */
static int64_t most_rows(const cpu_gemm_type *type)
{
    return CPU_TEAM_SCRATCH / (2 * LINE_LEAST * type->real_bytes);
}

/* Whether it is a product of so few rows that the matrix is read too seldom to be worth packing. */
static int is_line(const cpu_gemm_kernels *kernels, const iso_gemm_op *g)
{
    return can_be_line(kernels, g, GEMM_FEW);
}

static cpu_gemm_line line_of(const iso_gemm_op *g, int exchanged)
{
    const int continues = g->continues && g->k > CPU_GEMM_SEGMENT;
    cpu_gemm_line line = {.m = g->m,
                          .n = g->n,
                          .k = g->k,
                          .alpha = g->alpha,
                          .beta = continues ? 0 : g->beta,
                          .a_row = g->trans_a == ISO_TRANS ? 1 : g->lda,
                          .a_step = g->trans_a == ISO_TRANS ? g->lda : 1,
                          .b_row = g->trans_b == ISO_TRANS ? 1 : g->ldb,
                          .b_col = g->trans_b == ISO_TRANS ? g->ldb : 1,
                          .c_row = g->ldc,
                          .continues = continues};
    if (exchanged) {
        line.m = 1;
        line.n = g->m;
        line.b_row = line.a_step;
        line.b_col = line.a_row;
        line.a_step = g->trans_b == ISO_TRANS ? 1 : g->ldb;
    }
    return line;
}

/* Each thread takes some of the columns. */
static void run_line(void *context, int thread, int threads)
{
    const gemm_line_run *run = context;
    const iso_gemm_op *op = run->op;
    const int64_t real = run->type->real_bytes;
    const int64_t most = CPU_TEAM_SCRATCH / (2 * run->line.m * real) / 16 * 16;
    const int64_t lines = cpu_pieces(run->line.n, 64);
    const int64_t end = cpu_least(run->line.n, cpu_split(lines, threads, thread + 1) * 64);
    void *scratch = cpu_team_scratch(run->team, thread);
    for (int64_t i = 0; i < op->batch; i++) {
        cpu_gemm_line line = run->line;
        if (op->k > 0) {
            const char *a = (const char *)cpu_at(op->a) + i * op->stride_a * real;
            const char *b = (const char *)cpu_at(op->b) + i * op->stride_b * real;
            line.a = run->exchanged ? b : a;
            line.b = run->exchanged ? a : b;
        }
        line.c = (char *)cpu_at(op->c) + i * op->stride_c * real;
        for (int64_t j = cpu_split(lines, threads, thread) * 64; j < end; j += most) {
            run->type->line(&line, j, cpu_least(most, end - j), scratch);
        }
    }
}

static void execute_line(const cpu_device *device, const iso_gemm_op *g, const cpu_gemm_type *type)
{
    const double work = (double)g->m * (double)g->n * (double)g->k * (double)g->batch;
    const int exchanged = is_exchanged(g);
    gemm_line_run run = {.team = device->team,
                         .op = g,
                         .type = type,
                         .line = line_of(g, exchanged),
                         .exchanged = exchanged};
    cpu_team_run(device->team, cpu_team_threads(device->team, 1 + work / GEMM_WORK_A_THREAD),
                 run_line, &run);
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* A small matrix and a vector are a line too: the vectors of a small product would be empty. */
static int takes_small(const cpu_gemm_kernels *kernels, const iso_gemm_op *g)
{
    return is_small(&kernels->type[g->dtype], g) && !(is_exchanged(g) && is_line(kernels, g));
}

const char *const gemm_way_names[GEMM_WAYS] = {
    [GEMM_PACKED] = "packed",
    [GEMM_SMALL] = "small",
    [GEMM_ROWS] = "rows",
};

int gemm_way_count(const cpu_device *device, iso_dtype dtype)
{
    const cpu_gemm_type *type = &device->kernels->gemm->type[dtype];
    return type->direct && type->line ? GEMM_WAYS : 1;
}

gemm_way gemm_way_of(const cpu_device *device, const iso_gemm_op *g)
{
    const cpu_gemm_kernels *kernels = device->kernels->gemm;
    const cpu_gemm_type *type = &kernels->type[g->dtype];
    const int named = g->way - 1;
    if (named == GEMM_PACKED || (named == GEMM_SMALL && can_be_small(type, g)) ||
        (named == GEMM_ROWS && can_be_line(kernels, g, most_rows(type)))) {
        return (gemm_way)named;
    }
    return takes_small(kernels, g) ? GEMM_SMALL : is_line(kernels, g) ? GEMM_ROWS : GEMM_PACKED;
}

void gemm_unpacked(const cpu_device *device, const iso_gemm_op *g, gemm_way way)
{
    const cpu_gemm_type *type = &device->kernels->gemm->type[g->dtype];
    if (way == GEMM_SMALL) {
        execute_small(device, g, type);
    } else {
        execute_line(device, g, type);
    }
}
