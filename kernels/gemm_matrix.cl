/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_matrix.cl - the blocked product of f64 on matrix units, with the bits of gemm_tiled.cl. One
 * instruction of a unit multiplies a part of A by a part of B and adds each product to its sum in
 * ascending order of k, with one rounding for each: so a chain of instructions is the chain of fma
 * of bits.md. Not every unit need do that; unit_f64.cl is the test that a device must pass first.
 *
 * All work-items copy and multiply. Slices are copied ahead of their use. Except for the first
 * ISO_WAIT + 1, a slice is copied while ISO_WAIT others are under way.
 *
 * The launch adds shared memory for the slices if ISO_ADDED is defined, and, after them, for the
 * totals of earlier segments if ISO_KEPT is.
 */
#define UNIT_K 4 /* terms of an instruction */

/*
 * A whole slice is copied in parts, which are begun between products. In a part, a work-item copies
 * 8 bytes of an operand that is contiguous along k, else a pair of rows or columns: pairs then are
 * aligned to 16 bytes, and end inside the operand. Rows and columns outside the operand are not
 * copied, and their sums are not used.
 */
#define PARTS(size, along_k)                                                                       \
    ((along_k) ? (size) / (ISO_THREADS / 8) * (ISO_BK / 8) : ISO_BK / (ISO_THREADS / ((size) / 2)))
#define PARTS_A                     PARTS(ISO_BM, ISO_KA)
#define PARTS_B                     PARTS(ISO_BN, ISO_KB)
#define OUTER_OF(size, along_k, id) ((along_k) ? (id) / 8 : (id) % ((size) / 2) * 2)
#define LINE_OF(size, along_k, id)  ((along_k) ? (id) % 8 : (id) / ((size) / 2))

/* An operand of a tile. */
typedef struct tile_operand {
    ISO_GLOBAL const elem *slice; /* where the next slice begins */
    iso_i64 ld;
    iso_i64 first; /* the first element of a slice that this work-item copies */
    int to;        /* and where to in a place for slices, in bytes */
    int outers;    /* rows or columns */
    int left;      /* of those, from this work-item's first one on */
    int by_parts;  /* whether whole slices may be copied by parts */
} tile_operand;

ISO_INLINE tile_operand operand_of(int size, int along_k, ISO_GLOBAL const elem *slice, iso_i64 ld,
                                   int at, int outers, int wide, int id)
{
    const int outer = OUTER_OF(size, along_k, id);
    const int k = LINE_OF(size, along_k, id);
    const tile_operand of = {slice,
                             ld,
                             AT(along_k, ld, (iso_i64)outer, (iso_i64)k),
                             (at + PLACE(size, k, outer)) * BYTES,
                             outers,
                             outers - outer,
                             along_k || wide};
    return of;
}

ISO_INLINE void copy_part(int size, int along_k, int part, iso_place slice,
                          const tile_operand *from, int rows)
{
    ISO_GLOBAL const elem *const first = from->slice + from->first;
    if (along_k) {
        const int row = part / (ISO_BK / 8) * (ISO_THREADS / 8);
        const int k = part % (ISO_BK / 8) * 8;
        ISO_COPY_8(slice + (from->to + (k * size + row) * BYTES), first + (row * from->ld + k),
                   row < rows);
    } else {
        const int line = part * (ISO_THREADS / (size / 2));
        ISO_COPY_16(slice + ((from->to ^ SWIZZLE(line) * 2 * BYTES) + line * size * BYTES),
                    first + line * from->ld, rows > 0);
    }
}

/* Copies any slice, slowly. Terms beyond the last, `left`, are (+0) (-0): they change no sum, not
 * even -0. */
