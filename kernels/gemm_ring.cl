/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_ring.cl - the blocked product of gemm_tiled.cl, with the same bits, on devices that copy
 * from global to shared memory without registers. Slices of A and B go round ISO_STAGES places in
 * shared memory: while one is multiplied, up to ISO_WAIT + 1 are being copied. The registers that
 * this saves hold more elements of C.
 *
 * Texts that are compiled before this one: gemm_slices.cl has the vectors, gemm_items.cl says which
 * work-item has which elements and stores them, gemm_totals.cl begins with the totals of earlier
 * terms.
 */
#define ISO_STAGES (ISO_WAIT + 2)
#define BYTES      4 /* of an element */

/* ISO_KA and ISO_KB are 1 if k is contiguous, 3 if the outer index is and its vectors are aligned,
 * else 0. */
#define ALONG_K(layout) ((layout) == 1)

/* Lines of a slice are padded if k is contiguous in memory: work-items that copy eight successive
 * elements along k, of four rows or columns each, then use different banks. */
#define LINE(size, layout) ((size) + (ALONG_K(layout) && (size) >= 8 ? QUAD : 0))
#define LINE_A             LINE(ISO_BM, ISO_KA)
#define LINE_B             LINE(ISO_BN, ISO_KB)
#define SLICE_A            (LINE_A * ISO_BK)
#define SLICE              (SLICE_A + LINE_B * ISO_BK)

/* Where element (k, outer) of an operand is in memory. */
#define AT(layout, ld, outer, k) (ALONG_K(layout) ? (outer) * (ld) + (k) : (outer) + (k) * (ld))

/*
 * A work-item copies PARTS of a slice, RUN successive elements each. Its first part begins at
 * (FIRST_K, FIRST_OUTER); part p is STEP_K and STEP_OUTER further.
 */
#define RUN(layout)          ((layout) == 3 ? QUAD : 1)
#define ACROSS(size, layout) ((size) / RUN(layout)) /* parts of a line */
#define PARTS(size, layout)  (ISO_BK * ACROSS(size, layout) / ISO_THREADS)
#define PARTS_A              PARTS(ISO_BM, ISO_KA)
#define PARTS_B              PARTS(ISO_BN, ISO_KB)
#define FIRST_OUTER(size, layout, id)                                                              \
    (ALONG_K(layout) ? (id) / 8 : (id) % ACROSS(size, layout) * RUN(layout))
#define FIRST_K(size, layout, id) (ALONG_K(layout) ? (id) % 8 : (id) / ACROSS(size, layout))
#define LINES_AT_ONCE(size, layout)                                                                \
    (ISO_THREADS > ACROSS(size, layout) ? ISO_THREADS / ACROSS(size, layout) : 1)
#define PARTS_OF_LINE(size, layout)                                                                \
    (ISO_THREADS < ACROSS(size, layout) ? ACROSS(size, layout) / ISO_THREADS : 1)
#define ROWS_AT_ONCE (ISO_THREADS / 8)
#define STEP_OUTER(size, layout, p)                                                                \
    (ALONG_K(layout) ? (p) % ((size) / ROWS_AT_ONCE) * ROWS_AT_ONCE                                \
                     : (p) % PARTS_OF_LINE(size, layout) * ISO_THREADS * RUN(layout))
#define STEP_K(size, layout, p)                                                                    \
    (ALONG_K(layout) ? (p) / ((size) / ROWS_AT_ONCE) * 8                                           \
                     : (p) / PARTS_OF_LINE(size, layout) * LINES_AT_ONCE(size, layout))

#if PARTS_A > 32 || PARTS_B > 32
#error "a mask has 32 parts"
#endif

/* An operand of a tile. */
typedef struct ring_operand {
    ISO_GLOBAL const elem *next; /* what the work-item copies first of the next slice */
    iso_i64 ld;
    int to;       /* and where to in a place for slices, in bytes */
    iso_u32 mask; /* bit p: part p is inside the operand */
} ring_operand;

