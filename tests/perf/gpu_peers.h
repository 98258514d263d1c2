/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_peers.h - the vendor's own calls, with which the GPU backends are compared, on the stream and
 * the memory of the measured device. */
#ifndef ISOMER_TESTS_PERF_GPU_PEERS_H
#define ISOMER_TESTS_PERF_GPU_PEERS_H

#include <isomer/isomer.h>

typedef struct gpu_peers {
    int opencl;
    void *stream; /* native */
    void *blas;   /* cuBLAS's handle */
    void *temporary;
    int64_t temporary_bytes;
    iso_device device;
    char name[64];
} gpu_peers;

/* 0: not available; gpu_peers_problem says why. */
int gpu_peers_open(gpu_peers *peers, const char *backend, iso_device device, iso_stream stream);
int gpu_peers_open_gemm(gpu_peers *peers);
int gpu_peers_open_sum(gpu_peers *peers);
const char *gpu_peers_problem(void);
const char *gpu_peers_name(const gpu_peers *peers); /* of the library for products */

/* Each submits to the stream; anything but 0 is a failure. */
int gpu_peers_gemm(gpu_peers *peers, const iso_gemm_args *args);
int gpu_peers_copy(gpu_peers *peers, iso_operand to, iso_operand from, int64_t bytes);
int gpu_peers_sum(gpu_peers *peers, iso_operand x, iso_operand result, int64_t count,
                  iso_dtype dtype);

#endif
