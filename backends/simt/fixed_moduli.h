/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_moduli.h - how many moduli a fixed product needs. */
#ifndef ISOMER_SIMT_FIXED_MODULI_H
#define ISOMER_SIMT_FIXED_MODULI_H

#include <isomer/types.h>

#include <stdint.h>

enum { FIXED_REACHES = 4 };

/* Up to `reach[i]` terms, a sum is determined by `least + i` moduli: the number of terms times
 * (2^p - 1)^2, with p from clause 7 of docs/bits.md, is less than their product times 1/2 - 2^-21
 * (see kernels/fixed_join.cl). */
typedef struct fixed_moduli {
    int32_t least;
    int64_t reach[FIXED_REACHES];
} fixed_moduli;

static const fixed_moduli fixed_moduli_of[] = {
    [ISO_F16] = {6, {114910, 27463533, 6399003395, 1465371777600}},
    [ISO_BF16] = {6, {114910, 27463533, 6399003395, 1465371777600}},
    [ISO_F32] = {8, {24410, 5589945, 1268917526, 282968608301}},
    [ISO_F64] = {15, {1762, 340108, 64960689, 11757884816}},
};

#endif