ISO_INLINE ring_operand operand_of(int size, int layout, ISO_GLOBAL const elem *slice, iso_i64 ld,
                                   int at, int outers, int id)
{
    const int outer = FIRST_OUTER(size, layout, id);
    const int k = FIRST_K(size, layout, id);
    iso_u32 mask = 0;
    ISO_UNROLL
    for (int p = 0; p < PARTS(size, layout); p++) {
        mask |= (iso_u32)(outer + STEP_OUTER(size, layout, p) < outers) << p;
    }
    const ring_operand of = {slice + AT(layout, ld, (iso_i64)outer, (iso_i64)k), ld,
                             (at + k * LINE(size, layout) + outer) * BYTES, mask};
    return of;
}

/* Begins to copy part p of a whole slice, if `mask` has it. */
ISO_INLINE void copy_part(int size, int layout, int p, iso_place slice, const ring_operand *from,
                          iso_u32 mask)
{
    const int outer = STEP_OUTER(size, layout, p);
    const int k = STEP_K(size, layout, p);
    const iso_place to = slice + (from->to + (k * LINE(size, layout) + outer) * BYTES);
    ISO_GLOBAL const elem *const first =
        from->next + AT(layout, from->ld, (iso_i64)outer, (iso_i64)k);
    if (layout == 3) {
        ISO_COPY_16(to, first, mask >> p & 1);
    } else {
        ISO_COPY_4(to, first, mask >> p & 1);
    }
}

/* Copies the last slice if it has `left` terms, fewer than ISO_BK. Terms beyond the last are (+0)
 * (-0): they change no sum, not even -0. The loop is unrolled where the main loop is faster then,
 * by 2 to 6 %: it has fewer factors in registers of one bank. */
ISO_INLINE void copy_last(int size, int layout, ISO_SHARED_AT acc *slice, const ring_operand *from,
                          int left, acc pad, int id)
{
#if ISO_KB == 3
#pragma unroll 1
#else
    ISO_UNROLL
#endif
    for (int p = 0; p < PARTS(size, layout); p++) {
        const int k = STEP_K(size, layout, p);
        if (FIRST_K(size, layout, id) + k < left) {
            copy_part(size, layout, p, ISO_PLACE(slice), from, from->mask);
        } else {
            ISO_SHARED_AT acc *const to =
                slice + from->to / BYTES + k * LINE(size, layout) + STEP_OUTER(size, layout, p);
            ISO_UNROLL
            for (int i = 0; i < RUN(layout); i++) {
                to[i] = pad;
            }
        }
    }
}

/* The operands of a tile, and the terms not yet copied. */
typedef struct ring_tile {
    ring_operand a, b;
    iso_i64 left;
} ring_tile;

/* Copies the next slice if it is not whole. */
ISO_INLINE void copy_rest(ISO_SHARED_AT acc *to, const ring_tile *from, int id)
{
    if (from->left > 0 && from->left < ISO_BK) {
        copy_last(ISO_BM, ISO_KA, to, &from->a, (int)from->left, (acc)0, id);
        copy_last(ISO_BN, ISO_KB, to, &from->b, (int)from->left, -(acc)0, id);
    }
}

/* Begins to copy the parts of the next slice, if it is whole, from `part` to `end`. */
ISO_INLINE void copy_parts(iso_place to, const ring_tile *from, int part, int end)
{
    const iso_u32 mask_a = from->left >= ISO_BK ? from->a.mask : 0;
    const iso_u32 mask_b = from->left >= ISO_BK ? from->b.mask : 0;
    ISO_UNROLL
    for (int p = 0; p < PARTS_A + PARTS_B; p++) {
        if (p >= part && p < end) {
            if (p < PARTS_A) {
                copy_part(ISO_BM, ISO_KA, p, to, &from->a, mask_a);
            } else {
                copy_part(ISO_BN, ISO_KB, p - PARTS_A, to, &from->b, mask_b);
            }
        }
    }
}

ISO_INLINE void next_slice(ring_tile *from)
{
    from->a.next += ALONG_K(ISO_KA) ? (iso_i64)ISO_BK : (iso_i64)ISO_BK * from->a.ld;
    from->b.next += ALONG_K(ISO_KB) ? (iso_i64)ISO_BK : (iso_i64)ISO_BK * from->b.ld;
    from->left -= ISO_BK;
}

