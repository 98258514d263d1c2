/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c - the table of element types. */
#include "common/dtype.h"

#include <stddef.h>

enum { DLPACK_INT = 0, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_COMPLEX = 5 };

static const dtype_row rows[] = {
    [ISO_F16] = {"f16", 2, true, false, ISO_F32, DLPACK_FLOAT, 0x3c00},
    [ISO_BF16] = {"bf16", 2, true, false, ISO_F32, DLPACK_BFLOAT, 0x3f80},
    [ISO_F32] = {"f32", 4, true, false, ISO_F32, DLPACK_FLOAT, 0x3f800000},
    [ISO_F64] = {"f64", 8, true, false, ISO_F64, DLPACK_FLOAT, UINT64_C(0x3ff0000000000000)},
    [ISO_I32] = {"i32", 4, false, false, ISO_I32, DLPACK_INT, 1},
    [ISO_I64] = {"i64", 8, false, false, ISO_I64, DLPACK_INT, 1},
    [ISO_I8] = {"i8", 1, false, false, ISO_I32, DLPACK_INT, 1},
    [ISO_C64] = {"c64", 8, false, true, ISO_F32, DLPACK_COMPLEX, 0x3f800000},
    [ISO_C128] = {"c128", 16, false, true, ISO_F64, DLPACK_COMPLEX, 0},
};

const dtype_row *dtype_get(iso_dtype dtype)
{
    const bool known = (size_t)dtype < sizeof rows / sizeof rows[0] && rows[dtype].name;

    return known ? &rows[dtype] : NULL;
}
