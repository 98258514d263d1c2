/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps, one cache line at a time. Every element is computed separately. Elements before the
 * first whole line and after the last are computed as a padded line, by the same code, so that an
 * element's place does not change its bits. */
#include "backends/openmp/kernels/elements.h"
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

enum what {
    SCALE,
    ADD,
    MULTIPLY,
    TRIAD,
    SUBTRACT,
    DIVIDE,
    LEAST,
    MOST,
    MAGNITUDE,
    OPPOSITE,
    AXPBY,
    FMA_OF,
    RELU,
    EXP,
    TANH
};
#define READS_Y(what)                                                                              \
    ((what) == ADD || (what) == MULTIPLY || (what) == TRIAD || (what) == SUBTRACT ||               \
     (what) == DIVIDE || (what) == LEAST || (what) == MOST || (what) == AXPBY || (what) == FMA_OF)
#define READS_W(what) ((what) == FMA_OF)

#if defined(CPU_KERNELS_AVX512) || defined(CPU_KERNELS_NEON)
enum { CHAIN_VECTORS = 16 };
#else
enum { CHAIN_VECTORS = 12 }; /* the other instruction sets have only 16 registers */
#endif

/* ---- copies: of bytes, whatever the type ----------------------------------------------------- */

typedef uint64_t line_vector __attribute__((vector_size(SIMD_BYTES)));

SIMD_INLINE void copy_lines(const char *x, char *z, int64_t lines, int stream)
{
    for (int64_t l = 0; l < lines; l++) {
        SIMD_UNROLL
        for (int i = 0; i < 64; i += SIMD_BYTES) {
            line_vector v;
            memcpy(&v, x + l * 64 + i, sizeof v);
            if (stream) {
                simd_stream(z + l * 64 + i, &v, sizeof v);
            } else {
                memcpy(z + l * 64 + i, &v, sizeof v);
            }
        }
    }
}

static void copy(const cpu_map_part *p, int64_t bytes)
{
    const char *x = p->x;
    char *z = p->z;
    if (x == z) {
        return;
    }
    const int64_t before = (int64_t)(-(uintptr_t)z % 64), head = before < bytes ? before : bytes;
    const int64_t lines = (bytes - head) / 64, done = head + lines * 64;
    memcpy(z, x, (size_t)head);
    if (p->stream) {
        copy_lines(x + head, z + head, lines, 1);
        simd_stream_end();
    } else {
        copy_lines(x + head, z + head, lines, 0);
    }
    memcpy(z + done, x + done, (size_t)(bytes - done));
}

#define DEFINE_COPY(bytes, integer)                                                                \
    static void tiled_copy_##bytes(const cpu_map_part *p)                                          \
    {                                                                                              \
        copy(p, p->n *(bytes));                                                                    \
    }                                                                                              \
    static void naive_copy_##bytes(const cpu_map_part *p)                                          \
    {                                                                                              \
        const integer *x = p->x;                                                                   \
        integer *z = p->z;                                                                         \
        const int64_t n = p->n; /* local: to the compiler, z may alias p->n */                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            z[i] = x[i];                                                                           \
        }                                                                                          \
    }

DEFINE_COPY(1, uint8_t)
DEFINE_COPY(2, uint16_t)
DEFINE_COPY(4, uint32_t)
DEFINE_COPY(8, uint64_t)

typedef struct pair {
    uint64_t half[2];
} pair;
DEFINE_COPY(16, pair)

/* ---- values ---------------------------------------------------------------------------------- */

typedef int32_t simd_i32 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t simd_i64 __attribute__((vector_size(SIMD_BYTES)));

static inline uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define MATH       vector_f32
#define VALUE      simd_f32
#define BITS       simd_u32
#define SIGNED     simd_i32
#define MASK(c)    ((simd_u32)(c))
#define TO_BITS(v) ((simd_u32)(v))
#define OF_BITS(b) ((simd_f32)(b))
#define SET        simd_f32_set
#define FMA        simd_f32_fma
#define MATH_64    0
#include "backends/openmp/kernels/map_math.h"

#define MATH       vector_f64
#define VALUE      simd_f64
#define BITS       simd_u64
#define SIGNED     simd_i64
#define MASK(c)    ((simd_u64)(c))
#define TO_BITS(v) ((simd_u64)(v))
#define OF_BITS(b) ((simd_f64)(b))
#define SET        simd_f64_set
#define FMA        simd_f64_fma
#define MATH_64    1
#include "backends/openmp/kernels/map_math.h"

#define MATH    number_f32
#define VALUE   float
#define BITS    uint32_t
#define SIGNED  int32_t
#define MASK(c) (-(uint32_t)(c))
#define TO_BITS cpu_f32_bits
#define OF_BITS cpu_f32_of_bits
#define SET     (float)
#define FMA     __builtin_fmaf
#define MATH_64 0
#include "backends/openmp/kernels/map_math.h"

#define MATH    number_f64
#define VALUE   double
#define BITS    uint64_t
#define SIGNED  int64_t
#define MASK(c) (-(uint64_t)(c))
#define TO_BITS bits_of_f64
#define OF_BITS f64_of_bits
#define SET     (double)
#define FMA     __builtin_fma
#define MATH_64 1
#include "backends/openmp/kernels/map_math.h"