/* Reads a work-item's share of a line, whose first vector or element is `from`. */
#define TAKE_SHARE(count, run, items, to, from)                                                    \
    if ((run) == 1) {                                                                              \
        ISO_UNROLL for (int i = 0; i < (count); i++)                                               \
        {                                                                                          \
            (to)[i] = (from)[i * (items)];                                                         \
        }                                                                                          \
    } else {                                                                                       \
        ISO_UNROLL for (int i = 0; i < (count); i += QUAD)                                         \
        {                                                                                          \
            const quad q = *(ISO_SHARED_AT const quad *)((from) + i * (items));                    \
            QUAD_GET(q, (to) + i);                                                                 \
        }                                                                                          \
    }
#define TAKE_LINE(to_a, to_b, slice, line)                                                         \
    {                                                                                              \
        ISO_SHARED_AT const acc *const line_a = (slice) + (line) * LINE_A + item_m * RUN_M;        \
        ISO_SHARED_AT const acc *const line_b =                                                    \
            (slice) + SLICE_A + (line) * LINE_B + item_n * RUN_N;                                  \
        TAKE_SHARE(ISO_TM, RUN_M, ITEMS_M, to_a, line_a)                                           \
        TAKE_SHARE(ISO_TN, RUN_N, ITEMS_N, to_b, line_b)                                           \
    }

/* The shorter side is the inner loop, there and back: NVIDIA's compiler keeps this order, in which
 * most fma find one factor in the place where the fma before read it. */
ISO_INLINE void multiply_line(acc *sum, const acc *fa, const acc *fb)
{
    ISO_UNROLL
    for (int r = 0; r < CELLS; r++) {
#if ISO_TM < ISO_TN
        const int j = r / ISO_TM;
        const int i = j % 2 ? ISO_TM - 1 - r % ISO_TM : r % ISO_TM;
#else
        const int i = r / ISO_TN;
        const int j = i % 2 ? ISO_TN - 1 - r % ISO_TN : r % ISO_TN;
#endif
        sum[i * ISO_TN + j] = acc_fma(fa[i], fb[j], sum[i * ISO_TN + j]);
    }
}

/* Lines are read from shared memory while the lines before are multiplied: so many at once that
 * their multiplication takes as long as the reading. */
#define DEPTH (CELLS <= 8 ? 4 : 1)
#define STEPS (ISO_BK / DEPTH)
#define TAKE_STEP(to_a, to_b, slice, step)                                                         \
    ISO_UNROLL for (int d = 0; d < DEPTH; d++)                                                     \
    {                                                                                              \
        TAKE_LINE((to_a)[d], (to_b)[d], slice, (step) * DEPTH + d)                                 \
    }

/*
 * Adds up the terms of a tile. At the end of each segment but the last, the sums are added to those
 * in `totals`. Copies are begun between steps. The barrier between two slices is before the last
 * step of the first is multiplied, so that there is work on both sides of it.
 */
ISO_INLINE void sum_tile(acc *sum, ISO_SHARED_AT acc *slices, ring_tile *from,
                         ISO_GLOBAL acc *totals, int id)
{
    const iso_place places = ISO_PLACE(slices);
    int item_m = ITEM_M(id);
    int item_n = ITEM_N(id);
    ISO_HIDE(item_m); /* with these, NVIDIA's compiler finds registers of different banks */
    ISO_HIDE(item_n);
    ISO_SHARED_AT acc *slice = slices;
    acc fa[2][DEPTH][ISO_TM];
    acc fb[2][DEPTH][ISO_TN];
    int to = ISO_STAGES - 1;
    int at = 0;
    int lines = 0; /* of the segment, already multiplied */
    int first_segment = !CONTINUES;
#pragma unroll 1
    for (int i = 0; i < ISO_STAGES - 1; i++) {
        copy_rest(slices + i * SLICE, from, id);
        copy_parts(places + i * SLICE * BYTES, from, 0, PARTS_A + PARTS_B);
        next_slice(from);
        ISO_COPY_COMMIT();
    }
    ISO_COPY_WAIT();
    ISO_BARRIER();
    TAKE_STEP(fa[0], fb[0], slice, 0)
    /* The terms of up to ISO_STAGES - 1 slices are copied and not yet multiplied. */
#pragma unroll 1
    while (from->left > -(ISO_STAGES - 1) * ISO_BK) {
        const int more = from->left > -(ISO_STAGES - 2) * ISO_BK;
        const iso_place copied = places + to * SLICE * BYTES;
        copy_rest(slices + to * SLICE, from, id);
        ISO_UNROLL
        for (int step = 0; step < STEPS; step++) {
            if (step == STEPS - 1) {
                ISO_COPY_COMMIT();
                ISO_COPY_WAIT();
                ISO_BARRIER(); /* the last one is before the next tile's copies */
                at = at + 1 < ISO_STAGES ? at + 1 : 0;
                slice = slices + at * SLICE;
            }
            TAKE_STEP(fa[(step + 1) % 2], fb[(step + 1) % 2], slice, (step + 1) % STEPS)
            if (step < STEPS - 1) {
                copy_parts(copied, from, step * (PARTS_A + PARTS_B) / (STEPS - 1),
                           (step + 1) * (PARTS_A + PARTS_B) / (STEPS - 1));
            }
            ISO_UNROLL
            for (int d = 0; d < DEPTH; d++) {
                multiply_line(sum, fa[step % 2][d], fb[step % 2][d]);
            }
        }
        to = to + 1 < ISO_STAGES ? to + 1 : 0;
        next_slice(from);
        lines += ISO_BK;
        if (lines == SEGMENT && more) { /* never if segments run in parallel */
            end_segment(sum, totals, id, first_segment);
            first_segment = 0;
            lines = 0;
        }
    }
}

