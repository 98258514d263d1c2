/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_by_hand.c - the kernels of kernels.isk, as loops of OpenMP. */
#include "tests/perf/kernels_by_hand.h"

enum { GROUP = 256, TILE = 32 };

void by_hand_add(const float *restrict x, const float *restrict y, float *restrict z, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        z[i] = x[i] + y[i];
    }
}

void by_hand_stencil(const float *restrict from, float *restrict to, int64_t rows, int64_t cols)
{
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
#pragma omp simd
        for (int64_t col = 0; col < cols; col++) {
            const int64_t at = row * cols + col;
            const float left = col > 0 ? from[at - 1] : 0.0f;
            const float right = col + 1 < cols ? from[at + 1] : 0.0f;
            const float above = row > 0 ? from[at - cols] : 0.0f;
            const float below = row + 1 < rows ? from[at + cols] : 0.0f;
            to[at] = 0.2f * (from[at] + ((left + right) + (above + below)));
        }
    }
}

/* The borders of each row by themselves, so that nothing is asked inside. */
void by_hand_stencil_split(const float *restrict from, float *restrict to, int64_t rows,
                           int64_t cols)
{
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const float *at = from + row * cols;
        const float *above = row > 0 ? at - cols : 0, *below = row + 1 < rows ? at + cols : 0;
        float *result = to + row * cols;
        for (int64_t col = 0; col < cols; col += cols > 1 ? cols - 1 : 1) {
            const float left = col > 0 ? at[col - 1] : 0, right = col + 1 < cols ? at[col + 1] : 0;
            result[col] =
                0.2f * (at[col] +
                        ((left + right) + ((above ? above[col] : 0) + (below ? below[col] : 0))));
        }
        if (above && below) {
#pragma omp simd
            for (int64_t col = 1; col < cols - 1; col++) {
                result[col] =
                    0.2f * (at[col] + ((at[col - 1] + at[col + 1]) + (above[col] + below[col])));
            }
            continue;
        }
        for (int64_t col = 1; col < cols - 1; col++) {
            result[col] =
                0.2f * (at[col] + ((at[col - 1] + at[col + 1]) +
                                   ((above ? above[col] : 0) + (below ? below[col] : 0))));
        }
    }
}

void by_hand_block_sum(const float *restrict x, int64_t n, float *restrict sums)
{
#pragma omp parallel for schedule(static)
    for (int64_t group = 0; group < (n + GROUP - 1) / GROUP; group++) {
        const int64_t first = group * GROUP, left = n - first < GROUP ? n - first : GROUP;
        float part[GROUP];
        for (int i = 0; i < GROUP; i++) {
            part[i] = i < left ? x[first + i] : 0;
        }
        for (int s = GROUP / 2; s > 0; s /= 2) {
#pragma omp simd
            for (int i = 0; i < s; i++) {
                part[i] += part[i + s];
            }
        }
        sums[group] = part[0];
    }
}

void by_hand_transpose(const float *restrict from, float *restrict to, int64_t rows, int64_t cols)
{
#pragma omp parallel for schedule(static) collapse(2)
    for (int64_t row = 0; row < rows; row += TILE) {
        for (int64_t col = 0; col < cols; col += TILE) {
            const int64_t down = rows - row < TILE ? rows - row : TILE;
            const int64_t across = cols - col < TILE ? cols - col : TILE;
            for (int64_t j = 0; j < across; j++) {
                for (int64_t i = 0; i < down; i++) {
                    to[(col + j) * rows + row + i] = from[(row + i) * cols + col + j];
                }
            }
        }
    }
}
