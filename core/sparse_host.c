/* SPDX-License-Identifier: Apache-2.0 */
/* sparse_host.c - the arrays of a sparse matrix in host memory: checks them, counts segments, and
 * makes the transposed copy by counting, which keeps the order of entries. */
#include "core/sparse.h"

/* ---- checks ---------------------------------------------------------------------------------- */

/* Checks the offsets, so that every row lies within the entries. */
static iso_status check_offsets(const char *call, const core_rows *given)
{
    int64_t before = core_number(given->offsets, given->index, 0);

    if (before) {
        return core_fail(ISO_INVALID, "%s: offsets[0] is %lld: the entries of row 0 begin at 0",
                         call, (long long)before);
    }
    for (int64_t row = 0; row < given->rows; row++) {
        const int64_t end = core_number(given->offsets, given->index, row + 1);

        if (end < before) {
            return core_fail(ISO_INVALID,
                             "%s: row %lld: offsets go from %lld back to %lld: an offset is never "
                             "less than the one before",
                             call, (long long)row, (long long)before, (long long)end);
        }
        before = end;
    }
    if (before != given->entries) {
        return core_fail(ISO_INVALID,
                         "%s: offsets[%lld] is %lld, but entries is %lld: the last offset is the "
                         "number of entries",
                         call, (long long)given->rows, (long long)before,
                         (long long)given->entries);
    }
    return ISO_OK;
}

static iso_status refuse_column(const char *call, const core_rows *given, int64_t at)
{
    const int64_t column = core_number(given->columns, given->index, at);
    int64_t low = 0, high = given->rows;

    /* The row: the last one that begins at or before the entry and is not empty. */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;

        if (core_number(given->offsets, given->index, middle) <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    at -= core_number(given->offsets, given->index, low);
    if (!given->cols) {
        return core_fail(ISO_INVALID, "%s: row %lld has an entry, but cols is 0", call,
                         (long long)low);
    }
    return core_fail(
        ISO_INVALID,
        "%s: row %lld: entry %lld (number %lld of the matrix) has column %lld: columns "
        "are 0 to %lld",
        call, (long long)low, (long long)at,
        (long long)(core_number(given->offsets, given->index, low) + at), (long long)column,
        (long long)(given->cols - 1));
}

iso_status core_rows_check(const char *call, const core_rows *given)
{
    iso_status status = check_offsets(call, given);

    for (int64_t i = 0; i < given->entries && !status; i++) {
        const int64_t column = core_number(given->columns, given->index, i);

        if (column < 0 || column >= given->cols) {
            status = refuse_column(call, given, i);
        }
    }
    return status;
}

/* ---- segments -------------------------------------------------------------------------------- */

static int64_t length_of(const core_rows *given, int64_t row)
{
    return core_number(given->offsets, given->index, row + 1) -
           core_number(given->offsets, given->index, row);
}

static int64_t segments_of(int64_t length)
{
    return length > ISO_SPARSE_SEGMENT ? (length - 1) / ISO_SPARSE_SEGMENT + 1 : 1;
}

void core_rows_count(const core_rows *given, core_sparse_side *out)
{
    out->rows = given->rows;
    out->cols = given->cols;
    out->longest = out->segments = out->empty = 0;
    for (int64_t row = 0; row < given->rows; row++) {
        const int64_t length = length_of(given, row);

        out->longest = length > out->longest ? length : out->longest;
        out->empty += length == 0;
        out->segments += segments_of(length);
    }
}

void core_rows_starts(const core_rows *given, int64_t *out)
{
    int64_t segments = 0;

    for (int64_t row = 0; row < given->rows; row++) {
        out[row] = segments;
        segments += segments_of(length_of(given, row));
    }
    out[given->rows] = segments;
}

/* ---- the transpose --------------------------------------------------------------------------- */

/* While entries are placed, offsets[c] is where the next entry of column c goes; in the end that is
 * where the next column begins. */
#define DEFINE_TRANSPOSE(name, type)                                                               \
    static void name(const core_rows *given, type *offsets, type *rows_of, type *places)           \
    {                                                                                              \
        type before = 0;                                                                           \
                                                                                                   \
        for (int64_t c = 0; c <= given->cols; c++) {                                               \
            offsets[c] = 0;                                                                        \
        }                                                                                          \
        for (int64_t i = 0; i < given->entries; i++) {                                             \
            offsets[core_number(given->columns, given->index, i)]++;                               \
        }                                                                                          \
        for (int64_t c = 0; c <= given->cols; c++) {                                               \
            const type count = offsets[c];                                                         \
                                                                                                   \
            offsets[c] = before;                                                                   \
            before += count;                                                                       \
        }                                                                                          \
        for (int64_t row = 0; row < given->rows; row++) {                                          \
            const int64_t end = core_number(given->offsets, given->index, row + 1);                \
                                                                                                   \
            for (int64_t i = core_number(given->offsets, given->index, row); i < end; i++) {       \
                const type to = offsets[core_number(given->columns, given->index, i)]++;           \
                                                                                                   \
                rows_of[to] = (type)row;                                                           \
                places[to] = (type)i;                                                              \
            }                                                                                      \
        }                                                                                          \
        for (int64_t c = given->cols; c > 0; c--) {                                                \
            offsets[c] = offsets[c - 1];                                                           \
        }                                                                                          \
        offsets[0] = 0;                                                                            \
    }
DEFINE_TRANSPOSE(transpose_i32, int32_t)
DEFINE_TRANSPOSE(transpose_i64, int64_t)

void core_rows_transpose(const core_rows *given, iso_dtype index, void *offsets, void *rows_of,
                         void *places)
{
    if (index == ISO_I32) {
        transpose_i32(given, offsets, rows_of, places);
    } else {
        transpose_i64(given, offsets, rows_of, places);
    }
}

void core_values_order(const void *places, iso_dtype index, const void *values, iso_dtype dtype,
                       int64_t first, int64_t count, void *out)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = core_number(places, index, first + i);

        if (dtype == ISO_F32) { /* as integers: the bits stay as they are */
            ((uint32_t *)out)[i] = ((const uint32_t *)values)[at];
        } else {
            ((uint64_t *)out)[i] = ((const uint64_t *)values)[at];
        }
    }
}
