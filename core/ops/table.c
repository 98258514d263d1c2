/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the table of operations, which is searched by kind. */
#include "core/op.h"

extern const core_operation core_gemm, core_transpose, core_reduce, core_map, core_gemv, core_spmv,
    core_syrk, core_trsm;

static const core_operation *const rows[] = {
    [ISO_OP_GEMM] = &core_gemm,     [ISO_OP_TRANSPOSE] = &core_transpose,
    [ISO_OP_REDUCE] = &core_reduce, [ISO_OP_MAP] = &core_map,
    [ISO_OP_GEMV] = &core_gemv,     [ISO_OP_SPMV] = &core_spmv,
    [ISO_OP_SYRK] = &core_syrk,     [ISO_OP_TRSM] = &core_trsm,
};

const core_operation *core_operation_of(iso_op_kind kind)
{
    return (size_t)kind < sizeof rows / sizeof rows[0] ? rows[kind] : NULL;
}

iso_status core_operation_find(const char *call, iso_op_kind kind, const core_operation **out)
{
    core_text known = {0};

    *out = core_operation_of(kind);
    if (*out) {
        return ISO_OK;
    }
    for (size_t i = 1; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i]) {
            core_text_add(&known, "%s%s (%zu)", i > 1 ? ", " : "", rows[i]->name, i);
        }
    }
    core_fail(ISO_INVALID, "%s: kind is %d, which is not an operation: use one of %s", call,
              (int)kind, core_text_get(&known));
    core_text_free(&known);
    return ISO_INVALID;
}
