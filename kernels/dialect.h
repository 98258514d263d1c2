/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h - the dialect that device kernels are written in: the common part of CUDA C++, HIP and
 * OpenCL C 1.2. It precedes every kernel source. The compilers that read it run on the user's
 * machine and have no SDK headers.
 *
 * word                    CUDA and HIP          OpenCL                meaning
 * ----------------------  --------------------  --------------------  -----------------------------
 * ISO_KERNEL(threads)     __launch_bounds__     reqd_work_group_size  begins a kernel whose groups
 *                                                                     have that many threads
 * ISO_KERNEL_OF(threads,  __launch_bounds__;    as ISO_KERNEL         the same; `groups` groups
 *   groups)               HIP: as ISO_KERNEL                          should fit one unit at once
 * ISO_GLOBAL              (nothing)             __global              memory of the device
 * ISO_SHARED              __shared__            __local               array shared by a group, at
 *                                                                     the top of a kernel's body
 * ISO_SHARED_AT           (nothing)             __local               in the type of a pointer into
 *                                                                     shared memory
 * ISO_CONSTANT            __constant__          __constant            a table of constants
 * ISO_INLINE              __forceinline__       static inline         begins a function
 * ISO_RESTRICT            __restrict__          restrict              as in C
 * ISO_LOCAL_ID()          threadIdx.x           get_local_id          0 ... threads - 1
 * ISO_GROUP_ID()          blockIdx.x            get_group_id          as iso_i64; grids have one
 * ISO_GROUP_COUNT()       gridDim.x             get_num_groups        dimension
 * ISO_BARRIER()           __syncthreads         barrier               every thread must reach it;
 *                                                                     orders shared and global
 *                                                                     memory
 * ISO_NEXT_MAY_BEGIN()    sm_90: a hint         (nothing)             the next launch may begin:
 *                                                                     see below
 * ISO_AFTER_PREVIOUS()    sm_90: waits          (nothing)             begins a kernel that follows
 *                                                                     early
 * ISO_UNROLL              #pragma unroll        opencl_unroll_hint    before a loop that must be
 *                                                                     unrolled
 * ISO_HIDE(i)             empty asm             (nothing)             hides the value of i from the
 *                                                                     optimizer
 * ISO_APART(f)            AMD: empty asm        AMD: empty asm        prevents merging: see below
 * ISO_LEAN                AMD: 1, else 0        AMD: 1, else 0        1: registers are too few for
 *                                                                     some unrolled loops
 * ISO_SHUFFLE             1                     0                     1: iso_shuffle_down exists
 * iso_shuffle_down(       __shfl_down           (none)                moves a 32-bit value among 32
 *   value, delta)                                                     neighbours, without shared
 *                                                                     memory
 * iso_i32 iso_u32         int, unsigned         int, uint             integers of that many bits;
 * iso_i64 iso_u64         long long             long, ulong           iso_u8 and iso_u16 too
 * ISO_F32X4 iso_f32x4()   float4                float4                16-byte vectors (x, y, z, w)
 * ISO_U32X4 iso_u32x4()   uint4                 uint4                 and functions that make them;
 * ISO_F64X2 iso_f64x2()   double2               double2               F64X2 needs ISO_USE_F64
 * ISO_LOAD_ONCE(p)        ld without L1         a load                an ISO_U32X4 that no one else
 *                                                                     reads, of memory that the
 *                                                                     kernel does not write
 * ISO_LOAD_ONCE_32(p)     ld without L1         a load                the same for an iso_u32
 * ISO_LOAD_ONCE_64(p)     ld without L1         a load                and an iso_u64
 * iso_fma32 iso_fma64     fmaf, fma             fma                   one rounding; nothing else is
 *                                                                     fused (bits.md)
 * iso_sqrt64              sqrt                  sqrt                  of f64
 * iso_clz32(u)            __clz                 clz                   zeros above the highest bit;
 *                                                                     u is not 0
 * iso_dot4(a, b, sum)     dp4a or integers      integers              sum + the products of the
 *                                                                     four signed bytes of a and b
 * iso_round_i32(f)        cvt.rni or rintf      convert_int_rte       an f32 rounded to nearest,
 *                                                                     ties to even
 * iso_pack4(a, b, c, d)   prmt or integers      integers              the lowest bytes of four
 *                                                                     words, that of a lowest
 * iso_as_u32 iso_as_f32   __float_as_int, ...   as_uint, as_float     the bits of an f32
 * iso_as_u64 iso_as_f64   __double_as_longlong  as_ulong, as_double   the bits of an f64
 * iso_cas32(p, old, new)  atomicCAS             atomic_cmpxchg        atomic compare and swap in
 * iso_cas64(p, old, new)  atomicCAS             atom_cmpxchg          global memory; gives the old
 *                                                                     value (64: ISO_ATOMIC64)
 * iso_max32(p, u)         atomicMax             atomic_max            atomic maximum, in global
 *                                                                     memory
 * ISO_MATRIX_F64(         mma.sync              mma.sync (NVIDIA)     f64 matrix units: see below
 *   terms, c, a, b)
 * ISO_MATRIX_BYTES(c, a,  mma.sync              mma.sync (NVIDIA)     int8 matrix units: see below
 *   b)
 * ISO_MATRIX_BYTES_2(c,   HIP: mfma             (none)                AMD's: see below
 *   a0, a1, b0, b1)
 * iso_place ISO_PLACE(p)  32 bits               32 bits (NVIDIA)      where p points to in shared
 *                                                                     memory; bytes may be added
 * ISO_TAKE_2(x, y, at)    ld.shared             ld.shared (NVIDIA)    loads two f64 from a place
 * ISO_TAKE_1(x, at)       ld.shared             (none)                loads one
 * ISO_LOAD_ROWS(to, at)   ldmatrix              ldmatrix (NVIDIA)     loads operands of int8 units
 *                                                                     from a place: see below
 * ISO_COPY_16(to, from,   cp.async              cp.async (NVIDIA)     begins to copy 16 bytes from
 *   when)                                                             global memory to a place, if
 *                                                                     `when` is not 0
 * ISO_COPY_8, ISO_COPY_4  cp.async              cp.async (NVIDIA)     the same with 8, with 4 bytes
 * ISO_COPY_CACHED         cp.async.ca           cp.async.ca (NVIDIA)  ISO_COPY_16 through the first
 *                                                                     cache
 * ISO_COPY_LINE           cp.async.cg           cp.async.ca (NVIDIA)  ISO_COPY_16 where the group
 *                                                                     copies whole lines of 128
 *                                                                     bytes: OpenCL's go past the
 *                                                                     first cache at half speed
 * ISO_SHARED_MORE(type,   extern __shared__     (none)                the shared memory that the
 *   name)                                                             launch adds
 * ISO_COPY_COMMIT()       cp.async              cp.async              ends a set of such copies
 * ISO_COPY_WAIT()         cp.async              cp.async              waits until at most ISO_WAIT
 *                                                                     sets are under way
 * ISO_COPY_END()          cp.async              (none)                waits for all copies
 * iso_load_f16(p, i)      cvt or integers       vload_half            element of iso_u16 memory as
 * iso_store_f16(p, i, f)  cvt or integers       vstore_half_rte       float, rounded to nearest,
 * iso_load_bf16, ...      integers              integers              ties to even
 *
 * ISO_APART: AMD's compilers merge a product or sum with an adjacent conversion of half precision
 * into one instruction. That instruction adds +0 to a product, which turns -0 into +0. ISO_APART
 * keeps the conversion of f separate.
 *
 * A kernel that follows early (simt_launch_next) is launched while the one before it still runs, so
 * that less time passes between the two. Before it reads or writes anything it calls
 * ISO_AFTER_PREVIOUS, which waits until that one has ended. That one calls ISO_NEXT_MAY_BEGIN first
 * of all: as soon as its last groups have begun, those of the next may too.
 *
 * If ISO_DTYPE is defined, as one of the numbers below, these are defined too:
 *
 * elem                    the stored type (iso_u16 for f16 and bf16)
 * acc                     the accumulation type (integers: unsigned, so that they wrap)
 * iso_load(p, i)          an element as acc
 * iso_store(p, i, value)  acc to an element
 * acc_fma(a, b, c)        fma; a * b + c modulo 2^n for integers
 * iso_finish(c, at,       stores alpha * total + beta * c[at], as products do
 *   total, alpha, beta)
 *
 * If ISO_UNIT is defined, matrix units are used. The ISO_TEAM work-items of a team call
 * ISO_MATRIX_F64 together: it adds to 16 x 8 sums the products of 16 x terms elements of A and
 * terms x 8 of B; `terms` is 4, 8 or 16. Work-item g * 4 + t of the team has the sums of rows g and
 * g + 8 (c[0], c[1]; c[2], c[3]) in columns 2 t and 2 t + 1. For each fourth q of the terms it has
 * A's two elements in those rows (a[2 q], a[2 q + 1]) and B's element in column g (b[q]), at k = 4
 * q + t. ISO_UNIT is the number of rows that one instruction has, 8 or 16.
 *
 * If ISO_COPIERS is defined, NVIDIA's chips of architecture 9.0 have gates in shared memory, of 8
 * bytes each. ISO_GATE_MAKE(place, n), by one work-item and before a barrier, makes one on which n
 * arrivals end a phase: ISO_GATE_ARRIVE(place), after the work-item's accesses before it, and
 * ISO_GATE_COPIED(place), which arrives when the copies that it began are complete.
 * ISO_GATE_WAIT(place, parity) waits until the last phase that ended has this parity; the phase
 * before the first has parity 1. ISO_TEAM_SYNC() waits for all of a team. ISO_LESS_REGISTERS(n) and
 * ISO_MORE_REGISTERS(n) leave each work-item of four teams n registers.
 *
 * If ISO_BYTES is defined, int8 matrix units are used. ISO_MATRIX_BYTES adds to 16 x 8 sums of 32
 * bits, which wrap, the products of 16 x 32 and 32 x 8 signed bytes. Work-item g * 4 + t of the
 * team has the sums as above. Of A it has 4 bytes each of rows g and g + 8 at k = 4 t (a[0], a[1])
 * and at k = 16 + 4 t (a[2], a[3]), of B's column g those at k = 4 t and 16 + 4 t (b[0], b[1]). All
 * of a team call ISO_LOAD_ROWS together too: it loads four blocks of 8 rows of 16 bytes. `at` of
 * work-item 8 j + i is where row i of block j begins; to[j] gets 4 bytes at 4 t of row g of block
 * j.
 *
 * AMD's units have teams of 64 work-items and no copies that bypass registers. ISO_MATRIX_BYTES_2
 * adds to 32 x 32 sums the products of 32 x 16 and 16 x 32 bytes. Work-item 32 h + i has the sums
 * of rows 8 n + 4 h to 8 n + 4 h + 3 in column i (elements 4 n to 4 n + 3 of c), and 8 bytes along
 * k of A's row i and of B's column i. Which of the 16 they are does not matter, as long as A's and
 * B's are the same.
 *
 * A program that uses f64 anywhere is built with ISO_USE_F64. Kernels get memory as a pointer and
 * an offset in elements or bytes; the host never adds the offset to the pointer. Index arithmetic
 * is in 64 bits.
 */
