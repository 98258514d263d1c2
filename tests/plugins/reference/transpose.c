/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.c - elements are moved unchanged, whatever they mean: NaN payloads are kept. */
#include "tests/plugins/reference/reference.h"

#include <string.h>

enum { ELEMENT_MAX = 16 };

iso_status ref_transpose_supports(const iso_transpose_op *transpose)
{
    if (transpose->variant != ISO_VARIANT_NAIVE && transpose->variant != ISO_VARIANT_TILED) {
        return ref_host->fail(ISO_UNSUPPORTED,
                              "transpose variant %d: there is no vendor's library and "
                              "no matrix unit here, only naive and tiled",
                              (int)transpose->variant);
    }
    if (transpose->element_bytes < 1 || transpose->element_bytes > ELEMENT_MAX) {
        return ref_host->fail(ISO_UNSUPPORTED, "transpose of elements of %lld bytes: at most %d",
                              (long long)transpose->element_bytes, ELEMENT_MAX);
    }
    return ISO_OK;
}

/* Copies one element. */
static void move(unsigned char *to, const unsigned char *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
    PLANT(29, if (bytes == 4 && (from[3] & 0x7f) == 0x7f && from[2] > 0x80) to[2] |= 0x40);
    PLANT(31, if (bytes == 16) memcpy(to + 8, from, 8));
}

/* A square matrix in place: each element is swapped with its mirror image. */
static void in_place(const iso_transpose_op *t)
{
    unsigned char *base = ref_at(t->from);
    unsigned char kept[ELEMENT_MAX];
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = i + 1; j < t->cols; j++) {
            unsigned char *above = base + (i * t->ld_from + j) * t->element_bytes;
            unsigned char *below = base + (j * t->ld_from + i) * t->element_bytes;
            move(kept, above, t->element_bytes);
            move(above, below, t->element_bytes);
            move(below, MUTATE(30, above, kept), t->element_bytes);
        }
    }
}

static void out_of_place(const iso_transpose_op *t)
{
    const int64_t ld_to = MUTATE(26, LESSER(t->ld_from, t->ld_to), t->ld_to);
    const int64_t rows = MUTATE(33, t->rows > 4 ? t->rows / 4 * 4 : t->rows, t->rows);
    const int64_t cols = t->cols - MUTATE(27, 1, 0);
    const int64_t bytes = t->element_bytes - MUTATE(28, t->element_bytes == 2, 0);
    const unsigned char *from = ref_at(t->from) - MUTATE(32, t->from.offset, 0);
    unsigned char *to = ref_at(t->to);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            move(to + (j * ld_to + i) * t->element_bytes,
                 from + (i * t->ld_from + j) * t->element_bytes, bytes);
        }
    }
}

/* The core allows source and target to overlap only if they are identical. */
void ref_transpose(const iso_transpose_op *transpose)
{
    if (ref_at(transpose->from) == ref_at(transpose->to)) {
        in_place(transpose);
    } else {
        out_of_place(transpose);
    }
}