ISO_INLINE void copy_any(int size, int along_k, ISO_SHARED_AT acc *to, const tile_operand *from,
                         iso_i64 left, acc pad, int id)
{
#pragma unroll 1
    for (int v = id; v < size * ISO_BK; v += ISO_THREADS) {
        const int outer = along_k ? v / 8 % size : v % size;
        const int k = along_k ? v / 8 / size * 8 + v % 8 : v / size;
        ISO_SHARED_AT acc *at = to + PLACE(size, k, outer);
        if (k >= left) {
            *at = pad;
        } else {
            ISO_COPY_8(ISO_PLACE(at),
                       from->slice + AT(along_k, from->ld, (iso_i64)outer, (iso_i64)k),
                       outer < from->outers);
        }
    }
}

/* What the instructions of a team take for one step of UNIT_K terms. */
typedef struct fragments {
    acc a[UNITS_M][2];
    acc b[UNITS_N];
} fragments;

/* Load the terms from `k` of a slice on: of a row of parts, of two columns of parts. The places of
 * a work-item's elements differ from line to line only by constants and by the lowest bit of the
 * permutation. */
ISO_INLINE void take_a(fragments *to, iso_place slice, int row, int k, int id)
{
    const int line = K_OF(LANE(id));
    const int first = (line * ISO_BM + TEAM_ROW(id) + (PAIR(LANE(id)) ^ SWIZZLE(line)) * 2) * BYTES;
    ISO_TAKE_2(to->a[row][0], to->a[row][1],
               slice + (first ^ SWIZZLE(k) * 2 * BYTES) + (k * ISO_BM + row * 16) * BYTES);
}

ISO_INLINE void take_b(fragments *to, iso_place slice, int col, int k, int id)
{
    const int line = K_OF(LANE(id));
    const int first =
        (SLICE_A + line * ISO_BN + TEAM_COL(id) + (PAIR(LANE(id)) ^ SWIZZLE(line)) * 2) * BYTES;
    ISO_TAKE_2(to->b[col], to->b[col + 1],
               slice + (first ^ SWIZZLE(k) * 2 * BYTES) + (k * ISO_BN + col * 8) * BYTES);
}

/* While rows of parts of one step are multiplied, those of the next are loaded: all in the first
 * row if there is no other, else shared among the others. */
#define TAKES    (UNITS_N / 2 + UNITS_M)
#define LOW_ROW  (UNITS_M > 1)
#define TAKEN_IN (UNITS_M - LOW_ROW)

ISO_INLINE void take_during(int row, fragments *to, iso_place slice, int k, int id)
{
    ISO_UNROLL
    for (int i = 0; i < TAKES; i++) {
        if (LOW_ROW + i * TAKEN_IN / TAKES == row) {
            if (i < UNITS_N / 2) {
                take_b(to, slice, i * 2, k, id);
            } else {
                take_a(to, slice, i - UNITS_N / 2, k, id);
            }
        }
    }
}

typedef struct tile_operands {
    tile_operand a, b;
} tile_operands;

ISO_INLINE int by_parts(const tile_operand *from, iso_i64 left)
{
    return from->by_parts && left >= ISO_BK;
}

ISO_INLINE void copy_both_part(int part, iso_place to, const tile_operands *from, iso_i64 left)
{
    if (part < PARTS_A) {
        copy_part(ISO_BM, ISO_KA, part, to, &from->a, by_parts(&from->a, left) ? from->a.left : 0);
    } else {
        copy_part(ISO_BN, ISO_KB, part - PARTS_A, to, &from->b,
                  by_parts(&from->b, left) ? from->b.left : 0);
    }
}

/* Begins to copy what copy_both_part does not. */
ISO_INLINE void copy_rest(ISO_SHARED_AT acc *to, const tile_operands *from, iso_i64 left, int id)
{
    if (left > 0 && !by_parts(&from->a, left)) {
        copy_any(ISO_BM, ISO_KA, to, &from->a, left, (acc)0, id);
    }
    if (left > 0 && !by_parts(&from->b, left)) {
        copy_any(ISO_BN, ISO_KB, to + SLICE_A, &from->b, left, -(acc)0, id);
    }
}

