/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - sums over ranks in their order. Every element is computed separately, so vectors take
 * neighbouring elements, and the last ones come padded through the same code. */
#include "backends/openmp/kernels/elements.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

#include <stddef.h>

enum fold { SUM, PRODUCT, MEAN, XOR };

enum { FOLD_VECTORS = 4 }; /* of each source in flight */

/* ---- types ----------------------------------------------------------------------------------- */

#define TYPE    f16
#define ELEMENT uint16_t
#define KIND    f32
#define REAL    float
#define LOAD    load_f16
#define STORE   store_f16
#define FLOATING
#include "backends/openmp/kernels/ranks_fold.h"

#define TYPE    bf16
#define ELEMENT uint16_t
#define KIND    f32
#define REAL    float
#define LOAD    simd_f32_load_bf16
#define STORE   simd_f32_store_bf16
#define FLOATING
#include "backends/openmp/kernels/ranks_fold.h"

#define TYPE    f32
#define ELEMENT float
#define KIND    f32
#define REAL    float
#define LOAD    simd_f32_load
#define STORE   simd_f32_store
#define FLOATING
#include "backends/openmp/kernels/ranks_fold.h"

#define TYPE    f64
#define ELEMENT double
#define KIND    f64
#define REAL    double
#define LOAD    simd_f64_load
#define STORE   simd_f64_store
#define FLOATING
#include "backends/openmp/kernels/ranks_fold.h"

#define TYPE    i32
#define ELEMENT uint32_t
#define KIND    u32
#define REAL    uint32_t
#define LOAD    load_u32
#define STORE   store_u32
#include "backends/openmp/kernels/ranks_fold.h"

#define TYPE    i64
#define ELEMENT uint64_t
#define KIND    u64
#define REAL    uint64_t
#define LOAD    load_u64
#define STORE   store_u64
#include "backends/openmp/kernels/ranks_fold.h"

/* ---- min and max: of keys -------------------------------------------------------------------- */

#define KEY      int16_t
#define KEY_BITS 16
#include "backends/openmp/kernels/order_keys.h"

#define KEY      int32_t
#define KEY_BITS 32
#include "backends/openmp/kernels/order_keys.h"

#define KEY      int64_t
#define KEY_BITS 64
#include "backends/openmp/kernels/order_keys.h"

/* The highest key, turned back, is a NaN, and so is the lowest one. */
#define DEFINE_ORDER(bits)                                                                         \
    enum { SPAN_##bits = FOLD_VECTORS * SIMD_BYTES / (bits / 8) };                                 \
    SIMD_INLINE v_##bits load_keys_##bits(int##bits##_t infinity, int max, const int##bits##_t *x) \
    {                                                                                              \
        v_##bits key;                                                                              \
        memcpy(&key, x, sizeof key);                                                               \
        return keys_##bits(infinity, max, key);                                                    \
    }                                                                                              \
    SIMD_INLINE const int##bits##_t *whole_##bits(const void *source, int64_t at, int n,           \
                                                  int##bits##_t *copy)                             \
    {                                                                                              \
        const int##bits##_t *x = (const int##bits##_t *)source + at;                               \
        if (n < SPAN_##bits) {                                                                     \
            memcpy(copy, x, (size_t)n * sizeof *x);                                                \
            return copy;                                                                           \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    SIMD_INLINE void order_span_##bits(int##bits##_t infinity, int max,                            \
                                       const void *const *sources, int count, int##bits##_t *z,    \
                                       int64_t at, int n)                                          \
    {                                                                                              \
        enum { LANES = SPAN_##bits / FOLD_VECTORS };                                               \
        int##bits##_t part[SPAN_##bits] = {0};                                                     \
        v_##bits best[FOLD_VECTORS];                                                               \
        const int##bits##_t *x = whole_##bits(sources[0], at, n, part);                            \
        SIMD_UNROLL                                                                                \
        for (int v = 0; v < FOLD_VECTORS; v++) {                                                   \
            best[v] = load_keys_##bits(infinity, max, x + v * LANES);                              \
        }                                                                                          \
        for (int s = 1; s < count; s++) {                                                          \
            x = whole_##bits(sources[s], at, n, part);                                             \
            SIMD_UNROLL                                                                            \
            for (int v = 0; v < FOLD_VECTORS; v++) {                                               \
                best[v] =                                                                          \
                    better_##bits(max, best[v], load_keys_##bits(infinity, max, x + v * LANES));   \
            }                                                                                      \
        }                                                                                          \
        SIMD_UNROLL                                                                                \
        for (int v = 0; v < FOLD_VECTORS; v++) {                                                   \
            if (infinity != 0) {                                                                   \
                best[v] ^= (best[v] >> (bits - 1)) & INT##bits##_MAX;                              \
            }                                                                                      \
        }                                                                                          \
        memcpy(z + at, best, (size_t)n * sizeof *z);                                               \
    }                                                                                              \
    SIMD_INLINE void order_##bits(int##bits##_t infinity, int max, const void *const *sources,     \
                                  int count, void *z, int64_t n)                                   \
    {                                                                                              \
        int64_t at = 0;                                                                            \
        for (; at + SPAN_##bits <= n; at += SPAN_##bits) {                                         \
            order_span_##bits(infinity, max, sources, count, z, at, SPAN_##bits);                  \
        }                                                                                          \
        if (at < n) {                                                                              \
            order_span_##bits(infinity, max, sources, count, z, at, (int)(n - at));                \
        }                                                                                          \
    }

DEFINE_ORDER(16)
DEFINE_ORDER(32)
DEFINE_ORDER(64)

#define DEFINE_BOTH(bits, infinity, name)                                                          \
    static void min_##name(const void *const *sources, int count, void *z, int64_t n)              \
    {                                                                                              \
        order_##bits(infinity, 0, sources, count, z, n);                                           \
    }                                                                                              \
    static void max_##name(const void *const *sources, int count, void *z, int64_t n)              \
    {                                                                                              \
        order_##bits(infinity, 1, sources, count, z, n);                                           \
    }

DEFINE_BOTH(16, 0x7c00, f16)
DEFINE_BOTH(16, 0x7f80, bf16)
DEFINE_BOTH(32, 0x7f800000, f32)
DEFINE_BOTH(64, 0x7ff0000000000000, f64)
DEFINE_BOTH(32, 0, i32)
DEFINE_BOTH(64, 0, i64)

/* ---- the table ------------------------------------------------------------------------------- */

#define FLOATS(name)                                                                               \
    [ISO_F16] = name##_f16, [ISO_BF16] = name##_bf16, [ISO_F32] = name##_f32, [ISO_F64] = name##_f64
#define WHOLES(name) [ISO_I32] = name##_i32, [ISO_I64] = name##_i64
#define ALL(name)    FLOATS(name), WHOLES(name)

const cpu_ranks_kernels CPU_TABLE(cpu_ranks_kernels) = {
    .fold =
        {
            [ISO_SUM] = {ALL(sum)},
            [ISO_PRODUCT] = {ALL(product)},
            [ISO_MIN] = {ALL(min)},
            [ISO_MAX] = {ALL(max)},
            [ISO_MEAN] = {FLOATS(mean)},
            [ISO_XOR] = {WHOLES(xor)},
        },
};
