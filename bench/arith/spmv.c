/* SPDX-License-Identifier: Apache-2.0 */
/* spmv.c - sparse matrices as inputs, and a plain model of their product with a vector: clause 12
 * of docs/bits.md. */
#include "bench/arith/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, SEGMENT = 4096 };

/* ---- matrices -------------------------------------------------------------------------------- */

const char *arith_form_name(arith_form form)
{
    static const char *const names[] = {"even", "random", "empty", "holes", "long"};
    return names[form];
}

static int64_t length_of(const arith_sparse_shape *s, int64_t row)
{
    const int64_t each = s->cols > 0 ? s->per_row : 0;
    const uint64_t mix = arith_mix(s->seed ^ 0x10ca1, (uint64_t)row);
    switch (s->form) {
    case ARITH_RANDOM:
        return (int64_t)(mix % (2 * (uint64_t)each + 1));
    case ARITH_EMPTY:
        return 0;
    case ARITH_HOLES:
        return row % 3 == 1 ? 0 : each;
    case ARITH_LONG:
        return each > 0 && row == s->rows / 2 ? 3 * SEGMENT + 17 : each;
    default:
        return each;
    }
}

int64_t arith_sparse_entries(const arith_sparse_shape *s)
{
    int64_t entries = 0;
    if (s->form == ARITH_EVEN) {
        return s->cols > 0 ? s->rows * s->per_row : 0;
    }
    for (int64_t row = 0; row < s->rows; row++) {
        entries += length_of(s, row);
    }
    return entries;
}

typedef struct filling {
    const arith_sparse_shape *shape;
    arith_sparse *out;
} filling;

/* Even rows have ascending columns, one in each of as many equal parts. The columns of all others
 * are random: in no order, and some more than once. */
static void fill_rows(void *context, int64_t begin, int64_t end)
{
    const filling *f = context;
    const arith_sparse_shape *s = f->shape;
    for (int64_t row = begin; row < end; row++) {
        const int64_t from = f->out->offsets[row], count = f->out->offsets[row + 1] - from;
        for (int64_t i = 0; i < count; i++) {
            const uint64_t mix = arith_mix(s->seed ^ 0xc01, (uint64_t)(from + i));
            int64_t low = 0, high = s->cols;
            if (s->form == ARITH_EVEN && count <= s->cols) {
                low = i * s->cols / count;
                high = (i + 1) * s->cols / count;
            }
            f->out->columns[from + i] = low + (int64_t)(mix % (uint64_t)(high - low));
        }
    }
}

bool arith_sparse_make(const arith_sparse_shape *s, iso_dtype dtype, arith_fill fill,
                       arith_sparse *out)
{
    const int64_t entries = arith_sparse_entries(s);
    *out = (arith_sparse){.dtype = dtype, .rows = s->rows, .cols = s->cols, .entries = entries};
    out->offsets = malloc((size_t)(s->rows + 1) * sizeof *out->offsets);
    out->columns = malloc((size_t)(entries + 1) * sizeof *out->columns);
    out->values = malloc((size_t)(entries + 1) * (size_t)iso_dtype_size(dtype));
    if (!out->offsets || !out->columns || !out->values) {
        arith_sparse_free(out);
        return false;
    }
    out->offsets[0] = 0;
    for (int64_t row = 0; row < s->rows; row++) {
        out->offsets[row + 1] = out->offsets[row] + length_of(s, row);
    }
    filling f = {s, out};
    arith_parallel(s->rows, 256, fill_rows, &f);
    arith_generate(dtype, fill, s->seed + 2, entries, out->values);
    return true;
}

void arith_sparse_free(arith_sparse *matrix)
{
    free(matrix->offsets);
    free(matrix->columns);
    free(matrix->values);
    *matrix = (arith_sparse){0};
}

