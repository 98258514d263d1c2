/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - conversions of elements to another type, and moves of elements with gaps. */
#include "backends/openmp/kernels/elements.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* Toward zero; what is too large becomes the largest, and a NaN 0. The limits are powers of two, so
 * they are exact in every type. */
#define DEFINE_WHOLE(name, real, whole, limit, least, most)                                        \
    static inline whole name(real x)                                                               \
    {                                                                                              \
        const whole inside = (whole)(x > -(limit) && x < (limit) ? x : 0);                         \
        return x >= (limit) ? (most) : x <= -(limit) ? (least) : inside;                           \
    }

DEFINE_WHOLE(f32_to_i32, float, int32_t, 0x1p31f, INT32_MIN, INT32_MAX)
DEFINE_WHOLE(f32_to_i64, float, int64_t, 0x1p63f, INT64_MIN, INT64_MAX)
DEFINE_WHOLE(f64_to_i32, double, int32_t, 0x1p31, INT32_MIN, INT32_MAX)
DEFINE_WHOLE(f64_to_i64, double, int64_t, 0x1p63, INT64_MIN, INT64_MAX)

static inline int8_t i32_to_i8(int32_t x)
{
    return (int8_t)(x > INT8_MAX ? INT8_MAX : x < INT8_MIN ? INT8_MIN : x);
}

#define READ_f16  cpu_f16_to_f32
#define READ_bf16 cpu_bf16_to_f32
#define READ_f32
#define READ_f64
#define READ_i32
#define READ_i64
#define READ_i8

/* From f32, f64, and integers. */
#define F32_f16  cpu_f32_to_f16
#define F32_bf16 cpu_f32_to_bf16
#define F32_f32
#define F32_f64   (double)
#define F32_i32   f32_to_i32
#define F32_i64   f32_to_i64
#define F32_i8(x) i32_to_i8(f32_to_i32(x))

#define F64_f16   cpu_f64_to_f16
#define F64_bf16  cpu_f64_to_bf16
#define F64_f32   (float)
#define F64_i32   f64_to_i32
#define F64_i64   f64_to_i64
#define F64_i8(x) i32_to_i8(f64_to_i32(x))

#define INT_f16(x)  cpu_f32_to_f16((float)(x))
#define INT_bf16(x) cpu_f32_to_bf16((float)(x))
#define INT_f32     (float)
#define INT_f64     (double)
#define INT_i32     (int32_t)
#define INT_i64     (int64_t)
#define INT_i8      (int8_t)

#define TYPE_f16  uint16_t
#define TYPE_bf16 uint16_t
#define TYPE_f32  float
#define TYPE_f64  double
#define TYPE_i32  int32_t
#define TYPE_i64  int64_t
#define TYPE_i8   int8_t

#define DEFINE(from, to, way)                                                                      \
    static void from##_##to(const cpu_map_part *p)                                                 \
    {                                                                                              \
        const TYPE_##from *x = p->x;                                                               \
        TYPE_##to *z = p->z;                                                                       \
        const int64_t n = p->n; /* local: to the compiler, z may alias p->n */                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            z[i] = way##_##to(READ_##from(x[i]));                                                  \
        }                                                                                          \
    }

DEFINE(f16, bf16, F32)
DEFINE(f16, f64, F32)
DEFINE(f16, i32, F32)
DEFINE(f16, i64, F32)
DEFINE(f16, i8, F32)
DEFINE(bf16, f16, F32)
DEFINE(bf16, f64, F32)
DEFINE(bf16, i32, F32)
DEFINE(bf16, i64, F32)
DEFINE(bf16, i8, F32)
DEFINE(f32, f64, F32)
DEFINE(f32, i32, F32)
DEFINE(f32, i64, F32)
DEFINE(f32, i8, F32)
DEFINE(f64, f16, F64)
DEFINE(f64, bf16, F64)
DEFINE(f64, f32, F64)
DEFINE(f64, i32, F64)
DEFINE(f64, i64, F64)
DEFINE(f64, i8, F64)
DEFINE(i32, f16, INT)
DEFINE(i32, bf16, INT)
DEFINE(i32, f32, INT)
DEFINE(i32, f64, INT)
DEFINE(i32, i64, INT)
DEFINE(i32, i8, INT)
DEFINE(i64, f16, INT)
DEFINE(i64, bf16, INT)
DEFINE(i64, f32, INT)
DEFINE(i64, f64, INT)
DEFINE(i64, i32, INT)
DEFINE(i64, i8, INT)
DEFINE(i8, f16, INT)
DEFINE(i8, bf16, INT)
DEFINE(i8, f32, INT)
DEFINE(i8, f64, INT)
DEFINE(i8, i32, INT)
DEFINE(i8, i64, INT)

