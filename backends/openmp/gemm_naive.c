/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_naive.c - the choice of kernels for an instruction set, and the textbook product: rows of C
 * are shared out, and each is computed by one loop over K for every element. */
#include "backends/openmp/gemm.h"

#include <stdatomic.h>

static const cpu_gemm_kernels *kernels_of(cpu_isa isa)
{
    static const cpu_gemm_kernels *const tables[CPU_ISA_COUNT] = {
        [CPU_ISA_GENERIC] = &cpu_gemm_kernels_generic,
#if defined(CPU_HAS_NEON)
        [CPU_ISA_NEON] = &cpu_gemm_kernels_neon,
#endif
#if defined(CPU_HAS_AVX2)
        [CPU_ISA_AVX2] = &cpu_gemm_kernels_avx2,
#endif
#if defined(CPU_HAS_AVX512)
        [CPU_ISA_AVX512] = &cpu_gemm_kernels_avx512,
#endif
    };
    return tables[isa];
}

const cpu_gemm_type *gemm_type_of(const cpu_device *device, iso_dtype dtype)
{
    const cpu_gemm_kernels *kernels = kernels_of(device->isa);
    switch (dtype) {
    case ISO_F16:
        return &kernels->f16;
    case ISO_BF16:
        return &kernels->bf16;
    case ISO_F32:
        return &kernels->f32;
    case ISO_F64:
        return &kernels->f64;
    default:
        return NULL;
    }
}

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
    cpu_gemm_naive args = {.n = g->n, .k = g->k, .alpha = g->alpha, .beta = g->beta, .ldc = g->ldc};
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
    naive_run run = {.type = gemm_type_of(device, op->dtype), .op = op};
    const double work = (double)op->m * (double)op->n * ((double)op->k + 1) * (double)op->batch;
    const double worth = 1 + work / (double)(GEMM_WORK_A_THREAD / 10);
    const int size = cpu_team_size(device->team);
    atomic_init(&run.next, 0);
    cpu_team_run(device->team, worth < size ? (int)worth : size, run_naive, &run);
}
