/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h - shared by the files of this folder. */
#ifndef ISOMER_STATS_SORT_H
#define ISOMER_STATS_SORT_H

#include <stdint.h>

/* Returns a sorted copy, which the caller frees. NULL if there are no numbers, one of them is NaN,
 * or there is no memory; the caller's result is then NaN. */
double *stats_sorted(const double *x, int32_t n);

/* The median of sorted numbers; n > 0. */
double stats_middle(const double *sorted, int32_t n);

#endif
