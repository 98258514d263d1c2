/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.cl - one instruction of AMD's matrix units for f64 and f32. A wave of 64 work-items
 * multiplies 16 x 4 by 4 x 16 elements and adds the products to 16 x 16 sums. Work-item `lane` of
 * it has
 *
 *   a    the element of A in row lane % 16 and column lane / 16
 *   b    the element of B in row lane / 16 and column lane % 16
 *   c    four sums, in column lane % 16; c[r] is in row ISO_WAVE_ROW(lane, r)
 */
#if ISO_DTYPE == ISO_F64
#define ISO_WAVE_ROW(lane, r) ((r) * 4 + (lane) / 16)
#define ISO_WAVE_BUILTIN      __builtin_amdgcn_mfma_f64_16x16x4f64
#else
#define ISO_WAVE_ROW(lane, r) ((lane) / 16 * 4 + (r))
#define ISO_WAVE_BUILTIN      __builtin_amdgcn_mfma_f32_16x16x4f32
#endif

/* A compute unit has four processors; each should have room for its waves of all groups. */
#undef ISO_KERNEL_OF
#define ISO_KERNEL_OF(threads, groups)                                                             \
    extern "C" __global__ void __launch_bounds__(threads, (threads) / 64 * (groups) / 4)

#if defined(__AMDGCN__)
typedef acc iso_acc4 __attribute__((ext_vector_type(4)));
ISO_INLINE void iso_wave(acc *c, acc a, acc b)
{
    iso_acc4 sums = {c[0], c[1], c[2], c[3]};
    sums = ISO_WAVE_BUILTIN(a, b, sums, 0, 0, 0);
    c[0] = sums.x;
    c[1] = sums.y;
    c[2] = sums.z;
    c[3] = sums.w;
}
#define ISO_WAVE(c, a, b) iso_wave((c), (a), (b))
#else /* the tests' stand-in for a compiler has a model of it */
#define ISO_WAVE(c, a, b) fake_wave((c), (a), (b))
#endif
