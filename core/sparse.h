/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.h - sparse matrices of a device, and their arrays on the host while one is made. */
#ifndef ISOMER_CORE_SPARSE_H
#define ISOMER_CORE_SPARSE_H

#include "core/memory.h"

#include <isomer/sparse.h>

/* Device memory of a matrix. */
typedef struct core_array {
    void *memory; /* NULL: none */
    int64_t bytes;
} core_array;

/* Of so many columns or fewer the numbers fit u16. */
enum { CORE_ARRAYS = 5, CORE_NARROW_MOST = 1 << 16 };

/* What a product of the matrix or of its transpose gets. */
typedef struct core_sparse_side {
    union {
        struct {
            core_array offsets, columns, values;
            core_array starts; /* none if every row is one segment */
            core_array
                narrow; /* the columns as u16; none if there are more than CORE_NARROW_MOST */
        };
        core_array all[CORE_ARRAYS];
    };
    int64_t rows, cols;
    int64_t longest, segments, empty;
} core_sparse_side;

typedef struct core_sparse {
    core_child child;
    iso_dtype dtype, index;
    uint32_t flags;
    int64_t entries;
    core_sparse_side side[2]; /* as given, and transposed */
    void *places;             /* host memory, of type index: for each entry of the transposed copy,
                               * its number in the caller's order. NULL: there is no copy */
    _Atomic uint64_t used_by; /* bits of streams that may have work that uses it */
} core_sparse;

/* Called after the handle was retired: waits for products and frees the matrix. */
void core_sparse_finish(core_sparse *sparse);

/* ---- arrays on the host (sparse_host.c) ------------------------------------------------------ */

/* One side's arrays. `index` is their type. */
typedef struct core_rows {
    iso_dtype index;
    int64_t rows, cols, entries;
    const void *offsets, *columns;
} core_rows;

/* The number at place i of an array of i32 or i64. */
static inline int64_t core_number(const void *array, iso_dtype index, int64_t i)
{
    return index == ISO_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* Checks that the arrays are a matrix. */
iso_status core_rows_check(const char *call, const core_rows *given);
/* Counts segments, empty rows and the entries of the longest row. */
void core_rows_count(const core_rows *given, core_sparse_side *out);
/* Writes the number of segments before each row: rows + 1 numbers. */
void core_rows_starts(const core_rows *given, int64_t *out);
/* Makes the arrays of the transpose, of type `index`: cols + 1 offsets, and for each entry its row
 * and its number. Entries of a column stay in their order. */
void core_rows_transpose(const core_rows *given, iso_dtype index, void *offsets, void *rows_of,
                         void *places);
/* Writes `count` values of the transpose from entry `first` on. */
void core_values_order(const void *places, iso_dtype index, const void *values, iso_dtype dtype,
                       int64_t first, int64_t count, void *out);

#endif
