/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - the language of the program's own kernels: one text that CUDA, HIP, OpenCL C 1.2 and
 * C11 compile, with the same bits. The library puts this file in front of each text. A text may
 * also include it, for editors; programs do not.
 *
 *   ISO_KERNEL(axpy, 256, 1, 1)(f32 a, ISO_IN(f32) x, ISO_INOUT(f32) y, i64 n)
 *   {
 *       ISO_REGION(i)
 *       {
 *           const i64 at = iso_x(i);
 *           if (at < n) {
 *               y[at] = iso_fma_f32(a, x[at], y[at]);
 *           }
 *       }
 *   }
 *
 * A kernel is ISO_KERNEL(name, x, y, z)(parameters) { body }. A launch runs groups along three
 * axes, fewer than 2^31; a group has x * y * z items, at most 1024. The body is a sequence of
 * regions. In a region every item of the group runs, and the end of a region waits for all of them:
 * what one item wrote to a shared array or a buffer, the others of its group read in the next
 * region. On a GPU a region is plain code and a barrier, on a CPU a loop over the items.
 *
 * Regions     ISO_REGION(i), ISO_REGION_2(i, j) and ISO_REGION_3(i, j, k) name the item's indices
 *             along x, y and z, from 0, of type i32; they exist only in the region. A group with
 *             several items along y needs ISO_REGION_2 or _3, one with several along z _3: the
 *             library refuses fewer. `continue`, outside of a loop in the region, ends the region
 *             for an item. Loops and branches may stand around regions if all items of the group
 *             take them alike. `return`, `goto`, and a `break` that leaves a region, are refused
 *             when the program is created (INVALID, with the line).
 * Places      In one region no item reads or writes what another item writes, in a shared array or
 *             a buffer; nor do two groups in one launch. Only atomics may share a place.
 * Variables   A variable that is declared in a region belongs to the item and the region; one that
 *             is declared outside, or a parameter that is a value, belongs to the group, and
 *             regions only read it. Code outside of regions writes no shared array or buffer, and
 *             uses neither iso_mine nor atomics. All this is refused when the program is created
 *             (INVALID, with the line). Nor may code outside of regions read a place that the next
 *             region writes: read it in a region. Shared arrays and own values begin with any
 *             contents.
 * Types       i8 u8 i16 u16 i32 u32 i64 u64 f32 f64, and vectors of 2 and 4 (f32x2, f32x4, and the
 *             same of f64, i32, u32, i64 and u64) with members x, y, z, w. iso_f32x2(a, b) makes
 *             one. Operators are only for scalars. Structs of scalars and their arrays, with the
 *             layout of C, outside of kernels:
 *                 ISO_STRUCT(params) { f32 scale; i32 count; u8 tag[4]; };
 *             There are no pointers of one's own: * reads none, and & is for atomics.
 * Functions   ISO_FUNCTION f32 square(f32 x) { return x * x; } outside of kernels, before its use.
 *             It takes and returns values, and does not call itself. Macros (#define, or iso_macro)
 *             are allowed. Words of one compiler, such as __syncthreads, sqrtf or __builtin_clz,
 *             are refused (INVALID, with what to write), but not under #if, where code for one
 *             backend stands.
 *
 * Parameters:
 *
 *   f32 a, params p            a value
 *   ISO_IN(f32) x              a buffer that the kernel reads
 *   ISO_OUT(f32) y             one that it writes, ISO_INOUT(f32) y one that it does both with;
 *                              what it does not write stays. Such a buffer shares no byte with
 *                              another one of the launch
 *   ISO_IN(f32) x ISO_EXTENT(rows * cols)
 *                              a launch is refused if the buffer has fewer elements. The expression
 *                              has integer parameters, numbers, macros, + - * / % << >> and ( )
 *   ISO_SHARED(f32, 256) part  an array that the items of a group share; its size, like those of
 *                              groups, is such an expression without parameters
 *   ISO_SHARED(f32, ISO_AT_LAUNCH) part
 *                              the launch gives the count, as an integer argument in this place
 *   ISO_OWN(f32) sum           a value of each item that outlives a region: iso_mine(sum)
 *
 * In bodies:
 *
 *   iso_group_x(), _y, _z      the group's place in the launch, and iso_groups_x(), _y, _z how many
 *                              groups there are: i64
 *   iso_x(i), iso_y(j), iso_z(k)
 *                              the item's place in the launch: iso_group_x() * x + i, i64; in the
 *                              parentheses is the name of the region's index
 *   iso_fma_f32(a, b, c)       a * b + c, rounded once; iso_fma_f64
 *   iso_div_f32(a, b)          a / b, correctly rounded; iso_div_f64
 *   iso_sqrt_f32(a)            the square root, correctly rounded; iso_sqrt_f64. OpenCL devices
 *                              lack these of f32 if they have neither f64 nor
 *                              CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
 *   iso_exp_f32(a)             e^a by the polynomial below, with an error below 1 unit in the last
 *                              place; iso_exp_f64
 *   iso_bits_f32(a)            the bits of a, a u32; iso_from_bits_f32(u) is the reverse. Also
 *                              iso_bits_f64 and iso_from_bits_f64, with u64
 *   iso_atomic_add_i32(p, v)   adds to *p, a place in a buffer or a shared array, and returns the
 *                              old value; also _min and _max. For i32, u32, i64 and u64; OpenCL
 *                              needs cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics
 *                              for those of 64 bits
 *   iso_atomic_add_f32(p, v)   the same for floats, without a promise of bits: they are added in
 *                              any order; iso_atomic_add_f64
 *   ISO_GROUP_SUM(part, sum)   between regions: part[0] = the sum of all items' iso_mine(sum). The
 *                              shared array `part` has the same type, of scalars, and an element
 *                              for each item. Of n values, item
 *                              i < n / 2 adds value (n + 1) / 2 + i to its own, then n becomes
 *                              (n + 1) / 2, until one is left. Also ISO_GROUP_MIN and ISO_GROUP_MAX
 *   ISO_TEAM_SUM(part, sum, w) the same for each team of w items that follow each other (w is a
 *                              constant; the last team may be shorter): the sum of item i's team is
 *                              in part[i / w * w]. Also ISO_TEAM_MIN and ISO_TEAM_MAX
 *
 * Bits: + - * of every type, / % and shifts of integers, comparisons, conversions that are in
 * range, iso_fma, iso_div, iso_sqrt, iso_exp and the sums over groups and teams give the same bits
 * everywhere; nothing is contracted. The operator / of floats may differ in the last bit between
 * devices, and so may the order of atomics on one place. gcc (12 was seen) may turn
 * -iso_fma(a, b, c) into one instruction, which loses the sign if the result is an exact 0. NVRTC
 * (13 was seen) may round a literal of f32 up that lies halfway between two of its numbers.
 * Overflow of signed integers and shifts by the width or more are not defined.
 */
#ifndef ISOMER_KERNEL_H
#define ISOMER_KERNEL_H

/* Names that end with _ are the library's. */

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
/* Names that are not declared: a compiler's message then says what the device lacks. */
#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)
#define ISO_HAS_F64_ 1
#else
#define f64       f64_needs_cl_khr_fp64
#define f64x2     f64x2_needs_cl_khr_fp64
#define f64x4     f64x4_needs_cl_khr_fp64
#define iso_f64x2 iso_f64x2_needs_cl_khr_fp64
#define iso_f64x4 iso_f64x4_needs_cl_khr_fp64
#endif
#if defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#if defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif
#define ISO_CPU_            0
#define ISO_OPENCL_         1
#define ISO_ENTRY_(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void
#define ISO_FUNCTION_       static inline
#define ISO_GLOBAL_         __global
#define ISO_LOCAL_          __local
#define ISO_LOCAL_AT_       __local
#define ISO_RESTRICT_       restrict
#define ISO_ITEM_()         ((u32)get_local_id(0))
#define ISO_GROUP_X_()      ((u32)get_group_id(0))
#define ISO_GROUP_Y_()      ((u32)get_group_id(1))
#define ISO_GROUP_Z_()      ((u32)get_group_id(2))
/* Memory is a handle: the entry adds the offset. */
#define ISO_INPUT_(type, name)  ISO_GLOBAL_ const type *restrict name, i64 name##_at_
#define ISO_BUFFER_(type, name) ISO_GLOBAL_ type *name, i64 name##_at_
#define ISO_PLACE_(name)        (name + name##_at_)
#define ISO_BARRIER_()          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
typedef float f32;
#define iso_fma_f32(a, b, c) fma((f32)(a), (f32)(b), (f32)(c))
#define iso_bits_f32(a)      as_uint((f32)(a))
#define iso_from_bits_f32(u) as_float((u32)(u))
#if defined(ISO_HAS_F64_)
typedef double f64;
#define iso_fma_f64(a, b, c) fma((f64)(a), (f64)(b), (f64)(c))
#define iso_sqrt_f64(a)      sqrt((f64)(a))
#define iso_div_f64(a, b)    ((f64)(a) / (f64)(b))
#define iso_bits_f64(a)      as_ulong((f64)(a))
#define iso_from_bits_f64(u) as_double((u64)(u))
#endif
#if defined(ISO_ROUNDS_) /* the library asked the compiler for it */
#define iso_div_f32(a, b) ((f32)(a) / (f32)(b))
#define iso_sqrt_f32(a)   sqrt((f32)(a))
#elif defined(ISO_HAS_F64_)
/* With twice the digits, and two more, rounding a second time changes nothing. */
#define iso_div_f32(a, b) ((f32)((f64)(f32)(a) / (f64)(f32)(b)))
#define iso_sqrt_f32(a)   ((f32)sqrt((f64)(f32)(a)))
#else
#define iso_div_f32(a, b) iso_div_f32_needs_cl_khr_fp64
#define iso_sqrt_f32(a)   iso_sqrt_f32_needs_cl_khr_fp64
#endif
#define ISO_SIZED_PARAM_         , __local ulong2 *iso_sized_param_
#define ISO_SIZED_HERE_          __local u8 *iso_sized_ = (__local u8 *)iso_sized_param_;
#define iso_atomic_add_i32(p, v) atomic_add((p), (i32)(v))
#define iso_atomic_add_u32(p, v) atomic_add((p), (u32)(v))
#define iso_atomic_min_i32(p, v) atomic_min((p), (i32)(v))
#define iso_atomic_min_u32(p, v) atomic_min((p), (u32)(v))
#define iso_atomic_max_i32(p, v) atomic_max((p), (i32)(v))
#define iso_atomic_max_u32(p, v) atomic_max((p), (u32)(v))
#if defined(cl_khr_int64_base_atomics)
#define iso_atomic_add_i64(p, v) atom_add((p), (i64)(v))
#define iso_atomic_add_u64(p, v) atom_add((p), (u64)(v))
#else
#define iso_atomic_add_i64(p, v) iso_atomic_add_i64_needs_cl_khr_int64_base_atomics
#define iso_atomic_add_u64(p, v) iso_atomic_add_u64_needs_cl_khr_int64_base_atomics
#endif
#if defined(cl_khr_int64_extended_atomics)
#define iso_atomic_min_i64(p, v) atom_min((p), (i64)(v))
#define iso_atomic_min_u64(p, v) atom_min((p), (u64)(v))
#define iso_atomic_max_i64(p, v) atom_max((p), (i64)(v))
#define iso_atomic_max_u64(p, v) atom_max((p), (u64)(v))
#else
#define iso_atomic_min_i64(p, v) iso_atomic_min_i64_needs_cl_khr_int64_extended_atomics
#define iso_atomic_min_u64(p, v) iso_atomic_min_u64_needs_cl_khr_int64_extended_atomics
#define iso_atomic_max_i64(p, v) iso_atomic_max_i64_needs_cl_khr_int64_extended_atomics
#define iso_atomic_max_u64(p, v) iso_atomic_max_u64_needs_cl_khr_int64_extended_atomics
#endif
/* Floats have no atomic addition: one is tried until no other came between. */
#define ISO_ATOMIC_SUM_(space, type, word, bits_of, value_of, exchange)                            \
    static inline type                                                                             \
        __attribute__((overloadable)) iso_atomic_add_##type(volatile space type *p, type v)        \
    {                                                                                              \
        volatile space word *at = (volatile space word *)p;                                        \
        word now = exchange(at, 0, 0), was; /* reads it */                                         \
        do {                                                                                       \
            was = now;                                                                             \
            now = exchange(at, was, bits_of(value_of(was) + v));                                   \
        } while (now != was);                                                                      \
        return value_of(was);                                                                      \
    }
ISO_ATOMIC_SUM_(__global, f32, u32, as_uint, as_float, atomic_cmpxchg)
ISO_ATOMIC_SUM_(__local, f32, u32, as_uint, as_float, atomic_cmpxchg)
#if defined(ISO_HAS_F64_) && defined(cl_khr_int64_base_atomics)
ISO_ATOMIC_SUM_(__global, f64, u64, as_ulong, as_double, atom_cmpxchg)
ISO_ATOMIC_SUM_(__local, f64, u64, as_ulong, as_double, atom_cmpxchg)
#else
#define iso_atomic_add_f64(p, v) iso_atomic_add_f64_needs_cl_khr_int64_base_atomics
#endif
#define ISO_VECTORS_(type, native)                                                                 \
    typedef native##2 type##x2;                                                                    \
    typedef native##4 type##x4;                                                                    \
    static inline type##x2 iso_##type##x2(type x, type y)                                          \
    {                                                                                              \
        return (type##x2)(x, y);                                                                   \
    }                                                                                              \
    static inline type##x4 iso_##type##x4(type x, type y, type z, type w)                          \
    {                                                                                              \
        return (type##x4)(x, y, z, w);                                                             \
    }
ISO_VECTORS_(i32, int)
ISO_VECTORS_(u32, uint)
ISO_VECTORS_(i64, long)
ISO_VECTORS_(u64, ulong)
ISO_VECTORS_(f32, float)
#if defined(ISO_HAS_F64_)
ISO_VECTORS_(f64, double)
#endif

#else /* C and C++ */

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define ISO_CPU_            0
#define ISO_ENTRY_(threads) extern "C" __global__ void __launch_bounds__(threads)
#define ISO_FUNCTION_       static __device__ __forceinline__
#define ISO_GLOBAL_
#define ISO_LOCAL_ __shared__
#define ISO_LOCAL_AT_
#define ISO_RESTRICT_           __restrict__
#define ISO_ITEM_()             ((u32)threadIdx.x)
#define ISO_GROUP_X_()          ((u32)blockIdx.x)
#define ISO_GROUP_Y_()          ((u32)blockIdx.y)
#define ISO_GROUP_Z_()          ((u32)blockIdx.z)
#define ISO_INPUT_(type, name)  const type *__restrict__ name
#define ISO_BUFFER_(type, name) type *name
#define ISO_PLACE_(name)        (name)
#define ISO_BARRIER_()          __syncthreads()
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#define iso_fma_f32(a, b, c)    fmaf((a), (b), (c))
#define iso_fma_f64(a, b, c)    fma((f64)(a), (f64)(b), (f64)(c))
#if defined(__CUDACC__)
#define iso_div_f32(a, b) __fdiv_rn((a), (b))
#define iso_sqrt_f32(a)   __fsqrt_rn(a)
#else /* HIP's own options round f32 correctly, but a user's might not */
#define iso_div_f32(a, b) ((f32)((f64)(f32)(a) / (f64)(f32)(b)))
#define iso_sqrt_f32(a)   ((f32)sqrt((f64)(f32)(a)))
#endif
#define iso_div_f64(a, b)    ((f64)(a) / (f64)(b))
#define iso_sqrt_f64(a)      sqrt((f64)(a))
#define iso_bits_f32(a)      __float_as_uint(a)
#define iso_from_bits_f32(u) __uint_as_float(u)
#define iso_bits_f64(a)      ((u64)__double_as_longlong(a))
#define iso_from_bits_f64(u) __longlong_as_double((i64)(u))
#define ISO_SIZED_PARAM_
#if !defined(ISO_SIZED_HERE_)
#define ISO_SIZED_HERE_ extern __shared__ __attribute__((aligned(64))) u8 iso_sized_[];
#endif
#define iso_atomic_add_i32(p, v) atomicAdd((p), (i32)(v))
#define iso_atomic_add_u32(p, v) atomicAdd((p), (u32)(v))
#define iso_atomic_min_i32(p, v) atomicMin((p), (i32)(v))
#define iso_atomic_min_u32(p, v) atomicMin((p), (u32)(v))
#define iso_atomic_max_i32(p, v) atomicMax((p), (i32)(v))
#define iso_atomic_max_u32(p, v) atomicMax((p), (u32)(v))
#define iso_atomic_add_i64(p, v) ((i64)atomicAdd((u64 *)(p), (u64)(i64)(v)))
#define iso_atomic_add_u64(p, v) atomicAdd((p), (u64)(v))
#define iso_atomic_min_i64(p, v) atomicMin((p), (i64)(v))
#define iso_atomic_min_u64(p, v) atomicMin((p), (u64)(v))
#define iso_atomic_max_i64(p, v) atomicMax((p), (i64)(v))
#define iso_atomic_max_u64(p, v) atomicMax((p), (u64)(v))
#define iso_atomic_add_f32(p, v) atomicAdd((p), (f32)(v))
#define iso_atomic_add_f64(p, v) atomicAdd((p), (f64)(v))

#else /* a CPU */
#include <stdint.h>
#define ISO_CPU_ 1
#define ISO_GLOBAL_
#define ISO_LOCAL_AT_
#if defined(ISO_JUDGE_) /* gcc does not watch a write of a struct that a call returns */
#define ISO_FUNCTION_ static inline __attribute__((unused, always_inline))
#else
#define ISO_FUNCTION_ static inline __attribute__((unused))
#endif
#if defined(ISO_EMBEDDED_ENTRIES) /* the functions are known by a table only */
#define ISO_CPU_ENTRY_ static
#else
#define ISO_CPU_ENTRY_
#endif
#define ISO_RESTRICT_            __restrict__
typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
#define iso_fma_f32(a, b, c)     __builtin_fmaf((a), (b), (c))
#define iso_fma_f64(a, b, c)     __builtin_fma((a), (b), (c))
#define iso_div_f32(a, b)        ((float)(a) / (float)(b))
#define iso_div_f64(a, b)        ((double)(a) / (double)(b))
#define iso_sqrt_f32(a)          __builtin_sqrtf(a)
#define iso_sqrt_f64(a)          __builtin_sqrt(a)
ISO_FUNCTION_ u32 iso_bits_f32(float a)
{
    u32 bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}
ISO_FUNCTION_ float iso_from_bits_f32(u32 bits)
{
    float a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}
ISO_FUNCTION_ u64 iso_bits_f64(double a)
{
    u64 bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}
ISO_FUNCTION_ double iso_from_bits_f64(u64 bits)
{
    double a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}
#define iso_atomic_add_i32(p, v) __atomic_fetch_add((p), (i32)(v), __ATOMIC_RELAXED)
#define iso_atomic_add_u32(p, v) __atomic_fetch_add((p), (u32)(v), __ATOMIC_RELAXED)
#define iso_atomic_add_i64(p, v) __atomic_fetch_add((p), (i64)(v), __ATOMIC_RELAXED)
#define iso_atomic_add_u64(p, v) __atomic_fetch_add((p), (u64)(v), __ATOMIC_RELAXED)
#define ISO_ATOMIC_BEST_(type, name, better)                                                       \
    ISO_FUNCTION_ __attribute__((always_inline)) type iso_atomic_##name##_##type(type *p, type v)  \
    {                                                                                              \
        type old = __atomic_load_n(p, __ATOMIC_RELAXED);                                           \
        while (v better old &&                                                                     \
               !__atomic_compare_exchange_n(p, &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {  \
        }                                                                                          \
        return old;                                                                                \
    }
#define ISO_ATOMIC_BESTS_(type)                                                                    \
    ISO_ATOMIC_BEST_(type, min, <)                                                                 \
    ISO_ATOMIC_BEST_(type, max, >)
ISO_ATOMIC_BESTS_(i32)
ISO_ATOMIC_BESTS_(u32)
ISO_ATOMIC_BESTS_(i64)
ISO_ATOMIC_BESTS_(u64)
/* Floats have no atomic addition: one is tried until no other came between. */
#define ISO_ATOMIC_SUM_(name, type, word)                                                          \
    ISO_FUNCTION_ __attribute__((always_inline)) type iso_atomic_add_##name(type *p, type v)       \
    {                                                                                              \
        typedef word __attribute__((may_alias)) bits;                                              \
        word was = __atomic_load_n((bits *)p, __ATOMIC_RELAXED);                                   \
        while (!__atomic_compare_exchange_n((bits *)p, &was,                                       \
                                            iso_bits_##name(iso_from_bits_##name(was) + v), 1,     \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {                 \
        }                                                                                          \
        return iso_from_bits_##name(was);                                                          \
    }
ISO_ATOMIC_SUM_(f32, float, u32)
ISO_ATOMIC_SUM_(f64, double, u64)
#endif

typedef float f32;
typedef double f64;
#define ISO_VECTORS_(type)                                                                         \
    typedef struct __attribute__((aligned(2 * sizeof(type)))) type##x2 {                           \
        type x, y;                                                                                 \
    } type##x2;                                                                                    \
    typedef struct __attribute__((aligned(16))) type##x4 {                                         \
        type x, y, z, w;                                                                           \
    } type##x4;                                                                                    \
    ISO_FUNCTION_ type##x2 iso_##type##x2(type x, type y)                                          \
    {                                                                                              \
        const type##x2 v = {x, y};                                                                 \
        return v;                                                                                  \
    }                                                                                              \
    ISO_FUNCTION_ type##x4 iso_##type##x4(type x, type y, type z, type w)                          \
    {                                                                                              \
        const type##x4 v = {x, y, z, w};                                                           \
        return v;                                                                                  \
    }
ISO_VECTORS_(i32)
ISO_VECTORS_(u32)
ISO_VECTORS_(i64)
ISO_VECTORS_(u64)
ISO_VECTORS_(f32)
ISO_VECTORS_(f64)
#endif

/* e^a is 2^n e^r, where n is the integer nearest to a log2(e), and r = a - n ln(2) is at most ln(2)
 * / 2 in magnitude; e^r is Taylor's polynomial. 2^n is multiplied in two halves, because one of
 * them may be too large or too small. */
ISO_FUNCTION_ f32 iso_exp_f32(f32 a)
{
    const f32 big = 12582912.0f; /* 1.5 * 2^23: what is added to it is rounded to an integer */
    if (!(a > -104.0f)) {
        return a <= -104.0f ? 0.0f : a; /* NaN stays */
    }
    if (a > 88.8f) {
        return iso_from_bits_f32(0x7f800000u);
    }
    const f32 n = iso_fma_f32(a, 1.442695f, big) - big;
    const f32 r = iso_fma_f32(n, -1.4286068e-06f, iso_fma_f32(n, -0.69314575f, a));
    f32 p = 0.0001984127f; /* 1 / 7! */
    p = iso_fma_f32(p, r, 0.0013888889f);
    p = iso_fma_f32(p, r, 0.008333334f);
    p = iso_fma_f32(p, r, 0.041666668f);
    p = iso_fma_f32(p, r, 0.16666667f);
    p = iso_fma_f32(p, r, 0.5f);
    p = iso_fma_f32(p * r, r, r) + 1.0f;
    const i32 all = (i32)n, first = all / 2;
    return p * iso_from_bits_f32((u32)(first + 127) << 23) *
           iso_from_bits_f32((u32)(all - first + 127) << 23);
}

#if !defined(ISO_OPENCL_) || defined(ISO_HAS_F64_)
ISO_FUNCTION_ f64 iso_exp_f64(f64 a)
{
    const f64 big = 6755399441055744.0; /* 1.5 * 2^52 */
    if (!(a > -746.0)) {
        return a <= -746.0 ? 0.0 : a;
    }
    if (a > 709.8) {
        return iso_from_bits_f64((u64)0x7ff << 52);
    }
    const f64 n = iso_fma_f64(a, 1.4426950408889634, big) - big;
    const f64 r = iso_fma_f64(n, -2.3190468138462996e-17, iso_fma_f64(n, -0.6931471805599453, a));
    f64 p = 1.6059043836821613e-10; /* 1 / 13! */
    p = iso_fma_f64(p, r, 2.08767569878681e-09);
    p = iso_fma_f64(p, r, 2.505210838544172e-08);
    p = iso_fma_f64(p, r, 2.755731922398589e-07);
    p = iso_fma_f64(p, r, 2.7557319223985893e-06);
    p = iso_fma_f64(p, r, 2.48015873015873e-05);
    p = iso_fma_f64(p, r, 0.0001984126984126984);
    p = iso_fma_f64(p, r, 0.001388888888888889);
    p = iso_fma_f64(p, r, 0.008333333333333333);
    p = iso_fma_f64(p, r, 0.041666666666666664);
    p = iso_fma_f64(p, r, 0.16666666666666666);
    p = iso_fma_f64(p, r, 0.5);
    p = iso_fma_f64(p * r, r, r) + 1.0;
    const i64 all = (i64)n, first = all / 2;
    return p * iso_from_bits_f64((u64)(first + 1023) << 52) *
           iso_from_bits_f64((u64)(all - first + 1023) << 52);
}
#endif

#define ISO_FUNCTION ISO_FUNCTION_
#define ISO_STRUCT(name)                                                                           \
    typedef struct name name;                                                                      \
    struct name

#define ISO_IN(type) ISO_GLOBAL_ const type *ISO_RESTRICT_
/* Other items may write these between two regions, so they are not `restrict`. */
#define ISO_OUT(type)           ISO_GLOBAL_ type *
#define ISO_INOUT(type)         ISO_GLOBAL_ type *
#define ISO_SHARED(type, count) ISO_LOCAL_AT_ type *
#define ISO_OWN(type)           type *
#define ISO_EXTENT(count)

/* The argument of an entry that says which groups run (iso_program_place in backend.h). */
typedef struct iso_place_ {
    i64 groups_x, groups_y, groups_z, first_x;
    u64 first_yz;
} iso_place_;

/* The group's place, and the number of groups. On a CPU, where a kernel that is one region runs
 * several groups in one loop, end_x is the end of those. */
typedef struct iso_here_ {
    i64 x, y, z, groups_x, groups_y, groups_z, end_x;
} iso_here_;

#define iso_group_x()  (iso_at_x_)
#define iso_group_y()  (iso_at_.y)
#define iso_group_z()  (iso_at_.z)
#define iso_groups_x() (iso_at_.groups_x)
#define iso_groups_y() (iso_at_.groups_y)
#define iso_groups_z() (iso_at_.groups_z)

#define ISO_KERNEL(name, x, y, z) ISO_FUNCTION_ void name

/* The library adds iso_at_ to a kernel's parameters, and the constants iso_size_x_, iso_size_y_,
 * iso_size_z_, iso_items_ and iso_at_x_ to its body. It puts ISO_LAST_ in front of a region that
 * ends it, and ISO_ONLY_ if that is all. */
#if ISO_CPU_ && defined(ISO_JUDGE_)
/* `isomer kernel check` runs the items in its own order. These give the first and the next item of
 * a region; -1 ends it. */
i32 iso_judge_first_(i32 line, i32 items);
i32 iso_judge_next_(void);
/* clang-format off */
#define ISO_ITEMS_(...)                                                                            \
    for (i32 iso_item_ = iso_judge_first_(__LINE__, iso_items_), __VA_ARGS__; iso_item_ >= 0;      \
         iso_item_ = iso_judge_next_(), __VA_ARGS__)
/* clang-format on */
#define ISO_EACH_         ISO_ITEMS_(iso_once_ = 1)
#define ISO_FIRST_(count) ISO_EACH_ if (iso_item_ < (count))
#define ISO_REGION(i)     ISO_ITEMS_(i = iso_item_, iso_x_of_##i = i)
#define ISO_REGION_2(i, j)                                                                         \
    ISO_ITEMS_(i = iso_item_ % iso_size_x_, j = iso_item_ / iso_size_x_, iso_x_of_##i = i,         \
               iso_y_of_##j = j)
#define ISO_REGION_3(i, j, k)                                                                      \
    ISO_ITEMS_(i = iso_item_ % iso_size_x_, j = iso_item_ / iso_size_x_ % iso_size_y_,             \
               k = iso_item_ / (iso_size_x_ * iso_size_y_), iso_x_of_##i = i, iso_y_of_##j = j,    \
               iso_z_of_##k = k)
#define iso_x(i)              (iso_at_.x * iso_size_x_ + iso_x_of_##i)
#define iso_y(j)              (iso_at_.y * iso_size_y_ + iso_y_of_##j)
#define iso_z(k)              (iso_at_.z * iso_size_z_ + iso_z_of_##k)
#define ISO_RUN_(count)       1
#define ISO_ONLY_ISO_REGION   ISO_REGION
#define ISO_ONLY_ISO_REGION_2 ISO_REGION_2
#define ISO_ONLY_ISO_REGION_3 ISO_REGION_3
#elif ISO_CPU_
/* Items do not depend on each other, so their loop may become vector instructions. clang takes
 * `omp simd` for a promise about private arrays too, which it keeps in one place for all items. */
#if defined(__clang__)
#define ISO_VECTORIZE_ _Pragma("clang loop vectorize(enable)")
#else
#define ISO_VECTORIZE_ _Pragma("omp simd")
#endif
/* clang-format off */
#define ISO_EACH_ ISO_VECTORIZE_ for (i32 iso_item_ = 0; iso_item_ < iso_items_; iso_item_++)
/* Of the items, those below `count`. */
#define ISO_FIRST_(count) ISO_VECTORIZE_ for (i32 iso_item_ = 0; iso_item_ < (count); iso_item_++)
/* The loops count items by their place in the launch: a compiler can split a loop at the last place
 * that `if (iso_x(i) < n)` takes, and needs no masks for those before it. */
#define ISO_ALONG_(place, at, size)                                                                \
    for (i64 place = (at) * (size); place < ((at) + 1) * (size); place++)
#define ISO_INDEX_(i, place, at, size) i = (i32)(place - (at) * (size))
#define ISO_INDEX_X_(i) ISO_INDEX_(i, iso_x_of_##i, iso_at_x_, iso_size_x_)
#define ISO_INDEX_Y_(j) ISO_INDEX_(j, iso_y_of_##j, iso_at_.y, iso_size_y_)
#define ISO_INDEX_Z_(k) ISO_INDEX_(k, iso_z_of_##k, iso_at_.z, iso_size_z_)
#define ISO_ALONG_X_(i) ISO_VECTORIZE_ ISO_ALONG_(iso_x_of_##i, iso_at_x_, iso_size_x_)
#define ISO_ALONG_Y_(j) ISO_ALONG_(iso_y_of_##j, iso_at_.y, iso_size_y_)
#define ISO_ALONG_Z_(k) ISO_ALONG_(iso_z_of_##k, iso_at_.z, iso_size_z_)
#define ISO_ONCE_ iso_once_ = 1; iso_once_; iso_once_ = 0
/* Beside other regions the loop counts items from 0: gcc turns its accesses to arrays of the group
 * into vectors then. */
#define ISO_REGION(i)                                                                              \
    ISO_EACH_ for (i64 iso_x_of_##i = iso_at_x_ * iso_size_x_ + iso_item_, ISO_ONCE_)              \
        for (i32 i = iso_item_, ISO_ONCE_)
#define ISO_REGION_2(i, j)                                                                         \
    ISO_ALONG_Y_(j) ISO_ALONG_X_(i) for (i32 ISO_INDEX_X_(i), ISO_INDEX_Y_(j),                     \
                                         iso_item_ = j * iso_size_x_ + i, ISO_ONCE_)
#define ISO_REGION_3(i, j, k)                                                                      \
    ISO_ALONG_Z_(k) ISO_ALONG_Y_(j) ISO_ALONG_X_(i)                                                \
        for (i32 ISO_INDEX_X_(i), ISO_INDEX_Y_(j), ISO_INDEX_Z_(k),                                \
             iso_item_ = (k * iso_size_y_ + j) * iso_size_x_ + i, ISO_ONCE_)
/* In two steps, as in regions: PoCL has macros with the names of OpenCL's functions. */
#define ISO_X_OF_(i) (iso_x_of_##i)
#define ISO_Y_OF_(j) (iso_y_of_##j)
#define ISO_Z_OF_(k) (iso_z_of_##k)
#define iso_x(i) ISO_X_OF_(i)
#define iso_y(j) ISO_Y_OF_(j)
#define iso_z(k) ISO_Z_OF_(k)
/* clang-format on */
/* Several groups that follow along x: a row of items of all of them comes before the next row. */
#define ISO_RUN_(count)        (count)
#define ISO_GROUPS_            for (i64 iso_at_x_ = iso_at_.x; iso_at_x_ < iso_at_.end_x; iso_at_x_++)
#define ISO_ONLY_ISO_REGION(i) ISO_GROUPS_ ISO_ALONG_X_(i) for (i32 ISO_INDEX_X_(i), ISO_ONCE_)
#define ISO_ONLY_ISO_REGION_2(i, j)                                                                \
    ISO_ALONG_Y_(j)                                                                                \
    ISO_GROUPS_ ISO_ALONG_X_(i) for (i32 ISO_INDEX_X_(i), ISO_INDEX_Y_(j), ISO_ONCE_)
#define ISO_ONLY_ISO_REGION_3(i, j, k)                                                             \
    ISO_ALONG_Z_(k)                                                                                \
    ISO_ALONG_Y_(j)                                                                                \
    ISO_GROUPS_ ISO_ALONG_X_(i) for (i32 ISO_INDEX_X_(i), ISO_INDEX_Y_(j), ISO_INDEX_Z_(k),        \
                                     ISO_ONCE_)
#endif
#if ISO_CPU_
#define ISO_LAST_ISO_REGION   ISO_REGION
#define ISO_LAST_ISO_REGION_2 ISO_REGION_2
#define ISO_LAST_ISO_REGION_3 ISO_REGION_3
#define iso_mine(own)         ((own)[iso_item_])
#else
/* The items' indices, then what runs after a region: a barrier, but not after the last. */
#define ISO_EACH_                                                                                  \
    for (i32 iso_item_ = (i32)ISO_ITEM_(), iso_once_ = 1; iso_once_; iso_once_ = 0, ISO_BARRIER_())
#define ISO_FIRST_(count) ISO_EACH_ if (iso_item_ < (count))
#define ISO_AT_1_(i)      i32 i = (i32)ISO_ITEM_(), iso_x_of_##i = i, iso_once_ = 1
#define ISO_AT_2_(i, j)                                                                            \
    i32 i = (i32)(ISO_ITEM_() % iso_size_x_), j = (i32)(ISO_ITEM_() / iso_size_x_),                \
        iso_x_of_##i = i, iso_y_of_##j = j, iso_once_ = 1
#define ISO_AT_3_(i, j, k)                                                                         \
    i32 i = (i32)(ISO_ITEM_() % iso_size_x_), j = (i32)(ISO_ITEM_() / iso_size_x_ % iso_size_y_),  \
        k = (i32)(ISO_ITEM_() / (iso_size_x_ * iso_size_y_)), iso_x_of_##i = i, iso_y_of_##j = j,  \
        iso_z_of_##k = k, iso_once_ = 1
#define ISO_X_OF_(i)                   (iso_at_.x * iso_size_x_ + iso_x_of_##i)
#define ISO_Y_OF_(j)                   (iso_at_.y * iso_size_y_ + iso_y_of_##j)
#define ISO_Z_OF_(k)                   (iso_at_.z * iso_size_z_ + iso_z_of_##k)
#define iso_x(i)                       ISO_X_OF_(i)
#define iso_y(j)                       ISO_Y_OF_(j)
#define iso_z(k)                       ISO_Z_OF_(k)
#define ISO_REGION(i)                  for (ISO_AT_1_(i); iso_once_; iso_once_ = 0, ISO_BARRIER_())
#define ISO_REGION_2(i, j)             for (ISO_AT_2_(i, j); iso_once_; iso_once_ = 0, ISO_BARRIER_())
#define ISO_REGION_3(i, j, k)          for (ISO_AT_3_(i, j, k); iso_once_; iso_once_ = 0, ISO_BARRIER_())
#define ISO_LAST_ISO_REGION(i)         for (ISO_AT_1_(i); iso_once_; iso_once_ = 0)
#define ISO_LAST_ISO_REGION_2(i, j)    for (ISO_AT_2_(i, j); iso_once_; iso_once_ = 0)
#define ISO_LAST_ISO_REGION_3(i, j, k) for (ISO_AT_3_(i, j, k); iso_once_; iso_once_ = 0)
#define ISO_ONLY_ISO_REGION            ISO_LAST_ISO_REGION
#define ISO_ONLY_ISO_REGION_2          ISO_LAST_ISO_REGION_2
#define ISO_ONLY_ISO_REGION_3          ISO_LAST_ISO_REGION_3
#define iso_mine(own)                  (*(own))
#endif

/* On a CPU the first step reads the items' own values, so that nothing is copied; and the steps are
 * written out, because the counts of their loops are constants then: groups have 1024 items at
 * most. */
#if ISO_CPU_ && !defined(ISO_JUDGE_)
#define ISO_FOLD_FIRST_(part, own, better)                                                         \
    ISO_FIRST_(iso_items_ / 2)                                                                     \
    {                                                                                              \
        better((part)[iso_item_], (own)[iso_item_], (own)[(iso_items_ + 1) / 2 + iso_item_]);      \
    }                                                                                              \
    if (iso_items_ % 2) {                                                                          \
        (part)[iso_items_ / 2] = (own)[iso_items_ / 2];                                            \
    }
#define ISO_FOLD_STEP_(part, better, n)                                                            \
    if ((n) > 1) {                                                                                 \
        ISO_FIRST_((n) / 2)                                                                        \
        {                                                                                          \
            better((part)[iso_item_], (part)[iso_item_], (part)[((n) + 1) / 2 + iso_item_]);       \
        }                                                                                          \
    }
#define ISO_LEFT_AT_(step) ((iso_items_ + (1 << (step)) - 1) >> (step))
#define ISO_GROUP_FOLD_(part, own, better)                                                         \
    do {                                                                                           \
        ISO_FOLD_FIRST_(part, own, better)                                                         \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(1))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(2))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(3))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(4))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(5))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(6))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(7))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(8))                                              \
        ISO_FOLD_STEP_(part, better, ISO_LEFT_AT_(9))                                              \
    } while (0)
