/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.h - tables of kernels that a build compiled into the program (isomer/embedded.h). */
#ifndef ISOMER_CORE_KERNEL_EMBEDDED_H
#define ISOMER_CORE_KERNEL_EMBEDDED_H

#include "core/kernel/kernel.h"

/* Checks a table and copies it. */
iso_status kernel_embedded_read(const char *call, const iso_embedded *given, iso_embedded *out);

/* Checks what iso_embedded_text is given, and writes its text. The program was read. */
iso_status kernel_embedded_check(const char *call, const char *symbol, const char *const *sets,
                                 int32_t set_count);
void kernel_embedded_write(const core_program *program, const char *symbol, const char *const *sets,
                           int32_t set_count, core_text *out);

#endif
