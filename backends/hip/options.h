/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options for compiling every kernel of this project with hipRTC: a single list,
 * for the backend, its trial program and offline compilation. */
#ifndef ISOMER_HIP_OPTIONS_H
#define ISOMER_HIP_OPTIONS_H

/* The architecture is the runtime's full name, with its features: "gfx90a:sramecc+:xnack-". No
 * product is contracted into a sum, subnormal numbers are kept, and division and roots are rounded
 * correctly, whatever the defaults of the compiler's version. */
#define HIP_ARCHITECTURE_OPTION "--offload-arch="
#define HIP_COMPILE_OPTIONS                                                                        \
    "-O3", "-std=c++14", "-ffp-contract=off", "-fno-fast-math",                                    \
        "-fno-gpu-flush-denormals-to-zero", "-fhip-fp32-correctly-rounded-divide-sqrt"
enum { HIP_COMPILE_OPTION_COUNT = 6, HIP_ARCHITECTURE_OPTION_MAX = 300 };

#endif