#define ISO_F16  1
#define ISO_BF16 2
#define ISO_F32  3
#define ISO_F64  4
#define ISO_I32  5
#define ISO_I64  6

/* The tests replace AMD's compiler with a stand-in for other devices. The stand-in takes this path
 * too, so that the path is tested without an AMD device. */
#if defined(__AMDGCN__) || (defined(__HIPCC_RTC__) && !defined(__CUDA_ARCH__))
#define ISO_LEAN 1
#else
#define ISO_LEAN 0
#endif

/* Each block below defines the macros for one family of compilers. */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#if defined(ISO_USE_F64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(ISO_ATOMIC64)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#define ISO_KERNEL(threads)            __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void
#define ISO_KERNEL_OF(threads, groups) ISO_KERNEL(threads)
#define ISO_GLOBAL                     __global
#define ISO_SHARED                     __local
#define ISO_CONSTANT                   __constant
#define ISO_SHARED_AT                  __local
#define ISO_INLINE                     static inline
#define ISO_RESTRICT                   restrict
#define ISO_LOCAL_ID()                 ((int)get_local_id(0))
#define ISO_GROUP_ID()                 ((long)get_group_id(0))
#define ISO_GROUP_COUNT()              ((long)get_num_groups(0))
#define ISO_BARRIER()                  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define ISO_SHUFFLE                    0
#define ISO_UNROLL                     __attribute__((opencl_unroll_hint))
#define ISO_HIDE(i)                    ((void)(i))
#if defined(__AMDGCN__)
#define ISO_APART(f) __asm__("" : "+v"(f))
#else
#define ISO_APART(f) ((void)0)
#endif

