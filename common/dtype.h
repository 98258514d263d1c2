/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.h - the properties of each element type. */
#ifndef ISOMER_COMMON_DTYPE_H
#define ISOMER_COMMON_DTYPE_H

#include <isomer/types.h>

#include <stdbool.h>

typedef struct dtype_row {
    const char *name;
    int32_t bytes;
    bool floating;         /* real floating point */
    bool complex;          /* pairs of floating-point numbers */
    iso_dtype computes_in; /* sums and products are done in this type */
    uint8_t dlpack_code;   /* DLPack's number for this kind of type */
    uint64_t one;          /* the bits of 1 */
} dtype_row;

/* Returns NULL if no type has this number. The numbers of types begin with 1 and have no gaps. */
const dtype_row *dtype_get(iso_dtype dtype);

#endif
