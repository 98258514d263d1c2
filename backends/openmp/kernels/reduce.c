/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - reduces blocks of 4096 elements by the rules of docs/bits.md: sums, products,
 * dots and squares, along a line and down strips of columns. min and max are in order.c. */
#include "backends/openmp/kernels/kernels.h"
#include "backends/openmp/kernels/simd.h"

#include <isomer/types.h>

#include <stddef.h>

/* How to run a loop over the vectors of 128 lanes. With vectors of 16 bytes there are too many of
 * them to unroll the loop completely. It then reads memory at a third of the speed, unless it
 * prefetches lines LANES_AHEAD bytes ahead. With longer vectors prefetching only costs time. */
#if SIMD_BYTES > 16
#define LANES_UNROLL SIMD_UNROLL
#define LANES_AHEAD  0
#elif defined(__clang__)
#define LANES_UNROLL _Pragma("clang loop unroll_count(8)")
#define LANES_AHEAD  8192
#else
#define LANES_UNROLL _Pragma("GCC unroll 8")
#define LANES_AHEAD  8192
#endif

/* Lines of LINE_FAR bytes or more come from memory. They are read at LINE_STREAMS places at once,
 * which are LINE_APART blocks from each other: not a power of two, for the sake of the caches. */
enum { LINE_FAR = 1 << 20, LINE_STREAMS = 2, LINE_APART = 61 };

typedef simd_f32 v_f32;
typedef simd_f64 v_f64;
typedef uint32_t v_u32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t v_u64 __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t v_i32 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t v_i64 __attribute__((vector_size(SIMD_BYTES)));

SIMD_INLINE int element_bytes(int element)
{
    switch (element) {
    case ISO_F16:
    case ISO_BF16:
        return 2;
    case ISO_F32:
    case ISO_I32:
        return 4;
    default:
        return 8;
    }
}

/* Squares of f64 set bits here if an element is too big or too small for the main sum. */
typedef v_u64 rare_bits;

SIMD_INLINE uint64_t rare_any(rare_bits bits)
{
    uint64_t any = 0;
    for (int i = 0; i < SIMD_F64; i++) {
        any |= bits[i];
    }
    return any;
}

/* ---- lanes of f32 ---------------------------------------------------------------------------- */

SIMD_INLINE v_f32 load_f32(int element, const void *from)
{
    switch (element) {
    case ISO_F16:
        return simd_f32_load_f16(from);
    case ISO_BF16:
        return simd_f32_load_bf16(from);
    default:
        return simd_f32_load(from);
    }
}

SIMD_INLINE v_f32 step_f32(int step, v_f32 acc, v_f32 x, v_f32 y, rare_bits *rare)
{
    (void)rare;
    switch (step) {
    case CPU_STEP_PRODUCT:
        return acc * x;
    case CPU_STEP_DOT:
        return simd_f32_fma(x, y, acc);
    case CPU_STEP_ASUM:
        return acc + (v_f32)((v_u32)x & 0x7fffffffu);
    default:
        return acc + x;
    }
}

#define LANE      float
#define LANE_NAME f32
#include "backends/openmp/kernels/reduce_lanes.h"

/* ---- lanes of f64 ---------------------------------------------------------------------------- */

typedef float half_f32 __attribute__((vector_size(SIMD_BYTES / 2)));

SIMD_INLINE v_f64 load_f64(int element, const void *from)
{
    if (element == ISO_F64) {
        return simd_f64_load(from);
    }
#if defined(SIMD_SVE)
    const svbool_t all = svptrue_b64();
    if (element == ISO_F16) {
        return svcvt_f64_f16_x(all, svreinterpret_f16_u64(svld1uh_u64(all, from)));
    }
    const svuint64_t bits = element == ISO_F32 ? svld1uw_u64(all, from)
                                               : svlsl_n_u64_x(all, svld1uh_u64(all, from), 16);
    return svcvt_f64_f32_x(all, svreinterpret_f32_u64(bits));
#else
    half_f32 x;
    if (element == ISO_F32) {
        memcpy(&x, from, sizeof x);
    } else if (element == ISO_BF16) {
        typedef uint16_t quarter_u16 __attribute__((vector_size(SIMD_BYTES / 4)));
        typedef uint32_t half_u32 __attribute__((vector_size(SIMD_BYTES / 2)));
        quarter_u16 bits;
        memcpy(&bits, from, sizeof bits);
        x = (half_f32)(__builtin_convertvector(bits, half_u32) << 16);
    } else {
#if SIMD_BYTES == 64
        x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#elif SIMD_BYTES == 32
        x = _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)from));
