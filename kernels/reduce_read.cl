/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_read.cl - the exclusive or of one long array that is aligned to 16 bytes, as fast as
 * memory can be read. Its result does not depend on the order, so work-items keep no lanes: each
 * has ISO_READ vectors in flight, and each group leaves one result.
 *
 * The vectors are divided into chunks. On a GPU neighbouring work-items read neighbouring vectors
 * of a group's chunk. If a group runs as a loop (ISO_LOOPED), every work-item has its own part of
 * the array and reads it from end to end, which suits a CPU.
 */
#if ISO_OP == OP_XOR && defined(ISO_READ)
#define VECTOR ((iso_i64)(16 / sizeof(elem))) /* elements of a vector */
#if defined(ISO_LOOPED)
#define CHUNK    ISO_READ
#define SUMS     ISO_READ /* that the compiler makes longer vectors of */
#define AT(i, k) ((i) * CHUNK + (k))
#else
#define CHUNK    (ISO_THREADS * ISO_READ)
#define SUMS     1 /* leaves registers for more groups */
#define AT(i, k) ((i) * CHUNK + (k) * ISO_THREADS + id)
#endif

ISO_INLINE elem read_fold(ISO_U32X4 v)
{
#if IS_LONG
    return (elem)((iso_u64)(v.y ^ v.w) << 32 | (v.x ^ v.z));
#else
    return (elem)(v.x ^ v.y ^ v.z ^ v.w);
#endif
}

ISO_KERNEL(ISO_THREADS)
reduce_read(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL iso_u8 *work, iso_i64 work_at,
            iso_i64 n)
{
    ISO_SHARED lane pad[ISO_THREADS];
    int id = ISO_LOCAL_ID(), k;
    iso_i64 chunks = n / VECTOR / CHUNK, item = ISO_GROUP_ID() * ISO_THREADS + id;
    iso_i64 items = ISO_GROUP_COUNT() * ISO_THREADS, i;
#if defined(ISO_LOOPED)
    iso_i64 first = chunks * item / items, last = chunks * (item + 1) / items, step = 1;
#else
    iso_i64 first = ISO_GROUP_ID(), last = chunks, step = ISO_GROUP_COUNT();
#endif
    ISO_GLOBAL const ISO_U32X4 *from = (ISO_GLOBAL const ISO_U32X4 *)(x + x_at);
    ISO_U32X4 v[SUMS];
    lane all = lane_neutral();
    for (k = 0; k < SUMS; k++) {
        v[k] = iso_u32x4(0, 0, 0, 0);
    }
    for (i = first; i < last; i += step) {
        ISO_U32X4 w[ISO_READ];
        ISO_UNROLL
        for (k = 0; k < ISO_READ; k++) {
            w[k] = from[AT(i, k)];
        }
        ISO_UNROLL
        for (k = 0; k < ISO_READ; k++) {
            v[k % SUMS].x ^= w[k].x;
            v[k % SUMS].y ^= w[k].y;
            v[k % SUMS].z ^= w[k].z;
            v[k % SUMS].w ^= w[k].w;
        }
    }
    for (k = 0; k < SUMS; k++) {
        all = lane_step(all, read_fold(v[k]), 0, 0);
    }
    for (i = chunks * CHUNK * VECTOR + item; i < n; i += items) {
        all = lane_step(all, x[x_at + i], 0, 0);
    }
    all = fold_shared(all, id, id, ISO_THREADS, 1, pad);
    if (id == 0) {
        ((ISO_GLOBAL lane *)(work + work_at))[ISO_GROUP_ID()] = all;
    }
}
#endif
