/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h - the kernel sources of this folder, embedded in the library by the build. */
#ifndef ISOMER_KERNELS_TEXTS_H
#define ISOMER_KERNELS_TEXTS_H

extern const char kernel_text_dialect[];
extern const char kernel_text_fill[];
extern const char kernel_text_gemm_naive[];
extern const char kernel_text_gemm_tiled[];
extern const char kernel_text_map[];
extern const char kernel_text_reduce[];
extern const char kernel_text_reduce_steps[];
extern const char kernel_text_reduce_stream[];
extern const char kernel_text_transpose[];

#endif
