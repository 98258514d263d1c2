/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - the processor's own limits, with which the CPU backend is compared, measured by plain
 * loops. */
#ifndef ISOMER_TESTS_PERF_PEERS_H
#define ISOMER_TESTS_PERF_PEERS_H

#include <stdint.h>

/* Gflop/s of f32 fused multiply-adds that depend only on registers, on `threads` threads. */
double peer_fma_peak(int threads);

/* Seconds to read `count` floats once with vector loads, on `threads` threads. */
double peer_read(const float *data, int64_t count, int threads);

/* Seconds on a monotonic clock. */
double peer_now(void);

/* The name of the instruction set that the two above use. */
const char *peer_isa(void);

#endif