/* Between f32 and the short types, by the instructions that products and maps use. */
#define DEFINE_WIDE(from, to, load, store)                                                         \
    static void from##_##to(const cpu_map_part *p)                                                 \
    {                                                                                              \
        const TYPE_##from *x = p->x;                                                               \
        TYPE_##to *z = p->z;                                                                       \
        const int64_t n = p->n;                                                                    \
        int64_t i = 0;                                                                             \
        for (; i + SIMD_F32 <= n; i += SIMD_F32) {                                                 \
            store(z + i, load(x + i));                                                             \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            z[i] = F32_##to(READ_##from(x[i]));                                                    \
        }                                                                                          \
    }

DEFINE_WIDE(f16, f32, load_f16, simd_f32_store)
DEFINE_WIDE(bf16, f32, simd_f32_load_bf16, simd_f32_store)
DEFINE_WIDE(f32, f16, simd_f32_load, store_f16)
DEFINE_WIDE(f32, bf16, simd_f32_load, simd_f32_store_bf16)

/* ---- moves ----------------------------------------------------------------------------------- */

typedef struct pair {
    uint64_t half[2];
} pair;

#define DEFINE_MOVE(bytes, type)                                                                   \
    static void move_##bytes(const void *from, int64_t from_step, void *to, int64_t to_step,       \
                             int64_t n)                                                            \
    {                                                                                              \
        const type *x = from;                                                                      \
        type *z = to;                                                                              \
        if (from_step == 0) {                                                                      \
            const type one = *x;                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                z[i * to_step] = one;                                                              \
            }                                                                                      \
        } else if (from_step == 2 && to_step == 1) {                                               \
            for (int64_t i = 0; i < n; i++) {                                                      \
                z[i] = x[2 * i];                                                                   \
            }                                                                                      \
        } else if (from_step == 1 && to_step == 1) {                                               \
            memcpy(z, x, (size_t)n * sizeof *z);                                                   \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                z[i * to_step] = x[i * from_step];                                                 \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_MOVE(1, uint8_t)
DEFINE_MOVE(2, uint16_t)
DEFINE_MOVE(4, uint32_t)
DEFINE_MOVE(8, uint64_t)
DEFINE_MOVE(16, pair)

const cpu_convert_kernels CPU_TABLE(cpu_convert_kernels) = {
    .convert =
        {
            [ISO_F16] = {[ISO_BF16] = f16_bf16,
                         [ISO_F32] = f16_f32,
                         [ISO_F64] = f16_f64,
                         [ISO_I32] = f16_i32,
                         [ISO_I64] = f16_i64,
                         [ISO_I8] = f16_i8},
            [ISO_BF16] = {[ISO_F16] = bf16_f16,
                          [ISO_F32] = bf16_f32,
                          [ISO_F64] = bf16_f64,
                          [ISO_I32] = bf16_i32,
                          [ISO_I64] = bf16_i64,
                          [ISO_I8] = bf16_i8},
            [ISO_F32] = {[ISO_F16] = f32_f16,
                         [ISO_BF16] = f32_bf16,
                         [ISO_F64] = f32_f64,
                         [ISO_I32] = f32_i32,
                         [ISO_I64] = f32_i64,
                         [ISO_I8] = f32_i8},
            [ISO_F64] = {[ISO_F16] = f64_f16,
                         [ISO_BF16] = f64_bf16,
                         [ISO_F32] = f64_f32,
                         [ISO_I32] = f64_i32,
                         [ISO_I64] = f64_i64,
                         [ISO_I8] = f64_i8},
            [ISO_I32] = {[ISO_F16] = i32_f16,
                         [ISO_BF16] = i32_bf16,
                         [ISO_F32] = i32_f32,
                         [ISO_F64] = i32_f64,
                         [ISO_I64] = i32_i64,
                         [ISO_I8] = i32_i8},
            [ISO_I64] = {[ISO_F16] = i64_f16,
                         [ISO_BF16] = i64_bf16,
                         [ISO_F32] = i64_f32,
                         [ISO_F64] = i64_f64,
                         [ISO_I32] = i64_i32,
                         [ISO_I8] = i64_i8},
            [ISO_I8] = {[ISO_F16] = i8_f16,
                        [ISO_BF16] = i8_bf16,
                        [ISO_F32] = i8_f32,
                        [ISO_F64] = i8_f64,
                        [ISO_I32] = i8_i32,
                        [ISO_I64] = i8_i64},
        },
    .move = {move_1, move_2, move_4, move_8, move_16},
};