/* The arguments, the flags and `work` are those of gemm_tiled. Of the flags, 4 and 32 are used, and
 * those from 256 on say how many of the last tiles are computed in segments. If ISO_KEPT is
 * defined, the launch adds shared memory for the totals of earlier segments. */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemm_ring(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
          ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 ldb, iso_i64 stride_b, ISO_GLOBAL elem *c,
          iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work, iso_i64 work_at,
          iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch, acc alpha, acc beta, iso_i32 flags)
{
    ISO_SHARED quad shared[ISO_STAGES * SLICE / QUAD];
#if defined(ISO_KEPT)
    ISO_SHARED_MORE(acc, kept);
#endif
    ISO_NEXT_MAY_BEGIN();
    int id = ISO_LOCAL_ID();
    all_work all;
    all.m = m;
    all.n = n;
    all.k = k;
    all.tiles_m = (m + ISO_BM - 1) / ISO_BM;
    all.tiles_n = (n + ISO_BN - 1) / ISO_BN;
    all.tiles = all.tiles_m * all.tiles_n * batch;
    all.whole = flags & 32 ? 0 : all.tiles - (flags >> 8);
    const iso_i64 units = units_of(&all);
    for (iso_i64 unit = ISO_GROUP_ID(); unit < units; unit += ISO_GROUP_COUNT()) {
        const tile_work w = work_of(unit, &all);
        ISO_GLOBAL acc *const slot =
            work + work_at + (w.slot < 0 ? ISO_GROUP_ID() : w.slot) * (ISO_BM * ISO_BN);
#if defined(ISO_KEPT)
        ISO_GLOBAL acc *const totals = kept;
#else
        ISO_GLOBAL acc *const totals = slot;
#endif
        ring_tile from;
        from.a = operand_of(ISO_BM, ISO_KA,
                            a + a_at + w.member * stride_a + AT(ISO_KA, lda, w.row0, w.first_k),
                            lda, 0, w.rows, id);
        from.b = operand_of(ISO_BN, ISO_KB,
                            b + b_at + w.member * stride_b + AT(ISO_KB, ldb, w.col0, w.first_k),
                            ldb, SLICE_A, w.cols, id);
        from.left = w.length;
        acc sum[CELLS];
        ISO_UNROLL
        for (int r = 0; r < CELLS; r++) {
            sum[r] = (acc)0;
        }
        begin_totals(w.slot >= 0, totals, c + (c_at + w.member * stride_c), ldc, m, n, w.row0,
                     w.col0, id);
        sum_tile(sum, (ISO_SHARED_AT acc *)shared, &from, totals, id);
        if (w.slot >= 0) {
            keep(slot, sum, id);
            continue;
        }
        if (w.length > SEGMENT) {
            add_kept(sum, totals, id);
        }
        store_tile(c, c_at + w.member * stride_c + w.row0 * ldc + w.col0, ldc, w.rows, w.cols, id,
                   ITEM_M(id), ITEM_N(id), flags & 4, sum, alpha, beta);
    }
}
