/* SPDX-License-Identifier: Apache-2.0 */
/* lt.h - the objects of the "Lt" libraries, which are the same for both vendors. */
#ifndef ISOMER_TESTS_FAKES_LT_H
#define ISOMER_TESTS_FAKES_LT_H

#include "tests/fakes/blas.h"

typedef struct fake_lt_layout {
    fake_type type;
    uint64_t rows, cols;
    int64_t ld, stride;
    int32_t batch;
} fake_lt_layout;

typedef struct fake_lt_matmul {
    bool wide; /* computes in f64 */
    bool trans_a, trans_b;
} fake_lt_matmul;

typedef struct fake_lt_call {
    const fake_lt_matmul *matmul;
    const fake_lt_layout *a, *b, *c, *d;
} fake_lt_call;

static inline bool types_fit(fake_type of_a, fake_type of_c)
{
    return of_a == of_c || (of_c == FAKE_F32 && (of_a == FAKE_F16 || of_a == FAKE_BF16));
}

/* The product that the descriptors describe, without addresses. False: they do not fit. */
static inline bool fake_lt_product(const fake_lt_call *call, fake_product *out)
{
    const fake_lt_matmul *matmul = call->matmul;
    const fake_lt_layout *a = call->a, *b = call->b, *c = call->c, *d = call->d;
    const uint64_t m = matmul->trans_a ? a->cols : a->rows;
    const uint64_t k = matmul->trans_a ? a->rows : a->cols;
    const uint64_t n = matmul->trans_b ? b->rows : b->cols;
    const uint64_t also_k = matmul->trans_b ? b->cols : b->rows;
    if (k != also_k || c->rows != m || c->cols != n || d->rows != m || d->cols != n ||
        !types_fit(a->type, d->type) || b->type != a->type || c->type != d->type ||
        matmul->wide != (d->type == FAKE_F64) || a->batch != d->batch || b->batch != d->batch ||
        c->batch != d->batch || k == 0) {
        return false;
    }
    *out = (fake_product){.type = a->type,
                          .type_c = d->type,
                          .m = (int64_t)m,
                          .n = (int64_t)n,
                          .k = (int64_t)k,
                          .batch = d->batch,
                          .a = {.trans = matmul->trans_a, .ld = a->ld, .stride = a->stride},
                          .b = {.trans = matmul->trans_b, .ld = b->ld, .stride = b->stride},
                          .c = {.ld = c->ld, .stride = c->stride},
                          .ld_d = d->ld,
                          .stride_d = d->stride};
    return true;
}

#endif
