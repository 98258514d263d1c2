/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - compiles if every entry of the CUDA backend's list of functions for sensors has the type
 * that NVIDIA's header declares, and its numbers are the vendor's. With ABI_PLANT one entry is
 * wrong, and it must not compile. */
#include <nvml.h>

#include "backends/cuda/symbols.h"

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " is not as large as " #theirs)
SAME_SIZE(nvml_device, nvmlDevice_t);
SAME_SIZE(nvml_utilization, nvmlUtilization_t);
_Static_assert(offsetof(nvml_utilization, busy) == offsetof(nvmlUtilization_t, gpu),
               "nvmlUtilization_t.gpu lies elsewhere");

#define SAME_VALUE(ours, number, theirs)                                                           \
    _Static_assert((long long)(theirs) == (number), #ours " is not " #theirs);
#define SAME_ERROR(theirs, number) _Static_assert((theirs) == (number), #theirs " is another");
NVML_VALUES(SAME_VALUE)
NVML_ERRORS(SAME_ERROR)

/* Required functions must be declared, and every declared function must match: a second declaration
 * of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = (int)sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
#define NOTHING(result, name, parameters)

CUDA_NVML_SYMBOLS(DECLARED, NOTHING)
CUDA_NVML_SYMBOLS(AGREES, AGREES)

#if defined(ABI_PLANT)
AGREES(nvml_code, nvmlDeviceGetPowerUsage, (nvml_device device, double *watts))
#endif
