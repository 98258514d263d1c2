/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_tiled.cl - the blocked product. A group computes tiles of ISO_BM x ISO_BN elements of C; a
 * work-item computes ISO_TM x ISO_TN of them in registers. Slices of A and B that are ISO_BK long
 * in k are kept in shared memory, as [k][row] and [k][column]. While one slice is multiplied, the
 * next is loaded from global memory into registers. The tiling never changes a bit of the result:
 * every element is a chain of fma over ascending k. A new chain starts at every 1024th k (a
 * segment), and the segments' sums are added in order.
 *
 * A and B are treated alike, as operands with an outer index (a row of A, a column of B) and k. One
 * of the two is contiguous in memory: ISO_KA and ISO_KB are 1 if k is, 0 if the outer index is, and
 * 2 if kernel arguments say which.
 */
/*
 * If the loop over a slice's lines is unrolled, AMD's compilers start the loads of all lines at
 * once, run out of registers and spill. For them the loop is not unrolled. AMD's devices keep
 * values that all work-items share in scalar registers, of which there are about a hundred. That is
 * too few if layouts are only known at run time. SET_ASIDE then keeps values that are needed only
 * at the end of a tile in vector registers.
 */
#if ISO_LEAN && !defined(ISO_ROLLED)
#define ISO_ROLLED 1
#endif
#if defined(__AMDGCN__) && ISO_KA == 2
#define SET_ASIDE(value) ISO_HIDE(value)
#else
#define SET_ASIDE(value) ((void)0)
#endif

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

/* The row and the column of a work-item, when a group is arranged as a matrix of work-items. The
 * work-items of a warp form 4 rows of 8, ordered so that neighbours read few different words. */
#define ITEMS_M (ISO_BM / ISO_TM)
#define ITEMS_N (ISO_BN / ISO_TN)
#if ITEMS_M % 4 == 0 && ITEMS_N % 8 == 0
#define ITEM_M(id) ((id) / 32 / (ITEMS_N / 8) * 4 + ((id) & 1) + ((id) >> 3 & 2))
#define ITEM_N(id) ((id) / 32 % (ITEMS_N / 8) * 8 + ((id) >> 1 & 7))
#else
#define ITEM_M(id) ((id) / ITEMS_N)
#define ITEM_N(id) ((id) % ITEMS_N)
#endif

/* ROW and COL map each of a work-item's registers to its place in the tile. RUN_M and RUN_N
 * successive registers are adjacent in the tile too, so that they fill vectors. */
#define RUN_M           (ISO_TM % QUAD == 0 ? QUAD : 1)
#define RUN_N           (ISO_TN % QUAD == 0 ? QUAD : 1)
#define ROW(r, i)       ((i) / RUN_M * (ITEMS_M * RUN_M) + (r) * RUN_M + (i) % RUN_M)
#define COL(c, j)       ((j) / RUN_N * (ITEMS_N * RUN_N) + (c) * RUN_N + (j) % RUN_N)
#define CELL_ROW(id, r) ROW(ITEM_M(id), (r) / ISO_TN)
#define CELL_COL(id, r) COL(ITEM_N(id), (r) % ISO_TN)

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

#define TAKE_BOTH(to_a, to_b, line)                                                                \
    {                                                                                              \
        TAKE(ISO_BM, ISO_TM, RUN_M, ITEMS_M, to_a, shared_a, at_a, line)                           \
        TAKE(ISO_BN, ISO_TN, RUN_N, ITEMS_N, to_b, shared_b, at_b, line)                           \
    }