typedef int iso_i32;
typedef uint iso_u32;
typedef long iso_i64;
typedef ulong iso_u64;
typedef uchar iso_u8;
typedef ushort iso_u16;
#define ISO_F32X4             float4
#define ISO_U32X4             uint4
#define iso_f32x4(a, b, c, d) ((float4)((a), (b), (c), (d)))
#define iso_u32x4(a, b, c, d) ((uint4)((a), (b), (c), (d)))
#define iso_fma32(a, b, c)    fma((float)(a), (float)(b), (float)(c))
#define iso_clz32(u)          clz((uint)(u))
#define iso_as_u32(f)         as_uint(f)
#define iso_as_f32(u)         as_float((uint)(u))
#define iso_cas32(p, old, new)                                                                     \
    atomic_cmpxchg((volatile __global uint *)(p), (uint)(old), (uint)(new))
#define iso_max32(p, u) atomic_max((volatile __global uint *)(p), (uint)(u))
#if defined(ISO_ATOMIC64)
#define iso_cas64(p, old, new)                                                                     \
    atom_cmpxchg((volatile __global ulong *)(p), (ulong)(old), (ulong)(new))
#endif
#if defined(ISO_USE_F64)
#define ISO_F64X2          double2
#define iso_f64x2(a, b)    ((double2)((a), (b)))
#define iso_fma64(a, b, c) fma((double)(a), (double)(b), (double)(c))
#define iso_as_u64(d)      as_ulong(d)
#define iso_as_f64(u)      as_double((ulong)(u))
#endif
#define iso_sqrt64(x) sqrt((double)(x))