#else
        for (int i = 0; i < SIMD_F64; i++) {
            uint16_t bits;
            memcpy(&bits, (const char *)from + 2 * i, sizeof bits);
            x[i] = cpu_f16_to_f32(bits);
        }
#endif
    }
#if SIMD_BYTES == 64
    return _mm512_cvtps_pd(x);
#elif SIMD_BYTES == 32
    return _mm256_cvtps_pd(x);
#else
    return __builtin_convertvector(x, v_f64);
#endif
#endif
}

/* Further steps for squares. f64 keeps three sums and has one step for each: CPU_STEP_SQUARES
 * (med), BIG and SMALL. Narrower types need one sum and use PLAIN. */
enum { STEP_SQUARES_BIG = CPU_STEP_COUNT, STEP_SQUARES_SMALL, STEP_SQUARES_PLAIN };

#define SQUARES_TSML 0x1p-511
#define SQUARES_TBIG 0x1p486
#define SQUARES_SSML 0x1p537
#define SQUARES_SBIG 0x1p-538

SIMD_INLINE v_f64 step_f64(int step, v_f64 acc, v_f64 x, v_f64 y, rare_bits *rare)
{
    const v_f64 abs = (v_f64)((v_u64)x & 0x7fffffffffffffffu);
    const v_u64 big = (v_u64)(abs > SQUARES_TBIG), small = (v_u64)(abs < SQUARES_TSML);
    switch (step) {
    case CPU_STEP_PRODUCT:
        return acc * x;
    case CPU_STEP_DOT:
        return simd_f64_fma(x, y, acc);
    case CPU_STEP_ASUM:
        return acc + abs;
    case STEP_SQUARES_PLAIN:
        return simd_f64_fma(x, x, acc);
    case CPU_STEP_SQUARES: /* big and small elements count as 0 here; other steps sum them */
        *rare |= big | (small & (v_u64)(abs > 0.0));
#if defined(__x86_64__)
        __asm__(""
                : "+x"(*rare)); /* makes gcc compute `rare` here; otherwise it keeps the inputs on
                                   the stack */
#endif
        x = (v_f64)((v_u64)x & ~(big | small));
        return simd_f64_fma(x, x, acc);
    case STEP_SQUARES_BIG:
        x = (v_f64)((v_u64)(x * SQUARES_SBIG) & big);
        return simd_f64_fma(x, x, acc);
    case STEP_SQUARES_SMALL:
        x = (v_f64)((v_u64)(x * SQUARES_SSML) & small);
        return simd_f64_fma(x, x, acc);
    default:
        return acc + x;
    }
}

#define LANE      double
#define LANE_NAME f64
#include "backends/openmp/kernels/reduce_lanes.h"

/* ---- lanes of integers, computed unsigned ---------------------------------------------------- */

SIMD_INLINE v_u32 load_u32(int element, const void *from)
{
    (void)element;
    v_u32 x;
    memcpy(&x, from, sizeof x);
    return x;
}

#define LANE        uint32_t
#define LANE_SIGNED v_i32
#define LANE_NAME   u32
#include "backends/openmp/kernels/reduce_lanes.h"

SIMD_INLINE v_u64 load_u64(int element, const void *from)
{
    if (element == ISO_I32) {
        typedef int32_t half_i32 __attribute__((vector_size(SIMD_BYTES / 2)));
        half_i32 x;
        memcpy(&x, from, sizeof x);
        return (v_u64) __builtin_convertvector(x, v_i64);
    }
    v_u64 x;
    memcpy(&x, from, sizeof x);
    return x;
}

#define LANE        uint64_t
#define LANE_SIGNED v_i64
#define LANE_NAME   u64
#include "backends/openmp/kernels/reduce_lanes.h"