#else
#define ISO_GROUP_FOLD_(part, own, better)                                                         \
    do {                                                                                           \
        ISO_EACH_                                                                                  \
        {                                                                                          \
            (part)[iso_item_] = iso_mine(own);                                                     \
        }                                                                                          \
        for (i32 iso_n_ = iso_items_; iso_n_ > 1; iso_n_ = (iso_n_ + 1) / 2) {                     \
            ISO_FIRST_(iso_n_ / 2)                                                                 \
            {                                                                                      \
                better((part)[iso_item_], (part)[iso_item_],                                       \
                       (part)[(iso_n_ + 1) / 2 + iso_item_]);                                      \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#endif
#define ISO_BETTER_SUM_(to, a, b) (to) = (a) + (b)
#define ISO_BETTER_MIN_(to, a, b) (to) = (b) < (a) ? (b) : (a)
#define ISO_BETTER_MAX_(to, a, b) (to) = (b) > (a) ? (b) : (a)
#define ISO_GROUP_SUM(part, own)  ISO_GROUP_FOLD_(part, own, ISO_BETTER_SUM_)
#define ISO_GROUP_MIN(part, own)  ISO_GROUP_FOLD_(part, own, ISO_BETTER_MIN_)
#define ISO_GROUP_MAX(part, own)  ISO_GROUP_FOLD_(part, own, ISO_BETTER_MAX_)

/* After s steps a team of m items has (m + 2^s - 1) / 2^s values left. */
#define ISO_TEAM_FOLD_(part, own, w, better)                                                       \
    do {                                                                                           \
        ISO_EACH_                                                                                  \
        {                                                                                          \
            (part)[iso_item_] = iso_mine(own);                                                     \
        }                                                                                          \
        for (i32 iso_step_ = 0, iso_left_ = (w); iso_left_ > 1;                                    \
             iso_step_++, iso_left_ = (iso_left_ + 1) / 2) {                                       \
            ISO_EACH_                                                                              \
            {                                                                                      \
                const i32 iso_first_ = iso_item_ / (w) * (w);                                      \
                const i32 iso_team_ =                                                              \
                    iso_items_ - iso_first_ < (w) ? iso_items_ - iso_first_ : (w);                 \
                const i32 iso_n_ = (iso_team_ + (1 << iso_step_) - 1) >> iso_step_;                \
                if (iso_item_ - iso_first_ < iso_n_ / 2) {                                         \
                    better((part)[iso_item_], (part)[iso_item_],                                   \
                           (part)[(iso_n_ + 1) / 2 + iso_item_]);                                  \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define ISO_TEAM_SUM(part, own, w) ISO_TEAM_FOLD_(part, own, w, ISO_BETTER_SUM_)
#define ISO_TEAM_MIN(part, own, w) ISO_TEAM_FOLD_(part, own, w, ISO_BETTER_MIN_)
#define ISO_TEAM_MAX(part, own, w) ISO_TEAM_FOLD_(part, own, w, ISO_BETTER_MAX_)

#endif
