/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - transposes in registers: a vector holds 16 bytes of each of several rows, and 16 bytes
 * are what every instruction set interleaves in one instruction. */
#ifndef ISOMER_OPENMP_PIECES_H
#define ISOMER_OPENMP_PIECES_H

#include "backends/openmp/kernels/simd.h"

#include <stddef.h>

#if defined(CPU_KERNELS_AVX512)
#define PIECES           4
#define INTERLEAVE(h, n) _mm512_unpack##h##_epi##n
typedef __m512i piece;
#elif defined(CPU_KERNELS_AVX2)
#define PIECES           2
#define INTERLEAVE(h, n) _mm256_unpack##h##_epi##n
typedef __m256i piece;
#else
#define PIECES 1
typedef uint8_t piece __attribute__((vector_size(16)));
#endif

#if PIECES > 1
#define LOW_1(a, b)  INTERLEAVE(lo, 8)(a, b)
#define HIGH_1(a, b) INTERLEAVE(hi, 8)(a, b)
#define LOW_2(a, b)  INTERLEAVE(lo, 16)(a, b)
#define HIGH_2(a, b) INTERLEAVE(hi, 16)(a, b)
#define LOW_4(a, b)  INTERLEAVE(lo, 32)(a, b)
#define HIGH_4(a, b) INTERLEAVE(hi, 32)(a, b)
#define LOW_8(a, b)  INTERLEAVE(lo, 64)(a, b)
#define HIGH_8(a, b) INTERLEAVE(hi, 64)(a, b)
#else
typedef uint16_t halves __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
typedef uint64_t longs __attribute__((vector_size(16)));
#define SHUFFLE(type, a, b, ...) ((piece)__builtin_shufflevector((type)(a), (type)(b), __VA_ARGS__))
#define LOW_1(a, b)              SHUFFLE(piece, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1(a, b)                                                                               \
    SHUFFLE(piece, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_2(a, b)  SHUFFLE(halves, a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(a, b) SHUFFLE(halves, a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4(a, b)  SHUFFLE(words, a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) SHUFFLE(words, a, b, 2, 6, 3, 7)
#define LOW_8(a, b)  SHUFFLE(longs, a, b, 0, 2)
#define HIGH_8(a, b) SHUFFLE(longs, a, b, 1, 3)
#endif

/* Interleaves the elements of the first halves of each 16 bytes, or of the second. */
SIMD_INLINE piece interleave(int second, int bytes, piece a, piece b)
{
    switch (bytes) {
    case 1:
        return second ? HIGH_1(a, b) : LOW_1(a, b);
    case 2:
        return second ? HIGH_2(a, b) : LOW_2(a, b);
    case 4:
        return second ? HIGH_4(a, b) : LOW_4(a, b);
    default:
        return second ? HIGH_8(a, b) : LOW_8(a, b);
    }
}

/* Loads 16 bytes of each of PIECES rows, which are `apart` bytes from each other. */
SIMD_INLINE piece load_piece(const char *from, ptrdiff_t apart)
{
#if PIECES == 4
    const __m256i low = _mm256_loadu2_m128i((const __m128i *)(from + apart), (const __m128i *)from);
    const __m256i high = _mm256_loadu2_m128i((const __m128i *)(from + 3 * apart),
                                             (const __m128i *)(from + 2 * apart));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#elif PIECES == 2
    return _mm256_loadu2_m128i((const __m128i *)(from + apart), (const __m128i *)from);
#else
    piece loaded;
    (void)apart;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
#endif
}

/* Transposes a tile of `bytes` bytes an element: 16 / bytes columns of PIECES times as many rows,
 * which are `pitch` bytes from each other. columns[i] gets column i. Piece i is interleaved with
 * the one half of them further, log2(16 / bytes) times. */
SIMD_INLINE void turn_pieces(const int bytes, const char *from, ptrdiff_t pitch, piece *columns)
{
    const int count = 16 / bytes;
    piece next[16];
    SIMD_UNROLL
    for (int i = 0; i < count; i++) {
        columns[i] = load_piece(from + i * pitch, count * pitch);
    }
    SIMD_UNROLL
    for (int stage = 1; stage < count; stage *= 2) {
        SIMD_UNROLL
        for (int i = 0; i < count / 2; i++) {
            next[2 * i] = interleave(0, bytes, columns[i], columns[i + count / 2]);
            next[2 * i + 1] = interleave(1, bytes, columns[i], columns[i + count / 2]);
        }
        SIMD_UNROLL
        for (int i = 0; i < count; i++) {
            columns[i] = next[i];
        }
    }
}

#endif