/* ---- the table ------------------------------------------------------------------------------- */

#define DEFINE(lanes, element, step, name)                                                         \
    static void line_##name(const void *x, const void *y, int64_t n, void *out, int64_t plane)     \
    {                                                                                              \
        (void)plane;                                                                               \
        line_##lanes(element, step, x, y, n, out);                                                 \
    }                                                                                              \
    DEFINE_COLS(lanes, element, step, name)

#define DEFINE_COLS(lanes, element, step, name)                                                    \
    static void cols_##name(const cpu_reduce_strip *strip, void *scratch, void *out,               \
                            int64_t plane)                                                         \
    {                                                                                              \
        (void)plane;                                                                               \
        strip_##lanes(element, step, strip, scratch, out, NULL);                                   \
    }

/*
 * The result of xor does not depend on the order, so a line is read from end to end into as many
 * values as registers hold: this is how fast memory can be read. Only the strips of columns keep
 * lanes.
 */
enum { XOR_APART = 8, XOR_BYTES = XOR_APART * SIMD_BYTES };

SIMD_INLINE v_u64 xor_block(const char *x, int bytes)
{
    v_u64 acc[XOR_APART] = {0};
    int i = 0;
    for (; i + XOR_BYTES <= bytes; i += XOR_BYTES) {
        SIMD_UNROLL
        for (int j = 0; j < XOR_APART; j++) {
            acc[j] ^= load_u64(ISO_I64, x + i + j * SIMD_BYTES);
        }
    }
    if (i < bytes) {
        char last[XOR_BYTES] = {0};
        memcpy(last, x + i, (size_t)(bytes - i));
        SIMD_UNROLL
        for (int j = 0; j < XOR_APART; j++) {
            acc[j] ^= load_u64(ISO_I64, last + j * SIMD_BYTES);
        }
    }
    SIMD_UNROLL
    for (int j = 1; j < XOR_APART; j++) {
        acc[0] ^= acc[j];
    }
    return acc[0];
}

static void line_xor_i32(const void *x, const void *y, int64_t n, void *out, int64_t plane)
{
    const char *at = x;
    uint32_t *to = out;
    (void)y;
    (void)plane;
    for (; n > 0; n -= CPU_REDUCE_BLOCK, at += CPU_REDUCE_BLOCK * 4, to++) {
        const v_u64 acc = xor_block(at, 4 * (int)(n < CPU_REDUCE_BLOCK ? n : CPU_REDUCE_BLOCK));
        uint64_t all = 0;
        for (int i = 0; i < SIMD_F64; i++) {
            all ^= acc[i];
        }
        *to = (uint32_t)(all ^ all >> 32);
    }
}

static void line_xor_i64(const void *x, const void *y, int64_t n, void *out, int64_t plane)
{
    const char *at = x;
    uint64_t *to = out;
    (void)y;
    (void)plane;
    for (; n > 0; n -= CPU_REDUCE_BLOCK, at += CPU_REDUCE_BLOCK * 8, to++) {
        const v_u64 acc = xor_block(at, 8 * (int)(n < CPU_REDUCE_BLOCK ? n : CPU_REDUCE_BLOCK));
        *to = 0;
        for (int i = 0; i < SIMD_F64; i++) {
            *to ^= acc[i];
        }
    }
}

DEFINE_COLS(u32, ISO_I32, CPU_STEP_XOR, xor_i32)
DEFINE_COLS(u64, ISO_I64, CPU_STEP_XOR, xor_i64)

