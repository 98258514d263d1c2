/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse.h - sparse matrices: most elements are zero, and only the others are stored. iso_spmv
 * (op.h) multiplies one with a vector.
 *
 * A matrix is given in compressed rows (CSR): the entries of row i are those with the numbers
 * offsets[i] up to offsets[i + 1], and each has a column and a value. It belongs to a device, which
 * keeps it until it is destroyed. For example, the matrix
 *
 *   1 0 2      offsets 0 2 2 3
 *   0 0 0      columns 0 2 1
 *   0 3 0      values  1 2 3
 */
#ifndef ISOMER_SPARSE_H
#define ISOMER_SPARSE_H

#include <isomer/memory.h>
#include <isomer/stream.h>
#include <isomer/types.h>

ISO_BEGIN_DECLS

/* A sparse matrix on a device. */
typedef struct iso_sparse {
    uint64_t id;
} iso_sparse;

/* Flags of a sparse matrix. */
enum {
    /* Keep no transposed copy: about half the memory, on the device and on the host. Transposed
     * products are then INVALID. */
    ISO_SPARSE_NO_TRANSPOSE = 1,
    /* Offsets and columns that are given as i64 are i64 on the device too. Without this flag they
     * are i32 there if that is enough, which is less to read. */
    ISO_SPARSE_KEEP_INDEX = 2
};

/* A matrix in host memory, from which one on a device is made. */
typedef struct iso_sparse_args {
    uint32_t size;
    iso_dtype dtype;             /* of the values: f32 or f64 */
    iso_dtype index;             /* of offsets and columns: i32 or i64 */
    uint32_t flags;              /* ISO_SPARSE_... */
    int64_t rows, cols, entries; /* its size, and how many elements are stored */
    const void *offsets; /* rows + 1: the first is 0, none is less than the one before, the last is
                            `entries` */
    const void *columns; /* entries: 0 or more and less than cols; in any order, and the same
                            column may occur more than once in a row */
    const void *values;  /* entries: any, also infinities and NaN */
} iso_sparse_args;
#define ISO_SPARSE_ARGS_INIT ISO_INIT_OF(iso_sparse_args)

/*
 * Checks the arrays, which are in host memory, and copies them to the device. The caller's arrays
 * may be freed afterwards. The order of a row's entries is kept: it is the order in which products
 * add them (docs/bits.md). columns and values may be NULL if there are no entries. Rows, columns
 * and entries may be 0.
 *
 * Unless ISO_SPARSE_NO_TRANSPOSE is set, the device also gets a transposed copy, so that transposed
 * products are as fast as others and their bits are defined. The host keeps the place of each entry
 * in that copy for iso_sparse_write: 4 bytes an entry, or 8 if the device's index is i64.
 *
 * INVALID: an unknown type or flag, a negative size, a NULL, or arrays that are not a matrix; the
 * message names the row and the entry. NO_MEMORY: the memory limit, the device's or the host's
 * memory; nothing is kept then.
 */
ISO_API iso_status iso_sparse_create(iso_device device, const iso_sparse_args *args,
                                     iso_sparse *out);

/* Waits for the work that uses the matrix, and frees it. */
ISO_API iso_status iso_sparse_destroy(iso_sparse sparse);

/* What is known of a sparse matrix. */
typedef struct iso_sparse_info {
    uint32_t size;
    iso_dtype dtype;             /* of the values */
    iso_dtype index;             /* of offsets and columns on the device */
    uint32_t flags;              /* ISO_SPARSE_... */
    iso_device device;           /* to which it belongs */
    int64_t rows, cols, entries; /* as it was made */
    int64_t longest;             /* entries of the longest row */
    int64_t empty;               /* rows without entries */
    int64_t bytes;               /* of device memory, with the transposed copy */
} iso_sparse_info;
#define ISO_SPARSE_INFO_INIT ISO_INIT_OF(iso_sparse_info)

/* Fills `*out` (set its size first). INVALID: not a sparse matrix, NULL, wrong size. */
ISO_API iso_status iso_sparse_get_info(iso_sparse sparse, iso_sparse_info *out);

/*
 * Replaces all values; the places of entries stay. `bytes` must be the size of all values, which
 * are in the order that iso_sparse_create was given. Ordered on the stream like iso_write. With a
 * transposed copy the call returns when the write has run; otherwise it may return before, and the
 * values must stay unchanged until then.
 *
 * INVALID: a wrong handle, a NULL or another size. MISMATCH: the matrix and the stream belong to
 * different devices. NO_MEMORY: no host memory to order the values of the transposed copy.
 */
ISO_API iso_status iso_sparse_write(iso_stream stream, iso_sparse sparse, const void *values,
                                    int64_t bytes);

ISO_END_DECLS

#endif
