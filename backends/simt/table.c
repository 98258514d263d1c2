/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - finds an operation by its kind, and lists every program that a device could request,
 * for offline compilation. */
#include "backends/simt/simt.h"

extern const simt_operation simt_gemm, simt_transpose, simt_reduce, simt_map, simt_gemv, simt_spmv,
    simt_ranks, simt_finish, simt_solve, simt_syrk, simt_trsm;

static const simt_operation *const operations[] = {
    [ISO_OP_GEMM] = &simt_gemm,     [ISO_OP_TRANSPOSE] = &simt_transpose,
    [ISO_OP_REDUCE] = &simt_reduce, [ISO_OP_MAP] = &simt_map,
    [ISO_OP_GEMV] = &simt_gemv,     [ISO_OP_SPMV] = &simt_spmv,
    [ISO_OP_RANKS] = &simt_ranks,   [ISO_OP_FINISH] = &simt_finish,
    [ISO_OP_SOLVE] = &simt_solve,   [ISO_OP_SYRK] = &simt_syrk,
    [ISO_OP_TRSM] = &simt_trsm,
};

enum { KINDS = (int)(sizeof operations / sizeof operations[0]) };
_Static_assert(sizeof operations / sizeof operations[0] <= SIMT_KINDS_MAX,
               "SIMT_KINDS_MAX must be more than every kind");

const simt_operation *simt_operation_of(iso_op_kind kind)
{
    return (size_t)kind < KINDS ? operations[kind] : NULL;
}

void simt_each_spec(const simt_limits *limits, simt_visit *visit, void *context)
{
    simt_fill_each(limits, visit, context);
    simt_unit_each(limits, visit, context);
    for (int kind = 1; kind < KINDS; kind++) {
        if (operations[kind] && operations[kind]->each) {
            operations[kind]->each(limits, visit, context);
        }
    }
}