#define DEFINE_TYPE(lanes, element, name)                                                          \
    DEFINE(lanes, element, CPU_STEP_SUM, sum_##name)                                               \
    DEFINE(lanes, element, CPU_STEP_PRODUCT, product_##name)                                       \
    DEFINE(lanes, element, CPU_STEP_DOT, dot_##name)                                               \
    DEFINE(lanes, element, CPU_STEP_ASUM, asum_##name)

DEFINE_TYPE(f32, ISO_F16, f16)
DEFINE_TYPE(f32, ISO_BF16, bf16)
DEFINE_TYPE(f32, ISO_F32, f32)
DEFINE_TYPE(f64, ISO_F64, f64)
DEFINE_TYPE(u32, ISO_I32, i32)
DEFINE_TYPE(u64, ISO_I64, i64)
DEFINE(f64, ISO_F16, STEP_SQUARES_PLAIN, squares_f16)
DEFINE(f64, ISO_BF16, STEP_SQUARES_PLAIN, squares_bf16)
DEFINE(f64, ISO_F32, STEP_SQUARES_PLAIN, squares_f32)
DEFINE(u64, ISO_I32, CPU_STEP_SUM, wide_i32)

/* Not inlined: one stack frame with the lanes of all three passes would be too large for a small
 * stack. */
__attribute__((noinline)) static double big_squares(const char *x, int n)
{
    uint64_t unused;
    return block_f64(ISO_F64, STEP_SQUARES_BIG, x, NULL, n, &unused);
}

__attribute__((noinline)) static double small_squares(const char *x, int n)
{
    uint64_t unused;
    return block_f64(ISO_F64, STEP_SQUARES_SMALL, x, NULL, n, &unused);
}

/* A block is read again for the big and small sums only if it has elements that belong in them. */
static void line_squares_f64(const void *x, const void *y, int64_t n, void *out, int64_t plane)
{
    (void)y;
    double *med = out;
    const char *at = x;
    for (; n > 0; n -= CPU_REDUCE_BLOCK, at += CPU_REDUCE_BLOCK * 8, med++) {
        const int count = (int)(n < CPU_REDUCE_BLOCK ? n : CPU_REDUCE_BLOCK);
        uint64_t rare;
        *med = block_f64(ISO_F64, CPU_STEP_SQUARES, at, NULL, count, &rare);
        med[plane] = 0.0;
        med[2 * plane] = 0.0;
        if (rare != 0) {
            med[plane] = big_squares(at, count);
            med[2 * plane] = small_squares(at, count);
        }
    }
}

static void cols_squares_f64(const cpu_reduce_strip *strip, void *scratch, void *out, int64_t plane)
{
    double *med = out;
    uint64_t rare;
    strip_f64(ISO_F64, CPU_STEP_SQUARES, strip, scratch, med, &rare);
    if (rare != 0) {
        strip_f64(ISO_F64, STEP_SQUARES_BIG, strip, scratch, med + plane, NULL);
        strip_f64(ISO_F64, STEP_SQUARES_SMALL, strip, scratch, med + 2 * plane, NULL);
    } else {
        memset(med + plane, 0, (size_t)strip->cols * sizeof(double));
        memset(med + 2 * plane, 0, (size_t)strip->cols * sizeof(double));
    }
}

#define ROW(prefix, name)                                                                          \
    {[ISO_F16] = prefix##_##name##_f16, [ISO_BF16] = prefix##_##name##_bf16,                       \
     [ISO_F32] = prefix##_##name##_f32, [ISO_F64] = prefix##_##name##_f64,                         \
     [ISO_I32] = prefix##_##name##_i32, [ISO_I64] = prefix##_##name##_i64}
#define TABLE(prefix)                                                                              \
    {                                                                                              \
        [CPU_STEP_SUM] = ROW(prefix, sum), [CPU_STEP_PRODUCT] = ROW(prefix, product),              \
        [CPU_STEP_DOT] = ROW(prefix, dot), [CPU_STEP_ASUM] = ROW(prefix, asum),                    \
        [CPU_STEP_SQUARES] = {[ISO_F16] = prefix##_squares_f16,                                    \
                              [ISO_BF16] = prefix##_squares_bf16,                                  \
                              [ISO_F32] = prefix##_squares_f32,                                    \
                              [ISO_F64] = prefix##_squares_f64},                                   \
        [CPU_STEP_SUM_WIDE] = {[ISO_I32] = prefix##_wide_i32}, [CPU_STEP_XOR] = {                  \
            [ISO_I32] = prefix##_xor_i32,                                                          \
            [ISO_I64] = prefix##_xor_i64                                                           \
        }                                                                                          \
    }

const cpu_reduce_kernels CPU_TABLE(cpu_reduce_kernels) = {
    .line = TABLE(line),
    .cols = TABLE(cols),
};
