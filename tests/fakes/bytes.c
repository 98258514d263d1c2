/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - products of signed bytes with sums of 32 bits, as a BLAS computes them. */
#include "tests/fakes/blas.h"

#include <string.h>

static const int8_t *vector_of(const fake_matrix *matrix, int64_t number, int64_t i)
{
    return (const int8_t *)matrix->at + number * matrix->stride + i * matrix->ld;
}

/* The job of a stream. FAKE_BYTES=wrong plants a fault in its last sum. */
static int multiply(void *data)
{
    const fake_product *p = data;
    const bool wrong = strcmp(fake_text("FAKE_BYTES"), "wrong") == 0;
    for (int64_t number = 0; number < p->batch; number++) {
        for (int64_t j = 0; j < p->n; j++) {
            int32_t *to = (int32_t *)p->d + number * p->stride_d + j * p->ld_d;
            const int8_t *b = vector_of(&p->b, number, j);
            for (int64_t i = 0; i < p->m; i++) {
                const int8_t *a = vector_of(&p->a, number, i);
                int64_t sum = p->beta != 0 ? to[i] : 0;
                for (int64_t l = 0; l < p->k; l++) {
                    sum += (int32_t)a[l] * b[l];
                }
                if (sum != (int32_t)sum) {
                    return FAKE_LAUNCH_FAILED; /* real ones wrap or saturate */
                }
                to[i] = (int32_t)sum;
            }
        }
    }
    if (wrong) {
        ((int32_t *)p->d)[0]++;
    }
    return FAKE_OK;
}

static bool on_device(const fake_matrix *matrix, int64_t vectors, int64_t depth, int64_t batch)
{
    const int64_t bytes = (batch - 1) * matrix->stride + (vectors - 1) * matrix->ld + depth;
    return fake_is_device(matrix->at, (size_t)bytes);
}

bool fake_bytes_fit(const fake_product *p)
{
    const uintptr_t places =
        (uintptr_t)p->a.at | (uintptr_t)p->b.at | (uintptr_t)p->d | (uintptr_t)p->c.at;
    return strcmp(fake_text("FAKE_BYTES"), "refuse") != 0 && p->a.trans && !p->b.trans &&
           (p->m | p->k | p->a.ld | p->b.ld | p->ld_d | p->a.stride | p->b.stride) % 4 == 0 &&
           places % 4 == 0;
}

int fake_bytes_submit(fake_stream *stream, const fake_product *p)
{
    if (p->m < 1 || p->n < 1 || p->k < 1 || p->batch < 1 || p->a.ld < p->k || p->b.ld < p->k ||
        p->ld_d < p->m || p->d != p->c.at || p->alpha != 1 || (p->beta != 0 && p->beta != 1)) {
        return FAKE_INVALID_VALUE;
    }
    const int64_t sums = (p->batch - 1) * p->stride_d + (p->n - 1) * p->ld_d + p->m;
    if (!on_device(&p->a, p->m, p->k, p->batch) || !on_device(&p->b, p->n, p->k, p->batch) ||
        !fake_is_device(p->d, (size_t)sums * sizeof(int32_t))) {
        return FAKE_INVALID_VALUE;
    }
    return fake_stream_submit(stream, multiply, p, sizeof *p);
}
