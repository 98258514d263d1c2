/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_by_hand.h - kernels that a user would write by hand for a CPU, with the library's bits.
 */
#ifndef ISOMER_TESTS_PERF_KERNELS_BY_HAND_H
#define ISOMER_TESTS_PERF_KERNELS_BY_HAND_H

#include <stdint.h>

void by_hand_add(const float *restrict x, const float *restrict y, float *restrict z, int64_t n);
void by_hand_stencil(const float *restrict from, float *restrict to, int64_t rows, int64_t cols);
void by_hand_stencil_split(const float *restrict from, float *restrict to, int64_t rows,
                           int64_t cols);
void by_hand_block_sum(const float *restrict x, int64_t n, float *restrict sums);
void by_hand_transpose(const float *restrict from, float *restrict to, int64_t rows, int64_t cols);

#endif