ISO_INLINE void next_slice(tile_operands *from)
{
    from->a.slice += ISO_KA ? (iso_i64)ISO_BK : (iso_i64)ISO_BK * from->a.ld;
    from->b.slice += ISO_KB ? (iso_i64)ISO_BK : (iso_i64)ISO_BK * from->b.ld;
}

/*
 * Adds up `left` terms. At the end of each segment but the last, the sums are added to those in
 * `totals`.
 *
 * A work-item executes in order, so whatever would make it wait is begun between products: loads of
 * the next step from shared memory, and parts of the copy of a later slice, which goes to the place
 * of the slice before. The barrier between two slices is in the last step of the first, after a row
 * of parts, so that the units have work on both sides of it.
 */
#define STEPS      (ISO_BK / UNIT_K)
#define COPY_STEPS (STEPS - !LOW_ROW) /* steps with parts of copies: before the barrier */

ISO_INLINE void sum_tile(acc *sum, ISO_SHARED_AT acc *slices, tile_operands *from, iso_i64 left,
                         ISO_GLOBAL acc *totals, int id)
{
    const iso_place places = ISO_PLACE(slices);
    fragments next[2];
    int to = ISO_STAGES - 1;
    int at = 0;
    int lines = 0; /* of the segment, already multiplied */
    int first_segment = !CONTINUES;
#pragma unroll 1
    for (int i = 0; i < ISO_STAGES - 1; i++) {
        copy_rest(slices + i * SLICE, from, left, id);
        ISO_UNROLL
        for (int part = 0; part < PARTS_A + PARTS_B; part++) {
            copy_both_part(part, places + i * SLICE * BYTES, from, left);
        }
        next_slice(from);
        left -= ISO_BK;
        ISO_COPY_COMMIT();
    }
    ISO_COPY_WAIT();
    ISO_BARRIER();
    ISO_UNROLL
    for (int row = 0; row < UNITS_M; row++) {
        take_during(row, &next[0], places, 0, id);
    }
    /* `left` terms are not yet copied, those of up to ISO_STAGES - 1 slices not yet multiplied. */
    for (; left > -(ISO_STAGES - 1) * ISO_BK; left -= ISO_BK) {
        const int more = left > -(ISO_STAGES - 2) * ISO_BK;
        const iso_place copied = places + to * SLICE * BYTES;
        iso_place slice = places + at * SLICE * BYTES;
        if (left < ISO_BK || !from->a.by_parts || !from->b.by_parts) {
            copy_rest(slices + to * SLICE, from, left, id);
        }
        ISO_UNROLL
        for (int i = 0; i < STEPS * UNITS_M; i++) {
            const int step = i / UNITS_M;
            const int row = i % UNITS_M;
            const int last = step + 1 == STEPS;
            if (last && row == LOW_ROW) {
                ISO_COPY_COMMIT();
                ISO_COPY_WAIT();
                ISO_BARRIER(); /* the last one is before the next tile's copies */
                at = at + 1 < ISO_STAGES ? at + 1 : 0;
                slice = places + at * SLICE * BYTES;
            }
            if (!last || more) {
                take_during(row, &next[(step + 1) % 2], slice, last ? 0 : (step + 1) * UNIT_K, id);
            }
            ISO_UNROLL
            for (int n = 0; n < UNITS_N; n++) {
                ISO_MATRIX_F64(4, sum + (row * UNITS_N + n) * 4, next[step % 2].a[row],
                               next[step % 2].b + n);
            }
            if (row == 0) {
                ISO_UNROLL
                for (int part = 0; part < PARTS_A + PARTS_B; part++) {
                    if (part * COPY_STEPS / (PARTS_A + PARTS_B) == step) {
                        copy_both_part(part, copied, from, left);
                    }
                }
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

/* The arguments, the flags and `work` are those of gemm_tiled; bits 8 and 16 are not used. */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemm_matrix(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
            ISO_GLOBAL const elem *b, iso_i64 b_at, iso_i64 ldb, iso_i64 stride_b,
            ISO_GLOBAL elem *c, iso_i64 c_at, iso_i64 ldc, iso_i64 stride_c, ISO_GLOBAL acc *work,
            iso_i64 work_at, iso_i64 m, iso_i64 n, iso_i64 k, iso_i64 batch, acc alpha, acc beta,
            iso_i32 flags)
{
#if defined(ISO_ADDED)
    ISO_SHARED_MORE(ISO_F64X2, shared);
#else
    ISO_SHARED ISO_F64X2 shared[ISO_STAGES * SLICE / 2];
#endif
    ISO_SHARED_AT acc *const slices = (ISO_SHARED_AT acc *)shared;
#if defined(ISO_KEPT) && defined(ISO_ADDED)
    acc *const kept = slices + ISO_STAGES * SLICE;
#elif defined(ISO_KEPT)
    ISO_SHARED_MORE(acc, kept);
#endif
    ISO_NEXT_MAY_BEGIN();
    int id = ISO_LOCAL_ID();
    const int apart = flags & 32;
    const iso_i64 tiles_m = (m + ISO_BM - 1) / ISO_BM;
    const iso_i64 tiles_n = (n + ISO_BN - 1) / ISO_BN;
    const iso_i64 tiles = tiles_m * tiles_n * batch;
    const iso_i64 units = apart ? (k + SEGMENT - 1) / SEGMENT * tiles : tiles;
    for (iso_i64 unit = ISO_GROUP_ID(); unit < units; unit += ISO_GROUP_COUNT()) {
        const iso_i64 segment = unit / tiles;
        const iso_i64 tile = unit - segment * tiles;
        const iso_i64 member = tile / (tiles_m * tiles_n);
        const iso_i64 k_from = segment * SEGMENT;
        const iso_i64 length = apart && k - k_from > SEGMENT ? SEGMENT : k - k_from;
        iso_i64 tile_m, tile_n;
        tile_place(tile - member * (tiles_m * tiles_n), tiles_m, tiles_n, &tile_m, &tile_n);
        const iso_i64 row0 = tile_m * ISO_BM;
        const iso_i64 col0 = tile_n * ISO_BN;
        const int rows = (int)(m - row0 < ISO_BM ? m - row0 : ISO_BM);
        const int cols = (int)(n - col0 < ISO_BN ? n - col0 : ISO_BN);
        ISO_GLOBAL acc *slot = work + work_at + (apart ? unit : ISO_GROUP_ID()) * (ISO_BM * ISO_BN);
#if defined(ISO_KEPT)
        ISO_GLOBAL acc *const totals = kept;
#else
        ISO_GLOBAL acc *const totals = slot;
#endif
        tile_operands from;
        from.a =
            operand_of(ISO_BM, ISO_KA, a + a_at + member * stride_a + AT(ISO_KA, lda, row0, k_from),
                       lda, 0, rows, flags & 1, id);
        from.b =
            operand_of(ISO_BN, ISO_KB, b + b_at + member * stride_b + AT(ISO_KB, ldb, col0, k_from),
                       ldb, SLICE_A, cols, flags & 2, id);
        acc sum[CELLS];
        ISO_UNROLL
        for (int r = 0; r < CELLS; r++) {
            sum[r] = (acc)0;
        }
        begin_totals(apart, totals, c + (c_at + member * stride_c), ldc, m, n, row0, col0, id);
        sum_tile(sum, slices, &from, length, totals, id);
        ISO_HIDE(id);
        if (apart) {
            keep(slot, sum, id);
            continue;
        }
        if (k > SEGMENT) {
            add_kept(sum, totals, id);
        }
        store_tile(c, c_at + member * stride_c + row0 * ldc + col0, ldc, rows, cols, flags & 4, sum,
                   alpha, beta, id);
    }
}
