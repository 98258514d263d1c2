/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_rows.cl - maps of rows whose elements may have gaps.
 *
 *   MAP_RUN   elements of a row that each work-item handles
 *
 * A group handles a part of 2^shift * MAP_RUN columns and ISO_THREADS / 2^shift rows. So only the
 * number of the part is divided. A work-item reads all its elements before it writes any of them,
 * and no other work-item reads those, so z may be x, y or w.
 */
#define PLACE(o, row, col) (o##_at + (row) * o##_row + (col) * o##_col)

/* The numbers of columns and rows of a part, and how many parts there are. */
#define PART_COLS                  ((iso_i64)MAP_RUN << shift)
#define PART_ROWS                  (ISO_THREADS >> shift)
#define ALONG                      (((n - 1) >> shift) / MAP_RUN + 1)
#define FOR_PARTS(p, along, parts) for (p = ISO_GROUP_ID(); p < (parts); p += ISO_GROUP_COUNT())

/* Which part of a row the part p is: of less than 2^31 parts, in 32 bits. */
ISO_INLINE iso_i64 part_row(iso_i64 p, iso_i64 along, iso_i64 parts)
{
    return parts >> 31 ? p / along : (iso_i64)((iso_u32)p / (iso_u32)along);
}

/* The operands' arguments of a kernel. */
#define OPERAND(type, o) ISO_GLOBAL type *o, iso_i64 o##_at, iso_i64 o##_row, iso_i64 o##_col
#define EXTENT           iso_i64 n, iso_i64 rows, iso_i32 shift

/* Runs `body` for each part: `row` is the work-item's row, `col` its first column, and its columns
 * are `apart` elements apart. */
#define ROWS_BEGIN                                                                                 \
    const iso_i64 along = ALONG, parts = along * ((rows - 1) / PART_ROWS + 1);                     \
    const iso_i64 apart = (iso_i64)1 << shift;                                                     \
    iso_i64 p;                                                                                     \
    FOR_PARTS(p, along, parts)                                                                     \
    {                                                                                              \
        const iso_i64 down = part_row(p, along, parts);                                            \
        const iso_i64 row = down * PART_ROWS + (ISO_LOCAL_ID() >> shift);                          \
        const iso_i64 col =                                                                        \
            (p - down * along) * PART_COLS + (ISO_LOCAL_ID() & (iso_i32)(apart - 1));              \
        int r;                                                                                     \
        if (row < rows) {
#define ROWS_END                                                                                   \
    }                                                                                              \
    }
