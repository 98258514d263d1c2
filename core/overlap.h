/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.h - where operands lie, and whether two of them share a byte. */
#ifndef ISOMER_CORE_OVERLAP_H
#define ISOMER_CORE_OVERLAP_H

#include <stdint.h>

/* The layout of an operand's bytes, from its first: `batch` matrices, `stride` apart, of `rows`
 * rows, `pitch` apart, of `width` bytes. */
typedef struct core_layout {
    int64_t bytes; /* from the first to the last, within 64 bits; 0: it is not accessed */
    int64_t width;
    int64_t rows, pitch;   /* pitch: only used with several rows */
    int64_t batch, stride; /* stride: only used with several matrices */
} core_layout;

typedef enum core_overlap {
    CORE_APART = 0,
    CORE_MEET = 1,   /* some byte belongs to both */
    CORE_UNKNOWN = 2 /* three or more different strides, and too many matrices to try: refused */
} core_overlap;

/* Two operands in one buffer; `at` are their offsets, and both end within 63 bits. */
core_overlap core_layouts_meet(int64_t a_at, const core_layout *a, int64_t b_at,
                               const core_layout *b);
/* Two matrices of one batch. */
core_overlap core_layout_meets_itself(const core_layout *layout);
/* Contiguous bytes. */
core_layout core_run(int64_t bytes);

#endif