ISO_INLINE float iso_f16_to_f32(iso_u16 bits)
{
    float value = vload_half(0, (const half *)&bits);
    ISO_APART(value);
    return value;
}
#if defined(__SPIR__) || defined(__SPIRV__) /* AMD's compiler may compile it further */
#define ISO_NARROW_BY_INTEGERS 1
#else
ISO_INLINE iso_u16 iso_f32_to_f16(float value)
{
    iso_u16 bits;
    ISO_APART(value);
    vstore_half_rte(value, 0, (half *)&bits);
    return bits;
}
#endif
#if !defined(__AMDGCN__) && !defined(ISO_NARROW_BY_INTEGERS)
#define iso_load_f16(p, i)     vload_half((i), (__global const half *)(p))
#define iso_store_f16(p, i, f) vstore_half_rte((f), (i), (__global half *)(p))
#endif

#else /* CUDA C++ and HIP, which differ only in the names of their shuffles */

#define ISO_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#if defined(__HIPCC_RTC__) || defined(__HIP__)
#define ISO_KERNEL_OF(threads, groups) ISO_KERNEL(threads)
#else
#define ISO_KERNEL_OF(threads, groups) extern "C" __global__ void __launch_bounds__(threads, groups)
#endif
#define ISO_GLOBAL
#define ISO_SHARED   __shared__
#define ISO_CONSTANT __constant__ const
#define ISO_SHARED_AT
#define ISO_INLINE            static __device__ __forceinline__
#define ISO_RESTRICT          __restrict__
#define ISO_LOCAL_ID()        ((int)threadIdx.x)
#define ISO_GROUP_ID()        ((iso_i64)blockIdx.x)
#define ISO_GROUP_COUNT()     ((iso_i64)gridDim.x)
#define ISO_BARRIER()         __syncthreads()
#define ISO_UNROLL            _Pragma("unroll")

typedef int iso_i32;
typedef unsigned int iso_u32;
typedef long long iso_i64;
typedef unsigned long long iso_u64;
typedef unsigned char iso_u8;
typedef unsigned short iso_u16;
#define ISO_F32X4             float4
#define ISO_F64X2             double2
#define ISO_U32X4             uint4
#define iso_f32x4(a, b, c, d) make_float4((a), (b), (c), (d))
#define iso_u32x4(a, b, c, d) make_uint4((a), (b), (c), (d))
#define iso_f64x2(a, b)       make_double2((a), (b))
#define iso_fma32(a, b, c)    fmaf((a), (b), (c))
#define iso_fma64(a, b, c)    fma((double)(a), (double)(b), (double)(c))
#define iso_sqrt64(x)         sqrt((double)(x))
#define iso_clz32(u)          ((iso_u32)__clz((int)(u)))
#define iso_as_u32(f)         ((iso_u32)__float_as_int(f))
#define iso_as_f32(u)         __int_as_float((int)(u))
#define iso_as_u64(d)         ((iso_u64)__double_as_longlong(d))
#define iso_as_f64(u)         __longlong_as_double((long long)(u))
#define iso_cas32(p, old, new)                                                                     \
    atomicCAS((unsigned int *)(p), (unsigned int)(old), (unsigned int)(new))
#define iso_cas64(p, old, new)                                                                     \
    atomicCAS((unsigned long long *)(p), (unsigned long long)(old), (unsigned long long)(new))
#define iso_max32(p, u) atomicMax((unsigned int *)(p), (unsigned int)(u))
#define ISO_SHUFFLE     1
#if defined(__AMDGCN__)
#define ISO_APART(f) asm("" : "+v"(f))
#define ISO_HIDE(i)  asm volatile("" : "+v"(i))
#elif defined(__CUDA_ARCH__)
#define ISO_HIDE(i) asm volatile("" : "+r"(i))
#else
#define ISO_HIDE(i) ((void)(i))
#endif
#if defined(__HIPCC_RTC__) || defined(__HIP__)
#define iso_shuffle_down(value, delta) __shfl_down((value), (delta), 32)
#else
#define iso_shuffle_down(value, delta) __shfl_down_sync(0xffffffffu, (value), (delta), 32)
#endif

