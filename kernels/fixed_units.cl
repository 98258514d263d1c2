/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed_units.cl - what differs between vendors in fixed_matrix.cl: which elements of a team's 64 x
 * 64 sums a work-item has, how it loads its operands from a slice, and how slices are copied.
 *
 * PIECES             runs of 16 neighbours in a row, of which a work-item has the sums
 * PIECE_ROW(lane)    where the first one is, and the distance from it to the others
 * PIECE_COL(lane)
 * PIECE_DOWN(r)
 * PIECE_RIGHT(r)
 * SUM(sums, r, j)    sum j of run r
 * TAKES_A, TAKES_B   (lane) the vectors of A and B that a work-item loads first
 * HALF_A, HALF_B     (lane) which half of a step's bytes it loads of them
 *
 * The four parts of 16 bytes of a vector are permuted: part p is at place p ^ SWIZZLE. Eight
 * vectors that are loaded at once, and eight work-items that copy two vectors at once, then use
 * each bank of shared memory equally often.
 */
#define DEPTH   64 /* bytes of a vector in a slice; four parts of 16 */
#define TERMS   32 /* of a step */
#define TEAM    64 /* rows and columns of a team's sums */
#define SLICE_A (ISO_BM * DEPTH)
#define SLICE   ((ISO_BM + ISO_BN) * DEPTH)
#define COPY    (ISO_THREADS / 4) /* vectors that a group copies at once */

#define SWIZZLE_A(v) ((v) >> 1 & 3)

/* The planes of a tile: where this work-item begins to copy, the distance to the next slice, its
 * part of each vector, and how many vectors there are from its first on. */
typedef struct tile_planes {
    ISO_GLOBAL const iso_u8 *a, *b;
    iso_i64 next_a, next_b;
    int rows, cols;
    int to_a, to_b; /* places in a slice */
    int part_a, part_b;
} tile_planes;

/* Where a work-item copies part of its vector `v` of a slice. */
#define PLACE_A(from, v) ((from)->to_a + (v) * DEPTH + (((from)->part_a ^ SWIZZLE_A(v)) << 4))
#define PLACE_B(from, v) ((from)->to_b + (v) * DEPTH + (((from)->part_b ^ SWIZZLE_B(v)) << 4))

#if ISO_LEAN /* AMD */
/*
 * An instruction multiplies 32 x 32 elements. It has the columns of C as its rows, so that a
 * work-item's 16 sums are neighbours in a row of C: row 8 i + 4 h + j of the instruction is column
 * 16 h + 4 i + j. Of the bytes of a step, the halves of a team take one half each; in which order
 * they are added does not matter.
 */
#define SWIZZLE_B(v)    ((v) >> 1 & 1 | (v) >> 3 & 2)
#define PIECES          4
#define PIECE_ROW(lane) ((lane) % 32)
#define PIECE_COL(lane) ((lane) / 32 * 16)
#define PIECE_DOWN(r)   ((r) / 2 * 32)
#define PIECE_RIGHT(r)  ((r) % 2 * 32)
#define SUM(sums, r, j) ((sums)->of[r][j])
#define TAKES_A(lane)   ((lane) % 32)
#define TAKES_B(lane)   ((lane) / 4 % 2 * 16 + (lane) % 32 / 8 * 4 + (lane) % 4)
#define HALF_A(lane)    ((lane) / 32)
#define HALF_B(lane)    ((lane) / 32)

typedef struct team_sums {
    iso_i32x16 of[PIECES];
} team_sums;

typedef struct fragments {
    ISO_U32X4 a[2], b[2];
} fragments;

/* Where slices are in shared memory. */
typedef ISO_SHARED_AT iso_u8 *slice_place;
#define SLICE_PLACE(p) ((slice_place)(p))

ISO_INLINE void take(fragments *to, slice_place slice, int step, int at_a, int at_b)
{
    ISO_UNROLL
    for (int u = 0; u < 2; u++) {
        const int at = u * 32 * DEPTH;
        to->a[u] = *(ISO_SHARED_AT const ISO_U32X4 *)(slice + (at_a ^ step * TERMS) + at);
        to->b[u] = *(ISO_SHARED_AT const ISO_U32X4 *)(slice + (at_b ^ step * TERMS) + at);
    }
}

ISO_INLINE void multiply(team_sums *sums, const fragments *from)
{
    ISO_UNROLL
    for (int r = 0; r < PIECES; r++) {
        const ISO_U32X4 a = from->a[r / 2];
        const ISO_U32X4 b = from->b[r % 2];
        ISO_MATRIX_BYTES_2(sums->of[r], b.x, b.y, a.x, a.y);
        ISO_MATRIX_BYTES_2(sums->of[r], b.z, b.w, a.z, a.w);
    }
}

