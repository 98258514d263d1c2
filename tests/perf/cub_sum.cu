/* SPDX-License-Identifier: Apache-2.0 */
/* cub_sum.cu - CUB's sum, for perf-gpu to compare with. Built where there is nvcc. */
#include <cub/device/device_reduce.cuh>

extern "C" int peer_cub_sum(void *temporary, size_t *bytes, const void *x, void *result,
                            long long count, int is_double, void *stream)
{
    if (is_double) {
        return (int)cub::DeviceReduce::Sum(temporary, *bytes, (const double *)x, (double *)result,
                                           count, (cudaStream_t)stream);
    }
    return (int)cub::DeviceReduce::Sum(temporary, *bytes, (const float *)x, (float *)result, count,
                                       (cudaStream_t)stream);
}
