/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - all kernels of one instruction set. */
#include "backends/openmp/kernels/kernels.h"

#define NAME_OF(set) #set
#define NAME(set)    NAME_OF(set)

/* A set with a base has only its own products of words and bytes. */
#if defined(CPU_KERNELS_BASE)
#define OF_BASE(name) CPU_JOIN(name, CPU_KERNELS_BASE)
extern const cpu_gemm_kernels OF_BASE(cpu_gemm_kernels);
extern const cpu_fixed_kernels OF_BASE(cpu_fixed_kernels);
extern const cpu_transpose_kernels OF_BASE(cpu_transpose_kernels);
extern const cpu_reduce_kernels OF_BASE(cpu_reduce_kernels);
extern const cpu_order_kernels OF_BASE(cpu_order_kernels);
extern const cpu_straight_kernels OF_BASE(cpu_straight_kernels);
extern const cpu_map_kernels OF_BASE(cpu_map_kernels);
extern const cpu_convert_kernels OF_BASE(cpu_convert_kernels);
extern const cpu_spmv_kernels OF_BASE(cpu_spmv_kernels);
extern const cpu_ranks_kernels OF_BASE(cpu_ranks_kernels);
extern const cpu_ranks_fixed_kernels OF_BASE(cpu_ranks_fixed_kernels);
extern const cpu_finish_kernels OF_BASE(cpu_finish_kernels);
extern const cpu_solve_kernels OF_BASE(cpu_solve_kernels);
#else
#define OF_BASE(name) CPU_TABLE(name)
#endif

const cpu_kernels CPU_TABLE(cpu_kernels) = {
    .name = NAME(CPU_KERNELS),
    .gemm = &OF_BASE(cpu_gemm_kernels),
    .fixed = &OF_BASE(cpu_fixed_kernels),
#if defined(CPU_HAS_BYTES)
    .words = &CPU_TABLE(cpu_words_kernels),
    .bytes = &CPU_TABLE(cpu_bytes_kernels),
#endif
    .transpose = &OF_BASE(cpu_transpose_kernels),
    .reduce = &OF_BASE(cpu_reduce_kernels),
    .order = &OF_BASE(cpu_order_kernels),
    .straight = &OF_BASE(cpu_straight_kernels),
    .map = &OF_BASE(cpu_map_kernels),
    .convert = &OF_BASE(cpu_convert_kernels),
    .spmv = &OF_BASE(cpu_spmv_kernels),
    .ranks = &OF_BASE(cpu_ranks_kernels),
    .ranks_fixed = &OF_BASE(cpu_ranks_fixed_kernels),
    .finish = &OF_BASE(cpu_finish_kernels),
    .solve = &OF_BASE(cpu_solve_kernels),
};