ISO_INLINE void multiply(acc *sum, const acc *fa, const acc *fb)
{
    ISO_UNROLL
    for (int i = 0; i < ISO_TM; i++) {
        ISO_UNROLL
        for (int j = 0; j < ISO_TN; j++) {
            sum[i * ISO_TN + j] = acc_fma(fa[i], fb[j], sum[i * ISO_TN + j]);
        }
    }
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
/* Place of a work-item's share of line 0 in half `side` of shared memory. */
#define AT_A(side) (item_m + (side) * (ISO_BM * ISO_BK / (RUN_M > 1 ? QUAD : 1)))
#define AT_B(side) (item_n + (side) * (ISO_BN * ISO_BK / (RUN_N > 1 ? QUAD : 1)))

/* Stores one row of a work-item's part of C, in whole vectors. */
#if WIDE == QUAD
ISO_INLINE void store_wide(ISO_GLOBAL elem *c, iso_i64 line, int item_n, const acc *sum, acc alpha,
                           acc beta)
{
    ISO_UNROLL
    for (int j = 0; j < ISO_TN; j += QUAD) {
        ISO_GLOBAL quad *at = (ISO_GLOBAL quad *)(c + line + COL(item_n, j));
        acc each[QUAD];
        if (beta == (acc)0) {
            ISO_UNROLL
            for (int e = 0; e < QUAD; e++) {
                each[e] = alpha * sum[(j + e) % ISO_TN];
            }
        } else {
            const quad q = *at;
            QUAD_GET(q, each);
            ISO_UNROLL
            for (int e = 0; e < QUAD; e++) {
                const acc old = beta * each[e];
                each[e] = acc_fma(alpha, sum[(j + e) % ISO_TN], old);
            }
        }
        *at = QUAD_OF(each);
    }
}
#endif

/* Stores a work-item's part of a tile. The tile begins at c_tile and has `rows` x `cols` elements.
 */
ISO_INLINE void store_tile(ISO_GLOBAL elem *c, iso_i64 c_tile, iso_i64 ldc, int rows, int cols,
                           int item_m, int item_n, int wide_c, const acc *sum, acc alpha, acc beta)
{
    (void)wide_c;
    ISO_UNROLL
    for (int i = 0; i < ISO_TM; i++) {
        if (ROW(item_m, i) < rows) {
            const iso_i64 line = c_tile + ROW(item_m, i) * ldc;
#if WIDE == QUAD
            if (wide_c && RUN_N > 1 && cols == ISO_BN) {
                store_wide(c, line, item_n, sum + i * ISO_TN, alpha, beta);
                continue;
            }
#endif
            ISO_UNROLL
            for (int j = 0; j < ISO_TN; j++) {
                if (COL(item_n, j) < cols) {
                    finish(c, line + COL(item_n, j), sum[i * ISO_TN + j], alpha, beta);
                }
            }
        }
    }
}

/*
 * Bits of flags:
 *
 *   1, 2, 4   the vectors of A, B, C are aligned to 16 bytes, and none ends outside the operand
 *   8, 16     A, B is contiguous along k
 *   32        the segments run in parallel and write their sums to `work`, for gemm_join
 *
 * Without bit 32, `work` holds a tile of sums for each group, if k is more than one segment.
 */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemm_tiled(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
           ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 ldb, iso_i64 stride_b,
           ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work,
           iso_i64 work_at, iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch, acc alpha, acc beta,
           iso_i32 flags)
{
    ISO_SHARED quad shared_a[2 * ISO_BM * ISO_BK / QUAD];
    ISO_SHARED quad shared_b[2 * ISO_BN * ISO_BK / QUAD];
    int id = ISO_LOCAL_ID();
    const int item_m = ITEM_M(id);
    const int item_n = ITEM_N(id);
    const int wide_a = flags & 1;
    const int wide_b = flags & 2;
    const int wide_c = flags & 4;
    const int along_k_a = flags & 8;
    const int along_k_b = flags & 16;
    const int apart = flags & 32;
    const iso_i64 tiles_m = (m + ISO_BM - 1) / ISO_BM;
    const iso_i64 tiles_n = (n + ISO_BN - 1) / ISO_BN;
    const iso_i64 segments = apart ? (k + SEGMENT - 1) / SEGMENT : 1;
    const iso_i64 units = tiles_m * tiles_n * segments * batch;
    SET_ASIDE(alpha);
    SET_ASIDE(c_at);
    SET_ASIDE(ldc);
    SET_ASIDE(stride_c);
    (void)along_k_a;
    (void)along_k_b;
    for (iso_i64 unit = ISO_GROUP_ID(); unit < units; unit += ISO_GROUP_COUNT()) {
        const iso_i64 member = unit / (tiles_m * tiles_n * segments);
        const iso_i64 rest = unit - member * (tiles_m * tiles_n * segments);
        const iso_i64 segment = rest / (tiles_m * tiles_n);
        const iso_i64 k_from = segment * SEGMENT;
        const iso_i64 k_to = apart && k - k_from > SEGMENT ? k_from + SEGMENT : k;
        iso_i64 tile_m, tile_n;
        tile_place(rest - segment * (tiles_m * tiles_n), tiles_m, tiles_n, &tile_m, &tile_n);
        const iso_i64 row0 = tile_m * ISO_BM;
        const iso_i64 col0 = tile_n * ISO_BN;
        ISO_GLOBAL acc *slot = work + work_at + (apart ? unit : ISO_GROUP_ID()) * (ISO_BM * ISO_BN);
        acc sum[ISO_TM * ISO_TN];
        ISO_UNROLL
        for (int r = 0; r < ISO_TM * ISO_TN; r++) {
            sum[r] = (acc)0;
        }
        if (k_from < k_to) {
            ISO_GLOBAL const elem *base_a = a + a_at + member * stride_a;
            ISO_GLOBAL const elem *base_b = b + b_at + member * stride_b;
            ISO_GLOBAL const elem *from_a[MOVES_A];
            ISO_GLOBAL const elem *from_b[MOVES_B];
            wide next_a[MOVES_A];
            wide next_b[MOVES_B];
            acc fa[2][ISO_TM];
            acc fb[2][ISO_TN];
            const int rest = (int)((k_to - k_from) % ISO_BK);
            iso_i64 left = (k_to - k_from) / ISO_BK; /* whole slices not yet multiplied */
            iso_i64 next_k = k_from;
            int turn = 0;
            int lines = 0; /* lines of the segment already multiplied */
            int first_segment = 1;
            int at_a = AT_A(0);
            int at_b = AT_B(0);
            AIM(ISO_BM, MOVES_A, from_a, base_a, row0, m, lda, ALONG_K_A)
            AIM(ISO_BN, MOVES_B, from_b, base_b, col0, n, ldb, ALONG_K_B)
            FETCH_BOTH(next_k, left > 0)
            PUT_BOTH(0)
            ISO_BARRIER();
#if !defined(ISO_ROLLED)
            TAKE_BOTH(fa[0], fb[0], 0)
#endif
            while (left > 0) {
                const int more = left > 1 || rest > 0;
                next_k += ISO_BK;
                if (more) {
                    FETCH_BOTH(next_k, left > 1)
                }
#if defined(ISO_ROLLED) /* for processors that gain nothing from unrolling: compiles faster */
#if ISO_LEAN
#pragma unroll 1
#endif
                for (int line = 0; line < ISO_BK; line++) {
                    TAKE_BOTH(fa[0], fb[0], line)
                    multiply(sum, fa[0], fb[0]);
                }
#else
                ISO_UNROLL
                for (int line = 0; line < ISO_BK - 1; line++) {
                    TAKE_BOTH(fa[(line + 1) % 2], fb[(line + 1) % 2], line + 1)
                    multiply(sum, fa[line % 2], fb[line % 2]);
                }
#endif
                turn ^= 1;
                at_a = AT_A(turn);
                at_b = AT_B(turn);
                if (more) {
                    PUT_BOTH(turn)
                }
                ISO_BARRIER();
#if !defined(ISO_ROLLED)
                /* The next slice's first line is loaded while this slice's last is multiplied. */
                TAKE_BOTH(fa[0], fb[0], 0)
                multiply(sum, fa[(ISO_BK - 1) % 2], fb[(ISO_BK - 1) % 2]);
#endif
                left--;
                lines += ISO_BK;
                if (lines == SEGMENT && more) { /* never if segments run in parallel */
                    end_segment(sum, slot, id, first_segment);
                    first_segment = 0;
                    lines = 0;
                }
            }
            for (int line = 0; line < rest; line++) {
                TAKE_BOTH(fa[0], fb[0], line)
                multiply(sum, fa[0], fb[0]);
            }
            ISO_BARRIER();
        }
        ISO_HIDE(id);
        if (apart) {
            keep(slot, sum, id);
            continue;
        }
        if (k > SEGMENT) {
            add_kept(sum, slot, id);
        }
        store_tile(c, c_at + member * stride_c + row0 * ldc + col0, ldc,
                   (int)(m - row0 < ISO_BM ? m - row0 : ISO_BM),
                   (int)(n - col0 < ISO_BN ? n - col0 : ISO_BN), item_m, item_n, wide_c, sum, alpha,
                   beta);
    }
}
