/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - follows a random walk on a ring: the sparse matrix says where each step leads, and has
 * two entries in each row. */
#include <isomer/isomer.h>
#include <stdio.h>

enum { N = 1000, STEPS = 100 };

int main(void)
{
    static int32_t offsets[N + 1], columns[2 * N];
    static float values[2 * N], chance[N];
    iso_device device;
    iso_stream stream;
    iso_sparse_args ring = ISO_SPARSE_ARGS_INIT;
    iso_spmv_args args = ISO_SPMV_ARGS_INIT;
    for (int i = 0; i < N; i++) { /* half of each place's chance goes to either side */
        columns[2 * i] = (i + N - 1) % N, columns[2 * i + 1] = (i + 1) % N;
        values[2 * i] = values[2 * i + 1] = 0.5f;
        offsets[i + 1] = 2 * i + 2;
    }
    chance[0] = 1; /* where the walk begins */
    ring.dtype = ISO_F32, ring.index = ISO_I32;
    ring.rows = ring.cols = N, ring.entries = 2 * N;
    ring.offsets = offsets, ring.columns = columns, ring.values = values;
    if (iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream) ||
        iso_sparse_create(device, &ring, &args.matrix) ||
        iso_buffer_create(device, sizeof chance, &args.x.buffer) ||
        iso_buffer_create(device, sizeof chance, &args.y.buffer) ||
        iso_write(stream, args.x, chance, sizeof chance)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    for (int step = 0; step < STEPS; step++) {
        const iso_operand x = args.x;
        if (iso_spmv(stream, &args)) {
            return fprintf(stderr, "%s\n", iso_last_error()), 1;
        }
        args.x = args.y, args.y = x; /* the result is the next step's x */
    }
    if (iso_read(stream, chance, args.x, sizeof chance) || iso_stream_sync(stream)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    printf("back at the start after %d steps: %.6f\n", STEPS, (double)chance[0]);
    return iso_device_close(device) != ISO_OK;
}
