/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_bytes.c - the test of int8 matrix units. Sums of products of bytes are exact, so no order of
 * additions can be wrong. But the instructions define which work-item has which elements, and how a
 * sum beyond 31 bits wraps. So the kernel itself is tested, with every tile, on planes with sizes
 * that are not multiples of a tile, and with the second of two parts of k.
 */
#include "backends/simt/fixed_matrix.h"
#include "backends/simt/unit.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    ROWS = 150,
    COLS = 272,
    PITCH = 384, /* more slices than there are places for them */
    DEPTH = 64,  /* of a slice */
    MODULI = 2,
    PLANES_A = MODULI * ROWS * PITCH,
    PLANES_B = MODULI * COLS * PITCH,
    INPUTS = PLANES_A + PLANES_B,
    SUMS = MODULI * ROWS * COLS,
    TILES = 2
};

static bool has(const simt_limits *limits, const char **problem)
{
    *problem = limits->byte_unit_problem;
    return simt_fixed_matrix_tiles(limits) > 0;
}

static simt_spec spec_for(const simt_limits *limits)
{
    return simt_fixed_matrix_spec(limits, 0);
}

/* Bytes of all values; a fourth of them is extreme. */
static void make_inputs(void *inputs)
{
    static const int8_t extremes[] = {-128, 127, -127, -1};
    int8_t *to = inputs;
    uint32_t state = 1;
    for (int32_t i = 0; i < INPUTS; i++) {
        state = state * 1664525u + 1013904223u;
        const uint32_t m = state >> 16;
        to[i] = m % 4 ? (int8_t)(m >> 8) : extremes[m >> 2 & 3];
    }
}

/* Each tile's products are computed twice: the second time they are added to the first. A device
 * that has fewer tiles repeats the last. */
static iso_status launch(simt_stream *stream, void *memory)
{
    const int32_t last = simt_fixed_matrix_tiles(&stream->device->limits) - 1;
    iso_status status = ISO_OK;
    for (int32_t i = 0; i < 2 * TILES && status == ISO_OK; i++) {
        const simt_fixed_matrix product = {.memory = memory,
                                           .planes_b = PLANES_A,
                                           .residues = INPUTS + (int64_t)(i / 2) * SUMS,
                                           .rows = ROWS,
                                           .cols = COLS,
                                           .members = 1,
                                           .pitch = PITCH,
                                           .moduli = MODULI,
                                           .later = i % 2};
        status = simt_fixed_matrix_by(stream, &product, i / 2 < last ? i / 2 : last);
    }
    return status;
}

static simt_verdict compare(const void *inputs, const void *results, char *reason, size_t room)
{
    static const int32_t moduli[MODULI] = {256, 255};
    const int8_t *a = inputs;
    const int8_t *b = a + PLANES_A;
    const uint8_t *got = results;
    for (int32_t at = 0; at < SUMS; at++) {
        const int32_t c = at / (ROWS * COLS);
        const int8_t *x = a + (ptrdiff_t)c * ROWS * PITCH + (ptrdiff_t)(at / COLS % ROWS) * DEPTH;
        const int8_t *y = b + (ptrdiff_t)c * COLS * PITCH + (ptrdiff_t)(at % COLS) * DEPTH;
        int32_t sum = 0;
        for (int32_t k = 0; k < PITCH; k++) {
            const int32_t slice = k / DEPTH;
            sum += x[slice * ROWS * DEPTH + k % DEPTH] * y[slice * COLS * DEPTH + k % DEPTH];
        }
        sum = 2 * sum % moduli[c];
        sum += sum < 0 ? moduli[c] : 0;
        for (int32_t tile = 0; tile < TILES; tile++) {
            if (got[tile * SUMS + at] != sum) {
                (void)snprintf(reason, room,
                               "tile %" PRId32 " of its test gave %d for sum %" PRId32
                               ", which is %" PRId32 " modulo %" PRId32,
                               tile, got[tile * SUMS + at], at, sum, moduli[c]);
                return SIMT_UNIT_BAD;
            }
        }
    }
    return SIMT_UNIT_GOOD;
}

const simt_unit_test simt_unit_test_bytes = {
    .name = "int8 matrix units",
    .first_use = "the first fixed product that would use them",
    .has = has,
    .in = INPUTS,
    .out = (int64_t)TILES * SUMS,
    .spec = spec_for,
    .make = make_inputs,
    .launch = launch,
    .compare = compare,
};