/* NVRTC 11.4 is the first whose PTX knows the word, and 7.0 the first architecture. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700 &&                                              \
    __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1104
ISO_INLINE uint4 iso_load_once(const void *from)
{
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from));
    return v;
}
ISO_INLINE iso_u32 iso_load_once_32(const void *from)
{
    iso_u32 v;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(from));
    return v;
}
ISO_INLINE iso_u64 iso_load_once_64(const void *from)
{
    iso_u64 v;
    asm("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(v) : "l"(from));
    return v;
}
#define ISO_LOAD_ONCE(p)    iso_load_once(p)
#define ISO_LOAD_ONCE_32(p) iso_load_once_32(p)
#define ISO_LOAD_ONCE_64(p) iso_load_once_64(p)
#endif

/* Without an SDK, compilers have no header for half-precision types, so the conversions are written
 * here. */
#if defined(__AMDGCN__)
ISO_INLINE float iso_f16_to_f32(iso_u16 bits)
{
    union {
        iso_u16 bits;
        _Float16 half;
    } at;
    at.bits = bits;
    float value = (float)at.half;
    ISO_APART(value);
    return value;
}
ISO_INLINE iso_u16 iso_f32_to_f16(float value)
{
    union {
        iso_u16 bits;
        _Float16 half;
    } at;
    ISO_APART(value);
    at.half = (_Float16)value;
    return at.bits;
}
#elif defined(__CUDA_ARCH__)
ISO_INLINE float iso_f16_to_f32(iso_u16 bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
ISO_INLINE iso_u16 iso_f32_to_f16(float value)
{
    iso_u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#else /* with integer operations only */
ISO_INLINE float iso_f16_to_f32(iso_u16 bits)
{
    iso_u32 sign = (iso_u32)(bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u;
    iso_u32 fraction = bits & 0x3ffu;
    if (exponent == 31u) {
        return iso_as_f32(sign | 0x7f800000u | fraction << 13);
    }
    if (exponent == 0u) { /* exact: at most 10 bits times a power of two */
        float value = (float)fraction * iso_as_f32(0x33800000u);
        return iso_as_f32(sign | iso_as_u32(value));
    }
    return iso_as_f32(sign | (exponent + 112u) << 23 | fraction << 13);
}
#define ISO_NARROW_BY_INTEGERS 1
#endif

#endif

#if !defined(ISO_LOAD_ONCE)
#define ISO_LOAD_ONCE(p)    (*(ISO_GLOBAL const ISO_U32X4 *)(p))
#define ISO_LOAD_ONCE_32(p) (*(ISO_GLOBAL const iso_u32 *)(p))
#define ISO_LOAD_ONCE_64(p) (*(ISO_GLOBAL const iso_u64 *)(p))
#endif

#if defined(ISO_NARROW_BY_INTEGERS)
ISO_INLINE iso_u16 iso_f32_to_f16(float value)
{
    iso_u32 bits = iso_as_u32(value), sign = bits >> 16 & 0x8000u, rest, shift, kept;
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) {
        return (iso_u16)(sign | 0x7e00u);
    }
    if (bits >= 0x477ff000u) { /* 65520 and more round to infinity */
        return (iso_u16)(sign | 0x7c00u);
    }
    if (bits < 0x33000001u) { /* up to 2^-25 rounds to zero (the tie goes to even) */
        return (iso_u16)sign;
    }
    if (bits < 0x38800000u) { /* subnormal */
        shift = 126u - (bits >> 23);
        kept = (bits & 0x7fffffu) | 0x800000u;
        rest = kept & ((1u << shift) - 1u);
        kept >>= shift;
        shift = 1u << (shift - 1u);
        kept += rest > shift || (rest == shift && (kept & 1u)) ? 1u : 0u;
        return (iso_u16)(sign | kept);
    }
    kept = bits - 0x38000000u;
    kept += 0xfffu + (kept >> 13 & 1u);
    return (iso_u16)(sign | kept >> 13);
}
#endif
#if !defined(iso_load_f16)
#define iso_load_f16(p, i)     iso_f16_to_f32(((ISO_GLOBAL const iso_u16 *)(p))[i])
#define iso_store_f16(p, i, f) (((ISO_GLOBAL iso_u16 *)(p))[i] = iso_f32_to_f16(f))
#endif

ISO_INLINE iso_i32 iso_dot4(iso_u32 a, iso_u32 b, iso_i32 sum)
{
#if defined(__CUDA_ARCH__) && !defined(__OPENCL_VERSION__)
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
#else
    ISO_UNROLL
    for (int j = 0; j < 4; j++) {
        const iso_i32 x = (iso_i32)(a << (24 - 8 * j)) >> 24;
        const iso_i32 y = (iso_i32)(b << (24 - 8 * j)) >> 24;
        sum += x * y;
    }
#endif
    return sum;
}

ISO_INLINE iso_i32 iso_round_i32(float f)
{
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
    return convert_int_rte(f);
#elif defined(__CUDA_ARCH__)
    iso_i32 i;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(i) : "f"(f));
    return i;
#else
    return (iso_i32)rintf(f);
#endif
}

/* The lowest bytes of four words, that of a lowest. */
ISO_INLINE iso_u32 iso_pack4(iso_u32 a, iso_u32 b, iso_u32 c, iso_u32 d)
{
#if defined(__CUDA_ARCH__) && !defined(__OPENCL_VERSION__)
    iso_u32 low, high;
    asm("prmt.b32 %0, %1, %2, 0x0040;" : "=r"(low) : "r"(a), "r"(b));
    asm("prmt.b32 %0, %1, %2, 0x0040;" : "=r"(high) : "r"(c), "r"(d));
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(low) : "r"(low), "r"(high));
    return low;
#else
    return (a & 0xffu) | (b & 0xffu) << 8 | (c & 0xffu) << 16 | d << 24;
#endif
}

