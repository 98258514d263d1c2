/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.h - where operands lie, and whether two of them share a byte. */
#ifndef ISOMER_CORE_OVERLAP_H
#define ISOMER_CORE_OVERLAP_H

#include <stdint.h>

/* Where an operand's bytes lie, counted from its first: `batch` matrices, `stride` apart, of `rows`
 * rows, `pitch` apart, of `width` bytes. */
typedef struct core_layout {
    int64_t bytes; /* from the first to the last, 64 bits hold them; 0: it is not touched */
    int64_t width;
    int64_t rows, pitch;   /* pitch: only where there are several rows */
    int64_t batch, stride; /* stride: only where there are several matrices */
} core_layout;

typedef enum core_overlap {
    CORE_APART = 0,
    CORE_MEET = 1,   /* some byte belongs to both */
    CORE_UNKNOWN = 2 /* three or more distances, and too many matrices to try: to be refused */
} core_overlap;

/* Two operands in one buffer; `at` are their offsets, and both end within 63 bits. */
core_overlap core_layouts_meet(int64_t a_at, const core_layout *a, int64_t b_at,
                               const core_layout *b);
/* Two matrices of one batch. */
core_overlap core_layout_meets_itself(const core_layout *layout);
/* Bytes that follow each other. */
core_layout core_run(int64_t bytes);

#endif
