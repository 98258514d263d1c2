/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - the product's kernels for one instruction set. Strips are padded with zeros. Results
 * that come from the padding stay in lanes and rows that are never read. */
#include "backends/openmp/kernels/gemm_shape.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/pieces.h"

#include <isomer/types.h>

#include <stddef.h>
#include <string.h>

#define NR_F32 (NV * SIMD_F32)
#define NR_F64 (NV * SIMD_F64)

_Static_assert(MR *NR_F32 * 4 <= CPU_GEMM_TILE_BYTES && MR * NR_F64 * 8 <= CPU_GEMM_TILE_BYTES,
               "a tile must fit into the caller's buffer");

#define SAME(x) (x)

#define REAL  f32
#define TYPE  float
#define LANES SIMD_F32
#define FMA   __builtin_fmaf
#include "backends/openmp/kernels/gemm_direct.h"
#include "backends/openmp/kernels/gemm_line.h"
#include "backends/openmp/kernels/gemm_tile.h"
#define NR NR_F32

#define STORED f16
#define CELL   uint16_t
#define READ   cpu_f16_to_f32
#define WRITE  cpu_f32_to_f16
#define LOAD   simd_f32_load_f16
#define STORE  simd_f32_store_f16
#include "backends/openmp/kernels/gemm_type.h"

#define STORED bf16
#define CELL   uint16_t
#define READ   cpu_bf16_to_f32
#define WRITE  cpu_f32_to_bf16
#define LOAD   simd_f32_load_bf16
#define STORE  simd_f32_store_bf16
#include "backends/openmp/kernels/gemm_type.h"

#define STORED f32
#define CELL   float
#define READ   SAME
#define WRITE  SAME
#define LOAD   simd_f32_load
#define STORE  simd_f32_store
#include "backends/openmp/kernels/gemm_type.h"

#undef REAL
#undef TYPE
#undef LANES
#undef FMA
#undef NR

#define REAL  f64
#define TYPE  double
#define LANES SIMD_F64
#define FMA   __builtin_fma
#include "backends/openmp/kernels/gemm_direct.h"
#include "backends/openmp/kernels/gemm_line.h"
#include "backends/openmp/kernels/gemm_tile.h"
#define NR NR_F64

#define STORED f64
#define CELL   double
#define READ   SAME
#define WRITE  SAME
#define LOAD   simd_f64_load
#define STORE  simd_f64_store
#include "backends/openmp/kernels/gemm_type.h"

const cpu_gemm_kernels CPU_TABLE(cpu_gemm_kernels) = {
    .turns = PIECES * 16 == SIMD_BYTES,
    .type = {[ISO_F16] = {MR, NR_F32, 4, tile_f32, pack_f16, finish_f16, naive_f16, NULL, NULL},
             [ISO_BF16] = {MR, NR_F32, 4, tile_f32, pack_bf16, finish_bf16, naive_bf16, NULL, NULL},
             [ISO_F32] = {MR, NR_F32, 4, tile_f32, pack_f32, finish_f32, naive_f32, direct_f32,
                          line_f32},
             [ISO_F64] = {MR, NR_F64, 8, tile_f64, pack_f64, finish_f64, naive_f64, direct_f64,
                          line_f64}},
};
