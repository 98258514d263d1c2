/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_wave.cl - the test of AMD's matrix units (wave.cl). Each case is a product of 16 x ISO_TERMS
 * and ISO_TERMS x 16 elements that is added to 16 x 16 others. Group 2 c + w computes case c: by a
 * chain of fma if w is 0, else by instructions. A group is one wave. unit.c compares the results.
 */
#define SIZE_A (16 * ISO_TERMS)
#define SIZE_B (ISO_TERMS * 16)
#define SIZE_C (16 * 16)
#define CASE   (SIZE_A + SIZE_B + SIZE_C)

ISO_KERNEL(ISO_THREADS)
unit_wave(ISO_GLOBAL acc *data)
{
    const int id = ISO_LOCAL_ID();
    const int line = id % 16;
    const int first = id / 16;
    const int way = (int)(ISO_GROUP_ID() % 2);
    const int each = (int)(ISO_GROUP_ID() / 2);
    ISO_GLOBAL const acc *a = data + each * CASE;
    ISO_GLOBAL const acc *b = a + SIZE_A;
    ISO_GLOBAL const acc *c = b + SIZE_B;
    ISO_GLOBAL acc *d = data + ISO_CASES * CASE + (each * 2 + way) * SIZE_C;
    acc sum[4];
    ISO_UNROLL
    for (int r = 0; r < 4; r++) {
        sum[r] = c[ISO_WAVE_ROW(id, r) * 16 + line];
    }
    if (way == 0) {
        for (int k = 0; k < ISO_TERMS; k++) {
            ISO_UNROLL
            for (int r = 0; r < 4; r++) {
                sum[r] = acc_fma(a[ISO_WAVE_ROW(id, r) * ISO_TERMS + k], b[k * 16 + line], sum[r]);
            }
        }
    } else {
        for (int k = 0; k < ISO_TERMS; k += 4) {
            ISO_WAVE(sum, a[line * ISO_TERMS + k + first], b[(k + first) * 16 + line]);
        }
    }
    ISO_UNROLL
    for (int r = 0; r < 4; r++) {
        d[ISO_WAVE_ROW(id, r) * 16 + line] = sum[r];
    }
}
