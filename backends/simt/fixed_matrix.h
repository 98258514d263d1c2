/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_matrix.h - products of bytes on a device's int8 matrix units, for the variant fixed. */
#ifndef ISOMER_SIMT_FIXED_MATRIX_H
#define ISOMER_SIMT_FIXED_MATRIX_H

#include "backends/simt/simt.h"

enum { SIMT_FIXED_MATRIX_PAD = 16 }; /* the columns must be a multiple of it */

/* Products of planes in slices, of vectors of `pitch` bytes, for each modulus and member.
 * All places are in bytes from the memory's beginning. */
typedef struct simt_fixed_matrix {
    void *memory;
    int64_t planes_a, planes_b, residues;
    int64_t rows, cols, members, pitch;
    int32_t moduli;
    bool later; /* there are residues of earlier parts of k */
} simt_fixed_matrix;

iso_status simt_fixed_matrix_multiply(simt_stream *stream, const simt_fixed_matrix *product);
iso_status simt_fixed_matrix_prepare(simt_device *device);
void simt_fixed_matrix_each(const simt_limits *limits, simt_visit *visit, void *context);

/* For the test of the unit: the number of tiles that the device can use, the program of one, and a
 * product with it. */
int32_t simt_fixed_matrix_tiles(const simt_limits *limits);
simt_spec simt_fixed_matrix_spec(const simt_limits *limits, int32_t tile);
iso_status simt_fixed_matrix_by(simt_stream *stream, const simt_fixed_matrix *product,
                                int32_t tile);

#endif
