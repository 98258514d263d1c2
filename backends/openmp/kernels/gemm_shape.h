/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_shape.h - the size of the products' register tiles. */
#ifndef ISOMER_OPENMP_GEMM_SHAPE_H
#define ISOMER_OPENMP_GEMM_SHAPE_H

#include "backends/openmp/kernels/simd.h"

/* A tile of MR rows of NV vectors needs MR * NV accumulators: as many as fit in the registers
 * beside one row of B and one element of A. */
#if defined(__aarch64__)
#define MR 8
#define NV 3
#elif SIMD_BYTES == 64
#define MR 14
#define NV 2
#elif SIMD_BYTES == 32
#define MR 6
#define NV 2
#else
#define MR 4
#define NV 2
#endif

/* Calls body with a height that is constant, so that its accumulators stay in registers. */
#define TILE_HEIGHT(n, body, ...)                                                                  \
    case n:                                                                                        \
        body(n, __VA_ARGS__);                                                                      \
        break;
#if MR >= 14
#define TILE_HEIGHTS_UP(body, ...)                                                                 \
    TILE_HEIGHT(4, body, __VA_ARGS__)                                                              \
    TILE_HEIGHT(6, body, __VA_ARGS__)                                                              \
    TILE_HEIGHT(8, body, __VA_ARGS__)                                                              \
    TILE_HEIGHT(10, body, __VA_ARGS__)                                                             \
    TILE_HEIGHT(12, body, __VA_ARGS__)
#elif MR >= 8
#define TILE_HEIGHTS_UP(body, ...)                                                                 \
    TILE_HEIGHT(4, body, __VA_ARGS__) TILE_HEIGHT(6, body, __VA_ARGS__)
#elif MR >= 6
#define TILE_HEIGHTS_UP(body, ...) TILE_HEIGHT(4, body, __VA_ARGS__)
#else
#define TILE_HEIGHTS_UP(body, ...)
#endif
#define TILE_HEIGHTS(height, body, ...)                                                            \
    do {                                                                                           \
        switch (height) {                                                                          \
            TILE_HEIGHT(1, body, __VA_ARGS__)                                                      \
            TILE_HEIGHT(2, body, __VA_ARGS__)                                                      \
            TILE_HEIGHTS_UP(body, __VA_ARGS__)                                                     \
        default:                                                                                   \
            body(MR, __VA_ARGS__);                                                                 \
            break;                                                                                 \
        }                                                                                          \
    } while (0)

#endif
