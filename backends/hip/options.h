/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options for compiling every kernel of this project with hipRTC. The backend, its
 * trial program and the offline compilation use this one list. */
#ifndef ISOMER_HIP_OPTIONS_H
#define ISOMER_HIP_OPTIONS_H

/* The architecture is the full name that the runtime reports, with its features:
 * "gfx90a:sramecc+:xnack-". With these options, the compiler does not fuse a multiplication and an
 * addition into one operation, keeps subnormal numbers, and rounds divisions and square roots
 * correctly. All of these are set here, because compiler versions have different defaults. */
#define HIP_ARCHITECTURE_OPTION "--offload-arch="
#define HIP_COMPILE_OPTIONS                                                                        \
    "-O3", "-std=c++14", "-ffp-contract=off", "-fno-fast-math",                                    \
        "-fno-gpu-flush-denormals-to-zero", "-fhip-fp32-correctly-rounded-divide-sqrt"
enum { HIP_COMPILE_OPTION_COUNT = 6, HIP_ARCHITECTURE_OPTION_MAX = 300 };

#endif
