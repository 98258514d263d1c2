/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_slices.cl - the slices of a blocked product (gemm_tiled.cl): how they are loaded from global
 * memory into registers, stored in shared memory, and read there.
 */
/* Elements in 16 bytes of global memory (WIDE) and of shared memory (QUAD), the vectors that hold
 * them, and macros that split and make these vectors. */
#if ISO_DTYPE == ISO_F64
#define WIDE 2
#define QUAD 2
typedef ISO_F64X2 wide;
typedef ISO_F64X2 quad;
#define BANKS          16 /* elements that shared memory reads or writes at once */
#define QUAD_GET(q, t) ((t)[0] = (q).x, (t)[1] = (q).y)
#define QUAD_OF(t)     iso_f64x2((t)[0], (t)[1])
#define WIDE_OF(t)     iso_f64x2((t)[0], (t)[1])
#define WIDE_GET(q, t) QUAD_GET(q, t)
#else
#define QUAD           4
typedef ISO_F32X4 quad;
#define BANKS          32
#define QUAD_GET(q, t) ((t)[0] = (q).x, (t)[1] = (q).y, (t)[2] = (q).z, (t)[3] = (q).w)
#define QUAD_OF(t)     iso_f32x4((t)[0], (t)[1], (t)[2], (t)[3])
#if ISO_DTYPE == ISO_F32
#define WIDE           4
typedef ISO_F32X4 wide;
#define WIDE_OF(t)     QUAD_OF(t)
#define WIDE_GET(q, t) QUAD_GET(q, t)
#else
#define WIDE       8
typedef ISO_U32X4 wide;
#define PAIR(t, i) ((iso_u32)(t)[i] | (iso_u32)(t)[(i) + 1] << 16)
#define WIDE_OF(t) iso_u32x4(PAIR(t, 0), PAIR(t, 2), PAIR(t, 4), PAIR(t, 6))
#if ISO_DTYPE == ISO_BF16
#define FROM_BITS(u) iso_as_f32((iso_u32)(u) << 16)
#else
#define FROM_BITS(u) iso_f16_to_f32((iso_u16)((u) & 0xffffu))
#endif
#define UNPAIR(u, t, i) ((t)[i] = FROM_BITS(u), (t)[(i) + 1] = FROM_BITS((u) >> 16))
#define WIDE_GET(q, t)                                                                             \
    (UNPAIR((q).x, t, 0), UNPAIR((q).y, t, 2), UNPAIR((q).z, t, 4), UNPAIR((q).w, t, 6))
#endif
#endif

/*
 * If a slice is contiguous along k, a work-item loads WIDE successive elements of one row and
 * writes each to a different line of shared memory. In plain order, the work-items of a warp would
 * then use the same banks. The elements of a line are therefore permuted: element o of line k is at
 * o ^ SWIZZLE(k), which keeps vectors whole.
 */
#define LANES_K (ISO_BK / WIDE)
#define SWIZZLES(size)                                                                             \
    ((size) % BANKS == 0 && LANES_K > 1 && BANKS % LANES_K == 0 && BANKS / LANES_K >= QUAD)
#define SWIZZLE(size, k)                                                                           \
    (SWIZZLES(size) ? (k) / WIDE % LANES_K * (BANKS / (LANES_K ? LANES_K : 1)) : 0)

/* Vectors of a slice that each work-item moves. */
#define MOVES_A ((ISO_BM * ISO_BK / WIDE + ISO_THREADS - 1) / ISO_THREADS)
#define MOVES_B ((ISO_BN * ISO_BK / WIDE + ISO_THREADS - 1) / ISO_THREADS)

#if ISO_KA == 2
#define ALONG_K_A along_k_a
#else
#define ALONG_K_A ISO_KA
#endif
#if ISO_KB == 2
#define ALONG_K_B along_k_b
#else
#define ALONG_K_B ISO_KB
#endif

/* The outer index and k of the first element of vector `v` of a slice. */
#define VECTOR_OUTER(size, along_k, v)                                                             \
    ((along_k) ? (v) / (ISO_BK / WIDE) : (v) % ((size) / WIDE) * WIDE)
#define VECTOR_K(size, along_k, v)                                                                 \
    ((along_k) ? (v) % (ISO_BK / WIDE) * WIDE : (v) / ((size) / WIDE))

/*
 * AIM computes the addresses that a work-item reads next. FETCH_EACH loads any slice, element by
 * element. Beyond the last row or the last k, it reads the last one again; the results of these
 * reads are not used. On AMD's devices a comparison of 64-bit numbers needs a mask in scalar
 * registers, and the compilers compute the masks of a whole slice at once. ISO_LEAN therefore uses
 * minima of 32-bit offsets, which need no mask.
 */
