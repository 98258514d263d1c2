/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - products of signed bytes with sums of 32 bits, as a BLAS computes them. */
#include "tests/fakes/blas.h"

#include <string.h>

static const int8_t *vector_of(const fake_matrix *matrix, int64_t number, int64_t i)
{
    return (const int8_t *)matrix->at + number * matrix->stride + i * matrix->ld;
}

static int64_t dot(const int8_t *a, const int8_t *b, int64_t k)
{
    int64_t sum = 0;
    for (int64_t l = 0; l < k; l++) {
        sum += (int32_t)a[l] * b[l];
    }
    return sum;
}

static int32_t wrapped(int64_t alpha, int64_t sum, int64_t beta, int64_t old)
{
    return (int32_t)(uint32_t)((uint64_t)alpha * (uint64_t)sum + (uint64_t)beta * (uint64_t)old);
}

/* The job of a stream. A sum of products that needs more than 32 bits fails, because real libraries
 * wrap or saturate; so does the addition of one to C, unless FAKE_BYTES=wraps. FAKE_BYTES=wrong
 * plants a fault in the last sum. */
static int multiply(void *data)
{
    const fake_product *p = data;
    const bool wrong = strcmp(fake_text("FAKE_BYTES"), "wrong") == 0;
    const bool wraps = strcmp(fake_text("FAKE_BYTES"), "wraps") == 0;
    for (int64_t number = 0; number < p->batch; number++) {
        for (int64_t at = 0; at < p->m * p->n; at++) {
            const int64_t i = at % p->m, j = at / p->m;
            int32_t *to = (int32_t *)p->d + number * p->stride_d + j * p->ld_d + i;
            const int64_t old = p->beta != 0 ? *to : 0;
            const int64_t sum = dot(vector_of(&p->a, number, i), vector_of(&p->b, number, j), p->k);
            const int64_t total = wraps ? sum : sum + old;
            if (total != (int32_t)total) {
                return FAKE_LAUNCH_FAILED;
            }
            *to = wrapped((int64_t)p->alpha, sum, (int64_t)p->beta, old);
        }
    }
    if (wrong) {
        ((int32_t *)p->d)[0]++;
    }
    return FAKE_OK;
}

static bool on_device(const fake_matrix *matrix, int64_t vectors, int64_t depth, int64_t batch)
{
    return fake_on_device("of bytes", matrix->at,
                          fake_extent(depth, vectors, matrix->ld, matrix->stride, batch), FAKE_I8);
}

bool fake_bytes_fit(const fake_product *p)
{
    const uintptr_t places =
        (uintptr_t)p->a.at | (uintptr_t)p->b.at | (uintptr_t)p->d | (uintptr_t)p->c.at;
    return strcmp(fake_text("FAKE_BYTES"), "refuse") != 0 && p->a.trans && !p->b.trans &&
           (p->m | p->k | p->a.ld | p->b.ld | p->ld_d | p->a.stride | p->b.stride | p->stride_d) %
                   4 ==
               0 &&
           places % 4 == 0;
}

int fake_bytes_submit(fake_stream *stream, const fake_product *p)
{
    if (p->m < 1 || p->n < 1 || p->k < 0 || p->batch < 1 || !fake_ld_fits(p->k, p->a.ld) ||
        !fake_ld_fits(p->k, p->b.ld) || p->ld_d < p->m || p->d != p->c.at) {
        return FAKE_INVALID_VALUE;
    }
    if (!on_device(&p->a, p->m, p->k, p->batch) || !on_device(&p->b, p->n, p->k, p->batch) ||
        !fake_on_device("of words", p->d, fake_extent(p->m, p->n, p->ld_d, p->stride_d, p->batch),
                        FAKE_I32)) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, multiply, p, sizeof *p);
}
