/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the suite `labs`: the rows of the five labs, each run on each device as its lab runs
 * it.
 *
 * A row makes entries: one for each way, type and size. An entry says what was computed, how its
 * result was checked, and its figures. Texts, numbers, curves and pictures are in the document, so
 * that the terminal and the report show the same.
 */
#ifndef ISOMER_LABS_INTERNAL_H
#define ISOMER_LABS_INTERNAL_H

#include "bench/tool.h"

#include <stddef.h>

typedef enum lab_scale {
    LAB_USUAL, /* the labs' own sizes where the device takes seconds for them */
    LAB_SMALL, /* sizes for a test */
    LAB_FULL   /* the labs' own sizes, however long they take */
} lab_scale;

/* The texts with the students' kernels. */
typedef enum lab_text { LAB_MATRIX, LAB_REDUCTIONS, LAB_ARRAYS, LAB_FIRST, LAB_TEXTS } lab_text;

struct lab_inputs;

/* A device while rows run on it. */
typedef struct lab {
    iso_device device;
    iso_stream stream;
    iso_event begin, end;
    iso_device_info info;
    bool on_cpu; /* its kernels run on processors of the host */
    lab_scale scale;
    iso_program programs[LAB_TEXTS];
    bool opened[LAB_TEXTS]; /* whether that was tried; then `programs` may still be none */
    struct lab_inputs *inputs;
    const char *row; /* that runs */
    json_t *entries;
} lab;

/* ---- entry.c: what the document says --------------------------------------------------------- */

/* Adds an entry. `dtype` may be 0. It is ok until one of the calls below says otherwise. */
json_t *lab_entry(lab *l, const char *what, iso_dtype dtype);
void lab_case(json_t *entry, const char *name, double value);
void lab_line(json_t *entry, const char *format, ...) ISO_PRINTF(2, 3); /* a text to be shown */

typedef struct lab_spread {
    double median, low, high, mean, deviation;
} lab_spread;
lab_spread lab_spread_of(double *values, int32_t count); /* sorts them */

/* Units: "s", "B/s", "FLOP/s", "B", "". */
void lab_figure(json_t *entry, const char *name, const char *unit, double value);
void lab_figure_of(json_t *entry, const char *name, const char *unit, const lab_spread *spread);
/* The work of one call, for the roofline. */
void lab_work_of(json_t *entry, double flops, double bytes);

void lab_curve_point(json_t *entry, const char *curve, const char *x_name, const char *y_name,
                     double x, double y, const char *label);
/* Adds a field as means of blocks, at most 64 x 64 of them. */
void lab_picture(json_t *entry, const char *name, const float *field, int64_t rows, int64_t cols);

/* How the result was checked; if it was wrong, the entry has no figures. */
bool lab_checked(json_t *entry, bool good, const char *format, ...) ISO_PRINTF(3, 4);
/* Ends the entry: `status` is what a call returned. False unless it is ISO_OK. */
bool lab_ok(lab *l, json_t *entry, iso_status status);
void lab_skip(json_t *entry, const char *format, ...) ISO_PRINTF(2, 3);

/* ---- time.c ---------------------------------------------------------------------------------- */

typedef iso_status lab_work(lab *l, void *context);

typedef struct lab_times {
    double first;      /* the first call, from its submission to its end */
    lab_spread kernel; /* the device's time for a call */
    lab_spread submit; /* the host's, until the call returns */
    lab_spread wall;   /* the host's, until its end */
} lab_times;

/* Calls `work` again and again, for about a quarter of a second, and times it in
 * seconds. */
iso_status lab_time(lab *l, lab_work *work, void *context, lab_times *out);
/* One timed call on the host's clock, from the submission to the end. */
iso_status lab_once(lab *l, lab_work *work, void *context, double *seconds);

/* ---- device.c -------------------------------------------------------------------------------- */

/* Opens what rows need. False: it printed why. */
bool lab_open(lab *l, const char *spec, lab_scale scale, struct lab_inputs *inputs,
              json_t *entries);
void lab_close(lab *l);
/* After a late error a stream runs nothing more: makes another one. */
void lab_revive(lab *l);
/* The kernel of a text. */
iso_status lab_kernel(lab *l, lab_text text, const char *name, iso_kernel *out);
iso_status lab_buffer(lab *l, int64_t bytes, iso_operand *out);
void lab_free(iso_operand *operands, int count); /* those that were made */
/* Whether the device and the host have room. If not, the entry is skipped. */
bool lab_fits(lab *l, json_t *entry, int64_t device_bytes, int64_t host_bytes);
/* What a processor is given at most, in seconds, before a size is skipped. */
double lab_patience(const lab *l);

/* ---- inputs.c: the same numbers on every device, and in the Python programs ------------------ */

struct lab_inputs *lab_inputs_make(void);
void lab_inputs_free(struct lab_inputs *inputs);
/* The first `count` numbers of a seed. They stay valid until more of this seed and type are asked
 * for. */
const void *lab_numbers(lab *l, uint64_t seed, iso_dtype dtype, int64_t count);
iso_status lab_write(lab *l, iso_operand to, uint64_t seed, iso_dtype dtype, int64_t count);
double lab_number(iso_dtype dtype, const void *numbers, int64_t index);

/* Rows of the product of the first two seeds' matrices, m x k and k x n, in f64. */
typedef struct lab_product {
    int64_t m, n, k;
    int32_t rows; /* how many were computed */
    double *values;
} lab_product;
const lab_product *lab_product_rows(lab *l, int64_t m, int64_t n, int64_t k);
int64_t lab_product_row(const lab_product *product, int32_t i); /* its number in the matrix */
/* The error of a result: the sum of |x - ref| over that of |ref|, and the greatest |x - ref| over
 * the greatest |ref|. */
void lab_product_error(const lab_product *product, iso_dtype dtype, const void *got, double *sums,
                       double *greatest);

/* ---- the rows -------------------------------------------------------------------------------- */

void lab_a1(lab *l), lab_a2(lab *l), lab_a3(lab *l), lab_a4(lab *l), lab_a5(lab *l);
void lab_b1(lab *l), lab_b2(lab *l);
void lab_c1(lab *l), lab_c2(lab *l), lab_c3(lab *l), lab_c4(lab *l), lab_c5(lab *l), lab_c6(lab *l);
void lab_d1(lab *l), lab_d2(lab *l), lab_d3(lab *l), lab_d4(lab *l), lab_d5(lab *l);
void lab_e1(lab *l), lab_e2(lab *l), lab_e3(lab *l), lab_e4(lab *l), lab_e6(lab *l);

/* ---- finish.c: figures that need several entries --------------------------------------------- */

/* Speed-ups over the CPU, f32 over f64, shares of roofs, and with `roofline` row E5. */
void lab_finish(json_t *entries, const json_t *devices, bool roofline);

/* ---- beside.c -------------------------------------------------------------------------------- */

/* Adds the entries of another program's file. Returns an exit code. */
int lab_beside(const char *path, json_t *entries);

#endif