/* A slice passes through registers: fetch loads it before the slice before it is multiplied, and
 * put stores it after that. */
typedef struct staged {
    ISO_U32X4 a[ISO_BM / COPY], b[ISO_BN / COPY];
} staged;

ISO_INLINE void fetch(staged *kept, slice_place to, const tile_planes *from)
{
    (void)to;
    ISO_UNROLL
    for (int i = 0; i < ISO_BM / COPY; i++) {
        const int v = i * COPY < from->rows ? i * COPY : 0;
        kept->a[i] = *(ISO_GLOBAL const ISO_U32X4 *)(from->a + v * DEPTH);
    }
    ISO_UNROLL
    for (int i = 0; i < ISO_BN / COPY; i++) {
        const int v = i * COPY < from->cols ? i * COPY : 0;
        kept->b[i] = *(ISO_GLOBAL const ISO_U32X4 *)(from->b + v * DEPTH);
    }
}

ISO_INLINE void put(const staged *kept, slice_place to, const tile_planes *from)
{
    ISO_UNROLL
    for (int i = 0; i < ISO_BM / COPY; i++) {
        *(ISO_SHARED_AT ISO_U32X4 *)(to + PLACE_A(from, i * COPY)) = kept->a[i];
    }
    ISO_UNROLL
    for (int i = 0; i < ISO_BN / COPY; i++) {
        *(ISO_SHARED_AT ISO_U32X4 *)(to + PLACE_B(from, i * COPY)) = kept->b[i];
    }
}

#else /* NVIDIA */
/*
 * An instruction multiplies 16 x 8 elements. Its column 2 q + i is column 16 q + 2 u + i of the
 * team's part of B, where i is 0 or 1 and u counts the instructions along the columns. So the sums
 * of a work-item in one row are 16 neighbours.
 */
#define UNITS_M             (TEAM / 16)
#define UNITS_N             (TEAM / 8)
#define SWIZZLE_B(v)        ((v) >> 4 & 3)
#define PIECES              8
#define PIECE_ROW(lane)     ((lane) / 4)
#define PIECE_COL(lane)     ((lane) % 4 * 16)
#define PIECE_DOWN(r)       ((r) * 8)
#define PIECE_RIGHT(r)      0
#define SUM(sums, r, j)     ((sums)->of[((r) / 2 * UNITS_N + (j) / 2) * 4 + (r) % 2 * 2 + (j) % 2])
#define TAKES_A(lane)       ((lane) % 16)
#define TAKES_B(lane)       ((lane) % 8 / 2 * 16 + (lane) / 16 * 2 + (lane) % 2)
#define HALF_A(lane)        ((lane) / 16)
#define HALF_B(lane)        ((lane) / 8 % 2)

typedef struct team_sums {
    iso_i32 of[UNITS_M * UNITS_N * 4];
} team_sums;

typedef struct fragments {
    iso_u32 a[UNITS_M][4];
    iso_u32 b[UNITS_N * 2];
} fragments;

typedef iso_place slice_place;
#define SLICE_PLACE(p)      ISO_PLACE(p)

ISO_INLINE void take(fragments *to, slice_place slice, int step, int at_a, int at_b)
{
    ISO_UNROLL
    for (int u = 0; u < UNITS_M; u++) {
        ISO_LOAD_ROWS(to->a[u], slice + ((at_a ^ step * TERMS) + u * 16 * DEPTH));
    }
    ISO_UNROLL
    for (int u = 0; u < UNITS_N; u += 2) {
        ISO_LOAD_ROWS(to->b + u * 2, slice + ((at_b ^ step * TERMS) + u * 2 * DEPTH));
    }
}

ISO_INLINE void multiply(team_sums *sums, const fragments *from)
{
    ISO_UNROLL
    for (int m = 0; m < UNITS_M; m++) {
        ISO_UNROLL
        for (int n = 0; n < UNITS_N; n++) {
            ISO_MATRIX_BYTES(sums->of + (m * UNITS_N + n) * 4, from->a[m], from->b + n * 2);
        }
    }
}

/* A slice does not pass through registers. */
typedef struct staged {
    int none;
} staged;
#define put(kept, to, from) ((void)0)

ISO_INLINE void fetch(staged *kept, slice_place to, const tile_planes *from)
{
    (void)kept;
    ISO_UNROLL
    for (int i = 0; i < ISO_BM / COPY; i++) {
        const int v = i * COPY;
        ISO_COPY_LINE(to + PLACE_A(from, v), from->a + v * DEPTH, v < from->rows);
    }
    ISO_UNROLL
    for (int i = 0; i < ISO_BN / COPY; i++) {
        const int v = i * COPY;
        ISO_COPY_LINE(to + PLACE_B(from, v), from->b + v * DEPTH, v < from->cols);
    }
}
#endif
