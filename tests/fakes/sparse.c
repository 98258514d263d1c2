/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - implements sparse.h. */
#include "tests/fakes/sparse.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIVE = 0x5ba5e };

/* ---- objects --------------------------------------------------------------------------------- */

static bool aligned(const void *at, size_t bytes)
{
    return (uintptr_t)at % bytes == 0;
}

fake_csr *fake_csr_create(const fake_csr *f)
{
    const size_t index = f->wide ? 8 : 4;
    fake_csr *made = NULL;
    if (f->rows >= 0 && f->cols >= 0 && f->entries >= 0 &&
        (f->entries == 0 || (f->rows > 0 && f->cols > (f->entries - 1) / f->rows)) &&
        (f->wide || (f->rows <= INT32_MAX && f->cols <= INT32_MAX && f->entries <= INT32_MAX)) &&
        aligned(f->offsets, index) && aligned(f->columns, index) &&
        aligned(f->values, fake_type_bytes(f->type))) {
        made = malloc(sizeof *made);
    }
    if (made) {
        *made = *f;
        made->alive = ALIVE;
    }
    return made;
}

fake_vector *fake_vector_create(const fake_vector *f)
{
    fake_vector *made =
        f->size >= 0 && aligned(f->values, fake_type_bytes(f->type)) ? malloc(sizeof *made) : NULL;
    if (made) {
        *made = *f;
        made->alive = ALIVE;
    }
    return made;
}

bool fake_csr_destroy(fake_csr *matrix)
{
    if (!matrix || matrix->alive != ALIVE) {
        return false;
    }
    matrix->alive = 0;
    free(matrix);
    return true;
}

bool fake_vector_destroy(fake_vector *vector)
{
    if (!vector || vector->alive != ALIVE) {
        return false;
    }
    vector->alive = 0;
    free(vector);
    return true;
}

/* ---- products -------------------------------------------------------------------------------- */

bool fake_spmv_fits(const fake_spmv *p)
{
    return p->a && p->x && p->y && p->a->alive == ALIVE && p->x->alive == ALIVE &&
           p->y->alive == ALIVE && p->x->size == p->a->cols && p->y->size == p->a->rows &&
           p->x->type == p->a->type && p->y->type == p->a->type;
}

size_t fake_spmv_bytes(const fake_spmv *p)
{
    static atomic_int calls;
    const size_t more = strcmp(fake_text("FAKE_SPARSE"), "grow") == 0
                            ? (size_t)atomic_fetch_add(&calls, 1) << 10
                            : 0;
    return (size_t)(p->a->rows / 7 + p->a->entries / 11) * 4 + 40 + more;
}

unsigned fake_spmv_status(const fake_spmv *p)
{
    return p->a->rows > 1 ? (unsigned)strtoul(fake_text("FAKE_SPARSE"), NULL, 10) : 0;
}

/* A copy of the objects, which may be destroyed before the product runs. */
typedef struct work {
    fake_csr a;
    fake_vector x, y;
    double alpha, beta;
    void *scratch;
    size_t bytes;
    unsigned align_y;
} work;

static int64_t index_at(const fake_csr *a, const void *at, int64_t number)
{
    return a->wide ? ((const int64_t *)at)[number] : ((const int32_t *)at)[number];
}

static float row_f32(const work *w, int64_t first, int64_t end)
{
    const float *values = w->a.values, *x = w->x.values;
    float sum = 0;
    for (int64_t e = end; e-- > first;) {
        const float term = values[e] * x[index_at(&w->a, w->a.columns, e)];
        sum = sum + term;
    }
    return sum;
}

static double row_f64(const work *w, int64_t first, int64_t end)
{
    const double *values = w->a.values, *x = w->x.values;
    double sum = 0;
    for (int64_t e = end; e-- > first;) {
        const double term = values[e] * x[index_at(&w->a, w->a.columns, e)];
        sum = sum + term;
    }
    return sum;
}

static bool is_matrix(const fake_csr *a)
{
    for (int64_t i = 0; i < a->rows; i++) {
        if (index_at(a, a->offsets, i) > index_at(a, a->offsets, i + 1)) {
            return false;
        }
    }
    for (int64_t e = 0; e < a->entries; e++) {
        const int64_t column = index_at(a, a->columns, e);
        if (column < 0 || column >= a->cols) {
            return false;
        }
    }
    return index_at(a, a->offsets, 0) == 0 && index_at(a, a->offsets, a->rows) == a->entries;
}

static int multiply(void *data)
{
    const work *w = data;
    if (!is_matrix(&w->a) || (w->align_y && !aligned(w->y.values, w->align_y))) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    memset(w->scratch, 0xa5, w->bytes);
    for (int64_t i = 0; i < w->a.rows; i++) {
        const int64_t first = index_at(&w->a, w->a.offsets, i);
        const int64_t end = index_at(&w->a, w->a.offsets, i + 1);
        if (w->a.type == FAKE_F64) {
            double *y = (double *)w->y.values + i;
            *y = w->alpha * row_f64(w, first, end) + (w->beta == 0 ? 0 : w->beta * *y);
        } else {
            float *y = (float *)w->y.values + i;
            *y =
                (float)w->alpha * row_f32(w, first, end) + (w->beta == 0 ? 0 : (float)w->beta * *y);
        }
    }
    return FAKE_OK;
}

static bool on_device(const void *at, int64_t elements, size_t bytes)
{
    return elements == 0 || fake_is_device(at, (size_t)elements * bytes);
}

int fake_spmv_submit(fake_stream *stream, const fake_spmv *p)
{
    const size_t index = p->a->wide ? 8 : 4;
    const size_t element = fake_type_bytes(p->a->type);
    const work w = {.a = *p->a,
                    .x = *p->x,
                    .y = *p->y,
                    .alpha = p->alpha,
                    .beta = p->beta,
                    .scratch = p->scratch,
                    .bytes = fake_spmv_bytes(p),
                    .align_y = p->align_y};
    if (!on_device(w.a.offsets, w.a.rows + 1, index) ||
        !on_device(w.a.columns, w.a.entries, index) ||
        !on_device(w.a.values, w.a.entries, element) || !on_device(w.x.values, w.x.size, element) ||
        !on_device(w.y.values, w.y.size, element) || !fake_is_device(w.scratch, w.bytes) ||
        (uintptr_t)w.scratch % 128) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, multiply, &w, sizeof w);
}
