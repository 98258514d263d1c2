/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_f64.cl - the test of an f64 matrix unit. Each case is a product of 16 x ISO_TERMS and
 * ISO_TERMS x 8 elements that is added to 16 x 8 others. Group 4 c + w computes case c: by a chain
 * of fma if w is 0, else by instructions of 4, 8 or 16 terms. A group is one team. unit.c compares
 * the results.
 */
#define SIZE_A (16 * ISO_TERMS)
#define SIZE_B (ISO_TERMS * 8)
#define SIZE_C (16 * 8)
#define CASE   (SIZE_A + SIZE_B + SIZE_C)

#define BY_UNIT(terms)                                                                             \
    for (int k = 0; k < ISO_TERMS; k += (terms)) {                                                 \
        acc fa[(terms) / 2];                                                                       \
        acc fb[(terms) / 4];                                                                       \
        ISO_UNROLL for (int q = 0; q < (terms) / 4; q++)                                           \
        {                                                                                          \
            fa[2 * q] = a[row * ISO_TERMS + k + 4 * q + first];                                    \
            fa[2 * q + 1] = a[(row + 8) * ISO_TERMS + k + 4 * q + first];                          \
            fb[q] = b[(k + 4 * q + first) * 8 + row];                                              \
        }                                                                                          \
        ISO_MATRIX_F64(terms, sum, fa, fb);                                                        \
    }

ISO_KERNEL(ISO_THREADS)
unit_f64(ISO_GLOBAL acc *data)
{
    const int id = ISO_LOCAL_ID();
    const int row = id / 4;
    const int first = id % 4;
    const int way = (int)(ISO_GROUP_ID() % 4);
    const int each = (int)(ISO_GROUP_ID() / 4);
    ISO_GLOBAL const acc *a = data + each * CASE;
    ISO_GLOBAL const acc *b = a + SIZE_A;
    ISO_GLOBAL const acc *c = b + SIZE_B;
    ISO_GLOBAL acc *d = data + ISO_CASES * CASE + (each * 4 + way) * SIZE_C;
    acc sum[4];
    ISO_UNROLL
    for (int r = 0; r < 4; r++) {
        sum[r] = c[(row + r / 2 * 8) * 8 + first * 2 + r % 2];
    }
    if (way == 0) {
        for (int k = 0; k < ISO_TERMS; k++) {
            ISO_UNROLL
            for (int r = 0; r < 4; r++) {
                sum[r] = acc_fma(a[(row + r / 2 * 8) * ISO_TERMS + k], b[k * 8 + first * 2 + r % 2],
                                 sum[r]);
            }
        }
    } else if (way == 1) {
        BY_UNIT(4)
    } else if (way == 2) {
        BY_UNIT(8)
    } else {
        BY_UNIT(16)
    }
    ISO_UNROLL
    for (int r = 0; r < 4; r++) {
        d[(row + r / 2 * 8) * 8 + first * 2 + r % 2] = sum[r];
    }
}
