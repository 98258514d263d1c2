/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_vectors.cl - reductions along axis 0 of one operand whose rows are whole vectors of 16
 * bytes, for lanes of one number as wide as an element. As in reduce_columns a group takes a block
 * of neighbouring columns, but a work-item has a vector of a row.
 *
 *   ISO_VECTORS   work-items of a group, a power of two, from ACROSS to ACROSS * LANES; this kernel
 *                 exists only where it is defined
 */
#if defined(ISO_VECTORS)
#define ACROSS 32                         /* work-items side by side */
#define E      ((int)(16 / sizeof(elem))) /* elements of a vector */
#define WIDE   (ACROSS * E)
#define DEPTH  (ISO_VECTORS / ACROSS) /* slot s has the lanes s, s + DEPTH, ... */
#define OWN    (LANES / DEPTH)
#define ROUNDS 2 /* of 128 rows, in flight */

#if IS_LONG
#define BITS_AT(p, i) ((i) == 0 ? (iso_u64)(p).y << 32 | (p).x : (iso_u64)(p).w << 32 | (p).z)
#else
#define BITS_AT(p, i) ((i) == 0 ? (p).x : (i) == 1 ? (p).y : (i) == 2 ? (p).z : (p).w)
#endif
#if IS_WHOLE
#define ELEM_AT(p, i) ((elem)BITS_AT(p, i))
#elif IS_LONG
#define ELEM_AT(p, i) iso_as_f64(BITS_AT(p, i))
#else
#define ELEM_AT(p, i) iso_as_f32(BITS_AT(p, i))
#endif

#define VECTOR_AT(from, k) ISO_LOAD_ONCE((from) + (k) * DEPTH * ld)

ISO_INLINE void vectors_step(lane *v, ISO_U32X4 p)
{
    int e;
    ISO_UNROLL
    for (e = 0; e < E; e++) {
        v[e] = lane_step(v[e], ELEM_AT(p, e), (elem)0, 0);
    }
}

/* Adds `count` rows to the lanes of this work-item. The last ones are loaded at once too. */
ISO_INLINE void vectors_block(lane *v, ISO_GLOBAL const elem *from, iso_i64 ld, int s, int count)
{
    ISO_U32X4 r[ROUNDS * OWN];
    int row = 0, k;
    for (; row + ROUNDS * LANES <= count; row += ROUNDS * LANES) {
        ISO_UNROLL
        for (k = 0; k < ROUNDS * OWN; k++) {
            r[k] = VECTOR_AT(from, k);
        }
        ISO_UNROLL
        for (k = 0; k < ROUNDS * OWN; k++) {
            vectors_step(v + k % OWN * E, r[k]);
        }
        from += ROUNDS * LANES * ld;
    }
    ISO_UNROLL
    for (k = 0; k < ROUNDS * OWN; k++) {
        r[k] = iso_u32x4(0, 0, 0, 0);
        if (row + s + k * DEPTH < count) {
            r[k] = VECTOR_AT(from, k);
        }
    }
    ISO_UNROLL
    for (k = 0; k < ROUNDS * OWN; k++) {
        if (row + s + k * DEPTH < count) {
            vectors_step(v + k % OWN * E, r[k]);
        }
    }
}

ISO_KERNEL_OF(ISO_VECTORS, 1)
reduce_vectors(ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 ld, ISO_GLOBAL iso_u8 *work,
               iso_i64 work_at, ISO_GLOBAL result *to, iso_i64 to_at, iso_i64 sequences, iso_i64 n)
{
    ISO_SHARED lane pad[E * ISO_VECTORS];
    int id = ISO_LOCAL_ID(), s = id / ACROSS;
    iso_i64 across = (sequences + WIDE - 1) / WIDE, blocks = (n + BLOCK - 1) / BLOCK, u;
    ISO_NEXT_MAY_BEGIN();
    for (u = ISO_GROUP_ID(); u < across * blocks; u += ISO_GROUP_COUNT()) {
        iso_i64 b = u / across, left = (u - b * across) * WIDE, first = b * BLOCK;
        iso_i64 c = left + id % ACROSS * E;
        lane v[OWN * E];
        int d, e, h, j;
        ISO_UNROLL
        for (j = 0; j < OWN * E; j++) {
            v[j] = lane_neutral();
        }
        if (c < sequences) {
            vectors_block(v, x + (x_at + (first + s) * ld + c), ld, s,
                          least_count(n - first, BLOCK));
        }
        ISO_UNROLL
        for (h = OWN * E / 2; h >= E; h /= 2) {
            ISO_UNROLL
            for (j = 0; j < OWN * E / 2; j++) {
                if (j < h) {
                    v[j] = lane_fold(v[j], v[j + h < OWN * E ? j + h : 0]);
                }
            }
        }
        ISO_UNROLL
        for (e = 0; e < E; e++) {
            pad[e * ISO_VECTORS + id] = v[e];
        }
        ISO_BARRIER();
        for (d = DEPTH / 2; d > 0; d /= 2) {
            ISO_UNROLL
            for (e = 0; e < E; e++) {
                j = e * ISO_VECTORS + id;
                if (s < d) {
                    pad[j] = lane_fold(pad[j], pad[j + d * ACROSS]);
                }
            }
            ISO_BARRIER();
        }
        c = left + id;
        if (id < WIDE && c < sequences) {
            v[0] = pad[id % E * ISO_VECTORS + id / E];
            if (blocks == 1) {
                lane_finish(to + to_at, c, v[0], n);
            } else {
                ((ISO_GLOBAL lane *)(work + work_at))[c * blocks + b] = v[0];
            }
        }
        ISO_BARRIER();
    }
}
#endif
