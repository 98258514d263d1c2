/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.h - tables of measured choices (docs/tuning.md): what each variant of a product takes on
 * one device, and which way of the variant tiled is the fastest. The tool writes them, the library
 * reads them. Nothing here opens a file.
 */
#ifndef ISOMER_TUNED_H
#define ISOMER_TUNED_H

#include <isomer/device.h>
#include <isomer/op.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    TUNED_VERSION = 1,
    TUNED_LINE = 1024,     /* bytes of a line, with its end */
    TUNED_BYTES = 1 << 20, /* of a file */
    TUNED_ROWS = 8192,
    TUNED_WAY = 32, /* bytes of a way's name, with the final 0 */
    TUNED_NAME = 48 /* bytes of a file's name, with the final 0 */
};
#define TUNED_SIZE_MOST INT64_C(1000000000000) /* of a row */

/* The variants that have a time, in the order of the columns. */
typedef enum tuned_variant {
    TUNED_VENDOR = 0,
    TUNED_TILED = 1,
    TUNED_NAIVE = 2,
    TUNED_FIXED = 3,
    TUNED_VARIANTS = 4
} tuned_variant;
extern const iso_variant tuned_variants[TUNED_VARIANTS];

/* A product. The sizes are m, n, k and batch; with a vector n is 1. The layout has bit 1 if A is
 * transposed, and bit 0 if B is. */
enum { TUNED_SIZES = 4 };
typedef struct tuned_shape {
    iso_op_kind op; /* ISO_OP_GEMM or ISO_OP_GEMV */
    iso_dtype dtype;
    int32_t layout;
    int64_t sizes[TUNED_SIZES];
} tuned_shape;

/* Instead of a time: the variant was measured, and its result was wrong. */
enum { TUNED_WRONG = -1 };
typedef struct tuned_row {
    tuned_shape shape;
    int64_t times[TUNED_VARIANTS]; /* nanoseconds of a call; 0: not measured; TUNED_WRONG */
    char way[TUNED_WAY];           /* of tiled; "": the backend chooses */
    int32_t logs[TUNED_SIZES];     /* tuned_log of the sizes; tuned_read sets them */
    int32_t way_number;            /* for iso_gemm_op.way; the library sets it */
} tuned_row;

typedef struct tuned_table {
    char key[TUNED_LINE];      /* the device */
    char versions[TUNED_LINE]; /* of what the times depend on besides the device */
    char library[TUNED_LINE];  /* the vendor's; "": there was none */
    int32_t count;
    tuned_row rows[]; /* sorted by tuned_compare */
} tuned_table;

/* What identifies a device: its backend, name, vendor, chip, numbers of units and threads, and the
 * value of ISOMER_TILES. */
void tuned_key(const iso_device_info *info, const char *tiles, char *out, size_t room);
/* Whether two lines of versions end with the same part ", kernels WORD". A line without one is like
 * no other. */
bool tuned_same_kernels(const char *a, const char *b);
/* Whether two vendor's libraries differ at most in the later numbers of their versions: the name,
 * the first number and what follows the version are equal. If the first number is 0, the second one
 * counts instead. */
bool tuned_same_major(const char *a, const char *b);
/* The length of the path in the value of the property "tuned table"; 0: no table is in use. */
size_t tuned_told(const char *told, int *rows);
/* The name of the file for a key. */
void tuned_file_name(const char *key, char out[TUNED_NAME]);

/* Reads a file's text, which need not end with 0. Returns ISO_OK and a block for free(); INVALID,
 * and `problem` says which line is wrong and why; NO_MEMORY. */
iso_status tuned_read(const char *text, size_t bytes, tuned_table **out, char *problem,
                      size_t room);
/* Writes a table, whose rows need not be sorted; sorts them. False: writing failed. */
bool tuned_write(FILE *out, tuned_table *table);

/* Orders rows by operation, type, layout and sizes. */
int tuned_compare(const void *a, const void *b);
const char *tuned_layout_name(iso_op_kind op, int32_t layout);

/* log2 of a size of at least 1, in parts of TUNED_OCTAVE, rounded down, with straight lines between
 * the powers of two. */
enum { TUNED_OCTAVE = 1024 };
int32_t tuned_log(int64_t size);
/* The row that covers a shape: of the rows with its operation, type and layout whose every size
 * differs from the shape's by less than a factor of 2, the one with the least sum of the logarithms
 * of these factors, and of equals the first. Rows come last if only one of the two shapes has
 * matrices whose rows are whole words of 16 bytes. NULL: none. */
const tuned_row *tuned_find(const tuned_table *table, const tuned_shape *shape);

#endif