#define MATH    vector_u32
#define VALUE   simd_u32
#define BITS    simd_u32
#define SIGNED  simd_i32
#define MASK(c) ((simd_u32)(c))
#include "backends/openmp/kernels/map_math.h"

#define MATH    vector_u64
#define VALUE   simd_u64
#define BITS    simd_u64
#define SIGNED  simd_i64
#define MASK(c) ((simd_u64)(c))
#include "backends/openmp/kernels/map_math.h"

#define MATH    number_u32
#define VALUE   uint32_t
#define BITS    uint32_t
#define SIGNED  int32_t
#define MASK(c) (-(uint32_t)(c))
#include "backends/openmp/kernels/map_math.h"

#define MATH    number_u64
#define VALUE   uint64_t
#define BITS    uint64_t
#define SIGNED  int64_t
#define MASK(c) (-(uint64_t)(c))
#include "backends/openmp/kernels/map_math.h"

/* ---- the types ------------------------------------------------------------------------------- */

#define SAME(x) (x)

CONVERSION float read_f16(uint16_t x)
{
    return cpu_f16_to_f32(x);
}

CONVERSION uint16_t write_f16(float x)
{
    return cpu_f32_to_f16(x);
}

#define TYPE    f16
#define ELEMENT uint16_t
#define KIND    f32
#define REAL    float
#define LOAD    load_f16
#define STORE   store_f16
#define READ    read_f16
#define WRITE   write_f16
#define FMA     __builtin_fmaf
#include "backends/openmp/kernels/map_type.h"

#define TYPE    bf16
#define ELEMENT uint16_t
#define KIND    f32
#define REAL    float
#define LOAD    simd_f32_load_bf16
#define STORE   simd_f32_store_bf16
#define READ    cpu_bf16_to_f32
#define WRITE   cpu_f32_to_bf16
#define FMA     __builtin_fmaf
#include "backends/openmp/kernels/map_type.h"

#define TYPE    f32
#define ELEMENT float
#define KIND    f32
#define REAL    float
#define LOAD    simd_f32_load
#define STORE   simd_f32_store
#define READ    SAME
#define WRITE   SAME
#define FMA     __builtin_fmaf
#include "backends/openmp/kernels/map_type.h"

#define TYPE    f64
#define ELEMENT double
#define KIND    f64
#define REAL    double
#define LOAD    simd_f64_load
#define STORE   simd_f64_store
#define READ    SAME
#define WRITE   SAME
#define FMA     __builtin_fma
#include "backends/openmp/kernels/map_type.h"

#define TYPE    i32
#define ELEMENT uint32_t
#define KIND    u32
#define REAL    uint32_t
#define LOAD    load_u32
#define STORE   store_u32
#define READ    SAME
#define WRITE   SAME
#include "backends/openmp/kernels/map_type.h"

#define TYPE    i64
#define ELEMENT uint64_t
#define KIND    u64
#define REAL    uint64_t
#define LOAD    load_u64
#define STORE   store_u64
#define READ    SAME
#define WRITE   SAME
#include "backends/openmp/kernels/map_type.h"

#define FLOATS(name)                                                                               \
    [ISO_F16] = name##_f16, [ISO_BF16] = name##_bf16, [ISO_F32] = name##_f32, [ISO_F64] = name##_f64
#define ALL(name) FLOATS(name), [ISO_I32] = name##_i32, [ISO_I64] = name##_i64
#define COPIES(name)                                                                               \
    [ISO_F16] = name##_2, [ISO_BF16] = name##_2, [ISO_F32] = name##_4, [ISO_F64] = name##_8,       \
    [ISO_I32] = name##_4, [ISO_I64] = name##_8, [ISO_I8] = name##_1, [ISO_C64] = name##_8,         \
    [ISO_C128] = name##_16
#define KINDS(prefix)                                                                               \
    {                                                                                               \
        [ISO_MAP_COPY] = {COPIES(prefix##copy)},      [ISO_MAP_SCALE] = {FLOATS(prefix##scale)},    \
        [ISO_MAP_ADD] = {ALL(prefix##add)},           [ISO_MAP_MULTIPLY] = {ALL(prefix##multiply)}, \
        [ISO_MAP_TRIAD] = {FLOATS(prefix##triad)},    [ISO_MAP_CHAIN] = {FLOATS(prefix##chain)},    \
        [ISO_MAP_SUBTRACT] = {ALL(prefix##subtract)}, [ISO_MAP_DIVIDE] = {FLOATS(prefix##divide)},  \
        [ISO_MAP_MIN] = {ALL(prefix##min)},           [ISO_MAP_MAX] = {ALL(prefix##max)},           \
        [ISO_MAP_ABS] = {ALL(prefix##abs)},           [ISO_MAP_NEGATE] = {ALL(prefix##negate)},     \
        [ISO_MAP_AXPBY] = {FLOATS(prefix##axpby)},    [ISO_MAP_FMA] = {FLOATS(prefix##fma)},        \
        [ISO_MAP_RELU] = {FLOATS(prefix##relu)},      [ISO_MAP_EXP] = {FLOATS(prefix##exp)},        \
        [ISO_MAP_TANH] = {FLOATS(prefix##tanh)},                                                    \
    }

const cpu_map_kernels CPU_TABLE(cpu_map_kernels) = {
    .naive = KINDS(naive_),
    .tiled = KINDS(tiled_),
};
