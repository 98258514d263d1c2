/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the tables of CPU kernels. Every file in this folder is compiled once for each
 * instruction set with CPU_KERNELS set to its name (generic, neon, avx2, avx512) and
 * CPU_KERNELS_GENERIC, ... defined. */
#ifndef ISOMER_OPENMP_KERNELS_H
#define ISOMER_OPENMP_KERNELS_H

#if defined(__FAST_MATH__)
#error "isomer's arithmetic is defined to the bit: do not compile it with -ffast-math"
#endif

#define CPU_JOIN2(a, b) a##_##b
#define CPU_JOIN(a, b)  CPU_JOIN2(a, b)
/* CPU_TABLE(cpu_gemm_kernels) names this instruction set's table: cpu_gemm_kernels_avx2. */
#define CPU_TABLE(name) CPU_JOIN(name, CPU_KERNELS)

#endif
