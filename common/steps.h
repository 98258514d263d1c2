/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - the types of iso_finish_op and iso_solve_op, and what both check. */
#ifndef ISOMER_COMMON_STEPS_H
#define ISOMER_COMMON_STEPS_H

#include <isomer/backend.h>

#include <stdbool.h>

/* An element's parts are two if it is complex. */
typedef struct steps_type {
    const char *name;
    int32_t part_bytes, parts;
    int32_t t_bytes;  /* an element of a plane of T */
    bool wide, solve; /* it computes in f64; SOLVE has it */
} steps_type;

/* NULL: neither step has the type. */
static inline const steps_type *steps_type_of(iso_dtype dtype)
{
    static const steps_type types[] = {
        [ISO_F16] = {"f16", 2, 1, 4, false, false}, [ISO_BF16] = {"bf16", 2, 1, 4, false, false},
        [ISO_F32] = {"f32", 4, 1, 4, false, true},  [ISO_F64] = {"f64", 8, 1, 8, true, true},
        [ISO_I32] = {"i32", 4, 1, 8, true, false},  [ISO_C64] = {"c64", 4, 2, 4, false, true},
        [ISO_C128] = {"c128", 8, 2, 8, true, true},
    };
    const size_t at = (size_t)dtype;
    return at < sizeof types / sizeof types[0] && types[at].name ? &types[at] : NULL;
}

static inline iso_status steps_finish_supports(const iso_host *host, const iso_finish_op *op)
{
    const steps_type *type = steps_type_of(op->dtype);
    if (!type) {
        return host->fail(ISO_UNSUPPORTED, "dtype is %d, but a product is not finished in it",
                          (int)op->dtype);
    }
    if (op->planes != 0 && op->planes != (type->parts == 2 ? 4 : 1)) {
        return host->fail(ISO_UNSUPPORTED, "a product of %d planes cannot be finished in %s",
                          (int)op->planes, type->name);
    }
    return ISO_OK;
}

static inline iso_status steps_solve_supports(const iso_host *host, const iso_solve_op *op)
{
    const steps_type *type = steps_type_of(op->dtype);
    if (!type || !type->solve) {
        return host->fail(ISO_UNSUPPORTED, "dtype is %d, but triangles are not solved in it",
                          (int)op->dtype);
    }
    if (op->n > ISO_SOLVE_MOST) {
        return host->fail(ISO_UNSUPPORTED, "n is %lld, but a step solves for at most %d unknowns",
                          (long long)op->n, (int)ISO_SOLVE_MOST);
    }
    return ISO_OK;
}

/* Whether C is read. A factor on the device is never taken for 0. */
static inline bool steps_finish_reads(const iso_finish_op *op)
{
    const bool complex = op->dtype == ISO_C64 || op->dtype == ISO_C128;
    return op->factors & 2 || op->beta != 0 || (complex && op->beta_imag != 0);
}

#endif