bool arith_sparse_transpose(const arith_sparse *from, arith_sparse *out)
{
    const size_t size = (size_t)iso_dtype_size(from->dtype);
    *out = (arith_sparse){
        .dtype = from->dtype, .rows = from->cols, .cols = from->rows, .entries = from->entries};
    out->offsets = calloc((size_t)(from->cols + 2), sizeof *out->offsets);
    out->columns = malloc((size_t)(from->entries + 1) * sizeof *out->columns);
    out->values = malloc((size_t)(from->entries + 1) * size);
    if (!out->offsets || !out->columns || !out->values) {
        arith_sparse_free(out);
        return false;
    }
    /* offsets[c + 1] counts the entries of the columns before c, and then where c's next one is. */
    for (int64_t i = 0; i < from->entries; i++) {
        out->offsets[from->columns[i] + 2]++;
    }
    for (int64_t c = 0; c < from->cols; c++) {
        out->offsets[c + 1] += out->offsets[c];
    }
    for (int64_t row = 0; row < from->rows; row++) {
        for (int64_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
            const int64_t at = out->offsets[from->columns[i] + 1]++;
            out->columns[at] = row;
            memcpy((char *)out->values + (size_t)at * size,
                   (const char *)from->values + (size_t)i * size, size);
        }
    }
    return true;
}

/* ---- the product ----------------------------------------------------------------------------- */

typedef struct product {
    const arith_sparse *a;
    bool lanes; /* tiled; else naive */
    double alpha, beta;
    const void *x, *y;
    void *out;
} product;

#define SUM_BODY(T, FMA)                                                                           \
    static inline                                                                                  \
        __attribute__((always_inline)) T segment_##T(const product *p, int64_t from, int64_t end)  \
    {                                                                                              \
        const T *values = p->a->values, *x = p->x;                                                 \
        T lane[LANES] = {0};                                                                       \
        for (int64_t i = from; i < end; i++) {                                                     \
            T *acc = &lane[(i - from) % LANES];                                                    \
            *acc = FMA(values[i], x[p->a->columns[i]], *acc);                                      \
        }                                                                                          \
        for (int h = LANES / 2; h > 0; h /= 2)                                                     \
            for (int l = 0; l < h; l++)                                                            \
                lane[l] = lane[l] + lane[l + h];                                                   \
        return lane[0];                                                                            \
    }                                                                                              \
    static inline __attribute__((always_inline)) void rows_body_##T(const product *p,              \
                                                                    int64_t begin, int64_t end)    \
    {                                                                                              \
        const T alpha = (T)p->alpha, beta = (T)p->beta, *values = p->a->values, *x = p->x;         \
        for (int64_t row = begin; row < end; row++) {                                              \
            const int64_t from = p->a->offsets[row];                                               \
            const int64_t last = alpha == 0 ? from : p->a->offsets[row + 1];                       \
            T sum = 0;                                                                             \
            for (int64_t i = from; p->lanes && i < last; i += SEGMENT) {                           \
                T one = segment_##T(p, i, last - i < SEGMENT ? last : i + SEGMENT);                \
                sum = i == from ? one : sum + one;                                                 \
            }                                                                                      \
            for (int64_t i = from; !p->lanes && i < last; i++)                                     \
                sum = FMA(values[i], x[p->a->columns[i]], sum);                                    \
            ((T *)p->out)[row] =                                                                   \
                beta == 0 ? alpha * sum : FMA(alpha, sum, beta * ((const T *)p->y)[row]);          \
        }                                                                                          \
    }                                                                                              \
    static void rows_plain_##T(void *context, int64_t begin, int64_t end)                          \
    {                                                                                              \
        rows_body_##T(context, begin, end);                                                        \
    }                                                                                              \
    ARITH_FAST static void rows_fast_##T(void *context, int64_t begin, int64_t end)                \
    {                                                                                              \
        rows_body_##T(context, begin, end);                                                        \
    }

SUM_BODY(float, __builtin_fmaf)
SUM_BODY(double, __builtin_fma)

void arith_spmv(const arith_sparse *a, bool tiled, double alpha, double beta, const void *x,
                const void *y, void *out)
{
    product p = {a, tiled, alpha, beta, x, y, out};
    if (a->dtype == ISO_F64) {
        arith_parallel(a->rows, 64, ARITH_HAVE_FAST() ? rows_fast_double : rows_plain_double, &p);
    } else {
        arith_parallel(a->rows, 64, ARITH_HAVE_FAST() ? rows_fast_float : rows_plain_float, &p);
    }
}
