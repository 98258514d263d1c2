/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_flags.h - how a C compiler is called for the program's own kernels. */
#ifndef ISOMER_COMMON_KERNEL_FLAGS_H
#define ISOMER_COMMON_KERNEL_FLAGS_H

/* Options for every instruction set. NULL ends them. */
extern const char *const kernel_options[];
/* Further ones for gcc; clang does not know them. */
extern const char *const kernel_gcc_options[];

/* The flags of an instruction set, separated by blanks, up to a comma or the end; NULL: there is no
 * such set. */
const char *kernel_set_flags(const char *set);

#endif