#if ISO_LEAN
#define AT(along_k, ld, outer, k) ((along_k) ? (outer) * (ld) + (k) : (outer) + (k) * (ld))
#define LAST(n, size)             ((int)((n) < (size) ? (n) : (size)))
#define AIM(size, moves, from, base, outer0, outers, ld, along_k)                                  \
    ISO_GLOBAL const elem *from##_corner = (base) + AT(along_k, ld, outer0, k_from);               \
    const int from##_last = LAST((outers) - (outer0) - ((along_k) ? 1 : WIDE), size);              \
    ISO_UNROLL for (int i = 0; i < (moves); i++)                                                   \
    {                                                                                              \
        const int v = id + i * ISO_THREADS;                                                        \
        int outer = VECTOR_OUTER(size, along_k, v);                                                \
        outer = outer < from##_last ? outer : from##_last;                                         \
        from[i] = from##_corner + AT(along_k, ld, (iso_i64)outer, VECTOR_K(size, along_k, v));     \
    }
#define FETCH_EACH(size, moves, to, base, outer0, outers, ld, along_k, k0)                         \
    ISO_GLOBAL const elem *corner = (base) + AT(along_k, ld, outer0, k0);                          \
    const int last_outer = LAST((outers) - (outer0) - 1, size);                                    \
    const int last_k = LAST(k - (k0) - 1, ISO_BK);                                                 \
    int here = id;                                                                                 \
    ISO_HIDE(here);                                                                                \
    ISO_UNROLL for (int i = 0; i < (moves); i++)                                                   \
    {                                                                                              \
        const int v = here + i * ISO_THREADS;                                                      \
        elem each[WIDE];                                                                           \
        ISO_UNROLL for (int j = 0; j < WIDE; j++)                                                  \
        {                                                                                          \
            int outer = VECTOR_OUTER(size, along_k, v) + ((along_k) ? 0 : j);                      \
            int at = VECTOR_K(size, along_k, v) + ((along_k) ? j : 0);                             \
            outer = outer < last_outer ? outer : last_outer;                                       \
            at = at < last_k ? at : last_k;                                                        \
            each[j] = corner[AT(along_k, ld, (iso_i64)outer, (iso_i64)at)];                        \
        }                                                                                          \
        to[i] = WIDE_OF(each);                                                                     \
    }
#else
#define AIM(size, moves, from, base, outer0, outers, ld, along_k)                                  \
    ISO_UNROLL for (int i = 0; i < (moves); i++)                                                   \
    {                                                                                              \
        const int v = id + i * ISO_THREADS;                                                        \
        const iso_i64 last = (along_k) ? (outers) - 1 : (outers) - WIDE;                           \
        const iso_i64 wanted = (outer0) + VECTOR_OUTER(size, along_k, v);                          \
        const iso_i64 outer = wanted < last ? wanted : last;                                       \
        const iso_i64 first = k_from + VECTOR_K(size, along_k, v);                                 \
        from[i] = (base) + ((along_k) ? outer * (ld) + first : outer + first * (ld));              \
    }
#define FETCH_EACH(size, moves, to, base, outer0, outers, ld, along_k, k0)                         \
    int here = id;                                                                                 \
    ISO_HIDE(here);                                                                                \
    ISO_UNROLL for (int i = 0; i < (moves); i++)                                                   \
    {                                                                                              \
        const int v = here + i * ISO_THREADS;                                                      \
        elem each[WIDE];                                                                           \
        ISO_UNROLL for (int j = 0; j < WIDE; j++)                                                  \
        {                                                                                          \
            iso_i64 outer = (outer0) + VECTOR_OUTER(size, along_k, v) + ((along_k) ? 0 : j);       \
            iso_i64 at = (k0) + VECTOR_K(size, along_k, v) + ((along_k) ? j : 0);                  \
            outer = outer < (outers) ? outer : (outers) - 1;                                       \
            at = at < k ? at : k - 1;                                                              \
            each[j] = (base)[(along_k) ? outer * (ld) + at : outer + at * (ld)];                   \
        }                                                                                          \
        to[i] = WIDE_OF(each);                                                                     \
    }
#endif

/* Loads a slice that is entirely inside the operand and aligned to 16 bytes. */
#define FETCH_WIDE(size, moves, to, from, ld, along_k)                                             \
    ISO_UNROLL for (int i = 0; i < (moves); i++)                                                   \
    {                                                                                              \
        if ((size) * ISO_BK / WIDE % ISO_THREADS == 0 ||                                           \
            id + i * ISO_THREADS < (size) * ISO_BK / WIDE) {                                       \
            to[i] = *(ISO_GLOBAL const wide *)from[i];                                             \
        }                                                                                          \
        from[i] += (along_k) ? (iso_i64)ISO_BK : (iso_i64)ISO_BK * (ld);                           \
    }

