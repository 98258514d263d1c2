/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_moduli.cl - the small numbers of the fixed product: clause 7 of docs/bits.md. */

/* No two have a common divisor. Folded by the compiler where c is a constant. */
ISO_INLINE iso_i32 modulus(int c)
{
    return c == 0    ? 256
           : c == 1  ? 255
           : c == 2  ? 253
           : c == 3  ? 251
           : c == 4  ? 247
           : c == 5  ? 241
           : c == 6  ? 239
           : c == 7  ? 233
           : c == 8  ? 229
           : c == 9  ? 227
           : c == 10 ? 223
           : c == 11 ? 217
           : c == 12 ? 211
           : c == 13 ? 199
           : c == 14 ? 197
           : c == 15 ? 193
           : c == 16 ? 191
                     : 181;
}
