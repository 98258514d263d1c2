/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - the table of operations, and finding one. */
#include "bench/ops/ops.h"

#include <string.h>

const bench_op *const bench_ops[BENCH_OPS] = {&bench_map, &bench_transpose, &bench_reduce,
                                              &bench_gemm, &bench_transfer};

const bench_op *bench_op_find(const char *word)
{
    for (int i = 0; i < BENCH_OPS; i++) {
        if (strcmp(bench_ops[i]->name, word) == 0 || strcmp(bench_ops[i]->measured, word) == 0) {
            return bench_ops[i];
        }
    }
    return NULL;
}

const bench_op *bench_op_of(const char *word)
{
    static const bench_op other = {.name = "", .measured = "", .size = "elements"};
    const bench_op *found = bench_op_find(word);
    return found ? found : &other;
}

int bench_op_rank(const bench_op *op)
{
    int rank = 0;
    while (rank < BENCH_OPS && bench_ops[rank] != op) {
        rank++;
    }
    return rank;
}

bool bench_op_computes(const bench_op *op, const char *kind)
{
    return op->computes && (op->computes[0] == '\0' || strcmp(op->computes, kind) == 0);
}

const char *bench_status_name(bench_status status)
{
    static const char *const names[] = {"ok", "failed", "unsupported", "error"};
    return names[status];
}
