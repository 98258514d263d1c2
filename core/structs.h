/* SPDX-License-Identifier: Apache-2.0 */
/* structs.h - reads and fills structs whose `size` differs from this version's. */
#ifndef ISOMER_CORE_STRUCTS_H
#define ISOMER_CORE_STRUCTS_H

#include <isomer/isomer.h>

#include <stddef.h>

/* Copies the caller's struct into `to` (`known` bytes), extended with zeros. */
iso_status core_struct_read(const char *call, const char *name, const void *from, size_t least,
                            void *to, size_t known);
/* A reserved field must be 0 in a struct that is read. */
iso_status core_check_reserved(const char *call, const char *name, uint32_t value);
/* Checks the size of a struct to be filled. */
iso_status core_struct_check(const char *call, const char *name, const void *out, size_t least);
/* Fills it and keeps its size; fields beyond this version's are set to zero. */
void core_struct_write(void *out, const void *from, size_t known);
#define CORE_END_OF(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

#endif
