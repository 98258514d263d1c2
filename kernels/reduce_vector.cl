/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_vector.cl - the first level over one long array that is aligned to 16 bytes. As in
 * reduce_blocks, a team takes a block of 4096 elements, but it reads four elements of a row of 128
 * at once for each work-item: work-item t has the lanes 4 t ... 4 t + 3 or, of elements of 8 bytes,
 * which take two vectors, 2 t, 2 t + 1, 64 + 2 t and 65 + 2 t. The folds are those of reduce.cl, in
 * the same order: those of neighbouring lanes are within a work-item, those of lanes 64 apart too
 * if elements have 8 bytes, and all others are between work-items.
 *
 * ISO_VECTOR is the number of vectors of an operand that a work-item has in flight. This kernel
 * exists only where it is defined, for lanes of one number or a number and its place.
 */
#if ISO_SHUFFLE && defined(ISO_VECTOR)

#if IS_HALF
typedef iso_u64 vector;
#define VECTOR_LOAD(p)      ISO_LOAD_ONCE_64(p)
#define VECTOR_AT(words, j) ((elem)((words)[0] >> (16 * (j))))
#else
typedef ISO_U32X4 vector;
#define VECTOR_LOAD(p) ISO_LOAD_ONCE(p)
#if IS_LONG
#define BITS_AT(words, j)                                                                          \
    ((j) & 1 ? (iso_u64)(words)[(j) / 2].w << 32 | (words)[(j) / 2].z                              \
             : (iso_u64)(words)[(j) / 2].y << 32 | (words)[(j) / 2].x)
#else
#define BITS_AT(words, j)                                                                          \
    ((j) == 0 ? (words)[0].x : (j) == 1 ? (words)[0].y : (j) == 2 ? (words)[0].z : (words)[0].w)
#endif
#if IS_WHOLE
#define VECTOR_AT(words, j) ((elem)BITS_AT(words, j))
#elif IS_LONG
#define VECTOR_AT(words, j) iso_as_f64(BITS_AT(words, j))
#else
#define VECTOR_AT(words, j) iso_as_f32(BITS_AT(words, j))
#endif
#endif

#define PARTS (IS_LONG ? 2 : 1) /* vectors that a row has for each work-item */
#define ROWS  (ISO_VECTOR / PARTS)

#if IS_HALF
#define VECTOR_NONE 0
#else
#define VECTOR_NONE iso_u32x4(0, 0, 0, 0)
#endif

/* The place in a row of a work-item's element j, and how far the first one of its vector q is from
 * that of vector 0. */
#define PLACE(t, j)  (IS_LONG ? 2 * (t) + ((j) & 1) + (j) / 2 * 64 : 4 * (t) + (j))
#define VECTOR_OF(q) ((q) / PARTS * LANES + (q) % PARTS * 64)

#if ISO_OP == OP_DOT
#define VECTORS_AT_ONCE     3 /* groups that should fit a unit */
#define Y_VECTOR(array, i)  VECTOR_LOAD((array) + (i))
#define Y_ELEMENT(words, j) VECTOR_AT(words, j)
#define Y_SINGLE(array, i)  ((array)[i])
#else
#define VECTORS_AT_ONCE     4
#define Y_VECTOR(array, i)  ((void)(array), VECTOR_NONE)
#define Y_ELEMENT(words, j) ((elem)0)
#define Y_SINGLE(array, i)  ((void)(array), (elem)0)
#endif

ISO_INLINE lane vector_fold(lane *v)
{
    int d, j;
#if IS_LONG || IS_ORDERED /* those that are ordered may be folded in any order */
    v[0] = lane_fold(v[0], v[2]);
    v[1] = lane_fold(v[1], v[3]);
#if IS_ORDERED
    v[0] = lane_fold(v[0], v[1]);
#endif
#endif
    ISO_UNROLL
    for (d = TEAM / 2; d > 0; d /= 2) {
        ISO_UNROLL
        for (j = 0; j < (IS_ORDERED ? 1 : 4 / PARTS); j++) {
            v[j] = lane_fold(v[j], lane_down(v[j], d));
        }
    }
    return IS_ORDERED ? v[0]
           : IS_LONG  ? lane_fold(v[0], v[1])
                      : lane_fold(lane_fold(v[0], v[2]), lane_fold(v[1], v[3]));
}

/* Reduces a block of `count` elements at x (and y), which begins at element `first`. */
ISO_INLINE lane vector_block(ISO_GLOBAL const elem *x, ISO_GLOBAL const elem *y, iso_i64 first,
                             int count, int t)
{
    spot v[4];
    lane l[4];
    int row = 0, j, q, r;
    v[0] = v[1] = v[2] = v[3] = spot_neutral();
    for (; row + ROWS * LANES <= count; row += ROWS * LANES) {
        ISO_GLOBAL const elem *from = x + (row + PLACE(t, 0)), *with = y + (row + PLACE(t, 0));
        vector wx[ISO_VECTOR], wy[ISO_VECTOR];
        ISO_UNROLL
        for (q = 0; q < ISO_VECTOR; q++) {
            wx[q] = VECTOR_LOAD(from + VECTOR_OF(q));
            wy[q] = Y_VECTOR(with, VECTOR_OF(q));
        }
        ISO_UNROLL
        for (r = 0; r < ROWS; r++) {
            ISO_UNROLL
            for (j = 0; j < 4; j++) {
                v[j] = spot_step(v[j], VECTOR_AT(wx + r * PARTS, j), Y_ELEMENT(wy + r * PARTS, j),
                                 row + r * LANES + PLACE(t, j));
            }
        }
    }
    for (; row < count; row += LANES) {
        ISO_UNROLL
        for (j = 0; j < 4; j++) {
            const int i = row + PLACE(t, j);
            if (i < count) {
                v[j] = spot_step(v[j], x[i], Y_SINGLE(y, i), i);
            }
        }
    }
    ISO_UNROLL
    for (j = 0; j < 4; j++) {
        l[j] = lane_of(v[j], first);
    }
    return vector_fold(l);
}

ISO_KERNEL_OF(ISO_THREADS, VECTORS_AT_ONCE)
reduce_vector(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
              ISO_GLOBAL iso_u8 *work, iso_i64 work_at, iso_i64 n)
{
    const int t = ISO_LOCAL_ID() % TEAM, team = ISO_LOCAL_ID() / TEAM;
    const iso_i64 blocks = (n + BLOCK - 1) / BLOCK;
    ISO_GLOBAL lane *out = (ISO_GLOBAL lane *)(work + work_at);
    iso_i64 b = ISO_GROUP_ID() * TEAMS + team;
    for (; b < blocks; b += ISO_GROUP_COUNT() * TEAMS) {
        const iso_i64 first = b * BLOCK;
        const lane v = vector_block(x + (x_at + first), y + (y_at + first), first,
                                    least_count(n - first, BLOCK), t);
        if (t == 0) {
            out[b] = v;
        }
    }
}
#endif
