/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_naive.c - the textbook product: threads share the rows of C, and one loop over K computes
 * each element. */
#include "backends/openmp/gemm.h"

#include <stdatomic.h>

typedef struct naive_run {
    const cpu_gemm_type *type;
    const iso_gemm_op *op;
    atomic_llong next;
} naive_run;

static void run_naive(void *context, int thread, int threads)
{
    naive_run *run = context;
    const iso_gemm_op *g = run->op;
    const int64_t cell = iso_dtype_size(g->dtype);
    (void)thread;
    (void)threads;
    cpu_gemm_naive args = {.n = g->n,
                           .k = g->k,
                           .alpha = g->alpha,
                           .beta = g->beta,
                           .ldc = g->ldc,
                           .continues = g->continues};
    args.a_row = g->trans_a == ISO_TRANS ? 1 : g->lda;
    args.a_col = g->trans_a == ISO_TRANS ? g->lda : 1;
    args.b_row = g->trans_b == ISO_TRANS ? 1 : g->ldb;
    args.b_col = g->trans_b == ISO_TRANS ? g->ldb : 1;
    for (;;) {
        const int64_t taken = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (taken >= g->m * g->batch) {
            return;
        }
        const int64_t member = taken / g->m;
        if (g->k > 0) {
            args.a = (const char *)cpu_at(g->a) + member * g->stride_a * cell;
            args.b = (const char *)cpu_at(g->b) + member * g->stride_b * cell;
        }
        args.c = (char *)cpu_at(g->c) + member * g->stride_c * cell;
        run->type->naive(&args, taken % g->m, taken % g->m + 1);
    }
}

void gemm_naive(const cpu_device *device, const iso_gemm_op *op)
{
    naive_run run = {.type = &device->kernels->gemm->type[op->dtype], .op = op};
    const double work = (double)op->m * (double)op->n * ((double)op->k + 1) * (double)op->batch;
    const double worth = 1 + work / (GEMM_WORK_A_THREAD / 10);
    atomic_init(&run.next, 0);
    cpu_team_run(device->team, cpu_team_threads(device->team, worth), run_naive, &run);
}
