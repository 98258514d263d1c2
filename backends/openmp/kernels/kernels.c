/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - all kernels of one instruction set. */
#include "backends/openmp/kernels/kernels.h"

#define NAME_OF(set) #set
#define NAME(set)    NAME_OF(set)

const cpu_kernels CPU_TABLE(cpu_kernels) = {
    .name = NAME(CPU_KERNELS),
    .gemm = &CPU_TABLE(cpu_gemm_kernels),
    .fixed = &CPU_TABLE(cpu_fixed_kernels),
    .transpose = &CPU_TABLE(cpu_transpose_kernels),
    .reduce = &CPU_TABLE(cpu_reduce_kernels),
    .order = &CPU_TABLE(cpu_order_kernels),
    .straight = &CPU_TABLE(cpu_straight_kernels),
    .map = &CPU_TABLE(cpu_map_kernels),
};
