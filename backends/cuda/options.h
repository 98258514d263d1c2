/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options for compiling every kernel of this project with NVRTC. The backend and
 * the offline compilation use this one list. */
#ifndef ISOMER_CUDA_OPTIONS_H
#define ISOMER_CUDA_OPTIONS_H

/* With these options, the compiler does not fuse a multiplication and an addition into one
 * operation, keeps subnormal numbers, and rounds divisions and square roots correctly. */
#define CUDA_ARCHITECTURE_OPTION "--gpu-architecture="
#define CUDA_COMPILE_OPTIONS                                                                       \
    "--std=c++14", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"
enum { CUDA_COMPILE_OPTION_COUNT = 5 };

#endif
