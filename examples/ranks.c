/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - four ranks each have a part of an array, and all get the sum of the parts. */
#include <isomer/isomer.h>
#include <stdio.h>

enum { RANKS = 4, N = 1000 };

int main(void)
{
    iso_device device[RANKS];
    iso_stream stream[RANKS];
    iso_comm comm[RANKS];
    iso_comm_args args[RANKS];
    iso_comm_call calls[RANKS];
    float part[N];
    for (int i = 0; i < RANKS; i++) {
        if (iso_device_open("openmp", &device[i]) || iso_stream_create(device[i], 0, &stream[i])) {
            return fprintf(stderr, "%s\n", iso_last_error()), 1;
        }
    }
    if (iso_comm_create(device, RANKS, NULL, comm)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    for (int i = 0; i < RANKS; i++) {
        args[i] = (iso_comm_args)ISO_COMM_ARGS_INIT;
        args[i].op = ISO_COMM_ALL_REDUCE, args[i].dtype = ISO_F32, args[i].count = N;
        args[i].sum = ISO_COMM_SUM_ORDERED; /* the same bits with every engine */
        for (int k = 0; k < N; k++) {
            part[k] = 0.1f * (float)(i + k);
        }
        if (iso_buffer_create(device[i], sizeof part, &args[i].from.buffer) ||
            iso_write(stream[i], args[i].from, part, sizeof part) || iso_stream_sync(stream[i])) {
            return fprintf(stderr, "%s\n", iso_last_error()), 1;
        }
        args[i].to = args[i].from; /* in place */
        calls[i] = (iso_comm_call){comm[i], stream[i], &args[i]};
    }
    /* One thread makes the calls of all ranks, so they are a group. */
    if (iso_comm_run_group(calls, RANKS) || iso_read(stream[2], part, args[2].to, sizeof part) ||
        iso_stream_sync(stream[2])) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    printf("rank 2 has %.6f ... %.6f\n", (double)part[0], (double)part[N - 1]);
    for (int i = 0; i < RANKS; i++) {
        if (iso_comm_destroy(comm[i]) || iso_device_close(device[i])) {
            return fprintf(stderr, "%s\n", iso_last_error()), 1;
        }
    }
    return 0;
}
