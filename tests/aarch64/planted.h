/* SPDX-License-Identifier: Apache-2.0 */
/* planted.h - included before a file of NEON kernels, it plants a difference: fma rounds the
 * product too. */
#include <arm_neon.h>

#define vfmaq_f32(sum, x, y) vaddq_f32(sum, vmulq_f32(x, y))
#define vfmaq_f64(sum, x, y) vaddq_f64(sum, vmulq_f64(x, y))