/* bf16 is the upper half of an f32. */
ISO_INLINE float iso_bf16_to_f32(iso_u16 bits)
{
    return iso_as_f32((iso_u32)bits << 16);
}
ISO_INLINE iso_u16 iso_f32_to_bf16(float value)
{
    iso_u32 bits = iso_as_u32(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (iso_u16)(bits >> 16 | 0x40u);
    }
    return (iso_u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
#define iso_load_bf16(p, i)     iso_bf16_to_f32(((ISO_GLOBAL const iso_u16 *)(p))[i])
#define iso_store_bf16(p, i, f) (((ISO_GLOBAL iso_u16 *)(p))[i] = iso_f32_to_bf16(f))

#if defined(ISO_DTYPE)
#if ISO_DTYPE == ISO_F16
typedef iso_u16 elem;
typedef float acc;
#define iso_load(p, i)     iso_load_f16(p, i)
#define iso_store(p, i, v) iso_store_f16(p, i, v)
#elif ISO_DTYPE == ISO_BF16
typedef iso_u16 elem;
typedef float acc;
#define iso_load(p, i)     iso_load_bf16(p, i)
#define iso_store(p, i, v) iso_store_bf16(p, i, v)
#else
#if ISO_DTYPE == ISO_F32
typedef float elem;
typedef float acc;
#elif ISO_DTYPE == ISO_F64
typedef double elem;
typedef double acc;
#elif ISO_DTYPE == ISO_I32
typedef iso_i32 elem;
typedef iso_u32 acc;
#else
typedef iso_i64 elem;
typedef iso_u64 acc;
#endif
#define iso_load(p, i)     ((acc)(p)[i])
#define iso_store(p, i, v) ((p)[i] = (elem)(v))
#endif
#if ISO_DTYPE == ISO_F64
#define acc_fma(a, b, c) iso_fma64(a, b, c)
#elif ISO_DTYPE == ISO_I32 || ISO_DTYPE == ISO_I64
#define acc_fma(a, b, c) ((a) * (b) + (c))
#else
#define acc_fma(a, b, c) iso_fma32(a, b, c)
#endif

/* What a product stores: alpha times its total, plus beta times the element that was there; if beta
 * is 0, that element is not read. */
ISO_INLINE void iso_finish(ISO_GLOBAL elem *c, iso_i64 at, acc total, acc alpha, acc beta)
{
    if (beta == (acc)0) {
        const acc value = alpha * total;
        iso_store(c, at, value);
    } else {
        const acc old = beta * iso_load(c, at);
        const acc value = acc_fma(alpha, total, old);
        iso_store(c, at, value);
    }
}
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define ISO_NEXT_MAY_BEGIN() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define ISO_AFTER_PREVIOUS() asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define ISO_NEXT_MAY_BEGIN() ((void)0)
#if !defined(ISO_AFTER_PREVIOUS) /* else the tests' stand-in counts it */
#define ISO_AFTER_PREVIOUS() ((void)0)
#endif
#endif

#if defined(ISO_BYTES) && ISO_LEAN
#define ISO_TEAM          64
#define ISO_COPY_COMMIT() ((void)0)
#define ISO_COPY_WAIT()   ((void)0)
typedef int iso_i32x16 __attribute__((vector_size(64)));
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
#define ISO_BYTES_8(x, y) ((long)((iso_u64)(y) << 32 | (x)))
#define ISO_MATRIX_BYTES_2(c, a0, a1, b0, b1)                                                      \
    ((c) = __builtin_amdgcn_mfma_i32_32x32x16_i8(ISO_BYTES_8(a0, a1), ISO_BYTES_8(b0, b1), (c), 0, \
                                                 0, 0))
#elif defined(__AMDGCN__)
#define ISO_MATRIX_BYTES_2(c, a0, a1, b0, b1)                                                      \
    ((c) = __builtin_amdgcn_mfma_i32_32x32x8i8(                                                    \
         (int)(a1), (int)(b1),                                                                     \
         __builtin_amdgcn_mfma_i32_32x32x8i8((int)(a0), (int)(b0), (c), 0, 0, 0), 0, 0, 0))
#else /* a model, as below */
#define ISO_MATRIX_BYTES_2(c, a0, a1, b0, b1) fake_matrix_waves(&(c), (a0), (a1), (b0), (b1))
#endif
#elif defined(ISO_UNIT) || defined(ISO_BYTES) || defined(ISO_RING)
#define ISO_TEAM 32
#if defined(__CUDA_ARCH__)
#define ISO_SHARED_MORE(type, name) extern __shared__ type name[]
#endif
#if defined(__CUDA_ARCH__) || defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#if defined(__CUDA_ARCH__)
#define ISO_ASM               asm volatile
#define ISO_SHARED_ADDRESS(p) ((iso_u32)__cvta_generic_to_shared(p))
#else /* OpenCL C has no keyword asm, NVRTC no __asm__ */
#define ISO_ASM               __asm__ volatile
#define ISO_SHARED_ADDRESS(p) ((iso_u32)(size_t)(p))
#endif
/* clang-format off */
typedef iso_u32 iso_place;
ISO_INLINE iso_place iso_place_of(iso_u32 place)
{
    ISO_ASM("" : "+r"(place)); /* else it is computed again and again, slowly */
    return place;
}
#define ISO_PLACE(p) iso_place_of(ISO_SHARED_ADDRESS(p))
#define ISO_COPY(way, bytes, to, from, when)                                                       \
    ISO_ASM("{ .reg .pred p; setp.ne.s32 p, %2, 0; "                                               \
            "@p cp.async." way ".shared.global [%0], [%1], " bytes                                 \
            "; }" ::"r"(to), "l"(from), "r"((int)(when)))
#define ISO_COPY_16(to, from, when) ISO_COPY("cg", "16", to, from, when)
#define ISO_COPY_8(to, from, when)  ISO_COPY("ca", "8", to, from, when)
#define ISO_COPY_4(to, from, when)  ISO_COPY("ca", "4", to, from, when)
#define ISO_COPY_CACHED(to, from, when) ISO_COPY("ca", "16", to, from, when)
#if defined(__CUDA_ARCH__)
#define ISO_COPY_LINE ISO_COPY_16
#else
#define ISO_COPY_LINE ISO_COPY_CACHED
#endif
#define ISO_TAKE_2(x, y, at)                                                                       \
    ISO_ASM("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(at) : "memory")
#if defined(ISO_COPIERS)
#define ISO_TAKE_1(x, at)      ISO_ASM("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(at) : "memory")
#define ISO_COPY_END()         ISO_ASM("cp.async.wait_all;" ::: "memory")
#define ISO_TEAM_SYNC()        __syncwarp()
#define ISO_LESS_REGISTERS(n)  ISO_ASM("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))
#define ISO_MORE_REGISTERS(n)  ISO_ASM("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define ISO_GATE_MAKE(at, n)                                                                  \
    ISO_ASM("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(n) : "memory")
#define ISO_GATE_ARRIVE(at)                                                                        \
    ISO_ASM("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory")
#define ISO_GATE_COPIED(at)                                                                        \
    ISO_ASM("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory")
#define ISO_GATE_WAIT(at, parity)                                                                  \
    while (!iso_gate_passed((at), (parity))) {                                                     \
    }
ISO_INLINE int iso_gate_passed(iso_place at, int parity)
{
    int passed;
    ISO_ASM("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; "
            "selp.s32 %0, 1, 0, p; }"
            : "=r"(passed)
            : "r"(at), "r"(parity)
            : "memory");
    return passed;
}
#endif
#define ISO_COPY_COMMIT()           ISO_ASM("cp.async.commit_group;")
#define ISO_TEXT_OF(number)         #number
#define ISO_TEXT(macro)             ISO_TEXT_OF(macro)
#define ISO_COPY_WAIT()             ISO_ASM("cp.async.wait_group " ISO_TEXT(ISO_WAIT) ";" ::: "memory")

#if defined(ISO_BYTES)
#define ISO_LOAD_ROWS(to, at)                                                                      \
    ISO_ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"                        \
            : "=r"((to)[0]), "=r"((to)[1]), "=r"((to)[2]), "=r"((to)[3])                           \
            : "r"(at) : "memory")
#define ISO_MATRIX_BYTES(c, a, b)                                                                  \
    ISO_ASM("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "       \
            "{%8,%9}, {%0,%1,%2,%3};"                                                              \
            : "+r"((c)[0]), "+r"((c)[1]), "+r"((c)[2]), "+r"((c)[3])                               \
            : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#elif ISO_UNIT == 8
#define ISO_MMA_F64(c, first, second, a, b)                                                        \
    ISO_ASM(                                                                                       \
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"            \
        : "+d"((c)[first]), "+d"((c)[second])                                                      \
        : "d"(a), "d"(b))
ISO_INLINE void iso_matrix_f64_4(double *c, const double *a, const double *b)
{
    ISO_MMA_F64(c, 0, 1, a[0], b[0]);
    ISO_MMA_F64(c, 2, 3, a[1], b[0]);
}
ISO_INLINE void iso_matrix_f64_8(double *c, const double *a, const double *b)
{
    iso_matrix_f64_4(c, a, b);
    iso_matrix_f64_4(c, a + 2, b + 1);
}
ISO_INLINE void iso_matrix_f64_16(double *c, const double *a, const double *b)
{
    iso_matrix_f64_8(c, a, b);
    iso_matrix_f64_8(c, a + 4, b + 2);
}
#else
#define ISO_SUMS(c) "+d"((c)[0]), "+d"((c)[1]), "+d"((c)[2]), "+d"((c)[3])
ISO_INLINE void iso_matrix_f64_4(double *c, const double *a, const double *b)
{
    ISO_ASM(
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : ISO_SUMS(c)
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}
ISO_INLINE void iso_matrix_f64_8(double *c, const double *a, const double *b)
{
    ISO_ASM(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : ISO_SUMS(c)
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
ISO_INLINE void iso_matrix_f64_16(double *c, const double *a, const double *b)
{
    ISO_ASM("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
            "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
            : ISO_SUMS(c)
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
              "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}
#endif
/* clang-format on */
#define ISO_MATRIX_OF(k)           iso_matrix_f64_##k
#define ISO_MATRIX_F64(k, c, a, b) ISO_MATRIX_OF(k)((c), (a), (b))

#else /* the tests' stand-in for a compiler has models of these */
typedef char *iso_place;
#define ISO_PLACE(p)                ((iso_place)(p))
#define ISO_COPY_16(to, from, when) fake_copy_begin((to), (from), (when) ? 16 : 0)
#define ISO_COPY_8(to, from, when)  fake_copy_begin((to), (from), (when) ? 8 : 0)
#define ISO_COPY_4(to, from, when)  fake_copy_begin((to), (from), (when) ? 4 : 0)
#define ISO_COPY_CACHED             ISO_COPY_16
#define ISO_COPY_LINE               ISO_COPY_16
#define ISO_TAKE_2(x, y, at)        fake_take_2(&(x), &(y), (at))
#define ISO_TAKE_1(x, at)           fake_take_1(&(x), (at))
#define ISO_COPY_END()              fake_copy_end()
#define ISO_TEAM_SYNC()             ((void)fake_is.shuffle(0, 0, 32, __LINE__))
#define ISO_LESS_REGISTERS(n)       ((void)(n))
#define ISO_MORE_REGISTERS(n)       ((void)(n))
#define ISO_GATE_MAKE(at, n)        fake_gate_make((at), (n))
#define ISO_GATE_ARRIVE(at)         fake_gate_arrive((at))
#define ISO_GATE_COPIED(at)         fake_gate_copied((at))
#define ISO_GATE_WAIT(at, parity)   fake_gate_wait((at), (parity), __LINE__)
#define ISO_SHARED_MORE(type, name) type *const name = (type *)fake_more
#define ISO_COPY_COMMIT()           fake_copy_commit()
#define ISO_COPY_WAIT()             fake_copy_wait(ISO_WAIT)
#define ISO_MATRIX_F64(k, c, a, b)  fake_matrix_f64((c), (a), (b), (k))
#define ISO_LOAD_ROWS(to, at)       fake_load_rows((to), (at))
#define ISO_MATRIX_BYTES(c, a, b)   fake_matrix_bytes((c), (a), (b))
#endif
#endif