/* Moves a slice from registers into shared memory, in the accumulation type. */
#define PUT(size, moves, to, from, along_k)                                                        \
    ISO_UNROLL for (int i = 0; i < (moves); i++)                                                   \
    {                                                                                              \
        const int v = id + i * ISO_THREADS;                                                        \
        const int outer = VECTOR_OUTER(size, along_k, v);                                          \
        const int line = VECTOR_K(size, along_k, v);                                               \
        if ((size) * ISO_BK / WIDE % ISO_THREADS == 0 || v < (size) * ISO_BK / WIDE) {             \
            acc each[WIDE];                                                                        \
            WIDE_GET(from[i], each);                                                               \
            if (along_k) {                                                                         \
                ISO_SHARED_AT acc *at =                                                            \
                    (ISO_SHARED_AT acc *)(to) + line * (size) + (outer ^ SWIZZLE(size, line));     \
                ISO_UNROLL for (int j = 0; j < WIDE; j++)                                          \
                {                                                                                  \
                    at[j * (size)] = each[j];                                                      \
                }                                                                                  \
            } else {                                                                               \
                ISO_UNROLL for (int j = 0; j < WIDE; j += QUAD)                                    \
                {                                                                                  \
                    (to)[(line * (size) + ((outer + j) ^ SWIZZLE(size, line))) / QUAD] =           \
                        QUAD_OF(each + j);                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Reads a work-item's share of line `line`; `at` is the place of the share in the slice. Before the
 * permutation, a work-item's vectors are `items` vectors apart. The permutation moves vectors only
 * within blocks of BANKS / QUAD. If `items` is a multiple of that (APART), the vectors stay `items`
 * apart. */
#define APART(items) ((items) % (BANKS / QUAD) == 0)
#define TAKE(size, count, run, items, to, from, at, line)                                          \
    if ((run) == 1) {                                                                              \
        ISO_UNROLL for (int i = 0; i < (count); i++)                                               \
        {                                                                                          \
            (to)[i] =                                                                              \
                ((ISO_SHARED_AT const acc *)(from))[(line) * (size) +                              \
                                                    (((at) + i * (items)) ^ SWIZZLE(size, line))]; \
        }                                                                                          \
    } else if (APART(items)) {                                                                     \
        ISO_SHARED_AT const quad *first = (from) + ((at) ^ (SWIZZLE(size, line) / QUAD));          \
        ISO_UNROLL for (int i = 0; i < (count); i += QUAD)                                         \
        {                                                                                          \
            const quad q = first[((line) * (size) + i * (items)) / QUAD];                          \
            QUAD_GET(q, (to) + i);                                                                 \
        }                                                                                          \
    } else {                                                                                       \
        ISO_UNROLL for (int i = 0; i < (count); i += QUAD)                                         \
        {                                                                                          \
            const quad q = (from)[(line) * (size) / QUAD +                                         \
                                  (((at) + i / QUAD * (items)) ^ (SWIZZLE(size, line) / QUAD))];   \
            QUAD_GET(q, (to) + i);                                                                 \
        }                                                                                          \
    }

/* FETCH_BOTH moves the next slices from global memory into registers. PUT_BOTH moves them into the
 * half of shared memory that is not being read. */
#define FETCH_BOTH(k0, whole)                                                                      \
    {                                                                                              \
        if (wide_a && (whole)) {                                                                   \
            FETCH_WIDE(ISO_BM, MOVES_A, next_a, from_a, lda, ALONG_K_A)                            \
        } else {                                                                                   \
            FETCH_EACH(ISO_BM, MOVES_A, next_a, base_a, row0, m, lda, ALONG_K_A, k0)               \
        }                                                                                          \
        if (wide_b && (whole)) {                                                                   \
            FETCH_WIDE(ISO_BN, MOVES_B, next_b, from_b, ldb, ALONG_K_B)                            \
        } else {                                                                                   \
            FETCH_EACH(ISO_BN, MOVES_B, next_b, base_b, col0, n, ldb, ALONG_K_B, k0)               \
        }                                                                                          \
    }
#define PUT_BOTH(side)                                                                             \
    {                                                                                              \
        ISO_SHARED_AT quad *to_a = shared_a + (side) * (ISO_BM * ISO_BK / QUAD);                   \
        ISO_SHARED_AT quad *to_b = shared_b + (side) * (ISO_BN * ISO_BK / QUAD);                   \
        PUT(ISO_BM, MOVES_A, to_a, next_a, ALONG_K_A)                                              \
        PUT(ISO_BN, MOVES_B, to_b, next_b, ALONG_K_B)                                              \
    }
