/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - the tables of operations, and functions that find one. */
#include "bench/ops/ops.h"
#include "bench/tool.h"
#include "bench/verify/verify.h"

#include <math.h>
#include <string.h>

const bench_op *const bench_ops[BENCH_OPS] = {&bench_map,  &bench_transpose, &bench_reduce,
                                              &bench_gemm, &bench_gemv,      &bench_syrk,
                                              &bench_trsm, &bench_spmv,      &bench_transfer};

const bench_op *const verify_ops[VERIFY_OPS] = {
    &bench_transfer, &bench_transpose, &bench_reduce, &bench_gemm, &bench_map, &verify_order,
    &verify_limits,  &bench_gemv,      &bench_spmv,   &bench_syrk, &bench_trsm};

const char *const bench_plain_variants[] = {"naive", "tiled", "vendor", NULL};
const char *const bench_partial_variants[] = {"naive", "tiled", "vendor", "partials", NULL};
const char *const bench_fixed_variants[] = {"naive", "tiled", "fixed", "vendor", NULL};
const char *const bench_float_types[] = {"f16", "bf16", "f32", "f64", NULL};
const char *const bench_wide_types[] = {"f32", "f64", "c64", "c128", NULL};
const char *const bench_product_types[] = {"f16",  "bf16", "f32",     "f64",      "c64",
                                           "c128", "i8",   "f16-f32", "bf16-f32", NULL};
const char *const bench_all_types[] = {"f16", "bf16", "f32", "f64", "i32", "i64", NULL};
const char *const bench_number_types[] = {"f16", "bf16", "f32", "f64",  "i32",
                                          "i64", "i8",   "c64", "c128", NULL};
const char *const bench_matrix_members[] = {"rows", "cols", NULL};

static const char *words(const bench_op *const *rows, int count, char *text, size_t room)
{
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        tool_join(text, room, ", ", rows[i]->name);
    }
    return text;
}

const char *bench_op_words(void)
{
    static char text[256];
    return words(bench_ops, BENCH_OPS, text, sizeof text);
}

void bench_op_names(tool_names *names)
{
    for (int i = 0; i < BENCH_OPS; i++) {
        tool_names_add(names, bench_ops[i]->name);
    }
    for (int i = 0; i < BENCH_OPS; i++) {
        for (const char *const *kind = bench_ops[i]->kinds; kind && *kind; kind++) {
            tool_names_add(names, *kind);
        }
    }
}

bool bench_op_listed(const tool_words *words, const bench_op *op, const char *kind)
{
    return tool_words_have(words, op->name) || tool_words_have(words, op->measured) ||
           tool_words_have(words, kind);
}

const char *verify_op_words(void)
{
    static char text[256];
    return words(verify_ops, VERIFY_OPS, text, sizeof text);
}

const char *bench_type_words(void)
{
    static char text[256];
    text[0] = '\0';
    for (int i = 0; bench_number_types[i]; i++) {
        tool_join(text, sizeof text, ", ", bench_number_types[i]);
    }
    return text;
}

iso_dtype bench_next(const char *const *types, iso_dtype after)
{
    bool found = after == 0;
    iso_dtype type;
    for (; *types; types++) {
        if (iso_dtype_parse(*types, &type) == ISO_OK && found) {
            return type;
        }
        found = found || strcmp(*types, iso_dtype_name(after)) == 0;
    }
    return (iso_dtype)0;
}

iso_dtype bench_float(iso_dtype after)
{
    return bench_next(bench_float_types, after);
}

const bench_op *bench_op_find(const char *word)
{
    for (int i = 0; i < BENCH_OPS; i++) {
        if (strcmp(bench_ops[i]->name, word) == 0 || strcmp(bench_ops[i]->measured, word) == 0) {
            return bench_ops[i];
        }
    }
    return NULL;
}

const bench_op *bench_op_recorded(const char *word)
{
    const bench_op *found = bench_op_find(word);
    return !found && strcmp(word, bench_kernel.measured) == 0 ? &bench_kernel : found;
}

const bench_op *bench_op_of(const char *word)
{
    static const bench_op other = {.name = "other",
                                   .measured = "other",
                                   .title = "Other programs' benchmarks",
                                   .size = "argument"};
    const bench_op *found = bench_op_recorded(word);
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
    static const char *const names[] = {"ok", "failed", "unsupported", "error", "skipped"};
    return names[status];
}

int64_t bench_square(int64_t elements)
{
    return (int64_t)ceil(sqrt((double)elements) / 1024) * 1024;
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + BENCH_ALIGNMENT - 1) / BENCH_ALIGNMENT * BENCH_ALIGNMENT;
}

void bench_case_needs(const bench_case *item, bench_needs *out)
{
    *out = (bench_needs){.type = item->dtype, .inputs = 1};
    if (item->vast) {
        out->inputs = 0;
    } else {
        item->by->needs(item, out);
    }
    out->result =
        out->results * (out->result_type != 0 ? iso_dtype_size(out->result_type) : item->element);
    /* The places depend only on the case, so that its data are the same in every list. */
    for (int i = 0; i < out->inputs; i++) {
        int64_t gap = (int64_t)(arith_mix(item->seed, (uint64_t)i + 1) % 1024) * BENCH_ALIGNMENT;
        out->at[i] = aligned(out->end) + gap;
        out->end = out->at[i] + out->bytes[i];
    }
}
