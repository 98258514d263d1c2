/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - min, max, amax, argmin, argmax and argamax: elements are converted to keys, which are
 * signed integers in the order that docs/bits.md defines. */
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

#include <stddef.h>

#define KEY      int16_t
#define KEY_BITS 16
#include "backends/openmp/kernels/order_keys.h"

#define KEY      int32_t
#define KEY_BITS 32
#include "backends/openmp/kernels/order_keys.h"

#define KEY      int64_t
#define KEY_BITS 64
#include "backends/openmp/kernels/order_keys.h"

#define DEFINE(bits, infinity, max, name)                                                          \
    static void line_##name(const void *x, const void *y, int64_t n, void *out, int64_t plane)     \
    {                                                                                              \
        (void)y;                                                                                   \
        (void)plane;                                                                               \
        line_##bits(infinity, max, x, n, out);                                                     \
    }                                                                                              \
    static void cols_##name(const cpu_reduce_strip *strip, void *scratch, void *out,               \
                            int64_t plane)                                                         \
    {                                                                                              \
        (void)scratch;                                                                             \
        (void)plane;                                                                               \
        cols_##bits(infinity, max, strip, out);                                                    \
    }                                                                                              \
    static int64_t find_##name(const void *x, int64_t stride, int64_t n, int64_t key)              \
    {                                                                                              \
        return find_##bits(infinity, max, x, stride, n, key);                                      \
    }                                                                                              \
    static cpu_best first_##name(const void *x, int64_t stride, int64_t n)                         \
    {                                                                                              \
        return first_##bits(infinity, max, x, stride, n);                                          \
    }

#define DEFINE_BOTH(bits, infinity, name)                                                          \
    DEFINE(bits, infinity, 0, min_##name) DEFINE(bits, infinity, 1, max_##name)

DEFINE_BOTH(16, 0, key)
DEFINE_BOTH(16, 0x7c00, f16)
DEFINE_BOTH(16, 0x7f80, bf16)
DEFINE_BOTH(32, 0x7f800000, f32)
DEFINE_BOTH(64, 0x7ff0000000000000, f64)
DEFINE(16, 0x7c00, 2, amax_f16)
DEFINE(16, 0x7f80, 2, amax_bf16)
DEFINE(32, 0x7f800000, 2, amax_f32)
DEFINE(64, 0x7ff0000000000000, 2, amax_f64)
DEFINE_BOTH(32, 0, i32)
DEFINE_BOTH(64, 0, i64)

#define ROW(prefix)                                                                                \
    {[0] = prefix##_key,       [ISO_F16] = prefix##_f16, [ISO_BF16] = prefix##_bf16,               \
     [ISO_F32] = prefix##_f32, [ISO_F64] = prefix##_f64, [ISO_I32] = prefix##_i32,                 \
     [ISO_I64] = prefix##_i64}
/* Keys of magnitudes are those of max. */
#define MAGNITUDES(prefix)                                                                         \
    {                                                                                              \
        [0] = prefix##_max_key,          [ISO_F16] = prefix##_amax_f16,                            \
        [ISO_BF16] = prefix##_amax_bf16, [ISO_F32] = prefix##_amax_f32,                            \
        [ISO_F64] = prefix##_amax_f64,   [ISO_I32] = prefix##_max_i32,                             \
        [ISO_I64] = prefix##_max_i64}
#define TABLE(prefix) {ROW(prefix##_min), ROW(prefix##_max), MAGNITUDES(prefix)}

const cpu_order_kernels CPU_TABLE(cpu_order_kernels) = {
    .line = TABLE(line),
    .cols = TABLE(cols),
    .find = TABLE(find),
    .first = TABLE(first),
};
