/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_blocks.cl - how a processor's core multiplies slices of a blocked product (gemm_core.cl).
 * Slices are kept as blocks of DOWN rows of A and of ACROSS columns of B, and DOWN x ACROSS sums
 * stay in vector registers for the length of a slice.
 *
 * Only OpenCL compiles this text. The vectors are OpenCL's: a compiler divides them into as many
 * registers as the processor needs.
 */
#if defined(__clang__) /* wide vectors change how functions are called; none is called here */
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#define DOWN 6
#if ISO_DTYPE == ISO_F64
#define ACROSS          8
#define VECTOR_AT(p)    vload8(0, (p))
#define VECTOR_TO(v, p) vstore8((v), 0, (p))
typedef double8 vector;
#else
#define ACROSS          16
#define VECTOR_AT(p)    vload16(0, (p))
#define VECTOR_TO(v, p) vstore16((v), 0, (p))
typedef float16 vector;
#endif

/* A work-item has all of a tile. */
#define CELL_ROW(id, r) ((r) / ISO_BN)
#define CELL_COL(id, r) ((r) % ISO_BN)

/* Copies a slice. Element o of line q goes to place o % block of line q in its block; the last
 * block is filled with zeros. */
ISO_INLINE void copy_slice(ISO_SHARED_AT acc *to, ISO_GLOBAL const elem *from, iso_i64 ld,
                           int along_k, int outers, int terms, const int block)
{
    for (int o = 0; o < outers; o += block) {
        const int here = outers - o < block ? outers - o : block;
        ISO_SHARED_AT acc *at = to + o * ISO_BK;
        for (int i = 0; here < block && i < terms * block; i++) {
            at[i] = (acc)0;
        }
        for (int i = 0; along_k && i < here; i++) {
            for (int q = 0; q < terms; q++) {
                at[q * block + i] = iso_load(from, (o + i) * ld + q);
            }
        }
        for (int q = 0; !along_k && q < terms; q++) {
            if (here == block) {
                for (int i = 0; i < block; i++) {
                    at[q * block + i] = iso_load(from, q * ld + o + i);
                }
            } else {
                for (int i = 0; i < here; i++) {
                    at[q * block + i] = iso_load(from, q * ld + o + i);
                }
            }
        }
    }
}

/* Adds the products of a slice to a block of sums. */
ISO_INLINE void multiply(ISO_SHARED_AT acc *sum, ISO_SHARED_AT const acc *slice_a,
                         ISO_SHARED_AT const acc *slice_b, int terms)
{
    vector all[DOWN];
    ISO_UNROLL
    for (int i = 0; i < DOWN; i++) {
        all[i] = VECTOR_AT(sum + i * ISO_BN);
    }
    for (int q = 0; q < terms; q++, slice_a += DOWN, slice_b += ACROSS) {
        const vector b = VECTOR_AT(slice_b);
        ISO_UNROLL
        for (int i = 0; i < DOWN; i++) {
            all[i] = fma((vector)(slice_a[i]), b, all[i]);
        }
    }
    ISO_UNROLL
    for (int i = 0; i < DOWN; i++) {
        VECTOR_TO(all[i], sum + i * ISO_BN);
    }
}
